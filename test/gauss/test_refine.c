/* Accuracy to the last digits: problems whose solution stalls above the tolerance unless it is
 * refined by solving for corrections, and dependent rows under a singular metric. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gauss/solved.h"
#include "scene/scene.h"

static void check_seeds(int count, const uint64_t *seed, unsigned without, unsigned with)
{
    for (int i = 0; i < count; i++) {
        scene_random_params params = scene_random_everything(1);
        params.features = (params.features & ~without) | with;
        scene *s = scene_random(seed[i], &params);
        solved answer = solve_convex(&s->problem);
        if (answer.status != ZW_OK) {
            print_error("%s\n", s->name);
        }
        assert_status(answer, ZW_OK);
        zw_certificate c = certify(&s->problem, ZW_CONTACT_CONVEX, answer.motion.a,
                                   answer.motion.lambda, answer.motion.C);
        assert_below(c.worst, 1e-10);
        solved_free(&answer);
        scene_free(s);
    }
}

/* Condition numbers of 1e8, contacts on the verge of sliding, multipliers of 1e9: seeds that
 * stalled between 1e-10 and 1e-8. */
static void large_multipliers_leave_no_error(void **state)
{
    (void)state;
    const uint64_t seed[] = {3052464, 3020996, 3002269, 3030864, 4034812, 2023801, 4044254};
    check_seeds((int)(sizeof seed / sizeof *seed), seed, SCENE_PARALLEL, 0);
}

static void nearly_parallel_rows_leave_no_error(void **state)
{
    (void)state;
    const uint64_t seed[] = {3007040, 3007834, 3007867, 3008092, 3007647};
    check_seeds((int)(sizeof seed / sizeof *seed), seed, 0, SCENE_PARALLEL);
}

static void singular_metrics_leave_no_error(void **state)
{
    (void)state;
    const uint64_t seed[] = {3001885, 3002118, 3002438, 2001192};
    check_seeds((int)(sizeof seed / sizeof *seed), seed, SCENE_PARALLEL, SCENE_MASSLESS);
}

/* A massless coordinate constrained twice: no force acts on it, so the multipliers are zero,
 * although the residual of the second row is round-off. */
static void what_has_no_mass_needs_no_force(void **state)
{
    (void)state;
    const double M[1] = {0.0}, A[2] = {0.017, -0.033}, free[1] = {-0.275};
    const double at = -0.092053819944608789, b[2] = {A[0] * at, A[1] * at};
    const zw_block block[2] = {{.kind = ZW_EQUALITY, .rows = 1}, {.kind = ZW_EQUALITY, .rows = 1}};
    zw_gauss problem = {.n = 1,
                        .metric = {.kind = ZW_METRIC_DIAGONAL, .value = M},
                        .free = free,
                        .block_count = 2,
                        .block = block,
                        .A.dense = A,
                        .b = b};
    solved s = solve_convex(&problem);
    assert_status(s, ZW_OK);
    assert_close(s.motion.a[0], at, 1e-15);
    assert_below(largest(2, s.motion.lambda), 1e-20);
    solved_free(&s);
}

/* a0 <= 1 and a0 + 1e-6 a1 >= 2 from rest: a = (1, 1e6), lambda = (1e12 - 1, 1e12), by hand. */
static void a_small_angle_by_hand(void **state)
{
    (void)state;
    const double A[4] = {-1, 0, 1, 1e-6}, b[2] = {-1, 2};
    const zw_block block[1] = {{.kind = ZW_INEQUALITY, .rows = 2}};
    zw_gauss problem = {.n = 2, .block_count = 1, .block = block, .A.dense = A, .b = b};
    solved s = solve_convex(&problem);
    assert_status(s, ZW_OK);
    assert_close(s.motion.a[0], 1.0, 1e-10);
    assert_close(s.motion.a[1], 1e6, 1e-10);
    assert_close(s.motion.lambda[0], 1e12 - 1, 1e-10);
    assert_close(s.motion.lambda[1], 1e12, 1e-10);
    solved_free(&s);
}

/* Two unknowns with inertia in their sum only, and a row that hardly separates them: M a = f +
 * A' lambda and A a = b have the unique solution a = (-1, 1), lambda = -1. */
static void a_row_nearly_along_the_masses(void **state)
{
    (void)state;
    const double apart = 1e-4, M[] = {1, 1, 1, 1}, A[] = {1, 1 + apart}, force[] = {1, 1 + apart};
    zw_block block = {.name = "row", .kind = ZW_EQUALITY, .rows = 1};
    zw_gauss problem = {.n = 2,
                        .metric = {.kind = ZW_METRIC_DENSE, .value = M},
                        .force = force,
                        .block_count = 1,
                        .block = &block,
                        .A = {.dense = A},
                        .b = &apart};
    zw_gauss_options options = {.algebra = ZW_ALGEBRA_DENSE};
    solved answer = solve(&problem, &options);
    assert_int_equal(answer.status, ZW_OK);
    assert_true(fabs(answer.motion.a[0] + 1) < 1e-6 && fabs(answer.motion.a[1] - 1) < 1e-6);
    assert_true(fabs(answer.motion.lambda[0] + 1) < 1e-6);
    solved_free(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_nearly_along_the_masses),
        cmocka_unit_test(large_multipliers_leave_no_error),
        cmocka_unit_test(nearly_parallel_rows_leave_no_error),
        cmocka_unit_test(singular_metrics_leave_no_error),
        cmocka_unit_test(what_has_no_mass_needs_no_force),
        cmocka_unit_test(a_small_angle_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

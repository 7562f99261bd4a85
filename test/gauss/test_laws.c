/* The laws of Fan et al. (2005) hold for random problems: least constraint, virtual work, the force
 * split, the extended principle; and those of compliance and of the velocity form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gauss/rows.h"
#include "gauss/solved.h"
#include "scene/dice.h"
#include "scene/scene.h"

#include <string.h>

#define EXACT 1e-12

enum { MAX_N = 64, SCENES = 60 };

/* |x| in the metric. */
static double length_M(const scene *s, const double *x)
{
    double y[MAX_N];
    scene_times_M(s, x, y);
    return sqrt(fmax(dot(s->problem.n, x, y), 0.0));
}

/* The acceleration without constraints, C included: Fan et al. (2005), eq. (26). */
static void unconstrained(const scene *s, double *a)
{
    zw_gauss problem = s->problem;
    problem.block_count = 0;
    problem.compliance = problem.b = NULL;
    solved answer = solve(&problem, NULL);
    assert_status(answer, ZW_OK);
    memcpy(a, answer.motion.a, (size_t)problem.n * sizeof *a);
    solved_free(&answer);
}

/* Project v onto the null space of A, by orthonormalising the rows one by one, twice each. */
static void into_null_space(const scene *s, double *v)
{
    int n = s->problem.n, rank = 0;
    double *basis = malloc((size_t)n * (size_t)n * sizeof *basis), row[MAX_N];
    for (int i = 0; i <= s->m; i++) {
        double *x = i < s->m ? row : v;
        if (i < s->m) {
            gauss_row_copy(&s->problem, i, row);
        }
        double before = norm(n, x);
        for (int k = 0; k < 2 * rank; k++) {
            const double *u = basis + (k % rank) * n;
            double t = dot(n, u, x);
            for (int j = 0; j < n; j++) {
                x[j] -= t * u[j];
            }
        }
        double after = norm(n, x);
        if (i < s->m && rank < n && after > 1e-9 * before) {
            for (int j = 0; j < n; j++) {
                basis[rank * n + j] = row[j] / after;
            }
            rank++;
        }
    }
    free(basis);
}

static scene *random_scene(uint64_t seed, unsigned kinds, unsigned features, double difficulty)
{
    scene_random_params params = {
        .n_max = 24, .kinds = kinds, .features = features, .difficulty = difficulty};
    return scene_random(seed, &params);
}

/* ---- Least constraint ---------------------------------------------------------------------- */

/* Z(a) <= Z(a') and even Z(a) + |a' - a|^2/2 <= Z(a') for a' between a and another admissible
 * motion; Z is measured from a_free + M \ C, eq. (26), and without C from a_free, as in Gauss's
 * principle. The terms of Z are differences, with errors of EXACT times |a| + |a_free|. */
static void compare_Z(const scene *s, const double *a, const double *other)
{
    int n = s->problem.n;
    double target[MAX_N], step[MAX_N], mixed[MAX_N], away[MAX_N];
    unconstrained(s, target);
    for (int j = 0; j < n; j++) {
        away[j] = a[j] - target[j];
    }
    double distance = length_M(s, away), size = length_M(s, a) + length_M(s, target);
    for (double t = 1.0; t > 1e-3; t *= 0.25) {
        for (int j = 0; j < n; j++) {
            step[j] = t * (other[j] - a[j]);
            mixed[j] = away[j] + step[j];
        }
        double distance_other = length_M(s, mixed), gain = length_M(s, step);
        double floor = EXACT * (size + distance_other);
        assert_below(distance, distance_other + floor);
        assert_below(distance * distance + gain * gain,
                     distance_other * distance_other + floor * (size + distance_other));
    }
}

static void Z_is_least(void **state)
{
    (void)state;
    unsigned features =
        SCENE_REDUNDANT | SCENE_NONIDEAL | SCENE_UNITS | SCENE_COMPRESSED | SCENE_FORCE;
    for (int i = 0; i < SCENES; i++) {
        scene *s = random_scene(100u + (unsigned)i, SCENE_ALL_KINDS, features, i % 3 * 0.2);
        solved answer = solve_convex(&s->problem);
        assert_status(answer, ZW_OK);
        assert_non_null(s->witness);
        compare_Z(s, answer.motion.a, s->witness);
        solved_free(&answer);
        scene_free(s);
    }
}

static void Z_is_least_among_null_space_moves(void **state)
{
    (void)state;
    dice d = dice_of(7);
    for (int i = 0; i < SCENES; i++) {
        scene *s = random_scene(300u + (unsigned)i, SCENE_EQUALITY, SCENE_REDUNDANT, 0.0);
        solved answer = solve_convex(&s->problem);
        assert_status(answer, ZW_OK);
        for (int k = 0; k < 5; k++) {
            double v[MAX_N];
            for (int j = 0; j < s->problem.n; j++) {
                v[j] = dice_bell(&d);
            }
            into_null_space(s, v);
            for (int j = 0; j < s->problem.n; j++) {
                v[j] += answer.motion.a[j];
            }
            compare_Z(s, answer.motion.a, v);
        }
        solved_free(&answer);
        scene_free(s);
    }
}

/* The reported Z is that of the reported motion. */
static void Z_is_the_one_reported(void **state)
{
    (void)state;
    for (int i = 0; i < SCENES; i++) {
        scene *s = random_scene(500u + (unsigned)i, SCENE_ALL_KINDS,
                                SCENE_REDUNDANT | SCENE_FORCE | SCENE_COMPLIANT, 0.2);
        solved answer = solve_convex(&s->problem);
        double free[MAX_N];
        assert_status(answer, ZW_OK);
        unconstrained(s, free);
        double size = length_M(s, free) + length_M(s, answer.motion.a);
        for (int j = 0; j < s->problem.n; j++) {
            free[j] -= answer.motion.a[j];
        }
        double distance = length_M(s, free);
        assert_below(fabs(sqrt(2.0 * answer.motion.Z) - distance), EXACT * size);
        solved_free(&answer);
        scene_free(s);
    }
}

/* ---- Virtual work --------------------------------------------------------------------------- */

/* v.F_L = 0 (32), v.F_C = v.C (34), v.(F_L + F_C) = v.C (35) for A v = 0. */
static void virtual_work_of(const scene *s, const zw_motion *motion, dice *d)
{
    int n = s->problem.n;
    double v[MAX_N], both[MAX_N];
    for (int j = 0; j < n; j++) {
        v[j] = dice_bell(d);
        both[j] = motion->F_L[j] + motion->F_C[j];
    }
    double length = norm(n, v), size = norm(n, motion->F_L) + norm(n, motion->F_C);
    into_null_space(s, v);
    double C = s->C != NULL ? dot(n, v, s->C) : 0.0;
    size = length * (size + (s->C != NULL ? norm(n, s->C) : 0.0));
    assert_below(fabs(dot(n, v, motion->F_L)), EXACT * size);
    assert_below(fabs(dot(n, v, motion->F_C) - C), EXACT * size);
    assert_below(fabs(dot(n, v, both) - C), EXACT * size);
}

static void virtual_work(void **state)
{
    (void)state;
    dice d = dice_of(11);
    int with_C = 0;
    for (int i = 0; i < 2 * SCENES; i++) {
        scene *s = random_scene(700u + (unsigned)i, SCENE_EQUALITY,
                                SCENE_REDUNDANT | SCENE_NONIDEAL | SCENE_COMPRESSED, i % 3 * 0.2);
        solved answer = solve_convex(&s->problem);
        assert_status(answer, ZW_OK);
        with_C += s->C != NULL;
        virtual_work_of(s, &answer.motion, &d);
        solved_free(&answer);
        scene_free(s);
    }
    assert_true(with_C > SCENES / 6);
}

/* Section 6, no masses: v1 = F_L, v2 = F_C; v.v1 = 0 (44), v.v2 = v.c (46), v2.v1 = 0 (47). */
static void underdetermined_systems(void **state)
{
    (void)state;
    dice d = dice_of(13);
    for (int i = 0; i < SCENES; i++) {
        scene_random_params params = {.n_max = 24,
                                      .kinds = SCENE_EQUALITY,
                                      .metrics = 1u << ZW_METRIC_IDENTITY,
                                      .row_ratio = 1,
                                      .features = SCENE_REDUNDANT};
        scene *s = scene_random(900u + (unsigned)i, &params);
        int n = s->problem.n;
        s->problem.C = s->C = scene_alloc(s, (size_t)n, sizeof(double));
        for (int j = 0; j < n; j++) {
            s->C[j] = dice_bell(&d);
        }
        solved answer = solve_convex(&s->problem);
        assert_status(answer, ZW_OK);
        virtual_work_of(s, &answer.motion, &d);
        const double *v1 = answer.motion.F_L, *v2 = answer.motion.F_C;
        assert_below(fabs(dot(n, v1, v2)), EXACT * (norm(n, v1) + norm(n, s->C)) * norm(n, s->C));
        for (int j = 0; j < n; j++) { /* (41) */
            double free = s->free != NULL ? s->free[j] : 0.0;
            assert_close(answer.motion.a[j], free + v1[j] + v2[j], EXACT);
        }
        double projected[MAX_N]; /* (43): v2 = (I - A^+ A) c */
        memcpy(projected, s->C, (size_t)n * sizeof *projected);
        into_null_space(s, projected);
        assert_below(difference(n, v2, projected), EXACT * (norm(n, v1) + norm(n, s->C)));
        solved_free(&answer);
        scene_free(s);
    }
}

/* ---- The force split ------------------------------------------------------------------------ */

/* M a = F_N + F_L + F_C (18), for every kind of row. */
static void forces_add_up(void **state)
{
    (void)state;
    for (int i = 0; i < 2 * SCENES; i++) {
        scene *s =
            random_scene(1100u + (unsigned)i, SCENE_ALL_KINDS, SCENE_ALL_FEATURES, i % 3 * 0.2);
        solved answer = solve_convex(&s->problem);
        assert_status(answer, ZW_OK);
        const zw_motion *x = &answer.motion;
        int n = s->problem.n;
        double Ma[MAX_N], sum[MAX_N];
        scene_times_M(s, x->a, Ma);
        double size = norm(n, Ma) + norm(n, x->F_N) + norm(n, x->F_L) + norm(n, x->F_C);
        for (int j = 0; j < n; j++) {
            sum[j] = x->F_N[j] + x->F_L[j] + x->F_C[j];
        }
        assert_below(difference(n, Ma, sum), EXACT * size);
        solved_free(&answer);
        scene_free(s);
    }
}

/* F_L does not depend on C; a C normal to the constraint surface changes the multipliers only. */
static void F_L_is_the_reaction_without_C(void **state)
{
    (void)state;
    for (int i = 0; i < SCENES; i++) {
        scene *s = random_scene(1300u + (unsigned)i, SCENE_EQUALITY, 0, 0.0);
        int n = s->problem.n;
        solved ideal = solve_convex(&s->problem);
        assert_status(ideal, ZW_OK);
        s->problem.C = s->C = scene_alloc(s, (size_t)n, sizeof(double));
        if (s->m > 0) {
            gauss_row_copy(&s->problem, 0, s->C);
        }
        solved pushed = solve_convex(&s->problem);
        assert_status(pushed, ZW_OK);
        double size = norm(n, ideal.motion.F_L) + norm(n, s->C) + norm(n, ideal.motion.a);
        assert_below(difference(n, ideal.motion.F_L, pushed.motion.F_L), EXACT * size);
        assert_below(norm(n, pushed.motion.F_C), EXACT * size);
        assert_below(difference(n, ideal.motion.a, pushed.motion.a), EXACT * size);
        solved_free(&ideal);
        solved_free(&pushed);
        scene_free(s);
    }
}

/* ---- Compliance ----------------------------------------------------------------------------- */

/* A a - b + R lambda = 0. */
static void check_soft(const scene *s, double R, const zw_motion *motion)
{
    double Aa[3 * MAX_N];
    assert_true(s->m <= 3 * MAX_N);
    scene_times_A(s, motion->a, Aa);
    for (int i = 0; i < s->m; i++) {
        double b = s->b != NULL ? s->b[i] : 0.0, left = Aa[i] - b + R * motion->lambda[i];
        assert_below(fabs(left), EXACT * (1.0 + fabs(Aa[i]) + fabs(b)));
        assert_close(motion->residual[i], left, 1e-14);
    }
}

/* With S = A M^-1 A' and lambda_0 the rigid multipliers of least norm, lambda_R = (S + R)^-1 S
 * lambda_0. So |lambda_R| <= |lambda_0| and |a_R - a_0| <= sqrt(R)/2 |lambda_0| in the metric: the
 * motion tends to the rigid one, for small R in proportion to R. Returns whether R = 1e-7 is small
 * enough for that. */
static int soft_against_rigid(scene *s)
{
    int n = s->problem.n;
    double step[MAX_N], distance[2];
    solved rigid = solve_convex(&s->problem);
    assert_status(rigid, ZW_OK);
    double force = norm(s->m, rigid.motion.lambda), size = length_M(s, rigid.motion.a);
    s->problem.compliance = s->compliance = scene_alloc(s, (size_t)s->m + 1, sizeof(double));
    for (int k = 0; k < 2; k++) {
        double R = k == 0 ? 1e-5 : 1e-7;
        for (int i = 0; i < s->m; i++) {
            s->compliance[i] = R;
        }
        solved soft = solve_convex(&s->problem);
        assert_status(soft, ZW_OK);
        check_soft(s, R, &soft.motion);
        for (int j = 0; j < n; j++) {
            step[j] = soft.motion.a[j] - rigid.motion.a[j];
        }
        distance[k] = length_M(s, step);
        assert_below(norm(s->m, soft.motion.lambda), force * (1.0 + 1e-9));
        assert_below(distance[k], 0.5 * sqrt(R) * force + EXACT * size);
        solved_free(&soft);
    }
    solved_free(&rigid);
    return distance[1] <= 0.0101 * distance[0] + EXACT * size;
}

static void compliance_law(void **state)
{
    (void)state;
    int linear = 0;
    for (int i = 0; i < SCENES; i++) {
        scene *s = random_scene(1500u + (unsigned)i, SCENE_EQUALITY, 0, 0.0);
        linear += soft_against_rigid(s);
        scene_free(s);
    }
    assert_true(linear >= SCENES - 4);
}

/* ---- Velocities and impulses ----------------------------------------------------------------- */

/* Axion's page, eqs. (2)-(4): u+ = u + h a and impulses h lambda, if A u+ >= A u + h b is required.
 */
static void velocity_form(void **state)
{
    (void)state;
    const double h = 1.0 / 128;
    dice d = dice_of(17);
    for (int i = 0; i < SCENES; i++) {
        scene *s = random_scene(1700u + (unsigned)i, SCENE_ALL_KINDS, SCENE_REDUNDANT, 0.0);
        int n = s->problem.n;
        double u[MAX_N], free[MAX_N], next[MAX_N];
        double *b = scene_alloc(s, (size_t)s->m + 1, sizeof *b);
        for (int j = 0; j < n; j++) {
            u[j] = dice_bell(&d);
            free[j] = u[j] + h * (s->free != NULL ? s->free[j] : 0.0);
        }
        scene_times_A(s, u, b);
        for (int j = 0; j < s->m; j++) {
            b[j] += h * (s->b != NULL ? s->b[j] : 0.0);
        }
        zw_gauss step = s->problem;
        step.free = free;
        step.b = b;
        solved forces = solve_convex(&s->problem), impulses = solve_convex(&step);
        assert_status(forces, ZW_OK);
        assert_status(impulses, ZW_OK);
        for (int j = 0; j < n; j++) {
            next[j] = u[j] + h * forces.motion.a[j];
        }
        assert_below(difference(n, next, impulses.motion.a), EXACT * (norm(n, u) + norm(n, next)));
        for (int j = 0; j < n; j++) {
            double size = norm(n, forces.motion.F_L) + norm(n, forces.motion.F_N);
            assert_below(fabs(impulses.motion.F_L[j] - h * forces.motion.F_L[j]), 1e-11 * size);
        }
        solved_free(&forces);
        solved_free(&impulses);
        scene_free(s);
    }
}

/* Two rows at the angle x have the singular values sqrt(1 +- cos x): the margin is sin x, whatever
 * their lengths and order. With a third row orthogonal to both its square is 3/(1 + 2/sin^2 x); if
 * the third row is given twice, which only changes its weight, 3/(1/2 + 2/sin^2 x). */
static void margin_of_rows(void **state)
{
    (void)state;
    zw_gauss_options options = {.margin = 1, .algebra = ZW_ALGEBRA_DENSE};
    for (double x = 1.5; x > 1e-6; x /= 3) {
        double A[12] = {3 * cos(x), 3 * sin(x), 0, 0.5, 0, 0, 0, 0, 2, 0, 0, 1}, force[3] = {0};
        const zw_block block[4] = {{.rows = 1}, {.rows = 1}, {.rows = 1}, {.rows = 1}};
        zw_gauss problem = {
            .n = 3, .A = {.dense = A}, .block = block, .block_count = 2, .force = force};
        double mass[3] = {1, 1, 1};
        problem.metric = (zw_metric){.kind = ZW_METRIC_DIAGONAL, .value = mass};
        solved two = solve(&problem, &options);
        problem.block_count = 3;
        solved three = solve(&problem, &options);
        problem.block_count = 4;
        solved four = solve(&problem, &options);
        assert_status(two, ZW_OK);
        assert_status(three, ZW_OK);
        assert_status(four, ZW_OK);
        assert_close(two.motion.margin / sin(x), 1, 1e-9);
        assert_close(three.motion.margin / sqrt(3 / (1 + 2 / (sin(x) * sin(x)))), 1, 1e-9);
        assert_close(four.motion.margin / sqrt(3 / (0.5 + 2 / (sin(x) * sin(x)))), 1, 1e-9);
        solved_free(&two);
        solved_free(&three);
        solved_free(&four);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(Z_is_least),
        cmocka_unit_test(Z_is_least_among_null_space_moves),
        cmocka_unit_test(Z_is_the_one_reported),
        cmocka_unit_test(virtual_work),
        cmocka_unit_test(underdetermined_systems),
        cmocka_unit_test(forces_add_up),
        cmocka_unit_test(F_L_is_the_reaction_without_C),
        cmocka_unit_test(compliance_law),
        cmocka_unit_test(velocity_form),
        cmocka_unit_test(margin_of_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

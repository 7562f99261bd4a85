/* The motion does not depend on repeated constraints, units, or the form of the metric; and a
 * metric without mass in some directions is the limit of small masses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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

/* |x - y| over |x| + |a_free|, in the metric. */
static double apart(const scene *s, const double *x, const double *y)
{
    double step[MAX_N];
    for (int j = 0; j < s->problem.n; j++) {
        step[j] = x[j] - y[j];
    }
    double size = length_M(s, x) + (s->free != NULL ? length_M(s, s->free) : 0.0);
    return length_M(s, step) / (size > 0.0 ? size : 1.0);
}

static scene *random_scene(uint64_t seed, unsigned kinds, unsigned features)
{
    scene_random_params params = {.n_max = 20, .kinds = kinds, .features = features};
    return scene_random(seed, &params);
}

/* ---- Repetition ----------------------------------------------------------------------------- */

static int has_compliance(const scene *s)
{
    return s->compliance != NULL && largest(s->m, s->compliance) > 0.0;
}

/* Copies of equality blocks are listed as redundant; originals only if they were so before. */
static void check_redundant(const scene *s, const zw_motion *once, const zw_motion *thrice)
{
    int count = s->problem.block_count;
    assert_int_equal(once->rank, thrice->rank);
    for (int k = 0; k < 3 * count; k++) {
        int equality = s->problem.block[k % count].kind == ZW_EQUALITY;
        int before = lists(once->redundant_count, once->redundant, k);
        int expected = equality && (k >= count || before);
        assert_int_equal(lists(thrice->redundant_count, thrice->redundant, k), expected);
    }
}

static void every_block_three_times(void **state)
{
    (void)state;
    for (int i = 0; i < 2 * SCENES; i++) {
        unsigned features = i % 2 ? SCENE_REDUNDANT | SCENE_NONIDEAL : SCENE_COMPLIANT;
        scene *s = random_scene(100u + (unsigned)i, SCENE_ALL_KINDS, features);
        scene *triple = scene_triple(s);
        solved once = solve_convex(&s->problem), thrice = solve_convex(&triple->problem);
        assert_status(once, ZW_OK);
        assert_status(thrice, ZW_OK);
        assert_below(apart(s, once.motion.a, thrice.motion.a), EXACT);
        if (!has_compliance(s)) {
            check_redundant(s, &once.motion, &thrice.motion);
        }
        solved_free(&once);
        solved_free(&thrice);
        scene_free(triple);
        scene_free(s);
    }
}

/* Of equal rows each carries the same share: the multipliers of least norm. */
static void copies_share_the_load(void **state)
{
    (void)state;
    for (int i = 0; i < SCENES; i++) {
        scene *s = random_scene(300u + (unsigned)i, SCENE_EQUALITY, 0);
        scene *triple = scene_triple(s);
        solved once = solve_convex(&s->problem), thrice = solve_convex(&triple->problem);
        assert_status(once, ZW_OK);
        assert_status(thrice, ZW_OK);
        double size = norm(s->m, once.motion.lambda);
        for (int j = 0; j < 3 * s->m; j++) {
            double third = once.motion.lambda[j % s->m] / 3.0;
            assert_below(fabs(thrice.motion.lambda[j] - third), 1e-10 * size);
        }
        solved_free(&once);
        solved_free(&thrice);
        scene_free(triple);
        scene_free(s);
    }
}

/* ---- Units ---------------------------------------------------------------------------------- */

typedef enum change { ROWS, ONE_BLOCK, UNITS, MASSES, CHANGES } change;

static void rescale(scene *s, change what, double factor)
{
    if (what == ROWS) {
        scene_rescale_rows(s, factor);
    } else if (what == ONE_BLOCK && s->problem.block_count > 0) {
        scene_rescale_block(s, s->problem.block_count / 2, factor);
    } else if (what == UNITS) {
        scene_rescale_units(s, factor);
    } else if (what == MASSES) {
        scene_rescale_masses(s, factor);
    }
}

static void compare_rescaled(const scene *s, const zw_motion *before, change what, double factor)
{
    scene *other = scene_copy(s);
    double a[MAX_N];
    rescale(other, what, factor);
    solved after = solve_convex(&other->problem);
    assert_status(after, ZW_OK);
    for (int j = 0; j < s->problem.n; j++) {
        a[j] = after.motion.a[j] * (what == UNITS && j % 2 == 0 ? factor : 1.0);
    }
    assert_below(apart(s, before->a, a), EXACT);
    assert_int_equal(before->rank, after.motion.rank);
    assert_int_equal(before->redundant_count, after.motion.redundant_count);
    for (int k = 0; k < before->redundant_count; k++) {
        assert_int_equal(before->redundant[k], after.motion.redundant[k]);
    }
    solved_free(&after);
    scene_free(other);
}

static void units_do_not_matter(void **state)
{
    (void)state;
    for (int i = 0; i < SCENES; i++) {
        scene *s = random_scene(500u + (unsigned)i, SCENE_ALL_KINDS,
                                SCENE_REDUNDANT | SCENE_NONIDEAL | SCENE_COMPLIANT);
        solved before = solve_convex(&s->problem);
        assert_status(before, ZW_OK);
        for (int what = 0; what < CHANGES; what++) {
            compare_rescaled(s, &before.motion, (change)what, 1e6);
            compare_rescaled(s, &before.motion, (change)what, 1e-6);
        }
        solved_free(&before);
        scene_free(s);
    }
}

/* ---- The form of the metric ----------------------------------------------------------------- */

/* A metric given as an operator: a dense Cholesky factor L, row-major. */
typedef struct hidden_metric {
    int n;
    double M[MAX_N * MAX_N], L[MAX_N * MAX_N];
} hidden_metric;

static void hidden_apply(void *self, const double *x, double *y)
{
    const hidden_metric *h = self;
    for (int i = 0; i < h->n; i++) {
        y[i] = dot(h->n, h->M + i * h->n, x);
    }
}

static void hidden_diagonal(void *self, double *d)
{
    const hidden_metric *h = self;
    for (int i = 0; i < h->n; i++) {
        d[i] = h->M[i * h->n + i];
    }
}

static zw_status hidden_factor(void *self)
{
    hidden_metric *h = self;
    int n = h->n;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double rest = h->M[i * n + j] - dot(j, h->L + i * n, h->L + j * n);
            if (i == j && !(rest > 0.0)) {
                return ZW_NOT_A_METRIC;
            }
            h->L[i * n + j] = i == j ? sqrt(rest) : rest / h->L[j * n + j];
        }
    }
    return ZW_OK;
}

static void hidden_solve_lower(void *self, double *x)
{
    const hidden_metric *h = self;
    for (int i = 0; i < h->n; i++) {
        x[i] = (x[i] - dot(i, h->L + i * h->n, x)) / h->L[i * h->n + i];
    }
}

static void hidden_solve_upper(void *self, double *x)
{
    const hidden_metric *h = self;
    for (int i = h->n - 1; i >= 0; i--) {
        x[i] /= h->L[i * h->n + i];
        for (int j = 0; j < i; j++) {
            x[j] -= x[i] * h->L[i * h->n + j];
        }
    }
}

static void expand(const scene *s, hidden_metric *h)
{
    int n = h->n = s->problem.n;
    for (int j = 0; j < n; j++) {
        double unit[MAX_N] = {0}, column[MAX_N];
        unit[j] = 1.0;
        scene_times_M(s, unit, column);
        for (int i = 0; i < n; i++) {
            h->M[i * n + j] = column[i];
        }
    }
}

/* The lower triangle by columns, zeros left out. */
typedef struct columns {
    int start[MAX_N + 1], row[MAX_N * MAX_N];
    double value[MAX_N * MAX_N];
} columns;

static void compress(const hidden_metric *h, columns *c)
{
    int n = h->n, count = 0;
    for (int j = 0; j < n; j++) {
        c->start[j] = count;
        for (int i = j; i < n; i++) {
            if (h->M[i * n + j] != 0.0) {
                c->row[count] = i;
                c->value[count++] = h->M[i * n + j];
            }
        }
    }
    c->start[n] = count;
}

static void compare_metric(const scene *s, const zw_motion *before, zw_metric metric)
{
    zw_gauss problem = s->problem;
    problem.metric = metric;
    solved after = solve_convex(&problem);
    assert_status(after, ZW_OK);
    assert_int_equal(before->rank, after.motion.rank);
    assert_below(apart(s, before->a, after.motion.a), EXACT);
    assert_below(fabs(before->Z - after.motion.Z), 1e-11 * (1.0 + before->Z));
    solved_free(&after);
}

static void forms_of_the_metric(void **state)
{
    (void)state;
    static hidden_metric hidden;
    static columns sparse;
    zw_metric_operator operator_ = {&hidden,       hidden_apply,       hidden_diagonal,
                                    hidden_factor, hidden_solve_lower, hidden_solve_upper};
    for (int i = 0; i < 2 * SCENES; i++) {
        scene *s = random_scene(700u + (unsigned)i, SCENE_ALL_KINDS,
                                SCENE_REDUNDANT | SCENE_FORCE | SCENE_NONIDEAL);
        int whole[1] = {s->problem.n}, ones[MAX_N];
        double diagonal[MAX_N];
        solved before = solve_convex(&s->problem);
        assert_status(before, ZW_OK);
        expand(s, &hidden);
        compress(&hidden, &sparse);
        compare_metric(s, &before.motion, (zw_metric){.kind = ZW_METRIC_DENSE, .value = hidden.M});
        compare_metric(s, &before.motion,
                       (zw_metric){.kind = ZW_METRIC_BLOCKS,
                                   .value = hidden.M,
                                   .block_count = 1,
                                   .block_size = whole});
        compare_metric(s, &before.motion,
                       (zw_metric){.kind = ZW_METRIC_SPARSE,
                                   .start = sparse.start,
                                   .row = sparse.row,
                                   .value = sparse.value});
        compare_metric(s, &before.motion,
                       (zw_metric){.kind = ZW_METRIC_OPERATOR, .operator_ = &operator_});
        hidden_diagonal(&hidden, diagonal);
        for (int j = 0; j < s->problem.n; j++) {
            ones[j] = 1;
        }
        if (sparse.start[s->problem.n] == s->problem.n) { /* nothing beside the diagonal */
            compare_metric(s, &before.motion,
                           (zw_metric){.kind = ZW_METRIC_DIAGONAL, .value = diagonal});
            compare_metric(s, &before.motion,
                           (zw_metric){.kind = ZW_METRIC_BLOCKS,
                                       .value = diagonal,
                                       .block_count = s->problem.n,
                                       .block_size = ones});
        }
        solved_free(&before);
        scene_free(s);
    }
}

/* Not positive semidefinite: no metric, whatever its form. */
static void indefinite_metrics_are_refused(void **state)
{
    (void)state;
    static hidden_metric hidden = {.n = 2, .M = {1, 2, 2, 1}};
    const double diagonal[2] = {1, -1};
    zw_metric_operator operator_ = {&hidden,       hidden_apply,       hidden_diagonal,
                                    hidden_factor, hidden_solve_lower, hidden_solve_upper};
    const zw_metric metrics[] = {{.kind = ZW_METRIC_DENSE, .value = hidden.M},
                                 {.kind = ZW_METRIC_DIAGONAL, .value = diagonal},
                                 {.kind = ZW_METRIC_OPERATOR, .operator_ = &operator_}};
    for (int k = 0; k < 3; k++) {
        zw_gauss problem = {.n = 2, .metric = metrics[k]};
        solved s = solve(&problem, NULL);
        assert_status(s, ZW_NOT_A_METRIC);
        solved_free(&s);
    }
}

/* ---- Directions without mass ---------------------------------------------------------------- */

/* A lever without mass: 2 s = x, force f on s, F on x of mass 2. Eliminating s, 2 x'' = F + f/2. */
static void lever_without_mass(void **state)
{
    (void)state;
    const double mass[2] = {2, 0}, force[2] = {3, 8}, A[2] = {-1, 2};
    zw_block block = {.name = "lever", .kind = ZW_EQUALITY, .rows = 1};
    zw_gauss problem = {.n = 2,
                        .metric = {.kind = ZW_METRIC_DIAGONAL, .value = mass},
                        .force = force,
                        .block_count = 1,
                        .block = &block,
                        .A.dense = A};
    solved s = solve(&problem, NULL);
    assert_status(s, ZW_OK);
    assert_close(s.motion.a[0], 3.5, EXACT);
    assert_close(s.motion.a[1], 1.75, EXACT);
    assert_close(s.motion.lambda[0], -4.0, EXACT); /* f + 2 lambda = 0 */
    assert_int_equal(s.motion.rank, 1);
    solved_free(&s);
}

/* Random massless directions are the limit of small masses: the difference shrinks with the mass.
 */
static void massless_is_a_limit(void **state)
{
    (void)state;
    for (int i = 0; i < SCENES; i++) {
        scene_random_params params = {.n_min = 2,
                                      .n_max = 12,
                                      .kinds = SCENE_ALL_KINDS,
                                      .metrics = 1u << ZW_METRIC_DIAGONAL,
                                      .features = SCENE_MASSLESS};
        scene *s = scene_random(900u + (unsigned)i, &params);
        double force[MAX_N], distance[2];
        solved singular = solve_convex(&s->problem);
        assert_status(singular, ZW_OK);
        zw_gauss problem = s->problem;
        if (s->free != NULL) { /* the same force for all masses */
            scene_times_M(s, s->free, force);
            problem.free = NULL;
            problem.force = force;
        }
        scene *little = scene_copy(s);
        for (int k = 0; k < 2; k++) {
            for (int j = 0; j < problem.n; j++) {
                little->metric[j] = s->metric[j] > 0.0 ? s->metric[j] : k == 0 ? 1e-5 : 1e-7;
            }
            problem.metric.value = little->metric;
            solved regular = solve_convex(&problem);
            assert_status(regular, ZW_OK);
            distance[k] = difference(problem.n, singular.motion.a, regular.motion.a);
            solved_free(&regular);
        }
        double size = 1.0 + norm(problem.n, singular.motion.a);
        assert_below(distance[1], 0.011 * distance[0] + 1e-9 * size);
        assert_below(distance[1], 1e-3 * size);
        scene_free(little);
        solved_free(&singular);
        scene_free(s);
    }
}

static void undetermined_directions_are_named(void **state)
{
    (void)state;
    const double mass[4] = {1, 0, 2, 0}, force[4] = {1, 1, 1, 1}, A[4] = {0, 1, 0, 1};
    zw_block block = {.name = "sum", .kind = ZW_EQUALITY, .rows = 1};
    zw_gauss problem = {.n = 4,
                        .metric = {.kind = ZW_METRIC_DIAGONAL, .value = mass},
                        .force = force,
                        .block_count = 1,
                        .block = &block,
                        .A.dense = A};
    solved s = solve(&problem, NULL); /* x1 + x3 is held, x1 - x3 is not */
    assert_status(s, ZW_UNDETERMINED);
    assert_int_equal(s.motion.undetermined_count, 2);
    assert_true(lists(2, s.motion.undetermined, 1) && lists(2, s.motion.undetermined, 3));
    assert_non_null(strstr(s.error.text, " 1"));
    assert_non_null(strstr(s.error.text, " 3"));
    assert_null(strstr(s.error.text, " 2"));
    solved_free(&s);
    problem.block_count = 0; /* now neither is held */
    s = solve(&problem, NULL);
    assert_status(s, ZW_UNDETERMINED);
    assert_int_equal(s.motion.undetermined_count, 2);
    assert_true(lists(2, s.motion.undetermined, 1) && lists(2, s.motion.undetermined, 3));
    solved_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block_three_times),
        cmocka_unit_test(copies_share_the_load),
        cmocka_unit_test(units_do_not_matter),
        cmocka_unit_test(forms_of_the_metric),
        cmocka_unit_test(indefinite_metrics_are_refused),
        cmocka_unit_test(lever_without_mass),
        cmocka_unit_test(massless_is_a_limit),
        cmocka_unit_test(undetermined_directions_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Coulomb's law on scenes of contact: the energy that friction dissipates, contacts without
 * friction, warm starts, and problems without a solution. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gauss/solved.h"
#include "scene/campaign.h"
#include "scene/scene.h"

#include <string.h>

/* Scenes of each family. */
static unsigned seeds(void)
{
    return campaign_is_small() ? 3 : 12;
}

static double length_M(const scene *s, const double *x)
{
    double *y = malloc((size_t)s->problem.n * sizeof *y);
    scene_times_M(s, x, y);
    double square = dot(s->problem.n, x, y);
    free(y);
    return sqrt(fmax(square, 0.0));
}

/* |x - y| in the metric. */
static double apart(const scene *s, const double *x, const double *y)
{
    double *step = malloc((size_t)s->problem.n * sizeof *step);
    for (int j = 0; j < s->problem.n; j++) {
        step[j] = x[j] - y[j];
    }
    double length = length_M(s, step);
    free(step);
    return length;
}

/* a_free, whichever way the scene gives it. */
static double *free_motion(const scene *s)
{
    zw_gauss problem = s->problem;
    double *a = malloc((size_t)problem.n * sizeof *a);
    problem.block_count = 0;
    problem.b = problem.compliance = NULL;
    solved answer = solve(&problem, NULL);
    assert_status(answer, ZW_OK);
    memcpy(a, answer.motion.a, (size_t)problem.n * sizeof *a);
    solved_free(&answer);
    return a;
}

/* |a| + |a_free| in the metric: what differences are measured against. */
static double size_of(const scene *s, const double *a)
{
    double *start = free_motion(s), size = length_M(s, a) + length_M(s, start);
    free(start);
    return size;
}

/* ---- The law in terms of energies ----------------------------------------------------------- */

/* For each contact: no work along the normal, and sliding dissipates N sqrt(sum (mu_i w_i)^2), all
 * relative to the current energy. This does not use De Saxce's form of the law. */
static double energy_error(const scene *s, const zw_motion *motion)
{
    const double *w = motion->residual, *r = motion->lambda;
    double worst = 0.0, *start = free_motion(s);
    double energy = size_of(s, motion->a) * apart(s, motion->a, start);
    for (int k = 0, at = 0; k < s->problem.block_count; at += s->problem.block[k++].rows) {
        const zw_block *block = &s->problem.block[k];
        double slip = 0.0, work = 0.0;
        for (int i = 1; i < block->rows && block->kind == ZW_CONE; i++) {
            slip = hypot(slip, block->friction[i - 1] * w[at + i]);
            work += r[at + i] * w[at + i];
        }
        if (block->kind == ZW_CONE) {
            worst = fmax(worst, fabs(r[at] * w[at]));
            worst = fmax(worst, fabs(work + r[at] * slip));
        }
    }
    free(start);
    return energy > 0.0 ? worst / energy : worst;
}

static void friction_takes_what_Coulomb_says(void **state)
{
    (void)state;
    int solutions = 0, count = 0;
    for (int family = 0; family < SCENE_FAMILIES; family++) {
        for (unsigned seed = 0; seed < seeds(); seed++, count++) {
            scene *s = scene_contact((scene_family)family, 7000 + seed);
            solved answer = solve(&s->problem, NULL);
            if (answer.status == ZW_OK) {
                solutions++;
                assert_below(energy_error(s, &answer.motion), 1e-7);
                assert_below(answer.motion.certificate.worst, 1e-8);
            }
            solved_free(&answer);
            scene_free(s);
        }
    }
    assert_true(solutions >= 0.97 * count);
}

/* ---- No friction ---------------------------------------------------------------------------- */

/* The same scene with inequalities for the normals and no other rows of contacts. */
static zw_gauss on_ice(scene *s)
{
    zw_gauss ice = s->problem;
    int n = ice.n, m = 0;
    zw_block *block = scene_alloc(s, (size_t)ice.block_count, sizeof *block);
    double *A = scene_alloc(s, (size_t)s->m * (size_t)n, sizeof *A);
    double *b = scene_alloc(s, (size_t)s->m, sizeof *b), *unit, *column;
    unit = scene_alloc(s, (size_t)n, sizeof *unit);
    column = scene_alloc(s, (size_t)s->m, sizeof *column);
    for (int j = 0; j < n; j++) {
        memset(unit, 0, (size_t)n * sizeof *unit);
        unit[j] = 1.0;
        scene_times_A(s, unit, column);
        m = 0;
        for (int k = 0, at = 0; k < ice.block_count; at += s->problem.block[k++].rows) {
            int cone = s->problem.block[k].kind == ZW_CONE;
            block[k] = s->problem.block[k];
            block[k].kind = cone ? ZW_INEQUALITY : block[k].kind;
            block[k].rows = cone ? 1 : block[k].rows;
            for (int i = 0; i < block[k].rows; i++, m++) {
                A[m * n + j] = column[at + i];
                b[m] = s->b != NULL ? s->b[at + i] : 0.0;
            }
        }
    }
    ice.block = block;
    ice.A = (zw_rows){.dense = A};
    ice.b = b;
    return ice;
}

static void no_friction_is_an_inequality(void **state)
{
    (void)state;
    const scene_family families[] = {SCENE_ISOSTATIC, SCENE_STACK, SCENE_GRIPPER, SCENE_PILE,
                                     SCENE_ROBOT};
    for (int f = 0; f < 5; f++) {
        for (unsigned seed = 0; seed < seeds(); seed++) {
            scene *s = scene_contact(families[f], 7100 + seed);
            for (int k = 0; k < s->problem.block_count; k++) {
                memset(s->block[k].friction, 0, sizeof s->block[k].friction);
            }
            assert_null(s->compliance);
            zw_gauss ice = on_ice(s);
            zw_gauss_options convex = {.contact = ZW_CONTACT_CONVEX};
            solved cones = solve(&s->problem, &convex), rows = solve(&ice, &convex);
            assert_status(cones, ZW_OK);
            assert_status(rows, ZW_OK);
            double size = size_of(s, rows.motion.a);
            assert_below(apart(s, cones.motion.a, rows.motion.a), 1e-9 * size);
            solved_free(&cones);
            cones = solve(&s->problem, NULL); /* for Coulomb's law it is the same problem */
            assert_status(cones, ZW_OK);
            assert_below(apart(s, cones.motion.a, rows.motion.a), 1e-7 * size);
            solved_free(&cones);
            solved_free(&rows);
            scene_free(s);
        }
    }
}

/* ---- Warm starts ---------------------------------------------------------------------------- */

/* The largest difference between two solutions on one branch. Where contacts are on the verge of
 * sliding, an error e of the law allows sqrt(e) in the motion; other branches differ by 1e-2. */
static double same_branch(scene_family family)
{
    int firm = family == SCENE_ISOSTATIC || family == SCENE_PAINLEVE || family == SCENE_ROLLING ||
               family == SCENE_PILE || family == SCENE_HEAVY_ON_LIGHT;
    return firm ? 1e-8 : 1e-5;
}

/* Started from the solution, the solver returns the same one at less cost. */
static void guess_saves_work(void **state)
{
    (void)state;
    int cold_total = 0, warm_total = 0;
    for (int family = 0; family < SCENE_FAMILIES; family++) {
        for (unsigned seed = 0; seed < seeds() / 3; seed++) {
            scene *s = scene_contact((scene_family)family, 7200 + seed);
            solved cold = solve(&s->problem, NULL);
            if (cold.status == ZW_OK) {
                zw_gauss_options options = {.guess = cold.motion.lambda};
                solved warm = solve(&s->problem, &options);
                double size = size_of(s, cold.motion.a);
                assert_status(warm, ZW_OK);
                assert_below(apart(s, cold.motion.a, warm.motion.a),
                             same_branch((scene_family)family) * size);
                assert_true(warm.motion.factorizations <= cold.motion.factorizations);
                cold_total += cold.motion.factorizations;
                warm_total += warm.motion.factorizations;
                solved_free(&warm);
            }
            solved_free(&cold);
            scene_free(s);
        }
    }
    print_message("    factorizations: cold %d, warm %d\n", cold_total, warm_total);
    assert_true(4 * warm_total < cold_total);
}

/* An unrelated guess costs time but not the solution; with guess_only the solver may give up but
 * must not report a wrong solution. */
static void bad_guess_is_survived(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < seeds(); seed++) {
        scene *s = scene_contact(SCENE_ISOSTATIC, 7300 + seed);
        double *guess = scene_alloc(s, (size_t)s->m, sizeof *guess);
        for (int i = 0; i < s->m; i++) {
            guess[i] = (i % 3 == 1 ? -1e3 : 1e2) * (1 + i);
        }
        zw_gauss_options options = {.guess = guess};
        solved cold = solve(&s->problem, NULL), warm = solve(&s->problem, &options);
        assert_status(cold, ZW_OK);
        assert_status(warm, ZW_OK);
        assert_below(energy_error(s, &warm.motion), 1e-7);
        solved_free(&warm);
        options.guess_only = 1;
        warm = solve(&s->problem, &options);
        assert_true(warm.status == ZW_OK || warm.status == ZW_JAMMED);
        if (warm.status == ZW_OK) {
            assert_below(warm.motion.certificate.worst, 1e-8);
        }
        solved_free(&warm);
        solved_free(&cold);
        scene_free(s);
    }
}

/* ---- No solution ---------------------------------------------------------------------------- */

static void closing_wedge_has_no_solution(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < seeds(); seed++) {
        scene *s = scene_contact(SCENE_WEDGE_CLOSING, 7400 + seed);
        solved answer = solve(&s->problem, NULL);
        assert_true(answer.status == ZW_NO_SOLUTION || answer.status == ZW_CONFLICT);
        assert_true(answer.motion.conflict_count > 0);
        for (int k = 0; k < answer.motion.conflict_count; k++) {
            const char *name = s->problem.block[answer.motion.conflict[k]].name;
            assert_true(name == NULL || strstr(answer.error.text, name) != NULL ||
                        strlen(answer.error.text) >= sizeof answer.error.text - 1);
        }
        solved_free(&answer);
        scene_free(s);
    }
}

/* Two walls closing on a point: u >= 1 and -u >= 0 along x, with any friction. */
static void closing_walls_by_hand(void **state)
{
    (void)state;
    const double A[5][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, 1}, {0, 1}}, b[5] = {1, 0, 0, 0, -5};
    const zw_block block[3] = {
        {.name = "left wall", .kind = ZW_CONE, .rows = 2, .friction = {0.5}},
        {.name = "right wall", .kind = ZW_CONE, .rows = 2, .friction = {0.5}},
        {.name = "bystander", .kind = ZW_INEQUALITY, .rows = 1}};
    zw_gauss problem = {.n = 2, .block_count = 3, .block = block, .A.dense = A[0], .b = b};
    solved s = solve(&problem, NULL);
    assert_true(s.status == ZW_NO_SOLUTION || s.status == ZW_CONFLICT);
    assert_int_equal(s.motion.conflict_count, 2);
    assert_true(lists(2, s.motion.conflict, 0) && lists(2, s.motion.conflict, 1));
    assert_non_null(strstr(s.error.text, "left wall"));
    assert_non_null(strstr(s.error.text, "right wall"));
    assert_null(strstr(s.error.text, "bystander"));
    solved_free(&s);
}

/* Thin steep rods on a rough floor: either solved correctly or not reported as solved. */
static void painleve_is_never_wrong_in_silence(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 80; seed++) {
        scene *s = scene_contact(SCENE_PAINLEVE, 7500 + seed);
        solved answer = solve(&s->problem, NULL);
        if (answer.status == ZW_OK) {
            zw_certificate c = certify(&s->problem, ZW_CONTACT_COULOMB, answer.motion.a,
                                       answer.motion.lambda, NULL);
            assert_below(c.worst, 1e-8);
            assert_below(energy_error(s, &answer.motion), 1e-7);
        } else {
            assert_true(strlen(answer.error.text) > 0);
        }
        solved_free(&answer);
        scene_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(friction_takes_what_Coulomb_says),
        cmocka_unit_test(no_friction_is_an_inequality),
        cmocka_unit_test(guess_saves_work),
        cmocka_unit_test(bad_guess_is_survived),
        cmocka_unit_test(closing_wedge_has_no_solution),
        cmocka_unit_test(closing_walls_by_hand),
        cmocka_unit_test(painleve_is_never_wrong_in_silence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

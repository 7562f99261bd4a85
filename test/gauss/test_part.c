/* Solves that begin with the cones in contact: the same solutions as with all of them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scene/scene.h"

enum { SEEDS = 40 };

static zw_status solve(const scene *s, zw_contact_law law, const double *guess, zw_gauss_work *work,
                       zw_motion *motion)
{
    zw_gauss_options options = zw_gauss_options_default();
    zw_error error = {0};
    options.contact = law;
    options.guess = guess;
    return zw_gauss_solve(&s->problem, &options, work, motion, &error);
}

static double apart(int n, const double *x, const double *y)
{
    double most = 0.0, size = 1.0;
    for (int i = 0; i < n; i++) {
        most = fmax(most, fabs(x[i] - y[i]));
        size = fmax(size, fabs(y[i]));
    }
    return most / size;
}

/* Under the convex law the motion is unique. A guess in which every other cone is missing, or with
 * forces everywhere or nowhere, leads to it; so does the solution itself, passed in place. */
static void any_guess_leads_to_the_motion(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        scene *s = scene_contact(seed % 2 ? SCENE_ROBOT : SCENE_PILE, seed);
        int n = s->problem.n, m = s->m;
        zw_gauss_work *work = zw_gauss_work_create(&s->problem, NULL, NULL);
        double *a = calloc((size_t)n, sizeof *a), *guess = calloc((size_t)m, sizeof *guess);
        zw_motion motion;
        assert_non_null(work);
        assert_int_equal(solve(s, ZW_CONTACT_CONVEX, NULL, work, &motion), ZW_OK);
        memcpy(a, motion.a, (size_t)n * sizeof *a);
        for (int kind = 0; kind < 4; kind++) {
            for (int k = 0, at = 0; k < s->problem.block_count; at += s->problem.block[k++].rows) {
                for (int i = 0; i < s->problem.block[k].rows; i++) {
                    guess[at + i] = kind == 0   ? (k % 2) * motion.lambda[at + i]
                                    : kind == 1 ? (i == 0)
                                                : 0.0;
                }
            }
            zw_status status =
                solve(s, ZW_CONTACT_CONVEX, kind < 3 ? guess : motion.lambda, work, &motion);
            assert_int_equal(status, ZW_OK);
            assert_true(motion.certificate.worst <= 1e-10);
            assert_true(apart(n, motion.a, a) < 1e-8);
        }
        free(guess);
        free(a);
        zw_gauss_work_free(work);
        scene_free(s);
    }
}

/* Coulomb's law: started from the solution, nothing changes and little is computed. */
static void an_answer_stays(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        scene *s = scene_contact(SCENE_ROBOT, seed);
        zw_gauss_work *work = zw_gauss_work_create(&s->problem, NULL, NULL);
        double *a = calloc((size_t)s->problem.n, sizeof *a);
        zw_motion motion;
        assert_int_equal(solve(s, ZW_CONTACT_COULOMB, NULL, work, &motion), ZW_OK);
        memcpy(a, motion.a, (size_t)s->problem.n * sizeof *a);
        assert_int_equal(solve(s, ZW_CONTACT_COULOMB, motion.lambda, work, &motion), ZW_OK);
        assert_string_equal(motion.method, "newton");
        assert_true(motion.factorizations <= 4);
        assert_true(apart(s->problem.n, motion.a, a) < 1e-6);
        free(a);
        zw_gauss_work_free(work);
        scene_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_guess_leads_to_the_motion),
                                       cmocka_unit_test(an_answer_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

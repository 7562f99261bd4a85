/* The proximal Newton method on scenes of contacts (some with joints, limits, and mass ratios of up
 * to 1e6), cold and warm: what it reports as solved has the certificate; cold it solves nine of
 * ten, warm all that it had solved; results are reproducible to the bit; and any allocation may
 * fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "gauss/contact/sparse_prox.h"
#include "gauss/packed.h"

enum { SEEDS = 4 };

static packed trial;

/* The certificate of an answer, from the data. */
static double worst_of(const zw_motion *motion)
{
    zw_certificate proof;
    zw_gauss_certify(&trial.problem, ZW_CONTACT_COULOMB, motion->a, motion->lambda, NULL, NULL,
                     &proof);
    return proof.worst;
}

static void solved_is_solved(void **state)
{
    (void)state;
    sparse_prox *prox = sparse_prox_create();
    int asked = 0, solved = 0;
    long warm_factors = 0;
    for (int family = 0; family < SCENE_FAMILIES; family++) {
        int all = 0, good = 0;
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            scene *s = scene_contact((scene_family)family, seed);
            if (s->witness && pack(s, &trial)) {
                zw_gauss_options options = zw_gauss_options_default();
                zw_motion motion;
                int answer = sparse_prox_solve(prox, &trial.problem, &options, &motion);
                all++;
                good += answer == 1;
                assert_true(answer == 0 || fabs(worst_of(&motion) - motion.certificate.worst) <=
                                               1e-3 * motion.certificate.worst);
                if (answer == 1) {
                    double lambda[ROWS];
                    assert_true(motion.certificate.worst <= 1e-8);
                    memcpy(lambda, motion.lambda, (size_t)motion.m * sizeof *lambda);
                    options.guess = lambda;
                    answer = sparse_prox_solve(prox, &trial.problem, &options, &motion);
                    assert_int_equal(answer, 1);
                    warm_factors += motion.factorizations;
                }
            }
            scene_free(s);
        }
        printf("family %d: %d of %d\n", family, good, all);
        asked += all;
        solved += good;
    }
    printf("%d of %d solved, warm %.2f factorisations\n", solved, asked,
           (double)warm_factors / solved);
    assert_true(10 * solved >= 9 * asked);
    sparse_prox_free(prox);
}

/* The convex law is a convex problem: every feasible scene is solved without a guess, and in a
 * bounded number of factorisations. */
static void convex_is_solved(void **state)
{
    (void)state;
    sparse_prox *prox = sparse_prox_create();
    zw_gauss_options options = zw_gauss_options_default();
    int all = 0, most = 0;
    options.contact = ZW_CONTACT_CONVEX;
    for (int family = 0; family < SCENE_FAMILIES; family++) {
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            scene *s = scene_contact((scene_family)family, seed);
            if (s->witness && pack(s, &trial)) {
                zw_motion motion;
                zw_certificate proof;
                assert_int_equal(sparse_prox_solve(prox, &trial.problem, &options, &motion), 1);
                zw_gauss_certify(&trial.problem, options.contact, motion.a, motion.lambda, NULL,
                                 NULL, &proof);
                assert_true(proof.worst <= 1e-8);
                most = motion.factorizations > most ? motion.factorizations : most;
                all++;
            }
            scene_free(s);
        }
    }
    printf("convex law: %d scenes, at most %d factorisations\n", all, most);
    assert_true(most <= 60);
    sparse_prox_free(prox);
}

/* A column of 360 weights, one on another: row k holds weight k above weight k - 1, and its force
 * is the weight of all above it. A sweep propagates loads by one contact only; a rough tolerance is
 * met all the same, and with few factorisations. */
static void rough_columns(void **state)
{
    (void)state;
    enum { HIGH = 360 };
    static zw_block block[HIGH];
    sparse_prox *prox = sparse_prox_create();
    zw_motion motion;
    for (int k = 0; k < HIGH; k++) {
        block[k] = (zw_block){.kind = ZW_INEQUALITY, .rows = 1};
        trial.start[k] = trial.row[k] = k;
        trial.metric[k] = 1;
        trial.free[k] = -9.81;
        trial.A_start[k] = k > 0 ? 2 * k - 1 : 0;
        trial.column[trial.A_start[k]] = k > 0 ? k - 1 : k;
        trial.value[trial.A_start[k]] = k > 0 ? -1 : 1;
        trial.column[2 * k] = k;
        trial.value[2 * k] = 1;
    }
    trial.start[HIGH] = HIGH;
    trial.A_start[HIGH] = 2 * HIGH - 1;
    trial.problem =
        (zw_gauss){.n = HIGH,
                   .metric = {.kind = ZW_METRIC_SPARSE,
                              .value = trial.metric,
                              .start = trial.start,
                              .row = trial.row},
                   .free = trial.free,
                   .block_count = HIGH,
                   .block = block,
                   .A = {.start = trial.A_start, .column = trial.column, .value = trial.value}};
    zw_gauss_options options = zw_gauss_options_default();
    options.tolerance = 1e-2;
    assert_int_equal(sparse_prox_solve(prox, &trial.problem, &options, &motion), 1);
    printf("a column: certificate %.1e, %d factorisations, %d iterations\n", worst_of(&motion),
           motion.factorizations, motion.iterations);
    assert_true(worst_of(&motion) <= 1e-2 && motion.factorizations <= 20);
    sparse_prox_free(prox);
}

/* A stack of boxes, twice with the same workspace and once with another. */
static void same_bits(void **state)
{
    (void)state;
    scene *s = scene_contact(SCENE_STACK, 3);
    assert_true(pack(s, &trial));
    zw_gauss_options options = zw_gauss_options_default();
    double first[UNKNOWNS];
    for (int k = 0; k < 3; k++) {
        static sparse_prox *prox;
        zw_motion motion;
        if (k != 1) {
            sparse_prox_free(prox);
            prox = sparse_prox_create();
        }
        assert_int_not_equal(sparse_prox_solve(prox, &trial.problem, &options, &motion), 0);
        if (k == 0) {
            memcpy(first, motion.a, (size_t)motion.n * sizeof *first);
        }
        assert_memory_equal(first, motion.a, (size_t)motion.n * sizeof *first);
        if (k == 2) {
            sparse_prox_free(prox);
        }
    }
    scene_free(s);
}

/* Whichever allocation fails, the call reports it, and the next call succeeds. */
static void lives_without_memory(void **state)
{
    (void)state;
    scene *s = scene_contact(SCENE_ISOSTATIC, 1);
    assert_true(pack(s, &trial));
    zw_gauss_options options = zw_gauss_options_default();
    for (int k = 1, good = 0; !good; k++) {
        zw_motion motion;
        base_alloc_fail_after(k);
        sparse_prox *prox = sparse_prox_create();
        good = prox && sparse_prox_solve(prox, &trial.problem, &options, &motion) == 1;
        base_alloc_fail_after(0);
        if (prox) {
            assert_int_equal(sparse_prox_solve(prox, &trial.problem, &options, &motion), 1);
        }
        sparse_prox_free(prox);
        assert_true(k < 30);
    }
    scene_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solved_is_solved),     cmocka_unit_test(convex_is_solved),
        cmocka_unit_test(rough_columns),        cmocka_unit_test(same_bits),
        cmocka_unit_test(lives_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

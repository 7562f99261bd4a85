/* Forces that the laws of rigid bodies leave undetermined: the choice among them is reproducible.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gauss/contact/islands.h"

enum { MOST = 6 };

/* A table that rises, rolls and pitches, with legs at (x, y) and its load at (x0, y0). */
typedef struct table {
    int legs;
    double x[MOST], y[MOST];
    zw_block block[MOST];
    double A[3 * MOST], b[MOST], mass[3], free[3];
    int start[MOST + 1], column[3 * MOST], metric_start[4], metric_row[3];
    zw_gauss problem;
} table;

static void make(table *t, double x0, double y0)
{
    const double mass[3] = {10, 2, 3}, weight = 98.1;
    for (int i = 0; i < t->legs; i++) {
        const double row[3] = {1, t->y[i], -t->x[i]};
        memcpy(t->A + 3 * i, row, sizeof row);
        t->block[i] = (zw_block){.name = "leg", .kind = ZW_INEQUALITY, .rows = 1};
        t->b[i] = 0;
        t->start[i] = 3 * i;
        for (int k = 0; k < 3; k++) {
            t->column[3 * i + k] = k;
        }
    }
    t->start[t->legs] = 3 * t->legs;
    for (int k = 0; k < 3; k++) {
        t->mass[k] = mass[k];
        t->metric_start[k] = t->metric_row[k] = k;
    }
    t->metric_start[3] = 3;
    t->free[0] = -weight / mass[0];
    t->free[1] = -weight * y0 / mass[1];
    t->free[2] = weight * x0 / mass[2];
    t->problem = (zw_gauss){.n = 3,
                            .metric = {.kind = ZW_METRIC_SPARSE,
                                       .value = t->mass,
                                       .start = t->metric_start,
                                       .row = t->metric_row},
                            .free = t->free,
                            .block_count = t->legs,
                            .block = t->block,
                            .A = {.start = t->start, .column = t->column, .value = t->A},
                            .b = t->b};
}

/* The forces from this guess: with the choice, then again with the result as the guess. */
static void stand(gauss_islands *is, table *t, double share, const double *guess, double *force)
{
    zw_gauss_options options = zw_gauss_options_default();
    gauss_islands_answer answer;
    options.guess = guess;
    for (int round = 0; round < 2; round++) {
        gauss_islands_hint hint = {.share = share, .about_guess = round > 0};
        assert_int_equal(gauss_islands_solve(is, &t->problem, &options, &hint, &answer, NULL),
                         ZW_OK);
        memcpy(force, answer.lambda, (size_t)t->legs * sizeof *force);
        options.guess = force;
    }
    for (int k = 0; k < 3; k++) {
        assert_true(fabs(answer.a[k]) < 1e-9); /* the table stays at rest */
    }
}

/* Legs at (+-a, +-b) carry W/4 (1 + x x0 / a^2 + y y0 / b^2): the least sum of squares. */
static void four_legs(void **state)
{
    (void)state;
    gauss_islands *is = gauss_islands_create();
    assert_non_null(is);
    table t = {.legs = 4, .x = {.4, .4, -.4, -.4}, .y = {.3, -.3, .3, -.3}};
    for (int k = 0; k < 20; k++) {
        double x0 = 0.01 * k, y0 = 0.005 * (k - 10), force[MOST];
        double guess[MOST] = {10.0 * k, 3, 50, 7.0 * k};
        make(&t, x0, y0);
        stand(is, &t, 1e-7, k % 2 ? guess : NULL, force);
        for (int i = 0; i < 4; i++) {
            double wanted = 98.1 / 4 * (1 + t.x[i] * x0 / 0.16 + t.y[i] * y0 / 0.09);
            assert_true(fabs(force[i] - wanted) < 1e-3);
        }
    }
    gauss_islands_free(is);
}

/* Three legs are determinate: their forces have the same bits with the choice and without. */
static void three_legs(void **state)
{
    (void)state;
    gauss_islands *is = gauss_islands_create();
    assert_non_null(is);
    table t = {.legs = 3, .x = {.4, -.4, 0}, .y = {-.3, -.3, .3}};
    double with[MOST], without[MOST];
    make(&t, 0.05, 0.02);
    stand(is, &t, 1e-7, NULL, with);
    stand(is, &t, 0, NULL, without);
    assert_memory_equal(with, without, 3 * sizeof *with);
    gauss_islands_free(is);
}

/* At rest, from the forces of the step before: with one leg in the air the three others are
 * determinate, to round-off; but a leg on the floor that carries nothing in the guess gets its
 * share. */
static void at_rest(void **state)
{
    (void)state;
    gauss_islands *is = gauss_islands_create();
    assert_non_null(is);
    table t = {.legs = 4, .x = {.4, .4, -.4, -.4}, .y = {.3, -.3, .3, -.3}};
    zw_gauss_options options = zw_gauss_options_default();
    gauss_islands_hint hint = {.share = 1e-7, .at_rest = 1};
    gauss_islands_answer answer;
    double guess[4] = {49.05, 0, 0, 49.05}, start[3] = {0};
    hint.start = start;
    options.guess = guess;
    make(&t, 0, 0.1);
    guess[2] = 16.35; /* legs 0, 2 and 3: 98.1 (.1 - .3)/.6 and so on */
    guess[3] = 32.7;
    t.b[1] = -1e-3;
    assert_int_equal(gauss_islands_solve(is, &t.problem, &options, &hint, &answer, NULL), ZW_OK);
    assert_true(answer.lambda[1] == 0);
    assert_true(fabs(answer.lambda[0] - 49.05) < 1e-11 && fabs(answer.lambda[2] - 16.35) < 1e-11 &&
                fabs(answer.lambda[3] - 32.7) < 1e-11);
    t.b[1] = 0;
    assert_int_equal(gauss_islands_solve(is, &t.problem, &options, &hint, &answer, NULL), ZW_OK);
    for (int i = 0; i < 4; i++) {
        assert_true(fabs(answer.lambda[i] - 98.1 / 4 * (1 + t.y[i] * 0.1 / 0.09)) < 1e-3);
    }
    gauss_islands_free(is);
}

/* Six legs, one of them in the air: it carries nothing, and the others share the load without it.
 */
static void a_leg_in_the_air(void **state)
{
    (void)state;
    gauss_islands *is = gauss_islands_create();
    assert_non_null(is);
    table all = {.legs = 6, .x = {.4, .4, -.4, -.4, 0, 0}, .y = {.3, -.3, .3, -.3, .3, -.3}};
    table some = all;
    double force[MOST], wanted[MOST];
    some.legs = 5;
    make(&all, 0.1, 0.05);
    make(&some, 0.1, 0.05);
    all.b[5] = -1e-3; /* it may come down a little */
    stand(is, &all, 1e-7, NULL, force);
    stand(is, &some, 1e-7, NULL, wanted);
    assert_true(force[5] == 0);
    for (int i = 0; i < 5; i++) {
        assert_true(fabs(force[i] - wanted[i]) < 1e-3);
    }
    gauss_islands_free(is);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_legs),
        cmocka_unit_test(three_legs),
        cmocka_unit_test(at_rest),
        cmocka_unit_test(a_leg_in_the_air),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

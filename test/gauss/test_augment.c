/* Contacts of one world by augmented multipliers, alone: from nothing, from the multipliers of a
 * problem like this one, and from wrong ones. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gauss/augment/augment.h"

enum { N = 8, POINTS = 3 };

typedef struct scene {
    augment_alone alone;
    double r[N], v0[N], J[POINTS][3 * N], guess[POINTS][3];
    int column[N], parent[N];
} scene;

/* A chain of N coordinates that is pushed against three points, two of which slide. */
static void begin(scene *s)
{
    for (int i = 0; i < N; i++) {
        s->parent[i] = i - 1;
        s->column[i] = i;
        s->v0[i] = 0.3 * sin(1 + 2 * i);
        s->r[i] = -2 - cos(3 * i);
    }
    assert_true(augment_alone_create(&s->alone, N, s->parent));
    assert_true(augment_alone_grow(&s->alone, POINTS));
    for (int i = 0; i < N; i++) {
        for (int k = 0; k <= i; k++) {
            s->alone.H[s->alone.straight.start[i] + k] =
                i == k ? 3 + 0.1 * i : 0.4 * cos(i + 5 * k);
        }
    }
    for (int p = 0; p < POINTS; p++) {
        for (int e = 0; e < 3 * N; e++) {
            s->J[p][e] = e < N ? 1 + 0.5 * sin(7 * p + e) : cos(11 * p + 2 * e);
        }
    }
}

/* The steps of Newton's method that it takes. */
static long solve(scene *s, int warm, double *x)
{
    augment1 *it = &s->alone.it;
    it->r = s->r;
    it->v0 = s->v0;
    it->good = 1;
    it->steps = 0;
    it->blocks = POINTS;
    for (int p = 0; p < POINTS; p++) {
        it->block[p] = (augment_block1){.width = 3,
                                        .columns = N,
                                        .column = s->column,
                                        .J = s->J[p],
                                        .mu = p == 0 ? 2 : 0.2,
                                        .on = 1,
                                        .guess = warm ? s->guess[p] : NULL};
    }
    augment_begin1(it);
    augment_solve1(it);
    assert_true(it->good);
    assert_true(it->certificate <= 1e-10);
    memcpy(x, it->x, N * sizeof *x);
    return it->steps;
}

static void known_multipliers_save_steps(void **state)
{
    (void)state;
    scene s;
    double x[N], again[N];
    begin(&s);
    long cold = solve(&s, 0, x);
    int pushes = 0;
    for (int p = 0; p < POINTS; p++) {
        memcpy(s.guess[p], s.alone.it.block[p].found, sizeof s.guess[p]);
        pushes += s.guess[p][0] > 0;
    }
    assert_true(pushes > 1);
    long warm = solve(&s, 1, again);
    for (int i = 0; i < N; i++) {
        assert_true(fabs(again[i] - x[i]) <= 1e-9);
    }
    print_message("%ld steps, then %ld\n", cold, warm);
    assert_true(warm < cold);
    assert_int_equal(warm, 1);
    augment_alone_free(&s.alone);
}

static void wrong_multipliers_do_no_harm(void **state)
{
    (void)state;
    scene s;
    double x[N], again[N];
    begin(&s);
    solve(&s, 0, x);
    for (int way = 0; way < 12; way++) {
        for (int p = 0; p < POINTS; p++) {
            for (int r = 0; r < 3; r++) {
                s.guess[p][r] = pow(10, way % 6) * sin(1 + way + 3 * p + 5 * r);
            }
        }
        solve(&s, 1, again);
        for (int i = 0; i < N; i++) {
            assert_true(fabs(again[i] - x[i]) <= 1e-8);
        }
    }
    augment_alone_free(&s.alone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_multipliers_save_steps),
        cmocka_unit_test(wrong_multipliers_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

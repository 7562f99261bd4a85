/* The blocked factorisation: H x = b for random patterns of nodes of all sizes, symmetric or not,
 * with b computed from a known x; reproducible bits; and any allocation may fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/sparse/front.h"
#include "scene/dice.h"

enum { NODES = 60, SIZE = 7, ENTRIES = 400, UNKNOWNS = NODES * SIZE };

typedef struct net {
    int nodes, size[NODES], at[NODES + 1], start[NODES + 1], row[ENTRIES];
    double H[UNKNOWNS * UNKNOWNS], x[UNKNOWNS], b[UNKNOWNS];
} net;

/* A chain with chords; the diagonal is as large as a row, or far smaller: then rows must change
 * places. */
static void make(net *t, dice *d, double weight)
{
    int count = 0;
    memset(t, 0, sizeof *t);
    t->nodes = NODES / 2 + dice_int(d, 0, NODES / 2);
    for (int c = 0; c < t->nodes; c++) {
        t->size[c] = dice_int(d, 1, SIZE);
        t->at[c + 1] = t->at[c] + t->size[c];
        t->start[c] = count;
        if (c > 0) {
            t->row[count++] = c - 1;
        }
        for (int k = 0; k < 3 && c > 4; k++) {
            int other = dice_int(d, 0, c - 3 - k);
            int there = 0;
            for (int q = t->start[c]; q < count; q++) {
                there |= t->row[q] == other;
            }
            if (!there && count < ENTRIES) {
                t->row[count++] = other;
            }
        }
    }
    t->start[t->nodes] = count;
    int n = t->at[t->nodes];
    for (int c = 0; c < t->nodes; c++) {
        for (int q = t->start[c] - 1; q < t->start[c + 1]; q++) {
            int a = q < t->start[c] ? c : t->row[q];
            for (int i = t->at[a]; i < t->at[a + 1]; i++) {
                for (int j = t->at[c]; j < t->at[c + 1]; j++) {
                    t->H[i * n + j] = dice_between(d, -1, 1) + (i == j ? weight : 0);
                    t->H[j * n + i] = i == j ? t->H[i * n + j] : dice_between(d, -1, 1);
                }
            }
        }
    }
    for (int j = 0; j < n; j++) {
        t->x[j] = dice_between(d, -1, 1);
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            t->b[i] += t->H[i * n + j] * t->x[j];
        }
    }
}

static void add(const net *t, double *to, front_spot spot, int a, int b)
{
    int n = t->at[t->nodes];
    for (int i = 0; i < t->size[a]; i++) {
        for (int j = 0; j < t->size[b]; j++) {
            to[spot.at + (size_t)i * spot.stride + (size_t)j] +=
                t->H[(t->at[a] + i) * n + t->at[b] + j];
        }
    }
}

static int solve(const net *t, front *f, double *x)
{
    if (!front_analyse(f, t->nodes, t->size, t->start, t->row)) {
        return 0;
    }
    front_blocks at = front_where(f);
    front_clear(f);
    for (int c = 0; c < t->nodes; c++) {
        add(t, at.numbers, at.diagonal[c], c, c);
        for (int q = t->start[c]; q < t->start[c + 1]; q++) {
            add(t, at.numbers, at.lower[q], t->row[q], c);
            add(t, at.numbers, at.upper[q], c, t->row[q]);
        }
    }
    assert_true(front_factor(f));
    memcpy(x, t->b, sizeof t->b);
    front_solve(f, x);
    return 1;
}

static net trial;
static double found[UNKNOWNS], again[UNKNOWNS];

static void solves_what_was_asked(void **state)
{
    (void)state;
    dice d = dice_of(11);
    front *f = front_create();
    for (int k = 0; k < 60; k++) {
        double weight = k % 3 == 2 ? 8 : 40;
        make(&trial, &d, weight);
        assert_true(solve(&trial, f, found));
        assert_true(solve(&trial, f, again));
        for (int j = 0; j < trial.at[trial.nodes]; j++) {
            assert_true(fabs(found[j] - trial.x[j]) <= (k % 3 == 2 ? 1e-8 : 1e-12));
        }
        assert_memory_equal(found, again, sizeof found);
    }
    front_free(f);
}

/* A diagonal of zeros inside a node needs other rows as pivots. */
static void exchanges_rows(void **state)
{
    (void)state;
    const int size[] = {2, 1}, start[] = {0, 1, 1}, row[] = {1};
    front *f = front_create();
    assert_true(front_analyse(f, 2, size, start, row));
    front_blocks at = front_where(f);
    front_clear(f);
    double *H = at.numbers;
    H[at.diagonal[0].at + 1] = 2;
    H[at.diagonal[0].at + at.diagonal[0].stride] = 4;
    H[at.diagonal[1].at] = 5;
    assert_true(front_factor(f));
    double x[] = {2, 8, 5};
    front_solve(f, x);
    assert_true(fabs(x[0] - 2) <= (0));
    assert_true(fabs(x[1] - 1) <= (0));
    assert_true(fabs(x[2] - 1) <= (0));
    front_clear(f);
    assert_false(front_factor(f)); /* nothing to divide by */
    front_free(f);
}

static void lives_without_memory(void **state)
{
    (void)state;
    dice d = dice_of(5);
    make(&trial, &d, 40);
    for (int k = 1, good = 0; !good; k++) {
        base_alloc_fail_after(k);
        front *f = front_create();
        good = f && solve(&trial, f, found);
        front_free(f);
        assert_true(k < 20);
    }
    base_alloc_fail_after(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves_what_was_asked),
        cmocka_unit_test(exchanges_rows),
        cmocka_unit_test(lives_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What the tests of trees share: a tree with its work and a random state. */
#ifndef ZWANG_TEST_TREE_TRYING_H
#define ZWANG_TEST_TREE_TRYING_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "scene/bounds.h"
#include "scene/trees.h"
#include "tree/sweeps.h"

typedef struct trying {
    tree_mechanism *tree;
    double *work;
    double *q, *v, *a, *tau, *wrench; /* random */
    double *x, *y, *z;                /* [nv], or [nq] if that is more */
    dice dice;
} trying;

static inline double *doubles(int count)
{
    double *x = calloc((size_t)count + 1, sizeof *x);
    assert_non_null(x);
    return x;
}

static inline trying try_tree(tree_mechanism *tree, uint64_t seed)
{
    trying t = {.tree = tree, .work = tree_work_create(tree, 1), .dice = dice_of(seed)};
    assert_non_null(t.work);
    double **const list[] = {&t.q, &t.v, &t.a, &t.tau, &t.x, &t.y, &t.z};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        *list[k] = doubles(tree->nq > tree->nv ? tree->nq : tree->nv);
    }
    t.wrench = doubles(6 * tree->bodies);
    tree_random_q(tree, &t.dice, t.q);
    tree_random_v(tree, &t.dice, t.v);
    tree_random_v(tree, &t.dice, t.a);
    tree_random_v(tree, &t.dice, t.tau);
    for (int k = 0; k < 6 * tree->bodies; k++) {
        t.wrench[k] = dice_between(&t.dice, -1.0, 1.0);
    }
    tree_kinematics(tree, t.q, t.work);
    tree_velocities(tree, t.v, t.work);
    return t;
}

static inline void try_free(trying *t)
{
    double *const list[] = {t->q, t->v, t->a, t->tau, t->x, t->y, t->z, t->wrench};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        free(list[k]);
    }
    base_free(t->work);
    tree_free(t->tree);
}

static inline double largest(const double *x, int n)
{
    double most = 0.0;
    for (int k = 0; k < n; k++) {
        most = fabs(x[k]) <= most ? most : fabs(x[k]);
    }
    return most;
}

static inline double apart(const double *x, const double *y, int n)
{
    double most = 0.0;
    for (int k = 0; k < n; k++) {
        double d = fabs(x[k] - y[k]);
        most = d <= most ? most : d;
    }
    return most;
}

/* Seeds and sizes of the usual campaign: 1 to 60 bodies. */
#define FOR_RANDOM_TREES(t, count, decades)                                                        \
    for (int seed_ = 1, once_; seed_ <= (count); seed_++)                                          \
        for (trying t =                                                                            \
                 (once_ = 1, try_tree(tree_random((uint64_t)seed_, 1 + seed_ * 7 % 60, decades),   \
                                      (uint64_t)seed_ + 1000u));                                   \
             once_; once_ = 0, try_free(&t))

/* f'(0) by differences of order 8 over steps of h; f writes n numbers. */
typedef void curve(void *user, double s, double *value);

static inline void slope(curve *f, void *user, int n, double h, double *rate)
{
    static const double weight[4] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
    double *after = doubles(n), *before = doubles(n);
    memset(rate, 0, (size_t)n * sizeof *rate);
    for (int k = 1; k <= 4; k++) {
        f(user, k * h, after);
        f(user, -k * h, before);
        for (int i = 0; i < n; i++) {
            rate[i] += weight[k - 1] * (after[i] - before[i]) / h;
        }
    }
    free(after);
    free(before);
}

#endif

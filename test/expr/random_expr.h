/* Random formulas over all operations, tame at a given point: every value is of moderate size and
 * away from the singularities, corners and jumps of the operation that it goes into, so that
 * differences and complex steps have something to compare with. */
#ifndef ZWANG_TEST_EXPR_RANDOM_EXPR_H
#define ZWANG_TEST_EXPR_RANDOM_EXPR_H

#include <math.h>
#include <string.h>

#include "expr/graph.h"
#include "scene/dice.h"

enum { WORLD_PARAMS = 3, WORLD_COORDS = 4, WORLD_LAMBDAS = 2, POOL = 160 };

/* The numbers of a world. */
typedef struct world {
    double t, param[WORLD_PARAMS], q[WORLD_COORDS], v[WORLD_COORDS], a[WORLD_COORDS];
    double lambda[WORLD_LAMBDAS];
} world;

static inline expr_inputs world_inputs(const world *w)
{
    return (expr_inputs){
        .t = w->t, .param = w->param, .q = w->q, .v = w->v, .a = w->a, .lambda = w->lambda};
}

/* NaN where there is no memory. */
static inline double value_of(const expr_graph *graph, expr_id id, const expr_inputs *in)
{
    double value;
    return expr_value(graph, id, in, &value) == ZW_OK ? value : (double)NAN;
}

static inline expr_id culprit_of(const expr_graph *graph, expr_id id, const expr_inputs *in)
{
    expr_id culprit;
    assert_int_equal(expr_culprit(graph, id, in, &culprit), ZW_OK);
    return culprit;
}

static inline void roll(dice *d, double *x, int n)
{
    for (int i = 0; i < n; i++) {
        x[i] = dice_between(d, -1.5, 1.5);
    }
}

static inline world world_random(dice *d)
{
    world w = {.t = dice_between(d, 0.1, 1.0)};
    roll(d, w.param, WORLD_PARAMS);
    roll(d, w.q, WORLD_COORDS);
    roll(d, w.v, WORLD_COORDS);
    roll(d, w.a, WORLD_COORDS);
    roll(d, w.lambda, WORLD_LAMBDAS);
    return w;
}

typedef struct pool {
    int count;
    expr_id id[POOL];
    double value[POOL];
} pool;

/* Whether the operation is smooth and moderate around these numbers. */
static inline int is_tame(expr_op op, double a, double b)
{
    switch (op) {
    case EXPR_DIV:
        return fabs(b) > 0.2;
    case EXPR_POW:
        return a > 0.2 && fabs(b) < 3.0;
    case EXPR_SQRT:
    case EXPR_LOG:
        return a > 0.2;
    case EXPR_TAN:
        return fabs(a) < 1.2;
    case EXPR_ASIN:
    case EXPR_ACOS:
        return fabs(a) < 0.9;
    case EXPR_EXP:
    case EXPR_SINH:
    case EXPR_COSH:
        return fabs(a) < 2.0;
    case EXPR_ATAN2:
        return a * a + b * b > 0.1 && (b > 0.0 || fabs(a) > 0.1);
    case EXPR_HYPOT:
        return a * a + b * b > 0.1;
    case EXPR_ABS:
    case EXPR_SIGN:
    case EXPR_POWI:
        return fabs(a) > 0.1;
    case EXPR_FLOOR:
        return fabs(a - floor(a) - 0.5) < 0.4;
    case EXPR_MIN:
    case EXPR_MAX:
    case EXPR_LESS:
    case EXPR_LESS_EQUAL:
    case EXPR_EQUAL:
        return fabs(a - b) > 0.1;
    default:
        return 1;
    }
}

static inline void pool_add(pool *p, expr_graph *graph, expr_id id, const world *w)
{
    expr_inputs inputs = world_inputs(w);
    double value = value_of(graph, id, &inputs);
    if (p->count < POOL && fabs(value) < 6.0) {
        p->id[p->count] = id;
        p->value[p->count++] = value;
    }
}

static inline void pool_leaves(pool *p, expr_graph *graph, const world *w)
{
    p->count = 0;
    pool_add(p, graph, expr_leaf(graph, EXPR_TIME, 0), w);
    for (int i = 0; i < WORLD_PARAMS; i++) {
        pool_add(p, graph, expr_leaf(graph, EXPR_PARAM, i), w);
    }
    for (int i = 0; i < WORLD_COORDS; i++) {
        pool_add(p, graph, expr_leaf(graph, EXPR_COORD, i), w);
        pool_add(p, graph, expr_leaf(graph, EXPR_SPEED, i), w);
    }
}

/* One more random operation on members of the pool; newer members are taken more often. */
static inline void pool_grow(pool *p, expr_graph *graph, const world *w, dice *d)
{
    expr_op op = (expr_op)dice_int(d, EXPR_ADD, EXPR_OP_COUNT - 1);
    if (op >= EXPR_SIGN && op <= EXPR_NOT && dice_chance(d, 0.7)) { /* most of it shall move */
        op = (expr_op)dice_int(d, EXPR_ADD, EXPR_DIV);
    }
    int k[3];
    for (int i = 0; i < 3; i++) {
        int low = dice_chance(d, 0.5) ? 0 : p->count / 2;
        k[i] = dice_int(d, low, p->count - 1);
    }
    expr_id a = p->id[k[0]], b = p->id[k[1]], c = p->id[k[2]];
    if (op == EXPR_POW && dice_chance(d, 0.5)) {
        b = expr_const(graph, dice_between(d, -2.0, 3.0));
    }
    if (dice_chance(d, 0.1)) {
        b = expr_const(graph, 0.25 * dice_int(d, -8, 8));
    }
    expr_inputs inputs = world_inputs(w);
    if (!is_tame(op, p->value[k[0]], value_of(graph, b, &inputs))) {
        return;
    }
    if (op == EXPR_POWI) {
        pool_add(p, graph, expr_powi(graph, a, dice_int(d, -4, 6)), w);
    } else if (op == EXPR_SELECT) {
        pool_add(p, graph, expr_select(graph, a, b, c), w);
    } else if (expr_op_operands(op) == 1) {
        pool_add(p, graph, expr_unary(graph, op, a), w);
    } else {
        pool_add(p, graph, expr_binary(graph, op, a, b), w);
    }
}

/* A formula of about `size` operations: the sum of the last few, so that most of it counts. */
static inline expr_id random_formula(expr_graph *graph, const world *w, dice *d, int size)
{
    pool p;
    pool_leaves(&p, graph, w);
    if (expr_graph_status(graph) != ZW_OK) { /* a test of refusals */
        return EXPR_ZERO;
    }
    for (int i = 0; i < size; i++) {
        pool_grow(&p, graph, w, d);
    }
    expr_id sum = p.id[p.count - 1];
    for (int i = 2; i <= 10; i++) {
        sum = expr_binary(graph, i % 3 ? EXPR_ADD : EXPR_SUB, sum, p.id[p.count - i]);
    }
    return sum;
}

#endif

/* The tape has the same bits as the graph, for one world and for eight. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/memory.h"
#include "expr/derive.h"
#include "expr/random_expr.h"
#include "expr/tape.h"
#include "scene/campaign.h"

enum { LANES = 8, OUTPUTS = 64 };

static const expr_shape SHAPE = {
    .params = WORLD_PARAMS, .coords = WORLD_COORDS, .lambdas = WORLD_LAMBDAS};

/* What this thread has computed: other people's load does not count. */
static double seconds_computed(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Equal bits; a NaN is a NaN. */
static void assert_same(double x, double y)
{
    if (memcmp(&x, &y, sizeof x) != 0 && !(x != x && y != y)) {
        fail_msg("%.17g is not %.17g", x, y);
    }
}

static double *register_file(const expr_tape *tape, int lanes)
{
    size_t bytes = (expr_tape_registers(tape) * (size_t)lanes * sizeof(double) + 63) / 64 * 64;
    double *file = aligned_alloc(64, bytes + 64);
    for (size_t i = 0; i < bytes / sizeof(double); i++) {
        file[i] = 1e300; /* reading what was not written shows */
    }
    return file;
}

/* Formulas and their derivatives of all kinds; returns how many. */
static int random_outputs(expr_graph *graph, const world *w, dice *d, expr_id *out)
{
    int count = 0;
    expr_terms terms = {0};
    for (int f = 0; f < 3; f++) {
        out[count++] = random_formula(graph, w, d, 10 + dice_int(d, 0, 60));
        expr_rate(graph, &out[count - 1], 1, EXPR_RATE_FULL, &out[count]);
        count++;
        expr_op leaf = f == 0 ? EXPR_COORD : f == 1 ? EXPR_SPEED : EXPR_PARAM;
        expr_gradient(graph, out[count - 2], leaf, &terms);
        for (int i = 0; i < terms.count; i++) {
            out[count++] = terms.term[i].id;
        }
    }
    out[count++] =
        expr_leaf(graph, EXPR_LAMBDA, 1); /* a leaf, a constant, a parameter, twice one */
    out[count++] = expr_const(graph, 3.5);
    out[count++] = expr_leaf(graph, EXPR_PARAM, 2);
    out[count++] = out[0];
    out[count++] = expr_binary(graph, EXPR_DIV, EXPR_ONE, EXPR_ZERO);
    out[count++] =
        expr_binary(graph, EXPR_ADD, expr_leaf(graph, EXPR_PARAM, 0), expr_const(graph, 3.0));
    expr_terms_free(&terms);
    assert_true(count <= OUTPUTS);
    return count;
}

/* As random as it gets: far from where the formulas are tame, signed zeros and infinities too. */
static double wild(dice *d)
{
    static const double special[] = {0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY, NAN, 1e-310, 1e308};
    return dice_chance(d, 0.1) ? special[dice_int(d, 0, 8)]
                               : dice_sign(d, dice_power(d, -3.0, 2.0));
}

static void make_wild(dice *d, world *w)
{
    w->t = wild(d);
    for (int i = 0; i < WORLD_PARAMS; i++) {
        w->param[i] = wild(d);
    }
    for (int i = 0; i < WORLD_COORDS; i++) {
        w->q[i] = wild(d);
        w->v[i] = wild(d);
        w->a[i] = wild(d);
    }
    for (int i = 0; i < WORLD_LAMBDAS; i++) {
        w->lambda[i] = wild(d);
    }
}

static void tapes_are_graphs(void **state)
{
    (void)state;
    dice d = dice_of(21);
    for (int trial = 0; trial < campaign(1000); trial++) {
        expr_graph *graph = expr_graph_create();
        world w = world_random(&d);
        expr_id out[OUTPUTS];
        int count = random_outputs(graph, &w, &d, out);
        zw_error error;
        expr_tape *tape = expr_tape_create(graph, &SHAPE, out, count, &error);
        assert_non_null(tape);
        double *file = register_file(tape, 1), y[OUTPUTS];
        for (int run = 0; run < 4; run++) {
            expr_inputs in = world_inputs(&w);
            expr_tape_prepare(tape, w.param, file);
            for (int again = 0; again < 2; again++) {
                expr_tape_run(tape, &in, file, y);
            }
            for (int i = 0; i < count; i++) {
                assert_same(y[i], value_of(graph, out[i], &in));
            }
            make_wild(&d, &w);
        }
        free(file);
        expr_tape_free(tape);
        expr_graph_free(graph);
    }
}

/* Eight worlds side by side. */
typedef struct worlds {
    double t[LANES], param[WORLD_PARAMS][LANES];
    double q[WORLD_COORDS][LANES], v[WORLD_COORDS][LANES], a[WORLD_COORDS][LANES];
    double lambda[WORLD_LAMBDAS][LANES];
} worlds;

static void set_lane(worlds *all, int lane, const world *w)
{
    all->t[lane] = w->t;
    for (int i = 0; i < WORLD_PARAMS; i++) {
        all->param[i][lane] = w->param[i];
    }
    for (int i = 0; i < WORLD_COORDS; i++) {
        all->q[i][lane] = w->q[i];
        all->v[i][lane] = w->v[i];
        all->a[i][lane] = w->a[i];
    }
    for (int i = 0; i < WORLD_LAMBDAS; i++) {
        all->lambda[i][lane] = w->lambda[i];
    }
}

static void lanes_are_worlds(void **state)
{
    (void)state;
    dice d = dice_of(22);
    for (int trial = 0; trial < campaign(1000); trial++) {
        expr_graph *graph = expr_graph_create();
        world w[LANES];
        worlds all;
        for (int k = 0; k < LANES; k++) {
            w[k] = world_random(&d);
            if (k > 4) {
                make_wild(&d, &w[k]);
            }
            set_lane(&all, k, &w[k]);
        }
        expr_id out[OUTPUTS];
        int count = random_outputs(graph, &w[0], &d, out);
        expr_tape *tape = expr_tape_create(graph, &SHAPE, out, count, NULL);
        double *file = register_file(tape, 1), *file8 = register_file(tape, LANES);
        double y[OUTPUTS], y8[OUTPUTS][LANES];
        expr_inputs8 in8 = {.t = all.t,
                            .q = &all.q[0][0],
                            .v = &all.v[0][0],
                            .a = &all.a[0][0],
                            .lambda = &all.lambda[0][0]};
        expr_tape_prepare8(tape, &all.param[0][0], file8);
        expr_tape_run8(tape, &in8, file8, &y8[0][0]);
        for (int k = 0; k < LANES; k++) {
            expr_inputs in = world_inputs(&w[k]);
            expr_tape_prepare(tape, w[k].param, file);
            expr_tape_run(tape, &in, file, y);
            for (int i = 0; i < count; i++) {
                assert_same(y8[i][k], y[i]);
            }
        }
        free(file);
        free(file8);
        expr_tape_free(tape);
        expr_graph_free(graph);
    }
}

/* ---- Shape ------------------------------------------------------------------------------------*/

static void pairs_are_one_instruction(void **state)
{
    (void)state;
    expr_graph *g = expr_graph_create();
    expr_id x = expr_leaf(g, EXPR_COORD, 0), y = expr_leaf(g, EXPR_COORD, 1);
    expr_id m = expr_leaf(g, EXPR_PARAM, 0);
    expr_id s = expr_unary(g, EXPR_SIN, x), c = expr_unary(g, EXPR_COS, x);
    expr_id dot =
        expr_binary(g, EXPR_ADD, expr_binary(g, EXPR_MUL, s, y), expr_binary(g, EXPR_MUL, c, x));
    expr_id line = expr_binary(g, EXPR_SUB, dot, expr_binary(g, EXPR_MUL, m, y));
    expr_tape *tape = expr_tape_create(g, &SHAPE, &line, 1, NULL);
    assert_int_equal(expr_tape_instructions(tape), 3); /* sincos, a*b + c*d, a - b*c */
    expr_tape_free(tape);

    /* What only parameters decide is not computed again. */
    expr_id root = expr_unary(g, EXPR_SQRT, expr_unary(g, EXPR_EXP, m));
    expr_id two[] = {expr_binary(g, EXPR_MUL, root, x), root};
    tape = expr_tape_create(g, &SHAPE, two, 2, NULL);
    assert_int_equal(expr_tape_instructions(tape), 1);
    expr_tape_free(tape);

    tape = expr_tape_create(g, &SHAPE, NULL, 0, NULL);
    assert_non_null(tape);
    assert_int_equal(expr_tape_instructions(tape), 0);
    expr_tape_prepare(tape, NULL, NULL);
    expr_tape_free(tape);

    zw_error error;
    expr_id far = expr_binary(g, EXPR_ADD, x, expr_leaf(g, EXPR_SPEED, WORLD_COORDS));
    assert_null(expr_tape_create(g, &SHAPE, &far, 1, &error));
    assert_int_equal(error.status, ZW_BAD_INPUT);
    expr_graph_free(g);
}

/* ---- Large ------------------------------------------------------------------------------------*/

static expr_id difference(expr_graph *g, int i, int j)
{
    return expr_binary(g, EXPR_SUB, expr_leaf(g, EXPR_COORD, i), expr_leaf(g, EXPR_COORD, j));
}

/* A chain of points: for each link its length, gradient, rate and bias; and the momenta. The list
 * is to be freed. */
static expr_id *chain(expr_graph *g, int points, int *count)
{
    expr_id *out = malloc((size_t)points * 9 * sizeof *out);
    expr_id energy = EXPR_ZERO;
    expr_terms terms = {0};
    *count = 0;
    for (int i = 0; i < points; i++) {
        expr_id m = expr_leaf(g, EXPR_PARAM, 0), l = expr_leaf(g, EXPR_PARAM, 1);
        expr_id dx = i > 0 ? difference(g, 2 * i, 2 * i - 2) : expr_leaf(g, EXPR_COORD, 0);
        expr_id dy = i > 0 ? difference(g, 2 * i + 1, 2 * i - 1) : expr_leaf(g, EXPR_COORD, 1);
        expr_id square = expr_binary(g, EXPR_ADD, expr_powi(g, dx, 2), expr_powi(g, dy, 2));
        expr_id *row = out + *count;
        row[0] = expr_binary(g, EXPR_SUB, square, expr_powi(g, l, 2));
        expr_rate(g, &row[0], 1, EXPR_RATE_BIAS, &row[1]);
        expr_rate(g, &row[1], 1, EXPR_RATE_BIAS, &row[2]);
        expr_gradient(g, row[0], EXPR_COORD, &terms);
        for (int k = 0; k < terms.count; k++) {
            row[3 + k] = terms.term[k].id;
        }
        *count += 3 + terms.count;
        expr_id half = expr_binary(g, EXPR_DIV, m, expr_const(g, 2.0));
        for (int k = 0; k < 2; k++) {
            expr_id v = expr_leaf(g, EXPR_SPEED, 2 * i + k);
            energy = expr_binary(g, EXPR_ADD, energy,
                                 expr_binary(g, EXPR_MUL, half, expr_powi(g, v, 2)));
        }
    }
    expr_gradient(g, energy, EXPR_SPEED, &terms);
    for (int k = 0; k < terms.count; k++) {
        out[(*count)++] = terms.term[k].id;
    }
    expr_terms_free(&terms);
    return out;
}

static void chains_compile_fast(void **state)
{
    (void)state;
    enum { POINTS = 10000 };
    double start = seconds_computed();
    expr_graph *g = expr_graph_create();
    int count;
    expr_id *out = chain(g, POINTS, &count);
    double derived = seconds_computed();
    expr_shape shape = {.params = 2, .coords = 2 * POINTS};
    expr_tape *tape = expr_tape_create(g, &shape, out, count, NULL);
    double compiled = seconds_computed();
    assert_non_null(tape);
    printf("    a chain of %d points: %d nodes derived in %.3f s, %d outputs by %d instructions on "
           "%zu registers compiled in %.3f s\n",
           POINTS, expr_graph_count(g), derived - start, count, expr_tape_instructions(tape),
           expr_tape_registers(tape), compiled - derived);
    dice d = dice_of(23);
    double param[] = {1.5, 0.1}, *q = malloc(2 * POINTS * sizeof *q);
    double *v = malloc(2 * POINTS * sizeof *v), *y = malloc((size_t)count * sizeof *y);
    for (int i = 0; i < 2 * POINTS; i++) {
        q[i] = dice_between(&d, -1.0, 1.0);
        v[i] = dice_between(&d, -1.0, 1.0);
    }
    double *file = register_file(tape, 1);
    expr_inputs in = {.param = param, .q = q, .v = v};
    expr_tape_prepare(tape, param, file);
    expr_tape_run(tape, &in, file, y);
    for (int i = 0; i < count; i += 97) {
        assert_same(y[i], value_of(g, out[i], &in));
    }
    free(file);
    free(q);
    free(v);
    free(y);
    free(out);
    expr_tape_free(tape);
    expr_graph_free(g);
}

static void refusals_are_clean(void **state)
{
    (void)state;
    expr_graph *graph = expr_graph_create();
    dice d = dice_of(24);
    world w = world_random(&d);
    expr_id out[OUTPUTS];
    int count = random_outputs(graph, &w, &d, out);
    for (int k = 1;; k++) {
        zw_error error = {0};
        base_alloc_fail_after(k);
        expr_tape *tape = expr_tape_create(graph, &SHAPE, out, count, &error);
        base_alloc_fail_after(0);
        if (tape != NULL) {
            assert_true(k > 3);
            expr_tape_free(tape);
            break;
        }
        assert_int_equal(error.status, ZW_NO_MEMORY);
    }
    assert_int_equal(expr_graph_status(graph), ZW_OK);
    expr_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tapes_are_graphs),          cmocka_unit_test(lanes_are_worlds),
        cmocka_unit_test(pairs_are_one_instruction), cmocka_unit_test(chains_compile_fast),
        cmocka_unit_test(refusals_are_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

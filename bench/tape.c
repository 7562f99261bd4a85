/* The cost of an instruction of the tape, for one world and for eight at once.
 *
 *     tape            a table; nanoseconds are those of this thread, the least of several runs */
#include <string.h>

#include "expr/derive.h"
#include "expr/tape.h"
#include "measure.h"

enum { LANES = 8, RUNS = 9 };

typedef struct formulas {
    expr_graph *graph;
    expr_shape shape;
    int count, capacity;
    expr_id *out;
} formulas;

static void give(formulas *f, expr_id id)
{
    if (f->count == f->capacity) {
        f->capacity = f->capacity > 0 ? 2 * f->capacity : 64;
        expr_id *larger = allocate((size_t)f->capacity, sizeof *larger);
        if (f->count > 0)
            memcpy(larger, f->out, (size_t)f->count * sizeof *larger);
        free(f->out);
        f->out = larger;
    }
    f->out[f->count++] = id;
}

static void give_gradient(formulas *f, expr_id id, expr_op leaf)
{
    expr_terms terms = {0};
    expr_gradient(f->graph, id, leaf, &terms);
    for (int i = 0; i < terms.count; i++)
        give(f, terms.term[i].id);
    expr_terms_free(&terms);
}

static expr_id add(expr_graph *g, expr_id a, expr_id b)
{
    return expr_binary(g, EXPR_ADD, a, b);
}

static expr_id sub(expr_graph *g, expr_id a, expr_id b)
{
    return expr_binary(g, EXPR_SUB, a, b);
}

static expr_id mul(expr_graph *g, expr_id a, expr_id b)
{
    return expr_binary(g, EXPR_MUL, a, b);
}

/* An n-fold pendulum in angles: what Lagrange's equations need of L = K - V. For each coordinate
 * the momentum L_v, its gradient by the speeds (the mass matrix), its rate without accelerations,
 * and L_q. */
static formulas pendulum(int links)
{
    formulas f = {.graph = expr_graph_create(),
                  .shape = {.params = 2 * links + 1, .coords = links}};
    expr_graph *g = f.graph;
    expr_id x = EXPR_ZERO, y = EXPR_ZERO, lagrangian = EXPR_ZERO;
    for (int i = 0; i < links; i++) {
        expr_id l = expr_leaf(g, EXPR_PARAM, i), m = expr_leaf(g, EXPR_PARAM, links + i), rate[2];
        expr_id angle = expr_leaf(g, EXPR_COORD, i), gravity = expr_leaf(g, EXPR_PARAM, 2 * links);
        x = add(g, x, mul(g, l, expr_unary(g, EXPR_SIN, angle)));
        y = sub(g, y, mul(g, l, expr_unary(g, EXPR_COS, angle)));
        expr_rate(g, (expr_id[]){x, y}, 2, EXPR_RATE_BIAS, rate);
        expr_id square = add(g, expr_powi(g, rate[0], 2), expr_powi(g, rate[1], 2));
        expr_id half = mul(g, expr_const(g, 0.5), m);
        lagrangian = add(g, lagrangian, mul(g, half, square));
        lagrangian = sub(g, lagrangian, mul(g, mul(g, m, gravity), y));
    }
    expr_terms momentum = {0};
    expr_gradient(g, lagrangian, EXPR_SPEED, &momentum);
    for (int i = 0; i < momentum.count; i++) {
        expr_id rate;
        give_gradient(&f, momentum.term[i].id, EXPR_SPEED);
        expr_rate(g, &momentum.term[i].id, 1, EXPR_RATE_BIAS, &rate);
        give(&f, rate);
    }
    give_gradient(&f, lagrangian, EXPR_COORD);
    expr_terms_free(&momentum);
    return f;
}

/* The same in Cartesian coordinates: no function, only arithmetic. Rows A, A'v and lengths. */
static formulas chain(int points)
{
    formulas f = {.graph = expr_graph_create(), .shape = {.params = points, .coords = 2 * points}};
    expr_graph *g = f.graph;
    for (int i = 0; i < points; i++) {
        expr_id square = EXPR_ZERO, rate[2];
        for (int k = 0; k < 2; k++) {
            expr_id d = expr_leaf(g, EXPR_COORD, 2 * i + k);
            if (i > 0)
                d = sub(g, d, expr_leaf(g, EXPR_COORD, 2 * i - 2 + k));
            square = add(g, square, expr_powi(g, d, 2));
        }
        expr_id length = sub(g, square, expr_powi(g, expr_leaf(g, EXPR_PARAM, i), 2));
        expr_rate(g, &length, 1, EXPR_RATE_BIAS, &rate[0]);
        expr_rate(g, &rate[0], 1, EXPR_RATE_BIAS, &rate[1]);
        give(&f, length);
        give(&f, rate[0]);
        give(&f, rate[1]);
        give_gradient(&f, length, EXPR_COORD);
    }
    return f;
}

/* Numbers for all leaves, slightly different in every lane. */
static double *numbers(int count)
{
    double *x = allocate((size_t)count * LANES, sizeof *x);
    for (int i = 0; i < count * LANES; i++)
        x[i] = 0.3 + 0.001 * (double)(i * 7919 % 1000);
    return x;
}

static double *register_file(size_t registers)
{
    double *file = aligned_alloc(64, (registers * LANES * sizeof *file + 64) / 64 * 64);
    if (file == NULL)
        exit(2);
    return file;
}

static void measure(const char *name, formulas f)
{
    zw_error error = {0};
    double start = seconds_computed();
    expr_tape *tape = expr_tape_create(f.graph, &f.shape, f.out, f.count, &error);
    double compile = seconds_computed() - start;
    if (tape == NULL) {
        fprintf(stderr, "%s: %s\n", name, error.text);
        exit(2);
    }
    double *param = numbers(f.shape.params), *q = numbers(f.shape.coords);
    double *v = numbers(f.shape.coords), *out = allocate((size_t)f.count * LANES, sizeof *out);
    double *file = register_file(expr_tape_registers(tape));
    expr_inputs in = {.t = 0.1, .param = param, .q = q, .v = v};
    expr_inputs8 in8 = {.t = param, .q = q, .v = v};
    int n = expr_tape_instructions(tape), repeat = 1 + 4000000 / (n + 1);
    double best[2] = {1e300, 1e300};
    for (int lanes = 0; lanes < 2; lanes++) {
        if (lanes)
            expr_tape_prepare8(tape, param, file);
        else
            expr_tape_prepare(tape, param, file);
        for (int run = 0; run < RUNS; run++) {
            start = seconds_computed();
            for (int k = 0; k < repeat; k++) {
                if (lanes)
                    expr_tape_run8(tape, &in8, file, out);
                else
                    expr_tape_run(tape, &in, file, out);
            }
            double spent = (seconds_computed() - start) / repeat;
            best[lanes] = spent < best[lanes] ? spent : best[lanes];
        }
    }
    printf("| %s | %d | %d | %zu | %.1f | %.2f | %.2f | %.2f |\n", name, f.count, n,
           expr_tape_registers(tape), 1e3 * compile, 1e6 * best[0], 1e9 * best[0] / n,
           1e9 * best[1] / n / LANES);
    free(param);
    free(q);
    free(v);
    free(out);
    free(file);
    free(f.out);
    expr_tape_free(tape);
    expr_graph_free(f.graph);
}

int main(void)
{
    printf("| formulas | outputs | instructions | registers | compile, ms | run, us | ns an "
           "instruction "
           "| and lane of eight |\n|---|---|---|---|---|---|---|---|\n");
    measure("double pendulum, angles", pendulum(2));
    measure("10-fold pendulum, angles", pendulum(10));
    measure("double pendulum, x y", chain(2));
    measure("chain of 100, x y", chain(100));
    measure("chain of 10 000, x y", chain(10000));
    measure("chain of 60 000, x y", chain(60000));
    return 0;
}

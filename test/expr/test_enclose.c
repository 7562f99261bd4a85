/* Enclosures contain what they enclose: random formulas over all operations along random paths,
 * against dense samples of the tape itself; and kinks with a given side go on smoothly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "expr/enclose.h"
#include "expr/random_expr.h"
#include "scene/campaign.h"

static const expr_shape SHAPE = {
    .params = WORLD_PARAMS, .coords = WORLD_COORDS, .lambdas = WORLD_LAMBDAS};

enum { LEAVES = 1 + 2 * WORLD_COORDS };

/* The path of every leaf: c0 + c1 s + c2 s^2 for |s| <= radius; leaf 0 is time itself. */
typedef struct path {
    double c[LEAVES][3];
    double radius;
} path;

static double path_at(const path *p, int leaf, double s)
{
    return p->c[leaf][0] + s * (p->c[leaf][1] + s * p->c[leaf][2]);
}

static expr_jet path_jet(const path *p, int leaf)
{
    expr_interval s = {-p->radius, p->radius};
    const double *c = p->c[leaf];
    expr_interval bend = interval_mul(interval_point(c[2]), interval_square(s));
    expr_interval rise = interval_add(interval_mul(interval_point(c[1]), s), bend);
    expr_interval twice = interval_mul(interval_point(2.0 * c[2]), s);
    return (expr_jet){interval_add(interval_point(c[0]), rise),
                      interval_add(interval_point(c[1]), twice)};
}

static path random_path(const world *w, dice *d)
{
    path p = {.radius = ldexp(1.0, -dice_int(d, 0, 24))};
    p.c[0][0] = w->t;
    p.c[0][1] = 1.0;
    for (int i = 0; i < WORLD_COORDS; i++) {
        p.c[1 + i][0] = w->q[i];
        p.c[1 + WORLD_COORDS + i][0] = w->v[i];
        for (int k = 1; k < 3; k++) {
            p.c[1 + i][k] = dice_between(d, -1.0, 1.0);
            p.c[1 + WORLD_COORDS + i][k] = dice_between(d, -1.0, 1.0);
        }
    }
    return p;
}

typedef struct machine {
    expr_tape *tape;
    double *file;
    expr_jet *jets;
} machine;

static machine machine_of(const expr_graph *graph, expr_id id, const world *w)
{
    machine m = {.tape = expr_tape_create(graph, &SHAPE, &id, 1, NULL)};
    assert_non_null(m.tape);
    size_t size = expr_tape_registers(m.tape) + 1;
    m.file = calloc(size, sizeof *m.file);
    m.jets = calloc(size, sizeof *m.jets);
    expr_tape_prepare(m.tape, w->param, m.file);
    return m;
}

static void machine_free(machine *m)
{
    expr_tape_free(m->tape);
    free(m->file);
    free(m->jets);
}

static double value_at(machine *m, const path *p, double s)
{
    double q[WORLD_COORDS], v[WORLD_COORDS], y;
    for (int i = 0; i < WORLD_COORDS; i++) {
        q[i] = path_at(p, 1 + i, s);
        v[i] = path_at(p, 1 + WORLD_COORDS + i, s);
    }
    const expr_inputs in = {.t = path_at(p, 0, s), .q = q, .v = v};
    expr_tape_run(m->tape, &in, m->file, &y);
    return y;
}

static expr_jet enclosure(machine *m, const path *p)
{
    expr_jet q[WORLD_COORDS], v[WORLD_COORDS], y;
    for (int i = 0; i < WORLD_COORDS; i++) {
        q[i] = path_jet(p, 1 + i);
        v[i] = path_jet(p, 1 + WORLD_COORDS + i);
    }
    const expr_jets in = {.t = path_jet(p, 0), .q = q, .v = v};
    expr_enclose_prepare(m->tape, m->file, m->jets);
    expr_enclose_run(m->tape, &in, m->jets, &y);
    return y;
}

/* A difference quotient of samples that are right to `noise` each lies in the rate. */
static void assert_slope(double s0, double y0, double s1, double y1, double noise,
                         expr_interval rate)
{
    double slope = (y1 - y0) / (s1 - s0), slack = 2.0 * noise / fabs(s1 - s0);
    if (!(slope >= rate.lo - slack && slope <= rate.hi + slack)) {
        fail_msg("the slope %.17g from %.17g to %.17g is not in [%.17g, %.17g]", slope, s0, s1,
                 rate.lo, rate.hi);
    }
}

/* Samples have round-off of their own: that of the enclosure of a point. */
static double noise_at(machine *m, const path *p, double s)
{
    path point = *p;
    for (int i = 0; i < LEAVES; i++) {
        point.c[i][0] = path_at(p, i, s);
        point.c[i][1] = point.c[i][2] = 0.0;
    }
    point.radius = 0.0;
    expr_interval value = enclosure(m, &point).value;
    return value.hi - value.lo;
}

static void check_formula(const expr_graph *graph, expr_id id, const world *w, const path *p,
                          dice *d, int *bounded)
{
    enum { SAMPLES = 60 };
    machine m = machine_of(graph, id, w);
    expr_jet y = enclosure(&m, p);
    *bounded += isfinite(y.value.lo) && isfinite(y.value.hi);
    double s0 = 0.0, y0 = NAN, noise0 = 0.0;
    for (int i = 0; i < SAMPLES; i++) {
        double s = i < 2 ? (2 * i - 1) * p->radius : dice_between(d, -p->radius, p->radius);
        double value = value_at(&m, p, s), noise = noise_at(&m, p, s);
        if (!isfinite(value) || !isfinite(noise)) {
            continue;
        }
        if (!(value >= y.value.lo - noise && value <= y.value.hi + noise)) {
            fail_msg("%.17g is not in [%.17g, %.17g]", value, y.value.lo, y.value.hi);
        }
        if (isfinite(y0) && fabs(s - s0) > 0.01 * p->radius) {
            assert_slope(s0, y0, s, value, noise + noise0, y.rate);
        }
        s0 = s;
        y0 = value;
        noise0 = noise;
    }
    machine_free(&m);
}

static void test_enclosures_contain_samples(void **unused)
{
    (void)unused;
    int formulas = campaign(6000), bounded = 0;
    for (int i = 0; i < formulas; i++) {
        dice d = dice_of(7000 + (unsigned)i);
        expr_graph *graph = expr_graph_create();
        world w = world_random(&d);
        path p = random_path(&w, &d);
        expr_id id = random_formula(graph, &w, &d, 5 + dice_int(&d, 0, 40));
        check_formula(graph, id, &w, &p, &d, &bounded);
        expr_graph_free(graph);
    }
    print_message("%d formulas, %d with finite bounds\n", formulas, bounded);
    assert_true(bounded > formulas * 7 / 10);
}

/* Each operation alone, over wide pieces with ends, extremes and poles inside. */
static void test_enclosures_of_single_operations(void **unused)
{
    (void)unused;
    int rounds = campaign(400), bounded = 0;
    for (int op = EXPR_ADD; op < EXPR_OP_COUNT; op++) {
        for (int i = 0; i < rounds; i++) {
            dice d = dice_of(100000u * (unsigned)op + (unsigned)i);
            expr_graph *graph = expr_graph_create();
            world w = world_random(&d);
            path p = random_path(&w, &d);
            for (int k = 1; k < LEAVES; k++) {
                p.c[k][0] *= dice_between(&d, 0.0, 4.0);
                p.c[k][1] *= 3.0;
            }
            expr_id a = expr_leaf(graph, EXPR_COORD, 0), b = expr_leaf(graph, EXPR_SPEED, 1);
            expr_id c = expr_leaf(graph, EXPR_COORD, 2), id;
            if (op == EXPR_POWI) {
                id = expr_powi(graph, a, dice_int(&d, -5, 7));
            } else if (op == EXPR_SELECT) {
                id = expr_select(graph, expr_binary(graph, EXPR_LESS, a, b), b, c);
            } else if (expr_op_operands((expr_op)op) == 1) {
                id = expr_unary(graph, (expr_op)op, a);
            } else {
                id = expr_binary(graph, (expr_op)op, a, b);
            }
            check_formula(graph, id, &w, &p, &d, &bounded);
            expr_graph_free(graph);
        }
    }
    assert_true(bounded > 0);
}

/* Halving a piece quarters the excess of the mean value form: bounds converge, and fast. */
static void test_mean_value_form_is_of_second_order(void **unused)
{
    (void)unused;
    world w = {0};
    path p = {.radius = 0.25};
    for (int k = 0; k < LEAVES; k++) {
        p.c[k][0] = 0.3 + 0.1 * k;
        p.c[k][1] = k == 0 ? 1.0 : 0.7 - 0.2 * k;
        p.c[k][2] = k == 0 ? 0.0 : 0.4;
    }
    expr_graph *graph = expr_graph_create();
    expr_id x = expr_leaf(graph, EXPR_COORD, 0), y = expr_leaf(graph, EXPR_COORD, 1);
    expr_id id = expr_binary(graph, EXPR_SUB,
                             expr_binary(graph, EXPR_MUL, x, expr_unary(graph, EXPR_SIN, y)),
                             expr_binary(graph, EXPR_MUL, y, expr_unary(graph, EXPR_COS, x)));
    machine m = machine_of(graph, id, &w);
    double last = 0.0;
    for (int i = 0; i < 8; i++, p.radius *= 0.5) {
        expr_jet g = enclosure(&m, &p);
        double width = 2.0 * p.radius * interval_size(g.rate), least = INFINITY, most = -INFINITY;
        for (int k = -50; k <= 50; k++) {
            double value = value_at(&m, &p, k * p.radius / 50.0);
            least = fmin(least, value);
            most = fmax(most, value);
        }
        double excess = width - (most - least);
        assert_true(i == 0 || excess < 0.3 * last);
        last = excess;
    }
    machine_free(&m);
    expr_graph_free(graph);
}

/* With a side given a kink goes on as on that side, whatever its operands are. */
static void test_given_sides_hold(void **unused)
{
    (void)unused;
    static const struct {
        expr_op op;
        double side, a, b, value;
    } row[] = {
        {EXPR_ABS, 1, -3, 0, -3},      {EXPR_ABS, -1, 2, 0, -2},      {EXPR_ABS, NAN, -3, 0, 3},
        {EXPR_SIGN, 1, -3, 0, 1},      {EXPR_SIGN, 0, -3, 0, 0},      {EXPR_SIGN, NAN, -3, 0, -1},
        {EXPR_FLOOR, 4, 1.5, 0, 4},    {EXPR_FLOOR, NAN, 1.5, 0, 1},  {EXPR_MIN, -1, 5, 2, 5},
        {EXPR_MIN, 1, 1, 2, 2},        {EXPR_MIN, NAN, 1, 2, 1},      {EXPR_MAX, 1, 1, 2, 1},
        {EXPR_MAX, -1, 5, 2, 2},       {EXPR_LESS, -1, 5, 2, 1},      {EXPR_LESS, 0, 1, 2, 0},
        {EXPR_LESS_EQUAL, 0, 5, 2, 1}, {EXPR_LESS_EQUAL, 1, 1, 2, 0}, {EXPR_LESS, NAN, 1, 2, 1},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        expr_graph *graph = expr_graph_create();
        expr_id a = expr_leaf(graph, EXPR_COORD, 0), b = expr_leaf(graph, EXPR_COORD, 1);
        expr_id id = expr_op_operands(row[i].op) == 1 ? expr_unary(graph, row[i].op, a)
                                                      : expr_binary(graph, row[i].op, a, b);
        world w = {0};
        path p = {0};
        p.c[1][0] = row[i].a;
        p.c[2][0] = row[i].b;
        machine m = machine_of(graph, id, &w);
        assert_int_equal(expr_tape_kinks(m.tape), 1);
        assert_int_equal(expr_tape_kink(m.tape, 0), id);
        expr_tape_latch(m.tape, &row[i].side, m.file);
        assert_true(value_at(&m, &p, 0.0) == row[i].value);
        expr_jet y = enclosure(&m, &p);
        assert_true(fabs(y.value.lo - row[i].value) < 1e-14 &&
                    fabs(y.value.hi - row[i].value) < 1e-14);
        machine_free(&m);
        expr_graph_free(graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_given_sides_hold),
        cmocka_unit_test(test_enclosures_of_single_operations),
        cmocka_unit_test(test_mean_value_form_is_of_second_order),
        cmocka_unit_test(test_enclosures_contain_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

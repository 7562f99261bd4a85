/* Derivatives are right, consistent with each other, small, and made without recursion. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/memory.h"
#include "expr/derive.h"
#include "expr/random_expr.h"
#include "scene/campaign.h"

/* What this thread has computed: other people's load does not count. */
static double seconds_computed(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void assert_close(double x, double y, double tolerance)
{
    double scale = 1.0 + fabs(x) + fabs(y);
    if (!(fabs(x - y) <= tolerance * scale)) {
        fail_msg("%.17g and %.17g differ by more than %g", x, y, tolerance * scale);
    }
}

/* ---- The reference: the same formulas over complex numbers
 * ----------------------------------------*/

typedef double complex number;

static double *leaf_of(world *w, expr_op op, int index)
{
    double *of[] = {[EXPR_PARAM] = w->param, [EXPR_TIME] = &w->t, [EXPR_COORD] = w->q,
                    [EXPR_SPEED] = w->v,     [EXPR_ACCEL] = w->a, [EXPR_LAMBDA] = w->lambda};
    return &of[op][index];
}

static number complex_apply(const expr_node *node, number a, number b, number c)
{
    double x = creal(a), y = creal(b);
    switch ((expr_op)node->op) {
    case EXPR_ADD:
        return a + b;
    case EXPR_SUB:
        return a - b;
    case EXPR_MUL:
        return a * b;
    case EXPR_DIV:
        return a / b;
    case EXPR_NEG:
        return -a;
    case EXPR_POW:
        return cexp(b * clog(a));
    case EXPR_POWI: {
        number power = 1.0;
        for (int k = 0; k < abs(node->index); k++) {
            power *= a;
        }
        return node->index < 0 ? 1.0 / power : power;
    }
    case EXPR_SQRT:
        return csqrt(a);
    case EXPR_EXP:
        return cexp(a);
    case EXPR_LOG:
        return clog(a);
    case EXPR_SIN:
        return csin(a);
    case EXPR_COS:
        return ccos(a);
    case EXPR_TAN:
        return csin(a) / ccos(a);
    case EXPR_ASIN:
        return casin(a);
    case EXPR_ACOS:
        return cacos(a);
    case EXPR_ATAN:
        return catan(a);
    case EXPR_SINH:
        return csinh(a);
    case EXPR_COSH:
        return ccosh(a);
    case EXPR_TANH:
        return csinh(a) / ccosh(a);
    case EXPR_ATAN2: /* the slope of the angle is what counts; its turn is put back */
        return fabs(x) < fabs(y) ? atan2(x, y) + (catan(a / b) - catan(x / y))
                                 : atan2(x, y) - (catan(b / a) - catan(y / x));
    case EXPR_HYPOT:
        return csqrt(a * a + b * b);
    case EXPR_ABS:
        return x < 0.0 ? -a : a;
    case EXPR_MIN:
        return x <= y ? a : b;
    case EXPR_MAX:
        return x >= y ? a : b;
    case EXPR_SELECT:
        return x != 0.0 ? b : c;
    default:
        return expr_apply((expr_op)node->op, node->index, x, y, creal(c));
    }
}

/* The value of a node where one leaf is moved by i h. */
static number complex_value(const expr_graph *graph, expr_id id, world *w, expr_op leaf, int index,
                            double h)
{
    number *z = calloc((size_t)id + 1, sizeof *z);
    for (int i = 0; i <= id; i++) {
        const expr_node *node = expr_graph_node(graph, i);
        if (node->op == EXPR_CONST) {
            z[i] = node->value;
        } else if (node->operand[0] == EXPR_NONE) {
            int moved = node->op == leaf && node->index == index;
            z[i] = *leaf_of(w, (expr_op)node->op, node->index) + (moved ? I * h : 0.0);
        } else {
            number x[3] = {0.0, 0.0, 0.0};
            for (int k = 0; k < 3 && node->operand[k] != EXPR_NONE; k++) {
                x[k] = z[node->operand[k]];
            }
            z[i] = complex_apply(node, x[0], x[1], x[2]);
        }
    }
    number result = z[id];
    free(z);
    return result;
}

static double complex_step(const expr_graph *graph, expr_id id, world *w, expr_op leaf, int index)
{
    return cimag(complex_value(graph, id, w, leaf, index, 1e-100)) / 1e-100;
}

static double central_difference(expr_graph *graph, expr_id id, world *w, expr_op leaf, int index)
{
    double *x = leaf_of(w, leaf, index), x0 = *x, d[2];
    expr_inputs in = world_inputs(w);
    for (int k = 0; k < 2; k++) { /* two steps, and the error of the second order removed */
        double h = k == 0 ? 2e-4 : 1e-4;
        *x = x0 + h;
        in.t = w->t;
        double up = value_of(graph, id, &in);
        *x = x0 - h;
        in.t = w->t;
        d[k] = (up - value_of(graph, id, &in)) / (2.0 * h);
    }
    *x = x0;
    return (4.0 * d[1] - d[0]) / 3.0;
}

/* ---- Laws -------------------------------------------------------------------------------------*/

static double term_value(expr_graph *graph, const expr_terms *terms, int index, const world *w)
{
    expr_inputs in = world_inputs(w);
    for (int i = 0; i < terms->count; i++) {
        if (terms->term[i].index == index) {
            return value_of(graph, terms->term[i].id, &in);
        }
    }
    return 0.0;
}

/* Whether the formula is so steep that differences say nothing. */
static int is_steep(expr_graph *graph, expr_id f, world *w, expr_op leaf, int index)
{
    double slope = complex_step(graph, f, w, leaf, index);
    return !(fabs(slope) < 1e3);
}

static void gradients_are_slopes(void **state)
{
    (void)state;
    static const struct {
        expr_op leaf;
        int count;
    } kind[] = {{EXPR_PARAM, WORLD_PARAMS},
                {EXPR_TIME, 1},
                {EXPR_COORD, WORLD_COORDS},
                {EXPR_SPEED, WORLD_COORDS}};
    dice d = dice_of(1);
    int compared = 0, agree = 0, differences = 0, used[EXPR_OP_COUNT] = {0};
    for (int trial = 0; trial < campaign(2000); trial++) {
        expr_graph *graph = expr_graph_create();
        world w = world_random(&d);
        expr_id f = random_formula(graph, &w, &d, 10 + trial % 60);
        int nodes = expr_graph_count(graph);
        for (int i = 0; i < nodes; i++) {
            used[expr_graph_node(graph, i)->op]++;
        }
        expr_terms terms = {0};
        for (int k = 0; k < 4; k++) {
            assert_int_equal(expr_gradient(graph, f, kind[k].leaf, &terms), ZW_OK);
            for (int i = 0; i < kind[k].count; i++) {
                double slope = term_value(graph, &terms, i, &w);
                if (is_steep(graph, f, &w, kind[k].leaf, i)) {
                    continue;
                }
                assert_close(slope, complex_step(graph, f, &w, kind[k].leaf, i), 1e-9);
                compared++;
                double difference = central_difference(graph, f, &w, kind[k].leaf, i);
                differences++;
                agree += fabs(slope - difference) <= 1e-5 * (1.0 + fabs(slope));
            }
        }
        assert_int_equal(expr_graph_status(graph), ZW_OK);
        expr_terms_free(&terms);
        expr_graph_free(graph);
    }
    /* Differences stumble where a steep formula meets a corner nearby, which is rare. */
    printf("    %d slopes as complex steps say; %d of %d as differences say\n", compared, agree,
           differences);
    assert_true(agree > 0.99 * differences);
    for (int op = EXPR_ADD; op < EXPR_OP_COUNT; op++) {
        assert_true(used[op] > 0);
    }
}

/* d2f / dq_i dq_j in both orders, and against the complex step of the gradient. */
static void second_derivatives_are_symmetric(void **state)
{
    (void)state;
    dice d = dice_of(2);
    for (int trial = 0; trial < campaign(500); trial++) {
        expr_graph *graph = expr_graph_create();
        world w = world_random(&d);
        expr_id f = random_formula(graph, &w, &d, 10 + trial % 30);
        expr_terms g = {0}, row[WORLD_COORDS] = {{0}};
        assert_int_equal(expr_gradient(graph, f, EXPR_COORD, &g), ZW_OK);
        double H[WORLD_COORDS][WORLD_COORDS] = {{0.0}}, size = 0.0;
        for (int i = 0; i < g.count; i++) {
            int at = g.term[i].index;
            assert_int_equal(expr_gradient(graph, g.term[i].id, EXPR_COORD, &row[at]), ZW_OK);
            for (int j = 0; j < WORLD_COORDS; j++) {
                H[at][j] = term_value(graph, &row[at], j, &w);
                size = fmax(size, fabs(H[at][j]));
            }
        }
        for (int i = 0; i < g.count && size < 1e4; i++) {
            int at = g.term[i].index;
            for (int j = 0; j < WORLD_COORDS; j++) {
                assert_close(H[at][j], H[j][at], 1e-9 * (1.0 + size));
                assert_close(H[at][j], complex_step(graph, g.term[i].id, &w, EXPR_COORD, j),
                             1e-9 * (1.0 + size));
            }
        }
        for (int i = 0; i < WORLD_COORDS; i++) {
            expr_terms_free(&row[i]);
        }
        expr_terms_free(&g);
        expr_graph_free(graph);
    }
}

/* f' = f_q v + f_t (+ f_v a): the forward and the reverse sweep agree. */
static void rates_are_gradients_along_the_motion(void **state)
{
    (void)state;
    dice d = dice_of(3);
    for (int trial = 0; trial < campaign(2000); trial++) {
        expr_graph *graph = expr_graph_create();
        world w = world_random(&d);
        expr_inputs in = world_inputs(&w);
        expr_id f[2], bias[2], full[2];
        f[0] = random_formula(graph, &w, &d, 10 + trial % 60);
        f[1] = random_formula(graph, &w, &d, 10);
        assert_int_equal(expr_rate(graph, f, 2, EXPR_RATE_BIAS, bias), ZW_OK);
        assert_int_equal(expr_rate(graph, f, 2, EXPR_RATE_FULL, full), ZW_OK);
        expr_terms q = {0}, v = {0}, t = {0};
        for (int k = 0; k < 2; k++) {
            expr_gradient(graph, f[k], EXPR_COORD, &q);
            expr_gradient(graph, f[k], EXPR_SPEED, &v);
            expr_gradient(graph, f[k], EXPR_TIME, &t);
            double sum = term_value(graph, &t, 0, &w), size = fabs(sum), along = 0.0;
            for (int i = 0; i < WORLD_COORDS; i++) {
                double x = term_value(graph, &q, i, &w) * w.v[i];
                double y = term_value(graph, &v, i, &w) * w.a[i];
                sum += x;
                along += y;
                size += fabs(x) + fabs(y);
            }
            assert_close(value_of(graph, bias[k], &in), sum, 1e-10 * (1.0 + size));
            assert_close(value_of(graph, full[k], &in), sum + along, 1e-10 * (1.0 + size));
        }
        expr_terms_free(&q);
        expr_terms_free(&v);
        expr_terms_free(&t);
        expr_graph_free(graph);
    }
}

/* The branch that is not taken may be singular, in its value or only in its slope. */
static void singular_branches_stay_outside(void **state)
{
    (void)state;
    expr_graph *g = expr_graph_create();
    expr_id x = expr_leaf(g, EXPR_COORD, 0), y = expr_leaf(g, EXPR_COORD, 1);
    expr_id root = expr_unary(g, EXPR_SQRT, x), positive = expr_binary(g, EXPR_LESS, EXPR_ZERO, x);
    expr_id guarded = expr_select(g, positive, root, expr_binary(g, EXPR_MUL, x, y));
    expr_id twice = expr_select(g, positive, expr_binary(g, EXPR_DIV, EXPR_ONE, guarded), guarded);
    expr_id least = expr_binary(g, EXPR_MIN, expr_unary(g, EXPR_SQRT, y), x);
    double q[] = {-2.0, 0.0};
    expr_inputs in = {.q = q};
    world w = {.q = {-2.0, 0.0}};
    expr_terms terms = {0};
    assert_int_equal(expr_gradient(g, twice, EXPR_COORD, &terms), ZW_OK);
    assert_true(term_value(g, &terms, 0, &w) == 0.0);
    assert_true(term_value(g, &terms, 1, &w) == -2.0);
    assert_int_equal(expr_gradient(g, least, EXPR_COORD, &terms), ZW_OK);
    assert_true(term_value(g, &terms, 0, &w) == 1.0);
    assert_true(term_value(g, &terms, 1, &w) == 0.0);
    assert_int_equal(culprit_of(g, twice, &in), EXPR_NONE);
    expr_terms_free(&terms);
    expr_graph_free(g);
}

/* Gates that all look at the one before: gradients must not double with each. */
static void nested_gates_do_not_explode(void **state)
{
    (void)state;
    expr_graph *g = expr_graph_create();
    expr_id f = expr_leaf(g, EXPR_COORD, 0);
    enum { DEPTH = 300 };
    for (int i = 1; i <= DEPTH; i++) {
        expr_id c = expr_binary(g, EXPR_LESS, expr_leaf(g, EXPR_COORD, 1), expr_const(g, i));
        f = expr_select(g, c, expr_unary(g, EXPR_SIN, f), expr_unary(g, EXPR_COS, f));
    }
    expr_terms terms = {0};
    assert_int_equal(expr_gradient(g, f, EXPR_COORD, &terms), ZW_OK);
    assert_int_equal(terms.count, 1);
    assert_true(expr_graph_count(g) < 20 * DEPTH);
    expr_terms_free(&terms);
    expr_graph_free(g);
}

/* ---- Small ------------------------------------------------------------------------------------*/

static void derivatives_are_small(void **state)
{
    (void)state;
    expr_graph *g = expr_graph_create();
    expr_id m = expr_leaf(g, EXPR_PARAM, 0), v = expr_leaf(g, EXPR_SPEED, 0);
    expr_id x = expr_leaf(g, EXPR_COORD, 0), y = expr_leaf(g, EXPR_COORD, 1);
    expr_id half = expr_binary(g, EXPR_DIV, m, expr_const(g, 2.0));
    expr_terms terms = {0}, again = {0};

    /* m/2 v^2 has the momentum m v and the mass m. */
    expr_id energy = expr_binary(g, EXPR_MUL, half, expr_powi(g, v, 2));
    expr_gradient(g, energy, EXPR_SPEED, &terms);
    assert_int_equal(terms.term[0].id, expr_binary(g, EXPR_MUL, m, v));
    expr_gradient(g, terms.term[0].id, EXPR_SPEED, &again);
    assert_int_equal(again.term[0].id, m);
    energy = expr_binary(g, EXPR_MUL, expr_binary(g, EXPR_MUL, half, v), v);
    expr_gradient(g, energy, EXPR_SPEED, &terms);
    assert_int_equal(terms.term[0].id, expr_binary(g, EXPR_MUL, m, v));

    /* sqrt(x^2 + y^2)_x = x / sqrt(x^2 + y^2). */
    expr_id r =
        expr_unary(g, EXPR_SQRT, expr_binary(g, EXPR_ADD, expr_powi(g, x, 2), expr_powi(g, y, 2)));
    expr_gradient(g, r, EXPR_COORD, &terms);
    assert_int_equal(terms.count, 2);
    /* (2x) (0.5/r): three nodes with its own 0.5/r, shared by both coordinates */
    int before = expr_graph_count(g);
    expr_gradient(g, r, EXPR_COORD, &again);
    assert_int_equal(expr_graph_count(g), before);

    /* What does not move has no rate and no terms. */
    expr_id rate;
    assert_int_equal(expr_rate(g, &m, 1, EXPR_RATE_FULL, &rate), ZW_OK);
    assert_int_equal(rate, EXPR_ZERO);
    expr_gradient(g, energy, EXPR_COORD, &terms);
    assert_int_equal(terms.count, 0);
    expr_terms_free(&terms);
    expr_terms_free(&again);
    expr_graph_free(g);
}

static void derivatives_inherit_the_place(void **state)
{
    (void)state;
    expr_graph *g = expr_graph_create();
    expr_id x = expr_leaf(g, EXPR_COORD, 0);
    expr_graph_at(g, 42);
    expr_id f = expr_unary(g, EXPR_LOG, x);
    expr_graph_at(g, 7);
    expr_terms terms = {0};
    expr_gradient(g, f, EXPR_COORD, &terms);
    assert_int_equal(expr_graph_node(g, terms.term[0].id)->place, 42);
    assert_int_equal(expr_graph_node(g, expr_unary(g, EXPR_EXP, x))->place, 7);
    double q = 0.0;
    expr_inputs in = {.q = &q};
    assert_int_equal(culprit_of(g, terms.term[0].id, &in), terms.term[0].id);
    expr_terms_free(&terms);
    expr_graph_free(g);
}

/* ---- Large ------------------------------------------------------------------------------------*/

static void long_sums_need_no_stack(void **state)
{
    (void)state;
    enum { TERMS = 200000 };
    expr_graph *g = expr_graph_create();
    expr_id sum = EXPR_ZERO, nest = expr_leaf(g, EXPR_COORD, 0), rate;
    for (int i = 0; i < TERMS; i++) {
        expr_id q = expr_leaf(g, EXPR_COORD, i);
        expr_id term = expr_binary(g, EXPR_MUL, q, expr_unary(g, EXPR_SIN, q));
        sum = expr_binary(g, EXPR_ADD, sum, term);
    }
    for (int i = 0; i < TERMS; i++) {
        nest = expr_unary(g, i % 2 ? EXPR_COS : EXPR_SIN, nest);
    }
    expr_terms terms = {0};
    double start = seconds_computed();
    assert_int_equal(expr_gradient(g, sum, EXPR_COORD, &terms), ZW_OK);
    double forward = seconds_computed();
    assert_int_equal(terms.count, TERMS);
    assert_int_equal(expr_rate(g, &sum, 1, EXPR_RATE_FULL, &rate), ZW_OK);
    double nested = seconds_computed();
    assert_int_equal(expr_gradient(g, nest, EXPR_COORD, &terms), ZW_OK);
    double end = seconds_computed();
    assert_int_equal(terms.count, 1);
    expr_terms_free(&terms);
    expr_graph_free(g);
    printf("    a sum of %d terms: gradient %.3f s, rate %.3f s; as many functions in each other: "
           "gradient %.3f s\n",
           TERMS, forward - start, nested - forward, end - nested);
}

/* Whichever request for memory is refused: a clean status, and nothing is lost. */
static void refusals_are_clean(void **state)
{
    (void)state;
    for (int k = 1, refused = 1; refused; k++) {
        dice d = dice_of(5);
        world w = world_random(&d);
        base_alloc_fail_after(k);
        refused = 0;
        expr_graph *graph = expr_graph_create();
        if (graph == NULL) {
            refused = 1;
            continue;
        }
        expr_terms terms = {0};
        expr_id f = random_formula(graph, &w, &d, 30), rate;
        zw_status status = expr_gradient(graph, f, EXPR_COORD, &terms);
        status = status ? status : expr_rate(graph, &f, 1, EXPR_RATE_FULL, &rate);
        status = status ? status : expr_support(graph, f, EXPR_COORD, &terms);
        refused = status != ZW_OK;
        assert_int_equal(status, refused ? ZW_NO_MEMORY : ZW_OK);
        assert_int_equal(expr_graph_status(graph), status);
        if (refused) {
            assert_int_equal(expr_const(graph, 17.0), EXPR_ZERO);
            assert_int_equal(expr_unary(graph, EXPR_SIN, f), EXPR_ZERO);
        }
        expr_terms_free(&terms);
        expr_graph_free(graph);
    }
    base_alloc_fail_after(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_slopes),
        cmocka_unit_test(second_derivatives_are_symmetric),
        cmocka_unit_test(rates_are_gradients_along_the_motion),
        cmocka_unit_test(singular_branches_stay_outside),
        cmocka_unit_test(nested_gates_do_not_explode),
        cmocka_unit_test(derivatives_are_small),
        cmocka_unit_test(derivatives_inherit_the_place),
        cmocka_unit_test(long_sums_need_no_stack),
        cmocka_unit_test(refusals_are_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

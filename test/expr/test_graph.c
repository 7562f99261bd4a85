/* The graph shares equal nodes, folds without changing a value, and names the node that makes a
 * value undefined. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/memory.h"
#include "expr/derive.h"
#include "expr/random_expr.h"
#include "scene/campaign.h"

static expr_id x_of(expr_graph *g)
{
    return expr_leaf(g, EXPR_COORD, 0);
}

static expr_id y_of(expr_graph *g)
{
    return expr_leaf(g, EXPR_COORD, 1);
}

/* ---- Sharing ----------------------------------------------------------------------------------*/

static void equal_formulas_are_one(void **state)
{
    (void)state;
    dice d = dice_of(31);
    for (int trial = 0; trial < campaign(300); trial++) {
        expr_graph *graph = expr_graph_create();
        world w = world_random(&d);
        dice again = d;
        expr_id f = random_formula(graph, &w, &d, 50);
        int count = expr_graph_count(graph);
        assert_int_equal(random_formula(graph, &w, &again, 50), f);
        assert_int_equal(expr_graph_count(graph), count);
        for (expr_id i = 0; i < count; i++) { /* operands come first; no two nodes are the same */
            expr_node node = *expr_graph_node(graph, i);
            for (int k = 0; k < 3; k++) {
                assert_true(node.operand[k] < i);
                assert_int_equal(node.operand[k] == EXPR_NONE,
                                 k >= expr_op_operands((expr_op)node.op));
            }
        }
        expr_graph_free(graph);
    }
}

static void order_of_operands_is_free_where_it_is(void **state)
{
    (void)state;
    static const expr_op free_order[] = {EXPR_ADD,   EXPR_MUL,   EXPR_MIN, EXPR_MAX,
                                         EXPR_HYPOT, EXPR_EQUAL, EXPR_AND, EXPR_OR};
    expr_graph *g = expr_graph_create();
    expr_id x = x_of(g), y = y_of(g);
    for (size_t i = 0; i < sizeof free_order / sizeof *free_order; i++) {
        assert_int_equal(expr_binary(g, free_order[i], x, y), expr_binary(g, free_order[i], y, x));
    }
    assert_int_not_equal(expr_binary(g, EXPR_SUB, x, y), expr_binary(g, EXPR_SUB, y, x));
    assert_int_not_equal(expr_binary(g, EXPR_LESS, x, y), expr_binary(g, EXPR_LESS, y, x));
    expr_graph_free(g);
}

/* Many nodes on the same operand, which is the hash table's worst case; all are found again. */
static void large_graphs_find_their_nodes(void **state)
{
    (void)state;
    int many = campaign(200000);
    expr_graph *g = expr_graph_create();
    for (int i = 0; i < many; i++) {
        expr_const(g, i + 0.5);
    }
    expr_id t = expr_leaf(g, EXPR_TIME, 0);
    expr_id first = expr_binary(g, EXPR_ADD, t, expr_const(g, 0.5));
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < many; i++) {
            assert_int_equal(expr_binary(g, EXPR_ADD, t, expr_const(g, i + 0.5)), first + i);
        }
    }
    assert_int_equal(expr_graph_status(g), ZW_OK);
    expr_graph_free(g);
}

/* ---- Folding ----------------------------------------------------------------------------------*/

static void neutral_elements_vanish(void **state)
{
    (void)state;
    expr_graph *g = expr_graph_create();
    expr_id x = x_of(g), y = y_of(g), minus = expr_unary(g, EXPR_NEG, x);
    expr_id two = expr_const(g, 2.0), half = expr_const(g, 0.5);
    const expr_id same[][2] = {
        {expr_const(g, 0.0), EXPR_ZERO},
        {expr_const(g, -0.0), EXPR_ZERO},
        {expr_const(g, 1.0), EXPR_ONE},
        {expr_binary(g, EXPR_ADD, x, EXPR_ZERO), x},
        {expr_binary(g, EXPR_ADD, EXPR_ZERO, x), x},
        {expr_binary(g, EXPR_SUB, x, EXPR_ZERO), x},
        {expr_binary(g, EXPR_SUB, EXPR_ZERO, x), minus},
        {expr_binary(g, EXPR_SUB, x, x), EXPR_ZERO},
        {expr_binary(g, EXPR_MUL, x, EXPR_ONE), x},
        {expr_binary(g, EXPR_MUL, EXPR_ZERO, x), EXPR_ZERO},
        {expr_binary(g, EXPR_MUL, expr_const(g, -1.0), x), minus},
        {expr_binary(g, EXPR_DIV, x, EXPR_ONE), x},
        {expr_binary(g, EXPR_DIV, EXPR_ZERO, expr_const(g, 3.0)), EXPR_ZERO},
        {expr_binary(g, EXPR_DIV, x, two), expr_binary(g, EXPR_MUL, half, x)},
        {expr_unary(g, EXPR_NEG, minus), x},
        {expr_binary(g, EXPR_ADD, y, minus), expr_binary(g, EXPR_SUB, y, x)},
        {expr_binary(g, EXPR_SUB, y, minus), expr_binary(g, EXPR_ADD, y, x)},
        {expr_binary(g, EXPR_ADD, x, x), expr_binary(g, EXPR_MUL, two, x)},
        {expr_binary(g, EXPR_MUL, two, expr_binary(g, EXPR_MUL, half, x)), x},
        {expr_binary(g, EXPR_POW, x, EXPR_ZERO), EXPR_ONE},
        {expr_binary(g, EXPR_POW, x, EXPR_ONE), x},
        {expr_binary(g, EXPR_POW, x, two), expr_binary(g, EXPR_MUL, x, x)},
        {expr_binary(g, EXPR_POW, x, expr_const(g, -64.0)), expr_powi(g, x, -64)},
        {expr_binary(g, EXPR_POW, x, half), expr_unary(g, EXPR_SQRT, x)},
        {expr_unary(g, EXPR_ABS, minus), expr_unary(g, EXPR_ABS, x)},
        {expr_select(g, EXPR_ONE, x, y), x},
        {expr_select(g, EXPR_ZERO, x, y), y},
        {expr_select(g, x, y, y), y},
        {expr_unary(g, EXPR_SIN, EXPR_ZERO), EXPR_ZERO},
        {expr_binary(g, EXPR_ADD, two, half), expr_const(g, 2.5)},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        assert_int_equal(same[i][0], same[i][1]);
    }
    assert_int_equal(expr_graph_node(g, expr_binary(g, EXPR_POW, x, expr_const(g, 65.0)))->op,
                     EXPR_POW);
    assert_int_equal(expr_graph_node(g, expr_binary(g, EXPR_POW, x, expr_const(g, 64.0)))->op,
                     EXPR_POWI);
    expr_graph_free(g);
}

/* Where a formula has a singularity, the graph has it too. */
static void singularities_stay(void **state)
{
    (void)state;
    expr_graph *g = expr_graph_create();
    expr_id x = x_of(g);
    const expr_id kept[] = {
        expr_binary(g, EXPR_DIV, x, x),
        expr_binary(g, EXPR_DIV, EXPR_ZERO, x),
        expr_binary(g, EXPR_DIV, EXPR_ONE, EXPR_ZERO),
        expr_binary(g, EXPR_DIV, EXPR_ZERO, EXPR_ZERO),
        expr_unary(g, EXPR_LOG, EXPR_ZERO),
        expr_unary(g, EXPR_SQRT, expr_const(g, -1.0)),
        expr_powi(g, EXPR_ZERO, -3),
    };
    double q[] = {0.0, 0.0};
    expr_inputs in = {.q = q};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        assert_int_not_equal(expr_graph_node(g, kept[i])->op, EXPR_CONST);
        double value = value_of(g, kept[i], &in);
        assert_true(!(value - value == 0.0));
        assert_int_equal(culprit_of(g, kept[i], &in), kept[i]);
    }
    expr_graph_free(g);
}

/* Numbers that go through the same operations without any graph. */
typedef struct shadow {
    int count;
    expr_id id[POOL];
    double value[POOL];
} shadow;

static void shadow_grow(shadow *s, expr_graph *graph, dice *d)
{
    expr_op op = (expr_op)dice_int(d, EXPR_ADD, EXPR_OP_COUNT - 1);
    int i = dice_int(d, 0, s->count - 1), j = dice_int(d, 0, s->count - 1);
    int k = dice_int(d, 0, s->count - 1), n = dice_int(d, -3, 5);
    double a = s->value[i], b = s->value[j];
    if (dice_chance(d, 0.6)) { /* mostly where most rules are */
        op = (expr_op)dice_int(d, EXPR_ADD, EXPR_NEG);
    }
    if (!is_tame(op, a, b) || op == EXPR_POW) { /* x^3 by products is not the same bits */
        return;
    }
    double value = expr_apply(op, n, a, b, s->value[k]);
    if (s->count == POOL || !(fabs(value) < 1e6) || (value != 0.0 && fabs(value) < 1e-6)) {
        return;
    }
    expr_id id = op == EXPR_POWI             ? expr_powi(graph, s->id[i], n)
                 : op == EXPR_SELECT         ? expr_select(graph, s->id[i], s->id[j], s->id[k])
                 : expr_op_operands(op) == 1 ? expr_unary(graph, op, s->id[i])
                                             : expr_binary(graph, op, s->id[i], s->id[j]);
    s->id[s->count] = id;
    s->value[s->count++] = value;
}

static void folding_keeps_the_value(void **state)
{
    (void)state;
    static const double constants[] = {0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 0.25, 3.0, -0.1, 4.0};
    dice d = dice_of(32);
    for (int trial = 0; trial < campaign(2000); trial++) {
        expr_graph *graph = expr_graph_create();
        world w = world_random(&d);
        expr_inputs in = world_inputs(&w);
        shadow s = {0};
        for (int i = 0; i < WORLD_COORDS; i++) {
            s.id[s.count] = expr_leaf(graph, EXPR_COORD, i);
            s.value[s.count++] = w.q[i];
        }
        for (int i = 0; i < 10; i++) {
            s.id[s.count] = expr_const(graph, constants[i]);
            s.value[s.count++] = constants[i];
        }
        for (int i = 0; i < 150; i++) {
            shadow_grow(&s, graph, &d);
        }
        for (int i = 0; i < s.count; i++) {
            double value = value_of(graph, s.id[i], &in);
            if (!(value == s.value[i])) { /* the sign of zero is free */
                fail_msg("%.17g became %.17g", s.value[i], value);
            }
        }
        expr_graph_free(graph);
    }
}

/* ---- What a node knows ------------------------------------------------------------------------*/

static void nodes_know_what_they_depend_on(void **state)
{
    (void)state;
    static const expr_op leaf[] = {EXPR_PARAM, EXPR_TIME, EXPR_COORD, EXPR_SPEED};
    static const int bit[] = {EXPR_ON_PARAM, EXPR_ON_TIME, EXPR_ON_COORD, EXPR_ON_SPEED};
    dice d = dice_of(33);
    for (int trial = 0; trial < campaign(300); trial++) {
        expr_graph *graph = expr_graph_create();
        world w = world_random(&d);
        expr_id f = random_formula(graph, &w, &d, 30);
        expr_terms support = {0};
        for (int k = 0; k < 4; k++) {
            assert_int_equal(expr_support(graph, f, leaf[k], &support), ZW_OK);
            assert_int_equal(support.count > 0, (expr_graph_node(graph, f)->depends & bit[k]) != 0);
        }
        expr_terms_free(&support);
        expr_graph_free(graph);
    }
}

static void culprits_are_found(void **state)
{
    (void)state;
    expr_graph *g = expr_graph_create();
    expr_id x = x_of(g), y = y_of(g);
    expr_graph_at(g, 11);
    expr_id log = expr_unary(g, EXPR_LOG, x);
    expr_graph_at(g, 12);
    expr_id f = expr_unary(g, EXPR_SIN, expr_binary(g, EXPR_MUL, log, y));
    expr_id guarded = expr_select(g, expr_binary(g, EXPR_LESS, EXPR_ZERO, x), f, y);
    double q[] = {2.0, 3.0};
    expr_inputs in = {.q = q};
    assert_int_equal(culprit_of(g, f, &in), EXPR_NONE);
    q[0] = -1.0;
    assert_int_equal(culprit_of(g, f, &in), log);
    assert_int_equal(expr_graph_node(g, log)->place, 11);
    assert_int_equal(culprit_of(g, guarded, &in), EXPR_NONE); /* not the branch not taken */
    q[0] = 1.0;
    q[1] = (double)NAN;
    assert_int_equal(culprit_of(g, f, &in), y);
    expr_graph_free(g);
}

static void refusals_are_clean(void **state)
{
    (void)state;
    for (int k = 1, refused = 1; refused; k++) {
        base_alloc_fail_after(k);
        expr_graph *g = expr_graph_create();
        refused = g == NULL;
        for (int i = 0; g != NULL && i < 1000; i++) {
            expr_leaf(g, EXPR_COORD, i);
        }
        if (g != NULL) {
            double q[] = {1.0};
            expr_inputs in = {.q = q};
            expr_id f = expr_unary(g, EXPR_SIN, x_of(g)), culprit;
            double value = 0.0;
            zw_status made = expr_graph_status(g), status = expr_value(g, f, &in, &value);
            zw_status shown = status == ZW_OK ? expr_culprit(g, f, &in, &culprit) : status;
            refused = shown != ZW_OK;
            assert_int_equal(shown, refused ? ZW_NO_MEMORY : ZW_OK);
            assert_int_equal(value != value, status != ZW_OK);
            assert_int_equal(expr_graph_status(g), made); /* asking for values changes nothing */
        }
        expr_graph_free(g);
    }
    base_alloc_fail_after(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_formulas_are_one),
        cmocka_unit_test(order_of_operands_is_free_where_it_is),
        cmocka_unit_test(large_graphs_find_their_nodes),
        cmocka_unit_test(neutral_elements_vanish),
        cmocka_unit_test(singularities_stay),
        cmocka_unit_test(folding_keeps_the_value),
        cmocka_unit_test(nodes_know_what_they_depend_on),
        cmocka_unit_test(culprits_are_found),
        cmocka_unit_test(refusals_are_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

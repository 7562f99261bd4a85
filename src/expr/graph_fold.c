/* The builders: operations on nodes, with simplifications that are exact.
 *
 * Every rule here keeps the value of the formula to the last bit, up to the sign of a zero and
 * short of overflow: signs and powers of two are moved through products and quotients without
 * rounding; nothing is distributed or reassociated. 0*x = 0 and x-x = 0 are applied as algebraic
 * identities. Moving factors lets them cancel in derivatives: that of m/2*v^2 is m*v, three
 * nodes. */
#include "expr/graph_fold.h"

#include "expr/graph_walk.h"
#include "math/elementary.h"

#include <math.h>

enum { POWI_MOST = 64, POWI_LARGE = 1 << 20 };

static int is_op(const expr_graph *graph, expr_id id, expr_op op)
{
    return graph->node[id].op == op;
}

static expr_id operand_of(const expr_graph *graph, expr_id id, int k)
{
    return graph->node[id].operand[k];
}

static double value_of(const expr_graph *graph, expr_id id)
{
    return graph->node[id].value;
}

static int is_power_of_two(double x)
{
    int exponent;
    double mantissa = frexp(x, &exponent);
    return (mantissa == 0.5 || mantissa == -0.5) && exponent > -400 && exponent < 400;
}

static int is_binary_scale(const expr_graph *graph, expr_id id)
{
    return is_op(graph, id, EXPR_CONST) && is_power_of_two(value_of(graph, id));
}

/* Is it a product c*x? A product has at most one constant factor, always in the same place. */
static int is_scaled(const expr_graph *graph, expr_id id, expr_id *constant, expr_id *rest)
{
    if (is_op(graph, id, EXPR_MUL)) {
        for (int k = 0; k < 2; k++) {
            if (is_op(graph, operand_of(graph, id, k), EXPR_CONST)) {
                *constant = operand_of(graph, id, k);
                *rest = operand_of(graph, id, 1 - k);
                return 1;
            }
        }
    }
    return 0;
}

static expr_id plain(expr_graph *graph, expr_op op, expr_id a, expr_id b)
{
    return fold_operation(graph, op, 0, a, b, EXPR_NONE);
}

static expr_id commutative(expr_graph *graph, expr_op op, expr_id a, expr_id b)
{
    return a < b ? plain(graph, op, a, b) : plain(graph, op, b, a);
}

/* ---- Sums -------------------------------------------------------------------------------------*/

static expr_id fold_neg(expr_graph *graph, expr_id a)
{
    expr_id c, x;
    if (is_op(graph, a, EXPR_CONST)) {
        return expr_const(graph, -value_of(graph, a));
    }
    if (is_op(graph, a, EXPR_NEG)) {
        return operand_of(graph, a, 0);
    }
    if (is_op(graph, a, EXPR_SUB)) {
        return plain(graph, EXPR_SUB, operand_of(graph, a, 1), operand_of(graph, a, 0));
    }
    if (is_scaled(graph, a, &c, &x)) {
        return expr_binary(graph, EXPR_MUL, fold_neg(graph, c), x);
    }
    if (is_op(graph, a, EXPR_DIV) && is_op(graph, operand_of(graph, a, 0), EXPR_CONST)) {
        expr_id over = operand_of(graph, a, 1);
        return plain(graph, EXPR_DIV, fold_neg(graph, operand_of(graph, a, 0)), over);
    }
    return plain(graph, EXPR_NEG, a, EXPR_NONE);
}

static expr_id fold_sub(expr_graph *graph, expr_id a, expr_id b);

static expr_id fold_add(expr_graph *graph, expr_id a, expr_id b)
{
    if (a == EXPR_ZERO || b == EXPR_ZERO) {
        return a == EXPR_ZERO ? b : a;
    }
    if (a == b) {
        return expr_binary(graph, EXPR_MUL, expr_const(graph, 2.0), a);
    }
    if (is_op(graph, b, EXPR_NEG)) {
        return fold_sub(graph, a, operand_of(graph, b, 0));
    }
    if (is_op(graph, a, EXPR_NEG)) {
        return fold_sub(graph, b, operand_of(graph, a, 0));
    }
    return commutative(graph, EXPR_ADD, a, b);
}

static expr_id fold_sub(expr_graph *graph, expr_id a, expr_id b)
{
    if (a == b) {
        return EXPR_ZERO;
    }
    if (a == EXPR_ZERO || b == EXPR_ZERO) {
        return a == EXPR_ZERO ? fold_neg(graph, b) : a;
    }
    if (is_op(graph, b, EXPR_NEG)) {
        return fold_add(graph, a, operand_of(graph, b, 0));
    }
    if (is_op(graph, a, EXPR_NEG)) {
        return fold_neg(graph, fold_add(graph, operand_of(graph, a, 0), b));
    }
    return plain(graph, EXPR_SUB, a, b);
}

/* ---- Products ---------------------------------------------------------------------------------*/

static expr_id fold_mul(expr_graph *graph, expr_id a, expr_id b);

static expr_id times(expr_graph *graph, expr_id c, expr_id d)
{
    return expr_const(graph, value_of(graph, c) * value_of(graph, d));
}

/* c * b for a constant c, 0 and 1 excluded. */
static expr_id fold_scale(expr_graph *graph, expr_id c, expr_id b)
{
    if (value_of(graph, c) == -1.0) {
        return fold_neg(graph, b);
    }
    if (is_op(graph, b, EXPR_NEG)) {
        return fold_mul(graph, fold_neg(graph, c), operand_of(graph, b, 0));
    }
    int binary = is_binary_scale(graph, c);
    expr_id d, x;
    if (is_scaled(graph, b, &d, &x) && (binary || is_binary_scale(graph, d))) {
        return fold_mul(graph, times(graph, c, d), x); /* c (d x) */
    }
    if (binary && is_op(graph, b, EXPR_DIV) && is_op(graph, operand_of(graph, b, 0), EXPR_CONST)) {
        expr_id over = operand_of(graph, b, 1);
        return plain(graph, EXPR_DIV, times(graph, c, operand_of(graph, b, 0)), over); /* c (d/x) */
    }
    for (int k = 0; k < 2 && binary && is_op(graph, b, EXPR_MUL); k++) {
        expr_id other = operand_of(graph, b, 1 - k);
        if (is_scaled(graph, operand_of(graph, b, k), &d, &x) && is_binary_scale(graph, d)) {
            return fold_mul(graph, fold_mul(graph, times(graph, c, d), x), other); /* c ((d x) y) */
        }
    }
    return commutative(graph, EXPR_MUL, c, b);
}

static expr_id fold_mul(expr_graph *graph, expr_id a, expr_id b)
{
    if (a == EXPR_ZERO || b == EXPR_ZERO) {
        return EXPR_ZERO;
    }
    if (a == EXPR_ONE || b == EXPR_ONE) {
        return a == EXPR_ONE ? b : a;
    }
    int a_const = is_op(graph, a, EXPR_CONST), b_const = is_op(graph, b, EXPR_CONST);
    if (a_const != b_const) {
        return a_const ? fold_scale(graph, a, b) : fold_scale(graph, b, a);
    }
    int a_neg = is_op(graph, a, EXPR_NEG), b_neg = is_op(graph, b, EXPR_NEG);
    if (a_neg || b_neg) {
        expr_id x = a_neg ? operand_of(graph, a, 0) : a, y = b_neg ? operand_of(graph, b, 0) : b;
        expr_id product = fold_mul(graph, x, y);
        return a_neg && b_neg ? product : fold_neg(graph, product);
    }
    expr_id c, d, x, y;
    if (is_scaled(graph, a, &c, &x) && is_scaled(graph, b, &d, &y) && is_binary_scale(graph, c) &&
        is_binary_scale(graph, d)) {
        return fold_mul(graph, times(graph, c, d), fold_mul(graph, x, y)); /* (c x) (d y) */
    }
    return commutative(graph, EXPR_MUL, a, b);
}

static expr_id fold_div(expr_graph *graph, expr_id a, expr_id b)
{
    if (b == EXPR_ONE) {
        return a;
    }
    if (is_op(graph, b, EXPR_CONST) && b != EXPR_ZERO) {
        if (a == EXPR_ZERO && value_of(graph, b) == value_of(graph, b)) {
            return EXPR_ZERO;
        }
        if (is_binary_scale(graph, b)) {
            return fold_mul(graph, a, expr_const(graph, 1.0 / value_of(graph, b)));
        }
    }
    int a_neg = is_op(graph, a, EXPR_NEG), b_neg = is_op(graph, b, EXPR_NEG);
    if (a_neg || b_neg) {
        expr_id x = a_neg ? operand_of(graph, a, 0) : a, y = b_neg ? operand_of(graph, b, 0) : b;
        expr_id ratio = fold_div(graph, x, y);
        return a_neg && b_neg ? ratio : fold_neg(graph, ratio);
    }
    return plain(graph, EXPR_DIV, a, b);
}

/* ---- Powers -----------------------------------------------------------------------------------*/

expr_id expr_powi(expr_graph *graph, expr_id a, int exponent)
{
    if (graph->status != ZW_OK) {
        return EXPR_ZERO;
    }
    switch (exponent) {
    case 0:
        return EXPR_ONE;
    case 1:
        return a;
    case 2:
        return fold_mul(graph, a, a); /* x*x is x^2, and may be part of a*b + c */
    case -1:
        return fold_div(graph, EXPR_ONE, a);
    default:
        break;
    }
    if (exponent > POWI_LARGE || exponent < -POWI_LARGE) {
        return plain(graph, EXPR_POW, a, expr_const(graph, exponent));
    }
    if (is_op(graph, a, EXPR_NEG)) {
        expr_id power = expr_powi(graph, operand_of(graph, a, 0), exponent);
        return exponent % 2 == 0 ? power : fold_neg(graph, power);
    }
    return fold_operation(graph, EXPR_POWI, exponent, a, EXPR_NONE, EXPR_NONE);
}

static expr_id fold_pow(expr_graph *graph, expr_id a, expr_id b)
{
    if (is_op(graph, b, EXPR_CONST)) {
        double exponent = value_of(graph, b);
        if (fabs(exponent) <= POWI_MOST && exponent == (int)exponent) {
            return expr_powi(graph, a, (int)exponent);
        }
        if (exponent == 0.5) {
            return expr_unary(graph, EXPR_SQRT, a);
        }
    }
    return plain(graph, EXPR_POW, a, b);
}

/* ---- Entry points
 * ------------------------------------------------------------------------------------*/

expr_id expr_unary(expr_graph *graph, expr_op op, expr_id a)
{
    if (graph->status != ZW_OK) {
        return EXPR_ZERO;
    }
    if (op == EXPR_NEG) {
        return fold_neg(graph, a);
    }
    if (op == EXPR_ABS && (is_op(graph, a, EXPR_NEG) || is_op(graph, a, EXPR_ABS))) {
        a = operand_of(graph, a, 0); /* |-x| = ||x|| = |x| */
    }
    return plain(graph, op, a, EXPR_NONE);
}

expr_id expr_binary(expr_graph *graph, expr_op op, expr_id a, expr_id b)
{
    if (graph->status != ZW_OK) {
        return EXPR_ZERO;
    }
    switch (op) {
    case EXPR_ADD:
        return fold_add(graph, a, b);
    case EXPR_SUB:
        return fold_sub(graph, a, b);
    case EXPR_MUL:
        return fold_mul(graph, a, b);
    case EXPR_DIV:
        return fold_div(graph, a, b);
    case EXPR_POW:
        return fold_pow(graph, a, b);
    case EXPR_MIN:
    case EXPR_MAX:
        return a == b ? a : commutative(graph, op, a, b);
    case EXPR_HYPOT:
    case EXPR_EQUAL:
    case EXPR_AND:
    case EXPR_OR:
        return commutative(graph, op, a, b);
    default:
        return plain(graph, op, a, b);
    }
}

expr_id expr_select(expr_graph *graph, expr_id condition, expr_id yes, expr_id no)
{
    if (graph->status != ZW_OK) {
        return EXPR_ZERO;
    }
    while (is_op(graph, condition, EXPR_NOT)) {
        condition = operand_of(graph, condition, 0);
        expr_id swapped = yes;
        yes = no;
        no = swapped;
    }
    if (yes == no) {
        return yes;
    }
    if (is_op(graph, condition, EXPR_CONST)) {
        return value_of(graph, condition) != 0.0 ? yes : no;
    }
    return fold_operation(graph, EXPR_SELECT, 0, condition, yes, no);
}

/* long: one case per operation */
double expr_apply(expr_op op, int index, double a, double b, double c)
{
    switch (op) {
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
        return math_pow(a, b);
    case EXPR_POWI:
        return math_powi(a, index);
    case EXPR_SQRT:
        return math_sqrt(a);
    case EXPR_EXP:
        return math_exp(a);
    case EXPR_LOG:
        return math_log(a);
    case EXPR_SIN:
        return math_sin(a);
    case EXPR_COS:
        return math_cos(a);
    case EXPR_TAN:
        return math_tan(a);
    case EXPR_ASIN:
        return math_asin(a);
    case EXPR_ACOS:
        return math_acos(a);
    case EXPR_ATAN:
        return math_atan(a);
    case EXPR_SINH:
        return math_sinh(a);
    case EXPR_COSH:
        return math_cosh(a);
    case EXPR_TANH:
        return math_tanh(a);
    case EXPR_ATAN2:
        return math_atan2(a, b);
    case EXPR_HYPOT:
        return math_hypot(a, b);
    case EXPR_ABS:
        return fabs(a);
    case EXPR_SIGN: /* NaN gives NaN */
        return a > 0.0 ? 1.0 : a < 0.0 ? -1.0 : a == 0.0 ? 0.0 : a;
    case EXPR_FLOOR:
        return math_floor(a);
    case EXPR_MIN: /* NaN if either is NaN */
        return a < b ? a : b <= a ? b : a + b;
    case EXPR_MAX:
        return a > b ? a : b >= a ? b : a + b;
    case EXPR_LESS:
        return a < b ? 1.0 : 0.0;
    case EXPR_LESS_EQUAL:
        return a <= b ? 1.0 : 0.0;
    case EXPR_EQUAL:
        return a == b ? 1.0 : 0.0;
    case EXPR_AND:
        return a != 0.0 && b != 0.0 ? 1.0 : 0.0;
    case EXPR_OR:
        return a != 0.0 || b != 0.0 ? 1.0 : 0.0;
    case EXPR_NOT:
        return a == 0.0 ? 1.0 : 0.0;
    case EXPR_SELECT:
        return a != 0.0 ? b : c;
    default:
        return 0.0; /* leaves are not operations */
    }
}

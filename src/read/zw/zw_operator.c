/* Operators on scalars and vectors. */
#include "read/zw/zw.h"

static int fail_pair(reader *r, int token, const char *verb, const read_value *a,
                     const read_value *b)
{
    return read_fail(r, token, "%s and %s cannot be %s", read_show_value(a).text,
                     read_show_value(b).text, verb);
}

/* ---- Sums and products -------------------------------------------------------------------- */

static int join_sum(reader *r, int token, expr_op op, read_value *a, const read_value *b)
{
    if (a->n != b->n) {
        return fail_pair(r, token, op == EXPR_ADD ? "added" : "subtracted", a, b);
    }
    read_at_token(r, token);
    for (int i = 0; i < a->n; i++) {
        a->c[i] = expr_binary(r->model->graph, op, a->c[i], b->c[i]);
    }
    return 1;
}

static int join_times(reader *r, int token, read_value *a, const read_value *b)
{
    if (a->n > 1 && b->n > 1) {
        return read_fail(r, token,
                         "which product of two vectors is meant? the dot product is "
                         "a . b, the cross product a x b");
    }
    read_at_token(r, token);
    read_value product = {.n = a->n > b->n ? a->n : b->n};
    for (int i = 0; i < product.n; i++) {
        product.c[i] =
            expr_binary(r->model->graph, EXPR_MUL, a->c[a->n > 1 ? i : 0], b->c[b->n > 1 ? i : 0]);
    }
    *a = product;
    return 1;
}

static int join_over(reader *r, int token, read_value *a, const read_value *b)
{
    if (b->n > 1) {
        return read_fail(r, token, "nothing can be divided by a vector; by its length: /|v|");
    }
    read_at_token(r, token);
    for (int i = 0; i < a->n; i++) {
        a->c[i] = expr_binary(r->model->graph, EXPR_DIV, a->c[i], b->c[0]);
    }
    return 1;
}

int read_join_dot(reader *r, int token, read_value *a, const read_value *b)
{
    if (a->n == 1 || a->n != b->n) {
        return read_fail(r, token,
                         "a dot product takes two vectors of the same dimension, not %s "
                         "and %s",
                         read_show_value(a).text, read_show_value(b).text);
    }
    read_at_token(r, token);
    *a = (read_value){.n = 1, .c = {read_dot(r, a, b)}};
    return 1;
}

/* In the plane the cross product is the component along the normal. */
int read_join_cross(reader *r, int token, read_value *a, const read_value *b)
{
    if (a->n == 1 || a->n != b->n) {
        return read_fail(r, token,
                         "a cross product takes two vectors of the same dimension, not "
                         "%s and %s",
                         read_show_value(a).text, read_show_value(b).text);
    }
    expr_graph *g = r->model->graph;
    read_value product = {.n = a->n == 2 ? 1 : 3};
    read_at_token(r, token);
    for (int i = 0; i < product.n; i++) {
        int j = a->n == 2 ? 0 : (i + 1) % 3, k = a->n == 2 ? 1 : (i + 2) % 3;
        expr_id plus = expr_binary(g, EXPR_MUL, a->c[j], b->c[k]);
        expr_id minus = expr_binary(g, EXPR_MUL, a->c[k], b->c[j]);
        product.c[i] = expr_binary(g, EXPR_SUB, plus, minus);
    }
    *a = product;
    return 1;
}

static int join_logic(reader *r, int token, expr_op op, read_value *a, const read_value *b)
{
    if (a->n > 1 || b->n > 1) {
        return read_fail(r, token, "a condition is a scalar, not a vector");
    }
    read_at_token(r, token);
    a->c[0] = expr_binary(r->model->graph, op, a->c[0], b->c[0]);
    return 1;
}

static int join_compare(reader *r, int token, expr_joint joint, read_value *a, const read_value *b)
{
    if (a->n > 1 || b->n > 1) {
        return read_fail(r, token,
                         "vectors cannot be compared; compare their lengths |v| or their "
                         "components");
    }
    int swap = joint == EXPR_JOINT_GREATER || joint == EXPR_JOINT_GREATER_EQUAL;
    int strict = joint == EXPR_JOINT_LESS || joint == EXPR_JOINT_GREATER;
    int same = joint == EXPR_JOINT_EQUAL || joint == EXPR_JOINT_NOT_EQUAL;
    expr_op op = same ? EXPR_EQUAL : strict ? EXPR_LESS : EXPR_LESS_EQUAL;
    read_at_token(r, token);
    expr_graph *g = r->model->graph;
    expr_id result = expr_binary(g, op, swap ? b->c[0] : a->c[0], swap ? a->c[0] : b->c[0]);
    a->c[0] = joint == EXPR_JOINT_NOT_EQUAL ? expr_unary(g, EXPR_NOT, result) : result;
    return 1;
}

static int join(reader *r, int token, expr_joint joint, read_value *a, const read_value *b)
{
    switch (joint) {
    case EXPR_JOINT_PLUS:
        return join_sum(r, token, EXPR_ADD, a, b);
    case EXPR_JOINT_MINUS:
        return join_sum(r, token, EXPR_SUB, a, b);
    case EXPR_JOINT_TIMES:
        return join_times(r, token, a, b);
    case EXPR_JOINT_OVER:
        return join_over(r, token, a, b);
    case EXPR_JOINT_DOT:
        return read_join_dot(r, token, a, b);
    case EXPR_JOINT_CROSS:
        return read_join_cross(r, token, a, b);
    case EXPR_JOINT_AND:
        return join_logic(r, token, EXPR_AND, a, b);
    case EXPR_JOINT_OR:
        return join_logic(r, token, EXPR_OR, a, b);
    default:
        return join_compare(r, token, joint, a, b);
    }
}

int read_chain(reader *r, int tree, read_value *value)
{
    int k = r->trees.tree[tree].first;
    if (!read_value_of(r, k, value)) {
        return 0;
    }
    for (k = r->trees.tree[k].next; k >= 0; k = r->trees.tree[k].next) {
        read_value right;
        if (!read_value_of(r, k, &right) ||
            !join(r, r->trees.tree[k].joint_token, (expr_joint)r->trees.tree[k].joint, value,
                  &right)) {
            return 0;
        }
    }
    return 1;
}

/* ---- The others --------------------------------------------------------------------------- */

static int value_power(reader *r, int tree, read_value *value)
{
    int base = r->trees.tree[tree].first;
    int token = r->trees.tree[tree].token;
    read_value exponent;
    if (!read_value_of(r, base, value) || !read_value_of(r, r->trees.tree[base].next, &exponent)) {
        return 0;
    }
    if (value->n > 1) {
        return read_fail(r, token,
                         "a vector has no powers; the square of its length is |v|^2 or "
                         "v . v");
    }
    if (exponent.n > 1) {
        return read_fail(r, token, "an exponent is a scalar, not a vector");
    }
    read_at(r, tree);
    value->c[0] = expr_binary(r->model->graph, EXPR_POW, value->c[0], exponent.c[0]);
    return 1;
}

static int value_minus(reader *r, int tree, read_value *value)
{
    if (!read_value_of(r, r->trees.tree[tree].first, value)) {
        return 0;
    }
    read_at(r, tree);
    for (int i = 0; i < value->n; i++) {
        value->c[i] = expr_unary(r->model->graph, EXPR_NEG, value->c[i]);
    }
    return 1;
}

static int value_not(reader *r, int tree, read_value *value)
{
    if (!read_value_of(r, r->trees.tree[tree].first, value)) {
        return 0;
    }
    if (value->n > 1) {
        return read_fail(r, r->trees.tree[tree].token, "a condition is a scalar, not a vector");
    }
    read_at(r, tree);
    value->c[0] = expr_unary(r->model->graph, EXPR_NOT, value->c[0]);
    return 1;
}

int read_operator(reader *r, int tree, read_value *value)
{
    switch (r->trees.tree[tree].kind) {
    case EXPR_TREE_POWER:
        return value_power(r, tree, value);
    case EXPR_TREE_MINUS:
        return value_minus(r, tree, value);
    case EXPR_TREE_NOT:
        return value_not(r, tree, value);
    default:
        return read_chain(r, tree, value);
    }
}

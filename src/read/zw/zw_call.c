/* Functions: their arguments and values. */
#include <string.h>

#include "read/zw/zw.h"

/* A linear table, constant outside: if(x < x0, y0, if(x < x1, y0 + (y1-y0)*(x-x0)/(x1-x0), ...)),
 * built from the last knot to the first. */
static int call_table(reader *r, int tree, read_value *value)
{
    expr_graph *g = r->model->graph;
    const expr_tree *node = &r->trees.tree[tree];
    int argument = node->first, count = node->count, token = node->token;
    expr_id x, x_left = EXPR_ZERO, y_left = EXPR_ZERO;
    if (count % 2 == 0) {
        return read_fail(r, token, "a table takes x and pairs: %s",
                         expr_function_at(node->function)->usage);
    }
    if (!read_scalar_of(r, argument, &x, "the argument of a table")) {
        return 0;
    }
    /* From the first knot on: each piece replaces the previous ones where x is at least its left
     * end. */
    expr_id result = EXPR_ZERO;
    for (int i = 1; i < count; i += 2) {
        expr_id x_right, y_right;
        int knot = r->trees.tree[argument].next;
        argument = r->trees.tree[knot].next;
        if (!read_scalar_of(r, knot, &x_right, "a knot of a table") ||
            !read_scalar_of(r, argument, &y_right, "a value of a table")) {
            return 0;
        }
        const expr_node *low = expr_graph_node(g, x_left), *high = expr_graph_node(g, x_right);
        if (i > 1 && low->op == EXPR_CONST && high->op == EXPR_CONST && low->value >= high->value) {
            return read_fail_tree(r, knot,
                                  "the knots of a table must increase: %.10g is not above %.10g",
                                  high->value, low->value);
        }
        read_at(r, tree);
        if (i == 1) {
            result = y_right;
        } else {
            expr_id rise = expr_binary(g, EXPR_SUB, y_right, y_left);
            expr_id run = expr_binary(g, EXPR_SUB, x_right, x_left);
            expr_id slope = expr_binary(g, EXPR_DIV, rise, run);
            expr_id line = expr_binary(g, EXPR_MUL, slope, expr_binary(g, EXPR_SUB, x, x_left));
            expr_id piece = expr_binary(g, EXPR_ADD, y_left, line);
            result = expr_select(g, expr_binary(g, EXPR_LESS, x, x_left), result, piece);
        }
        x_left = x_right;
        y_left = y_right;
    }
    value->c[0] = expr_select(g, expr_binary(g, EXPR_LESS, x, x_left), result, y_left);
    return 1;
}

/* if(c, a, b), and piecewise(c1, a1, c2, a2, ..., otherwise) from the back. */
static int call_cases(reader *r, int tree, int argument, int count, read_value *value)
{
    enum { MOST = 128 };
    int pair[MOST], pairs = 0;
    while (count >= 3) {
        if (pairs == MOST) {
            return read_fail_tree(r, argument, "there are more than %d cases", MOST);
        }
        pair[pairs++] = argument;
        argument = r->trees.tree[r->trees.tree[argument].next].next;
        count -= 2;
    }
    if (!read_value_of(r, argument, value)) {
        return 0;
    }
    while (pairs-- > 0) {
        int condition = pair[pairs], yes = r->trees.tree[condition].next;
        expr_id c;
        read_value branch;
        if (!read_scalar_of(r, condition, &c, "a condition") || !read_value_of(r, yes, &branch)) {
            return 0;
        }
        if (branch.n != value->n) {
            return read_fail_tree(r, yes, "one case is %s, another %s",
                                  read_show_value(&branch).text, read_show_value(value).text);
        }
        read_at(r, tree);
        for (int i = 0; i < value->n; i++) {
            value->c[i] = expr_select(r->model->graph, c, branch.c[i], value->c[i]);
        }
    }
    return 1;
}

/* ---- Sums over families ------------------------------------------------------------------- */

typedef struct gather {
    int tree;
    int body;
    expr_op op;
    int count;
    read_value value;
} gather;

static int gather_one(reader *r, void *user)
{
    gather *g = user;
    read_value one;
    if (!read_value_of(r, g->body, &one)) {
        return 0;
    }
    if (g->op == EXPR_MUL && one.n > 1) {
        return read_fail_tree(r, g->body, "the factors of a product must be scalars, not %s",
                              read_show_value(&one).text);
    }
    if (g->count++ == 0) {
        g->value = one;
        return 1;
    }
    if (one.n != g->value.n) {
        return read_fail_tree(r, g->body, "one term is %s, another %s",
                              read_show_value(&g->value).text, read_show_value(&one).text);
    }
    read_at(r, g->tree);
    for (int i = 0; i < one.n; i++) {
        g->value.c[i] = expr_binary(r->model->graph, g->op, g->value.c[i], one.c[i]);
    }
    return 1;
}

static int call_gather(reader *r, int tree, expr_op op, read_value *value)
{
    const expr_tree *node = &r->trees.tree[tree];
    gather g = {.tree = tree, .body = node->first, .op = op};
    g.value = (read_value){1, {op == EXPR_ADD ? EXPR_ZERO : EXPR_ONE, EXPR_ZERO, EXPR_ZERO}};
    if (node->range_count == 0) {
        return read_fail(r, node->token, "over which members? the syntax is: %s",
                         expr_function_at(node->function)->usage);
    }
    int ok = read_ranges_each(r, node->range, node->range_count, gather_one, &g);
    *value = g.value;
    return ok;
}

/* ---- Multipliers -------------------------------------------------------------------------- */

/* lambda(front.touch): the force that keeps a wheel on its plane. */
static int is_touch(const reader *r, int tree)
{
    const expr_tree *node = &r->trees.tree[tree];
    return node->kind == EXPR_TREE_FIELD && read_symbol_is(r, node->symbol, "touch");
}

/* The multipliers of a member: those of its constraint, of its rolling element, or of the element's
 * touch constraint.
 */
static int multipliers(reader *r, int tree, int member, int touch, read_value *value)
{
    const read_member *m = &r->member[member];
    int row = m->row + (touch ? m->rows : 0);
    value->n = touch ? 1 : m->rows > 0 ? m->rows : r->model->constraint[m->number].rows;
    if (touch && (m->rows == 0 || !r->model->bodies->equality[m->number].touch)) {
        return read_fail_tree(r, tree, "there is no such constraint: '%s' is not a contact",
                              read_show_member(r, member).text);
    }
    for (int i = 0; i < value->n; i++) {
        value->c[i] = expr_leaf(r->model->graph, EXPR_LAMBDA, row + i);
    }
    return read_allowed(r, tree, value->c[0], "lambda");
}

static int call_lambda(reader *r, int tree, read_value *value)
{
    int whole = r->trees.tree[tree].first, touch = is_touch(r, whole);
    int argument = touch ? r->trees.tree[whole].first : whole;
    int token = r->trees.tree[tree].token;
    int kind = r->trees.tree[argument].kind;
    int symbol = r->trees.tree[argument].symbol;
    int named = kind == EXPR_TREE_NAME || kind == EXPR_TREE_INDEX;
    int name = named ? read_name_find(r, symbol) : -1;
    if (name < 0 || r->name[name].kind != READ_CONSTRAINT) {
        read_guess guess = read_guess_start("", 0);
        if (named) {
            guess =
                read_guess_start(r->symbols.symbol[symbol].text, r->symbols.symbol[symbol].length);
        }
        for (int i = 0; i < r->name_count; i++) {
            const expr_symbol *s = &r->symbols.symbol[r->name[i].symbol];
            if (r->name[i].kind == READ_CONSTRAINT) {
                read_guess_offer(&guess, s->text, s->length);
            }
        }
        return read_fail_tree(r, argument, "lambda takes the name of a constraint%s",
                              read_guess_show(&guess).text);
    }
    if (r->stage == READ_STAGE_DEFINE && !r->context.numeric) {
        r->late = 1;
        return 0;
    }
    if (r->stage != READ_STAGE_SHOW) {
        return read_fail(r, token,
                         "a multiplier follows from the mechanics and cannot be used in it, only "
                         "in plot, draw, check and event");
    }
    int member = read_member_of(r, argument);
    if (member < 0) {
        return 0;
    }
    read_at(r, tree);
    return multipliers(r, whole, member, touch, value);
}

/* ---- All together ------------------------------------------------------------------------- */

static int fail_function(reader *r, int tree)
{
    const expr_tree *node = &r->trees.tree[tree];
    const expr_symbol *s = &r->symbols.symbol[node->symbol];
    read_shown shown = read_show_symbol(r, node->symbol);
    if (read_name_find(r, node->symbol) >= 0) {
        return read_fail(r, node->token, "'%s' is not a function; a product is written %s*(...)",
                         shown.text, shown.text);
    }
    read_guess guess = read_guess_start(s->text, s->length);
    for (int i = 0; i < expr_function_count(); i++) {
        const char *name = expr_function_at(i)->name;
        read_guess_offer(&guess, name, (int)strlen(name));
    }
    return read_fail(r, node->token, "there is no function '%s'%s", shown.text,
                     read_guess_show(&guess).text);
}

/* Scalars in, a scalar out: the operations of the graph. */
static int call_scalars(reader *r, int tree, const expr_function *f, read_value *value)
{
    expr_graph *g = r->model->graph;
    int k = r->trees.tree[tree].first;
    expr_id a, b, high;
    if (!read_scalar_of(r, k, &a, "the argument of a function")) {
        return 0;
    }
    if (f->most == 1) {
        read_at(r, tree);
        value->c[0] = expr_unary(g, f->op, a);
        return 1;
    }
    k = r->trees.tree[k].next;
    if (f->kind == EXPR_CALL_CLAMP) {
        if (!read_scalar_of(r, k, &b, "the low end") ||
            !read_scalar_of(r, r->trees.tree[k].next, &high, "the high end")) {
            return 0;
        }
        read_at(r, tree);
        value->c[0] = expr_binary(g, EXPR_MIN, expr_binary(g, EXPR_MAX, a, b), high);
        return 1;
    }
    for (; k >= 0; k = r->trees.tree[k].next) {
        if (!read_scalar_of(r, k, &b, "the argument of a function")) {
            return 0;
        }
        read_at(r, tree);
        a = expr_binary(g, f->op, a, b);
    }
    value->c[0] = a;
    return 1;
}

static int call_vectors(reader *r, int tree, const expr_function *f, read_value *value)
{
    int first = r->trees.tree[tree].first;
    int token = r->trees.tree[tree].token;
    read_value other;
    if (!read_value_of(r, first, value)) {
        return 0;
    }
    if (f->kind == EXPR_CALL_NORM) {
        read_at(r, tree);
        *value = (read_value){.n = 1, .c = {read_norm(r, value)}};
        return 1;
    }
    if (!read_value_of(r, r->trees.tree[first].next, &other)) {
        return 0;
    }
    return f->kind == EXPR_CALL_DOT ? read_join_dot(r, token, value, &other)
                                    : read_join_cross(r, token, value, &other);
}

static int call_der(reader *r, int tree, read_value *value)
{
    read_value inner;
    int forbidden = r->context.forbidden;
    r->context.forbidden = 0;
    int ok = read_value_of(r, r->trees.tree[tree].first, &inner);
    r->context.forbidden = forbidden;
    if (!ok) {
        return 0;
    }
    read_at(r, tree);
    return read_rate(r, tree, &inner, value);
}

static int check_arguments(reader *r, const expr_tree *node, const expr_function *f)
{
    if (node->count < f->least || node->count > f->most) {
        return read_fail(r, node->token, "'%s' takes %s%d %s, not %d: %s", f->name,
                         f->most > f->least ? "at least " : "", f->least,
                         f->least == 1 ? "argument" : "arguments", node->count, f->usage);
    }
    if (node->range_count > 0 && f->kind != EXPR_CALL_SUM && f->kind != EXPR_CALL_PROD) {
        return read_fail(r, r->trees.range[node->range].token,
                         "only sum and prod run over members");
    }
    return 1;
}

int read_call(reader *r, int tree, read_value *value)
{
    const expr_tree *node = &r->trees.tree[tree];
    if (node->function < 0) {
        return fail_function(r, tree);
    }
    const expr_function *f = expr_function_at(node->function);
    if (!check_arguments(r, node, f)) {
        return 0;
    }
    switch (f->kind) {
    case EXPR_CALL_OP:
    case EXPR_CALL_FOLD:
    case EXPR_CALL_CLAMP:
        return call_scalars(r, tree, f, value);
    case EXPR_CALL_PIECEWISE:
        if (node->count % 2 == 0) {
            return read_fail(r, node->token, "the last argument is the value otherwise: %s",
                             f->usage);
        }
        return call_cases(r, tree, node->first, node->count, value);
    case EXPR_CALL_IF:
        return call_cases(r, tree, node->first, node->count, value);
    case EXPR_CALL_TABLE:
        return call_table(r, tree, value);
    case EXPR_CALL_SUM:
        return call_gather(r, tree, EXPR_ADD, value);
    case EXPR_CALL_PROD:
        return call_gather(r, tree, EXPR_MUL, value);
    case EXPR_CALL_DER:
        return call_der(r, tree, value);
    case EXPR_CALL_LAMBDA:
        return call_lambda(r, tree, value);
    default:
        return call_vectors(r, tree, f, value);
    }
}

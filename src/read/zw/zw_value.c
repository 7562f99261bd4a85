/* Syntax trees to nodes of the graph: names are looked up, vectors split into components. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "expr/derive.h"
#include "read/zw/zw.h"

static const double PI = 3.14159265358979323846;
static const double E = 2.71828182845904523536;

static read_value scalar(expr_id id)
{
    return (read_value){1, {id, EXPR_ZERO, EXPR_ZERO}};
}

void read_at_token(reader *r, int token)
{
    expr_graph_at(r->model->graph, read_place_token(r, token));
}

void read_at(reader *r, int tree)
{
    expr_graph_at(r->model->graph, read_place(r, tree));
}

static int depends(const reader *r, expr_id id)
{
    return expr_graph_node(r->model->graph, id)->depends;
}

int read_depends(const reader *r, const read_value *value)
{
    int all = 0;
    for (int i = 0; i < value->n; i++) {
        all |= depends(r, value->c[i]);
    }
    return all;
}

/* ---- Allowed leaves ----------------------------------------------------------------------- */

static const struct {
    int bit;
    const char *is;
    const char *plural;
} leaf_text[] = {
    {EXPR_ON_LAMBDA, "a multiplier", "multipliers"},
    {EXPR_ON_ACCEL, "an acceleration", "accelerations"},
    {EXPR_ON_SPEED, "a speed", "speeds"},
    {EXPR_ON_COORD, "a coordinate", "coordinates"},
    {EXPR_ON_TIME, "the time", "the time"},
};

/* Is a leaf, or the value of a name, allowed in this context? `what` is how it was written. */
int read_allowed(reader *r, int tree, expr_id id, const char *what)
{
    int bad = depends(r, id) & r->context.forbidden;
    if (bad == 0) {
        return 1;
    }
    int is_leaf = expr_op_operands((expr_op)expr_graph_node(r->model->graph, id)->op) == 0;
    for (size_t i = 0; i < sizeof leaf_text / sizeof *leaf_text; i++) {
        if (!(bad & leaf_text[i].bit)) {
            continue;
        }
        if (is_leaf) {
            return read_fail_tree(r, tree, "%s is %s, and %s may not depend on %s", what,
                                  leaf_text[i].is, r->context.where, leaf_text[i].plural);
        }
        return read_fail_tree(r, tree, "%s depends on %s, and %s may not", what,
                              leaf_text[i].plural, r->context.where);
    }
    return 0;
}

static int value_allowed(reader *r, int tree, const read_value *value, const char *what)
{
    for (int i = 0; i < value->n; i++) {
        if (!read_allowed(r, tree, value->c[i], what)) {
            return 0;
        }
    }
    return 1;
}

/* The same for a member with primes; its name is only composed for messages. */
static int member_allowed(reader *r, int tree, const read_value *value, int member,
                          const char *primes)
{
    if ((read_depends(r, value) & r->context.forbidden) == 0) {
        return 1;
    }
    char what[READ_SHOWN + 8];
    snprintf(what, sizeof what, *primes != 0 ? "%s%s" : "'%s%s'", read_show_member(r, member).text,
             primes);
    return value_allowed(r, tree, value, what);
}

/* ---- Names -------------------------------------------------------------------------------- */

/* pi, e, deg, inf, t and the energies; -1: none of them. */
static int value_constant(reader *r, int tree, int symbol, read_value *value)
{
    int token = r->trees.tree[tree].token;
    static const struct {
        const char *text;
        double value;
    } numbers[] = {{"pi", PI}, {"e", E}, {"deg", PI / 180}, {"inf", INFINITY}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (read_symbol_is(r, symbol, numbers[i].text)) {
            *value = scalar(expr_const(r->model->graph, numbers[i].value));
            return 1;
        }
    }
    if (read_symbol_is(r, symbol, "t")) {
        *value = scalar(expr_leaf(r->model->graph, EXPR_TIME, 0));
        return read_allowed(r, tree, value->c[0], "'t'");
    }
    int energy = read_symbol_is(r, symbol, "energy");
    int kinetic = read_symbol_is(r, symbol, "kinetic_energy");
    if (!energy && !kinetic && !read_symbol_is(r, symbol, "potential_energy")) {
        return -1;
    }
    *value = scalar(EXPR_ZERO);
    if (r->stage == READ_STAGE_DEFINE && !r->context.numeric) {
        r->late = 1;
        return 0;
    }
    if (r->stage != READ_STAGE_SHOW) {
        return read_fail(r, token,
                         "the energy follows from the mechanics and cannot be used in it, only in "
                         "plot, draw, check and event");
    }
    value->c[0] = kinetic ? r->model->kinetic : r->model->potential;
    if (r->robot_token >= 0 && !energy) {
        return read_robot_energy(r, kinetic ? MODEL_SEEN_KINETIC : MODEL_SEEN_POTENTIAL,
                                 &value->c[0]);
    }
    return !energy || read_energy(r, token, &value->c[0]);
}

static int value_param(reader *r, int member, read_value *value)
{
    int number = r->member[member].number;
    if (!r->context.numeric) {
        *value = scalar(expr_leaf(r->model->graph, EXPR_PARAM, number));
        return 1;
    }
    if (!read_need(r, member)) {
        return 0;
    }
    model_param *param = &r->model->param[number];
    param->is_size |= r->context.sizes;
    param->is_source |= !r->context.sizes && r->path_count > 0;
    *value = scalar(expr_const(r->model->graph, param->value));
    return 1;
}

/* A name or a member of a family. */
static int value_member(reader *r, int tree, read_value *value)
{
    int token = r->trees.tree[tree].token;
    int member = read_member_of(r, tree);
    if (member < 0) {
        return 0;
    }
    switch (r->name[r->member[member].name].kind) {
    case READ_PARAM:
        return value_param(r, member, value);
    case READ_COORD:
        read_at(r, tree);
        *value = scalar(expr_leaf(r->model->graph, EXPR_COORD, r->member[member].number));
        return member_allowed(r, tree, value, member, "");
    case READ_LET:
    case READ_POINT:
    case READ_IMBED:
        if (r->context.numeric) {
            return read_fail(r, token, "'%s' is a definition; %s is made of parameters only",
                             read_show_member(r, member).text, r->context.where);
        }
        if (!read_need(r, member)) {
            return 0;
        }
        *value = r->member[member].value;
        return member_allowed(r, tree, value, member, "");
    case READ_CONSTRAINT:
        return read_fail(r, token,
                         "'%s' is a constraint and has no value; its multiplier is lambda(%s)",
                         read_show_member(r, member).text, read_show_member(r, member).text);
    default:
        return read_fail(r, token, "'%s' is an event and has no value",
                         read_show_member(r, member).text);
    }
}

static int value_name(reader *r, int tree, read_value *value)
{
    int symbol = r->trees.tree[tree].symbol;
    int token = r->trees.tree[tree].token;
    for (int i = r->scope_count - 1; i >= 0; i--) {
        if (r->scope[i].symbol == symbol) {
            *value = scalar(expr_const(r->model->graph, r->scope[i].value));
            return 1;
        }
    }
    if (read_name_find(r, symbol) >= 0) {
        return value_member(r, tree, value);
    }
    read_at(r, tree);
    int known = value_constant(r, tree, symbol, value);
    if (known >= 0) {
        return known;
    }
    const expr_symbol *s = &r->symbols.symbol[symbol];
    int function = expr_function_find(s->text, s->length);
    if (function >= 0) {
        return read_fail(r, token, "'%.*s' is a function; it is used as %s", s->length, s->text,
                         expr_function_at(function)->usage);
    }
    read_path path;
    if (read_robot_path(r, tree, &path)) {
        return read_robot_value(r, tree, &path, value);
    }
    if (read_is_word(r, symbol)) {
        return read_fail(r, token, "'%.*s' begins a statement and is not allowed in a formula",
                         s->length, s->text);
    }
    return value_member(r, tree, value);
}

static int value_field(reader *r, int tree, read_value *value)
{
    const expr_tree *node = &r->trees.tree[tree];
    int token = node->token;
    const expr_symbol *s = &r->symbols.symbol[node->symbol];
    read_value inner;
    read_path path;
    if (read_robot_path(r, tree, &path)) {
        return read_robot_value(r, tree, &path, value);
    }
    if (!read_value_of(r, node->first, &inner)) {
        return 0;
    }
    const char *letters = "xyz";
    const char *at = s->length == 1 ? strchr(letters, *s->text) : NULL;
    if (at == NULL) {
        return read_fail(r, token, "a component is .x, .y or .z, not .%.*s",
                         s->length < 40 ? s->length : 40, s->text);
    }
    if (inner.n == 1) {
        return read_fail(r, token, "a scalar has no components");
    }
    if (at - letters >= inner.n) {
        return read_fail(r, token, "a vector of 2 components has no .z");
    }
    *value = scalar(inner.c[at - letters]);
    return 1;
}

/* ---- Rates -------------------------------------------------------------------------------- */

int read_rate(reader *r, int tree, const read_value *value, read_value *rate)
{
    int all = read_depends(r, value);
    if (all & EXPR_ON_ACCEL) {
        return read_fail_tree(r, tree, "the rate of an acceleration is not known");
    }
    if (all & EXPR_ON_LAMBDA) {
        return read_fail_tree(r, tree, "the rate of a multiplier is not known");
    }
    if (read_robot_energy_in(r, value)) {
        return read_fail_tree(r, tree, "the rate of the energy of a robot is not known");
    }
    *rate = *value;
    if (expr_rate(r->model->graph, value->c, value->n, EXPR_RATE_FULL, rate->c) != ZW_OK) {
        return read_no_memory(r);
    }
    return value_allowed(r, tree, rate, "this rate");
}

static int prime_coord(reader *r, int tree, int member, int primes, read_value *value)
{
    if (primes > 2) {
        return read_fail_tree(r, tree, "third and higher rates of a coordinate are not known");
    }
    *value = scalar(expr_leaf(r->model->graph, primes == 1 ? EXPR_SPEED : EXPR_ACCEL,
                              r->member[member].number));
    return member_allowed(r, tree, value, member, primes == 1 ? "'" : "''");
}

/* Definitions store their rate, as p' is used often. */
static int prime_definition(reader *r, int tree, int member, read_value *value)
{
    if (r->member[member].rate.n == 0) {
        read_value rate;
        int forbidden = r->context.forbidden;
        r->context.forbidden = 0;
        int ok = read_rate(r, tree, &r->member[member].value, &rate);
        r->context.forbidden = forbidden;
        if (!ok) {
            return 0;
        }
        r->member[member].rate = rate;
    }
    *value = r->member[member].rate;
    return member_allowed(r, tree, value, member, "'");
}

static int value_prime(reader *r, int tree, read_value *value)
{
    int inner = r->trees.tree[tree].first;
    int primes = r->trees.tree[tree].count;
    int kind = r->trees.tree[inner].kind;
    int name = kind == EXPR_TREE_NAME || kind == EXPR_TREE_INDEX
                   ? read_name_find(r, r->trees.tree[inner].symbol)
                   : -1;
    int what = name < 0 ? -1 : (int)r->name[name].kind;
    read_at(r, tree);
    if (what == READ_PARAM) {
        return read_fail_tree(r, tree, "'%s' is a parameter and has no rate",
                              read_show_symbol(r, r->trees.tree[inner].symbol).text);
    }
    if (what == READ_COORD) {
        int member = read_member_of(r, inner);
        return member >= 0 && prime_coord(r, tree, member, primes, value);
    }

    /* The contents of the formula are checked with its rate, not before. */
    int forbidden = r->context.forbidden;
    r->context.forbidden = 0;
    int ok = read_value_of(r, inner, value);
    r->context.forbidden = forbidden;
    if (!ok) {
        return 0;
    }
    read_at(r, tree);
    if (what == READ_LET || what == READ_POINT || what == READ_IMBED) {
        int member = read_member_of(r, inner);
        if (member < 0 || !prime_definition(r, tree, member, value)) {
            return 0;
        }
        primes--;
    }
    for (; primes > 0; primes--) {
        read_value rate;
        if (!read_rate(r, tree, value, &rate)) {
            return 0;
        }
        *value = rate;
    }
    return 1;
}

/* ---- Vectors ------------------------------------------------------------------------------ */

static int value_vector(reader *r, int tree, read_value *value)
{
    const expr_tree *node = &r->trees.tree[tree];
    int count = node->count;
    if (count > MODEL_DIMENSION) {
        return read_fail_tree(r, tree, "a vector has two or three components, not %d", count);
    }
    read_value result = {.n = count};
    int i = 0;
    for (int k = node->first; k >= 0; k = r->trees.tree[k].next) {
        if (!read_scalar_of(r, k, &result.c[i++], "a component")) {
            return 0;
        }
    }
    *value = result;
    return 1;
}

expr_id read_dot(reader *r, const read_value *a, const read_value *b)
{
    expr_graph *graph = r->model->graph;
    expr_id sum = expr_binary(graph, EXPR_MUL, a->c[0], b->c[0]);
    for (int i = 1; i < a->n; i++) {
        sum = expr_binary(graph, EXPR_ADD, sum, expr_binary(graph, EXPR_MUL, a->c[i], b->c[i]));
    }
    return sum;
}

/* |v| = sqrt(v . v) for vectors, the absolute value for scalars. */
expr_id read_norm(reader *r, const read_value *a)
{
    if (a->n == 1) {
        return expr_unary(r->model->graph, EXPR_ABS, a->c[0]);
    }
    return expr_unary(r->model->graph, EXPR_SQRT, read_dot(r, a, a));
}

static int value_norm(reader *r, int tree, read_value *value)
{
    read_value inner;
    if (!read_value_of(r, r->trees.tree[tree].first, &inner)) {
        return 0;
    }
    read_at(r, tree);
    *value = scalar(read_norm(r, &inner));
    return 1;
}

int read_scalar_of(reader *r, int tree, expr_id *id, const char *what)
{
    read_value value;
    *id = EXPR_ZERO;
    if (!read_value_of(r, tree, &value)) {
        return 0;
    }
    if (value.n != 1) {
        return read_fail_tree(r, tree, "%s must be a scalar, not %s", what,
                              read_show_value(&value).text);
    }
    *id = value.c[0];
    return 1;
}

int read_value_in(reader *r, int tree, int forbidden, const char *where, read_value *value)
{
    r->context = (read_context){.forbidden = forbidden, .where = where};
    return read_value_of(r, tree, value);
}

int read_scalar_in(reader *r, int tree, int forbidden, const char *where, expr_id *id)
{
    r->context = (read_context){.forbidden = forbidden, .where = where};
    return read_scalar_of(r, tree, id, where);
}

/* All leaves are constants here, so the formula is one too, unless it is singular. */
int read_number(reader *r, int tree, int sizes, const char *where, double *value)
{
    read_context context = r->context;
    r->context =
        (read_context){.forbidden = ~EXPR_ON_PARAM, .where = where, .numeric = 1, .sizes = sizes};
    expr_id id;
    int ok = read_scalar_of(r, tree, &id, where);
    r->context = context;
    if (!ok) {
        return 0;
    }
    expr_inputs none = {0};
    if (expr_value(r->model->graph, id, &none, value) != ZW_OK) {
        return read_no_memory(r);
    }
    if (isfinite(*value)) {
        return 1;
    }
    return read_fail_tree(r, tree, "this is not a finite number (%s)",
                          isnan(*value) ? "it is undefined" : "it is infinite");
}

/* ---- Entry points ------------------------------------------------------------------------- */

static int value_kind(reader *r, int tree, read_value *value)
{
    switch (r->trees.tree[tree].kind) {
    case EXPR_TREE_NUMBER:
        *value = scalar(expr_const(r->model->graph, r->trees.tree[tree].number));
        return 1;
    case EXPR_TREE_NAME:
        return value_name(r, tree, value);
    case EXPR_TREE_INDEX:
        return value_member(r, tree, value);
    case EXPR_TREE_FIELD:
        return value_field(r, tree, value);
    case EXPR_TREE_PRIME:
        return value_prime(r, tree, value);
    case EXPR_TREE_CALL:
        return read_call(r, tree, value);
    case EXPR_TREE_VECTOR:
        return value_vector(r, tree, value);
    case EXPR_TREE_NORM:
        return value_norm(r, tree, value);
    default:
        return read_operator(r, tree, value);
    }
}

int read_value_of(reader *r, int tree, read_value *value)
{
    *value = scalar(EXPR_ZERO);
    if (++r->work > r->limits.work) {
        return read_fail(r, r->trees.tree[tree].token, "these families are too large");
    }
    if (expr_graph_count(r->model->graph) > r->limits.nodes) {
        return read_fail(
            r, r->trees.tree[tree].token,
            "the formulas up to here have more than %.0f operations, which is the most",
            r->limits.nodes);
    }
    r->depth++;
    int ok = value_kind(r, tree, value);
    r->depth--;
    return ok;
}

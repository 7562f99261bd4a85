/* Costs of a motion, and what may be varied: cost, vary. */
#include <math.h>

#include "base/memory.h"
#include "read/zw/zw.h"

/* (x - 1)^2, or: over u^2 */
int read_parse_cost(reader *r, expr_parser *p, read_statement *s)
{
    int over = read_take_word(p, "over"), from = p->next;
    int value = read_expression(r, p);
    read_item *item = value < 0 ? NULL : read_item_add(r, s, -1);
    if (item == NULL) {
        return 0;
    }
    item->part[0] = value;
    item->option = over;
    item->from = from;
    item->to = p->next;
    return 1;
}

/* A formula that jumps has no useful derivative; its integral over time has one, except for robots,
 * where it is a sum over steps. *jump: a node of the formula that jumps, or EXPR_NONE. Operands
 * precede their users. */
static int find_jump(reader *r, expr_id id, expr_id *jump)
{
    const expr_graph *graph = r->model->graph;
    unsigned char *used = base_alloc((size_t)id + 1);
    *jump = EXPR_NONE;
    if (used == NULL) {
        return read_no_memory(r);
    }
    used[id] = 1;
    for (expr_id i = id; i >= 0; i--) {
        const expr_node *node = expr_graph_node(graph, i);
        int jumps = node->op == EXPR_SIGN || node->op == EXPR_FLOOR || node->op == EXPR_SELECT ||
                    (node->op >= EXPR_LESS && node->op <= EXPR_NOT);
        if (used[i] && jumps && node->depends & ~EXPR_ON_PARAM) {
            *jump = i;
        }
        for (int k = 0; k < 3 && used[i] && node->operand[k] != EXPR_NONE; k++) {
            used[node->operand[k]] = 1;
        }
    }
    base_free(used);
    return 1;
}

int read_make_cost(reader *r, const read_statement *s, const read_item *item)
{
    expr_id value = EXPR_NONE;
    if (!read_scalar_in(r, item->part[0], EXPR_ON_ACCEL | EXPR_ON_LAMBDA, "a cost", &value)) {
        return 0;
    }
    expr_id jump = EXPR_NONE;
    int is_integral = item->option && r->robot_token < 0;
    if (!is_integral && !find_jump(r, value, &jump)) {
        return 0;
    }
    if (jump != EXPR_NONE) {
        expr_op op = (expr_op)expr_graph_node(r->model->graph, jump)->op;
        return read_fail_tree(
            r, item->part[0], "a cost that jumps has no derivative: %s may be in `cost over` only",
            op == EXPR_SIGN || op == EXPR_FLOOR ? expr_op_text(op) : "a condition");
    }
    char *name = read_label(r, item->from, item->to, "");
    model_cost *cost = name == NULL ? NULL : model_add_cost(r->model);
    if (cost == NULL) {
        base_free(name);
        return name == NULL ? 0 : read_no_memory(r);
    }
    *cost = (model_cost){
        .name = name, .place = read_place_token(r, s->token), .value = value, .over = item->option};
    return cost->place >= 0;
}

enum { VARY_PLAIN, VARY_START, VARY_TIME, PARTS = 20, MOST_PARTS = 10000 };

/* (0) for initial values, (t) for functions of time. */
static int parse_bracket(reader *r, expr_parser *p, const read_statement *s, int *what)
{
    *what = VARY_PLAIN;
    if (!read_take(p, EXPR_TOKEN_OPEN)) {
        return 1;
    }
    const expr_token *zero = &p->token[p->next];
    int starts = zero->kind == EXPR_TOKEN_NUMBER && zero->number == 0;
    p->next += starts;
    int of_time = !starts && read_take_word(p, "t");
    if ((!starts && !of_time) || !read_take(p, EXPR_TOKEN_CLOSE)) {
        return read_fail_expected(r, p, s, "(0), for where it starts, or (t), a function of time");
    }
    *what = starts ? VARY_START : VARY_TIME;
    return 1;
}

/* m, mu = 0..1, x(0), x'(0) = -1..1, F(t) = -1..1 in 20, u[k] = -5..5 for k in 1..9 */
int read_parse_vary(reader *r, expr_parser *p, read_statement *s)
{
    do {
        int target = read_target(r, p), what, low = -1, high = -1, parts = -1;
        if (target < 0 || !parse_bracket(r, p, s, &what)) {
            return 0;
        }
        if (read_take(p, EXPR_TOKEN_EQUAL)) {
            low = read_expression(r, p);
            if (low < 0) {
                return 0;
            }
            if (!read_take(p, EXPR_TOKEN_DOTS)) {
                return read_fail_expected(r, p, s, "'..' between the bounds");
            }
            high = read_expression(r, p);
            if (high < 0) {
                return 0;
            }
        }
        if (what == VARY_TIME && read_take_word(p, "in")) {
            parts = read_expression(r, p);
            if (parts < 0) {
                return 0;
            }
        }
        read_item *item = read_item_add(r, s, target);
        if (item == NULL) {
            return 0;
        }
        item->part[0] = low;
        item->part[1] = high;
        item->part[2] = parts;
        item->option = what;
    } while (read_take(p, EXPR_TOKEN_COMMA));
    return read_ranges(r, p, s);
}

/* A parameter, or the initial value or speed of a coordinate; 0: it is neither. */
static int find_unknown(reader *r, const read_item *item, model_vary *to)
{
    const expr_tree *target = &r->trees.tree[item->target];
    if (item->option == VARY_START) {
        int speed = target->kind == EXPR_TREE_PRIME;
        if (speed && target->count > 1) {
            return read_fail_tree(r, item->target,
                                  "only coordinates and speeds have initial values");
        }
        to->kind = speed ? MODEL_VARY_SPEED : MODEL_VARY_START;
        to->index = read_coordinate(r, speed ? target->first : item->target);
        return to->index >= 0;
    }
    if (!read_is_target(r, item->target)) {
        return read_fail_tree(
            r, item->target,
            "vary takes a parameter m, an initial value x(0) or an initial speed x'(0)");
    }
    int member = read_member_of(r, item->target);
    if (member < 0) {
        return 0;
    }
    read_kind kind = r->name[r->member[member].name].kind;
    if (kind != READ_PARAM) {
        read_shown name = read_show_member(r, member);
        return read_fail_tree(r, item->target,
                              kind == READ_COORD
                                  ? "'%s' is a coordinate: where it starts is written %s(0), its "
                                    "initial speed %s'(0)"
                                  : "'%s' is not a parameter",
                              name.text, name.text, name.text);
    }
    to->kind = MODEL_VARY_PARAM;
    to->index = r->member[member].number;
    if (r->model->param[to->index].is_size) {
        return read_fail_tree(r, item->target,
                              "parameter %.60s changes the structure of the model: it cannot vary",
                              r->model->param[to->index].name);
    }
    return 1;
}

int read_make_vary(reader *r, const read_statement *s, const read_item *item)
{
    model_vary now = {.low = -INFINITY, .high = INFINITY};
    (void)s;
    if (!find_unknown(r, item, &now) ||
        (item->part[0] >= 0 && (!read_number(r, item->part[0], 0, "a bound", &now.low) ||
                                !read_number(r, item->part[1], 0, "a bound", &now.high)))) {
        return 0;
    }
    if (item->option == VARY_TIME) {
        double parts = PARTS;
        if (item->part[2] >= 0 && !read_number(r, item->part[2], 0, "how many parts", &parts)) {
            return 0;
        }
        if (!(parts >= 1 && parts <= MOST_PARTS && parts == floor(parts))) {
            return read_fail_tree(r, item->part[2],
                                  "the number of parts is a whole number from 1 to %d", MOST_PARTS);
        }
        now.parts = (int)parts;
    }
    if (!(now.low < now.high)) {
        return read_fail_tree(r, item->part[0],
                              "the lower bound is above the upper one: %.10g..%.10g", now.low,
                              now.high);
    }
    for (int k = 0; k < r->model->vary_count; k++) {
        const model_vary *other = &r->model->vary[k];
        if (other->kind == now.kind && other->index == now.index) {
            return read_fail_tree(r, item->target, "it is listed twice");
        }
    }
    now.place = read_place(r, item->target);
    model_vary *vary = model_add_vary(r->model);
    if (vary == NULL) {
        return read_no_memory(r);
    }
    *vary = now;
    return now.place >= 0;
}

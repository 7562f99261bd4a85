/* Events, stops and checks.
 *
 * A condition becomes a root function that is positive where it holds:
 *     a > b     a - b          p or q     max(p, q)
 *     a < b     b - a          p and q    min(p, q)
 *     not p     -p
 * and the event is where that rises through zero. Its parts are kept as well, with `not` moved
 * to the comparisons: not (p and q) is (not p) or (not q). */
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "read/zw/zw.h"

enum { NO_ACCEL = EXPR_ON_ACCEL, MOST_CONDITIONS = 4096 };

/* ---- Conditions --------------------------------------------------------------------------- */

static int fail_condition(reader *r, int tree, const expr_node *node)
{
    if (node->op == EXPR_EQUAL) {
        return read_fail_tree(r, tree,
                              "a condition with == or != has no inside and outside; an "
                              "event at equality is written: event name: a = b");
    }
    return read_fail_tree(r, tree,
                          "a condition is made of comparisons such as y < 0, joined by "
                          "and, or, not");
}

/* A part still to be read, possibly negated. */
typedef struct condition {
    expr_id id;
    int denied;
} condition;

/* Reads part i of the condition from c[i]; its operands are added to both lists. */
static int read_part(reader *r, int tree, condition *c, model_part *part, int i, int *count)
{
    expr_graph *g = r->model->graph;
    expr_node node = *expr_graph_node(g, c[i].id);
    while (node.op == EXPR_NOT) {
        c[i].denied = !c[i].denied;
        node = *expr_graph_node(g, node.operand[0]);
    }
    int denied = c[i].denied;
    if (node.op == EXPR_AND || node.op == EXPR_OR) {
        if (*count + 2 > MOST_CONDITIONS) {
            return read_fail_tree(r, tree, "this condition has more than %d parts",
                                  MOST_CONDITIONS);
        }
        part[i].kind = (node.op == EXPR_AND) != denied ? MODEL_BOTH : MODEL_EITHER;
        part[i].left = *count;
        part[i].right = *count + 1;
        c[(*count)++] = (condition){node.operand[0], denied};
        c[(*count)++] = (condition){node.operand[1], denied};
        return 1;
    }
    part[i].kind = MODEL_COMPARES;
    if (node.op == EXPR_LESS || node.op == EXPR_LESS_EQUAL) {
        part[i].root = expr_binary(g, EXPR_SUB, node.operand[!denied], node.operand[denied]);
        return 1;
    }
    part[i].root = expr_const(g, (node.value != 0) != denied ? 1 : -1);
    return node.op == EXPR_CONST || fail_condition(r, tree, &node);
}

/* The parts of a condition and its root, found in the graph, so that definitions are resolved. */
static int condition_parts(reader *r, int tree, expr_id whole, model_event *event)
{
    expr_graph *g = r->model->graph;
    condition *c = base_alloc(MOST_CONDITIONS * sizeof *c);
    model_part *part = base_alloc(MOST_CONDITIONS * sizeof *part);
    int count = 1, ok = (c != NULL && part != NULL) || read_no_memory(r);
    if (ok) {
        c[0] = (condition){.id = whole};
    }
    for (int i = 0; ok && i < count; i++) {
        ok = read_part(r, tree, c, part, i, &count);
    }
    for (int i = count - 1; ok && i >= 0; i--) {
        if (part[i].kind != MODEL_COMPARES) {
            part[i].root = expr_binary(g, part[i].kind == MODEL_BOTH ? EXPR_MIN : EXPR_MAX,
                                       part[part[i].left].root, part[part[i].right].root);
        }
    }
    if (ok) {
        event->part = base_alloc((size_t)count * sizeof *part);
        ok = event->part != NULL || read_no_memory(r);
    }
    if (ok) {
        memcpy(event->part, part, (size_t)count * sizeof *part);
        event->part_count = count;
    }
    base_free(c);
    base_free(part);
    return ok;
}

/* ---- Events ------------------------------------------------------------------------------- */

static int event_root(reader *r, const read_item *item, int event)
{
    expr_id left, right, root;
    if (!read_scalar_in(r, item->part[0], NO_ACCEL, "an event", &left)) {
        return 0;
    }
    if (item->part[1] < 0) {
        read_at(r, item->part[0]);
        if (!condition_parts(r, item->part[0], left, &r->model->event[event])) {
            return 0;
        }
        root = r->model->event[event].part[0].root;
    } else {
        if (!read_scalar_in(r, item->part[1], NO_ACCEL, "an event", &right)) {
            return 0;
        }
        read_at(r, item->part[1]);
        root = expr_binary(r->model->graph, EXPR_SUB, left, right);
        model_part *part = base_alloc(sizeof *part);
        if (part == NULL) {
            return read_no_memory(r);
        }
        *part = (model_part){.kind = MODEL_COMPARES, .root = root};
        r->model->event[event].part = part;
        r->model->event[event].part_count = 1;
    }
    r->model->event[event].root = root;
    return expr_graph_node(r->model->graph, root)->depends != 0 ||
           read_fail_tree(r, item->part[0], "this never changes, so it cannot become true");
}

static int is_set(const zw_model *model, int param)
{
    for (int e = 0; e < model->event_count; e++) {
        for (int k = 0; k < model->event[e].reset_count; k++) {
            const model_reset *reset = &model->event[e].reset[k];
            if (reset->kind == MODEL_SET_PARAM && reset->index == param) {
                return 1;
            }
        }
    }
    return 0;
}

/* Does any event set a parameter that `root` depends on? Operands have smaller ids. -1: no memory.
 */
static int may_jump(const zw_model *model, expr_id root)
{
    int found = 0;
    int *used = base_alloc(((size_t)root + 1) * sizeof *used);
    if (used == NULL) {
        return -1;
    }
    memset(used, 0, ((size_t)root + 1) * sizeof *used);
    used[root] = 1;
    for (int id = root; id >= 0 && !found; id--) {
        const expr_node *node = expr_graph_node(model->graph, id);
        for (int k = 0; k < expr_op_operands((expr_op)node->op) && used[id]; k++) {
            used[node->operand[k]] = 1;
        }
        found = used[id] && node->op == EXPR_PARAM && is_set(model, node->index);
    }
    base_free(used);
    return found;
}

/* Parameters change only by events: a condition on them may become true, but nothing crosses
 * zero. */
int read_check_events(reader *r)
{
    const zw_model *model = r->model;
    for (int e = 0; e < model->event_count; e++) {
        const model_event *event = &model->event[e];
        if (expr_graph_node(model->graph, event->root)->depends & ~EXPR_ON_PARAM) {
            continue;
        }
        int jumps = may_jump(model, event->root);
        if (jumps < 0) {
            return read_no_memory(r);
        }
        if (!jumps || !event->condition) {
            return read_fail_tree(r, r->event_tree[e], "%s",
                                  jumps ? "this changes only where events set parameters, so it "
                                          "jumps; write a condition, with when"
                                        : "this never changes, so it cannot become true");
        }
    }
    return 1;
}

static int reset_target(reader *r, int tree, model_reset *reset)
{
    int prime = r->trees.tree[tree].kind == EXPR_TREE_PRIME;
    int name = prime ? r->trees.tree[tree].first : tree;
    read_path path;
    if (read_robot_path(r, name, &path)) {
        reset->kind = prime ? MODEL_SET_SPEED : MODEL_SET_COORD;
        reset->index = read_robot_coordinate(r, name);
        return reset->index >= 0;
    }
    int member = read_member_of(r, name);
    if (member < 0) {
        return 0;
    }
    read_kind kind = r->name[r->member[member].name].kind;
    reset->index = r->member[member].number;
    reset->kind = kind == READ_PARAM ? MODEL_SET_PARAM : prime ? MODEL_SET_SPEED : MODEL_SET_COORD;
    if (kind == READ_COORD && (!prime || r->trees.tree[tree].count == 1)) {
        return 1;
    }
    if (kind != READ_PARAM || prime) {
        return read_fail_tree(r, tree, "an event can set only coordinates, speeds and parameters");
    }
    if (r->model->param[reset->index].is_size) {
        return read_fail_tree(r, tree, "'%.60s' has given families their size and cannot change",
                              r->model->param[reset->index].name);
    }
    if (r->model->param[reset->index].is_source) {
        return read_fail_tree(r, tree,
                              "other parameters were computed from '%.60s' and would not follow; "
                              "make them definitions, with let",
                              r->model->param[reset->index].name);
    }
    return 1;
}

static int event_resets(reader *r, const read_statement *s, const read_item *item, int event)
{
    if (s->item_count < 2) {
        return 1;
    }
    model_reset *reset = base_alloc((size_t)(s->item_count - 1) * sizeof *reset);
    if (reset == NULL) {
        return read_no_memory(r);
    }
    r->model->event[event].reset = reset;
    r->model->event[event].reset_count = s->item_count - 1;
    for (int i = 1; i < s->item_count; i++) {
        if (!reset_target(r, item[i].target, &reset[i - 1]) ||
            !read_scalar_in(r, item[i].part[0], NO_ACCEL, "a new value", &reset[i - 1].value)) {
            return 0;
        }
        for (int k = 0; k < i - 1; k++) {
            if (reset[k].kind == reset[i - 1].kind && reset[k].index == reset[i - 1].index) {
                return read_fail_tree(r, item[i].target, "it is set twice in one event");
            }
        }
    }
    return 1;
}

int read_make_event(reader *r, const read_statement *s, const read_item *item)
{
    int member = item->target < 0 ? -1 : read_member_of(r, item->target);
    char *name = NULL;
    if (item->target < 0) {
        name = read_label(r, item->from, item->to, "stop when ");
    } else if (member >= 0) {
        name = read_member_name(r, member);
    }
    if (name == NULL) {
        return 0;
    }
    model_event *event = model_add_event(r->model);
    if (event == NULL) {
        base_free(name);
        return read_no_memory(r);
    }
    int number = r->model->event_count - 1;
    *event = (model_event){.name = name, .root = EXPR_ZERO};
    event->place =
        read_place_token(r, item->target < 0 ? s->token : r->trees.tree[item->target].token);
    event->direction = item->option;
    event->condition = item->part[1] < 0;
    event->stops = s->option;
    if (member >= 0) {
        r->member[member].number = number;
    }
    if (!base_list_reserve(&r->event_tree, &r->event_tree_capacity, number,
                           sizeof *r->event_tree)) {
        return read_no_memory(r);
    }
    if (!event_root(r, item, number) || !event_resets(r, s, item, number)) {
        return 0;
    }
    r->event_tree[number] = item->part[0];
    return 1;
}

/* ---- Checks ------------------------------------------------------------------------------- */

int read_make_check(reader *r, const read_statement *s, const read_item *item)
{
    const expr_tree *tree = &r->trees.tree[item->part[0]];
    int energy = tree->kind == EXPR_TREE_NAME && read_symbol_is(r, tree->symbol, "energy");
    double tolerance = 1e-6;
    expr_id value = EXPR_NONE;
    if (!read_scalar_in(r, item->part[0], 0, "a check", &value) ||
        (item->part[1] >= 0 && !read_number(r, item->part[1], 0, "a tolerance", &tolerance))) {
        return 0;
    }
    if (!(tolerance > 0)) {
        return read_fail_tree(r, item->part[1], "a tolerance must be positive");
    }
    const expr_tree *target = item->target < 0 ? NULL : &r->trees.tree[item->target];
    char *name = target == NULL ? read_label(r, item->from, item->to, "")
                                : read_label(r, target->from, target->to, "");
    if (name == NULL) {
        return 0;
    }
    model_check *check = model_add_check(r->model);
    if (check == NULL) {
        base_free(name);
        return read_no_memory(r);
    }
    *check = (model_check){.name = name,
                           .place = read_place_token(r, s->token),
                           .value = energy ? EXPR_NONE : value,
                           .tolerance = tolerance};
    return check->place >= 0;
}

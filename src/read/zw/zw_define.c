/* Evaluates definitions, in the order of their dependencies.
 *
 * A definition is evaluated when a formula needs it, and kept: value_of -> need -> value_of ...
 * recurses. s[i] = s[i+1] + ... over ten thousand members would recurse ten thousand deep, so at
 * READ_MOST_DEEP the evaluation is abandoned, the member that was needed is put on a waiting list
 * (`pending`) and evaluated from an empty stack, and the abandoned ones are tried again. Each
 * member is abandoned at most once for every five hundred steps, so the work is linear.
 *
 * Multipliers and the energy follow from the mechanics: definitions that use them are evaluated
 * later (`late`) and refused where the mechanics needs them. */
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "read/zw/zw.h"

/* a -> b -> a */
static int fail_cycle(reader *r, int member)
{
    char way[300];
    size_t used = 0;
    int start = r->path_count - 1;
    while (start > 0 && r->path[start] != member) {
        start--;
    }
    int token = r->member[r->path[r->path_count - 1]].token;
    used += (size_t)snprintf(way, sizeof way, "%s", read_show_member(r, member).text);
    if (r->path[start] != member) {
        used += (size_t)snprintf(way + used, sizeof way - used, " -> ...");
    }
    for (int i = start + 1; i < r->path_count; i++) {
        const char *name = read_show_member(r, r->path[i]).text;
        if (i > start + 3 && i < r->path_count - 1) {
            name = i == start + 4 ? "..." : "";
        }
        if (*name != 0 && used + strlen(name) + 10 < sizeof way) {
            used += (size_t)snprintf(way + used, sizeof way - used, " -> %s", name);
        }
    }
    return read_fail(r, token, "the definition is circular: %s -> %s", way,
                     read_show_member(r, member).text);
}

static int define_param(reader *r, int member, int tree)
{
    double value;
    if (!read_number(r, tree, 0, "a parameter", &value)) {
        return 0;
    }
    r->model->param[r->member[member].number].value = value;
    expr_id id;
    read_context context = r->context;
    r->context = (read_context){.forbidden = ~EXPR_ON_PARAM, .where = "a parameter"};
    int ok = read_scalar_of(r, tree, &id, "a parameter");
    r->context = context;
    if (ok && expr_graph_node(r->model->graph, id)->depends & EXPR_ON_PARAM) {
        r->model->param[r->member[member].number].formula = id;
    }
    return ok;
}

static int define_value(reader *r, int member, int tree)
{
    read_value value;
    r->context = (read_context){0};
    if (!read_value_of(r, tree, &value)) {
        return 0;
    }
    if (r->name[r->member[member].name].kind == READ_POINT && value.n == 1) {
        return read_fail_tree(r, tree,
                              "a point has two or three components, (x, y) or (x, y, z); "
                              "this is a scalar (a scalar is defined with let)");
    }
    r->member[member].value = value;
    return 1;
}

static int define(reader *r, int member)
{
    const read_member *m = &r->member[member];
    const read_statement *s = &r->statement[m->statement];
    int tree = r->item[m->item].part[0];
    read_context context = r->context;
    read_scope scope[READ_MOST_SCOPE];
    int scope_count = r->scope_count;
    memcpy(scope, r->scope, sizeof scope);
    for (int i = 0; i < s->range_count; i++) {
        r->scope[i] = (read_scope){r->trees.range[s->range + i].symbol, m->at[i]};
    }
    r->scope_count = s->range_count;
    r->member[member].state = READ_BUSY;
    r->path[r->path_count++] = member;

    int ok = r->name[m->name].kind == READ_PARAM ? define_param(r, member, tree)
                                                 : define_value(r, member, tree);

    r->path_count--;
    r->member[member].state = ok ? READ_DONE : r->late ? READ_LATE : READ_NEW;
    r->context = context;
    r->scope_count = scope_count;
    memcpy(r->scope, scope, sizeof scope);
    return ok;
}

int read_need(reader *r, int member)
{
    switch (r->member[member].state) {
    case READ_DONE:
        return 1;
    case READ_BUSY:
    case READ_WAITING:
        return fail_cycle(r, member);
    case READ_LATE:
        if (r->stage == READ_STAGE_DEFINE) {
            r->late = 1;
            return 0;
        }
        break;
    default:
        break;
    }
    if (r->depth > READ_MOST_DEEP || r->path_count >= READ_MOST_DEEP) {
        r->pending = member;
        return 0;
    }
    return define(r, member);
}

static int wait_push(reader *r, int member)
{
    if (!base_list_reserve(&r->wait, &r->wait_capacity, r->wait_count, sizeof *r->wait)) {
        return read_no_memory(r);
    }
    r->wait[r->wait_count++] = member;
    return 1;
}

/* Evaluates a member and all that it needs; it may remain late. */
int read_settle(reader *r, int member)
{
    r->wait_count = 0;
    if (!wait_push(r, member)) {
        return 0;
    }
    while (r->wait_count > 0) {
        int top = r->wait[r->wait_count - 1];
        if (r->member[top].state == READ_DONE || define(r, top)) {
            r->wait_count--;
        } else if (r->status == ZW_OK && r->pending >= 0) {
            r->member[top].state = READ_WAITING;
            int next = r->pending;
            r->pending = -1;
            if (!wait_push(r, next)) {
                return 0;
            }
        } else if (r->status == ZW_OK && r->late) {
            r->late = 0;
            for (int i = 0; i < r->wait_count; i++) {
                r->member[r->wait[i]].state = READ_LATE;
            }
            r->wait_count = 0;
        } else {
            return 0;
        }
    }
    return 1;
}

int read_param_values(reader *r)
{
    int count = r->model->param_count;
    r->param_value = base_alloc((size_t)count * sizeof *r->param_value);
    if (r->param_value == NULL) {
        return read_no_memory(r);
    }
    for (int i = 0; i < count; i++) {
        r->param_value[i] = r->model->param[i].value;
    }
    return 1;
}

/* Stores the names of points that depend only on parameters, coordinates and time in the model. */
int read_keep_points(reader *r)
{
    for (int i = 0; i < r->member_count; i++) {
        const read_member *m = &r->member[i];
        unsigned depends = 0;
        if (r->name[m->name].kind != READ_POINT || m->state != READ_DONE) {
            continue;
        }
        for (int k = 0; k < m->value.n; k++) {
            depends |= expr_graph_node(r->model->graph, m->value.c[k])->depends;
        }
        if (depends & ~(unsigned)(EXPR_ON_PARAM | EXPR_ON_TIME | EXPR_ON_COORD)) {
            continue;
        }
        read_shown name = read_show_member(r, i);
        model_point *point = model_add_point(r->model);
        if (!point || !(point->name = model_text_copy(name.text, strlen(name.text)))) {
            return read_no_memory(r);
        }
        point->dimension = m->value.n;
        memcpy(point->at, m->value.c, sizeof point->at);
    }
    return 1;
}

int read_settle_all(reader *r)
{
    for (int i = 0; i < r->member_count; i++) {
        read_kind kind = r->name[r->member[i].name].kind;
        int wanted =
            kind == READ_PARAM || kind == READ_LET || kind == READ_POINT || kind == READ_IMBED;
        if (wanted && r->member[i].state != READ_DONE && !read_settle(r, i)) {
            return 0;
        }
    }
    return 1;
}

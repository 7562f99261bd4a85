/* Declares all names before anything else is evaluated. Parameters are evaluated at once, as they
 * give the sizes of families. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "read/zw/zw.h"

/* ---- Ranges ------------------------------------------------------------------------------- */

enum { MOST_INDEX = 1000000000 };

/* The common cases i, 3, i-1, 2+i, without the graph. */
static int quick_integer(const reader *r, int tree, int *value)
{
    const expr_tree *node = &r->trees.tree[tree];
    if (node->kind == EXPR_TREE_NUMBER && node->number >= 0 && node->number < MOST_INDEX) {
        *value = (int)node->number;
        return *value == node->number;
    }
    if (node->kind == EXPR_TREE_NAME) {
        for (int i = r->scope_count - 1; i >= 0; i--) {
            if (r->scope[i].symbol == node->symbol) {
                *value = r->scope[i].value;
                return 1;
            }
        }
    }
    return 0;
}

static int quick_sum(const reader *r, int tree, int *value)
{
    if (r->trees.tree[tree].kind != EXPR_TREE_SUM) {
        return quick_integer(r, tree, value);
    }
    long sum = 0;
    for (int k = r->trees.tree[tree].first; k >= 0; k = r->trees.tree[k].next) {
        int part;
        if (!quick_integer(r, k, &part)) {
            return 0;
        }
        sum += r->trees.tree[k].joint == EXPR_JOINT_MINUS ? -(long)part : part;
        if (sum > MOST_INDEX || sum < -MOST_INDEX) {
            return 0;
        }
    }
    *value = (int)sum;
    return 1;
}

int read_integer(reader *r, int tree, const char *what, int *value)
{
    if (quick_sum(r, tree, value)) {
        return 1;
    }
    double number;
    if (!read_number(r, tree, 1, what, &number)) {
        return 0;
    }
    if (number != floor(number)) {
        return read_fail_tree(r, tree, "%s must be a whole number, not %.10g", what, number);
    }
    if (fabs(number) > MOST_INDEX) {
        return read_fail_tree(r, tree, "%s of %.10g is too large", what, number);
    }
    *value = (int)number;
    return 1;
}

static int check_index(reader *r, const expr_range *range)
{
    const expr_token *t = &r->tokens.token[range->token];
    read_shown shown = read_show_symbol(r, range->symbol);
    int name = read_name_find(r, range->symbol);
    if (name >= 0) {
        return read_fail(r, range->token, "'%s' cannot be an index: it is a name already (%s)",
                         shown.text, read_show_place(r, r->name[name].token, range->token).text);
    }
    if (read_is_constant(t->text, t->length) || read_is_word(r, range->symbol) ||
        expr_function_find(t->text, t->length) >= 0) {
        return read_fail(r, range->token, "'%s' is reserved and cannot be an index", shown.text);
    }
    for (int i = 0; i < r->scope_count; i++) {
        if (r->scope[i].symbol == range->symbol) {
            return read_fail(r, range->token, "the index '%s' is in use already; take another one",
                             shown.text);
        }
    }
    return 1;
}

static int range_bounds(reader *r, const expr_range *range, int *from, int *to)
{
    if (!read_integer(r, range->from, "the start of a range", from) ||
        !read_integer(r, range->to, "the end of a range", to)) {
        return 0;
    }
    if (*to < *from - 1) { /* 1..0 is an empty range, 1..-1 a mistake */
        return read_fail_tree(r, range->to, "the range %d..%d runs backwards", *from, *to);
    }
    double count = (double)*to - *from + 1;
    if (count > r->limits.members) {
        return read_fail_tree(r, range->to, "the range %d..%d has %.0f members; %.0f is the most",
                              *from, *to, count, r->limits.members);
    }
    return 1;
}

int read_ranges_each(reader *r, int range, int count, int (*visit)(reader *r, void *user),
                     void *user)
{
    if (count == 0) {
        return visit(r, user);
    }
    expr_range now = r->trees.range[range];
    int from, to;
    if (!check_index(r, &now) || !range_bounds(r, &now, &from, &to)) {
        return 0;
    }
    if (r->scope_count == READ_MOST_SCOPE) {
        return read_fail(r, now.token, "there are more than %d indices at a time", READ_MOST_SCOPE);
    }
    int mine = r->scope_count++;
    int ok = 1;
    for (int i = from; i <= to && ok; i++) {
        r->scope[mine] = (read_scope){now.symbol, i};
        if (++r->work > r->limits.work) {
            ok = read_fail(r, now.token, "these families are too large");
        } else {
            ok = read_ranges_each(r, range + 1, count - 1, visit, user);
        }
    }
    r->scope_count = mine;
    return ok;
}

typedef struct each {
    const read_statement *statement;
    read_visit *visit;
} each;

static int each_item(reader *r, void *user)
{
    const each *e = user;
    int count = e->statement->word->whole ? 1 : e->statement->item_count;
    for (int i = 0; i < count; i++) {
        if (!e->visit(r, e->statement, &r->item[e->statement->item + i])) {
            return 0;
        }
    }
    return 1;
}

int read_each(reader *r, const read_statement *statement, read_visit *visit)
{
    each e = {statement, visit};
    if (statement->item_count == 0) {
        return 1;
    }
    int ok = read_ranges_each(r, statement->range, statement->range_count, each_item, &e);
    if (!ok && r->status == ZW_OK && r->pending >= 0) {
        return read_fail(r, r->member[r->pending].token,
                         "definitions need each other more than %d deep; define '%s' in an "
                         "earlier line",
                         READ_MOST_DEEP, read_show_member(r, r->pending).text);
    }
    return ok;
}

/* ---- Parameters --------------------------------------------------------------------------- */

static int declare_param(reader *r, const read_statement *s, const read_item *item)
{
    int member = read_member_add(r, READ_PARAM, s, item, item->target);
    char *name = member < 0 ? NULL : read_member_name(r, member);
    if (name == NULL) {
        return 0;
    }
    model_param *param = model_add_param(r->model);
    if (param == NULL) {
        base_free(name);
        return read_no_memory(r);
    }
    param->name = name;
    param->place = read_place(r, item->target);
    r->member[member].number = r->model->param_count - 1;
    for (int i = 0; i < r->setting_count; i++) {
        if (r->setting[i].name != NULL && strcmp(r->setting[i].name, name) == 0) {
            if (!isfinite(r->setting[i].value)) {
                return read_fail(r, -1,
                                 "the value given for the parameter '%.60s' is not a finite "
                                 "number",
                                 name);
            }
            param->value = r->setting[i].value;
            r->member[member].state = READ_DONE;
        }
    }
    return 1;
}

/* The nearest name, else all of them if they are few. */
static int fail_setting(reader *r, const char *name, const read_guess *guess)
{
    enum { FEW = 12 };
    int count = r->model->param_count;
    read_fail(r, -1, "there is no parameter '%.60s' to set%s", name, read_guess_show(guess).text);
    if (guess->distance == INT_MAX && count == 0) {
        base_fail_more(r->error, "; this file has none");
    }
    for (int k = 0; k < count && count <= FEW && guess->distance == INT_MAX; k++) {
        base_fail_more(r->error, "%s %.30s", k ? "," : "; there are", r->model->param[k].name);
    }
    return 0;
}

/* Every setting must have found its parameter. */
int read_settings(reader *r)
{
    for (int i = 0; i < r->setting_count; i++) {
        const char *name = r->setting[i].name != NULL ? r->setting[i].name : "";
        read_guess guess = read_guess_start(name, (int)strlen(name));
        int found = 0;
        for (int k = 0; k < r->model->param_count && !found; k++) {
            const char *known = r->model->param[k].name;
            found = strcmp(known, name) == 0;
            read_guess_offer(&guess, known, (int)strlen(known));
        }
        int motor = found || r->robot_token < 0 ? 0 : read_robot_setting(r, &r->setting[i]);
        if (motor < 0) {
            return 0;
        }
        if (!found && !motor) {
            return fail_setting(r, name, &guess);
        }
    }
    return 1;
}

/* First those that are not families, as the sizes of families depend on them. */
static int declare_params(reader *r)
{
    for (int families = 0; families < 2; families++) {
        for (int i = 0; i < r->statement_count; i++) {
            const read_statement *s = &r->statement[i];
            if (s->word->parse == read_parse_definitions && s->word->option == READ_PARAM &&
                (s->range_count > 0) == families && !read_each(r, s, declare_param)) {
                return 0;
            }
        }
    }
    return read_settings(r);
}

/* ---- The others --------------------------------------------------------------------------- */

static int declare_coord(reader *r, const read_statement *s, const read_item *item)
{
    int member = read_member_add(r, READ_COORD, s, item, item->target);
    char *name = member < 0 ? NULL : read_member_name(r, member);
    if (name == NULL) {
        return 0;
    }
    model_coord *coord = model_add_coord(r->model);
    if (coord == NULL) {
        base_free(name);
        return read_no_memory(r);
    }
    coord->name = name;
    coord->place = read_place(r, item->target);
    r->member[member].number = r->model->coord_count - 1;
    r->member[member].state = READ_DONE;
    return 1;
}

static int declare_named(reader *r, const read_statement *s, const read_item *item)
{
    int constrains =
        s->word->parse == read_parse_constraint || s->word->parse == read_parse_rolling;
    read_kind kind = constrains                           ? READ_CONSTRAINT
                     : s->word->parse == read_parse_event ? READ_EVENT
                                                          : (read_kind)s->word->option;
    return item->target < 0 || read_member_add(r, kind, s, item, item->target) >= 0;
}

static read_visit *declarer(const read_word *word)
{
    if (word->parse == read_parse_constraint || word->parse == read_parse_event ||
        word->parse == read_parse_rolling) {
        return declare_named;
    }
    if (word->parse != read_parse_definitions || word->option == READ_PARAM ||
        word->make == read_make_speed || word->fit == READ_ROBOTS_ONLY) {
        return NULL;
    }
    return word->option == READ_COORD ? declare_coord : declare_named;
}

int read_declare(reader *r)
{
    r->symbol_count = r->symbols.count;
    r->name_of = base_alloc((size_t)r->symbol_count * sizeof *r->name_of);
    if (r->name_of == NULL) {
        return read_no_memory(r);
    }
    if ((r->robot_name >= 0 && !read_name_robot(r, r->robot_name)) || !read_robot_fits(r) ||
        !declare_params(r) || !read_settle_all(r)) {
        return 0;
    }
    for (int i = 0; i < r->statement_count; i++) {
        read_visit *visit = declarer(r->statement[i].word);
        if (visit != NULL && !read_each(r, &r->statement[i], visit)) {
            return 0;
        }
    }
    return 1;
}

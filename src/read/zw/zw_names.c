/* Names and the members of families: a hash table of (name, indices). */
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "read/zw/zw.h"

int read_symbol_is(const reader *r, int symbol, const char *text)
{
    const expr_symbol *s = &r->symbols.symbol[symbol];
    return strlen(text) == (size_t)s->length && memcmp(s->text, text, (size_t)s->length) == 0;
}

int read_is_constant(const char *text, int length)
{
    static const char *const words[] = {
        "pi",  "e",  "t",   "deg", "inf", "energy", "kinetic_energy", "potential_energy",
        "and", "or", "not", "for"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strlen(words[i]) == (size_t)length && memcmp(words[i], text, (size_t)length) == 0) {
            return 1;
        }
    }
    return 0;
}

int read_name_find(const reader *r, int symbol)
{
    return symbol < r->symbol_count ? r->name_of[symbol] - 1 : -1;
}

/* ---- Members ------------------------------------------------------------------------------ */

static unsigned member_hash(int name, const int *index, int count)
{
    unsigned hash = (unsigned)name * 2654435761u;
    for (int i = 0; i < count; i++) {
        hash = (hash ^ (hash >> 15) ^ (unsigned)index[i]) * 2246822519u;
    }
    return hash ^ (hash >> 13);
}

static int member_is(const reader *r, int member, int name, const int *index)
{
    const read_member *m = &r->member[member];
    return m->name == name &&
           memcmp(m->index, index, (size_t)r->name[name].indices * sizeof *index) == 0;
}

static unsigned member_slot(const reader *r, int name, const int *index)
{
    unsigned mask = (unsigned)r->slot_count - 1;
    unsigned s = member_hash(name, index, r->name[name].indices) & mask;
    while (r->slot[s] != 0 && !member_is(r, r->slot[s] - 1, name, index)) {
        s = (s + 1) & mask;
    }
    return s;
}

int read_member_find(const reader *r, int name, const int *index)
{
    return r->slot_count == 0 ? -1 : r->slot[member_slot(r, name, index)] - 1;
}

static int slots_widen(reader *r)
{
    int wider = r->slot_count == 0 ? 256 : 2 * r->slot_count;
    int *slot = base_alloc((size_t)wider * sizeof *slot);
    if (slot == NULL) {
        return read_no_memory(r);
    }
    base_free(r->slot);
    r->slot = slot;
    r->slot_count = wider;
    for (int i = 0; i < r->member_count; i++) {
        slot[member_slot(r, r->member[i].name, r->member[i].index)] = i + 1;
    }
    return 1;
}

/* ---- Declaring ---------------------------------------------------------------------------- */

static const char *const kind_text[] = {"a parameter",  "a coordinate", "a definition", "a point",
                                        "an imbedding", "a constraint", "an event",     "a robot"};

static int check_free(reader *r, read_kind kind, int token)
{
    const expr_token *t = &r->tokens.token[token];
    read_shown shown = read_show_symbol(r, t->symbol);
    if (read_is_word(r, t->symbol)) {
        return read_fail(r, token, "'%s' begins a statement and cannot be a name", shown.text);
    }
    if (kind != READ_ROBOT && r->robot_name < 0 && read_robot_has(r, t->symbol)) {
        return read_fail(
            r, token,
            "'%s' is a name of the imported robot; give it another name: import \"...\" as robot",
            shown.text);
    }
    if (read_is_constant(t->text, t->length)) {
        return read_fail(r, token, "'%s' is reserved and cannot be a name", shown.text);
    }
    int is_label = kind == READ_CONSTRAINT || kind == READ_EVENT;
    if (!is_label && expr_function_find(t->text, t->length) >= 0) {
        return read_fail(r, token, "'%s' is a function and cannot be a name", shown.text);
    }
    return 1;
}

static int name_add(reader *r, read_kind kind, int token, int indices)
{
    int symbol = r->tokens.token[token].symbol;
    if (!check_free(r, kind, token)) {
        return -1;
    }
    if (!base_list_reserve(&r->name, &r->name_capacity, r->name_count, sizeof *r->name)) {
        read_no_memory(r);
        return -1;
    }
    r->name[r->name_count] = (read_name){.kind = kind,
                                         .symbol = symbol,
                                         .token = token,
                                         .indices = indices,
                                         .member = r->member_count};
    r->name_of[symbol] = ++r->name_count;
    return r->name_count - 1;
}

static int is_definition(read_kind kind)
{
    return kind == READ_LET || kind == READ_POINT;
}

/* coord x for i in 1..3 */
static void fail_again(reader *r, int token)
{
    read_shown shown = read_show_symbol(r, r->tokens.token[token].symbol);
    read_fail(r, token,
              "every index of the range declares the same '%s' again; give it the index, or a "
              "separate line",
              shown.text);
}

/* The name of a member about to be declared: a new one, or an existing family. */
static int name_for(reader *r, read_kind kind, int token, int indices)
{
    int name = read_name_find(r, r->tokens.token[token].symbol);
    if (name < 0) {
        return name_add(r, kind, token, indices);
    }
    const read_name *known = &r->name[name];
    if (known->token == token && indices == 0) {
        fail_again(r, token);
        return -1;
    }
    int alike = known->kind == kind || (is_definition(known->kind) && is_definition(kind));
    if (!alike || indices == 0 || known->indices == 0) {
        read_fail(r, token, "'%s' is %s already (%s); names are unique",
                  read_show_symbol(r, known->symbol).text, kind_text[known->kind],
                  read_show_place(r, known->token, token).text);
        return -1;
    }
    if (known->indices != indices) {
        read_fail(r, token, "the family '%s' has %d %s (%s), not %d",
                  read_show_symbol(r, known->symbol).text, known->indices,
                  known->indices == 1 ? "index" : "indices",
                  read_show_place(r, known->token, token).text, indices);
        return -1;
    }
    return name;
}

int read_name_robot(reader *r, int token)
{
    return name_for(r, READ_ROBOT, token, 0) >= 0;
}

static void name_widen(read_name *name, const int *index)
{
    for (int i = 0; i < name->indices; i++) {
        if (name->count == 0 || index[i] < name->low[i]) {
            name->low[i] = index[i];
        }
        if (name->count == 0 || index[i] > name->high[i]) {
            name->high[i] = index[i];
        }
    }
    name->count++;
}

static int index_values(reader *r, int tree, int *index)
{
    int count = 0;
    for (int k = r->trees.tree[tree].first; k >= 0; k = r->trees.tree[k].next) {
        if (count == READ_MOST_INDICES) {
            read_fail_tree(r, k, "a family has at most %d indices", READ_MOST_INDICES);
            return -1;
        }
        if (!read_integer(r, k, "an index", &index[count])) {
            return -1;
        }
        count++;
    }
    return count;
}

int read_member_add(reader *r, read_kind kind, const read_statement *statement,
                    const read_item *item, int target)
{
    int index[READ_MOST_INDICES] = {0};
    int token = r->trees.tree[target].token;
    if (r->trees.tree[target].kind == EXPR_TREE_PRIME) {
        read_fail(r, token, "a rate cannot be declared; leave the prime out");
        return -1;
    }
    if (r->trees.tree[target].kind == EXPR_TREE_FIELD) {
        read_fail_tree(r, target, "a name that is declared has no dots");
        return -1;
    }
    int indices =
        r->trees.tree[target].kind == EXPR_TREE_INDEX ? index_values(r, target, index) : 0;
    int name = indices < 0 ? -1 : name_for(r, kind, token, indices);
    if (name < 0) {
        return -1;
    }
    int known = read_member_find(r, name, index);
    if (known >= 0 && r->member[known].token == token) {
        fail_again(r, token);
        return -1;
    }
    if (known >= 0) {
        read_shown shown = read_show_member(r, known);
        read_shown where = read_show_place(r, r->member[known].token, token);
        read_fail(r, token, "'%s' is declared twice, first in %s", shown.text, where.text);
        return -1;
    }
    if (2 * (r->member_count + 1) > r->slot_count && !slots_widen(r)) {
        return -1;
    }
    if (!base_list_reserve(&r->member, &r->member_capacity, r->member_count, sizeof *r->member)) {
        read_no_memory(r);
        return -1;
    }
    read_member *m = &r->member[r->member_count];
    *m = (read_member){.name = name,
                       .statement = (int)(statement - r->statement),
                       .item = (int)(item - r->item),
                       .token = token,
                       .number = -1};
    memcpy(m->index, index, sizeof index);
    for (int i = 0; i < statement->range_count; i++) {
        m->at[i] = r->scope[i].value;
    }
    unsigned slot = member_slot(r, name, index);
    r->slot[slot] = ++r->member_count;
    name_widen(&r->name[name], index);
    return r->member_count - 1;
}

/* ---- Using -------------------------------------------------------------------------------- */

static int fail_range(reader *r, int tree, int name, const int *index)
{
    const read_name *n = &r->name[name];
    read_shown shown = read_show_index(r, name, index);
    read_shown low = read_show_index(r, name, n->low);
    read_shown high = read_show_index(r, name, n->high);
    double box = 1;
    for (int i = 0; i < n->indices; i++) {
        box *= (double)n->high[i] - n->low[i] + 1;
    }
    if (n->count == 1) {
        read_fail_tree(r, tree, "there is no '%s'; the family has one member, %s", shown.text,
                       low.text);
    } else {
        read_fail_tree(r, tree, "there is no '%s'; the family has %d members, %s%s to %s",
                       shown.text, n->count, box > n->count ? "not all of " : "", low.text,
                       high.text);
    }
    return -1;
}

/* Parameters are evaluated before other names are declared: the statement that will declare this
 * one, or NULL. */
static const read_statement *declared_later(const reader *r, int symbol)
{
    for (int i = 0; i < r->statement_count; i++) {
        const read_statement *s = &r->statement[i];
        for (int k = 0; k < s->item_count && s->word->parse == read_parse_definitions; k++) {
            const expr_tree *target = &r->trees.tree[r->item[s->item + k].target];
            if (target->kind != EXPR_TREE_PRIME && target->kind != EXPR_TREE_FIELD &&
                s->word->fit != READ_ROBOTS_ONLY && target->symbol == symbol) {
                return s;
            }
        }
    }
    return NULL;
}

static int fail_unknown(reader *r, const expr_tree *node)
{
    read_shown shown = read_show_symbol(r, node->symbol);
    const read_statement *later = r->context.numeric ? declared_later(r, node->symbol) : NULL;
    if (later != NULL && later->word->option == READ_PARAM) {
        read_fail(r, node->token,
                  "'%s' is a family of parameters (%s); the sizes of such families cannot depend "
                  "on each other",
                  shown.text, read_show_place(r, later->token, node->token).text);
        return -1;
    }
    if (later != NULL) {
        read_fail(r, node->token, "'%s' is declared with '%s' (%s); %s is made of parameters only",
                  shown.text, later->word->text, read_show_place(r, later->token, node->token).text,
                  r->context.where);
        return -1;
    }
    read_guess guess = read_guess_name(r, node->symbol);
    read_shown advice = read_guess_show(&guess);
    if (r->context.sizes && shown.text[1] == 0) { /* one letter in an index */
        snprintf(advice.text, sizeof advice.text, "; is 'for %c in 1..n' missing?", shown.text[0]);
    }
    read_fail(r, node->token, "'%s' is not known%s", shown.text,
              advice.text[0] ? advice.text : "; declare it with param, coord or let");
    return -1;
}

int read_member_of(reader *r, int tree)
{
    const expr_tree *node = &r->trees.tree[tree];
    int indexed = node->kind == EXPR_TREE_INDEX;
    if (!indexed && node->kind != EXPR_TREE_NAME) {
        read_fail_tree(r, tree, "expected a name");
        return -1;
    }
    int name = read_name_find(r, node->symbol);
    if (name < 0) {
        return fail_unknown(r, node);
    }
    int token = node->token;
    int index[READ_MOST_INDICES] = {0};
    int count = indexed ? index_values(r, tree, index) : 0;
    if (count < 0) {
        return -1;
    }
    const read_name *n = &r->name[name];
    if (n->kind == READ_ROBOT) {
        read_fail(r, token, "'%s' is a robot; say what of it, as in %s.%s",
                  read_show_symbol(r, node->symbol).text, read_show_symbol(r, node->symbol).text,
                  "hinge");
        return -1;
    }
    if (count != n->indices) {
        read_shown shown = read_show_symbol(r, node->symbol);
        if (n->indices == 0) {
            read_fail_tree(r, tree, "'%s' is not a family (%s); it has no members", shown.text,
                           read_show_place(r, n->token, token).text);
        } else if (count == 0) {
            read_fail(r, token, "'%s' is a family (%s); say which member, as in %s", shown.text,
                      read_show_place(r, n->token, token).text,
                      read_show_index(r, name, n->low).text);
        } else {
            read_fail_tree(r, tree, "the family '%s' has %d %s (%s), not %d", shown.text,
                           n->indices, n->indices == 1 ? "index" : "indices",
                           read_show_place(r, n->token, token).text, count);
        }
        return -1;
    }
    int member = read_member_find(r, name, index);
    return member >= 0 ? member : fail_range(r, tree, name, index);
}

char *read_member_name(reader *r, int member)
{
    const read_member *m = &r->member[member];
    const expr_symbol *s = &r->symbols.symbol[r->name[m->name].symbol];
    read_shown shown = read_show_member(r, member);
    const char *bracket = r->name[m->name].indices > 0 ? strrchr(shown.text, '[') : "";
    char *text = base_alloc((size_t)s->length + strlen(bracket) + 1);
    if (text == NULL) {
        read_no_memory(r);
        return NULL;
    }
    memcpy(text, s->text, (size_t)s->length);
    memcpy(text + s->length, bracket, strlen(bracket));
    return text;
}

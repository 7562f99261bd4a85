/* Parses statements one after the other; and the parts that keywords share. */
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "read/zw/zw.h"

read_item *read_item_add(reader *r, read_statement *s, int target)
{
    if (!base_list_reserve(&r->item, &r->item_capacity, r->item_count, sizeof *r->item)) {
        read_no_memory(r);
        return NULL;
    }
    if (s->item_count++ == 0) {
        s->item = r->item_count;
    }
    read_item *item = &r->item[r->item_count++];
    *item = (read_item){.target = target, .part = {-1, -1, -1, -1, -1, -1}};
    return item;
}

int read_expression(reader *r, expr_parser *p)
{
    int tree = expr_parse(p);
    if (tree < 0) {
        read_fail_fault(r, p->fault);
    }
    return tree;
}

int read_target(reader *r, expr_parser *p)
{
    int tree = expr_parse_target(p);
    if (tree < 0) {
        read_fail_fault(r, p->fault);
    }
    return tree;
}

int read_ranges(reader *r, expr_parser *p, read_statement *s)
{
    s->range_count = expr_parse_ranges(p, &s->range);
    return s->range_count >= 0 ? 1 : read_fail_fault(r, p->fault);
}

int read_take(expr_parser *p, expr_token_kind kind)
{
    int there = p->token[p->next].kind == kind;
    p->next += there;
    return there;
}

int read_take_word(expr_parser *p, const char *word)
{
    int there = expr_parser_at_word(p, word);
    p->next += there;
    return there;
}

int read_is_target(const reader *r, int tree)
{
    int kind = r->trees.tree[tree].kind;
    return kind == EXPR_TREE_NAME || kind == EXPR_TREE_INDEX || kind == EXPR_TREE_FIELD;
}

int read_at_end(const expr_parser *p)
{
    int kind = p->token[p->next].kind;
    return kind == EXPR_TOKEN_NEWLINE || kind == EXPR_TOKEN_END;
}

int read_fail_expected(reader *r, const expr_parser *p, const read_statement *s, const char *what)
{
    char scratch[EXPR_TOKEN_CAPACITY];
    return read_fail(r, p->next, "expected %s, not %s; the syntax is: %s", what,
                     expr_token_show(&p->token[p->next], scratch), s->word->usage);
}

/* ---- A statement -------------------------------------------------------------------------- */

static int fail_word(reader *r, const expr_parser *p)
{
    const expr_token *t = &p->token[p->next];
    char scratch[EXPR_TOKEN_CAPACITY];
    if (t->kind != EXPR_TOKEN_NAME) {
        return read_fail(r, p->next,
                         "a statement begins with a word such as param or coord, not "
                         "with %s",
                         expr_token_show(t, scratch));
    }
    read_guess guess = read_guess_start(t->text, t->length);
    const read_word *word;
    for (int i = 0; (word = read_word_at(i)) != NULL; i++) {
        read_guess_offer(&guess, word->text, (int)strlen(word->text));
    }
    const char *advice = "";
    if (t[1].kind == EXPR_TOKEN_EQUAL) {
        advice = "; a definition is written: let x = ...";
    }
    read_shown shown = read_guess_show(&guess);
    return read_fail(r, p->next, "no statement begins with %s%s", expr_token_show(t, scratch),
                     *advice != 0 ? advice : shown.text);
}

static int fail_rest(reader *r, const expr_parser *p, const read_statement *s)
{
    char scratch[EXPR_TOKEN_CAPACITY];
    const expr_token *t = &p->token[p->next];
    const expr_token *before = t - 1;
    int operand = before->kind == EXPR_TOKEN_NAME || before->kind == EXPR_TOKEN_NUMBER ||
                  before->kind == EXPR_TOKEN_CLOSE || before->kind == EXPR_TOKEN_PRIME ||
                  before->kind == EXPR_TOKEN_CLOSE_SQUARE;
    int another =
        t->kind == EXPR_TOKEN_NAME || t->kind == EXPR_TOKEN_NUMBER || t->kind == EXPR_TOKEN_OPEN;
    if (operand && another) {
        return read_fail(r, p->next,
                         "expected an operator or the end of the line before %s; a "
                         "product is written a*b",
                         expr_token_show(t, scratch));
    }
    return read_fail(r, p->next, "expected the end of the line, not %s; the syntax is: %s",
                     expr_token_show(t, scratch), s->word->usage);
}

static int parse_statement(reader *r, expr_parser *p)
{
    const expr_token *t = &p->token[p->next];
    const read_word *word = t->kind == EXPR_TOKEN_NAME ? read_word_find(r, t->symbol) : NULL;
    if (word == NULL) {
        return fail_word(r, p);
    }
    read_statement s = {.word = word,
                        .token = p->next,
                        .item = -1,
                        .range = -1,
                        .label = -1,
                        .colour = -1,
                        .option = word->option};
    p->next++;
    if (!word->parse(r, p, &s)) {
        return 0;
    }
    if (s.range_count == 0 && !read_ranges(r, p, &s)) {
        return 0;
    }
    if (!read_at_end(p)) {
        return fail_rest(r, p, &s);
    }
    if (!base_list_reserve(&r->statement, &r->statement_capacity, r->statement_count,
                           sizeof *r->statement)) {
        return read_no_memory(r);
    }
    r->statement[r->statement_count++] = s;
    return 1;
}

int read_statements(reader *r, int file)
{
    expr_fault fault = {0};
    expr_parser p = {
        .token = r->tokens.token, .next = r->file_start[file], .trees = &r->trees, .fault = &fault};
    for (;;) {
        if (read_take(&p, EXPR_TOKEN_NEWLINE)) {
            continue;
        }
        if (p.token[p.next].kind == EXPR_TOKEN_END) {
            return 1;
        }
        if (!parse_statement(r, &p)) {
            return 0;
        }
    }
}

/* ---- The words: definitions and mechanics --------------------------------------------------- */

/* x = 1, y = 2; a coord without a value starts at zero */
int read_parse_definitions(reader *r, expr_parser *p, read_statement *s)
{
    do {
        int from = p->next;
        int target = read_target(r, p);
        if (target < 0) {
            return 0;
        }
        int value = -1;
        int optional = s->word->option == READ_COORD && s->word->make == read_make_coord;
        if (read_take(p, EXPR_TOKEN_EQUAL)) {
            value = read_expression(r, p);
            if (value < 0) {
                return 0;
            }
        } else if (!optional) {
            return read_fail_expected(r, p, s, "'='");
        }
        read_item *item = read_item_add(r, s, target);
        if (item == NULL) {
            return 0;
        }
        item->part[0] = value;
        item->from = from;
        item->to = p->next;
    } while (read_take(p, EXPR_TOKEN_COMMA));
    return 1;
}

int read_parse_expression(reader *r, expr_parser *p, read_statement *s)
{
    int tree = read_expression(r, p);
    read_item *item = tree < 0 ? NULL : read_item_add(r, s, -1);
    if (item == NULL) {
        return 0;
    }
    item->part[0] = tree;
    return 1;
}

/* m1 at p1, m2 at p2;  J of th */
int read_parse_at(reader *r, expr_parser *p, read_statement *s)
{
    const char *between = s->word->make == read_make_mass ? "at" : "of";
    do {
        int amount = read_expression(r, p);
        if (amount < 0) {
            return 0;
        }
        if (!read_take_word(p, between)) {
            return read_fail_expected(r, p, s, between);
        }
        int where = read_expression(r, p);
        read_item *item = where < 0 ? NULL : read_item_add(r, s, -1);
        if (item == NULL) {
            return 0;
        }
        item->part[0] = amount;
        item->part[1] = where;
    } while (read_take(p, EXPR_TOKEN_COMMA));
    return 1;
}

/* x: e, y: e   or   (fx, fy) at p */
int read_parse_force(reader *r, expr_parser *p, read_statement *s)
{
    do {
        int tree = read_expression(r, p);
        if (tree < 0) {
            return 0;
        }
        int on_coordinate = read_is_target(r, tree) && read_take(p, EXPR_TOKEN_COLON);
        if (!on_coordinate && !read_take_word(p, "at")) {
            return read_fail_expected(r, p, s, read_is_target(r, tree) ? "':' or at" : "at");
        }
        int other = read_expression(r, p);
        read_item *item = other < 0 ? NULL : read_item_add(r, s, on_coordinate ? tree : -1);
        if (item == NULL) {
            return 0;
        }
        item->part[0] = on_coordinate ? other : tree;
        item->part[1] = on_coordinate ? -1 : other;
    } while (read_take(p, EXPR_TOKEN_COMMA));
    return 1;
}

/* k from p to q length l */
int read_parse_spring(reader *r, expr_parser *p, read_statement *s)
{
    static const char *const words[] = {"from", "to", "length"};
    do {
        int part[4] = {-1, -1, -1, -1};
        part[0] = read_expression(r, p);
        for (int i = 0; i < 3 && part[i] >= 0; i++) {
            int there = read_take_word(p, words[i]);
            if (!there && i < 2) {
                return read_fail_expected(r, p, s, words[i]);
            }
            if (there && i == 2 && s->word->make == read_make_damper) {
                return read_fail(r, p->next - 1,
                                 "a damper has no length; it acts on the rate of "
                                 "the distance");
            }
            if (there) {
                part[i + 1] = read_expression(r, p);
                if (part[i + 1] < 0) {
                    return 0;
                }
            }
        }
        read_item *item = part[0] < 0 ? NULL : read_item_add(r, s, -1);
        if (item == NULL) {
            return 0;
        }
        memcpy(item->part, part, sizeof part);
    } while (read_take(p, EXPR_TOKEN_COMMA));
    return 1;
}

/* `for i in 1..n, j in 1..m`, after statements and inside sums. */
#include "expr/parser.h"

#include "base/list.h"

static const expr_token *next_token(const expr_parser *p)
{
    return &p->token[p->next];
}

static int at(const expr_parser *p, expr_token_kind kind)
{
    return next_token(p)->kind == kind;
}

/* Is `word` two tokens ahead? */
static int word_after_next(expr_parser *p, const char *word)
{
    p->next += 2;
    int yes = expr_parser_at_word(p, word);
    p->next -= 2;
    return yes;
}

static int parse_range(expr_parser *p, expr_range *range)
{
    char scratch[EXPR_TOKEN_CAPACITY];
    const expr_token *token = next_token(p);
    if (token->kind != EXPR_TOKEN_NAME) {
        expr_fault_at(p->fault, token,
                      "expected the name of an index, as in: for i in 1..n; not %s",
                      expr_token_show(token, scratch));
        return 0;
    }
    *range = (expr_range){.token = p->next, .symbol = token->symbol};
    p->next++;
    if (!expr_parser_at_word(p, "in")) {
        expr_fault_at(p->fault, next_token(p), "expected in, as in: for %.*s in 1..n; not %s",
                      token->length < 40 ? token->length : 40, token->text,
                      expr_token_show(next_token(p), scratch));
        return 0;
    }
    p->next++;
    range->from = expr_parse(p);
    if (range->from < 0) {
        return 0;
    }
    if (!at(p, EXPR_TOKEN_DOTS)) {
        expr_fault_at(p->fault, next_token(p), "expected '..', as in: for %.*s in 1..n; not %s",
                      token->length < 40 ? token->length : 40, token->text,
                      expr_token_show(next_token(p), scratch));
        return 0;
    }
    p->next++;
    range->to = expr_parse(p);
    return range->to >= 0;
}

int expr_parse_ranges(expr_parser *p, int *first)
{
    enum { MOST = 3 };
    expr_range range[MOST];
    int count = 0;
    *first = -1;
    if (!expr_parser_at_word(p, "for")) {
        return 0;
    }
    do {
        p->next++; /* for, or the comma */
        if (count == MOST) {
            expr_fault_at(p->fault, next_token(p), "there are more than %d indices", MOST);
            return -1;
        }
        if (!parse_range(p, &range[count])) {
            return -1;
        }
        count++;
    } while (at(p, EXPR_TOKEN_COMMA) && next_token(p)[1].kind == EXPR_TOKEN_NAME &&
             word_after_next(p, "in"));

    expr_trees *trees = p->trees; /* the ranges of inner sums precede these */
    *first = trees->range_count;
    for (int i = 0; i < count; i++) {
        if (!base_list_reserve(&trees->range, &trees->range_capacity, trees->range_count,
                               sizeof *trees->range)) {
            expr_fault_at(p->fault, next_token(p), "out of memory");
            p->fault->status = ZW_NO_MEMORY;
            return -1;
        }
        trees->range[trees->range_count++] = range[i];
    }
    return count;
}

#include "expr/parser.h"

#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "expr/functions.h"

/* Precedence of the operators; a larger rank binds more tightly. */
enum { RANK_NONE, RANK_OR, RANK_AND, RANK_NOT, RANK_COMPARE, RANK_SUM, RANK_PRODUCT, RANK_POWER };

static int parse_rank(expr_parser *p, int above);

void expr_trees_free(expr_trees *trees)
{
    base_free(trees->tree);
    base_free(trees->range);
    *trees = (expr_trees){0};
}

static const expr_token *next_token(const expr_parser *p)
{
    return &p->token[p->next];
}

static int at(const expr_parser *p, expr_token_kind kind)
{
    return next_token(p)->kind == kind;
}

static int token_is_word(const expr_token *token, const char *word)
{
    return token->kind == EXPR_TOKEN_NAME &&
           strncmp(token->text, word, (size_t)token->length) == 0 && word[token->length] == 0;
}

int expr_parser_at_word(const expr_parser *p, const char *word)
{
    return token_is_word(next_token(p), word);
}

static int no_memory(expr_parser *p)
{
    expr_fault_at(p->fault, next_token(p), "out of memory");
    p->fault->status = ZW_NO_MEMORY;
    return -1;
}

/* Adds a node for this token. */
static int tree_add(expr_parser *p, expr_tree_kind kind, int token)
{
    expr_trees *trees = p->trees;
    if (!base_list_reserve(&trees->tree, &trees->capacity, trees->count, sizeof *trees->tree)) {
        return no_memory(p);
    }
    trees->tree[trees->count] = (expr_tree){.kind = (unsigned char)kind,
                                            .token = token,
                                            .joint_token = token,
                                            .from = token,
                                            .to = token + 1,
                                            .first = -1,
                                            .next = -1,
                                            .symbol = -1,
                                            .function = -1,
                                            .range = -1};
    return trees->count++;
}

/* Appends a child; `last` is the previous one. */
static void tree_hang(expr_parser *p, int parent, int *last, int child)
{
    expr_tree *tree = p->trees->tree;
    if (*last < 0) {
        tree[parent].first = child;
    } else {
        tree[*last].next = child;
    }
    tree[parent].count++;
    *last = child;
}

/* ---- Brackets ----------------------------------------------------------------------------- */

/* An expression inside brackets or the like, which increases the height of the tree. */
static int parse_nested(expr_parser *p, int above)
{
    if (p->nested >= EXPR_MOST_NESTED) {
        expr_fault_at(p->fault, next_token(p),
                      "the expression is nested more than %d deep; name a part of it with let",
                      EXPR_MOST_NESTED);
        return -1;
    }
    p->nested++;
    int tree = parse_rank(p, above);
    p->nested--;
    return tree;
}

static int expect_close(expr_parser *p, expr_token_kind close, int open)
{
    if (at(p, close)) {
        p->next++;
        return 1;
    }
    char scratch[EXPR_TOKEN_CAPACITY];
    const expr_token *token = next_token(p);
    const expr_token *before = &p->token[open];
    const char *mark = close == EXPR_TOKEN_CLOSE ? ")" : close == EXPR_TOKEN_BAR ? "|" : "]";
    if (token->kind == EXPR_TOKEN_NEWLINE || token->kind == EXPR_TOKEN_END) {
        expr_fault_at(p->fault, before, "this '%.1s' is never closed", before->text);
    } else if (token->kind == EXPR_TOKEN_EQUAL) {
        expr_fault_at(p->fault, token, "'=' is not allowed inside brackets; to compare, write ==");
    } else if (token->kind == EXPR_TOKEN_NAME || token->kind == EXPR_TOKEN_NUMBER ||
               token->kind == EXPR_TOKEN_OPEN) {
        expr_fault_at(p->fault, token,
                      "expected an operator or '%s' before %s; a product is written a*b", mark,
                      expr_token_show(token, scratch));
    } else {
        expr_fault_at(p->fault, token, "expected '%s' to close the '%.1s' of column %d, not %s",
                      mark, before->text, before->column, expr_token_show(token, scratch));
    }
    return 0;
}

/* Children up to the closing bracket; the opening one has been read. */
static int parse_list(expr_parser *p, int parent, expr_token_kind close, int open)
{
    int last = -1;
    for (;;) {
        int child = parse_nested(p, RANK_NONE);
        if (child < 0) {
            return -1;
        }
        tree_hang(p, parent, &last, child);
        if (!at(p, EXPR_TOKEN_COMMA)) {
            break;
        }
        p->next++;
    }
    if (p->trees->tree[parent].kind == EXPR_TREE_CALL && expr_parser_at_word(p, "for")) {
        int range;
        int count = expr_parse_ranges(p, &range);
        if (count < 0) {
            return -1;
        }
        p->trees->tree[parent].range = range;
        p->trees->tree[parent].range_count = count;
    }
    if (!expect_close(p, close, open)) {
        return -1;
    }
    p->trees->tree[parent].to = p->next;
    return parent;
}

/* (a) is a, (a, b) a vector. */
static int parse_parenthesis(expr_parser *p)
{
    int open = p->next++;
    int first = parse_nested(p, RANK_NONE);
    if (first < 0) {
        return -1;
    }
    if (!at(p, EXPR_TOKEN_COMMA)) {
        return expect_close(p, EXPR_TOKEN_CLOSE, open) ? first : -1;
    }
    int vector = tree_add(p, EXPR_TREE_VECTOR, open);
    int last = -1;
    if (vector < 0) {
        return -1;
    }
    tree_hang(p, vector, &last, first);
    while (at(p, EXPR_TOKEN_COMMA)) {
        p->next++;
        int child = parse_nested(p, RANK_NONE);
        if (child < 0) {
            return -1;
        }
        tree_hang(p, vector, &last, child);
    }
    if (!expect_close(p, EXPR_TOKEN_CLOSE, open)) {
        return -1;
    }
    p->trees->tree[vector].to = p->next;
    return vector;
}

static int parse_norm(expr_parser *p)
{
    int open = p->next++;
    int inner = parse_nested(p, RANK_NONE);
    int norm = inner < 0 ? -1 : tree_add(p, EXPR_TREE_NORM, open);
    if (norm < 0 || !expect_close(p, EXPR_TOKEN_BAR, open)) {
        return -1;
    }
    int last = -1;
    tree_hang(p, norm, &last, inner);
    p->trees->tree[norm].to = p->next;
    return norm;
}

/* ---- Names -------------------------------------------------------------------------------- */

static int parse_index(expr_parser *p)
{
    int tree = tree_add(p, EXPR_TREE_INDEX, p->next);
    if (tree < 0) {
        return -1;
    }
    p->trees->tree[tree].symbol = next_token(p)->symbol;
    p->next += 2;
    return parse_list(p, tree, EXPR_TOKEN_CLOSE_SQUARE, p->next - 1);
}

static int parse_call(expr_parser *p, int function)
{
    int tree = tree_add(p, EXPR_TREE_CALL, p->next);
    if (tree < 0) {
        return -1;
    }
    p->trees->tree[tree].symbol = next_token(p)->symbol;
    p->trees->tree[tree].function = function;
    p->next += 2;
    if (at(p, EXPR_TOKEN_CLOSE)) {
        p->trees->tree[tree].to = ++p->next;
        return tree;
    }
    return parse_list(p, tree, EXPR_TOKEN_CLOSE, p->next - 1);
}

/* A name, a member or a call. With a blank before the bracket, only functions are called: in
 * `draw line p (0,0)` there are two points. */
static int parse_name(expr_parser *p)
{
    const expr_token *token = next_token(p);
    const expr_token *after = token + 1;
    if (after->kind == EXPR_TOKEN_OPEN_SQUARE) {
        return parse_index(p);
    }
    if (after->kind == EXPR_TOKEN_OPEN) {
        int function = expr_function_find(token->text, token->length);
        if (function >= 0 || !token->blank_after) {
            return parse_call(p, function);
        }
    }
    int tree = tree_add(p, EXPR_TREE_NAME, p->next);
    if (tree >= 0) {
        p->trees->tree[tree].symbol = token->symbol;
        p->next++;
    }
    return tree;
}

static int parse_primes(expr_parser *p, int inner)
{
    int first = p->next;
    int count = 0;
    while (at(p, EXPR_TOKEN_PRIME) && !next_token(p)->blank_before) {
        p->next++;
        count++;
    }
    if (count > EXPR_MOST_PRIMES) {
        expr_fault_at(p->fault, &p->token[first], "%d primes are too many", count);
        return -1;
    }
    int tree = tree_add(p, EXPR_TREE_PRIME, first);
    if (tree >= 0) {
        p->trees->tree[tree].first = inner;
        p->trees->tree[tree].count = count;
        p->trees->tree[tree].from = p->trees->tree[inner].from;
        p->trees->tree[tree].to = p->next;
    }
    return tree;
}

static int parse_field(expr_parser *p, int inner)
{
    int tree = tree_add(p, EXPR_TREE_FIELD, ++p->next);
    if (tree >= 0) {
        p->trees->tree[tree].symbol = next_token(p)->symbol;
        p->trees->tree[tree].first = inner;
        p->trees->tree[tree].from = p->trees->tree[inner].from;
        p->next++;
    }
    return tree;
}

/* Primes and components after an operand. */
static int parse_postfix(expr_parser *p, int inner)
{
    for (int count = 0; inner >= 0; count++) {
        const expr_token *token = next_token(p);
        int prime = token->kind == EXPR_TOKEN_PRIME;
        int field = token->kind == EXPR_TOKEN_DOT && !token->blank_before && !token->blank_after &&
                    token[1].kind == EXPR_TOKEN_NAME;
        if (prime && token->blank_before) {
            expr_fault_at(p->fault, token,
                          "a prime must follow directly on what it differentiates");
            return -1;
        }
        if (!prime && !field) {
            break;
        }
        if (count >= EXPR_MOST_PRIMES) {
            expr_fault_at(p->fault, token, "too many primes and components in a row");
            return -1;
        }
        inner = prime ? parse_primes(p, inner) : parse_field(p, inner);
    }
    return inner;
}

/* ---- Operators ---------------------------------------------------------------------------- */

static int parse_prefix(expr_parser *p, expr_tree_kind kind, int above)
{
    int token = p->next++;
    int inner = parse_nested(p, above);
    int tree = inner < 0 ? -1 : tree_add(p, kind, token);
    int last = -1;
    if (tree >= 0) {
        tree_hang(p, tree, &last, inner);
        p->trees->tree[tree].to = p->next;
    }
    return tree;
}

static int fail_operand(expr_parser *p)
{
    char scratch[EXPR_TOKEN_CAPACITY];
    const expr_token *token = next_token(p);
    if (token->kind == EXPR_TOKEN_STRING) {
        expr_fault_at(p->fault, token, "a text is not allowed in a formula");
    } else if (token->kind == EXPR_TOKEN_EQUAL && p->next > 0 &&
               p->token[p->next - 1].kind == EXPR_TOKEN_EQUAL) {
        expr_fault_at(p->fault, token, "to compare, write == without a blank");
    } else if ((token->kind == EXPR_TOKEN_NEWLINE || token->kind == EXPR_TOKEN_END) &&
               p->next > 0) {
        expr_fault_at(p->fault, token - 1, "expected a number, a name or a '(' after %s",
                      expr_token_show(token - 1, scratch));
    } else {
        expr_fault_at(p->fault, token, "expected a number, a name or a '(', not %s",
                      expr_token_show(token, scratch));
    }
    return -1;
}

static int parse_operand(expr_parser *p)
{
    const expr_token *token = next_token(p);
    switch (token->kind) {
    case EXPR_TOKEN_NUMBER: {
        int tree = tree_add(p, EXPR_TREE_NUMBER, p->next);
        if (tree >= 0) {
            p->trees->tree[tree].number = token->number;
            p->next++;
        }
        return tree;
    }
    case EXPR_TOKEN_OPEN:
        return parse_parenthesis(p);
    case EXPR_TOKEN_BAR:
        return parse_norm(p);
    case EXPR_TOKEN_MINUS:
        return parse_prefix(p, EXPR_TREE_MINUS, RANK_PRODUCT);
    case EXPR_TOKEN_PLUS:
        p->next++;
        return parse_nested(p, RANK_PRODUCT);
    case EXPR_TOKEN_NAME:
        if (token_is_word(token, "not")) {
            return parse_prefix(p, EXPR_TREE_NOT, RANK_NOT);
        }
        if (token_is_word(token, "and") || token_is_word(token, "or") ||
            token_is_word(token, "for")) {
            return fail_operand(p);
        }
        return parse_name(p);
    default:
        return fail_operand(p);
    }
}

/* `a x b` is a cross product where an operator may stand, with blanks around and an operand after;
 * else x is a name: `plot phase x x'`. */
static int at_cross(const expr_parser *p)
{
    const expr_token *token = next_token(p);
    if (!token_is_word(token, "x") || !token->blank_before || !token->blank_after) {
        return 0;
    }
    const expr_token *after = token + 1;
    switch (after->kind) {
    case EXPR_TOKEN_NAME:
        return !token_is_word(after, "for") && !token_is_word(after, "and") &&
               !token_is_word(after, "or");
    case EXPR_TOKEN_MINUS:
        return !after->blank_after;
    default:
        return after->kind == EXPR_TOKEN_NUMBER || after->kind == EXPR_TOKEN_OPEN ||
               after->kind == EXPR_TOKEN_BAR;
    }
}

static const struct {
    expr_token_kind token;
    int rank;
    expr_joint joint;
} operators[] = {
    {EXPR_TOKEN_PLUS, RANK_SUM, EXPR_JOINT_PLUS},
    {EXPR_TOKEN_MINUS, RANK_SUM, EXPR_JOINT_MINUS},
    {EXPR_TOKEN_STAR, RANK_PRODUCT, EXPR_JOINT_TIMES},
    {EXPR_TOKEN_SLASH, RANK_PRODUCT, EXPR_JOINT_OVER},
    {EXPR_TOKEN_DOT, RANK_PRODUCT, EXPR_JOINT_DOT},
    {EXPR_TOKEN_CARET, RANK_POWER, EXPR_JOINT_NONE},
    {EXPR_TOKEN_LESS, RANK_COMPARE, EXPR_JOINT_LESS},
    {EXPR_TOKEN_LESS_EQUAL, RANK_COMPARE, EXPR_JOINT_LESS_EQUAL},
    {EXPR_TOKEN_GREATER, RANK_COMPARE, EXPR_JOINT_GREATER},
    {EXPR_TOKEN_GREATER_EQUAL, RANK_COMPARE, EXPR_JOINT_GREATER_EQUAL},
    {EXPR_TOKEN_EQUAL_EQUAL, RANK_COMPARE, EXPR_JOINT_EQUAL},
    {EXPR_TOKEN_NOT_EQUAL, RANK_COMPARE, EXPR_JOINT_NOT_EQUAL},
};

/* The operator that comes next: its rank, or RANK_NONE. */
static int next_operator(const expr_parser *p, expr_joint *joint)
{
    const expr_token *token = next_token(p);
    *joint = EXPR_JOINT_NONE;
    if (token->kind == EXPR_TOKEN_NAME) {
        int cross = at_cross(p);
        int and = token_is_word(token, "and");
        int or = token_is_word(token, "or");
        *joint = cross ? EXPR_JOINT_CROSS : and? EXPR_JOINT_AND : EXPR_JOINT_OR;
        return cross ? RANK_PRODUCT : and? RANK_AND : or ? RANK_OR : RANK_NONE;
    }
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (operators[i].token == token->kind) {
            *joint = operators[i].joint;
            return operators[i].rank;
        }
    }
    return RANK_NONE;
}

static int check_dot(expr_parser *p)
{
    const expr_token *token = next_token(p);
    if (token->kind == EXPR_TOKEN_DOT && !(token->blank_before && token->blank_after)) {
        expr_fault_at(p->fault, token,
                      "a dot product has blanks on both sides, a . b; a component "
                      "has none, p.x");
        return 0;
    }
    return 1;
}

static int parse_power(expr_parser *p, int base)
{
    int token = p->next++;
    int exponent = parse_nested(p, RANK_PRODUCT);
    int tree = exponent < 0 ? -1 : tree_add(p, EXPR_TREE_POWER, token);
    int last = -1;
    if (tree >= 0) {
        tree_hang(p, tree, &last, base);
        tree_hang(p, tree, &last, exponent);
        p->trees->tree[tree].from = p->trees->tree[base].from;
        p->trees->tree[tree].to = p->next;
    }
    return tree;
}

/* All operands of one rank, joined. */
static int parse_chain(expr_parser *p, int left, int rank)
{
    static const expr_tree_kind kinds[] = {[RANK_OR] = EXPR_TREE_OR,
                                           [RANK_AND] = EXPR_TREE_AND,
                                           [RANK_COMPARE] = EXPR_TREE_COMPARE,
                                           [RANK_SUM] = EXPR_TREE_SUM,
                                           [RANK_PRODUCT] = EXPR_TREE_PRODUCT};
    int chain = tree_add(p, kinds[rank], p->next);
    int last = -1;
    if (chain < 0) {
        return -1;
    }
    tree_hang(p, chain, &last, left);
    expr_joint joint;
    while (next_operator(p, &joint) == rank) {
        if (!check_dot(p)) {
            return -1;
        }
        if (rank == RANK_COMPARE && p->trees->tree[chain].count == 2) {
            expr_fault_at(p->fault, next_token(p),
                          "comparisons cannot be chained; write a < b and b < c");
            return -1;
        }
        int token = p->next++;
        int right = parse_rank(p, rank);
        if (right < 0) {
            return -1;
        }
        p->trees->tree[right].joint = (unsigned char)joint;
        p->trees->tree[right].joint_token = token;
        tree_hang(p, chain, &last, right);
    }
    p->trees->tree[chain].from = p->trees->tree[left].from;
    p->trees->tree[chain].to = p->next;
    return chain;
}

/* An expression of operators that bind more tightly than `above`. */
static int parse_rank(expr_parser *p, int above)
{
    int left = parse_postfix(p, parse_operand(p));
    while (left >= 0) {
        expr_joint joint;
        int rank = next_operator(p, &joint);
        if (rank <= above) {
            break;
        }
        left = rank == RANK_POWER ? parse_power(p, left) : parse_chain(p, left, rank);
    }
    return left;
}

int expr_parse(expr_parser *p)
{
    return parse_nested(p, RANK_NONE);
}

/* ---- Targets ------------------------------------------------------------------------------ */

int expr_parse_target(expr_parser *p)
{
    char scratch[EXPR_TOKEN_CAPACITY];
    if (!at(p, EXPR_TOKEN_NAME)) {
        expr_fault_at(p->fault, next_token(p), "expected a name, not %s",
                      expr_token_show(next_token(p), scratch));
        return -1;
    }
    int tree;
    if (next_token(p)[1].kind == EXPR_TOKEN_OPEN_SQUARE) {
        tree = parse_index(p);
    } else {
        tree = tree_add(p, EXPR_TREE_NAME, p->next);
        if (tree >= 0) {
            p->trees->tree[tree].symbol = next_token(p)->symbol;
            p->next++;
        }
    }
    if (tree >= 0 && (at(p, EXPR_TOKEN_PRIME) || at(p, EXPR_TOKEN_DOT))) {
        tree = parse_postfix(p, tree);
    }
    return tree;
}

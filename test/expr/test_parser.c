/* Syntax trees, written out with all their brackets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "expr/parser.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct parsed {
    expr_symbols symbols;
    expr_tokens tokens;
    expr_trees trees;
    expr_fault fault;
    int root, next;
} parsed;

static parsed parse(const char *text)
{
    parsed p = {.root = -1};
    zw_status status = expr_lex(text, 0, &p.symbols, &p.tokens, &p.fault);
    assert_int_equal(status, ZW_OK);
    expr_parser parser = {.token = p.tokens.token, .trees = &p.trees, .fault = &p.fault};
    p.root = expr_parse(&parser);
    p.next = parser.next;
    return p;
}

static void parsed_free(parsed *p)
{
    expr_symbols_free(&p->symbols);
    expr_trees_free(&p->trees);
    base_free(p->tokens.token);
}

static void show(const parsed *p, int tree, char *out)
{
    static const char *const joint[] = {"",   "+", "-",  "*",  "/",  ".", "x", "<",
                                        "<=", ">", ">=", "==", "!=", "&", "or"};
    const expr_tree *t = &p->trees.tree[tree];
    const expr_token *token = &p->tokens.token[t->token];
    const char *before = "(", *after = ")", *between = " ";
    char head[60] = "";
    switch (t->kind) {
    case EXPR_TREE_NUMBER:
    case EXPR_TREE_NAME:
        strncat(out, token->text, (size_t)token->length);
        return;
    case EXPR_TREE_INDEX:
    case EXPR_TREE_CALL:
        snprintf(head, sizeof head, "%.*s", token->length, token->text);
        before = t->kind == EXPR_TREE_INDEX ? "[" : "(";
        after = t->kind == EXPR_TREE_INDEX ? "]" : ")";
        between = ",";
        break;
    case EXPR_TREE_FIELD:
        show(p, t->first, out);
        strcat(out, ".");
        strncat(out, token->text, (size_t)token->length);
        return;
    case EXPR_TREE_PRIME:
        show(p, t->first, out);
        strncat(out, "''''''''", (size_t)t->count);
        return;
    case EXPR_TREE_VECTOR:
        snprintf(head, sizeof head, "v");
        break;
    case EXPR_TREE_NORM:
        before = after = "|";
        break;
    case EXPR_TREE_MINUS:
        snprintf(head, sizeof head, "-");
        break;
    case EXPR_TREE_NOT:
        snprintf(head, sizeof head, "!");
        break;
    case EXPR_TREE_POWER:
        between = "^";
        break;
    default:
        break;
    }
    strcat(out, head);
    strcat(out, before);
    for (int k = t->first; k >= 0; k = p->trees.tree[k].next) {
        int mark = p->trees.tree[k].joint;
        strcat(out, k == t->first ? "" : mark ? joint[mark] : between);
        show(p, k, out);
    }
    for (int i = 0; i < t->range_count; i++) {
        const expr_range *r = &p->trees.range[t->range + i];
        strcat(out, ";");
        show(p, r->from, out);
        strcat(out, "..");
        show(p, r->to, out);
    }
    strcat(out, after);
}

static void assert_tree(const char *text, const char *wanted)
{
    parsed p = parse(text);
    if (p.root < 0) {
        print_error("%s: %s\n", text, p.fault.text);
    }
    assert_true(p.root >= 0);
    char got[1000] = "";
    show(&p, p.root, got);
    assert_string_equal(got, wanted);
    assert_int_equal(p.tokens.token[p.next].kind, EXPR_TOKEN_NEWLINE);
    const expr_tree *root = &p.trees.tree[p.root]; /* first and last token, but for brackets */
    assert_true(root->from >= 0 && root->to <= p.next && root->from < root->to);
    parsed_free(&p);
}

static void operators_bind_as_on_paper(void **state)
{
    (void)state;
    assert_tree("a + b*c", "(a+(b*c))");
    assert_tree("a - b - c", "(a-b-c)");
    assert_tree("a/b*c", "(a/b*c)");
    assert_tree("a^b^c", "(a^(b^c))");
    assert_tree("-a^2", "-((a^2))");
    assert_tree("(-a)^2", "(-(a)^2)");
    assert_tree("a^-b^c", "(a^-((b^c)))");
    assert_tree("-a*b", "(-(a)*b)");
    assert_tree("a*-b", "(a*-(b))");
    assert_tree("- -a", "-(-(a))");
    assert_tree("+a + b", "(a+b)");
    assert_tree("a < b + 1 and not c == d or e", "(((a<(b+1))&!((c==d)))ore)");
    assert_tree("not a and b", "(!(a)&b)");
    assert_tree("a >= b", "(a>=b)");
    assert_tree("a != b or c <= d", "((a!=b)or(c<=d))");
}

static void vectors_and_norms(void **state)
{
    (void)state;
    assert_tree("(a)", "a");
    assert_tree("(a, b)", "v(a b)");
    assert_tree("(a, b + 1, c)*2", "(v(a (b+1) c)*2)");
    assert_tree("|a|", "|a|");
    assert_tree("|a - b|^2", "(|(a-b)|^2)");
    assert_tree("||a| - |b||", "|(|a|-|b|)|");
    assert_tree("|a|*|b|", "(|a|*|b|)");
    assert_tree("a . b", "(a.b)");
    assert_tree("a.x . b.y", "(a.x.b.y)");
    assert_tree("2*a . b/c", "(2*a.b/c)");
    assert_tree("a x b", "(axb)");
    assert_tree("x x x", "(xxx)");
    assert_tree("a x (b, c)", "(axv(b c))");
    assert_tree("a x -b", "(ax-(b))");
}

static void what_follows_a_name(void **state)
{
    (void)state;
    assert_tree("x''", "x''");
    assert_tree("p[i-1]'", "p[(i-1)]'");
    assert_tree("p[i, 2*j].x'", "p[i,(2*j)].x'");
    assert_tree("p'.x", "p'.x");
    assert_tree("(a*b)'", "(a*b)'");
    assert_tree("f(a, b)", "f(a,b)");
    assert_tree("sin (a)", "sin(a)");
    assert_tree("f()", "f()");
    assert_tree("sum(x[i] for i in 1..n, j in 0..i-1)", "sum(x[i];1..n;0..(i-1))");
}

/* Where one expression ends and the next begins in a list without commas. */
static void lists_without_commas(void **state)
{
    (void)state;
    static const struct {
        const char *text, *first;
        int next; /* the token after the first expression */
    } lists[] = {{"x x'", "x", 1},
                 {"y x", "y", 1},
                 {"p (0, 0)", "p", 1},
                 {"(0, 0) (x, y)", "v(0 0)", 5},
                 {"p1 p2", "p1", 1},
                 {"p |q|", "p", 1},
                 {"y x for i in 1..2", "y", 1},
                 {"a x , b", "a", 1},
                 {"a x - 1", "a", 1}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        parsed p = parse(lists[i].text);
        char got[200] = "";
        assert_true(p.root >= 0);
        show(&p, p.root, got);
        assert_string_equal(got, lists[i].first);
        assert_int_equal(p.next, lists[i].next);
        parsed_free(&p);
    }
}

/* A chain is one node: ten thousand terms make a tree of height two. */
static void chains_are_flat(void **state)
{
    (void)state;
    enum { TERMS = 10000 };
    char *text = calloc(TERMS, 5);
    assert_non_null(text);
    for (int i = 0; i < TERMS; i++) {
        memcpy(text + 4 * i, i + 1 < TERMS ? "a + " : "a   ", 4);
    }
    parsed p = parse(text);
    assert_true(p.root >= 0);
    assert_int_equal(p.trees.tree[p.root].count, TERMS);
    parsed_free(&p);
    free(text);
}

static void assert_fault(const char *text, int column, const char *message)
{
    parsed p = parse(text);
    assert_int_equal(p.root, -1);
    assert_string_equal(p.fault.text, message);
    assert_int_equal(p.fault.column, column);
    parsed_free(&p);
}

static void mistakes_are_placed(void **state)
{
    (void)state;
    assert_fault("a + ", 3, "expected a number, a name or a '(' after '+'");
    assert_fault("a + * b", 5, "expected a number, a name or a '(', not '*'");
    assert_fault("(a b)", 4, "expected an operator or ')' before 'b'; a product is written a*b");
    assert_fault("|a", 1, "this '|' is never closed");
    assert_fault("f(a, )", 6, "expected a number, a name or a '(', not ')'");
    assert_fault("a < b < c", 7, "comparisons cannot be chained; write a < b and b < c");
    assert_fault("x '", 3, "a prime must follow directly on what it differentiates");
    assert_fault("a. b", 2,
                 "a dot product has blanks on both sides, a . b; a component has none, p.x");
}

static void depth_has_a_limit(void **state)
{
    (void)state;
    enum { DEEP = 5000 };
    static char text[2 * DEEP + 2];
    static const char *const units[] = {"-", "x^", "|", "not "};
    for (size_t u = 0; u < 4; u++) {
        size_t used = 0, length = strlen(units[u]);
        while (used + length < DEEP) {
            memcpy(text + used, units[u], length);
            used += length;
        }
        strcpy(text + used, "x");
        parsed p = parse(text);
        assert_int_equal(p.root, -1);
        assert_string_equal(
            p.fault.text,
            "the expression is nested more than 200 deep; name a part of it with let");
        parsed_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_bind_as_on_paper),
        cmocka_unit_test(vectors_and_norms),
        cmocka_unit_test(what_follows_a_name),
        cmocka_unit_test(lists_without_commas),
        cmocka_unit_test(chains_are_flat),
        cmocka_unit_test(mistakes_are_placed),
        cmocka_unit_test(depth_has_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

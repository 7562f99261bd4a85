/* Tokens: kinds, places, blanks, continued lines, and input that is not text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "expr/lexer.h"

#include <locale.h>
#include <string.h>

typedef struct lexed {
    expr_symbols symbols;
    expr_tokens tokens;
    expr_fault fault;
    zw_status status;
} lexed;

static lexed lex(const char *text)
{
    lexed l = {.status = ZW_OK};
    l.status = expr_lex(text, 0, &l.symbols, &l.tokens, &l.fault);
    return l;
}

static void lexed_free(lexed *l)
{
    expr_symbols_free(&l->symbols);
    base_free(l->tokens.token);
}

/* The kinds of the tokens as letters: N name, 1 number, S string, n newline, . the end, or the mark
 * itself; two-letter marks by their first letter in words. */
static void assert_kinds(const char *text, const char *kinds)
{
    static const char letter[] = {'.', 'n', '1', 'N', 'S', '+', '-', '*', '/',
                                  '^', 'd', '<', 'l', '>', 'g', 'e', 'u', '=',
                                  '(', '[', ',', ':', ')', ']', '|', 'r', '\''};
    lexed l = lex(text);
    assert_int_equal(l.status, ZW_OK);
    char got[200] = "";
    for (int i = 0; i < l.tokens.count; i++) {
        got[i] = letter[l.tokens.token[i].kind];
    }
    assert_string_equal(got, kinds);
    lexed_free(&l);
}

static void marks_are_distinguished(void **state)
{
    (void)state;
    assert_kinds("", ".");
    assert_kinds("x", "Nn.");
    assert_kinds("a+b-c*d/e^f", "N+N-N*N/N^Nn.");
    assert_kinds("a<b<=c>d>=e==f!=g=h", "N<NlN>NgNeNuN=Nn.");
    assert_kinds("x'' [1] (2, 3): |y| \"text\"", "N''[1](1,1):|N|Sn.");
    assert_kinds("1..n", "1rNn.");
    assert_kinds("p.x . q", "NdNdNn.");
    assert_kinds("1.5 .5 2. 1e3 1.e-3", "11111n.");
    assert_kinds("x # a comment + \n y", "NnNn.");
}

static void lines_go_on(void **state)
{
    (void)state;
    assert_kinds("a\nb", "NnNn.");
    assert_kinds("a\n\n\n# c\n\nb\n", "NnNn.");
    assert_kinds("a +\nb", "N+Nn.");
    assert_kinds("a, # why\n\n  b", "N,Nn.");
    assert_kinds("(a\nb)\nc", "(NN)nNn.");
    assert_kinds("a[1\n]", "N[1]n.");
    assert_kinds("|a|\nb", "|N|nNn.");
    assert_kinds("a'\nb", "N'nNn.");
    assert_kinds("a:\nb", "N:Nn.");
    assert_kinds("a\r\nb\r\n", "NnNn.");
    assert_kinds("\xef\xbb\xbf"
                 "a",
                 "Nn.");
}

static void tokens_know_their_place(void **state)
{
    (void)state;
    lexed l = lex("ab = 2\n\t\"\xc3\xa4\" cd ef");
    const expr_token *t = l.tokens.token;
    assert_int_equal(l.status, ZW_OK);
    assert_true(t[0].line == 1 && t[0].column == 1 && t[0].length == 2 && t[0].begins_line);
    assert_true(t[2].line == 1 && t[2].column == 6 && t[2].number == 2 && !t[2].begins_line);
    assert_true(t[4].kind == EXPR_TOKEN_STRING && t[4].line == 2 && t[4].column == 2);
    assert_true(t[4].length == 4 && t[4].begins_line);
    assert_true(t[5].column == 6); /* columns count characters, not bytes */
    assert_true(t[5].blank_before && t[5].blank_after && t[4].blank_before);
    assert_true(t[5].symbol != t[6].symbol);
    lexed_free(&l);
}

static void same_spelling_same_symbol(void **state)
{
    (void)state;
    char text[6000] = "";
    for (int i = 0; i < 1000; i++) { /* every name twice, through all growing of the table */
        size_t used = strlen(text);
        text[used] = (char)('a' + i % 500 % 26);
        text[used + 1] = (char)('a' + i % 500 / 26 % 26);
        text[used + 2] = ' ';
    }
    lexed l = lex(text);
    assert_int_equal(l.status, ZW_OK);
    assert_int_equal(l.symbols.count, 500);
    for (int i = 0; i < 500; i++) {
        assert_int_equal(l.tokens.token[i].symbol, l.tokens.token[i + 500].symbol);
    }
    assert_int_equal(expr_symbol_find(&l.symbols, "aa", 2), 0);
    assert_int_equal(expr_symbol_find(&l.symbols, "aaa", 3), -1);
    lexed_free(&l);
}

/* 1.5 is 1.5 wherever the user lives. */
static void numbers_do_not_depend_on_the_locale(void **state)
{
    (void)state;
    const char *tried[] = {"C", "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
    for (size_t i = 0; i < 4; i++) {
        if (setlocale(LC_NUMERIC, tried[i]) != NULL) {
            lexed l = lex("1.5 2.25e2");
            assert_true(l.tokens.token[0].number == 1.5 && l.tokens.token[1].number == 225);
            lexed_free(&l);
        }
    }
    setlocale(LC_NUMERIC, "C");
}

static void assert_fault(const char *text, int line, int column, const char *message)
{
    lexed l = lex(text);
    assert_int_equal(l.status, ZW_BAD_INPUT);
    assert_string_equal(l.fault.text, message);
    assert_int_equal(l.fault.line, line);
    assert_int_equal(l.fault.column, column);
    lexed_free(&l);
}

static void what_is_no_text_is_refused(void **state)
{
    (void)state;
    assert_fault("a\n  \x01", 2, 3, "the control character 0x01 is not allowed in a text");
    assert_fault("# \xff", 1, 3, "the byte 0xff is not UTF-8; is this a text file?");
    assert_fault("# \xc3", 1, 3, "the byte 0xc3 is not UTF-8; is this a text file?");
    assert_fault("# \xc0\xaf", 1, 3, "the byte 0xc0 is not UTF-8; is this a text file?");
    assert_fault("# \xed\xa0\x80", 1, 3, "the byte 0xed is not UTF-8; is this a text file?");
    assert_fault("a ) b", 1, 3, "this ')' closes nothing");
    assert_fault("a ( b", 1, 3, "this '(' is never closed");
    assert_fault("3x", 1, 1,
                 "a name cannot begin with a number; a product is written with a star: 3*x");
}

static void utf8_is_measured(void **state)
{
    (void)state;
    assert_int_equal(expr_utf8_length("a"), 1);
    assert_int_equal(expr_utf8_length(""), 0);
    assert_int_equal(expr_utf8_length("\xc3\xa4"), 2);
    assert_int_equal(expr_utf8_length("\xe2\x80\x99"), 3);
    assert_int_equal(expr_utf8_length("\xf0\x9f\x98\x80"), 4);
    assert_int_equal(expr_utf8_length("\xf4\x90\x80\x80"), 0); /* above U+10FFFF */
    assert_int_equal(expr_utf8_length("\x80"), 0);
    assert_int_equal(expr_utf8_length("\xe2\x80"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_are_distinguished),
        cmocka_unit_test(lines_go_on),
        cmocka_unit_test(tokens_know_their_place),
        cmocka_unit_test(same_spelling_same_symbol),
        cmocka_unit_test(numbers_do_not_depend_on_the_locale),
        cmocka_unit_test(what_is_no_text_is_refused),
        cmocka_unit_test(utf8_is_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

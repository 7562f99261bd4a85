#include "expr/lexer.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "math/decimal.h"

enum { MOST_DIGITS = 320, MOST_BRACKETS = 200 };

typedef struct lexer {
    const char *at;
    int file, line, column;
    int begins_line; /* no token on this line yet */
    int depth;       /* of ( and [ */
    int open[MOST_BRACKETS];
    int first; /* the first token of this text */
    expr_symbols *symbols;
    expr_tokens *tokens;
    expr_fault *fault;
} lexer;

const char *expr_token_text(expr_token_kind kind)
{
    static const char *const text[] = {
#define EXPR_TOKEN_TEXT(name, words) words,
        EXPR_TOKEN_TABLE(EXPR_TOKEN_TEXT)
#undef EXPR_TOKEN_TEXT
    };
    return text[kind];
}

const char *expr_token_show(const expr_token *token, char scratch[EXPR_TOKEN_CAPACITY])
{
    int spelt = token->kind == EXPR_TOKEN_NUMBER || token->kind == EXPR_TOKEN_NAME ||
                token->kind == EXPR_TOKEN_STRING;
    if (!spelt) {
        return expr_token_text((expr_token_kind)token->kind);
    }
    int most = EXPR_TOKEN_CAPACITY - 8;
    int length = token->length < most ? token->length : most;
    while (length > 0 && ((unsigned char)token->text[length] & 0xc0) == 0x80) {
        length--; /* never half a character */
    }
    snprintf(scratch, EXPR_TOKEN_CAPACITY, "'%.*s%s'", length, token->text,
             length < token->length ? "..." : "");
    return scratch;
}

static void fault_write(expr_fault *fault, const char *format, va_list arguments)
{
    fault->status = ZW_BAD_INPUT;
    vsnprintf(fault->text, sizeof fault->text, format, arguments);
}

zw_status expr_fault_at(expr_fault *fault, const expr_token *token, const char *format, ...)
{
    fault->file = token->file;
    fault->line = token->line;
    fault->column = token->column;
    fault->length = token->length > 0 ? token->length : 1;
    va_list arguments;
    va_start(arguments, format);
    fault_write(fault, format, arguments);
    va_end(arguments);
    return fault->status;
}

/* Reports an error at the next character. */
static zw_status __attribute__((format(printf, 3, 4)))
lexer_fail(lexer *l, int length, const char *format, ...)
{
    l->fault->file = l->file;
    l->fault->line = l->line;
    l->fault->column = l->column;
    l->fault->length = length;
    va_list arguments;
    va_start(arguments, format);
    fault_write(l->fault, format, arguments);
    va_end(arguments);
    return ZW_BAD_INPUT;
}

static zw_status lexer_no_memory(lexer *l)
{
    lexer_fail(l, 1, "out of memory");
    return l->fault->status = ZW_NO_MEMORY;
}

int expr_utf8_length(const char *text)
{
    const unsigned char *u = (const unsigned char *)text;
    if (u[0] < 0x80) {
        return u[0] != 0;
    }
    int length = u[0] >= 0xf0 ? 4 : u[0] >= 0xe0 ? 3 : 2;
    if (u[0] < 0xc2 || u[0] > 0xf4) {
        return 0;
    }
    for (int i = 1; i < length; i++) {
        if ((u[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    /* overlong forms, surrogates, and what is above U+10FFFF */
    if ((u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xed && u[1] > 0x9f) ||
        (u[0] == 0xf0 && u[1] < 0x90) || (u[0] == 0xf4 && u[1] > 0x8f)) {
        return 0;
    }
    return length;
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Appends a token of `length` bytes that begins here, and moves past it. */
static expr_token *lexer_push(lexer *l, expr_token_kind kind, int length)
{
    expr_tokens *tokens = l->tokens;
    if (!base_list_reserve(&tokens->token, &tokens->capacity, tokens->count,
                           sizeof *tokens->token)) {
        return NULL;
    }
    char before = tokens->count > l->first ? l->at[-1] : '\n';
    char after = l->at[length];
    expr_token *token = &tokens->token[tokens->count++];
    *token = (expr_token){
        .kind = (unsigned char)kind,
        .blank_before = strchr(" \t\r\n", before) != NULL,
        .blank_after = strchr(" \t\r\n#", after) != NULL, /* also true at the end of the text */
        .begins_line = (unsigned char)l->begins_line,
        .file = l->file,
        .line = l->line,
        .column = l->column,
        .length = length,
        .symbol = -1,
        .text = l->at,
    };
    l->begins_line = 0;
    for (int i = 0; i < length; i++) {
        l->column += ((unsigned char)l->at[i] & 0xc0) != 0x80;
    }
    l->at += length;
    return token;
}

static int number_length(const char *text, int *mantissa)
{
    const char *s = text;
    while (is_digit(*s)) {
        s++;
    }
    if (*s == '.' && s[1] != '.') { /* 1..n is a range */
        s++;
        while (is_digit(*s)) {
            s++;
        }
    }
    *mantissa = (int)(s - text);
    if (*s == 'e' || *s == 'E') {
        const char *exponent = s + 1 + (s[1] == '+' || s[1] == '-');
        if (is_digit(*exponent)) {
            while (is_digit(*exponent)) {
                exponent++;
            }
            s = exponent;
        }
    }
    return (int)(s - text);
}

static zw_status lex_number(lexer *l)
{
    int mantissa;
    int length = number_length(l->at, &mantissa);
    if (length > MOST_DIGITS) {
        return lexer_fail(l, length, "this number has more than %d digits", MOST_DIGITS);
    }
    if (is_letter(l->at[length])) {
        int more = 1;
        while (is_letter(l->at[length + more]) || is_digit(l->at[length + more])) {
            more++;
        }
        return lexer_fail(l, length + more,
                          "a name cannot begin with a number; a product is "
                          "written with a star: %.*s*%.*s",
                          length, l->at, more < 40 ? more : 40, l->at + length);
    }
    double value = 0;
    math_decimal(l->at, l->at + length, &value);
    int zero = 1;
    for (int i = 0; i < mantissa; i++) {
        zero = zero && (l->at[i] == '0' || l->at[i] == '.');
    }
    if (isinf(value)) {
        return lexer_fail(l, length,
                          "this number is too large for the machine (the most is about "
                          "1.8e308); write inf for infinity");
    }
    if (value == 0 && !zero) {
        return lexer_fail(l, length,
                          "this number is too small for the machine (the least is about "
                          "4.9e-324); write 0");
    }
    expr_token *token = lexer_push(l, EXPR_TOKEN_NUMBER, length);
    if (token == NULL) {
        return lexer_no_memory(l);
    }
    token->number = value;
    return ZW_OK;
}

static zw_status lex_name(lexer *l)
{
    int length = 1;
    while (is_letter(l->at[length]) || is_digit(l->at[length])) {
        length++;
    }
    int symbol = expr_symbol_add(l->symbols, l->at, length);
    expr_token *token = symbol < 0 ? NULL : lexer_push(l, EXPR_TOKEN_NAME, length);
    if (token == NULL) {
        return lexer_no_memory(l);
    }
    token->symbol = symbol;
    return ZW_OK;
}

static zw_status lex_string(lexer *l)
{
    int length = 1;
    while (l->at[length] != '"') {
        if (l->at[length] == 0 || l->at[length] == '\n') {
            return lexer_fail(l, length, "the text that starts here has no closing \"");
        }
        length++;
    }
    return lexer_push(l, EXPR_TOKEN_STRING, length + 1) != NULL ? ZW_OK : lexer_no_memory(l);
}

/* What users of other languages write, longest spelling first. */
static const struct {
    const char *text;
    const char *advice;
} foreign[] = {
    {"**", "a power is written x^2"},
    {"//", "a comment begins with #"},
    {"/*", "a comment begins with #"},
    {"&&", "write the word and"},
    {"&", "write the word and"},
    {"+=", "write another line; lines of the same kind add up"},
    {"++", "write + 1"},
    {"!", "write the word not, or != for unequal"},
    {";", "a statement ends with its line"},
    {"{", "brackets are round, ( ), or square for members of families, x[1]"},
    {"}", "brackets are round, ( ), or square for members of families, x[1]"},
    {"%", "a comment begins with #; a remainder is a - b*floor(a/b)"},
    {"\xe2\x80\x99", "a rate is written with the plain prime '"},
    {"\xe2\x80\x98", "a rate is written with the plain prime '"},
    {"\xe2\x80\xb2", "a rate is written with the plain prime '"},
    {"`", "a rate is written with the plain prime '"},
    {"\xe2\x88\x92", "write the plain minus sign -"},
    {"\xe2\x80\x93", "write the plain minus sign -"},
    {"\xc2\xb7", "a product is written a*b, a dot product a . b"},
    {"\xc3\x97", "a product is written a*b, a cross product a x b"},
    {"\xe2\x89\xa4", "write <="},
    {"\xe2\x89\xa5", "write >="},
    {"\xcf\x80", "write pi"},
    {"\xc2\xb2", "a power is written x^2"},
    {"\xc2\xb0", "an angle in degrees is written 30*deg"},
    {"\xe2\x80\x9c", "write plain quotes \"...\" around a text"},
    {"\xe2\x80\x9d", "write plain quotes \"...\" around a text"},
};

static zw_status fail_foreign(lexer *l)
{
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        size_t length = strlen(foreign[i].text);
        if (strncmp(l->at, foreign[i].text, length) == 0) {
            int letter = ((unsigned char)*l->at & 0x80) != 0;
            return lexer_fail(l, letter ? 1 : (int)length, "%s is not part of the language: %s",
                              foreign[i].text, foreign[i].advice);
        }
    }
    int length = expr_utf8_length(l->at);
    if (length > 1) {
        return lexer_fail(l, 1,
                          "%.*s is allowed only in comments and texts; names consist of "
                          "a to z, A to Z, 0 to 9 and _",
                          length, l->at);
    }
    return lexer_fail(l, 1, "%c is not part of the language", *l->at);
}

static const struct {
    const char *text;
    expr_token_kind kind;
} marks[] = {
    {"<=", EXPR_TOKEN_LESS_EQUAL},  {">=", EXPR_TOKEN_GREATER_EQUAL},
    {"==", EXPR_TOKEN_EQUAL_EQUAL}, {"!=", EXPR_TOKEN_NOT_EQUAL},
    {"..", EXPR_TOKEN_DOTS},        {"+", EXPR_TOKEN_PLUS},
    {"-", EXPR_TOKEN_MINUS},        {"*", EXPR_TOKEN_STAR},
    {"/", EXPR_TOKEN_SLASH},        {"^", EXPR_TOKEN_CARET},
    {".", EXPR_TOKEN_DOT},          {"<", EXPR_TOKEN_LESS},
    {">", EXPR_TOKEN_GREATER},      {"=", EXPR_TOKEN_EQUAL},
    {"(", EXPR_TOKEN_OPEN},         {"[", EXPR_TOKEN_OPEN_SQUARE},
    {",", EXPR_TOKEN_COMMA},        {":", EXPR_TOKEN_COLON},
    {")", EXPR_TOKEN_CLOSE},        {"]", EXPR_TOKEN_CLOSE_SQUARE},
    {"|", EXPR_TOKEN_BAR},          {"'", EXPR_TOKEN_PRIME},
};

/* Brackets must close in the order in which they opened. */
static zw_status lex_bracket(lexer *l, expr_token_kind kind)
{
    if (kind == EXPR_TOKEN_OPEN || kind == EXPR_TOKEN_OPEN_SQUARE) {
        if (l->depth == MOST_BRACKETS) {
            return lexer_fail(l, 1,
                              "brackets are nested more than %d deep; name a part of it with let",
                              MOST_BRACKETS);
        }
        l->open[l->depth++] = l->tokens->count;
    } else if (kind == EXPR_TOKEN_CLOSE || kind == EXPR_TOKEN_CLOSE_SQUARE) {
        if (l->depth == 0) {
            return lexer_fail(l, 1, "this '%c' closes nothing", *l->at);
        }
        const expr_token *open = &l->tokens->token[l->open[--l->depth]];
        if ((open->kind == EXPR_TOKEN_OPEN) != (kind == EXPR_TOKEN_CLOSE)) {
            return lexer_fail(l, 1, "'%c' cannot close the '%c' of line %d, column %d", *l->at,
                              *open->text, open->line, open->column);
        }
    }
    return ZW_OK;
}

static zw_status lex_mark(lexer *l)
{
    static const char *const first[] = {"**", "//", "/*", "+=", "++"};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        if (strncmp(l->at, first[i], 2) == 0) {
            return fail_foreign(l);
        }
    }
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        size_t length = strlen(marks[i].text);
        if (strncmp(l->at, marks[i].text, length) == 0) {
            zw_status status = lex_bracket(l, marks[i].kind);
            if (status != ZW_OK) {
                return status;
            }
            return lexer_push(l, marks[i].kind, (int)length) != NULL ? ZW_OK : lexer_no_memory(l);
        }
    }
    return fail_foreign(l);
}

/* Does the statement continue on the next line? */
static int lexer_goes_on(const lexer *l)
{
    if (l->depth > 0 || l->tokens->count == l->first) {
        return 1;
    }
    int last = l->tokens->token[l->tokens->count - 1].kind;
    return last == EXPR_TOKEN_NEWLINE || (last >= EXPR_TOKEN_PLUS && last <= EXPR_TOKEN_COLON);
}

static zw_status lex_newline(lexer *l)
{
    if (!lexer_goes_on(l) && lexer_push(l, EXPR_TOKEN_NEWLINE, 0) == NULL) {
        return lexer_no_memory(l);
    }
    l->at++;
    l->line++;
    l->column = 1;
    l->begins_line = 1;
    return ZW_OK;
}

static zw_status lex_one(lexer *l)
{
    char c = *l->at;
    if (c == '\n') {
        return lex_newline(l);
    }
    if (c == ' ' || c == '\t' || (c == '\r' && l->at[1] == '\n')) {
        l->at++;
        l->column++;
        return ZW_OK;
    }
    if (c == '#') {
        l->at += strcspn(l->at, "\n"); /* no column after it is reported */
        return ZW_OK;
    }
    if (is_digit(c) ||
        (c == '.' && is_digit(l->at[1]) && (l->tokens->count == l->first || l->at[-1] != '.'))) {
        return lex_number(l);
    }
    return is_letter(c) ? lex_name(l) : c == '"' ? lex_string(l) : lex_mark(l);
}

/* The text must be UTF-8 without control characters, in comments too, so that lines can be shown in
 * messages. */
static zw_status lexer_check(lexer l)
{
    while (*l.at != 0) {
        unsigned char c = (unsigned char)*l.at;
        int length = expr_utf8_length(l.at);
        if (length == 0) {
            return lexer_fail(&l, 1, "the byte 0x%02x is not UTF-8; is this a text file?", c);
        }
        if (c < 32 && c != '\t' && c != '\n' && !(c == '\r' && l.at[1] == '\n')) {
            return lexer_fail(&l, 1, "the control character 0x%02x is not allowed in a text", c);
        }
        l.at += length;
        l.column++;
        if (c == '\n') {
            l.line++;
            l.column = 1;
        }
    }
    return ZW_OK;
}

zw_status expr_lex(const char *text, int file, expr_symbols *symbols, expr_tokens *tokens,
                   expr_fault *fault)
{
    lexer l = {.at = text,
               .file = file,
               .line = 1,
               .column = 1,
               .begins_line = 1,
               .first = tokens->count,
               .symbols = symbols,
               .tokens = tokens,
               .fault = fault};
    if (strncmp(text, "\xef\xbb\xbf", 3) == 0) {
        l.at += 3; /* a byte order mark */
    }
    zw_status status = lexer_check(l);
    while (status == ZW_OK && *l.at != 0) {
        status = lex_one(&l);
    }
    if (status != ZW_OK) {
        return status;
    }
    if (l.depth > 0) {
        const expr_token *open = &tokens->token[l.open[l.depth - 1]];
        return expr_fault_at(fault, open, "this '%c' is never closed", *open->text);
    }
    int ended =
        tokens->count == l.first || tokens->token[tokens->count - 1].kind == EXPR_TOKEN_NEWLINE;
    if ((!ended && lexer_push(&l, EXPR_TOKEN_NEWLINE, 0) == NULL) ||
        lexer_push(&l, EXPR_TOKEN_END, 0) == NULL) {
        return lexer_no_memory(&l);
    }
    return ZW_OK;
}

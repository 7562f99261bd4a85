/* Text to tokens. A statement ends with its line, unless the line ends in an operator, a comma or a
 * colon, or a ( or [ is open: then there is no NEWLINE token. Comments are skipped. */
#ifndef ZW_EXPR_LEXER_H
#define ZW_EXPR_LEXER_H

#include "expr/symbols.h"
#include "zwang/status.h"

/* Token and its spelling in messages. A line that ends with one of PLUS to COLON continues on the
 * next. */
#define EXPR_TOKEN_TABLE(X)                                                                        \
    X(END, "the end of the file")                                                                  \
    X(NEWLINE, "the end of the line")                                                              \
    X(NUMBER, "a number")                                                                          \
    X(NAME, "a name")                                                                              \
    X(STRING, "a text")                                                                            \
    X(PLUS, "'+'")                                                                                 \
    X(MINUS, "'-'")                                                                                \
    X(STAR, "'*'")                                                                                 \
    X(SLASH, "'/'")                                                                                \
    X(CARET, "'^'")                                                                                \
    X(DOT, "'.'")                                                                                  \
    X(LESS, "'<'")                                                                                 \
    X(LESS_EQUAL, "'<='")                                                                          \
    X(GREATER, "'>'")                                                                              \
    X(GREATER_EQUAL, "'>='")                                                                       \
    X(EQUAL_EQUAL, "'=='")                                                                         \
    X(NOT_EQUAL, "'!='")                                                                           \
    X(EQUAL, "'='")                                                                                \
    X(OPEN, "'('")                                                                                 \
    X(OPEN_SQUARE, "'['")                                                                          \
    X(COMMA, "','")                                                                                \
    X(COLON, "':'")                                                                                \
    X(CLOSE, "')'")                                                                                \
    X(CLOSE_SQUARE, "']'")                                                                         \
    X(BAR, "'|'")                                                                                  \
    X(DOTS, "'..'")                                                                                \
    X(PRIME, "a prime")

typedef enum expr_token_kind {
#define EXPR_TOKEN_CODE(name, text) EXPR_TOKEN_##name,
    EXPR_TOKEN_TABLE(EXPR_TOKEN_CODE)
#undef EXPR_TOKEN_CODE
} expr_token_kind;

typedef struct expr_token {
    unsigned char kind; /* expr_token_kind */
    unsigned char blank_before;
    unsigned char blank_after;
    unsigned char begins_line;
    int file;
    int line;   /* from 1 */
    int column; /* from 1, in characters */
    int length; /* in bytes; strings with their quotes */
    int symbol; /* NAME */
    const char *text;
    double number; /* NUMBER */
} expr_token;

typedef struct expr_tokens { /* start from {0} */
    int count;
    int capacity;
    expr_token *token;
} expr_tokens;

/* An error in the text: the message, and where. */
typedef struct expr_fault {
    zw_status status;
    int file;
    int line;
    int column;
    int length;
    char text[400];
} expr_fault;

zw_status expr_fault_at(expr_fault *fault, const expr_token *token, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Appends the tokens of one text; the last one is END. The tokens point into the text. */
zw_status expr_lex(const char *text, int file, expr_symbols *symbols, expr_tokens *tokens,
                   expr_fault *fault);

const char *expr_token_text(expr_token_kind kind);

/* The token as messages show it: "'speed'", "the end of the line". Uses `scratch`. */
enum { EXPR_TOKEN_CAPACITY = 64 };
const char *expr_token_show(const expr_token *token, char scratch[EXPR_TOKEN_CAPACITY]);

/* Length in bytes of the UTF-8 character at `text`; 0: it is not well-formed. */
int expr_utf8_length(const char *text);

#endif

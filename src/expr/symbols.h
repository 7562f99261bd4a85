/* Names as numbers: the same spelling, the same number, from 0 in order of first appearance. */
#ifndef ZW_EXPR_SYMBOLS_H
#define ZW_EXPR_SYMBOLS_H

#include <stddef.h>

/* Spellings point into the texts, which must outlive the symbols. */
typedef struct expr_symbol {
    const char *text;
    int length;
    unsigned hash;
} expr_symbol;

typedef struct expr_symbols { /* start from {0} */
    int count;
    int capacity;
    expr_symbol *symbol;
    int slot_count; /* a power of two, at least twice the count */
    int *slot;      /* symbol + 1, or 0 */
} expr_symbols;

int expr_symbol_add(expr_symbols *symbols, const char *text, int length);        /* -1: no memory */
int expr_symbol_find(const expr_symbols *symbols, const char *text, int length); /* -1: none */
void expr_symbols_free(expr_symbols *symbols);

#endif

/* The functions of the language. */
#ifndef ZW_EXPR_FUNCTIONS_H
#define ZW_EXPR_FUNCTIONS_H

#include "expr/graph.h"

typedef enum expr_function_kind {
    EXPR_CALL_OP,   /* the graph's operation on scalars */
    EXPR_CALL_FOLD, /* a binary operation, applied to two or more arguments */
    EXPR_CALL_CLAMP,
    EXPR_CALL_IF,
    EXPR_CALL_PIECEWISE,
    EXPR_CALL_TABLE,
    EXPR_CALL_SUM,
    EXPR_CALL_PROD,
    EXPR_CALL_NORM,
    EXPR_CALL_DOT,
    EXPR_CALL_CROSS,
    EXPR_CALL_DER,
    EXPR_CALL_LAMBDA
} expr_function_kind;

typedef struct expr_function {
    const char *name;
    expr_function_kind kind;
    expr_op op;
    int least; /* arguments */
    int most;
    const char *usage;
} expr_function;

int expr_function_count(void);
const expr_function *expr_function_at(int index);
int expr_function_find(const char *text, int length); /* -1: none */

#endif

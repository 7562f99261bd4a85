#include "expr/functions.h"

#include <string.h>

enum { ANY = 100000 };

static const expr_function function[] = {
    {"sqrt", EXPR_CALL_OP, EXPR_SQRT, 1, 1, "sqrt(x)"},
    {"exp", EXPR_CALL_OP, EXPR_EXP, 1, 1, "exp(x)"},
    {"log", EXPR_CALL_OP, EXPR_LOG, 1, 1, "log(x)"},
    {"ln", EXPR_CALL_OP, EXPR_LOG, 1, 1, "ln(x)"},
    {"sin", EXPR_CALL_OP, EXPR_SIN, 1, 1, "sin(x)"},
    {"cos", EXPR_CALL_OP, EXPR_COS, 1, 1, "cos(x)"},
    {"tan", EXPR_CALL_OP, EXPR_TAN, 1, 1, "tan(x)"},
    {"asin", EXPR_CALL_OP, EXPR_ASIN, 1, 1, "asin(x)"},
    {"acos", EXPR_CALL_OP, EXPR_ACOS, 1, 1, "acos(x)"},
    {"atan", EXPR_CALL_OP, EXPR_ATAN, 1, 1, "atan(x)"},
    {"sinh", EXPR_CALL_OP, EXPR_SINH, 1, 1, "sinh(x)"},
    {"cosh", EXPR_CALL_OP, EXPR_COSH, 1, 1, "cosh(x)"},
    {"tanh", EXPR_CALL_OP, EXPR_TANH, 1, 1, "tanh(x)"},
    {"abs", EXPR_CALL_OP, EXPR_ABS, 1, 1, "abs(x)"},
    {"sign", EXPR_CALL_OP, EXPR_SIGN, 1, 1, "sign(x)"},
    {"floor", EXPR_CALL_OP, EXPR_FLOOR, 1, 1, "floor(x)"},
    {"atan2", EXPR_CALL_OP, EXPR_ATAN2, 2, 2, "atan2(y, x)"},
    {"hypot", EXPR_CALL_OP, EXPR_HYPOT, 2, 2, "hypot(x, y)"},
    {"min", EXPR_CALL_FOLD, EXPR_MIN, 2, ANY, "min(a, b, ...)"},
    {"max", EXPR_CALL_FOLD, EXPR_MAX, 2, ANY, "max(a, b, ...)"},
    {"clamp", EXPR_CALL_CLAMP, EXPR_CONST, 3, 3, "clamp(x, low, high)"},
    {"if", EXPR_CALL_IF, EXPR_CONST, 3, 3, "if(condition, yes, no)"},
    {"piecewise", EXPR_CALL_PIECEWISE, EXPR_CONST, 3, ANY,
     "piecewise(condition, value, condition, value, ..., otherwise)"},
    {"table", EXPR_CALL_TABLE, EXPR_CONST, 5, ANY, "table(x, x0, y0, x1, y1, ...)"},
    {"sum", EXPR_CALL_SUM, EXPR_CONST, 1, 1, "sum(x[i] for i in 1..n)"},
    {"prod", EXPR_CALL_PROD, EXPR_CONST, 1, 1, "prod(x[i] for i in 1..n)"},
    {"norm", EXPR_CALL_NORM, EXPR_CONST, 1, 1, "norm(v)"},
    {"dot", EXPR_CALL_DOT, EXPR_CONST, 2, 2, "dot(a, b)"},
    {"cross", EXPR_CALL_CROSS, EXPR_CONST, 2, 2, "cross(a, b)"},
    {"der", EXPR_CALL_DER, EXPR_CONST, 1, 1, "der(x)"},
    {"lambda", EXPR_CALL_LAMBDA, EXPR_CONST, 1, 1, "lambda(name of a constraint)"},
};

int expr_function_count(void)
{
    return (int)(sizeof function / sizeof *function);
}

const expr_function *expr_function_at(int index)
{
    return &function[index];
}

int expr_function_find(const char *text, int length)
{
    for (int i = 0; i < expr_function_count(); i++) {
        if (strncmp(function[i].name, text, (size_t)length) == 0 && function[i].name[length] == 0) {
            return i;
        }
    }
    return -1;
}

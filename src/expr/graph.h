/* Expressions as one growing graph.
 *
 * Invariants:
 *   1. A node's operands have smaller ids, so ids are a topological order and no walk recurses.
 *   2. Two nodes never have the same operation and operands (hash-consing): equal subexpressions
 *      are shared, and so are their derivatives.
 *   3. Building folds constants and the neutral elements (x+0, x*1, x*0, x^1, --x ...), nothing
 *      that would hide a singularity of the user's formula (x/x and 1/0 stay). x^2 is x*x.
 *   4. Every node stores the place in the text that it was first made for, a derivative the place
 *      of the node it is derived from; so a division by zero can be shown to the user.
 *   5. Running out of memory is sticky: builders then return node 0 (the constant zero), and
 *      expr_graph_status returns ZW_NO_MEMORY. Check it once, at the end.
 */
#ifndef ZW_EXPR_GRAPH_H
#define ZW_EXPR_GRAPH_H

#include "zwang/status.h"

typedef int expr_id;
#define EXPR_NONE (-1)
#define EXPR_ZERO 0 /* every graph begins with the constants 0 and 1 */
#define EXPR_ONE 1

/* Operation, spelling in messages, number of operands. Leaves first. Comparisons and logic give 1
 * or 0; SELECT is c ? a : b with c != 0 meaning yes. */
#define EXPR_OP_TABLE(X)                                                                           \
    X(CONST, "number", 0)                                                                          \
    X(PARAM, "parameter", 0)                                                                       \
    X(TIME, "t", 0)                                                                                \
    X(COORD, "coordinate", 0)                                                                      \
    X(SPEED, "speed", 0)                                                                           \
    X(ACCEL, "acceleration", 0)                                                                    \
    X(LAMBDA, "multiplier", 0)                                                                     \
    X(ADD, "+", 2)                                                                                 \
    X(SUB, "-", 2)                                                                                 \
    X(MUL, "*", 2)                                                                                 \
    X(DIV, "/", 2)                                                                                 \
    X(NEG, "-", 1)                                                                                 \
    X(POW, "^", 2)                                                                                 \
    X(POWI, "^", 1) /* integer exponent in `index` */                                              \
    X(SQRT, "sqrt", 1)                                                                             \
    X(EXP, "exp", 1)                                                                               \
    X(LOG, "log", 1)                                                                               \
    X(SIN, "sin", 1)                                                                               \
    X(COS, "cos", 1)                                                                               \
    X(TAN, "tan", 1)                                                                               \
    X(ASIN, "asin", 1)                                                                             \
    X(ACOS, "acos", 1)                                                                             \
    X(ATAN, "atan", 1)                                                                             \
    X(SINH, "sinh", 1)                                                                             \
    X(COSH, "cosh", 1)                                                                             \
    X(TANH, "tanh", 1)                                                                             \
    X(ATAN2, "atan2", 2)                                                                           \
    X(HYPOT, "hypot", 2)                                                                           \
    X(ABS, "abs", 1)                                                                               \
    X(SIGN, "sign", 1)                                                                             \
    X(FLOOR, "floor", 1)                                                                           \
    X(MIN, "min", 2)                                                                               \
    X(MAX, "max", 2)                                                                               \
    X(LESS, "<", 2)                                                                                \
    X(LESS_EQUAL, "<=", 2)                                                                         \
    X(EQUAL, "==", 2)                                                                              \
    X(AND, "and", 2)                                                                               \
    X(OR, "or", 2)                                                                                 \
    X(NOT, "not", 1)                                                                               \
    X(SELECT, "if", 3)

typedef enum expr_op {
#define EXPR_OP_CODE(name, text, operands) EXPR_##name,
    EXPR_OP_TABLE(EXPR_OP_CODE)
#undef EXPR_OP_CODE
        EXPR_OP_COUNT
} expr_op;

/* What a node depends on, as bits. */
enum {
    EXPR_ON_PARAM = 1,
    EXPR_ON_TIME = 2,
    EXPR_ON_COORD = 4,
    EXPR_ON_SPEED = 8,
    EXPR_ON_ACCEL = 16,
    EXPR_ON_LAMBDA = 32
};

typedef struct expr_node {
    unsigned char op; /* expr_op */
    unsigned char depends;
    int operand[3]; /* EXPR_NONE where there is none */
    int index;      /* leaves: which one; POWI: the exponent */
    int place;      /* place in the text; the caller defines its meaning */
    double value;   /* CONST */
} expr_node;

typedef struct expr_graph expr_graph;

expr_graph *expr_graph_create(void);                  /* NULL: no memory */
expr_graph *expr_graph_copy(const expr_graph *graph); /* the same ids; NULL: no memory */
void expr_graph_free(expr_graph *graph);
zw_status expr_graph_status(const expr_graph *graph);
int expr_graph_count(const expr_graph *graph);
const expr_node *expr_graph_node(const expr_graph *graph,
                                 expr_id id);     /* valid until the next node is built */
void expr_graph_at(expr_graph *graph, int place); /* sets the place of nodes built from now on */

/* Builders. */
expr_id expr_const(expr_graph *graph, double value);
expr_id expr_leaf(expr_graph *graph, expr_op leaf, int index); /* PARAM TIME COORD SPEED ... */
expr_id expr_unary(expr_graph *graph, expr_op op, expr_id a);
expr_id expr_binary(expr_graph *graph, expr_op op, expr_id a, expr_id b);
expr_id expr_powi(expr_graph *graph, expr_id a, int exponent);
expr_id expr_select(expr_graph *graph, expr_id condition, expr_id yes, expr_id no);

const char *expr_op_text(expr_op op);
int expr_op_operands(expr_op op);

/* The value of one operation on numbers, as folding, the tape and expr_value compute it. */
double expr_apply(expr_op op, int index, double a, double b, double c);

/* Numbers for the leaves; arrays may be NULL where no node needs them. */
typedef struct expr_inputs {
    double t;
    const double *param;
    const double *q;
    const double *v;
    const double *a;
    const double *lambda;
} expr_inputs;

/* The value of a node without a tape, slower: for sizes, initial values and diagnosis (value.c).
 * The graph is only read, so threads may share it. It needs scratch memory and can fail:
 * ZW_NO_MEMORY. */
zw_status expr_value(const expr_graph *graph, expr_id id, const expr_inputs *inputs, double *value);

/* The first node, in order of evaluation, below `id` whose value is not finite although its
 * operands are; EXPR_NONE if there is none. This is the operation to name in a message about a
 * singularity. */
zw_status expr_culprit(const expr_graph *graph, expr_id id, const expr_inputs *inputs,
                       expr_id *culprit);

#endif

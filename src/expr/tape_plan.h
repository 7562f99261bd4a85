/* Instructions between the graph and the tape. For tape.c and tape_order.c only. */
#ifndef ZW_EXPR_TAPE_PLAN_H
#define ZW_EXPR_TAPE_PLAN_H

#include "expr/tape_code.h"

/* An instruction in terms of nodes; EXPR_NONE where there is none. */
typedef struct tape_step {
    int op;
    int number; /* POWI: the exponent; OUT: which one */
    expr_id result[2];
    expr_id operand[4];
} tape_step;

/* order[count] = an order of evaluation for step[count] that groups steps of a kind without moving
 * them far, so that few registers are needed. maker[node] is the step that computes the node, -1
 * for leaves; makers outside first .. first + count - 1 have been run before. */
zw_status tape_order(const tape_step *step, int first, int count, const int *maker, int *order);

#endif

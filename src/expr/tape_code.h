/* The struct expr_tape, and the code that the interpreters run. For the files of this folder only.
 *
 * Code is a stream of 32-bit words. A run is a head word (operation in the low 8 bits, length in
 * the others) and then, for each of its instructions, the registers: results first, operands after
 * them, for POWI the exponent, for a kink the register of its side. Outputs are instructions too,
 * so that they are written while they are in the cache and their registers become free. Runs exist
 * because dispatch costs as much as arithmetic: the compiler groups instructions of a kind where it
 * can. */
#ifndef ZW_EXPR_TAPE_CODE_H
#define ZW_EXPR_TAPE_CODE_H

#include <stdint.h>

#include "expr/tape.h"

/* In addition to the operations of the graph: pairs that are one instruction here. Each is rounded
 * as two operations would be; there is no fused multiply-add. */
enum {
    TAPE_END = EXPR_CONST,        /* leaves are not instructions, so their codes are free */
    TAPE_MUL_ADD = EXPR_OP_COUNT, /* a*b + c */
    TAPE_MUL_SUB,                 /* a*b - c */
    TAPE_SUB_MUL,                 /* a - b*c */
    TAPE_DOT,                     /* a*b + c*d */
    TAPE_CROSS,                   /* a*b - c*d */
    TAPE_SIN_COS,                 /* two results */
    TAPE_OUT,                     /* out[first word] = the register in the second */
    TAPE_OP_COUNT
};

enum { TAPE_RUN_SHIFT = 8, TAPE_RUN_MOST = 1 << 20 };

/* The leaves of a kind between the first and the last one in use are copied to these registers. */
typedef struct tape_input {
    int first;
    int count;
    int base;
} tape_input;

struct expr_tape {
    int outputs;
    int instructions;
    int registers;
    int constants; /* number of constants, in the first registers; the last are the sides of kinks
                    */
    int kinks;
    tape_input input[7];      /* by leaf: PARAM TIME COORD SPEED ACCEL LAMBDA */
    const double *constant;   /* [constants] */
    const int *kink;          /* [kinks] their nodes */
    const uint32_t *prologue; /* parameters only */
    const uint32_t *code;     /* all the rest */
};

#endif

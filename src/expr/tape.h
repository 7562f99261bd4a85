/* The compiled form: a flat list of instructions over a file of registers, run for one world or for
 * eight (lanes). Values that depend on parameters only are computed once, by expr_tape_prepare.
 *
 * Registers: [constants | parameters and what follows from them | t q v a lambda | temporaries],
 * temporaries reused as soon as they are dead, so that the registers of a small system fit in the
 * first-level cache. A lane gives the same bits as that world alone. */
#ifndef ZW_EXPR_TAPE_H
#define ZW_EXPR_TAPE_H

#include <stddef.h>

#include "expr/graph.h"

typedef struct expr_tape expr_tape;

/* How many leaves of each kind a world has. */
typedef struct expr_shape {
    int params;
    int coords;
    int carried; /* further entries after the speeds: SPEED leaves from `coords` on */
    int lambdas;
} expr_shape;

/* Each call makes a few passes over the graph up to the last output, so compile many formulas into
 * one tape. NULL: out of memory, or a leaf that worlds of this shape do not have. */
expr_tape *expr_tape_create(const expr_graph *graph, const expr_shape *shape, const expr_id *out,
                            int count, zw_error *error);
void expr_tape_free(expr_tape *tape);

int expr_tape_instructions(const expr_tape *tape); /* of a run, without the prologue */

/* The leaves of a kind that the tape reads are within [*first, *first + *count). */
void expr_tape_reads(const expr_tape *tape, expr_op leaf, int *first, int *count);

/* The register file: this many doubles for one world, eight times as many for eight. */
size_t expr_tape_registers(const expr_tape *tape);

/* Sets the constants and computes the values that depend on parameters only. */
void expr_tape_prepare(const expr_tape *tape, const double *param, double *registers);
/* out[count] from the inputs (param is not read again). */
void expr_tape_run(const expr_tape *tape, const expr_inputs *inputs, double *registers,
                   double *out);

/* Kinks: operations whose result jumps or bends where a - b (of abs, sign and floor: a) passes zero
 * (floor: an integer). Each has a side: -1, 0 or 1 as a - b is below, at or above zero, for floor
 * the floor itself. If the side is NaN, as expr_tape_prepare leaves it, the operation decides by
 * its operands. With a given side the formula of that side is continued smoothly, whatever the
 * operands are. Equality is not a kink: it holds at isolated points, and formulas use it to exclude
 * one. */
int expr_is_kink(int op);
int expr_tape_kinks(const expr_tape *tape);
expr_id expr_tape_kink(const expr_tape *tape, int i);
/* side[kinks], after expr_tape_prepare. */
void expr_tape_latch(const expr_tape *tape, const double *side, double *registers);

/* Eight worlds: every number becomes eight consecutive ones, param[params][8], q[n][8], ...,
 * out[count][8]; t[8]. Registers aligned to 64 bytes. */
typedef struct expr_inputs8 {
    const double *t;
    const double *q;
    const double *v;
    const double *a;
    const double *lambda;
} expr_inputs8;
void expr_tape_prepare8(const expr_tape *tape, const double *param, double *registers);
void expr_tape_run8(const expr_tape *tape, const expr_inputs8 *inputs, double *registers,
                    double *out);

#endif

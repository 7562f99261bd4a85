/* A tape evaluated over intervals: bounds of its outputs and their rates while time and state range
 * over a piece of a motion.
 *
 * A jet is an enclosure of a function of time over a piece of time, and one of its derivative. From
 * the jets of the leaves the tape computes those of the outputs by the chain rule, with outward
 * rounding (interval.h), so
 *
 *     value contains f(t) for every t of the piece, and f(t) - f(s) is in rate * (t - s) for all
 *     t, s of the piece,
 *
 * also where f has a corner (abs, min, max, hypot at 0: the rate then contains all slopes between
 * the two sides); where it may jump (floor, sign, if) the rate is the whole line. Kinks whose side
 * is given (tape.h) are taken on that side throughout. */
#ifndef ZW_EXPR_ENCLOSE_H
#define ZW_EXPR_ENCLOSE_H

#include "expr/interval.h"
#include "expr/tape.h"

typedef struct expr_jet {
    expr_interval value, rate;
} expr_jet;

/* Jets for the leaves; arrays may be NULL where the tape has no such leaf. */
typedef struct expr_jets {
    expr_jet t;
    const expr_jet *q, *v, *a, *lambda;
} expr_jets;

/* registers[expr_tape_registers]: constants and parameters, and the sides of kinks, taken from the
 * registers of one world that expr_tape_prepare and expr_tape_latch have filled. */
void expr_enclose_prepare(const expr_tape *tape, const double *prepared, expr_jet *registers);
void expr_enclose_run(const expr_tape *tape, const expr_jets *inputs, expr_jet *registers,
                      expr_jet *out);

#endif

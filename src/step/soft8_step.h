/* A step of eight worlds at once by the soft law (system/soft8/soft8.h): soft_step by Euler's
 * method. What zw_step would write into a state is kept separately, to avoid touching eight states
 * at every step: soft8_write writes it in the end. */
#ifndef ZW_STEP_SOFT8_STEP_H
#define ZW_STEP_SOFT8_STEP_H

#include "step/run.h"
#include "system/soft8/soft8.h"

/* What is known about a world besides q, v and its parameters. */
typedef struct soft8_clock {
    double t, work;
    step_grid grid;
    long steps;         /* since it was read from the state */
    double certificate; /* of the last step */
} soft8_clock;

/* Can steps by this plan be taken in lanes? */
int soft8_takes_plan(const zw_system *system, const zw_run_options *plan);

/* From a state, and back into it, with everything that zw_step would have left there: x is q, v and
 * the parameters. */
void soft8_read(const zw_system *system, const zw_run_options *plan, zw_state *state,
                soft8_clock *clock, double *x);
void soft8_write(const zw_system *system, const zw_run_options *plan, const soft8_clock *clock,
                 const double *x, zw_state *state);

/* One step of `count` worlds, at most LANES; a lane whose clock is NULL only has numbers and takes
 * no step. Returns the bits of those that succeeded, and the pairs in contact in them (one bit
 * each, folded). The others are unchanged, and must be stepped by zw_step, which handles or reports
 * the difficulty. */
unsigned soft8_step(soft8 *s, int count, soft8_clock *const *clock, double *const *x,
                    uint64_t touch[LANES]);

/* Checks steps that were taken from these states in single precision: computes them in double
 * precision, and inserts the accelerations of the former (`moved`) in the equations of the latter,
 *
 *     (M + h damping) moved - force - J' lambda,
 *
 * relative to the largest of these terms. 0 in lanes without a clock, and in those that cannot be
 * computed in lanes. */
void soft8_certify(soft8 *s, soft8_clock *const *clock, double *const *x, double *const *moved,
                   double certificate[LANES]);

#endif

/* A step of eight worlds at once by the soft law (system/soft8/soft8.h): soft_step by Euler's
 * method, and all that zw_step writes into a state after it. */
#ifndef ZW_STEP_SOFT8_STEP_H
#define ZW_STEP_SOFT8_STEP_H

#include "step/run.h"
#include "system/soft8/soft8.h"

/* What is known of a world from its last step: it saves work and changes no bit. */
typedef struct soft8_trace {
    uint64_t touch; /* which pairs touched, one bit each, folded */
    double *guess;  /* [2 n] its accelerations, and those of the step before */
} soft8_trace;

/* Can steps by this plan be taken in lanes? */
int soft8_takes_plan(const zw_system *system, const zw_run_options *plan);

/* One step of `count` worlds, at most LANES. Answers the bits of those that took it; the states of
 * the others are as before, and their steps are to be taken by zw_step, which knows what to do or
 * say. */
unsigned soft8_step(soft8 *s, const zw_run_options *plan, int count, zw_state *const *state,
                    soft8_trace *const *trace);

#endif

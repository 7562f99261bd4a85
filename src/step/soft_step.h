/* Steps of the soft law (system/soft/soft.h), as MuJoCo's Euler takes them:
 *
 *     (M + h D) (v1 - v0) = h (force + J' lambda),     q1 = q0 (+) h v1
 *
 * with forces and multipliers those of (q0, v0), and D the damping of the joints, which alone is
 * taken at the end of the step. Activations go by their rates at the start. */
#ifndef ZW_STEP_SOFT_STEP_H
#define ZW_STEP_SOFT_STEP_H

#include "step/whole.h"
#include "system/soft/soft.h"

/* v0 and v1 have what is carried behind the speeds. `gained` is the work of all forces without a
 * potential, constraints included. */
zw_status soft_step(soft_problem *s, double t, double h, const double *q0, const double *v0,
                    double *q1, double *v1, double *gained, zw_error *error);

/* The same as a stepper; the problem is the caller's, and outlives it. */
stepper *soft_stepper(soft_problem *s, double h, zw_error *error);

/* After a step: more contacts than these, or deeper ones? */
void soft_note(const soft_problem *s, int *contacts, double *depth);

/* After zw_forward at this state: the accelerations and multipliers that the work shows are those
 * of the soft law. */
zw_status soft_show(soft_problem *s, const zw_state *state, zw_error *error);

#endif

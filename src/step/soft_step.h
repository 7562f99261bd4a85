/* Steps of the soft law (system/soft/soft.h), by the integrator that the description requests, as
 * MuJoCo takes them.
 *
 *     Euler           (M + h D) a = force + J' lambda,   v1 = v0 + h a,   q1 = q0 (+) h v1
 *     implicit, implicitfast   the same, with more in D: soft_implicit.c
 *     RK4             Kutta's method on q' = v, v' = a, activations, with J' lambda at each stage
 *
 * with forces and multipliers at (q0, v0), and D the damping of the joints, the only force that
 * Euler takes at the end of the step. Activations advance by their rates at the start, clamped to
 * their ranges; exact filters by exp(-h/tau). */
#ifndef ZW_STEP_SOFT_STEP_H
#define ZW_STEP_SOFT_STEP_H

#include "step/whole.h"
#include "system/soft/soft.h"

/* In v0 and v1 the activations follow the speeds. `gained` is the work of all forces without a
 * potential, constraints included. */
zw_status soft_step(soft_problem *s, double t, double h, const double *q0, const double *v0,
                    double *q1, double *v1, double *gained, zw_error *error);

/* After soft_set_up at this state, for derivatives: the activations after a step, to v1 + n. */
void soft_activate(soft_problem *s, double h, const double *v0, double *v1);

/* Is the damping of the joints taken at the end of Euler's step? */
int soft_is_damped(const zw_system *system);

/* The same as a stepper; the caller owns the problem, which must outlive it. */
stepper *soft_stepper(soft_problem *s, double h, zw_error *error);

/* soft_implicit.c: after soft_forward at (q, v), s->a becomes that of the step; 0: there is none.
 * Then what forces add to those of the start, as a mean over the step. */
int soft_accelerate_implicitly(soft_problem *s, double h, const double *q, const double *v);
void soft_implicit_force(soft_problem *s, const double *q, double *more);
/* After soft_set_up at (q, v), for derivatives: to = (M - h D) a, and x = (M - h D)' \ x. */
void soft_implicit_times(soft_problem *s, double h, const double *q, const double *v,
                         const double *a, double *to);
int soft_implicit_solve_transposed(soft_problem *s, double h, const double *q, const double *v,
                                   double *x);

/* After a step: updates the largest number of contacts and the largest depth. */
void soft_note(const soft_problem *s, int *contacts, double *depth);

/* After zw_forward at this state: sets the accelerations and multipliers of the work to those of
 * the soft law. */
zw_status soft_show(soft_problem *s, const zw_state *state, zw_error *error);

#endif

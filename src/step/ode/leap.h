/* Steps over an instant at which the field is singular although the motion is not; see leap.c. For
 * ode.c only. Without the option `exact` there is no step_leap, and these functions do nothing. */
#ifndef ZW_STEP_LEAP_H
#define ZW_STEP_LEAP_H

#include "step/ode/inner.h"

enum { LEAP_DEGREE = 20 }; /* of the polynomial over a leap */

void leap_layout(step_ode *ode, base_arena *arena);

/* The field has just been evaluated at y1, the end of a step; or where the motion starts again. */
void leap_note(step_ode *ode);
void leap_begin(step_ode *ode);
/* The last step is complete, and the next begins; or it has not been taken, and its start
 * remains. */
void leap_step_on(step_ode *ode);
void leap_stay(step_ode *ode);

/* If a singular instant is so near that the next step should pass over it, and such a step is
 * accurate: 1, and t1, h and increment are set, not beyond *limit. Else 0, and *limit may be
 * reduced to where a leap can begin. */
int leap_try(step_ode *ode, double *limit);
/* The result: the leap is the last step, or has been rejected after all. */
void leap_accept(step_ode *ode);
void leap_refuse(step_ode *ode);

/* Is the last step a leap? Then its interior is known here, not to the methods. */
int leap_taken(const step_ode *ode);
void leap_increment(const step_ode *ode, double t, double *increment); /* y(t) - y0 */
void leap_interpolate(const step_ode *ode, double t, double *y);

#endif

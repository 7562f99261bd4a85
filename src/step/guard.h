/* What ends a smooth piece of motion, as functions for step/event.h that fall through zero:
 *
 *   each event of the model     its root, in its own direction
 *   each one-sided constraint   open: the gap; closed: the force that presses
 *   each constraint with friction   sliding: the speed along its direction; stuck: what friction
 *                                   could hold beyond what it does hold
 */
#ifndef ZW_STEP_GUARD_H
#define ZW_STEP_GUARD_H

#include "step/event.h"
#include "step/motion.h"

typedef struct step_guards {
    step_motion *motion;
    int count;
    int events;       /* the first ones are the model's */
    int *constraint;  /* [count - events] whose guard it is */
    int *is_friction; /* [count - events] */
    int forces;       /* some event or mode needs accelerations and multipliers */
    step_events *scan;
    double *g; /* [count] scratch */
} step_guards;

/* NULL-like (count 0, scan NULL) if the model has nothing to watch. events_only: contacts and
 * friction are watched by others. */
zw_status guards_create(step_guards *guards, step_motion *motion, int events_only, zw_error *error);
void guards_free(step_guards *guards);

/* The constraint whose guard is clearly below zero at (t, y), although nothing was seen to happen:
 * a gap that is none, a contact that pulls, friction that drives. -1: none. What is clear is beyond
 * round-off and the tolerance of steps, or a `part` of that. */
zw_status guards_broken(const step_guards *guards, double t, const double *y, double part,
                        int *constraint, zw_error *error);

#endif

/* Events: functions g_k(t, y) that call for something to be done when they cross zero.
 *
 *     step_events_arm(events, ode, STEP_EVENTS_AFRESH, &error);
 *     stepper_advance(ode, end, &error);
 *     step_events_scan(events, ode, &count, &error);        was there one in this step?
 *     if (count > 0) {                                      the ode stands at the first of them
 *         ... step_events_fired(events)[0..count-1] say which; act; stepper_restart if y jumped
 *         step_events_arm(events, ode, STEP_EVENTS_JUMPED, &error);     or STEP_EVENTS_SAME
 *     }
 *
 * What counts. A crossing takes g from one side of zero to the other, or ends a step exactly at
 * zero, in the wanted direction. A function that starts at zero, or has just fired, has no side
 * until it is clear of round-off; coming to that side is no crossing. Guards are functions that are
 * positive by definition of what they guard: they fire as soon as they are clearly negative, one
 * that starts below zero when it is clearly below its start, and one that starts within its slack
 * of zero when it has gone farther.
 *
 * A jump of the state is no crossing. But a condition holds where its function is positive, and one
 * that did not hold before a jump and holds after it begins to hold there. When armed after
 * something has happened, the events say which do: act again, and arm again.
 */
#ifndef ZW_STEP_EVENT_H
#define ZW_STEP_EVENT_H

#include "step/ode/ode.h"
#include "step/ode/path.h"

/* Fill g[count]. */
typedef zw_status step_event_function(void *user, double t, const double *y, double *g,
                                      zw_error *error);

/* How a function can be bounded over a piece of a step. */
typedef enum step_event_kind {
    STEP_EVENT_SAMPLED, /* by interpolation of its samples, refined until it has converged */
    STEP_EVENT_FORMULA, /* by step_event_options.enclose */
    STEP_EVENT_OF_TIME, /* the same, and it depends on time alone */
    STEP_EVENT_OFF      /* not looked at in this step */
} step_event_kind;

/* Fill `kind`[count] and `is_guard`[count], at the start of each scan and when armed, and `slack`
 * [count] when armed (else it is NULL): how far from zero a guard that starts there may be without
 * having left it, or another function that rests there. With option `jumps`, at the start of each
 * scan as well, and whatever is as close to zero as that is at zero. */
typedef void step_event_sort(void *user, int *kind, int *is_guard, double *slack);
/* Fill the jets g[k] of all formulas over the piece; rates are by x, as the piece's. */
typedef void step_event_enclosure(void *user, const step_piece *piece, expr_jet *g);

typedef struct step_event_options {
    int count;
    int n;                /* of the ode */
    const int *direction; /* [count] 1: rising, -1: falling, 0: both; copied; NULL: all both */
    const int *condition; /* [count] it is one; copied; NULL: none is */
    step_event_function *function;
    step_event_sort *sort;         /* NULL: all are sampled, none is a guard */
    step_event_enclosure *enclose; /* NULL: none is a formula */
    int jumps;                     /* steps may have impacts in them */
    const int *component;          /* [component_count] of y that formulas use, kept; NULL: all */
    int component_count;
    void *user;
} step_event_options;

typedef struct step_events step_events;

step_events *step_events_create(const step_event_options *options, zw_error *error);
void step_events_free(step_events *events); /* NULL is fine */

/* Where are events looked at? At the start of a run, where one is resumed, where something has
 * jumped, if only rates or forces, so that what has fired and rests at zero now was stopped, or
 * where nothing has. */
typedef enum step_event_start {
    STEP_EVENTS_AFRESH,
    STEP_EVENTS_RESUMED,
    STEP_EVENTS_JUMPED,
    STEP_EVENTS_SAME
} step_event_start;

/* Look at the events where the ode stands now. step_events_begun: so many conditions hold since a
 * jump that came after the last scan, or after they were armed; they are `fired`. */
zw_status step_events_arm(step_events *events, const stepper *ode, step_event_start start,
                          zw_error *error);
int step_events_begun(const step_events *events);

/* The earliest crossing in the last step. If there is one, the ode has been retaken to it, its time
 * corrected on real steps until it is exact to round-off, and *count of the events fire there; else
 * *count is 0. g may be evaluated with states that are not projected. */
zw_status step_events_scan(step_events *events, stepper *ode, int *count, zw_error *error);

/* Those that the last scan has fired, by index, rising. */
const int *step_events_fired(const step_events *events);
/* Has the last scan settled every function everywhere in the step? */
int step_events_proved(const step_events *events);
/* The side of function k where the last scan ended: -1, 1, or 0 as long as it is at zero. */
int step_events_side(const step_events *events, int k);
/* The same where the last scan found something to happen: 0 if that is not clear there. */
int step_events_side_there(const step_events *events, int k);
/* What is not farther than this from zero is at zero, for function k. */
double step_events_zone(const step_events *events, int k);
/* The last scan saw so many conditions begin to hold that rested at zero where the step began: that
 * is when they did. They are `fired`, nothing else is, and the ode stands where the step ended. */
int step_events_left(const step_events *events);

#endif

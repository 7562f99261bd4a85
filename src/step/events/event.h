/* Events: functions g_k(t, y) whose zero crossings require an action.
 *
 *     step_events_arm(events, ode, STEP_EVENTS_AFRESH, &error);
 *     stepper_advance(ode, end, &error);
 *     step_events_scan(events, ode, &count, &error);        was there one in this step?
 *     if (count > 0) {                                      the ode is at the first of them
 *         ... step_events_fired(events)[0..count-1] are their indices; act; stepper_restart if y
 * jumped step_events_arm(events, ode, STEP_EVENTS_JUMPED, &error);     or STEP_EVENTS_SAME
 *     }
 *
 * What counts. A crossing takes g from one side of zero to the other, or ends a step exactly at
 * zero, in the wanted direction. A function that starts at zero, or has just fired, has no side
 * until it exceeds round-off; reaching a side from there is no crossing. Guards are functions that
 * are positive by definition: they fire as soon as they are clearly negative, one that starts below
 * zero when it is clearly below its start, and one that starts within its slack of zero when it has
 * left that range.
 *
 * A jump of the state is no crossing. But a condition holds where its function is positive, and one
 * that did not hold before a jump and holds after it begins to hold there. When the events are
 * armed after something has happened, they report such conditions: act again, and arm again.
 *
 * Marks change nothing, so they do not end the step: all of a step are listed, each located as if
 * it did. */
#ifndef ZW_STEP_EVENT_H
#define ZW_STEP_EVENT_H

#include "step/ode/ode.h"
#include "step/ode/path.h"

/* Fill g[count]. */
typedef zw_status step_event_function(void *user, double t, const double *y, double *g,
                                      zw_error *error);

/* Fills g[k]; others may be filled, too. */
typedef zw_status step_event_single(void *user, int k, double t, const double *y, double *g,
                                    zw_error *error);

/* How a function is bounded over a piece of a step. */
typedef enum step_event_kind {
    STEP_EVENT_SAMPLED, /* by interpolation of its samples, refined until it has converged */
    STEP_EVENT_FORMULA, /* by step_event_options.enclose */
    STEP_EVENT_OF_TIME, /* the same, and it depends on time alone */
    STEP_EVENT_OFF      /* ignored in this step */
} step_event_kind;

/* Fills `kind`[count] and `is_guard`[count], at the start of each scan and when armed, and
 * `slack`[count] when armed (NULL otherwise): how far from zero a guard that starts there, or
 * another function that rests there, may be without having left it. With the option `jumps` it does
 * so at the start of each scan as well, and any function within its slack is at zero. */
typedef void step_event_sort(void *user, int *kind, int *is_guard, double *slack);
/* Fills the jets g[k] of all formulas over the piece; rates are by x, as those of the piece. */
typedef void step_event_enclosure(void *user, const step_piece *piece, expr_jet *g);

typedef struct step_event_options {
    int count;
    int n;                /* of the ode */
    const int *direction; /* [count] 1: rising, -1: falling, 0: both; copied; NULL: both for all */
    const int *condition; /* [count] whether it is a condition; copied; NULL: none is */
    const int *mark;      /* [count] whether it is a mark; copied; NULL: none is; not with jumps */
    step_event_function *function;
    step_event_single *single;     /* NULL: there are no marks */
    step_event_sort *sort;         /* NULL: all are sampled, none is a guard */
    step_event_enclosure *enclose; /* NULL: none is a formula */
    int jumps;                     /* steps may contain impacts */
    const int *component; /* [component_count] components of y that formulas use, kept; NULL: all */
    int component_count;
    void *user;
} step_event_options;

typedef struct step_events step_events;

step_events *step_events_create(const step_event_options *options, zw_error *error);
void step_events_free(step_events *events); /* may be NULL */

/* Where events are armed: at the start of a run; where one is resumed; after a jump, be it only of
 * rates or forces, so that a function that has fired and is at zero was stopped; or where nothing
 * has jumped. */
typedef enum step_event_start {
    STEP_EVENTS_AFRESH,
    STEP_EVENTS_RESUMED,
    STEP_EVENTS_JUMPED,
    STEP_EVENTS_SAME
} step_event_start;

/* Evaluates the events at the current state of the ode. step_events_begun: the number of conditions
 * that hold since a jump after the last scan, or after they were armed; they are `fired`. */
zw_status step_events_arm(step_events *events, const stepper *ode, step_event_start start,
                          zw_error *error);
int step_events_begun(const step_events *events);

/* Finds the earliest crossing in the last step. If there is one, the step has been repeated to it,
 * its time corrected on actual steps until it is exact to round-off, and *count of the events fire
 * there; else *count is 0. g may be evaluated with states that are not projected. */
zw_status step_events_scan(step_events *events, stepper *ode, int *count, zw_error *error);

/* A mark in the last step: the ode, retaken to t, is where function `which` comes to a side. */
typedef struct step_mark {
    double t;
    int which, side;
    double low, high; /* parts of the step between which the search has found it */
} step_mark;

/* Those of the last scan, by time, and by index where the time is the same. Where there are marks,
 * steps lead into the future. */
const step_mark *step_events_marks(const step_events *events, int *count);

/* Those that the last scan has fired, by ascending index. */
const int *step_events_fired(const step_events *events);
/* Did the last scan decide every function everywhere in the step? */
int step_events_proved(const step_events *events);
/* The side of function k at the end of the last scan: -1, 1, or 0 as long as it is at zero. */
int step_events_side(const step_events *events, int k);
/* The same where the last scan found an event: 0 if that is not clear there. */
int step_events_side_there(const step_events *events, int k);
/* Function k counts as zero within this distance. */
double step_events_zone(const step_events *events, int k);
/* The number of conditions that the last scan found to hold since the start of the step, where they
 * rested at zero. They are `fired`, nothing else is, and the ode is at the end of the step. */
int step_events_left(const step_events *events);

#endif

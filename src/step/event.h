/* Events: functions g_k(t, y) that call for something to be done when they cross zero.
 *
 *     step_events_arm(events, ode, &error);                 after start and after every event
 *     step_ode_advance(ode, end, &error);
 *     step_events_scan(events, ode, &count, &error);        was there one in this step?
 *     if (count > 0) {                                      the ode stands at the first of them
 *         ... step_events_fired(events)[0..count-1] say which; act; step_ode_restart if y jumped
 *         step_events_arm(events, ode, &error);
 *     }
 *
 * What counts. A crossing takes g from one side of zero to zero or beyond, in the wanted direction.
 * Who starts at zero, or has just fired, is leaving: its side is the one on which it is first seen
 * clearly, and coming to that side is no crossing. A jump of the state is no crossing either.
 */
#ifndef ZW_STEP_EVENT_H
#define ZW_STEP_EVENT_H

#include "step/ode.h"

/* Fill g[count]. */
typedef zw_status step_event_function(void *user, double t, const double *y, double *g,
                                      zw_error *error);

typedef struct step_event_options {
    int count;
    int n;                /* of the ode */
    const int *direction; /* [count] 1: rising, -1: falling, 0: both; copied; NULL: all both */
    step_event_function *function;
    void *user;
} step_event_options;

typedef struct step_events step_events;

step_events *step_events_create(const step_event_options *options, zw_error *error);
void step_events_free(step_events *events); /* NULL is fine */

/* Look at the events where the ode stands now. */
zw_status step_events_arm(step_events *events, const step_ode *ode, zw_error *error);

/* The earliest crossing in the last step. If there is one, the ode has been retaken to it, its time
 * corrected on real steps until it is exact to round-off, and *count of the events fire there; else
 * *count is 0. g may be evaluated with states that are not projected. */
zw_status step_events_scan(step_events *events, step_ode *ode, int *count, zw_error *error);

/* Those that the last scan has fired, by index, rising. */
const int *step_events_fired(const step_events *events);

#endif

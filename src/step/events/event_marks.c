/* Marks: events that change nothing.
 *
 * The step goes on beyond them. Each crossing that the search has found is narrowed on the dense
 * output of the whole step, and corrected on actual steps from its start, like any other event, but
 * its function is evaluated alone: the work for a mark does not grow with the number of events.
 *
 * Marks closer than the resolution of time are at one instant. One at the instant of an event that
 * ends the step fires with it. */
#include "step/events/event_search.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static double resolution_at(double t)
{
    return 4.0 * DBL_EPSILON * fabs(t);
}

const step_mark *step_events_marks(const step_events *events, int *count)
{
    *count = events->marks;
    return events->marked;
}

static zw_status locate(step_events *e, double until, step_mark *m, zw_error *error)
{
    const stepper_view *view = stepper_look(e->ode);
    double t0 = view->t_before, reach = view->t;
    step_crossing found, wide;
    zw_status status = search_narrow(e, m->which, m->low, m->high, &found, error);
    m->t = found.after;
    if (status != ZW_OK || found.after > until) {
        return status;
    }
    status = search_widen(e, found, &wide, error);
    status = status == ZW_OK ? search_correct(e, t0, reach, wide, found, error) : status;
    m->t = view->t;
    return status == ZW_OK ? stepper_retake(e->ode, reach, error) : status;
}

zw_status marks_locate(step_events *e, double until, zw_error *error)
{
    zw_status status = ZW_OK;
    int which = e->which;
    e->alone = 1;
    for (int i = 0; i < e->marks && status == ZW_OK; i++) {
        status = locate(e, until + resolution_at(until), &e->marked[i], error);
    }
    e->alone = 0;
    e->which = which;
    return status;
}

static int by_time(const void *a, const void *b)
{
    const step_mark *x = a, *y = b;
    return x->t != y->t ? (x->t > y->t) - (x->t < y->t) : x->which - y->which;
}

void marks_keep(step_events *e, double end)
{
    step_mark *to = e->marked;
    double last = -INFINITY;
    qsort(to, (size_t)e->marks, sizeof *to, by_time);
    for (int i = 0; i < e->marks; i++) {
        step_mark m = e->marked[i];
        double resolution = resolution_at(m.t);
        m.t = last = m.t - last <= resolution ? last : m.t;
        if (m.t < end - resolution) {
            *to++ = m;
            e->side_before[m.which] = m.side; /* for what fires at the end */
        } else if (m.t <= end + resolution) {
            e->found[m.which] = 1;
        }
    }
    e->marks = (int)(to - e->marked);
    qsort(e->marked, (size_t)e->marks, sizeof *to, by_time);
}

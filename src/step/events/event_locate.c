/* One crossing: on the dense output of the step, then on actual steps. */
#include "step/events/event_search.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { CORRECTIONS = 6 };

/* ---- Narrowing ------------------------------------------------------------------------------- */

/* One event function over time, for the root finder. */
static zw_status see_one(void *user, double t, double *g, zw_error *error)
{
    step_events *e = user;
    zw_status status = stepper_interpolate(e->ode, t, e->y, error);
    status = status == ZW_OK ? search_look(e, t, e->y, e->g, error) : status;
    *g = e->g[e->which];
    return status;
}

/* The crossing of function k between the limits that the search found; their far end where
 * round-off hides the change of sign. */
zw_status search_narrow(step_events *e, int k, double low, double high, step_crossing *crossing,
                        zw_error *error)
{
    *crossing = (step_crossing){.before = search_time(e, low), .after = search_time(e, high)};
    e->which = k;
    zw_status status = see_one(e, crossing->before, &crossing->g_before, error);
    status = status == ZW_OK ? see_one(e, crossing->after, &crossing->g_after, error) : status;
    if (status != ZW_OK || crossing->g_before == 0.0 ||
        search_same_side(crossing->g_before, crossing->g_after)) {
        return status;
    }
    return step_root_narrow(see_one, e, 0.0, crossing, error);
}

/* ---- Actual steps ---------------------------------------------------------------------------- */

/* The same on actual steps. */
static zw_status retake_and_look(void *user, double t, double *g, zw_error *error)
{
    step_events *e = user;
    zw_status status = stepper_retake(e->ode, t, error);
    const stepper_view *view = stepper_look(e->ode);
    status = status == ZW_OK ? search_look(e, view->t, view->y, e->g, error) : status;
    *g = e->g[e->which];
    return status;
}

/* Actual steps to a and to b end on different sides of zero: through it, or where g jumps. */
static zw_status close_in(step_events *e, step_crossing c, zw_error *error)
{
    zw_status status = step_root_narrow(retake_and_look, e, 0.0, &c, error);
    double t = fabs(c.g_before) <= fabs(c.g_after) ? c.before : c.after, g;
    return status == ZW_OK && stepper_look(e->ode)->t != t ? retake_and_look(e, t, &g, error)
                                                           : status;
}

/* Corrects the time on actual steps: secants, the first with the slope of the dense output, as long
 * as |g| decreases. Afterwards the ode is at the best time; `reach` is the end of the full step. */
zw_status search_correct(step_events *e, double t0, double reach, step_crossing wide,
                         step_crossing found, zw_error *error)
{
    double t = found.after, g, slope = (wide.g_after - wide.g_before) / (wide.after - wide.before);
    /* Not back to the start: a guard that has just left zero would be found there again. */
    double start = 0.5 * (t0 + t), low = fmin(start, reach), high = fmax(start, reach);
    zw_status status = retake_and_look(e, t, &g, error);
    for (int i = 0; status == ZW_OK && i < CORRECTIONS && g != 0.0; i++) {
        double next = fmin(fmax(t - g / slope, low), high), g_next;
        if (!(fabs(next - t) > DBL_EPSILON * fabs(t))) {
            break;
        }
        status = retake_and_look(e, next, &g_next, error);
        if (status != ZW_OK) {
            break;
        }
        if (!(fabs(g_next) < fabs(g))) {
            return search_same_side(g, g_next)
                       ? retake_and_look(e, t, &g, error) /* the better one again */
                       : close_in(e, (step_crossing){t, next, g, g_next}, error);
        }
        slope = (g_next - g) / (next - t);
        t = next;
        g = g_next;
    }
    return status;
}

/* The slope of the dense output at the crossing needs points around it where round-off does not
 * matter: a thousandth of the step on each side, where possible. A guard that began the step below
 * zero, and was above it half-way, fires at zero: else each bounce would be deeper than the one
 * before it. */
zw_status search_widen(step_events *e, step_crossing found, step_crossing *wide, zw_error *error)
{
    const stepper_view *view = stepper_look(e->ode);
    double low = fmin(view->t_before, view->t), high = fmax(view->t_before, view->t);
    double away = 1e-3 * (view->t - view->t_before);
    zw_status status = see_one(e, 0.5 * (view->t_before + found.after), &wide->g_before, error);
    double level = e->level[e->which];
    e->level[e->which] = wide->g_before + level > 0.0 ? 0.0 : level;
    wide->before = fmin(fmax(found.before - away, low), high);
    wide->after = fmin(fmax(found.after + away, low), high);
    status = status == ZW_OK ? see_one(e, wide->before, &wide->g_before, error) : status;
    int looks = e->option.jumps ? e->count : 0;
    memcpy(e->spread, e->g, (size_t)looks * sizeof *e->spread);
    status = status == ZW_OK ? see_one(e, wide->after, &wide->g_after, error) : status;
    for (int k = 0; k < looks; k++) {
        e->spread[k] = fabs(e->g[k] - e->spread[k]);
    }
    return status;
}

#include "step/ode/control.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/error.h"

static const double SHRINK = 0.2, GROW = 6.0; /* largest changes of the step length */

/* x^(1/2^roots): by square roots, whose bits are the same everywhere. */
static double root(double x, int roots)
{
    for (int i = 0; i < roots; i++) {
        x = sqrt(x);
    }
    return x;
}

double step_aim(double t0, double limit, double length)
{
    double room = fabs(limit - t0);
    if (length >= room * (1.0 - 1e-10)) {
        return limit;
    }
    double used = fmin(length, 0.5 * room);
    return limit > t0 ? t0 + used : t0 - used;
}

static double smallest_first(double room)
{
    return fmin(1e-6, 1e-3 * room);
}

double step_first_trial(double d0, double d1, double room, double largest)
{
    double h0 = d0 < 1e-5 || d1 < 1e-5 ? smallest_first(room) : 0.01 * (d0 / d1);
    return fmin(h0, fmin(room, largest));
}

double step_first(double d1, double d2, double h0, double room, int roots)
{
    double steep = fmax(d1, d2 / h0);
    double h1 = steep <= 1e-15 ? fmax(smallest_first(room), 1e-3 * h0) : root(0.01 / steep, roots);
    return fmin(100.0 * h0, h1);
}

double step_longer(double h, double length, double growth, int again)
{
    double next = fabs(h) * fmax(fmin(growth, again ? 1.0 : GROW), SHRINK);
    return fabs(h) < length ? fmax(next, length) : next;
}

double step_shorter(double h, double size, int roots)
{
    return fabs(h) * fmin(fmax(0.9 / root(size, roots), SHRINK), 0.9);
}

int step_vanishes(double t0, double toward, double length)
{
    return length <= 16.0 * DBL_EPSILON * fabs(t0) || t0 + toward * length == t0;
}

zw_status step_give_up(zw_status why, double t, double length, double tolerance, int culprit,
                       double reachable, zw_error *error)
{
    if (why == ZW_OK && reachable > 0) {
        return base_fail(
            error, ZW_INACCURATE,
            "at t = %.17g round-off of the formulas is above the tolerance %.3g; %.1g or "
            "more can be reached",
            t, tolerance, reachable);
    }
    if (why == ZW_OK) {
        return base_fail(error, ZW_INACCURATE,
                         "the step shrank to %.3g at t = %.17g and the error is still above the "
                         "tolerance %.3g; state %d is the worst",
                         length, t, tolerance, culprit);
    }
    if (error && error->line == 0) { /* the place in a file is enough */
        base_fail_more(error, " (with steps from t = %.9g down to %.3g)", t, length);
    }
    return why;
}

static const char *reason_of(const step_pace *pace, char *text, size_t room)
{
    if (pace->reachable > 0) {
        snprintf(text, room,
                 "round-off of the formulas is above the tolerance; %.1g or more can be reached",
                 pace->reachable);
        return text;
    }
    return pace->stiff ? "a singular point, or a tolerance that round-off does not allow"
                       : "a singular point, or a stiff system (then try the method stiff)";
}

zw_status step_progress(const step_pace *pace, long *since, double *then, zw_error *error)
{
    enum { PATIENCE = 4000 };
    const double MOST = 1e12;
    char reason[120];
    if (pace->steps - *since < PATIENCE) {
        return ZW_OK;
    }
    double recent = (pace->t - *then) / PATIENCE;
    double mean = (pace->t - pace->start) / (double)pace->steps;
    int chosen = pace->largest > 0 && recent > 0.1 * pace->largest;
    if (!chosen && recent < 1e-3 * mean && recent < 1e-9 * (pace->end - pace->t)) {
        return base_fail(error, ZW_NO_STEP,
                         "at t = %.12g the steps have become as small as %.2g: %s", pace->t, recent,
                         reason_of(pace, reason, sizeof reason));
    }
    if (!chosen && recent < (pace->end - pace->t) / MOST) {
        return base_fail(
            error, ZW_NO_STEP,
            "with steps of %.2g, as at t = %.12g, more than 1e12 of them would be needed "
            "to reach t = %.6g: something swings, switches or decays so fast%s",
            recent, pace->t, pace->end, pace->stiff ? "" : " (if it decays, try the method stiff)");
    }
    *since = pace->steps;
    *then = pace->t;
    return ZW_OK;
}

zw_status step_check_finite(int n, const double *x, const char *what, double t, int *culprit,
                            zw_error *error)
{
    for (int i = 0; i < n; i++) {
        if (!isfinite(x[i])) {
            *culprit = i;
            return base_fail(error, ZW_INACCURATE, "%s %d is not finite at t = %.17g", what, i, t);
        }
    }
    return ZW_OK;
}

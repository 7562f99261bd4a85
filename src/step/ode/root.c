/* Bracketed root finding after Chandrupatla (1997): inverse quadratic interpolation wherever the
 * three latest points lie on a curve that it can follow, else bisection.
 *
 * With x1 the latest point, x2 the other end of the bracket and x3 the point that was dropped, let
 * xi = (x1 - x2)/(x3 - x2) and phi = (g1 - g2)/(g3 - g2). Inverse quadratic interpolation is
 * monotone over the bracket if and only if phi^2 < xi and (1 - phi)^2 < 1 - xi, so it is used
 * exactly then. The next point is kept a tolerance away from both ends, so that the bracket closes
 * from both sides. */
#include "step/ode/root.h"

#include "base/error.h"

#include <float.h>
#include <math.h>

typedef struct point {
    double t, g;
} point;

/* The next point from x1 towards x2, as a fraction of their distance. */
static double next_part(point x1, point x2, point x3)
{
    double xi = (x1.t - x2.t) / (x3.t - x2.t), phi = (x1.g - x2.g) / (x3.g - x2.g);
    if (!(phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi)) {
        return 0.5;
    }
    double along = x1.g / (x2.g - x1.g) * (x3.g / (x2.g - x3.g));
    double across = (x3.t - x1.t) / (x2.t - x1.t) * (x1.g / (x3.g - x1.g));
    return along + across * (x2.g / (x3.g - x2.g));
}

zw_status step_root_narrow(step_scalar *g, void *user, double width, step_crossing *crossing,
                           zw_error *error)
{
    double side = crossing->g_before > 0.0 ? 1.0 : -1.0, part = 0.5;
    point x1 = {crossing->before, crossing->g_before}, x2 = {crossing->after, crossing->g_after};
    for (int i = 0; i < 200; i++) {
        double size = fmax(fabs(x1.t), fabs(x2.t)), length = fabs(x2.t - x1.t);
        double tolerance = fmax(width, 2.0 * DBL_EPSILON * size);
        if (length <= tolerance || crossing->g_after == 0.0) {
            break;
        }
        double edge = 0.5 * tolerance / length;
        part = fmin(fmax(part, edge), 1.0 - edge);
        point x = {x1.t + part * (x2.t - x1.t), 0.0}, x3 = x1;
        if (x.t == x1.t || x.t == x2.t) {
            break;
        }
        zw_status status = g(user, x.t, &x.g, error);
        if (status != ZW_OK) {
            return status;
        }
        if (!isfinite(x.g)) {
            return base_fail(error, ZW_INACCURATE, "an event is not finite at t = %.17g", x.t);
        }
        int is_before = side * x.g > 0.0;
        if (is_before) {
            crossing->before = x.t, crossing->g_before = x.g;
        } else {
            crossing->after = x.t, crossing->g_after = x.g;
        }
        if (is_before != (side * x1.g > 0.0)) { /* x1 becomes the other end */
            x3 = x2;
            x2 = x1;
        }
        x1 = x;
        part = next_part(x1, x2, x3);
    }
    return ZW_OK;
}

/* With z = (s, t), |t| = l and u = t/l, the nearest point of the cone l <= s is
 *
 *     z                                 if l <= s
 *     0                                 if l <= -s      (z lies in the polar cone)
 *     (s + l)/2 (1, u)                  between
 *
 * and there its derivative is 1/2 [1, u'; u, (1 + s/l) I - (s/l) u u'], which has the root
 * 1/2 [1, u'; u, u u'] + sqrt((1 + s/l)/2) [0, 0; 0, I - u u']. The largest entry of z less
 * that point is 0, -s (as l <= -s) and (l - s)/2.
 *
 * One world branches where lanes select (cone.lane.h); the bits are the same. */
#include "math/cone.h"

#include <math.h>
#include <string.h>

static cone_side cone_where(double s, double l)
{
    return s >= l ? CONE_INSIDE : s <= -l ? CONE_OUTSIDE : CONE_BETWEEN;
}

cone_side cone_project(int d, const double *z, double *p)
{
    double l = cone_tangent(d, z), half = 0.5 * (z[0] + l);
    cone_side side = cone_where(z[0], l);
    double factor = side == CONE_INSIDE ? 1.0 : side == CONE_OUTSIDE ? 0.0 : half / l;
    if (side == CONE_OUTSIDE) {
        memset(p, 0, (size_t)d * sizeof *p);
        return side;
    }
    p[0] = side == CONE_BETWEEN ? half : z[0];
    for (int i = 1; i < d; i++) {
        p[i] = factor * z[i];
    }
    return side;
}

cone_side cone_slope(int d, const double *z, double *P)
{
    double l = cone_tangent(d, z);
    cone_side side = cone_where(z[0], l);
    for (int i = 0; i < d; i++) {
        for (int j = 0; j < d; j++) {
            P[i * CONE_MAX + j] = side == CONE_INSIDE && i == j ? 1.0 : 0.0;
        }
    }
    if (side == CONE_BETWEEN) {
        double f = z[0] / l;
        P[0] = 0.5;
        for (int i = 1; i < d; i++) {
            double u = z[i] / l;
            P[i] = P[i * CONE_MAX] = 0.5 * u;
            for (int j = 1; j < d; j++) {
                P[i * CONE_MAX + j] = 0.5 * ((i == j ? 1.0 + f : 0.0) - f * u * (z[j] / l));
            }
        }
    }
    return side;
}

cone_side cone_slope_root(int d, const double *z, double *P)
{
    double l = cone_tangent(d, z), u[CONE_MAX] = {1.0};
    cone_side side = cone_where(z[0], l);
    double across = side == CONE_BETWEEN ? sqrt(0.5 * (1.0 + z[0] / l)) : 1.0;
    for (int i = 1; i < d; i++) {
        u[i] = side == CONE_BETWEEN ? z[i] / l : 0.0;
    }
    for (int i = 0; i < d; i++) {
        for (int j = 0; j < CONE_MAX; j++) {
            double unit = i == j ? 1.0 : 0.0, line = u[i] * u[j];
            P[i * CONE_MAX + j] = side == CONE_OUTSIDE || j >= d ? 0.0
                                  : side == CONE_INSIDE          ? unit
                                  : i == 0 || j == 0             ? 0.5 * line
                                                     : 0.5 * line + across * (unit - line);
        }
    }
    return side;
}

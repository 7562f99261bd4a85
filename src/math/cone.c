/* With z = (s, t), |t| = l and u = t/l, the nearest point of the cone l <= s is
 *
 *     z                                 if l <= s
 *     0                                 if l <= -s      (z lies in the polar cone)
 *     (s + l)/2 (1, u)                  between
 *
 * and there its derivative is 1/2 [1, u'; u, (1 + s/l) I - (s/l) u u']. */
#include "math/cone.h"

#include <math.h>

#include "math/lane.h"

#define zw_real double
#define zw_mask int
#define LANE(name) name
static void cone_nearest(int d, const double *z, double *p);
#define lane_select lane_select1
#define lane_sqrt sqrt
#include "math/cone.lane.h"

double cone_tangent(int d, const double *z)
{
    double sum = 0.0;
    for (int i = 1; i < d; i++) {
        sum += z[i] * z[i];
    }
    return sqrt(sum);
}

static cone_side cone_where(double s, double l)
{
    return s >= l ? CONE_INSIDE : s <= -l ? CONE_OUTSIDE : CONE_BETWEEN;
}

cone_side cone_project(int d, const double *z, double *p)
{
    cone_side side = cone_where(z[0], cone_tangent(d, z));
    cone_nearest(d, z, p);
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

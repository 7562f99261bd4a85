/* The self-dual cone |z_T| <= z_N in 1 to 6 dimensions: nearest point, and the derivative of it.
 * One dimension is the half line z >= 0. */
#ifndef ZW_MATH_CONE_H
#define ZW_MATH_CONE_H

#include <math.h>

enum { CONE_MAX = 6 };

/* The interval from low to high: where a multiplier of one row may be. The half line is that from 0
 * to infinity. */
static inline double interval_nearest(double low, double high, double z)
{
    return z < low ? low : z > high ? high : z;
}

/* By how much the residual w moves a multiplier of 0 off: 0 where the law is content with both. */
static inline double interval_gap(double low, double high, double w)
{
    return w < 0.0 ? (high > 0.0 ? -w : 0.0) : w > 0.0 && !(low < 0.0) ? 0.0 : w;
}

/* By how much w is off what any multiplier could make of it: ends at infinity hold it back. */
static inline double interval_excess(double low, double high, double w)
{
    return w < 0.0 ? (high == HUGE_VAL ? -w : 0.0) : low == -HUGE_VAL || w != w ? w : 0.0;
}

typedef enum cone_side { CONE_OUTSIDE, CONE_BETWEEN, CONE_INSIDE } cone_side;

/* |z_T| */
static inline double cone_tangent(int d, const double *z)
{
    double sum = 0.0;
    for (int i = 1; i < d; i++) {
        sum += z[i] * z[i];
    }
    return sqrt(sum);
}

/* p = the point of the cone nearest to z; p may be z. OUTSIDE: p = 0; INSIDE: p = z. */
cone_side cone_project(int d, const double *z, double *p);

/* The largest entry of z - p; a NaN stays. */
static inline double cone_gap(int d, const double *z)
{
    double l = cone_tangent(d, z);
    return z[0] >= l ? 0.0 : z[0] <= -l ? -z[0] : 0.5 * (l - z[0]);
}

/* P (d x d, stride CONE_MAX) = derivative of the projection at z: symmetric, between 0 and I. */
cone_side cone_slope(int d, const double *z, double *P);

/* R (d x d, stride CONE_MAX, then zeros) with R R = P. */
cone_side cone_slope_root(int d, const double *z, double *R);

#endif

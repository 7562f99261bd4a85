/* The self-dual cone |z_T| <= z_N in 1 to 6 dimensions: nearest point, and the derivative of it.
 * One dimension is the half line z >= 0. */
#ifndef ZW_MATH_CONE_H
#define ZW_MATH_CONE_H

enum { CONE_MAX = 6 };

typedef enum cone_side { CONE_OUTSIDE, CONE_BETWEEN, CONE_INSIDE } cone_side;

double cone_tangent(int d, const double *z); /* |z_T| */

/* p = the point of the cone nearest to z; p may be z. OUTSIDE: p = 0; INSIDE: p = z. */
cone_side cone_project(int d, const double *z, double *p);

double cone_gap(int d, const double *z); /* the largest entry of z - p; a NaN stays */

/* P (d x d, stride CONE_MAX) = derivative of the projection at z: symmetric, between 0 and I. */
cone_side cone_slope(int d, const double *z, double *P);

/* R (d x d, stride CONE_MAX, zeros behind) with R R = P. */
cone_side cone_slope_root(int d, const double *z, double *R);

#endif

/* Operations on 3-vectors and rotation matrices for collisions. */
#ifndef ZW_COLLIDE_VECTOR_H
#define ZW_COLLIDE_VECTOR_H

#include <math.h>

static inline double v3_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void v3_cross(double out[3], const double a[3], const double b[3])
{
    double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
    out[0] = x;
    out[1] = y;
}

static inline void v3_set(double out[3], double x, double y, double z)
{
    out[0] = x;
    out[1] = y;
    out[2] = z;
}

static inline void v3_copy(double out[3], const double a[3])
{
    out[0] = a[0];
    out[1] = a[1];
    out[2] = a[2];
}

static inline void v3_sub(double out[3], const double a[3], const double b[3])
{
    out[0] = a[0] - b[0];
    out[1] = a[1] - b[1];
    out[2] = a[2] - b[2];
}

/* out = a + s b */
static inline void v3_add(double out[3], const double a[3], double s, const double b[3])
{
    out[0] = a[0] + s * b[0];
    out[1] = a[1] + s * b[1];
    out[2] = a[2] + s * b[2];
}

static inline void v3_scale(double v[3], double s)
{
    v[0] *= s;
    v[1] *= s;
    v[2] *= s;
}

/* Written as comparisons, as fmin and fmax are function calls. */
static inline double v3_max(double a, double b)
{
    return a > b ? a : b;
}

static inline double v3_min(double a, double b)
{
    return a < b ? a : b;
}

/* Scaled by the largest entry where the squares would underflow or overflow. */
static inline double v3_length(const double v[3])
{
    double square = v3_dot(v, v);
    if (square > 1e-200 && square < 1e200) {
        return sqrt(square);
    }
    double big = v3_max(fabs(v[0]), v3_max(fabs(v[1]), fabs(v[2])));
    if (!(big > 0) || !isfinite(big)) {
        return big;
    }
    double x = v[0] / big, y = v[1] / big, z = v[2] / big;
    return big * sqrt(x * x + y * y + z * z);
}

/* Normalises v, unless it is zero; returns its previous length. */
static inline double v3_unit(double v[3])
{
    double length = v3_length(v);
    if (length > 0) {
        v[0] /= length;
        v[1] /= length;
        v[2] /= length;
    }
    return length;
}

/* out = R a and out = R' a; out is not a. */
static inline void v3_turn(double out[3], const double R[9], const double a[3])
{
    out[0] = R[0] * a[0] + R[1] * a[1] + R[2] * a[2];
    out[1] = R[3] * a[0] + R[4] * a[1] + R[5] * a[2];
    out[2] = R[6] * a[0] + R[7] * a[1] + R[8] * a[2];
}

static inline void v3_turn_back(double out[3], const double R[9], const double a[3])
{
    out[0] = R[0] * a[0] + R[3] * a[1] + R[6] * a[2];
    out[1] = R[1] * a[0] + R[4] * a[1] + R[7] * a[2];
    out[2] = R[2] * a[0] + R[5] * a[1] + R[8] * a[2];
}

/* Two unit vectors that make a right-handed frame (e, f, n) with the unit vector n. */
static inline void v3_frame(const double n[3], double e[3], double f[3])
{
    int least = fabs(n[0]) < fabs(n[1]) ? 0 : 1;
    least = fabs(n[2]) < fabs(n[least]) ? 2 : least;
    double axis[3] = {0, 0, 0};
    axis[least] = 1;
    v3_cross(e, axis, n);
    v3_unit(e);
    v3_cross(f, n, e);
}

#endif

/* A string from one point to another around a sphere or a cylinder. */
#ifndef ZW_SYSTEM_TENDON_WRAP_H
#define ZW_SYSTEM_TENDON_WRAP_H

/* All in the frame of the shape, whose centre is the origin; the axis of a cylinder is z; it is
 * infinite.
 */
typedef struct wrap_shape {
    int cylinder; /* 0: a sphere */
    double radius;
    const double *side; /* a point on whose side the string passes; if it is inside the shape, the
                           string wraps on the inside; NULL: the shorter path */
    int coarse; /* inside wrapping as accurate as MuJoCo's, whose angles have errors of 1e-6; 0: to
                   round-off */
} wrap_shape;

typedef struct wrap_answer {
    double point[2][3]; /* where the string meets and leaves the shape */
    double speed[2][3]; /* velocities of these two over the shape */
    double arc;         /* length on the shape */
} wrap_answer;

/* 1: the string from x[0] to x[1], which move with v, wraps around the shape; 0: it is straight. */
int wrap_around(const wrap_shape *shape, double x[2][3], double v[2][3], wrap_answer *answer);

#endif

/* A string from one point to another over a sphere or a cylinder: where it lies on it. */
#ifndef ZW_SYSTEM_TENDON_WRAP_H
#define ZW_SYSTEM_TENDON_WRAP_H

/* All in the frame of the shape, whose centre is the origin; a cylinder's axis is z, without end.
 */
typedef struct wrap_shape {
    int cylinder; /* 0: a sphere */
    double radius;
    const double *side; /* a point on whose side the string passes, inside the shape: it touches
                           from inside; NULL: the shorter way */
    int coarse; /* a touch from inside is found as far as MuJoCo does, whose angles are good to
                   1e-6; 0: to round-off */
} wrap_shape;

typedef struct wrap_answer {
    double point[2][3]; /* where it comes onto the shape, and where it leaves it */
    double speed[2][3]; /* how fast these two move over it */
    double arc;         /* length on the shape */
} wrap_answer;

/* 1: the string from x[0] to x[1], which move with v, lies on the shape; 0: it goes straight. */
int wrap_around(const wrap_shape *shape, double x[2][3], double v[2][3], wrap_answer *answer);

#endif

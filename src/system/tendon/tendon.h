/* Spatial tendons: a path over sites, possibly wrapped around spheres and cylinders between two of
 * them, in branches.
 *
 * Its length is the sum over the branches of (straight parts + arcs)/divisor. With e along a
 * straight part from p1 to p2, and w the velocity that the bodies there have at these points,
 *
 *     L' = sum of e . (w2 - w1)/divisor,
 *
 * also where p1 or p2 is a tangent point that moves over its shape: the length of a shortest path
 * does not change with it to first order, and an arc on a rigid body keeps its length. So J is a
 * sum of forces e at points of bodies. The second derivative for zero accelerations is
 *
 *     J' v = sum of (e' . (w2 - w1) + e . (w2' - w1'))/divisor,
 *     e' = (u' - e (e . u'))/|u|,     u' = (w2 + s2) - (w1 + s1),     w' = A + omega x s,
 *
 * s being the velocity of a tangent point over its body, and A the acceleration of the body there.
 */
#ifndef ZW_SYSTEM_TENDON_H
#define ZW_SYSTEM_TENDON_H

#include "base/memory.h"
#include "system/bodies/bodies.h"

/* Cached values of all spatial tendons at one q. */
struct tendon_now {
    int known;      /* 1: valid, for this q: */
    int coarse;     /* ... and this accuracy of inside wrapping: wrap.h */
    double *q;      /* [nq] */
    double *coef;   /* [terms] of all lengths */
    double *length; /* [paths] */
    double *sweeps; /* of the tree at q, if the caller had none */
};

/* Allocates it, if there are such tendons. */
void tendon_lay_out(const zw_system *system, zw_work *work, base_arena *arena);

/* Length of path `index` at the state of the sweeps, and its J over the terms of its length. */
double tendon_measure(const tree_mechanism *tree, const struct system_bodies *bodies, int index,
                      int coarse, const double *sweeps, double *coef);
/* Takes the wrenches of a force along path `index` off the loads of the parts it pulls on
 * (bodies_load.c); the sweeps are those of the work. */
void tendon_load(const zw_system *system, zw_work *work, int index, double force);
/* J' v, after the sweeps for velocities and accelerations (a = 0). */
double tendon_bias(const tree_mechanism *tree, const struct system_bodies *bodies, int index,
                   int coarse, const double *sweeps);

#endif

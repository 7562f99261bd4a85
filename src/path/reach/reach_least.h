/* A piecewise linear path and its augmented action; see reach_least.c. */
#ifndef ZW_PATH_REACH_LEAST_H
#define ZW_PATH_REACH_LEAST_H

#include "path/reach/reach.h"

struct reach_path {
    int n, K;
    int speeds, places; /* rows Phi on intervals, rows phi at nodes */
    double start, h;    /* time */
    double rho, rho_place;
    double most; /* upper bound of rho, relative to its first value */
    int ready;   /* x is more than a straight line */
    int width;   /* of the band, diagonal included: 2n */

    double *x, *x_try;      /* [(K + 1) n] */
    double *lambda, *kappa; /* [K speeds], [(K + 1) places] */
    double *g, *d;          /* [K n]: of the nodes 1 .. K */
    double *H, *factor;     /* [K n width]: row i holds columns i - width + 1 .. i */
    double *q, *v, *mu, *W; /* of one interval: [n], [n], [rows], [4 n n] */
    void *memory;
};

/* reach_action.c: sum h (L + lambda Phi + rho/2 Phi^2), plus the same for the nodes; NaN: not
 * defined there. */
double reach_action(reach *r, reach_path *path, const double *x);
/* Its gradient and second derivatives at path->x; 0: not finite. */
int reach_action_derive(reach *r, reach_path *path);
/* Largest |Phi| and |phi|, after lambda += rho Phi if `update`. */
double reach_action_violation(reach *r, reach_path *path, int update);
/* The first rho, comparable to the masses. */
void reach_action_scale(reach *r, reach_path *path);

#endif

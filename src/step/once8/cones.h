/* The problem of one linearisation by gauss/augment/augment.h: step/once8/cones.c. */
#ifndef ZW_STEP_ONCE8_CONES_H
#define ZW_STEP_ONCE8_CONES_H

#include "gauss/augment/augment.h"
#include "step/problem/problem.h"

typedef struct impulse_cones {
    int kind; /* the problems of this system are of that kind; */
    int fits; /* and its steps have no memory */
    int n;
    const int *parent;   /* [n] of the tree's coordinates */
    int *entry;          /* of H, in the order of alone.H; NULL: not yet known */
    augment_alone alone; /* allocated when it is needed: its matrix has n x n numbers */
} impulse_cones;

void cones_create(impulse_cones *c, const zw_system *system);
void cones_free(impulse_cones *c);
/* H (v - v0) = r + A' lambda: the solution into p. warm: the multipliers of the last step show what
 * pushes. 0: not found by this method. */
int cones_solve(impulse_cones *c, impulse_problem *p, const impulse_matrix *H, const double *r,
                const double *v0, int warm, double *v);
/* Are all force derivatives those of single coordinates, are there only contacts and limits, and
 * are the multipliers of the last step not worth more? Then eight worlds can be solved at once:
 * step/once8.h */
int cones_fit(const zw_system *system, int memoryless);

#endif

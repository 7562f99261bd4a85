/* The problem of one linearisation by gauss/augment/augment.h: step/once8/cones.c. */
#ifndef ZW_STEP_ONCE8_CONES_H
#define ZW_STEP_ONCE8_CONES_H

#include "gauss/augment/augment.h"
#include "step/impulse/impulse_problem.h"

typedef struct impulse_cones {
    int fits; /* 0: this system's problems are not of that kind, or it has a memory */
    int room; /* there is room for them */
    augment_alone alone;
} impulse_cones;

zw_status cones_create(impulse_cones *c, const zw_system *system);
void cones_free(impulse_cones *c);
/* H (v - v0) = r + A' lambda: the answer into p. 0: it is not found so. */
int cones_solve(impulse_cones *c, impulse_problem *p, const impulse_matrix *H, const double *r,
                const double *v0, double falling, double *v);
/* Are all slopes of forces those of single coordinates, and contacts and limits all that there is,
 * and are multipliers of the last step not worth more? Then eight worlds can go at once:
 * step/once8.h */
int cones_fit(const zw_system *system, int memoryless);

#endif

/* More contacts than unknowns: crowd.c has the method. */
#ifndef ZW_GAUSS_CROWD_H
#define ZW_GAUSS_CROWD_H

#include "gauss/work.h"

typedef struct gauss_crowd gauss_crowd;

/* Does a workspace of this shape have enough contacts for this method? */
int gauss_crowd_is(const zw_gauss_work *work);
gauss_crowd *gauss_crowd_create(const zw_gauss_work *work); /* NULL: no memory */
void gauss_crowd_free(gauss_crowd *crowd);

/* Compute work->a, lambda and work->certificate under the force C. Returns 0 if no solution within
 * the tolerance was found; the problem may have one all the same. */
int gauss_crowd_solve(gauss_crowd *crowd, const zw_gauss *problem, const zw_gauss_options *options,
                      zw_gauss_work *work, const double *C, const double *guess, double *lambda);

#endif

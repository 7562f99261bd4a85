/* More contacts than unknowns: crowd.c has the method. */
#ifndef ZW_GAUSS_CROWD_H
#define ZW_GAUSS_CROWD_H

#include "gauss/work.h"

typedef struct gauss_crowd gauss_crowd;

/* Is a workspace of this shape for a crowd? */
int gauss_crowd_is(const zw_gauss_work *work);
gauss_crowd *gauss_crowd_create(const zw_gauss_work *work); /* NULL: no memory */
void gauss_crowd_free(gauss_crowd *crowd);

/* work->a, lambda and work->certificate, with C acting. 0: no solution was found that meets the
 * tolerance, which says nothing about the problem. */
int gauss_crowd_solve(gauss_crowd *crowd, const zw_gauss *problem, const zw_gauss_options *options,
                      zw_gauss_work *work, const double *C, const double *guess, double *lambda);

#endif

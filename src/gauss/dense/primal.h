/* More contacts than unknowns: primal.c has the method. */
#ifndef ZW_GAUSS_PRIMAL_H
#define ZW_GAUSS_PRIMAL_H

#include "gauss/work.h"

typedef struct gauss_primal gauss_primal;

/* Does a workspace of this shape have enough contacts for this method? */
int gauss_primal_applies(const zw_gauss_work *work);
gauss_primal *gauss_primal_create(const zw_gauss_work *work); /* NULL: no memory */
void gauss_primal_free(gauss_primal *primal);

/* Compute work->a, lambda and work->certificate under the force C. Returns 0 if no solution within
 * the tolerance was found; the problem may have one all the same. */
int gauss_primal_solve(gauss_primal *primal, const zw_gauss *problem,
                       const zw_gauss_options *options, zw_gauss_work *work, const double *C,
                       const double *guess, double *lambda);

#endif

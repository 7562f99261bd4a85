/* Large sparse problems: the same solutions by a sparse factorisation. See sparse.c;
 * solve.c calls these in place of normal.c, equality.c and the core. */
#ifndef ZW_GAUSS_SPARSE_H
#define ZW_GAUSS_SPARSE_H

#include "gauss/work.h"

typedef struct gauss_sparse gauss_sparse;

/* NULL: not enough memory. */
gauss_sparse *gauss_sparse_create(const zw_gauss *problem, const zw_gauss_work *work);
void gauss_sparse_free(gauss_sparse *sparse);

/* Prepare a problem: units, scaled rows, rank of the equalities, undetermined coordinates. */
zw_status gauss_sparse_prepare(const zw_gauss *problem, zw_gauss_work *work, zw_error *error);

/* As gauss_pass: compute the motion work->a and the multipliers under the non-ideal force C. */
zw_status gauss_sparse_pass(const zw_gauss *problem, const zw_gauss_options *options,
                            zw_gauss_work *work, const double *C, const double *guess,
                            double *lambda, const char **method);

#endif

/* Large sparse problems: the same answers through a sparse factorisation. See sparse.c;
 * solve.c calls these in place of normal.c, equality.c and the core. */
#ifndef ZW_GAUSS_SPARSE_H
#define ZW_GAUSS_SPARSE_H

#include "gauss/work.h"

typedef struct gauss_sparse gauss_sparse;

/* NULL: no room. */
gauss_sparse *gauss_sparse_create(const zw_gauss *problem, const zw_gauss_work *work);
void gauss_sparse_free(gauss_sparse *sparse);

/* The numbers of this problem: units, rows, rank of the equalities, undetermined coordinates. */
zw_status gauss_sparse_prepare(const zw_gauss *problem, zw_gauss_work *work, zw_error *error);

/* As gauss_pass: the motion into work->a and the multipliers with the non-ideal force C acting. */
zw_status gauss_sparse_pass(const zw_gauss *problem, const zw_gauss_options *options,
                            zw_gauss_work *work, const double *C, const double *guess,
                            double *lambda, const char **method);

#endif

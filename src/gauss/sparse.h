/* Large sparse problems: the same answers through a sparse factorisation. */
#ifndef ZW_GAUSS_SPARSE_H
#define ZW_GAUSS_SPARSE_H

#include "gauss/work.h"

typedef struct gauss_sparse gauss_sparse;

gauss_sparse *gauss_sparse_create(const zw_gauss *problem, const zw_gauss_work *work);
void gauss_sparse_free(gauss_sparse *sparse);

#endif

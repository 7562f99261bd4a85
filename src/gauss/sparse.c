#include "gauss/sparse.h"
struct gauss_sparse { int x; };
gauss_sparse *gauss_sparse_create(const zw_gauss *problem, const zw_gauss_work *work) { (void)problem; (void)work; return 0; }
void gauss_sparse_free(gauss_sparse *sparse) { base_free(sparse); }

#include "gauss/sparse_kkt.h"
zw_status sparse_convex(const zw_gauss *problem, const zw_gauss_options *options,
                        zw_gauss_work *work, const double *C, int warm)
{ (void)problem;(void)options;(void)work;(void)C;(void)warm; return ZW_INACCURATE; }

#include "gauss/sparse_kkt.h"
zw_status sparse_coulomb(const zw_gauss *problem, const zw_gauss_options *options,
                         zw_gauss_work *work, const double *C, int warm, const char **method)
{ (void)problem;(void)options;(void)work;(void)C;(void)warm; (void)method;return ZW_JAMMED; }

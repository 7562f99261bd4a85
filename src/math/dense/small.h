/* Small dense kernels over lanes, for one world and for eight; see the .lane.h files. */
#ifndef ZW_MATH_SMALL_H
#define ZW_MATH_SMALL_H

#include "math/lane.h"

int small_cholesky(int n, double *H, double floor);
void small_cholesky_solve(int n, const double *L, double *x);
int small_ldl(int n, double *H, double floor);
void small_ldl_solve(int n, const double *L, double *x);

zw_mask8 small_cholesky8(int n, zw_real8 *H, double floor);
void small_cholesky_solve8(int n, const zw_real8 *L, zw_real8 *x);
zw_mask8 small_ldl8(int n, zw_real8 *H, double floor);
void small_ldl_solve8(int n, const zw_real8 *L, zw_real8 *x);
void cone_nearest8(int d, const zw_real8 *z, zw_real8 *p);

#endif

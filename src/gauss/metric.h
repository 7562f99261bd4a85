/* The metric M: apply, factor, solve, whatever its kind. */
#ifndef ZW_GAUSS_METRIC_H
#define ZW_GAUSS_METRIC_H

#include "zwang/gauss.h"

void gauss_metric_apply(const zw_gauss *problem, const double *x, double *y); /* y = M x */
void gauss_metric_diagonal(const zw_gauss *problem, double *d);               /* d = diag(M) */

/* M = U'U into U. Returns ZW_OK, or ZW_UNDETERMINED if a pivot vanishes beside its diagonal entry:
 * M is singular, or not a metric. */
zw_status gauss_metric_factor(const zw_gauss *problem, double *U);
void gauss_metric_solve_lower(const zw_gauss *problem, const double *U, double *x); /* U' \ x */
void gauss_metric_solve_upper(const zw_gauss *problem, const double *U, double *x); /* U \ x */

/* X = U' \ X for the m columns of X (n x m); an operator needs n numbers of scratch. */
void gauss_metric_solve_lower_many(const zw_gauss *problem, const double *U, int m, double *X,
                                   double *scratch);

/* M as a full matrix, upper triangle (dense algebra only; not for an operator). */
void gauss_metric_expand(const zw_gauss *problem, double *H);

#endif

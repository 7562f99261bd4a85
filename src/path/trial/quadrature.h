/* Integrals along samples. */
#ifndef ZW_PATH_QUADRATURE_H
#define ZW_PATH_QUADRATURE_H

/* sum[i * n + k] = sum[k] + integral from t[0] to t[i] of column k; sum[0 .. n - 1] is given. The
 * integrand on each interval is the polynomial through the ten samples around it. `rough` (or NULL)
 * [count * n] receives, for the interval before each sample, the difference from the mean value
 * found with eight samples. `carry` is scratch for n numbers: the summation is compensated, so that
 * the error does not grow with the number of samples. */
void path_integrate(long count, const double *t, int n, const double *y, double *sum, double *rough,
                    double *carry);

#endif

/* Polynomials that are orthonormal over the samples of a window.
 *
 * With times scaled to x in [-1, 1], p_0, p_1, ... satisfy sum_i p_j(x_i) p_k(x_i) = (j == k). The
 * coefficients of a least-squares fit are then plain sums c_j = sum_i p_j(x_i) q_i. A fit of lower
 * degree has the same coefficients, and white noise of standard deviation sigma in the samples
 * gives white noise of standard deviation sigma in the coefficients.
 *
 * Each polynomial is x times the one before, orthogonalised (twice) against all earlier ones. At
 * equidistant times the usual three-term recurrence loses all digits once the degree exceeds twice
 * the square root of the number of samples. */
#ifndef ZW_PATH_BASIS_H
#define ZW_PATH_BASIS_H

#define BASIS_MOST 28 /* largest number of polynomials */

typedef struct path_basis {
    int samples, size; /* `size` is the number of polynomials */
    double middle;     /* x = (t - middle) / half */
    double half;
    int capacity;                        /* of x and p, in samples */
    double *x;                           /* [samples] */
    double *p;                           /* [size][samples] */
    double turn[BASIS_MOST][BASIS_MOST]; /* x p_j = sum_{k <= j + 1} turn[j][k] p_k */
    int low[BASIS_MOST];                 /* turn[j][k] = 0 for k < low[j] */
} path_basis;

/* Allocates for windows of at most `samples` samples; 0: no memory. */
int basis_create(path_basis *basis, int samples);
void basis_free(path_basis *basis);

/* Makes the basis for the times t[samples]; returns the number of polynomials, at most `size`. */
int basis_make(path_basis *basis, int samples, const double *t, int size);
/* Are these times those of the basis, shifted, to within round-off? Then the basis is shifted to
 * them. */
int basis_fits(path_basis *basis, int samples, const double *t);

/* Values and first and second derivatives by t of the first `size` polynomials at time t. */
void basis_at(const path_basis *basis, int size, double t, double f[3][BASIS_MOST]);

#endif

/* Polynomials that are orthonormal over the samples of a window.
 *
 * On times scaled to x in [-1, 1], p_0, p_1, ... with sum_i p_j(x_i) p_k(x_i) = (j == k). The
 * coefficients of a least-squares fit are then plain sums c_j = sum_i p_j(x_i) q_i; a fit of lower
 * degree has the same ones; and white noise of deviation sigma in the samples is white noise of
 * deviation sigma in the coefficients.
 *
 * They are made by multiplying with x and orthogonalising (twice) against all before: on even
 * times the usual recurrence of three terms loses all digits once the degree passes two times the
 * root of the number of samples. */
#ifndef ZW_PATH_BASIS_H
#define ZW_PATH_BASIS_H

#define BASIS_MOST 28 /* polynomials */

typedef struct path_basis {
    int samples, size; /* size polynomials */
    double middle;     /* x = (t - middle) / half */
    double half;
    int capacity;                        /* of x and p, in samples */
    double *x;                           /* [samples] */
    double *p;                           /* [size][samples] */
    double turn[BASIS_MOST][BASIS_MOST]; /* x p_j = sum_{k <= j + 1} turn[j][k] p_k */
    int low[BASIS_MOST];                 /* turn[j][k] is nothing for k < low[j] */
} path_basis;

/* Room for windows of so many samples; 0: no memory. */
int basis_create(path_basis *basis, int samples);
void basis_free(path_basis *basis);

/* For the times t[samples]; returns the number of polynomials there are, at most `size`. */
int basis_make(path_basis *basis, int samples, const double *t, int size);
/* Do these times differ from those it was made for only as a whole, as well as times can say? Then
 * it is moved there. */
int basis_fits(path_basis *basis, int samples, const double *t);

/* Values and derivatives by t of the first `size` polynomials at a time: f[3][BASIS_MOST]. */
void basis_at(const path_basis *basis, int size, double t, double f[3][BASIS_MOST]);

#endif

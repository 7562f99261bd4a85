/* Eigenvalues and eigenvectors of a real matrix: see eigen.c. */
#ifndef ZW_MATH_EIGEN_H
#define ZW_MATH_EIGEN_H

/* A[n][n] row by row, as it was. value[2 n]: real and imaginary part of each; vector[n][2 n]: of
 * each value a row of n pairs, of length one, or NULL: not wanted. Returns 1; 0: it did not
 * converge, or something is not finite; -1: no memory. */
int dense_eigen(int n, const double *A, double *value, double *vector);

#endif

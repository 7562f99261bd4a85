/* K = L D L' for large sparse symmetric quasi-definite K = [M A'; A -E], in a fill-reducing order.
 *
 * Patterns as in math/sparse/sparse.h: compressed columns, each pair {i, j} once, in either
 * triangle; missing diagonal entries are zeros, repeated entries add up. The sign of every pivot is
 * known beforehand:
 *
 *     sign[i] = +1   a coordinate (M > 0)
 *     sign[i] = -1   a constraint row (E >= 0), eliminated after the coordinates it acts on
 *     sign[i] = -2   a constraint row with E_ii > 0; it may go first (less fill)
 *
 *     sparse_ldl *f = sparse_ldl_analyse(n, start, row, sign);     once per pattern
 *     int replaced = sparse_ldl_factor(f, value, 1e-12);           per set of numbers
 *     sparse_ldl_solve(f, x);                                      per right side
 *     sparse_ldl_free(f);
 *
 * A pivot that has the wrong sign, or is below floor times the size of the terms that made it, is
 * replaced: then L D L' = K + (a diagonal change at the replaced pivots), and iterative refinement
 * with K (sparse_multiply) gives the solution of a consistent system. A redundant row gives exactly
 * one replaced pivot. */
#ifndef ZW_MATH_LDL_H
#define ZW_MATH_LDL_H

#include <stddef.h>

typedef struct sparse_ldl sparse_ldl;

/* NULL: out of memory, an invalid pattern, or a factor too large for this machine. */
sparse_ldl *sparse_ldl_analyse(int n, const int *start, const int *row, const signed char *sign);
void sparse_ldl_free(sparse_ldl *f); /* NULL is fine */

/* Numbers for the analysed pattern. Returns how many pivots were replaced, or -1 if a number is not
 * finite (then there is no factor, and solving is not allowed). floor < DBL_EPSILON counts as that.
 */
int sparse_ldl_factor(sparse_ldl *f, const double *value, double floor);

void sparse_ldl_solve(sparse_ldl *f, double *x); /* x = K \ x */

const double *sparse_ldl_pivots(const sparse_ldl *f);          /* d[n], in the caller's numbering */
const unsigned char *sparse_ldl_replaced(const sparse_ldl *f); /* [n] 1: that pivot was replaced */
size_t sparse_ldl_fill(const sparse_ldl *f);                   /* entries of L below the diagonal */
size_t sparse_ldl_stored(const sparse_ldl *f); /* numbers kept for L and D, padding included */

#endif

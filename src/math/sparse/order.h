/* A fill-reducing ordering of sparse symmetric matrices. Patterns as in math/sparse/sparse.h.
 *
 * It gives perm[new] = old, a permutation of 0..n-1, and ORDER_OK; on any failure perm is
 * untouched. Tests compare its fill with that of SuiteSparse's AMD.
 *
 * `sign` (may be NULL) marks the unknowns of a saddle-point matrix [M A'; A -E]: +1 a coordinate,
 * -1 a constraint row, -2 a constraint row whose E_ii is surely positive. With it, a row of sign -1
 * is never eliminated before the coordinates it acts on, which is what makes all pivots exist even
 * for E = 0 (order.c says why, and for which hubs it is relaxed). */
#ifndef ZW_MATH_ORDER_H
#define ZW_MATH_ORDER_H

enum { ORDER_OK = 0, ORDER_NO_MEMORY = 1, ORDER_TOO_LARGE = 2 };

int order_minimum_degree(int n, const int *start, const int *row, const signed char *sign,
                         int *perm);

#endif

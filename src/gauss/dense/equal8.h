/* Equality rows of eight small problems at once, with the bits of the kernel.
 *
 * The common case of dense Gauss problems: a metric that is positive definite, rows that are
 * independent. Every number is computed with
 * the operations of normal.c, equality.c, pass.c and certificate.c in their order, so that a lane
 * that is good has the bits that zw_gauss_solve gives to its problem alone; a lane that is not good
 * is to be solved there. */
#ifndef ZW_GAUSS_EQUAL8_H
#define ZW_GAUSS_EQUAL8_H

#include "base/memory.h"
#include "math/lane.h"

/* Arrays of the caller: the problem. */
typedef struct gauss_problem8 {
    int n, m;          /* unknowns; rows, at most n */
    int diagonal;      /* M[n] is a diagonal; else M[n * n], of which the lower triangle counts */
    int measures;      /* is the margin wanted? */
    double rank_floor; /* zw_gauss_options.rank, not 0 */
    const zw_real8 *M; /* the metric */
    const zw_real8 *A; /* [m * n] */
    const zw_real8 *b; /* [m] */
    const zw_real8 *force; /* [n]; NULL: the free motion is 0 */
} gauss_problem8;

/* The answer, and scratch for problems of at most this size. */
typedef struct gauss_equal8 {
    zw_real8 *a;                                   /* [n] */
    zw_real8 *lambda;                              /* [m] */
    zw_real8 *push;                                /* [n] A' lambda: F^L */
    zw_real8 *independence, *margin, *certificate; /* [1] each; as zw_motion's */
    zw_mask8 *good;                                /* [1] */

    zw_real8 *U;                             /* [n * n] M = U'U, or [n] its roots */
    zw_real8 *free, *x;                      /* [n] */
    zw_real8 *X;                             /* [n * m] U' \ A' */
    zw_real8 *D;                             /* [m * n] rows of length one, then their factors */
    zw_real8 *scale, *c, *z, *beta;          /* [m] */
    zw_real8 *square, *exact, *order, *r;    /* [m] */
    zw_real8 *unit, *inverse, *rest;         /* [n] of the certificate */
    zw_real8 *sizes, *still;                 /* [n] */
    zw_real8 *best_a, *best_push;            /* [n] of refinement, */
    zw_real8 *best_lambda;                   /* [m] */
    zw_real8 *w, *pushed, *carried, *before; /* [m] */
} gauss_equal8;

void gauss_equal8_layout(gauss_equal8 *s, int n, int m, base_arena *arena);
void gauss_equal8_solve(const gauss_problem8 *problem, gauss_equal8 *s);

#endif

/* Large pieces of many bodies: contacts, limits and equality rows by a proximal Newton method in
 * the motion. See sparse_prox.c. islands.c uses it first, and the kernel where it gives up. */
#ifndef ZW_GAUSS_SPARSE_PROX_H
#define ZW_GAUSS_SPARSE_PROX_H

#include "zwang/gauss.h"

typedef struct sparse_prox sparse_prox;

sparse_prox *sparse_prox_create(void); /* NULL: no memory */
void sparse_prox_free(sparse_prox *s); /* NULL is fine */

/* 1: solved to the tolerance of the options, by the certificate; `motion` then has a, lambda,
 * residual, certificate and counts, and is valid until the next call. -1: not to the tolerance, and
 * motion is the best found. 0: no solution. The metric is diagonal or compressed, the rows are
 * compressed, `free` is given, C and law are not; cones of more than one row have no compliance. */
int sparse_prox_solve(sparse_prox *s, const zw_gauss *problem, const zw_gauss_options *options,
                      zw_motion *motion);

#endif

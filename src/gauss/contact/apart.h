/* zw_gauss_solve, piece by piece: for callers that need all of a zw_motion.
 *
 * The pieces are those of islands.h; each is solved by the kernel separately, so that the cost is
 * the sum of the pieces. The result for the whole is the sum over the pieces (Z, rank), their lists
 * one after another, and the worst of their certificates. */
#ifndef ZW_GAUSS_APART_H
#define ZW_GAUSS_APART_H

#include "zwang/gauss.h"

typedef struct gauss_apart gauss_apart;

gauss_apart *gauss_apart_create(void); /* NULL: no memory */
void gauss_apart_free(gauss_apart *w);

/* Metric diagonal or compressed, rows compressed, the force given, no law. `again`: since the last
 * call, which returned 1, only b has changed, and pieces with an unchanged b are not solved again.
 * 1: *status is ZW_OK, or ZW_INACCURATE or ZW_JAMMED with the best solution. 0: it does not fall
 * apart, or some piece has no solution, or there is no memory: zw_gauss_solve reports which. */
int gauss_apart_solve(gauss_apart *w, const zw_gauss *problem, const zw_gauss_options *options,
                      int again, zw_motion *motion, zw_status *status, zw_error *error);

#endif

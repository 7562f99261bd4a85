/* zw_gauss_solve, piece by piece: for callers that need all of a zw_motion.
 *
 * The pieces are those of islands.h; each is answered by the kernel alone, so that many small
 * things cost their sum. What is reported of the whole is the sum of the pieces (Z, rank), their
 * lists one after another, and the worst of their certificates. */
#ifndef ZW_GAUSS_APART_H
#define ZW_GAUSS_APART_H

#include "zwang/gauss.h"

typedef struct gauss_apart gauss_apart;

gauss_apart *gauss_apart_create(void); /* NULL: no memory */
void gauss_apart_free(gauss_apart *w);

/* Metric diagonal or compressed, rows compressed, the force given, no law. `again`: since the last
 * call, which answered 1, only b has changed, and pieces whose b is what it was are not solved
 * again. 1: *status is ZW_OK, or ZW_INACCURATE or ZW_JAMMED with the best answer. 0: it does not
 * fall apart, or some piece has no answer, or there is no memory: all of that is for zw_gauss_solve
 * to tell. */
int gauss_apart_solve(gauss_apart *w, const zw_gauss *problem, const zw_gauss_options *options,
                      int again, zw_motion *motion, zw_status *status, zw_error *error);

#endif

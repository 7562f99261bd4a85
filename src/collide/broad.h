/* Which of many boxes overlap.
 *
 * Everything is made anew from the boxes at each call, so the answer depends on them alone, not on
 * what was before: pairs (i, j), i < j, in rising order of i, then of j. Memory grows as needed and
 * is kept; nothing is allocated when numbers do not grow. Endless boxes (planes) are kept apart:
 * they meet everybody. */
#ifndef ZW_COLLIDE_BROAD_H
#define ZW_COLLIDE_BROAD_H

#include "zwang/status.h"

typedef struct collide_broad collide_broad;

collide_broad *collide_broad_new(void); /* NULL: no memory */
void collide_broad_free(collide_broad *broad);

/* Boxes lower[3 i ..], upper[3 i ..], already grown by the margin. `still` (or NULL): nonzero for
 * what cannot move; two of these are no pair. ZW_NOT_FINITE: box number *bad has a NaN, or its
 * lower corner is above the upper one; the others are listed all the same. */
zw_status collide_broad_update(collide_broad *broad, int count, const double *lower,
                               const double *upper, const unsigned char *still, int *bad);

/* The pairs of the last update: two numbers each. */
int collide_broad_pairs(const collide_broad *broad, const int **pair);

#endif

/* Which of many boxes overlap.
 *
 *     collide_broad_keep(broad, count, lower, upper, still, &bad);      what does not move
 *     collide_broad_update(broad, many, list, lower, upper, 1, &bad);      what does: the pairs
 *
 * The cost of an update is that of the boxes that move (and of what they meet), not of those that
 * were kept. The answer depends on the boxes alone, not on what was before: pairs (i, j), i < j, in
 * rising order of i, then of j. Memory grows as needed and is kept; nothing is allocated when
 * numbers do not grow. Endless boxes (planes) are kept apart: they meet every box. */
#ifndef ZW_COLLIDE_BROAD_H
#define ZW_COLLIDE_BROAD_H

#include "zwang/status.h"

typedef struct collide_broad collide_broad;

collide_broad *collide_broad_new(void); /* NULL: no memory */
void collide_broad_free(collide_broad *broad);

/* Boxes lower[3 i ..], upper[3 i ..], i < count, of which those with still[i] cannot move: two of
 * these are no pair. They are kept until the next call; at first there are none. ZW_NOT_FINITE: box
 * number *bad has a NaN, or its lower corner is above the upper one; the others are kept all the
 * same. */
zw_status collide_broad_keep(collide_broad *broad, int count, const double *lower,
                             const double *upper, const unsigned char *still, int *bad);

/* The pairs of list[count] (NULL: 0 .. count - 1), which are not among those kept, with those, and
 * if `among` with each other. Boxes are grown by the margin already. ZW_NOT_FINITE as above. */
zw_status collide_broad_update(collide_broad *broad, int count, const int *list,
                               const double *lower, const double *upper, int among, int *bad);

/* The pairs of the last update: two numbers each. */
int collide_broad_pairs(const collide_broad *broad, const int **pair);

#endif

/* Which of many boxes overlap.
 *
 *     collide_broad_keep(broad, count, lower, upper, still, &bad);         fixed boxes
 *     collide_broad_update(broad, many, list, lower, upper, 1, &bad);      moving boxes: the pairs
 *
 * The cost of an update depends on the number of moving boxes and pairs, not on the fixed boxes.
 * The answer depends on the boxes alone, not on earlier updates: pairs (i, j), i < j, in rising
 * order of i, then of j. Memory grows as needed and is reused. Infinite boxes (planes) are stored
 * separately: they meet every box. */
#ifndef ZW_COLLIDE_BROAD_H
#define ZW_COLLIDE_BROAD_H

#include "zwang/status.h"

typedef struct collide_broad collide_broad;

collide_broad *collide_broad_new(void); /* NULL: no memory */
void collide_broad_free(collide_broad *broad);

/* Boxes lower[3 i ..], upper[3 i ..], i < count, of which those with still[i] are fixed; two fixed
 * boxes never form a pair. They are stored until the next call; initially there are none.
 * ZW_NOT_FINITE: box number *bad has a NaN, or its lower corner is above the upper one; the others
 * are stored nevertheless. */
zw_status collide_broad_keep(collide_broad *broad, int count, const double *lower,
                             const double *upper, const unsigned char *still, int *bad);

/* Finds the pairs of the moving boxes list[count] (NULL: 0 .. count - 1) with the fixed ones and,
 * if `among`, with each other. Boxes already include the margin. ZW_NOT_FINITE as above. */
zw_status collide_broad_update(collide_broad *broad, int count, const int *list,
                               const double *lower, const double *upper, int among, int *bad);

/* The pairs of the last update: two numbers each. */
int collide_broad_pairs(const collide_broad *broad, const int **pair);

#endif

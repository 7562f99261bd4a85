/* Shared by the files of subsets. */
#ifndef ZW_SYSTEM_SUBSET_INNER_H
#define ZW_SYSTEM_SUBSET_INNER_H

#include "system/subset/subset.h"

/* Connects bodies a and b; the world belongs to no island. Returns one of them other than the
 * world. */
int subset_tie(int *link, int a, int b);
/* Sets g->formula to a body of the formulas, 0: they act on no body. Returns 0: no memory. */
int subset_tie_formulas(subset_groups *g, int *link);
/* Adds them to s, if they are `there`, and counts their rows. */
void subset_measure_formulas(subset *s, const subset_groups *g, int there);
/* Fills their rows, the first ones in s; no effect if s has none. */
void subset_fill_formulas(subset *s, const subset_groups *g);

#endif

/* What the files of subsets share. */
#ifndef ZW_SYSTEM_SUBSET_INNER_H
#define ZW_SYSTEM_SUBSET_INNER_H

#include "system/subset/subset.h"

/* Bodies a and b belong together; the world belongs to no island. Returns the one that does. */
int subset_tie(int *link, int a, int b);
/* g->formula is a body of the formulas then, 0: they push no body. 0: no memory. */
int subset_tie_formulas(subset_groups *g, int *link);
/* s gets them, if they are `there`, and their rows are counted. */
void subset_measure_formulas(subset *s, const subset_groups *g, int there);
/* Their rows come first, in s; nothing to do where s has none. */
void subset_fill_formulas(subset *s, const subset_groups *g);

#endif

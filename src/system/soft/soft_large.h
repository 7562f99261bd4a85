/* H of large islands, by a sparse factor with its own ordering; soft_island.c decides when. */
#ifndef ZW_SYSTEM_SOFT_LARGE_H
#define ZW_SYSTEM_SOFT_LARGE_H

#include "math/sparse/ldl.h"
#include "system/soft/soft.h"

/* Entries are those of M's rows, then those of every block, all pairs of its columns: entries of
 * the same pair are added. */
typedef struct soft_large {
    int n, entries, scratch;
    int *start, *row; /* [n+1], [entries] the pattern that is analysed, by columns */
    int *place;       /* [entries] where each is in value[] */
    int *new_start, *new_row;
    double *value;
    sparse_ldl *ldl;
} soft_large;

/* Finds the pattern, and analyses it unless it is unchanged. 0: no memory. */
int soft_large_find(soft_problem *s, soft_island *island);
void soft_large_free(soft_large *large);
/* H = M + diagonal + J' C J; only_masses: only blocks that are masses. 0: not positive definite. */
int soft_large_factor(soft_problem *s, const soft_island *island, const double *diagonal,
                      int only_masses);
/* x in the numbering of the island */
void soft_large_solve(soft_problem *s, const soft_island *island, double *x);

#endif

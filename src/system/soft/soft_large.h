/* H of large islands, by a sparse factor that orders itself; soft_island.c says when. */
#ifndef ZW_SYSTEM_SOFT_LARGE_H
#define ZW_SYSTEM_SOFT_LARGE_H

#include "math/sparse/ldl.h"
#include "system/soft/soft.h"

/* Entries are those of M's rows, then those of every block, its columns against each other: the
 * same pair may come again and again, and adds up. */
typedef struct soft_large {
    int n, entries, scratch;
    int *start, *row; /* [n+1], [entries] the pattern that is analysed, by columns */
    int *place;       /* [entries] where each is in value[] */
    int *new_start, *new_row;
    double *value;
    sparse_ldl *ldl;
} soft_large;

/* The pattern, analysed unless it is that of the last time. 0: no memory. */
int soft_large_find(soft_problem *s, soft_island *island);
void soft_large_free(soft_large *large);
/* H = M + diagonal + J' C J; only_masses: of blocks only those. 0: it is not positive. */
int soft_large_factor(soft_problem *s, const soft_island *island, const double *diagonal,
                      int only_masses);
/* x by numbers of the island */
void soft_large_solve(soft_problem *s, const soft_island *island, double *x);

#endif

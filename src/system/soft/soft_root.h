/* One piece of soft_factor.c and soft_lane.c, for numbers and for eight of them: SOFT_REAL. */
#ifndef ZW_SYSTEM_SOFT_ROOT_H
#define ZW_SYSTEM_SOFT_ROOT_H

#include "system/soft/soft.h"

/* x = L \ D \ x for a run: first from above, then among its own dofs. */
ZW_INLINE void from_root(const soft_shape *shape, int first, const int n, const SOFT_REAL *H,
                         SOFT_REAL *x)
{
    int above = shape->depth[first] - 1;
    const SOFT_REAL *row[TREE_BLOCK];
    SOFT_REAL own[TREE_BLOCK];
    for (int k = 0; k < n; k++) {
        row[k] = H + shape->start[first + k];
        own[k] = x[first + k];
    }
    for (int t = above - 1, d = shape->parent[first]; t >= 0; t--, d = shape->parent[d]) {
        for (int k = 0; k < n; k++) {
            own[k] -= row[k][t] * x[d];
        }
    }
    for (int k = 0; k < n; k++) {
        for (int e = 0; e < k; e++) {
            own[k] -= row[k][above + e] * own[e];
        }
        own[k] *= row[k][above + k];
        x[first + k] = own[k];
    }
}

#endif

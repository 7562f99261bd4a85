/* One piece of paths.c and of system/soft/soft_lane.c, for numbers and for eight of them:
 * PATHS_REAL. */
#ifndef ZW_MATH_PATHS_ROOT_H
#define ZW_MATH_PATHS_ROOT_H

#include "math/dense/paths.h"
#include "math/lane.h"

/* x = L \ D \ x for a run: first from above, then among its own dofs. */
ZW_INLINE void from_root(const paths_shape *shape, int first, const int n, const PATHS_REAL *H,
                         PATHS_REAL *x)
{
    int above = shape->depth[first] - 1;
    const PATHS_REAL *row[PATHS_RUN];
    PATHS_REAL own[PATHS_RUN];
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

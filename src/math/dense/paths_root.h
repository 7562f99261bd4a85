/* One piece of paths.c and of system/soft/soft_lane.c, for numbers and for eight of them:
 * PATHS_REAL, and PATHS_NEAR where they are in arrays. */
#ifndef ZW_MATH_PATHS_ROOT_H
#define ZW_MATH_PATHS_ROOT_H

#include "math/dense/paths.h"
#include "math/lane.h"

#ifndef PATHS_NEAR
#define PATHS_NEAR PATHS_REAL
#endif

/* What is above a run, from the root on, so many at once. */
enum { PATHS_ABOVE = 64 };
ZW_INLINE void from_above(const paths_shape *shape, int first, const int n, int above,
                          const PATHS_NEAR *const *row, const PATHS_NEAR *x, PATHS_REAL *own)
{
    for (int low = 0; low < above; low += PATHS_ABOVE) {
        int high = low + PATHS_ABOVE < above ? low + PATHS_ABOVE : above, way[PATHS_ABOVE];
        for (int t = above - 1, d = shape->parent[first]; t >= low; t--, d = shape->parent[d]) {
            way[t < high ? t - low : 0] = d;
        }
        for (int t = low; t < high; t++) {
            for (int k = 0; k < n; k++) {
                own[k] -= row[k][t] * x[way[t - low]];
            }
        }
    }
}

/* x = L \ D \ x for a run: first from above, then among its own dofs. in_order: from the root on,
 * so that the bits do not depend on which nodes are a run. */
ZW_INLINE void from_root(const paths_shape *shape, int first, const int n, const int in_order,
                         const PATHS_NEAR *H, PATHS_NEAR *x)
{
    int above = shape->depth[first] - 1;
    const PATHS_NEAR *row[PATHS_RUN];
    PATHS_REAL own[PATHS_RUN];
    for (int k = 0; k < n; k++) {
        row[k] = H + shape->start[first + k];
        own[k] = x[first + k];
    }
    if (in_order) {
        from_above(shape, first, n, above, row, x, own);
    }
    for (int t = above - 1, d = shape->parent[first]; t >= 0 && !in_order;
         t--, d = shape->parent[d]) {
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

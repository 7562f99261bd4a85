/* H = L' D L on paths of a tree of dofs: soft_island.c has the pattern.
 *
 * As tree/factor.lane.h: eliminating the last dof changes only pairs of its ancestors, and the row
 * of an ancestor is as long as the first part of the row at hand. Here rows begin at multiples of
 * four and all of them are worked on four numbers at a time. What that writes behind the end of a
 * row is nobody's: it stays behind ends. Runs of dofs, each the parent of the next, are eliminated
 * together. Factors l wait in `kept` until a run is done, so that no number is read right after it
 * was written as a part of four. */
#include <string.h>

#include "math/lane.h"
#include "system/soft.h"
#include "system/soft_four.h"

/* The triangle of a run, and what it does to the run's own rows; 0: a pivot is not positive. */
ZW_INLINE int factor_run(const soft_shape *shape, int first, int n, const double *diagonal,
                         double *H)
{
    int above = shape->depth[first] - 1, good = 1;
    for (int k = n - 1; k >= 0; k--) {
        double *row = H + shape->start[first + k], l[TREE_BLOCK];
        double pivot = row[above + k] + (diagonal ? diagonal[first + k] : 0);
        good &= pivot > 0;
        double inverse = 1 / pivot;
        row[above + k] = inverse;
        for (int e = k - 1; e >= 0; e--) {
            double *upper = H + shape->start[first + e];
            l[e] = row[above + e] * inverse;
            for (int c = 0; c <= above + e; c += 4) {
                four_put(upper + c, four_at(upper + c) - l[e] * four_at(row + c));
            }
        }
        for (int e = 0; e < k; e++) {
            row[above + e] = l[e];
        }
    }
    return good;
}

/* The rows above, for a run of n; n is a constant where this is inlined. */
ZW_INLINE void factor_above(const soft_shape *shape, int first, const int n, double *kept,
                            double *H)
{
    int above = shape->depth[first] - 1;
    double *row[TREE_BLOCK], inverse[TREE_BLOCK], l[TREE_BLOCK];
    for (int k = 0; k < n; k++) {
        row[k] = H + shape->start[first + k];
        inverse[k] = row[k][above + k];
    }
    for (int t = above - 1, d = shape->parent[first]; t >= 0; t--, d = shape->parent[d]) {
        double *upper = H + shape->start[d];
        for (int k = 0; k < n; k++) {
            l[k] = row[k][t] * inverse[k];
            kept[n * t + k] = l[k];
        }
        for (int c = 0; c <= t; c += 4) {
            soft_four entry = four_at(upper + c);
            for (int k = n - 1; k >= 0; k--) {
                entry -= l[k] * four_at(row[k] + c);
            }
            four_put(upper + c, entry);
        }
    }
    for (int t = 0; t < above; t++) {
        for (int k = 0; k < n; k++) {
            row[k][t] = kept[n * t + k];
        }
    }
}

ZW_CLONES int soft_factor(const soft_shape *shape, const double *diagonal, double *kept, double *H)
{
    int good = 1;
    for (int b = shape->blocks - 1; b >= 0; b--) {
        int first = shape->block[b], n = shape->block[b + 1] - first;
        good &= factor_run(shape, first, n, diagonal, H);
        switch (n) {
        case 1:
            factor_above(shape, first, 1, kept, H);
            break;
        case 2:
            factor_above(shape, first, 2, kept, H);
            break;
        case 3:
            factor_above(shape, first, 3, kept, H);
            break;
        default:
            factor_above(shape, first, TREE_BLOCK, kept, H);
            break;
        }
    }
    return good;
}

/* x = L' \ x for a run: first among its own dofs, then above. */
ZW_INLINE void to_root(const soft_shape *shape, int first, const int n, const double *H, double *x)
{
    int above = shape->depth[first] - 1;
    const double *row[TREE_BLOCK];
    double own[TREE_BLOCK];
    for (int k = 0; k < n; k++) {
        row[k] = H + shape->start[first + k];
        own[k] = x[first + k];
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int e = 0; e < k; e++) {
            own[e] -= row[k][above + e] * own[k];
        }
    }
    for (int t = above - 1, d = shape->parent[first]; t >= 0; t--, d = shape->parent[d]) {
        double sum = x[d];
        for (int k = n - 1; k >= 0; k--) {
            sum -= row[k][t] * own[k];
        }
        x[d] = sum;
    }
    for (int k = 0; k < n; k++) {
        x[first + k] = own[k];
    }
}

/* x = L \ D \ x for a run: first from above, then among its own dofs. */
ZW_INLINE void from_root(const soft_shape *shape, int first, const int n, const double *H,
                         double *x)
{
    int above = shape->depth[first] - 1;
    const double *row[TREE_BLOCK];
    double own[TREE_BLOCK];
    for (int k = 0; k < n; k++) {
        row[k] = H + shape->start[first + k];
        own[k] = x[first + k] * row[k][above + k];
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
        x[first + k] = own[k];
    }
}

void soft_solve(const soft_shape *shape, const double *H, double *x)
{
    for (int b = shape->blocks - 1; b >= 0; b--) {
        int first = shape->block[b];
        switch (shape->block[b + 1] - first) {
        case 1:
            to_root(shape, first, 1, H, x);
            break;
        case 2:
            to_root(shape, first, 2, H, x);
            break;
        case 3:
            to_root(shape, first, 3, H, x);
            break;
        default:
            to_root(shape, first, TREE_BLOCK, H, x);
            break;
        }
    }
    for (int b = 0; b < shape->blocks; b++) {
        int first = shape->block[b];
        switch (shape->block[b + 1] - first) {
        case 1:
            from_root(shape, first, 1, H, x);
            break;
        case 2:
            from_root(shape, first, 2, H, x);
            break;
        case 3:
            from_root(shape, first, 3, H, x);
            break;
        default:
            from_root(shape, first, TREE_BLOCK, H, x);
            break;
        }
    }
}

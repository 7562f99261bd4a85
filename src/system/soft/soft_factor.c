/* H = L' D L on paths of a tree of dofs: soft_island.c has the pattern.
 *
 * As tree/factor.lane.h: eliminating the last dof changes only pairs of its ancestors, and the row
 * of an ancestor is as long as the first part of the row at hand. Here rows begin at multiples of
 * four and are worked on four numbers at a time. What that writes behind the end of a row is
 * nobody's: it stays behind ends. Rows are kept as D L, and 1/D in place of the diagonal: nothing
 * has to be written back. Runs of dofs, each the parent of the next, are eliminated together; n,
 * their number, is a constant where these functions are inlined. */
#include "system/soft/soft.h"
#include "system/soft/soft_four.h"

#define SOFT_REAL double
#include "system/soft/soft_root.h"

/* H = M, whose rows have no gaps; the rows end with what comes after them in M, as the work of a
 * tree goes on behind it. */
ZW_CLONES void soft_copy(const soft_shape *shape, const double *M, double *H)
{
    for (int i = 0; i < shape->n; i++) {
        double *row = H + shape->start[i];
        for (int c = 0; c < shape->depth[i]; c += 4) {
            four_put(row + c, four_at(M + c));
        }
        M += shape->depth[i];
    }
}

/* 0: a pivot is not positive. */
ZW_INLINE int factor_run(const soft_shape *shape, int first, const int n, const double *diagonal,
                         double *H)
{
    int above = shape->depth[first] - 1, good = 1;
    double *row[TREE_BLOCK], inverse[TREE_BLOCK], l[TREE_BLOCK];
    for (int k = 0; k < n; k++) {
        row[k] = H + shape->start[first + k];
    }
    for (int k = n - 1; k >= 0; k--) { /* among themselves */
        double pivot = row[k][above + k] + (diagonal ? diagonal[first + k] : 0);
        good &= pivot > 0;
        inverse[k] = 1 / pivot;
        for (int e = k - 1; e >= 0; e--) {
            l[e] = row[k][above + e] * inverse[k];
        }
        for (int e = k - 1; e >= 0; e--) {
            for (int c = 0; c <= above + e; c += 4) {
                four_put(row[e] + c, four_at(row[e] + c) - l[e] * four_at(row[k] + c));
            }
        }
    }
    for (int t = above - 1, d = shape->parent[first]; t >= 0; t--, d = shape->parent[d]) {
        double *upper = H + shape->start[d];
        for (int k = 0; k < n; k++) {
            l[k] = row[k][t] * inverse[k];
        }
        for (int c = 0; c <= t; c += 4) {
            soft_four entry = four_at(upper + c);
            for (int k = n - 1; k >= 0; k--) {
                entry -= l[k] * four_at(row[k] + c);
            }
            four_put(upper + c, entry);
        }
    }
    for (int k = 0; k < n; k++) {
        row[k][above + k] = inverse[k];
    }
    return good;
}

ZW_CLONES int soft_factor(const soft_shape *shape, const double *diagonal, double *H)
{
    int good = 1;
    for (int b = shape->blocks - 1; b >= 0; b--) {
        int first = shape->block[b];
        switch (shape->block[b + 1] - first) {
        case 1:
            good &= factor_run(shape, first, 1, diagonal, H);
            break;
        case 2:
            good &= factor_run(shape, first, 2, diagonal, H);
            break;
        case 3:
            good &= factor_run(shape, first, 3, diagonal, H);
            break;
        default:
            good &= factor_run(shape, first, TREE_BLOCK, diagonal, H);
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
        x[first + k] = own[k];
        own[k] *= row[k][above + k];
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

/* y = M x for a run; M has no gaps. */
ZW_INLINE void multiply_run(const soft_shape *shape, int first, const int n, const double *M,
                            const double *x, double *y)
{
    int above = shape->depth[first] - 1;
    const double *row[TREE_BLOCK];
    double own[TREE_BLOCK], sum[TREE_BLOCK] = {0};
    for (int k = 0; k < n; k++) {
        row[k] = M;
        own[k] = x[first + k];
        M += above + k + 1;
    }
    for (int t = above - 1, d = shape->parent[first]; t >= 0; t--, d = shape->parent[d]) {
        double to = y[d], from = x[d];
        for (int k = 0; k < n; k++) {
            to += row[k][t] * own[k];
            sum[k] += row[k][t] * from;
        }
        y[d] = to;
    }
    for (int k = 0; k < n; k++) {
        for (int e = 0; e < k; e++) {
            sum[e] += row[k][above + e] * own[k];
            sum[k] += row[k][above + e] * own[e];
        }
        sum[k] += row[k][above + k] * own[k];
    }
    for (int k = 0; k < n; k++) {
        y[first + k] = sum[k];
    }
}

void soft_multiply(const soft_shape *shape, const double *M, const double *x, double *y)
{
    for (int b = 0; b < shape->blocks; b++) {
        int first = shape->block[b], n = shape->block[b + 1] - first;
        switch (n) {
        case 1:
            multiply_run(shape, first, 1, M, x, y);
            break;
        case 2:
            multiply_run(shape, first, 2, M, x, y);
            break;
        case 3:
            multiply_run(shape, first, 3, M, x, y);
            break;
        default:
            multiply_run(shape, first, TREE_BLOCK, M, x, y);
            break;
        }
        M += n * (shape->depth[first] - 1) + n * (n + 1) / 2;
    }
}

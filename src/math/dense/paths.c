/* H = L' D L and H = U L on paths of a tree: paths.h.
 *
 * The row of an ancestor is as long as the first part of the current row. What working on four
 * numbers at a time writes past the end of a row belongs to no row: it stays past the ends. Rows
 * are kept as D L, and 1/D in place of the diagonal: nothing has to be written back. Runs of nodes,
 * each the parent of the next, are eliminated together; n, their number, is a constant where these
 * functions are inlined. */
#include "math/dense/paths.h"

#include <math.h>

#include "math/four.h"

#define PATHS_REAL double
#include "math/dense/paths_root.h"

paths_shape paths_find(int n, const int *parent, int *depth, int *start, int *block)
{
    int entries = 0, blocks = 0;
    for (int i = 0; i < n; i++) {
        depth[i] = parent[i] < 0 ? 1 : depth[parent[i]] + 1;
        start[i] = entries;
        entries += (depth[i] + 3) / 4 * 4;
        if (i == 0 || parent[i] != i - 1 || i - block[blocks - 1] == PATHS_RUN) {
            block[blocks++] = i;
        }
    }
    block[blocks] = n;
    return (paths_shape){.n = n,
                         .entries = entries,
                         .parent = parent,
                         .depth = depth,
                         .start = start,
                         .blocks = blocks,
                         .block = block};
}

/* H = M, whose rows have no gaps; the rows end with what comes after them in M, as the work of a
 * tree goes on behind it. */
ZW_CLONES void paths_copy(const paths_shape *shape, const double *M, double *H)
{
    for (int i = 0; i < shape->n; i++) {
        double *row = H + shape->start[i];
        for (int c = 0; c < shape->depth[i]; c += 4) {
            four_put(row + c, four_at(M + c));
        }
        M += shape->depth[i];
    }
}

/* A run; without symmetry, if it is skew: else lower and upper are the same. 0: a pivot is not
 * positive, or vanished. */
ZW_INLINE int factor_run(const paths_shape *shape, int first, const int n, const int skew,
                         const double *diagonal, double *lower, double *upper)
{
    int above = shape->depth[first] - 1, good = 1;
    double *low[PATHS_RUN], *up[PATHS_RUN], inverse[PATHS_RUN], f[PATHS_RUN], g[PATHS_RUN];
    for (int k = 0; k < n; k++) {
        low[k] = lower + shape->start[first + k];
        up[k] = upper + shape->start[first + k];
    }
    for (int k = n - 1; k >= 0; k--) { /* among themselves */
        double pivot = low[k][above + k] + (diagonal ? diagonal[first + k] : 0);
        good &= skew ? fabs(pivot) > 0 : pivot > 0;
        inverse[k] = 1 / pivot;
        for (int e = k - 1; e >= 0; e--) {
            f[e] = up[k][above + e] * inverse[k];
            g[e] = low[k][above + e] * inverse[k];
        }
        for (int e = k - 1; e >= 0; e--) {
            for (int c = 0; c <= above + e; c += 4) {
                four_put(low[e] + c, four_at(low[e] + c) - f[e] * four_at(low[k] + c));
                if (skew) {
                    four_put(up[e] + c, four_at(up[e] + c) - g[e] * four_at(up[k] + c));
                }
            }
        }
    }
    for (int t = above - 1, d = shape->parent[first]; t >= 0; t--, d = shape->parent[d]) {
        double *to = lower + shape->start[d], *back = upper + shape->start[d];
        for (int k = 0; k < n; k++) {
            f[k] = up[k][t] * inverse[k];
            g[k] = low[k][t] * inverse[k];
        }
        for (int c = 0; c <= t; c += 4) {
            zw_real4 entry = four_at(to + c), other = four_at(back + c);
            for (int k = n - 1; k >= 0; k--) {
                entry -= f[k] * four_at(low[k] + c);
                if (skew) {
                    other -= g[k] * four_at(up[k] + c);
                }
            }
            four_put(to + c, entry);
            if (skew) {
                four_put(back + c, other);
            }
        }
    }
    for (int k = 0; k < n; k++) {
        low[k][above + k] = inverse[k];
    }
    return good;
}

ZW_INLINE int factor(const paths_shape *shape, const int skew, const double *diagonal,
                     double *lower, double *upper)
{
    int good = 1;
    for (int b = shape->blocks - 1; b >= 0; b--) {
        int first = shape->block[b];
        switch (shape->block[b + 1] - first) {
        case 1:
            good &= factor_run(shape, first, 1, skew, diagonal, lower, upper);
            break;
        case 2:
            good &= factor_run(shape, first, 2, skew, diagonal, lower, upper);
            break;
        case 3:
            good &= factor_run(shape, first, 3, skew, diagonal, lower, upper);
            break;
        default:
            good &= factor_run(shape, first, PATHS_RUN, skew, diagonal, lower, upper);
            break;
        }
    }
    return good;
}

ZW_CLONES int paths_factor(const paths_shape *shape, const double *diagonal, double *H)
{
    return factor(shape, 0, diagonal, H, H);
}

ZW_CLONES int paths_factor_skew(const paths_shape *shape, double *lower, double *upper)
{
    return factor(shape, 1, NULL, lower, upper);
}

/* x = L' \ x for a run: first among its own nodes, then above. Pivots are in `lower`. */
ZW_INLINE void to_root(const paths_shape *shape, int first, const int n, const double *lower,
                       const double *upper, double *x)
{
    int above = shape->depth[first] - 1;
    const double *row[PATHS_RUN];
    double own[PATHS_RUN];
    for (int k = 0; k < n; k++) {
        row[k] = upper + shape->start[first + k];
        own[k] = x[first + k];
    }
    for (int k = n - 1; k >= 0; k--) {
        x[first + k] = own[k];
        own[k] *= lower[shape->start[first + k] + above + k];
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

ZW_INLINE void down_run(const paths_shape *shape, int b, const int in_order, const double *H,
                        double *x)
{
    int first = shape->block[b];
    switch (shape->block[b + 1] - first) {
    case 1:
        from_root(shape, first, 1, in_order, H, x);
        break;
    case 2:
        from_root(shape, first, 2, in_order, H, x);
        break;
    case 3:
        from_root(shape, first, 3, in_order, H, x);
        break;
    default:
        from_root(shape, first, PATHS_RUN, in_order, H, x);
        break;
    }
}

/* x = L' \ x */
static void rise(const paths_shape *shape, const double *lower, const double *upper, double *x)
{
    for (int b = shape->blocks - 1; b >= 0; b--) {
        int first = shape->block[b];
        switch (shape->block[b + 1] - first) {
        case 1:
            to_root(shape, first, 1, lower, upper, x);
            break;
        case 2:
            to_root(shape, first, 2, lower, upper, x);
            break;
        case 3:
            to_root(shape, first, 3, lower, upper, x);
            break;
        default:
            to_root(shape, first, PATHS_RUN, lower, upper, x);
            break;
        }
    }
}

ZW_INLINE void solve(const paths_shape *shape, const int in_order, const double *lower,
                     const double *upper, double *x)
{
    rise(shape, lower, upper, x);
    for (int b = 0; b < shape->blocks; b++) {
        down_run(shape, b, in_order, lower, x);
    }
}

void paths_solve_skew(const paths_shape *shape, const double *lower, const double *upper, double *x)
{
    solve(shape, 0, lower, upper, x);
}

void paths_solve(const paths_shape *shape, const double *H, double *x)
{
    paths_solve_skew(shape, H, H, x);
}

void paths_solve_half(const paths_shape *shape, const double *H, double *x)
{
    rise(shape, H, H, x);
}

void paths_solve_in_order(const paths_shape *shape, const double *H, double *x)
{
    solve(shape, 1, H, H, x);
}

/* y = M x for a run whose rows are known. */
ZW_INLINE void multiply_run(const paths_shape *shape, int first, const int n,
                            const double *const *row, const double *x, double *y)
{
    int above = shape->depth[first] - 1;
    double own[PATHS_RUN], sum[PATHS_RUN] = {0};
    for (int k = 0; k < n; k++) {
        own[k] = x[first + k];
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

/* gaps: M's rows have them. */
ZW_INLINE void multiply(const paths_shape *shape, const int gaps, const double *M, const double *x,
                        double *y)
{
    for (int b = 0; b < shape->blocks; b++) {
        int first = shape->block[b], n = shape->block[b + 1] - first;
        const double *row[PATHS_RUN];
        for (int k = 0; k < n; k++) {
            row[k] = gaps ? M + shape->start[first + k] : M;
            M += gaps ? 0 : shape->depth[first + k];
        }
        switch (n) {
        case 1:
            multiply_run(shape, first, 1, row, x, y);
            break;
        case 2:
            multiply_run(shape, first, 2, row, x, y);
            break;
        case 3:
            multiply_run(shape, first, 3, row, x, y);
            break;
        default:
            multiply_run(shape, first, PATHS_RUN, row, x, y);
            break;
        }
    }
}

void paths_multiply(const paths_shape *shape, const double *M, const double *x, double *y)
{
    multiply(shape, 0, M, x, y);
}

void paths_times(const paths_shape *shape, const double *H, const double *x, double *y)
{
    multiply(shape, 1, H, x, y);
}

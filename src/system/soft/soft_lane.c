/* Eight islands of the same pattern at once: math/dense/paths.c, lane by lane, with the same bits.
 * So the result of an island does not depend on the other lanes.
 *
 * The forward substitution is done with the factorisation, so that a row is loaded once. */
#include "math/lanes.h"
#include "system/soft/soft.h"

#define PATHS_REAL zw_real8
#define PATHS_NEAR zw_near8
#include "math/dense/paths_root.h"

/* x -= part * y, four at a time, so that a GPU can overlap their loads. */
ZW_INLINE void take_off(int count, zw_real8 part, const zw_near8 *y, zw_near8 *x)
{
    int c = 0;
    for (; c + 4 <= count; c += 4) {
        zw_real8 a = x[c], b = x[c + 1], d = x[c + 2], e = x[c + 3];
        a -= part * y[c];
        b -= part * y[c + 1];
        d -= part * y[c + 2];
        e -= part * y[c + 3];
        x[c] = a;
        x[c + 1] = b;
        x[c + 2] = d;
        x[c + 3] = e;
    }
    for (; c < count; c++) {
        x[c] -= part * y[c];
    }
}

/* Factors a run, and updates the right-hand sides above it. */
ZW_INLINE zw_mask8 factor_run(const paths_shape *shape, int first, const int n,
                              const zw_real8 *diagonal, zw_near8 *H, zw_near8 *x)
{
    int above = shape->depth[first] - 1;
    zw_near8 *row[PATHS_RUN];
    zw_real8 inverse[PATHS_RUN], own[PATHS_RUN], l[PATHS_RUN];
    zw_mask8 good = ~(zw_mask8){0};
    for (int k = 0; k < n; k++) {
        row[k] = H + shape->start[first + k];
        own[k] = x[first + k];
    }
    for (int k = n - 1; k >= 0; k--) {
        zw_real8 pivot = row[k][above + k];
        pivot += diagonal ? diagonal[first + k] : (zw_real8){0};
        good &= pivot > 0.0;
        inverse[k] = 1.0 / pivot;
        x[first + k] = own[k];
        own[k] *= inverse[k];
        for (int e = k - 1; e >= 0; e--) {
            zw_real8 part = row[k][above + e] * inverse[k];
            take_off(above + e + 1, part, row[k], row[e]);
            own[e] -= row[k][above + e] * own[k];
        }
        row[k][above + k] = inverse[k];
    }
    for (int t = above - 1, d = shape->parent[first]; t >= 0; t--, d = shape->parent[d]) {
        zw_near8 *upper = H + shape->start[d];
        zw_real8 sum = x[d];
        for (int k = n - 1; k >= 0; k--) {
            l[k] = row[k][t] * inverse[k];
            sum -= row[k][t] * own[k];
        }
        x[d] = sum;
        int c = 0;
        for (; c + 2 <= t + 1; c += 2) {
            zw_real8 entry = upper[c], next = upper[c + 1];
            for (int k = n - 1; k >= 0; k--) {
                entry -= l[k] * row[k][c];
                next -= l[k] * row[k][c + 1];
            }
            upper[c] = entry;
            upper[c + 1] = next;
        }
        for (; c <= t; c++) {
            zw_real8 entry = upper[c];
            for (int k = n - 1; k >= 0; k--) {
                entry -= l[k] * row[k][c];
            }
            upper[c] = entry;
        }
    }
    return good;
}

ZW_CLONES void soft_solve_lanes(const paths_shape *shape, const zw_real8 *diagonal,
                                zw_real8 *matrix, zw_real8 *vector, zw_mask8 *good)
{
    zw_near8 *H = NEAR8(matrix), *x = NEAR8(vector);
    zw_mask8 all = ~(zw_mask8){0};
    for (int b = shape->blocks - 1; b >= 0; b--) {
        int first = shape->block[b];
        switch (shape->block[b + 1] - first) {
        case 1:
            all &= factor_run(shape, first, 1, diagonal, H, x);
            break;
        case 2:
            all &= factor_run(shape, first, 2, diagonal, H, x);
            break;
        case 3:
            all &= factor_run(shape, first, 3, diagonal, H, x);
            break;
        default:
            all &= factor_run(shape, first, PATHS_RUN, diagonal, H, x);
            break;
        }
    }
    for (int b = 0; b < shape->blocks; b++) {
        int first = shape->block[b];
        switch (shape->block[b + 1] - first) {
        case 1:
            from_root(shape, first, 1, 1, H, x);
            break;
        case 2:
            from_root(shape, first, 2, 1, H, x);
            break;
        case 3:
            from_root(shape, first, 3, 1, H, x);
            break;
        default:
            from_root(shape, first, PATHS_RUN, 1, H, x);
            break;
        }
    }
    *good = all;
}

#if ZW_LANES == 8 && !defined(ZW_FLOAT)
int soft_solve_eight(const paths_shape *shape, double *const H[LANES], double *const x[LANES],
                     int lanes, zw_real8 *scratch)
{
    zw_real8 *right = scratch + shape->entries;
    zw_mask8 good;
    int all = 1;
    math_to_lanes(shape->entries, (const double *const *)H, scratch);
    math_to_lanes(shape->n, (const double *const *)x, right);
    soft_solve_lanes(shape, NULL, scratch, right, &good);
    math_from_lanes(shape->n, right, lanes, x);
    for (int l = 0; l < lanes; l++) {
        all &= good[l] != 0;
    }
    return all;
}
#endif

/* Sums and the metric of equal8.c, eight problems at once: dense.c and metric.c, lane by lane. */
#ifndef ZW_GAUSS_EQUAL8_METRIC_H
#define ZW_GAUSS_EQUAL8_METRIC_H

#include "gauss/dense/equal8.h"
#include "gauss/tolerances.h"

ZW_INLINE zw_real8 all(double x)
{
    return (zw_real8){0} + x;
}

ZW_INLINE zw_real8 larger(zw_real8 x, zw_real8 y)
{
    return lane_select8(x > y, x, y);
}

/* ---- Sums as in dense.c ---------------------------------------------------------------------- */

/* Halves, quarters, the rest: lane_sum8. */
ZW_INLINE zw_real8 add_up(const zw_real8 p[8])
{
    return ((p[0] + p[4]) + (p[2] + p[6])) + ((p[1] + p[5]) + (p[3] + p[7]));
}

/* In which of the eight parts term i of n is: what follows the last whole line is in the last parts
 * (dense_dot), or where there are `four` rows in the first (lq_apply_four). */
ZW_INLINE int part_of(int i, int n, int four)
{
    return n < 8 || four || i < n - n % 8 ? i % 8 : i - (n - 8);
}

/* At most eight terms: one in each part. Parts that are 0 are left out; a sum is never -0. */
ZW_INLINE zw_real8 sum_of_few(int n, const zw_real8 *x, const zw_real8 *y)
{
    zw_real8 p[8];
    for (int i = 0; i < n; i++) {
        p[i] = x[i] * y[i];
    }
    switch (n) {
    case 0:
        return all(0);
    case 1:
        return p[0] + 0.0;
    case 2:
        return p[0] + p[1] + 0.0;
    case 3:
        return p[0] + p[2] + p[1] + 0.0;
    case 4:
        return (p[0] + p[2]) + (p[1] + p[3]) + 0.0;
    case 5:
        return ((p[0] + p[4]) + p[2]) + (p[1] + p[3]) + 0.0;
    case 6:
        return ((p[0] + p[4]) + p[2]) + ((p[1] + p[5]) + p[3]) + 0.0;
    case 7:
        return ((p[0] + p[4]) + (p[2] + p[6])) + ((p[1] + p[5]) + p[3]) + 0.0;
    default:
        return add_up(p) + 0.0;
    }
}

ZW_INLINE zw_real8 sum_of_products(int n, const zw_real8 *x, const zw_real8 *y, int four)
{
    if (n <= 8) {
        return sum_of_few(n, x, y);
    }
    zw_real8 p[8] = {{0}};
    int i = 0, rest = n % 8;
    for (; i + 8 <= n; i += 8) {
        for (int k = 0; k < 8; k++) {
            p[k] += x[i + k] * y[i + k];
        }
    }
    for (int k = 0; k < rest; k++) {
        p[four ? k : 8 - rest + k] += x[i + k] * y[i + k];
    }
    return add_up(p);
}

ZW_INLINE zw_real8 dot(int n, const zw_real8 *x, const zw_real8 *y)
{
    return sum_of_products(n, x, y, 0);
}

/* y = M x: dense_multiply_symmetric. */
ZW_INLINE void multiply_symmetric(int n, const zw_real8 *M, const zw_real8 *x, zw_real8 *y)
{
    for (int b = 0; b < n; b += 8) {
        int count = n - b < 8 ? n - b : 8;
        zw_real8 column[8] = {{0}}, dots[8];
        for (int a = 0; a < count; a++) {
            const zw_real8 *row = M + (long)(b + a) * n;
            zw_real8 p[8] = {{0}};
            for (int j = 0; j < b; j++) {
                p[j % 8] += row[j] * x[j];
                y[j] += x[b + a] * row[j];
            }
            for (int j = 0; j <= a; j++) {
                p[j] += row[b + j] * x[b + j];
                column[j] += j < a ? x[b + a] * row[b + j] : all(0);
            }
            dots[a] = add_up(p);
        }
        for (int a = 0; a < count; a++) {
            y[b + a] = column[a] + dots[a];
        }
    }
}

ZW_INLINE void multiply(const gauss_problem8 *g, const zw_real8 *x, zw_real8 *y)
{
    if (!g->diagonal) {
        multiply_symmetric(g->n, g->M, x, y);
        return;
    }
    for (int i = 0; i < g->n; i++) {
        y[i] = g->M[i] * x[i];
    }
}

/* ---- The metric ------------------------------------------------------------------------------ */

/* dense_cholesky below eight columns. */
ZW_INLINE zw_mask8 factor_small(int n, zw_real8 *U)
{
    zw_mask8 good = all(0) == all(0);
    for (int k = 0; k < n; k++) {
        zw_real8 *row = U + k * n, diagonal = row[k];
        for (int i = 0; i < k; i++) {
            zw_real8 f = -U[i * n + k];
            for (int j = k; j < n; j++) {
                row[j] += f * U[i * n + j];
            }
        }
        good &= (row[k] > GAUSS_PIVOT_FLOOR * diagonal) & (row[k] > 0.0);
        zw_real8 inverse = 1.0 / lane_sqrt8(row[k]);
        for (int j = k; j < n; j++) {
            row[j] *= inverse;
        }
    }
    return good;
}

/* And from there on: four rows at a time. */
ZW_INLINE zw_mask8 factor_large(int n, zw_real8 *U)
{
    zw_mask8 good = all(0) == all(0);
    for (int k = 0; k < n; k += 4) {
        int count = n - k < 4 ? n - k : 4;
        zw_real8 inverse[4];
        for (int a = 0; a < count; a++) {
            for (int j = k; j < n; j++) {
                zw_real8 sum = U[(k + a) * n + j] * -1.0;
                for (int i = 0; i < k && j >= k + a; i++) {
                    sum += U[i * n + k + a] * U[i * n + j];
                }
                U[(k + a) * n + j] = sum;
            }
        }
        for (int a = 0; a < count; a++) {
            zw_real8 *row = U + (k + a) * n, pivot = -row[k + a];
            zw_real8 square = 1.0 / pivot;
            good &= pivot > 0.0;
            inverse[a] = -1.0 / lane_sqrt8(pivot);
            for (int b = a + 1; b < count; b++) {
                zw_real8 f = square * row[k + b];
                for (int j = k + b; j < n; j++) {
                    U[(k + b) * n + j] += f * row[j];
                }
            }
        }
        for (int a = 0; a < count; a++) {
            for (int j = k + a; j < n; j++) {
                U[(k + a) * n + j] *= inverse[a];
            }
        }
    }
    return good;
}

/* U, and whether M is positive definite. */
ZW_INLINE zw_mask8 factor(const gauss_problem8 *g, zw_real8 *U)
{
    int n = g->n;
    zw_mask8 good = all(0) == all(0);
    if (g->diagonal) {
        for (int i = 0; i < n; i++) {
            good &= g->M[i] > 0.0;
            U[i] = lane_sqrt8(g->M[i]);
        }
        return good;
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            U[j * n + i] = g->M[i * n + j];
        }
    }
    if (n < 8) {
        return factor_small(n, U);
    }
    zw_mask8 factored = factor_large(n, U);
    for (int i = 0; i < n; i++) { /* the square of a pivot, against the floor with room to spare */
        factored &= U[i * n + i] * U[i * n + i] > 2.0 * GAUSS_PIVOT_FLOOR * g->M[i * n + i];
    }
    return factored;
}

/* x = U' \ x */
ZW_INLINE void solve_lower(const gauss_problem8 *g, const zw_real8 *U, zw_real8 *x)
{
    int n = g->n;
    for (int k = 0; k < n; k++) {
        x[k] /= g->diagonal ? U[k] : U[k * n + k];
        for (int j = k + 1; j < n && !g->diagonal; j++) {
            x[j] -= x[k] * U[k * n + j];
        }
    }
}

/* x = U \ x: dense_solve_upper. */
ZW_INLINE void solve_upper(const gauss_problem8 *g, const zw_real8 *U, zw_real8 *x)
{
    int n = g->n;
    for (int k = 0; k < n && g->diagonal; k++) {
        x[k] /= U[k];
    }
    for (int end = n; end > 0 && !g->diagonal; end -= 4) {
        int k = end > 4 ? end - 4 : 0, count = end - k;
        zw_real8 y[4];
        for (int a = 0; a < count; a++) {
            y[a] = x[k + a] - dot(n - end, U + (k + a) * n + end, x + end);
        }
        for (int a = count - 1; a >= 0; a--) {
            x[k + a] = y[a] * (1.0 / U[(k + a) * n + k + a]);
            for (int b = 0; b < a; b++) {
                y[b] -= U[(k + b) * n + k + a] * x[k + a];
            }
        }
    }
}

/* X = U' \ A', row j of X having column j of A: dense_solve_upper_transposed_many. */
ZW_INLINE void solve_rows(const gauss_problem8 *g, const zw_real8 *U, zw_real8 *X)
{
    int n = g->n, m = g->m;
    for (int j = 0; j < n; j++) {
        zw_real8 factor = g->diagonal ? 1.0 / U[j] : all(-1);
        for (int e = 0; e < m; e++) {
            X[j * m + e] = factor * g->A[e * n + j];
        }
    }
    for (int k = 0; k < n && !g->diagonal; k += 4) {
        int count = n - k < 4 ? n - k : 4;
        for (int a = 0; a < count; a++) {
            for (int i = 0; i < k; i++) {
                for (int e = 0; e < m; e++) {
                    X[(k + a) * m + e] += U[i * n + k + a] * X[i * m + e];
                }
            }
        }
        for (int a = 0; a < count; a++) {
            const zw_real8 *top = U + (k + a) * n + k;
            zw_real8 *row = X + (k + a) * m, inverse = -1.0 / top[a];
            for (int e = 0; e < m; e++) {
                row[e] *= inverse;
            }
            for (int b = a + 1; b < count; b++) {
                for (int e = 0; e < m; e++) {
                    X[(k + b) * m + e] += top[b] * row[e];
                }
            }
        }
    }
}

#endif

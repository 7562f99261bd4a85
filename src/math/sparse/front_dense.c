/* Elimination in one front, and the two halves of a solution. PANEL columns are factored before the
 * rest of the front is updated, so that nearly all the work is C -= A B, in tiles that stay in
 * registers. Every entry's sum has an order of its own that no vector width changes. */
#include "math/sparse/front_dense.h"

#include <math.h>

#include "math/lane.h"

enum { PANEL = 8 };
#define TENTH 0.1 /* a pivot this small beside others of its column is not taken */

/* C -= A B for R rows and 8 V columns of C. */
#define FRONT_TILE(R, V)                                                                           \
    do {                                                                                           \
        zw_real8 sum[R][V];                                                                        \
        for (int r = 0; r < (R); r++) {                                                            \
            for (int v = 0; v < (V); v++) {                                                        \
                sum[r][v] = (zw_real8){0};                                                         \
            }                                                                                      \
        }                                                                                          \
        for (int p = 0; p < k; p++) {                                                              \
            zw_real8 y[V];                                                                         \
            for (int v = 0; v < (V); v++) {                                                        \
                y[v] = lane_load8(b + (size_t)p * ldb + j + 8 * v);                                \
            }                                                                                      \
            for (int r = 0; r < (R); r++) {                                                        \
                double x = a[(i + (size_t)r) * lda + (size_t)p];                                   \
                for (int v = 0; v < (V); v++) {                                                    \
                    sum[r][v] += x * y[v];                                                         \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
        for (int r = 0; r < (R); r++) {                                                            \
            for (int v = 0; v < (V); v++) {                                                        \
                double *to = c + (i + (size_t)r) * ldc + j + 8 * v;                                \
                lane_store8(to, lane_load8(to) - sum[r][v]);                                       \
            }                                                                                      \
        }                                                                                          \
    } while (0)

/* C -= A B; the columns of B and C may be read and written up to the next eight. */
ZW_CLONES static void front_minus(size_t rows, size_t columns, int k, const double *a, size_t lda,
                                  const double *b, size_t ldb, double *c, size_t ldc)
{
    for (size_t j = 0; j < columns;) {
        int wide = columns - j > 8;
        size_t i = 0;
        for (; i + 4 <= rows; i += 4) {
            if (wide) {
                FRONT_TILE(4, 2);
            } else {
                FRONT_TILE(4, 1);
            }
        }
        for (; i < rows; i++) {
            if (wide) {
                FRONT_TILE(1, 2);
            } else {
                FRONT_TILE(1, 1);
            }
        }
        j += wide ? 16 : 8;
    }
}

/* y -= s x */
static inline void front_subtract(size_t n, double s, const double *restrict x, double *restrict y)
{
    for (size_t i = 0; i < n; i++) {
        y[i] -= s * x[i];
    }
}

/* The row of the pivot of column k: the diagonal's, unless another is far larger; -1: none. */
static int front_pivot(const front_super *z, const double *top, int k)
{
    double most = 0, here = fabs(top[(size_t)k * z->top_stride + (size_t)k]);
    int row = k;
    for (int i = k; i < z->w; i++) {
        double x = fabs(top[(size_t)i * z->top_stride + (size_t)k]);
        if (x > most) {
            most = x;
            row = i;
        }
    }
    if (!(most > 0) || !isfinite(most) || !isfinite(here)) {
        return -1;
    }
    return here >= TENTH * most ? k : row;
}

static void front_swap(double *restrict x, double *restrict y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double t = x[i];
        x[i] = y[i];
        y[i] = t;
    }
}

/* Columns from..to-1 of [F11; F21], whose earlier columns are done and applied. */
ZW_CLONES static int front_columns(const front_super *z, double *top, double *low, int *pivot,
                                   int from, int to)
{
    size_t ts = z->top_stride, ls = z->low_stride;
    for (int k = from; k < to; k++) {
        int p = front_pivot(z, top, k);
        if (p < 0) {
            return 0;
        }
        pivot[k] = p;
        if (p != k) {
            front_swap(top + (size_t)k * ts, top + (size_t)p * ts, (size_t)(z->w + z->m));
        }
        const double *u = top + (size_t)k * ts + (size_t)k;
        double inverse = 1 / u[0];
        size_t rest = (size_t)(to - k - 1);
        for (int i = k + 1; i < z->w; i++) {
            double *l = top + (size_t)i * ts + (size_t)k;
            l[0] *= inverse;
            front_subtract(rest, l[0], u + 1, l + 1);
        }
        for (int i = 0; i < z->m; i++) {
            double *l = low + (size_t)i * ls + (size_t)k;
            l[0] *= inverse;
            front_subtract(rest, l[0], u + 1, l + 1);
        }
    }
    return 1;
}

/* U of the rows from..to-1 beyond column `to`. */
ZW_CLONES static void front_rows(const front_super *z, double *top, int from, int to)
{
    size_t ts = z->top_stride, rest = (size_t)(z->w + z->m - to);
    for (int k = from + 1; k < to; k++) {
        double *row = top + (size_t)k * ts;
        for (int q = from; q < k; q++) {
            front_subtract(rest, row[q], top + (size_t)q * ts + (size_t)to, row + to);
        }
    }
}

int front_dense(const front_super *z, double *top, double *low, int *pivot, double *rest)
{
    size_t ts = z->top_stride, ls = z->low_stride;
    for (int from = 0; from < z->w; from += PANEL) {
        int to = from + PANEL < z->w ? from + PANEL : z->w;
        if (!front_columns(z, top, low, pivot, from, to)) {
            return 0;
        }
        front_rows(z, top, from, to);
        size_t f = (size_t)from, t = (size_t)to, w = (size_t)z->w, m = (size_t)z->m;
        front_minus(w - t, w + m - t, to - from, top + t * ts + f, ts, top + f * ts + t, ts,
                    top + t * ts + t, ts);
        front_minus(m, w - t, to - from, low + f, ls, top + f * ts + t, ts, low + t, ls);
    }
    size_t m = (size_t)z->m;
    front_minus(m, m, z->w, low, ls, top + z->w, ts, rest, front_whole8(m));
    return 1;
}

ZW_INLINE double front_dot(size_t n, const double *x, const double *y)
{
    zw_real8 sum = {0};
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        sum += lane_load8(x + i) * lane_load8(y + i);
    }
    double rest = 0;
    for (; i < n; i++) {
        rest += x[i] * y[i];
    }
    return (n >= 8 ? lane_sum8(sum) : 0.0) + rest;
}

ZW_CLONES void front_forward(const front_super *z, const double *panel, const int *pivot, double *t)
{
    const double *top = panel + z->top, *low = panel + z->low;
    for (int k = 0; k < z->w; k++) {
        double x = t[pivot[k]];
        t[pivot[k]] = t[k];
        t[k] = x;
    }
    for (int k = 1; k < z->w; k++) {
        t[k] -= front_dot((size_t)k, top + (size_t)k * z->top_stride, t);
    }
    for (int i = 0; i < z->m; i++) {
        t[z->w + i] = front_dot((size_t)z->w, low + (size_t)i * z->low_stride, t);
    }
}

ZW_CLONES void front_backward(const front_super *z, const double *panel, double *t)
{
    for (int k = z->w - 1; k >= 0; k--) {
        const double *u = panel + z->top + (size_t)k * z->top_stride;
        size_t after = (size_t)k + 1;
        t[k] = (t[k] - front_dot((size_t)(z->w + z->m) - after, u + after, t + after)) / u[k];
    }
}

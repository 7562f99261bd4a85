/* Kernels for small problems whose rows are whole lines: strides are multiples of eight, and what
 * comes after the last column is zero. So no loop has a rest. Numbers go four at a time: eight
 * are more than most machines' registers hold, and compilers then keep sums in memory.
 *
 * A = U L from the last row up, without pivoting, is for matrices near a metric, of which that of a
 * tree is the most frequent. Parents stand before their children there, row k has entries only
 * where its ancestors are, and this order fills nothing; rows without an entry in column k are
 * skipped. */
#include <math.h>
#include <string.h>

#include "math/dense/dense.h"
#include "math/lane.h"

typedef double real4 __attribute__((vector_size(32)));
typedef double real2 __attribute__((vector_size(16)));

ZW_INLINE real4 load(const double *x)
{
    real4 v;
    memcpy(&v, x, sizeof v);
    return v;
}

ZW_INLINE void store(double *x, real4 v)
{
    memcpy(x, &v, sizeof v);
}

ZW_INLINE double sum_up(real4 s)
{
    real2 half[2];
    memcpy(half, &s, sizeof half);
    half[0] += half[1];
    return half[0][0] + half[0][1];
}

/* Entries from column k on are of no use in any row above k, so whole lines may be written. */
ZW_CLONES int dense_ul(int n, double *A, int stride, double *U)
{
    for (int k = n - 1; k >= 0; k--) {
        const double *row = A + (long)k * stride;
        double *factor = U + (long)k * stride, inverse = 1.0 / row[k];
        if (!(fabs(row[k]) > 0.0)) {
            return k;
        }
        for (int i = 0; i < k; i++) {
            double *to = A + (long)i * stride, f = to[k] * inverse;
            factor[i] = f;
            if (to[k] == 0.0) {
                continue;
            }
            for (int j = 0; j < k; j += 4) {
                store(to + j, load(to + j) - f * load(row + j));
            }
        }
        for (int i = k; i % 4 != 0; i++) {
            factor[i] = 0.0;
        }
    }
    return n;
}

ZW_CLONES void dense_ul_solve(int n, const double *A, int stride, const double *U, double *x)
{
    for (int k = n - 1; k > 0; k--) {
        double f = x[k];
        for (int j = 0; j < k; j += 4) {
            store(x + j, load(x + j) - f * load(U + (long)k * stride + j));
        }
    }
    for (int k = 0; k < n; k++) {
        const double *row = A + (long)k * stride;
        real4 sum = {0.0};
        double rest = 0.0;
        int j = 0;
        for (; j + 4 <= k; j += 4) {
            sum += load(row + j) * load(x + j);
        }
        for (; j < k; j++) {
            rest += row[j] * x[j];
        }
        x[k] = (x[k] - (sum_up(sum) + rest)) / row[k];
    }
}

/* Three rows at a time, in the order of a plain sum over them. */
ZW_CLONES void dense_fold(int count, const int *column, int rows, double weight, const double *J,
                          const double *T, int stride, double *H)
{
    int end = 0;
    for (int a = 0; a < count; a++) {
        end = column[a] >= end ? column[a] / 4 * 4 + 4 : end;
    }
    for (int a = 0; a < count; a++) {
        double *to = H + (long)column[a] * stride;
        const double *s = J + column[a], *t = T, *next = T + stride;
        int i = 0;
        for (; i + 3 <= rows; i += 3, t += 3 * (long)stride, next += 3 * (long)stride) {
            double s0 = weight * s[i * (long)stride], s1 = weight * s[(i + 1) * (long)stride];
            double s2 = weight * s[(i + 2) * (long)stride];
            for (int j = 0; j < end; j += 4) {
                real4 sum = load(to + j) + s0 * load(t + j);
                sum += s1 * load(next + j);
                store(to + j, sum + s2 * load(next + stride + j));
            }
        }
        for (; i < rows; i++, t += stride) {
            double s0 = weight * s[i * (long)stride];
            for (int j = 0; j < end; j += 4) {
                store(to + j, load(to + j) + s0 * load(t + j));
            }
        }
    }
}

ZW_CLONES void dense_lines_times(int m, int wide, const double *A, const double *x, double *y)
{
    for (int i = 0; i < m; i++) {
        const double *row = A + (long)i * wide;
        real4 sum = {0.0}, other = {0.0};
        for (int j = 0; j < wide; j += 8) {
            sum += load(row + j) * load(x + j);
            other += load(row + j + 4) * load(x + j + 4);
        }
        y[i] = sum_up(sum + other);
    }
}

/* Rows whose columns are on one path of a tree: paths.h. Numbers go four at a time; what stands
 * after the last column is zero. */
#include <string.h>

#include "math/dense/paths.h"
#include "math/four.h"

typedef long long mask4 __attribute__((vector_size(32)));

ZW_INLINE zw_real4 size(zw_real4 x)
{
    return (zw_real4)((mask4)x & 0x7fffffffffffffffll);
}

ZW_CLONES void paths_rows_times(int rows, int stride, const double *J, const double *x, double *y)
{
    for (int r = 0; r < rows; r++, J += stride) {
        zw_real4 sum = {0};
        for (int c = 0; c < stride; c += 4) {
            sum += four_at(J + c) * four_at(x + c);
        }
        y[r] = four_sum(sum);
    }
}

ZW_CLONES void paths_rows_push(int rows, int stride, const double *J, const double *f, double *y)
{
    for (int c = 0; c < stride; c += 4) {
        zw_real4 sum = f[0] * four_at(J + c);
        for (int r = 1; r < rows; r++) {
            sum += f[r] * four_at(J + r * stride + c);
        }
        four_put(y + c, sum);
    }
}

ZW_CLONES void paths_rows_add(int rows, int stride, const double *J, const double *f, double *y)
{
    for (int c = 0; c < stride; c += 4) {
        zw_real4 sum = four_at(y + c);
        for (int r = 0; r < rows; r++) {
            sum += f[r] * four_at(J + r * stride + c);
        }
        four_put(y + c, sum);
    }
}

ZW_CLONES void paths_rows_sizes(int rows, int stride, const double *J, const double *x,
                                const double *f, double *carried, double *pushes)
{
    memset(pushes, 0, (size_t)stride * sizeof *pushes);
    for (int r = 0; r < rows; r++, J += stride) {
        double own = f[r] < 0 ? -f[r] : f[r];
        zw_real4 sum = {0};
        for (int c = 0; c < stride; c += 4) {
            zw_real4 line = size(four_at(J + c));
            sum += line * size(four_at(x + c));
            four_put(pushes + c, four_at(pushes + c) + own * line);
        }
        carried[r] = four_sum(sum);
    }
}

ZW_CLONES void paths_rows_weigh(int rows, int stride, const double *J, const double *D, double *w)
{
    for (int r = 0; r < rows; r++, D += rows, w += stride) {
        for (int c = 0; c < stride; c += 4) {
            zw_real4 sum = D[0] * four_at(J + c);
            for (int k = 1; k < rows; k++) {
                sum += D[k] * four_at(J + k * stride + c);
            }
            four_put(w + c, sum);
        }
    }
}

/* 4 * parts numbers of a row of H: rows of J and w stand gap and stride apart; parts is a constant
 * where this is inlined. */
ZW_INLINE void add_part(const int rows, int gap, int stride, const double *J, const double *w,
                        const int parts, double *to)
{
    zw_real4 sum[4];
    for (int p = 0; p < parts; p++) {
        sum[p] = four_at(to + 4 * p);
    }
    for (int r = 0; r < rows; r++, J += gap, w += stride) {
        for (int p = 0; p < parts; p++) {
            sum[p] += *w * four_at(J + 4 * p);
        }
    }
    for (int p = 0; p < parts; p++) {
        four_put(to + 4 * p, sum[p]);
    }
}

/* A row of H, up to its place `last`: sixteen at once. */
ZW_INLINE void add_row(const int rows, int gap, int stride, int last, const double *J,
                       const double *w, double *to)
{
    for (int c = 0; c <= last; c += 16) {
        switch ((last - c) / 4) {
        case 0:
            add_part(rows, gap, stride, J + c, w, 1, to + c);
            break;
        case 1:
            add_part(rows, gap, stride, J + c, w, 2, to + c);
            break;
        case 2:
            add_part(rows, gap, stride, J + c, w, 3, to + c);
            break;
        default:
            add_part(rows, gap, stride, J + c, w, 4, to + c);
            break;
        }
    }
}

ZW_INLINE void add_all(const int rows, int count, const int *column, const double *J, int gap,
                       const double *w, int stride, double *const *row, const int *level)
{
    for (int t = 0; t < count; t++) {
        add_row(rows, gap, stride, level[column[t]], J, w + t, row[column[t]]);
    }
}

ZW_CLONES void paths_fold(int rows, int count, const int *column, const double *J, int gap,
                          const double *w, int stride, double *const *row, const int *level)
{
    switch (rows) { /* one point, two, more */
    case 3:
        add_all(3, count, column, J, gap, w, stride, row, level);
        break;
    case 6:
        add_all(6, count, column, J, gap, w, stride, row, level);
        break;
    default:
        add_all(rows, count, column, J, gap, w, stride, row, level);
        break;
    }
}

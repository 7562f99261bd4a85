#include "math/dense.h"

#include <math.h>
#include <string.h>

#include "math/lane.h"

/* Eight partial sums, and their sum in one order. Zeros fill the last line: a sum is never -0, so
 * they change no bit. */
static inline zw_real8 dot_lines(int n, const double *x, const double *y)
{
    zw_real8 s = {0.0};
    int i = 0;
    for (; i + 8 <= n; i += 8) {
        s += lane_load8(x + i) * lane_load8(y + i);
    }
    return i < n ? s + lane_some8(n - i, x + i) * lane_some8(n - i, y + i) : s;
}

ZW_CLONES double dense_dot(int n, const double *x, const double *y)
{
    return lane_sum8(dot_lines(n, x, y));
}

ZW_CLONES void dense_multiply(int m, int n, const double *A, int stride, const double *x, double *y)
{
    for (int i = 0; i < m; i++) {
        y[i] = lane_sum8(dot_lines(n, A + (long)i * stride, x));
    }
}

ZW_CLONES double dense_dot_size(int n, const double *x, const double *y)
{
    zw_real8 s = {0.0};
    int i = 0;
    for (; i + 8 <= n; i += 8) {
        s += lane_size8(lane_load8(x + i) * lane_load8(y + i));
    }
    return lane_sum8(
        i < n ? s + lane_size8(lane_some8(n - i, x + i) * lane_some8(n - i, y + i)) : s);
}

ZW_CLONES void dense_look(int n, const double *row, const double *x, const double *y,
                          const double *s, double out[4])
{
    zw_real8 by_x = {0.0}, size = {0.0}, by_y = {0.0}, square = {0.0};
    for (int i = 0; i < n; i += 8) {
        int some = n - i < 8 ? n - i : 8;
        zw_real8 entry = lane_some8(some, row + i), scaled = entry * lane_some8(some, s + i);
        zw_real8 product = entry * lane_some8(some, x + i);
        by_x += product;
        size += lane_size8(product);
        by_y += entry * lane_some8(some, y + i);
        square += scaled * scaled;
    }
    out[0] = lane_sum8(by_x);
    out[1] = lane_sum8(size);
    out[2] = lane_sum8(by_y);
    out[3] = lane_sum8(square);
}

/* Is every |x_i| <= size? Neither a NaN nor an infinity is. */
ZW_CLONES static int dense_all_within(long n, const double *x, double size)
{
    zw_mask8 beyond = {0};
    long i = 0;
    for (; i + 8 <= n; i += 8) {
        beyond |= ~(lane_size8(lane_load8(x + i)) <= size);
    }
    beyond |= ~(lane_size8(lane_some8((int)(n - i), x + i)) <= size);
    long long any = 0;
    for (int k = 0; k < LANES; k++) {
        any |= beyond[k];
    }
    return any == 0;
}

long dense_first_beyond(long n, const double *x, double size)
{
    if (dense_all_within(n, x, size)) {
        return -1;
    }
    long i = 0;
    while (fabs(x[i]) <= size) {
        i++;
    }
    return i;
}

/* The terms of a `height` x `lines` piece of Y stay in registers while they are added up. */
#define PRODUCT_PIECE(height, lines)                                                               \
    {                                                                                              \
        zw_real8 sum[height][lines];                                                               \
        for (int a = 0; a < height; a++) {                                                         \
            for (int k = 0; k < lines; k++) {                                                      \
                sum[a][k] = lane_load8(Y + (long)a * Y_stride + j + 8 * k);                        \
            }                                                                                      \
        }                                                                                          \
        for (int i = 0; i < count; i++) {                                                          \
            const double *row = rows + (long)i * stride + j;                                       \
            for (int k = 0; k < lines; k++) {                                                      \
                zw_real8 line = lane_load8(row + 8 * k);                                           \
                for (int a = 0; a < height; a++) {                                                 \
                    sum[a][k] += s[a * (long)across + i * (long)step] * line;                      \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
        for (int a = 0; a < height; a++) {                                                         \
            for (int k = 0; k < lines; k++) {                                                      \
                lane_store8(Y + (long)a * Y_stride + j + 8 * k, sum[a][k]);                        \
            }                                                                                      \
        }                                                                                          \
        j += 8 * lines;                                                                            \
    }

/* A tail of less than a line, number by number. */
#define COMBINE_STRIP(width)                                                                       \
    {                                                                                              \
        double sum[width];                                                                         \
        memcpy(sum, Y + j, sizeof sum);                                                            \
        for (int i = 0; i < count; i++) {                                                          \
            const double *row = rows + (long)i * stride + j;                                       \
            double f = s[(long)i * step];                                                          \
            for (int k = 0; k < width; k++) {                                                      \
                sum[k] += f * row[k];                                                              \
            }                                                                                      \
        }                                                                                          \
        memcpy(Y + j, sum, sizeof sum);                                                            \
        j += width;                                                                                \
    }

#define COMBINE_CASE(lines)                                                                        \
    case lines:                                                                                    \
        PRODUCT_PIECE(1, lines) break;

ZW_CLONES void dense_combine(int count, int n, const double *s, int step, const double *rows,
                             int stride, double *restrict Y)
{
    enum { across = 0, Y_stride = 0 };
    int j = 0;
    zw_real8 tail = {0.0};
    if (n >= 8 && n % 8 != 0) { /* the last line overlaps the one before: the same numbers twice */
        tail = lane_load8(Y + n - 8);
    }
    while (n - j >= 64) {
        PRODUCT_PIECE(1, 8)
    }
    switch ((n - j) / 8) { /* the widest strip that is left: more sums, less waiting for each */
        COMBINE_CASE(7)
        COMBINE_CASE(6)
        COMBINE_CASE(5)
        COMBINE_CASE(4)
        COMBINE_CASE(3)
        COMBINE_CASE(2)
        COMBINE_CASE(1)
    default:
        break;
    }
    if (n >= 8 && n % 8 != 0) {
        for (int i = 0; i < count; i++) {
            tail += s[(long)i * step] * lane_load8(rows + (long)i * stride + n - 8);
        }
        lane_store8(Y + n - 8, tail);
        return;
    }
    if (n - j >= 4) {
        COMBINE_STRIP(4)
    }
    if (n - j >= 2) {
        COMBINE_STRIP(2)
    }
    if (n - j >= 1) {
        COMBINE_STRIP(1)
    }
}

/* `height` results at once, a line or two of each at a time. */
#define PRODUCT_BAND(height)                                                                       \
    {                                                                                              \
        int j = 0;                                                                                 \
        while (lines - j / 8 >= 2) {                                                               \
            PRODUCT_PIECE(height, 2)                                                               \
        }                                                                                          \
        if (lines - j / 8 == 1) {                                                                  \
            PRODUCT_PIECE(height, 1)                                                               \
        }                                                                                          \
        s += height * (long)across;                                                                \
        Y += height * (long)Y_stride;                                                              \
        m -= height;                                                                               \
    }

ZW_CLONES void dense_product(int m, int count, int lines, const double *s, int across, int step,
                             const double *rows, int stride, double *restrict Y, int Y_stride)
{
    while (m >= 4) {
        PRODUCT_BAND(4)
    }
    if (m == 3) {
        PRODUCT_BAND(3)
    } else if (m == 2) {
        PRODUCT_BAND(2)
    } else if (m == 1) {
        PRODUCT_BAND(1)
    }
}

void dense_transpose(int m, int n, const double *A, int stride, double *T, int T_stride)
{
    for (int j = 0; j < n; j++) {
        double *row = T + (long)j * T_stride;
        for (int i = 0; i < m; i++) {
            row[i] = A[(long)i * stride + j];
        }
        for (int i = m; i < T_stride; i++) {
            row[i] = 0.0;
        }
    }
}

ZW_CLONES double dense_norm_scaled(int n, const double *x, const double *y)
{
    zw_real8 s = {0.0};
    for (int i = 0; i < n; i += 8) {
        int some = n - i < 8 ? n - i : 8;
        zw_real8 product = lane_some8(some, x + i) * lane_some8(some, y + i);
        s += product * product;
    }
    return sqrt(lane_sum8(s));
}

double dense_norm(int n, const double *x)
{
    return sqrt(dense_dot(n, x, x));
}

double dense_largest(int n, const double *x)
{
    double largest = 0.0;
    for (int i = 0; i < n; i++) {
        double size = fabs(x[i]);
        largest = size > largest || size != size ? size : largest; /* keeps a NaN */
    }
    return largest;
}

ZW_CLONES void dense_axpy(int n, double s, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < n; i++) {
        y[i] += s * x[i];
    }
}

ZW_CLONES void dense_axpy_size(int n, double s, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < n; i++) {
        y[i] += fabs(s * x[i]);
    }
}

void dense_scale(int n, double s, double *x)
{
    for (int i = 0; i < n; i++) {
        x[i] *= s;
    }
}

void dense_multiply_transposed(int m, int n, const double *A, int stride, const double *x,
                               double *y)
{
    memset(y, 0, (size_t)n * sizeof *y);
    dense_combine(m, n, x, 1, A, stride, y);
}

ZW_CLONES void dense_update_upper(int n, double s, const double *restrict x,
                                  const double *restrict y, double *restrict H, int stride)
{
    for (int i = 0; i < n; i++) {
        double f = s * x[i];
        double *row = H + (long)i * stride;
        if (f != 0.0) {
            for (int j = i; j < n; j++) {
                row[j] += f * y[j];
            }
        }
    }
}

int dense_cholesky(int n, double *H, int stride, double floor)
{
    return dense_cholesky_from(0, n, H, stride, floor);
}

int dense_cholesky_from(int k, int n, double *H, int stride, double floor)
{
    for (; k < n; k++) {
        /* U_kj = (H_kj - sum_i U_ik U_ij) / U_kk, the sum taken over the rows above; their entries
         * in column k are turned negative for that and back */
        double *row = H + (long)k * stride, *column = H + k;
        double diagonal = row[k];
        for (int i = 0; i < k; i++) {
            column[(long)i * stride] = -column[(long)i * stride];
        }
        double pivot = diagonal;
        for (int i = 0; i < k; i++) {
            pivot -= column[(long)i * stride] * column[(long)i * stride];
        }
        dense_combine(k, n - k - 1, column, stride, H + k + 1, stride, row + k + 1);
        for (int i = 0; i < k; i++) {
            column[(long)i * stride] = -column[(long)i * stride];
        }
        row[k] = pivot;
        if (!(pivot > floor * diagonal) || !(pivot > 0.0) || !isfinite(pivot)) {
            return k;
        }
        double inverse = 1.0 / sqrt(pivot);
        dense_scale(n - k, inverse, row + k);
    }
    return n;
}

void dense_solve_upper_transposed_many(int n, int m, const double *U, int stride, double *X)
{
    for (int k = 0; k < n; k++) {
        double *row = X + (long)k * m;
        for (int j = 0; j < m; j++) {
            row[j] = -row[j];
        }
        dense_combine(k, m, U + k, stride, X, m, row);
        dense_scale(m, -1.0 / U[(long)k * stride + k], row);
    }
}

ZW_CLONES void dense_solve_upper_transposed(int n, const double *U, int stride, double *restrict x)
{
    for (int k = 0; k < n; k++) {
        const double *restrict row = U + (long)k * stride;
        double f = x[k] /= row[k];
        for (int j = k + 1; j < n; j++) {
            x[j] -= f * row[j];
        }
    }
}

void dense_solve_upper(int n, const double *U, int stride, double *x)
{
    for (int k = n - 1; k >= 0; k--) {
        const double *row = U + (long)k * stride;
        x[k] = (x[k] - dense_dot(n - 1 - k, row + k + 1, x + k + 1)) / row[k];
    }
}

void dense_swap(int n, double *x, double *y)
{
    for (int j = 0; j < n; j++) {
        double t = x[j];
        x[j] = y[j];
        y[j] = t;
    }
}

/* Rows k and `best` change places; a pivot that is almost zero is lifted to `floor`. */
static double dense_take_pivot(int k, int best, int lines, double *J, int stride, double floor,
                               double *x)
{
    if (best != k) {
        double t = x[k];
        x[k] = x[best];
        x[best] = t;
        dense_swap(8 * lines, J + (long)k * stride, J + (long)best * stride);
    }
    double pivot = J[(long)k * stride + k];
    return fabs(pivot) < floor ? (pivot < 0.0 ? -floor : floor) : pivot;
}

ZW_CLONES void dense_solve_general(int n, double *J, int stride, double floor, double *x)
{
    int lines = (n + 7) / 8, best = 0;
    for (int i = 1; i < n; i++) {
        best = fabs(J[(long)i * stride]) > fabs(J[(long)best * stride]) ? i : best;
    }
    for (int k = 0; k < n; k++) {
        double inverse = 1.0 / dense_take_pivot(k, best, lines, J, stride, floor, x);
        const double *restrict top = J + (long)k * stride;
        double most = -1.0;
        for (int i = k + 1; i < n; i++) {
            /* whole lines; what is left of column k is garbage that nobody reads */
            double *restrict row = J + (long)i * stride, f = row[k] * inverse;
            for (int line = k / 8; line < lines; line++) {
                lane_store8(row + 8 * line,
                            lane_load8(row + 8 * line) - f * lane_load8(top + 8 * line));
            }
            x[i] -= f * x[k];
            double size = k + 1 < n ? fabs(row[k + 1]) : 0.0;
            best = size > most ? i : best;
            most = size > most ? size : most;
        }
        J[(long)k * stride + k] = inverse;
    }
    for (int k = n - 1; k >= 0; k--) {
        double f = x[k] *= J[(long)k * stride + k];
        for (int i = 0; i < k; i++) {
            x[i] -= J[(long)i * stride + k] * f;
        }
    }
}

#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

#include "math/lane.h"

/* Eight partial sums, added up in one order. Where n is not a multiple of eight the last line
 * overlaps the one before it, and what that has counted is zero; a short vector is filled with
 * zeros. A sum is never -0, so zeros change no bit. */
ZW_INLINE zw_real8 dot_lines(int n, const double *x, const double *y)
{
    zw_real8 s = {0.0};
    if (n < 8) {
        return lane_some8(n, x) * lane_some8(n, y) + s;
    }
    for (int i = 0; i + 8 <= n; i += 8) {
        s += lane_load8(x + i) * lane_load8(y + i);
    }
    return s + lane_last8(n % 8, lane_load8(x + n - 8)) * lane_load8(y + n - 8);
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

/* Rows b to b + count of the lower triangle: what they and their mirror images add. */
ZW_INLINE void symmetric_rows(int b, int count, const double *row, int stride, const double *x,
                              double *y)
{
    zw_real8 dot[8] = {{0.0}}, column = {0.0}, here = lane_some8(count, x + b);
    for (int j = 0; j < b; j += 8) {
        zw_real8 there = lane_load8(x + j), sum = lane_load8(y + j);
        for (int a = 0; a < count; a++) {
            zw_real8 line = lane_load8(row + (long)a * stride + j);
            dot[a] += line * there;
            sum += x[b + a] * line;
        }
        lane_store8(y + j, sum);
    }
    for (int a = 0; a < count; a++) { /* the row to the diagonal, the column below it */
        zw_real8 line = lane_some8(count, row + (long)a * stride + b);
        dot[a] += lane_first8(a + 1, line) * here;
        column += x[b + a] * lane_first8(a, line);
    }
    for (int a = 0; a < count; a++) {
        y[b + a] = column[a] + lane_sum8(dot[a]);
    }
}

ZW_CLONES void dense_multiply_symmetric(int n, const double *M, int stride, const double *x,
                                        double *restrict y)
{
    int b = 0;
    for (; b + 8 <= n; b += 8) {
        symmetric_rows(b, 8, M + (long)b * stride, stride, x, y);
    }
    if (b < n) {
        symmetric_rows(b, n - b, M + (long)b * stride, stride, x, y);
    }
}

ZW_CLONES double dense_dot_size(int n, const double *x, const double *y)
{
    zw_real8 s = {0.0};
    if (n < 8) {
        return lane_sum8(lane_size8(lane_some8(n, x) * lane_some8(n, y)) + s);
    }
    for (int i = 0; i + 8 <= n; i += 8) {
        s += lane_size8(lane_load8(x + i) * lane_load8(y + i));
    }
    zw_real8 last = lane_last8(n % 8, lane_load8(x + n - 8));
    return lane_sum8(s + lane_size8(last * lane_load8(y + n - 8)));
}

/* One line of the four sums of dense_look. */
ZW_INLINE void look_line(zw_real8 entry, zw_real8 x, zw_real8 y, zw_real8 s, zw_real8 sum[4])
{
    zw_real8 product = entry * x, scaled = entry * s;
    sum[0] += product;
    sum[1] += lane_size8(product);
    sum[2] += entry * y;
    sum[3] += scaled * scaled;
}

ZW_CLONES void dense_look(int n, const double *row, const double *x, const double *y,
                          const double *s, double out[4])
{
    zw_real8 sum[4] = {{0.0}};
    for (int i = 0; i + 8 <= n; i += 8) {
        look_line(lane_load8(row + i), lane_load8(x + i), lane_load8(y + i), lane_load8(s + i),
                  sum);
    }
    if (n < 8) {
        look_line(lane_some8(n, row), lane_some8(n, x), lane_some8(n, y), lane_some8(n, s), sum);
    } else if (n % 8 != 0) {
        int i = n - 8;
        look_line(lane_last8(n % 8, lane_load8(row + i)), lane_load8(x + i), lane_load8(y + i),
                  lane_load8(s + i), sum);
    }
    for (int k = 0; k < 4; k++) {
        out[k] = lane_sum8(sum[k]);
    }
}

/* Is every |x_i| <= size? Sizes compare as the integers that have their bits, and a NaN is beyond
 * all: a negative difference shows it. */
ZW_CLONES static int dense_all_within(long n, const double *x, double size)
{
    zw_real8 most = {size, size, size, size, size, size, size, size};
    zw_mask8 beyond = {0};
    long i = 0;
    for (; i + 8 <= n; i += 8) {
        beyond |= (zw_mask8)most - (zw_mask8)lane_size8(lane_load8(x + i));
    }
    beyond |= (zw_mask8)most - (zw_mask8)lane_size8(lane_some8((int)(n - i), x + i));
    long long any = 0;
    for (int k = 0; k < LANES; k++) {
        any |= beyond[k];
    }
    return any >= 0;
}

long dense_first_beyond(long n, const double *x, double size)
{
    if (n >= LANES && dense_all_within(n, x, size)) {
        return -1;
    }
    for (long i = 0; i < n; i++) {
        if (!(fabs(x[i]) <= size)) {
            return i;
        }
    }
    return -1;
}

/* The sums of a `height` x `lines` piece of Y stay in registers while their terms are added. */
#define PRODUCT_PIECE(height, lines)                                                               \
    {                                                                                              \
        zw_real8 sum[height][lines];                                                               \
        for (int a = 0; a < height; a++) {                                                         \
            for (int k = 0; k < lines; k++) {                                                      \
                sum[a][k] = add ? lane_load8(Y + (long)a * Y_stride + j + 8 * k) : zero;           \
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

/* What a piece of less than a line has, number by number. */
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

/* `height` results. The last line of eight may overlap the one before it: it starts from what stood
 * there, and writes the same numbers again. */
#define PRODUCT_BAND(height, most)                                                                 \
    {                                                                                              \
        zw_real8 zero = {0.0}, tail[height] = {{0.0}};                                             \
        int j = 0, rest = n % 8;                                                                   \
        for (int a = 0; a < height && rest > 0; a++) {                                             \
            tail[a] = add ? lane_load8(Y + (long)a * Y_stride + n - 8) : zero;                     \
        }                                                                                          \
        while (n - j >= 8 * most) {                                                                \
            PRODUCT_PIECE(height, most)                                                            \
        }                                                                                          \
        if (most > 4 && n - j >= 32) {                                                             \
            PRODUCT_PIECE(height, (most > 4 ? 4 : 1))                                              \
        }                                                                                          \
        if (most > 2 && n - j >= 16) {                                                             \
            PRODUCT_PIECE(height, (most > 2 ? 2 : 1))                                              \
        }                                                                                          \
        if (n - j >= 8) {                                                                          \
            PRODUCT_PIECE(height, 1)                                                               \
        }                                                                                          \
        for (int i = 0; i < count && rest > 0; i++) {                                              \
            zw_real8 line = lane_load8(rows + (long)i * stride + n - 8);                           \
            for (int a = 0; a < height; a++) {                                                     \
                tail[a] += s[a * (long)across + i * (long)step] * line;                            \
            }                                                                                      \
        }                                                                                          \
        for (int a = 0; a < height && rest > 0; a++) {                                             \
            lane_store8(Y + (long)a * Y_stride + n - 8, tail[a]);                                  \
        }                                                                                          \
    }

/* Sums are the same however many are in registers at once. Where code must be small and vectors are
 * short (WebAssembly), few are. */
#ifdef ZW_NO_GROUPS
enum { WIDEST = 2 };
#else
enum { WIDEST = 8 };
#endif

ZW_CLONES void dense_combine(int count, int n, const double *s, int step, const double *rows,
                             int stride, double *restrict Y)
{
    enum { across = 0, Y_stride = 0, add = 1 };
    if (n >= 8) {
        PRODUCT_BAND(1, WIDEST)
        return;
    }
    int j = 0;
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

ZW_CLONES void dense_product(int add, int m, int count, int n, const double *s, int across,
                             int step, const double *rows, int stride, double *restrict Y,
                             int Y_stride)
{
    for (int a = 0; a < m && n < 8; a++) {
        if (!add) {
            memset(Y + a * (long)Y_stride, 0, (size_t)n * sizeof *Y);
        }
        dense_combine(count, n, s + a * (long)across, step, rows, stride, Y + a * (long)Y_stride);
    }
    if (n < 8) {
        return;
    }
#ifdef ZW_NO_GROUPS
    for (; m > 0; m--, s += across, Y += Y_stride) {
        PRODUCT_BAND(1, WIDEST)
    }
#else
    for (; m >= 4; m -= 4, s += 4 * (long)across, Y += 4 * (long)Y_stride) {
        PRODUCT_BAND(4, 2)
    }
    if (m == 3) {
        PRODUCT_BAND(3, 2)
    } else if (m == 2) {
        PRODUCT_BAND(2, 2)
    } else if (m == 1) {
        PRODUCT_BAND(1, 4)
    }
#endif
}

ZW_CLONES void dense_scale_columns(int n, int m, const double *restrict s, const double *restrict X,
                                   double *restrict Y)
{
    for (int j = 0; j < n; j++) {
        for (int e = 0; e < m; e++) {
            Y[(long)j * m + e] = s[e] * X[(long)j * m + e];
        }
    }
}

ZW_CLONES void dense_column_squares(int n, int m, const double *X, double *square)
{
    for (int e = 0; e < m; e += 8) {
        zw_real8 sum = {0.0};
        for (int j = 0; j < n; j++) {
            zw_real8 line = lane_load8(X + (long)j * m + e);
            sum += line * line;
        }
        lane_store8(square + e, sum);
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

ZW_CLONES void dense_scale(int n, double s, double *x)
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

/* y += f x over whole lines, the last of which may overlap the one before; n >= 8. */
ZW_INLINE void lines_add(int n, double f, const double *x, double *y)
{
    zw_real8 tail = lane_load8(y + n - 8) + f * lane_load8(x + n - 8);
    for (int j = 0; j + 8 <= n; j += 8) {
        lane_store8(y + j, lane_load8(y + j) + f * lane_load8(x + j));
    }
    lane_store8(y + n - 8, tail);
}

ZW_INLINE void lines_scale(int n, double f, double *x)
{
    zw_real8 tail = f * lane_load8(x + n - 8);
    for (int j = 0; j + 8 <= n; j += 8) {
        lane_store8(x + j, f * lane_load8(x + j));
    }
    lane_store8(x + n - 8, tail);
}

/* Below eight columns: one row after the other. */
static int dense_cholesky_small(int n, double *H, int stride, double floor)
{
    for (int k = 0; k < n; k++) {
        double *row = H + (long)k * stride, diagonal = row[k];
        for (int i = 0; i < k; i++) {
            dense_axpy(n - k, -H[(long)i * stride + k], H + (long)i * stride + k, row + k);
        }
        if (!(row[k] > floor * diagonal) || !(row[k] > 0.0) || !isfinite(row[k])) {
            return k;
        }
        dense_scale(n - k, 1.0 / sqrt(row[k]), row + k);
    }
    return n;
}

/* Four rows at a time. What the rows above have in them is taken out of all four together; the
 * four then take themselves out of each other, still times their pivots (no root is waited for),
 * and are scaled in the end. They hold -H meanwhile, as sums are added. Where less than a line is
 * left of them, the line begins in the lower triangle, which is never read. */
ZW_CLONES int dense_cholesky(int n, double *H, int stride, double floor)
{
    if (n < 8) {
        return dense_cholesky_small(n, H, stride, floor);
    }
    for (int k = 0; k < n; k += 4) {
        int count = n - k < 4 ? n - k : 4, from = n - k < 8 ? n - 8 : k;
        double *block = H + (long)k * stride + from, inverse[4], diagonal[4];
        for (int a = 0; a < count; a++) {
            diagonal[a] = H[(long)(k + a) * stride + k + a];
            lines_scale(n - from, -1.0, block + (long)a * stride);
        }
        dense_product(1, count, k, n - from, H + k, 1, stride, H + from, stride, block, stride);
        for (int a = 0; a < count; a++) {
            const double *row = block + (long)a * stride, *entry = row + k - from;
            double pivot = -entry[a];
            if (!(pivot > floor * diagonal[a]) || !(pivot > 0.0) || !isfinite(pivot)) {
                H[(long)(k + a) * stride + k + a] = pivot;
                return k + a;
            }
            double square = 1.0 / pivot;
            inverse[a] = -1.0 / sqrt(pivot);
            for (int b = a + 1; b < count; b++) {
                lines_add(n - from, square * entry[b], row, block + (long)b * stride);
            }
        }
        for (int a = 0; a < count; a++) {
            lines_scale(n - from, inverse[a], block + (long)a * stride);
        }
    }
    return n;
}

ZW_CLONES void dense_solve_upper_transposed_many(int n, int m, const double *U, int stride,
                                                 double *restrict X)
{
    for (int k = 0; k < n && m > 0; k += 4) {
        int count = n - k < 4 ? n - k : 4;
        double *block = X + (long)k * m;
        lines_scale(count * m, -1.0, block);
        dense_product(1, count, k, m, U + k, 1, stride, X, m, block, m);
        for (int a = 0; a < count; a++) {
            const double *top = U + (long)(k + a) * stride + k;
            double *row = block + (long)a * m;
            lines_scale(m, -1.0 / top[a], row);
            for (int b = a + 1; b < count; b++) {
                lines_add(m, top[b], row, block + (long)b * m);
            }
        }
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

/* Four unknowns at a time: what is known already is taken out of their rows together, and the small
 * triangle solved with the inverses of its pivots, which are known. */
ZW_CLONES void dense_solve_upper(int n, const double *U, int stride, double *x)
{
    for (int end = n; end > 0; end -= 4) {
        int k = end > 4 ? end - 4 : 0, count = end - k;
        double y[4], inverse[4];
        for (int a = 0; a < count; a++) {
            const double *row = U + (long)(k + a) * stride;
            y[a] = x[k + a] - lane_sum8(dot_lines(n - end, row + end, x + end));
            inverse[a] = 1.0 / row[k + a];
        }
        for (int a = count - 1; a >= 0; a--) {
            double f = x[k + a] = y[a] * inverse[a];
            for (int b = 0; b < a; b++) {
                y[b] -= U[(long)(k + b) * stride + k + a] * f;
            }
        }
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

/* The search for the next pivot goes along with the elimination. Rows are updated in whole lines;
 * what that leaves in column k is garbage that is never read. */
ZW_CLONES void dense_solve_general(int n, double *J, int stride, double floor, double *restrict x)
{
    int wide = (n + 7) / 8 * 8, best = 0;
    for (int i = 1; i < n; i++) {
        best = fabs(J[(long)i * stride]) > fabs(J[(long)best * stride]) ? i : best;
    }
    for (int k = 0; k < n; k++) {
        double *top = J + (long)k * stride, most = -1.0;
        if (best != k) {
            double *other = J + (long)best * stride, t = x[k];
            x[k] = x[best];
            x[best] = t;
            for (int j = k / 8 * 8; j < wide; j += 8) {
                zw_real8 line = lane_load8(top + j);
                lane_store8(top + j, lane_load8(other + j));
                lane_store8(other + j, line);
            }
        }
        double pivot = fabs(top[k]) < floor ? (top[k] < 0.0 ? -floor : floor) : top[k];
        double inverse = 1.0 / pivot, right = x[k];

        for (int i = k + 1; i < n; i++) {
            double *row = J + (long)i * stride, f = row[k] * inverse;
            for (int j = k / 8 * 8; j < wide; j += 8) {
                lane_store8(row + j, lane_load8(row + j) - f * lane_load8(top + j));
            }
            x[i] -= f * right;
            double size = fabs(row[k + 1]);
            best = size > most ? i : best;
            most = size > most ? size : most;
        }
        top[k] = inverse;
    }
    for (int k = n - 1; k >= 0; k--) {
        double f = x[k] *= J[(long)k * stride + k];
        for (int i = 0; i < k; i++) {
            x[i] -= J[(long)i * stride + k] * f;
        }
    }
}

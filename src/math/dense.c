#include "math/dense.h"

#include <math.h>
#include <string.h>

#include "math/lane.h"

ZW_CLONES double dense_dot(int n, const double *x, const double *y)
{
    double s[8] = {0.0};
    int i = 0;
    for (; i + 8 <= n; i += 8) {
        for (int k = 0; k < 8; k++) {
            s[k] += x[i + k] * y[i + k];
        }
    }
    for (int k = 0; i + k < n; k++) {
        s[k] += x[i + k] * y[i + k];
    }
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

ZW_CLONES double dense_dot_size(int n, const double *x, const double *y)
{
    double s[8] = {0.0};
    int i = 0;
    for (; i + 8 <= n; i += 8) {
        for (int k = 0; k < 8; k++) {
            s[k] += fabs(x[i + k] * y[i + k]);
        }
    }
    for (int k = 0; i + k < n; k++) {
        s[k] += fabs(x[i + k] * y[i + k]);
    }
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

/* Is every |x_i| <= size? Eight maxima side by side, and eight sums of x_i - x_i, which a NaN or an
 * infinity spoils. */
ZW_CLONES static int dense_all_within(long n, const double *x, double size)
{
    double most[8] = {0.0}, spoilt[8] = {0.0};
    long i = 0;
    for (; i + 8 <= n; i += 8) {
        for (int k = 0; k < 8; k++) {
            double a = fabs(x[i + k]);
            most[k] = a > most[k] ? a : most[k];
            spoilt[k] += a - a;
        }
    }
    for (int k = 0; i + k < n; k++) {
        double a = fabs(x[i + k]);
        most[k] = a > most[k] ? a : most[k];
        spoilt[k] += a - a;
    }
    int good = 1;
    for (int k = 0; k < 8; k++) {
        good &= most[k] <= size && spoilt[k] == 0.0;
    }
    return good;
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

/* `width` numbers of y stay in registers while the terms are added. */
#define COMBINE_STRIP(width)                                                                       \
    {                                                                                              \
        double sum[width];                                                                         \
        memcpy(sum, y + j, sizeof sum);                                                            \
        for (int i = 0; i < count; i++) {                                                          \
            const double *row = rows + (long)i * stride + j;                                       \
            double f = s[(long)i * step];                                                          \
            for (int k = 0; k < width; k++) {                                                      \
                sum[k] += f * row[k];                                                              \
            }                                                                                      \
        }                                                                                          \
        memcpy(y + j, sum, sizeof sum);                                                            \
        j += width;                                                                                \
    }

#define COMBINE_CASE(lines)                                                                        \
    case lines:                                                                                    \
        COMBINE_STRIP(8 * lines) break;

ZW_CLONES void dense_combine(int count, int n, const double *s, int step, const double *rows,
                             int stride, double *restrict y)
{
    int j = 0;
    while (n - j >= 64) {
        COMBINE_STRIP(64)
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
    double s[8] = {0.0};
    int i = 0;
    for (; i + 8 <= n; i += 8) {
        for (int k = 0; k < 8; k++) {
            double product = x[i + k] * y[i + k];
            s[k] += product * product;
        }
    }
    for (int k = 0; i + k < n; k++) {
        double product = x[i + k] * y[i + k];
        s[k] += product * product;
    }
    return sqrt(((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7])));
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

void dense_multiply(int m, int n, const double *A, int stride, const double *x, double *y)
{
    for (int i = 0; i < m; i++) {
        y[i] = dense_dot(n, A + (long)i * stride, x);
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

static void dense_swap(int n, double *x, double *y)
{
    for (int j = 0; j < n; j++) {
        double t = x[j];
        x[j] = y[j];
        y[j] = t;
    }
}

static void dense_lu_pivot(int n, int k, double *J, int stride, int *pivot, double floor)
{
    int best = k;
    for (int i = k + 1; i < n; i++) {
        if (fabs(J[(long)i * stride + k]) > fabs(J[(long)best * stride + k])) {
            best = i;
        }
    }
    pivot[k] = best;
    if (best != k) {
        dense_swap(n, J + (long)k * stride, J + (long)best * stride);
    }
    double *entry = J + (long)k * stride + k;
    if (fabs(*entry) < floor) {
        *entry = *entry < 0.0 ? -floor : floor;
    }
}

ZW_CLONES void dense_lu(int n, double *J, int stride, int *pivot, double floor)
{
    for (int k = 0; k < n; k++) {
        dense_lu_pivot(n, k, J, stride, pivot, floor);
        const double *restrict top = J + (long)k * stride;
        double inverse = 1.0 / top[k];
        for (int i = k + 1; i < n; i++) {
            double *restrict row = J + (long)i * stride;
            if (row[k] == 0.0) {
                continue;
            }
            double f = row[k] *= inverse;
            for (int j = k + 1; j < n; j++) {
                row[j] -= f * top[j];
            }
        }
    }
}

void dense_lu_solve(int n, const double *J, int stride, const int *pivot, double *x)
{
    for (int k = 0; k < n; k++) {
        double t = x[k];
        x[k] = x[pivot[k]];
        x[pivot[k]] = t;
    }
    for (int k = 1; k < n; k++) {
        x[k] -= dense_dot(k, J + (long)k * stride, x);
    }
    dense_solve_upper(n, J, stride, x);
}

/* The row from `k` on that is farthest from the span so far. Distances are downdated, and computed
 * anew when cancellation has eaten six digits of their square. */
static int lq_farthest(int m, int k, const double *distance)
{
    int best = k;
    for (int i = k + 1; i < m; i++) {
        if (distance[i] > distance[best]) {
            best = i;
        }
    }
    return best;
}

static void lq_swap(int m, int n, int i, int k, double *A, int stride, int *order, double *distance)
{
    if (i != k) {
        dense_swap(n, A + (long)i * stride, A + (long)k * stride);
        int o = order[i];
        order[i] = order[k];
        order[k] = o;
        double d = distance[i];
        distance[i] = distance[k];
        distance[k] = d;
        d = distance[m + i];
        distance[m + i] = distance[m + k];
        distance[m + k] = d;
    }
}

/* The reflection that turns x (length n) into (alpha, 0, ..): x holds (alpha, v_1, ..) on exit,
 * with v_0 = 1 implied. Returns beta. */
static double lq_reflect(int n, double *x)
{
    double tail = n > 1 ? dense_dot(n - 1, x + 1, x + 1) : 0.0;
    if (tail == 0.0) {
        return 0.0;
    }
    double norm = sqrt(x[0] * x[0] + tail);
    double alpha = x[0] > 0.0 ? -norm : norm;
    double v0 = x[0] - alpha;
    dense_scale(n - 1, 1.0 / v0, x + 1);
    double beta = -v0 / alpha;
    x[0] = alpha;
    return beta;
}

/* x = H x for the reflection whose vector (1, v) has its tail in v. */
static void lq_apply_one(int n, double beta, const double *v, double *x)
{
    double t = beta * (x[0] + dense_dot(n - 1, v + 1, x + 1));
    x[0] -= t;
    dense_axpy(n - 1, -t, v + 1, x + 1);
}

/* The same for four rows at once: the sums of one wait for nobody. Bits as lq_apply_one. */
ZW_CLONES static void lq_apply_four(int n, double beta, const double *v, double *x, int stride)
{
    double s[4][8] = {{0.0}}, t[4];
    int i = 1;
    for (; i + 8 <= n; i += 8) {
        for (int r = 0; r < 4; r++) {
            for (int k = 0; k < 8; k++) {
                s[r][k] += v[i + k] * x[(long)r * stride + i + k];
            }
        }
    }
    for (int r = 0; r < 4; r++) {
        double *row = x + (long)r * stride, *p = s[r];
        for (int k = 0; i + k < n; k++) {
            p[k] += v[i + k] * row[i + k];
        }
        double dot = ((p[0] + p[4]) + (p[2] + p[6])) + ((p[1] + p[5]) + (p[3] + p[7]));
        t[r] = beta * (row[0] + dot);
        row[0] -= t[r];
        for (int k = 1; k < n; k++) {
            row[k] += -t[r] * v[k];
        }
    }
}

static void lq_apply_rows(int rows, int n, double beta, const double *v, double *x, int stride)
{
    int i = 0;
    for (; i + 4 <= rows; i += 4) {
        lq_apply_four(n, beta, v, x + (long)i * stride, stride);
    }
    for (; i < rows; i++) {
        lq_apply_one(n, beta, v, x + (long)i * stride);
    }
}

/* The squared distances of the rows from k on: less what step k - 1 has just put into column k - 1.
 */
static void lq_downdate(int m, int n, int k, const double *A, int stride, double *square,
                        double *exact)
{
    for (int i = k; i < m; i++) {
        const double *row = A + (long)i * stride + k - 1;
        square[i] -= row[0] * row[0];
        if (!(square[i] > 1e-6 * exact[i])) { /* six digits gone: from the row itself */
            square[i] = exact[i] = dense_dot(n - k, row + 1, row + 1);
        }
    }
}

int dense_lq(int m, int n, double *A, int stride, double tolerance, int *order, double *beta,
             double *distance)
{
    double *square = distance, *exact = distance + m; /* as they were when last computed */
    for (int i = 0; i < m; i++) {
        const double *row = A + (long)i * stride;
        order[i] = i;
        square[i] = exact[i] = dense_dot(n, row, row);
    }
    int k = 0;
    while (k < m && k < n) {
        int best = lq_farthest(m, k, square);
        if (!(square[best] > tolerance * tolerance)) {
            break;
        }
        lq_swap(m, n, best, k, A, stride, order, distance);
        double *row = A + (long)k * stride + k;
        beta[k] = lq_reflect(n - k, row);
        lq_apply_rows(m - k - 1, n - k, beta[k], row, row + stride, stride);
        k++;
        lq_downdate(m, n, k, A, stride, square, exact);
    }
    for (int i = 0; i < m; i++) {
        distance[i] = i >= k && k == n ? 0.0 : sqrt(square[i]);
    }
    return k;
}

void dense_lq_apply_transposed(int rank, int n, const double *A, int stride, const double *beta,
                               double *x)
{
    for (int k = 0; k < rank; k++) {
        lq_apply_one(n - k, beta[k], A + (long)k * stride + k, x + k);
    }
}

void dense_lq_apply_transposed_rows(int rank, int n, const double *A, int stride,
                                    const double *beta, int rows, double *x, int x_stride)
{
    for (int k = 0; k < rank; k++) {
        lq_apply_rows(rows, n - k, beta[k], A + (long)k * stride + k, x + k, x_stride);
    }
}

void dense_lq_apply(int rank, int n, const double *A, int stride, const double *beta, double *x)
{
    for (int k = rank - 1; k >= 0; k--) {
        lq_apply_one(n - k, beta[k], A + (long)k * stride + k, x + k);
    }
}

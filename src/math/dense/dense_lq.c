/* Rows of any rank by reflections; the contract is in dense.h. */
#include <math.h>

#include "math/dense/dense.h"
#include "math/lane.h"

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
 * with v_0 = 1 implied. Returns beta. `first` is the first entry of the column of x_0 that is not
 * 0, x_0 itself unless that is: alpha has the other sign, so that a column with all its signs
 * changed, as in a mirror, gives the same bits but for these signs. */
static double lq_reflect(int n, double *x, double first)
{
    double tail = n > 1 ? dense_dot(n - 1, x + 1, x + 1) : 0.0;
    if (tail == 0.0) {
        return 0.0;
    }
    double norm = sqrt(x[0] * x[0] + tail);
    double alpha = first > 0.0 ? -norm : norm;
    double v0 = x[0] - alpha;
    dense_scale(n - 1, 1.0 / v0, x + 1);
    double beta = -v0 / alpha;
    x[0] = alpha;
    return beta;
}

/* The first entry of a column that is not 0; 0 if there is none. */
static double lq_first_entry(int m, const double *x, int stride)
{
    int i = 0;
    while (i < m && x[(long)i * stride] == 0.0) {
        i++;
    }
    return i < m ? x[(long)i * stride] : 0.0;
}

/* x = H x for the reflection whose vector (1, v) has its tail in v. */
static void lq_apply_one(int n, double beta, const double *v, double *x)
{
    double t = beta * (x[0] + dense_dot(n - 1, v + 1, x + 1));
    x[0] -= t;
    dense_axpy(n - 1, -t, v + 1, x + 1);
}

/* The same for four rows at once: the sums of one do not wait for another. Bits as lq_apply_one. */
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
        beta[k] = lq_reflect(n - k, row, lq_first_entry(m - k, row, stride));
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

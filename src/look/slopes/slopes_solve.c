/* Linear systems whose rows may depend on each other: K = [L 0] Q' (dense_lq) after its rows and
 * columns were scaled to length about one, so that masses and lengths do not decide what is small.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "look/slopes/slopes.h"
#include "math/dense/dense.h"

#define RANK 1e-11

/* Rows and columns to largest entry 1, twice. */
static void balance(int n, double *K, double *row, double *column)
{
    for (int i = 0; i < n; i++) {
        row[i] = column[i] = 1;
    }
    for (int pass = 0; pass < 4; pass++) {
        for (int i = 0; i < n; i++) {
            double most = 0;
            for (int j = 0; j < n; j++) {
                most = fmax(most, fabs(pass % 2 ? K[j * n + i] : K[i * n + j]));
            }
            double s = most > 0 ? 1 / sqrt(most) : 1;
            for (int j = 0; j < n; j++) {
                *(pass % 2 ? &K[j * n + i] : &K[i * n + j]) *= s;
            }
            *(pass % 2 ? &column[i] : &row[i]) *= s;
        }
    }
}

/* z = L \ x over the first rows; x is in the order of the factors. */
static void solve_lower(int rank, int n, const double *L, double *z)
{
    for (int i = 0; i < rank; i++) {
        double sum = z[i];
        for (int k = 0; k < i; k++) {
            sum -= L[(size_t)i * (size_t)n + (size_t)k] * z[k];
        }
        z[i] = sum / L[(size_t)i * (size_t)n + (size_t)i];
    }
}

int slopes_solve(int size, int columns, double *K, double *by)
{
    return slopes_solve_to(size, columns, K, by, RANK, NULL, NULL);
}

/* Q of the last columns spans what K makes 0 of. */
static void find_loose(int rank, int size, const double *K, const double *beta, double *z,
                       double *loose)
{
    memset(loose, 0, (size_t)size * sizeof *loose);
    for (int k = rank; k < size; k++) {
        memset(z, 0, (size_t)size * sizeof *z);
        z[k] = 1;
        dense_lq_apply(rank, size, K, size, beta, z);
        for (int i = 0; i < size; i++) {
            loose[i] = fmax(loose[i], fabs(z[i]));
        }
    }
}

/* Some sum of them, in which each counts. */
static void find_null(int rank, int size, const double *K, const double *beta, const double *column,
                      double *null)
{
    for (int i = 0; i < size; i++) {
        null[i] = i < rank ? 0 : 1.0 / (1 + i - rank);
    }
    dense_lq_apply(rank, size, K, size, beta, null);
    for (int i = 0; i < size; i++) {
        null[i] *= column[i];
    }
}

int slopes_solve_to(int size, int columns, double *K, double *by, double least, double *loose,
                    double *null)
{
    size_t n = (size_t)size;
    double *room = base_alloc((6 * n + 8) * sizeof *room);
    int *order = base_alloc((n + 1) * sizeof *order);
    if (!room || !order) {
        base_free(room);
        base_free(order);
        return -1;
    }
    double *row = room, *column = row + n, *beta = column + n, *distance = beta + n;
    double *z = distance + 2 * n;
    balance(size, K, row, column);
    int rank = dense_lq(size, size, K, size, least, order, beta, distance);
    for (int c = 0; c < columns; c++) {
        double *x = by + (size_t)c * n;
        for (int i = 0; i < size; i++) {
            z[i] = i < rank ? row[order[i]] * x[order[i]] : 0;
        }
        solve_lower(rank, size, K, z);
        dense_lq_apply(rank, size, K, size, beta, z);
        for (int i = 0; i < size; i++) {
            x[i] = column[i] * z[i];
        }
    }
    if (loose) {
        find_loose(rank, size, K, beta, z, loose);
    }
    if (null) {
        find_null(rank, size, K, beta, column, null);
    }
    base_free(room);
    base_free(order);
    return rank;
}

int slopes_outside(int m, int n, const double *A, int columns, double *u)
{
    size_t rows = (size_t)n, width = (size_t)m;
    double *T = base_alloc((rows * width + 4 * (rows + width) + 4) * sizeof *T);
    int *order = base_alloc((rows + 1) * sizeof *order);
    if (T && order) {
        double *beta = T + rows * width, *distance = beta + rows + width;
        dense_transpose(m, n, A, n, T, m);
        double size = dense_largest(m * n, T);
        int rank = dense_lq(n, m, T, m, RANK * size, order, beta, distance);
        for (int c = 0; c < columns; c++) {
            double *x = u + (size_t)c * width;
            dense_lq_apply_transposed(rank, m, T, m, beta, x);
            memset(x, 0, (size_t)rank * sizeof *x);
            dense_lq_apply(rank, m, T, m, beta, x);
        }
    }
    int done = T && order;
    base_free(T);
    base_free(order);
    return done;
}

int slopes_some(int m, int n, const double *A, const double *b, double *w)
{
    size_t rows = (size_t)m, width = (size_t)n;
    double *L = base_alloc((rows * width + 4 * (rows + width) + 4) * sizeof *L);
    int *order = base_alloc((rows + 1) * sizeof *order);
    if (L && order) {
        double *beta = L + rows * width, *distance = beta + rows + width;
        memcpy(L, A, rows * width * sizeof *L);
        double size = dense_largest(m * n, L);
        int rank = dense_lq(m, n, L, n, RANK * size, order, beta, distance);
        memset(w, 0, width * sizeof *w);
        for (int i = 0; i < rank; i++) {
            w[i] = b[order[i]];
        }
        solve_lower(rank, n, L, w);
        dense_lq_apply(rank, n, L, n, beta, w);
    }
    int done = L && order;
    base_free(L);
    base_free(order);
    return done;
}

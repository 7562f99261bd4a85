/* Linear systems whose rows may depend on each other: K = [L 0] Q' (dense_lq) after its rows and
 * columns were scaled to length about one, so that masses and lengths do not decide what is small.
 *
 * For a singular K the answer is x = C K^+ R b, K^+ the pseudo-inverse of the scaled matrix R K C:
 * of all x with the least residual, the one of least norm (both scaled). Rows and columns are
 * scaled alike, so that the transposed matrix has the transposed answer: forward and backward
 * derivatives are the same numbers, whatever the rank. With all columns of L, L = P [R' 0]'
 * (dense_lq of L'), and y = R' \ (P' b) is what remains to be solved. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "look/slopes/slopes.h"
#include "math/dense/dense.h"

/* Scales rows and columns together so that their largest entries are about 1. */
static void balance(int n, double *K, double *row, double *column, double *most)
{
    for (int i = 0; i < n; i++) {
        row[i] = column[i] = 1;
    }
    for (int pass = 0; pass < 3; pass++) {
        memset(most, 0, 2 * (size_t)n * sizeof *most);
        for (int i = 0; i < n * n; i++) {
            double size = fabs(K[i]), *r = &most[i / n], *c = &most[n + i % n];
            *r = fmax(*r, size);
            *c = fmax(*c, size);
        }
        for (int i = 0; i < 2 * n; i++) {
            most[i] = most[i] > 0 ? 1 / sqrt(most[i]) : 1;
        }
        for (int i = 0; i < n * n; i++) {
            K[i] *= most[i / n] * most[n + i % n];
        }
        for (int i = 0; i < n; i++) {
            row[i] *= most[i];
            column[i] *= most[n + i];
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

/* All columns of L, transposed, and their factors. */
typedef struct tall {
    double *T, *beta, *distance, *c; /* [rank][n], [n], [2 n], [n] */
    int *order;
    void *memory;
} tall;

static int make_tall(tall *t, int rank, int n, const double *L)
{
    size_t wide = (size_t)n, count = (size_t)rank * wide + 4 * wide + 4;
    *t = (tall){.memory = base_alloc(count * sizeof(double) + wide * sizeof(int) + 1)};
    if (!t->memory) {
        return 0;
    }
    t->T = t->memory;
    t->beta = t->T + (size_t)rank * wide;
    t->distance = t->beta + wide;
    t->c = t->distance + 2 * wide;
    t->order = (int *)(t->T + count);
    for (int k = 0; k < rank; k++) {
        for (int i = 0; i < n; i++) {
            t->T[k * n + i] = k <= i ? L[i * n + k] : 0;
        }
    }
    dense_lq(rank, n, t->T, n, 0, t->order, t->beta, t->distance);
    return 1;
}

/* z[n], right sides in the order of L's rows, becomes y[rank], then 0. */
static void solve_tall(tall *t, int rank, int n, double *z)
{
    memcpy(t->c, z, (size_t)n * sizeof *z);
    dense_lq_apply_transposed(rank, n, t->T, n, t->beta, t->c);
    memset(z, 0, (size_t)n * sizeof *z);
    for (int i = rank - 1; i >= 0; i--) {
        double sum = t->c[i];
        for (int k = i + 1; k < rank; k++) {
            sum -= t->T[k * n + i] * z[t->order[k]];
        }
        z[t->order[i]] = sum / t->T[i * n + i];
    }
}

int slopes_solve(int size, int columns, double *K, double *by)
{
    return slopes_solve_to(size, columns, K, by, SLOPES_RANK, NULL, NULL);
}

/* The last columns of Q span the null space of K. */
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

/* A combination of these columns in which each has a part. */
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

/* by[columns][size] = K \ by, K being factored. */
static void solve_all(int rank, int size, int columns, const double *K, const int *order,
                      const double *scale, tall *t, double *z, double *by)
{
    const double *row = scale, *column = scale + size, *beta = column + size;
    for (int c = 0; c < columns; c++) {
        double *x = by + (size_t)c * (size_t)size;
        for (int i = 0; i < size; i++) {
            z[i] = row[order[i]] * x[order[i]];
        }
        if (rank < size) {
            solve_tall(t, rank, size, z);
        } else {
            solve_lower(rank, size, K, z);
        }
        dense_lq_apply(rank, size, K, size, beta, z);
        for (int i = 0; i < size; i++) {
            x[i] = column[i] * z[i];
        }
    }
}

int slopes_solve_to(int size, int columns, double *K, double *by, double least, double *loose,
                    double *null)
{
    size_t n = (size_t)size;
    double *scratch = base_alloc((6 * n + 8) * sizeof *scratch);
    int *order = base_alloc((n + 1) * sizeof *order), rank = -1;
    tall t = {0};
    if (scratch && order) {
        double *row = scratch, *column = row + n, *beta = column + n, *distance = beta + n;
        double *z = distance + 2 * n;
        balance(size, K, row, column, distance);
        rank = dense_lq(size, size, K, size, least, order, beta, distance);
        rank = rank == size || make_tall(&t, rank, size, K) ? rank : -1;
        if (rank >= 0) {
            solve_all(rank, size, columns, K, order, row, &t, z, by);
        }
        if (rank >= 0 && loose) {
            find_loose(rank, size, K, beta, z, loose);
        }
        if (rank >= 0 && null) {
            find_null(rank, size, K, beta, column, null);
        }
    }
    base_free(t.memory);
    base_free(scratch);
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
        int rank = dense_lq(n, m, T, m, SLOPES_RANK * size, order, beta, distance);
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
        int rank = dense_lq(m, n, L, n, SLOPES_RANK * size, order, beta, distance);
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

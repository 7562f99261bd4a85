/* Rows of any rank: minimum-norm solutions, and the null space. */
#include <math.h>
#include <string.h>

#include "math/dense/dense.h"
#include "path/reach/reach.h"

void reach_rows_lay_out(reach_rows *rows, base_arena *arena, int most, int columns)
{
    size_t m = (size_t)most, n = (size_t)columns, smaller = m < n ? m : n;
    rows->most = most;
    rows->columns = columns;
    rows->J = base_arena_doubles(arena, (m + 1) * n + 8);
    rows->beta = base_arena_doubles(arena, smaller + 1);
    rows->distance = base_arena_doubles(arena, 2 * m + 2);
    rows->order = base_arena_ints(arena, m + 1);
}

int reach_rows_factor(reach_rows *rows, double tolerance)
{
    double largest = 0;
    for (int i = 0; i < rows->rows; i++) {
        largest = fmax(largest, dense_norm(rows->columns, rows->J + (long)i * rows->columns));
    }
    rows->rank = largest > 0 && rows->columns > 0
                     ? dense_lq(rows->rows, rows->columns, rows->J, rows->columns,
                                tolerance * largest, rows->order, rows->beta, rows->distance)
                     : 0;
    return rows->rank;
}

void reach_rows_solve(reach_rows *rows, const double *r, double *x)
{
    int n = rows->columns;
    memset(x, 0, (size_t)n * sizeof *x);
    for (int i = 0; i < rows->rank; i++) {
        const double *row = rows->J + (long)i * n;
        x[i] = (r[rows->order[i]] - dense_dot(i, row, x)) / row[i];
    }
    dense_lq_apply(rows->rank, n, rows->J, n, rows->beta, x);
}

void reach_rows_null(const reach_rows *rows, int k, double *x)
{
    memset(x, 0, (size_t)rows->columns * sizeof *x);
    x[rows->rank + k] = 1;
    dense_lq_apply(rows->rank, rows->columns, rows->J, rows->columns, rows->beta, x);
}

void reach_rows_remove(const reach_rows *rows, double *x)
{
    int n = rows->columns;
    dense_lq_apply_transposed(rows->rank, n, rows->J, n, rows->beta, x);
    memset(x, 0, (size_t)rows->rank * sizeof *x);
    dense_lq_apply(rows->rank, n, rows->J, n, rows->beta, x);
}

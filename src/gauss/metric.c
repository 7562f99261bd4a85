#include "gauss/metric.h"

#include <math.h>
#include <string.h>

#include "gauss/tolerances.h"
#include "math/dense/dense.h"

static void sparse_apply(const zw_gauss *problem, const double *x, double *y)
{
    const zw_metric *M = &problem->metric;
    memset(y, 0, (size_t)problem->n * sizeof *y);
    for (int j = 0; j < problem->n; j++) {
        for (int k = M->start[j]; k < M->start[j + 1]; k++) {
            int i = M->row[k];
            if (i < j) {
                continue;
            }
            y[i] += M->value[k] * x[j];
            if (i > j) {
                y[j] += M->value[k] * x[i];
            }
        }
    }
}

void gauss_metric_apply(const zw_gauss *problem, const double *x, double *y)
{
    const zw_metric *M = &problem->metric;
    const double *value = M->value;
    switch (M->kind) {
    case ZW_METRIC_IDENTITY:
        memcpy(y, x, (size_t)problem->n * sizeof *y);
        break;
    case ZW_METRIC_DIAGONAL:
        for (int i = 0; i < problem->n; i++) {
            y[i] = value[i] * x[i];
        }
        break;
    case ZW_METRIC_DENSE:
        dense_multiply_symmetric(problem->n, value, problem->n, x, y);
        break;
    case ZW_METRIC_BLOCKS:
        for (int k = 0, at = 0; k < M->block_count; k++) {
            int size = M->block_size[k];
            dense_multiply_symmetric(size, value, size, x + at, y + at);
            at += size;
            value += (long)size * size;
        }
        break;
    case ZW_METRIC_SPARSE:
        sparse_apply(problem, x, y);
        break;
    case ZW_METRIC_OPERATOR:
        M->operator_->apply(M->operator_->self, x, y);
        break;
    }
}

static void block_diagonal(int n, const double *M, double *d)
{
    for (int i = 0; i < n; i++) {
        d[i] = M[(long)i * n + i];
    }
}

void gauss_metric_diagonal(const zw_gauss *problem, double *d)
{
    const zw_metric *M = &problem->metric;
    const double *value = M->value;
    switch (M->kind) {
    case ZW_METRIC_IDENTITY:
        for (int i = 0; i < problem->n; i++) {
            d[i] = 1.0;
        }
        break;
    case ZW_METRIC_DIAGONAL:
        memcpy(d, value, (size_t)problem->n * sizeof *d);
        break;
    case ZW_METRIC_DENSE:
        block_diagonal(problem->n, value, d);
        break;
    case ZW_METRIC_BLOCKS:
        for (int k = 0; k < M->block_count; k++) {
            int size = M->block_size[k];
            block_diagonal(size, value, d);
            d += size;
            value += (long)size * size;
        }
        break;
    case ZW_METRIC_SPARSE:
        memset(d, 0, (size_t)problem->n * sizeof *d);
        for (int j = 0; j < problem->n; j++) {
            for (int k = M->start[j]; k < M->start[j + 1]; k++) {
                d[j] += M->row[k] == j ? value[k] : 0.0;
            }
        }
        break;
    case ZW_METRIC_OPERATOR:
        M->operator_->diagonal(M->operator_->self, d);
        break;
    }
}

/* The upper triangle of U from the lower triangle of M. */
static void block_transpose(int n, const double *M, double *U)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            U[(long)j * n + i] = M[(long)i * n + j];
        }
    }
}

void gauss_metric_expand(const zw_gauss *problem, double *H)
{
    const zw_metric *M = &problem->metric;
    int n = problem->n;
    const double *value = M->value;
    memset(H, 0, (size_t)n * (size_t)n * sizeof *H);
    switch (M->kind) {
    case ZW_METRIC_IDENTITY:
    case ZW_METRIC_DIAGONAL:
        for (int i = 0; i < n; i++) {
            H[(long)i * n + i] = M->kind == ZW_METRIC_IDENTITY ? 1.0 : value[i];
        }
        break;
    case ZW_METRIC_DENSE:
        block_transpose(n, value, H);
        break;
    case ZW_METRIC_BLOCKS:
        for (int k = 0, at = 0; k < M->block_count; k++) {
            int size = M->block_size[k];
            for (int i = 0; i < size; i++) {
                for (int j = 0; j <= i; j++) {
                    H[(long)(at + j) * n + at + i] = value[(long)i * size + j];
                }
            }
            at += size;
            value += (long)size * size;
        }
        break;
    case ZW_METRIC_SPARSE:
        for (int j = 0; j < n; j++) {
            for (int k = M->start[j]; k < M->start[j + 1]; k++) {
                if (M->row[k] >= j) {
                    H[(long)j * n + M->row[k]] += value[k];
                }
            }
        }
        break;
    case ZW_METRIC_OPERATOR:
        break;
    }
}

static zw_status diagonal_factor(int n, const double *M, double *U)
{
    for (int i = 0; i < n; i++) {
        if (!(M[i] > 0.0)) {
            return ZW_UNDETERMINED;
        }
        U[i] = sqrt(M[i]);
    }
    return ZW_OK;
}

zw_status gauss_metric_factor(const zw_gauss *problem, double *U)
{
    const zw_metric *M = &problem->metric;
    int n = problem->n;
    const double *value = M->value;
    switch (M->kind) {
    case ZW_METRIC_IDENTITY:
        return ZW_OK;
    case ZW_METRIC_DIAGONAL:
        return diagonal_factor(n, value, U);
    case ZW_METRIC_BLOCKS:
        for (int k = 0; k < M->block_count; k++) {
            int size = M->block_size[k];
            block_transpose(size, value, U);
            if (dense_cholesky(size, U, size, GAUSS_PIVOT_FLOOR) < size) {
                return ZW_UNDETERMINED;
            }
            value += (long)size * size;
            U += (long)size * size;
        }
        return ZW_OK;
    case ZW_METRIC_DENSE:
    case ZW_METRIC_SPARSE:
        gauss_metric_expand(problem, U);
        return dense_cholesky(n, U, n, GAUSS_PIVOT_FLOOR) < n ? ZW_UNDETERMINED : ZW_OK;
    case ZW_METRIC_OPERATOR:
        return M->operator_->factor(M->operator_->self) == ZW_OK ? ZW_OK : ZW_UNDETERMINED;
    }
    return ZW_BAD_INPUT;
}

/* x = U' \ x or U \ x, block by block. */
static void metric_solve(const zw_gauss *problem, const double *U, double *x,
                         void (*solve)(int, const double *, int, double *))
{
    const zw_metric *M = &problem->metric;
    switch (M->kind) {
    case ZW_METRIC_DIAGONAL:
        for (int i = 0; i < problem->n; i++) {
            x[i] /= U[i];
        }
        break;
    case ZW_METRIC_BLOCKS:
        for (int k = 0; k < M->block_count; k++) {
            int size = M->block_size[k];
            solve(size, U, size, x);
            x += size;
            U += (long)size * size;
        }
        break;
    case ZW_METRIC_DENSE:
    case ZW_METRIC_SPARSE:
        solve(problem->n, U, problem->n, x);
        break;
    case ZW_METRIC_IDENTITY:
    case ZW_METRIC_OPERATOR:
        break;
    }
}

void gauss_metric_solve_lower(const zw_gauss *problem, const double *U, double *x)
{
    if (problem->metric.kind == ZW_METRIC_OPERATOR) {
        problem->metric.operator_->solve_lower(problem->metric.operator_->self, x);
    } else {
        metric_solve(problem, U, x, dense_solve_upper_transposed);
    }
}

void gauss_metric_solve_upper(const zw_gauss *problem, const double *U, double *x)
{
    if (problem->metric.kind == ZW_METRIC_OPERATOR) {
        problem->metric.operator_->solve_upper(problem->metric.operator_->self, x);
    } else {
        metric_solve(problem, U, x, dense_solve_upper);
    }
}

static void operator_solve_many(const zw_gauss *problem, int m, double *X, double *column)
{
    const zw_metric_operator *op = problem->metric.operator_;
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < problem->n; j++) {
            column[j] = X[(long)j * m + i];
        }
        op->solve_lower(op->self, column);
        for (int j = 0; j < problem->n; j++) {
            X[(long)j * m + i] = column[j];
        }
    }
}

void gauss_metric_solve_lower_many(const zw_gauss *problem, const double *U, int m, double *X,
                                   double *scratch)
{
    const zw_metric *M = &problem->metric;
    switch (M->kind) {
    case ZW_METRIC_IDENTITY:
        break;
    case ZW_METRIC_DIAGONAL:
        for (int j = 0; j < problem->n; j++) {
            dense_scale(m, 1.0 / U[j], X + (long)j * m);
        }
        break;
    case ZW_METRIC_BLOCKS:
        for (int k = 0; k < M->block_count; k++) {
            int size = M->block_size[k];
            dense_solve_upper_transposed_many(size, m, U, size, X);
            X += (long)size * m;
            U += (long)size * size;
        }
        break;
    case ZW_METRIC_DENSE:
    case ZW_METRIC_SPARSE:
        dense_solve_upper_transposed_many(problem->n, m, U, problem->n, X);
        break;
    case ZW_METRIC_OPERATOR:
        operator_solve_many(problem, m, X, scratch);
        break;
    }
}

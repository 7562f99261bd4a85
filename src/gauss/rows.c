#include "gauss/rows.h"

#include <math.h>
#include <string.h>

#include "math/cone.h"
#include "math/dense/dense.h"

int gauss_row_count(const zw_gauss *problem)
{
    int m = 0;
    for (int k = 0; k < problem->block_count; k++) {
        m += problem->block[k].rows;
    }
    return m;
}

static const double *row_dense(const zw_gauss *problem, int i)
{
    return problem->A.dense + (size_t)i * (size_t)problem->n;
}

double gauss_row_dot(const zw_gauss *problem, int i, const double *x)
{
    const zw_rows *A = &problem->A;
    if (A->dense != NULL) {
        return dense_dot(problem->n, row_dense(problem, i), x);
    }
    double sum = 0.0;
    for (int k = A->start[i]; k < A->start[i + 1]; k++) {
        sum += A->value[k] * x[A->column[k]];
    }
    return sum;
}

double gauss_row_dot_size(const zw_gauss *problem, int i, const double *x)
{
    const zw_rows *A = &problem->A;
    if (A->dense != NULL) {
        return dense_dot_size(problem->n, row_dense(problem, i), x);
    }
    double sum = 0.0;
    for (int k = A->start[i]; k < A->start[i + 1]; k++) {
        sum += fabs(A->value[k] * x[A->column[k]]);
    }
    return sum;
}

void gauss_row_add(const zw_gauss *problem, int i, double s, double *y)
{
    const zw_rows *A = &problem->A;
    if (A->dense != NULL) {
        dense_axpy(problem->n, s, row_dense(problem, i), y);
        return;
    }
    for (int k = A->start[i]; k < A->start[i + 1]; k++) {
        y[A->column[k]] += s * A->value[k];
    }
}

void gauss_row_raise(const zw_gauss *problem, int i, double s, double *y)
{
    const zw_rows *A = &problem->A;
    int count = A->dense != NULL ? problem->n : A->start[i + 1] - A->start[i];
    for (int k = 0; k < count; k++) {
        int j = A->dense != NULL ? k : A->column[A->start[i] + k];
        double value = A->dense != NULL ? row_dense(problem, i)[k] : A->value[A->start[i] + k];
        y[j] = fmax(y[j], fabs(s * value));
    }
}

void gauss_row_copy(const zw_gauss *problem, int i, double *y)
{
    if (problem->A.dense != NULL) {
        memcpy(y, row_dense(problem, i), (size_t)problem->n * sizeof *y);
        return;
    }
    memset(y, 0, (size_t)problem->n * sizeof *y);
    gauss_row_add(problem, i, 1.0, y);
}

double gauss_row_length(const zw_gauss *problem, int i, const double *unit)
{
    const zw_rows *A = &problem->A;
    double sum = 0.0;
    int count = A->dense != NULL ? problem->n : A->start[i + 1] - A->start[i];
    for (int k = 0; k < count; k++) {
        int j = A->dense != NULL ? k : A->column[A->start[i] + k];
        double value = A->dense != NULL ? row_dense(problem, i)[k] : A->value[A->start[i] + k];
        value /= unit != NULL ? unit[j] : 1.0;
        sum += value * value;
    }
    return sqrt(sum);
}

double gauss_row_residual(const zw_gauss *problem, int i, const double *a, const double *lambda)
{
    double w = gauss_row_dot(problem, i, a);
    if (problem->b != NULL) {
        w -= problem->b[i];
    }
    if (problem->compliance != NULL) {
        w += problem->compliance[i] * lambda[i];
    }
    return w;
}

void gauss_rows_residual(const zw_gauss *problem, const double *a, const double *lambda, double *w)
{
    int m = gauss_row_count(problem);
    if (problem->A.dense == NULL) {
        for (int i = 0; i < m; i++) {
            w[i] = gauss_row_residual(problem, i, a, lambda);
        }
        return;
    }
    dense_multiply(m, problem->n, problem->A.dense, problem->n, a, w);
    for (int i = 0; i < m; i++) {
        w[i] -= problem->b != NULL ? problem->b[i] : 0.0;
        w[i] += problem->compliance != NULL ? problem->compliance[i] * lambda[i] : 0.0;
    }
}

void gauss_rows_force(const zw_gauss *problem, const double *lambda, double *y)
{
    int m = gauss_row_count(problem);
    memset(y, 0, (size_t)problem->n * sizeof *y);
    if (problem->A.dense != NULL) {
        dense_combine(m, problem->n, lambda, 1, problem->A.dense, problem->n, y);
        return;
    }
    for (int i = 0; i < m; i++) {
        if (lambda[i] != 0.0) {
            gauss_row_add(problem, i, lambda[i], y);
        }
    }
}

void gauss_rows_sizes(const zw_gauss *problem, const double *lambda, double *y)
{
    const zw_rows *A = &problem->A;
    int m = gauss_row_count(problem);
    memset(y, 0, (size_t)problem->n * sizeof *y);
    for (int i = 0; i < m; i++) {
        if (lambda[i] != 0.0 && A->dense != NULL) {
            dense_axpy_size(problem->n, lambda[i], row_dense(problem, i), y);
        } else if (lambda[i] != 0.0) {
            for (int k = A->start[i]; k < A->start[i + 1]; k++) {
                y[A->column[k]] += fabs(lambda[i] * A->value[k]);
            }
        }
    }
}

void gauss_row_look(const zw_gauss *problem, int i, const double *a, const double *free,
                    const double *inverse, double out[4])
{
    if (problem->A.dense != NULL) {
        dense_look(problem->n, row_dense(problem, i), a, free, inverse, out);
        return;
    }
    const zw_rows *A = &problem->A;
    out[3] = 0.0;
    for (int k = A->start[i]; k < A->start[i + 1]; k++) {
        double entry = A->value[k] * inverse[A->column[k]];
        out[3] += entry * entry;
    }
    out[0] = gauss_row_dot(problem, i, a);
    out[1] = gauss_row_dot_size(problem, i, a);
    out[2] = gauss_row_dot(problem, i, free);
}

void gauss_row_add_size(const zw_gauss *problem, int i, double s, double *y)
{
    const zw_rows *A = &problem->A;
    int count = A->dense != NULL ? problem->n : A->start[i + 1] - A->start[i];
    for (int k = 0; k < count; k++) {
        if (A->dense != NULL) {
            y[k] += fabs(s * A->dense[(long)i * problem->n + k]);
        } else {
            y[A->column[A->start[i] + k]] += fabs(s * A->value[A->start[i] + k]);
        }
    }
}

int gauss_rows_admit(const zw_gauss *problem, zw_contact_law law, int count, const int *block,
                     const int *first, double *residual)
{
    for (int i = 0; i < count; i++) {
        const zw_block *it = &problem->block[block[i]];
        double across = 0;
        for (int r = 0; r < it->rows; r++) {
            int row = first[block[i]] + r;
            double b = problem->b ? problem->b[row] : 0;
            double sum = residual[row] = gauss_row_dot(problem, row, problem->free) - b;
            int one_sided = it->kind == ZW_INEQUALITY || (it->kind == ZW_CONE && r == 0);
            const double *end = it->limit;
            if (it->kind == ZW_EQUALITY || (one_sided && !(sum >= 0)) ||
                (it->kind == ZW_BOX && (interval_nearest(end[0], end[1], 0) != 0 ||
                                        interval_gap(end[0], end[1], sum) != 0))) {
                return 0;
            }
            double part = it->kind == ZW_CONE && r > 0 ? it->friction[r - 1] * sum : 0;
            across += part * part;
        }
        if (law == ZW_CONTACT_CONVEX && it->kind == ZW_CONE &&
            !(residual[first[block[i]]] >= sqrt(across))) {
            return 0;
        }
    }
    return 1;
}

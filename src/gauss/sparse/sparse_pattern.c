/* The pattern of K, made once, and the numbers that go into it.
 *
 * Column j < n holds the diagonal of M and what is below it; column n + p the diagonal -E of row p
 * and the row. Pattern and numbers are written by the same walk, so they cannot disagree. */
#include <math.h>
#include <string.h>

#include "gauss/metric.h"
#include "gauss/rows.h"
#include "gauss/sparse/sparse_kkt.h"

/* ---- The pattern --------------------------------------------------------------------------- */

size_t sparse_pattern_entries(const zw_gauss *problem, const gauss_sparse *s)
{
    const zw_metric *M = &problem->metric;
    size_t n = (size_t)problem->n, count = (size_t)s->N;
    if (M->kind == ZW_METRIC_DENSE) {
        count += n * n / 2;
    } else if (M->kind == ZW_METRIC_SPARSE) {
        count += (size_t)M->start[problem->n];
    }
    for (int k = 0; M->kind == ZW_METRIC_BLOCKS && k < M->block_count; k++) {
        count += (size_t)M->block_size[k] * (size_t)M->block_size[k] / 2;
    }
    int at = 0;
    for (int k = 0; k < problem->block_count; at += problem->block[k++].rows) {
        int rows = problem->block[k].kind == ZW_EQUALITY ? problem->block[k].rows : 0;
        count += problem->A.dense != NULL ? n * (size_t)rows
                 : rows > 0 ? (size_t)(problem->A.start[at + rows] - problem->A.start[at])
                            : 0;
    }
    return count;
}

/* Walk the lower triangle of M by columns: with value == NULL the pattern, else the numbers. */
static int metric_walk(const zw_gauss *problem, gauss_sparse *s, double *value)
{
    const zw_metric *M = &problem->metric;
    const double *number = M->value, *u = s->unit;
    int at = 0, block = 0, begin = 0, size = M->kind == ZW_METRIC_DENSE ? s->n : 0;
    for (int j = 0; j < s->n; j++) {
        int diagonal = at++, from = M->kind == ZW_METRIC_SPARSE ? M->start[j] : j + 1;
        while (M->kind == ZW_METRIC_BLOCKS && j >= begin + size) {
            number += (long)size * size;
            begin += size;
            size = M->block_size[block++];
        }
        int to = M->kind == ZW_METRIC_SPARSE ? M->start[j + 1] : begin + size;
        s->start[j] = diagonal;
        s->row[diagonal] = j;
        double sum = M->kind == ZW_METRIC_IDENTITY   ? 1.0
                     : M->kind == ZW_METRIC_DIAGONAL ? number[j]
                     : M->kind == ZW_METRIC_SPARSE   ? 0.0
                                                   : number[(long)(j - begin) * size + (j - begin)];
        for (int k = from; k < to; k++) {
            int i = M->kind == ZW_METRIC_SPARSE ? M->row[k] : k;
            double entry = M->kind == ZW_METRIC_SPARSE
                               ? number[k]
                               : number[(long)(i - begin) * size + (j - begin)];
            if (i == j) {
                sum += entry;
            } else if (i > j) {
                s->row[at] = i;
                if (value != NULL) {
                    value[at] = entry / (u[i] * u[j]);
                }
                at++;
            }
        }
        if (value != NULL) {
            value[diagonal] = sum / (u[j] * u[j]);
        }
    }
    return at;
}

/* Column of K for equality row e, row i of A, and the slots of its entries. mark[j] is the place of
 * column j; before `begin`: in an earlier row. */
static int pattern_row(const zw_gauss *problem, gauss_sparse *s, int e, int i, int at, int *mark)
{
    s->start[s->n + e] = at;
    s->row[at++] = s->n + e;
    int begin = at;
    if (problem->A.dense != NULL) {
        for (int j = 0; j < s->n; j++) {
            s->row[at++] = j;
        }
        return at;
    }
    for (int k = problem->A.start[i]; k < problem->A.start[i + 1]; k++) {
        int j = problem->A.column[k];
        if (mark[j] < begin) {
            mark[j] = at;
            s->row[at++] = j;
        }
        s->slot[k] = mark[j] - begin;
    }
    return at;
}

void sparse_pattern(const zw_gauss *problem, const zw_gauss_work *work, gauss_sparse *s, int *mark)
{
    int at = metric_walk(problem, s, NULL);
    for (int j = 0; j < s->n; j++) {
        mark[j] = -1;
    }
    for (int e = 0; e < s->me; e++) {
        at = pattern_row(problem, s, e, work->equality_row[e], at, mark);
    }
    s->start[s->N] = at;
    for (int j = 0; j < s->N; j++) {
        s->sign[j] = j < s->n ? 1 : -1;
    }
}

/* ---- The numbers --------------------------------------------------------------------------- */

/* The power of two nearest below x. */
static double power_of_two(double x)
{
    int exponent = 0;
    frexp(x, &exponent);
    return x > 0.0 ? ldexp(1.0, exponent - 1) : 1.0;
}

/* unit_j = sqrt(M_jj); a coordinate without mass is measured by the pull of the rows that touch it,
 * which are as long as they are in the masses that they move; or, where they move next to none, in
 * the largest. */
static void fill_units(const zw_gauss *problem, int rows, gauss_sparse *s)
{
    int massless = 0;
    double largest = 0.0;
    double *unit = s->unit, *pull = s->y[0];
    gauss_metric_diagonal(problem, unit);
    for (int j = 0; j < s->n; j++) {
        unit[j] = unit[j] > 0.0 ? power_of_two(sqrt(unit[j])) : HUGE_VAL;
        massless += unit[j] == HUGE_VAL;
        largest = unit[j] < HUGE_VAL ? fmax(largest, unit[j]) : largest;
        pull[j] = 0.0;
    }
    largest = largest > 0.0 ? largest : 1.0;
    for (int i = 0; i < rows && massless > 0; i++) {
        double length =
            fmax(gauss_row_length(problem, i, unit), gauss_row_length(problem, i, NULL) / largest);
        length = length > 0.0 ? length : 1.0;
        if (problem->A.dense != NULL) {
            const double *row = problem->A.dense + (size_t)i * (size_t)s->n;
            for (int j = 0; j < s->n; j++) {
                pull[j] = fmax(pull[j], fabs(row[j]) / length);
            }
            continue;
        }
        for (int k = problem->A.start[i]; k < problem->A.start[i + 1]; k++) {
            int j = problem->A.column[k];
            pull[j] = fmax(pull[j], fabs(problem->A.value[k]) / length);
        }
    }
    for (int j = 0; j < s->n; j++) {
        if (unit[j] == HUGE_VAL) {
            unit[j] = pull[j] > 0.0 ? power_of_two(pull[j]) : 1.0;
        }
    }
}

/* scale of each row. */
static void fill_scales(const zw_gauss *problem, const zw_gauss_work *work, gauss_sparse *s)
{
    const double *R = problem->compliance;
    for (int e = 0; e < s->me; e++) {
        int i = work->equality_row[e];
        double length = gauss_row_length(problem, i, s->unit);
        length = sqrt(length * length + (R != NULL ? R[i] : 0.0));
        s->scale[e] = length > 0.0 ? 1.0 / power_of_two(length) : 0.0;
        s->E[e] = R != NULL ? s->scale[e] * s->scale[e] * R[i] : 0.0;
    }
}

/* B: the scaled row p, and its length. */
static void fill_row(const zw_gauss *problem, gauss_sparse *s, int p, int i)
{
    int begin = s->start[s->n + p] + 1, end = s->start[s->n + p + 1];
    double *row = s->base + begin, scale = s->scale[p], square = 0.0;
    memset(row, 0, (size_t)(end - begin) * sizeof *row);
    if (problem->A.dense != NULL) {
        for (int j = 0; j < s->n; j++) {
            row[j] = scale * problem->A.dense[(size_t)i * (size_t)s->n + (size_t)j] / s->unit[j];
        }
    } else {
        for (int k = problem->A.start[i]; k < problem->A.start[i + 1]; k++) {
            row[s->slot[k]] += scale * problem->A.value[k] / s->unit[problem->A.column[k]];
        }
    }
    for (int k = 0; k < end - begin; k++) {
        square += row[k] * row[k];
    }
    s->length[p] = sqrt(square);
}

void sparse_numbers(const zw_gauss *problem, const zw_gauss_work *work, gauss_sparse *s)
{
    fill_units(problem, work->m, s);
    fill_scales(problem, work, s);
    metric_walk(problem, s, s->value);
    for (int e = 0; e < s->me; e++) {
        fill_row(problem, s, e, work->equality_row[e]);
    }
}

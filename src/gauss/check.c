/* Is this a valid problem? Everything that the kernel could not handle is rejected here,
 * by name. */
#include <limits.h>
#include <math.h>

#include "base/error.h"
#include "gauss/internal.h"
#include "gauss/rows.h"
#include "math/dense/dense.h"

const char *gauss_block_name(const zw_gauss *problem, int k)
{
    const char *name = problem->block[k].name;
    return name != NULL ? name : "(unnamed)";
}

static long first_bad(size_t n, const double *x)
{
    return x != NULL ? dense_first_beyond((long)n, x, GAUSS_HUGE) : -1;
}

static zw_status check_vector(const char *name, size_t n, const double *x, zw_error *error)
{
    long i = first_bad(n, x);
    return i < 0 ? ZW_OK
                 : base_fail(error, ZW_BAD_INPUT, "%s[%ld] = %g is not a usable number", name, i,
                             x[i]);
}

/* Compressed storage: count + 1 starts, from 0, never decreasing. Checked before anything they
 * refer to. */
static zw_status check_starts(const char *name, int count, const int *start, zw_error *error)
{
    if (start == NULL || start[0] != 0) {
        return base_fail(error, ZW_BAD_INPUT, "%s starts: no rows given, or not from 0", name);
    }
    for (int i = 0; i < count; i++) {
        if (start[i + 1] < start[i]) {
            return base_fail(error, ZW_BAD_INPUT, "%s %d ends before it starts", name, i);
        }
    }
    return ZW_OK;
}

static zw_status check_mass(int j, double mass, zw_error *error)
{
    return mass >= 0.0
               ? ZW_OK
               : base_fail(error, ZW_NOT_A_METRIC, "metric: mass %g of unknown %d", mass, j);
}

/* No diagonal entry of a metric is negative. */
static zw_status check_masses(const zw_gauss *problem, zw_error *error)
{
    const zw_metric *M = &problem->metric;
    const double *value = M->value;
    zw_status status = ZW_OK;
    if (M->kind == ZW_METRIC_SPARSE) {
        for (int j = 0; j < problem->n && status == ZW_OK; j++) {
            for (int k = M->start[j]; k < M->start[j + 1] && status == ZW_OK; k++) {
                status = M->row[k] == j ? check_mass(j, value[k], error) : ZW_OK;
            }
        }
        return status;
    }
    int size = M->kind == ZW_METRIC_DENSE ? problem->n : 1;
    for (int j = 0, k = 0; j < problem->n && status == ZW_OK; k++) {
        size = M->kind == ZW_METRIC_BLOCKS ? M->block_size[k] : size;
        for (int i = 0; i < size && status == ZW_OK; i++, j++) {
            status = check_mass(j, value[(long)i * size + i], error);
        }
        value += (long)size * size;
    }
    return status;
}

/* The blocks of a metric cover the unknowns; `count` gets the number of their entries. */
static zw_status check_block_sizes(const zw_gauss *problem, size_t *count, zw_error *error)
{
    const zw_metric *M = &problem->metric;
    int sum = 0;
    if (M->block_size == NULL) {
        return base_fail(error, ZW_BAD_INPUT, "metric: no block sizes given");
    }
    for (int k = 0; k < M->block_count; k++) {
        int size = M->block_size[k];
        if (size < 1 || size > problem->n - sum) {
            return base_fail(error, ZW_BAD_INPUT, "metric: block %d of size %d does not fit", k,
                             size);
        }
        sum += size;
        *count += (size_t)size * (size_t)size;
    }
    return sum == problem->n ? ZW_OK
                             : base_fail(error, ZW_BAD_INPUT,
                                         "metric: blocks cover %d of %d unknowns", sum, problem->n);
}

static zw_status check_metric(const zw_gauss *problem, zw_error *error)
{
    const zw_metric *M = &problem->metric;
    size_t n = (size_t)problem->n, count = 0;
    switch (M->kind) {
    case ZW_METRIC_IDENTITY:
        return ZW_OK;
    case ZW_METRIC_OPERATOR:
        return M->operator_ != NULL && M->operator_->apply != NULL &&
                       M->operator_->diagonal != NULL && M->operator_->factor != NULL &&
                       M->operator_->solve_lower != NULL && M->operator_->solve_upper != NULL
                   ? ZW_OK
                   : base_fail(error, ZW_BAD_INPUT, "metric: no operator given, or in part");
    case ZW_METRIC_DIAGONAL:
        count = n;
        break;
    case ZW_METRIC_DENSE:
        count = n * n;
        break;
    case ZW_METRIC_BLOCKS:
        if (check_block_sizes(problem, &count, error) != ZW_OK) {
            return ZW_BAD_INPUT;
        }
        break;
    case ZW_METRIC_SPARSE:
        if (check_starts("metric: column", problem->n, M->start, error) != ZW_OK) {
            return ZW_BAD_INPUT;
        }
        for (int k = 0; k < M->start[problem->n]; k++) {
            if (M->row == NULL || M->value == NULL) {
                return base_fail(error, ZW_BAD_INPUT, "metric: starts without rows or values");
            }
            if (M->row[k] < 0 || M->row[k] >= problem->n) {
                return base_fail(error, ZW_BAD_INPUT, "metric: entry %d names row %d of %d", k,
                                 M->row[k], problem->n);
            }
        }
        count = (size_t)M->start[problem->n];
        break;
    default:
        return base_fail(error, ZW_BAD_INPUT, "metric: unknown kind %d", (int)M->kind);
    }
    if (count > 0 && M->value == NULL) {
        return base_fail(error, ZW_BAD_INPUT, "metric: no values given");
    }
    zw_status status = check_vector("metric", count, M->value, error);
    return status == ZW_OK ? check_masses(problem, error) : status;
}

static zw_status check_block(const zw_gauss *problem, int k, zw_error *error)
{
    const zw_block *block = &problem->block[k];
    const char *name = gauss_block_name(problem, k);
    if (block->kind < ZW_EQUALITY || block->kind > ZW_BOX) {
        return base_fail(error, ZW_BAD_INPUT, "%s: unknown kind of block %d", name,
                         (int)block->kind);
    }
    if (block->rows < 0 || (block->kind == ZW_CONE && block->rows < 1) ||
        (block->kind == ZW_CONE && block->rows > ZW_CONE_ROWS)) {
        return base_fail(error, ZW_BAD_INPUT, "%s: a block of %d rows", name, block->rows);
    }
    for (int i = 1; block->kind == ZW_CONE && i < block->rows; i++) {
        double mu = block->friction[i - 1];
        if (!(mu >= 0.0 && mu <= 1e6)) {
            return base_fail(error, ZW_BAD_INPUT, "%s: friction %g; expected 0 to 1e6", name, mu);
        }
    }
    double low = block->limit[0], high = block->limit[1];
    if (block->kind == ZW_BOX && !(low <= high && low <= GAUSS_HUGE && high >= -GAUSS_HUGE)) {
        return base_fail(error, ZW_BAD_INPUT, "%s: limits %g to %g; expected lower before upper",
                         name, low, high);
    }
    return ZW_OK;
}

static zw_status check_rows(const zw_gauss *problem, int m, zw_error *error)
{
    const zw_rows *A = &problem->A;
    size_t n = (size_t)problem->n, count = (size_t)m;
    if (m == 0) {
        return ZW_OK;
    }
    if (A->dense != NULL) {
        long at = first_bad(count * n, A->dense);
        return at < 0 ? ZW_OK
                      : base_fail(error, ZW_BAD_INPUT, "row %ld: entry %ld is %g", at / problem->n,
                                  at % problem->n, A->dense[at]);
    }
    if (check_starts("row", m, A->start, error) != ZW_OK) {
        return ZW_BAD_INPUT;
    }
    if (A->start[m] > 0 && (A->column == NULL || A->value == NULL)) {
        return base_fail(error, ZW_BAD_INPUT, "rows: starts without columns or values");
    }
    for (int i = 0; i < m; i++) {
        for (int k = A->start[i]; k < A->start[i + 1]; k++) {
            if (A->column[k] < 0 || A->column[k] >= problem->n ||
                !(fabs(A->value[k]) <= GAUSS_HUGE)) {
                return base_fail(error, ZW_BAD_INPUT, "row %d: entry in column %d of %d is %g", i,
                                 A->column[k], problem->n, A->value[k]);
            }
        }
    }
    return ZW_OK;
}

zw_status gauss_check(const zw_gauss *problem, zw_error *error)
{
    if (problem->n < 0 || problem->block_count < 0) {
        return base_fail(error, ZW_BAD_INPUT, "a problem with %d unknowns and %d blocks",
                         problem->n, problem->block_count);
    }
    if (problem->block_count > 0 && problem->block == NULL) {
        return base_fail(error, ZW_BAD_INPUT, "%d blocks, but none given", problem->block_count);
    }
    long rows = 0;
    for (int k = 0; k < problem->block_count; k++) {
        if (check_block(problem, k, error) != ZW_OK) {
            return ZW_BAD_INPUT;
        }
        rows += problem->block[k].rows;
    }
    if (rows + problem->n > INT_MAX / 2) {
        return base_fail(error, ZW_TOO_LARGE, "%d unknowns and %ld rows are too many", problem->n,
                         rows);
    }
    size_t n = (size_t)problem->n, m = (size_t)gauss_row_count(problem);
    for (size_t i = 0; problem->compliance != NULL && i < m; i++) {
        if (!(problem->compliance[i] >= 0.0)) {
            return base_fail(error, ZW_BAD_INPUT, "row %d: compliance %g; expected 0 or more",
                             (int)i, problem->compliance[i]);
        }
    }
    if (problem->free != NULL && problem->force != NULL) {
        return base_fail(error, ZW_BAD_INPUT, "both the free motion and the force are given");
    }
    zw_status status = check_metric(problem, error);
    status = status == ZW_OK ? check_rows(problem, (int)m, error) : status;
    status = status == ZW_OK ? check_vector("free", n, problem->free, error) : status;
    status = status == ZW_OK ? check_vector("force", n, problem->force, error) : status;
    status = status == ZW_OK ? check_vector("b", m, problem->b, error) : status;
    status = status == ZW_OK ? check_vector("compliance", m, problem->compliance, error) : status;
    return status == ZW_OK ? check_vector("C", n, problem->C, error) : status;
}

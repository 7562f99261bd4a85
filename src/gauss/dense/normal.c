/* From the user's units to energy units: D = A L^-T, scaled rows, c, V (see work.h).
 *
 * A singular metric is completed by the rigid equality rows, M~ = M + A_e' W A_e, with the applied
 * force f~ = f + A_e' W b_e. On every motion that satisfies A_e a = b_e the added terms cancel, so
 * the minimiser and its multipliers are those of M itself (Udwadia and Phohomsiri's condition, [M;
 * A] of full column rank, is exactly that M~ is positive definite). A row with compliance R takes
 * part with W R <= 1/2 and the compliance R/(1 - W R), which gives the same law for lambda/(1 - W
 * R).
 *
 * Directions that only inequalities and cones hold are completed by their rows in the same way.
 * That changes the problem, into a proximal step from the present motion; refine.c repeats it until
 * the equation of motion holds with M itself. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "gauss/internal.h"
#include "gauss/metric.h"
#include "gauss/rows.h"
#include "gauss/tolerances.h"
#include "math/dense/dense.h"

static double larger(double x, double y)
{
    return x > y ? x : y;
}

/* A pivot of the completed metric below this fraction of its diagonal entry is zero. */
static const double PIVOT_FLOOR = 1e-12;

void gauss_solve_lower(const zw_gauss *problem, const zw_gauss_work *work, double *x)
{
    if (work->shifted) {
        dense_solve_upper_transposed(work->n, work->L, work->n, x);
    } else {
        gauss_metric_solve_lower(problem, work->L, x);
    }
}

void gauss_solve_upper(const zw_gauss *problem, const zw_gauss_work *work, double *x)
{
    if (work->shifted) {
        dense_solve_upper(work->n, work->L, work->n, x);
    } else {
        gauss_metric_solve_upper(problem, work->L, x);
    }
}

/* The weight of row i in the completed metric: the mass that it moves, so that neither W A'A nor M
 * is lost relative to the other; the largest mass divided by its length, if it moves none, or so
 * little that the mass seen along the whole row would exceed that. */
static double row_weight(const zw_gauss *problem, int i, const double *diagonal, const double *row)
{
    double R = problem->compliance != NULL ? problem->compliance[i] : 0.0;
    double length = dense_norm(problem->n, row), inverse = 0.0, largest = 0.0;
    for (int j = 0; j < problem->n; j++) {
        inverse += diagonal[j] > 0.0 ? row[j] * row[j] / diagonal[j] : 0.0;
        largest = larger(largest, diagonal[j]);
    }
    double most = length > 0.0 ? (largest > 0.0 ? largest : 1.0) / (length * length) : 0.0;
    double weight = inverse * most > 1.0 ? 1.0 / inverse : most;
    return R > 0.0 && weight > 0.5 / R ? 0.5 / R : weight;
}

/* L = M + A' W A over the equality rows, and over the others too if `all`. */
static void sum_completed(const zw_gauss *problem, zw_gauss_work *work, int all)
{
    int n = work->n;
    double *row = work->scratch, *diagonal = work->scratch + n;
    gauss_metric_diagonal(problem, diagonal);
    gauss_metric_expand(problem, work->L);
    for (int e = 0; e < (all ? work->me + work->mc : work->me); e++) {
        int i = e < work->me ? work->equality_row[e] : work->cone_row[e - work->me];
        gauss_row_copy(problem, i, row);
        double weight = row_weight(problem, i, diagonal, row);
        if (e < work->me) {
            work->W[e] = weight;
        }
        dense_update_upper(n, weight, row, row, work->L, n);
    }
}

/* L'L = that sum. Returns n, or the pivot that vanished, negated if its sign says that M is no
 * metric. */
static int factor_completed(const zw_gauss *problem, zw_gauss_work *work, int all)
{
    int n = work->n;
    double *diagonal = work->scratch;
    sum_completed(problem, work, all);
    for (int i = 0; i < n; i++) {
        diagonal[i] = work->L[(long)i * n + i];
    }
    int k = dense_cholesky(n, work->L, n, PIVOT_FLOOR);
    if (k < n && (work->L[(long)k * n + k] < -1e-9 * diagonal[k] || diagonal[k] < 0.0)) {
        return -1 - k;
    }
    return k;
}

/* The coordinates of all directions that neither M nor the rows determine. The sum is factored once
 * more, row by row. Where pivot k vanishes, v_k = 1 and U v = 0 above it is such a direction;
 * unknown k is then fixed: U_kk = 1, nothing else in its row. */
static void name_undetermined(const zw_gauss *problem, zw_gauss_work *work, zw_error *error)
{
    int n = work->n;
    double *v = work->scratch, *marks = work->scratch + n;
    sum_completed(problem, work, work->mc > 0);
    memset(marks, 0, (size_t)n * sizeof *marks);
    for (int k = 0; k < n; k++) {
        double *row = work->L + (long)k * n, diagonal = row[k];
        for (int i = 0; i < k; i++) {
            v[i] = -work->L[(long)i * n + k];
            dense_axpy(n - k, v[i], work->L + (long)i * n + k, row + k);
        }
        if (row[k] > PIVOT_FLOOR * diagonal && row[k] > 0.0) {
            dense_scale(n - k, 1.0 / sqrt(row[k]), row + k);
            continue;
        }
        v[k] = 1.0;
        dense_solve_upper(k, work->L, n, v);
        double largest = dense_largest(k + 1, v);
        for (int i = 0; i <= k; i++) {
            marks[i] = fabs(v[i]) > GAUSS_NAMED * largest ? 1.0 : marks[i];
        }
        memset(row, 0, (size_t)n * sizeof *row);
        row[k] = 1.0;
    }
    base_fail(error, ZW_UNDETERMINED, "nothing determines the direction of unknown");
    for (int i = 0; i < n; i++) {
        if (marks[i] > 0.0) {
            base_fail_more(error, "%s %d", work->undetermined_count > 0 ? "," : "", i);
            work->undetermined[work->undetermined_count++] = i;
        }
    }
    base_fail_more(error, ": it has neither mass nor constraint");
}

static zw_status complete_metric(const zw_gauss *problem, zw_gauss_work *work, zw_error *error)
{
    if (problem->metric.kind == ZW_METRIC_OPERATOR) {
        return base_fail(error, ZW_NOT_A_METRIC, "the metric's operator could not be factored");
    }
    gauss_part_all(work);
    int k = factor_completed(problem, work, 0);
    if (k >= 0 && k < work->n && work->mc > 0) {
        k = factor_completed(problem, work, 1);
        work->held_by_cones = k == work->n;
    }
    if (k < 0) {
        return base_fail(error, ZW_NOT_A_METRIC,
                         "the metric is indefinite: pivot %d has the wrong sign", -1 - k);
    }
    if (k < work->n) {
        name_undetermined(problem, work, error);
        return ZW_UNDETERMINED;
    }
    work->shifted = 1;
    return ZW_OK;
}

/* a_free, or for an applied force (and a completed metric) M~ \ (f + A_e' W b_e). */
static void free_motion(const zw_gauss *problem, zw_gauss_work *work)
{
    int n = work->n;
    double *a = work->free;
    if (problem->force != NULL) {
        memcpy(work->F_N, problem->force, (size_t)n * sizeof *a);
    } else if (problem->free != NULL) {
        gauss_metric_apply(problem, problem->free, work->F_N);
    } else {
        memset(work->F_N, 0, (size_t)n * sizeof *a);
    }
    if (problem->force == NULL && !work->shifted) {
        memset(a, 0, (size_t)n * sizeof *a);
        if (problem->free != NULL) {
            memcpy(a, problem->free, (size_t)n * sizeof *a);
        }
        return;
    }
    memcpy(a, work->F_N, (size_t)n * sizeof *a);
    for (int e = 0; e < work->me && work->shifted && problem->b != NULL; e++) {
        int i = work->equality_row[e];
        gauss_row_add(problem, i, work->W[e] * problem->b[i], a);
    }
    gauss_solve_lower(problem, work, a);
    gauss_solve_upper(problem, work, a);
}

/* work->X = L \ A', all rows at once: column e belongs to row e, equalities first. */
static void normal_rows(const zw_gauss *problem, zw_gauss_work *work)
{
    int n = work->n, m = work->m_wide;
    double *X = work->X, *row = work->scratch;
    for (int e = 0; e < m; e++) {
        int i = e < work->me              ? work->equality_row[e]
                : e < work->me + work->mc ? work->cone_row[e - work->me]
                                          : -1;
        const double *from =
            i >= 0 && problem->A.dense != NULL ? problem->A.dense + (size_t)i * (size_t)n : row;
        if (i < 0) { /* what fills the last line */
            memset(row, 0, (size_t)n * sizeof *row);
        } else if (from == row) {
            gauss_row_copy(problem, i, row);
        }
        for (int j = 0; j < n; j++) {
            X[(long)j * m + e] = from[j];
        }
    }
    if (work->shifted) {
        dense_solve_upper_transposed_many(n, m, work->L, n, X);
    } else {
        gauss_metric_solve_lower_many(problem, work->L, m, X, row);
    }
}

/* Row i of A, column e of X, times `factor`: a row of D with its compliance column. */
static void normal_row(const zw_gauss *problem, zw_gauss_work *work, int e, int i, double factor,
                       double softening, double *row)
{
    for (int j = 0; j < work->n; j++) {
        row[j] = factor * work->X[(long)j * work->m_wide + e];
    }
    for (int j = work->n; j < work->q_max; j++) {
        row[j] = 0.0;
    }
    if (problem->compliance != NULL && problem->compliance[i] > 0.0) {
        row[work->q++] = factor * sqrt(problem->compliance[i] * softening);
    }
}

static void normal_equalities(const zw_gauss *problem, zw_gauss_work *work, const double *square)
{
    for (int e = 0; e < work->me; e++) {
        int i = work->equality_row[e];
        double R = problem->compliance != NULL ? problem->compliance[i] : 0.0;
        double keep = work->shifted ? 1.0 - work->W[e] * R : 1.0;
        double length = sqrt(square[e] + R / keep);
        work->scale[i] = length > 0.0 ? 1.0 / length : 0.0;
        work->soften[e] = 1.0 / keep;
        normal_row(problem, work, e, i, work->scale[i], 1.0 / keep,
                   work->D + (long)e * work->q_max);
    }
}

static void normal_cones(const zw_gauss *problem, zw_gauss_work *work, const double *square)
{
    for (int k = 0; k < work->cone_count; k++) {
        const gauss_cone *cone = &work->cone[k];
        const zw_block *block = &problem->block[cone->block];
        double longest = 0.0;
        for (int j = 0; j < cone->rows; j++) {
            double mu = j == 0 ? 1.0 : block->friction[j - 1];
            int i = work->cone_row[cone->first + j];
            double R = problem->compliance != NULL ? problem->compliance[i] : 0.0;
            work->scale[i] = mu < GAUSS_NO_FRICTION ? 0.0 : mu;
            longest = larger(longest, mu * mu * (square[work->me + cone->first + j] + R));
        }
        double factor = longest > 0.0 ? 1.0 / sqrt(longest) : 1.0;
        for (int j = 0; j < cone->rows; j++) {
            int row = cone->first + j, i = work->cone_row[row];
            work->scale[i] *= factor;
            normal_row(problem, work, work->me + row, i, work->scale[i], 1.0,
                       work->B + (long)row * work->q_max);
        }
    }
}

/* Rows of length one from X; cones as a whole. */
static void normal_scale(const zw_gauss *problem, zw_gauss_work *work)
{
    double *square = work->scratch;
    work->q = work->n;
    dense_column_squares(work->n, work->m_wide, work->X, square);
    normal_equalities(problem, work, square);
    normal_cones(problem, work, square);
}

/* The scaled residual of row i for the motion a, and into *size what round-off it can carry. */
static double scaled_residual(const zw_gauss *problem, const zw_gauss_work *work, int i,
                              const double *a, double *size)
{
    double b = problem->b != NULL ? problem->b[i] : 0.0;
    double s = work->scale[i] > 0.0 ? work->scale[i] : 0.0;
    *size = s * (gauss_row_dot_size(problem, i, a) + fabs(b));
    return s * (gauss_row_dot(problem, i, a) - b);
}

void gauss_normal_residual(const zw_gauss *problem, zw_gauss_work *work, const double *C)
{
    double *a = work->scratch, V = 0.0, floor = 0.0, size = 0.0;
    memcpy(a, work->free, (size_t)work->n * sizeof *a);
    if (C != NULL) {
        double *push = work->scratch + work->n;
        memcpy(push, C, (size_t)work->n * sizeof *push);
        gauss_solve_lower(problem, work, push);
        gauss_solve_upper(problem, work, push);
        dense_axpy(work->n, 1.0, push, a);
    }
    for (int e = 0; e < work->me + work->mc; e++) {
        int i = e < work->me ? work->equality_row[e] : work->cone_row[e - work->me];
        work->c[e] = scaled_residual(problem, work, i, a, &size);
        if (e < work->me) {
            V = larger(V, fabs(work->c[e]));
            floor = larger(floor, size);
        } else {
            work->carried[e - work->me] = size;
        }
    }
    work->V = larger(V, GAUSS_SCALE_FLOOR * floor);
    work->V = work->V > 0.0 ? work->V : 1.0;
}

zw_status gauss_normal(const zw_gauss *problem, zw_gauss_work *work, zw_error *error)
{
    work->shifted = work->held_by_cones = 0;
    work->undetermined_count = 0;
    memset(work->W, 0, (size_t)work->me * sizeof *work->W);
    if (gauss_metric_factor(problem, work->L) != ZW_OK) {
        zw_status status = complete_metric(problem, work, error);
        if (status != ZW_OK) {
            return status;
        }
    }
    free_motion(problem, work);
    return ZW_OK;
}

void gauss_normal_rows(const zw_gauss *problem, zw_gauss_work *work)
{
    normal_rows(problem, work);
    normal_scale(problem, work);
}

void gauss_normal_part(const zw_gauss *problem, zw_gauss_work *work, const int *list, int count,
                       int without)
{
    normal_scale(problem, work);
    for (int e = 0; e < work->me; e++) {
        int i = work->equality_row[e], keep = 0;
        for (int k = 0; k < count; k++) {
            keep |= list[k] == work->block_of[i] && list[k] != without;
        }
        if (!keep) {
            work->scale[i] = 0.0;
            memset(work->D + (long)e * work->q_max, 0, (size_t)work->q_max * sizeof(double));
        }
    }
}

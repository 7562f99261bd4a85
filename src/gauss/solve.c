/* Gauss's principle, solved:
 *
 *     check the problem                                   check.c
 *     factor the metric, bring the rows to energy units   normal.c
 *     factor the equality rows, any rank                  equality.c
 *     with the cones in contact, then with more:           part.c
 *     for the ideal reaction, and again with C:           nonideal.c, pass.c
 *     split the forces, certify the answer                certificate.c */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "gauss/dense/core.h"
#include "gauss/internal.h"
#include "gauss/metric.h"
#include "gauss/rows.h"
#include "gauss/sparse/sparse.h"
#include "gauss/tolerances.h"
#include "math/dense/dense.h"

zw_gauss_options zw_gauss_options_default(void)
{
    return (zw_gauss_options){.contact = ZW_CONTACT_COULOMB};
}

/* F^N + F^L + F^C = M a, Fan et al. (2005), eqs. (18)-(21), and Z. */
static void split_forces(const zw_gauss *problem, zw_gauss_work *work, int nonideal,
                         zw_motion *motion)
{
    int n = work->n;
    double *step = work->scratch, *Mstep = work->scratch + n;
    gauss_rows_force(problem, nonideal ? work->lambda_ideal : work->lambda, work->F_L);
    if (nonideal) {
        gauss_rows_force(problem, work->lambda, work->F_C);
        for (int i = 0; i < n; i++) {
            work->F_C[i] += work->C[i] - work->F_L[i];
        }
    } else {
        memset(work->F_C, 0, (size_t)n * sizeof(double));
    }
    if (work->shifted &&
        problem->free == NULL) { /* there is no a_free: Gauss's function up to a constant */
        gauss_metric_apply(problem, work->a, Mstep);
        motion->Z = 0.5 * dense_dot(n, work->a, Mstep) - dense_dot(n, work->a, work->F_N);
    } else {
        for (int i = 0; i < n; i++) {
            step[i] = work->a[i] - (problem->free != NULL ? problem->free[i] : work->free[i]);
        }
        gauss_metric_apply(problem, step, Mstep);
        motion->Z = 0.5 * dense_dot(n, step, Mstep);
    }
    gauss_rows_residual(problem, work->a, work->lambda, work->residual);
}

static void fill_motion(zw_gauss_work *work, zw_motion *motion)
{
    *motion = (zw_motion){.n = work->n,
                          .m = work->m,
                          .a = work->a,
                          .lambda = work->lambda,
                          .residual = work->residual,
                          .F_N = work->F_N,
                          .F_L = work->F_L,
                          .F_C = work->F_C,
                          .C = work->C,
                          .redundant = work->redundant,
                          .conflict = work->conflict,
                          .undetermined = work->undetermined,
                          .certificate = {.stationarity = HUGE_VAL,
                                          .feasibility = HUGE_VAL,
                                          .membership = HUGE_VAL,
                                          .complementarity = HUGE_VAL,
                                          .natural = HUGE_VAL,
                                          .gap = HUGE_VAL,
                                          .worst = HUGE_VAL,
                                          .worst_block = -1},
                          .method = "none"};
}

static zw_status name_conflict(const zw_gauss *problem, const zw_gauss_work *work, zw_status status,
                               zw_error *error)
{
    if (work->conflict_count == 0) {
        return base_fail(error, status,
                         "no force satisfies the non-ideal law: its fixed point "
                         "was not found and may not exist");
    }
    base_fail(error, status, "%s:", zw_status_text(status));
    for (int k = 0; k < work->conflict_count; k++) {
        base_fail_more(error, "%s %s", k > 0 ? "," : "",
                       gauss_block_name(problem, work->conflict[k]));
    }
    return status;
}

static void sort(int count, int *list)
{
    for (int i = 1; i < count; i++) {
        for (int k = i; k > 0 && list[k] < list[k - 1]; k--) {
            int t = list[k];
            list[k] = list[k - 1];
            list[k - 1] = t;
        }
    }
}

static int has_friction(const zw_gauss *problem)
{
    for (int k = 0; k < problem->block_count; k++) {
        if (problem->block[k].kind == ZW_CONE && problem->block[k].rows > 1) {
            return 1;
        }
    }
    return 0;
}

/* Same unknowns, metric kind, blocks and, for sparse algebra, pattern as when the workspace was
 * made? */
static int fits(const zw_gauss *problem, const zw_gauss_work *work)
{
    if (problem->n != work->n || problem->block_count != work->block_count ||
        problem->metric.kind != work->metric_kind || gauss_row_count(problem) != work->m) {
        return 0;
    }
    for (int k = 0; k < problem->block_count; k++) {
        if (problem->block[k].rows != work->first[k + 1] - work->first[k] ||
            (int)problem->block[k].kind != work->kind[k]) {
            return 0;
        }
    }
    return (problem->compliance == NULL || work->q_max >= work->n + work->m) &&
           (!work->is_sparse || gauss_pattern(problem) == work->pattern);
}

/* The certificate decides what may be called solved. */
static zw_status decide(const zw_gauss *problem, const zw_gauss_options *options,
                        zw_gauss_work *work, zw_status status, zw_motion *motion, zw_error *error)
{
    motion->certificate = work->certificate;
    if (status == ZW_OK && motion->certificate.worst <= options->tolerance) {
        return ZW_OK;
    }
    if (work->conflict_count > 0) { /* the least-squares motion was asked for */
        return name_conflict(problem, work, ZW_CONFLICT, error);
    }
    status = status == ZW_OK ? ZW_INACCURATE : status;
    int k = motion->certificate.worst_block;
    return base_fail(error, status, "%s; worst %.2e at %s", zw_status_text(status),
                     motion->certificate.worst,
                     k < 0 ? "the equation of motion" : gauss_block_name(problem, k));
}

/* One pass through all of it. */
static zw_status attempt(const zw_gauss *problem, const zw_gauss_options *options,
                         zw_gauss_work *work, zw_motion *motion, zw_error *error)
{
    zw_status status = work->is_sparse ? gauss_sparse_prepare(problem, work, error)
                                       : gauss_normal(problem, work, error);
    motion->undetermined_count = work->undetermined_count;
    if (status != ZW_OK) {
        return status;
    }
    work->rank_floor = options->rank > 0.0 ? options->rank : 1e-10;
    work->measures = options->margin;
    work->independence = work->margin = 1.0;
    int nonideal = problem->C != NULL || problem->law != NULL;
    const double *guess = options->guess;
    gauss_part_start(problem, work, guess);
    do {
        if (!work->is_sparse) {
            gauss_normal_rows(problem, work);
            gauss_equality_factor(problem, work);
        }
        work->core.S_ready = 0;
        status = nonideal ? gauss_nonideal(problem, options, work, &motion->method)
                          : gauss_pass(problem, options, work, NULL, guess, work->lambda,
                                       &motion->method);
    } while (gauss_part_again(options, work, status, &guess));
    sort(work->conflict_count, work->conflict);
    motion->rank = work->rank;
    motion->independence = work->independence;
    motion->margin = work->margin;
    motion->redundant_count = work->redundant_count;
    motion->conflict_count = work->conflict_count;
    motion->iterations = work->core.iterations;
    motion->factorizations = work->core.factorizations;
    if (status == ZW_BAD_INPUT) {
        return base_fail(error, status,
                         "the non-ideal law answers with a force that is not a number");
    }
    if (status == ZW_NO_SOLUTION || status == ZW_CONFLICT) {
        return name_conflict(problem, work, status, error);
    }
    split_forces(problem, work, nonideal, motion);
    return decide(problem, options, work, status, motion, error);
}

zw_status zw_gauss_solve(const zw_gauss *problem, const zw_gauss_options *options,
                         zw_gauss_work *work, zw_motion *motion, zw_error *error)
{
    zw_gauss_options requested = options != NULL ? *options : zw_gauss_options_default();
    fill_motion(work, motion);
    base_clear(error);
    zw_status status = gauss_check(problem, error);
    if (status != ZW_OK) {
        return status;
    }
    if (!fits(problem, work)) {
        return base_fail_as(error, ZW_TOO_LARGE);
    }
    if (requested.guess != NULL && dense_first_beyond(work->m, requested.guess, GAUSS_HUGE) >= 0) {
        return base_fail(error, ZW_BAD_INPUT, "the guess has a multiplier that is not a number");
    }
    if (requested.guess != NULL) {
        requested.guess = memcpy(work->guess, requested.guess, (size_t)work->m * sizeof(double));
        for (int i = 0; i < work->m; i++) { /* residues that have faded over many steps */
            work->guess[i] = fabs(work->guess[i]) < GAUSS_TRACE ? 0.0 : work->guess[i];
        }
    }
    if (requested.contact > ZW_CONTACT_CONVEX) {
        return base_fail(error, ZW_BAD_INPUT, "the kernel has Coulomb's law and the convex one");
    }
    if (!has_friction(problem)) {
        requested.contact = ZW_CONTACT_CONVEX;
    }
    if (!(requested.tolerance > 0.0)) {
        requested.tolerance = requested.contact != ZW_CONTACT_CONVEX ? GAUSS_GOOD : GAUSS_SOLVED;
    }
    work->core.iterations = work->core.factorizations = work->core.stopped = 0;
    work->core.options = &requested;
    work->stretches = 1;
    status = attempt(problem, &requested, work, motion, error);
    if (status == ZW_INACCURATE && work->me > 0 && work->mc > 0 && !work->is_sparse &&
        !core_spent(&work->core)) {
        double first = motion->certificate.worst;
        work->stretches = 0; /* other scales, other round-off */
        status = attempt(problem, &requested, work, motion, error);
        if (status == ZW_INACCURATE && first < motion->certificate.worst) {
            work->stretches = 1; /* the first was better */
            status = attempt(problem, &requested, work, motion, error);
        }
    }
    if (options && options->stop && core_spent(&work->core) && work->core.stopped) {
        return base_fail_as(error, ZW_INTERRUPTED);
    }
    if (status == ZW_OK) {
        base_clear(error);
    }
    return status;
}

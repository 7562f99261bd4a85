/* Gauss's principle, solved:
 *
 *     check the problem                                   check.c
 *     factor the metric, bring the rows to energy units   normal.c
 *     factor the equality rows, any rank                  equality.c
 *     for the ideal reaction, and again with C:           pass, below
 *         what the equalities fix                         equality.c
 *         what the cones add: convex or Coulomb           convex.c, coulomb.c, newton.c
 *         back to the user's units
 *     split the forces, judge the answer                  certificate.c
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "gauss/core.h"
#include "gauss/internal.h"
#include "gauss/metric.h"
#include "gauss/rows.h"
#include "gauss/sparse.h"
#include "math/cone.h"
#include "math/dense.h"

zw_gauss_options zw_gauss_options_default(void)
{
    return (zw_gauss_options){.contact = ZW_COULOMB};
}

/* The scale of the cones' residuals: how far the free motion is from admissible, cone by cone. */
static double core_violation(const gauss_core *core, const double *carried)
{
    double worst = 0.0;
    for (int k = 0; k < core->cone_count; k++) {
        int at = core->cone[k].first, d = core->cone[k].rows;
        double p[CONE_MAX], violation = 0.0, size = 0.0;
        cone_project(d, core->c + at, p);
        for (int i = 0; i < d; i++) {
            violation = fmax(violation, fabs(core->c[at + i] - p[i]));
            size = fmax(size, carried[at + i]);
        }
        if (violation > 0.0) {
            worst = fmax(worst, (violation + 1e-3 * size) / core->cone[k].stretch);
        }
    }
    worst = fmax(worst, 1e-3 * core->held);
    return worst > 0.0 ? worst : 1.0;
}

/* The core problem that the equalities leave: rows B2 behind the first `rank` columns. */
void gauss_core_open(zw_gauss_work *work, const zw_gauss_options *options, const double *guess)
{
    gauss_core *core = &work->core;
    double *c = work->c + work->me;
    core->p = work->mc;
    core->q = work->q - work->rank;
    core->stride = work->q_max;
    core->B = work->B + work->rank;
    dense_transpose(core->p, core->q, core->B, core->stride, core->Bt);
    core->cone_count = work->cone_count;
    core->cone = work->cone;
    core->normal = work->normal;
    core->held = dense_norm(work->rank, work->z);
    core->coulomb = options->contact == ZW_COULOMB;
    core->aim = 1e-14;
    core->accept = 0.1 * options->tolerance;
    core->wanted = core->coulomb;
    core->best_error = HUGE_VAL;
    core->paired = 0;
    for (int i = 0; i < core->p; i++) { /* c = c_c + B1 z */
        c[i] += dense_dot(work->rank, work->B + (long)i * work->q_max, work->z);
        double scale = work->scale[work->cone_row[i]];
        core->r[i] = guess != NULL && scale > 0.0 ? guess[work->cone_row[i]] / scale : 0.0;
    }
    core->c = c;
    core->V = core_violation(core, work->carried);
    memset(core->shift, 0, (size_t)core->cone_count * sizeof(double));
}

static zw_status core_solve(const zw_gauss *problem, const zw_gauss_options *options,
                            zw_gauss_work *work, int warm, const char **method)
{
    gauss_core *core = &work->core;
    if (core->p == 0) {
        *method = "equality";
        return ZW_OK;
    }
    if (core->coulomb) {
        int answer = core_coulomb(core, warm, options->guess_only, method);
        if (answer < 0) {
            gauss_conflict_cones(problem, options, work, 1);
            return ZW_NO_SOLUTION;
        }
        if (answer == 0) {
            core_recall(core);
        }
        return answer > 0 ? ZW_OK : ZW_JAMMED;
    }
    *method = "newton";
    if (warm && core_newton(core, CORE_NATURAL, 0.0, 12)) {
        return ZW_OK;
    }
    *method = "proximal";
    memset(core->r, 0, (size_t)core->p * sizeof(double));
    int answer = core_convex(core);
    if (answer == 0) {
        core_recall(core);
    }
    if (answer < 0) {
        gauss_conflict_cones(problem, options, work, 0);
    }
    return answer < 0 ? ZW_CONFLICT : answer > 0 ? ZW_OK : ZW_INACCURATE;
}

/* lambda from z and core->r; y = B2' r, or better. */
static void core_close(zw_gauss_work *work, double *lambda, double *y)
{
    gauss_core *core = &work->core;
    double *g = work->g;
    memcpy(g, work->z, (size_t)work->rank * sizeof *g);
    memset(y, 0, (size_t)(work->q - work->rank) * sizeof *y);
    for (int i = 0; i < core->p; i++) { /* g = z - B1' r */
        dense_axpy(work->rank, -core->r[i], work->B + (long)i * work->q_max, g);
        if (!core->paired) {
            dense_axpy(core->q, core->r[i], core->B + (long)i * core->stride, y);
        }
        lambda[work->cone_row[i]] = core->r[i] * work->scale[work->cone_row[i]];
    }
    if (core->p > 0 && core->paired) {
        memcpy(y, core->x, (size_t)core->q * sizeof *y);
    }
    gauss_equality_multipliers(work, g, lambda);
}

/* a = a_free + M \ C + L' \ x */
static void motion_of(const zw_gauss *problem, zw_gauss_work *work, const double *C, double *x)
{
    dense_lq_apply(work->rank, work->q, work->D, work->q_max, work->beta, x);
    gauss_solve_upper(problem, work, x);
    memcpy(work->a, work->free, (size_t)work->n * sizeof *x);
    dense_axpy(work->n, 1.0, x, work->a);
    if (C != NULL) {
        memcpy(x, C, (size_t)work->n * sizeof *x);
        gauss_solve_lower(problem, work, x);
        gauss_solve_upper(problem, work, x);
        dense_axpy(work->n, 1.0, x, work->a);
    }
}

/* The motion and the multipliers with the non-ideal force C acting. */
zw_status gauss_pass(const zw_gauss *problem, const zw_gauss_options *options, zw_gauss_work *work,
                     const double *C, const double *guess, double *lambda, const char **method)
{
    if (work->is_sparse) {
        return gauss_sparse_pass(problem, options, work, C, guess, lambda, method);
    }
    double tolerance = options->tolerance;
    gauss_normal_residual(problem, work, C);
    zw_status status =
        gauss_equality_particular(problem, work, tolerance, options->least_squares);
    if (status != ZW_OK) {
        return status;
    }
    gauss_core_open(work, options, guess);
    status = core_solve(problem, options, work, guess != NULL, method);
    if (status == ZW_CONFLICT || status == ZW_NO_SOLUTION) {
        return status;
    }
    memcpy(work->x, work->z, (size_t)work->rank * sizeof *work->x);
    core_close(work, lambda, work->x + work->rank);
    motion_of(problem, work, C, work->x);
    gauss_refine(problem, options, work, C, lambda);
    return status;
}

/* F^N + F^L + F^C = M a, seed 000 eqs. (18)-(21), and Z. */
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
    if (work->shifted) { /* there is no a_free: Gauss's function up to a constant */
        gauss_metric_apply(problem, work->a, Mstep);
        motion->Z = 0.5 * dense_dot(n, work->a, Mstep) - dense_dot(n, work->a, work->F_N);
    } else {
        for (int i = 0; i < n; i++) {
            step[i] = work->a[i] - work->free[i];
        }
        gauss_metric_apply(problem, step, Mstep);
        motion->Z = 0.5 * dense_dot(n, step, Mstep);
    }
    for (int i = 0; i < work->m; i++) {
        work->residual[i] = gauss_row_residual(problem, i, work->a, work->lambda);
    }
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

static zw_status name_conflict(const zw_gauss *problem, const zw_gauss_work *work,
                               zw_status status, zw_error *error)
{
    if (work->conflict_count == 0) {
        return base_fail(error, status, "no force satisfies the non-ideal law: its fixed point "
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

/* Same unknowns, metric kind and blocks as when the workspace was made? */
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
    return problem->compliance == NULL || work->q_max >= work->n + work->m;
}

/* The certificate decides what may be called solved. */
static zw_status judge(const zw_gauss *problem, const zw_gauss_options *options,
                       zw_gauss_work *work, zw_status status, zw_motion *motion, zw_error *error)
{
    motion->certificate = work->certificate;
    if (status == ZW_CONFLICT || status == ZW_NO_SOLUTION) {
        return name_conflict(problem, work, status, error);
    }
    if (motion->certificate.worst <= options->tolerance) {
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

zw_status zw_gauss_solve(const zw_gauss *problem, const zw_gauss_options *options,
                         zw_gauss_work *work, zw_motion *motion, zw_error *error)
{
    zw_gauss_options wish = options != NULL ? *options : zw_gauss_options_default();
    fill_motion(work, motion);
    zw_status status = gauss_check(problem, error);
    if (status != ZW_OK) {
        return status;
    }
    if (!fits(problem, work)) {
        return base_fail(error, ZW_TOO_LARGE, "%s", zw_status_text(ZW_TOO_LARGE));
    }
    if (!has_friction(problem)) {
        wish.contact = ZW_CONVEX;
    }
    if (!(wish.tolerance > 0.0)) {
        wish.tolerance = wish.contact == ZW_COULOMB ? 1e-8 : 1e-10;
    }
    status = work->is_sparse ? gauss_sparse_prepare(problem, work, error)
                             : gauss_normal(problem, work, error);
    motion->undetermined_count = work->undetermined_count;
    if (status != ZW_OK) {
        return status;
    }
    if (!work->is_sparse) {
        gauss_equality_factor(work);
    }
    work->core.S_ready = work->core.iterations = work->core.factorizations = 0;
    int nonideal = problem->C != NULL || problem->law != NULL;
    status = nonideal ? gauss_nonideal(problem, &wish, work, &motion->method)
                      : gauss_pass(problem, &wish, work, NULL, wish.guess, work->lambda,
                                   &motion->method);
    sort(work->conflict_count, work->conflict);
    motion->rank = work->rank;
    motion->redundant_count = work->redundant_count;
    motion->conflict_count = work->conflict_count;
    motion->iterations = work->core.iterations;
    motion->factorizations = work->core.factorizations;
    if (status == ZW_BAD_INPUT) {
        return base_fail(error, status, "the non-ideal law answers with a force that is no number");
    }
    if (status == ZW_NO_SOLUTION || status == ZW_CONFLICT) {
        return name_conflict(problem, work, status, error);
    }
    split_forces(problem, work, nonideal, motion);
    return judge(problem, &wish, work, status, motion, error);
}

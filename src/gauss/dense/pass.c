/* One pass: the motion and the multipliers for a given non-ideal force, with everything factored.
 *
 *     what the equalities fix           x = Q (z, y): z               equality.c
 *     what the cones add                r, and y = B2' r              convex.c, coulomb.c
 *     back to the user's units          lambda, a
 *     as good as sixteen digits allow                                 refine.c
 */
#include <math.h>
#include <string.h>

#include "gauss/dense/core.h"
#include "gauss/dense/primal.h"
#include "gauss/internal.h"
#include "gauss/sparse/sparse.h"
#include "gauss/tolerances.h"
#include "math/cone.h"
#include "math/dense/dense.h"

/* The scale of the cones' residuals: how far the free motion is from admissible, cone by cone. */
static double core_violation(const gauss_core *core, const double *carried)
{
    double worst = 0.0;
    for (int k = 0; k < core->cone_count; k++) {
        int at = core->cone[k].first, d = core->cone[k].rows;
        const gauss_cone *cone = &core->cone[k];
        double size = 0.0, violation = d > 1 ? cone_gap(d, core->c + at)
                                             : interval_gap(cone->low, cone->high, core->c[at]);
        for (int i = 0; i < d; i++) {
            size = carried[at + i] > size ? carried[at + i] : size;
        }
        if (violation > 0.0) {
            worst = fmax(worst, (violation + GAUSS_SCALE_FLOOR * size) / core->cone[k].stretch);
        }
    }
    worst = fmax(worst, GAUSS_SCALE_FLOOR * core->held);
    return worst > 0.0 ? worst : 1.0;
}

void gauss_core_start(zw_gauss_work *work, const double *guess)
{
    gauss_core *core = &work->core;
    core->best_error = HUGE_VAL;
    core->paired = 0;
    for (int i = 0; i < core->p; i++) {
        double scale = work->scale[work->cone_row[i]];
        core->r[i] = guess != NULL && scale > 0.0 ? guess[work->cone_row[i]] / scale : 0.0;
    }
}

/* Bt = B2'. Where nothing was eliminated that is X, which has the rows as columns, times `scale`.
 */
static void core_transpose(zw_gauss_work *work)
{
    gauss_core *core = &work->core;
    double *scale = work->scratch;
    if (work->me > 0 || work->q > work->n) {
        dense_transpose(core->p, core->q, core->B, core->stride, core->Bt, core->wide);
        return;
    }
    for (int i = 0; i < core->wide; i++) {
        scale[i] = i < core->p ? work->scale[work->cone_row[i]] : 0.0;
    }
    dense_scale_columns(core->q, core->wide, scale, work->X, core->Bt);
}

/* The core problem that the equalities leave: rows B2 behind the first `rank` columns. */
void gauss_core_open(const zw_gauss *problem, zw_gauss_work *work, const zw_gauss_options *options,
                     const double *guess)
{
    gauss_core *core = &work->core;
    double *c = work->c + work->me;
    core->problem = problem;
    core->owner = work;
    core->p = work->mc;
    core->q = work->q - work->rank;
    core->stride = work->q_max;
    core->B = work->B + work->rank;
    core_transpose(work);
    core->cone_count = work->cone_count;
    core->cone = work->cone;
    core->normal = work->normal;
    core->held = dense_norm(work->rank, work->z);
    core->coulomb = options->contact != ZW_CONTACT_CONVEX;
    core->aim = core->coulomb ? 1e-13 : 1e-14;
    core->accept = 0.1 * options->tolerance;
    core->wanted = core->coulomb;
    core->patience = CORE_HASTY;
    for (int i = 0; i < core->p && work->rank > 0; i++) { /* c = c_c + B1 z */
        c[i] += dense_dot(work->rank, work->B + (long)i * work->q_max, work->z);
    }
    gauss_core_start(work, guess);
    core->c = c;
    core->V = core_violation(core, work->carried);
    memset(core->shift, 0, (size_t)core->cone_count * sizeof(double));
}

static zw_status core_solve(const zw_gauss *problem, const zw_gauss_options *options,
                            zw_gauss_work *work, int warm, const char **method)
{
    gauss_core *core = &work->core;
    if (core->p == 0) {
        *method = work->partial ? "newton" : "equality";
        return ZW_OK;
    }
    if (core->coulomb) {
        int answer = core_coulomb(core, warm, options->guess_only || work->partial, method);
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
    if (work->partial) {
        return ZW_INACCURATE;
    }
    *method = "proximal";
    memset(core->r, 0, (size_t)core->p * sizeof(double));
    int answer = core_convex(core, 1);
    if (answer == 0) {
        core_recall(core);
    }
    if (answer < 0) {
        gauss_conflict_cones(problem, options, work, 0);
    }
    return answer < 0 ? ZW_CONFLICT : answer > 0 ? ZW_OK : ZW_INACCURATE;
}

/* lambda from z and core->r; y = x of the core: B2' r, or better. */
static void core_close(zw_gauss_work *work, double *lambda, double *y)
{
    gauss_core *core = &work->core;
    double *g = work->g;
    memcpy(g, work->z, (size_t)work->rank * sizeof *g);
    memset(y, 0, (size_t)(work->q - work->rank) * sizeof *y);
    for (int i = 0; i < core->p; i++) {
        if (work->rank > 0) { /* g = z - B1' r */
            dense_axpy(work->rank, -core->r[i], work->B + (long)i * work->q_max, g);
        }
        lambda[work->cone_row[i]] = core->r[i] * work->scale[work->cone_row[i]];
    }
    if (core->p > 0) {
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

zw_status gauss_verdict(const zw_gauss_options *options, const zw_gauss_work *work,
                        zw_status status)
{
    int gave_up = status == ZW_JAMMED || status == ZW_INACCURATE;
    return gave_up && work->certificate.worst <= options->tolerance ? ZW_OK : status;
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
    zw_status status = gauss_equality_particular(problem, work, tolerance, options->least_squares);
    if (status != ZW_OK) {
        return status;
    }
    if (work->primal != NULL && !work->shifted && work->conflict_count == 0 &&
        gauss_primal_solve(work->primal, problem, options, work, C, guess, lambda)) {
        *method = "motion";
        return ZW_OK;
    }
    gauss_core_open(problem, work, options, guess);
    status = core_solve(problem, options, work, guess != NULL, method);
    if (status == ZW_CONFLICT || status == ZW_NO_SOLUTION || (status != ZW_OK && work->partial)) {
        return status;
    }
    memcpy(work->x, work->z, (size_t)work->rank * sizeof *work->x);
    core_close(work, lambda, work->x + work->rank);
    motion_of(problem, work, C, work->x);
    if (gauss_part_missing(problem, options, work) > 0) {
        return status;
    }
    gauss_refine(problem, options, work, C, lambda);
    return gauss_verdict(options, work, status);
}

/* Defect correction: the factors are rounded, the data are not.
 *
 * The normal form computes D = A L^-T with an error that the condition of M amplifies. So the
 * answer (a, lambda) is put back into the data: s = M (a - a_free) - A' lambda - C and the true
 * residuals w. The model x = D' r + t, w = D x + c is then given that t and c with which it
 * predicts exactly these defects at the present answer, and is solved again from there, for the
 * changes: with p = Q' (L \ s),
 *
 *     L dz = -w_e,     cones: c = w - B2 (B2' r + p2) + B1 dz,     L' dr_e = dz + p1 - B1' dr,
 *     L' da = Q (dz, B2' dr - p2),
 *
 * the problem already factored with another c. A step that does not help is taken back. If the
 * metric was completed by rows of cones, each such step is a proximal step towards the problem with
 * M itself, and many are taken. */
#include <math.h>
#include <string.h>

#include "gauss/core.h"
#include "gauss/internal.h"
#include "gauss/metric.h"
#include "gauss/rows.h"
#include "math/dense.h"

/* s into `force`; uses `step` as scratch. A completed metric pushes with W too. */
static void force_residual(const zw_gauss *problem, const zw_gauss_work *work, const double *C,
                           const double *lambda, double *force, double *step)
{
    int n = work->n, from_force = problem->force != NULL;
    for (int i = 0; i < n; i++) {
        step[i] = work->a[i] - (from_force || problem->free == NULL ? 0.0 : problem->free[i]);
    }
    gauss_metric_apply(problem, step, force);
    for (int i = 0; i < n; i++) {
        force[i] -= (from_force ? work->F_N[i] : 0.0) + (C != NULL ? C[i] : 0.0);
    }
    for (int i = 0; i < work->m; i++) {
        if (lambda[i] != 0.0) {
            gauss_row_add(problem, i, -lambda[i], force);
        }
    }
    for (int e = 0; e < work->me && work->shifted; e++) {
        int i = work->equality_row[e];
        double residual = gauss_row_residual(problem, i, work->a, lambda);
        gauss_row_add(problem, i, work->W[e] * residual, force);
    }
}

/* p = Q' (L \ s) */
static void defect(const zw_gauss *problem, zw_gauss_work *work, const double *C,
                   const double *lambda, double *p)
{
    force_residual(problem, work, C, lambda, p, work->scratch);
    gauss_solve_lower(problem, work, p);
    memset(p + work->n, 0, (size_t)(work->q - work->n) * sizeof *p);
    dense_lq_apply_transposed(work->rank, work->q, work->D, work->q_max, work->beta, p);
}

/* c = w - B2 (B2' r + p2) + B1 dz for the cones; then Newton from r. */
static void correct_cones(const zw_gauss *problem, zw_gauss_work *work, const double *lambda,
                          const double *p, const double *dz)
{
    gauss_core *core = &work->core;
    double *c = work->c + work->me, *v = work->scratch;
    gauss_core_start(work, lambda);
    memcpy(v, p + work->rank, (size_t)core->q * sizeof *v);
    for (int k = 0; k < core->p; k++) {
        dense_axpy(core->q, core->r[k], core->B + (long)k * core->stride, v);
    }
    for (int k = 0; k < core->p; k++) {
        int i = work->cone_row[k];
        c[k] = work->scale[i] * gauss_row_residual(problem, i, work->a, lambda) -
               dense_dot(core->q, core->B + (long)k * core->stride, v) +
               dense_dot(work->rank, work->B + (long)k * work->q_max, dz);
    }
    if (core->p > 0) {
        core_newton(core, CORE_NATURAL, 0.0, 4);
    }
}

static void correct(const zw_gauss *problem, zw_gauss_work *work, const double *C, double *lambda)
{
    gauss_core *core = &work->core;
    int rank = work->rank;
    double *p = work->x, *dz = work->g;
    defect(problem, work, C, lambda, p);
    for (int k = 0; k < rank; k++) { /* L dz = -w */
        const double *row = work->D + (long)k * work->q_max;
        int i = work->equality_row[work->order[k]];
        double w = work->scale[i] * gauss_row_residual(problem, i, work->a, lambda);
        dz[k] = (-w - dense_dot(k, row, dz)) / row[k];
    }
    correct_cones(problem, work, lambda, p, dz);
    /* g = dz + p1 - B1' dr, and p becomes (dz, B2' dr - p2) */
    double *g = work->scratch;
    for (int k = 0; k < work->q; k++) {
        g[k] = k < rank ? dz[k] + p[k] : 0.0;
        p[k] = k < rank ? dz[k] : -p[k];
    }
    for (int k = 0; k < core->p; k++) {
        int i = work->cone_row[k];
        double old = work->scale[i] > 0.0 ? lambda[i] / work->scale[i] : 0.0;
        const double *row = work->B + (long)k * work->q_max;
        dense_axpy(rank, old - core->r[k], row, g);
        dense_axpy(core->q, core->r[k] - old, row + rank, p + rank);
        lambda[i] = core->r[k] * work->scale[i];
    }
    gauss_equality_multipliers(work, g, work->delta);
    for (int e = 0; e < work->me; e++) {
        lambda[work->equality_row[e]] += work->delta[work->equality_row[e]];
    }
    dense_lq_apply(rank, work->q, work->D, work->q_max, work->beta, p);
    gauss_solve_upper(problem, work, p);
    dense_axpy(work->n, 1.0, p, work->a);
}

void gauss_refine(const zw_gauss *problem, const zw_gauss_options *options, zw_gauss_work *work,
                  const double *C, double *lambda)
{
    double *a_best = work->kept, *lambda_best = work->kept + work->n;
    size_t n_bytes = (size_t)work->n * sizeof(double), m_bytes = (size_t)work->m * sizeof(double);
    zw_certificate now, *best = &work->certificate;
    int limit = work->conflict_count > 0 ? 0 : work->held_by_cones ? 400 : 4;
    zw_gauss_certify(problem, options->contact, work->a, lambda, C, work->scratch, best);
    memcpy(a_best, work->a, n_bytes);
    memcpy(lambda_best, lambda, m_bytes);
    for (int k = 0; k < limit && best->worst > 1e-3 * options->tolerance; k++) {
        correct(problem, work, C, lambda);
        zw_gauss_certify(problem, options->contact, work->a, lambda, C, work->scratch, &now);
        int helps = now.worst < 0.9 * best->worst;
        if (now.worst < best->worst) {
            *best = now;
            memcpy(a_best, work->a, n_bytes);
            memcpy(lambda_best, lambda, m_bytes);
        }
        if (!helps && !work->held_by_cones) {
            break;
        }
    }
    memcpy(work->a, a_best, n_bytes);
    memcpy(lambda, lambda_best, m_bytes);
}

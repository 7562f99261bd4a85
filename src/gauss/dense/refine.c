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
 * the problem already factored with another c. A step that does not help is undone. If the metric
 * was completed by rows of cones, each such step is a proximal step towards the problem with M
 * itself, and many are taken.
 *
 * In these steps the cones are solved for the whole r, so that c, and with it the w that comes out,
 * carries the round-off of B2 B2' r. Nearly parallel rows have r a million times larger than what
 * they add up to, and the core measures w in lengths of the metric, which may be large beside those
 * of the certificate: either way the answer can stall above the tolerance. There the Newton step is
 * solved for the change instead (core_newton_change): its right-hand side is the true w, small by
 * now, its round-off is relative to the change, and step by step the answer falls to the round-off
 * of the residuals, as in every iterative refinement. */
#include <math.h>
#include <string.h>

#include "gauss/dense/core.h"
#include "gauss/internal.h"
#include "gauss/metric.h"
#include "gauss/rows.h"
#include "gauss/tolerances.h"
#include "math/dense/dense.h"

enum { CHANGE_LIMIT = 30 };

/* As `prox` of a correction: the cones are solved for the whole r. */
static const double WHOLE = -1.0;

/* s into `force`; uses `step` as scratch. A completed metric pushes with W too: with W w, where w
 * is what dz takes away. (That is the residual of the independent rows. Of the others it is what
 * follows from those; their own round-off has no dz to cancel it, and would end as a multiplier.)
 */
static void force_residual(const zw_gauss *problem, const zw_gauss_work *work, const double *C,
                           const double *lambda, const double *dz, double *force, double *step)
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
    for (int k = 0; k < work->me && work->shifted; k++) {
        int e = work->order[k], i = work->equality_row[e];
        const double *row = work->D + (long)k * work->q_max;
        double residual = gauss_row_residual(problem, i, work->a, lambda);
        if (k >= work->rank) {
            residual =
                work->scale[i] > 0.0 ? -dense_dot(work->rank, row, dz) / work->scale[i] : 0.0;
        }
        gauss_row_add(problem, i, work->W[e] * residual, force);
    }
}

/* p = Q' (L \ s) */
static void defect(const zw_gauss *problem, zw_gauss_work *work, const double *C,
                   const double *lambda, const double *dz, double *p)
{
    force_residual(problem, work, C, lambda, dz, p, work->scratch);
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
        core->patience = CORE_PATIENT; /* there is no fallback */
        core_newton(core, CORE_NATURAL, 0.0, 4);
    }
}

/* The same for the changes alone: the Newton step from the true residuals w + B1 dz at the true r.
 * Leaves r + dr in core->r and dx in core->pair. */
static void change_cones(const zw_gauss *problem, zw_gauss_work *work, const double *lambda,
                         const double *p, const double *dz, double prox)
{
    gauss_core *core = &work->core;
    double *w = core->v[4], *t = core->y[0], *dr = core->v[1];
    gauss_core_start(work, lambda);
    for (int j = 0; j < core->q; j++) {
        t[j] = -p[work->rank + j];
    }
    for (int k = 0; k < core->p; k++) {
        int i = work->cone_row[k];
        w[k] = work->scale[i] * gauss_row_residual(problem, i, work->a, lambda) +
               dense_dot(work->rank, work->B + (long)k * work->q_max, dz);
    }
    core_newton_change(core, core->R / core->V, prox, core->r, w, t, dr, core->pair);
    dense_axpy(core->p, 1.0, dr, core->r);
}

static void correct(const zw_gauss *problem, zw_gauss_work *work, const double *C, double prox,
                    double *lambda)
{
    gauss_core *core = &work->core;
    int rank = work->rank, changes = prox != WHOLE && core->p > 0;
    double *p = work->x, *dz = work->g;
    for (int k = 0; k < rank; k++) { /* L dz = -w */
        const double *row = work->D + (long)k * work->q_max;
        int i = work->equality_row[work->order[k]];
        double w = work->scale[i] * gauss_row_residual(problem, i, work->a, lambda);
        dz[k] = (-w - dense_dot(k, row, dz)) / row[k];
    }
    defect(problem, work, C, lambda, dz, p);
    if (changes) {
        change_cones(problem, work, lambda, p, dz, prox);
    } else {
        correct_cones(problem, work, lambda, p, dz);
    }
    /* g = dz + p1 - B1' dr, and p becomes (dz, B2' dr - p2) */
    double *g = work->scratch;
    for (int k = 0; k < work->q; k++) {
        g[k] = k < rank ? dz[k] + p[k] : 0.0;
        p[k] = k < rank ? dz[k] : changes ? core->pair[k - rank] : -p[k];
    }
    for (int k = 0; k < core->p; k++) {
        int i = work->cone_row[k];
        double old = work->scale[i] > 0.0 ? lambda[i] / work->scale[i] : 0.0;
        const double *row = work->B + (long)k * work->q_max;
        dense_axpy(rank, old - core->r[k], row, g);
        if (!changes) {
            dense_axpy(core->q, core->r[k] - old, row + rank, p + rank);
        }
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

static void keep(zw_gauss_work *work, const double *lambda, const zw_certificate *certificate)
{
    work->certificate = *certificate;
    memcpy(work->kept, work->a, (size_t)work->n * sizeof(double));
    memcpy(work->kept + work->n, lambda, (size_t)work->m * sizeof(double));
}

/* The answer after a step is evaluated, and kept if it is the best so far. Returns whether it is so
 * by a good deal. */
static int better(const zw_gauss *problem, const zw_gauss_options *options, zw_gauss_work *work,
                  const double *C, const double *lambda)
{
    zw_certificate now;
    zw_gauss_certify(problem, options->contact, work->a, lambda, C, work->scratch, &now);
    int helps = now.worst < 0.9 * work->certificate.worst;
    if (now.worst < work->certificate.worst) {
        keep(work, lambda, &now);
    }
    return helps;
}

static void back_to_best(zw_gauss_work *work, double *lambda)
{
    memcpy(work->a, work->kept, (size_t)work->n * sizeof(double));
    memcpy(lambda, work->kept + work->n, (size_t)work->m * sizeof(double));
}

/* Steps for the changes alone, where the whole is stuck above the tolerance. They need not improve
 * from the first: cones change sides on the way. With a larger prox they are shorter, and
 * borderline cones change sides less. */
static void refine_changes(const zw_gauss *problem, const zw_gauss_options *options,
                           zw_gauss_work *work, const double *C, double *lambda)
{
    static const double prox[] = {1e-15, 1e-12, 1e-9};
    for (size_t i = 0; i < sizeof prox / sizeof *prox; i++) {
        for (int k = 0; k < CHANGE_LIMIT && work->certificate.worst > options->tolerance &&
                        !core_spent(&work->core);
             k++) {
            correct(problem, work, C, prox[i], lambda);
            better(problem, options, work, C, lambda);
        }
        for (int k = 0; k < 2 && work->certificate.worst > GAUSS_SETTLED * options->tolerance &&
                        !core_spent(&work->core);
             k++) {
            correct(problem, work, C, prox[i], lambda);
            better(problem, options, work, C, lambda);
        }
        back_to_best(work, lambda);
    }
}

void gauss_refine(const zw_gauss *problem, const zw_gauss_options *options, zw_gauss_work *work,
                  const double *C, double *lambda)
{
    int limit = work->conflict_count > 0 ? 0 : work->held_by_cones ? 400 : 4;
    zw_certificate first;
    zw_gauss_certify(problem, options->contact, work->a, lambda, C, work->scratch, &first);
    keep(work, lambda, &first);
    for (int k = 0; k < limit && work->certificate.worst > GAUSS_SETTLED * options->tolerance &&
                    !core_spent(&work->core);
         k++) {
        correct(problem, work, C, WHOLE, lambda);
        if (!better(problem, options, work, C, lambda) && !work->held_by_cones) {
            break;
        }
    }
    back_to_best(work, lambda);
    if (limit > 0 && work->core.p > 0 && options->contact == ZW_CONTACT_CONVEX &&
        work->certificate.worst > options->tolerance) {
        refine_changes(problem, options, work, C, lambda);
    }
}

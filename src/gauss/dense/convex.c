/* The convex problem by proximal steps on the multipliers, each solved by Newton's method.
 *
 * Gauss's problem in energy units has the dual: minimise 1/2 |B' r|^2 + c . r over r in K. It may
 * have many solutions (hyperstatic contacts) or none (contradicting rows). The proximal step
 *
 *     r+ = argmin over r in K of   1/2 |B' r|^2 + c . r + delta/2 |r - r_k|^2
 *
 * is always well posed, and r_k converges to a solution whenever there is one. Eliminating r, the
 * step is the smooth, strongly convex, unconstrained problem in x
 *
 *     minimise  f(x) = 1/2 |x|^2 + delta/2 | P_K(z) |^2,    z = r_k - (B x + c)/delta,   r+ =
 * P_K(z)
 *
 * with gradient x - B' P_K(z) and Newton matrix I + B' P B / delta, P the derivative of the
 * projection. With an exact line search Newton's method is globally convergent on it.
 *
 * Invariants
 * 1. Started from r = 0, the iterates have almost no part in the null space of B', so the result is
 *    close to the multipliers of least norm.
 * 2. If nothing is admissible, r_k grows along a direction d in K with B' d = 0 and c . d < 0: a
 * proof. Limits: the round-off of w enters r divided by delta, so the last digits are left to
 * core_newton. */
#include <math.h>
#include <string.h>

#include "gauss/dense/core.h"
#include "math/cone.h"
#include "math/dense/dense.h"
#include "math/search.h"

enum { INNER_LIMIT = 40, OUTER_LIMIT = 40 };

/* z = centre - (B x + c + shift)/delta and r = P_K(z), from w = B x + c. */
static void convex_multipliers(const gauss_core *core, double delta, const double *centre,
                               const double *w, double *z, double *r)
{
    memset(r, 0, (size_t)core->p * sizeof *r);
    for (int i = 0; i < core->p; i++) {
        z[i] = centre[i] - w[i] / delta;
    }
    for (int k = 0; k < core->cone_count; k++) {
        int at = core->cone[k].first;
        z[at] -= core->shift[k] / delta;
        core_project(&core->cone[k], z + at, r + at);
    }
}

/* H = I + B' P B / delta = I + G'G (upper triangle), with the rows G = (P / delta)^1/2 B of the
 * cones that push. */
static void convex_hessian(gauss_core *core, double delta, const double *z)
{
    int q = core->q, rows = 0;
    double *G = core->E, share = sqrt(1.0 / delta);
    for (int k = 0; k < core->cone_count; k++) {
        int at = core->cone[k].first, d = core->cone[k].rows;
        double root[CONE_MAX * CONE_MAX] = {1.0}, p[1];
        if ((d > 1 ? cone_slope_root(d, z + at, root) : core_project(&core->cone[k], z + at, p)) !=
            CONE_OUTSIDE) {
            dense_scale(CONE_MAX * d, share, root);
            dense_product(0, d, d, q, root, CONE_MAX, 1, core->B + (long)at * core->stride,
                          core->stride, G + (long)rows * q, q);
            rows += d;
        }
    }
    memset(core->H, 0, (size_t)q * (size_t)q * sizeof *core->H);
    for (int i = 0; i < q; i++) {
        core->H[(long)i * q + i] = 1.0;
    }
    for (int i = 0; i < q; i += 4) {
        int count = q - i < 4 ? q - i : 4, from = q - i >= 8 || q < 8 ? i : q - 8;
        dense_product(1, count, rows, q - from, G + i, 1, q, G + from, q,
                      core->H + (long)i * q + from, q);
    }
}

/* The step length along dx where f' vanishes; f' at 0 is negative. */
static double convex_search(gauss_core *core, double delta, const double *centre, const double *dx,
                            double slope0)
{
    double *Bdx = core->v[3], *w = core->v[4], *z = core->v[5], *r = core->v[6], slope = 0.0;
    memset(Bdx, 0, (size_t)core->wide * sizeof *Bdx);
    dense_combine(core->q, core->wide, dx, 1, core->Bt, core->wide, Bdx);
    double xdx = dense_dot(core->q, core->x, dx), dxdx = dense_dot(core->q, dx, dx);
    bracket step = bracket_start(slope0);
    do {
        for (int i = 0; i < core->p; i++) {
            w[i] = core->w[i] + step.t * Bdx[i];
        }
        convex_multipliers(core, delta, centre, w, z, r);
        slope = xdx + step.t * dxdx - dense_dot(core->p, r, Bdx);
    } while (bracket_next(&step, slope));
    return step.t;
}

/* One proximal step: Newton from the present x. Leaves r+ in core->v[1]; 0: it was not
 * found, -1: breakdown. */
static int convex_step(gauss_core *core, double delta, const double *centre)
{
    int q = core->q, k = 0;
    double *z = core->v[0], *r = core->v[1], *gradient = core->y[1], *dx = core->y[2];
    for (; k < INNER_LIMIT && !(k > 0 && core_spent(core)); k++) {
        core_residual(core, core->x, core->w);
        convex_multipliers(core, delta, centre, core->w, z, r);
        core_force(core, r, gradient);
        double force = dense_norm(q, gradient);
        for (int j = 0; j < q; j++) {
            gradient[j] = core->x[j] - gradient[j];
        }
        double aim = fmax(fmax(force, dense_norm(q, core->x)), core->V);
        if (!(dense_norm(q, gradient) > 1e-4 * aim)) {
            return 1;
        }
        convex_hessian(core, delta, z);
        core->factorizations++;
        core->iterations++;
        if (dense_cholesky(q, core->H, q, 0.0) < q) {
            return -1;
        }
        for (int j = 0; j < q; j++) {
            dx[j] = -gradient[j];
        }
        dense_solve_upper_transposed(q, core->H, q, dx);
        dense_solve_upper(q, core->H, q, dx);
        double slope = dense_dot(q, gradient, dx);
        if (!(slope < 0.0)) {
            return 1;
        }
        dense_axpy(q, convex_search(core, delta, centre, dx, slope), dx, core->x);
    }
    return k < INNER_LIMIT;
}

/* The same with a small delta: the step by reflections, r from the step itself and not from
 * w/delta, whose round-off would be too large. */
static int convex_fine_step(gauss_core *core, double delta, const double *centre)
{
    int p = core->p, q = core->q, k = 0;
    double *z = core->v[0], *r = core->v[1], *dx = core->y[2];
    for (; k < INNER_LIMIT && !(k > 0 && core_spent(core)); k++) {
        core_residual(core, core->x, core->w);
        core_newton_convex(core, 1.0 / delta, delta, centre, core->w, r, NULL);
        core_force(core, r, dx);
        double size = dense_norm(q, dx);
        dense_axpy(q, -1.0, core->x, dx);
        if (!(dense_norm(q, dx) > 1e-11 * fmax(size, core->V))) {
            break;
        }
        convex_multipliers(core, delta, centre, core->w, z, core->v[6]);
        core_force(core, core->v[6], core->y[1]);
        double slope = dense_dot(q, core->x, dx) - dense_dot(q, core->y[1], dx);
        if (!(slope < 0.0)) {
            break;
        }
        dense_axpy(q, convex_search(core, delta, centre, dx, slope), dx, core->x);
    }
    for (int c = 0; c < core->cone_count; c++) {
        double *part = r + core->cone[c].first;
        core_project(&core->cone[c], part, part);
    }
    return isfinite(dense_norm(p, r)) ? k < INNER_LIMIT : -1;
}

/* Do the multipliers diverge along d = r+ - r, in K with B' d = 0 and c . d < 0? That is a
 * candidate; the data of the problem, which contain no shift, decide whether it proves anything.
 * The quick test rejects hopeless candidates: every admissible x has 0 <= d . (B x + c), so |x| >=
 * -c . d / |B' d|. */
static int convex_runs_away(gauss_core *core, const double *before, const double *after)
{
    double *d = core->v[0];
    for (int i = 0; i < core->p; i++) {
        d[i] = after[i] - before[i];
    }
    double size = dense_norm(core->p, d);
    if (!(size > 0.0) || !isfinite(size) || dense_largest(core->cone_count, core->shift) > 0.0) {
        return 0;
    }
    dense_scale(core->p, 1.0 / size, d);
    core_force(core, d, core->y[1]);
    double gain = dense_dot(core->p, core->c, d), force = dense_norm(core->q, core->y[1]);
    return gain < -1e3 * force * fmax(core->V, core->R) && core_proves(core, d);
}

static int convex_polish(gauss_core *core)
{
    return core_newton(core, CORE_NATURAL, 0.0, core->patience);
}

/* Proximal steps with delta from soft to stiff. One that was not found, and is worse than what it
 * started from, is no step: with those the method wanders, and `strict` ends there. */
static int convex_proximal(gauss_core *core, int limit, int strict)
{
    double *centre = core->v[2], delta = 1e-2, before = HUGE_VAL;
    for (int k = 0; k < limit && !core_spent(core); k++, delta = fmax(delta * 1e-2, 1e-11)) {
        memcpy(centre, core->r, (size_t)core->p * sizeof(double));
        int found = (delta > 1e-7 ? convex_step : convex_fine_step)(core, delta, centre);
        if (found < 0) {
            return 0;
        }
        memcpy(core->r, core->v[1], (size_t)core->p * sizeof(double));
        double error = core_evaluate(core);
        if (k >= 2 && error > 1e-6 && convex_runs_away(core, centre, core->r)) {
            return -1;
        }
        if (strict && !found && !(error < before)) {
            memcpy(core->r, centre, (size_t)core->p * sizeof(double));
            core_evaluate(core);
            return 0;
        }
        before = error;
        memcpy(core->keep, core->r, (size_t)core->p * sizeof(double));
        if (error <= 1e-3 || k >= 2) {
            if (convex_polish(core)) {
                return 1;
            }
            memcpy(core->r, core->keep, (size_t)core->p * sizeof(double));
            core_evaluate(core);
        }
    }
    return 0;
}

int core_admissible(gauss_core *core)
{
    int coulomb = core->coulomb;
    core->coulomb = 0;
    memset(core->r, 0, (size_t)core->p * sizeof(double));
    core_evaluate(core);
    core->patience = CORE_HASTY;
    int answer = convex_proximal(core, OUTER_LIMIT, 0);
    core->coulomb = coulomb;
    return answer;
}

/* Beside boxes most steps that are not found are worthless, and interior points find the solution;
 * without them wandering has solved problems whose multipliers are 1e9 (test/gauss/test_refine.c).
 */
static int has_boxes(const gauss_core *core)
{
    int found = 0;
    for (int k = 0; k < core->cone_count; k++) {
        found |= core_is_box(&core->cone[k]);
    }
    return found;
}

int core_convex(gauss_core *core, int thorough)
{
    int coulomb = core->coulomb, strict = has_boxes(core);
    core->coulomb = 0;
    core_evaluate(core);
    core->patience = CORE_HASTY;
    int answer = convex_proximal(core, thorough ? OUTER_LIMIT : 8, strict);
    core->patience = strict ? CORE_HASTY : CORE_PATIENT;
    if (answer == 0 && thorough) {
        answer = core_interior(core, 1e-9, convex_polish) ||
                 core_interior(core, 1e-12, convex_polish) ||
                 core_interior(core, 0.0, convex_polish);
    }
    if (answer == 0 && thorough) { /* the central multipliers diverge too */
        memset(core->keep, 0, (size_t)core->p * sizeof(double));
        answer = convex_runs_away(core, core->keep, core->r) ? -1 : 0;
    }
    core->coulomb = coulomb;
    return answer;
}

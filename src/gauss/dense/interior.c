/* An interior point method for the core problem: r and s = w + shift both inside the cone,
 * r o s -> 0 along the central path (Mehrotra's steps, Nesterov and Todd's scaling W).
 *
 * With x = B' r kept exact, one step solves (B B' + W^2) dr = W d - (w + shift - s), which is
 * Gauss's problem with equality rows B and compliance W^2. As everywhere it is factored by
 * reflections of [B W], so that B B' is never formed: that is what lets it follow the path where
 * the rows are nearly dependent and proximal steps stall.
 *
 * Where the admissible set has no interior (a pair of opposed inequalities) the central r is
 * infinite. A small compliance, `ridge`, keeps it finite; it perturbs w by ridge * r, which Newton
 * then removes.
 *
 * For Coulomb's law the shift follows the slip, step by step ("loose": the fixed point and the path
 * converge together). The last digits are left to Newton, tried each time the gap has shrunk
 * enough. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "gauss/dense/core.h"
#include "math/cone.h"
#include "math/dense/dense.h"
#include "math/dense/small.h"
#include "math/jordan.h"

enum { LIMIT = 80, N = ZW_CONE_ROWS };

/* w = (B B' + ridge) r + c, and the shift for Coulomb's law. */
static void interior_residual(gauss_core *core, double ridge)
{
    core_force(core, core->r, core->x);
    core_residual(core, core->x, core->w);
    dense_axpy(core->p, ridge, core->r, core->w);
    for (int k = 0; k < core->cone_count && core->coulomb; k++) {
        core->shift[k] = cone_tangent(core->cone[k].rows, core->w + core->cone[k].first);
    }
}

/* The columns of E after the rows of cone k: V with V V' = W W + ridge, lower triangular. */
static void interior_columns(gauss_core *core, double ridge, int k, const jordan_scaling *W)
{
    int at = core->cone[k].first, d = core->cone[k].rows, width = core->q + core->p;
    double square[N * N];
    for (int j = 0; j < d; j++) {
        double unit[N] = {0.0}, column[N];
        unit[j] = 1.0;
        jordan_apply(d, W, unit, column);
        jordan_apply(d, W, column, square + (long)j * d);
        square[j * d + j] += ridge;
    }
    small_cholesky(d, square, DBL_MIN);
    for (int i = 0; i < d; i++) {
        for (int j = 0; j <= i; j++) {
            core->E[(long)(at + i) * width + core->q + at + j] = square[i * d + j];
        }
    }
}

/* E = [B V], factored. 0 if r or s has left the cone. */
static int interior_factor(gauss_core *core, double ridge, double *s, jordan_scaling *W)
{
    int width = core->q + core->p;
    for (int i = 0; i < core->p; i++) {
        double *row = core->E + (long)i * width;
        memcpy(row, core->B + (long)i * core->stride, (size_t)core->q * sizeof *row);
        memset(row + core->q, 0, (size_t)core->p * sizeof *row);
    }
    for (int k = 0; k < core->cone_count; k++) {
        int at = core->cone[k].first, d = core->cone[k].rows;
        if (!jordan_scale(d, core->r + at, s + at, &W[k])) {
            return 0;
        }
        interior_columns(core, ridge, k, &W[k]);
    }
    core->rank =
        dense_lq(core->p, width, core->E, width, 0.0, core->pivot, core->beta, core->distance);
    core->factorizations++;
    core->iterations++;
    return core->rank == core->p;
}

/* dr and ds for the scaled right-hand side d (in place of which dr is not needed any more). */
static void interior_solve(gauss_core *core, const jordan_scaling *W, const double *s,
                           const double *d, double *dr, double *ds)
{
    int p = core->p, width = core->q + p;
    double *t = core->v[7];
    for (int k = 0; k < core->cone_count; k++) {
        int at = core->cone[k].first;
        jordan_apply(core->cone[k].rows, &W[k], d + at, ds + at); /* ds = W d for now */
    }
    for (int j = 0; j < p; j++) {
        const double *row = core->E + (long)j * width;
        int i = core->pivot[j];
        double defect = core->w[i] - s[i] + core->first_of[i];
        t[j] = (ds[i] - defect - dense_dot(j, row, t)) / row[j];
    }
    for (int j = p - 1; j >= 0; j--) {
        const double *row = core->E + (long)j * width;
        t[j] /= row[j];
        dense_axpy(j, -t[j], row, t);
    }
    for (int j = 0; j < p; j++) {
        dr[core->pivot[j]] = t[j];
    }
    for (int k = 0; k < core->cone_count; k++) { /* ds = W (d - W dr) */
        int at = core->cone[k].first, n = core->cone[k].rows;
        double u[N], v[N];
        jordan_apply(n, &W[k], dr + at, u);
        for (int i = 0; i < n; i++) {
            u[i] = d[at + i] - u[i];
        }
        jordan_apply(n, &W[k], u, v);
        memcpy(ds + at, v, (size_t)n * sizeof *v);
    }
}

static double interior_step(const gauss_core *core, const double *s, const double *dr,
                            const double *ds)
{
    double t = 1.0;
    for (int k = 0; k < core->cone_count; k++) {
        int at = core->cone[k].first, d = core->cone[k].rows;
        t = jordan_step(d, core->r + at, dr + at, t);
        t = jordan_step(d, s + at, ds + at, t);
    }
    return t;
}

/* The scaled right-hand side: lambda \ (sigma mu e - lambda o lambda - (W \ ds) o (W dr)). */
static void interior_aim(gauss_core *core, const jordan_scaling *W, double target, const double *dr,
                         const double *ds, double *d)
{
    for (int k = 0; k < core->cone_count; k++) {
        int at = core->cone[k].first, n = core->cone[k].rows;
        double y[N], u[N], v[N], z[N];
        jordan_product(n, W[k].lambda, W[k].lambda, y);
        for (int i = 0; i < n; i++) {
            y[i] = (i == 0 ? target : 0.0) - y[i];
        }
        if (dr != NULL) {
            jordan_apply(n, &W[k], dr + at, u);
            jordan_apply_inverse(n, &W[k], ds + at, v);
            jordan_product(n, u, v, z);
            for (int i = 0; i < n; i++) {
                y[i] -= z[i];
            }
        }
        jordan_divide(n, W[k].lambda, y, d + at);
    }
}

static void interior_start(gauss_core *core, double *s)
{
    double size = fmax(core->V, core->held);
    for (int k = 0; k < core->cone_count; k++) {
        int at = core->cone[k].first;
        for (int i = 0; i < core->cone[k].rows; i++) {
            core->r[at + i] = i == 0 ? size : 0.0;
            s[at + i] = i == 0 ? core->V : 0.0;
        }
    }
}

/* One predictor-corrector step; 0 on breakdown. */
static int interior_advance(gauss_core *core, double ridge, double *s, double *d, double *dr,
                            double *ds)
{
    int p = core->p;
    for (int k = 0; k < core->cone_count; k++) {
        for (int i = 0; i < core->cone[k].rows; i++) {
            core->first_of[core->cone[k].first + i] = i == 0 ? core->shift[k] : 0.0;
        }
    }
    double mu = dense_dot(p, core->r, s) / core->cone_count;
    if (!interior_factor(core, ridge, s, core->scaling)) {
        return 0;
    }
    interior_aim(core, core->scaling, 0.0, NULL, NULL, d);
    interior_solve(core, core->scaling, s, d, dr, ds);
    double t = interior_step(core, s, dr, ds), left = 0.0;
    for (int i = 0; i < p; i++) {
        left += (core->r[i] + t * dr[i]) * (s[i] + t * ds[i]);
    }
    double ratio = fmin(fmax(left / core->cone_count / mu, 0.0), 1.0);
    interior_aim(core, core->scaling, ratio * ratio * ratio * mu, dr, ds, d);
    interior_solve(core, core->scaling, s, d, dr, ds);
    t = fmin(1.0, 0.99 * interior_step(core, s, dr, ds));
    dense_axpy(p, t, dr, core->r);
    dense_axpy(p, t, ds, s);
    return isfinite(mu) && t > 1e-8;
}

/* Boxes are no cones: they are for the other methods. */
static int has_boxes(const gauss_core *core)
{
    for (int k = 0; k < core->cone_count; k++) {
        if (core->cone[k].low != 0.0 || core->cone[k].high != HUGE_VAL) {
            return 1;
        }
    }
    return 0;
}

int core_interior(gauss_core *core, double ridge, int (*polish)(gauss_core *core))
{
    if (has_boxes(core)) {
        return 0;
    }

    double *s = core->keep, *r = core->start, next = 1e-4;
    size_t bytes = (size_t)core->p * sizeof(double);
    interior_start(core, s);
    for (int k = 0; k < LIMIT && !core_spent(core); k++) {
        core_evaluate(core);
        interior_residual(core, ridge);
        double error = core->error;
        double gap = dense_dot(core->p, core->r, s) / (core->R * core->V * core->cone_count);
        if (error <= core->aim) {
            return 1;
        }
        if (gap < next || error < next) {
            next = fmin(next, fmax(gap, error)) * 1e-2;
            memcpy(r, core->r, bytes);
            if (polish(core)) {
                return 1;
            }
            memcpy(core->r, r, bytes);
            interior_residual(core, ridge);
        }
        if (!(gap > 1e-17) || !isfinite(error) ||
            !interior_advance(core, ridge, s, core->v[0], core->v[1], core->v[2])) {
            break;
        }
    }
    memcpy(r, core->r, bytes);
    if (polish(core)) {
        return 1;
    }
    core_evaluate(core);
    return 0;
}

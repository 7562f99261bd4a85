/* What all methods on the core problem share: evaluation and the strict residual.
 *
 * The strict residual of r is the natural map of De Saxce's form of the law,
 *
 *     | r - P_K( r - rho (w + |w_T| e_N) ) | / R,      rho = R / V,
 *
 * with R = |x| the size of the constraint force and V the size of the free violation; the convex
 * law has no shift. R is not taken from r, because internal forces could inflate it and hide an
 * error. Cones are measured as they were before equality.c stretched them. */
#include "gauss/dense/core.h"

#include <math.h>
#include <string.h>

#include "gauss/tolerances.h"
#include "math/cone.h"
#include "math/dense/dense.h"

double core_granted(const gauss_core *core, double size)
{
    return fmin(CORE_GRANTED * size, GAUSS_GRANTED_MOST * core->R);
}

int core_spent(gauss_core *core)
{
    const zw_gauss_options *options = core->options;
    core->stopped = core->stopped || (options->stop && options->stop(options->user));
    return core->stopped || (options->effort > 0 && core->factorizations >= options->effort);
}

/* The larger of the two; a NaN stays. */
static double core_worse(double worst, double error)
{
    return error > worst || error != error ? error : worst;
}

/* The part of cone k, of one row. */
static double core_natural_row(const gauss_core *core, int k, double rho, double r, double w)
{
    const gauss_cone *cone = &core->cone[k];
    double stretch = cone->stretch, step = rho / stretch;
    double u = w + (core->coulomb ? 0.0 : core->shift[k]), z = r * stretch - step * u;
    r *= stretch;
    double p = interval_nearest(cone->low * stretch, cone->high * stretch, z);
    double worst = fabs(r - p) - core_granted(core, fabs(r));
    return core_worse(core_worse(0.0, worst), step * interval_excess(cone->low, cone->high, u));
}

/* The part of cone k, of d rows. */
static inline double core_natural_cone(const gauss_core *core, int k, int d, double rho,
                                       const double *multipliers, const double *residual)
{
    double r[CONE_MAX] = {0.0}, u[CONE_MAX] = {0.0}, z[CONE_MAX] = {0.0}, p[CONE_MAX];
    double stretch = core->cone[k].stretch, step = rho / stretch, largest = 0.0, worst = 0.0;
    double shift = core->coulomb ? cone_tangent(d, residual) : core->shift[k];
    for (int i = 0; i < d; i++) {
        u[i] = residual[i] + (i == 0 ? shift : 0.0);
        r[i] = multipliers[i] * stretch;
        z[i] = r[i] - step * u[i];
        largest = core_worse(largest, fabs(r[i]));
    }
    cone_project(d, z, p);
    for (int i = 0; i < d; i++) {
        worst = core_worse(worst, fabs(r[i] - p[i]));
    }
    worst -= core_granted(core, largest);
    return core_worse(worst, step * cone_gap(d, u)); /* the cone admits u */
}

double core_natural(const gauss_core *core, const double *multipliers, const double *residual)
{
    double rho = core->R / core->V, worst = 0.0;
    for (int k = 0; k < core->cone_count; k++) {
        int at = core->cone[k].first, d = core->cone[k].rows;
        const double *r = multipliers + at, *w = residual + at;
        worst = core_worse(worst, d == 3   ? core_natural_cone(core, k, 3, rho, r, w)
                                  : d == 1 ? core_natural_row(core, k, rho, r[0], w[0])
                                           : core_natural_cone(core, k, d, rho, r, w));
    }
    return isfinite(worst) ? worst / core->R : HUGE_VAL;
}

void core_force(const gauss_core *core, const double *r, double *x)
{
    dense_multiply_transposed(core->p, core->q, core->B, core->stride, r, x);
}

void core_residual(const gauss_core *core, const double *x, double *w)
{
    memset(w, 0, (size_t)core->wide * sizeof *w);
    dense_combine(core->q, core->wide, x, 1, core->Bt, core->wide, w);
    for (int i = 0; i < core->p; i++) {
        w[i] += core->c[i];
    }
}

void core_size(gauss_core *core)
{
    double size = dense_norm(core->q, core->x);
    core->R = fmax(sqrt(core->held * core->held + size * size), GAUSS_SCALE_FLOOR * core->V);
}

double core_worst(gauss_core *core, const double *r, const double *w)
{
    core_size(core);
    return core->error = core_natural(core, r, w);
}

double core_evaluate(gauss_core *core)
{
    core_force(core, core->r, core->x);
    core_residual(core, core->x, core->w);
    return core_worst(core, core->r, core->w);
}

/* DOP853: twelve stages, order 8, error estimate from embedded methods of order 5 and 3.
 *
 * The step.  k_0 = f0 is known from the end of the step before; k_i = f(t0 + c_i h,
 * y0 + h sum_j a_ij k_j) for i = 1..11, and y1 = y0 + h sum_j a_12j k_j.
 *
 * The error. With E5 and E3 the differences to the embedded results, each the largest component in
 * units of the tolerance, the size is h E5^2 / sqrt(E5^2 + E3^2 / 100). E5 = O(h^5) and E3 = O(h^3)
 * before the factor h, so the size falls like h^8, as the error does; where E3 is small by chance,
 * E5 alone decides.
 *
 * Dense output.  With x = (t - t0) / h in [0, 1] and u = 1 - x,
 *
 *     y(x) = y0 + x (F0 + u (F1 + x (F2 + u (F3 + x (F4 + u (F5 + x F6))))))
 *
 *     F0 = y1 - y0     F1 = h f0 - F0     F2 = 2 F0 - h (f0 + f1)     F_3+i = h sum_j d_ij k_j
 *
 * It has the values y0, y1 and the slopes f0, f1 whatever F3 to F6 are. So if y1 has been projected
 * and f1 = k_12 is evaluated there, the interpolant matches the projected end and its slope; and
 * since the projection moved y1 by O(h^9) only, the order remains 7. k_13 to k_15 are computed when
 * dense output is first used in a step. */
#include "step/ode/dop853.h"
#include "step/ode/inner.h"

#include <math.h>
#include <string.h>

#define zw_real double
#define LANE(name) name
#define LANE_ZERO 0.0
#define LANE_PART static inline
#define LANE_CLONES
#define lane_select lane_select1
#define lane_abs fabs
#include "step/ode/dop853.lane.h"

static void dop853_layout(step_ode *ode, base_arena *arena)
{
    size_t n = (size_t)ode->n;
    ode->stage = base_arena_doubles(arena, STEP_DOP853_ALL * n);
    ode->dense = base_arena_doubles(arena, 7 * n);
}

/* k_s = f(t0 + c_s h, y0 + h sum_j a_sj k_j) */
static zw_status evaluate_stage(step_ode *ode, int s, double h, zw_error *error)
{
    step_dop853_argument(ode->n, s, &h, ode->stage, ode->y0, ode->low0, ode->trial);
    double t = ode->t0 + step_dop853_c[s] * h;
    return step_evaluate(ode, t, ode->trial, ode->stage + (long)s * ode->n, error);
}

double step_dop853_size(double h, double largest5, double largest3)
{
    if (largest5 == 0.0 || !isfinite(largest3)) {
        return largest5 == 0.0 ? 0.0 : largest3;
    }
    double ratio = 0.1 * largest3 / largest5;
    return fabs(h) * largest5 / sqrt(1.0 + ratio * ratio);
}

static zw_status dop853_attempt(step_ode *ode, double h, double *size, zw_error *error)
{
    memcpy(ode->stage, ode->f0, (size_t)ode->n * sizeof(double));
    for (int s = 1; s < STEP_DOP853_STAGES; s++) {
        zw_status status = evaluate_stage(ode, s, h, error);
        if (status != ZW_OK) {
            return status;
        }
    }
    double largest[3];
    step_dop853_sum(ode->n, STEP_DOP853_STAGES, step_dop853_a[STEP_DOP853_STAGES], &h, ode->stage,
                    ode->increment);
    step_dop853_error(ode->n, ode->option.tolerance, ode->weight, ode->stage, ode->y0,
                      ode->increment, largest);
    ode->base.view.culprit = (int)largest[2];
    *size = step_dop853_size(h, largest[0], largest[1]);
    return ZW_OK;
}

static zw_status dop853_prepare(step_ode *ode, zw_error *error)
{
    int n = ode->n;
    double *F = ode->dense;
    memcpy(ode->stage + (long)STEP_DOP853_STAGES * n, ode->f1, (size_t)n * sizeof(double));
    for (int s = STEP_DOP853_STAGES + 1; s < STEP_DOP853_ALL; s++) {
        zw_status status = evaluate_stage(ode, s, ode->h, error);
        if (status != ZW_OK) {
            return status;
        }
    }
    for (int i = 0; i < n; i++) {
        double rise = (ode->y1[i] - ode->y0[i]) + (ode->low1[i] - ode->low0[i]);
        F[i] = rise;
        F[n + i] = ode->h * ode->f0[i] - rise;
        F[2 * n + i] = 2.0 * rise - ode->h * (ode->f0[i] + ode->f1[i]);
    }
    for (int k = 0; k < 4; k++) {
        double *row = F + (long)(3 + k) * n;
        step_dop853_sum(n, STEP_DOP853_ALL, step_dop853_d[k], &ode->h, ode->stage, row);
    }
    return ZW_OK;
}

static void dop853_interpolate(const step_ode *ode, double x, double *y)
{
    int n = ode->n;
    const double *F = ode->dense;
    double u = 1.0 - x;
    for (int i = 0; i < n; i++) {
        double s = F[6 * n + i] * x + F[5 * n + i];
        s = s * u + F[4 * n + i];
        s = s * x + F[3 * n + i];
        s = s * u + F[2 * n + i];
        s = s * x + F[n + i];
        s = s * u + F[i];
        y[i] = ode->y0[i] + (ode->low0[i] + s * x);
    }
}

/* size^(1/32) by square roots, whose bits are the same everywhere. */
static double root32(double size)
{
    double r = fmin(fmax(size, 1e-10), 1e10);
    for (int i = 0; i < 5; i++) {
        r = sqrt(r);
    }
    return r;
}

/* Proportional and integral control: h grows by 0.9 size^(-3/32) last^(1/32), which for a steady
 * size is size^(-1/8 + 1/16): the exponents 0.75/8 and 0.25/8 damp the oscillation of plain
 * control. */
double step_dop853_growth(double last_size, double size)
{
    double r = root32(size);
    return 0.9 * root32(last_size) / (r * r * r);
}

static double dop853_grow(const step_ode *ode, double size)
{
    return step_dop853_growth(ode->last_size, size);
}

const step_scheme step_scheme_dop853 = {
    .name = "dop853",
    .adaptive = 1,
    .roots = 3,
    .layout = dop853_layout,
    .attempt = dop853_attempt,
    .prepare = dop853_prepare,
    .interpolate = dop853_interpolate,
    .grow = dop853_grow,
};

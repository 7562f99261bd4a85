/* The two classical fixed-step methods, and cubic Hermite interpolation.
 *
 * RK4: Kutta's classical method. Semi-implicit Euler for y = (q, v, rest):
 *
 *     v1 = v0 + h a(t0, q0, v0),    q1 = q0 + h v1,    rest1 = rest0 + h rest'(t0, y0)
 *
 * symplectic where a depends on q alone. Constraint forces in Cartesian coordinates grow with v^2,
 * and then it gains energy at its first order: a pendulum let go at 2 rad, with h = 0.01, turns at
 * 100 m/s after 20 s. If the field has q' different from v, the difference stays explicit: q1 = q0
 * + h (v1 + q'(t0, y0) - v0). Quaternions turn: q1 = q0 (+) h v1.
 *
 * Euler's step has errors of order h^2, which is more than some events can tolerate. A contact that
 * has just opened moves by c h^3 (its acceleration begins at zero), and its gap is changed by h^2
 * v' g'' v/2 if g is curved, for every h: Euler's method would close it again and again. So steps
 * in which an event seems to happen are repeated by RK4, which decides it.
 *
 * Between the ends both follow the cubic through y0, y1 with slopes f0, f1: of order 3 (error
 * O(h^4)), that is, as accurate as RK4 itself. With x = (t - t0)/h and u = 1 - x:
 *
 *     y(x) = y0 + x (r + u (u (h f0 - r) - x (h f1 - r))),    r = y1 - y0 */
#include "step/ode/inner.h"

#include <string.h>

/* ---- Hermite --------------------------------------------------------------------------------- */

zw_status step_hermite_prepare(step_ode *ode, zw_error *error)
{
    zw_status status = ZW_OK;
    if (!ode->f0_known) {
        status = step_evaluate(ode, ode->t0, ode->y0, ode->f0, error);
        ode->f0_known = status == ZW_OK;
    }
    if (status == ZW_OK && !ode->f1_known) {
        status = step_evaluate(ode, ode->t1, ode->y1, ode->f1, error);
        ode->f1_known = status == ZW_OK;
    }
    return status;
}

void step_hermite(const step_ode *ode, double x, double *y)
{
    double u = 1.0 - x;
    for (int i = 0; i < ode->n; i++) {
        double rise = (ode->y1[i] - ode->y0[i]) + (ode->low1[i] - ode->low0[i]);
        double left = ode->h * ode->f0[i] - rise, right = ode->h * ode->f1[i] - rise;
        double s = rise + u * left * u - u * right * x;
        y[i] = ode->y0[i] + (ode->low0[i] + x * s);
    }
}

static double fixed_grow(const step_ode *ode, double size)
{
    (void)ode;
    (void)size;
    return 1.0;
}

/* ---- RK4 ------------------------------------------------------------------------------------- */

static void rk4_layout(step_ode *ode, base_arena *arena)
{
    ode->stage = base_arena_doubles(arena, 4 * (size_t)ode->n);
}

static zw_status rk4_attempt(step_ode *ode, double h, double *size, zw_error *error)
{
    static const double c[4] = {0.0, 0.5, 0.5, 1.0};
    int n = ode->n;
    double *k = ode->stage;
    memcpy(k, ode->f0, (size_t)n * sizeof *k);
    for (int s = 1; s < 4; s++) {
        const double *before = k + (long)(s - 1) * n;
        for (int i = 0; i < n; i++) {
            ode->trial[i] = ode->y0[i] + (ode->low0[i] + c[s] * h * before[i]);
        }
        zw_status status =
            step_evaluate(ode, ode->t0 + c[s] * h, ode->trial, k + (long)s * n, error);
        if (status != ZW_OK) {
            return status;
        }
    }
    for (int i = 0; i < n; i++) {
        double outer = k[i] + k[3 * n + i], inner = k[n + i] + k[2 * n + i];
        ode->increment[i] = h * (outer + 2.0 * inner) / 6.0;
    }
    *size = 0.0;
    return ZW_OK;
}

const step_scheme step_scheme_rk4 = {
    .name = "rk4",
    .layout = rk4_layout,
    .attempt = rk4_attempt,
    .prepare = step_hermite_prepare,
    .interpolate = step_hermite,
    .grow = fixed_grow,
};

/* ---- Semi-implicit Euler --------------------------------------------------------------------- */

static zw_status euler_attempt(step_ode *ode, double h, double *size, zw_error *error)
{
    (void)error;
    int q = ode->option.positions;
    for (int i = q; i < ode->n; i++) {
        ode->increment[i] = h * ode->f0[i];
    }
    if (ode->option.move) {
        double *place = ode->trial, *speed = ode->trial + q;
        memcpy(place, ode->y0, (size_t)q * sizeof *place);
        for (int i = 0; i < ode->option.speeds; i++) {
            speed[i] = ode->y0[q + i] + (ode->low0[q + i] + ode->increment[q + i]);
        }
        ode->option.move(ode->option.user, place, h, speed);
        for (int i = 0; i < q; i++) {
            ode->increment[i] = place[i] - ode->y0[i];
        }
        *size = 0.0;
        return ZW_OK;
    }
    for (int i = 0; i < q; i++) {
        double other = ode->f0[i] - ode->y0[q + i]; /* q' - v: usually zero */
        double v = ode->y0[q + i] + (ode->low0[q + i] + ode->increment[q + i]);
        ode->increment[i] = h * (v + other);
    }
    *size = 0.0;
    return ZW_OK;
}

const step_scheme step_scheme_euler = {
    .name = "euler",
    .layout = rk4_layout,
    .attempt = euler_attempt,
    .prepare = step_hermite_prepare,
    .interpolate = step_hermite,
    .grow = fixed_grow,
    .sharper = &step_scheme_rk4,
};

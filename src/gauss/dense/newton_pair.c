/* Newton's method for the convex law, with the motion x and the multipliers r as unknowns of their
 * own.
 *
 * Where the rows are nearly dependent, r is so large that its round-off spoils w = B B' r + c, and
 * a method that uses only r cannot get below that. The step of newton_convex.c yields x by itself,
 * free of it. So the residual has two parts, the law and the equation of motion,
 *
 *     r - P_K(r - rho (w + shift)),  w = B x + c        and        x - B' r,
 *
 * each less the round-off of r and of B' r, as the certificate grants it. */
#include <math.h>
#include <string.h>

#include "gauss/dense/core.h"
#include "math/cone.h"
#include "math/dense/dense.h"

static const double PROX = 1e-15, CRAWL = 0.9;

/* Sum of squares of both parts; w = B x + c; `error` gets the strict residual. */
static double pair_merit(gauss_core *core, const double *x, const double *r, double *w,
                         double *error)
{
    double *force = core->y[1], *sizes = core->y[4], sum = 0.0, worst = 0.0;
    core_residual(core, x, w);
    core_force(core, r, force);
    memset(sizes, 0, (size_t)core->q * sizeof *sizes);
    for (int i = 0; i < core->p; i++) {
        if (r[i] != 0.0) {
            dense_axpy_size(core->q, r[i], core->B + (long)i * core->stride, sizes);
        }
    }
    for (int j = 0; j < core->q; j++) {
        double part = fmax(fabs(x[j] - force[j]) - core_granted(core, sizes[j]), 0.0);
        sum += part * part;
        worst = part > worst ? part : worst;
    }
    for (int k = 0; k < core->cone_count; k++) {
        int at = core->cone[k].first, d = core->cone[k].rows;
        double z[CONE_MAX] = {0.0}, p[CONE_MAX];
        for (int i = 0; i < d; i++) {
            z[i] = r[at + i] - core->rho * w[at + i];
        }
        z[0] -= core->rho * core->shift[k];
        core_project(&core->cone[k], z, p);
        double granted = core_granted(core, dense_largest(d, r + at));
        for (int i = 0; i < d; i++) {
            double part = fmax(fabs(r[at + i] - p[i]) - granted, 0.0);
            sum += part * part;
        }
    }
    *error = isfinite(sum) ? fmax(worst / core->R, core_natural(core, r, w)) : HUGE_VAL;
    return sum;
}

/* (x, r) moves towards (x_new, r_new) as far as the merit falls; 0 when it does not. */
static int pair_search(gauss_core *core, double *x, double *r, double *w, double *merit,
                       double *error)
{
    const double *x_new = core->pair, *r_new = core->v[1];
    double *x_try = core->y[0], *r_try = core->v[3], t = 1.0, next = 0.0;
    for (int cut = 0; cut < 12; cut++, t *= 0.5) {
        for (int i = 0; i < core->p; i++) {
            r_try[i] = t == 1.0 ? r_new[i] : r[i] + t * (r_new[i] - r[i]);
        }
        for (int j = 0; j < core->q; j++) {
            x_try[j] = t == 1.0 ? x_new[j] : x[j] + t * (x_new[j] - x[j]);
        }
        next = pair_merit(core, x_try, r_try, w, error);
        if (next <= (1.0 - 1e-3 * t) * *merit) {
            break;
        }
    }
    if (!isfinite(next) || !(next < 4.0 * *merit)) {
        return 0;
    }
    memcpy(r, r_try, (size_t)core->p * sizeof *r);
    memcpy(x, x_try, (size_t)core->q * sizeof *x);
    *merit = next;
    return 1;
}

int core_newton_pair(gauss_core *core, int limit)
{
    size_t p_bytes = (size_t)core->p * sizeof(double), q_bytes = (size_t)core->q * sizeof(double);
    double *r = core->v[0], *x = core->y[2], *w = core->v[4], *best_r = core->v[5],
           *best_x = core->y[3];
    double error = 0.0, prox = 1e-11;
    core_evaluate(core);
    core->rho = core->R / core->V;
    memcpy(r, core->r, p_bytes);
    memcpy(x, core->x, q_bytes);
    memcpy(best_r, r, p_bytes);
    memcpy(best_x, x, q_bytes);
    double merit = pair_merit(core, x, r, w, &error), best = error;
    for (int k = 0; k < limit && best > core->aim && !core_spent(core); k++) {
        core_newton_convex(core, core->rho, prox, r, w, core->v[1], core->pair);
        double before = merit;
        if (!pair_search(core, x, r, w, &merit, &error)) {
            if (prox > 1e-5 || best <= core->accept) {
                break;
            }
            prox *= 1e3; /* shorter steps, as Levenberg and Marquardt do */
            merit = pair_merit(core, x, r, w, &error);
            continue;
        }
        if (merit > CRAWL * before && best > core->accept && core->patience < CORE_PATIENT) {
            break; /* proximal steps will do better */
        }
        prox = prox * 1e-2 > PROX ? prox * 1e-2 : PROX;
        if (error < best) {
            best = error;
            memcpy(best_r, r, p_bytes);
            memcpy(best_x, x, q_bytes);
        }
        if (best <= core->accept && merit > 0.1 * before) {
            break; /* solved, and round-off is all that moves */
        }
    }
    memcpy(core->r, best_r, p_bytes);
    memcpy(core->x, best_x, q_bytes);
    core_residual(core, core->x, core->w);
    core->error = best;
    core->paired = 1;
    return core->error <= core->accept;
}

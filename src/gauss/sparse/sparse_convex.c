/* The convex law, sparse: proximal steps on the multipliers, each solved by Newton's method.
 *
 * As in convex.c, the proximal step around r_k is the smooth problem
 *
 *     minimise  1/2 x' M x - f . x + delta/2 | P_K(z) |^2,     z = r_k - (B x + c)/delta
 *
 * in x, here with the equality rows kept: every iterate (x, r_e) satisfies them. And as in
 * newton_convex.c, its Newton step is Gauss's own problem with equality rows: at z the projection
 * has the slope P = sum_j p_j u_j u_j', and direction by direction the linearised law is
 *
 *     u_j . r+ = 0                                                       where p_j = 0
 *     u_j . (B x+ + c) + ((1 - p_j)/(rho p_j) + prox) u_j . r+ = prox u_j . r_k     else.
 *
 * So K gets the rows u_j' B with that compliance, or a row out of play, and its pattern stays. The
 * answer is the pair (x+, r+): nothing is divided by delta.
 *
 * When delta is small enough, Newton steps on the law itself (rho = R/V, prox tiny, around r) take
 * the certificate down to round-off. If the multipliers run away instead, along d in K with B' d =
 * 0 and c . d < 0, nothing is admissible, and the blocks in d contradict each other. */
#include <math.h>
#include <string.h>

#include "gauss/sparse/sparse_cones.h"
#include "gauss/sparse/sparse_kkt.h"
#include "math/cone.h"
#include "math/dense/dense.h"
#include "math/search.h"

enum { INNER_LIMIT = 40, OUTER_LIMIT = 14, POLISH_LIMIT = 12 };

/* ---- One Newton step ----------------------------------------------------------------------- */

/* Direction u for row `first + j`: compliance, right-hand side. */
static void put_direction(gauss_sparse *s, const sparse_step *step, int k, int first, int d, int j,
                          const double *u, double compliance)
{
    double right = 0.0, *turn = s->turn + (long)(first - s->me + j) * CONE_MAX;
    double shift = s->bent ? dense_dot(d, s->slip + first - s->me, s->c + first) : s->shift[k];
    for (int i = 0; i < d; i++) {
        right -= u[i] * (s->c[first + i] + (i == 0 ? shift : 0.0));
        right += step->prox * u[i] * step->centre[first + i];
        turn[i] = u[i];
    }
    sparse_kkt_turned_row(s, first, d, j, u, compliance + step->prox + step->soft);
    s->rhs[s->q + first + j] = right;
}

static void put_nothing(gauss_sparse *s, int first, int j)
{
    memset(s->turn + (long)(first - s->me + j) * CONE_MAX, 0, CONE_MAX * sizeof(double));
    sparse_kkt_row_off(s, first + j);
    s->rhs[s->q + first + j] = 0.0;
}

/* The ray, the directions across the slip (one reflection takes e_1 to u), and nothing. */
static void put_between(gauss_sparse *s, const sparse_step *step, int k, int first, int d,
                        const double *z, double length)
{
    double u[CONE_MAX], ray[CONE_MAX], v[CONE_MAX], f = z[0] / length, square = 0.0;
    ray[0] = sqrt(0.5);
    for (int i = 1; i < d; i++) {
        u[i] = z[i] / length;
        ray[i] = u[i] * sqrt(0.5);
        v[i] = u[i] + (i == 1 ? (u[1] > 0.0 ? 1.0 : -1.0) : 0.0);
        square += v[i] * v[i];
    }
    put_direction(s, step, k, first, d, 0, ray, 0.0);
    for (int column = 2; column < d; column++) {
        double t[CONE_MAX] = {0.0};
        for (int i = 1; i < d; i++) {
            t[i] = (i == column ? 1.0 : 0.0) - 2.0 * v[i] * v[column] / square;
        }
        put_direction(s, step, k, first, d, column - 1, t,
                      (1.0 - f) / fmax((1.0 + f) * step->rho, 1e-300));
    }
    put_nothing(s, first, d - 1);
}

static void put_cone(gauss_sparse *s, const sparse_step *step, int k, int first, int d)
{
    double z[CONE_MAX] = {0.0}, length = 0.0;
    for (int i = 0; i < d; i++) {
        double w = s->w[first + i] + (i == 0 ? s->shift[k] : 0.0);
        z[i] = step->centre[first + i] - step->rho * (w + step->soft * step->centre[first + i]);
        length += i > 0 ? z[i] * z[i] : 0.0;
    }
    length = sqrt(length);
    if (s->off[first] || z[0] <= -length) {
        for (int j = 0; j < d; j++) {
            put_nothing(s, first, j);
        }
    } else if (z[0] >= length) {
        for (int j = 0; j < d; j++) {
            double u[CONE_MAX] = {0.0};
            u[j] = 1.0;
            put_direction(s, step, k, first, d, j, u, 0.0);
        }
    } else {
        put_between(s, step, k, first, d, z, length);
    }
}

/* r_new of the cone rows from the multipliers of the turned rows. */
void sparse_cones_turn_back(const zw_gauss_work *work, gauss_sparse *s, const double *sol,
                            double *r)
{
    for (int k = 0; k < work->cone_count; k++) {
        int at = work->cone[k].first, d = work->cone[k].rows;
        for (int i = 0; i < d; i++) {
            double sum = 0.0;
            for (int j = 0; j < d; j++) {
                sum -= s->turn[(long)(at + j) * CONE_MAX + i] * sol[s->q + s->me + at + j];
            }
            r[s->me + at + i] = sum;
        }
    }
}

void sparse_cones_put(const zw_gauss_work *work, gauss_sparse *s, const sparse_step *step)
{
    s->holds_equality = 0;
    memcpy(s->rhs, s->f, (size_t)s->q * sizeof(double));
    for (int e = 0; e < s->me; e++) {
        s->rhs[s->q + e] = s->off[e] ? 0.0 : -s->c[e];
    }
    for (int k = 0; k < work->cone_count; k++) {
        put_cone(s, step, k, s->me + work->cone[k].first, work->cone[k].rows);
    }
}

int sparse_cones_newton(zw_gauss_work *work, gauss_sparse *s, const sparse_step *step)
{
    sparse_cones_put(work, s, step);
    work->core.iterations++;
    if (!sparse_kkt_factor(work, s)) {
        return 0;
    }
    sparse_kkt_solve(s, s->rhs, s->sol);
    memcpy(s->x_new, s->sol, (size_t)s->q * sizeof(double));
    for (int e = 0; e < s->me; e++) {
        s->r_new[e] = s->off[e] ? 0.0 : -s->sol[s->q + e];
    }
    sparse_cones_turn_back(work, s, s->sol, s->r_new);
    return isfinite(dense_largest(s->m, s->r_new)) && isfinite(dense_largest(s->q, s->x_new));
}

void sparse_cones_residual(gauss_sparse *s, const double *x)
{
    sparse_rows_times(s, x, s->w);
    dense_axpy(s->m, 1.0, s->c, s->w);
}

void sparse_cones_project(const zw_gauss_work *work, const gauss_sparse *s, double *r)
{
    for (int k = 0; k < work->cone_count; k++) {
        double *part = r + s->me + work->cone[k].first;
        cone_project(work->cone[k].rows, part, part);
    }
}

/* ---- The proximal step --------------------------------------------------------------------- */

/* P_K(centre - (w + t dw)/delta) . dw */
static double pull(const zw_gauss_work *work, const gauss_sparse *s, const sparse_step *step,
                   const double *dw, double t)
{
    double sum = 0.0;
    for (int k = 0; k < work->cone_count; k++) {
        int at = s->me + work->cone[k].first, d = work->cone[k].rows;
        double z[CONE_MAX], p[CONE_MAX];
        for (int i = 0; i < d; i++) {
            double w = s->w[at + i] + t * dw[at + i] + (i == 0 ? s->shift[k] : 0.0);
            z[i] = step->centre[at + i] - step->rho * w;
        }
        cone_project(d, z, p);
        for (int i = 0; i < d && !s->off[at]; i++) {
            sum += p[i] * dw[at + i];
        }
    }
    return sum;
}

/* The step length towards (x_new, r_new) where the slope vanishes. */
static double search(const zw_gauss_work *work, gauss_sparse *s, const sparse_step *step)
{
    double *dx = s->y[0], *Mx = s->y[1], *force = s->y[2], *dw = s->v[0], *r = s->v[1];
    for (int j = 0; j < s->q; j++) {
        dx[j] = s->x_new[j] - s->x[j];
    }
    sparse_rows_times(s, dx, dw);
    double constant = 0.0, linear = 0.0;
    for (int part = 0; part < 2; part++) { /* M x - f - B_e' r_e, then its change */
        for (int p = 0; p < s->m; p++) {
            r[p] = p >= s->me ? 0.0 : part == 0 ? s->r[p] : s->r_new[p] - s->r[p];
        }
        sparse_rows_force(s, r, force);
        sparse_metric_times(s, part == 0 ? s->x : dx, Mx);
        for (int j = 0; j < s->q; j++) {
            *(part == 0 ? &constant : &linear) +=
                dx[j] * (Mx[j] - force[j] - (part == 0 ? s->f[j] : 0.0));
        }
    }
    double slope0 = constant - pull(work, s, step, dw, 0.0);
    bracket along = bracket_start(slope0);
    while (slope0 < 0.0 &&
           bracket_next(&along, constant + along.t * linear - pull(work, s, step, dw, along.t))) {
    }
    return along.t;
}

int sparse_cones_proximal(zw_gauss_work *work, gauss_sparse *s, double delta)
{
    sparse_step step = {.rho = 1.0 / delta, .prox = delta, .centre = s->centre};
    for (int k = 0; k < INNER_LIMIT; k++) {
        sparse_cones_residual(s, s->x);
        if (!sparse_cones_newton(work, s, &step)) {
            return 0;
        }
        double change = 0.0, size = fmax(dense_largest(s->q, s->x_new), s->V);
        for (int j = 0; j < s->q; j++) {
            change = fmax(change, fabs(s->x_new[j] - s->x[j]));
        }
        double t = change > 1e-12 * size ? search(work, s, &step) : 1.0;
        for (int j = 0; j < s->q; j++) {
            s->x[j] += t * (s->x_new[j] - s->x[j]);
        }
        for (int e = 0; e < s->me; e++) {
            s->r[e] += t * (s->r_new[e] - s->r[e]);
        }
        if (!(change > 1e-11 * size)) {
            break;
        }
    }
    memcpy(s->r, s->r_new, (size_t)s->m * sizeof(double));
    memcpy(s->x, s->x_new, (size_t)s->q * sizeof(double));
    sparse_cones_project(work, s, s->r);
    return 1;
}

/* ---- The law ------------------------------------------------------------------------------- */

/* R, the size of the constraint force of r. */
double sparse_cones_force(gauss_sparse *s, const double *r)
{
    sparse_rows_force(s, r, s->y[0]);
    double R = dense_largest(s->q, s->y[0]);
    return R > 0.0 ? R : s->V;
}

/* Newton steps on the law itself from (x, r); the best by the certificate stays. Returns its worst.
 */
static double polish(const zw_gauss *problem, zw_gauss_work *work, const double *C, double aim,
                     double error)
{
    gauss_sparse *s = work->sparse;
    size_t columns = (size_t)s->q * sizeof(double), rows = (size_t)s->m * sizeof(double);
    double *x = s->best, *r = s->best + s->q;
    memcpy(x, s->x, columns);
    memcpy(r, s->r, rows);
    for (int k = 0, failed = 0; k < POLISH_LIMIT && error > aim && failed < 3; k++) {
        memcpy(s->centre, s->r, rows);
        sparse_step step = {.rho = sparse_cones_force(s, s->r) / s->V,
                            .prox = failed > 1 ? 1e-9 : 1e-12,
                            .centre = s->centre};
        sparse_cones_residual(s, s->x);
        if (!sparse_cones_newton(work, s, &step)) {
            break;
        }
        memcpy(s->x, s->x_new, columns);
        memcpy(s->r, s->r_new, rows);
        double next = sparse_judge(problem, ZW_CONVEX, work, C, s->x, s->r);
        failed = next < 0.5 * error ? 0 : failed + 1;
        if (next < error) {
            error = next;
            memcpy(x, s->x, columns);
            memcpy(r, s->r, rows);
        }
    }
    memcpy(s->x, x, columns);
    memcpy(s->r, r, rows);
    return error;
}

zw_status sparse_convex_solve(const zw_gauss *problem, zw_gauss_work *work, const double *C,
                              double aim, int warm)
{
    gauss_sparse *s = work->sparse;
    double delta = warm ? 1e-3 : 1e-2, error = HUGE_VAL;
    for (int k = 0; k < OUTER_LIMIT; k++, delta = fmax(delta * 1e-2, 1e-11)) {
        memcpy(s->centre, s->r, (size_t)s->m * sizeof(double));
        for (int p = s->me; p < s->m && k == 0 && !warm; p++) {
            s->centre[p] = 0.0;
        }
        if (!sparse_cones_proximal(work, s, delta)) {
            return ZW_INACCURATE;
        }
        error = sparse_judge(problem, ZW_CONVEX, work, C, s->x, s->r);
        if (k >= 2 && error > 1e-6 && sparse_cones_run_away(problem, work, s, delta)) {
            return ZW_CONFLICT;
        }
        if (k >= 1 || error < 1e-4) {
            error = polish(problem, work, C, 1e-3 * aim, error);
        }
        if (error <= 0.1 * aim) {
            return ZW_OK;
        }
    }
    return error <= aim ? ZW_OK : ZW_INACCURATE;
}

zw_status sparse_convex(const zw_gauss *problem, const zw_gauss_options *options,
                        zw_gauss_work *work, const double *C, int warm)
{
    gauss_sparse *s = work->sparse;
    memset(s->shift, 0, (size_t)work->cone_count * sizeof(double));
    zw_status status = sparse_convex_solve(problem, work, C, options->tolerance, warm);
    if (status == ZW_CONFLICT) {
        sparse_cones_conflict(problem, work, s);
    }
    return status;
}

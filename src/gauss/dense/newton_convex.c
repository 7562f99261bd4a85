/* The Newton step of the convex law is Gauss's own problem with equality rows.
 *
 * At z = centre - rho (w + shift) the projection has the slope P = sum_j p_j u_j u_j', 0 <= p_j <=
 * 1, and P z = P_K(z) because the cone is a cone. So the linearised law r+ = P (r+ - rho (w+ +
 * shift)) reads, direction by direction,
 *
 *     u_j . r+ = 0                                         where p_j = 0
 *     u_j . (w+ + shift) + (1 - p_j)/(rho p_j) u_j . r+ = 0     else:
 *
 * an equality row G_j = u_j' B with a compliance. These rows are factored by reflections,
 * compliances as extra columns (see work.h), so nothing is squared and rows that are parallel to
 * eight digits are still distinguished.
 *
 * `prox` adds a compliance around `centre`: it decides between the many r of dependent rows, and
 * keeps the step bounded where the rows contradict each other for the moment. With rho = 1/prox
 * this is the Newton step of the proximal problem of convex.c; with a tiny prox around r itself,
 * that of the law.
 *
 * The same step for the changes, from r and w: with dx = t + B' (dr of the pushing directions),
 *
 *     u_j . dr = -u_j . r                                                where p_j = 0
 *     u_j . B dx + (k_j + prox) u_j . dr = -u_j . (w + shift + k_j r)    else, k_j the compliance:
 *
 * the first kind is known at once, and its push goes into t. Here nothing is as large as r or c,
 * and round-off is relative to the change. refine.c depends on it. */
#include <math.h>
#include <string.h>

#include "gauss/dense/core.h"
#include "math/cone.h"
#include "math/dense/dense.h"

typedef struct convex_step {
    double rho, prox;
    const double *centre;
    const double *w; /* for the change: the residual at the centre; NULL: for the whole */
    const double *t; /* and what of x, or of its change, is known already */
} convex_step;

/* One direction of one cone: row G_j of E, its compliance, its right-hand side. */
static void add_direction(gauss_core *core, const convex_step *step, int k, const double *u,
                          double compliance, int j)
{
    int at = core->cone[k].first, d = core->cone[k].rows, width = core->q + core->p;
    double *row = core->E + (long)j * width, right = 0.0;
    memset(row, 0, (size_t)width * sizeof *row);
    for (int i = 0; i < d; i++) {
        if (u[i] != 0.0) {
            dense_axpy(core->q, u[i], core->B + (long)(at + i) * core->stride, row);
            right -= u[i] * (core->c[at + i] + (i == 0 ? core->shift[k] : 0.0));
            right += step->prox * u[i] * step->centre[at + i];
        }
        core->direction[(long)j * CONE_MAX + i] = u[i];
    }
    double known = dense_dot(core->q, row, step->t);
    right -= known;
    if (step->w != NULL) {
        right = -known;
        for (int i = 0; i < d; i++) {
            right -= u[i] * (step->w[at + i] + (i == 0 ? core->shift[k] : 0.0));
            right -= compliance * u[i] * step->centre[at + i];
        }
    }
    row[core->q + j] = sqrt(compliance + step->prox);
    core->v[6][j] = right;
    core->active[j] = k;
}

/* The directions across the slip u of a cone that slides: an orthonormal basis of its complement in
 * the tangent space, by one reflection. */
static int add_across(gauss_core *core, const convex_step *step, int k, const double *u,
                      double compliance, int j)
{
    int d = core->cone[k].rows;
    double v[CONE_MAX], sign = u[1] > 0.0 ? 1.0 : -1.0, square = 0.0;
    for (int i = 1; i < d; i++) {
        v[i] = u[i] + (i == 1 ? sign : 0.0);
        square += v[i] * v[i];
    }
    for (int column = 2; column < d; column++) {
        double t[CONE_MAX] = {0.0};
        for (int i = 1; i < d; i++) {
            t[i] = (i == column ? 1.0 : 0.0) - 2.0 * v[i] * v[column] / square;
        }
        add_direction(core, step, k, t, compliance, j++);
    }
    return j;
}

static int add_cone(gauss_core *core, const convex_step *step, int k, const double *z, int j)
{
    int d = core->cone[k].rows;
    double length = 0.0, p;
    if (d == 1 && core_project(&core->cone[k], z, &p) == CONE_OUTSIDE) {
        return j;
    }
    for (int i = 1; i < d; i++) {
        length += z[i] * z[i];
    }
    length = sqrt(length);
    if (d > 1 && z[0] <= -length) {
        return j;
    }
    if (d == 1 || z[0] >= length) {
        for (int i = 0; i < d; i++) {
            double u[CONE_MAX] = {0.0};
            u[i] = 1.0;
            add_direction(core, step, k, u, 0.0, j++);
        }
        return j;
    }
    double u[CONE_MAX], ray[CONE_MAX], f = z[0] / length;
    ray[0] = sqrt(0.5);
    for (int i = 1; i < d; i++) {
        u[i] = z[i] / length;
        ray[i] = u[i] * sqrt(0.5);
    }
    add_direction(core, step, k, ray, 0.0, j++);
    return add_across(core, step, k, u, (1.0 - f) / ((1.0 + f) * step->rho), j);
}

/* Where the projection is linearised. */
static void cone_at(const gauss_core *core, const convex_step *step, const double *w, int k,
                    double *z)
{
    int at = core->cone[k].first;
    for (int i = 0; i < core->cone[k].rows; i++) {
        z[i] = step->centre[at + i] - step->rho * w[at + i];
    }
    z[0] -= step->rho * core->shift[k];
}

/* All directions of all cones, factored; r += the multipliers along them, x = what they push. */
static void solve_step(gauss_core *core, const convex_step *step, const double *w, double *r,
                       double *x)
{
    int rows = 0, width = core->q + core->p;
    for (int k = 0; k < core->cone_count; k++) {
        double z[CONE_MAX] = {0.0};
        cone_at(core, step, w, k, z);
        rows = add_cone(core, step, k, z, rows);
    }
    /* E = [L 0] Q', then s = L' \ (L \ right) */
    double *s = core->v[7];
    int rank = dense_lq(rows, width, core->E, width, 0.0, core->pivot, core->beta, core->distance);
    for (int j = 0; j < rank; j++) {
        const double *row = core->E + (long)j * width;
        s[j] = (core->v[6][core->pivot[j]] - dense_dot(j, row, s)) / row[j];
    }
    if (x != NULL) { /* x = Q (s, 0) */
        memset(x, 0, (size_t)width * sizeof *x);
        memcpy(x, s, (size_t)rank * sizeof *x);
        dense_lq_apply(rank, width, core->E, width, core->beta, x);
    }
    for (int j = rank - 1; j >= 0; j--) {
        const double *row = core->E + (long)j * width;
        s[j] /= row[j];
        dense_axpy(j, -s[j], row, s);
    }
    for (int j = 0; j < rank; j++) {
        int from = core->pivot[j], k = core->active[from], at = core->cone[k].first;
        for (int i = 0; i < core->cone[k].rows; i++) {
            r[at + i] += s[j] * core->direction[(long)from * CONE_MAX + i];
        }
    }
    core->factorizations++;
    core->iterations++;
}

void core_newton_convex(gauss_core *core, double rho, double prox, const double *centre,
                        const double *w, double *r, double *x)
{
    double *t = core->y[4];
    convex_step step = {.rho = rho, .prox = prox, .centre = centre, .t = t};
    memset(r, 0, (size_t)core->p * sizeof *r);
    memset(t, 0, (size_t)core->q * sizeof *t);
    for (int k = 0; k < core->cone_count; k++) { /* what is at an end of its box stays there */
        int at = core->cone[k].first;
        double z[CONE_MAX], p[CONE_MAX];
        cone_at(core, &step, w, k, z);
        if (core->cone[k].rows == 1 && core_project(&core->cone[k], z, p) == CONE_OUTSIDE &&
            p[0] != 0.0) {
            r[at] = p[0];
            dense_axpy(core->q, p[0], core->B + (long)at * core->stride, t);
        }
    }
    solve_step(core, &step, w, r, x);
    if (x != NULL) {
        dense_axpy(core->q, 1.0, t, x);
    }
}

/* dr of the directions in which a cone has no force: u . (r + dr) = 0, or the end of the box; t +=
 * B' dr. */
static void release(gauss_core *core, const convex_step *step, int k, double *dr, double *t)
{
    int at = core->cone[k].first, d = core->cone[k].rows;
    double z[CONE_MAX] = {0.0}, away[CONE_MAX] = {0.0}, end[CONE_MAX] = {0.0}, part = 0.0;
    cone_at(core, step, step->w, k, z);
    double length = cone_tangent(d, z);
    cone_side side = core_project(&core->cone[k], z, end);
    if (side == CONE_INSIDE) {
        return;
    }
    int open = side == CONE_OUTSIDE;
    for (int i = 0; i < d && !open; i++) { /* across the surface, inwards */
        away[i] = i == 0 ? sqrt(0.5) : -z[i] / length * sqrt(0.5);
        part += away[i] * step->centre[at + i];
    }
    for (int i = 0; i < d; i++) {
        dr[at + i] = open ? end[i] - step->centre[at + i] : -part * away[i];
        dense_axpy(core->q, dr[at + i], core->B + (long)(at + i) * core->stride, t);
    }
}

void core_newton_change(gauss_core *core, double rho, double prox, const double *r, const double *w,
                        double *t, double *dr, double *dx)
{
    convex_step step = {.rho = rho, .prox = prox, .centre = r, .w = w, .t = t};
    memset(dr, 0, (size_t)core->p * sizeof *dr);
    for (int k = 0; k < core->cone_count; k++) {
        release(core, &step, k, dr, t);
    }
    solve_step(core, &step, w, dr, dx);
    dense_axpy(core->q, 1.0, t, dx);
}

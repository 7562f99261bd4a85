/* Sweeps over the contacts, block after block (Gauss and Seidel): each moves its multipliers to its
 * own law while all others are fixed,
 *
 *     r_N = max(0, r_N - w_N / W_N),   r_T = the nearest to r_T - w_T / W_T with |r_T| <= r_N,
 *
 * and the bodies that it acts on move on at once. Sweeps act locally, alone they need thousands to
 * carry a load down a tower; but nothing finds the modes of contacts faster, and they can be
 * accelerated: sparse_prox_anderson.c.
 *
 * The certificate (certificate.c) of what they have reached costs as much as eight of them, because
 * it is computed from the rows as they were given. Here the balance M x = J' r holds by itself, so
 * that many_error needs w only, in the tables' numbers and with the same scales: about one sweep.
 * It says when a certificate is worth its price, and decides nothing else. */
#include <math.h>
#include <string.h>

#include "gauss/contact/sparse_prox_table.h"
#include "gauss/tolerances.h"
#include "math/cone.h"
#include "math/lane.h"

enum { SIX = 6 }; /* unknowns of a free body */

static inline double larger(double x, double y)
{
    return x > y ? x : y;
}

#define PART static inline __attribute__((always_inline))

/* U = U \ 1 of a positive definite U, by Gauss and Jordan, in place. 0: it is not. */
PART int invert(int n, double *U)
{
    for (int k = 0; k < n; k++) {
        double pivot = U[k * n + k];
        if (!(pivot > 0)) {
            return 0;
        }
        U[k * n + k] = 1;
        for (int j = 0; j < n; j++) {
            U[k * n + j] /= pivot;
        }
        for (int i = 0; i < n; i++) {
            double part = U[i * n + k];
            if (i == k) {
                continue;
            }
            U[i * n + k] = 0;
            for (int j = 0; j < n; j++) {
                U[i * n + j] -= part * U[k * n + j];
            }
        }
    }
    return 1;
}

/* The inverse of each node's M in U. 0: nodes are coupled, or M is not positive definite. */
ZW_CLONES
static int invert_metric(many_table *t)
{
    int sound = 1;
    memset(t->U, 0, t->squares * sizeof *t->U);
    for (int k = 0; k < t->entries; k++) {
        const many_entry *e = &t->entry[k];
        int node = t->node_of_position[e->i];
        if (node != t->node_of_position[e->j]) {
            return 0;
        }
        int i = e->i - t->at[node], j = e->j - t->at[node], n = t->size[node];
        double *U = t->U + t->U_at[node];
        U[i * n + j] += e->value;
        if (i != j) {
            U[j * n + i] += e->value;
        }
    }
    for (int k = 0; k < t->nodes && sound; k++) {
        double *U = t->U + t->U_at[k];
        sound = t->size[k] == SIX ? invert(SIX, U) : invert(t->size[k], U);
    }
    return sound;
}

/* to = J M^-1 of one row and node; J M^-1 J'. */
PART double weigh(int n, const double *J, const double *U, double *to)
{
    double sum = 0;
    for (int j = 0; j < n; j++) {
        to[j] = 0;
    }
    for (int i = 0; i < n; i++, U += n) {
        for (int j = 0; j < n; j++) {
            to[j] += J[i] * U[j];
        }
    }
    for (int j = 0; j < n; j++) {
        sum += J[j] * to[j];
    }
    return sum;
}

ZW_CLONES
int many_table_sweeps(many_table *t)
{
    t->six = 1;
    for (int k = 0; k < t->nodes; k++) {
        t->six &= t->size[k] == SIX;
    }
    if (!invert_metric(t)) {
        return 0;
    }
    for (int k = 0; k < t->units; k++) {
        const many_unit *u = &t->unit[k];
        double *W = t->W + 2 * k;
        W[0] = W[1] = 0;
        for (int i = 0; i < u->d; i++) {
            double sum = 0;
            for (int p = u->part; p < u->part + u->parts; p++) {
                int node = t->part[p].node, n = t->size[node];
                size_t at = t->part[p].J + (size_t)(i * n);
                const double *U = t->U + t->U_at[node];
                sum += n == SIX ? weigh(SIX, t->J + at, U, t->MJ + at)
                                : weigh(n, t->J + at, U, t->MJ + at);
            }
            W[i > 0] = larger(W[i > 0], sum + u->give);
        }
        for (int p = u->part; p < u->part + u->parts && t->six && u->d == 3; p++) {
            const double *J = t->J + t->part[p].J;
            for (int j = 0; j < SIX; j++) {
                t->JT[SIX * p + j] = (many_four){J[j], J[SIX + j], J[2 * SIX + j], 0};
            }
        }
    }
    return 1;
}

/* y += s J M^-1 of one unit for one node. */
PART void push_node(int d, int n, const double *s, const double *row, double *y)
{
    for (int i = 0; i < d; i++, row += n) {
        for (int j = 0; j < n; j++) {
            y[j] += s[i] * row[j];
        }
    }
}

/* x += s J M^-1 of one unit. */
static void move(const many_table *t, const many_unit *u, const double *s, double *x)
{
    for (int p = u->part; p < u->part + u->parts; p++) {
        int node = t->part[p].node;
        push_node(u->d, t->size[node], s, t->MJ + t->part[p].J, x + t->at[node]);
    }
}

void many_motion(const many_table *t, const double *r, double *x)
{
    memset(x, 0, (size_t)t->n * sizeof *x);
    for (int k = 0; k < t->units; k++) {
        move(t, &t->unit[k], r + t->unit[k].first, x);
    }
}

/* Row i of w, before and beyond the free motion. */
static double look(const many_table *t, const many_unit *u, int i, const double *x)
{
    double w = t->c[u->first + i];
    for (int p = u->part; p < u->part + u->parts; p++) {
        int node = t->part[p].node, size = t->size[node];
        const double *J = t->J + t->part[p].J + (size_t)(i * size), *y = x + t->at[node];
        double sum = 0;
        for (int j = 0; j < size; j++) {
            sum += J[j] * y[j];
        }
        w += sum;
    }
    return w;
}

/* Moves the d multipliers r of a unit to its law at w; step: what that adds to them. 0: it is open,
 * and was. */
PART int settle(const many_unit *u, const double *W, int d, const double *w, double *r,
                double *step)
{
    double size = 0;
    step[0] = r[0] - (W[0] > 0 ? (w[0] + u->give * r[0]) / W[0] : 0);
    if (!(step[0] > u->low)) {
        if (r[0] == u->low) {
            return 0;
        }
        step[0] = u->low;
    }
    step[0] = step[0] < u->high ? step[0] : u->high;
    for (int i = 1; i < d; i++) {
        step[i] = r[i] - (W[1] > 0 ? w[i] / W[1] : 0);
        size += step[i] * step[i];
    }
    double share = size > step[0] * step[0] ? step[0] / sqrt(size) : 1;
    for (int i = 0; i < d; i++) {
        double to = i > 0 ? share * step[i] : step[i];
        step[i] = to - r[i];
        r[i] = to;
    }
    return 1;
}

/* A unit of any size. */
static void settle_any(const many_table *t, const many_unit *u, const double *W, double *r,
                       double *x)
{
    double w[MANY_ROWS], step[MANY_ROWS];
    for (int i = 0; i < u->d; i++) {
        w[i] = look(t, u, i, x);
    }
    if (settle(u, W, u->d, w, r + u->first, step)) {
        move(t, u, step, x);
    }
}

/* A contact of free bodies, which is what there is most of: its three rows side by side, in the
 * order of sums of settle_any. */
PART void settle_three(const many_table *t, const many_unit *u, const double *W, double *r,
                       double *x)
{
    const double *c = t->c + u->first;
    many_four sum = {c[0], c[1], c[2], 0};
    double w[4], step[3];
    for (int p = u->part; p < u->part + u->parts; p++) {
        const double *y = x + SIX * t->part[p].node;
        const many_four *J = t->JT + SIX * p;
        many_four part = J[0] * y[0];
        for (int j = 1; j < SIX; j++) {
            part += J[j] * y[j];
        }
        sum += part;
    }
    memcpy(w, &sum, sizeof w);
    if (settle(u, W, 3, w, r + u->first, step)) {
        for (int p = u->part; p < u->part + u->parts; p++) {
            push_node(3, SIX, step, t->MJ + t->part[p].J, x + SIX * t->part[p].node);
        }
    }
}

PART void settle_unit(const many_table *t, int k, double *r, double *x)
{
    const many_unit *u = &t->unit[k];
    if (u->d == 3 && t->six) {
        settle_three(t, u, t->W + 2 * k, r, x);
    } else {
        settle_any(t, u, t->W + 2 * k, r, x);
    }
}

ZW_CLONES
void many_sweep(const many_table *t, double *r, double *x)
{
    for (int k = 0; k < t->units; k++) {
        settle_unit(t, k, r, x);
    }
    for (int k = t->units - 1; k >= 0; k--) {
        settle_unit(t, k, r, x);
    }
}

/* ---- The error ------------------------------------------------------------------------------- */

/* w of a cone with De Saxce's shift, in the units of the certificate. */
static void shift(const many_unit *u, const double *w, double *y)
{
    for (int i = 0; i < u->d; i++) {
        y[i] = u->scale * w[i];
    }
    y[0] += u->is_convex ? 0 : cone_tangent(u->d, y);
}

/* By how much one unit is off its law, given the sizes of forces and of residuals. */
static double unit_error(const many_unit *u, const double *r, const double *w, double R, double V)
{
    double scale = u->scale, y[MANY_ROWS] = {0}, z[MANY_ROWS] = {0}, off = 0, rho = R / V;
    if (u->d == 1) {
        double push = r[0] / scale, speed = scale * (w[0] + u->give * r[0]);
        double low = u->low / scale, high = u->high / scale;
        off = fabs(push - interval_nearest(low, high, push - rho * speed)) / R;
        return larger(off, interval_excess(low, high, speed) / V);
    }
    shift(u, w, y);
    for (int i = 0; i < u->d; i++) {
        z[i] = r[i] / scale - rho * y[i];
    }
    double outside = cone_gap(u->d, y) / V;
    cone_project(u->d, z, z);
    for (int i = 0; i < u->d; i++) {
        off = larger(off, fabs(r[i] / scale - z[i]));
    }
    return larger(off / R, outside);
}

void many_table_scales(many_table *t, const double *free, double *Mx)
{
    t->carried = t->broken = 0;
    many_metric_times(t, free, Mx);
    for (int j = 0; j < t->n; j++) {
        double unit = sqrt(t->mass[j]);
        t->carried = larger(t->carried, larger(fabs(Mx[j]) / unit, fabs(free[j]) * unit));
    }
    for (int k = 0; k < t->units; k++) {
        many_unit *u = &t->unit[k];
        double least = u->d > 1 && u->tangent > 0 ? fmin(u->normal, u->tangent) : u->normal;
        u->scale = least > 0 ? sqrt(least) : 1;
        double y[MANY_ROWS] = {0}, scale = u->scale, w = scale * t->c[u->first];
        if (u->d == 1) {
            t->broken = larger(t->broken, fabs(interval_gap(u->low, u->high, w)));
        } else {
            for (int i = 0; i < u->d; i++) {
                y[i] = scale * t->c[u->first + i];
            }
            t->broken = larger(t->broken, cone_gap(u->d, y));
        }
    }
}

double many_error(const many_table *t, const double *x, const double *r, double *Mx, double *w)
{
    double R = 0, V = t->broken, error = 0;
    many_metric_times(t, x, Mx);
    for (int j = 0; j < t->n; j++) {
        R = larger(R, Mx[j] * Mx[j] * t->ease[j]);
    }
    R = sqrt(R) + GAUSS_SCALE_FLOOR * t->carried;
    many_rows_times(t, x, w);
    for (int k = 0; k < t->units; k++) {
        const many_unit *u = &t->unit[k];
        double scale = u->scale, size = 0;
        int pushes = fabs(r[u->first]) > GAUSS_PUSHES * R * scale;
        for (int i = u->first; i < u->first + u->d; i++) {
            w[i] += t->c[i];
            size = larger(size, scale * fabs(w[i]));
        }
        V = larger(V, pushes ? size : 0);
    }
    V += GAUSS_SCALE_FLOOR * R;
    for (int k = 0; k < t->units && R > 0; k++) {
        const many_unit *u = &t->unit[k];
        error = larger(error, unit_error(u, r + u->first, w + u->first, R, V));
    }
    return isfinite(error) ? error : HUGE_VAL;
}

/* The action of a piecewise linear path, and its derivatives.
 *
 * On interval k the speed is u = (x_k+1 - x_k)/h and the position the midpoint m = (x_k + x_k+1)/2.
 * With Lambda = L + lambda Phi + rho/2 Phi^2 at (m, u), mu = lambda + rho Phi and G = L + mu Phi
 * (mu held), the first derivatives of Lambda are those of G, the second
 *
 *     Lambda_xx = G_xx + rho Phi_x Phi_x'.
 *
 * By the chain rule, with d/dx_k = 1/2 d/dm - 1/h d/du and d/dx_k+1 = 1/2 d/dm + 1/h d/du, they are
 * distributed to the nodes. Holonomic rows are imposed at the nodes: at midpoints they would admit
 * paths that zigzag about them. */
#include <math.h>
#include <string.h>

#include "path/reach/reach_least.h"

/* Midpoint and speed of interval k. */
static double place_on(const reach_path *path, const double *x, int k)
{
    const double *a = x + (long)k * path->n, *b = a + path->n;
    for (int i = 0; i < path->n; i++) {
        path->q[i] = 0.5 * (a[i] + b[i]);
        path->v[i] = (b[i] - a[i]) / path->h;
    }
    return path->start + (k + 0.5) * path->h;
}

static double penalty(int rows, const double *g, const double *lambda, double rho)
{
    double sum = 0;
    for (int s = 0; s < rows; s++) {
        sum += g[s] * (lambda[s] + 0.5 * rho * g[s]);
    }
    return sum;
}

double reach_action(reach *r, reach_path *path, const double *x)
{
    double sum = 0;
    for (int k = 0; k < path->K; k++) {
        double t = place_on(path, x, k);
        if (!reach_terms_value(&r->interval, t, path->q, path->v)) {
            return NAN;
        }
        const double *f = r->interval.f;
        sum +=
            f[0] + penalty(path->speeds, f + 1, path->lambda + (long)k * path->speeds, path->rho);
    }
    for (int k = 1; k <= path->K && path->places > 0; k++) {
        double t = path->start + k * path->h;
        if (!reach_terms_value(&r->node, t, x + (long)k * path->n, path->v)) {
            return NAN;
        }
        sum += penalty(path->places, r->node.f + 1, path->kappa + (long)k * path->places,
                       path->rho_place);
    }
    return path->h * sum;
}

/* W = Lambda_xx, full; returns Lambda_x in terms->out by G_index. */
static int second(reach_terms *terms, double t, const double *q, const double *v,
                  const double *lambda, double rho, double *mu, double *W)
{
    int two = 2 * terms->n;
    if (!reach_terms_value(terms, t, q, v)) {
        return 0;
    }
    for (int s = 0; s < terms->rows; s++) {
        mu[s] = lambda[s] + rho * terms->f[s + 1];
    }
    if (!reach_terms_derive(terms, t, q, v, mu)) {
        return 0;
    }
    const double *dg = terms->out + terms->G_count, *H = dg + terms->g_start[terms->rows];
    memset(W, 0, (size_t)two * (size_t)two * sizeof *W);
    for (int k = 0; k < terms->H_count; k++) {
        int i = terms->H_row[k], j = terms->H_column[k];
        W[(long)i * two + j] = W[(long)j * two + i] = H[k];
    }
    for (int s = 0; s < terms->rows; s++) {
        for (int a = terms->g_start[s]; a < terms->g_start[s + 1]; a++) {
            for (int b = terms->g_start[s]; b < terms->g_start[s + 1]; b++) {
                W[(long)terms->g_index[a] * two + terms->g_index[b]] += rho * dg[a] * dg[b];
            }
        }
    }
    return 1;
}

/* Adds to H at (row, column), both counted from node 1 on; only the lower triangle is stored. */
static void add(reach_path *path, int row, int column, double value)
{
    if (row >= column && column >= 0) {
        path->H[(long)row * path->width + column - row + path->width - 1] += value;
    }
}

static void spread_interval(const reach *r, reach_path *path, int k)
{
    int n = path->n, two = 2 * n, a = (k - 1) * n, b = k * n;
    double h = path->h, *W = path->W;
    for (int c = 0; c < r->interval.G_count; c++) {
        int x = r->interval.G_index[c], i = x % n;
        double value = r->interval.out[c], left = x < n ? 0.5 * h : -1, right = x < n ? 0.5 * h : 1;
        if (k > 0) {
            path->g[a + i] += left * value;
        }
        path->g[b + i] += right * value;
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double P = 0.25 * h * W[(long)i * two + j];
            double R = 0.5 * W[(long)i * two + n + j], Rt = 0.5 * W[(long)j * two + n + i];
            double S = W[(long)(n + i) * two + n + j] / h;
            if (k > 0) {
                add(path, a + i, a + j, P - R - Rt + S);
                add(path, b + i, a + j, P - R + Rt - S);
            }
            add(path, b + i, b + j, P + R + Rt + S);
        }
    }
}

static void spread_node(const reach *r, reach_path *path, int k)
{
    int n = path->n, two = 2 * n, b = (k - 1) * n;
    for (int c = 0; c < r->node.G_count; c++) {
        path->g[b + r->node.G_index[c]] += path->h * r->node.out[c];
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            add(path, b + i, b + j, path->h * path->W[(long)i * two + j]);
        }
    }
}

/* Named coordinates stay fixed at the end. */
static void hold_end(const reach *r, reach_path *path)
{
    int first = (path->K - 1) * path->n, w = path->width - 1;
    for (int i = 0; i < path->n; i++) {
        int row = first + i;
        if (!r->is_named[i]) {
            continue;
        }
        path->g[row] = 0;
        for (int j = row - w < 0 ? 0 : row - w; j < first + path->n; j++) {
            int low = row > j ? row : j, high = row > j ? j : row;
            path->H[(long)low * path->width + high - low + w] = row == j;
        }
    }
}

int reach_action_derive(reach *r, reach_path *path)
{
    size_t unknowns = (size_t)path->K * (size_t)path->n;
    memset(path->g, 0, unknowns * sizeof(double));
    memset(path->H, 0, unknowns * (size_t)path->width * sizeof(double));
    for (int k = 0; k < path->K; k++) {
        double t = place_on(path, path->x, k);
        if (!second(&r->interval, t, path->q, path->v, path->lambda + (long)k * path->speeds,
                    path->rho, path->mu, path->W)) {
            return 0;
        }
        spread_interval(r, path, k);
    }
    for (int k = 1; k <= path->K && path->places > 0; k++) {
        if (!second(&r->node, path->start + k * path->h, path->x + (long)k * path->n, path->v,
                    path->kappa + (long)k * path->places, path->rho_place, path->mu, path->W)) {
            return 0;
        }
        spread_node(r, path, k);
    }
    hold_end(r, path);
    return 1;
}

static double follow(int rows, const double *g, double *lambda, double rho, int update)
{
    double worst = 0;
    for (int s = 0; s < rows; s++) {
        worst = fmax(worst, fabs(g[s]));
        lambda[s] += update ? rho * g[s] : 0;
    }
    return worst;
}

double reach_action_violation(reach *r, reach_path *path, int update)
{
    double worst = 0;
    for (int k = 0; k < path->K && path->speeds > 0; k++) {
        double t = place_on(path, path->x, k);
        reach_terms_value(&r->interval, t, path->q, path->v);
        worst = fmax(worst, path->h * path->K *
                                follow(path->speeds, r->interval.f + 1,
                                       path->lambda + (long)k * path->speeds, path->rho, update));
    }
    for (int k = 1; k <= path->K && path->places > 0; k++) {
        reach_terms_value(&r->node, path->start + k * path->h, path->x + (long)k * path->n,
                          path->v);
        worst = fmax(worst, follow(path->places, r->node.f + 1,
                                   path->kappa + (long)k * path->places, path->rho_place, update));
    }
    return worst;
}

/* The squares of a row's derivatives: by speeds (from = n) or by coordinates (from = 0). */
static double row_size(const reach_terms *terms, int from)
{
    const double *dg = terms->out + terms->G_count;
    double worst = 0;
    for (int s = 0; s < terms->rows; s++) {
        double sum = 0;
        for (int a = terms->g_start[s]; a < terms->g_start[s + 1]; a++) {
            int x = terms->g_index[a] - from;
            sum += x >= 0 && x < terms->n ? dg[a] * dg[a] : 0;
        }
        worst = fmax(worst, sum);
    }
    return worst;
}

void reach_action_scale(reach *r, reach_path *path)
{
    double mass = 0, row = 0, place = 0, duration = path->h * path->K;
    int two = 2 * path->n;
    for (int k = 0; k<path->K; k += path->K / 4> 0 ? path->K / 4 : 1) {
        double t = place_on(path, path->x, k);
        if (second(&r->interval, t, path->q, path->v, path->lambda, 0, path->mu, path->W)) {
            for (int i = path->n; i < two; i++) {
                mass = fmax(mass, path->W[(long)i * two + i]);
            }
            row = fmax(row, row_size(&r->interval, path->n));
        }
        if (path->places > 0 &&
            second(&r->node, t, path->q, path->v, path->kappa, 0, path->mu, path->W)) {
            place = fmax(place, row_size(&r->node, 0));
        }
    }
    mass = mass > 0 ? mass : 1;
    path->rho = row > 0 ? mass / row : mass;
    path->rho_place = (place > 0 ? mass / place : mass) * 40 / (duration * duration);
}

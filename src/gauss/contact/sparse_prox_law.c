/* The laws of a contact, a limit and an equality row as maps from r to pi(r, w), and their slopes:
 * sparse_prox.c (1). */
#include <math.h>
#include <string.h>

#include "gauss/contact/sparse_prox_inner.h"
#include "math/cone.h"

/* The convex law is pi = the point of the cone nearest to r - rho w. */
static void convex_point(const many_unit *u, double kappa, const double *r, const double *w,
                         double *z)
{
    for (int i = 0; i < u->d; i++) {
        z[i] = r[i] - kappa * u->normal * w[i];
    }
}

double many_soft(const many_unit *u, double kappa)
{
    return 1 / (1 + kappa * u->normal * u->give);
}

int many_law(const many_unit *u, double kappa, const double *r, const double *w, double *pi)
{
    double size = 0;
    if (u->is_convex) {
        convex_point(u, kappa, r, w, pi);
        cone_side side = cone_project(u->d, pi, pi);
        return side == CONE_OUTSIDE ? MANY_OPEN : side == CONE_INSIDE ? MANY_STICK : MANY_SLIDE;
    }
    pi[0] = r[0] - kappa * u->normal * w[0];
    if (u->d == 1) {
        pi[0] *= many_soft(u, kappa);
        int inside = pi[0] > u->low && pi[0] < u->high;
        pi[0] = interval_nearest(u->low, u->high, pi[0]);
        return inside ? MANY_STICK : MANY_OPEN;
    }
    if (!(pi[0] > 0)) {
        memset(pi, 0, (size_t)u->d * sizeof *pi);
        return MANY_OPEN;
    }
    for (int i = 1; i < u->d; i++) {
        pi[i] = r[i] - kappa * u->tangent * w[i];
        size += pi[i] * pi[i];
    }
    if (size <= pi[0] * pi[0]) {
        return MANY_STICK;
    }
    double share = pi[0] / sqrt(size);
    for (int i = 1; i < u->d; i++) {
        pi[i] *= share;
    }
    return MANY_SLIDE;
}

void many_slope(const sparse_prox *s, int unit, double *G)
{
    const many_unit *u = &s->t.unit[unit];
    const double *r = s->r + u->first, *w = s->w + u->first;
    double normal = s->kappa * u->normal, tangent = s->kappa * u->tangent;
    double t[MANY_ROWS] = {0}, size = 0;
    int d = u->d;
    memset(G, 0, (size_t)(d * d) * sizeof *G);
    if (u->is_convex && s->state[unit] == MANY_SLIDE) {
        double P[CONE_MAX * CONE_MAX];
        convex_point(u, s->kappa, r, w, t);
        cone_slope(d, t, P);
        for (int i = 0; i < d * d; i++) {
            G[i] = normal * P[i / d * CONE_MAX + i % d];
        }
        return;
    }
    G[0] = d == 1 ? normal * many_soft(u, s->kappa) : normal;
    for (int i = 1; i < d; i++) {
        G[i * d + i] = tangent;
        t[i] = r[i] - tangent * w[i];
        size += t[i] * t[i];
    }
    size = sqrt(size);
    for (int i = 1; i < d && s->state[unit] == MANY_SLIDE && size > 0; i++) {
        double share = fmin(s->pi[u->first] / size, 1) * tangent;
        G[i * d] = t[i] / size * normal;
        for (int j = 1; j < d; j++) {
            G[i * d + j] = share * ((i == j) - t[i] * t[j] / (size * size));
        }
    }
}

double many_way_to_change(const many_unit *u, int state, const double *r, const double *way)
{
    double most = HUGE_VAL;
    if (u->kind == ZW_EQUALITY || state == MANY_OPEN) {
        return most;
    }
    if (u->d == 1) {
        return way[0] < 0   ? (u->low - r[0]) / way[0]
               : way[0] > 0 ? (u->high - r[0]) / way[0]
                            : most;
    }
    if (way[0] < 0) {
        most = -r[0] / way[0];
    }
    /* |r_T + t way_T|^2 = (r_N + t way_N)^2 is a t^2 + 2 b t + c = 0 with c <= 0 inside the cone */
    double a = -way[0] * way[0], b = -r[0] * way[0], c = -r[0] * r[0];
    for (int i = 1; i < u->d; i++) {
        a += way[i] * way[i];
        b += r[i] * way[i];
        c += r[i] * r[i];
    }
    double root = b * b - a * c;
    if (u->d > 1 && state == MANY_STICK && root >= 0) {
        double t = b > 0 ? -c / (b + sqrt(root)) : a > 0 ? (sqrt(root) - b) / a : HUGE_VAL;
        most = fmin(most, fmax(t, 0));
    }
    return most;
}

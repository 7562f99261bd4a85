/* Coulomb's law by splitting: one factorisation, many steps that cost a solve each.
 *
 * With the slips s known, the law is the convex problem: minimise 1/2 r' G r + (c + s e_N) . r over
 * r in K, G = B M^-1 B'. Douglas and Rachford's method gives the quadratic and the cone to two
 * variables r and y that approach each other. All it remembers is one vector t per cone:
 *
 *     y = P_K(t),   z = rho (y - t)                    y in K, z in K, y . z = 0 (Moreau)
 *     (G + rho) r = rho y + z - c - |z_T| e_N          K with E = rho: quasi-definite, whatever
 *                                                      the rows
 *     t+ = (relaxed r) - z/rho
 *
 * At a fixed point r = y and z = w + |w_T| e_N: z is the shifted residual, which has the slip of
 * the residual itself, so that s follows from z. That is Coulomb's law. Nothing proves convergence
 * where the slips are not known, but every step is cheap and none depends on the sets of open,
 * sticking and sliding contacts being found first: Newton's method, which does, is tried from where
 * this has come to.
 *
 * What is left of both laws is F = r - y: the multipliers miss the cone by it, the residuals by
 * rho F. The map t -> t+ is speeded up by Anderson's method: t is the combination of the last
 * steps whose F is least. Where |F| grows after that, the plain step is taken instead, the steps
 * before are forgotten, and the next few are plain. (Without this it runs in circles in heaps of a
 * hundred spheres.) Which rho is best, only trying tells: rows have length one, 0.1 does well in
 * heaps at rest (64, 125 and 216 spheres take 250, 350 and 550 steps down to 1e-10), 0.3 and 1 in
 * impacts.
 *
 * Some impacts run in circles however they are taken, as the slips follow z too fast: there the
 * slips take over only a `share` of every change, and all steps are plain. Of the first five
 * collisions of 64 spheres that ran in circles, 0.3 solved at least four (rho 0.3 or 1, 600 to 1300
 * steps); later ones remain that no way here solves, and end with certificates of 1e-6 to 1e-2. */
#include <math.h>
#include <string.h>

#include "gauss/sparse/sparse_cones.h"
#include "math/cone.h"
#include "math/dense/dense.h"

#define RELAX 1.6 /* of r - y; from 0 to 2 */
enum { MEMORY = 8, PAUSE = 5 };

/* K with all cone rows in play, E = rho. */
static int split_factor(zw_gauss_work *work, gauss_sparse *s, double rho)
{
    s->holds_equality = 0;
    for (int k = 0; k < s->cone_count; k++) {
        int at = s->me + s->cone[k].first;
        for (int i = 0; i < s->cone[k].rows; i++) {
            if (s->off[at + i]) {
                sparse_kkt_row_off(s, at + i);
            } else {
                sparse_kkt_row(s, at + i, s->base + s->start[s->q + at + i] + 1, rho);
            }
        }
    }
    return sparse_kkt_factor(work, s);
}

/* y and z of t into r and w; K's right side. Returns how far the slips are from those of z. */
static double split_project(gauss_sparse *s, const sparse_way *way, const double *t)
{
    double rho = way->rho, behind = 0.0;
    memcpy(s->rhs, s->f, (size_t)s->q * sizeof(double));
    for (int e = 0; e < s->me; e++) {
        s->rhs[s->q + e] = s->off[e] ? 0.0 : -s->c[e];
    }
    for (int k = 0; k < s->cone_count; k++) {
        int at = s->me + s->cone[k].first, d = s->cone[k].rows;
        double *y = s->r + at, *z = s->w + at;
        cone_project(d, t + at, y);
        for (int i = 0; i < d; i++) {
            z[i] = rho * (y[i] - t[at + i]);
        }
        double slip = cone_tangent(d, z), last = way->share < 1.0 ? s->shift[k] : slip;
        s->shift[k] = last + way->share * (slip - last);
        behind = fmax(behind, fabs(slip - last));
        for (int i = 0; i < d; i++) {
            double c = s->c[at + i] + (i == 0 ? s->shift[k] : 0.0);
            s->rhs[s->q + at + i] = s->off[at] ? 0.0 : z[i] + rho * y[i] - c;
        }
    }
    return behind;
}

/* One step from t: r - y, row by row, into F; x and r_e as well. Returns what both laws miss, in
 * the units of multipliers and of residuals. */
static double split_step(gauss_sparse *s, const sparse_way *way, const double *t, double *F)
{
    double behind = split_project(s, way, t);
    memcpy(s->sol, s->rhs, (size_t)s->N * sizeof(double));
    sparse_ldl_solve(s->ldl, s->sol);
    memcpy(s->x, s->sol, (size_t)s->q * sizeof(double));
    for (int e = 0; e < s->me; e++) {
        s->r[e] = s->off[e] ? 0.0 : -s->sol[s->q + e];
        F[e] = 0.0;
    }
    double worst = 0.0;
    for (int p = s->me; p < s->m; p++) {
        F[p] = s->off[p] ? 0.0 : -s->sol[s->q + p] - s->r[p];
        worst = fmax(worst, fabs(F[p]));
    }
    return fmax(worst * fmax(1.0 / sparse_cones_force(s, s->r), way->rho / s->V), behind / s->V);
}

/* ---- Anderson's method ---------------------------------------------------------------------- */

typedef struct memory {
    int count, next, room;
    double *dt, *dF;          /* room x m each: changes of t and of F */
    double G[MEMORY][MEMORY]; /* dF dF' */
} memory;

/* g = (dF dF') \ dF F by Cholesky's method, with a ridge; 0: too ill. */
static int fit(const memory *a, int m, const double *F, double *g)
{
    double L[MEMORY][MEMORY], trace = 0.0;
    int n = a->count;
    for (int i = 0; i < n; i++) {
        trace += a->G[i][i];
    }
    for (int i = 0; i < n; i++) {
        g[i] = dense_dot(m, a->dF + (size_t)i * (size_t)m, F);
        for (int j = 0; j <= i; j++) {
            double sum = a->G[i][j] + (i == j ? 1e-12 * trace : 0.0);
            for (int k = 0; k < j; k++) {
                sum -= L[i][k] * L[j][k];
            }
            if (i == j && !(sum > 0.0)) {
                return 0;
            }
            L[i][j] = i == j ? sqrt(sum) : sum / L[j][j];
        }
        for (int k = 0; k < i; k++) {
            g[i] -= L[i][k] * g[k];
        }
        g[i] /= L[i][i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) {
            g[i] -= L[k][i] * g[k];
        }
        g[i] /= L[i][i];
    }
    return 1;
}

static void learn(memory *a, int m, const double *t, const double *F, const double *t_before,
                  const double *F_before)
{
    int at = a->next;
    double *dt = a->dt + (size_t)at * (size_t)m, *dF = a->dF + (size_t)at * (size_t)m;
    for (int p = 0; p < m; p++) {
        dt[p] = t[p] - t_before[p];
        dF[p] = F[p] - F_before[p];
    }
    a->next = (at + 1) % a->room;
    a->count = a->count < a->room ? a->count + 1 : a->room;
    for (int i = 0; i < a->count; i++) {
        a->G[i][at] = a->G[at][i] = dense_dot(m, a->dF + (size_t)i * (size_t)m, dF);
    }
}

static void forget(memory *a)
{
    a->count = a->next = 0;
}

/* t = y - z/rho from (x, r). */
static void split_start(gauss_sparse *s, double rho, double *t)
{
    sparse_cones_residual(s, s->x);
    memset(t, 0, (size_t)s->m * sizeof *t);
    for (int k = 0; k < s->cone_count; k++) {
        int at = s->me + s->cone[k].first, d = s->cone[k].rows;
        double slip = s->shift[k] = cone_tangent(d, s->w + at);
        for (int i = 0; i < d; i++) {
            t[at + i] = s->r[at + i] - (s->w[at + i] + (i == 0 ? slip : 0.0)) / rho;
        }
    }
}

/* t goes on by F, or to the combination, if there is one: then 1. */
static int split_advance(const memory *a, int m, int plain, const double *F, double *t,
                         double *cautious)
{
    double g[MEMORY];
    dense_axpy(m, RELAX, F, t);
    memcpy(cautious, t, (size_t)m * sizeof *t);
    if (plain || a->count < 2 || !fit(a, m, F, g)) {
        return 0;
    }
    for (int i = 0; i < a->count; i++) {
        dense_axpy(m, -g[i], a->dt + (size_t)i * (size_t)m, t);
        dense_axpy(m, -RELAX * g[i], a->dF + (size_t)i * (size_t)m, t);
    }
    return 1;
}

double sparse_split(zw_gauss_work *work, const sparse_way *way, double aim, int *steps)
{
    gauss_sparse *s = work->sparse;
    int m = s->m, bold = 0, wait = 0;
    size_t bytes = (size_t)m * sizeof(double);
    double *t = s->v[0], *F = s->v[1], *before = s->v[2], *F_before = s->v[3];
    double *cautious = s->centre, error = HUGE_VAL, least = HUGE_VAL;
    memory a = {.room = s->steps < MEMORY ? s->steps : MEMORY};
    a.dt = s->krylov;
    a.dF = s->krylov + (size_t)a.room * (size_t)m;
    if (s->soft > 0.0 || !split_factor(work, s, way->rho)) {
        return HUGE_VAL; /* the factors are not those of K */
    }
    split_start(s, way->rho, t);
    for (int k = 0; k < way->limit && error > aim; k++) {
        double now = split_step(s, way, t, F), size = dense_norm(m, F);
        ++*steps;
        if (!isfinite(size)) {
            return HUGE_VAL;
        }
        if (bold && size > least) {
            memcpy(t, cautious, bytes);
            forget(&a);
            bold = 0;
            wait = PAUSE;
            continue;
        }
        least = size;
        error = now;
        if (k > 0 && way->share >= 1.0) {
            learn(&a, m, t, F, before, F_before);
        }
        memcpy(before, t, bytes);
        memcpy(F_before, F, bytes);
        bold = split_advance(&a, m, wait-- > 0, F, t, cautious);
    }
    return error;
}

/* The piecewise linear path of least action: an initial guess for Newton's method.
 *
 * Lagrange's problem, Kozlov (2000), eq. (11), on K intervals with the midpoint rule: minimise the
 * sum of h L(m_k, u_k) subject to Phi(m_k, u_k) = 0, with both ends fixed (the last one in its
 * named coordinates). This is done by the method of multipliers: the free system with the
 * Lagrangian
 *
 *     L + lambda Phi + rho/2 Phi^2
 *
 * has the minimum of the constrained one as soon as lambda is right and rho large enough; after
 * each minimisation lambda += rho Phi. That is (16) of Kozlov (2000), the system with an added
 * mass, but with lambda the mass need not be infinite. The limit of lambda is that of (15), since
 * the derivative of L + lambda Phi vanishes in both; so the guess includes multipliers.
 *
 * Each minimisation is Newton's method. The second derivatives form a matrix of bandwidth 2n. If it
 * is not positive definite, which the Cholesky factorisation detects, a multiple of the identity is
 * added: so every step decreases the action, and the method does not converge to a saddle unless it
 * starts on one. A straight line can be a saddle, by symmetry: to a point on the z axis of the
 * Heisenberg group there are two equally good ways round. Then the path is bent a little, always in
 * the same way, and the method continues. */
#include <math.h>
#include <string.h>

#include "math/dense/dense.h"
#include "math/elementary.h"
#include "path/reach/reach_least.h"

enum {
    INTERVALS = 64,
    OUTER = 40,
    INNER = 400,
    FACTORS = 24,
    SEARCH = 30,
    BENDS = 6,
    FAILURES = 3
};

/* ---- Paths ---------------------------------------------------------------------------------- */

static void lay_out(reach_path *p, base_arena *arena)
{
    size_t n = (size_t)p->n, K = (size_t)p->K, most = (size_t)(p->speeds + p->places) + 1;
    p->x = base_arena_doubles(arena, (K + 1) * n + 1);
    p->x_try = base_arena_doubles(arena, (K + 1) * n + 1);
    p->lambda = base_arena_doubles(arena, (K + 1) * (size_t)p->speeds + 1);
    p->kappa = base_arena_doubles(arena, (K + 1) * (size_t)p->places + 1);
    p->g = base_arena_doubles(arena, K * n + 1);
    p->d = base_arena_doubles(arena, K * n + 1);
    p->H = base_arena_doubles(arena, K * n * (size_t)p->width + 1);
    p->factor = base_arena_doubles(arena, K * n * (size_t)p->width + 1);
    p->q = base_arena_doubles(arena, n + 1);
    p->v = base_arena_doubles(arena, n + 1);
    p->mu = base_arena_doubles(arena, most);
    p->W = base_arena_doubles(arena, 4 * n * n + 1);
}

static int allocate(reach_path *path)
{
    base_arena arena = {0};
    lay_out(path, &arena);
    path->memory = base_alloc(arena.used + 1);
    if (path->memory) {
        arena = (base_arena){.block = path->memory};
        lay_out(path, &arena);
    }
    return path->memory != NULL;
}

void reach_path_free(reach_path *path)
{
    if (path) {
        base_free(path->memory);
        base_free(path);
    }
}

/* The functions of the path; the rows by their levels (positions or speeds). */
static zw_status make_terms(reach *r, reach_path *path)
{
    const zw_system *system = r->system;
    const double *param = state_param(r->state);
    expr_id *id = base_alloc(2 * ((size_t)system->m + 1) * sizeof *id);
    expr_id *phi = id ? id + system->m + 1 : NULL;
    for (int i = 0; i < system->m && id; i++) {
        int c = system->row_constraint[i];
        expr_id residual = system->model->constraint[c].residual[i - system->first_row[c]];
        int speeds = system->row_kind[i] == SYSTEM_VELOCITY;
        *(speeds ? &id[path->speeds++] : &phi[path->places++]) = residual;
    }
    zw_status status =
        id ? reach_terms_create(&r->interval, system, 1, id, path->speeds, param) : ZW_NO_MEMORY;
    if (status == ZW_OK && path->places > 0) {
        status = reach_terms_create(&r->node, system, 0, phi, path->places, param);
    }
    base_free(id);
    return status;
}

/* The extent of the motion. */
static double extent(const reach *r)
{
    double worst = 0;
    for (int i = 0; i < r->n; i++) {
        double way = r->is_named[i] ? fabs(r->target[i] - state_q(r->state)[i]) : 0;
        worst = fmax(worst, way);
    }
    return worst > 0 ? worst : 1;
}

/* Adds a smooth bump of this size, different for every coordinate; the ends stay fixed. */
static void bend(reach_path *path, double size)
{
    const double pi = 3.14159265358979324;
    for (int k = 1; k < path->K; k++) {
        double s = (double)k / path->K;
        for (int i = 0; i < path->n; i++) {
            double turn = 1.0 + 2.399963 * i; /* the golden angle */
            path->x[(long)k * path->n + i] += size * (math_cos(turn) * math_sin(pi * s) +
                                                      0.5 * math_sin(turn) * math_sin(2 * pi * s));
        }
    }
}

static void draw_straight(const reach *r, reach_path *path)
{
    for (int k = 0; k <= path->K; k++) {
        double s = (double)k / path->K;
        for (int i = 0; i < path->n; i++) {
            double from = state_q(r->state)[i], to = r->is_named[i] ? r->target[i] : from;
            path->x[(long)k * path->n + i] = k == path->K ? to : from + s * (to - from);
        }
    }
    bend(path, 0.05 * extent(r));
}

reach_path *reach_path_create(reach *r)
{
    reach_path *path = base_alloc(sizeof *path);
    if (path) {
        path->n = r->n;
        path->K = r->options.intervals > 0 ? r->options.intervals : INTERVALS;
        path->K = path->K < 4 ? 4 : path->K;
        path->width = 2 * r->n;
        path->start = r->state->t;
        path->h = (r->time - r->state->t) / path->K;
        path->most = 1e7;
    }
    if (!path || make_terms(r, path) != ZW_OK || !allocate(path)) {
        reach_path_free(path);
        r->failure = ZW_NO_MEMORY;
        return NULL;
    }
    draw_straight(r, path);
    reach_action_scale(r, path);
    return path;
}

int reach_path_refine(reach *r, reach_path *path)
{
    enum { FINER = 4 };
    reach_path coarse = *path;
    path->K *= FINER;
    path->h /= FINER;
    if (!allocate(path)) {
        *path = coarse;
        r->failure = ZW_NO_MEMORY;
        return 0;
    }
    for (int k = 0; k <= path->K; k++) {
        int at = k / FINER < coarse.K ? k / FINER : coarse.K - 1;
        double s = (double)(k - at * FINER) / FINER;
        const double *a = coarse.x + (long)at * path->n, *b = a + path->n;
        for (int i = 0; i < path->n; i++) {
            path->x[(long)k * path->n + i] = s == 1 ? b[i] : a[i] + s * (b[i] - a[i]);
        }
        for (int s_ = 0; s_ < path->speeds && k < path->K; s_++) {
            path->lambda[(long)k * path->speeds + s_] = coarse.lambda[(long)at * path->speeds + s_];
        }
        int node = (k + FINER / 2) / FINER;
        for (int s_ = 0; s_ < path->places; s_++) {
            path->kappa[(long)k * path->places + s_] = coarse.kappa[(long)node * path->places + s_];
        }
    }
    base_free(coarse.memory);
    return 1;
}

void reach_path_at(const reach_path *path, double part, double *q)
{
    int k = (int)(part * path->K);
    double s = part * path->K - k;
    const double *a = path->x + (long)k * path->n;
    for (int i = 0; i < path->n; i++) {
        q[i] = s > 0 ? a[i] + s * (a[path->n + i] - a[i]) : a[i];
    }
}

/* ---- One minimisation ----------------------------------------------------------------------- */

/* factor = Cholesky factor of H + shift; 0: not positive definite. */
static int factorise(reach_path *p, double shift)
{
    int w = p->width - 1, N = p->K * p->n;
    for (int i = 0; i < N; i++) {
        double *row = p->factor + (long)i * p->width + w - i; /* row[j] is column j */
        const double *from = p->H + (long)i * p->width + w - i;
        for (int j = i > w ? i - w : 0; j <= i; j++) {
            const double *other = p->factor + (long)j * p->width + w - j;
            int k = i > w ? i - w : 0;
            k = j - w > k ? j - w : k;
            double sum = from[j] + (i == j ? shift : 0) - dense_dot(j - k, row + k, other + k);
            if (i > j) {
                row[j] = sum / other[j];
            } else if (sum > 1e-13 * (fabs(from[j]) + shift)) {
                row[j] = sqrt(sum);
            } else {
                return 0;
            }
        }
    }
    return 1;
}

/* d = -(H + shift) \ g */
static void step_down(reach_path *p)
{
    int w = p->width - 1, N = p->K * p->n;
    double *d = p->d;
    for (int i = 0; i < N; i++) {
        const double *row = p->factor + (long)i * p->width + w - i;
        int k = i > w ? i - w : 0;
        d[i] = (-p->g[i] - dense_dot(i - k, row + k, d + k)) / row[i];
    }
    for (int i = N - 1; i >= 0; i--) {
        const double *row = p->factor + (long)i * p->width + w - i;
        int k = i > w ? i - w : 0;
        d[i] /= row[i];
        dense_axpy(i - k, -d[i], row + k, d + k);
    }
}

/* Line search along d; 0: no step decreases the action. */
static int search(reach *r, reach_path *p, double *now, double slope)
{
    size_t count = (size_t)(p->K + 1) * (size_t)p->n;
    double damp = 1;
    for (int k = 0; k < SEARCH; k++, damp *= 0.5) {
        memcpy(p->x_try, p->x, count * sizeof(double));
        dense_axpy(p->K * p->n, damp, p->d, p->x_try + p->n);
        double there = reach_action(r, p, p->x_try);
        if (there <= *now + 1e-4 * damp * slope + 1e-14 * fabs(*now)) {
            memcpy(p->x, p->x_try, count * sizeof(double));
            *now = there;
            return 1;
        }
    }
    return 0;
}

static double largest_diagonal(const reach_path *p)
{
    double worst = 0;
    for (int i = 0; i < p->K * p->n; i++) {
        worst = fmax(worst, fabs(p->H[(long)i * p->width + p->width - 1]));
    }
    return worst;
}

/* 1: a minimum; 0: not converged; -1: there is none, the path diverges. */
static int minimise(reach *r, reach_path *p)
{
    double now = reach_action(r, p, p->x), shift = 0, size = extent(r);
    int bends = 0;
    for (int k = 0; k < INNER && isfinite(now) && !reach_stopped(r); k++) {
        if (!reach_action_derive(r, p)) {
            return 0;
        }
        double unit = 1e-6 * largest_diagonal(p);
        shift = shift > 4 * unit ? shift / 16 : 0;
        int tries = 0;
        while (!factorise(p, shift) && tries++ < FACTORS) {
            shift = shift > 0 ? 4 * shift : unit;
        }
        step_down(p);
        double slope = dense_dot(p->K * p->n, p->g, p->d);
        if (-slope <= 1e-12 * (1e-3 + fabs(now))) {
            if (shift == 0) {
                return 1;
            }
            if (bends++ == BENDS) {
                return 0;
            }
            bend(p, 0.02 * size * bends);
            now = reach_action(r, p, p->x);
            shift = 0;
            continue;
        }
        if (tries > FACTORS || !search(r, p, &now, slope)) {
            return -slope <= 1e-8 * (1e-3 + fabs(now)) && shift == 0;
        }
        if (dense_largest((p->K + 1) * p->n, p->x) > 1e3 * (1 + size)) {
            return -1;
        }
    }
    return 0;
}

/* ---- All ------------------------------------------------------------------------------------ */

/* Extrapolates from the midpoints of the first three intervals to the start, by a parabola. */
static double extrapolate(double a, double b, double c)
{
    return (15 * a - 10 * b + 3 * c) / 8;
}

static void begin(const reach *r, const reach_path *p, double *z)
{
    const system_law *law = &r->system->law;
    const double *x = p->x;
    int n = p->n, s = p->speeds;
    for (int i = 0; i < n; i++) {
        z[i] = extrapolate(x[n + i] - x[i], x[2 * n + i] - x[n + i], x[3 * n + i] - x[2 * n + i]) /
               p->h;
    }
    for (int j = 0; j < law->carried; j++) {
        const double *l = p->lambda + j;
        z[n + j] = extrapolate(l[0], l[s], l[2 * s]) / law->alpha;
    }
}

int reach_path_least(reach *r, reach_path *p, double *z)
{
    double size = extent(r), before = INFINITY, first = p->rho;
    int least = 0, failed = 0;
    for (int k = 0; k < OUTER && !reach_stopped(r); k++) {
        least = minimise(r, p);
        failed += least == 0;
        if (least < 0 || failed > (p->speeds + p->places > 0 ? FAILURES : 0)) {
            return 0;
        }
        double off = reach_action_violation(r, p, 1);
        if (!isfinite(off)) {
            return 0;
        }
        if (least > 0 && off <= 1e-9 * size) {
            break;
        }
        if (least > 0 && off > 0.1 * before && p->rho < p->most * first) {
            p->rho *= 4;
            p->rho_place *= 4;
        }
        before = off;
    }
    p->most = 1; /* a refined path continues with the same rho */
    if (least > 0) {
        begin(r, p, z);
    }
    return least > 0;
}

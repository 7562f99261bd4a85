/* A variational integrator with constraints: Hamilton's principle for a discrete path.
 *
 * Derivation.  Replace the action over a step from (t0, q0) to (t1, q1), h = t1 - t0, by the
 * midpoint rule,
 *
 *     L_d(q0, q1) = h L(q, v, t),    q = (q0 + q1)/2,   v = (q1 - q0)/h,   t = (t0 + t1)/2
 *
 * with L = K - V. Hamilton's principle for the discrete path, with the forces Q doing the discrete
 * virtual work h/2 Q.(dq0 + dq1), makes the momenta at the ends of a step
 *
 *     p0 = -D1 L_d - h/2 Q = K_v - h/2 g,       p1 = D2 L_d + h/2 Q = K_v + h/2 g
 *
 * with K_v and g = K_q - V_q + Q both at (q, v, t): the step is the map (q0, p0) -> (q1, p1), and
 * it is symplectic if Q = 0, whatever K is (Marsden and West 2001; K need not be quadratic, Cardin
 * and Zanzotto 1989).
 *
 * Constraints.  Holonomic rows phi(q, t) = 0 hold at the nodes; their impulses act there, along
 * A' = phi_q' at q0 and at q1, half of each belonging to this step. Nonholonomic rows
 * psi(q, v, t) = 0 are those of Lagrange and d'Alembert: impulses along psi_v' at (q0, v0) and
 * (q1, v1), while the motion of the step obeys psi at its midpoint and the velocities at the nodes
 * obey it there. In the form of RATTLE:
 *
 *     (1)  K_v(q, v, t) - h/2 g(q, v, t) = p0 + A(q0, v0)' lambda0
 *     (2)  phi(q1, t1) = 0,    psi(q, v, t) = 0
 *     (3)  p1 = p0 + A0' lambda0 + h g(q, v, t) + A(q1, v1)' lambda1
 *     (4)  p1 = K_v(q1, v1, t1),    phi_q v1 + phi_t = 0,    psi(q1, v1, t1) = 0
 *
 * (1), (2) give q1 and lambda0, then (3), (4) give p1, v1 and lambda1. Exchanging the ends and the
 * sign of h gives the same equations: the method is self-adjoint, so its order is 2, and the error
 * has even powers only. Without nonholonomic rows and Q it is symplectic on the constraint
 * manifold; with them it is still reversible.
 *
 * Order 4: Suzuki's composition of five steps c h, c h, (1 - 4c) h, c h, c h, c = 1/(4 - 4^(1/3)).
 * The middle one goes back in time by 0.66 h, which is unsuitable for strong damping.
 *
 * Rotations.  A quaternion r in q turns with Omega, three entries of v along the body's own axes;
 * it is a group, so "q1 = q0 + h v" becomes r1 = r0 c, c = cay(h Omega) = (1, h Omega/2)/s with s^2
 * = 1 + |h Omega/2|^2, and the middle is that of the great circle from r0 to r1. Vary the ends, d
 * r0 = r0 eta0/2, d r1 = r1 eta1/2. From c + dc = (1 - eta0/2) c (1 + eta1/2), dividing the vector
 * part by the scalar one,
 *
 *     h dOmega = (eta1 - eta0) + h/2 Omega x (eta0 + eta1) + h^2/4 (Omega . (eta1 - eta0)) Omega
 *     eta_middle = (eta0 + eta1)/2 + k x (eta1 - eta0)/2,        k = h/2 Omega/(1 + s)
 *
 * so with mu = K_Omega, f = -V_q + Q (all of g except mu x Omega) the momenta at the ends are
 *
 *     p0 = mu - h/2 g + sigma,   p1 = mu + h/2 g + sigma,   g = mu x Omega + f,
 *     sigma = h^2/4 (Omega . mu) Omega + h/2 f x k
 *
 * (Bou-Rabee and Marsden 2009 for the first term): (1) gets sigma on its left, (3) stays. p1 - p0 =
 * h (p x Omega) with p the mean of both ends is (1 + h/2 Omega x) p1 = (1 - h/2 Omega x) p0, which
 * is R1 p1 = R0 p0 as cay(h Omega) = (1 - h/2 Omega x)^-1 (1 + h/2 Omega x): without forces the
 * angular momentum in space is constant, to round-off; with forces that have a symmetry, by
 * Noether's theorem for the discrete path, so is its component.
 *
 * "midpoint" leaves sigma out. Then mu is the mean of p0 and p1, so that for a body of constant
 * inertia, p = I Omega, the energy changes by Omega . (p1 - p0) = h Omega . g: by the work of the
 * forces. A free body keeps its energy to round-off as well, which no symplectic method can do in
 * addition to the momentum (Ge and Marsden 1988). It is still self-adjoint and of order 2, and
 * without quaternions it is the same method as "variational".
 *
 * Solving (1), (2).  The unknown is v, with q1 = q0 + h v. From a guess, the change u of v solves
 * Gauss's problem in velocities with the metric and rows at the start of the step:
 *
 *     M u = [p0 + h/2 g - K_v] + A0' lambda0,    A0 u = -phi(q1)/h  or  -psi
 *
 * lambda0 enters (1) just as it enters here, so each solve gives all of it and the iteration is in
 * v alone. M and A0 differ from the true Jacobian by O(h), so it converges linearly with a factor
 * O(h); Broyden's updates make that superlinear. It ends when u no longer decreases, at round-off,
 * because with a fixed tolerance above that the energy would drift.
 *
 * Round-off. q and p are compensated sums of their increments h v and A0' lambda0 + h g + A1'
 * lambda1, which are small themselves. So a step adds an error of one unit in the last place of an
 * increment, not of q or p, and the random walk of the energy is slow. */
#include "base/error.h"
#include "step/ode/inner.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MEMORY = 16, TRIES = 60 };
#define NEARLY 1e4 /* multiples of round-off: changes below that are near the end */

/* The state of a step in progress and its scratch, at ode->more. */
typedef struct substeps {
    /* The state at t: q [nq], v, p [n], with low-order parts of q and p. */
    double *q, *q_low, *v, *p, *p_low;
    double *before; /* [n + 1] v of the step before, for the guess, and the length of that step; 0:
                       unknown */

    double *mid_q, *next_q, *next_low;                                      /* [nq] */
    double *mid_v, *momentum, *force, *impulse, *change, *reaction, *sigma; /* [n] */
    double *wanted; /* [2 m] the second half is scratch */
    double *memory; /* [MEMORY * n] Broyden's steps */
    double square[MEMORY];
    int remembered;
} substeps;

static void walk_layout(step_ode *ode, base_arena *arena)
{
    size_t n = (size_t)ode->lagrangian.n;
    substeps *w = base_arena_bytes(arena, sizeof *w), counting = {0};
    ode->more = w;
    w = w != NULL ? w : &counting;
    double **places[] = {&w->q, &w->q_low, &w->mid_q, &w->next_q, &w->next_low};
    double **speeds[] = {&w->v,       &w->p,        &w->p_low,  &w->mid_v,    &w->force,
                         &w->impulse, &w->momentum, &w->change, &w->reaction, &w->sigma};
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        *places[k] = base_arena_doubles(arena, (size_t)ode->lagrangian.nq);
    }
    for (size_t k = 0; k < sizeof speeds / sizeof *speeds; k++) {
        *speeds[k] = base_arena_doubles(arena, n);
    }
    w->before = base_arena_doubles(arena, n + 1);
    w->memory = base_arena_doubles(arena, MEMORY * n);
    w->wanted = base_arena_doubles(arena, 2 * (size_t)ode->lagrangian.m);
}

static double largest(int n, const double *x)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) {
        most = fabs(x[i]) <= most ? most : fabs(x[i]); /* NaN stays */
    }
    return most;
}

static double dot(int n, const double *x, const double *y)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += x[i] * y[i];
    }
    return sum;
}

/* (sum, low) = (a, a_low) + b; `sum` may be `a`, and `low` may be `a_low`. */
static void add(int n, const double *a, const double *a_low, const double *b, double scale,
                double *sum, double *low)
{
    for (int i = 0; i < n; i++) {
        double x = a[i], y = a_low[i] + scale * b[i], s = x + y, part = s - x;
        low[i] = (x - (s - part)) + (y - part);
        sum[i] = s;
    }
}

/* From q along mid_v: next_q and mid_q. */
static void move(const step_lagrangian *l, substeps *w, double h)
{
    if (l->move != NULL) {
        l->move(l->user, w->q, w->q_low, h, w->mid_v, w->next_q, w->next_low, w->mid_q);
        return;
    }
    for (int i = 0; i < l->n; i++) {
        w->mid_q[i] = w->q[i] + (w->q_low[i] + 0.5 * h * w->mid_v[i]);
    }
    add(l->n, w->q, w->q_low, w->mid_v, h, w->next_q, w->next_low);
}

/* ---- Equations (1) and (2) ------------------------------------------------------------------- */

/* The residuals of (1) and (2) for the midpoint velocity w->mid_v: impulse and wanted. */
static zw_status residual(const step_lagrangian *l, substeps *w, double t, double h,
                          zw_error *error)
{
    double middle = t + 0.5 * h;
    move(l, w, h);
    zw_status status = l->momentum(l->user, middle, w->mid_q, w->mid_v, w->momentum, error);
    status =
        status == ZW_OK ? l->force(l->user, middle, w->mid_q, w->mid_v, w->force, error) : status;
    if (status == ZW_OK && l->bend != NULL) {
        l->bend(l->user, h, w->mid_v, w->momentum, w->force, w->sigma);
    }
    for (int i = 0; status == ZW_OK && i < l->n; i++) {
        double low = w->p_low[i] + 0.5 * h * w->force[i];
        w->impulse[i] = (w->p[i] - w->momentum[i]) + (l->bend != NULL ? low - w->sigma[i] : low);
    }
    if (status != ZW_OK || l->m == 0) {
        return status;
    }
    /* two calls fill the one array, each row from the one that it belongs to */
    double *position = w->wanted;
    int mixed = 0;
    for (int i = 0; l->holonomic != NULL && i < l->m; i++) {
        mixed |= !l->holonomic[i];
    }
    if (mixed) {
        status = l->velocity(l->user, middle, w->mid_q, w->mid_v, w->wanted, error);
        position = w->wanted + l->m;
    }
    status = status == ZW_OK ? l->position(l->user, t + h, w->next_q, position, error) : status;
    for (int i = 0; i < l->m; i++) {
        int holonomic = !mixed || l->holonomic[i];
        w->wanted[i] = holonomic ? -position[i] / h : -w->wanted[i];
    }
    return status;
}

/* Broyden's good update in the form that keeps only the steps s_j taken so far: turns the plain
 * change into the next step. */
static void broyden(int n, substeps *w, double *change)
{
    for (int j = 0; j + 1 < w->remembered; j++) {
        double part = dot(n, w->memory + (long)j * n, change) / w->square[j];
        const double *next = w->memory + (long)(j + 1) * n;
        for (int i = 0; i < n; i++) {
            change[i] += part * next[i];
        }
    }
    if (w->remembered > 0) {
        int last = w->remembered - 1;
        double rest = 1.0 - dot(n, w->memory + (long)last * n, change) / w->square[last];
        if (!(rest > 0.1)) {
            w->remembered = 0; /* the secant is useless: start again */
        } else {
            for (int i = 0; i < n; i++) {
                change[i] /= rest;
            }
        }
    }
    w->remembered = w->remembered < MEMORY ? w->remembered : 0;
    memcpy(w->memory + (long)w->remembered * n, change, (size_t)n * sizeof *change);
    w->square[w->remembered++] = dot(n, change, change);
}

/* Finds mid_v, and with it next_q, force and the first reaction. */
static zw_status solve_middle(const step_lagrangian *l, substeps *w, double t, double h,
                              zw_error *error)
{
    double before = INFINITY;
    w->remembered = 0;
    for (int i = 0; i < TRIES; i++) {
        zw_status status = residual(l, w, t, h, error);
        if (status != ZW_OK) {
            return status;
        }
        status = l->solve(l->user, w->impulse, w->wanted, w->change, w->reaction, error);
        if (status == ZW_BAD_INPUT && i > 0) {
            break; /* it diverges, beyond the numbers that the kernel accepts */
        }
        /* rows that depend on each other contradict each other off the manifold: continue */
        if (status != ZW_OK && status != ZW_INACCURATE) {
            return status;
        }
        double size = largest(l->n, w->change), speed = largest(l->n, w->mid_v);
        double round_off = DBL_EPSILON * (speed + (largest(l->nq, w->q) + l->size) / fabs(h));
        if (!isfinite(size)) {
            break;
        }
        if (size > NEARLY * round_off) {
            broyden(l->n, w, w->change);
        }
        for (int k = 0; k < l->n; k++) {
            w->mid_v[k] += w->change[k];
        }
        /* Near round-off (with rows, that of q divided by h) the plain iteration finishes: as soon
         * as it stops improving, it has converged. Where q is large and no row depends on it, the
         * speeds alone decide: a body far away must not be computed less accurately. */
        if (size <= 0.25 * DBL_EPSILON * speed ||
            (size <= NEARLY * round_off && size >= 0.5 * before)) {
            move(l, w, h);
            return ZW_OK;
        }
        before = size;
    }
    return base_fail(error, ZW_INACCURATE,
                     "the equations of a variational step of %.3g from t = %.17g did not converge; "
                     "a shorter step may help",
                     h, t);
}

/* ---- Equations (3) and (4) ------------------------------------------------------------------- */

/* From q = q1 and the momentum p before the last reaction: v, p and the rows at t. */
static zw_status solve_end(const step_lagrangian *l, substeps *w, double t, zw_error *error)
{
    double before = INFINITY;
    zw_status status = l->linearise(l->user, t, w->q, w->v, error);
    for (int i = 0; status == ZW_OK && i < TRIES; i++) {
        status = l->momentum(l->user, t, w->q, w->v, w->momentum, error);
        for (int k = 0; status == ZW_OK && k < l->n; k++) {
            w->impulse[k] = (w->p[k] - w->momentum[k]) + w->p_low[k];
        }
        if (status == ZW_OK && l->m > 0) {
            status = l->velocity(l->user, t, w->q, w->v, w->wanted, error);
        }
        for (int k = 0; k < l->m; k++) {
            w->wanted[k] = -w->wanted[k];
        }
        status = status == ZW_OK
                     ? l->solve(l->user, w->impulse, w->wanted, w->change, w->reaction, error)
                     : status;
        if (status != ZW_OK) {
            return status;
        }
        double size = largest(l->n, w->change), speed = largest(l->n, w->v);
        for (int k = 0; k < l->n; k++) {
            w->v[k] += w->change[k];
        }
        /* one solve is enough for linear equations, unless the correction was large */
        int enough = l->linear ? size <= 1e-2 * speed || i > 0 : size <= DBL_EPSILON * speed;
        if (enough || (size <= 1e-10 * speed && size >= 0.5 * before)) {
            add(l->n, w->p, w->p_low, w->reaction, 1.0, w->p, w->p_low);
            return ZW_OK;
        }
        before = size;
        status = l->linear ? ZW_OK : l->linearise(l->user, t, w->q, w->v, error);
    }
    if (status != ZW_OK) {
        return status;
    }
    return base_fail(error, ZW_INACCURATE, "the velocity at t = %.17g did not converge", t);
}

/* ---- The step -------------------------------------------------------------------------------- */

static zw_status substep(const step_lagrangian *l, substeps *w, double t, double h, zw_error *error)
{
    size_t bytes = (size_t)l->n * sizeof(double);
    double ahead = w->before[l->n] != 0.0 ? 0.5 * h / w->before[l->n] : 0.0;
    for (int i = 0; i < l->n; i++) {
        w->mid_v[i] = w->v[i] + ahead * (w->v[i] - w->before[i]);
    }
    zw_status status = solve_middle(l, w, t, h, error);
    if (status != ZW_OK) {
        return status;
    }
    memcpy(w->q, w->next_q, (size_t)l->nq * sizeof(double));
    memcpy(w->q_low, w->next_low, (size_t)l->nq * sizeof(double));
    for (int i = 0; i < l->n; i++) {
        w->reaction[i] += h * w->force[i];
    }
    add(l->n, w->p, w->p_low, w->reaction, 1.0, w->p, w->p_low);

    memcpy(w->before, w->v, bytes);
    w->before[l->n] = h;
    for (int i = 0; i < l->n; i++) {
        w->v[i] = w->mid_v[i] + (w->mid_v[i] - w->v[i]);
    }
    return solve_end(l, w, t + h, error);
}

/* y = (q, v, rest, p): to the substeps and back. */
static void substeps_from(const step_ode *ode, substeps *w, const double *y, const double *low)
{
    int nq = ode->lagrangian.nq;
    size_t bytes = (size_t)ode->lagrangian.n * sizeof(double);
    memcpy(w->q, y, (size_t)nq * sizeof(double));
    memcpy(w->v, y + nq, bytes);
    memcpy(w->p, y + ode->n, bytes);
    memcpy(w->q_low, low, (size_t)nq * sizeof(double));
    memcpy(w->p_low, low + ode->n, bytes);
}

static void substeps_to(const step_ode *ode, const substeps *w, double *y, double *low)
{
    int nq = ode->lagrangian.nq;
    size_t bytes = (size_t)ode->lagrangian.n * sizeof(double);
    memcpy(y, w->q, (size_t)nq * sizeof(double));
    memcpy(y + nq, w->v, bytes);
    memcpy(y + ode->n, w->p, bytes);
    memcpy(low, w->q_low, (size_t)nq * sizeof(double));
    memcpy(low + ode->n, w->p_low, bytes);
}

/* Other entries of the state, after q and v, are integrals of their rates along the motion, by
 * Simpson's rule: work, for example. The middle is that of the cubic through both ends. */
static zw_status integrate_rest(step_ode *ode, zw_error *error)
{
    int first = ode->lagrangian.nq + ode->lagrangian.n;
    double *middle = ode->increment;
    if (first == ode->n) {
        return ZW_OK;
    }
    for (int i = first; i < ode->n; i++) {
        ode->y1[i] = ode->y0[i];
        ode->low1[i] = ode->low0[i];
    }
    zw_status status = step_hermite_prepare(ode, error);
    if (status == ZW_OK) {
        step_hermite(ode, 0.5, ode->trial);
        status = step_evaluate(ode, ode->t0 + 0.5 * ode->h, ode->trial, middle, error);
    }
    for (int i = first; status == ZW_OK && i < ode->n; i++) {
        double rate = (ode->f0[i] + ode->f1[i] + 4.0 * middle[i]) / 6.0;
        add(1, ode->y0 + i, ode->low0 + i, &rate, ode->h, ode->y1 + i, ode->low1 + i);
    }
    return status;
}

static zw_status take(step_ode *ode, int count, const double *part, double h, zw_error *error)
{
    const step_lagrangian *l = &ode->lagrangian;
    substeps *w = ode->more;
    double t = ode->t0;
    ode->f1_known = 0;
    substeps_from(ode, w, ode->y0, ode->low0);
    /* the solver may have been used elsewhere since the last step */
    zw_status status = l->linearise(l->user, t, w->q, w->v, error);
    for (int i = 0; status == ZW_OK && i < count; i++) {
        status = substep(l, w, t, part[i] * h, error);
        t += part[i] * h;
    }
    if (status != ZW_OK) {
        w->before[l->n] = 0.0;
        return status;
    }
    substeps_to(ode, w, ode->y1, ode->low1);
    return integrate_rest(ode, error);
}

static zw_status attempt2(step_ode *ode, double h, double *size, zw_error *error)
{
    static const double one = 1.0;
    *size = 0.0;
    return take(ode, 1, &one, h, error);
}

static zw_status attempt4(step_ode *ode, double h, double *size, zw_error *error)
{
    static const double c = 0.41449077179437573714;
    const double part[5] = {c, c, 1.0 - 4.0 * c, c, c};
    *size = 0.0;
    return take(ode, 5, part, h, error);
}

static zw_status walk_start(step_ode *ode, double t, zw_error *error)
{
    const step_lagrangian *l = &ode->lagrangian;
    ((substeps *)ode->more)->before[l->n] = 0.0;
    return l->momentum(l->user, t, ode->y0, ode->y0 + l->nq, ode->y0 + ode->n, error);
}

static double *walk_memory(const step_ode *ode, int *count)
{
    *count = ode->lagrangian.n + 1;
    return ((substeps *)ode->more)->before;
}

static double no_growth(const step_ode *ode, double size)
{
    (void)ode;
    (void)size;
    return 1.0;
}

#define WALKING(called, by)                                                                        \
    {                                                                                              \
        .name = called, .whole = 1, .layout = walk_layout, .attempt = by,                          \
        .prepare = step_hermite_prepare, .interpolate = step_hermite, .start = walk_start,         \
        .memory = walk_memory, .grow = no_growth                                                   \
    }

const step_scheme step_scheme_variational = WALKING("variational", attempt2);
const step_scheme step_scheme_variational4 = WALKING("variational4", attempt4);
const step_scheme step_scheme_midpoint = WALKING("midpoint", attempt2);

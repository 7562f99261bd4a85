/* Nonsmooth Newton for the multipliers r; w = (S + delta I) r + c, S = B B'.
 *
 * Two equivalent forms of Coulomb's law, with different Newton steps far from the solution:
 *   NATURAL  r - P_K( r - rho (w + |w_T| e_N) ) = 0     De Saxce
 *   SPLIT    r_N = max(0, r_N - rho w_N),   r_T = nearest point of the disc of that radius to
 *            r_T - rho w_T                              Alart and Curnier
 * Each is Phi(r, w) = 0 with block derivatives Phi_r, Phi_w; the step solves
 *   (Phi_r + Phi_w S) dr = -Phi.
 * Open cones and rows at an end of their box (Phi_w = 0) get dr = -Phi at once and leave the linear
 * system.
 *
 * S may be singular (hyperstatic contacts). RIDGE on its diagonal in the matrix, not in the
 * residual, selects one of the many steps; the residual remains that of the exact law. The
 * round-off of the residual moves the internal forces by eps/RIDGE, and the curvature of the law
 * amplifies the square of that: a ridge of 1e-12 left errors of 1e-11.
 *
 * The convex law is NATURAL with its own shift in the place of |w_T|. Where r alone does not get to
 * the last digits, newton_pair.c goes on. */
#include <math.h>
#include <string.h>

#include "gauss/dense/core.h"
#include "math/cone.h"
#include "math/dense/dense.h"

static const double RIDGE = 1e-11, PAIR = 10.0, CRAWL = 0.9, HARDLY = 0.5;
enum { N = CONE_MAX };

/* `shift` is that of the convex law; Coulomb's, marked by -1, is the slip itself. */
static inline void block_natural(int d, double rho, double shift, const double *r, const double *w,
                                 newton_block *out)
{
    double z[N] = {0.0}, P[N * N], u[N] = {0.0};
    int coulomb = shift < 0.0;
    double slip = coulomb ? cone_tangent(d, w) : shift;
    double share = coulomb && slip > 0.0 ? 1.0 / slip : 0.0;
    for (int i = 0; i < d; i++) {
        z[i] = r[i] - rho * (w[i] + (i == 0 ? slip : 0.0));
        u[i] = i == 0 ? 0.0 : w[i] * share;
    }
    cone_project(d, z, out->value);
    out->open = cone_slope(d, z, P) == CONE_OUTSIDE;
    for (int i = 0; i < d; i++) {
        out->value[i] = r[i] - out->value[i];
        for (int j = 0; j < d; j++) {
            out->by_r[i * N + j] = (i == j ? 1.0 : 0.0) - P[i * N + j];
            out->by_w[i * N + j] = rho * (P[i * N + j] + P[i * N] * u[j]);
        }
    }
}

/* Sliding, r_T = n u with u = t/|t| and n = r_N - rho w_N has the slope u n' + n/|t| (I - u u') t'.
 */
static inline void block_slides(int d, double rho, double normal, double length, const double *r,
                                const double *t, newton_block *out)
{
    double u[N], share = 1.0 / length, turn = normal * share;
    for (int i = 1; i < d; i++) {
        u[i] = t[i] * share;
    }
    for (int i = 1; i < d; i++) {
        out->value[i] = r[i] - normal * u[i];
        out->by_r[i * N] = -u[i];
        out->by_w[i * N] = rho * u[i];
        for (int j = 1; j < d; j++) {
            double unit = i == j ? 1.0 : 0.0, slope = turn * (unit - u[i] * u[j]);
            out->by_r[i * N + j] = unit - slope;
            out->by_w[i * N + j] = rho * slope;
        }
    }
}

static inline void block_split(int d, double rho, const double *r, const double *w,
                               newton_block *out)
{
    double t[N], normal = r[0] - rho * w[0];
    out->open = normal <= 0.0;
    for (int i = 0; i < d; i++) { /* open, r = 0, or sticking, w = 0 */
        t[i] = r[i] - rho * w[i];
        out->value[i] = out->open ? r[i] : rho * w[i];
        for (int j = 0; j < d; j++) {
            double unit = i == j ? 1.0 : 0.0;
            out->by_r[i * N + j] = out->open ? unit : 0.0;
            out->by_w[i * N + j] = out->open ? 0.0 : rho * unit;
        }
    }
    double length = cone_tangent(d, t);
    if (!out->open && !(length <= normal)) {
        block_slides(d, rho, normal, length, r, t, out);
    }
}

/* One row, in both forms. */
static inline void block_row(const gauss_core *core, core_form form, int k, const double *r,
                             const double *w, newton_block *out)
{
    const gauss_cone *cone = &core->cone[k];
    int split = form == CORE_SPLIT;
    double rho = core->rho, shift = split || core->coulomb ? 0.0 : core->shift[k], p;
    double z = r[0] - rho * (w[0] + shift);
    out->open = core_project(cone, &z, &p) == CONE_OUTSIDE || (split && p == cone->low);
    out->value[0] = split && !out->open ? rho * w[0] : r[0] - p;
    out->by_r[0] = out->open ? 1.0 : 0.0;
    out->by_w[0] = out->open ? 0.0 : rho;
}

static inline void block_at(const gauss_core *core, core_form form, int k, int d, const double *r,
                            const double *w, newton_block *out)
{
    int at = core->cone[k].first;
    if (form == CORE_SPLIT) {
        block_split(d, core->rho, r + at, w + at, out);
    } else {
        block_natural(d, core->rho, core->coulomb ? -1.0 : core->shift[k], r + at, w + at, out);
    }
}

/* Most cones have three rows: the compiler may count them. */
static void newton_block_at(const gauss_core *core, core_form form, int k, const double *r,
                            const double *w, newton_block *out)
{
    if (core->cone[k].rows == 3) {
        block_at(core, form, k, 3, r, w, out);
    } else if (core->cone[k].rows == 1) {
        block_row(core, form, k, r + core->cone[k].first, w + core->cone[k].first, out);
    } else {
        block_at(core, form, k, core->cone[k].rows, r, w, out);
    }
}

static void newton_prepare(gauss_core *core)
{
    int wide = core->wide;
    if (core->S_ready) {
        return;
    }
    dense_product(0, core->p, core->q, wide, core->Bt, 1, wide, core->Bt, wide, core->S, wide);
    core->S_ready = 1;
}

/* The law of all cones at (r, w), and the merit sum Phi^2; `size` gets max |Phi|. */
static double newton_law(gauss_core *core, core_form form, const double *r, const double *w,
                         double *size)
{
    double sum = 0.0, worst = 0.0;
    for (int k = 0; k < core->cone_count; k++) {
        newton_block *block = &core->block[k];
        newton_block_at(core, form, k, r, w, block);
        for (int i = 0; i < core->cone[k].rows; i++) {
            double value = fabs(block->value[i]);
            sum += value * value;
            worst = value > worst ? value : worst;
        }
    }
    *size = isfinite(sum) ? worst : HUGE_VAL;
    return sum;
}

/* The same at w = B B' r + delta r + c. */
static double newton_merit(gauss_core *core, core_form form, double delta, const double *r,
                           double *w, double *size)
{
    core_force(core, r, core->x);
    core_residual(core, core->x, w);
    if (delta > 0.0) {
        dense_axpy(core->p, delta, r, w);
    }
    return newton_law(core, form, r, w, size);
}

/* Rows of one closed cone in the Newton matrix, and of its right-hand side. */
static void newton_rows(gauss_core *core, double delta, int k, int from, int active,
                        const double *dr)
{
    const newton_block *block = &core->block[k];
    int p = core->p, wide = core->wide, at = core->cone[k].first, d = core->cone[k].rows;
    double *rows = core->J + (long)from * wide;
    dense_product(0, d, d, wide, block->by_w, N, 1, core->S + (long)at * wide, wide, rows, wide);
    for (int i = 0; i < d; i++) {
        double *row = rows + (long)i * wide, right = -block->value[i];
        for (int j = 0; j < d; j++) {
            row[at + j] += block->by_r[i * N + j] + (delta + RIDGE) * block->by_w[i * N + j];
        }
        for (int j = active; j < p; j++) { /* what open cones contribute */
            right -= row[core->active[j]] * dr[core->active[j]];
        }
        for (int j = 0; j < active && active < p; j++) {
            row[j] = row[core->active[j]];
        }
        core->v[6][from + i] = right;
    }
}

/* dr of one Newton step at (r, w). core->active lists the rows of closed cones, then the others. */
static void newton_direction(gauss_core *core, double delta, double *dr)
{
    int active = 0, rest = core->p;
    newton_prepare(core);
    for (int k = 0; k < core->cone_count; k++) {
        int at = core->cone[k].first, open = core->block[k].open;
        for (int i = 0; i < core->cone[k].rows; i++) {
            if (open) {
                core->active[--rest] = at + i;
                dr[at + i] = -core->block[k].value[i];
            } else {
                core->active[active++] = at + i;
            }
        }
    }
    for (int k = 0, from = 0; k < core->cone_count; k++) {
        if (!core->block[k].open) {
            newton_rows(core, delta, k, from, active, dr);
            from += core->cone[k].rows;
        }
    }
    dense_solve_general(active, core->J, core->wide, 1e-14, core->v[6]);
    for (int i = 0; i < active; i++) {
        dr[core->active[i]] = core->v[6][i];
    }
    core->factorizations++;
    core->iterations++;
}

/* Remembers the best solution of the requested law. An error that is hardly smaller is not worth
 * larger multipliers: where the last digits contradict each other, every proximal step adds to
 * internal forces without effect, and their round-off is more than refine.c can correct. */
static void newton_remember(gauss_core *core)
{
    double square = dense_dot(core->p, core->r, core->r),
           other = dense_dot(core->q, core->x, core->x);
    double better = HARDLY * core->best_error;
    if (core->best_error < HUGE_VAL && square <= dense_dot(core->p, core->best, core->best)) {
        better = core->best_error;
    }
    if (core->coulomb == core->wanted && core->error < better && isfinite(square + other)) {
        core->best_error = core->error;
        core->best_paired = core->paired;
        memcpy(core->best, core->r, (size_t)core->p * sizeof(double));
        memcpy(core->best_x, core->x, (size_t)core->q * sizeof(double));
    }
}

void core_recall(gauss_core *core)
{
    if (core->best_error < HUGE_VAL) {
        core->error = core->best_error;
        core->paired = core->best_paired;
        memcpy(core->r, core->best, (size_t)core->p * sizeof(double));
        memcpy(core->x, core->best_x, (size_t)core->q * sizeof(double));
    }
}

/* r moves along dr as far as the merit falls, in at most `cuts` trials; returns 0 when it does not.
 */
static int newton_search(gauss_core *core, core_form form, double delta, int cuts, double *merit,
                         double *size, double *r, const double *dr)
{
    double *trial = core->v[3], *w = core->v[4], t = 1.0, next = 0.0;
    for (int cut = 0; cut < cuts; cut++, t *= 0.5) {
        for (int i = 0; i < core->p; i++) {
            trial[i] = r[i] + t * dr[i];
        }
        next = newton_merit(core, form, delta, trial, w, size);
        if (next <= (1.0 - 1e-3 * t) * *merit) {
            break;
        }
    }
    if (!isfinite(next) || !(next < 4.0 * *merit)) {
        return 0;
    }
    memcpy(r, trial, (size_t)core->p * sizeof *r);
    *merit = next;
    return 1;
}

/* The strict residual; far away the size of Phi suffices. */
static double newton_error(gauss_core *core, double delta, double size, const double *r,
                           const double *w)
{
    core_size(core);
    return delta > 0.0 || size > 10.0 * core->accept * core->R ? core->error = size / core->R
                                                               : core_worst(core, r, w);
}

/* Either law, by steps for r alone. */
static int newton_run(gauss_core *core, core_form form, double delta, int limit)
{
    double *r = core->v[0], *dr = core->v[1], *w = core->v[4], *best = core->v[5];
    size_t bytes = (size_t)core->p * sizeof(double);
    core_force(core, core->r, core->x);
    core_residual(core, core->x, core->w);
    core_size(core);
    int latest = delta == 0.0; /* the best is the latest: x and w are its own */
    memcpy(best, core->r, bytes);
    memcpy(r, core->r, bytes);
    memcpy(w, core->w, bytes);
    if (delta > 0.0) {
        dense_axpy(core->p, delta, r, w);
    }
    core->rho = core->R / core->V;
    double size = 0.0, merit = newton_law(core, form, r, w, &size);
    double aim = delta > 0.0 ? 1e-9 : core->aim;
    double best_error = newton_error(core, delta, size, r, w);
    for (int k = 0; k < limit && size > aim * core->R && !core_spent(core); k++) {
        int solved = delta == 0.0 && best_error <= core->accept;
        double before = merit;
        newton_direction(core, delta, dr);
        if (!newton_search(core, form, delta, solved ? 1 : 12, &merit, &size, r, dr)) {
            latest = 0;
            break;
        }
        double error = newton_error(core, delta, size, r, w);
        latest = delta == 0.0 && error < best_error;
        if (error < best_error || delta > 0.0) {
            best_error = error;
            memcpy(best, r, bytes);
        }
        if (best_error <= core->accept && merit > 0.1 * before) {
            break; /* solved, and round-off is all that moves */
        }
        if (!core->coulomb && merit > CRAWL * before) {
            break; /* too slow: other steps do better */
        }
    }
    memcpy(core->r, best, bytes);
    if (latest) {
        memcpy(core->w, w, bytes);
    } else {
        core_evaluate(core);
    }
    core->paired = 0;
    return delta > 0.0 ? size <= aim * core->R : core->error <= core->accept;
}

int core_newton(gauss_core *core, core_form form, double delta, int limit)
{
    int solved = newton_run(core, core->coulomb ? form : CORE_NATURAL, delta, limit);
    if (!core->coulomb && core->error > PAIR * core->aim) {
        solved = core_newton_pair(core, limit); /* r alone does not converge */
    }
    newton_remember(core);
    return solved;
}

/* Small problems near one that was just solved: a few steps of Newton on the method of multipliers.
 *
 * In the units of work.h a row has length one in the metric of M's diagonal, and every cone is the
 * self-dual one. With multipliers r from before and a weight k, the law of one cone says
 *
 *     lambda = P(r - k w(u)),    w = J u - b,    M u = p + J' lambda
 *
 * where P is the law's projection (below), and the solution is where lambda = r. For given r this
 * is an equation for u alone, with the derivative
 *
 *     H = M + k J' D J,    D = the derivative of P:  1 held, 0 open, between them for what slides
 *
 * One Newton step, then r = lambda, and so on: the method of multipliers. Rows that are held then
 * have the error |lambda - r| / k, so that with the right D each step gains the factor k, at the
 * cost of one solve with the same factors; D is usually known from the previous time step. Rows may
 * be dependent: r stays as it was in undetermined directions. M itself is never factored, and H has
 * M's own sparsity as far as rows go along paths of a tree (math/dense/paths.h): contact with the
 * ground only changes the inertia of the touching body.
 *
 * Coulomb: P_N(z) = max(z_N, 0), and P_T(z) = z_T if |z_T| <= P_N, else P_N z_T/|z_T|. Its fixed
 * points are those of Coulomb's law, without any shift; D has no symmetry where something slides.
 * Convex law: P is the projection onto the cone. A row of its own has an interval instead: all
 * numbers (an equality), those from 0 on (an inequality), those between the limits of a box. If it
 * has a compliance c too, w = J u - b + c lambda, then lambda = P(s (r - k (J u - b))) with
 * s = 1/(1 + k c).
 *
 * Global convergence is not guaranteed. If it does not converge from the given multipliers, or from
 * none, as in an impact, they are found by sweeps (prox_law.h) with W = J M \ J', roughly, and it
 * starts again. Problems that have not converged in a few steps, or have changed
 * modes too often, are left to the methods of solve.c; and no solution is returned that the
 * certificate does not confirm.
 */
#include "gauss/contact/prox.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "gauss/contact/prox_inner.h"
#include "gauss/internal.h"
#include "gauss/measured.h"
#include "gauss/tolerances.h"
#include "math/cone.h"
#include "math/dense/dense.h"

enum { STEPS = 20, STALE = 2, STRESSES = 20 };
#define SETTLED 1e-2 /* r is updated where lambda is as expected, to this relative accuracy */
#define TURNED                                                                                     \
    0.1 /* fraction of the slope along a step that may remain at its end, with the opposite sign   \
         */
#define NOTICED 1e-2 /* relative to the largest: a force at the start that must not be ignored */
#define FINE 1e-15   /* as good as possible */
#define SAME                                                                                       \
    1e-3 /* the factors are valid for sliding directions that turned by no more than this */
#define ROUGH 1e-4 /* sweeps end at such changes of multipliers */

gauss_prox *gauss_prox_create(void)
{
    return base_alloc(sizeof(gauss_prox));
}

void gauss_prox_free(gauss_prox *x)
{
    if (x) {
        base_free(x->memory);
        base_free(x->rows_memory);
        base_free(x->W);
        base_free(x);
    }
}

static double larger(double a, double b)
{
    return b > a ? b : a; /* NaN is ignored */
}

/* ---- The factors ---------------------------------------------------------------------------- */

/* k D of a unit, or its transpose. */
static void weights(const gauss_prox *x, const prox_unit *it, int transposed, double *to)
{
    double D[CONE_MAX][CONE_MAX];
    int held = it->now.mode == PROX_HELD;
    if (!held) {
        prox_slope(x->coulomb, it->rows, &it->now, D);
    }
    for (int i = 0; i < it->rows; i++) {
        for (int k = 0; k < it->rows; k++) {
            double own = held ? (i == k) * it->soft : transposed ? D[k][i] : D[i][k];
            *to++ = PROX_WEIGHT * own;
        }
    }
}

/* w = k D J, or k D' J, of a unit. */
static void weigh(const gauss_prox *x, const prox_unit *it, int stride, const double *J,
                  int transposed, double *w)
{
    double D[CONE_MAX * CONE_MAX];
    if (it->now.mode == PROX_HELD) {
        for (int c = 0; c < it->rows * stride; c++) {
            w[c] = PROX_WEIGHT * it->soft * J[c];
        }
        return;
    }
    weights(x, it, transposed, D);
    paths_rows_weigh(it->rows, stride, J, D, w);
}

static int pushes(const prox_unit *it)
{
    return it->now.mode != PROX_OPEN && it->now.mode != PROX_FULL;
}

static int is_skew(const gauss_prox *x, const prox_unit *it)
{
    return x->coulomb && it->now.mode == PROX_SLIDES;
}

/* H += J' (k D J) of a group, of its units with symmetry or of those without. */
static void fold(gauss_prox *x, const prox_group *group, int skew)
{
    int stride = group->stride, rows = 0;
    for (int k = group->first; k <= group->end; k++) { /* consecutive units together */
        const prox_unit *it = &x->unit[k];
        int end = k == group->end ? group->at + group->rows : it->at;
        const double *J = group->J + (end - group->at) * stride;
        if (k < group->end && pushes(it) && is_skew(x, it) == skew) {
            weigh(x, it, stride, J, skew, x->T + rows * stride);
            rows += it->rows;
            if (!skew) {
                continue;
            }
            J += rows * stride;
        }
        if (rows == 0) {
            continue;
        }
        paths_fold(rows, group->count, group->path, J - rows * stride, stride, x->T, stride,
                   x->lower_row, x->level);
        if (skew) {
            weigh(x, it, stride, J - rows * stride, 0, x->T);
            paths_fold(rows, group->count, group->path, J - rows * stride, stride, x->T, stride,
                       x->upper_row, x->level);
        }
        rows = 0;
    }
}

/* One unknown alone: a number on the diagonal. */
static void fold_alone(gauss_prox *x, const prox_group *group)
{
    int node = group->path[0];
    for (int k = group->first; k < group->end; k++) {
        const prox_unit *it = &x->unit[k];
        const double *J = group->J + it->at - group->at;
        double D[CONE_MAX * CONE_MAX], sum = 0;
        if (pushes(it)) {
            weights(x, it, 0, D);
            for (int i = 0; i < it->rows * it->rows; i++) {
                sum += D[i] * J[i / it->rows] * J[i % it->rows];
            }
            x->lower_row[node][x->level[node]] += sum;
        }
    }
}

/* 1: the current factors are not accurate enough here. */
static int outdated(const gauss_prox *x)
{
    for (int k = 0; k < x->units; k++) {
        const prox_state *now = &x->unit[k].now, *used = &x->unit[k].used;
        if (now->mode != used->mode) {
            return 1;
        }
        if (now->mode == PROX_SLIDES) {
            double off = fabs(now->curve - used->curve) / (used->curve + SAME);
            for (int i = 1; i < x->unit[k].rows; i++) {
                off = larger(off, fabs(now->t[i] - used->t[i]));
            }
            if (!(off <= SAME)) {
                return 1;
            }
        }
    }
    return 0;
}

static int factor(gauss_prox *x)
{
    size_t bytes = (size_t)x->shape.entries * sizeof(double);
    memcpy(x->lower, x->M, bytes);
    x->is_skew = 0;
    for (int k = 0; k < x->units; k++) {
        x->unit[k].used = x->unit[k].now;
        x->is_skew |= is_skew(x, &x->unit[k]);
    }
    for (int g = 0; g < x->groups; g++) {
        if (x->group[g].stride == 1) {
            fold_alone(x, &x->group[g]);
        } else {
            fold(x, &x->group[g], 0);
        }
    }
    if (!x->is_skew) {
        return paths_factor(&x->shape, NULL, x->lower);
    }
    memcpy(x->upper, x->lower, bytes);
    for (int g = 0; g < x->groups; g++) {
        if (x->group[g].stride > 1) {
            fold(x, &x->group[g], 1);
        }
    }
    return paths_factor_skew(&x->shape, x->lower, x->upper);
}

/* ---- One step ------------------------------------------------------------------------------- */

static double largest(const gauss_prox *x, const double *lambda)
{
    double most = 0;
    for (int i = 0; i < x->m; i++) {
        most = larger(most, fabs(lambda[i]));
    }
    return most > 0 ? most : 1;
}

/* lambda at u, from r: by the law, or extended in the current modes, or in those of r. */
typedef enum how { BY_LAW, CONTINUED, GUESSED } how;
static void multipliers(gauss_prox *x, how from)
{
    double least = from == GUESSED ? NOTICED * largest(x, x->r) : 0;
    for (int k = 0; k < x->units; k++) {
        prox_unit *it = &x->unit[k];
        const double *r = x->r + it->at;
        double z[CONE_MAX];
        for (int i = 0; i < it->rows; i++) {
            z[i] = it->soft * (r[i] - PROX_WEIGHT * x->w[it->at + i]);
        }
        if (from == GUESSED) {
            prox_guess(it, r, z, least);
        }
        if (from == BY_LAW) {
            prox_project(x->coulomb, it, z, &it->now, x->lambda + it->at);
        } else {
            prox_carry_on(x->coulomb, it, 0, r, z, x->lambda + it->at);
        }
    }
}

static void speeds(gauss_prox *x)
{
    prox_rows_times(x, x->u, x->w);
    for (int i = 0; i < x->m; i++) {
        x->w[i] -= x->b[i];
    }
}

/* away = M u - p, way = that less J' lambda. */
static void balance(gauss_prox *x, const double *lambda)
{
    if (!x->knows_away) {
        paths_times(&x->shape, x->M, x->u, x->away);
        for (int i = 0; i < x->n; i++) {
            x->away[i] -= x->p[i];
        }
        x->knows_away = 1;
    }
    prox_rows_push(x, lambda, x->push);
    for (int i = 0; i < x->n; i++) {
        x->way[i] = x->away[i] - x->push[i];
    }
}

/* The step that H suggests, and dw = k J way. */
static void aim(gauss_prox *x)
{
    if (x->is_skew) {
        paths_solve_skew(&x->shape, x->lower, x->upper, x->way);
    } else {
        paths_solve(&x->shape, x->lower, x->way);
    }
    prox_rows_times(x, x->way, x->dw);
    for (int i = 0; i < x->m; i++) {
        x->dw[i] *= PROX_WEIGHT;
    }
}

/* -way . (M u' - p - J' lambda) at u' = u - part way. */
static double along(const gauss_prox *x, double start, double bend, double part)
{
    double sum = 0;
    for (int k = 0; k < x->units; k++) {
        const prox_unit *it = &x->unit[k];
        const double *w = x->w + it->at, *r = x->r + it->at, *dw = x->dw + it->at;
        double z[CONE_MAX], lambda[CONE_MAX];
        prox_state there;
        for (int i = 0; i < it->rows; i++) {
            z[i] = it->soft * (r[i] - PROX_WEIGHT * w[i] + part * dw[i]);
        }
        prox_project(x->coulomb, it, z, &there, lambda);
        for (int i = 0; i < it->rows; i++) {
            sum += lambda[i] * dw[i];
        }
    }
    return start + part * bend + sum / PROX_WEIGHT;
}

/* How much of the step to take: all of it, unless the balance along it changes sign before. Then up
 * to there: where the law is a minimum, that is an exact line search. */
static double search(gauss_prox *x)
{
    enum { LOOKS = 20 };
    double start = 0, bend = 0;
    paths_times(&x->shape, x->M, x->way, x->push);
    for (int i = 0; i < x->n; i++) {
        start -= x->way[i] * x->away[i];
        bend += x->way[i] * x->push[i];
    }
    double low = 0, high = 1, f_low = along(x, start, bend, 0), f_high = along(x, start, bend, 1);
    double enough = -TURNED * f_low, f = f_high, part = 1;
    if (!(f_low < 0) || !(f_high > enough)) {
        return 1;
    }
    for (int k = 0; k < LOOKS && fabs(f) > enough; k++) {
        double share = fmin(fmax(f_low / (f_low - f_high), 0.05), 0.95);
        part = low + (high - low) * (k % 3 == 2 ? 0.5 : share);
        f = along(x, start, bend, part);
        *(f < 0 ? &low : &high) = part;
        *(f < 0 ? &f_low : &f_high) = f;
    }
    return part;
}

/* u -= part way, and `moved`: the resulting lambda if no mode changes. With the full step the
 * balance then holds, up to round-off, which decreases with it. */
static void move(gauss_prox *x, double part)
{
    for (int i = 0; i < x->n; i++) {
        x->u[i] -= part * x->way[i];
    }
    x->knows_away = 0;
    for (int k = 0; k < x->units; k++) {
        const prox_unit *it = &x->unit[k];
        const double *dw = x->dw + it->at, *lambda = x->lambda + it->at;
        double D[CONE_MAX][CONE_MAX], *moved = x->moved + it->at;
        for (int i = 0; i < it->rows; i++) {
            moved[i] = lambda[i] + (it->now.mode == PROX_HELD ? part * it->soft * dw[i] : 0);
        }
        if (it->now.mode == PROX_SLIDES) {
            prox_slope(x->coulomb, it->rows, &it->now, D);
            for (int i = 0; i < it->rows; i++) {
                for (int j = 0; j < it->rows; j++) {
                    moved[i] += part * (D[i][j] * dw[j]);
                }
            }
        }
    }
}

/* ---- Are we there? -------------------------------------------------------------------------- */

/* The deviation of (u, moved) from the law. */
static double off(const gauss_prox *x)
{
    double most = 0;
    for (int k = 0; k < x->units; k++) {
        const prox_unit *it = &x->unit[k];
        const double *moved = x->moved + it->at;
        double z[CONE_MAX], p[CONE_MAX];
        prox_state there;
        for (int i = 0; i < it->rows; i++) {
            z[i] = moved[i] - (x->w[it->at + i] + x->give[it->at + i] * moved[i]);
        }
        prox_project(x->coulomb, it, z, &there, p);
        for (int i = 0; i < it->rows; i++) {
            most = larger(most, fabs(p[i] - moved[i]));
        }
    }
    return most / largest(x, x->moved);
}

static double mismatch(const gauss_prox *x)
{
    double most = 0;
    for (int i = 0; i < x->m; i++) {
        most = larger(most, fabs(x->lambda[i] - x->moved[i]));
    }
    return most / largest(x, x->moved);
}

/* The certificate of (u, moved): the numbers that certificate.c computes. */
static int is_there(gauss_prox *x, double tolerance, zw_certificate *certificate)
{
    double R = 0, applied = 0;
    balance(x, x->moved);
    for (int i = 0; i < x->n; i++) {
        R = larger(R, fabs(x->away[i]) * x->inverse[i]);
        applied = larger(applied, fabs(x->p[i]) * x->inverse[i]);
        applied = larger(applied, fabs(x->u[i]) * x->unit_of[i]);
    }
    R += GAUSS_SCALE_FLOOR * applied;
    prox_rows_sizes(x);
    if (!x->knows_before) {
        prox_rows_times(x, x->free, x->before);
        for (int i = 0; i < x->m; i++) {
            x->before[i] -= x->b[i];
        }
        x->knows_before = 1;
    }
    for (int i = 0; i < x->m; i++) {
        x->carried[i] += fabs(x->b[i]);
        x->out[i] = x->moved[i] * x->scale[i];
        x->dw[i] = x->w[i] + x->give[i] * x->moved[i]; /* the next step recomputes it */
    }
    gauss_measured measured = {.n = x->n,
                               .m = x->m,
                               .block_count = x->piece->block_count,
                               .block = x->piece->blocks,
                               .contact = x->coulomb ? ZW_CONTACT_COULOMB : ZW_CONTACT_CONVEX,
                               .lambda = x->out,
                               .unit = x->unit_of,
                               .force = x->way,
                               .pushes = x->push,
                               .w = x->dw,
                               .r = x->moved,
                               .scale = x->scale,
                               .before = x->before,
                               .carried = x->carried,
                               .R = R > 0 ? R : 1};
    gauss_measured_certify(&measured);
    *certificate = measured.out;
    return certificate->worst <= tolerance;
}

/* Has the residual not been halved by the last STALE steps? */
static int is_stale(double left, double *best, int *stale)
{
    *stale = left <= 0.5 * *best ? 0 : *stale + 1;
    *best = fmin(*best, left);
    return *stale >= STALE;
}

/* Keeps the best of what further steps do not improve: the kernel may find nothing better. */
static void keep(gauss_prox *x, double left)
{
    if (left < x->kept_left) {
        x->kept_left = left;
        memcpy(x->kept_u, x->u, (size_t)x->n * sizeof *x->u);
        memcpy(x->kept, x->moved, (size_t)x->m * sizeof *x->moved);
    }
}

static void recall(gauss_prox *x, zw_certificate *certificate)
{
    memcpy(x->u, x->kept_u, (size_t)x->n * sizeof *x->u);
    memcpy(x->moved, x->kept, (size_t)x->m * sizeof *x->moved);
    x->knows_away = 0;
    speeds(x);
    is_there(x, 0, certificate);
}

/* Once the tolerance is met, one more step (polish) costs little and gains much. */
static int iterate(gauss_prox *x, double tolerance, double fair, int polish,
                   gauss_prox_answer *answer)
{
    double part = 1, best = HUGE_VAL;
    int stale = 0, stresses = 0;
    for (int step = 0; step < STEPS + (STALE + 1) * stresses; step++) {
        int leap = step == 0; /* modes are assumed to be right */
        speeds(x);
        if (leap) {
            multipliers(x, GUESSED);
        } else {
            double left = part == 1 ? off(x) : HUGE_VAL;
            int met = left <= tolerance && is_there(x, tolerance, &answer->certificate);
            if (met && (!polish || left <= FINE)) {
                return 1;
            }
            int stuck = is_stale(left, &best, &stale);
            if (stuck) {
                keep(x, left);
            }
            multipliers(x, BY_LAW);
            leap = part == 1 && left <= 10 * best && mismatch(x) <= SETTLED;
            if (stuck && leap && stresses < STRESSES && prox_stress(x)) {
                multipliers(x, BY_LAW);
                best = HUGE_VAL;
                leap = stale = 0;
                stresses++;
            } else if (stuck && left <= fair && is_there(x, fair, &answer->certificate)) {
                return 1;
            }
            polish &= !met;
            if (leap) {
                memcpy(x->r, x->moved, (size_t)x->m * sizeof *x->r);
                multipliers(x, CONTINUED);
            }
        }
        balance(x, x->lambda);
        if (step == 0 || outdated(x)) {
            answer->factorizations++;
            if (!factor(x)) {
                return 0;
            }
        }
        aim(x);
        part = leap ? 1 : search(x);
        move(x, part);
        answer->iterations++;
    }
    return 0;
}

/* ---- From nothing ---------------------------------------------------------------------------- */

/* W = J M \ J', with what gives way; the factors of M are there. */
static void find_delassus(gauss_prox *x, int lines)
{
    memset(x->W, 0, (size_t)x->m * (size_t)lines * sizeof *x->W);
    memset(x->lambda, 0, (size_t)x->m * sizeof *x->lambda);
    for (int i = 0; i < x->m; i++) {
        double *row = x->W + (size_t)i * (size_t)lines;
        x->lambda[i] = 1;
        prox_rows_push(x, x->lambda, x->way);
        x->lambda[i] = 0;
        paths_solve(&x->shape, x->lower, x->way);
        prox_rows_times(x, x->way, row);
        row[i] += x->give[i];
    }
}

/* New initial u and r by sweeps; 0: not available for this problem. */
static int sweep(gauss_prox *x, gauss_prox_answer *answer)
{
    const int lines = (x->m + 7) / 8 * 8;
    double lambda[PROX_SWEPT] = {0};
    if (!x->coulomb || x->m > PROX_SWEPT) {
        return 0;
    }
    x->W = x->W ? x->W : base_alloc(PROX_SWEPT * PROX_SWEPT * sizeof *x->W);
    memcpy(x->lower, x->M, (size_t)x->shape.entries * sizeof(double));
    if (!x->W || !paths_factor(&x->shape, NULL, x->lower)) {
        return 0;
    }
    find_delassus(x, lines);
    memcpy(x->u, x->p, (size_t)x->n * sizeof *x->u);
    paths_solve(&x->shape, x->lower, x->u);
    speeds(x);
    answer->iterations += prox_sweeps(x->units, x->unit, x->W, lines, x->w, ROUGH, lambda);
    memcpy(x->r, lambda, (size_t)x->m * sizeof *lambda);
    prox_rows_push(x, x->r, x->way);
    paths_solve(&x->shape, x->lower, x->way);
    for (int i = 0; i < x->n; i++) {
        x->u[i] += x->way[i];
    }
    x->knows_away = 0;
    return 1;
}

int gauss_prox_solve(gauss_prox *x, const zw_gauss *problem, const gauss_piece *piece,
                     const zw_gauss_options *options, double fair, int polish, const double *start,
                     gauss_prox_answer *answer)
{
    double tolerance = options->tolerance > 0 ? options->tolerance : 1e-11;
    *answer = (gauss_prox_answer){0};
    x->problem = problem;
    x->piece = piece;
    x->n = piece->n;
    x->m = piece->m;
    x->coulomb = options->contact != ZW_CONTACT_CONVEX;
    if (!prox_make_room(x) || !prox_open_tree(x)) {
        return -1;
    }
    if (!prox_open_metric(x)) {
        return 0;
    }
    prox_open_motion(x, start);
    if (!prox_open_rows(x, options->guess)) {
        return 0;
    }
    polish |= !(options->tolerance > 0);
    x->kept_left = HUGE_VAL;
    int found = iterate(x, tolerance, fair, polish, answer) ||
                (sweep(x, answer) && iterate(x, tolerance, fair, polish, answer));
    if (!found && x->kept_left == HUGE_VAL) {
        return 0;
    }
    if (!found) {
        recall(x, &answer->certificate);
    }
    for (int i = 0; i < x->m; i++) {
        x->residual[i] = x->scale[i] > 0 ? x->dw[i] / x->scale[i] : 0;
    }
    answer->a = x->u;
    answer->lambda = x->out;
    answer->residual = x->residual;
    return found;
}

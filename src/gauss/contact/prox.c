/* Small problems near one that was just solved: a few steps of Newton on the method of multipliers.
 *
 * In the units of work.h a row has length one in the metric of M's diagonal, and every cone is the
 * self-dual one. With multipliers r from before and a weight k, the law of one cone says
 *
 *     lambda = P(r - k w(u)),    w = J u - b,    M u = p + J' lambda
 *
 * where P is the law's projection (below), and the answer is where lambda = r. For given r this is
 * an equation for u alone, with the slope
 *
 *     H = M + k J' D J,    D = the derivative of P:  1 held, 0 open, between them for what slides
 *
 * One step of Newton, then r = lambda, and again: the method of multipliers. Rows that are held are
 * off by |lambda - r| / k then, so that with the right D each step gains the factor k, at the cost
 * of one solve with the same factors; D is known from the step of time before, as a rule. No row
 * need be independent of others: r stays where it was in the directions that nothing determines.
 * M itself is never factored, and H has M's own sparsity as far as rows go along paths of a tree:
 * contact with the ground is folded into the inertia of what touches it.
 *
 * Coulomb: P_N(z) = max(z_N, 0), and P_T(z) = z_T if |z_T| <= P_N, else P_N z_T/|z_T|. Its fixed
 * points are those of Coulomb's law, without any shift; D has no symmetry where something slides.
 * Convex law: P is the projection onto the cone. A row of its own has an interval instead: all
 * numbers (an equality), those from 0 on (an inequality), those between the limits of a box. If it
 * has a compliance c too, w = J u - b + c lambda, then lambda = P(s (r - k (J u - b))) with
 * s = 1/(1 + k c).
 *
 * Nothing makes this converge from far. What has not converged in a few steps, or has changed what
 * is open, held and sliding too often, is left to the methods of solve.c; and no answer is given
 * that the certificate does not confirm. */
#include "gauss/contact/prox.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "gauss/contact/prox_law.h"
#include "gauss/internal.h"
#include "gauss/judge.h"
#include "math/cone.h"
#include "math/dense/dense.h"

enum { STEPS = 20 };
#define WEIGHT 1e5   /* k */
#define SETTLED 1e-2 /* r moves on where lambda is what was expected, to this part of it */
#define TURNED 0.1   /* of the slope along a step may be left at its end, the other way */
#define NOTICED 1e-2 /* a push at the start that is not to be overlooked, to the largest */
#define FINE 1e-15   /* as good as it gets */
#define SAME 1e-3    /* the factors are good for slides that turned by no more than this */

struct gauss_prox {
    int n, m, units, wide; /* wide: n in whole lines */
    int coulomb;
    const zw_gauss *problem;
    const gauss_piece *piece;
    prox_unit *unit;
    double *u, *p, *way, *push, *away, *free, *unit_of, *inverse; /* [wide] */
    double *scale, *b, *give, *r, *w, *lambda, *moved, *dw;       /* [m] in scaled units */
    double *out, *residual, *before, *carried;                    /* [m] */
    double *J;                                                    /* [m][wide] the rows, scaled */
    double *T;                                                    /* [CONE_MAX][wide] */
    double *M, *H, *U;                                            /* [wide][wide] */
    int *column;                                                  /* [entries] */
    size_t entries;                                               /* of all rows */
    void *memory;
    size_t bytes;
};

gauss_prox *gauss_prox_create(void)
{
    return base_alloc(sizeof(gauss_prox));
}

void gauss_prox_free(gauss_prox *x)
{
    if (x) {
        base_free(x->memory);
        base_free(x);
    }
}

static void lay_out(gauss_prox *x, base_arena *arena)
{
    size_t wide = (size_t)x->wide, m = (size_t)x->m;
    double **vector[] = {&x->u,    &x->p,    &x->way,     &x->push,
                         &x->away, &x->free, &x->unit_of, &x->inverse};
    double **rows[] = {&x->scale, &x->b,  &x->give, &x->r,        &x->w,      &x->lambda,
                       &x->moved, &x->dw, &x->out,  &x->residual, &x->before, &x->carried};
    for (size_t i = 0; i < sizeof vector / sizeof *vector; i++) {
        *vector[i] = base_arena_doubles(arena, wide);
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        *rows[i] = base_arena_doubles(arena, m);
    }
    x->J = base_arena_doubles(arena, m * wide);
    x->T = base_arena_doubles(arena, CONE_MAX * wide);
    x->M = base_arena_doubles(arena, wide * wide);
    x->H = base_arena_doubles(arena, wide * wide);
    x->U = base_arena_doubles(arena, wide * wide);
    x->column = base_arena_ints(arena, x->entries);
    x->unit = base_arena_bytes(arena, m * sizeof *x->unit);
}

static int make_room(gauss_prox *x)
{
    base_arena arena = {0};
    lay_out(x, &arena);
    if (arena.used > x->bytes) {
        base_free(x->memory);
        x->bytes = 0;
        x->memory = base_alloc(arena.used + arena.used / 2);
        if (!x->memory) {
            return 0;
        }
        x->bytes = arena.used + arena.used / 2;
    }
    arena = (base_arena){.block = x->memory};
    lay_out(x, &arena);
    return 1;
}

/* ---- The problem in scaled units ------------------------------------------------------------ */

static void zeros(double *x, int count)
{
    for (int i = 0; i < count; i++) {
        x[i] = 0;
    }
}

/* M in whole lines. 0: that is no metric. */
static int open_metric(gauss_prox *x)
{
    const zw_metric *M = &x->problem->metric;
    const gauss_piece *piece = x->piece;
    zeros(x->M, x->n * x->wide);
    for (int i = 0; i < x->n; i++) {
        int j = piece->unknown[i];
        if (M->kind == ZW_METRIC_DIAGONAL) {
            x->M[i * x->wide + i] = M->value[j];
            continue;
        }
        for (int k = M->start[j]; k < M->start[j + 1]; k++) {
            int r = piece->local[M->row[k]];
            x->M[i * x->wide + r] = x->M[r * x->wide + i] = M->value[k];
        }
    }
    for (int i = 0; i < x->n; i++) {
        double mass = x->M[i * x->wide + i];
        if (!(mass > 0)) {
            return 0;
        }
        x->unit_of[i] = sqrt(mass);
        x->inverse[i] = 1 / x->unit_of[i];
    }
    return 1;
}

/* p = M free, or the force; and where to start. */
static void open_motion(gauss_prox *x, const double *start)
{
    const zw_gauss *problem = x->problem;
    int rest = x->wide - x->n;
    double *padded[] = {x->u, x->p, x->way, x->push, x->away, x->free, x->unit_of, x->inverse};
    for (size_t i = 0; i < sizeof padded / sizeof *padded; i++) {
        zeros(padded[i] + x->n, rest);
    }
    for (int i = 0; i < x->n; i++) {
        int j = x->piece->unknown[i];
        if (problem->force) {
            x->p[i] = problem->force[j];
            x->free[i] = x->p[i] * x->inverse[i] * x->inverse[i]; /* as certificate.c has it */
        } else {
            x->free[i] = problem->free[j];
        }
        x->u[i] = start ? start[j] : x->free[i];
    }
    if (!problem->force) {
        dense_lines_times(x->n, x->wide, x->M, x->free, x->p);
    }
}

/* J = scale A: the squares of the lengths first, then as work.h says. `from` is the block's first
 * row in the problem, `at` here. */
static void scale_block(gauss_prox *x, const zw_block *block, int from, int at)
{
    const zw_rows *A = &x->problem->A;
    int cone = block->kind == ZW_CONE;
    double longest = 0;
    for (int i = 0; i < block->rows; i++) {
        double mu = cone && i > 0 ? block->friction[i - 1] : 1, *J = x->J + (at + i) * x->wide;
        double give = x->problem->compliance ? x->problem->compliance[from + i] : 0;
        zeros(J, x->wide);
        for (int e = A->start[from + i]; e < A->start[from + i + 1]; e++) {
            J[x->piece->local[A->column[e]]] = A->value[e];
        }
        double square = dense_square(x->wide, J, x->inverse) + give;
        x->give[at + i] = give;
        x->scale[at + i] = cone ? mu : square > 0 ? 1 / sqrt(square) : 1;
        longest = fmax(longest, mu * mu * square);
    }
    double factor = cone && longest > 0 ? 1 / sqrt(longest) : 1;
    for (int i = 0; i < block->rows; i++) {
        double s = x->scale[at + i] *= factor, *J = x->J + (at + i) * x->wide;
        for (int j = 0; j < x->wide; j++) {
            J[j] *= s;
        }
        x->b[at + i] = x->problem->b ? s * x->problem->b[from + i] : 0;
        x->give[at + i] *= s * s;
    }
}

/* The columns of so many rows of the problem, each once. Rows of a point have the same. */
static int list_columns(const gauss_prox *x, int row, int rows, int *column)
{
    const zw_rows *A = &x->problem->A;
    int first = A->start[row], count = A->start[row + 1] - first;
    for (int e = 0; e < count; e++) {
        column[e] = x->piece->local[A->column[first + e]];
    }
    for (int i = row + 1; i < row + rows; i++) {
        int start = A->start[i], wide = A->start[i + 1] - start;
        size_t bytes = (size_t)wide * sizeof(int);
        if (wide == A->start[row + 1] - first &&
            memcmp(A->column + start, A->column + first, bytes) == 0) {
            continue;
        }
        for (int e = start; e < start + wide; e++) {
            int c = x->piece->local[A->column[e]], known = 0;
            for (int a = 0; a < count; a++) {
                known |= column[a] == c;
            }
            column[count] = c;
            count += !known;
        }
    }
    return count;
}

/* 0: a cone gives way, which is for others. */
static int open_rows(gauss_prox *x, const double *guess)
{
    const gauss_piece *piece = x->piece;
    int at_entry = 0;
    x->units = 0;
    for (int k = 0, at = 0; k < piece->block_count; at += piece->blocks[k++].rows) {
        const zw_block *block = &piece->blocks[k];
        int step = block->kind == ZW_CONE ? block->rows : 1, from = piece->first[piece->block[k]];
        scale_block(x, block, from, at);
        for (int i = at; i < at + block->rows; i += step) {
            prox_unit *it = &x->unit[x->units++];
            it->at = i;
            it->rows = step;
            prox_interval(block, x->scale[i], it);
            it->soft = 1 / (1 + WEIGHT * x->give[i]);
            it->column = x->column + at_entry;
            it->columns = list_columns(x, from + i - at, step, it->column);
            at_entry += it->columns;
        }
        for (int i = 0; i < block->rows; i++) {
            double s = x->scale[at + i], r = guess && s > 0 ? guess[from + i] / s : 0;
            x->r[at + i] = isfinite(r) && fabs(r) >= GAUSS_TRACE ? r : 0;
            if (step > 1 && x->give[at + i] > 0) {
                return 0;
            }
        }
    }
    return 1;
}

/* ---- The factors ---------------------------------------------------------------------------- */

/* H += J' (k D J) of one unit. */
static void fold(gauss_prox *x, const prox_unit *it)
{
    const double *J = x->J + it->at * x->wide;
    double D[CONE_MAX][CONE_MAX];
    if (it->now.mode == PROX_HELD) {
        dense_fold(it->columns, it->column, it->rows, WEIGHT * it->soft, J, J, x->wide, x->H);
        return;
    }
    prox_slope(x->coulomb, it, D);
    dense_product(0, it->rows, it->rows, x->wide, D[0], CONE_MAX, 1, J, x->wide, x->T, x->wide);
    dense_fold(it->columns, it->column, it->rows, WEIGHT, J, x->T, x->wide, x->H);
}

/* 1: the factors at hand are not good enough for where things are now. */
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
                off = fmax(off, fabs(now->t[i] - used->t[i]));
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
    memcpy(x->H, x->M, (size_t)(x->n * x->wide) * sizeof(double));
    for (int k = 0; k < x->units; k++) {
        prox_unit *it = &x->unit[k];
        if (it->now.mode != PROX_OPEN && it->now.mode != PROX_FULL) {
            fold(x, it);
        }
        it->used = it->now;
    }
    return dense_ul(x->n, x->H, x->wide, x->U) == x->n;
}

/* ---- One step ------------------------------------------------------------------------------- */

static double largest(const gauss_prox *x, const double *lambda)
{
    double most = 0;
    for (int i = 0; i < x->m; i++) {
        most = fmax(most, fabs(lambda[i]));
    }
    return most > 0 ? most : 1;
}

/* lambda at u, from r: as the law says, or continued in the modes of now, or of r. */
typedef enum how { BY_LAW, CONTINUED, GUESSED } how;

static void multipliers(gauss_prox *x, how from)
{
    double least = from == GUESSED ? NOTICED * largest(x, x->r) : 0;
    for (int k = 0; k < x->units; k++) {
        prox_unit *it = &x->unit[k];
        const double *r = x->r + it->at;
        double z[CONE_MAX];
        for (int i = 0; i < it->rows; i++) {
            z[i] = it->soft * (r[i] - WEIGHT * x->w[it->at + i]);
        }
        if (from == GUESSED) {
            prox_guess(it, r, z, least);
        }
        if (from == BY_LAW) {
            prox_project(x->coulomb, it, z, &it->now, x->lambda + it->at);
        } else {
            prox_carry_on(x->coulomb, it, r, z, x->lambda + it->at);
        }
    }
}

static void speeds(gauss_prox *x)
{
    dense_lines_times(x->m, x->wide, x->J, x->u, x->w);
    for (int i = 0; i < x->m; i++) {
        x->w[i] -= x->b[i];
    }
}

/* away = M u - p, way = that less J' lambda. */
static void balance(gauss_prox *x, const double *lambda)
{
    dense_lines_times(x->n, x->wide, x->M, x->u, x->away);
    dense_lines_push(x->m, x->wide, x->J, lambda, x->push);
    for (int i = 0; i < x->n; i++) {
        x->away[i] -= x->p[i];
        x->way[i] = x->away[i] - x->push[i];
    }
}

/* The step that H suggests, and dw = k J way. */
static void aim(gauss_prox *x)
{
    dense_ul_solve(x->n, x->H, x->wide, x->U, x->way);
    dense_lines_times(x->m, x->wide, x->J, x->way, x->dw);
    for (int i = 0; i < x->m; i++) {
        x->dw[i] *= WEIGHT;
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
            z[i] = it->soft * (r[i] - WEIGHT * w[i] + part * dw[i]);
        }
        prox_project(x->coulomb, it, z, &there, lambda);
        for (int i = 0; i < it->rows; i++) {
            sum += lambda[i] * dw[i];
        }
    }
    return start + part * bend + sum / WEIGHT;
}

/* How much of the step to take: all of it, unless the balance along it turns over before. Then up
 * to there: where the law is a minimum, that is an exact search along a line. */
static double search(gauss_prox *x)
{
    enum { LOOKS = 20 };
    double start = 0, bend = 0;
    dense_lines_times(x->n, x->wide, x->M, x->way, x->push);
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

/* u -= part way, and `moved`: what that does to lambda if nothing changes its mode. With all of the
 * step the balance holds then, up to its round-off, which gets smaller with it. */
static void move(gauss_prox *x, double part)
{
    for (int i = 0; i < x->n; i++) {
        x->u[i] -= part * x->way[i];
    }
    for (int k = 0; k < x->units; k++) {
        const prox_unit *it = &x->unit[k];
        const double *dw = x->dw + it->at, *lambda = x->lambda + it->at;
        double D[CONE_MAX][CONE_MAX], *moved = x->moved + it->at;
        for (int i = 0; i < it->rows; i++) {
            moved[i] = lambda[i] + (it->now.mode == PROX_HELD ? part * it->soft * dw[i] : 0);
        }
        if (it->now.mode == PROX_SLIDES) {
            prox_slope(x->coulomb, it, D);
            for (int i = 0; i < it->rows; i++) {
                for (int j = 0; j < it->rows; j++) {
                    moved[i] += part * (D[i][j] * dw[j]);
                }
            }
        }
    }
}

/* ---- Are we there? -------------------------------------------------------------------------- */

/* (u, moved) against the law. */
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
            most = fmax(most, fabs(p[i] - moved[i]));
        }
    }
    return most / largest(x, x->moved);
}

static double mismatch(const gauss_prox *x)
{
    double most = 0;
    for (int i = 0; i < x->m; i++) {
        most = fmax(most, fabs(x->lambda[i] - x->moved[i]));
    }
    return most / largest(x, x->moved);
}

/* The certificate of (u, moved): the numbers that certificate.c measures. */
static int is_there(gauss_prox *x, double tolerance, zw_certificate *certificate)
{
    double R = 0, applied = 0;
    balance(x, x->moved);
    for (int i = 0; i < x->n; i++) {
        R = fmax(R, fabs(x->away[i]) * x->inverse[i]);
        applied = fmax(applied, fabs(x->p[i]) * x->inverse[i]);
        applied = fmax(applied, fabs(x->u[i]) * x->unit_of[i]);
    }
    R += 1e-3 * applied;
    dense_lines_sizes(x->m, x->wide, x->J, x->u, x->moved, x->carried, x->push);
    dense_lines_times(x->m, x->wide, x->J, x->free, x->before);
    for (int i = 0; i < x->m; i++) {
        x->carried[i] += fabs(x->b[i]);
        x->before[i] -= x->b[i];
        x->out[i] = x->moved[i] * x->scale[i];
        x->dw[i] = x->w[i] + x->give[i] * x->moved[i]; /* the next step makes it anew */
    }
    gauss_judge judge = {.n = x->n,
                         .m = x->m,
                         .block_count = x->piece->block_count,
                         .block = x->piece->blocks,
                         .contact = x->coulomb ? ZW_COULOMB : ZW_CONVEX,
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
    gauss_judge_all(&judge);
    *certificate = judge.out;
    return certificate->worst <= tolerance;
}

/* Once the tolerance is met, one step more costs little and gains much: unless a tolerance was
 * given, which says that this is all that is wanted. */
static int iterate(gauss_prox *x, double tolerance, int polish, gauss_prox_answer *answer)
{
    double part = 1;
    for (int step = 0; step < STEPS; step++) {
        int leap = step == 0; /* modes are taken on trust */
        speeds(x);
        if (leap) {
            multipliers(x, GUESSED);
        } else {
            double left = part == 1 ? off(x) : HUGE_VAL;
            int met = left <= tolerance && is_there(x, tolerance, &answer->certificate);
            if (met && (!polish || left <= FINE)) {
                return 1;
            }
            polish &= !met;
            multipliers(x, BY_LAW);
            leap = part == 1 && mismatch(x) <= SETTLED;
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

int gauss_prox_solve(gauss_prox *x, const zw_gauss *problem, const gauss_piece *piece,
                     const zw_gauss_options *options, const double *start,
                     gauss_prox_answer *answer)
{
    int polish = !(options->tolerance > 0);
    double tolerance = polish ? 1e-11 : options->tolerance;
    *answer = (gauss_prox_answer){0};
    x->problem = problem;
    x->piece = piece;
    x->n = piece->n;
    x->m = piece->m;
    x->wide = gauss_whole_lines(piece->n);
    x->coulomb = options->contact == ZW_COULOMB;
    x->entries = 0;
    for (int k = 0; k < piece->block_count; k++) {
        const int *row = piece->first + piece->block[k];
        x->entries += (size_t)(problem->A.start[row[1]] - problem->A.start[row[0]]);
    }
    if (!make_room(x)) {
        return -1;
    }
    if (!open_metric(x)) {
        return 0;
    }
    open_motion(x, start);
    if (!open_rows(x, options->guess) || !iterate(x, tolerance, polish, answer)) {
        return 0;
    }
    for (int i = 0; i < x->m; i++) {
        x->residual[i] = x->scale[i] > 0 ? x->dw[i] / x->scale[i] : 0;
    }
    answer->a = x->u;
    answer->lambda = x->out;
    answer->residual = x->residual;
    return 1;
}

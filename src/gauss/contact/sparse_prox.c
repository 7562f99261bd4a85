/* Contacts of many bodies: Newton's method in the motion, and a path inside the cones.
 *
 * Units as in sparse_prox_table.h: x = a - a_free, w = J x + c, and every cone is |r_T| <= r_N.
 * Signorini's and Coulomb's laws are, for any rho > 0,
 *
 *     r_N = max(0, r_N - rho w_N),     r_T = the nearest to r_T - rho w_T with |r_T| <= r_N, (1)
 *
 * (P. Alart, A. Curnier, A mixed formulation for frictional contact problems prone to Newton like
 * solution methods, Comput. Methods Appl. Mech. Engrg. 92 (1991) 353-375); an equality row is
 * r = r - rho w. With the right sides called pi(r, w), a proximal step takes the centre r to
 *
 *     r+ = pi(r, w),     F(x) = M x - J' r+ = 0,     w = J x + c.                               (2)
 *
 * Where r+ = r that is the law, without any compliance: rho only affects the speed of convergence.
 * J may have any rank, so hyperstatic stacks are no special case. How (2) is solved:
 * sparse_prox_newton.c. All matrices are H = M + J' G J with blocks G of contacts and blocks H of
 * bodies: sparse_prox_matrix.c, math/sparse/front.c.
 *
 * Stages, each more expensive than the one before, which end as soon as the certificate is as
 * required:
 *
 * 1. The multipliers of the guess as they are: where nothing has changed, nothing is done. Where it
 *    is unknown which contacts have forces, all closed ones are tried as sticking, as
 * in a scene that begins at rest (sparse_prox_pair.c).
 * 2. Sweeps over the contacts with Anderson's acceleration (sparse_prox_anderson.c), checked after
 *    every BLOCK of them: a sweep costs a hundredth of a factorisation or less, and the check about
 *    as much as a sweep; the certificate itself is computed where that promises success.
 * 3. Newton's method from there, once they are near (TRY): in motion and multipliers together
 *    (sparse_prox_pair.c), as a rule with one to three factorisations, else with centres
 *    (sparse_prox_newton.c). It gives the last digits, which sweeps would gain one by one, and
 *    which a certificate does not distinguish from the effect of nearly dependent rows. Where it
 *    fails, sweeps continue, and it is tried again at a hundredth of the error. With a ROUGH
 *    tolerance one factorisation is tried in the end: sweeps carry loads down a tower one body at a
 *    time.
 * 4. Where sweeps no longer gain (STALE), loads are transmitted in ways that sweeps do not resolve:
 *    the path of sparse_prox_path.c, from their result. Up to TURNS times, with sweeps between,
 *    from farther and farther inside the cones; where units are many, once, with at most MOST
 *    factorisations in all, and not at all if the tolerance is ROUGH. Then all SWEEPS are made,
 *    stale or not: while a blow spreads through hundreds of bodies the worst contact is wrong by as
 *    much as all forces, for hundreds of sweeps, and then right within a few.
 *
 * The convex law is r+ = the point of the cone nearest to r - rho w in place of (1): the method of
 * multipliers of a convex problem (R. T. Rockafellar 1976), by Newton's method alone.
 *
 * Bodies that the metric couples (chains) have no sweeps: Newton's method from the guess, or the
 * path without a start.
 *
 * The certificate of the kernel decides. A failure does not mean that there is no solution: what is
 * not solved here is left to the kernel to solve or to diagnose. */
#include "gauss/contact/sparse_prox.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "gauss/contact/sparse_prox_inner.h"
#include "gauss/rows.h"
#include "gauss/tolerances.h"

/* Sweeps between two looks at their error, without halving it, and of a turn. */
enum { BLOCK = 5, STALE = 50, SWEEPS = 500 };
/* Factorisations of Newton's method, and how often it may step back. */
enum { PAIR = 3, WARM = 12, POLISH = 20, PATIENCE = 4 };
enum { TURNS = 3, LONG = 60 };   /* of the path, and its steps */
enum { LARGE = 300, MOST = 30 }; /* units, and the factorisations that they may have */
#define ROUGH 1e-5 /* a tolerance for which sweeps suffice, where there are many units */
#define TRY 1e-4   /* one from which Newton's method may converge */

/* ---- Memory --------------------------------------------------------------------------------- */

sparse_prox *sparse_prox_create(void)
{
    sparse_prox *s = base_alloc(sizeof *s);
    if (s && !(s->front = front_create())) {
        base_free(s);
        return NULL;
    }
    return s;
}

void sparse_prox_free(sparse_prox *s)
{
    if (s) {
        front_free(s->front);
        base_free(s->block);
        base_free(s->marks);
        base_free(s->pattern);
        base_free(s->spare);
        base_free(s);
    }
}

int many_reserve(unsigned char **block, size_t *capacity, size_t need)
{
    if (need > *capacity) {
        base_free(*block);
        *capacity = 0;
        *block = base_alloc(need + need / 4);
        *capacity = *block ? need + need / 4 : 0;
    }
    return *block != NULL;
}

static void lay_out(sparse_prox *s, base_arena *arena, const zw_gauss *problem)
{
    size_t n = (size_t)s->t.n, m = (size_t)s->m, units = (size_t)s->t.units;
    double **by_n[] = {&s->x,      &s->x_new, &s->d,      &s->F, &s->F_new,
                       &s->x_good, &s->y,     &s->best_a, &s->a, &s->x_swept};
    double **by_row[] = {&s->r, &s->w, &s->w_new, &s->dw, &s->pi, &s->pi_new, &s->r_swept};
    many_table_lay_out(&s->t, arena);
    many_anderson_lay_out(&s->sweeps, &s->t, arena);
    many_anderson_lay_out(&s->centres, &s->t, arena);
    many_path_lay_out(s, arena);
    s->G = base_arena_doubles(arena, s->t.slopes);
    s->B = base_arena_doubles(arena, s->t.slopes);
    for (size_t k = 0; k < sizeof by_n / sizeof *by_n; k++) {
        *by_n[k] = base_arena_doubles(arena, n);
    }
    for (size_t k = 0; k < sizeof by_row / sizeof *by_row; k++) {
        *by_row[k] = base_arena_doubles(arena, (size_t)s->t.rows);
    }
    s->state = base_arena_bytes(arena, units);
    s->state_new = base_arena_bytes(arena, units);
    s->factored = base_arena_bytes(arena, units);
    s->settled = base_arena_bytes(arena, units);
    s->pair = base_arena_ints(arena, (size_t)s->t.pairs);
    s->fill = base_arena_ints(arena, (size_t)s->t.nodes + 1);
    s->lambda = base_arena_doubles(arena, m);
    s->best_lambda = base_arena_doubles(arena, m);
    s->residual = base_arena_doubles(arena, m);
    s->scratch = base_arena_doubles(arena, zw_gauss_certify_scratch(problem));
}

/* ---- The answer ----------------------------------------------------------------------------- */

double many_certify(sparse_prox *s, const many_task *task, const double *x, const double *r)
{
    const many_table *t = &s->t;
    for (int j = 0; j < t->n; j++) {
        s->a[j] = task->problem->free[j] + x[t->position[j]];
    }
    memset(s->lambda, 0, (size_t)s->m * sizeof(double));
    for (int i = 0; i < t->rows; i++) {
        s->lambda[t->row[i]] = t->scale[i] * r[i];
    }
    zw_gauss_certify(task->problem, task->contact, s->a, s->lambda, NULL, s->scratch, &s->proof);
    double worst = isfinite(s->proof.worst) ? s->proof.worst : HUGE_VAL;
    if (worst < s->best) {
        s->best = worst;
        s->best_proof = s->proof;
        memcpy(s->best_a, s->a, (size_t)t->n * sizeof(double));
        memcpy(s->best_lambda, s->lambda, (size_t)s->m * sizeof(double));
    }
    return worst;
}

/* Newton's method from the guess, as if all contacts that the free motion violates were closed and
 * stuck. */
static int from_guess(sparse_prox *s, const many_task *task)
{
    static const many_way way = {.kappa = 1e3, .effort = WARM, .cold = 1};
    memcpy(s->w, s->t.c, (size_t)s->t.rows * sizeof(double));
    return many_newton(s, task, &way) || s->best <= task->good;
}

/* Newton's method from r and x, in both together. 1: solved. */
static int pair_from(sparse_prox *s, const many_task *task, int effort, const double *r,
                     const double *x)
{
    memcpy(s->r, r, (size_t)s->t.rows * sizeof(double));
    memcpy(s->x, x, (size_t)s->t.n * sizeof(double));
    return many_pair(s, task, effort, 0);
}

/* Newton's method from the result of the sweeps. 1: solved. */
static int from_sweeps(sparse_prox *s, const many_task *task)
{
    const many_table *t = &s->t;
    static const many_way way = {.kappa = 1e4, .effort = POLISH, .fails = PATIENCE};
    if (pair_from(s, task, PAIR, s->sweeps.g, s->sweeps.y)) {
        return 1;
    }
    memcpy(s->r, s->sweeps.g, (size_t)t->rows * sizeof(double));
    many_residuals(t, s->sweeps.y, s->w);
    return many_newton(s, task, &way) || s->best <= task->good;
}

/* One more sweep, from s->sweeps. */
static void sweep_once(sparse_prox *s)
{
    many_anderson *a = &s->sweeps;
    memcpy(s->pi, a->r, (size_t)s->t.rows * sizeof(double));
    memcpy(s->y, a->x, (size_t)s->t.n * sizeof(double));
    many_sweep(&s->t, s->pi, s->y);
    many_anderson_mix(a, &s->t, s->pi, s->y);
}

static void begin_sweeps(sparse_prox *s, const double *free)
{
    many_anderson *a = &s->sweeps;
    for (int j = 0; j < s->t.n; j++) {
        s->y[s->t.position[j]] = free[j];
    }
    many_table_scales(&s->t, s->y, s->F);
    many_anderson_begin(a, &s->t);
    memcpy(a->r, s->r, (size_t)s->t.rows * sizeof(double));
    memcpy(a->g, s->r, (size_t)s->t.rows * sizeof(double));
    many_motion(&s->t, a->r, a->x);
    memcpy(a->y, a->x, (size_t)s->t.n * sizeof(double));
}

/* The error of where they are; the best of them is kept until it is certified. */
static double look(sparse_prox *s)
{
    const many_anderson *a = &s->sweeps;
    double error = many_error(&s->t, a->y, a->g, s->F, s->w);
    if (error < s->swept) {
        s->swept = error;
        memcpy(s->r_swept, a->g, (size_t)s->t.rows * sizeof(double));
        memcpy(s->x_swept, a->y, (size_t)s->t.n * sizeof(double));
    }
    return error;
}

/* Sweeps, and Newton's method from them. 1: solved. */
static int sweep(sparse_prox *s, const many_task *task)
{
    double least = HUGE_VAL, try = TRY, error;
    int exact = task->aim < ROUGH,
        last = task->aim <= GAUSS_GOOD;    /* the last digits are Newton's */
    int block = exact ? 2 * BLOCK : BLOCK; /* Newton's method profits from more of them */
    int more_follows = exact || s->t.boxes || s->t.units <= LARGE; /* which costs more */
    int stalest = exact || s->t.boxes ? STALE : 2 * STALE;
    s->swept = HUGE_VAL;
    for (int swept = 0, stale = 0;; swept += block, stale += block) {
        error = look(s);
        if (error <= task->aim && many_certify(s, task, s->x_swept, s->r_swept) <= task->aim &&
            !(last && swept > 0)) {
            return 1;
        }
        if (error <= try && (exact || task->aim < 0.01 * error)) {
            if (from_sweeps(s, task)) {
                return 1;
            }
            try = 0.01 * error;
        }
        stale = error < 0.5 * least ? 0 : stale;
        least = exact || stale == 0 ? fmin(least, error) : least;
        if ((stale > stalest && more_follows) || swept >= SWEEPS || many_spent(s, task)) {
            break;
        }
        for (int k = 0; k < block; k++) {
            sweep_once(s);
        }
        s->iterations += block;
    }
    many_certify(s, task, s->x_swept, s->r_swept);
    if (!exact && s->t.boxes) { /* what gives way is regular: Newton's method converges */
        return from_sweeps(s, task);
    }
    return exact ? s->best <= task->good : pair_from(s, task, 1, s->r_swept, s->x_swept);
}

/* Is there a multiplier in the guess? */
static int pushes(const sparse_prox *s)
{
    int any = 0;
    for (int i = 0; i < s->t.rows; i++) {
        any |= s->r[i] != 0;
    }
    return any;
}

/* 1: solved. */
static int climb(sparse_prox *s, const many_task *task)
{
    static const double share[TURNS] = {1, 1e-1, 1e-2};
    int large = s->t.units > LARGE, turns = large ? 1 : TURNS;
    if (!pushes(s)) {
        memset(s->x, 0, (size_t)s->t.n * sizeof(double));
        if (many_pair(s, task, PAIR, 1)) {
            return 1;
        }
        memset(s->r, 0, (size_t)s->t.rows * sizeof(double));
    }
    begin_sweeps(s, task->problem->free);
    if (large && task->aim >= ROUGH) { /* a path costs more than all sweeps */
        return sweep(s, task);
    }
    for (int turn = 0; turn < turns; turn++) {
        if (sweep(s, task) || many_follow(s, task, share[turn]) || s->best <= task->good) {
            return 1;
        }
    }
    return 0;
}

/* The convex law: Newton's method from the guess, and without one with a rho at which few contacts
 * change at a time. */
static void solve_convex(sparse_prox *s, const many_task *task)
{
    static const many_way patient = {
        .kappa = 10, .effort = INT_MAX / 2, .fails = PATIENCE, .cold = 1, .anywhere = 1};
    if (!from_guess(s, task) && !many_follow(s, task, 0)) {
        memset(s->r, 0, (size_t)s->t.rows * sizeof(double));
        memcpy(s->w, s->t.c, (size_t)s->t.rows * sizeof(double));
        many_newton(s, task, &patient);
    }
}

static int solve(sparse_prox *s, const zw_gauss *problem, const zw_gauss_options *options)
{
    const many_table *t = &s->t;
    many_task task = {.problem = problem, .contact = options->contact};
    task.stop = options->stop;
    task.user = options->user;
    task.tolerance = options->tolerance > 0 ? options->tolerance : GAUSS_GOOD;
    task.good = fmax(task.tolerance, GAUSS_GOOD);
    task.aim =
        task.tolerance > GAUSS_GOOD ? task.tolerance : fmax(0.1 * task.tolerance, MANY_EXACT);
    task.effort = options->effort > 0 ? options->effort : INT_MAX;
    task.steps = LONG;
    task.effort = t->units > LARGE && task.effort > MOST && !t->is_convex ? MOST : task.effort;
    for (int i = 0; i < t->rows; i++) {
        s->r[i] = options->guess ? options->guess[t->row[i]] / t->scale[i] : 0;
    }
    memset(s->factored, MANY_OPEN, (size_t)t->units);
    if (t->is_convex) {
        solve_convex(s, &task);
        return s->best <= task.tolerance;
    }
    if (many_table_sweeps(&s->t)) {
        climb(s, &task);
        return s->best <= task.tolerance;
    }
    if (!from_guess(s, &task) && !options->guess_only) {
        many_follow(s, &task, 0);
    }
    return s->best <= task.tolerance;
}

/* Are the masses of all unknowns positive, and all numbers finite? */
static int sound(const many_table *t)
{
    for (int j = 0; j < t->n; j++) {
        if (!(t->mass[j] > 0)) {
            return 0;
        }
    }
    return 1;
}

int sparse_prox_solve(sparse_prox *s, const zw_gauss *problem, const zw_gauss_options *options,
                      zw_motion *motion)
{
    s->m = gauss_row_count(problem);
    if (!many_reserve(&s->marks, &s->mark_capacity, 4 * ((size_t)problem->n + 1) * sizeof(int))) {
        return 0;
    }
    int *mark = (int *)(void *)s->marks;
    many_table_count(&s->t, problem, mark);
    base_arena arena = {0};
    lay_out(s, &arena, problem);
    if (!many_reserve(&s->block, &s->capacity, arena.used)) {
        return 0;
    }
    arena = (base_arena){.block = s->block};
    lay_out(s, &arena, problem);
    many_table_fill(&s->t, problem, options->contact, mark);
    s->iterations = s->factorizations = s->is_own = 0;
    s->best = HUGE_VAL;
    int solved = sound(&s->t) && solve(s, problem, options);
    if (!(s->best < HUGE_VAL)) {
        return 0;
    }
    gauss_rows_residual(problem, s->best_a, s->best_lambda, s->residual);
    *motion = (zw_motion){.n = s->t.n,
                          .m = s->m,
                          .a = s->best_a,
                          .lambda = s->best_lambda,
                          .residual = s->residual,
                          .certificate = s->best_proof,
                          .method = "proximal newton",
                          .iterations = s->iterations,
                          .factorizations = s->factorizations};
    return solved ? 1 : -1;
}

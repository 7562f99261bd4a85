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
 * Where r+ = r that is the law, without any softness left: rho only says how fast. No rank is asked
 * of J, so hyperstatic stacks are as good as others. How (2) is solved: sparse_prox_newton.c. All
 * matrices are H = M + J' G J with blocks G of contacts and blocks H of bodies:
 * sparse_prox_matrix.c, math/sparse/front.c.
 *
 * Where to begin.  The contacts that push in the guess push, stick and slide as they did there: one
 * linear solve. Newton's method arrives from there if little has changed. Where it does not,
 * because bodies have collided, some sweeps over the contacts (sparse_prox_sweep.c) carry the news
 * around, and from what they come to the path of sparse_prox_path.c leads to where Newton's method
 * arrives. Where bodies are very many, sweeps are cheap beside factors: then more of them are made
 * first, and Newton is tried from there.
 *
 * The certificate of the kernel is the judge. No claim is made that there is no solution: what is
 * not solved here is for the kernel to solve or to name. */
#include "gauss/contact/sparse_prox.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "gauss/contact/sparse_prox_inner.h"
#include "gauss/rows.h"

enum { WARM = 12, FIRST = 24 };                   /* factorisations of Newton's method alone */
enum { FEW = 60, SWEEPS = 2000, WORK = 2000000 }; /* sweeps, and the units that they may see */
enum { TURNS = 3, LARGE = 300, VAST = 1000 };     /* unknowns, units: see take_turn and solve */
#define GOOD 1e-8   /* a certificate that will do where more is hard to get; */
#define NEARLY 1e-5 /* one for which large pieces do not take another turn: it rarely helps */

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
        base_free(s);
    }
}

int many_room(unsigned char **block, size_t *room, size_t need)
{
    if (need > *room) {
        base_free(*block);
        *room = 0;
        *block = base_alloc(need + need / 4);
        *room = *block ? need + need / 4 : 0;
    }
    return *block != NULL;
}

static void lay_out(sparse_prox *s, base_arena *arena, const zw_gauss *problem)
{
    size_t n = (size_t)s->t.n, m = (size_t)s->m, units = (size_t)s->t.units;
    double **by_n[] = {&s->x,      &s->x_new,   &s->d, &s->F,      &s->F_new,
                       &s->x_good, &s->x_swept, &s->y, &s->best_a, &s->a};
    double **by_row[] = {&s->r, &s->w, &s->w_new, &s->dw, &s->pi, &s->pi_new, &s->r_swept};
    many_table_lay_out(&s->t, arena);
    many_path_lay_out(s, arena);
    s->G = base_arena_doubles(arena, s->t.slopes);
    for (size_t k = 0; k < sizeof by_n / sizeof *by_n; k++) {
        *by_n[k] = base_arena_doubles(arena, n);
    }
    for (size_t k = 0; k < sizeof by_row / sizeof *by_row; k++) {
        *by_row[k] = base_arena_doubles(arena, (size_t)s->t.rows);
    }
    s->state = base_arena_bytes(arena, units);
    s->state_new = base_arena_bytes(arena, units);
    s->factored = base_arena_bytes(arena, units);
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

/* Newton's method from where sweeps have ended. 1: solved. */
static int from_sweeps(sparse_prox *s, const many_task *task)
{
    static const many_way way = {.kappa = 100, .effort = FIRST, .fails = 6};
    memcpy(s->r, s->r_swept, (size_t)s->t.rows * sizeof(double));
    many_residuals(&s->t, s->x_swept, s->w);
    return many_newton(s, task, &way) || s->best <= task->good;
}

/* Sweeps, and the path from where they end; before or after that Newton's method, if they were
 * many. 1: solved. */
static int take_turn(sparse_prox *s, const many_task *task, int turn)
{
    static const double calm[] = {1e-4, 1e-6, 1e-8}, begin[] = {1e-3, 1e-2, 1e-1};
    const many_table *t = &s->t;
    int vast = t->units > VAST;
    int most = WORK / t->units < SWEEPS ? WORK / t->units + 1 : SWEEPS;
    s->iterations +=
        many_sweep(t, turn == 0 && !vast ? FEW : most, calm[turn], s->r_swept, s->x_swept);
    if (vast && from_sweeps(s, task)) {
        return 1;
    }
    if (many_follow(s, task, begin[turn]) || s->best <= task->good) {
        return 1;
    }
    return !vast && turn > 0 && from_sweeps(s, task);
}

static int solve(sparse_prox *s, const zw_gauss *problem, const zw_gauss_options *options)
{
    static const many_way warm = {.kappa = 1e3, .effort = WARM, .cold = 1};
    const many_table *t = &s->t;
    many_task task = {.problem = problem, .contact = options->contact};
    task.tolerance = options->tolerance > 0 ? options->tolerance : GOOD;
    task.good = fmax(task.tolerance, GOOD);
    task.effort = options->effort > 0 ? options->effort : INT_MAX;
    for (int i = 0; i < t->rows; i++) {
        s->r[i] = options->guess ? options->guess[t->row[i]] / t->scale[i] : 0;
    }
    memcpy(s->r_swept, s->r, (size_t)t->rows * sizeof(double));
    memcpy(s->w, t->c, (size_t)t->rows * sizeof(double));
    memset(s->factored, MANY_OPEN, (size_t)t->units);
    int sweeps = many_table_sweeps(&s->t);
    if (sweeps) {
        many_motion(t, s->r_swept, s->x_swept);
        many_residuals(t, s->x_swept, s->w);
    }
    if (many_newton(s, &task, &warm) || s->best <= task.good || options->guess_only) {
        return s->best <= task.tolerance;
    }
    if (!sweeps) {
        many_follow(s, &task, 0);
        return s->best <= task.tolerance;
    }
    for (int turn = 0, done = 0; turn < TURNS && !done; turn++) {
        done = take_turn(s, &task, turn) || (t->n > LARGE && s->best <= NEARLY);
    }
    return s->best <= task.tolerance;
}

/* Masses of all unknowns, and nothing that is not finite? */
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
    if (!many_room(&s->marks, &s->mark_room, 4 * ((size_t)problem->n + 1) * sizeof(int))) {
        return 0;
    }
    int *mark = (int *)(void *)s->marks;
    many_table_count(&s->t, problem, mark);
    base_arena arena = {0};
    lay_out(s, &arena, problem);
    if (!many_room(&s->block, &s->room, arena.used)) {
        return 0;
    }
    arena = (base_arena){.block = s->block};
    lay_out(s, &arena, problem);
    many_table_fill(&s->t, problem, mark);
    s->iterations = s->factorizations = 0;
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

/* More contacts than unknowns: Newton's method in the unknowns.
 *
 * The dense core (dense/core.h) has the multipliers as its unknowns, and factors m rows of n + m
 * numbers. A pot whose hull meets a table in 625 points has m = 1875 and n = 6. The method of
 * multipliers (prox.c) has n unknowns however many rows there are, and its cost grows with m, not
 * with m^3. It needs a start:
 *
 *     the convex law, from zero forces: its function of u is convex and differentiable, so that
 *     Newton's method with an exact line search converges from any start
 *     Coulomb's law, from there, or from the guess
 *
 * The certificate is computed for the problem as given, by certificate.c. Solutions that it rejects
 * are left to the core.
 *
 * Memory: prox.c allocates its own at the first solve, and keeps it. */
#include "gauss/dense/primal.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "gauss/contact/prox.h"
#include "gauss/internal.h"
#include "gauss/metric.h"
#include "gauss/rows.h"

enum { LARGE = 400 }; /* up to so many rows, the core is as fast */

struct gauss_primal {
    gauss_prox *prox;
    int *unknown;           /* n: all unknowns, in order: 0, 1, ... */
    int *block;             /* blocks: all blocks, in order */
    int *metric_start;      /* n + 1: M, compressed: its lower triangle by columns */
    int *metric_row;        /* n (n + 1) / 2 */
    int *start;             /* m + 1: A, compressed */
    int *column;            /* m n */
    double *metric, *value; /* the entries of M and of A */
    double *full;           /* n n */
    double *force, *motion; /* n */
    double *before;         /* m: the multipliers of the convex law */
};

int gauss_primal_applies(const zw_gauss_work *work)
{
    return !work->is_sparse && work->mc > LARGE && work->whole.cone_count > work->n &&
           work->metric_kind != ZW_METRIC_OPERATOR;
}

static void lay_out(gauss_primal *primal, base_arena *arena, const zw_gauss_work *work)
{
    size_t n = (size_t)work->n, m = (size_t)work->m, blocks = (size_t)work->block_count;
    primal->unknown = base_arena_ints(arena, n);
    primal->block = base_arena_ints(arena, blocks);
    primal->metric_start = base_arena_ints(arena, n + 1);
    primal->metric_row = base_arena_ints(arena, n * (n + 1) / 2);
    primal->start = base_arena_ints(arena, m + 1);
    primal->column = base_arena_ints(arena, m * n);
    primal->metric = base_arena_doubles(arena, n * (n + 1) / 2);
    primal->value = base_arena_doubles(arena, m * n);
    primal->full = base_arena_doubles(arena, n * n);
    primal->force = base_arena_doubles(arena, n);
    primal->motion = base_arena_doubles(arena, n);
    primal->before = base_arena_doubles(arena, m);
}

gauss_primal *gauss_primal_create(const zw_gauss_work *work)
{
    gauss_primal shape = {0};
    base_arena count = {.used = sizeof shape};
    lay_out(&shape, &count, work);
    unsigned char *memory = base_alloc(count.used);
    if (memory == NULL) {
        return NULL;
    }
    base_arena carve = {.block = memory, .used = sizeof shape};
    lay_out(&shape, &carve, work);
    shape.prox = gauss_prox_create();
    gauss_primal *primal = memcpy(memory, &shape, sizeof shape);
    for (int i = 0, at = 0; i <= work->n; i++) {
        primal->metric_start[i] = at;
        for (int k = i; k < work->n; k++) {
            primal->metric_row[at++] = k;
        }
        if (i < work->n) {
            primal->unknown[i] = i;
        }
    }
    for (int k = 0; k < work->block_count; k++) {
        primal->block[k] = k;
    }
    if (primal->prox == NULL) {
        gauss_primal_free(primal);
        return NULL;
    }
    return primal;
}

void gauss_primal_free(gauss_primal *primal)
{
    if (primal != NULL) {
        gauss_prox_free(primal->prox);
        base_free(primal);
    }
}

/* Compress the metric and the rows. */
static void compress(gauss_primal *primal, const zw_gauss *problem, int m, zw_gauss *to)
{
    int n = problem->n, used = 0;
    gauss_metric_expand(problem, primal->full);
    for (int j = 0, at = 0; j < n; j++) {
        for (int i = j; i < n; i++) {
            primal->metric[at++] = primal->full[(long)j * n + i];
        }
    }
    for (int i = 0; i < m; i++) {
        primal->start[i] = used;
        gauss_row_copy(problem, i, primal->motion);
        for (int j = 0; j < n; j++) {
            if (primal->motion[j] != 0.0) {
                primal->column[used] = j;
                primal->value[used++] = primal->motion[j];
            }
        }
    }
    primal->start[m] = used;
    to->metric = (zw_metric){.kind = ZW_METRIC_SPARSE,
                             .value = primal->metric,
                             .start = primal->metric_start,
                             .row = primal->metric_row};
    to->A = (zw_rows){.start = primal->start, .column = primal->column, .value = primal->value};
}

/* The applied force: that of the problem, or M free; plus C. */
static void load(gauss_primal *primal, const zw_gauss *problem, const zw_gauss_work *work,
                 const double *C)
{
    if (problem->force != NULL) {
        memcpy(primal->force, problem->force, (size_t)work->n * sizeof(double));
    } else if (problem->free != NULL) {
        gauss_metric_apply(problem, problem->free, primal->force);
    } else {
        memset(primal->force, 0, (size_t)work->n * sizeof(double));
    }
    for (int i = 0; i < work->n && C != NULL; i++) {
        primal->force[i] += C[i];
    }
}

int gauss_primal_solve(gauss_primal *primal, const zw_gauss *problem,
                       const zw_gauss_options *options, zw_gauss_work *work, const double *C,
                       const double *guess, double *lambda)
{
    zw_gauss whole = *problem;
    zw_gauss_options requested = *options;
    gauss_prox_answer found;
    gauss_piece piece = {.n = work->n,
                         .m = work->m,
                         .block_count = work->block_count,
                         .unknown = primal->unknown,
                         .local = primal->unknown,
                         .block = primal->block,
                         .first = work->first,
                         .blocks = problem->block};
    compress(primal, problem, work->m, &whole);
    load(primal, problem, work, C);
    whole.force = primal->force;
    whole.free = whole.C = NULL;
    whole.law = NULL;
    requested.guess = guess;
    const double *start = work->free;
    if (guess == NULL && options->contact != ZW_CONTACT_CONVEX) {
        requested.contact = ZW_CONTACT_CONVEX;
        /* only a start, so whatever its certificate is */
        if (gauss_prox_solve(primal->prox, &whole, &piece, &requested, HUGE_VAL, 0, start,
                             &found) <= 0) {
            return 0;
        }
        start = memcpy(primal->motion, found.a, (size_t)work->n * sizeof(double));
        requested.guess = memcpy(primal->before, found.lambda, (size_t)work->m * sizeof(double));
        requested.contact = options->contact;
    }
    if (gauss_prox_solve(primal->prox, &whole, &piece, &requested, options->tolerance, 1, start,
                         &found) <= 0) {
        return 0;
    }
    memcpy(work->a, found.a, (size_t)work->n * sizeof(double));
    memcpy(lambda, found.lambda, (size_t)work->m * sizeof(double));
    zw_gauss_certify(problem, options->contact, work->a, lambda, C, work->scratch,
                     &work->certificate);
    work->core.iterations += found.iterations;
    return work->certificate.worst <= options->tolerance;
}

/* long: the ways to solve a piece share the arrays that it is cut into */
#include "gauss/contact/islands.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "gauss/contact/choose.h"
#include "gauss/contact/islands_inner.h"
#include "gauss/contact/prox.h"
#include "gauss/contact/sparse_prox.h"
#include "gauss/internal.h"
#include "gauss/rows.h"
#include "gauss/tolerances.h"
#include "math/dense/dense.h"

/* Islands of at least BODIES unknowns try sparse_prox first. With more than ROWS rows, dense
 * factorisations take up to seconds per solve: there a certificate of FAIR is accepted. With more
 * than VAST unknowns or HEAP rows they take minutes: the result of sparse_prox is accepted. */
enum { BODIES = 24, VAST = 300, ROWS = 100, HEAP = 900 };
#define FAIR 1e-3      /* accepted certificate of large islands, */
#define OPERATIONS 2e8 /* of a dense solve that are not counted: about a twentieth of a second */
#define CALL 8e3       /* operations in the time that a factorisation takes besides its own: 2 us */

gauss_islands *gauss_islands_create(void)
{
    gauss_islands *is = base_alloc(sizeof *is);
    if (is && !(is->prox = gauss_prox_create())) {
        base_free(is);
        is = NULL;
    }
    return is;
}

void gauss_islands_free(gauss_islands *is)
{
    if (!is) {
        return;
    }
    for (int i = 0; i < KEPT; i++) {
        zw_gauss_work_free(is->slot[i].work);
    }
    for (int i = 0; i < MANY; i++) {
        sparse_prox_free(is->many[i]);
    }
    gauss_prox_free(is->prox);
    buffer *list[] = {&is->parent,       &is->piece_of,   &is->local,
                      &is->unknown,      &is->block,      &is->pieces,
                      &is->row_start,    &is->fill,       &is->a,
                      &is->lambda,       &is->residual,   &is->metric,
                      &is->metric_start, &is->metric_row, &is->dense,
                      &is->start,        &is->column,     &is->b,
                      &is->compliance,   &is->guess,      &is->blocks,
                      &is->free,         &is->by_metric,  &is->old_start,
                      &is->old_row,      &is->tree};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        base_free(list[i]->data);
    }
    base_free(is);
}

/* ---- One piece ------------------------------------------------------------------------------ */

static int entries_of(const gauss_islands *is, const zw_gauss *problem, const piece *p)
{
    const int *block = is->block.data, *first = is->row_start.data;
    int count = 0;
    for (int i = 0; i < p->blocks; i++) {
        int k = block[p->first_block + i];
        count += problem->A.start[first[k + 1]] - problem->A.start[first[k]];
    }
    return count;
}

static int metric_entries(const gauss_islands *is, const zw_gauss *problem, const piece *p)
{
    const int *unknown = is->unknown.data;
    int count = 0;
    for (int i = 0; i < p->n && problem->metric.kind == ZW_METRIC_SPARSE; i++) {
        int j = unknown[p->first_unknown + i];
        count += problem->metric.start[j + 1] - problem->metric.start[j];
    }
    return count;
}

void islands_cut_metric(gauss_islands *is, const zw_gauss *problem, const piece *p, zw_gauss *part,
                        int small)
{
    const zw_metric *M = &problem->metric;
    const int *unknown = (int *)is->unknown.data + p->first_unknown, *local = is->local.data;
    int *start = is->metric_start.data, *row = is->metric_row.data, at = 0;
    double *value = is->metric.data;
    int dense = M->kind == ZW_METRIC_SPARSE && small;
    if (dense) {
        memset(value, 0, (size_t)p->n * (size_t)p->n * sizeof *value);
    }
    for (int i = 0; i < p->n; i++) {
        int j = unknown[i];
        if (M->kind == ZW_METRIC_DIAGONAL) {
            value[i] = M->value[j];
            continue;
        }
        start[i] = at;
        for (int k = M->start[j]; k < M->start[j + 1]; k++) {
            int r = local[M->row[k]];
            if (dense) {
                value[r * p->n + i] = M->value[k];
            } else {
                row[at] = r;
                value[at++] = M->value[k];
            }
        }
    }
    start[p->n] = at;
    part->metric = (zw_metric){
        .kind = dense ? ZW_METRIC_DENSE : M->kind, .value = value, .start = start, .row = row};
}

void islands_cut_rows(gauss_islands *is, const zw_gauss *problem, const piece *p, zw_gauss *part,
                      const double *guess, int small)
{
    const int *block = (int *)is->block.data + p->first_block, *first = is->row_start.data;
    const int *local = is->local.data;
    int *start = is->start.data, *column = is->column.data, at = 0, r = 0;
    double *dense = is->dense.data, *b = is->b.data, *give = is->compliance.data;
    double *start_at = is->guess.data;
    zw_block *to = is->blocks.data;
    if (small) {
        memset(dense, 0, (size_t)p->m * (size_t)p->n * sizeof *dense);
    }
    for (int i = 0; i < p->blocks; i++) {
        int k = block[i];
        to[i] = problem->block[k];
        for (int row = first[k]; row < first[k + 1]; row++, r++) {
            start[r] = at;
            for (int e = problem->A.start[row]; e < problem->A.start[row + 1]; e++) {
                int c = local[problem->A.column[e]];
                if (small) {
                    dense[(long)r * p->n + c] = problem->A.value[e];
                } else {
                    column[at] = c;
                    dense[at++] = problem->A.value[e];
                }
            }
            b[r] = problem->b ? problem->b[row] : 0;
            give[r] = problem->compliance ? problem->compliance[row] : 0;
            start_at[r] = guess ? guess[row] : 0;
        }
    }
    start[r] = at;
    part->A = small ? (zw_rows){.dense = dense}
                    : (zw_rows){.start = start, .column = column, .value = dense};
    part->block = to;
    part->b = b;
    part->compliance = problem->compliance ? give : NULL;
}

int islands_make_room(gauss_islands *is, const zw_gauss *problem, const piece *p)
{
    size_t n = (size_t)p->n, m = (size_t)p->m;
    size_t entries = (size_t)entries_of(is, problem, p), masses = n;
    if (problem->metric.kind == ZW_METRIC_SPARSE) {
        masses = (size_t)metric_entries(is, problem, p);
        masses = p->n <= ISLANDS_SMALL && n * n > masses ? n * n : masses;
    }
    return islands_reserve(&is->metric, masses, sizeof(double)) &&
           islands_reserve(&is->metric_start, n, sizeof(int)) &&
           islands_reserve(&is->metric_row, masses, sizeof(int)) &&
           islands_reserve(&is->dense, p->n <= ISLANDS_SMALL && n * m > entries ? n * m : entries,
                           sizeof(double)) &&
           islands_reserve(&is->start, m, sizeof(int)) &&
           islands_reserve(&is->column, entries, sizeof(int)) &&
           islands_reserve(&is->b, m, sizeof(double)) &&
           islands_reserve(&is->compliance, m, sizeof(double)) &&
           islands_reserve(&is->guess, m, sizeof(double)) &&
           islands_reserve(&is->free, n, sizeof(double)) &&
           islands_reserve(&is->blocks, (size_t)p->blocks, sizeof(zw_block));
}

/* ---- Workspaces by shape -------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t x)
{
    return (hash ^ x) * 0x100000001b3u;
}

static uint64_t shape_of(const zw_gauss *part, const zw_gauss_options *options)
{
    uint64_t hash = mix(0xcbf29ce484222325u, (uint64_t)options->algebra);
    hash = mix(hash, (uint64_t)part->metric.kind);
    hash = mix(hash, part->compliance != NULL);
    for (int k = 0; k < part->block_count; k++) {
        hash = mix(hash, (uint64_t)part->block[k].kind * 64 + (uint64_t)part->block[k].rows);
    }
    return part->A.dense ? hash : mix(hash, gauss_pattern(part));
}

zw_gauss_work *islands_workspace(gauss_islands *is, const zw_gauss *part, int m,
                                 const zw_gauss_options *options, zw_error *error)
{
    uint64_t shape = shape_of(part, options);
    slot *oldest = &is->slot[0];
    for (int i = 0; i < KEPT; i++) {
        slot *s = &is->slot[i];
        if (s->work && s->shape == shape && s->n == part->n && s->m == m &&
            s->blocks == part->block_count) {
            s->used = ++is->now;
            return s->work;
        }
        if (s->used < oldest->used) {
            oldest = s;
        }
    }
    zw_gauss_work_free(oldest->work);
    *oldest = (slot){.work = zw_gauss_work_create(part, options, error),
                     .shape = shape,
                     .n = part->n,
                     .m = m,
                     .blocks = part->block_count,
                     .used = ++is->now};
    return oldest->work;
}

/* A piece of many bodies, by sparse_prox.h: as sparse_prox_solve. */
static int solve_many(gauss_islands *is, const zw_gauss *part, const zw_gauss_options *options,
                      int index, zw_motion *motion)
{
    int soft = 0;
    for (int k = 0, row = 0; k < part->block_count; row += part->block[k++].rows) {
        int cone = part->block[k].kind == ZW_CONE && part->block[k].rows > 1;
        for (int r = 0; r < part->block[k].rows && part->compliance && cone; r++) {
            soft |= part->compliance[row + r] > 0;
        }
    }
    if (part->n < BODIES || soft) {
        return 0;
    }
    sparse_prox **many = &is->many[index % MANY];
    if (!*many) {
        *many = sparse_prox_create();
    }
    return *many ? sparse_prox_solve(*many, part, options, motion) : 0;
}

/* Operations of a factorisation of m rows of n + m numbers. */
static double factor_cost(int n, int m)
{
    return 2.0 * m * m * ((double)n + m) + CALL;
}

/* The caller's effort is meant for large problems: factorisations that cost little in total are not
 * counted. */
static int affordable(const zw_gauss *part, int m, int effort)
{
    return effort > 0 ? (int)fmax(effort, OPERATIONS / factor_cost(part->n, m)) : 0;
}

/* By the general kernel. */
static zw_status solve_kernel(gauss_islands *is, const zw_gauss *part,
                              const zw_gauss_options *options, int m, zw_motion *motion,
                              zw_error *error)
{
    zw_error failure = {0};
    zw_gauss_options requested = *options;
    requested.effort = affordable(part, m, options->effort);
    zw_gauss_work *work = islands_workspace(is, part, m, &requested, &failure);
    zw_status status =
        work ? zw_gauss_solve(part, &requested, work, motion, &failure) : failure.status;
    if (status != ZW_OK && error && error->status == ZW_OK) {
        *error = failure;
    }
    return status;
}

/* From anywhere. */
static zw_status solve_any(gauss_islands *is, const zw_gauss *problem,
                           const zw_gauss_options *options, const double *free, const piece *p,
                           const gauss_islands_hint *choice, zw_motion *motion, zw_error *error)
{
    zw_gauss part = {.n = p->n, .block_count = p->blocks};
    zw_gauss_options requested = *options;
    if (!islands_make_room(is, problem, p)) {
        return base_no_memory(error);
    }
    const int *unknown = (int *)is->unknown.data + p->first_unknown;
    double *given = is->free.data;
    for (int i = 0; i < p->n; i++) {
        given[i] = free[unknown[i]];
    }
    part.free = given;
    requested.guess = options->guess ? is->guess.data : NULL;
    islands_cut_metric(is, problem, p, &part, 0);
    islands_cut_rows(is, problem, p, &part, options->guess, 0);
    int solved = solve_many(is, &part, &requested, (int)(p - (piece *)is->pieces.data), motion);
    if (solved > 0) {
        return ZW_OK;
    }
    double fair = p->n > VAST || p->m > HEAP ? HUGE_VAL : p->m > ROWS ? FAIR : GAUSS_GOOD;
    if (solved < 0 && motion->certificate.worst <= fair) {
        return base_fail(error, ZW_INACCURATE, "%s; worst %.2e", zw_status_text(ZW_INACCURATE),
                         motion->certificate.worst);
    }
    zw_motion sparse = *motion; /* until *many solves again */
    requested.algebra =
        solved < 0 ? ZW_ALGEBRA_DENSE : requested.algebra; /* sparse would ask the same */
    if (p->n <= ISLANDS_SMALL) {
        islands_cut_metric(is, problem, p, &part, 1);
        islands_cut_rows(is, problem, p, &part, options->guess, 1);
    }
    if (choice) {
        gauss_choose(&part, choice->share, choice->about_guess ? requested.guess : NULL,
                     is->compliance.data, is->b.data);
        part.compliance = is->compliance.data;
    }
    zw_status status = solve_kernel(is, &part, &requested, p->m, motion, error);
    int is_worse = !(motion->certificate.worst <= sparse.certificate.worst);
    if (solved < 0 && is_worse && (status == ZW_INACCURATE || status == ZW_JAMMED)) {
        sparse.factorizations = motion->factorizations;
        *motion = sparse;
    }
    return status;
}

/* Must forces be chosen? -1: no memory. */
static int is_shared(gauss_islands *is, const zw_gauss *problem, const piece *p,
                     const gauss_shared *answer)
{
    zw_gauss part = {.n = p->n, .block_count = p->blocks};
    const int *block = (int *)is->block.data + p->first_block;
    int count = 0; /* boxes share no load */
    for (int i = 0; i < p->blocks; i++) {
        count += problem->block[block[i]].kind != ZW_BOX;
    }
    if (!gauss_may_share(p->n, count)) {
        return 0;
    }
    if (!islands_make_room(is, problem, p)) {
        return -1;
    }
    islands_cut_metric(is, problem, p, &part, 1);
    islands_cut_rows(is, problem, p, &part, NULL, 1);
    return gauss_shares(&part, answer);
}

/* The same for contacts with a force in the guess. */
static int is_guess_shared(gauss_islands *is, const zw_gauss *problem, const piece *p,
                           const double *guess)
{
    zw_gauss part = {.n = p->n, .block_count = p->blocks};
    islands_cut_metric(is, problem, p, &part, 1);
    islands_cut_rows(is, problem, p, &part, guess, 1);
    return gauss_shares(&part, &(gauss_shared){.lambda = is->guess.data});
}

/* By prox.h. 1: done; 0: no solution found; -1: no memory. */
static int solve_near(gauss_islands *is, const zw_gauss *problem, const zw_gauss_options *options,
                      const gauss_islands_hint *hint, const piece *p, zw_motion *motion)
{
    const int *block = (int *)is->block.data + p->first_block;
    zw_block *blocks = islands_reserve(&is->blocks, (size_t)p->blocks, sizeof *blocks);
    if (!blocks) {
        return -1;
    }
    for (int i = 0; i < p->blocks; i++) {
        blocks[i] = problem->block[block[i]];
    }
    gauss_piece part = {.n = p->n,
                        .m = p->m,
                        .block_count = p->blocks,
                        .unknown = (int *)is->unknown.data + p->first_unknown,
                        .local = is->local.data,
                        .parent = is->tree.data,
                        .block = block,
                        .first = is->row_start.data,
                        .blocks = blocks};
    gauss_prox_answer near = {0};
    int found = gauss_prox_solve(is->prox, problem, &part, options, hint->fair, hint->polish,
                                 hint->start, &near);
    if (found >= 0) {
        motion->a = near.a;
        motion->lambda = near.lambda;
        motion->residual = near.residual;
        motion->certificate = near.certificate;
        motion->iterations = near.iterations;
        motion->factorizations = near.factorizations;
    }
    return found;
}

/* A piece without rows that is too large for prox.h. */
static void move_freely(gauss_islands *is, const double *free, const piece *p, zw_motion *motion)
{
    const int *unknown = (int *)is->unknown.data + p->first_unknown;
    double *a = is->a.data;
    for (int i = 0; i < p->n; i++) {
        a[unknown[i]] = free[unknown[i]];
    }
    motion->a = NULL; /* it is already in place */
}

/* Small, or a chain, whose metric couples most of its unknowns with one another: prox.h stores
 * hardly more than that. */
static int is_near(const gauss_islands *is, const zw_gauss *problem, const piece *p)
{
    return p->n <= ISLANDS_SMALL ||
           4.0 * metric_entries(is, problem, p) >= (double)p->n * (double)p->n;
}

static zw_status solve_piece(gauss_islands *is, const zw_gauss *problem,
                             const zw_gauss_options *options, const gauss_islands_hint *hint,
                             const piece *p, zw_motion *motion, zw_error *error)
{
    int shared = hint->share > 0 ? is_shared(is, problem, p, NULL) : 0;
    if (shared < 0) {
        return base_no_memory(error);
    }
    int near = is_near(is, problem, p) && (options->guess || p->m == 0 ||
                                           p->n >= BODIES); /* otherwise the kernel is as fast */
    if (shared) {
        near &= hint->at_rest && options->guess && !is_guess_shared(is, problem, p, options->guess);
    }
    int found = near ? solve_near(is, problem, options, hint, p, motion) : 0;
    if (found > 0 && shared) {
        gauss_shared answer = {motion->lambda, motion->residual, hint->share};
        found = is_shared(is, problem, p, &answer) == 0;
    }
    if (found > 0) {
        return ZW_OK;
    }
    if (found == 0) {
        const double *free = problem->free ? problem->free : hint->free(hint->user);
        if (free && p->m == 0) {
            move_freely(is, free, p, motion);
            return ZW_OK;
        }
        if (free) {
            const zw_motion best = *motion; /* of prox.h, which does not solve anything now */
            zw_status status =
                solve_any(is, problem, options, free, p, shared ? hint : NULL, motion, error);
            int is_worse = !(motion->certificate.worst <= best.certificate.worst);
            if (best.a && is_worse && (status == ZW_INACCURATE || status == ZW_JAMMED)) {
                const int factors = motion->factorizations;
                *motion = best;
                motion->factorizations = factors;
            }
            return status;
        }
    }
    zw_status status = found < 0 ? ZW_NO_MEMORY : ZW_NOT_A_METRIC;
    return base_fail_as(error, status);
}

static void put_back(gauss_islands *is, const piece *p, const zw_motion *motion)
{
    const int *unknown = (int *)is->unknown.data + p->first_unknown;
    const int *block = (int *)is->block.data + p->first_block, *first = is->row_start.data;
    double *a = is->a.data, *lambda = is->lambda.data, *residual = is->residual.data;
    for (int i = 0; i < p->n && motion->a; i++) {
        a[unknown[i]] = motion->a[i];
    }
    for (int i = 0, r = 0; i < p->blocks; i++) {
        for (int row = first[block[i]]; row < first[block[i] + 1]; row++, r++) {
            lambda[row] = motion->lambda[r];
            residual[row] = motion->residual[r];
        }
    }
}

/* Is the start, with the guess, the solution? */
static int is_settled(const gauss_islands *is, const double *excess, const piece *p)
{
    const int *unknown = (int *)is->unknown.data + p->first_unknown;
    double sum = 0;
    for (int i = 0; i < p->n; i++) {
        sum += excess[unknown[i]];
    }
    return sum <= 0;
}

static void keep(gauss_islands *is, const zw_gauss *problem, const double *start,
                 const double *guess, const piece *p)
{
    const int *unknown = (int *)is->unknown.data + p->first_unknown;
    const int *block = (int *)is->block.data + p->first_block, *first = is->row_start.data;
    double *a = is->a.data, *lambda = is->lambda.data, *residual = is->residual.data;
    for (int i = 0; i < p->n; i++) {
        a[unknown[i]] = start[unknown[i]];
    }
    for (int i = 0; i < p->blocks; i++) {
        for (int row = first[block[i]]; row < first[block[i] + 1]; row++) {
            lambda[row] = guess[row];
            residual[row] = gauss_row_residual(problem, row, start, guess);
        }
    }
}

static void sum_up(const gauss_islands *is, const piece *p, const zw_motion *motion,
                   gauss_islands_answer *answer)
{
    const int *block = (int *)is->block.data + p->first_block;
    const zw_certificate *proof = &motion->certificate;
    answer->count += p->m > 0;
    answer->largest = p->m > 0 && p->n > answer->largest ? p->n : answer->largest;
    answer->iterations += motion->iterations;
    answer->factorizations += motion->factorizations;
    if (!(proof->worst <= answer->certificate)) {
        answer->certificate = proof->worst;
        answer->worst_block = proof->worst_block >= 0 ? block[proof->worst_block] : -1;
    }
}

zw_status gauss_islands_solve(gauss_islands *is, const zw_gauss *problem,
                              const zw_gauss_options *options, const gauss_islands_hint *hint,
                              gauss_islands_answer *answer, zw_error *error)
{
    const gauss_islands_hint none = {0};
    const zw_gauss_options requested = options ? *options : zw_gauss_options_default();
    int m = 0;
    for (int k = 0; k < problem->block_count; k++) {
        m += problem->block[k].rows;
    }
    base_clear(error);
    *answer = (gauss_islands_answer){.worst_block = -1};
    if (!islands_split(is, problem, m)) {
        return base_no_memory(error);
    }
    if (problem->free) {
        memcpy(is->a.data, problem->free, (size_t)problem->n * sizeof(double));
    }
    memset(is->lambda.data, 0, (size_t)m * sizeof(double));
    memset(is->residual.data, 0, (size_t)m * sizeof(double));
    zw_status first = ZW_OK;
    for (int i = 0; i < is->piece_count; i++) {
        const piece *p = (piece *)is->pieces.data + i;
        zw_motion motion = {0};
        const int *block = (int *)is->block.data + p->first_block;
        if (problem->free && gauss_rows_admit(problem, requested.contact, p->blocks, block,
                                              is->row_start.data, is->residual.data)) {
            continue; /* a piece that needs no force gets none */
        }
        if (hint && hint->excess && is_settled(is, hint->excess, p)) {
            keep(is, problem, hint->start, requested.guess, p);
            sum_up(is, p, &motion, answer);
            continue;
        }
        zw_status status =
            solve_piece(is, problem, &requested, hint ? hint : &none, p, &motion, error);
        if (status != ZW_OK) {
            answer->failed_work += factor_cost(p->n, p->m) * motion.factorizations;
        }
        first = first == ZW_OK ? status : first;
        if (status == ZW_OK || status == ZW_INACCURATE || status == ZW_JAMMED ||
            (status == ZW_CONFLICT && requested.least_squares)) {
            put_back(is, p, &motion);
            sum_up(is, p, &motion, answer);
        }
    }
    answer->a = is->a.data;
    answer->lambda = is->lambda.data;
    answer->residual = is->residual.data;
    return first;
}

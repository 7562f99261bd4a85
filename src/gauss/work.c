/* Memory for a solve: one block, laid out by one function. */
#include "gauss/work.h"

#include <limits.h>
#include <string.h>

#include "base/error.h"
#include "gauss/dense/primal.h"
#include "gauss/internal.h"
#include "gauss/metric.h"
#include "gauss/rows.h"
#include "gauss/sparse/sparse.h"

int gauss_whole_lines(int count)
{
    return (count + 7) / 8 * 8;
}

/* All vectors have room for whole lines. */
static void lay_out_core(gauss_core *core, base_arena *arena, size_t rows, size_t q, size_t cones)
{
    size_t p = (size_t)gauss_whole_lines((int)rows);
    core->wide = (int)p;
    core->r = base_arena_doubles(arena, p);
    core->x = base_arena_doubles(arena, q);
    core->w = base_arena_doubles(arena, p);
    core->shift = base_arena_doubles(arena, cones);
    core->Bt = base_arena_doubles(arena, q * p);
    core->block = base_arena_bytes(arena, cones * sizeof *core->block);
    core->S = base_arena_doubles(arena, p * p);
    core->J = base_arena_doubles(arena, p * p);
    core->H = base_arena_doubles(arena, p > 0 ? q * q : 0);
    core->E = base_arena_doubles(arena, p * (q + p));
    core->direction = base_arena_doubles(arena, p * ZW_CONE_ROWS);
    core->beta = base_arena_doubles(arena, p);
    core->distance = base_arena_doubles(arena, 2 * p);
    core->first_of = base_arena_doubles(arena, p);
    core->scaling = base_arena_bytes(arena, cones * sizeof *core->scaling);
    core->best = base_arena_doubles(arena, p);
    core->best_x = base_arena_doubles(arena, q);
    core->pair = base_arena_doubles(arena, q + p);
    core->begin = base_arena_doubles(arena, p);
    core->saved = base_arena_doubles(arena, p);
    core->keep = base_arena_doubles(arena, p);
    core->start = base_arena_doubles(arena, p);
    for (int i = 0; i < 8; i++) {
        core->v[i] = base_arena_doubles(arena, p);
    }
    for (int i = 0; i < 5; i++) {
        core->y[i] = base_arena_doubles(arena, q);
    }
    core->active = base_arena_ints(arena, p);
    core->pivot = base_arena_ints(arena, p);
}

static void lay_out_dense(zw_gauss_work *work, base_arena *arena)
{
    size_t n = (size_t)work->n, me = (size_t)work->me, mc = (size_t)work->mc,
           q = (size_t)work->q_max;
    work->L = base_arena_doubles(arena, n * n);
    work->W = base_arena_doubles(arena, me);
    work->soften = base_arena_doubles(arena, me);
    work->m_wide = gauss_whole_lines(work->m);
    work->X = base_arena_doubles(arena, n * (size_t)work->m_wide);
    work->D = base_arena_doubles(arena, me * q);
    work->B = base_arena_doubles(arena, mc * q);
    work->order = base_arena_ints(arena, me);
    work->beta = base_arena_doubles(arena, me);
    work->distance = base_arena_doubles(arena, 2 * me);
    work->T = base_arena_doubles(arena, me * me);
    work->T_order = base_arena_ints(arena, me);
    work->T_beta = base_arena_doubles(arena, me);
    work->basis = base_arena_doubles(arena, me * me);
    work->triangle = base_arena_doubles(arena, me * me);
    work->row_position = base_arena_ints(arena, me);
    work->z = base_arena_doubles(arena, q);
    work->x = base_arena_doubles(arena, q);
    work->g = base_arena_doubles(arena, q);
    work->delta = base_arena_doubles(arena, (size_t)work->m);
    work->kept = base_arena_doubles(arena, n + (size_t)work->m);
    work->e = base_arena_doubles(arena, 3 * me);
    work->row_scratch = base_arena_doubles(arena, 2 * me);
    lay_out_core(&work->core, arena, mc, q, (size_t)work->cone_count);
    gauss_proof_lay_out(&work->proof, arena, work->n, work->m, n * (size_t)work->m);
}

static void lay_out(zw_gauss_work *work, base_arena *arena, size_t scratch)
{
    size_t n = (size_t)work->n, m = (size_t)work->m, blocks = (size_t)work->block_count;
    work->first = base_arena_ints(arena, blocks + 1);
    work->kind = base_arena_ints(arena, blocks);
    work->equality_row = base_arena_ints(arena, (size_t)work->me);
    work->cone_row = base_arena_ints(arena, (size_t)work->mc);
    work->block_of = base_arena_ints(arena, m);
    work->cone = base_arena_bytes(arena, (size_t)work->cone_count * sizeof *work->cone);
    work->normal = base_arena_bytes(arena, (size_t)work->cone_count * sizeof *work->cone);
    work->suspect = base_arena_bytes(arena, (size_t)work->cone_count * sizeof *work->cone);
    work->whole.cone = base_arena_bytes(arena, (size_t)work->cone_count * sizeof *work->cone);
    work->whole.row = base_arena_ints(arena, (size_t)work->mc);
    work->whole.taken = base_arena_ints(arena, (size_t)work->cone_count);
    work->scale = base_arena_doubles(arena, m);
    work->free = base_arena_doubles(arena, n);
    work->c = base_arena_doubles(arena, m);
    work->carried = base_arena_doubles(arena, (size_t)work->mc);
    work->redundant = base_arena_ints(arena, blocks);
    work->accused = base_arena_ints(arena, blocks);
    work->trial = base_arena_ints(arena, blocks);
    work->conflict = base_arena_ints(arena, blocks);
    work->undetermined = base_arena_ints(arena, n);
    double **vectors[] = {&work->a, &work->F_N, &work->F_L, &work->F_C, &work->C};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        *vectors[i] = base_arena_doubles(arena, n);
    }
    work->lambda = base_arena_doubles(arena, m);
    work->residual = base_arena_doubles(arena, m);
    work->lambda_ideal = base_arena_doubles(arena, m);
    work->guess = base_arena_doubles(arena, m);
    work->scratch = base_arena_doubles(arena, scratch + 2 * n);
    work->law = base_arena_doubles(arena, (2 * GAUSS_LAW_MEMORY + 4) * m + n);
    if (!work->is_sparse) {
        lay_out_dense(work, arena);
    }
}

static void fill_tables(const zw_gauss *problem, zw_gauss_work *work)
{
    int at = 0, e = 0, c = 0, cones = 0;
    for (int k = 0; k < problem->block_count; k++) {
        const zw_block *block = &problem->block[k];
        work->first[k] = at;
        work->kind[k] = (int)block->kind;
        for (int i = 0; i < block->rows; i++, at++) {
            work->block_of[at] = k;
            if (block->kind == ZW_EQUALITY) {
                work->equality_row[e++] = at;
                continue;
            }
            if (block->kind != ZW_CONE || i == 0) {
                int rows = block->kind == ZW_CONE ? block->rows : 1;
                work->cone[cones] = (gauss_cone){.first = c, .rows = rows, .block = k};
                work->normal[cones++] = (gauss_cone){.first = c, .rows = 1, .block = k};
            }
            work->cone_row[c++] = at;
        }
    }
    work->first[problem->block_count] = at;
    work->whole.cone_count = cones;
    work->whole.mc = c;
    memcpy(work->whole.cone, work->cone, (size_t)cones * sizeof *work->cone);
    memcpy(work->whole.row, work->cone_row, (size_t)c * sizeof *work->cone_row);
}

static void count_shape(const zw_gauss *problem, zw_gauss_work *work)
{
    work->n = problem->n;
    work->metric_kind = problem->metric.kind;
    work->block_count = problem->block_count;
    for (int k = 0; k < problem->block_count; k++) {
        const zw_block *block = &problem->block[k];
        work->me += block->kind == ZW_EQUALITY ? block->rows : 0;
        work->mc += block->kind == ZW_EQUALITY ? 0 : block->rows;
        work->cone_count += block->kind == ZW_CONE       ? 1
                            : block->kind == ZW_EQUALITY ? 0
                                                         : block->rows;
    }
    work->m = work->me + work->mc;
    work->q_max = work->n + (problem->compliance != NULL ? work->m : 0);
}

static uint64_t mix(uint64_t hash, const int *list, int count)
{
    for (int i = 0; list != NULL && i < count; i++) {
        hash = (hash ^ (uint64_t)list[i]) * 0x100000001b3u;
    }
    return (hash ^ (uint64_t)count) * 0x100000001b3u;
}

uint64_t gauss_pattern(const zw_gauss *problem)
{
    const zw_metric *M = &problem->metric;
    const zw_rows *A = &problem->A;
    int m = gauss_row_count(problem);
    uint64_t hash =
        mix(0xcbf29ce484222325u, M->block_size, M->kind == ZW_METRIC_BLOCKS ? M->block_count : 0);
    if (M->kind == ZW_METRIC_SPARSE) {
        hash = mix(hash, M->start, problem->n + 1);
        hash = mix(hash, M->row, M->start[problem->n]);
    }
    if (A->dense == NULL && A->start != NULL) {
        hash = mix(hash, A->start, m + 1);
        hash = mix(hash, A->column, A->start[m]);
    }
    return hash;
}

/* Dense algebra is faster up to some hundred unknowns; beyond, rows are short and few are coupled.
 * Cones are for contact/sparse_prox.h there, which handles neither boxes nor compliant friction,
 * wants its numbers compressed, and names no conflicts: small ones are always dense. */
static int wants_sparse(const zw_gauss *problem, const zw_gauss_options *options, int m)
{
    zw_algebra algebra = options != NULL ? options->algebra : ZW_ALGEBRA_AUTO;
    zw_metric_kind kind = problem->metric.kind;
    if (kind == ZW_METRIC_OPERATOR || algebra == ZW_ALGEBRA_DENSE) {
        return 0;
    }
    int large = problem->A.dense == NULL && problem->n + m > 400;
    int cones = large && (kind == ZW_METRIC_DIAGONAL || kind == ZW_METRIC_SPARSE);
    for (int k = 0; k < problem->block_count; k++) {
        const zw_block *block = &problem->block[k];
        if (block->kind == ZW_BOX || (block->kind != ZW_EQUALITY && !cones) ||
            (block->rows > 1 && block->kind == ZW_CONE && problem->compliance != NULL)) {
            return 0;
        }
    }
    return algebra == ZW_ALGEBRA_SPARSE || large;
}

zw_gauss_work *zw_gauss_work_create(const zw_gauss *problem, const zw_gauss_options *options,
                                    zw_error *error)
{
    if (gauss_check(problem, error) != ZW_OK) {
        return NULL;
    }
    zw_gauss_work shape = {0};
    count_shape(problem, &shape);
    shape.is_sparse = wants_sparse(problem, options, shape.m);
    base_arena count = {.block = NULL, .used = sizeof shape};
    size_t scratch = zw_gauss_certify_scratch(problem);
    lay_out(&shape, &count, scratch);
    unsigned char *block = base_alloc(count.used);
    if (block == NULL) {
        base_fail(error, ZW_NO_MEMORY, "not enough memory for %d unknowns and %d rows", shape.n,
                  shape.m);
        return NULL;
    }
    base_arena carve = {.block = block, .used = sizeof shape};
    lay_out(&shape, &carve, scratch);
    zw_gauss_work *work = memcpy(block, &shape, sizeof shape);
    fill_tables(problem, work);
    work->pattern = work->is_sparse ? gauss_pattern(problem) : 0;
    if (work->is_sparse && (work->sparse = gauss_sparse_create(problem, work)) == NULL) {
        base_fail(error, ZW_NO_MEMORY, "not enough memory to factor %d unknowns and %d rows",
                  work->n, work->m);
        zw_gauss_work_free(work);
        return NULL;
    }
    if (gauss_primal_applies(work)) {
        work->primal = gauss_primal_create(work); /* or without it: the core can solve these, too */
    }
    return work;
}

void zw_gauss_work_free(zw_gauss_work *work)
{
    if (work != NULL) {
        gauss_sparse_free(work->sparse);
        gauss_primal_free(work->primal);
        base_free(work);
    }
}

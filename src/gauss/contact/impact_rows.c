/* The rows of an impact: appending, the bodies that they couple, their effective masses; see
 * impact.c. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/list.h"
#include "base/memory.h"
#include "gauss/contact/impact_inner.h"
#include "gauss/tolerances.h"
#include "math/partition.h"

#define FAIR 1e-12 /* a certificate that does where round-off leaves none that is better */

/* ---- Memory ---------------------------------------------------------------------------------- */

gauss_impact *gauss_impact_create(void)
{
    gauss_impact *x = base_alloc(sizeof *x);
    if (x && !(x->islands = gauss_islands_create())) {
        base_free(x);
        x = NULL;
    }
    return x;
}

void gauss_impact_free(gauss_impact *x)
{
    if (x) {
        gauss_islands_free(x->islands);
        base_free(x->block);
        base_free(x->start);
        base_free(x->b);
        base_free(x->column);
        base_free(x->value);
        base_free(x->way);
        base_free(x->by);
        base_free(x->act);
        base_free(x->memory);
        base_free(x);
    }
}

static void lay_out(gauss_impact *x, base_arena *arena)
{
    size_t n = (size_t)x->n, blocks = (size_t)x->blocks, rows = (size_t)x->rows;
    size_t pairs = (size_t)x->pairs, entries = (size_t)x->entries;
    x->part = base_arena_bytes(arena, blocks * sizeof *x->part);
    x->part_of = base_arena_ints(arena, blocks);
    x->part_start = base_arena_ints(arena, rows + 1);
    x->part_column = base_arena_ints(arena, entries);
    x->part_value = base_arena_doubles(arena, entries);
    x->part_b = base_arena_doubles(arena, rows);
    x->root = base_arena_ints(arena, n);
    x->best = base_arena_doubles(arena, n);
    x->strength = base_arena_doubles(arena, pairs);
    x->chosen = base_arena_ints(arena, pairs);
    x->acting = base_arena_ints(arena, n);
    x->bouncing = base_arena_ints(arena, pairs);
    x->coupled = base_arena_ints(arena, n);
    x->rows_of = base_arena_ints(arena, pairs);
    x->w = base_arena_doubles(arena, rows);
    x->after = base_arena_doubles(arena, n);
    x->kept = base_arena_doubles(arena, n);
    x->impulse = base_arena_doubles(arena, rows);
    x->sum = base_arena_doubles(arena, rows);
    x->kept_sum = base_arena_doubles(arena, rows);
}

int impact_make_room(gauss_impact *x)
{
    base_arena arena = {0};
    lay_out(x, &arena);
    if (arena.used + 1 > x->memory_size) {
        void *memory = base_alloc(2 * arena.used + 1);
        if (!memory) {
            return 0;
        }
        base_free(x->memory);
        x->memory = memory;
        x->memory_size = 2 * arena.used + 1;
    }
    arena = (base_arena){.block = x->memory};
    lay_out(x, &arena);
    return 1;
}

/* ---- Appending ------------------------------------------------------------------------------- */

void gauss_impact_begin(gauss_impact *x, int n, const zw_metric *metric)
{
    x->n = n;
    x->metric = *metric;
    x->blocks = x->rows = x->entries = x->pairs = x->ways = x->kicked = 0;
    x->no_memory = !base_list_reserve(&x->start, &x->start_capacity, 0, sizeof *x->start);
    if (!x->no_memory) {
        x->start[0] = 0;
    }
}

void gauss_impact_kick(gauss_impact *x)
{
    x->kicked = 1;
}

int gauss_impact_block(gauss_impact *x, const zw_block *block, const gauss_impact_contact *contact)
{
    if (x->no_memory ||
        !base_list_reserve(&x->block, &x->block_capacity, x->blocks, sizeof *x->block)) {
        x->no_memory = 1;
        return -1;
    }
    x->block[x->blocks] = (impact_block){.block = *block,
                                         .first = x->rows,
                                         .contact = contact != NULL,
                                         .side = !contact && block->kind == ZW_CONE};
    if (contact) {
        x->block[x->blocks].law = *contact;
        x->pairs = contact->pair + 1 > x->pairs ? contact->pair + 1 : x->pairs;
    }
    return x->blocks++;
}

void gauss_impact_row(gauss_impact *x, int count, const int *column, const double *value, double b)
{
    for (int k = 0; k < count && !x->no_memory; k++) {
        if (value[k] == 0) {
            continue; /* it would seem to couple what it does not */
        }
        if (!base_list_reserve(&x->column, &x->column_capacity, x->entries, sizeof *x->column) ||
            !base_list_reserve(&x->value, &x->value_capacity, x->entries, sizeof *x->value)) {
            x->no_memory = 1;
            return;
        }
        x->column[x->entries] = column ? column[k] : k;
        x->value[x->entries++] = value[k];
    }
    if (x->no_memory || !base_list_reserve(&x->b, &x->b_capacity, x->rows, sizeof *x->b) ||
        !base_list_reserve(&x->start, &x->start_capacity, x->rows + 1, sizeof *x->start)) {
        x->no_memory = 1;
        return;
    }
    x->b[x->rows++] = b;
    x->start[x->rows] = x->entries;
}

void gauss_impact_add(gauss_impact *x, const zw_gauss *problem, int k, int first,
                      const gauss_impact_contact *contact)
{
    const zw_rows *A = &problem->A;
    gauss_impact_block(x, &problem->block[k], contact);
    for (int i = first; i < first + problem->block[k].rows; i++) {
        if (A->dense) {
            gauss_impact_row(x, x->n, NULL, A->dense + (size_t)i * (size_t)x->n, problem->b[i]);
        } else {
            gauss_impact_row(x, A->start[i + 1] - A->start[i], A->column + A->start[i],
                             A->value + A->start[i], problem->b[i]);
        }
    }
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

static void count_rows(gauss_impact *x)
{
    x->moved = 0;
    memset(x->rows_of, 0, (size_t)x->pairs * sizeof(int));
    for (int k = 0; k < x->blocks; k++) {
        const impact_block *block = &x->block[k];
        x->moved |= block->side != 0;
        for (int r = block->first; r < block->first + block->block.rows; r++) {
            x->moved |= !block->contact && x->b[r] != 0;
        }
        if (block->contact) {
            x->rows_of[block->law.pair] += block->block.rows;
        }
    }
}

/* Unknowns that move as one body, or as several that are joined. */
void impact_find_bodies(gauss_impact *x)
{
    partition_begin(x->n, x->root);
    for (int j = 0; j < x->n && x->metric.kind == ZW_METRIC_SPARSE; j++) {
        for (int k = x->metric.start[j]; k < x->metric.start[j + 1]; k++) {
            partition_join(x->root, j, x->metric.value[k] != 0 ? x->metric.row[k] : j);
        }
    }
    for (int k = 0; k < x->blocks; k++) {
        int first = x->block[k].first, last = first + x->block[k].block.rows;
        for (int e = x->start[first] + 1; e < x->start[last] && !x->block[k].contact; e++) {
            partition_join(x->root, x->column[x->start[first]], x->column[e]);
        }
    }
    partition_flatten(x->n, x->root);
    memset(x->coupled, 0, (size_t)x->n * sizeof(int));
    for (int i = 0; i < x->n; i++) {
        x->coupled[x->root[i]] |= x->root[i] != i;
    }
    for (int k = 0; k < x->blocks; k++) { /* a body tied to the ground is not free either */
        int first = x->block[k].first, last = first + x->block[k].block.rows;
        for (int e = x->start[first]; e < x->start[last] && !x->block[k].contact; e++) {
            x->coupled[x->root[x->column[e]]] = 1;
        }
    }
    count_rows(x);
}

/* ---- A part of the rows ---------------------------------------------------------------------- */

void impact_begin_part(gauss_impact *x)
{
    x->part_blocks = x->part_rows = 0;
    x->part_start[0] = 0;
}

static void turn_row(gauss_impact *x, int row)
{
    for (int e = x->part_start[row]; e < x->part_start[row + 1]; e++) {
        x->part_value[e] = -x->part_value[e];
    }
    x->part_b[row] = -x->part_b[row];
}

/* Rows of a permanent block without those of its friction. */
static int holding_rows(const impact_block *block)
{
    return block->side != 0 ? 1 : block->block.rows;
}

/* `rows` of block k as rows of this kind. */
void impact_add_part(gauss_impact *x, int k, zw_block_kind kind, int rows)
{
    const impact_block *from = &x->block[k];
    int normal = x->part_rows;
    x->part[x->part_blocks] = from->block;
    x->part[x->part_blocks].kind = kind;
    x->part[x->part_blocks].rows = rows;
    x->part_of[x->part_blocks++] = k;
    for (int r = from->first; r < from->first + rows; r++) {
        int at = x->part_start[x->part_rows], count = x->start[r + 1] - x->start[r];
        memcpy(x->part_column + at, x->column + x->start[r], (size_t)count * sizeof(int));
        memcpy(x->part_value + at, x->value + x->start[r], (size_t)count * sizeof(double));
        x->part_b[x->part_rows++] = x->b[r];
        x->part_start[x->part_rows] = at + count;
    }
    if (from->side < 0 && kind == ZW_CONE) {
        turn_row(x, normal);
    }
}

void impact_turn_part(gauss_impact *x, int p, int row)
{
    turn_row(x, row);
    x->block[x->part_of[p]].side *= -1;
}

/* The speeds nearest to `given`. A solution that misses the tolerance, which may be unreachable, is
 * accepted up to the kernel's own tolerance with cones. */
zw_status impact_solve_part(gauss_impact *x, const double *given, gauss_islands_answer *answer,
                            zw_error *error)
{
    zw_gauss problem = {.n = x->n, .metric = x->metric, .free = given};
    problem.block_count = x->part_blocks;
    problem.block = x->part;
    problem.A = (zw_rows){.start = x->part_start, .column = x->part_column, .value = x->part_value};
    problem.b = x->part_b;
    const gauss_islands_hint hint = {.fair = FAIR};
    zw_status status = gauss_islands_solve(x->islands, &problem, &x->options, &hint, answer, error);
    int best = status == ZW_INACCURATE || status == ZW_JAMMED || status == ZW_CONFLICT;
    return best && answer->certificate <= GAUSS_GOOD ? ZW_OK : status;
}

/* ---- Masses ---------------------------------------------------------------------------------- */

/* Appends the nonzero entries of d[count], from `from` on, to the direction of a contact. */
static zw_status keep_entries(gauss_impact *x, impact_block *block, int from, int count,
                              const double *d, zw_error *error)
{
    for (int i = 0; i < count; i++) {
        if (d[i] == 0) {
            continue;
        }
        if (!base_list_reserve(&x->way, &x->way_capacity, x->ways, sizeof *x->way) ||
            !base_list_reserve(&x->by, &x->by_capacity, x->ways, sizeof *x->by)) {
            return base_no_memory(error);
        }
        x->way[x->ways] = from + i;
        x->by[x->ways++] = d[i];
    }
    block->ways = x->ways - block->first_way;
    return ZW_OK;
}

static zw_status keep_direction(gauss_impact *x, impact_block *block, const double *d,
                                zw_error *error)
{
    block->first_way = x->ways;
    return keep_entries(x, block, 0, x->n, d, error);
}

/* And the impulses of the permanent rows: they are the first of the problem that was solved. */
static zw_status keep_holding(gauss_impact *x, impact_block *block, const double *lambda,
                              zw_error *error)
{
    zw_status status = ZW_OK;
    for (int i = 0; i < x->blocks && status == ZW_OK; i++) {
        const impact_block *holds = &x->block[i];
        if (!holds->contact) {
            int rows = holding_rows(holds);
            status = keep_entries(x, block, x->n + holds->first, rows, lambda, error);
            lambda += rows;
        }
    }
    return status;
}

/* The mass of unknown j if it is not coupled to others; 0: it is. */
static double mass_alone(const gauss_impact *x, int j)
{
    if (x->metric.kind == ZW_METRIC_DIAGONAL) {
        return x->coupled[x->root[j]] ? 0 : x->metric.value[j];
    }
    for (int k = x->metric.start[j]; k < x->metric.start[j + 1] && !x->coupled[x->root[j]]; k++) {
        if (x->metric.row[k] == j) {
            return x->metric.value[k];
        }
    }
    return 0;
}

/* Where unknowns of contact k are not coupled: m = 1 / sum A_j^2/M_j, d_j = m A_j/M_j. 0: they
 * are. */
static int find_mass_alone(gauss_impact *x, int k, double *d)
{
    int row = x->block[k].first;
    double sum = 0;
    for (int e = x->start[row]; e < x->start[row + 1]; e++) {
        double mass = mass_alone(x, x->column[e]);
        if (!(mass > 0)) {
            return 0;
        }
        sum += x->value[e] * x->value[e] / mass;
    }
    for (int e = x->start[row]; e < x->start[row + 1]; e++) {
        d[x->column[e]] = x->value[e] / (sum * mass_alone(x, x->column[e]));
    }
    x->block[k].mass = 1 / sum;
    return sum > 0;
}

/* The mass that the normal row of contact k meets, and its direction d. */
zw_status impact_find_mass(gauss_impact *x, int k, zw_error *error)
{
    gauss_islands_answer answer;
    memset(x->after, 0, (size_t)x->n * sizeof(double));
    if (find_mass_alone(x, k, x->after)) {
        return keep_direction(x, &x->block[k], x->after, error);
    }
    impact_begin_part(x);
    for (int i = 0; i < x->blocks; i++) {
        if (!x->block[i].contact) {
            impact_add_part(x, i, ZW_EQUALITY, holding_rows(&x->block[i]));
        }
    }
    memset(x->part_b, 0, (size_t)x->part_rows * sizeof(double));
    impact_add_part(x, k, ZW_EQUALITY, 1);
    x->part_b[x->part_rows - 1] = 1;
    memset(x->after, 0, (size_t)x->n * sizeof(double));
    zw_status status = impact_solve_part(x, x->after, &answer, error);
    if (status == ZW_OK) {
        x->block[k].mass = fmax(answer.lambda[x->part_rows - 1], DBL_MIN);
        status = keep_direction(x, &x->block[k], answer.a, error);
        status = status == ZW_OK ? keep_holding(x, &x->block[k], answer.lambda, error) : status;
    }
    return status;
}

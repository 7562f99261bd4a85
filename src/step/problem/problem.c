#include "step/problem/problem.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define SHARE 1e-7 /* see gauss/contact/choose.c; in rounds after the first nothing gives way */

/* ---- Memory --------------------------------------------------------------------------------- */

/* Extends *list to `more` entries of this size; the old ones are kept. 0: no memory. */
static int grow(void *list, int capacity, int more, size_t size)
{
    void *old, *new = base_alloc((size_t)more * size);
    if (new == NULL) {
        return 0;
    }
    memcpy(&old, list, sizeof old); /* a pointer of whatever type */
    if (capacity > 0) {
        memcpy(new, old, (size_t)capacity * size);
    }
    base_free(old);
    memcpy(list, &new, sizeof new);
    return 1;
}

static int more_than(int capacity, int need)
{
    int more = capacity > 0 ? capacity : 16;
    while (more < need) {
        more *= 2;
    }
    return more;
}

static int room_for_blocks(impulse_problem *p, int need)
{
    int capacity = p->block_capacity, more = more_than(capacity, need);
    if (need <= capacity) {
        return 1;
    }
    if (!grow(&p->block, capacity, more, sizeof *p->block) ||
        !grow(&p->key, capacity, more, sizeof *p->key) ||
        !grow(&p->first, capacity, more, sizeof *p->first)) {
        return 0;
    }
    p->block_capacity = more;
    return 1;
}

static int room_for_rows(impulse_problem *p, int need)
{
    int capacity = p->row_capacity, more = more_than(capacity, need);
    if (need <= capacity) {
        return 1;
    }
    if (!grow(&p->start, capacity, more, sizeof *p->start) ||
        !grow(&p->b, capacity, more, sizeof *p->b) ||
        !grow(&p->guess, capacity, more, sizeof *p->guess) ||
        !grow(&p->give, capacity, more, sizeof *p->give)) {
        return 0;
    }
    p->row_capacity = more;
    return 1;
}

static int room_for_entries(impulse_problem *p, int need)
{
    int capacity = p->entry_capacity, more = more_than(capacity, need);
    if (need <= capacity) {
        return 1;
    }
    if (!grow(&p->column, capacity, more, sizeof *p->column) ||
        !grow(&p->value, capacity, more, sizeof *p->value) ||
        !grow(&p->slope, capacity, more, sizeof *p->slope)) {
        return 0;
    }
    p->entry_capacity = more;
    return 1;
}

zw_status problem_create(impulse_problem *p, int n, zw_error *error)
{
    *p = (impulse_problem){
        .n = n, .options = zw_gauss_options_default(), .islands = gauss_islands_create()};
    if (!p->islands || !room_for_rows(p, 1) || !room_for_entries(p, 1) || !room_for_blocks(p, 1)) {
        problem_free(p);
        return base_no_memory(error);
    }
    return ZW_OK;
}

void problem_free(impulse_problem *p)
{
    void *list[] = {p->block,   p->key,       p->first,    p->start,      p->b,
                    p->guess,   p->give,      p->column,   p->value,      p->slope,
                    p->old_key, p->old_first, p->old_rows, p->old_lambda, p->slot};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        base_free(list[i]);
    }
    gauss_islands_free(p->islands);
    *p = (impulse_problem){0};
}

/* ---- Appending ------------------------------------------------------------------------------ */

void problem_begin(impulse_problem *p)
{
    p->blocks = p->rows = p->entries = p->old_at = p->fresh = p->no_memory = p->gives = 0;
    p->start[0] = 0;
    p->slots = 0;
}

/* The position of `key` among the remembered blocks: usually right after the one found last. */
static int find(const impulse_problem *p, int64_t key, int from)
{
    for (int k = 0; k < p->old_blocks; k++) {
        int at = from + k < p->old_blocks ? from + k : from + k - p->old_blocks;
        if (p->old_key[at] == key) {
            return at;
        }
    }
    return -1;
}

static unsigned slot_of(const impulse_problem *p, int64_t key)
{
    uint64_t mixed = (uint64_t)key * 0x9e3779b97f4a7c15ull;
    return (unsigned)(mixed >> 32) & (unsigned)(p->slots - 1);
}

/* A table of the remembered keys; each is in the first free slot from its own on. 0: no memory. */
static int make_slots(impulse_problem *p)
{
    int slots = 64;
    while (slots < 2 * p->old_blocks) {
        slots *= 2;
    }
    if (slots > p->slot_capacity) {
        base_free(p->slot);
        p->slot = base_alloc((size_t)slots * sizeof *p->slot);
        p->slot_capacity = p->slot ? slots : 0;
    }
    p->slots = p->slot ? slots : 0;
    for (int k = 0; k < p->slots; k++) {
        p->slot[k] = 0;
    }
    for (int k = 0; k < p->old_blocks && p->slots > 0; k++) {
        unsigned at = slot_of(p, p->old_key[k]);
        while (p->slot[at] > 0) {
            at = (at + 1) & (unsigned)(p->slots - 1);
        }
        p->slot[at] = k + 1;
    }
    return p->slots > 0;
}

/* The same while blocks are appended: blocks that are new, or in another order, are many in heaps,
 * where looking at all the others for each would take longer than everything else. */
static int find_next(impulse_problem *p, int64_t key)
{
    enum { NEAR = 4, FEW = 64 };
    for (int at = p->old_at; at < p->old_blocks && at < p->old_at + NEAR; at++) {
        if (p->old_key[at] == key) {
            return at;
        }
    }
    if (p->old_blocks <= FEW || (p->slots == 0 && !make_slots(p))) {
        return find(p, key, p->old_at);
    }
    for (unsigned at = slot_of(p, key); p->slot[at] > 0; at = (at + 1) & (unsigned)(p->slots - 1)) {
        if (p->slot[at] <= p->old_blocks && p->old_key[p->slot[at] - 1] == key) {
            return p->slot[at] - 1;
        }
    }
    return -1;
}

void problem_block(impulse_problem *p, int64_t key, const zw_block *block)
{
    int rows = block->rows;
    if (p->no_memory || !room_for_blocks(p, p->blocks + 1) ||
        !room_for_rows(p, p->rows + rows + 1)) {
        p->no_memory = 1;
        return;
    }
    p->block[p->blocks] = *block;
    p->key[p->blocks] = key;
    p->first[p->blocks++] = p->rows;
    int old = find_next(p, key);
    int same = old >= 0 && p->old_rows[old] == rows;
    for (int k = 0; k < rows; k++) {
        p->guess[p->rows + k] = same ? p->old_lambda[p->old_first[old] + k] : 0;
    }
    p->old_at = old >= 0 ? old + 1 : p->old_at;
    p->fresh += !same;
}

void problem_row(impulse_problem *p, int count, const int *column, const double *value, double b)
{
    if (p->no_memory || !room_for_entries(p, p->entries + count)) {
        p->no_memory = 1;
        return;
    }
    memcpy(p->column + p->entries, column, (size_t)count * sizeof *column);
    memcpy(p->value + p->entries, value, (size_t)count * sizeof *value);
    memcpy(p->slope + p->entries, value, (size_t)count * sizeof *value);
    p->entries += count;
    p->give[p->rows] = 0;
    p->b[p->rows++] = b;
    p->start[p->rows] = p->entries;
}

void problem_slope(impulse_problem *p, const double *slope)
{
    if (!p->no_memory) {
        int start = p->start[p->rows - 1];
        memcpy(p->slope + start, slope, (size_t)(p->entries - start) * sizeof *slope);
    }
}

void problem_give(impulse_problem *p, double compliance)
{
    if (!p->no_memory) {
        p->give[p->rows - 1] = compliance;
        p->gives |= compliance > 0;
    }
}

void problem_guess_push(const impulse_problem *p, double *out)
{
    memset(out, 0, (size_t)p->n * sizeof *out);
    for (int i = 0; i < p->rows; i++) {
        for (int k = p->start[i]; k < p->start[i + 1]; k++) {
            out[p->column[k]] += p->guess[i] * p->value[k];
        }
    }
}

/* ---- Solving -------------------------------------------------------------------------------- */

int problem_room_for_old(impulse_problem *p, int block_count, int row_count)
{
    int blocks = more_than(p->old_block_capacity, block_count);
    int rows = more_than(p->old_row_capacity, row_count);
    if (blocks > p->old_block_capacity) {
        if (!grow(&p->old_key, p->old_block_capacity, blocks, sizeof *p->old_key) ||
            !grow(&p->old_first, p->old_block_capacity, blocks, sizeof(int)) ||
            !grow(&p->old_rows, p->old_block_capacity, blocks, sizeof(int))) {
            return 0;
        }
        p->old_block_capacity = blocks;
    }
    if (rows > p->old_row_capacity) {
        if (!grow(&p->old_lambda, p->old_row_capacity, rows, sizeof *p->old_lambda)) {
            return 0;
        }
        p->old_row_capacity = rows;
    }
    return 1;
}

static int remember(impulse_problem *p)
{
    if (!problem_room_for_old(p, p->blocks, p->rows)) {
        return 0;
    }
    for (int k = 0; k < p->blocks; k++) {
        p->old_key[k] = p->key[k];
        p->old_first[k] = p->first[k];
        p->old_rows[k] = p->block[k].rows;
    }
    if (p->rows > 0) {
        memcpy(p->old_lambda, p->answer.lambda, (size_t)p->rows * sizeof *p->old_lambda);
    }
    p->old_blocks = p->blocks;
    return 1;
}

void problem_add(impulse_problem *p, double by, const double *lambda)
{
    int last = p->old_blocks - 1;
    for (int i = 0; last >= 0 && i < p->old_first[last] + p->old_rows[last]; i++) {
        p->old_lambda[i] += by * lambda[i];
    }
}

int problem_accept(impulse_problem *p, const double *lambda)
{
    p->answer = (gauss_islands_answer){.lambda = lambda, .worst_block = -1};
    return remember(p);
}

uint64_t problem_blocks(const impulse_problem *p)
{
    uint64_t sum = (uint64_t)p->blocks;
    for (int k = 0; k < p->blocks; k++) {
        sum = (sum * 31 + (uint64_t)p->key[k]) * 31 + (uint64_t)p->block[k].rows;
    }
    return sum;
}

static zw_status out_of_memory(zw_error *error)
{
    return base_no_memory(error);
}

zw_gauss problem_rows(const impulse_problem *p)
{
    return (zw_gauss){.n = p->n,
                      .block_count = p->blocks,
                      .block = p->block,
                      .A = {.start = p->start, .column = p->column, .value = p->value},
                      .b = p->b,
                      .compliance = p->gives ? p->give : NULL};
}

static zw_status solve(impulse_problem *p, zw_gauss problem, const impulse_matrix *H,
                       const gauss_islands_hint *hint, const double *guess, zw_error *error)
{
    if (p->no_memory) {
        return out_of_memory(error);
    }
    problem.metric =
        (zw_metric){.kind = ZW_METRIC_SPARSE, .value = H->value, .start = H->start, .row = H->row};
    p->options.guess = guess;
    p->options.tolerance = p->wanted;
    zw_status status =
        gauss_islands_solve(p->islands, &problem, &p->options, hint, &p->answer, error);
    p->contradicts = status == ZW_CONFLICT;
    int answered = status == ZW_OK || (status == ZW_CONFLICT && p->options.least_squares) ||
                   (status == ZW_INACCURATE && p->answer.certificate <= p->enough) ||
                   (status == ZW_JAMMED && p->answer.certificate <= p->jammed);
    return answered ? ZW_OK : status;
}

static zw_status solve_and_keep(impulse_problem *p, zw_gauss problem, const impulse_matrix *H,
                                const gauss_islands_hint *hint, zw_error *error)
{
    zw_status status = solve(p, problem, H, hint, p->rows > 0 ? p->guess : NULL, error);
    return status == ZW_OK && !remember(p) ? out_of_memory(error) : status;
}

zw_status problem_solve(impulse_problem *p, const impulse_matrix *H, const double *given,
                        const double *start, zw_error *error)
{
    zw_gauss problem = problem_rows(p);
    problem.free = given;
    return solve_and_keep(p, problem, H,
                          &(gauss_islands_hint){.start = start,
                                                .share = SHARE,
                                                .about_guess = p->chosen,
                                                .at_rest = p->at_rest,
                                                .fair = p->fair,
                                                .excess = p->rows > 0 ? p->excess : NULL,
                                                .polish = 1},
                          error);
}

zw_status problem_solve_force(impulse_problem *p, const impulse_matrix *H, const double *force,
                              const gauss_islands_hint *hint, zw_error *error)
{
    zw_gauss problem = problem_rows(p);
    problem.force = force;
    return solve_and_keep(p, problem, H, hint, error);
}

zw_status problem_solve_aside(impulse_problem *p, const impulse_matrix *H, const double *given,
                              zw_error *error)
{
    zw_gauss problem = problem_rows(p);
    problem.free = given;
    return solve(p, problem, H, NULL, NULL, error);
}

zw_status problem_solve_near(impulse_problem *p, const impulse_matrix *H, const double *given,
                             const double *start, zw_error *error)
{
    zw_gauss problem = problem_rows(p);
    problem.free = given;
    return solve(p, problem, H, &(gauss_islands_hint){.start = start}, p->guess, error);
}

void problem_guess_from(impulse_problem *p, const impulse_problem *other, double factor)
{
    for (int k = 0, from = 0; k < p->blocks; k++) {
        int at = find(other, p->key[k], from), rows = p->block[k].rows;
        int same = at >= 0 && other->old_rows[at] == rows;
        for (int r = 0; r < rows; r++) {
            p->guess[p->first[k] + r] =
                same ? factor * other->old_lambda[other->old_first[at] + r] : 0;
        }
        from = at >= 0 ? at + 1 : from;
    }
}

double problem_multiplier(const impulse_problem *p, int64_t key, int row)
{
    int from = 0;
    return problem_next_multiplier(p, key, row, &from);
}

void problem_move_multipliers(impulse_problem *p, int64_t from, int64_t to)
{
    int a = find(p, from, 0), b = find(p, to, 0);
    for (int k = 0; a >= 0 && b >= 0 && k < p->old_rows[a] && k < p->old_rows[b]; k++) {
        p->old_lambda[p->old_first[b] + k] += p->old_lambda[p->old_first[a] + k];
    }
}

double problem_next_multiplier(const impulse_problem *p, int64_t key, int row, int *from)
{
    int at = find(p, key, *from);
    *from = at >= 0 ? at + 1 : *from;
    return at >= 0 && row < p->old_rows[at] ? p->old_lambda[p->old_first[at] + row] : 0;
}

/* Connected components: the pieces into which a problem falls. */
#include <string.h>

#include "base/memory.h"
#include "gauss/contact/islands_inner.h"
#include "math/partition.h"

void *islands_reserve(buffer *r, size_t count, size_t size)
{
    size_t bytes = (count + 1) * size;
    if (bytes > r->bytes) {
        base_free(r->data);
        r->bytes = 0;
        r->data = base_alloc(bytes + bytes / 2);
        r->bytes = r->data ? bytes + bytes / 2 : 0;
    }
    return r->data;
}

/* The unknowns that the metric couples: found again only if its pattern has changed. */
static const int *join_metric(gauss_islands *is, const zw_gauss *problem)
{
    const zw_metric *M = &problem->metric;
    size_t n = (size_t)problem->n;
    size_t entries = M->kind == ZW_METRIC_SPARSE ? (size_t)M->start[n] : 0;
    int *parent = is->by_metric.data;
    if (entries > 0 && is->old_n == problem->n &&
        memcmp(is->old_start.data, M->start, (n + 1) * sizeof(int)) == 0 &&
        memcmp(is->old_row.data, M->row, entries * sizeof(int)) == 0) {
        return parent;
    }
    is->old_n = 0;
    parent = islands_reserve(&is->by_metric, n, sizeof(int));
    int *tree = islands_reserve(&is->tree, n, sizeof(int));
    if (!parent || !tree || !islands_reserve(&is->old_start, n + 1, sizeof(int)) ||
        !islands_reserve(&is->old_row, entries, sizeof(int))) {
        return NULL;
    }
    partition_begin(problem->n, parent);
    gauss_prox_tree(M, problem->n, NULL, NULL, tree);
    if (entries > 0) {
        memcpy(is->old_start.data, M->start, (n + 1) * sizeof(int));
        memcpy(is->old_row.data, M->row, entries * sizeof(int));
        is->old_n = problem->n;
    }
    for (int j = 0; j < problem->n && entries > 0; j++) {
        for (int k = M->start[j]; k < M->start[j + 1]; k++) {
            partition_join(parent, j, M->row[k]);
        }
    }
    partition_flatten(problem->n, parent);
    is->is_one = 1;
    for (int j = 0; j < problem->n; j++) {
        is->is_one &= parent[j] == 0;
    }
    return parent;
}

static int join_all(gauss_islands *is, const zw_gauss *problem, const int *first, int *parent)
{
    const int *by_metric = join_metric(is, problem), *column = problem->A.column;
    if (!by_metric) {
        return 0;
    }
    memcpy(parent, by_metric, (size_t)problem->n * sizeof *parent);
    for (int k = 0; k < problem->block_count && !is->is_one; k++) {
        int from = problem->A.start[first[k]], to = problem->A.start[first[k + 1]];
        for (int e = from + 1; e < to; e++) {
            if (parent[column[e]] != parent[column[from]]) {
                partition_join(parent, column[from], column[e]);
            }
        }
    }
    partition_flatten(problem->n, parent);
    return 1;
}

/* Pieces that have rows, or all of them, with their unknowns and blocks, each in ascending order.
 * Rows without columns belong to the piece of the first unknown. */
static void number_pieces(gauss_islands *is, const zw_gauss *problem, const int *first, int all)
{
    int *parent = is->parent.data, *of = is->piece_of.data, *fill = is->fill.data;
    piece *list = is->pieces.data;
    is->piece_count = 0;
    for (int j = 0; j < problem->n; j++) {
        of[j] = all ? 0 : -1;
    }
    for (int k = 0; k < problem->block_count; k++) {
        int at = problem->A.start[first[k]];
        int empty = at == problem->A.start[first[k + 1]];
        of[parent[empty ? 0 : problem->A.column[at]]] = 0;
    }
    for (int j = 0; j < problem->n; j++) {
        if (parent[j] == j && of[j] == 0) {
            list[is->piece_count] = (piece){0};
            of[j] = is->piece_count++;
        } else {
            of[j] = parent[j] == j ? -1 : of[parent[j]];
        }
        if (of[j] >= 0) {
            list[of[j]].n++;
        }
    }
    for (int k = 0; k < problem->block_count; k++) {
        int at = problem->A.start[first[k]];
        int empty = at == problem->A.start[first[k + 1]];
        fill[k] = of[empty ? 0 : problem->A.column[at]];
        list[fill[k]].blocks++;
        list[fill[k]].m += problem->block[k].rows;
    }
}

static void list_members(gauss_islands *is, const zw_gauss *problem)
{
    const int *of = is->piece_of.data, *block_of = is->fill.data;
    int *local = is->local.data, *unknown = is->unknown.data, *block = is->block.data;
    piece *list = is->pieces.data;
    for (int p = 0, u = 0, b = 0; p < is->piece_count; p++) {
        list[p].first_unknown = u;
        list[p].first_block = b;
        u += list[p].n;
        b += list[p].blocks;
        list[p].n = list[p].blocks = 0;
    }
    for (int j = 0; j < problem->n; j++) {
        if (of[j] >= 0) {
            piece *p = &list[of[j]];
            local[j] = p->n;
            unknown[p->first_unknown + p->n++] = j;
        }
    }
    for (int k = 0; k < problem->block_count; k++) {
        piece *p = &list[block_of[k]];
        block[p->first_block + p->blocks++] = k;
    }
}

int islands_split(gauss_islands *is, const zw_gauss *problem, int m)
{
    size_t n = (size_t)problem->n, blocks = (size_t)problem->block_count;
    int *first = islands_reserve(&is->row_start, blocks + 1, sizeof *first);
    if (!first || !islands_reserve(&is->parent, n, sizeof(int)) ||
        !islands_reserve(&is->piece_of, n, sizeof(int)) ||
        !islands_reserve(&is->local, n, sizeof(int)) ||
        !islands_reserve(&is->unknown, n, sizeof(int)) ||
        !islands_reserve(&is->block, blocks, sizeof(int)) ||
        !islands_reserve(&is->fill, blocks, sizeof(int)) ||
        !islands_reserve(&is->pieces, n, sizeof(piece)) ||
        !islands_reserve(&is->a, n, sizeof(double)) ||
        !islands_reserve(&is->lambda, (size_t)m, sizeof(double)) ||
        !islands_reserve(&is->residual, (size_t)m, sizeof(double))) {
        return 0;
    }
    first[0] = 0;
    for (int k = 0; k < problem->block_count; k++) {
        first[k + 1] = first[k] + problem->block[k].rows;
    }
    if (!join_all(is, problem, first, is->parent.data)) {
        return 0;
    }
    number_pieces(is, problem, first, problem->free == NULL);
    list_members(is, problem);
    return 1;
}

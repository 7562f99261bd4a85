#include "draft.h"

#include <stdio.h>
#include <string.h>

static double *numbers(scene *s, int count)
{
    return scene_alloc(s, (size_t)count, sizeof(double));
}

static double *numbers_copy(scene *s, const double *from, int count)
{
    return memcpy(numbers(s, count), from, (size_t)count * sizeof *from);
}

draft *draft_new(int n, int row_capacity, int block_capacity)
{
    scene *memory = scene_new("draft", n);
    draft *d = scene_alloc(memory, 1, sizeof *d);
    d->memory = memory;
    d->n = n;
    d->row_capacity = row_capacity;
    d->block_capacity = block_capacity;
    d->M = numbers(memory, n * n);
    d->A = numbers(memory, row_capacity * n);
    d->b = numbers(memory, row_capacity);
    d->compliance = numbers(memory, row_capacity);
    d->free = numbers(memory, n);
    d->C = numbers(memory, n);
    d->witness = numbers(memory, n);
    d->block = scene_alloc(memory, (size_t)block_capacity, sizeof *d->block);
    d->first = scene_alloc(memory, (size_t)block_capacity, sizeof *d->first);
    d->part = scene_alloc(memory, (size_t)n, sizeof *d->part);
    d->conflict = scene_alloc(memory, (size_t)block_capacity, sizeof *d->conflict);
    return d;
}

int draft_block(draft *d, zw_block_kind kind, int rows, const char *name)
{
    int k = d->blocks++;
    d->block[k].kind = kind;
    d->block[k].rows = rows;
    d->block[k].name = scene_text(d->memory, name);
    d->first[k] = d->m;
    d->m += rows;
    return k;
}

double *draft_row(draft *d, int row)
{
    return d->A + row * d->n;
}

/* ---- Storing ------------------------------------------------------------------------------ */

static void store_blocks(const draft *d, scene *s)
{
    zw_metric *M = &s->problem.metric;
    int n = d->n, *size = scene_alloc(s, (size_t)d->parts, sizeof *size), count = 0;
    for (int k = 0; k < d->parts; k++) {
        size[k] = d->part[k];
        count += size[k] * size[k];
    }
    s->metric = numbers(s, count);
    s->metric_count = (size_t)count;

    double *value = s->metric;
    for (int k = 0, at = 0; k < d->parts; at += size[k++]) {
        for (int i = at; i < at + size[k]; i++)
            for (int j = at; j < at + size[k]; j++)
                *value++ = d->M[i * n + j];
    }
    M->block_count = d->parts;
    M->block_size = size;
}

static void store_sparse(const draft *d, scene *s, int both_triangles)
{
    int n = d->n, count = 0;
    for (int i = 0; i < n * n; i++)
        count += d->M[i] != 0;

    int *start = scene_alloc(s, (size_t)n + 1, sizeof *start);
    int *row = scene_alloc(s, (size_t)count, sizeof *row);
    s->metric = numbers(s, count);
    count = 0;
    for (int j = 0; j < n; j++) {
        start[j] = count;
        for (int i = both_triangles ? 0 : j; i < n; i++) {
            if (d->M[i * n + j] == 0)
                continue;
            row[count] = i;
            s->metric[count++] = d->M[i * n + j];
        }
    }
    start[n] = count;
    s->metric_count = (size_t)count;
    s->problem.metric.start = start;
    s->problem.metric.row = row;
}

static void store_metric(const draft *d, scene *s, const draft_form *form)
{
    int n = d->n;
    s->problem.metric.kind = form->metric;
    if (form->metric == ZW_METRIC_DIAGONAL) {
        s->metric = numbers(s, n);
        s->metric_count = (size_t)n;
        for (int i = 0; i < n; i++)
            s->metric[i] = d->M[i * n + i];
    } else if (form->metric == ZW_METRIC_DENSE) {
        s->metric = numbers_copy(s, d->M, n * n);
        s->metric_count = (size_t)(n * n);
    } else if (form->metric == ZW_METRIC_BLOCKS) {
        store_blocks(d, s);
    } else if (form->metric == ZW_METRIC_SPARSE) {
        store_sparse(d, s, form->both_triangles);
    }
    s->problem.metric.value = s->metric;
}

static void store_rows(const draft *d, scene *s, int compressed)
{
    int n = d->n, count = 0, size = d->m * n;
    zw_rows *A = &s->problem.A;
    if (!compressed) {
        s->row = numbers_copy(s, d->A, size);
        s->row_count = (size_t)size;
        A->dense = s->row;
        return;
    }
    for (int i = 0; i < size; i++)
        count += d->A[i] != 0;

    int *start = scene_alloc(s, (size_t)d->m + 1, sizeof *start);
    int *column = scene_alloc(s, (size_t)count, sizeof *column);
    s->row = numbers(s, count);
    s->row_count = (size_t)count;
    count = 0;
    for (int i = 0; i < d->m; i++) {
        start[i] = count;
        for (int j = 0; j < n; j++) {
            if (d->A[i * n + j] == 0)
                continue;
            column[count] = j;
            s->row[count++] = d->A[i * n + j];
        }
    }
    start[d->m] = count;
    A->start = start;
    A->column = column;
    A->value = s->row;
}

static double *store_unless_zero(scene *s, const double *x, int count)
{
    for (int i = 0; i < count; i++)
        if (x[i] != 0)
            return numbers_copy(s, x, count);
    return NULL;
}

static void store_free(const draft *d, scene *s, int force)
{
    if (force == 0) {
        s->free = numbers_copy(s, d->free, d->n);
    } else if (force > 0) {
        s->force = numbers(s, d->n);
        scene_times_M(s, d->free, s->force);
    }
    s->problem.free = s->free;
    s->problem.force = s->force;
}

static void store_blocks_of_rows(const draft *d, scene *s)
{
    s->block = scene_alloc(s, (size_t)d->blocks, sizeof *s->block);
    for (int k = 0; k < d->blocks; k++) {
        s->block[k] = d->block[k];
        s->block[k].name = scene_text(s, d->block[k].name);
    }
    s->problem.block = s->block;
    s->problem.block_count = d->blocks;
    s->m = d->m;
}

scene *draft_finish(draft *d, const char *name, zw_contact_law law, const draft_form *form)
{
    scene *s = scene_new(name, d->n);
    s->law = law;
    store_metric(d, s, form);
    store_free(d, s, form->force);
    store_blocks_of_rows(d, s);
    store_rows(d, s, form->compressed);

    s->problem.b = s->b = store_unless_zero(s, d->b, d->m);
    s->problem.compliance = s->compliance = store_unless_zero(s, d->compliance, d->m);
    s->problem.C = s->C = store_unless_zero(s, d->C, d->n);
    if (d->conflict_count) {
        s->conflict_count = d->conflict_count;
        s->conflict = scene_alloc(s, (size_t)d->conflict_count, sizeof *s->conflict);
        memcpy(s->conflict, d->conflict, (size_t)d->conflict_count * sizeof *s->conflict);
    } else {
        s->witness = numbers_copy(s, d->witness, d->n);
        s->margin = scene_margin(s, s->witness);
    }
    scene_free(d->memory);
    return s;
}

/* Copies and changes that must not change the motion. */
#include <math.h>
#include <string.h>

#include "scene.h"

/* Room for `times` copies of an array one after another; NULL stays NULL. */
static void *repeat(scene *s, const void *from, size_t count, size_t size, int times)
{
    if (!from)
        return NULL;
    char *to = scene_alloc(s, count * (size_t)times, size);
    for (int t = 0; t < times && count > 0; t++)
        memcpy(to + (size_t)t * count * size, from, count * size);
    return to;
}

static void repeat_metric(const scene *s, scene *copy)
{
    const zw_metric *M = &s->problem.metric;
    size_t n = (size_t)s->problem.n;
    copy->metric = repeat(copy, s->metric, s->metric_count, sizeof(double), 1);
    copy->metric_count = s->metric_count;
    copy->problem.metric = *M;
    copy->problem.metric.value = copy->metric;
    copy->problem.metric.start = repeat(copy, M->start, n + 1, sizeof(int), 1);
    copy->problem.metric.row = repeat(copy, M->row, s->metric_count, sizeof(int), 1);
    copy->problem.metric.block_size =
        repeat(copy, M->block_size, (size_t)M->block_count, sizeof(int), 1);
}

static void repeat_rows(const scene *s, scene *copy, int times)
{
    const zw_rows *A = &s->problem.A;
    zw_rows *to = &copy->problem.A;
    copy->row = repeat(copy, s->row, s->row_count, sizeof(double), times);
    copy->row_count = s->row_count * (size_t)times;
    memset(to, 0, sizeof *to);
    if (A->dense) {
        to->dense = copy->row;
        return;
    }
    int *start = scene_alloc(copy, (size_t)copy->m + 1, sizeof *start);
    for (int t = 0; t < times; t++)
        for (int i = 0; i <= s->m; i++)
            start[t * s->m + i] = t * (int)s->row_count + A->start[i];
    to->start = start;
    to->column = repeat(copy, A->column, s->row_count, sizeof(int), times);
    to->value = copy->row;
}

static void repeat_blocks(const scene *s, scene *copy, int times)
{
    int count = s->problem.block_count;
    copy->block = repeat(copy, s->problem.block, (size_t)count, sizeof *copy->block, times);
    for (int k = 0; k < count * times; k++) {
        const char *name = copy->block[k].name;
        char longer[256];
        snprintf(longer, sizeof longer, "%s%s%s", name ? name : "", k >= count ? " again" : "",
                 k >= 2 * count ? " again" : "");
        copy->block[k].name = name || k >= count ? scene_text(copy, longer) : NULL;
    }
    copy->problem.block = copy->block;
    copy->problem.block_count = count * times;
}

static scene *scene_repeat(const scene *s, int times)
{
    size_t n = (size_t)s->problem.n, m = (size_t)s->m, number = sizeof(double);
    scene *copy = scene_new(s->name, s->problem.n);
    struct scene_memory *memory = copy->memory;
    *copy = *s;
    copy->memory = memory;
    copy->m = s->m * times;

    repeat_metric(s, copy);
    repeat_blocks(s, copy, times);
    repeat_rows(s, copy, times);
    copy->problem.free = copy->free = repeat(copy, s->free, n, number, 1);
    copy->problem.force = copy->force = repeat(copy, s->force, n, number, 1);
    copy->problem.C = copy->C = repeat(copy, s->C, n, number, 1);
    copy->problem.b = copy->b = repeat(copy, s->b, m, number, times);
    copy->compliance = repeat(copy, s->compliance, m, number, times);
    copy->problem.compliance = copy->compliance;
    copy->witness = repeat(copy, s->witness, n, number, 1);
    copy->conflict = repeat(copy, s->conflict, (size_t)s->conflict_count, sizeof(int), 1);
    return copy;
}

scene *scene_copy(const scene *s)
{
    return scene_repeat(s, 1);
}

scene *scene_triple(const scene *s)
{
    scene *triple = scene_repeat(s, 3);
    snprintf(triple->name, sizeof triple->name, "%.55s-triple", s->name);
    for (int i = 0; i < triple->m && triple->compliance; i++)
        triple->compliance[i] *= 3; /* three springs side by side are as stiff as one before */
    return triple;
}

/* ---- Units -------------------------------------------------------------------------------- */

static void rescale_row(scene *s, int row, double factor)
{
    size_t from, to;
    if (s->problem.A.dense) {
        from = (size_t)row * (size_t)s->problem.n;
        to = from + (size_t)s->problem.n;
    } else {
        from = (size_t)s->problem.A.start[row];
        to = (size_t)s->problem.A.start[row + 1];
    }
    for (size_t k = from; k < to; k++)
        s->row[k] *= factor;
    if (s->b)
        s->b[row] *= factor;
    if (s->compliance)
        s->compliance[row] *= factor * factor; /* lambda becomes lambda / factor */
}

void scene_rescale_rows(scene *s, double factor)
{
    for (int i = 0; i < s->m; i++)
        rescale_row(s, i, factor);
}

void scene_rescale_block(scene *s, int block, double factor)
{
    int row = 0;
    for (int k = 0; k < block; k++)
        row += s->problem.block[k].rows;
    for (int i = 0; i < s->problem.block[block].rows; i++)
        rescale_row(s, row + i, factor);
}

/* An identity becomes a diagonal, to have numbers that can change. */
static void metric_with_numbers(scene *s)
{
    if (s->problem.metric.kind != ZW_METRIC_IDENTITY)
        return;
    s->metric_count = (size_t)s->problem.n;
    s->metric = scene_alloc(s, s->metric_count, sizeof(double));
    for (size_t i = 0; i < s->metric_count; i++)
        s->metric[i] = 1;
    s->problem.metric.kind = ZW_METRIC_DIAGONAL;
    s->problem.metric.value = s->metric;
}

/* value_ij *= factor_i factor_j */
static void rescale_dense(double *value, int size, const double *factor)
{
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++)
            value[i * size + j] *= factor[i] * factor[j];
}

static void rescale_metric(scene *s, const double *factor)
{
    const zw_metric *M = &s->problem.metric;
    int n = s->problem.n;
    if (M->kind == ZW_METRIC_DIAGONAL) {
        for (int i = 0; i < n; i++)
            s->metric[i] *= factor[i] * factor[i];
    } else if (M->kind == ZW_METRIC_DENSE) {
        rescale_dense(s->metric, n, factor);
    } else if (M->kind == ZW_METRIC_BLOCKS) {
        double *value = s->metric;
        for (int k = 0; k < M->block_count; k++) {
            rescale_dense(value, M->block_size[k], factor);
            value += M->block_size[k] * M->block_size[k];
            factor += M->block_size[k];
        }
    } else if (M->kind == ZW_METRIC_SPARSE) {
        for (int j = 0; j < n; j++)
            for (int k = M->start[j]; k < M->start[j + 1]; k++)
                s->metric[k] *= factor[M->row[k]] * factor[j];
    }
}

static void rescale_unknowns(scene *s, const double *factor)
{
    const zw_rows *A = &s->problem.A;
    metric_with_numbers(s);
    rescale_metric(s, factor);
    for (size_t k = 0; k < s->row_count; k++)
        s->row[k] *= factor[A->dense ? (int)(k % (size_t)s->problem.n) : A->column[k]];
    for (int j = 0; j < s->problem.n; j++) {
        if (s->free)
            s->free[j] /= factor[j];
        if (s->witness)
            s->witness[j] /= factor[j];
        if (s->force)
            s->force[j] *= factor[j];
        if (s->C)
            s->C[j] *= factor[j];
    }
}

/* The unknowns first, first + step, ... */
static void rescale_some(scene *s, int first, int step, double factor)
{
    scene *scratch = scene_new("", 0);
    double *all = scene_alloc(scratch, (size_t)s->problem.n, sizeof *all);
    for (int j = 0; j < s->problem.n; j++)
        all[j] = j >= first && (j - first) % step == 0 ? factor : 1;
    rescale_unknowns(s, all);
    scene_free(scratch);
}

void scene_rescale_unit(scene *s, int unknown, double factor)
{
    rescale_some(s, unknown, s->problem.n, factor);
}

void scene_rescale_units(scene *s, double factor)
{
    rescale_some(s, 0, 2, factor);
}

void scene_rescale_masses(scene *s, double factor)
{
    metric_with_numbers(s);
    for (size_t k = 0; k < s->metric_count; k++)
        s->metric[k] *= factor;
    for (int j = 0; j < s->problem.n; j++) {
        if (s->force)
            s->force[j] *= factor;
        if (s->C)
            s->C[j] *= factor;
    }
    for (int i = 0; i < s->m && s->compliance; i++)
        s->compliance[i] /= factor;
}

/* Scenes with compressed metric and rows, the form in which contacts of many bodies are solved. */
#ifndef ZW_TEST_GAUSS_PACKED_H
#define ZW_TEST_GAUSS_PACKED_H

#include "scene/scene.h"

enum { UNKNOWNS = 800, ROWS = 1300, ENTRIES = 40000 };

/* A scene's problem with compressed metric and rows. */
typedef struct packed {
    zw_gauss problem;
    int start[UNKNOWNS + 1], row[ENTRIES], A_start[ROWS + 1], column[ENTRIES];
    double metric[ENTRIES], value[ENTRIES], free[UNKNOWNS];
} packed;

static inline double entry(const zw_gauss *g, int i, int j)
{
    const zw_metric *M = &g->metric;
    if (M->kind == ZW_METRIC_DIAGONAL || M->kind == ZW_METRIC_IDENTITY) {
        return i != j ? 0 : M->kind == ZW_METRIC_IDENTITY ? 1 : M->value[i];
    }
    if (M->kind == ZW_METRIC_DENSE) {
        return i > j ? M->value[i * g->n + j] : M->value[j * g->n + i];
    }
    double sum = 0;
    for (int b = 0, at = 0, first = 0; M->kind == ZW_METRIC_BLOCKS && b < M->block_count; b++) {
        int n = M->block_size[b];
        if (i >= first && i < first + n && j >= first && j < first + n) {
            int high = (i > j ? i : j) - first, low = (i > j ? j : i) - first;
            sum = M->value[at + high * n + low];
        }
        at += n * n;
        first += n;
    }
    for (int k = M->kind == ZW_METRIC_SPARSE ? M->start[j] : 0;
         M->kind == ZW_METRIC_SPARSE && k < M->start[j + 1]; k++) {
        sum += M->row[k] == i ? M->value[k] : 0;
    }
    return sum;
}

/* Returns 0 if the scene has something that the method does not support. */
static inline int pack(const scene *s, packed *p)
{
    const zw_gauss *g = &s->problem;
    int count = 0, rows = 0;
    if (g->n > UNKNOWNS || s->m > ROWS || g->compliance || g->C || g->force) {
        return 0;
    }
    for (int j = 0; j < g->n; j++) {
        p->start[j] = count;
        p->free[j] = g->free ? g->free[j] : 0;
        for (int i = j; i < g->n; i++) {
            double x = entry(g, i, j);
            if (x != 0) {
                assert_true(count < ENTRIES);
                p->row[count] = i;
                p->metric[count++] = x;
            }
        }
    }
    p->start[g->n] = count;
    count = 0;
    for (; rows < s->m; rows++) {
        p->A_start[rows] = count;
        int from = g->A.dense ? 0 : g->A.start[rows], to = g->A.dense ? g->n : g->A.start[rows + 1];
        for (int e = from; e < to; e++) {
            double x = g->A.dense ? g->A.dense[rows * g->n + e] : g->A.value[e];
            if (x != 0) {
                assert_true(count < ENTRIES);
                p->column[count] = g->A.dense ? e : g->A.column[e];
                p->value[count++] = x;
            }
        }
    }
    p->A_start[rows] = count;
    p->problem = (zw_gauss){
        .n = g->n,
        .metric = {.kind = ZW_METRIC_SPARSE, .value = p->metric, .start = p->start, .row = p->row},
        .free = p->free,
        .block_count = g->block_count,
        .block = g->block,
        .A = {.start = p->A_start, .column = p->column, .value = p->value},
        .b = g->b};
    return 1;
}

#endif

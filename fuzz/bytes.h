/* Bytes to a problem of Gauss: at most 12 unknowns and 20 rows, all kinds of metric and of blocks,
 * mostly ordinary numbers, sometimes huge, tiny or none at all. What the interface cannot see, the
 * length of an array, is always right; everything else may be wrong.
 *
 * When the bytes are used up, zeros follow. */
#ifndef ZWANG_FUZZ_BYTES_H
#define ZWANG_FUZZ_BYTES_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zwang/gauss.h"

enum { MOST_UNKNOWNS = 12, MOST_ROWS = 20, MOST_ENTRIES = MOST_UNKNOWNS * MOST_ROWS };

typedef struct bytes {
    const uint8_t *at, *end;
} bytes;

static inline int byte(bytes *in)
{
    return in->at < in->end ? *in->at++ : 0;
}

static inline int below(bytes *in, int count)
{
    return byte(in) % count;
}

/* A number from two or three bytes. */
static inline double number(bytes *in)
{
    static const double odd[] = {0.0, -0.0, 1e300, -1e300, 1e-300, 5e-324, 1e15,  1e-15,
                                 1e8, 1e-8, 1e100, 1e-100, 1e150,  1e-150, 1e200, 1e-200};
    int kind = byte(in), low = byte(in);
    if (kind < 200) /* small, with one digit after the point */
        return (low - 128) / 10.0;
    if (kind < 230) { /* some digits, some power of ten */
        int power = below(in, 17) - 8;
        return (low - 127.5) * pow(10.0, power);
    }
    if (kind < 250)
        return (kind % 3) - 1.0;
    if (kind < 253)
        return odd[low % 16];
    return low % 3 == 0 ? (double)NAN : low % 3 == 1 ? HUGE_VAL : -HUGE_VAL;
}

static inline void numbers(bytes *in, double *x, int count)
{
    for (int i = 0; i < count; i++)
        x[i] = number(in);
}

/* A problem with room for all its arrays. */
typedef struct puzzle {
    zw_gauss problem;
    zw_metric_operator operator_;
    zw_block block[MOST_ROWS + 1];
    int rows;
    int block_size[MOST_UNKNOWNS + 1], start[MOST_UNKNOWNS + 1], row[MOST_UNKNOWNS * MOST_UNKNOWNS];
    int row_start[MOST_ROWS + 1], column[MOST_ENTRIES];
    double metric[MOST_UNKNOWNS * MOST_UNKNOWNS], A[MOST_ENTRIES];
    double free[MOST_UNKNOWNS], C[MOST_UNKNOWNS], b[MOST_ROWS], compliance[MOST_ROWS];
    double guess[MOST_ROWS];
    double law_factor;
} puzzle;

/* ---- Metrics ------------------------------------------------------------------------------ */

/* value = G G' for a square block: positive semidefinite, of any rank. */
static inline void square(bytes *in, double *value, int n)
{
    double G[MOST_UNKNOWNS * MOST_UNKNOWNS] = {0};
    int rank = 1 + below(in, n);
    for (int i = 0; i < n * rank; i++)
        G[i / rank * n + i % rank] = number(in);
    if (rank == n)
        for (int i = 0; i < n; i++)
            G[i * n + i] += 3;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            value[i * n + j] = 0;
            for (int k = 0; k < n; k++)
                value[i * n + j] += G[i * n + k] * G[j * n + k];
        }
}

/* An operator: the diagonal in p->metric. */
static inline void operator_apply(void *self, const double *x, double *y)
{
    const puzzle *p = self;
    for (int i = 0; i < p->problem.n; i++)
        y[i] = p->metric[i] * x[i];
}

static inline void operator_diagonal(void *self, double *d)
{
    const puzzle *p = self;
    memcpy(d, p->metric, (size_t)p->problem.n * sizeof *d);
}

static inline zw_status operator_factor(void *self)
{
    const puzzle *p = self;
    for (int i = 0; i < p->problem.n; i++)
        if (!(p->metric[i] > 1e-100 && p->metric[i] < 1e100)) /* it knows its own limits */
            return ZW_NOT_A_METRIC;
    return ZW_OK;
}

static inline void operator_solve(void *self, double *x)
{
    const puzzle *p = self;
    for (int i = 0; i < p->problem.n; i++)
        x[i] /= sqrt(p->metric[i]);
}

static inline void puzzle_blocks(bytes *in, puzzle *p)
{
    int n = p->problem.n, at = 0, count = 0, cells = 0;
    while (at < n) {
        int size = 1 + below(in, n - at);
        p->block_size[count++] = size;
        square(in, p->metric + cells, size);
        cells += size * size;
        at += size;
    }
    if (below(in, 32) == 31)
        p->block_size[below(in, count)] = below(in, 20) - 2;
    p->problem.metric.block_count = count;
    p->problem.metric.block_size = p->block_size;
}

static inline void puzzle_sparse(bytes *in, puzzle *p)
{
    int n = p->problem.n, entries = 0;
    double full[MOST_UNKNOWNS * MOST_UNKNOWNS];
    square(in, full, n);
    for (int j = 0; j < n; j++) {
        for (int i = j; i < n; i++)
            if (i == j || below(in, 3) == 0 || full[i * n + j] == 0) {
                p->row[entries] = i;
                p->metric[entries++] = i == j ? 2 * full[i * n + i] : full[i * n + j] / n;
            }
        p->start[j + 1] = entries;
    }
    if (below(in, 32) == 31) /* a broken pattern, inside the arrays */
        p->row[below(in, entries)] = below(in, 32) - 4;
    if (below(in, 32) == 31)
        p->start[below(in, n + 1)] = below(in, entries + 4) - 2 > entries ? 0 : below(in, entries);
    p->problem.metric.start = p->start;
    p->problem.metric.row = p->row;
}

static inline void puzzle_metric(bytes *in, puzzle *p)
{
    zw_metric *M = &p->problem.metric;
    int n = p->problem.n, kind = below(in, 64);
    M->kind = kind == 63 ? (zw_metric_kind)9 : (zw_metric_kind)(kind % 6);
    M->value = p->metric;
    switch (kind == 63 ? -1 : (int)M->kind) {
    case ZW_METRIC_DIAGONAL:
    case ZW_METRIC_OPERATOR:
        numbers(in, p->metric, n);
        for (int i = 0; i < n; i++)
            p->metric[i] = byte(in) < 250 ? fabs(p->metric[i]) : p->metric[i];
        p->operator_ = (zw_metric_operator){.self = p,
                                            .apply = operator_apply,
                                            .diagonal = operator_diagonal,
                                            .factor = operator_factor,
                                            .solve_lower = operator_solve,
                                            .solve_upper = operator_solve};
        M->operator_ = M->kind == ZW_METRIC_OPERATOR && byte(in) != 255 ? &p->operator_ : NULL;
        break;
    case ZW_METRIC_DENSE:
        square(in, p->metric, n);
        if (byte(in) >= 250) /* anything at all */
            numbers(in, p->metric, n * n);
        break;
    case ZW_METRIC_BLOCKS:
        puzzle_blocks(in, p);
        break;
    case ZW_METRIC_SPARSE:
        puzzle_sparse(in, p);
        break;
    default:
        break;
    }
}

/* ---- Rows --------------------------------------------------------------------------------- */

static inline void puzzle_block(bytes *in, zw_block *block)
{
    int kind = below(in, 64);
    static const int cone_rows[] = {1, 2, 3, 3, 3, 3, 4, 6};
    block->kind = kind == 63 ? (zw_block_kind)7 : (zw_block_kind)(kind % 3);
    block->name = byte(in) % 4 ? "block" : NULL;
    block->rows = block->kind == ZW_CONE ? cone_rows[below(in, 8)] : below(in, 4);
    for (int i = 0; i < ZW_CONE_ROWS - 1; i++)
        block->friction[i] =
            i == 0 || byte(in) % 2 ? fabs(number(in)) / 10 : block->friction[i - 1];
    if (byte(in) == 255)
        block->friction[0] = number(in);
}

static inline void puzzle_rows(bytes *in, puzzle *p)
{
    int n = p->problem.n, wanted = below(in, MOST_ROWS + 1), entries = 0;
    while (p->problem.block_count < MOST_ROWS && p->rows < wanted) {
        zw_block *block = &p->block[p->problem.block_count];
        puzzle_block(in, block);
        if (p->rows + block->rows > MOST_ROWS)
            break;
        p->rows += block->rows;
        p->problem.block_count++;
    }
    p->problem.block = p->block;

    /* New rows, copies and multiples of earlier ones; dense or compressed. */
    int compressed = byte(in) % 2;
    double line[MOST_UNKNOWNS] = {0};
    for (int i = 0; i < p->rows; i++) {
        int how = byte(in);
        double factor = how % 4 == 3 ? number(in) : 1;
        for (int j = 0; j < n; j++)
            line[j] = how % 4 >= 2 ? factor * line[j] : number(in);
        for (int j = 0; j < n; j++) {
            if (compressed && line[j] == 0)
                continue;
            p->column[entries] = j;
            p->A[entries++] = line[j];
        }
        p->row_start[i + 1] = entries;
    }
    if (compressed) {
        if (entries > 0 && below(in, 32) == 31)
            p->column[below(in, entries)] = below(in, 32) - 4;
        p->problem.A = (zw_rows){.start = p->row_start, .column = p->column, .value = p->A};
    } else {
        p->problem.A.dense = p->A;
    }
}

static inline void puzzle_law(void *user, const double *lambda, const double *reaction, double *C)
{
    const puzzle *p = user;
    (void)lambda;
    for (int i = 0; i < p->problem.n; i++)
        C[i] = p->law_factor * reaction[(i + 1) % p->problem.n];
}

static inline void puzzle_read(bytes *in, puzzle *p)
{
    memset(p, 0, sizeof *p);
    zw_gauss *g = &p->problem;
    g->n = 1 + below(in, MOST_UNKNOWNS);
    puzzle_metric(in, p);
    puzzle_rows(in, p);

    int has = byte(in), more = byte(in);
    numbers(in, p->free, g->n);
    if (has & 1)
        g->free = p->free;
    if ((has & 6) == 2 || more == 255)
        g->force = p->free, g->free = more == 255 ? p->free : NULL;
    if (has & 8) {
        numbers(in, p->b, p->rows);
        g->b = p->b;
    }
    if (has & 16) {
        numbers(in, p->compliance, p->rows);
        for (int i = 0; i < p->rows && byte(in) != 255; i++)
            p->compliance[i] = fabs(p->compliance[i]);
        g->compliance = p->compliance;
    }
    if (has & 32) {
        numbers(in, p->C, g->n);
        g->C = p->C;
    }
    if ((has & 192) == 192) {
        p->law_factor = number(in) / 10;
        g->law = puzzle_law;
        g->law_user = p;
        g->law_on = more & 1 ? ZW_ON_TOTAL_REACTION : ZW_ON_IDEAL_REACTION;
    }
}

/* ---- When something is not true ------------------------------------------------------------ */

static inline void tell(const char *name, const double *x, int count)
{
    fprintf(stderr, "%s:", name);
    for (int i = 0; x != NULL && i < count; i++)
        fprintf(stderr, " %.17g", x[i]);
    fprintf(stderr, "\n");
}

/* The problem in words, for a report. */
static inline void puzzle_tell(const puzzle *p)
{
    const zw_gauss *g = &p->problem;
    int n = g->n;
    fprintf(stderr, "n = %d, %d rows, metric kind %d\n", n, p->rows, (int)g->metric.kind);
    int dense = g->metric.kind == ZW_METRIC_DENSE;
    tell("metric", p->metric, dense ? n * n : g->metric.kind == ZW_METRIC_SPARSE ? p->start[n] : n);
    for (int k = 0; k < g->block_count; k++)
        fprintf(stderr, "block kind %d rows %d friction %g %g %g %g %g\n", (int)p->block[k].kind,
                p->block[k].rows, p->block[k].friction[0], p->block[k].friction[1],
                p->block[k].friction[2], p->block[k].friction[3], p->block[k].friction[4]);
    for (int i = 0; i < p->rows; i++) {
        fprintf(stderr, "row %d:", i);
        for (int k = g->A.dense ? i * n : p->row_start[i];
             k < (g->A.dense ? (i + 1) * n : p->row_start[i + 1]); k++)
            fprintf(stderr, " [%d] %.17g", g->A.dense ? k - i * n : p->column[k], p->A[k]);
        fprintf(stderr, "\n");
    }
    tell("free", g->free, n);
    tell("force", g->force, n);
    tell("b", g->b, p->rows);
    tell("compliance", g->compliance, p->rows);
    tell("C", g->C, n);
    fprintf(stderr, "law: %s, factor %g, on %d\n", g->law ? "yes" : "no", p->law_factor,
            (int)g->law_on);
}

#define REQUIRE(truth, p)                                                                          \
    do {                                                                                           \
        if (!(truth)) {                                                                            \
            puzzle_tell(p);                                                                        \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #truth);                  \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif

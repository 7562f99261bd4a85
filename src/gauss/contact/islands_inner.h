/* What islands.c, islands_split.c and apart.c share. */
#ifndef ZW_GAUSS_ISLANDS_INNER_H
#define ZW_GAUSS_ISLANDS_INNER_H

#include <stdint.h>

#include "gauss/contact/islands.h"
#include "gauss/contact/prox.h"
#include "gauss/contact/sparse_prox.h"

enum { ISLANDS_SMALL = 96 };  /* unknowns up to which a piece is dense */
enum { KEPT = 64, MANY = 8 }; /* workspaces kept: of the kernel, of sparse_prox.h */

/* A workspace and the shape it is for. */
typedef struct slot {
    zw_gauss_work *work;
    uint64_t shape;
    int n, m, blocks;
    long used; /* when */
} slot;

/* An array that grows. */
typedef struct buffer {
    void *data;
    size_t bytes;
} buffer;

typedef struct piece {
    int first_unknown, n; /* in unknown[] */
    int first_block, blocks;
    int m;
} piece;

struct gauss_islands {
    long now;
    gauss_prox *prox;
    slot slot[KEPT];
    sparse_prox *many[MANY]; /* for the first pieces; the others share them */
    int n, m, piece_count;
    buffer parent, piece_of, local, unknown, block, pieces, row_start, fill;
    buffer by_metric, old_start,
        old_row;       /* which unknowns the metric couples, and the pattern it was then, */
    buffer tree;       /* on whose paths it is: math/dense/paths.h */
    int old_n, is_one; /* is_one: it couples all */
    buffer a, lambda, residual;
    /* the current piece */
    buffer metric, metric_start, metric_row, dense, start, column, b, compliance, guess, blocks,
        free;
};

/* Reserves this much; the contents are lost. NULL: no memory. */
void *islands_reserve(buffer *r, size_t count, size_t size);

/* The pieces of a problem of m rows, with their unknowns and blocks. 0: no memory. */
int islands_split(gauss_islands *is, const zw_gauss *problem, int m);

/* A piece as a separate problem, `small` ones dense; memory is reserved first (0: none). The guess
 * is then in is->guess. */
int islands_make_room(gauss_islands *is, const zw_gauss *problem, const piece *p);
void islands_cut_metric(gauss_islands *is, const zw_gauss *problem, const piece *p, zw_gauss *part,
                        int small);
void islands_cut_rows(gauss_islands *is, const zw_gauss *problem, const piece *p, zw_gauss *part,
                      const double *guess, int small);
/* The workspace for its shape; the least recently used one is replaced. */
zw_gauss_work *islands_workspace(gauss_islands *is, const zw_gauss *part, int m,
                                 const zw_gauss_options *options, zw_error *error);

#endif

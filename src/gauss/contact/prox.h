/* Small problems near one that was just solved: prox.c describes the method. */
#ifndef ZW_GAUSS_PROX_H
#define ZW_GAUSS_PROX_H

#include "zwang/gauss.h"

typedef struct gauss_prox gauss_prox;

gauss_prox *gauss_prox_create(void); /* NULL: no memory */
void gauss_prox_free(gauss_prox *prox);

/* A piece of a problem: some of its unknowns and all blocks that involve them. */
typedef struct gauss_piece {
    int n, m, block_count;
    const int *unknown;     /* [n] numbers in the problem, ascending */
    const int *local;       /* [n of the problem] the inverse */
    const int *parent;      /* [n of the problem] the tree of its metric, if that is known */
    const int *block;       /* [block_count] numbers in the problem */
    const int *first;       /* [blocks of the problem + 1] their first rows */
    const zw_block *blocks; /* [block_count] copies */
} gauss_piece;

/* The tree on whose paths a metric is (math/dense/paths.h): parent[n], of these unknowns alone with
 * their way back, or of all (NULL). */
void gauss_prox_tree(const zw_metric *metric, int n, const int *unknown, const int *local,
                     int *parent);

/* The result, numbered as in the piece; pointers are valid until the next solve. */
typedef struct gauss_prox_answer {
    const double *a, *lambda, *residual; /* [n], [m], [m] */
    zw_certificate certificate;
    int iterations, factorizations;
} gauss_prox_answer;

/* Metric and rows of the problem are compressed (or the metric diagonal); `free` or `force` is
 * given, and neither compliance, C nor law. options->guess and `start` are the multipliers and the
 * motion of the whole problem to start from; `start` may be NULL. 1: the solution has the
 * certificate that the options require, or one up to `fair` that further steps do not improve, as
 * where rows contradict each other slightly. `polish`: one step more than that. 0: no solution was
 * found, which says nothing about the problem; a is then NULL, or the answer is the best that
 * further steps did not improve. -1: no memory. */
int gauss_prox_solve(gauss_prox *prox, const zw_gauss *problem, const gauss_piece *piece,
                     const zw_gauss_options *options, double fair, int polish, const double *start,
                     gauss_prox_answer *answer);

#endif

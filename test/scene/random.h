/* A random problem growing block by block. For the files random*.c. */
#ifndef ZWANG_TEST_SCENE_RANDOM_H
#define ZWANG_TEST_SCENE_RANDOM_H

#include "draft.h"

typedef struct growth {
    draft *d;
    dice dice;
    scene_random_params want;
    double *at;     /* [rows] value of each row at the witness: copies inherit it exactly */
    double *slack;  /* [rows] residual of the witness */
    int *is_fresh;  /* [rows] drawn from nothing: independent of the others as far as n allows */
    double density; /* of fresh rows */
    double size;    /* of the numbers in the witness */
} growth;

/* Metric of this kind into d->M. */
void random_metric(growth *g, zw_metric_kind kind);

/* Take the mass from a few unknowns and hold them by an equality block. */
void random_massless(growth *g);

/* One block more, which contradicts what is there, and the list of the blocks it takes. */
void random_conflict(growth *g);

/* Rows of a block just made: fresh, or `factor` times row `source`. */
void random_row_fresh(growth *g, int row);
void random_row_copy(growth *g, int row, int source, double factor);

/* |row| times the size of the witness: what a residual may be compared with. */
double random_row_size(const growth *g, int row);

#endif

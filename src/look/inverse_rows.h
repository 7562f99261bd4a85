/* Rows collected for a solver: motors, drives, friction at rest, contacts. */
#ifndef ZW_LOOK_INVERSE_ROWS_H
#define ZW_LOOK_INVERSE_ROWS_H

#include "system/work.h"

typedef struct inverse_entry {
    int column;
    double value;
} inverse_entry;

typedef struct inverse_rows {
    int n, rows, blocks, entries;
    int row_capacity, block_capacity, entry_capacity;
    int *count; /* [rows] entries of each */
    inverse_entry *entry;
    zw_block *block;
    double *sum; /* [n] the row that is being made */
    int failed;
} inverse_rows;

void inverse_rows_begin(inverse_rows *list, int n);
void inverse_rows_free(inverse_rows *list);
/* One row is the sum of what was put since the last; zeros are left out. */
void inverse_rows_put(inverse_rows *list, int count, const int *column, const double *value,
                      double factor);
void inverse_rows_end(inverse_rows *list);
void inverse_rows_block(inverse_rows *list, const zw_block *block);
/* A solver with these after the rows of the roles; NULL: no memory. */
system_solver *inverse_rows_solver(const inverse_rows *list, const zw_system *system,
                                   const int *role, zw_error *error);

#endif

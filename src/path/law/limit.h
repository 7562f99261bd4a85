/* The limits of Kozlov (2000): paths of the systems (17) for several N, and of (18). */
#ifndef ZW_PATH_LIMIT_H
#define ZW_PATH_LIMIT_H

#include "model/model.h"
#include "zwang/path.h"

/* The samples of one run: row k is q[n], v[n]. */
typedef struct limit_path {
    int count, t_capacity, y_capacity;
    double *t;      /* [count] */
    double *y;      /* [count * 2n] */
    double *lambda; /* [m] at the end; 0 for holonomic rows */
} limit_path;

struct zw_limit {
    const zw_model *model;
    double alpha, beta;
    zw_run_options run; /* as given, with time, every and tolerance filled in */
    int n, m;
    double
        *start; /* [2n + m] q, v and lambda that a `reach` line led to, or NULL: as in the file */
    int count, row_capacity, path_capacity;
    zw_limit_row *row;
    limit_path *path; /* [count] path[0] is the limit's */
};

#endif

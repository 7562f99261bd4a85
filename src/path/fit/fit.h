/* A smooth motion through recorded samples, with its derivatives and their errors: see fit.c. */
#ifndef ZW_PATH_FIT_H
#define ZW_PATH_FIT_H

#include "zwang/status.h"

/* What was recorded: columns y[count * n] sample by sample, in pieces. */
typedef struct path_samples {
    long count;
    int n;
    const double *t;
    const double *y;
    int pieces;
    const long *start;
    const double *noise;    /* [n] at least this is the deviation of each number */
    const double *accuracy; /* [n] that much of structure in them may be the recorder's */
    const double *scale; /* [n] in what the errors of the columns are compared; 0: it is left out */
} path_samples;

typedef struct path_fit {
    double *y[3];     /* [count * n] values, first and second derivatives */
    double *error[3]; /* [count * n] of each: one standard deviation; INFINITY: nothing is known */
    double *noise;    /* [n] typical deviation of the recorded numbers from the fit */
    double *score;    /* [count] its measure of how bad the fit is there */
    double *allowed;  /* [n] mean square that samples may miss the fit by: their noise */
    int degree, window; /* of the longest piece */
    double slip_ratio;  /* 0, or how wrong the worst of single samples is, in errors, */
    double slip_size;   /* by how much, */
    long slip;          /* which it is, */
    int slip_coord;     /* and in which column */
    int cuts;
    long *cut; /* [cuts] samples at which another piece should begin: see jump.c */
    void *memory;
} path_fit;

zw_status path_fit_make(path_fit *fit, const path_samples *samples, zw_error *error);
/* fit_parts.c: the same in parts of `samples->start`, which has room for all samples and one more:
 * where the fit finds a jump, it is parted further and fitted again. *parts: their number. */
zw_status path_fit_parts(path_fit *fit, path_samples *samples, int *parts, long *start,
                         zw_error *error);
void path_fit_free(path_fit *fit);

#endif

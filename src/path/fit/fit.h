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
    const double *noise;    /* [n] lower bound of the standard deviation of each column */
    const double *accuracy; /* [n] structure of this size may come from the recorder */
    const double *scale; /* [n] unit in which the errors of each column are compared; 0: the column
                            is left out */
} path_samples;

typedef struct path_fit {
    double *y[3];       /* [count * n] values, first and second derivatives */
    double *error[3];   /* [count * n] their standard deviations; INFINITY: unknown */
    double *noise;      /* [n] typical deviation of the recorded numbers from the fit */
    double *score;      /* [count] badness of the fit at each sample */
    double *allowed;    /* [n] allowed mean square of the deviations from the fit: the noise */
    int degree, window; /* of the longest piece */
    double slip_ratio;  /* 0, or the largest deviation of an isolated wrong sample, in units of its
                           error, */
    double slip_size;   /* the deviation itself, */
    long slip;          /* the sample */
    int slip_coord;     /* and the column */
    int cuts;
    long *cut; /* [cuts] samples at which a new piece should begin: see jump.c */
    void *memory;
} path_fit;

zw_status path_fit_make(path_fit *fit, const path_samples *samples, zw_error *error);
/* fit_parts.c: the same with the pieces of `samples->start`, which has capacity for one more entry
 * than there are samples: where the fit finds a jump, the piece is divided there and fitted again.
 * *parts: the number of pieces. */
zw_status path_fit_parts(path_fit *fit, path_samples *samples, int *parts, long *start,
                         zw_error *error);
void path_fit_free(path_fit *fit);

#endif

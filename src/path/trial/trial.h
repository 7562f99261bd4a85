/* A trial: the results along a path, and the verdict. */
#ifndef ZW_PATH_TRIAL_H
#define ZW_PATH_TRIAL_H

#include "path/path.h"

struct zw_trial {
    const zw_system *system;
    long count; /* samples */
    int n, m;   /* coordinates, rows */
    zw_trial_report report;

    /* Sample by sample; those of the public series first. */
    double *t;           /* [count] */
    double *q, *v, *a;   /* [count * n] of the fit */
    double *extra;       /* [count * n] R_tangential */
    double *extra_size;  /* [count] in the metric */
    double *extra_error; /* [count] */
    double *lambda;      /* [count * m] */
    double *power;       /* [count] of the active forces */

    int pieces;
    long *start; /* [pieces + 1] */

    void *memory; /* all arrays */
};

#endif

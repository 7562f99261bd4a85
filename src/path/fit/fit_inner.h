/* Interface between the source files of the fit. */
#ifndef ZW_PATH_FIT_INNER_H
#define ZW_PATH_FIT_INNER_H

#include "path/fit/basis.h"
#include "path/fit/fit.h"

enum {
    FIT_HOPS = 6,      /* a window has this many parts; the middle one is used */
    FIT_SPARE = 4,     /* coefficients beyond the degree, for the error estimate */
    FIT_LEAST = 9,     /* least number of samples of a window, with degree 3 */
    FIT_LONGEST = 1024 /* largest number of samples of a window */
};

/* A window has `window` samples, `stride` samples apart. */
typedef struct fit_shape {
    int window, stride, degree, end_degree;
} fit_shape;

/* A basis for windows of one shape, and its values at the samples of a block. */
enum { FIT_KEPT = 4 };
typedef struct fit_kept {
    path_basis basis;
    double *table; /* [rows][6][size] values and two derivatives, and their cumulative norms by
                      degree */
    int cached;    /* number of polynomials in the table, */
    long from, to; /* and its samples, counted from the start of the window */
} fit_kept;

/* Everything that fitting a piece needs. */
typedef struct fitter {
    const path_samples *samples;
    path_fit *fit;
    double *y;      /* [n][count] */
    double *level;  /* [n][blocks] s^2 of each window */
    double *miss;   /* [n][blocks] mean square of the deviations of its samples from the fit */
    double *usual;  /* [n] median of miss */
    double *sorted; /* scratch for it */
    unsigned char *rough;    /* [count] not resolved by the typical windows, to be refined */
    unsigned char *bad;      /* nor by shorter ones */
    double *near;            /* [window] a column of a window, relative to its middle sample */
    double *c;               /* [n][BASIS_MOST] */
    double *mean;            /* [2 n] level and miss of a block */
    double *left;            /* [n] sum of squares that remains after all coefficients */
    double *allowed;         /* [n] allowed mean square of the deviations from the fit */
    double *trial;           /* [6][rows][n] values and errors of a block that is being refined */
    long rows;               /* largest number of samples of a block */
    double *when;            /* [window] times of its samples */
    int stride;              /* of the window in use */
    long first, end;         /* the piece */
    fit_kept kept[FIT_KEPT]; /* the windows used last */
    int oldest;
    fit_kept *shape;   /* that of the window in use, */
    path_basis *basis; /* and its basis */
    int size;          /* polynomials in use; the basis may have more */
} fitter;

/* Makes the basis of the window that begins with sample `start`, and the coefficients. Its samples
 * are f->stride apart. */
void fit_window(fitter *f, long start, int samples, int size);
void fit_project(fitter *f, long start);
/* The residuals of the samples of the window after all `size` polynomials. */
void fit_leave(fitter *f, long start);
/* s^2 of column k at this degree: fit_level finds it from the coefficients, fit_miss from the
 * deviations of the samples, after fit_leave. */
double fit_level(const fitter *f, int k, int degree);
double fit_miss(const fitter *f, int k, int degree);
/* The measure by which degrees and windows are compared: s^2 in units of the scales, larger where
 * the samples deviate by more than is allowed. */
double fit_score(const fitter *f, int degree);

/* fit_choose.c */
fit_shape fit_choose(fitter *f);

/* jump.c: adds to fit->cut. */
void fit_jumps(fitter *f, const fit_shape *s);

#endif

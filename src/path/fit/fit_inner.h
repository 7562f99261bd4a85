/* Between the parts of a fit. */
#ifndef ZW_PATH_FIT_INNER_H
#define ZW_PATH_FIT_INNER_H

#include "path/fit/basis.h"
#include "path/fit/fit.h"

enum {
    FIT_HOPS = 6,      /* parts of a window; the middle one is used */
    FIT_SPARE = 4,     /* coefficients beyond the degree */
    FIT_LEAST = 9,     /* samples of a window, with degree 3 */
    FIT_LONGEST = 1024 /* samples of a window */
};

/* A window is of `window` samples, each the stride-th after the one before. */
typedef struct fit_shape {
    int window, stride, degree, end_degree;
} fit_shape;

/* A basis for windows of one shape, and its values at the samples of a block. */
enum { FIT_KEPT = 4 };
typedef struct fit_kept {
    path_basis basis;
    double
        *table; /* [rows][6][size] values and two derivatives, and the lengths of each by degree */
    int cached; /* it has so many polynomials, */
    long from, to; /* and these samples from the start of the window on */
} fit_kept;

/* All that a piece is fitted with. */
typedef struct fitter {
    const path_samples *samples;
    path_fit *fit;
    double *y;               /* [n][count] */
    double *level;           /* [n][blocks] s^2 of each window */
    double *miss;            /* [n][blocks] mean square of what its samples miss the fit by */
    double *usual;           /* [n] median of miss */
    double *sorted;          /* scratch for it */
    unsigned char *rough;    /* [count] not resolved by the typical windows: to be refined, */
    unsigned char *bad;      /* nor by shorter ones */
    double *near;            /* [window] a column of a window, from its middle */
    double *c;               /* [n][BASIS_MOST] */
    double *mean;            /* [2 n] level and miss of a block */
    double *left;            /* [n] sum of squares that all coefficients leave */
    double *allowed;         /* [n] mean square that samples may miss the fit by */
    double *trial;           /* [6][rows][n] values and errors of a block that is being refined */
    long rows;               /* samples of a block, at most */
    double *when;            /* [window] times of its samples */
    int stride;              /* of the window in use */
    long first, end;         /* the piece */
    fit_kept kept[FIT_KEPT]; /* windows that were met last */
    int oldest;
    fit_kept *shape;   /* of the window in use, */
    path_basis *basis; /* and its basis */
    int size;          /* polynomials in use: the basis may have more */
} fitter;

/* The basis of the window that begins with sample `start`, and the coefficients. Its samples are
 * f->stride apart. */
void fit_window(fitter *f, long start, int samples, int size);
void fit_project(fitter *f, long start);
/* What the samples of the window leave beside all `size` polynomials. */
void fit_leave(fitter *f, long start);
/* s^2 of column k at this degree, as the coefficients have it; and as the samples miss the fit,
 * after fit_leave. */
double fit_level(const fitter *f, int k, int degree);
double fit_miss(const fitter *f, int k, int degree);
/* The measure that degrees and windows are compared by: s^2 over the scales, enlarged where the
 * samples miss the fit by more than they may. */
double fit_score(const fitter *f, int degree);

/* fit_choose.c */
fit_shape fit_choose(fitter *f);

/* jump.c: adds to fit->cut. */
void fit_jumps(fitter *f, const fit_shape *s);

#endif

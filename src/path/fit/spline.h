/* Splines on the samples of a path: see spline.c. */
#ifndef ZW_PATH_SPLINE_H
#define ZW_PATH_SPLINE_H

#define SPLINE_DEGREE 8

typedef struct path_spline {
    int degree;
    long samples;
    long size;    /* number of functions */
    double start; /* origin of the knots */
    double *knot; /* [size + degree + 1], of capacity spline_knots(samples) */
    long *first;  /* [samples] the first of the degree + 1 functions that do not vanish at each
                     sample */
} path_spline;

/* Capacity that is enough for the knots of this many samples. */
long spline_knots(long samples);
/* `degree` is even and at most SPLINE_DEGREE; the times t[samples] increase; the caller provides
 * knot and first. */
void spline_make(path_spline *spline, int degree, long samples, const double *t);
/* Values and derivatives of the functions first[i] .. first[i] + degree at t, which is sample i. */
void spline_at(const path_spline *spline, long i, double t, double value[SPLINE_DEGREE + 1],
               double rate[SPLINE_DEGREE + 1]);

#endif

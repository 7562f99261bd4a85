/* Splines on the samples of a path: see spline.c. */
#ifndef ZW_PATH_SPLINE_H
#define ZW_PATH_SPLINE_H

#define SPLINE_DEGREE 8

typedef struct path_spline {
    int degree;
    long samples;
    long size;    /* functions */
    double start; /* knots count from here */
    double *knot; /* [size + degree + 1], room for spline_knots(samples) */
    long *first;  /* [samples] the first of the degree + 1 functions that live at each sample */
} path_spline;

/* Room that the knots of so many samples need at most. */
long spline_knots(long samples);
/* Of even degree, SPLINE_DEGREE at most, for samples at t[samples], increasing; knot and first are
 * the caller's. */
void spline_make(path_spline *spline, int degree, long samples, const double *t);
/* Values and derivatives of the functions first[i] .. first[i] + degree at t, which is sample i. */
void spline_at(const path_spline *spline, long i, double t, double value[SPLINE_DEGREE + 1],
               double rate[SPLINE_DEGREE + 1]);

#endif

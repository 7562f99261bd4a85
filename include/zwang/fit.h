/* Parameters and initial values that explain recordings of a motion.
 *
 *     zw_path *path = zw_path_read(system, "swing.csv", &(zw_path_options){.partial = 1}, &error);
 *     const zw_unknown by[] = {{ZW_UNKNOWN_PARAM, 0}, {ZW_UNKNOWN_START, 0}};
 *     const zw_fit_problem problem = {.unknown = by, .unknowns = 2, .recording = &path,
 *                                     .recordings = 1};
 *     zw_fit *fit = zw_fit_create(model, system, &problem, &error);
 *     zw_fit_look(fit, 0).value, .error                          a number and its standard error
 *     zw_fit_free(fit);
 *
 * Least squares by the method of Levenberg and Marquardt, with exact derivatives of the motion
 * (sensitivity.h); robots by their steps, whose states are interpolated between. Noise is taken as
 * independent and normal, of one size for each coordinate and each speed, which is estimated with
 * the unknowns unless it is given. Combinations of unknowns that change nothing in the recordings
 * are found by singular values, and keep their values. */
#ifndef ZWANG_FIT_H
#define ZWANG_FIT_H

#include "zwang/path.h"
#include "zwang/sensitivity.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

typedef struct zw_fit_problem {
    const zw_unknown *unknown;
    int unknowns;
    const double *low, *high;        /* [unknowns] bounds, or NULL: none; -INFINITY, INFINITY */
    const zw_path *const *recording; /* each a motion from the same start, from time 0 on */
    int recordings;
    const double *sigma; /* noise of coordinates, then of speeds; 0, and NULL: estimated */
    zw_run_options run;  /* method dop853 or rk4, of robots impulse or soft; its time and observer
                            do not matter */
    int iterations;      /* at most; 0: 100 */
    zw_poll *poll;       /* asked now and then; nonzero stops with ZW_INTERRUPTED; or NULL */
    void *user;
    const char *const *number; /* of robots: names of unknowns ZW_UNKNOWN_NUMBER, as zw_model_set
                                  has them: "thigh.mass", "gravity" */
    zw_model *model;           /* then: the system's, which is changed in between, and as it was
                                  after */
} zw_fit_problem;

typedef struct zw_fit zw_fit;

/* Begins where the model is. ZW_NOT_REACHED: no minimum was found; other failures say why a first
 * motion, or the recordings, do not do. */
zw_fit *zw_fit_create(const zw_model *model, const zw_system *system, const zw_fit_problem *problem,
                      zw_error *error);
void zw_fit_free(zw_fit *fit);

typedef struct zw_fit_report {
    int unknowns, iterations, runs;
    long numbers;   /* recorded ones that take part */
    double cost;    /* sum of squares of residuals over their noise */
    int nulls;      /* combinations that the recordings do not determine */
    int kinks;      /* of the derivatives at the end: sensitivity.h */
    long duplicate; /* samples left out: second ones of the same time */
} zw_fit_report;

typedef struct zw_fit_estimate {
    double value;
    double error;     /* one standard deviation; INFINITY: the recordings do not determine it */
    double low, high; /* interval that covers the truth in 95 of 100 cases */
    int at_bound;     /* -1: the lower, 1: the upper; then the error is that of the others held */
} zw_fit_estimate;

zw_fit_report zw_fit_report_of(const zw_fit *fit);
zw_fit_estimate zw_fit_look(const zw_fit *fit, int unknown);
const char *zw_fit_name(const zw_fit *fit, int unknown); /* "m", "x(0)", "x'(0)" */
/* [unknowns][unknowns]; 0 where one of them is not known. */
const double *zw_fit_correlation(const zw_fit *fit);
/* [unknowns] a change of the unknowns that changes nothing, its largest part 1. */
const double *zw_fit_null(const zw_fit *fit, int null);
/* Noise of coordinate i, or after all of them of speed i; 0: not recorded. */
double zw_fit_noise(const zw_fit *fit, int channel);

/* Measured, fitted and residual columns of all recordings, by the ending of the file's name. */
zw_status zw_fit_write(const zw_fit *fit, const char *file, zw_error *error);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif

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
 * (sensitivity.h); those of robots are of their steps, between which states are interpolated. Noise
 * is assumed to be independent and normal, with one standard deviation for each coordinate and each
 * speed, which is estimated together with the unknowns unless it is given. Combinations of unknowns
 * that do not affect the recorded quantities are found by singular values and are left as they
 * are. */
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
    const double *low, *high;        /* [unknowns] bounds, which may be infinite; NULL: none */
    const zw_path *const *recording; /* each a motion from the same start, from time 0 on */
    int recordings;
    const double *sigma; /* standard deviation of the noise of each coordinate, then of each speed;
                            0, or NULL: estimated */
    zw_run_options run;  /* method dop853 or rk4, for robots impulse or soft; its time and observer
                            are not used */
    int iterations;      /* the most that are made; 0: 100 */
    zw_poll *poll;       /* called from time to time; nonzero stops with ZW_INTERRUPTED; or NULL */
    void *user;
    const char *const *number; /* for robots: names of the unknowns ZW_UNKNOWN_NUMBER, as for
                                  zw_model_set: "thigh.mass", "gravity" */
    zw_model *model; /* needed with `number`: the model of the system, which is changed during the
                        call and restored at its end */
} zw_fit_problem;

typedef struct zw_fit zw_fit;

/* Starts from the values in the model. ZW_NOT_REACHED: no minimum was found. After other failures
 * `error` says what is wrong with the first motion or with the recordings. */
zw_fit *zw_fit_create(const zw_model *model, const zw_system *system, const zw_fit_problem *problem,
                      zw_error *error);
void zw_fit_free(zw_fit *fit);

typedef struct zw_fit_report {
    int unknowns, iterations, runs;
    int unexplained; /* channels whose residuals are no noise: zw_fit_neighbours */
    long numbers;    /* recorded numbers that were used */
    double cost;     /* sum of the squares of the residuals, each divided by its noise */
    int nulls;       /* combinations that the recordings do not determine */
    int kinks;       /* in the derivatives at the end: sensitivity.h */
    long duplicate;  /* samples left out because an earlier one has the same time */
} zw_fit_report;

typedef struct zw_fit_estimate {
    double value;
    double error;     /* one standard deviation; INFINITY: the recordings do not determine it */
    double low, high; /* 95 % confidence interval */
    int at_bound; /* -1: at the lower, 1: at the upper bound; its own error is 0 then, and those of
                     the others hold for it fixed there */
} zw_fit_estimate;

zw_fit_report zw_fit_report_of(const zw_fit *fit);
zw_fit_estimate zw_fit_look(const zw_fit *fit, int unknown);
const char *zw_fit_name(const zw_fit *fit, int unknown); /* "m", "x(0)", "x'(0)" */
/* [unknowns][unknowns]; 0 where one of the two is not determined. */
const double *zw_fit_correlation(const zw_fit *fit);
/* [unknowns] a change of the unknowns that has no effect on the recordings; its largest entry is
 * 1. */
const double *zw_fit_null(const zw_fit *fit, int null);
/* The noise of a channel (coordinates, then speeds); 0: it was not recorded. */
double zw_fit_noise(const zw_fit *fit, int channel);
/* How alike neighbouring residuals of a channel are: the statistic of Durbin and Watson (1950),
 * which is about 2 for noise and small where the model misses something, or the search has ended in
 * one of several minima. Where it is so by more than five of its standard deviations (or residuals
 * exceed the noise that was given by as much), the channel is unexplained, and errors and intervals
 * do not hold. 2: it was not recorded. */
double zw_fit_neighbours(const zw_fit *fit, int channel);

/* Writes measured, fitted and residual columns of all recordings; the extension of the file name
 * selects the format. */
zw_status zw_fit_write(const zw_fit *fit, const char *file, zw_error *error);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif

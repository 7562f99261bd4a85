/* Internals of fits: fit.c creates and frees them and has the method, motion.c the residuals and
 * their derivatives, errors.c the errors of the results, singular.c singular values. */
#ifndef ZW_LOOK_FIT_H
#define ZW_LOOK_FIT_H

#include "look/sensitivity/robot.h"
#include "look/sensitivity/sensitivity.h"
#include "path/path.h"
#include "zwang/fit.h"

/* A recorded number. */
typedef struct fit_row {
    int recording, channel; /* channel: of q, then of v */
    long sample;
} fit_row;

struct zw_fit {
    const zw_system *system;
    zw_fit_problem problem;
    zw_sensitivity *flow; /* of equations, */
    robot_problem robot;  /* or of robots, */
    double *before;       /* [nq + n + count 2 n] with the end of the step before */
    zw_work *work;
    int n, nq, count; /* count: unknowns */
    int channels;     /* nq + n */
    double *x;        /* [count] */
    double *origin;   /* where it began */
    char **name;
    double *param, *q, *v; /* the data of states: state_given */

    long rows;
    fit_row *row;
    double **time; /* of each recording, [times] those that are used */
    long **sample; /* their samples */
    int *times;
    long *first_row;              /* [recordings] */
    double *residual, *slope;     /* [rows], [rows][count]: measured minus fitted, and d fitted */
    double *tried, *tried_slope;  /* the same at a trial */
    double *sigma, *scale;        /* [channels] noise; size of what was recorded */
    double *free;                 /* [channels] residuals that no unknown has absorbed */
    double *alike;                /* [channels] zw_fit_neighbours */
    double *freedom;              /* [count] of the variance of each */
    int *given;                   /* [channels] the noise is */
    double *A, *V, *value, *size; /* [rows][count], [count][count], [count], [count] */
    double *step, *trial;         /* [count] */

    double *covariance, *correlation, *null; /* [count][count] each */
    int *bound;                              /* [count] -1, 0, 1 */
    zw_fit_report report;
    int seen; /* number of times reached in the current run */
    int recording;
};

/* motion.c: rows and what is recorded; residuals and slopes at the unknowns x. */
zw_status fit_take_recordings(zw_fit *fit, zw_error *error);
zw_status fit_prepare_robot(zw_fit *fit, zw_error *error);
zw_status fit_evaluate(zw_fit *fit, const double *x, double *residual, double *slope,
                       zw_error *error);

/* errors.c: of the largest singular value, those below are none; is this one of the others? */
double fit_none(const zw_fit *fit);
int fit_is_known(const zw_fit *fit, size_t direction);
/* At the minimum, factored: covariance, correlations, null directions, freedoms. */
zw_status fit_find_errors(zw_fit *fit, zw_error *error);

/* singular.c: A[rows][n] = U S V'. A becomes U S: its columns are orthogonal, of length s[n],
 * falling. V[n][n] has the directions as columns: V[i * n + k] is number i of direction k. */
void fit_singular(long rows, int n, double *A, double *s, double *V);

#endif

/* Inverse dynamics: the forces that produce a motion.
 *
 *     zw_inverse *inverse = zw_inverse_create(model, system, NULL, &error);
 *     zw_inverse_look(inverse, state, a, &answer, &error);        at an instant, a[n] being given
 *     answer.motor[k], answer.lambda[r], answer.residual[i] ...
 *     zw_inverse_free(inverse);
 *
 *     zw_inverse_path *table = zw_inverse_along(model, system, path, NULL, &error);   a recording
 *     zw_inverse_write(table, "forces.csv", &error);
 *
 * For accelerations a in the state (q, v) the forces that are known leave the demand
 *
 *     M a - force = sum of motors, constraints, contacts and friction + residual.
 *
 * Motors act within their ranges of force and control; constraints exert A' lambda, one-sided ones
 * push; contacts and friction obey Coulomb's law for this motion: separating contacts exert
 * nothing, sliding ones their full friction against the slip, sticking ones any force of their
 * cone. Of all these forces those are taken that leave the least residual in Gauss's measure,
 * residual . M \ residual: the residual is what no allowed force can produce. Where several choices
 * leave the same, the sum of the squares of the motors' forces is least, and then (with a weight of
 * 1e-8 of that) the sum of the squares of the multipliers and contact forces.
 *
 * For equations, which have no motors, and for robots beyond theirs: `drive` names speeds on which
 * any force may act. Without any, the residual is the least force that makes the motion.
 */
#ifndef ZWANG_INVERSE_H
#define ZWANG_INVERSE_H

#include "zwang/bodies.h"
#include "zwang/path.h"
#include "zwang/zwang.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

typedef struct zw_inverse zw_inverse;

typedef struct zw_inverse_options {
    const int *drive; /* [drive_count] speeds */
    int drive_count;
    double touch; /* one-sided constraints with a gap below this touch; 0: 1e-9 */
    double rest; /* what slides or parts more slowly does not; 0: 1e-8 of 1 + the largest speed, and
                    of contacts what zw_contacts takes for rest */
    double still; /* the same of accelerations, of the size of their parts; 0: 1e-6 */
    double noise; /* along a recording: of its numbers, relative; 0: found there */
} zw_inverse_options;

/* One for each thread; model and system must outlive it. */
zw_inverse *zw_inverse_create(const zw_model *model, const zw_system *system,
                              const zw_inverse_options *options, zw_error *error);
void zw_inverse_free(zw_inverse *inverse);

/* Arrays belong to the zw_inverse and hold until its next call. */
typedef struct zw_inverse_answer {
    int motors, drives, contacts;
    const double *demand;      /* [n] M a less all forces that are known */
    const double *motor;       /* [motors] the force of each actuator, before its gear */
    const double *control;     /* [motors] the control (with dynamics: activation) for it, or NaN */
    const double *drive;       /* [drives] */
    const double *lambda;      /* [rows] of the constraints */
    const double *constraint;  /* [n] the force of the constraints, with their friction */
    const zw_contact *contact; /* [contacts] */
    const double *touch;       /* [n] the force of the contacts */
    const double *residual;    /* [n] what no allowed force can produce */
    const double *missing;     /* [n] M \ residual: the acceleration that stays unexplained */
    double size;               /* root of residual . missing */
    double off;                /* largest |A a - b|: how far a leaves the constraints that hold */
    int choices;               /* dimensions in which the forces are not determined by the motion */
    int least;                 /* 1: they are the least; 0: that was not found, they are some */
    double certificate;        /* the kernel's, of the residual */
} zw_inverse_answer;

zw_status zw_inverse_look(zw_inverse *inverse, const zw_state *state, const double *a,
                          zw_inverse_answer *answer, zw_error *error);

int zw_inverse_motors(const zw_inverse *inverse);
const char *zw_inverse_motor_name(const zw_inverse *inverse, int motor); /* never NULL */

/* ---- Along a recording -------------------------------------------------------------------- */

typedef struct zw_inverse_path zw_inverse_path;

/* Accelerations are those of a fit: of the speeds, if they were recorded (with quaternions they
 * must be), else of the positions. NULL: it could not be done, `error` says why. Parameters are
 * those of the model. */
zw_inverse_path *zw_inverse_along(const zw_model *model, const zw_system *system,
                                  const zw_path *path, const zw_inverse_options *options,
                                  zw_error *error);
void zw_inverse_path_free(zw_inverse_path *table);

/* Columns: "t", "force(NAME)" and "control(NAME)" of motors, "drive(NAME)", "lambda(NAME)" of rows,
 * "residual(NAME)" of speeds; "contact", the sum of all normal forces; "residual", its size in
 * Gauss's measure, and "error", that of the fit's error in the same. Where the fit knows nothing,
 * numbers are NaN. */
int zw_inverse_columns(const zw_inverse_path *table);
const char *zw_inverse_column_name(const zw_inverse_path *table, int column); /* never NULL */
zw_view zw_inverse_column(const zw_inverse_path *table, int column);          /* [samples] */
int zw_inverse_column_find(const zw_inverse_path *table, const char *name);   /* -1: none */

typedef struct zw_inverse_report {
    long samples, unknown;     /* of how many nothing is known */
    int choices, least;        /* most open dimensions; 1: the least forces were found everywhere */
    double residual, error;    /* root mean squares of those columns */
    double worst;              /* the largest residual beyond 6 times its error; 0: none is, */
    double worst_time;         /* and when */
    double off;                /* largest |A a - b| */
    double error_acceleration; /* of the fit, root mean square */
} zw_inverse_report;
zw_inverse_report zw_inverse_report_of(const zw_inverse_path *table);

/* .csv, .h5, .svg or .html by the ending. */
zw_status zw_inverse_write(const zw_inverse_path *table, const char *file, zw_error *error);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif

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
 * For accelerations a in the state (q, v) the known forces leave the demand
 *
 *     M a - force = sum of motors, constraints, contacts and friction + residual.
 *
 * Motors act within their ranges of force and control; constraints exert A' lambda, one-sided ones
 * push; contacts and friction obey Coulomb's law for this motion: separating contacts exert
 * nothing, sliding ones their full friction against the slip, sticking ones any force of their
 * cone. Among all admissible forces those with the smallest residual in Gauss's measure, residual .
 * M \ residual, are chosen: the residual is what no admissible force can produce. Where several
 * choices leave the same residual, the sum of the squares of the motors' forces is minimised, and
 * with a weight of 1e-8 of that also the sum of the squares of the multipliers and contact forces.
 *
 * `drive` lists speeds on which any force may act: for equations, which have no motors, and for
 * robots in addition to theirs. Without motors and drives the residual is the smallest force that
 * produces the motion.
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
    double rest;  /* slower sliding or separation counts as none; 0: 1e-8 (1 + the largest speed),
                     and for contacts the threshold of zw_contacts */
    double still; /* the same for accelerations, relative to the size of their terms; 0: 1e-6 */
    double noise; /* along a recording: relative noise of its numbers; 0: estimated from them */
} zw_inverse_options;

/* One for each thread; model and system must outlive it. */
zw_inverse *zw_inverse_create(const zw_model *model, const zw_system *system,
                              const zw_inverse_options *options, zw_error *error);
void zw_inverse_free(zw_inverse *inverse);

/* Arrays belong to the zw_inverse and hold until its next call. */
typedef struct zw_inverse_answer {
    int motors, drives, contacts;
    const double *demand; /* [n] M a minus all known forces */
    const double *motor;  /* [motors] the force of each actuator, before its gear */
    const double
        *control; /* [motors] the control (with dynamics: activation) that gives it, or NaN */
    const double *drive;       /* [drives] */
    const double *lambda;      /* [rows] of the constraints */
    const double *constraint;  /* [n] the force of the constraints, with their friction */
    const zw_contact *contact; /* [contacts] */
    const double *touch;       /* [n] the force of the contacts */
    const double *residual;    /* [n] what no admissible force can produce */
    const double *missing;     /* [n] M \ residual: the unexplained acceleration */
    double size;               /* root of residual . missing */
    double off;                /* largest |A a - b| of the active constraints */
    int choices; /* number of dimensions in which the motion does not determine the forces */
    int least;   /* 1: the forces are the smallest ones; 0: that minimum was not found, they are one
                    choice */
    double certificate; /* the kernel's, for the residual */
} zw_inverse_answer;

zw_status zw_inverse_look(zw_inverse *inverse, const zw_state *state, const double *a,
                          zw_inverse_answer *answer, zw_error *error);

int zw_inverse_motors(const zw_inverse *inverse);
const char *zw_inverse_motor_name(const zw_inverse *inverse, int motor); /* never NULL */

/* ---- Along a recording -------------------------------------------------------------------- */

typedef struct zw_inverse_path zw_inverse_path;

/* Accelerations come from a smooth fit of the speeds, if they were recorded (with quaternions they
 * must be), else of the positions. NULL: it failed, and `error` says why. Parameters are those of
 * the model. */
zw_inverse_path *zw_inverse_along(const zw_model *model, const zw_system *system,
                                  const zw_path *path, const zw_inverse_options *options,
                                  zw_error *error);
void zw_inverse_path_free(zw_inverse_path *table);

/* Columns: "t", "force(NAME)" and "control(NAME)" of motors, "drive(NAME)", "lambda(NAME)" of rows,
 * "residual(NAME)" of speeds; "contact", the sum of all normal forces; "residual", its size in
 * Gauss's measure, and "error", the part of it that the error of the fit explains. Where there is
 * no fit, numbers are NaN. */
int zw_inverse_columns(const zw_inverse_path *table);
const char *zw_inverse_column_name(const zw_inverse_path *table, int column); /* never NULL */
zw_view zw_inverse_column(const zw_inverse_path *table, int column);          /* [samples] */
int zw_inverse_column_find(const zw_inverse_path *table, const char *name);   /* -1: none */

typedef struct zw_inverse_report {
    long samples, unknown; /* samples, and those without a fit */
    int choices,
        least; /* most undetermined dimensions; 1: the smallest forces were found everywhere */
    double residual, error;    /* root mean squares of those columns */
    double worst;              /* the largest residual above 6 times its error; 0: there is none, */
    double worst_time;         /* and when */
    double off;                /* largest |A a - b| */
    double error_acceleration; /* of the fit, root mean square */
} zw_inverse_report;
zw_inverse_report zw_inverse_report_of(const zw_inverse_path *table);

/* The extension of the file name selects the format: .csv, .h5, .svg or .html. */
zw_status zw_inverse_write(const zw_inverse_path *table, const char *file, zw_error *error);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif

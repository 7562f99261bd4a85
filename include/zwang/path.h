/* Whole motions: is a recorded path a motion of the system? (Kozlov 2000)
 *
 *     zw_path  *path  = zw_path_read(system, "recording.csv", NULL, &error);
 *     zw_trial *trial = zw_path_certify(system, path, &options, &error);
 *     const zw_trial_report *report = zw_trial_look(trial);
 *
 * Along the path R = [T] - F is the force that it takes beyond the applied ones. The constraints
 * can exert its normal part; a motion of the system has no other (Theorem 1). The tangential rest
 * is the extra force that would be needed.
 *
 * Under the laws of Kozlov (2000) with alpha > 0 the constraints exert what (18) says, for some
 * lambda(t) that is found along the whole path (Theorem 2); the extra force is what is left over
 * then. To check a path against another law than the file's, compile with that law.
 */
#ifndef ZWANG_PATH_H
#define ZWANG_PATH_H

#include "zwang/zwang.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* ---- Recordings --------------------------------------------------------------------------- */

typedef struct zw_path zw_path;

/* From memory: t[count] never decreases (a time given twice parts two pieces: the motion may jump
 * there), q[count * coordinates] sample by sample, v[count * speeds] or NULL: no speeds are known.
 * Copied. */
zw_path *zw_path_create(const zw_system *system, long count, const double *t, const double *q,
                        const double *v, zw_error *error);

/* "x" or "x'" of the model, or the time "t", is called `column` in the file. */
typedef struct zw_path_column {
    const char *name;
    const char *column;
} zw_path_column;

typedef struct zw_path_options {
    const zw_path_column *columns;
    int column_count;
    int partial; /* 1: some of the coordinates and speeds are enough; for zwang/fit.h only */
} zw_path_options;

/* From a CSV or HDF5 file, by its ending. The time is called t or time. `options` may be NULL. */
zw_path *zw_path_read(const zw_system *system, const char *file, const zw_path_options *options,
                      zw_error *error);
void zw_path_free(zw_path *path);

/* What a path consists of. Speeds are used if there are those of all coordinates: the speed of x is
 * called x', xd or x_dot. */
typedef struct zw_path_about {
    long samples;
    int pieces;
    double start, end;
    int speeds;             /* 1: recorded too; 0: none; -1: of some coordinates only, not used */
    int ignored;            /* columns of the file that were not used, */
    const char *ignored_as; /* their names with ", " between; never NULL */
} zw_path_about;

zw_path_about zw_path_look(const zw_path *path);

/* ---- The trial ---------------------------------------------------------------------------- */

typedef struct zw_certify_options {
    double noise;         /* of the recorded numbers, relative to the size of each coordinate;
                             0: found in the recording */
    const double *metric; /* B[n * n], symmetric and positive, in place of M (remark a); or NULL */
    zw_poll *poll;        /* asked now and then; nonzero stops with ZW_INTERRUPTED; or NULL */
    void *user;
} zw_certify_options;

/* In this order:
 *   OFF         a constraint is violated by more than 8 times the error of the positions (of the
 *               speeds, if it is one on speeds) and 1e-8 of the size of its coordinates
 *   NOT_MOTION  somewhere the extra force, or what it does to the constraints, is more than 15
 * times its error, or the defect more than 16 times its own; or there is a jump of speeds or a
 *               single wrong sample, 10 times its error, that neither contacts nor `set` lines of
 *               events explain; or recorded speeds are not those of the positions, by 12 times
 *               their noise and error and 1e-8 of their size
 *   COARSE      the error of the extra force is 0.3 of |M a| in the mean, or nothing is known of
 * half of the samples: fewer than 9 between two jumps, or motion faster than they are MOTION
 * nothing of that
 *
 * Errors are one standard deviation; what they are is said in src/path/fit/fit.c and certify.c. Two
 * things no recording is trusted with: positions to better than 2e-10 of their size, as integrators
 * err so on the scale of their steps, and forces to better than 1e-10 of their mean. A recording of
 * less accuracy has to be tried with its `noise`. */
typedef enum zw_verdict {
    ZW_VERDICT_MOTION,     /* nothing beyond the fit's own error */
    ZW_VERDICT_NOT_MOTION, /* an extra force would be needed */
    ZW_VERDICT_OFF,        /* the path leaves the constraints */
    ZW_VERDICT_COARSE      /* the recording is too coarse or noisy to tell */
} zw_verdict;

typedef struct zw_trial_report {
    zw_verdict verdict;
    long samples;
    int pieces; /* parts between jumps */
    int speeds; /* 0: none were recorded, 1: they are those of the positions, -1: not all are */
    double start, end;

    int fit_degree; /* of the local polynomials of the positions, in the longest piece */
    int fit_window; /* samples that each is fitted to */
    double noise;   /* found or given, relative to the size of the coordinate that has most */
    double error_position, error_speed, error_acceleration; /* the path's, root mean square */

    double violation_position, violation_velocity; /* of the constraints, and where most */
    int violation_constraint;                      /* over what is tolerated; -1: there are none */
    double violation_time;

    double mean;         /* (1/T) int B^-1 R . R dt: the right side of (6), or of (13) */
    double mean_least;   /* the least its left side can be, over all variations */
    double defect;       /* (1/T) int |R_tangential|^2 = mean - mean_least */
    double defect_error; /* the part of it that the fit's error explains */

    /* The moment at which the extra force is largest beyond the error; if it struck, that of the
     * blow, whose force is the mean one between two samples. */
    double worst; /* |R_tangential| there in the metric */
    double worst_time;
    double worst_error; /* of `worst` */
    int worst_coord; /* the coordinate that, put right, puts all others right; else the one that is
                        moved most, in units of its mass; -1: nothing is known */
    double worst_force; /* the extra force on it */

    double energy_change; /* of V . K - K + U, Cardin-Zanzotto (1989), eq. (3.14) */
    double energy_work;   /* of the active forces along the path */
    double energy_defect; /* largest difference of the two along the path */
} zw_trial_report;

typedef struct zw_trial zw_trial;

/* NULL: it could not be checked, `error` says why. The system must outlive the trial. Parameters
 * are those of the model. */
zw_trial *zw_path_certify(const zw_system *system, const zw_path *path,
                          const zw_certify_options *options, zw_error *error);
const zw_trial_report *zw_trial_look(const zw_trial *trial);
void zw_trial_free(zw_trial *trial);

/* What was found at each sample. */
typedef enum zw_trial_series {
    ZW_SERIES_TIME,        /* [samples] */
    ZW_SERIES_Q,           /* [samples * n] of the fit */
    ZW_SERIES_V,           /* [samples * n] */
    ZW_SERIES_A,           /* [samples * n] */
    ZW_SERIES_EXTRA,       /* [samples * n] the extra force: R_tangential */
    ZW_SERIES_EXTRA_SIZE,  /* [samples] in the metric */
    ZW_SERIES_EXTRA_ERROR, /* [samples] the fit's error of it */
    ZW_SERIES_LAMBDA,      /* [samples * rows] what the constraints exert */
    ZW_SERIES_POWER        /* [samples] of the active forces */
} zw_trial_series;

zw_view zw_trial_series_of(const zw_trial *trial, zw_trial_series series);

/* The series as a file: .csv, .h5, .svg or .html by the ending. */
zw_status zw_trial_write(const zw_trial *trial, const char *file, zw_error *error);

/* ---- From here to there ------------------------------------------------------------------- */

/* `reach x = 1, y = 0 at 2`: the start lies where the file says; which speeds, and under the laws
 * of Kozlov (2000) which multipliers, lead to the end? Those that the file gives (`speed`, `law
 * vakonomic NAME = 1`) are held. Where a variational law holds (beta = 0), what is not named is
 * free at the end: its momentum vanishes there (transversality), unless as many are named as are
 * unknown.
 *
 *     if (zw_reach_asked(system)) zw_reach(system, state, work, NULL, &report, &error);
 *     zw_run(system, state, work, ...);
 */
int zw_reach_asked(const zw_system *system);

typedef struct zw_reach_options {
    double time;      /* of arrival; 0: the file's */
    double tolerance; /* of the motions, as for zw_run; 0: 1e-13 */
    int intervals;    /* of the discrete path that gives the first guess; 0: 64; negative: no such
                         guess, only shooting */
    zw_poll *poll;    /* asked now and then; nonzero stops (report.interrupted) */
    void *user;
} zw_reach_options;

typedef struct zw_reach_report {
    int unknowns;    /* after the constraints: what can be chosen at the start */
    int conditions;  /* what is asked at the end */
    int least;       /* 1: it began as the least action among the discrete paths near it */
    int iterations;  /* of Newton's method, on the motion itself */
    long runs;       /* motions that were computed */
    double miss;     /* largest difference at the end from what is asked */
    int miss_coord;  /* and of which coordinate it is */
    double action;   /* integral of L = K - V along the motion */
    double length;   /* integral of sqrt(v . M v): with 2 K = v . M v that of the kinetic metric */
    int interrupted; /* by poll: the status is ZW_NOT_REACHED then */
} zw_reach_report;

/* Sets the speeds and carried multipliers of the state (ZW_FIELD_V, ZW_FIELD_CARRIED). The state is
 * left as it was if there is no such motion or none was found: ZW_NOT_REACHED; wrong numbers of
 * conditions: ZW_BAD_INPUT. options and report may be NULL. */
zw_status zw_reach(const zw_system *system, zw_state *state, zw_work *work,
                   const zw_reach_options *options, zw_reach_report *report, zw_error *error);

/* Only counts: report.unknowns and report.conditions. ZW_OK if they are the same. */
zw_status zw_reach_check(const zw_system *system, const zw_state *state, zw_work *work,
                         zw_reach_report *report, zw_error *error);

/* What was not given, for reports: list[coordinates + carried], their number. */
typedef struct zw_reach_unknown {
    const char *name; /* of the coordinate, or of the constraint */
    int multiplier;   /* 0: the speed of a coordinate */
    double value;     /* in the state */
} zw_reach_unknown;
int zw_reach_unknowns(const zw_system *system, const zw_state *state, zw_reach_unknown *list);

/* ---- The limits --------------------------------------------------------------------------- */

/* Kozlov (2000), section 4 b) and c): without its constraints, but with the added mass alpha N
 * Phi^2/2 and the friction beta N Phi^2/2, the system (17) moves as (18) in the limit N ->
 * infinity. alpha and beta are those of the model's law; without one they are 0 and 1, and the
 * limit is the nonholonomic law. Where the file has a `reach` line, all begin as the limit must to
 * arrive there.
 *
 *     zw_limit *limit = zw_limit_create(model, NULL, &error);
 *     zw_limit_add(limit, INFINITY, &error);                       the limit itself: row 0
 *     for (double N = 10; N <= 1e8; N *= 10)
 *         zw_limit_add(limit, N, &error);
 *     zw_limit_order_of(limit).order                               1, if all is as it should be
 */
typedef struct zw_limit zw_limit;

typedef struct zw_limit_row {
    double N;             /* infinite: the limit itself */
    double distance;      /* from the limit's path: max |x_N - x|/(1 + |x|) over coordinates, speeds
                             and samples; of the limit itself: the integrator's error, found by a
                             run ten times as coarse */
    double distance_time; /* when */
    double distance_end;  /* at the last sample */
    double ratio;         /* the distance of the row before over this one; NaN: there is none */
    double phi;           /* largest |Phi| over the samples */
    double multiplier;    /* max |N Phi - lambda|/(1 + |lambda|) at the last sample */
    long steps, rejected;
} zw_limit_row;

/* NULL: this model has no such limit, `error` says why. Of the options time, every, step, tolerance
 * (by default the file's, or 1e-12), method, poll and its user are used. The model must outlive it,
 * and may not be compiled elsewhere meanwhile. */
zw_limit *zw_limit_create(const zw_model *model, const zw_run_options *options, zw_error *error);
/* Run N and compare; the first is INFINITY. If it fails, or poll stops it (ZW_OK), no row is added.
 */
zw_status zw_limit_add(zw_limit *limit, double N, zw_error *error);
void zw_limit_free(zw_limit *limit);

zw_law zw_limit_law(const zw_limit *limit);                 /* of the limit */
const zw_run_options *zw_limit_plan(const zw_limit *limit); /* what was left open is filled in */
int zw_limit_count(const zw_limit *limit);
const zw_limit_row *zw_limit_look(const zw_limit *limit, int row); /* NULL: no such row */
/* The samples of a row: TIME [samples], Q [samples * 2n] (q[n] v[n] sample by sample), LAMBDA
 * [rows] at the end. */
zw_view zw_limit_path(const zw_limit *limit, int row, zw_field_id field);

/* The slope of log distance over log N, through the last rows (four at most) whose distance is ten
 * times the integrator's error. */
typedef struct zw_limit_order {
    double order;    /* distance ~ N^-order; NaN: fewer than two such rows */
    double from, to; /* N */
    int rows;
} zw_limit_order;
zw_limit_order zw_limit_order_of(const zw_limit *limit);

/* .csv and .h5: the rows, as a table. .svg and .html: distance over N, and the first coordinates
 * over time for some N. */
zw_status zw_limit_write(const zw_limit *limit, const char *file, zw_error *error);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif

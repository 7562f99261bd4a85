/* Whole motions: is a recorded path a motion of the system? (Kozlov 2000)
 *
 *     zw_path  *path  = zw_path_read(system, "recording.csv", NULL, &error);
 *     zw_trial *trial = zw_path_certify(system, path, &options, &error);
 *     const zw_trial_report *report = zw_trial_look(trial);
 *
 * Along the path R = [T] - F is the force needed in addition to the applied ones. The constraints
 * can exert its normal part; for a motion of the system there is no other part (Theorem 1). The
 * tangential part is the extra force that would be needed.
 *
 * Under the laws of Kozlov (2000) with alpha > 0 the constraints exert what (18) says, for some
 * lambda(t) that is found along the whole path (Theorem 2); the extra force is the remainder. To
 * check a path against a law other than the file's, compile with that law.
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

/* From memory: t[count] never decreases (a time given twice separates two pieces: the motion may
 * jump there), q[count * coordinates] sample by sample, v[count * speeds], or NULL if speeds were
 * not recorded. The arrays are copied. */
zw_path *zw_path_create(const zw_system *system, long count, const double *t, const double *q,
                        const double *v, zw_error *error);

/* The coordinate or speed `name` of the model ("x", "x'"), or the time "t", is called `column` in
 * the file. */
typedef struct zw_path_column {
    const char *name;
    const char *column;
} zw_path_column;

typedef struct zw_path_options {
    const zw_path_column *columns;
    int column_count;
    int partial; /* 1: some of the coordinates and speeds are enough; for zwang/fit.h only */
} zw_path_options;

/* From a CSV or HDF5 file, by its extension. The time column is called t or time. `options` may be
 * NULL. */
zw_path *zw_path_read(const zw_system *system, const char *file, const zw_path_options *options,
                      zw_error *error);
void zw_path_free(zw_path *path);

/* What a path contains. Speeds are used only if those of all coordinates are there: the speed of x
 * is called x', xd or x_dot. */
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
    double noise; /* of the recorded numbers, relative to the size of each coordinate; 0: estimated
                     from the recording */
    const double *metric; /* B[n * n], symmetric and positive, in place of M (remark a); or NULL */
    zw_poll *poll;        /* called from time to time; nonzero stops with ZW_INTERRUPTED; or NULL */
    void *user;
} zw_certify_options;

/* In this order:
 *   OFF         a constraint is violated by more than 8 times the error of the positions (of the
 *               speeds, if it is one on speeds) and 1e-8 of the size of its coordinates
 *   NOT_MOTION  somewhere the extra force, or its effect on the constraints, is more than 15 times
 *               its error, or the defect more than 16 times its own; or there is a jump of speeds
 *               or a single wrong sample, 10 times its error, that neither contacts nor `set`
 *               lines of events explain; or recorded speeds differ from the derivatives of the
 *               positions by 12 times their noise and error and 1e-8 of their size. What follows
 *               the motion is noise up to 1e-5 of their size only, or to the noise stated
 *   COARSE      the error of the extra force is 0.3 of |M a| in the mean; or half of the samples
 *               have no fit, being fewer than 9 between two jumps or too far apart for the motion
 *   MOTION      none of these
 *
 * Errors are one standard deviation; src/path/fit/fit.c and certify.c derive them. No recording is
 * assumed to be more accurate than 2e-10 of the size of positions, as integrators have such errors
 * on the scale of their steps, or than 1e-10 of the mean of forces. For a less accurate recording
 * give its `noise`. */
typedef enum zw_verdict {
    ZW_VERDICT_MOTION,     /* nothing beyond the fit's own error */
    ZW_VERDICT_NOT_MOTION, /* an extra force would be needed */
    ZW_VERDICT_OFF,        /* the path leaves the constraints */
    ZW_VERDICT_COARSE      /* the recording is too coarse or too noisy to decide */
} zw_verdict;

typedef struct zw_trial_report {
    zw_verdict verdict;
    long samples;
    int pieces; /* parts between jumps, and between gaps */
    int speeds; /* 0: none were recorded, 1: all match the positions, -1: some do not */
    double start, end;

    int fit_degree; /* of the local polynomials of the positions, in the longest piece */
    int fit_window; /* samples in each fit */
    double
        noise; /* estimated or given, relative to the size of the coordinate with the most noise */
    double error_position, error_speed, error_acceleration; /* of the fit, root mean square */

    double violation_position, violation_velocity; /* largest residuals of the constraints */
    int violation_constraint; /* the worst one relative to its tolerance; -1: no constraints */
    double violation_time;

    double mean;         /* (1/T) int B^-1 R . R dt: the right side of (6), or of (13) */
    double mean_least;   /* the least value of its left side over all variations */
    double defect;       /* (1/T) int |R_tangential|^2 = mean - mean_least */
    double defect_error; /* the part of it that the error of the fit explains */

    /* The time at which the extra force exceeds its error most; for an unexplained jump, that of
     * the jump, with the mean force between the two samples. */
    double worst; /* |R_tangential| there in the metric */
    double worst_time;
    double worst_error; /* of `worst` */
    int worst_coord; /* the coordinate whose correction would correct all others; else the one that
                        is accelerated most; -1: unknown */
    double worst_force; /* the extra force on it */

    double energy_change; /* of v . K_v - K + V, Cardin-Zanzotto (1989), eq. (3.14) */
    double energy_work;   /* of the active forces along the path */
    double energy_defect; /* largest difference of the two along the path */

    /* What was taken for granted. */
    int strikes; /* jumps of speeds that contacts could exert as impulses; that they are those of
                    the laws of impact and friction was not checked */
    int resets;  /* jumps in a model with events that set something, which were not checked */
    int shapes;  /* 1: there are shapes that can touch, and their contacts were not considered */
    int gaps;    /* intervals more than 8 times as long as those around them: nothing is known about
                    what happened in them */
} zw_trial_report;

typedef struct zw_trial zw_trial;

/* NULL: the path could not be checked, and `error` says why. The system must outlive the trial.
 * Parameters are those of the model. */
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
    ZW_SERIES_EXTRA_ERROR, /* [samples] its error */
    ZW_SERIES_LAMBDA,      /* [samples * rows] what the constraints exert */
    ZW_SERIES_POWER        /* [samples] of the active forces */
} zw_trial_series;

zw_view zw_trial_series_of(const zw_trial *trial, zw_trial_series series);

/* The series as a file; the extension selects the format: .csv, .h5, .svg or .html. */
zw_status zw_trial_write(const zw_trial *trial, const char *file, zw_error *error);

/* ---- From here to there ------------------------------------------------------------------- */

/* `reach x = 1, y = 0 at 2` states a boundary value problem: the initial position is the file's;
 * which initial speeds, and under the laws of Kozlov (2000) which initial multipliers, lead to the
 * end? Those that the file gives (`speed`, `law vakonomic NAME = 1`) are fixed. Under a variational
 * law (beta = 0) coordinates that are not named are free at the end: their momenta vanish there
 * (transversality), unless the named ones already give as many conditions as there are unknowns.
 *
 *     if (zw_reach_asked(system)) zw_reach(system, state, work, NULL, &report, &error);
 *     zw_run(system, state, work, ...);
 */
int zw_reach_asked(const zw_system *system);

typedef struct zw_reach_options {
    double time;      /* of arrival; 0: the file's */
    double tolerance; /* of the motions, as for zw_run; 0: 1e-13 */
    int intervals;    /* of the discrete path that gives the initial guess; 0: 64; negative: no such
                         guess, shooting only */
    zw_poll *poll;    /* called from time to time; nonzero stops (report.interrupted) */
    void *user;
} zw_reach_options;

typedef struct zw_reach_report {
    int unknowns;   /* initial values that the constraints leave open */
    int conditions; /* conditions at the end */
    int least;      /* 1: the initial guess has the least action among the discrete paths near it */
    int iterations; /* of Newton's method, with motions of the system */
    long runs;      /* number of motions computed */
    double miss;    /* largest error of the conditions at the end */
    int miss_coord; /* and its coordinate */
    double action;  /* integral of L = K - V along the motion */
    double length;  /* integral of sqrt(v . M v): length in the kinetic metric, 2 K = v . M v */
    int interrupted; /* by poll: the status is ZW_NOT_REACHED then */
} zw_reach_report;

/* Sets the speeds and carried multipliers of the state (ZW_FIELD_V, ZW_FIELD_CARRIED). The state is
 * left as it was if there is no such motion or none was found: ZW_NOT_REACHED; wrong numbers of
 * conditions: ZW_BAD_INPUT. options and report may be NULL. */
zw_status zw_reach(const zw_system *system, zw_state *state, zw_work *work,
                   const zw_reach_options *options, zw_reach_report *report, zw_error *error);

/* Only counts report.unknowns and report.conditions. ZW_OK if they are equal. */
zw_status zw_reach_check(const zw_system *system, const zw_state *state, zw_work *work,
                         zw_reach_report *report, zw_error *error);

/* The unknowns that were solved for, for reports: fills list[coordinates + carried], returns their
 * number. */
typedef struct zw_reach_unknown {
    const char *name; /* of the coordinate, or of the constraint */
    int multiplier;   /* 0: the speed of a coordinate */
    double value;     /* its value in the state */
} zw_reach_unknown;
int zw_reach_unknowns(const zw_system *system, const zw_state *state, zw_reach_unknown *list);

/* ---- The limits --------------------------------------------------------------------------- */

/* Kozlov (2000), section 4 b) and c): without its constraints, but with the added mass alpha N
 * Phi^2/2 and the friction beta N Phi^2/2, the system (17) moves as (18) in the limit N ->
 * infinity. alpha and beta are those of the model's law; without one they are 0 and 1, and the
 * limit is the nonholonomic law. If the file has a `reach` line, all runs start with the initial
 * values that the limit needs to satisfy it.
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
    double distance;      /* from the motion of the limit: max |x_N - x|/(1 + |x|) over coordinates,
                             speeds and samples; in the row of the limit itself: the integrator's error,
                             estimated by a run with ten times the tolerance */
    double distance_time; /* when it occurs */
    double distance_end;  /* at the last sample */
    double ratio;         /* distance of the previous row over this one; NaN: no previous row */
    double phi;           /* largest |Phi| over the samples */
    double multiplier;    /* max |N Phi - lambda|/(1 + |lambda|) at the last sample */
    long steps, rejected;
} zw_limit_row;

/* NULL: this model has no such limit, and `error` says why. The options time, every, step,
 * tolerance (by default the file's, or 1e-12), method, poll and user are used. The model must
 * outlive it, and may not be compiled elsewhere in the meantime. */
zw_limit *zw_limit_create(const zw_model *model, const zw_run_options *options, zw_error *error);
/* Runs the system with N and compares; the first N must be INFINITY. If the run fails, or poll
 * stops it (ZW_OK), no row is added.
 */
zw_status zw_limit_add(zw_limit *limit, double N, zw_error *error);
void zw_limit_free(zw_limit *limit);

zw_law zw_limit_law(const zw_limit *limit);                 /* of the limit */
const zw_run_options *zw_limit_plan(const zw_limit *limit); /* with defaults filled in */
int zw_limit_count(const zw_limit *limit);
const zw_limit_row *zw_limit_look(const zw_limit *limit, int row); /* NULL: no such row */
/* The samples of a row: TIME [samples], Q [samples * 2n] (q[n] v[n] sample by sample), LAMBDA
 * [rows] at the end. */
zw_view zw_limit_path(const zw_limit *limit, int row, zw_field_id field);

/* The slope of log distance over log N, fitted to the last rows (four at most) whose distance is at
 * least ten times the integrator's error. */
typedef struct zw_limit_order {
    double order;    /* distance ~ N^-order; NaN: fewer than two such rows */
    double from, to; /* range of N */
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

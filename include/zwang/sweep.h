/* Parameter studies: many motions of one file, with selected quantities of each in one table.
 *
 *     const char *over[] = {"omega = 0..6 : 200", "mu = 0.1, 0.2"};
 *     zw_sweep_options options = {.over = over, .over_count = 2, .keep = "max(th), th at end"};
 *     zw_sweep *sweep = zw_sweep_create("hoop.zw", &options, &error);
 *     zw_sweep_run(sweep, &error);
 *     zw_sweep_write(sweep, "hoop.csv", 0, &error);
 *
 * Every run is what zw_model_read with these settings and zw_run give, bit for bit, whatever the
 * number of threads. A run that fails has its reason in its row; the others continue. The syntax of
 * `over` and `keep` is in docs/sweep.md.
 */
#ifndef ZWANG_SWEEP_H
#define ZWANG_SWEEP_H

#include "zwang/zwang.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

typedef struct zw_sweep zw_sweep;

/* Makes a model in place of zw_model_read(path, read). It is called from several threads at
 * once. */
typedef zw_model *zw_sweep_reader(void *user, const char *path, const zw_read_options *read,
                                  zw_error *error);

/* Processes that share the runs of a sweep, on one machine or several: each creates the same sweep,
 * and all call zw_sweep_run. Rank 0 assigns runs to the others as they ask for them and ends up
 * with the table and the journal; the others have neither. Messages are texts. `zwang sweep` under
 * mpirun does this by MPI. */
typedef struct zw_sweep_ranks {
    int rank, count;
    void *user;
    /* Called on rank 0 by the thread that runs the sweep: returns a message from another rank, if
     * there is one now or within a few milliseconds, else NULL. It is valid until the next call. */
    const char *(*receive)(void *user, int *from);
    void (*answer)(void *user, int to, int number);
    /* Called on the other ranks: sends a message to rank 0 and returns its answer. Called by any
     * thread, but by one at a time. */
    int (*ask)(void *user, const char *text);
} zw_sweep_ranks;

typedef struct zw_sweep_options {
    zw_read_options read; /* its settings apply to all runs */
    zw_sweep_reader *reader;
    const char *const *over; /* "mu = 0.1, 0.2", "w = 0..6 : 200", "m = random 1..2", ... */
    int over_count;
    const char *keep;  /* "max(th), th at end, count(hit)" */
    const char *after; /* a time, or a formula of parameters; earlier samples are ignored */
    int samples;   /* samples of the random and latin parameters; 0: there are no such parameters */
    uint64_t seed; /* of the random numbers */
    zw_run_options run;  /* of each run; observer must be NULL. poll is called from all threads, and
                            a nonzero answer ends the sweep: unfinished runs are abandoned */
    int threads;         /* 0: 1 */
    const char *journal; /* finished runs are stored in this file, and a sweep that finds it resumes
                            from there; or NULL */
    void *user;          /* of reader and progress */
    void (*progress)(void *user, int done,
                     int runs);  /* called by the thread that runs the sweep; or NULL */
    const zw_sweep_ranks *ranks; /* or NULL: this process alone */
} zw_sweep_options;

/* NULL: something is wrong with the file or with the texts, and `error` says what. Texts are
 * copied; settings, packages and `user` pointers must outlive the sweep. */
zw_sweep *zw_sweep_create(const char *path, const zw_sweep_options *options, zw_error *error);
void zw_sweep_free(zw_sweep *sweep); /* the journal is kept */

/* Computes all runs that are not done yet. ZW_INTERRUPTED: poll stopped it. Single runs that fail
 * are reported in the table, and the answer is still ZW_OK. */
zw_status zw_sweep_run(zw_sweep *sweep, zw_error *error);

int zw_sweep_count(const zw_sweep *sweep);  /* all runs */
int zw_sweep_done(const zw_sweep *sweep);   /* those done */
int zw_sweep_failed(const zw_sweep *sweep); /* those done that failed */
int zw_sweep_columns(
    const zw_sweep *sweep); /* parameters, quantities, then columns about the run */
const char *zw_sweep_name(const zw_sweep *sweep, int column); /* never NULL */
int zw_sweep_find(const zw_sweep *sweep, const char *name);   /* -1: there is no such column */
/* NaN: the run is not done or failed, or the event asked for did not happen. */
double zw_sweep_value(const zw_sweep *sweep, int run, int column);
/* "ok", or why the run failed; NULL: it is not done. */
const char *zw_sweep_status(const zw_sweep *sweep, int run);

/* .csv and .h5: the table; .svg and .html: pictures of it. Runs that are not done are left out. A
 * plain CSV file has neither comment lines above it nor the status column. */
zw_status zw_sweep_write(const zw_sweep *sweep, const char *path, int plain, zw_error *error);
/* Deletes the journal. */
void zw_sweep_forget(const zw_sweep *sweep);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif

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

/* How a model is made, in place of zw_model_read(path, read): called from several threads at
 * once. */
typedef zw_model *zw_sweep_reader(void *user, const char *path, const zw_read_options *read,
                                  zw_error *error);

/* Processes that share the runs of a sweep, on one machine or many: each makes the same sweep, and
 * zw_sweep_run of all of them together does it. Rank 0 hands runs out, one after another as they
 * are asked for, and has the table and the journal in the end; the others have neither. Messages
 * are texts. `zwang sweep` under mpirun does this by MPI. */
typedef struct zw_sweep_ranks {
    int rank, count;
    void *user;
    /* Rank 0, by the calling thread: a message of another rank, if there is one now or in some
     * milliseconds; NULL: none. It is valid until the next call. */
    const char *(*receive)(void *user, int *from);
    void (*answer)(void *user, int to, int number);
    /* The others: a message to rank 0, and its answer. By any thread, but by one at a time. */
    int (*ask)(void *user, const char *text);
} zw_sweep_ranks;

typedef struct zw_sweep_options {
    zw_read_options read; /* its settings hold in all runs */
    zw_sweep_reader *reader;
    const char *const *over; /* "mu = 0.1, 0.2", "w = 0..6 : 200", "m = random 1..2", ... */
    int over_count;
    const char *keep;    /* "max(th), th at end, count(hit)" */
    const char *after;   /* a time, or a formula of parameters; what was before is not looked at */
    int samples;         /* how often random and latin ones are drawn; 0: there are none */
    uint64_t seed;       /* of these */
    zw_run_options run;  /* of each; observer must be NULL. poll is asked from all threads, and a
                            nonzero answer ends the sweep: what runs is given up */
    int threads;         /* 0: 1 */
    const char *journal; /* what is done is kept in this file, and a sweep that finds it there goes
                            on; or NULL */
    void *user;          /* of reader */
    void (*progress)(void *user, int done, int runs); /* by the calling thread; or NULL */
    const zw_sweep_ranks *ranks;                      /* or NULL: this process alone */
} zw_sweep_options;

/* NULL: something is wrong with the file or the words, and `error` says what. Words are copied;
 * settings, packages and users must outlive it. */
zw_sweep *zw_sweep_create(const char *path, const zw_sweep_options *options, zw_error *error);
void zw_sweep_free(zw_sweep *sweep); /* the journal stays */

/* All runs that are not done yet. ZW_INTERRUPTED: poll wished so. Failures of single runs are in
 * the table, and the answer is ZW_OK. */
zw_status zw_sweep_run(zw_sweep *sweep, zw_error *error);

int zw_sweep_count(const zw_sweep *sweep);  /* of runs */
int zw_sweep_done(const zw_sweep *sweep);   /* so many of them are */
int zw_sweep_failed(const zw_sweep *sweep); /* and so many of those failed */
int zw_sweep_columns(
    const zw_sweep *sweep); /* parameters, quantities, then columns about the run */
const char *zw_sweep_name(const zw_sweep *sweep, int column); /* never NULL */
int zw_sweep_find(const zw_sweep *sweep, const char *name);   /* -1: there is no such column */
/* NaN: not done, failed, or it did not happen. */
double zw_sweep_value(const zw_sweep *sweep, int run, int column);
/* "ok", or why it failed; NULL: it is not done. */
const char *zw_sweep_status(const zw_sweep *sweep, int run);

/* .csv and .h5: the table; .svg and .html: pictures of it. What is not done is left out. A plain
 * CSV file has neither notes above it nor the column of statuses. */
zw_status zw_sweep_write(const zw_sweep *sweep, const char *path, int plain, zw_error *error);
/* The journal is of no more use. */
void zw_sweep_forget(const zw_sweep *sweep);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif

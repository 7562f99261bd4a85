/* Internals of a sweep.
 *
 *   over.c what varies: from text to the values of run i keep.c what is kept: from text to
 *   quantities series.c one motion as samples, and smooth curves through them measure.c from
 *   samples to numbers lyapunov.c the largest Lyapunov exponent journal.c the finished runs, in a
 *   file that survives a crash create.c creates a sweep, and reports the errors of its texts
 *   sweep.c the runs, in threads ranks.c the runs, in several processes
 * and record/sweep.c writes the table. */
#ifndef ZW_BATCH_SWEEP_SWEEP_H
#define ZW_BATCH_SWEEP_SWEEP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "zwang/sweep.h"

enum { SWEEP_MOST_RUNS = 10000000, SWEEP_MOST_POINTS = 1000, SWEEP_MOST_SAMPLES = 10000000 };

/* ---- over.c --------------------------------------------------------------------------------- */

typedef enum sweep_how { SWEEP_GRID, SWEEP_LIST, SWEEP_RANDOM, SWEEP_LATIN } sweep_how;

typedef struct sweep_over {
    char *name;
    sweep_how how;
    int count; /* number of values; 1 for random and latin ones, which share the samples */
    double low, high;
    int log;       /* steps of equal ratio */
    double *value; /* of a list */
    int *part;     /* of a latin one: the part in which each draw lies */
} sweep_over;

/* "omega = 0..6 : 200" */
zw_status sweep_over_read(sweep_over *over, const char *text, zw_error *error);
void sweep_over_clear(sweep_over *over);
/* The number of runs; 0: too many, or `samples` is missing or not needed. */
int sweep_over_runs(const sweep_over *over, int count, int samples, zw_error *error);
/* Called once, before values of a latin parameter are used. */
zw_status sweep_over_rank(sweep_over *over, int samples, uint64_t seed, zw_error *error);
/* The value of parameter `which` in run `run`. */
double sweep_over_value(const sweep_over *over, int count, int samples, uint64_t seed, int run,
                        int which);

/* ---- keep.c --------------------------------------------------------------------------------- */

typedef enum sweep_kind {
    SWEEP_END,
    SWEEP_START,
    SWEEP_AT, /* at the first occurrence of an event */
    SWEEP_MAX,
    SWEEP_MIN,
    SWEEP_MEAN,
    SWEEP_PERIOD,       /* between upward crossings of the formula's mean */
    SWEEP_PERIOD_EVENT, /* between occurrences of an event */
    SWEEP_COUNT,
    SWEEP_TIME,
    SWEEP_POINTS,  /* last values at an event */
    SWEEP_STROBE,  /* last values at multiples of a time */
    SWEEP_LYAPUNOV /* largest exponent */
} sweep_kind;

typedef struct sweep_keep {
    sweep_kind kind;
    char *title;   /* as written; for points, the formula */
    char *formula; /* or NULL */
    int expr;      /* index of the formula in the sweep, -1: none */
    char *event;   /* name, or NULL */
    int event_id;  /* -2: any impact */
    int columns;   /* 1, or the number of points */
} sweep_keep;

typedef struct sweep_keeps {
    int count, capacity;
    sweep_keep *keep;
    int expr_count, expr_capacity;
    char **expr; /* all formulas, each once */
    char *every; /* the time between strobes, or NULL */
    int strobe;  /* index of its formula, and of that of the time from which quantities are taken;
                    -1: none */
    int after;
    int lyapunov; /* it is requested */
    int columns;
} sweep_keeps;

enum { SWEEP_IMPACTS = -2 };

/* Parses "max(th), th at end, count(hit)". Names are looked up later, by sweep_keeps_bind. */
zw_status sweep_keeps_read(sweep_keeps *keeps, const char *text, zw_error *error);
void sweep_keeps_clear(sweep_keeps *keeps);
/* Looks up events; `error` names an unknown one. Assigns indices to the formulas, also to `after`
 * unless NULL. */
zw_status sweep_keeps_bind(sweep_keeps *keeps, const char *after, const zw_system *system,
                           zw_error *error);
/* The formulas as lines of a model, for zw_read_options.more. NULL: no memory. */
char *sweep_keeps_lines(const sweep_keeps *keeps);

/* ---- series.c ------------------------------------------------------------------------------- */

/* Where the value of a formula is read. */
typedef struct sweep_source {
    zw_field_id field;
    int index;
} sweep_source;

/* The sources of all formulas in this system. For a robot they are names; for equations they are
 * the last plots. */
zw_status sweep_sources(const sweep_keeps *keeps, const zw_model *model, const zw_system *system,
                        int is_robot, sweep_source *source, zw_error *error);

/* The samples of one motion. Those of one piece are on a smooth curve; a jump begins
 * another piece. */
typedef struct sweep_series {
    int exprs;
    const sweep_source *source;
    int count, capacity;
    double *time;
    double *value;         /* [count][exprs] */
    unsigned char *begins; /* this sample begins a piece */
    int happened, happened_capacity;
    int *event; /* [happened] which, or SWEEP_IMPACTS */
    double *when;
    double *at;  /* [happened][exprs] */
    int jumping; /* the next jump sample is the second side of one */
    int full;    /* no memory, or too many samples */
} sweep_series;

int sweep_series_take(sweep_series *series, zw_sample_kind kind, int event, const zw_system *system,
                      const zw_state *state, zw_work *work);
void sweep_series_clear(sweep_series *series); /* for the next motion */
void sweep_series_free(sweep_series *series);

/* A polynomial through neighbouring samples (Newton's form). */
enum { SWEEP_NODES = 7 };
typedef struct sweep_curve {
    int count;
    double t[SWEEP_NODES], c[SWEEP_NODES];
} sweep_curve;
/* Through at most `most` samples of the piece of sample i, equally many on both sides where
 * possible. */
sweep_curve sweep_curve_at(const sweep_series *series, int expr, int i, int most);
double sweep_curve_value(const sweep_curve *curve, double t);

/* ---- measure.c ------------------------------------------------------------------------------ */

typedef struct sweep_measured {
    const sweep_series *series;
    double after;
    double strobe;   /* the time between strobes */
    double lyapunov; /* the exponent */
    int stepwise;    /* impacts are not located, but this is their number: */
    long impacts;
    double doubt; /* result: largest difference from coarser curves, relative to 1 + the value */
} sweep_measured;

/* The values of all quantities, to[keeps->columns]; NaN where there is none. */
void sweep_measure(const sweep_keeps *keeps, sweep_measured *of, double *to);

/* ---- lyapunov.c ----------------------------------------------------------------------------- */

/* From the state's time to `end`, accumulated from `after` on; the state is then at the end. */
zw_status sweep_lyapunov(const zw_model *model, const zw_system *system, zw_state *state,
                         zw_work *work, const zw_run_options *options, double after,
                         double *exponent, zw_error *error);

/* ---- The whole ------------------------------------------------------------------------------ */

/* What every run reports after the quantities. */
enum {
    SWEEP_DIAGNOSTIC_END,
    SWEEP_DIAGNOSTIC_STEPS,
    SWEEP_DIAGNOSTIC_CERTIFICATE,
    SWEEP_DIAGNOSTIC_DRIFT,
    SWEEP_DIAGNOSTIC_DOUBT,
    SWEEP_DIAGNOSTICS
};

struct zw_sweep {
    zw_sweep_options options; /* its texts are those below */
    char *path, *journal_path, *after;
    char *over_text, *keep_text; /* as given, joined by "; " */
    zw_setting *setting;
    int is_robot;
    sweep_over *over;
    int over_count;
    sweep_keeps keeps;
    char *lines;     /* of keeps, or NULL */
    uint64_t hash;   /* of everything that the table depends on */
    int runs, width; /* numbers of a run: quantities and reports */
    char **name;     /* [over_count + width] titles of columns */
    double *value;   /* [runs][width] */
    char **status;   /* [runs] NULL: not done */

    /* While it runs */
    int journal; /* -1: none */
    atomic_int next, done, failed, stopped;
    pthread_mutex_t lock; /* of the journal, and of error */
    zw_error error;       /* of the sweep itself */
};

/* journal.c: opens the journal and takes over the finished runs; then adds one line for
 * each run. */
zw_status sweep_journal_open(zw_sweep *sweep, zw_error *error);
int sweep_journal_add(zw_sweep *sweep, int run, zw_error *error); /* 0: it cannot be written */
void sweep_journal_close(zw_sweep *sweep);
/* The header line that identifies the sweep; a finished run as a line (NULL: no memory; the caller
 * frees it); and from a line: its run, or -1 if it is invalid or was known before. */
enum { SWEEP_HEAD = 64 };
int sweep_journal_head(const zw_sweep *sweep, char head[SWEEP_HEAD]);
char *sweep_journal_line(const zw_sweep *sweep, int run);
int sweep_journal_take(zw_sweep *sweep, char *line, size_t length);

/* sweep.c: the model with these settings and lines (or NULL); and marking a run as done with this
 * status. */
zw_model *sweep_model(const zw_sweep *sweep, const zw_setting *settings, int count,
                      const char *lines, zw_error *error);
int sweep_set_status(zw_sweep *sweep, int run, const char *text); /* 0: no memory */
/* The next run that has not been started; -1: none is left, or the sweep is to end. */
int sweep_next(zw_sweep *sweep);
void sweep_give_up(zw_sweep *sweep, const zw_error *error); /* ends the whole sweep */
void sweep_watch(void *sweep); /* polls the caller, and reports progress */

/* ranks.c: is this rank 0, which distributes the runs; or one of the others? */
int sweep_serves(const zw_sweep *sweep);
int sweep_asks(const zw_sweep *sweep);
/* Rank 0, in the calling thread: serves until all others have finished. */
void sweep_serve(zw_sweep *sweep);
/* The other ranks. 0: rank 0 rejected us. Then: the next run, after reporting this finished one
 * (-1: none); and the end. */
int sweep_greet(zw_sweep *sweep);
int sweep_ask(zw_sweep *sweep, int done);
void sweep_part(zw_sweep *sweep);

#endif

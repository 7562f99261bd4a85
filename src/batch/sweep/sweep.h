/* The inside of a sweep.
 *
 *   over.c      what varies: words to values of run number i
 *   keep.c      what is kept: words to quantities
 *   series.c    one motion as samples, and smooth curves through them
 *   measure.c   samples to numbers
 *   lyapunov.c  how fast neighbours part
 *   journal.c   what is done, in a file that survives
 *   create.c    a sweep is made, and what is wrong with its words is said
 *   sweep.c     the runs, in threads
 *   ranks.c     the runs, in several processes
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
    int count; /* of values; of random and latin ones 1: they share the samples */
    double low, high;
    int log;       /* steps of equal ratio */
    double *value; /* of a list */
    int *part;     /* of a latin one: where each draw lies */
} sweep_over;

/* "omega = 0..6 : 200" */
zw_status sweep_over_read(sweep_over *over, const char *text, zw_error *error);
void sweep_over_clear(sweep_over *over);
/* How many runs; 0: too many, or samples miss or are of no use. */
int sweep_over_runs(const sweep_over *over, int count, int samples, zw_error *error);
/* Once, before values of a latin one are asked for. */
zw_status sweep_over_rank(sweep_over *over, int samples, uint64_t seed, zw_error *error);
/* The value of number `which` in run number `run`. */
double sweep_over_value(const sweep_over *over, int count, int samples, uint64_t seed, int run,
                        int which);

/* ---- keep.c --------------------------------------------------------------------------------- */

typedef enum sweep_kind {
    SWEEP_END,
    SWEEP_START,
    SWEEP_AT, /* an event happens for the first time */
    SWEEP_MAX,
    SWEEP_MIN,
    SWEEP_MEAN,
    SWEEP_PERIOD,       /* of a formula that rises through its mean */
    SWEEP_PERIOD_EVENT, /* between two of an event */
    SWEEP_COUNT,
    SWEEP_TIME,
    SWEEP_POINTS,  /* last values at an event */
    SWEEP_STROBE,  /* last values at multiples of a time */
    SWEEP_LYAPUNOV /* largest exponent */
} sweep_kind;

typedef struct sweep_keep {
    sweep_kind kind;
    char *title;   /* as it was written; of points, what the points are of */
    char *formula; /* or NULL */
    int expr;      /* the formula's number among those of the sweep, -1: none */
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
    int strobe;  /* the number of its formula, and of that of the time to look from; -1: none */
    int after;
    int lyapunov; /* it is asked for */
    int columns;
} sweep_keeps;

enum { SWEEP_IMPACTS = -2 };

/* "max(th), th at end, count(hit)". Names are looked up later, by sweep_keeps_bind. */
zw_status sweep_keeps_read(sweep_keeps *keeps, const char *text, zw_error *error);
void sweep_keeps_clear(sweep_keeps *keeps);
/* Events by their names; `error` says which is unknown. Formulas get their numbers, and `after`
 * (or NULL) one, too. */
zw_status sweep_keeps_bind(sweep_keeps *keeps, const char *after, const zw_system *system,
                           zw_error *error);
/* The formulas as lines of a model: for zw_read_options.more. NULL: no memory. */
char *sweep_keeps_lines(const sweep_keeps *keeps);

/* ---- series.c ------------------------------------------------------------------------------- */

/* Where the value of a formula is read. */
typedef struct sweep_source {
    zw_field_id field;
    int index;
} sweep_source;

/* Of all formulas in this system. A robot's are names; those of equations are the last plots. */
zw_status sweep_sources(const sweep_keeps *keeps, const zw_model *model, const zw_system *system,
                        int is_robot, sweep_source *source, zw_error *error);

/* One motion. Samples of one piece are of a smooth curve; a jump begins another. */
typedef struct sweep_series {
    int exprs;
    const sweep_source *source;
    int count, capacity;
    double *time;
    double *value;         /* [count][exprs] */
    unsigned char *begins; /* a piece */
    int happened, happened_capacity;
    int *event; /* [happened] which, or SWEEP_IMPACTS */
    double *when;
    double *at;  /* [happened][exprs] */
    int jumping; /* the next jump is the far side of one */
    int full;    /* no memory, or too many */
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
/* Through at most `most` samples of the piece of sample i, as many to both sides as there are. */
sweep_curve sweep_curve_at(const sweep_series *series, int expr, int i, int most);
double sweep_curve_value(const sweep_curve *curve, double t);

/* ---- measure.c ------------------------------------------------------------------------------ */

typedef struct sweep_measured {
    const sweep_series *series;
    double after;
    double strobe;   /* the time between strobes */
    double lyapunov; /* the exponent */
    int stepwise;    /* impacts have no instants, but this number: */
    long impacts;
    double doubt; /* set: largest difference to coarser curves, relative to 1 + the value */
} sweep_measured;

/* The numbers of all quantities, to[keeps->columns]; NaN where there is none. */
void sweep_measure(const sweep_keeps *keeps, sweep_measured *of, double *to);

/* ---- lyapunov.c ----------------------------------------------------------------------------- */

/* From the state's time to `end`, counted from `after` on; the state is then at the end. */
zw_status sweep_lyapunov(const zw_system *system, zw_state *state, zw_work *work,
                         const zw_run_options *options, double after, double *exponent,
                         zw_error *error);

/* ---- The whole ------------------------------------------------------------------------------ */

/* What every run reports, after the quantities. */
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
    char *over_text, *keep_text; /* as they were said, "; " between */
    zw_setting *setting;
    int is_robot;
    sweep_over *over;
    int over_count;
    sweep_keeps keeps;
    char *lines;     /* of keeps, or NULL */
    uint64_t hash;   /* of all that the table depends on */
    int runs, width; /* numbers of a run: quantities and what it reports */
    char **name;     /* [over_count + width] titles of columns */
    double *value;   /* [runs][width] */
    char **status;   /* [runs] NULL: not done */

    /* While it runs */
    int journal; /* -1: none */
    atomic_int next, done, failed, stopped;
    pthread_mutex_t lock; /* of the journal, and of error */
    zw_error error;       /* of the sweep itself */
};

/* journal.c: opens it and takes over what is done; then one line for each run. */
zw_status sweep_journal_open(zw_sweep *sweep, zw_error *error);
int sweep_journal_add(zw_sweep *sweep, int run, zw_error *error); /* 0: it cannot be written */
void sweep_journal_close(zw_sweep *sweep);
/* Which sweep it is, in one line; and a run that is done as a line (NULL: no memory; to be freed),
 * and from one: its number, -1: it is none, or was there before. */
enum { SWEEP_HEAD = 64 };
int sweep_journal_head(const zw_sweep *sweep, char head[SWEEP_HEAD]);
char *sweep_journal_line(const zw_sweep *sweep, int run);
int sweep_journal_take(zw_sweep *sweep, char *line, size_t length);

/* sweep.c: the model with these settings and lines (or NULL); a run is done with this status. */
zw_model *sweep_model(const zw_sweep *sweep, const zw_setting *settings, int count,
                      const char *lines, zw_error *error);
int sweep_set_status(zw_sweep *sweep, int run, const char *text); /* 0: no memory */
/* The next run that is not taken; -1: none is left, or the sweep is to end. */
int sweep_next(zw_sweep *sweep);
void sweep_give_up(zw_sweep *sweep, const zw_error *error); /* ends the whole sweep */
void sweep_watch(void *sweep); /* asks the caller whether to go on, and reports progress */

/* ranks.c: is this the one that hands out, or one of the others? */
int sweep_serves(const zw_sweep *sweep);
int sweep_asks(const zw_sweep *sweep);
/* Rank 0, by the calling thread: until all others have said that they are through. */
void sweep_serve(zw_sweep *sweep);
/* The others: 0: rank 0 does not want us. The next run, after this one (-1: none), which is done;
 * and the end. */
int sweep_greet(zw_sweep *sweep);
int sweep_ask(zw_sweep *sweep, int done);
void sweep_part(zw_sweep *sweep);

#endif

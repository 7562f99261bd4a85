/* The quality of a run: how many digits of its result can be trusted, and in words what was
 * proved, estimated and assumed, and what went wrong without ending it.
 *
 *     zw_digits digits = {0};
 *     zw_run_verdict verdict;
 *     zw_run_digits(system, state, work, &options, &summary, &digits, &error);
 *     zw_run_conclude(system, &assembly, &summary, &digits, &verdict);
 *     for (int i = 0; i < verdict.count; i++) puts(verdict.line[i].text);
 *     zw_digits_free(&digits);
 */
#ifndef ZWANG_VERDICT_H
#define ZWANG_VERDICT_H

#include "zwang/zwang.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* ---- Digits ------------------------------------------------------------------------------- */

/* The error of a final state, estimated from two companion runs with smaller tolerances or shorter
 * steps. The size of a coordinate or speed is the largest absolute value that it had during the
 * run, and digits count from there: 3 digits of a coordinate that moves between -2 and 2 is an
 * error of at most 0.002. */
typedef struct zw_digits {
    int known;         /* 0: there is no estimate, and `note` says why */
    int count;         /* coordinates, and after them speeds */
    double *error;     /* [count] estimated, absolute */
    double *size;      /* [count] */
    int *digits;       /* [count] 0 to 15; -1: it is always zero, up to round-off */
    int worst;         /* index of the number with the fewest digits; -1: all are zero */
    double time_error; /* of the final time, if an event ended the run */
    double order;      /* fixed steps: the observed order of convergence, log2 of the ratio of
                          differences */
    int differs;       /* 1: an event or impact happened more or less often in a companion: */
    int event;         /* which event; -1: impacts, */
    long here, there;
    int ended;      /* the run and a companion were ended by different events, or by none */
    char note[320]; /* why there is no estimate, or fewer digits than expected; may be empty */
} zw_digits;

/* zw_run, followed by an estimate of the digits of its final state. The companion runs start from
 * the same state, take two to seven times as long, and do not call the observer. If `poll` stops
 * them, that is not an error, but there is no estimate. The status returned is that of the run.
 * `digits` must be zeroed or come from an earlier call. */
zw_status zw_run_digits(const zw_system *system, zw_state *state, zw_work *work,
                        const zw_run_options *options, zw_run_summary *summary, zw_digits *digits,
                        zw_error *error);
void zw_digits_free(zw_digits *digits);

/* ---- The verdict -------------------------------------------------------------------------- */

typedef enum zw_run_verdict_kind {
    ZW_RUN_PROVED,
    ZW_RUN_ESTIMATED,
    ZW_RUN_ASSUMED, /* where the equations leave a choice, or the initial state was changed */
    ZW_RUN_SURVIVED /* what went wrong without ending the run */
} zw_run_verdict_kind;

const char *zw_run_verdict_name(zw_run_verdict_kind kind); /* "proved" */

typedef struct zw_run_verdict_line {
    zw_run_verdict_kind kind;
    const char *name; /* the subject, for programs: "steps", "digits", "impacts", ... */
    double value;     /* a count or an error, by name: see docs/cli.md */
    char text[240];   /* a clause for people, without a full stop */
} zw_run_verdict_line;

enum { ZW_RUN_VERDICT_LINES = 24 };

/* Lines are sorted by kind, in the order of that enum. */
typedef struct zw_run_verdict {
    int clean; /* nothing was assumed, nothing went wrong, and some digit can be trusted */
    int count;
    zw_run_verdict_line line[ZW_RUN_VERDICT_LINES];
} zw_run_verdict;

/* The verdict on a run. `assembly` (of its initial state) and `digits` may be NULL. */
void zw_run_conclude(const zw_system *system, const zw_assembly *assembly,
                     const zw_run_summary *summary, const zw_digits *digits,
                     zw_run_verdict *verdict);

/* Joins all lines of a kind, after its name: "proved: 213 steps without unseen events, constraints
 * to 3e-15". Returns the length; 0: there are none. */
int zw_run_verdict_text(const zw_run_verdict *verdict, zw_run_verdict_kind kind, char *text,
                        size_t size);

/* Files written from this recording contain this verdict; without this call they contain one made
 * from the summary alone. */
void zw_record_conclude(zw_record *record, const zw_run_verdict *verdict);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif

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

/* The error of a final state, as two companion motions suggest it: with smaller tolerances or
 * shorter steps. Sizes are the largest values that a coordinate or speed had during the run, and
 * digits count from there: 3 digits of a coordinate that moves between -2 and 2 is an error of at
 * most 0.002. */
typedef struct zw_digits {
    int known;         /* 0: there is no estimate, and `note` says why */
    int count;         /* coordinates, and after them speeds */
    double *error;     /* [count] estimated, absolute */
    double *size;      /* [count] */
    int *digits;       /* [count] 0 to 15; -1: it is zero all the time, but for round-off */
    int worst;         /* index of the least digits; -1: all are zero */
    double time_error; /* of the end, where an event ended the run */
    double order; /* fixed steps: of convergence as observed, log2 of the ratio of differences */
    int differs;  /* something happened more or less often in a companion: */
    int event;    /* this event; -1: impacts */
    long here, there;
    int ended;      /* the run and a companion were ended by different events, or by none */
    char note[320]; /* why not, or why less; may be empty */
} zw_digits;

/* zw_run, and the digits of the state that it leads to. The companions begin where the run did,
 * take two to seven times as long, and are not shown to the observer; `poll` may stop them, which
 * is no error: there is no estimate then. The answer is that of the run. `digits` must be zero or
 * from an earlier call. */
zw_status zw_run_digits(const zw_system *system, zw_state *state, zw_work *work,
                        const zw_run_options *options, zw_run_summary *summary, zw_digits *digits,
                        zw_error *error);
void zw_digits_free(zw_digits *digits);

/* ---- The verdict -------------------------------------------------------------------------- */

typedef enum zw_run_verdict_kind {
    ZW_RUN_PROVED,
    ZW_RUN_ESTIMATED,
    ZW_RUN_ASSUMED, /* where the equations leave a choice, or the start was changed */
    ZW_RUN_SURVIVED /* what went wrong, and the run went on */
} zw_run_verdict_kind;

const char *zw_run_verdict_name(zw_run_verdict_kind kind); /* "proved" */

typedef struct zw_run_verdict_line {
    zw_run_verdict_kind kind;
    const char *name; /* of what it is about, for programs: "steps", "digits", "impacts", ... */
    double value;     /* its number: a count, an error; see docs/cli.md */
    char text[240];   /* a clause for people, without a full stop */
} zw_run_verdict_line;

enum { ZW_RUN_VERDICT_LINES = 24 };

/* By kind, in the order of that enum. */
typedef struct zw_run_verdict {
    int clean; /* nothing was assumed, nothing went wrong, and some digit can be trusted */
    int count;
    zw_run_verdict_line line[ZW_RUN_VERDICT_LINES];
} zw_run_verdict;

/* What a run is worth. `assembly` (of its start) and `digits` may be NULL. */
void zw_run_conclude(const zw_system *system, const zw_assembly *assembly,
                     const zw_run_summary *summary, const zw_digits *digits,
                     zw_run_verdict *verdict);

/* All lines of a kind in one, with "; " between, after the name of the kind: "proved: 213 steps
 * without unseen events, constraints to 3e-15". Returns the length; 0: there is none. */
int zw_run_verdict_text(const zw_run_verdict *verdict, zw_run_verdict_kind kind, char *text,
                        size_t size);

/* Files of this recording carry this verdict; without this call, that of the summary alone. */
void zw_record_conclude(zw_record *record, const zw_run_verdict *verdict);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif

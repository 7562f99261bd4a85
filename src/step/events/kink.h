/* Kinks of formulas: where abs, sign, floor, min, max and conditions change their branch.
 *
 * A step requires a smooth field, also at stages beyond a kink. So each kink that the motion
 * depends on has a side (expr/tape.h), which all tapes use from the start of a step to its end; and
 * each is a guard: the step ends where its function s (a - b) falls through zero, s being the side.
 * A floor has two, a - m and m + 1 - a. Kinks with the same a and b are merged. */
#ifndef ZW_STEP_KINK_H
#define ZW_STEP_KINK_H

#include "expr/enclose.h"
#include "step/motion.h"

typedef struct step_kink {
    expr_id a, b; /* b: EXPR_NONE stands for zero */
    int is_floor;
    expr_id node; /* one of the nodes that have it */
    int of_time;  /* it depends on time alone */
    double side;  /* NAN: the formula decides */
} step_kink;

typedef struct step_kinks {
    step_motion *motion;
    int count;
    step_kink *kink;
    int blind;       /* some relevant ones are not in the list and not watched */
    int latch;       /* the system's tapes use the sides */
    double *scratch; /* [capacity] */
    int capacity;    /* largest number of kinks of a tape */

    /* a and b of each kink, with separate registers */
    expr_tape *tape; /* NULL: no kinks */
    double *registers, *out;
    expr_jet *jets, *jet_out; /* for rates */
    expr_jet *y;              /* [size] */
    double *rate;             /* [size] y' */
    int *order;               /* [count] sorted so that none depends on a later one */
    double *before;           /* [count] a - b before a crossing */
    int *comes;               /* [count] 1: it is crossed, 2: at the upper end */
} step_kinks;

/* The kinks that the motion depends on. `alone`: for methods with their own steps (impulse, soft),
 * whose tapes do not use the sides, only kinks of time alone are listed. */
zw_status kinks_create(step_kinks *kinks, step_motion *motion, int alone, zw_error *error);
void kinks_free(step_kinks *kinks);

/* Makes the system's tapes use the sides, or stop using them. */
void kinks_latch(const step_kinks *kinks);
void kinks_release(const step_kinks *kinks);
/* Reserves memory for the kinks of another tape; then: the sides of those that are in the list. */
zw_status kinks_meet(step_kinks *kinks, const expr_tape *tape, zw_error *error);
/* The sides of a tape's kinks; NAN: not in the list. The graph may be an extended copy of the
 * system's: a derivative has the kinks of what it was derived from. */
void kinks_sides(const step_kinks *kinks, const expr_graph *graph, const expr_tape *tape,
                 double *side);
void kinks_latch_tape(const step_kinks *kinks, const expr_tape *tape, double *registers);

/* Decides all sides from the state; for those exactly at zero, by where the motion leads. */
zw_status kinks_decide(step_kinks *kinks, double t, const double *y, zw_error *error);
/* Kinks guard[i] / 2 have come to zero from their sides or, for a floor, at its lower or upper end:
 * guard[i] % 2. Others whose functions jump are updated too. */
zw_status kinks_cross(step_kinks *kinks, const int *guard, int count, double t, const double *y,
                      zw_error *error);

/* Kink k, which was at zero, is on this side; others are updated as well. */
zw_status kinks_take(step_kinks *kinks, int k, double side, double t, const double *y,
                     zw_error *error);

/* a - b of every kink, or a for floors, in out[2 k]; with the current sides. */
void kinks_values(const step_kinks *kinks, double t, const double *y);
/* The same as jets, in jet_out[2 k]. */
void kinks_enclose(const step_kinks *kinks, const expr_jets *in);
/* How far from zero that of kink k may be if it rests there, with y known to this part of 1 + |y|.
 */
double kinks_rest(const step_kinks *kinks, int k, double t, const double *y, double part);

/* Does a formula of the motion jump at kink k, or does it only bend? Integrals over the motion are
 * not looked at. */
int kinks_jumps(const step_kinks *kinks, int k);

/* Kink k changes again and again at this instant: an error with its place and advice. */
zw_status kinks_refuse(const step_kinks *kinks, int k, double t, zw_error *error);

/* Does the motion depend on any kink? */
int kinks_exist(const zw_system *system);

#endif

/* Kinks of formulas: where abs, sign, floor, min, max and conditions change their branch.
 *
 * A step must see a smooth field, also at stages that lie beyond a kink. So each kink that the
 * motion depends on has a side (expr/tape.h), given to all tapes at the start of a step and kept to
 * its end; and each is a guard: the step ends where its function s (a - b) falls through zero, s
 * being the side. Of floor there are two, a - m and m + 1 - a. Kinks with the same a and b are one.
 */
#ifndef ZW_STEP_KINK_H
#define ZW_STEP_KINK_H

#include "expr/enclose.h"
#include "step/motion.h"

typedef struct step_kink {
    expr_id a, b; /* b: EXPR_NONE where zero is meant */
    int is_floor;
    expr_id node; /* one of those that have it */
    int of_time;  /* nothing else moves it */
    double side;  /* NAN: it decides by itself */
} step_kink;

typedef struct step_kinks {
    step_motion *motion;
    int count;
    step_kink *kink;
    int blind;       /* some that matter are not in the list and are not watched */
    int latch;       /* sides are given to the tapes of the system */
    double *scratch; /* [capacity] */
    int capacity;    /* most kinks of a tape */

    /* a and b of each kink, with registers of its own */
    expr_tape *tape; /* NULL: no kinks */
    double *registers, *out;
    expr_jet *jets, *jet_out; /* for rates */
    expr_jet *y;              /* [size] */
    double *rate;             /* [size] y' */
    int *order;               /* [count] none depends on a later one */
    double *before;           /* [count] where something is crossed: a - b */
    int *comes;               /* [count] 1: it is crossed, 2: at the upper end */
} step_kinks;

/* Those that the motion depends on. `alone`: steps are not ours (impulse, soft), so that sides are
 * not given and kinks of time alone are listed. */
zw_status kinks_create(step_kinks *kinks, step_motion *motion, int alone, zw_error *error);
void kinks_free(step_kinks *kinks);

/* Give the sides to the system's tapes, and take them back. */
void kinks_latch(const step_kinks *kinks);
void kinks_release(const step_kinks *kinks);
/* Room for the kinks of another tape; then the sides of those that are in the list. */
zw_status kinks_meet(step_kinks *kinks, const expr_tape *tape, zw_error *error);
/* The sides of a tape's kinks; NAN: not in the list. The graph may be a copy of the system's that
 * has grown: a derivative has the kinks of what it derives from. */
void kinks_sides(const step_kinks *kinks, const expr_graph *graph, const expr_tape *tape,
                 double *side);
void kinks_latch_tape(const step_kinks *kinks, const expr_tape *tape, double *registers);

/* All sides from the state; of those exactly at zero, where the motion leads. */
zw_status kinks_decide(step_kinks *kinks, double t, const double *y, zw_error *error);
/* Kinks have come to zero, guard[i] / 2 of them, from their sides or, of a floor, at its lower or
 * upper end: guard[i] % 2. Others follow whose functions jump with that. */
zw_status kinks_cross(step_kinks *kinks, const int *guard, int count, double t, const double *y,
                      zw_error *error);

/* Kink k, which was at zero, is on this side; others follow as well. */
zw_status kinks_take(step_kinks *kinks, int k, double side, double t, const double *y,
                     zw_error *error);

/* a - b of every kink, of floors a, in out[2 k]; with the sides as they are. */
void kinks_values(const step_kinks *kinks, double t, const double *y);
/* The same as jets, in jet_out[2 k]. */
void kinks_enclose(const step_kinks *kinks, const expr_jets *in);

/* Kink k changes at this instant again and again: an error that says where and what to write. */
zw_status kinks_refuse(const step_kinks *kinks, int k, double t, zw_error *error);

/* Does the motion depend on any? */
int kinks_exist(const zw_system *system);

#endif

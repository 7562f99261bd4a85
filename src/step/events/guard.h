/* What ends a smooth piece of motion, as functions for step/events/event.h:
 *
 *   each event of the model     the root of each comparison in its condition (guard_condition.c)
 *   each one-sided constraint   open: the gap; closed: the force that presses
 *   each constraint with friction   sliding: the speed along its direction; stuck: what friction
 *                                   could hold beyond what it does hold; sliding, and held from
 *                                   both sides: the normal force, as long as its sign stays
 *   each kink of a formula      how far it is on its side (kink.h); floor: two
 *
 * All but the model's events are guards, positive until they fire. Gaps, speeds of sliding, kinks
 * and events are formulas, so steps are proved free of them; forces need a solve, and are sampled,
 * and so is all that is seen of bodies. */
#ifndef ZW_STEP_GUARD_H
#define ZW_STEP_GUARD_H

#include "step/events/event.h"
#include "step/events/kink.h"
#include "step/motion.h"

typedef enum guard_kind { GUARD_GAP, GUARD_SLIP, GUARD_SIGN } guard_kind;

typedef struct step_guards {
    step_motion *motion;
    int count;
    int parts;           /* the first ones are what conditions of events compare, */
    int others;          /* then those of constraints, then those of kinks */
    int events;          /* of the model */
    int in_steps;        /* contacts are in the steps: what they bring to zero is decided there */
    const expr_id *root; /* [parts] */
    int *constraint;     /* [others] whose guard it is */
    int *what;           /* [others] guard_kind */
    int *kink;        /* [count - parts - others] whose guard it is: 2 * kink, + 1: its upper end */
    int *crossing;    /* the same, of those that are crossed at an instant */
    int forces;       /* some event or mode needs accelerations and multipliers */
    double tolerance; /* of steps: forces and speeds of sliding are known to it */
    double t;         /* where the guards were evaluated last, */
    const double *y;
    step_kinks kinks;
    step_events *scan;
    int *component; /* of y that formulas read */

    /* Events, gaps and speeds of sliding as one tape; NULL: there are none */
    expr_tape *tape;
    int *at; /* [parts + others] its first output; -1: it is no formula */
    double *registers;
    expr_jet *jets, *out;

    /* Which conditions hold: guard_condition.c */
    int *part_of; /* [parts] the event that it is a part of */
    int *holds;   /* [parts] */
    int *held;    /* [events] the whole, when last seen */
    int *truth;   /* of the parts of one event */
    int *happens; /* [events + others + kinks] what guards_conclude found */

    /* Comparisons that rest at zero: guard_rest.c */
    int *rests;       /* [parts] it did when it was armed */
    expr_jet *around; /* of places, speeds, accelerations, forces, as formulas see them:  */
    int places, speeds;
    expr_jet *rest_jets, *rest_out; /* of the tape of PART_EVENTS */
    double *near;                   /* [size] */
} step_guards;

/* NULL-like (count 0, scan NULL) if the model has nothing to watch. events_only: contacts and
 * friction are watched by others. */
zw_status guards_create(step_guards *guards, step_motion *motion, int events_only, double tolerance,
                        zw_error *error);
void guards_free(step_guards *guards);

/* Arm the events (event.h), and see which conditions hold. */
zw_status guards_arm(step_guards *guards, const stepper *at, step_event_start start,
                     zw_error *error);
/* Of the functions that fired in a scan, or began to hold when `armed`, what happens: *list has
 * events, then events + k for guard k of the constraints and kinks. It may be nothing. */
int guards_conclude(step_guards *guards, int fired, int armed, const int **list);

/* Where a smooth piece begins: the branches of formulas, and the signs of normal forces that are
 * not known yet. Until they are released, as before the work is read from outside,
 * formulas and friction have these. */
zw_status guards_decide(step_guards *guards, double t, const double *y, zw_error *error);
void guards_release(const step_guards *guards);
int guards_have_branches(const step_guards *guards); /* any at all? */
/* Forces have jumped at a kink, whose branches are known: the signs of normal forces now. */
zw_status guards_see_signs(step_guards *guards, double t, const double *y, zw_error *error);
/* Do forces contradict the modes, that a contact presses or that friction holds it? */
zw_status guards_are_denied(step_guards *guards, double t, const double *y, int *denied,
                            zw_error *error);
/* Guard k of the constraints has fired: 1 if it was a sign, which is turned. */
int guards_turn_sign(const step_guards *guards, int k);

/* For guard.c. 0: out of memory */
int guards_make_conditions(step_guards *guards);
int guards_make_rest(step_guards *guards);
/* Fill `rests`, and `slack` of those that do, or may in a step. */
void guards_find_rest(const step_guards *guards, double *slack);
int guards_is_at_rest(const step_guards *guards, int part); /* since then? */
zw_status guards_look_at_rest(const step_guards *guards, double t, const double *y, double *g,
                              zw_error *error);

#endif

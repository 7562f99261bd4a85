/* What ends a smooth piece of motion, as functions for step/events/event.h:
 *
 *   each event of the model     its root, in its own direction
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
    int events;      /* the first ones are the model's, */
    int others;      /* then those of constraints, then those of kinks */
    int *constraint; /* [others] whose guard it is */
    int *what;       /* [others] guard_kind */
    int *kink;       /* [count - events - others] whose guard it is: 2 * kink, + 1: its upper end */
    int forces;      /* some event or mode needs accelerations and multipliers */
    double tolerance; /* of steps: forces and speeds of sliding are known to it */
    double t;         /* where the guards were evaluated last, */
    const double *y;
    step_kinks kinks;
    step_events *scan;
    int *component; /* of y that formulas read */

    /* Events, gaps and speeds of sliding as one tape; NULL: there are none */
    expr_tape *tape;
    int *at; /* [events + others] its first output; -1: it is no formula */
    double *registers;
    expr_jet *jets, *out;

    /* Events that rest at zero: guard_rest.c */
    int *rests;       /* [events] it did when it was armed */
    expr_jet *around; /* [size] of y */
    double *near;     /* [size] */
} step_guards;

/* NULL-like (count 0, scan NULL) if the model has nothing to watch. events_only: contacts and
 * friction are watched by others. */
zw_status guards_create(step_guards *guards, step_motion *motion, int events_only, double tolerance,
                        zw_error *error);
void guards_free(step_guards *guards);

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

/* The kink that left zero in the last step without being on any side before, and its side; -1:
 * none. The step was taken on neither branch. */
int guards_kink_left(const step_guards *guards, int *side);

/* For guard.c. guards_make_rest: 0: out of memory */
int guards_make_rest(step_guards *guards);
/* Fill `rests`, and `slack` of those that do; `kind` of the events is known. */
void guards_find_rest(const step_guards *guards, const int *kind, double *slack);
int guards_is_at_rest(const step_guards *guards, int event); /* since then? */
zw_status guards_look_at_rest(const step_guards *guards, double t, const double *y, double *g,
                              zw_error *error);

#endif

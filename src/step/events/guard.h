/* The functions whose zeros end a smooth piece of motion, for step/events/event.h:
 *
 *   each event of the model the root of each comparison in its condition (guard_condition.c) each
 *   one-sided constraint open: the gap; closed: the normal force each constraint with friction
 *   sliding: the speed along its direction; sticking: what friction
 *                                   could hold beyond its present force; sliding, and held from
 *                                   both sides: the normal force, as long as its sign stays
 *   each kink of a formula its distance from the kink (kink.h); two for floor
 *
 * All but the model's events are guards, positive until they fire. Gaps, sliding speeds, kinks and
 * events are formulas, so steps are proved free of their zeros; forces need a solve and are
 * sampled, and so is everything that depends on bodies. */
#ifndef ZW_STEP_GUARD_H
#define ZW_STEP_GUARD_H

#include "step/events/event.h"
#include "step/events/kink.h"
#include "step/motion.h"

#define GUARD_ROUND 0x1p-44 /* round-off of what constraints hold, relative to 1 + its size */

typedef enum guard_kind { GUARD_GAP, GUARD_SLIP, GUARD_SIGN } guard_kind;

typedef struct step_guards {
    step_motion *motion;
    int count;
    int parts;    /* the first ones are the comparisons in conditions of events, */
    int others;   /* then those of constraints, then those of kinks */
    int events;   /* of the model */
    int in_steps; /* steps contain contacts: functions that they bring to zero are decided there */
    const expr_id *root; /* [parts] */
    int *constraint;     /* [others] the constraint of each guard */
    int *what;           /* [others] guard_kind */
    int *kink; /* [count - parts - others] the kink of each guard: 2 * kink, + 1: its upper end */
    int *crossing;    /* the same for those crossed at an instant */
    int forces;       /* some event or mode needs accelerations and multipliers */
    double tolerance; /* of steps: the accuracy of forces and sliding speeds */
    double t;         /* where the guards were evaluated last, */
    const double *y;
    step_kinks kinks;
    step_events *scan;
    int *component; /* components of y that formulas read */

    /* Events, gaps and sliding speeds as one tape; NULL: there are none */
    expr_tape *tape;
    int *at; /* [parts + others] its first output; -1: it has no formula */
    double *registers;
    expr_jet *jets, *out;

    /* Which conditions hold: guard_condition.c */
    int *part_of;  /* [parts] the event to which it belongs */
    int *holds;    /* [parts] */
    int *held;     /* [events] the whole condition, when last evaluated */
    int *compared; /* values of the comparisons of one event */
    int *happens;  /* [events + others + kinks] result of guards_conclude */

    /* Comparisons that rest at zero: guard_rest.c */
    int *rests;       /* [parts] whether it did when it was armed */
    expr_jet *around; /* of coordinates, speeds, accelerations, forces, as formulas see them: */
    int places, speeds;
    expr_jet *rest_jets, *rest_out; /* of the tape of PART_EVENTS */
    double *near;                   /* [size] */
} step_guards;

/* Empty (count 0, scan NULL) if the model has nothing to watch. events_only: contacts and friction
 * are handled elsewhere. */
zw_status guards_create(step_guards *guards, step_motion *motion, int events_only, double tolerance,
                        zw_error *error);
void guards_free(step_guards *guards);

/* Arms the events (event.h), and determines which conditions hold. */
zw_status guards_arm(step_guards *guards, const stepper *at, step_event_start start,
                     zw_error *error);
/* Determines what happens from the functions that fired in a scan, or began to hold when `armed`:
 * *list has events, then events + k for guard k of the constraints and kinks. It may be empty. */
int guards_conclude(step_guards *guards, int fired, int armed, const int **list);

/* At the start of a smooth piece: decides the branches of formulas, and the unknown signs of normal
 * forces. Formulas and friction use them until they are released, for example before the work is
 * read from outside. */
zw_status guards_decide(step_guards *guards, double t, const double *y, zw_error *error);
void guards_release(const step_guards *guards);
int guards_have_branches(const step_guards *guards); /* are there any? */
/* Forces have jumped at a kink, whose branches are known: determines the signs of normal forces
 * again. */
zw_status guards_see_signs(step_guards *guards, double t, const double *y, zw_error *error);
/* Do forces contradict the modes, that is, does a closed contact pull or a sticking one exceed its
 * friction? */
zw_status guards_are_denied(step_guards *guards, double t, const double *y, int *denied,
                            zw_error *error);
/* Guard k of the constraints has fired: 1 if it was a sign, which is reversed. */
int guards_turn_sign(const step_guards *guards, int k);

/* For the search: all of them, g[count], and comparison k alone. */
zw_status guards_evaluate(void *guards, double t, const double *y, double *g, zw_error *error);
zw_status guards_evaluate_one(void *guards, int k, double t, const double *y, double *g,
                              zw_error *error);

/* For guard.c. 0: out of memory */
int guards_make_conditions(step_guards *guards);
int guards_make_rest(step_guards *guards);
/* Fills `rests`, and `slack` of those that rest, or may in a step. */
void guards_find_rest(const step_guards *guards, double *slack);
int guards_is_at_rest(const step_guards *guards, int part); /* still at rest? */
zw_status guards_look_at_rest(const step_guards *guards, double t, const double *y, double *g,
                              zw_error *error);

#endif

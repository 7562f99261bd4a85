/* Sleeping islands: sleep.c. Everything here is used by impulse_step only. */
#ifndef ZW_STEP_SLEEP_H
#define ZW_STEP_SLEEP_H

#include "step/impulse/impulse.h"
#include "system/subset/subset.h"

typedef struct step_sleep step_sleep;
struct step_sleep {
    subset_groups groups;
    int params, kept_capacity;
    int at;               /* where this part of the memory begins */
    int is_made;          /* the following is for the groups with awake[], and stamp: */
    unsigned char *awake; /* [groups] */
    double stamp;
    subset part;
    zw_work *work; /* NULL where all sleep */
    step_impulse *inner;
    double *q0, *v0, *q1, *v1; /* [nq], [n + activations] of what is awake */
    double *kept;              /* [kept_capacity] of the inner one */
    double *fastest;           /* [groups] */
    double *speed;             /* [bodies of the tree] */
    int *link;                 /* [groups] */
    unsigned char *drops;      /* [groups] falls asleep now */
    double *mode;              /* [constraints] */
    contact_list *rest;        /* the contacts among sleeping bodies: sleep_rest.c */
    int rest_known;            /* it is up to date, or there are none */
    const double *twin[2];     /* two q, followed by their v, that differ in `part` alone */
    void *memory;
};

/* impulse_create for a system with sleep: a stepper that delegates the steps to one for what is
 * awake. */
step_impulse *sleep_create(const zw_system *system, zw_work *work, zw_error *error);
void sleep_free(step_sleep *z);

/* impulse_step of a system with sleep. Where q1 and v1 are q0 and v0 themselves, or where a run
 * alternates between the same two arrays, which change only together, only the entries of awake
 * bodies are written. `sum` (or NULL) is the state_sum of the state that holds them: it is
 * updated. */
zw_status sleep_step(step_impulse *s, double t, double h, const double *q0, const double *v0,
                     double *q1, double *v1, uint64_t *sum, zw_error *error);
/* Those of constraints that are awake; the others are unchanged. */
void sleep_modes(const step_impulse *s, double *mode, uint64_t *sum);
/* Passes the settings of impulse_set_... to an inner stepper. */
void sleep_tell(const step_impulse *s, step_impulse *inner);
/* The next step is from another state than the one that the last step led to. */
void sleep_leave(step_impulse *s);
/* The same, with all bodies awake: where a run repeats its last step, or has moved elsewhere (as
 * far as the awake bodies show it); or where an event has set something. */
void sleep_notice(step_impulse *s, const double *q, const double *v);
void sleep_disturb(step_impulse *s);
/* Are the awake bodies where the last step left them? */
int sleep_is_left(const step_impulse *s, const double *q, const double *v);

/* ---- sleep_watch.c: after a step (and sleep_modes), of what is awake ------------------------- */

int sleep_is_finite(const step_impulse *s);
void sleep_violation(step_impulse *s, double t, double violation[2]); /* as system_violation */
void sleep_note_slip(const step_impulse *s);                          /* as system_note_slip */

/* ---- sleep_rest.c: contacts among sleeping bodies, for the list of the work ------------------ */

int sleep_hides(const step_impulse *s); /* some body slept in the last step, and may touch */
zw_status sleep_list_rest(step_impulse *s, double t, double h, const double *q, const double *v,
                          zw_error *error);

/* ---- sleep_memory.c -------------------------------------------------------------------------- */

double *sleep_ours(const step_impulse *s); /* this part of s->kept; the stamp comes first */
double *sleep_clock(const step_impulse *s, int group); /* its two numbers */
int sleep_is_asleep(const step_impulse *s, int group);
/* Updates the stamp for a group that has fallen asleep or woken; `clock` is its first number while
 * asleep. */
void sleep_stamp(const step_impulse *s, int group, double clock);
void sleep_forget(step_impulse *s);
int sleep_is_sound(const step_impulse *s, const double *v);
void sleep_wake(step_impulse *s, int group); /* and all of its island */
void sleep_note_controls(step_impulse *s);   /* bodies whose control changes wake */
/* Copies s->kept into the numbering of the inner stepper, and back. */
void sleep_hand_in(const step_impulse *s);
void sleep_hand_out(step_impulse *s);

#endif

/* Internals of zw_run, shared by run.c (the loop) and watch.c (measurements and samples). */
#ifndef ZW_STEP_RUN_H
#define ZW_STEP_RUN_H

#include "step/events/guard.h"
#include "step/events/pulse.h"
#include "step/impulse/impulse.h"
#include "step/lagrange.h"
#include "step/motion.h"
#include "step/ode/ode.h"
#include "step/soft_step.h"
#include "step/whole.h"

typedef struct run run;

/* Follows a run by dop853 or rk4: src/look/sensitivity. A status other than ZW_OK ends the run. */
typedef struct run_follower {
    /* The run is at its start, and everything has been decided there. */
    zw_status (*begin)(void *user, run *r, zw_error *error);
    /* One smooth step has been taken: from t_before to t of the stepper's view. */
    zw_status (*step)(void *user, run *r, zw_error *error);
    /* The run is at an event, `fired` are the guards; then the event has happened. */
    zw_status (*before)(void *user, run *r, const int *fired, int count, zw_error *error);
    zw_status (*after)(void *user, run *r, zw_error *error);
    void *user;
} run_follower;

struct run {
    const zw_system *system;
    zw_state *state;
    zw_work *work;
    zw_run_options options;
    zw_run_summary *summary;
    step_motion motion;
    step_guards guards;
    step_pulses pulses;
    int unwatched;          /* the last step may contain an unseen event */
    step_lagrange lagrange; /* for the variational methods */
    step_impulse *impulse;  /* for method impulse, else NULL */
    soft_problem *soft;     /* for method soft */
    stepper *stepper;
    double *y;        /* scratch, of the size of the motion's y */
    double *stage;    /* the same, for the motion */
    zw_state *sample; /* the state passed to the observer between steps */
    double *first;    /* [checks] their values at the start */
    double *reset;    /* [most resets of an event] scratch */
    double start;     /* time and work done at the start */
    double start_work;
    double soon; /* upper bound of the next step: guards could not be evaluated in a longer one */
    double last; /* the time of the last change, and the number of changes at that instant */
    int repeats;
    int jumped;       /* the last event changed speeds, forces or contacts */
    long shown;       /* samples so far */
    int unmeasured;   /* degrees of freedom stepped since the energy was last evaluated: watch.c */
    long output;      /* number of the next output time */
    int unseen;       /* the last step ended before it was searched for events */
    long undone;      /* number of steps that were repeated */
    int over, polled; /* it has ended early; because poll requested it */
    double node[4], margin[4]; /* the last ends of steps: time, and distance from a loss of rank */
    int nodes, leapt;          /* how many of them; the step before the last was a leap */
    int passed;                /* a position where rows lose rank is within the last four */
    system_stop stop;          /* poll, during a step */
    int quiet;                 /* steps of zw_step: only events are passed on */
    int goes_on;               /* it led to this state: the memory there is its own */
    const run_follower *follower; /* or NULL */
};

/* run.c: allocates what a run by r->options needs; starts at the state; takes steps until
 * options.time; writes the end into the state. */
zw_status run_create(run *r, zw_error *error);
zw_status run_begin(run *r, zw_error *error);
zw_status run_go_on(run *r, zw_error *error); /* it is at the state */
zw_status run_on(run *r, zw_error *error);
void run_free(run *r);
/* zw_run with an observer, or NULL. */
zw_status run_followed(const zw_system *system, zw_state *state, zw_work *work,
                       const zw_run_options *options, const run_follower *follower,
                       zw_run_summary *summary, zw_error *error);

/* happen.c: the stepper is at an event; `fired` are the guards. */
zw_status run_happen(run *r, const int *fired, int count, zw_error *error);
/* Events triggered by the last jump: may they happen? */
zw_status run_follows_jump(run *r, const int *fired, int count, zw_error *error);
zw_status run_note_slip(run *r, zw_error *error);

/* watch.c: adds these impacts to the summary. */
void run_note_impacts(run *r, const system_impact *made);
/* watch.c: solves the principle at the state, measures, and calls the observer. */
zw_status run_show(run *r, zw_sample_kind kind, int event, const zw_state *state, zw_error *error);
/* Passes on the output times up to and including `until`, from the dense output of the
 * last step. */
zw_status run_show_outputs(run *r, double until, zw_error *error);
/* The marks of the last step, and the output times between them; then the step is as it was. */
zw_status run_show_marks(run *r, zw_error *error);
/* Violation, certificate and energy at the current state of the integrator. */
zw_status run_measure_step(run *r, double t, const double *y, zw_error *error);

/* scan.c: finds what happens in the last step. `again`: it has been undone, and must be
 * repeated. */
zw_status run_scan(run *r, int *fired, int *again, zw_error *error);
/* Does the last step contain anything that its method has not seen? Then it is undone as well. */
zw_status run_scan_pulses(run *r, int *again, zw_error *error);
/* Count the last step as proved or not. */
void run_count_proved(run *r);
/* Have there been too many changes at this instant? */
int run_repeats(run *r, double t);

/* contacts.c: the contact forces at the start of a run by method impulse. */
zw_status run_try_contacts(run *r, zw_error *error);
int run_is_seen(const run *r); /* are its samples observed? */
/* The contacts of a first step with these options into work->touched, of no state. */
zw_status run_first_contacts(const zw_system *system, const zw_state *state, zw_work *work,
                             const zw_run_options *options, zw_error *error);

/* remember.c: stores in the state what the run knows at its end, for a next one to resume. */
void run_remember(run *r);
void run_forget(zw_state *state);
/* The same after a step of method impulse by zw_step: its part of the memory; whether it can
 * continue from it; the header, when steps begin and after each. The caller computes the digest. */
double *run_step_memory(const zw_system *system, zw_state *state);
int run_remembers_step(zw_state *state);
void run_begin_steps(const zw_system *system, zw_state *state);
void run_note_step(const zw_system *system, zw_state *state, const zw_run_options *plan);
/* forward.c: the accelerations, forces and contacts of the soft law at a state, whatever led there,
 * for steps of length h. */
zw_status run_look_softly(const zw_system *system, const zw_state *state, zw_work *work, double h,
                          zw_error *error);
/* And by Coulomb's law. */
zw_status run_forward_by_law(const zw_system *system, const zw_state *state, zw_work *work,
                             zw_error *error);
/* once.c: completes the options of zw_step. */
zw_status step_plan(const zw_system *system, const zw_state *state, const zw_run_options *options,
                    zw_run_options *plan, zw_error *error);
/* A step of the soft law without a stepper: the grid and its time that the state remembers (0: it
 * does not), and what it is to remember after the step. */
int run_soft_grid(const zw_system *system, zw_state *state, const zw_run_options *plan,
                  step_grid *grid, double *t);
void run_note_once(const zw_system *system, zw_state *state, const zw_run_options *plan);
void run_note_soft(const zw_system *system, zw_state *state, const zw_run_options *plan,
                   const step_grid *grid);
/* The same for rk4: what the state remembers, except the rates at its end (0: nothing that steps of
 * this plan and size can continue from). */
typedef struct run_fixed {
    double careful, rank, margin; /* step_motion's */
    const double *longest;        /* [m] */
    const double *grid;           /* [STEP_GRID_NUMBERS] */
    const double *low;            /* [size] */
} run_fixed;
int run_fixed_kept(const zw_system *system, zw_state *state, const zw_run_options *plan, int size,
                   run_fixed *kept);
void run_note_fixed(const zw_system *system, zw_state *state, const zw_run_options *plan,
                    const step_grid *grid, int size, const run_fixed *now);
int run_remembers(const run *r); /* r->stepper is there, and has not been started */
zw_status run_resume(run *r, zw_error *error);

/* options.c: fills in what the caller and the file leave open, and checks it. */
zw_status run_complete(const zw_system *system, const zw_run_options *given, double now,
                       zw_run_options *options, zw_error *error);

/* singular.c: adds to the error message of a run whether it ended near a singular position. */
void run_tell_singular(run *r, zw_error *error);
/* A step has been taken: was a singular position passed in the one before it? */
void run_note_margin(run *r);

/* once.c: the event that ended the last zw_step with this work, -1: none did. */
int step_stopped_by(const zw_work *work);

#endif

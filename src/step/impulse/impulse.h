/* Method impulse, the principle for velocities: a whole step of bodies at once. impulse.c has the
 * equations.
 *
 *     step_impulse *s = impulse_create(system, work, &error);
 *     impulse_step(s, t, h, q0, v0, q1, v1, &error);   s->gained: work of forces that are not
 *     impulse_free(s);                                 conserved
 *
 * Files: impulse.c the step; impulse_rounds.c its rounds; impulse_balance.c the equations and their
 * derivatives; impulse_chord.c Newton's method for all of them; impulse_rows.c constraints and
 * limits; impulse_work.c the energy; step/problem the kernel's problem and its matrix. */
#ifndef ZW_STEP_IMPULSE_H
#define ZW_STEP_IMPULSE_H

#include "step/impulse/impulse_parts.h"
#include "step/impulse/tolerances.h"
#include "step/once8/cones.h"
#include "step/problem/matrix.h"
#include "step/problem/problem.h"
#include "system/bodies/balance.h"

struct step_impulse;

/* An observer of how a step is taken, which changes nothing: look/rigid/rigid.c. */
typedef struct impulse_watch {
    void *user;
    /* A piece was solved, from q0, v0 to q1, v1, and may be taken. */
    void (*solved)(void *user, const struct step_impulse *s, const double *v1);
    /* The last of them is accepted. `hits`: it ends where something meets; points are
     * those at q1. */
    void (*taken)(void *user, const struct step_impulse *s, int hits);
    /* An impact at q1 by s->touch.law; s->touch.listed has the blocks of its points. */
    void (*impact)(void *user, const struct step_impulse *s);
} impulse_watch;

typedef struct step_impulse {
    const zw_system *system;
    zw_work *work;           /* its sweeps are those of q1, u */
    impulse_problem problem; /* of the step */
    impulse_problem aside;   /* and of the speeds after it */

    /* The step being taken: from (q0, v0) at time t over h. */
    double t, h;
    double fall;  /* the time for which forces act until the speeds are u */
    double theta; /* where impulses act and momenta are taken. 0: in the middle, 1: at the end */
    double sigma; /* where forces are taken. 0: in the middle of the step, 1: at its end; */
    int stiffest, equally_stiff; /* because of this dof; another one has it too */
    double known[2];             /* impulse_again.c: theta and sigma of the piece */
    double *q0, *v0;             /* [nq], [n] */
    double *first;               /* [n] v0 of the whole step, if it is taken in pieces */
    double *u;                   /* [n] the speed that leads from q0 to q1: the unknown */
    double *best;                /* [n] the iterate with the least residual so far */
    double *q1;                  /* [nq] q0 (+) h u */
    double *q_other;             /* [nq] where momenta are taken, then where impulses act */
    double *q_force;             /* [nq] where forces are taken */
    double *begin;               /* sweeps of q0, and its M; */
    double *q_begin; /* [nq] the coordinates of its poses and inertias: impulse_see_start */
    double *middle;  /* sweeps where momenta are taken, with the speeds u, */
    double *place;   /* and those of q0 (+) theta h u, where the impulses act, if theta > 0 */
    double *P0;      /* [bodies][6] the momenta at (q0, v0), */
    double *P1;      /* and those of u, as used in the balance */
    double *F;       /* [bodies][6] scratch */

    /* The balance at u. */
    double *r;       /* [n] change of momentum minus the impulses of the forces */
    double *force;   /* [n] of springs, dampers and motors */
    double *Q;       /* [n] the part without a potential */
    double *pull;    /* [lengths] forces of motors on each */
    double *given;   /* [motors] their controls or activations, */
    double *rate;    /* rates, */
    bodies_law *law; /* and laws: the force before limits, and its derivatives */
    int aims;        /* number of entries of work->aim, for the motor evaluated last */
    double *held;    /* [n] derivatives of motors that are not in H, on its diagonal */
    double drift;    /* dV/dt of formulas that depend on time */
    double *still;   /* [n] zeros */
    double *push;    /* [n] A' lambda */
    double *other;   /* [n] scratch */
    double *
        phi; /* [m] rows of constraints at q1: values, rates at rest, and in the system's pattern */
    double *psi, *b, *A;
    double *turn;      /* [m] of the first ones: impulse_quick.c */
    double *A0, *psi0; /* the rows where impulses act */
    double *act0;      /* [activations] of motors at q0, */
    double *act;       /* and at the end of the step */

    /* Derivatives of the balance. */
    impulse_matrix H; /* symmetric part, known in closed form */
    impulse_stiff stiff;
    double *U;  /* n x n: LU factors of the full matrix; NULL: too large */
    int *pivot; /* [n] */
    int with_N;
    impulse_chord chord;
    impulse_cones cones;
    int plain; /* the step was solved by them alone: it leaves no memory */

    int *side; /* [motors][2], [lengths] whether a force is below (-1), within (0) or above (1) its
                  range, and shall stay so: impulse_again.c */
    int keeps_side;
    int *joined; /* [motors] it has reached its limits in this step, */
    int *boxed;  /* and its force is a multiplier with limits, */
    int changed; /* a different one than before, */
    int *pulls;  /* [lengths] number of motors that act on it, */
    int *loose;  /* and number of those without multipliers */
    impulse_limits limits;
    impulse_locks locks;
    int *in_reach; /* [m] one-sided rows that take part in this step; -1: will, as they are in
                      contact */

    impulse_contacts touch;

    double close;         /* relative residual of the balance at which the rounds end */
    int sharp;            /* and speeds at the end shall be as accurate as the kernel makes them */
    double accuracy;      /* certificate required of contacts; 0: as good as possible */
    double kinetic;       /* of v0 in the metric H, if known; -1: not yet */
    int sees_end;         /* `begin` has the sweeps of (q1, u) */
    double gained;        /* after a step: work of motors, dampers, friction, drives and impacts */
    double driven;        /* the part done by forces and drives in the last piece of the step */
    double gained_before; /* the current flight */
    double late; /* after a step: the time from landings in it to its end; 0: they were located */
    int slow;    /* after a step: slow landings in it are at the ends of its pieces */
    int linear, coarse; /* a piece of it used one linearisation; had sigma > 0 */
    int turned;         /* after a step: the sliding of a contact or joint has reversed in it */
    long impacts;       /* after a step: the number of impacts in it, */
    double impact_loss; /* and the energy lost by them */
    double residual;    /* after a step: relative residual of the balance */
    int rounds;         /* of the last step */
    double extent;      /* of the sweeps in `begin`: impulse_extent */
    int composed;       /* the sweeps of q_begin include composite inertias */
    int sees_q1;        /* those of the work are of q1, with composite inertias */
    int rests;          /* it continues with the forces of the step before, to round-off */
    int sure;           /* it is proved that nothing passed through anything in it */
    int calm;           /* nothing moves farther in it than its thickness */
    int may_be_shorter; /* rather than taken with rounds, where one linearisation is not enough */
    int may_be_halved;  /* the current step, if its solution is not the intended one */
    int last_resort;    /* it is accepted as well as it can be solved; 1: with fast bodies */
    int missed; /* the equations of the last piece are satisfied less accurately than required */
    int halved, inexact;     /* after a step: it was taken in pieces; a part of it is inaccurate */
    double failed_work;      /* operations of failed solves in this step */
    int rough;               /* the step began with one linearisation */
    int overlaps;            /* shapes may overlap at the start of the step: impulse_part.c */
    int parts;               /* they did, or this is the first step */
    int looks;               /* no step has been taken: */
    impulse_overlap overlap; /* overlaps before the first */
    double *trend;           /* [n] accelerations of the last piece: impulse_extrapolate, */
    double trend_time;       /* and the time in which they were seen */
    double *steady;          /* [n] forces of motors that are constant over the step */
    double *unbalanced;      /* [n] the remaining residual of the balance */
    double *excess; /* [n] the squares by which that is too large; used for islands that have
                       converged */
    int has_trend;  /* the previous step has left some */
    double *kept;   /* [kept_capacity] its memory for the next: impulse_memory.c */
    int kept_capacity, kept_used;
    uint64_t left, sum; /* step/once.c: digest and sum of the state that the last step led to */
    const impulse_watch *watch; /* NULL: none */
    struct step_sleep *sleep;   /* not NULL: it takes the steps, and only `kept` above is used */
    struct step_split *split;   /* not NULL: it takes those that have several islands */
    struct step_chain *chain;   /* not NULL: it takes the steps, in pieces of long chains */
    int welds; /* number of first constraints whose violation is removed after every step: chain.c
                */
    double *ways; /* [geoms] bounds of how far they have moved in the step; NULL: not needed */
    void *memory;
} step_impulse;

step_impulse *impulse_create(const zw_system *system, zw_work *work, zw_error *error);
void impulse_free(step_impulse *s);
/* The accuracy of the rounds: 0: to round-off; 1: only the first one. */
void impulse_set_tolerance(step_impulse *s, double tolerance);
/* The certificate required of contacts, call after setting the tolerance; 0: as good as
 * possible. */
void impulse_set_accuracy(step_impulse *s, double accuracy);
void impulse_set_contact(step_impulse *s, zw_contact_law law); /* coulomb or convex */
/* All of that, and whether steps have no memory. */
void impulse_set_plan(step_impulse *s, const zw_run_options *plan);
/* In v0 and v1 the activations follow the speeds. */
zw_status impulse_step(step_impulse *s, double t, double h, const double *q0, const double *v0,
                       double *q1, double *v1, zw_error *error);
/* For the stepper of an island (step/split/split.h): bounds of the ways of geoms are summed in
 * s->ways from here on. 0: no memory. And from the start of a step on. */
int impulse_measure_ways(step_impulse *s);
void impulse_forget_ways(step_impulse *s);
/* system_mode of every constraint at the end of the last step. */
void impulse_modes(const step_impulse *s, double *mode);

/* impulse_take: from (q0, v0) over s->h, once: q1 in s, the speeds in v1. Then: over h, in pieces
 * if necessary, so that (q0, v0) are the end. *lands (or NULL): something lands in it at a time
 * that must be located, so nothing was done. */
zw_status impulse_take(step_impulse *s, double *v1, zw_error *error);
void impulse_begin_length(step_impulse *s);         /* theta, fall, sigma for s->h; then u is v0 */
void impulse_see(step_impulse *s, const double *q); /* the poses of q, in s->begin */
void impulse_see_start(step_impulse *s);            /* of q0 */
zw_status impulse_advance(step_impulse *s, double h, int *lands, double *v1, zw_error *error);
/* The speeds nearest to v, in the metric H, on the rows of p. */
zw_status impulse_project(step_impulse *s, impulse_problem *p, const double *v, double *nearest,
                          zw_error *error);

/* impulse_rounds.c: u from (q0, w). */
zw_status impulse_solve_rounds(step_impulse *s, zw_error *error);
/* The first iterate, extrapolated from v0 by the change of speeds in the previous step; 0: it is
 * v0. */
int impulse_extrapolate(step_impulse *s);
/* No coordinate moves by more than round-off of places. */
int impulse_is_at_rest(const step_impulse *s);
/* The motion is too small for Newton's method to be worthwhile: the kernel brings it to rest. */
int impulse_hardly_moves(const step_impulse *s);
/* Records the change of speeds in this time. */
void impulse_note_trend(step_impulse *s, const double *from, const double *to, double time);
/* Has so much been spent that shorter pieces are not tried? */
int impulse_is_spent(const step_impulse *s, int fast);
int impulse_stops(const step_impulse *s); /* the caller asked to stop: the step is discarded */
void impulse_count_solve(step_impulse *s,
                         const impulse_problem *p); /* adds to the effort of the step */
/* Did the kernel, with its whole effort, come near the law but not to round-off? */
int impulse_gave_up(const step_impulse *s, const impulse_problem *p);
/* The largest coordinate of the bodies' centres of mass in `begin`, at least 1. */
double impulse_extent(const step_impulse *s);
void impulse_note_extent(step_impulse *s);       /* to be called whenever `begin` has changed */
double impulse_round_off(const step_impulse *s); /* gaps up to this are not known to be any */
double impulse_touching(const step_impulse *s);  /* gaps up to this are closed */
/* Makes the end of the step the start of the next. */
void impulse_move_on(step_impulse *s, const double *v1);
/* The time from the momenta of a step to its end. */
double impulse_late(const step_impulse *s);
/* A step over s->h has been taken: t and activations are those of its end. */
void impulse_pass(step_impulse *s, const double *v1);

/* impulse_work.c: the work of forces over the step: motors, dampers, formulas, friction of sliding
 * joints. */
double impulse_forces_work(const step_impulse *s);
/* Is the kinetic energy at v1, with contacts acting, much larger than forces and drives explain? */
int impulse_is_driven(step_impulse *s, const double *v1);
void impulse_kinetic(step_impulse *s); /* of v0; and s->other = H v0 */
/* The same with one linearisation, whatever the cause; `gained` is the work before the step. */
int impulse_gains(step_impulse *s, const double *v1, double gained);
/* The work of moving constraints and of sticking joint friction between these speeds: from v0 to u,
 * or from u to v1. And that of limits and contacts; that of landings is recorded. */
double impulse_joint_work(const step_impulse *s, const impulse_problem *p, const double *lambda,
                          const double *before, const double *after);
double impulse_contact_work(step_impulse *s, const impulse_problem *p, const double *lambda,
                            const double *before, const double *after);

int impulse_pushes_apart(const step_impulse *s); /* after impulse_find_landings */
/* The further work of separating overlaps; the sweeps are those of (q0, v0) and of q1. */
double impulse_lift(step_impulse *s, const double *begin, double *end, const double *v1);

/* impulse_close.c: v1 after the rounds. */
zw_status impulse_close(step_impulse *s, double *v1, zw_error *error);

/* impulse_bounce.c: over h with impacts. */
zw_status impulse_bounce(step_impulse *s, double h, double *v1, zw_error *error);
int impulse_flies(const impulse_contacts *t, const contact_point *point);

/* The header of the memory, and the numbers of each block; a block that no longer exists has this
 * instead of the upper half of its key. */
enum { IMPULSE_HEAD = 4, IMPULSE_BLOCK = 3, IMPULSE_NOBODY = 1 << 28, IMPULSE_GROUP = 8 };

/* impulse_memory.c: the numbers to be kept between steps; returns how many. */
int impulse_memory(const step_impulse *s, double **numbers);
void impulse_keep(step_impulse *s);
/* Restores multipliers from them. 0: there are none; -1: no memory. */
int impulse_recall(step_impulse *s);
int impulse_is_sound(const step_impulse *s); /* could they be recalled? */

/* impulse_balance.c */
void impulse_begin_balance(step_impulse *s); /* P0 */
void impulse_begin_motors(step_impulse *s);  /* before forces of a step are computed */
void impulse_balance(step_impulse *s, const double *u, double *r); /* q1, r */
/* The momenta that speeds gain from u to the end of the step; H is the metric for that. */
void impulse_late_momenta(step_impulse *s, double *gain);
/* Where the forces of a step are taken, from (q0, v0): sigma, by the dof s->stiffest of the largest
 * steepness. */
void impulse_begin_forces(step_impulse *s);
/* (h D + h^2 K)/M of a dof, right after that. */
double impulse_stiffness(const step_impulse *s, int d);
double impulse_ahead(const step_impulse *s);           /* their time after the start */
void impulse_forces(step_impulse *s, const double *u); /* force, Q at q_force and u */
void impulse_metric_at(step_impulse *s,
                       const double *sweeps); /* H from these sweeps, after composite inertias */
void impulse_metric(step_impulse *s);         /* H */
void impulse_slopes(step_impulse *s);         /* U: all derivatives, by differences of r at u */
/* Factors H; 0: it is not positive definite. */
int impulse_factor(step_impulse *s);
void impulse_solve(step_impulse *s, double *x); /* x = U \ x, for the current U */
/* |x| in the metric of H's diagonal, and the size of the terms of r. */
double impulse_norm(const step_impulse *s, const double *x);
/* Squares that sum to that of impulse_norm of x, minus those that round-off and `close` allow, for
 * each unknown. */
void impulse_find_excess(const step_impulse *s, const double *x, double close, double *excess);
double impulse_size(const step_impulse *s);
/* The effect of round-off of q1 on stiff forces and, if bodies touch, on gaps. */
double impulse_noise(const step_impulse *s, int touches);

/* impulse_modes.c: modes from the multipliers. But contacts at the friction limit that are at rest
 * are taken as sticking; and in the first round all that are at rest: the previous step must not
 * decide how they share a load. */
void chord_guess_modes(step_impulse *s);
/* Modes for another attempt with the same rows, from the end of the step in x->way and x->change;
 * 0: the current ones are right. */
int chord_change_modes(impulse_chord *x);
/* Multipliers and modes by sweeps over the rows, until they change by less than this part of the
 * largest, with lack and z for them; 0: there are too many rows, or no factors. */
int chord_sweep(impulse_chord *x, int rows, double enough);

/* impulse_chord_memory.c */
zw_status chord_create(impulse_chord *chord, const zw_system *system, int always);
int chord_make_room(impulse_chord *x, const impulse_problem *p); /* for its rows; 0: no memory */
void chord_free(impulse_chord *chord);

/* impulse_chord.c */
int chord_factor(step_impulse *s);     /* at the current iterate; 0: failed */
int chord_fits(const step_impulse *s); /* are the factors those of these rows? */
/* The next iterate and its multipliers; 0: the modes are not those of the solution, and nothing was
 * changed. */
int chord_step(step_impulse *s, int anew);
/* Solves a linear problem in the same way, H (v - u) = gain + A' lambda, from its initial
 * multipliers; `few`: giving up soon, as another method follows. 0: as above. */
int chord_solve(step_impulse *s, impulse_problem *p, int few, const double *gain, double *v);

/* to -= k D w' for all rows, w' in chord->dw; and does D of this unit differ from 0? */
void chord_follow(const impulse_chord *x, double *to);
int chord_holds(const prox_unit *it);

/* impulse_slopes.c */
zw_status impulse_stiff_create(impulse_stiff *stiff, const zw_system *system);
void impulse_stiff_free(impulse_stiff *stiff);
void impulse_stiffen(step_impulse *s); /* adds to H, at q1 and u, whose kinematics are known */

/* impulse_rows.c */
int impulse_held(
    const step_impulse *s); /* number of constraints with rows: those of dry friction follow */
/* After impulse_place_rows at q0: limits in contact there will take part. */
void impulse_touch(step_impulse *s);
void impulse_place_rows(step_impulse *s); /* A0 */
/* phi and A of all rows at q, whose sweeps have been computed, and t; their psi at rest at `until`:
 * rows on speeds use those of the step's end, from which the next step starts. */
void impulse_rows_at(step_impulse *s, double t, double until, const double *q, double *psi,
                     double *A);
/* phi, psi, A at q1, which is reached at time t. */
void impulse_fill_rows(step_impulse *s, double t);
/* Adds one-sided rows that u would violate; returns their number. */
int impulse_reach(step_impulse *s);
void impulse_put_rows(step_impulse *s);         /* for the step: phi(q1) + h A (u' - u) */
void impulse_put_joint_speeds(step_impulse *s); /* for the speeds at its end, */
/* Constraint or limit c with the rows A, each of which requires A v >= or = b. */
void impulse_put_joint(const step_impulse *s, impulse_problem *p, int c, const double *A,
                       const double *b);
void impulse_put_speeds(step_impulse *s);        /* together with those of boxes and contacts */
double impulse_violation(const step_impulse *s); /* largest |phi|, or -phi if one-sided */

/* impulse_boxes.c: the boxes for forces that act for this time; `goes_on`: after the rounds. */
void impulse_put_boxes(step_impulse *s, impulse_problem *p, double time, int goes_on);
/* After the solve for the speeds at the end: does friction of a joint that slid have an impulse
 * that it could only have if it had reversed before the joint did? */
int impulse_dry_turns(step_impulse *s, const impulse_problem *p);
/* At the start of a step: no motor is at its limits, or all may be. */
void impulse_begin_boxes(step_impulse *s, int all);
/* Friction that has held in the rounds, as equalities. */
void impulse_put_stuck(step_impulse *s, impulse_problem *p);
/* A force clamped to its range; when equations are evaluated again, on the side given by *side. */
double impulse_within(const step_impulse *s, int *side, const double range[2], double force);
/* rate, law, boxed of motor k at q1 and u; its directions are in work->aim. */
void impulse_look_at_motor(step_impulse *s, int k, const double *u);
/* Does its force change with u without being a multiplier? */
int impulse_motor_yields(const step_impulse *s, int k);
double impulse_motor_slope(const step_impulse *s, int k); /* derivative of its force by its rate */
/* Adds the impulses of motors with boxes after the rounds to gain, unless they are
 * unknowns there. */
void impulse_late_motors(const step_impulse *s, double *gain);
/* Adds to `left` how far multipliers of boxes are from their laws at u. */
void impulse_miss_of_boxes(const step_impulse *s, double *left);
int impulse_sticks(const step_impulse *s, int k); /* friction k, at the end of the step */
/* Makes friction that sticks by the last solution of p stick exactly. */
void impulse_settle(const step_impulse *s, const impulse_problem *p, double *v);

/* impulse_contact.c */
zw_status impulse_contacts_create(impulse_contacts *t, const zw_system *system);
void impulse_contacts_free(impulse_contacts *t);
/* At the pose of these sweeps, which include the speeds. `from` is the iterate that leads there;
 * NULL: that is q0. */
zw_status impulse_find_contacts(step_impulse *s, double *sweeps, const double *from,
                                zw_error *error);
double
impulse_margin(const step_impulse *s); /* and the distance beyond what the present speeds cover */
void impulse_put_contacts(step_impulse *s);
void impulse_put_contact_speeds(step_impulse *s);
void impulse_put_apart(step_impulse *s, int k); /* point k of an overlap that is being separated */
/* The keys by which blocks of contact rows are remembered begin here; blocks of other kinds have
 * smaller keys. */
#define IMPULSE_CONTACTS 0x2000000000000000
#define IMPULSE_MOTORS 0x0800000000000000 /* and below those: motors */
int64_t impulse_contact_key(const contact_key *key);
/* Point k as rows with the right-hand side b along the normal; and its speed along it. */
void impulse_put_contact(const step_impulse *s, impulse_problem *p, int k, double b);
double impulse_contact_speed(const step_impulse *s, int k, const double *v);
/* impulse_deep.c: overlapping pairs of the points found at q0, and their points. */
void impulse_note_deep(step_impulse *s);
void impulse_keep_deep(impulse_contacts *t);
/* At an iterate: instead of those found there. 0: there is no room for so many. */
int impulse_put_deep(impulse_contacts *t, int capacity);
int impulse_is_fixed(const impulse_contacts *t, const contact_point *point);
int impulse_is_held(const impulse_contacts *t, const contact_point *point);
/* The part of its depth at q0 that remains of a deep pair after the step. */
double impulse_left_by(const impulse_contacts *t, const contact_point *point);

double impulse_depth(const step_impulse *s); /* largest depth of the points found last */
/* How far the current multipliers and u, with the rows of q1, are from the laws of contact. */
typedef struct impulse_miss {
    double way;     /* gaps of points that exert a force */
    double slip;    /* of slip and friction, relative to */
    double fastest; /* the largest speed of a point */
} impulse_miss;
impulse_miss impulse_law_miss(const step_impulse *s);
/* Sets the columns of rows that are off by more than `most` to infinity; its slip is a speed. */
void impulse_mark_misses(const step_impulse *s, impulse_miss most, double *excess);
/* After a step to the speeds v1: puts the contacts into the list of the work. 0: no memory. */
int impulse_list_contacts(step_impulse *s, const double *v1);

/* Constraints and limits in contact at q0, with the rows there: they stay closed, or open. */
void impulse_put_standing(step_impulse *s, impulse_problem *p);
/* All of them there, for a displacement from q0, in multiples of `unit`: to phi = 0, and not beyond
 * it. */
void impulse_put_places(step_impulse *s, impulse_problem *p, double unit);

/* impulse_part.c */
void impulse_parting_free(impulse_parting *it);
/* At q0, where points have been found up to this margin: lists pairs that cannot be separated, and
 * drops their points. */
zw_status impulse_find_stuck(step_impulse *s, double *sweeps, double margin, zw_error *error);
int impulse_is_stuck(const step_impulse *s, int a, int b); /* two geoms */
int impulse_parts(const step_impulse *s);                  /* does the step separate overlaps? */
int impulse_is_wedged(step_impulse *s); /* is there no way out of its shallow overlaps? */
void impulse_drop_stuck(step_impulse *s);
void impulse_part(
    step_impulse *s); /* before a step over s->h: moves q0 to where overlaps are less deep */
double impulse_least_overlap(const step_impulse *s); /* deeper overlaps count as this */

/* impulse_stay.c */
zw_status impulse_staying_create(impulse_staying *stay, size_t points);
void impulse_staying_free(impulse_staying *stay);
/* Points have just been found, at q0 or at an iterate: adds those of the last round that stay. */
void impulse_stay(step_impulse *s, int is_first);
/* For point k, which was not found but stays, while derivatives are computed: its position on
 * either body. */
void impulse_stay_ends(const impulse_contacts *t, int k, double end[2][3]);
/* The point of the last round to which one of an earlier round has converged; else that one. */
const impulse_stays *impulse_stay_at(const impulse_contacts *t, const impulse_stays *it);

/* impulse_roll.c */
/* The rows at q0 of all entries, again; 0: a point is missing. */
int impulse_roll_again(step_impulse *s, const double *sweeps);
int impulse_roller_point(const step_impulse *s, int entry); /* among those just found; -1: none */
zw_status impulse_rolling_create(impulse_rolling *rolling, size_t points, size_t wide);
void impulse_rolling_free(impulse_rolling *rolling);
/* After contacts at q0 have been found: determines which bodies roll. And at an iterate. */
void impulse_roll_begin(step_impulse *s, const double *sweeps);
void impulse_roll(step_impulse *s, const double *sweeps, const double *u);
/* Is c of some point within this distance of a jump (in units of a jump)? */
int impulse_roll_jumps(const step_impulse *s, double near);
/* The entry of point k; NULL: it does not roll. */
const impulse_roller *impulse_rolled(const step_impulse *s, int k);
/* This many rows of point k, whose block has been started; 0: it does not roll. */
int impulse_put_roller(const step_impulse *s, impulse_problem *p, int k, int rows);
/* For a rolling point k: rows at q0, and at q1 along the axes there. */
void impulse_roller_rows(const step_impulse *s, int k, const double **J0, const double **J1);

/* impulse_slip.c: derivatives of the gap, divided by h, and of the slip of point k, whose sweeps
 * are those of the iterate, by u: [3][columns] */
void impulse_contact_slopes(const step_impulse *s, int k, double *slope);
/* Of a row by displacements at q1: by the speeds, where axes turn together by exp. */
void impulse_turn_row(const step_impulse *s, int count, const int *column, double *row);
/* How far right-hand sides are from having converged, as displacements. */
double impulse_unsettled(const step_impulse *s);

/* impulse_limit.c */
zw_status impulse_limits_create(impulse_limits *limits, const zw_system *system);
void impulse_limits_free(impulse_limits *limits);
/* At (q0, v0), whose rows are known; the number reached in the piece that was solved; the time from
 * then to its end; leaves these out from now on; leaves none out. */
void impulse_limits_begin(step_impulse *s, const double *psi, const double *A);
int impulse_limits_land(step_impulse *s);
double impulse_limits_late(const step_impulse *s);
void impulse_limits_leave_out(step_impulse *s);
void impulse_limits_forget(step_impulse *s);
/* Is row r left out of this flight? Is it closed, for the law of impact? */
int impulse_limit_flies(const step_impulse *s, int r);
int impulse_limit_meets(const step_impulse *s, int r);
/* Rows at q and t, if some are left out; and the next of these after r (-1: the first), with its
 * gap and closing speed at v. -1: there is none. */
void impulse_limits_look(step_impulse *s, double t, const double *q);
int impulse_limits_next(const step_impulse *s, int r, const double *v, double *gap, double *speed);

/* impulse_lock.c: finds them in the reference pose; at the start of a step, which of them act in
 * it; then in rows at q, with s->phi and s->b. */
zw_status impulse_locks_create(step_impulse *s);
void impulse_locks_free(impulse_locks *locks);
void impulse_locks_begin(step_impulse *s);
void impulse_locks_apply(const step_impulse *s, const double *q, double *A);

/* impulse_land.c */
zw_status impulse_landing_create(impulse_landing *land, size_t points);
void impulse_landing_free(impulse_landing *land);
void impulse_note_overlaps(step_impulse *s); /* of the points found at the start of a motion */
double impulse_gravity(const step_impulse *s);
/* The time until a gap with closing speed c and gap'' = -a closes; INFINITY: never. */
double impulse_open_for(double gap, double c, double a);
/* After contacts at q0 have been found; after the rounds: finds landings; and counts landings that
 * are not located as impacts. */
void impulse_land_begin(step_impulse *s);
void impulse_find_landings(step_impulse *s);
int impulse_is_landing(const impulse_contacts *t, int k);
void impulse_count_landings(step_impulse *s);
/* Leaves the landings that were found out until they meet. 0: there are none, or too many
 * at once. */
int impulse_note_landings(step_impulse *s);
/* Have some of them, by their motion at the end of a flight, turned out to be none? */
int impulse_find_slow_landings(step_impulse *s, const double *v1);
int impulse_lands(const impulse_contacts *t, const contact_point *point);
void impulse_forget_landings(step_impulse *s); /* nothing is left out any more */
/* Impulses of a step in flights: of point k along its rows, in an impact; of all points in the last
 * flight; then that flight is added. And of point k of the last ones found, in total; returned:
 * does its last part slide? */
void impulse_add_push(step_impulse *s, int k, const double *push);
void impulse_note_push(step_impulse *s);
void impulse_keep_push(step_impulse *s);
int impulse_sum_push(const step_impulse *s, int k, double push[6]);
/* Is friction at its limit? */
int impulse_slides(const contact_point *point, const double *push);

/* impulse_seek.c: in rounds of flights, between these lengths. */
void impulse_seek(step_impulse *s, double low, double high, double exact);
void impulse_seek_anew(step_impulse *s); /* at an iterate, before its points and limits are known */
void impulse_seek_point(step_impulse *s, const double *sweeps, const contact_point *point,
                        int *column, double *J);
void impulse_seek_limits(step_impulse *s);
/* After a step of Newton's method, but before u has changed: how u and lambda grow with h. */
void impulse_seek_growth(step_impulse *s);
int impulse_seeks(const step_impulse *s); /* has the length not converged? */
/* Another length, and u for it; 0: it is the same, 2: it differs so much that H is another. */
int impulse_seek_on(step_impulse *s);

/* impulse_sweep.c */
zw_status impulse_sweep_create(impulse_sweep *sweep, const zw_system *system);
void impulse_sweep_free(impulse_sweep *sweep);
/* Points have just been found. */
void impulse_sweep_note(step_impulse *s);
/* After impulse_take: the fraction of the motion from q0 to q1 during which no two bodies meet that
 * are not part of the problem, and none pass through each other; 1: all of it. */
double impulse_free_part(step_impulse *s);
/* After that: the way of a body, if it is so long that round-off in it exceeds its thickness, and
 * what it meets is unknown; 0: there is none. */
double impulse_blurred(const step_impulse *s);
/* How many times its thickness the fastest body moves in this time, at v0; and when two separate
 * bodies, one of which moves farther than its thickness, meet at these speeds: INFINITY: none
 * do. */
double impulse_pace(step_impulse *s, double time);
double impulse_until_meeting(step_impulse *s, double time);
/* In a piece that may be halved, with fast bodies: does the current iterate have them so deep in
 * each other that no solution can be near? */
int impulse_is_lost(const step_impulse *s);

/* impulse_quick.c: one linearisation. */
zw_status impulse_quick(step_impulse *s, double *v1, zw_error *error);

/* impulse_again.c: copies the equations of a piece that `from` has just solved to another one,
 * which finds points up to this gap. 0: no memory. */
int impulse_copy_piece(step_impulse *to, const step_impulse *from, double near);
/* For other s->q0, v0, h or parameters; s->u stays. And the equations at s->u: r, and the rows of
 * s->problem; `joined` as in the solution. 0: some point is missing. */
int impulse_begin_again(step_impulse *s, const int *joined);
int impulse_look_again(step_impulse *s, const int *joined);
/* From now on motors are within or beyond their ranges as in the equations of `from`. */
void impulse_keep_sides(step_impulse *to, const step_impulse *from);
/* Then those of the speeds at the end: H (v1 - u) = gain + A' mu, the rows in s->aside, which are
 * among these. Rows that are closed[] are so exactly. */
typedef struct impulse_block_key {
    int64_t key;
    int apart; /* as in impulse_put_apart */
} impulse_block_key;
int impulse_close_again(step_impulse *s, const int *closed, const impulse_block_key *block,
                        int count, double *gain);

#endif

/* long: what the files of one step share
 *
 * The velocity form of the principle: a whole step of bodies at once. impulse.c has the equations.
 *
 *     step_impulse *s = impulse_create(system, work, &error);
 *     impulse_step(s, t, h, q0, v0, q1, v1, &error);   s->gained: work done by what is not
 *     impulse_free(s);                                 conserved
 *
 * Files: impulse.c the step; impulse_rounds.c its rounds; impulse_balance.c the equations and their
 * slopes; impulse_chord.c Newton's rule for all of them; impulse_rows.c what holds, sticks or is at
 * its limit; impulse_work.c the energy; impulse_problem.c the kernel's problem. */
#ifndef ZW_STEP_IMPULSE_H
#define ZW_STEP_IMPULSE_H

#include "gauss/contact/impact.h"
#include "gauss/contact/prox_law.h"
#include "step/impulse/impulse_again.h"
#include "step/impulse/impulse_matrix.h"
#include "step/impulse/impulse_problem.h"
#include "step/once8/cones.h"
#include "system/bodies/balance.h"
#include "system/contact/contact_path.h"
#include "system/contact/contacts.h"

/* Written anew only where another point takes the place. */
typedef struct impulse_label {
    contact_key key;
    char text[120];
} impulse_label;

/* Of the size of the mechanism: what is deeper is moved apart before a step; and has no friction.
 * With one linearisation, which leaves what curvature does of gaps and takes it back slowly, both
 * are IMPULSE_SUNK (but where overlaps are being moved apart, and in motions that begin). */
#define IMPULSE_OVERLAP 1e-6
#define IMPULSE_INSIDE 1e-4
#define IMPULSE_SUNK 1e-2
#define IMPULSE_GRIP 1e-6    /* m: what is so near touches, as far as adhesion goes */
#define IMPULSE_RECOVERY 0.5 /* m/s: how fast it is moved apart */

typedef struct impulse_deep {
    uint32_t geom[2];
    int body[2];
    double left; /* depth that the step may leave */
    int held;    /* by more than IMPULSE_OVERLAP: as deep as they are, */
    int fixed;   /* and than IMPULSE_INSIDE: points and normals are those of q0 */
} impulse_deep;

/* Two bodies in one another that nothing can part: impulse_part.c. */
typedef struct impulse_stuck {
    int a, b; /* of the tree; what stands still: -1 - its geom */
} impulse_stuck;

typedef struct impulse_parting impulse_parting;

/* Slopes of formulas: impulse_slopes.c. */
typedef struct impulse_stiff {
    int count;     /* dofs that they couple: 0: there are none */
    int apart;     /* too many: S is its diagonal */
    int *at, *dof; /* [n] the index of a dof, -1: none; [count] the reverse */
    int *row_dof;  /* [n] scratch */
    double *S, *V; /* [count][count] the slopes; their directions */
    double *size;  /* [count] of masses */
    double *by;    /* [count] scratch */
    double *row;   /* [n] scratch */
} impulse_stiff;

/* A point that is closed at q0: impulse_roll.c. */
typedef struct impulse_roller {
    contact_key key;
    int columns, alone;
    double frame[9], arm[2][3]; /* of the point at q0, from the centres of mass */
    double part;                /* 0: the impulse acts at q0; 1: at q1; -1: not known yet */
    double found;               /* the same before it was rounded up, of the first entry */
    int body[2], first;         /* the first entry of these two bodies */
    double b[3];                /* right sides for the iterate, */
    double off;                 /* and how far they are from those of the last, as ways */
    double slip[2];             /* in the step: what the law of friction is about */
    double begun[6]; /* how its bodies move against each other at (q0, v0), in the world */
} impulse_roller;

typedef struct impulse_rolling {
    int off; /* all as at q1 */
    int count;
    impulse_roller *list; /* [points], by geoms */
    int *of;              /* [points found] the entry of each; -1: none */
    double *J;            /* [points][2][6 * wide] rows at q0, and those that are used */
} impulse_rolling;

/* A point of the last round, on either body: impulse_stay.c. */
typedef struct impulse_stays {
    contact_point point;
    uint32_t origin; /* the feature that it was found as; its key may have another */
    int carried;     /* it is of an earlier round */
    int found;       /* it is where the search of now has found it; if not: */
    int from;        /* it is where this one of the last round is now, */
    int leads;       /* and its frame is that of a point which was found, */
    uint32_t lead;   /* this feature; or as it was */
    double x[2][3];  /* in the frames of the geoms, */
    double n[2][3];  /* and its normal */
    int follows;     /* for differences: it goes where the shapes have it, however fast */
} impulse_stays;

typedef struct impulse_staying {
    int count, found, capacity;
    impulse_stays *list; /* [capacity] of the last round, */
    impulse_stays *next; /* [capacity] and of this one */
    int differs;         /* slopes are being found: nothing is noted, and what jumps stays */
} impulse_staying;

/* A point that is open at q0, and how fast it closes there: impulse_land.c. */
typedef struct impulse_begun {
    contact_key key;
    double gap, speed;
} impulse_begun;

/* The impulse of a contact, along the axes of the world. */
typedef struct impulse_pushed {
    contact_key key;
    double by[6];
} impulse_pushed;

/* Of a step: less than that is not left of it. */
#define IMPULSE_ROUNDED 4e-15
#define IMPULSE_SLOWEST 1e-9 /* m/s: without gravity there is still round-off */

/* Pairs that are in one another where a motion begins: how many, and the deepest. */
enum { IMPULSE_NAMED = 3, IMPULSE_APART = 4 };

typedef struct impulse_overlap {
    int pairs;
    int stuck; /* of them, those that nothing can part: impulse_part.c */
    contact_key key[IMPULSE_NAMED];
    double depth[IMPULSE_NAMED];
} impulse_overlap;

/* Where a flight is to end: impulse_seek.c. */
typedef struct impulse_seeking {
    int moves;          /* of its end, that are left */
    double low, high;   /* between which it is looked for */
    double exact;       /* a gap that is closed */
    double depth, rest; /* of what meets first, at the iterate; how fast it closes by itself */
} impulse_seeking;

typedef struct impulse_landing {
    impulse_seeking seek;
    int begun_count, count, capacity;
    int watched, seen; /* rounds are to end where something lands; and it was noted in them */
    int cut;           /* the step is taken in flights between impacts: */
    int cuts;          /* so many pairs of bodies have been left out until they met; */
    int sum_count, flight_count; /* impulses of contacts, */
    impulse_pushed *sum;         /* [points] in all of the step, */
    impulse_pushed *flight;      /* [points] and in the current flight */
    double step;                 /* the length of the whole step */
    int pairs;                   /* of bodies that land in the piece that was taken last, */
    double loss;                 /* and the energy that this took */
    double late;                 /* by how much the end of that piece is after the first of them */
    int slow;                    /* something lands in it that is too slow to be among them */
    impulse_begun *begun;        /* [points] */
    contact_key *list;           /* [points] those that are left out, until they meet, */
    unsigned char *faded;        /* [points] or that they are no landings has been found */
    unsigned char
        *now; /* [points found] it lands in this step; or is pushed apart: IMPULSE_APART */
} impulse_landing;

/* One-sided rows of joints and tendons: impulse_limit.c. */
typedef struct impulse_limits {
    int any, count;     /* there are some; so many are left out until they are reached */
    double *gap;        /* [m] where the current piece begins, */
    double *speed;      /* [m] and how fast that closes there */
    unsigned char *now; /* [m] it is landed on in the piece that was taken last */
    unsigned char *out; /* [m] it is left out */
} impulse_limits;

/* Two geoms that were found near each other: impulse_sweep.c. */
typedef struct impulse_swept {
    int a, b, flies; /* flies: they are not part of the problem */
    double gap, n[3];
} impulse_swept;

typedef struct impulse_sweep {
    contact_path path;
    int pairs;
    impulse_swept *pair; /* [points] as the last round found them */
    int fast_count;
    int *list;            /* [geoms] those that are fast */
    double *way;          /* [geoms] how far their points go at most; find_fast */
    unsigned char *fast;  /* [geoms] it goes farther than a part of its thickness */
    unsigned char *wild;  /* [geoms] it goes farther than contacts were looked for */
    int linear;           /* the step has one linearisation, at q0 */
    int has_mesh, strict; /* strict: bodies are fast, and the step can be cut */
    int sure;             /* all steps since this was set were proved to be free */
} impulse_sweep;

/* Points of contact of the current iterate, and their rows. */
typedef struct impulse_contacts {
    int is_there; /* something can touch */
    int wide;     /* columns that a row has at most */
    contact_work found;
    double *J;                   /* [points][6 * wide] rows of each, one after another */
    int *column;                 /* [points][wide] */
    int *columns;                /* [points] */
    double *b;                   /* [points] of the normal row */
    struct impulse_label *label; /* [points] what to call them */
    int *listed;                 /* [points] their place in the list for users, from 1; 0: none */
    int bounces;                 /* some pair may */
    int flying;                  /* points of pairs that bounce are left out, but for these */
    int deep_count;
    struct impulse_deep *deep; /* [points] pairs that were in one another at the start, */
    int deep_points;
    contact_point *deep_point; /* [points] and their points there, by geoms */
    int let_go;                /* deep overlaps are ignored: no motion was found that parts it */
    double sunk;               /* the deepest of the others at the start of the piece; */
    int sinks;                 /* they stay as deep as they are, for the same reason */
    int stuck_count;
    struct impulse_stuck *stuck; /* [points] what is in one another and cannot be parted */
    impulse_parting *parting;    /* NULL: it was not needed yet */
    double whole;                /* of a step that impacts cut: its length; 0: it is not cut */
    gauss_impact *law;           /* of impacts */
    double near;                 /* points are found up to this gap, if not farther, */
    int flown;                   /* at the end of a flight: what is stuck is that of its start */
    int rest_count;
    contact_key *rest; /* [points] pairs that rest: their features mean nothing */
    impulse_rolling rolling;
    impulse_staying stay;
    impulse_sweep sweep;
    impulse_landing land;
} impulse_contacts;

/* Newton's rule with the modes known: impulse_chord.c. */
#define CHORD_WEIGHT 1e5  /* k, in units in which rows have length one: gauss/contact/prox.c */
enum { CHORD_MOST = 64 }; /* speeds: beyond, the matrix is too large to be dense */
enum { CHORD_ROWS = 96 }; /* of problems that are swept */

typedef struct impulse_chord {
    int is_there;
    int small;   /* problems of contact are the kernel's, which says how a load is shared */
    int n, wide; /* wide: n in whole lines of eight */
    int units, coulomb, row_capacity;
    uint64_t blocks;                     /* that the factors are of */
    prox_unit *unit;                     /* [row_capacity] rows and cones */
    double *K, *U, *N;                   /* [n][wide] the factors; slopes of r */
    double *way, *inverse, *first;       /* [wide] the step; 1/sqrt(H_ii); scratch; */
    double *lack;                        /* [wide] what the balance lacks before it */
    double *nearing;                     /* [wide] how fast u closes a gap: impulse_seek.c */
    double *scratch;                     /* of balance_slopes */
    double *B, *G;                       /* [row_capacity][wide] in scaled units */
    double *scale, *lambda, *z, *change; /* [row_capacity] */
    double *speed;                       /* [row_capacity] k w, */
    double *dw, *moved; /* and how the last way changes w; all of them since then */
    double *W, *answer; /* [most][most], [most][wide] of impulse_modes.c */
    void *memory, *rows;
} impulse_chord;

typedef struct step_impulse {
    const zw_system *system;
    zw_work *work;           /* its sweeps are those of q1, u */
    impulse_problem problem; /* of the step */
    impulse_problem aside;   /* and of the speeds after it */

    /* The step being taken: from (q0, v0) at time t over h. */
    double t, h;
    double fall;     /* for how long forces act until the speeds are u */
    double theta;    /* where impulses act and momenta are. 0: in the middle, 1: at the end */
    double sigma;    /* where forces are those of. 0: the middle of the step, 1: its end; */
    int steep, tied; /* as this dof has it, and another one, too */
    double known[2]; /* impulse_again.c: theta and sigma of the piece */
    double *q0, *v0; /* [nq], [n] */
    double *first;   /* [n] v0 of the whole step, where it is taken in pieces */
    double *u;       /* [n] the speed that leads from q0 to q1: the unknown */
    double *best;    /* [n] of the rounds so far the one that missed least */
    double *q1;      /* [nq] q0 (+) h u */
    double *q_other; /* [nq] where the momenta are, then where the impulses act */
    double *q_force; /* [nq] where the forces are those of */
    double *begin;   /* sweeps of q0, and its M; */
    double *q_begin; /* [nq] places, and inertia, are those of here: impulse_see_start */
    double *place;   /* sweeps of q0 (+) theta h u, where the impulses act, if theta > 0 */
    double *P0;      /* [bodies][6] the momenta at (q0, v0), */
    double *P1;      /* and those of u, where the balance has them */
    double *F;       /* [bodies][6] scratch */

    /* The balance at u. */
    double *r;       /* [n] momentum gained less what the forces gave */
    double *force;   /* [n] of springs, dampers and motors */
    double *Q;       /* [n] the part of it that has no potential */
    double *pull;    /* [lengths] what motors pull with on each */
    double *given;   /* [motors] their controls or activations, */
    double *rate;    /* rates, */
    bodies_law *law; /* and laws: the force before limits, and its slopes */
    int aims;        /* entries of work->aim, of the motor looked at last */
    double *held;    /* [n] slopes of motors that are not in H, on its diagonal */
    double drift;    /* dV/dt of formulas that know the time */
    double *still;   /* [n] zeros */
    double *push;    /* [n] A' lambda */
    double *other;   /* [n] scratch */
    double *
        phi; /* [m] rows of constraints at q1: values, rates at rest, and in the system's pattern */
    double *psi, *b, *A;
    double *A0, *psi0; /* the rows where the impulses act */
    double *act0;      /* [activations] of motors at q0, */
    double *act;       /* and at the end of the step */

    /* Slopes of the balance. */
    impulse_matrix H; /* symmetric part, known in closed form */
    impulse_stiff stiff;
    double *U;  /* n x n: the LU factors of all of it; NULL: too many for that */
    int *pivot; /* [n] */
    int with_N;
    impulse_chord chord;
    impulse_cones cones;
    int plain; /* the step was solved by them alone: it leaves nothing to remember */

    int *side; /* [motors][2], [lengths] whether a force is below (-1), within (0) or above (1) its
                  range, and that it is to stay so: impulse_again.c */
    int keeps_side;
    int *joined; /* [motors] it has been at its limits in this step, */
    int *boxed;  /* and its force is a multiplier with limits, */
    int changed; /* another one is than before, */
    int *pulls;  /* [lengths] how many motors act on it, */
    int *loose;  /* and of them, without multipliers */
    impulse_limits limits;
    int *in_reach; /* [m] one-sided rows that take part in this step; -1: will, as they touch */

    impulse_contacts touch;

    double close;         /* relative residual of the balance at which the rounds end */
    int sharp;            /* and speeds at the end are to be as good as the kernel makes them */
    double accuracy;      /* certificate that contacts need reach; 0: as good as can be */
    double kinetic;       /* of v0 in the metric H: impulse_quick.c */
    int sees_end;         /* begin has the sweeps of (q1, u) */
    double gained;        /* after a step: work of motors, dampers, friction, drives and impacts */
    double driven;        /* of it, what forces and drives did in the last piece of the step */
    double gained_before; /* the current flight */
    double late;         /* after a step: by how much its end is after landings in it; 0: located */
    int slow;            /* after a step: slow landings in it are at the end of its pieces */
    int linear, coarse;  /* a piece of it had one linearisation; had sigma > 0 */
    long impacts;        /* after a step: how many there were in it, */
    double impact_loss;  /* and the energy that they took */
    double residual;     /* after a step: what is left of the balance, relative */
    int rounds;          /* of the last step */
    int composed;        /* the sweeps of q_begin have the inertia of what each body carries */
    int sees_q1;         /* those of the work are of q1, with that as well */
    int rests;           /* it goes on with the forces of the step before, to round-off */
    int sure;            /* nothing can have gone through anything in it */
    int calm;            /* nothing goes farther in it than it is thick */
    int may_be_shorter;  /* rather than taken with rounds, where one linearisation is not enough */
    int may_be_halved;   /* the current step, if it is not the one that was meant */
    int last_resort;     /* it is taken as well as it can be solved; 1: with bodies that are fast */
    int missed;          /* the equations of the last piece hold less well than asked for */
    int halved, inexact; /* after a step: it was taken in pieces; some of it has missed */
    double futile;       /* operations of solves in this step that did not arrive */
    int rough;           /* the step began with one linearisation */
    int overlaps;        /* shapes may be in one another at the start of the step: impulse_part.c */
    int parts;           /* they were, or this is the first step */
    int looks;           /* no step has been taken: */
    impulse_overlap overlap; /* what was in one another before the first */
    double *trend;           /* [n] accelerations of the last piece: impulse_extrapolate */
    double *steady;          /* [n] forces of motors that are one for all of the step */
    double *owed;            /* [n] what the rounds have left of the balance */
    double *excess;          /* [n] by how much that is too much, squared: islands that are done */
    int has_trend;           /* the step before has left some */
    double *kept;            /* [kept_capacity] what it hands to the next: impulse_memory.c */
    int kept_capacity, kept_used;
    uint64_t left, sum; /* step/once.c: digest and sum of the state that the last step led to */
    const impulse_watch *watch; /* NULL: none */
    struct step_sleep *sleep;   /* not NULL: it makes the steps, and only `kept` above is used */
    void *memory;
} step_impulse;

step_impulse *impulse_create(const zw_system *system, zw_work *work, zw_error *error);
void impulse_free(step_impulse *s);
/* How far the rounds go: 0: to round-off; 1: the first one is taken as it is. */
void impulse_set_tolerance(step_impulse *s, double tolerance);
/* The certificate that contacts need reach, after the tolerance; 0: as good as can be. */
void impulse_set_accuracy(step_impulse *s, double accuracy);
void impulse_set_contact(step_impulse *s, zw_contact_law law); /* coulomb or convex */
/* All of that, and whether steps are to go without memory. */
void impulse_set_plan(step_impulse *s, const zw_run_options *plan);
/* What is carried after the speeds is so after v0 and v1. */
zw_status impulse_step(step_impulse *s, double t, double h, const double *q0, const double *v0,
                       double *q1, double *v1, zw_error *error);
/* system_mode of every constraint at the end of the last step. */
void impulse_modes(const step_impulse *s, double *mode);

/* From (q0, v0) over s->h, once: q1 in s, the speeds in v1. And over h, in pieces if need be, so
 * that (q0, v0) are the end. *lands (NULL: that is not asked): something lands in it at a time that
 * is to be found, so nothing was done. */
zw_status impulse_take(step_impulse *s, double *v1, zw_error *error);
void impulse_begin_length(step_impulse *s); /* theta, fall, sigma for s->h; u is v0 after that */
void impulse_see(step_impulse *s, const double *q); /* the places of q, in s->begin */
void impulse_see_start(step_impulse *s);            /* of q0 */
zw_status impulse_advance(step_impulse *s, double h, int *lands, double *v1, zw_error *error);
/* The speeds nearest to v, in the metric H, on the rows of p. */
zw_status impulse_project(step_impulse *s, impulse_problem *p, const double *v, double *nearest,
                          zw_error *error);

/* impulse_rounds.c: u from (q0, w). */
zw_status impulse_solve_rounds(step_impulse *s, zw_error *error);
/* The first iterate, from v0, where the step before shows how speeds change. */
void impulse_extrapolate(step_impulse *s);
/* By less than is worth Newton's rule: it comes to rest by the kernel. */
int impulse_hardly_moves(const step_impulse *s);
/* Speeds have changed so in this time. */
void impulse_note_trend(step_impulse *s, const double *from, const double *to, double time);
/* So many that shorter pieces are not tried? */
int impulse_is_spent(const step_impulse *s, int fast);
int impulse_stops(const step_impulse *s); /* an end was asked for: the step will not count */
void impulse_count_solve(step_impulse *s, const impulse_problem *p); /* in the effort of the step */
/* Did the kernel, with all the effort it may take, get near the law but not to round-off? */
int impulse_gave_up(const step_impulse *s, const impulse_problem *p);
double impulse_extent(const step_impulse *s);   /* how far the bodies of q0 are out, at least 1 */
double impulse_touching(const step_impulse *s); /* gaps up to this are closed */
/* What has been taken becomes where to go on from. */
void impulse_move_on(step_impulse *s, const double *v1);
/* How long before the end of a step its momenta are. */
double impulse_late(const step_impulse *s);
/* A step over s->h has been taken: t and activations are those of its end. */
void impulse_pass(step_impulse *s, const double *v1);

/* impulse_work.c: the work of forces over the step: motors, dampers, formulas, friction of joints
 * that slide. */
double impulse_forces_work(const step_impulse *s);
double impulse_kinetic(step_impulse *s, const double *v); /* in the metric H */
/* Is there much more of it at v1 than at v0, where contacts push, than forces and drives gave? */
int impulse_is_driven(step_impulse *s, const double *v1);
/* The same with one linearisation, for whatever reason; `gained` was the work before the step. */
int impulse_gains(step_impulse *s, const double *v1, double gained);
/* The work of constraints that move and of friction of joints that sticks, between these speeds:
 * from v0 to u, or from there to v1. And that of limits and contacts; that of landings is noted. */
double impulse_joint_work(const step_impulse *s, const impulse_problem *p, const double *lambda,
                          const double *before, const double *after);
double impulse_contact_work(step_impulse *s, const impulse_problem *p, const double *lambda,
                            const double *before, const double *after);

int impulse_pushes_apart(const step_impulse *s); /* after impulse_find_landings */
/* Of pushing apart, beside that; the sweeps are those of (q0, v0) and of q1. */
double impulse_lift(step_impulse *s, const double *begin, double *end, const double *v1);

/* impulse_close.c: v1 after the rounds. */
zw_status impulse_close(step_impulse *s, double *v1, zw_error *error);

/* impulse_bounce.c: over h with impacts. */
zw_status impulse_bounce(step_impulse *s, double h, double *v1, zw_error *error);
int impulse_flies(const impulse_contacts *t, const contact_point *point);

/* The head of what is kept, and what each block has; a block that is not there any more has this in
 * place of the upper half of its key. */
enum { IMPULSE_HEAD = 4, IMPULSE_BLOCK = 3, IMPULSE_NOBODY = 1 << 28 };

/* impulse_memory.c: the numbers that are to be kept between steps; how many. */
int impulse_memory(const step_impulse *s, double **numbers);
void impulse_keep(step_impulse *s);
/* Multipliers from them. 0: there are none; -1: no memory. */
int impulse_recall(step_impulse *s);
int impulse_is_sound(const step_impulse *s); /* could they be recalled? */

/* impulse_balance.c */
void impulse_begin_balance(step_impulse *s); /* P0 */
void impulse_begin_motors(step_impulse *s);  /* before forces of a step are asked for */
void impulse_balance(step_impulse *s, const double *u, double *r); /* q1, r */
/* What speeds are to gain from u to the end of the step, as momenta; H is the metric for that. */
void impulse_late_momenta(step_impulse *s, double *gain);
/* Which forces a step has, from (q0, v0): sigma; of the dof s->steep, with the largest steepness.
 */
void impulse_begin_forces(step_impulse *s);
/* (h D + h^2 K)/M of a dof, right after that. */
double impulse_steepness(const step_impulse *s, int d);
double impulse_ahead(const step_impulse *s);           /* how long after its start they are */
void impulse_forces(step_impulse *s, const double *u); /* force, Q at q_force and u */
void impulse_metric_at(step_impulse *s, const double *sweeps); /* H of these, after composite */
void impulse_metric(step_impulse *s);                          /* H */
void impulse_slopes(step_impulse *s); /* U: all slopes, by differences of r at u */
/* H is factored; 0: it is no metric. */
int impulse_factor(step_impulse *s);
void impulse_solve(step_impulse *s, double *x); /* x = U \ x, whichever U it is */
/* |x| in the metric of H's diagonal, and the size that numbers in r have. */
double impulse_norm(const step_impulse *s, const double *x);
/* Squares that sum up to those of impulse_norm of x, and to more than those of the norms that
 * round-off and `close` allow: their difference, of each unknown. */
void impulse_find_excess(const step_impulse *s, const double *x, double close, double *excess);
double impulse_size(const step_impulse *s);
/* What round-off of q1 does to stiff forces; and, if bodies touch, to gaps. */
double impulse_noise(const step_impulse *s, int touches);

/* impulse_modes.c: modes as the multipliers say. But what has all the friction that there is and is
 * at rest is held; and in the first round all that is at rest: how they share a load is not for the
 * step before to say.
 */
void chord_guess_modes(step_impulse *s);
/* Modes for another try with the same rows, from where the step in x->way and
 * x->change has led; 0: the current ones are right. */
int chord_change_modes(impulse_chord *x);
/* Multipliers and modes by sweeps over the rows, until they change by this part of the largest,
 * with lack and z for them; 0: there are too many rows, or no factors. */
int chord_sweep(impulse_chord *x, int rows, double enough);

/* impulse_chord.c */
zw_status chord_create(impulse_chord *chord, const zw_system *system);
void chord_free(impulse_chord *chord);
int chord_factor(step_impulse *s);     /* at the iterate that was looked at; 0: it cannot be */
int chord_fits(const step_impulse *s); /* are the factors of these rows? */
/* The next iterate and its multipliers; 0: the modes are not those of the answer, nothing is done.
 */
int chord_step(step_impulse *s, int anew);
/* The answer of a linear problem by the same rule, H (v - u) = gain + A' lambda, from the
 * multipliers that it starts with. 0: as above. */
int chord_solve(step_impulse *s, impulse_problem *p, const double *gain, double *v);

/* impulse_slopes.c */
zw_status impulse_stiff_create(impulse_stiff *stiff, const zw_system *system);
void impulse_stiff_free(impulse_stiff *stiff);
void impulse_stiffen(step_impulse *s); /* into H, at q1 and u, whose kinematics are known */

/* impulse_rows.c */
int impulse_held(const step_impulse *s); /* constraints with rows: those of dry friction follow */
/* After impulse_place_rows at q0: limits that touch there will take part. */
void impulse_touch(step_impulse *s);
void impulse_place_rows(step_impulse *s); /* A0 */
/* phi and A of all rows at q, whose sweeps are run, and t; their psi at rest at `until`: rows that
 * hold speeds ask for those of the step's end, as the next step starts from them. */
void impulse_rows_at(step_impulse *s, double t, double until, const double *q, double *psi,
                     double *A);
/* phi, psi, A at q1, which is there at time t. */
void impulse_fill_rows(step_impulse *s, double t);
/* One-sided rows that u would break join; their number. */
int impulse_reach(step_impulse *s);
void impulse_put_rows(step_impulse *s);         /* for the step: phi(q1) + h A (u' - u) */
void impulse_put_joint_speeds(step_impulse *s); /* for the speeds at the end of it, */
/* Constraints and limits that are reached, at q1, for an impact; the number of limits. Friction of
 * joints cannot hold against an impulse. */
int impulse_put_impact_joints(step_impulse *s);
void impulse_put_speeds(step_impulse *s);        /* with those of boxes and contacts */
double impulse_violation(const step_impulse *s); /* largest |phi|, or -phi if one-sided */

/* impulse_boxes.c: the boxes for forces that act for this time; `goes_on`: after the rounds. */
void impulse_put_boxes(step_impulse *s, impulse_problem *p, double time, int goes_on);
/* At the start of a step: no motor is at its limits, or all may be. */
void impulse_begin_boxes(step_impulse *s, int all);
/* Friction that has held in the rounds, as equalities. */
void impulse_put_stuck(step_impulse *s, impulse_problem *p);
/* A force within its range; of equations that are looked at again, on the side that *side says. */
double impulse_within(const step_impulse *s, int *side, const double range[2], double force);
/* rate, law, boxed of motor k at q1 and u; what it moves is in work->aim. */
void impulse_look_at_motor(step_impulse *s, int k, const double *u);
/* Is its force one that changes with u, but no multiplier? */
int impulse_motor_yields(const step_impulse *s, int k);
double impulse_motor_slope(const step_impulse *s, int k); /* of its force, by its rate */
/* What motors with boxes do after the rounds, if that is not another question: into gain. */
void impulse_late_motors(const step_impulse *s, double *gain);
/* `left` of the balance gets what multipliers of boxes are off their laws at u. */
void impulse_miss_of_boxes(const step_impulse *s, double *left);
int impulse_sticks(const step_impulse *s, int k); /* friction k, at the end of the step */
/* What sticks by the last answer of p does so exactly. */
void impulse_settle(const step_impulse *s, const impulse_problem *p, double *v);

/* impulse_contact.c */
zw_status impulse_contacts_create(impulse_contacts *t, const zw_system *system);
void impulse_contacts_free(impulse_contacts *t);
/* At the pose of these sweeps, which know the speeds. `from` is the iterate that leads there; NULL:
 * that is q0. */
zw_status impulse_find_contacts(step_impulse *s, double *sweeps, const double *from,
                                zw_error *error);
double impulse_margin(const step_impulse *s); /* and how much farther than speeds of now lead */
void impulse_put_contacts(step_impulse *s);
void impulse_put_contact_speeds(step_impulse *s);
void impulse_put_apart(step_impulse *s, int k); /* point k, which was in one another, of these */
/* What a block of rows is remembered by: at least this; blocks of other kinds have small keys. */
#define IMPULSE_CONTACTS 0x2000000000000000
#define IMPULSE_MOTORS 0x0800000000000000 /* and before those: motors */
int64_t impulse_contact_key(const contact_key *key);
/* Point k as a contact of an impact; the number of its block. */
int impulse_put_impact(const step_impulse *s, int k, const gauss_impact_contact *contact);
/* Point k as rows that ask for b along the normal; and its speed along it. */
void impulse_put_contact(const step_impulse *s, impulse_problem *p, int k, double b);
double impulse_contact_speed(const step_impulse *s, int k, const double *v);
/* impulse_deep.c: pairs of the points found at q0 that are in one another, and their points. */
void impulse_note_deep(step_impulse *s);
void impulse_keep_deep(impulse_contacts *t);
/* At an iterate: in place of those found there. 0: there is no room for so many. */
int impulse_put_deep(impulse_contacts *t, int capacity);
int impulse_is_fixed(const impulse_contacts *t, const contact_point *point);
int impulse_is_held(const impulse_contacts *t, const contact_point *point);
/* By how much of its depth a pair that is deep at q0 is left in one another after the step. */
double impulse_left_by(const impulse_contacts *t, const contact_point *point);

double impulse_depth(const step_impulse *s); /* deepest point of the last ones found */
/* By how much the current multipliers and u, with the rows of q1, miss the laws of contact. */
typedef struct impulse_miss {
    double way;     /* gaps at which something pushes */
    double slip;    /* of slip and friction, relative to */
    double fastest; /* the largest speed of a point */
} impulse_miss;
impulse_miss impulse_law_miss(const step_impulse *s);
/* Infinity into the columns of rows that are off by more than `most`; its slip is a speed. */
void impulse_mark_misses(const step_impulse *s, impulse_miss most, double *excess);
/* After a step to the speeds v1: what touched, into the list of the work. 0: no memory. */
int impulse_list_contacts(step_impulse *s, const double *v1);

/* Constraints and limits that touch at q0, with rows of there: they stay, or open. */
void impulse_put_standing(step_impulse *s, impulse_problem *p);
/* All of them there, for a way from q0, in multiples of `unit`: to phi = 0, and not beyond it. */
void impulse_put_places(step_impulse *s, impulse_problem *p, double unit);

/* impulse_part.c */
void impulse_parting_free(impulse_parting *it);
/* Of the points found at q0: pairs that cannot be parted are listed, and their points dropped. */
/* Of q0, where points have been found up to this margin. */
zw_status impulse_find_stuck(step_impulse *s, double *sweeps, double margin, zw_error *error);
int impulse_is_stuck(const step_impulse *s, int a, int b); /* two geoms */
int impulse_parts(const step_impulse *s);                  /* does the step push overlaps apart? */
int impulse_is_wedged(step_impulse *s); /* is there no way out of its shallow overlaps? */
void impulse_drop_stuck(step_impulse *s);
void impulse_part(
    step_impulse *s); /* before a step over s->h: q0 is where what overlaps is less deep */
double impulse_least_overlap(const step_impulse *s); /* what is deeper counts as that */

/* impulse_stay.c */
zw_status impulse_staying_create(impulse_staying *stay, size_t points);
void impulse_staying_free(impulse_staying *stay);
/* Points have just been found, at q0 or at an iterate: those of the last round that stay join. */
void impulse_stay(step_impulse *s, int is_first);
/* Of point k, which was not found but stays, while slopes are found: where it is on either body. */
void impulse_stay_ends(const impulse_contacts *t, int k, double end[2][3]);
/* The point of the last round that one of an earlier round has come down to; else that one. */
const impulse_stays *impulse_stay_at(const impulse_contacts *t, const impulse_stays *it);

/* impulse_roll.c */
/* The rows at q0 of all entries, again; 0: a point is not there. */
int impulse_roll_again(step_impulse *s, const double *sweeps);
int impulse_roller_point(const step_impulse *s, int entry); /* of those just found; -1: none */
zw_status impulse_rolling_create(impulse_rolling *rolling, size_t points, size_t wide);
void impulse_rolling_free(impulse_rolling *rolling);
/* After contacts at q0 have been found: which bodies roll. And at an iterate. */
void impulse_roll_begin(step_impulse *s, const double *sweeps);
void impulse_roll(step_impulse *s, const double *sweeps, const double *u);
/* Is c of some point as near as that to where it jumps (in parts of a jump)? */
int impulse_roll_jumps(const step_impulse *s, double near);
/* The entry of point k; NULL: it does not roll. */
const impulse_roller *impulse_rolled(const step_impulse *s, int k);
/* So many rows of point k, whose block has been begun; 0: it does not roll. */
int impulse_put_roller(const step_impulse *s, impulse_problem *p, int k, int rows);
/* Of point k, which rolls: rows at q0, and at q1 along the axes of there. */
void impulse_roller_rows(const step_impulse *s, int k, const double **J0, const double **J1);

/* impulse_slip.c: slopes of the gap, over h, and of the slip of point k, whose sweeps are those of
 * the iterate, by u: [3][columns] */
void impulse_contact_slopes(const step_impulse *s, int k, double *slope);
/* How far right sides are from having settled, as ways. */
double impulse_unsettled(const step_impulse *s);

/* impulse_limit.c */
zw_status impulse_limits_create(impulse_limits *limits, const zw_system *system);
void impulse_limits_free(impulse_limits *limits);
/* At (q0, v0), whose rows are there; how many are landed on in the piece that was solved; by how
 * much its end is after that; from now on these are left out; none is. */
void impulse_limits_begin(step_impulse *s, const double *psi, const double *A);
int impulse_limits_land(step_impulse *s);
double impulse_limits_late(const step_impulse *s);
void impulse_limits_leave_out(step_impulse *s);
void impulse_limits_forget(step_impulse *s);
/* Is row r left out of this flight? Is it closed, for the law of impact? */
int impulse_limit_flies(const step_impulse *s, int r);
int impulse_limit_meets(const step_impulse *s, int r);
/* Rows at q and t, if some are left out; and the next of these behind r (-1: the first), with its
 * gap and how fast that closes at v. -1: there is none. */
void impulse_limits_look(step_impulse *s, double t, const double *q);
int impulse_limits_next(const step_impulse *s, int r, const double *v, double *gap, double *speed);

/* impulse_land.c */
zw_status impulse_landing_create(impulse_landing *land, size_t points);
void impulse_landing_free(impulse_landing *land);
void impulse_note_overlaps(step_impulse *s); /* of the points found at the start of a motion */
double impulse_gravity(const step_impulse *s);
/* For how long a gap that closes at speed c, with gap'' = -a, is open; INFINITY: for ever. */
double impulse_open_for(double gap, double c, double a);
/* After contacts at q0 have been found; after the rounds: what lands; and where that is not cut at:
 * it is counted as an impact. */
void impulse_land_begin(step_impulse *s);
void impulse_find_landings(step_impulse *s);
int impulse_is_landing(const impulse_contacts *t, int k);
void impulse_count_landings(step_impulse *s);
/* What has been found to land will be left out until it meets. 0: nothing, or too much at once. */
int impulse_note_landings(step_impulse *s);
/* Are some of them, as they move where a flight has ended, none? */
int impulse_landings_fade(step_impulse *s, const double *v1);
int impulse_lands(const impulse_contacts *t, const contact_point *point);
void impulse_forget_landings(step_impulse *s); /* what was left out is not any more */
/* Impulses of a step that is cut: of point k along its rows, in an impact; of all points in the
 * flight that was just taken; which counts. And of point k of the last ones found, over all. */
void impulse_add_push(step_impulse *s, int k, const double *push);
void impulse_note_push(step_impulse *s);
void impulse_keep_push(step_impulse *s);
void impulse_sum_push(const step_impulse *s, int k, double push[6]);

/* impulse_seek.c: in rounds of flights, between these lengths. */
void impulse_seek(step_impulse *s, double low, double high, double exact);
void impulse_seek_anew(step_impulse *s); /* at an iterate, before its points and limits are known */
void impulse_seek_point(step_impulse *s, const double *sweeps, const contact_point *point,
                        int *column, double *J);
void impulse_seek_limits(step_impulse *s);
int impulse_seeks(const step_impulse *s); /* is the current length not the one? */
/* Another length, and u for it; 0: it is the same, 2: it is so far that H is another. */
int impulse_seek_on(step_impulse *s);

/* impulse_sweep.c */
zw_status impulse_sweep_create(impulse_sweep *sweep, const zw_system *system);
void impulse_sweep_free(impulse_sweep *sweep);
/* Points have just been found. */
void impulse_sweep_note(step_impulse *s);
/* After impulse_take: the part of the way from q0 to q1 on which no two bodies meet that are not
 * part of the problem, and none go through each other; 1: all of it. */
double impulse_free_part(step_impulse *s);
/* How many times its thickness the fastest of all goes in this time, at v0; and when two meet at
 * these speeds that are apart now, one of which goes farther than that: INFINITY: none do. */
double impulse_pace(step_impulse *s, double time);
double impulse_until_meeting(step_impulse *s, double time);
/* In a piece that may be taken in halves, with fast bodies: does the current iterate have them so
 * deep in each other that nothing near it can be a solution? */
int impulse_is_lost(const step_impulse *s);

/* impulse_quick.c: one linearisation. */
zw_status impulse_quick(step_impulse *s, double *v1, zw_error *error);

#endif

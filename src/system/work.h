/* Scratch of one world: registers and outputs of the tapes, and the kernel's problems.
 *
 * A solver is one shape of Gauss's problem: some rows of the system in some roles. `motion` finds
 * accelerations with what is closed now; `decide` finds out what opens, sticks or slides;
 * `position` and `velocity` project. A shape is rebuilt when modes change, at events only. */
#ifndef ZW_SYSTEM_WORK_H
#define ZW_SYSTEM_WORK_H

#include "system/system.h"

/* How a constraint takes part in a solver. */
typedef enum solver_role {
    SOLVER_ABSENT,
    SOLVER_EQUAL,      /* its rows as equalities */
    SOLVER_AT_LEAST,   /* its row as an inequality */
    SOLVER_EQUAL_HELD, /* equalities, and the tangential directions held as well: stuck */
    SOLVER_CONE        /* friction cone: normal and tangential rows */
} solver_role;

typedef struct system_solver {
    const zw_system *system;
    int rows;        /* of the kernel's problem */
    int extra;       /* equalities x_i = given that are added after (assembly) */
    int tail;        /* rows after those: of contacts */
    int *role;       /* [constraints] solver_role */
    int *row_of;     /* [rows] the system's row, or -1: tangential, -2 - i: extra on coordinate i */
    int *tangent_of; /* [rows] its constraint, and which tangent it is: constraint * 4 + k */
    double *scale;   /* [rows] the kernel's row is the system's times this */
    zw_block *block;
    int block_count;
    zw_gauss problem;
    zw_gauss_options options;
    zw_gauss_work *gauss;
    struct gauss_apart *apart; /* not NULL: borrowed, for problems that fall into pieces */
    int again;                 /* it has answered, and only b may be another since */
    double *M;                 /* dense n x n if needed */
    double *A;                 /* dense rows x n, or compressed values */
    int *A_start;              /* compressed */
    int *A_column;
    double *b;      /* [rows] */
    double *flex;   /* [rows] compliance, if some rows give way: the caller's to use */
    double *C;      /* [n] */
    double *pushed; /* [n] applied force and C, where they need not be separate */
    double *lambda; /* [rows] of the last solve: a guess for the next */
    int warm;       /* lambda holds something */
    zw_motion answer;
    void *block_of_memory; /* all arrays above */
} system_solver;

/* A caller that may ask for an end while a step is being taken. Once said, it stays said: what has
 * been begun fails soon, and no step that was being taken then counts. */
typedef struct system_stop {
    zw_poll *poll;
    void *user;
    double t; /* where the run stands */
    int said;
} system_stop;
int system_stops(void *stop); /* as zw_gauss_options.stop; work.c */

struct zw_work {
    const zw_system *system;
    system_stop *stop; /* the run's, or NULL */
    double *param;     /* what the registers were prepared with */
    int prepared;
    double *registers[PART_COUNT];
    double *out[PART_COUNT];
    int *mode; /* [constraints] that the solvers are made for */
    system_solver *motion;
    system_solver *position;
    system_solver *velocity;
    const system_solver *solving; /* whose friction law is being asked */
    double *a;                    /* [n + carried] after zw_forward */
    double *a_free;               /* [n] */
    double *lambda;               /* [m] of the system's rows, as the user knows them */
    double *push;                 /* [m] the kernel's: A' push acts on the coordinates */
    double *hint;     /* [3 * constraints] unit direction of sliding at the start of the step */
    double tolerance; /* of speeds relative to 1 + |v|, in steps that have one; else 0 */
    double slow;      /* what slides slower keeps its hint: system_note_slip */
    int *press; /* [constraints] 1, -1: the sign of the normal force in this step, see friction.c */
    double *sweeps;                /* of the tree */
    struct tree_group *group;      /* equal trees of it: bodies_group_trees; or NULL */
    double *jacobian;              /* [12 * widest] */
    double *rows;                  /* of bodies: bodies_scratch */
    double *lifted;                /* [n] of bodies: bodies_see_lifts, where a motor lifts */
    double *aim;                   /* of bodies: [n + 6] along which a force acts, */
    int *aim_dof;                  /* [n + 6] and on which speeds */
    struct tendon_now *tendons;    /* through space, if there are any: tendon/tendon.h */
    int as_mujoco;                 /* they touch from inside as in MuJoCo: tendon/wrap.h */
    double *load;                  /* [6 * parts] of bodies: bodies_load */
    double *reading;               /* of their sensors: bodies_sense */
    double *inside;                /* [parts] is it in this subtree? */
    double *small;                 /* [n*n + n] factor of M for systems without rows */
    double *spare[4];              /* [n + m + nq] each */
    struct bodies_grips *grips;    /* what adhesion holds: bodies_grip.c; NULL: nothing */
    struct contact_list *touched;  /* of the last step or zw_forward, if any: contacts.h */
    struct contact_now *now;       /* zw_forward with contacts: contact_now.c */
    const system_solver *shown_by; /* whose answer zw_forward left */
    double gamma; /* added to the metric as gamma A'A, see law.h; 0 nearly always */
    double power; /* of all that changes the energy, after system_accelerate */
    double certificate;
    double energy[4];
    double violation[2];
    zw_motion shown;           /* what zw_work_motion answers where no solver has */
    struct soft_problem *soft; /* of zw_forward, if it was asked for that law, */
    int shows_soft;            /* and its answer is the last */
    int acts_freely; /* activations may leave their ranges: in stages of MuJoCo's RK4 they do */
    double
        ahead; /* forces of motors with actearly are those of activations so much later; 0: now */
    double mass_scale;
    struct system_effort {
        int rounds, searches, factors; /* solves, looks for contacts, factorisations */
    } effort;                          /* of the last step of method impulse */
    void *stepper;                     /* what zw_step keeps between its steps: step/once.c */
    void (*free_stepper)(void *stepper);
    /* If zw_step led to the state: what touches there by its law, into `touched`. */
    zw_status (*touch_stepper)(const zw_state *state, zw_work *work, zw_error *error);
    void *memory;
};

/* terms.c: run a tape; ZW_NOT_FINITE names the formula. `a` and `lambda` may be NULL. */
zw_status system_evaluate(const zw_system *system, zw_work *work, system_part part, double t,
                          const double *q, const double *v, const double *a, const double *lambda,
                          zw_error *error);
/* The leaves of the model's formulas in this state: the state itself, or what formulas see of
 * bodies. They stay until the next evaluation. */
expr_inputs system_inputs(const zw_system *system, zw_work *work, const expr_inputs *in);
/* Prepare the registers for these parameters, if they are others than before. */
void system_bind(const zw_system *system, zw_work *work, const double *param);

/* configuration.c: q' for these speeds; q moved along them for a while. Without quaternions that is
 * v, and q + h v. */
void system_rates(const zw_system *system, const double *q, const double *v, double *rate);
void system_move(const zw_system *system, double *q, double h, const double *v);
/* Of speed i: its coordinate's name, or its own. */
const char *system_speed_name(const zw_system *system, int i);
/* Quaternions of length one. */
void system_normalise(const zw_system *system, double *q);

/* solver.c */
system_solver *solver_create(const zw_system *system, const int *role, const int *held,
                             int held_count, zw_error *error);
/* The same with room for rows after them, which solver_add_block and solver_add_row then fill. */
typedef struct solver_tail {
    int blocks, rows, entries;
} solver_tail;
system_solver *solver_create_with(const zw_system *system, const int *role, const int *held,
                                  int held_count, const solver_tail *tail, zw_error *error);
void solver_add_block(system_solver *solver, const zw_block *block);
void solver_add_row(system_solver *solver, int count, const int *column, const double *value,
                    double b);
void solver_free(system_solver *solver);
/* Values of the system's rows: A in its pattern, b[m], and the outputs of slip.c. */
typedef struct system_rows {
    const double *A, *b, *slip;
} system_rows;
/* Fill the kernel's problem: M in the pattern of the system; force for accelerations, free for
 * speeds and positions (the other NULL). Then the caller may set problem.C or a law, and solve. */
void solver_fill(system_solver *solver, const double *M, system_rows rows, const double *force,
                 const double *free);
/* A dense M again has no entries but those of the system's pattern. */
void solver_clear_metric(system_solver *solver);
/* Cones of constraints have these coefficients of friction, mu[constraints]. */
void solver_set_friction(system_solver *solver, const double *mu);
zw_status solver_solve(system_solver *solver, zw_error *error);
/* lambda[m] of the system's rows from the solver's answer; absent rows get 0. */
void solver_multipliers(const system_solver *solver, double *lambda);

/* forward.c: what the kernel could not do, in the user's names; answers `status`. */
zw_status system_tell(const system_solver *solver, double t, zw_status status, zw_error *error);

/* zw_forward, and what geoms that touch do in it. */
typedef enum system_touch {
    TOUCH_IGNORED,   /* nothing: they pass through one another */
    TOUCH_BY_LAW,    /* contact_now.c; the list is written anew */
    TOUCH_AS_PUSHED, /* they push with the forces of the list */
    TOUCH_SOFTLY     /* nor do constraints act: soft_show says what all of them do, and nothing is
                        solved here, where they may contradict each other */
} system_touch;
zw_status system_forward(const zw_system *system, const zw_state *state, zw_work *work,
                         system_touch touch, zw_error *error);

/* Accelerations for any (t, q, v), as the modes are; fills a[n + carried] (rates of what the law
 * carries after the accelerations) and work->power. */
zw_status system_accelerate(const zw_system *system, zw_work *work, double t, const double *q,
                            const double *v, double *a, zw_error *error);
/* Solvers for these modes (work->mode is set to them). */
zw_status system_set_modes(const zw_system *system, zw_work *work, const double *mode,
                           zw_error *error);

/* Friction goes on in the direction that things slide in now, until it is set again: a step's field
 * is smooth even where it leads past the moment at which sliding ends. */
zw_status system_note_slip(const zw_system *system, zw_work *work, double t, const double *q,
                           const double *v, zw_error *error);
/* The same between a state and the work: between runs it is the state that knows. */
void system_keep_slip(const zw_work *work, zw_state *state);
void system_take_slip(zw_work *work, zw_state *state);
/* Speeds below this part of 1 + the largest speed count as none: test/step/test_bounces.c. */
#define SYSTEM_REST 1e-10
/* Where no tolerance says how well speeds are known, what slides slower (m/s) keeps its hint. */
#define SYSTEM_SLOW_SLIP 1e-9
/* Does |N| of constraint c have a corner at N = 0: two-sided, and one row that presses? */
int system_presses_both_ways(const zw_system *system, int c);
/* How fast constraint c slides along its hint; PART_SLIP has been evaluated there. */
double system_slide(const zw_system *system, const zw_work *work, int c);
/* After system_accelerate: mu |normal force| - |tangential force| of a stuck constraint. */
double system_hold(const zw_system *system, const zw_work *work, int c);

/* decide.c: the impact of what touches and approaches, then what opens, sticks, slides from here.
 * Changes the modes, and on impact the speeds, of the state. `made` (may be NULL) describes it. */
typedef struct system_impact {
    int count;   /* 1: there was one */
    double loss; /* energy that it took */
} system_impact;
zw_status system_decide(const zw_system *system, zw_work *work, zw_state *state,
                        system_impact *made, zw_error *error);
/* The same where formulas have just changed their branch: two-sided constraints may ask for other
 * speeds, and that is an impact, too. */
zw_status system_decide_at_kink(const zw_system *system, zw_work *work, zw_state *state,
                                system_impact *made, zw_error *error);

/* project.c: move q onto phi = 0, v onto psi = 0, nearest in the metric of the masses. */
zw_status system_project_position(const zw_system *system, zw_work *work, double t, double *q,
                                  const double *v, zw_error *error);
zw_status system_project_velocity(const zw_system *system, zw_work *work, double t, const double *q,
                                  double *v, zw_error *error);
/* The same with a solver of the caller's: one that holds some speeds, for instance. */
zw_status system_project_velocity_with(const zw_system *system, zw_work *work,
                                       system_solver *solver, double t, const double *q, double *v,
                                       zw_error *error);
/* ZW_CONFLICT, naming the constraint that is violated most, by off[m], and with it those that stand
 * `against` it, if [constraints] flags of them are given, else those that are off by a tenth as
 * much. `what` is "position satisfies" or "speeds satisfy". */
zw_status system_name_violated(const zw_system *system, const double *off, const int *against,
                               const char *what, double t, zw_error *error);
/* x = M(q) \ x by the tree, whose factors have no fill; overwrites the sweeps. 0, x unchanged: the
 * kernel has to solve, as M has entries that the tree's has not, or some mass is missing. */
int system_solve_tree(const zw_system *system, zw_work *work, const double *q, double *x);
/* Largest |phi| and |psi| over the rows that hold now, and -phi over one-sided ones that are open.
 */
zw_status system_violation(const zw_system *system, zw_work *work, double t, const double *q,
                           const double *v, double violation[2], zw_error *error);

#endif

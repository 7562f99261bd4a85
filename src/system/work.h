/* Scratch of one world: registers and outputs of the tapes, and the kernel's problems.
 *
 * A solver is one shape of Gauss's problem: some rows of the system in some roles. `motion` finds
 * accelerations with the active constraints; `decide` finds which contacts open, stick or slide;
 * `position` and `velocity` project. A solver is rebuilt when modes change, at events only. */
#ifndef ZW_SYSTEM_WORK_H
#define ZW_SYSTEM_WORK_H

#include "system/system.h"

/* The role of a constraint in a solver. */
typedef enum solver_role {
    SOLVER_ABSENT,
    SOLVER_EQUAL,      /* its rows as equalities */
    SOLVER_AT_LEAST,   /* its row as an inequality */
    SOLVER_EQUAL_HELD, /* equalities for the tangential directions as well: stuck */
    SOLVER_CONE        /* friction cone: normal and tangential rows */
} solver_role;

typedef struct system_solver {
    const zw_system *system;
    int rows;        /* of the kernel's problem */
    int extra;       /* equalities x_i = given, added after these (assembly) */
    int tail;        /* rows after those: of contacts */
    int *role;       /* [constraints] solver_role */
    int *row_of;     /* [rows] the system's row, or -1: tangential, -2 - i: extra on coordinate i */
    int *tangent_of; /* [rows] its constraint and tangent: constraint * 4 + k */
    double *scale;   /* [rows] the kernel's row is the system's times this */
    zw_block *block;
    int block_count;
    zw_gauss problem;
    zw_gauss_options options;
    zw_gauss_work *gauss;
    struct gauss_apart *apart; /* not NULL: borrowed, for problems that decompose */
    int again;                 /* solved before, and only b may have changed since */
    double *M;                 /* dense n x n if needed */
    double *A;                 /* dense rows x n, or compressed values */
    int *A_start;              /* compressed */
    int *A_column;
    double *b;      /* [rows] */
    double *flex;   /* [rows] compliance, if some rows have any: set by the caller */
    double *C;      /* [n] */
    double *pushed; /* [n] applied force and C, if they need not be separate */
    double *lambda; /* [rows] of the last solve: a guess for the next */
    int warm;       /* lambda is valid */
    zw_motion answer;
    void *block_of_memory; /* all arrays above */
} system_solver;

/* A caller's request to stop within a step. It is permanent: the current computation fails soon,
 * and the step being taken is discarded. */
typedef struct system_stop {
    zw_poll *poll;
    void *user;
    double t; /* time of the run */
    int said;
} system_stop;
int system_stops(void *stop); /* as zw_gauss_options.stop; work.c */

struct zw_work {
    const zw_system *system;
    system_stop *stop; /* the run's, or NULL */
    double *param;     /* parameters of the prepared registers */
    int prepared;
    double *registers[PART_COUNT];
    double *out[PART_COUNT];
    int *mode; /* [constraints] for which the solvers were made */
    system_solver *motion;
    system_solver *position;
    system_solver *velocity;
    const system_solver *solving; /* whose friction law is being evaluated */
    double *a;                    /* [n + carried] after zw_forward */
    double *a_free;               /* [n] */
    double *lambda;               /* [m] of the system's rows, for the user */
    double *push;                 /* [m] the kernel's: A' push acts on the coordinates */
    double *hint;     /* [3 * constraints] unit direction of sliding at the start of the step */
    double tolerance; /* of speeds relative to 1 + |v|, with methods that have one; else 0 */
    double slow;      /* slower sliding keeps its hint: system_note_slip */
    int *press; /* [constraints] 1, -1: the sign of the normal force in this step, see friction.c */
    double *sweeps;             /* of the tree */
    struct tree_group *group;   /* equal trees of it: bodies_group_trees; or NULL */
    double *jacobian;           /* [12 * widest] */
    double *rows;               /* of bodies: bodies_scratch */
    double *lifted;             /* [n] of bodies: bodies_see_lifts, if motors compensate gravity */
    double *aim;                /* of bodies: [n + 6] coefficients of a force, */
    int *aim_dof;               /* [n + 6] and the speeds it acts on */
    struct tendon_now *tendons; /* spatial tendons, if there are any: tendon/tendon.h */
    int as_mujoco;              /* tendons wrap on the inside as in MuJoCo: tendon/wrap.h */
    double *load;               /* [6 * parts] of bodies: bodies_load */
    double *reading;            /* of their sensors: bodies_sense */
    double *inside;             /* [parts] whether it is in a subtree */
    double *small;              /* [n*n + n] factor of M for systems without rows */
    double *spare[4];           /* [n + m + nq] each */
    struct bodies_adhesion
        *adhesion;                 /* contact points of adhesion: bodies_adhesion.c; NULL: none */
    struct contact_list *touched;  /* contacts of the last step or zw_forward, if any: contacts.h */
    struct contact_now *now;       /* zw_forward with contacts: contact_now.c */
    const system_solver *shown_by; /* the solver with the answer of zw_forward */
    double gamma; /* added to the metric as gamma A'A, see law.h; 0 nearly always */
    double power; /* of all forces that change the energy, after system_accelerate */
    double certificate;
    double energy[4];
    double violation[2];
    zw_motion shown;           /* answer of zw_work_motion if no solver was used */
    struct soft_problem *soft; /* of zw_forward, if it used the soft law, */
    int shows_soft;            /* and whether its answer is the latest */
    const int *control_side; /* not NULL: [params] controls stay on these sides of their ranges, for
                                derivatives: bodies_side.h */
    int acts_freely;         /* activations may leave their ranges, as in stages of MuJoCo's RK4 */
    double ahead; /* forces of motors with actearly use the activations this much later; 0: now */
    double mass_scale;
    struct system_effort {
        int rounds, searches, factors; /* solves, contact searches, factorisations */
    } effort;                          /* of the last step of method impulse */
    void *stepper;                     /* data that zw_step keeps between steps: step/once.c */
    void (*free_stepper)(void *stepper);
    /* If zw_step led to the state: computes the contacts there by its law, into `touched`. */
    zw_status (*touch_stepper)(const zw_state *state, zw_work *work, zw_error *error);
    void *memory;
};

/* terms.c: run a tape; ZW_NOT_FINITE names the formula. `a` and `lambda` may be NULL. */
zw_status system_evaluate(const zw_system *system, zw_work *work, system_part part, double t,
                          const double *q, const double *v, const double *a, const double *lambda,
                          zw_error *error);
/* The leaves of the model's formulas in this state: the state itself, or the quantities of bodies
 * that formulas use. Valid until the next evaluation. */
expr_inputs system_inputs(const zw_system *system, zw_work *work, const expr_inputs *in);
/* Prepares the registers for these parameters, if they have changed. */
void system_bind(const zw_system *system, zw_work *work, const double *param);

/* configuration.c: q' for these speeds; q moved along them for a time h. Without quaternions that
 * is v, and q + h v. */
void system_rates(const zw_system *system, const double *q, const double *v, double *rate);
void system_move(const zw_system *system, double *q, double h, const double *v);
/* The name of speed i: its own, or that of its coordinate. */
const char *system_speed_name(const zw_system *system, int i);
/* Normalises quaternions. */
void system_normalise(const zw_system *system, double *q);

/* solver.c */
system_solver *solver_create(const zw_system *system, const int *role, const int *held,
                             int held_count, zw_error *error);
/* The same with further rows at the end, which solver_add_block and solver_add_row fill. */
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
/* Fills the kernel's problem: M in the pattern of the system; force for accelerations, free for
 * speeds and positions (the other NULL). Then the caller may set problem.C or a law, and solve. */
void solver_fill(system_solver *solver, const double *M, system_rows rows, const double *force,
                 const double *free);
/* Clears the entries of a dense M outside the system's pattern. */
void solver_clear_metric(system_solver *solver);
/* Sets the coefficients of friction mu[constraints] of the cones. */
void solver_set_friction(system_solver *solver, const double *mu);
zw_status solver_solve(system_solver *solver, zw_error *error);
/* lambda[m] of the system's rows from the solver's answer; absent rows get 0. */
void solver_multipliers(const system_solver *solver, double *lambda);

/* forward.c: reports a failure of the kernel in the user's names; returns `status`. */
zw_status system_report_failure(const system_solver *solver, double t, zw_status status,
                                zw_error *error);

/* How zw_forward treats contacts of geoms. */
typedef enum system_touch {
    TOUCH_IGNORED,   /* ignored: geoms pass through each other */
    TOUCH_BY_LAW,    /* contact_now.c; writes the list of contacts */
    TOUCH_AS_PUSHED, /* with the forces of the list */
    TOUCH_SOFTLY     /* constraints are ignored too: soft_show has the forces of all of them, and
                        nothing is solved here, as rigid ones may contradict each other */
} system_touch;
zw_status system_forward(const zw_system *system, const zw_state *state, zw_work *work,
                         system_touch touch, zw_error *error);

/* Accelerations for any (t, q, v) in the current modes; fills a[n + carried] (with the rates of the
 * carried numbers after the accelerations) and work->power. */
zw_status system_accelerate(const zw_system *system, zw_work *work, double t, const double *q,
                            const double *v, double *a, zw_error *error);
/* Solvers for these modes (work->mode is set to them). */
zw_status system_set_modes(const zw_system *system, zw_work *work, const double *mode,
                           zw_error *error);

/* Fixes the directions of friction to the current directions of sliding until the next call, so
 * that the equations are smooth within a step, even past the time at which sliding ends. */
zw_status system_note_slip(const zw_system *system, zw_work *work, double t, const double *q,
                           const double *v, zw_error *error);
/* Copies these directions between state and work; between runs they are stored in the state. */
void system_keep_slip(const zw_work *work, zw_state *state);
void system_take_slip(zw_work *work, zw_state *state);
/* Speeds below this times 1 + the largest speed count as zero: test/step/test_bounces.c. */
#define SYSTEM_REST 1e-10
/* Without a tolerance for speeds, slower sliding (m/s) keeps its hint. */
#define SYSTEM_SLOW_SLIP 1e-9
/* Does |N| of constraint c have a corner at N = 0? So it is for two-sided constraints with one
 * normal row. */
int system_presses_both_ways(const zw_system *system, int c);
/* The speed of sliding of constraint c along its hint; PART_SLIP has been evaluated. */
double system_slide(const zw_system *system, const zw_work *work, int c);
/* After system_accelerate: mu |normal force| - |tangential force| of a stuck constraint. */
double system_hold(const zw_system *system, const zw_work *work, int c);

/* decide.c: resolves impacts, then decides which contacts open, stick or slide. Changes the modes
 * and, in an impact, the speeds of the state. `made` (may be NULL) describes the impact. */
typedef struct system_impact {
    int count;   /* 1: there was one */
    double loss; /* energy lost */
} system_impact;
zw_status system_decide(const zw_system *system, zw_work *work, zw_state *state,
                        system_impact *made, zw_error *error);
/* The same where formulas have just changed their branch: two-sided constraints may require other
 * speeds, which is an impact too. */
zw_status system_decide_at_kink(const zw_system *system, zw_work *work, zw_state *state,
                                system_impact *made, zw_error *error);

/* state.c: onto the constraints, after an event has set numbers of the state. What is closed and
 * what sticks follows from the state, as at a start, not from what was so before: the nearest
 * position that all constraints admit, and speeds that the two-sided ones admit; then
 * system_decide. */
zw_status system_settle(const zw_system *system, zw_work *work, zw_state *state, zw_error *error);

/* project.c: moves q onto phi = 0, v onto psi = 0, to the nearest point in the metric of the
 * masses. */
zw_status system_project_position(const zw_system *system, zw_work *work, double t, double *q,
                                  const double *v, zw_error *error);
zw_status system_project_velocity(const zw_system *system, zw_work *work, double t, const double *q,
                                  double *v, zw_error *error);
/* The same with the caller's solver, for example one that holds some speeds. */
zw_status system_project_velocity_with(const zw_system *system, zw_work *work,
                                       system_solver *solver, double t, const double *q, double *v,
                                       zw_error *error);
/* ZW_CONFLICT, naming the constraint with the largest violation off[m] and those that conflict with
 * it: the ones flagged in against[constraints], or, if that is NULL, those with at least a tenth of
 * the violation. `what` is "position satisfies" or "speeds satisfy". */
zw_status system_name_violated(const zw_system *system, const double *off, const int *against,
                               const char *what, double t, zw_error *error);
/* x = M(q) \ x by the tree, whose factors have no fill; overwrites the sweeps. 0, x unchanged: the
 * kernel has to solve, as M has entries outside the tree's pattern, or is singular. */
int system_solve_tree(const zw_system *system, zw_work *work, const double *q, double *x);
/* Largest |phi| and |psi| over the active rows, and -phi over the open one-sided ones.
 */
zw_status system_violation(const zw_system *system, zw_work *work, double t, const double *q,
                           const double *v, double violation[2], zw_error *error);

#endif

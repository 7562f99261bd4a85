/* A compiled model: constant tables and tapes that say, for a state (q, v, t), what the metric,
 * the forces and the constraint rows are.
 *
 * With L = kinetic - potential + lagrangian, p = dL/dv and the operator D = v d/dq + d/dt (what a
 * time derivative leaves when accelerations are put aside), Lagrange's equations read
 *
 *     M a = force + A' lambda + C,     M = dp/dv,     force = dL/dq - D p + Q - dR/dv,
 *
 * Q being the generalized forces and R Rayleigh's function. A constraint phi(q, t) = 0 is
 * differentiated twice, one with speeds, psi(q, v, t) = 0, once (Chetaev's rule; Kozlov 2000):
 *
 *     A = dphi/dq,   b = -D D phi          A = dpsi/dv,   b = -D psi          A a = b
 *
 * M depends on v where the kinetic energy is not quadratic (Cardin-Zanzotto 1989, eq. (2.17));
 * nothing else changes. Energy is E = v . p - L; by Cardin-Zanzotto (1989), eq. (3.14) it changes
 * by the power of Q - dR/dv, of C, of the constraints, and by -dL/dt.
 *
 * Rows r = 0..m-1 are those of the constraints in their order, two-sided and one-sided mixed.
 *
 * Under the laws of Kozlov (2000) some multipliers are carried along as part of the state: law.h.
 * They come after the speeds, and so do activations of motors: wherever v is handed on, it is v[n
 * + carried], and where accelerations are, a[n + carried] has the rates of these.
 */
#ifndef ZW_SYSTEM_SYSTEM_H
#define ZW_SYSTEM_SYSTEM_H

#include <stdint.h>

#include "expr/derive.h"
#include "expr/tape.h"
#include "model/model.h"
#include "tree/tree.h"
#include "zwang/zwang.h"

typedef enum system_row {
    SYSTEM_HOLONOMIC, /* phi(q, t) = 0 */
    SYSTEM_VELOCITY,  /* psi(q, v, t) = 0 */
    SYSTEM_CONTACT    /* phi(q, t) >= 0 */
} system_row;

/* What is evaluated together. Sizes: n coordinates, m rows, k = entries of A, l = entries of M. */
typedef enum system_part {
    PART_TERMS,    /* M[l] force[n] A[k] b[m] mu[constraints] C[c] Q[n] -dL/dt[1] slip */
    PART_POSITION, /* phi[m] (0 for velocity rows) A[k] */
    PART_VELOCITY, /* psi[m] (D phi for holonomic rows) A[k] */
    PART_SLIP,     /* of all that has friction, see system_slip */
    PART_METRIC,   /* M[l] */
    PART_ENERGY,   /* E K V */
    PART_LAGRANGE, /* p[n] and dL/dq + Q - dR/dv [n]; of bodies p' */
    PART_EVENTS,   /* the roots of what their conditions compare, event by event */
    PART_REACTION, /* of the carried multipliers, see law.h */
    PART_OUTPUTS,  /* checks, curves (x y), draws: in the order of the model */
    PART_SLOPES,   /* of formulas over bodies: bodies_slope */
    PART_COUNT
} system_part;

typedef struct system_tape {
    expr_tape *code;
    int count;
    expr_id *out; /* what each output is: for diagnosis */
} system_tape;

/* Where the outputs of PART_TERMS begin. */
typedef struct system_layout {
    int M, force, A, b, mu, C, Q, dLdt, slip;
} system_layout;

/* How a constraint with friction slides: slip.c. Its outputs, from `at` on: e[width] (the speed of
 * sliding), D e[width], T = de/dv [width * columns], nu[rows * size] (how each row pushes the point
 * that touches) and one number that is 0 if they can push it so. */
typedef struct system_slip {
    int width; /* components of e; 0: no friction */
    int rank;  /* directions to slide in: width, or 2 of 3 components that have none along nu */
    int rows, row[MODEL_DIMENSION]; /* what presses, in the rows of the system */
    int size;                       /* components of nu */
    int columns, first_column;      /* in slip_column */
    int at;
} system_slip;

/* The law that rows with speeds follow, Kozlov (2000), eqs. (15)-(18): law.h. */
typedef struct system_law {
    double alpha, beta;
    double flex;          /* 1/N of (16) and (17); 0: Phi = 0 exactly */
    int carried;          /* multipliers in the state */
    int curved;           /* some of their Phi are not linear in the speeds */
    int *row;             /* [carried] their rows */
    int *of_row;          /* [m] the reverse, -1: none */
    int loose;            /* alpha = 0 and N finite: these rows are friction alone */
    int *reaction_start;  /* [carried + 1] pattern of PART_REACTION */
    int *reaction_column; /* coordinates */
} system_law;

struct zw_system {
    const zw_model *model; /* what the system shows: `own`, or of bodies `bodies->shown` */
    zw_model own;          /* equations: the model that was given, with a copy of its graph, which
                              derivatives are added to: the model itself is only read */
    int n;                 /* speeds: as many as accelerations, columns of A, rows of M */
    int nq;                /* coordinates; more than speeds where there are quaternions */
    int m;
    int carried;       /* numbers of the state after the speeds: law.carried multipliers, then
                          activations of motors (bodies.h) */
    int contact_count; /* one-sided constraints */
    expr_shape shape;

    int *row_constraint; /* [m] */
    system_row *row_kind;
    int *first_row; /* [constraints + 1] */
    int *A_start;   /* [m + 1] pattern of A by rows */
    int *A_column;  /* [k] */
    int *M_start;   /* [n + 1] pattern of the lower triangle of M by columns */
    int *M_row;     /* [l] */
    int *C_coord;   /* [c] the coordinate that each explicit non-ideal force acts on */
    int C_count;
    system_slip *slip; /* [constraints] */
    int *slip_column;  /* the coordinates of each */
    zw_impact_law impact;
    model_law given; /* what was asked for: the model's, or another; lambda is the model's */
    system_law law;
    tree_mechanism *tree;         /* rigid bodies; NULL: all is equations */
    struct system_bodies *bodies; /* what else is known of them: bodies.h */

    int M_diagonal;   /* the pattern of M is diagonal */
    int sparse;       /* large: compressed metric and rows */
    int conservative; /* nothing does work: the energy is constant */
    int works;        /* something changes the energy: its work is carried along */
    int has_friction; /* some two-sided constraint has Coulomb friction */

    system_tape tape[PART_COUNT];
    system_layout at;
    uint64_t fingerprint; /* fingerprint.c */
};

/* The numbers of a world. data: q[nq] v[n] carried[] param[] mode[constraints] memory[] */
struct zw_state {
    size_t bytes;
    int n, nq, carried, params, constraints;
    int slides;           /* 3 * constraints where some rub, else 0 */
    int memory;           /* room for what the last run knew beyond all this: step/remember.c */
    uint64_t fingerprint; /* of its system */
    uint64_t remembered;  /* state_digest when the memory was written; 0: it holds nothing */
    double t;
    double work;        /* done since the start by what changes the energy */
    double impact_loss; /* of impacts at the start that no run has counted yet */
    int impacts;        /* their number */
    double data[];
};

double *state_q(zw_state *state);
double *state_v(zw_state *state); /* what is carried comes after it */
double *state_param(zw_state *state);
double *state_mode(zw_state *state); /* system_mode of each constraint */
/* The direction in which each constraint slides, or began to slide from rest, and the part of its
 * friction that one that is held gives: zw_work's hint. Near rest the speeds do not determine it.
 */
double *state_slide(zw_state *state);
double *state_memory(zw_state *state);
zw_state *state_allocate(const zw_system *system);
/* zw_state_create with other numbers than the file's; NAN, and NULL: as written. Equations only. */
typedef struct state_given {
    const double *param, *q, *v; /* [params], [n], [n] */
} state_given;
zw_state *state_create_given(const zw_system *system, const state_given *given, zw_work *work,
                             zw_assembly *assembly, zw_error *error);
/* save.c: a hash of time, work and data but for the memory and, unless they are asked for, the
 * parameters; never 0. It is made from a sum over all numbers, so that a change of a few of them
 * can change the sum. */
uint64_t state_digest(const zw_state *state, int with_params);
uint64_t state_sum(const zw_state *state); /* without parameters, time and work */
uint64_t state_param_sum(const zw_state *state);
uint64_t state_word(int at, double x); /* the part of data[at] = x in them */
uint64_t state_digest_of(const zw_state *state, uint64_t sum);

/* What a one-sided constraint or a friction does now. Two-sided constraints without friction are
 * always CLOSED. */
typedef enum system_mode {
    SYSTEM_OPEN,   /* apart: no force */
    SYSTEM_CLOSED, /* touching; or sliding, if there is friction */
    SYSTEM_STUCK,  /* friction holds it still */
    SYSTEM_HELD    /* others hold it still; friction helps with a given part of what it can */
} system_mode;

/* system.c: the model under another law than its own; law->lambda must live as long as the model.
 */
zw_system *system_compile_with_law(const zw_model *model, const model_law *law, zw_error *error);

/* fingerprint.c: at the end of compilation. */
zw_status system_take_fingerprint(zw_system *system, zw_error *error);

/* system/compile.c */
zw_status system_derive(zw_system *system, zw_error *error);

#endif

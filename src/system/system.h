/* A compiled model: constant tables and tapes that give the metric, the forces and the constraint
 * rows at a state (q, v, t).
 *
 * With L = kinetic - potential + lagrangian, p = dL/dv and the operator D = v d/dq + d/dt (the time
 * derivative without accelerations), Lagrange's equations read
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
 * Under the laws of Kozlov (2000) some multipliers are integrated as part of the state ("carried"):
 * law.h. They follow the speeds, and so do activations of motors: wherever v is passed on, it is
 * v[n + carried], and accelerations a[n + carried] include their rates.
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

/* Groups of outputs that are evaluated together. Sizes: n coordinates, m rows, k = entries of A, l
 * = entries of M. */
typedef enum system_part {
    PART_TERMS,    /* M[l] force[n] A[k] b[m] mu[constraints] C[c] Q[n] -dL/dt[1] slip */
    PART_POSITION, /* phi[m] (0 for velocity rows) A[k] */
    PART_VELOCITY, /* psi[m] (D phi for holonomic rows) A[k] */
    PART_SLIP,     /* of all constraints with friction, see system_slip */
    PART_METRIC,   /* M[l] */
    PART_ENERGY,   /* E K V */
    PART_LAGRANGE, /* p[n] and dL/dq + Q - dR/dv [n]; for bodies p' */
    PART_EVENTS,   /* the roots of the comparisons in their conditions, event by event */
    PART_REACTION, /* of the carried multipliers, see law.h */
    PART_OUTPUTS,  /* checks, curves (x y), draws: in the order of the model */
    PART_SLOPES,   /* for formulas over bodies: bodies_slope */
    PART_COUNT
} system_part;

typedef struct system_tape {
    expr_tape *code;
    int count;
    expr_id *out; /* the node of each output, for diagnosis */
} system_tape;

/* Offsets of the outputs of PART_TERMS. */
typedef struct system_layout {
    int M, force, A, b, mu, C, Q, dLdt, slip;
} system_layout;

/* How a constraint with friction slides: slip.c. Its outputs, from `at` on: e[width] (the speed of
 * sliding), D e[width], T = de/dv [width * columns], nu[rows * size] (the force of each row on the
 * contact point) and one number that is 0 if this force exists. */
typedef struct system_slip {
    int width; /* components of e; 0: no friction */
    int rank;  /* directions of sliding: width, or 2 if the 3 components have none along nu */
    int rows, row[MODEL_DIMENSION]; /* the rows of the system that exert the normal force */
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
    int loose;            /* alpha = 0 and N finite: these rows are pure friction */
    int *reaction_start;  /* [carried + 1] pattern of PART_REACTION */
    int *reaction_column; /* coordinates */
} system_law;

struct zw_system {
    const zw_model *model; /* for names and outputs: `own`, or for bodies `bodies->shown` */
    zw_model own; /* equations: the given model with a copy of its graph, to which derivatives are
                     added: the model itself is only read */
    int n;        /* speeds: as many as accelerations, columns of A, rows of M */
    int nq;       /* coordinates; more than speeds where there are quaternions */
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
    model_law given; /* the requested law: the model's, or another; lambda is the model's */
    system_law law;
    tree_mechanism *tree;         /* rigid bodies; NULL: equations */
    struct system_bodies *bodies; /* other data of the bodies: bodies.h */

    int M_diagonal;   /* the pattern of M is diagonal */
    int sparse;       /* large: compressed metric and rows */
    int conservative; /* nothing does work: the energy is constant */
    int works;        /* something changes the energy: its work is integrated */
    int has_friction; /* some two-sided constraint has Coulomb friction */

    system_tape tape[PART_COUNT];
    system_layout at;
    uint64_t fingerprint; /* fingerprint.c */
};

/* The state of a world. data: q[nq] v[n] carried[] param[] mode[constraints] memory[] */
struct zw_state {
    size_t bytes;
    int n, nq, carried, params, constraints;
    int slides;           /* 3 * constraints if some have friction, else 0 */
    int memory;           /* size of the integrator's memory: step/remember.c */
    uint64_t fingerprint; /* of its system */
    uint64_t remembered;  /* state_digest when the memory was written; 0: it is empty */
    double t;
    double work;        /* done since the start by forces that change the energy */
    double impact_loss; /* of impacts at the start that no run has counted yet */
    int impacts;        /* their number */
    int undecided;      /* the modes were decided with other parameters, or followed no step */
    double data[];
};

double *state_q(zw_state *state);
double *state_v(zw_state *state); /* followed by the carried numbers */
double *state_param(zw_state *state);
double *state_mode(zw_state *state); /* system_mode of each constraint */
/* The direction in which each constraint slides, or began to slide from rest, or for SYSTEM_HELD
 * the share of its friction: zw_work's hint. Near rest the speeds do not determine it.
 */
double *state_slide(zw_state *state);
double *state_memory(zw_state *state);
zw_state *state_allocate(const zw_system *system);
/* zw_state_create with numbers that replace the file's; NAN, or NULL: as written. */
typedef struct state_given {
    const double *param, *q, *v; /* [params], [nq], [n] */
} state_given;
zw_state *state_create_given(const zw_system *system, const state_given *given, zw_work *work,
                             zw_assembly *assembly, zw_error *error);
/* save.c: a hash of time, work and data, without the memory and, unless `with_params`, without the
 * parameters; never 0. It is computed from a sum over all numbers, so that it can be updated when a
 * few of them change. */
uint64_t state_digest(const zw_state *state, int with_params);
uint64_t state_sum(const zw_state *state); /* without parameters, time and work */
uint64_t state_param_sum(const zw_state *state);
uint64_t state_word(int at, double x); /* the contribution of data[at] = x */
uint64_t state_digest_of(const zw_state *state, uint64_t sum);

/* The mode of a one-sided constraint or a friction. Two-sided constraints without friction are
 * always CLOSED. */
typedef enum system_mode {
    SYSTEM_OPEN,   /* apart: no force */
    SYSTEM_CLOSED, /* in contact; sliding, if there is friction */
    SYSTEM_STUCK,  /* friction holds it still */
    SYSTEM_HELD    /* held by other constraints; its friction has a fixed share of its maximum */
} system_mode;

/* system.c: compiles the model under a law other than its own; law->lambda must live as long as the
 * model.
 */
zw_system *system_compile_with_law(const zw_model *model, const model_law *law, zw_error *error);

/* fingerprint.c: at the end of compilation. */
zw_status system_take_fingerprint(zw_system *system, zw_error *error);

/* system/compile.c */
zw_status system_derive(zw_system *system, zw_error *error);

#endif

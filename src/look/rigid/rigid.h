/* Internals of derivatives of steps of method impulse: rigid.c a step, rigid_piece.c the equations
 * of a piece of it and their derivatives, rigid_law.c the laws of its rows, rigid_motor.c motors at
 * their limits, rigid_hit.c impacts;
 * for the backward pass: rigid_tape.c the records of a step, rigid_back.c the sweep. */
#ifndef ZW_LOOK_RIGID_H
#define ZW_LOOK_RIGID_H

#include "look/sensitivity/back.h"
#include "look/sensitivity/number.h"
#include "step/impulse/impulse.h"
#include "zwang/sensitivity.h"

#define RIGID_NEAR                                                                                 \
    1e-9 /* relative to a decision threshold: this close to it, the other side is as good */

/* What a block of rows does: its multipliers are 0; its rows hold; it slides; its multiplier is a
 * number that is known: of a motor, or the end of a box. */
typedef enum rigid_mode { RIGID_FREE, RIGID_HELD, RIGID_SLIDES, RIGID_GIVEN } rigid_mode;

typedef struct rigid_block {
    int64_t key;
    zw_block_kind kind;
    rigid_mode mode;
    int rows, first; /* its rows, among those of its half */
    int at;          /* its first unknown, among those of its half */
    int side;        /* given: 0, 1: an end of its box; -1: inside */
    double mu[5];
    double give; /* of a motor: its compliance */
    double per;  /* of a limit: how its speed changes with its gap at q1 */
} rigid_block;

/* What is computed along with a step: nothing, its derivatives as a matrix, or records for the
 * backward pass. */
typedef enum rigid_steps { RIGID_PLAIN, RIGID_MATRIX, RIGID_TAPE } rigid_steps;

/* One of the two problems of a piece (impulse.c, impulse_close.c), or an impact: its equations are
 * R(x, lambda) = 0, [n] of them, and one for each of its unknown multipliers. */
typedef struct rigid_half {
    int blocks, rows, unknowns, block_capacity, row_capacity;
    rigid_block *block;
    double *lambda, *w; /* [rows] multipliers and speeds */
    double *B;          /* [rows][n] what multipliers push along */
} rigid_half;

/* Where equations are looked at. */
typedef struct rigid_place {
    zw_work *work;
    step_impulse *s;
} rigid_place;

/* A number of the model that is among the unknowns: systems with a bit more and less of it. */
typedef struct rigid_variant {
    number_systems of;
    rigid_place at[NUMBER_SYSTEMS];
} rigid_variant;

/* A contact of a record. */
typedef struct rigid_touch {
    int block[2];       /* of either half; -1: none */
    int rolls;          /* impulse_roll.c: it is closed at q0 too, */
    double part;        /* with c, */
    double bounce;      /* of an impact: the coefficient of restitution */
    back_contact end;   /* at q1 */
    back_contact begin; /* at q0, if it rolls */
} rigid_touch;

/* A piece of a step, or an act of an impact: everything that the backward pass needs. */
typedef struct rigid_record {
    int impact; /* at q1, from v0 to v1 */
    int hits;   /* it ends where something meets */
    double h, t, theta, sigma;
    double part;         /* of the time that was left */
    int stiffest;        /* sigma follows from the mass of this dof, by */
    double stiffness_by; /* so much; 0: it does not */
    double *q0, *q1;     /* [nq] */
    double *u, *v0, *v1; /* [n] */
    double *row;         /* [n] hits: slopes of the gap that closes, */
    double *gap_by;      /* [names] by numbers of the model */
    int *boxed;          /* [motors] */
    rigid_half half[2];
    int touches, touch_capacity;
    rigid_touch *touch;
    double *E[2]; /* [1 + names][n + unknowns] slopes of the equations by h and the numbers */
    size_t E_capacity[2];
    void *memory;
} rigid_record;

typedef struct rigid_tape rigid_tape;
typedef struct rigid_way rigid_way;

typedef struct sens_rigid {
    const zw_system *system;
    rigid_place steps; /* makes the steps */
    rigid_place here;
    impulse_watch watch;
    double h;
    double *q1, *v1; /* [nq], [n + acts] the end of the last step; activations follow the speeds */
    double *param;   /* [params] of it */
    int names;       /* numbers of the model among the unknowns */
    rigid_variant *variant;
    int acts, state;     /* activations; q, v and these together: 2 n + acts */
    int more;            /* columns beside the state: parameters and names */
    rigid_steps differs; /* what is found along with a step: */
    double *by;          /* [state][state + more] slopes of q1, v1, activations */
    rigid_tape *tape;    /* or the records for a backward pass; NULL: not supported */

    /* The current piece, */
    double *h_by;    /* [state + more] how its length changes, */
    double *rest_by; /* and the time that is left, */
    double rest;     /* which is this */
    double *piece; /* [state][state + 2 + more] its slopes: by its start, length, time, and more */
    double *next;  /* [state][state + more] scratch */
    int *control_side; /* [params] of motors: rigid_motor.c */
    int *joined;       /* [motors] as of its solution, */
    int *closed;       /* [m] */
    rigid_half half[2];
    impulse_block_key *block_key; /* [half[1].blocks] */
    int block_key_capacity;
    double *q_end;                   /* [nq] */
    double *u, *v_end, *gain, *unit; /* [n] */
    double *act_by_u;                /* [acts][n] slopes of activations at its end */
    double *y;                       /* [7][Y] of differences */
    size_t y_capacity, K_capacity, X_capacity;
    double noise;  /* of the equations */
    double *K, *X; /* of solves */
    double slow;   /* a speed that decides nothing */

    int kink_count;
    const char *kink;
    int is_open;      /* its name is from rigid_note_open */
    zw_status status; /* of what the watch had to do */
    zw_error failure; /* and the message; that of the step is the step's */
    rigid_way *way;   /* scratch of the way back */
    void *memory;
} sens_rigid;

/* Numbers of the model, by the names of zw_model_set, may be among the unknowns. ZW_BAD_INPUT:
 * there is something whose derivatives are not there. */
sens_rigid *rigid_create(const zw_system *system, const zw_run_options *plan, zw_model *model,
                         const char *const *name, int names, zw_error *error);
void rigid_free(sens_rigid *r);
int rigid_make_way(
    sens_rigid *r); /* steps can have records, if they cover the system; 0: no memory */
int rigid_memory(const sens_rigid *r, double **numbers); /* as impulse_memory */
/* A step from (q, v): q1, v1, and what is to be found along with it. */
zw_status rigid_take(sens_rigid *r, double t, const double *q, const double *v, const double *param,
                     rigid_steps differs, zw_error *error);
zw_status rigid_no_memory(sens_rigid *r);
/* *list has room for so many. 0: no memory. */
int rigid_grow(double **list, size_t *capacity, size_t need);
/* Place k of all that have a number of the model changed. */
static inline rigid_place *rigid_beside(const sens_rigid *r, int k)
{
    return &r->variant[k / NUMBER_SYSTEMS].at[k % NUMBER_SYSTEMS];
}

void rigid_note_kink(sens_rigid *r, const char *name);
/* No kink, but the equations do not determine the answer, or the step has it only roughly: the
 * slopes need not be those of either side. Its name is kept beside those of kinks. */
void rigid_note_open(sens_rigid *r, const char *name);
/* How q1 = q0 (+) h u of the piece changes, along speeds: to[n]. */
void rigid_move(const sens_rigid *r, const double *dq, const double *du, double dh, double *to);

/* rigid.c: the piece that s has begun becomes that of r->here and of all systems beside it. Points
 * within RIGID_REACH, of the size of the scene, are found: they stay there while places move. */
#define RIGID_REACH 0x1p-7
int rigid_copy_piece(sens_rigid *r, const step_impulse *s);

/* rigid_piece.c: a piece was solved: what its equations are is noted; then r->piece. */
zw_status rigid_piece_note(sens_rigid *r, const step_impulse *s, const double *v1);
zw_status rigid_piece_slopes(sens_rigid *r);
/* Modes of the piece, from the equations where they hold. 0: a point is not there. */
int rigid_piece_decide(sens_rigid *r);
/* Slopes of its equations by its length (column 0) and the numbers of the model (from 1 on), as
 * rigid_spread has them, into to[2][size]. */
int rigid_piece_column(sens_rigid *r, int column, double *const to[2]);
/* rigid_motor.c: at the equations of a piece: controls and forces stay on their sides of where they
 * are clamped from now on; and kinks. */
void rigid_motors(sens_rigid *r);
/* How far places of a control, or of an activation, that is x are shifted, to stay on its side of
 * where activations are clamped; *step may be less then. */
double rigid_shift(sens_rigid *r, int activation, int j, double x, double *step);
/* Friction of a joint that has what the first half left of it: its block there, or NULL. */
const rigid_block *rigid_spends(const rigid_half half[2], const rigid_block *it);
int rigid_is_coulomb(const sens_rigid *r);

/* rigid_solve.c: x[columns][size] = -K \ x, K of a half with columns speeds[n][size] for speeds. */
zw_status rigid_solve(sens_rigid *r, const rigid_half *half, const double *speeds, int columns,
                      double *x);

/* rigid_share.c: K of a half, row by row, or transposed. */
typedef struct rigid_matrix {
    int size, transposed;
    double *at;
    int *given; /* [size] rigid_share: equations that say how loads are shared */
} rigid_matrix;

static inline double *rigid_entry(const rigid_matrix *K, int i, int j)
{
    size_t size = (size_t)K->size, row = (size_t)(K->transposed ? j : i);
    return K->at + row * size + (size_t)(K->transposed ? i : j);
}

/* Loads that contacts share without being determined are kept: their rows and columns of K and
 * their right sides x[columns][size] are those of an unknown that is 0. 0: no memory. */
int rigid_share(sens_rigid *r, const rigid_half *half, const rigid_matrix *K, int columns,
                double *x);

/* rigid_rim.c: the key of a point, or of the one that it has come down to in the rounds of s. */
int64_t rigid_point_key(const step_impulse *s, int64_t key);
/* Modes are known: which points follow their shapes; and kinks. */
void rigid_rims(sens_rigid *r);

/* rigid_law.c: blocks as of a problem with its multipliers; points that are one (s not NULL) have
 * one block. 0: no memory. */
int rigid_list(rigid_half *to, int n, const impulse_problem *p, const double *lambda,
               const step_impulse *s);
/* value[2][rows]: speeds of rows, or what their multipliers are by law; coefficients of friction.
 * R -= B' lambda. 0: a block is not there. */
int rigid_values(const rigid_half *half, const impulse_problem *p, const double *x, double *R,
                 double *value);
/* Where rows of p are those of the solution, with speeds x: modes, w, B and unknowns; later: the
 * half after this one, or NULL. 0: a block is not there. */
int rigid_decide(sens_rigid *r, rigid_half *half, const impulse_problem *p, const double *x,
                 const impulse_matrix *H, const rigid_half *later);
/* Changes of R and values become those of all equations: to[n + unknowns]. */
void rigid_spread(const rigid_half *half, int n, int coulomb, const double *dR,
                  const double *dvalue, double *to);
/* Transposed: z[n + unknowns] becomes slopes by R, which are its first n, and by speeds and given
 * multipliers: y[rows]. */
void rigid_collect(const rigid_half *half, int n, int coulomb, const double *z, double *y);
/* to[n] -= what a change of one unknown multiplier pushes. */
void rigid_push_unknown(const rigid_half *half, int n, int unknown, double *to);
/* Do speeds and multipliers fulfil the laws, relative to the largest of them? */
int rigid_holds(const rigid_half *half, double part);
void rigid_half_free(rigid_half *half);
int rigid_half_copy(rigid_half *to, const rigid_half *from, int n); /* 0: no memory */

/* rigid_hit.c: r->h_by of a piece that ends where something meets; and r->by over an impact. */
zw_status rigid_hit(sens_rigid *r, const step_impulse *s);
zw_status rigid_impact(sens_rigid *r, const step_impulse *s);
/* Before the first step of a motion: kinks by the numbers of the model. */
void rigid_check_start(sens_rigid *r, const double *q);
/* Of the piece that has just been taken: row[n] and by[names], slopes of the gap that closes. */
zw_status rigid_meeting(sens_rigid *r, const step_impulse *s, double *row, double *by);

/* rigid_tape.c: records of a step. NULL without an error: this system has no way back of its own.
 */
rigid_tape *rigid_tape_create(sens_rigid *r);
void rigid_tape_free(rigid_tape *tape);
void rigid_tape_begin(rigid_tape *tape); /* of a step */
int rigid_tape_failed(
    const rigid_tape *tape); /* the step has no records; its matrix may be there */
int rigid_tape_count(const rigid_tape *tape);
const rigid_record *rigid_tape_record(const rigid_tape *tape, int k);
/* Contacts at q0 have been found; then those at q1, with modes; an act of an impact. */
int rigid_tape_start(sens_rigid *r);
zw_status rigid_tape_piece(sens_rigid *r, const step_impulse *s, int hits);
zw_status rigid_tape_act(sens_rigid *r, const double *q, const double *before, const double *after,
                         double (*bounce)(void *user, int64_t key), void *user,
                         int (*column)(sens_rigid *r, void *user, int name, double *to));

/* rigid_back.c: g[2 n], slopes of a number by the end of the step that was recorded, become those
 * by its start; by_param and by_number (NULL: not wanted) get more. */
rigid_way *rigid_way_create(const zw_system *system);
void rigid_way_free(rigid_way *way);
zw_status rigid_back(sens_rigid *r, double *g, double *by_param, double *by_number);

#endif

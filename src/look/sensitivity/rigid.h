/* Inside of derivatives of steps of method impulse: rigid.c a step, rigid_piece.c the equations of
 * a piece of it and their slopes, rigid_law.c the laws of its rows, rigid_hit.c impacts. */
#ifndef ZW_LOOK_RIGID_H
#define ZW_LOOK_RIGID_H

#include "look/sensitivity/number.h"
#include "step/impulse/impulse.h"
#include "zwang/sensitivity.h"

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
} rigid_block;

/* One of the two problems of a piece (impulse.c, impulse_close.c), or an impact: its equations are
 * R(x, lambda) = 0, [n] of them, and one for each of its unknown multipliers. */
typedef struct rigid_half {
    int blocks, rows, unknowns, block_room, row_room;
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
    rigid_place at[4];
} rigid_variant;

typedef struct sens_rigid {
    const zw_system *system;
    rigid_place steps; /* makes the steps */
    rigid_place here;
    impulse_watch watch;
    double h;
    double *q1, *v1; /* [nq], [n] the end of the last step */
    double *param;   /* [params] of it */
    int names;       /* numbers of the model among the unknowns */
    rigid_variant *variant;
    int more;    /* columns beside q and v: parameters and names */
    int differs; /* slopes are found along with a step: */
    double *by;  /* [2 n][2 n + more] of q1, v1 */

    /* The piece at hand, */
    double *h_by;    /* [2 n + more] how its length changes, */
    double *rest_by; /* and the time that is left, */
    double rest;     /* which is this */
    double *piece;   /* [2 n][2 n + 1 + more] its slopes: by q0, v0, its length, and more */
    double *next;    /* [2 n][2 n + more] scratch */
    int *joined;     /* [motors] as of its solution, */
    int *closed;     /* [m] */
    rigid_half half[2];
    impulse_closer *closer; /* [half[1].blocks] */
    int closer_room;
    double *q_end;                   /* [nq] */
    double *u, *v_end, *gain, *unit; /* [n] */
    double *y;                       /* [6][Y] of differences */
    size_t y_room, K_room, X_room;
    double *K, *X; /* of solves */
    double slow;   /* a speed that decides nothing */

    int kink_count;
    const char *kink;
    zw_status status; /* of what the watch had to do */
    zw_error failure; /* and the message; that of the step is the step's */
    void *memory;
} sens_rigid;

/* Numbers of the model, by the names of zw_model_set, may be among the unknowns. ZW_BAD_INPUT:
 * there is something whose derivatives are not there. */
sens_rigid *rigid_create(const zw_system *system, const zw_run_options *plan, zw_model *model,
                         const char *const *name, int names, zw_error *error);
void rigid_free(sens_rigid *r);
int rigid_memory(const sens_rigid *r, double **numbers); /* as impulse_memory */
/* A step from (q, v): q1, v1; if it differs, with its slopes: by. */
zw_status rigid_take(sens_rigid *r, double t, const double *q, const double *v, const double *param,
                     int differs, zw_error *error);
void rigid_note_kink(sens_rigid *r, const char *name);

/* rigid_piece.c: a piece was solved: what its equations are is noted; then r->piece. */
zw_status rigid_piece_note(sens_rigid *r, const step_impulse *s, const double *v1);
zw_status rigid_piece_slopes(sens_rigid *r);
zw_status rigid_no_memory(sens_rigid *r);
/* *list has room for so many. 0: no memory. */
int rigid_grow(double **list, size_t *room, size_t need);

/* rigid_law.c: blocks as of a problem with its multipliers. 0: no memory. */
int rigid_list(rigid_half *to, int n, const impulse_problem *p, const double *lambda);
/* value[2][rows]: speeds of rows, or what their multipliers are by law; coefficients of friction.
 * R -= B' lambda. 0: a block is not there. */
int rigid_values(const rigid_half *half, const impulse_problem *p, const double *x, double *R,
                 double *value);
/* Where rows of p are those of the solution, with speeds x: modes, w, B and unknowns. 0: a block
 * is not there. */
int rigid_decide(sens_rigid *r, rigid_half *half, const impulse_problem *p, const double *x,
                 const impulse_matrix *H);
/* Changes of R and values become those of all equations: to[n + unknowns]. */
void rigid_spread(const rigid_half *half, int n, int coulomb, const double *dR,
                  const double *dvalue, double *to);
/* to[n] -= what a change of one unknown multiplier pushes. */
void rigid_push_unknown(const rigid_half *half, int n, int unknown, double *to);
/* Do speeds and multipliers fulfil the laws, relative to the largest of them? */
int rigid_holds(const rigid_half *half, double part);
void rigid_half_free(rigid_half *half);

/* rigid_hit.c: r->h_by of a piece that ends where something meets; and r->by over an impact. */
zw_status rigid_hit(sens_rigid *r, const step_impulse *s);
zw_status rigid_impact(sens_rigid *r, const step_impulse *s, const double *before,
                       const double *after);

#endif

/* Internals of the derivatives at an instant: slopes.c solves, slopes_formula.c has the formulas of
 * equations, slopes_tree.c the sweeps of robots, slopes_bodies.c their loops and contacts. */
#ifndef ZW_LOOK_SLOPES_H
#define ZW_LOOK_SLOPES_H

#include "expr/tape.h"
#include "step/events/kink.h"
#include "system/work.h"
#include "zwang/slopes.h"

/* The derivative of residual `row` by leaf `index` of a kind of leaves. */
typedef struct slopes_entry {
    int row, kind, index; /* kind: an expr_op */
} slopes_entry;

/* Residuals of equations, see slopes_formula.c. The leaves after the multipliers of the rows belong
 * to constraints with friction, those of c from slot[c] on: its mode, the direction of sliding, its
 * holding forces. */
typedef struct slopes_formulas {
    expr_graph *graph;
    expr_tape *tape;
    expr_shape shape;
    int rows;  /* n + m + holding rows of all constraints with friction */
    int *slot; /* [constraints] first of its leaves; -1: no friction */
    int *hold; /* [constraints] first of its rows */
    int entries;
    slopes_entry *entry;
    double *registers, *out;
    double *a, *lambda; /* leaves */
    double *side;       /* [kinks of the tape] */
} slopes_formulas;

enum { SLOPES_RESTS, SLOPES_SLIDES, SLOPES_BEGINS };

struct zw_slopes {
    const zw_model *model;
    const zw_system *system;
    zw_work *work;
    int columns;
    slopes_formulas formulas;
    struct slopes_tree *tree;       /* for robots; NULL: equations */
    struct slopes_bodies *bodies;   /* for robots with loops, contacts, forces that turn */
    int by_bodies;                  /* the last answer comes from `bodies` */
    int numbers;                    /* numbers of the model by which derivatives are taken */
    struct slopes_variant *variant; /* [numbers] systems with slightly changed values of each */
    int *active;                    /* [rows] the unknown of each residual; -1: inactive */
    double *K;                      /* [size][size] slopes of the residuals by the unknowns */
    double *by;                     /* [columns][size] minus their slopes by everything else */
    double *K_kept, *by_kept;       /* the same, before they are solved */
    double *known;                  /* [columns][n] slopes of M a - force */
    double *a_by, *lambda_by, *force_by, *force, *scratch;
    const step_kinks *kinks; /* branches fixed by a run; NULL: evaluated here */
    zw_slopes_answer answer;
    void *memory;
};

zw_status slopes_formulas_create(zw_slopes *slopes, zw_error *error);
void slopes_formulas_free(slopes_formulas *formulas);
/* Fills K, by, known and active at the state of the last zw_forward of the work. */
zw_status slopes_formulas_fill(zw_slopes *slopes, zw_state *state, int *size, zw_error *error);
/* The slopes of all residuals at the present leaves: entry[] and out[] of the formulas. */
void slopes_formulas_run(zw_slopes *slopes, zw_state *state);
/* dA w of the rows: out[columns][m]; see slopes.c. */
void slopes_formulas_carry(zw_slopes *slopes, zw_state *state, const double *w, double *out);
/* Counts the kinks of formulas that the state is close to. */
zw_status slopes_formulas_kinks(zw_slopes *slopes, zw_state *state, zw_error *error);

/* For equations, within a run: a_by and lambda_by at `state`, where the last system_accelerate of
 * the work was; branches, modes and directions of sliding are those of the run. *rank: of K. */
zw_status slopes_follow(zw_slopes *slopes, zw_work *work, const step_kinks *kinks, zw_state *state,
                        int *rank, zw_error *error);

#define SLOPES_RANK 1e-11 /* rows depend on each other up to this, after they are scaled */

/* slopes_solve.c: x = K \ by for all columns, by a rank-revealing factorisation, which overwrites
 * K. by[columns][size] gets the solutions. Returns the rank, -1: no memory. */
int slopes_solve(int size, int columns, double *K, double *by);
/* The same, where rows count as dependent up to this relative tolerance. loose[size], or NULL: how
 * undetermined each unknown is, 0 to 1. null[size], or NULL: a null vector of K that has a part of
 * every undetermined direction. */
int slopes_solve_to(int size, int columns, double *K, double *by, double least, double *loose,
                    double *null);
/* The part of u[columns][m] orthogonal to the range of A[m][n]. 0: no memory. */
int slopes_outside(int m, int n, const double *A, int columns, double *u);
/* Any w with A w = b. 0: no memory. */
int slopes_some(int m, int n, const double *A, const double *b, double *w);

/* slopes_tree.c */
zw_status slopes_tree_create(zw_slopes *slopes, zw_error *error);
void slopes_tree_free(struct slopes_tree *tree);
zw_status slopes_tree_look(zw_slopes *slopes, zw_state *state, zw_error *error);

#endif

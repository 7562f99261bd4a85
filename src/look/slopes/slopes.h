/* Inside of derivatives of an instant: slopes.c solves, slopes_formula.c has the formulas of
 * equations, slopes_tree.c the sweeps of robots, slopes_bodies.c loops and contacts of these. */
#ifndef ZW_LOOK_SLOPES_H
#define ZW_LOOK_SLOPES_H

#include "expr/tape.h"
#include "step/events/kink.h"
#include "system/work.h"
#include "zwang/slopes.h"

/* How number `row` of the residuals changes with number `index` of a kind of leaves. */
typedef struct slopes_entry {
    int row, kind, index; /* kind: an expr_op */
} slopes_entry;

/* Residuals of equations, see slopes_formula.c. Leaves after the multipliers of the rows: of each
 * constraint with friction, from slot[c] on: what it does, its direction, its holding forces. */
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
    struct slopes_tree *tree;       /* of robots; NULL: equations */
    struct slopes_bodies *bodies;   /* of these, with loops, contacts, forces that turn; */
    int by_bodies;                  /* the last answer is from there */
    int numbers;                    /* of the model, that are differentiated by, too: */
    struct slopes_variant *variant; /* [numbers] systems with a bit less and more of each */
    int *active;                    /* [rows] of the residuals: its unknown, -1: not now */
    double *K;                      /* [size][size] their slopes by the unknowns, */
    double *by;                     /* [columns][size] and by all else */
    double *known;                  /* [columns][n] the same of M a - force alone */
    double *a_by, *lambda_by, *force_by, *force, *scratch;
    const step_kinks *kinks; /* of a run whose branches hold, or NULL: formulas decide */
    zw_slopes_answer answer;
    void *memory;
};

zw_status slopes_formulas_create(zw_slopes *slopes, zw_error *error);
void slopes_formulas_free(slopes_formulas *formulas);
/* At the state of the last zw_forward of the work: K, by and known, and what is active. */
zw_status slopes_formulas_fill(zw_slopes *slopes, zw_state *state, int *size, zw_error *error);
/* The slopes of all residuals with the leaves as they are: entry[] and out[] of the formulas. */
void slopes_formulas_run(zw_slopes *slopes, zw_state *state);
/* dA w of the rows: out[columns][m]; see slopes.c. */
void slopes_formulas_carry(zw_slopes *slopes, zw_state *state, const double *w, double *out);
/* Corners of formulas near which the state is. */
zw_status slopes_formulas_kinks(zw_slopes *slopes, zw_state *state, zw_error *error);

/* Equations, within a run: a_by and lambda_by where the work's last system_accelerate was, which is
 * the state; branches, modes and directions of sliding are those of the run. *rank of K. */
zw_status slopes_follow(zw_slopes *slopes, zw_work *work, const step_kinks *kinks, zw_state *state,
                        int *rank, zw_error *error);

/* slopes_solve.c: x = K \ by for all columns, by a rank-revealing factorisation: K is used up.
 * by[columns][size] gets the solutions. Returns the rank, -1: no memory. */
int slopes_solve(int size, int columns, double *K, double *by);
/* The same where rows that depend on each other do so only up to this, relative. loose[size], or
 * NULL: how far from determined each unknown is, 0 to 1. null[size], or NULL: a vector that K makes
 * 0 of, with a part of all of these. */
int slopes_solve_to(int size, int columns, double *K, double *by, double least, double *loose,
                    double *null);
/* The part of u[columns][m] that no combination of the columns of A[m][n] gives. 0: no memory. */
int slopes_outside(int m, int n, const double *A, int columns, double *u);
/* Some w with A w = b. 0: no memory. */
int slopes_some(int m, int n, const double *A, const double *b, double *w);

/* slopes_tree.c */
zw_status slopes_tree_create(zw_slopes *slopes, zw_error *error);
void slopes_tree_free(struct slopes_tree *tree);
zw_status slopes_tree_look(zw_slopes *slopes, zw_state *state, zw_error *error);

#endif

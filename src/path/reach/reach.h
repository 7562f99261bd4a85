/* Boundary-value problems: motions from a given start to a given end, and how they are found.
 *
 * Wanted are start values z = (speeds, carried multipliers) on the manifold psi(q0, z) = 0, with
 * the given ones fixed, such that the motion from there satisfies the conditions F(z) = 0 at the
 * end.
 *
 * 1. A guess (reach_least.c). Under the vakonomic law the motion is an extremal of Lagrange's
 *    problem, Kozlov (2000), eq. (11), and usually the one of least action is wanted. So the
 *    action is minimised over piecewise linear paths. Free and holonomic systems are the case
 *    without Phi.
 * 2. Newton's method on the motion itself (reach_shoot.c), from the guess; without one, or if there
 *    is no minimum, from a straight start, moving the end continuously from where that motion
 *    arrives to the goal.
 *
 * The conditions. q_i(T) = the goal, for the named coordinates. At an extremal with free ends, 0 =
 * p . delta q at the end for all delta q that neither a named coordinate nor a holonomic row
 * forbids: p = dL~/dv has no component in the null space of those rows. Together these conditions
 * are as many as there are coordinates minus holonomic rows. So are the unknowns, since a carried
 * multiplier replaces the speed that its row determines. */
#ifndef ZW_PATH_REACH_H
#define ZW_PATH_REACH_H

#include "path/reach/reach_terms.h"
#include "system/work.h"
#include "zwang/path.h"

/* Rows in R^columns, for solutions of minimum norm: J = [L 0] Q'. */
typedef struct reach_rows {
    int most, columns; /* capacity, in rows */
    int rows, rank;
    double *J; /* [most * columns] */
    double *beta, *distance;
    int *order;
} reach_rows;

typedef struct reach {
    const zw_system *system;
    zw_state *state, *trial;
    zw_work *work;
    zw_reach_options options;
    zw_reach_report report;
    int n, size;    /* coordinates; and the length of z */
    int named;      /* number of named coordinates */
    int natural;    /* p is required to vanish in the remaining directions */
    int conditions; /* entries of F: named + (natural ? n : 0), some of them redundant */
    int unknowns;
    long most_runs;              /* limit on the runs of this attempt */
    double time;                 /* of arrival */
    double *target;              /* [n] */
    int *is_named;               /* [n] */
    int *held;                   /* [size] is this start value given? */
    double *given;               /* [size] */
    double *target_part;         /* [n] goal of a part of the path */
    int *all_named;              /* [n] */
    reach_rows start, end, step; /* rows of the start, of the end, and dF/dz */
    double *basis; /* [size * size] rows: a basis of the directions in which z can move */
    double *F, *F_plus, *F_minus, *F_kept, *wanted; /* [conditions] */
    double *z, *best, *z_try, *move, *kept;         /* [size] */
    double *land;                                   /* [m + 2 size] */
    reach_terms interval, node;                     /* of the discrete path */
    zw_status failure;                              /* an error that ends the search: no memory */
    zw_error why;                                   /* why the last motion failed */
    void *memory;
} reach;

/* reach_rows.c. The caller fills rows->J (rows * columns) and rows->rows. */
void reach_rows_lay_out(reach_rows *rows, base_arena *arena, int most, int columns);
int reach_rows_factor(reach_rows *rows,
                      double tolerance); /* `tolerance` is relative; returns the rank */
/* x = the shortest vector with J x = r; rows beyond the rank are ignored. */
void reach_rows_solve(reach_rows *rows, const double *r, double *x);
/* x = the k-th vector of an orthonormal basis of the null space of J, k < columns - rank. */
void reach_rows_null(const reach_rows *rows, int k, double *x);
/* x -= its projection onto the span of the rows. */
void reach_rows_remove(const reach_rows *rows, double *x);

/* reach_least.c: a path of least action, and the start values z[size] that it suggests; 0: none was
 * found, or see reach->failure. `refine` continues with four times as many intervals. */
typedef struct reach_path reach_path;
reach_path *reach_path_create(reach *r);
void reach_path_free(reach_path *path);
int reach_path_least(reach *r, reach_path *path, double *z);
int reach_path_refine(reach *r, reach_path *path);
void reach_path_at(const reach_path *path, double part,
                   double *q); /* at this fraction of its time, 0 to 1 */

/* reach_shoot.c */
/* Moves z to psi(q0, z) = 0 with the given values fixed; 0: there is no solution nearby. */
int reach_land(reach *r, double *z);
/* Turns z into a solution: from the start `z` alone, along a path, or by moving the end. 0: not
 * found; z is then the best found. */
int reach_shoot(reach *r, double *z);
int reach_extend(reach *r, const reach_path *path, double *z); /* along the path, part by part */
int reach_lead(reach *r, double *z);
/* Does the motion from z follow the path? Newton's method may have converged to another one. */
int reach_along(reach *r, const reach_path *path, const double *z);
/* r->end: the holonomic rows at q and, if `with_named`, those of the named coordinates;
 * factored. */
void reach_end_rows(reach *r, const double *q, int with_named);
/* F of the motion from z; 0: there is no such motion. */
int reach_miss(reach *r, const double *z, double *F);
/* Action and length of the motion that starts from the state. */
zw_status reach_measure(reach *r, zw_error *error);
/* Asks the caller whether to stop. */
int reach_stopped(reach *r);

#endif

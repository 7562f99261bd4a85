/* From here to there: a boundary-value problem, and how it is solved.
 *
 * Asked are start values z = (speeds, carried multipliers) on the manifold psi(q0, z) = 0 with the
 * given ones held, so that the motion that begins there meets conditions F(z) = 0 at the end.
 *
 * 1. A guess (reach_least.c). Under the vakonomic law the motion is an extremal of Lagrange's
 *    problem, Kozlov (2000), eq. (11), and among all of them people want the least one. So the
 * action is minimised over broken paths. Free and holonomic systems are the case without Phi.
 * 2. Newton's method on the motion itself (reach_shoot.c), from the guess; without one, or if there
 *    is no minimum, from a straight start, the end being led from where that arrives to where it
 *    should.
 *
 * The conditions. q_i(T) = what is named. At an extremal with free ends, 0 = p . delta q at the end
 * for all delta q that neither a named coordinate nor a holonomic row forbids: p = dL~/dv has no
 * part in the null space of those rows. Together they are as many as there are coordinates beyond
 * the holonomic rows; and so many unknowns are there, since a carried multiplier makes up for the
 * speed that its row takes. */
#ifndef ZW_PATH_REACH_H
#define ZW_PATH_REACH_H

#include "path/reach/reach_terms.h"
#include "system/work.h"
#include "zwang/path.h"

/* Rows in R^columns, for solutions of least norm: J = [L 0] Q'. */
typedef struct reach_rows {
    int most, columns; /* room for so many rows */
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
    int n, size;    /* coordinates; with what is carried */
    int named;      /* coordinates */
    int natural;    /* p vanishes in the directions that are left */
    int conditions; /* entries of F: named + (natural ? n : 0), some of them redundant */
    int unknowns;
    long most_runs;              /* of this attempt */
    double time;                 /* of arrival */
    double *target;              /* [n] */
    int *is_named;               /* [n] */
    int *held;                   /* [size] */
    double *given;               /* [size] */
    double *target_part;         /* [n] of a part of the way */
    int *all_named;              /* [n] */
    reach_rows start, end, step; /* rows of the start, of the end, and dF/dz */
    double *basis;               /* [size * size] rows: directions in which z can go */
    double *F, *F_plus, *F_minus, *F_kept, *wanted; /* [conditions] */
    double *z, *best, *z_try, *move, *kept;         /* [size] */
    double *land;                                   /* [m + 2 size] */
    reach_terms interval, node;                     /* of the discrete path */
    zw_status failure;                              /* that ends everything: no memory */
    zw_error why;                                   /* the last motion that failed */
    void *memory;
} reach;

/* reach_rows.c. The caller fills rows->J (rows * columns) and rows->rows. */
void reach_rows_lay_out(reach_rows *rows, base_arena *arena, int most, int columns);
int reach_rows_factor(reach_rows *rows, double tolerance); /* relative; the rank */
/* x = the shortest vector with J x = r; rows beyond the rank are not looked at. */
void reach_rows_solve(reach_rows *rows, const double *r, double *x);
/* x = the k-th direction that J does not see, k < columns - rank. */
void reach_rows_null(const reach_rows *rows, int k, double *x);
/* x -= its part in the span of the rows. */
void reach_rows_remove(const reach_rows *rows, double *x);

/* reach_least.c: a path of least action, and what it begins with: z[size]; 0: none was found, or
 * reach->failure. `refine` takes it up with four times as many intervals. */
typedef struct reach_path reach_path;
reach_path *reach_path_create(reach *r);
void reach_path_free(reach_path *path);
int reach_path_least(reach *r, reach_path *path, double *z);
int reach_path_refine(reach *r, reach_path *path);
void reach_path_at(const reach_path *path, double part, double *q); /* part of the way, 0 to 1 */

/* reach_shoot.c */
/* Onto psi(q0, z) = 0 with what is held; 0: it has no solution nearby. */
int reach_land(reach *r, double *z);
/* z becomes a solution; from the start `z` alone, along a path, or led there. 0: not found; z is
 * the best then. */
int reach_shoot(reach *r, double *z);
int reach_extend(reach *r, const reach_path *path, double *z); /* along the path, part by part */
int reach_lead(reach *r, double *z);
/* Does the motion from z follow the path? Newton's method may have found another one. */
int reach_along(reach *r, const reach_path *path, const double *z);
/* r->end: the holonomic rows at q, and those of what is named; factored. */
void reach_end_rows(reach *r, const double *q, int with_named);
/* F of the motion from z; 0: there is none. */
int reach_miss(reach *r, const double *z, double *F);
/* Action and length of the motion from the state. */
zw_status reach_measure(reach *r, zw_error *error);
/* Ask the caller whether to go on. */
int reach_stopped(reach *r);

#endif

/* Internals of inverse dynamics: see inverse.c. */
#ifndef ZW_LOOK_INVERSE_H
#define ZW_LOOK_INVERSE_H

#include "look/inverse_rows.h"
#include "system/work.h"
#include "zwang/inverse.h"

/* A contact point that may have a force. */
typedef struct inverse_point {
    int index;        /* among those of contact_now.h */
    int row;          /* its first row, in the solver's tail; -1: no force */
    int rows;         /* 1, or those of a cone */
    double across[6]; /* of what slides: friction for a normal force of 1 */
} inverse_point;

struct zw_inverse {
    const zw_model *model;
    const zw_system *system;
    zw_work *work;
    int motors, drives, *drive;
    double touch, rest, still;
    int *role;             /* [constraints] */
    system_solver *solver; /* of the last question */
    int points, point_capacity;
    inverse_point *point;
    double *range; /* [motors][2] */
    double *demand, *motor, *control, *driven, *lambda, *constraint, *touching, *residual, *missing,
        *force, *usual;
    double *x; /* [rows of the solver] its multipliers */
    int x_capacity;
    void *memory;
};

/* The instant being evaluated. */
typedef struct inverse_now {
    double t;
    const double *q, *v, *a;
    const double *usual; /* [n] accelerations that the demand alone would take: what round-off in a
                            is small beside */
    double rest;         /* speeds below this count as zero */
} inverse_now;

/* inverse_touch.c: what constraints, friction and contacts may exert for this motion: roles of the
 * constraints, and rows after them. The terms have been evaluated. */
zw_status inverse_roles(zw_inverse *inverse, const inverse_now *now, inverse_rows *rows,
                        zw_error *error);
zw_status inverse_points(zw_inverse *inverse, zw_state *state, const inverse_now *now,
                         inverse_rows *rows, zw_error *error);
/* The contacts with their forces, into the list of the work. */
zw_status inverse_list(zw_inverse *inverse, zw_error *error);

/* inverse_least.c: of all forces with the same effect A' lambda, the least; into lambda[rows] of
 * the solver. `acts` rows from `first` on are motors. *choices: number of free dimensions; *least:
 * 1 if it was found, or there is no choice. */
zw_status inverse_least(const system_solver *solver, int first, int acts, double *lambda,
                        int *choices, int *least, zw_error *error);

#endif

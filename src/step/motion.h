/* A system as a field y' = f(t, y) with y = (q, v, what the law carries, W): W, the last, is the
 * work of all that changes the energy, carried along where the system is not conservative, so that
 * the energy theorem (Cardin-Zanzotto 1989, eq. (3.14)), E(t) = E(0) + W(t), can be checked at any
 * moment. */
#ifndef ZW_STEP_MOTION_H
#define ZW_STEP_MOTION_H

#include "system/work.h"

typedef struct step_motion {
    const zw_system *system;
    zw_work *work;
    int carried;     /* numbers after the speeds */
    int size;        /* of y */
    double *stage;   /* [size] room for a stage on the manifold */
    int careful;     /* beside the manifold the rows cannot be trusted */
    int rank;        /* of the rows where the last step ended, on the manifold */
    int first;       /* rank where the run began; -1: not known yet */
    int at_node;     /* the next evaluation is there */
    int alone;       /* evaluations know nothing of each other: the field is not what steps are
                        taken by, but its power is integrated, and a run may end anywhere */
    double margin;   /* from losing rank, at nodes: zw_motion.margin, and the lengths of the rows */
    double most;     /* sparse algebra: the largest that zw_motion.margin was so far */
    double *longest; /* [m] of each row so far */
} step_motion;

/* `stage` is the caller's: [nq + n + carried + 1 + m]. */
step_motion motion_of(const zw_system *system, zw_work *work, double *stage);

/* For step_ode: `user` is the step_motion. */
zw_status motion_field(void *user, double t, const double *y, double *dy, zw_error *error);
zw_status motion_exact(void *user, double t, double *y, double *dy, zw_error *error);
zw_status motion_project(void *user, double t, double *y, zw_error *error);
void motion_move(void *user, double *q, double h, const double *v);
/* The rank of the rows a little beside y, on the manifold or not. */
int motion_rank_beside(step_motion *motion, double t, const double *y);

/* Is y, where the last step ended, near a loss of rank? Then the constraints that are about to
 * depend on each other, at most four, with commas. */
int motion_name_singular(step_motion *motion, double t, const double *y, char *text,
                         size_t capacity);

void motion_pack(const step_motion *motion, const zw_state *state, double *y);
void motion_unpack(const step_motion *motion, double t, const double *y, zw_state *state);

#endif

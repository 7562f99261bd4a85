/* A system as a field y' = f(t, y) with y = (q, v, carried multipliers, W): W, the last entry, is
 * the work of everything that changes the energy, integrated where the system is not conservative,
 * so that the energy theorem (Cardin-Zanzotto 1989, eq. (3.14)), E(t) = E(0) + W(t), can be checked
 * at any time. */
#ifndef ZW_STEP_MOTION_H
#define ZW_STEP_MOTION_H

#include "system/work.h"

typedef struct step_motion {
    const zw_system *system;
    zw_work *work;
    int carried;     /* number of entries after the speeds */
    int size;        /* of y */
    double *stage;   /* [size] scratch for a stage on the manifold */
    int careful;     /* off the manifold the rows are not reliable */
    int rank;        /* of the rows at the end of the last step, on the manifold */
    int first;       /* rank at the start of the run; -1: unknown yet */
    int at_node;     /* the next evaluation is at a node */
    int alone;       /* evaluations are independent: steps do not use the field, but its power is
                        integrated, and a run may end anywhere */
    double margin;   /* distance from a loss of rank, at nodes: zw_motion.margin, and the lengths of
                        the rows */
    double most;     /* sparse algebra: the largest value of zw_motion.margin so far */
    double *longest; /* [m] the largest length of each row so far */
} step_motion;

/* The caller provides `stage`: [nq + n + carried + 1 + m]. */
step_motion motion_of(const zw_system *system, zw_work *work, double *stage);

/* For step_ode: `user` is the step_motion. */
zw_status motion_field(void *user, double t, const double *y, double *dy, zw_error *error);
zw_status motion_exact(void *user, double t, double *y, double *dy, zw_error *error);
zw_status motion_project(void *user, double t, double *y, zw_error *error);
void motion_move(void *user, double *q, double h, const double *v);
/* The rank of the rows at a point near y, on the manifold or not. */
int motion_rank_beside(step_motion *motion, double t, const double *y);

/* Is y, the end of the last step, near a loss of rank? Then text lists the constraints that are
 * about to depend on each other, at most four, separated by commas. */
int motion_name_singular(step_motion *motion, double t, const double *y, char *text,
                         size_t capacity);

void motion_pack(const step_motion *motion, const zw_state *state, double *y);
void motion_unpack(const step_motion *motion, double t, const double *y, zw_state *state);

#endif

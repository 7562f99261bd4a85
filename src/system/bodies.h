/* Rigid bodies as a system: a tree in reduced coordinates (tree/tree.h), loops closed by rows.
 *
 * The tree says M, the bias and the motion of every body; a closer says how the frames of two
 * bodies may move against each other. Where equations run a tape, bodies sweep over the tree, and
 * both fill the same outputs (system_part): all that comes after does not know the difference.
 *
 * Rows of a closer are linear in the motions (omega, velocity) of its two frames,
 *
 *     psi = c1 . V1 + c2 . V2,      d psi/dt = c1 . A1 + c2 . A2 + (c1' . V1 + c2' . V2),
 *
 * so row r of A is c1 J1 + c2 J2, and b is minus the rest, with A1, A2 taken for a = 0. */
#ifndef ZW_SYSTEM_BODIES_H
#define ZW_SYSTEM_BODIES_H

#include "system/work.h"
#include "zwang/bodies.h"

/* A frame on a body of the tree. */
typedef struct bodies_frame {
    int body;
    double pos[3], quat[4];
} bodies_frame;

typedef enum bodies_closer_kind {
    CLOSER_CONNECT,  /* 3 rows: the same point */
    CLOSER_WELD,     /* 6: the same frame */
    CLOSER_HINGE,    /* 5: free to turn about z */
    CLOSER_SLIDE,    /* 5: free to shift along z */
    CLOSER_DISTANCE, /* 1 */
    CLOSER_JOINT,    /* 1: q1 = poly(q2), by coordinates */
    CLOSER_LOWER,    /* 1, one-sided: q >= limit */
    CLOSER_UPPER     /* 1, one-sided: q <= limit */
} bodies_closer_kind;

typedef struct bodies_closer {
    bodies_closer_kind kind;
    int row; /* the first */
    int rows;
    bodies_frame frame[2];
    int q[2], dof[2]; /* of joints; -1: none */
    double origin[2]; /* of the polynomial */
    double poly[5];
    double limit;   /* distance or limit */
    int chain[2];   /* dofs that move the two bodies: how many, */
    int *column[2]; /* and where each stands among the columns of the rows */
} bodies_closer;

/* A motor on a joint: force = clamp(gain u + bias), u a parameter. */
typedef struct bodies_motor {
    int q, dof, param;
    double gear;
    int clamp_control, clamp_force, gain_affine, bias_affine;
    double control[2], force[2], gain[3], bias[3];
} bodies_motor;

struct system_bodies {
    zw_model *shown; /* names of coordinates and constraints, for messages and files: ours */
    char **speed;    /* [n] names of the speeds */
    int closer_count;
    bodies_closer *closer;
    int motor_count;
    bodies_motor *motor;
    int *entry; /* [entries of M] where each of the tree's is in the pattern of the system */
    int widest; /* dofs that move some body, at most */
};

zw_status bodies_compile(zw_system *system, const zw_model *model, zw_error *error);
void bodies_free(struct system_bodies *bodies);
/* The start as described: q of the pose in the file, at rest. */
void bodies_start(const zw_system *system, double *q, double *v);
/* One part of system.h into work->out. */
void bodies_evaluate(const zw_system *system, zw_work *work, system_part part, const double *q,
                     const double *v);

/* bodies_rows.c: phi, psi, b of all closers, and A in the pattern of the system; NULL: not wanted.
 * The sweeps for it have been run. */
typedef struct bodies_rows {
    double *phi, *psi, *b, *A;
} bodies_rows;
void bodies_fill_rows(const zw_system *system, const zw_work *work, const double *q,
                      const double *v, bodies_rows rows);

#endif

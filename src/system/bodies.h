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
 * so row r of A is c1 J1 + c2 J2, and b is minus the rest, with A1, A2 taken for a = 0.
 *
 * A length is what joints and tendons have in common: a sum of coef * coordinate over hinges and
 * slides. Limits, couplings, springs and motors act on lengths. */
#ifndef ZW_SYSTEM_BODIES_H
#define ZW_SYSTEM_BODIES_H

#include "system/work.h"
#include "zwang/bodies.h"

/* A frame on a body of the tree. */
typedef struct bodies_frame {
    int body;
    double pos[3], quat[4];
} bodies_frame;

typedef struct bodies_term {
    int q, dof;
    double coef;
} bodies_term;

/* L = sum of coef * q over its terms. */
typedef struct bodies_length {
    int first, count; /* in term[] */
    double origin;    /* L in the pose as described */
    int force_limited;
    double force_range[2]; /* of all motors together: on a tendon, or at a joint */
    double stiffness, damping;
    double rest[2]; /* between these no spring force */
} bodies_length;

typedef enum bodies_closer_kind {
    CLOSER_CONNECT,  /* 3 rows: the same point */
    CLOSER_WELD,     /* 6: the same frame */
    CLOSER_HINGE,    /* 5: free to turn about z */
    CLOSER_SLIDE,    /* 5: free to shift along z */
    CLOSER_DISTANCE, /* 1 */
    CLOSER_LENGTH,   /* 1: L1 - o1 = poly(L2 - o2) */
    CLOSER_LOWER,    /* 1, one-sided: L >= limit */
    CLOSER_UPPER,    /* 1, one-sided: L <= limit */
    CLOSER_BALL      /* 1, one-sided: the angle of a ball joint <= limit */
} bodies_closer_kind;

typedef struct bodies_closer {
    bodies_closer_kind kind;
    int row; /* the first */
    int rows;
    bodies_frame frame[2];
    int length[2]; /* -1: none */
    int q, dof;    /* of the ball */
    double poly[5];
    double limit;   /* distance or limit */
    int chain[2];   /* dofs that move the two bodies, or terms of the two lengths: how many, */
    int *column[2]; /* and where each stands among the columns of the rows */
} bodies_closer;

/* Dry friction: a force against the speed e = sum of coef * v, of at most `limit`. As a constraint
 * it has no rows but a direction to slide in. */
typedef struct bodies_dry {
    int first, count; /* in term[] */
    double limit;
} bodies_dry;

typedef enum bodies_motor_kind {
    MOTOR_LENGTH,
    MOTOR_BALL,
    MOTOR_FREE,
    MOTOR_SITE
} bodies_motor_kind;

/* force = clamp(gain u + bias), u a parameter, along gear. */
typedef struct bodies_motor {
    bodies_motor_kind kind;
    int length; /* of MOTOR_LENGTH */
    int q, dof; /* of MOTOR_BALL, MOTOR_FREE */
    int in_parent;
    bodies_frame frame; /* of MOTOR_SITE */
    int param;
    double gear[6];
    int clamp_control, clamp_force, gain_affine, bias_affine;
    double control[2], force[2], gain[3], bias[3];
} bodies_motor;

/* Part of a body's weight that is taken off: this force at this point. */
typedef struct bodies_lift {
    int body;
    double pos[3], force[3];
} bodies_lift;

/* One number to be drawn: a point on a body. */
typedef struct bodies_mark {
    int body;
    double pos[3];
} bodies_mark;

struct system_bodies {
    zw_model *shown; /* names of coordinates and constraints, for messages and files: ours */
    char **speed;    /* [n] names of the speeds */
    double *q, *v;   /* [nq], [n] the start as described */
    int joint_count, term_count, length_count, closer_count, dry_count, motor_count, lift_count,
        mark_count;
    bodies_term *term;
    bodies_length *length; /* joints of the model (joint_count), then its tendons */
    bodies_closer *closer;
    bodies_dry *dry; /* their constraints stand behind those of the closers */
    bodies_motor *motor;
    bodies_lift *lift;
    bodies_mark *mark; /* for PART_OUTPUTS */
    int *mark_output;  /* [marks] where its three numbers are */
    int outputs;
    int *entry;   /* [entries of M] where each of the tree's is in the pattern of the system */
    int widest;   /* dofs that move some body, at most */
    double haste; /* the largest rate, in 1/time, at which dampers and motors end a motion */
};

zw_status bodies_compile(zw_system *system, const zw_model *model, zw_error *error);
void bodies_free(struct system_bodies *bodies);
/* The start as described: q of the pose in the file, at rest; or a keyframe. */
void bodies_start(const zw_system *system, double *q, double *v);
/* Numbers that bodies_evaluate wants in work->rows. */
size_t bodies_room(const zw_system *system);
/* One part of system.h into work->out. */
void bodies_evaluate(const zw_system *system, zw_work *work, system_part part, const double *q,
                     const double *v);

/* a where nothing holds, in O(n) and without M; Q of PART_TERMS is known afterwards. 0: masses are
 * missing, or something is not finite. */
int bodies_accelerate(const zw_system *system, zw_work *work, const double *q, const double *v,
                      double *a);

double bodies_length_of(const struct system_bodies *bodies, int length, const double *q);
double bodies_rate_of(const struct system_bodies *bodies, int length, const double *v);

/* bodies_force.c. All add to force[n]; kinematics have been run. */
/* Motors, before all others: force is zero. Room for one number per length. */
void bodies_add_motors(const zw_system *system, zw_work *work, const double *q, const double *v,
                       double *room, double *force);
/* Springs of lengths and weights taken off: what has a potential, which is answered. force may be
 * NULL. */
double bodies_add_springs(const zw_system *system, zw_work *work, const double *q, double *force);
void bodies_add_dampers(const zw_system *system, const double *v, double *force);

/* bodies_rows.c: phi, psi, b of all closers, and A in the pattern of the system; NULL: not wanted.
 * The sweeps for it have been run. */
typedef struct bodies_rows {
    double *phi, *psi, *b, *A;
} bodies_rows;
void bodies_fill_rows(const zw_system *system, const zw_work *work, const double *q,
                      const double *v, bodies_rows rows);

#endif

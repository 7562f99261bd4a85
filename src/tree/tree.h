/* Rigid bodies on a tree, in reduced coordinates.
 *
 * A tree_mechanism is the constant description; q and v are its state; one array of numbers, the
 * work, holds what the sweeps of sweeps.h compute from them. All of this holds for eight worlds at
 * once: q, v, tau, work are then arrays of zw_real8.
 *
 * Bodies. Body 0 is the world. Every other body has a parent of smaller number, a pose in its
 * parent, and a list of joints that act one after another, as in MJCF: each joint sits in the frame
 * of the body as the earlier joints of the list have moved it, and moves it further. No joint: the
 * body is welded to its parent.
 *
 *     joint   q                              v
 *     free    3 position, 4 quaternion       3 velocity of the origin, along the world's axes;
 *             (w x y z), in the world        3 angular velocity, along the body's axes
 *     ball    4 quaternion                   3 relative angular velocity, along the body's axes
 *     hinge   angle                          its rate
 *     slide   length                         its rate
 *
 * These are MuJoCo's coordinates and speeds, in its order. A hinge or slide leaves the body in its
 * given pose at q = rest. Quaternions are made unit before use, so their length is not part of the
 * state. q' = N(q) v has (w,x,y,z)' = 1/2 (w,x,y,z) (0, omega), and q (+) h v takes the exponential
 * of it.
 *
 * Frames. All vectors are along the axes of the world, and every spatial vector of a body (motion
 * or force, angular part first: math/spatial.lane.h) is about the body's own centre of mass c. So
 *
 *   - going from body to body is a shift by r = c_i - c_parent: no rotation of vectors or inertias;
 *   - a rigid inertia is a mass and a symmetric matrix J = R J_body R', and Newton and Euler are
 *         f = m (a - g),    n = J alpha + omega x J omega;
 *   - the dynamics depend only on the relative positions of neighbours: far from the origin, or at
 *     the end of a chain of a thousand links, they have the bits that they have near it.
 * (About one point for the whole tree, as about its centre of mass, shifts would vanish, but a link
 * at distance d would have inertias of size m d^2 from which its own J must come back by
 * cancellation: a relative error of 1e-16 m d^2 / J, 1e-10 for links of a metre at d = 1000 m.)
 *
 * Velocities. With S_d the motion that v_d = 1 gives, about c of the body of d,
 *
 *     V_i = (omega, v_c) = V_parent + sum_d S_d v_d
 *
 * Accelerations are those of the matter: A_i = (alpha, a_c), a_c the acceleration of the centre of
 * mass. That is the spatial acceleration (rate of the motion about a fixed point) for an observer
 * that moves with c_i; for one at rest it would be a_c - omega x v_c, in which a common velocity,
 * which has no effect, would have to cancel. With r' = omega_parent x r + sum_d S_d.lin v_d the
 * rate of r,
 *
 *     A_i = A_parent + sum_d S_d a_d + Z_i,
 *     Z_i = (0, omega_parent x r') + sum_d S_d' v_d,     S_d' = V_b x S_d
 *
 * where b carries the axis of d: it is the body as moved by the earlier joints, and V_b is its
 * motion relative to the observer at c_i. The axes of a ball, and the axes of rotation of a free
 * joint, are carried by the body after the joint; but V_b x (sum S_d v_d) is the same before and
 * after, as m x m = 0. No absolute velocity occurs in Z, as forces do not depend on it.
 *
 *     F_i = (J alpha + omega x J omega,  m (a_c - g)) - wrench_i + sum_children F_k
 *     tau_d = S_d . F_i + armature_d a_d           (inverse dynamics)
 *
 * which is linear in a: tau = M(q) a + bias(q, v) - sum_i J_i' wrench_i. Gravity is in the bias, as
 * in MuJoCo; springs and dampers are not: they are forces like tau (tree_passive).
 *
 * Sparsity. M_de is not zero only if d = e, or one is an ancestor of the other. Row d of M holds
 * the columns of the path from the root to d, in rising order, d last: entries start[d] ..
 * start[d+1]-1 with column[]. M = L' D L, L unit lower, has the same pattern: no fill.
 *
 * Limitations: a free joint only on a child of the world and as the only joint of its body; masses
 * and geometry are the same in all worlds of a batch. Dry friction and joint limits are only
 * stored. */
#ifndef ZW_TREE_TREE_H
#define ZW_TREE_TREE_H

#include <stddef.h>

#include "zwang/status.h"

/* ---- Definition ------------------------------------------------------------------------------ */

typedef enum tree_joint_kind { TREE_FREE = 1, TREE_BALL, TREE_HINGE, TREE_SLIDE } tree_joint_kind;

/* Start from tree_joint_default. Positions are in the body's frame; numbers per dof apply to all
 * dofs of the joint. */
typedef struct tree_joint_def {
    tree_joint_kind kind;
    double axis[3];   /* hinge, slide; made unit */
    double anchor[3]; /* hinge, ball: the fixed point */
    double rest;      /* hinge, slide: q in the given pose */

    double armature;  /* rotor inertia, added to the diagonal of M; >= 0 */
    double damping;   /* force -damping v */
    double stiffness; /* force -stiffness (q (-) spring) */
    double spring;    /* hinge, slide: q without spring force; a ball's is its given pose, and so
                         is a free joint's */
    double friction;  /* dry friction: largest force; stored only */
    int is_limited;   /* stored only */
    double range[2];  /* of q; for a ball of its angle */
} tree_joint_def;

/* Start from tree_body_default. */
typedef struct tree_body_def {
    int parent;        /* smaller than its own number; -1 for the world */
    double pos[3];     /* the pose in the parent, before the joints */
    double quat[4];    /* w x y z, made unit */
    double mass;       /* >= 0 */
    double com[3];     /* centre of mass, in the body's frame */
    double inertia[6]; /* xx yy zz xy xz yz about the centre of mass, along the body's axes */
    int joint_count;   /* the number of joints, which follow in the definition's list */
    int is_placed; /* a child of the world without joints whose pose is prescribed: it is part of q
                      (at the end: 3 position, 4 quaternion for each) and has no speeds */
} tree_body_def;

typedef struct tree_def {
    double gravity[3];
    int body_count;            /* the world included */
    const tree_body_def *body; /* body[0] is the world: only parent = -1 and no joints are read */
    int joint_count;
    const tree_joint_def *joint;
    int without_matrix; /* do not store the entries of M, n^2/2 for a chain: O(n) sweeps only */
} tree_def;

tree_joint_def tree_joint_default(tree_joint_kind kind); /* axis z through the origin */
tree_body_def tree_body_default(int parent);             /* at its parent's origin, without mass */

/* ---- The mechanism --------------------------------------------------------------------------- */

/* Whether an axis is a coordinate axis of the body: most are, and cost less. */
typedef enum tree_along { TREE_ASKEW, TREE_ALONG_X, TREE_ALONG_Y, TREE_ALONG_Z } tree_along;

typedef struct tree_joint {
    tree_joint_kind kind;
    int body;
    int q, v;       /* first of its coordinates and speeds */
    int hinge;      /* its number among the hinges; 0 for other joints */
    int is_stepped; /* the anchor differs from that of the previous joint of the body */
    tree_along along;
    double sign; /* of that axis; else 0 */
    double axis[3], anchor[3], rest;
    double step[3]; /* anchor - that of the previous joint */
    double stiffness;
    double friction, range[2]; /* stored only */
    int is_limited;
} tree_joint;

typedef struct tree_body {
    int parent;
    int joint, joint_end;
    int dof, dof_end;  /* of its own joints */
    int last_dof;      /* the last dof on the path from the root to here; -1: it cannot move */
    int is_turned;     /* quat is not 1 */
    int is_free;       /* its joint is free */
    int placed;        /* index of its pose in q; -1: it is not placed */
    int last_child;    /* 0: it has no children */
    int is_last_child; /* the first of its siblings in a sweep from the tips to the root */
    double pos[3], quat[4];
    double mass, subtree_mass;
    double com[3], inertia[6]; /* the world's com is its origin */
    double lift[3];            /* -m g: the force that holds it at rest */
    double start[3]; /* the first anchor before the joints minus com of the parent, in the parent's
                        frame */
    double end[3];   /* the last anchor in the body's frame */
    double com_from_end[3]; /* com - end */
} tree_body;

/* Offsets of the arrays in the work, grouped by the sweep that fills them. */
typedef struct tree_places {
    /* tree_kinematics(q) */
    int angle, sine, cosine; /* [hinges, padded to a multiple of 8] of half the angles */
    int quat;                /* [bodies][4] orientation, unit */
    int R;       /* [bodies][9] the same as matrix, row by row: to world axes from the body's */
    int origin;  /* [bodies][3] of the body's frame */
    int com;     /* [bodies][3] centre of mass */
    int shift;   /* [bodies][3] com - com of the parent */
    int inertia; /* [bodies][6] J about com, world axes */
    int anchor;  /* [joints][3] the point of the joint */
    int S;       /* [nv][6] motion for unit speed, about com of the dof's body: the axis of a hinge
                    is the angular part, that of a slide the linear one */
    /* tree_velocities(v) */
    int V; /* [bodies][6] */
    int Z; /* [bodies][6] the velocity-dependent part of A - A_parent */
    /* tree_accelerations, tree_inverse, tree_forward */
    int A; /* [bodies][6] */
    int F; /* [bodies][6] forces; tree_inverse: what the parent must exert, without gravity */
    /* tree_composite */
    int composite; /* [bodies][9] first moment and rotational inertia of the subtree, about com */
    int M;         /* [entries] */
    /* tree_factor */
    int L; /* [entries] M = L' D L: rows of L; their last entry, in place of 1, is 1/D */
    /* tree_articulate */
    int articulated; /* [bodies][21] articulated inertia seen by the parent, about com: A (6), B
                        (9), C (6) */
    int G;           /* [nv][6] U / D; without the angular part for translations of free bodies */
    int pivot;       /* [nv] 1/D */
    int u;           /* [nv] scratch of the solves */
    int count;       /* total size */
} tree_places;

#define TREE_BLOCK 4 /* most dofs that are eliminated together */

typedef struct tree_mechanism {
    int bodies, joints, hinges, nq, nv;
    int moved;   /* number of coordinates that speeds change; those of placed bodies follow */
    int entries; /* of M; 0 without matrix */
    int without_matrix;
    double gravity[3];
    tree_body *body;
    tree_joint *joint;
    int *hinge;                             /* [hinges] joints that are hinges */
    int *dof_body, *dof_parent, *dof_joint; /* [nv] dof_parent: -1 at a root */
    int *depth;                             /* [nv] dofs from the root to here, both included */
    double *armature, *damping;             /* [nv] */
    double *q_rest, *q_spring;              /* [nq] the given pose, and that without spring force */
    int blocks, *block;  /* [blocks+1] first dofs of runs in which each is the parent of the next */
    int *start, *column; /* [nv+1], [entries] of M; not without matrix */
    tree_places at;
} tree_mechanism;

/* Checks a definition: ZW_BAD_INPUT, with the reason. */
zw_status tree_check(const tree_def *def, zw_error *error);

/* NULL on failure, with the reason. The definition is copied. */
tree_mechanism *tree_create(const tree_def *def, zw_error *error);
void tree_free(tree_mechanism *tree);

/* A mechanism of some of its trees: the bodies with keep[i], whose parents must be kept too. They
 * move with the same bits as in the whole. to[bodies]: their new numbers, 0: not included. */
tree_mechanism *tree_part(const tree_mechanism *whole, const unsigned char *keep, int *to,
                          zw_error *error);

/* Allocates the work of `lanes` worlds (1 or 8), zeroed; free with base_free. NULL: no memory. */
void *tree_work_create(const tree_mechanism *tree, int lanes);

/* The dofs that move a body, in rising order: fills dof[], unless NULL, and returns their number.
 */
int tree_chain(const tree_mechanism *tree, int body, int *dof);

#endif

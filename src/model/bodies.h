/* Bodies as a user described them: named, editable, nothing computed. A proposal: readers (MJCF,
 * URDF) and C calls fill this; system/ makes a tree_def (tree/tree.h), frames and rows of it.
 *
 * Habits: every element has a name (unique among its kind; made up if the file has none) and a
 * place in the file for messages; elements name each other by index, -1 for none; body 0 is the
 * world. A definition begins with its model_..._default and is copied when added. Lengths in
 * metres, angles in radians, quaternions w x y z: readers convert.
 *
 * What needs the whole to be known is not here: inertia from shapes, default classes, reordering to
 * parent < child, welded bodies becoming frames (tree/fuse.h). A reader keeps the order of its
 * file, depth first for MJCF, and that order stays that of q, v and the ids that users see. */
#ifndef ZW_MODEL_BODIES_H
#define ZW_MODEL_BODIES_H

#include "tree/tree.h"

/* ---- The tree -------------------------------------------------------------------------------- */

typedef struct model_body {
    const char *name;
    int place;
    tree_body_def def; /* joint_count is counted from the joints' own `body` */
    int has_inertia;   /* 0: from its shapes, when they are known */
} model_body;

typedef struct model_joint {
    const char *name;
    int place;
    int body;
    tree_joint_def def; /* in the order of addition within a body */
} model_joint;

/* A named place on a body: MJCF's site, a link's origin, an end of a closer. */
typedef struct model_frame {
    const char *name;
    int place;
    int body;
    double pos[3], quat[4];
} model_frame;

/* ---- Loops and couplings: hard rows ---------------------------------------------------------- */

typedef enum model_closer_kind {
    MODEL_CLOSE_WELD,  /* the frames coincide */
    MODEL_CLOSE_BALL,  /* their origins do: MJCF's connect */
    MODEL_CLOSE_HINGE, /* and their z axes */
    MODEL_CLOSE_SLIDE, /* z axes in one line, no turning */
    MODEL_CLOSE_DISTANCE
} model_closer_kind;

/* A joint of any kind between two frames, whatever the tree says. Its coordinate (hinge, slide) has
 * a limit and a motor like that of a joint in the tree. */
typedef struct model_closer {
    const char *name;
    int place;
    model_closer_kind kind;
    int frame[2];
    double distance; /* MODEL_CLOSE_DISTANCE */
    int is_limited;
    double range[2];
} model_closer;

/* q_a - rest_a = sum_k polynomial[k] (q_b - rest_b)^k; MJCF's equality joint, URDF's mimic. */
typedef struct model_coupling {
    const char *name;
    int place;
    int joint[2]; /* the second may be -1: q_a is held at polynomial[0] */
    double polynomial[5];
} model_coupling;

/* ---- Motors ---------------------------------------------------------------------------------- */

/* force = gain u + bias[0] + bias[1] length + bias[2] rate on gear . v of a joint, u held within
 * `control` and the force within `force` where these are limited: MJCF's motor (gain 1), position
 * (gain k, bias 0 -k 0), velocity (gain k, bias 0 0 -k) and general with affine gains are all of
 * it. The part bias[2], and bias[1] over a step, are implicit in the velocity step:
 * tree_articulate's `diagonal`. */
typedef struct model_motor {
    const char *name;
    int place;
    int joint;
    double gear[6];
    double gain, bias[3];
    int is_control_limited, is_force_limited;
    double control[2], force[2];
} model_motor;

/* ---- States by name -------------------------------------------------------------------------- */

typedef struct model_key {
    const char *name;
    int place;
    double time;
    double *q, *v, *u; /* [nq], [nv], [motors]; NULL: as the rest pose, zero */
} model_key;

#endif

/* One world. */
#include "tree/sweeps.h"

#include "math/elementary.h"

/* One world computes sines and cosines eight at a time too, so that the bits are the same. */
ZW_INLINE void sincos_many(int count, const double *angle, double *sine, double *cosine)
{
    for (int k = 0; k < count; k += LANES) {
        math_sincos8(angle + k, sine + k, cosine + k);
    }
}

#define zw_real double
#define zw_mask int
#define LANE TREE_ONE
#define LANE_CLONES ZW_CLONES
#define lane_fill(c) (c)
#define lane_select lane_select1
#define lane_any(mask) (mask)
#define lane_sqrt sqrt
#define lane_abs fabs
#define lane_not_above(x, y) (!((x) > (y)))
#define lane_sincos math_sincos
#define lane_sincos_many sincos_many
#define lane_atan2(y, x, angle) (*(angle) = math_atan2(y, x))
#include "tree/sweeps.lane.h"

/* ---- One body along its path----------------------------------------------------------------- */

enum {
    UP = 64
}; /* most ancestors that are computed one by one; with more, all bodies are computed */

ZW_CLONES void tree_path_body(const tree_mechanism *tree, const double *q, const double *v,
                              double t, int body, unsigned char *known, double *next, double *work)
{
    int up[UP], count = 0;
    for (int i = body; i > 0 && count <= UP && !(known && known[i]);
         i = tree->body[i].parent, count++) {
        up[count < UP ? count : 0] = i;
    }
    if (count > UP) {
        tree_advance(tree, q, v, &t, next);
        tree_kinematics(tree, next, work);
        tree_velocities(tree, v, work);
        if (known) {
            memset(known, 1, (size_t)tree->bodies);
        }
        return;
    }
    place_world(&tree->at, work);
    while (count-- > 0) {
        const tree_body *at = tree->body + up[count];
        if (at->placed >= 0) {
            memcpy(next + at->placed, q + at->placed, 7 * sizeof *next);
        }
        for (int j = at->joint; j < at->joint_end; j++) {
            const tree_joint *joint = tree->joint + j;
            advance_joint(joint, q, v, t, next);
            if (joint->kind == TREE_HINGE) {
                math_sincos(0.5 * (next[joint->q] - joint->rest),
                            work + tree->at.sine + joint->hinge,
                            work + tree->at.cosine + joint->hinge);
            }
        }
        carry_body(tree, up[count], next, work);
        move_body(tree, up[count], v, work);
        if (known) {
            known[up[count]] = 1;
        }
    }
}

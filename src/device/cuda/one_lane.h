/* Included before the files of worlds in lanes, for a GPU. A vector of one number is a number:
 * sweeps and solves over lanes are those of one world. */
#ifndef ZW_DEVICE_CUDA_ONE_LANE_H
#define ZW_DEVICE_CUDA_ONE_LANE_H

#ifndef ZW_LANES /* otherwise it is emulated: test/device/one_emulated.h */
#include "device/cuda/thread_lane.h"
#define LANE_SETTLE /* soft8_settle is there: warp_newton.c */
#endif
#include "math/lanes.h"
#include "tree/sweeps.h"

#define ONE(x) ((double *)(void *)(x))
#define ONE_OF(x) ((const double *)(const void *)(x))

#define tree_kinematics8(tree, q, work) tree_kinematics(tree, ONE_OF(q), ONE(work))
#define tree_velocities8(tree, v, work) tree_velocities(tree, ONE_OF(v), ONE(work))
#define tree_passive8(tree, q, v, tau) tree_passive(tree, ONE_OF(q), ONE_OF(v), ONE(tau))
#define tree_inverse8(tree, a, wrench, work, tau)                                                  \
    tree_inverse(tree, ONE_OF(a), ONE_OF(wrench), ONE(work), ONE(tau))
#define tree_spin8(tree, h, work, tau) tree_spin(tree, ONE_OF(h), ONE_OF(work), ONE(tau))
#define tree_composite8(tree, work) tree_composite(tree, ONE(work))
#define tree_multiply8(tree, diagonal, work, x, y)                                                 \
    tree_multiply(tree, ONE_OF(diagonal), ONE_OF(work), ONE_OF(x), ONE(y))
#define tree_advance8(tree, q, v, h, next)                                                         \
    tree_advance(tree, ONE_OF(q), ONE_OF(v), ONE_OF(h), ONE(next))

#define tree_energies8(tree, q, v, work, to)                                                       \
    tree_energies(tree, ONE_OF(q), ONE_OF(v), ONE(work), ONE(to))

#define soft_solve_lanes soft_solve_lane /* beside the function for eight islands */

static inline void one_to_lane(int count, const double *const *from, zw_real8 *to)
{
    for (int k = 0; k < count; k++) {
        to[k][0] = from[0][k];
    }
}

static inline void one_from_lane(int count, const zw_real8 *from, int lanes, double *const *to)
{
    for (int k = 0; k < count && lanes > 0; k++) {
        to[0][k] = from[k][0];
    }
}
#define math_to_lanes one_to_lane
#define math_from_lanes one_from_lane

#endif

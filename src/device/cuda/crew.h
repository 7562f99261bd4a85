/* Included before the files of worlds in lanes, which are compiled a second time: the 32 threads of
 * a warp are a crew (math/crew.h), and share one world. The function names differ from those of
 * one_lane.h. */
#ifndef ZW_DEVICE_CUDA_CREW_H
#define ZW_DEVICE_CUDA_CREW_H

#define ZW_LANES 1
#define LANE_VOTE(own) (own)
#define LANE_MEET() ((void)0)
#define LANE_ONE()

#include "device/cuda/threads.h"

#include "device/cuda/prefix.h"
#include "math/lanes.h"
#include "system/soft/soft.h"
#include "tree/sweeps.h"

#define LANE_NAME(name) crew_##name
#include "device/lane_names.h"
#define soft_solve_lanes(shape, diagonal, H, x, good) crew_solve(s, diagonal, x, good)
#define world_lanes_bytes world_crew_bytes
#define world_move_lanes world_move_crew

/* crew_tree.c: for the world of `s`, whatever the name of the callers' arguments. */
#define tree_kinematics8(tree, q, work) ((void)(tree), crew_kinematics(s))
#define tree_velocities8(tree, v, work) ((void)(tree), crew_velocities(s))
#define tree_passive8(tree, q, v, tau) ((void)(tree), crew_passive(s, v, tau))
#define tree_inverse8(tree, a, wrench, work, tau) ((void)(tree), crew_inverse(s, tau))
#define tree_composite8(tree, work) ((void)(tree), crew_composite(s))
#define tree_multiply8(tree, diagonal, work, x, y) ((void)(tree), crew_multiply(s, x, y))
#define tree_advance8(tree, q, v, h, next) ((void)(tree), crew_advance(s, h))

static inline void crew_to_lane(int count, const double *const *from, zw_real8 *to)
{
    CREW_FOR (k, count) {
        to[k][0] = from[0][k];
    }
    CREW_MEET();
}

static inline void crew_from_lane(int count, const zw_real8 *from, int lanes, double *const *to)
{
    CREW_MEET();
    CREW_FOR (k, lanes > 0 ? count : 0) {
        to[0][k] = from[k][0];
    }
    CREW_MEET();
}
#define math_to_lanes crew_to_lane
#define math_from_lanes crew_from_lane

typedef struct soft8 soft8;
void crew_kinematics(soft8 *s);
void crew_velocities(soft8 *s);
void crew_passive(soft8 *s, const zw_real8 *v, zw_real8 *tau);
void crew_inverse(soft8 *s, zw_real8 *tau); /* at a = 0 */
void crew_composite(soft8 *s);
void crew_multiply(const soft8 *s, const zw_real8 *x, zw_real8 *y);
void crew_advance(soft8 *s, const zw_real8 *h);

/* crew_solve.c: x = (H + diagonal) \ x, with the pattern of `s` and tables of its own. */
void crew_solve(const soft8 *s, const zw_real8 *diagonal, zw_real8 *x, zw_mask8 *good);
void crew_begin_shape(soft8 *s);

#endif

/* Included before the files of worlds in lanes, which are compiled once more, in single precision:
 * what lanes compute is float, the state of a world and the constants of a system remain double.
 *
 * A step in float has three parts that are not: sines and cosines (rounded to float), contact
 * points of pairs that are tested alone, and the change of q and v. A lane that does not converge
 * takes its step alone, in double precision. So single precision limits the accuracy of forces, not
 * that of sums over time. */
#ifndef ZW_DEVICE_FLOAT_LANES_H
#define ZW_DEVICE_FLOAT_LANES_H

#define ZW_FLOAT 1

#include "math/lane.h"

#define LANE_NAME(name) float_##name
#include "device/lane_names.h"

#define soft_solve_lanes float_solve
#define world_lanes_bytes world_float_bytes
#define world_move_lanes world_move_float
#define math_to_lanes float_to_lanes

/* tree/sweeps8.c; q and v move by tree_advance, in double precision */
#define tree_kinematics8 tree_kinematics_float
#define tree_velocities8 tree_velocities_float
#define tree_passive8 tree_passive_float
#define tree_inverse8 tree_inverse_float
#define tree_spin8 tree_spin_float
#define tree_composite8 tree_composite_float
#define tree_multiply8 tree_multiply_float

static inline void float_to_lanes(int count, const double *const *from, zw_real8 *to)
{
    for (int k = 0; k < count; k++) {
        for (int l = 0; l < LANES; l++) {
            to[k][l] = (float)from[l][k];
        }
    }
}

#endif

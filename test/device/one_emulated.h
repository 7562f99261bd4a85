/* A warp of one lane, emulated (device/cuda/one_lane.h), which leaves Newton's method to
 * warp_newton.c. */
#define ZW_LANES 1
#define LANE_VOTE(own) (own)
#define LANE_MEET() ((void)0)
#define LANE_ONE()
#define LANE_SETTLE

#define LANE_NAME(name) warp_##name
#include "device/lane_names.h"
#define soft8_certify warp_certify_step
#define world_certify warp_certify
#define world_certify_bytes warp_certify_bytes
#define world_lanes_bytes world_warp_bytes
#define world_move_lanes world_move_warp

#include "device/cuda/one_lane.h"

/* A thread of a GPU has one lane, and the 32 of a warp run together. */
#ifndef ZW_DEVICE_CUDA_THREAD_LANE_H
#define ZW_DEVICE_CUDA_THREAD_LANE_H

#define ZW_LANES 1
#define LANE_NEAR __attribute__((address_space(5))) /* local memory: kernels of thread.c */
#define LANE_VOTE(own) __nvvm_vote_any_sync(0xffffffffU, (own))
#define LANE_MEET() __nvvm_bar_warp_sync(0xffffffffU)

#include "device/cuda/prefix.h"

#endif

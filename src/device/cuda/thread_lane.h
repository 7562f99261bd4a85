/* A thread of a GPU has one lane, and the 32 of a warp run together. */
#ifndef ZW_DEVICE_CUDA_THREAD_LANE_H
#define ZW_DEVICE_CUDA_THREAD_LANE_H

#define ZW_LANES 1
#define LANE_NEAR __attribute__((address_space(5))) /* local memory: kernels of thread.c */
#define LANE_VOTE(own) __nvvm_vote_any_sync(0xffffffffU, (own))
#define LANE_ONE() if (__nvvm_read_ptx_sreg_laneid() == 0)
#define LANE_MEET() __nvvm_bar_warp_sync(0xffffffffU)

/* The warps of a block wait for each other, so that they share instructions in the cache
 * (math/crew.h). There is one barrier for all purposes, so that no two warps wait at different
 * ones; warps that have finished do not count. */
static inline int lane_barrier(int own)
{
    int any;
    __nvvm_bar_warp_sync(0xffffffffU);
    __asm__ volatile("{ .reg .pred %%p, %%q; setp.ne.s32 %%p, %1, 0; "
                     "barrier.red.or.pred %%q, 0, %%p; selp.s32 %0, 1, 0, %%q; }"
                     : "=r"(any)
                     : "r"(own)
                     : "memory");
    return any;
}
#define CREW_TOGETHER() ((void)lane_barrier(0))
#define CREW_ROUND(own) lane_barrier(own)
#define CREW_IN_ROUND() ((void)lane_barrier(1))

#include "device/cuda/prefix.h"

#endif

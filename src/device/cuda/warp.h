/* Included before warp_newton.c: a thread has one lane, as in one_lane.h, and the 32 threads of its
 * warp are a crew as well. */
#ifndef ZW_DEVICE_CUDA_WARP_H
#define ZW_DEVICE_CUDA_WARP_H

#define ZW_LANES 1
#define LANE_ONE()

#ifndef WARP_LANES /* otherwise it is emulated: test/device/warp_emulated.h */
#define WARP_LANES 32
#define WARP_LANE ((int)__nvvm_read_ptx_sreg_laneid())
#define LANE_VOTE(own) __nvvm_vote_any_sync(0xffffffffU, (own))
#define LANE_MEET() __nvvm_bar_warp_sync(0xffffffffU)
#define LANE_NEAR __attribute__((address_space(5)))
#define WARP_THREADS 32
#define WARP_FIRST 4
#define WARP_UNROLL _Pragma("clang loop unroll(full)")
#define WARP_THREAD WARP_LANE
#define WARP_BELOW ((1U << WARP_LANE) - 1) /* threads before this one */
#define WARP_LIVE(own) __nvvm_vote_ballot_sync(0xffffffffU, (own))
/* A thread of a crew has what it computes in turn `i` of CREW_FOR, if there are no more turns than
 * threads. */
#define WARP_KEEPS 1
#define WARP_OWN(i) 0
/* Shared memory; copies to it from device memory, which are there after WARP_FETCHED. */
#define WARP_DESK __attribute__((address_space(3)))
#define WARP_FETCH(to, from)                                                                       \
    __asm__ volatile(                                                                              \
        "cp.async.ca.shared.global [%0], [%1], %2;" ::"r"((unsigned)(unsigned long long)(to)),     \
        "l"(from), "n"(sizeof *(to))                                                               \
        : "memory")
#define WARP_SQRT(x) __nvvm_sqrt_approx_f(x)
#define WARP_FETCHED() __asm__ volatile("cp.async.wait_all;" ::: "memory")
#endif

#include "device/cuda/prefix.h"
#include "device/cuda/threads.h"

#endif

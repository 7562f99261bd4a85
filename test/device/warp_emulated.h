/* Before warp_newton.c: a warp of one lane whose 32 threads are emulated, turn by turn. */
#define WARP_LANES 1
#define WARP_LANE 0
#define LANE_VOTE(own) (own)
#define LANE_MEET() ((void)0)
#define WARP_LIVE(own) ((unsigned)((own) ? 1 : 0))
#define WARP_THREADS 1
#define WARP_FIRST 1
#define WARP_UNROLL
#define WARP_THREAD 0
#define WARP_BELOW 0U
#define WARP_KEEPS 32
#define WARP_OWN(i) (i)
#define WARP_DESK
#define WARP_FETCH(to, from) (*(to) = *(from))
#define WARP_FETCHED() ((void)0)
#define WARP_SQRT(x) __builtin_sqrtf(x)

#include "crew_emulated_turns.h"

#include "device/cuda/warp.h"

#define LANE_NAME(name) warp_##name
#include "device/lane_names.h"

/* The 32 threads of a warp as a crew (math/crew.h). */
#ifndef ZW_DEVICE_CUDA_THREADS_H
#define ZW_DEVICE_CUDA_THREADS_H

#ifndef CREW_SIZE /* otherwise they are emulated: test/device/crew_emulated.h */
#define CREW_SIZE 32
#define CREW_WHOLE 0xffffffffU
#define CREW_OWN ((int)__nvvm_read_ptx_sreg_laneid())
#define CREW_MEET() __nvvm_bar_warp_sync(CREW_WHOLE)
#define CREW_FOR(i, count) for (int i = CREW_OWN; i < (count); i += CREW_SIZE)
#define CREW_FOR_IF(apart, i, count)                                                               \
    for (int i = (apart)         ? CREW_OWN                                                        \
                 : CREW_OWN == 0 ? 0                                                               \
                                 : (count);                                                        \
         i < (count); i += (apart) ? CREW_SIZE : 1)
#define CREW_ONE() if (CREW_OWN == 0)
#define CREW_ANY(own) __nvvm_vote_any_sync(CREW_WHOLE, (own))
#define CREW_ALL8(mask) ((zw_mask8){-(long long)!CREW_ANY((mask)[0] == 0)})
#define CREW_TOGETHER() __asm__ volatile("barrier.sync 0;" ::: "memory")
#define CREW_ANY_OF_ALL(own) __nvvm_bar0_or(own)
/* Tests 32 at a time; those that pass are processed one after another. */
#define CREW_EACH(i, count, test, of)                                                              \
    for (int i##_from = 0; i##_from < (count); i##_from += CREW_SIZE)                              \
        for (unsigned i##_on = __nvvm_vote_ballot_sync(                                            \
                 CREW_WHOLE, i##_from + CREW_OWN < (count) && test(of, i##_from + CREW_OWN));      \
             i##_on; i##_on &= i##_on - 1)                                                         \
            for (int i = i##_from + __builtin_ctz(i##_on), i##_once = 1; i##_once; i##_once = 0)
#endif

#endif

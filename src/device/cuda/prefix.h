/* Before every file that is compiled for a device: failures are statuses there, without a message.
 */
#ifndef ZW_DEVICE_CUDA_PREFIX_H
#define ZW_DEVICE_CUDA_PREFIX_H

#include "base/error.h"

#define base_fail(error, status, ...) ((void)(error), (status))
#define base_fail_more(error, ...) ((void)(error))

/* Threads that are done with all their worlds are not waited for; each of the others comes here
 * again or is done some time, so no thread waits for ever, whatever fails on the way. Where a
 * warp's threads go in lanes those that step alone do not wait for others. */
#define SOFT_MEET(s)                                                                               \
    do {                                                                                           \
        if ((s)->meets) {                                                                          \
            __asm__ volatile("barrier.sync 0;" ::: "memory");                                      \
        }                                                                                          \
    } while (0)

#endif

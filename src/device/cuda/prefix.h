/* Included before every file that is compiled for a device: failures are statuses there, without a
 * message. */
#ifndef ZW_DEVICE_CUDA_PREFIX_H
#define ZW_DEVICE_CUDA_PREFIX_H

#include "base/error.h"

#define base_fail(error, status, ...) ((void)(error), (status))
#define base_fail_more(error, ...) ((void)(error))
#define base_fail_as(error, status) ((void)(error), (status))
#define base_no_memory(error) ((void)(error), ZW_NO_MEMORY)

/* Threads that have finished all their worlds are not waited for; each of the others comes here
 * again or finishes, so no thread waits for ever, whatever fails. Where the threads of a warp run
 * in lanes, those that step alone do not wait for others. */
#define SOFT_MEET(s)                                                                               \
    do {                                                                                           \
        if ((s)->meets) {                                                                          \
            __asm__ volatile("barrier.sync 0;" ::: "memory");                                      \
        }                                                                                          \
    } while (0)

#endif

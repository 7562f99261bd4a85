/* Before every file that is compiled for a device: failures are statuses there, without a message.
 */
#ifndef ZW_DEVICE_CUDA_PREFIX_H
#define ZW_DEVICE_CUDA_PREFIX_H

#include "base/error.h"

#define base_fail(error, status, ...) ((void)(error), (status))
#define base_fail_more(error, ...) ((void)(error))

/* Threads that are done with all their worlds are not waited for; each of the others comes here
 * again or is done some time, so no lane waits for ever, whatever fails on the way. */
#define SOFT_MEET() __asm__ volatile("barrier.sync 0;" ::: "memory")

#endif

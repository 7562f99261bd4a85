/* The operations of a device: memory, copies, and advancing all worlds of a job.
 *
 * Every function returns ZW_OK or a failure with its reason; the pointers of a job are device
 * pointers. */
#ifndef ZW_DEVICE_BACKEND_H
#define ZW_DEVICE_BACKEND_H

#include "device/world.h"

/* Changes whenever device_job, device_model or a type that they refer to changes: a shared object
 * of another build is refused. */
#define DEVICE_VERSION                                                                             \
    ((int)(sizeof(device_job) + 8 * sizeof(device_model) + 64 * sizeof(zw_system) +                \
           512 * sizeof(soft_problem) + 4096 * sizeof(soft8_match)))

typedef struct device_backend {
    int version;
    void *(*open)(int number, zw_error *error);
    void (*close)(void *device);
    const char *(*name)(const void *device);
    void *(*take)(void *device, size_t bytes); /* zeroed; NULL: not enough */
    void (*give)(void *device, void *block);
    zw_status (*put)(void *device, void *to, const void *from, size_t bytes, zw_error *error);
    zw_status (*get)(void *device, void *to, const void *from, size_t bytes, zw_error *error);
    /* scratch: bytes per world. Returns when the job is done. */
    zw_status (*move)(void *device, const device_job *job, size_t scratch, zw_error *error);
} device_backend;

/* emulate.c: on the processor, one group of worlds after another. */
const device_backend *device_emulated(void);

/* load.c: "cuda", "cuda:1", "emulated"; NULL, with the reason, if there is no such device. */
const device_backend *device_find(const char *name, int *number, zw_error *error);

#endif

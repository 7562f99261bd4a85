/* Finds a device by name. The CUDA backend is in a separate shared object, libzwang-cuda.so, which
 * is opened when it is first needed. So one library serves machines with and without a GPU. */
#include <stdlib.h>
#include <string.h>

#if defined(__unix__) && !defined(__EMSCRIPTEN__)
#include <dlfcn.h>
#define CAN_LOAD 1
#else
#define CAN_LOAD 0
#endif

#include "base/error.h"
#include "device/backend.h"

#if CAN_LOAD
typedef const device_backend *backend_getter(void);

static const device_backend *load_cuda(zw_error *error)
{
    const char *path = getenv("ZWANG_CUDA"); /* its path, if it is not among the libraries */
    void *library = dlopen(path ? path : "libzwang-cuda.so", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        base_fail(error, ZW_BAD_INPUT,
                  "no CUDA here: %s (build libzwang-cuda.so with nvcc and clang, see docs/gpu.md; "
                  "ZWANG_CUDA gives its path)",
                  dlerror());
        return NULL;
    }
    backend_getter *getter = NULL;
    void *found = dlsym(library, "zw_device_cuda");
    memcpy(&getter, &found, sizeof getter); /* ISO C has no such cast */
    const device_backend *backend = getter ? getter() : NULL;
    if (!backend || backend->version != DEVICE_VERSION) {
        base_fail(error, ZW_BAD_INPUT, "libzwang-cuda.so is of another build of zwang");
        return NULL;
    }
    return backend;
}
#else
static const device_backend *load_cuda(zw_error *error)
{
    base_fail(error, ZW_BAD_INPUT, "no CUDA here: this build of zwang cannot load it");
    return NULL;
}
#endif

const device_backend *device_find(const char *name, int *number, zw_error *error)
{
    static const char cuda[] = "cuda";
    char *end = NULL;
    *number = 0;
    if (strcmp(name, "emulated") == 0) {
        return device_emulated();
    }
    if (strncmp(name, cuda, sizeof cuda - 1) == 0) {
        const char *rest = name + sizeof cuda - 1;
        long given = *rest == ':' ? strtol(rest + 1, &end, 10) : 0;
        if (*rest == '\0' ||
            (*rest == ':' && end != rest + 1 && *end == '\0' && given >= 0 && given < 1024)) {
            *number = (int)given;
            return load_cuda(error);
        }
    }
    base_fail(error, ZW_BAD_INPUT, "no device is called \"%s\": cuda, cuda:1, emulated", name);
    return NULL;
}

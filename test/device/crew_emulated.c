/* A device that does what a GPU does with crews, on the processor: a shared object in the place of
 * libzwang-cuda.so (ZWANG_CUDA), so that `test_device` tries the code of crews without a GPU. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "device/backend.h"

static const char *name(const void *device)
{
    (void)device;
    return "crews, emulated on the processor";
}

/* Scratch is filled with nonsense, as unwritten memory of a GPU is. */
static zw_status move(void *device, const device_job *job, size_t scratch, zw_error *error)
{
    if (job->alone || job->reset || job->is_single ||
        job->is_exact) { /* of which crews are no part */
        return device_emulated()->move(device, job, scratch, error);
    }
    device_room room = world_crew_bytes(job->model[0]);
    void *memory = base_alloc(scratch), *near = base_alloc(room.near), *far = base_alloc(room.far);
    for (int world = 0; world < job->worlds && memory && near && far; world++) {
        memset(memory, 0xbf, scratch);
        memset(near, 0xbf, room.near);
        memset(far, 0xbf, room.far);
        world_move_crew(job, &world, memory, &(device_place){near, far, NULL});
    }
    zw_status status = memory && near && far ? ZW_OK : ZW_NO_MEMORY;
    base_free(memory);
    base_free(near);
    base_free(far);
    return status == ZW_OK ? ZW_OK : base_fail(error, status, "%s", zw_status_text(status));
}

__attribute__((visibility("default"))) const device_backend *zw_device_cuda(void);

const device_backend *zw_device_cuda(void)
{
    static device_backend backend;
    backend = *device_emulated();
    backend.name = name;
    backend.move = move;
    return &backend;
}

/* A device that does what a GPU does with crews, or in lanes with warps that take their worlds one
 * after another (compiled a second time, after warp_emulated.h), on the processor: a shared object
 * in the place of libzwang-cuda.so (ZWANG_CUDA), so that `test_device` tries that code without a
 * GPU. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "device/backend.h"

#ifdef WARP_LANES
#define NAME "warps, emulated on the processor"
#define ROOM world_warp_bytes
#define MOVE world_move_warp
device_room world_warp_bytes(const device_model *model);
void world_move_warp(const device_job *job, const int world[1], void *memory,
                     const device_place *at);
#else
#define NAME "crews, emulated on the processor"
#define ROOM world_crew_bytes
#define MOVE world_move_crew
#endif

static const char *name(const void *device)
{
    (void)device;
    return NAME;
}

enum { SCRATCH, NEAR, FAR, COMMON, DESK, STAGE, PARTS };

/* Scratch is filled with nonsense, as unwritten memory of a GPU is. */
static zw_status move(void *device, const device_job *job, size_t scratch, zw_error *error)
{
    if (job->alone || job->reset || job->is_single || job->is_exact) { /* without crews or warps */
        return device_emulated()->move(device, job, scratch, error);
    }
    device_room room = ROOM(job->model[0]);
    size_t bytes[PARTS] = {scratch, room.near, room.far, room.common, room.desk, room.stage};
    void *part[PARTS];
    int there = 1;
    for (int k = 0; k < PARTS; k++) {
        part[k] = base_alloc(bytes[k] + 1);
        there &= part[k] != NULL;
    }
    for (int world = 0; world < job->worlds && there; world++) {
        for (int k = 0; k < PARTS; k++) {
            memset(part[k], 0xbf, bytes[k]);
        }
        device_place at = {part[NEAR], part[FAR], part[COMMON], NULL, part[STAGE]};
        at.desk = bytes[DESK] > 0 ? part[DESK] : NULL;
        MOVE(job, &world, part[SCRATCH], &at);
    }
    for (int k = 0; k < PARTS; k++) {
        base_free(part[k]);
    }
    return there ? ZW_OK : base_fail(error, ZW_NO_MEMORY, "%s", zw_status_text(ZW_NO_MEMORY));
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

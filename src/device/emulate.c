/* An emulated device: jobs run on the processor, eight worlds at a time, with the functions that a
 * GPU runs and on the same images of systems. So differences from zw_batch_step are found without a
 * GPU. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "device/backend.h"

static void *open_emulated(int number, zw_error *error)
{
    if (number != 0) {
        base_fail(error, ZW_BAD_INPUT, "there is one emulated device, number 0");
        return NULL;
    }
    void *device = base_alloc(1);
    if (!device) {
        base_no_memory(error);
    }
    return device;
}

static void close_emulated(void *device)
{
    base_free(device);
}

static const char *name_emulated(const void *device)
{
    (void)device;
    return "emulated on the processor";
}

static void *take(void *device, size_t bytes)
{
    (void)device;
    return base_alloc(bytes + 1);
}

static void give(void *device, void *block)
{
    (void)device;
    base_free(block);
}

static zw_status copy(void *device, void *to, const void *from, size_t bytes, zw_error *error)
{
    (void)device;
    (void)error;
    if (bytes > 0) {
        memcpy(to, from, bytes);
    }
    return ZW_OK;
}

/* Scratch is filled with garbage, as unwritten memory of a GPU would be. */
static zw_status move(void *device, const device_job *job, size_t scratch, zw_error *error)
{
    int each = job->alone || job->reset || job->senses ? 1 : LANES;
    device_room room = {.near = 1, .far = 1, .common = 1};
    if (each > 1 && job->is_exact) {
        room = world_exact_bytes(job->model[0]);
    } else if (each > 1) {
        room = job->is_single ? world_float_bytes(job->model[0]) : world_lanes_bytes(job->model[0]);
    }
    size_t far = (room.near + 63) / 64 * 64, common = far + (room.far + 63) / 64 * 64;
    unsigned char *memory = base_alloc(scratch), *own = base_alloc(common + room.common);
    (void)device;
    for (int i = 0; i < job->worlds && memory && own; i += each) {
        memset(memory, 0xbf, scratch);
        memset(own, 0xbf, common + room.common);
        if (each > 1) {
            int world[LANES];
            for (int l = 0; l < LANES; l++) {
                world[l] = i + l < job->worlds ? job->order[i + l] : -1;
            }
            const device_place at = {.near = own, .far = own + far, .common = own + common};
            if (job->is_exact) {
                world_move_exact(job, world, memory, &at);
            } else if (job->is_single) {
                world_move_float(job, world, memory, &at);
            } else {
                world_move_lanes(job, world, memory, &at);
            }
        } else {
            world_move(job, i, memory);
        }
    }
    zw_status status = memory && own ? ZW_OK : ZW_NO_MEMORY;
    base_free(memory);
    base_free(own);
    return status == ZW_OK ? ZW_OK : base_fail_as(error, status);
}

const device_backend *device_emulated(void)
{
    static const device_backend backend = {.version = DEVICE_VERSION,
                                           .open = open_emulated,
                                           .close = close_emulated,
                                           .name = name_emulated,
                                           .take = take,
                                           .give = give,
                                           .put = copy,
                                           .get = copy,
                                           .move = move};
    return &backend;
}

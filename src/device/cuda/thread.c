/* Threads of a GPU and their worlds. Compiled by clang for NVPTX, for double and for single
 * precision; kernel.ll and kernel_float.ll declare the kernels. */
#include "device/backend.h"

/* Compared with the host's: otherwise structs differ. */
const int zw_device_version = DEVICE_VERSION;

enum { WARP = 32 };

static int thread_of(void)
{
    return __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() +
           __nvvm_read_ptx_sreg_tid_x();
}

static int warps_of(void)
{
    return __nvvm_read_ptx_sreg_nctaid_x() * __nvvm_read_ptx_sreg_ntid_x() / WARP;
}

/* The first `lanes` threads of the 32 of a warp have worlds; each takes the world of its own
 * number, then that number plus the number of such threads, and so on, with the same scratch. */
void zw_worlds(const device_job *job)
{
    int thread = thread_of(), lane = thread % WARP, own = thread / WARP * job->lanes + lane;
    unsigned char *memory = job->scratch + (size_t)thread * job->scratch_bytes;
    for (int world = own; lane < job->lanes && world < job->worlds;
         world += warps_of() * job->lanes) {
        world_move(job, world, memory);
    }
}

/* In lanes: threads without a world take part. */
extern __attribute__((address_space(3), aligned(64))) unsigned char zw_shared[];

static __attribute__((noinline)) void go(const device_job *job, unsigned char *own, size_t bytes)
{
    int thread = thread_of(), lane = thread % WARP, first = thread / WARP * job->lanes;
    int warp = __nvvm_read_ptx_sreg_tid_x() / WARP;
    unsigned char *memory = job->scratch + (size_t)thread * job->scratch_bytes;
    unsigned char *shared = (unsigned char *)zw_shared, *common = shared + warp * job->desk;
    unsigned char *rest = job->scratch + (size_t)(warps_of() * WARP) * job->scratch_bytes;
    unsigned char *desk = job->desk ? common : NULL;
    unsigned char *stage = rest + (size_t)(thread / WARP) * job->stage;
    if (job->common_shared) {
        common = shared + __nvvm_read_ptx_sreg_ntid_x() / WARP * job->desk + warp * job->common;
    } else {
        common = rest + warps_of() * job->stage + (size_t)(thread / WARP) * job->common;
    }
    size_t near = (world_lanes_bytes(job->model[0]).near + 63) / 64 * 64;
    for (; first < job->worlds && near < bytes; first += warps_of() * job->lanes) {
        int place = first + lane, here = lane < job->lanes && place < job->worlds;
        int world = here ? job->order[place] : -1;
        const device_place at = {own, own + near, common, desk, stage};
        world_move_lanes(job, &world, memory, &at);
    }
}

/* The size of local memory is fixed at compile time; the host chooses a kernel with enough. */
#define KERNEL(kilobytes)                                                                          \
    void zw_worlds_##kilobytes(const device_job *job)                                              \
    {                                                                                              \
        unsigned char own[1024 * (kilobytes)] __attribute__((aligned(64)));                        \
        go(job, own, sizeof own);                                                                  \
    }
KERNEL(48)
KERNEL(192)

#ifndef ZW_FLOAT
/* Steps by Coulomb's law, in lanes. */
static __attribute__((noinline)) void go_exactly(const device_job *job, unsigned char *own,
                                                 size_t bytes)
{
    int thread = thread_of(), lane = thread % WARP, first = thread / WARP * job->lanes;
    unsigned char *memory = job->scratch + (size_t)thread * job->scratch_bytes;
    int fits = world_exact_bytes(job->model[0]).near <= bytes;
    for (; first < job->worlds && fits; first += warps_of() * job->lanes) {
        int place = first + lane, here = lane < job->lanes && place < job->worlds;
        int world = here ? job->order[place] : -1;
        const device_place at = {.near = own};
        world_move_exact(job, &world, memory, &at);
    }
}

#define EXACT_KERNEL(kilobytes)                                                                    \
    void zw_exact_##kilobytes(const device_job *job)                                               \
    {                                                                                              \
        unsigned char own[1024 * (kilobytes)] __attribute__((aligned(64)));                        \
        go_exactly(job, own, sizeof own);                                                          \
    }
EXACT_KERNEL(128)
EXACT_KERNEL(256)
#endif

#ifdef ZW_FLOAT
void zw_lanes_bytes(const device_job *job, size_t *to)
{
    device_room lanes = world_lanes_bytes(job->model[0]);
    to[0] = lanes.near + lanes.far + 64;
    to[3] = lanes.common;
    to[4] = 0;
    to[5] = lanes.desk;
    to[6] = lanes.stage;
}
#else
/* Crews: each warp is one. Near memory is in the multiprocessor's shared memory, if the host has
 * found that it fits. The crews of a block run together: those without a world take part. */
void zw_crews(const device_job *job)
{
    int own = __nvvm_read_ptx_sreg_tid_x() / WARP, each = __nvvm_read_ptx_sreg_ntid_x() / WARP;
    int block = __nvvm_read_ptx_sreg_ctaid_x(), blocks = __nvvm_read_ptx_sreg_nctaid_x();
    unsigned char *memory = job->scratch + (size_t)(block * each + own) * job->scratch_bytes;
    unsigned char *far = memory + job->far, *near = memory + job->near;
    if (job->near_shared > 0) {
        near = (unsigned char *)zw_shared + (size_t)own * job->near_shared;
    }
    for (int first = block * each; first < job->worlds; first += blocks * each) {
        int world = first + own < job->worlds ? job->order[first + own] : -1;
        const device_place at = {.near = near, .far = far};
        world_move_crew(job, &world, memory, &at);
    }
}

/* The memory that is needed: in lanes, and near and far of a crew. */
void zw_lanes_bytes(const device_job *job, size_t *to)
{
    device_room lanes = world_lanes_bytes(job->model[0]), crew = world_crew_bytes(job->model[0]);
    to[0] = lanes.near + lanes.far + 64;
    to[3] = lanes.common;
    to[1] = (crew.near + 63) / 64 * 64;
    to[2] = (crew.far + 63) / 64 * 64;
    to[4] = world_exact_bytes(job->model[0]).near;
    to[5] = lanes.desk;
    to[6] = lanes.stage;
}
#endif

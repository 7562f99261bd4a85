/* Threads of a GPU and their worlds. Compiled by clang for NVPTX; kernel.ll says what a kernel is.
 */
#include "device/backend.h"

/* As the host has it, or structs differ. */
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

/* Of the 32 threads of a warp the first so many have worlds; each takes the worlds whose numbers
 * are its own and so many more, with the same scratch. */
void zw_worlds(const device_job *job)
{
    int thread = thread_of(), lane = thread % WARP, own = thread / WARP * job->lanes + lane;
    unsigned char *memory = job->scratch + (size_t)thread * job->scratch_bytes;
    for (int world = own; lane < job->lanes && world < job->worlds;
         world += warps_of() * job->lanes) {
        world_move(job, world, memory);
    }
}

/* In lanes: those without a world go along. */
static __attribute__((noinline)) void go(const device_job *job, unsigned char *own, size_t bytes)
{
    int thread = thread_of(), lane = thread % WARP, first = thread / WARP * job->lanes;
    unsigned char *memory = job->scratch + (size_t)thread * job->scratch_bytes;
    size_t near = (world_lanes_bytes(job->model[0]).near + 63) / 64 * 64;
    for (; first < job->worlds && near < bytes; first += warps_of() * job->lanes) {
        int place = first + lane, here = lane < job->lanes && place < job->worlds;
        int world = here ? job->order[place] : -1;
        world_move_lanes(job, &world, memory, own, own + near);
    }
}

/* Local memory has the size that it has when this is compiled; the host takes what is enough. */
#define KERNEL(kilobytes)                                                                          \
    void zw_worlds_##kilobytes(const device_job *job)                                              \
    {                                                                                              \
        unsigned char own[1024 * (kilobytes)] __attribute__((aligned(64)));                        \
        go(job, own, sizeof own);                                                                  \
    }
KERNEL(48)
KERNEL(192)

/* Crews: a warp is one of them. What is near is in the multiprocessor's shared memory, if the host
 * has found that it fits there. Those of a block go together: crews without a world go along. */
extern __attribute__((address_space(3), aligned(64))) unsigned char zw_crew_near[];

void zw_crews(const device_job *job)
{
    int own = __nvvm_read_ptx_sreg_tid_x() / WARP, each = __nvvm_read_ptx_sreg_ntid_x() / WARP;
    int block = __nvvm_read_ptx_sreg_ctaid_x(), blocks = __nvvm_read_ptx_sreg_nctaid_x();
    unsigned char *memory = job->scratch + (size_t)(block * each + own) * job->scratch_bytes;
    unsigned char *far = memory + job->far, *near = memory + job->near;
    if (job->near_shared > 0) {
        near = (unsigned char *)zw_crew_near + (size_t)own * job->near_shared;
    }
    for (int first = block * each; first < job->worlds; first += blocks * each) {
        int world = first + own < job->worlds ? job->order[first + own] : -1;
        world_move_crew(job, &world, memory, near, far);
    }
}

/* What is enough: in lanes, near and far of a crew. */
void zw_lanes_bytes(const device_job *job, size_t *to)
{
    device_room lanes = world_lanes_bytes(job->model[0]), crew = world_crew_bytes(job->model[0]);
    to[0] = lanes.near + lanes.far + 64;
    to[1] = (crew.near + 63) / 64 * 64;
    to[2] = (crew.far + 63) / 64 * 64;
}

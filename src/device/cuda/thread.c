/* One thread of a GPU: its world. Compiled by clang for NVPTX; kernel.ll says what a kernel is. */
#include "device/backend.h"

/* As the host has it, or structs differ. */
const int zw_device_version = DEVICE_VERSION;

/* Of the 32 threads of a warp the first so many have worlds; each takes the worlds whose numbers
 * are its own and so many more, with the same scratch. */
void zw_worlds(const device_job *job)
{
    enum { WARP = 32 };
    int thread = __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() +
                 __nvvm_read_ptx_sreg_tid_x();
    int threads = __nvvm_read_ptx_sreg_nctaid_x() * __nvvm_read_ptx_sreg_ntid_x();
    int lane = thread % WARP, own = thread / WARP * job->lanes + lane;
    int all = threads / WARP * job->lanes;
    if (lane < job->lanes) {
        unsigned char *memory = job->scratch + (size_t)own * job->scratch_bytes;
        for (int world = own; world < job->worlds; world += all) {
            world_move(job, world, memory);
        }
    }
}

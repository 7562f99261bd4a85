/* The CUDA backend, on the driver API: libzwang-cuda.so. The code of the worlds (thread.c and
 * everything it calls) is embedded in compiled form, for several generations of GPUs. */
#include <cuda.h>

#include "base/error.h"
#include "base/memory.h"
#include "device/backend.h"

/* The code: zw_worlds of thread.c, for several generations of GPUs, in double and in single
 * precision. */
__asm__(".section .rodata\n"
        ".balign 64\n"
        "zw_worlds_code:\n"
        ".incbin \"" ZW_CUDA_CODE "\"\n"
        ".byte 0\n"
        ".balign 64\n"
        "zw_float_code:\n"
        ".incbin \"" ZW_CUDA_FLOAT_CODE "\"\n"
        ".byte 0\n"
        ".text\n");
extern const char zw_worlds_code[] __attribute__((visibility("hidden")));
extern const char zw_float_code[] __attribute__((visibility("hidden")));

/* Measured on an H200 (docs/gpu.md): a multiprocessor has one block, of as many warps as its
 * registers allow; few worlds are spread over all multiprocessors, with fewer in a warp. */
enum { WARP = 32, FEW_WARPS = 4 };

/* From this many worlds per multiprocessor lanes are faster: measured likewise. */
enum { MANY_WORLDS = 64 };

/* Largest number of crews per multiprocessor: measured likewise. */
enum { MOST_CREWS = 12, FEW_CREWS = 4 };

/* Worlds in lanes, with two sizes of local memory; a thread for each world; and in double precision
 * only: a crew for each world; Coulomb's law in lanes, with two sizes. */
enum { IN_LANES, IN_LANES_MORE, ALONE, CREWS, EXACT, EXACT_MORE, KERNELS };
static const char *const kernel_name[KERNELS] = {"zw_worlds_48", "zw_worlds_192", "zw_worlds",
                                                 "zw_crews",     "zw_exact_128",  "zw_exact_256"};
#define LANES_FEW ((size_t)48 * 1024)
#define LANES_MORE ((size_t)192 * 1024)
#define EXACT_FEW ((size_t)128 * 1024)
#define EXACT_MOST ((size_t)256 * 1024)

/* The result of zw_lanes_bytes. */
typedef struct room {
    size_t lanes, near, far, common, exact, desk, stage;
} room;

/* The code of a precision, loaded when it is first needed; crews are for double precision only. */
typedef struct program {
    CUmodule code;
    CUfunction kernel[KERNELS], measure;
} program;

typedef struct gpu {
    CUdevice device;
    CUcontext context;
    program program[2]; /* double, single */
    CUdeviceptr job, scratch, bytes;
    size_t scratch_bytes;        /* size of all scratch memory */
    int multiprocessors, shared; /* and bytes of shared memory that a block can have */
    char name[128];
} gpu;

static zw_status fail(CUresult result, const char *what, zw_error *error)
{
    const char *text = NULL;
    if (result == CUDA_SUCCESS) {
        return ZW_OK;
    }
    cuGetErrorString(result, &text);
    return base_fail(error, result == CUDA_ERROR_OUT_OF_MEMORY ? ZW_NO_MEMORY : ZW_BAD_INPUT,
                     "CUDA: %s: %s", what, text ? text : "unknown error");
}

static zw_status check_version(CUmodule code, zw_error *error)
{
    CUdeviceptr place = 0;
    int version = 0;
    size_t size = 0;
    zw_status status =
        fail(cuModuleGetGlobal(&place, &size, code, "zw_device_version"), "version", error);
    status = status == ZW_OK ? fail(cuMemcpyDtoH(&version, place, sizeof version), "version", error)
                             : status;
    return status == ZW_OK && version != DEVICE_VERSION
               ? base_fail(error, ZW_BAD_INPUT, "CUDA: structs differ on the device")
               : status;
}

static zw_status load_program(program *to, int is_single, zw_error *error)
{
    if (to->measure) {
        return ZW_OK;
    }
    zw_status status = fail(cuModuleLoadData(&to->code, is_single ? zw_float_code : zw_worlds_code),
                            "this GPU cannot run our code", error);
    status = status == ZW_OK ? check_version(to->code, error) : status;
    for (int k = 0; k < KERNELS && status == ZW_OK; k++) {
        if (k < CREWS || !is_single) {
            status = fail(cuModuleGetFunction(&to->kernel[k], to->code, kernel_name[k]), "kernel",
                          error);
        }
    }
    return status == ZW_OK ? fail(cuModuleGetFunction(&to->measure, to->code, "zw_lanes_bytes"),
                                  "kernel", error)
                           : status;
}

static zw_status load(gpu *g, zw_error *error)
{
    zw_status status = fail(cuMemAlloc(&g->bytes, sizeof(room)), "memory", error);
    return status == ZW_OK ? fail(cuMemAlloc(&g->job, sizeof(device_job)), "memory", error)
                           : status;
}

static void close_gpu(void *device)
{
    gpu *g = device;
    if (g->context) {
        cuCtxSetCurrent(g->context);
        cuMemFree(g->job);
        cuMemFree(g->bytes);
        cuMemFree(g->scratch);
        for (int k = 0; k < 2; k++) {
            if (g->program[k].code) {
                cuModuleUnload(g->program[k].code);
            }
        }
        cuDevicePrimaryCtxRelease(g->device);
    }
    base_free(g);
}

/* The context is the device's primary one, which PyTorch and JAX use as well. */
static void *open_gpu(int number, zw_error *error)
{
    gpu *g = base_alloc(sizeof *g);
    zw_status status = g ? fail(cuInit(0), "no driver", error) : ZW_NO_MEMORY;
    status = status == ZW_OK ? fail(cuDeviceGet(&g->device, number), "no such GPU", error) : status;
    if (status == ZW_OK) {
        cuDeviceGetName(g->name, (int)sizeof g->name, g->device);
        status = fail(cuDevicePrimaryCtxRetain(&g->context, g->device), "no context", error);
    }
    if (status == ZW_OK) {
        cuCtxSetCurrent(g->context);
        cuDeviceGetAttribute(&g->multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
                             g->device);
        cuDeviceGetAttribute(&g->shared, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                             g->device);
        status = load(g, error);
    }
    if (status != ZW_OK && g) {
        close_gpu(g);
    }
    return status == ZW_OK ? g : NULL;
}

static const char *name_of(const void *device)
{
    return ((const gpu *)device)->name;
}

static void *take(void *device, size_t bytes)
{
    CUdeviceptr block = 0;
    cuCtxSetCurrent(((gpu *)device)->context);
    if (cuMemAlloc(&block, bytes) != CUDA_SUCCESS) {
        return NULL;
    }
    cuMemsetD8(block, 0, bytes);
    return (void *)block;
}

static void give(void *device, void *block)
{
    cuCtxSetCurrent(((gpu *)device)->context);
    if (block) {
        cuMemFree((CUdeviceptr)block);
    }
}

static zw_status put(void *device, void *to, const void *from, size_t bytes, zw_error *error)
{
    cuCtxSetCurrent(((gpu *)device)->context);
    return bytes > 0 ? fail(cuMemcpyHtoD((CUdeviceptr)to, from, bytes), "copy", error) : ZW_OK;
}

static zw_status get(void *device, void *to, const void *from, size_t bytes, zw_error *error)
{
    cuCtxSetCurrent(((gpu *)device)->context);
    return bytes > 0 ? fail(cuMemcpyDtoH(to, (CUdeviceptr)from, bytes), "copy", error) : ZW_OK;
}

static zw_status make_room(gpu *g, size_t bytes, zw_error *error)
{
    if (bytes <= g->scratch_bytes) {
        return ZW_OK;
    }
    cuMemFree(g->scratch);
    g->scratch = 0;
    g->scratch_bytes = 0;
    zw_status status = fail(cuMemAlloc(&g->scratch, bytes), "scratch", error);
    g->scratch_bytes = status == ZW_OK ? bytes : 0;
    return status;
}

static unsigned least(unsigned x, unsigned y)
{
    return x < y ? x : y;
}

/* The launch of a job. */
typedef struct plan {
    int kernel;
    unsigned blocks, threads, shared;
    size_t scratch; /* bytes in all */
} plan;

static zw_status measure(gpu *g, const program *code, room *to, zw_error *error)
{
    void *arguments[] = {&g->job, &g->bytes};
    zw_status status = fail(
        cuLaunchKernel(code->measure, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL), "launch", error);
    return status == ZW_OK ? fail(cuMemcpyDtoH(to, g->bytes, sizeof *to), "copy", error) : status;
}

/* A thread for each world, in lanes or alone: worlds per warp, and warps per block. What a warp in
 * lanes has in common is in shared memory, if it fits. */
static zw_status plan_threads(const gpu *g, const room *need, device_job *job, int kernel, plan *to,
                              zw_error *error)
{
    unsigned worlds = (unsigned)job->worlds, units = (unsigned)g->multiprocessors;
    unsigned lanes = least((worlds + FEW_WARPS * units - 1) / (FEW_WARPS * units), WARP);
    unsigned warps = (worlds + lanes - 1) / lanes;
    CUfunction function = g->program[job->is_single].kernel[kernel];
    int most = WARP; /* threads, by registers */
    zw_status status =
        fail(cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function), "kernel",
             error);
    unsigned each = least((warps + units - 1) / units, (unsigned)most / WARP);
    int is_soft = kernel == IN_LANES || kernel == IN_LANES_MORE;
    unsigned desks = is_soft && need->desk > 0 ? (unsigned)((size_t)g->shared / need->desk) : 0;
    each = desks > 0 ? least(each, desks) : each;
    *to = (plan){.kernel = kernel,
                 .blocks = least((warps + each - 1) / each, units),
                 .threads = each * WARP};
    job->lanes = (int)lanes;
    job->common = is_soft ? need->common : 0;
    job->desk = desks > 0 ? need->desk : 0;
    job->stage = desks > 0 ? need->stage : 0;
    job->common_shared = each * (job->common + job->desk) <= (size_t)g->shared;
    to->shared = each * (unsigned)(job->desk + (job->common_shared ? job->common : 0));
    to->scratch = job->scratch_bytes * to->threads * to->blocks + job->stage * each * to->blocks;
    to->scratch += job->common_shared ? 0 : job->common * each * to->blocks;
    return status == ZW_OK
               ? fail(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                         (int)to->shared),
                      "shared memory", error)
               : status;
}

/* A crew for each world: one block on a multiprocessor, with as many crews as fit their near memory
 * into its shared memory; if none fits, it is in device memory. */
static zw_status plan_crews(const gpu *g, const room *need, device_job *job, plan *to,
                            zw_error *error)
{
    unsigned fit = (unsigned)((size_t)g->shared / need->near), units = (unsigned)g->multiprocessors;
    unsigned each = least(fit > 0 ? fit : FEW_CREWS, MOST_CREWS);
    each = least(each, ((unsigned)job->worlds + units - 1) / units);
    *to = (plan){.kernel = CREWS,
                 .threads = each * WARP,
                 .blocks = least(units, ((unsigned)job->worlds + each - 1) / each),
                 .shared = fit > 0 ? each * (unsigned)need->near : 0};
    job->near_shared = fit > 0 ? need->near : 0;
    job->far = job->scratch_bytes;
    job->near = job->far + need->far;
    job->scratch_bytes = job->near + (fit > 0 ? 0 : need->near);
    to->scratch = job->scratch_bytes * each * to->blocks;
    return fail(cuFuncSetAttribute(g->program[0].kernel[CREWS],
                                   CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                   (int)to->shared),
                "shared memory", error);
}

static int kernel_of(const gpu *g, const device_job *job, const room *need)
{
    if (!job->is_single &&
        (job->worlds < MANY_WORLDS * g->multiprocessors || need->lanes > LANES_MORE)) {
        return CREWS;
    }
    return need->lanes > LANES_FEW ? IN_LANES_MORE : IN_LANES;
}

static zw_status choose_exact(gpu *g, device_job *job, const room *need, plan *to, zw_error *error)
{
    return need->exact > EXACT_MOST
               ? base_fail(error, ZW_TOO_LARGE,
                           "this system is too large for Coulomb's law on a GPU: a world needs %zu "
                           "bytes of scratch, and %zu are possible",
                           need->exact, EXACT_MOST)
               : plan_threads(g, need, job, need->exact > EXACT_FEW ? EXACT_MORE : EXACT, to,
                              error);
}

/* The job is on the device, for `measure`. */
static zw_status choose(gpu *g, device_job *job, plan *to, zw_error *error)
{
    room need = {0};
    if (job->alone || job->reset || job->senses) {
        return plan_threads(g, &need, job, ALONE, to, error);
    }
    zw_status status = measure(g, &g->program[job->is_single], &need, error);
    if (status == ZW_OK && job->is_exact) {
        return choose_exact(g, job, &need, to, error);
    }
    int kernel = status == ZW_OK ? kernel_of(g, job, &need) : ALONE;
    if (status == ZW_OK && kernel != CREWS && need.lanes > LANES_MORE) {
        return base_fail(error, ZW_TOO_LARGE,
                         "this system is too large for single precision: a world needs %zu bytes "
                         "of scratch, and %zu are possible",
                         need.lanes, LANES_MORE);
    }
    if (kernel == CREWS) {
        return plan_crews(g, &need, job, to, error);
    }
    return status == ZW_OK ? plan_threads(g, &need, job, kernel, to, error) : status;
}

static zw_status move(void *device, const device_job *job, size_t scratch, zw_error *error)
{
    gpu *g = device;
    plan how;
    device_job own = *job;
    void *arguments[] = {&g->job};
    own.scratch_bytes = (scratch + 127) / 128 * 128;
    cuCtxSetCurrent(g->context);
    program *code = &g->program[job->is_single];
    zw_status status = load_program(code, job->is_single, error);
    status = status == ZW_OK ? put(device, (void *)g->job, &own, sizeof own, error) : status;
    status = status == ZW_OK ? choose(g, &own, &how, error) : status;
    status = status == ZW_OK ? make_room(g, how.scratch, error) : status;
    own.scratch = (unsigned char *)g->scratch;
    status = status == ZW_OK ? put(device, (void *)g->job, &own, sizeof own, error) : status;
    status = status == ZW_OK
                 ? fail(cuLaunchKernel(code->kernel[how.kernel], how.blocks, 1, 1, how.threads, 1,
                                       1, how.shared, NULL, arguments, NULL),
                        "launch", error)
                 : status;
    return status == ZW_OK ? fail(cuCtxSynchronize(), "the worlds", error) : status;
}

__attribute__((visibility("default"))) const device_backend *zw_device_cuda(void);

const device_backend *zw_device_cuda(void)
{
    static const device_backend backend = {.version = DEVICE_VERSION,
                                           .open = open_gpu,
                                           .close = close_gpu,
                                           .name = name_of,
                                           .take = take,
                                           .give = give,
                                           .put = put,
                                           .get = get,
                                           .move = move};
    return &backend;
}

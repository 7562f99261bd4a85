/* Steps on a device by Coulomb's law with one linearisation.
 *
 * The device takes all steps that lanes can take (device/world_exact.c). In the others, a few in a
 * thousand of falling humanoids, something else is to be done than to solve once: shapes overlap,
 * or a body may have passed through another. They are taken here, by the functions of zw_step and
 * in threads of the processor, and the worlds go on on the device; so each has the bits of
 * zw_batch_step on the processor. States are built for that from what the device has. Steps that
 * left more behind than coordinates and speeds (where one solve was not enough, multipliers from
 * which the next begins) need their state again: it is kept, and the world stays here until a step
 * leaves nothing, or until the end of the call. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/error.h"
#include "batch/on_device.h"
#include "batch/pool.h"

/* After this many launches the processor takes all steps that are left: a launch for few worlds
 * takes as long as one for thousands. */
enum { LAUNCHES = 4 };

struct batch_exact {
    zw_batch *batch;
    const zw_run_options *options, *plan;
    int threads;
    batch_pool *pool;
    zw_state **state; /* [threads] */
    zw_work **work;

    /* Copies of the device's arrays */
    double *time, *q, *v, *param;
    uint64_t *mark;
    int *left;

    int *list, count; /* [worlds] those that the processor steps now */
    int last;         /* with all steps that are left */
    atomic_int next;
    zw_state **kept; /* [worlds] of worlds whose last step left more than q and v, or NULL */
};

static zw_status no_memory(zw_error *error)
{
    return base_fail(error, ZW_NO_MEMORY, "%s", zw_status_text(ZW_NO_MEMORY));
}

/* ---- Memory ---------------------------------------------------------------------------------- */

void on_device_free_exact(struct batch_exact *e)
{
    if (!e) {
        return;
    }
    for (int k = 0; e->state && e->work && k < e->threads; k++) {
        zw_state_free(e->state[k]);
        zw_work_free(e->work[k]);
    }
    for (int i = 0; e->kept && i < e->batch->count; i++) {
        zw_state_free(e->kept[i]);
    }
    pool_free(e->pool);
    void *own[] = {e->state, e->work, e->time, e->q,    e->v, e->param,
                   e->mark,  e->left, e->list, e->kept, e};
    for (size_t k = 0; k < sizeof own / sizeof *own; k++) {
        base_free(own[k]);
    }
}

static zw_status make(zw_batch *batch, struct batch_exact *e, zw_error *error)
{
    batch_device *d = batch->device;
    size_t worlds = (size_t)batch->count;
    e->batch = batch;
    e->threads = d->threads;
    e->state = base_alloc((size_t)e->threads * sizeof *e->state);
    e->work = base_alloc((size_t)e->threads * sizeof *e->work);
    e->time = base_alloc(on_device_all(batch, SEEN_TIME) + 1);
    e->q = base_alloc(on_device_all(batch, SEEN_Q) + 1);
    e->v = base_alloc(on_device_all(batch, SEEN_V) + 1);
    e->param = base_alloc(on_device_all(batch, SEEN_PARAM) + 1);
    e->mark = base_alloc(worlds * sizeof *e->mark);
    e->left = base_alloc(worlds * sizeof *e->left);
    e->list = base_alloc(worlds * sizeof *e->list);
    e->kept = base_alloc(worlds * sizeof *e->kept);
    if (!e->state || !e->work || !e->time || !e->q || !e->v || !e->param || !e->mark || !e->left ||
        !e->list || !e->kept) {
        return no_memory(error);
    }
    zw_status status = ZW_OK;
    for (int k = 0; k < e->threads && status == ZW_OK; k++) {
        e->work[k] = zw_work_create(batch->system, error);
        status = e->work[k] ? zw_state_copy(d->start[0], &e->state[k], error) : ZW_NO_MEMORY;
    }
    e->pool = status == ZW_OK ? pool_create(e->threads) : NULL;
    return status == ZW_OK && !e->pool ? no_memory(error) : status;
}

/* Steps that the processor does not take in lanes either are refused. */
zw_status on_device_check_exact(zw_batch *batch, const zw_run_options *plan, zw_error *error)
{
    batch_device *d = batch->device;
    int failed = 0;
    const char *lack = d->models > 1         ? "worlds of different systems"
                       : d->job.is_single    ? "single precision"
                       : plan->tolerance < 1 ? "more than one linearisation per step (tolerance 1)"
                       : !plan->memoryless   ? "steps that depend on the ones before (memoryless)"
                       : !once8_takes_plan(batch->system, plan)
                           ? "this system with these options (docs/gpu.md)"
                           : NULL;
    if (!lack && plan->step != d->exact_step) {
        once8 *lanes = once8_create(batch->system, d->work, plan->step, &failed);
        d->exact_step = lanes ? plan->step : 0;
        lack = lanes || failed ? NULL : "this system (docs/gpu.md)";
        once8_free(lanes);
    }
    if (failed) {
        return no_memory(error);
    }
    return lack ? base_fail(error, ZW_BAD_INPUT,
                            "a batch on a device moves by the soft law (contact soft), or by "
                            "Coulomb's with method impulse, tolerance 1, memoryless; not %s",
                            lack)
                : ZW_OK;
}

/* ---- A world on the processor ---------------------------------------------------------------- */

static double *row(const struct batch_exact *e, double *array, int world, int k)
{
    return on_device_at(e->batch, array, world, k);
}

/* The state of a world, as zw_step would have left it on the processor. */
static zw_state *state_of(struct batch_exact *e, int thread, int world)
{
    const zw_system *system = e->batch->system;
    double t = e->time[world], *q = row(e, e->q, world, SEEN_Q), *v = row(e, e->v, world, SEEN_V);
    uint64_t mark = world_mark(system, t, q, v);
    zw_state *state = e->kept[world];
    if (state && world_mark(system, state->t, state_q(state), state_v(state)) != mark) {
        zw_state_free(state);
        e->kept[world] = state = NULL;
    }
    int goes_on = state != NULL;
    state = goes_on ? state : e->state[thread];
    state->t = t;
    memcpy(state_q(state), q, on_device_row(e->batch, SEEN_Q));
    memcpy(state_v(state), v, on_device_row(e->batch, SEEN_V));
    memcpy(state_param(state), row(e, e->param, world, SEEN_PARAM),
           on_device_row(e->batch, SEEN_PARAM));
    if (!goes_on && mark == e->mark[world]) {
        run_note_once(system, state, e->plan);
    } else if (!goes_on) {
        run_forget(state);
    }
    return state;
}

/* Has the last step left nothing but coordinates and speeds? Its memory (impulse_memory.c) begins
 * with 1, or 2 where shapes overlap, and the numbers of blocks, rows and speeds in it. */
static int has_overlaps(const zw_system *system, zw_state *state)
{
    return !run_remembers_step(state) || run_step_memory(system, state)[0] != 1;
}

static int is_plain(const zw_system *system, zw_state *state)
{
    const double *memory = run_step_memory(system, state);
    return !has_overlaps(system, state) && memory[1] == 0 && memory[3] == 0;
}

static void put_back(struct batch_exact *e, int world, zw_state *state)
{
    double *q = row(e, e->q, world, SEEN_Q), *v = row(e, e->v, world, SEEN_V);
    e->time[world] = state->t;
    memcpy(q, state_q(state), on_device_row(e->batch, SEEN_Q));
    memcpy(v, state_v(state), on_device_row(e->batch, SEEN_V));
    e->mark[world] =
        has_overlaps(e->batch->system, state) ? 0 : world_mark(e->batch->system, state->t, q, v);
}

static void step_world(struct batch_exact *e, int thread, int world)
{
    batch_device *d = e->batch->device;
    const zw_system *system = e->batch->system;
    zw_error why = {.status = ZW_OK};
    zw_state *state = state_of(e, thread, world);
    device_result *result = &d->result[world];
    zw_status status = ZW_OK;
    int plain = 1;
    do {
        status = zw_step(system, state, e->work[thread], e->options, &why);
        result->steps += status == ZW_OK;
        result->alone += status == ZW_OK;
        e->left[world] -= status == ZW_OK;
        result->certificate = fmax(result->certificate, e->work[thread]->certificate);
        plain = status == ZW_OK && is_plain(system, state);
    } while (status == ZW_OK && e->left[world] > 0 && (e->last || !plain));
    put_back(e, world, state);
    result->status = d->status[world] = (int)status;
    if (status != ZW_OK) {
        batch_fail(e->batch, world, &why);
    }
    if (!plain && !e->kept[world] && status == ZW_OK &&
        zw_state_copy(state, &e->kept[world], &why) != ZW_OK) {
        result->status = d->status[world] = ZW_NO_MEMORY;
    }
}

static void step_list(void *user, int thread)
{
    struct batch_exact *e = user;
    for (;;) {
        int k = atomic_fetch_add_explicit(&e->next, 1, memory_order_relaxed);
        if (k >= e->count) {
            return;
        }
        step_world(e, thread, e->list[k]);
    }
}

/* ---- All of them ----------------------------------------------------------------------------- */

/* Copies between the device's arrays and ours; `to`: to the device. */
static zw_status copy_all(struct batch_exact *e, int to, zw_error *error)
{
    zw_batch *batch = e->batch;
    batch_device *d = batch->device;
    size_t worlds = (size_t)batch->count;
    struct {
        void *theirs, *ours;
        size_t bytes;
        int both; /* or only to the host */
    } list[] = {{d->job.time, e->time, on_device_all(batch, SEEN_TIME), 1},
                {d->job.q, e->q, on_device_all(batch, SEEN_Q), 1},
                {d->job.v, e->v, on_device_all(batch, SEEN_V), 1},
                {d->job.param, e->param, on_device_all(batch, SEEN_PARAM), 0},
                {d->job.mark, e->mark, worlds * sizeof *e->mark, 1},
                {d->job.left, e->left, worlds * sizeof *e->left, 1},
                {d->job.status, d->status, worlds * sizeof *d->status, 1},
                {d->job.result, d->result, worlds * sizeof *d->result, 1}};
    zw_status status = ZW_OK;
    for (size_t k = 0; k < sizeof list / sizeof *list && status == ZW_OK; k++) {
        if (!to) {
            status = d->backend->get(d->handle, list[k].ours, list[k].theirs, list[k].bytes, error);
        } else if (list[k].both) {
            status = d->backend->put(d->handle, list[k].theirs, list[k].ours, list[k].bytes, error);
        }
    }
    return status;
}

/* Worlds that have stayed behind. */
static zw_status list_left(struct batch_exact *e, zw_error *error)
{
    batch_device *d = e->batch->device;
    size_t worlds = (size_t)e->batch->count;
    zw_status status =
        d->backend->get(d->handle, e->left, d->job.left, worlds * sizeof *e->left, error);
    e->count = 0;
    for (int i = 0; i < e->batch->count && status == ZW_OK; i++) {
        if (d->status[i] == ZW_OK && e->left[i] > 0) {
            e->list[e->count++] = i;
        }
    }
    return status;
}

/* Worlds with steps left, for the next launch. */
static zw_status put_list(struct batch_exact *e, zw_error *error)
{
    batch_device *d = e->batch->device;
    e->count = 0;
    for (int i = 0; i < e->batch->count; i++) {
        int world = d->order[i];
        if (d->status[world] == ZW_OK && e->left[world] > 0) {
            e->list[e->count++] = world;
        }
    }
    d->job.worlds = e->count;
    return d->backend->put(d->handle, (void *)d->job.order, e->list,
                           (size_t)e->count * sizeof *e->list, error);
}

static zw_status begin(struct batch_exact *e, int steps, zw_error *error)
{
    zw_batch *batch = e->batch;
    batch_device *d = batch->device;
    size_t worlds = (size_t)batch->count;
    for (int i = 0; i < batch->count; i++) {
        e->left[i] = d->status[i] == ZW_OK ? steps : 0;
        d->result[i] = (device_result){.status = d->status[i]};
    }
    zw_status status =
        d->backend->put(d->handle, d->job.left, e->left, worlds * sizeof *e->left, error);
    return status == ZW_OK ? d->backend->put(d->handle, d->job.result, d->result,
                                             worlds * sizeof *d->result, error)
                           : status;
}

static zw_status go(struct batch_exact *e, zw_error *error)
{
    batch_device *d = e->batch->device;
    zw_status status = ZW_OK;
    e->count = e->batch->count;
    for (int k = 1; e->count > 0 && status == ZW_OK; k++) {
        status = d->backend->move(d->handle, &d->job, d->exact_scratch, error);
        status = status == ZW_OK ? list_left(e, error) : status;
        if (status != ZW_OK || e->count == 0) {
            break;
        }
        status = copy_all(e, 0, error);
        e->last = k == LAUNCHES;
        atomic_store(&e->next, 0);
        if (status == ZW_OK) {
            pool_run(e->pool, step_list, NULL, e);
            status = copy_all(e, 1, error);
        }
        status = status == ZW_OK ? put_list(e, error) : status;
    }
    return status;
}

zw_status on_device_move_exact(zw_batch *batch, const zw_run_options *options,
                               const zw_run_options *plan, int steps, zw_error *error)
{
    batch_device *d = batch->device;
    zw_run_options own = *options;
    own.poll = NULL;
    if (!d->exact) {
        d->exact = base_alloc(sizeof *d->exact);
        zw_status made = d->exact ? make(batch, d->exact, error) : no_memory(error);
        if (made != ZW_OK) {
            on_device_free_exact(d->exact);
            d->exact = NULL;
            return made;
        }
    }
    struct batch_exact *e = d->exact;
    e->options = &own;
    e->plan = plan;
    zw_status status = begin(e, steps, error);
    d->job.is_exact = 1;
    status = status == ZW_OK ? go(e, error) : status;
    d->job.is_exact = 0;
    d->job.worlds = batch->count;
    zw_status restored = d->backend->put(d->handle, (void *)d->job.order, d->order,
                                         (size_t)batch->count * sizeof *d->order, error);
    return status == ZW_OK ? restored : status;
}

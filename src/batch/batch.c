/* Many worlds of one system: the public interface.
 *
 * Each world owns only its state; scratch memory belongs to threads. A step has the same bits with
 * any work (step/once.c), so worlds are given to threads in any order. The arrays are copies of the
 * states: an entry that differs from the state when the world moves next has been written by the
 * caller, and is set as zw_state_set does. */
#include "batch/batch.h"

#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "batch/on_device.h"

/* ---- Arrays ---------------------------------------------------------------------------------- */

static const zw_field_id fields[] = {[SEEN_TIME] = ZW_FIELD_TIME,
                                     [SEEN_PARAM] = ZW_FIELD_PARAM,
                                     [SEEN_Q] = ZW_FIELD_Q,
                                     [SEEN_V] = ZW_FIELD_V,
                                     [SEEN_ACTIVATION] = ZW_FIELD_ACTIVATION,
                                     [SEEN_SENSOR] = ZW_FIELD_SENSOR,
                                     [SEEN_A] = ZW_FIELD_A};

static double *place_of(const zw_batch *batch, int world, int k)
{
    return batch->seen[k].data + (size_t)world * (size_t)batch->seen[k].count;
}

static zw_view view_of(const zw_batch *batch, int world, int k)
{
    return zw_field(batch_system(batch, world), batch->state[world], batch->worker[0].work,
                    batch->seen[k].field);
}

static int differs(const zw_batch *batch, int world, int k)
{
    size_t bytes = (size_t)batch->seen[k].count * sizeof(double);
    return bytes > 0 &&
           memcmp(place_of(batch, world, k), view_of(batch, world, k).data, bytes) != 0;
}

int batch_is_written(const zw_batch *batch, int world)
{
    int written = 0;
    for (int k = 0; k < SEEN_WRITTEN && !written; k++) {
        written = differs(batch, world, k);
    }
    return written;
}

/* Sets what was written, as zw_state_set does: of Q only the poses of mocap bodies, which are its
 * last numbers, if only these were. */
static zw_status set(zw_batch *batch, int world, int k, zw_work *work, zw_error *error)
{
    const zw_system *system = batch_system(batch, world);
    zw_state *state = batch->state[world];
    const double *written = place_of(batch, world, k);
    zw_field_id field = batch->seen[k].field;
    int count = batch->seen[k].count;
    int mocap = k == SEEN_Q ? zw_field(system, state, work, ZW_FIELD_MOCAP).count : 0;
    size_t moved = (size_t)(count - mocap);
    if (mocap > 0 && !memcmp(written, view_of(batch, world, k).data, moved * sizeof *written)) {
        field = ZW_FIELD_MOCAP;
        written += moved;
        count = mocap;
    }
    return zw_state_set(system, state, work, field, 0, count, written, error);
}

zw_status batch_take(zw_batch *batch, int world, zw_work *work, zw_error *error)
{
    zw_status status = ZW_OK;
    int written[SEEN_WRITTEN]; /* all are compared before any is set, since setting parameters may
                                  change q and v */
    for (int k = 0; k < SEEN_WRITTEN; k++) {
        written[k] = differs(batch, world, k);
    }
    for (int k = 0; k < SEEN_WRITTEN && status == ZW_OK; k++) {
        if (written[k]) {
            status = set(batch, world, k, work, error);
        }
    }
    return status;
}

void batch_show(zw_batch *batch, int world, zw_work *work)
{
    int most = work ? SEEN_COUNT : SEEN_WRITTEN;
    for (int k = 0; k < most; k++) {
        const batch_seen *seen = &batch->seen[k];
        zw_view view = zw_field(batch_system(batch, world), batch->state[world],
                                work ? work : batch->worker[0].work, seen->field);
        if (view.data && view.count == seen->count && seen->count > 0) {
            memcpy(place_of(batch, world, k), view.data, (size_t)view.count * sizeof *view.data);
        }
    }
}

void batch_fail(zw_batch *batch, int world, const zw_error *error)
{
    batch->result[world].status = error->status;
    batch->failed[world] = 1;
    if (!batch->why[world]) {
        batch->why[world] = base_alloc(
            sizeof *batch->why[world]); /* NULL on failure: then there is only the status */
    }
    if (batch->why[world]) {
        *batch->why[world] = *error;
    }
}

/* ---- Creation -------------------------------------------------------------------------------- */

/* Can eight worlds be evaluated in the vector unit? -1: no memory. */
static int goes_in_lanes(const zw_system *system)
{
    const zw_model *model = system->model;
    int smooth = model->constraint_count == 0 && model->event_count == 0 && system->C_count == 0 &&
                 !system->tree && !system->sparse && !kinks_exist(system);
    int pulses = smooth ? pulses_exist(system) : 0;
    return pulses < 0 ? -1 : smooth && !pulses;
}

static void lay_out_worker(batch_worker *worker, base_arena *arena)
{
    const zw_system *system = worker->batch->system;
    size_t size = 2 * (size_t)system->n + (size_t)system->works + 1;
    worker->stage = base_arena_doubles(arena, size);
    worker->y = base_arena_doubles(arena, size);
    if (worker->batch->in_lanes) {
        worker->lanes.system = system;
        worker->lanes.size = 2 * system->n + system->works;
        batch_lanes_layout(&worker->lanes, arena);
    }
}

static zw_status make_worker(zw_batch *batch, batch_worker *worker, zw_error *error)
{
    base_arena arena = {0};
    worker->batch = batch;
    lay_out_worker(worker, &arena);
    worker->memory = base_alloc(arena.used + 1);
    worker->work = zw_work_create(batch->system, error);
    if (!worker->memory || !worker->work) {
        return base_no_memory(error);
    }
    arena = (base_arena){.block = worker->memory};
    lay_out_worker(worker, &arena);
    if (batch->in_lanes) {
        worker->motion = motion_of(batch->system, worker->work, worker->stage);
        worker->lanes.alone = &worker->motion;
    }
    return ZW_OK;
}

static size_t times(size_t count, size_t each)
{
    return each > 0 && count > SIZE_MAX / 64 / each ? SIZE_MAX : count * each;
}

static void lay_out(zw_batch *batch, base_arena *arena)
{
    size_t count = (size_t)batch->count;
    for (int k = 0; k < SEEN_COUNT; k++) {
        batch->seen[k].data = base_arena_doubles(arena, times(count, (size_t)batch->seen[k].count));
    }
    batch->state = base_arena_bytes(arena, times(count, sizeof *batch->state));
    batch->result = base_arena_bytes(arena, times(count, sizeof *batch->result));
    batch->why = base_arena_bytes(arena, times(count, sizeof *batch->why));
    batch->failed = base_arena_bytes(arena, count);
    batch->stuck = base_arena_bytes(arena, count);
}

static void measure(zw_batch *batch)
{
    for (int k = 0; k < SEEN_COUNT; k++) {
        zw_view view = zw_field(batch->system, batch->start, batch->worker[0].work, fields[k]);
        batch->seen[k] = (batch_seen){.field = fields[k], .count = view.count};
    }
}

/* Worlds that vary: each has its own scratch and start, and all have the same counts of
 * everything. */
static zw_status make_starts(zw_batch *batch, zw_error *error)
{
    batch->own = base_alloc((size_t)batch->count * sizeof *batch->own);
    batch->starts = base_alloc((size_t)batch->count * sizeof *batch->starts);
    if (!batch->own || !batch->starts) {
        return base_no_memory(error);
    }
    for (int i = 0; i < batch->count; i++) {
        zw_error why = {.status = ZW_OK};
        const zw_system *system = batch->systems[i];
        batch->own[i] = zw_work_create(system, &why);
        batch->starts[i] =
            batch->own[i] ? zw_state_create(system, batch->own[i], NULL, &why) : NULL;
        for (int k = 0; batch->starts[i] && k < SEEN_COUNT; k++) {
            if (zw_field(system, batch->starts[i], batch->own[i], fields[k]).count !=
                batch->seen[k].count) {
                return base_fail(error, ZW_BAD_INPUT,
                                 "world %d has other numbers of coordinates, parameters or sensors "
                                 "than world 0",
                                 i);
            }
        }
        if (!batch->starts[i]) {
            return base_fail(error, why.status, "world %d: %s", i, why.text);
        }
    }
    return ZW_OK;
}

static zw_status make_worlds(zw_batch *batch, zw_error *error)
{
    base_arena arena = {0};
    measure(batch);
    lay_out(batch, &arena);
    batch->memory = base_alloc(arena.used > SIZE_MAX / 8 ? SIZE_MAX : arena.used + 1);
    if (!batch->memory) {
        return base_no_memory(error);
    }
    arena = (base_arena){.block = batch->memory};
    lay_out(batch, &arena);
    zw_status status = batch->systems ? make_starts(batch, error) : ZW_OK;
    return status == ZW_OK ? zw_batch_reset(batch, NULL, NULL, error) : status;
}

static zw_status make(zw_batch *batch, zw_error *error)
{
    zw_status status = ZW_OK;
    batch->worker = base_alloc((size_t)batch->threads * sizeof *batch->worker);
    if (!batch->worker) {
        return base_no_memory(error);
    }
    for (int k = 0; k < batch->threads && status == ZW_OK; k++) {
        status = make_worker(batch, &batch->worker[k], error);
    }
    if (status != ZW_OK) {
        return status;
    }
    batch->start = zw_state_create(batch->system, batch->worker[0].work, NULL, error);
    batch->pool = batch->start ? pool_create(batch->threads) : NULL;
    if (!batch->start) {
        return error && error->status != ZW_OK ? error->status : ZW_NO_MEMORY;
    }
    return batch->pool ? make_worlds(batch, error)
                       : base_fail(error, ZW_NO_MEMORY, "cannot start %d threads", batch->threads);
}

static zw_batch *create(const zw_system *system, const zw_system *const *systems, int worlds,
                        int threads, zw_error *error)
{
    zw_batch *batch = base_alloc(sizeof *batch);
    if (!batch) {
        base_no_memory(error);
        return NULL;
    }
    batch->system = system ? system : systems[0];
    batch->count = worlds;
    batch->threads = threads;
    batch->in_lanes = system ? goes_in_lanes(system) : 0;
    batch->steps_in_lanes = system ? equations8_takes(system) : 0;
    batch->systems = systems ? base_alloc((size_t)worlds * sizeof *batch->systems) : NULL;
    for (int i = 0; batch->systems && i < worlds; i++) {
        batch->systems[i] = systems[i];
    }
    int none = (systems && !batch->systems) || batch->in_lanes < 0 || batch->steps_in_lanes < 0;
    if (none) {
        batch->in_lanes = batch->steps_in_lanes = 0;
        base_no_memory(error);
    }
    if (none || make(batch, error) != ZW_OK) {
        zw_batch_free(batch);
        return NULL;
    }
    return batch;
}

zw_batch *zw_batch_create(const zw_batch_def *def, zw_error *error)
{
    enum { MOST_THREADS = 4096 };
    int threads = def->threads == 0 ? 1 : def->threads;
    if (!def->system == !def->systems) {
        base_fail(error, ZW_BAD_INPUT, "a batch is of one system, or of one for each world");
        return NULL;
    }
    if (def->precision != ZW_PRECISION_DOUBLE && !def->device) {
        base_fail(error, ZW_BAD_INPUT,
                  "single precision is for batches on a device (\"cuda\", \"emulated\")");
        return NULL;
    }
    if (def->worlds < 1 || threads < 1 || threads > MOST_THREADS) {
        base_fail(error, ZW_BAD_INPUT,
                  "a batch needs at least one world, and 1 to %d threads, not %d and %d",
                  MOST_THREADS, def->worlds, threads);
        return NULL;
    }
    return def->device ? on_device_create(def, error)
                       : create(def->system, def->systems, def->worlds, threads, error);
}

void zw_batch_free(zw_batch *batch)
{
    if (!batch) {
        return;
    }
    if (batch->device) {
        on_device_free(batch);
        return;
    }
    pool_free(batch->pool);
    batch_free_soft(batch);
    batch_free_equations(batch);
    for (int i = 0; batch->memory && i < batch->count; i++) {
        zw_state_free(batch->state[i]);
        base_free(batch->why[i]);
    }
    for (int k = 0; batch->worker && k < batch->threads; k++) {
        zw_work_free(batch->worker[k].work);
        base_free(batch->worker[k].memory);
    }
    for (int i = 0; i < batch->count; i++) {
        zw_work_free(batch->own ? batch->own[i] : NULL);
        zw_state_free(batch->starts ? batch->starts[i] : NULL);
    }
    zw_state_free(batch->start);
    base_free(batch->systems);
    base_free(batch->own);
    base_free(batch->starts);
    base_free(batch->worker);
    base_free(batch->memory);
    base_free(batch);
}

/* ---- Looking --------------------------------------------------------------------------------- */

static int is_world(const zw_batch *batch, int world)
{
    return world >= 0 && world < batch->count;
}

double *zw_batch_field(zw_batch *batch, int world, zw_field_id field)
{
    for (int k = 0; k < SEEN_COUNT && is_world(batch, world); k++) {
        if (fields[k] == field && batch->seen[k].data) {
            return place_of(batch, world, k);
        }
    }
    return NULL;
}

zw_batch_result zw_batch_look(const zw_batch *batch, int world)
{
    if (batch->device) {
        on_device_look((zw_batch *)batch, NULL); /* fetched when it is asked for */
    }
    return is_world(batch, world) ? batch->result[world]
                                  : (zw_batch_result){.status = ZW_BAD_INPUT, .stopped_by = -1};
}

const zw_error *zw_batch_why(const zw_batch *batch, int world)
{
    return is_world(batch, world) && batch->result[world].status != ZW_OK ? batch->why[world]
                                                                          : NULL;
}

const zw_state *zw_batch_state(const zw_batch *batch, int world)
{
    if (!is_world(batch, world) || batch->device) {
        return NULL;
    }
    batch_let_see(batch, world);
    return batch->state[world];
}

zw_status zw_batch_reset(zw_batch *batch, const unsigned char *mask, const zw_state *to,
                         zw_error *error)
{
    if (batch->device) {
        return on_device_reset(batch, mask, to, error);
    }
    for (int i = 0; i < batch->count; i++) {
        if (mask && !mask[i]) {
            continue;
        }
        const zw_state *from = to ? to : batch->starts ? batch->starts[i] : batch->start;
        if (from->fingerprint != batch_system(batch, i)->fingerprint) {
            return base_fail(error, ZW_BAD_INPUT, "the initial state belongs to another system");
        }
        zw_status status = zw_state_copy(from, &batch->state[i], error);
        if (status != ZW_OK) {
            return status;
        }
        batch->result[i] = (zw_batch_result){.status = ZW_OK, .end = from->t, .stopped_by = -1};
        batch->stuck[i] = 0;
        if (batch->is_ahead) {
            batch->is_ahead[i] = 0;
        }
        batch_show(batch, i, NULL);
    }
    return ZW_OK;
}

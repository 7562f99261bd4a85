/* Advances worlds: by steps, or each to the final time. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "batch/batch.h"
#include "batch/on_device.h"

/* ---- Which worlds move ----------------------------------------------------------------------- */

int batch_is_ready(batch_worker *worker, int world)
{
    zw_batch *batch = worker->batch;
    zw_batch_result *result = &batch->result[world];
    zw_error error = {.status = ZW_OK};
    if (batch->stuck[world] && !batch_is_written(batch, world)) {
        return 0;
    }
    batch->stuck[world] = 0;
    *result = (zw_batch_result){.status = ZW_OK, .stopped_by = -1};
    if (batch_take(batch, world, batch_work(worker, world), &error) != ZW_OK) {
        batch_fail(batch, world, &error);
    }
    result->end = batch->state[world]->t;
    return result->status == ZW_OK;
}

/* Records a failure during the motion. */
static void fail(zw_batch *batch, int world, const zw_error *error)
{
    batch_fail(batch, world, error);
    batch->stuck[world] = 1;
}

static int next_world(zw_batch *batch)
{
    int world = atomic_load(&batch->stopped)
                    ? batch->count
                    : atomic_fetch_add_explicit(&batch->next, 1, memory_order_relaxed);
    return world < batch->count ? world : -1;
}

/* Threads have parts of the worlds, the same in every call: what a thread wrote in the last one is
 * in its own cache, and to fetch it from that of another takes long. When it is done with its part,
 * it takes groups of others. */
static void share_groups(zw_batch *batch)
{
    long groups = ((long)batch->count + LANES - 1) / LANES;
    for (int k = 0; k < batch->threads; k++) {
        atomic_store(&batch->worker[k].group, (int)(groups * k / batch->threads));
        batch->worker[k].group_end = (int)(groups * (k + 1) / batch->threads);
    }
}

int batch_next_group(batch_worker *worker)
{
    zw_batch *batch = worker->batch;
    for (int k = 0; k < batch->threads && !atomic_load(&batch->stopped); k++) {
        batch_worker *of = &batch->worker[(worker->thread + k) % batch->threads];
        if (atomic_load_explicit(&of->group, memory_order_relaxed) >= of->group_end) {
            continue;
        }
        int group = atomic_fetch_add_explicit(&of->group, 1, memory_order_relaxed);
        if (group < of->group_end) {
            return group;
        }
    }
    return -1;
}

/* ---- Interruption -------------------------------------------------------------------------- */

int batch_polls(void *user, double time)
{
    batch_worker *worker = user;
    zw_batch *batch = worker->batch;
    if (worker->thread == 0 && batch->poll) {
        worker->polled = time;
        if (batch->poll(batch->user, time)) {
            atomic_store(&batch->stopped, 1);
        }
    }
    return atomic_load_explicit(&batch->stopped, memory_order_relaxed);
}

/* Polls for the caller while his thread has no world left and others have: with a time of his
 * thread, as the others write theirs. */
static void watch(void *user)
{
    zw_batch *batch = user;
    batch_polls(&batch->worker[0], batch->worker[0].polled);
}

/* Runs all workers, and reports the failed world of the lowest number. */
static zw_status move(zw_batch *batch, void (*work)(void *user, int thread), zw_error *error)
{
    memset(batch->failed, 0, (size_t)batch->count);
    atomic_store(&batch->next, 0);
    atomic_store(&batch->stopped, 0);
    share_groups(batch);
    batch->poll = batch->options.poll;
    batch->user = batch->options.user;
    for (int k = 0; k < batch->threads; k++) {
        batch_worker *worker = &batch->worker[k];
        worker->thread = k;
        worker->polled = batch->result[0].end;
        worker->options = batch->options;
        worker->options.poll = batch->poll ? batch_polls : NULL;
        worker->options.user = worker;
    }
    pool_run(batch->pool, work, batch->poll ? watch : NULL, batch);
    if (atomic_load(&batch->stopped)) {
        return base_fail_as(error, ZW_INTERRUPTED);
    }
    for (int i = 0; i < batch->count; i++) {
        if (batch->failed[i]) {
            const zw_error *why = batch->why[i];
            zw_status status = batch->result[i].status;
            base_fail(error, status, "world %d: %s", i, why ? why->text : zw_status_text(status));
            if (error && why) {
                memcpy(error->file, why->file, sizeof error->file);
                error->line = why->line;
                error->column = why->column;
            }
            return status;
        }
    }
    return ZW_OK;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* The accelerations and forces in a world. The soft law has them at every state; others have those
 * of the last step, if zw_step took it. */
static zw_status sense(batch_worker *worker, int world, int by_step, zw_error *error)
{
    const zw_system *system = batch_system(worker->batch, world);
    const zw_state *state = worker->batch->state[world];
    zw_work *work = batch_work(worker, world);
    zw_run_options plan = {0};
    int softly = !by_step && system->tree &&
                 step_plan(system, state, &worker->options, &plan, error) == ZW_OK &&
                 plan.method == ZW_METHOD_SOFT;
    return softly ? run_look_softly(system, state, work, plan.step, error)
                  : zw_look(system, state, work, error);
}

/* Updates the arrays of a world after its steps, which ended with this status. `by_step`: zw_step
 * took the last one. */
static void end_steps(batch_worker *worker, int world, zw_status status, int by_step,
                      zw_error *error)
{
    zw_batch *batch = worker->batch;
    zw_state *state = batch->state[world];
    zw_work *work = batch_work(worker, world);
    int senses = status == ZW_OK && (batch->flags & ZW_BATCH_SENSE);
    if (senses) {
        status = sense(worker, world, by_step, error);
    }
    batch->result[world].end = state->t;
    batch_show(batch, world, senses && status == ZW_OK ? work : NULL);
    if (status != ZW_OK && status != ZW_INTERRUPTED) {
        fail(batch, world, error);
    }
}

void batch_step_world(batch_worker *worker, int world, int steps)
{
    zw_batch *batch = worker->batch;
    zw_batch_result *result = &batch->result[world];
    zw_state *state = batch->state[world];
    zw_error error = {.status = ZW_OK};
    const zw_system *system = batch_system(batch, world);
    zw_work *work = batch_work(worker, world);
    zw_status status = ZW_OK;
    for (int k = 0; k < steps && status == ZW_OK && result->stopped_by < 0; k++) {
        status = zw_step(system, state, work, &worker->options, &error);
        result->steps += status == ZW_OK;
        result->stopped_by = status == ZW_OK ? step_stopped_by(work) : -1;
        result->certificate = fmax(result->certificate, work->certificate);
    }
    batch->stuck[world] = result->stopped_by >= 0;
    end_steps(worker, world, status, steps > 0, &error);
}

void batch_end_steps(batch_worker *worker, int world)
{
    zw_error error = {.status = ZW_OK};
    end_steps(worker, world, ZW_OK, 0, &error);
}

static void step_worlds(void *user, int thread)
{
    zw_batch *batch = user;
    batch_worker *worker = &batch->worker[thread];
    for (int world = next_world(batch); world >= 0; world = next_world(batch)) {
        if (batch_is_ready(worker, world)) {
            batch_step_world(worker, world, batch->steps);
        }
    }
}

static zw_status check(const zw_run_options *options, zw_error *error)
{
    return options && options->observer ? base_fail(error, ZW_BAD_INPUT, "a batch has no observer")
                                        : ZW_OK;
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static void run_world(batch_worker *worker, int world)
{
    zw_batch *batch = worker->batch;
    zw_state *state = batch->state[world];
    zw_run_summary summary;
    zw_error error = {.status = ZW_OK};
    zw_status status = zw_run(batch_system(batch, world), state, batch_work(worker, world),
                              &worker->options, &summary, &error);
    batch->result[world] = (zw_batch_result){.status = status,
                                             .end = state->t,
                                             .stopped_by = summary.stopped_by,
                                             .certificate = summary.certificate,
                                             .steps = summary.steps,
                                             .rejected = summary.rejected,
                                             .evaluations = summary.evaluations};
    batch_show(batch, world, NULL);
    if (status != ZW_OK) {
        fail(batch, world, &error);
    }
}

/* The next world that is ready and has not arrived. */
static int next_to_run(batch_worker *worker)
{
    zw_batch *batch = worker->batch;
    int world = next_world(batch);
    while (world >= 0 &&
           !(batch_is_ready(worker, world) && batch->state[world]->t < batch->options.time)) {
        world = next_world(batch);
    }
    return world;
}

static void run_worlds(void *user, int thread)
{
    batch_worker *worker = &((zw_batch *)user)->worker[thread];
    for (int world = next_to_run(worker); world >= 0; world = next_to_run(worker)) {
        run_world(worker, world);
    }
}

/* ---- Runs in lanes --------------------------------------------------------------------------- */

/* Starts world i in a lane, from its state. */
static void enter(batch_worker *worker, int world, double *t, const double **y,
                  const double **param)
{
    zw_state *state = worker->batch->state[world];
    *t = state->t;
    motion_pack(&worker->motion, state, worker->y);
    *y = worker->y;
    *param = state_param(state);
}

static int lane_next(void *user, double *t, double *limit, const double **y, const double **param)
{
    batch_worker *worker = user;
    int world = next_to_run(worker);
    if (world >= 0) {
        enter(worker, world, t, y, param);
        *limit = worker->options.time;
    }
    return world;
}

/* Copies the lane into the state. */
static void leave(batch_worker *worker, const batch_lanes *lanes, int lane)
{
    zw_state *state = worker->batch->state[lanes->world[lane]];
    for (int i = 0; i < lanes->size; i++) {
        worker->y[i] = ((const double *)lanes->y0)[i * LANES + lane];
    }
    motion_unpack(&worker->motion, lanes->t0[lane], worker->y, state);
    run_forget(state); /* adaptive steps keep no memory */
}

static void lane_done(void *user, const batch_lanes *lanes, int lane, zw_status status)
{
    batch_worker *worker = user;
    zw_batch *batch = worker->batch;
    int world = lanes->world[lane];
    leave(worker, lanes, lane);
    int stopped = status == ZW_INTERRUPTED; /* an interruption is not a failure */
    batch->result[world] = (zw_batch_result){.status = stopped ? ZW_OK : status,
                                             .end = lanes->t0[lane],
                                             .stopped_by = -1,
                                             .steps = lanes->steps[lane],
                                             .rejected = lanes->rejected[lane],
                                             .evaluations = lanes->evaluations[lane]};
    batch_show(batch, world, NULL);
    if (status != ZW_OK && !stopped) {
        fail(batch, world, &lanes->error[lane]);
    }
}

static void run_in_lanes(void *user, int thread)
{
    zw_batch *batch = user;
    batch_worker *worker = &batch->worker[thread];
    const zw_run_options *options = &batch->options;
    worker->lanes.tolerance = fmax(options->tolerance, 4.0 * DBL_EPSILON);
    worker->lanes.largest = options->step > 0 ? options->step : INFINITY;
    batch_lanes_run(
        &worker->lanes,
        &(batch_queue){.user = worker, .next = lane_next, .done = lane_done, .stops = batch_polls});
}

/* ---- Adaptive steps in lanes ----------------------------------------------------------------- */

/* The next world that is ready. A world with numbers so large that its energy may overflow is
 * stepped alone. */
static int next_to_step(batch_worker *worker)
{
    const double ABSURD = 1e30;
    zw_batch *batch = worker->batch;
    for (int world = next_world(batch); world >= 0; world = next_world(batch)) {
        if (!batch_is_ready(worker, world)) {
            continue;
        }
        const double *q = state_q(batch->state[world]); /* the speeds follow the coordinates */
        int sane = 1;
        for (int i = 0; i < 2 * batch->system->n; i++) {
            sane &= fabs(q[i]) < ABSURD;
        }
        if (sane) {
            return world;
        }
        batch_step_world(worker, world, batch->steps);
    }
    return -1;
}

/* A world that has taken a step and has more to take comes next: there is at most one for each
 * lane, since it is asked for right after. */
static int step_next(void *user, double *t, double *limit, const double **y, const double **param)
{
    batch_worker *worker = user;
    int world =
        worker->again_count > 0 ? worker->again[--worker->again_count] : next_to_step(worker);
    if (world >= 0) {
        enter(worker, world, t, y, param);
        *limit = *t + worker->lanes.largest;
    }
    return world;
}

/* One step of zw_step is complete. A world that has failed repeats it alone, from its state. */
static void step_done(void *user, const batch_lanes *lanes, int lane, zw_status status)
{
    batch_worker *worker = user;
    zw_batch *batch = worker->batch;
    int world = lanes->world[lane];
    zw_batch_result *result = &batch->result[world];
    if (status != ZW_OK && status != ZW_INTERRUPTED) {
        batch_step_world(worker, world, batch->steps - (int)result->steps);
        return;
    }
    if (status == ZW_OK) {
        leave(worker, lanes, lane);
        batch->state[world]->impacts = 0;
        result->steps++;
        worker->stepped++;
    }
    if (result->steps < batch->steps && !atomic_load(&batch->stopped)) {
        worker->again[worker->again_count++] = world;
    } else {
        batch_end_steps(worker, world);
    }
}

static void step_in_lanes(void *user, int thread)
{
    zw_batch *batch = user;
    batch_worker *worker = &batch->worker[thread];
    worker->lanes.tolerance = fmax(batch->plan.tolerance, 4.0 * DBL_EPSILON);
    worker->lanes.largest = batch->plan.step;
    worker->again_count = 0;
    batch_lanes_run(
        &worker->lanes,
        &(batch_queue){.user = worker, .next = step_next, .done = step_done, .stops = batch_polls});
}

static int begin_in_lanes(zw_batch *batch)
{
    zw_run_options requested = batch->options, plan;
    zw_error ignored;
    requested.poll = NULL;
    int lanes = batch->in_lanes && batch->steps > 0 &&
                step_plan(batch->system, batch->state[0], &requested, &plan, &ignored) == ZW_OK &&
                plan.method == ZW_METHOD_DOP853;
    batch->plan = lanes ? plan : batch->plan;
    return lanes;
}

zw_status zw_batch_step(zw_batch *batch, const zw_run_options *options, int steps, int flags,
                        zw_error *error)
{
    zw_status status = check(options, error);
    if (status == ZW_OK && steps < 0) {
        status =
            base_fail(error, ZW_BAD_INPUT, "the number of steps must not be negative: %d", steps);
    }
    if (status != ZW_OK) {
        return status;
    }
    if (batch->device) {
        return on_device_step(batch, options, steps, flags, error);
    }
    batch->options = options ? *options : (zw_run_options){0};
    batch->steps = steps;
    batch->flags = flags;
    return move(batch,
                batch_begin_softly(batch)      ? batch_step_softly
                : batch_begin_equations(batch) ? batch_step_equations
                : begin_in_lanes(batch)        ? step_in_lanes
                                               : step_worlds,
                error);
}

zw_status zw_batch_run(zw_batch *batch, const zw_run_options *options, zw_error *error)
{
    zw_run_options requested = options ? *options : (zw_run_options){0}, plan;
    zw_status status = check(options, error);
    double earliest = INFINITY;
    if (batch->device) {
        return base_fail(error, ZW_BAD_INPUT, "a batch on a device moves by zw_batch_step");
    }
    for (int i = 0; i < batch->count; i++) {
        earliest = fmin(earliest, *zw_batch_field(batch, i, ZW_FIELD_TIME));
    }
    if (status == ZW_OK) {
        status = run_complete(batch->system, &requested, isfinite(earliest) ? earliest : 0, &plan,
                              error);
    }
    if (status != ZW_OK) {
        return status;
    }
    batch_catch_up_all(batch);
    int lanes = batch->in_lanes && plan.method == ZW_METHOD_DOP853;
    batch->options = plan;
    batch->options.every = lanes ? plan.every : 2 * fabs(plan.time) + 1; /* no samples */
    return move(batch, lanes ? run_in_lanes : run_worlds, error);
}

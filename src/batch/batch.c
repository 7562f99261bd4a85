/* Many worlds of one system: what the caller sees. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "batch/lanes.h"
#include "step/run.h"

struct zw_batch {
    const zw_system *system;
    int count;
    double *t;               /* [count] */
    double *y;               /* [count][size] q v, and the work done */
    double *param;           /* [count][params] */
    zw_batch_result *result; /* [count] */
    zw_work *alone;
    step_motion motion;
    double *stage;
    batch_lanes lanes;
    void *memory;

    /* Of a run */
    int queued;      /* the next world to look at */
    int first;       /* the first world that failed, -1: none */
    zw_error *error; /* its story; may be NULL */
};

/* ---- Creation ------------------------------------------------------------------------------- */

static zw_status check_system(const zw_system *system, int worlds, zw_error *error)
{
    const zw_model *model = system->model;
    if (worlds < 1) {
        return base_fail(error, ZW_BAD_INPUT, "a batch of %d worlds", worlds);
    }
    if (model->constraint_count > 0) {
        return model_fail(model, error, ZW_BAD_INPUT, model->constraint[0].place,
                          "worlds in a batch cannot have constraints yet, and there is %s",
                          model->constraint[0].name);
    }
    if (model->event_count > 0) {
        return model_fail(model, error, ZW_BAD_INPUT, model->event[0].place,
                          "worlds in a batch cannot have events yet, and there is %s",
                          model->event[0].name ? model->event[0].name : "one");
    }
    if (system->C_count > 0) {
        return base_fail(error, ZW_BAD_INPUT,
                         "worlds in a batch cannot have non-ideal constraint forces yet");
    }
    if (system->tree) {
        return base_fail(error, ZW_BAD_INPUT, "worlds in a batch cannot be made of bodies yet");
    }
    if (system->sparse) {
        return base_fail(error, ZW_BAD_INPUT,
                         "worlds in a batch must be small, and there are %d coordinates",
                         system->n);
    }
    return ZW_OK;
}

static void lay_out(zw_batch *batch, base_arena *arena)
{
    size_t count = (size_t)batch->count, size = (size_t)batch->lanes.size;
    size_t params = (size_t)batch->system->shape.params;
    batch->t = base_arena_doubles(arena, count);
    batch->y =
        base_arena_doubles(arena, count > SIZE_MAX / 64 / (size + 1) ? SIZE_MAX : count * size);
    batch->param =
        base_arena_doubles(arena, count > SIZE_MAX / 64 / (params + 1) ? SIZE_MAX : count * params);
    batch->result = base_arena_bytes(arena, count * sizeof *batch->result);
    batch->stage = base_arena_doubles(arena, 2 * (size_t)batch->system->n + 1);
    batch_lanes_layout(&batch->lanes, arena);
}

/* All worlds begin as the file says. */
static zw_status begin(zw_batch *batch, zw_error *error)
{
    const zw_system *system = batch->system;
    zw_state *state = zw_state_create(system, batch->alone, NULL, error);
    if (!state) {
        return ZW_NO_MEMORY;
    }
    size_t size = (size_t)batch->lanes.size, params = (size_t)system->shape.params;
    for (int i = 0; i < batch->count; i++) {
        batch->t[i] = state->t;
        motion_pack(&batch->motion, state, batch->y + (size_t)i * size);
        memcpy(batch->param + (size_t)i * params, state_param(state), params * sizeof(double));
        batch->result[i] = (zw_batch_result){.status = ZW_OK, .end = state->t};
    }
    zw_state_free(state);
    return ZW_OK;
}

zw_batch *zw_batch_create(const zw_system *system, int worlds, zw_error *error)
{
    enum { LINE = 64 };
    if (check_system(system, worlds, error) != ZW_OK) {
        return NULL;
    }
    zw_batch *batch = base_alloc(sizeof *batch);
    base_arena arena = {0};
    if (batch) {
        batch->system = batch->lanes.system = system;
        batch->count = worlds;
        batch->lanes.size = 2 * system->n + system->works;
        lay_out(batch, &arena);
        batch->memory = base_alloc(arena.used > SIZE_MAX / 8 ? SIZE_MAX : arena.used + LINE);
    }
    if (!batch || !batch->memory) {
        base_free(batch);
        base_fail(error, ZW_NO_MEMORY, "%s", zw_status_text(ZW_NO_MEMORY));
        return NULL;
    }
    size_t skip = (LINE - (uintptr_t)batch->memory % LINE) % LINE; /* lanes on whole lines */
    arena = (base_arena){.block = (unsigned char *)batch->memory + skip};
    lay_out(batch, &arena);
    batch->alone = zw_work_create(system, error);
    if (batch->alone) {
        batch->motion = motion_of(system, batch->alone, batch->stage);
        batch->lanes.alone = &batch->motion;
    }
    if (!batch->alone || begin(batch, error) != ZW_OK) {
        zw_batch_free(batch);
        return NULL;
    }
    return batch;
}

void zw_batch_free(zw_batch *batch)
{
    if (batch) {
        zw_work_free(batch->alone);
        base_free(batch->memory);
        base_free(batch);
    }
}

/* ---- Looking -------------------------------------------------------------------------------- */

double *zw_batch_field(zw_batch *batch, int world, zw_field_id field)
{
    if (world < 0 || world >= batch->count) {
        return NULL;
    }
    double *y = batch->y + (size_t)world * (size_t)batch->lanes.size;
    switch (field) {
    case ZW_FIELD_TIME:
        return batch->t + world;
    case ZW_FIELD_Q:
        return y;
    case ZW_FIELD_V:
        return y + batch->system->n;
    case ZW_FIELD_PARAM:
        return batch->param + (size_t)world * (size_t)batch->system->shape.params;
    default:
        return NULL;
    }
}

zw_batch_result zw_batch_look(const zw_batch *batch, int world)
{
    if (world < 0 || world >= batch->count) {
        return (zw_batch_result){.status = ZW_BAD_INPUT};
    }
    return batch->result[world];
}

/* ---- Running -------------------------------------------------------------------------------- */

static void tell(zw_batch *batch, int world, const zw_error *story)
{
    if (batch->first >= 0 && batch->first < world) {
        return;
    }
    batch->first = world;
    if (batch->error) {
        zw_error *error = batch->error;
        base_fail(error, story->status, "world %d: %s", world, story->text);
        memcpy(error->file, story->file, sizeof error->file);
        error->line = story->line;
        error->column = story->column;
    }
}

static int next_world(void *user, double *t, const double **y, const double **param)
{
    zw_batch *batch = user;
    while (batch->queued < batch->count) {
        int world = batch->queued++;
        *t = batch->t[world];
        *y = batch->y + (size_t)world * (size_t)batch->lanes.size;
        *param = batch->param + (size_t)world * (size_t)batch->system->shape.params;
        batch->result[world] = (zw_batch_result){.status = ZW_OK, .end = *t};
        if (!isfinite(*t)) {
            zw_error story = {0};
            batch->result[world].status =
                base_fail(&story, ZW_BAD_INPUT, "the time to start at is not finite");
            tell(batch, world, &story);
        } else if (*t < batch->lanes.limit) {
            return world;
        }
    }
    return -1;
}

static void world_done(void *user, const batch_lanes *lanes, int lane, zw_status status)
{
    zw_batch *batch = user;
    int world = lanes->world[lane];
    double *y = batch->y + (size_t)world * (size_t)lanes->size;
    for (int i = 0; i < lanes->size; i++) {
        y[i] = ((const double *)lanes->y0)[i * LANES + lane];
    }
    batch->t[world] = lanes->t0[lane];
    batch->result[world] = (zw_batch_result){.status = status,
                                             .end = lanes->t0[lane],
                                             .steps = lanes->steps[lane],
                                             .rejected = lanes->rejected[lane],
                                             .evaluations = lanes->evaluations[lane]};
    if (status != ZW_OK) {
        tell(batch, world, &lanes->error[lane]);
    }
}

static zw_status plan(zw_batch *batch, const zw_run_options *options, zw_error *error)
{
    zw_run_options complete;
    double earliest = INFINITY;
    for (int i = 0; i < batch->count; i++) {
        earliest = fmin(earliest, batch->t[i]);
    }
    zw_status status =
        run_complete(batch->system, options, isfinite(earliest) ? earliest : 0, &complete, error);
    if (status != ZW_OK) {
        return status;
    }
    if (complete.observer || complete.poll) {
        return base_fail(error, ZW_BAD_INPUT, "a batch has no observer and no poll yet");
    }
    if (complete.method != ZW_METHOD_DOP853) {
        return base_fail(error, ZW_BAD_INPUT, "a batch runs with method dop853 only, not %s",
                         zw_method_name(complete.method));
    }
    batch->lanes.limit = complete.time;
    batch->lanes.tolerance = fmax(complete.tolerance, 4.0 * DBL_EPSILON);
    batch->lanes.largest = complete.step > 0 ? complete.step : INFINITY;
    return ZW_OK;
}

/* Kinks of formulas end steps, each world's its own: such worlds run one after another. */
static zw_status run_one_by_one(zw_batch *batch, const zw_run_options *options, zw_error *error)
{
    zw_state *state = zw_state_create(batch->system, batch->alone, NULL, error);
    if (!state) {
        return ZW_NO_MEMORY;
    }
    double t;
    const double *y, *param;
    for (int world = next_world(batch, &t, &y, &param); world >= 0;
         world = next_world(batch, &t, &y, &param)) {
        zw_run_summary summary;
        zw_error story = {0};
        memcpy(state_param(state), param, (size_t)batch->system->shape.params * sizeof *param);
        motion_unpack(&batch->motion, t, y, state);
        zw_status status = zw_run(batch->system, state, batch->alone, options, &summary, &story);
        motion_pack(&batch->motion, state, batch->y + (size_t)world * (size_t)batch->lanes.size);
        batch->t[world] = state->t;
        batch->result[world] = (zw_batch_result){.status = status,
                                                 .end = state->t,
                                                 .steps = summary.steps,
                                                 .rejected = summary.rejected,
                                                 .evaluations = summary.evaluations};
        if (status != ZW_OK) {
            tell(batch, world, &story);
        }
    }
    zw_state_free(state);
    return ZW_OK;
}

zw_status zw_batch_run(zw_batch *batch, const zw_run_options *options, zw_error *error)
{
    zw_status status = plan(batch, options, error);
    if (status != ZW_OK) {
        return status;
    }
    const batch_queue queue = {.user = batch, .next = next_world, .done = world_done};
    batch->queued = 0;
    batch->first = -1;
    batch->error = error;
    if (kinks_exist(batch->system)) {
        status = run_one_by_one(batch, options, error);
    } else {
        batch_lanes_run(&batch->lanes, &queue);
    }
    batch->error = NULL;
    return status != ZW_OK ? status : batch->first < 0 ? ZW_OK : batch->result[batch->first].status;
}

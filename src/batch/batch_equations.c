/* Fixed steps of equations, eight worlds at a time (step/equations8).
 *
 * A group of eight takes all steps of the call together. A world whose lane fails to take a step
 * takes that one and the remaining ones alone, from its state. The rates at the end of a step are
 * those at the start of the next: they are stored with the states, and are valid as long as the
 * state is the one they belong to. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "batch/batch.h"

/* After this many groups in succession without a single successful step, the rest of the call is
 * done world by world. */
enum { HOPELESS = 4 };

void batch_free_equations(zw_batch *batch)
{
    for (int k = 0; batch->worker && k < batch->threads; k++) {
        equations8_free(batch->worker[k].equations8);
    }
    base_free(batch->rates);
    base_free(batch->rates_of);
}

static int make_room(zw_batch *batch)
{
    size_t size = 2 * (size_t)batch->system->n + (size_t)batch->system->works;
    size_t count = (size_t)batch->count;
    if (!batch->rates && count < SIZE_MAX / 64 / (size + 1)) {
        batch->rates = base_alloc((count * size + 1) * sizeof *batch->rates);
        batch->rates_of = base_alloc(count * sizeof *batch->rates_of);
    }
    return batch->rates && batch->rates_of;
}

static int prepare(batch_worker *worker, const zw_run_options *plan)
{
    if (worker->equations8 && worker->equations8->plan.step != plan->step) {
        equations8_free(worker->equations8);
        worker->equations8 = NULL;
        memset(worker->batch->rates_of, 0,
               (size_t)worker->batch->count * sizeof *worker->batch->rates_of);
    }
    if (!worker->equations8) {
        worker->equations8 = equations8_create(worker->batch->system, plan);
    }
    return worker->equations8 != NULL;
}

int batch_begin_equations(zw_batch *batch)
{
    zw_run_options requested = batch->options, plan;
    zw_error ignored;
    requested.poll = NULL;
    if (!batch->steps_in_lanes || batch->systems ||
        step_plan(batch->system, batch->state[0], &requested, &plan, &ignored) != ZW_OK ||
        !equations8_takes_plan(&plan) || !make_room(batch)) {
        return 0;
    }
    int ready = 1;
    for (int k = 0; k < batch->threads && ready; k++) {
        ready = prepare(&batch->worker[k], &plan);
    }
    return ready;
}

/* Up to eight worlds that are ready, and the number of steps each has taken. */
typedef struct lane_group {
    int count, world[LANES], made[LANES];
    unsigned moving; /* those that are still in lanes */
} lane_group;

static double *rates_of(const zw_batch *batch, int world)
{
    return batch->rates +
           (size_t)world * (2 * (size_t)batch->system->n + (size_t)batch->system->works);
}

static lane_group take_group(batch_worker *worker, int group)
{
    zw_batch *batch = worker->batch;
    lane_group it = {.count = 0};
    int first = LANES * group;
    for (int world = first; world < first + LANES && world < batch->count; world++) {
        if (batch_is_ready(worker, world)) {
            it.moving |= 1u << it.count;
            it.world[it.count++] = world;
        }
    }
    return it;
}

static void load(batch_worker *worker, const lane_group *it)
{
    zw_batch *batch = worker->batch;
    zw_state *state[LANES];
    const double *f[LANES];
    for (int l = 0; l < it->count; l++) {
        int world = it->world[l];
        state[l] = batch->state[world];
        int known = state[l]->remembered != 0 && batch->rates_of[world] == state[l]->remembered;
        f[l] = known ? rates_of(batch, world) : NULL;
    }
    equations8_load(worker->equations8, it->count, state, f);
}

/* Copies the lane into the state. */
static void store(batch_worker *worker, const lane_group *it, int l)
{
    zw_batch *batch = worker->batch;
    int world = it->world[l];
    zw_state *state = batch->state[world];
    if (it->made[l] > 0) {
        equations8_store(worker->equations8, l, state, rates_of(batch, world));
        batch->rates_of[world] = state->remembered;
        batch->result[world].end = state->t;
    }
}

/* Takes one step of the group; worlds that fail continue alone. Returns whether any succeeded. */
static int step(batch_worker *worker, lane_group *it)
{
    zw_batch *batch = worker->batch;
    unsigned done = equations8_step(worker->equations8) & it->moving, left = it->moving & ~done;
    it->moving = done;
    for (int l = 0; l < it->count; l++) {
        zw_batch_result *result = &batch->result[it->world[l]];
        if (done >> l & 1) {
            result->steps++;
            it->made[l]++;
            result->certificate = fmax(result->certificate, (*worker->equations8->certificate0)[l]);
        } else if (left >> l & 1) {
            store(worker, it, l);
            batch_step_world(worker, it->world[l], batch->steps - it->made[l]);
        }
    }
    return done != 0;
}

static void take_steps(batch_worker *worker, lane_group *it, int *hopeless)
{
    zw_batch *batch = worker->batch;
    int goes = 1;
    load(worker, it);
    for (int k = 0; k < batch->steps && it->moving && goes; k++) {
        goes = !batch->poll || !batch_polls(worker, worker->equations8->shown[0]);
        if (goes) {
            int some = step(worker, it);
            *hopeless = some ? 0 : *hopeless + (k == 0);
        }
    }
    for (int l = 0; l < it->count; l++) {
        if (it->moving >> l & 1) {
            store(worker, it, l);
            batch_end_steps(worker, it->world[l]);
        }
    }
}

void batch_step_equations(void *user, int thread)
{
    zw_batch *batch = user;
    batch_worker *worker = &batch->worker[thread];
    int hopeless = 0;
    for (int group = batch_next_group(worker); group >= 0; group = batch_next_group(worker)) {
        lane_group it = take_group(worker, group);
        if (it.count > 0 && hopeless < HOPELESS) {
            take_steps(worker, &it, &hopeless);
            continue;
        }
        for (int l = 0; l < it.count; l++) {
            batch_step_world(worker, it.world[l], batch->steps);
        }
    }
}

/* Steps of the soft law, eight worlds at a time (step/soft8_step.h).
 *
 * Worlds go together whose contacts were the same in the last step: a row that one of eight has
 * costs as much as one that all have. So they are sorted by which pairs touched; those that many
 * worlds have count least, as they stand side by side anyway. Nothing of that shows in the bits. A
 * world that lanes cannot move takes its step alone. */
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "batch/batch.h"
#include "step/soft8_step.h"

/* ---- Whether, and room -------------------------------------------------------------------------
 */

static int make_traces(zw_batch *batch)
{
    size_t count = (size_t)batch->count, n = (size_t)batch->system->n;
    if (batch->trace) {
        return 1;
    }
    soft8_trace *trace = base_alloc(count * sizeof *trace);
    double *guess =
        n > 0 && count < SIZE_MAX / 64 / n ? base_alloc(2 * count * n * sizeof *guess) : NULL;
    batch_place *place = base_alloc(count * sizeof *place);
    if (!trace || !guess || !place) {
        base_free(trace);
        base_free(guess);
        base_free(place);
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        trace[i].guess = guess + 2 * i * n;
    }
    batch->trace = trace;
    batch->place = place;
    return 1;
}

void batch_free_soft(zw_batch *batch)
{
    for (int k = 0; batch->worker && k < batch->threads; k++) {
        soft8_free(batch->worker[k].soft8);
    }
    base_free(batch->trace ? batch->trace[0].guess : NULL);
    base_free(batch->trace);
    base_free(batch->place);
}

/* ---- Side by side ------------------------------------------------------------------------------
 */

static int compare(const void *a, const void *b)
{
    const batch_place *x = a, *y = b;
    int by_touch = (x->touch > y->touch) - (x->touch < y->touch);
    return by_touch ? by_touch : (x->world > y->world) - (x->world < y->world);
}

/* By what touched, the rarest pairs first. */
static void sort(zw_batch *batch)
{
    long often[64] = {0};
    int rank[64];
    for (int i = 0; i < batch->count; i++) {
        for (uint64_t left = batch->trace[i].touch; left; left &= left - 1) {
            often[__builtin_ctzll(left)]++;
        }
    }
    for (int k = 0; k < 64; k++) {
        rank[k] = 0;
        for (int j = 0; j < 64; j++) {
            rank[k] += often[j] > often[k] || (often[j] == often[k] && j < k);
        }
    }
    for (int i = 0; i < batch->count; i++) {
        uint64_t key = 0;
        for (uint64_t left = batch->trace[i].touch; left; left &= left - 1) {
            key |= (uint64_t)1 << rank[__builtin_ctzll(left)];
        }
        batch->place[i] = (batch_place){.touch = key, .world = i};
    }
    qsort(batch->place, (size_t)batch->count, sizeof *batch->place, compare);
}

/* ---- Steps -------------------------------------------------------------------------------------
 */

/* Is the call at hand one for lanes? */
static int is_for_lanes(zw_batch *batch)
{
    zw_run_options wish = batch->options;
    zw_error ignored;
    wish.poll = NULL;
    if (batch->systems || !batch->system->tree || batch->flags & ZW_BATCH_SENSE ||
        batch->goes_alone ||
        step_plan(batch->system, batch->state[0], &wish, &batch->plan, &ignored) != ZW_OK ||
        !soft8_takes_plan(batch->system, &batch->plan)) {
        return 0;
    }
    for (int k = 0; k < batch->threads; k++) {
        batch_worker *worker = &batch->worker[k];
        int failed = 0;
        if (worker->soft8 && worker->soft8->h != batch->plan.step) {
            soft8_free(worker->soft8);
            worker->soft8 = NULL;
        }
        if (!worker->soft8) {
            worker->soft8 = soft8_create(batch->system, worker->work, batch->plan.step, &failed);
        }
        batch->goes_alone |= !worker->soft8 && !failed; /* whatever the step */
        if (!worker->soft8) {
            return 0;
        }
    }
    return make_traces(batch);
}

int batch_begin_softly(zw_batch *batch)
{
    int lanes = is_for_lanes(batch);
    if (lanes) {
        sort(batch);
    }
    return lanes;
}

/* Eight worlds, as far as they are ready. */
typedef struct lot {
    int count, world[LANES], left[LANES];
    zw_state *state[LANES];
    soft8_trace *trace[LANES];
} lot;

static lot next_lot(batch_worker *worker)
{
    zw_batch *batch = worker->batch;
    lot it = {.count = 0};
    int first = LANES * atomic_fetch_add_explicit(&batch->next, 1, memory_order_relaxed);
    for (int k = first; k < first + LANES && k < batch->count; k++) {
        int world = batch->place[k].world;
        if (batch_is_ready(worker, world)) {
            it.world[it.count] = world;
            it.left[it.count] = batch->steps;
            it.state[it.count] = batch->state[world];
            it.trace[it.count++] = &batch->trace[world];
        }
    }
    return it;
}

/* Those that were left behind go on alone. */
static void leave(batch_worker *worker, lot *it, unsigned done)
{
    int to = 0;
    for (int l = 0; l < it->count; l++) {
        if (!(done >> l & 1)) {
            batch_step_world(worker, it->world[l], it->left[l]);
            continue;
        }
        it->world[to] = it->world[l];
        it->left[to] = it->left[l] - 1;
        it->state[to] = it->state[l];
        it->trace[to++] = it->trace[l];
        worker->batch->result[it->world[l]].steps++;
    }
    it->count = to;
}

void batch_step_softly(void *user, int thread)
{
    zw_batch *batch = user;
    batch_worker *worker = &batch->worker[thread];
    while (!atomic_load(&batch->stopped) &&
           LANES * atomic_load_explicit(&batch->next, memory_order_relaxed) < batch->count) {
        lot it = next_lot(worker);
        for (int k = 0; k < batch->steps && it.count > 0; k++) {
            if (batch->poll && batch_polls(worker, it.state[0]->t)) {
                break;
            }
            leave(worker, &it,
                  soft8_step(worker->soft8, &batch->plan, it.count, it.state, it.trace));
        }
        for (int l = 0; l < it.count; l++) {
            batch->result[it.world[l]].end = it.state[l]->t;
            batch_show(batch, it.world[l], NULL);
        }
    }
}

/* Steps eight worlds at a time, by the soft law (step/soft8_step.h) or by Coulomb's with one
 * linearisation (step/once8/once8.h).
 *
 * Worlds with the same contacts in the last step are grouped: a row that one of eight has costs as
 * much as one that all have. So worlds are sorted by the pairs in contact; pairs that many worlds
 * have matter least, since those worlds become neighbours anyway. The grouping does not affect the
 * bits. A world that cannot step in a lane takes its step alone.
 *
 * A state is large (it holds the memory of every method), and states are far apart. So worlds in
 * lanes run ahead of their states: what changes is kept in separate arrays, and written into the
 * state when that is needed (batch_catch_up). */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "batch/batch.h"
#include "step/soft8_step.h"

/* ---- Whether lanes can be used, and memory --------------------------------------------------- */

static size_t numbers_of(const zw_batch *batch)
{
    return (size_t)batch->system->nq + (size_t)batch->system->n +
           (size_t)batch->seen[SEEN_PARAM].count;
}

static int make_places(zw_batch *batch)
{
    size_t count = (size_t)batch->count, numbers = numbers_of(batch);
    if (!batch->place) {
        batch->place = base_alloc(2 * count * sizeof *batch->place);
        batch->touch = base_alloc(count * sizeof *batch->touch);
        batch->clock = base_alloc(count * sizeof *batch->clock);
        batch->once_clock = base_alloc(count * sizeof *batch->once_clock);
        batch->closed = base_alloc(count * ((size_t)batch->system->bodies->constraint_count + 1));
        batch->is_ahead = base_alloc(count);
        batch->lock = base_alloc(sizeof *batch->lock);
        if (batch->lock) {
            pthread_mutex_init(batch->lock, NULL);
        }
        batch->x =
            count < SIZE_MAX / 64 / numbers ? base_alloc(count * numbers * sizeof *batch->x) : NULL;
    }
    return batch->place && batch->touch && batch->clock && batch->once_clock && batch->closed &&
           batch->is_ahead && batch->lock && batch->x;
}

void batch_free_soft(zw_batch *batch)
{
    for (int k = 0; batch->worker && k < batch->threads; k++) {
        soft8_free(batch->worker[k].soft8);
        once8_free(batch->worker[k].once8);
    }
    base_free(batch->place);
    base_free(batch->touch);
    base_free(batch->clock);
    base_free(batch->once_clock);
    base_free(batch->closed);
    base_free(batch->is_ahead);
    if (batch->lock) {
        pthread_mutex_destroy(batch->lock);
    }
    base_free(batch->lock);
    base_free(batch->x);
}

/* ---- Ahead of the states --------------------------------------------------------------------- */

static double *numbers(const zw_batch *batch, int world)
{
    return batch->x + (size_t)world * numbers_of(batch);
}

static unsigned char *closed(const zw_batch *batch, int world)
{
    return batch->closed + (size_t)world * (size_t)batch->system->bodies->constraint_count;
}

static double time_of(const zw_batch *batch, int world)
{
    return batch->once ? batch->once_clock[world].t : batch->clock[world].t;
}

static double *seen(const zw_batch *batch, int world, int k)
{
    return batch->seen[k].data + (size_t)world * (size_t)batch->seen[k].count;
}

void batch_catch_up(zw_batch *batch, int world)
{
    if (batch->is_ahead && batch->is_ahead[world]) {
        if (batch->once) {
            once8_write(batch->system, &batch->plan, &batch->once_clock[world],
                        numbers(batch, world), closed(batch, world), batch->state[world]);
        } else {
            soft8_write(batch->system, &batch->plan, &batch->clock[world], numbers(batch, world),
                        batch->state[world]);
        }
        batch->is_ahead[world] = 0;
    }
}

void batch_catch_up_all(zw_batch *batch)
{
    for (int i = 0; batch->is_ahead && i < batch->count; i++) {
        batch_catch_up(batch, i);
    }
}

void batch_let_see(const zw_batch *batch, int world)
{
    if (!batch->lock) {
        return;
    }
    pthread_mutex_lock(batch->lock);
    if (world < 0) {
        batch_catch_up_all((zw_batch *)batch);
    } else {
        batch_catch_up((zw_batch *)batch, world);
    }
    pthread_mutex_unlock(batch->lock);
}

/* Has the caller written coordinates, speeds or the time, or a parameter that is not finite? */
static int is_touched(const zw_batch *batch, int world)
{
    size_t nq = (size_t)batch->system->nq, n = (size_t)batch->system->n;
    const double *x = numbers(batch, world), *u = seen(batch, world, SEEN_PARAM);
    double sum = 0;
    for (int k = 0; k < batch->seen[SEEN_PARAM].count; k++) {
        sum += u[k] * 0;
    }
    return memcmp(seen(batch, world, SEEN_Q), x, nq * sizeof *x) != 0 ||
           memcmp(seen(batch, world, SEEN_V), x + nq, n * sizeof *x) != 0 || sum != 0 ||
           *seen(batch, world, SEEN_TIME) != time_of(batch, world);
}

/* As batch_is_ready, for a world that continues in lanes: its numbers are then loaded. */
static int is_ready(batch_worker *worker, int world)
{
    zw_batch *batch = worker->batch;
    double *x = numbers(batch, world);
    if (batch->is_ahead[world] && !batch->stuck[world] && !is_touched(batch, world)) {
        memcpy(x + batch->system->nq + batch->system->n, seen(batch, world, SEEN_PARAM),
               (size_t)batch->seen[SEEN_PARAM].count * sizeof *x);
        batch->result[world] =
            (zw_batch_result){.status = ZW_OK, .stopped_by = -1, .end = time_of(batch, world)};
        return 1;
    }
    batch_catch_up(batch, world);
    if (!batch_is_ready(worker, world)) {
        return 0;
    }
    if (batch->once) {
        once8_read(batch->system, batch->state[world], &batch->once_clock[world], x);
    } else {
        soft8_read(batch->system, &batch->plan, batch->state[world], &batch->clock[world], x);
    }
    batch->is_ahead[world] = 1;
    return 1;
}

static void show(zw_batch *batch, int world)
{
    size_t nq = (size_t)batch->system->nq, n = (size_t)batch->system->n;
    const double *x = numbers(batch, world);
    memcpy(seen(batch, world, SEEN_Q), x, nq * sizeof *x);
    memcpy(seen(batch, world, SEEN_V), x + nq, n * sizeof *x);
    *seen(batch, world, SEEN_TIME) = batch->result[world].end = time_of(batch, world);
}

/* ---- Grouping -------------------------------------------------------------------------------- */

/* Byte by byte from the lowest, each pass keeping the order of equal ones; bytes that are the same
 * in all worlds need none: without contacts nothing is done, while the other threads wait. */
static void sort_places(size_t count, batch_place *place)
{
    batch_place *from = place, *to = place + count;
    uint64_t differ = 0;
    for (size_t i = 0; i < count; i++) {
        differ |= place[i].touch ^ place[0].touch;
    }
    for (int shift = 0; shift < 64; shift += 8) {
        size_t start[257] = {0};
        if (!(differ >> shift & 255)) {
            continue;
        }
        for (size_t i = 0; i < count; i++) {
            start[(from[i].touch >> shift & 255) + 1]++;
        }
        for (int k = 1; k < 256; k++) {
            start[k] += start[k - 1];
        }
        for (size_t i = 0; i < count; i++) {
            to[start[from[i].touch >> shift & 255]++] = from[i];
        }
        batch_place *other = from;
        from = to;
        to = other;
    }
    if (from != place) {
        memcpy(place, from, count * sizeof *place);
    }
}

void batch_sort(zw_batch *batch)
{
    long often[64] = {0};
    int rank[64];
    for (int i = 0; i < batch->count; i++) {
        for (uint64_t left = batch->touch[i]; left; left &= left - 1) {
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
        for (uint64_t left = batch->touch[i]; left; left &= left - 1) {
            key |= (uint64_t)1 << rank[__builtin_ctzll(left)];
        }
        batch->place[i] = (batch_place){.touch = key, .world = i};
    }
    sort_places((size_t)batch->count, batch->place);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* Creates what a thread needs for steps in lanes. 0: not available, for now or for ever. */
static int prepare(zw_batch *batch, batch_worker *worker)
{
    double h = batch->plan.step;
    int failed = 0, there;
    if (batch->once) {
        if (worker->once8 && worker->once8->h != h) {
            once8_free(worker->once8);
            worker->once8 = NULL;
        }
        worker->once8 =
            worker->once8 ? worker->once8 : once8_create(batch->system, worker->work, h, &failed);
        there = worker->once8 != NULL;
        batch->goes_alone_once |= !there && !failed; /* whatever the step length */
        return there;
    }
    if (worker->soft8 && worker->soft8->h != h) {
        soft8_free(worker->soft8);
        worker->soft8 = NULL;
    }
    worker->soft8 =
        worker->soft8 ? worker->soft8 : soft8_create(batch->system, worker->work, h, &failed);
    there = worker->soft8 != NULL;
    batch->goes_alone |= !there && !failed;
    return there;
}

/* Can the current call use lanes? Worlds that are ahead by another kind of step first update their
 * states. */
static int is_for_lanes(zw_batch *batch)
{
    zw_run_options requested = batch->options, plan;
    zw_error ignored;
    requested.poll = NULL;
    if (batch->systems || !batch->system->tree || batch->state[0]->slides > 0 ||
        step_plan(batch->system, batch->state[0], &requested, &plan, &ignored) != ZW_OK) {
        return 0;
    }
    int once = once8_takes_plan(batch->system, &plan);
    if (once && batch->flags & ZW_BATCH_SENSE) { /* it has the forces of its last step: zw_look */
        return 0;
    }
    if (once ? batch->goes_alone_once
             : batch->goes_alone || !soft8_takes_plan(batch->system, &plan)) {
        return 0;
    }
    if (batch->plan.step != plan.step || batch->once != once) {
        batch_catch_up_all(batch);
    }
    batch->plan = plan;
    batch->once = once;
    for (int k = 0; k < batch->threads; k++) {
        if (!prepare(batch, &batch->worker[k])) {
            return 0;
        }
    }
    return make_places(batch);
}

int batch_begin_softly(zw_batch *batch)
{
    int lanes = is_for_lanes(batch);
    if (lanes) {
        batch_sort(batch);
    } else {
        batch_catch_up_all(batch);
    }
    return lanes;
}

/* Up to eight worlds that are ready. */
typedef struct lane_group {
    int count, world[LANES], left[LANES];
    soft8_clock *clock[LANES];
    once8_clock *once_clock[LANES];
    unsigned char *closed[LANES];
    double *x[LANES];
} lane_group;

static void take_group(batch_worker *worker, int group, lane_group *to)
{
    zw_batch *batch = worker->batch;
    int first = LANES * group;
    to->count = 0;
    for (int k = first; k < first + LANES && k < batch->count; k++) {
        int world = batch->place[k].world;
        if (is_ready(worker, world)) {
            to->world[to->count] = world;
            to->left[to->count] = batch->steps;
            to->clock[to->count] = &batch->clock[world];
            to->once_clock[to->count] = &batch->once_clock[world];
            to->closed[to->count] = closed(batch, world);
            to->x[to->count++] = numbers(batch, world);
        }
    }
}

/* Worlds that failed in lanes take the step alone. */
static void leave(batch_worker *worker, lane_group *it, unsigned done, const uint64_t *touch)
{
    zw_batch *batch = worker->batch;
    int to = 0;
    for (int l = 0; l < it->count; l++) {
        int world = it->world[l];
        batch->touch[world] = touch[l];
        if (!(done >> l & 1)) {
            batch_catch_up(batch, world);
            batch_step_world(worker, world, it->left[l]);
            continue;
        }
        batch->result[world].steps++;
        batch->result[world].certificate = fmax(batch->result[world].certificate,
                                                batch->once ? batch->once_clock[world].certificate
                                                            : batch->clock[world].certificate);
        it->world[to] = world;
        it->left[to] = it->left[l] - 1;
        it->clock[to] = it->clock[l];
        it->once_clock[to] = it->once_clock[l];
        it->closed[to] = it->closed[l];
        it->x[to++] = it->x[l];
    }
    it->count = to;
}

void batch_step_softly(void *user, int thread)
{
    zw_batch *batch = user;
    batch_worker *worker = &batch->worker[thread];
    lane_group it;
    for (int group = batch_next_group(worker); group >= 0; group = batch_next_group(worker)) {
        take_group(worker, group, &it);
        for (int k = 0; k < batch->steps && it.count > 0; k++) {
            uint64_t touch[LANES];
            if (batch->poll && batch_polls(worker, time_of(batch, it.world[0]))) {
                break;
            }
            unsigned done =
                batch->once
                    ? once8_step(worker->once8, it.count, it.once_clock, it.x, it.closed, touch)
                    : soft8_step(worker->soft8, it.count, it.clock, it.x, touch);
            leave(worker, &it, done, touch);
        }
        for (int l = 0; l < it.count; l++) {
            show(batch, it.world[l]);
            if (batch->flags & ZW_BATCH_SENSE) {
                batch_catch_up(batch, it.world[l]);
                batch_end_steps(worker, it.world[l]);
            }
        }
    }
}

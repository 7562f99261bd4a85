/* Accelerations and sensors of a world on a device, as zw_batch_step with ZW_BATCH_SENSE has them
 * on the processor: the soft law at the state, whatever led there (soft_show), and what the sensors
 * measure of it (bodies_sense). One thread for each world; a world that has failed keeps what it
 * had. */
#include <math.h>
#include <string.h>

#include "device/world_work.h"
#include "step/soft_step.h"

/* What that needs beyond the scratch of steps; returns the state. */
static zw_state *lay_out(const device_model *model, world_work *w, base_arena *arena)
{
    const zw_system *system = model->system;
    size_t n = (size_t)system->n, carried = (size_t)system->carried, m = (size_t)system->m;
    size_t parts = (size_t)system->bodies->part_count;
    size_t points = w->soft.is_there ? (size_t)system->bodies->contact->capacity : 0;
    static const system_part part[] = {PART_POSITION, PART_VELOCITY, PART_ENERGY};
    zw_work *work = &w->work;
    for (int k = 0; k < 3; k++) {
        work->out[part[k]] = base_arena_doubles(arena, (size_t)system->tape[part[k]].count);
    }
    work->a = base_arena_doubles(arena, n + carried);
    work->lambda = base_arena_doubles(arena, m);
    work->push = base_arena_doubles(arena, m);
    work->load = base_arena_doubles(arena, 6 * parts);
    work->inside = base_arena_doubles(arena, parts);
    work->reading = base_arena_doubles(arena, (size_t)model->readings);
    w->soft.stage = base_arena_doubles(arena, 2 * n); /* where soft_show keeps the guess */
    contact_list *list = base_arena_bytes(arena, sizeof *list);
    zw_contact *contact = base_arena_bytes(arena, points * sizeof *contact);
    size_t numbers = (size_t)model->size + (size_t)system->shape.params;
    zw_state *state = base_arena_bytes(arena, sizeof *state + (numbers + 1) * sizeof(double));
    if (arena->block) {
        *list = (contact_list){.capacity = (int)points, .contact = contact};
        work->touched = list;
    }
    return state;
}

size_t world_sense_bytes(const device_model *model)
{
    base_arena arena = {0};
    world_work shape = {.soft.is_there = model->soft->is_there};
    lay_out(model, &shape, &arena);
    return world_bytes(model) + arena.used + 128;
}

void world_sense(const device_job *job, int index, void *memory)
{
    const device_model *model = job->model[job->which ? job->which[index] : 0];
    const zw_system *system = model->system;
    size_t numbers = (size_t)model->size, params = (size_t)system->shape.params;
    if (job->status[index] != ZW_OK) {
        return;
    }
    world_work *w = world_begin(model, memory);
    base_arena arena = {.block = (unsigned char *)memory + (world_bytes(model) + 63) / 64 * 64};
    zw_state *state = lay_out(model, w, &arena);
    world_load(job, index, model, w);
    *state = (zw_state){.n = system->n,
                        .nq = system->nq,
                        .carried = system->carried,
                        .params = system->shape.params,
                        .t = job->time[index]};
    memcpy(state->data, w->y0, numbers * sizeof(double));
    memcpy(state->data + numbers, w->work.param, params * sizeof(double));
    w->work.prepared = 1;
    zw_status status = soft_show(&w->soft, state, NULL);
    if (status != ZW_OK) {
        device_result *result = &job->result[index];
        result->status = job->status[index] = (int)status;
        result->contacts = status == ZW_TOO_LARGE ? w->soft.found.needed : result->contacts;
        return;
    }
    memcpy(world_row(job->a, index, system->n), w->work.a, (size_t)system->n * sizeof(double));
    if (model->readings == 0) {
        return;
    }
    int known = bodies_sense(system, &w->work, state, NULL) == ZW_OK;
    double *to = world_row(job->sensor, index, model->readings);
    for (int k = 0; k < model->readings; k++) {
        to[k] = known ? w->work.reading[k] : NAN;
    }
}

#include "device/world_work.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "step/soft_step.h"

/* ---- Scratch --------------------------------------------------------------------------------- */

/* Capacities as `begin` of soft_rows.c computes them, so that it requests no more memory. The
 * arrays have their largest possible length: points have no more rows than some geom or pair
 * requires, blocks store their columns once, and only tendons with armature have separate
 * blocks. */
static void lay_out_rows(const device_model *model, soft_problem *s, base_arena *arena)
{
    const zw_system *system = s->system;
    const struct system_bodies *bodies = system->bodies;
    int points = s->is_there ? bodies->contact->capacity : 0, m = system->m;
    int wide = 2 * bodies->widest + 3, more = bodies->dry_count + bodies->length_count;
    int own = system->A_start[m] + 2 * bodies->term_count + 3 * (m + more) + 4;
    int masses = bodies->extra_count > 0 ? bodies->length_count : 0;
    s->block_capacity = bodies->constraint_count + points + more + 1;
    s->row_capacity = m + bodies->dry_count + 10 * points + 1;
    s->entry_capacity = own + 6 * points * wide;
    size_t blocks = (size_t)(bodies->constraint_count + points + bodies->dry_count + masses + 1);
    s->block = base_arena_bytes(arena, blocks * sizeof *s->block);
    s->b = base_arena_doubles(arena, (size_t)s->row_capacity);
    s->D = base_arena_doubles(arena, (size_t)s->row_capacity);
    s->value = base_arena_doubles(arena, (size_t)(own + model->tall * points * wide));
    s->column = base_arena_ints(arena, (size_t)(own + points * wide));
}

static void lay_out_found(contact_work *found, const contact_world *world, base_arena *arena)
{
    size_t geoms = (size_t)world->geom_count, matches = (size_t)world->match_count;
    contact_wait *wait = &found->wait;
    found->capacity = world->capacity;
    found->pose = base_arena_bytes(arena, geoms * sizeof *found->pose);
    found->reach = base_arena_doubles(arena, geoms);
    found->point = base_arena_bytes(arena, (size_t)world->capacity * sizeof *found->point);
    wait->before = base_arena_doubles(arena, 6 * geoms);
    wait->half = base_arena_doubles(arena, geoms);
    wait->travel = base_arena_doubles(arena, 1);
    wait->need = base_arena_doubles(arena, 1);
    wait->until = base_arena_doubles(arena, matches);
    wait->last = base_arena_bytes(arena, geoms * sizeof *wait->last);
    wait->lever = base_arena_doubles(arena, geoms);
    wait->way = base_arena_doubles(arena, geoms);
    wait->apart = base_arena_doubles(arena, matches);
}

static void lay_out_trees(soft_problem *s, base_arena *arena)
{
    size_t n = (size_t)s->system->n, trees = (size_t)s->trees;
    s->tree = base_arena_bytes(arena, trees * sizeof *s->tree);
    s->island = base_arena_bytes(arena, trees * sizeof *s->island);
    s->leader = base_arena_ints(arena, trees);
    s->row = base_arena_bytes(arena, n * sizeof *s->row);
    s->level = base_arena_ints(arena, n);
    s->local = base_arena_ints(arena, n);
    s->bend_capacity = base_arena_ints(arena, 5 * n + trees);
    s->bent_capacity =
        (int)(n * (n + 7) / 2); /* a single path through all dofs, each row padded by three */
    s->bent_H = base_arena_doubles(arena, (size_t)s->bent_capacity);
    s->H = base_arena_doubles(arena, (size_t)s->system->tree->entries + 3 * n);
}

static void lay_out_soft(const device_model *model, soft_problem *s, base_arena *arena)
{
    const zw_system *system = s->system;
    size_t n = (size_t)system->n, carried = (size_t)system->carried;
    size_t deep = (size_t)model->deep, stages = (size_t)model->stages; /* 0 or 1 */
    size_t bodies = deep * (size_t)system->tree->bodies;
    size_t wide = 2 * (size_t)system->bodies->widest + n + 4;
    double **speeds[] = {&s->force, &s->push, &s->x, &s->y, &s->Ma, &s->diagonal, &s->back};
    for (size_t k = 0; k < sizeof speeds / sizeof *speeds; k++) {
        *speeds[k] = base_arena_doubles(arena, n);
    }
    s->a = base_arena_doubles(arena, n + carried);
    s->guess = base_arena_doubles(arena, 2 * n);
    s->before = arena->block ? s->guess + n : NULL;
    s->held = base_arena_doubles(arena, 21 * bodies);
    s->wrench = base_arena_doubles(arena, 6 * bodies);
    s->deep = base_arena_doubles(arena, deep * n);
    size_t entries = stages * (size_t)system->tree->entries;
    s->lower = base_arena_doubles(arena, entries);
    s->upper = base_arena_doubles(arena, entries);
    s->stage = base_arena_doubles(arena, stages * ((size_t)system->nq + 4 * (n + carried)));
    s->J = base_arena_doubles(arena, SOFT_WIDE * wide);
    s->scratch = base_arena_doubles(arena, (SOFT_GROUP * SOFT_WIDE + 1) * wide +
                                               SOFT_GROUP * SOFT_WIDE * (n + 4));
    s->J_column = base_arena_ints(arena, wide);
    s->lot = base_arena_bytes(arena, (size_t)model->lot * sizeof *s->lot);
    lay_out_trees(s, arena);
    lay_out_rows(model, s, arena);
    if (s->is_there) {
        lay_out_found(&s->found, system->bodies->contact, arena);
    }
}

static void lay_out(const device_model *model, world_work *w, base_arena *arena)
{
    const zw_system *system = model->system;
    size_t n = (size_t)system->n;
    zw_work *work = &w->work;
    memset(w, 0, sizeof *w);
    w->soft = *model->soft;
    w->soft.system = work->system = system;
    w->soft.work = work;
    w->y0 = base_arena_doubles(arena, (size_t)model->size);
    w->y1 = base_arena_doubles(arena, (size_t)model->size);
    work->param = base_arena_doubles(arena, (size_t)system->shape.params);
    work->out[PART_TERMS] = base_arena_doubles(arena, (size_t)system->tape[PART_TERMS].count);
    work->sweeps = base_arena_doubles(arena, (size_t)system->tree->at.count);
    work->jacobian = base_arena_doubles(arena, 12 * (size_t)system->bodies->widest);
    work->rows =
        base_arena_doubles(arena, 2 * (size_t)system->m + n + (size_t)system->bodies->length_count);
    work->lifted = base_arena_doubles(arena, system->bodies->motor_lifts ? n : 0);
    work->aim = base_arena_doubles(arena, n + 6);
    work->aim_dof = base_arena_ints(arena, n + 6);
    lay_out_soft(model, &w->soft, arena);
}

size_t world_bytes(const device_model *model)
{
    base_arena arena = {0};
    world_work shape;
    base_arena_bytes(&arena, sizeof shape);
    lay_out(model, &shape, &arena);
    return arena.used + 64;
}

/* ---- The initial state of a world ------------------------------------------------------------ */

static void zero(double *x, int count)
{
    for (int i = 0; i < count; i++) {
        x[i] = 0;
    }
}

/* As contact_wait_create leaves it: no pair has been tested. */
static void begin_waiting(contact_work *found, const contact_world *world)
{
    contact_wait *wait = &found->wait;
    int geoms = world->geom_count;
    zero(wait->before, 6 * geoms);
    zero(wait->way, geoms);
    zero(wait->until, world->match_count);
    zero(wait->apart, world->match_count);
    wait->travel[0] = wait->need[0] = 0;
    for (int i = 0; i < geoms; i++) {
        const collide_shape *shape = &world->geom[i].shape;
        memset(&wait->last[i], 0, sizeof wait->last[i]);
        wait->half[i] = shape->kind == COLLIDE_CAPSULE ? shape->size[1] : 0;
        wait->lever[i] = shape->kind <= COLLIDE_CAPSULE ? wait->half[i] : world->geom[i].radius;
    }
}

world_work *world_lay_out(const device_model *model, void *memory)
{
    base_arena arena = {.block = memory};
    world_work *w = base_arena_bytes(&arena, sizeof *w);
    lay_out(model, w, &arena);
    memcpy(w->soft.tree, model->soft->tree, (size_t)w->soft.trees * sizeof *w->soft.tree);
    return w;
}

void world_clear(const device_model *model, world_work *w)
{
    soft_problem *s = &w->soft;
    zero(w->work.sweeps, model->system->tree->at.count);
    zero(s->wrench, model->deep ? 6 * model->system->tree->bodies : 0);
    s->is_bent = 1; /* the rows of H are determined again */
    if (s->is_there) {
        begin_waiting(&s->found, model->system->bodies->contact);
    }
}

world_work *world_begin(const device_model *model, void *memory)
{
    world_work *w = world_lay_out(model, memory);
    world_clear(model, w);
    return w;
}

/* ---- Between the arrays and y ---------------------------------------------------------------- */

void world_load(const device_job *job, int index, const device_model *model, world_work *w)
{
    const zw_system *system = model->system;
    int n = system->n, nq = system->nq, acts = system->carried, params = system->shape.params;
    double *y = w->y0;
    memcpy(y, world_row(job->q, index, nq), (size_t)nq * sizeof *y);
    memcpy(y + nq, world_row(job->v, index, n), (size_t)n * sizeof *y);
    memcpy(y + nq + n, world_row(job->act, index, acts), (size_t)acts * sizeof *y);
    memcpy(w->work.param, world_row(job->param, index, params), (size_t)params * sizeof *y);
    memcpy(w->soft.guess, world_row(job->guess, index, 2 * n), 2 * (size_t)n * sizeof *y);
}

static void store(const device_job *job, int index, const device_model *model, const world_work *w)
{
    const zw_system *system = model->system;
    int n = system->n, nq = system->nq, acts = system->carried;
    const double *y = w->y0;
    memcpy(world_row(job->q, index, nq), y, (size_t)nq * sizeof *y);
    memcpy(world_row(job->v, index, n), y + nq, (size_t)n * sizeof *y);
    memcpy(world_row(job->act, index, acts), y + nq + n, (size_t)acts * sizeof *y);
    memcpy(world_row(job->guess, index, 2 * n), w->soft.guess, 2 * (size_t)n * sizeof *y);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static zw_status step(const device_model *model, world_work *w, double t, double h)
{
    int nq = model->system->nq;
    double gained;
    zw_status status =
        soft_step(&w->soft, t, h, w->y0, w->y0 + nq, w->y1, w->y1 + nq, &gained, NULL);
    for (int i = 0; i < model->size && status == ZW_OK; i++) {
        status = isfinite(w->y1[i]) ? ZW_OK : ZW_INACCURATE;
    }
    return status;
}

void world_note(const soft_problem *s, zw_status status, device_result *to)
{
    int contacts = status == ZW_TOO_LARGE ? s->found.needed : s->contacts;
    to->status = (int)status;
    to->steps += status == ZW_OK;
    to->contacts = contacts > to->contacts ? contacts : to->contacts;
    to->rows = s->rows > to->rows ? s->rows : to->rows;
    to->iterations = s->iterations > to->iterations ? s->iterations : to->iterations;
    to->total += s->iterations;
    to->certificate = fmax(to->certificate, s->certificate);
}

/* As zw_step does: from the current time to one step later, on the time grid. */
zw_status world_step(const device_job *job, const device_model *model, world_work *w,
                     step_grid *grid, double *t)
{
    double limit = *t + job->step;
    zw_status status = ZW_OK;
    while (status == ZW_OK && *t < limit) {
        const step_aimed aimed = step_grid_aim(grid, *t, limit);
        status = step(model, w, aimed.t0, aimed.h);
        if (status == ZW_OK) {
            double *y = w->y0;
            w->y0 = w->y1;
            w->y1 = y;
            *t = step_grid_pass(grid, &aimed, limit);
        }
    }
    return status;
}

static void begin_anew(const device_job *job, int index, const zw_system *system,
                       const double *from)
{
    int n = system->n, nq = system->nq, acts = system->carried, params = system->shape.params;
    job->time[index] = from[0];
    memcpy(world_row(job->param, index, params), from + 1, (size_t)params * sizeof *from);
    from += 1 + params;
    memcpy(world_row(job->q, index, nq), from, (size_t)nq * sizeof *from);
    memcpy(world_row(job->v, index, n), from + nq, (size_t)n * sizeof *from);
    memcpy(world_row(job->act, index, acts), from + nq + n, (size_t)acts * sizeof *from);
    zero(world_row(job->guess, index, 2 * n), 2 * n);
    world_row(job->grid, index, 3)[2] = NAN; /* no step has led here */
    job->mark[index] = 0;
    job->status[index] = ZW_OK;
    job->result[index] = (device_result){.status = ZW_OK};
}

void world_move(const device_job *job, int index, void *memory)
{
    int which = job->which ? job->which[index] : 0;
    const device_model *model = job->model[which];
    if (job->reset) {
        if (job->reset[index]) {
            begin_anew(job, index, model->system, job->start[which]);
        }
        return;
    }
    if (job->senses) {
        world_sense(job, index, memory);
        return;
    }
    device_result result = {.status = job->status[index]};
    double *grid_of = world_row(job->grid, index, 3), t = job->time[index];
    if (result.status != ZW_OK) {
        return;
    }
    world_work *w = world_begin(model, memory);
    w->soft.meets = 1;
    step_grid grid = {.step = job->step, .origin = grid_of[0], .count = (long)grid_of[1]};
    world_load(job, index, model, w);
    if (!(t == grid_of[2])) { /* the caller has set the time */
        step_grid_start(&grid, t);
        soft_forget(&w->soft);
    }
    for (int k = 0; k < job->steps && result.status == ZW_OK; k++) {
        world_note(&w->soft, world_step(job, model, w, &grid, &t), &result);
    }
    store(job, index, model, w);
    grid_of[0] = grid.origin;
    grid_of[1] = (double)grid.count;
    grid_of[2] = job->time[index] = t;
    job->status[index] = result.status;
    job->result[index] = result;
}

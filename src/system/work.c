/* Scratch memory of one world. */
#include "system/work.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "system/bodies/bodies.h"
#include "system/contact/contact_now.h"
#include "system/soft/soft.h"
#include "system/tendon/tendon.h"
#include "tree/group.h"

static void lay_out(zw_work *work, base_arena *arena)
{
    const zw_system *system = work->system;
    size_t n = (size_t)system->n, m = (size_t)system->m;
    for (int part = 0; part < PART_COUNT; part++) {
        work->registers[part] =
            base_arena_doubles(arena, expr_tape_registers(system->tape[part].code));
        work->out[part] = base_arena_doubles(arena, (size_t)system->tape[part].count);
    }
    work->param = base_arena_doubles(arena, (size_t)system->shape.params);
    work->mode = base_arena_ints(arena, (size_t)system->model->constraint_count);
    work->press = base_arena_ints(arena, (size_t)system->model->constraint_count);
    work->a = base_arena_doubles(arena, n + (size_t)system->carried);
    work->a_free = base_arena_doubles(arena, n);
    work->lambda = base_arena_doubles(arena, m);
    work->push = base_arena_doubles(arena, m);
    work->hint = base_arena_doubles(arena, 3 * (size_t)system->model->constraint_count);
    work->small = base_arena_doubles(arena, system->sparse ? n : n * n + n);
    if (system->tree) {
        work->sweeps = base_arena_doubles(arena, (size_t)system->tree->at.count);
        work->jacobian = base_arena_doubles(arena, 12 * (size_t)system->bodies->widest);
        work->rows = base_arena_doubles(arena, bodies_scratch(system));
        work->lifted = base_arena_doubles(arena, system->bodies->motor_lifts ? n : 0);
        work->aim = base_arena_doubles(arena, n + 6);
        work->aim_dof = base_arena_ints(arena, n + 6);
        tendon_lay_out(system, work, arena);
        work->load = base_arena_doubles(arena, 6 * (size_t)system->bodies->part_count);
        work->reading = base_arena_doubles(arena, (size_t)system->bodies->reading_count);
        work->inside = base_arena_doubles(arena, (size_t)system->bodies->part_count);
    }
    for (int i = 0; i < 4; i++) {
        work->spare[i] = base_arena_doubles(arena, n + m + (size_t)system->nq);
    }
}

int system_stops(void *stop)
{
    system_stop *s = stop;
    s->said = s->said || s->poll(s->user, s->t);
    return s->said;
}

zw_work *zw_work_create(const zw_system *system, zw_error *error)
{
    zw_work *work = base_alloc(sizeof *work);
    base_arena arena = {0};
    if (work) {
        work->system = system;
        lay_out(work, &arena);
        work->memory = base_alloc(arena.used);
    }
    if (!work || !work->memory) {
        base_free(work);
        base_no_memory(error);
        return NULL;
    }
    arena = (base_arena){.block = work->memory};
    lay_out(work, &arena);
    return work;
}

void zw_work_free(zw_work *work)
{
    if (work) {
        solver_free(work->motion);
        solver_free(work->position);
        solver_free(work->velocity);
        if (work->stepper) {
            work->free_stepper(work->stepper);
        }
        bodies_adhesion_free(work->adhesion);
        contact_list_free(work->touched);
        contact_now_free(work->now);
        soft_free(work->soft);
        tree_group_free(work->group);
        base_free(work->memory);
        base_free(work);
    }
}

const zw_motion *zw_work_motion(const zw_work *work)
{
    return work->shows_soft ? &work->shown
           : work->shown_by ? &work->shown_by->answer
           : work->motion   ? &work->motion->answer
                            : &work->shown;
}

const char *zw_work_block_name(const zw_work *work, int block)
{
    const system_solver *solver = work->shown_by ? work->shown_by : work->motion;
    const char *name =
        solver && block >= 0 && block < solver->block_count ? solver->block[block].name : NULL;
    return name ? name : "";
}

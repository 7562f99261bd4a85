/* Which systems can step in lanes by one linearisation, and what is computed once for all steps. */
#include "step/once8/once8.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "gauss/tolerances.h"
#include "step/impulse/impulse.h"
#include "tree/sweeps.h"

/* ---- Which systems -------------------------------------------------------------------------- */

int once8_takes_plan(const zw_system *system, const zw_run_options *plan)
{
    return plan->method == ZW_METHOD_IMPULSE && plan->step > 0 && plan->tolerance >= 1 &&
           plan->accuracy == 0 && plan->contact != ZW_CONTACT_CONVEX &&
           system->model->event_count == 0 && system->tree && system->bodies &&
           system->bodies->adhesion_count == 0 && system->bodies->sleep <= 0 &&
           !kinks_exist(system) && cones_fit(system, plan->memoryless);
}

static int motors_fit(const struct system_bodies *bodies)
{
    int fit = 1;
    for (int k = 0; k < bodies->motor_count && fit; k++) {
        const bodies_motor *motor = &bodies->motor[k];
        fit = !motor->clamp_force && !bodies->length[motor->length].force_limited;
    }
    return fit;
}

static int contacts_fit(once8 *s)
{
    const contact_world *world = s->of->system->bodies->contact;
    int fit = 1;
    for (int i = 0; i < world->geom_count; i++) {
        fit &= !(world->geom[i].law.restitution > 0);
    }
    for (int k = 0; k < s->of->match_count; k++) {
        fit &= s->rows[k] > 0;
    }
    return fit;
}

/* ---- Memory --------------------------------------------------------------------------------- */

static int fit_list(void *list, size_t count, size_t size)
{
    void **to = list;
    base_free(*to);
    *to = base_alloc(count * size);
    return *to != NULL;
}

int once8_grow(once8 *s)
{
    if (!s->memory) { /* on a device, even an emulated one, lists have a fixed size */
        return 0;
    }
    if (s->needs_blocks > s->block_capacity) {
        size_t count = 2 * (size_t)s->needs_blocks;
        s->block_capacity = 0;
        if (!fit_list(&s->it.block, count, sizeof *s->it.block) ||
            !fit_list(&s->about, count, sizeof *s->about)) {
            return 0;
        }
        s->block_capacity = (int)count;
    }
    if (s->needs_entries > s->entry_capacity) {
        s->entry_capacity = 0;
        if (!fit_list(&s->J, 2 * (size_t)s->needs_entries, sizeof *s->J)) {
            return 0;
        }
        s->entry_capacity = 2 * s->needs_entries;
    }
    return 1;
}

static int allocate(once8 *s)
{
    const zw_system *system = s->of->system;
    base_arena arena = {0};
    once8_lay_out(s, &arena);
    s->memory = base_alloc(arena.used);
    s->end = tree_work_create(system->tree, LANES);
    s->needs_blocks = 32;
    s->needs_entries = 1024;
    if (!s->memory || !s->end || !once8_grow(s) || contact_path_create(&s->path, system) != ZW_OK) {
        return 0;
    }
    arena = (base_arena){.block = s->memory};
    once8_lay_out(s, &arena);
    s->straight = paths_find(system->n, system->tree->dof_parent, s->depth, s->start, s->run);
    once8_begin_steps(s);
    return 1;
}

once8 *once8_create(const zw_system *system, zw_work *work, double h, int *failed)
{
    once8 *s = NULL;
    *failed = 0;
    if (!system->bodies || !motors_fit(system->bodies)) {
        return NULL;
    }
    soft8 *of = soft8_create(system, work, h, failed);
    s = of ? base_alloc(sizeof *s) : NULL;
    if (!s) {
        *failed |= of != NULL;
        soft8_free(of);
        return NULL;
    }
    *s = (once8){.of = of, .h = h};
    if (!allocate(s)) {
        *failed = 1;
        once8_free(s);
        return NULL;
    }
    if (!contacts_fit(s)) {
        once8_free(s);
        return NULL;
    }
    return s;
}

void once8_free(once8 *s)
{
    if (!s) {
        return;
    }
    soft8_free(s->of);
    contact_path_free(&s->path);
    void *list[] = {s->it.block, s->about, s->J, s->end, s->memory};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        base_free(list[k]);
    }
    base_free(s);
}

/* ---- States --------------------------------------------------------------------------------- */

void once8_read(const zw_system *system, zw_state *state, once8_clock *clock, double *x)
{
    *clock = (once8_clock){.t = state->t, .work = state->work};
    clock->parts = !run_remembers_step(state) || *run_step_memory(system, state) != 1;
    memcpy(x, state_q(state), (size_t)(system->nq + system->n + state->params) * sizeof *x);
}

void once8_write(const zw_system *system, const zw_run_options *plan, const once8_clock *clock,
                 const double *x, const unsigned char *closed, zw_state *state)
{
    double *mode = state_mode(state);
    if (clock->steps == 0) {
        return;
    }
    memcpy(state_q(state), x, (size_t)(system->nq + system->n + state->params) * sizeof *x);
    state->t = clock->t;
    state->work = clock->work;
    for (int c = 0; c < system->bodies->constraint_count; c++) {
        mode[c] = closed[c] ? SYSTEM_CLOSED : SYSTEM_OPEN;
    }
    run_note_once(system, state, plan);
}

/* Steps of long chains, in pieces.
 *
 * system/bodies/bodies_chain.c has the coordinates in which the cost of a step is linear in the
 * number of links. The state is put into these, the step is taken there by a stepper of the method
 * impulse like any other, by islands if there are several, and the state at its end is that of the
 * joints. What a step leaves for the next one (impulse_memory.c) is that of the pieces: a run in
 * parts has the bits of an uninterrupted one.
 *
 * With one linearisation the welds hold as accelerations (impulse_quick.c), so that the motion
 * without contacts is that of the joints to round-off; the rows of contacts then include how the
 * welds turn. Where rounds are made the welds hold at the end of the step. The results differ from
 * those in the coordinates of the joints by the order of the method's error.
 *
 * A step that cannot be taken in pieces is taken in the coordinates of the joints, so that messages
 * and what is tried are those of the given system. */
#include "step/chain/chain.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "step/split/split.h"

static void lay_out(step_chain *z, const zw_system *pieces, base_arena *arena)
{
    size_t nq = (size_t)pieces->nq, n = (size_t)(pieces->n + pieces->carried);
    double **places[] = {&z->q0, &z->q1}, **speeds[] = {&z->v0, &z->v1};
    for (int k = 0; k < 2; k++) {
        *places[k] = base_arena_doubles(arena, nq);
        *speeds[k] = base_arena_doubles(arena, n);
    }
    z->mode = base_arena_doubles(arena, (size_t)pieces->model->constraint_count);
}

static step_chain *create(const zw_system *pieces, int welds)
{
    step_chain *z = base_alloc(sizeof *z);
    base_arena arena = {0};
    if (!z) {
        return NULL;
    }
    lay_out(z, pieces, &arena);
    z->memory = base_alloc(arena.used);
    z->work = zw_work_create(pieces, NULL);
    z->inner = z->work ? impulse_create(pieces, z->work, NULL) : NULL;
    if (!z->memory || !z->inner || !split_begin(z->inner)) {
        chain_free(z);
        return NULL;
    }
    arena = (base_arena){.block = z->memory};
    lay_out(z, pieces, &arena);
    z->inner->welds = welds;
    return z;
}

step_impulse *chain_create(const zw_system *system, zw_work *work, zw_error *error)
{
    step_impulse *s = base_alloc(sizeof *s);
    if (s) {
        s->system = system;
        s->work = work;
        s->kept_capacity = bodies_step_memory(system);
        s->kept = s->memory = base_alloc((size_t)s->kept_capacity * sizeof *s->kept);
        s->chain =
            s->memory ? create(system->bodies->chain->system, system->bodies->chain->before) : NULL;
    }
    if (!s || !s->chain) {
        impulse_free(s);
        base_no_memory(error);
        return NULL;
    }
    return s;
}

void chain_free(step_chain *z)
{
    if (z) {
        impulse_free(z->inner);
        impulse_free(z->whole);
        zw_work_free(z->work);
        base_free(z->memory);
        base_free(z);
    }
}

void chain_set_plan(step_chain *z, const zw_run_options *plan)
{
    z->plan = *plan;
    impulse_set_plan(z->inner, plan);
}

static zw_status step_pieces(step_impulse *s, double t, double h, const double *q0,
                             const double *v0)
{
    step_chain *z = s->chain;
    zw_error ignored = {0};
    size_t memory = (size_t)z->inner->kept_capacity * sizeof *s->kept;
    bodies_chain_put(s->system, q0, v0, s->work->sweeps, z->q0, z->v0);
    system_bind(s->system->bodies->chain->system, z->work, s->work->param);
    memcpy(z->inner->kept, s->kept, memory);
    z->work->stop = s->work->stop;
    z->work->touched = s->work->touched; /* the inner step fills the list */
    s->work->touched = NULL;
    zw_status status = impulse_step(z->inner, t, h, z->q0, z->v0, z->q1, z->v1, &ignored);
    s->work->touched = z->work->touched;
    z->work->touched = NULL;
    if (status == ZW_OK) {
        memcpy(s->kept, z->inner->kept, memory);
    }
    return status;
}

static zw_status step_whole(step_impulse *s, double t, double h, const double *q0, const double *v0,
                            double *q1, double *v1, zw_error *error)
{
    step_chain *z = s->chain;
    if (!z->whole) {
        z->whole = impulse_create(s->system, s->work, error);
    }
    if (!z->whole) {
        return ZW_NO_MEMORY;
    }
    impulse_set_plan(z->whole, &z->plan);
    z->whole->kept = s->kept;
    return impulse_step(z->whole, t, h, q0, v0, q1, v1, error);
}

zw_status chain_step(step_impulse *s, double t, double h, const double *q0, const double *v0,
                     double *q1, double *v1, zw_error *error)
{
    step_chain *z = s->chain;
    zw_status status = step_pieces(s, t, h, q0, v0);
    z->is_whole = status != ZW_OK && status != ZW_NO_MEMORY && status != ZW_INTERRUPTED;
    if (z->is_whole) {
        status = step_whole(s, t, h, q0, v0, q1, v1, error);
    } else if (status == ZW_OK) {
        bodies_chain_get(s->system, z->q1, z->v1, q1, v1);
    } else {
        base_fail_as(error, status);
    }
    if (status == ZW_OK) {
        const step_impulse *taken = z->is_whole ? z->whole : z->inner;
        const struct system_effort effort = taken->work->effort;
        split_begin_sums(s);
        split_add_sums(s, taken);
        s->work->effort = effort;
        s->overlap = taken->overlap;
    }
    return status;
}

void chain_modes(const step_impulse *s, double *mode)
{
    const step_chain *z = s->chain;
    if (z->is_whole) {
        impulse_modes(z->whole, mode);
        return;
    }
    impulse_modes(z->inner, z->mode);
    memcpy(mode, z->mode + s->system->bodies->chain->before,
           (size_t)s->system->model->constraint_count * sizeof *mode);
}

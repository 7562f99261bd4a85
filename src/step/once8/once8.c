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

/* The number of rows of a point, up to the last that friction can hold; 0: not supported. */
static int rows_of(const contact_point *law)
{
    int rows = law->rows;
    while (rows > 1 && !(law->friction[rows - 2] > GAUSS_NO_FRICTION)) {
        rows--;
    }
    return rows == 1 || (rows == 3 && law->friction[0] == law->friction[1]) ? rows : 0;
}

static int contacts_fit(once8 *s)
{
    const contact_world *world = s->of->system->bodies->contact;
    int fit = 1;
    for (int i = 0; i < world->geom_count; i++) {
        fit &= !(world->geom[i].law.restitution > 0);
    }
    for (int k = 0; k < s->of->match_count && fit; k++) {
        s->rows[k] = rows_of(&s->of->match[k].law);
        fit = s->rows[k] > 0;
    }
    return fit;
}

/* ---- Memory --------------------------------------------------------------------------------- */

static zw_real8 *take(base_arena *arena, size_t count)
{
    return (zw_real8 *)base_arena_doubles(arena, LANES * count);
}

enum { WATCH = sizeof(once8_watch) / sizeof(zw_real8) };

static void lay_out(once8 *s, base_arena *arena)
{
    const zw_system *system = s->of->system;
    size_t n = (size_t)system->n, entries = n * (n + 1) / 2 + 4 * n;
    size_t bodies = (size_t)system->tree->bodies;
    augment_lay_out8(&s->it, system->n, arena);
    s->H = take(arena, entries);
    zw_real8 **line[] = {&s->r, &s->u, &s->zero, &s->v0};
    for (size_t k = 0; k < sizeof line / sizeof *line; k++) {
        *line[k] = take(arena, n);
    }
    zw_real8 **of_bodies[] = {&s->turn, &s->twist, &s->speed, &s->bend};
    for (int k = 0; k < 4; k++) {
        *of_bodies[k] = take(arena, bodies);
    }
    s->q1 = take(arena, (size_t)system->nq);
    s->reach = take(arena, (size_t)system->bodies->contact->geom_count + 1);
    s->ways = take(arena, (size_t)system->bodies->contact->geom_count + 1);
    s->fast = (zw_mask8 *)take(arena, (size_t)system->bodies->contact->geom_count + 1);
    s->is_fast = base_arena_bytes(arena, (size_t)system->bodies->contact->geom_count + 1);
    s->rush = take(arena, (size_t)system->bodies->contact->geom_count + 1);
    s->bow = take(arena, (size_t)system->bodies->contact->geom_count + 1);
    s->pose = (soft8_pose *)take(arena, 12 * ((size_t)system->bodies->contact->geom_count + 1));
    s->between = take(arena, (size_t)system->nq);
    s->watch = (once8_watch *)take(arena, WATCH * ((size_t)s->of->match_count + 1));
    s->suspect = (zw_mask8 *)take(arena, (size_t)s->of->match_count + 1);
    s->limit_J = take(arena, (size_t)system->A_start[system->m] + 1);
    int **ints[] = {&s->depth, &s->start, &s->run};
    for (size_t k = 0; k < sizeof ints / sizeof *ints; k++) {
        *ints[k] = base_arena_ints(arena, n + 1);
    }
    s->rows = base_arena_ints(arena, (size_t)s->of->match_count + 1);
    s->first = base_arena_ints(arena, (size_t)s->of->match_count + 1);
    s->watched = base_arena_ints(arena, (size_t)s->of->match_count + 1);
    s->q_alone = base_arena_doubles(arena, (size_t)system->nq);
    s->u_alone = base_arena_doubles(arena, n);
}

static int fit_list(void *list, size_t count, size_t size)
{
    void **to = list;
    base_free(*to);
    *to = base_alloc(count * size);
    return *to != NULL;
}

int once8_grow(once8 *s)
{
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

/* Limits have the same rows in all worlds and at all times. */
static void put_limits(once8 *s)
{
    const zw_system *system = s->of->system;
    const struct system_bodies *bodies = system->bodies;
    for (int c = 0; c < bodies->constraint_count; c++) {
        const bodies_constraint *constraint = &bodies->constraint[c];
        int start = system->A_start[constraint->row], end = system->A_start[constraint->row + 1];
        double sign = constraint->kind == CONSTRAINT_UPPER ? -1 : 1;
        int single = end - start == 1;
        for (int e = start; e < end; e++) {
            double coef = single ? sign * bodies->coef[bodies->length[constraint->length[0]].first]
                                 : s->of->tendon_J[e];
            s->limit_J[e] = (zw_real8){0} + coef;
        }
    }
}

static int allocate(once8 *s)
{
    const zw_system *system = s->of->system;
    base_arena arena = {0};
    lay_out(s, &arena);
    s->memory = base_alloc(arena.used + 1);
    s->end = tree_work_create(system->tree, LANES);
    s->needs_blocks = 32;
    s->needs_entries = 1024;
    if (!s->memory || !s->end || !once8_grow(s) || contact_path_create(&s->path, system) != ZW_OK) {
        return 0;
    }
    arena = (base_arena){.block = s->memory};
    lay_out(s, &arena);
    s->straight = paths_find(system->n, system->tree->dof_parent, s->depth, s->start, s->run);
    s->it.n = system->n;
    s->it.straight = &s->straight;
    s->it.H = s->H;
    s->it.r = s->r;
    s->it.v0 = s->v0;
    put_limits(s);
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
    const double *g = system->tree->gravity;
    double gravity = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    *s = (once8){.of = of, .h = h, .falling = gravity * h};
    of->margin = 2 * h * h * gravity;
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

/* The scratch of steps in lanes by one linearisation, and its constants: the same on a processor
 * and on a device. */
#include <math.h>

#include "gauss/tolerances.h"
#include "step/once8/once8.h"

static zw_real8 *take(base_arena *arena, size_t count)
{
    return (zw_real8 *)base_arena_bytes(arena, count * sizeof(zw_real8));
}

enum { WATCH = sizeof(once8_watch) / sizeof(zw_real8) };

void once8_lay_out(once8 *s, base_arena *arena)
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
    s->spared = (zw_mask8 *)take(arena, (size_t)s->of->match_count + 1);
    s->apart = take(arena, (size_t)s->of->match_count + 1);
    s->V = take(arena, 6 * bodies);
    s->limit_J = take(arena, (size_t)system->A_start[system->m] + 1);
    int **ints[] = {&s->depth, &s->start, &s->run};
    for (size_t k = 0; k < sizeof ints / sizeof *ints; k++) {
        *ints[k] = base_arena_ints(arena, n + 1);
    }
    s->rows = base_arena_ints(arena, (size_t)s->of->match_count + 1);
    s->first = base_arena_ints(arena, (size_t)s->of->match_count + 1);
    s->spares = base_arena_ints(arena, (size_t)s->of->match_count + 1);
    s->watched = base_arena_ints(arena, (size_t)s->of->match_count + 1);
    s->q_alone = base_arena_doubles(arena, (size_t)system->nq);
    s->u_alone = base_arena_doubles(arena, n);
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

void once8_begin_steps(once8 *s)
{
    const double *g = s->of->system->tree->gravity;
    double gravity = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    s->falling = gravity * s->h;
    s->of->margin = 2 * s->h * s->h * gravity;
    s->it.n = s->of->system->n;
    s->it.straight = &s->straight;
    s->it.H = s->H;
    s->it.r = s->r;
    s->it.v0 = s->v0;
    for (int i = 0; i < s->it.n; i++) {
        s->zero[i] = (zw_real8){0};
    }
    for (int k = 0; k < s->of->system->bodies->contact->geom_count; k++) {
        s->ways[k] = (zw_real8){0}; /* of those that do not move */
    }
    for (int k = 0; k < s->of->match_count; k++) {
        s->rows[k] = rows_of(&s->of->match[k].law);
    }
    put_limits(s);
}

/* The scratch of worlds in lanes: the same on a processor and on a device. */
#include "system/soft8/soft8.h"

static zw_real8 *take(base_arena *arena, size_t count)
{
    return base_arena_bytes(arena, count * sizeof(zw_real8));
}

void soft8_lay_out(soft8 *s, base_arena *arena, base_arena *common)
{
    const struct system_bodies *bodies = s->system->bodies;
    size_t n = (size_t)s->system->n;
    s->q = take(arena, (size_t)s->system->nq);
    zw_real8 **speeds[] = {&s->v, &s->force, &s->Q, &s->a, &s->x, &s->Ma, &s->push, &s->diagonal};
    for (size_t k = 0; k < sizeof speeds / sizeof *speeds; k++) {
        *speeds[k] = take(arena, n);
    }
    s->param = take(arena, (size_t)s->system->shape.params + 1);
    s->scratch = take(arena, (size_t)bodies->length_count);
    s->H = take(arena, n * (n + 1) / 2 + 4 * n);
    s->pose = (soft8_pose *)take(arena, 12 * (size_t)bodies->contact->geom_count);
    int **ints[] = {&s->parent, &s->depth, &s->start, &s->level};
    for (size_t k = 0; k < sizeof ints / sizeof *ints; k++) {
        *ints[k] = base_arena_ints(common, n);
    }
    s->run = base_arena_ints(common, n + 1);
    s->bent = base_arena_bytes(common, sizeof *s->bent);
}

void soft8_begin_steps(soft8 *s)
{
    for (int d = 0; d < s->system->n; d++) {
        s->diagonal[d] = (zw_real8){0} + (zw_scalar)(s->h * s->system->tree->damping[d]);
    }
}

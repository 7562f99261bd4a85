/* Nothing goes through anything within a step.
 *
 * Contacts are found where the rounds of a step are: at its start and at its end. What is fast may
 * be through something thin in between, or so deep in it that it comes out on the other side. So
 * the way from q0 to q1 that has been solved for is proved free (system/contact/contact_path.c):
 *
 *   - A geom none of whose points goes farther than an eighth of its thickness cannot be through
 *     another one that is as slow. Most steps of most scenes end here, after a few operations for
 *     each body.
 *   - Contacts at q1 were looked for as far as all points can go in h at the speeds of q1. Pairs of
 *     which nothing was found have been apart all the way, as long as speeds do not change so much
 *     along it that more than the margin of that search (twice the fall of a step) is used up.
 * Where they do, all pairs of such a geom are looked at.
 *   - What was found is apart at q1, or touches. One look from there back to the start proves most
 *     of it free.
 *   - The rest is marched along from the start, pair by pair.
 *   - With one linearisation (impulse_quick.c) contacts are those of q0. What goes farther than its
 *     thickness is marched along from there.
 *   - Triangle meshes have a front alone: from behind they are not found. What is faster than half
 *     its own thickness is marched from the start along all meshes in its reach.
 *
 * If a pair meets that is not part of the problem, or is too deep on the way, the step is taken in
 * pieces, the first of which ends where the pair meets: from there on its contact is in the
 * problem. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "collide/vector.h"
#include "step/impulse/impulse.h"
#include "system/bodies/bodies.h"
#include "tree/sweeps.h"

#define SLOW 0.125 /* of the thickness */
#define MESH 0.5   /* the same, on meshes */
#define LEAST 1e-6 /* of the way: nothing meets before */

zw_status impulse_sweep_create(impulse_sweep *sweep, const zw_system *system)
{
    const contact_world *world = system->bodies->contact;
    size_t geoms = (size_t)world->geom_count + 1, points = (size_t)world->capacity + 1;
    *sweep = (impulse_sweep){.fast = base_alloc(geoms),
                             .list = base_alloc(geoms * sizeof *sweep->list),
                             .way = base_alloc(geoms * sizeof *sweep->way),
                             .pair = base_alloc(points * sizeof *sweep->pair)};
    for (int i = 0; i < world->geom_count; i++) {
        sweep->has_mesh |= world->geom[i].shape.kind == COLLIDE_MESH;
    }
    return sweep->fast && sweep->list && sweep->way && sweep->pair
               ? contact_path_create(&sweep->path, system)
               : ZW_NO_MEMORY;
}

void impulse_sweep_free(impulse_sweep *sweep)
{
    base_free(sweep->fast);
    base_free(sweep->list);
    base_free(sweep->way);
    base_free(sweep->pair);
    contact_path_free(&sweep->path);
    *sweep = (impulse_sweep){0};
}

/* Points come sorted by geoms: of each pair the nearest. */
void impulse_sweep_note(step_impulse *s)
{
    impulse_sweep *sweep = &s->touch.sweep;
    const contact_work *found = &s->touch.found;
    impulse_swept *last = NULL;
    sweep->pairs = 0;
    for (int k = 0; k < found->count; k++) {
        const contact_point *point = &found->point[k];
        int same = last && last->a == (int)point->key.geom[0] && last->b == (int)point->key.geom[1];
        if (same && !(point->gap < last->gap)) {
            continue;
        }
        last = same ? last : &sweep->pair[sweep->pairs++];
        *last = (impulse_swept){.a = (int)point->key.geom[0],
                                .b = (int)point->key.geom[1],
                                .flies = impulse_flies(&s->touch, point),
                                .gap = point->gap};
        memcpy(last->n, point->frame, sizeof last->n);
    }
}

/* Those that go farther than a part of their thickness. */
static void find_fast(step_impulse *s, double part)
{
    impulse_sweep *sweep = &s->touch.sweep;
    const contact_world *world = s->system->bodies->contact;
    sweep->fast_count = 0;
    for (int k = 0; k < world->moving_count; k++) {
        int g = world->moving[k];
        sweep->way[g] = contact_path_length(&sweep->path, g);
        sweep->fast[g] = !(sweep->way[g] <= part * world->geom[g].thick);
        if (sweep->fast[g]) {
            sweep->list[sweep->fast_count++] = g;
        }
    }
}

/* The first meeting so far is at *first: is there an earlier one? A sleeper that is met wakes. */
static void march(step_impulse *s, int a, int b, double until, int seen, double *first)
{
    impulse_sweep *sweep = &s->touch.sweep;
    contact_work *found = &s->touch.found;
    const contact_world *world = s->system->bodies->contact;
    double t =
        contact_path_meet(&sweep->path, found, a, b, fmin(until, *first), seen, &sweep->sure);
    if (t < *first) {
        *first = t;
    }
    for (int k = 0; k < 2 && world->asleep && t < INFINITY; k++) {
        contact_wake(world, found, k ? a : b);
    }
}

/* The pairs that were found at q1. */
static void sweep_found(step_impulse *s, double *first)
{
    impulse_sweep *sweep = &s->touch.sweep;
    const contact_work *found = &s->touch.found;
    double touching = 1e-9 * impulse_extent(s);
    for (int k = 0; k < sweep->pairs; k++) {
        const impulse_swept *pair = &sweep->pair[k];
        int a = pair->a, b = pair->b;
        if (!sweep->fast[a] && !sweep->fast[b]) {
            continue;
        }
        double hair = contact_path_hair(&sweep->path, found, a, b);
        int seen = !pair->flies && pair->gap <= fmax(touching, hair);
        double depth = seen ? contact_path_depth(&sweep->path, a, b) : 0;
        double since = contact_path_since(&sweep->path, found, a, b, s->work->sweeps, pair->n,
                                          pair->gap, depth);
        if (since > 0) {
            march(s, a, b, since, seen, first);
        }
    }
}

static int is_listed(const impulse_sweep *sweep, int a, int b)
{
    int low = a < b ? a : b, high = a < b ? b : a;
    for (int k = 0; k < sweep->pairs; k++) {
        if (sweep->pair[k].a == low && sweep->pair[k].b == high) {
            return 1;
        }
    }
    return 0;
}

/* Can they be so near on the way? Their poses are those of the start or of the end of it, and no
 * point goes farther than its length. */
static int may_meet(const step_impulse *s, int g, int o)
{
    const impulse_sweep *sweep = &s->touch.sweep;
    const contact_world *world = s->system->bodies->contact;
    const contact_work *found = &s->touch.found;
    const contact_geom *x = &world->geom[g], *y = &world->geom[o];
    if (x->shape.kind != COLLIDE_PLANE && y->shape.kind != COLLIDE_PLANE &&
        world->pair_count == 0) { /* most are far away */
        double d[3], far = sweep->way[g] + sweep->way[o] + x->radius + y->radius + x->margin +
                           y->margin + found->reach[g] + found->reach[o];
        v3_sub(d, found->pose[g].pos, found->pose[o].pos);
        if (v3_dot(d, d) > far * far) {
            return 0;
        }
    }
    contact_match match = contact_match_of(world, g < o ? g : o, g < o ? o : g);
    double close;
    return contact_near(world, found, &match, sweep->way[g] + sweep->way[o], &close);
}

/* All pairs of a geom that the search at q1 may have missed; with meshes only, or all. */
static void sweep_all(step_impulse *s, int g, int meshes_only, double *first)
{
    impulse_sweep *sweep = &s->touch.sweep;
    const contact_world *world = s->system->bodies->contact;
    for (int o = 0; o < world->geom_count; o++) {
        int mesh = world->geom[o].shape.kind == COLLIDE_MESH;
        int twice = sweep->wild && !meshes_only && sweep->fast[o] > 1 && o < g;
        if ((meshes_only && !mesh) || twice || !contact_may(world, s->system->tree, g, o) ||
            (!mesh && is_listed(sweep, g, o))) {
            continue;
        }
        if (may_meet(s, g, o)) {
            march(s, g < o ? g : o, g < o ? o : g, sweep->path.h, 0, first);
        }
    }
}

/* From the start: all pairs of what goes farther than its thickness. seen: as for
 * contact_path_meet. */
static double meet_from_start(step_impulse *s, int seen)
{
    impulse_sweep *sweep = &s->touch.sweep;
    const contact_world *world = s->system->bodies->contact;
    double first = sweep->path.h;
    int sure = 1;
    find_fast(s, 1);
    for (int k = 0; k < sweep->fast_count; k++) {
        int g = sweep->list[k];
        for (int o = 0; o < world->geom_count; o++) {
            int both = !world->still[o] && sweep->fast[o];
            if ((!both || o > g) && may_meet(s, g, o) &&
                contact_may(world, s->system->tree, g, o)) {
                first = fmin(first, contact_path_meet(&sweep->path, &s->touch.found, g < o ? g : o,
                                                      g < o ? o : g, first, seen, &sure));
            }
        }
    }
    sweep->sure &= seen < 0 || sure;
    return first;
}

double impulse_free_part(step_impulse *s)
{
    impulse_contacts *t = &s->touch;
    impulse_sweep *sweep = &t->sweep;
    const contact_world *world = s->system->bodies->contact;
    double first = INFINITY;
    if (!t->is_there) {
        return 1;
    }
    contact_path_begin(&sweep->path, s->q0, s->u, s->h);
    if (sweep->linear) {
        return fmax(meet_from_start(s, 0) / s->h, LEAST);
    }
    find_fast(s, SLOW);
    if (sweep->fast_count == 0) {
        return 1;
    }
    tree_velocities(s->system->tree, s->u, s->work->sweeps); /* of q1 */
    sweep_found(s, &first);
    double margin = 0.5 * impulse_margin(s);
    sweep->wild = 0;
    for (int k = 0; k < sweep->fast_count; k++) {
        int g = sweep->list[k];
        double reach = contact_path_reach(&sweep->path, g, &t->found.pose[g], s->work->sweeps);
        if (!(reach <= t->found.reach[g] + margin)) {
            sweep->fast[g] = 2;
            sweep->wild++;
        }
    }
    for (int k = 0; k < sweep->fast_count; k++) {
        int g = sweep->list[k], wild = sweep->fast[g] > 1;
        if (wild || (sweep->has_mesh && sweep->way[g] > MESH * world->geom[g].thick)) {
            sweep_all(s, g, !wild, &first);
        }
    }
    return first < s->h ? fmax(first / s->h, LEAST) : 1;
}

double impulse_pace(step_impulse *s, double time)
{
    impulse_sweep *sweep = &s->touch.sweep;
    const contact_world *world = s->system->bodies->contact;
    double most = 0;
    if (!s->touch.is_there) {
        return 0;
    }
    contact_path_begin(&sweep->path, s->q0, s->v0, time);
    for (int k = 0; k < world->moving_count; k++) {
        int g = world->moving[k];
        double way = contact_path_length(&sweep->path, g), thick = world->geom[g].thick;
        most = fmax(most, thick > 0 ? way / thick : way > 0 ? INFINITY : 0);
    }
    return most;
}

/* Contacts have been looked for elsewhere: geoms are put where they are at q0. */
static void place_at_start(step_impulse *s)
{
    const contact_world *world = s->system->bodies->contact;
    tree_kinematics(s->system->tree, s->q0, s->work->sweeps);
    for (int g = 0; g < world->geom_count; g++) {
        contact_place(s->system, &world->geom[g], s->work->sweeps, &s->touch.found.pose[g]);
    }
}

double impulse_until_meeting(step_impulse *s, double time)
{
    contact_path_begin(&s->touch.sweep.path, s->q0, s->v0, time);
    place_at_start(s);
    return meet_from_start(s, -1);
}

int impulse_is_lost(const step_impulse *s)
{
    const impulse_sweep *sweep = &s->touch.sweep;
    int lost = 0;
    for (int k = 0; k < sweep->pairs && sweep->strict && s->touch.deep_count == 0; k++) {
        const impulse_swept *pair = &sweep->pair[k];
        lost |= !pair->flies && pair->gap < -contact_path_depth(&sweep->path, pair->a, pair->b);
    }
    return lost;
}

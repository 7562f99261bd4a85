/* Bodies must not pass through each other within a step.
 *
 * Contacts are found at the start and at the end of a step. A fast body may pass through something
 * thin in between, or get so deep into it that it comes out on the other side. So the motion from
 * q0 to q1 that has been solved for is proved free (system/contact/contact_path.c). Bounds start
 * from one instant, at which contacts have been searched for: q1, or with one linearisation
 * (impulse_quick.c) q0.
 *
 *   - A geom none of whose points goes farther than an eighth of its thickness cannot be through
 *     another one that is as slow. (With one linearisation, whose contacts are those of q0 anyway,
 *     farther than its thickness.) How far points go is bounded by the rates of the joints; where
 *     that is too much, by the speeds at that instant and a bound of the accelerations. Most steps
 *     of most scenes end here, after a few operations for each body.
 *   - Contacts were looked for as far as all points can go in h at the speeds of then. Pairs of
 *     which nothing was found are apart all the way, as long as their points go no farther than
 *     that and the margin of the search (twice the fall of a step). Of geoms that do, called wild,
 *     all pairs are looked at.
 *   - What was found is apart, or touches. One look from that instant along all of the way proves
 *     most of it free.
 *   - The rest is marched along from the start, pair by pair.
 *   - Triangle meshes have a front alone: from behind they are not found. What is faster than half
 *     its own thickness is marched from the start along all meshes in its reach.
 *
 * If a pair meets that is not part of the problem, or gets too deep during the step, the step is
 * taken in pieces, the first of which ends where the pair meets: from there on its contact is in
 * the problem. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "collide/vector.h"
#include "step/impulse/impulse.h"
#include "system/bodies/bodies.h"
#include "tree/sweeps.h"

#define SLOW 0.125 /* relative to the thickness */
#define MESH 0.5   /* the same, on meshes */
#define LEAST 1e-6 /* fraction of the step: nothing meets before */

zw_status impulse_sweep_create(impulse_sweep *sweep, const zw_system *system)
{
    const contact_world *world = system->bodies->contact;
    size_t geoms = (size_t)world->geom_count + 1, points = (size_t)world->capacity + 1;
    *sweep = (impulse_sweep){.fast = base_alloc(geoms),
                             .list = base_alloc(geoms * sizeof *sweep->list),
                             .wild = base_alloc(geoms),
                             .way = base_alloc(geoms * sizeof *sweep->way),
                             .pair = base_alloc(points * sizeof *sweep->pair)};
    for (int i = 0; i < world->geom_count; i++) {
        sweep->has_mesh |= world->geom[i].shape.kind == COLLIDE_MESH;
    }
    return sweep->fast && sweep->wild && sweep->list && sweep->way && sweep->pair
               ? contact_path_create(&sweep->path, system)
               : ZW_NO_MEMORY;
}

void impulse_sweep_free(impulse_sweep *sweep)
{
    base_free(sweep->fast);
    base_free(sweep->wild);
    base_free(sweep->list);
    base_free(sweep->way);
    base_free(sweep->pair);
    contact_path_free(&sweep->path);
    *sweep = (impulse_sweep){0};
}

/* Points are sorted by geoms: keeps the nearest of each pair. */
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

static void list_fast(impulse_sweep *sweep, const contact_world *world, double part)
{
    sweep->fast_count = 0;
    for (int k = 0; k < world->moving_count; k++) {
        int g = world->moving[k];
        sweep->fast[g] = !(sweep->way[g] <= part * world->geom[g].thick);
        if (sweep->fast[g]) {
            sweep->list[sweep->fast_count++] = g;
        }
    }
}

/* Those that go farther than a part of their thickness: by the rates of the joints. */
static int find_fast(step_impulse *s, double part)
{
    impulse_sweep *sweep = &s->touch.sweep;
    const contact_world *world = s->system->bodies->contact;
    for (int k = 0; k < world->moving_count; k++) {
        int g = world->moving[k];
        sweep->way[g] = contact_path_length(&sweep->path, g);
    }
    list_fast(sweep, world, part);
    return sweep->fast_count;
}

/* Of these, the same by the speeds at the instant of these sweeps, which know all places. With one
 * linearisation of all, as any of them may be wild. */
static int find_fast_now(step_impulse *s, double part, double *sweeps)
{
    impulse_sweep *sweep = &s->touch.sweep;
    const contact_world *world = s->system->bodies->contact;
    int count = sweep->linear ? world->moving_count : sweep->fast_count;
    tree_velocities(s->system->tree, sweep->path.u, sweeps);
    contact_path_tighten(&sweep->path, sweeps);
    for (int k = 0; k < count; k++) {
        int g = sweep->linear ? world->moving[k] : sweep->list[k];
        sweep->way[g] = contact_path_reach(&sweep->path, g, &s->touch.found.pose[g], sweeps);
    }
    list_fast(sweep, world, part);
    return sweep->fast_count;
}

/* Is there a meeting before the first one so far, at *first? A sleeping body that is met wakes. */
static void march(step_impulse *s, int a, int b, double until, int seen, double *first)
{
    impulse_sweep *sweep = &s->touch.sweep;
    contact_work *found = &s->touch.found;
    const contact_world *world = s->system->bodies->contact;
    if (!sweep->path.start) {
        tree_velocities(s->system->tree, s->u, s->begin);
        sweep->path.start = s->begin;
    }
    double t =
        contact_path_meet(&sweep->path, found, a, b, fmin(until, *first), seen, &sweep->sure);
    if (t < *first) {
        *first = t;
    }
    for (int k = 0; k < 2 && world->asleep && t < INFINITY; k++) {
        contact_wake(world, found, k ? a : b);
    }
}

/* A look along all of the way from the instant at which this pair was found: until when it has to
 * be marched along, 0: not at all. seen: it is part of the problem. */
static double march_until(const step_impulse *s, const impulse_swept *pair, int *seen)
{
    const impulse_sweep *sweep = &s->touch.sweep;
    const contact_path *path = &sweep->path;
    const contact_world *world = s->system->bodies->contact;
    const contact_work *found = &s->touch.found;
    int a = pair->a, b = pair->b;
    double hair = contact_path_hair(path, found, a, b), depth = contact_path_depth(path, a, b);
    int touches = pair->gap <= hair;
    double near = sweep->linear ? contact_path_near(path, a, b) : impulse_touching(s);
    *seen = !pair->flies && (touches || pair->gap <= near);
    if (contact_is_pieces((int)world->geom[a].shape.kind) ||
        contact_is_pieces((int)world->geom[b].shape.kind)) {
        return path->h;
    }
    double apart = pair->gap + (*seen || (sweep->linear && touches) ? depth : 0);
    double safe = contact_path_safe(path, found, a, b, s->work->sweeps, pair->n, apart,
                                    sweep->linear ? 1 : -1);
    return safe >= path->h ? 0 : sweep->linear ? path->h : path->h - safe;
}

static void sweep_found(step_impulse *s, double *first)
{
    impulse_sweep *sweep = &s->touch.sweep;
    for (int k = 0; k < sweep->pairs; k++) {
        const impulse_swept *pair = &sweep->pair[k];
        if ((sweep->fast[pair->a] || sweep->fast[pair->b]) &&
            !impulse_is_stuck(s, pair->a, pair->b)) {
            int seen;
            double until = march_until(s, pair, &seen);
            if (until > 0) {
                march(s, pair->a, pair->b, until, seen, first);
            }
        }
    }
}

static int is_listed(const impulse_sweep *sweep, int a, int b)
{
    int least = a < b ? a : b, most = a < b ? b : a, low = 0, high = sweep->pairs;
    while (low < high) { /* they are sorted */
        int middle = (low + high) / 2;
        const impulse_swept *pair = &sweep->pair[middle];
        if (pair->a == least && pair->b == most) {
            return 1;
        }
        if (pair->a < least || (pair->a == least && pair->b < most)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return 0;
}

/* Are the spheres around them too far apart to meet during the motion? Their poses are those at its
 * start or its end, and no point moves farther than its bound. */
static int are_far(const step_impulse *s, int g, int o)
{
    const impulse_sweep *sweep = &s->touch.sweep;
    const contact_world *world = s->system->bodies->contact;
    const contact_work *found = &s->touch.found;
    const contact_geom *x = &world->geom[g], *y = &world->geom[o];
    if (x->shape.kind == COLLIDE_PLANE || y->shape.kind == COLLIDE_PLANE || world->pair_count > 0) {
        return 0;
    }
    double d[3], far = sweep->way[g] + sweep->way[o] + x->radius + y->radius + x->margin +
                       y->margin + found->reach[g] + found->reach[o];
    v3_sub(d, found->pose[g].pos, found->pose[o].pos);
    return v3_dot(d, d) > far * far;
}

/* The same for their shapes. */
static int may_meet(const step_impulse *s, int g, int o)
{
    const impulse_sweep *sweep = &s->touch.sweep;
    const contact_world *world = s->system->bodies->contact;
    contact_match match = contact_match_of(world, g < o ? g : o, g < o ? o : g);
    double close;
    return contact_near(world, &s->touch.found, &match, sweep->way[g] + sweep->way[o], &close);
}

/* All pairs of a geom that the search may have missed; with meshes only, or all. Of two that are
 * both asked for, once. */
static void sweep_all(step_impulse *s, int g, int meshes_only, double *first)
{
    impulse_sweep *sweep = &s->touch.sweep;
    const contact_world *world = s->system->bodies->contact;
    for (int o = 0; o < world->geom_count; o++) {
        int mesh = world->geom[o].shape.kind == COLLIDE_MESH && !sweep->linear;
        int twice = !meshes_only && sweep->wild[o] && o < g;
        if ((meshes_only && !mesh) || twice || (!sweep->fast[g] && !sweep->fast[o]) ||
            are_far(s, g, o) || /* most of them */
            !contact_may(world, s->system->tree, g, o) || (!mesh && is_listed(sweep, g, o))) {
            continue;
        }
        if (may_meet(s, g, o) && !impulse_is_stuck(s, g, o)) {
            march(s, g < o ? g : o, g < o ? o : g, sweep->path.h, 0, first);
        }
    }
}

/* Those that move farther than the range of the contact search. */
static void find_wild(step_impulse *s)
{
    impulse_sweep *sweep = &s->touch.sweep;
    const contact_world *world = s->system->bodies->contact;
    double margin = 0.5 * impulse_margin(s);
    for (int k = 0; k < world->moving_count; k++) {
        int g = world->moving[k];
        int asked = sweep->linear || sweep->fast[g];
        sweep->wild[g] = asked && !(sweep->way[g] <= s->touch.found.reach[g] + margin);
    }
}

double impulse_free_part(step_impulse *s)
{
    impulse_contacts *t = &s->touch;
    impulse_sweep *sweep = &t->sweep;
    const contact_world *world = s->system->bodies->contact;
    double first = INFINITY, part = sweep->linear ? 1 : SLOW;
    if (!t->is_there) {
        return 1;
    }
    contact_path_begin(&sweep->path, s->q0, s->u, s->h);
    if (find_fast(s, part) == 0 || find_fast_now(s, part, s->work->sweeps) == 0) {
        return 1;
    }
    sweep->path.start = sweep->linear ? s->work->sweeps : NULL;
    sweep->path.placed = sweep->linear;
    sweep_found(s, &first);
    find_wild(s);
    for (int k = 0; k < world->moving_count; k++) {
        int g = world->moving[k];
        int meshes = sweep->has_mesh && !sweep->linear && sweep->fast[g] &&
                     sweep->way[g] > MESH * world->geom[g].thick;
        if (sweep->wild[g] || meshes) {
            sweep_all(s, g, !sweep->wild[g], &first);
        }
    }
    return first < s->h ? fmax(first / s->h, LEAST) : 1;
}

double impulse_blurred(const step_impulse *s)
{
    const impulse_sweep *sweep = &s->touch.sweep;
    const contact_world *world = s->system->bodies->contact;
    for (int k = 0; s->touch.is_there && k < sweep->fast_count; k++) {
        int g = sweep->list[k];
        if (DBL_EPSILON * sweep->way[g] > world->geom[g].thick && world->geom[g].thick > 0) {
            return sweep->way[g];
        }
    }
    return 0;
}

/* Contacts have been searched for elsewhere: puts geoms where they are at q0. */
static void place_at_start(step_impulse *s)
{
    const contact_world *world = s->system->bodies->contact;
    impulse_see_start(s);
    for (int g = 0; g < world->geom_count; g++) {
        contact_place(s->system, &world->geom[g], s->begin, &s->touch.found.pose[g]);
    }
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
    if (find_fast(s, 1) > 0) {
        place_at_start(s);
        find_fast_now(s, 1, s->begin);
    }
    for (int k = 0; k < world->moving_count; k++) {
        int g = world->moving[k];
        double way = sweep->way[g], thick = world->geom[g].thick;
        most = fmax(most, thick > 0 ? way / thick : way > 0 ? INFINITY : 0);
    }
    return most;
}

/* All pairs of what goes farther than its thickness. */
double impulse_until_meeting(step_impulse *s, double time)
{
    impulse_sweep *sweep = &s->touch.sweep;
    const contact_world *world = s->system->bodies->contact;
    double first = time;
    int sure = 1;
    contact_path_begin(&sweep->path, s->q0, s->v0, time);
    find_fast(s, 1);
    place_at_start(s);
    find_fast_now(s, 1, s->begin);
    sweep->path.start = s->begin;
    sweep->path.placed = 1;
    for (int k = 0; k < sweep->fast_count; k++) {
        int g = sweep->list[k];
        for (int o = 0; o < world->geom_count; o++) {
            int both = !world->still[o] && sweep->fast[o];
            if ((!both || o > g) && !are_far(s, g, o) && may_meet(s, g, o) &&
                contact_may(world, s->system->tree, g, o) && !impulse_is_stuck(s, g, o)) {
                first = fmin(first, contact_path_meet(&sweep->path, &s->touch.found, g < o ? g : o,
                                                      g < o ? o : g, first, -1, &sure));
            }
        }
    }
    return first;
}

int impulse_is_lost(const step_impulse *s)
{
    const impulse_sweep *sweep = &s->touch.sweep;
    int lost = 0;
    for (int k = 0; k < sweep->pairs && sweep->strict && s->touch.deep_count == 0; k++) {
        const impulse_swept *pair = &sweep->pair[k];
        lost |= !pair->flies && !impulse_is_stuck(s, pair->a, pair->b) &&
                pair->gap < -contact_path_depth(&sweep->path, pair->a, pair->b);
    }
    return lost;
}

/* Steps of worlds in lanes by Coulomb's law with one linearisation (step/once8/once8.h).
 *
 * A world that lanes cannot step (once8_step says why) stays where it is, with steps left: the
 * processor takes that step, and the world comes back (batch/on_device_exact.c). Threads of a warp
 * take the same branches, as in world_lanes.c.
 *
 * What the last step left behind is one bit: overlaps need not be separated (once8_clock.parts).
 * The device has a hash of the state at its end instead, so that whatever else changes a state, a
 * caller's kernel for example, is noticed. */
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "device/world_work.h"
#include "step/once8/once8.h"

typedef struct exact_group {
    soft8 of;
    once8 s;
    once8_clock clock[LANES];
    double *x[LANES];             /* q, v, parameters */
    unsigned char *closed[LANES]; /* not used */
    device_result result[LANES];
    int left[LANES]; /* steps; 0: it does not move */
} exact_group;

/* ---- Scratch --------------------------------------------------------------------------------- */

/* Points of a group of worlds beyond the capacity of one: those within reach of the step count. If
 * there are more, the whole group is left to the processor. */
enum { SPARE = 32 };

/* Size of the sweeps' memory up to what is used: L and everything after it are not. */
static size_t sweep_numbers(const device_model *model)
{
    return (size_t)model->system->tree->at.L;
}

static void lay_out_lists(const device_model *model, once8 *s, base_arena *arena)
{
    const struct system_bodies *bodies = model->system->bodies;
    size_t points = (size_t)bodies->contact->capacity + SPARE;
    s->block_capacity = bodies->constraint_count + (int)points;
    s->entry_capacity = 3 * (int)points * (2 * bodies->widest + 3) + 1;
    s->it.block = base_arena_bytes(arena, (size_t)s->block_capacity * sizeof *s->it.block);
    s->about = base_arena_bytes(arena, (size_t)s->block_capacity * sizeof *s->about);
    s->J = base_arena_bytes(arena, (size_t)s->entry_capacity * sizeof *s->J);
}

static void lay_out(const device_model *model, exact_group *g, base_arena *near)
{
    const zw_system *system = model->system;
    size_t x = (size_t)system->nq + (size_t)system->n + (size_t)system->shape.params;
    size_t sweeps = sweep_numbers(model);
    memset(g, 0, sizeof *g);
    g->of.system = system;
    g->of.match_count = model->lanes->match_count;
    g->of.h = g->s.h = model->soft->step;
    g->s.of = &g->of;
    for (int l = 0; l < LANES; l++) {
        g->x[l] = base_arena_doubles(near, x);
        g->closed[l] = base_arena_bytes(near, (size_t)system->bodies->constraint_count + 1);
    }
    soft8_lay_out(&g->of, near, near);
    g->of.sweeps = base_arena_bytes(near, sweeps * sizeof *g->of.sweeps);
    g->s.end = base_arena_bytes(near, sweeps * sizeof *g->s.end);
    once8_lay_out(&g->s, near);
    lay_out_lists(model, &g->s, near);
}

device_room world_exact_bytes(const device_model *model)
{
    base_arena near = {0}, path = {0};
    exact_group shape;
    lay_out(model, &shape, &near);
    contact_path_lay_out(&shape.s.path, model->system, &path);
    return (device_room){.near = near.used + 64, .far = world_bytes(model) + path.used + 128};
}

static void begin(const device_model *model, void *memory, const device_place *at, exact_group *g)
{
    base_arena near = {.block = at->near},
               path = {.block = (unsigned char *)memory + (world_bytes(model) + 63) / 64 * 64};
    const device_lanes *lanes = model->lanes;
    world_work *w = world_begin(model, memory);
    lay_out(model, g, &near);
    g->of.alone = &w->soft;
    g->of.work = &w->work;
    g->of.match = lanes->match;
    g->of.tendon_J = lanes->tendon_J;
    g->of.tendon_straight = lanes->tendon_straight;
    g->of.straight = g->s.straight = lanes->straight;
    for (int k = 0; k < lanes->match_count; k++) {
        int plane = lanes->match[k].plane;
        if (plane >= 0) {
            w->soft.found.pose[plane] = lanes->place[plane];
        }
    }
    lane_clear8((int)sweep_numbers(model), g->of.sweeps);
    lane_clear8((int)sweep_numbers(model), g->s.end);
    once8_begin_steps(&g->s);
    contact_path_lay_out(&g->s.path, model->system, &path);
    memset(path.block, 0, path.used); /* sweeps have zeros for the world */
    contact_path_measure(&g->s.path);
}

/* ---- Between the arrays and x ---------------------------------------------------------------- */

uint64_t world_mark(const zw_system *system, double t, const double *q, const double *v)
{
    uint64_t hash = base_hash_numbers(BASE_HASH_START, 1, &t);
    hash = base_hash_numbers(hash, (size_t)system->nq, q);
    return base_hash_numbers(hash, (size_t)system->n, v) | 1;
}

static void load(const device_job *job, const zw_system *system, int world, exact_group *g, int l)
{
    int n = system->n, nq = system->nq, params = system->shape.params;
    double *x = g->x[l];
    memset(x, 0, (size_t)(nq + n + params) * sizeof *x);
    g->left[l] = world >= 0 && job->status[world] == ZW_OK ? job->left[world] : 0;
    if (g->left[l] > 0) {
        g->result[l] = job->result[world];
        memcpy(x, world_row(job->q, world, nq), (size_t)nq * sizeof *x);
        memcpy(x + nq, world_row(job->v, world, n), (size_t)n * sizeof *x);
        memcpy(x + nq + n, world_row(job->param, world, params), (size_t)params * sizeof *x);
        g->clock[l] = (once8_clock){.t = job->time[world]};
        g->clock[l].parts = job->mark[world] != world_mark(system, job->time[world], x, x + nq);
    }
}

static void store(const device_job *job, const zw_system *system, int world, const exact_group *g,
                  int l)
{
    int n = system->n, nq = system->nq;
    const double *x = g->x[l];
    job->left[world] = g->left[l];
    job->result[world] = g->result[l];
    if (g->clock[l].steps == 0) {
        return;
    }
    memcpy(world_row(job->q, world, nq), x, (size_t)nq * sizeof *x);
    memcpy(world_row(job->v, world, n), x + nq, (size_t)n * sizeof *x);
    job->time[world] = g->clock[l].t;
    job->touch[world] = g->of.touch[l];
    job->mark[world] = world_mark(system, g->clock[l].t, x, x + nq);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void note(const exact_group *g, int l, device_result *to)
{
    int rows = 0, points = 0;
    for (int i = 0; i < g->s.it.blocks; i++) {
        const augment_block8 *k = &g->s.it.block[i];
        int pushes = k->found[0][l] > 0;
        rows += pushes ? k->width : 0;
        points += pushes && g->s.about[i].constraint < 0;
    }
    to->steps++;
    to->contacts = points > to->contacts ? points : to->contacts;
    to->rows = rows > to->rows ? rows : to->rows;
    to->certificate =
        g->clock[l].certificate > to->certificate ? g->clock[l].certificate : to->certificate;
}

/* Returns whether some world has more steps to take here. */
static int step_all(exact_group *g, int *stays)
{
    once8_clock *clock[LANES];
    uint64_t touch[LANES];
    int more = 0;
    for (int l = 0; l < LANES; l++) {
        clock[l] = g->left[l] > 0 && !stays[l] ? &g->clock[l] : NULL;
    }
    long before = g->s.it.steps;
    unsigned done = once8_step(&g->s, LANES, clock, g->x, g->closed, touch);
    int iterations = (int)(g->s.it.steps - before);
    for (int l = 0; l < LANES; l++) {
        stays[l] |= !clock[l] || !(done >> l & 1);
        if (!stays[l]) {
            g->left[l]--;
            note(g, l, &g->result[l]);
            g->result[l].total += iterations;
            g->result[l].iterations =
                iterations > g->result[l].iterations ? iterations : g->result[l].iterations;
        }
        more |= !stays[l] && g->left[l] > 0;
    }
    return LANE_VOTE(more);
}

void world_move_exact(const device_job *job, const int world[LANES], void *memory,
                      const device_place *at)
{
    const device_model *model = job->model[0];
    exact_group group, *g = &group;
    int stays[LANES], more = 0;
    begin(model, memory, at, g);
    for (int l = 0; l < LANES; l++) {
        load(job, model->system, world[l], g, l);
        stays[l] = g->left[l] == 0;
        more |= !stays[l];
    }
    more = LANE_VOTE(more);
    while (more) {
        more = step_all(g, stays);
    }
    for (int l = 0; l < LANES; l++) {
        if (world[l] >= 0 && job->left[world[l]] > 0 && job->status[world[l]] == ZW_OK) {
            store(job, model->system, world[l], g, l);
        }
    }
}

/* Steps of worlds in lanes (step/soft8_step.h), eight in vectors or 32 in the threads of a warp.
 *
 * In a warp every thread has its own soft8, with one lane. Data that does not belong to a world,
 * such as the list of blocks, is kept by each thread and is the same in all: lane_any8 combines the
 * whole warp. So all threads take the same branches, and none may leave early: lanes without a
 * world, or with a world that has stopped, take part. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "device/world_work.h"
#include "math/dense/paths.h"
#include "system/soft8/soft8_block.h"

/* In single precision: the last step of a call, for its certificate. */
typedef struct world_check {
    double *x[LANES];          /* before it */
    double *moved[LANES];      /* change of v, per time */
    soft8_clock *clock[LANES]; /* of lanes that took it in single precision */
} world_check;

typedef struct world_group {
    soft8 s;
    soft8_clock clock[LANES];
    double *x[LANES]; /* q, v, parameters */
    world_check check;
    device_result result[LANES];
    int moves[LANES]; /* there is a world, and it has not failed */
    struct world_alone *alone;
} world_group;

/* Of a step that one thread of a crew takes, for the others. */
typedef struct world_alone {
    soft8_clock clock;
    device_result result;
    zw_status status;
} world_alone;

/* ---- Scratch --------------------------------------------------------------------------------- */

/* Capacity for blocks: all limits, and the points of worlds with contacts in different places. If
 * it is too small, all worlds step alone; SPARE is what a warp of falling humanoids needs beyond
 * the capacity of one, as long as worlds with the same contacts are grouped. */
enum { SPARE = CREW_SIZE > 1 ? 0 : 16 };

/* Size of the sweeps' memory up to what is used: L and everything after it are not. */
static size_t sweep_numbers(const device_model *model)
{
    return (size_t)model->system->tree->at.L;
}

/* A crew has what is the same in all lanes where it has the rest. */
typedef struct world_arenas {
    base_arena near, far, common;
} world_arenas;

static void lay_out_far(const device_model *model, world_group *g, base_arena *far,
                        base_arena *common)
{
    const struct system_bodies *bodies = model->system->bodies;
    soft8 *s = &g->s;
    s->block_capacity = bodies->constraint_count + bodies->contact->capacity + SPARE;
    s->entry_capacity =
        (bodies->contact->capacity + SPARE) * model->tall * (2 * bodies->widest + 3) + 1;
    size_t blocks = (size_t)s->block_capacity, edges = blocks;
    edges *= model->tall > 1 ? 2 * (size_t)model->tall - 2 : 1;
    g->alone = base_arena_bytes(far, sizeof *g->alone);
    s->gathered = base_arena_bytes(far, CREW_SIZE > 1 ? soft8_gathered_bytes() : 0);
    s->row = base_arena_bytes(common, blocks * sizeof *s->row);
    s->active = base_arena_ints(common, blocks);
    s->last_key = base_arena_ints(common, blocks);
    s->last_mode = base_arena_bytes(far, blocks * sizeof *s->last_mode);
    s->J = base_arena_bytes(far, (size_t)s->entry_capacity * sizeof *s->J);
    s->block = base_arena_bytes(far, blocks * sizeof *s->block);
    s->edge_r = base_arena_bytes(far, edges * sizeof *s->edge_r);
    s->edge_d = base_arena_bytes(far, edges * sizeof *s->edge_d);
    s->edge_D = base_arena_bytes(far, edges * sizeof *s->edge_D);
}

enum { IS_SINGLE = sizeof(zw_scalar) < sizeof(double) };

/* First in `near`: what follows is used again for certificates. */
static void lay_out_kept(const zw_system *system, world_group *g, base_arena *near)
{
    size_t n = (size_t)system->n, x = (size_t)system->nq + n + (size_t)system->shape.params;
    for (int l = 0; l < LANES; l++) {
        g->x[l] = base_arena_doubles(near, x);
        g->check.x[l] = IS_SINGLE ? base_arena_doubles(near, x) : NULL;
        g->check.moved[l] = IS_SINGLE ? base_arena_doubles(near, n) : NULL;
    }
}

static void lay_out(const device_model *model, world_group *g, world_arenas *in)
{
    const zw_system *system = model->system;
    base_arena *near = &in->near;
    size_t n = (size_t)system->n;
    soft8 *s = &g->s;
    memset(g, 0, sizeof *g);
    lay_out_kept(system, g, near);
    s->system = system;
    s->h = model->soft->step;
    soft8_lay_out(s, near, CREW_SIZE > 1 ? near : &in->common);
    s->sweeps = base_arena_bytes(near, sweep_numbers(model) * sizeof *s->sweeps);
    if (CREW_SIZE > 1) {
        s->above_straight = base_arena_bytes(near, n * n * sizeof *s->above_straight);
        s->above_bent = base_arena_bytes(near, n * n * sizeof *s->above_bent);
        s->product = base_arena_doubles(near, PATHS_RUN * n);
    }
    lay_out_far(model, g, &in->far, CREW_SIZE > 1 ? &in->far : &in->common);
}

device_room world_lanes_bytes(const device_model *model)
{
    world_arenas in = {{0}, {0}, {0}};
    world_group shape;
    lay_out(model, &shape, &in);
    device_room room = {.near = in.near.used + 64,
                        .far = in.far.used + 64,
                        .common = (in.common.used + 63) / 64 * 64};
#ifdef LANE_SETTLE
    soft8_settle_bytes(&shape.s, &room.desk, &room.stage);
#endif
#ifdef ZW_FLOAT
    base_arena kept = {0};
    device_room check = world_certify_bytes(model);
    lay_out_kept(model->system, &shape, &kept);
    size_t needed = kept.used + 64 + (check.near + 63) / 64 * 64 + check.far;
    room.far = needed > room.near + room.far ? needed - room.near : room.far;
#endif
    return room;
}

static void begin(const device_model *model, world_work *w, const device_place *at, world_group *g)
{
    world_arenas in = {{.block = at->near}, {.block = at->far}, {.block = at->common}};
    const device_lanes *lanes = model->lanes;
    soft8 *s = &g->s;
    lay_out(model, g, &in);
    s->alone = &w->soft;
    s->match_count = lanes->match_count;
    s->match = lanes->match;
    s->tendon_J = lanes->tendon_J;
    s->tendon_straight = lanes->tendon_straight;
    s->straight = lanes->straight;
    s->motors_apart = lanes->motors_apart;
    s->lengths_apart = lanes->lengths_apart;
    s->levels = &lanes->levels;
    s->desk = at->desk;
    s->stage = at->stage;
    lane_clear8((int)sweep_numbers(model), s->sweeps);
    CREW_ONE () {
        soft8_begin_steps(s);
    }
    CREW_MEET();
#if CREW_SIZE > 1
    crew_begin_shape(s);
#endif
}

/* Poses of planes. Steps alone set the same poses. */
static void place_planes(const device_lanes *lanes, contact_work *found)
{
    for (int k = 0; k < lanes->match_count; k++) {
        int plane = lanes->match[k].plane;
        if (plane >= 0) {
            found->pose[plane] = lanes->place[plane];
        }
    }
}

/* ---- Between the arrays and x ---------------------------------------------------------------- */

static void load(const device_job *job, const device_model *model, int world, world_group *g, int l)
{
    const zw_system *system = model->system;
    int n = system->n, nq = system->nq, params = system->shape.params;
    double *x = g->x[l];
    const double *grid = world_row(job->grid, world, 3);
    soft8_clock *clock = &g->clock[l];
    CREW_ONE () {
        memcpy(x, world_row(job->q, world, nq), (size_t)nq * sizeof *x);
        memcpy(x + nq, world_row(job->v, world, n), (size_t)n * sizeof *x);
        memcpy(x + nq + n, world_row(job->param, world, params), (size_t)params * sizeof *x);
    }
    *clock = (soft8_clock){.t = job->time[world],
                           .grid = {.step = job->step, .origin = grid[0], .count = (long)grid[1]}};
    if (!(clock->t == grid[2])) { /* the caller has set the time */
        step_grid_start(&clock->grid, clock->t);
    }
}

static void store(const device_job *job, const device_model *model, int world, const world_group *g,
                  int l)
{
    int n = model->system->n, nq = model->system->nq;
    const double *x = g->x[l];
    double *grid = world_row(job->grid, world, 3);
    memcpy(world_row(job->q, world, nq), x, (size_t)nq * sizeof *x);
    memcpy(world_row(job->v, world, n), x + nq, (size_t)n * sizeof *x);
    grid[0] = g->clock[l].grid.origin;
    grid[1] = (double)g->clock[l].grid.count;
    grid[2] = job->time[world] = g->clock[l].t;
    job->touch[world] = g->s.touch[l];
    job->status[world] = g->result[l].status;
    job->result[world] = g->result[l];
}

/* Lanes without a world also get valid numbers. */
static void load_all(const device_job *job, const device_model *model, const int *world,
                     world_group *g)
{
    const zw_system *system = model->system;
    for (int l = 0; l < LANES; l++) {
        CREW_ONE () {
            memset(g->x[l], 0,
                   (size_t)(system->nq + system->n + system->shape.params) * sizeof(double));
        }
        g->moves[l] = world[l] >= 0 && job->status[world[l]] == ZW_OK;
        if (g->moves[l]) {
            g->result[l] = (device_result){.status = ZW_OK};
            load(job, model, world[l], g, l);
        }
    }
}

/* ---- Certificates of steps in single precision ----------------------------------------------- */

#ifdef ZW_FLOAT
static void keep_before(const device_model *model, world_group *g)
{
    const zw_system *system = model->system;
    for (int l = 0; l < LANES; l++) {
        memcpy(g->check.x[l], g->x[l],
               (size_t)(system->nq + system->n + system->shape.params) * sizeof(double));
    }
}

/* `done`: lanes that have taken the step. */
static void keep_after(const device_model *model, world_group *g, unsigned done)
{
    const zw_system *system = model->system;
    int n = system->n, nq = system->nq;
    for (int l = 0; l < LANES; l++) {
        const double *v0 = g->check.x[l] + nq, *v1 = g->x[l] + nq;
        g->check.clock[l] = g->moves[l] && done >> l & 1 ? &g->clock[l] : NULL;
        for (int i = 0; i < n; i++) {
            g->check.moved[l][i] = (v1[i] - v0[i]) / g->s.h;
        }
    }
}

/* In the memory of g, all of which but lay_out_kept's is overwritten. */
static void certify(const device_model *model, world_work *w, world_group *g,
                    const device_place *at)
{
    base_arena kept = {0};
    world_group shape;
    double certificate[LANES];
    lay_out_kept(model->system, &shape, &kept);
    device_place own = {.common = at->common};
    own.near = at->near + (kept.used + 63) / 64 * 64;
    own.far = own.near + (world_certify_bytes(model).near + 63) / 64 * 64;
    world_certify(model, w, &own, g->check.clock, g->check.x, g->check.moved, certificate);
    for (int l = 0; l < LANES; l++) {
        g->result[l].certificate = fmax(g->result[l].certificate, certificate[l]);
    }
}
#else
static void keep_before(const device_model *model, world_group *g)
{
    (void)model, (void)g;
}

static void keep_after(const device_model *model, world_group *g, unsigned done)
{
    (void)model, (void)g, (void)done;
}

static void certify(const device_model *model, world_work *w, world_group *g,
                    const device_place *at)
{
    (void)model, (void)w, (void)g, (void)at;
}
#endif

#if !defined(ZW_FLOAT) && CREW_SIZE == 1
device_room world_certify_bytes(const device_model *model)
{
    return world_lanes_bytes(model);
}

void world_certify(const device_model *model, void *memory, const device_place *at,
                   soft8_clock *const *clock, double *const *x, double *const *moved,
                   double *certificate)
{
    world_group group;
    begin(model, memory, at, &group);
    soft8_certify(&group.s, clock, x, moved, certificate);
}
#endif

/* ---- Steps ----------------------------------------------------------------------------------- */

/* Takes the steps of lanes that failed. The initial guess of the search does not affect the bits of
 * its result. */
static zw_status step_alone(const device_job *job, const device_model *model, world_work *w,
                            world_group *g, int l)
{
    const zw_system *system = model->system;
    int n = system->n, nq = system->nq, params = system->shape.params;
    double *x = g->x[l];
    memcpy(w->y0, x, (size_t)(nq + n) * sizeof *x);
    memcpy(w->work.param, x + nq + n, (size_t)params * sizeof *x);
    soft_forget(&w->soft);
    world_clear(model, w);
    zw_status status = world_step(job, model, w, &g->clock[l].grid, &g->clock[l].t);
    if (status == ZW_OK) {
        memcpy(x, w->y0, (size_t)(nq + n) * sizeof *x);
    }
    world_note(&w->soft, status, &g->result[l]);
    g->result[l].alone++;
    return status;
}

static void note(const soft8 *s, const soft8_clock *clock, int l, device_result *to)
{
    int rows = 0;
    for (int i = 0; i < s->blocks; i++) {
        int width = s->row[i].width;
        rows += s->block[i].D[l] > 0 ? (width > 1 ? 2 * width - 2 : 1) : 0;
    }
    to->steps++;
    to->contacts = s->points[l] > to->contacts ? s->points[l] : to->contacts;
    to->rows = rows > to->rows ? rows : to->rows;
    to->iterations = s->iterations > to->iterations ? s->iterations : to->iterations;
    to->total += s->iterations;
    to->certificate = fmax(to->certificate, clock->certificate);
}

static void step_all(const device_job *job, const device_model *model, world_work *w,
                     world_group *g, int is_last)
{
    soft8_clock *clock[LANES];
    uint64_t touch[LANES];
    for (int l = 0; l < LANES; l++) {
        clock[l] = g->moves[l] ? &g->clock[l] : NULL;
    }
    if (is_last) {
        keep_before(model, g);
    }
    unsigned done = soft8_step(&g->s, LANES, clock, g->x, touch);
    if (is_last) {
        keep_after(model, g, done);
    }
    soft8_remember(&g->s);
    for (int l = 0; l < LANES; l++) {
        if (g->moves[l] && done >> l & 1) {
            note(&g->s, &g->clock[l], l, &g->result[l]);
        } else if (g->moves[l]) {
            CREW_ONE () {
                zw_status status = step_alone(job, model, w, g, l);
                *g->alone = (world_alone){g->clock[l], g->result[l], status};
            }
            CREW_MEET();
            g->clock[l] = g->alone->clock;
            g->result[l] = g->alone->result;
            g->moves[l] = g->alone->status == ZW_OK;
            CREW_MEET();
        }
    }
}

static int any_moves(const world_group *g)
{
    int any = 0;
    for (int l = 0; l < LANES; l++) {
        any |= g->moves[l];
    }
    return CREW_ANY_OF_ALL(LANE_VOTE(any));
}

void world_move_lanes(const device_job *job, const int world[LANES], void *memory,
                      const device_place *at)
{
    const device_model *model = job->model[0];
    world_work *w = memory;
    world_group group, *g = &group;
    CREW_MEET();
    CREW_ONE () {
        world_lay_out(model, memory);
        place_planes(model->lanes, &w->soft.found);
    }
    CREW_MEET();
    begin(model, w, at, g);
    load_all(job, model, world, g);
    int moved[LANES];
    memcpy(moved, g->moves, sizeof moved);
    CREW_MEET();
    for (int k = 0; k < job->steps && any_moves(g); k++) {
        step_all(job, model, w, g, k == job->steps - 1);
        if (k == job->steps - 1) {
            certify(model, w, g, at);
        }
    }
    CREW_ONE () {
        for (int l = 0; l < LANES; l++) {
            if (moved[l]) {
                store(job, model, world[l], g, l);
            }
        }
    }
}

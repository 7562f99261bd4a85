/* Creation of the soft law's problem, and the motion at a state; soft.h has the law. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "system/soft/soft.h"
#include "system/soft/soft_large.h"
#include "tree/sweeps.h"

/* ---- Creation ------------------------------------------------------------------------------- */

typedef struct shapes {
    int *parent, *start, *block; /* of soft_find_trees */
} shapes;

static void lay_out(soft_problem *s, shapes *of, base_arena *arena)
{
    const zw_system *system = s->system;
    const struct system_bodies *bodies = system->bodies;
    size_t n = (size_t)system->n, trees = (size_t)s->trees;
    size_t wide = 2 * (size_t)bodies->widest + n + 4; /* columns, at most */
    double **speeds[] = {&s->dof, &s->force, &s->push, &s->x, &s->y, &s->Ma, &s->diagonal};
    for (size_t k = 0; k < sizeof speeds / sizeof *speeds; k++) {
        *speeds[k] = base_arena_doubles(arena, n);
    }
    s->a = base_arena_doubles(arena, n + (size_t)system->carried);
    s->guess = base_arena_doubles(arena, 2 * n);
    s->before = arena->block ? s->guess + n : NULL;
    s->back = base_arena_doubles(arena, n);
    s->part = (double(*)[2])base_arena_doubles(arena, 2 * (size_t)bodies->part_count);
    s->length = base_arena_doubles(arena, (size_t)bodies->length_count);
    s->H = base_arena_doubles(arena, (size_t)system->tree->entries + 3 * n);
    s->held = base_arena_doubles(arena, 21 * (size_t)system->tree->bodies);
    s->wrench = base_arena_doubles(arena, 6 * (size_t)system->tree->bodies);
    s->deep = base_arena_doubles(arena, n);
    s->lower = base_arena_doubles(arena, (size_t)system->tree->entries);
    s->upper = base_arena_doubles(arena, (size_t)system->tree->entries);
    s->stage = base_arena_doubles(arena, (size_t)system->nq + 4 * (n + (size_t)system->carried));
    s->J = base_arena_doubles(arena, SOFT_WIDE * wide);
    s->scratch = base_arena_doubles(arena, (SOFT_GROUP * SOFT_WIDE + 1) * wide +
                                               SOFT_GROUP * SOFT_WIDE * SOFT_DEEPEST);
    s->J_column = base_arena_ints(arena, wide);
    s->leader = base_arena_ints(arena, trees);
    s->tree_of = base_arena_ints(arena, n);
    s->level = base_arena_ints(arena, n);
    s->local = base_arena_ints(arena, n);
    s->bend_capacity = base_arena_ints(arena, 5 * n + trees);
    of->parent = base_arena_ints(arena, n);
    of->start = base_arena_ints(arena, n);
    of->block = base_arena_ints(arena, n + trees);
}

static int allocate(soft_problem *s)
{
    const tree_mechanism *tree = s->system->tree;
    const contact_world *world = s->system->bodies->contact;
    base_arena arena = {0};
    shapes of;
    for (int d = 0; d < tree->nv; d++) {
        s->trees += tree->dof_parent[d] < 0;
    }
    size_t trees = (size_t)s->trees + 1;
    lay_out(s, &of, &arena);
    s->memory = base_alloc(arena.used);
    s->tree = base_alloc(trees * sizeof *s->tree);
    s->island = base_alloc(trees * sizeof *s->island);
    s->large = base_alloc(trees * sizeof *s->large);
    s->pair = base_alloc(SOFT_PAIRS * sizeof *s->pair);
    s->row = base_alloc(((size_t)tree->nv + 1) * sizeof *s->row);
    s->watch = base_alloc(((size_t)s->system->bodies->constraint_count + 1) * sizeof *s->watch);
    if (!s->memory || !s->watch || !s->tree || !s->island || !s->large || !s->row || !s->pair) {
        return 0;
    }
    arena = (base_arena){.block = s->memory};
    lay_out(s, &of, &arena);
    for (int d = 0, t = -1; d < tree->nv; d++) {
        t += tree->dof_parent[d] < 0;
        s->tree[t].first = tree->dof_parent[d] < 0 ? d : s->tree[t].first;
        s->tree[t].end = d + 1;
        s->tree_of[d] = t;
    }
    for (int c = 0; c < s->system->bodies->constraint_count; c++) {
        s->has_frames |= s->system->bodies->constraint[c].kind < CONSTRAINT_LENGTH;
        s->watch[c] = soft_watch_of(s, &s->system->bodies->constraint[c]);
    }
    soft_find_trees(s, of.parent, of.start, of.block);
    int scratch = 0;
    for (int t = 0; t < s->trees; t++) {
        int own = s->tree[t].kind != t ? s->tree[t].shape.entries + s->tree[t].shape.n : 0;
        scratch = own > scratch ? own : scratch;
    }
    s->lot = base_alloc(((size_t)scratch + 1) * sizeof *s->lot);
    s->is_there = world->geom_count > 0 && contact_work_create(&s->found, world) == ZW_OK;
    s->found.choice = COLLIDE_MUJOCO;
    return s->lot && (s->is_there || world->geom_count == 0);
}

zw_status soft_create(const zw_system *system, zw_work *work, double h, soft_problem **to,
                      zw_error *error)
{
    *to = NULL;
    if (!system->tree || system->bodies->formulas) {
        return base_fail(error, ZW_BAD_INPUT, "the soft law is for rigid bodies%s",
                         system->tree ? ", and does not support formulas over them" : "");
    }
    soft_problem *s = base_alloc(sizeof *s);
    if (s) {
        int safe = !(system->bodies->without & ZW_WITHOUT_REFSAFE);
        *s = (soft_problem){.system = system, .work = work, .step = h, .h = safe ? h : 0};
    }
    if (!s || !allocate(s) || !bodies_group_trees(system, work)) {
        soft_free(s);
        return base_no_memory(error);
    }
    zw_status status = soft_weigh(s, error);
    if (status != ZW_OK) {
        soft_free(s);
        return status;
    }
    *to = s;
    return ZW_OK;
}

void soft_free(soft_problem *s)
{
    if (!s) {
        return;
    }
    for (int t = 0; s->large && t < s->trees; t++) {
        soft_large_free(&s->large[t]);
    }
    void *list[] = {s->block, s->lot,    s->watch, s->pair,   s->column, s->value, s->b,
                    s->D,     s->bent_H, s->tree,  s->island, s->large,  s->row,   s->memory};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        base_free(list[k]);
    }
    if (s->is_there) {
        contact_work_free(&s->found);
    }
    base_free(s);
}

/* ---- The motion ----------------------------------------------------------------------------- */

static int is_finite(const soft_problem *s)
{
    double sum = 0;
    for (int i = 0; i < s->system->n; i++) { /* includes weights and positions */
        sum += s->force[i] * 0;
    }
    return sum == 0;
}

static zw_status find_rows(soft_problem *s, const double *q, const double *v, zw_error *error)
{
    zw_status status = soft_fill(s, q, v, error);
    return status == ZW_OK && !soft_find_islands(s) ? base_no_memory(error) : status;
}

/* Are the islands of all blocks without J deep ones? */
static int is_held(const soft_problem *s)
{
    int held = 1;
    for (int i = 0; i < s->islands; i++) {
        for (int b = s->island[i].block; b >= 0 && held; b = s->block[b].next) {
            held = !s->block[b].held || s->island[i].is_deep;
        }
    }
    return held;
}

/* Computes M, unless all islands and Euler's step do not need its entries, or the group has
 * computed them. */
static void find_masses(soft_problem *s)
{
    int deep = s->system->bodies->integrator == ZW_INTEGRATOR_EULER;
    for (int i = 0; i < s->islands; i++) {
        deep &= s->island[i].is_deep;
    }
    if (!deep && !s->work->group) {
        tree_composite(s->system->tree, s->work->sweeps);
    }
}

int soft_memory(const soft_problem *s)
{
    return s->system->bodies->elliptic ? 2 * s->system->n : 0;
}

void soft_forget(soft_problem *s)
{
    memset(s->guess, 0, (size_t)soft_memory(s) * sizeof *s->guess);
}

zw_status soft_set_up(soft_problem *s, double t, const double *q, const double *v, zw_error *error)
{
    const zw_system *system = s->system;
    int was = s->work->as_mujoco;
    zw_status status = bodies_find_adhesion(system, s->work, q, v, 0, error);
    if (status != ZW_OK) {
        return status;
    }
    s->work->as_mujoco = 1;
    s->work->ahead = s->step;
    SOFT_MEET(s);
    bodies_smooth(system, s->work, q, v);
    SOFT_MEET(s);
    memcpy(s->force, s->work->out[PART_TERMS] + system->at.force,
           (size_t)system->n * sizeof(double));
    if (!is_finite(s)) { /* names what is not finite; not on a device */
        status = error ? system_evaluate(system, s->work, PART_TERMS, t, q, v, NULL, NULL, error)
                       : ZW_NOT_FINITE;
    }
    s->holds = 1;
    status = status == ZW_OK ? find_rows(s, q, v, error) : status;
    if (status == ZW_OK && !is_held(s)) {
        s->holds = 0;
        status = find_rows(s, q, v, error);
    }
    SOFT_MEET(s);
    if (status == ZW_OK) {
        find_masses(s);
    }
    s->work->as_mujoco = was;
    s->work->ahead = 0;
    return status;
}

zw_status soft_forward(soft_problem *s, double t, const double *q, const double *v, zw_error *error)
{
    size_t bytes = (size_t)s->system->n * sizeof(double);
    zw_status status = soft_set_up(s, t, q, v, error);
    for (int i = 0; i < s->system->n; i++) { /* extrapolated from the last change */
        s->a[i] = s->guess[i] + SOFT_ONWARD * (s->guess[i] - s->before[i]);
    }
    SOFT_MEET(s);
    status = status == ZW_OK ? soft_minimise(s, error) : status;
    if (status == ZW_OK) {
        memcpy(s->before, s->guess, bytes);
        memcpy(s->guess, s->a, bytes);
    }
    return status;
}

void soft_contact_force(const soft_problem *s, int k, double force[6])
{
    const soft_block *block = &s->block[s->first_contact + k];
    memset(force, 0, 6 * sizeof *force);
    memcpy(force, block->now.force, (size_t)block->width * sizeof *force);
}

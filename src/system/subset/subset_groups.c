/* Groups, and the displacement caused by each speed. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/partition.h"
#include "model/pose.h"
#include "system/subset/subset_inner.h"

int subset_most(const zw_system *system)
{
    int count = 0;
    for (int i = 1; i < system->tree->bodies; i++) {
        count += system->tree->body[i].parent == 0;
    }
    return count;
}

/* ---- Groups --------------------------------------------------------------------------------- */

int subset_tie(int *link, int a, int b)
{
    if (a <= 0 || b <= 0) {
        return a > 0 ? a : b;
    }
    return partition_join(link, a, b);
}

static int tie_terms(const zw_system *system, int *link, int first, int count)
{
    int body = 0;
    for (int k = first; k < first + count; k++) {
        body = subset_tie(link, body, system->tree->dof_body[system->bodies->term[k].dof]);
    }
    return body;
}

static int tie_constraint(const zw_system *system, int *link, const bodies_constraint *constraint)
{
    int body = 0;
    if (constraint->kind < CONSTRAINT_LENGTH) {
        return subset_tie(link, constraint->frame[0].body, constraint->frame[1].body);
    }
    if (constraint->kind == CONSTRAINT_BALL) {
        return system->tree->dof_body[constraint->dof];
    }
    for (int k = 0; k < 2; k++) {
        if (constraint->length[k] >= 0) {
            const bodies_length *length = &system->bodies->length[constraint->length[k]];
            body = subset_tie(link, body, tie_terms(system, link, length->first, length->count));
        }
    }
    return body;
}

static int tie_motor(const zw_system *system, int *link, const bodies_motor *motor)
{
    if (motor->kind == MOTOR_LENGTH) {
        const bodies_length *length = &system->bodies->length[motor->length];
        return tie_terms(system, link, length->first, length->count);
    }
    if (motor->kind == MOTOR_SITE) {
        return motor->refers ? subset_tie(link, motor->frame.body, motor->ref.body)
                             : motor->frame.body;
    }
    return system->tree->dof_body[motor->dof];
}

/* One of the bodies of each part, and the connected bodies: link[]. 0: no memory. */
static int tie_all(subset_groups *g, int *link)
{
    const zw_system *system = g->whole;
    const struct system_bodies *bodies = system->bodies;
    for (int i = 0; i < system->tree->bodies; i++) {
        int parent = i > 0 ? system->tree->body[i].parent : 0;
        link[i] = parent > 0 ? parent : i;
    }
    for (int c = 0; c < bodies->constraint_count; c++) {
        g->constraint[c] = tie_constraint(system, link, &bodies->constraint[c]);
    }
    for (int i = 0; i < bodies->length_count; i++) {
        g->length[i] = tie_terms(system, link, bodies->length[i].first, bodies->length[i].count);
    }
    for (int k = 0; k < bodies->motor_count; k++) {
        g->motor[k] = tie_motor(system, link, &bodies->motor[k]);
    }
    for (int k = 0; k < bodies->dry_count; k++) {
        g->dry[k] = tie_terms(system, link, bodies->dry[k].first, bodies->dry[k].count);
    }
    for (int k = 0; k < bodies->lift_count; k++) {
        g->lift[k] = bodies->lift[k].body;
    }
    return subset_tie_formulas(g, link);
}

/* From bodies to the numbers of groups, by their first bodies. */
static void number_groups(subset_groups *g, int *link)
{
    const struct system_bodies *bodies = g->whole->bodies;
    int *const list[] = {g->constraint, g->length, g->motor, g->dry, g->lift};
    const int count[] = {bodies->constraint_count, bodies->length_count, bodies->motor_count,
                         bodies->dry_count, bodies->lift_count};
    g->body[0] = -1;
    partition_flatten(g->whole->tree->bodies, link);
    for (int i = 1; i < g->whole->tree->bodies; i++) {
        g->body[i] = link[i] == i ? g->count++ : g->body[link[i]];
    }
    for (int k = 0; k < 5; k++) {
        for (int i = 0; i < count[k]; i++) {
            list[k][i] = g->body[list[k][i]];
        }
    }
    g->formula = g->body[g->formula];
}

static double length_of(const double *v)
{
    return sqrt(model_dot(v, v));
}

/* The largest distance of the geoms of a body and its subtree from its origin, in the reference
 * pose: extent[bodies]. */
static void find_extents(const subset_groups *g, double *extent)
{
    const tree_mechanism *tree = g->whole->tree;
    const contact_world *world = g->whole->bodies->contact;
    for (int i = 1; i < tree->bodies; i++) {
        const tree_body *body = &tree->body[i];
        double spin = body->inertia[0] + body->inertia[1] + body->inertia[2];
        extent[i] = length_of(body->com) + (body->mass > 0 ? sqrt(spin / body->mass) : 0);
    }
    for (int k = 0; k < world->geom_count; k++) {
        const contact_geom *geom = &world->geom[k];
        if (isfinite(geom->radius)) {
            extent[geom->body] = fmax(extent[geom->body], length_of(geom->pos) + geom->radius);
        }
    }
    for (int i = tree->bodies - 1; i > 0; i--) {
        const tree_body *body = &tree->body[i];
        extent[body->parent] = fmax(extent[body->parent], length_of(body->pos) + extent[i]);
    }
}

static void find_reach(subset_groups *g, double *extent)
{
    const tree_mechanism *tree = g->whole->tree;
    find_extents(g, extent);
    for (int d = 0; d < tree->nv; d++) {
        const tree_joint *joint = &tree->joint[tree->dof_joint[d]];
        int shifts = joint->kind == TREE_SLIDE || (joint->kind == TREE_FREE && d < joint->v + 3);
        g->reach[d] = shifts ? 1 : extent[joint->body] + length_of(joint->anchor);
    }
}

static void lay_out_groups(subset_groups *g, base_arena *arena)
{
    const zw_system *system = g->whole;
    const struct system_bodies *bodies = system->bodies;
    size_t count = (size_t)system->tree->bodies, geoms = (size_t)bodies->contact->geom_count;
    g->body = base_arena_ints(arena, count);
    g->constraint = base_arena_ints(arena, (size_t)bodies->constraint_count);
    g->length = base_arena_ints(arena, (size_t)bodies->length_count);
    g->motor = base_arena_ints(arena, (size_t)bodies->motor_count);
    g->dry = base_arena_ints(arena, (size_t)bodies->dry_count);
    g->lift = base_arena_ints(arena, (size_t)bodies->lift_count);
    g->reach = base_arena_doubles(arena, (size_t)system->n);
    g->geom = base_arena_bytes(arena, (geoms + 1) * sizeof *g->geom);
    g->still = base_arena_bytes(arena, geoms + 1);
    g->asleep = base_arena_bytes(arena, geoms + 1);
    g->moving = base_arena_ints(arena, geoms + 1);
    g->match = base_arena_bytes(arena, CONTACT_FEW * CONTACT_FEW / 2 * sizeof *g->match);
    g->keep = base_arena_bytes(arena, count);
    g->to = base_arena_ints(arena, count);
    g->to_q = base_arena_ints(arena, (size_t)system->nq);
    g->to_v = base_arena_ints(arena, (size_t)system->n);
    g->to_length = base_arena_ints(arena, (size_t)bodies->length_count);
}

zw_status subset_groups_create(subset_groups *g, const zw_system *whole)
{
    size_t bodies = (size_t)whole->tree->bodies;
    const contact_world *world = whole->bodies->contact;
    int *link = base_alloc(bodies * sizeof *link);
    double *extent = base_alloc(bodies * sizeof *extent);
    base_arena arena = {0};
    *g = (subset_groups){.whole = whole};
    lay_out_groups(g, &arena);
    arena = (base_arena){.block = base_alloc(arena.used)};
    if (arena.block) {
        lay_out_groups(g, &arena);
    }
    if (link && extent && arena.block && tie_all(g, link)) {
        g->memory = arena.block;
        number_groups(g, link);
        find_reach(g, extent);
        memcpy(g->geom, world->geom, (size_t)world->geom_count * sizeof *g->geom);
        g->contact = *world;
        g->contact.geom = g->geom;
        g->contact.still = g->still;
        g->contact.asleep = g->asleep;
        g->contact.moving = g->moving;
        g->contact.crowd = NULL; /* it is for all geoms */
    } else {
        base_free(arena.block);
    }
    base_free(link);
    base_free(extent);
    return g->memory ? ZW_OK : ZW_NO_MEMORY;
}

void subset_groups_free(subset_groups *g)
{
    base_free(g->memory);
    *g = (subset_groups){0};
}

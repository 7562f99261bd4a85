/* Long chains in pieces: the same bodies in other coordinates, for steps whose cost is linear in
 * their number.
 *
 * In the coordinates of joints M couples every pair of joints on a path, and a contact has a column
 * for each joint between the body and the root: a chain of n joints with contacts has of the order
 * of n^2 numbers, and factors of n^3/3 products. In maximal coordinates both are linear in n, but
 * each link has 6 coordinates and 6 equations more. Between the two are pieces (bodies_cut.c): a
 * chain is cut wherever BODIES_PIECE speeds follow each other, and the halves of the body where it
 * is cut are welded together. With pieces of k speeds, M and the rows have of the order of n k
 * numbers, factors n k^2, and there are 6 n / k more coordinates and equations.
 *
 * The motion is the same: the weld is part of Gauss's principle as joints are. A state of the given
 * system determines that of the pieces: the joints are among their coordinates, and a piece begins
 * where its body is. In the other direction the coordinates of the joints are those of the given
 * system; what the equations of the welds leave, of the order of the solver's tolerance, is
 * dropped. So nothing drifts apart, and only the steps of method impulse know of it (step/chain).
 *
 * Muscles, whose ranges depend on the coordinates, joints that close loops, formulas, and bodies
 * that sleep are left as they are. */
#include <string.h>

#include "base/memory.h"
#include "model/pose.h"
#include "system/bodies/bodies_build.h"
#include "system/bodies/bodies_chain.h"
#include "tree/sweeps.h"

/* Speeds on the longest path. Steps of shorter chains cost less in the coordinates of the joints:
 * bench/growth. */
enum { LONG = 180 };

static int is_long(const zw_system *system, const zw_model *model)
{
    const tree_mechanism *tree = system->tree;
    const struct system_bodies *bodies = system->bodies;
    int longest = 0, plain = !bodies->formulas && bodies->sleep <= 0 && !model->imported &&
                             !model->bodies->world.maximal && !bodies_has_loops(model);
    for (int d = 0; d < tree->nv; d++) {
        longest = tree->depth[d] > longest ? tree->depth[d] : longest;
    }
    for (int k = 0; k < bodies->motor_count; k++) {
        plain &= !bodies->motor[k].excited;
    }
    return plain && longest > LONG;
}

/* ---- Where coordinates are ------------------------------------------------------------------- */

static void lay_out(bodies_chain *chain, const zw_system *system, int joints, base_arena *arena)
{
    chain->q = base_arena_ints(arena, (size_t)system->nq);
    chain->v = base_arena_ints(arena, (size_t)system->n);
    chain->part = base_arena_ints(arena, (size_t)joints);
    chain->at = base_arena_ints(arena, 2 * (size_t)joints);
}

/* First coordinates and speeds of all joints, by their numbers in the model. */
static void place_joints(const model_bodies *from, int *order, int *place)
{
    int q = 0, v = 0;
    model_joint_order(from, order);
    for (int k = 0; k < from->count[ZW_KIND_JOINT]; k++) {
        int j = order[k], kind = from->joint[j].kind;
        place[2 * j] = q;
        place[2 * j + 1] = v;
        q += model_joint_positions[kind];
        v += model_joint_speeds[kind];
    }
}

static void map_joints(bodies_chain *chain, const zw_system *system, const model_bodies *given,
                       const model_bodies *cut, const int *from, const int *to)
{
    int count = given->count[ZW_KIND_JOINT];
    for (int j = 0; j < count; j++) {
        int kind = given->joint[j].kind;
        for (int k = 0; k < model_joint_positions[kind]; k++) {
            chain->q[from[2 * j] + k] = to[2 * j] + k;
        }
        for (int k = 0; k < model_joint_speeds[kind]; k++) {
            chain->v[from[2 * j + 1] + k] = to[2 * j + 1] + k;
        }
    }
    for (int j = count; j < cut->count[ZW_KIND_JOINT]; j++) {
        chain->part[chain->count] = cut->joint[j].body;
        chain->at[2 * chain->count] = to[2 * j];
        chain->at[2 * chain->count++ + 1] = to[2 * j + 1];
    }
    for (int k = system->tree->moved; k < system->nq; k++) { /* poses that are prescribed */
        chain->q[k] = chain->system->nq - system->nq + k;
    }
}

/* Are all parameters and all constraints of the given system in the other one, in their order? */
static int is_same(bodies_chain *chain, const zw_system *system)
{
    const zw_model *a = system->model, *b = chain->system->model;
    int same = a->param_count == b->param_count &&
               system->bodies->act_count == chain->system->bodies->act_count &&
               b->constraint_count >= a->constraint_count;
    chain->before = b->constraint_count - a->constraint_count;
    for (int k = 0; same && k < a->param_count; k++) {
        same = strcmp(a->param[k].name, b->param[k].name) == 0;
    }
    for (int k = 0; same && k < a->constraint_count; k++) {
        same = strcmp(a->constraint[k].name, b->constraint[chain->before + k].name) == 0;
    }
    return same;
}

static zw_status map(bodies_chain *chain, const zw_system *system, const model_bodies *given,
                     const model_bodies *cut)
{
    base_arena arena = {0};
    int joints = cut->count[ZW_KIND_JOINT];
    int *scratch = base_alloc(5 * ((size_t)joints + 1) * sizeof *scratch);
    lay_out(chain, system, joints, &arena);
    chain->memory = base_alloc(arena.used);
    if (scratch && chain->memory) {
        arena = (base_arena){.block = chain->memory};
        lay_out(chain, system, joints, &arena);
        int *from = scratch + joints, *to = from + 2 * joints;
        place_joints(given, scratch, from);
        place_joints(cut, scratch, to);
        map_joints(chain, system, given, cut, from, to);
    }
    int good = scratch && chain->memory;
    base_free(scratch);
    return good ? ZW_OK : ZW_NO_MEMORY;
}

void bodies_chain_free(struct bodies_chain *chain)
{
    if (chain) {
        zw_system_free(chain->system);
        base_free(chain->memory);
        base_free(chain);
    }
}

zw_status bodies_find_chain(zw_system *system, const zw_model *model)
{
    zw_model *cut = NULL;
    zw_error ignored = {0};
    if (!is_long(system, model)) {
        return ZW_OK;
    }
    bodies_chain *chain = base_alloc(sizeof *chain);
    zw_status status = chain ? bodies_cut(model, BODIES_PIECES, &cut, &ignored) : ZW_NO_MEMORY;
    if (status == ZW_OK) {
        cut->impact = model->impact;
        chain->system = zw_system_compile(cut, NULL, &ignored);
        status = chain->system ? map(chain, system, model->bodies, cut->bodies) : ignored.status;
    }
    if (status == ZW_OK && is_same(chain, system)) {
        system->bodies->chain = chain;
    } else {
        bodies_chain_free(chain);
    }
    bodies_cut_free(cut);
    return status == ZW_NO_MEMORY ? status : ZW_OK;
}

/* ---- States ---------------------------------------------------------------------------------- */

/* Where a piece begins, and how it moves: q[7], v[6]. */
static void put_piece(const zw_system *system, int part, const double *sweeps, double *q, double *v)
{
    const bodies_frame *frame = &system->bodies->part[part].frame;
    double motion[6];
    tree_point(system->tree, frame->body, frame->pos, sweeps, q);
    tree_point_velocity(system->tree, frame->body, q, sweeps, motion);
    model_quat_multiply(q + 3, sweeps + system->tree->at.quat + 4 * frame->body, frame->quat);
    double back[4] = {q[3], -q[4], -q[5], -q[6]};
    memcpy(v, motion + 3, 3 * sizeof *v);
    model_rotate(back, motion, v + 3);
}

void bodies_chain_put(const zw_system *system, const double *q, const double *v, double *sweeps,
                      double *to_q, double *to_v)
{
    const bodies_chain *chain = system->bodies->chain;
    tree_kinematics(system->tree, q, sweeps);
    tree_velocities(system->tree, v, sweeps);
    for (int i = 0; i < system->nq; i++) {
        to_q[chain->q[i]] = q[i];
    }
    for (int i = 0; i < system->n; i++) {
        to_v[chain->v[i]] = v[i];
    }
    for (int k = 0; k < chain->count; k++) {
        const int *at = &chain->at[2 * k];
        put_piece(system, chain->part[k], sweeps, to_q + at[0], to_v + at[1]);
    }
    memcpy(to_v + chain->system->n, v + system->n, (size_t)system->carried * sizeof *to_v);
}

void bodies_chain_get(const zw_system *system, const double *from_q, const double *from_v,
                      double *q, double *v)
{
    const bodies_chain *chain = system->bodies->chain;
    for (int i = 0; i < system->nq; i++) {
        q[i] = from_q[chain->q[i]];
    }
    for (int i = 0; i < system->n; i++) {
        v[i] = from_v[chain->v[i]];
    }
    memcpy(v + system->n, from_v + chain->system->n, (size_t)system->carried * sizeof *v);
}

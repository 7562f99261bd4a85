/* The fingerprint of a system: a number that is the same for the same mechanics.
 *
 * It depends on the names of coordinates, parameters and constraints, the kinds of rows, the law,
 * and everything that determines the motion: for equations the formulas (not the values of
 * parameters, which are part of a state), for bodies the numbers of the tree and of all that acts
 * on it. It does not depend on initial values, the length of a run, plots or drawings.
 *
 * The hash of a formula is computed from those of its operands, whose ids are smaller: one pass
 * over the graph.
 */
#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "system/bodies/bodies.h"

#define ARRAY(x) sizeof(x) / sizeof *(x), x

static uint64_t hash_names(const zw_system *system, uint64_t hash)
{
    static const zw_kind kind[] = {ZW_KIND_COORD, ZW_KIND_SPEED, ZW_KIND_PARAM, ZW_KIND_CONSTRAINT,
                                   ZW_KIND_EVENT};
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
        int count = zw_count(system, kind[k]);
        hash = base_hash_word(hash, (uint64_t)count);
        for (int i = 0; i < count; i++) {
            hash = base_hash_text(hash, zw_name(system, kind[k], i));
        }
    }
    return hash;
}

static uint64_t hash_law(const zw_system *system, uint64_t hash)
{
    const system_law *law = &system->law;
    const double number[] = {law->alpha, law->beta, law->flex};
    const int count[] = {(int)system->given.kind, law->carried, system->m, system->n, system->nq};
    hash = base_hash_numbers(hash, ARRAY(number));
    hash = base_hash_ints(hash, ARRAY(count));
    for (int r = 0; r < system->m; r++) {
        hash = base_hash_word(hash, (uint64_t)system->row_kind[r]);
    }
    return hash;
}

/* ---- Equations ------------------------------------------------------------------------------ */

/* The graph orders the operands of these by when they first occurred. */
static int is_commutative(int op)
{
    return op == EXPR_ADD || op == EXPR_MUL || op == EXPR_MIN || op == EXPR_MAX ||
           op == EXPR_EQUAL || op == EXPR_AND || op == EXPR_OR || op == EXPR_HYPOT;
}

static uint64_t hash_node(const expr_node *node, const uint64_t *known)
{
    uint64_t part[3], hash = base_hash_word(BASE_HASH_START, node->op);
    hash = base_hash_word(hash, (uint64_t)(int64_t)node->index);
    hash = base_hash_word(hash, node->op == EXPR_CONST ? base_hash_bits(node->value) : 0);
    for (int k = 0; k < 3; k++) {
        part[k] = node->operand[k] >= 0 ? known[node->operand[k]] : 0;
    }
    int turned = is_commutative(node->op) && part[0] > part[1];
    hash = base_hash_word(hash, part[turned]);
    hash = base_hash_word(hash, part[!turned]);
    return base_hash_word(hash, part[2]);
}

static uint64_t hash_events(const zw_model *model, const uint64_t *known, uint64_t hash)
{
    for (int e = 0; e < model->event_count; e++) {
        const model_event *event = &model->event[e];
        const int shape[] = {event->direction + 2 * event->condition, event->stops,
                             event->reset_count};
        hash = base_hash_word(base_hash_ints(hash, ARRAY(shape)), known[event->root]);
        for (int k = 0; k < event->reset_count; k++) {
            const model_reset *set = &event->reset[k];
            const int target[] = {(int)set->kind, set->index};
            hash = base_hash_word(base_hash_ints(hash, ARRAY(target)), known[set->value]);
        }
    }
    return hash;
}

static zw_status hash_formulas(const zw_system *system, uint64_t *hash, zw_error *error)
{
    const zw_model *model = system->model;
    int count = expr_graph_count(model->graph);
    uint64_t *known = base_alloc(((size_t)count + 1) * sizeof *known);
    if (!known) {
        return base_no_memory(error);
    }
    for (int id = 0; id < count; id++) {
        known[id] = hash_node(expr_graph_node(model->graph, id), known);
    }
    for (int part = 0; part < PART_COUNT; part++) {
        const system_tape *tape = &system->tape[part];
        for (int i = 0; i < tape->count && part != PART_OUTPUTS; i++) {
            *hash = base_hash_word(*hash, known[tape->out[i]]);
        }
    }
    for (int c = 0; c < model->constraint_count; c++) {
        expr_id bounce = model->constraint[c].restitution;
        *hash = base_hash_word(*hash, bounce == EXPR_NONE ? 0 : known[bounce]);
    }
    *hash = hash_events(model, known, *hash);
    base_free(known);
    return ZW_OK;
}

/* ---- Bodies --------------------------------------------------------------------------------- */

static uint64_t hash_tree(const tree_mechanism *tree, uint64_t hash)
{
    hash = base_hash_numbers(hash, ARRAY(tree->gravity));
    for (int i = 1; i < tree->bodies; i++) {
        const tree_body *body = &tree->body[i];
        const int place[] = {body->parent, body->joint, body->joint_end};
        hash = base_hash_ints(hash, ARRAY(place));
        hash = base_hash_numbers(hash, ARRAY(body->pos));
        hash = base_hash_numbers(hash, ARRAY(body->quat));
        hash = base_hash_numbers(hash, ARRAY(body->com));
        hash = base_hash_numbers(hash, ARRAY(body->inertia));
        hash = base_hash_numbers(hash, 1, &body->mass);
    }
    for (int j = 0; j < tree->joints; j++) {
        const tree_joint *joint = &tree->joint[j];
        const double number[] = {joint->rest, joint->stiffness};
        hash = base_hash_word(hash, (uint64_t)joint->kind);
        hash = base_hash_numbers(hash, ARRAY(joint->axis));
        hash = base_hash_numbers(hash, ARRAY(joint->anchor));
        hash = base_hash_numbers(hash, ARRAY(number));
    }
    hash = base_hash_numbers(hash, (size_t)tree->nv, tree->armature);
    hash = base_hash_numbers(hash, (size_t)tree->nv, tree->damping);
    return base_hash_numbers(hash, (size_t)tree->nq, tree->q_spring);
}

static uint64_t hash_frame(const bodies_frame *frame, uint64_t hash)
{
    hash = base_hash_ints(hash, 1, &frame->body);
    hash = base_hash_numbers(hash, ARRAY(frame->pos));
    return base_hash_numbers(hash, ARRAY(frame->quat));
}

static uint64_t hash_muscle(const bodies_muscle *muscle, uint64_t hash)
{
    const double all[] = {muscle->start, muscle->by_length, muscle->by_rate, muscle->peak,
                          muscle->least, muscle->most,      muscle->passive, muscle->eccentric};
    return base_hash_numbers(hash, ARRAY(all));
}

static uint64_t hash_motor(const bodies_motor *motor, uint64_t hash)
{
    const int whole[] = {(int)motor->kind,     motor->length,      motor->q,
                         motor->dof,           motor->in_parent,   motor->param,
                         motor->clamp_control, motor->clamp_force, motor->gain_law,
                         motor->bias_law};
    hash = hash_frame(&motor->frame, base_hash_ints(hash, ARRAY(whole)));
    hash = base_hash_numbers(hash, ARRAY(motor->gear));
    hash = base_hash_numbers(hash, ARRAY(motor->control));
    hash = base_hash_numbers(hash, ARRAY(motor->force));
    hash = base_hash_numbers(hash, ARRAY(motor->gain));
    if (motor->gain_law == ZW_ACTUATOR_MUSCLE || motor->bias_law == ZW_ACTUATOR_MUSCLE) {
        hash = hash_muscle(&motor->slack, hash_muscle(&motor->active, hash));
    }
    if (motor->rod > 0) {
        hash = hash_frame(&motor->ref, base_hash_numbers(hash, 1, &motor->rod));
    }
    if (motor->excited) {
        hash = base_hash_numbers(hash, ARRAY(motor->tau));
    }
    return base_hash_numbers(hash, ARRAY(motor->bias));
}

static uint64_t hash_constraint(const bodies_constraint *constraint, uint64_t hash)
{
    const int whole[] = {(int)constraint->kind, constraint->length[0], constraint->length[1],
                         constraint->q, constraint->dof};
    hash = base_hash_ints(hash, ARRAY(whole));
    hash = hash_frame(&constraint->frame[1], hash_frame(&constraint->frame[0], hash));
    hash = base_hash_numbers(hash, ARRAY(constraint->poly));
    return base_hash_numbers(hash, 1, &constraint->limit);
}

static uint64_t hash_lengths(const struct system_bodies *bodies, uint64_t hash)
{
    for (int k = 0; k < bodies->term_count; k++) {
        const int place[] = {bodies->term[k].q, bodies->term[k].dof};
        hash = base_hash_ints(hash, ARRAY(place));
        hash = base_hash_numbers(hash, 1, &bodies->term[k].coef);
    }
    for (int k = 0; k < bodies->length_count; k++) {
        const bodies_length *length = &bodies->length[k];
        const int whole[] = {length->first, length->count, length->force_limited, length->lifts};
        const double number[] = {length->origin, length->stiffness, length->damping};
        hash = base_hash_numbers(base_hash_ints(hash, ARRAY(whole)), ARRAY(number));
        hash = base_hash_numbers(hash, ARRAY(length->force_range));
        hash = base_hash_numbers(hash, ARRAY(length->rest));
    }
    for (int k = 0; k < bodies->stop_count; k++) {
        const bodies_stop *stop = &bodies->stop[k];
        const int whole[] = {(int)stop->kind, stop->begins, stop->has_side};
        const double number[] = {stop->divisor, stop->radius};
        hash = base_hash_numbers(base_hash_ints(hash, ARRAY(whole)), ARRAY(number));
        hash = hash_frame(&stop->side, hash_frame(&stop->frame, hash));
    }
    return hash;
}

static uint64_t hash_bodies(const zw_system *system, uint64_t hash)
{
    const struct system_bodies *bodies = system->bodies;
    hash = hash_lengths(bodies, hash_tree(system->tree, hash));
    for (int k = 0; k < bodies->constraint_count; k++) {
        hash = hash_constraint(&bodies->constraint[k], hash);
    }
    for (int k = 0; k < bodies->dry_count; k++) {
        const int place[] = {bodies->dry[k].first, bodies->dry[k].count};
        hash = base_hash_ints(hash, ARRAY(place));
        hash = base_hash_numbers(hash, 1, &bodies->dry[k].limit);
    }
    for (int k = 0; k < bodies->motor_count; k++) {
        hash = hash_motor(&bodies->motor[k], hash);
    }
    for (int k = 0; k < bodies->fluid_count; k++) {
        const bodies_fluid *fluid = &bodies->fluid[k];
        const double around[] = {bodies->density, bodies->viscosity, bodies->wind[0],
                                 bodies->wind[1], bodies->wind[2]};
        hash = hash_frame(&fluid->frame, base_hash_ints(hash, 1, &fluid->ellipsoid));
        hash = base_hash_numbers(hash, ARRAY(fluid->size));
        hash = base_hash_numbers(hash, ARRAY(fluid->coef));
        hash = base_hash_numbers(hash, ARRAY(around));
    }
    for (int k = 0; k < bodies->lift_count; k++) {
        hash = base_hash_ints(hash, 1, &bodies->lift[k].body);
        hash = base_hash_numbers(hash, ARRAY(bodies->lift[k].pos));
        hash = base_hash_numbers(hash, ARRAY(bodies->lift[k].force));
    }
    return hash;
}

zw_status system_take_fingerprint(zw_system *system, zw_error *error)
{
    zw_status status = ZW_OK;
    uint64_t hash = hash_law(system, hash_names(system, BASE_HASH_START));
    if (system->tree) {
        hash = hash_bodies(system, hash);
    } else {
        status = hash_formulas(system, &hash, error);
    }
    system->fingerprint = hash;
    return status;
}

/* From the definitions of bodies to a system: the tree, and the calls of the other files. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "model/pose.h"
#include "system/bodies/bodies_build.h"
#include "system/contact/contacts.h"
#include "tree/sweeps.h"

int bodies_without(const bodies_builder *b, int what)
{
    return (b->from->world.without & what) != 0;
}

/* ---- The tree ------------------------------------------------------------------------------- */

static tree_joint_def joint_of(const bodies_builder *b, const zw_joint_def *from)
{
    static const tree_joint_kind kind[] = {TREE_FREE, TREE_BALL, TREE_SLIDE, TREE_HINGE};
    tree_joint_def joint = tree_joint_default(kind[from->kind]);
    memcpy(joint.axis, from->axis, sizeof joint.axis);
    memcpy(joint.anchor, from->pos, sizeof joint.anchor);
    joint.rest = from->ref;
    joint.armature = from->armature;
    joint.damping = bodies_without(b, ZW_WITHOUT_DAMPER) ? 0 : from->damping;
    joint.stiffness = bodies_without(b, ZW_WITHOUT_SPRING) ? 0 : from->stiffness;
    joint.spring = from->springref;
    return joint;
}

static void body_of(const bodies_builder *b, int i, tree_body_def *body)
{
    const zw_body_def *from = &b->from->body[i];
    *body = tree_body_default(i == 0 ? -1 : from->parent);
    memcpy(body->pos, from->pos, sizeof body->pos);
    memcpy(body->quat, from->quat, sizeof body->quat);
    body->is_placed = from->mocap;
    if (from->mocap) {
        return; /* the world does not move: its mass does not matter */
    }
    body->mass = b->inertia[i].mass;
    memcpy(body->com, b->inertia[i].com, sizeof body->com);
    model_principal_matrix(b->inertia[i].quat, b->inertia[i].moment, body->inertia);
}

/* Model and tree have the same order of bodies: both only require that parents come first. */
static zw_status make_tree(bodies_builder *b, zw_error *error)
{
    int joints = b->from->count[ZW_KIND_JOINT], bodies = b->from->count[ZW_KIND_BODY];
    model_joint_order(b->from, b->order);
    for (int i = 0; i < bodies; i++) {
        body_of(b, i, &b->body[i]);
    }
    int q = 0, dof = 0;
    for (int k = 0; k < joints; k++) {
        int j = b->order[k], kind = b->from->joint[j].kind;
        b->body[b->from->joint[j].body].joint_count++;
        b->joint[k] = joint_of(b, &b->from->joint[j]);
        b->joint_q[j] = q;
        b->joint_dof[j] = dof;
        q += model_joint_positions[kind];
        dof += model_joint_speeds[kind];
    }
    tree_def def = {
        .body_count = bodies, .body = b->body, .joint_count = joints, .joint = b->joint};
    if (!bodies_without(b, ZW_WITHOUT_GRAVITY)) {
        memcpy(def.gravity, b->from->world.gravity, sizeof def.gravity);
    }
    zw_error failure = {0};
    zw_status status = tree_fuse(&def, &b->fused, &failure);
    if (status == ZW_OK) {
        b->system->tree = tree_create(&b->fused.def, &failure);
        status = b->system->tree ? ZW_OK : failure.status;
    }
    if (status != ZW_OK && error) {
        *error = failure;
    }
    return status;
}

/* ---- The start ------------------------------------------------------------------------------ */

/* Index of the quaternion of a joint in q; -1: it has none. */
static int quaternion_at(const bodies_builder *b, int joint)
{
    int kind = b->from->joint[joint].kind;
    return b->joint_q[joint] < 0   ? -1
           : kind == ZW_JOINT_FREE ? b->joint_q[joint] + 3
           : kind == ZW_JOINT_BALL ? b->joint_q[joint]
                                   : -1;
}

/* Quaternions are normalised; one of zeros means no rotation, as in MuJoCo. */
void bodies_key_pose(const bodies_builder *b, const zw_key_def *key, double *q)
{
    memcpy(q, key->qpos, (size_t)key->qpos_count * sizeof *q);
    for (int j = 0; j < b->from->count[ZW_KIND_JOINT]; j++) {
        int at = quaternion_at(b, j);
        if (at >= 0 && !model_quat_unit(&q[at])) {
            q[at] = 1;
        }
    }
}

zw_status bodies_check_key(const bodies_builder *b, const zw_key_def *key, zw_error *error)
{
    const char *const word[] = {"qpos", "qvel", "ctrl", "mocap pose"};
    const double *const list[] = {key->qpos, key->qvel, key->ctrl, key->mocap};
    const int count[] = {key->qpos_count, key->qvel_count, key->ctrl_count, key->mocap_count};
    const int moved = b->system->tree->moved;
    const int wanted[] = {moved, b->system->n, b->from->count[ZW_KIND_ACTUATOR],
                          b->system->nq - moved};
    for (int i = 0; i < 4; i++) {
        if (list[i] && count[i] != wanted[i]) {
            return model_fail(b->model, error, ZW_BAD_INPUT, key->place,
                              "key '%.60s': its %s has %d numbers; this model has %d",
                              key->name ? key->name : "", word[i], count[i], wanted[i]);
        }
    }
    return ZW_OK;
}

/* The reference pose, at rest, overridden by the keyframe. */
static zw_status make_start(bodies_builder *b, zw_error *error)
{
    const zw_system *system = b->system;
    struct system_bodies *to = b->to;
    const zw_key_def *from = NULL;
    for (int i = 0; i < b->from->count[ZW_KIND_KEY]; i++) {
        from = b->from->key[i].start ? &b->from->key[i] : from;
    }
    to->q = base_alloc(((size_t)system->nq + 1) * sizeof *to->q);
    to->v = base_alloc(((size_t)system->n + 1) * sizeof *to->v);
    to->act = base_alloc(((size_t)to->act_count + 1) * sizeof *to->act);
    if (!to->q || !to->v || !to->act) {
        return base_no_memory(error);
    }
    if (from && bodies_check_key(b, from, error) != ZW_OK) {
        return ZW_BAD_INPUT;
    }
    if (from && from->act && from->act_count == to->act_count) { /* motors may be off */
        memcpy(to->act, from->act, (size_t)to->act_count * sizeof *to->act);
    }
    memcpy(to->q, system->tree->q_rest, (size_t)system->nq * sizeof *to->q);
    if (from && from->qpos) {
        bodies_key_pose(b, from, to->q);
    }
    if (from && from->mocap) {
        memcpy(to->q + system->tree->moved, from->mocap, (size_t)from->mocap_count * sizeof *to->q);
        system_normalise(system, to->q);
    }
    if (from && from->qvel) {
        memcpy(to->v, from->qvel, (size_t)from->qvel_count * sizeof *to->v);
    }
    for (int k = 0; k < to->motor_count; k++) {
        const zw_actuator_def *actuator = &b->from->actuator[k];
        double given = from && from->ctrl ? from->ctrl[k] : 0;
        to->shown->param[to->motor[k].param].value = actuator->ctrl_given ? actuator->ctrl : given;
    }
    for (int k = 0; to->formulas && k < to->formulas->begin_count; k++) {
        if (to->formulas->begin[k].is_speed) {
            to->shown->coord[to->formulas->begin[k].at].speed = EXPR_ZERO;
        }
    }
    for (int i = 0; i < system->n && from && from->qvel; i++) {
        if (i < to->shown->coord_count) { /* given speeds are fixed in assembly */
            to->shown->coord[i].speed = EXPR_ZERO;
        }
    }
    return ZW_OK;
}

/* ---- Rate of damping------------------------------------------------------------------------ */

/* Adds the damping of tendons and motors to that of each dof. `slow[lengths]` is scratch: one pass
 * over motors, one over terms. */
static void add_damping(const struct system_bodies *to, double *slow, double *damping)
{
    for (int i = 0; i < to->length_count; i++) {
        slow[i] = to->length[i].damping;
    }
    for (int k = 0; k < to->motor_count; k++) {
        const bodies_motor *motor = &to->motor[k];
        double square = motor->gear[0] * motor->gear[0];
        if (motor->kind == MOTOR_LENGTH && motor->bias_law == ZW_ACTUATOR_AFFINE) {
            slow[motor->length] -= square * motor->bias[2];
        }
        if (motor->kind == MOTOR_LENGTH && motor->gain_law == ZW_ACTUATOR_MUSCLE) {
            slow[motor->length] += square * 2 * motor->active.peak * motor->active.by_rate;
        }
    }
    for (int i = 0; i < to->length_count; i++) {
        const bodies_term *term = to->term + to->length[i].first;
        for (int k = 0; k < to->length[i].count; k++) {
            damping[term[k].dof] += term[k].coef * term[k].coef * slow[i];
        }
    }
}

/* The inertia of body X along a joint, all other joints fixed. */
static double joint_inertia(const zw_inertia *X, const zw_joint_def *joint)
{
    double I[6], r[3], lever[3], sum;
    const double *a = joint->axis;
    if (joint->kind != ZW_JOINT_HINGE) {
        return joint->kind == ZW_JOINT_SLIDE ? X->mass
                                             : fmin(fmin(X->moment[0], X->moment[1]), X->moment[2]);
    }
    for (int k = 0; k < 3; k++) {
        r[k] = X->com[k] - joint->pos[k];
    }
    model_cross(lever, a, r);
    model_principal_matrix(X->quat, X->moment, I);
    sum = a[0] * (I[0] * a[0] + 2 * I[3] * a[1]) + a[1] * (I[1] * a[1] + 2 * I[5] * a[2]) +
          a[2] * (I[2] * a[2] + 2 * I[4] * a[0]);
    return sum + X->mass * model_dot(lever, lever);
}

/* The joints of copies (bodies_cut.c) get the inertia of the original bodies; weld_of[bodies] is
 * scratch. */
static void put_joint_inertias(const bodies_builder *b, int *weld_of, double *diagonal)
{
    for (int i = 0; i < b->from->count[ZW_KIND_EQUALITY]; i++) {
        const zw_equality_def *weld = &b->from->equality[i];
        if (weld->active == BODIES_CUT) {
            weld_of[weld->first] = i + 1;
        }
    }
    for (int j = 0; j < b->from->count[ZW_KIND_JOINT]; j++) {
        const zw_joint_def *joint = &b->from->joint[j];
        int weld = weld_of[joint->body];
        for (int k = 0; k < model_joint_speeds[joint->kind] && weld > 0; k++) {
            const zw_inertia *copied = &b->inertia[b->from->equality[weld - 1].second];
            diagonal[b->joint_dof[j] + k] = joint_inertia(copied, joint);
        }
    }
}

/* The largest rate of damping: damping over the effective (articulated) inertia at a joint. */
static zw_status find_damping_rate(bodies_builder *b, zw_error *error)
{
    const tree_mechanism *tree = b->system->tree;
    const double *pivot = b->sweeps + tree->at.pivot;
    size_t n = (size_t)tree->nv, bodies = (size_t)b->from->count[ZW_KIND_BODY];
    double *diagonal = base_alloc((2 * n + (size_t)b->to->length_count + 1) * sizeof *diagonal);
    int *weld_of = base_alloc((bodies + 1) * sizeof *weld_of), bad = 0;
    if (!diagonal || !weld_of) {
        base_free(diagonal);
        base_free(weld_of);
        return base_no_memory(error);
    }
    for (int k = 0; k < b->to->motor_count; k++) {
        b->to->damping_rate = fmax(b->to->damping_rate, b->to->motor[k].filter);
    }
    put_joint_inertias(b, weld_of, diagonal);
    tree_articulate(tree, diagonal, b->sweeps, &bad);
    double *damping = diagonal + n;
    memcpy(damping, tree->damping, n * sizeof *damping);
    add_damping(b->to, damping + n, damping);
    for (int d = 0; d < tree->nv && !bad; d++) {
        b->to->damping_rate = fmax(b->to->damping_rate, damping[d] * pivot[d]);
    }
    base_free(diagonal);
    base_free(weld_of);
    return ZW_OK;
}

/* ---- Compilation ---------------------------------------------------------------------------- */

static zw_status start(bodies_builder *b, zw_error *error)
{
    size_t joints = (size_t)b->from->count[ZW_KIND_JOINT] + 1;
    size_t bodies = (size_t)b->from->count[ZW_KIND_BODY];
    struct system_bodies *to = b->system->bodies = b->to = base_alloc(sizeof *b->to);
    b->body = base_alloc(bodies * sizeof *b->body);
    b->joint = base_alloc(joints * sizeof *b->joint);
    b->order = base_alloc(joints * sizeof(int));
    b->joint_q = base_alloc(joints * sizeof(int));
    b->joint_dof = base_alloc(joints * sizeof(int));
    b->joint_rank = base_alloc(joints * sizeof(int));
    int *many = base_alloc(bodies * sizeof(int));
    for (int j = 0; j < b->from->count[ZW_KIND_JOINT] && b->joint_rank && many; j++) {
        b->joint_rank[j] = many[b->from->joint[j].body]++;
    }
    int counted = many != NULL;
    base_free(many);
    b->inertia = base_alloc(bodies * sizeof *b->inertia);
    if (!to || !b->body || !b->joint || !b->order || !b->joint_q || !b->joint_dof || !b->inertia ||
        !b->joint_rank || !counted || !(to->shown = model_create())) {
        return base_no_memory(error);
    }
    to->shown->file_count = b->model->file_count; /* places refer to the files of the given model */
    to->shown->file = b->model->file;
    to->shown->place_count = b->model->place_count;
    to->shown->place = b->model->place;
    to->shown->run = b->model->run;
    to->shown->run.method = NULL;
    return b->cut ? model_weigh(b->cut, b->inertia, error)
                  : zw_model_inertia(b->model, b->inertia, error);
}

/* Allocates arrays that depend on the size of the tree, and computes the reference pose. */
static zw_status prepare(bodies_builder *b, zw_error *error)
{
    zw_system *system = b->system;
    system->n = system->tree->nv;
    system->nq = system->tree->nq;
    system->m = 0;
    b->to->timestep = b->from->world.timestep;
    b->to->without = b->from->world.without;
    b->to->elliptic = b->from->world.elliptic;
    b->to->integrator = b->from->world.integrator;
    b->to->impratio = b->from->world.impratio;
    int sleeps = b->from->world.sleep && system->tree->moved == system->nq;
    for (int i = 0; i < b->from->count[ZW_KIND_TENDON]; i++) {
        sleeps &=
            b->from->tendon[i].stop_count == 0; /* spatial tendons are not split into islands */
    }
    for (int i = 0; i < b->from->count[ZW_KIND_ACTUATOR]; i++) {
        sleeps &= b->from->actuator[i].drive != ZW_DRIVE_BODY; /* adhesion */
    }
    b->to->sleep =
        sleeps ? b->from->world.sleep_tolerance : 0; /* mocap bodies would wake all islands */
    b->to->speed = base_alloc(((size_t)system->n + 1) * sizeof *b->to->speed);
    b->sweeps = tree_work_create(system->tree, 1);
    b->mark = base_alloc((2 * (size_t)system->n + 1) * sizeof(int));
    if (!b->to->speed || !b->sweeps || !b->mark) {
        return base_no_memory(error);
    }
    for (int i = 0; i < system->tree->bodies; i++) {
        int chain = tree_chain(system->tree, i, NULL);
        b->to->widest = chain > b->to->widest ? chain : b->to->widest;
    }
    tree_kinematics(system->tree, system->tree->q_rest, b->sweeps);
    return ZW_OK;
}

zw_status bodies_open(bodies_builder *b, zw_error *error)
{
    zw_status status = start(b, error);
    status = status != ZW_OK ? status : make_tree(b, error);
    return status != ZW_OK ? status : prepare(b, error);
}

void bodies_close(bodies_builder *b)
{
    void *scratch[] = {b->body,    b->joint,  b->order, b->joint_q,   b->joint_dof,
                       b->inertia, b->sweeps, b->mark,  b->joint_rank};
    for (size_t i = 0; i < sizeof scratch / sizeof *scratch; i++) {
        base_free(scratch[i]);
    }
    tree_fused_free(&b->fused);
}

static zw_status build(bodies_builder *b, zw_error *error)
{
    static zw_status (*const stage[])(bodies_builder *, zw_error *) = {
        bodies_open,           bodies_make_formulas,    bodies_name_coordinates,
        bodies_make_parts,     bodies_make_constraints, bodies_make_drives,
        bodies_make_fluid,     bodies_make_contacts,    bodies_make_sensors,
        bodies_make_rays,      find_damping_rate,       make_start,
        bodies_formula_events, bodies_make_pictures,    bodies_make_patterns};
    zw_status status = ZW_OK;
    if (b->system->given.kind != MODEL_LAW_NONHOLONOMIC) {
        return base_fail(error, ZW_BAD_INPUT,
                         "bodies follow the nonholonomic law; the others are for equations");
    }
    for (size_t i = 0; i < sizeof stage / sizeof *stage && status == ZW_OK; i++) {
        status = stage[i](b, error);
    }
    return status;
}

zw_status bodies_compile(zw_system *system, const zw_model *model, zw_error *error)
{
    int maximal = model->bodies->world.maximal, is_cut = maximal || bodies_has_loops(model);
    zw_model *cut = NULL;
    if (is_cut && model->imported) {
        return base_fail(error, ZW_BAD_INPUT, "formulas over a robot are not supported yet %s",
                         maximal ? "in maximal coordinates" : "where its joints close loops");
    }
    zw_status status =
        is_cut ? bodies_cut(model, maximal ? BODIES_MAXIMAL : BODIES_LOOPS, &cut, error) : ZW_OK;
    if (status == ZW_OK && maximal) {
        status = bodies_cut_start(model, cut, error);
    }
    bodies_builder b = {.system = system,
                        .model = model,
                        .from = cut ? cut->bodies : model->bodies,
                        .drawn = model->bodies,
                        .cut = cut};
    status = status == ZW_OK ? bodies_find_reach(&b, error) : status;
    if (status == ZW_OK) {
        status = build(&b, error);
        bodies_close(&b);
    }
    base_free(b.reach);
    bodies_cut_free(cut);
    if (system->bodies && system->bodies->shown) {
        system->model = system->bodies->shown;
        if (zw_model_count(model, ZW_KIND_GEOM) > 0) {
            system->bodies->missing_mesh = model->bodies->missing_mesh;
        }
    }
    status = status == ZW_OK ? bodies_find_chain(system, model) : status;
    if (status == ZW_NO_MEMORY) {
        base_no_memory(error);
    }
    return status;
}

void bodies_free(struct system_bodies *bodies)
{
    if (!bodies) {
        return;
    }
    for (int c = 0; c < bodies->constraint_count; c++) {
        base_free(bodies->constraint[c].column[0]);
        base_free(bodies->constraint[c].column[1]);
    }
    char **names[] = {bodies->speed, bodies->part_name, bodies->joint_name, bodies->reading_name};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        for (int i = 0; names[k] && names[k][i]; i++) { /* NULL-terminated */
            base_free(names[k][i]);
        }
        base_free(names[k]);
    }
    if (bodies->shown) {
        bodies->shown->file_count = bodies->shown->place_count = 0; /* not owned */
        bodies->shown->file = NULL;
        bodies->shown->place = NULL;
        zw_model_free(bodies->shown);
    }
    contact_world_free(bodies->contact);
    void *list[] = {bodies->coef,        bodies->path,  bodies->stop,   bodies->q,
                    bodies->v,           bodies->term,  bodies->length, bodies->constraint,
                    bodies->dry,         bodies->motor, bodies->lift,   bodies->mark,
                    bodies->mark_output, bodies->entry, bodies->part,   bodies->thin,
                    bodies->sensor,      bodies->extra, bodies->act,    bodies->act_motor,
                    bodies->joint,       bodies->fluid};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        base_free(list[i]);
    }
    bodies_rays_free(bodies->rays);
    bodies_formulas_free(bodies->formulas);
    bodies_chain_free(bodies->chain);
    base_free(bodies);
}

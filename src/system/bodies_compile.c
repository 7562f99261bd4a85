/* From the description of bodies to a tree, its closers and its motors. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "model/bodies.h"
#include "system/bodies.h"
#include "tree/fuse.h"
#include "tree/sweeps.h"

enum { NAME = 300 };

/* What is gathered while compiling. */
typedef struct builder {
    zw_system *system;
    const zw_model *model;
    const model_bodies *from;
    struct system_bodies *to;
    tree_fused fused;
    tree_body_def *body;
    tree_joint_def *joint;
    int *order;     /* [joints] in the order of the coordinates */
    int *joint_q;   /* [joints of the model] first coordinate */
    int *joint_dof; /* and first speed */
    zw_inertia *inertia;
    double *sweeps;
    int *mark; /* [n] columns of a row */
} builder;

static zw_status no_memory(zw_error *error)
{
    return base_fail(error, ZW_NO_MEMORY, "%s", zw_status_text(ZW_NO_MEMORY));
}

static zw_status refuse(const builder *b, int place, const char *what, const char *name,
                        zw_error *error)
{
    return model_fail(b->model, error, ZW_BAD_INPUT, place, "%s%s%s is not built in yet", what,
                      name ? " of " : "", name ? name : "");
}

/* ---- The tree ------------------------------------------------------------------------------- */

static tree_joint_def joint_of(const zw_joint_def *from)
{
    static const tree_joint_kind kind[] = {TREE_FREE, TREE_BALL, TREE_SLIDE, TREE_HINGE};
    tree_joint_def joint = tree_joint_default(kind[from->kind]);
    memcpy(joint.axis, from->axis, sizeof joint.axis);
    memcpy(joint.anchor, from->pos, sizeof joint.anchor);
    joint.rest = from->ref;
    joint.armature = from->armature;
    joint.damping = from->damping;
    joint.stiffness = from->stiffness;
    joint.spring = from->springref;
    return joint;
}

static void body_of(const builder *b, int i, tree_body_def *body)
{
    const zw_body_def *from = &b->from->body[i];
    *body = tree_body_default(i == 0 ? -1 : from->parent);
    memcpy(body->pos, from->pos, sizeof body->pos);
    memcpy(body->quat, from->quat, sizeof body->quat);
    body->mass = b->inertia[i].mass;
    memcpy(body->com, b->inertia[i].com, sizeof body->com);
    model_principal_matrix(b->inertia[i].quat, b->inertia[i].moment, body->inertia);
    for (int j = 0; j < b->from->count[ZW_THING_JOINT]; j++) {
        body->joint_count += b->from->joint[j].body == i;
    }
}

/* The tree wants its bodies so that those of a subtree follow each other as the model has them:
 * parents first is all that both ask for. */
static zw_status make_tree(builder *b, zw_error *error)
{
    int joints = b->from->count[ZW_THING_JOINT], bodies = b->from->count[ZW_THING_BODY];
    model_joint_order(b->from, b->order);
    for (int i = 0; i < bodies; i++) {
        body_of(b, i, &b->body[i]);
    }
    int q = 0, dof = 0;
    for (int k = 0; k < joints; k++) {
        int j = b->order[k], kind = b->from->joint[j].kind;
        b->joint[k] = joint_of(&b->from->joint[j]);
        b->joint_q[j] = q;
        b->joint_dof[j] = dof;
        q += model_joint_positions[kind];
        dof += model_joint_speeds[kind];
    }
    tree_def def = {
        .body_count = bodies, .body = b->body, .joint_count = joints, .joint = b->joint};
    if (!(b->from->world.without & ZW_WITHOUT_GRAVITY)) {
        memcpy(def.gravity, b->from->world.gravity, sizeof def.gravity);
    }
    zw_status status = tree_fuse(&def, &b->fused, error);
    if (status == ZW_OK) {
        b->system->tree = tree_create(&b->fused.def, error);
        status = b->system->tree ? ZW_OK : error ? error->status : ZW_NO_MEMORY;
    }
    return status;
}

/* ---- Names ---------------------------------------------------------------------------------- */

static char *copy(const char *text)
{
    return model_text_copy(text, strlen(text));
}

/* "elbow"; or "base.x", "base.qw" for the parts of a joint. */
static void coordinate_name(const builder *b, int j, int part, int speed, char *name)
{
    static const char *const free_q[] = {"x", "y", "z", "qw", "qx", "qy", "qz"};
    static const char *const free_v[] = {"vx", "vy", "vz", "wx", "wy", "wz"};
    const zw_joint_def *joint = &b->from->joint[j];
    char base[200];
    if (joint->name) {
        snprintf(base, sizeof base, "%.199s", joint->name);
    } else if (b->from->body[joint->body].name) {
        snprintf(base, sizeof base, "%.150s.joint", b->from->body[joint->body].name);
    } else {
        snprintf(base, sizeof base, "joint%d", j);
    }
    int skip = joint->kind == ZW_JOINT_BALL ? 3 : 0;
    if (joint->kind == ZW_JOINT_FREE || joint->kind == ZW_JOINT_BALL) {
        snprintf(name, NAME, "%s.%s", base, (speed ? free_v : free_q)[skip + part]);
    } else {
        snprintf(name, NAME, speed ? "%s'" : "%s", base);
    }
}

static zw_status name_coordinates(builder *b, zw_error *error)
{
    zw_model *shown = b->to->shown;
    char name[NAME];
    int dof = 0;
    for (int k = 0; k < b->from->count[ZW_THING_JOINT]; k++) {
        int j = b->order[k], kind = b->from->joint[j].kind;
        for (int part = 0; part < model_joint_positions[kind]; part++) {
            model_coord *coord = model_add_coord(shown);
            coordinate_name(b, j, part, 0, name);
            if (!coord || !(coord->name = copy(name))) {
                return no_memory(error);
            }
            coord->place = b->from->joint[j].place;
        }
        for (int part = 0; part < model_joint_speeds[kind]; part++, dof++) {
            coordinate_name(b, j, part, 1, name);
            if (!(b->to->speed[dof] = copy(name))) {
                return no_memory(error);
            }
        }
    }
    return ZW_OK;
}

/* ---- Closers -------------------------------------------------------------------------------- */

/* A frame of a body of the model, on the tree. */
static bodies_frame frame_on(const builder *b, int body, const double pos[3], const double quat[4])
{
    const tree_frame *carrier = &b->fused.frame[body < 0 ? 0 : body];
    model_pose outer, inner;
    memcpy(outer.pos, carrier->pos, sizeof outer.pos);
    memcpy(outer.quat, carrier->quat, sizeof outer.quat);
    memcpy(inner.pos, pos, sizeof inner.pos);
    memcpy(inner.quat, quat, sizeof inner.quat);
    model_pose pose = model_pose_chain(&outer, &inner);
    bodies_frame frame = {.body = carrier->body};
    memcpy(frame.pos, pose.pos, sizeof frame.pos);
    memcpy(frame.quat, pose.quat, sizeof frame.quat);
    return frame;
}

/* The frame on `body` that is where `other` is in the pose as described. */
static bodies_frame same_place(const builder *b, const bodies_frame *other, int body)
{
    const tree_mechanism *tree = b->system->tree;
    const double *quat = b->sweeps + tree->at.quat, *origin = b->sweeps + tree->at.origin;
    model_pose carrier, inner;
    memcpy(carrier.pos, origin + 3 * other->body, sizeof carrier.pos);
    memcpy(carrier.quat, quat + 4 * other->body, sizeof carrier.quat);
    memcpy(inner.pos, other->pos, sizeof inner.pos);
    memcpy(inner.quat, other->quat, sizeof inner.quat);
    model_pose world = model_pose_chain(&carrier, &inner);
    bodies_frame frame = {.body = b->fused.frame[body < 0 ? 0 : body].body};
    const double *q = quat + 4 * frame.body;
    model_pose back = {.quat = {q[0], -q[1], -q[2], -q[3]}};
    double shift[3];
    for (int k = 0; k < 3; k++) {
        shift[k] = world.pos[k] - origin[3 * frame.body + k];
    }
    model_rotate(back.quat, shift, frame.pos);
    model_quat_multiply(frame.quat, back.quat, world.quat);
    return frame;
}

static zw_status add_closer(builder *b, bodies_closer closer, const char *name, int place,
                            zw_error *error)
{
    int one_sided = closer.kind == CLOSER_LOWER || closer.kind == CLOSER_UPPER;
    closer.row = b->system->m;
    b->system->m += closer.rows;
    b->to->closer[b->to->closer_count++] = closer;
    model_constraint *constraint = model_add_constraint(b->to->shown);
    if (!constraint || !(constraint->name = copy(name))) {
        return no_memory(error);
    }
    constraint->place = place;
    constraint->rows = closer.rows;
    constraint->relation = one_sided ? MODEL_AT_LEAST : MODEL_EQUAL;
    constraint->friction = constraint->restitution = EXPR_NONE;
    return ZW_OK;
}

static void place_frames(const builder *b, const zw_equality_def *from, bodies_closer *closer)
{
    static const double none[4] = {1, 0, 0, 0};
    int connect = from->kind == ZW_EQUALITY_CONNECT || from->kind == ZW_EQUALITY_DISTANCE;
    if (from->placed != 2) {
        closer->frame[0] = frame_on(b, from->first, from->pos1, connect ? none : from->quat1);
    }
    if (from->placed != 0) {
        closer->frame[1] = frame_on(b, from->second, from->pos2, connect ? none : from->quat2);
    }
    if (from->placed == 0) {
        closer->frame[1] = same_place(b, &closer->frame[0], from->second);
    }
    if (from->placed == 2) {
        closer->frame[0] = same_place(b, &closer->frame[1], from->first);
    }
}

static zw_status add_equality(builder *b, int index, zw_error *error)
{
    static const bodies_closer_kind kind[] = {CLOSER_CONNECT, CLOSER_WELD,  CLOSER_HINGE,
                                              CLOSER_SLIDE,   CLOSER_JOINT, CLOSER_JOINT,
                                              CLOSER_DISTANCE};
    static const int rows[] = {3, 6, 5, 5, 1, 1, 1};
    const zw_equality_def *from = &b->from->equality[index];
    char name[NAME];
    snprintf(name, sizeof name, "equality%d", index);
    bodies_closer closer = {.kind = kind[from->kind], .rows = rows[from->kind]};
    if (from->kind == ZW_EQUALITY_TENDON) {
        return refuse(b, from->place, "an equality of tendons", NULL, error);
    }
    if (closer.kind != CLOSER_JOINT) {
        place_frames(b, from, &closer);
        closer.limit = from->distance;
    }
    for (int k = 0; k < 2 && closer.kind == CLOSER_JOINT; k++) {
        int j = k == 0 ? from->first : from->second;
        closer.q[k] = j < 0 ? -1 : b->joint_q[j];
        closer.dof[k] = j < 0 ? -1 : b->joint_dof[j];
        closer.origin[k] = j < 0 ? 0 : b->from->joint[j].ref;
    }
    memcpy(closer.poly, from->poly, sizeof closer.poly);
    return add_closer(b, closer, from->name ? from->name : name, from->place, error);
}

static zw_status add_limits(builder *b, int j, zw_error *error)
{
    const zw_joint_def *joint = &b->from->joint[j];
    char name[NAME];
    if (!joint->limited || (b->from->world.without & ZW_WITHOUT_LIMIT)) {
        return ZW_OK;
    }
    if (joint->kind == ZW_JOINT_BALL || joint->kind == ZW_JOINT_FREE) {
        return refuse(b, joint->place, "the limit", joint->name, error);
    }
    zw_status status = ZW_OK;
    for (int k = 0; k < 2 && status == ZW_OK; k++) {
        bodies_closer closer = {.kind = k ? CLOSER_UPPER : CLOSER_LOWER,
                                .rows = 1,
                                .q = {b->joint_q[j], -1},
                                .dof = {b->joint_dof[j], -1},
                                .limit = joint->range[k]};
        coordinate_name(b, j, 0, 0, name);
        size_t length = strlen(name);
        snprintf(name + length, sizeof name - length, k ? ".upper" : ".lower");
        status = add_closer(b, closer, name, joint->place, error);
    }
    return status;
}

static zw_status make_closers(builder *b, zw_error *error)
{
    int equalities = b->from->count[ZW_THING_EQUALITY], joints = b->from->count[ZW_THING_JOINT];
    int off = b->from->world.without & (ZW_WITHOUT_EQUALITY | ZW_WITHOUT_CONSTRAINT);
    zw_status status = ZW_OK;
    tree_kinematics(b->system->tree, b->system->tree->q_rest, b->sweeps);
    for (int i = 0; i < equalities && status == ZW_OK && !off; i++) {
        if (b->from->equality[i].active) {
            status = add_equality(b, i, error);
        }
    }
    off = b->from->world.without & ZW_WITHOUT_CONSTRAINT;
    for (int j = 0; j < joints && status == ZW_OK && !off; j++) {
        status = add_limits(b, j, error);
    }
    return status;
}

/* ---- Motors --------------------------------------------------------------------------------- */

static zw_status make_motor(builder *b, int index, zw_error *error)
{
    const zw_actuator_def *from = &b->from->actuator[index];
    const zw_joint_def *joint =
        from->drive == ZW_DRIVE_JOINT ? &b->from->joint[from->target] : NULL;
    char name[NAME];
    if (!joint || joint->kind == ZW_JOINT_FREE || joint->kind == ZW_JOINT_BALL) {
        return refuse(b, from->place, "an actuator on anything but a hinge or slide", from->name,
                      error);
    }
    if (from->dynamics != ZW_DYNAMICS_NONE) {
        return refuse(b, from->place, "the activation", from->name, error);
    }
    model_param *param = model_add_param(b->to->shown);
    snprintf(name, sizeof name, "actuator%d", index);
    if (!param || !(param->name = copy(from->name ? from->name : name))) {
        return no_memory(error);
    }
    param->place = from->place;
    bodies_motor *motor = &b->to->motor[b->to->motor_count];
    *motor = (bodies_motor){.q = b->joint_q[from->target],
                            .dof = b->joint_dof[from->target],
                            .param = b->to->motor_count,
                            .gear = from->gear[0],
                            .clamp_control = from->ctrl_limited,
                            .clamp_force = from->force_limited,
                            .gain_affine = from->gain_affine,
                            .bias_affine = from->bias_affine};
    memcpy(motor->control, from->ctrl_range, sizeof motor->control);
    memcpy(motor->force, from->force_range, sizeof motor->force);
    memcpy(motor->gain, from->gain_prm, sizeof motor->gain);
    memcpy(motor->bias, from->bias_prm, sizeof motor->bias);
    b->to->motor_count++;
    return ZW_OK;
}

/* What the description has and nobody here obeys yet: said, not passed over. */
static zw_status check(const builder *b, zw_error *error)
{
    for (int j = 0; j < b->from->count[ZW_THING_JOINT]; j++) {
        const zw_joint_def *joint = &b->from->joint[j];
        if (joint->frictionloss > 0) {
            return refuse(b, joint->place, "dry friction", joint->name ? joint->name : "a joint",
                          error);
        }
    }
    for (int i = 0; i < b->from->count[ZW_THING_TENDON]; i++) {
        const zw_tendon_def *tendon = &b->from->tendon[i];
        if (tendon->limited || tendon->stiffness > 0 || tendon->damping > 0 ||
            tendon->frictionloss > 0) {
            return refuse(b, tendon->place, "the force", tendon->name ? tendon->name : "a tendon",
                          error);
        }
    }
    for (int i = 0; i < b->from->count[ZW_THING_BODY]; i++) {
        if (b->from->body[i].gravcomp != 0) {
            return refuse(b, b->from->body[i].place, "gravcomp", b->from->body[i].name, error);
        }
    }
    return ZW_OK;
}

/* ---- Patterns ------------------------------------------------------------------------------- */

/* The lower triangle of M by columns, from the tree's rows; both in rising order. */
static zw_status metric_pattern(builder *b)
{
    zw_system *system = b->system;
    const tree_mechanism *tree = system->tree;
    int n = system->n;
    system->M_start = base_alloc(((size_t)n + 1) * sizeof(int));
    system->M_row = base_alloc(((size_t)tree->entries + 1) * sizeof(int));
    b->to->entry = base_alloc(((size_t)tree->entries + 1) * sizeof(int));
    int *next = b->mark;
    if (!system->M_start || !system->M_row || !b->to->entry) {
        return ZW_NO_MEMORY;
    }
    for (int k = 0; k < tree->entries; k++) {
        system->M_start[tree->column[k] + 1]++;
    }
    system->M_diagonal = tree->entries == n;
    for (int j = 0; j < n; j++) {
        system->M_start[j + 1] += system->M_start[j];
        next[j] = system->M_start[j];
    }
    for (int d = 0; d < n; d++) {
        for (int k = tree->start[d]; k < tree->start[d + 1]; k++) {
            int at = next[tree->column[k]]++;
            system->M_row[at] = d;
            b->to->entry[k] = at;
        }
    }
    return ZW_OK;
}

/* The dofs that move closer c, in rising order, into column[]; answers their number. */
static int columns_of(builder *b, bodies_closer *closer, int *column)
{
    const tree_mechanism *tree = b->system->tree;
    int n = b->system->n, count = 0;
    memset(b->mark, 0, (size_t)n * sizeof *b->mark);
    int *dof = b->mark + n;
    for (int k = 0; k < 2; k++) {
        int chain = 1;
        if (closer->kind >= CLOSER_JOINT) {
            chain = closer->dof[k] >= 0;
            dof[0] = closer->dof[k];
        } else {
            chain = tree_chain(tree, closer->frame[k].body, dof);
        }
        closer->chain[k] = chain;
        for (int d = 0; d < chain; d++) {
            b->mark[dof[d]] = 1;
        }
    }
    for (int i = 0; i < n; i++) {
        if (b->mark[i]) {
            b->mark[i] = count;
            column[count++] = i;
        }
    }
    return count;
}

/* Where the dofs of each body stand among the columns; after columns_of. */
static zw_status place_columns(builder *b, bodies_closer *closer)
{
    int *dof = b->mark + b->system->n;
    for (int k = 0; k < 2; k++) {
        closer->column[k] = base_alloc(((size_t)closer->chain[k] + 1) * sizeof(int));
        if (!closer->column[k]) {
            return ZW_NO_MEMORY;
        }
        if (closer->kind >= CLOSER_JOINT) {
            dof[0] = closer->dof[k];
        } else {
            tree_chain(b->system->tree, closer->frame[k].body, dof);
        }
        for (int d = 0; d < closer->chain[k]; d++) {
            closer->column[k][d] = b->mark[dof[d]];
        }
    }
    return ZW_OK;
}

static zw_status row_patterns(builder *b)
{
    zw_system *system = b->system;
    size_t m = (size_t)system->m, n = (size_t)system->n;
    system->row_constraint = base_alloc((m + 1) * sizeof(int));
    system->row_kind = base_alloc((m + 1) * sizeof(system_row));
    system->first_row = base_alloc(((size_t)b->to->closer_count + 1) * sizeof(int));
    system->A_start = base_alloc((m + 1) * sizeof(int));
    system->A_column = base_alloc((m * n + 1) * sizeof(int));
    system->slip = base_alloc(((size_t)b->to->closer_count + 1) * sizeof *system->slip);
    if (!system->row_constraint || !system->row_kind || !system->first_row || !system->A_start ||
        !system->A_column || !system->slip) {
        return ZW_NO_MEMORY;
    }
    int used = 0;
    for (int c = 0; c < b->to->closer_count; c++) {
        bodies_closer *closer = &b->to->closer[c];
        int one_sided = closer->kind >= CLOSER_LOWER;
        system->first_row[c] = closer->row;
        int count = columns_of(b, closer, system->A_column + used);
        if (place_columns(b, closer) != ZW_OK) {
            return ZW_NO_MEMORY;
        }
        for (int k = 0; k < closer->rows; k++) {
            int r = closer->row + k;
            system->row_constraint[r] = c;
            system->row_kind[r] = one_sided ? SYSTEM_CONTACT : SYSTEM_HOLONOMIC;
            system->A_start[r] = used;
            memmove(system->A_column + used, system->A_column + system->A_start[closer->row],
                    (size_t)count * sizeof(int));
            used += count;
        }
        system->contact_count += one_sided;
    }
    system->first_row[b->to->closer_count] = system->m;
    system->A_start[system->m] = used;
    return ZW_OK;
}

/* Sizes of the outputs; tapes without a formula stand for them. */
static zw_status lay_out(builder *b, zw_error *error)
{
    zw_system *system = b->system;
    int l = system->tree->entries, n = system->n, m = system->m, k = system->A_start[m];
    int work = system->conservative ? 0 : n + 1;
    system->at = (system_layout){.M = 0,
                                 .force = l,
                                 .A = l + n,
                                 .b = l + n + k,
                                 .mu = l + n + k + m,
                                 .C = l + n + k + m + b->to->closer_count};
    system->at.Q = system->at.C;
    system->at.dLdt = system->at.Q + work - (work > 0);
    system->at.slip = system->at.Q + work;
    const int count[PART_COUNT] = {[PART_TERMS] = system->at.slip,
                                   [PART_POSITION] = m + k,
                                   [PART_VELOCITY] = m + k,
                                   [PART_METRIC] = l,
                                   [PART_ENERGY] = 3};
    system->shape = (expr_shape){.params = b->to->motor_count, .coords = n, .lambdas = m};
    for (int part = 0; part < PART_COUNT; part++) {
        expr_id none = EXPR_ZERO;
        system->tape[part].count = count[part];
        system->tape[part].code =
            expr_tape_create(b->to->shown->graph, &system->shape, &none, 0, error);
        if (!system->tape[part].code) {
            return ZW_NO_MEMORY;
        }
    }
    return ZW_OK;
}

/* ---- The way through ------------------------------------------------------------------------ */

static int is_conservative(const builder *b)
{
    int damped = b->to->motor_count > 0;
    for (int i = 0; i < b->system->n; i++) {
        damped |= b->system->tree->damping[i] != 0;
    }
    return !damped;
}

static zw_status start(builder *b, zw_error *error)
{
    size_t joints = (size_t)b->from->count[ZW_THING_JOINT] + 1;
    size_t bodies = (size_t)b->from->count[ZW_THING_BODY];
    size_t closers = 2 * joints + (size_t)b->from->count[ZW_THING_EQUALITY];
    size_t motors = (size_t)b->from->count[ZW_THING_ACTUATOR] + 1;
    struct system_bodies *to = b->system->bodies = b->to = base_alloc(sizeof *b->to);
    b->body = base_alloc(bodies * sizeof *b->body);
    b->joint = base_alloc(joints * sizeof *b->joint);
    b->order = base_alloc(joints * sizeof(int));
    b->joint_q = base_alloc(joints * sizeof(int));
    b->joint_dof = base_alloc(joints * sizeof(int));
    b->inertia = base_alloc(bodies * sizeof *b->inertia);
    if (!to || !b->body || !b->joint || !b->order || !b->joint_q || !b->joint_dof || !b->inertia) {
        return no_memory(error);
    }
    to->shown = model_create();
    to->closer = base_alloc(closers * sizeof *to->closer);
    to->motor = base_alloc(motors * sizeof *to->motor);
    if (!to->shown || !to->closer || !to->motor) {
        return no_memory(error);
    }
    to->shown->file_count = b->model->file_count; /* places are those of the description */
    to->shown->file = b->model->file;
    to->shown->place_count = b->model->place_count;
    to->shown->place = b->model->place;
    to->shown->run = b->model->run;
    to->shown->run.method = NULL;
    return zw_model_inertia(b->model, b->inertia, error);
}

static zw_status build(builder *b, zw_error *error)
{
    zw_system *system = b->system;
    zw_status status = start(b, error);
    status = status != ZW_OK ? status : check(b, error);
    status = status != ZW_OK ? status : make_tree(b, error);
    if (status != ZW_OK) {
        return status;
    }
    system->n = system->tree->nv;
    system->nq = system->tree->nq;
    b->to->speed = base_alloc(((size_t)system->n + 1) * sizeof *b->to->speed);
    b->sweeps = tree_work_create(system->tree, 1);
    b->mark = base_alloc((2 * (size_t)system->n + 1) * sizeof(int));
    if (!b->to->speed || !b->sweeps || !b->mark) {
        return no_memory(error);
    }
    for (int i = 0; i < system->tree->bodies; i++) {
        int chain = tree_chain(system->tree, i, NULL);
        b->to->widest = chain > b->to->widest ? chain : b->to->widest;
    }
    status = name_coordinates(b, error);
    status = status != ZW_OK ? status : make_closers(b, error);
    for (int k = 0; k < b->from->count[ZW_THING_ACTUATOR] && status == ZW_OK; k++) {
        status = b->from->world.without & ZW_WITHOUT_ACTUATION ? ZW_OK : make_motor(b, k, error);
    }
    if (status == ZW_OK) {
        system->conservative = is_conservative(b);
        system->works = !system->conservative;
        system->sparse = system->n >= 80;
        status = metric_pattern(b);
    }
    status = status != ZW_OK ? status : row_patterns(b);
    return status != ZW_OK ? status : lay_out(b, error);
}

zw_status bodies_compile(zw_system *system, const zw_model *model, zw_error *error)
{
    builder b = {.system = system, .model = model, .from = model->bodies};
    zw_status status = build(&b, error);
    void *room[] = {b.body, b.joint, b.order, b.joint_q, b.joint_dof, b.inertia, b.sweeps, b.mark};
    for (size_t i = 0; i < sizeof room / sizeof *room; i++) {
        base_free(room[i]);
    }
    tree_fused_free(&b.fused);
    if (system->bodies && system->bodies->shown) {
        system->model = system->bodies->shown;
    }
    if (status == ZW_NO_MEMORY) {
        no_memory(error);
    }
    return status;
}

void bodies_free(struct system_bodies *bodies)
{
    if (!bodies) {
        return;
    }
    for (int c = 0; c < bodies->closer_count; c++) {
        base_free(bodies->closer[c].column[0]);
        base_free(bodies->closer[c].column[1]);
    }
    if (bodies->shown) {
        int n = 0;
        while (bodies->speed && bodies->speed[n]) {
            base_free(bodies->speed[n++]);
        }
        bodies->shown->file_count = bodies->shown->place_count = 0; /* not ours */
        bodies->shown->file = NULL;
        bodies->shown->place = NULL;
        zw_model_free(bodies->shown);
    }
    base_free(bodies->speed);
    base_free(bodies->closer);
    base_free(bodies->motor);
    base_free(bodies->entry);
    base_free(bodies);
}

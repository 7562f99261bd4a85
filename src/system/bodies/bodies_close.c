/* Lengths, loop closures, rolling constraints, limits and dry friction, from their definitions. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/elementary.h"
#include "system/bodies/bodies_build.h"
#include "tree/sweeps.h"

static int is_scalar(const zw_joint_def *joint)
{
    return joint->kind == ZW_JOINT_HINGE || joint->kind == ZW_JOINT_SLIDE;
}

/* ---- Lengths -------------------------------------------------------------------------------- */

/* Adds coef times the coordinate of joint j to the last length. */
static void add_term(bodies_builder *b, bodies_length *length, int j, double coef)
{
    bodies_term *term = b->to->term + length->first;
    int k = 0;
    while (k < length->count && term[k].dof != b->joint_dof[j]) {
        k++;
    }
    if (k == length->count) {
        term[k] = (bodies_term){.q = b->joint_q[j], .dof = b->joint_dof[j]};
        length->count++;
        b->to->term_count++;
    }
    term[k].coef += coef;
    length->origin += coef * b->from->joint[j].ref;
}

static bodies_length *new_length(bodies_builder *b)
{
    bodies_length *length = &b->to->length[b->to->length_count++];
    *length = (bodies_length){.first = b->to->term_count, .path = -1};
    return length;
}

static void joint_lengths(bodies_builder *b)
{
    for (int j = 0; j < b->from->count[ZW_KIND_JOINT]; j++) {
        const zw_joint_def *joint = &b->from->joint[j];
        bodies_length *length = new_length(b);
        if (is_scalar(joint)) { /* springs and dampers belong to the tree */
            add_term(b, length, j, 1);
            length->force_limited = joint->force_limited;
            length->lifts = joint->motor_lifts;
            memcpy(length->force_range, joint->force_range, sizeof length->force_range);
        }
    }
}

static void tendon_lengths(bodies_builder *b)
{
    for (int i = 0; i < b->from->count[ZW_KIND_TENDON]; i++) {
        const zw_tendon_def *tendon = &b->from->tendon[i];
        bodies_length *length = new_length(b);
        for (int k = 0; k < tendon->count; k++) {
            add_term(b, length, tendon->joint[k], tendon->coef[k]);
        }
        if (tendon->stop_count > 0) {
            bodies_add_path(b, tendon, length);
        }
        length->armature = tendon->armature;
        length->force_limited = tendon->force_limited;
        memcpy(length->force_range, tendon->force_range, sizeof length->force_range);
        length->stiffness = bodies_without(b, ZW_WITHOUT_SPRING) ? 0 : tendon->stiffness;
        length->damping = bodies_without(b, ZW_WITHOUT_DAMPER) ? 0 : tendon->damping;
    }
}

static zw_status make_lengths(bodies_builder *b, zw_error *error)
{
    size_t joints = (size_t)b->from->count[ZW_KIND_JOINT];
    size_t tendons = (size_t)b->from->count[ZW_KIND_TENDON], terms = 1 + joints;
    for (size_t i = 0; i < tendons; i++) {
        terms += (size_t)b->from->tendon[i].count;
    }
    terms += (size_t)b->system->n; /* and for dry friction of joints */
    if (bodies_paths_reserve(b, &terms, error) != ZW_OK) {
        return ZW_NO_MEMORY;
    }
    b->to->term = base_alloc(terms * sizeof *b->to->term);
    b->to->length = base_alloc((joints + tendons + 1) * sizeof *b->to->length);
    if (!b->to->term || !b->to->length) {
        return base_no_memory(error);
    }
    joint_lengths(b);
    tendon_lengths(b);
    return bodies_measure_tendons(b, error);
}

/* ---- Frames --------------------------------------------------------------------------------- */

static model_pose pose_of(const double pos[3], const double quat[4])
{
    model_pose pose;
    memcpy(pose.pos, pos, sizeof pose.pos);
    memcpy(pose.quat, quat, sizeof pose.quat);
    return pose;
}

bodies_frame bodies_frame_on(const bodies_builder *b, int body, const double pos[3],
                             const double quat[4])
{
    const tree_frame *carrier = &b->fused.frame[body < 0 ? 0 : body];
    model_pose outer = pose_of(carrier->pos, carrier->quat), inner = pose_of(pos, quat);
    model_pose pose = model_pose_chain(&outer, &inner);
    bodies_frame frame = {.body = carrier->body, .part = body < 0 ? 0 : body};
    memcpy(frame.pos, pose.pos, sizeof frame.pos);
    memcpy(frame.quat, pose.quat, sizeof frame.quat);
    return frame;
}

/* The frame on `body` that coincides with `other` in the reference pose. */
static bodies_frame same_place(const bodies_builder *b, const bodies_frame *other, int body)
{
    const tree_mechanism *tree = b->system->tree;
    const double *quat = b->sweeps + tree->at.quat, *origin = b->sweeps + tree->at.origin;
    model_pose carrier = pose_of(origin + 3 * other->body, quat + 4 * other->body);
    model_pose inner = pose_of(other->pos, other->quat);
    model_pose world = model_pose_chain(&carrier, &inner);
    int part = body < 0 ? 0 : body;
    bodies_frame frame = {.body = b->fused.frame[part].body, .part = part};
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

/* How accurately the numbers of a file define the position of a frame: half a unit in the sixth
 * digit of every offset on the path from the root, as files commonly have six digits. */
static double written_to(const bodies_builder *b, int body, const double pos[3])
{
    double sum = sqrt(model_dot(pos, pos));
    for (int i = body < 0 ? 0 : body; i > 0; i = b->from->body[i].parent) {
        sum += sqrt(model_dot(b->from->body[i].pos, b->from->body[i].pos));
    }
    return 5e-6 * sum;
}

/* Two points that coincide in the reference pose, up to the digits of the file, are the same
 * point: else loops that several connects close (two points make a hinge) contradict each other by
 * those digits. */
static void meet(const bodies_builder *b, const zw_equality_def *from,
                 bodies_constraint *constraint)
{
    bodies_frame there = same_place(b, &constraint->frame[0], from->second);
    double apart[3];
    for (int k = 0; k < 3; k++) {
        apart[k] = there.pos[k] - constraint->frame[1].pos[k];
    }
    if (sqrt(model_dot(apart, apart)) <=
        written_to(b, from->first, from->pos1) + written_to(b, from->second, from->pos2)) {
        memcpy(constraint->frame[1].pos, there.pos, sizeof there.pos);
    }
}

static void place_frames(const bodies_builder *b, const zw_equality_def *from,
                         bodies_constraint *constraint)
{
    static const double none[4] = {1, 0, 0, 0};
    int points = from->kind == ZW_EQUALITY_CONNECT || from->kind == ZW_EQUALITY_DISTANCE;
    if (from->placed != 2) {
        constraint->frame[0] =
            bodies_frame_on(b, from->first, from->pos1, points ? none : from->quat1);
    }
    if (from->placed != 0) {
        constraint->frame[1] =
            bodies_frame_on(b, from->second, from->pos2, points ? none : from->quat2);
    }
    if (from->placed == 1 && from->kind == ZW_EQUALITY_CONNECT) {
        meet(b, from, constraint);
    }
    if (from->placed == 0) {
        constraint->frame[1] = same_place(b, &constraint->frame[0], from->second);
    }
    if (from->placed == 2) {
        constraint->frame[0] = same_place(b, &constraint->frame[1], from->first);
    }
}

/* ---- Constraints ---------------------------------------------------------------------------- */

static model_constraint *show_constraint(bodies_builder *b, const char *name, int place)
{
    model_constraint *constraint = model_add_constraint(b->to->shown);
    if (!constraint || !(constraint->name = bodies_copy(name))) {
        return NULL;
    }
    constraint->place = place;
    constraint->relation = MODEL_EQUAL;
    constraint->friction = constraint->restitution = EXPR_NONE;
    return constraint;
}

static zw_status add_constraint(bodies_builder *b, bodies_constraint constraint, const char *name,
                                int place, zw_error *error)
{
    constraint.row = b->system->m;
    b->system->m += constraint.rows;
    b->to->constraint[b->to->constraint_count++] = constraint;
    model_constraint *shown = show_constraint(b, name, place);
    if (!shown) {
        return base_no_memory(error);
    }
    shown->rows = constraint.rows;
    shown->relation = constraint.kind >= CONSTRAINT_LOWER ? MODEL_AT_LEAST : MODEL_EQUAL;
    return ZW_OK;
}

/* A rolling constraint, and the constraint that keeps the body on its plane. */
static zw_status add_rolling(bodies_builder *b, bodies_constraint constraint,
                             const zw_equality_def *from, char *name, zw_error *error)
{
    constraint.frame[0] = bodies_frame_on(b, from->first, from->pos1, from->quat1);
    constraint.frame[1] = bodies_frame_on(b, from->second, from->pos2, from->quat2);
    constraint.radius = constraint.kind == CONSTRAINT_BLADE ? 0 : from->radius;
    math_sincos(from->roller, &constraint.roller[1], &constraint.roller[0]);
    if (constraint.frame[0].body == constraint.frame[1].body) {
        return model_fail(b->model, error, ZW_BAD_INPUT, from->place,
                          "%s rolls on a body that it is welded to", name);
    }
    zw_status status = add_constraint(b, constraint, name, from->place, error);
    if (status != ZW_OK || !from->touch) {
        return status;
    }
    constraint.shape = constraint.kind;
    constraint.kind = CONSTRAINT_TOUCH;
    constraint.rows = 1;
    snprintf(name + strlen(name), BODIES_NAME - strlen(name), ".touch");
    return add_constraint(b, constraint, name, from->place, error);
}

static zw_status add_equality(bodies_builder *b, int index, zw_error *error)
{
    static const bodies_constraint_kind kind[] = {
        CONSTRAINT_CONNECT, CONSTRAINT_WELD,   CONSTRAINT_HINGE,    CONSTRAINT_SLIDE,
        CONSTRAINT_LENGTH,  CONSTRAINT_LENGTH, CONSTRAINT_DISTANCE, CONSTRAINT_WHEEL,
        CONSTRAINT_MECANUM, CONSTRAINT_ROLL,   CONSTRAINT_BLADE};
    const zw_equality_def *from = &b->from->equality[index];
    char name[BODIES_NAME];
    bodies_part_name(b, ZW_KIND_EQUALITY, index, name);
    int touch = from->kind >= ZW_EQUALITY_WHEEL && from->touch;
    bodies_constraint constraint = {.kind = kind[from->kind],
                                    .rows = model_equality_rows(from) - touch,
                                    .length = {-1, -1},
                                    .soft = from->soft,
                                    .torquescale = from->torquescale};
    if (from->kind >= ZW_EQUALITY_WHEEL) {
        return add_rolling(b, constraint, from, name, error);
    }
    if (constraint.kind == CONSTRAINT_LENGTH) {
        int skip = from->kind == ZW_EQUALITY_TENDON ? b->from->count[ZW_KIND_JOINT] : 0;
        constraint.length[0] = skip + from->first;
        constraint.length[1] = from->second < 0 ? -1 : skip + from->second;
        memcpy(constraint.poly, from->poly, sizeof constraint.poly);
    } else {
        place_frames(b, from, &constraint);
        constraint.limit = from->distance;
    }
    if (constraint.kind == CONSTRAINT_DISTANCE && !(constraint.limit > 0)) {
        return model_fail(b->model, error, ZW_BAD_INPUT, from->place,
                          "%s: a distance of %g; two points at the same place are a connect", name,
                          constraint.limit);
    }
    const tree_body *body = b->system->tree->body;
    if (constraint.kind < CONSTRAINT_LENGTH && body[constraint.frame[0].body].last_dof < 0 &&
        body[constraint.frame[1].body].last_dof < 0) {
        return model_fail(b->model, error, ZW_BAD_INPUT, from->place,
                          "%s ties two bodies that cannot move", name);
    }
    if (constraint.kind < CONSTRAINT_LENGTH &&
        constraint.frame[0].body == constraint.frame[1].body) {
        return model_fail(b->model, error, ZW_BAD_INPUT, from->place,
                          "%s ties a body to itself: the two are already welded together", name);
    }
    return add_constraint(b, constraint, name, from->place, error);
}

/* Both ends of the range of the constraint's length; `name` is that of the joint or tendon. */
static zw_status add_range(bodies_builder *b, bodies_constraint constraint, const double range[2],
                           char *name, int place, zw_error *error)
{
    zw_status status = ZW_OK;
    size_t end = strlen(name);
    for (int k = 0; k < 2 && status == ZW_OK; k++) {
        constraint.kind = k ? CONSTRAINT_UPPER : CONSTRAINT_LOWER;
        constraint.limit = range[k];
        snprintf(name + end, BODIES_NAME - end, k ? ".upper" : ".lower");
        status = add_constraint(b, constraint, name, place, error);
    }
    name[end] = 0;
    return status;
}

static zw_status add_joint_limit(bodies_builder *b, int j, zw_error *error)
{
    const zw_joint_def *joint = &b->from->joint[j];
    char name[BODIES_NAME];
    if (!joint->limited) {
        return ZW_OK;
    }
    bodies_part_name(b, ZW_KIND_JOINT, j, name);
    bodies_constraint constraint = {.kind = CONSTRAINT_BALL,
                                    .rows = 1,
                                    .length = {is_scalar(joint) ? j : -1, -1},
                                    .q = b->joint_q[j],
                                    .dof = b->joint_dof[j],
                                    .limit = joint->range[1],
                                    .soft = joint->soft_limit,
                                    .margin = joint->margin};
    if (is_scalar(joint)) {
        return add_range(b, constraint, joint->range, name, joint->place, error);
    }
    snprintf(name + strlen(name), BODIES_NAME - strlen(name), ".limit");
    return add_constraint(b, constraint, name, joint->place, error);
}

/* Tendons and joints may have the same names; their limits may not. */
static void tendon_name(const bodies_builder *b, int i, char *name)
{
    bodies_part_name(b, ZW_KIND_TENDON, i, name);
    if (model_find_part(b->from, ZW_KIND_JOINT, name) >= 0) {
        snprintf(name + strlen(name), BODIES_NAME - strlen(name), ".tendon");
    }
}

static zw_status add_limits(bodies_builder *b, zw_error *error)
{
    int joints = b->from->count[ZW_KIND_JOINT], tendons = b->from->count[ZW_KIND_TENDON];
    char name[BODIES_NAME];
    zw_status status = ZW_OK;
    for (int j = 0; j < joints && status == ZW_OK; j++) {
        status = add_joint_limit(b, j, error);
    }
    for (int i = 0; i < tendons && status == ZW_OK; i++) {
        const zw_tendon_def *tendon = &b->from->tendon[i];
        if (tendon->limited) {
            bodies_constraint constraint = {.rows = 1,
                                            .length = {joints + i, -1},
                                            .soft = tendon->soft_limit,
                                            .margin = tendon->margin};
            tendon_name(b, i, name);
            status = add_range(b, constraint, tendon->range, name, tendon->place, error);
        }
    }
    return status;
}

/* ---- Dry friction --------------------------------------------------------------------------- */

/* Dry friction against the speed of its terms: those of its tendon, or the last one. */
static zw_status add_dry(bodies_builder *b, bodies_dry dry, const char *name, int place,
                         zw_error *error)
{
    dry.first = dry.length >= 0 ? b->to->length[dry.length].first : b->to->term_count - 1;
    dry.count = dry.length >= 0 ? b->to->length[dry.length].count : 1;
    b->to->dry[b->to->dry_count++] = dry;
    model_constraint *constraint = show_constraint(b, name, place);
    if (!constraint) {
        return base_no_memory(error);
    }
    constraint->friction = EXPR_ONE; /* marks friction: the numbers are in bodies_dry */
    return ZW_OK;
}

static zw_status joint_friction(bodies_builder *b, int j, zw_error *error)
{
    static const char *const part[] = {".dry",    ".dry.x",  ".dry.y", ".dry.z",
                                       ".dry.wx", ".dry.wy", ".dry.wz"};
    const zw_joint_def *joint = &b->from->joint[j];
    int count = model_joint_speeds[joint->kind];
    char name[BODIES_NAME];
    zw_status status = ZW_OK;
    bodies_part_name(b, ZW_KIND_JOINT, j, name);
    size_t end = strlen(name);
    for (int k = 0; k < count && status == ZW_OK; k++) {
        int skip = joint->kind == ZW_JOINT_FREE ? 1 : joint->kind == ZW_JOINT_BALL ? 4 : 0;
        snprintf(name + end, BODIES_NAME - end, "%s", part[skip + k]);
        b->to->term[b->to->term_count++] =
            (bodies_term){.q = -1, .dof = b->joint_dof[j] + k, .coef = 1};
        bodies_dry dry = {.length = -1, .limit = joint->frictionloss, .soft = joint->soft_friction};
        status = add_dry(b, dry, name, joint->place, error);
    }
    return status;
}

static zw_status add_friction(bodies_builder *b, zw_error *error)
{
    int joints = b->from->count[ZW_KIND_JOINT], tendons = b->from->count[ZW_KIND_TENDON];
    char name[BODIES_NAME];
    zw_status status = ZW_OK;
    b->to->dry = base_alloc(((size_t)(b->system->n + tendons) + 1) * sizeof *b->to->dry);
    if (!b->to->dry) {
        return base_no_memory(error);
    }
    for (int j = 0; j < joints && status == ZW_OK; j++) {
        if (b->from->joint[j].frictionloss > 0) {
            status = joint_friction(b, j, error);
        }
    }
    for (int i = 0; i < tendons && status == ZW_OK; i++) {
        const zw_tendon_def *tendon = &b->from->tendon[i];
        const bodies_length *length = &b->to->length[joints + i];
        if (tendon->frictionloss > 0 && length->count > 0) {
            tendon_name(b, i, name);
            snprintf(name + strlen(name), BODIES_NAME - strlen(name), ".dry");
            bodies_dry dry = {
                .length = joints + i, .limit = tendon->frictionloss, .soft = tendon->soft_friction};
            status = add_dry(b, dry, name, tendon->place, error);
        }
    }
    return status;
}

/* ---- All ------------------------------------------------------------------------------------ */

zw_status bodies_make_constraints(bodies_builder *b, zw_error *error)
{
    size_t joints = (size_t)b->from->count[ZW_KIND_JOINT];
    size_t tendons = (size_t)b->from->count[ZW_KIND_TENDON];
    int equalities = b->from->count[ZW_KIND_EQUALITY];
    size_t constraints = 2 * (joints + tendons) + 2 * (size_t)equalities + 1;
    zw_status status = make_lengths(b, error);
    if (status == ZW_OK &&
        !(b->to->constraint = base_alloc(constraints * sizeof *b->to->constraint))) {
        status = base_no_memory(error);
    }
    int without = bodies_without(b, ZW_WITHOUT_EQUALITY | ZW_WITHOUT_CONSTRAINT);
    for (int i = 0; i < equalities && status == ZW_OK; i++) {
        int active = b->from->equality[i].active;
        if (active == BODIES_CUT || (active && !without)) {
            status = add_equality(b, i, error);
        }
    }
    if (status != ZW_OK || bodies_without(b, ZW_WITHOUT_CONSTRAINT)) {
        return status;
    }
    if (status == ZW_OK && !bodies_without(b, ZW_WITHOUT_LIMIT)) {
        status = add_limits(b, error);
    }
    if (status == ZW_OK && !bodies_without(b, ZW_WITHOUT_FRICTIONLOSS)) {
        status = add_friction(b, error);
    }
    return status;
}

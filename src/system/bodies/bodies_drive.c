/* Motors and gravity compensation, from their definitions. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "system/bodies/bodies_build.h"
#include "system/soft/tolerances.h"
#include "tree/sweeps.h"

/* Sets the target of a motor. */
static void aim(const bodies_builder *b, const zw_actuator_def *from, bodies_motor *motor)
{
    if (from->drive == ZW_DRIVE_SITE || from->drive == ZW_DRIVE_CRANK) {
        const zw_site_def *site = &b->from->site[from->target];
        motor->kind = MOTOR_SITE;
        motor->frame = bodies_frame_on(b, site->body, site->pos, site->quat);
        motor->refers = from->refsite >= 0;
        motor->rod = from->drive == ZW_DRIVE_CRANK ? from->rod : 0;
        if (motor->refers) {
            site = &b->from->site[from->refsite];
            motor->ref = bodies_frame_on(b, site->body, site->pos, site->quat);
        }
        return;
    }
    if (from->drive == ZW_DRIVE_BODY) {
        motor->kind = MOTOR_ADHESION;
        motor->part = from->target;
        return;
    }
    if (from->drive == ZW_DRIVE_TENDON) {
        motor->kind = MOTOR_LENGTH;
        motor->length = b->from->count[ZW_KIND_JOINT] + from->target;
        return;
    }
    int kind = b->from->joint[from->target].kind;
    motor->kind = kind == ZW_JOINT_FREE   ? MOTOR_FREE
                  : kind == ZW_JOINT_BALL ? MOTOR_BALL
                                          : MOTOR_LENGTH;
    motor->in_parent = from->drive == ZW_DRIVE_JOINT_IN_PARENT;
    motor->length = from->target;
    motor->q = b->joint_q[from->target];
    motor->dof = b->joint_dof[from->target];
}

/* Which formula sets the control; -1: none. */
static int formula_of(const bodies_builder *b, int actuator)
{
    int k = b->model->motor_count - 1;
    while (k >= 0 && b->model->motor[k].actuator != actuator) {
        k--;
    }
    return k;
}

/* A motor that is switched off is still described, for sensors, but not counted. */
static void describe_motor(bodies_builder *b, int index)
{
    const zw_actuator_def *from = &b->from->actuator[index];
    bodies_motor *motor = &b->to->motor[index];
    int filters =
        from->dynamics == ZW_DYNAMICS_FILTER || from->dynamics == ZW_DYNAMICS_FILTER_EXACT;
    *motor = (bodies_motor){.formula = formula_of(b, index),
                            .act = -1,
                            .filter = filters ? 1 / from->dyn_prm[0] : 0,
                            .exact = from->dynamics == ZW_DYNAMICS_FILTER_EXACT,
                            .excited = from->dynamics == ZW_DYNAMICS_MUSCLE,
                            .clamp_act = from->act_limited,
                            .early = from->act_early,
                            .clamp_control =
                                from->ctrl_limited && !bodies_without(b, ZW_WITHOUT_CLAMPCTRL),
                            .clamp_force = from->force_limited,
                            .gain_law = from->gain_law,
                            .bias_law = from->bias_law};
    aim(b, from, motor);
    memcpy(motor->gear, from->gear, sizeof motor->gear);
    memcpy(motor->control, from->ctrl_range, sizeof motor->control);
    memcpy(motor->force, from->force_range, sizeof motor->force);
    memcpy(motor->gain, from->gain_prm, sizeof motor->gain);
    memcpy(motor->bias, from->bias_prm, sizeof motor->bias);
    memcpy(motor->act_range, from->act_range, sizeof motor->act_range);
    memcpy(motor->tau, from->dyn_prm, sizeof motor->tau);
}

static zw_status make_motor(bodies_builder *b, int index, zw_error *error)
{
    const zw_actuator_def *from = &b->from->actuator[index];
    char name[BODIES_NAME];
    bodies_part_name(b, ZW_KIND_ACTUATOR, index, name);
    model_param *param = model_add_param(b->to->shown);
    if (!param || !(param->name = bodies_copy(name))) {
        return base_no_memory(error);
    }
    param->place = from->place;
    b->to->motor_count++;
    b->to->adhesion_count += from->drive == ZW_DRIVE_BODY;
    b->to->motor[index].param = b->to->shown->param_count - 1;
    if (from->dynamics != ZW_DYNAMICS_NONE) {
        b->to->motor[index].act = b->to->act_count;
        b->to->act_motor[b->to->act_count++] = index;
    }
    return ZW_OK;
}

/* ---- Damping by its ratio -------------------------------------------------------------------- */

/* For a slider-crank whose axis is the z axis of `quat`. */
static void crank_wrench(const bodies_builder *b, const bodies_motor *motor, const double place[3],
                         const double quat[4], double wrench[6])
{
    static const double z[3] = {0, 0, 1};
    double axis[3], apart[3];
    tree_point(b->system->tree, motor->ref.body, motor->ref.pos, b->sweeps, apart);
    model_rotate(quat, z, axis);
    for (int k = 0; k < 3; k++) {
        apart[k] = place[k] - apart[k];
        wrench[k] = 0;
    }
    bodies_crank(motor->rod, apart, axis, wrench + 3);
    for (int k = 3; k < 6; k++) {
        wrench[k] *= motor->gear[0];
    }
}

void bodies_transmission(const bodies_builder *b, const bodies_motor *motor, double *jacobian,
                         double *row)
{
    const tree_mechanism *tree = b->system->tree;
    memset(row, 0, (size_t)tree->nv * sizeof *row);
    if (motor->kind == MOTOR_LENGTH) {
        const bodies_length *length = &b->to->length[motor->length];
        for (int k = 0; k < length->count; k++) {
            const bodies_term *term = &b->to->term[length->first + k];
            row[term->dof] += motor->gear[0] * term->coef;
        }
        return;
    }
    if (motor->kind == MOTOR_ADHESION) { /* no contact points are known */
        return;
    }
    if (motor->kind != MOTOR_SITE) { /* the quaternion is 1, or that of the body */
        for (int k = 0; k < (motor->kind == MOTOR_BALL ? 3 : 6); k++) {
            row[motor->dof + k] = motor->gear[k];
        }
        return;
    }
    for (int side = 0; side <= motor->refers; side++) {
        const bodies_frame *frame = side ? &motor->ref : &motor->frame;
        const bodies_frame *axes = motor->refers ? &motor->ref : &motor->frame;
        double place[3], quat[4], wrench[6];
        tree_point(tree, motor->frame.body, motor->frame.pos, b->sweeps, place);
        model_quat_multiply(quat, b->sweeps + tree->at.quat + 4 * axes->body, axes->quat);
        model_rotate(quat, motor->gear + 3, wrench);
        model_rotate(quat, motor->gear, wrench + 3);
        if (motor->rod > 0) {
            crank_wrench(b, motor, place, quat, wrench);
        }
        tree_jacobian(tree, frame->body, place, b->sweeps, jacobian);
        int d = tree->body[frame->body].last_dof;
        for (int k = tree_chain(tree, frame->body, NULL) - 1; k >= 0;
             k--, d = tree->dof_parent[d]) {
            const double *J = jacobian + 6 * k;
            double sum = model_dot(J, wrench) + model_dot(J + 3, wrench + 3);
            row[d] += side ? -sum : sum;
        }
    }
}

/* kv = 2 ratio sqrt(kp m), where m is the sum, over the speeds that the motor moves, of M_dd over
 * the square of the transmission; as in MuJoCo, M without armatures of tendons. */
static zw_status damp_by_ratio(bodies_builder *b, zw_error *error)
{
    const tree_mechanism *tree = b->system->tree;
    size_t n = (size_t)tree->nv + 1;
    double *row = base_alloc((2 * n + 6 * ((size_t)b->to->widest + 1)) * sizeof *row);
    if (!row) {
        return base_no_memory(error);
    }
    double *diagonal = row + n, *jacobian = diagonal + n;
    tree_inertia_diagonal(tree, b->sweeps, diagonal);
    for (int k = 0; k < b->to->motor_count; k++) {
        double ratio = b->from->actuator[k].damp_ratio, mass = 0;
        bodies_motor *motor = &b->to->motor[k];
        if (ratio == 0) {
            continue;
        }
        bodies_transmission(b, motor, jacobian, row);
        for (int d = 0; d < tree->nv; d++) {
            double square = row[d] * row[d];
            mass += square > SOFT_LEAST ? diagonal[d] / square : 0;
        }
        motor->bias[2] = -2 * ratio * sqrt(motor->gain[0] * mass);
    }
    base_free(row);
    return ZW_OK;
}

/* The force -gravcomp m g at the centre of mass of a body; those of the world have no effect. As in
 * MuJoCo there is none without both springs and dampers. */
static void make_lifts(bodies_builder *b)
{
    static const double none[4] = {1, 0, 0, 0};
    const int passive = ZW_WITHOUT_SPRING | ZW_WITHOUT_DAMPER;
    if ((b->from->world.without & passive) == passive) {
        return;
    }
    for (int i = 1; i < b->from->count[ZW_KIND_BODY]; i++) {
        const zw_body_def *body = &b->from->body[i];
        bodies_frame frame = bodies_frame_on(b, i, b->inertia[i].com, none);
        if (body->gravcomp == 0 || frame.body == 0 || bodies_without(b, ZW_WITHOUT_GRAVITY)) {
            continue;
        }
        bodies_lift *lift = &b->to->lift[b->to->lift_count++];
        lift->body = frame.body;
        lift->part = i;
        for (int k = 0; k < 3; k++) {
            lift->pos[k] = frame.pos[k];
            lift->force[k] = -body->gravcomp * b->inertia[i].mass * b->from->world.gravity[k];
        }
    }
}

/* Does any tendon have a mass of its own? */
static int is_any_tendon_heavy(const bodies_builder *b)
{
    int heavy = 0;
    for (int i = 0; i < b->from->count[ZW_KIND_TENDON]; i++) {
        heavy |= b->from->tendon[i].armature != 0;
    }
    return heavy;
}

/* Springs and dampers of joints by time constant t and damping ratio z, as MuJoCo makes them: with
 * m the inverse of the mean of the joint's diagonal of M^-1 in the reference pose, or the mass of a
 * body that only shifts, the stiffness is m / (t z)^2 and the damping 2 m / t. */
static zw_status set_spring_dampers(bodies_builder *b, zw_error *error)
{
    tree_mechanism *tree = b->system->tree;
    double *x = base_alloc(((size_t)tree->nv + 1) * sizeof *x);
    const zw_joint_def *first = NULL; /* that has them */
    int bad = 0;
    if (!x) {
        return base_no_memory(error);
    }
    for (int k = 0; k < b->from->count[ZW_KIND_JOINT] && !bad; k++) {
        const zw_joint_def *from = &b->from->joint[b->order[k]];
        double t = from->springdamper[0], z = from->springdamper[1], sum = 0;
        int dof = b->joint_dof[b->order[k]], count = model_joint_speeds[from->kind];
        if (!(t > 0 && z > 0)) {
            continue;
        }
        if (!first) {
            first = from;
            tree_articulate(tree, NULL, b->sweeps, &bad);
        }
        for (int d = dof; d < dof + count && !bad; d++) {
            memset(x, 0, (size_t)tree->nv * sizeof *x);
            x[d] = 1;
            tree_articulated_solve(tree, b->sweeps, x);
            sum += x[d];
        }
        double mass = bodies_only_shifts(tree, b->to, from->body) ? b->to->part[from->body].mass
                                                                  : count / sum;
        tree->joint[k].stiffness =
            bodies_without(b, ZW_WITHOUT_SPRING) ? 0 : mass / (t * t * z * z);
        for (int d = dof; d < dof + count; d++) {
            tree->damping[d] = bodies_without(b, ZW_WITHOUT_DAMPER) ? 0 : 2 * mass / t;
        }
    }
    base_free(x);
    const char *why = bad                               ? "here: masses are missing"
                      : first && b->cut                 ? "where loops are cut"
                      : first && is_any_tendon_heavy(b) ? "where tendons have armature"
                                                        : NULL;
    return why == NULL ? ZW_OK
                       : model_fail(b->model, error, ZW_BAD_INPUT, first->place,
                                    "springdamper needs the effective mass at the joint, which "
                                    "is not known %s",
                                    why);
}

/* Gravity compensation by the motors of some joints; without motors there is none, as in MuJoCo. */
static void share_lifts(bodies_builder *b)
{
    int none = b->from->count[ZW_KIND_ACTUATOR] == 0 || bodies_without(b, ZW_WITHOUT_ACTUATION);
    for (int j = 0; j < b->from->count[ZW_KIND_JOINT] && b->to->lift_count > 0; j++) {
        bodies_length *length = &b->to->length[j];
        b->to->motor_lifts |= length->lifts;
        if (length->lifts && none) {
            length->force_limited = 1;
            length->force_range[0] = length->force_range[1] = 0;
        }
    }
}

/* MuJoCo limits the sum of the forces f of the motors on a tendon, without their gears; the force
 * along the tendon is the sum of gear f. With one gear for all that is gear times the range. */
static void limit_tendons(bodies_builder *b)
{
    for (int i = b->from->count[ZW_KIND_JOINT]; i < b->to->length_count; i++) {
        bodies_length *length = &b->to->length[i];
        double gear = 0;
        int same = length->force_limited;
        for (int k = 0; k < b->to->motor_count && same; k++) {
            const bodies_motor *motor = &b->to->motor[k];
            if (motor->kind == MOTOR_LENGTH && motor->length == i) {
                same = gear == 0 || motor->gear[0] == gear;
                gear = motor->gear[0];
            }
        }
        if (same && gear != 0) {
            double low = gear * length->force_range[0], high = gear * length->force_range[1];
            length->force_range[0] = fmin(low, high);
            length->force_range[1] = fmax(low, high);
        }
    }
}

zw_status bodies_make_drives(bodies_builder *b, zw_error *error)
{
    size_t motors = (size_t)b->from->count[ZW_KIND_ACTUATOR] + 1;
    b->to->motor = base_alloc(motors * sizeof *b->to->motor);
    b->to->lift = base_alloc((size_t)b->from->count[ZW_KIND_BODY] * sizeof *b->to->lift);
    b->to->act_motor = base_alloc(motors * sizeof *b->to->act_motor);
    if (!b->to->motor || !b->to->lift || !b->to->act_motor) {
        return base_no_memory(error);
    }
    zw_status status = ZW_OK;
    for (int k = 0; k < b->from->count[ZW_KIND_ACTUATOR] && status == ZW_OK; k++) {
        describe_motor(b, k);
        status = bodies_without(b, ZW_WITHOUT_ACTUATION) ? ZW_OK : make_motor(b, k, error);
    }
    make_lifts(b);
    share_lifts(b);
    limit_tendons(b);
    status = status == ZW_OK ? set_spring_dampers(b, error) : status;
    status = status == ZW_OK ? bodies_make_muscles(b, error) : status;
    return status == ZW_OK ? damp_by_ratio(b, error) : status;
}

/* Motors and weights taken off, from their definitions. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "system/bodies_build.h"

static zw_status check(const bodies_builder *b, const zw_actuator_def *from, const char *name,
                       zw_error *error)
{
    if (from->dynamics != ZW_DYNAMICS_NONE) {
        return bodies_refuse(b, from->place, "the activation", name, error);
    }
    if (from->drive == ZW_DRIVE_SITE && from->refsite >= 0) {
        return bodies_refuse(b, from->place, "the refsite", name, error);
    }
    return ZW_OK;
}

/* What it pulls on. */
static void aim(const bodies_builder *b, const zw_actuator_def *from, bodies_motor *motor)
{
    if (from->drive == ZW_DRIVE_SITE) {
        const zw_site_def *site = &b->from->site[from->target];
        motor->kind = MOTOR_SITE;
        motor->frame = bodies_frame_on(b, site->body, site->pos, site->quat);
        return;
    }
    if (from->drive == ZW_DRIVE_TENDON) {
        motor->kind = MOTOR_LENGTH;
        motor->length = b->from->count[ZW_THING_JOINT] + from->target;
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

static zw_status make_motor(bodies_builder *b, int index, zw_error *error)
{
    const zw_actuator_def *from = &b->from->actuator[index];
    char name[BODIES_NAME];
    bodies_thing_name(b, ZW_THING_ACTUATOR, index, name);
    zw_status status = check(b, from, name, error);
    if (status != ZW_OK) {
        return status;
    }
    model_param *param = model_add_param(b->to->shown);
    if (!param || !(param->name = bodies_copy(name))) {
        return bodies_no_memory(error);
    }
    param->place = from->place;
    bodies_motor *motor = &b->to->motor[b->to->motor_count];
    *motor = (bodies_motor){.param = b->to->shown->param_count - 1,
                            .formula = formula_of(b, index),
                            .clamp_control =
                                from->ctrl_limited && !bodies_without(b, ZW_WITHOUT_CLAMPCTRL),
                            .clamp_force = from->force_limited,
                            .gain_affine = from->gain_affine,
                            .bias_affine = from->bias_affine};
    aim(b, from, motor);
    memcpy(motor->gear, from->gear, sizeof motor->gear);
    memcpy(motor->control, from->ctrl_range, sizeof motor->control);
    memcpy(motor->force, from->force_range, sizeof motor->force);
    memcpy(motor->gain, from->gain_prm, sizeof motor->gain);
    memcpy(motor->bias, from->bias_prm, sizeof motor->bias);
    b->to->motor_count++;
    return ZW_OK;
}

/* The force -gravcomp m g at the centre of mass of a body; those of the world do nothing. */
static void make_lifts(bodies_builder *b)
{
    static const double none[4] = {1, 0, 0, 0};
    for (int i = 1; i < b->from->count[ZW_THING_BODY]; i++) {
        const zw_body_def *body = &b->from->body[i];
        bodies_frame frame = bodies_frame_on(b, i, b->inertia[i].com, none);
        if (body->gravcomp == 0 || frame.body == 0 || bodies_without(b, ZW_WITHOUT_GRAVITY)) {
            continue;
        }
        bodies_lift *lift = &b->to->lift[b->to->lift_count++];
        lift->body = frame.body;
        for (int k = 0; k < 3; k++) {
            lift->pos[k] = frame.pos[k];
            lift->force[k] = -body->gravcomp * b->inertia[i].mass * b->from->world.gravity[k];
        }
    }
}

zw_status bodies_make_drives(bodies_builder *b, zw_error *error)
{
    size_t motors = (size_t)b->from->count[ZW_THING_ACTUATOR] + 1;
    b->to->motor = base_alloc(motors * sizeof *b->to->motor);
    b->to->lift = base_alloc((size_t)b->from->count[ZW_THING_BODY] * sizeof *b->to->lift);
    if (!b->to->motor || !b->to->lift) {
        return bodies_no_memory(error);
    }
    zw_status status = ZW_OK;
    for (int k = 0; k < b->from->count[ZW_THING_ACTUATOR] && status == ZW_OK; k++) {
        status = bodies_without(b, ZW_WITHOUT_ACTUATION) ? ZW_OK : make_motor(b, k, error);
    }
    make_lifts(b);
    return status;
}

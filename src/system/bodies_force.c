/* Forces of motors, tendons and weights taken off, at an instant. */
#include <math.h>
#include <string.h>

#include "math/elementary.h"
#include "model/pose.h"
#include "system/bodies.h"
#include "tree/sweeps.h"

double bodies_length_of(const struct system_bodies *bodies, int length, const double *q)
{
    const bodies_length *it = &bodies->length[length];
    double sum = 0;
    for (int k = 0; k < it->count; k++) {
        const bodies_term *term = &bodies->term[it->first + k];
        sum += term->coef * q[term->q];
    }
    return sum;
}

double bodies_rate_of(const struct system_bodies *bodies, int length, const double *v)
{
    const bodies_length *it = &bodies->length[length];
    double sum = 0;
    for (int k = 0; k < it->count; k++) {
        const bodies_term *term = &bodies->term[it->first + k];
        sum += term->coef * v[term->dof];
    }
    return sum;
}

/* A force along a length, on the coordinates. */
static void pull(const struct system_bodies *bodies, int length, double by, double *force)
{
    const bodies_length *it = &bodies->length[length];
    for (int k = 0; k < it->count; k++) {
        const bodies_term *term = &bodies->term[it->first + k];
        force[term->dof] += term->coef * by;
    }
}

static double clamp(double x, int limited, const double range[2])
{
    return limited ? fmin(fmax(x, range[0]), range[1]) : x;
}

/* ---- Motors --------------------------------------------------------------------------------- */

static double motor_force(const bodies_motor *motor, double u, double length, double rate)
{
    double gain = motor->gain[0], bias = 0;
    u = clamp(u, motor->clamp_control, motor->control);
    if (motor->gain_affine) {
        gain += motor->gain[1] * length + motor->gain[2] * rate;
    }
    if (motor->bias_affine) {
        bias = motor->bias[0] + motor->bias[1] * length + motor->bias[2] * rate;
    }
    return clamp(gain * u + bias, motor->clamp_force, motor->force);
}

/* gear, given in the parent's axes, along those of the body that the quaternion turns. */
static void gear_in_body(const bodies_motor *motor, const double quat[4], const double *gear,
                         double along[3])
{
    double unit[4] = {quat[0], -quat[1], -quat[2], -quat[3]};
    if (motor->in_parent && model_quat_unit(unit)) {
        model_rotate(unit, gear, along);
    } else {
        memcpy(along, gear, 3 * sizeof *along);
    }
}

/* The length of a ball joint is gear . (axis * angle), the shorter way round. */
static void drive_ball(const bodies_motor *motor, double u, const double *q, const double *v,
                       double *force)
{
    const double *quat = q + motor->q, *e = quat + 1;
    double along[3], size = sqrt(model_dot(e, e)), sign = quat[0] < 0 ? -1 : 1;
    double factor = size > 0 ? sign * 2 * math_atan2(size, fabs(quat[0])) / size : 0;
    gear_in_body(motor, quat, motor->gear, along);
    double length = factor * model_dot(along, e), rate = model_dot(along, v + motor->dof);
    double size_of = motor_force(motor, u, length, rate);
    for (int k = 0; k < 3; k++) {
        force[motor->dof + k] += size_of * along[k];
    }
}

/* A free joint: force along the world's axes, moment along the body's; it has no length. */
static void drive_free(const bodies_motor *motor, double u, const double *q, const double *v,
                       double *force)
{
    double along[6], rate = 0;
    memcpy(along, motor->gear, sizeof along);
    gear_in_body(motor, q + motor->q + 3, motor->gear + 3, along + 3);
    for (int k = 0; k < 6; k++) {
        rate += along[k] * v[motor->dof + k];
    }
    double by = motor_force(motor, u, 0, rate);
    for (int k = 0; k < 6; k++) {
        force[motor->dof + k] += by * along[k];
    }
}

void bodies_push(const zw_system *system, zw_work *work, int body, const double place[3],
                 const double wrench[6], double *force)
{
    const tree_mechanism *tree = system->tree;
    tree_jacobian(tree, body, place, work->sweeps, work->jacobian);
    int chain = tree_chain(tree, body, NULL), d = tree->body[body].last_dof;
    for (int k = chain - 1; k >= 0; k--, d = tree->dof_parent[d]) {
        const double *J = work->jacobian + 6 * k;
        force[d] += model_dot(J, wrench) + model_dot(J + 3, wrench + 3);
    }
}

/* A site: gear is force and moment along its axes; it has no length. */
static void drive_site(const zw_system *system, zw_work *work, const bodies_motor *motor, double u,
                       double *force)
{
    const tree_mechanism *tree = system->tree;
    const bodies_frame *frame = &motor->frame;
    const double *body_quat = work->sweeps + tree->at.quat + 4 * frame->body;
    double place[3], motion[6], quat[4], wrench[6], rate = 0;
    tree_point(tree, frame->body, frame->pos, work->sweeps, place);
    tree_point_velocity(tree, frame->body, place, work->sweeps, motion);
    model_quat_multiply(quat, body_quat, frame->quat);
    model_rotate(quat, motor->gear + 3, wrench);
    model_rotate(quat, motor->gear, wrench + 3);
    for (int k = 0; k < 6; k++) {
        rate += wrench[k] * motion[k];
    }
    double by = motor_force(motor, u, 0, rate);
    for (int k = 0; k < 6; k++) {
        wrench[k] *= by;
    }
    bodies_push(system, work, frame->body, place, wrench, force);
}

void bodies_add_motors(const zw_system *system, zw_work *work, const double *q, const double *v,
                       double *room, double *force)
{
    const struct system_bodies *bodies = system->bodies;
    memset(room, 0, (size_t)bodies->length_count * sizeof *room);
    for (int k = 0; k < bodies->motor_count; k++) {
        const bodies_motor *motor = &bodies->motor[k];
        double u = work->param[motor->param], gear = motor->gear[0];
        if (motor->formula >= 0) {
            u = bodies_formula_outputs(system, work)[bodies->formulas->at_control + motor->formula];
        }
        switch (motor->kind) {
        case MOTOR_LENGTH:
            room[motor->length] +=
                gear * motor_force(motor, u, gear * bodies_length_of(bodies, motor->length, q),
                                   gear * bodies_rate_of(bodies, motor->length, v));
            break;
        case MOTOR_BALL:
            drive_ball(motor, u, q, v, force);
            break;
        case MOTOR_FREE:
            drive_free(motor, u, q, v, force);
            break;
        case MOTOR_SITE:
            drive_site(system, work, motor, u, force);
            break;
        }
    }
    for (int i = 0; i < bodies->length_count && bodies->motor_count > 0; i++) {
        const bodies_length *length = &bodies->length[i];
        pull(bodies, i, clamp(room[i], length->force_limited, length->force_range), force);
    }
}

/* ---- Springs, weights, dampers -------------------------------------------------------------- */

double bodies_add_springs(const zw_system *system, zw_work *work, const double *q, double *force)
{
    const struct system_bodies *bodies = system->bodies;
    double potential = 0, place[3], wrench[6] = {0};
    for (int i = 0; i < bodies->length_count; i++) {
        const bodies_length *length = &bodies->length[i];
        if (length->stiffness == 0) {
            continue;
        }
        double now = bodies_length_of(bodies, i, q);
        double over = now - fmin(fmax(now, length->rest[0]), length->rest[1]);
        potential += 0.5 * length->stiffness * over * over;
        if (force) {
            pull(bodies, i, -length->stiffness * over, force);
        }
    }
    for (int i = 0; i < bodies->lift_count; i++) {
        const bodies_lift *lift = &bodies->lift[i];
        tree_point(system->tree, lift->body, lift->pos, work->sweeps, place);
        potential -= model_dot(lift->force, place);
        if (force) {
            memcpy(wrench + 3, lift->force, sizeof lift->force);
            bodies_push(system, work, lift->body, place, wrench, force);
        }
    }
    return potential;
}

void bodies_add_dampers(const zw_system *system, const double *v, double *force)
{
    const struct system_bodies *bodies = system->bodies;
    for (int i = 0; i < system->n; i++) {
        force[i] -= system->tree->damping[i] * v[i];
    }
    for (int i = 0; i < bodies->length_count; i++) {
        if (bodies->length[i].damping != 0) {
            pull(bodies, i, -bodies->length[i].damping * bodies_rate_of(bodies, i, v), force);
        }
    }
}

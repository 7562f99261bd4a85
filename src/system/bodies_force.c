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

/* Formulas of the terms have been run, if they set it. */
static double control_of(const zw_system *system, const bodies_motor *motor, const zw_work *work)
{
    double u = work->param[motor->param];
    if (motor->formula >= 0) {
        u = bodies_formula_outputs(system,
                                   work)[system->bodies->formulas->at_control + motor->formula];
    }
    return clamp(u, motor->clamp_control, motor->control);
}

/* An activation that is limited stops at the ends of its range. */
void bodies_activate(const zw_system *system, const zw_work *work, const double *v, double *rate)
{
    for (int k = 0; k < system->bodies->act_count; k++) {
        const bodies_motor *motor = &system->bodies->motor[system->bodies->act_motor[k]];
        double u = control_of(system, motor, work), now = v[system->n + system->law.carried + k];
        rate[k] = motor->filter > 0 ? (u - now) * motor->filter : u;
        int stops = (now >= motor->act_range[1] && rate[k] > 0) ||
                    (now <= motor->act_range[0] && rate[k] < 0);
        rate[k] = motor->clamp_act && stops ? 0 : rate[k];
    }
}

static double motor_force(const zw_system *system, const zw_work *work, const bodies_motor *motor,
                          const double *v, double length, double rate)
{
    double gain = motor->gain[0], bias = 0, u = control_of(system, motor, work);
    if (motor->act >= 0) { /* a step may have gone a little too far */
        u = clamp(v[system->n + system->law.carried + motor->act], motor->clamp_act,
                  motor->act_range);
    }
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

/* What a motor pulls along: its length and rate, and for one unit of force what acts. */
typedef struct reach {
    double length, rate;
    double along[6]; /* ball: moment; free: force, moment; site: the wrench, moment first */
    double place[3]; /* of the site */
} reach;

/* The rotation vector of a unit quaternion, the shorter way round, times `along`. */
static double turned(const double quat[4], const double along[3])
{
    const double *e = quat + 1;
    double size = sqrt(model_dot(e, e)), sign = quat[0] < 0 ? -1 : 1;
    double factor = size > 0 ? sign * 2 * math_atan2(size, fabs(quat[0])) / size : 0;
    return factor * model_dot(along, e);
}

/* The length of a ball joint is gear . (axis * angle), the shorter way round. */
static void reach_ball(const bodies_motor *motor, const double *q, const double *v, reach *to)
{
    const double *quat = q + motor->q;
    gear_in_body(motor, quat, motor->gear, to->along);
    to->length = turned(quat, to->along);
    to->rate = model_dot(to->along, v + motor->dof);
}

/* A free joint: force along the world's axes, moment along the body's; it has no length. */
static void reach_free(const bodies_motor *motor, const double *q, const double *v, reach *to)
{
    memcpy(to->along, motor->gear, sizeof to->along);
    gear_in_body(motor, q + motor->q + 3, motor->gear + 3, to->along + 3);
    for (int k = 0; k < 6; k++) {
        to->rate += to->along[k] * v[motor->dof + k];
    }
}

/* gear . (where the site is, how it is turned), both seen in the frame of the other one. */
static double length_between(const bodies_motor *motor, const double place[3], const double quat[4],
                             const double ref_place[3], const double ref_quat[4])
{
    double apart[3], seen[3], between[4];
    double back[4] = {ref_quat[0], -ref_quat[1], -ref_quat[2], -ref_quat[3]};
    for (int k = 0; k < 3; k++) {
        apart[k] = place[k] - ref_place[k];
    }
    model_rotate(back, apart, seen);
    model_quat_multiply(between, back, quat);
    return model_dot(motor->gear, seen) + turned(between, motor->gear + 3);
}

/* A site: gear is force and moment along its axes; it has no length. With a refsite gear is along
 * the axes of that one, and what pulls on the site pulls the other way on the body of the refsite,
 * at the same point: the rate of R1' (p - p1) is R1' (v - v1 - w1 x (p - p1)). */
static void reach_site(const zw_system *system, const zw_work *work, const bodies_motor *motor,
                       reach *to)
{
    const tree_mechanism *tree = system->tree;
    const bodies_frame *frame = &motor->frame, *ref = &motor->ref;
    const double *all = work->sweeps + tree->at.quat;
    double motion[6], away[6] = {0}, quat[4], axes[4], ref_place[3];
    tree_point(tree, frame->body, frame->pos, work->sweeps, to->place);
    tree_point_velocity(tree, frame->body, to->place, work->sweeps, motion);
    model_quat_multiply(quat, all + 4 * frame->body, frame->quat);
    memcpy(axes, quat, sizeof axes);
    if (motor->refers) {
        tree_point(tree, ref->body, ref->pos, work->sweeps, ref_place);
        tree_point_velocity(tree, ref->body, to->place, work->sweeps, away);
        model_quat_multiply(axes, all + 4 * ref->body, ref->quat);
        to->length = length_between(motor, to->place, quat, ref_place, axes);
    }
    model_rotate(axes, motor->gear + 3, to->along);
    model_rotate(axes, motor->gear, to->along + 3);
    for (int k = 0; k < 6; k++) {
        to->rate += to->along[k] * (motion[k] - away[k]);
    }
}

static reach reach_of(const zw_system *system, const zw_work *work, const bodies_motor *motor,
                      const double *q, const double *v)
{
    reach to = {0};
    switch (motor->kind) {
    case MOTOR_LENGTH:
        to.length = motor->gear[0] * bodies_length_of(system->bodies, motor->length, q);
        to.rate = motor->gear[0] * bodies_rate_of(system->bodies, motor->length, v);
        break;
    case MOTOR_BALL:
        reach_ball(motor, q, v, &to);
        break;
    case MOTOR_FREE:
        reach_free(motor, q, v, &to);
        break;
    case MOTOR_SITE:
        reach_site(system, work, motor, &to);
        break;
    }
    return to;
}

bodies_pull bodies_motor_look(const zw_system *system, const zw_work *work, int index,
                              const double *q, const double *v)
{
    const bodies_motor *motor = &system->bodies->motor[index];
    reach to = reach_of(system, work, motor, q, v);
    bodies_pull pull_now = {.length = to.length, .rate = to.rate};
    if (index < system->bodies->motor_count) { /* it is not switched off */
        pull_now.force = motor_force(system, work, motor, v, to.length, to.rate);
    }
    for (int k = 0; k < 3; k++) {
        pull_now.place[k] = to.place[k];
        pull_now.wrench[k] = pull_now.force * to.along[k];
        pull_now.wrench[3 + k] = pull_now.force * to.along[3 + k];
    }
    return pull_now;
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

void bodies_add_motors(const zw_system *system, zw_work *work, const double *q, const double *v,
                       double *room, double *force)
{
    const struct system_bodies *bodies = system->bodies;
    memset(room, 0, (size_t)bodies->length_count * sizeof *room);
    for (int k = 0; k < bodies->motor_count; k++) {
        const bodies_motor *motor = &bodies->motor[k];
        bodies_pull now = bodies_motor_look(system, work, k, q, v);
        if (motor->kind == MOTOR_LENGTH) {
            room[motor->length] += motor->gear[0] * now.force;
        } else if (motor->kind == MOTOR_SITE) {
            bodies_push(system, work, motor->frame.body, now.place, now.wrench, force);
            for (int i = 0; i < 6; i++) {
                now.wrench[i] = motor->refers ? -now.wrench[i] : 0;
            }
            bodies_push(system, work, motor->ref.body, now.place, now.wrench, force);
        } else {
            for (int i = 0; i < (motor->kind == MOTOR_BALL ? 3 : 6); i++) {
                force[motor->dof + i] += now.wrench[i];
            }
        }
    }
    for (int i = 0; i < bodies->length_count && bodies->motor_count > 0; i++) {
        const bodies_length *length = &bodies->length[i];
        room[i] = clamp(room[i], length->force_limited, length->force_range);
        pull(bodies, i, room[i], force);
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

/* Forces of motors, tendons and gravity compensation, at an instant. */
#include <math.h>
#include <string.h>

#include "math/elementary.h"
#include "model/pose.h"
#include "system/bodies/bodies.h"
#include "system/bodies/bodies_side.h"
#include "tree/sweeps.h"

/* Adds a force along a length to the coordinates; coef: of all terms. */
static void pull(const struct system_bodies *bodies, const double *coef, int length, double by,
                 double *force)
{
    const bodies_length *it = &bodies->length[length];
    for (int k = it->first; k < it->first + it->count; k++) {
        force[bodies->term[k].dof] += coef[k] * by;
    }
}

static double clamp(double x, int limited, const double range[2])
{
    return limited ? fmin(fmax(x, range[0]), range[1]) : x;
}

/* ---- Motors --------------------------------------------------------------------------------- */

/* Formulas of the terms have been run, if one sets it. */
static double control_as_given(const zw_system *system, const bodies_motor *motor,
                               const zw_work *work)
{
    return motor->formula >= 0
               ? bodies_formula_outputs(system,
                                        work)[system->bodies->formulas->at_control + motor->formula]
               : work->param[motor->param];
}

/* Its range, which for muscles is within 0 to 1. 0: none. */
static int control_range(const bodies_motor *motor, double range[2])
{
    range[0] = motor->clamp_control ? motor->control[0] : -HUGE_VAL;
    range[1] = motor->clamp_control ? motor->control[1] : HUGE_VAL;
    if (motor->excited) {
        range[0] = fmin(fmax(range[0], 0), 1);
        range[1] = fmin(fmax(range[1], 0), 1);
    }
    return motor->clamp_control || motor->excited;
}

static double control_of(const zw_system *system, const bodies_motor *motor, const zw_work *work)
{
    double u = control_as_given(system, motor, work), range[2];
    int limited = control_range(motor, range);
    if (work->control_side) {
        int side = work->control_side[motor->param];
        return side < 0 ? range[0] : side > 0 ? range[1] : u;
    }
    return clamp(u, limited, range);
}

int bodies_control_sides(const zw_system *system, const zw_work *work, double near, int *side)
{
    int ends = 0;
    for (int k = 0; k < system->bodies->motor_count; k++) {
        const bodies_motor *motor = &system->bodies->motor[k];
        double u = control_as_given(system, motor, work), range[2], slack = near * (1 + fabs(u));
        int limited = control_range(motor, range) && range[0] < range[1];
        side[motor->param] =
            u < range[0] || (range[0] == range[1] && u == range[0]) ? -1 : u > range[1];
        ends += limited && fmin(fabs(u - range[0]), fabs(u - range[1])) <= slack;
    }
    return ends;
}

/* The rate of its activation, ignoring its range. */
static double activation_rate(const bodies_motor *motor, double u, double now)
{
    return motor->excited      ? (u - now) / bodies_muscle_time(motor, u, now)
           : motor->filter > 0 ? (u - now) * motor->filter
                               : u;
}

int bodies_activation_end(const bodies_motor *motor, double now)
{
    double low = motor->clamp_act ? motor->act_range[0] : 0;
    double high = motor->clamp_act ? motor->act_range[1] : 1;
    int limited = (motor->clamp_act || motor->excited) && low < high;
    return !limited ? 0 : now == low ? 1 : now == high ? -1 : 0;
}

/* A limited activation stops at the ends of its range. */
void bodies_activate(const zw_system *system, const zw_work *work, const double *v, double *rate)
{
    for (int k = 0; k < system->bodies->act_count; k++) {
        const bodies_motor *motor = &system->bodies->motor[system->bodies->act_motor[k]];
        double u = control_of(system, motor, work), now = v[system->n + system->law.carried + k];
        rate[k] = activation_rate(motor, u, now);
        int stops = (now >= motor->act_range[1] && rate[k] > 0) ||
                    (now <= motor->act_range[0] && rate[k] < 0);
        rate[k] = motor->clamp_act && !work->acts_freely && stops ? 0 : rate[k];
    }
}

double bodies_activation_time(const bodies_motor *motor, double h)
{
    return motor->exact ? -math_expm1(-h * motor->filter) / motor->filter : h;
}

/* a' = (u - a)/tau with the time constant at the middle of h: of second order, and never beyond u.
 */
static double excite(const bodies_motor *motor, double u, double now, double h)
{
    double half = u + (now - u) * math_exp(-h / 2 / bodies_muscle_time(motor, u, now));
    return u + (now - u) * math_exp(-h / bodies_muscle_time(motor, u, half));
}

/* a' = u, or a' = (u - a)/tau: u + (a - u) exp(-h/tau). */
double bodies_activated(const zw_system *system, const zw_work *work, const bodies_motor *motor,
                        double now, double h)
{
    double u = control_of(system, motor, work);
    double then = motor->excited      ? excite(motor, u, now, h)
                  : motor->filter > 0 ? u + (now - u) * math_exp(-h * motor->filter)
                                      : now + h * u;
    return clamp(then, motor->clamp_act, motor->act_range);
}

double bodies_activates(const zw_system *system, const zw_work *work, const bodies_motor *motor,
                        double now, double h)
{
    if (!motor->excited) {
        return motor->filter > 0 ? -math_expm1(-h * motor->filter) : h;
    }
    double u = control_of(system, motor, work), given = control_as_given(system, motor, work);
    return given >= 0 && given <= 1 ? -math_expm1(-h / bodies_muscle_time(motor, u, now)) : 0;
}

double bodies_control(const zw_system *system, const zw_work *work, const bodies_motor *motor,
                      const double *v)
{
    if (motor->act < 0) {
        return control_of(system, motor, work);
    }
    double now = v[system->n + system->law.carried + motor->act];
    if (motor->early && work->ahead > 0) {
        now += bodies_activation_time(motor, work->ahead) *
               activation_rate(motor, control_of(system, motor, work), now);
        return clamp(now, motor->clamp_act, motor->act_range);
    }
    /* a step may have exceeded the range slightly */
    return clamp(now, motor->clamp_act && !work->acts_freely, motor->act_range);
}

/* gear, given in the parent's axes, in the axes of the body rotated by the quaternion. */
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

/* A wrench (moment first) at a point of a body as forces on coordinates; returns their number. */
static int spread(const zw_system *system, zw_work *work, int body, const double place[3],
                  const double wrench[6], int *dof, double *coef)
{
    const tree_mechanism *tree = system->tree;
    tree_jacobian(tree, body, place, work->sweeps, work->jacobian);
    int chain = tree_chain(tree, body, dof);
    for (int k = 0; k < chain; k++) {
        const double *J = work->jacobian + 6 * k;
        coef[k] = model_dot(J, wrench) + model_dot(J + 3, wrench + 3);
    }
    return chain;
}

void bodies_push(const zw_system *system, zw_work *work, int body, const double place[3],
                 const double wrench[6], double *force)
{
    int count = spread(system, work, body, place, wrench, work->aim_dof, work->aim);
    for (int k = 0; k < count; k++) {
        force[work->aim_dof[k]] += work->aim[k];
    }
}

/* The rotation vector of a unit quaternion (the shorter rotation) times `along`. */
static double turned(const double quat[4], const double along[3])
{
    const double *e = quat + 1;
    double size = sqrt(model_dot(e, e)), sign = quat[0] < 0 ? -1 : 1;
    double factor = size > 0 ? sign * 2 * math_atan2(size, fabs(quat[0])) / size : 0;
    return factor * model_dot(along, e);
}

/* The length of a ball joint is gear . (axis * angle), for the shorter rotation. */
static int aim_ball(const bodies_motor *motor, const double *q, int *dof, double *coef,
                    double *length)
{
    const double *quat = q + motor->q;
    gear_in_body(motor, quat, motor->gear, coef);
    for (int k = 0; k < 3; k++) {
        dof[k] = motor->dof + k;
    }
    *length = turned(quat, coef);
    return 3;
}

/* A free joint: force along the world's axes, moment along the body's; it has no length. */
static int aim_free(const bodies_motor *motor, const double *q, int *dof, double *coef)
{
    memcpy(coef, motor->gear, 6 * sizeof *coef);
    gear_in_body(motor, q + motor->q + 3, motor->gear + 3, coef + 3);
    for (int k = 0; k < 6; k++) {
        dof[k] = motor->dof + k;
    }
    return 6;
}

/* gear . (position, rotation vector) of the site in the frame of the other one. */
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

/* A rod of length r leads from the crank, at x from the slider's site, to the slider, at l along
 * the axis e: |x - l e| = r, so l = e.x - s with s^2 = (e.x)^2 + r^2 - x.x. Then dl/dx = e + (x -
 * (e.x) e)/s. As l does not change if both sites rotate together, the force on the axis is the
 * opposite force at the same point. Where the rod is too short, MuJoCo has l = e.x.
 */
double bodies_crank(double rod, const double apart[3], const double axis[3], double force[3])
{
    double along = model_dot(apart, axis);
    double square = along * along + rod * rod - model_dot(apart, apart);
    double s = square > 0 ? sqrt(square) : 0;
    for (int k = 0; k < 3; k++) {
        force[k] = axis[k] + (s > 0 ? (apart[k] - along * axis[k]) / s : 0);
    }
    return along - s;
}

/* A site: gear is force and moment along its axes; it has no length. With a refsite gear is along
 * the axes of that one, and the opposite force acts on the body of the refsite, at the same point:
 * the rate of R1' (p - p1) is R1' (v - v1 - w1 x (p - p1)). */
static double site_wrench(const zw_system *system, const zw_work *work, const bodies_motor *motor,
                          double place[3], double wrench[6])
{
    const tree_mechanism *tree = system->tree;
    const bodies_frame *frame = &motor->frame, *ref = &motor->ref;
    const double *all = work->sweeps + tree->at.quat;
    double quat[4], axes[4], ref_place[3], length = 0;
    tree_point(tree, frame->body, frame->pos, work->sweeps, place);
    model_quat_multiply(quat, all + 4 * frame->body, frame->quat);
    memcpy(axes, quat, sizeof axes);
    if (motor->rod > 0) {
        static const double z[3] = {0, 0, 1};
        double axis[3], apart[3];
        tree_point(tree, ref->body, ref->pos, work->sweeps, ref_place);
        model_quat_multiply(axes, all + 4 * ref->body, ref->quat);
        model_rotate(axes, z, axis);
        for (int k = 0; k < 3; k++) {
            apart[k] = place[k] - ref_place[k];
            wrench[k] = 0;
        }
        length = motor->gear[0] * bodies_crank(motor->rod, apart, axis, wrench + 3);
        for (int k = 3; k < 6; k++) {
            wrench[k] *= motor->gear[0];
        }
        return length;
    }
    if (motor->refers) {
        tree_point(tree, ref->body, ref->pos, work->sweeps, ref_place);
        model_quat_multiply(axes, all + 4 * ref->body, ref->quat);
        length = length_between(motor, place, quat, ref_place, axes);
    }
    model_rotate(axes, motor->gear + 3, wrench);
    model_rotate(axes, motor->gear, wrench + 3);
    return length;
}

static int aim_site(const zw_system *system, zw_work *work, const bodies_motor *motor, int *dof,
                    double *coef, double *length)
{
    double place[3], wrench[6];
    *length = site_wrench(system, work, motor, place, wrench);
    int count = spread(system, work, motor->frame.body, place, wrench, dof, coef);
    if (!motor->refers) {
        return count;
    }
    /* dofs that move both have no effect */
    const tree_mechanism *tree = system->tree;
    tree_jacobian(tree, motor->ref.body, place, work->sweeps, work->jacobian);
    int d = tree->body[motor->ref.body].last_dof;
    for (int k = tree_chain(tree, motor->ref.body, NULL) - 1; k >= 0;
         k--, d = tree->dof_parent[d]) {
        const double *J = work->jacobian + 6 * k;
        int i = 0;
        while (i < count && dof[i] != d) {
            i++;
        }
        if (i == count) {
            dof[count] = d;
            coef[count++] = 0;
        }
        coef[i] -= model_dot(J, wrench) + model_dot(J + 3, wrench + 3);
    }
    return count;
}

static int aim_length(const zw_system *system, const zw_work *work, const bodies_motor *motor,
                      const double *q, int *dof, double *coef, double *length)
{
    const struct system_bodies *bodies = system->bodies;
    const bodies_length *it = &bodies->length[motor->length];
    const double *all = it->path < 0 ? bodies->coef : bodies_coef_at(system, work, q);
    for (int k = 0; k < it->count; k++) {
        dof[k] = bodies->term[it->first + k].dof;
        coef[k] = motor->gear[0] * all[it->first + k];
    }
    *length = motor->gear[0] * bodies_length_of(system, work, motor->length, q);
    return it->count;
}

int bodies_aim(const zw_system *system, zw_work *work, int index, const double *q, int *dof,
               double *coef, double *length)
{
    const bodies_motor *motor = &system->bodies->motor[index];
    *length = 0;
    switch (motor->kind) {
    case MOTOR_BALL:
        return aim_ball(motor, q, dof, coef, length);
    case MOTOR_FREE:
        return aim_free(motor, q, dof, coef);
    case MOTOR_SITE:
        return aim_site(system, work, motor, dof, coef, length);
    case MOTOR_ADHESION:
        return bodies_aim_adhesion(system, work, motor, dof, coef);
    default:
        return aim_length(system, work, motor, q, dof, coef, length);
    }
}

int bodies_forces_see_places(const zw_system *system)
{
    const struct system_bodies *bodies = system->bodies;
    int found = bodies->formulas != NULL || bodies->path_count > 0 || bodies->fluid_count > 0 ||
                bodies->lift_count > 0;
    for (int k = 0; k < bodies->motor_count && !found; k++) {
        found = bodies->motor[k].kind >= MOTOR_SITE;
    }
    return found;
}

bodies_law bodies_motor_law(const bodies_motor *motor, double u, double length, double rate)
{
    bodies_law law = {.force = 0};
    double gain = motor->gain[0];
    if (motor->gain_law == ZW_ACTUATOR_AFFINE) {
        gain += motor->gain[1] * length + motor->gain[2] * rate;
        law.by_length = motor->gain[1] * u;
        law.by_rate = motor->gain[2] * u;
    } else if (motor->gain_law == ZW_ACTUATOR_MUSCLE) {
        gain = bodies_muscle_gain(&motor->active, length, rate, &law.by_length, &law.by_rate);
        law.by_length *= u;
        law.by_rate *= u;
    }
    if (motor->bias_law == ZW_ACTUATOR_AFFINE) {
        law.force = motor->bias[0] + motor->bias[1] * length + motor->bias[2] * rate;
        law.by_length += motor->bias[1];
        law.by_rate += motor->bias[2];
    } else if (motor->bias_law == ZW_ACTUATOR_MUSCLE) {
        double by_length = 0;
        law.force = bodies_muscle_bias(&motor->slack, length, &by_length);
        law.by_length += by_length;
    }
    int has_length = motor->kind == MOTOR_LENGTH || motor->kind == MOTOR_BALL || motor->refers;
    law.by_length = has_length ? law.by_length : 0;
    law.force += gain * u;
    return law;
}

/* The gear of an angle in space: that of a ball joint, or of a site that only rotates relative to
 * another one; NULL: its length is not such an angle. */
static const double *turning_gear(const bodies_motor *motor)
{
    if (motor->kind == MOTOR_BALL) {
        return motor->gear;
    }
    int turns = motor->kind == MOTOR_SITE && motor->refers && !(motor->rod > 0) &&
                model_dot(motor->gear, motor->gear) == 0;
    return turns ? motor->gear + 3 : NULL;
}

/* A revolution about the axis of gear is a length of 2 pi |gear|. A servo, force = k (u - length) +
 * ..., moves to the nearest of the angles equivalent to u, as in MuJoCo; if u is filtered it moves
 * to u itself, as there. */
double bodies_nearest_control(const bodies_motor *motor, double u, double length)
{
    const double *gear = turning_gear(motor);
    if (gear == NULL || motor->filter > 0 || motor->excited || motor->gain_law ||
        motor->bias_law != ZW_ACTUATOR_AFFINE || motor->gain[0] != -motor->bias[1]) {
        return u;
    }
    const double two_pi = 6.28318530717958647693;
    double turn = two_pi * sqrt(model_dot(gear, gear));
    return turn > 0 ? u - turn * floor((u - length) / turn + 0.5) : u;
}

bodies_pull bodies_motor_look(const zw_system *system, zw_work *work, int index, const double *q,
                              const double *v)
{
    const bodies_motor *motor = &system->bodies->motor[index];
    bodies_pull now = {0};
    int count = bodies_aim(system, work, index, q, work->aim_dof, work->aim, &now.length);
    for (int i = 0; i < count; i++) {
        now.rate += work->aim[i] * v[work->aim_dof[i]];
    }
    if (index < system->bodies->motor_count) { /* not switched off */
        double u =
            bodies_nearest_control(motor, bodies_control(system, work, motor, v), now.length);
        now.force = clamp(bodies_motor_law(motor, u, now.length, now.rate).force,
                          motor->clamp_force, motor->force);
    }
    if (motor->kind == MOTOR_SITE) {
        site_wrench(system, work, motor, now.place, now.wrench);
        for (int k = 0; k < 6; k++) {
            now.wrench[k] *= now.force;
        }
    }
    now.count = count;
    return now;
}

static void add_lift(const zw_system *system, zw_work *work, const bodies_lift *lift,
                     const double place[3], double *force)
{
    double wrench[6] = {0, 0, 0, lift->force[0], lift->force[1], lift->force[2]};
    bodies_push(system, work, lift->body, place, wrench, force);
}

void bodies_see_lifts(const zw_system *system, zw_work *work)
{
    const struct system_bodies *bodies = system->bodies;
    if (!bodies->motor_lifts) {
        return;
    }
    memset(work->lifted, 0, (size_t)system->n * sizeof *work->lifted);
    for (int i = 0; i < bodies->lift_count; i++) {
        double place[3];
        tree_point(system->tree, bodies->lift[i].body, bodies->lift[i].pos, work->sweeps, place);
        add_lift(system, work, &bodies->lift[i], place, work->lifted);
    }
}

void bodies_force_range(const zw_system *system, const zw_work *work, int length, double range[2])
{
    const bodies_length *l = &system->bodies->length[length];
    int own = system->bodies->motor_lifts && l->lifts;
    double by = own ? work->lifted[system->bodies->term[l->first].dof] : 0;
    range[0] = l->force_range[0] - by;
    range[1] = l->force_range[1] - by;
}

void bodies_add_motors(const zw_system *system, zw_work *work, const double *q, const double *v,
                       double *scratch, double *force)
{
    const struct system_bodies *bodies = system->bodies;
    const double *coef = bodies_coef_at(system, work, q);
    memset(scratch, 0, (size_t)bodies->length_count * sizeof *scratch);
    bodies_see_lifts(system, work);
    for (int k = 0; k < bodies->motor_count; k++) {
        const bodies_motor *motor = &bodies->motor[k];
        if (motor->kind == MOTOR_LENGTH && !motor->gain_law && !motor->bias_law) {
            double target =
                motor->gain[0] * bodies_control(system, work, motor, v); /* depends on u alone */
            scratch[motor->length] +=
                motor->gear[0] * clamp(target, motor->clamp_force, motor->force);
            continue;
        }
        bodies_pull now = bodies_motor_look(system, work, k, q, v);
        if (motor->kind == MOTOR_LENGTH) {
            scratch[motor->length] += motor->gear[0] * now.force;
            continue;
        }
        for (int i = 0; i < now.count; i++) {
            force[work->aim_dof[i]] += now.force * work->aim[i];
        }
    }
    int works = bodies->motor_count > 0 || bodies->motor_lifts;
    for (int i = 0; i < bodies->length_count && works; i++) {
        const bodies_length *length = &bodies->length[i];
        int at_dof = i < bodies->joint_count && length->count == 1;
        scratch[i] = clamp(scratch[i], length->force_limited && !at_dof, length->force_range);
        pull(bodies, coef, i, scratch[i], force);
    }

    /* The limit of a joint applies to the sum of all motors, on the joint, its tendons or sites. */
    for (int i = 0; i < bodies->joint_count && works; i++) {
        const bodies_length *length = &bodies->length[i];
        if (length->force_limited && length->count == 1) {
            double *at = &force[bodies->term[length->first].dof], range[2];
            bodies_force_range(system, work, i, range);
            *at = scratch[i] = clamp(*at, 1, range);
        }
    }
}

/* ---- Springs, weights, dampers -------------------------------------------------------------- */

double bodies_add_springs(const zw_system *system, zw_work *work, const double *q, double *force)
{
    const struct system_bodies *bodies = system->bodies;
    const double *coef = bodies_coef_at(system, work, q);
    double potential = 0, place[3];
    for (int i = 0; i < bodies->length_count; i++) {
        const bodies_length *length = &bodies->length[i];
        if (length->stiffness == 0) {
            continue;
        }
        double now = bodies_length_of(system, work, i, q);
        double over = now - fmin(fmax(now, length->rest[0]), length->rest[1]);
        potential += 0.5 * length->stiffness * over * over;
        if (force) {
            pull(bodies, coef, i, -length->stiffness * over, force);
        }
    }
    for (int i = 0; i < bodies->lift_count; i++) {
        const bodies_lift *lift = &bodies->lift[i];
        tree_point(system->tree, lift->body, lift->pos, work->sweeps, place);
        potential -= model_dot(lift->force, place);
        if (force) {
            add_lift(system, work, lift, place, force);
        }
    }
    return potential;
}

void bodies_add_dampers(const zw_system *system, zw_work *work, const double *q, const double *v,
                        double *force)
{
    bodies_add_fluid(system, work, v, force);
    const struct system_bodies *bodies = system->bodies;
    const double *coef = bodies_coef_at(system, work, q);
    for (int i = 0; i < system->n; i++) {
        force[i] -= system->tree->damping[i] * v[i];
    }
    for (int i = 0; i < bodies->length_count; i++) {
        if (bodies->length[i].damping != 0) {
            double rate = bodies_rate_of(system, work, i, q, v);
            pull(bodies, coef, i, -bodies->length[i].damping * rate, force);
        }
    }
}

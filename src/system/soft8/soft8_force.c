/* Sweeps and forces of eight worlds: as bodies.c and bodies_force.c for one, in the same order.
 * Motors here act on joints and on tendons with constant moment arms, with forces that are affine
 * in control, length and rate. */
#include <string.h>

#include "system/soft8/soft8.h"
#include "tree/sweeps.h"

ZW_INLINE zw_real8 clamp8(zw_real8 x, int limited, const double range[2])
{
    if (limited) {
        zw_scalar low = (zw_scalar)range[0], high = (zw_scalar)range[1];
        x = lane_select8(x > low, x, (zw_real8){0} + low);
        x = lane_select8(x < high, x, (zw_real8){0} + high);
    }
    return x;
}

/* Sum of coef * x over the terms of a length. */
ZW_INLINE zw_real8 along(const struct system_bodies *bodies, int length, double scale,
                         const zw_real8 *x, int speeds)
{
    const bodies_length *it = &bodies->length[length];
    zw_real8 sum = {0};
    for (int k = it->first; k < it->first + it->count; k++) {
        int at = speeds ? bodies->term[k].dof : bodies->term[k].q;
        sum += (zw_scalar)(scale * bodies->coef[k]) * x[at];
    }
    return sum;
}

ZW_INLINE void pull(const struct system_bodies *bodies, int length, zw_real8 by, zw_real8 *force)
{
    const bodies_length *it = &bodies->length[length];
    for (int k = it->first; k < it->first + it->count; k++) {
        force[bodies->term[k].dof] += (zw_scalar)bodies->coef[k] * by;
    }
}

ZW_INLINE zw_real8 motor_force(const struct system_bodies *bodies, const bodies_motor *motor,
                               zw_real8 u, const zw_real8 *q, const zw_real8 *v)
{
    if (!motor->gain_law && !motor->bias_law) {
        return clamp8((zw_scalar)motor->gain[0] * u, motor->clamp_force, motor->force);
    }
    zw_real8 length = (zw_scalar)motor->gear[0] * along(bodies, motor->length, 1, q, 0);
    zw_real8 rate = along(bodies, motor->length, motor->gear[0], v, 1);
    zw_real8 gain = (zw_real8){0} + (zw_scalar)motor->gain[0], force = {0};
    if (motor->gain_law) {
        gain += (zw_scalar)motor->gain[1] * length + (zw_scalar)motor->gain[2] * rate;
    }
    if (motor->bias_law) {
        force = (zw_scalar)motor->bias[0] + (zw_scalar)motor->bias[1] * length +
                (zw_scalar)motor->bias[2] * rate;
    }
    force += gain * u;
    return clamp8(force, motor->clamp_force, motor->force);
}

ZW_INLINE void add_motors(const struct system_bodies *bodies, const zw_real8 *param,
                          const zw_real8 *q, const zw_real8 *v, int motors_apart, int lengths_apart,
                          zw_real8 *scratch, zw_real8 *force)
{
    CREW_FOR (i, bodies->length_count) {
        scratch[i] = (zw_real8){0};
    }
    CREW_MEET();
    CREW_FOR_IF (motors_apart, k, bodies->motor_count) {
        const bodies_motor *motor = &bodies->motor[k];
        zw_real8 u = clamp8(param[motor->param], motor->clamp_control, motor->control);
        scratch[motor->length] += (zw_scalar)motor->gear[0] * motor_force(bodies, motor, u, q, v);
    }
    CREW_MEET();
    CREW_FOR_IF (lengths_apart, i, bodies->motor_count > 0 ? bodies->length_count : 0) {
        const bodies_length *length = &bodies->length[i];
        int at_dof = i < bodies->joint_count && length->count == 1;
        scratch[i] = clamp8(scratch[i], length->force_limited && !at_dof, length->force_range);
        pull(bodies, i, scratch[i], force);
    }
    CREW_MEET();
    CREW_FOR (i, bodies->motor_count > 0 ? bodies->joint_count : 0) {
        const bodies_length *length = &bodies->length[i];
        if (length->force_limited && length->count == 1) {
            zw_real8 *at = &force[bodies->term[length->first].dof];
            *at = clamp8(*at, 1, length->force_range);
        }
    }
    CREW_MEET();
}

ZW_INLINE void add_springs(const struct system_bodies *bodies, const zw_real8 *q, int lengths_apart,
                           zw_real8 *force)
{
    CREW_FOR_IF (lengths_apart, i, bodies->length_count) {
        const bodies_length *length = &bodies->length[i];
        if (length->stiffness != 0) {
            zw_real8 now = along(bodies, i, 1, q, 0);
            pull(bodies, i, (zw_scalar)-length->stiffness * (now - clamp8(now, 1, length->rest)),
                 force);
        }
    }
    CREW_MEET();
}

ZW_INLINE void add_dampers(const zw_system *system, const zw_real8 *v, int lengths_apart,
                           zw_real8 *force)
{
    const struct system_bodies *bodies = system->bodies;
    CREW_FOR (i, system->n) {
        force[i] -= (zw_scalar)system->tree->damping[i] * v[i];
    }
    CREW_MEET();
    CREW_FOR_IF (lengths_apart, i, bodies->length_count) {
        if (bodies->length[i].damping != 0) {
            pull(bodies, i, (zw_scalar)-bodies->length[i].damping * along(bodies, i, 1, v, 1),
                 force);
        }
    }
    CREW_MEET();
}

ZW_CLONES static void put_forces(const soft8 *s)
{
    const zw_system *system = s->system;
    zw_real8 *force = s->force, *Q = s->Q;
    add_springs(system->bodies, s->q, s->lengths_apart, force);
    if (!system->conservative) {
        CREW_FOR (i, system->n) {
            Q[i] = (zw_real8){0};
        }
        CREW_MEET();
        add_motors(system->bodies, s->param, s->q, s->v, s->motors_apart, s->lengths_apart,
                   s->scratch, Q);
        add_dampers(system, s->v, s->lengths_apart, Q);
        CREW_FOR (i, system->n) {
            force[i] += Q[i];
        }
        CREW_MEET();
    }
}

/* Subtracts the bias; lanes with NaN or infinity are marked as failed. */
ZW_CLONES static void take_bias(soft8 *s, const zw_real8 *bias)
{
    zw_mask8 good = s->good;
    CREW_FOR (i, s->system->n) {
        s->force[i] -= bias[i];
        good &= s->force[i] * 0.0 == 0.0;
    }
    s->good = CREW_ALL8(good);
    CREW_MEET();
}

void soft8_smooth(soft8 *s)
{
    const tree_mechanism *tree = s->system->tree;
    tree_kinematics8(tree, s->q, s->sweeps);
    CREW_TOGETHER();
    tree_velocities8(tree, s->v, s->sweeps);
    CREW_TOGETHER();
    lane_clear8(s->system->n, s->x);
    tree_passive8(tree, s->q, s->x, s->force); /* at rest: springs only */
    put_forces(s);
    CREW_TOGETHER();
    tree_inverse8(tree, NULL, NULL, s->sweeps, s->x);
    take_bias(s, s->x);
    tree_composite8(tree, s->sweeps);
}

/* Sweeps, forces and the matrix of eight worlds: momentum() of impulse_quick.c, impulse_forces and
 * impulse_metric_at of impulse_balance.c, in their order. */
#include <string.h>

#include "step/once8/once8.h"
#include "tree/sweeps.h"

ZW_INLINE zw_real8 clamp8(zw_real8 x, int limited, const double range[2])
{
    if (limited) {
        x = lane_select8(x > range[0], x, (zw_real8){0} + range[0]);
        x = lane_select8(x < range[1], x, (zw_real8){0} + range[1]);
    }
    return x;
}

/* Sum of coef * x over the terms of a length. */
ZW_INLINE zw_real8 along(const struct system_bodies *bodies, int length, const zw_real8 *x,
                         int speeds)
{
    const bodies_length *it = &bodies->length[length];
    zw_real8 sum = {0};
    for (int k = it->first; k < it->first + it->count; k++) {
        sum += bodies->coef[k] * x[speeds ? bodies->term[k].dof : bodies->term[k].q];
    }
    return sum;
}

ZW_INLINE void pull(const struct system_bodies *bodies, int length, zw_real8 by, zw_real8 *force)
{
    const bodies_length *it = &bodies->length[length];
    for (int k = it->first; k < it->first + it->count; k++) {
        force[bodies->term[k].dof] += bodies->coef[k] * by;
    }
}

static int is_steady(const bodies_motor *motor)
{
    return !motor->gain_law && !motor->bias_law;
}

/* The diagonal of H. */
ZW_INLINE zw_real8 *diagonal(const once8 *s, int d)
{
    return &s->H[s->it.straight->start[d] + s->it.straight->depth[d] - 1];
}

/* A motor whose force depends on its length: the force, and its derivative. */
ZW_INLINE void add_motor(const once8 *s, const bodies_motor *motor, zw_real8 u, const zw_real8 *q,
                         const zw_real8 *v)
{
    const struct system_bodies *bodies = s->of->system->bodies;
    const bodies_length *it = &bodies->length[motor->length];
    double coef = motor->gear[0] * bodies->coef[it->first];
    int dof = bodies->term[it->first].dof;
    zw_real8 zero = {0}, length = motor->gear[0] * along(bodies, motor->length, q, 0);
    zw_real8 rate = zero + coef * v[dof];
    zw_real8 gain = zero + motor->gain[0], force = zero, by_length = zero, by_rate = zero;
    if (motor->gain_law) {
        gain += motor->gain[1] * length + motor->gain[2] * rate;
        by_length = motor->gain[1] * u;
        by_rate = motor->gain[2] * u;
    }
    if (motor->bias_law) {
        force = motor->bias[0] + motor->bias[1] * length + motor->bias[2] * rate;
        by_length += motor->bias[1];
        by_rate += motor->bias[2];
    }
    force += gain * u;
    s->of->scratch[motor->length] += motor->gear[0] * force;
    zw_real8 weight = -s->h * (by_rate + s->h * by_length);
    zw_real8 *to = diagonal(s, dof), more = *to + weight * coef * coef;
    *to = lane_select8(weight > 0.0, more, *to);
}

ZW_INLINE void add_motors(const once8 *s, const zw_real8 *q, const zw_real8 *v)
{
    const struct system_bodies *bodies = s->of->system->bodies;
    for (int i = 0; i < bodies->length_count; i++) {
        s->of->scratch[i] = (zw_real8){0};
    }
    for (int k = 0; k < bodies->motor_count; k++) {
        const bodies_motor *motor = &bodies->motor[k];
        zw_real8 u = clamp8(s->of->param[motor->param], motor->clamp_control, motor->control);
        if (is_steady(motor)) {
            const bodies_length *it = &bodies->length[motor->length];
            zw_real8 force = 0.0 + motor->gain[0] * u;
            s->of->Q[bodies->term[it->first].dof] +=
                bodies->coef[it->first] * motor->gear[0] * force;
        } else {
            add_motor(s, motor, u, q, v);
        }
    }
    for (int i = 0; i < bodies->length_count && bodies->motor_count > 0; i++) {
        pull(bodies, i, s->of->scratch[i], s->of->Q);
    }
}

/* What springs and dampers contribute to H. */
ZW_INLINE void stiffen(const once8 *s, const zw_real8 *q)
{
    const tree_mechanism *tree = s->of->system->tree;
    const struct system_bodies *bodies = s->of->system->bodies;
    for (int d = 0; d < tree->nv; d++) {
        double stiffness = tree->joint[tree->dof_joint[d]].stiffness;
        double weight = s->h * (tree->damping[d] + (stiffness > 0 ? s->h : 0) * stiffness);
        if (weight > 0) {
            *diagonal(s, d) += weight;
        }
    }
    for (int i = 0; i < bodies->length_count; i++) {
        const bodies_length *length = &bodies->length[i];
        zw_real8 weight = (zw_real8){0} + s->h * length->damping;
        if (length->stiffness == 0 && length->damping == 0) {
            continue;
        }
        double coef = bodies->coef[length->first];
        if (length->stiffness != 0) {
            zw_real8 now = along(bodies, i, q, 0), more = weight + s->h * s->h * length->stiffness;
            zw_mask8 taut = (now < length->rest[0]) | (now > length->rest[1]);
            weight = length->rest[0] == length->rest[1] ? more : lane_select8(taut, more, weight);
        }
        zw_real8 *to = diagonal(s, bodies->term[length->first].dof),
                 sum = *to + weight * coef * coef;
        *to = lane_select8(weight > 0.0, sum, *to);
    }
}

/* Forces at (q1, v0), where v0 would lead, and the part of H other than M. */
ZW_CLONES static void put_forces(const once8 *s)
{
    const zw_system *system = s->of->system;
    const struct system_bodies *bodies = system->bodies;
    const zw_real8 *q = s->q1, *v = s->v0;
    zw_real8 *force = s->of->force, *Q = s->of->Q;
    for (int i = 0; i < bodies->length_count; i++) {
        const bodies_length *length = &bodies->length[i];
        if (length->stiffness != 0) {
            zw_real8 now = along(bodies, i, q, 0);
            pull(bodies, i, -length->stiffness * (now - clamp8(now, 1, length->rest)), force);
        }
    }
    for (int i = 0; i < system->n; i++) {
        Q[i] = (zw_real8){0};
    }
    stiffen(s, q);
    add_motors(s, q, v);
    for (int i = 0; i < system->n; i++) {
        Q[i] -= system->tree->damping[i] * v[i];
    }
    for (int i = 0; i < bodies->length_count; i++) {
        if (bodies->length[i].damping != 0) {
            pull(bodies, i, -bodies->length[i].damping * along(bodies, i, v, 1), Q);
        }
    }
    for (int i = 0; i < system->n; i++) {
        force[i] += Q[i];
    }
}

ZW_CLONES static void put_masses(const once8 *s)
{
    const tree_mechanism *tree = s->of->system->tree;
    const zw_real8 *M = s->of->sweeps + tree->at.M;
    for (int d = 0; d < tree->nv; d++) {
        int first = tree->start[d], count = tree->start[d + 1] - first;
        for (int k = 0; k < count; k++) {
            s->H[s->it.straight->start[d] + k] = M[first + k];
        }
    }
}

ZW_CLONES static void put_impulse(const once8 *s, const zw_real8 *bias)
{
    zw_mask8 good = s->of->good;
    for (int i = 0; i < s->of->system->n; i++) {
        s->r[i] = s->h * (s->of->force[i] - bias[i]);
        good &= s->r[i] * 0.0 == 0.0;
    }
    s->of->good = good;
}

void once8_smooth(once8 *s)
{
    const tree_mechanism *tree = s->of->system->tree;
    zw_real8 h = (zw_real8){0} + s->h;
    tree_kinematics8(tree, s->of->q, s->of->sweeps);
    tree_velocities8(tree, s->v0, s->of->sweeps);
    tree_composite8(tree, s->of->sweeps);
    tree_inverse8(tree, NULL, NULL, s->of->sweeps, s->of->x);
    tree_spin8(tree, &h, s->of->sweeps, s->of->x);
    tree_advance8(tree, s->of->q, s->v0, &h, s->q1);
    tree_passive8(tree, s->q1, s->zero, s->of->force);
    put_masses(s);
    put_forces(s);
    put_impulse(s, s->of->x);
}

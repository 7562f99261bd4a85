/* Forces by their kind, and momenta.
 *
 * force = SPEEDS + POTENTIAL + APPLIED of PART_TERMS (system.h): APPLIED is Q - dR/dv; POTENTIAL is
 * the remainder at v = 0, that is dL/dq - D p there; SPEEDS is the part that depends on speeds. */
#include <string.h>

#include "base/error.h"
#include "look/probe.h"
#include "model/pose.h"
#include "system/bodies/bodies.h"
#include "tree/sweeps.h"

static void take(int n, const double *x, double *y)
{
    for (int i = 0; i < n; i++) {
        y[i] -= x[i];
    }
}

/* The whole force; with `still`, at zero speeds. applied[n] gets its part that does work. */
static zw_status evaluate(zw_probe *probe, probe_now now, int still, double *force, double *applied,
                          zw_error *error)
{
    const zw_system *system = probe->system;
    size_t bytes = (size_t)system->n * sizeof *force;
    if (still) { /* what is carried stays */
        size_t count = (size_t)(system->n + system->carried);
        memcpy(probe->chain, now.v, count * sizeof *now.v);
        memset(probe->chain, 0, bytes);
        now.v = probe->chain;
    }
    zw_status status = probe_evaluate(probe, now, PART_TERMS, error);
    const double *out = probe->work->out[PART_TERMS];
    memcpy(force, out + system->at.force, bytes);
    memset(applied, 0, bytes);
    if (!system->conservative) {
        memcpy(applied, out + system->at.Q, bytes);
    }
    return status;
}

/* ---- Robots --------------------------------------------------------------------------------- */

/* Adds the forces of gravity compensation, times `sign`. */
static void add_lifts(zw_probe *probe, double sign, double *force)
{
    const zw_system *system = probe->system;
    double place[3], wrench[6] = {0};
    for (int k = 0; k < system->bodies->lift_count; k++) {
        const bodies_lift *lift = &system->bodies->lift[k];
        tree_point(system->tree, lift->body, lift->pos, probe->work->sweeps, place);
        for (int i = 0; i < 3; i++) {
            wrench[3 + i] = sign * lift->force[i];
        }
        bodies_push(system, probe->work, lift->body, place, wrench, force);
    }
}

/* Weights, and gravity compensation. */
static void gravity_of(zw_probe *probe, probe_now now, double *force)
{
    const zw_system *system = probe->system;
    double *sweeps = probe->work->sweeps;
    memset(probe->chain, 0, (size_t)system->n * sizeof *probe->chain);
    tree_kinematics(system->tree, now.q, sweeps);
    tree_velocities(system->tree, probe->chain, sweeps);
    tree_inverse(system->tree, NULL, NULL, sweeps, force);
    for (int i = 0; i < system->n; i++) {
        force[i] = -force[i];
    }
    add_lifts(probe, 1, force);
}

/* Springs of joints, then those of lengths, which come with the lifts. */
static void springs_of(zw_probe *probe, probe_now now, double *force)
{
    const zw_system *system = probe->system;
    memset(probe->chain, 0, (size_t)system->n * sizeof *probe->chain);
    tree_kinematics(system->tree, now.q, probe->work->sweeps);
    tree_passive(system->tree, now.q, probe->chain, force);
    bodies_add_springs(system, probe->work, now.q, force);
    add_lifts(probe, -1, force);
}

/* After the terms of the same state have been evaluated: formulas of controls are known. */
static void motors_of(zw_probe *probe, probe_now now, double *force)
{
    const zw_system *system = probe->system;
    double *scratch = probe->work->rows + 2 * system->m + system->n; /* as bodies.c has it */
    memset(force, 0, (size_t)system->n * sizeof *force);
    bodies_add_motors(system, probe->work, now.q, now.v, scratch, force);
}

static zw_status of_robots(zw_probe *probe, probe_now now, zw_force kind, double *force,
                           zw_error *error)
{
    const zw_system *system = probe->system;
    double *other = probe->scratch;
    int n = system->n;
    if (!system->tree) {
        return base_fail(error, ZW_BAD_INPUT,
                         "equations have potential and applied forces only; gravity, springs and "
                         "motors are separate in robots");
    }
    if (kind == ZW_FORCE_GRAVITY) {
        gravity_of(probe, now, force);
        return ZW_OK;
    }
    if (kind == ZW_FORCE_SPRING) {
        springs_of(probe, now, force);
        return ZW_OK;
    }
    zw_status status = evaluate(probe, now, 0, other, force, error);
    if (kind == ZW_FORCE_MOTOR || status != ZW_OK) {
        motors_of(probe, now, force);
        return status;
    }
    motors_of(probe, now, other);
    take(n, other, force);
    return ZW_OK;
}

zw_status zw_force_look(zw_probe *probe, const zw_state *state, zw_force kind, double *force,
                        zw_error *error)
{
    const zw_system *system = probe->system;
    int n = system->n;
    probe_now now = probe_bind(probe, state);
    double *other = probe->scratch;
    zw_status status;
    switch (kind) {
    case ZW_FORCE_ALL:
        return evaluate(probe, now, 0, force, other, error);
    case ZW_FORCE_APPLIED:
        return evaluate(probe, now, 0, other, force, error);
    case ZW_FORCE_POTENTIAL:
        status = evaluate(probe, now, 1, force, other, error);
        take(n, other, force);
        return status;
    case ZW_FORCE_SPEEDS:
        status = evaluate(probe, now, 0, force, other, error);
        take(n, other, force);
        if (status == ZW_OK) {
            status = evaluate(probe, now, 1, other, other + n, error);
            take(n, other, force);
            for (int i = 0; i < n; i++) {
                force[i] += other[n + i];
            }
        }
        return status;
    default:
        return of_robots(probe, now, kind, force, error);
    }
}

/* ---- Momenta -------------------------------------------------------------------------------- */

zw_status zw_momenta(zw_probe *probe, const zw_state *state, double *p, zw_error *error)
{
    probe_now now = probe_bind(probe, state);
    if (probe->system->tree) { /* where M may have more than the tree's */
        return zw_mass_times(probe, state, now.v, p, error);
    }
    zw_status status = probe_evaluate(probe, now, PART_LAGRANGE, error);
    memcpy(p, probe->work->out[PART_LAGRANGE], (size_t)probe->system->n * sizeof *p);
    return status;
}

/* Marks a body and all its descendants; rejects bodies that do not exist. */
static zw_status mark_subtree(zw_probe *probe, int body, zw_error *error)
{
    const struct system_bodies *bodies = probe->system->bodies;
    if (!bodies || body < 0 || body >= bodies->part_count) {
        return base_fail(error, ZW_BAD_INPUT,
                         bodies ? "there is no body %d"
                                : "equations have momenta of their coordinates (zw_momenta); "
                                  "momentum and centre of mass are for robots, not for %d",
                         body);
    }
    for (int i = 0; i < bodies->part_count; i++) {
        probe->inside[i] = i == body || (i > body && probe->inside[bodies->part[i].parent] &&
                                         bodies->part[i].parent >= body);
    }
    return ZW_OK;
}

/* Mass and centre of mass of the marked bodies. */
static double centre_of(const zw_probe *probe, double com[3])
{
    const struct system_bodies *bodies = probe->system->bodies;
    double mass = 0, c[3], sum[3] = {0};
    for (int i = 0; i < bodies->part_count; i++) {
        if (probe->inside[i]) {
            bodies_part_centre(probe->system, probe->work, i, c);
            mass += bodies->part[i].mass;
            for (int k = 0; k < 3; k++) {
                sum[k] += bodies->part[i].mass * c[k];
            }
        }
    }
    for (int k = 0; k < 3; k++) {
        com[k] = sum[k] / mass;
    }
    return mass;
}

zw_status zw_momentum_look(zw_probe *probe, const zw_state *state, int body, zw_momentum *momentum,
                           zw_error *error)
{
    const zw_system *system = probe->system;
    zw_status status = mark_subtree(probe, body, error);
    if (status != ZW_OK) {
        return status;
    }
    probe_sweep(probe, probe_bind(probe, state));
    *momentum = (zw_momentum){0};
    momentum->mass = centre_of(probe, momentum->com);
    for (int i = 0; i < system->bodies->part_count; i++) {
        double c[3], V[6], own[3], arm[3], turn[3];
        double mass = system->bodies->part[i].mass;
        if (!probe->inside[i]) {
            continue;
        }
        bodies_part_centre(system, probe->work, i, c);
        tree_point_velocity(system->tree, system->bodies->part[i].frame.body, c,
                            probe->work->sweeps, V);
        bodies_part_inertia(system, probe->work, i, V, own);
        for (int k = 0; k < 3; k++) {
            arm[k] = c[k] - momentum->com[k];
            momentum->momentum[k] += mass * V[3 + k];
        }
        model_cross(turn, arm, V + 3);
        for (int k = 0; k < 3; k++) {
            momentum->spin[k] += own[k] + mass * turn[k];
        }
    }
    for (int k = 0; k < 3; k++) {
        momentum->velocity[k] = momentum->momentum[k] / momentum->mass;
    }
    return ZW_OK;
}

/* Adds the contribution of one body to the columns of its chain. */
static void add_columns(zw_probe *probe, int i, double share, const double com[3], double *centre,
                        double *spin)
{
    const zw_system *system = probe->system;
    int body = system->bodies->part[i].frame.body;
    size_t n = (size_t)system->n;
    double c[3], arm[3];
    bodies_part_centre(system, probe->work, i, c);
    tree_jacobian(system->tree, body, c, probe->work->sweeps, probe->chain);
    int count = tree_chain(system->tree, body, probe->dof);
    for (int k = 0; k < 3; k++) {
        arm[k] = c[k] - com[k];
    }
    for (int d = 0; d < count; d++) {
        const double *J = probe->chain + 6 * d;
        double own[3], turn[3];
        bodies_part_inertia(system, probe->work, i, J, own);
        model_cross(turn, arm, J + 3);
        for (size_t k = 0; k < 3; k++) {
            size_t at = k * n + (size_t)probe->dof[d];
            if (centre) {
                centre[at] += share * J[3 + k];
            }
            if (spin) {
                spin[at] += own[k] + system->bodies->part[i].mass * turn[k];
            }
        }
    }
}

zw_status zw_momentum_jacobian(zw_probe *probe, const zw_state *state, int body, double *com,
                               double *spin, zw_error *error)
{
    const zw_system *system = probe->system;
    size_t bytes = 3 * (size_t)system->n * sizeof(double);
    double centre[3];
    zw_status status = mark_subtree(probe, body, error);
    if (status != ZW_OK) {
        return status;
    }
    probe_now now = probe_bind(probe, state);
    tree_kinematics(system->tree, now.q, probe->work->sweeps);
    double mass = centre_of(probe, centre);
    if (com) {
        memset(com, 0, bytes);
    }
    if (spin) {
        memset(spin, 0, bytes);
    }
    for (int i = 0; i < system->bodies->part_count; i++) {
        if (probe->inside[i]) {
            add_columns(probe, i, system->bodies->part[i].mass / mass, centre, com, spin);
        }
    }
    return ZW_OK;
}

/* Bodies at an instant: the sweeps that a part needs, and its outputs. */
#include "system/bodies.h"

#include <math.h>
#include <string.h>

#include "tree/sweeps.h"

void bodies_start(const zw_system *system, double *q, double *v)
{
    memcpy(q, system->tree->q_rest, (size_t)system->nq * sizeof *q);
    memset(v, 0, (size_t)system->n * sizeof *v);
}

static void put_metric(const zw_system *system, const zw_work *work, double *M)
{
    const double *from = work->sweeps + system->tree->at.M;
    for (int k = 0; k < system->tree->entries; k++) {
        M[system->bodies->entry[k]] = from[k];
    }
}

static double clamp(double x, int limited, const double range[2])
{
    return limited ? fmin(fmax(x, range[0]), range[1]) : x;
}

/* Dampers and motors: what does work. Springs are the tree's and part of the potential. */
static void add_motors(const zw_system *system, const zw_work *work, const double *q,
                       const double *v, double *force)
{
    const struct system_bodies *bodies = system->bodies;
    for (int k = 0; k < bodies->motor_count; k++) {
        const bodies_motor *motor = &bodies->motor[k];
        double length = motor->gear * q[motor->q], rate = motor->gear * v[motor->dof];
        double u = clamp(work->param[motor->param], motor->clamp_control, motor->control);
        double gain = motor->gain[0], bias = 0;
        if (motor->gain_affine) {
            gain += motor->gain[1] * length + motor->gain[2] * rate;
        }
        if (motor->bias_affine) {
            bias = motor->bias[0] + motor->bias[1] * length + motor->bias[2] * rate;
        }
        force[motor->dof] += motor->gear * clamp(gain * u + bias, motor->clamp_force, motor->force);
    }
}

static void put_terms(const zw_system *system, zw_work *work, const double *q, const double *v)
{
    const tree_mechanism *tree = system->tree;
    double *out = work->out[PART_TERMS], *force = out + system->at.force, *bias = work->small;
    double *spare = work->rows;
    tree_composite(tree, work->sweeps);
    put_metric(system, work, out + system->at.M);
    tree_passive(tree, q, v, force);
    add_motors(system, work, q, v, force);
    tree_inverse(tree, NULL, NULL, work->sweeps, bias);
    if (!system->conservative) {
        double *Q = out + system->at.Q;
        for (int i = 0; i < system->n; i++) {
            Q[i] = -tree->damping[i] * v[i];
        }
        add_motors(system, work, q, v, Q);
        out[system->at.dLdt] = 0;
    }
    for (int i = 0; i < system->n; i++) {
        force[i] -= bias[i];
    }
    tree_accelerations(tree, NULL, work->sweeps);
    bodies_fill_rows(system, work, q, v,
                     (bodies_rows){.phi = spare,
                                   .psi = spare + system->m,
                                   .b = out + system->at.b,
                                   .A = out + system->at.A});
    memset(out + system->at.mu, 0, (size_t)system->model->constraint_count * sizeof *out);
}

/* phi or psi, then A. */
static void put_rows(const zw_system *system, zw_work *work, system_part part, const double *q,
                     const double *v)
{
    double *out = work->out[part], *spare = work->rows;
    tree_accelerations(system->tree, NULL, work->sweeps);
    bodies_rows rows = {.phi = spare, .psi = spare, .b = spare + system->m, .A = out + system->m};
    *(part == PART_POSITION ? &rows.phi : &rows.psi) = out;
    bodies_fill_rows(system, work, q, v, rows);
}

void bodies_evaluate(const zw_system *system, zw_work *work, system_part part, const double *q,
                     const double *v)
{
    const tree_mechanism *tree = system->tree;
    double *out = work->out[part], energy[2];
    if (system->tape[part].count == 0) {
        return;
    }
    tree_kinematics(tree, q, work->sweeps);
    tree_velocities(tree, v, work->sweeps);
    switch (part) {
    case PART_TERMS:
        put_terms(system, work, q, v);
        break;
    case PART_POSITION:
    case PART_VELOCITY:
        put_rows(system, work, part, q, v);
        break;
    case PART_METRIC:
        tree_composite(tree, work->sweeps);
        put_metric(system, work, out);
        break;
    case PART_ENERGY:
        tree_energies(tree, q, v, work->sweeps, energy);
        out[0] = energy[0] + energy[1];
        out[1] = energy[0];
        out[2] = energy[1];
        break;
    default:
        break;
    }
}

/* Bodies at an instant: the sweeps that a part needs, and its outputs. */
#include "system/bodies.h"

#include <string.h>

#include "tree/sweeps.h"

void bodies_start(const zw_system *system, double *q, double *v)
{
    memcpy(q, system->bodies->q, (size_t)system->nq * sizeof *q);
    memcpy(v, system->bodies->v, (size_t)system->n * sizeof *v);
}

size_t bodies_room(const zw_system *system)
{
    return 2 * (size_t)system->m + (size_t)system->n + (size_t)system->bodies->length_count;
}

static void put_metric(const zw_system *system, const zw_work *work, double *M)
{
    const double *from = work->sweeps + system->tree->at.M;
    for (int k = 0; k < system->tree->entries; k++) {
        M[system->bodies->entry[k]] = from[k];
    }
}

/* The speeds of what has dry friction, in the form of slip.c. */
static void put_slip(const zw_system *system, const double *v, double *out)
{
    const struct system_bodies *bodies = system->bodies;
    for (int k = 0; k < bodies->dry_count; k++) {
        const bodies_dry *dry = &bodies->dry[k];
        double *e = out, *bias = out + 1, *T = out + 2;
        *e = *bias = 0;
        for (int i = 0; i < dry->count; i++) {
            const bodies_term *term = &bodies->term[dry->first + i];
            *e += term->coef * v[term->dof];
            T[i] = term->coef;
        }
        T[dry->count] = 0; /* nothing is amiss */
        out = T + dry->count + 1;
    }
}

static void put_friction(const zw_system *system, double *mu)
{
    const struct system_bodies *bodies = system->bodies;
    memset(mu, 0, (size_t)bodies->closer_count * sizeof *mu);
    for (int k = 0; k < bodies->dry_count; k++) {
        mu[bodies->closer_count + k] = bodies->dry[k].limit;
    }
}

/* force = springs + what does work (Q). Springs have a potential: energy counts them. */
static void put_forces(const zw_system *system, zw_work *work, const double *q, const double *v)
{
    double *out = work->out[PART_TERMS], *force = out + system->at.force;
    double *still = work->rows + 2 * system->m, *room = still + system->n;
    size_t bytes = (size_t)system->n * sizeof(double);
    memset(still, 0, bytes);
    tree_passive(system->tree, q, still, force); /* at rest: springs only */
    bodies_add_springs(system, work, q, force);
    if (!system->conservative) {
        double *Q = out + system->at.Q;
        memset(Q, 0, bytes);
        bodies_add_motors(system, work, q, v, room, Q);
        bodies_add_dampers(system, v, Q);
        out[system->at.dLdt] = 0;
        for (int i = 0; i < system->n; i++) {
            force[i] += Q[i];
        }
    }
}

static void take_bias(const zw_system *system, zw_work *work)
{
    double *force = work->out[PART_TERMS] + system->at.force, *bias = work->rows + 2 * system->m;
    tree_inverse(system->tree, NULL, NULL, work->sweeps, bias);
    for (int i = 0; i < system->n; i++) {
        force[i] -= bias[i];
    }
}

int bodies_accelerate(const zw_system *system, zw_work *work, const double *q, const double *v,
                      double *a)
{
    int bad = 0, finite = 1;
    tree_kinematics(system->tree, q, work->sweeps);
    tree_velocities(system->tree, v, work->sweeps);
    put_forces(system, work, q, v);
    tree_articulate(system->tree, NULL, work->sweeps, &bad);
    if (bad) {
        return 0;
    }
    tree_forward(system->tree, work->out[PART_TERMS] + system->at.force, NULL, work->sweeps, a);
    for (int i = 0; i < system->n; i++) {
        finite &= a[i] * 0 == 0;
    }
    return finite;
}

static void put_terms(const zw_system *system, zw_work *work, const double *q, const double *v)
{
    double *out = work->out[PART_TERMS], *spare = work->rows;
    tree_composite(system->tree, work->sweeps);
    put_metric(system, work, out + system->at.M);
    put_forces(system, work, q, v);
    take_bias(system, work);
    if (system->m > 0) {
        tree_accelerations(system->tree, NULL, work->sweeps);
        bodies_fill_rows(system, work, q, v,
                         (bodies_rows){.phi = spare,
                                       .psi = spare + system->m,
                                       .b = out + system->at.b,
                                       .A = out + system->at.A});
    }
    put_friction(system, out + system->at.mu);
    put_slip(system, v, out + system->at.slip);
}

/* p, then p' as far as it is not that of the closers: momenta.lane.h. */
static void put_momenta(const zw_system *system, zw_work *work, const double *q, const double *v)
{
    double *p = work->out[PART_LAGRANGE], *g = p + system->n;
    const double *force = work->out[PART_TERMS] + system->at.force;
    tree_momenta(system->tree, v, work->sweeps, p, g);
    put_forces(system, work, q, v);
    for (int i = 0; i < system->n; i++) {
        g[i] += force[i];
    }
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

static void put_energy(const zw_system *system, zw_work *work, const double *q, const double *v)
{
    double *out = work->out[PART_ENERGY], energy[2];
    tree_energies(system->tree, q, v, work->sweeps, energy);
    energy[1] += bodies_add_springs(system, work, q, NULL);
    out[0] = energy[0] + energy[1];
    out[1] = energy[0];
    out[2] = energy[1];
}

static void put_marks(const zw_system *system, zw_work *work)
{
    const struct system_bodies *bodies = system->bodies;
    for (int k = 0; k < bodies->mark_count; k++) {
        tree_point(system->tree, bodies->mark[k].body, bodies->mark[k].pos, work->sweeps,
                   work->out[PART_OUTPUTS] + bodies->mark_output[k]);
    }
}

void bodies_evaluate(const zw_system *system, zw_work *work, system_part part, const double *q,
                     const double *v)
{
    const tree_mechanism *tree = system->tree;
    if (system->tape[part].count == 0) {
        return;
    }
    if (part == PART_SLIP) {
        put_slip(system, v, work->out[part]);
        return;
    }
    tree_kinematics(tree, q, work->sweeps);
    if (part != PART_METRIC && part != PART_OUTPUTS) {
        tree_velocities(tree, v, work->sweeps);
    }
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
        put_metric(system, work, work->out[part]);
        break;
    case PART_ENERGY:
        put_energy(system, work, q, v);
        break;
    case PART_LAGRANGE:
        put_momenta(system, work, q, v);
        break;
    case PART_OUTPUTS:
        put_marks(system, work);
        break;
    default:
        break;
    }
}

/* Bodies at an instant: the sweeps that a part needs, and its outputs. */
#include "system/bodies/bodies.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "tree/group.h"
#include "tree/sweeps.h"

zw_status bodies_start(const zw_system *system, const double *param, double *q, double *v,
                       zw_error *error)
{
    const bodies_formulas *formulas = system->bodies->formulas;
    const expr_inputs in = {.param = param};
    memcpy(q, system->bodies->q, (size_t)system->nq * sizeof *q);
    memcpy(v, system->bodies->v, (size_t)system->n * sizeof *v);
    for (int k = 0; k < system->bodies->act_count; k++) {
        v[system->n + system->law.carried + k] = system->bodies->act[k];
    }
    for (int k = 0; formulas && k < formulas->begin_count; k++) {
        const bodies_begin *begin = &formulas->begin[k];
        double value;
        if (expr_value(system->model->graph, begin->value, &in, &value) != ZW_OK) {
            return base_no_memory(error);
        }
        (begin->is_speed ? v : q)[begin->at] = value;
        if (!isfinite(value)) {
            return model_fail(system->model, error, ZW_NOT_FINITE, begin->place,
                              "this does not start at a finite value");
        }
    }
    return ZW_OK;
}

int bodies_first_constraint(const struct system_bodies *bodies)
{
    return bodies->formulas ? bodies->formulas->constraints : 0;
}

double bodies_extra_mass(const struct system_bodies *bodies, const bodies_extra *extra,
                         const double *coef)
{
    const bodies_length *length = &bodies->length[extra->length];
    return length->armature * coef[length->first + extra->x] * coef[length->first + extra->y];
}

double bodies_armature_energy(const zw_system *system, const zw_work *work, const double *q,
                              const double *v)
{
    const struct system_bodies *bodies = system->bodies;
    double sum = 0;
    for (int i = 0; i < bodies->length_count; i++) {
        double armature = bodies->length[i].armature;
        double rate = armature != 0 ? bodies_rate_of(system, work, i, q, v) : 0;
        sum += 0.5 * armature * rate * rate;
    }
    return sum;
}

size_t bodies_scratch(const zw_system *system)
{
    return 2 * (size_t)system->m + (size_t)system->n + (size_t)system->bodies->length_count +
           bodies_formula_scratch(system->bodies->formulas);
}

/* The columns of free joint `thin->dof` are its own six, which are first in the tree. */
static void put_thin(const zw_system *system, const zw_work *work, const bodies_thin *thin,
                     double *M)
{
    static const int turn[3][3] = {
        {0, 3, 4}, {3, 1, 5}, {4, 5, 2}}; /* index of (i, j) in inertia */
    const tree_mechanism *tree = system->tree;
    const double *R = work->sweeps + tree->at.R + 9 * thin->body, *c = thin->com;
    for (int r = 0; r < 6; r++) {
        const int *entry = system->bodies->entry + tree->start[thin->dof + r];
        int i = r - 3;
        double arm[3] = {0, 0, 0}; /* e_i x c */
        if (i >= 0) {
            arm[(i + 1) % 3] = -c[(i + 2) % 3];
            arm[(i + 2) % 3] = c[(i + 1) % 3];
        }
        for (int k = 0; k <= r; k++) {
            if (i < 0) {
                M[entry[k]] = k == r ? thin->mass : 0;
            } else if (k < 3) {
                M[entry[k]] = thin->mass *
                              (R[3 * k] * arm[0] + R[3 * k + 1] * arm[1] + R[3 * k + 2] * arm[2]);
            } else {
                M[entry[k]] = thin->inertia[turn[i][k - 3]];
            }
        }
    }
}

static void put_metric(const zw_system *system, const zw_work *work, const double *q, double *M)
{
    const struct system_bodies *bodies = system->bodies;
    if (system->bodies->extra_count > 0) { /* entries outside the tree's pattern */
        memset(M, 0, (size_t)system->M_start[system->n] * sizeof *M);
    }
    const double *from = work->sweeps + system->tree->at.M;
    for (int k = 0; k < system->tree->entries; k++) {
        M[system->bodies->entry[k]] = from[k];
    }
    for (int k = 0; k < system->bodies->thin_count; k++) {
        put_thin(system, work, &system->bodies->thin[k], M);
    }
    const double *coef = bodies_coef_at(system, work, q);
    for (int k = 0; k < bodies->extra_count; k++) {
        M[bodies->extra[k].at] += bodies_extra_mass(bodies, &bodies->extra[k], coef);
    }
}

/* The sliding speeds of dry friction, in the form of slip.c. */
static void put_slip(const zw_system *system, zw_work *work, const double *q, const double *v,
                     const double *from, double *out)
{
    const struct system_bodies *bodies = system->bodies;
    const double *coef = bodies_coef_at(system, work, q);
    out = bodies_put_slip(system, work, from, out);
    for (int k = 0; k < bodies->dry_count; k++) {
        const bodies_dry *dry = &bodies->dry[k];
        double *e = out, *bias = out + 1, *T = out + 2;
        *e = 0;
        *bias = dry->length < 0 ? 0 : bodies_length_bias(system, work, dry->length);
        for (int i = 0; i < dry->count; i++) {
            *e += coef[dry->first + i] * v[bodies->term[dry->first + i].dof];
            T[i] = coef[dry->first + i];
        }
        T[dry->count] = 0; /* no error */
        out = T + dry->count + 1;
    }
}

static void put_friction(const zw_system *system, const zw_work *work, double *mu)
{
    const struct system_bodies *bodies = system->bodies;
    int before = bodies->constraint_count + (bodies->formulas ? bodies->formulas->constraints : 0);
    memset(mu, 0, (size_t)before * sizeof *mu);
    if (bodies->formulas) {
        memcpy(mu, bodies_formula_outputs(system, work) + bodies->formulas->at_mu,
               (size_t)bodies->formulas->constraints * sizeof *mu);
    }
    for (int k = 0; k < bodies->dry_count; k++) {
        mu[before + k] = bodies->dry[k].limit;
    }
}

/* force = springs + forces that do work (Q). Springs have a potential, which is part of the
 * energy. */
static void put_forces(const zw_system *system, zw_work *work, const double *q, const double *v)
{
    double *out = work->out[PART_TERMS], *force = out + system->at.force;
    double *still = work->rows + 2 * system->m, *scratch = still + system->n;
    size_t bytes = (size_t)system->n * sizeof(double);
    bodies_stretch(system, work, q, work->sweeps);
    memset(still, 0, bytes);
    tree_passive(system->tree, q, still, force); /* at rest: springs only */
    bodies_add_springs(system, work, q, force);
    bodies_formula_forces(system, work, 1, force);
    if (!system->conservative) {
        double *Q = out + system->at.Q;
        memset(Q, 0, bytes);
        bodies_add_motors(system, work, q, v, scratch, Q);
        bodies_add_dampers(system, work, q, v, Q);
        bodies_formula_forces(system, work, 0, Q);
        out[system->at.dLdt] = 0;
        if (system->bodies->formulas) {
            int at = system->bodies->formulas->at_time;
            out[system->at.dLdt] = bodies_formula_outputs(system, work)[at];
        }
        for (int i = 0; i < system->n; i++) {
            force[i] += Q[i];
        }
    }
}

/* Spatial tendons with armature m: m J (J' v). */
static void take_tendon_bias(const zw_system *system, zw_work *work, const double *q, double *force)
{
    const struct system_bodies *bodies = system->bodies;
    const double *coef = bodies_coef_at(system, work, q);
    int ready = 0;
    for (int p = 0; p < bodies->path_count; p++) {
        const bodies_length *length = &bodies->length[bodies->path[p].length];
        if (length->armature == 0) {
            continue;
        }
        if (!ready++) {
            tree_accelerations(system->tree, NULL, work->sweeps);
        }
        double by = length->armature * bodies_length_bias(system, work, bodies->path[p].length);
        for (int k = length->first; k < length->first + length->count; k++) {
            force[bodies->term[k].dof] -= by * coef[k];
        }
    }
}

static void take_bias(const zw_system *system, zw_work *work, const double *q, const double *known)
{
    double *force = work->out[PART_TERMS] + system->at.force, *scratch = work->rows + 2 * system->m;
    const double *bias = known ? known : scratch;
    if (!known) {
        tree_inverse(system->tree, NULL, NULL, work->sweeps, scratch);
    }
    for (int i = 0; i < system->n; i++) {
        force[i] -= bias[i];
    }
    take_tendon_bias(system, work, q, force);
}

int bodies_accelerate(const zw_system *system, zw_work *work, const expr_inputs *in, double *a)
{
    const double *q = in->q, *v = in->v;
    int bad = 0, finite = 1;
    if (system->bodies->extra_count > 0) {
        return 0; /* M differs from the tree's */
    }
    tree_kinematics(system->tree, q, work->sweeps);
    tree_velocities(system->tree, v, work->sweeps);
    bodies_run_formulas(system, work, PART_TERMS, in);
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

int bodies_group_trees(const zw_system *system, zw_work *work)
{
    int failed = 0;
    if (!work->group && system->tree) {
        work->group = tree_group_create(system->tree, &failed);
    }
    return !failed;
}

void bodies_smooth(const zw_system *system, zw_work *work, const double *q, const double *v)
{
    const double *bias = NULL;
    if (work->group) {
        bias = tree_group_smooth(work->group, q, v, work->sweeps);
    } else {
        tree_kinematics(system->tree, q, work->sweeps);
        tree_velocities(system->tree, v, work->sweeps);
    }
    put_forces(system, work, q, v);
    take_bias(system, work, q, bias);
}

static void put_terms(const zw_system *system, zw_work *work, const expr_inputs *in)
{
    const double *q = in->q, *v = in->v;
    double *out = work->out[PART_TERMS], *spare = work->rows;
    const double *entries = bodies_run_formulas(system, work, PART_TERMS, in);
    tree_composite(system->tree, work->sweeps);
    put_metric(system, work, q, out + system->at.M);
    put_forces(system, work, q, v);
    take_bias(system, work, q, NULL);
    if (system->m > 0) {
        tree_accelerations(system->tree, NULL, work->sweeps);
        bodies_fill_rows(system, work, q, v,
                         (bodies_rows){.phi = spare,
                                       .psi = spare + system->m,
                                       .b = out + system->at.b,
                                       .A = out + system->at.A});
        bodies_formula_rows(system, work, entries, out + system->at.A);
        bodies_formula_bias(system, work, out + system->at.b);
    }
    const bodies_formulas *formulas = system->bodies->formulas;
    put_friction(system, work, out + system->at.mu);
    put_slip(system, work, q, v, formulas ? entries + formulas->at_slip : NULL,
             out + system->at.slip);
}

/* p, then p' without the constraints: momenta.lane.h. */
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
static void put_rows(const zw_system *system, zw_work *work, system_part part,
                     const expr_inputs *in)
{
    const bodies_formulas *formulas = system->bodies->formulas;
    double *out = work->out[part], *spare = work->rows;
    tree_accelerations(system->tree, NULL, work->sweeps);
    bodies_rows rows = {.phi = spare, .psi = spare, .b = spare + system->m, .A = out + system->m};
    *(part == PART_POSITION ? &rows.phi : &rows.psi) = out;
    bodies_fill_rows(system, work, in->q, in->v, rows);
    if (formulas) {
        const double *value = bodies_run_formulas(system, work, part, in);
        memcpy(out, value, (size_t)formulas->rows * sizeof *out);
        bodies_formula_rows(system, work, value + formulas->rows, out + system->m);
    }
}

static void put_energy(const zw_system *system, zw_work *work, const expr_inputs *in)
{
    const double *q = in->q, *v = in->v;
    double *out = work->out[PART_ENERGY], energy[2];
    tree_energies(system->tree, q, v, work->sweeps, energy);
    energy[1] += bodies_add_springs(system, work, q, NULL);
    energy[0] += bodies_armature_energy(system, work, q, v);
    if (system->bodies->formulas) {
        energy[1] += bodies_run_formulas(system, work, PART_ENERGY, in)[0];
    }
    out[0] = energy[0] + energy[1];
    out[1] = energy[0];
    out[2] = energy[1];
}

/* Without formulas, curves are coordinates over time, and draws consist of points of bodies and
 * constants.
 */
static void put_shown(const struct system_bodies *bodies, const expr_inputs *in, double *out)
{
    const zw_model *shown = bodies->shown;
    for (int i = 0; i < shown->plot_count; i++) {
        for (int k = 0; k < shown->plot[i].curve_count; k++) {
            *out++ = in->t;
            *out++ = in->q[expr_graph_node(shown->graph, shown->plot[i].curve[k].y)->index];
        }
    }
    for (int i = 0; i < shown->draw_count; i++) {
        const model_draw *draw = &shown->draw[i];
        for (int k = 0; k <= draw->point_count * draw->dimension; k++, out++) {
            expr_id id = k < draw->point_count * draw->dimension ? draw->point[k] : draw->radius;
            const expr_node *node = id == EXPR_NONE ? NULL : expr_graph_node(shown->graph, id);
            *out = node && node->op == EXPR_CONST ? node->value : 0;
        }
    }
}

/* Each output is a formula or a point of a body. */
static void put_outputs(const zw_system *system, zw_work *work, const expr_inputs *in)
{
    const struct system_bodies *bodies = system->bodies;
    if (bodies->formulas) {
        memcpy(work->out[PART_OUTPUTS], bodies_run_formulas(system, work, PART_OUTPUTS, in),
               (size_t)bodies->outputs * sizeof(double));
    } else {
        put_shown(bodies, in, work->out[PART_OUTPUTS]);
    }
    for (int k = 0; k < bodies->mark_count; k++) {
        tree_point(system->tree, bodies->mark[k].body, bodies->mark[k].pos, work->sweeps,
                   work->out[PART_OUTPUTS] + bodies->mark_output[k]);
    }
}

void bodies_evaluate(const zw_system *system, zw_work *work, system_part part,
                     const expr_inputs *in)
{
    const tree_mechanism *tree = system->tree;
    if (system->tape[part].count == 0) {
        return;
    }
    int rough = system->bodies->formulas && system->bodies->formulas->rough;
    if (part == PART_SLIP && !rough && system->bodies->path_count == 0) {
        put_slip(system, work, in->q, in->v, NULL, work->out[part]);
        return;
    }
    tree_kinematics(tree, in->q, work->sweeps);
    if (part != PART_METRIC) {
        tree_velocities(tree, in->v, work->sweeps);
    }
    bodies_stretch(system, work, in->q, work->sweeps);
    switch (part) {
    case PART_TERMS:
        put_terms(system, work, in);
        break;
    case PART_POSITION:
    case PART_VELOCITY:
        put_rows(system, work, part, in);
        break;
    case PART_SLIP:
        if (system->bodies->path_count > 0) {
            tree_accelerations(tree, NULL, work->sweeps);
        }
        put_slip(system, work, in->q, in->v, bodies_run_formulas(system, work, part, in),
                 work->out[part]);
        break;
    case PART_METRIC:
        tree_composite(tree, work->sweeps);
        put_metric(system, work, in->q, work->out[part]);
        break;
    case PART_ENERGY:
        put_energy(system, work, in);
        break;
    case PART_EVENTS:
        memcpy(work->out[part], bodies_run_formulas(system, work, part, in),
               (size_t)system->tape[part].count * sizeof(double));
        break;
    case PART_LAGRANGE:
        put_momenta(system, work, in->q, in->v);
        break;
    case PART_OUTPUTS:
        put_outputs(system, work, in);
        break;
    default:
        break;
    }
}

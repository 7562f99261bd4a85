/* The balance of momentum of a step, and its derivatives; impulse.c has the equations. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "math/cone.h"
#include "math/dense/dense.h"
#include "step/impulse/impulse.h"
#include "tree/sweeps.h"

/* ---- Forces --------------------------------------------------------------------------------- */

double impulse_ahead(const step_impulse *s)
{
    return 0.5 * (1 + s->sigma) * s->h;
}

/* Evaluates formulas where and when forces are taken. */
static void run_formulas(step_impulse *s, const double *u)
{
    const zw_system *system = s->system;
    const expr_inputs in = {
        .t = s->t + impulse_ahead(s), .param = s->work->param, .q = s->q_force, .v = u};
    if (system->bodies->formulas) {
        tree_velocities(system->tree, u, s->work->sweeps);
        s->drift = bodies_run_formulas(system, s->work, PART_TERMS,
                                       &in)[system->bodies->formulas->at_time];
    }
}

/* The argument of the law of motor k: its control, or its activation, whose value at the end of the
 * step is stored. */
static double given(step_impulse *s, int k)
{
    const bodies_motor *motor = &s->system->bodies->motor[k];
    if (motor->act < 0) {
        return bodies_control(s->system, s->work, motor, NULL);
    }
    s->act[motor->act] = bodies_activated(s->system, s->work, motor, s->act0[motor->act], s->h);
    return s->sigma == 1
               ? s->act[motor->act]
               : bodies_activated(s->system, s->work, motor, s->act0[motor->act], impulse_ahead(s));
}

/* A motor along a constant sum of coordinates, whose force is a multiple of its control: it is
 * constant over the step. */
static int is_steady(const struct system_bodies *bodies, int k)
{
    const bodies_motor *motor = &bodies->motor[k];
    return motor->kind == MOTOR_LENGTH && !motor->gain_law && !motor->bias_law && motor->act < 0 &&
           motor->formula < 0 && !motor->clamp_force && bodies->length[motor->length].path < 0 &&
           !bodies->length[motor->length].force_limited;
}

void impulse_begin_motors(step_impulse *s)
{
    const struct system_bodies *bodies = s->system->bodies;
    memset(s->steady, 0, (size_t)s->system->n * sizeof *s->steady);
    for (int k = 0; k < bodies->motor_count; k++) {
        const bodies_motor *motor = &bodies->motor[k];
        if (!is_steady(bodies, k)) {
            continue;
        }
        const bodies_length *length = &bodies->length[motor->length];
        s->given[k] = given(s, k);
        s->law[k] = bodies_motor_law(motor, s->given[k], 0, 0);
        s->boxed[k] = 0;
        for (int i = length->first; i < length->first + length->count; i++) {
            s->steady[bodies->term[i].dof] += bodies->coef[i] * motor->gear[0] * s->law[k].force;
        }
    }
}

/* Motors, except those whose force is a multiplier: impulse_boxes.c. */
static void add_motors(step_impulse *s, const double *u)
{
    const struct system_bodies *bodies = s->system->bodies;
    zw_work *work = s->work;
    const double *coef = bodies_coef_at(s->system, work, s->q_force);
    memset(s->pull, 0, (size_t)bodies->length_count * sizeof *s->pull);
    bodies_see_lifts(s->system, work);
    memset(s->loose, 0, (size_t)bodies->length_count * sizeof *s->loose);
    memset(s->held, 0, (size_t)s->system->n * sizeof *s->held);
    for (int k = 0; k < bodies->motor_count; k++) {
        const bodies_motor *motor = &bodies->motor[k];
        if (is_steady(bodies, k)) {
            s->loose[motor->length]++;
            continue;
        }
        s->given[k] = given(s, k);
        impulse_look_at_motor(s, k, u);
        double by = s->law[k].force, stiff = impulse_motor_slope(s, k);
        by = motor->clamp_force ? impulse_within(s, &s->side[2 * k], motor->force, by) : by;
        for (int i = 0; i < s->aims && s->boxed[k]; i++) {
            s->held[work->aim_dof[i]] -= s->fall * stiff * work->aim[i] * work->aim[i];
        }
        if (motor->kind == MOTOR_LENGTH && !s->boxed[k]) {
            s->pull[motor->length] += motor->gear[0] * by;
            s->loose[motor->length]++;
            continue;
        }
        for (int i = 0; i < s->aims && !s->boxed[k]; i++) {
            s->Q[work->aim_dof[i]] += by * work->aim[i];
        }
    }
    int works = bodies->motor_count > 0 || bodies->motor_lifts;
    for (int i = 0; i < bodies->length_count && works; i++) {
        const bodies_length *length = &bodies->length[i];
        double by = s->pull[i], range[2];
        if (length->force_limited) {
            bodies_force_range(s->system, work, i, range);
            by = impulse_within(s, &s->side[2 * bodies->motor_count + i], range, by);
        }
        if (s->loose[i] < s->pulls[i]) {
            by = s->loose[i] > 0 ? s->pull[i] : 0; /* the limits of this length are in its boxes */
        }
        for (int k = length->first; k < length->first + length->count; k++) {
            s->Q[bodies->term[k].dof] += coef[k] * by;
        }
    }
}

void impulse_forces(step_impulse *s, const double *u)
{
    size_t bytes = (size_t)s->system->n * sizeof(double);
    bodies_stretch(s->system, s->work, s->q_force, s->work->sweeps);
    tree_passive(s->system->tree, s->q_force, s->still, s->force); /* springs only */
    bodies_add_springs(s->system, s->work, s->q_force, s->force);
    run_formulas(s, u);
    bodies_formula_forces(s->system, s->work, 1, s->force);
    memcpy(s->Q, s->steady, bytes);
    add_motors(s, u);
    bodies_formula_forces(s->system, s->work, 0, s->Q);
    bodies_add_dampers(s->system, s->work, s->q_force, u, s->Q);
    for (int i = 0; i < s->system->n; i++) {
        s->force[i] += s->Q[i];
    }
}

/* ---- Balance -------------------------------------------------------------------------------- */

/* The momenta of the bodies at q0 (+) ahead v, with v. */
static void find_momenta(step_impulse *s, double ahead, const double *v, double *P)
{
    const tree_mechanism *tree = s->system->tree;
    tree_advance(tree, s->q0, v, &ahead, s->q_other);
    tree_kinematics(tree, s->q_other, s->middle);
    tree_velocities(tree, v, s->middle);
    balance_momenta(s->system, s->middle, P);
    if (bodies_forces_see_places(s->system)) {
        memcpy(s->work->sweeps, s->middle, (size_t)tree->at.count * sizeof(double));
    }
}

void impulse_begin_balance(step_impulse *s)
{
    balance_momenta(s->system, s->begin, s->P0);
}

/* Sweeps where the impulses act. */
static void find_place(step_impulse *s, const double *u)
{
    const tree_mechanism *tree = s->system->tree;
    double ahead = s->theta * s->h;
    if (s->theta > 0) {
        tree_advance(tree, s->q0, u, &ahead, s->q_other);
        tree_kinematics(tree, s->q_other, s->place);
    }
}

/* Armatures of tendons, whose rates are constant sums of speeds. */
static void add_tendons(const step_impulse *s, const double *u, double *r)
{
    const struct system_bodies *bodies = s->system->bodies;
    for (int i = 0; i < bodies->length_count && bodies->extra_count > 0; i++) {
        const bodies_length *length = &bodies->length[i];
        double gained =
            length->armature == 0
                ? 0
                : length->armature * (bodies_rate_of(s->system, s->work, i, s->q1, u) -
                                      bodies_rate_of(s->system, s->work, i, s->q1, s->v0));
        for (int k = length->first; k < length->first + length->count && gained != 0; k++) {
            r[bodies->term[k].dof] += bodies->coef[k] * gained;
        }
    }
}

/* The forces for u; `known` is where they are taken, if the sweeps are of there already. */
static void find_forces(step_impulse *s, const double *u, const double *known)
{
    if (known) {
        memcpy(s->q_force, known, (size_t)s->system->nq * sizeof(double));
    } else {
        double ahead = impulse_ahead(s);
        tree_advance(s->system->tree, s->q0, u, &ahead, s->q_force);
        if (bodies_forces_see_places(s->system)) {
            tree_kinematics(s->system->tree, s->q_force, s->work->sweeps);
        }
    }
    impulse_forces(s, u);
}

void impulse_balance(step_impulse *s, const double *u, double *r)
{
    const tree_mechanism *tree = s->system->tree;
    double h = s->h, *sweeps = s->work->sweeps;
    find_momenta(s, 0.5 * (1 + s->theta) * h, u, s->P1);
    for (int i = 1; i < tree->bodies; i++) {
        for (int k = 0; k < 6; k++) {
            s->F[6 * i + k] = s->P1[6 * i + k] - s->P0[6 * i + k];
        }
        for (int k = 0; k < 3; k++) {
            s->F[6 * i + 3 + k] += s->fall * tree->body[i].lift[k];
        }
    }
    if (s->sigma < 1) {
        find_forces(s, u, s->sigma == s->theta ? s->q_other : NULL);
    }
    find_place(s, u);
    balance_gather(s->system, s->theta > 0 ? s->place : s->begin, s->F, r);
    tree_advance(tree, s->q0, u, &h, s->q1);
    tree_kinematics(tree, s->q1, sweeps);
    if (s->sigma == 1) {
        find_forces(s, u, s->q1);
    }
    for (int d = 0; d < s->system->n; d++) {
        r[d] += tree->armature[d] * (u[d] - s->v0[d]) - s->fall * s->force[d];
    }
    add_tendons(s, u, r);
}

/* The balance has been evaluated last for s->u, so that P1 belongs to it and the sweeps to q1. */
void impulse_late_momenta(step_impulse *s, double *gain)
{
    const tree_mechanism *tree = s->system->tree;
    double *sweeps = s->work->sweeps, h = s->h, fall = s->fall, t = s->t, late = impulse_late(s);
    tree_velocities(tree, s->u, sweeps);
    balance_momenta(s->system, sweeps, s->F);
    for (int i = 1; i < tree->bodies; i++) {
        for (int k = 0; k < 6; k++) {
            s->F[6 * i + k] = s->P1[6 * i + k] - s->F[6 * i + k];
        }
        for (int k = 0; k < 3; k++) {
            s->F[6 * i + 3 + k] -= late * tree->body[i].lift[k];
        }
    }
    balance_gather(s->system, sweeps, s->F, gain);
    for (int d = 0; d < s->system->n; d++) {
        gain[d] += late * s->force[d];
    }
    impulse_late_motors(s, gain);
    tree_composite(tree, sweeps);
    s->t += h - late;
    s->h = late;
    s->fall = s->sigma * late;
    impulse_metric_at(s, sweeps);
    s->t = t;
    s->h = h;
    s->fall = fall;
}

/* ---- Slopes --------------------------------------------------------------------------------- */

static void add_motor_slopes(step_impulse *s)
{
    const struct system_bodies *bodies = s->system->bodies;
    zw_work *work = s->work;
    for (int k = 0; k < bodies->motor_count; k++) {
        double weight = -s->fall * impulse_motor_slope(s, k), length;
        if (weight > 0 && impulse_motor_yields(s, k)) {
            int count =
                bodies_aim(s->system, work, k, s->q_force, work->aim_dof, work->aim, &length);
            matrix_stiffen(&s->H, weight, count, work->aim_dof, work->aim);
        }
    }
}

/* A tendon: its damper always, its spring where it is stretched. */
static void add_length_slopes(step_impulse *s, int index)
{
    const struct system_bodies *bodies = s->system->bodies;
    const bodies_length *length = &bodies->length[index];
    zw_work *work = s->work;
    double weight = s->fall * length->damping;
    if (length->stiffness != 0) {
        double now = bodies_length_of(s->system, work, index, s->q_force);
        int taut =
            now < length->rest[0] || now > length->rest[1] || length->rest[0] == length->rest[1];
        weight += taut ? s->fall * impulse_ahead(s) * length->stiffness : 0;
    }
    const double *coef = weight > 0 ? bodies_coef_at(s->system, work, s->q_force) : NULL;
    for (int i = 0; i < length->count && weight > 0; i++) {
        work->aim_dof[i] = bodies->term[length->first + i].dof;
        work->aim[i] = coef[length->first + i];
    }
    if (weight > 0) {
        matrix_stiffen(&s->H, weight, length->count, work->aim_dof, work->aim);
    }
}

/* Fluid forces: along their own axes, as far as they are dissipative. */
static void add_fluid_slopes(step_impulse *s)
{
    zw_work *work = s->work;
    double B[36];
    for (int k = 0; k < s->system->bodies->fluid_count; k++) {
        bodies_flow now = bodies_fluid_look(s->system, work, k, s->u, B);
        for (int i = 0; i < 6; i++) {
            for (int d = 0; d < now.count; d++) {
                work->aim[d] = work->jacobian[6 * d + i];
            }
            if (B[7 * i] < 0) {
                matrix_stiffen(&s->H, -s->fall * B[7 * i], now.count, work->aim_dof, work->aim);
            }
        }
    }
}

void impulse_metric(step_impulse *s)
{
    impulse_metric_at(s, s->begin);
}

void impulse_metric_at(step_impulse *s, const double *sweeps)
{
    const tree_mechanism *tree = s->system->tree;
    matrix_set(&s->H, s->system, sweeps);
    for (int d = 0; d < s->system->n; d++) {
        const double one = 1, stiffness = tree->joint[tree->dof_joint[d]].stiffness;
        double ahead = stiffness > 0 ? impulse_ahead(s) : 0;
        double weight = s->fall * (tree->damping[d] + ahead * stiffness);
        if (weight > 0) {
            matrix_stiffen(&s->H, weight, 1, &d, &one);
        }
    }
    for (int i = 0; i < s->system->bodies->length_count; i++) {
        add_length_slopes(s, i);
    }
    add_motor_slopes(s);
    add_fluid_slopes(s);
    impulse_stiffen(s);
}

void impulse_begin_forces(step_impulse *s)
{
    double most = 0, second = 0, *sweeps = s->work->sweeps, *M = s->other;
    s->sigma = 1;
    impulse_begin_motors(s);
    s->work->sweeps = s->begin;
    memcpy(s->q1, s->q0, (size_t)s->system->nq * sizeof(double));
    memcpy(s->u, s->v0, (size_t)s->system->n * sizeof(double));
    find_forces(s, s->u, s->q1);
    matrix_set(&s->H, s->system, s->begin);
    for (int d = 0; d < s->system->n; d++) {
        M[d] = matrix_diagonal(&s->H, d);
    }
    impulse_metric(s);
    s->work->sweeps = sweeps;
    for (int d = 0; d < s->system->n; d++) {
        double slope = impulse_stiffness(s, d);
        s->stiffest = slope > most ? d : s->stiffest;
        second = fmin(most, fmax(second, slope));
        most = fmax(most, slope);
    }
    s->sigma = fmax(s->theta, balance_ramp(most * most));
    s->equally_stiff = s->sigma > s->theta && s->sigma < 1 && second >= (1 - 1e-9) * most;
}

double impulse_stiffness(const step_impulse *s, int d)
{
    const double *M = s->other;
    double slope = s->h / s->fall * (matrix_diagonal(&s->H, d) + s->held[d] - M[d]);
    return slope > 0 ? slope / fmax(M[d], DBL_MIN) : 0;
}

int impulse_factor(step_impulse *s)
{
    s->with_N = 0;
    s->work->effort.factors++;
    return matrix_factor(&s->H);
}

/* The forces of the current multipliers at q1 of the sweeps, into s->other. 0: the blocks have
 * changed, and the result would be meaningless. */
static int push_there(step_impulse *s, uint64_t blocks)
{
    impulse_fill_rows(s, s->t + s->h);
    tree_velocities(s->system->tree, s->u, s->work->sweeps);
    if (impulse_find_contacts(s, s->work->sweeps, s->u, NULL) != ZW_OK) {
        return 0;
    }
    impulse_put_rows(s);
    problem_guess_push(&s->problem, s->other);
    return problem_blocks(&s->problem) == blocks;
}

/* Derivatives of r - A' lambda: contact points move on curved shapes as they turn. */
void impulse_slopes(step_impulse *s)
{
    int n = s->system->n, touches = s->touch.is_there && s->touch.found.count > 0;
    int apart = touches ? 16 : 24; /* bits: half of those of a number; fewer for a position */
    uint64_t blocks = problem_blocks(&s->problem);
    double *r = s->other;
    s->touch.stay.differs = 1;
    for (int j = 0; j < n; j++) {
        double u = s->u[j], step = ldexp(1 + fabs(u), -apart), *column = s->U + j;
        s->u[j] = u + step;
        step = s->u[j] - u;
        impulse_balance(s, s->u, r);
        for (int i = 0; i < n; i++) {
            column[(size_t)i * (size_t)n] = (r[i] - s->r[i]) / step;
        }
        int known = touches && push_there(s, blocks);
        for (int i = 0; i < n && known; i++) {
            column[(size_t)i * (size_t)n] -= (s->other[i] - s->push[i]) / step;
        }
        s->u[j] = u;
    }
    impulse_balance(s, s->u, s->r);
    if (touches) {
        push_there(s, blocks);
    }
    s->touch.stay.differs = 0;
    s->with_N = 1;
    dense_lu(n, s->U, n, s->pivot, 0x1p-1000);
}

void impulse_solve(step_impulse *s, double *x)
{
    int n = s->system->n;
    if (s->with_N) {
        dense_lu_solve(n, s->U, n, s->pivot, x);
    } else {
        matrix_solve(&s->H, x);
    }
}

/* ---- Sizes ---------------------------------------------------------------------------------- */

static double weight_of(const step_impulse *s, int i)
{
    double H = matrix_diagonal(&s->H, i);
    return H > 0 ? 1 / H : 1;
}

double impulse_norm(const step_impulse *s, const double *x)
{
    double sum = 0;
    for (int i = 0; i < s->system->n; i++) {
        sum += x[i] * x[i] * weight_of(s, i);
    }
    return sqrt(sum);
}

static double size_of(const step_impulse *s, int i)
{
    double momentum = (fabs(s->u[i]) + fabs(s->v0[i])) / weight_of(s, i);
    return fabs(s->push[i]) + s->fall * fabs(s->force[i]) + momentum;
}

double impulse_size(const step_impulse *s)
{
    double sum = 0;
    for (int i = 0; i < s->system->n; i++) {
        double part = size_of(s, i);
        sum += part * part * weight_of(s, i);
    }
    return sqrt(sum);
}

/* A coordinate is known to one unit in its last place: h K times that is no error of the solver.
 * Nor is M/h times that where bodies touch, as a gap over h is a speed: a body at rest has no
 * momentum relative to which that would be small. */
static double noise_of(const step_impulse *s, int i, int touches, double far)
{
    const tree_mechanism *tree = s->system->tree;
    const tree_joint *joint = &tree->joint[tree->dof_joint[i]];
    int scalar = joint->kind == TREE_HINGE || joint->kind == TREE_SLIDE;
    double M = touches ? 0 : s->begin[tree->at.M + tree->start[i + 1] - 1];
    double stiff = matrix_diagonal(&s->H, i) + s->held[i] - M;
    double place = scalar ? fmax(fabs(s->q1[joint->q]), fabs(s->q0[joint->q])) : far;
    return 4 * DBL_EPSILON * stiff * place / s->h;
}

double impulse_noise(const step_impulse *s, int touches)
{
    double sum = 0, far = touches ? impulse_extent(s) : 1;
    for (int i = 0; i < s->system->n; i++) {
        double part = noise_of(s, i, touches, far);
        sum += part * part * weight_of(s, i);
    }
    return sqrt(sum);
}

void impulse_find_excess(const step_impulse *s, const double *x, double close, double *excess)
{
    for (int i = 0; i < s->system->n; i++) {
        double noise = noise_of(s, i, 0, 1), size = close * size_of(s, i);
        excess[i] = (x[i] * x[i] - noise * noise - size * size) * weight_of(s, i);
    }
}

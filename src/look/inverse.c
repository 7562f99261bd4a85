/* Inverse dynamics by Gauss's principle.
 *
 * For given accelerations a, the known forces leave the demand D = M a - force. Motors,
 * constraints, contacts and friction give G x, x within what each admits (inverse_touch.c): a
 * convex set K of numbers, once the motion is known. What no force can produce is the residual D -
 * G x with
 *
 *     minimise   1/2 (D - G x)' M^-1 (D - G x)      over x in K.
 *
 * That is the dual of Gauss's problem with rows G', b = 0 and the free acceleration -M^-1 D: its
 * answer d = M^-1 (G x - D) minimises 1/2 (d + M^-1 D)' M (d + M^-1 D) subject to G' d in K*. So
 * the kernel returns x as its multipliers, -d as the unexplained acceleration, and a certificate.
 * Motors with a range of force are boxes, those without are equalities.
 *
 * Where x is not determined (more motors than the motion needs, feet on the ground, redundant
 * rows), inverse_least.c finds the least. */
#include "look/inverse.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/list.h"
#include "base/memory.h"
#include "system/bodies/bodies.h"
#include "system/contact/contacts.h"
#include "system/events/friction.h"

/* ---- Creating and freeing -------------------------------------------------------------------- */

static void lay_out(zw_inverse *s, base_arena *arena)
{
    size_t n = (size_t)s->system->n, motors = (size_t)s->motors;
    double **by_speed[] = {&s->demand,  &s->constraint, &s->touching, &s->residual,
                           &s->missing, &s->force,      &s->usual};
    for (size_t i = 0; i < sizeof by_speed / sizeof *by_speed; i++) {
        *by_speed[i] = base_arena_doubles(arena, n);
    }
    s->motor = base_arena_doubles(arena, motors);
    s->control = base_arena_doubles(arena, motors);
    s->range = base_arena_doubles(arena, 2 * motors);
    s->driven = base_arena_doubles(arena, (size_t)s->drives);
    s->lambda = base_arena_doubles(arena, (size_t)s->system->m);
    s->role = base_arena_ints(arena, (size_t)s->system->model->constraint_count);
    s->drive = base_arena_ints(arena, (size_t)s->drives);
}

static zw_status check(const zw_inverse *s, const zw_inverse_options *options, zw_error *error)
{
    const zw_system *system = s->system;
    if (system->law.carried > 0) {
        return base_fail(error, ZW_BAD_INPUT,
                         "inverse dynamics is of the nonholonomic law; this system has another, "
                         "whose multipliers are part of the state");
    }
    for (int k = 0; k < options->drive_count; k++) {
        if (options->drive[k] < 0 || options->drive[k] >= system->n) {
            return base_fail(error, ZW_BAD_INPUT, "drive %d: there are %d speeds", k, system->n);
        }
    }
    return ZW_OK;
}

zw_inverse *zw_inverse_create(const zw_model *model, const zw_system *system,
                              const zw_inverse_options *options, zw_error *error)
{
    static const zw_inverse_options usual = {0};
    zw_inverse *s = base_alloc(sizeof *s);
    base_arena arena = {0};
    options = options ? options : &usual;
    if (s) {
        s->model = model;
        s->system = system;
        s->motors = system->bodies ? system->bodies->motor_count : 0;
        s->drives = options->drive_count;
        s->touch = options->touch > 0 ? options->touch : 1e-9;
        s->rest = options->rest;
        s->still = options->still > 0 ? options->still : 1e-6;
        lay_out(s, &arena);
        s->memory = base_alloc(arena.used + 1);
    }
    if (!s || !s->memory) {
        base_free(s);
        base_no_memory(error);
        return NULL;
    }
    arena = (base_arena){.block = s->memory};
    lay_out(s, &arena);
    if (s->drives > 0) {
        memcpy(s->drive, options->drive, (size_t)s->drives * sizeof *s->drive);
    }
    s->work = zw_work_create(system, error);
    if (!s->work || check(s, options, error) != ZW_OK) {
        zw_inverse_free(s);
        return NULL;
    }
    return s;
}

void zw_inverse_free(zw_inverse *inverse)
{
    if (inverse) {
        solver_free(inverse->solver);
        zw_work_free(inverse->work);
        base_free(inverse->point);
        base_free(inverse->x);
        base_free(inverse->memory);
        base_free(inverse);
    }
}

int zw_inverse_motors(const zw_inverse *inverse)
{
    return inverse->motors;
}

const char *zw_inverse_motor_name(const zw_inverse *inverse, int motor)
{
    const zw_system *system = inverse->system;
    return motor < 0 || motor >= inverse->motors
               ? ""
               : zw_name(system, ZW_KIND_PARAM, system->bodies->motor[motor].param);
}

/* ---- The demand ----------------------------------------------------------------------------- */

/* y = M x, in the pattern of the system. */
static void weigh(const zw_system *system, const double *M, const double *x, double *y)
{
    memset(y, 0, (size_t)system->n * sizeof *y);
    for (int j = 0; j < system->n; j++) {
        for (int k = system->M_start[j]; k < system->M_start[j + 1]; k++) {
            int i = system->M_row[k];
            y[i] += M[k] * x[j];
            y[j] += i != j ? M[k] * x[i] : 0;
        }
    }
}

/* M a - (force - motors); the terms are known. */
static void find_demand(zw_inverse *s, const inverse_now *now)
{
    const zw_system *system = s->system;
    const double *out = s->work->out[PART_TERMS];
    weigh(system, out + system->at.M, now->a, s->demand);
    memset(s->force, 0, (size_t)system->n * sizeof *s->force);
    if (s->motors > 0) {
        double *scratch = s->work->rows + 2 * system->m + system->n; /* as bodies.c has it */
        bodies_add_motors(system, s->work, now->q, now->v, scratch, s->force);
    }
    for (int i = 0; i < system->n; i++) {
        s->demand[i] -= out[system->at.force + i] - s->force[i];
    }
    for (int k = 0; k < system->C_count; k++) {
        s->demand[system->C_coord[k]] -= out[system->at.C + k];
    }
    for (int i = 0; i < system->n; i++) {
        double mass = out[system->at.M + system->M_start[i]]; /* the diagonal is first */
        s->usual[i] = mass > 0 ? fabs(s->demand[i]) / mass : 0;
    }
}

/* ---- Motors --------------------------------------------------------------------------------- */

/* Its range of force here: by its own range, that of its control or activation, and that of its
 * joint. */
static void find_range(const zw_system *system, const zw_work *work, const bodies_motor *motor,
                       double length, double rate, double range[2])
{
    int by_act = motor->act >= 0;
    const double *u = by_act ? motor->act_range : motor->control;
    range[0] = -INFINITY;
    range[1] = INFINITY;
    if (by_act ? motor->clamp_act : motor->clamp_control) {
        double x = bodies_motor_law(motor, u[0], length, rate).force;
        double y = bodies_motor_law(motor, u[1], length, rate).force;
        range[0] = fmin(x, y);
        range[1] = fmax(x, y);
    }
    if (motor->clamp_force) {
        range[0] = fmin(fmax(range[0], motor->force[0]), motor->force[1]);
        range[1] = fmin(fmax(range[1], motor->force[0]), motor->force[1]);
    }
    const bodies_length *limited =
        motor->kind == MOTOR_LENGTH ? &system->bodies->length[motor->length] : NULL;
    if (limited && limited->force_limited && motor->gear[0] != 0) {
        double whole[2];
        bodies_force_range(system, work, motor->length, whole);
        double x = whole[0] / motor->gear[0];
        double y = whole[1] / motor->gear[0];
        range[0] = fmin(fmax(range[0], fmin(x, y)), fmax(x, y));
        range[1] = fmin(fmax(range[1], fmin(x, y)), fmax(x, y));
    }
}

static void add_motors(zw_inverse *s, const inverse_now *now, inverse_rows *rows)
{
    zw_work *work = s->work;
    for (int k = 0; k < s->motors; k++) {
        const bodies_motor *motor = &s->system->bodies->motor[k];
        double length = 0, rate = 0, *range = s->range + 2 * k;
        int count = bodies_aim(s->system, work, k, now->q, work->aim_dof, work->aim, &length);
        for (int i = 0; i < count; i++) {
            rate += work->aim[i] * now->v[work->aim_dof[i]];
        }
        find_range(s->system, work, motor, length, rate, range);
        double at_0 = bodies_motor_law(motor, 0, length, rate).force;
        s->control[k] = at_0; /* until the force is known: find_controls */
        s->motor[k] = bodies_motor_law(motor, 1, length, rate).force - at_0;
        int free = range[0] == -INFINITY && range[1] == INFINITY;
        const zw_block block = {.name = zw_inverse_motor_name(s, k),
                                .kind = free ? ZW_EQUALITY : ZW_BOX,
                                .rows = 1,
                                .limit = {range[0], range[1]}};
        inverse_rows_put(rows, count, work->aim_dof, work->aim, 1);
        inverse_rows_end(rows);
        inverse_rows_block(rows, &block);
    }
    for (int k = 0; k < s->drives; k++) {
        const zw_block block = {
            .name = zw_name(s->system, ZW_KIND_SPEED, s->drive[k]), .kind = ZW_EQUALITY, .rows = 1};
        inverse_rows_put(rows, 1, &s->drive[k], &(double){1}, 1);
        inverse_rows_end(rows);
        inverse_rows_block(rows, &block);
    }
}

/* The control that gives the force: motor[] has held the gain, control[] the force at 0. */
static void find_controls(zw_inverse *s, const double *x)
{
    for (int k = 0; k < s->motors; k++) {
        double gain = s->motor[k], at_0 = s->control[k];
        s->motor[k] = x[k];
        s->control[k] = gain != 0 ? (x[k] - at_0) / gain : (double)NAN;
    }
    for (int k = 0; k < s->drives; k++) {
        s->driven[k] = x[s->motors + k];
    }
}

/* ---- The problem ---------------------------------------------------------------------------- */

static zw_status set_up(zw_inverse *s, zw_state *state, const inverse_now *now, zw_error *error)
{
    const zw_system *system = s->system;
    const double *out = s->work->out[PART_TERMS];
    inverse_rows rows, before;
    inverse_rows_begin(&rows, system->n);
    inverse_rows_begin(&before, system->n); /* friction at rest comes after the motors */
    zw_status status =
        system_evaluate(system, s->work, PART_TERMS, now->t, now->q, now->v, NULL, NULL, error);
    if (status == ZW_OK) {
        find_demand(s, now);
        status = inverse_roles(s, now, &before, error);
    }
    if (status == ZW_OK) {
        add_motors(s, now, &rows);
        for (int r = 0, k = 0; r < before.rows; r++) {
            for (int i = 0; i < before.count[r]; i++, k++) {
                inverse_rows_put(&rows, 1, &before.entry[k].column, &before.entry[k].value, 1);
            }
            inverse_rows_end(&rows);
            inverse_rows_block(&rows, &before.block[r]);
        }
        status = inverse_points(s, state, now, &rows, error);
    }
    if (status == ZW_OK) {
        solver_free(s->solver);
        s->solver = inverse_rows_solver(&rows, system, s->role, error);
        status = s->solver ? ZW_OK : ZW_NO_MEMORY;
    }
    inverse_rows_free(&rows);
    inverse_rows_free(&before);
    if (status != ZW_OK) {
        return status;
    }
    for (int i = 0; i < system->n; i++) {
        s->force[i] = -s->demand[i];
    }
    solver_fill(s->solver, out + system->at.M,
                (system_rows){.A = out + system->at.A,
                              .b = out + system->at.b,
                              .slip = out + system->at.slip},
                s->force, NULL);
    memset(s->solver->C, 0, (size_t)system->n * sizeof(double));
    memset(s->solver->b, 0, (size_t)(s->solver->rows + s->solver->tail) * sizeof(double));
    solver_set_friction(s->solver, out + system->at.mu);
    int law = friction_set_up(system, s->work, s->solver);
    for (int i = 0; i < system->n && !law; i++) { /* dry friction that slides is known */
        s->force[i] += s->solver->C[i];
    }
    s->solver->options.contact = ZW_CONTACT_CONVEX;
    s->solver->options.algebra = ZW_ALGEBRA_AUTO;
    return ZW_OK;
}

/* A range of force that several motors on one length share is not a box: it has been considered
 * motor by motor, and their sum may exceed it. Then there is no solution yet. */
static zw_status check_sums(const zw_inverse *s, const double *x, zw_error *error)
{
    const struct system_bodies *bodies = s->system->bodies;
    for (int k = 0; k < s->motors; k++) {
        const bodies_motor *one = &bodies->motor[k];
        if (one->kind != MOTOR_LENGTH || !bodies->length[one->length].force_limited) {
            continue;
        }
        double sum = 0;
        for (int i = 0; i < s->motors; i++) {
            const bodies_motor *other = &bodies->motor[i];
            int same = other->kind == MOTOR_LENGTH && other->length == one->length;
            sum += same ? other->gear[0] * x[i] : 0;
        }
        double range[2];
        bodies_force_range(s->system, s->work, one->length, range);
        double slack = 1e-9 * (1 + fabs(sum));
        if (sum < range[0] - slack || sum > range[1] + slack) {
            return base_fail(error, ZW_BAD_INPUT,
                             "%s: several actuators share a range of force and this motion needs "
                             "more; how they share it is not computed yet",
                             zw_inverse_motor_name(s, k));
        }
    }
    return ZW_OK;
}

static zw_status solve(zw_inverse *s, double t, int *choices, int *least, zw_error *error)
{
    system_solver *solver = s->solver;
    int rows = solver->rows + solver->tail;
    zw_status status = solver_solve(solver, error);
    if (status == ZW_INACCURATE && solver->answer.certificate.worst < 1e-7) {
        status = ZW_OK;
    }
    if (status != ZW_OK) {
        return system_report_failure(solver, t, status, error);
    }
    if (rows > s->x_capacity) {
        base_free(s->x);
        s->x = base_alloc((size_t)rows * sizeof *s->x);
        s->x_capacity = s->x ? rows : 0;
    }
    if (rows > s->x_capacity) {
        return base_no_memory(error);
    }
    if (rows > 0) {
        memcpy(s->x, solver->answer.lambda, (size_t)rows * sizeof *s->x);
    }
    status =
        inverse_least(solver, solver->rows, s->motors + s->drives, s->x, choices, least, error);
    return status == ZW_OK && s->motors > 0 ? check_sums(s, s->x + solver->rows, error) : status;
}

/* ---- The answer ----------------------------------------------------------------------------- */

/* Row r of the solver, times x, to force[n]. */
static void add_row(const system_solver *solver, int r, double x, double *force)
{
    const zw_rows *A = &solver->problem.A;
    int n = solver->system->n;
    if (A->dense) {
        for (int i = 0; i < n; i++) {
            force[i] += A->dense[(size_t)r * (size_t)n + (size_t)i] * x;
        }
        return;
    }
    for (int k = A->start[r]; k < A->start[r + 1]; k++) {
        force[A->column[k]] += A->value[k] * x;
    }
}

/* The sums over constraints and contacts, and the residual: from the data, not from the kernel. */
static void add_up(zw_inverse *s)
{
    const system_solver *solver = s->solver;
    int n = s->system->n, acts = s->motors + s->drives, rows = solver->rows + solver->tail;
    int touches = rows;
    for (int k = s->points - 1; k >= 0; k--) {
        touches = s->point[k].row >= 0 ? solver->rows + s->point[k].row : touches;
    }
    memset(s->constraint, 0, (size_t)n * sizeof *s->constraint);
    memset(s->touching, 0, (size_t)n * sizeof *s->touching);
    memcpy(s->residual, s->demand, (size_t)n * sizeof *s->residual);
    memset(s->lambda, 0, (size_t)s->system->m * sizeof *s->lambda);
    for (int r = 0; r < rows; r++) {
        int acting = r >= solver->rows && r < solver->rows + acts;
        if (acting) {
            add_row(solver, r, -s->x[r], s->residual);
        } else {
            add_row(solver, r, s->x[r], r >= touches ? s->touching : s->constraint);
        }
        if (r < solver->rows && solver->row_of[r] >= 0) {
            s->lambda[solver->row_of[r]] = solver->scale[r] * s->x[r];
        }
    }
    for (int i = 0; i < n; i++) {
        s->constraint[i] += solver->problem.law ? solver->answer.C[i] : solver->C[i];
        s->residual[i] -= s->constraint[i] + s->touching[i];
    }
}

/* Largest |A a - b| over the rows that hold. */
static double off_by(const zw_inverse *s, const double *a)
{
    const zw_system *system = s->system;
    const double *out = s->work->out[PART_TERMS];
    double most = 0;
    for (int r = 0; r < system->m; r++) {
        double sum = -out[system->at.b + r];
        for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
            sum += out[system->at.A + k] * a[system->A_column[k]];
        }
        most = s->role[system->row_constraint[r]] != SOLVER_ABSENT ? fmax(most, fabs(sum)) : most;
    }
    return most;
}

static double largest_speed(const zw_system *system, const double *v)
{
    double most = 0;
    for (int i = 0; i < system->n; i++) {
        most = fmax(most, fabs(v[i]));
    }
    return most;
}

zw_status zw_inverse_look(zw_inverse *inverse, const zw_state *state, const double *a,
                          zw_inverse_answer *answer, zw_error *error)
{
    zw_state *here = (zw_state *)state; /* only read */
    const zw_system *system = inverse->system;
    zw_work *work = inverse->work;
    inverse_now now = {
        .t = state->t, .q = state_q(here), .v = state_v(here), .a = a, .usual = inverse->usual};
    now.rest = inverse->rest > 0 ? inverse->rest : 1e-8 * (1 + largest_speed(system, now.v));
    *answer = (zw_inverse_answer){0};
    system_bind(system, work, state_param(here));
    system_take_slip(work, here);
    zw_status status =
        here->slides > 0 ? system_note_slip(system, work, now.t, now.q, now.v, error) : ZW_OK;
    status = status == ZW_OK ? set_up(inverse, here, &now, error) : status;
    status =
        status == ZW_OK ? solve(inverse, now.t, &answer->choices, &answer->least, error) : status;
    if (status != ZW_OK) {
        return status;
    }
    const zw_motion *motion = &inverse->solver->answer;
    add_up(inverse);
    if (inverse->motors + inverse->drives > 0) {
        find_controls(inverse, inverse->x + inverse->solver->rows);
    }
    for (int i = 0; i < system->n; i++) {
        inverse->missing[i] = -motion->a[i];
        answer->size += inverse->residual[i] * inverse->missing[i];
    }
    status = inverse_list(inverse, error);
    *answer = (zw_inverse_answer){.motors = inverse->motors,
                                  .drives = inverse->drives,
                                  .contacts = inverse->points,
                                  .demand = inverse->demand,
                                  .motor = inverse->motor,
                                  .control = inverse->control,
                                  .drive = inverse->driven,
                                  .lambda = inverse->lambda,
                                  .constraint = inverse->constraint,
                                  .contact = work->touched ? work->touched->contact : NULL,
                                  .touch = inverse->touching,
                                  .residual = inverse->residual,
                                  .missing = inverse->missing,
                                  .size = sqrt(fmax(answer->size, 0)),
                                  .off = off_by(inverse, a),
                                  .choices = answer->choices,
                                  .least = answer->least,
                                  .certificate = motion->certificate.worst};
    return status;
}

/* Friction of the constraints: C = -mu N T' e/|e|, with the sliding speed e, T = de/dv and the
 * normal force N = |sum nu lambda| of slip.c. For one mass on fixed ground this is Fan et al.'s C =
 * -mu |F| v/|v| with the ideal reaction F of its eq. (20). In general friction changes the normal
 * force, and Coulomb's law is about the total one: the kernel iterates to the fixed point.
 *
 * Direction: e/|e|, turned so that it does not oppose the direction at the start of the step (the
 * hint). So the equations continue smoothly beyond the time at which sliding stops, the integrator
 * meets no jump, and that time is found as the zero of e . hint. On a surface e rotates at the rate
 * b/|e| towards the acceleration b that drives it, which no step can follow to e = 0. Steps compute
 * speeds to tolerance (1 + |v|), so e/|e| is accurate to that over |e|: below DIRECTION times it,
 * at a few hundredths of a radian, the direction is kept, and e . hint goes straight through zero.
 *
 * Normal force: |N| has a corner where a two-sided constraint begins to press in the other
 * direction. With the sign of N fixed (work->press) the law is linear in the multipliers, has one
 * solution, and is smooth at N = 0; the guard of N changes the sign there (step/events). Where
 * there is no guard, press is 0 and the law uses |N|. A one-sided contact presses in one direction
 * only. Two rows that press together, nu1 lambda1 + nu2 lambda2, do not vanish at the same time in
 * general. */
#include "system/events/friction.h"

#include <math.h>
#include <string.h>

#include "system/events/tangent.h"

#define DIRECTION 32.0

static const double *terms(const zw_work *work, int at)
{
    return work->out[PART_TERMS] + at;
}

static int slides(const zw_system *system, const system_solver *solver, int c)
{
    int role = solver->role[c];
    return system->model->constraint[c].friction != EXPR_NONE &&
           (role == SOLVER_EQUAL || role == SOLVER_AT_LEAST);
}

static tangent tangent_now(const zw_system *system, const zw_work *work, int c)
{
    return tangent_look(system, c, terms(work, system->at.slip));
}

static double along(const tangent *t, const double *hint)
{
    double sum = 0;
    for (int i = 0; i < t->width; i++) {
        sum += t->e[i] * hint[i];
    }
    return sum;
}

/* Unit direction of sliding, for speeds above `slow`. */
static void direction(const tangent *t, const double *hint, double slow, double *d)
{
    double speed = tangent_speed(t), sign = along(t, hint) < 0 ? -1 : 1;
    for (int i = 0; i < t->width; i++) {
        d[i] = speed > slow ? sign * t->e[i] / speed : hint[i];
    }
}

int system_presses_both_ways(const zw_system *system, int c)
{
    return system->model->constraint[c].relation != MODEL_AT_LEAST && system->slip[c].width > 0 &&
           system->slip[c].rows == 1;
}

/* The normal force, with the sign that it has in this step. */
static double normal_force(const zw_system *system, const tangent *t, int c, const double *lambda,
                           int press)
{
    if (t->rows == 0) {
        return 1; /* dry friction of a joint: its coefficient is the force */
    }
    int side = system->model->constraint[c].relation == MODEL_AT_LEAST ? 1 : press;
    double size = tangent_force(t, lambda);
    return side * lambda[t->row[0]] < 0 ? -size : size;
}

static void friction_of(const zw_system *system, const zw_work *work, int c, const double *lambda,
                        double *C)
{
    tangent t = tangent_now(system, work, c);
    double d[TANGENT_WIDTH];
    double most =
        terms(work, system->at.mu)[c] * normal_force(system, &t, c, lambda, work->press[c]);
    if (work->solving == work->motion && work->mode[c] == SYSTEM_HELD) {
        memcpy(d, work->hint + 3 * c, sizeof d);
    } else {
        direction(&t, work->hint + 3 * c, work->slow, d);
    }
    for (int k = 0; k < t.columns; k++) {
        for (int i = 0; i < t.width; i++) {
            C[t.column[k]] -= most * d[i] * t.T[i * t.columns + k];
        }
    }
}

/* The kernel's zw_nonideal_law: explicit C and friction of all sliding constraints. */
static void law(void *user, const double *kernel_lambda, const double *reaction, double *C)
{
    zw_work *work = user;
    const zw_system *system = work->system;
    const system_solver *solver = work->solving;
    double *lambda = work->spare[3];
    (void)reaction;
    memcpy(C, solver->C, (size_t)system->n * sizeof *C);
    memset(lambda, 0, (size_t)system->m * sizeof *lambda);
    for (int i = 0; i < solver->rows; i++) {
        if (solver->row_of[i] >= 0) {
            lambda[solver->row_of[i]] = solver->scale[i] * kernel_lambda[i];
        }
    }
    for (int c = 0; c < system->model->constraint_count; c++) {
        if (slides(system, solver, c) && system->first_row[c] < system->first_row[c + 1]) {
            friction_of(system, work, c, lambda, C);
        }
    }
}

int friction_set_up(const zw_system *system, zw_work *work, system_solver *solver)
{
    int any = 0;
    for (int c = 0; c < system->model->constraint_count; c++) {
        if (slides(system, solver, c) && system->first_row[c] == system->first_row[c + 1]) {
            friction_of(system, work, c, NULL,
                        solver->C); /* dry friction does not depend on reactions */
        } else if (slides(system, solver, c)) {
            any = 1;
        }
    }
    if (any) {
        work->solving = solver;
        solver->problem.law = law;
        solver->problem.law_user = work;
        solver->problem.law_on = ZW_ON_TOTAL_REACTION;
    }
    return any;
}

void friction_add_dry(const zw_system *system, const zw_work *work, int c, double *sum)
{
    const system_solver *solver = work->shown_by;
    tangent t = tangent_now(system, work, c);
    for (int i = 0; i < solver->rows; i++) {
        if (solver->row_of[i] == -1 && solver->tangent_of[i] == 4 * c) {
            for (int k = 0; k < t.columns; k++) {
                sum[t.column[k]] += t.T[k] * solver->answer.lambda[i];
            }
            return;
        }
    }
    friction_of(system, work, c, NULL, sum);
}

zw_status system_note_slip(const zw_system *system, zw_work *work, double t, const double *q,
                           const double *v, zw_error *error)
{
    zw_status status = system_evaluate(system, work, PART_SLIP, t, q, v, NULL, NULL, error);
    double fastest = 0;
    for (int i = 0; i < system->n; i++) {
        fastest = fmax(fastest, fabs(v[i]));
    }
    work->slow =
        work->tolerance > 0 ? DIRECTION * work->tolerance * (1 + fastest) : SYSTEM_SLOW_SLIP;
    for (int c = 0; c < system->model->constraint_count && status == ZW_OK; c++) {
        if (system->slip[c].width == 0) {
            continue;
        }
        tangent now = tangent_look(system, c, work->out[PART_SLIP]);
        double speed = tangent_speed(&now), *hint = work->hint + 3 * c;
        for (int i = 0; i < now.width && speed > work->slow; i++) {
            hint[i] = now.e[i] / speed;
        }
    }
    return status;
}

void system_keep_slip(const zw_work *work, zw_state *state)
{
    memcpy(state_slide(state), work->hint, (size_t)state->slides * sizeof(double));
}

void system_take_slip(zw_work *work, zw_state *state)
{
    memcpy(work->hint, state_slide(state), (size_t)state->slides * sizeof(double));
}

double system_slide(const zw_system *system, const zw_work *work, int c)
{
    tangent t = tangent_look(system, c, work->out[PART_SLIP]);
    return along(&t, work->hint + 3 * c);
}

double system_hold(const zw_system *system, const zw_work *work, int c)
{
    const system_solver *solver = work->motion;
    tangent t = tangent_now(system, work, c);
    double *normal = work->spare[3], pull = 0;
    solver_multipliers(solver, normal);
    for (int i = 0; i < solver->rows; i++) {
        double lambda = solver->answer.lambda[i];
        if (solver->row_of[i] == -1 && solver->tangent_of[i] / 4 == c) {
            pull += lambda * lambda;
        }
    }
    return terms(work, system->at.mu)[c] * normal_force(system, &t, c, normal, 0) - sqrt(pull);
}

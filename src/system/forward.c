/* The principle at an instant: accelerations, multipliers and forces of a system.
 *
 * A system without rows is solved by one Cholesky factorisation; zw_forward always asks the kernel,
 * so that the certificate is its own. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "math/dense.h"
#include "math/small.h"
#include "system/friction.h"
#include "system/work.h"

static const double *terms(const zw_work *work, int at)
{
    return work->out[PART_TERMS] + at;
}

/* ---- Modes --------------------------------------------------------------------------------- */

static solver_role role_now(const model_constraint *constraint, int mode)
{
    if (constraint->relation == MODEL_AT_LEAST && mode == SYSTEM_OPEN) {
        return SOLVER_ABSENT;
    }
    return mode == SYSTEM_STUCK ? SOLVER_EQUAL_HELD : SOLVER_EQUAL;
}

static system_solver *position_solver(const zw_system *system, int *role, zw_error *error)
{
    for (int c = 0; c < system->model->constraint_count; c++) {
        if (system->row_kind[system->first_row[c]] == SYSTEM_VELOCITY) {
            role[c] = SOLVER_ABSENT;
        }
    }
    return solver_create(system, role, NULL, 0, error);
}

zw_status system_set_modes(const zw_system *system, zw_work *work, const double *mode,
                           zw_error *error)
{
    int constraints = system->model->constraint_count, same = work->motion != NULL;
    int *role = work->mode; /* used as room for the roles first */
    for (int c = 0; c < constraints && same; c++) {
        same = work->mode[c] == (int)mode[c];
    }
    if (same) {
        return ZW_OK;
    }
    solver_free(work->motion);
    solver_free(work->velocity);
    solver_free(work->position);
    work->motion = work->velocity = work->position = NULL;
    for (int c = 0; c < constraints; c++) {
        role[c] = (int)role_now(&system->model->constraint[c], (int)mode[c]);
    }
    work->motion = solver_create(system, role, NULL, 0, error);
    work->velocity = work->motion ? solver_create(system, role, NULL, 0, error) : NULL;
    work->position = work->velocity ? position_solver(system, role, error) : NULL;
    if (!work->position) {
        solver_free(work->motion);
        work->motion = NULL;
        return ZW_NO_MEMORY;
    }
    work->velocity->options.least_squares = work->position->options.least_squares = 1;
    for (int c = 0; c < constraints; c++) {
        work->mode[c] = (int)mode[c];
    }
    return ZW_OK;
}

/* ---- Accelerations -------------------------------------------------------------------------- */

/* Gauss's problem of this instant, from the terms. */
static void set_up(const zw_system *system, zw_work *work, const double *v)
{
    system_solver *solver = work->motion;
    solver_fill(solver, terms(work, system->at.M), terms(work, system->at.A),
                terms(work, system->at.b), terms(work, system->at.force), NULL);
    memset(solver->C, 0, (size_t)system->n * sizeof(double));
    for (int k = 0; k < system->C_count; k++) {
        solver->C[system->C_coord[k]] += terms(work, system->at.C)[k];
    }
    if (!friction_set_up(system, work, solver, v) && system->C_count > 0) {
        solver->problem.C = solver->C;
    }
}

/* dE/dt = (Q - dR/dv) . v + (F^L + F^C) . v - dL/dt: seed 003 (3.14). */
static double power_of(const zw_system *system, const zw_work *work, const double *v)
{
    if (!system->works) {
        return 0;
    }
    const zw_motion *motion = &work->motion->answer;
    const double *Q = terms(work, system->at.Q);
    double sum = terms(work, system->at.dLdt)[0];
    for (int i = 0; i < system->n; i++) {
        sum += (Q[i] + motion->F_L[i] + motion->F_C[i]) * v[i];
    }
    return sum;
}

/* a = M \ force, if M is positive definite and nothing else acts. */
static int plain(const zw_system *system, zw_work *work, double *a)
{
    int n = system->n;
    const double *M = terms(work, system->at.M), *force = terms(work, system->at.force);
    if (system->M_diagonal) {
        for (int i = 0; i < n; i++) {
            if (!(M[i] > 0)) {
                return 0;
            }
            a[i] = force[i] / M[i];
        }
        return 1;
    }
    double *H = work->small;
    memset(H, 0, (size_t)n * (size_t)n * sizeof *H);
    for (int j = 0; j < n; j++) {
        for (int k = system->M_start[j]; k < system->M_start[j + 1]; k++) {
            H[system->M_row[k] * n + j] = M[k];
        }
        a[j] = force[j];
    }
    if (small_cholesky(n, H, 0)) {
        return 0;
    }
    small_cholesky_solve(n, H, a);
    return 1;
}

/* The kernel asks for 1e-10. Where rows are redundant and nearly singular, the round-off of the
 * formulas themselves may be larger than that; then its best answer stands, and its certificate,
 * which the summary shows, says how good it is. */
static zw_status accept(const system_solver *solver, zw_status status)
{
    return status == ZW_INACCURATE && solver->answer.certificate.worst < 1e-7 ? ZW_OK : status;
}

/* What the kernel could not do, in the user's names. */
static zw_status tell(const zw_system *system, const zw_work *work, double t, zw_status status,
                      zw_error *error)
{
    const zw_motion *motion = &work->motion->answer;
    if (status == ZW_UNDETERMINED && motion->undetermined_count > 0) {
        const model_coord *first = &system->model->coord[motion->undetermined[0]];
        model_fail(system->model, error, status, first->place,
                   "at t = %.9g neither masses nor constraints hold coordinate%s %s", t,
                   motion->undetermined_count > 1 ? "s" : "", first->name);
        return status;
    }
    if (status == ZW_CONFLICT && motion->conflict_count > 0) {
        const char *name = work->motion->block[motion->conflict[0]].name;
        for (int c = 0; c < system->model->constraint_count; c++) {
            if (system->model->constraint[c].name == name) {
                char text[256] = "";
                size_t used = 0;
                for (int k = 0; k < motion->conflict_count && used < sizeof text - 1; k++) {
                    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", k ? ", " : "",
                                             work->motion->block[motion->conflict[k]].name);
                }
                return model_fail(system->model, error, status, system->model->constraint[c].place,
                                  "at t = %.9g these constraints contradict each other: %s", t,
                                  text);
            }
        }
    }
    if (error && error->line == 0) {
        base_fail_more(error, " (at t = %.9g)", t);
    }
    return status;
}

zw_status system_accelerate(const zw_system *system, zw_work *work, double t, const double *q,
                            const double *v, double *a, zw_error *error)
{
    zw_status status = system_evaluate(system, work, PART_TERMS, t, q, v, NULL, NULL, error);
    if (status != ZW_OK) {
        return status;
    }
    int simple = work->motion->rows == 0 && system->conservative && !system->sparse;
    if (simple && plain(system, work, a)) {
        work->power = 0;
        return ZW_OK;
    }
    set_up(system, work, v);
    status = accept(work->motion, solver_solve(work->motion, error));
    if (status == ZW_OK) {
        memcpy(a, work->motion->answer.a, (size_t)system->n * sizeof *a);
        work->power = power_of(system, work, v);
        work->certificate = work->motion->answer.certificate.worst;
        return ZW_OK;
    }
    return tell(system, work, t, status, error);
}

zw_status zw_forward(const zw_system *system, const zw_state *state, zw_work *work, zw_error *error)
{
    zw_state *now = (zw_state *)state; /* only read */
    const double *q = state_q(now), *v = state_v(now);
    system_bind(system, work, state_param(now));
    zw_status status = system_set_modes(system, work, state_mode(now), error);
    if (status == ZW_OK) {
        status = system_evaluate(system, work, PART_TERMS, state->t, q, v, NULL, NULL, error);
    }
    if (status != ZW_OK) {
        return status;
    }
    set_up(system, work, v);
    status = accept(work->motion, solver_solve(work->motion, error));
    if (status == ZW_OK) {
        const zw_motion *motion = &work->motion->answer;
        memcpy(work->a, motion->a, (size_t)system->n * sizeof(double));
        solver_multipliers(work->motion, work->lambda);
        work->power = power_of(system, work, v);
        work->certificate = motion->certificate.worst;
        return ZW_OK;
    }
    return tell(system, work, state->t, status, error);
}

/* What touches, and impacts: the first half of a decision; see decide.c.
 *
 * Impact. The next speeds are Gauss's minimum with v in place of a (seed 004 eqs. (2)-(4)): nearest
 * to v in the metric of the masses, with A v+ >= -e A v- for every contact that touches (Newton's
 * restitution e), friction cones where there is friction, and all two-sided constraints. A bounce
 * that nobody could see ends it: slower than REST, or not as high as the round-off of its gap, or
 * not as long as that of time. */
#include <string.h>

#include "base/error.h"
#include "system/decide.h"

/* Gaps below TOUCH (relative to 1 + the size of what is subtracted in them) and speeds below REST
 * (relative to 1 + the largest speed) count as none. */
#define TOUCH 1e-12
#define REST 1e-10

enum { ROUNDS = 20 };

/* Sum of |A_i x_i| over row r. */
static double row_size(const zw_system *system, int r, const double *A, const double *x)
{
    double sum = 0;
    for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
        sum += fabs(A[k] * x[system->A_column[k]]);
    }
    return sum;
}

static double row_times(const zw_system *system, int r, const double *A, const double *x)
{
    double sum = 0;
    for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
        sum += A[k] * x[system->A_column[k]];
    }
    return sum;
}

/* The largest acceleration that the applied forces give; cancelled or not. PART_TERMS is known. */
double decide_pull_of(const decision *d)
{
    const zw_system *system = d->system;
    const double *M = d->work->out[PART_TERMS] + system->at.M;
    const double *force = d->work->out[PART_TERMS] + system->at.force;
    double most = 0;
    for (int i = 0; i < system->n; i++) {
        double mass = M[system->M_start[i]]; /* the diagonal comes first */
        most = mass > 0 ? fmax(most, fabs(force[i]) / mass) : most;
    }
    return most;
}

/* Gaps, who touches, and how fast they part and slide. A flight at speed u under the acceleration a
 * is u^2/2a high and 2 u/a long. */
zw_status decide_look(decision *d, zw_error *error)
{
    const zw_system *system = d->system;
    zw_state *state = d->state;
    double *q = state_q(state), *v = state_v(state);
    const system_part part[] = {PART_POSITION, PART_VELOCITY, PART_SLIP, PART_TERMS};
    int parts = system->contact_count > 0 ? 4 : 3;
    zw_status status = ZW_OK;
    for (int i = 0; i < parts && status == ZW_OK; i++) {
        status = system_evaluate(system, d->work, part[i], state->t, q, v, NULL, NULL, error);
    }
    if (status != ZW_OK) {
        return status;
    }
    double a = parts > 3 ? decide_pull_of(d) : 0, tick = 2.3e-16 * fabs(state->t);
    d->rest = REST * (1 + decide_largest(system->n, v));
    for (int c = 0; c < system->model->constraint_count; c++) {
        int r = system->first_row[c];
        const double *phi = d->work->out[PART_POSITION];
        double size = row_size(system, r, phi + system->m, q);
        d->touching[c] = decide_one_sided(system, c) && phi[r] <= TOUCH * (1 + size);
        d->normal[c] = d->work->out[PART_VELOCITY][r];
        d->still[c] = fmax(d->rest, fmax(sqrt(2 * a * 16 * 2.3e-16 * size), 8 * a * tick));
    }
    return ZW_OK;
}

/* ---- Impact -------------------------------------------------------------------------------- */

/* The fastest contact that touches and approaches; -1: none. */
static int approaching(const decision *d)
{
    int found = -1;
    double fastest = -d->rest;
    for (int c = 0; c < d->system->model->constraint_count; c++) {
        if (d->touching[c] && d->normal[c] < fastest) {
            fastest = d->normal[c];
            found = c;
        }
    }
    return found;
}

/* What part of its speed contact c gives back. */
static zw_status restitution(const decision *d, int c, double *part, zw_error *error)
{
    const zw_model *model = d->system->model;
    const expr_inputs now = {.t = d->state->t,
                             .param = state_param(d->state),
                             .q = state_q(d->state),
                             .v = state_v(d->state)};
    const expr_inputs in = system_inputs(d->system, d->work, &now);
    expr_id e = model->constraint[c].restitution;
    double value = 0;
    if (e != EXPR_NONE && expr_value(model->graph, e, &in, &value) != ZW_OK) {
        return base_fail(error, ZW_NO_MEMORY, "%s", zw_status_text(ZW_NO_MEMORY));
    }
    *part = -value * d->normal[c] > d->still[c] ? value : 0; /* small bounces end */
    return ZW_OK;
}

void decide_set_friction(const decision *d, system_solver *solver)
{
    const zw_system *system = d->system;
    const double *mu = d->work->out[PART_TERMS] + system->at.mu;
    for (int b = 0, i = 0; b < solver->block_count; i += solver->block[b].rows, b++) {
        if (solver->block[b].kind == ZW_CONE) {
            int c = system->row_constraint[solver->row_of[i]];
            solver->block[b].friction[0] = solver->block[b].friction[1] = mu[c];
        }
    }
}

zw_status decide_energy(decision *d, double *value, zw_error *error)
{
    zw_state *state = d->state;
    zw_status status = system_evaluate(d->system, d->work, PART_ENERGY, state->t, state_q(state),
                                       state_v(state), NULL, NULL, error);
    *value = d->work->out[PART_ENERGY][0];
    return status;
}

/* As exact as the kernel can; if that is not what was asked for, its answer stands all the same, as
 * long as it is one. */
zw_status decide_solve(system_solver *solver, zw_error *error)
{
    solver->options.tolerance = 1e-14;
    zw_status status = solver_solve(solver, error);
    int best = status == ZW_INACCURATE || status == ZW_JAMMED;
    return best && solver->answer.certificate.worst < 1e-8 ? ZW_OK : status;
}

/* v+ : A v+ >= -e A v- where things touch, psi = 0 where they are tied. */
static zw_status solve_impact(decision *d, zw_error *error)
{
    const zw_system *system = d->system;
    zw_work *work = d->work;
    double *v = state_v(d->state), *b = work->spare[0];
    for (int c = 0; c < system->model->constraint_count; c++) {
        d->role[c] = !decide_one_sided(system, c) ? SOLVER_EQUAL
                     : !d->touching[c]            ? SOLVER_ABSENT
                     : decide_rough(system, c)    ? SOLVER_CONE
                                                  : SOLVER_AT_LEAST;
    }
    system_solver *solver = solver_create(system, d->role, NULL, 0, error);
    if (!solver) {
        return ZW_NO_MEMORY;
    }
    const double *psi = work->out[PART_VELOCITY], *A = psi + system->m;
    zw_status status = ZW_OK;
    for (int r = 0; r < system->m && status == ZW_OK; r++) {
        int c = system->row_constraint[r];
        double e = 0;
        if (d->touching[c] && psi[r] < 0) {
            status = restitution(d, c, &e, error);
        }
        b[r] = row_times(system, r, A, v) - psi[r] - e * psi[r];
    }
    if (status != ZW_OK) {
        solver_free(solver);
        return status;
    }
    const system_rows rows = {.A = A, .b = b, .slip = work->out[PART_SLIP]};
    solver_fill(solver, work->out[PART_METRIC], rows, NULL, v);
    decide_set_friction(d, solver);
    status = decide_solve(solver, error);
    if (status == ZW_OK) {
        memcpy(v, solver->answer.a, (size_t)system->n * sizeof *v);
    } else {
        status = system_tell(solver, d->state->t, status, error);
    }
    solver_free(solver);
    return status;
}

static zw_status impact(decision *d, zw_error *error)
{
    zw_state *state = d->state;
    double before = 0, after = 0;
    const double *q = state_q(state), *v = state_v(state);
    zw_status status = decide_energy(d, &before, error);
    if (status == ZW_OK) {
        status =
            system_evaluate(d->system, d->work, PART_METRIC, state->t, q, v, NULL, NULL, error);
    }
    status = status != ZW_OK ? status : solve_impact(d, error);
    status = status != ZW_OK ? status : decide_energy(d, &after, error);
    if (status == ZW_OK) {
        state->work += after - before;
        status = decide_look(d, error);
    }
    return status;
}

zw_status decide_impacts(decision *d, int *hit, zw_error *error)
{
    zw_status status = ZW_OK;
    for (int round = 0; status == ZW_OK && approaching(d) >= 0; round++) {
        if (round == ROUNDS) {
            const model_constraint *c = &d->system->model->constraint[approaching(d)];
            return model_fail(d->system->model, error, ZW_INACCURATE, c->place,
                              "at t = %.9g no impact found ends the approach at constraint %s",
                              d->state->t, c->name);
        }
        status = impact(d, error);
        *hit = 1;
    }
    return status;
}

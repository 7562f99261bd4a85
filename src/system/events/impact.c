/* Touching contacts and impacts: the first half of a decision; see decide.c.
 *
 * The law of impact is that of gauss/contact/impact.c; a contact here is a touching one-sided
 * constraint, with its friction if it has some; a two-sided one with friction presses from either
 * side, with friction of its impulse. A contact does not bounce again if the bounce would be
 * slower than SYSTEM_REST, lower than the round-off of its gap, or shorter than that of time. */
#include <float.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "gauss/contact/impact.h"
#include "gauss/tolerances.h"
#include "system/events/decide.h"

#define SAME                                                                                       \
    1e-9           /* part by which an entry of M may change: beyond it, it depends on the speeds  \
                    */
#define HOLDS 1e-8 /* part of its terms to which a row of speeds holds after an impact */

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

/* Gaps, which constraints touch, and how fast they separate and slide. A flight at speed u under
 * the acceleration a is u^2/2a high and 2 u/a long. */
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
    double a = parts > 3 ? decide_pull_of(d) : 0, tick = DBL_EPSILON * fabs(state->t);
    d->rest = SYSTEM_REST * (1 + decide_largest(system->n, v));
    for (int c = 0; c < system->model->constraint_count; c++) {
        int r = system->first_row[c];
        const double *phi = d->work->out[PART_POSITION];
        double size = row_size(system, r, phi + system->m, q);
        d->touching[c] = decide_one_sided(system, c) && phi[r] <= gauss_touch(size);
        d->normal[c] = d->work->out[PART_VELOCITY][r];
        d->still[c] = fmax(d->rest, fmax(sqrt(2 * a * 16 * DBL_EPSILON * size), 8 * a * tick));
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

/* At a kink: the two-sided constraint that requires other speeds; -1: none. Under laws with
 * integrated multipliers speeds follow from these. */
static int kicking(const decision *d)
{
    const zw_system *system = d->system;
    const double *psi = d->work->out[PART_VELOCITY];
    for (int r = 0; r < system->m && d->at_kink && system->carried == 0; r++) {
        if (!decide_one_sided(system, system->row_constraint[r]) && fabs(psi[r]) > d->rest) {
            return system->row_constraint[r];
        }
    }
    return -1;
}

static zw_status restitution(const decision *d, int c, double *value, zw_error *error)
{
    const zw_model *model = d->system->model;
    const expr_inputs now = {.t = d->state->t,
                             .param = state_param(d->state),
                             .q = state_q(d->state),
                             .v = state_v(d->state)};
    const expr_inputs in = system_inputs(d->system, d->work, &now);
    expr_id e = model->constraint[c].restitution;
    *value = 0;
    return e == EXPR_NONE || expr_value(model->graph, e, &in, value) == ZW_OK
               ? ZW_OK
               : base_no_memory(error);
}

zw_status decide_energy(decision *d, double *value, zw_error *error)
{
    zw_state *state = d->state;
    zw_status status = system_evaluate(d->system, d->work, PART_ENERGY, state->t, state_q(state),
                                       state_v(state), NULL, NULL, error);
    *value = d->work->out[PART_ENERGY][0];
    return status;
}

/* An answer that misses the tolerance is accepted too, if there is one. */
zw_status decide_solve(system_solver *solver, zw_error *error)
{
    solver->options.tolerance = 1e-14;
    zw_status status = solver_solve(solver, error);
    int best = status == ZW_INACCURATE || status == ZW_JAMMED;
    return best && solver->answer.certificate.worst < GAUSS_GOOD ? ZW_OK : status;
}

/* The rows of all two-sided constraints and of touching contacts, at the speeds v: a solver used
 * only for its rows. */
static system_solver *make_rows(decision *d, const double *v, zw_error *error)
{
    const zw_system *system = d->system;
    zw_work *work = d->work;
    double *b = work->spare[0];
    for (int c = 0; c < system->model->constraint_count; c++) {
        int both = !decide_one_sided(system, c);
        d->role[c] = both ? system_presses_both_ways(system, c) ? SOLVER_CONE : SOLVER_EQUAL
                     : !d->touching[c]         ? SOLVER_ABSENT
                     : decide_rough(system, c) ? SOLVER_CONE
                                               : SOLVER_AT_LEAST;
    }
    system_solver *solver = solver_create(system, d->role, NULL, 0, error);
    const double *psi = work->out[PART_VELOCITY], *A = psi + system->m;
    for (int r = 0; r < system->m; r++) {
        b[r] = row_times(system, r, A, v) - psi[r];
    }
    if (solver) {
        const system_rows rows = {.A = A, .b = b, .slip = work->out[PART_SLIP]};
        solver_fill(solver, work->out[PART_METRIC], rows, NULL, v);
        solver_set_friction(solver, d->work->out[PART_TERMS] + d->system->at.mu);
    }
    return solver;
}

/* All of them as contacts and equalities of an impact. */
static zw_status add_blocks(decision *d, const system_solver *solver, gauss_impact *to,
                            zw_error *error)
{
    const zw_system *system = d->system;
    for (int k = 0, i = 0; k < solver->block_count; i += solver->block[k++].rows) {
        int c = system->row_constraint[solver->row_of[i]], touches = decide_one_sided(system, c);
        double e = 0;
        if (touches && restitution(d, c, &e, error) != ZW_OK) {
            return ZW_NO_MEMORY;
        }
        const gauss_impact_contact contact = {.pair = c,
                                              .restitution = e,
                                              .slow = e > 0 ? solver->scale[i] * d->still[c] / e
                                                            : INFINITY};
        gauss_impact_add(to, &solver->problem, k, i, touches ? &contact : NULL);
    }
    return ZW_OK;
}

/* Reports a failure: if the constraints contradict each other, which ones. */
static zw_status report_failure(decision *d, system_solver *solver, zw_status status,
                                zw_error *error)
{
    int c = approaching(d);
    if (status == ZW_NO_MEMORY) {
        return status;
    }
    zw_status other = decide_solve(solver, error);
    if (other != ZW_OK || c < 0) {
        return system_report_failure(solver, d->state->t, other != ZW_OK ? other : status, error);
    }
    return model_fail(d->system->model, error, status, d->system->model->constraint[c].place,
                      "at t = %.9g no impulse was found that ends the approach at constraint %s",
                      d->state->t, d->system->model->constraint[c].name);
}

/* Masses and rows were those of the speeds before the impact. Momenta jump by M (v+ - v-), and rows
 * that held still hold, only if neither depends on the speeds that changed: no law of impact is
 * known here for anything else. */
static zw_status check_speeds(decision *d, const double *M, int c, zw_error *error)
{
    const zw_system *system = d->system;
    const zw_model *model = system->model;
    const double *now = d->work->out[PART_METRIC], *psi = d->work->out[PART_VELOCITY];
    const double *v = state_v(d->state);
    zw_status status = system_evaluate(system, d->work, PART_METRIC, d->state->t, state_q(d->state),
                                       v, NULL, NULL, error);
    for (int k = 0; k < system->M_start[system->n] && status == ZW_OK; k++) {
        if (!(fabs(now[k] - M[k]) <= SAME * (fabs(now[k]) + fabs(M[k])))) {
            return model_fail(model, error, ZW_BAD_INPUT, model->constraint[c].place,
                              "at t = %.9g the impact at %s changes masses: the law of "
                              "impact is for kinetic energies that are quadratic in the speeds",
                              d->state->t, model->constraint[c].name);
        }
    }
    for (int r = 0; r < system->m && status == ZW_OK && system->carried == 0; r++) {
        int two = !decide_one_sided(system, system->row_constraint[r]);
        double size = row_size(system, r, psi + system->m, v);
        if (two && !(fabs(psi[r]) <= HOLDS * (1 + size))) {
            return model_fail(model, error, ZW_BAD_INPUT, model->constraint[c].place,
                              "at t = %.9g %s does not hold after the impact at %s: the "
                              "law of impact is for constraints that are linear in the speeds",
                              d->state->t, model->constraint[system->row_constraint[r]].name,
                              model->constraint[c].name);
        }
    }
    return status;
}

static double *copy_of(const double *x, int count)
{
    double *copy = base_alloc(((size_t)count + 1) * sizeof *copy);
    if (copy) {
        memcpy(copy, x, (size_t)count * sizeof *copy);
    }
    return copy;
}

static zw_status impact(decision *d, system_impact *impact, zw_error *error)
{
    const zw_system *system = d->system;
    zw_state *state = d->state;
    double *v = state_v(state);
    int c = approaching(d) >= 0 ? approaching(d) : kicking(d);
    zw_status status = system_evaluate(system, d->work, PART_METRIC, state->t, state_q(state), v,
                                       NULL, NULL, error);
    if (status != ZW_OK) {
        return status;
    }
    const zw_metric metric = {.kind = system->M_diagonal ? ZW_METRIC_DIAGONAL : ZW_METRIC_SPARSE,
                              .value = d->work->out[PART_METRIC],
                              .start = system->M_start,
                              .row = system->M_row};
    gauss_impact_answer answer;
    double *M = copy_of(metric.value, system->M_start[system->n]);
    system_solver *solver = make_rows(d, v, error);
    gauss_impact *law = gauss_impact_create();
    if (!solver || !law || !M) {
        status = base_no_memory(error);
    } else {
        gauss_impact_begin(law, system->n, &metric);
        if (kicking(d) >= 0) {
            gauss_impact_kick(law);
        }
        status = add_blocks(d, solver, law, error);
    }
    if (status == ZW_OK) {
        status = gauss_impact_solve(law, system->impact, ZW_CONTACT_COULOMB, v, &answer, error);
        status = status == ZW_OK ? ZW_OK : report_failure(d, solver, status, error);
    }
    gauss_impact_free(law);
    solver_free(solver);
    if (status == ZW_OK) {
        state->work += answer.work - answer.loss;
        impact->count++;
        impact->loss += fmax(answer.loss, 0);
        status = decide_look(d, error);
        status = status == ZW_OK ? check_speeds(d, M, c, error) : status;
    }
    base_free(M);
    return status;
}

zw_status decide_impacts(decision *d, system_impact *made, zw_error *error)
{
    zw_status status = ZW_OK;
    if (approaching(d) >= 0 || kicking(d) >= 0) {
        status = impact(d, made, error);
    }
    return status;
}

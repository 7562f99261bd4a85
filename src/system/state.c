/* The initial state, made consistent (assembly).
 *
 * Positions: the nearest to those written that all constraints admit, one-sided ones and limits
 * included, in the metric of the masses (assemble.c). Speeds: those given are fixed and the others
 * follow, with the least v . M v; if the given ones contradict the constraints, all speeds
 * are moved to the nearest consistent ones. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "gauss/contact/impact.h"
#include "system/assemble.h"
#include "system/bodies/bodies.h"
#include "system/events/slip.h"
#include "system/law.h"
#include "system/work.h"

double *state_q(zw_state *state)
{
    return state->data;
}

double *state_v(zw_state *state)
{
    return state->data + state->nq;
}

double *state_param(zw_state *state)
{
    return state_v(state) + state->n + state->carried;
}

double *state_mode(zw_state *state)
{
    return state_param(state) + state->params;
}

double *state_slide(zw_state *state)
{
    return state_mode(state) + state->constraints;
}

double *state_memory(zw_state *state)
{
    return state_slide(state) + state->slides;
}

static int slide_numbers(const zw_system *system)
{
    int any = 0, constraints = system->model->constraint_count;
    for (int c = 0; c < constraints && system->slip; c++) {
        any |= system->slip[c].width > 0;
    }
    return any ? 3 * constraints : 0;
}

/* The memory holds the low-order parts of q, v, multipliers, work and p; p and v of the previous
 * step; data of the impulse method; lengths of rows; and a few more numbers. */
zw_state *state_allocate(const zw_system *system)
{
    enum { MORE = 16 };
    int memory = system->nq + 4 * system->n + system->carried + system->m + MORE +
                 (system->bodies ? bodies_step_memory(system) : 0);
    int slides = slide_numbers(system);
    size_t count = (size_t)slides + (size_t)system->nq + (size_t)system->n +
                   (size_t)system->carried + (size_t)system->shape.params +
                   (size_t)system->model->constraint_count + (size_t)memory;
    size_t bytes = sizeof(zw_state) + (count + 1) * sizeof(double);
    zw_state *state = base_alloc(bytes);
    if (state) {
        state->bytes = bytes;
        state->n = system->n;
        state->nq = system->nq;
        state->carried = system->carried;
        state->params = system->shape.params;
        state->constraints = system->model->constraint_count;
        state->slides = slides;
        state->memory = memory;
        state->fingerprint = system->fingerprint;
    }
    return state;
}

void zw_state_free(zw_state *state)
{
    base_free(state);
}

static double or_given(const double *given, int i, double written)
{
    return given && !isnan(given[i]) ? given[i] : written;
}

static int is_given(const zw_system *system, const state_given *given, int i)
{
    return system->model->coord[i].speed != EXPR_NONE || (given && given->v && !isnan(given->v[i]));
}

static zw_status as_written(const zw_system *system, const state_given *given, zw_state *state,
                            zw_error *error)
{
    const zw_model *model = system->model;
    double *q = state_q(state), *v = state_v(state), *param = state_param(state);
    for (int k = 0; k < system->shape.params; k++) {
        param[k] = or_given(given ? given->param : NULL, k, model->param[k].value);
    }
    const expr_inputs in = {.param = param};
    if (system->tree) {
        zw_status status = bodies_start(system, param, q, v, error);
        if (status != ZW_OK) {
            return status;
        }
        for (int i = 0; i < system->nq; i++) {
            q[i] = or_given(given ? given->q : NULL, i, q[i]);
        }
        for (int i = 0; i < system->n; i++) {
            v[i] = or_given(given ? given->v : NULL, i, v[i]);
        }
    }
    for (int i = 0; i < system->n && !system->tree; i++) {
        const model_coord *coord = &model->coord[i];
        v[i] = 0;
        if (expr_value(model->graph, coord->start, &in, &q[i]) != ZW_OK ||
            (coord->speed != EXPR_NONE &&
             expr_value(model->graph, coord->speed, &in, &v[i]) != ZW_OK)) {
            return base_no_memory(error);
        }
        q[i] = or_given(given ? given->q : NULL, i, q[i]);
        v[i] = or_given(given ? given->v : NULL, i, v[i]);
        if (!isfinite(q[i]) || !isfinite(v[i])) {
            return model_fail(model, error, ZW_NOT_FINITE, coord->place,
                              "coordinate %s does not start at a finite value", coord->name);
        }
    }
    for (int j = 0; j < system->law.carried && system->given.lambda; j++) {
        v[system->n + j] = system->given.lambda[system->law.row[j]];
    }
    return ZW_OK;
}

/* Only what is two-sided holds: no contact is closed, and no friction sticks. */
static zw_status release_all(const zw_system *system, zw_work *work, zw_state *state,
                             zw_error *error)
{
    for (int c = 0; c < system->model->constraint_count; c++) {
        state_mode(state)[c] =
            system->model->constraint[c].relation == MODEL_AT_LEAST ? SYSTEM_OPEN : SYSTEM_CLOSED;
    }
    return system_set_modes(system, work, state_mode(state), error);
}

/* mu >= 0 and 0 <= e <= 1, at least at the start. */
static zw_status check_numbers(const zw_system *system, zw_work *work, zw_state *state,
                               zw_error *error)
{
    const zw_model *model = system->model;
    const expr_inputs now = {
        .t = state->t, .param = state_param(state), .q = state_q(state), .v = state_v(state)};
    const expr_inputs in = system_inputs(system, work, &now);
    for (int c = 0; c < model->constraint_count; c++) {
        const model_constraint *constraint = &model->constraint[c];
        expr_id mu = constraint->friction, e = constraint->restitution;
        double friction = 0, bounce = 0;
        if ((mu != EXPR_NONE && expr_value(model->graph, mu, &in, &friction) != ZW_OK) ||
            (e != EXPR_NONE && expr_value(model->graph, e, &in, &bounce) != ZW_OK)) {
            return base_no_memory(error);
        }
        if (friction < 0) {
            return model_fail(model, error, ZW_BAD_INPUT, constraint->place,
                              "friction of %s is %g; it must not be negative", constraint->name,
                              friction);
        }
        if (bounce < 0 || bounce > 1) {
            return model_fail(model, error, ZW_BAD_INPUT, constraint->place,
                              "restitution of %s is %g; it must be between 0 and 1",
                              constraint->name, bounce);
        }
    }
    return ZW_OK;
}

/* Largest change of x from x0, and where. */
static double change(int n, const double *x, const double *x0, int *which)
{
    double worst = 0;
    *which = -1;
    for (int i = 0; i < n; i++) {
        if (fabs(x[i] - x0[i]) > worst) {
            worst = fabs(x[i] - x0[i]);
            *which = i;
        }
    }
    return worst;
}

static zw_status assemble_speeds(const zw_system *system, const state_given *given, zw_work *work,
                                 zw_state *state, zw_error *error)
{
    double *q = state_q(state), *v = state_v(state);
    int held_count = 0;
    int *held = base_alloc(((size_t)system->n + 1) * sizeof(int));
    double *written = base_alloc(((size_t)system->n + 1) * sizeof(double));
    zw_status status = held && written ? ZW_OK : base_no_memory(error);
    for (int i = 0; i < system->n && status == ZW_OK; i++) {
        written[i] = v[i];
        if (is_given(system, given, i)) {
            held[held_count++] = i;
        }
    }
    int done = 0;
    if (status == ZW_OK && held_count > 0 && work->velocity->rows > 0) {
        system_solver *solver =
            solver_create(system, work->velocity->role, held, held_count, error);
        status = solver ? ZW_OK : ZW_NO_MEMORY;
        if (solver) {
            /* Given speeds may be redundant with the constraints: round-off is not a contradiction;
             * a real one moves speeds that should be fixed. */
            solver->options.least_squares = 1;
            zw_status tried = system_project_velocity_with(system, work, solver, 0, q, v, error);
            done = tried == ZW_OK;
            status = tried == ZW_NO_MEMORY ? tried : ZW_OK;
            for (int k = 0; k < held_count && done; k++) {
                double target = written[held[k]];
                done = fabs(v[held[k]] - target) <= 1e-12 * (1 + fabs(target));
            }
            solver_free(solver);
            if (!done) {
                memcpy(v, written, (size_t)system->n * sizeof *v);
            }
        }
    }
    if (status == ZW_OK && !done) {
        status = system_project_velocity(system, work, 0, q, v, error);
    }
    base_free(held);
    base_free(written);
    return status;
}

/* Moves onto all constraints, if necessary; active ones are then satisfied to round-off. */
static zw_status assemble_position(const zw_system *system, zw_work *work, zw_state *state,
                                   zw_assembly *report, zw_error *error)
{
    double *q = state_q(state), *v = state_v(state), *q0 = work->spare[2], violation[2] = {0, 0};
    zw_status status = system_violation(system, work, state->t, q, v, violation, error);
    memcpy(q0, q, (size_t)system->nq * sizeof *q);
    report->violation_before = fmax(violation[0], violation[1]);
    if (status == ZW_OK && violation[0] > 0) {
        status = system_assemble(system, work, state->t, q0, v, q, state_mode(state), error);
    }
    if (status == ZW_OK) {
        status = system_set_modes(system, work, state_mode(state), error);
    }
    if (status == ZW_OK) {
        status = system_project_position(system, work, state->t, q, v, error);
        report->position_change = change(system->nq, q, q0, &report->position_coord);
    }
    return status == ZW_OK ? release_all(system, work, state, error) : status;
}

/* Closes the one-sided constraints that are violated beyond what counts as touching; their number.
 */
static zw_status close_violated(const zw_system *system, zw_work *work, zw_state *state, int *count,
                                zw_error *error)
{
    zw_status status = system_evaluate(system, work, PART_POSITION, state->t, state_q(state),
                                       state_v(state), NULL, NULL, error);
    *count = 0;
    for (int c = 0; c < system->model->constraint_count && status == ZW_OK; c++) {
        double *mode = &state_mode(state)[c];
        if (system->model->constraint[c].relation == MODEL_AT_LEAST && *mode == SYSTEM_OPEN &&
            work->out[PART_POSITION][system->first_row[c]] < -gauss_touch(0)) {
            *mode = SYSTEM_CLOSED;
            ++*count;
        }
    }
    return status == ZW_OK ? system_set_modes(system, work, state_mode(state), error) : status;
}

/* The nearest position is searched for (assemble.c) only where projections onto what is violated do
 * not lead to one: that may take a second, and this is called in loops. */
zw_status system_settle(const zw_system *system, zw_work *work, zw_state *state, zw_error *error)
{
    enum { ROUNDS = 4 };
    zw_assembly ignored;
    double *q = state_q(state), *v = state_v(state), *written = work->spare[2];
    size_t size = (size_t)system->nq * sizeof *q;
    int violated = 1;
    zw_status status = release_all(system, work, state, error);
    memcpy(written, q, size);
    for (int round = 0; round < ROUNDS && violated > 0 && status == ZW_OK; round++) {
        memcpy(q, written, size);
        status = system_project_position(system, work, state->t, q, v, error);
        status = status == ZW_OK ? close_violated(system, work, state, &violated, error) : status;
    }
    if (status == ZW_CONFLICT || (status == ZW_OK && violated > 0)) {
        memcpy(q, written, size);
        status = release_all(system, work, state, error);
        status = status == ZW_OK ? assemble_position(system, work, state, &ignored, error) : status;
    }
    status = status == ZW_OK ? release_all(system, work, state, error) : status;
    if (status == ZW_OK) {
        status = law_follow(system, work, state->t, q, v, error);
    }
    if (status == ZW_OK) {
        status = system_project_velocity(system, work, state->t, q, v, error);
    }
    return status == ZW_OK ? system_note_slip(system, work, state->t, q, v, error) : status;
}

/* Contacts at the start, and the impact of approaching ones, which changes the speeds that the user
 * gave. */
static zw_status decide_start(const zw_system *system, zw_work *work, zw_state *state,
                              zw_assembly *report, zw_error *error)
{
    system_impact made;
    const double *v = state_v(state);
    size_t speeds = (size_t)system->n * sizeof *v;
    double *before = base_alloc(speeds + 1);
    if (!before) {
        return base_no_memory(error);
    }
    memcpy(before, v, speeds);
    zw_status status = system_decide(system, work, state, &made, error);
    state->work = 0;
    state->impacts = report->impacts = made.count;
    state->impact_loss = report->impact_loss = made.loss;
    if (made.count > 0) {
        change(system->n, v, before, &report->impact_speed);
    }
    if (report->impact_speed >= 0) {
        report->impact_before = before[report->impact_speed];
        report->impact_after = v[report->impact_speed];
    }
    base_free(before);
    return status;
}

static zw_status assemble(const zw_system *system, const state_given *given, zw_work *work,
                          zw_state *state, zw_assembly *report, zw_error *error)
{
    double *q = state_q(state), *v = state_v(state), *v0 = work->spare[3], violation[2] = {0, 0};
    zw_status status = assemble_position(system, work, state, report, error);
    memcpy(v0, v, (size_t)system->n * sizeof *v);
    if (status == ZW_OK) {
        status = check_numbers(system, work, state, error);
    }
    if (status == ZW_OK) {
        status = slip_check(system, work, state, error);
    }
    if (status == ZW_OK) {
        status = assemble_speeds(system, given, work, state, error);
    }
    for (int i = 0; i < system->n; i++) { /* only changes of given speeds count */
        v0[i] = is_given(system, given, i) ? v0[i] : v[i];
    }
    report->speed_change = change(system->n, v, v0, &report->speed_coord);
    if (status == ZW_OK) {
        status = system_violation(system, work, 0, q, v, violation, error);
        report->violation_after = violation[0] > violation[1] ? violation[0] : violation[1];
    }
    return status == ZW_OK ? decide_start(system, work, state, report, error) : status;
}

zw_state *state_create_given(const zw_system *system, const state_given *given, zw_work *work,
                             zw_assembly *assembly, zw_error *error)
{
    zw_assembly report = {.position_coord = -1, .speed_coord = -1, .impact_speed = -1};
    zw_state *state = state_allocate(system);
    if (!state) {
        base_no_memory(error);
        return NULL;
    }
    zw_status status = as_written(system, given, state, error);
    if (status == ZW_OK) {
        system_bind(system, work, state_param(state));
        status = release_all(system, work, state, error);
    }
    if (status == ZW_OK) {
        status = assemble(system, given, work, state, &report, error);
    }
    if (assembly) {
        *assembly = report;
    }
    if (status != ZW_OK) {
        zw_state_free(state);
        return NULL;
    }
    return state;
}

zw_state *zw_state_create(const zw_system *system, zw_work *work, zw_assembly *assembly,
                          zw_error *error)
{
    return state_create_given(system, NULL, work, assembly, error);
}

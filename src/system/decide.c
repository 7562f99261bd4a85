/* What happens where constraints touch: impacts first, then which contacts stay.
 *
 * Impact. The next speeds are Gauss's minimum with v in place of a (seed 004 eqs. (2)-(4)): nearest
 * to v in the metric of the masses, with A v+ >= -e A v- for every contact that touches (Newton's
 * restitution e), friction cones where there is friction, and all two-sided constraints.
 *
 * After it, a contact that touches and does not part may press. Accelerations are Gauss's minimum
 * with A a >= b for these; where the point does not slide, a friction cone takes part (Coulomb's
 * exact law); where it slides, friction opposes the sliding. Whatever the answer presses on is
 * closed, and stuck if the cone's tangential acceleration is zero; the rest opens.
 *
 * A two-sided constraint with friction sticks if the force that holds it is within mu times the
 * normal one, and else starts to slide against that force. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "system/friction.h"
#include "system/tangent.h"
#include "system/work.h"

/* Lengths below TOUCH and speeds below REST (relative to 1 + the largest speed) count as none. */
#define TOUCH 1e-9
#define REST 1e-10

typedef struct decision {
    const zw_system *system;
    zw_work *work;
    zw_state *state;
    int *role;      /* [constraints] */
    int *touching;  /* [constraints] */
    double *normal; /* [constraints] speed of parting */
    double rest;
} decision;

static int one_sided(const zw_system *system, int c)
{
    return system->model->constraint[c].relation == MODEL_AT_LEAST;
}

static int rough(const zw_system *system, int c)
{
    return system->model->constraint[c].friction != EXPR_NONE;
}

/* After look(). */
static double slip_speed(const decision *d, int c)
{
    double s[TANGENT_SUPPORT];
    const double *A = d->work->out[PART_VELOCITY] + d->system->m;
    return tangent_speed(d->system, c, A, state_v(d->state), s, NULL);
}

/* Gaps, who touches, and how fast they part. */
static zw_status look(decision *d, zw_error *error)
{
    const zw_system *system = d->system;
    zw_state *state = d->state;
    double *q = state_q(state), *v = state_v(state);
    zw_status status =
        system_evaluate(system, d->work, PART_POSITION, state->t, q, v, NULL, NULL, error);
    if (status == ZW_OK) {
        status = system_evaluate(system, d->work, PART_VELOCITY, state->t, q, v, NULL, NULL, error);
    }
    double largest = 0;
    for (int i = 0; i < system->n; i++) {
        largest = fabs(v[i]) > largest ? fabs(v[i]) : largest;
    }
    d->rest = REST * (1 + largest);
    for (int c = 0; c < system->model->constraint_count && status == ZW_OK; c++) {
        int r = system->first_row[c];
        d->touching[c] = one_sided(system, c) && d->work->out[PART_POSITION][r] <= TOUCH;
        d->normal[c] = d->work->out[PART_VELOCITY][r];
    }
    return status;
}

/* ---- Impact -------------------------------------------------------------------------------- */

static int approaching(const decision *d)
{
    for (int c = 0; c < d->system->model->constraint_count; c++) {
        if (d->touching[c] && d->normal[c] < -d->rest) {
            return 1;
        }
    }
    return 0;
}

static double restitution(const decision *d, int c)
{
    const zw_model *model = d->system->model;
    const expr_inputs in = {.t = d->state->t,
                            .param = state_param(d->state),
                            .q = state_q(d->state),
                            .v = state_v(d->state)};
    expr_id e = model->constraint[c].restitution;
    double value = e == EXPR_NONE ? 0 : expr_value(model->graph, e, &in);
    return -value * d->normal[c] > d->rest ? value : 0; /* small bounces end */
}

static void set_friction(const decision *d, system_solver *solver)
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

static zw_status energy(decision *d, double *value, zw_error *error)
{
    zw_state *state = d->state;
    zw_status status = system_evaluate(d->system, d->work, PART_ENERGY, state->t, state_q(state),
                                       state_v(state), NULL, NULL, error);
    *value = d->work->out[PART_ENERGY][0];
    return status;
}

/* v+ : A v+ >= -e A v- where things touch, psi = 0 where they are tied. */
static zw_status solve_impact(decision *d, zw_error *error)
{
    const zw_system *system = d->system;
    zw_work *work = d->work;
    double *v = state_v(d->state), *b = work->spare[0];
    for (int c = 0; c < system->model->constraint_count; c++) {
        d->role[c] = !one_sided(system, c) ? SOLVER_EQUAL
                     : !d->touching[c]     ? SOLVER_ABSENT
                     : rough(system, c)    ? SOLVER_CONE
                                           : SOLVER_AT_LEAST;
    }
    system_solver *solver = solver_create(system, d->role, NULL, 0, error);
    if (!solver) {
        return ZW_NO_MEMORY;
    }
    const double *psi = work->out[PART_VELOCITY], *A = psi + system->m;
    for (int r = 0; r < system->m; r++) {
        int c = system->row_constraint[r];
        double along = 0;
        for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
            along += A[k] * v[system->A_column[k]];
        }
        double wanted = d->touching[c] && psi[r] < 0 ? -restitution(d, c) * psi[r] : 0;
        b[r] = along - psi[r] + wanted;
    }
    solver_fill(solver, work->out[PART_METRIC], A, b, NULL, v);
    set_friction(d, solver);
    zw_status status = solver_solve(solver, error);
    if (status == ZW_OK) {
        memcpy(v, solver->answer.a, (size_t)system->n * sizeof *v);
    }
    solver_free(solver);
    return status;
}

static zw_status impact(decision *d, zw_error *error)
{
    zw_state *state = d->state;
    double before, after;
    const double *q = state_q(state), *v = state_v(state);
    zw_status status = energy(d, &before, error);
    if (status == ZW_OK) {
        status = system_evaluate(d->system, d->work, PART_TERMS, state->t, q, v, NULL, NULL, error);
    }
    if (status == ZW_OK) {
        status =
            system_evaluate(d->system, d->work, PART_METRIC, state->t, q, v, NULL, NULL, error);
    }
    status = status != ZW_OK ? status : solve_impact(d, error);
    status = status != ZW_OK ? status : energy(d, &after, error);
    if (status == ZW_OK) {
        state->work += after - before;
        status = look(d, error);
    }
    return status;
}

/* ---- Contact ------------------------------------------------------------------------------- */

/* Roles at the level of accelerations; 0: no one-sided constraint takes part. */
static int candidates(decision *d)
{
    const zw_system *system = d->system;
    int any = 0;
    for (int c = 0; c < system->model->constraint_count; c++) {
        if (!one_sided(system, c)) {
            d->role[c] = state_mode(d->state)[c] == SYSTEM_STUCK ? SOLVER_EQUAL_HELD : SOLVER_EQUAL;
            continue;
        }
        int stays = d->touching[c] && d->normal[c] <= 2 * d->rest;
        d->role[c] = !stays                                                 ? SOLVER_ABSENT
                     : rough(system, c) && slip_speed(d, c) <= 10 * d->rest ? SOLVER_CONE
                                                                            : SOLVER_AT_LEAST;
        any |= stays;
    }
    return any;
}

/* The mode that the answer gives a block beginning at row i of the solver. */
static system_mode judge(decision *d, const system_solver *solver, int c, int i, int rows)
{
    const zw_motion *answer = &solver->answer;
    if (!(answer->lambda[i] > 0) && answer->residual[i] > 0) {
        return SYSTEM_OPEN;
    }
    if (d->role[c] != SOLVER_CONE) {
        return SYSTEM_CLOSED;
    }
    double slip = 0, size = 0, mu = d->work->out[PART_TERMS][d->system->at.mu + c];
    double *hint = d->work->hint + 3 * c;
    int support[TANGENT_SUPPORT], count = tangent_support(d->system, c, support);
    for (int k = 1; k < rows; k++) {
        slip += answer->residual[i + k] * answer->residual[i + k];
        size += answer->lambda[i + k] * answer->lambda[i + k];
    }
    if (sqrt(size) < mu * answer->lambda[i] * (1 - 1e-9)) {
        return SYSTEM_STUCK;
    }
    /* It slides, in the direction of the acceleration of the point. */
    double sum = 0;
    for (int k = 0; k < count; k++) {
        sum += answer->a[support[k]] * answer->a[support[k]];
    }
    for (int k = 0; k < count && sum > 0; k++) {
        hint[k] = answer->a[support[k]] / sqrt(sum);
    }
    return slip > 0 ? SYSTEM_CLOSED : SYSTEM_STUCK;
}

static zw_status contact(decision *d, zw_error *error)
{
    const zw_system *system = d->system;
    zw_work *work = d->work;
    zw_state *state = d->state;
    double *mode = state_mode(state);
    const double *out = work->out[PART_TERMS];
    system_solver *solver = solver_create(system, d->role, NULL, 0, error);
    if (!solver) {
        return ZW_NO_MEMORY;
    }
    zw_status status = system_evaluate(system, work, PART_TERMS, state->t, state_q(state),
                                       state_v(state), NULL, NULL, error);
    if (status == ZW_OK) {
        solver_fill(solver, out + system->at.M, out + system->at.A, out + system->at.b,
                    out + system->at.force, NULL);
        for (int k = 0; k < system->C_count; k++) {
            solver->C[system->C_coord[k]] += out[system->at.C + k];
        }
        if (!friction_set_up(system, work, solver, state_v(state))) {
            solver->problem.C = solver->C;
        }
        set_friction(d, solver);
        status = solver_solve(solver, error);
    }
    for (int b = 0, i = 0; b < solver->block_count && status == ZW_OK;
         i += solver->block[b].rows, b++) {
        int c = solver->row_of[i] >= 0 ? system->row_constraint[solver->row_of[i]] : -1;
        if (c >= 0 && one_sided(system, c)) {
            mode[c] = judge(d, solver, c, i, solver->block[b].rows);
        }
    }
    solver_free(solver);
    return status;
}

/* ---- Two-sided friction -------------------------------------------------------------------- */

/* Direction in which the tangential force holds constraint c back, reversed. */
static void release(decision *d, int c)
{
    const system_solver *solver = d->work->motion;
    const double *A = d->work->out[PART_TERMS] + d->system->at.A;
    int count = tangent_support(d->system, c, NULL);
    double pull[TANGENT_SUPPORT] = {0}, sum = 0, *hint = d->work->hint + 3 * c;
    for (int i = 0; i < solver->rows; i++) {
        if (solver->row_of[i] == -1 && solver->tangent_of[i] / 4 == c) {
            double t[TANGENT_SUPPORT];
            tangent_vector(d->system, c, solver->tangent_of[i] % 4, A, t);
            for (int k = 0; k < count; k++) {
                pull[k] -= solver->answer.lambda[i] * t[k];
            }
        }
    }
    for (int k = 0; k < count; k++) {
        sum += pull[k] * pull[k];
    }
    for (int k = 0; k < count && sum > 0; k++) {
        hint[k] = pull[k] / sqrt(sum);
    }
}

static zw_status two_sided(decision *d, zw_error *error)
{
    const zw_system *system = d->system;
    zw_state *state = d->state;
    double *mode = state_mode(state);
    for (int c = 0; c < system->model->constraint_count; c++) {
        if (one_sided(system, c) || !rough(system, c) || slip_speed(d, c) > 10 * d->rest) {
            continue;
        }
        mode[c] = SYSTEM_STUCK;
        zw_status status = system_set_modes(system, d->work, mode, error);
        if (status == ZW_OK) {
            status = system_accelerate(system, d->work, state->t, state_q(state), state_v(state),
                                       d->work->a, error);
        }
        if (status != ZW_OK) {
            return status;
        }
        if (system_hold(system, d->work, c) < 0) {
            release(d, c);
            mode[c] = SYSTEM_CLOSED;
        }
    }
    return ZW_OK;
}

/* ---- All together -------------------------------------------------------------------------- */

static zw_status decide(decision *d, int *hit, zw_error *error)
{
    const zw_system *system = d->system;
    double *mode = state_mode(d->state);
    zw_status status = look(d, error);
    for (int round = 0; round < 20 && status == ZW_OK && approaching(d); round++) {
        status = impact(d, error);
        *hit = 1;
    }
    for (int c = 0; c < system->model->constraint_count; c++) {
        mode[c] = one_sided(system, c) ? SYSTEM_OPEN : mode[c];
    }
    if (status == ZW_OK && candidates(d)) {
        status = contact(d, error);
    }
    if (status == ZW_OK) {
        status = two_sided(d, error);
    }
    return status == ZW_OK ? system_set_modes(system, d->work, mode, error) : status;
}

zw_status system_decide(const zw_system *system, zw_work *work, zw_state *state, int *impact_made,
                        zw_error *error)
{
    size_t count = (size_t)system->model->constraint_count + 1;
    int hit = 0;
    decision d = {.system = system, .work = work, .state = state};
    d.role = base_alloc(count * sizeof(int));
    d.touching = base_alloc(count * sizeof(int));
    d.normal = base_alloc(count * sizeof(double));
    zw_status status = d.role && d.touching && d.normal
                           ? decide(&d, &hit, error)
                           : base_fail(error, ZW_NO_MEMORY, "%s", zw_status_text(ZW_NO_MEMORY));
    base_free(d.role);
    base_free(d.touching);
    base_free(d.normal);
    if (impact_made) {
        *impact_made = hit;
    }
    return status;
}

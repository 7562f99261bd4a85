/* Decides the modes of contacts and frictions: impacts first (impact.c), then which contacts remain
 * active.
 *
 * After it, a contact that touches and does not separate may press. Accelerations are Gauss's
 * minimum with A a >= b for these; a point that does not slide has a friction cone (Coulomb's exact
 * law); where it slides, friction opposes the sliding. Contacts with a normal force are closed, and
 * stuck if their friction is inside the cone; the others open.
 *
 * A two-sided constraint with friction sticks if the holding force is within mu times the normal
 * one, and otherwise starts to slide against that force.
 *
 * Borderline cases. Where a contact has just ceased to press, or friction can just hold, the answer
 * at this instant is round-off. Then the same problem is solved a moment later, on the motion that
 * the answer gives. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "system/bodies/bodies.h"
#include "system/events/decide.h"
#include "system/events/friction.h"

/* ---- Contact ------------------------------------------------------------------------------- */

/* Roles at the level of accelerations; 0: no one-sided constraint takes part. */
static int candidates(decision *d)
{
    const zw_system *system = d->system;
    int any = 0;
    for (int c = 0; c < system->model->constraint_count; c++) {
        if (decide_dry_stands(d, c)) {
            d->role[c] = SOLVER_ABSENT; /* dry.c decides it together with the contacts */
            continue;
        }
        if (!decide_one_sided(system, c)) {
            d->role[c] = state_mode(d->state)[c] == SYSTEM_STUCK ? SOLVER_EQUAL_HELD : SOLVER_EQUAL;
            continue;
        }
        int stays = d->touching[c] && d->normal[c] <= 2 * d->still[c];
        /* if its flight was not resolved, neither is its sliding */
        double slow = d->normal[c] > 2 * d->rest ? d->still[c] : d->rest;
        int still = stays && decide_rough(system, c) &&
                    decide_slip_speed(d, c) <= fmax(10 * slow, d->work->slow);
        d->role[c] = !stays ? SOLVER_ABSENT : still ? SOLVER_CONE : SOLVER_AT_LEAST;
        any |= stays;
    }
    return any;
}

/* Makes contacts that count as touching and at rest exactly so: speeds below REST become zero. */
static zw_status calm(decision *d, zw_error *error)
{
    zw_state *state = d->state;
    int *role = d->border; /* used as scratch before the contacts are decided */
    double before = 0, after = 0;
    for (int c = 0; c < d->system->model->constraint_count; c++) {
        role[c] = d->role[c] == SOLVER_CONE       ? SOLVER_EQUAL_HELD
                  : d->role[c] == SOLVER_AT_LEAST ? SOLVER_EQUAL
                                                  : d->role[c];
    }
    system_solver *solver = solver_create(d->system, role, NULL, 0, error);
    zw_status status = solver ? decide_energy(d, &before, error) : ZW_NO_MEMORY;
    if (status == ZW_OK) {
        solver->options.least_squares = 1;
        status = system_project_velocity_with(d->system, d->work, solver, state->t, state_q(state),
                                              state_v(state), error);
    }
    solver_free(solver);
    status = status == ZW_OK ? decide_energy(d, &after, error) : status;
    state->work += after - before;
    return status == ZW_OK ? decide_look(d, error) : status;
}

/* Sets the hint of constraint c opposite to the tangential multipliers of rows i.. of the solver,
 * the direction in which it would slide. Its length is 1, or the fraction of `most` that they
 * need. */
static void release(decision *d, const system_solver *solver, int c, int i, double most)
{
    tangent t = tangent_look(d->system, c, d->work->out[PART_TERMS] + d->system->at.slip);
    double pull[TANGENT_WIDTH] = {0}, sum = 0, *hint = d->work->hint + 3 * c;
    for (int k = 0; k < t.rank; k++) {
        double direction[TANGENT_WIDTH];
        tangent_direction(&t, k, direction);
        for (int j = 0; j < t.width; j++) {
            pull[j] -= solver->answer.lambda[i + k] * direction[j];
        }
    }
    for (int j = 0; j < t.width; j++) {
        sum += pull[j] * pull[j];
    }
    double size = most > 0 ? fmax(most, sqrt(sum)) : sqrt(sum);
    for (int j = 0; j < t.width && size > 0; j++) {
        hint[j] = pull[j] / size;
    }
}

/* Largest force and acceleration terms of an answer, including cancelling ones, as the scale of
 * round-off. */
typedef struct sizes {
    double force, acceleration;
} sizes;

static sizes sizes_of(const decision *d, const system_solver *solver)
{
    const zw_system *system = d->system;
    const double *force = d->work->out[PART_TERMS] + system->at.force;
    double fastest =
        decide_largest(system->n, solver->answer.a) + decide_largest(solver->rows, solver->b);
    return (sizes){.force = decide_largest(system->n, force) +
                            decide_largest(solver->rows, solver->answer.lambda),
                   .acceleration = fmax(fastest, decide_pull_of(d))};
}

/* The mode of the block of constraint c, which starts at row i of the solver, in the answer. Sets
 * border[c] if it is closer than `near` to another mode. */
static system_mode choose_mode(decision *d, const system_solver *solver, int c, int i, double near)
{
    const double *lambda = solver->answer.lambda + i, *residual = solver->answer.residual + i;
    sizes size = sizes_of(d, solver);
    int presses = lambda[0] > near * size.force, parts = residual[0] > near * size.acceleration;
    d->border[c] = !presses && !parts;
    if (parts || (!presses && !(lambda[0] > 0))) {
        return SYSTEM_OPEN;
    }
    if (d->role[c] != SOLVER_CONE) {
        return SYSTEM_CLOSED;
    }
    double most = d->work->out[PART_TERMS][d->system->at.mu + c] * lambda[0], pull = 0, slip = 0;
    for (int k = 1; k <= d->system->slip[c].rank; k++) {
        pull += lambda[k] * lambda[k];
        slip += residual[k] * residual[k];
    }
    if (sqrt(pull) < most * (1 - near)) {
        release(d, solver, c, i + 1, most);
        return SYSTEM_STUCK;
    }
    if (!d->border[c] && !(sqrt(slip) > near * size.acceleration)) {
        d->border[c] = 2;
    }
    release(d, solver, c, i + 1, 0);
    return SYSTEM_CLOSED;
}

/* Solves for the accelerations at (t, q, v) and decides the contacts: all, or the borderline
 * ones. */
static zw_status ask(decision *d, system_solver *solver, double t, const double *q, const double *v,
                     int again, zw_error *error)
{
    const zw_system *system = d->system;
    zw_work *work = d->work;
    double *mode = state_mode(d->state);
    const double *out = work->out[PART_TERMS];
    zw_status status = system_evaluate(system, work, PART_TERMS, t, q, v, NULL, NULL, error);
    if (status != ZW_OK) {
        return status;
    }
    const system_rows rows = {
        .A = out + system->at.A, .b = out + system->at.b, .slip = out + system->at.slip};
    solver_fill(solver, out + system->at.M, rows, out + system->at.force, NULL);
    memset(solver->C, 0, (size_t)system->n * sizeof *solver->C);
    for (int k = 0; k < system->C_count; k++) {
        solver->C[system->C_coord[k]] += out[system->at.C + k];
    }
    if (!friction_set_up(system, work, solver)) {
        solver->problem.C = solver->C;
    }
    solver_set_friction(solver, out + system->at.mu);
    status = decide_solve(solver, error);
    if (status != ZW_OK) {
        return system_report_failure(solver, t, status, error);
    }
    for (int b = 0, i = 0; b < solver->block_count; i += solver->block[b].rows, b++) {
        int c = solver->row_of[i] >= 0 ? system->row_constraint[solver->row_of[i]] : -1;
        if (c >= 0 && decide_one_sided(system, c) && (!again || d->border[c])) {
            mode[c] = choose_mode(d, solver, c, i, again ? 1e-2 * DECIDE_BORDER : DECIDE_BORDER);
        }
    }
    return ZW_OK;
}

/* The state a moment later, if its speeds and activations have the rates a. */
void decide_go_ahead(decision *d, const double *a, double moment)
{
    int n = d->system->n;
    const double *q = state_q(d->state), *v = state_v(d->state);
    double *later = d->ahead + d->system->nq;
    for (int i = 0; i < n; i++) {
        later[i] = v[i] + 0.5 * moment * a[i];
    }
    memcpy(d->ahead, q, (size_t)d->system->nq * sizeof *q);
    system_move(d->system, d->ahead, moment, later);
    for (int i = 0; i < n + d->system->carried; i++) {
        later[i] = v[i] + moment * a[i];
    }
}

static int any_set(const zw_system *system, const int *list)
{
    for (int c = 0; c < system->model->constraint_count; c++) {
        if (list[c]) {
            return 1;
        }
    }
    return 0;
}

static zw_status contact(decision *d, zw_error *error)
{
    const zw_system *system = d->system;
    zw_state *state = d->state;
    system_solver *solver = solver_create(system, d->role, NULL, 0, error);
    if (!solver) {
        return ZW_NO_MEMORY;
    }
    memset(d->border, 0, (size_t)system->model->constraint_count * sizeof *d->border);
    zw_status status = ask(d, solver, state->t, state_q(state), state_v(state), 0, error);
    if (status == ZW_OK) {
        memcpy(d->a, solver->answer.a, (size_t)system->n * sizeof *d->a);
    }
    if (status == ZW_OK && system->tree) { /* laws that carry multipliers have no contacts */
        bodies_activate(system, d->work, state_v(state), d->a + system->n);
    }
    for (double moment = DECIDE_MOMENT;
         status == ZW_OK && moment < DECIDE_LATEST && any_set(system, d->border); moment *= 100) {
        zw_error ignored;
        decide_go_ahead(d, d->a, moment);
        /* If there is no answer a moment later, the present one is kept. */
        if (ask(d, solver, state->t + moment, d->ahead, d->ahead + system->nq, 1, &ignored)) {
            break;
        }
    }
    for (int c = 0; c < system->model->constraint_count && status == ZW_OK; c++) {
        double *mode = &state_mode(state)[c]; /* a contact that remains borderline is open */
        *mode = d->border[c] == 1 ? SYSTEM_OPEN : d->border[c] == 2 ? SYSTEM_STUCK : *mode;
    }
    solver_free(solver);
    return status;
}

/* The rank of the rows in the current modes. */
static zw_status rank_of(decision *d, int *rank, int *rows, zw_error *error)
{
    zw_state *state = d->state;
    zw_status status = system_set_modes(d->system, d->work, state_mode(state), error);
    if (status == ZW_OK) {
        status = system_accelerate(d->system, d->work, state->t, state_q(state), state_v(state),
                                   d->work->a, error);
    }
    *rank = d->work->motion ? d->work->motion->answer.rank : 0;
    *rows = d->work->motion ? d->work->motion->rows : 0;
    return status;
}

/* The sticking contact closest to sliding among those not tried yet; -1: none. */
static int weakest(const decision *d, const int *tried)
{
    int found = -1;
    double most = -1;
    for (int c = 0; c < d->system->model->constraint_count; c++) {
        const double *hint = d->work->hint + 3 * c;
        double part = hint[0] * hint[0] + hint[1] * hint[1] + hint[2] * hint[2];
        int sticks = decide_one_sided(d->system, c) && state_mode(d->state)[c] == SYSTEM_STUCK;
        if (sticks && !tried[c] && part > most) {
            most = part;
            found = c;
        }
    }
    return found;
}

/* Several sticking contacts of one body may share the holding force in more than one way; the cones
 * give one, the equations of motion would give another. So as many as are redundant get the fixed
 * share of their friction that the cones give, and the guards of the others detect when they cannot
 * hold together any more. Those closest to sliding come first, so that none of the others reaches
 * its limit earlier. */
static zw_status share(decision *d, zw_error *error)
{
    int rank, rows, c, *tried = d->border;
    zw_status status = rank_of(d, &rank, &rows, error);
    memset(tried, 0, (size_t)d->system->model->constraint_count * sizeof *tried);
    while (status == ZW_OK && rank < rows && (c = weakest(d, tried)) >= 0) {
        int rank_without, rows_without;
        tried[c] = 1;
        state_mode(d->state)[c] = SYSTEM_HELD;
        status = rank_of(d, &rank_without, &rows_without, error);
        if (rank_without < rank) {
            state_mode(d->state)[c] = SYSTEM_STUCK; /* it is not redundant */
        } else {
            rows = rows_without;
        }
    }
    return status;
}

/* ---- Two-sided friction -------------------------------------------------------------------- */

/* Does constraint c, with friction, not slide? An impact or a kink may have set it in motion:
 * friction that stuck until then has no impulse without bound that would keep it at rest. */
static int stands(const decision *d, int c)
{
    return decide_slip_speed(d, c) <= fmax(10 * d->rest, d->work->slow);
}

/* Can friction hold constraint c, now and a moment later? */
static zw_status try_to_hold(decision *d, int c, int *holds, zw_error *error)
{
    const zw_system *system = d->system;
    zw_work *work = d->work;
    zw_state *state = d->state;
    zw_status status =
        system_accelerate(system, work, state->t, state_q(state), state_v(state), work->a, error);
    if (status != ZW_OK) {
        return status;
    }
    double spare = system_hold(system, work, c);
    double size = decide_largest(work->motion->rows, work->motion->answer.lambda);
    if (fabs(spare) <= DECIDE_BORDER * size) {
        zw_error ignored;
        decide_go_ahead(d, work->a, DECIDE_MOMENT);
        if (system_accelerate(system, work, state->t + DECIDE_MOMENT, d->ahead,
                              d->ahead + system->nq, work->a, &ignored) == ZW_OK) {
            spare = system_hold(system, work, c);
        }
    }
    *holds = spare >= 0;
    return ZW_OK;
}

static zw_status two_sided(decision *d, zw_error *error)
{
    const zw_system *system = d->system;
    double *mode = state_mode(d->state);
    for (int c = 0; c < system->model->constraint_count; c++) {
        if (decide_one_sided(system, c) || !decide_rough(system, c) ||
            system->first_row[c] == system->first_row[c + 1] || !stands(d, c)) {
            continue;
        }
        int holds = 0;
        mode[c] = SYSTEM_STUCK;
        zw_status status = system_set_modes(system, d->work, mode, error);
        status = status == ZW_OK ? try_to_hold(d, c, &holds, error) : status;
        int tied = decide_is_tied(d, status), prescribed = 0;
        zw_status found = tied ? decide_prescribed(d, c, &prescribed, error) : ZW_OK;
        if (found != ZW_OK || prescribed) {
            status = found == ZW_OK ? decide_follow(d, c, error) : found;
            holds = 1;
        }
        if (status != ZW_OK) {
            return status;
        }
        const system_solver *solver = d->work->motion;
        for (int i = 0; i < solver->rows && !holds; i++) {
            if (solver->row_of[i] == -1 && solver->tangent_of[i] == 4 * c) {
                release(d, solver, c, i, 0);
                mode[c] = SYSTEM_CLOSED;
            }
        }
    }
    return ZW_OK;
}

/* ---- Entry points -------------------------------------------------------------------------- */

/* Projects the state onto the active constraints, and sets the directions of friction from the
 * present speeds. */
static zw_status settle(decision *d, zw_error *error)
{
    zw_state *state = d->state;
    double before = 0, after = 0, *q = state_q(state), *v = state_v(state);
    zw_status status = decide_energy(d, &before, error);
    if (status == ZW_OK) {
        status = system_project_position(d->system, d->work, state->t, q, v, error);
    }
    if (status == ZW_OK) {
        status = system_project_velocity(d->system, d->work, state->t, q, v, error);
    }
    status = status == ZW_OK ? decide_energy(d, &after, error) : status;
    state->work += after - before;
    status = status == ZW_OK ? system_note_slip(d->system, d->work, state->t, q, v, error) : status;
    system_keep_slip(d->work, state);
    return status;
}

static zw_status decide(decision *d, system_impact *made, zw_error *error)
{
    const zw_system *system = d->system;
    double *mode = state_mode(d->state);
    zw_status status = decide_look(d, error);
    status = status == ZW_OK ? decide_impacts(d, made, error) : status;
    if (status == ZW_OK && (made->count > 0 || d->at_kink)) {
        status = system_note_slip(system, d->work, d->state->t, state_q(d->state),
                                  state_v(d->state), error);
    }
    for (int c = 0; c < system->model->constraint_count && status == ZW_OK; c++) {
        mode[c] = decide_one_sided(system, c)                ? SYSTEM_OPEN
                  : decide_rough(system, c) && !stands(d, c) ? SYSTEM_CLOSED
                                                             : mode[c];
    }
    if (status == ZW_OK && candidates(d)) {
        status = calm(d, error);
        status = status == ZW_OK ? contact(d, error) : status;
        status = status == ZW_OK ? share(d, error) : status;
    }
    if (status == ZW_OK) {
        status = two_sided(d, error);
    }
    if (status == ZW_OK && system->bodies) {
        status = decide_dry(d, error);
    }
    status = status == ZW_OK ? system_set_modes(system, d->work, mode, error) : status;
    return status == ZW_OK ? settle(d, error) : status;
}

static void lay_out(decision *d, base_arena *arena)
{
    size_t count = (size_t)d->system->model->constraint_count + 1;
    d->role = base_arena_ints(arena, count);
    d->touching = base_arena_ints(arena, count);
    d->border = base_arena_ints(arena, count);
    d->trial = base_arena_ints(arena, count);
    d->normal = base_arena_doubles(arena, count);
    d->still = base_arena_doubles(arena, count);
    d->ahead =
        base_arena_doubles(arena, (size_t)(d->system->nq + d->system->n + d->system->carried));
    d->a = base_arena_doubles(arena, (size_t)(d->system->n + d->system->carried));
}

static zw_status decide_all(decision *d, system_impact *made, zw_error *error)
{
    system_impact ignored;
    base_arena arena = {0};
    made = made ? made : &ignored;
    *made = (system_impact){0};
    lay_out(d, &arena);
    void *memory = base_alloc(arena.used);
    if (!memory) {
        return base_no_memory(error);
    }
    arena = (base_arena){.block = memory};
    lay_out(d, &arena);
    zw_status status = decide(d, made, error);
    base_free(memory);
    return status;
}

zw_status system_decide(const zw_system *system, zw_work *work, zw_state *state,
                        system_impact *made, zw_error *error)
{
    decision d = {.system = system, .work = work, .state = state};
    state->undecided = 0;
    if (system->contact_count == 0 && !system->has_friction) { /* nothing to decide */
        if (made) {
            *made = (system_impact){0};
        }
        return system_set_modes(system, work, state_mode(state), error);
    }
    return decide_all(&d, made, error);
}

zw_status system_decide_at_kink(const zw_system *system, zw_work *work, zw_state *state,
                                system_impact *made, zw_error *error)
{
    decision d = {.system = system, .work = work, .state = state, .at_kink = 1};
    return decide_all(&d, made, error);
}

/* The principle at an instant: accelerations, multipliers and forces of a system.
 *
 * A system without rows is solved by one Cholesky factorisation; zw_forward always uses the kernel,
 * so that the certificate comes from it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "gauss/internal.h"
#include "gauss/tolerances.h"
#include "math/dense/dense.h"
#include "math/dense/small.h"
#include "system/bodies/bodies.h"
#include "system/contact/contact_now.h"
#include "system/events/friction.h"
#include "system/law.h"

static const double *terms(const zw_work *work, int at)
{
    return work->out[PART_TERMS] + at;
}

/* ---- Modes --------------------------------------------------------------------------------- */

static solver_role role_now(int mode)
{
    if (mode == SYSTEM_OPEN) {
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
    int *role = work->mode; /* first used as scratch for the roles */
    for (int c = 0; c < constraints && same; c++) {
        same = work->mode[c] == (int)mode[c];
    }
    if (same) {
        return ZW_OK;
    }
    int shown = work->shown_by == work->motion;
    work->shown_by = shown ? NULL : work->shown_by;
    solver_free(work->motion);
    solver_free(work->velocity);
    solver_free(work->position);
    work->motion = work->velocity = work->position = NULL;
    for (int c = 0; c < constraints; c++) {
        role[c] = (int)role_now((int)mode[c]);
    }
    work->velocity = solver_create(system, role, NULL, 0, error);
    for (int c = 0; c < constraints; c++) {
        role[c] = law_is_loose(system, c) ? (int)SOLVER_ABSENT : role[c];
    }
    work->motion = work->velocity ? solver_create(system, role, NULL, 0, error) : NULL;
    work->position = work->motion ? position_solver(system, role, error) : NULL;
    if (!work->position) {
        solver_free(work->motion);
        work->motion = NULL;
        return ZW_NO_MEMORY;
    }
    work->shown_by = shown ? work->motion : work->shown_by;
    system_solver *projection[] = {work->position, work->velocity};
    for (int i = 0; i < 2; i++) {
        /* Near a singular position a row is satisfied only as well as round-off permits: below this
         * distance a correction along it would add more noise than it removes. */
        projection[i]->options.rank = GAUSS_PROJECTION_RANK;
        projection[i]->options.least_squares = 1;
    }
    for (int c = 0; c < constraints; c++) {
        work->mode[c] = (int)mode[c];
    }
    return ZW_OK;
}

/* ---- Accelerations -------------------------------------------------------------------------- */

/* Gauss's problem of this instant, from the terms. A known C acts like an applied force (Fan et al.
 * 2005, eq. (26)): the kernel computes F^L and F^C separately only if `split`, as that takes two
 * solves. Returns the C that was added to the force; NULL: none. */
static const double *set_up(const zw_system *system, zw_work *work, system_solver *solver,
                            int split)
{
    const system_rows rows = {.A = terms(work, system->at.A),
                              .b = terms(work, system->at.b),
                              .slip = terms(work, system->at.slip)};
    solver_fill(solver, terms(work, system->at.M), rows, terms(work, system->at.force), NULL);
    memset(solver->C, 0, (size_t)system->n * sizeof(double));
    for (int k = 0; k < system->C_count; k++) {
        solver->C[system->C_coord[k]] += terms(work, system->at.C)[k];
    }
    law_set_up(system, solver);
    int dry = system->bodies && system->has_friction;
    if (friction_set_up(system, work, solver) || (system->C_count == 0 && !dry)) {
        return NULL;
    }
    if (split || !dry) {
        solver->problem.C = solver->C;
        return NULL;
    }
    for (int i = 0; i < system->n; i++) {
        solver->pushed[i] = terms(work, system->at.force)[i] + solver->C[i];
    }
    solver->problem.force = solver->pushed;
    return solver->C;
}

/* dE/dt = (Q - dR/dv) . v + (F^L + F^C) . v - dL/dt: Cardin-Zanzotto (1989), eq. (3.14). `more` is
 * a C that is not part of the motion; NULL: none. */
static double power_of(const zw_system *system, const zw_work *work, const zw_motion *motion,
                       const double *more, const double *v)
{
    if (!system->works) {
        return 0;
    }
    const double *Q =
        system->conservative ? NULL : terms(work, system->at.Q); /* NULL: there is none */
    double sum = Q ? terms(work, system->at.dLdt)[0] : 0;
    for (int i = 0; i < system->n; i++) {
        double applied = Q ? Q[i] : 0;
        sum += (motion ? applied + motion->F_L[i] + motion->F_C[i] : applied) * v[i];
        sum += more ? more[i] * v[i] : 0;
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
    if (small_ldl(n, H, 0)) {
        return 0;
    }
    small_ldl_solve(n, H, a);
    return 1;
}

/* The kernel's tolerance is 1e-10. Where rows are redundant and nearly singular, the round-off of
 * the formulas themselves may be larger; then the best answer is accepted, and its certificate,
 * shown in the summary, says how good it is. */
static zw_status accept(const system_solver *solver, zw_status status)
{
    return status == ZW_INACCURATE && solver->answer.certificate.worst < 1e-7 ? ZW_OK : status;
}

/* Solves Gauss's problem of this instant. PART_TERMS has been evaluated. C: see set_up; NULL:
 * split. */
static zw_status solve(const zw_system *system, zw_work *work, const double **C, zw_error *error)
{
    const double *moved = set_up(system, work, work->motion, !C);
    if (C) {
        *C = moved;
    }
    if (work->gamma > 0) {
        solver_clear_metric(work->motion);
    }
    work->gamma = 0;
    zw_status status = solver_solve(work->motion, error);
    if (status == ZW_NOT_A_METRIC && system->law.curved && system->law.flex == 0 &&
        !system->sparse) {
        status = law_solve_convex(system, work, error);
    }
    return accept(work->motion, status);
}

/* The names of some blocks, with commas. */
static void list_blocks(const system_solver *solver, const int *block, int count, char *text,
                        size_t capacity)
{
    size_t used = 0;
    text[0] = 0;
    for (int k = 0; k < count && used < capacity - 1; k++) {
        const char *name = solver->block[block[k]].name;
        used += (size_t)snprintf(text + used, capacity - used, "%s%s", k ? ", " : "", name);
    }
}

static int place_of(const zw_model *model, const char *constraint)
{
    for (int c = 0; c < model->constraint_count; c++) {
        if (model->constraint[c].name == constraint) {
            return model->constraint[c].place;
        }
    }
    return -1;
}

/* The first active constraint with friction; NULL: none. */
static const model_constraint *first_rough(const system_solver *solver)
{
    const zw_model *model = solver->system->model;
    for (int c = 0; c < model->constraint_count; c++) {
        if (solver->role[c] != SOLVER_ABSENT && model->constraint[c].friction != EXPR_NONE) {
            return &model->constraint[c];
        }
    }
    return NULL;
}

static double diagonal(const system_solver *solver, int i)
{
    const zw_metric *metric = &solver->problem.metric;
    int n = solver->system->n;
    return metric->kind == ZW_METRIC_DIAGONAL ? metric->value[i]
           : metric->kind == ZW_METRIC_DENSE  ? metric->value[(long)i * n + i]
                                              : metric->value[solver->system->M_start[i]];
}

/* The coordinate with the smallest diagonal entry of M. */
static int negative_mass(const system_solver *solver)
{
    int least = 0;
    double smallest = INFINITY;
    for (int i = 0; i < solver->system->n; i++) {
        double mass = diagonal(solver, i);
        least = mass < smallest ? i : least;
        smallest = mass < smallest ? mass : smallest;
    }
    return least;
}

/* The kernel refuses numbers beyond GAUSS_HUGE without naming them: names the source of one. 0: not
 * found. */
static int name_huge(const system_solver *solver, double t, zw_error *error)
{
    const zw_system *system = solver->system;
    const zw_gauss *problem = &solver->problem;
    for (int i = 0; i < system->n; i++) {
        double mass = diagonal(solver, i), force = problem->force ? problem->force[i] : 0;
        int heavy = !(fabs(mass) <= GAUSS_HUGE);
        if (heavy || !(fabs(force) <= GAUSS_HUGE)) {
            const model_coord *coord = &system->model->coord[i];
            model_fail(system->model, error, ZW_BAD_INPUT, coord->place,
                       "at t = %.9g the %s of %s is %g; numbers beyond %g are not accepted", t,
                       heavy ? "mass" : "force", coord->name, heavy ? mass : force, GAUSS_HUGE);
            return 1;
        }
    }
    for (int k = 0, row = 0; k < solver->block_count; row += solver->block[k++].rows) {
        for (int r = row; r < row + solver->block[k].rows; r++) {
            int at = problem->A.dense ? r * system->n : problem->A.start ? problem->A.start[r] : 0;
            int end = problem->A.dense   ? at + system->n
                      : problem->A.start ? problem->A.start[r + 1]
                                         : 0;
            const double *value = problem->A.dense ? problem->A.dense : problem->A.value;
            int wrong = problem->b && !(fabs(problem->b[r]) <= GAUSS_HUGE);
            for (; at < end && !wrong; at++) {
                wrong = !(fabs(value[at]) <= GAUSS_HUGE);
            }
            if (wrong && solver->block[k].name) {
                int place = place_of(system->model, solver->block[k].name);
                model_fail(
                    system->model, error, ZW_BAD_INPUT, place,
                    "at t = %.9g constraint %s has a number beyond %g, which is not accepted", t,
                    solver->block[k].name, GAUSS_HUGE);
                return 1;
            }
        }
    }
    return 0;
}

zw_status system_report_failure(const system_solver *solver, double t, zw_status status,
                                zw_error *error)
{
    if (status == ZW_BAD_INPUT && name_huge(solver, t, error)) {
        return status;
    }
    const zw_model *model = solver->system->model;
    const zw_motion *motion = &solver->answer;
    const model_constraint *rough = first_rough(solver);
    if (status == ZW_UNDETERMINED && motion->undetermined_count > 0) {
        const model_coord *first = &model->coord[motion->undetermined[0]];
        return model_fail(model, error, status, first->place,
                          "at t = %.9g there is neither mass nor constraint on coordinate%s %s", t,
                          motion->undetermined_count > 1 ? "s" : "", first->name);
    }
    if (status == ZW_NOT_A_METRIC && solver->system->law.carried > 0 &&
        solver->system->law.alpha > 0) {
        return model_fail(model, error, status, solver->system->given.place,
                          "at t = %.9g Legendre's condition fails: T + lambda Phi has a direction "
                          "of negative energy there, and the action has no minimum",
                          t);
    }
    if (status == ZW_NOT_A_METRIC) {
        const model_coord *first = &model->coord[negative_mass(solver)];
        return model_fail(model, error, status, first->place,
                          "at t = %.9g the kinetic energy is not a metric: a motion of %s, alone "
                          "or with others, has negative energy. Is a mass or an inertia negative?",
                          t, first->name);
    }
    if (status == ZW_CONFLICT && motion->conflict_count > 0) {
        char text[256];
        list_blocks(solver, motion->conflict, motion->conflict_count, text, sizeof text);
        int place = place_of(model, solver->block[motion->conflict[0]].name);
        if (place >= 0) {
            return model_fail(model, error, status, place,
                              "at t = %.9g these constraints contradict each other: %s", t, text);
        }
    }
    if ((status == ZW_NO_SOLUTION || status == ZW_JAMMED) && rough) {
        return model_fail(model, error, status, rough->place,
                          "at t = %.9g, friction of constraint %s: %s", t, rough->name,
                          zw_status_text(status));
    }
    if (error && error->line == 0) {
        base_fail_more(error, " (at t = %.9g)", t);
    }
    return status;
}

static zw_status accelerate(const zw_system *system, zw_work *work, double t, const double *q,
                            const double *v, double *a, zw_error *error)
{
    const expr_inputs in = {.t = t, .param = work->param, .q = q, .v = v};
    if (system->tree && work->motion->rows == 0 && !system->has_friction &&
        bodies_accelerate(system, work, &in, a)) {
        work->power = power_of(system, work, NULL, NULL, v);
        return ZW_OK;
    }
    zw_status status = system_evaluate(system, work, PART_TERMS, t, q, v, NULL, NULL, error);
    if (status != ZW_OK) {
        return status;
    }
    int simple =
        work->motion->rows == 0 && system->C_count == 0 && !system->sparse && !system->has_friction;
    if (simple && plain(system, work, a)) {
        work->power = power_of(system, work, NULL, NULL, v);
        law_rates(system, work, v, a, a + system->n); /* loose rows, if any */
        return ZW_OK;
    }
    const double *C;
    status = solve(system, work, &C, error);
    if (status == ZW_OK) {
        memcpy(a, work->motion->answer.a, (size_t)system->n * sizeof *a);
        work->power = power_of(system, work, &work->motion->answer, C, v);
        if (system->law.carried > 0) {
            solver_multipliers(work->motion, work->push);
            work->power += law_rates(system, work, v, a, a + system->n);
        }
        work->certificate = work->motion->answer.certificate.worst;
        return ZW_OK;
    }
    return system_report_failure(work->motion, t, status, error);
}

zw_status system_accelerate(const zw_system *system, zw_work *work, double t, const double *q,
                            const double *v, double *a, zw_error *error)
{
    zw_status status = accelerate(system, work, t, q, v, a, error);
    if (system->tree) {
        bodies_activate(system, work, v, a + system->n + system->law.carried);
    }
    return status;
}

/* ---- An instant ----------------------------------------------------------------------------- */

/* Contact forces are given. */
static zw_status solve_pushed(const zw_system *system, zw_work *work, zw_error *error)
{
    system_solver *solver = work->motion;
    const double *force = terms(work, system->at.force);
    set_up(system, work, solver, 1);
    memcpy(solver->pushed, force, (size_t)system->n * sizeof *force);
    contact_list_push(work->touched, system, work, solver->pushed);
    solver->problem.force = solver->pushed;
    work->touched->acts = 1;
    return accept(solver, solver_solve(solver, error));
}

#define NEAR 1e-3 /* a certificate that is accepted at an instant */

/* One problem of contact_now.c, in rounds. An answer that nearly satisfies the law is accepted; the
 * certificate says how nearly. */
static zw_status solve_rounds(zw_work *work, system_solver *solver, zw_error *error)
{
    enum { ROUNDS = 40 };
    double *worst = &solver->answer.certificate.worst, off = 0;
    for (int round = 0; round < ROUNDS; round++) {
        zw_status status = solver_solve(solver, error);
        int near = *worst < NEAR;
        if (status != ZW_OK && !((status == ZW_INACCURATE || status == ZW_JAMMED) && near)) {
            return status;
        }
        off = contact_now_turns(work->now);
        if (!(off > 0)) {
            return ZW_OK;
        }
    }
    *worst = fmax(*worst, off);
    return contact_now_jammed(work->now) ? ZW_NO_SOLUTION : off < NEAR ? ZW_OK : ZW_INACCURATE;
}

/* Contacts follow their laws. Dry friction of joints that cannot hold is released and remains
 * so. */
static zw_status solve_touching(const zw_system *system, zw_work *work, zw_state *state,
                                zw_error *error)
{
    size_t hints = 3 * (size_t)system->model->constraint_count;
    double *hint = base_alloc((hints + 1) * sizeof *hint);
    system_solver *solver = NULL;
    zw_status status = ZW_NO_MEMORY;
    if (!hint) {
        return base_fail_as(error, status);
    }
    memcpy(hint, work->hint, hints * sizeof *hint);
    do {
        status = contact_now_begin(system, work, state, &solver, error);
        if (status == ZW_OK) {
            set_up(system, work, solver, 1);
            status = solve_rounds(work, solver, error);
        }
    } while (status == ZW_OK && contact_now_gives(system, work));
    memcpy(work->hint, hint, hints * sizeof *hint);
    base_free(hint);
    work->shown_by = solver ? solver : work->motion;
    return status;
}

static zw_status solve_instant(const zw_system *system, zw_work *work, zw_state *state,
                               system_touch touch, zw_error *error)
{
    int count = 0;
    zw_status status = ZW_OK;
    work->shown_by = work->motion;
    if (touch == TOUCH_SOFTLY) {
        set_up(system, work, work->motion, 1);
        return ZW_OK;
    }
    if (touch == TOUCH_AS_PUSHED && work->touched) {
        return solve_pushed(system, work, error);
    }
    if (work->touched) {
        work->touched->acts = 0;
    }
    if (touch == TOUCH_BY_LAW && zw_contact_capacity(system) > 0) {
        status = contact_now_find(system, work, state, &count, error);
    }
    if (status != ZW_OK) {
        return status;
    }
    return count > 0 ? solve_touching(system, work, state, error)
                     : solve(system, work, NULL, error);
}

/* Reports why the kernel failed at an instant. */
static zw_status report(const zw_work *work, double t, zw_status status, zw_error *error)
{
    const char *sliding = work->shown_by != work->motion ? contact_now_jammed(work->now) : NULL;
    if ((status == ZW_NO_SOLUTION || status == ZW_JAMMED) && sliding) {
        return base_fail(error, status,
                         "at t = %.9g no accelerations satisfy Coulomb's law: %s slides with too "
                         "much friction (Painleve)",
                         t, sliding);
    }
    return system_report_failure(work->shown_by, t, status, error);
}

zw_status system_forward(const zw_system *system, const zw_state *state, zw_work *work,
                         system_touch touch, zw_error *error)
{
    zw_state *now = (zw_state *)state; /* only read */
    const double *q = state_q(now), *v = state_v(now);
    work->shows_soft = 0;
    system_bind(system, work, state_param(now));
    system_take_slip(work, now);
    zw_status status = system_set_modes(system, work, state_mode(now), error);
    if (status == ZW_OK && system->tree && touch == TOUCH_BY_LAW) {
        status = bodies_find_adhesion(system, work, q, v, 1e-6, error);
    } else if (touch == TOUCH_IGNORED) {
        bodies_clear_adhesion(work);
    }
    if (status == ZW_OK && now->slides > 0) { /* speeds may have been changed since */
        status = system_note_slip(system, work, state->t, q, v, error);
    }
    if (status == ZW_OK) {
        status = system_evaluate(system, work, PART_TERMS, state->t, q, v, NULL, NULL, error);
    }
    if (status != ZW_OK) {
        return status;
    }
    status = solve_instant(system, work, now, touch, error);
    if (status == ZW_INACCURATE && touch != TOUCH_BY_LAW) {
        status =
            ZW_OK; /* a sample of a step that has been taken: its certificate says how good it is */
    }
    if (status != ZW_OK) {
        return report(work, state->t, status, error);
    }
    if (touch == TOUCH_SOFTLY) {
        bodies_activate(system, work, v, work->a + system->n + system->law.carried);
        return ZW_OK;
    }
    const zw_motion *motion = &work->shown_by->answer;
    memcpy(work->a, motion->a, (size_t)system->n * sizeof(double));
    solver_multipliers(work->shown_by, work->push);
    work->power = power_of(system, work, motion, NULL, v);
    work->power += law_rates(system, work, v, work->a, work->a + system->n);
    if (system->tree) {
        bodies_activate(system, work, v, work->a + system->n + system->law.carried);
    }
    for (int i = 0; i < system->n && system->works; i++) {
        /* given contact forces are among the applied ones */
        work->power += (work->shown_by->problem.force[i] - terms(work, system->at.force)[i]) * v[i];
    }
    work->certificate = motion->certificate.worst;
    status = law_show(system, work, state->t, q, v, error);
    if (status == ZW_OK && touch == TOUCH_BY_LAW && zw_contact_capacity(system) > 0) {
        status = contact_now_list(system, work, state, error);
    }
    return status;
}

/* Active constraints in a step, and limits that may be reached. impulse.c has the laws. */
#include <math.h>
#include <string.h>

#include "step/chain/chain.h"
#include "step/impulse/impulse.h"
#include "step/sleep/sleep.h"
#include "step/split/split.h"
#include "tree/sweeps.h"

static int one_sided(const zw_system *system, int r)
{
    return system->row_kind[r] == SYSTEM_CONTACT;
}

int impulse_held(const step_impulse *s)
{
    return bodies_first_constraint(s->system->bodies) + s->system->bodies->constraint_count;
}

/* ---- Rows ----------------------------------------------------------------------------------- */

void impulse_rows_at(step_impulse *s, double t, double until, const double *q, double *psi,
                     double *A)
{
    const zw_system *system = s->system;
    const bodies_formulas *formulas = system->bodies->formulas;
    bodies_fill_rows(system, s->work, q, s->still,
                     (bodies_rows){.phi = s->phi, .psi = psi, .b = s->b, .A = A});
    impulse_locks_apply(s, q, A);
    memset(psi, 0, (size_t)system->m * sizeof *psi); /* constraints stay where they are */
    if (formulas && formulas->rows > 0) {
        expr_inputs in = {.t = until, .param = s->work->param, .q = q, .v = s->still};
        size_t bytes = (size_t)formulas->rows * sizeof(double);
        tree_velocities(system->tree, s->still, s->work->sweeps);
        memcpy(psi, bodies_run_formulas(system, s->work, PART_VELOCITY, &in), bytes);
        in.t = t;
        const double *value = bodies_run_formulas(system, s->work, PART_POSITION, &in);
        memcpy(s->phi, value, bytes);
        bodies_formula_rows(system, s->work, value + formulas->rows, A);
    }
}

void impulse_place_rows(step_impulse *s)
{
    double *sweeps = s->work->sweeps;
    if (s->system->m > 0) {
        s->work->sweeps = s->theta > 0 ? s->place : s->begin;
        double t = s->t + s->theta * s->h;
        impulse_rows_at(s, t, t, s->theta > 0 ? s->q_other : s->q0, s->psi0, s->A0);
        s->work->sweeps = sweeps;
    }
}

/* Rows on speeds, A v + psi = 0, have no phi. It is replaced by the displacement of the step along
 * them, by the trapezoidal rule: h times the mean of A u + psi at both ends. */
static double way_of(const step_impulse *s, int r)
{
    double sum = s->psi0[r] + s->psi[r];
    for (int k = s->system->A_start[r]; k < s->system->A_start[r + 1]; k++) {
        sum += (s->A0[k] + s->A[k]) * s->u[s->system->A_column[k]];
    }
    return 0.5 * s->h * sum;
}

void impulse_fill_rows(step_impulse *s, double t)
{
    if (s->system->m > 0) {
        if (s->theta > 0) {
            impulse_place_rows(s);
        }
        impulse_rows_at(s, t, t, s->q1, s->psi, s->A);
        for (int r = 0; r < s->system->m; r++) {
            if (s->system->row_kind[r] == SYSTEM_VELOCITY) {
                s->phi[r] = way_of(s, r);
            }
        }
    }
}

int impulse_reach(step_impulse *s)
{
    int more = 0;
    for (int r = 0; r < s->system->m; r++) {
        if (one_sided(s->system, r) && s->in_reach[r] <= 0 && (s->in_reach[r] || s->phi[r] < 0) &&
            !impulse_limit_flies(s, r)) {
            s->in_reach[r] = 1;
            more++;
        }
    }
    return more;
}

void impulse_touch(step_impulse *s)
{
    for (int r = 0; r < s->system->m; r++) {
        s->in_reach[r] = one_sided(s->system, r) && impulse_limit_meets(s, r) ? -1 : 0;
    }
}

double impulse_violation(const step_impulse *s)
{
    double worst = 0;
    for (int r = 0; r < s->system->m; r++) {
        double off = impulse_limit_flies(s, r) ? 0
                     : one_sided(s->system, r) ? -s->phi[r]
                                               : fabs(s->phi[r]);
        worst = off > worst || isnan(off) ? off : worst;
    }
    return worst;
}

void impulse_put_joint(const step_impulse *s, impulse_problem *p, int c, const double *A,
                       const double *b)
{
    const zw_system *system = s->system;
    int first = system->first_row[c], end = system->first_row[c + 1];
    const zw_block block = {.name = system->model->constraint[c].name,
                            .kind = one_sided(system, first) ? ZW_INEQUALITY : ZW_EQUALITY,
                            .rows = end - first};
    problem_block(p, c, &block);
    for (int r = first; r < end; r++) {
        int start = system->A_start[r], count = system->A_start[r + 1] - start;
        const int *column = system->A_column + start;
        problem_row(p, count, column, A + start, b[r]);
        problem_slope(p, (A == s->A0 ? s->A : A) + start);
        if (A == s->A0 && system->row_kind[r] != SYSTEM_VELOCITY && !p->no_memory) {
            impulse_turn_row(s, count, column, p->slope + p->start[p->rows - 1]);
        }
    }
}

typedef enum takes { ALL, CLOSED_OR_REACHED, REACHED } takes;

/* All constraints, and these of the limits, with the offsets s->b. */
static void put_joints(const step_impulse *s, impulse_problem *p, const double *A, takes what)
{
    for (int c = 0, held = impulse_held(s); c < held; c++) {
        int r = s->system->first_row[c], state = s->in_reach[r];
        if (!one_sided(s->system, r) || what == ALL || state > 0 ||
            (state < 0 && what == CLOSED_OR_REACHED)) {
            impulse_put_joint(s, p, c, A, s->b);
        }
    }
}

void impulse_put_rows(step_impulse *s)
{
    const zw_system *system = s->system;
    for (int r = 0; r < system->m; r++) { /* A u' = A u - phi/h */
        s->b[r] = -(1 / s->h) * s->phi[r];
        for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
            s->b[r] += s->A0[k] * s->u[system->A_column[k]];
        }
    }
    problem_begin(&s->problem);
    put_joints(s, &s->problem, s->A0, REACHED);
    impulse_put_boxes(s, &s->problem, s->fall, 0);
    impulse_put_contacts(s);
}

void impulse_put_standing(step_impulse *s, impulse_problem *p)
{
    memset(s->b, 0, (size_t)s->system->m * sizeof *s->b);
    put_joints(s, p, s->A0, CLOSED_OR_REACHED);
}

void impulse_put_places(step_impulse *s, impulse_problem *p, double unit)
{
    for (int r = 0; r < s->system->m; r++) {
        s->b[r] = s->system->row_kind[r] == SYSTEM_VELOCITY ? 0 : -s->phi[r] / unit;
    }
    put_joints(s, p, s->A0, ALL);
}

/* Two-sided rows require 0, as far as they are on phi = 0; limits no more than their gap. */
void impulse_put_joint_speeds(step_impulse *s)
{
    for (int r = 0; r < s->system->m; r++) {
        s->phi[r] = one_sided(s->system, r) ? fmax(s->phi[r], 0) : 0;
        s->b[r] = -(1 / s->h) * s->phi[r] - s->psi[r];
    }
    problem_begin(&s->aside);
    put_joints(s, &s->aside, s->A, REACHED);
}

void impulse_put_speeds(step_impulse *s)
{
    impulse_put_joint_speeds(s);
    impulse_put_boxes(s, &s->aside, impulse_late(s), 1);
    impulse_put_contact_speeds(s);
}

/* Does a limit that has exerted a force stay closed, at the speeds at the end of the step? */
static int rests(const step_impulse *s, int r)
{
    double rate = 0, size = 0;
    for (int k = s->system->A_start[r]; k < s->system->A_start[r + 1]; k++) {
        double part = s->A[k] * s->v0[s->system->A_column[k]];
        rate += part;
        size += fabs(part);
    }
    return fabs(rate) <= 1e-12 + 1e-9 * size;
}

void impulse_modes(const step_impulse *s, double *mode)
{
    const struct system_bodies *bodies = s->system->bodies;
    if (s->sleep) {
        sleep_modes(s, mode, NULL);
        return;
    }
    if (s->chain) {
        chain_modes(s, mode);
        return;
    }
    if (s->split && s->split->parts > 0) {
        split_modes(s, mode);
        return;
    }
    int held = impulse_held(s), from = 0;
    for (int c = 0; c < held; c++) {
        int r = s->system->first_row[c];
        int pushes =
            s->in_reach[r] && problem_next_multiplier(&s->problem, c, 0, &from) > 0 && rests(s, r);
        mode[c] = one_sided(s->system, r) && !pushes ? SYSTEM_OPEN : SYSTEM_CLOSED;
    }
    for (int k = 0; k < bodies->dry_count; k++) {
        mode[held + k] = impulse_sticks(s, k) ? SYSTEM_STUCK : SYSTEM_CLOSED;
    }
}

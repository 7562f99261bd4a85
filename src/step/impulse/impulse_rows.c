/* What holds in a step: closers, limits that may be reached, friction that sticks; and who is at
 * which end of its box. impulse.c has the laws. */
#include <math.h>
#include <string.h>

#include "step/impulse/impulse.h"
#include "step/sleep/sleep.h"
#include "tree/sweeps.h"

#define BORDER 1e-12 /* of its size: a force this close to the end of its box is there */

#define HELD 1e-9 /* of the largest speed: what is slower is held, whatever contradicts it */

static int one_sided(const zw_system *system, int r)
{
    return system->row_kind[r] == SYSTEM_CONTACT;
}

static double dry_speed(const struct system_bodies *bodies, const bodies_dry *dry, const double *v)
{
    double e = 0;
    for (int i = dry->first; i < dry->first + dry->count; i++) {
        e += bodies->term[i].coef * v[bodies->term[i].dof];
    }
    return e;
}

/* Constraint c's name, for messages. */
static const char *name_of(const step_impulse *s, int c)
{
    return s->system->model->constraint[c].name;
}

int impulse_held(const step_impulse *s)
{
    return bodies_first_closer(s->system->bodies) + s->system->bodies->closer_count;
}

/* ---- Boxes ---------------------------------------------------------------------------------- */

/* The end of the box at which a force that would be `wish` is; at present it is at `mode`. From one
 * end to the other it goes by way of the inside. */
static int judge(int mode, double wish, const double range[2])
{
    double slack = BORDER * (fabs(range[0]) + fabs(range[1]) + fabs(wish));
    if (mode == 0) {
        return wish < range[0] - slack ? -1 : wish > range[1] + slack ? 1 : 0;
    }
    return mode < 0 ? (wish > range[0] + slack ? 0 : -1) : (wish < range[1] - slack ? 0 : 1);
}

/* Where things stand if they go on as they do. */
void impulse_begin_modes(step_impulse *s)
{
    const struct system_bodies *bodies = s->system->bodies;
    memset(s->motor_mode, 0, (size_t)bodies->motor_count * sizeof(int));
    memset(s->length_mode, 0, (size_t)bodies->length_count * sizeof(int));
    for (int k = 0; k < bodies->dry_count; k++) {
        double e = dry_speed(bodies, &bodies->dry[k], s->v0);
        if (e != 0 || !s->goes_on) { /* at rest as in the step before: a limit may hold it */
            s->dry_mode[k] = (e > 0) - (e < 0);
        }
    }
}

/* The wish of dry friction k: inside, the force that holds; outside, beyond the end as long as it
 * goes on sliding that way. What should be held and moves all the same, since equations prescribe
 * it, slides the way it moves. */
static int judge_dry(const step_impulse *s, int k)
{
    const struct system_bodies *bodies = s->system->bodies;
    const bodies_dry *dry = &bodies->dry[k];
    if (s->dry_mode[k] != 0) {
        return s->dry_mode[k] * dry_speed(bodies, dry, s->u) < 0 ? 0 : s->dry_mode[k];
    }
    double e = dry_speed(bodies, dry, s->problem.answer.a), fastest = 0;
    for (int i = 0; i < s->system->n; i++) {
        fastest = fmax(fastest, fabs(s->problem.answer.a[i]));
    }
    if (s->problem.contradicts && fabs(e) > HELD * fastest) {
        return e > 0 ? 1 : -1;
    }
    double held = problem_multiplier(&s->problem, impulse_held(s) + k, 0);
    double most = s->fall * dry->limit * (1 + BORDER);
    return held > most ? -1 : held < -most ? 1 : 0;
}

static int move(int *mode, int wanted, int *left)
{
    int wrong = *mode != wanted;
    if (wrong && *left > 0) {
        *mode = wanted;
        --*left;
    }
    return wrong;
}

int impulse_pivot(step_impulse *s, int first_only)
{
    const struct system_bodies *bodies = s->system->bodies;
    int wrong = 0,
        left = first_only ? 1 : bodies->motor_count + bodies->length_count + bodies->dry_count;
    for (int k = 0; k < bodies->motor_count; k++) {
        const bodies_motor *motor = &bodies->motor[k];
        if (motor->clamp_force) {
            wrong +=
                move(&s->motor_mode[k], judge(s->motor_mode[k], s->wish[k], motor->force), &left);
        }
    }
    for (int i = 0; i < bodies->length_count && bodies->motor_count > 0; i++) {
        const bodies_length *length = &bodies->length[i];
        if (length->force_limited) {
            wrong += move(&s->length_mode[i],
                          judge(s->length_mode[i], s->room[i], length->force_range), &left);
        }
    }
    for (int k = 0; k < bodies->dry_count; k++) {
        wrong += move(&s->dry_mode[k], judge_dry(s, k), &left);
    }
    return wrong;
}

/* ---- Rows ----------------------------------------------------------------------------------- */

void impulse_rows_at(step_impulse *s, double t, double until, const double *q, double *psi,
                     double *A)
{
    const zw_system *system = s->system;
    const bodies_formulas *formulas = system->bodies->formulas;
    bodies_fill_rows(system, s->work, q, s->still,
                     (bodies_rows){.phi = s->phi, .psi = psi, .b = s->b, .A = A});
    memset(psi, 0, (size_t)system->m * sizeof *psi); /* closers stay where they are */
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
        s->work->sweeps = s->place;
        double t = s->t + s->theta * s->h;
        impulse_rows_at(s, t, t, s->theta > 0 ? s->q_other : s->q0, s->psi0, s->A0);
        s->work->sweeps = sweeps;
    }
}

/* Rows that hold speeds, A v + psi = 0, have no phi. In its place is how far the step goes along
 * them, by the trapezoidal rule: h times the mean of A u + psi at both of its ends. */
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
        if (one_sided(s->system, r) && s->in_reach[r] <= 0 && (s->in_reach[r] || s->phi[r] < 0)) {
            s->in_reach[r] = 1;
            more++;
        }
    }
    return more;
}

void impulse_touch(step_impulse *s)
{
    for (int r = 0; r < s->system->m; r++) {
        s->in_reach[r] = one_sided(s->system, r) && s->phi[r] <= 1e-12 ? -1 : 0;
    }
}

double impulse_violation(const step_impulse *s)
{
    double worst = 0;
    for (int r = 0; r < s->system->m; r++) {
        double off = one_sided(s->system, r) ? -s->phi[r] : fabs(s->phi[r]);
        worst = off > worst || isnan(off) ? off : worst;
    }
    return worst;
}

/* Friction that sticks: its row is part of problem p. */
static void put_dry(step_impulse *s, impulse_problem *p)
{
    const struct system_bodies *bodies = s->system->bodies;
    zw_work *work = s->work;
    for (int k = 0; k < bodies->dry_count; k++) {
        const bodies_dry *dry = &bodies->dry[k];
        int c = impulse_held(s) + k;
        if (s->dry_mode[k] != 0) {
            continue;
        }
        for (int i = 0; i < dry->count; i++) {
            work->aim_dof[i] = bodies->term[dry->first + i].dof;
            work->aim[i] = bodies->term[dry->first + i].coef;
        }
        problem_block(p, c, name_of(s, c), ZW_EQUALITY, 1, NULL);
        problem_row(p, dry->count, work->aim_dof, work->aim, 0);
    }
}

/* Closers and limits in reach, with the rows A. Each asks for A v >= or = A speed - factor phi; no
 * speed: -psi - factor phi. */
static void put_closers(step_impulse *s, impulse_problem *p, const double *A, const double *psi,
                        const double *speed, double factor)
{
    const zw_system *system = s->system;
    for (int c = 0; c < impulse_held(s); c++) {
        int first = system->first_row[c], end = system->first_row[c + 1];
        int loose = one_sided(system, first);
        if (loose && s->in_reach[first] <= 0) {
            continue;
        }
        problem_block(p, c, name_of(s, c), loose ? ZW_INEQUALITY : ZW_EQUALITY, end - first, NULL);
        for (int r = first; r < end; r++) {
            int start = system->A_start[r], count = system->A_start[r + 1] - start;
            double b = -factor * s->phi[r] - (speed ? 0 : psi[r]);
            for (int k = start; k < start + count && speed; k++) {
                b += A[k] * speed[system->A_column[k]];
            }
            problem_row(p, count, system->A_column + start, A + start, b);
        }
    }
}

void impulse_put_rows(step_impulse *s)
{
    problem_begin(&s->problem);
    put_closers(s, &s->problem, s->A0, s->psi0, s->u, 1 / s->h);
    put_dry(s, &s->problem);
    impulse_put_contacts(s);
}

/* Two-sided rows ask for 0, as far as they are on phi = 0; limits for no more than their gap. */
void impulse_put_joint_speeds(step_impulse *s)
{
    for (int r = 0; r < s->system->m; r++) {
        s->phi[r] = one_sided(s->system, r) ? fmax(s->phi[r], 0) : 0;
    }
    problem_begin(&s->aside);
    put_closers(s, &s->aside, s->A, s->psi, NULL, 1 / s->h);
    put_dry(s, &s->aside);
}

int impulse_put_impact_joints(step_impulse *s)
{
    const zw_system *system = s->system;
    int limits = 0;
    for (int c = 0; c < impulse_held(s); c++) {
        int first = system->first_row[c], end = system->first_row[c + 1];
        int loose = one_sided(system, first);
        const gauss_impact_contact limit = {.pair = limits};
        const zw_block block = {.name = name_of(s, c),
                                .kind = loose ? ZW_INEQUALITY : ZW_EQUALITY,
                                .rows = end - first};
        if (loose && !(s->phi[first] <= 1e-12)) {
            continue;
        }
        limits += loose;
        gauss_impact_block(s->touch.law, &block, loose ? &limit : NULL);
        for (int r = first; r < end; r++) {
            int start = system->A_start[r];
            gauss_impact_row(s->touch.law, system->A_start[r + 1] - start, system->A_column + start,
                             s->A + start, -s->psi[r]);
        }
    }
    return limits;
}

void impulse_put_speeds(step_impulse *s)
{
    impulse_put_joint_speeds(s);
    impulse_put_contact_speeds(s);
}

void impulse_settle(const step_impulse *s, double *v)
{
    const struct system_bodies *bodies = s->system->bodies;
    for (int k = 0; k < bodies->dry_count; k++) {
        if (s->dry_mode[k] == 0 && bodies->dry[k].count == 1) {
            v[bodies->term[bodies->dry[k].first].dof] = 0;
        }
    }
}

/* Does a limit that has pushed stay where it is, at the speeds that the step ended with? */
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
    for (int c = 0; c < impulse_held(s); c++) {
        int r = s->system->first_row[c];
        int pushes = s->in_reach[r] && problem_multiplier(&s->problem, c, 0) > 0 && rests(s, r);
        mode[c] = one_sided(s->system, r) && !pushes ? SYSTEM_OPEN : SYSTEM_CLOSED;
    }
    for (int k = 0; k < bodies->dry_count; k++) {
        mode[impulse_held(s) + k] = s->dry_mode[k] == 0 ? SYSTEM_STUCK : SYSTEM_CLOSED;
    }
}

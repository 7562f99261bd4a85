/* The velocity form with one linearisation: a tolerance of 1.
 *
 *     H (u - v0) = h (f(q0 (+) h v0, v0) - bias(q0, v0)) + A' lambda,     H = M + h D + h^2 K
 *
 * that is backward Euler for springs, dampers and motors, linearised at what the speed of now would
 * lead to; everything else is that of q0. Closers and contacts are at position level, phi(q0) + h A
 * u = 0 and gap(q0) + h n . J u >= 0, so what curvature leaves of them, O(h^2), is taken back by
 * the next step: there is no drift. One sweep over the tree and one solve of the kernel a step:
 * this is the form for many steps a second, where impulse.c's rounds are that for exact ones. */
#include <math.h>
#include <string.h>

#include "step/impulse.h"
#include "tree/sweeps.h"

/* One-sided rows that the free motion, or that of now, would break. */
static int in_reach(const step_impulse *s, int r, const double *given)
{
    const zw_system *system = s->system;
    double free_rate = 0, rate = 0;
    for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
        free_rate += s->A[k] * given[system->A_column[k]];
        rate += s->A[k] * s->v0[system->A_column[k]];
    }
    return s->phi[r] + s->h * fmin(free_rate, fmin(rate, 0)) <= 1e-12;
}

static void put_closers(step_impulse *s, const double *given)
{
    const zw_system *system = s->system;
    for (int c = 0; c < impulse_held(s); c++) {
        int first = system->first_row[c], end = system->first_row[c + 1];
        int loose = system->row_kind[first] == SYSTEM_CONTACT;
        s->in_reach[first] = !loose || in_reach(s, first, given);
        if (!s->in_reach[first]) {
            continue;
        }
        problem_block(&s->problem, c, system->model->constraint[c].name,
                      loose ? ZW_INEQUALITY : ZW_EQUALITY, end - first, NULL);
        for (int r = first; r < end; r++) {
            int start = system->A_start[r], count = system->A_start[r + 1] - start;
            double phi = system->row_kind[r] == SYSTEM_VELOCITY ? 0 : s->phi[r];
            problem_row(&s->problem, count, system->A_column + start, s->A + start,
                        -phi / s->h - s->psi0[r]);
        }
    }
}

/* Where the forces alone would lead: s->other. */
static zw_status free_motion(step_impulse *s)
{
    const tree_mechanism *tree = s->system->tree;
    double *given = s->other, *bias = s->push;
    tree_kinematics(tree, s->q0, s->work->sweeps);
    tree_velocities(tree, s->v0, s->work->sweeps);
    tree_composite(tree, s->work->sweeps);
    tree_inverse(tree, NULL, NULL, s->work->sweeps, bias);
    tree_advance(tree, s->q0, s->v0, &s->h, s->q1);
    memcpy(s->u, s->v0, (size_t)s->system->n * sizeof(double));
    double *here = s->work->sweeps;
    if (s->system->bodies->formulas) { /* they see q1 */
        s->work->sweeps = s->begin;
        tree_kinematics(tree, s->q1, s->begin);
    }
    impulse_forces(s, s->u);
    impulse_metric_at(s, here);
    s->work->sweeps = here;
    if (!impulse_factor(s)) {
        return ZW_NOT_A_METRIC;
    }
    for (int i = 0; i < s->system->n; i++) {
        given[i] = s->h * (s->force[i] - bias[i]);
    }
    impulse_solve(s, given);
    for (int i = 0; i < s->system->n; i++) {
        given[i] += s->v0[i];
    }
    return ZW_OK;
}

zw_status impulse_quick(step_impulse *s, double *v1, zw_error *error)
{
    const zw_system *system = s->system;
    size_t speeds = (size_t)system->n * sizeof(double);
    zw_status status = free_motion(s);
    if (status == ZW_OK) {
        status = impulse_find_contacts(s, s->work->sweeps, NULL, error);
    }
    problem_begin(&s->problem);
    if (status == ZW_OK && system->m > 0) {
        impulse_rows_at(s, s->t, s->t + s->h, s->q0, s->psi0, s->A);
        put_closers(s, s->other);
    }
    if (status == ZW_OK) {
        impulse_put_contacts(s);
    }
    memcpy(s->u, s->other, speeds);
    s->residual = 0;
    if (status == ZW_OK && s->problem.rows > 0) {
        status = problem_solve(&s->problem, &s->H, s->other, error);
        if (status == ZW_OK) {
            memcpy(s->u, s->problem.answer.a, speeds);
            s->residual = s->problem.answer.certificate;
        }
    }
    tree_advance(system->tree, s->q0, s->u, &s->h, s->q1);
    memcpy(v1, s->u, speeds);
    memcpy(s->after, s->u, speeds);
    if (status == ZW_OK && system->works) {
        s->gained += impulse_forces_work(s, s->v0);
        s->gained += impulse_work(s, &s->problem, s->problem.answer.lambda, s->v0, s->u);
    }
    s->rounds = 1;
    s->fall = s->h;
    return status;
}

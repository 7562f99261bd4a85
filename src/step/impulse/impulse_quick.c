/* Method impulse with one linearisation: a tolerance of 1.
 *
 *     H (u - v0) = h (f(q0 (+) h v0, v0) - bias(q0, v0)) + A' lambda,     H = M + h D + h^2 K
 *
 * that is backward Euler for springs, dampers and motors, linearised where the present speed would
 * lead; everything else is evaluated at q0. Constraints and contacts are at position level, phi(q0)
 * + h A u = 0 and gap(q0) + h n . J u >= 0, so the error by curvature, O(h^2), is corrected by the
 * next step: there is no drift. (But no faster than g h: where limbs turn by a fraction of a radian
 * in a step, curvature leaves millimetres, and correcting them at once would create speeds.) It
 * takes one sweep over the tree and one solve of the kernel per step: this is the form for speed,
 * as the rounds of impulse.c are the form for accuracy. Forces act for all of h before u, which is
 * also v1: a sliding body stops v h/2 short.
 *
 * Inertia is treated explicitly, but for bodies to which nothing is attached (tree_spin). A step
 * after which the energy exceeds what work explains by a hundredth of the kinetic energy
 * (impulse_gains), or whose problem is not solved, is taken in halves, down to an eighth, each by
 * one linearisation: a body that spins by a radian per step gains a 64th as much in an eighth of
 * it. Where that fails too, the rest of the step is taken with rounds (impulse.c), which may be a
 * thousand times as much work; and so are all steps of scenes with restitution.
 *
 * Contacts and limits alone are solved by step/once8/cones.c, from the data of the step and nothing
 * else, so that eight worlds can be solved at once (step/once8). Such a step is called plain: it
 * leaves no multipliers for the next one. */
#include <math.h>
#include <string.h>

#include "step/impulse/impulse.h"
#include "tree/group.h"
#include "tree/sweeps.h"

#define FAIR                                                                                       \
    1e-6          /* certificate of a solve that gets no better: far below what one round leaves   \
                   */
#define NEAR 1e-4 /* relative to a limit: within this it takes part, open or not */

/* phi after the step, to first order. */
static double phi_after(const step_impulse *s, int r, const double *u)
{
    const zw_system *system = s->system;
    double rate = 0;
    for (int k = system->A_start[r]; k < system->A_start[r + 1]; k++) {
        rate += s->A[k] * u[system->A_column[k]];
    }
    return s->phi[r] + s->h * rate;
}

static int is_limit(const zw_system *system, int c)
{
    return system->row_kind[system->first_row[c]] == SYSTEM_CONTACT;
}

/* Limits that are close, or would be at the present speeds, take part from the beginning. */
static void begin_limits(step_impulse *s)
{
    const zw_system *system = s->system;
    for (int c = 0, held = impulse_held(s); c < held; c++) {
        int r = system->first_row[c];
        double gap = s->phi[r], then = gap - s->h * s->limits.speed[r];
        s->in_reach[r] = s->cones.fits || !is_limit(system, c) || gap <= NEAR || then <= NEAR;
    }
}

/* Adds those that u would violate; returns their number. */
static int more_limits(step_impulse *s, const double *u)
{
    const zw_system *system = s->system;
    int count = 0;
    for (int c = 0, held = impulse_held(s); c < held; c++) {
        int r = system->first_row[c];
        if (!s->in_reach[r] && phi_after(s, r, u) < 0) {
            s->in_reach[r] = 1;
            count++;
        }
    }
    return count;
}

static void put_constraints(step_impulse *s)
{
    const zw_system *system = s->system;
    int turns = system->first_row[s->welds];
    for (int c = 0, held = impulse_held(s); c < held; c++) {
        int first = system->first_row[c], end = system->first_row[c + 1];
        if (!s->in_reach[first]) {
            continue;
        }
        for (int r = first; r < end; r++) {
            double phi = system->row_kind[r] == SYSTEM_VELOCITY ? 0 : s->phi[r];
            s->b[r] = -phi / s->h - s->psi0[r] + (r < turns ? s->turn[r] : 0);
        }
        impulse_put_joint(s, &s->problem, c, s->A, s->b);
    }
}

/* Where violations are removed after every step, the next one cannot correct the error by
 * curvature: instead rows require, as accelerations do, A (u - v0) = -h A' v0, in s->turn. */
static void see_turns(step_impulse *s)
{
    if (s->welds > 0) {
        tree_velocities(s->system->tree, s->v0, s->work->sweeps);
        tree_inverse(s->system->tree, NULL, NULL, s->work->sweeps, s->push);
    }
}

static void note_turns(step_impulse *s)
{
    for (int r = 0; r < s->system->first_row[s->welds]; r++) {
        s->turn[r] = s->h * s->b[r];
    }
}

/* The sweeps of (q0, v0): those at the end of the last step, if it has computed them. */
static void begin_sweeps(step_impulse *s)
{
    const tree_mechanism *tree = s->system->tree;
    int seen = s->sees_end && memcmp(s->q0, s->q1, (size_t)s->system->nq * sizeof(double)) == 0 &&
               memcmp(s->v0, s->u, (size_t)s->system->n * sizeof(double)) == 0;
    s->sees_end = 0;
    if (seen) {
        memcpy(s->work->sweeps, s->begin,
               (size_t)tree->at.A * sizeof(double)); /* everything that depends on q, v */
        return;
    }
    tree_kinematics(tree, s->q0, s->work->sweeps);
    tree_velocities(tree, s->v0, s->work->sweeps);
}

/* For impulse_extent, which must be that of q0 whatever was evaluated before. */
static void note_extent(step_impulse *s)
{
    const tree_mechanism *tree = s->system->tree;
    memcpy(s->begin + tree->at.com, s->work->sweeps + tree->at.com,
           3 * (size_t)tree->bodies * sizeof(double));
    impulse_note_extent(s);
    s->q_begin[0] = NAN;
}

/* s->r = h (f - bias): what H (u - v0) would be without rows. */
static void momentum(step_impulse *s)
{
    const tree_mechanism *tree = s->system->tree;
    double *bias = s->push;
    if (s->work->group) {
        memcpy(bias, tree_group_smooth(s->work->group, s->q0, s->v0, s->work->sweeps),
               (size_t)s->system->n * sizeof *bias);
    } else {
        begin_sweeps(s);
        tree_composite(tree, s->work->sweeps);
        tree_inverse(tree, NULL, NULL, s->work->sweeps, bias);
    }
    tree_spin(tree, &s->h, s->work->sweeps, bias);
    tree_advance(tree, s->q0, s->v0, &s->h, s->q1);
    memcpy(s->q_force, s->q1, (size_t)s->system->nq * sizeof(double));
    memcpy(s->u, s->v0, (size_t)s->system->n * sizeof(double));
    double *here = s->work->sweeps;
    note_extent(s);
    impulse_begin_motors(s);
    if (s->system->bodies->formulas) { /* they see q1 */
        s->work->sweeps = s->begin;
        impulse_see(s, s->q1);
    }
    impulse_forces(s, s->u);
    impulse_metric_at(s, here);
    s->work->sweeps = here;
    for (int i = 0; i < s->system->n; i++) {
        s->r[i] = s->h * (s->force[i] - bias[i]);
    }
    s->kinetic = -1;
}

/* s->other = H v0 + r */
static void find_push(step_impulse *s)
{
    impulse_kinetic(s);
    for (int i = 0; i < s->system->n; i++) {
        s->other[i] += s->r[i];
    }
}

/* The motion without rows, if the kernel needs it. */
static const double *free_motion(void *user)
{
    step_impulse *s = user;
    if (!impulse_factor(s)) {
        return NULL;
    }
    memcpy(s->push, s->other, (size_t)s->system->n * sizeof(double));
    impulse_solve(s, s->push);
    return s->push;
}

/* Accepts what has been found as the solution of the problem, and remembers it. */
static int accept(step_impulse *s)
{
    gauss_islands_answer answer = s->problem.answer;
    int kept = problem_accept(&s->problem, answer.lambda);
    s->problem.answer = answer;
    return kept;
}

/* As eight worlds at once would: step/once8/cones.c. */
static int solve_by_cones(step_impulse *s)
{
    s->plain = s->cones.fits && s->accuracy == 0 && s->touch.deep_count == 0 &&
               cones_solve(&s->cones, &s->problem, &s->H, s->r, s->v0, 0, s->best) && accept(s);
    s->work->effort.rounds += s->plain;
    return s->plain;
}

static int has_cones(const step_impulse *s)
{
    return s->cones.kind && s->touch.deep_count == 0;
}

static int solve_cones(step_impulse *s, int warm)
{
    int solved =
        has_cones(s) && cones_solve(&s->cones, &s->problem, &s->H, s->r, s->v0, warm, s->best);
    s->work->effort.rounds += solved;
    return solved;
}

/* Did few rows push in the last step? */
static int push_few(const step_impulse *s)
{
    const impulse_problem *p = &s->problem;
    int rows = 0;
    for (int k = 0; k < p->blocks; k++) {
        rows += p->guess[p->first[k]] > 0 ? p->block[k].rows : 0;
    }
    return 2 * rows <= s->system->n;
}

/* The modes of contacts are usually those of the last step. Where they are not, the method of the
 * cones finds them sooner than further attempts; and where few rows push, always: its matrix has
 * their number, which costs less than one of all speeds. 0: neither does, or the kernel is as fast.
 */
static int solve_by_newton(step_impulse *s)
{
    int rows = s->problem.rows;
    if (s->accuracy > 0 || !s->chord.is_there) {
        return 0;
    }
    int few = has_cones(s) && push_few(s);
    return ((few && solve_cones(s, 1) && s->problem.answer.certificate <= s->problem.wanted) ||
            (rows > 0 && chord_solve(s, &s->problem, has_cones(s), s->r, s->best)) ||
            solve_cones(s, 0)) &&
           accept(s);
}

static zw_status solve_rows(step_impulse *s, zw_error *error)
{
    gauss_islands_hint hint = {.start = s->v0, .free = free_motion, .user = s, .fair = FAIR};
    zw_status status = ZW_OK;
    do {
        problem_begin(&s->problem);
        put_constraints(s);
        impulse_put_boxes(s, &s->problem, s->h, 0);
        impulse_put_contacts(s);
        s->problem.fair = FAIR;
        int solved = solve_by_cones(s) || solve_by_newton(s);
        s->problem.fair = 0;
        if (!solved) {
            find_push(s);
            status = problem_solve_force(&s->problem, &s->H, s->other, &hint, error);
            impulse_count_solve(s, &s->problem);
        }
    } while (status == ZW_OK && more_limits(s, s->problem.answer.a) > 0);
    return status;
}

/* Overlaps separate no faster than the speed that gravity gives in a step. */
static void limit_recovery(step_impulse *s)
{
    impulse_contacts *t = &s->touch;
    double most = impulse_gravity(s) * s->h;
    for (int k = 0; k < t->found.count; k++) {
        t->b[k] = fmin(t->b[k], most);
    }
}

/* Nothing is pushed apart beside the motion. */
static void find_landings(step_impulse *s)
{
    impulse_contacts *t = &s->touch;
    impulse_find_landings(s);
    for (int k = 0; k < t->found.count; k++) {
        t->land.now[k] = impulse_is_landing(t, k) ? t->land.now[k] : 0;
    }
}

zw_status impulse_quick(step_impulse *s, double *v1, zw_error *error)
{
    const zw_system *system = s->system;
    size_t speeds = (size_t)system->n * sizeof(double);
    s->fall = s->h;
    s->sigma = 1;
    momentum(s);
    zw_status status = impulse_find_contacts(s, s->work->sweeps, NULL, error);
    if (status == ZW_OK && system->m > 0) {
        see_turns(s);
        impulse_rows_at(s, s->t, s->t + s->h, s->q0, s->psi0, s->A);
        note_turns(s);
    }
    if (status == ZW_OK) {
        impulse_limits_begin(s, s->psi0, s->A);
        begin_limits(s);
        limit_recovery(s);
        status = solve_rows(s, error);
    }
    s->residual = s->problem.answer.certificate;
    if (status == ZW_OK) {
        memcpy(s->u, s->problem.answer.a, speeds);
        impulse_settle(s, &s->problem, s->u);
    }
    tree_advance(system->tree, s->q0, s->u, &s->h, s->q1);
    memcpy(v1, s->u, speeds);
    find_landings(s);
    if (status == ZW_OK && system->works) {
        const double *lambda = s->problem.answer.lambda;
        s->gained += impulse_joint_work(s, &s->problem, lambda, s->v0, s->u);
        s->gained += impulse_contact_work(s, &s->problem, lambda, s->v0, v1);
        s->gained += impulse_forces_work(s);
    }
    s->rounds = 1;
    s->plain &= status == ZW_OK;
    return status;
}

/* Gauss's principle for the next velocity (seed 004 eqs. (2)-(4)), implicit, for rigid bodies.
 *
 * The unknown is u, the speed that leads from q0 to q1 = q0 (+) h u; w is that of the step before.
 *
 * Balance.  P = (J omega, m v) are the momenta of the bodies along the axes of the world, about
 * their centres of mass; S are the motions of the coordinates. With 0 <= theta <= 1,
 *
 *     S' (P+ - P- - h (0, m g)) + armature (u - w) = h f(q1, u) + A' lambda
 *
 *     P+ = P(q1 (-) (1 - theta) h/2 u, u),    P- the P+ of the step before,
 *     S, A at q0 (+) theta h u,               v1 = u up to a projection, see below
 *
 * What inertia does needs no terms of its own: gyroscopic and centrifugal forces are that P is a
 * vector of the world while J and S turn. f are the forces of springs, dampers and motors at the
 * end of the step: backward Euler, so that no stiffness and no gain is too large for any step.
 * Under constant M, D, K it is u = (M + h D + h^2 K) \ (M w - h K q0): it decays for every h.
 *
 * theta = 0: momenta in the middle of steps, impulses at their ends. With the closers below that is
 * Hamilton's principle for the midpoint rule (up to S, which is taken at q0 for all bodies of a
 * chain): turned round in time, (u, w) -> (-w, -u), the equations without f are the same. Energy
 * then swings within O(h) and has no slope as long as a step turns things little; but it is only as
 * stable as an explicit method: a pendulum of frequency n needs h n < 2, and a chain that whirls
 * by half a radian a step gains energy without bound (measured). theta = 1: all at the end. Then
 * S u = V(q1, u), and for every body m v1 . (v1 - v0) >= m (v1^2 - v0^2)/2, so that kinetic energy
 * grows by no more than the work of the forces. (The turning part: with J that of the end and G the
 * rotation from the start to the end, G' J G is that of the start. omega1 . (L1 - L0) = T1 - T0 +
 * 1/2 (omega1 - omega0)' J0 (omega1 - omega0) + 1/2 omega1' (J1 - J0) omega1, and the last term is
 * zero where G turns about omega1: for each body that one joint holds to the world. For others it
 * is of second order in h; no sign is known for it.) This loses energy at first order in h.
 * theta = clamp((4 h n)^2 - 0.001, 0, 1) with n the fastest rate at which a joint or a parent
 * carries a centre of mass round, or at which a body would swing by its weight: balance_theta. So
 * the loss is of third order, and full where steps are too long to see the motion.
 *
 * Free body: the equation is L+ = L-, at any h and theta: angular momentum is kept exactly, and
 * T = 1/2 L . J \ L stays between L^2/2J of the largest and of the smallest axis. With theta = 1
 * T cannot grow: with w = J1 \ L and d = G' L - L, w . d = 0 as G turns about w, and
 * T0 = 1/2 (L + d) . J1 \ (L + d) = T1 + 1/2 d . J1 \ d.
 *
 * Closers.  phi(q1) = 0, solved to round-off. Limits: phi(q1) >= 0 and lambda >= 0, one of them 0.
 * A limit joins once an iterate breaks it; it can only join, so that ends. Then the speeds: u is
 * tangent to the closers half way, and at q1 only up to O(h). v1 is the speed nearest to u in the
 * metric of M(q1) among those that satisfy the rows at q1 and break no limit (a stop is without
 * bounce): one more solve of the kernel. Nothing is lost by it, as the next step finds w again: the
 * speed with M (w - v0) = A' mu and phi(q0 (-) h w) = 0, two or three solves of equalities. (With
 * w = v0 a Bricard mechanism lost 4 % of its energy in 2000 steps of a millisecond, with w none.)
 *
 * Boxes.  A motor's force is its law at (q1, u), or at the end of its range beyond which the law
 * would lead. Dry friction holds, e . u = 0 with |lambda| <= h limit, or has its full force against
 * e . u. Each has a mode: inside, or at one of both ends. The rounds below are made for given
 * modes, and judge them: all that are wrong move at once, from one end to the other by way of the
 * inside; after MANY rounds only the first wrong one moves, and only where the rest is solved:
 * Murty's rule, which ends where the slopes of the balance are positive. At the end every force
 * used is that of its law, clamped, to 1e-12 of its range.
 *
 * Rounds.  For the iterate u with r(u) = left side - h f: H (u' - u) + r = A' lambda, H = M(q0) +
 * h D + h^2 K with the slopes of springs, dampers and motors that are inside their boxes: Gauss's
 * problem in the metric H. What H does not know, the slopes of inertia and those without symmetry,
 * makes the rounds contract by about h |w|, not at once; H is kept for the step. Where they
 * contract too slowly (fast tops, large steps), all slopes N of r are found by differences, and the
 * rounds go on as z = u - N \ (r - A' lambda), H (u' - z) = A' (lambda' - lambda): Newton's without
 * rows, and with the same fixed points always; where contacts make that lead nowhere, with H again.
 * A step whose rounds do not end, or that contacts drive (impulse_work.c), is taken in halves, down
 * to 1/256 of it: then the first is an error. The kernel's effort on one problem of contacts is
 * bounded (EFFORT). Where it ends near the law but not at it, with a certificate up to FAIR, as
 * happens in impacts of many bodies at once, the balance need be no better than that certificate
 * and places no better than NEAR; the residual that the step reports is then the certificate.
 *
 * State.  P- is found again from (q0, v0) with the h and theta of now, unless the step goes on
 * where the last one ended: then with those of then. These, and the multipliers that the kernel
 * starts from, are handed over by way of the state: impulse_memory.c. */
#include "step/impulse.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "step/sleep.h"
#include "tree/sweeps.h"

enum { NEWTON = 200, PIECES = 256, EFFORT = 150 };
#define CLOSE 1e-12 /* of the balance, relative: as near as round-off allows */
#define PLACE 1e-13 /* of phi, to the size of the mechanism */

/* ---- Creation ------------------------------------------------------------------------------- */

static void lay_out(step_impulse *s, base_arena *arena)
{
    const zw_system *system = s->system;
    const struct system_bodies *bodies = system->bodies;
    size_t n = (size_t)system->n, nq = (size_t)system->nq, m = (size_t)system->m;
    size_t count = (size_t)system->tree->bodies;
    double **speeds[] = {&s->v0,    &s->w,    &s->u,     &s->r,     &s->force, &s->Q,
                         &s->still, &s->push, &s->other, &s->first, &s->after};
    double **places[] = {&s->q0, &s->q1, &s->q_other}, **rows[] = {&s->phi, &s->psi, &s->b};
    size_t acts = (size_t)bodies->act_count;
    for (size_t k = 0; k < sizeof speeds / sizeof *speeds; k++) {
        *speeds[k] = base_arena_doubles(arena, n);
    }
    for (size_t k = 0; k < 3; k++) {
        *places[k] = base_arena_doubles(arena, nq);
        *rows[k] = base_arena_doubles(arena, m);
    }
    s->A = base_arena_doubles(arena, (size_t)system->A_start[system->m]);
    s->A0 = base_arena_doubles(arena, (size_t)system->A_start[system->m]);
    s->psi0 = base_arena_doubles(arena, m);
    s->act0 = base_arena_doubles(arena, acts);
    s->act = base_arena_doubles(arena, acts);
    s->begin = base_arena_doubles(arena, (size_t)system->tree->at.count);
    s->F = base_arena_doubles(arena, 6 * count);
    s->P0 = base_arena_doubles(arena, 6 * count);
    s->place = base_arena_doubles(arena, (size_t)system->tree->at.count);
    s->room = base_arena_doubles(arena, (size_t)bodies->length_count);
    s->wish = base_arena_doubles(arena, (size_t)bodies->motor_count);
    s->given = base_arena_doubles(arena, (size_t)bodies->motor_count);
    s->U = n <= NEWTON ? base_arena_doubles(arena, n * n) : NULL;
    s->pivot = base_arena_ints(arena, n);
    s->motor_mode = base_arena_ints(arena, (size_t)bodies->motor_count);
    s->length_mode = base_arena_ints(arena, (size_t)bodies->length_count);
    s->dry_mode = base_arena_ints(arena, (size_t)bodies->dry_count);
    s->in_reach = base_arena_ints(arena, m);
    s->kept_room = bodies_step_memory(system);
    s->kept = base_arena_doubles(arena, (size_t)s->kept_room);
}

step_impulse *impulse_create(const zw_system *system, zw_work *work, zw_error *error)
{
    if (system->bodies->sleep > 0) {
        return sleep_create(system, work, error);
    }
    step_impulse *s = base_alloc(sizeof *s);
    base_arena arena = {0};
    if (s) {
        s->system = system;
        s->work = work;
        lay_out(s, &arena);
        s->memory = base_alloc(arena.used + 1);
    }
    if (!s || !s->memory || problem_create(&s->problem, system->n, error) != ZW_OK ||
        problem_create(&s->back, system->n, error) != ZW_OK ||
        problem_create(&s->aside, system->n, error) != ZW_OK ||
        impulse_stiff_create(&s->stiff, system) != ZW_OK ||
        matrix_create(&s->H, system, s->stiff.apart ? 0 : s->stiff.count, s->stiff.dof) != ZW_OK ||
        impulse_contacts_create(&s->touch, system) != ZW_OK) {
        impulse_free(s);
        base_fail(error, ZW_NO_MEMORY, "%s", zw_status_text(ZW_NO_MEMORY));
        return NULL;
    }
    arena = (base_arena){.block = s->memory};
    lay_out(s, &arena);
    s->close = CLOSE;
    impulse_problem *all[] = {&s->problem, &s->back, &s->aside};
    for (int k = 0; k < 3; k++) {
        all[k]->options.rank = 1e-6; /* as for projections: system_set_modes */
        all[k]->options.least_squares = 1;
        all[k]->options.effort = EFFORT;
        all[k]->enough = 1; /* the rounds judge by themselves, and so does find_v1 */
    }
    return s;
}

void impulse_set_tolerance(step_impulse *s, double tolerance)
{
    s->close = fmax(tolerance, CLOSE);
    /* the kernel's own tolerance does unless more is asked for than one gets, or less */
    s->problem.options.tolerance = s->aside.options.tolerance = tolerance < 1e-10
                                                                    ? fmax(tolerance, CLOSE)
                                                                : tolerance >= 1 ? 1e-10
                                                                                 : 0;
}

void impulse_free(step_impulse *s)
{
    if (s) {
        problem_free(&s->problem);
        problem_free(&s->back);
        problem_free(&s->aside);
        impulse_contacts_free(&s->touch);
        matrix_free(&s->H);
        sleep_free(s->sleep);
        impulse_stiff_free(&s->stiff);
        base_free(s->memory);
        base_free(s);
    }
}

/* ---- Speeds before and after ---------------------------------------------------------------- */

/* The speed nearest to v, in the metric H, on the rows of p. */
zw_status impulse_project(step_impulse *s, impulse_problem *p, const double *v, double *nearest,
                          zw_error *error)
{
    int n = s->system->n;
    zw_status status = problem_solve_aside(p, &s->H, v, error);
    if (status == ZW_OK) {
        memcpy(nearest, p->answer.a, (size_t)n * sizeof(double));
        impulse_settle(s, nearest);
    }
    return status;
}

/* w from v0: phi(q0 (-) h w) = 0. */
static zw_status find_w(step_impulse *s, zw_error *error)
{
    enum { BACK = 4 };
    const tree_mechanism *tree = s->system->tree;
    double h = -s->before;
    zw_status status = ZW_OK;
    memcpy(s->w, s->v0, (size_t)s->system->n * sizeof(double));
    if (s->system->m == s->system->contact_count || s->before == 0) {
        impulse_take_up(s);
        return ZW_OK; /* nothing but limits; or v0 is right after an impact */
    }
    matrix_set(&s->H, s->system, s->begin);
    for (int round = 0; round < BACK && status == ZW_OK; round++) {
        tree_advance(tree, s->q0, s->w, &h, s->q1);
        tree_kinematics(tree, s->q1, s->work->sweeps);
        impulse_fill_rows(s, s->t + h);
        if (impulse_violation(s) <= PLACE * impulse_extent(s)) {
            break;
        }
        impulse_put_back(s, s->w);
        status = impulse_project(s, &s->back, s->v0, s->w, error);
    }
    if (status == ZW_OK && s->back.rows > 0) { /* what moves takes back what it gave at q0 */
        s->gained += impulse_work(s, &s->back, s->back.answer.lambda, s->v0, s->w);
    }
    return status;
}

/* The rows of a block that were put aside: by how much v is not on them; *most: the size of their
 * terms, that of all rows of the block, as what slides along a floor moves across it by the
 * round-off of its sliding. */
static double off_rows(const step_impulse *s, const double *v, int k, double *most)
{
    const impulse_problem *p = &s->aside;
    double sum = 0;
    *most = 0;
    for (int i = p->first[k]; i < p->first[k] + p->block[k].rows; i++) {
        double off = -p->b[i], size = fabs(p->b[i]);
        for (int e = p->start[i]; e < p->start[i + 1]; e++) {
            off += p->value[e] * v[p->column[e]];
            size += fabs(p->value[e]) * fmax(fabs(v[p->column[e]]), fabs(s->u[p->column[e]]));
        }
        int across = p->block[k].kind == ZW_CONE && i > p->first[k];
        int two_sided = p->block[k].kind == ZW_EQUALITY || isnan(off);
        sum += across ? 0 : fabs(two_sided ? off : fmin(off, 0));
        *most = fmax(*most, size);
    }
    return sum;
}

/* Is v on all of them, up to this part of the size of their terms, or this share of the largest of
 * all (which is what a certificate knows), or to what round-off of a place is over a step? */
static int on_rows(const step_impulse *s, const double *v, double part, double share)
{
    double least = DBL_EPSILON * impulse_extent(s) / s->h, size;
    for (int k = 0; k < s->aside.blocks && share > 0; k++) {
        off_rows(s, v, k, &size);
        least = fmax(least, share * size);
    }
    for (int k = 0; k < s->aside.blocks; k++) {
        double off = off_rows(s, v, k, &size);
        if (!(off <= fmax(part * size, least))) {
            return 0;
        }
    }
    return 1;
}

/* v1 from u: on the rows of q1. */
static zw_status find_v1(step_impulse *s, double *v1, zw_error *error)
{
    int n = s->system->n;
    double gained = s->system->works
                        ? impulse_forces_work(s, s->w) +
                              impulse_work(s, &s->problem, s->problem.guess, s->w, s->u)
                        : 0;
    memcpy(v1, s->u, (size_t)n * sizeof *v1);
    impulse_put_speeds(s);
    if (s->aside.rows > 0 && !on_rows(s, v1, 1e-13, 0)) {
        tree_composite(s->system->tree, s->work->sweeps);
        matrix_set(&s->H, s->system, s->work->sweeps);
        zw_status status = impulse_project(s, &s->aside, s->u, v1, error);
        double part = impulse_gave_up(s, &s->aside) ? 10 * s->aside.answer.certificate : 0;
        if (status == ZW_OK && !on_rows(s, v1, 1e-9, part)) {
            status = base_fail(error, ZW_INACCURATE,
                               "the speeds could not be brought onto the constraints");
        }
        if (status != ZW_OK) {
            return status;
        }
        gained += impulse_work(s, &s->aside, s->aside.answer.lambda, s->u, v1);
    }
    impulse_leave(s, v1);
    s->gained += gained;
    return ZW_OK;
}

/* ---- A step --------------------------------------------------------------------------------- */

/* One round is all that is asked for, and there are no boxes that could be at the wrong end. What
 * it leaves of phi and of depths is what the next step begins with. */
static int is_first_enough(const step_impulse *s)
{
    const struct system_bodies *bodies = s->system->bodies;
    int boxes = bodies->dry_count;
    for (int k = 0; k < bodies->motor_count && boxes == 0; k++) {
        boxes += bodies->motor[k].clamp_force;
    }
    for (int i = 0; i < bodies->length_count && bodies->motor_count > 0 && boxes == 0; i++) {
        boxes += bodies->length[i].force_limited;
    }
    return s->close >= 1 && boxes == 0 && !s->touch.bounces;
}

/* From (s->q0, s->v0) over s->h: q1 in s, the speeds in v1. */
zw_status impulse_take(step_impulse *s, double *v1, zw_error *error)
{
    const tree_mechanism *tree = s->system->tree;
    if (is_first_enough(s)) {
        return impulse_quick(s, v1, error);
    }
    double gained = s->gained;
    tree_kinematics(tree, s->q0, s->begin);
    tree_composite(tree, s->begin);
    impulse_begin_modes(s);
    s->theta = 0;
    memcpy(s->place, s->begin, (size_t)tree->at.count * sizeof(double));
    impulse_place_rows(s);
    impulse_touch(s);
    zw_status status = find_w(s, error);
    tree_velocities(tree, s->v0, s->begin);
    s->theta = balance_theta(s->system, s->begin, s->v0, s->h);
    s->behind = s->behind < 0 ? 0.5 * (1 - s->theta) * s->h : s->behind;
    s->fall = s->touch.bounces ? s->h + s->behind - 0.5 * (1 - s->theta) * s->h : s->h;
    if (status == ZW_OK) {
        impulse_begin_balance(s, s->w);
        memcpy(s->u, s->v0, (size_t)s->system->n * sizeof(double));
        status = impulse_find_contacts(s, s->begin, NULL, error);
        status = status == ZW_OK ? impulse_solve_rounds(s, error) : status;
    }
    if (status == ZW_OK && s->may_be_halved && s->problem.rows > 0 && impulse_is_driven(s)) {
        status = base_fail(error, ZW_INACCURATE, "contacts would drive what they hold");
    }
    status = status == ZW_OK ? find_v1(s, v1, error) : status;
    s->gained = status == ZW_OK ? s->gained : gained; /* it may be tried again */
    return status;
}

zw_status impulse_advance(step_impulse *s, double h, double *v1, zw_error *error)
{
    int done = 0, size = PIECES;
    while (done < PIECES) {
        s->h = h * size / PIECES;
        s->may_be_halved = size > 1;
        zw_status status = impulse_take(s, v1, error);
        if (status != ZW_OK && (status == ZW_NO_MEMORY || status == ZW_TOO_LARGE || size == 1)) {
            return status;
        }
        if (status != ZW_OK) {
            s->problem.old_blocks = 0; /* what led nowhere is no guess */
            size /= 2;
            continue;
        }
        done += size;
        impulse_pass(s);
        s->before = s->h;
        s->behind = 0.5 * (1 - s->theta) * s->h;
        memcpy(s->q0, s->q1, (size_t)s->system->nq * sizeof(double));
        memcpy(s->v0, v1, (size_t)s->system->n * sizeof(double));
        size = done % (2 * size) == 0 ? 2 * size : size;
    }
    return ZW_OK;
}

void impulse_pass(step_impulse *s)
{
    s->t += s->h;
    memcpy(s->act0, s->act, (size_t)s->system->bodies->act_count * sizeof(double));
}

/* A step that failed: if that was a formula without a value, it is named. */
static zw_status blame(step_impulse *s, zw_status status, zw_error *error)
{
    zw_error other = {0};
    if (s->system->bodies->formulas && status != ZW_NO_MEMORY &&
        system_evaluate(s->system, s->work, PART_TERMS, s->t + s->h, s->q0, s->v0, NULL, NULL,
                        &other) == ZW_NOT_FINITE) {
        *error = other;
        return ZW_NOT_FINITE;
    }
    return status;
}

zw_status impulse_step(step_impulse *s, double t, double h, const double *q0, const double *v0,
                       double *q1, double *v1, zw_error *error)
{
    const double *carried = v0 + s->system->n + s->system->law.carried;
    size_t acts = (size_t)s->system->bodies->act_count * sizeof(double);
    size_t speeds = (size_t)s->system->n * sizeof(double);
    size_t places = (size_t)s->system->nq * sizeof(double);
    if (s->sleep) {
        return sleep_step(s, t, h, q0, v0, q1, v1, NULL, error);
    }
    int same = memcmp(s->q0, q0, places) == 0 && memcmp(s->v0, v0, speeds) == 0;
    s->goes_on = impulse_recall(s) && (same || !s->taken); /* or has been handed over */
    s->before = s->goes_on ? s->before : h;
    s->behind = s->goes_on ? s->behind : -1; /* not known */
    s->taken = 0;
    memcpy(s->q0, q0, places);
    memcpy(s->v0, v0, speeds);
    memcpy(s->first, v0, speeds);
    memcpy(s->act0, carried, acts);
    s->t = t;
    s->gained = 0;
    zw_status status =
        s->touch.bounces ? impulse_bounce(s, h, v1, error) : impulse_advance(s, h, v1, error);
    if (status != ZW_OK) {
        return blame(s, status, error);
    }
    memcpy(q1, s->q1, places);
    memcpy(v1 + s->system->n + s->system->law.carried, s->act0, acts);
    s->taken = 1;
    impulse_keep(s);
    status = impulse_list_contacts(s, v1) ? ZW_OK : ZW_NO_MEMORY;
    return status == ZW_OK ? ZW_OK : base_fail(error, status, "%s", zw_status_text(status));
}

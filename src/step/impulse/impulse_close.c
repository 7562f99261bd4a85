/* The speeds at the end of a step.
 *
 * The rounds of impulse.c end with u, the mean speed over the step, whose momenta P+ are those of
 * the time `late` = (1 - theta) h/2 before its end. The state has v1, the speed at the time of q1,
 * from the remaining time of the forces:
 *
 *     S' (P(q1, v1) - P+ - late (0, m g)) + armature (v1 - u) = late f(qf, v) + A' mu,
 *     v = (1 - sigma) u + sigma v1
 *
 * with S and A at q1: constraints and closed contacts hold, sliding ones have their friction. It is
 * linear in v1, as S' P(q1, v) + armature v = M(q1) v, but for f, whose slopes in v are those of H:
 *
 *     (M + sigma late D) (v1 - u) = S' (P+ - P(q1, u) + late (0, m g)) + late f(qf, u) + A' mu
 *
 * (springs add sigma late^2 K to that, which is harmless). So with sigma = 0 both halves of the
 * step have the same force, that of its middle. Boxes have what the rounds left of them
 * (impulse_boxes.c). The residual of the first half is corrected here, along the axes of q1, where
 * there are more than GAUSS_CHOOSE_MOST speeds: so the error of the momenta of a whole step,
 * angular ones too, is that residual times the angle by which a step turns things. The same holds
 * for the energy of a parabola.
 *
 * The next step begins with (q1, v1) and nothing else. With theta = 0 and neither f nor contacts
 * its equation and this one add up to S' (P+ of it - P+ - h (0, m g)) = A' (...), S and A at q1: it
 * is as if it had continued from P+, and what impulse.c says about whole motions holds. A sliding
 * body has travelled v t - mu g t^2/2 at every t = k h, where backward Euler would be v h/2 short
 * once it has stopped. In a well of contacts, or of springs, with oscillations of frequency n, two
 * such halves have the multipliers l with l^2 (1 + a/2) - l (2 - a/2) + 1 = 0, a = (h n)^2: they
 * decay for every h. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "gauss/contact/choose.h"
#include "math/cone.h"
#include "step/impulse/impulse.h"
#include "tree/sweeps.h"

/* Errors of the rows, relative to their terms: of speeds that a solve has led to, and of speeds
 * that need none. */
#define CLOSE 1e-9
#define EXACT 1e-13
#define SLID 1e-9 /* relative to its terms: a speed that counts as sliding */

double impulse_late(const step_impulse *s)
{
    return 0.5 * (1 - s->theta) * s->h;
}

zw_status impulse_project(step_impulse *s, impulse_problem *p, const double *v, double *nearest,
                          zw_error *error)
{
    int n = s->system->n;
    zw_status status = problem_solve_aside(p, &s->H, v, error);
    if (status == ZW_OK) {
        memcpy(nearest, p->answer.a, (size_t)n * sizeof(double));
    }
    return status;
}

/* The rows of a block that were put aside: by how much v is not on them; *most: the size of their
 * terms, with v and with what it comes from, that of all rows of the block, as what slides along a
 * floor moves across it by the round-off of its sliding. */
static double off_rows(const step_impulse *s, const double *from, const double *v, int k,
                       double *most)
{
    const impulse_problem *p = &s->aside;
    double sum = 0;
    *most = 0;
    for (int i = p->first[k]; i < p->first[k] + p->block[k].rows; i++) {
        double off = -p->b[i], size = fabs(p->b[i]);
        for (int e = p->start[i]; e < p->start[i + 1]; e++) {
            double now = fabs(v[p->column[e]]), then = fabs(from[p->column[e]]);
            off += p->value[e] * v[p->column[e]];
            size += fabs(p->value[e]) * (now < then ? then : now);
        }
        int across = (p->block[k].kind == ZW_CONE && i > p->first[k]) || p->block[k].kind == ZW_BOX;
        int two_sided = p->block[k].kind == ZW_EQUALITY || isnan(off);
        sum += across ? 0 : fabs(two_sided ? off : fmin(off, 0));
        *most = fmax(*most, size);
    }
    return sum;
}

/* Is v on all of them, up to this part of the size of their terms, or this share of the largest of
 * all (which is what a certificate knows), or to what round-off of a place is over a step? */
static int on_rows(const step_impulse *s, const double *from, const double *v, double part,
                   double share)
{
    double least = DBL_EPSILON * impulse_extent(s) / s->h, size;
    for (int k = 0; k < s->aside.blocks && share > 0; k++) {
        off_rows(s, from, v, k, &size);
        least = fmax(least, share * size);
    }
    for (int k = 0; k < s->aside.blocks; k++) {
        double off = off_rows(s, from, v, k, &size);
        if (!(off <= fmax(part * size, least))) {
            return 0;
        }
    }
    return 1;
}

/* Two-sided rows alone, and finite numbers in all of them. */
static int constraints_hold(const step_impulse *s, const double *from, const double *v)
{
    double size;
    for (int k = 0; k < s->aside.blocks; k++) {
        double off = off_rows(s, from, v, k, &size);
        int two_sided = s->aside.block[k].kind == ZW_EQUALITY;
        if (!isfinite(off) || (two_sided && off > 1e-6 * size)) {
            return 0;
        }
    }
    return 1;
}

/* Has the last solve, of what would be `from` without rows, led to them? */
static zw_status check(step_impulse *s, const double *from, const double *v, zw_error *error)
{
    int rough = s->accuracy > 0 || impulse_gave_up(s, &s->aside);
    double part = rough ? 10 * s->aside.answer.certificate : 0;
    int holds = on_rows(s, from, v, CLOSE, part);
    if (!holds && s->last_resort && constraints_hold(s, from, v)) {
        s->missed = 1;
        return ZW_OK;
    }
    return holds ? ZW_OK
                 : base_fail(error, ZW_INACCURATE,
                             "the speeds could not be brought onto the constraints");
}

static int has_boxes(const impulse_problem *p)
{
    int found = 0;
    for (int k = 0; k < p->blocks; k++) {
        found |= p->block[k].kind == ZW_BOX;
    }
    return found;
}

/* Adds how far the guessed multipliers of boxes are from their law at u: from the end of the box,
 * or from what would bring the row to 0. */
static void add_box_misses(const step_impulse *s, double *to)
{
    const impulse_problem *p = &s->aside;
    for (int k = 0; k < p->blocks; k++) {
        int i = p->first[k];
        double lambda = p->guess[i], give = p->gives ? p->give[i] : 0;
        double w = give * lambda - p->b[i], easy = give;
        if (p->block[k].kind != ZW_BOX) {
            continue;
        }
        for (int e = p->start[i]; e < p->start[i + 1]; e++) {
            w += p->value[e] * s->u[p->column[e]];
            easy += p->value[e] * p->value[e] / matrix_diagonal(&s->H, p->column[e]);
        }
        const double *limit = p->block[k].limit;
        double off = lambda - interval_nearest(limit[0], limit[1], lambda - w / easy);
        for (int e = p->start[i]; e < p->start[i + 1]; e++) {
            to[p->column[e]] += off * p->value[e];
        }
    }
}

/* A step at rest: are the multipliers of the rounds valid for the rest of its time, too? `gain` is
 * what they have to balance, as momenta; `size` that of their terms. */
static int goes_on_resting(step_impulse *s, const double *gain, double size)
{
    impulse_problem *p = &s->aside;
    problem_guess_from(p, &s->problem, impulse_late(s) / s->fall);
    problem_guess_push(p, s->other);
    for (int i = 0; i < s->system->n; i++) {
        s->other[i] += gain[i];
    }
    add_box_misses(s, s->other);
    if (p->no_memory || !(impulse_norm(s, s->other) <= s->close * size) ||
        !on_rows(s, s->u, s->u, EXACT, 0)) {
        return 0;
    }
    p->answer = (gauss_islands_answer){.a = s->u, .lambda = p->guess, .worst_block = -1};
    return 1;
}

/* How a contact slides at v; *size: the size of the terms. */
static void slip_of(const impulse_problem *p, int first, const double *v, double slip[2],
                    double *size)
{
    *size = 0;
    for (int k = 0; k < 2; k++) {
        slip[k] = -p->b[first + k];
        *size += fabs(p->b[first + k]);
        for (int e = p->start[first + k]; e < p->start[first + k + 1]; e++) {
            slip[k] += p->value[e] * v[p->column[e]];
            *size += fabs(p->value[e] * v[p->column[e]]);
        }
    }
}

/* Does a contact slide at v1 against its sliding at v0? Then its friction has reversed at a time
 * that the equations do not know. */
static int turns(const step_impulse *s, const double *v1)
{
    const impulse_problem *p = &s->aside;
    int found = 0;
    for (int k = 0; k < p->blocks && !found; k++) {
        double before[2], after[2], size, later;
        if (p->block[k].kind == ZW_CONE && p->block[k].rows > 2) {
            slip_of(p, p->first[k] + 1, s->v0, before, &size);
            slip_of(p, p->first[k] + 1, v1, after, &later);
            double least = SLID * fmax(size, later);
            found = before[0] * after[0] + before[1] * after[1] < 0 &&
                    fabs(before[0]) + fabs(before[1]) > least &&
                    fabs(after[0]) + fabs(after[1]) > least;
        }
    }
    return found;
}

/* v1 is a solution of the problem `aside`, starting from these speeds. */
static zw_status end_at(step_impulse *s, const double *from, double *v1, zw_error *error)
{
    impulse_settle(s, &s->aside, v1);
    s->turned |= turns(s, v1) || impulse_dry_turns(s, &s->aside);
    s->residual = fmax(s->residual, s->aside.answer.certificate);
    return check(s, from, v1, error);
}

/* v1 from u. */
static zw_status find_v1(step_impulse *s, double *v1, zw_error *error)
{
    double *gain = s->push;
    size_t speeds = (size_t)s->system->n * sizeof *v1;
    double size = s->rests ? impulse_late(s) / s->fall * impulse_size(s) : 0;
    impulse_put_speeds(s);
    impulse_late_momenta(s, gain);
    if (s->rests && goes_on_resting(s, gain, size)) {
        memcpy(v1, s->u, speeds);
        return ZW_OK;
    }
    for (int i = 0; i < s->system->n && !s->missed; i++) {
        gain[i] -= s->unbalanced[i];
    }
    problem_guess_from(&s->aside, &s->problem, impulse_late(s) / s->fall);
    if (s->aside.rows > 0 && !s->chord.small && !s->sharp && s->accuracy == 0 &&
        !impulse_hardly_moves(s) && chord_solve(s, &s->aside, 0, gain, v1) &&
        on_rows(s, s->u, v1, CLOSE, 0)) {
        return end_at(s, s->u, v1, error);
    }
    s->work->effort.factors++;
    if (!matrix_factor(&s->H)) {
        return base_fail(error, ZW_NOT_A_METRIC,
                         "the method impulse needs a positive definite mass matrix: joints that "
                         "close loops, and maximal coordinates, have none; use dop853");
    }
    matrix_solve(&s->H, gain);
    for (int i = 0; i < s->system->n; i++) {
        gain[i] += s->u[i];
    }
    memcpy(v1, gain, speeds);
    if (s->aside.rows == 0 || (!has_boxes(&s->aside) && on_rows(s, gain, gain, EXACT, 0))) {
        s->aside.rows = s->aside.blocks = 0;
        return ZW_OK;
    }
    zw_status status = problem_solve_near(&s->aside, &s->H, gain, s->u, error);
    impulse_count_solve(s, &s->aside);
    if (status == ZW_OK) {
        memcpy(v1, s->aside.answer.a, speeds);
        status = end_at(s, gain, v1, error);
    }
    return status;
}

/* The work that forces do in this half of the step as they have the speeds v and not u: little
 * where the motion is smooth, but much of what dampers and servos take from u where v1 is not to
 * have it, as in what is pushed apart. Of those in H it is -1/2 (v1 - u)' (H - M) (v1 + u): the
 * first of two calls is with H, the second with M, and the difference is meant. */
static double lag(step_impulse *s, const double *v1)
{
    double sum = 0;
    for (int i = 0; i < s->system->n; i++) {
        s->push[i] = v1[i] + s->u[i];
    }
    matrix_times(&s->H, s->push, s->other);
    for (int i = 0; i < s->system->n; i++) {
        sum -= 0.5 * (v1[i] - s->u[i]) * s->other[i];
    }
    return sum;
}

/* The same for motors with limits: for their impulses, minus those of the first half. */
static double lag_of_boxes(const step_impulse *s, const double *v1)
{
    const impulse_problem *p = &s->aside;
    double sum = 0;
    for (int k = 0; k < p->blocks; k++) {
        if (p->key[k] < IMPULSE_MOTORS || p->key[k] >= IMPULSE_CONTACTS) {
            continue;
        }
        int row = p->first[k];
        double first = impulse_late(s) / s->fall * problem_multiplier(&s->problem, p->key[k], 0);
        for (int e = p->start[row]; e < p->start[row + 1]; e++) {
            int i = p->column[e];
            sum += 0.5 * (p->answer.lambda[row] - first) * p->value[e] * (v1[i] + s->u[i]);
        }
    }
    return sum;
}

zw_status impulse_close(step_impulse *s, double *v1, zw_error *error)
{
    const impulse_problem *p = &s->problem, *aside = &s->aside;
    int works = s->system->works;
    /* multipliers of the first half, before the second changes them */
    double driven = works ? impulse_joint_work(s, p, p->guess, s->v0, s->u) : 0;
    double rubbed = works ? impulse_contact_work(s, p, p->guess, s->v0, s->u) : 0;
    zw_status status = find_v1(s, v1, error);
    if (status == ZW_OK && works) {
        const double *lambda = aside->answer.lambda;
        rubbed += impulse_contact_work(s, aside, lambda, s->u, v1);
        driven += impulse_joint_work(s, aside, lambda, s->u, v1) + impulse_forces_work(s);
        int apart = impulse_pushes_apart(s);
        double lagged = apart ? lag_of_boxes(s, v1) + lag(s, v1) : 0;
        matrix_set(&s->H, s->system, s->work->sweeps); /* M(q1) */
        lagged -= apart ? lag(s, v1) : 0;
        double lifted = impulse_lift(s, s->begin, s->work->sweeps, v1);
        s->driven = driven + 2 * lifted + lagged;
        s->gained += driven + rubbed + lifted + lagged;
    }
    return status;
}

/* The time of an impact as an unknown of the rounds.
 *
 * A flight (impulse_bounce.c) ends where a gap closes that has no rows in it. Its length h is then
 * an unknown in addition to u, with one more equation, gap(q0 (+) h u) = 0, and rounds are Newton's
 * method for all of them: beside the step du of impulse_chord.c, the same factors give
 *
 *     (N + k B' D G) u' = - dr/dh - B' k D dw/dh,      lambda' = - k D (dw/dh + G u')
 *
 * with which u and lambda grow with h. Forces are the same all the time, so that the part of r that
 * they and the turning of momenta contribute is proportional to h; what moves with q1 does so by u,
 * and a gap/h decreases; forces that are at a limit grow with the time; those that give way stay:
 *
 *     dr/dh = (r - M (u - v0))/h + drift,      dw/dh = (G u - w)/h,      lambda' = lambda/h
 *
 * `drift` is what forces change with the instant at which they are taken. It is measured: after a
 * move of h, what is missing in the balance belongs to it (a secant). The gap closes at the speed
 * c(v0) at the start and c(u + h u') at the end, and in between linearly: the move of h is where
 * that parabola is 0. So u, lambda and h converge together, in about as many rounds as u alone
 * needs. Where they do not, the flight ends where it is, and another one is tried (fly_to_impact).
 */
#include <math.h>
#include <string.h>

#include "gauss/contact/choose.h"
#include "math/dense/dense.h"
#include "step/impulse/impulse.h"
#include "tree/sweeps.h"

enum { MOVES = 4 }; /* of its end, in one flight, that are larger than the one before */
#define AFRESH 0.02 /* a move by this part of the length: H is that of another flight */

void impulse_seek(step_impulse *s, double low, double high, double exact)
{
    int newton = s->chord.is_there && !s->chord.small;
    s->touch.land.seek =
        (impulse_seeking){.moves = newton ? MOVES : 0, .low = low, .high = high, .exact = exact};
    if (newton) {
        memset(s->chord.drift, 0, (size_t)s->system->n * sizeof *s->chord.drift);
    }
}

/* A gap, whose row gives its opening speed. */
static void note(step_impulse *s, double gap, int count, const int *column, const double *row,
                 double rest)
{
    impulse_seeking *seek = &s->touch.land.seek;
    double speed = -rest, *nearing = s->chord.nearing;
    for (int e = 0; e < count; e++) {
        speed -= row[e] * (2 * s->u[column[e]] - s->v0[column[e]]);
    }
    if (!(speed > 0 && -gap > seek->depth)) {
        return;
    }
    seek->depth = -gap;
    seek->rest = -rest;
    memset(nearing, 0, (size_t)s->system->n * sizeof *nearing);
    for (int e = 0; e < count; e++) {
        nearing[column[e]] -= row[e];
    }
}

void impulse_seek_anew(step_impulse *s)
{
    s->touch.land.seek.depth = -INFINITY;
}

void impulse_seek_point(step_impulse *s, const double *sweeps, const contact_point *point,
                        int *column, double *J)
{
    if (s->touch.land.seek.moves > 0) {
        int count = contact_rows(s->system, point, sweeps, column, J);
        note(s, point->gap, count, column, J, 0);
    }
}

void impulse_seek_limits(step_impulse *s)
{
    const int *start = s->system->A_start, *column = s->system->A_column;
    double gap, speed;
    if (s->touch.land.seek.moves == 0 || s->limits.count == 0) {
        return;
    }
    for (int r = -1; (r = impulse_limits_next(s, r, s->u, &gap, &speed)) >= 0;) {
        note(s, gap, start[r + 1] - start[r], column + start[r], s->A + start[r], s->psi[r]);
    }
}

/* -dr/dh at the iterate. */
static void find_pull(step_impulse *s, double *pull)
{
    impulse_chord *x = &s->chord;
    const tree_mechanism *tree = s->system->tree;
    double moved = s->touch.land.seek.moved, *gained = x->first;
    for (int i = 0; i < x->n; i++) {
        gained[i] = s->u[i] - s->v0[i];
        x->drift[i] += moved != 0 ? (s->push[i] - s->r[i]) / moved : 0;
    }
    memset(pull, 0, (size_t)x->wide * sizeof *pull);
    tree_multiply(tree, tree->armature, s->begin, gained, pull);
    for (int i = 0; i < x->n; i++) {
        pull[i] = (pull[i] - s->r[i]) / s->h + x->drift[i];
    }
}

void impulse_seek_growth(step_impulse *s)
{
    impulse_chord *x = &s->chord;
    const impulse_problem *p = &s->problem;
    double *push = x->change, *u = x->first; /* u with zeros up to its width */
    find_pull(s, x->gain);
    memset(u, 0, (size_t)x->wide * sizeof *u);
    memcpy(u, s->u, (size_t)x->n * sizeof *u);
    dense_lines_times(p->rows, x->wide, x->G, u, x->growth);
    for (int i = 0; i < p->rows; i++) {
        x->growth[i] = p->give[i] > 0 ? 0 : (x->growth[i] - x->speed[i] / CHORD_WEIGHT) / s->h;
        x->dw[i] = x->growth[i];
        push[i] = 0;
    }
    chord_follow(x, push);
    for (int k = 0; k < x->units; k++) {
        const prox_unit *it = &x->unit[k];
        for (int i = it->at; i < it->at + it->rows && !chord_holds(it); i++) {
            push[i] = x->lambda[i] / s->h;
        }
    }
    dense_combine(p->rows, x->wide, push, 1, x->B, x->wide, x->gain);
    dense_ul_solve(x->n, x->K, x->wide, x->U, x->gain);
    dense_lines_times(p->rows, x->wide, x->G, x->gain, x->dw);
    chord_follow(x, push);
    for (int i = 0; i < p->rows; i++) {
        x->growth[i] = x->scale[i] * push[i];
    }
}

/* The move of its end after u has changed by this; 0: it has converged, or is unknown. */
static double move(const step_impulse *s, const double *du)
{
    const impulse_seeking *seek = &s->touch.land.seek;
    double depth = seek->depth, speed = seek->rest, before = seek->rest;
    if (seek->moves == 0 || !(depth > -INFINITY)) {
        return 0;
    }
    for (int i = 0; i < s->system->n; i++) {
        double end = du ? s->u[i] + s->h * s->chord.gain[i] : 2 * s->u[i] - s->v0[i];
        speed += s->chord.nearing[i] * end;
        before += s->chord.nearing[i] * s->v0[i];
        depth += du ? s->h * s->chord.nearing[i] * du[i] : 0;
    }
    double root = speed * speed - 2 * depth * (speed - before) / s->h;
    double by = -2 * depth / (speed + sqrt(root)), to = s->h + by;
    int off = fabs(depth) > seek->exact && speed > 0 && root >= 0;
    return off && to > seek->low && to < seek->high ? by : 0;
}

int impulse_seeks(const step_impulse *s)
{
    return move(s, NULL) != 0;
}

int impulse_seek_on(step_impulse *s)
{
    const impulse_chord *x = &s->chord;
    impulse_seeking *seek = &s->touch.land.seek;
    double by = move(s, x->way), part = by / s->h, *u = s->chord.first;
    seek->moves -= fabs(by) > fabs(seek->moved);
    seek->moved = by;
    if (by == 0) {
        return 0;
    }
    for (int i = 0; i < s->system->n; i++) {
        u[i] = s->u[i] + by * x->gain[i];
    }
    s->h += by;
    impulse_begin_length(s);
    for (int i = 0; i < s->system->n; i++) {
        s->u[i] = u[i];
    }
    problem_add(&s->problem, by, x->growth);
    if (fabs(part) <= AFRESH) {
        impulse_metric(s);
    }
    return fabs(part) > AFRESH ? 2 : 1;
}

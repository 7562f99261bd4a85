/* The time of an impact as an unknown of the rounds.
 *
 * A flight (impulse_bounce.c) ends where a gap closes that has no rows in it. Its length h is then
 * an unknown in addition to u, with one more equation, gap(q0 (+) h u) = 0. Over a short time
 * speeds change linearly: with h they change by u' = (u - v0)/h, multipliers in proportion to h,
 * and the end of the flight moves with the speeds that it has there, u + h u' = 2 u - v0. So
 *
 *     dh = (gap - h c(du))/c(2 u - v0),    c(v) = the speed at which the gap closes at v
 *
 * after each Newton step du, and u, lambda are updated by their change with h: both converge
 * together, in as many rounds as u alone needs, where flights of fixed lengths needed three to five
 * times as many. What a step of dh neglects, and how du moves the gap, is left to the next round;
 * where that does not converge, the flight ends where it is, and another one is tried
 * (fly_to_impact). */
#include <math.h>
#include <string.h>

#include "gauss/contact/choose.h"
#include "step/impulse/impulse.h"

enum { MOVES = 8 };  /* of its end, in one flight */
#define FARTHEST 0.3 /* of its length, in one move; */
#define AFRESH 0.02  /* and from which on H is that of another flight */

void impulse_seek(step_impulse *s, double low, double high, double exact)
{
    int newton = s->chord.is_there && !s->chord.small;
    s->touch.land.seek =
        (impulse_seeking){.moves = newton ? MOVES : 0, .low = low, .high = high, .exact = exact};
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

/* The move of its end after u has changed by this; 0: it has converged, or is unknown. */
static double move(const step_impulse *s, const double *du)
{
    const impulse_seeking *seek = &s->touch.land.seek;
    double depth = seek->depth, speed = seek->rest;
    if (seek->moves == 0 || !(depth > -INFINITY)) {
        return 0;
    }
    for (int i = 0; i < s->system->n; i++) {
        speed += s->chord.nearing[i] * (2 * s->u[i] - s->v0[i]);
        depth += du ? s->h * s->chord.nearing[i] * du[i] : 0;
    }
    double by = -depth / speed, to = s->h + by;
    int off = fabs(depth) > seek->exact && speed > 0;
    return off && fabs(by) <= FARTHEST * s->h && to > seek->low && to < seek->high ? by : 0;
}

int impulse_seeks(const step_impulse *s)
{
    return move(s, NULL) != 0;
}

int impulse_seek_on(step_impulse *s)
{
    double by = move(s, s->chord.way), part = by / s->h, *u = s->chord.first;
    if (by == 0) {
        return 0;
    }
    for (int i = 0; i < s->system->n; i++) {
        u[i] = s->u[i] + part * (s->u[i] - s->v0[i]);
    }
    s->h += by;
    s->touch.land.seek.moves--;
    impulse_begin_length(s);
    for (int i = 0; i < s->system->n; i++) {
        s->u[i] = u[i];
    }
    problem_scale(&s->problem, 1 + part);
    if (fabs(part) <= AFRESH) {
        impulse_metric(s);
    }
    return fabs(part) > AFRESH ? 2 : 1;
}

/* Deviations across an event.
 *
 * An event takes place when a function g(t, x, p) of the motion reaches zero; a neighbouring motion
 * reaches it later, by
 *
 *     later = - (g_x z + g_p P) / (dg/dt along the motion).
 *
 * With f- the rates before, the deviations *at the event* are moved = z + f- later. The event is a
 * map of the state (a reset, the correction by constraints, an impact: impulse.c), whose derivative
 * takes moved to moved+. With the rates f+ after the event, the deviations at constant time are
 * again
 *
 *     z+ = moved+ - f+ later.
 *
 * The integrand e of an integral over the motion jumps there from e- to e+, which adds
 * (e- - e+) later to the slope of the integral (Leibniz).
 *
 * For the impact of a ball this is the saltation matrix (Leine and Nijmeijer 2004). Where a contact
 * opens, friction begins to slide, a normal force changes its sign, or a formula bends (abs, min,
 * max), f is continuous, nothing is reset, and z+ = z: `later` is not needed. (Of the drag of a
 * body that friction holds, which bends at its speed, round-off, it is not known.) */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "gauss/contact/impact.h"
#include "look/sensitivity/sensitivity.h"

/* ---- When ------------------------------------------------------------------------------------ */

/* The derivatives of lambda, or of a, along the columns and in time: out[count][size], rate[size].
 */
static void spread(const zw_sensitivity *s, const double *by, size_t size, const double *rates,
                   double *out, double *rate)
{
    size_t n = (size_t)s->n, params = (size_t)s->params;
    memset(out, 0, (size_t)s->count * size * sizeof *out);
    memset(rate, 0, size * sizeof *rate);
    for (size_t j = 0; j < 2 * n + 1 + params; j++) {
        const double *row = by + j * size;
        double with_time = j < 2 * n ? rates[j] : j == 2 * n;
        for (size_t i = 0; i < size; i++) {
            rate[i] += with_time * row[i];
        }
        for (size_t c = 0; c < (size_t)s->count && j != 2 * n; c++) {
            double x = j < 2 * n ? s->z[c * 2 * n + j] : s->param[c * params + j - 2 * n - 1];
            for (size_t i = 0; i < size && x != 0; i++) {
                out[c * size + i] += x * row[i];
            }
        }
    }
}

/* The derivative of the guard along a direction; *timed 0: its event does not need `later`. */
static double guard_along(const zw_sensitivity *s, const run *r, int guard, const sens_way *way,
                          int *timed)
{
    const step_guards *guards = &r->guards;
    const zw_system *system = s->system;
    int other = guard - guards->events;
    *timed = 1;
    if (other < 0) {
        const model_event *event = &system->model->event[guard];
        *timed = event->reset_count > 0 || event->stops;
        return sens_along(s, s->f.root + guard, way);
    }
    if (other >= guards->others) {
        int kink = guards->kink[other - guards->others] / 2;
        *timed = s->over || kinks_jumps(&guards->kinks, kink);
        return sens_along(s, s->f.kink + kink, way);
    }
    int c = guards->constraint[other], mode = r->work->mode[c];
    if (guards->what[other] == GUARD_GAP && mode == SYSTEM_OPEN) {
        return sens_along(s, s->f.phi + system->first_row[c], way);
    }
    double sum = 0;
    *timed = guards->what[other] == GUARD_SLIP && mode == SYSTEM_CLOSED;
    for (int k = 0; k < system->slip[c].width && *timed; k++) {
        sum += r->work->hint[3 * c + k] * sens_along(s, s->f.slip[c] + k, way);
    }
    return sum;
}

static sens_way way_of(const zw_sensitivity *s, int c)
{
    size_t n = (size_t)s->n, m = (size_t)s->system->m, k = (size_t)c;
    return (sens_way){.q = s->z + k * 2 * n,
                      .v = s->z + k * 2 * n + n,
                      .param = s->param + k * (size_t)s->params,
                      .a = s->a_by + k * n,
                      .lambda = s->lambda_by + k * m};
}

/* Sets later[] from the first guard whose event needs it; a kink if another guard that fired at the
 * same time gives other values. */
static void find_moment(zw_sensitivity *s, const run *r, const int *fired, int count,
                        const double *rate)
{
    const sens_way motion = {
        .q = rate, .v = rate + s->n, .a = s->a_rate, .lambda = s->lambda_rate, .t = 1};
    s->happens = 0;
    memset(s->later, 0, (size_t)s->count * sizeof *s->later);
    for (int k = 0; k < count; k++) {
        int timed;
        double speed = guard_along(s, r, fired[k], &motion, &timed);
        if (!timed) {
            continue;
        }
        if (speed == 0) {
            sens_note_kink(s, "an event function that only touches zero");
        }
        for (int c = 0; c < s->count && speed != 0; c++) {
            sens_way way = way_of(s, c);
            double later = -guard_along(s, r, fired[k], &way, &timed) / speed;
            if (s->happens && fabs(later - s->later[c]) > 1e-7 * (1 + fabs(later))) {
                sens_note_kink(s, "simultaneous events");
            } else {
                s->later[c] = s->happens ? s->later[c] : later;
            }
        }
        s->happens = 1;
    }
}

/* ---- Before ---------------------------------------------------------------------------------- */

static void put(zw_sensitivity *s, double t, const double *y, zw_state *other)
{
    size_t n = (size_t)s->n;
    memcpy(state_param(s->now), state_param(other), (size_t)s->params * sizeof *y);
    s->now->t = t;
    memcpy(state_q(s->now), y, n * sizeof *y);
    memcpy(state_v(s->now), y + n, n * sizeof *y);
}

/* The resets of the event: all are computed from the state before it. */
static void set(zw_sensitivity *s, int event)
{
    const model_event *e = &s->system->model->event[event];
    size_t n = (size_t)s->n;
    for (int c = 0; c < s->count; c++) {
        sens_way way = way_of(s, c);
        way.q = s->moved + (size_t)c * 2 * n;
        way.v = way.q + n;
        way.t = s->later[c];
        for (int k = 0; k < e->reset_count; k++) {
            s->by[k] = sens_along(s, s->f.reset[event] + k, &way);
        }
        for (int k = 0; k < e->reset_count; k++) {
            double *to = e->reset[k].kind == MODEL_SET_COORD   ? s->moved + (size_t)c * 2 * n
                         : e->reset[k].kind == MODEL_SET_SPEED ? s->moved + (size_t)c * 2 * n + n
                                                               : s->param + c * s->params;
            to[e->reset[k].index] = s->by[k];
        }
    }
    for (int k = 0; k < e->reset_count; k++) {
        double *to = e->reset[k].kind == MODEL_SET_COORD   ? s->q0
                     : e->reset[k].kind == MODEL_SET_SPEED ? s->v0
                                                           : NULL;
        if (to) {
            to[e->reset[k].index] = sens_value(s, s->f.reset[event] + k);
        }
    }
}

static zw_status find_setting(zw_sensitivity *s, const run *r, const int *fired, int count,
                              zw_error *error)
{
    s->sets = -1;
    for (int k = 0; k < count; k++) {
        int event = fired[k] < r->guards.events ? fired[k] : -1;
        if (event < 0 || s->system->model->event[event].reset_count == 0) {
            continue;
        }
        if (s->sets >= 0) {
            return base_fail(error, ZW_BAD_INPUT,
                             "at t = %.9g events %s and %s are simultaneous and set values: their "
                             "derivatives are not supported yet",
                             s->now->t, s->system->model->event[s->sets].name,
                             s->system->model->event[event].name);
        }
        s->sets = event;
    }
    return ZW_OK;
}

zw_status sens_before(void *user, run *r, const int *fired, int count, zw_error *error)
{
    zw_sensitivity *s = user;
    const stepper_view *at = stepper_look(r->stepper);
    size_t n = (size_t)s->n, m = (size_t)s->system->m;
    double *rate = s->end_rate;
    put(s, at->t, at->y, r->state);
    zw_status status = sens_instant(s, r, rate, error);
    status = status == ZW_OK ? find_setting(s, r, fired, count, error) : status;
    if (status != ZW_OK) {
        return status;
    }
    spread(s, s->slopes->a_by, n, rate, s->a_by, s->a_rate);
    spread(s, s->slopes->lambda_by, m, rate, s->lambda_by, s->lambda_rate);
    sens_functions_run(s, &r->guards.kinks, r->work->a, r->work->push);
    find_moment(s, r, fired, count, rate);
    for (size_t c = 0; c < (size_t)s->count; c++) {
        for (size_t i = 0; i < 2 * n; i++) {
            s->moved[c * 2 * n + i] = s->z[c * 2 * n + i] + rate[i] * s->later[c];
        }
        for (size_t i = 0; i < n; i++) {
            s->a_by[c * n + i] += s->a_rate[i] * s->later[c];
        }
        for (size_t i = 0; i < m; i++) {
            s->lambda_by[c * m + i] += s->lambda_rate[i] * s->later[c];
        }
    }
    s->impacts = r->summary->impacts;
    memcpy(s->q0, at->y, n * sizeof *s->q0);
    memcpy(s->v0, at->y + n, n * sizeof *s->v0);
    memcpy(s->mode, r->work->mode, (size_t)s->system->model->constraint_count * sizeof *s->mode);
    if (s->over && s->happens) {
        s->over->moves(s->over->user, 1);
    }
    if (s->sets >= 0) {
        set(s, s->sets);
    }
    return ZW_OK;
}

/* ---- Resets ---------------------------------------------------------------------------------- */

/* The rows that correct a state after a reset: those of two-sided constraints. */
static void list_held(zw_sensitivity *s)
{
    const zw_system *system = s->system;
    for (int r = 0; r < system->m; r++) {
        s->acts[r] = system->row_kind[r] != SYSTEM_CONTACT;
    }
    memset(s->does, 0, (size_t)system->model->constraint_count * sizeof *s->does);
}

/* The correction by constraints after a reset, which leads to the state `then`. */
static zw_status correct(zw_sensitivity *s, const step_kinks *kinks, zw_state *then,
                         zw_error *error)
{
    size_t n = (size_t)s->n;
    const double *q = state_q(then), *v = state_v(then);
    for (size_t i = 0; i < n; i++) {
        if (fabs(q[i] - s->q0[i]) > 1e-9 * (1 + fabs(q[i]))) {
            return base_fail(error, ZW_BAD_INPUT,
                             "at t = %.9g event %s sets a position that the constraints do not "
                             "admit; derivatives of its correction are not supported yet",
                             then->t, s->system->model->event[s->sets].name);
        }
        s->v0[i] = fabs(v[i] - s->v0[i]) <= 1e-14 * (1 + fabs(v[i])) ? v[i] : s->v0[i];
    }
    if (s->system->m == 0) {
        return ZW_OK;
    }
    list_held(s);
    memcpy(s->now, then, then->bytes);
    const sens_push push = {.v0 = s->v0, .acts = s->acts, .does = s->does};
    zw_status status = sens_settle(s, kinks, &push, NULL, s->moved, s->later, error);
    return status == ZW_OK ? sens_impulse(s, kinks, &push, s->moved, s->later, error) : status;
}

/* ---- Impact ---------------------------------------------------------------------------------- */

/* Does the contact of row r touch at s->now? */
static int touches(const zw_sensitivity *s, int r)
{
    const sens_function *f = &s->f.list[s->f.phi + r];
    double size = 0;
    for (int k = 0; k < f->count; k++) {
        const sens_leaf *leaf = &s->f.leaf[f->first + k];
        size += leaf->kind == EXPR_COORD
                    ? fabs(s->f.out[f->at + 1 + k] * state_q(s->now)[leaf->index])
                    : 0;
    }
    return sens_value(s, s->f.phi + r) <= gauss_touch(size);
}

static double fastest(const zw_sensitivity *s, const double *v)
{
    double most = 0;
    for (int i = 0; i < s->n; i++) {
        most = fmax(most, fabs(v[i]));
    }
    return most;
}

/* Lists what each closed contact did in the impact, from the speeds of rows `before` and `after`.
 */
static void list_impact(zw_sensitivity *s, const double *before, const double *after, double still)
{
    const zw_system *system = s->system;
    for (int r = 0; r < system->m; r++) {
        int c = system->row_constraint[r], contact = system->row_kind[r] == SYSTEM_CONTACT;
        double e = sens_value(s, s->f.restitution + c), slip = 0;
        s->bounces[r] = 0;
        s->acts[r] = 1;
        s->does[c] = SENS_APART;
        if (!contact) {
            continue;
        }
        int hits = before[r] < -still, rests = fabs(after[r]) <= still;
        s->acts[r] = touches(s, r) && (hits || rests);
        s->bounces[r] = s->acts[r] && hits && e > 0 && fabs(after[r] + e * before[r]) <= still;
        for (int k = 0; k < system->slip[c].width; k++) {
            slip = hypot(slip, sens_value(s, s->f.slip[c] + k));
        }
        if (system->slip[c].width > 0 && s->acts[r]) {
            s->does[c] = slip <= still ? SENS_STICKS : SENS_SLIDES;
        }
    }
}

/* An impact, in which the speeds jump from `v0` to those of `then`. */
static zw_status hit(zw_sensitivity *s, const step_kinks *kinks, const double *v0, zw_state *then,
                     zw_error *error)
{
    const zw_system *system = s->system;
    double *before = s->multiplier, *after = before + system->m;
    memcpy(s->now, then, then->bytes);
    memcpy(state_v(s->now), v0, (size_t)s->n * sizeof *v0);
    sens_functions_run(s, kinks, NULL, NULL);
    for (int r = 0; r < system->m; r++) {
        before[r] = sens_value(s, s->f.psi + r);
    }
    memcpy(state_v(s->now), state_v(then), (size_t)s->n * sizeof *v0);
    sens_functions_run(s, kinks, NULL, NULL);
    for (int r = 0; r < system->m; r++) {
        after[r] = sens_value(s, s->f.psi + r);
    }
    list_impact(s, before, after, 1e-9 * (1 + fastest(s, v0)));
    const sens_push push = {.v0 = v0, .acts = s->acts, .bounces = s->bounces, .does = s->does};
    return sens_impulse(s, kinks, &push, s->moved, s->later, error);
}

/* ---- After ----------------------------------------------------------------------------------- */

zw_status sens_after(void *user, run *r, zw_error *error)
{
    zw_sensitivity *s = user;
    const step_kinks *kinks = &r->guards.kinks;
    size_t n = (size_t)s->n;
    zw_state *then = r->over ? r->state : r->sample; /* before modes were determined */
    zw_status status = ZW_OK;
    double most = 0;
    s->known = 0;
    if (!s->happens) {
        return ZW_OK;
    }
    if (s->sets >= 0) {
        status = correct(s, kinks, then, error);
        memcpy(s->v0, state_v(then), n * sizeof *s->v0);
    }
    if (status == ZW_OK && r->summary->impacts > s->impacts) {
        status = hit(s, kinks, s->v0, r->state, error);
    }
    if (status == ZW_OK) {
        memcpy(s->now, r->state, r->state->bytes);
        status = sens_instant(s, r, s->end_rate, error);
    }
    for (size_t k = 0; k < 2 * n * (size_t)s->count && status == ZW_OK; k++) {
        s->z[k] = s->moved[k] - s->end_rate[k % (2 * n)] * s->later[k / (2 * n)];
    }
    if (s->over && status == ZW_OK) {
        sens_functions_run(s, kinks, NULL, NULL);
        s->over->moves(s->over->user, -1);
    }
    if (r->over) {
        memcpy(s->t_by, s->later, (size_t)s->count * sizeof *s->later);
        return status;
    }
    status = status == ZW_OK ? sens_project(s, r, s->z, &most, error) : status;
    if (most > 1e-6) {
        sens_note_kink(s, "simultaneous events");
    }
    return status;
}

#include "batch/lanes.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "step/equations8/equations8.h"
#include "step/ode/control.h"
#include "step/ode/dop853.h"

enum { ROOTS = 3 }; /* the error falls like h^8 */

/* A set of lanes, one bit each. */
typedef unsigned lane_set;

static int in(lane_set set, int lane)
{
    return (int)(set >> lane & 1u);
}

static zw_real8 *vectors(base_arena *arena, size_t count)
{
    return base_arena_bytes(arena, count * sizeof(zw_real8));
}

void batch_lanes_layout(batch_lanes *lanes, base_arena *arena)
{
    const zw_system *system = lanes->system;
    const system_tape *tape = &system->tape[PART_TERMS];
    size_t size = (size_t)lanes->size, n = (size_t)system->n;
    zw_real8 **state[] = {&lanes->y0,   &lanes->low0, &lanes->f0,        &lanes->y1,
                          &lanes->low1, &lanes->f1,   &lanes->increment, &lanes->trial};
    for (size_t k = 0; k < sizeof state / sizeof *state; k++) {
        *state[k] = vectors(arena, size);
    }
    lanes->t0 = (double *)vectors(arena, 1);
    lanes->t1 = (double *)vectors(arena, 1);
    lanes->h = (double *)vectors(arena, 1);
    lanes->t = vectors(arena, 1);
    lanes->stage = vectors(arena, STEP_DOP853_STAGES * size);
    lanes->H = vectors(arena, n * n);
    lanes->param = (double *)vectors(arena, (size_t)system->shape.params);
    lanes->registers = (double *)vectors(arena, expr_tape_registers(tape->code));
    lanes->out = (double *)vectors(arena, (size_t)tape->count);
    lanes->weight = base_arena_doubles(arena, size);
    lanes->alone_y = base_arena_doubles(arena, size);
    lanes->alone_dy = base_arena_doubles(arena, size);
    lanes->alone_param = base_arena_doubles(arena, (size_t)system->shape.params);
}

/* ---- The field ------------------------------------------------------------------------------ */

static void gather(int n, const double *lanes, int lane, double *x)
{
    for (int i = 0; i < n; i++) {
        x[i] = lanes[i * LANES + lane];
    }
}

static void scatter(int n, const double *x, double *lanes, int lane)
{
    for (int i = 0; i < n; i++) {
        lanes[i * LANES + lane] = x[i];
    }
}

/* Does what step_evaluate does with motion_field, for the world of one lane. */
static zw_status evaluate_alone(batch_lanes *l, int lane, const zw_real8 *y, zw_real8 *dy)
{
    zw_error *error = &l->error[lane];
    const zw_system *system = l->system;
    zw_work *work = l->alone->work;
    double t = ((const double *)l->t)[lane];
    gather(l->size, (const double *)y, lane, l->alone_y);
    zw_status status = step_check_finite(l->size, l->alone_y, "state", t, &l->culprit[lane], error);
    if (status == ZW_OK) {
        l->evaluations[lane]++;
        gather(system->shape.params, l->param, lane, l->alone_param);
        system_bind(system, work, l->alone_param);
        status = motion_field(l->alone, t, l->alone_y, l->alone_dy, error);
    }
    if (status == ZW_OK) {
        status =
            step_check_finite(l->size, l->alone_dy, "rate of state", t, &l->culprit[lane], error);
    }
    scatter(l->size, l->alone_dy, (double *)dy, lane);
    return status;
}

/* dy = f(t, y), at t = l->t. Returns the lanes of `asked` in which that succeeded; the others have
 * a status. */
static lane_set evaluate(batch_lanes *l, const zw_real8 *y, zw_real8 *dy, lane_set asked)
{
    const zw_system *system = l->system;
    const expr_inputs8 in8 = {
        .t = (const double *)l->t, .q = (const double *)y, .v = (const double *)(y + system->n)};
    zw_mask8 good;
    expr_tape_run8(system->tape[PART_TERMS].code, &in8, l->registers, l->out);
    equations8_rates(system, (const zw_real8 *)(const void *)l->out, y, l->H, dy, &good);
    lane_set well = asked;
    for (int k = 0; k < LANES; k++) {
        if (!in(asked, k)) {
            continue;
        }
        if (good[k]) {
            l->evaluations[k]++;
        } else {
            l->status[k] = evaluate_alone(l, k, y, dy);
            well &= ~((lane_set)(l->status[k] != ZW_OK) << k);
        }
    }
    return well;
}

/* ---- A world enters a lane ------------------------------------------------------------------ */

static void blend(const batch_lanes *l, lane_set set, const zw_real8 *from, zw_real8 *to)
{
    zw_mask8 mask;
    for (int k = 0; k < LANES; k++) {
        mask[k] = in(set, k) ? -1 : 0;
    }
    equations8_blend(l->size, &mask, from, to);
}

static void enter(batch_lanes *l, int lane, double t, const double *y, const double *param)
{
    l->t0[lane] = l->start[lane] = l->then[lane] = t;
    l->since[lane] = 0;
    l->last_size[lane] = 1e-4;
    l->mishaps[lane] = l->again[lane] = 0;
    l->culprit[lane] = -1;
    l->steps[lane] = l->rejected[lane] = l->evaluations[lane] = 0;
    l->status[lane] = ZW_OK;
    scatter(l->size, y, (double *)l->y0, lane);
    for (int i = 0; i < l->size; i++) {
        ((double *)l->low0)[i * LANES + lane] = 0;
    }
    for (int i = 0; i < l->system->shape.params; i++) {
        l->is_bound &= l->param[i * LANES + lane] == param[i];
    }
    scatter(l->system->shape.params, param, l->param, lane);
}

/* The largest |x| in units of the tolerance at y0. */
static double size_of(const batch_lanes *l, int lane, const double *x, const double *minus)
{
    double worst = 0;
    for (int i = 0; i < l->size; i++) {
        int at = i * LANES + lane;
        double scale = l->tolerance * (l->weight[i] + fabs(((const double *)l->y0)[at]));
        worst = fmax(worst, fabs(minus ? x[at] - minus[at] : x[at]) / scale);
    }
    return worst;
}

/* As first_step in ode.c, for the lanes of the set. */
static void first_steps(batch_lanes *l, lane_set set)
{
    double d1[LANES] = {0}, h0[LANES] = {0};
    const double *y0 = (const double *)l->y0, *f0 = (const double *)l->f0;
    double *trial = (double *)l->trial;
    for (int k = 0; k < LANES; k++) {
        if (in(set, k)) {
            d1[k] = size_of(l, k, f0, NULL);
            h0[k] = step_first_trial(size_of(l, k, y0, NULL), d1[k], fabs(l->limit[k] - l->t0[k]),
                                     l->largest);
        }
        for (int i = 0; i < l->size; i++) {
            trial[i * LANES + k] = y0[i * LANES + k] + h0[k] * f0[i * LANES + k];
        }
        ((double *)l->t)[k] = l->t0[k] + h0[k];
    }
    lane_set well = evaluate(l, l->trial, l->f1, set);
    for (int k = 0; k < LANES; k++) {
        if (!in(set, k)) {
            continue;
        }
        double d2 = size_of(l, k, (const double *)l->f1, f0);
        double next = in(well, k)
                          ? step_first(d1[k], d2, h0[k], fabs(l->limit[k] - l->t0[k]), ROOTS)
                          : 0.01 * h0[k];
        l->length[k] = fmin(next, l->largest);
        l->status[k] = ZW_OK;
    }
}

/* Fills idle lanes with worlds from the queue until all are busy or none is left. */
static void fill(batch_lanes *l, const batch_queue *queue)
{
    for (;;) {
        lane_set new = 0;
        for (int k = 0; k < LANES; k++) {
            double t = 0;
            const double *y = NULL, *param = NULL;
            if (l->world[k] < 0 &&
                (l->world[k] = queue->next(queue->user, &t, &l->limit[k], &y, &param)) >= 0) {
                enter(l, k, t, y, param);
                new |= 1u << k;
            }
        }
        if (new == 0) {
            return;
        }
        if (!l->is_bound) {
            expr_tape_prepare8(l->system->tape[PART_TERMS].code, l->param, l->registers);
            l->is_bound = 1;
        }
        memcpy(l->t, l->t0, sizeof *l->t);
        lane_set well = evaluate(l, l->y0, l->f1, new);
        blend(l, well, l->f1, l->f0);
        first_steps(l, well);
        for (int k = 0; k < LANES; k++) {
            if (in(new & ~well, k)) {
                queue->done(queue->user, l, k, l->status[k]);
                l->world[k] = -1;
            }
        }
    }
}

/* ---- A step of all lanes -------------------------------------------------------------------- */

static lane_set busy(const batch_lanes *l)
{
    lane_set set = 0;
    for (int k = 0; k < LANES; k++) {
        set |= (lane_set)(l->world[k] >= 0) << k;
    }
    return set;
}

/* The error norms; returns the lanes whose step is accepted, apart from the evaluation at
 * its end. */
static lane_set accepted(batch_lanes *l, lane_set tried)
{
    zw_real8 error[3];
    lane_set good = 0;
    step_dop853_error8(l->size, l->tolerance, l->weight, l->stage, l->y0, l->increment, error);
    for (int k = 0; k < LANES; k++) {
        if (!in(tried, k)) {
            continue;
        }
        double size = step_dop853_size(l->h[k], error[0][k], error[1][k]);
        l->culprit[k] = (int)error[2][k];
        l->error_size[k] = size;
        if (!isfinite(size)) {
            l->status[k] = base_fail(&l->error[k], ZW_INACCURATE,
                                     "the error of a step from t = %.17g is not finite", l->t0[k]);
        }
        good |= (lane_set)(size <= 1.0) << k;
    }
    return good;
}

/* Tries a step in every lane of the set; returns those that succeeded. */
static lane_set attempt(batch_lanes *l, lane_set set)
{
    lane_set alive = set;
    for (int k = 0; k < LANES; k++) {
        l->status[k] = ZW_OK;
        l->t1[k] = in(set, k) ? step_aim(l->t0[k], l->limit[k], l->length[k]) : l->t0[k];
        l->h[k] = l->t1[k] - l->t0[k];
    }
    const zw_real8 *t0 = (const zw_real8 *)(const void *)l->t0;
    const zw_real8 *h = (const zw_real8 *)(const void *)l->h;
    memcpy(l->stage, l->f0, (size_t)l->size * sizeof *l->stage);
    for (int s = 1; s < STEP_DOP853_STAGES && alive; s++) {
        step_dop853_argument8(l->size, s, h, l->stage, l->y0, l->low0, l->trial);
        *l->t = *t0 + step_dop853_c[s] * *h;
        alive = evaluate(l, l->trial, l->stage + (long)s * l->size, alive);
    }
    if (alive == 0) {
        return 0;
    }
    step_dop853_sum8(l->size, STEP_DOP853_STAGES, step_dop853_a[STEP_DOP853_STAGES], h, l->stage,
                     l->increment);
    alive = accepted(l, alive);
    if (alive) {
        step_add8(l->size, l->y0, l->low0, l->increment, l->y1, l->low1);
        memcpy(l->t, l->t1, sizeof *l->t);
        alive = evaluate(l, l->y1, l->f1, alive);
    }
    return alive;
}

static zw_status accept(batch_lanes *l, int k)
{
    double size = l->error_size[k], growth = step_dop853_growth(l->last_size[k], size);
    double next = step_longer(l->h[k], l->length[k], growth, l->again[k]);
    l->last_size[k] = fmax(size, 1e-4);
    l->steps[k]++;
    l->t0[k] = l->t1[k];
    l->length[k] = fmin(next, l->largest);
    l->mishaps[k] = l->again[k] = 0;
    const step_pace pace = {.steps = l->steps[k],
                            .start = l->start[k],
                            .t = l->t0[k],
                            .end = l->limit[k],
                            .largest = l->largest};
    return step_progress(&pace, &l->since[k], &l->then[k], &l->error[k]);
}

/* Shortens the step; a status other than ZW_OK means that it cannot. */
static zw_status reject(batch_lanes *l, int k)
{
    l->rejected[k]++;
    l->again[k] = 1;
    if (l->status[k] == ZW_OK) {
        l->length[k] = step_shorter(l->h[k], l->error_size[k], ROOTS);
    } else {
        l->length[k] = 0.25 * fabs(l->h[k]);
        l->mishaps[k]++;
    }
    if (l->mishaps[k] > STEP_MISHAPS || step_vanishes(l->t0[k], 1.0, l->length[k])) {
        return step_give_up(l->status[k], l->t0[k], l->length[k], l->tolerance, l->culprit[k], 0,
                            &l->error[k]);
    }
    return ZW_OK;
}

/* Every busy lane returns its world as it is. */
static void stop_all(batch_lanes *l, const batch_queue *queue, lane_set set)
{
    for (int k = 0; k < LANES; k++) {
        if (in(set, k)) {
            queue->done(queue->user, l, k, ZW_INTERRUPTED);
            l->world[k] = -1;
        }
    }
}

void batch_lanes_run(batch_lanes *l, const batch_queue *queue)
{
    for (int k = 0; k < LANES; k++) {
        l->world[k] = -1;
    }
    for (int i = 0; i < l->size; i++) {
        l->weight[i] = 1;
    }
    fill(l, queue);
    for (lane_set set = busy(l); set != 0; set = busy(l)) {
        lane_set made = attempt(l, set);
        blend(l, made, l->y1, l->y0);
        blend(l, made, l->low1, l->low0);
        blend(l, made, l->f1, l->f0);
        int left = 0;
        for (int k = 0; k < LANES; k++) {
            zw_status status = ZW_OK;
            if (in(made, k)) {
                status = accept(l, k);
            } else if (in(set, k)) {
                status = reject(l, k);
            }
            if (in(set, k) && (status != ZW_OK || l->t0[k] == l->limit[k])) {
                queue->done(queue->user, l, k, status);
                l->world[k] = -1;
                left = 1;
            }
        }
        if (left) {
            fill(l, queue);
        }
        if (queue->stops(queue->user, l->t0[0])) {
            stop_all(l, queue, busy(l));
        }
    }
}

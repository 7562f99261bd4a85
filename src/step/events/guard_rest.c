/* Events whose functions rest at zero.
 *
 * A constraint that holds may keep the function of an event at zero: `when y < 0` of a body that
 * lies at y = 0, `when x' > 0` of one that sticks. Its value there is round-off, and on the dense
 * output of a step, which is off the constraints by the error of the step, it is that error.
 * Neither is a crossing. A function rests at zero where its value is round-off, and its rate may be
 * zero for all that is known: their enclosures over
 *
 *     y_i +- ROUND (1 + |y_i|)     and     y_i +- tol (1 + |y_i|), y'_i +- tol (1 + |y'_i|)
 *
 * contain it, tol being the tolerance of the steps, and at least ROUND. As long as it is no farther
 * from zero than half the width of its second enclosure, it stays at rest, and it is evaluated with
 * states that are brought back to the constraints. */
#include "step/events/guard.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"

static const double ROUND = 256 * DBL_EPSILON;

int guards_make_rest(step_guards *guards)
{
    size_t size = (size_t)guards->motion->size + 1;
    guards->rests = base_alloc(((size_t)guards->parts + 1) * sizeof *guards->rests);
    guards->around = base_alloc(size * sizeof *guards->around);
    guards->near = base_alloc(size * sizeof *guards->near);
    return guards->rests && guards->around && guards->near;
}

static expr_interval around(double x, double part)
{
    return (expr_interval){x - part * (1.0 + fabs(x)), x + part * (1.0 + fabs(x))};
}

/* Enclosures of the events about where the guards were evaluated last; `rate` [size] of y, NULL:
 * any. */
static void enclose_now(const step_guards *guards, const double *rate, double part)
{
    const step_motion *motion = guards->motion;
    expr_jet *y = guards->around;
    for (int i = 0; i < motion->size; i++) {
        y[i].value = around(guards->y[i], part);
        y[i].rate = rate ? around(rate[i], part) : INTERVAL_ALL;
    }
    const expr_jets in = {
        .t = {interval_point(guards->t), interval_point(1.0)}, .q = y, .v = y + motion->system->nq};
    expr_enclose_run(guards->tape, &in, guards->jets, guards->out);
}

static int may_rest(const step_guards *guards, int i)
{
    return guards->rests[i] && interval_has(guards->out[guards->at[i]].value, 0.0);
}

void guards_find_rest(const step_guards *guards, const int *kind, double *slack)
{
    const step_motion *motion = guards->motion;
    int nq = motion->system->nq, some = 0;
    for (int i = 0; i < guards->parts; i++) {
        guards->rests[i] = kind[i] == STEP_EVENT_FORMULA && guards->kinks.latch;
        some |= guards->rests[i];
    }
    if (!some) {
        return;
    }
    enclose_now(guards, NULL, ROUND);
    some = 0;
    for (int i = 0; i < guards->parts; i++) {
        guards->rests[i] = may_rest(guards, i);
        some |= guards->rests[i];
    }
    double *rate = guards->near;
    memset(rate, 0, (size_t)motion->size * sizeof *rate);
    if (some) {
        system_rates(motion->system, guards->y, guards->y + nq, rate);
        some = system_accelerate(motion->system, motion->work, guards->t, guards->y, guards->y + nq,
                                 rate + nq, NULL) == ZW_OK;
    }
    if (some) {
        enclose_now(guards, rate, fmax(guards->tolerance, ROUND));
    }
    for (int i = 0; i < guards->parts; i++) {
        const expr_jet *g = some && guards->rests[i] ? &guards->out[guards->at[i]] : NULL;
        guards->rests[i] = g && interval_has(g->rate, 0.0) && isfinite(g->value.hi - g->value.lo);
        slack[i] = guards->rests[i] ? 0.5 * (g->value.hi - g->value.lo) : 0.0;
    }
}

int guards_is_at_rest(const step_guards *guards, int i)
{
    return guards->rests[i] && step_events_zone(guards->scan, i) > 0.0;
}

/* g of the events that rest, from the state on the constraints that is next to y. */
zw_status guards_look_at_rest(const step_guards *guards, double t, const double *y, double *g,
                              zw_error *error)
{
    const zw_system *system = guards->motion->system;
    zw_work *work = guards->motion->work;
    double *q = guards->near, *v = q + system->nq;
    int some = 0;
    for (int i = 0; i < guards->parts && !some; i++) {
        some = guards_is_at_rest(guards, i);
    }
    if (!some) {
        return ZW_OK;
    }
    memcpy(q, y, (size_t)guards->motion->size * sizeof *q);
    zw_status status = system_project_position(system, work, t, q, v, error);
    status = status == ZW_OK ? system_project_velocity(system, work, t, q, v, error) : status;
    if (status == ZW_OK) {
        status = system_evaluate(system, work, PART_EVENTS, t, q, v, work->a, work->lambda, error);
    }
    for (int i = 0; i < guards->parts && status == ZW_OK; i++) {
        if (guards_is_at_rest(guards, i)) {
            g[i] = work->out[PART_EVENTS][i];
        }
    }
    return status;
}

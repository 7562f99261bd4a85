/* Events whose functions rest at zero.
 *
 * A constraint may keep the function of an event at zero: `when y < 0` of a body that lies at y =
 * 0, `when x' > 0` of one that sticks. Its value there is round-off; on the dense output of a step,
 * which violates the constraints by the error of the step, it is that error. Neither is a crossing.
 * A function rests at zero where its value is round-off and its rate is compatible with zero: their
 * enclosures over
 *
 *     y_i +- GUARD_ROUND (1 + |y_i|)     and     y_i +- tol (1 + |y_i|), y'_i +- tol (1 + |y'_i|)
 *
 * contain it, tol being the tolerance of the steps, and at least GUARD_ROUND. As long as it is no
 * farther from zero than half the width of its second enclosure, it stays at rest, and it is
 * evaluated with states projected onto the constraints. */
#include "step/events/guard.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "system/bodies/bodies.h"

/* The accuracy to which steps with contacts bring functions to zero, relative to 1 + their size. */
static const double STOPPED = 1e-9;

int guards_make_rest(step_guards *guards)
{
    const zw_system *system = guards->motion->system;
    size_t size = (size_t)guards->motion->size + 1, parts = (size_t)guards->parts + 1;
    size_t registers = expr_tape_registers(system->tape[PART_EVENTS].code) + 1;
    guards->places =
        system->tree && system->bodies->formulas ? system->bodies->formulas->count : system->nq;
    guards->speeds = system->tree ? guards->places : system->n;
    size_t leaves = (size_t)(guards->places + 2 * guards->speeds + system->m) + 1;
    guards->rests = base_alloc(parts * sizeof *guards->rests);
    guards->around = base_alloc(leaves * sizeof *guards->around);
    guards->near = base_alloc(size * sizeof *guards->near);
    guards->rest_jets = base_alloc(registers * sizeof(expr_jet));
    guards->rest_out = base_alloc(parts * sizeof(expr_jet));
    return guards->rests && guards->around && guards->near && guards->rest_jets && guards->rest_out;
}

static expr_interval around(double x, double part)
{
    return (expr_interval){x - part * (1.0 + fabs(x)), x + part * (1.0 + fabs(x))};
}

/* Enclosures of the comparisons around the point where the guards were evaluated last; `rate`
 * [size] of y, NULL: any. */
static void enclose_now(const step_guards *guards, const double *rate, double part)
{
    const zw_system *system = guards->motion->system;
    zw_work *work = guards->motion->work;
    const expr_tape *tape = system->tape[PART_EVENTS].code;
    const expr_inputs now = {.t = guards->t,
                             .param = work->param,
                             .q = guards->y,
                             .v = guards->y + system->nq,
                             .a = rate ? rate + system->nq : NULL};
    const expr_inputs in = system_inputs(system, work, &now);
    expr_jet *q = guards->around, *v = q + guards->places;
    for (int i = 0; i < guards->places; i++) {
        const double *fast = system->tree ? in.v : rate;
        q[i].value = around(in.q[i], part);
        q[i].rate = rate ? around(fast[i], part) : INTERVAL_ALL;
    }
    for (int i = 0; i < guards->speeds; i++) {
        v[i].value = around(in.v[i], part);
        v[i].rate = rate ? around(in.a[i], part) : INTERVAL_ALL;
    }
    expr_jet *any = v + guards->speeds; /* accelerations, and forces */
    for (int i = 0; i < guards->speeds + system->m; i++) {
        any[i] = (expr_jet){INTERVAL_ALL, INTERVAL_ALL};
    }
    const expr_jets jets = {.t = {interval_point(guards->t), interval_point(1.0)},
                            .q = q,
                            .v = v,
                            .a = any,
                            .lambda = any + guards->speeds};
    expr_enclose_prepare(tape, work->registers[PART_EVENTS], guards->rest_jets);
    expr_enclose_run(tape, &jets, guards->rest_jets, guards->rest_out);
}

static int is_of_state(const step_guards *guards, int i)
{
    const zw_model *model = guards->motion->system->model;
    unsigned on = (unsigned)expr_graph_node(model->graph, guards->root[i])->depends;
    return (on & (EXPR_ON_COORD | EXPR_ON_SPEED)) && !(on & (EXPR_ON_ACCEL | EXPR_ON_LAMBDA));
}

static double half_width(expr_interval x)
{
    double width = 0.5 * (x.hi - x.lo);
    return isfinite(width) ? width : 0.0;
}

/* The slack of all comparisons in a step that contains contacts. */
static void find_slack(const step_guards *guards, double *slack)
{
    enclose_now(guards, NULL, STOPPED);
    for (int i = 0; i < guards->parts; i++) {
        slack[i] = is_of_state(guards, i) ? half_width(guards->rest_out[i].value) : 0.0;
    }
}

void guards_find_rest(const step_guards *guards, double *slack)
{
    const step_motion *motion = guards->motion;
    int nq = motion->system->nq, some = 0;
    for (int i = 0; i < guards->parts; i++) {
        guards->rests[i] = !guards->in_steps && is_of_state(guards, i);
        some |= is_of_state(guards, i);
    }
    if (some && guards->in_steps) {
        find_slack(guards, slack);
        return;
    }
    if (some) {
        enclose_now(guards, NULL, GUARD_ROUND);
    }
    some = 0;
    for (int i = 0; i < guards->parts; i++) {
        guards->rests[i] = guards->rests[i] && interval_has(guards->rest_out[i].value, 0.0);
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
        enclose_now(guards, rate, fmax(guards->tolerance, GUARD_ROUND));
    }
    for (int i = 0; i < guards->parts; i++) {
        const expr_jet *g = some && guards->rests[i] ? &guards->rest_out[i] : NULL;
        guards->rests[i] = g && interval_has(g->rate, 0.0) && half_width(g->value) > 0.0;
        slack[i] = guards->rests[i] ? half_width(g->value) : 0.0;
    }
}

int guards_is_at_rest(const step_guards *guards, int i)
{
    return guards->rests[i] && step_events_zone(guards->scan, i) > 0.0;
}

/* g of the events at rest, from the projection of y onto the constraints. */
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

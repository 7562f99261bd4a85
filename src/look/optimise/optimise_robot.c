/* A motion of a robot by its steps, its cost and the gradient of that: one backward sweep
 * (sensitivity.h). Costs over time are sums over the steps by the trapezoidal rule. A function of
 * time is constant in a step; where it jumps between two, an instant counts for both.
 *
 * A cost is a formula of quantities of the robot. Its slopes by coordinates and speeds are
 * differences of the formula over four points each, with an error of about 1e-12. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "look/optimise/optimise.h"
#include "look/sensitivity/robot.h"
#include "system/work.h"

#define SMALL 0x1p-10
static const double place[4] = {-2, -1, 1, 2};

zw_status optimise_robot_prepare(zw_optimum *o, zw_state *state)
{
    const robot_problem p = {.system = o->system, .unknown = o->unknown, .count = o->count};
    double steps = (o->options.run.time - state->t) / o->options.run.step;
    zw_status status = robot_check(&p, o->error);
    if (status == ZW_OK && !(steps >= 1 && steps < 1e7)) {
        status =
            base_fail(o->error, ZW_BAD_INPUT, "a motion of %.3g steps cannot be optimised", steps);
    }
    return status;
}

typedef struct motion_cost {
    zw_optimum *o;
    const double *x;
    long steps;
    double *param, *q, *v, *unit; /* [params] [nq] [n] [n] */
} motion_cost;

/* Sets the parameters to their values at time t. */
static void set_params(const motion_cost *s, double t)
{
    const zw_optimum *o = s->o;
    for (int k = 0; k < o->count; k++) {
        if (o->unknown[k].kind == ZW_UNKNOWN_PARAM && optimise_is_now(o, k, t)) {
            s->param[o->unknown[k].index] = s->x[k];
        }
    }
}

/* All costs of this instant with their weights. */
static double value(const motion_cost *s, double t, const double *q, const double *v, int last,
                    double weight)
{
    zw_optimum *o = s->o;
    const expr_inputs now = {.t = t, .param = s->param, .q = q, .v = v};
    system_bind(o->system, o->work, s->param);
    const expr_inputs in = system_inputs(o->system, o->work, &now);
    double sum = 0;
    for (int i = 0; i < o->model->cost_count; i++) {
        const model_cost *cost = &o->model->cost[i];
        double factor = cost->over ? weight : last, here = 0;
        if (factor != 0) {
            expr_value(o->model->graph, cost->value, &in, &here);
            o->infinite = isfinite(here) || o->infinite >= 0 ? o->infinite : i;
            sum += factor * here;
        }
    }
    return sum;
}

static double slope(const double f[4], double step)
{
    return (8 * (f[2] - f[1]) - (f[3] - f[0])) / (12 * step);
}

/* The slopes by parameters that are unknowns. */
static void add_explicit(motion_cost *s, const zw_state *state, double when, int last,
                         double weight)
{
    zw_optimum *o = s->o;
    const double *q = state_q((zw_state *)state), *v = state_v((zw_state *)state);
    double f[4];
    for (int k = 0; k < o->count; k++) {
        int j = o->unknown[k].index;
        if (o->unknown[k].kind != ZW_UNKNOWN_PARAM || !optimise_is_now(o, k, when)) {
            continue;
        }
        double was = s->param[j], step = SMALL * (1 + fabs(was));
        for (int i = 0; i < 4; i++) {
            s->param[j] = was + place[i] * step;
            f[i] = value(s, state->t, q, v, last, weight);
        }
        s->param[j] = was;
        o->gradient[k] += slope(f, step);
    }
}

/* One side of an instant: with the functions of time as they are at `when`. */
static double cost_on_side(motion_cost *s, const zw_state *state, double when, int last,
                           double weight, double *by_q, double *by_v)
{
    const zw_system *system = s->o->system;
    const double *q = state_q((zw_state *)state), *v = state_v((zw_state *)state);
    double t = state->t, f[4];
    set_params(s, when);
    for (int j = 0; j < 2 * system->n; j++) {
        for (int i = 0; i < 4; i++) {
            memcpy(s->q, q, (size_t)system->nq * sizeof *q);
            memcpy(s->v, v, (size_t)system->n * sizeof *v);
            if (j < system->n) {
                memset(s->unit, 0, (size_t)system->n * sizeof *v);
                s->unit[j] = 1;
                system_move(system, s->q, place[i] * SMALL, s->unit);
            } else {
                s->v[j - system->n] += place[i] * SMALL;
            }
            f[i] = value(s, t, s->q, s->v, last, weight);
        }
        (j < system->n ? by_q : by_v)[j % system->n] += slope(f, SMALL);
    }
    add_explicit(s, state, when, last, weight);
    return value(s, t, q, v, last, weight);
}

/* Does a function of time jump between these times? */
static int jumps(const zw_optimum *o, double before, double after)
{
    int any = 0;
    for (int k = 0; k < o->count; k++) {
        any |= optimise_is_now(o, k, before) != optimise_is_now(o, k, after);
    }
    return any;
}

static double cost_of_state(void *user, long step, const zw_state *state, double *by_q,
                            double *by_v)
{
    motion_cost *s = user;
    const zw_optimum *o = s->o;
    double h = o->options.run.step, before = state->t - h / 2, after = state->t + h / 2;
    int first = step == 0, last = step == s->steps;
    if (!o->over && !last) {
        return 0;
    }
    if (first || last || !jumps(o, before, after)) {
        return cost_on_side(s, state, last ? before : after, last, first || last ? h / 2 : h, by_q,
                            by_v);
    }
    double sum = cost_on_side(s, state, before, 0, h / 2, by_q, by_v);
    return sum + cost_on_side(s, state, after, 0, h / 2, by_q, by_v);
}

/* ---- The motion ------------------------------------------------------------------------------ */

typedef struct memory_of_motion {
    double *value, *by_q, *by_v, *by_param, *by_control;
    int *control, controls; /* parameters that are functions of time */
    void *memory, *list;
} memory_of_motion;

static int make_room(memory_of_motion *r, const zw_optimum *o, long steps)
{
    size_t n = (size_t)o->system->n, params = (size_t)o->system->shape.params;
    r->list = base_alloc(((size_t)o->count + 1) * sizeof *r->control);
    r->control = r->list;
    for (int k = 0; k < o->count && r->list; k++) {
        int of_time = isfinite(o->until[k]) && !isfinite(o->from[k]); /* its first part */
        if (of_time) {
            r->control[r->controls++] = o->unknown[k].index;
        }
    }
    size_t values = (size_t)steps * (size_t)r->controls;
    r->memory = base_alloc((2 * values + 2 * n + params + 1) * sizeof(double));
    r->value = r->memory;
    if (r->memory) {
        r->by_control = r->value + values;
        r->by_q = r->by_control + values;
        r->by_v = r->by_q + n;
        r->by_param = r->by_v + n;
    }
    return r->list && r->memory;
}

/* Writes the unknowns to the state and to the table of controls. */
static void put(const zw_optimum *o, const double *x, zw_state *state, const memory_of_motion *r,
                long steps)
{
    for (int k = 0; k < o->count; k++) {
        const zw_unknown *by = &o->unknown[k];
        if (by->kind == ZW_UNKNOWN_PARAM && optimise_is_now(o, k, state->t)) {
            state_param(state)[by->index] = x[k];
        } else if (by->kind == ZW_UNKNOWN_START) {
            state_q(state)[by->index] = x[k];
        } else if (by->kind == ZW_UNKNOWN_SPEED) {
            state_v(state)[by->index] = x[k];
        }
    }
    for (long i = 0; i < steps * r->controls; i++) {
        double t = o->start + ((double)(i / r->controls) + 0.5) * o->options.run.step;
        for (int k = 0; k < o->count; k++) {
            if (o->unknown[k].kind == ZW_UNKNOWN_PARAM && optimise_is_now(o, k, t) &&
                o->unknown[k].index == r->control[i % r->controls]) {
                r->value[i] = x[k];
            }
        }
    }
}

/* The gradient by the unknowns, from those by the initial state, parameters and controls. */
static void gather(const zw_optimum *o, const memory_of_motion *r, long steps, double *gradient)
{
    for (int k = 0; k < o->count; k++) {
        const zw_unknown *by = &o->unknown[k];
        int of_time = isfinite(o->from[k]) || isfinite(o->until[k]);
        if (by->kind == ZW_UNKNOWN_START) {
            gradient[k] += r->by_q[robot_speed_of(o->system, by->index)];
        } else if (by->kind == ZW_UNKNOWN_SPEED) {
            gradient[k] += r->by_v[by->index];
        } else if (!of_time) {
            gradient[k] += r->by_param[by->index];
        }
        for (long i = 0; i < steps * r->controls && of_time; i++) {
            double t = o->start + ((double)(i / r->controls) + 0.5) * o->options.run.step;
            if (r->control[i % r->controls] == by->index && optimise_is_now(o, k, t)) {
                gradient[k] += r->by_control[i];
            }
        }
    }
}

static zw_status follow(zw_optimum *o, const double *x, double *gradient, zw_state *state)
{
    long steps = (long)ceil((o->options.run.time - o->start) / o->options.run.step * (1 - 1e-12));
    size_t n = (size_t)o->system->n, params = (size_t)o->system->shape.params;
    memory_of_motion r = {0};
    motion_cost s = {.o = o, .x = x, .steps = steps};
    s.param = base_alloc((params + (size_t)o->system->nq + 2 * n + 1) * sizeof(double));
    zw_status status = s.param && make_room(&r, o, steps) ? ZW_OK : base_no_memory(o->error);
    if (status == ZW_OK) {
        put(o, x, state, &r, steps);
        memcpy(s.param, state_param(state), params * sizeof(double));
        s.q = s.param + params;
        s.v = s.q + o->system->nq;
        s.unit = s.v + n;
        zw_gradient_plan plan = {.run = o->options.run,
                                 .steps = steps,
                                 .controls = r.controls,
                                 .control = r.control,
                                 .value = r.value,
                                 .cost = cost_of_state,
                                 .user = &s};
        zw_gradient to = {
            .by_q = r.by_q, .by_v = r.by_v, .by_param = r.by_param, .by_control = r.by_control};
        status = zw_gradient_find(o->system, state, &plan, &to, o->error);
        o->cost = to.cost;
        o->report.kinks = to.kinks;
        gather(o, &r, steps, gradient);
    }
    base_free(s.param);
    base_free(r.memory);
    base_free(r.list);
    return status;
}

zw_status optimise_robot(zw_optimum *o, const double *x, double *gradient)
{
    zw_state *state = zw_state_create(o->system, o->work, NULL, o->error);
    o->infinite = -1;
    o->gradient = gradient;
    o->report.motions++;
    memset(gradient, 0, (size_t)o->count * sizeof *gradient);
    if (!state) {
        return o->error->status ? o->error->status : ZW_NO_MEMORY;
    }
    if (o->options.poll && o->options.poll(o->options.user, state->t)) {
        zw_state_free(state);
        return base_fail_as(o->error, ZW_INTERRUPTED);
    }
    zw_status status = follow(o, x, gradient, state);
    zw_state_free(state);
    return status == ZW_OK ? optimise_finite(o, o->options.run.time) : status;
}

/* The gradient of a number that depends on a motion: one backward sweep over its steps, or, for
 * equations, over its parts (flow.c).
 *
 * For x1 = s(x0, u) and the slopes g1 of all later costs by x1, the slopes by x0 are s_x' g1 plus
 * those of the cost of x0 itself, and those by u are s_u' g1 (steps.c). The backward sweep needs
 * the state at the start of each step, and repeats the step from there. If not all states fit into
 * memory, some are stored, evenly spaced, and the steps between two of them are repeated when
 * needed: with s of them and N/s between, each step is taken three times, and s = sqrt(N) needs the
 * least memory. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "look/rigid/rigid.h"
#include "look/sensitivity/flow.h"
#include "look/sensitivity/steps.h"
#include "step/run.h"
#include "zwang/sensitivity.h"

typedef struct sweep {
    const zw_system *system;
    const zw_gradient_plan *plan;
    sens_steps *steps; /* for method soft */
    sens_rigid *rigid; /* for method impulse */
    sens_flow *flow;   /* for equations */
    zw_run_options run;
    zw_state *now; /* the state that the cost is given */
    double t0, h;
    int kept_capacity;       /* length of memory_of_steps */
    double *memory_of_steps; /* starting values of solves, which a step passes to the next */
    size_t speeds;           /* n, and activations */
    size_t wide;             /* length of a stored state */
    long between;            /* steps between stored states */
    double *kept;            /* [steps/between + 1][wide] */
    double *piece;           /* [between][wide] */
    double *param;           /* [params] parameters of a step */
    double *by;              /* [params] slopes by these */
    double *g;               /* [2][n + speeds] slopes by q and v; those of the cost */
    zw_gradient *to;
    void *memory;
} sweep;

/* ---- Plan ------------------------------------------------------------------------------------ */

static zw_status plan_steps(const zw_system *system, const zw_state *state,
                            const zw_run_options *options, zw_run_options *plan, zw_error *error)
{
    zw_run_options requested = *options;
    requested.observer = NULL;
    requested.poll = NULL;
    requested.time = state->t + 1;
    requested.every = system->tree ? 1 : options->every;
    zw_status status = zw_run_plan(system, state, &requested, plan, error);
    if (!system->tree) {
        return status != ZW_OK         ? status
               : !(options->every > 0) ? base_fail(error, ZW_BAD_INPUT,
                                                   "a gradient of equations needs `every`: the "
                                                   "length of its steps")
                                       : ZW_OK;
    }
    if (status == ZW_OK && plan->method != ZW_METHOD_SOFT && plan->method != ZW_METHOD_IMPULSE) {
        return base_fail(
            error, ZW_BAD_INPUT,
            "derivatives of steps of robots are those of method soft or impulse, not of %s",
            zw_method_name(plan->method));
    }
    return status;
}

static zw_status check(const zw_system *system, const zw_gradient_plan *plan, zw_error *error)
{
    for (int c = 0; c < plan->controls; c++) {
        if (plan->control[c] < 0 || plan->control[c] >= system->shape.params) {
            return base_fail(error, ZW_BAD_INPUT, "control %d is not a parameter of this system",
                             c);
        }
    }
    return plan->steps >= 0 && plan->cost
               ? ZW_OK
               : base_fail(error, ZW_BAD_INPUT, "a gradient needs a cost and a number of steps");
}

/* The number of steps between stored states: 1 if all fit, or that with the least memory. */
static long distance(long steps, size_t bytes, size_t memory)
{
    double capacity = (double)memory / (double)bytes, all = (double)steps + 2;
    return all <= capacity ? 1 : (long)ceil(sqrt((double)steps + 1));
}

static zw_status make_flow(sweep *s, const zw_state *state, zw_error *error)
{
    const zw_gradient_plan *plan = s->plan;
    if (!plan->model || plan->numbers > 0) {
        return base_fail(error, ZW_BAD_INPUT,
                         plan->model ? "of equations parameters are unknowns, not numbers by name"
                                     : "a gradient of equations needs their model");
    }
    s->flow = flow_create(plan->model, s->system, &s->run, error);
    s->kept_capacity = (int)((state->bytes + sizeof(double) - 1) / sizeof(double));
    s->h = plan->run.every;
    return s->flow ? ZW_OK : error->status != ZW_OK ? error->status : ZW_NO_MEMORY;
}

static zw_status make_steps(sweep *s, const zw_state *state, zw_error *error)
{
    const zw_gradient_plan *plan = s->plan;
    if (!s->system->tree) {
        return make_flow(s, state, error);
    }
    if (s->run.method == ZW_METHOD_IMPULSE) {
        s->rigid =
            rigid_create(s->system, &s->run, plan->model, plan->number, plan->numbers, error);
        s->kept_capacity = s->rigid ? rigid_memory(s->rigid, &s->memory_of_steps) : 0;
        if (s->rigid && !rigid_make_way(s->rigid)) {
            return base_no_memory(error);
        }
    } else {
        s->steps = steps_create(s->system, s->h, error);
    }
    if (s->steps && plan->numbers > 0) {
        s->steps->number_by = s->to->by_number;
        return steps_numbers_make(s->steps, plan->model, plan->number, plan->numbers, error);
    }
    return s->steps || s->rigid ? ZW_OK : error->status != ZW_OK ? error->status : ZW_NO_MEMORY;
}

static zw_status make(sweep *s, const zw_state *state, zw_error *error)
{
    const zw_system *system = s->system;
    size_t n = (size_t)system->n, params = (size_t)system->shape.params, pieces;
    zw_status status = make_steps(s, state, error);
    if (status != ZW_OK) {
        return status;
    }
    s->speeds = n + (s->steps || s->rigid ? (size_t)system->bodies->act_count : 0);
    s->wide = (size_t)system->nq + s->speeds + (size_t)s->kept_capacity;
    s->between = distance(s->plan->steps, s->wide * sizeof(double),
                          s->plan->memory ? s->plan->memory : (size_t)64 << 20);
    pieces = (size_t)(s->plan->steps / s->between) + 1;
    size_t states = pieces + (size_t)s->between;
    s->memory =
        base_alloc((states * s->wide + 2 * params + 2 * (n + s->speeds) + 1) * sizeof(double));
    s->to->memory = states * s->wide * sizeof(double);
    if (!s->memory || zw_state_copy(state, &s->now, error) != ZW_OK) {
        return base_no_memory(error);
    }
    s->kept = s->memory;
    s->piece = s->kept + pieces * s->wide;
    s->param = s->piece + (size_t)s->between * s->wide;
    s->by = s->param + params;
    s->g = s->by + params;
    memset(s->g, 0, 2 * (n + s->speeds) * sizeof(double));
    memcpy(s->param, state_param(s->now), params * sizeof(double));
    return ZW_OK;
}

static void drop(sweep *s)
{
    steps_free(s->steps);
    rigid_free(s->rigid);
    flow_free(s->flow);
    zw_state_free(s->now);
    base_free(s->memory);
}

/* ---- Forward pass ---------------------------------------------------------------------------- */

/* A part of a motion of equations; here `from` and `to` hold q, v and then the whole zw_state. */
static zw_status take_flow(sweep *s, long step, const double *from, int differs, double *to,
                           zw_error *error)
{
    size_t nq = (size_t)s->system->nq, n = (size_t)s->system->n;
    const zw_state *begin = (const zw_state *)(from + nq + n);
    zw_status status =
        flow_take(s->flow, begin, s->param, s->t0 + (double)(step + 1) * s->h, differs, error);
    if (status == ZW_OK && to) {
        memcpy(to, state_q(s->flow->now), nq * sizeof *to);
        memcpy(to + nq, state_v(s->flow->now), n * sizeof *to);
        memcpy(to + nq + n, s->flow->now, s->flow->now->bytes);
    }
    return status;
}

static zw_status take(sweep *s, long step, const double *from, rigid_steps differs, double *to,
                      zw_error *error)
{
    const zw_gradient_plan *plan = s->plan;
    size_t nq = (size_t)s->system->nq, capacity = (size_t)s->kept_capacity;
    double t = s->t0 + (double)step * s->h;
    for (int c = 0; c < plan->controls; c++) {
        s->param[plan->control[c]] = plan->value[step * plan->controls + c];
    }
    s->to->steps++;
    if (s->flow) {
        return take_flow(s, step, from, differs != RIGID_PLAIN, to, error);
    }
    if (capacity > 0) {
        memcpy(s->memory_of_steps, from + nq + s->speeds, capacity * sizeof *from);
    }
    zw_status status = s->rigid ? rigid_take(s->rigid, t, from, from + nq, s->param, differs, error)
                                : steps_take(s->steps, t, from, from + nq, s->param, error);
    if (status == ZW_OK && to) {
        memcpy(to, s->rigid ? s->rigid->q1 : s->steps->q1, nq * sizeof *to);
        memcpy(to + nq, s->rigid ? s->rigid->v1 : s->steps->v1, s->speeds * sizeof *to);
    }
    if (status == ZW_OK && to && capacity > 0) {
        memcpy(to + nq + s->speeds, s->memory_of_steps, capacity * sizeof *to);
    }
    return status;
}

/* Takes all steps and stores some of the states; *end: the last state. */
static zw_status go(sweep *s, const zw_state *state, double *end, zw_error *error)
{
    memcpy(end, state_q((zw_state *)state), (size_t)s->system->nq * sizeof *end);
    memcpy(end + s->system->nq, state_v((zw_state *)state), s->speeds * sizeof *end);
    memset(end + s->wide - s->kept_capacity, 0, (size_t)s->kept_capacity * sizeof *end);
    if (s->flow) {
        memcpy(end + s->wide - s->kept_capacity, state, state->bytes);
    }
    zw_status status = ZW_OK;
    for (long k = 0; k < s->plan->steps && status == ZW_OK; k++) {
        if (k % s->between == 0) {
            memcpy(s->kept + (size_t)(k / s->between) * s->wide, end, s->wide * sizeof *end);
        }
        status = take(s, k, end, RIGID_PLAIN, end, error);
    }
    return status;
}

/* ---- Backward pass --------------------------------------------------------------------------- */

/* Adds the cost of the state after this many steps, and its slopes. */
static void add_cost(sweep *s, long step, const double *x)
{
    size_t n = (size_t)s->system->n, nq = (size_t)s->system->nq;
    double *cost = s->g + n + s->speeds;
    memset(cost, 0, 2 * n * sizeof *cost);
    memcpy(state_q(s->now), x, nq * sizeof *x);
    memcpy(state_v(s->now), x + nq, s->speeds * sizeof *x);
    s->now->t = s->t0 + (double)step * s->h;
    s->to->cost += s->plan->cost(s->plan->user, step, s->now, cost, cost + n);
    for (size_t i = 0; i < 2 * n; i++) {
        s->g[i] += cost[i];
    }
}

/* A backward step by the matrix of a step. */
static void matrix_back(sweep *s)
{
    size_t state = (size_t)s->rigid->state, params = (size_t)s->system->shape.params;
    size_t wide = state + (size_t)s->rigid->more;
    double *sum = s->g + state; /* scratch, later for the slopes of the cost */
    memset(sum, 0, state * sizeof *sum);
    for (size_t i = 0; i < state; i++) {
        const double *row = s->rigid->by + i * wide;
        for (size_t c = 0; c < wide; c++) {
            double part = s->g[i] * row[c];
            if (c < state) {
                sum[c] += part;
            } else if (c < state + params) {
                s->by[c - state] += part;
            } else if (s->to->by_number) {
                s->to->by_number[c - state - params] += part;
            }
        }
    }
    memcpy(s->g, sum, state * sizeof *sum);
}

static zw_status step_back(sweep *s, long k, const double *x, zw_error *error)
{
    const zw_gradient_plan *plan = s->plan;
    size_t params = (size_t)s->system->shape.params;
    double *q_by = s->g, *v_by = s->g + s->system->n;
    memset(s->by, 0, params * sizeof *s->by);
    int tape = s->rigid && s->rigid->tape;
    zw_status status = take(s, k, x, tape ? RIGID_TAPE : RIGID_MATRIX, NULL, error);
    if (status == ZW_OK && tape && rigid_tape_failed(s->rigid->tape)) {
        tape = 0;
        status = take(s, k, x, RIGID_MATRIX, NULL, error);
    }
    if (status == ZW_OK && tape) {
        status = rigid_back(s->rigid, s->g, s->by, s->to->by_number);
        if (status != ZW_OK) {
            *error = s->rigid->failure;
        }
    } else if (status == ZW_OK && s->rigid) {
        matrix_back(s);
    } else if (status == ZW_OK && s->flow) {
        flow_back(s->flow, s->g, s->by, s->g + 2 * s->system->n);
    } else if (status == ZW_OK) {
        status = steps_back(s->steps, q_by, v_by, q_by, v_by, s->by, error);
    }
    for (int c = 0; c < plan->controls && status == ZW_OK; c++) {
        double *by = &s->by[plan->control[c]];
        if (s->to->by_control) {
            s->to->by_control[k * plan->controls + c] = *by;
        }
        *by = 0;
    }
    for (size_t i = 0; i < params && s->to->by_param; i++) {
        s->to->by_param[i] += s->by[i];
    }
    add_cost(s, k, x);
    return status;
}

/* The backward steps between two stored states. */
static zw_status piece_back(sweep *s, long first, zw_error *error)
{
    long end = first + s->between < s->plan->steps ? first + s->between : s->plan->steps;
    zw_status status = ZW_OK;
    memcpy(s->piece, s->kept + (size_t)(first / s->between) * s->wide, s->wide * sizeof(double));
    for (long k = first; k + 1 < end && status == ZW_OK; k++) {
        double *x = s->piece + (size_t)(k - first) * s->wide;
        status = take(s, k, x, RIGID_PLAIN, x + s->wide, error);
    }
    for (long k = end - 1; k >= first && status == ZW_OK; k--) {
        status = step_back(s, k, s->piece + (size_t)(k - first) * s->wide, error);
    }
    return status;
}

static zw_status find(sweep *s, const zw_state *state, zw_error *error)
{
    size_t n = (size_t)s->system->n;
    double *end = base_alloc((s->wide + 1) * sizeof *end);
    if (s->rigid) {
        rigid_check_start(s->rigid, state_q((zw_state *)state));
    }
    zw_status status = end ? go(s, state, end, error) : base_no_memory(error);
    if (status == ZW_OK) {
        add_cost(s, s->plan->steps, end);
    }
    base_free(end);
    long last = s->plan->steps > 0 ? (s->plan->steps - 1) / s->between : -1;
    for (long k = last; k >= 0 && status == ZW_OK; k--) {
        status = piece_back(s, k * s->between, error);
    }
    if (s->to->by_q) {
        memcpy(s->to->by_q, s->g, n * sizeof(double));
    }
    if (s->to->by_v) {
        memcpy(s->to->by_v, s->g + n, n * sizeof(double));
    }
    s->to->kinks = s->flow    ? s->flow->kink_count
                   : s->rigid ? s->rigid->kink_count
                              : s->steps->kink_count;
    s->to->kink = s->flow ? s->flow->kink : s->rigid ? s->rigid->kink : s->steps->kink;
    return status;
}

zw_status zw_gradient_find(const zw_system *system, const zw_state *state,
                           const zw_gradient_plan *plan, zw_gradient *to, zw_error *error)
{
    zw_error mine = {0};
    sweep s = {.system = system, .plan = plan, .t0 = state->t, .to = to};
    error = error ? error : &mine;
    to->cost = 0;
    to->kinks = 0;
    to->kink = NULL;
    to->steps = 0;
    if (to->by_param) {
        memset(to->by_param, 0, (size_t)system->shape.params * sizeof(double));
    }
    if (to->by_number) {
        memset(to->by_number, 0, (size_t)plan->numbers * sizeof(double));
    }
    zw_status status = plan_steps(system, state, &plan->run, &s.run, error);
    s.h = system->tree ? s.run.step : plan->run.every;
    status = status == ZW_OK ? check(system, plan, error) : status;
    status = status == ZW_OK ? make(&s, state, error) : status;
    status = status == ZW_OK ? find(&s, state, error) : status;
    drop(&s);
    return status;
}

/* ---- One step -------------------------------------------------------------------------------- */

/* A row of slopes by q, v, activations and parameters, without those by activations. */
static void put_row(const zw_system *system, const double *row, double *to)
{
    size_t two = 2 * (size_t)system->n, acts = (size_t)system->bodies->act_count;
    memcpy(to, row, two * sizeof *to);
    memcpy(to + two, row + two + acts, (size_t)system->shape.params * sizeof *to);
}

static zw_status rigid_slopes(const zw_system *system, const zw_state *state,
                              const zw_run_options *plan, double *by, int *kinks, zw_error *error)
{
    zw_state *at = (zw_state *)state;
    sens_rigid *r = rigid_create(system, plan, NULL, NULL, 0, error);
    zw_status status =
        r ? rigid_take(r, state->t, state_q(at), state_v(at), state_param(at), RIGID_MATRIX, error)
          : error->status;
    for (int i = 0; i < 2 * system->n && status == ZW_OK; i++) {
        put_row(system, r->by + (size_t)i * (size_t)(r->state + r->more),
                by + (size_t)i * (size_t)(2 * system->n + system->shape.params));
    }
    if (kinks) {
        *kinks = r ? r->kink_count : 0;
    }
    rigid_free(r);
    return status;
}

zw_status zw_step_slopes(const zw_system *system, const zw_state *state,
                         const zw_run_options *options, double *by, int *kinks, zw_error *error)
{
    zw_state *at = (zw_state *)state;
    size_t n = (size_t)system->n, params = (size_t)system->shape.params;
    double *g = NULL;
    sens_steps *s = NULL;
    zw_run_options plan;
    zw_error mine = {0};
    error = error ? error : &mine;
    zw_status status =
        system->tree ? plan_steps(system, state, options, &plan, error)
                     : base_fail(error, ZW_BAD_INPUT,
                                 "these are equations: zw_sensitivity_run has their derivatives");
    if (status == ZW_OK && plan.method == ZW_METHOD_IMPULSE) {
        return rigid_slopes(system, state, &plan, by, kinks, error);
    }
    size_t state_count = status == ZW_OK ? 2 * n + (size_t)system->bodies->act_count : 0;
    if (status == ZW_OK) {
        s = steps_create(system, plan.step, error);
        g = base_alloc((2 * state_count + params + 1) * sizeof *g);
        status = !s ? ZW_BAD_INPUT : !g ? base_no_memory(error) : ZW_OK;
    }
    if (status == ZW_OK) {
        status = steps_take(s, state->t, state_q(at), state_v(at), state_param(at), error);
    }
    for (size_t i = 0; i < 2 * n && status == ZW_OK; i++) {
        double *row = g + state_count;
        memset(g, 0, (2 * state_count + params) * sizeof *g);
        g[i] = 1;
        status = steps_back(s, g, g + n, row, row + n, row + state_count, error);
        put_row(system, row, by + i * (2 * n + params));
    }
    if (kinks) {
        *kinks = s ? s->kink_count : 0;
    }
    steps_free(s);
    base_free(g);
    return status;
}

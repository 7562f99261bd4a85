/* A motion of equations, its cost and the gradient of that.
 *
 * cost(x) = sum of c(end), and of integrals of those over time; all are formulas of time,
 * coordinates, speeds and parameters, and with the deviations z of sensitivity.h along unknown k
 *
 *     d cost/dx_k = sum of c_q dq + c_v dv + c_p dp       at the same instants, the same weights.
 *
 * If an event ends the motion, its end comes later by t_k, which adds (c_q v + c_v a + c_t) t_k.
 * Integrals are taken by Gauss's rule in every step, over intervals no longer than a hundredth of
 * the motion. Steps end at kinks of costs and of all other formulas, at events and impacts; if the
 * time of one of these moves by t_k and the integrand jumps from c- to c+, this adds (c- - c+) t_k.
 *
 * Functions of time jump at cuts: the motion is run from one cut to the next, and the deviations of
 * a parameter count only for the unknown that is its value there. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "look/optimise/optimise.h"

enum { PARTS = 100 };

/* ---- One motion ------------------------------------------------------------------------------ */

/* Adds all costs of a kind at s->now, where they have been evaluated, times a weight. `way` of each
 * unknown is that of its deviations; a: at the end of a motion that an event has ended, else NULL.
 */
static void add_costs(zw_optimum *o, const double *z, const double *t_by, int over, double weight,
                      const double *a)
{
    zw_sensitivity *s = o->flow;
    const zw_model *model = o->system->model;
    size_t n = (size_t)o->system->n, params = (size_t)s->params;
    for (int i = 0; i < model->cost_count; i++) {
        if (model->cost[i].over != over) {
            continue;
        }
        double value = sens_value(s, s->f.cost + i);
        o->infinite = isfinite(value) || o->infinite >= 0 ? o->infinite : i;
        o->cost += weight * value;
        for (size_t c = 0; c < (size_t)o->count; c++) {
            sens_way way = {
                .q = z + c * 2 * n, .v = z + c * 2 * n + n, .param = s->param + c * params};
            o->gradient[c] += weight * sens_along(s, s->f.cost + i, &way);
            sens_way later = {.q = state_v(s->now), .v = a, .t = 1};
            if (a && t_by[c] != 0) {
                o->gradient[c] += weight * t_by[c] * sens_along(s, s->f.cost + i, &later);
            }
        }
    }
}

static void take(void *user, const double *z, double weight)
{
    add_costs(user, z, NULL, 1, weight, NULL);
}

static void moves(void *user, double way)
{
    zw_optimum *o = user;
    const zw_sensitivity *s = o->flow;
    for (int i = 0; i < o->system->model->cost_count; i++) {
        double value = o->system->model->cost[i].over ? sens_value(s, s->f.cost + i) : 0;
        for (int c = 0; c < o->count && value != 0; c++) {
            o->gradient[c] += way * value * s->later[c];
        }
    }
}

static zw_status end_of(zw_optimum *o, zw_state *state, const zw_run_summary *summary)
{
    zw_sensitivity_answer by = zw_sensitivity_look(o->flow);
    const double *a = NULL;
    if (summary->interrupted) {
        return base_fail_as(o->error, ZW_INTERRUPTED);
    }
    if (summary->stopped_by >= 0) {
        if (o->over) {
            return base_fail(o->error, ZW_BAD_INPUT,
                             "event %s ends the motion at t = %.9g: a cost over time needs motions "
                             "that all last as long",
                             zw_name(o->system, ZW_KIND_EVENT, summary->stopped_by), summary->end);
        }
        zw_status status = zw_forward(o->system, state, o->work, NULL, o->error);
        if (status != ZW_OK) {
            return status;
        }
        a = o->work->a;
    }
    o->report.kinks = by.kinks;
    memcpy(o->flow->now, state, state->bytes);
    sens_functions_run(o->flow, NULL, NULL, NULL);
    add_costs(o, by.by, by.t_by, 0, 1, a);
    return optimise_finite(o, state->t);
}

/* Sets the functions of time to their values from t to the next cut. */
static void set_piece(zw_optimum *o, const double *x, zw_state *state, double t)
{
    zw_sensitivity *s = o->flow;
    for (int k = 0; k < o->count; k++) {
        int j = o->unknown[k].index, of_time = isfinite(o->from[k]) || isfinite(o->until[k]);
        if (!of_time || o->unknown[k].kind != ZW_UNKNOWN_PARAM) {
            continue;
        }
        int now = optimise_is_now(o, k, t);
        s->param[(size_t)k * (size_t)s->params + (size_t)j] = now;
        state_param(state)[j] = now ? x[k] : state_param(state)[j];
    }
}

/* Another parameter or an initial value must not depend on a function of time, as these do not
 * change with time. */
static zw_status check_start(const zw_optimum *o)
{
    const zw_sensitivity *s = o->flow;
    size_t n = (size_t)s->n, params = (size_t)s->params;
    for (size_t k = 0; k < (size_t)o->count; k++) {
        int of_time = isfinite(o->from[k]) || isfinite(o->until[k]), other = 0;
        for (size_t j = 0; j < params && of_time; j++) {
            other |= (int)j != o->unknown[k].index && s->param[k * params + j] != 0;
        }
        for (size_t i = 0; i < 2 * n && of_time; i++) {
            other |= s->z[k * 2 * n + i] != 0;
        }
        if (other) {
            return base_fail(o->error, ZW_BAD_INPUT,
                             "%s is a function of time: no start and no other parameter may follow "
                             "from it",
                             zw_name(o->system, ZW_KIND_PARAM, o->unknown[k].index));
        }
    }
    return ZW_OK;
}

/* One piece, to cut i. */
static zw_status run_piece(zw_optimum *o, zw_state *state, int i, zw_run_summary *summary)
{
    zw_sensitivity_plan plan = {.run = o->options.run};
    const sens_over over = {
        .take = take, .moves = moves, .user = o, .part = (o->cut[o->cuts - 1] - o->cut[0]) / PARTS};
    plan.run.time = o->cut[i];
    plan.run.poll = o->options.poll;
    plan.run.user = o->options.user;
    o->flow->over = o->over ? &over : NULL;
    zw_status status = zw_sensitivity_run(o->flow, state, o->work, &plan, summary, o->error);
    o->flow->over = NULL;
    return status;
}

zw_status optimise_motion(zw_optimum *o, const double *x, double *gradient)
{
    const state_given given = {o->param, o->q, o->v};
    zw_run_summary summary = {.stopped_by = -1};
    o->cost = 0;
    o->infinite = -1;
    o->gradient = gradient;
    o->report.motions++;
    memset(gradient, 0, (size_t)o->count * sizeof *gradient);
    zw_status status = sens_given(o->system, o->unknown, o->count, x, &given, o->error);
    zw_state *state =
        status == ZW_OK ? state_create_given(o->system, &given, o->work, NULL, o->error) : NULL;
    if (!state) {
        return o->error->status ? o->error->status : ZW_NO_MEMORY;
    }
    o->flow->given = given;
    status = zw_sensitivity_start(o->flow, state, 1, o->error);
    status = status == ZW_OK ? check_start(o) : status;
    for (int i = 1; i < o->cuts && status == ZW_OK; i++) {
        set_piece(o, x, state, 0.5 * (o->cut[i - 1] + o->cut[i]));
        status = run_piece(o, state, i, &summary);
        if (summary.stopped_by >= 0 || summary.interrupted) {
            break;
        }
    }
    status = status == ZW_OK ? end_of(o, state, &summary) : status;
    zw_state_free(state);
    return status;
}

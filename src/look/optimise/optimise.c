/* The least of a cost over motions.
 *
 * cost(x) = sum of c(end), and of Simpson's rule for those over time at an even number of equal
 * parts; both are formulas of time, coordinates, speeds and parameters, and with the deviations z
 * of sensitivity.h along unknown k
 *
 *     d cost/dx_k = sum of c_q dq + c_v dv + c_p dp       at the same instants, the same weights,
 *
 * so that it is the gradient of the number that is minimised, to the accuracy of the motion. Where
 * an event ends the motion, its end comes later by t_k, and there is (c_q v + c_v a + c_t) t_k
 * more.
 *
 * The search is NLopt's. A motion that fails on the way (a start that cannot be assembled, say)
 * counts as one of infinite cost, from which the search steps back; the first must not fail. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "look/sensitivity/sensitivity.h"
#include "zwang/optimise.h"
#ifdef ZW_HAVE_NLOPT
#include <nlopt.h>
#endif

enum { MOTIONS = 1000, PARTS = 200, MANY = 100 }; /* MANY: unknowns from which on L-BFGS is used */

struct zw_optimum {
    const zw_model *model;
    const zw_system *system;
    zw_optimise_options options;
    zw_sensitivity *flow;
    zw_work *work;
    int count;
    zw_unknown *unknown;
    double *x, *origin, *low, *high, *slope, *trial; /* [count] */
    double *param, *q, *v;
    char **name;
    int over;     /* some cost is over time */
    double *time; /* [PARTS + 1] */
    zw_optimum_report report;

    /* the motion at hand */
    int seen;
    double cost;
    int infinite;     /* the first cost without a value; -1: none */
    double *gradient; /* [count] */
    zw_error *error;
    zw_status status;
    void *memory;
};

static zw_status no_memory(zw_error *error)
{
    return base_fail(error, ZW_NO_MEMORY, "%s", zw_status_text(ZW_NO_MEMORY));
}

/* ---- One motion ------------------------------------------------------------------------------ */

/* Adds all costs of a kind at a state, times a weight. a: at the end of a motion that an event has
 * ended, else NULL. */
static void judge(zw_optimum *o, const zw_state *state, const zw_sensitivity_answer *by, int over,
                  double weight, const double *a)
{
    zw_sensitivity *s = o->flow;
    const zw_model *model = o->system->model;
    size_t n = (size_t)o->system->n, params = (size_t)s->params;
    memcpy(s->now, state, state->bytes);
    sens_functions_run(s, NULL, NULL, NULL);
    for (int i = 0; i < model->cost_count; i++) {
        if (model->cost[i].over != over) {
            continue;
        }
        double value = sens_value(s, s->f.cost + i);
        o->infinite = isfinite(value) || o->infinite >= 0 ? o->infinite : i;
        o->cost += weight * value;
        for (size_t c = 0; c < (size_t)o->count; c++) {
            const double *z = by->by + c * 2 * n;
            sens_way way = {.q = z, .v = z + n, .param = s->param + c * params};
            o->gradient[c] += weight * sens_along(s, s->f.cost + i, &way);
            sens_way later = {.q = state_v(s->now), .v = a, .t = 1};
            if (a && by->t_by[c] != 0) {
                o->gradient[c] += weight * by->t_by[c] * sens_along(s, s->f.cost + i, &later);
            }
        }
    }
}

static int look(void *user, const zw_state *state, const zw_sensitivity_answer *by)
{
    zw_optimum *o = user;
    zw_state *kept = NULL;
    double part = o->time[1] - o->time[0];
    int k = o->seen++;
    double weight = part / 3 * (k == 0 || k == PARTS ? 1 : k % 2 ? 4 : 2);
    if (zw_state_copy(o->flow->now, &kept, o->error) != ZW_OK) {
        return 1;
    }
    judge(o, state, by, 1, weight, NULL);
    memcpy(o->flow->now, kept, kept->bytes);
    zw_state_free(kept);
    return 0;
}

static zw_status end_of(zw_optimum *o, zw_state *state, const zw_run_summary *summary)
{
    zw_sensitivity_answer by = zw_sensitivity_look(o->flow);
    const double *a = NULL;
    if (summary->interrupted) {
        return base_fail(o->error, ZW_INTERRUPTED, "%s", zw_status_text(ZW_INTERRUPTED));
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
    judge(o, state, &by, 0, 1, a);
    if (o->infinite >= 0) {
        const zw_model *model = o->system->model;
        return model_fail(model, o->error, ZW_NOT_FINITE, model->cost[o->infinite].place,
                          "this cost has no value at t = %.9g", state->t);
    }
    return isfinite(o->cost) ? ZW_OK : base_fail(o->error, ZW_NOT_FINITE, "the cost is not finite");
}

/* o->cost and the gradient at x. */
static zw_status evaluate(zw_optimum *o, const double *x, double *gradient)
{
    const state_given given = {o->param, o->q, o->v};
    zw_run_summary summary;
    o->cost = 0;
    o->infinite = -1;
    o->seen = 0;
    o->gradient = gradient;
    o->report.motions++;
    memset(gradient, 0, (size_t)o->count * sizeof *gradient);
    zw_status status = sens_given(o->system, o->unknown, o->count, x, &given, o->error);
    zw_state *state =
        status == ZW_OK ? state_create_given(o->system, &given, o->work, NULL, o->error) : NULL;
    if (!state) {
        return o->error->status ? o->error->status : ZW_NO_MEMORY;
    }
    zw_sensitivity_plan plan = {.run = o->options.run,
                                .times = o->over ? PARTS + 1 : 0,
                                .time = o->time,
                                .observer = look,
                                .user = o};
    plan.run.poll = o->options.poll;
    plan.run.user = o->options.user;
    o->flow->given = given;
    status = zw_sensitivity_start(o->flow, state, 1, o->error);
    if (status == ZW_OK) {
        status = zw_sensitivity_run(o->flow, state, o->work, &plan, &summary, o->error);
    }
    status = status == ZW_OK ? end_of(o, state, &summary) : status;
    zw_state_free(state);
    return status;
}

/* ---- The search ------------------------------------------------------------------------------ */

/* The largest slope that is not pushed against a bound. */
static double slope_of(const zw_optimum *o, const double *x, const double *gradient)
{
    double most = 0;
    for (int k = 0; k < o->count; k++) {
        int held =
            (x[k] <= o->low[k] && gradient[k] > 0) || (x[k] >= o->high[k] && gradient[k] < 0);
        most = held ? most : fmax(most, fabs(gradient[k]));
    }
    return most;
}

#ifdef ZW_HAVE_NLOPT
typedef struct searcher {
    zw_optimum *o;
    nlopt_opt nlopt;
} searcher;

static double objective(unsigned count, const double *x, double *gradient, void *user)
{
    searcher *s = user;
    zw_optimum *o = s->o;
    size_t bytes = count * sizeof *x;
    zw_status status = evaluate(o, x, o->trial);
    if (status == ZW_INTERRUPTED || status == ZW_NO_MEMORY ||
        (status != ZW_OK && o->report.motions == 1)) {
        o->status = status;
        nlopt_force_stop(s->nlopt);
        return HUGE_VAL;
    }
    if (status != ZW_OK) {
        if (gradient) {
            memset(gradient, 0, bytes);
        }
        return HUGE_VAL;
    }
    if (gradient) {
        memcpy(gradient, o->trial, bytes);
    }
    if (o->report.motions == 1 || o->cost < o->report.cost) {
        o->report.before = o->report.motions == 1 ? o->cost : o->report.before;
        o->report.cost = o->cost;
        memcpy(o->x, x, bytes);
        memcpy(o->slope, o->trial, bytes);
    }
    return o->cost;
}

static zw_status search(zw_optimum *o)
{
    unsigned count = (unsigned)o->count;
    searcher own = {o, nlopt_create(count < MANY ? NLOPT_LD_SLSQP : NLOPT_LD_LBFGS, count)};
    double cost;
    if (!own.nlopt) {
        return no_memory(o->error);
    }
    nlopt_set_min_objective(own.nlopt, objective, &own);
    nlopt_set_lower_bounds(own.nlopt, o->low);
    nlopt_set_upper_bounds(own.nlopt, o->high);
    nlopt_set_xtol_rel(own.nlopt, 1e-12);
    nlopt_set_ftol_rel(own.nlopt, 1e-9);
    nlopt_set_ftol_abs(own.nlopt, 1e-18);
    nlopt_set_maxeval(own.nlopt, o->options.motions > 0 ? o->options.motions : MOTIONS);
    double *at = base_alloc(((size_t)count + 1) * sizeof *at);
    nlopt_result result = NLOPT_OUT_OF_MEMORY;
    if (at) {
        memcpy(at, o->x, (size_t)count * sizeof *at);
        result = nlopt_optimize(own.nlopt, at, &cost);
    }
    base_free(at);
    nlopt_destroy(own.nlopt);
    o->report.converged = result > 0 && result != NLOPT_MAXEVAL_REACHED;
    return o->status != ZW_OK              ? o->status /* where it ended is what was found, too */
           : result == NLOPT_OUT_OF_MEMORY ? no_memory(o->error)
                                           : ZW_OK;
}
#else
static zw_status search(zw_optimum *o)
{
    return base_fail(
        o->error, ZW_BAD_INPUT,
        "this zwang was built without NLopt, which optimise needs (Debian: libnlopt-dev)");
}
#endif

/* ---- Life ------------------------------------------------------------------------------------ */

static void lay_out(zw_optimum *o, base_arena *arena)
{
    size_t count = (size_t)o->count, n = (size_t)o->system->n;
    double **list[] = {&o->x, &o->origin, &o->low, &o->high, &o->slope, &o->trial};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        *list[k] = base_arena_doubles(arena, count);
    }
    o->param = base_arena_doubles(arena, (size_t)o->system->shape.params);
    o->q = base_arena_doubles(arena, n);
    o->v = base_arena_doubles(arena, n);
    o->time = base_arena_doubles(arena, PARTS + 1);
    o->unknown = (zw_unknown *)base_arena_bytes(arena, count * sizeof *o->unknown);
    o->name = (char **)base_arena_bytes(arena, (count + 1) * sizeof *o->name);
}

static int name_unknown(zw_optimum *o, int k)
{
    const zw_unknown *by = &o->unknown[k];
    int param = by->kind == ZW_UNKNOWN_PARAM;
    const char *name = zw_name(o->system, param ? ZW_KIND_PARAM : ZW_KIND_COORD, by->index);
    size_t room = strlen(name) + 8;
    o->name[k] = base_alloc(room);
    if (o->name[k]) {
        snprintf(o->name[k], room, "%s%s", name,
                 param                          ? ""
                 : by->kind == ZW_UNKNOWN_START ? "(0)"
                                                : "'(0)");
    }
    return o->name[k] != NULL;
}

static zw_status take_unknowns(zw_optimum *o)
{
    static const zw_unknown_kind kind[] = {ZW_UNKNOWN_START, ZW_UNKNOWN_SPEED, ZW_UNKNOWN_PARAM};
    const zw_model *model = o->system->model;
    zw_state *state = zw_state_create(o->system, o->work, NULL, o->error);
    if (!state) {
        return o->error->status ? o->error->status : ZW_NO_MEMORY;
    }
    int named = 1;
    for (int k = 0; k < o->count; k++) {
        const model_vary *vary = &model->vary[k];
        o->unknown[k] = (zw_unknown){kind[vary->kind], vary->index};
        o->low[k] = vary->low;
        o->high[k] = vary->high;
        o->origin[k] = sens_origin(o->system, &o->unknown[k], state);
        o->x[k] = fmin(fmax(o->origin[k], vary->low), vary->high);
        named &= name_unknown(o, k);
    }
    for (int i = 0; i < o->system->n; i++) {
        o->q[i] = o->v[i] = NAN; /* as the file has them */
    }
    zw_run_options found;
    zw_status status = zw_run_plan(o->system, state, &o->options.run, &found, o->error);
    if (status == ZW_OK) {
        o->options.run = found;
        for (int k = 0; k <= PARTS; k++) {
            o->time[k] = state->t + (found.time - state->t) * k / PARTS;
        }
    }
    zw_state_free(state);
    return named ? status : no_memory(o->error);
}

static zw_status prepare(zw_optimum *o)
{
    const zw_model *model = o->system->model;
    base_arena arena = {0};
    if (model->cost_count == 0 || model->vary_count == 0) {
        return base_fail(o->error, ZW_BAD_INPUT,
                         model->cost_count == 0
                             ? "there is nothing to minimise; add a line such as: cost (x - 1)^2"
                             : "nothing may vary; add a line such as: vary m, mu = 0..1, x'(0)");
    }
    o->count = model->vary_count;
    for (int i = 0; i < model->cost_count; i++) {
        o->over |= model->cost[i].over;
    }
    lay_out(o, &arena);
    o->memory = base_alloc(arena.used + 1);
    if (!o->memory) {
        return no_memory(o->error);
    }
    arena = (base_arena){.block = o->memory};
    lay_out(o, &arena);
    o->work = zw_work_create(o->system, o->error);
    zw_status status = o->work ? take_unknowns(o) : ZW_NO_MEMORY;
    if (status == ZW_OK) {
        o->flow = zw_sensitivity_create(o->model, o->system, o->unknown, o->count, o->error);
        status = o->flow ? ZW_OK : o->error->status;
    }
    return status;
}

zw_optimum *zw_optimise(const zw_model *model, const zw_system *system,
                        const zw_optimise_options *options, zw_error *error)
{
    zw_error mine = {0};
    zw_optimum *o = base_alloc(sizeof *o);
    if (!o) {
        no_memory(error);
        return NULL;
    }
    o->model = model;
    o->system = system;
    o->options = options ? *options : (zw_optimise_options){0};
    o->error = error ? error : &mine;
    o->error->status = ZW_OK;
    if (prepare(o) != ZW_OK || search(o) != ZW_OK) {
        zw_optimum_free(o);
        return NULL;
    }
    o->report.unknowns = o->count;
    o->report.slope = slope_of(o, o->x, o->slope);
    o->error = NULL;
    return o;
}

void zw_optimum_free(zw_optimum *o)
{
    if (o) {
        for (int k = 0; o->name && k < o->count; k++) {
            base_free(o->name[k]);
        }
        zw_sensitivity_free(o->flow);
        zw_work_free(o->work);
        base_free(o->memory);
        base_free(o);
    }
}

zw_optimum_report zw_optimum_report_of(const zw_optimum *o)
{
    return o->report;
}

zw_optimum_value zw_optimum_look(const zw_optimum *o, int k)
{
    return (zw_optimum_value){.name = o->name[k],
                              .before = o->origin[k],
                              .value = o->x[k],
                              .low = o->low[k],
                              .high = o->high[k],
                              .at_bound = o->x[k] <= o->low[k]    ? -1
                                          : o->x[k] >= o->high[k] ? 1
                                                                  : 0};
}

/* Minimises a cost over motions: the unknowns, and the search, which is NLopt's. A motion that
 * fails during the search (for example a start that cannot be assembled) has an infinite cost, from
 * which the search steps back; the first must not fail.
 *
 * A parameter that is a function of time is constant in each of its parts, and an unknown in each.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "look/optimise/optimise.h"
#include "look/sensitivity/robot.h"
#ifdef ZW_HAVE_NLOPT
#include <nlopt.h>
#endif

#define NOTHING 1e-18 /* of a cost */
#define GAIN 1e-3     /* relative to the cost: a search that gains less is the last one */
enum { MOTIONS = 1000, MANY = 100 }; /* MANY: unknowns from which on L-BFGS is used */

int optimise_is_now(const zw_optimum *o, int k, double t)
{
    return t >= o->from[k] && t < o->until[k];
}

zw_status optimise_finite(const zw_optimum *o, double t)
{
    if (o->infinite >= 0) {
        return model_fail(o->model, o->error, ZW_NOT_FINITE, o->model->cost[o->infinite].place,
                          "this cost has no value at t = %.9g", t);
    }
    return isfinite(o->cost) ? ZW_OK : base_fail(o->error, ZW_NOT_FINITE, "the cost is not finite");
}

/* ---- The search ------------------------------------------------------------------------------ */

/* -1, 1: it is at its lower, upper bound; searches end within round-off of them. */
static int at_bound(const zw_optimum *o, int k, double x)
{
    double near = 1e-9 * (o->high[k] - o->low[k]);
    near = isfinite(near) ? near : 0;
    return x <= o->low[k] + near ? -1 : x >= o->high[k] - near ? 1 : 0;
}

/* The largest derivative that is not directed against a bound. */
static double slope_of(const zw_optimum *o, const double *x, const double *gradient)
{
    double most = 0;
    for (int k = 0; k < o->count; k++) {
        int side = at_bound(o, k, x[k]);
        int held = (side < 0 && gradient[k] > 0) || (side > 0 && gradient[k] < 0);
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
    zw_status status = (o->system->tree ? optimise_robot : optimise_motion)(o, x, o->trial);
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

/* Repeats the search from the best point as long as the cost decreases. */
static zw_status search(zw_optimum *o)
{
    unsigned count = (unsigned)o->count;
    searcher own = {o, nlopt_create(count < MANY ? NLOPT_LD_SLSQP : NLOPT_LD_LBFGS, count)};
    double cost;
    if (!own.nlopt) {
        return base_no_memory(o->error);
    }
    nlopt_set_min_objective(own.nlopt, objective, &own);
    nlopt_set_lower_bounds(own.nlopt, o->low);
    nlopt_set_upper_bounds(own.nlopt, o->high);
    nlopt_set_xtol_rel(own.nlopt, 1e-12);
    nlopt_set_ftol_rel(own.nlopt, 1e-9);
    nlopt_set_ftol_abs(own.nlopt, NOTHING);
    int most = o->options.motions > 0 ? o->options.motions : MOTIONS, ends = 0;
    double *at = base_alloc(((size_t)count + 1) * sizeof *at);
    nlopt_result result = NLOPT_OUT_OF_MEMORY;
    while (at && !ends) { /* its model of the curvature may be misleading: start without one */
        double before = o->report.motions > 0 ? o->report.cost : INFINITY;
        nlopt_set_maxeval(own.nlopt, most - o->report.motions);
        memcpy(at, o->x, (size_t)count * sizeof *at);
        result = nlopt_optimize(own.nlopt, at, &cost);
        ends = result < 0 || result == NLOPT_MAXEVAL_REACHED || o->report.motions >= most ||
               before - o->report.cost <= GAIN * fabs(o->report.cost) ||
               fabs(o->report.cost) <= NOTHING;
    }
    base_free(at);
    nlopt_destroy(own.nlopt);
    o->report.converged = result > 0 && result != NLOPT_MAXEVAL_REACHED;
    return o->status != ZW_OK ? o->status /* the point where it ended is a result, too */
           : result == NLOPT_OUT_OF_MEMORY ? base_no_memory(o->error)
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

/* ---- Creating and freeing -------------------------------------------------------------------- */

static void lay_out(zw_optimum *o, base_arena *arena)
{
    size_t count = (size_t)o->count, n = (size_t)o->system->n;
    double **list[] = {&o->x,     &o->origin, &o->low,  &o->high,
                       &o->slope, &o->trial,  &o->from, &o->until};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        *list[k] = base_arena_doubles(arena, count);
    }
    o->param = base_arena_doubles(arena, (size_t)o->system->shape.params);
    o->q = base_arena_doubles(arena, n);
    o->v = base_arena_doubles(arena, n);
    o->cut = base_arena_doubles(arena, count + 2);
    o->unknown = (zw_unknown *)base_arena_bytes(arena, count * sizeof *o->unknown);
    o->name = (char **)base_arena_bytes(arena, (count + 1) * sizeof *o->name);
}

static int name_unknown(zw_optimum *o, int k, int of_time)
{
    const zw_unknown *by = &o->unknown[k];
    int param = by->kind == ZW_UNKNOWN_PARAM, own = by->kind == ZW_UNKNOWN_SPEED && o->system->tree;
    const char *name = zw_name(o->system,
                               param ? ZW_KIND_PARAM
                               : own ? ZW_KIND_SPEED
                                     : ZW_KIND_COORD,
                               by->index);
    size_t capacity = strlen(name) + 32;
    o->name[k] = base_alloc(capacity);
    if (o->name[k] && of_time) {
        snprintf(o->name[k], capacity, "%s(%.6g)", name, o->from[k]);
    } else if (o->name[k]) {
        snprintf(o->name[k], capacity, "%s%s", name,
                 param                                 ? ""
                 : by->kind == ZW_UNKNOWN_START || own ? "(0)"
                                                       : "'(0)");
    }
    return o->name[k] != NULL;
}

/* The coordinates in formulas of robots are found in the system by their names. */
static int index_of(const zw_optimum *o, const model_vary *vary)
{
    const model_coord *coord = &o->model->coord[vary->index];
    char speed[256];
    if (!o->system->tree || vary->kind == MODEL_VARY_PARAM) {
        return vary->index;
    }
    snprintf(speed, sizeof speed, "%.200s'", coord->name);
    return vary->kind == MODEL_VARY_START ? zw_id(o->system, ZW_KIND_COORD, coord->name)
                                          : zw_id(o->system, ZW_KIND_SPEED, speed);
}

/* The unknowns of one `vary` statement, from index k on. */
static zw_status take_vary(zw_optimum *o, const model_vary *vary, zw_state *state, int *k)
{
    static const zw_unknown_kind kind[] = {ZW_UNKNOWN_START, ZW_UNKNOWN_SPEED, ZW_UNKNOWN_PARAM};
    double length = o->options.run.time - state->t;
    int parts = vary->parts > 0 ? vary->parts : 1, index = index_of(o, vary);
    if (index < 0) {
        return model_fail(o->model, o->error, ZW_BAD_INPUT, vary->place,
                          "only joints with one coordinate may start elsewhere, not %s",
                          o->model->coord[vary->index].name);
    }
    for (int i = 0; i < parts; i++, ++*k) {
        const robot_problem robot = {.unknown = &o->unknown[*k], .count = 1};
        o->unknown[*k] = (zw_unknown){kind[vary->kind], index};
        o->low[*k] = vary->low;
        o->high[*k] = vary->high;
        o->from[*k] = i > 0 ? state->t + length * i / parts : -INFINITY;
        o->until[*k] = i + 1 < parts ? state->t + length * (i + 1) / parts : INFINITY;
        if (o->system->tree) {
            robot_origin(&robot, 0, state, &o->origin[*k], o->error);
        } else {
            o->origin[*k] = sens_origin(o->system, &o->unknown[*k], state);
        }
        o->x[*k] = fmin(fmax(o->origin[*k], vary->low), vary->high);
        double from = o->from[*k];
        o->from[*k] = fmax(from, state->t); /* in the name */
        if (!name_unknown(o, *k, vary->parts > 0)) {
            return base_no_memory(o->error);
        }
        o->from[*k] = from;
    }
    return ZW_OK;
}

/* The times at which functions of time jump, in increasing order and without duplicates. */
static void find_cuts(zw_optimum *o)
{
    double end = o->options.run.time, least = 1e-12 * (end - o->start);
    o->cut[o->cuts++] = o->start;
    for (;;) {
        double next = end;
        for (int k = 0; k < o->count; k++) {
            double t = o->from[k];
            next = t > o->cut[o->cuts - 1] + least && t < next ? t : next;
        }
        o->cut[o->cuts++] = next;
        if (!(next < end)) {
            return;
        }
    }
}

static zw_status take_unknowns(zw_optimum *o)
{
    zw_state *state = zw_state_create(o->system, o->work, NULL, o->error);
    if (!state) {
        return o->error->status ? o->error->status : ZW_NO_MEMORY;
    }
    zw_run_options found;
    zw_status status = o->system->tree
                           ? robot_plan(o->system, state, &o->options.run, &found, o->error)
                           : zw_run_plan(o->system, state, &o->options.run, &found, o->error);
    o->start = state->t;
    if (status == ZW_OK) {
        o->options.run = found;
    }
    for (int i = 0, k = 0; i < o->model->vary_count && status == ZW_OK; i++) {
        status = take_vary(o, &o->model->vary[i], state, &k);
    }
    for (int i = 0; i < o->system->n; i++) {
        o->q[i] = o->v[i] = NAN; /* as in the file */
    }
    if (status == ZW_OK) {
        find_cuts(o);
    }
    if (status == ZW_OK && o->system->tree) {
        status = optimise_robot_prepare(o, state);
    }
    zw_state_free(state);
    return status;
}

static zw_status prepare(zw_optimum *o)
{
    const zw_model *model = o->model;
    base_arena arena = {0};
    if (model->cost_count == 0 || model->vary_count == 0) {
        return model_fail(
            model, o->error, ZW_BAD_INPUT, -1,
            model->cost_count == 0
                ? "there is nothing to minimise; add a line such as: cost (x - 1)^2"
                : "there is nothing to vary; add a line such as: vary m, mu = 0..1, x'(0)");
    }
    for (int i = 0; i < model->vary_count; i++) {
        o->count += model->vary[i].parts > 0 ? model->vary[i].parts : 1;
    }
    for (int i = 0; i < model->cost_count; i++) {
        o->over |= model->cost[i].over;
    }
    lay_out(o, &arena);
    o->memory = base_alloc(arena.used + 1);
    if (!o->memory) {
        return base_no_memory(o->error);
    }
    arena = (base_arena){.block = o->memory};
    lay_out(o, &arena);
    o->work = zw_work_create(o->system, o->error);
    zw_status status = o->work ? take_unknowns(o) : ZW_NO_MEMORY;
    if (status == ZW_OK && !o->system->tree) {
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
        base_no_memory(error);
        return NULL;
    }
    o->system = system;
    o->model = system->tree ? model : system->model;
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
                              .at_bound = at_bound(o, k, o->x[k])};
}

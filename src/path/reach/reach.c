#include "path/reach/reach.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "math/elementary.h"

int zw_reach_asked(const zw_system *system)
{
    return system->model->reach.place >= 0;
}

/* Was this start value given? Speeds come first, then the multipliers that the law carries. */
static int is_given(const zw_system *system, int i)
{
    const zw_model *model = system->model;
    return i < system->n ? model->coord[i].speed != EXPR_NONE
                         : model->law.given && model->law.given[system->law.row[i - system->n]];
}

int zw_reach_unknowns(const zw_system *system, const zw_state *state, zw_reach_unknown *list)
{
    const double *v = state_v((zw_state *)state); /* not modified */
    int count = 0;
    for (int i = 0; i < system->n + system->law.carried; i++) {
        if (is_given(system, i)) {
            continue;
        }
        int multiplier = i >= system->n;
        const char *name = multiplier ? zw_name(system, ZW_KIND_ROW, system->law.row[i - system->n])
                                      : zw_name(system, ZW_KIND_COORD, i);
        list[count++] = (zw_reach_unknown){.name = name, .multiplier = multiplier, .value = v[i]};
    }
    return count;
}

/* ---- Setting up ----------------------------------------------------------------------------- */

static void lay_out(reach *r, base_arena *arena)
{
    size_t n = (size_t)r->n, size = (size_t)r->size, most = 2 * n + 1;
    r->target = base_arena_doubles(arena, n + 1);
    r->is_named = base_arena_ints(arena, n + 1);
    r->target_part = base_arena_doubles(arena, n + 1);
    r->all_named = base_arena_ints(arena, n + 1);
    r->held = base_arena_ints(arena, size + 1);
    r->given = base_arena_doubles(arena, size + 1);
    reach_rows_lay_out(&r->start, arena, r->system->m + r->size, r->size);
    reach_rows_lay_out(&r->end, arena, r->system->m + r->n, r->n);
    reach_rows_lay_out(&r->step, arena, 2 * r->n, r->size);
    r->basis = base_arena_doubles(arena, size * size + 1);
    double **list[] = {&r->F, &r->F_plus, &r->F_minus, &r->F_kept, &r->wanted};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        *list[i] = base_arena_doubles(arena, most);
    }
    r->z_try = base_arena_doubles(arena, size + 1);
    r->move = base_arena_doubles(arena, size + most);
    r->kept = base_arena_doubles(arena, size + 1);
    r->z = base_arena_doubles(arena, size + 1);
    r->best = base_arena_doubles(arena, size + 1);
    r->land = base_arena_doubles(arena, (size_t)r->system->m + 2 * size + 1);
}

static zw_status allocate(reach *r)
{
    base_arena arena = {0};
    lay_out(r, &arena);
    r->memory = base_alloc(arena.used + 1);
    r->trial = state_allocate(r->system);
    if (!r->memory || !r->trial) {
        return ZW_NO_MEMORY;
    }
    arena = (base_arena){.block = r->memory};
    lay_out(r, &arena);
    return ZW_OK;
}

static void release(reach *r)
{
    zw_state_free(r->trial);
    base_free(r->memory);
    reach_terms_free(&r->interval);
    reach_terms_free(&r->node);
}

static zw_status read_targets(reach *r, zw_error *error)
{
    const zw_model *model = r->system->model;
    const expr_inputs in = {.param = state_param(r->state)};
    for (int i = 0; i < r->n; i++) {
        expr_id where = model->coord[i].reach;
        r->is_named[i] = where != EXPR_NONE;
        r->all_named[i] = 1;
        r->named += r->is_named[i];
        r->target[i] = 0;
        if (r->is_named[i] && expr_value(model->graph, where, &in, &r->target[i]) != ZW_OK) {
            return base_no_memory(error);
        }
        if (!isfinite(r->target[i])) {
            return model_fail(model, error, ZW_NOT_FINITE, model->reach.place,
                              "%s does not arrive at a finite value", model->coord[i].name);
        }
    }
    memcpy(r->given, state_v(r->state), (size_t)r->size * sizeof(double));
    for (int i = 0; i < r->size; i++) {
        r->held[i] = is_given(r->system, i);
    }
    return ZW_OK;
}

/* ---- Counting ------------------------------------------------------------------------------- */

/* How many of the named coordinates the holonomic rows leave free, in general position: the largest
 * count over a few places. `holonomic`: the rank of those rows. */
static int count_named(reach *r, int *holonomic)
{
    int asked = 0;
    *holonomic = 0;
    for (int k = 0; k < 3; k++) {
        double *q = r->move, part = k == 0 ? 0 : k == 1 ? 1 : 0.382;
        for (int i = 0; i < r->n; i++) {
            double from = state_q(r->state)[i], to = r->is_named[i] ? r->target[i] : from;
            q[i] = from + part * (to - from) + (k == 2 ? 1e-3 * math_sin(1.0 + i) : 0);
        }
        reach_end_rows(r, q, 0);
        int rows = r->end.rank;
        *holonomic = rows > *holonomic ? rows : *holonomic;
        reach_end_rows(r, q, 1);
        asked = r->end.rank - rows > asked ? r->end.rank - rows : asked;
    }
    return asked;
}

static zw_status refuse_count(const reach *r, int asked, int natural, zw_error *error)
{
    const zw_model *model = r->system->model;
    const zw_reach_report *report = &r->report;
    char more[120] = "";
    if (natural > 0) {
        snprintf(more, sizeof more, " (%d by name, and %d because their momentum vanishes)", asked,
                 natural);
    }
    return model_fail(
        model, error, ZW_BAD_INPUT, model->reach.place,
        "%d start %s unknown, but %d %s asked at the end%s; %s", report->unknowns,
        report->unknowns == 1 ? "value is" : "values are", report->conditions,
        report->conditions == 1 ? "condition is" : "conditions are", more,
        report->conditions < report->unknowns
            ? "name more coordinates, or give speeds or multipliers at the start"
            : "name fewer coordinates, or give fewer speeds or multipliers at the start");
}

/* Does the goal contradict the holonomic rows? */
static zw_status check_end(reach *r, zw_error *error)
{
    const zw_system *system = r->system;
    double *q = r->move;
    memcpy(q, r->target, (size_t)r->n * sizeof *q);
    if (r->named < r->n || system_evaluate(system, r->work, PART_POSITION, r->time, q,
                                           state_v(r->state), NULL, NULL, error) != ZW_OK) {
        return r->named < r->n ? ZW_OK : ZW_NOT_FINITE;
    }
    for (int i = 0; i < system->m; i++) {
        double miss = r->work->out[PART_POSITION][i];
        const model_constraint *c = &system->model->constraint[system->row_constraint[i]];
        int off = system->row_kind[i] == SYSTEM_CONTACT ? miss < -1e-9 : fabs(miss) > 1e-9;
        if (off) {
            return model_fail(system->model, error, ZW_NOT_REACHED, system->model->reach.place,
                              "the goal violates constraint %s by %.3g", c->name, fabs(miss));
        }
    }
    return ZW_OK;
}

/* Sets z to the speeds of a straight path, if the constraints admit them, with the other speeds
 * moved from zero by `aside`. */
static int start_off(reach *r, double *z, double aside)
{
    double duration = r->time - r->state->t, size = 0;
    memcpy(z, r->given, (size_t)r->size * sizeof *z);
    for (int i = 0; i < r->n; i++) {
        if (!r->held[i] && r->is_named[i]) {
            z[i] = (r->target[i] - state_q(r->state)[i]) / duration;
        }
        size = fmax(size, fabs(z[i]));
    }
    size = size > 0 ? size : 1;
    for (int i = 0; i < r->size && aside != 0; i++) {
        z[i] += r->held[i] ? 0 : aside * size * math_cos(1.0 + 2.399963 * i);
    }
    return reach_land(r, z);
}

/* Rows that are nonlinear in the speeds may be degenerate at rest (a cone at its apex): then it
 * starts from speeds a little to the side. */
static int straight(reach *r, double *z)
{
    int rank = start_off(r, z, 0) ? r->start.rank : -1;
    if (rank == r->start.rows) {
        return 1;
    }
    if (start_off(r, z, 0.5) && r->start.rank > rank) {
        return 1;
    }
    return start_off(r, z, 0);
}

/* Multipliers of redundant rows act as one: the number of superfluous ones among those that are
 * free. */
static int idle_multipliers(reach *r)
{
    const zw_system *system = r->system;
    const system_law *law = &system->law;
    const double *A = r->work->out[PART_VELOCITY] + system->m;
    reach_rows *rows = &r->end;
    rows->rows = 0;
    for (int j = 0; j < law->carried && law->flex == 0; j++) {
        double *row = rows->J + (long)rows->rows * r->n;
        int i = law->row[j];
        if (r->held[r->n + j]) {
            continue;
        }
        memset(row, 0, (size_t)r->n * sizeof *row);
        for (int k = system->A_start[i]; k < system->A_start[i + 1]; k++) {
            row[system->A_column[k]] += A[k];
        }
        rows->rows++;
    }
    return rows->rows - reach_rows_factor(rows, 1e-10);
}

static zw_status count(reach *r, zw_error *error)
{
    const system_law *law = &r->system->law;
    int holonomic, asked = count_named(r, &holonomic), natural = 0;
    if (!straight(r, r->z)) {
        return model_fail(r->system->model, error, ZW_NOT_REACHED, r->system->model->reach.place,
                          "no speeds at the start satisfy the constraints and what is given");
    }
    r->report.unknowns = r->unknowns = r->size - r->start.rank - idle_multipliers(r);
    if (asked != r->unknowns && law->carried > 0 && law->beta == 0) {
        r->natural = 1;
        natural = r->n - holonomic - asked;
    }
    r->conditions = r->named + (r->natural ? r->n : 0);
    r->report.conditions = asked + natural;
    return r->report.conditions == r->unknowns ? ZW_OK : refuse_count(r, asked, natural, error);
}

/* ---- Solving -------------------------------------------------------------------------------- */

/* Is the motion an extremal of the action, and the problem small enough to minimise it? */
static int is_variational(const reach *r)
{
    enum { MOST = 100 };
    const zw_system *system = r->system;
    for (int i = 0; i < r->n; i++) {
        if (system->model->coord[i].force != EXPR_ZERO) {
            return 0;
        }
    }
    for (int i = 0; i < system->m; i++) {
        int speeds = system->row_kind[i] == SYSTEM_VELOCITY;
        if (speeds ? system->law.of_row[i] < 0 || system->law.beta > 0
                   : system->law.of_row[i] >= 0 || system->row_kind[i] == SYSTEM_CONTACT) {
            return 0;
        }
    }
    for (int i = 0; i < r->size; i++) {
        if (r->held[i]) {
            return 0;
        }
    }
    return r->n <= MOST && !system->model->massless && system->model->rayleigh == EXPR_ZERO &&
           system->C_count == 0 && !system->has_friction;
}

/* Starts from the path of least action, and refines that path if the guess is not good enough. */
static int solve_least(reach *r)
{
    enum { FINER = 3 };
    reach_path *path = reach_path_create(r);
    int found = 0;
    for (int k = 0; k < FINER && path && !found && !reach_stopped(r); k++) {
        if ((k > 0 && !reach_path_refine(r, path)) || !reach_path_least(r, path, r->z)) {
            break;
        }
        memcpy(r->best, r->z, (size_t)r->size * sizeof *r->z);
        found = reach_shoot(r, r->z) && reach_along(r, path, r->z);
        if (!found && !reach_stopped(r)) {
            memcpy(r->z, r->best, (size_t)r->size * sizeof *r->z);
            found = reach_extend(r, path, r->z) && reach_along(r, path, r->z);
        }
    }
    reach_path_free(path);
    r->report.least = found;
    return found;
}

static void note_miss(reach *r)
{
    int count = 0;
    r->report.miss = 0;
    r->report.miss_coord = -1;
    for (int i = 0; i < r->n; i++) {
        double miss = r->is_named[i] ? r->F[count++] * (1 + fabs(r->target[i])) : 0;
        miss = fmax(fabs(miss), r->natural ? fabs(r->F[r->named + i]) : 0);
        if (miss > r->report.miss || r->report.miss_coord < 0) {
            r->report.miss = miss;
            r->report.miss_coord = i;
        }
    }
}

/* Keeps z if it is better than the best so far. */
static void keep(reach *r, double *least)
{
    int coord = r->report.miss_coord;
    r->most_runs = r->report.runs + 1;
    if (!reach_miss(r, r->z, r->F)) {
        return;
    }
    note_miss(r);
    if (r->report.miss < *least) {
        *least = r->report.miss;
        memcpy(r->best, r->z, (size_t)r->size * sizeof *r->z);
    } else {
        r->report.miss_coord = coord;
    }
}

static zw_status solve(reach *r, zw_error *error)
{
    static const double aside[] = {0, 0.5, -1.5};
    const zw_model *model = r->system->model;
    double least = INFINITY;
    int found = r->options.intervals >= 0 && is_variational(r) && solve_least(r);
    for (int k = 0; k < 3 && !found && !reach_stopped(r); k++) {
        if (k == 0 ? straight(r, r->z) : start_off(r, r->z, aside[k])) {
            found = reach_lead(r, r->z);
            keep(r, &least);
        }
    }
    if (found) {
        least = INFINITY; /* z is the solution, whatever else came close */
        keep(r, &least);
    }
    if (r->failure != ZW_OK) {
        return base_fail_as(error, r->failure);
    }
    if (r->report.interrupted) {
        return base_fail(error, ZW_NOT_REACHED, "interrupted before the motion was found");
    }
    if (found && isfinite(least)) {
        return ZW_OK;
    }
    r->report.miss = least;
    if (!isfinite(least)) {
        return model_fail(model, error, ZW_NOT_REACHED, model->reach.place,
                          "no motion was found that arrives there at t = %.9g", r->time);
    }
    return model_fail(model, error, ZW_NOT_REACHED, model->reach.place,
                      "no motion was found that arrives there at t = %.9g; the best one misses %s "
                      "by %.3g",
                      r->time, model->coord[r->report.miss_coord].name, least);
}

/* Everything before the search: the unknowns, the conditions, and whether they are equal
 * in number. */
static zw_status prepare(reach *r, const zw_reach_options *options, zw_error *error)
{
    const zw_system *system = r->system;
    r->n = system->n;
    r->size = system->n + system->law.carried;
    r->options = options ? *options : (zw_reach_options){0};
    r->options.tolerance = r->options.tolerance > 0 ? r->options.tolerance : 1e-13;
    r->time = r->options.time > 0 ? r->options.time : system->model->reach.time;
    r->report.miss_coord = -1;
    if (!zw_reach_asked(system)) {
        return base_fail(error, ZW_BAD_INPUT, "the model has no goal: a reach line gives one");
    }
    if (!(isfinite(r->time) && r->time > r->state->t)) {
        return base_fail(error, ZW_BAD_INPUT,
                         "the time of arrival %g is not after the present one, %g", r->time,
                         r->state->t);
    }
    if (allocate(r) != ZW_OK) {
        return base_no_memory(error);
    }
    zw_status status = read_targets(r, error);
    if (status == ZW_OK) {
        system_bind(system, r->work, state_param(r->state));
        memcpy(r->trial, r->state, r->state->bytes);
        status = check_end(r, error);
    }
    return status == ZW_OK ? count(r, error) : status;
}

static zw_status finish(reach *r, zw_reach_report *report, zw_status status)
{
    if (report) {
        *report = r->report;
    }
    release(r);
    return status;
}

zw_status zw_reach_check(const zw_system *system, const zw_state *state, zw_work *work,
                         zw_reach_report *report, zw_error *error)
{
    reach r = {.system = system, .state = (zw_state *)state, .work = work}; /* not modified */
    return finish(&r, report, prepare(&r, NULL, error));
}

zw_status zw_reach(const zw_system *system, zw_state *state, zw_work *work,
                   const zw_reach_options *options, zw_reach_report *report, zw_error *error)
{
    reach r = {.system = system, .state = state, .work = work};
    zw_status status = prepare(&r, options, error);
    status = status == ZW_OK ? solve(&r, error) : status;
    if (status == ZW_OK) {
        memcpy(state_v(state), r.best, (size_t)r.size * sizeof(double));
        status = reach_measure(&r, error);
    }
    if (status != ZW_OK && r.report.runs > 0) { /* measuring failed */
        memcpy(state_v(state), r.given, (size_t)r.size * sizeof(double));
    }
    return finish(&r, report, status);
}

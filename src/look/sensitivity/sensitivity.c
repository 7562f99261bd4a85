/* Derivatives of a motion: creating and freeing them, their initial values, and their integration
 * along a run. The equations are in follow.c (steps), jump.c (events), impulse.c (impacts,
 * assembly). */
#include "look/sensitivity/sensitivity.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* Columns that should be zero are round-off, whose error is not to shorten any step. */
#define LEAST 1e-14

void sens_note_kink(zw_sensitivity *s, const char *name)
{
    s->kink_count++;
    s->kink_name = s->kink_name ? s->kink_name : name;
}

/* ---- Creating and freeing -------------------------------------------------------------------- */

static void lay_out(zw_sensitivity *s, base_arena *arena)
{
    enum { STAGES = 16, DENSE = 7 };
    size_t n = (size_t)s->n, m = (size_t)s->system->m, count = (size_t)s->count, rows = m, most = 1;
    size_t constraints = (size_t)s->system->model->constraint_count, all = 2 * n * count;
    for (size_t c = 0; c < constraints; c++) {
        rows += (size_t)s->system->slip[c].width;
    }
    for (int i = 0; i < s->system->model->event_count; i++) {
        size_t resets = (size_t)s->system->model->event[i].reset_count;
        most = resets > most ? resets : most;
    }
    size_t wide = 2 * n + rows;
    double **of_n[] = {&s->q0, &s->v0, &s->w, &s->delta, &s->keep, &s->a_rate};
    double **of_all[] = {&s->z, &s->zs, &s->middle, &s->end, &s->end_slow, &s->moved};
    int **of_m[] = {&s->acts, &s->acts2, &s->bounces};
    int **of_c[] = {&s->does, &s->none, &s->mode};
    for (size_t i = 0; i < sizeof of_n / sizeof *of_n; i++) {
        *of_n[i] = base_arena_doubles(arena, n);
    }
    for (size_t i = 0; i < sizeof of_all / sizeof *of_all; i++) {
        *of_all[i] = base_arena_doubles(arena, all + 2 * n);
    }
    for (size_t i = 0; i < 3; i++) {
        *of_m[i] = base_arena_ints(arena, m);
        *of_c[i] = base_arena_ints(arena, constraints);
    }
    s->held = base_arena_ints(arena, n);
    s->param = base_arena_doubles(arena, count * (size_t)s->params);
    s->t_by = base_arena_doubles(arena, count);
    s->later = base_arena_doubles(arena, count);
    s->y = base_arena_doubles(arena, 2 * n);
    s->unit = base_arena_doubles(arena, count);
    s->part_y[0] = base_arena_doubles(arena, 2 * n);
    s->part_y[1] = base_arena_doubles(arena, 2 * n);
    s->end_rate = base_arena_doubles(arena, 2 * n);
    s->sample_y = base_arena_doubles(arena, 2 * n + 1);
    s->rate = base_arena_doubles(arena, STAGES * 2 * n);
    s->slow = base_arena_doubles(arena, STAGES * all);
    s->dense = base_arena_doubles(arena, DENSE * all);
    s->a_by = base_arena_doubles(arena, count * n);
    s->lambda_by = base_arena_doubles(arena, count * m);
    s->lambda_rate = base_arena_doubles(arena, m);
    s->K = base_arena_doubles(arena, wide * wide);
    s->by = base_arena_doubles(arena, count * wide + most);
    s->zero = base_arena_doubles(arena, n + m);
    s->multiplier = base_arena_doubles(arena, wide + 2 * m);
}

static zw_status take_unknowns(zw_sensitivity *s, const zw_unknown *by, int count, zw_error *error)
{
    s->count = by ? count : 2 * s->n + s->params;
    s->unknown = base_alloc(((size_t)s->count + 1) * sizeof *s->unknown);
    if (!s->unknown) {
        return base_no_memory(error);
    }
    for (int c = 0; c < s->count; c++) {
        int later = c >= 2 * s->n;
        zw_unknown all = {later      ? ZW_UNKNOWN_PARAM
                          : c < s->n ? ZW_UNKNOWN_START
                                     : ZW_UNKNOWN_SPEED,
                          later ? c - 2 * s->n : c % (s->n > 0 ? s->n : 1)};
        s->unknown[c] = by ? by[c] : all;
        const zw_unknown *u = &s->unknown[c];
        int most = u->kind == ZW_UNKNOWN_PARAM ? s->params : s->n;
        if (u->kind > ZW_UNKNOWN_PARAM || u->index < 0 || u->index >= most) {
            return base_fail(error, ZW_BAD_INPUT, "the system has no unknown %d", c);
        }
        const model_param *param =
            u->kind == ZW_UNKNOWN_PARAM ? &s->system->model->param[u->index] : NULL;
        if (by && param && param->is_size) {
            return model_fail(s->system->model, error, ZW_BAD_INPUT, param->place,
                              "parameter %s changes the structure of the model: there are no "
                              "derivatives with respect to it",
                              param->name);
        }
    }
    return ZW_OK;
}

static zw_status prepare(zw_sensitivity *s, const zw_unknown *by, int count, zw_error *error)
{
    const zw_system *system = s->system;
    base_arena arena = {0};
    if (system->tree) {
        return base_fail(
            error, ZW_BAD_INPUT,
            "derivatives of motions of robots are not supported yet: of equations only");
    }
    zw_status status = take_unknowns(s, by, count, error);
    if (status != ZW_OK) {
        return status;
    }
    s->slopes = zw_slopes_create(s->model, system, error);
    s->motion_scratch = base_alloc(
        (2 * (size_t)s->n + (size_t)system->carried + (size_t)system->m + 2) * sizeof(double));
    if (!s->slopes || !s->motion_scratch) {
        return !s->slopes && error ? error->status : base_no_memory(error);
    }
    s->motion = motion_of(system, s->slopes->work, s->motion_scratch);
    status = kinks_create(&s->kinks, &s->motion, 0, error);
    status = status == ZW_OK ? sens_functions_create(s, error) : status;
    if (status != ZW_OK) {
        return status;
    }
    lay_out(s, &arena);
    s->memory = base_alloc(arena.used + 1);
    s->now = state_allocate(system);
    s->sample = state_allocate(system);
    arena = (base_arena){.block = s->memory};
    lay_out(s, &arena);
    return s->memory && s->now && s->sample ? ZW_OK : base_no_memory(error);
}

zw_sensitivity *zw_sensitivity_create(const zw_model *model, const zw_system *system,
                                      const zw_unknown *by, int count, zw_error *error)
{
    zw_sensitivity *s = base_alloc(sizeof *s);
    if (!s) {
        base_no_memory(error);
        return NULL;
    }
    s->model = model;
    s->system = system;
    s->n = system->n;
    s->params = system->shape.params;
    s->least = LEAST;
    if (prepare(s, by, count, error) != ZW_OK) {
        zw_sensitivity_free(s);
        return NULL;
    }
    return s;
}

void zw_sensitivity_free(zw_sensitivity *s)
{
    if (s) {
        zw_slopes_free(s->slopes);
        sens_functions_free(&s->f);
        kinks_free(&s->kinks);
        zw_state_free(s->now);
        zw_state_free(s->sample);
        base_free(s->unknown);
        base_free(s->motion_scratch);
        base_free(s->memory);
        base_free(s);
    }
}

/* ---- Use ------------------------------------------------------------------------------------ */

zw_status zw_sensitivity_start(zw_sensitivity *s, const zw_state *state, int as_written,
                               zw_error *error)
{
    s->kink_count = 0;
    s->kink_name = NULL;
    return sens_begin(s, state, as_written, NULL, error);
}

zw_sensitivity_answer zw_sensitivity_look(const zw_sensitivity *s)
{
    return (zw_sensitivity_answer){.n = s->n,
                                   .columns = s->count,
                                   .by = s->z,
                                   .t_by = s->t_by,
                                   .kinks = s->kink_count,
                                   .kink = s->kink_name};
}

/* Shows the times up to the start. */
static zw_status begin(void *user, run *r, zw_error *error)
{
    zw_sensitivity *s = user;
    const stepper_view *at = stepper_look(r->stepper);
    zw_status status = ZW_OK;
    memcpy(s->now, r->state, r->state->bytes);
    while (status == ZW_OK && s->next < s->plan->times && s->plan->time[s->next] <= at->t) {
        memcpy(s->sample_y, at->y, (size_t)r->motion.size * sizeof(double));
        status = sens_show(s, r, s->sample_y, s->z, error);
    }
    return status;
}

zw_status zw_sensitivity_run(zw_sensitivity *s, zw_state *state, zw_work *work,
                             const zw_sensitivity_plan *plan, zw_run_summary *summary,
                             zw_error *error)
{
    const run_follower follower = {begin, sens_step, sens_before, sens_after, s};
    zw_run_options options = plan->run, found;
    options.observer = NULL;
    zw_status status = zw_run_plan(s->system, state, &options, &found, error);
    if (status != ZW_OK) {
        return status;
    }
    if (found.method != ZW_METHOD_DOP853 && found.method != ZW_METHOD_RK4) {
        return base_fail(error, ZW_BAD_INPUT,
                         "derivatives of a motion go along with dop853 and rk4, not with %s",
                         zw_method_name(found.method));
    }
    found.observer = NULL;
    found.every = 2 * (fabs(found.time) + fabs(state->t)) + 1;
    s->plan = plan;
    s->next = 0;
    s->known = 0;
    s->pace = INFINITY;
    for (int c = 0; c < s->count; c++) { /* what changes things by as much as the unknown itself */
        const zw_unknown *by = &s->unknown[c];
        double value = by->kind == ZW_UNKNOWN_PARAM ? state_param(state)[by->index] : 1;
        s->unit[c] = 1 / fmax(1, fabs(value));
    }
    memset(s->t_by, 0, (size_t)s->count * sizeof *s->t_by);
    status = run_followed(s->system, state, work, &found, &follower, summary, error);
    s->plan = NULL;
    return status;
}

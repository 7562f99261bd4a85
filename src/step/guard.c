#include "step/guard.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static int one_sided(const model_constraint *constraint)
{
    return constraint->relation == MODEL_AT_LEAST;
}

static int needs_forces(const step_guards *guards)
{
    const zw_system *system = guards->motion->system;
    const zw_model *model = system->model;
    for (int i = 0; i < model->event_count; i++) {
        unsigned on = expr_graph_node(model->graph, model->event[i].root)->depends;
        if (on & (EXPR_ON_ACCEL | EXPR_ON_LAMBDA)) {
            return 1;
        }
    }
    for (int k = 0; k < guards->count - guards->events; k++) {
        int mode = guards->motion->work->mode[guards->constraint[k]];
        if ((guards->is_friction[k] && mode == SYSTEM_STUCK) ||
            (!guards->is_friction[k] && mode != SYSTEM_OPEN)) {
            return 1;
        }
    }
    return 0;
}

static double guard_of(const step_guards *guards, int k)
{
    const zw_system *system = guards->motion->system;
    const zw_work *work = guards->motion->work;
    int c = guards->constraint[k], mode = work->mode[c], r = system->first_row[c];
    if (!guards->is_friction[k]) {
        return mode == SYSTEM_OPEN ? work->out[PART_POSITION][r] : work->lambda[r];
    }
    if (mode == SYSTEM_STUCK) {
        return system_hold(system, work, c);
    }
    return mode == SYSTEM_CLOSED ? system_slide(system, work, c) : 1;
}

static zw_status evaluate(void *user, double t, const double *y, double *g, zw_error *error)
{
    const step_guards *guards = user;
    const zw_system *system = guards->motion->system;
    zw_work *work = guards->motion->work;
    const double *q = y, *v = y + system->nq;
    zw_status status = ZW_OK;
    if (needs_forces(guards)) {
        status = system_accelerate(system, work, t, q, v, work->a, error);
        if (status == ZW_OK && work->motion->rows > 0) {
            solver_multipliers(work->motion, work->lambda);
        }
    }
    if (status == ZW_OK && guards->count > guards->events) {
        status = system_evaluate(system, work, PART_POSITION, t, q, v, NULL, NULL, error);
    }
    if (status == ZW_OK && guards->count > guards->events) {
        status = system_evaluate(system, work, PART_SLIP, t, q, v, NULL, NULL, error);
    }
    if (status == ZW_OK && guards->events > 0) {
        status = system_evaluate(system, work, PART_EVENTS, t, q, v, work->a, work->lambda, error);
        memcpy(g, work->out[PART_EVENTS], (size_t)guards->events * sizeof *g);
    }
    for (int k = 0; k < guards->count - guards->events && status == ZW_OK; k++) {
        g[guards->events + k] = guard_of(guards, k);
    }
    return status;
}

/* How far below zero guard k must be to be no round-off; PART_POSITION and the rest are those of
 * the last evaluation. */
static double slack(const step_guards *guards, int k, const double *q)
{
    const zw_system *system = guards->motion->system;
    const zw_work *work = guards->motion->work;
    int c = guards->constraint[k], mode = work->mode[c], r = system->first_row[c];
    double size = 1;
    if (mode == SYSTEM_OPEN) {
        const double *A = work->out[PART_POSITION] + system->m;
        for (int i = system->A_start[r]; i < system->A_start[r + 1]; i++) {
            size += fabs(A[i] * q[system->A_column[i]]);
        }
        return 1e-9 * size;
    }
    if (guards->is_friction[k] && mode != SYSTEM_STUCK) {
        return 1e-7;
    }
    const zw_motion *motion = &work->motion->answer;
    for (int i = 0; i < work->motion->rows; i++) {
        size = fmax(size, fabs(motion->lambda[i]));
    }
    /* who holds how much is not determined where rows are redundant */
    return motion->redundant_count > 0 ? INFINITY : 1e-7 * size;
}

zw_status guards_broken(const step_guards *guards, double t, const double *y, double part,
                        int *constraint, zw_error *error)
{
    int others = guards->count - guards->events;
    *constraint = -1;
    if (others == 0) {
        return ZW_OK;
    }
    zw_status status = evaluate((void *)guards, t, y, guards->g, error);
    for (int k = 0; k < others && status == ZW_OK && *constraint < 0; k++) {
        double g = guards->g[guards->events + k];
        *constraint = g < 0 && g < -part * slack(guards, k, y) ? guards->constraint[k] : -1;
    }
    return status;
}

/* The list of guards; with NULL only counts. */
static int list(const zw_model *model, step_guards *guards)
{
    int k = 0;
    for (int c = 0; c < model->constraint_count; c++) {
        const model_constraint *constraint = &model->constraint[c];
        for (int friction = 0; friction < 2; friction++) {
            if (friction ? constraint->friction == EXPR_NONE : !one_sided(constraint)) {
                continue;
            }
            if (guards) {
                guards->constraint[k] = c;
                guards->is_friction[k] = friction;
            }
            k++;
        }
    }
    return k;
}

zw_status guards_create(step_guards *guards, step_motion *motion, int events_only, zw_error *error)
{
    const zw_model *model = motion->system->model;
    int others = events_only ? 0 : list(model, NULL);
    *guards = (step_guards){
        .motion = motion, .count = model->event_count + others, .events = model->event_count};
    if (guards->count == 0) {
        return ZW_OK;
    }
    guards->constraint = base_alloc(((size_t)others + 1) * sizeof(int));
    guards->is_friction = base_alloc(((size_t)others + 1) * sizeof(int));
    int *direction = base_alloc((size_t)guards->count * sizeof(int));
    guards->g = base_alloc((size_t)guards->count * sizeof(double));
    if (!guards->constraint || !guards->is_friction || !direction || !guards->g) {
        base_free(direction);
        guards_free(guards);
        return base_fail(error, ZW_NO_MEMORY, "%s", zw_status_text(ZW_NO_MEMORY));
    }
    if (!events_only) {
        list(model, guards);
    }
    for (int i = 0; i < guards->count; i++) {
        direction[i] = i < guards->events ? model->event[i].direction : -1;
    }
    const step_event_options options = {.count = guards->count,
                                        .n = motion->size,
                                        .direction = direction,
                                        .function = evaluate,
                                        .user = guards};
    guards->scan = step_events_create(&options, error);
    base_free(direction);
    if (!guards->scan) {
        guards_free(guards);
        return ZW_NO_MEMORY;
    }
    return ZW_OK;
}

void guards_free(step_guards *guards)
{
    step_events_free(guards->scan);
    base_free(guards->constraint);
    base_free(guards->is_friction);
    base_free(guards->g);
    *guards = (step_guards){0};
}

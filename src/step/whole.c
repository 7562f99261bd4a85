#include "step/whole.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "step/ode/control.h"

static zw_status publish(step_whole *w, zw_status status)
{
    stepper_view *view = &w->base.view;
    view->t = w->t1;
    view->y = w->y1;
    view->t_before = w->t0;
    view->y_before = w->y0;
    view->h = w->h;
    view->next = w->grid.step;
    return status;
}

/* A step of length zero at its start: the state after a failed step. */
static void stay(step_whole *w)
{
    w->t1 = w->reach = w->t0;
    w->h = 0;
    memcpy(w->y1, w->y0, (size_t)w->base.n * sizeof *w->y1);
}

static zw_status take_step(step_whole *w, zw_error *error)
{
    int finite = 0;
    w->bent = 0;
    zw_status status = w->take(w, w->t0, w->h, w->y0, w->y1, &finite, error);
    return status != ZW_OK || finite
               ? status
               : step_check_finite(w->base.n, w->y1, "state", w->t1, &w->base.view.culprit, error);
}

/* ---- The kind -------------------------------------------------------------------------------- */

static zw_status whole_start(stepper *s, double t, const double *y, int afresh, zw_error *error)
{
    step_whole *w = (step_whole *)s;
    if (afresh) { /* what the last motion left is no part of this one */
        memset(w->kept, 0, (size_t)w->kept_count * sizeof *w->kept);
    }
    zw_status status = step_check_finite(s->n, y, "state", t, &s->view.culprit, error);
    if (status == ZW_OK) {
        w->t0 = t;
        step_grid_start(&w->grid, t);
        memmove(w->y0, y, (size_t)s->n * sizeof *y);
        stay(w);
    }
    return publish(w, status);
}

static zw_status whole_advance(stepper *s, double limit, zw_error *error)
{
    step_whole *w = (step_whole *)s;
    double *y = w->y0;
    const step_aimed aimed = step_grid_aim(&w->grid, w->t1, limit);
    w->y0 = w->y1;
    w->y1 = y;
    w->t0 = aimed.t0;
    w->t1 = aimed.t1;
    w->h = aimed.h;
    zw_status status = take_step(w, error);
    if (status != ZW_OK) {
        s->view.rejected++;
        base_fail_more(error, " (in a step of %.3g from t = %.17g)", w->h, w->t0);
        stay(w);
        return publish(w, status);
    }
    w->t1 = w->reach = step_grid_pass(&w->grid, &aimed, limit);
    s->view.steps++;
    return publish(w, status);
}

/* A parabola from q0 to q1 has the slopes m + c and m - c at its ends, m = q1 - q0, by x. In free
 * flight c = q0' - m = m - q1'. Where these two differ, in what order the speeds changed is not
 * known: c is the smaller one, or 0 if m is not between the speeds, so that every slope is, and the
 * motion goes nowhere that the speeds could not have led it. */
static void bend(step_whole *w)
{
    double *last = w->bend + w->nq;
    system_rates(w->system, w->y0, w->y0 + w->nq, w->bend);
    system_rates(w->system, w->y1, w->y1 + w->nq, last);
    for (int i = 0; i < w->nq; i++) {
        double mean = w->y1[i] - w->y0[i];
        double a = w->h * w->bend[i] - mean, b = mean - w->h * last[i];
        w->bend[i] = !(a * b > 0) ? 0 : fabs(a) < fabs(b) ? a : b;
    }
    w->bent = 1;
}

static zw_status whole_interpolate(stepper *s, double t, double *y, zw_error *error)
{
    step_whole *w = (step_whole *)s;
    (void)error;
    if (t == w->t0 || t == w->t1) {
        memcpy(y, t == w->t1 ? w->y1 : w->y0, (size_t)s->n * sizeof *y);
        return ZW_OK;
    }
    double x = (t - w->t0) / w->h;
    for (int i = 0; i < s->n; i++) {
        y[i] = w->y0[i] + x * (w->y1[i] - w->y0[i]);
    }
    if (w->bends && !w->bent) {
        bend(w);
    }
    for (int i = 0; i < w->nq && w->bends; i++) {
        y[i] += x * (1 - x) * w->bend[i];
    }
    return ZW_OK;
}

static zw_status whole_retake(stepper *s, double t, zw_error *error)
{
    step_whole *w = (step_whole *)s;
    double reach = w->reach;
    if (!stepper_is_between(t, w->t0, reach)) {
        return base_fail(error, ZW_BAD_INPUT,
                         "retake to t = %.17g: the last step is from %.17g to %.17g", t, w->t0,
                         reach);
    }
    zw_status status = ZW_OK;
    if (t != w->t0) {
        w->t1 = t;
        w->h = t - w->t0;
        status = take_step(w, error);
    }
    if (t == w->t0 || status != ZW_OK) {
        stay(w);
    }
    w->reach = reach;
    step_grid_start(&w->grid, w->t1);
    return publish(w, status);
}

static int whole_degree(const stepper *s)
{
    return ((const step_whole *)s)->bends ? 2 : 1;
}

/* After the grid there is room for [n] low-order parts, as for other methods: zeros. */
static int whole_memory(const stepper *s)
{
    return STEP_GRID_NUMBERS + s->n + ((const step_whole *)s)->kept_count;
}

static void whole_keep(const stepper *s, double *memory)
{
    const step_whole *w = (const step_whole *)s;
    step_grid_keep(&w->grid, w->t1, memory);
    memset(memory + STEP_GRID_NUMBERS, 0, (size_t)s->n * sizeof *memory);
    if (w->kept_count > 0) {
        memcpy(memory + STEP_GRID_NUMBERS + s->n, w->kept, (size_t)w->kept_count * sizeof *memory);
    }
}

static zw_status whole_resume(stepper *s, const double *y, const double *memory, zw_error *error)
{
    step_whole *w = (step_whole *)s;
    zw_status status = stepper_start(s, memory[0], y, error);
    if (status == ZW_OK) {
        step_grid_resume(&w->grid, memory);
    }
    if (status == ZW_OK && w->kept_count > 0) {
        memcpy(w->kept, memory + STEP_GRID_NUMBERS + s->n, (size_t)w->kept_count * sizeof *memory);
    }
    return status;
}

static void whole_free(stepper *s)
{
    base_free(s);
}

static const stepper_kind whole_kind = {
    .start = whole_start,
    .advance = whole_advance,
    .interpolate = whole_interpolate,
    .retake = whole_retake,
    .degree = whole_degree,
    .memory = whole_memory,
    .keep = whole_keep,
    .resume = whole_resume,
    .free = whole_free,
};

static void lay_out(step_whole *w, base_arena *arena)
{
    w->y0 = base_arena_doubles(arena, (size_t)w->base.n);
    w->y1 = base_arena_doubles(arena, (size_t)w->base.n);
    w->bend = base_arena_doubles(arena, 2 * (size_t)w->nq);
}

step_whole *whole_create(const zw_system *system, double step, zw_error *error)
{
    step_whole shape = {
        .base = {.kind = &whole_kind,
                 .n = system->nq + system->n + system->carried + system->works},
        .system = system,
        .nq = system->nq,
        .works = system->works,
        .grid = {.step = step},
    };
    base_arena arena = {0};
    base_arena_bytes(&arena, sizeof shape);
    lay_out(&shape, &arena);
    arena = (base_arena){.block = base_alloc(arena.used)};
    if (!arena.block) {
        base_no_memory(error);
        return NULL;
    }
    step_whole *w = base_arena_bytes(&arena, sizeof *w);
    *w = shape;
    lay_out(w, &arena);
    return w;
}

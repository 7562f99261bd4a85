/* The integrator around the methods: memory, step control, projection, failures.
 *
 * A step is an attempt by the method, then the sum y1 = y0 + increment, then the projection, then
 * f1 = f(t1, y1). It is accepted only if all four succeed. Too large an error shortens the step
 * accordingly; a field or projection that fails, or is not finite, quarters it, at most
 * STEP_MISHAPS times. Both end when the step no longer changes the time: then the failure is
 * reported with its time.
 *
 * Compensated sums. y is kept as y + low with |low| at most half a unit in the last place of y: the
 * rounding error of each sum y0 + increment, found exactly by Knuth's TwoSum, goes into the next. A
 * projection changes y and leaves low, which is below its accuracy. */
#include "step/ode/ode.h"

#include "base/error.h"
#include "step/ode/control.h"
#include "step/ode/dop853.h"
#include "step/ode/inner.h"
#include "step/ode/leap.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- Creation -------------------------------------------------------------------------------- */

static const step_scheme *find_scheme(step_method method)
{
    switch (method) {
    case STEP_DOP853:
        return &step_scheme_dop853;
    case STEP_RADAU:
        return &step_scheme_radau;
    case STEP_RK4:
        return &step_scheme_rk4;
    case STEP_EULER:
        return &step_scheme_euler;
    case STEP_VARIATIONAL:
        return &step_scheme_variational;
    case STEP_VARIATIONAL4:
        return &step_scheme_variational4;
    case STEP_MIDPOINT:
        return &step_scheme_midpoint;
    case STEP_BDF:
        break;
    }
    return NULL;
}

static void layout(step_ode *ode, base_arena *arena)
{
    double **state[] = {&ode->y0, &ode->low0, &ode->y1, &ode->low1};
    for (size_t k = 0; k < sizeof state / sizeof *state; k++) {
        *state[k] = base_arena_doubles(arena, (size_t)ode->width);
    }
    double **other[] = {&ode->f0, &ode->f1, &ode->trial, &ode->increment, &ode->weight};
    for (size_t k = 0; k < sizeof other / sizeof *other; k++) {
        *other[k] = base_arena_doubles(arena, (size_t)ode->n);
    }
    if (ode->scheme != NULL) {
        ode->scheme->layout(ode, arena);
    }
    leap_layout(ode, arena);
}

/* ---- Options --------------------------------------------------------------------------------- */

static int is_method(step_method method)
{
    return (int)method >= 0 && method <= STEP_MIDPOINT;
}

static int is_variational(step_method method)
{
    return method >= STEP_VARIATIONAL && method <= STEP_MIDPOINT;
}

static zw_status check_lagrangian(const step_ode_options *o, zw_error *error)
{
    const step_lagrangian *l = o->lagrangian;
    if (l == NULL || l->n < 0 || l->m < 0 || o->n < (long)(l->nq > 0 ? l->nq : l->n) + l->n ||
        l->momentum == NULL || l->force == NULL || l->linearise == NULL || l->solve == NULL ||
        (l->m > 0 && (l->position == NULL || l->velocity == NULL))) {
        return base_fail(error, ZW_BAD_INPUT,
                         "%s: a Lagrangian of at most %d positions and speeds is needed",
                         find_scheme(o->method)->name, o->n);
    }
    return ZW_OK;
}

static zw_status check_options(const step_ode_options *o, zw_error *error)
{
    if (o->n < 0 || o->field == NULL || !is_method(o->method)) {
        return base_fail(error, ZW_BAD_INPUT, "integrator: no field, method or size");
    }
    if (!(o->tolerance >= 0.0) || !(o->step >= 0.0) || !(o->first >= 0.0) || isinf(o->first)) {
        return base_fail(error, ZW_BAD_INPUT,
                         "integrator: tolerance, step and first step cannot be negative");
    }
    int adaptive = o->method == STEP_BDF || find_scheme(o->method)->adaptive;
    if (!adaptive && !(o->step > 0.0 && isfinite(o->step))) {
        return base_fail(error, ZW_BAD_INPUT, "%s: a fixed step is needed",
                         find_scheme(o->method)->name);
    }
    if (o->positions < 0 || o->speeds < 0 ||
        (o->move ? (long)o->positions + o->speeds : 2L * o->positions) > o->n) {
        return base_fail(error, ZW_BAD_INPUT, "integrator: %d positions and speeds in %d states",
                         o->positions, o->n);
    }
    for (int i = 0; o->weight != NULL && i < o->n; i++) {
        if (!(o->weight[i] > 0.0 && isfinite(o->weight[i]))) {
            return base_fail(error, ZW_BAD_INPUT, "integrator: weight %d is not positive", i);
        }
    }
    return is_variational(o->method) ? check_lagrangian(o, error) : ZW_OK;
}

static void settle_options(step_ode *ode)
{
    step_ode_options *o = &ode->option;
    for (int i = 0; i < ode->n; i++) {
        ode->weight[i] = o->weight != NULL ? o->weight[i] : 1.0;
    }
    o->weight = NULL; /* the caller's; the copy is ode->weight */
    o->tolerance = o->tolerance == 0.0 ? 1e-10 : fmax(o->tolerance, 4.0 * DBL_EPSILON);
    o->step = o->step == 0.0 ? INFINITY : o->step;
    o->positions = o->positions == 0 ? ode->n / 2 : o->positions;
    ode->grid.step = o->step;
}

int step_method_present(step_method method)
{
#ifdef ZW_HAVE_SUNDIALS
    return is_method(method);
#else
    return is_method(method) && method != STEP_BDF;
#endif
}

static void ode_free(stepper *s)
{
    step_stiff_free((step_ode *)s);
    base_free(s);
}

stepper *step_ode_create(const step_ode_options *options, zw_error *error)
{
    if (check_options(options, error) != ZW_OK) {
        return NULL;
    }
    step_ode shape = {.base = {.kind = &step_ode_kind, .n = options->n},
                      .option = *options,
                      .n = options->n,
                      .width = options->n};
    if (is_variational(options->method)) {
        shape.lagrangian = *options->lagrangian;
        shape.option.lagrangian = NULL; /* the caller's; the copy is ode->lagrangian */
        shape.lagrangian.nq = shape.lagrangian.nq > 0 ? shape.lagrangian.nq : shape.lagrangian.n;
        shape.width += shape.lagrangian.n;
        if (options->method == STEP_MIDPOINT) {
            shape.lagrangian.bend = NULL;
        }
    }
    shape.scheme = find_scheme(options->method);
    base_arena arena = {0};
    base_arena_bytes(&arena, sizeof shape);
    layout(&shape, &arena);

    arena = (base_arena){.block = base_alloc(arena.used)};
    if (arena.block == NULL) {
        base_fail(error, ZW_NO_MEMORY, "integrator of size %d: out of memory", options->n);
        return NULL;
    }
    step_ode *ode = base_arena_bytes(&arena, sizeof *ode);
    *ode = shape;
    layout(ode, &arena);
    settle_options(ode);
    if (ode->scheme == NULL && step_stiff_create(ode, error) != ZW_OK) {
        ode_free(&ode->base);
        return NULL;
    }
    return &ode->base;
}

/* ---- For the methods ------------------------------------------------------------------------- */

double step_scale(const step_ode *ode, int i, double y)
{
    double size = fmax(fabs(ode->y0[i]), fabs(y));
    return ode->option.tolerance * (ode->weight[i] + size);
}

static zw_status check_finite(step_ode *ode, const char *what, double t, const double *x,
                              zw_error *error)
{
    return step_check_finite(ode->n, x, what, t, &ode->base.view.culprit, error);
}

zw_status step_evaluate(step_ode *ode, double t, const double *y, double *dy, zw_error *error)
{
    zw_status status = check_finite(ode, "state", t, y, error);
    if (status == ZW_OK) {
        ode->base.view.evaluations++;
        status = ode->option.field(ode->option.user, t, y, dy, error);
    }
    return status == ZW_OK ? check_finite(ode, "rate of state", t, dy, error) : status;
}

/* ---- State ----------------------------------------------------------------------------------- */

static zw_status publish(step_ode *ode, zw_status status)
{
    stepper_view *view = &ode->base.view;
    view->t = ode->t1;
    view->h = ode->h;
    view->y = ode->y1;
    view->dy = ode->f1_known ? ode->f1 : NULL;
    view->t_before = ode->t0;
    view->y_before = ode->y0;
    view->next = ode->next;
    return status;
}

static void copy(int n, double *to, const double *from)
{
    memmove(to, from, (size_t)n * sizeof *to);
}

static void swap(double **a, double **b)
{
    double *kept = *a;
    *a = *b;
    *b = kept;
}

/* The end of the last step becomes the start of the next. */
static void step_on(step_ode *ode)
{
    ode->t0 = ode->t1;
    swap(&ode->y0, &ode->y1);
    swap(&ode->low0, &ode->low1);
    swap(&ode->f0, &ode->f1);
    ode->f0_known = ode->f1_known;
    ode->dense_ready = 0;
    ode->sharp = 0;
    leap_step_on(ode);
}

/* A step of length zero at its start: the state after a failed step. */
static void stay(step_ode *ode)
{
    ode->t1 = ode->reach = ode->t0;
    ode->h = 0.0;
    copy(ode->width, ode->y1, ode->y0);
    copy(ode->width, ode->low1, ode->low0);
    copy(ode->n, ode->f1, ode->f0);
    ode->f1_known = ode->f0_known;
    ode->dense_ready = 0;
    leap_stay(ode);
}

static zw_status ode_start(stepper *s, double t, const double *y, int afresh, zw_error *error)
{
    step_ode *ode = (step_ode *)s;
    ode->next = afresh ? ode->option.first : ode->next;
    if (!isfinite(t)) {
        return base_fail(error, ZW_BAD_INPUT, "integrator: the time to start at is not finite");
    }
    zw_status status = step_evaluate(ode, t, y, ode->trial, error);
    if (status != ZW_OK) {
        return status; /* there is no state yet that could be returned */
    }
    leap_begin(ode);
    ode->sharp = 0;
    ode->t0 = t;
    step_grid_start(&ode->grid, t);
    ode->last_size = 1e-4;
    copy(ode->n, ode->y0, y);
    copy(ode->n, ode->f0, ode->trial);
    memset(ode->low0, 0, (size_t)ode->width * sizeof(double));
    ode->f0_known = 1;
    if (ode->scheme == NULL) {
        status = step_stiff_restart(ode, error);
    } else if (ode->scheme->start != NULL) {
        status = ode->scheme->start(ode, t, error);
    }
    stay(ode);
    return publish(ode, status);
}

/* ---- A step ---------------------------------------------------------------------------------- */

/* y1 = y0 + increment with its rounding error in low1 (TwoSum), then projection and f1. */
static zw_status finish(step_ode *ode, zw_error *error)
{
    if (ode->scheme->whole) {
        return check_finite(ode, "state", ode->t1, ode->y1, error);
    }
    step_add(ode->n, ode->y0, ode->low0, ode->increment, ode->y1, ode->low1);
    zw_status status = ZW_OK;
    if (ode->option.project != NULL) {
        status = check_finite(ode, "state", ode->t1, ode->y1, error);
        if (status == ZW_OK) {
            status = ode->option.project(ode->option.user, ode->t1, ode->y1, error);
        }
    }
    ode->f1_known = 1;
    status = status == ZW_OK ? step_evaluate(ode, ode->t1, ode->y1, ode->f1, error) : status;
    leap_note(ode);
    return status;
}

static zw_status attempt(step_ode *ode, double h, double *size, zw_error *error)
{
    const step_scheme *scheme = ode->sharp ? ode->scheme->sharper : ode->scheme;
    return scheme->attempt(ode, h, size, error);
}

static zw_status take(step_ode *ode, double t1, double h, double *size, zw_error *error)
{
    ode->t1 = t1;
    ode->h = h;
    zw_status status = attempt(ode, h, size, error);
    if (status == ZW_OK && !isfinite(*size)) {
        status = base_fail(error, ZW_INACCURATE, "the error of a step from t = %.17g is not finite",
                           ode->t0);
    }
    if (status == ZW_OK && *size <= 1.0) {
        status = finish(ode, error);
    }
    return status;
}

/* Into ode->next. */
static zw_status first_step(step_ode *ode, double toward, double room, zw_error *error)
{
    double d0 = 0.0, d1 = 0.0, d2 = 0.0;
    for (int i = 0; i < ode->n; i++) {
        double scale = step_scale(ode, i, 0.0);
        d0 = fmax(d0, fabs(ode->y0[i]) / scale);
        d1 = fmax(d1, fabs(ode->f0[i]) / scale);
    }
    double h0 = step_first_trial(d0, d1, room, ode->option.step);
    for (int i = 0; i < ode->n; i++) {
        ode->trial[i] = ode->y0[i] + toward * h0 * ode->f0[i];
    }
    zw_status status = step_evaluate(ode, ode->t0 + toward * h0, ode->trial, ode->f1, error);
    if (status != ZW_OK) {
        ode->next = 0.01 * h0;
        return status == ZW_NO_MEMORY ? status : ZW_OK;
    }
    for (int i = 0; i < ode->n; i++) {
        d2 = fmax(d2, fabs(ode->f1[i] - ode->f0[i]) / step_scale(ode, i, 0.0));
    }
    ode->next = step_first(d1, d2, h0, room, ode->scheme->roots);
    return ZW_OK;
}

static zw_status underflow(step_ode *ode, zw_status why, double length, zw_error *error)
{
    stay(ode);
    return step_give_up(why, ode->t0, length, ode->option.tolerance, ode->base.view.culprit,
                        ode->base.view.reachable, error);
}

/* Out of memory: shorter steps would not help, and would change the motion. */
static zw_status give_up_at_once(step_ode *ode, zw_status status)
{
    stay(ode);
    return status;
}

static zw_status advance_adaptive(step_ode *ode, double limit, zw_error *error)
{
    double toward = limit > ode->t0 ? 1.0 : -1.0;
    zw_status status = ZW_OK;
    if (ode->next == 0.0) {
        status = first_step(ode, toward, fabs(limit - ode->t0), error);
        if (status != ZW_OK) {
            return give_up_at_once(ode, status);
        }
    }
    double length = fmin(ode->next, ode->option.step);
    int leaps = leap_try(ode, &limit);
    if (ode->no_memory) {
        ode->no_memory = 0;
        return give_up_at_once(ode, base_no_memory(error));
    }
    if (leaps) {
        status = finish(ode, error);
        if (status == ZW_OK) {
            leap_accept(ode);
            ode->base.view.steps++;
            ode->reach = ode->t1;
            return ZW_OK;
        }
        leap_refuse(ode);
        if (status == ZW_NO_MEMORY) {
            return give_up_at_once(ode, status);
        }
    }
    int mishaps = 0, again = 0;
    for (;;) {
        double t1 = step_aim(ode->t0, limit, length), h = t1 - ode->t0, size = 0.0;
        status = take(ode, t1, h, &size, error);
        if (status == ZW_NO_MEMORY) {
            return give_up_at_once(ode, status);
        }
        if (status == ZW_OK && size <= 1.0) {
            ode->next = step_longer(h, length, ode->scheme->grow(ode, size), again);
            ode->last_size = fmax(size, 1e-4);
            ode->base.view.steps++;
            ode->reach = t1;
            return ZW_OK;
        }
        ode->base.view.rejected++;
        again = 1;
        if (status == ZW_OK) {
            length = step_shorter(h, size, ode->scheme->roots);
        } else {
            length = 0.25 * fabs(h);
            mishaps++;
        }
        ode->next = length;
        if (mishaps > STEP_MISHAPS || step_vanishes(ode->t0, toward, length)) {
            return underflow(ode, status, length, error);
        }
    }
}

static zw_status advance_fixed(step_ode *ode, double limit, zw_error *error)
{
    const step_aimed aimed = step_grid_aim(&ode->grid, ode->t0, limit);
    double size;
    ode->t0 = aimed.t0;
    zw_status status = take(ode, aimed.t1, aimed.h, &size, error);
    if (status != ZW_OK) {
        ode->base.view.rejected++;
        base_fail_more(error, " (in a step of %.3g from t = %.17g)", aimed.h, ode->t0);
        stay(ode);
        return status;
    }
    ode->t1 = step_grid_pass(&ode->grid, &aimed, limit);
    ode->next = ode->option.step;
    ode->base.view.steps++;
    ode->reach = ode->t1;
    return ZW_OK;
}

static zw_status ode_advance(stepper *s, double limit, zw_error *error)
{
    step_ode *ode = (step_ode *)s;
    zw_status status;
    step_on(ode);
    if (ode->scheme == NULL) {
        status = step_stiff_advance(ode, limit, error);
        if (status != ZW_OK) {
            stay(ode);
        }
    } else {
        status = ode->scheme->adaptive ? advance_adaptive(ode, limit, error)
                                       : advance_fixed(ode, limit, error);
    }
    ode->whole = ode->h;
    ode->passed = ode->grid;
    return publish(ode, status);
}

/* ---- Inside the last step -------------------------------------------------------------------- */

static zw_status ode_interpolate(stepper *s, double t, double *y, zw_error *error)
{
    step_ode *ode = (step_ode *)s;
    if (t == ode->t0 || t == ode->t1) {
        copy(ode->n, y, t == ode->t1 ? ode->y1 : ode->y0);
        return ZW_OK;
    }
    if (ode->scheme == NULL) {
        return step_stiff_dense(ode, t, y, error);
    }
    if (leap_taken(ode)) {
        leap_interpolate(ode, t, y);
        return ZW_OK;
    }
    if (!ode->dense_ready) {
        zw_status status = ode->scheme->prepare(ode, error);
        if (status != ZW_OK) {
            return status;
        }
        ode->dense_ready = 1;
    }
    ode->scheme->interpolate(ode, (t - ode->t0) / ode->h, y);
    return ZW_OK;
}

/* STEP_BDF has no single step to repeat: its own interpolant, projected, is used. */
static zw_status retake_stiff(step_ode *ode, double t, zw_error *error)
{
    zw_status status = step_stiff_dense(ode, t, ode->y1, error);
    ode->t1 = t;
    if (status == ZW_OK && ode->option.project != NULL) {
        status = ode->option.project(ode->option.user, t, ode->y1, error);
    }
    return status == ZW_OK ? step_evaluate(ode, t, ode->y1, ode->f1, error) : status;
}

static zw_status ode_retake(stepper *s, double t, zw_error *error)
{
    step_ode *ode = (step_ode *)s;
    double reach = ode->reach, size;
    if (!stepper_is_between(t, ode->t0, reach)) {
        return base_fail(error, ZW_BAD_INPUT,
                         "retake to t = %.17g: the last step is from %.17g to %.17g", t, ode->t0,
                         reach);
    }
    zw_status status = ZW_OK;
    ode->dense_ready = 0;
    if (t == ode->t0) {
        stay(ode);
    } else if (ode->scheme == NULL) {
        status = retake_stiff(ode, t, error);
    } else if (leap_taken(ode)) {
        ode->t1 = t;
        ode->h = t - ode->t0;
        leap_increment(ode, t, ode->increment);
        status = finish(ode, error);
    } else {
        ode->t1 = t;
        ode->h = t == reach ? ode->whole : t - ode->t0;
        status = attempt(ode, ode->h, &size, error);
        status = status == ZW_OK ? finish(ode, error) : status;
    }
    if (status != ZW_OK) {
        stay(ode);
    }
    ode->reach = reach;
    step_grid_start(&ode->grid, ode->t1);
    ode->grid = status == ZW_OK && t == reach ? ode->passed : ode->grid;
    return publish(ode, status);
}

/* Where the sharper method fails, the step stays as it was. */
static zw_status ode_sharpen(stepper *s, int *done, zw_error *error)
{
    step_ode *ode = (step_ode *)s;
    double size;
    *done = ode->scheme != NULL && ode->scheme->sharper != NULL && !ode->sharp && ode->h != 0.0;
    if (!*done) {
        return ZW_OK;
    }
    ode->sharp = 1;
    ode->dense_ready = 0;
    zw_status status = take(ode, ode->t1, ode->h, &size, error);
    if (status != ZW_OK && status != ZW_NO_MEMORY) {
        ode->sharp = 0;
        status = take(ode, ode->t1, ode->h, &size, error);
    }
    if (status != ZW_OK) {
        stay(ode);
    }
    return publish(ode, status);
}

static int ode_degree(const stepper *s)
{
    const step_ode *ode = (const step_ode *)s;
    return ode->scheme == NULL                  ? 5 /* the highest order of BDF */
           : leap_taken(ode)                    ? LEAP_DEGREE
           : ode->scheme == &step_scheme_dop853 ? 7
                                                : 3; /* Hermite, and Radau's collocation */
}

const stepper_kind step_ode_kind = {
    .start = ode_start,
    .advance = ode_advance,
    .interpolate = ode_interpolate,
    .retake = ode_retake,
    .sharpen = ode_sharpen,
    .degree = ode_degree,
    .memory = ode_memory,
    .keep = ode_keep,
    .resume = ode_resume,
    .free = ode_free,
};

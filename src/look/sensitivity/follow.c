/* A step of the deviations.
 *
 * With x = (q, v), x' = f(t, x, p), and P the derivative of p by an unknown, the deviations z for
 * that unknown follow
 *
 *     dq' = dv,      dv' = a_q dq + a_v dv + a_p P          (slopes.h)
 *
 * and are integrated by the same method with the same step: stage s has the argument z + h sum a_sj
 * k_j and the slopes of f at stage s of x. Without constraints this is the derivative of the
 * discrete step itself, except for the choice of its length; with constraints it lacks the
 * curvature of the projection at the end of the step, which is as large as the error of the method.
 * So z is as accurate as x. The stages of x are recomputed from the start of the step. Dense output
 * is the derivative of that of the method.
 *
 * The end of a step is projected onto the constraints, and so is z (begin.c). */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "look/sensitivity/sensitivity.h"
#include "step/ode/dop853.h"

enum { RK4_STAGES = 4 };

static const double rk4_c[] = {0, 0.5, 0.5, 1};
static const double rk4_a[][3] = {{0}, {0.5}, {0, 0.5}, {0, 0, 1}};
static const double rk4_b[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};

/* ---- An instant ----------------------------------------------------------------------------- */

/* slow[count][2 n]: the rates of z with the last slopes. */
void sens_rates(const zw_sensitivity *s, const double *z, double *slow)
{
    size_t n = (size_t)s->n, params = (size_t)s->params;
    const double *by = s->slopes->a_by;
    for (size_t c = 0; c < (size_t)s->count; c++) {
        const double *x = z + c * 2 * n, *p = s->param + c * params;
        double *to = slow + c * 2 * n;
        memcpy(to, x + n, n * sizeof *to);
        memset(to + n, 0, n * sizeof *to);
        for (size_t j = 0; j < 2 * n + params; j++) {
            double factor = j < 2 * n ? x[j] : p[j - 2 * n];
            const double *row = by + (j < 2 * n ? j : j + 1) * n; /* time is between */
            for (size_t i = 0; i < n && factor != 0; i++) {
                to[n + i] += factor * row[i];
            }
        }
    }
}

zw_status sens_instant(zw_sensitivity *s, run *r, double *rate, zw_error *error)
{
    const zw_system *system = s->system;
    size_t n = (size_t)s->n;
    zw_work *work = r->work;
    double *q = state_q(s->now), *v = state_v(s->now);
    if (r->motion.careful) { /* as for the motion itself: motion.c */
        zw_status status = system_project_position(system, work, s->now->t, q, v, error);
        status = status == ZW_OK ? system_project_velocity(system, work, s->now->t, q, v, error)
                                 : status;
        if (status != ZW_OK) {
            return status;
        }
    }
    zw_status status = system_accelerate(system, work, s->now->t, q, v, work->a, error);
    if (status != ZW_OK) {
        return status;
    }
    memset(work->push, 0, (size_t)system->m * sizeof *work->push);
    if (work->motion->rows > 0) {
        solver_multipliers(work->motion, work->push);
    }
    memcpy(work->lambda, work->push, (size_t)system->m * sizeof *work->push);
    memcpy(rate, v, n * sizeof *rate);
    memcpy(rate + n, work->a, n * sizeof *rate);
    return slopes_follow(s->slopes, work, &r->guards.kinks, s->now, &s->rank, error);
}

/* ---- Stages --------------------------------------------------------------------------------- */

typedef struct scheme {
    int stages, all, width; /* width: of the rows of a */
    const double *c, *a, *b;
} scheme;

static scheme scheme_of(const run *r)
{
    if (r->options.method == ZW_METHOD_RK4) {
        return (scheme){RK4_STAGES, RK4_STAGES, 3, rk4_c, rk4_a[0], rk4_b};
    }
    return (scheme){STEP_DOP853_STAGES, STEP_DOP853_ALL,  STEP_DOP853_ALL - 1,
                    step_dop853_c,      step_dop853_a[0], step_dop853_a[STEP_DOP853_STAGES]};
}

/* to = from + h sum_j w_j k_j over the first `count` stages of size `size`. */
static void combine(size_t size, const double *from, double h, int count, const double *w,
                    const double *k, double *to)
{
    memset(to, 0, size * sizeof *to);
    for (int j = 0; j < count; j++) {
        for (size_t i = 0; i < size && w[j] != 0; i++) {
            to[i] += w[j] * k[(size_t)j * size + i];
        }
    }
    for (size_t i = 0; i < size; i++) {
        to[i] = (from ? from[i] : 0) + h * to[i];
    }
}

static void put(zw_sensitivity *s, double t, const double *y)
{
    size_t n = (size_t)s->n;
    s->now->t = t;
    memcpy(state_q(s->now), y, n * sizeof *y);
    memcpy(state_v(s->now), y + n, n * sizeof *y);
}

static zw_status stage(zw_sensitivity *s, run *r, const scheme *by, int k, zw_error *error)
{
    const stepper_view *at = stepper_look(r->stepper);
    size_t wide = 2 * (size_t)s->n, all = wide * (size_t)s->count;
    const double *a = by->a + (size_t)k * (size_t)by->width;
    int rank = s->rank;
    combine(wide, at->y_before, at->h, k, a, s->rate, s->y);
    combine(all, s->z, at->h, k, a, s->slow, s->zs);
    put(s, at->t_before + by->c[k] * at->h, s->y);
    zw_status status = sens_instant(s, r, s->rate + (size_t)k * wide, error);
    if (status == ZW_OK && k > 0 && s->rank != rank) {
        return base_fail(error, ZW_BAD_INPUT,
                         "near t = %.9g constraints become dependent: derivatives of a motion "
                         "through such a position are not known",
                         s->now->t);
    }
    if (status == ZW_OK) {
        sens_rates(s, s->zs, s->slow + (size_t)k * all);
    }
    return status;
}

/* ---- Dense output --------------------------------------------------------------------------- */

/* The coefficients of dop853.c, or those of Hermite's polynomial, between z and zs. */
static zw_status prepare_dense(zw_sensitivity *s, run *r, const scheme *by, const double *end,
                               const double *end_rate, zw_error *error)
{
    const stepper_view *at = stepper_look(r->stepper);
    size_t all = 2 * (size_t)s->n * (size_t)s->count;
    double *F = s->dense, h = at->h;
    zw_status status = ZW_OK;
    for (size_t i = 0; i < all; i++) {
        double rise = end[i] - s->z[i];
        F[i] = rise;
        F[all + i] = h * s->slow[i] - rise;
        F[2 * all + i] = 2 * rise - h * (s->slow[i] + end_rate[i]);
    }
    for (int k = by->stages + 1; k < by->all && status == ZW_OK; k++) {
        status = stage(s, r, by, k, error);
    }
    for (int k = 0; k < 4 && status == ZW_OK; k++) {
        double *row = F + (size_t)(3 + k) * all;
        if (by->all > by->stages) {
            combine(all, NULL, h, by->all, step_dop853_d[k], s->slow, row);
        } else {
            memset(row, 0, all * sizeof *row);
        }
    }
    return status;
}

static void interpolate(const zw_sensitivity *s, double x, double *z)
{
    size_t all = 2 * (size_t)s->n * (size_t)s->count;
    const double *F = s->dense;
    double u = 1 - x;
    for (size_t i = 0; i < all; i++) {
        double sum = F[6 * all + i] * x + F[5 * all + i];
        sum = sum * u + F[4 * all + i];
        sum = sum * x + F[3 * all + i];
        sum = sum * u + F[2 * all + i];
        sum = sum * x + F[all + i];
        sum = sum * u + F[i];
        z[i] = s->z[i] + sum * x;
    }
}

/* ---- Samples -------------------------------------------------------------------------------- */

zw_status sens_show(zw_sensitivity *s, run *r, const double *y, const double *z, zw_error *error)
{
    const zw_sensitivity_plan *plan = s->plan;
    double t = plan->time[s->next++];
    memcpy(s->sample, r->state, r->state->bytes);
    memcpy(r->y, y, (size_t)r->motion.size * sizeof *y);
    zw_status status = motion_project(&r->motion, t, r->y, error);
    r->motion.at_node = 0; /* the steps know nothing of this point */
    if (status != ZW_OK) {
        return status;
    }
    motion_unpack(&r->motion, t, r->y, s->sample);
    const zw_sensitivity_answer answer = {.n = s->n,
                                          .columns = s->count,
                                          .by = z,
                                          .t_by = s->t_by,
                                          .kinks = s->kink_count,
                                          .kink = s->kink_name};
    if (plan->observer && plan->observer(plan->user, s->sample, &answer)) {
        r->summary->interrupted = r->over = 1;
    }
    return ZW_OK;
}

/* Shows the samples in the last step, its ends included; none twice. */
static zw_status show_step(zw_sensitivity *s, run *r, const scheme *by, const double *end,
                           const double *end_rate, zw_error *error)
{
    const stepper_view *at = stepper_look(r->stepper);
    const zw_sensitivity_plan *plan = s->plan;
    zw_status status = ZW_OK;
    int prepared = 0;
    while (status == ZW_OK && !r->over && s->next < plan->times && plan->time[s->next] <= at->t) {
        double t = plan->time[s->next];
        const double *z = end;
        if (t < at->t) {
            status = prepared ? ZW_OK : prepare_dense(s, r, by, end, end_rate, error);
            prepared = 1;
            interpolate(s, (t - at->t_before) / at->h, s->middle);
            z = s->middle;
        }
        status = status == ZW_OK ? stepper_interpolate(r->stepper, t, s->sample_y, error) : status;
        status = status == ZW_OK ? sens_show(s, r, s->sample_y, z, error) : status;
    }
    return status;
}

/* ---- Integrals ------------------------------------------------------------------------------ */

/* By Gauss's rule with three nodes in each part of the step; steps end at kinks and events. */
static zw_status integrate(zw_sensitivity *s, run *r, const scheme *by, const double *end,
                           const double *end_rate, zw_error *error)
{
    const stepper_view *at = stepper_look(r->stepper);
    const double length = at->t - at->t_before, node = 0.5 * sqrt(0.6);
    const int parts = (int)fmax(1, ceil(length / s->over->part));
    zw_status status = prepare_dense(s, r, by, end, end_rate, error);
    for (int k = 0; k < 3 * parts && status == ZW_OK; k++) {
        double x = (k / 3 + 0.5 + (k % 3 - 1) * node) / parts;
        double t = at->t_before + x * length;
        interpolate(s, x * length / at->h, s->middle);
        status = stepper_interpolate(r->stepper, t, s->sample_y, error);
        status = status == ZW_OK ? motion_project(&r->motion, t, s->sample_y, error) : status;
        r->motion.at_node = 0; /* the steps know nothing of this point */
        if (status == ZW_OK) {
            put(s, t, s->sample_y);
            sens_functions_run(s, &r->guards.kinks, NULL, NULL);
            s->over->take(s->over->user, s->middle, length / parts * (k % 3 == 1 ? 4 : 2.5) / 9);
        }
    }
    return status;
}

/* ---- Errors --------------------------------------------------------------------------------- */

/* The error of the step of the first deviation, as dop853 estimates its own, relative to the size
 * of the deviation. Where the motion is at rest, or decays, steps are as long as its own error
 * allows, but the deviations are not at rest. */
static double error_of(zw_sensitivity *s, double h)
{
    const int wide = 2 * s->n, columns = s->count;
    double square = 0, largest5 = 0, largest3 = 0;
    for (int i = 0; i < wide; i++) {
        double e5 = 0, e3 = 0;
        for (int j = 0; j < STEP_DOP853_STAGES; j++) {
            e5 += step_dop853_e5[j] * s->slow[(size_t)j * (size_t)(wide * columns) + (size_t)i];
            e3 += step_dop853_e3[j] * s->slow[(size_t)j * (size_t)(wide * columns) + (size_t)i];
        }
        square += s->z[i] * s->z[i];
        largest5 = fmax(largest5, fabs(e5));
        largest3 = fmax(largest3, fabs(e3));
    }
    double size = step_dop853_size(h, largest5, largest3);
    return size == 0 ? 0 : isfinite(size / sqrt(square)) ? size / sqrt(square) : INFINITY;
}

/* ---- All ------------------------------------------------------------------------------------ */

zw_status sens_step(void *user, run *r, zw_error *error)
{
    zw_sensitivity *s = user;
    const stepper_view *at = stepper_look(r->stepper);
    const scheme by = scheme_of(r);
    size_t wide = 2 * (size_t)s->n, all = wide * (size_t)s->count;
    if (at->leapt) {
        return base_fail(error, ZW_BAD_INPUT,
                         "at t = %.9g the motion passes a position where constraints are "
                         "dependent: its derivatives are not known beyond",
                         at->t);
    }
    memcpy(state_param(s->now), state_param(r->state), (size_t)s->params * sizeof(double));
    zw_status status = ZW_OK;
    for (int k = s->known ? 1 : 0; k < by.stages && status == ZW_OK; k++) {
        status = stage(s, r, &by, k, error);
    }
    if (status != ZW_OK) {
        return status;
    }
    double *end = s->end, most;
    combine(all, s->z, at->h, by.stages, by.b, s->slow, end);
    if (s->rough && by.all > by.stages) {
        *s->rough = fmax(*s->rough, error_of(s, at->h));
    }
    put(s, at->t, at->y);
    double *end_rate = s->end_rate, *end_slow = s->end_slow;
    status = sens_instant(s, r, end_rate, error);
    status = status == ZW_OK ? sens_project(s, r, end, &most, error) : status;
    if (status == ZW_OK) { /* also for the next step, and for the dense output */
        int rank = s->rank;
        sens_rates(s, end, end_slow);
        if (by.all > by.stages) {
            memcpy(s->rate + (size_t)by.stages * wide, end_rate, wide * sizeof *end_rate);
            memcpy(s->slow + (size_t)by.stages * all, end_slow, all * sizeof *end_slow);
        }
        status = show_step(s, r, &by, end, end_slow, error);
        if (status == ZW_OK && s->over) {
            status = integrate(s, r, &by, end, end_slow, error);
        }
        s->rank = rank;
    }
    memcpy(s->z, end, all * sizeof *end);
    memcpy(s->rate, end_rate, wide * sizeof *end_rate);
    memcpy(s->slow, end_slow, all * sizeof *end_slow);
    s->known = 1;
    return status;
}

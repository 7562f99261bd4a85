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
 * The end of a step is projected onto the constraints, and so is z (begin.c).
 *
 * Steps of dop853 are as long as the error of x allows, but where the motion is at rest, decays or
 * does not depend on time yet, the deviations are not at rest. The error of their step is estimated
 * as dop853 estimates its own; where it is too large, z takes several shorter ones within the step
 * of x ("parts"), which begin at states of the dense output. The motion stays as it is. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "look/sensitivity/sensitivity.h"
#include "math/elementary.h"
#include "step/ode/dop853.h"

enum { RK4_STAGES = 4 };

/* The error of a part, relative to z, is at most the tolerance of the motion (or s->rough), but not
 * less than round-off makes of it; what is allowed beside that is s->least, in units of columns. */
#define ROUND 1e-13

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

/* The interval of a step of z, and y where it begins and ends. */
typedef struct part {
    double from, to, h;
    const double *begin, *end;
} part;

static zw_status stage(zw_sensitivity *s, run *r, const scheme *by, const part *at, int k,
                       zw_error *error)
{
    size_t wide = 2 * (size_t)s->n, all = wide * (size_t)s->count;
    const double *a = by->a + (size_t)k * (size_t)by->width;
    int rank = s->rank;
    combine(wide, at->begin, at->h, k, a, s->rate, s->y);
    combine(all, s->z, at->h, k, a, s->slow, s->zs);
    put(s, at->from + by->c[k] * at->h, s->y);
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
static zw_status prepare_dense(zw_sensitivity *s, run *r, const scheme *by, const part *at,
                               zw_error *error)
{
    size_t all = 2 * (size_t)s->n * (size_t)s->count;
    const double *end = s->end, *end_rate = s->end_slow;
    double *F = s->dense, h = at->h;
    zw_status status = ZW_OK;
    for (size_t i = 0; i < all; i++) {
        double rise = end[i] - s->z[i];
        F[i] = rise;
        F[all + i] = h * s->slow[i] - rise;
        F[2 * all + i] = 2 * rise - h * (s->slow[i] + end_rate[i]);
    }
    for (int k = by->stages + 1; k < by->all && status == ZW_OK; k++) {
        status = stage(s, r, by, at, k, error);
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

/* Shows the samples in a part, its ends included; none twice. */
static zw_status show_part(zw_sensitivity *s, run *r, const scheme *by, const part *at,
                           zw_error *error)
{
    const zw_sensitivity_plan *plan = s->plan;
    zw_status status = ZW_OK;
    int prepared = 0;
    while (status == ZW_OK && !r->over && s->next < plan->times && plan->time[s->next] <= at->to) {
        double t = plan->time[s->next];
        const double *z = s->end;
        if (t < at->to) {
            status = prepared ? ZW_OK : prepare_dense(s, r, by, at, error);
            prepared = 1;
            interpolate(s, (t - at->from) / at->h, s->middle);
            z = s->middle;
        }
        status = status == ZW_OK ? stepper_interpolate(r->stepper, t, s->sample_y, error) : status;
        status = status == ZW_OK ? sens_show(s, r, s->sample_y, z, error) : status;
    }
    return status;
}

/* ---- Integrals ------------------------------------------------------------------------------ */

/* By Gauss's rule with three nodes in each piece of a part; steps end at kinks and events. */
static zw_status integrate(zw_sensitivity *s, run *r, const scheme *by, const part *at,
                           zw_error *error)
{
    const double length = at->to - at->from, node = 0.5 * sqrt(0.6);
    const int pieces = (int)fmax(1, ceil(length / s->over->part));
    zw_status status = prepare_dense(s, r, by, at, error);
    for (int k = 0; k < 3 * pieces && status == ZW_OK; k++) {
        double x = (k / 3 + 0.5 + (k % 3 - 1) * node) / pieces;
        double t = at->from + x * length;
        interpolate(s, x * length / at->h, s->middle);
        status = stepper_interpolate(r->stepper, t, s->sample_y, error);
        status = status == ZW_OK ? motion_project(&r->motion, t, s->sample_y, error) : status;
        r->motion.at_node = 0; /* the steps know nothing of this point */
        if (status == ZW_OK) {
            put(s, t, s->sample_y);
            sens_functions_run(s, &r->guards.kinks, NULL, NULL);
            s->over->take(s->over->user, s->middle, length / pieces * (k % 3 == 1 ? 4 : 2.5) / 9);
        }
    }
    return status;
}

/* ---- Parts ---------------------------------------------------------------------------------- */

/* The largest error of the coordinates and of the speeds of a column, as dop853 estimates its own,
 * in units of what is allowed. */
static double error_of(const zw_sensitivity *s, const run *r, double h)
{
    const size_t half = (size_t)s->n, all = 2 * half * (size_t)s->count;
    const double rough = fmax(fmax(r->options.tolerance, s->rough), ROUND);
    double most = 0;
    for (size_t c = 0; c < 2 * (size_t)s->count; c++) {
        double largest5 = 0, largest3 = 0, size = 0;
        for (size_t i = c * half; i < (c + 1) * half; i++) {
            double e5 = 0, e3 = 0;
            for (size_t j = 0; j < STEP_DOP853_STAGES; j++) {
                e5 += step_dop853_e5[j] * s->slow[j * all + i];
                e3 += step_dop853_e3[j] * s->slow[j * all + i];
            }
            largest5 = fmax(largest5, fabs(e5));
            largest3 = fmax(largest3, fabs(e3));
            size = fmax(size, fmax(fabs(s->z[i]), fabs(s->end[i])));
        }
        double error = step_dop853_size(h, largest5, largest3);
        double ratio = error > 0 ? error / (rough * size + s->least * s->unit[c / 2]) : 0;
        most = isfinite(ratio) ? fmax(most, ratio) : INFINITY;
    }
    return most;
}

/* The part from at->from on: as long as it may be, at most to the end of the step. */
static zw_status go_part(zw_sensitivity *s, run *r, const scheme *by, part *at, double until,
                         zw_error *error)
{
    const size_t all = 2 * (size_t)s->n * (size_t)s->count;
    const double whole = until - at->from, least = 16 * DBL_EPSILON * (fabs(until) + fabs(whole));
    double factor = 1;
    do {
        s->pace *= factor;
        at->h = s->pace < 0.9 * fabs(whole) ? copysign(s->pace, whole) : whole;
        at->to = s->pace < 0.9 * fabs(whole) ? at->from + at->h : until;
        zw_status status = ZW_OK;
        for (int k = s->known ? 1 : 0; k < by->stages && status == ZW_OK; k++) {
            status = stage(s, r, by, at, k, error);
            s->known = 1;
        }
        if (status != ZW_OK) {
            return status;
        }
        combine(all, s->z, at->h, by->stages, by->b, s->slow, s->end);
        double off = by->all > by->stages ? error_of(s, r, at->h) : 0;
        factor = fmin(fmax(0.9 / math_pow(off, 0.125), 0.2), 5);
        if (off <= 1) {
            s->pace = fmax(s->pace, fabs(at->h)) * fmax(factor, 1);
            return ZW_OK;
        }
        s->pace = fabs(at->h);
    } while (s->pace > least);
    return base_fail(error, ZW_NOT_FINITE,
                     "at t = %.9g the derivatives of the motion grow beyond all numbers", at->from);
}

/* What ends a part: slopes and deviations at its end, samples and integrals within it. */
static zw_status end_part(zw_sensitivity *s, run *r, const scheme *by, const part *at,
                          zw_error *error)
{
    const size_t wide = 2 * (size_t)s->n, all = wide * (size_t)s->count;
    double most;
    put(s, at->to, at->end);
    zw_status status = sens_instant(s, r, s->end_rate, error);
    status = status == ZW_OK ? sens_project(s, r, s->end, &most, error) : status;
    if (status == ZW_OK) { /* also for the next part, and for the dense output */
        int rank = s->rank;
        sens_rates(s, s->end, s->end_slow);
        if (by->all > by->stages) {
            memcpy(s->rate + (size_t)by->stages * wide, s->end_rate, wide * sizeof *s->rate);
            memcpy(s->slow + (size_t)by->stages * all, s->end_slow, all * sizeof *s->slow);
        }
        status = show_part(s, r, by, at, error);
        if (status == ZW_OK && s->over) {
            status = integrate(s, r, by, at, error);
        }
        s->rank = rank;
    }
    memcpy(s->z, s->end, all * sizeof *s->z);
    memcpy(s->rate, s->end_rate, wide * sizeof *s->rate);
    memcpy(s->slow, s->end_slow, all * sizeof *s->slow);
    return status;
}

zw_status sens_step(void *user, run *r, zw_error *error)
{
    zw_sensitivity *s = user;
    const stepper_view *step = stepper_look(r->stepper);
    const scheme by = scheme_of(r);
    const size_t wide = 2 * (size_t)s->n;
    if (step->leapt) {
        return base_fail(error, ZW_BAD_INPUT,
                         "at t = %.9g the motion passes a position where constraints are "
                         "dependent: its derivatives are not known beyond",
                         step->t);
    }
    memcpy(state_param(s->now), state_param(r->state), (size_t)s->params * sizeof(double));
    zw_status status = ZW_OK;
    part at = {.to = step->t_before, .begin = step->y_before};
    for (int over = 0; status == ZW_OK && !over && !r->over;) {
        at.from = at.to;
        status = go_part(s, r, &by, &at, step->t, error);
        over = at.to == step->t;
        at.end = over ? step->y : s->sample_y;
        if (status == ZW_OK && !over) {
            status = stepper_interpolate(r->stepper, at.to, s->sample_y, error);
            status =
                status == ZW_OK ? motion_project(&r->motion, at.to, s->sample_y, error) : status;
            r->motion.at_node = 0; /* the steps know nothing of this point */
            memcpy(s->part_y[1], s->sample_y, wide * sizeof(double));
            at.end = s->part_y[1];
        }
        status = status == ZW_OK ? end_part(s, r, &by, &at, error) : status;
        memcpy(s->part_y[0], at.end, wide * sizeof(double));
        at.begin = s->part_y[0];
    }
    return status;
}

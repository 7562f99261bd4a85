/* Fits by the method of Levenberg and Marquardt.
 *
 * Residuals e = measured - fitted, slopes D = d fitted/dx, noise s of each channel. With
 * A = D/s of columns scaled to length one, and its singular values S, the step
 *
 *     dx = V (S^2 + mu)^-1 S U' (e/s)
 *
 * goes from steepest descent (mu large) to Gauss-Newton (mu = 0); mu falls while the sum of squares
 * does, and grows where it does not or where the motion fails. Unknowns at a bound that the
 * gradient pushes against stay there; steps that lead beyond a bound end on it. Singular values
 * below NONE of the largest are directions without effect: no step goes there, and they are
 * reported.
 *
 * Noise. The square of a channel's noise is the sum of its squares over the number of its residuals
 * that are free: all minus those that the unknowns have absorbed, which the diagonal of U U'
 * determines (the estimate of residual maximum likelihood). Noise and unknowns are determined
 * alternately. errors.c has the errors. */
#include "look/fit/fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define FLOOR 1e-10 /* relative to the spread of a channel: lower bound of the noise */

/* ---- Creating and freeing -------------------------------------------------------------------- */

static double *doubles(size_t count)
{
    return base_alloc((count + 1) * sizeof(double));
}

static int name_unknowns(zw_fit *fit)
{
    const zw_system *system = fit->system;
    for (int k = 0; k < fit->count; k++) {
        const zw_unknown *by = &fit->problem.unknown[k];
        int speed = by->kind == ZW_UNKNOWN_SPEED && system->tree;
        int param = by->kind == ZW_UNKNOWN_PARAM || by->kind == ZW_UNKNOWN_NUMBER;
        const char *name = by->kind == ZW_UNKNOWN_NUMBER ? fit->problem.number[by->index]
                           : param                       ? zw_name(system, ZW_KIND_PARAM, by->index)
                           : speed                       ? zw_name(system, ZW_KIND_SPEED, by->index)
                                   : zw_name(system, ZW_KIND_COORD, by->index);
        size_t capacity = strlen(name) + 8;
        fit->name[k] = base_alloc(capacity);
        if (!fit->name[k]) {
            return 0;
        }
        snprintf(fit->name[k], capacity, "%s%s", name,
                 param                                   ? ""
                 : by->kind == ZW_UNKNOWN_START || speed ? "(0)"
                                                         : "'(0)");
    }
    return 1;
}

static zw_status copy_problem(zw_fit *fit, const zw_fit_problem *given, zw_error *error)
{
    size_t u = (size_t)given->unknowns, k = (size_t)given->recordings, n = (size_t)fit->n;
    size_t channels = (size_t)fit->channels;
    size_t params = (size_t)fit->system->shape.params;
    zw_unknown *by = base_alloc((u + 1) * sizeof *by);
    fit->problem = *given;
    fit->problem.unknown = by;
    fit->count = given->unknowns;
    fit->name = base_alloc((u + 1) * sizeof *fit->name);
    fit->time = base_alloc((k + 1) * sizeof *fit->time);
    fit->sample = base_alloc((k + 1) * sizeof *fit->sample);
    fit->times = base_alloc((k + 1) * sizeof *fit->times);
    fit->first_row = base_alloc((k + 1) * sizeof *fit->first_row);
    fit->bound = base_alloc((u + 1) * sizeof *fit->bound);
    fit->given = base_alloc((channels + 1) * sizeof *fit->given);
    double **of_u[] = {&fit->x,    &fit->origin, &fit->value,  &fit->size,
                       &fit->step, &fit->trial,  &fit->freedom};
    double **of_uu[] = {&fit->V, &fit->covariance, &fit->correlation, &fit->null};
    int ok = by && fit->name && fit->time && fit->sample && fit->times && fit->first_row &&
             fit->bound && fit->given;
    for (size_t i = 0; i < 7; i++) {
        ok &= (*of_u[i] = doubles(u)) != NULL;
    }
    for (size_t i = 0; i < 4; i++) {
        ok &= (*of_uu[i] = doubles(u * u)) != NULL;
    }
    ok &= (fit->param = doubles(params)) != NULL;
    ok &= (fit->q = doubles(n)) != NULL;
    ok &= (fit->v = doubles(n)) != NULL;
    ok &= (fit->sigma = doubles(channels)) != NULL;
    ok &= (fit->scale = doubles(channels)) != NULL;
    ok &= (fit->free = doubles(channels)) != NULL;
    ok &= (fit->alike = doubles(channels)) != NULL;
    if (ok) {
        memcpy(by, given->unknown, u * sizeof *by);
        for (size_t i = 0; i < n; i++) {
            fit->q[i] = fit->v[i] = NAN;
        }
    }
    return ok && name_unknowns(fit) ? ZW_OK : base_no_memory(error);
}

void zw_fit_free(zw_fit *fit)
{
    if (!fit) {
        return;
    }
    for (int k = 0; k < fit->count && fit->name; k++) {
        base_free(fit->name[k]);
    }
    for (int k = 0; k < fit->problem.recordings; k++) {
        base_free(fit->time ? fit->time[k] : NULL);
        base_free(fit->sample ? fit->sample[k] : NULL);
    }
    zw_sensitivity_free(fit->flow);
    zw_work_free(fit->work);
    void *memory[] = {(void *)fit->problem.unknown,
                      fit->name,
                      fit->time,
                      fit->sample,
                      fit->times,
                      fit->first_row,
                      fit->bound,
                      fit->given,
                      fit->x,
                      fit->origin,
                      fit->value,
                      fit->size,
                      fit->step,
                      fit->trial,
                      fit->V,
                      fit->covariance,
                      fit->correlation,
                      fit->null,
                      fit->param,
                      fit->q,
                      fit->v,
                      fit->sigma,
                      fit->scale,
                      fit->free,
                      fit->alike,
                      fit->before,
                      fit->freedom,
                      fit->row,
                      fit->residual,
                      fit->slope,
                      fit->tried,
                      fit->tried_slope,
                      fit->A};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) {
        base_free(memory[i]);
    }
    base_free(fit);
}

/* Where the unknowns are in the model. */
static zw_status find_origin(zw_fit *fit, zw_error *error)
{
    zw_state *state = zw_state_create(fit->system, fit->work, NULL, error);
    if (!state) {
        return error && error->status ? error->status : ZW_NO_MEMORY;
    }
    for (int k = 0; k < fit->count; k++) {
        const zw_unknown *by = &fit->problem.unknown[k];
        double low = fit->problem.low ? fit->problem.low[k] : -INFINITY;
        double high = fit->problem.high ? fit->problem.high[k] : INFINITY;
        zw_status status = ZW_OK;
        if (fit->system->tree) {
            status = robot_origin(&fit->robot, k, state, &fit->x[k], error);
        } else {
            fit->x[k] = sens_origin(fit->system, by, state);
        }
        if (status != ZW_OK) {
            zw_state_free(state);
            return status;
        }
        if (!(low <= high)) {
            zw_state_free(state);
            return base_fail(error, ZW_BAD_INPUT, "the bounds of %s leave nothing between them",
                             fit->name[k]);
        }
        fit->x[k] = fmin(fmax(fit->x[k], low), high);
        fit->origin[k] = fit->x[k];
    }
    zw_state_free(state);
    return ZW_OK;
}

/* ---- The sum of squares --------------------------------------------------------------------- */

static double cost_of(const zw_fit *fit, const double *residual)
{
    double sum = 0;
    for (long i = 0; i < fit->rows; i++) {
        double x = residual[i] / fit->sigma[fit->row[i].channel];
        sum += x * x;
    }
    return sum;
}

/* Unknowns at a bound that the sum pushes against. */
static void find_bounds(zw_fit *fit)
{
    size_t u = (size_t)fit->count;
    for (size_t k = 0; k < u; k++) {
        double low = fit->problem.low ? fit->problem.low[k] : -INFINITY, push = 0;
        double high = fit->problem.high ? fit->problem.high[k] : INFINITY;
        for (long i = 0; i < fit->rows; i++) {
            double s = fit->sigma[fit->row[i].channel];
            push += fit->slope[(size_t)i * u + k] * fit->residual[i] / (s * s);
        }
        fit->bound[k] = fit->x[k] <= low && push <= 0 ? -1 : fit->x[k] >= high && push >= 0 ? 1 : 0;
    }
}

/* A, its sizes and singular values: of what is not at a bound. */
static void factor(zw_fit *fit)
{
    size_t u = (size_t)fit->count;
    for (size_t k = 0; k < u; k++) {
        double sum = 0;
        for (long i = 0; i < fit->rows; i++) {
            double x = fit->slope[(size_t)i * u + k] / fit->sigma[fit->row[i].channel];
            fit->A[(size_t)i * u + k] = fit->bound[k] ? 0 : x;
            sum += fit->bound[k] ? 0 : x * x;
        }
        fit->size[k] = sum > 0 ? sqrt(sum) : 1;
        for (long i = 0; i < fit->rows; i++) {
            fit->A[(size_t)i * u + k] /= fit->size[k];
        }
    }
    fit_singular(fit->rows, fit->count, fit->A, fit->value, fit->V);
}

static void find_step(zw_fit *fit, double mu)
{
    size_t u = (size_t)fit->count;
    memset(fit->step, 0, u * sizeof *fit->step);
    for (size_t k = 0; k < u && fit->value[k] > fit_none(fit) * fit->value[0]; k++) {
        double along = 0; /* (U S)' e/s */
        for (long i = 0; i < fit->rows; i++) {
            along += fit->A[(size_t)i * u + k] * fit->residual[i] / fit->sigma[fit->row[i].channel];
        }
        along /= fit->value[k] * fit->value[k] + mu;
        for (size_t j = 0; j < u; j++) {
            fit->step[j] += fit->V[j * u + k] * along / fit->size[j];
        }
    }
}

/* The unknowns a step on, within their bounds; how far relative to their errors. */
static double take_step(zw_fit *fit)
{
    double far = 0;
    for (int k = 0; k < fit->count; k++) {
        double low = fit->problem.low ? fit->problem.low[k] : -INFINITY;
        double high = fit->problem.high ? fit->problem.high[k] : INFINITY;
        fit->trial[k] = fmin(fmax(fit->x[k] + fit->step[k], low), high);
        far = fmax(far, fabs(fit->trial[k] - fit->x[k]) * fit->size[k]);
    }
    return far;
}

static void accept(zw_fit *fit)
{
    double *residual = fit->residual, *slope = fit->slope;
    memcpy(fit->x, fit->trial, (size_t)fit->count * sizeof *fit->x);
    fit->residual = fit->tried;
    fit->slope = fit->tried_slope;
    fit->tried = residual;
    fit->tried_slope = slope;
}

/* The minimum with the present noise. A step below 1e-4 of the errors is insignificant, but one
 * more is taken: convergence is quadratic. */
static zw_status descend(zw_fit *fit, int most, zw_error *error)
{
    double mu = 1e-3, cost = cost_of(fit, fit->residual);
    zw_status status = ZW_OK;
    int near = 0;
    while (near < 2) {
        if (fit->report.iterations++ >= most) {
            return base_fail(error, ZW_NOT_REACHED, "no minimum was found in %d steps", most);
        }
        find_bounds(fit);
        factor(fit);
        for (;; mu *= 8) {
            find_step(fit, mu);
            double far = take_step(fit);
            if (far == 0 || mu > 1e12) {
                return ZW_OK; /* nothing is lower: this is round-off */
            }
            status = fit_evaluate(fit, fit->trial, fit->tried, fit->tried_slope, error);
            if (status == ZW_NO_MEMORY || status == ZW_INTERRUPTED) {
                return status;
            }
            double then = status == ZW_OK ? cost_of(fit, fit->tried) : INFINITY;
            if (then <= cost) {
                near = far <= 1e-4 || then >= cost * (1 - 1e-14) ? near + 1 : 0;
                cost = then;
                mu = fmax(mu / 16, 1e-15);
                accept(fit);
                break;
            }
            near = far <= 1e-4 ? 2 : near;
            if (near >= 2) {
                break;
            }
        }
    }
    return ZW_OK;
}

/* The part of number i of the recordings that the unknowns have absorbed: the diagonal of U U'. */
static double leverage(const zw_fit *fit, long i)
{
    size_t u = (size_t)fit->count;
    double sum = 0;
    for (size_t k = 0; k < u && fit_is_known(fit, k); k++) {
        double x = fit->A[(size_t)i * u + k] / fit->value[k];
        sum += x * x;
    }
    return sum;
}

/* Noise from the residuals; how much it changed. */
static double estimate_noise(zw_fit *fit)
{
    double change = 0;
    find_bounds(fit);
    factor(fit);
    for (int c = 0; c < fit->channels; c++) {
        double sum = 0, free = 0;
        for (long i = 0; i < fit->rows; i++) {
            if (fit->row[i].channel == c) {
                sum += fit->residual[i] * fit->residual[i];
                free += 1 - leverage(fit, i);
            }
        }
        fit->free[c] = fmax(free, 1);
        if (fit->scale[c] > 0 && !fit->given[c]) {
            double sigma = fmax(sqrt(sum / fit->free[c]), FLOOR * fit->scale[c]);
            change = fmax(change, fabs(sigma / fit->sigma[c] - 1));
            fit->sigma[c] = sigma;
        }
    }
    return change;
}

/* ---- The whole ---------------------------------------------------------------------------------
 */

static zw_status solve(zw_fit *fit, zw_error *error)
{
    enum { ROUNDS = 12 };
    int most = fit->problem.iterations > 0 ? fit->problem.iterations : 100;
    zw_status status = fit_evaluate(fit, fit->x, fit->residual, fit->slope, error);
    for (int round = 0; round < ROUNDS && status == ZW_OK; round++) {
        status = descend(fit, most, error);
        if (status == ZW_OK && estimate_noise(fit) < 1e-3) {
            break;
        }
    }
    if (status == ZW_OK) {
        int runs = fit->report.runs;
        status = fit_evaluate(fit, fit->x, fit->residual, fit->slope, error);
        fit->report.runs = runs;
    }
    if (status == ZW_OK) {
        find_bounds(fit);
        factor(fit);
        status = fit_find_errors(fit, error);
        fit->report.cost = cost_of(fit, fit->residual);
    }
    return status;
}

static zw_status prepare(zw_fit *fit, const zw_model *model, const zw_fit_problem *problem,
                         zw_error *error)
{
    if (problem->unknowns < 1 || problem->recordings < 1) {
        return base_fail(error, ZW_BAD_INPUT, "a fit needs unknowns and recordings");
    }
    int robot = fit->system->tree != NULL;
    fit->flow = robot ? NULL
                      : zw_sensitivity_create(model, fit->system, problem->unknown,
                                              problem->unknowns, error);
    fit->work = fit->flow || robot ? zw_work_create(fit->system, error) : NULL;
    if (!fit->work) {
        return error && error->status ? error->status : ZW_NO_MEMORY;
    }
    zw_status status = copy_problem(fit, problem, error);
    status = status == ZW_OK && robot ? fit_prepare_robot(fit, error) : status;
    status = status == ZW_OK ? find_origin(fit, error) : status;
    status = status == ZW_OK ? fit_take_recordings(fit, error) : status;
    if (status == ZW_OK && fit->rows <= fit->count) {
        status = base_fail(error, ZW_BAD_INPUT, "%ld recorded numbers cannot determine %d unknowns",
                           fit->rows, fit->count);
    }
    if (status != ZW_OK) {
        return status;
    }
    size_t rows = (size_t)fit->rows, u = (size_t)fit->count;
    fit->residual = doubles(rows);
    fit->slope = doubles(rows * u);
    fit->tried = doubles(rows);
    fit->tried_slope = doubles(rows * u);
    fit->A = doubles(rows * u);
    return fit->residual && fit->slope && fit->tried && fit->tried_slope && fit->A
               ? ZW_OK
               : base_no_memory(error);
}

zw_fit *zw_fit_create(const zw_model *model, const zw_system *system, const zw_fit_problem *problem,
                      zw_error *error)
{
    zw_fit *fit = base_alloc(sizeof *fit);
    if (!fit) {
        base_no_memory(error);
        return NULL;
    }
    fit->system = system;
    fit->n = system->n;
    fit->nq = system->nq;
    fit->channels = fit->nq + fit->n;
    zw_status status = prepare(fit, model, problem, error);
    if (status != ZW_OK || solve(fit, error) != ZW_OK) {
        zw_fit_free(fit);
        return NULL;
    }
    fit->report.unknowns = fit->count;
    fit->report.numbers = fit->rows;
    return fit;
}

/* ---- Answers -------------------------------------------------------------------------------- */

zw_fit_report zw_fit_report_of(const zw_fit *fit)
{
    return fit->report;
}

zw_fit_estimate zw_fit_look(const zw_fit *fit, int k)
{
    double free = fit->freedom[k];
    double wide = 1.959964 + 2.3723 / free + 2.8225 / (free * free);
    double error = sqrt(fit->covariance[(size_t)k * (size_t)fit->count + (size_t)k]);
    return (zw_fit_estimate){.value = fit->x[k],
                             .error = error,
                             .low = fit->x[k] - wide * error,
                             .high = fit->x[k] + wide * error,
                             .at_bound = fit->bound[k]};
}

const char *zw_fit_name(const zw_fit *fit, int k)
{
    return fit->name[k];
}

const double *zw_fit_correlation(const zw_fit *fit)
{
    return fit->correlation;
}

const double *zw_fit_null(const zw_fit *fit, int null)
{
    return fit->null + (size_t)null * (size_t)fit->count;
}

double zw_fit_neighbours(const zw_fit *fit, int channel)
{
    return fit->alike[channel];
}

double zw_fit_noise(const zw_fit *fit, int channel)
{
    return fit->scale[channel] > 0 ? fit->sigma[channel] : 0;
}

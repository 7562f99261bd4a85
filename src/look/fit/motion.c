/* Residuals of a fit, and their derivatives: one motion with its derivatives for each recording. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "look/fit/fit.h"

/* ---- Recordings ------------------------------------------------------------------------------ */

static int is_recorded(const zw_path *path, int channel)
{
    int speed = channel >= path->n;
    return path->known ? path->known[channel] : !speed || path->v != NULL;
}

static double recorded(const zw_path *path, int channel, long sample)
{
    return channel < path->n ? path->q[sample * path->n + channel]
                             : path->v[sample * path->speeds + channel - path->n];
}

/* A time given twice is one instant with a jump: its first sample counts. */
static zw_status take_times(zw_fit *fit, int k, zw_error *error)
{
    const zw_path *path = fit->problem.recording[k];
    fit->time[k] = base_alloc(((size_t)path->count + 1) * sizeof(double));
    fit->sample[k] = base_alloc(((size_t)path->count + 1) * sizeof(long));
    if (!fit->time[k] || !fit->sample[k]) {
        return base_no_memory(error);
    }
    if (path->n != fit->nq) {
        return path_fail(path, error, ZW_BAD_INPUT, 0, "recording %d is of another system", k + 1);
    }
    if (path->t[0] < 0) {
        return path_fail(path, error, ZW_BAD_INPUT, path->first_line,
                         "recording %d starts at t = %.9g, before the motion, which starts at "
                         "t = 0",
                         k + 1, path->t[0]);
    }
    for (long i = 0; i < path->count; i++) {
        int again = i > 0 && path->t[i] == path->t[i - 1];
        fit->report.duplicate += again;
        if (!again) {
            fit->sample[k][fit->times[k]] = i;
            fit->time[k][fit->times[k]++] = path->t[i];
        }
    }
    return ZW_OK;
}

/* Channels that are zero throughout (a coordinate that a constraint keeps at 0) have no spread:
 * that of the widest coordinate or speed stands for it, so that round-off in them weighs nothing.
 */
static void widen(zw_fit *fit)
{
    int half = fit->nq; /* speeds come after coordinates */
    double widest[2] = {0, 0};
    for (int c = 0; c < fit->channels; c++) {
        widest[c >= half] = fmax(widest[c >= half], fit->scale[c]);
    }
    for (int c = 0; c < fit->channels; c++) {
        if (fit->scale[c] == 0 && !isnan(fit->sigma[c])) {
            fit->scale[c] = widest[c >= half] > 0 ? widest[c >= half] : 1;
            fit->sigma[c] = fit->given[c] ? fit->sigma[c] : fit->scale[c];
        }
    }
}

/* The spread of each channel: its noise is between this and a fraction of it. */
static void measure(zw_fit *fit)
{
    size_t channels = (size_t)fit->channels;
    for (size_t c = 0; c < channels; c++) {
        double sum = 0, square = 0, most = 0;
        long count = 0;
        for (long i = 0; i < fit->rows; i++) {
            const fit_row *row = &fit->row[i];
            if ((size_t)row->channel == c) {
                double x =
                    recorded(fit->problem.recording[row->recording], row->channel, row->sample);
                sum += x;
                square += x * x;
                most = fmax(most, fabs(x));
                count++;
            }
        }
        double mean = count > 0 ? sum / (double)count : 0;
        double spread = count > 0 ? sqrt(fmax(square / (double)count - mean * mean, 0)) : 0;
        fit->scale[c] = fmax(spread, 1e-6 * most);
        fit->given[c] = fit->problem.sigma && fit->problem.sigma[c] > 0;
        fit->sigma[c] = count == 0      ? NAN /* not recorded */
                        : fit->given[c] ? fit->problem.sigma[c]
                                        : fit->scale[c];
    }
    widen(fit);
    for (size_t c = 0; c < channels; c++) {
        fit->sigma[c] = isnan(fit->sigma[c]) ? 0 : fit->sigma[c];
    }
}

zw_status fit_take_recordings(zw_fit *fit, zw_error *error)
{
    int channels = fit->channels;
    zw_status status = ZW_OK;
    for (int k = 0; k < fit->problem.recordings && status == ZW_OK; k++) {
        status = take_times(fit, k, error);
        for (int c = 0; c < channels && status == ZW_OK; c++) {
            fit->rows += is_recorded(fit->problem.recording[k], c) ? fit->times[k] : 0;
        }
    }
    fit->row = status == ZW_OK ? base_alloc(((size_t)fit->rows + 1) * sizeof *fit->row) : NULL;
    if (!fit->row) {
        return status != ZW_OK ? status : base_no_memory(error);
    }
    long at = 0;
    for (int k = 0; k < fit->problem.recordings; k++) {
        fit->first_row[k] = at;
        for (int i = 0; i < fit->times[k]; i++) {
            for (int c = 0; c < channels; c++) {
                if (is_recorded(fit->problem.recording[k], c)) {
                    fit->row[at++] = (fit_row){k, c, fit->sample[k][i]};
                }
            }
        }
    }
    measure(fit);
    return ZW_OK;
}

/* ---- Motions --------------------------------------------------------------------------------- */

typedef struct watch {
    zw_fit *fit;
    double *residual, *slope;
    long at;
} watch;

static int look(void *user, const zw_state *state, const zw_sensitivity_answer *answer)
{
    watch *w = user;
    zw_fit *fit = w->fit;
    const zw_path *path = fit->problem.recording[fit->recording];
    zw_state *now = (zw_state *)state; /* not modified */
    size_t count = (size_t)fit->count, n = (size_t)fit->n;
    long sample = fit->sample[fit->recording][fit->seen++];
    while (w->at < fit->rows && fit->row[w->at].recording == fit->recording &&
           fit->row[w->at].sample == sample) {
        size_t c = (size_t)fit->row[w->at].channel;
        double x = c < n ? state_q(now)[c] : state_v(now)[c - n];
        w->residual[w->at] = recorded(path, (int)c, sample) - x;
        for (size_t k = 0; k < count; k++) {
            w->slope[(size_t)w->at * count + k] = answer->by[k * 2 * n + c];
        }
        w->at++;
    }
    return 0;
}

static zw_status follow(zw_fit *fit, int k, watch *w, zw_error *error)
{
    const state_given given = {fit->param, fit->q, fit->v};
    zw_state *state = state_create_given(fit->system, &given, fit->work, NULL, error);
    zw_sensitivity_plan plan = {.run = fit->problem.run,
                                .times = fit->times[k],
                                .time = fit->time[k],
                                .observer = look,
                                .user = w};
    zw_run_summary summary;
    if (!state) {
        return error && error->status ? error->status : ZW_NO_MEMORY;
    }
    double end = fit->time[k][fit->times[k] - 1];
    plan.run.time = end;
    plan.run.every = 2 * end + 1;
    plan.run.poll = fit->problem.poll;
    plan.run.user = fit->problem.user;
    fit->recording = k;
    fit->seen = 0;
    fit->flow->given = given;
    zw_status status = zw_sensitivity_start(fit->flow, state, 1, error);
    if (status == ZW_OK) {
        status = zw_sensitivity_run(fit->flow, state, fit->work, &plan, &summary, error);
    }
    if (status == ZW_OK && fit->seen < fit->times[k]) {
        status = summary.interrupted
                     ? base_fail_as(error, ZW_INTERRUPTED)
                     : path_fail(fit->problem.recording[k], error, ZW_BAD_INPUT,
                                 fit->problem.recording[k]->last_line,
                                 "an event ends the motion at t = %.9g, and recording %d goes on "
                                 "to t = %.9g",
                                 summary.end, k + 1, end);
    }
    fit->report.kinks = zw_sensitivity_look(fit->flow).kinks;
    zw_state_free(state);
    return status;
}

/* ---- Robots ---------------------------------------------------------------------------------- */

zw_status fit_prepare_robot(zw_fit *fit, zw_error *error)
{
    const zw_fit_problem *given = &fit->problem;
    zw_state *state = zw_state_create(fit->system, fit->work, NULL, error);
    zw_run_options requested = given->run;
    size_t n = (size_t)fit->n;
    if (!state) {
        return error && error->status ? error->status : ZW_NO_MEMORY;
    }
    fit->robot = (robot_problem){.system = fit->system,
                                 .model = given->model,
                                 .unknown = given->unknown,
                                 .count = fit->count,
                                 .number = given->number};
    requested.time = state->t + 1;
    zw_status status = robot_plan(fit->system, state, &requested, &fit->robot.run, error);
    status = status == ZW_OK ? robot_check(&fit->robot, error) : status;
    fit->robot.run.poll = given->poll;
    fit->robot.run.user = given->user;
    zw_state_free(state);
    fit->before =
        base_alloc(((size_t)fit->nq + n + 2 * n * (size_t)fit->count + 1) * sizeof(double));
    return status == ZW_OK && !fit->before ? base_no_memory(error) : status;
}

/* A coordinate with its rate at both ends of a step, or a speed; or slopes of these. */
typedef struct ends {
    double x[2], rate[2];
} ends;

/* At fraction s of a step of length h: a Hermite cubic, or a line for numbers without rates. */
static double between(const ends *e, int smooth, double s, double h)
{
    double line = (1 - s) * e->x[0] + s * e->x[1];
    double bend = h * ((1 - s) * e->rate[0] - s * e->rate[1]) + (2 * s - 1) * (e->x[1] - e->x[0]);
    return smooth ? line + s * (1 - s) * bend : line;
}

/* Number `channel`, or (column >= 0) its slope, of both ends of the last step. */
static ends ends_of(const zw_fit *fit, const zw_state *now, const double *z, int channel,
                    int column, int *smooth)
{
    const zw_system *system = fit->system;
    size_t n = (size_t)fit->n;
    int nq = fit->nq, of_speed = channel >= nq;
    const double *q[2] = {fit->before, state_q((zw_state *)now)};
    const double *v[2] = {fit->before + nq, state_v((zw_state *)now)};
    const double *at[2] = {v[0] + n, z};
    ends e = {0};
    for (int k = 0; k < 2; k++) {
        const double *own = column >= 0 ? at[k] + (size_t)column * 2 * n : NULL;
        if (of_speed) {
            e.x[k] = own ? own[fit->n + channel - nq] : v[k][channel - nq];
        } else {
            e.x[k] = own ? robot_coordinate(system, q[k], own, channel) : q[k][channel];
            e.rate[k] = robot_coordinate(system, q[k], own ? own + n : v[k], channel);
        }
    }
    *smooth = !of_speed && nq == fit->n; /* quaternions turn their rates with them */
    return e;
}

static int look_at_robot(void *user, long step, const zw_state *state, const double *z)
{
    watch *w = user;
    zw_fit *fit = w->fit;
    int r = fit->recording;
    const zw_path *path = fit->problem.recording[r];
    size_t n = (size_t)fit->n, count = (size_t)fit->count;
    double h = fit->robot.run.step, slack = 1e-9 * h;
    while (fit->seen < fit->times[r] && fit->time[r][fit->seen] <= state->t + slack) {
        double s = step == 0 ? 1 : 1 - (state->t - fit->time[r][fit->seen]) / h;
        long sample = fit->sample[r][fit->seen++];
        s = fmin(fmax(s, 0), 1);
        for (; w->at < fit->rows && fit->row[w->at].recording == r &&
               fit->row[w->at].sample == sample;
             w->at++) {
            int c = fit->row[w->at].channel, smooth;
            ends e = ends_of(fit, state, z, c, -1, &smooth);
            w->residual[w->at] = recorded(path, c, sample) - between(&e, smooth, s, h);
            for (size_t k = 0; k < count; k++) {
                e = ends_of(fit, state, z, c, (int)k, &smooth);
                w->slope[(size_t)w->at * count + k] = between(&e, smooth, s, h);
            }
        }
    }
    memcpy(fit->before, state_q((zw_state *)state), (size_t)fit->nq * sizeof(double));
    memcpy(fit->before + fit->nq, state_v((zw_state *)state), n * sizeof(double));
    memcpy(fit->before + (size_t)fit->nq + n, z, 2 * n * count * sizeof(double));
    return 0;
}

static zw_status follow_robot(zw_fit *fit, int k, const double *x, watch *w, zw_error *error)
{
    fit->recording = k;
    fit->seen = 0;
    fit->robot.end = fit->time[k][fit->times[k] - 1];
    return robot_follow(&fit->robot, x, look_at_robot, w, &fit->report.kinks, error);
}

zw_status fit_evaluate(zw_fit *fit, const double *x, double *residual, double *slope,
                       zw_error *error)
{
    watch w = {.fit = fit, .residual = residual, .slope = slope};
    const state_given given = {fit->param, fit->q, fit->v};
    int robot = fit->system->tree != NULL;
    zw_status status =
        robot ? ZW_OK : sens_given(fit->system, fit->problem.unknown, fit->count, x, &given, error);
    for (int k = 0; k < fit->problem.recordings && status == ZW_OK; k++) {
        w.at = fit->first_row[k];
        status = robot ? follow_robot(fit, k, x, &w, error) : follow(fit, k, &w, error);
        fit->report.runs++;
    }
    for (long i = 0; i < fit->rows && status == ZW_OK; i++) {
        if (!isfinite(residual[i])) {
            status = base_fail(error, ZW_NOT_FINITE, "the motion is not finite");
        }
    }
    return status;
}

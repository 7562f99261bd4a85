/* Residuals of a fit, and how they change: one motion with its derivatives for each recording. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "look/fit/fit.h"

/* ---- Recordings ------------------------------------------------------------------------------
 */

static int is_recorded(const zw_path *path, int n, int channel)
{
    int speed = channel >= n;
    return path->known ? path->known[channel] : !speed || path->v != NULL;
}

static double recorded(const zw_path *path, int n, int channel, long sample)
{
    return channel < n ? path->q[sample * n + channel] : path->v[sample * n + channel - n];
}

/* A time given twice is one instant with a jump: its first sample counts. */
static zw_status take_times(zw_fit *fit, int k, zw_error *error)
{
    const zw_path *path = fit->problem.recording[k];
    fit->time[k] = base_alloc(((size_t)path->count + 1) * sizeof(double));
    fit->sample[k] = base_alloc(((size_t)path->count + 1) * sizeof(long));
    if (!fit->time[k] || !fit->sample[k]) {
        return fit_no_memory(error);
    }
    if (path->n != fit->n || path->t[0] < 0) {
        return base_fail(error, ZW_BAD_INPUT,
                         path->n != fit->n
                             ? "recording %d is of another system"
                             : "recording %d starts before the motion, which starts at t = 0",
                         k + 1);
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

/* The spread of each channel: its noise is looked for between this and a part of it. */
static void measure(zw_fit *fit)
{
    size_t channels = 2 * (size_t)fit->n;
    for (size_t c = 0; c < channels; c++) {
        double sum = 0, square = 0, most = 0;
        long count = 0;
        for (long i = 0; i < fit->rows; i++) {
            const fit_row *row = &fit->row[i];
            if ((size_t)row->channel == c) {
                double x = recorded(fit->problem.recording[row->recording], fit->n, row->channel,
                                    row->sample);
                sum += x;
                square += x * x;
                most = fmax(most, fabs(x));
                count++;
            }
        }
        double mean = count > 0 ? sum / (double)count : 0;
        double spread = count > 0 ? sqrt(fmax(square / (double)count - mean * mean, 0)) : 0;
        fit->scale[c] = count > 0 ? fmax(spread, fmax(1e-6 * most, 1e-300)) : 0;
        fit->given[c] = fit->problem.sigma && fit->problem.sigma[c] > 0;
        fit->sigma[c] = fit->given[c] ? fit->problem.sigma[c] : fit->scale[c];
    }
}

zw_status fit_take_recordings(zw_fit *fit, zw_error *error)
{
    int channels = 2 * fit->n;
    zw_status status = ZW_OK;
    for (int k = 0; k < fit->problem.recordings && status == ZW_OK; k++) {
        status = take_times(fit, k, error);
        for (int c = 0; c < channels && status == ZW_OK; c++) {
            fit->rows += is_recorded(fit->problem.recording[k], fit->n, c) ? fit->times[k] : 0;
        }
    }
    fit->row = status == ZW_OK ? base_alloc(((size_t)fit->rows + 1) * sizeof *fit->row) : NULL;
    if (!fit->row) {
        return status != ZW_OK ? status : fit_no_memory(error);
    }
    long at = 0;
    for (int k = 0; k < fit->problem.recordings; k++) {
        fit->first_row[k] = at;
        for (int i = 0; i < fit->times[k]; i++) {
            for (int c = 0; c < channels; c++) {
                if (is_recorded(fit->problem.recording[k], fit->n, c)) {
                    fit->row[at++] = (fit_row){k, c, fit->sample[k][i]};
                }
            }
        }
    }
    measure(fit);
    return ZW_OK;
}

/* ---- Motions ---------------------------------------------------------------------------------
 */

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
    zw_state *now = (zw_state *)state; /* only read */
    size_t count = (size_t)fit->count, n = (size_t)fit->n;
    long sample = fit->sample[fit->recording][fit->seen++];
    while (w->at < fit->rows && fit->row[w->at].recording == fit->recording &&
           fit->row[w->at].sample == sample) {
        size_t c = (size_t)fit->row[w->at].channel;
        double x = c < n ? state_q(now)[c] : state_v(now)[c - n];
        w->residual[w->at] = recorded(path, fit->n, (int)c, sample) - x;
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
                     ? base_fail(error, ZW_INTERRUPTED, "%s", zw_status_text(ZW_INTERRUPTED))
                     : base_fail(error, ZW_BAD_INPUT,
                                 "an event ends the motion at t = %.9g, and recording %d goes on "
                                 "to t = %.9g",
                                 summary.end, k + 1, end);
    }
    fit->report.kinks = zw_sensitivity_look(fit->flow).kinks;
    zw_state_free(state);
    return status;
}

zw_status fit_evaluate(zw_fit *fit, const double *x, double *residual, double *slope,
                       zw_error *error)
{
    watch w = {.fit = fit, .residual = residual, .slope = slope};
    const state_given given = {fit->param, fit->q, fit->v};
    zw_status status = sens_given(fit->system, fit->problem.unknown, fit->count, x, &given, error);
    for (int k = 0; k < fit->problem.recordings && status == ZW_OK; k++) {
        w.at = fit->first_row[k];
        status = follow(fit, k, &w, error);
        fit->report.runs++;
    }
    for (long i = 0; i < fit->rows && status == ZW_OK; i++) {
        if (!isfinite(residual[i])) {
            status = base_fail(error, ZW_NOT_FINITE, "the motion is not finite");
        }
    }
    return status;
}

/* Action and length along the motion that was found: samples at even times, Boole's rule.
 *
 * Four intervals h together: 2h/45 (7 f0 + 32 f1 + 12 f2 + 32 f3 + 7 f4), exact to degree five. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "path/reach/reach.h"

enum { SAMPLES = 960 }; /* intervals, a multiple of four */

typedef struct tally {
    reach_terms terms; /* L alone */
    int count;
    double action, length;
    double last[3];  /* the sample before: t, L, |v| */
    double rough[2]; /* both integrals by the trapezoidal rule, for when samples are missing */
} tally;

/* |v| in the metric d2L/dv2. */
static double speed_of(tally *w, const double *v)
{
    const reach_terms *terms = &w->terms;
    const double *H = terms->out + terms->G_count + terms->g_start[terms->rows];
    double sum = 0;
    int n = terms->n;
    for (int k = 0; k < terms->H_count; k++) {
        int i = terms->H_row[k] - n, j = terms->H_column[k] - n;
        if (i >= 0 && j >= 0) {
            sum += (i == j ? 1 : 2) * H[k] * v[i] * v[j];
        }
    }
    return sum > 0 ? sqrt(sum) : 0;
}

static int take(void *user, zw_sample_kind kind, int event, const zw_system *system,
                const zw_state *state, zw_work *work)
{
    static const double weight[] = {14, 32, 12, 32};
    tally *w = user;
    const double *q = state_q((zw_state *)state), *v = state_v((zw_state *)state);
    (void)event;
    (void)system;
    (void)work;
    if (kind == ZW_SAMPLE_EVENT || (w->count > 0 && !(state->t > w->last[0]))) {
        return 0;
    }
    reach_terms_value(&w->terms, state->t, q, v);
    reach_terms_derive(&w->terms, state->t, q, v, NULL);
    double L = w->terms.f[0], speed = speed_of(w, v);
    double factor = w->count == 0 || w->count == SAMPLES ? 7 : weight[w->count % 4];
    w->action += factor * L;
    w->length += factor * speed;
    if (w->count > 0) {
        double h = 0.5 * (state->t - w->last[0]);
        w->rough[0] += h * (L + w->last[1]);
        w->rough[1] += h * (speed + w->last[2]);
    }
    w->last[0] = state->t;
    w->last[1] = L;
    w->last[2] = speed;
    w->count++;
    return 0;
}

zw_status reach_measure(reach *r, zw_error *error)
{
    tally w = {0};
    zw_run_summary summary;
    double duration = r->time - r->state->t, h = duration / SAMPLES;
    zw_run_options options = {.time = r->time,
                              .every = h,
                              .tolerance = r->options.tolerance,
                              .observer = take,
                              .user = &w};
    if (r->system->model->massless) {
        return ZW_OK;
    }
    zw_status status = reach_terms_create(&w.terms, r->system, 1, NULL, 0, state_param(r->state));
    if (status != ZW_OK) {
        base_fail_as(error, status);
    } else {
        memcpy(r->trial, r->state, r->state->bytes);
        status = zw_run(r->system, r->trial, r->work, &options, &summary, error);
    }
    int even = w.count == SAMPLES + 1;
    r->report.action = even ? w.action * 2 * h / 45 : w.rough[0];
    r->report.length = even ? w.length * 2 * h / 45 : w.rough[1];
    reach_terms_free(&w.terms);
    return status;
}

/* The largest Lyapunov exponent: the rate at which neighbouring motions diverge (Benettin, Galgani,
 * Strelcyn 1976).
 *
 * Exact, where derivatives of a motion exist (equations, by dop853 or rk4: look/sensitivity): a
 * deviation z of (q, v) goes along with the motion by the variational equations, over events and
 * impacts, as a vector of the tangent space; |z| is noted and z is brought back to length one in
 * each of PARTS intervals. The exponent is the sum of the logarithms divided by the time.
 *
 * Else, and where a change of the start would change what happens (`kinks` of zwang/sensitivity.h),
 * by differences: two motions start a distance d apart. After an interval they are r d apart; log r
 * is added up, and the second is moved back to distance d along the line between them, and so on.
 * The second motion is a true motion of the system, including contacts, impacts and constraints,
 * and after being moved back it is projected onto the constraints.
 *
 * An interval in which lengths change so much that they are lost is repeated with half the length:
 * by LOST where they are numbers of their own, and where they are differences by 1e4. Deviations
 * that vanish however short the interval is belong to motions that come to rest: -infinity.
 *
 * d = 1e-7 of (q, v): the curvature of the flow contributes a relative error of 1e-7 r, and the
 * integrator's error, which is nearly the same for both, less. The interval is chosen so that r
 * stays between about 2 and 100. */
#include "batch/sweep/sweep.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "look/sensitivity/sensitivity.h"
#include "math/elementary.h"
#include "step/set.h"

#define SHORTEST 1e-6 /* interval, of the whole time */
#define LOST 1e150    /* numbers end at 1e308: lengths are sums of squares */
#define ROUGH 1e-7    /* error of a step, relative to the deviation */

static const double apart = 1e-7;

/* Have lengths changed by more than `most`? */
static int is_lost(double ratio, double most)
{
    return !(ratio < most && ratio > 1 / most);
}

/* ---- By differences ---------------------------------------------------------------------------
 */

typedef struct pair {
    const zw_system *system;
    zw_work *work;
    zw_run_options options;
    zw_state *one, *other;
    zw_state *one_before, *other_before;
    double *y; /* [nq + n] */
    int nq, n;
} pair;

static double distance(const pair *p, double *y)
{
    zw_view q = zw_field(p->system, p->one, p->work, ZW_FIELD_Q);
    zw_view v = zw_field(p->system, p->one, p->work, ZW_FIELD_V);
    zw_view q2 = zw_field(p->system, p->other, p->work, ZW_FIELD_Q);
    zw_view v2 = zw_field(p->system, p->other, p->work, ZW_FIELD_V);
    double sum = 0;
    for (int i = 0; i < p->nq + p->n; i++) {
        y[i] = i < p->nq ? q2.data[i] - q.data[i] : v2.data[i - p->nq] - v.data[i - p->nq];
        sum += y[i] * y[i];
    }
    return math_sqrt(sum);
}

/* Copies one motion to the other, and then moves that by `scale` times y. */
static zw_status put_beside(pair *p, double scale, zw_error *error)
{
    zw_status status = zw_state_copy(p->one, &p->other, error);
    if (status != ZW_OK) {
        return status;
    }
    zw_view q = zw_field(p->system, p->one, p->work, ZW_FIELD_Q);
    zw_view v = zw_field(p->system, p->one, p->work, ZW_FIELD_V);
    for (int i = 0; i < p->nq + p->n; i++) {
        p->y[i] = (i < p->nq ? q.data[i] : v.data[i - p->nq]) + scale * p->y[i];
    }
    status = set_held(p->system, p->other, p->work, ZW_FIELD_Q, p->y, error);
    return status == ZW_OK && p->n > 0
               ? set_held(p->system, p->other, p->work, ZW_FIELD_V, p->y + p->nq, error)
               : status;
}

static zw_status move(pair *p, zw_state *state, double to, int *stopped, zw_error *error)
{
    zw_run_options options = p->options;
    zw_run_summary summary = {0};
    options.time = to;
    options.every = 2 * fabs(to) + 1; /* no samples */
    zw_status status = zw_run(p->system, state, p->work, &options, &summary, error);
    if (status == ZW_OK && summary.interrupted) {
        return base_fail(error, ZW_INTERRUPTED, "stopped by the caller");
    }
    *stopped |= summary.stopped_by >= 0;
    return status;
}

static double time_of(const pair *p)
{
    return zw_field(p->system, p->one, p->work, ZW_FIELD_TIME).data[0];
}

static zw_status follow(pair *p, double after, double end, double *exponent, zw_error *error)
{
    double span = (end - time_of(p)) / 1000, sum = 0, from = time_of(p), began = from;
    zw_status status = put_beside(p, apart, error);
    double d = status == ZW_OK ? distance(p, p->y) : 0;
    int stopped = 0;
    while (status == ZW_OK && from < end && !stopped) {
        double next =
            from < after && after < end ? after : end; /* one interval ends at this time */
        double to = from + span < next - 0.01 * span ? from + span : next;
        if ((status = zw_state_copy(p->one, &p->one_before, error)) != ZW_OK ||
            (status = zw_state_copy(p->other, &p->other_before, error)) != ZW_OK ||
            (status = move(p, p->one, to, &stopped, error)) != ZW_OK ||
            (status = move(p, p->other, to, &stopped, error)) != ZW_OK) {
            break;
        }
        double now = distance(p, p->y), ratio = now / d;
        if (is_lost(ratio, 1e4) && to - from > SHORTEST * (end - began) && !stopped) {
            span = (to - from) / 2;
            if ((status = zw_state_copy(p->one_before, &p->one, error)) == ZW_OK) {
                status = zw_state_copy(p->other_before, &p->other, error);
            }
            continue;
        }
        if (!(now > 0)) { /* both came to rest in the same state: there is no line between them */
            *exponent = -INFINITY;
            return ZW_OK;
        }
        if (from >= after) {
            sum += math_log(ratio);
        } else {
            began = to;
        }
        span *= ratio > 100 ? 0.5 : ratio < 2 && ratio > 0.01 ? 1.5 : 1;
        span = fmin(span, (end - began) / 50 > 0 ? (end - began) / 50 : span);
        from = to;
        if ((status = put_beside(p, apart / now, error)) == ZW_OK) {
            d = distance(p, p->y);
        }
    }
    *exponent = from > began ? sum / (from - began) : NAN;
    return status;
}

/* ---- By the variational equations ------------------------------------------------------------ */

static double length_of(int count, const double *y)
{
    double sum = 0;
    for (int i = 0; i < count; i++) {
        sum += y[i] * y[i];
    }
    return math_sqrt(sum);
}

/* Makes the deviation one of length one again. */
static void shorten(zw_sensitivity *s)
{
    double size = length_of(2 * s->n, s->z);
    for (int i = 0; i < 2 * s->n; i++) {
        s->z[i] /= size;
    }
}

/* As follow, for one motion and its deviation. z: room for a deviation. */
static zw_status follow_tangent(zw_sensitivity *s, pair *p, zw_state *state, double *z,
                                double after, double *exponent, zw_error *error)
{
    enum { PARTS = 100 };
    const double end = p->options.time, whole = end - state->t;
    double from = state->t, sum = 0, began = from, span = whole / PARTS;
    zw_sensitivity_plan plan = {.run = p->options};
    zw_run_summary summary = {.stopped_by = -1};
    zw_status status = ZW_OK;
    s->rough = ROUGH;
    s->least = 0;
    shorten(s);
    while (status == ZW_OK && from < end && summary.stopped_by < 0) {
        double next = from < after && after < end ? after : end;
        plan.run.time = from + span < next - 0.01 * span ? from + span : next;
        memcpy(z, s->z, 2 * (size_t)s->n * sizeof *z);
        if ((status = zw_state_copy(state, &p->one_before, error)) != ZW_OK ||
            (status = zw_sensitivity_run(s, state, p->work, &plan, &summary, error)) != ZW_OK) {
            break;
        }
        if (summary.interrupted) {
            return base_fail(error, ZW_INTERRUPTED, "stopped by the caller");
        }
        double size = length_of(2 * s->n, s->z), taken = plan.run.time - from;
        if (is_lost(size, LOST) && taken > SHORTEST * whole) {
            span = taken / 2;
            memcpy(s->z, z, 2 * (size_t)s->n * sizeof *z);
            summary.stopped_by = -1;
            status = zw_state_copy(p->one_before, &state, error);
            continue;
        }
        if (!(size > 0)) { /* it comes to rest, from wherever it starts */
            *exponent = -INFINITY;
            return ZW_OK;
        }
        shorten(s);
        sum += from >= after ? math_log(size) : 0;
        from = plan.run.time;
        began = from <= after ? from : began;
    }
    *exponent = from > began ? sum / (from - began) : NAN;
    return status;
}

/* 0: there are no such derivatives of this motion. The state is at its end afterwards. */
static int is_exact(const zw_model *model, pair *p, double after, double *exponent,
                    zw_status *status, zw_error *error)
{
    double *z = base_alloc(2 * (size_t)p->n * sizeof *z);
    const zw_unknown any = {ZW_UNKNOWN_START, 0};
    zw_error why = {0};
    zw_state *state = NULL;
    zw_sensitivity *s = z && p->nq == p->n && p->n > 0
                            ? zw_sensitivity_create(model, p->system, &any, 1, &why)
                            : NULL;
    *status = s ? zw_state_copy(p->one, &state, &why) : ZW_BAD_INPUT;
    *status = *status == ZW_OK ? sens_begin(s, state, 0, p->y, &why) : *status;
    *status = *status == ZW_OK ? follow_tangent(s, p, state, z, after, exponent, &why) : *status;
    int exact = (*status == ZW_OK && s->kink_count == 0) || *status == ZW_INTERRUPTED;
    if (error && *status != ZW_OK) {
        *error = why;
    }
    zw_state_free(state);
    zw_sensitivity_free(s);
    base_free(z);
    return exact;
}

/* ---- Either ---------------------------------------------------------------------------------- */

zw_status sweep_lyapunov(const zw_model *model, const zw_system *system, zw_state *state,
                         zw_work *work, const zw_run_options *options, double after,
                         double *exponent, zw_error *error)
{
    pair p = {.system = system, .work = work, .options = *options, .one = state};
    p.nq = zw_field(system, state, work, ZW_FIELD_Q).count;
    p.n = zw_field(system, state, work, ZW_FIELD_V).count;
    p.y = base_alloc((size_t)(p.nq + p.n + 1) * sizeof *p.y);
    *exponent = NAN;
    if (!p.y) {
        return base_fail(error, ZW_NO_MEMORY, "out of memory");
    }
    /* An initial direction without any symmetry. */
    for (int i = 0; i < p.nq + p.n; i++) {
        uint64_t hash = base_hash_word(base_hash_word(BASE_HASH_START, (uint64_t)i), 17);
        p.y[i] = (double)(int64_t)(hash >> 12) * 0x1p-51 - 1;
    }
    double size = length_of(p.nq + p.n, p.y);
    for (int i = 0; i < p.nq + p.n; i++) {
        p.y[i] /= size;
    }
    zw_status status;
    if (!is_exact(model, &p, after, exponent, &status, error)) {
        status = follow(&p, after, options->time, exponent, error);
    }
    zw_state_free(p.other);
    zw_state_free(p.one_before);
    zw_state_free(p.other_before);
    base_free(p.y);
    return status;
}

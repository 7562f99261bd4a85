/* How many digits of a final state are correct.
 *
 * Let y0 be the final state of a run, y1 that of a companion run with a smaller tolerance or half
 * the step, y2 that of a second companion with a still smaller one. Errors that decrease by a
 * factor r from each to the next, e0 = r e1 = r^2 e2, give the differences
 *
 *     d1 = y1 - y0 = -e0 (1 - 1/r),    d2 = y2 - y1 = d1/r,
 *
 * and so |e0| = |d1| r/(r - 1) with r = |d1/d2|. For fixed steps r is 2^order; for adaptive methods
 * about the ratio of the tolerances. Errors that do not decrease like that (round-off, chaos, an
 * impact shortly before or after the end) have r near 1 or below. Then the largest difference
 * serves as the error, multiplied by r/(r - 1) with r held above LEAST as a margin. Since two
 * irregular numbers may agree by accident, no entry of the state is rated better than the worst by
 * more than APART. The r used is the smaller of that of the entry and that of the worst entries.
 *
 * The companions must not repeat the steps of the run: their largest step is a fraction of its
 * largest step, and where the tolerance cannot be reduced further, their steps are limited to less
 * than the mean step of the run before. Tolerances below SMALLEST are below the round-off of the
 * error estimate. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "step/run.h"
#include "zwang/verdict.h"

#define LEAST 1.1
#define APART 30.0
#define SMALLEST 1e-14
#define ROUND_OFF (4 * DBL_EPSILON)

enum { MOST_DIGITS = 15, SAMPLES = 64, MOTIONS = 3 };

/* One of the three motions. */
typedef struct motion_end {
    zw_state *state;
    zw_run_summary summary;
    long *happened; /* [events] how often each occurred, */
    long named;     /* and their sum */
} motion_end;

typedef struct estimate {
    const zw_system *system;
    zw_work *work; /* of the companions */
    zw_state *start;
    motion_end end[MOTIONS];
    zw_digits *digits;
    const zw_run_options *plan; /* of the run */
    double free;                /* largest acceleration at the start without constraints, */
    double actual;              /* and the largest actual one in any sample */
} estimate;

typedef struct listener {
    estimate *e;
    motion_end *end;
    const zw_run_options *options; /* the caller's; NULL: the run of a companion */
} listener;

/* ---- Motions -------------------------------------------------------------------------------- */

static double entry_of(const zw_system *system, const zw_state *state, int i)
{
    zw_state *from = (zw_state *)state; /* not modified */
    return i < system->nq ? state_q(from)[i] : state_v(from)[i - system->nq];
}

static int hear(void *user, zw_sample_kind kind, int event, const zw_system *system,
                const zw_state *state, zw_work *work)
{
    listener *it = user;
    zw_digits *digits = it->e->digits;
    for (int i = 0; i < digits->count; i++) {
        digits->size[i] = fmax(digits->size[i], fabs(entry_of(system, state, i)));
    }
    if (kind == ZW_SAMPLE_START && it->options) {
        zw_view free = zw_field(system, state, work, ZW_FIELD_A_FREE);
        for (int i = 0; i < free.count; i++) { /* fmax ignores NaN */
            it->e->free = fmax(it->e->free, fabs(free.data[i]));
        }
    }
    zw_view a = zw_field(system, state, work, ZW_FIELD_A);
    for (int i = 0; i < a.count; i++) {
        it->e->actual = fmax(it->e->actual, fabs(a.data[i]));
    }
    if (kind == ZW_SAMPLE_EVENT && event >= 0) {
        it->end->happened[event]++;
        it->end->named++;
    }
    const zw_run_options *options = it->options;
    return options && options->observer
               ? options->observer(options->user, kind, event, system, state, work)
               : 0;
}

static int poll_caller(void *user, double time)
{
    const listener *it = user;
    return it->options->poll(it->options->user, time);
}

static int poll_plan(void *user, double time)
{
    const listener *it = user;
    return it->e->plan->poll(it->e->plan->user, time);
}

static int is_adaptive(zw_method method)
{
    return method == ZW_METHOD_DOP853 || method == ZW_METHOD_STIFF || method == ZW_METHOD_BDF;
}

/* A motion from the start with these options, to the time where the run ended; where an event ended
 * the run, the companion has the planned final time of the run. */
static zw_status run_companion(estimate *e, int which, zw_run_options options, zw_error *error)
{
    motion_end *end = &e->end[which];
    const zw_run_summary *first = &e->end[0].summary;
    listener it = {.e = e, .end = end};
    zw_status status = zw_state_copy(e->start, &end->state, error);
    if (status != ZW_OK) {
        return status;
    }
    memset(end->happened, 0, (size_t)zw_count(e->system, ZW_KIND_EVENT) * sizeof *end->happened);
    end->named = 0;
    options.time = first->stopped_by >= 0 ? e->plan->time : first->end;
    options.every = (options.time - e->start->t) / SAMPLES;
    options.observer = hear;
    options.poll = e->plan->poll ? poll_plan : NULL;
    options.user = &it;
    return zw_run(e->system, end->state, e->work, &options, &end->summary, error);
}

static double shorter_than(const estimate *e, int which, double part)
{
    const zw_run_summary *summary = &e->end[which].summary;
    return part * (summary->end - e->start->t) / (double)(summary->steps > 0 ? summary->steps : 1);
}

static double smaller(double given, double limit)
{
    return given > 0 && given < limit ? given : limit;
}

/* Companion `which` of an adaptive method, with `fraction` of the tolerance, or ten times that
 * where it fails. */
static zw_status run_tighter(estimate *e, int which, double fraction, zw_error *error)
{
    zw_run_options options = *e->plan;
    options.tolerance = fmax(e->plan->tolerance * fraction, fmin(SMALLEST, e->plan->tolerance));
    options.step = e->plan->step * (which == 1 ? 0.5 : 0.25);
    if (options.tolerance > 10 * fraction * e->plan->tolerance) {
        options.step = smaller(options.step, shorter_than(e, which - 1, 0.7));
    }
    zw_status status = run_companion(e, which, options, error);
    if (status != ZW_OK && status != ZW_NO_MEMORY && options.tolerance < e->plan->tolerance) {
        options.tolerance = fmin(e->plan->tolerance, 10 * options.tolerance);
        status = run_companion(e, which, options, error);
    }
    return status;
}

static zw_status run_companions(estimate *e, int *count, zw_error *error)
{
    zw_status status = ZW_OK;
    for (int which = 1; which < MOTIONS && status == ZW_OK; which++) {
        zw_run_options options = *e->plan;
        options.step *= which == 1 ? 0.5 : 0.25;
        status = is_adaptive(options.method)
                     ? run_tighter(e, which, which == 1 ? 1e-2 : 1e-4, error)
                     : run_companion(e, which, options, error);
        int whole = status == ZW_OK && !e->end[which].summary.interrupted;
        *count += whole;
        if (!whole) {
            break;
        }
    }
    return status;
}

/* ---- Differences ---------------------------------------------------------------------------- */

/* The error of an entry from the differences 0-1, 1-2 and 0-2, and the ratio of the worst
 * entries. */
static double error_of(const double d[3], double worst_ratio)
{
    double largest = fmax(d[0], fmax(d[1], d[2]));
    double ratio = d[1] > 0 ? fmin(d[0] / d[1], worst_ratio) : worst_ratio;
    ratio = fmax(ratio, LEAST);
    return isinf(ratio) ? largest : largest * (ratio / (ratio - 1));
}

static double difference(const estimate *e, int a, int b, int i)
{
    return fabs(entry_of(e->system, e->end[a].state, i) - entry_of(e->system, e->end[b].state, i));
}

/* Entries that are only round-off relative to the others carry no information about digits:
 * relative to those of their kind, or to the other kind by way of the duration T (x ~ v T), or to
 * the motion without constraints (v ~ a T). least[0] is for coordinates, least[1] for speeds. */
static void least_sizes(const estimate *e, double least[2])
{
    const zw_digits *digits = e->digits;
    double T = e->end[0].summary.end - e->start->t, q = 0, v = e->free * T;
    for (int i = 0; i < digits->count; i++) {
        double *largest = i < e->system->nq ? &q : &v;
        *largest = fmax(*largest, digits->size[i]);
    }
    least[0] = 1e3 * DBL_EPSILON * fmax(q, v * T);
    least[1] = 1e3 * DBL_EPSILON * fmax(v, q / T);
}

/* Round-off that all three motions share: that of the forces, whose error is eps times their size
 * even where they nearly cancel. The effect of a force, relative to the motion, is at most what it
 * adds over the time T, or its part of the actual accelerations. */
static double shared_round_off(const estimate *e, int i)
{
    double T = e->end[0].summary.end - e->start->t, size = e->digits->size[i];
    double secular = e->free * (i < e->system->nq ? T * T / 2 : T) / size;
    double part = e->actual > 0 ? e->free / e->actual : INFINITY;
    return fmax(ROUND_OFF, ROUND_OFF * fmin(secular, part));
}

static int digits_of(double relative)
{
    double digits = relative > 0 ? floor(-log10(relative)) : MOST_DIGITS;
    return digits > MOST_DIGITS ? MOST_DIGITS : digits > 0 ? (int)digits : 0;
}

static void compare_states(estimate *e)
{
    static const int pair[3][2] = {{0, 1}, {1, 2}, {0, 2}};
    zw_digits *digits = e->digits;
    double worst[3] = {0, 0, 0}, most = 0, least_size[2];
    least_sizes(e, least_size);
    for (int i = 0; i < digits->count; i++) {
        if (!(digits->size[i] > least_size[i >= e->system->nq])) {
            digits->digits[i] = -1;
            continue;
        }
        for (int k = 0; k < 3; k++) {
            double d = difference(e, pair[k][0], pair[k][1], i) / digits->size[i];
            worst[k] = d > worst[k] || isnan(d) ? d : worst[k];
        }
    }
    double ratio = worst[1] > 0 ? worst[0] / worst[1] : INFINITY;
    int regular = ratio >= 1.5;
    most = fmax(worst[0], fmax(worst[1], worst[2]));
    digits->order = isfinite(ratio) && ratio > 0 ? log2(ratio) : 0;
    digits->worst = -1;
    for (int i = 0; i < digits->count; i++) {
        double d[3];
        for (int k = 0; k < 3; k++) {
            d[k] = difference(e, pair[k][0], pair[k][1], i);
        }
        double least = digits->digits[i] < 0 ? ROUND_OFF : shared_round_off(e, i);
        least = regular ? least : fmax(least, most / APART);
        digits->error[i] = fmax(error_of(d, ratio), least * digits->size[i]);
        if (digits->digits[i] < 0) {
            continue;
        }
        digits->digits[i] = digits_of(digits->error[i] / digits->size[i]);
        if (digits->worst < 0 || digits->error[i] / digits->size[i] >
                                     digits->error[digits->worst] / digits->size[digits->worst]) {
            digits->worst = i;
        }
    }
    if (e->end[0].summary.stopped_by >= 0) {
        double d[3];
        for (int k = 0; k < 3; k++) {
            d[k] = fabs(e->end[pair[k][0]].summary.end - e->end[pair[k][1]].summary.end);
        }
        digits->time_error = fmax(error_of(d, ratio), ROUND_OFF * fabs(e->end[0].summary.end));
    }
}

/* Events that occurred more or less often in a companion than in the run. */
static void compare_events(estimate *e)
{
    zw_digits *digits = e->digits;
    const motion_end *first = &e->end[0];
    for (int which = MOTIONS - 1; which > 0 && !digits->differs; which--) {
        const motion_end *other = &e->end[which];
        digits->ended |= first->summary.stopped_by != other->summary.stopped_by;
        for (int i = 0; i <= zw_count(e->system, ZW_KIND_EVENT) && !digits->differs; i++) {
            int impacts = i == zw_count(e->system, ZW_KIND_EVENT);
            digits->event = impacts ? -1 : i;
            digits->here = impacts ? first->summary.events - first->named : first->happened[i];
            digits->there = impacts ? other->summary.events - other->named : other->happened[i];
            digits->differs = digits->here != digits->there;
        }
    }
}

/* ---- All ------------------------------------------------------------------------------------ */

static zw_status allocate(estimate *e, zw_error *error)
{
    size_t events = (size_t)zw_count(e->system, ZW_KIND_EVENT) + 1;
    zw_digits *digits = e->digits;
    size_t count = (size_t)digits->count + 1;
    int ok = 1;
    for (int k = 0; k < MOTIONS; k++) {
        e->end[k].happened = base_alloc(events * sizeof(long));
        ok &= e->end[k].happened != NULL;
    }
    digits->error = base_alloc(count * sizeof(double));
    digits->size = base_alloc(count * sizeof(double));
    digits->digits = base_alloc(count * sizeof(int));
    return ok && digits->error && digits->size && digits->digits ? ZW_OK : base_no_memory(error);
}

void zw_digits_free(zw_digits *digits)
{
    base_free(digits->error);
    base_free(digits->size);
    base_free(digits->digits);
    *digits = (zw_digits){.worst = -1, .event = -1};
}

static void estimate_free(estimate *e)
{
    for (int k = 0; k < MOTIONS; k++) {
        if (k > 0) {
            zw_state_free(e->end[k].state);
        }
        base_free(e->end[k].happened);
    }
    zw_state_free(e->start);
    zw_work_free(e->work);
}

static void say_why_not(estimate *e, int whole, const zw_error *error)
{
    zw_digits *digits = e->digits;
    const char *kind = is_adaptive(e->plan->method) ? "with a smaller tolerance"
                       : whole                      ? "with a quarter of the step"
                                                    : "with half the step";
    if (error->status == ZW_OK) {
        snprintf(digits->note, sizeof digits->note, "interrupted");
    } else {
        char line[200];
        snprintf(line, sizeof line, "%.*s", (int)strcspn(error->text, "\n"), error->text);
        snprintf(digits->note, sizeof digits->note, "a second motion %s fails: %s", kind, line);
    }
}

static zw_status estimate_digits(estimate *e, zw_error *error)
{
    zw_error local = {0};
    int whole = 0;
    e->work = zw_work_create(e->system, error);
    zw_status status = e->work ? run_companions(e, &whole, &local) : ZW_NO_MEMORY;
    if (status == ZW_NO_MEMORY) {
        if (error) {
            *error = local.status != ZW_OK ? local : *error;
        }
        return status;
    }
    e->digits->known = whole == MOTIONS - 1;
    if (e->digits->known) {
        compare_states(e);
        compare_events(e);
    } else {
        say_why_not(e, whole, &local);
    }
    return ZW_OK;
}

zw_status zw_run_digits(const zw_system *system, zw_state *state, zw_work *work,
                        const zw_run_options *options, zw_run_summary *summary, zw_digits *digits,
                        zw_error *error)
{
    zw_run_options plan, watched;
    estimate e = {.system = system, .digits = digits, .plan = &plan};
    listener it = {.e = &e, .end = &e.end[0], .options = options ? options : &plan};
    zw_digits_free(digits);
    digits->count = system->nq + system->n;
    zw_status status = run_complete(system, options, state->t, &plan, error);
    status = status == ZW_OK ? zw_state_copy(state, &e.start, error) : status;
    status = status == ZW_OK ? allocate(&e, error) : status;
    if (status == ZW_OK) {
        watched = plan;
        watched.observer = hear;
        watched.poll = plan.poll ? poll_caller : NULL;
        watched.user = &it;
        e.end[0].state = state;
        status = zw_run(system, state, work, &watched, &e.end[0].summary, error);
        if (summary) {
            *summary = e.end[0].summary;
        }
    }
    if (status == ZW_OK && e.end[0].summary.interrupted) {
        snprintf(digits->note, sizeof digits->note, "interrupted");
    } else if (status == ZW_OK) {
        status = estimate_digits(&e, error);
    }
    estimate_free(&e);
    return status;
}

/* The runs of a sweep. Each one reads the file with its own settings, compiles it and runs it with
 * its own state and scratch: so it is the same motion as that of the file alone, and threads share
 * only the number of the next run. */
#include "batch/sweep/sweep.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "batch/pool.h"
#include "zwang/path.h"

/* ---- A model and its motion ------------------------------------------------------------------ */

/* The data of one run. */
typedef struct one {
    zw_sweep *sweep;
    zw_model *model;
    zw_system *system;
    zw_work *work;
    zw_state *state, *start; /* start: a copy, if it is needed */
    sweep_source *source;
    sweep_series *series;
    int speaks; /* it runs in the calling thread */
    zw_run_options plan;
    zw_run_summary summary;
    sweep_measured measured;
    zw_error error;
} one;

zw_model *sweep_model(const zw_sweep *sweep, const zw_setting *settings, int count,
                      const char *lines, zw_error *error)
{
    zw_read_options read = sweep->options.read;
    read.settings = settings;
    read.setting_count = count;
    read.more = lines;
    read.more_name = "--keep";
    return sweep->options.reader
               ? sweep->options.reader(sweep->options.user, sweep->path, &read, error)
               : zw_model_read(sweep->path, &read, error);
}

static void ask(zw_sweep *sweep, double time)
{
    const zw_run_options *requested = &sweep->options.run;
    if (requested->poll && requested->poll(requested->user, time)) {
        atomic_store(&sweep->stopped, 1);
    }
}

static void report(zw_sweep *sweep)
{
    if (sweep->options.progress) {
        sweep->options.progress(sweep->options.user, atomic_load(&sweep->done), sweep->runs);
    }
}

static int poll(void *user, double time)
{
    one *it = user;
    ask(it->sweep, time);
    if (it->speaks) {
        report(it->sweep);
    }
    return atomic_load(&it->sweep->stopped);
}

/* Also called while the calling thread has no run left and others have. */
void sweep_watch(void *user)
{
    ask(user, 0);
    report(user);
}

static int observe(void *user, zw_sample_kind kind, int event, const zw_system *system,
                   const zw_state *state, zw_work *work)
{
    one *it = user;
    return sweep_series_take(it->series, kind, event, system, state, work);
}

static zw_status load(one *it, const zw_setting *settings, int count)
{
    zw_sweep *sweep = it->sweep;
    zw_error *error = &it->error;
    int exprs = sweep->keeps.expr_count;
    it->model = sweep_model(sweep, settings, count, sweep->lines, error);
    it->system = it->model ? zw_system_compile(it->model, NULL, error) : NULL;
    it->work = it->system ? zw_work_create(it->system, error) : NULL;
    it->source = it->work ? base_alloc((size_t)(exprs + 1) * sizeof *it->source) : NULL;
    if (it->work && !it->source) {
        base_fail(error, ZW_NO_MEMORY, "out of memory");
    }
    return it->source ? sweep_sources(&sweep->keeps, it->model, it->system, sweep->is_robot,
                                      it->source, error)
                      : error->status;
}

static void unload(one *it)
{
    base_free(it->source);
    zw_state_free(it->start);
    zw_state_free(it->state);
    zw_work_free(it->work);
    zw_system_free(it->system);
    zw_model_free(it->model);
}

/* The value at the start of formula `expr`, which is a time. */
static zw_status time_said(one *it, int expr, double *value)
{
    const sweep_source *source = &it->source[expr];
    const char *text = it->sweep->keeps.expr[expr];
    zw_status status = ZW_OK;
    *value = NAN;
    if (source->index < 0) {
        zw_number(text, value);
    } else if ((status = zw_forward(it->system, it->state, it->work, NULL, &it->error)) == ZW_OK) {
        *value = zw_field(it->system, it->state, it->work, source->field).data[source->index];
    }
    if (status == ZW_OK && !isfinite(*value)) {
        return base_fail(&it->error, ZW_BAD_INPUT, "%.100s is not a time", text);
    }
    return status;
}

/* Steps of the methods impulse and soft contain impacts without locating them in time: they can
 * only be counted. */
static zw_status check_impacts(one *it)
{
    const sweep_keeps *keeps = &it->sweep->keeps;
    for (int i = 0; it->measured.stepwise && i < keeps->count; i++) {
        const sweep_keep *keep = &keeps->keep[i];
        if (keep->event_id == SWEEP_IMPACTS &&
            (keep->kind != SWEEP_COUNT || it->measured.after > 0)) {
            return base_fail(
                &it->error, ZW_BAD_INPUT,
                "\"%.100s\": method %s counts impacts, but does not locate them in time",
                keep->title, zw_method_name(it->plan.method));
        }
    }
    return ZW_OK;
}

/* Those methods know the motion at the ends of steps: samples are there, unless others were asked
 * for. Between them there may be an impact. */
static void sample_steps(one *it)
{
    const double h = it->plan.step;
    if (it->measured.stepwise && !(it->sweep->options.run.every > 0) && h > 0 &&
        it->plan.every > 0) {
        it->plan.every = h * fmax(floor(it->plan.every / h), 1);
    }
}

/* The duration, the interval of samples, and the time from which quantities are taken. */
static zw_status make_plan(one *it)
{
    const sweep_keeps *keeps = &it->sweep->keeps;
    zw_run_options requested = it->sweep->options.run;
    zw_error *error = &it->error;
    requested.poll = NULL;
    zw_status status = zw_run_plan(it->system, it->state, &requested, &it->plan, error);
    if (status == ZW_OK && keeps->after >= 0) {
        status = time_said(it, keeps->after, &it->measured.after);
    }
    it->measured.stepwise =
        it->plan.method == ZW_METHOD_IMPULSE || it->plan.method == ZW_METHOD_SOFT;
    sample_steps(it);
    if (status == ZW_OK && keeps->strobe >= 0) {
        double *strobe = &it->measured.strobe;
        status = time_said(it, keeps->strobe, strobe);
        if (status == ZW_OK && !(*strobe > 0)) {
            status = base_fail(error, ZW_BAD_INPUT, "points every %.60s: that is %.6g here",
                               keeps->every, *strobe);
        }
        double often = it->plan.every > 0 ? ceil(*strobe / it->plan.every) : 1;
        it->plan.every = *strobe / (often > 1 ? often : 1);
    }
    if (status == ZW_OK && it->plan.every > 0 &&
        !(it->plan.time / it->plan.every <= SWEEP_MOST_SAMPLES)) {
        status = base_fail(error, ZW_BAD_INPUT, "up to t = %.6g there would be %.3g samples",
                           it->plan.time, it->plan.time / it->plan.every);
    }
    return status == ZW_OK ? check_impacts(it) : status;
}

/* Runs the motion; *gone: it was abandoned. */
static zw_status move(one *it, int *gone)
{
    zw_error *error = &it->error;
    zw_reach_options reach = {.poll = poll, .user = it};
    zw_reach_report report = {0};
    zw_status status = ZW_OK;
    it->state = zw_state_create(it->system, it->work, NULL, error);
    if (!it->state) {
        return error->status;
    }
    if (zw_reach_asked(it->system)) {
        status = zw_reach(it->system, it->state, it->work, &reach, &report, error);
        *gone = report.interrupted;
    }
    status = status == ZW_OK ? make_plan(it) : status;
    if (status == ZW_OK && it->sweep->keeps.lyapunov) {
        status = zw_state_copy(it->state, &it->start, error);
    }
    if (status != ZW_OK || *gone) {
        return status;
    }
    zw_run_options options = it->plan;
    options.observer = observe;
    options.poll = poll;
    options.user = it;
    status = zw_run(it->system, it->state, it->work, &options, &it->summary, error);
    *gone = status == ZW_INTERRUPTED || (it->summary.interrupted && !it->series->full);
    if (status == ZW_OK && it->series->full) {
        return base_fail(error, ZW_NO_MEMORY, "not enough memory for the samples");
    }
    if (status == ZW_OK && !*gone && it->start) {
        options.observer = NULL;
        options.time = it->summary.end;
        status = sweep_lyapunov(it->model, it->system, it->start, it->work, &options,
                                it->measured.after, &it->measured.lyapunov, error);
        *gone = status == ZW_INTERRUPTED;
    }
    return status;
}

/* ---- Into the table -------------------------------------------------------------------------- */

/* As one line: error messages have several. */
int sweep_set_status(zw_sweep *sweep, int run, const char *text)
{
    size_t length = strcspn(text, "\n");
    char *copy = base_alloc(length + 1);
    if (!copy) {
        return 0;
    }
    memcpy(copy, text, length);
    for (char *c = copy; *c; c++) {
        *c = (unsigned char)*c < ' ' ? ' ' : *c;
    }
    sweep->status[run] = copy;
    atomic_fetch_add(&sweep->done, 1);
    atomic_fetch_add(&sweep->failed, strcmp(copy, "ok") != 0);
    return 1;
}

static int fill_row(one *it, int run, zw_status status)
{
    zw_sweep *sweep = it->sweep;
    const zw_run_summary *summary = &it->summary;
    double *value = sweep->value + (size_t)run * (size_t)sweep->width;
    double *diagnostic = value + sweep->keeps.columns;
    char text[sizeof it->error.text + 64] = "ok";
    for (int i = 0; i < sweep->width; i++) {
        value[i] = NAN;
    }
    if (status == ZW_OK) {
        it->measured.series = it->series;
        it->measured.impacts = summary->impacts;
        sweep_measure(&sweep->keeps, &it->measured, value);
        diagnostic[SWEEP_DIAGNOSTIC_DOUBT] = it->measured.doubt;
        diagnostic[SWEEP_DIAGNOSTIC_CERTIFICATE] = summary->certificate;
        diagnostic[SWEEP_DIAGNOSTIC_DRIFT] = summary->energy_drift;
    }
    if (it->series->count > 0) {
        diagnostic[SWEEP_DIAGNOSTIC_END] = summary->end;
        diagnostic[SWEEP_DIAGNOSTIC_STEPS] = (double)summary->steps;
    }
    if (status != ZW_OK) {
        snprintf(text, sizeof text, "%s",
                 it->error.text[0] ? it->error.text : zw_status_text(status));
    } else if (summary->check_failed >= 0) {
        snprintf(text, sizeof text, "check %.200s does not hold from t = %.9g on",
                 zw_name(it->system, ZW_KIND_CHECK, summary->check_failed), summary->check_time);
    }
    return sweep_set_status(sweep, run, text);
}

void sweep_give_up(zw_sweep *sweep, const zw_error *error)
{
    pthread_mutex_lock(&sweep->lock);
    if (sweep->error.status == ZW_OK) {
        sweep->error = *error;
    }
    pthread_mutex_unlock(&sweep->lock);
    atomic_store(&sweep->stopped, 1);
}

static void run_one(zw_sweep *sweep, sweep_series *series, zw_setting *setting, int thread, int run)
{
    int fixed = sweep->options.read.setting_count, gone = 0;
    one it = {.sweep = sweep, .series = series, .speaks = thread == 0};
    for (int i = 0; i < sweep->over_count; i++) {
        setting[fixed + i] = (zw_setting){sweep->over[i].name, zw_sweep_value(sweep, run, i)};
    }
    sweep_series_clear(series);
    it.summary.check_failed = -1;
    zw_status status = load(&it, setting, fixed + sweep->over_count);
    series->exprs = sweep->keeps.expr_count;
    series->source = it.source;
    status = status == ZW_OK ? move(&it, &gone) : status;
    if (status ==
        ZW_NO_MEMORY) { /* lack of memory is not a property of the run, and is not recorded */
        sweep_give_up(sweep, &it.error);
    } else if (!gone) {
        zw_error error = {0};
        if (!fill_row(&it, run, status)) {
            base_fail(&error, ZW_NO_MEMORY, "out of memory");
            sweep_give_up(sweep, &error);
        } else if (!sweep_journal_add(sweep, run, &error)) {
            sweep_give_up(sweep, &error);
        }
    }
    unload(&it);
}

int sweep_next(zw_sweep *sweep)
{
    int run = sweep->runs;
    do {
        run = atomic_load(&sweep->stopped) ? sweep->runs : atomic_fetch_add(&sweep->next, 1);
    } while (run < sweep->runs && sweep->status[run]);
    return run < sweep->runs ? run : -1;
}

static void run_some(void *user, int thread)
{
    zw_sweep *sweep = user;
    if (thread == 0 && sweep_serves(sweep)) {
        sweep_serve(sweep);
        return;
    }
    sweep_series series = {0};
    int settings = sweep->options.read.setting_count + sweep->over_count;
    zw_setting *setting = base_alloc((size_t)(settings + 1) * sizeof *setting);
    zw_error error = {0};
    if (!setting) {
        base_fail(&error, ZW_NO_MEMORY, "out of memory");
        sweep_give_up(sweep, &error);
        return;
    }
    for (int i = 0; i < sweep->options.read.setting_count; i++) {
        setting[i] = sweep->options.read.settings[i];
    }
    int run = sweep_asks(sweep) ? sweep_ask(sweep, -1) : sweep_next(sweep);
    while (run >= 0) {
        run_one(sweep, &series, setting, thread, run);
        run = sweep_asks(sweep) ? sweep_ask(sweep, run) : sweep_next(sweep);
    }
    sweep_series_free(&series);
    base_free(setting);
}

zw_status zw_sweep_run(zw_sweep *sweep, zw_error *error)
{
    int threads = (sweep->options.threads > 0 ? sweep->options.threads : 1) + sweep_serves(sweep);
    batch_pool *pool = pool_create(threads);
    if (!pool) {
        return base_fail(error, ZW_NO_MEMORY, "cannot start %d threads", threads);
    }
    atomic_store(&sweep->next, 0);
    atomic_store(&sweep->stopped, 0);
    sweep->error = (zw_error){.status = ZW_OK};
    if (!sweep_asks(sweep) || sweep_greet(sweep)) {
        pool_run(pool, run_some, sweep_watch, sweep);
    }
    if (sweep_asks(sweep)) {
        sweep_part(sweep);
    }
    pool_free(pool);
    if (sweep->error.status != ZW_OK) {
        if (error) {
            *error = sweep->error;
        }
        return sweep->error.status;
    }
    return atomic_load(&sweep->stopped) ? base_fail(error, ZW_INTERRUPTED, "stopped by the caller")
                                        : ZW_OK;
}

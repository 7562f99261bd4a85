/* One motion as samples, and smooth curves through them. */
#include "batch/sweep/sweep.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/list.h"
#include "base/memory.h"
#include "model/model.h"
#include "system/system.h"

/* ---- Sources of values ----------------------------------------------------------------------- */

/* By its name: coordinate, speed with its prime, number of a sensor, parameter or control. */
static int find_named(const zw_system *system, const char *name, sweep_source *source)
{
    static const struct {
        zw_kind kind;
        zw_field_id field;
    } known[] = {{ZW_KIND_COORD, ZW_FIELD_Q},
                 {ZW_KIND_READING, ZW_FIELD_SENSOR},
                 {ZW_KIND_PARAM, ZW_FIELD_PARAM},
                 {ZW_KIND_SPEED, ZW_FIELD_V}};
    size_t length = strlen(name);
    char speed[256] = "";
    if (!strcmp(name, "t") || !strcmp(name, "energy")) {
        *source = (sweep_source){name[0] == 't' ? ZW_FIELD_TIME : ZW_FIELD_ENERGY, 0};
        return 1;
    }
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        int index = zw_id(system, known[k].kind, name);
        if (index >= 0) {
            *source = (sweep_source){known[k].field, index};
            return 1;
        }
    }
    if (length > 1 && name[length - 1] == '\'' && length < sizeof speed) {
        memcpy(speed, name, length - 1); /* the speed may have the name of its coordinate */
        *source = (sweep_source){ZW_FIELD_V, zw_id(system, ZW_KIND_SPEED, speed)};
        return source->index >= 0;
    }
    return 0;
}

static zw_status robot_sources(const sweep_keeps *keeps, const zw_system *system,
                               sweep_source *source, zw_error *error)
{
    for (int i = 0; i < keeps->expr_count; i++) {
        double number;
        if (find_named(system, keeps->expr[i], &source[i])) {
            continue;
        }
        if ((i == keeps->strobe || i == keeps->after) && zw_number(keeps->expr[i], &number)) {
            source[i] = (sweep_source){ZW_FIELD_TIME, -1};
            continue;
        }
        return base_fail(
            error, ZW_BAD_INPUT,
            "this robot has no '%.60s'; for a robot, coordinates (with ' their speeds), sensors, "
            "motors, energy and t can be kept. For formulas, import it into a .zw file",
            keeps->expr[i]);
    }
    return ZW_OK;
}

zw_status sweep_sources(const sweep_keeps *keeps, const zw_model *model, const zw_system *system,
                        int is_robot, sweep_source *source, zw_error *error)
{
    if (is_robot) {
        return robot_sources(keeps, system, source, error);
    }
    /* Outputs are the checks, then x and y of each curve: system/compile.c. */
    int first = model->plot_count - keeps->expr_count, at = model->check_count, single = first >= 0;
    for (int i = 0; single && i < model->plot_count; i++) {
        if (i >= first) {
            single = model->plot[i].curve_count == 1;
            source[i - first] = (sweep_source){ZW_FIELD_OUTPUT, at + 1};
        }
        at += 2 * model->plot[i].curve_count;
    }
    return single ? ZW_OK
                  : base_fail(error, ZW_BAD_INPUT, "a formula that is kept must be a scalar");
}

/* ---- Samples --------------------------------------------------------------------------------- */

static void read_values(const sweep_series *series, const zw_system *system, const zw_state *state,
                        zw_work *work, double *to)
{
    for (int i = 0; i < series->exprs; i++) {
        const sweep_source *source = &series->source[i];
        zw_view view = zw_field(system, state, work, source->field);
        to[i] = source->index >= 0 && source->index < view.count ? view.data[source->index] : NAN;
    }
}

static int make_room(sweep_series *series)
{
    int capacity = series->capacity, same = capacity;
    size_t exprs = (size_t)(series->exprs > 0 ? series->exprs : 1);
    if (series->count < capacity) {
        return 1;
    }
    int ok = series->count < SWEEP_MOST_SAMPLES &&
             base_list_reserve(&series->time, &same, series->count, sizeof *series->time);
    same = capacity;
    ok = ok &&
         base_list_reserve(&series->value, &same, series->count, exprs * sizeof *series->value);
    same = capacity;
    ok = ok && base_list_reserve(&series->begins, &same, series->count, 1);
    series->capacity = ok ? same : capacity;
    return ok;
}

static int make_room_happened(sweep_series *series)
{
    int capacity = series->happened_capacity, same = capacity;
    size_t exprs = (size_t)(series->exprs > 0 ? series->exprs : 1);
    if (series->happened < capacity) {
        return 1;
    }
    int ok = series->happened < SWEEP_MOST_SAMPLES &&
             base_list_reserve(&series->event, &same, series->happened, sizeof *series->event);
    same = capacity;
    ok = ok && base_list_reserve(&series->when, &same, series->happened, sizeof *series->when);
    same = capacity;
    ok = ok && base_list_reserve(&series->at, &same, series->happened, exprs * sizeof *series->at);
    series->happened_capacity = ok ? same : capacity;
    return ok;
}

static int note_event(sweep_series *series, int event, double time, const zw_system *system,
                      const zw_state *state, zw_work *work)
{
    if (!make_room_happened(series)) {
        return 0;
    }
    series->event[series->happened] = event;
    series->when[series->happened] = time;
    read_values(series, system, state, work,
                series->at + (size_t)series->happened * (size_t)series->exprs);
    series->happened++;
    return 1;
}

static int add_sample(sweep_series *series, double time, int begins, const zw_system *system,
                      const zw_state *state, zw_work *work)
{
    if (!make_room(series)) {
        return 0;
    }
    int i = series->count++;
    series->time[i] = time;
    series->begins[i] = i == 0 || begins;
    read_values(series, system, state, work, series->value + (size_t)i * (size_t)series->exprs);
    return 1;
}

/* A jump has two samples: the one after an impact is a separate sample; for an event that sets
 * something the second is the event's own. */
int sweep_series_take(sweep_series *series, zw_sample_kind kind, int event, const zw_system *system,
                      const zw_state *state, zw_work *work)
{
    double time = zw_field(system, state, work, ZW_FIELD_TIME).data[0];
    int again = series->count > 0 && time == series->time[series->count - 1];
    int far = kind == ZW_SAMPLE_JUMP && series->jumping, ok = 1;
    if (kind == ZW_SAMPLE_EVENT && event >= 0) {
        ok = note_event(series, event, time, system, state, work);
        series->jumping = system->model->event[event].reset_count > 0;
    } else if (kind == ZW_SAMPLE_JUMP) {
        ok = far || note_event(series, SWEEP_IMPACTS, time, system, state, work);
        series->jumping = !far;
    }
    if (!again || far) {
        ok = ok && add_sample(series, time, far, system, state, work);
    }
    series->full |= !ok;
    return !ok;
}

void sweep_series_clear(sweep_series *series)
{
    series->count = series->happened = series->full = series->jumping = 0;
}

void sweep_series_free(sweep_series *series)
{
    base_free(series->time);
    base_free(series->value);
    base_free(series->begins);
    base_free(series->event);
    base_free(series->when);
    base_free(series->at);
}

/* ---- Curves ---------------------------------------------------------------------------------- */

/* Divided differences c[k] = f[t0 .. tk]; p(t) = c0 + (t - t0)(c1 + (t - t1)(c2 + ...)). */
sweep_curve sweep_curve_at(const sweep_series *series, int expr, int i, int most)
{
    sweep_curve curve = {0};
    int from = i, to = i + 1;
    while (to - from < most) {
        int left = !series->begins[from], right = to < series->count && !series->begins[to];
        if (!left && !right) {
            break;
        }
        if (left && (!right || i - from <= to - 1 - i)) {
            from--;
        } else {
            to++;
        }
    }
    curve.count = to - from;
    for (int k = 0; k < curve.count; k++) {
        curve.t[k] = series->time[from + k];
        curve.c[k] = series->value[(size_t)(from + k) * (size_t)series->exprs + (size_t)expr];
    }
    for (int order = 1; order < curve.count; order++) {
        for (int k = curve.count - 1; k >= order; k--) {
            curve.c[k] = (curve.c[k] - curve.c[k - 1]) / (curve.t[k] - curve.t[k - order]);
        }
    }
    return curve;
}

double sweep_curve_value(const sweep_curve *curve, double t)
{
    double value = 0;
    for (int k = curve->count - 1; k >= 0; k--) {
        value = curve->c[k] + (t - curve->t[k]) * value;
    }
    return value;
}

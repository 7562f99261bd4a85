/* Computes quantities from samples.
 *
 * Between samples a formula is interpolated by the polynomial through up to seven of them, three on
 * each side, within one smooth piece: extremes and crossings are found on it, and means are its
 * integrals. The interpolation error is about 0.02 (w h)^7 of an oscillation of frequency w sampled
 * every h. It is also estimated: the same is computed with two nodes fewer, and the difference is
 * in the table (`doubt`). */
#include "batch/sweep/sweep.h"

#include <math.h>

#include "math/elementary.h"

enum { FEWER = SWEEP_NODES - 2 };

static double sample(const sweep_series *series, int expr, int i)
{
    return series->value[(size_t)i * (size_t)series->exprs + (size_t)expr];
}

static void doubt(sweep_measured *of, double value, double other)
{
    double miss = fabs(value - other) / (1 + fabs(value));
    of->doubt = miss > of->doubt ? miss : of->doubt;
}

/* The first sample that counts. */
static int first_sample(const sweep_measured *of)
{
    int i = 0;
    while (i < of->series->count && of->series->time[i] < of->after) {
        i++;
    }
    return i;
}

/* The smooth piece into which the window opens, between two samples: the index of the sample before
 * it; -1: the window opens at a sample, or in a jump. */
static int opening(const sweep_measured *of, int first)
{
    const sweep_series *s = of->series;
    int inside = first > 0 && first < s->count && s->time[first] > of->after && !s->begins[first];
    return inside ? first - 1 : -1;
}

/* ---- Extremes -------------------------------------------------------------------------------- */

/* The maximum of sign * curve between two times around a single peak: golden section. */
static double top_of(const sweep_curve *curve, double sign, double low, double high)
{
    const double ratio = 0.61803398874989484820;
    double a = high - ratio * (high - low), b = low + ratio * (high - low);
    double fa = sign * sweep_curve_value(curve, a), fb = sign * sweep_curve_value(curve, b);
    for (int k = 0; k < 80; k++) {
        if (fa >= fb) {
            high = b;
            b = a;
            fb = fa;
            a = high - ratio * (high - low);
            fa = sign * sweep_curve_value(curve, a);
        } else {
            low = a;
            a = b;
            fa = fb;
            b = low + ratio * (high - low);
            fb = sign * sweep_curve_value(curve, b);
        }
    }
    return fa >= fb ? fa : fb;
}

/* Through three samples. */
static sweep_curve parabola(const sweep_series *s, int expr, int from)
{
    sweep_curve curve = {.count = 3};
    for (int k = 0; k < 3; k++) {
        curve.t[k] = s->time[from + k];
        curve.c[k] = sample(s, expr, from + k);
    }
    for (int order = 1; order < 3; order++) {
        for (int k = 2; k >= order; k--) {
            curve.c[k] = (curve.c[k] - curve.c[k - 1]) / (curve.t[k] - curve.t[k - order]);
        }
    }
    return curve;
}

/* Of methods that do not tell when impacts were, one may be between samples i and i + 1: where the
 * curves before and after it meet. NaN: they do not. */
static double corner(const sweep_series *s, int expr, int i)
{
    if (i < 2 || i + 3 >= s->count) {
        return NAN;
    }
    for (int k = i - 1; k <= i + 3; k++) {
        if (s->begins[k]) {
            return NAN;
        }
    }
    sweep_curve left = parabola(s, expr, i - 2), right = parabola(s, expr, i + 1);
    double low = s->time[i], high = s->time[i + 1];
    int above = sweep_curve_value(&left, low) > sweep_curve_value(&right, low);
    if (above == (sweep_curve_value(&left, high) > sweep_curve_value(&right, high))) {
        return NAN;
    }
    for (int k = 0; k < 60; k++) {
        double middle = 0.5 * (low + high);
        int same = above == (sweep_curve_value(&left, middle) > sweep_curve_value(&right, middle));
        *(same ? &low : &high) = middle;
    }
    return sweep_curve_value(&left, low);
}

static double extreme(sweep_measured *of, int expr, double sign)
{
    const sweep_series *s = of->series;
    int first = first_sample(of);
    int open = opening(of, first), corners = of->stepwise && of->impacts > 0;
    double best = -INFINITY, coarse = -INFINITY, most = -INFINITY;
    if (open >= 0) {
        sweep_curve fine = sweep_curve_at(s, expr, open, SWEEP_NODES);
        sweep_curve rough = sweep_curve_at(s, expr, open, FEWER);
        double end = s->time[first];
        best =
            fmax(sign * sweep_curve_value(&fine, of->after), top_of(&fine, sign, of->after, end));
        coarse =
            fmax(sign * sweep_curve_value(&rough, of->after), top_of(&rough, sign, of->after, end));
    }
    for (int i = first; i < s->count; i++) {
        double here = sign * sample(s, expr, i);
        if (isnan(here)) {
            return NAN;
        }
        best = here > best ? here : best;
        coarse = here > coarse ? here : coarse;
        most = corners ? fmax(most, sign * corner(s, expr, i)) : most;
        int inner =
            (i > first || open >= 0) && i + 1 < s->count && !s->begins[i] && !s->begins[i + 1];
        if (inner && here >= sign * sample(s, expr, i - 1) &&
            here >= sign * sample(s, expr, i + 1)) {
            sweep_curve fine = sweep_curve_at(s, expr, i, SWEEP_NODES);
            sweep_curve rough = sweep_curve_at(s, expr, i, FEWER);
            double low = fmax(s->time[i - 1], of->after), high = s->time[i + 1];
            best = fmax(best, top_of(&fine, sign, low, high));
            coarse = fmax(coarse, top_of(&rough, sign, low, high));
        }
    }
    if (isinf(best)) {
        return NAN;
    }
    doubt(of, best, coarse);
    doubt(of, best, fmax(best, most));
    return sign * best;
}

/* ---- Means and passages ---------------------------------------------------------------------- */

/* Over one interval: three Gauss points are exact for degree 5, while seven nodes give degree 6. */
static double integral(const sweep_curve *curve, double low, double high)
{
    const double far = 0.77459666924148337704; /* sqrt(3/5) */
    double middle = 0.5 * (low + high), half = 0.5 * (high - low);
    return half / 9 *
           (5 * sweep_curve_value(curve, middle - far * half) +
            8 * sweep_curve_value(curve, middle) +
            5 * sweep_curve_value(curve, middle + far * half));
}

static double mean(sweep_measured *of, int expr)
{
    const sweep_series *s = of->series;
    double sum = 0, rough_sum = 0, time = 0;
    int first = first_sample(of), open = opening(of, first);
    for (int i = open >= 0 ? open : first; i + 1 < s->count; i++) {
        if (s->begins[i + 1]) {
            continue;
        }
        sweep_curve fine = sweep_curve_at(s, expr, i, SWEEP_NODES);
        sweep_curve rough = sweep_curve_at(s, expr, i, FEWER);
        double from = i == open ? of->after : s->time[i];
        sum += integral(&fine, from, s->time[i + 1]);
        rough_sum += integral(&rough, from, s->time[i + 1]);
        time += s->time[i + 1] - from;
    }
    if (!(time > 0)) {
        return first < s->count ? sample(s, expr, first) : NAN;
    }
    doubt(of, sum / time, rough_sum / time);
    return sum / time;
}

/* Where a curve that is below a level at `low` and not below it at `high` crosses it. */
static double passage(const sweep_curve *curve, double level, double low, double high)
{
    for (int k = 0; k < 100 && low < high; k++) {
        double middle = low + 0.5 * (high - low);
        if (middle <= low || middle >= high) {
            break;
        }
        if (sweep_curve_value(curve, middle) < level) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}

/* The mean time between upward crossings of the mean. */
static double period(sweep_measured *of, int expr)
{
    const sweep_series *s = of->series;
    double level = mean(of, expr), begin = NAN, end = NAN, rough_begin = NAN, rough_end = NAN;
    long turns = -1;
    int first = first_sample(of), open = opening(of, first);
    for (int i = open >= 0 ? open : first; i + 1 < s->count; i++) {
        if (s->begins[i + 1] || !(sample(s, expr, i) < level) ||
            !(sample(s, expr, i + 1) >= level)) {
            continue;
        }
        sweep_curve fine = sweep_curve_at(s, expr, i, SWEEP_NODES);
        sweep_curve rough = sweep_curve_at(s, expr, i, FEWER);
        if (i == open && !(sweep_curve_value(&fine, of->after) < level)) {
            continue;
        }
        double from = i == open ? of->after : s->time[i];
        end = passage(&fine, level, from, s->time[i + 1]);
        rough_end = passage(&rough, level, from, s->time[i + 1]);
        if (turns++ < 0) {
            begin = end;
            rough_begin = rough_end;
        }
    }
    if (turns < 1) {
        return NAN;
    }
    doubt(of, (end - begin) / (double)turns, (rough_end - rough_begin) / (double)turns);
    return (end - begin) / (double)turns;
}

/* ---- Events ---------------------------------------------------------------------------------- */

static int is_it(const sweep_measured *of, int event, int k)
{
    return of->series->event[k] == event && of->series->when[k] >= of->after;
}

static double of_event(const sweep_measured *of, const sweep_keep *keep)
{
    const sweep_series *s = of->series;
    double first = NAN, last = NAN, at = NAN;
    long count = 0;
    if (keep->event_id == SWEEP_IMPACTS && of->stepwise) {
        return (double)of->impacts;
    }
    for (int k = 0; k < s->happened; k++) {
        if (!is_it(of, keep->event_id, k)) {
            continue;
        }
        if (count++ == 0) {
            first = s->when[k];
            at = keep->expr >= 0 ? s->at[(size_t)k * (size_t)s->exprs + (size_t)keep->expr] : NAN;
        }
        last = s->when[k];
    }
    switch (keep->kind) {
    case SWEEP_COUNT:
        return (double)count;
    case SWEEP_TIME:
        return first;
    case SWEEP_AT:
        return at;
    default:
        return count > 1 ? (last - first) / (double)(count - 1) : NAN;
    }
}

/* The last values at an event, the latest last; NaN where there were fewer. */
static void points_of_event(const sweep_measured *of, const sweep_keep *keep, double *to)
{
    const sweep_series *s = of->series;
    int free = keep->columns;
    for (int k = s->happened - 1; k >= 0 && free > 0; k--) {
        if (is_it(of, keep->event_id, k)) {
            to[--free] = s->at[(size_t)k * (size_t)s->exprs + (size_t)keep->expr];
        }
    }
}

/* The last values at multiples of the strobe's period, where samples were taken for this
 * purpose. */
static void points_of_strobe(const sweep_measured *of, const sweep_keep *keep, double *to)
{
    const sweep_series *s = of->series;
    int free = keep->columns;
    double before = INFINITY; /* a strobe at a jump counts once */
    for (int i = s->count - 1; i >= 0 && free > 0 && s->time[i] >= of->after; i--) {
        double turn = (s->time[i] - s->time[0]) / of->strobe, whole = math_floor(turn + 0.5);
        if (fabs(turn - whole) < 1e-9 && whole < before) {
            to[--free] = sample(s, keep->expr, i);
            before = whole;
        }
    }
}

/* ---- All ------------------------------------------------------------------------------------- */

static double single(sweep_measured *of, const sweep_keep *keep)
{
    const sweep_series *s = of->series;
    switch (keep->kind) {
    case SWEEP_END:
        return s->count > 0 ? sample(s, keep->expr, s->count - 1) : NAN;
    case SWEEP_START:
        return s->count > 0 ? sample(s, keep->expr, 0) : NAN;
    case SWEEP_MAX:
        return extreme(of, keep->expr, 1);
    case SWEEP_MIN:
        return extreme(of, keep->expr, -1);
    case SWEEP_MEAN:
        return mean(of, keep->expr);
    case SWEEP_PERIOD:
        return period(of, keep->expr);
    case SWEEP_LYAPUNOV:
        return of->lyapunov;
    default:
        return of_event(of, keep);
    }
}

void sweep_measure(const sweep_keeps *keeps, sweep_measured *of, double *to)
{
    of->doubt = 0;
    for (int i = 0; i < keeps->count; i++) {
        const sweep_keep *keep = &keeps->keep[i];
        for (int k = 0; k < keep->columns; k++) {
            to[k] = NAN;
        }
        if (keep->kind == SWEEP_POINTS) {
            points_of_event(of, keep, to);
        } else if (keep->kind == SWEEP_STROBE) {
            points_of_strobe(of, keep, to);
        } else {
            to[0] = single(of, keep);
        }
        to += keep->columns;
    }
}

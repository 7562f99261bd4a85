/* Finding the first event in a step.
 *
 * 1. All functions are sampled at the ends of the step and at a few points of its dense output
 *    between; after an event also very near to its start, to see to which side the events leave.
 * 2. A sign change between two samples is a crossing. Three samples of one sign whose parabola
 *    reaches for zero are suspected of two crossings: the vertex becomes one more sample.
 * 3. The crossing is narrowed on the dense output (root.c). The earliest of all events wins.
 * 4. Dense output is good to the tolerance only, and real steps are better: the step is retaken to
 *    the time found, and secants between retaken ends correct the time until g stops falling. So
 *    the event is that of the discrete motion itself, to round-off.
 *
 * Leaving zero.  Who has just fired starts at a residual that is all round-off, of either sign,
 * unless a jump took it away from zero. How large round-off is, the residual itself says and three
 * probes so near to the start that hardly anything has moved yet. The samples that follow, 2^10
 * times farther away each, are clear of it as soon as they are beyond four times that.
 *
 * Limits: two crossings of one function between neighbouring samples that no parabola betrays stay
 * unseen; so does whatever happens within 2^-40 of a step after an event.
 */
#include "step/event.h"

#include "base/error.h"
#include "base/memory.h"
#include "step/root.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    INTERIOR = 5,
    NEAR = 4,
    PROBES = 3,
    POINTS = INTERIOR + NEAR + 2,
    SUSPECTS = 4,
    CORRECTIONS = 6
};

struct step_events {
    int count, n;
    step_event_function *function;
    void *user;

    /* [count] */
    int *direction;
    int *fired;
    int *leaving;     /* started at zero or has just fired: on no side yet */
    double *now;      /* g where the ode stood when armed, or at the end of the last scan */
    double *residual; /* |g| at which those that fired did so, else 0 */
    double *noise;    /* what is not clearly off zero; 0 if not leaving */
    double *g;        /* scratch of one evaluation */

    double *y;      /* [n] scratch: dense output */
    double *sample; /* [POINTS * count] */
    double time[POINTS];
    int points;

    step_ode *ode; /* while scanning */
    int which;     /* the one that sees_one looks at */
};

/* ---- Creation -------------------------------------------------------------------------------- */

static void layout(step_events *e, base_arena *arena)
{
    size_t count = (size_t)e->count;
    e->direction = base_arena_ints(arena, count);
    e->fired = base_arena_ints(arena, count);
    e->leaving = base_arena_ints(arena, count);
    e->now = base_arena_doubles(arena, count);
    e->residual = base_arena_doubles(arena, count);
    e->noise = base_arena_doubles(arena, count);
    e->g = base_arena_doubles(arena, count);
    e->y = base_arena_doubles(arena, (size_t)e->n);
    e->sample = base_arena_doubles(arena, POINTS * count);
}

step_events *step_events_create(const step_event_options *options, zw_error *error)
{
    if (options->count < 0 || options->n < 0 || options->function == NULL) {
        base_fail(error, ZW_BAD_INPUT, "events: no function or size");
        return NULL;
    }
    step_events shape = {.count = options->count, .n = options->n};
    base_arena arena = {0};
    base_arena_bytes(&arena, sizeof shape);
    layout(&shape, &arena);
    arena = (base_arena){.block = base_alloc(arena.used)};
    if (arena.block == NULL) {
        base_fail(error, ZW_NO_MEMORY, "%d events: out of memory", options->count);
        return NULL;
    }
    step_events *e = base_arena_bytes(&arena, sizeof *e);
    *e = shape;
    layout(e, &arena);
    e->function = options->function;
    e->user = options->user;
    if (options->direction != NULL && e->count > 0) {
        memcpy(e->direction, options->direction, (size_t)e->count * sizeof *e->direction);
    }
    return e;
}

void step_events_free(step_events *events)
{
    base_free(events);
}

const int *step_events_fired(const step_events *events)
{
    return events->fired;
}

/* ---- Evaluating ------------------------------------------------------------------------------ */

static zw_status look(step_events *e, double t, const double *y, double *g, zw_error *error)
{
    zw_status status = e->function(e->user, t, y, g, error);
    for (int k = 0; status == ZW_OK && k < e->count; k++) {
        if (!isfinite(g[k])) {
            status = base_fail(error, ZW_INACCURATE, "event %d is not finite at t = %.17g", k, t);
        }
    }
    return status;
}

static zw_status look_inside(step_events *e, double t, double *g, zw_error *error)
{
    zw_status status = step_ode_dense(e->ode, t, e->y, error);
    return status == ZW_OK ? look(e, t, e->y, g, error) : status;
}

/* One event as a function of time, for the root finder. */
static zw_status see_one(void *user, double t, double *g, zw_error *error)
{
    step_events *e = user;
    zw_status status = look_inside(e, t, e->g, error);
    *g = e->g[e->which];
    return status;
}

zw_status step_events_arm(step_events *e, const step_ode *ode, zw_error *error)
{
    const step_ode_view *view = step_ode_look(ode);
    zw_status status = look(e, view->t, view->y, e->now, error);
    for (int k = 0; k < e->count; k++) {
        int just_fired = e->leaving[k] == 2;
        e->leaving[k] = just_fired || e->now[k] == 0.0;
        e->residual[k] = just_fired ? e->residual[k] : 0.0;
    }
    return status;
}

/* ---- Step 1: samples ------------------------------------------------------------------------- */

/* Round-off in g of those that leave; who is clear of it already does not. */
static zw_status measure_noise(step_events *e, double t0, double tiny, zw_error *error)
{
    for (int k = 0; k < e->count; k++) {
        e->noise[k] = 4.0 * e->residual[k];
    }
    for (int i = 1; i <= PROBES; i++) {
        zw_status status = look_inside(e, t0 + i * tiny, e->g, error);
        if (status != ZW_OK) {
            return status;
        }
        for (int k = 0; k < e->count; k++) {
            e->noise[k] = fmax(e->noise[k], 4.0 * fabs(e->g[k] - e->now[k]));
        }
    }
    for (int k = 0; k < e->count; k++) {
        e->leaving[k] = e->leaving[k] && fabs(e->now[k]) <= e->noise[k];
        e->noise[k] = e->leaving[k] ? e->noise[k] : 0.0;
    }
    return ZW_OK;
}

static int is_anyone_leaving(const step_events *e)
{
    int anyone = 0;
    for (int k = 0; k < e->count; k++) {
        anyone |= e->leaving[k];
    }
    return anyone;
}

static zw_status take_samples(step_events *e, zw_error *error)
{
    const step_ode_view *view = step_ode_look(e->ode);
    double t0 = view->t_before, h = view->t - t0, first = h / (INTERIOR + 1);
    double tiny = copysign(fmax(ldexp(fabs(h), -50), 2.0 * DBL_EPSILON * fabs(t0)), h);
    e->points = 0;
    e->time[e->points++] = t0;
    memset(e->noise, 0, (size_t)e->count * sizeof(double));
    if (is_anyone_leaving(e) && fabs(PROBES * tiny) < fabs(first)) {
        zw_status status = measure_noise(e, t0, tiny, error);
        if (status != ZW_OK) {
            return status;
        }
        for (int i = 1; i <= NEAR && fabs(ldexp(tiny, 10 * i)) < fabs(first); i++) {
            e->time[e->points++] = t0 + ldexp(tiny, 10 * i);
        }
    }
    for (int i = 1; i <= INTERIOR; i++) {
        double t = t0 + i * first;
        if (t != e->time[e->points - 1] && t != view->t) { /* of very short steps */
            e->time[e->points++] = t;
        }
    }
    e->time[e->points++] = view->t;
    memcpy(e->sample, e->now, (size_t)e->count * sizeof(double));
    for (int i = 1; i < e->points; i++) {
        zw_status status = look_inside(e, e->time[i], e->sample + (long)i * e->count, error);
        if (status != ZW_OK) {
            return status;
        }
    }
    return ZW_OK;
}

/* ---- Step 2: the first crossing of one event ------------------------------------------------- */

/* One event's samples in order of time, with room for suspects. */
typedef struct track {
    int count;
    double t[POINTS + SUSPECTS], g[POINTS + SUSPECTS];
} track;

/* The samples from the first on which the side is clear. */
static track track_of(const step_events *e, int k)
{
    track out = {0};
    for (int i = 0; i < e->points; i++) {
        double g = e->sample[(long)i * e->count + k];
        if (out.count > 0 || fabs(g) > e->noise[k]) {
            out.t[out.count] = e->time[i];
            out.g[out.count++] = g;
        }
    }
    return out;
}

static int same_side(double a, double b)
{
    return (a > 0.0 && b > 0.0) || (a < 0.0 && b < 0.0);
}

static void insert(track *s, int at, double t, double g)
{
    size_t behind = (size_t)(s->count - at);
    memmove(s->t + at + 1, s->t + at, behind * sizeof(double));
    memmove(s->g + at + 1, s->g + at, behind * sizeof(double));
    s->t[at] = t;
    s->g[at] = g;
    s->count++;
}

/* Add the vertices of parabolas that reach for zero. */
static zw_status follow_suspects(step_events *e, track *s, zw_error *error)
{
    int added = 0;
    for (int i = 1; i + 1 < s->count && added < SUSPECTS; i++) {
        const double *t = s->t + i - 1, *g = s->g + i - 1;
        double where, value;
        if (!same_side(g[0], g[1]) || !same_side(g[1], g[2]) || !step_root_suspect(t, g, &where)) {
            continue;
        }
        zw_status status = see_one(e, where, &value, error);
        if (status != ZW_OK) {
            return status;
        }
        int later = fabs(where - t[0]) > fabs(t[1] - t[0]);
        insert(s, i + later, where, value);
        added++;
    }
    return ZW_OK;
}

/* The first crossing in the wanted direction; 0 if there is none. */
static int first_crossing(const track *s, int direction, step_crossing *crossing)
{
    double g0 = s->count > 0 ? s->g[0] : 0.0;
    for (int i = 1; i < s->count; i++) {
        double g1 = s->g[i];
        int crosses = g0 != 0.0 && !same_side(g0, g1);
        if (crosses && (direction == 0 || (direction > 0) == (g0 < 0.0))) {
            *crossing = (step_crossing){s->t[i - 1], s->t[i], g0, g1};
            return 1;
        }
        g0 = g1;
    }
    return 0;
}

/* ---- Steps 3 and 4 --------------------------------------------------------------------------- */

static zw_status retake_and_look(step_events *e, double t, double *g, zw_error *error)
{
    zw_status status = step_ode_retake(e->ode, t, error);
    const step_ode_view *view = step_ode_look(e->ode);
    status = status == ZW_OK ? look(e, view->t, view->y, e->g, error) : status;
    *g = e->g[e->which];
    return status;
}

/* Correct the time on real steps: secants, the first with the slope of the dense output, as long as
 * |g| falls. Ends with the ode at the best time; `reach` is where the full step ended. */
static zw_status correct(step_events *e, double t0, double reach, step_crossing wide,
                         step_crossing found, zw_error *error)
{
    double t = found.after, g, slope = (wide.g_after - wide.g_before) / (wide.after - wide.before);
    /* Not back to the start: whoever has just left zero there would be found again. */
    double start = 0.5 * (t0 + t), low = fmin(start, reach), high = fmax(start, reach);
    zw_status status = retake_and_look(e, t, &g, error);
    for (int i = 0; status == ZW_OK && i < CORRECTIONS && g != 0.0; i++) {
        double next = fmin(fmax(t - g / slope, low), high), g_next;
        if (!(fabs(next - t) > DBL_EPSILON * fabs(t))) {
            break;
        }
        status = retake_and_look(e, next, &g_next, error);
        if (status != ZW_OK) {
            break;
        }
        if (!(fabs(g_next) < fabs(g))) {
            return retake_and_look(e, t, &g, error); /* the better one again */
        }
        slope = (g_next - g) / (next - t);
        t = next;
        g = g_next;
    }
    return status;
}

/* The slope of the dense output at the crossing needs points around it at which round-off does not
 * matter: a thousandth of the step to each side, where there is room. */
static zw_status widen(step_events *e, step_crossing found, step_crossing *wide, zw_error *error)
{
    const step_ode_view *view = step_ode_look(e->ode);
    double low = fmin(view->t_before, view->t), high = fmax(view->t_before, view->t);
    double away = 1e-3 * (view->t - view->t_before);
    wide->before = fmin(fmax(found.before - away, low), high);
    wide->after = fmin(fmax(found.after + away, low), high);
    zw_status status = see_one(e, wide->before, &wide->g_before, error);
    return status == ZW_OK ? see_one(e, wide->after, &wide->g_after, error) : status;
}

/* All events that have come to or past zero, from the side on which they were. */
static int gather(step_events *e, int first)
{
    int count = 0;
    for (int k = 0; k < e->count; k++) {
        double before = e->now[k], now = e->g[k];
        int wanted = e->direction[k] == 0 || (e->direction[k] > 0) == (before < 0.0);
        int crossed = !e->leaving[k] && before != 0.0 && !same_side(before, now) && wanted;
        if (k == first || crossed) {
            e->fired[count++] = k;
            e->leaving[k] = 2;
            e->residual[k] = fabs(now);
        }
    }
    return count;
}

/* Nothing happened: who was leaving has left, if it is seen clearly. */
static void pass(step_events *e)
{
    const double *last = e->sample + (long)(e->points - 1) * e->count;
    for (int k = 0; k < e->count; k++) {
        e->leaving[k] = e->leaving[k] ? track_of(e, k).count == 0 : last[k] == 0.0;
        e->now[k] = last[k];
    }
}

zw_status step_events_scan(step_events *e, step_ode *ode, int *count, zw_error *error)
{
    const step_ode_view *view = step_ode_look(ode);
    double t0 = view->t_before, reach = view->t;
    step_crossing best = {0}, wide = {0};
    int first = -1;
    *count = 0;
    if (e->count == 0 || t0 == reach) {
        return ZW_OK;
    }
    e->ode = ode;
    zw_status status = take_samples(e, error);
    for (int k = 0; status == ZW_OK && k < e->count; k++) {
        step_crossing crossing;
        e->which = k;
        track s = track_of(e, k);
        status = follow_suspects(e, &s, error);
        if (status == ZW_OK && first_crossing(&s, e->direction[k], &crossing)) {
            status = step_root_narrow(see_one, e, 0.0, &crossing, error);
            if (first < 0 || fabs(crossing.after - t0) < fabs(best.after - t0)) {
                best = crossing;
                first = k;
            }
        }
    }
    if (status == ZW_OK && first < 0) {
        pass(e);
        return ZW_OK;
    }
    e->which = first;
    status = status == ZW_OK ? widen(e, best, &wide, error) : status;
    status = status == ZW_OK ? correct(e, t0, reach, wide, best, error) : status;
    *count = status == ZW_OK ? gather(e, first) : 0;
    return status;
}

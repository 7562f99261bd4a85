/* Finding the first event in a step, and the marks before it.
 *
 * 1. Pieces of the step in which functions cross zero are found on its dense output, and the rest
 *    is proved free of crossings: event_search.c.
 * 2. Each crossing is narrowed on the dense output (root.c). The earliest one is the event.
 * 3. Marks are located, each alone, and the step goes on beyond them: event_marks.c.
 * 4. Dense output is only accurate to the tolerance, and actual steps are better: the step is
 *    repeated to the time found, and the secant method on the ends of repeated steps corrects the
 *    time until |g| stops decreasing. So the event is that of the discrete motion itself, to
 *    round-off.
 *
 * Leaving zero. A function that has just fired starts at a residual that is round-off, of either
 * sign, unless a jump moved it away from zero. Within four times that residual it counts as zero,
 * and is on no side. The round-off of a solve is not known beforehand: it is estimated from three
 * samples so near to the start that hardly anything has changed, and up to four times that estimate
 * counts as zero.
 *
 * Resting at zero. A function that a constraint keeps at zero is zero to the accuracy of the steps
 * (slack), and is on no side. A condition does not hold there. If it comes to hold without a
 * crossing, it began when the motion left zero, which was at the start of the smooth piece, or
 * later by less than can be resolved: at the start of the step.
 *
 * Steps that contain contacts (`impulse`) bring functions to zero and keep them there without an
 * event: a body lands, or friction stops it. So at every step it is decided from values alone which
 * functions are at zero: closer to zero than its slack, a function is on no side. One that ends a
 * step at zero and did not begin it there has come to zero, which is an event, but no condition
 * holds. A function that is at zero at the start of a run has only a direction: leaving zero is no
 * event in the first step.
 *
 * Jumps within steps. Steps that contain impacts (`impulse`) have dense output too, but actual
 * steps to times around an impact end on one side of zero or on the other. A residual larger than
 * the variation of the function around the event, on the dense output, is such a jump: the event is
 * at the end of the step, and its function has left zero there. */
#include "step/events/event_search.h"

#include "base/error.h"
#include "base/memory.h"
#include "step/ode/root.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Room for this many marks in a step, times the number of functions: a further one ends it. */
enum { MARKS = 4 };

/* ---- Creation -------------------------------------------------------------------------------- */

static void layout(step_events *e, base_arena *arena)
{
    size_t count = (size_t)e->count, nodes = SEARCH_DEGREE + 1, half = SEARCH_DEGREE / 2 + 1;
    int **flag[] = {&e->direction, &e->condition,  &e->mark,     &e->fired,       &e->kind,
                    &e->is_guard,  &e->just_fired, &e->side,     &e->side_before, &e->found,
                    &e->crosses,   &e->came,       &e->side_then};
    for (size_t i = 0; i < sizeof flag / sizeof *flag; i++) {
        *flag[i] = base_arena_ints(arena, count);
    }
    double **number[] = {&e->zone,  &e->residual,  &e->now,         &e->level,     &e->slack,
                         &e->noise, &e->g,         &e->zone_before, &e->clear,     &e->until,
                         &e->low,   &e->high,      &e->tail,        &e->zone_then, &e->clear_then,
                         &e->most,  &e->most_then, &e->was,         &e->spread};
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        *number[i] = base_arena_doubles(arena, count);
    }
    e->jet = base_arena_bytes(arena, count * sizeof *e->jet);
    for (int i = 0; i < SEARCH_DEPTH + 2; i++) {
        e->end[i] = base_arena_bytes(arena, count * sizeof *e->end[i]);
    }
    e->y = base_arena_doubles(arena, (size_t)e->n);
    e->sample = base_arena_doubles(arena, nodes * count);
    e->b = base_arena_doubles(arena, nodes * count);
    e->part = base_arena_doubles(arena, nodes * count);
    e->fit[0] = base_arena_doubles(arena, half * half);
    e->fit[1] = base_arena_doubles(arena, nodes * nodes);
    e->marked = base_arena_bytes(arena, (size_t)e->mark_room * sizeof *e->marked);
}

step_events *step_events_create(const step_event_options *options, zw_error *error)
{
    if (options->count < 0 || options->n < 0 || options->function == NULL) {
        base_fail(error, ZW_BAD_INPUT, "events: no function or size");
        return NULL;
    }
    step_events shape = {.count = options->count, .n = options->n};
    for (int k = 0; options->mark != NULL && k < options->count; k++) {
        shape.mark_room += options->mark[k] ? MARKS : 0;
    }
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
    e->sort = options->sort;
    e->enclose = options->enclose;
    e->user = options->user;
    e->option = *options;
    e->gain[0] = bernstein_fit(SEARCH_DEGREE / 2, e->fit[0]);
    e->gain[1] = bernstein_fit(SEARCH_DEGREE, e->fit[1]);
    if (options->direction != NULL && e->count > 0) {
        memcpy(e->direction, options->direction, (size_t)e->count * sizeof *e->direction);
    }
    if (options->condition != NULL && e->count > 0) {
        memcpy(e->condition, options->condition, (size_t)e->count * sizeof *e->condition);
    }
    if (options->mark != NULL && e->count > 0) {
        memcpy(e->mark, options->mark, (size_t)e->count * sizeof *e->mark);
    }
    e->option.direction = e->option.condition = e->option.mark = NULL; /* owned by the caller */
    return e;
}

void step_events_free(step_events *events)
{
    if (events != NULL) {
        path_free(events->path);
        base_free(events);
    }
}

const int *step_events_fired(const step_events *events)
{
    return events->fired;
}

int step_events_proved(const step_events *events)
{
    return events->proved;
}

int step_events_begun(const step_events *events)
{
    return events->begun;
}

int step_events_side(const step_events *events, int k)
{
    return events->side[k];
}

int step_events_side_there(const step_events *events, int k)
{
    double zone = events->zone_before[k], g = events->was[k];
    int unknown = fabs(g) <= zone || (zone > 0.0 && events->left > 0);
    return unknown ? 0 : g > 0.0 ? 1 : -1;
}

double step_events_zone(const step_events *events, int k)
{
    return events->zone[k];
}

int step_events_left(const step_events *events)
{
    return events->left;
}

/* ---- Sides ----------------------------------------------------------------------------------- */

/* Which conditions has a jump made true? */
static void see_jumps(step_events *e)
{
    e->begun = 0;
    for (int k = 0; k < e->count; k++) {
        if (e->stood && e->condition[k] && e->was[k] <= 0.0 && e->now[k] > e->slack[k]) {
            e->fired[e->begun++] = k;
        }
        e->was[k] = e->now[k];
    }
    e->stood = 1;
}

zw_status step_events_arm(step_events *e, const stepper *ode, step_event_start start,
                          zw_error *error)
{
    const stepper_view *view = stepper_look(ode);
    if (e->path == NULL && e->enclose != NULL) {
        e->path = path_create(ode, e->option.component, e->option.component_count, error);
        if (e->path == NULL) {
            return ZW_NO_MEMORY;
        }
    }
    memset(e->level, 0, (size_t)e->count * sizeof *e->level);
    memset(e->zone, 0, (size_t)e->count * sizeof *e->zone);
    zw_status status = search_look(e, view->t, view->y, e->now, error);
    if (e->sort) {
        e->sort(e->user, e->kind, e->is_guard, e->slack);
    }
    e->fresh = 1;
    e->first = start == STEP_EVENTS_AFRESH;
    if (status == ZW_OK) {
        see_jumps(e);
    }
    for (int k = 0; k < e->count && status == ZW_OK; k++) {
        double g = e->now[k];
        int stopped = e->just_fired[k] == 1 && start != STEP_EVENTS_SAME;
        int holds = e->condition[k] && e->just_fired[k] && !stopped;
        e->noise[k] = 0.0;
        if (e->is_guard[k]) {
            e->side[k] = 1;
            e->zone[k] = fabs(g) <= e->slack[k] ? e->slack[k] : 0.0;
            e->level[k] = fmin(g, 0.0);
            e->now[k] -= e->level[k];
        } else if (e->slack[k] >
                   0.0) { /* it rests; one that has just come to zero by itself holds */
            double near = e->option.jumps && e->just_fired[k] ? 4.0 * e->residual[k] : 0.0;
            e->zone[k] = fmax(e->slack[k], near);
            e->side[k] = e->option.jumps && fabs(g) > e->zone[k] ? (g > 0.0 ? 1 : -1) : holds;
        } else {
            e->zone[k] = e->just_fired[k] ? 4.0 * e->residual[k] : 0.0;
            e->side[k] = fabs(g) > e->zone[k] ? (g > 0.0 ? 1 : -1) : 0;
            e->zone[k] = e->side[k] ? 0.0 : e->zone[k];
        }
    }
    return status;
}

/* ---- The earliest
 * --------------------------------------------------------------------------------- */

/* Only a few of those found can be the first: the time is bisected, evaluating all of them at once,
 * until few are left to be narrowed one by one. */
static zw_status keep_earliest(step_events *e, zw_error *error)
{
    enum { FEW = 2, LOOKS = 50 };
    double low = INFINITY, high = e->best;
    zw_status status = ZW_OK;
    int left = 0;
    for (int k = 0; k < e->count; k++) {
        e->found[k] &= e->low[k] < e->best;
        low = e->found[k] ? fmin(low, e->low[k]) : low;
        left += e->found[k];
    }
    for (int look = 0; look < LOOKS && left > FEW && status == ZW_OK; look++) {
        double x = 0.5 * (low + high), t = search_time(e, x);
        int crossed = 0;
        status = stepper_interpolate(e->ode, t, e->y, error);
        status = status == ZW_OK ? search_look(e, t, e->y, e->g, error) : status;
        for (int pass = 0; pass < 2 && status == ZW_OK && (pass == 0 || crossed > 0); pass++) {
            for (int k = 0; k < e->count; k++) {
                int there =
                    x >= e->high[k] || (x > e->low[k] && search_same_side(e->g[k], e->side[k]));
                crossed += pass == 0 && e->found[k] && there;
                e->found[k] &= pass == 0 || there;
            }
        }
        *(crossed > 0 ? &high : &low) = x;
        left = crossed > 0 ? crossed : left;
    }
    return status;
}

/* ---- What fires
 * ---------------------------------------------------------------------------------- */

static int is_jump(const step_events *e, int k)
{
    return e->option.jumps && fabs(e->g[k]) > e->spread[k];
}

/* Guards that are at zero now; `was` is from the start of the step. One that was at zero already
 * has not come there: floor(n/2) with n = floor(t), as long as n is even. */
static zw_status see_guards_at_zero(step_events *e, int first, zw_error *error)
{
    const stepper_view *view = stepper_look(e->ode);
    int some = 0;
    for (int k = 0; k < e->count; k++) {
        some |= k != first && e->is_guard[k] && e->g[k] == 0.0;
    }
    if (!some) {
        return ZW_OK;
    }
    zw_status status = search_look(e, view->t_before, view->y_before, e->was, error);
    return status == ZW_OK ? search_look(e, view->t, view->y, e->g, error) : status;
}

/* All events that have reached or passed zero, from the side on which they were. The others keep
 * their side from the start of the step, unless they are clearly on a side now. What is within the
 * slack of such steps is at zero; a condition there begins to hold if the step leads beyond. */
static zw_status gather(step_events *e, int first, int *count, zw_error *error)
{
    zw_status status = see_guards_at_zero(e, first, error);
    for (int k = 0; k < e->count && status == ZW_OK; k++) {
        double now = e->g[k];
        int before = e->side_before[k];
        int wanted = e->direction[k] == 0 || (e->direction[k] > 0) == (before < 0);
        int rested = (e->zone_before[k] > 0.0 && !e->option.jumps) ||
                     (e->is_guard[k] && now == 0.0 && e->was[k] == 0.0);
        int beyond = !search_same_side(before, now) && fabs(now) >= e->zone_before[k];
        int there = e->option.jumps && !e->is_guard[k] && fabs(now) < e->zone_before[k] &&
                    (!e->condition[k] || e->crosses[k]);
        int crossed =
            before != 0 && !rested && (beyond || there) && wanted && e->kind[k] != STEP_EVENT_OFF;
        if (e->found[k] || crossed) {
            e->fired[(*count)++] = k;
            e->just_fired[k] = 1;
            e->residual[k] = is_jump(e, k) ? 0.0 : fabs(now);
        }
        e->was[k] = e->found[k] || crossed ? 1.0 : now; /* an event that fires begins to hold */
    }
    e->stood = 1;
    return status;
}

/* Conditions that rested at zero at the start of the step, and hold since then. One that came there
 * by itself just before, and goes on, has held all the time. */
static zw_status gather_left(step_events *e, zw_error *error)
{
    const stepper_view *view = stepper_look(e->ode);
    for (int k = 0; k < e->count; k++) {
        int rested = !e->is_guard[k] && e->slack[k] > 0.0 && e->zone_before[k] == e->slack[k];
        int begins = e->option.jumps && e->first;
        if (rested && !begins && !e->came[k] && e->condition[k] && e->side_before[k] == 0 &&
            e->side[k] > 0) {
            e->fired[e->left++] = k;
            e->just_fired[k] = 2;
            e->residual[k] = 0.0;
        }
    }
    if (e->left == 0) {
        return ZW_OK;
    }
    zw_status status = search_look(e, view->t_before, view->y_before, e->was, error);
    for (int i = 0; i < e->left; i++) {
        e->was[e->fired[i]] = 1.0;
    }
    e->stood = 1;
    return status;
}

/* Steps that contain contacts: which functions are at zero is decided again. */
static zw_status begin_step(step_events *e, zw_error *error)
{
    const stepper_view *view = stepper_look(e->ode);
    zw_status status = search_look(e, view->t_before, view->y_before, e->g, error);
    if (status == ZW_OK && e->sort) {
        e->sort(e->user, e->kind, e->is_guard, e->slack);
    }
    for (int k = 0; k < e->count && status == ZW_OK; k++) {
        e->zone[k] = e->is_guard[k] || e->fresh ? e->zone[k] : e->slack[k];
    }
    return status;
}

/* Functions that such a step has brought to zero at its end. */
static zw_status gather_stopped(step_events *e, int *count, zw_error *error)
{
    const stepper_view *view = stepper_look(e->ode);
    zw_status status = search_look(e, view->t, view->y, e->g, error);
    for (int k = 0; k < e->count && status == ZW_OK; k++) {
        int from = e->side[k], came = e->side_before[k] != 0 || e->clear[k] > 0.0;
        e->was[k] = e->g[k];
        if (e->is_guard[k] || !(fabs(e->g[k]) <= e->slack[k]) || !came || from == 0) {
            continue;
        }
        e->side[k] = 0;
        if (!e->condition[k] && (e->direction[k] == 0 || (e->direction[k] > 0) == (from < 0))) {
            e->fired[(*count)++] = k;
            e->just_fired[k] = 1;
            e->residual[k] = fabs(e->g[k]);
        }
    }
    e->stood = *count > 0;
    return status;
}

/* Round-off of the sampled functions, in the first step after they were armed. */
static zw_status measure_noise(step_events *e, zw_error *error)
{
    enum { PROBES = 3 };
    const stepper_view *view = stepper_look(e->ode);
    double t0 = view->t_before, h = view->t - t0;
    double tiny = copysign(fmax(ldexp(fabs(h), -50), 2.0 * DBL_EPSILON * fabs(t0)), h);
    int sampled = 0;
    for (int k = 0; k < e->count; k++) {
        sampled |= e->kind[k] == STEP_EVENT_SAMPLED;
    }
    for (int i = 1; i <= PROBES && sampled && fabs(i * tiny) < fabs(h); i++) {
        zw_status status = stepper_interpolate(e->ode, t0 + i * tiny, e->y, error);
        status = status == ZW_OK ? search_look(e, t0 + i * tiny, e->y, e->g, error) : status;
        if (status != ZW_OK) {
            return status;
        }
        for (int k = 0; k < e->count; k++) {
            e->noise[k] = fmax(e->noise[k], 4.0 * fabs(e->g[k] - e->now[k]));
        }
    }
    e->fresh = 0;
    return ZW_OK;
}

/* Finds crossings in the step, and where some seem to end it, repeats the step by a method that can
 * decide it. */
static zw_status search(step_events *e, zw_error *error)
{
    size_t count = (size_t)e->count;
    int happens = 0, again = 0;
    zw_status status = search_step(e, error);
    for (int k = 0; k < e->count && status == ZW_OK; k++) {
        happens |= e->found[k] || (!e->mark[k] && e->side[k] != e->side_before[k]);
    }
    status = happens ? stepper_sharpen(e->ode, &again, error) : status;
    if (status == ZW_OK && again) {
        memcpy(e->side, e->side_before, count * sizeof *e->side);
        memcpy(e->zone, e->zone_before, count * sizeof *e->zone);
        status = search_step(e, error);
    }
    return status;
}

static zw_status begin_scan(step_events *e, zw_error *error)
{
    size_t count = (size_t)e->count;
    zw_status status = e->option.jumps ? begin_step(e, error) : ZW_OK;
    if (!e->option.jumps && e->sort) {
        e->sort(e->user, e->kind, e->is_guard, NULL);
    }
    for (int k = 0; k < e->count; k++) {
        e->came[k] = e->option.jumps && e->just_fired[k] == 1;
    }
    memset(e->just_fired, 0, count * sizeof *e->just_fired);
    memcpy(e->side_before, e->side, count * sizeof *e->side);
    memcpy(e->zone_before, e->zone, count * sizeof *e->zone);
    return status;
}

/* Into e->which, the earliest of those found, on the dense output; -1: none. */
static zw_status narrow_all(step_events *e, double t0, step_crossing *best, zw_error *error)
{
    zw_status status = keep_earliest(e, error);
    int first = -1;
    for (int k = 0; status == ZW_OK && k < e->count; k++) {
        step_crossing crossing;
        if (!e->found[k]) {
            continue;
        }
        status = search_narrow(e, k, e->low[k], e->high[k], &crossing, error);
        if (first < 0 || fabs(crossing.after - t0) < fabs(best->after - t0)) {
            *best = crossing;
            first = k;
        }
    }
    e->which = first;
    return status;
}

zw_status step_events_scan(step_events *e, stepper *ode, int *count, zw_error *error)
{
    const stepper_view *view = stepper_look(ode);
    double t0 = view->t_before, reach = view->t;
    step_crossing best = {0}, wide = {0};
    *count = e->left = e->marks = 0;
    e->proved = 1;
    e->stood = 0;
    if (e->count == 0 || t0 == reach) {
        return ZW_OK;
    }
    e->ode = ode;
    zw_status status = begin_scan(e, error);
    status = status == ZW_OK && e->fresh ? measure_noise(e, error) : status;
    status = status == ZW_OK ? search(e, error) : status;
    status = status == ZW_OK ? gather_left(e, error) : status;
    e->first = 0;
    if (e->left > 0) {
        return status;
    }
    memcpy(e->crosses, e->found, (size_t)e->count * sizeof *e->found);
    status = status == ZW_OK ? narrow_all(e, t0, &best, error) : status;
    int first = e->which;
    if (status == ZW_OK && e->marks > 0) {
        status = marks_locate(e, first < 0 ? INFINITY : best.after, error);
    }
    if (status != ZW_OK || first < 0) {
        for (int k = 0; k < e->count; k++) {
            if (e->clear[k] == 1.0) { /* it has left zero */
                e->level[k] = 0.0;
            }
        }
        marks_keep(e, INFINITY);
        return status == ZW_OK && e->option.jumps ? gather_stopped(e, count, error) : status;
    }
    status = search_widen(e, best, &wide, error);
    status = status == ZW_OK ? search_correct(e, t0, reach, wide, best, error) : status;
    memset(e->found, 0, (size_t)e->count * sizeof *e->found);
    e->found[first] = 1;
    marks_keep(e, view->t);
    if (status == ZW_OK && is_jump(e, first)) {
        status = stepper_retake(e->ode, reach, error);
        status = status == ZW_OK ? search_look(e, view->t, view->y, e->g, error) : status;
    }
    return status == ZW_OK ? gather(e, first, count, error) : status;
}

/* Proves that a step is free of unseen crossings, or finds the pieces that contain them.
 *
 * Over a piece [a, b] of the step a function g has an enclosure V of its values and one R = [l, u]
 * of its rate (expr/enclose.h). With g(a) and g(b), whose round-off is enclosed as well, every
 * value is above both lines
 *
 *     g(a) + l (x - a)     and     g(b) - u (b - x),
 *
 * so that the minimum is at least the value where they intersect, (u g(a) - l g(b) + l u (b -
 * a))/(u - l), and the maximum is bounded likewise. This is of second order in b - a. Then the
 * piece is
 *
 *   clear if V does not contain zero; monotone if R does not: the signs at the ends decide whether
 *   there is exactly one crossing; undecided if round-off decides: V is not wider than four times
 *   its width at single points; halved otherwise.
 *
 * The sequence of the sides of clear pieces, from left to right, with undecided ones between, is
 * the result: a change is a crossing, and touching zero within round-off without passing through is
 * none.
 *
 * Functions without a formula (forces need a solve of the kernel) are sampled at the nodes of
 * `bernstein_node`, 5 and then 9 of them, on the step or on its halves, quarters and so on. The
 * polynomial through the samples replaces g. With c_k its coefficients in the Chebyshev basis
 * (Trefethen 2013), V is widened by twice the sum of the last ones, which for a convergent series
 * exceeds all that follow, and R by that times 2 degree^2 / (length), by Markov's inequality.
 * Segments are halved until the widening is below the square root of the precision, relative to the
 * largest |g|, or below the accuracy of g, or g is clear of zero anyway; and at the start of a step
 * as long as the round-off of a long segment may hide a short flight. That is observed convergence,
 * not a proof. */
#include "step/events/event_search.h"

#include "base/error.h"
#include "math/elementary.h"

#include <math.h>
#include <string.h>

/* ---- Evaluating -------------------------------------------------------------------------------*/

zw_status search_look(step_events *e, double t, const double *y, double *g, zw_error *error)
{
    int k = e->alone ? e->which : 0, end = e->alone ? k + 1 : e->count;
    zw_status status = e->alone ? e->option.single(e->user, k, t, y, g, error)
                                : e->function(e->user, t, y, g, error);
    for (; status == ZW_OK && k < end; k++) {
        g[k] -= e->level[k];
        if (!isfinite(g[k])) {
            status = base_fail(error, ZW_INACCURATE, "event %d is not finite at t = %.17g", k, t);
        }
    }
    return status;
}

double search_time(const step_events *e, double x)
{
    const stepper_view *view = stepper_look(e->ode);
    return x == 0.0   ? view->t_before
           : x == 1.0 ? view->t
                      : view->t_before + x * (view->t - view->t_before);
}

int search_same_side(double a, double b)
{
    return (a > 0.0 && b > 0.0) || (a < 0.0 && b < 0.0);
}

zw_status search_look_inside(step_events *e, double x, double *g, zw_error *error)
{
    double t = search_time(e, x);
    zw_status status = stepper_interpolate(e->ode, t, e->y, error);
    return status == ZW_OK ? search_look(e, t, e->y, g, error) : status;
}

/* ---- Polynomials through samples --------------------------------------------------------------*/

/* Twice the last coefficients of the Chebyshev series: two for degree 4, three for degree 8. */
static double tail_of(const double *sample, int count, int degree)
{
    static const double PI = 3.14159265358979323846;
    double sum = 0.0;
    for (int k = degree - degree / 4; k <= degree; k++) {
        double c = 0.0;
        for (int j = 0; j <= degree; j++) {
            double part = j == 0 || j == degree ? 0.5 : 1.0;
            c += part * sample[(long)j * count] * math_cos(PI * k * j / degree);
        }
        sum += fabs(c) * (k == degree ? 1.0 : 2.0) / degree;
    }
    return 2.0 * sum;
}

static double largest_of(const double *sample, int count, int degree)
{
    double most = 0.0;
    for (int j = 0; j <= degree; j++) {
        most = fmax(most, fabs(sample[(long)j * count]));
    }
    return most;
}

/* b and tail of the sampled functions on the segment, from their samples. */
static void fit_samples(step_events *e)
{
    int d = e->degree, n = d + 1, fit = d == SEARCH_DEGREE;
    for (int k = 0; k < e->count; k++) {
        if (e->kind[k] != STEP_EVENT_SAMPLED) {
            continue;
        }
        for (int i = 0; i < n; i++) {
            double sum = 0.0;
            for (int j = 0; j < n; j++) {
                sum += e->fit[fit][i * n + j] * e->sample[(long)j * e->count + k];
            }
            e->b[(long)i * e->count + k] = sum;
        }
        e->most[k] = largest_of(e->sample + k, e->count, d);
        double round = 4.0 * e->gain[fit] * DBL_EPSILON * e->most[k];
        e->tail[k] = tail_of(e->sample + k, e->count, d) + fmax(round, e->noise[k]);
    }
}

/* Takes the samples of the segment; the degree is doubled if those of degree 4 exist already. */
static zw_status take_samples(step_events *e, int degree, zw_error *error)
{
    int refine = degree == SEARCH_DEGREE && e->degree == degree / 2;
    size_t row = (size_t)e->count * sizeof(double);
    for (int j = degree / 2; j > 0 && refine; j--) {
        memcpy(e->sample + (long)2 * j * e->count, e->sample + (long)j * e->count, row);
    }
    for (int j = refine; j <= degree; j += refine ? 2 : 1) {
        double x = e->from + bernstein_node(degree, j) * (e->to - e->from);
        x = j == degree ? e->to : x;
        zw_status status = search_look_inside(e, x, e->sample + (long)j * e->count, error);
        if (status != ZW_OK) {
            return status;
        }
    }
    e->degree = degree;
    fit_samples(e);
    return ZW_OK;
}

static int clear_side(expr_interval v, double zone)
{
    return v.lo > zone ? 1 : v.hi < -zone ? -1 : 0;
}

/* Are all sampled functions clear of zero on the whole segment, or known accurately enough? */
static int samples_suffice(const step_events *e)
{
    for (int k = 0; k < e->count; k++) {
        if (e->kind[k] != STEP_EVENT_SAMPLED) {
            continue;
        }
        expr_interval v = {INFINITY, -INFINITY};
        for (int i = 0; i <= e->degree; i++) {
            double b = e->b[(long)i * e->count + k];
            v = interval_hull(v, interval_point(b));
        }
        double most = fmax(fabs(v.lo), fabs(v.hi));
        v = (expr_interval){v.lo - e->tail[k], v.hi + e->tail[k]};
        double enough = fmax(fmax(16.0 * e->noise[k], e->slack[k]), sqrt(DBL_EPSILON) * most);
        if (clear_side(v, e->zone[k]) == 0 && e->tail[k] > enough) {
            return 0;
        }
    }
    return 1;
}

/* Jets of the sampled functions over [a, b] of the step, or values at a = b. */
static void bound_samples(step_events *e, double a, double b)
{
    int d = e->degree, count = e->count;
    double length = e->to - e->from, from = (a - e->from) / length, to = (b - e->from) / length;
    from = from < 0.0 ? 0.0 : from;
    to = to > 1.0 ? 1.0 : to;
    memcpy(e->part, e->b, (size_t)(d + 1) * (size_t)count * sizeof *e->part);
    bernstein_restrict(d, count, e->part, from, to);
    for (int k = 0; k < count; k++) {
        if (e->kind[k] != STEP_EVENT_SAMPLED) {
            continue;
        }
        double c0 = e->part[k], lo = c0, hi = c0, least = INFINITY, most = -INFINITY;
        for (int i = 1; i <= d && a < b; i++) {
            double c = e->part[(long)i * count + k], rise = d * (c - c0) / (b - a);
            lo = fmin(lo, c);
            hi = fmax(hi, c);
            least = fmin(least, rise);
            most = fmax(most, rise);
            c0 = c;
        }
        double steep = e->tail[k] * 2.0 * d * d / length;
        e->jet[k].value = (expr_interval){lo - e->tail[k], hi + e->tail[k]};
        e->jet[k].rate = a < b ? (expr_interval){least - steep, most + steep} : INTERVAL_ALL;
    }
}

/* ---- Bounds -----------------------------------------------------------------------------------*/

/* Jets of all functions over [a, b]. */
static void bound_all(step_events *e, double a, double b)
{
    if (e->enclose) {
        e->enclose(e->user, path_piece(e->path, a, b), e->jet);
    }
    for (int k = 0; k < e->count; k++) {
        if (e->kind[k] != STEP_EVENT_SAMPLED &&
            e->level[k] != 0.0) { /* samples include it already */
            e->jet[k].value = interval_sub(e->jet[k].value, interval_point(e->level[k]));
        }
    }
    if (e->degree > 0) {
        bound_samples(e, a, b);
    }
}

static void bound_end(step_events *e, double x, expr_interval *value)
{
    bound_all(e, x, x);
    for (int k = 0; k < e->count; k++) {
        value[k] = e->jet[k].value;
    }
}

/* The least possible value between the ends of a function with rates in [l, u]. */
static double least_between(double ga, double gb, double l, double u, double length)
{
    if (!(l < 0.0)) {
        return ga;
    }
    if (!(u > 0.0)) {
        return gb;
    }
    double round = 16.0 * DBL_EPSILON * (fabs(ga) + fabs(gb) - l * length);
    double meet = (u * ga - l * gb + l * u * length) / (u - l);
    if (!isfinite(meet)) {
        return -INFINITY;
    }
    return fmin(fmin(ga, gb), meet) - round;
}

static expr_interval tighten(expr_jet g, expr_interval ga, expr_interval gb, double length)
{
    double l = g.rate.lo, u = g.rate.hi;
    expr_interval lines = {least_between(ga.lo, gb.lo, l, u, length),
                           -least_between(-ga.hi, -gb.hi, -u, -l, length)};
    return interval_meet(lines, g.value);
}

/* ---- Results
 * ---------------------------------------------------------------------------------- */

/* Function k came to side s between low and high, or `ends` the step at zero: then the next step
 * begins there, and must know. The pieces that are allowed begin anew after a mark, as they do with
 * each step. */
static void cross(step_events *e, int k, int s, double low, double high, int ends)
{
    int wanted = e->direction[k] == 0 || (e->direction[k] > 0) == (s > 0);
    e->side[k] = s;
    if (wanted && !ends && e->mark[k] && e->slack[k] == 0.0 && e->marks < e->mark_room) {
        e->marked[e->marks++] = (step_mark){.which = k, .side = s, .low = low, .high = high};
        e->pieces = 0;
    } else if (wanted) {
        e->found[k] = 1;
        e->low[k] = low;
        e->high[k] = high;
        e->best = fmin(e->best, high);
    }
}

/* Function k is clearly on side s from `from` to `to`. */
static void see(step_events *e, int k, int s, double from, double to)
{
    if (e->side[k] != 0 && e->side[k] != s) {
        cross(e, k, s, fmin(e->clear[k], from), from, 0);
    }
    e->side[k] = s;
    e->zone[k] = e->option.jumps ? e->slack[k] : 0.0;
    e->clear[k] = to;
}

/* Decides function k on [a, b], whose values are in v; 0: the piece must be halved. `last`: it
 * cannot be. */
static int settle(step_events *e, int k, double a, double b, expr_interval v, int last)
{
    double zone = e->zone[k];
    expr_interval ga = e->end[0][k], gb = e->end[1][k];
    int s = clear_side(v, zone), sa = clear_side(ga, zone), sb = clear_side(gb, zone);
    expr_interval rate = e->jet[k].rate;
    if (s != 0) {
        see(e, k, s, a, b);
        return 1;
    }
    int monotone = rate.lo > 0.0 || rate.hi < 0.0;
    double noise = (ga.hi - ga.lo) + (gb.hi - gb.lo) + 0.5 * zone;
    if (!last && !monotone && v.hi - v.lo <= 4.0 * noise) {
        /* a shorter segment has less round-off, if the length of the segment caused it */
        e->coarse |= e->kind[k] == STEP_EVENT_SAMPLED && e->from == 0.0 &&
                     e->tail[k] > fmax(16.0 * e->noise[k], e->slack[k]) &&
                     e->most[k] < 0.75 * e->most_then[k];
        last = 1;
    }
    if (!monotone && !last) {
        return 0;
    }
    if (sa != 0) {
        see(e, k, sa, a, a);
    }
    if (e->found[k]) {
        return 1;
    }
    if (sb != 0) {
        if (sa == 0 && e->side[k] == -sb && !last) {
            return 0; /* a crossing, and it may be before a */
        }
        if (e->side[k] == -sb) {
            cross(e, k, sb, sa != 0 ? a : fmin(e->clear[k], a), b, 0);
        }
        see(e, k, sb, b, b);
    } else if (b == 1.0 && interval_is_zero(gb) && sa != 0) {
        cross(e, k, -e->side[k], a, b, 1);
    }
    return 1;
}

/* ---- The walk ---------------------------------------------------------------------------------*/

static int is_wanted(const step_events *e, int k, double a)
{
    return e->kind[k] != STEP_EVENT_OFF && !e->found[k] && e->until[k] <= a;
}

/* Is the piece as short as the resolution of time? */
static int is_shortest(const step_events *e, double a, double b)
{
    const stepper_view *view = stepper_look(e->ode);
    double t = fmax(fabs(view->t_before), fabs(view->t)), h = fabs(view->t - view->t_before);
    double middle = 0.5 * (a + b);
    return (b - a) * h <= 4.0 * DBL_EPSILON * t || middle <= a || middle >= b;
}

/* Decides what can be decided on [a, b]; returns whether some functions require halving. `known`:
 * whether the values at an end are there. */
static int settle_piece(step_events *e, double a, double b, int *known_a, int *known_b)
{
    int left = 0, last = is_shortest(e, a, b) || e->pieces > SEARCH_PIECES;
    if (e->pieces++ > SEARCH_PIECES) {
        e->proved = 0;
    }
    bound_all(e, a, b);
    for (int k = 0; k < e->count; k++) {
        int s = is_wanted(e, k, a) ? clear_side(e->jet[k].value, e->zone[k]) : 0;
        if (s != 0) {
            see(e, k, s, a, b);
            e->until[k] = b;
        }
        left |= is_wanted(e, k, a);
    }
    if (!left) {
        return 0;
    }
    if (!*known_a || !*known_b) {
        if (!*known_a) {
            bound_end(e, a, e->end[0]);
        }
        if (!*known_b) {
            bound_end(e, b, e->end[1]);
        }
        *known_a = *known_b = 1;
        bound_all(e, a, b);
    }
    left = 0;
    for (int k = 0; k < e->count; k++) {
        if (is_wanted(e, k, a)) {
            expr_interval v = tighten(e->jet[k], e->end[0][k], e->end[1][k], b - a);
            int settled = settle(e, k, a, b, v, last);
            e->until[k] = settled ? b : e->until[k];
            left |= !settled;
        }
    }
    return left;
}

/* From left to right over [from, to], halving where something is undecided. end[0] belongs to the
 * left end of the piece, end[1] to its right end, end[2..] to the pending pieces. */
static void walk(step_events *e, double from, double to)
{
    double right[SEARCH_DEPTH + 2], a = from;
    int known[SEARCH_DEPTH + 2] = {0}, known_a = 0, top = 1;
    right[1] = to;
    while (top > 0 && a < e->best) {
        double b = right[top];
        expr_interval *kept = e->end[1];
        e->end[1] = e->end[top];
        e->end[top] = kept;
        int halve = settle_piece(e, a, b, &known_a, &known[top]);
        kept = e->end[1];
        e->end[1] = e->end[top];
        e->end[top] = kept;
        if (halve && top < SEARCH_DEPTH) {
            right[++top] = 0.5 * (a + b);
            known[top] = 0;
            continue;
        }
        e->proved &= !halve;
        kept = e->end[0];
        e->end[0] = e->end[top];
        e->end[top] = kept;
        known_a = known[top];
        known[top--] = 0;
        a = b;
    }
}

/* Saves what is known at the start of a segment, or restores it. */
static void keep(step_events *e, int back)
{
    size_t count = (size_t)e->count;
    memcpy(back ? e->side : e->side_then, back ? e->side_then : e->side, count * sizeof *e->side);
    memcpy(back ? e->zone : e->zone_then, back ? e->zone_then : e->zone, count * sizeof *e->zone);
    memcpy(back ? e->clear : e->clear_then, back ? e->clear_then : e->clear,
           count * sizeof *e->clear);
    *(back ? &e->marks : &e->marks_then) = back ? e->marks_then : e->marks;
    for (int k = 0; k < e->count && back; k++) {
        e->until[k] = e->from;
        e->found[k] = 0;
    }
}

/* Segments for the samples, halved from the left as often as needed. */
static zw_status walk_segments(step_events *e, zw_error *error)
{
    enum { HALVINGS = SEARCH_DEPTH - 2, SEGMENTS = 100 };
    double right[HALVINGS + 2], a = 0.0;
    int top = 1, segments = 0;
    right[1] = 1.0;
    for (int k = 0; k < e->count; k++) {
        e->most_then[k] = INFINITY;
    }
    while (top > 0 && a < e->best) {
        e->from = a;
        e->to = right[top];
        e->degree = 0;
        zw_status status = take_samples(e, SEARCH_DEGREE / 2, error);
        int enough = status == ZW_OK && samples_suffice(e);
        if (status == ZW_OK && !enough) {
            status = take_samples(e, SEARCH_DEGREE, error);
            enough = status == ZW_OK && samples_suffice(e);
        }
        if (status != ZW_OK) {
            return status;
        }
        int can_halve = top <= HALVINGS && segments++ < SEGMENTS && !is_shortest(e, a, e->to);
        int halve = !enough && can_halve;
        if (!halve) {
            keep(e, 0);
            e->coarse = 0;
            walk(e, a, e->to);
            halve = e->coarse && can_halve;
            e->proved &= enough || halve;
        }
        memcpy(e->most_then, e->most, (size_t)e->count * sizeof *e->most);
        if (halve) {
            keep(e, e->coarse);
            e->best = e->coarse ? INFINITY : e->best;
            right[top + 1] = 0.5 * (a + right[top]);
            top++;
        } else {
            a = right[top--];
            for (int k = 0; k < e->count; k++) {
                e->most_then[k] = INFINITY;
            }
        }
    }
    return ZW_OK;
}

zw_status search_step(step_events *e, zw_error *error)
{
    int sampled = 0, moving = 0;
    e->best = INFINITY;
    e->pieces = e->marks = 0;
    e->proved = 1;
    e->degree = 0;
    for (int k = 0; k < e->count; k++) {
        sampled |= e->kind[k] == STEP_EVENT_SAMPLED;
        moving |= e->kind[k] == STEP_EVENT_FORMULA;
        e->found[k] = 0;
        e->clear[k] = e->until[k] = 0.0;
        e->jet[k] = (expr_jet){INTERVAL_ALL, INTERVAL_ALL};
    }
    zw_status status = e->enclose ? path_take(e->path, e->ode, !moving, error) : ZW_OK;
    if (status != ZW_OK) {
        return status;
    }
    if (sampled) {
        return walk_segments(e, error);
    }
    walk(e, 0.0, 1.0);
    return ZW_OK;
}

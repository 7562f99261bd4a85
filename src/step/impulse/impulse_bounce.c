/* Impacts within a step.
 *
 * The law of impact is that of gauss/contact/impact.c, over the closed points, with limits that are
 * reached as contacts without restitution. Pairs with e > 0 bounce where they meet faster than
 * `slow`: THRESHOLD times the speed that gravity gives in a step. Below that, and below the
 * bounce_speed of the world, e counts as 0. A step is divided where such a pair meets:
 *
 *     fly to the time of the impact, without the rows of the pairs that bounce
 *     impact
 *     and the same for the rest of the step
 *
 * and likewise where points without restitution land (impulse_land.c): they are left out of the
 * flight once a trial has found that they exert a force.
 *
 * Rest. A gap that opens or closes at the speed c under gravity alone closes with the speed
 * sqrt(c^2 + 2 g gap) at most. A pair for which that does not exceed `slow` at any point has rows
 * like pairs with e = 0: it rests, and the step is not divided there.
 *
 * Flight.  Speeds are known at the ends of steps and right after impacts, so q0 (+) h u is the
 * parabola of a body in free flight, to round-off, whatever h is (impulse_close.c).
 *
 * Time of the impact. The first trial ends at the earliest time at which a gap can close if gap''
 * >= -|g|; later ones use gap'' of the flights so far. Each starts without the previous one: from
 * its speeds, redundant contacts would share a load as they did there, not by the laws of this
 * flight (gauss/contact/choose.c), and the result would depend on earlier trials. (Accelerations
 * are extrapolated where Newton's method, which shares loads again, is used.) Where a flight ends
 * too late, the gap is negative, and Newton's method with the speeds there leads back, between the
 * times at which everything is known to be open and not to be; if the pair has separated again by
 * then, the time is halved.
 *
 * Many bounces. Flights of a step may cost WORK rows of their problems, at least one each. Once
 * that is spent, or if no time of impact is found, the rest of the step is treated as in Moreau's
 * method: pairs that would meet within it at their present speeds meet at once, and the rest has no
 * restitution. So the number of flights is bounded, and as neither the law nor a step without
 * restitution gains energy, the step does not.
 *
 * Overlaps by round-off are not corrected within the short time of a flight, which would turn them
 * into speeds, but at the pace of the whole step. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "step/impulse/impulse.h"
#include "tree/sweeps.h"

enum { WORK = 4000, LOOKS = 40 };
#define THRESHOLD 0.01
#define EXACT                                                                                      \
    1e-14 /* relative to the size of the mechanism: gaps up to this are closed at an impact */

/* A step with bounces. */
typedef struct bounce {
    double rest;    /* remaining time of the step */
    double slow;    /* slower impacts have no restitution */
    double size;    /* of the world */
    double gravity; /* m/s^2 */
    double deep;    /* overlap of pairs that may meet at the start of a flight */
    int work;       /* number of rows that flights may still cost */
    int met;        /* number of impacts so far */
} bounce;

static int bounces(const contact_point *point)
{
    return point->restitution > 0;
}

/* Gaps up to this are closed. The sweeps have the pose at which the point was found. */
static double touch_of(const step_impulse *s, const contact_point *point)
{
    const double *com = s->work->sweeps + s->system->tree->at.com;
    double size = 0;
    for (int i = 0; i < 3; i++) {
        double far = fabs(com[3 * point->body[0] + i]) + fabs(com[3 * point->body[1] + i]);
        size += fabs(point->frame[i]) * far;
    }
    return gauss_touch(size);
}

static int is_closed(const step_impulse *s, const contact_point *point)
{
    return point->gap <= touch_of(s, point);
}

/* ---- Pairs at rest --------------------------------------------------------------------------- */

static int rests(const impulse_contacts *t, const contact_point *point)
{
    for (int k = 0; k < t->rest_count; k++) {
        if (memcmp(t->rest[k].geom, point->key.geom, sizeof point->key.geom) == 0) {
            return 1;
        }
    }
    return 0;
}

/* It is left out of the problem until it meets. */
static int is_left_out(const impulse_contacts *t, const contact_point *point)
{
    return (bounces(point) && !rests(t, point)) || impulse_lands(t, point);
}

int impulse_flies(const impulse_contacts *t, const contact_point *point)
{
    return t->flying && is_left_out(t, point);
}

/* All points at the pose of these sweeps, at the start of a flight or its end, within reach of a
 * time h, and their rows; the sweeps include the speeds. */
static zw_status find_points(step_impulse *s, const bounce *b, double h, int flown, zw_error *error)
{
    double length = s->h;
    s->touch.flying = 0;
    s->touch.flown = flown;
    s->h = h;
    s->touch.near = gauss_touch(6 * b->size); /* not below touch_of */
    zw_status status = impulse_find_contacts(s, s->work->sweeps, NULL, error);
    s->touch.near = 0;
    s->touch.flown = 0;
    s->h = length;
    return status;
}

/* Pairs at rest, from (q0, v0), whose points have been found. */
static void find_rest(step_impulse *s, const bounce *b)
{
    impulse_contacts *t = &s->touch;
    t->rest_count = 0;
    for (int k = 0; k < t->found.count; k++) {
        const contact_point *point = &t->found.point[k];
        double c = impulse_contact_speed(s, k, s->v0);
        double fall = is_closed(s, point) ? 0 : 2 * b->gravity * point->gap;
        if (bounces(point) && !rests(t, point) && c * c + fall <= b->slow * b->slow) {
            t->rest[t->rest_count++] = point->key;
        }
    }
}

/* ---- The impact ------------------------------------------------------------------------------ */

/* The last block that was put aside takes part; contact NULL: it always holds. Its number. */
static int take_part(step_impulse *s, const gauss_impact_contact *contact)
{
    const zw_gauss all = problem_rows(&s->aside);
    int k = s->aside.blocks - 1;
    if (!s->aside.no_memory) {
        gauss_impact_add(s->touch.law, &all, k, s->aside.first[k], contact);
    }
    return k;
}

/* Constraints, and limits that are reached, at q1; the number of limits. Joint friction cannot
 * resist an impulse. */
static int put_joints(step_impulse *s)
{
    const zw_system *system = s->system;
    int limits = 0;
    for (int r = 0; r < system->m; r++) {
        s->b[r] = -s->psi[r];
    }
    for (int c = 0; c < impulse_held(s); c++) {
        int r = system->first_row[c], is_limit = system->row_kind[r] == SYSTEM_CONTACT;
        const gauss_impact_contact limit = {.pair = limits};
        if (!is_limit || impulse_limit_meets(s, r)) {
            impulse_put_joint(s, &s->aside, c, s->A, s->b);
            take_part(s, is_limit ? &limit : NULL);
            limits += is_limit;
        }
    }
    return limits;
}

/* Contacts that take part: closed ones, and those that close within the time `ahead` at v. */
static void put_contacts(step_impulse *s, const bounce *b, double ahead, const double *v, int pair)
{
    impulse_contacts *t = &s->touch;
    const double slow = fmax(b->slow, s->system->bodies->contact->bounce_speed);
    const contact_key *last = NULL;
    for (int k = 0; k < t->found.count; k++) {
        const contact_point *point = &t->found.point[k];
        double c = -impulse_contact_speed(s, k, v);
        t->listed[k] = -1; /* scratch: its block */
        if (!is_closed(s, point) && !(point->gap <= ahead * c)) {
            continue;
        }
        pair += last && memcmp(last->geom, point->key.geom, sizeof last->geom) != 0;
        last = &point->key;
        const gauss_impact_contact contact = {
            .pair = pair, .restitution = point->restitution, .slow = slow};
        impulse_put_contact(s, &s->aside, k, 0);
        t->listed[k] = take_part(s, &contact);
    }
}

/* At q1 with the points found there: from the speeds v before the impact to those after it. */
static zw_status strike(step_impulse *s, const bounce *b, double ahead, double *v, zw_error *error)
{
    const impulse_matrix *H = &s->H;
    const zw_metric metric = {
        .kind = ZW_METRIC_SPARSE, .value = H->value, .start = H->start, .row = H->row};
    gauss_impact_answer answer;
    tree_composite(s->system->tree, s->work->sweeps);
    matrix_set(&s->H, s->system, s->work->sweeps);
    gauss_impact_begin(s->touch.law, s->system->n, &metric);
    problem_begin(&s->aside);
    int limits = put_joints(s);
    put_contacts(s, b, ahead, v, limits);
    zw_status status = s->aside.no_memory
                           ? base_no_memory(error)
                           : gauss_impact_solve(s->touch.law, s->system->impact,
                                                s->problem.options.contact, v, &answer, error);
    if (status == ZW_OK && answer.any) {
        for (int k = 0; k < s->touch.found.count; k++) {
            if (s->touch.listed[k] >= 0) {
                impulse_add_push(s, k, gauss_impact_impulse(s->touch.law, s->touch.listed[k]));
            }
        }
        s->gained += answer.work - answer.loss;
        s->impacts++;
        s->impact_loss += fmax(answer.loss, 0);
        s->residual = fmax(s->residual, answer.certificate);
        if (s->watch) {
            s->watch->impact(s->watch->user, s);
        }
    }
    return status;
}

/* After an impact the speeds belong to q0: nothing of the past remains. */
static void start_anew(step_impulse *s, const double *v1)
{
    impulse_forget_landings(s);
    impulse_move_on(s, v1);
    s->gained_before = s->gained;
}

/* An impact whose law could not be solved is left to the rest of the step, in which what meets has
 * landed at its end, without restitution; the step counts as inaccurate. */
static zw_status leave_out(step_impulse *s, bounce *b, zw_status status)
{
    if (status == ZW_OK || status == ZW_NO_MEMORY || status == ZW_INTERRUPTED) {
        return status;
    }
    s->inexact = 1;
    b->work = 0;
    return ZW_OK;
}

/* At q0, before any time has passed. */
static zw_status strike_at_start(step_impulse *s, bounce *b, double ahead, double *v1,
                                 zw_error *error)
{
    s->sees_q1 = 0;
    memcpy(s->q1, s->q0, (size_t)s->system->nq * sizeof(double));
    memcpy(v1, s->v0, (size_t)s->system->n * sizeof(double));
    impulse_fill_rows(s, s->t);
    tree_velocities(s->system->tree, s->v0, s->work->sweeps);
    zw_status status = strike(s, b, ahead, v1, error);
    start_anew(s, v1);
    return leave_out(s, b, status);
}

/* ---- When ------------------------------------------------------------------------------------ */

/* What the points in flight tell about the time of the next impact. */
typedef struct outlook {
    double soon;  /* when the first gap closes */
    double depth; /* the deepest of those that close, at this speed; negative: all are open */
    double speed;
    double touch; /* gaps up to this would be closed */
    int passed;   /* a pair has met, and separates again */
} outlook;

/* The same for limits that are left out, whose rows are known. */
static void look_at_limits(const step_impulse *s, const bounce *b, const double *v, double t,
                           outlook *out)
{
    double gap, c;
    for (int r = -1; (r = impulse_limits_next(s, r, v, &gap, &c)) >= 0;) {
        double a = t > 0 ? (c - s->limits.speed[r]) / t : 0, touch = IMPULSE_CLOSED * b->size;
        out->soon = fmin(out->soon, impulse_open_for(gap, gap > 0 ? c : fmin(c, 0), a));
        if (c > 0 && -gap > out->depth) {
            out->depth = -gap;
            out->speed = c;
            out->touch = touch;
        }
        out->passed |= t > 0 && c <= 0 && -gap > touch;
    }
}

/* At the speeds v, reached from v0 in the time t; t = 0: free fall is assumed. */
static outlook look_out(const step_impulse *s, const bounce *b, const double *v, double t)
{
    const impulse_contacts *touch = &s->touch;
    outlook out = {.soon = INFINITY, .depth = -INFINITY};
    for (int k = 0; k < touch->found.count; k++) {
        const contact_point *point = &touch->found.point[k];
        if (!is_left_out(touch, point)) {
            continue;
        }
        double c = -impulse_contact_speed(s, k, v);
        double a = t > 0 ? (c + impulse_contact_speed(s, k, s->v0)) / t : b->gravity;
        out.soon = fmin(out.soon, impulse_open_for(point->gap, point->gap > 0 ? c : fmin(c, 0), a));
        if (c > 0 && -point->gap > out.depth) {
            out.depth = -point->gap;
            out.speed = c;
            out.touch = touch_of(s, point);
        }
        out.passed |= t > 0 && c <= 0 && -point->gap > b->deep + touch_of(s, point);
    }
    look_at_limits(s, b, v, t, &out);
    return out;
}

/* A flight over a time h from (q0, v0), and the points there within reach of the rest of the step.
 * *open is the fraction of it before which nothing meets; *lands: a landing was found that was not
 * known. */
static zw_status fly(step_impulse *s, bounce *b, double h, double *open, int *lands, double *v1,
                     zw_error *error)
{
    s->h = h;
    s->gained = s->gained_before;
    s->may_be_halved = 0;
    s->touch.flying = 1;
    s->touch.land.watched = 1;
    zw_status status = impulse_take(s, v1, error);
    s->touch.land.seek.moves = 0;
    b->work -= 1 + s->problem.rows;
    if (status == ZW_OK && (s->touch.land.seen || impulse_note_landings(s))) {
        *lands = 1;
        return ZW_OK;
    }
    if (status == ZW_OK) {
        impulse_note_trend(s, s->v0, s->u, s->fall);
        *open = impulse_free_part(s);
        impulse_limits_look(s, s->t + s->h, s->q1);
        tree_velocities(s->system->tree, v1, s->work->sweeps);
        status = find_points(s, b, b->rest, 1, error);
    }
    return status;
}

/* The points at (q0, v0), and whether some of them meet right now. */
static zw_status look_around(step_impulse *s, bounce *b, int *meets, zw_error *error)
{
    tree_kinematics(s->system->tree, s->q0, s->work->sweeps);
    s->sees_q1 = 0;
    impulse_limits_look(s, s->t, s->q0);
    tree_velocities(s->system->tree, s->v0, s->work->sweeps);
    zw_status status = find_points(s, b, b->rest, 0, error);
    *meets = 0;
    b->deep = 0;
    find_rest(s, b);
    for (int k = 0; k < s->touch.found.count && status == ZW_OK; k++) {
        const contact_point *point = &s->touch.found.point[k];
        b->deep = fmax(b->deep, is_left_out(&s->touch, point) ? -point->gap : 0);
        *meets |= (bounces(point) || impulse_lands(&s->touch, point)) && is_closed(s, point) &&
                  -impulse_contact_speed(s, k, s->v0) > b->slow;
    }
    double gap, c;
    for (int r = -1; (r = impulse_limits_next(s, r, s->v0, &gap, &c)) >= 0;) {
        *meets |= gap <= IMPULSE_CLOSED * b->size && c > b->slow;
    }
    return status;
}

typedef enum flight { FLIGHT_FREE, FLIGHT_HIT, FLIGHT_LOST } flight;

/* The length of the first flight, if nothing can close sooner. */
static double first_trial(step_impulse *s, const bounce *b, double soon)
{
    s->calm = !(impulse_pace(s, b->rest) > 1);
    double met = s->calm ? INFINITY : impulse_until_meeting(s, b->rest);
    return fmin(fmin(soon, b->rest), met);
}

/* Flies until something meets, at most for the rest of the step; s->h is the time. A flight whose
 * equations cannot be solved is tried over half the time; one during which bodies meet that are not
 * close at its end, up to where they do (impulse_sweep.c), or as far as it is known to be free. */
static zw_status fly_to_impact(step_impulse *s, bounce *b, double soon, flight *end, double *v1,
                               zw_error *error)
{
    double low = 0, high = b->rest, t = first_trial(s, b, soon), most = b->rest;
    double exact = (s->touch.bounces || s->sharp ? EXACT : IMPULSE_CLOSED) * b->size;
    *end = FLIGHT_LOST;
    for (int k = 0; k < LOOKS && b->work > 0 && !impulse_is_spent(s, !s->calm); k++) {
        double open = 1;
        int lands = 0;
        impulse_seek(s, low, fmin(high, most), EXACT * b->size);
        zw_status status = fly(s, b, t, &open, &lands, v1, error);
        t = s->h;
        if (status == ZW_NO_MEMORY) {
            return status;
        }
        if (status == ZW_OK && lands) { /* the same without its rows shows when it meets: */
            if (look_around(s, b, &lands, error) == ZW_NO_MEMORY) {
                return ZW_NO_MEMORY;
            }
            double first = look_out(s, b, s->v0, 0).soon; /* not before this */
            low = 0;
            high = most = b->rest;
            t = first > low && first < t ? first : t;
            continue;
        }
        if (status != ZW_OK || open < 1) {
            int shorter = status == ZW_OK && open * t > low;
            high = t;
            t = shorter ? open * t : status == ZW_OK ? low : 0.5 * (low + t);
            most = t;
            continue;
        }
        if (impulse_find_slow_landings(s, v1)) { /* the same with their rows */
            low = 0;
            high = most = b->rest;
            continue;
        }
        outlook out = look_out(s, b, v1, t);
        int closed =
            fabs(out.depth) <= exact || (high - low <= 4e-16 * b->rest && out.depth >= -out.touch);
        if (closed || (t >= most && out.depth <= 0 && !out.passed)) {
            *end = closed ? FLIGHT_HIT : FLIGHT_FREE;
            return ZW_OK;
        }
        if (out.passed) {
            high = t;
            t = 0.5 * (low + high);
        } else if (out.depth > 0) {
            high = t;
            t -= out.depth / out.speed;
        } else {
            low = t;
            t = fmin(t + out.soon, most);
        }
        if (!(t > low && t < high) && !(t == most && high >= most)) {
            t = 0.5 * (low + high);
        }
    }
    return ZW_OK;
}

/* ---- The step -------------------------------------------------------------------------------- */

/* Pairs that would meet in the rest of the step, and may bounce, meet now; then the rest, without
 * restitution: landings are at its end. */
static zw_status capture(step_impulse *s, bounce *b, double *v1, zw_error *error)
{
    int meets;
    s->gained = s->gained_before;
    impulse_forget_landings(s);
    zw_status status = s->touch.bounces ? look_around(s, b, &meets, error) : ZW_OK;
    if (status == ZW_OK && s->touch.bounces) {
        status = strike_at_start(s, b, b->rest, v1, error);
    }
    s->touch.flying = 0;
    return status == ZW_OK ? impulse_advance(s, b->rest, NULL, v1, error) : status;
}

/* One impact, or the rest of the step. */
static zw_status go_on(step_impulse *s, bounce *b, double *v1, zw_error *error)
{
    int meets = 0;
    flight end = FLIGHT_LOST;
    if (b->work <= 0) {
        zw_status captured = capture(s, b, v1, error);
        b->rest = 0;
        return captured;
    }
    b->size = impulse_extent(s);
    s->h = b->rest;
    zw_status status = look_around(s, b, &meets, error);
    if (status == ZW_OK && meets) {
        b->work--;
        b->met++;
        return strike_at_start(s, b, 0, v1, error);
    }
    if (status == ZW_OK) {
        status = fly_to_impact(s, b, look_out(s, b, s->v0, 0).soon, &end, v1, error);
    }
    if (status != ZW_OK) {
        return status;
    }
    if (end == FLIGHT_LOST) {
        b->work = 0; /* the rest is captured */
        return ZW_OK;
    }
    if (s->watch) {
        s->watch->taken(s->watch->user, s, end == FLIGHT_HIT);
    }
    b->rest -= s->h;
    b->rest = b->rest > IMPULSE_ROUNDED * s->touch.whole ? b->rest : 0;
    impulse_pass(s, v1);
    if (end == FLIGHT_FREE) {
        s->touch.land.cuts = b->met; /* what has not met yet may be left out again */
        start_anew(s, v1);
        return ZW_OK;
    }
    b->met++;
    status = strike(s, b, 0, v1, error);
    start_anew(s, v1);
    return leave_out(s, b, status);
}

zw_status impulse_bounce(step_impulse *s, double h, double *v1, zw_error *error)
{
    bounce b = {.rest = h, .work = WORK, .gravity = impulse_gravity(s)};
    b.slow = THRESHOLD * b.gravity * h + IMPULSE_SLOWEST;
    zw_status status = ZW_OK;
    s->gained_before = s->gained;
    s->touch.whole = h;
    s->touch.land.cut = 1;
    while (status == ZW_OK && b.rest > 0) {
        status = go_on(s, &b, v1, error);
    }
    s->touch.whole = 0;
    s->touch.flying = 0;
    impulse_forget_landings(s);
    return status;
}

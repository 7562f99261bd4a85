/* Impacts within a step.
 *
 * Newton's law: two geoms that meet with the speed c along the normal part with e c. It is for
 * pairs with e > 0 that meet faster than THRESHOLD times what gravity gives in a step; slower ones
 * stay together, as those with e = 0 always do. Below the bounce_speed of the world e counts as 0.
 * A step is cut where such a pair meets:
 *
 *     fly to the time of the impact, without the rows of the pairs that bounce
 *     impact
 *     and so on with the rest of the step; after MOST impacts, the rest is without bounce
 *
 * Flight.  Speeds are known at the ends of steps and right after impacts, so q0 (+) h u is the
 * parabola of a body in free flight, to round-off, whatever h is (impulse_close.c).
 *
 * Time of the impact.  If gap'' >= -|g|, a gap that closes at speed c is open for
 * (sqrt(c^2 + 2 |g| gap) - c)/|g|: from there one looks again. Where things are faster than that
 * (joints), the gap is negative, and Newton's rule with the speeds there leads back, between the
 * times at which it is known to be open and not to be.
 *
 * Impact.  Gauss's principle in the metric M(q): the speeds nearest to those before, with
 * n . J v+ >= e c for the points of the pair that meets fastest, and Coulomb's law across them. One
 * pair after another, until none meets faster than the threshold: Newton's cradle passes its
 * momentum on from ball to ball that way. What is left (less than the threshold, or after MOST
 * pairs) is ended for all points at once, without bounce. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "step/impulse.h"
#include "tree/sweeps.h"

enum { MOST = 100, LOOKS = 60 };
#define THRESHOLD 0.01
#define SLOWEST 1e-9 /* m/s: without gravity there is still round-off */
#define TOUCH 1e-10  /* of the size of the world: what is nearer touches */
#define EXACT 1e-14  /* the same: an impact is there */

static double gravity(const step_impulse *s)
{
    const double *g = s->system->tree->gravity;
    return sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
}

static int bounces(const contact_point *point)
{
    return point->restitution > 0;
}

/* ---- Who rests ------------------------------------------------------------------------------- */

static int rests(const impulse_contacts *t, const contact_point *point)
{
    for (int k = 0; k < t->rest_count; k++) {
        if (memcmp(t->rest[k].geom, point->key.geom, sizeof point->key.geom) == 0) {
            return 1;
        }
    }
    return 0;
}

int impulse_flies(const impulse_contacts *t, const contact_point *point)
{
    return t->flying && bounces(point) && !rests(t, point);
}

/* All points at the pose of these sweeps, and their rows; speeds v are in the sweeps too. */
static zw_status find(step_impulse *s, const double *sweeps, double h, zw_error *error)
{
    double length = s->h;
    s->touch.flying = 0;
    s->h = h;
    s->touch.near = TOUCH * impulse_extent(s);
    zw_status status = impulse_find_contacts(s, sweeps, NULL, error);
    s->touch.near = 0;
    s->h = length;
    return status;
}

/* Pairs that touch and neither meet nor part: from (q0, v0), whose points have been found. */
static void find_rest(step_impulse *s, double near, double slow)
{
    impulse_contacts *t = &s->touch;
    t->rest_count = 0;
    for (int k = 0; k < t->found.count; k++) {
        const contact_point *point = &t->found.point[k];
        if (bounces(point) && point->gap <= near && !rests(t, point) &&
            fabs(impulse_contact_speed(s, k, s->v0)) <= slow) {
            t->rest[t->rest_count++] = point->key;
        }
    }
}

/* ---- When ------------------------------------------------------------------------------------ */

/* For how long a gap that closes at speed c is open at least. */
static double open_for(double gap, double c, double g)
{
    gap = fmax(gap, 0);
    double root = sqrt(c * c + 2 * g * gap);
    if (c > 0) {
        return 2 * gap / (c + root);
    }
    return g > 0 ? (root - c) / g : INFINITY;
}

/* What the points that bounce and do not rest say about the time to the next impact. */
typedef struct outlook {
    double soon;  /* not before this */
    double depth; /* the deepest, which closes at this speed; negative: all are open */
    double speed;
} outlook;

static outlook look_out(const step_impulse *s, const double *v, double slow)
{
    const impulse_contacts *t = &s->touch;
    outlook out = {.soon = INFINITY, .depth = -INFINITY};
    double g = gravity(s);
    for (int k = 0; k < t->found.count; k++) {
        const contact_point *point = &t->found.point[k];
        if (!bounces(point) || rests(t, point)) {
            continue;
        }
        double c = -impulse_contact_speed(s, k, v);
        double soon =
            point->gap <= 0 && c <= slow ? open_for(0, fmin(c, 0), g) : open_for(point->gap, c, g);
        out.soon = fmin(out.soon, soon);
        if (c > slow && -point->gap > out.depth) {
            out.depth = -point->gap;
            out.speed = c;
        }
    }
    return out;
}

/* A flight over a time h from (q0, v0), and the points there in reach of the rest of the step. *open
 * is the part of it before which nothing meets. */
static zw_status fly(step_impulse *s, double h, double rest, double *open, double *v1,
                     zw_error *error)
{
    s->h = h;
    s->gained = s->gained_before;
    s->may_be_halved = 0;
    s->touch.flying = 1;
    zw_status status = impulse_take(s, v1, error);
    if (status == ZW_OK) {
        *open = impulse_free_part(s);
        tree_velocities(s->system->tree, v1, s->work->sweeps);
        status = find(s, s->work->sweeps, rest, error);
    }
    return status;
}

/* Fly until something meets, at most for the rest of the step; *time is how long. */
static zw_status fly_to_impact(step_impulse *s, double rest, double slow, double *time, int *hit,
                               double *v1, zw_error *error)
{
    const double size = impulse_extent(s), exact = EXACT * size;
    outlook out = look_out(s, s->v0, slow);
    double low = 0, high = rest, t = fmin(out.soon, rest);
    zw_status status = ZW_OK;
    *hit = 0;
    for (int k = 0; k < LOOKS && status == ZW_OK; k++) {
        *time = t;
        double open = 1;
        status = fly(s, t, rest, &open, v1, error);
        if (status != ZW_OK) {
            break;
        }
        if (open < 1 && open * t > low) { /* something has met on the way, and may have parted */
            high = t;
            t *= open;
            continue;
        }
        out = look_out(s, v1, slow);
        *hit =
            fabs(out.depth) <= exact || (high - low <= 4e-16 * rest && out.depth > -TOUCH * size);
        if (*hit || (t >= rest && out.depth <= 0)) {
            return ZW_OK;
        }
        if (out.depth > 0) {
            high = t;
            t -= out.depth / out.speed;
        } else {
            low = t;
            t = fmin(t + out.soon, rest);
        }
        if (!(t > low && t < high) && !(t == rest && high == rest)) {
            t = 0.5 * (low + high);
        }
    }
    *hit = status == ZW_OK && fabs(out.depth) <= TOUCH * size;
    return status != ZW_OK || *hit
               ? status
               : base_fail(error, ZW_INACCURATE, "the time of an impact could not be found");
}

/* ---- The impact ------------------------------------------------------------------------------ */

/* One solve: the points of this pair with their bounce; -1: all of them, without. */
static zw_status strike(step_impulse *s, int pair, double near, double slow, double *v,
                        zw_error *error)
{
    const impulse_contacts *t = &s->touch;
    const double least = fmax(slow, s->system->bodies->contact->bounce_speed);
    impulse_put_joint_speeds(s);
    for (int k = 0; k < t->found.count; k++) {
        const contact_point *point = &t->found.point[k];
        double c = -impulse_contact_speed(s, k, v);
        int in = pair < 0 || memcmp(point->key.geom, t->found.point[pair].key.geom,
                                    sizeof point->key.geom) == 0;
        if (in && point->gap <= near) {
            impulse_put_contact(s, &s->aside, k,
                                pair >= 0 && c > least ? point->restitution * c : 0);
        }
    }
    return impulse_project(s, &s->aside, v, v, error);
}

/* At q1, from the speeds v before to those after. */
static zw_status impact(step_impulse *s, double near, double slow, double *v, zw_error *error)
{
    tree_composite(s->system->tree, s->work->sweeps);
    matrix_set(&s->H, s->system, s->work->sweeps);
    zw_status status = find(s, s->work->sweeps, 0, error);
    double before = impulse_kinetic(s, v);
    for (int k = 0; k <= MOST && status == ZW_OK; k++) {
        int worst = -1;
        double fastest = 0;
        for (int i = 0; i < s->touch.found.count; i++) {
            double c = -impulse_contact_speed(s, i, v);
            if (s->touch.found.point[i].gap <= near && c > fastest) {
                fastest = c;
                worst = i;
            }
        }
        if (worst < 0) {
            break;
        }
        int last = fastest <= slow || k == MOST;
        status = strike(s, last ? -1 : worst, near, slow, v, error);
        if (last) {
            break;
        }
    }
    s->gained += impulse_kinetic(s, v) - before;
    return status;
}

/* ---- The step -------------------------------------------------------------------------------- */

/* After an impact speeds are those of q0: it leaves nothing behind. */
static void start_anew(step_impulse *s, const double *v1)
{
    impulse_move_on(s, v1);
    s->gained_before = s->gained;
}

/* The points at (q0, v0), and who of them meets right now. */
static zw_status look_around(step_impulse *s, double rest, double near, double slow, int *meets,
                             zw_error *error)
{
    const tree_mechanism *tree = s->system->tree;
    tree_kinematics(tree, s->q0, s->work->sweeps);
    tree_velocities(tree, s->v0, s->work->sweeps);
    zw_status status = find(s, s->work->sweeps, rest, error);
    *meets = 0;
    find_rest(s, near, slow);
    for (int k = 0; k < s->touch.found.count && status == ZW_OK; k++) {
        const contact_point *point = &s->touch.found.point[k];
        *meets |=
            bounces(point) && point->gap <= near && -impulse_contact_speed(s, k, s->v0) > slow;
    }
    return status;
}

/* Something meets at the very beginning. */
static zw_status strike_now(step_impulse *s, double near, double slow, double *v1, zw_error *error)
{
    size_t speeds = (size_t)s->system->n * sizeof(double);
    memcpy(s->q1, s->q0, (size_t)s->system->nq * sizeof(double));
    memcpy(v1, s->v0, speeds);
    impulse_fill_rows(s, s->t);
    tree_velocities(s->system->tree, s->v0, s->work->sweeps);
    zw_status status = impact(s, near, slow, v1, error);
    start_anew(s, v1);
    return status;
}

zw_status impulse_bounce(step_impulse *s, double h, double *v1, zw_error *error)
{
    const double slow = THRESHOLD * gravity(s) * h + SLOWEST;
    double rest = h;
    zw_status status = ZW_OK;
    s->gained_before = s->gained;
    for (int k = 0; k < MOST && status == ZW_OK && rest > 0; k++) {
        int meets = 0, hit = 0;
        double time = 0, near = TOUCH * impulse_extent(s);
        s->h = rest;
        status = look_around(s, rest, near, slow, &meets, error);
        if (status == ZW_OK && meets) {
            status = strike_now(s, near, slow, v1, error);
            continue;
        }
        if (status == ZW_OK) {
            status = fly_to_impact(s, rest, slow, &time, &hit, v1, error);
        }
        rest -= time;
        if (status == ZW_OK) {
            impulse_pass(s);
        }
        if (status == ZW_OK && hit) {
            status = impact(s, near, slow, v1, error);
            start_anew(s, v1);
        } else if (status == ZW_OK) {
            impulse_move_on(s, v1);
            rest = 0;
        }
    }
    s->touch.flying = 0;
    return status == ZW_OK && rest > 0 ? impulse_advance(s, rest, v1, error) : status;
}

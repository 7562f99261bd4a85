/* Separates overlaps at the start of a step.
 *
 * A force that separates shapes within a step would follow from no law, and where it squeezes
 * others, or turns things by a short lever arm, the resulting speeds are unbounded. So it is no
 * part of the motion: before the step, q0 moves along the displacement u below, by so much that the
 * deepest pair separates by IMPULSE_RECOVERY times the step, and the speeds are unchanged. The
 * change of energy, by lifting things and straining springs, is counted as work.
 *
 * This requires a displacement that separates all such pairs at once, and there need not be one:
 * neighbours on a joint whose shapes overlap by design and can only turn against each other, arms
 * that start inside one another and would have to leave on several sides. No law of contact
 * determines what those do. They are ignored for this step, and so is any other contact between the
 * two bodies; from the first step on at whose start they are separate, they count. Which pairs are
 * ignored depends on q0 alone.
 *
 * Is there a displacement u that separates all of them, b = -gap at each point, without moving
 * something absurdly far? With r_i how far, in the mean over the masses, coordinate i moves things
 * by its unit, this is the least of
 *
 *     1/2 sum_i (r_i u_i)^2 + 1/(2 CONTACT_GIVE) sum_k max(0, b_k - J_k u)^2
 *
 * over the normals J_k of all points in reach: Gauss's problem with the compliance CONTACT_GIVE. It
 * always has a solution. Where N bodies in a row all have to separate, N^2/2 CONTACT_GIVE of b
 * remains; where bodies would have to move 1/sqrt(CONTACT_GIVE) times the depth, half of it; and
 * where others hold them, or they cannot move, all. Pairs with more than CONTACT_LACK remaining are
 * ignored; overlaps left by an inexact step are not tested. So a stack of more than 14 bodies that
 * all overlap is not separated but collapses. u satisfies the constraints, and the limits in
 * contact. Of shallow overlaps, which other bodies at rest may cause, only those are tested whose
 * separation the pair itself prevents (find_unmoved).
 *
 * This uses the present normals, without friction or anything else that holds over the step. Where
 * a short piece of a step that begins with such pairs cannot be solved, all of them are ignored for
 * the rest of it (impulse.c). */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "step/impulse/impulse.h"
#include "tree/sweeps.h"

struct impulse_parting {
    impulse_problem problem;
    impulse_matrix speeds; /* r_i^2 on its diagonal */
    double *still;         /* [n] zeros */
    double *inertia;       /* [n] */
    int *first;            /* [n + 1] 0, 1, 2, ... */
};

void impulse_parting_free(impulse_parting *it)
{
    if (it) {
        problem_free(&it->problem);
        base_free(it->speeds.value);
        base_free(it->still);
        base_free(it->inertia);
        base_free(it->first);
        base_free(it);
    }
}

static impulse_parting *create(int n)
{
    impulse_parting *it = base_alloc(sizeof *it);
    size_t numbers = (size_t)n * sizeof(double);
    if (!it) {
        return NULL;
    }
    it->speeds.value = base_alloc(numbers);
    it->still = base_alloc(numbers);
    it->inertia = base_alloc(numbers);
    it->first = base_alloc(((size_t)n + 1) * sizeof *it->first);
    if (!it->speeds.value || !it->still || !it->inertia || !it->first ||
        problem_create(&it->problem, n, NULL) != ZW_OK) {
        impulse_parting_free(it);
        return NULL;
    }
    for (int i = 0; i <= n; i++) {
        it->first[i] = i;
    }
    it->speeds.n = n;
    it->speeds.start = it->speeds.row = it->first;
    it->problem.options.effort = 100;
    it->problem.enough = it->problem.wanted = 1e-3;
    return it;
}

static int thing(const step_impulse *s, int geom)
{
    return contact_thing(s->system->bodies->contact, (uint32_t)geom);
}

int impulse_is_stuck(const step_impulse *s, int a, int b)
{
    const impulse_contacts *t = &s->touch;
    int x = t->stuck_count > 0 ? thing(s, a) : 0;
    int y = t->stuck_count > 0 ? thing(s, b) : 0;
    for (int k = 0; k < t->stuck_count; k++) {
        const impulse_stuck *it = &t->stuck[k];
        if ((it->a == x && it->b == y) || (it->a == y && it->b == x)) {
            return 1;
        }
    }
    return 0;
}

static int is_stuck(const step_impulse *s, const contact_point *point)
{
    return impulse_is_stuck(s, (int)point->key.geom[0], (int)point->key.geom[1]);
}

int impulse_parts(const step_impulse *s)
{
    return s->touch.deep_points > 0 && !s->touch.overlaps_ignored;
}

void impulse_drop_stuck(step_impulse *s)
{
    impulse_contacts *t = &s->touch;
    int kept = 0;
    for (int k = 0; k < t->found.count && t->stuck_count > 0; k++) {
        if (!is_stuck(s, &t->found.point[k])) {
            t->found.point[kept++] = t->found.point[k];
        }
    }
    t->found.count = t->stuck_count > 0 ? kept : t->found.count;
}

double impulse_least_overlap(const step_impulse *s)
{
    int rough = s->rough && impulse_gravity(s) > 0; /* without weight nothing is corrected */
    double part = !rough                               ? IMPULSE_OVERLAP
                  : s->touch.sweep.linear && !s->parts ? IMPULSE_SUNK
                                                       : IMPULSE_INSIDE;
    return s->accuracy > 0 ? IMPULSE_RECOVERY * s->h : part * impulse_extent(s);
}

/* The largest depth of the points that have been found; 0: there are no overlaps. */
static double deepest(const step_impulse *s)
{
    double deep = 0;
    for (int k = 0; k < s->touch.found.count; k++) {
        deep = fmax(deep, -s->touch.found.point[k].gap);
    }
    return deep;
}

/* Does point k, which is deeper than `least`, still overlap in the solution? Depths are multiples
 * of `unit`. */
static int stays_in(const step_impulse *s, int k, double unit, double least)
{
    const impulse_problem *p = &s->touch.parting->problem;
    int row = p->rows - s->touch.found.count + k; /* after all others */
    double left = p->b[row];
    for (int e = p->start[row]; e < p->start[row + 1]; e++) {
        left -= p->value[e] * p->answer.a[p->column[e]];
    }
    return unit * p->b[row] > least &&
           (left > CONTACT_LACK * p->b[row] || s->touch.overlaps_ignored);
}

/* Overlapping pairs of geoms that are ignored; points of a pair are consecutive. */
static int count_stuck(const step_impulse *s)
{
    const contact_point *point = s->touch.found.point, *last = NULL;
    double touching = impulse_touching(s);
    int count = 0;
    for (int k = 0; k < s->touch.found.count; k++) {
        if (point[k].gap < -touching && is_stuck(s, &point[k]) &&
            !(last && memcmp(last->key.geom, point[k].key.geom, sizeof last->key.geom) == 0)) {
            last = &point[k];
            count++;
        }
    }
    return count;
}

static void add_stuck(step_impulse *s, const contact_point *point)
{
    impulse_contacts *t = &s->touch;
    if (!is_stuck(s, point)) {
        t->stuck[t->stuck_count++] =
            (impulse_stuck){thing(s, (int)point->key.geom[0]), thing(s, (int)point->key.geom[1])};
    }
}

/* The one coordinate that changes the gap of a point, and its sign; -1: none does, -2:
 * several do. */
static int only_mover(step_impulse *s, const contact_point *point, const double *sweeps, int *sign)
{
    impulse_contacts *t = &s->touch;
    double least = IMPULSE_CLOSED * impulse_extent(s);
    int columns = contact_rows(s->system, point, sweeps, t->column, t->J), mover = -1;
    for (int i = 0; i < columns && mover != -2; i++) {
        if (fabs(t->J[i]) > least) {
            mover = mover == -1 ? t->column[i] : -2;
            *sign = t->J[i] > 0 ? 1 : -1;
        }
    }
    return mover;
}

/* Overlapping pairs that no motion separates: along a direction in which neither moves, such as
 * neighbours on a hinge along its axis; or on both sides of a hinge that alone moves them, such as
 * a door in its frame, which enters on one side as it leaves on the other. Points of a pair are
 * consecutive. */
static void find_unmoved(step_impulse *s, double *sweeps)
{
    impulse_contacts *t = &s->touch;
    const contact_point *last = NULL;
    double touching = impulse_touching(s);
    int before = -2, way = 0; /* of the last point of this pair that one coordinate moves */
    for (int k = 0; k < t->found.count; k++) {
        const contact_point *point = &t->found.point[k];
        if (!(point->gap < -touching)) {
            continue;
        }
        if (!last || memcmp(last->key.geom, point->key.geom, sizeof last->key.geom) != 0) {
            before = -2;
        }
        int sign = 0, mover = only_mover(s, point, sweeps, &sign);
        if (mover == -1 || (mover >= 0 && mover == before && sign != way)) {
            add_stuck(s, point);
        }
        last = point;
        before = mover;
        way = sign;
    }
}

/* The points found, of which overlaps are to separate by this part of their depth, minus what they
 * separate by themselves in this time; as multiples of `unit`. */
static void put_points(step_impulse *s, impulse_problem *p, const double *sweeps, double part,
                       double time, double unit)
{
    impulse_contacts *t = &s->touch;
    const double beyond = IMPULSE_CLOSED * impulse_extent(s);
    for (int k = 0; k < t->found.count; k++) {
        const contact_point *point = &t->found.point[k];
        int columns = contact_rows(s->system, point, sweeps, t->column, t->J);
        double speed = 0;
        for (int i = 0; i < columns; i++) {
            speed += t->J[i] * s->v0[t->column[i]];
        }
        const zw_block block = contact_block(point, 1, "");
        problem_block(p, impulse_contact_key(&point->key), &block);
        double way = -point->gap;
        if (point->gap < 0) {
            way = way * part - time * fmax(speed, 0) + (part < 1 ? 0 : beyond);
        }
        problem_row(p, columns, t->column, t->J, way / unit);
        problem_give(p, CONTACT_GIVE);
    }
}

/* The sweeps of q0, with what separating overlaps needs. */
static void see_overlaps(step_impulse *s)
{
    impulse_see_start(s);
    s->sees_end = 0; /* what follows overwrites forces and inertias of those sweeps */
    tree_velocities(s->system->tree, s->v0, s->begin);
    tree_composite(s->system->tree, s->begin);
    impulse_place_rows(s);
    impulse_touch(s);
    s->work->effort.searches++;
}

/* The displacement that separates all points that have been found, in multiples of `unit`. */
static zw_status find_way(step_impulse *s, double *sweeps, double unit, zw_error *error)
{
    impulse_contacts *t = &s->touch;
    t->parting = t->parting ? t->parting : create(s->system->n);
    if (!t->parting) {
        return base_no_memory(error);
    }
    impulse_problem *p = &t->parting->problem;
    contact_reach(s->system->tree, sweeps, t->parting->inertia, t->parting->speeds.value);
    problem_begin(p);
    if (sweeps == s->begin) { /* else rows of constraints are not computed */
        impulse_put_standing(s, p);
    }
    put_points(s, p, sweeps, 1, 0, unit);
    return problem_solve_near(p, &t->parting->speeds, t->parting->still, t->parting->still, error);
}

/* For the points that have been found, which are all within reach of the motion of a step. */
static zw_status find_stuck(step_impulse *s, double *sweeps, zw_error *error)
{
    impulse_contacts *t = &s->touch;
    const double unit = deepest(s);
    zw_status status = find_way(s, sweeps, unit, error);
    for (int k = 0; k < t->found.count && status == ZW_OK; k++) {
        if (stays_in(s, k, unit, impulse_least_overlap(s))) {
            add_stuck(s, &t->found.point[k]);
        }
    }
    return status == ZW_NO_MEMORY ? status : ZW_OK; /* unsolved: none is ignored */
}

/* Is the test needed for the points found? Then points are searched for as far as the motion of the
 * whole step may lead, so that the result is the same before a step, at its start and at those of
 * its pieces. */
zw_status impulse_find_stuck(step_impulse *s, double *sweeps, double margin, zw_error *error)
{
    impulse_contacts *t = &s->touch;
    double reach = fmax(margin, 2 * IMPULSE_RECOVERY * t->land.step);
    zw_status status = ZW_OK;
    t->stuck_count = 0;
    find_unmoved(s, sweeps);
    if (deepest(s) > impulse_least_overlap(s)) {
        s->work->effort.searches += 2;
        if (contact_find(s->system, &t->found, sweeps, s->h, reach, NULL) == ZW_OK) {
            status = find_stuck(s, sweeps, error);
        }
        status = status == ZW_OK ? contact_find(s->system, &t->found, sweeps, s->h, margin, error)
                                 : status;
    }
    impulse_drop_stuck(s);
    return status;
}

int impulse_is_wedged(step_impulse *s)
{
    impulse_contacts *t = &s->touch;
    double touching = impulse_touching(s);
    int wedged = 0;
    if (!(t->sunk > touching) || t->sinks || t->overlaps_ignored) {
        return 0;
    }
    see_overlaps(s);
    if (contact_find(s->system, &t->found, s->begin, s->h, impulse_margin(s), NULL) != ZW_OK) {
        return 0;
    }
    find_unmoved(s, s->begin);
    impulse_drop_stuck(s);
    const double unit = deepest(s);
    if (unit > touching && find_way(s, s->begin, unit, NULL) == ZW_OK) {
        for (int k = 0; k < t->found.count; k++) {
            wedged |= stays_in(s, k, unit, touching);
        }
    }
    return wedged;
}

/* ---- Separating ------------------------------------------------------------------------------ */

static double energy(step_impulse *s)
{
    system_evaluate(s->system, s->work, PART_ENERGY, s->t, s->q0, s->v0, NULL, NULL, NULL);
    return s->work->out[PART_ENERGY][0];
}

/* By the displacement that solves the current problem, in multiples of `unit`. 0: there is none. */
static int move(step_impulse *s, double unit)
{
    impulse_parting *it = s->touch.parting;
    if (problem_solve_near(&it->problem, &it->speeds, it->still, it->still, NULL) != ZW_OK) {
        return 0;
    }
    tree_advance(s->system->tree, s->q0, it->problem.answer.a, &unit, s->q1);
    memcpy(s->q0, s->q1, (size_t)s->system->nq * sizeof(double));
    impulse_see(s, s->q0);
    impulse_place_rows(s);
    return 1;
}

/* Brings constraints to phi = 0 again, up to round-off, and limits not beyond it: Newton's
 * method. */
static void close_again(step_impulse *s)
{
    enum { TIMES = 5 };
    for (int k = 0; k < TIMES; k++) {
        double off = impulse_violation(s);
        if (!(off > IMPULSE_PLACE * impulse_extent(s))) {
            return;
        }
        problem_begin(&s->touch.parting->problem);
        impulse_put_places(s, &s->touch.parting->problem, off);
        if (!move(s, off)) {
            return;
        }
    }
}

/* The points at q0 within reach of such a displacement, without those of pairs that cannot be
 * separated, and the deepest of them; below 0: unknown. */
static double find_overlaps(step_impulse *s, zw_error *error)
{
    impulse_contacts *t = &s->touch;
    double reach = fmax(impulse_margin(s), 2 * IMPULSE_RECOVERY * s->h);
    see_overlaps(s);
    if (contact_find(s->system, &t->found, s->begin, s->h, reach, NULL) != ZW_OK) {
        return -1; /* the step will report it */
    }
    if (s->looks) {
        impulse_note_overlaps(s);
    }
    t->stuck_count = 0;
    find_unmoved(s, s->begin);
    zw_status status =
        deepest(s) > impulse_least_overlap(s) ? find_stuck(s, s->begin, error) : ZW_OK;
    s->overlap.stuck = s->looks ? count_stuck(s) : s->overlap.stuck;
    impulse_drop_stuck(s);
    s->looks = 0;
    return status == ZW_OK ? deepest(s) : -1;
}

/* Moves q0 out of the deepest overlap by this distance; 0: not at all. */
static int shift(step_impulse *s, double depth, double way)
{
    impulse_contacts *t = &s->touch;
    double before = s->system->works ? energy(s) : 0;
    t->parting = t->parting ? t->parting : create(s->system->n);
    if (!t->parting) {
        return 0;
    }
    problem_begin(&t->parting->problem);
    impulse_put_places(s, &t->parting->problem, way);
    put_points(s, &t->parting->problem, s->begin, way / depth, s->h, way);
    if (!move(s, way)) {
        return 0;
    }
    close_again(s);
    s->gained += s->system->works ? energy(s) - before : 0;
    return 1;
}

/* What the displacement leaves, because of its compliance and of curved shapes, is separated as
 * well: AGAIN times, each of which leaves a thousandth. */
void impulse_part(step_impulse *s)
{
    enum { AGAIN = 6 };
    const double most = IMPULSE_RECOVERY * s->h;
    double depth = 0;
    if (!s->touch.is_there || !s->overlaps) {
        return;
    }
    s->theta = 0;
    s->overlaps = 0; /* the step will see whether there are any */
    for (int k = 0; k <= AGAIN && depth <= most; k++) {
        depth = find_overlaps(s, NULL);
        if (!(depth > (k == 0 ? impulse_least_overlap(s) : DBL_EPSILON)) ||
            !shift(s, depth, fmin(depth, most))) {
            return;
        }
    }
}

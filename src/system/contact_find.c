/* Where bodies touch now, or may within a step. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "model/pose.h"
#include "system/bodies.h"
#include "system/contacts.h"
#include "tree/sweeps.h"

/* ---- Where the geoms are -------------------------------------------------------------------- */

void contact_place(const zw_system *system, const contact_geom *geom, const double *sweeps,
                   collide_pose *pose)
{
    const double *R = sweeps + system->tree->at.R + 9 * geom->body;
    const double *origin = sweeps + system->tree->at.origin + 3 * geom->body;
    for (int i = 0; i < 3; i++) {
        pose->pos[i] = origin[i];
        for (int k = 0; k < 3; k++) {
            double sum = 0;
            for (int l = 0; l < 3; l++) {
                sum += R[3 * i + l] * geom->R[3 * l + k];
            }
            pose->R[3 * i + k] = sum;
            pose->pos[i] += R[3 * i + k] * geom->pos[k];
        }
    }
}

/* No point of a geom goes farther in a time h than h (|v| + |omega| radius), v being the velocity
 * of its centre, as long as its motion is that of now. */
static double reach_of(const zw_system *system, const contact_geom *geom, const collide_pose *pose,
                       const double *sweeps, double h)
{
    double V[6];
    if (geom->body == 0) {
        return 0;
    }
    tree_point_velocity(system->tree, geom->body, pose->pos, sweeps, V);
    return h * (sqrt(model_dot(V + 3, V + 3)) + sqrt(model_dot(V, V)) * geom->radius);
}

static void place_one(const zw_system *system, contact_work *work, int i, const double *sweeps,
                      double h, double margin)
{
    const contact_geom *geom = &system->bodies->contact->geom[i];
    double *lower = work->lower + 3 * i, *upper = work->upper + 3 * i;
    contact_place(system, geom, sweeps, &work->pose[i]);
    work->reach[i] = reach_of(system, geom, &work->pose[i], sweeps, h);
    collide_bounds(&geom->shape, &work->pose[i], lower, upper);
    double more = work->reach[i] + margin + geom->margin;
    for (int k = 0; k < 3; k++) {
        lower[k] -= more;
        upper[k] += more;
    }
}

/* What stands still is placed once: of two that meet one moves, and has all of the margin. */
static zw_status place_all(const zw_system *system, contact_work *work, const double *sweeps,
                           double h, double margin, int *bad)
{
    const contact_world *world = system->bodies->contact;
    zw_status status = ZW_OK;
    for (int i = 0; i < world->geom_count && !work->placed; i++) {
        if (world->still[i]) {
            place_one(system, work, i, sweeps, 0, 0);
        }
    }
    if (!work->placed) {
        status = collide_broad_keep(work->broad, world->geom_count, work->lower, work->upper,
                                    world->still, bad);
        work->placed = status == ZW_OK;
    }
    for (int k = 0; k < world->moving_count; k++) {
        place_one(system, work, world->moving[k], sweeps, h, margin);
    }
    return status != ZW_OK ? status
                           : collide_broad_update(work->broad, world->moving_count, world->moving,
                                                  work->lower, work->upper, bad);
}

/* ---- Who may touch whom --------------------------------------------------------------------- */

static const contact_two *find_two(const contact_two *list, int count, int a, int b)
{
    int low = 0, high = count, first = a < b ? a : b, second = a < b ? b : a;
    while (low < high) {
        int middle = (low + high) / 2;
        const contact_two *at = &list[middle];
        if (at->a == first && at->b == second) {
            return at;
        }
        if (at->a < first || (at->a == first && at->b < second)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

const zw_pair_def *contact_pair(const contact_world *world, int a, int b)
{
    const contact_two *written = find_two(world->pair, world->pair_count, a, b);
    return written ? &world->pair_def[written->index] : NULL;
}

static int may_touch(const contact_world *world, const tree_body *body, const contact_geom *a,
                     const contact_geom *b)
{
    if (!(a->law.contype & b->law.conaffinity) && !(b->law.contype & a->law.conaffinity)) {
        return 0;
    }
    if (a->body > 0 && b->body > 0 && !world->keeps_parents &&
        (body[a->body].parent == b->body || body[b->body].parent == a->body)) {
        return 0;
    }
    return !find_two(world->exclude, world->exclude_count, a->owner, b->owner);
}

int contact_may(const contact_world *world, const tree_mechanism *tree, int a, int b)
{
    const contact_geom *x = &world->geom[a], *y = &world->geom[b];
    return x->body != y->body &&
           (find_two(world->pair, world->pair_count, a, b) || may_touch(world, tree->body, x, y));
}

/* ---- The law of a pair ---------------------------------------------------------------------- */

static void mix(const zw_geom_def *a, const zw_geom_def *b, contact_point *law)
{
    const zw_geom_def *first = a->priority >= b->priority ? a : b;
    const zw_geom_def *second = a->priority == b->priority ? b : first;
    static const int of[5] = {0, 0, 1, 2, 2};
    law->rows = first->condim > second->condim ? first->condim : second->condim;
    for (int k = 0; k < 5; k++) {
        law->friction[k] = fmax(first->friction[of[k]], second->friction[of[k]]);
    }
    law->restitution = fmax(first->restitution, second->restitution);
    law->gap = a->margin + b->margin;
}

static void override(const zw_pair_def *pair, contact_point *law)
{
    if (pair->given & 1) {
        law->rows = pair->condim;
    }
    if (pair->given & 2) {
        memcpy(law->friction, pair->friction, sizeof law->friction);
    }
    if (pair->given & 16) {
        law->gap = pair->margin;
    }
}

/* ---- Points --------------------------------------------------------------------------------- */

/* Two directions across a normal: the same for the same normal. */
static void span(double frame[9])
{
    double *n = frame, *t = frame + 3;
    int k = fabs(n[1]) < 0.5 ? 1 : 2;
    for (int i = 0; i < 3; i++) {
        t[i] = (i == k) - n[k] * n[i];
    }
    model_unit(t);
    model_cross(frame + 6, n, t);
}

static void take(contact_work *work, int capacity, const contact_point *law,
                 const collide_point *from)
{
    if (work->needed++ >= capacity) {
        return;
    }
    contact_point *point = &work->point[work->count++];
    *point = *law;
    point->key.feature = from->feature;
    memcpy(point->pos, from->pos, sizeof point->pos);
    memcpy(point->frame, from->normal, sizeof from->normal);
    span(point->frame);
    point->gap = from->gap - law->gap;
}

/* Points of a pair at most: beyond them a manifold is thinned by what made it. */
enum { MANIFOLD = 64 };

static void meet(const zw_system *system, contact_work *work, int i, int j, double margin)
{
    const contact_world *world = system->bodies->contact;
    const contact_geom *a = &world->geom[i], *b = &world->geom[j];
    collide_point list[MANIFOLD];
    const zw_pair_def *written = contact_pair(world, i, j);
    if (a->body == b->body || (!written && !may_touch(world, system->tree->body, a, b))) {
        return;
    }
    contact_point law = {.key.geom = {(uint32_t)i, (uint32_t)j}, .body = {a->body, b->body}};
    mix(&a->law, &b->law, &law);
    if (written) {
        override(written, &law);
    }
    margin += law.gap + work->reach[i] + work->reach[j];
    int count =
        collide_pair(&a->shape, &work->pose[i], &b->shape, &work->pose[j], margin, list, MANIFOLD);
    for (int k = 0; k < count; k++) {
        if (k < MANIFOLD) {
            take(work, world->capacity, &law, &list[k]);
        } else {
            work->needed++;
        }
    }
}

/* Is some point of a pair, from this one on, as near as the margin? Else it is only in reach. */
static int is_near(const contact_work *work, int first, double margin)
{
    for (int k = first; k < work->count; k++) {
        if (work->point[k].gap <= margin) {
            return 1;
        }
    }
    return work->needed > work->count; /* no room to see */
}

/* Note a sleeper that was met. */
static void wake(const contact_world *world, contact_work *work, int i)
{
    if (world->asleep[i] && !work->is_woken[i]) {
        work->is_woken[i] = 1;
        work->woken[work->woken_count++] = i;
    }
}

zw_status contact_find(const zw_system *system, contact_work *work, const double *sweeps, double h,
                       double margin, zw_error *error)
{
    const contact_world *world = system->bodies->contact;
    work->count = work->needed = 0;
    if (world->geom_count == 0) {
        return ZW_OK;
    }
    int bad = -1;
    const int *pair;
    zw_status status = place_all(system, work, sweeps, h, margin, &bad);
    if (status == ZW_NOT_FINITE) {
        return base_fail(error, status, "geom %s is nowhere: its place is not a number",
                         world->geom[bad].law.name ? world->geom[bad].law.name : "without name");
    }
    if (status != ZW_OK) {
        return base_fail(error, status, "%s", zw_status_text(status));
    }
    for (int k = 0, pairs = collide_broad_pairs(work->broad, &pair); k < pairs; k++) {
        int before = work->needed, first = work->count, i = pair[2 * k], j = pair[2 * k + 1];
        meet(system, work, i, j, margin);
        if (world->asleep && work->needed > before && (world->asleep[i] || world->asleep[j]) &&
            (is_near(work, first, margin) || contact_meet(system, work, i, j, sweeps, h, margin))) {
            wake(world, work, i);
            wake(world, work, j);
        }
    }
    if (work->needed > work->count) {
        return base_fail(error, ZW_TOO_LARGE,
                         "%d contacts, but the world has room for %d: set its contact capacity",
                         work->needed, world->capacity);
    }
    return ZW_OK;
}

/* ---- On the way ----------------------------------------------------------------------------- */

/* Where a geom will be after a time t, and how far turning may have carried its points. */
static double ahead(const zw_system *system, const contact_geom *geom, const double *sweeps,
                    double t, collide_pose *pose, double speed[3])
{
    double V[6] = {0};
    if (geom->body > 0) {
        tree_point_velocity(system->tree, geom->body, pose->pos, sweeps, V);
    }
    for (int k = 0; k < 3; k++) {
        speed[k] = V[3 + k];
        pose->pos[k] += t * V[3 + k];
    }
    return sqrt(model_dot(V, V)) > 0 ? sqrt(model_dot(V, V)) * geom->radius * t : 0;
}

/* Conservative advancement: shapes that only shift cannot meet before the gap between them has been
 * closed along its own normal; and never, if along that they part. */
int contact_meet(const zw_system *system, const contact_work *work, int a, int b,
                 const double *sweeps, double h, double slack)
{
    enum { LOOKS = 50 };
    const contact_world *world = system->bodies->contact;
    double t = 0;
    for (int look = 0; look < LOOKS && t <= h; look++) {
        collide_pose A = work->pose[a], B = work->pose[b];
        double va[3], vb[3], v[3];
        double turned = ahead(system, &world->geom[a], sweeps, t, &A, va) +
                        ahead(system, &world->geom[b], sweeps, t, &B, vb);
        collide_point list[MANIFOLD];
        for (int k = 0; k < 3; k++) {
            v[k] = va[k] - vb[k];
        }
        double far = sqrt(model_dot(v, v)) * (h - t) + slack + turned;
        int count =
            collide_pair(&world->geom[a].shape, &A, &world->geom[b].shape, &B, far, list, MANIFOLD);
        if (count == 0) {
            return 0;
        }
        const collide_point *nearest = &list[0];
        for (int k = 1; k < count && k < MANIFOLD; k++) {
            nearest = list[k].gap < nearest->gap ? &list[k] : nearest;
        }
        double closing = model_dot(nearest->normal, v), gap = nearest->gap - slack - turned;
        if (gap <= 0) {
            return 1;
        }
        if (!(closing > 0)) {
            return 0;
        }
        t += fmax(gap / closing, 1e-3 * h);
    }
    return t <= h;
}

/* ---- Rows ----------------------------------------------------------------------------------- */

/* The dofs of two chains, each once, rising: both lists are rising and begin alike. */
static int merge(const int *a, int count_a, const int *b, int count_b, int *to, int *at_a,
                 int *at_b)
{
    int i = 0, j = 0, n = 0;
    while (i < count_a || j < count_b) {
        int take_a = j == count_b || (i < count_a && a[i] <= b[j]);
        int take_b = i == count_a || (j < count_b && b[j] <= a[i]);
        to[n] = take_a ? a[i] : b[j];
        if (take_a) {
            at_a[i++] = n;
        }
        if (take_b) {
            at_b[j++] = n;
        }
        n++;
    }
    return n;
}

static void add_side(const contact_point *point, const double *J, const int *at, int count,
                     int columns, double sign, double *out)
{
    for (int k = 0; k < count; k++) {
        for (int r = 0; r < point->rows; r++) {
            const double *along = point->frame + 3 * (r % 3), *part = J + 6 * k + (r < 3 ? 3 : 0);
            out[r * columns + at[k]] += sign * model_dot(along, part);
        }
    }
}

int contact_rows(const zw_system *system, const contact_point *point, const double *sweeps,
                 double *room, int *column, double *J)
{
    const tree_mechanism *tree = system->tree;
    int widest = system->bodies->widest;
    int *chain[2] = {(int *)(room + 6 * widest), (int *)(room + 6 * widest) + widest};
    int *at[2] = {chain[1] + widest, chain[1] + 2 * widest};
    int count[2];
    for (int side = 0; side < 2; side++) {
        count[side] = tree_chain(tree, point->body[side], chain[side]);
    }
    int columns = merge(chain[0], count[0], chain[1], count[1], column, at[0], at[1]);
    memset(J, 0, (size_t)(point->rows * columns) * sizeof *J);
    for (int side = 0; side < 2; side++) {
        tree_jacobian(tree, point->body[side], point->pos, sweeps, room);
        add_side(point, room, at[side], count[side], columns, side ? 1 : -1, J);
    }
    return columns;
}

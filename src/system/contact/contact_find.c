/* Contact points now, or within a step. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "collide/vector.h"
#include "model/pose.h"
#include "system/bodies/bodies.h"
#include "system/contact/contacts.h"
#include "tree/sweeps.h"

/* ---- Poses of the geoms --------------------------------------------------------------------- */

/* The pose of a geom in the world. */
void contact_place(const zw_system *system, const contact_geom *geom, const double *sweeps,
                   collide_pose *pose)
{
    const double *R = sweeps + system->tree->at.R + 9 * geom->body, *G = geom->R;
    const double *origin = sweeps + system->tree->at.origin + 3 * geom->body;
    v3_turn(pose->pos, R, geom->pos);
    v3_add(pose->pos, pose->pos, 1, origin);
    for (int i = 0; i < 9; i += 3) {
        pose->R[i] = R[i] * G[0] + R[i + 1] * G[3] + R[i + 2] * G[6];
        pose->R[i + 1] = R[i] * G[1] + R[i + 1] * G[4] + R[i + 2] * G[7];
        pose->R[i + 2] = R[i] * G[2] + R[i + 1] * G[5] + R[i + 2] * G[8];
    }
}

/* With constant motion no point of a geom moves farther in a time h than h (|v| + |omega| radius),
 * v being the velocity of its centre. A plane is infinite: if it rotates, its reach is infinite. */
static double reach_of(const zw_system *system, const contact_geom *geom, const collide_pose *pose,
                       const double *sweeps, double h)
{
    if (geom->body == 0 || h == 0) {
        return 0;
    }
    const double *V = sweeps + system->tree->at.V + 6 * geom->body; /* of the centre of mass */
    double arm[3], v[3];
    v3_sub(arm, pose->pos, sweeps + system->tree->at.com + 3 * geom->body);
    v3_cross(v, V, arm);
    v3_add(v, v, 1, V + 3);
    double turn = sqrt(v3_dot(V, V));
    return h * (sqrt(v3_dot(v, v)) + (turn > 0 ? turn * geom->radius : turn));
}

/* 0: its position is not finite. */
static int place_one(const zw_system *system, contact_work *work, int i, const double *sweeps,
                     double h)
{
    const contact_geom *geom = &system->bodies->contact->geom[i];
    const collide_pose *pose = &work->pose[i];
    contact_place(system, geom, sweeps, &work->pose[i]);
    work->reach[i] = reach_of(system, geom, pose, sweeps, h);
    double all = pose->pos[0] + pose->pos[1] + pose->pos[2] + pose->R[0] + pose->R[4] + pose->R[8];
    return isfinite(all) && work->reach[i] >= 0;
}

/* Fixed geoms are placed once. Returns a geom whose position is not finite; -1: there is none. */
static int place_all(const zw_system *system, contact_work *work, const double *sweeps, double h)
{
    const contact_world *world = system->bodies->contact;
    int bad = -1;
    for (int i = 0; i < world->geom_count && !work->placed; i++) {
        if (world->still[i] && !place_one(system, work, i, sweeps, h) && bad < 0) {
            bad = i;
        }
    }
    work->placed = bad < 0;
    for (int k = 0; k < world->moving_count; k++) {
        int i = world->moving[k];
        if (!place_one(system, work, i, sweeps, h) && bad < 0) {
            bad = i;
        }
    }
    return bad;
}

static void bound(const contact_world *world, contact_work *work, int i, double margin)
{
    const contact_geom *geom = &world->geom[i];
    double *lower = work->lower + 3 * i, *upper = work->upper + 3 * i;
    collide_bounds(&geom->shape, &work->pose[i], lower, upper);
    double more = work->reach[i] + margin + geom->margin;
    for (int k = 0; k < 3; k++) {
        lower[k] -= more;
        upper[k] += more;
    }
}

/* A larger box that is cheaper to compute. */
static void bound_sphere(const contact_world *world, contact_work *work, int i, double margin)
{
    double more = work->reach[i] + margin + world->geom[i].margin + world->geom[i].radius;
    for (int k = 0; k < 3; k++) {
        work->lower[3 * i + k] = work->pose[i].pos[k] - more;
        work->upper[3 * i + k] = work->pose[i].pos[k] + more;
    }
}

/* At least one of two geoms that meet moves, and its box has the whole margin: so boxes of fixed
 * geoms are computed once. */
static zw_status bound_all(const contact_world *world, contact_work *work, double margin, int *bad)
{
    const unsigned char *kept = world->match ? world->asleep : world->still;
    zw_status status = ZW_OK;
    for (int i = 0; i < world->geom_count && !work->bounded; i++) {
        if (kept[i]) {
            bound(world, work, i, 0);
        }
    }
    if (!work->bounded) {
        status =
            collide_broad_keep(work->broad, world->geom_count, work->lower, work->upper, kept, bad);
        work->bounded = status == ZW_OK;
    }
    for (int k = 0; k < world->moving_count; k++) {
        if (world->match) {
            bound_sphere(world, work, world->moving[k], margin);
        } else {
            bound(world, work, world->moving[k], margin);
        }
    }
    return status;
}

/* ---- Filters --------------------------------------------------------------------------------- */

/* The first of these two in the order of the file. */
static const contact_two *find_two(const contact_two *list, int count, int a, int b)
{
    int low = 0, high = count, first = a < b ? a : b, second = a < b ? b : a;
    while (low < high) {
        int middle = (low + high) / 2;
        const contact_two *at = &list[middle];
        if (at->a < first || (at->a == first && at->b < second)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < count && list[low].a == first && list[low].b == second ? &list[low] : NULL;
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
    int moves = tree->body[x->body].last_dof >= 0 || tree->body[y->body].last_dof >= 0;
    int absent = world->absent && (world->absent[a] || world->absent[b]);
    return !absent && x->body != y->body && moves &&
           !(collide_is_ground(&x->shape) && collide_is_ground(&y->shape)) &&
           (may_touch(world, tree->body, x, y) || find_two(world->pair, world->pair_count, a, b));
}

/* ---- The law of a pair ---------------------------------------------------------------------- */

static void mix(const zw_geom_def *a, const zw_geom_def *b, contact_point *law)
{
    const zw_geom_def *first = a->priority >= b->priority ? a : b;
    const zw_geom_def *second = a->priority == b->priority ? b : first;
    static const int of[5] = {0, 0, 1, 2, 2};
    law->rows = first->condim > second->condim ? first->condim : second->condim;
    for (int k = 0; k < 5; k++) {
        law->friction[k] = v3_max(first->friction[of[k]], second->friction[of[k]]);
    }
    law->restitution = v3_max(first->restitution, second->restitution);
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

/* Two tangents of a normal: the same for the same normal. */
void contact_span(double frame[9])
{
    double *n = frame, *t = frame + 3;
    int k = fabs(n[1]) < 0.5 ? 1 : 2;
    for (int i = 0; i < 3; i++) {
        t[i] = (i == k) - n[k] * n[i];
    }
    v3_unit(t);
    v3_cross(frame + 6, n, t);
}

static void take(contact_work *work, int capacity, const contact_point *law,
                 const collide_point *from, const contact_point *last)
{
    if (work->needed++ >= capacity) {
        return;
    }
    contact_point *point = &work->point[work->count++];
    *point = *law;
    point->key.feature = from->feature;
    memcpy(point->pos, from->pos, sizeof point->pos);
    if (last && memcmp(last->frame, from->normal, sizeof from->normal) == 0) {
        memcpy(point->frame, last->frame, sizeof point->frame);
    } else {
        memcpy(point->frame, from->normal, sizeof from->normal);
        contact_span(point->frame);
    }
    point->gap = from->gap - law->gap;
}

/* The largest number of points of a pair. */
enum { MANIFOLD = 128 };

static double margin_of(const contact_geom *a, const contact_geom *b, const zw_pair_def *written)
{
    return written && (written->given & 16) ? written->margin : a->law.margin + b->law.margin;
}

contact_point contact_law(const contact_world *world, const contact_match *match)
{
    const contact_geom *a = &world->geom[match->a], *b = &world->geom[match->b];
    contact_point law = {.key.geom = {(uint32_t)match->a, (uint32_t)match->b},
                         .body = {a->body, b->body}};
    mix(&a->law, &b->law, &law);
    if (match->written) {
        override(match->written, &law);
    }
    return law;
}

/* `margin`: the largest distance that the two can close. */
void contact_meet_match(const contact_world *world, contact_work *work, const contact_match *match,
                        double margin, double *apart)
{
    const contact_geom *a = &world->geom[match->a], *b = &world->geom[match->b];
    collide_point list[MANIFOLD];
    int count =
        collide_pair_or_gap(&a->shape, &work->pose[match->a], &b->shape, &work->pose[match->b],
                            margin, work->choice, list, MANIFOLD, apart);
    if (count == 0) {
        return;
    }
    contact_point law = contact_law(world, match);
    for (int k = 0; k < count; k++) {
        if (k < MANIFOLD) {
            take(work, work->capacity, &law, &list[k],
                 k > 0 && work->count > 0 ? &work->point[work->count - 1] : NULL);
        } else {
            work->needed++;
        }
    }
}

/* All pairs, by bounding spheres first. If some geoms sleep, the list changes with them. */
static void meet_few(const contact_world *world, contact_work *work, double margin)
{
    contact_wait *wait = world->asleep ? NULL : &work->wait;
    double close;
    if (wait) {
        contact_wait_move(work, wait, 0, world->moving, world->moving_count, margin);
    }
    for (int k = 0; k < world->match_count; k++) {
        k = wait ? contact_wait_next(wait, 0, k, world->match_count) : k;
        if (k == world->match_count) {
            break;
        }
        const contact_match *match = &world->match[k];
        int before = work->needed;
        double apart = -1;
        if (contact_near(world, work, match, margin, &close)) {
            if (wait && contact_waits_apart(wait, k, match, close)) {
                continue;
            }
            contact_meet_match(world, work, match, close, wait && wait->by_shape ? &apart : NULL);
        }
        if (wait) {
            contact_wait_see(world, work, wait, 0, k, match, work->needed > before, apart);
        }
    }
}

contact_match contact_match_of(const contact_world *world, int a, int b)
{
    const contact_geom *x = &world->geom[a], *y = &world->geom[b];
    const zw_pair_def *written = world->pair_count > 0 ? contact_pair(world, a, b) : NULL;
    return (contact_match){.a = a,
                           .b = b,
                           .plane = x->shape.kind == COLLIDE_PLANE   ? 1
                                    : y->shape.kind == COLLIDE_PLANE ? 2
                                                                     : 0,
                           .written = written,
                           .margin = margin_of(x, y, written),
                           .radius = x->radius + y->radius};
}

/* Is some point of a pair, from this one on, closer than the margin? Else it is only within
 * reach. */
static int is_near(const contact_work *work, int first, double margin)
{
    for (int k = first; k < work->count; k++) {
        if (work->point[k].gap <= margin) {
            return 1;
        }
    }
    return work->needed > work->count; /* points that did not fit are assumed to be */
}

const contact_point *contact_nearest(const contact_work *work, int first)
{
    const contact_point *pair = &work->point[first], *nearest = pair;
    for (int k = first + 1; k < work->count; k++) {
        const contact_point *point = &work->point[k];
        if (memcmp(point->key.geom, pair->key.geom, sizeof pair->key.geom) != 0) {
            break;
        }
        nearest = point->gap < nearest->gap ? point : nearest;
    }
    return nearest;
}

static int meets(const zw_system *system, const contact_work *work, int first, const double *sweeps,
                 double h, double margin)
{
    const contact_point *nearest = contact_nearest(work, first);
    const uint32_t *geom = nearest->key.geom;
    return contact_meet(system, work, (int)geom[0], (int)geom[1], sweeps, h, margin, nearest->gap,
                        nearest->frame);
}

void contact_wake(const contact_world *world, contact_work *work, int i)
{
    if (world->asleep[i] && !work->is_woken[i]) {
        work->is_woken[i] = 1;
        work->woken[work->woken_count++] = i;
    }
}

/* By bounding boxes; if few geoms are awake, only their pairs with sleeping ones. */
static zw_status meet_many(const zw_system *system, contact_work *work, const double *sweeps,
                           double h, double margin, zw_error *error)
{
    const contact_world *world = system->bodies->contact;
    int bad = -1;
    const int *pair;
    zw_status status = bound_all(world, work, margin, &bad);
    if (status == ZW_OK) {
        status = collide_broad_update(work->broad, world->moving_count, world->moving, work->lower,
                                      work->upper, world->match == NULL, &bad);
    }
    if (status != ZW_OK) {
        return base_fail_as(error, status);
    }
    for (int k = 0, pairs = collide_broad_pairs(work->broad, &pair); k < pairs; k++) {
        int a = pair[2 * k], b = pair[2 * k + 1], first = work->count, before = work->needed;
        if (!contact_may(world, system->tree, a, b)) {
            continue;
        }
        contact_match match = contact_match_of(world, a, b);
        contact_meet_match(world, work, &match,
                           margin + match.margin + work->reach[a] + work->reach[b], NULL);
        if (world->asleep && work->needed > before && (world->asleep[a] || world->asleep[b]) &&
            (is_near(work, first, margin) || meets(system, work, first, sweeps, h, margin))) {
            contact_wake(world, work, a);
            contact_wake(world, work, b);
        }
    }
    return ZW_OK;
}

zw_status contact_find(const zw_system *system, contact_work *work, const double *sweeps, double h,
                       double margin, zw_error *error)
{
    const contact_world *world = system->bodies->contact;
    zw_status status = ZW_OK;
    work->count = work->needed = 0;
    if (world->geom_count == 0) {
        return ZW_OK;
    }
    int bad = place_all(system, work, sweeps, h);
    if (bad >= 0) {
        return base_fail(error, ZW_NOT_FINITE, "the position of geom %s is not a number",
                         world->geom[bad].law.name ? world->geom[bad].law.name : "without name");
    }
    if (world->match) {
        meet_few(world, work, margin);
    } else if (world->crowd) {
        status = contact_crowd_meet(system, work, margin) ? ZW_OK : base_no_memory(error);
    }
    if ((!world->match && !world->crowd) || world->asleep) {
        status = meet_many(system, work, sweeps, h, margin, error);
    }
    return status == ZW_OK && work->needed > work->count
               ? contact_too_many(work, work->capacity, error)
               : status;
}

zw_status contact_too_many(const contact_work *work, int capacity, zw_error *error)
{
    return base_fail(error, ZW_TOO_LARGE,
                     "%d contacts, but the capacity is %d: set contact_capacity", work->needed,
                     capacity);
}

/* ---- Within a step -------------------------------------------------------------------------- */

/* The pose of a geom after a time t, and how far rotation may have moved its points. */
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

/* Conservative advancement: shapes that only translate cannot meet before the gap between them is
 * closed along its normal; and never, if they separate along it. The start is known. */
int contact_meet(const zw_system *system, const contact_work *work, int a, int b,
                 const double *sweeps, double h, double slack, double gap, const double normal[3])
{
    enum { LOOKS = 50 };
    const contact_world *world = system->bodies->contact;
    collide_point list[MANIFOLD];
    list[0].gap = gap;
    memcpy(list[0].normal, normal, sizeof list[0].normal);
    double t = 0;
    for (int look = 0; look < LOOKS; look++) {
        collide_pose A = work->pose[a], B = work->pose[b];
        double va[3], vb[3], v[3];
        double turned = ahead(system, &world->geom[a], sweeps, t, &A, va) +
                        ahead(system, &world->geom[b], sweeps, t, &B, vb);
        for (int k = 0; k < 3; k++) {
            v[k] = va[k] - vb[k];
        }
        double far = sqrt(model_dot(v, v)) * (h - t) + slack + turned;
        int count = look == 0 ? 1
                              : collide_pair(&world->geom[a].shape, &A, &world->geom[b].shape, &B,
                                             far, list, MANIFOLD);
        if (count == 0) {
            return 0;
        }
        const collide_point *nearest = &list[0];
        for (int k = 1; k < count && k < MANIFOLD; k++) {
            nearest = list[k].gap < nearest->gap ? &list[k] : nearest;
        }
        double closing = model_dot(nearest->normal, v);
        gap = nearest->gap - slack - turned;
        if (gap <= 0) {
            return 1;
        }
        if (!(closing > 0) || t + gap / closing > h) {
            return 0;
        }
        t = fmin(t + fmax(gap / closing, 1e-3 * h), h);
    }
    return 1;
}

/* ---- Rows ----------------------------------------------------------------------------------- */

/* One column: the velocity of the point along the rows for unit speed of dof d. */
static inline void column_of(const tree_mechanism *tree, const contact_point *point,
                             const double *sweeps, int d, const double f[9], int columns, double *J)
{
    const double *S = sweeps + tree->at.S + 6 * d, *com = sweeps + tree->at.com, *p = point->pos;
    com += 3 * tree->dof_body[d];
    double x = p[0] - com[0], y = p[1] - com[1], z = p[2] - com[2];
    double u = S[3] + S[1] * z - S[2] * y, v = S[4] + S[2] * x - S[0] * z,
           w = S[5] + S[0] * y - S[1] * x;
    J[0] = f[0] * u + f[1] * v + f[2] * w;
    if (point->rows < 3) {
        return;
    }
    J[columns] = f[3] * u + f[4] * v + f[5] * w;
    J[2 * columns] = f[6] * u + f[7] * v + f[8] * w;
    for (int r = 3; r < point->rows; r++) {
        J[r * columns] = v3_dot(f + 3 * (r - 3), S);
    }
}

int contact_columns(const tree_mechanism *tree, const int body[2], int *column, double *side)
{
    const int *parent = tree->dof_parent;
    int first = tree->body[body[0]].last_dof, second = tree->body[body[1]].last_dof, columns = 0;
    for (int i = first, j = second; i != j; columns++) {
        *(i > j ? &i : &j) = parent[i > j ? i : j];
    }
    for (int k = columns - 1; k >= 0 && column; k--) {
        int of_first = first > second, d = of_first ? first : second;
        column[k] = d;
        side[k] = of_first ? -1 : 1;
        *(of_first ? &first : &second) = parent[d];
    }
    return columns;
}

/* A dof that moves both bodies does not change their relative motion: its column is zero and left
 * out. So only the parts of the two chains below their last common dof remain. */
int contact_rows(const zw_system *system, const contact_point *point, const double *sweeps,
                 int *column, double *J)
{
    const tree_mechanism *tree = system->tree;
    const int *parent = tree->dof_parent;
    int first = tree->body[point->body[0]].last_dof, second = tree->body[point->body[1]].last_dof;
    double back[9];
    int columns = 0;
    for (int i = first, j = second; i != j; columns++) {
        if (i > j) {
            i = parent[i];
        } else {
            j = parent[j];
        }
    }
    for (int i = 0; i < 9; i++) {
        back[i] = -point->frame[i];
    }
    for (int k = columns - 1; k >= 0; k--) {
        int of_first = first > second, d = of_first ? first : second;
        column[k] = d;
        column_of(tree, point, sweeps, d, of_first ? back : point->frame, columns, J + k);
        if (of_first) {
            first = parent[d];
        } else {
            second = parent[d];
        }
    }
    return columns;
}

/* Contacts of eight worlds.
 *
 * Geoms are placed in all lanes. On a plane of the world the points of spheres, capsules and boxes
 * are computed in lanes, as in collide/round.c and collide/plane.c. For other pairs the lanes only
 * determine in which worlds the shapes can touch (by bounding spheres, the distance of their axes,
 * the faces of boxes); there the pair is tested alone. */
#include <string.h>

#include "collide/vector.h"
#include "system/soft8/soft8.h"
#include "system/soft8/soft8_reach.h"

/* Constants of the system as numbers of a lane. */
ZW_INLINE void fill(int count, const double *from, zw_scalar *to)
{
    for (int i = 0; i < count; i++) {
        to[i] = (zw_scalar)from[i];
    }
}

/* ---- Poses ---------------------------------------------------------------------------------- */

ZW_INLINE void place(const contact_geom *geom, const zw_real8 *R, const zw_real8 *origin,
                     soft8_pose *to)
{
    zw_scalar p[3], G[9];
    fill(3, geom->pos, p);
    fill(9, geom->R, G);
    for (int i = 0; i < 3; i++) {
        const zw_real8 *row = R + 3 * i;
        to->pos[i] = row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + origin[i];
        for (int k = 0; k < 3; k++) {
            to->R[3 * i + k] = row[0] * G[k] + row[1] * G[3 + k] + row[2] * G[6 + k];
        }
    }
}

ZW_CLONES static void place_all(const soft8 *s, const zw_real8 *sweeps, soft8_pose *pose)
{
    const contact_world *world = s->system->bodies->contact;
    const tree_places *at = &s->system->tree->at;
    CREW_FOR (k, world->geom_count) {
        const contact_geom *geom = &world->geom[k];
        place(geom, sweeps + at->R + 9 * geom->body, sweeps + at->origin + 3 * geom->body,
              &pose[k]);
    }
    CREW_MEET();
}

/* ---- Near ----------------------------------------------------------------------------------- */

ZW_INLINE zw_real8 inside8(zw_real8 s)
{
    zw_real8 one = (zw_real8){0} + 1.0;
    s = lane_select8(s < -one, -one, s);
    return lane_select8(s > one, one, s);
}

static zw_scalar half_of(const contact_geom *geom)
{
    return geom->shape.kind == COLLIDE_CAPSULE ? (zw_scalar)fabs(geom->shape.size[1]) : 0;
}

/* Axes are taken as parallel if the square of the sine of their angle is below PARALLEL; ASKEW is
 * its root. */
#define PARALLEL LANE_LIMIT(1e-12, 1e-6)
#define ASKEW LANE_LIMIT(1e-6, 1e-3)

/* Are the axes of two closer than their radii, and slightly more? The nearest pair of two segments
 * as in collide/round.c. */
ZW_INLINE zw_mask8 near_round(const contact_geom *a, const contact_geom *b, const soft8_pose *at_a,
                              const soft8_pose *at_b, zw_real8 margin)
{
    zw_scalar ha = half_of(a), hb = half_of(b), uu = ha * ha, vv = hb * hb;
    zw_real8 far = (zw_scalar)(fabs(a->shape.size[0]) + fabs(b->shape.size[0])) + margin;
    zw_real8 u[3], v[3], q[3], s = {0}, t = {0};
    for (int i = 0; i < 3; i++) {
        q[i] = at_b->pos[i] - at_a->pos[i];
        u[i] = at_a->R[3 * i + 2] * ha;
        v[i] = at_b->R[3 * i + 2] * hb;
    }
    zw_real8 uv = dot8(u, v), uq = dot8(u, q), vq = dot8(v, q);
    if (uu > 0 && vv > 0) {
        zw_real8 det = uu * vv - uv * uv;
        zw_mask8 parallel = ~(det > PARALLEL * uu * vv);
        s = inside8((vv * uq - uv * vq) / lane_select8(parallel, (zw_real8){0} + 1.0, det));
        s = lane_select8(parallel, (zw_real8){0}, s);
    }
    t = vv > 0 ? inside8((uv * s - vq) / vv) : t;
    s = uu > 0 ? inside8((uv * t + uq) / uu) : s;
    for (int i = 0; i < 3; i++) {
        q[i] += t * v[i] - s * u[i];
    }
    /* nearly parallel ones may be closer elsewhere, by less than this */
    far = far * (1 + ASKEW) + ASKEW * (ha + hb);
    return ~(dot8(q, q) > far * far);
}

/* Is there no face of the box that separates it from the other shape? */
ZW_INLINE zw_mask8 near_box(const contact_geom *box, const contact_geom *other,
                            const soft8_pose *at_box, const soft8_pose *at, zw_real8 margin)
{
    zw_real8 hair = margin + LANE_LIMIT(1e-9, 1e-5) * (zw_scalar)(box->radius + other->radius);
    zw_mask8 far = {0};
    zw_real8 way[3];
    for (int i = 0; i < 3; i++) {
        way[i] = at->pos[i] - at_box->pos[i];
    }
    for (int j = 0; j < 3; j++) {
        zw_real8 face[3] = {at_box->R[j], at_box->R[3 + j], at_box->R[6 + j]};
        far |= lane_size8(dot8(way, face)) >
               reach8(other, at, face) + ((zw_scalar)box->shape.size[j] + hair);
    }
    return ~far;
}

/* The largest distance that the two can close, as in contact_near. */
ZW_INLINE zw_real8 close_of(const soft8 *s, const soft8_match *match)
{
    zw_real8 close = (zw_real8){0} + (zw_scalar)match->of.margin;
    if (s->reach) {
        close = (zw_scalar)(s->margin + match->of.margin) + s->reach[match->of.a] +
                s->reach[match->of.b];
    }
    return close;
}

ZW_CLONES static void find_near(const soft8 *s, const soft8_match *match, zw_mask8 *near,
                                zw_real8 *within)
{
    const contact_world *world = s->system->bodies->contact;
    const contact_geom *a = &world->geom[match->of.a], *b = &world->geom[match->of.b];
    const soft8_pose *at_a = &s->pose[match->of.a], *at_b = &s->pose[match->of.b];
    zw_real8 close = close_of(s, match), far = (zw_scalar)match->of.radius + close;
    *within = close;
    if (match->plane >= 0) { /* which is fixed; is the other's sphere above it? */
        zw_scalar n[9], p[3];
        const zw_real8 *to = s->pose[match->other].pos;
        fill(9, s->alone->found.pose[match->plane].R, n);
        fill(3, s->alone->found.pose[match->plane].pos, p);
        zw_real8 height = (to[0] - p[0]) * n[2] + (to[1] - p[1]) * n[5] + (to[2] - p[2]) * n[8];
        *near = ~(height > (zw_scalar)world->geom[match->other].radius + close);
        return;
    }
    zw_real8 q[3] = {at_b->pos[0] - at_a->pos[0], at_b->pos[1] - at_a->pos[1],
                     at_b->pos[2] - at_a->pos[2]};
    *near = ~(dot8(q, q) > far * far);
    if (!lane_any8(*near & s->good)) {
        return;
    }
    if (match->rule == SOFT8_ROUND) {
        *near &= near_round(a, b, at_a, at_b, close);
    }
    if (a->shape.kind == COLLIDE_BOX) {
        *near &= near_box(a, b, at_a, at_b, close);
    }
    if (b->shape.kind == COLLIDE_BOX) {
        *near &= near_box(b, a, at_b, at_a, close);
    }
}

/* ---- On a plane ----------------------------------------------------------------------------- */

/* MuJoCo's first tangent for a capsule on a plane is along its axis: turn_frame in soft_rows.c. */
ZW_INLINE void turn_frame(const zw_scalar n[3], const soft8_pose *at, zw_real8 *frame)
{
    zw_real8 axis[3] = {at->R[2], at->R[5], at->R[8]}, unit[3];
    zw_real8 slope = n[0] * axis[0] + n[1] * axis[1] + n[2] * axis[2], most = {0};
    for (int k = 0; k < 3; k++) {
        axis[k] -= slope * n[k];
        zw_real8 size = lane_size8(axis[k]);
        most = lane_select8(size > most, size, most);
    }
    zw_mask8 some = most > 0.0;
    zw_real8 scale = lane_select8(some, most, (zw_real8){0} + 1.0);
    for (int k = 0; k < 3; k++) {
        unit[k] = axis[k] / scale;
    }
    zw_real8 length = lane_sqrt8(dot8(unit, unit));
    zw_mask8 turns = some & (most * length > LANE_LIMIT(1e-12, 1e-6));
    length = lane_select8(turns, length, (zw_real8){0} + 1.0);
    for (int k = 0; k < 3; k++) {
        axis[k] = unit[k] / length;
    }
    zw_real8 across[3] = {n[1] * axis[2] - n[2] * axis[1], n[2] * axis[0] - n[0] * axis[2],
                          n[0] * axis[1] - n[1] * axis[0]};
    for (int k = 0; k < 3; k++) {
        frame[3 + k] = lane_select8(turns, axis[k], frame[3 + k]);
        frame[6 + k] = lane_select8(turns, across[k], frame[6 + k]);
    }
}

typedef struct found {
    zw_mask8 on, counts; /* counts: it is a point, possibly without a force */
    zw_real8 pos[3], gap;
} found;

/* End k of a capsule, or the centre of a sphere: on_plane in collide/round.c. */
ZW_CLONES static void end_on_plane(const soft8 *s, const soft8_match *match, int k,
                                   const zw_real8 *close, found *to, zw_real8 *frame)
{
    const contact_geom *geom = &s->system->bodies->contact->geom[match->other];
    const collide_pose *plane = &s->alone->found.pose[match->plane];
    const soft8_pose *at = &s->pose[match->other];
    zw_scalar half = half_of(geom), radius = (zw_scalar)fabs(geom->shape.size[0]);
    zw_scalar P[9], p[3], F[9], side = k ? -1 : 1;
    fill(9, plane->R, P);
    fill(3, plane->pos, p);
    fill(9, match->frame, F);
    const zw_scalar n[3] = {P[2], P[5], P[8]};
    zw_real8 way[3], u[3];
    for (int i = 0; i < 3; i++) {
        way[i] = at->pos[i] - p[i];
        u[i] = half * at->R[3 * i + 2];
    }
    zw_real8 height = n[0] * way[0] + n[1] * way[1] + n[2] * way[2];
    zw_real8 rise = n[0] * u[0] + n[1] * u[1] + n[2] * u[2];
    zw_real8 gap = height + side * rise - radius, down = -(radius + 0.5 * gap);
    for (int i = 0; i < 3; i++) {
        zw_real8 x = way[i] + side * u[i];
        x = x + down * n[i];
        to->pos[i] = x + p[i];
    }
    to->counts = gap <= *close;
    to->gap = gap - (zw_scalar)match->law.gap;
    to->on = s->reach ? to->counts : to->counts & (to->gap < 0.0);
    for (int i = 0; i < 9; i++) {
        frame[i] = (zw_real8){0} + F[i];
    }
    if (geom->shape.kind == COLLIDE_CAPSULE && !s->reach) {
        turn_frame(F, at, frame);
    }
}

/* The box in the frame of the plane. */
typedef struct seen {
    zw_real8 t[3], R[9];
} seen;

ZW_CLONES static void see_box(const soft8 *s, const soft8_match *match, seen *to)
{
    const collide_pose *plane = &s->alone->found.pose[match->plane];
    const soft8_pose *at = &s->pose[match->other];
    zw_scalar P[9], p[3];
    fill(9, plane->R, P);
    fill(3, plane->pos, p);
    zw_real8 way[3];
    for (int i = 0; i < 3; i++) {
        way[i] = at->pos[i] - p[i];
    }
    for (int i = 0; i < 3; i++) {
        to->t[i] = P[i] * way[0] + P[3 + i] * way[1] + P[6 + i] * way[2];
        for (int j = 0; j < 3; j++) {
            to->R[3 * i + j] = P[i] * at->R[j] + P[3 + i] * at->R[3 + j] + P[6 + i] * at->R[6 + j];
        }
    }
}

/* Corner k: plane_box in collide/plane.c. */
ZW_CLONES static void corner_on_plane(const soft8 *s, const soft8_match *match, const seen *box,
                                      int k, const zw_real8 *close, found *to)
{
    const contact_geom *geom = &s->system->bodies->contact->geom[match->other];
    const collide_pose *plane = &s->alone->found.pose[match->plane];
    zw_scalar h[3], P[9], origin[3];
    fill(3, geom->shape.size, h);
    fill(9, plane->R, P);
    fill(3, plane->pos, origin);
    const zw_scalar x[3] = {k & 1 ? -h[0] : h[0], k & 2 ? -h[1] : h[1], k & 4 ? -h[2] : h[2]};
    zw_real8 low = -box->R[6] * x[0] + -box->R[7] * x[1] + -box->R[8] * x[2], p[3];
    for (int i = 0; i < 3; i++) {
        const zw_real8 *row = box->R + 3 * i;
        p[i] = row[0] * x[0] + row[1] * x[1] + row[2] * x[2] + box->t[i];
    }
    zw_real8 gap = p[2];
    p[2] = gap / 2.0;
    for (int i = 0; i < 3; i++) {
        to->pos[i] = P[3 * i] * p[0] + P[3 * i + 1] * p[1] + P[3 * i + 2] * p[2] + origin[i];
    }
    to->counts = (k < 4 ? low >= 0.0 : low > 0.0) & (gap <= *close);
    to->gap = gap - (zw_scalar)match->law.gap;
    to->on = s->reach ? to->counts : to->counts & (to->gap < 0.0);
}

static void note(soft8 *s, int index, const found *it)
{
    for (int l = 0; l < LANES; l++) {
        s->points[l] += it->counts[l] != 0;
        s->touch[l] |= it->on[l] ? (uint64_t)1 << index % 64 : 0;
    }
}

static void add(soft8 *s, const soft8_match *match, const zw_mask8 *on, const zw_real8 *pos,
                const zw_real8 *frame, const zw_real8 *gap)
{
    if (s->add) {
        s->add(s, match, on, pos, frame, gap);
    } else {
        soft8_add_contact(s, match, on, pos, frame, gap);
    }
}

/* Keys of the points of a pair (at most ALONE) follow those of limits. */
enum { ALONE = 16 };
static int first_key(const soft8 *s, int match)
{
    return s->system->bodies->constraint_count + ALONE * match;
}

static void meet_on_plane(soft8 *s, int index, const zw_real8 *close)
{
    const soft8_match *match = &s->match[index];
    int box = match->rule == SOFT8_BOX_ON_PLANE;
    collide_kind kind = s->system->bodies->contact->geom[match->other].shape.kind;
    seen at;
    zw_real8 frame[9];
    if (box) {
        see_box(s, match, &at);
    }
    for (int i = 0; i < 9 && box; i++) {
        frame[i] = (zw_real8){0} + (zw_scalar)match->frame[i];
    }
    for (int k = 0; k < (box ? 8 : kind == COLLIDE_CAPSULE ? 2 : 1); k++) {
        found it;
        if (box) {
            corner_on_plane(s, match, &at, k, close, &it);
        } else {
            end_on_plane(s, match, k, close, &it, frame);
        }
        note(s, index, &it);
        s->key = first_key(s, index) + k;
        it.on &= s->good;
        if (lane_any8(it.on)) {
            add(s, match, &it.on, it.pos, frame, &it.gap);
        }
    }
}

/* ---- Alone ---------------------------------------------------------------------------------- */

static void take_pose(const soft8_pose *from, int lane, collide_pose *to)
{
    for (int i = 0; i < 3; i++) {
        to->pos[i] = from->pos[i][lane];
    }
    for (int i = 0; i < 9; i++) {
        to->R[i] = from->R[i][lane];
    }
}

/* Points of a pair, world by world: the k-th of each world share a block. */
typedef struct soft8_gathered {
    zw_mask8 on[ALONE];
    zw_real8 pos[ALONE][3], frame[ALONE][9], gap[ALONE];
    int most, needed[LANES];
    int lost[LANES]; /* points beyond ALONE */
} gathered;

size_t soft8_gathered_bytes(void)
{
    return sizeof(gathered);
}

static void gather(const soft8 *s, const soft8_match *match, int lane, double close, gathered *to)
{
    contact_work *work = &s->alone->found;
    int count = 0;
    take_pose(&s->pose[match->of.a], lane, &work->pose[match->of.a]);
    take_pose(&s->pose[match->of.b], lane, &work->pose[match->of.b]);
    work->count = work->needed = 0;
    work->choice = s->reach ? COLLIDE_COMPLETE : COLLIDE_MUJOCO;
    const contact_world *world = s->system->bodies->contact;
    contact_meet_match(world, work, &world->match[match - s->match], close, NULL);
    to->needed[lane] = work->needed;
    for (int k = 0; k < work->count; k++) {
        const contact_point *point = &work->point[k];
        if (!s->reach && !soft_takes(s->alone, k)) {
            continue;
        }
        if (count == ALONE) {
            to->lost[lane] = 1;
            return;
        }
        to->on[count][lane] = -1;
        to->gap[count][lane] = (zw_scalar)point->gap;
        for (int i = 0; i < 3; i++) {
            to->pos[count][i][lane] = (zw_scalar)point->pos[i];
        }
        for (int i = 0; i < 9; i++) {
            to->frame[count][i][lane] = (zw_scalar)point->frame[i];
        }
        count++;
    }
    to->most = count > to->most ? count : to->most;
}

static void gather_all(const soft8 *s, const soft8_match *match, zw_mask8 near,
                       const zw_real8 *close, gathered *to)
{
    to->most = 0;
    memset(to->on, 0, sizeof to->on);
    memset(to->needed, 0, sizeof to->needed);
    memset(to->lost, 0, sizeof to->lost);
    for (int l = 0; l < s->lanes; l++) {
        if (near[l] && s->good[l]) {
            gather(s, match, l, (*close)[l], to);
        }
    }
    for (int k = 0; LANE_VOTE(k < to->most); k++) {
        for (int l = 0; l < LANES; l++) { /* finite numbers where there is no point */
            for (int i = 0; i < 3 && !to->on[k][l]; i++) {
                to->pos[k][i][l] = 0;
            }
            for (int i = 0; i < 9 && !to->on[k][l]; i++) {
                to->frame[k][i][l] = 0;
            }
            to->gap[k][l] = to->on[k][l] ? to->gap[k][l] : 0;
        }
    }
}

static void meet_alone(soft8 *s, int index, zw_mask8 near, const zw_real8 *close)
{
    const soft8_match *match = &s->match[index];
    gathered own, *to = CREW_SIZE > 1 ? s->gathered : &own;
    CREW_MEET();
    CREW_ONE () {
        gather_all(s, match, near, close, to);
    }
    CREW_MEET();
    for (int l = 0; l < LANES; l++) {
        s->points[l] += to->needed[l];
        s->good[l] = to->lost[l] ? 0 : s->good[l];
    }
    for (int k = 0; LANE_VOTE(k < to->most); k++) {
        for (int l = 0; l < LANES; l++) {
            s->touch[l] |= to->on[k][l] ? (uint64_t)1 << index % 64 : 0;
        }
        add(s, match, &to->on[k], to->pos[k], to->frame[k], &to->gap[k]);
    }
}

void soft8_near(const soft8 *s, int match, zw_mask8 *near)
{
    zw_real8 close;
    find_near(s, &s->match[match], near, &close);
}

void soft8_place_at(const soft8 *s, const zw_real8 *sweeps, soft8_pose *pose)
{
    if (s->match_count > 0) {
        place_all(s, sweeps, pose);
    }
}

void soft8_place(soft8 *s)
{
    soft8_place_at(s, s->sweeps, s->pose);
}

/* For CREW_EACH: the first test of find_near. */
ZW_INLINE __attribute__((unused)) int may_meet(const soft8 *s, int match)
{
    const contact_match *of = &s->system->bodies->contact->match[match];
    zw_mask8 near;
    zw_real8 close, far = (zw_real8){0} + (zw_scalar)(of->radius + of->margin), q[3];
    if (of->plane) {
        find_near(s, &s->match[match], &near, &close);
        return lane_any8(near);
    }
    for (int i = 0; i < 3; i++) {
        q[i] = s->pose[of->b].pos[i] - s->pose[of->a].pos[i];
    }
    return s->reach || lane_any8(~(dot8(q, q) > far * far));
}

void soft8_meet_placed(soft8 *s)
{
    const contact_world *world = s->system->bodies->contact;
    memset(s->points, 0, sizeof s->points);
    memset(s->touch, 0, sizeof s->touch);
    CREW_EACH (k, s->match_count, may_meet, s) {
        zw_mask8 near;
        zw_real8 close;
        s->key = first_key(s, k);
        find_near(s, &s->match[k], &near, &close);
        near &= s->good;
        int alone = s->match[k].rule > SOFT8_BOX_ON_PLANE;
        if (SOFT8_SPARES && alone && s->spare && lane_any8(near)) {
            s->spare(s, k, &close, &near);
        }
        if (!lane_any8(near)) {
            continue;
        }
        if (alone) {
            meet_alone(s, k, near, &close);
        } else {
            meet_on_plane(s, k, &close);
        }
    }
    for (int l = 0; l < LANES && s->match_count > 0; l++) {
        s->good[l] = s->points[l] > world->capacity ? 0 : s->good[l];
    }
}

void soft8_meet(soft8 *s)
{
    soft8_place(s);
    soft8_meet_placed(s);
}

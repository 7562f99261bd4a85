/* Proves from both ends of a step that no bodies pass through each other, in eight worlds.
 *
 * Two shapes A and B are apart along n, from A to B, by
 *
 *     sep(t) = the least of n . (y(t) - x(t)) over the points x of A, y of B
 *
 * and their distance, or minus their depth, is no less, whatever n. With n constant and all
 * accelerations below a, each of these functions is below the line between its ends by at most a
 * h^2/8, and so is their minimum:
 *
 *     sep(t) >= min(sep(0), sep(h)) - (a_A + a_B) h^2/8
 *
 * a is the bound of contact_path.c. There a bound extends forwards from one instant and allows for
 * everything that rotation could do; here the other end shows what it did. Where that is not
 * enough, instants between are evaluated: in PIECES pieces accelerations contribute 1/PIECES^2 of
 * that.
 *
 * A world stays in lanes only if impulse_free_part of impulse_sweep.c would also find its motion
 * free. That marches along pairs that one evaluation does not show to be free, and finds them free
 * unless they come as near as contact (pairs in contact at the start: as deep as half of `depth`)
 * or it exceeds the number of evaluations, each of which advances by the available distance at the
 * largest speed. So it will find them free if the distance proved here is enough for LOOKS
 * evaluations. */
#include <math.h>
#include <string.h>

#include "math/lanes.h"
#include "step/once8/once8.h"
#include "system/soft8/soft8_reach.h"
#include "tree/sweeps.h"

enum { PIECES = 2 };
#define LOOKS (0.75 * CONTACT_PATH_LOOKS)
#define DEPTH 0.499 /* of depth: pairs in contact at the start come no deeper */

int once8_end_of_pair(const once8 *s, int i)
{
    int end = i + 1;
    while (end < s->it.blocks && s->about[end].constraint == s->about[i].constraint &&
           s->about[end].match == s->about[i].match) {
        end++;
    }
    return end;
}

void once8_see_end(once8 *s)
{
    if (!s->ended) {
        tree_kinematics8(s->of->system->tree, s->q1, s->end);
        s->ended = 1;
    }
}

/* The shapes that reach8 supports, and planes of the world. */
static int has_ends(const once8 *s, const soft8_match *match)
{
    const contact_geom *geom = s->of->system->bodies->contact->geom;
    int side[2] = {match->of.a, match->of.b}, known = 1;
    for (int k = 0; k < 2; k++) {
        int kind = (int)geom[side[k]].shape.kind;
        known &= !contact_is_pieces(kind) && (kind != COLLIDE_PLANE || side[k] == match->plane);
    }
    return known;
}

/* The separation along n, which for a plane is its normal. */
ZW_INLINE zw_real8 apart(const once8 *s, const soft8_match *match, const soft8_pose *pose,
                         const zw_real8 *n)
{
    const contact_geom *geom = s->of->system->bodies->contact->geom;
    int side[2] = {match->of.a, match->of.b};
    zw_real8 sum = {0};
    for (int i = 0; i < 3; i++) {
        sum += n[i] * (pose[side[1]].pos[i] - pose[side[0]].pos[i]);
    }
    for (int k = 0; k < 2; k++) {
        if (side[k] != match->plane) {
            sum -= reach8(&geom[side[k]], &pose[side[k]], n);
        }
    }
    return sum - match->of.margin;
}

/* Half the length of the axis of a shape that is round about it. */
static double half_axis(const contact_geom *geom)
{
    int round = geom->shape.kind == COLLIDE_CAPSULE || geom->shape.kind == COLLIDE_CYLINDER;
    return round ? fabs(geom->shape.size[1]) : 0;
}

ZW_INLINE zw_real8 within(zw_real8 x, double most)
{
    zw_real8 end = {0};
    end += most;
    x = lane_select8(x < end, x, end);
    return lane_select8(x > -end, x, -end);
}

/* From the axis of a to that of b, between points p + s u and q + t v that are near each other:
 * each in turn is the nearest to the other. */
ZW_INLINE void between_axes(const once8 *s, const soft8_match *match, const soft8_pose *pose,
                            zw_real8 *n)
{
    const contact_geom *geom = s->of->system->bodies->contact->geom;
    const soft8_pose *a = &pose[match->of.a], *b = &pose[match->of.b];
    double half[2] = {half_axis(&geom[match->of.a]), half_axis(&geom[match->of.b])};
    zw_real8 u[3] = {a->R[2], a->R[5], a->R[8]}, v[3] = {b->R[2], b->R[5], b->R[8]};
    zw_real8 zero = {0}, one = zero + 1.0;
    for (int i = 0; i < 3; i++) {
        n[i] = b->pos[i] - a->pos[i];
    }
    zw_real8 along = dot8(u, v), on_u = dot8(u, n), on_v = dot8(v, n);
    zw_real8 sine = 1.0 - along * along;
    zw_real8 x = (on_u - along * on_v) / lane_select8(sine > 0.0, sine, one);
    x = within(x, half[0]);
    zw_real8 y = within(along * x - on_v, half[1]);
    x = within(along * y + on_u, half[0]);
    for (int i = 0; i < 3; i++) {
        n[i] += y * v[i] - x * u[i];
    }
}

ZW_INLINE void normalise(zw_real8 *n)
{
    zw_real8 square = dot8(n, n), one = (zw_real8){0} + 1.0;
    zw_real8 by = 1.0 / lane_sqrt8(lane_select8(square > 0.0, square, one));
    for (int i = 0; i < 3; i++) {
        n[i] *= by;
    }
}

/* A direction: that of the nearest point, with its gap, in the lanes that have one; else the normal
 * of the plane, or from one axis to the other. */
ZW_INLINE zw_mask8 find_direction(const once8 *s, int index, zw_real8 *n, zw_real8 *gap)
{
    const soft8_match *match = &s->of->match[index];
    int first = s->first[index], end = first < 0 ? -1 : once8_end_of_pair(s, first);
    zw_mask8 found = {0};
    zw_real8 zero = {0};
    *gap = zero + INFINITY;
    between_axes(s, match, s->of->pose, n);
    for (int i = 0; i < 3 && match->plane >= 0; i++) {
        n[i] = zero + match->frame[i];
    }
    normalise(n);
    for (int i = first; i < end; i++) {
        zw_mask8 nearer = s->about[i].found & (s->about[i].gap < *gap);
        *gap = lane_select8(nearer, s->about[i].gap, *gap);
        for (int k = 0; k < 3; k++) {
            n[k] = lane_select8(nearer, s->about[i].n[k], n[k]);
        }
        found |= s->about[i].found;
    }
    return found;
}

/* The worlds in which a pair is found, or moves farther than the search covered, and what must be
 * proved about it. */
ZW_CLONES static void begin_watch(const once8 *s, int index, const zw_mask8 *asked, once8_watch *to)
{
    const contact_world *world = s->of->system->bodies->contact;
    const soft8_match *match = &s->of->match[index];
    int side[2] = {match->of.a, match->of.b};
    double thick = 0, depth = contact_path_depth(&s->path, side[0], side[1]);
    zw_real8 gap, far = {0}, way = {0}, bow = {0};
    zw_mask8 found = find_direction(s, index, to->n, &gap);
    to->left = found | s->spared[index];
    for (int k = 0; k < 2; k++) {
        int g = side[k];
        thick += world->geom[g].thick;
        for (int i = 0; i < 3; i++) {
            far += lane_size8(s->of->pose[g].pos[i]);
        }
        if (!world->still[g]) {
            to->left |= ~(s->ways[g] <= s->reach[g] + 0.5 * s->of->margin);
            way += s->h * s->rush[g];
            bow += 0.125 * s->h * s->h * s->bow[g];
        }
    }
    zw_real8 hair = CONTACT_PATH_HAIR(thick, far),
             near = (zw_real8){0} + contact_path_near(&s->path, side[0], side[1]);
    zw_mask8 touches = found & ((gap <= hair) | (gap <= near));
    zw_real8 clear = lane_select8(2.0 * hair > way / LOOKS, 2.0 * hair, way / LOOKS);
    zw_real8 shallow =
        lane_select8(way < LOOKS * depth, -DEPTH * depth + 0.0 * way, far + INFINITY);
    to->need = lane_select8(touches, shallow, clear);
    to->need += has_ends(s, match) ? 0 : INFINITY;
    to->low = apart(s, match, s->of->pose, to->n);
    to->bow = bow;
    to->left &= s->suspect[index] & *asked;
}

ZW_CLONES static void look_again(const once8 *s, int index, once8_watch *it)
{
    zw_real8 low = apart(s, &s->of->match[index], s->pose, it->n);
    it->low = lane_select8(low < it->low, low, it->low);
}

/* Axis k of the boxes among the two, from a to b; 0: that one is no box. */
ZW_INLINE int box_axis(const once8 *s, const soft8_match *match, int k, zw_real8 *n)
{
    int side[2] = {match->of.a, match->of.b};
    const soft8_pose *pose = &s->of->pose[side[k / 3]];
    zw_real8 way = {0};
    if (s->of->system->bodies->contact->geom[side[k / 3]].shape.kind != COLLIDE_BOX) {
        return 0;
    }
    for (int i = 0; i < 3; i++) {
        n[i] = pose->R[3 * i + k % 3];
        way += n[i] * (s->of->pose[side[1]].pos[i] - s->of->pose[side[0]].pos[i]);
    }
    for (int i = 0; i < 3; i++) {
        n[i] = lane_select8(way < 0.0, -n[i], n[i]);
    }
    return 1;
}

/* Other directions, where they separate more: along the axes of boxes. `pose`: at the end. */
ZW_CLONES static void turn(const once8 *s, int index, once8_watch *it)
{
    const soft8_match *match = &s->of->match[index];
    for (int k = 0; k < 6; k++) {
        zw_real8 n[3];
        if (!box_axis(s, match, k, n)) {
            continue;
        }
        zw_real8 low = apart(s, match, s->of->pose, n), end = apart(s, match, s->pose, n);
        low = lane_select8(end < low, end, low);
        zw_mask8 better = low > it->low;
        it->low = lane_select8(better, low, it->low);
        for (int i = 0; i < 3; i++) {
            it->n[i] = lane_select8(better, n[i], it->n[i]);
        }
    }
}

ZW_CLONES static void find_left(const once8 *s, int pieces, zw_mask8 *left)
{
    zw_mask8 any = {0};
    double part = 1.0 / (pieces * pieces);
    for (int i = 0; i < s->watched_count; i++) {
        once8_watch *it = &s->watch[i];
        it->left &= ~(it->low - part * it->bow > it->need);
        any |= it->left;
    }
    *left = any;
}

/* All poses at this fraction of the step. */
static void place_at(once8 *s, double part)
{
    if (part == 1) {
        once8_see_end(s);
    } else {
        zw_real8 t = (zw_real8){0} + part * s->h;
        tree_advance8(s->of->system->tree, s->of->q, s->u, &t, s->between);
        tree_kinematics8(s->of->system->tree, s->between, s->end);
        s->ended = 0;
    }
    soft8_place_at(s->of, s->end, s->pose);
}

static void look_all(once8 *s)
{
    for (int i = 0; i < s->watched_count; i++) {
        if (lane_any8(s->watch[i].left)) {
            look_again(s, s->watched[i], &s->watch[i]);
        }
    }
}

static void turn_all(once8 *s)
{
    for (int i = 0; i < s->watched_count; i++) {
        if (lane_any8(s->watch[i].left) && s->of->match[s->watched[i]].plane < 0) {
            turn(s, s->watched[i], &s->watch[i]);
        }
    }
}

void once8_prove_ways(once8 *s, const zw_mask8 *asked, zw_mask8 *left)
{
    for (int i = 0; i < s->watched_count; i++) {
        s->first[s->watched[i]] = -1;
    }
    for (int i = 0; i < s->it.blocks; i = once8_end_of_pair(s, i)) {
        if (s->about[i].constraint < 0) {
            s->first[s->about[i].match] = i;
        }
    }
    *left = *asked;
    for (int i = 0; i < s->watched_count; i++) {
        begin_watch(s, s->watched[i], asked, &s->watch[i]);
    }
    for (int pieces = 1; pieces <= PIECES && lane_any8(*left); pieces *= 2) {
        for (int k = 1; k <= pieces; k += 2) {
            place_at(s, (double)k / pieces);
            look_all(s);
        }
        find_left(s, pieces, left);
        if (pieces == 1 && lane_any8(*left)) {
            turn_all(s);
            find_left(s, pieces, left);
        }
    }
}

/* ---- Pairs that need no points --------------------------------------------------------------
 *
 * Two links of a fast arm move far in a step, but not towards each other: they are within reach of
 * each other by the motion of both (contact_near), and yet no row of theirs can ever be violated.
 * Their points, which are found world by world, would not change a bit of the solution. (Those of
 * spheres and capsules cost less than to know that, unless all worlds have them.)
 *
 * No gap of two shapes is smaller than their distance, and that is no smaller than their separation
 * along any direction. Their points are within `close` of the smaller of the two. At a point p the
 * two have the relative velocity, for any c,
 *
 *     v_b(p) - v_a(p) = v_b(c) - v_a(c) + (omega_b - omega_a) x (p - c)
 *
 * so with c the centre of the smaller, of radius R, no gap shrinks in a step by more than
 *
 *     h (|v_b(c) - v_a(c)| + |omega_b - omega_a| (R + close))
 *
 * Spheres and capsules do not come nearer as they turn about their own axis. A normal n through
 * the point p meets the axis, at x: the velocity along n is the same at p and x, as p - x is along
 * n, and x is on the axis e, of length 2 L. So there no gap shrinks by more than
 *
 *     h (|v_b(c) - v_a(c)| + |(omega_b - omega_a) x e| L)
 *
 * A pair is spared where its separation is twice that in the motion without contacts, and the
 * margin. Whether it is enough is checked for every other motion by which rows enter
 * (augment.look), among them the solution. If it is not, in any world, the step is repeated with
 * all points. */

#define ROUND_OFF (1 + 1e-9) /* of distances and speeds, relative; and of where axes are */

static int is_round(const contact_geom *geom)
{
    return geom->shape.kind == COLLIDE_SPHERE || geom->shape.kind == COLLIDE_CAPSULE;
}

/* Of the two, a round one, or the smaller. */
static int centre_of(const contact_geom *geom, const int *side)
{
    int round[2] = {is_round(&geom[side[0]]), is_round(&geom[side[1]])};
    int smaller = geom[side[1]].radius < geom[side[0]].radius;
    return side[round[0] == round[1] ? smaller : round[1]];
}

/* V [bodies][6]: velocities. */
ZW_INLINE zw_real8 approach(const once8 *s, const soft8_match *match, const zw_real8 *V,
                            zw_real8 close)
{
    const contact_geom *geom = s->of->system->bodies->contact->geom;
    const zw_real8 *com = s->of->sweeps + s->of->system->tree->at.com;
    int side[2] = {match->of.a, match->of.b}, about = centre_of(geom, side);
    const zw_real8 *c = s->of->pose[about].pos, *R = s->of->pose[about].R;
    zw_real8 v[3] = {{0}}, omega[3] = {{0}};
    for (int k = 0; k < 2; k++) {
        int body = geom[side[k]].body;
        const zw_real8 *own = V + 6 * body, *from = com + 3 * body;
        double sign = k ? 1 : -1;
        for (int i = 0; i < 3 && body > 0; i++) {
            int j = (i + 1) % 3, l = (i + 2) % 3;
            v[i] += sign * (own[j] * (c[l] - from[l]) - own[l] * (c[j] - from[j]) + own[3 + i]);
            omega[i] += sign * own[i];
        }
    }
    zw_real8 turn = lane_sqrt8(dot8(omega, omega)) * (geom[about].radius + close);
    if (is_round(&geom[about])) {
        zw_real8 e[3] = {R[2], R[5], R[8]}, across[3];
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3, l = (i + 2) % 3;
            across[i] = omega[j] * e[l] - omega[l] * e[j];
        }
        turn = lane_sqrt8(dot8(across, across)) * half_axis(&geom[about]) + (ROUND_OFF - 1) * turn;
    }
    return lane_sqrt8(dot8(v, v)) + turn;
}

ZW_CLONES static void find_spared(const once8 *s, int index, const zw_real8 *close, zw_mask8 *to)
{
    const soft8_match *match = &s->of->match[index];
    zw_real8 n[3], most;
    between_axes(s, match, s->of->pose, n);
    normalise(n);
    most = apart(s, match, s->of->pose, n);
    for (int k = 0; k < 6; k++) {
        if (box_axis(s, match, k, n)) {
            zw_real8 low = apart(s, match, s->of->pose, n);
            most = lane_select8(low > most, low, most);
        }
    }
    s->apart[index] = most;
    *to = most > 2.0 * s->h * approach(s, match, s->V, *close) + s->of->margin;
}

ZW_CLONES static void find_missed(once8 *s, int index, const zw_mask8 *asked)
{
    const soft8_match *match = &s->of->match[index];
    const zw_real8 *V = s->of->sweeps + s->of->system->tree->at.V;
    zw_real8 close =
        (s->of->margin + match->of.margin) + s->reach[match->of.a] + s->reach[match->of.b];
    s->missed |= *asked & s->spared[index] &
                 ~(s->apart[index] > ROUND_OFF * s->h * approach(s, match, V, close));
}

ZW_CLONES static void move_by(const once8 *s)
{
    for (int i = 0; i < s->it.n; i++) {
        s->u[i] = s->v0[i] + s->it.x[i];
    }
}

ZW_CLONES static void exchange(int count, zw_real8 *a, zw_real8 *b)
{
    for (int i = 0; i < count; i++) {
        zw_real8 x = a[i];
        a[i] = b[i];
        b[i] = x;
    }
}

/* V of the motion without contacts, when it is needed. */
static void know_motion(once8 *s)
{
    const tree_mechanism *tree = s->of->system->tree;
    zw_real8 *V = s->of->sweeps + tree->at.V;
    int count = 6 * tree->bodies;
    if (!s->knows) {
        memcpy(s->V, V, (size_t)count * sizeof *V);
        move_by(s);
        tree_velocities8(tree, s->u, s->of->sweeps);
        exchange(count, V, s->V);
        s->knows = 1;
    }
}

static void spare(soft8 *of, int index, const zw_real8 *close, zw_mask8 *near)
{
    once8 *s = of->user;
    zw_mask8 far;
    int count = 0;
    for (int l = 0; l < LANES; l++) {
        count += (*near)[l] != 0;
    }
    if (of->match[index].plane >= 0 || /* which has no end */
        (of->match[index].rule == SOFT8_ROUND && count < LANES)) {
        return;
    }
    know_motion(s);
    find_spared(s, index, close, &far);
    s->spared[index] = *near & far;
    *near &= ~far;
    s->spares[s->spare_count] = index;
    s->spare_count += lane_any8(s->spared[index]);
}

void once8_begin_spares(once8 *s)
{
    s->of->spare = s->thorough || !SOFT8_SPARES ? NULL : spare;
    s->spare_count = s->knows = 0;
    memset(s->spared, 0, (size_t)s->of->match_count * sizeof *s->spared);
}

void once8_look(void *user, const zw_mask8 *asked)
{
    once8 *s = user;
    zw_mask8 any = {0};
    for (int i = 0; i < s->spare_count; i++) {
        any |= s->spared[s->spares[i]];
    }
    s->moved = lane_any8(any & *asked);
    if (s->moved) {
        move_by(s);
        tree_velocities8(s->of->system->tree, s->u, s->of->sweeps);
    }
    for (int i = 0; i < s->spare_count && s->moved; i++) {
        find_missed(s, s->spares[i], asked);
    }
}

/* Two boxes, or a capsule and a box, by the separating axes.
 *
 * The difference of two boxes has faces of three kinds only: faces of a, faces of b, and
 * parallelograms of an edge of each. So when they overlap the largest gap(n) is at one of 3 + 3 + 9
 * directions. Each is scored by the full support of both boxes, so an inaccurate direction, from
 * nearly parallel edges, only gets a lower score, never a wrong one.
 *
 * MuJoCo takes a face instead of a pair of edges if their directions differ by less than ALIKE and
 * the gap of the edges is not larger by a twentieth; and of edges one point (COLLIDE_MUJOCO; both
 * rules hold for all of 90 000 pairs of which its points were compared with ours).
 *
 * When they are apart the largest of these gaps is a lower bound of the distance, and equal to it
 * if the manifold has a point with that gap; if not, the nearest features are corners or edges, and
 * the general routine (convex.c) finds them.
 *
 * The difference of a box and a segment has the faces of the box, and parallelograms of the segment
 * and an edge: six directions. Apart, the distance of the box from the points of the segment,
 *     f(s) = sum over i of (excess of |p_i + s u_i| over h_i)^2 / 2,
 * is convex; its slope grows in straight pieces between the at most six places where a coordinate
 * enters or leaves the box, and is zero where the nearest point is.
 *
 * MuJoCo takes the points of at most two balls of the capsule's radius with the box. One is around
 * the point of the segment that is nearest to the box, among its ends above faces, or inside, and
 * the nearest points of the twelve edges (a segment through the box, with both ends outside, counts
 * as near an edge). The other is as far along the segment as the box reaches below it: a way that
 * is computed from its inclination to the face or edge that the first is above. */
#include "collide/inner.h"

#define MORE 0.05  /* of the gap along a face: MuJoCo's edges have to exceed that by so much, */
#define ALIKE 0.99 /* if the cosine of the angle between the directions is more than this */

typedef struct axes {
    const double *ha, *hb, *R, *t;
    double best, n[3];
} axes;

/* The pose of b in a's frame. */
static void b_in_a(const collide_solid *a, const collide_solid *b, double R[9], double t[3])
{
    v3_turn_back(t, a->R, b->t);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            R[3 * i + j] =
                a->R[i] * b->R[j] + a->R[3 + i] * b->R[3 + j] + a->R[6 + i] * b->R[6 + j];
        }
    }
}

/* Scores a unit direction given in a's frame, with either sign. `less` is subtracted from the gap;
 * `more` is the margin by which it must exceed the best so far. */
static void score(axes *x, const double l[3], double less, double more)
{
    double along = v3_dot(l, x->t), across[3];
    v3_turn_back(across, x->R, l);
    double gap = fabs(along) - less;
    for (int i = 0; i < 3; i++) {
        gap -= x->ha[i] * fabs(l[i]) + x->hb[i] * fabs(across[i]);
    }
    if (gap > x->best + more) {
        double side = along < 0 ? -1 : 1;
        x->best = gap;
        v3_set(x->n, side * l[0], side * l[1], side * l[2]);
    }
}

/* Of the points behind the first ones the deepest. */
static void keep_deepest(collide_sink *sink, int first)
{
    int best = first;
    if (sink->count > sink->capacity) {
        return; /* the caller makes room and comes again */
    }
    for (int k = first + 1; k < sink->count; k++) {
        best = sink->point[k].gap < sink->point[best].gap ? k : best;
    }
    if (sink->count > first) {
        sink->point[first] = sink->point[best];
        sink->count = first + 1;
    }
}

void collide_boxes(const collide_solid *a, const collide_solid *b, collide_sink *sink)
{
    double R[9], t[3], n[3];
    b_in_a(a, b, R, t);
    axes x = {a->size, b->size, R, t, -INFINITY, {0, 0, 1}};
    double hair = 1e-13 * (a->extent + b->extent);
    for (int i = 0; i < 3; i++) {
        double l[3] = {0, 0, 0};
        l[i] = 1;
        score(&x, l, 0, hair);
    }
    if (x.best > sink->margin) {
        return;
    }
    for (int i = 0; i < 3; i++) {
        const double l[3] = {R[i], R[3 + i], R[6 + i]};
        score(&x, l, 0, hair);
    }
    const axes face = x;
    for (int k = 0; k < 9 && x.best <= sink->margin; k++) { /* e_i cross the axis j of b */
        int i = k / 3, j = k % 3, i1 = (i + 1) % 3, i2 = (i + 2) % 3;
        double p = R[3 * i1 + j], q = R[3 * i2 + j], length = sqrt(p * p + q * q), l[3];
        if (length > 1e-12) {
            l[i] = 0;
            l[i1] = -q / length;
            l[i2] = p / length;
            score(&x, l, 0, hair);
        }
    }
    if (x.best > sink->margin) {
        return;
    }
    const int as_mujoco = sink->choice == COLLIDE_MUJOCO, before = sink->count;
    if (as_mujoco && x.best <= face.best + MORE * fabs(face.best) &&
        fabs(v3_dot(x.n, face.n)) > ALIKE) {
        x = face;
    }
    v3_turn(n, a->R, x.n);
    if (!collide_manifold(a, b, n, x.best, NULL, !as_mujoco, sink) &&
        (!as_mujoco || sink->count == before)) {
        collide_convex(a, b, sink);
    }
    if (as_mujoco && x.best > face.best) {
        keep_deepest(sink, before);
    }
}

/* ---- A capsule and a box --------------------------------------------------------------------- */

static double excess(double x, double h)
{
    return x > h ? x - h : x < -h ? x + h : 0;
}

/* The s in -1..1 at which p + s u is nearest to the box: the zero of the slope lies between two
 * neighbouring breakpoints, between which the slope is linear. */
static double nearest_on(const double p[3], const double u[3], const double h[3])
{
    double low = -1, high = 1, slope_low = 0, slope_high = 0;
    for (int i = 0; i < 3; i++) {
        slope_low += u[i] * excess(p[i] - u[i], h[i]);
        slope_high += u[i] * excess(p[i] + u[i], h[i]);
    }
    if (slope_low >= 0 || slope_high <= 0) {
        return slope_low >= 0 ? -1 : 1;
    }
    for (int k = 0; k < 6; k++) {
        int i = k / 2;
        double at = u[i] != 0 ? ((k & 1 ? -h[i] : h[i]) - p[i]) / u[i] : 2, slope = 0;
        if (!(at > low && at < high)) {
            continue;
        }
        for (int j = 0; j < 3; j++) {
            slope += u[j] * excess(p[j] + at * u[j], h[j]);
        }
        if (slope < 0) {
            low = at;
            slope_low = slope;
        } else {
            high = at;
            slope_high = slope;
        }
    }
    return low + (high - low) * (-slope_low / (slope_high - slope_low));
}

/* Contact by the nearest point of the segment; 0: the best axis is as good and has an exact normal.
 */
static int apart(const collide_solid *a, const collide_solid *b, const double p[3],
                 const double u[3], double best, collide_sink *sink)
{
    double s = nearest_on(p, u, b->size), x[3], m[3], n[3], own[3];
    collide_apex witness = {.ia = s < 0, .ib = 0};
    for (int i = 0; i < 3; i++) {
        x[i] = p[i] + s * u[i];
        m[i] = -excess(x[i], b->size[i]); /* from the segment to the box */
        own[i] = x[i] + m[i];
    }
    double d = v3_unit(m);
    if (!(d > best + 1e-9 * (a->extent + b->extent))) {
        return 0;
    }
    if (d - a->radius > sink->margin) {
        return 1;
    }
    v3_turn(n, b->R, m);
    v3_turn(witness.a, b->R, x);
    v3_add(witness.a, witness.a, 1, b->t);
    v3_turn(witness.b, b->R, own);
    v3_add(witness.b, witness.b, 1, b->t);
    collide_manifold(a, b, n, d - a->radius, &witness, 0, sink);
    return 1;
}

/* ---- As MuJoCo sees them ----------------------------------------------------------------------
 */

/* Where the segment is nearest to the box: at p + s u, above the inside of a face or inside (end 2;
 * the normal of the face is along `axis`, -1: inside), or above the edge along `axis` through
 * `corner` (a bit for each positive coordinate), at y of its half length. `end` says which end of
 * the edge, 0: none. */
typedef struct nearest {
    double d2, s, y;
    int axis, corner, end;
} nearest;

/* The nearest points of the segment and an edge. MuJoCo keeps the end of an edge that was reached
 * before the end of the segment. */
static void try_edge(const double p[3], const double u[3], const double h[3], int axis, int corner,
                     nearest *best)
{
    double to[3], a = h[axis] * h[axis], b = -h[axis] * u[axis], c = v3_dot(u, u);
    for (int i = 0; i < 3; i++) {
        to[i] = (i == axis ? 0 : corner >> i & 1 ? h[i] : -h[i]) - p[i];
    }
    double of_y = -h[axis] * to[axis], of_s = v3_dot(u, to), det = a * c - b * b;
    if (fabs(det) < 1e-15) {
        return;
    }
    nearest it = {INFINITY, (a * of_s - b * of_y) / det, (c * of_y - b * of_s) / det, axis, corner,
                  0};
    if (fabs(it.y) > 1) {
        it.end = it.y > 0 ? 1 : -1;
        it.y = it.end;
        it.s = (of_s - b * it.y) / c;
    }
    if (fabs(it.s) > 1) {
        it.s = it.s > 0 ? 1 : -1;
        it.y = (of_y - b * it.s) / a;
        it.end = it.y > 1 ? 1 : it.y < -1 ? -1 : it.end;
        it.y = v3_max(-1, v3_min(it.y, 1));
    }
    v3_add(to, to, -it.s, u);
    to[axis] += h[axis] * it.y;
    it.d2 = v3_dot(to, to);
    if (it.d2 < best->d2 - 1e-15) {
        it.corner |= (it.end > 0) << axis;
        *best = it;
    }
}

/* -1: there is no second point. Else `way` is the sense in which it lies along the segment, and the
 * answer how far. */
static double second_way(const nearest *at, const double p[3], const double u[3], const double h[3],
                         double *way)
{
    int k = at->axis, over = 0, toward = 0; /* axes along which +u leads to the other side */
    for (int i = 0; i < 3; i++) {
        toward |= ((u[i] > 0) ^ (at->corner >> i & 1)) << i;
    }
    double far = 2;
    if (at->end == 2) { /* to where the segment leaves the face */
        *way = -at->s;
        for (int i = 0; i < 6 && k >= 0; i++) {
            double out =
                ((i & 1 ? -h[i / 2] : h[i / 2]) - p[i / 2] - at->s * u[i / 2]) / (*way * u[i / 2]);
            far = i / 2 != k && out > 0 && out < far ? out : far;
        }
        return k < 0 ? -1 : far;
    }
    if (at->end == 0) { /* over the face that the segment is more inclined to, if to one only */
        int i = (k + 1) % 3, j = (k + 2) % 3;
        j = fabs(u[i]) > fabs(u[j]) ? i : j;
        toward &= 7 - (1 << k);
        if (toward == 0 || (toward & (toward - 1)) != 0) {
            return -1;
        }
        over = 1 << j;
        *way = toward & over ? 1 : -1;
        far = h[k] * (1 - ((u[k] > 0) == (*way > 0) ? at->y : -at->y)) / fabs(u[k]);
    } else { /* along the edge, or over the face that it is inclined to */
        if (toward == 0 || toward == 7) {
            return -1;
        }
        *way = toward & (toward - 1) ? -1 : 1;
        over = *way < 0 ? 7 - toward : toward;
        k = over >> 1; /* its axis */
        if (u[k] * u[k] <= 0.5 * v3_dot(u, u)) {
            *way = -*way;
            over = 7 - over;
        }
    }
    far = v3_min(far, 1 - *way * at->s);
    for (int i = 0; i < 3; i++) {
        far = over >> i & 1 ? v3_min(far, 2 * h[i] / fabs(u[i])) : far;
    }
    return far;
}

static void capsule_box_in_mujoco(const collide_solid *a, const collide_solid *b, const double p[3],
                                  const double u[3], collide_sink *sink)
{
    nearest at = {.d2 = INFINITY};
    for (int end = -1; end <= 1; end += 2) {
        nearest it = {0, end, 0, -1, 0, 2};
        int outside = 0;
        for (int i = 0; i < 3; i++) {
            double e = excess(p[i] + end * u[i], b->size[i]);
            it.d2 += e * e;
            it.axis = e != 0 ? i : it.axis;
            outside += e != 0;
        }
        at = outside < 2 && it.d2 < at.d2 ? it : at;
    }
    for (int k = 0; k < 24; k++) {
        if (!(k % 8 >> k / 8 & 1)) {
            try_edge(p, u, b->size, k / 8, k % 8, &at);
        }
    }
    const uint32_t salt = sink->salt;
    double way = 0, far = at.d2 < INFINITY ? second_way(&at, p, u, b->size, &way) : -1;
    for (uint32_t k = 0; k < (far < 0 ? 1U : 2U); k++) {
        collide_solid ball = *a;
        for (int i = 0; i < 3; i++) {
            ball.t[i] += (at.s + k * way * far) * a->size[1] * a->R[3 * i + 2];
        }
        sink->salt = salt ^ (COLLIDE_MUJOCO + k);
        collide_sphere(&ball, b, sink);
    }
    sink->salt = salt;
}

void collide_capsule_box(const collide_solid *a, const collide_solid *b, collide_sink *sink)
{
    static const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const double axis[3] = {a->R[2], a->R[5], a->R[8]}, point[3] = {0, 0, 0};
    double p[3], e[3], u[3], n[3], to[3] = {-b->t[0], -b->t[1], -b->t[2]};
    v3_turn_back(p, b->R, to);
    v3_turn_back(e, b->R, axis);
    v3_set(u, a->size[1] * e[0], a->size[1] * e[1], a->size[1] * e[2]);
    if (sink->choice == COLLIDE_MUJOCO) {
        capsule_box_in_mujoco(a, b, p, u, sink);
        return;
    }
    /* in the frame of the box, with the segment as a box of zero width: its support along l is
     * |l.u| */
    axes x = {b->size, point, one, p, -INFINITY, {0, 0, 1}};
    for (int k = 0; k < 6; k++) {
        double l[3] = {0, 0, 0};
        int i = k % 3, i1 = (i + 1) % 3, i2 = (i + 2) % 3;
        if (k < 3) {
            l[i] = 1;
        } else {
            double length = sqrt(e[i1] * e[i1] + e[i2] * e[i2]);
            if (!(length > 1e-12)) {
                continue;
            }
            l[i1] = -e[i2] / length;
            l[i2] = e[i1] / length;
        }
        score(&x, l, fabs(v3_dot(l, u)), 1e-13 * (a->extent + b->extent));
        if (x.best - a->radius > sink->margin) {
            return;
        }
    }
    if (x.best > 0 && apart(a, b, p, u, x.best, sink)) {
        return;
    }
    v3_scale(x.n, -1); /* from the segment to the box */
    v3_turn(n, b->R, x.n);
    if (!collide_manifold(a, b, n, x.best - a->radius, NULL, 1, sink)) {
        collide_convex(a, b, sink);
    }
}

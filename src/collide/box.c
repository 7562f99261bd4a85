/* Two boxes, or a capsule and a box, by the separating axes.
 *
 * The difference of two boxes has faces of three kinds only: faces of a, faces of b, and
 * parallelograms of an edge of each. So when they overlap the largest gap(n) is at one of 3 + 3 + 9
 * directions. Each is scored by the full support of both boxes, so an inaccurate direction, from
 * nearly parallel edges, only gets a lower score, never a wrong one.
 *
 * MuJoCo takes a face unless a pair of edges has a gap larger by a twentieth, and of edges one
 * point (COLLIDE_MUJOCO; found by comparing its points of 20 000 pairs with ours).
 *
 * When they are apart the largest of these gaps is a lower bound of the distance, and equal to it
 * if the manifold has a point with that gap; if not, the nearest features are corners or edges, and
 * the general routine (convex.c) finds them.
 *
 * The difference of a box and a segment has the faces of the box, and parallelograms of the segment
 * and an edge: six directions. Apart, the distance of the box from the points of the segment,
 *     f(s) = sum over i of (excess of |p_i + s u_i| over h_i)^2 / 2,
 * is convex; its slope grows in straight pieces between the at most six places where a coordinate
 * enters or leaves the box, and is zero where the nearest point is. */
#include "collide/inner.h"

#define MORE 0.05 /* of the gap along a face: MuJoCo's edges have to exceed that by so much */

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
    if (as_mujoco && x.best <= face.best + MORE * fabs(face.best)) {
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

void collide_capsule_box(const collide_solid *a, const collide_solid *b, collide_sink *sink)
{
    static const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const double axis[3] = {a->R[2], a->R[5], a->R[8]}, point[3] = {0, 0, 0};
    double p[3], e[3], u[3], n[3], to[3] = {-b->t[0], -b->t[1], -b->t[2]};
    v3_turn_back(p, b->R, to);
    v3_turn_back(e, b->R, axis);
    v3_set(u, a->size[1] * e[0], a->size[1] * e[1], a->size[1] * e[2]);
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

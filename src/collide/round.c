/* Spheres, capsules and planes among themselves, from their poses alone: most robots are made of
 * these. Positions are relative to that of the first shape.
 *
 * Two capsules are two segments and a radius. Their points are the projections of each of the four
 * ends onto the other segment, where these are inside it, and the nearest pair of the segments, if
 * it is none of these. Each has its own distance and normal. So parallel capsules have a point at
 * either end of their overlap, and a small rotation moves the points only a little.
 *
 * MuJoCo has the nearest pair alone, if the square of the cross product of the half axes is at
 * least 1e-15 m^4. Else the ends of the first are points, with their nearest on the second; and if
 * one of these is too far, those of the second, until there are two.
 */
#include "collide/inner.h"

typedef struct segments {
    double u[3], q[3], v[3]; /* s u, q + t v; s, t in -1..1 */
    double uu, vv, uv, uq, vq;
    double radius, ra, half[2], far2; /* far2: square of the largest distance of a contact point */
} segments;

static void emit(const segments *g, double s, double t, uint32_t feature, collide_sink *sink)
{
    double x[3] = {s * g->u[0], s * g->u[1], s * g->u[2]}, n[3];
    for (int i = 0; i < 3; i++) {
        n[i] = g->q[i] + t * g->v[i] - x[i];
    }
    if (v3_dot(n, n) > g->far2) {
        return;
    }
    double d = v3_unit(n);
    if (!(d > 1e-14 * (g->half[0] + g->half[1]))) { /* the axes intersect: normal to both */
        d = 0;
        v3_cross(n, g->u, g->v);
        if (!(v3_unit(n) > 1e-12 * g->half[0] * g->half[1])) {
            double e[3], f[3] = {0, 0, 1};
            v3_copy(e, g->half[0] > 0 ? g->u : g->half[1] > 0 ? g->v : f);
            v3_unit(e);
            v3_frame(e, n, f);
        }
    }
    double gap = d - g->radius;
    v3_add(x, x, g->ra + 0.5 * gap, n);
    collide_emit(sink, x, n, gap, feature);
}

static double inside(double s)
{
    return s < -1 ? -1 : s > 1 ? 1 : s;
}

/* The nearest pair of s u and q + t v; 1: the segments are parallel, and it is not unique. */
static int nearest(const segments *g, double *s, double *t)
{
    double c[3];
    v3_cross(c, g->u, g->v);
    double det = v3_dot(c, c);
    int parallel = !(det > 1e-24 * g->uu * g->vv);
    *s = parallel ? 0 : inside((g->vv * g->uq - g->uv * g->vq) / det);
    *t = g->vv > 0 ? inside((g->uv * *s - g->vq) / g->vv) : 0;
    *s = g->uu > 0 ? inside((g->uv * *t + g->uq) / g->uu) : 0;
    return parallel;
}

/* The ends of equal segments side by side give one point, not two: so a projection onto a may be
 * slightly beyond its end (and is then the end), one onto b may not. */
static void ends(const segments *g, double s, double t, int parallel, collide_sink *sink)
{
    double hair = 1e-9 * (g->half[0] + g->half[1]);
    int listed = 0, any = 0;
    for (int k = 0; k < 2; k++) {
        double e = k ? -1 : 1;
        double on_a = g->uu > 0 ? (g->uv * e + g->uq) / g->uu : 2;
        double on_b = g->vv > 0 ? (g->uv * e - g->vq) / g->vv : 2;
        if (g->uu > 0 && (k == 0 || g->vv > 0) && (fabs(on_a) - 1) * g->half[0] <= hair) {
            emit(g, inside(on_a), e, (uint32_t)k, sink);
            listed |= t == e;
            any = 1;
        }
        if (g->vv > 0 && (k == 0 || g->uu > 0) && (fabs(on_b) - 1) * g->half[1] < -hair) {
            emit(g, e, on_b, 2 + (uint32_t)k, sink);
            listed |= s == e;
            any = 1;
        }
    }
    if (!listed && !(parallel && any)) {
        emit(g, s, t, 4 + (uint32_t)((s < 0) + 2 * (t < 0)), sink);
    }
}

static void ends_in_mujoco(const segments *g, double s, double t, collide_sink *sink)
{
    double det = g->uu * g->vv - g->uv * g->uv;
    if (fabs(det) >= 1e-15 || !(g->uu > 0 && g->vv > 0)) {
        emit(g, s, t, COLLIDE_MUJOCO + 4, sink);
        return;
    }
    for (uint32_t k = 0; k < 4 && (k < 2 || sink->count < 2); k++) {
        double e = k % 2 ? -1 : 1;
        s = k < 2 ? e : inside((g->uv * e + g->uq) / g->uu);
        t = k < 2 ? inside((g->uv * e - g->vq) / g->vv) : e;
        emit(g, s, t, COLLIDE_MUJOCO + k, sink);
    }
}

static double half_of(const collide_shape *shape)
{
    return shape->kind == COLLIDE_SPHERE ? 0 : fabs(shape->size[1]);
}

static segments segments_of(const collide_shape *a, const collide_pose *at_a,
                            const collide_shape *b, const collide_pose *at_b)
{
    segments g = {.half = {half_of(a), half_of(b)}, .ra = fabs(a->size[0])};
    for (int i = 0; i < 3; i++) {
        g.q[i] = at_b->pos[i] - at_a->pos[i];
        g.u[i] = at_a->R[3 * i + 2] * g.half[0];
        g.v[i] = at_b->R[3 * i + 2] * g.half[1];
    }
    g.uu = v3_dot(g.u, g.u);
    g.vv = v3_dot(g.v, g.v);
    g.uv = v3_dot(g.u, g.v);
    g.uq = v3_dot(g.u, g.q);
    g.vq = v3_dot(g.v, g.q);
    g.radius = g.ra + fabs(b->size[0]);
    return g;
}

static void capsules(const collide_shape *a, const collide_pose *at_a, const collide_shape *b,
                     const collide_pose *at_b, collide_sink *sink)
{
    segments g = segments_of(a, at_a, b, at_b);
    double far = g.radius + sink->margin, s, t, n[3];
    g.far2 = far > 0 ? far * far * (1 + 1e-9) : 0;
    int parallel = nearest(&g, &s, &t);
    for (int i = 0; i < 3; i++) {
        n[i] = g.q[i] + t * g.v[i] - s * g.u[i];
    }
    if (v3_dot(n, n) > g.far2) {
        return;
    }
    if (sink->choice == COLLIDE_MUJOCO) {
        ends_in_mujoco(&g, s, t, sink);
    } else {
        ends(&g, s, t, parallel, sink);
    }
}

/* By the nearest point of the axis of b. For a centre on the axis the normal is b's x axis. */
static void sphere_capsule(const collide_shape *a, const collide_pose *at_a, const collide_shape *b,
                           const collide_pose *at_b, collide_sink *sink)
{
    double half = half_of(b), n[3], along;
    double ra = fabs(a->size[0]), radius = ra + fabs(b->size[0]), far = radius + sink->margin;
    const double axis[3] = {at_b->R[2], at_b->R[5], at_b->R[8]};
    v3_sub(n, at_b->pos, at_a->pos);
    along = -v3_dot(n, axis);
    if (along > half || along < -half) {
        v3_add(n, n, along < 0 ? -half : half, axis);
    } else { /* orthogonalised twice, in case the remainder is short */
        v3_add(n, n, along, axis);
        v3_add(n, n, -v3_dot(n, axis), axis);
    }
    if (v3_dot(n, n) > far * far * (1 + 1e-9)) {
        return;
    }
    double d = v3_unit(n);
    if (!(d > 1e-15 * fabs(along))) {
        d = 0;
        v3_set(n, -at_b->R[0], -at_b->R[3], -at_b->R[6]);
    }
    double gap = d - radius, way = ra + 0.5 * gap;
    const double x[3] = {way * n[0], way * n[1], way * n[2]};
    collide_emit(sink, x, n, gap, 0);
}

/* Both ends of a capsule, the centre of a sphere. */
static void on_plane(const collide_pose *at_a, const collide_shape *b, const collide_pose *at_b,
                     collide_sink *sink)
{
    const double n[3] = {at_a->R[2], at_a->R[5], at_a->R[8]};
    double half = half_of(b), radius = fabs(b->size[0]);
    double to[3], u[3], x[3];
    v3_sub(to, at_b->pos, at_a->pos);
    v3_set(u, half * at_b->R[2], half * at_b->R[5], half * at_b->R[8]);
    double height = v3_dot(n, to), rise = v3_dot(n, u);
    for (int k = 0; k < (b->kind == COLLIDE_SPHERE ? 1 : 2); k++) {
        double side = k ? -1 : 1, gap = height + side * rise - radius;
        if (gap <= sink->margin) {
            v3_add(x, to, side, u);
            v3_add(x, x, -(radius + 0.5 * gap), n);
            collide_emit(sink, x, n, gap, (uint32_t)k);
        }
    }
}

void collide_round(const collide_shape *a, const collide_pose *at_a, const collide_shape *b,
                   const collide_pose *at_b, collide_sink *sink)
{
    if (a->kind == COLLIDE_PLANE) {
        on_plane(at_a, b, at_b, sink);
    } else if (a->kind == COLLIDE_SPHERE) {
        sphere_capsule(a, at_a, b, at_b, sink);
    } else {
        capsules(a, at_a, b, at_b, sink);
    }
}

double collide_clearance(const collide_shape *a, const collide_pose *at_a, const collide_shape *b,
                         const collide_pose *at_b)
{
    if (b->kind == COLLIDE_PLANE) {
        return a->kind == COLLIDE_PLANE ? INFINITY : collide_clearance(b, at_b, a, at_a);
    }
    if (a->kind == COLLIDE_PLANE) {
        const double n[3] = {at_a->R[2], at_a->R[5], at_a->R[8]};
        const double axis[3] = {at_b->R[2], at_b->R[5], at_b->R[8]};
        double to[3];
        v3_sub(to, at_b->pos, at_a->pos);
        return v3_dot(n, to) - half_of(b) * fabs(v3_dot(n, axis)) - fabs(b->size[0]);
    }
    segments g = segments_of(a, at_a, b, at_b);
    double s, t, n[3];
    nearest(&g, &s, &t);
    for (int i = 0; i < 3; i++) {
        n[i] = g.q[i] + t * g.v[i] - s * g.u[i];
    }
    return sqrt(v3_dot(n, n)) - g.radius;
}

/* Two capsules: two segments and a radius.
 *
 * The points are the nearest of each of the four ends on the other segment, where the foot is
 * inside, and the nearest pair of the segments, if it is none of these. Each is a true distance of
 * its own with a normal of its own. Parallel capsules so have a point at either end of their
 * overlap, and turning one a little moves the points a little. */
#include "collide/inner.h"

typedef struct segments {
    double p[3], u[3], q[3], v[3]; /* p + s u, q + t v; s, t in -1..1 */
    double radius, half[2];
} segments;

static void emit(const collide_solid *a, const segments *g, double s, double t, uint32_t feature,
                 collide_sink *sink)
{
    double x[3], y[3], n[3];
    v3_add(x, g->p, s, g->u);
    v3_add(y, g->q, t, g->v);
    v3_sub(n, y, x);
    double d = v3_unit(n);
    if (!(d > 1e-14 * (g->half[0] + g->half[1]))) { /* the axes cross: across both */
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
    v3_add(x, x, a->radius + 0.5 * gap, n);
    collide_emit(sink, x, n, gap, feature);
}

static double inside(double s)
{
    return s < -1 ? -1 : s > 1 ? 1 : s;
}

/* The nearest pair of p + s u and q + t v; 1: they are parallel, it is one of many. */
static int nearest(const segments *g, double *s, double *t)
{
    double w[3], c[3];
    v3_sub(w, g->p, g->q);
    double uu = v3_dot(g->u, g->u), vv = v3_dot(g->v, g->v), uv = v3_dot(g->u, g->v);
    double uw = v3_dot(g->u, w), vw = v3_dot(g->v, w);
    v3_cross(c, g->u, g->v);
    double det = v3_dot(c, c);
    int parallel = !(det > 1e-24 * uu * vv);
    *s = parallel ? 0 : inside((uv * vw - vv * uw) / det);
    *t = vv > 0 ? inside((uv * *s + vw) / vv) : 0;
    *s = uu > 0 ? inside((uv * *t - uw) / uu) : 0;
    return parallel;
}

/* Ends of equal segments side by side are one point, not two: so a foot on a may be beyond the end
 * by a hair (and is then the end), one on b not. */
void collide_capsules(const collide_solid *a, const collide_solid *b, collide_sink *sink)
{
    segments g = {.radius = a->radius + b->radius, .half = {a->size[1], b->size[1]}};
    for (int i = 0; i < 3; i++) {
        g.p[i] = a->t[i];
        g.q[i] = b->t[i];
        g.u[i] = a->R[3 * i + 2] * a->size[1];
        g.v[i] = b->R[3 * i + 2] * b->size[1];
    }
    double s, t, w[3], hair = 1e-9 * (a->size[1] + b->size[1]);
    int parallel = nearest(&g, &s, &t), listed = 0, any = 0;
    double uu = v3_dot(g.u, g.u), vv = v3_dot(g.v, g.v), uv = v3_dot(g.u, g.v);
    v3_sub(w, g.q, g.p);
    for (int k = 0; k < 2; k++) {
        double e = k ? -1 : 1;
        double on_a = uu > 0 ? (uv * e + v3_dot(g.u, w)) / uu : 2;
        double on_b = vv > 0 ? (uv * e - v3_dot(g.v, w)) / vv : 2;
        if (uu > 0 && (k == 0 || vv > 0) && (fabs(on_a) - 1) * a->size[1] <= hair) {
            emit(a, &g, inside(on_a), e, (uint32_t)k, sink);
            listed |= t == e;
            any = 1;
        }
        if (vv > 0 && (k == 0 || uu > 0) && (fabs(on_b) - 1) * b->size[1] < -hair) {
            emit(a, &g, e, on_b, 2 + (uint32_t)k, sink);
            listed |= s == e;
            any = 1;
        }
    }
    if (!listed && !(parallel && any)) {
        emit(a, &g, s, t, 4 + (uint32_t)((s < 0) + 2 * (t < 0)), sink);
    }
}

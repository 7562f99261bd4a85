/* Two convex shapes: the contact normal, by distance if they are apart and by overlap if not. */
#include "collide/inner.h"

#define ROUGHLY 0.9 /* accuracy of a distance where only a bound is needed */

void collide_between(const collide_apex *s, int count, collide_apex *out)
{
    double weight[3] = {1, 0, 0};
    *out = s[0];
    if (count == 2) {
        double d[3];
        v3_sub(d, s[1].w, s[0].w);
        double dd = v3_dot(d, d), part = dd > 0 ? -v3_dot(d, s[0].w) / dd : 0;
        weight[1] = part < 0 ? 0 : part > 1 ? 1 : part;
        weight[0] = 1 - weight[1];
    } else if (count >= 3) {
        double u[3], v[3], n[3], c[3], sum = 0;
        v3_sub(u, s[1].w, s[0].w);
        v3_sub(v, s[2].w, s[0].w);
        v3_cross(n, u, v);
        for (int k = 0; k < 3; k++) {
            v3_cross(c, s[(k + 1) % 3].w, s[(k + 2) % 3].w);
            weight[k] = v3_max(v3_dot(n, c), 0);
            sum += weight[k];
        }
        for (int k = 0; k < 3; k++) {
            weight[k] = sum > 0 ? weight[k] / sum : 1.0 / 3;
        }
    }
    for (int i = 0; i < 3; i++) {
        out->a[i] = out->b[i] = 0;
        for (int k = 0; k < (count < 3 ? count : 3); k++) {
            out->a[i] += weight[k] * s[k].a[i];
            out->b[i] += weight[k] * s[k].b[i];
        }
    }
}

int collide_direction(const collide_solid *a, const collide_solid *b, double margin, double share,
                      double n[3], double *gap, collide_apex *witness)
{
    collide_apex simplex[4], other;
    double radius = a->radius + b->radius, scale = a->extent + b->extent, m[3];
    int count, found = 1, sure = 0, bent = collide_curved(a) || collide_curved(b);
    *gap = -INFINITY;
    /* Newton's method finishes nearby answers; only if it cannot prove convergence is GJK run to
     * the end */
    for (double near = bent ? 2e-4 : 1e-13; near > 0 && !sure; near = near > 1e-13 ? 1e-13 : 0) {
        found = collide_gjk(a, b, margin + radius, share, near, simplex, &count, m, &other);
        if (found == 2) {
            *gap = share > 0 ? collide_gap(a, b, m) : margin;
            return 0;
        }
        if (found == 0) {
            break;
        }
        double here = collide_refine(a, b, simplex, count, m, &other, &sure);
        if (here >= *gap) {
            *gap = here;
            v3_copy(n, m);
            *witness = other;
        }
    }
    /* for touching cores both distance and overlap are tried, unless two points prove separation */
    if (found == 0 || *gap + radius < (sure ? 1e-10 : 1e-7) * scale) {
        v3_set(m, 0, 0, 1);
        double depth = collide_epa(a, b, simplex, count, m, &other);
        if (!(depth <= *gap + 1e-14 * scale)) {
            *gap = depth;
            v3_copy(n, m);
            *witness = other;
        }
    }
    return *gap <= margin;
}

double collide_apart(const collide_solid *a, const collide_solid *b)
{
    collide_apex simplex[4], pair;
    double n[3];
    int count;
    return collide_gjk(a, b, 0, ROUGHLY, 1 - ROUGHLY, simplex, &count, n, &pair) == 0
               ? -1
               : collide_gap(a, b, n);
}

/* ---- A capsule and a cylinder or a hull, as MuJoCo sees them ----------------------------------
 *
 * The deepest point, and those that become it when the first shape is turned by a thousandth of a
 * radian, and the second back, about both axes across the normal and in both senses, unless they
 * are as near to one of the others as that. Their gap is that of the first. */

/* The deepest point, half way between the surfaces. */
static int deepest(const collide_solid *a, const collide_solid *b, double margin, double n[3],
                   double *gap, double pos[3])
{
    collide_apex at;
    int found = collide_direction(a, b, margin, 0, n, gap, &at);
    for (int i = 0; i < 3 && found; i++) {
        pos[i] = 0.5 * (at.a[i] + at.b[i] + (a->radius - b->radius) * n[i]);
    }
    return found;
}

/* Turned by a thousandth of a radian about an axis through a point. */
static collide_solid turned(const collide_solid *from, const double axis[3], double side,
                            const double point[3])
{
    collide_solid to = *from;
    double d[3];
    v3_sub(d, from->t, point);
    for (int i = 0; i < 3; i++) { /* q: a row of the rotation */
        double e[3] = {0}, q[3];
        e[i] = side * (1e-3 - 1e-9 / 6); /* sine, and below cosine - 1 */
        v3_cross(q, e, axis);
        v3_add(q, q, 5e-7 * axis[i], axis);
        q[i] += 1 - 5e-7;
        v3_turn_back(to.R + 3 * i, from->R, q);
        to.t[i] = point[i] + v3_dot(q, d);
    }
    return to;
}

static void convex_in_mujoco(const collide_solid *a, const collide_solid *b, collide_sink *sink)
{
    double n[3], gap = 0, other, at[5][3], axis[2][3] = {{0, 1, 0}};
    /* of the half lengths: a hull's are along its axes of inertia */
    double around = b->kind == COLLIDE_HULL ? v3_length(b->size) : b->extent;
    double near = 1e-3 * v3_min(a->extent + a->radius, around);
    const uint32_t salt = sink->salt;
    int count = 0;
    for (int k = -1; k < 4; k++) {
        collide_solid turned_a = *a, turned_b = *b;
        if (k >= 0) {
            turned_a = turned(a, axis[k / 2], k % 2 ? 1 : -1, at[0]);
            turned_b = turned(b, axis[k / 2], k % 2 ? -1 : 1, at[0]);
        }
        int is_new = deepest(&turned_a, &turned_b, sink->margin, n, &other, at[count]);
        if (k < 0 && !is_new) {
            return;
        }
        for (int i = 0; i < count; i++) {
            double d[3];
            v3_sub(d, at[i], at[count]);
            is_new = is_new && v3_dot(d, d) > near * near;
        }
        gap = k < 0 ? other : gap;
        if (is_new) {
            sink->salt = salt ^ COLLIDE_MUJOCO;
            collide_emit(sink, at[count++], n, gap, (uint32_t)k + 1);
            sink->salt = salt;
        }
        if (k < 0) { /* the axes across the normal, as in contact frames */
            if (fabs(n[1]) >= 0.5) {
                v3_set(axis[0], 0, 0, 1);
            }
            v3_add(axis[0], axis[0], -v3_dot(axis[0], n), n);
            v3_unit(axis[0]);
            v3_cross(axis[1], n, axis[0]);
        }
    }
}

void collide_convex(const collide_solid *a, const collide_solid *b, collide_sink *sink)
{
    double n[3], gap;
    collide_apex witness;
    if (sink->choice == COLLIDE_MUJOCO && a->kind == COLLIDE_CAPSULE &&
        (b->kind == COLLIDE_CYLINDER || b->kind == COLLIDE_HULL)) {
        convex_in_mujoco(a, b, sink);
        return;
    }
    if (collide_direction(a, b, sink->margin, sink->apart ? ROUGHLY : 0, n, &gap, &witness)) {
        collide_manifold(a, b, n, gap, &witness, 0, sink);
    } else if (sink->apart) {
        *sink->apart = gap;
    }
}

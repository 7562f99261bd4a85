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

void collide_convex(const collide_solid *a, const collide_solid *b, collide_sink *sink)
{
    double n[3], gap;
    collide_apex witness;
    if (collide_direction(a, b, sink->margin, sink->apart ? ROUGHLY : 0, n, &gap, &witness)) {
        collide_manifold(a, b, n, gap, &witness, 0, sink);
    } else if (sink->apart) {
        *sink->apart = gap;
    }
}

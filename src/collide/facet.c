/* A triangle of the ground with a convex shape.
 *
 * The direction n of least distance is the contact normal if it is the triangle's own normal, or a
 * normal of the ground at that edge or corner: over a ridge all directions between the normals of
 * the two triangles, at the border of the ground all that point to the front. Any other n is an
 * artefact of dividing the ground into triangles (a ghost contact): then the normal of the triangle
 * is used, with points where the shape is over (or in) the triangle itself. But at a corner from
 * which the ground falls on all sides, or rises only along a ridge, n is a normal of the ground
 * although not of this triangle: the triangles of the ridge produce the points, and points along
 * this triangle's normal would stop a plate that slides on a ridge. */
#include <string.h>

#include "collide/ground.h"

/* Is n a normal of the ground at the corners of the triangle that support it? */
static int real_direction(const collide_facet *f, const double *corner, const double n[3])
{
    double level[3], most = -INFINITY, size = 0;
    for (int k = 0; k < 3; k++) {
        level[k] = v3_dot(n, corner + 3 * k);
        most = v3_max(most, level[k]);
        size = v3_max(size, v3_length(corner + 3 * k));
    }
    double up = v3_dot(n, f->normal);
    if (up > 1 - 1e-14) {
        return 1;
    }
    if (f->solid && up <= 0) {
        return 0;
    }
    int between = 0; /* over a ridge */
    for (int k = 0; k < 3; k++) {
        int j = (k + 1) % 3;
        if (v3_max(level[k], level[j]) < most - 1e-9 * size) {
            continue; /* the nearest point is not on this edge */
        }
        double e[3], out[3];
        v3_sub(e, corner + 3 * j, corner + 3 * k);
        v3_cross(out, e, f->normal); /* in the triangle's plane, away from it */
        v3_unit(out);
        double lean = v3_dot(n, out), b_up = v3_dot(f->beyond[k], f->normal);
        double b_lean = v3_dot(f->beyond[k], out);
        int border = v3_dot(f->beyond[k], f->beyond[k]) == 0;
        if (lean > 1e-9 && (border ? up < 0 : b_lean < 1e-9 || b_lean * up - b_up * lean < -1e-9)) {
            return 0;
        }
        between |= lean > 1e-9;
    }
    return up > 0 || between;
}

/* Is the edge from `at` to p a ridge between the two neighbouring corners? */
static int is_ridge(const double at[3], const double before[3], const double p[3],
                    const double after[3])
{
    double e[3], f[3], g[3], n[3];
    v3_sub(e, before, at);
    v3_sub(f, p, at);
    v3_sub(g, after, at);
    v3_cross(n, e, f);
    return v3_unit(n) > 0 && v3_dot(n, g) < -1e-9 * v3_length(g);
}

static int is_summit(const collide_facet *f, const double *corner, const double n[3])
{
    double most = -INFINITY, ring[COLLIDE_RING][3];
    int top = 0;
    for (int k = 0; k < 3; k++) {
        double level = v3_dot(n, corner + 3 * k);
        top = level > most ? k : top;
        most = v3_max(most, level);
    }
    const double *at = f->corner + 3 * top;
    int count = f->ring(f->ground, f->number, top, ring), last = count - 1;
    int closed = count > 1 && memcmp(ring[0], ring[last], sizeof ring[0]) == 0;
    for (int k = 0; k < (closed ? last : count); k++) {
        double way[3];
        v3_sub(way, ring[k], at);
        if (v3_dot(n, way) > 1e-9 * v3_length(way) &&
            !((closed || (k > 0 && k < last)) &&
              is_ridge(at, ring[k > 0 ? k - 1 : last - 1], ring[k], ring[k + 1]))) {
            return 0;
        }
    }
    return count > 0;
}

/* The distances of a point from the edges: positive inside the triangle, seen along its normal. */
static void inward(const collide_facet *f, const double p[3], double in[3][3], double away[3])
{
    for (int k = 0; k < 3; k++) {
        double e[3], to[3];
        v3_sub(e, f->corner + 3 * ((k + 1) % 3), f->corner + 3 * k);
        v3_sub(to, p, f->corner + 3 * k);
        v3_cross(in[k], f->normal, e);
        away[k] = v3_dot(in[k], to);
    }
}

/* The point of the triangle nearest to p: the projection, if it is inside; else a point of the
 * edges.
 */
static void nearest_on(const collide_facet *f, const double p[3], double out[3])
{
    double in[3][3], away[3], least = INFINITY, to[3];
    inward(f, p, in, away);
    if (away[0] >= 0 && away[1] >= 0 && away[2] >= 0) {
        v3_sub(to, p, f->corner);
        v3_add(out, p, -v3_dot(f->normal, to), f->normal);
        return;
    }
    for (int k = 0; k < 3; k++) {
        const double *c = f->corner + 3 * k;
        double e[3], x[3], d[3];
        if (away[k] >= 0) {
            continue; /* p is not beyond this edge */
        }
        v3_sub(e, f->corner + 3 * ((k + 1) % 3), c);
        v3_sub(to, p, c);
        double ee = v3_dot(e, e), part = ee > 0 ? v3_dot(e, to) / ee : 0;
        v3_add(x, c, v3_max(0, v3_min(1, part)), e);
        v3_sub(d, p, x);
        if (v3_dot(d, d) < least) {
            least = v3_dot(d, d);
            v3_copy(out, x);
        }
    }
}

/* Are they separated already along the line from the centre of the shape to its nearest point? */
static int apart(const collide_solid *a, const collide_solid *b, double margin)
{
    double n[3];
    v3_sub(n, b->t, a->t);
    return v3_unit(n) > 0 && collide_gap(a, b, n) > margin;
}

void collide_facet_pair(const collide_facet *f, const collide_solid *b, collide_sink *sink)
{
    double corner[9], n[3], back[3] = {-f->normal[0], -f->normal[1], -f->normal[2]}, gap;
    collide_solid a = {.kind = COLLIDE_TRIANGLE, .R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    nearest_on(f, b->t, a.t); /* gives the search a good first direction */
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            corner[3 * k + i] = f->corner[3 * k + i] - a.t[i];
        }
    }
    for (int k = 0; k < 3; k++) {
        a.extent = v3_max(a.extent, v3_length(corner + 3 * k));
    }
    a.corner = corner;

    /* From the front only: at least half of the shape must be there. */
    double low[3], high[3];
    int id;
    collide_support(b, back, low, &id);
    collide_support(b, f->normal, high, &id);
    double level = v3_dot(f->normal, f->corner);
    double bottom = v3_dot(f->normal, low) - level, top = v3_dot(f->normal, high) - level;
    if (bottom - b->radius > sink->margin || (!f->solid && bottom + top < 0)) {
        return;
    }
    if (sink->count > sink->capacity / 2 && sink->count <= sink->capacity) {
        sink->count = collide_thin(sink->point, sink->count, sink->capacity / 2);
    }
    int first = sink->count;
    collide_apex witness;
    sink->salt = f->number * 2654435761u;
    double in[3][3], away[3];
    inward(f, low, in, away);
    /* a lowest point over the triangle is the nearest one, along the normal */
    if (f->deep || (away[0] > 0 && away[1] > 0 && away[2] > 0)) {
        witness = (collide_apex){.ia = 0, .ib = id};
        v3_copy(witness.b, low);
        v3_add(witness.a, low, -bottom, f->normal);
        collide_manifold(&a, b, f->normal, bottom - b->radius, &witness, 0, sink);
    } else if (!apart(&a, b, sink->margin) &&
               collide_direction(&a, b, sink->margin, 0, n, &gap, &witness)) {
        if (v3_dot(n, f->normal) > 1 - 1e-14) {
            double flush = bottom - b->radius, hair = 1e-12 * (a.extent + b->extent + b->radius);
            v3_copy(n, f->normal);
            gap = fabs(gap - flush) <= hair ? flush
                                            : gap; /* the same for all triangles in one plane */
        }
        if (real_direction(f, corner, n)) {
            collide_manifold(&a, b, n, gap, &witness, 0, sink);
        } else if (!is_summit(f, corner, n)) {
            collide_manifold(&a, b, f->normal, bottom - b->radius, NULL, 0, sink);
        }
    }
    collide_drop_twins(sink, 0, first, 1e-9 * (a.extent + b->extent + b->radius));
    sink->salt = 0;
}

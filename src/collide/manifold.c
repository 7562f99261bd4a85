/* All points of a contact, from the two supporting polygons around its normal.
 *
 * Both polygons are seen along n, as shadows in the plane across n. A line along n through the
 * overlap of the shadows passes the surface of a at height z_a and that of b at height z_b; their
 * gap there is z_b - z_a, linear over the overlap and so least and largest at its corners. These
 * corners are the points. None has less than gap(n), since that is the least over all lines; and
 * they come and go at the margin, not at some angle.
 *
 * A corner of the overlap is identified by the two edges that meet in it, so its feature number
 * persists as long as it is the same corner. Shadows of two edges cross in one point; where they
 * are nearly parallel (two rollers side by side), the lateral offset matters: between surfaces of
 * radii with the sum r, an offset d adds d^2 / 2r to the gap. */
#include "collide/inner.h"

enum { CORNERS = 2 * COLLIDE_POLYGON, OTHER = 0x4000 };

typedef struct corner {
    double x, y;
    int edge; /* the edge that starts here: of a, or OTHER + that of b */
} corner;

typedef struct shadow {
    const collide_solid *a, *b;
    double e[3], f[3], n[3], gap, tiny, near, hair;
    /* tolerances. tiny: distance from a line; near: equal positions; hair: equal gaps */
    collide_polygon p, q;
    double least; /* gap of the points so far */
    collide_sink *sink;
} shadow;

static uint32_t name(int of_a, int of_b)
{
    return (uint32_t)of_a << 16 | ((uint32_t)of_b & 0xffff);
}

static void put(shadow *s, double x, double y, double za, double zb, uint32_t feature)
{
    double gap = zb - za - s->a->radius - s->b->radius;
    gap = gap < s->gap ? s->gap : gap;
    s->least = gap < s->least ? gap : s->least;
    double middle = 0.5 * (za + s->a->radius + zb - s->b->radius), pos[3];
    for (int i = 0; i < 3; i++) {
        pos[i] = x * s->e[i] + y * s->f[i] + middle * s->n[i];
    }
    collide_emit(s->sink, pos, s->n, gap, feature);
}

/* The height of a face over (x, y). */
static double height(const shadow *s, const collide_polygon *g, double x, double y)
{
    double from[3];
    for (int i = 0; i < 3; i++) {
        from[i] = g->point[0][i] - x * s->e[i] - y * s->f[i];
    }
    return v3_dot(g->normal, from) / v3_dot(g->normal, s->n);
}

/* Clips a polygon to the inner side of the line from (x0, y0) along (dx, dy). */
static int cut(const shadow *s, corner *c, int count, double x0, double y0, double dx, double dy,
               int edge)
{
    corner kept[CORNERS];
    double length = sqrt(dx * dx + dy * dy), side[CORNERS];
    if (!(length > 0)) {
        return count;
    }
    for (int i = 0; i < count; i++) {
        side[i] = (dx * (c[i].y - y0) - dy * (c[i].x - x0)) / length;
    }
    int n = 0;
    for (int i = 0; i < count && n < CORNERS - 1; i++) {
        int j = i + 1 < count ? i + 1 : 0;
        int in = side[i] >= -s->tiny, next_in = side[j] >= -s->tiny;
        if (in) {
            kept[n++] = c[i];
        }
        if (in != next_in) {
            double part = v3_max(0, v3_min(1, side[i] / (side[i] - side[j])));
            kept[n].x = c[i].x + part * (c[j].x - c[i].x);
            kept[n].y = c[i].y + part * (c[j].y - c[i].y);
            kept[n++].edge = in ? edge : c[i].edge;
        }
    }
    for (int i = 0; i < n; i++) {
        c[i] = kept[i];
    }
    return n;
}

static void flatten(const shadow *s, const collide_polygon *g, int at, double *x, double *y)
{
    *x = v3_dot(s->e, g->point[at]);
    *y = v3_dot(s->f, g->point[at]);
}

static void faces(shadow *s)
{
    corner c[CORNERS];
    int count = s->p.count;
    for (int i = 0; i < count; i++) {
        flatten(s, &s->p, i, &c[i].x, &c[i].y);
        c[i].edge = s->p.id[i] & 0x3fff;
    }
    for (int i = s->q.count - 1; i >= 0 && count > 0; i--) { /* b's face is seen from the back */
        double x0, y0, x1, y1;
        int to = i > 0 ? i - 1 : s->q.count - 1;
        flatten(s, &s->q, i, &x0, &y0);
        flatten(s, &s->q, to, &x1, &y1);
        count = cut(s, c, count, x0, y0, x1 - x0, y1 - y0, OTHER | (s->q.id[i] & 0x3fff));
    }
    for (int i = 0; i < count; i++) {
        const corner *last = &c[i > 0 ? i - 1 : count - 1];
        double dx = c[i].x - last->x, dy = c[i].y - last->y;
        int before = last->edge;
        if (count > 1 && dx * dx + dy * dy <= s->near * s->near) {
            continue; /* a corner that lies on another edge */
        }
        put(s, c[i].x, c[i].y, height(s, &s->p, c[i].x, c[i].y), height(s, &s->q, c[i].x, c[i].y),
            name(before, c[i].edge));
    }
}

/* The part of an edge that is over a face. */
static void edge_face(shadow *s, const collide_polygon *edge, const collide_polygon *face)
{
    double x0, y0, x1, y1, from = 0, to = 1;
    int flip = edge == &s->q; /* then the face belongs to a */
    int from_cut = edge->id[0], to_cut = edge->id[1];
    flatten(s, edge, 0, &x0, &y0);
    flatten(s, edge, 1, &x1, &y1);
    for (int i = 0; i < face->count; i++) {
        int j = i + 1 < face->count ? i + 1 : 0;
        double px, py, qx, qy;
        flatten(s, face, i, &px, &py);
        flatten(s, face, j, &qx, &qy);
        double turn = flip ? 1 : -1, dx = turn * (qx - px), dy = turn * (qy - py);
        double length = sqrt(dx * dx + dy * dy);
        if (!(length > 0)) {
            continue;
        }
        double d0 = (dx * (y0 - py) - dy * (x0 - px)) / length;
        double d1 = (dx * (y1 - py) - dy * (x1 - px)) / length;
        if (d0 < -s->tiny && d1 < -s->tiny) {
            return;
        }
        double part = v3_max(0, v3_min(1, d0 / (d0 - d1)));
        if (d0 < -s->tiny && part > from) {
            from = part;
            from_cut = OTHER | face->id[i];
        } else if (d1 < -s->tiny && part < to) {
            to = part;
            to_cut = OTHER | face->id[i];
        }
    }
    double z0 = v3_dot(s->n, edge->point[0]), z1 = v3_dot(s->n, edge->point[1]);
    double part2 = (to - from) * (to - from) * ((x1 - x0) * (x1 - x0) + (y1 - y0) * (y1 - y0));
    int ends = from <= to ? part2 > s->near * s->near ? 2 : 1 : 0;
    for (int k = 0; k < ends; k++) {
        double part = k ? to : from, x = x0 + part * (x1 - x0), y = y0 + part * (y1 - y0);
        double z = z0 + part * (z1 - z0), other = height(s, face, x, y);
        put(s, x, y, flip ? other : z, flip ? z : other, name(k ? to_cut : from_cut, k));
    }
}

/* A point that is over a face. */
static void point_face(shadow *s, const collide_polygon *point, const collide_polygon *face)
{
    double x, y;
    int flip = point == &s->q;
    flatten(s, point, 0, &x, &y);
    for (int i = 0; i < face->count; i++) {
        double px, py, qx, qy, turn = flip ? 1 : -1;
        flatten(s, face, i, &px, &py);
        flatten(s, face, i + 1 < face->count ? i + 1 : 0, &qx, &qy);
        double dx = turn * (qx - px), dy = turn * (qy - py), length = sqrt(dx * dx + dy * dy);
        if (length > 0 && (dx * (y - py) - dy * (x - px)) / length < -s->tiny) {
            return;
        }
    }
    double z = v3_dot(s->n, point->point[0]), other = height(s, face, x, y);
    put(s, x, y, flip ? other : z, flip ? z : other, name(point->id[0], 0x1000));
}

/* The end X of an edge of a or b, and Y beside it on the edge of the other. The centres of
 * curvature of the two surfaces are R apart when they touch; with a lateral offset `off` of X and Y
 * the surfaces are sqrt((R + z)^2 + off^2) - R apart, along the line of the centres. That line is
 * not used as a normal if it differs from n by more than 60 degrees, as it does where the cores
 * overlap; then there is only a point, along n, if the offset is negligible. */
static void put_round(shadow *s, const double A[3], const double B[3], double round_a,
                      double round_b, uint32_t feature)
{
    double R = round_a + round_b, way[3], normal[3], pos[3];
    v3_sub(way, B, A);
    double z = v3_dot(s->n, way) - s->a->radius - s->b->radius, up = R + z;
    double x = v3_dot(s->e, way), y = v3_dot(s->f, way), off2 = x * x + y * y;
    int tilts = up > 0 && off2 <= 3 * up * up;
    if (!tilts && !(off2 <= 1e-6 * R * R)) {
        return;
    }
    double far = sqrt(up * up + off2);
    double gap = tilts ? (2 * R * z + z * z + off2) / (far + R) : z;
    int is_least = gap <= s->gap + s->hair; /* then its normal is n */
    gap = gap < s->gap ? s->gap : gap;
    s->least = gap < s->least ? gap : s->least;
    for (int i = 0; i < 3; i++) {
        double n = s->n[i], line = (up * n + x * s->e[i] + y * s->f[i]) / far;
        normal[i] = is_least || !tilts ? n : line;
        pos[i] = A[i] + (s->a->radius - round_a) * n + (round_a + 0.5 * gap) * normal[i];
    }
    collide_emit(s->sink, pos, normal, gap, feature);
}

/* Two edges, at least one in a curved surface: the ends of each that are beside the other. They
 * persist while the nearest points move from one end to the other, as happens suddenly where the
 * edges become parallel: a wheel that rocks on the edge of a step. */
static void edges(shadow *s, const collide_polygon *p, const collide_polygon *q)
{
    for (int k = 0; k < 4; k++) {
        const collide_polygon *g = k < 2 ? p : q, *o = k < 2 ? q : p;
        double x, y, x0, y0, x1, y1;
        flatten(s, g, k & 1, &x, &y);
        flatten(s, o, 0, &x0, &y0);
        flatten(s, o, 1, &x1, &y1);
        double dx = x1 - x0, dy = y1 - y0, length2 = dx * dx + dy * dy;
        double part = length2 > 0 ? ((x - x0) * dx + (y - y0) * dy) / length2 : -1;
        double hair = length2 > 0 ? s->tiny / sqrt(length2) : 0;
        if (k < 2 ? part < -hair || part > 1 + hair : part <= hair || part >= 1 - hair) {
            continue;
        }
        double off2 = (x - x0 - part * dx) * (x - x0 - part * dx) +
                      (y - y0 - part * dy) * (y - y0 - part * dy);
        double round_g = g->round[k & 1],
               round_o = o->round[0] + part * (o->round[1] - o->round[0]);
        double round_a = s->a->radius + (k < 2 ? round_g : round_o);
        double round_b = s->b->radius + (k < 2 ? round_o : round_g);
        if (!(off2 <= (round_a + round_b) * (round_a + round_b))) {
            continue;
        }
        double other[3], along[3];
        v3_sub(along, o->point[1], o->point[0]);
        v3_add(other, o->point[0], part, along);
        put_round(s, k < 2 ? g->point[k & 1] : other, k < 2 ? other : g->point[k & 1], round_a,
                  round_b, name(0x2000 + k, g->id[k & 1]));
    }
}

/* The edge of a face that is nearest along the normal; `sign` is -1 if the face is b's, which is
 * above. */
static void nearest_edge(const shadow *s, const collide_polygon *face, double sign,
                         collide_polygon *edge)
{
    int best = 0;
    double most = -INFINITY;
    for (int i = 0; i < face->count; i++) {
        int j = i + 1 < face->count ? i + 1 : 0;
        double z = sign * (v3_dot(s->n, face->point[i]) + v3_dot(s->n, face->point[j]));
        if (z > most) {
            most = z;
            best = i;
        }
    }
    for (int k = 0; k < 2; k++) {
        int i = best + k < face->count ? best + k : 0;
        v3_copy(edge->point[k], face->point[i]);
        edge->id[k] = face->id[i];
    }
    edge->count = 2;
    edge->round[0] = edge->round[1] = 0;
}

/* An edge in a curved surface, and a face: points in the interior of the face, or on its rim, where
 * the normal is tilted from that of the face. */
static void edge_rim(shadow *s, const collide_polygon *edge, const collide_polygon *face)
{
    int flip = edge == &s->q, first = s->sink->count; /* flip: the face belongs to a */
    double across[3], radius = s->a->radius + s->b->radius;
    int inner = 0, rounded = radius + edge->round[0] + edge->round[1] > 0;
    v3_cross(across, s->n, face->normal);
    double tilt = v3_length(across);
    collide_polygon rim;
    nearest_edge(s, face, flip ? 1 : -1, &rim);
    v3_sub(across, rim.point[1], rim.point[0]);
    v3_cross(across, across, s->n);
    v3_unit(across);
    for (int k = 0; k < 2; k++) {
        double from[3];
        v3_sub(from, edge->point[k], rim.point[0]);
        inner |= !(tilt * (radius + edge->round[k]) > fabs(v3_dot(across, from)));
    }
    if (inner) { /* part of it is nearer to the interior of the face */
        edge_face(s, edge, face);
    }
    if (tilt > 1e-9 && rounded) {
        edges(s, flip ? &rim : edge, flip ? edge : &rim);
        collide_drop_twins(s->sink, first, first, s->near);
    }
}

/* Is this a pair of points of the two shapes that differ along n by the gap? */
static int is_pair(const shadow *s, const collide_apex *w, double slack)
{
    double d[3];
    v3_sub(d, w->b, w->a);
    v3_add(d, d, -(s->gap + s->a->radius + s->b->radius), s->n);
    return v3_dot(d, d) <= slack * slack &&
           (s->a->kind == COLLIDE_ELLIPSOID || collide_inside(s->a, w->a, slack)) &&
           (s->b->kind == COLLIDE_ELLIPSOID || collide_inside(s->b, w->b, slack));
}

/* The nearest pair itself. If it is not known (two coplanar faces that share a sliver of a disc),
 * the shapes are moved apart along n, which does not change the pair, and a search finds it. */
static void put_pair(shadow *s, const collide_apex *witness)
{
    double least = v3_min(s->a->extent + s->a->radius, s->b->extent + s->b->radius);
    double slack = 1e-9 * (s->a->extent + s->b->extent), radius = s->a->radius + s->b->radius;
    collide_apex found = *witness, simplex[4];
    if (!is_pair(s, witness, slack)) {
        collide_solid away = *s->b;
        double m[3], by = 1e-3 * least;
        int count;
        v3_add(away.t, away.t, by - s->gap - radius, s->n);
        if (collide_gjk(s->a, &away, INFINITY, 0, 1e-13, simplex, &count, m, &found) != 1) {
            found = *witness;
        }
    }
    double x = v3_dot(s->e, found.a), y = v3_dot(s->f, found.a), z = v3_dot(s->n, found.a);
    put(s, x, y, z, z + s->gap + radius, name(0x3000, 0));
}

int collide_manifold(const collide_solid *a, const collide_solid *b, const double n[3], double gap,
                     const collide_apex *witness, int need_exact, collide_sink *sink)
{
    enum { STEEP = 1000 };
    double back[3] = {-n[0], -n[1], -n[2]};
    double scale = a->extent + b->extent + a->radius + b->radius;
    double size = v3_min(a->extent + a->radius, b->extent + b->radius);
    shadow s; /* not initialised, as its polygons are large */
    s.a = a;
    s.b = b;
    s.gap = gap;
    s.tiny = 1e-11 * scale;
    s.least = INFINITY;
    s.near = v3_max(10 * s.tiny, 1e-9 * size);
    s.hair = v3_max(1e-12 * scale, collide_curved(a) || collide_curved(b) ? 1e-9 * size : 0);
    s.sink = sink;
    v3_copy(s.n, n);
    v3_frame(n, s.e, s.f);
    collide_polygon_of(a, n, COLLIDE_FACE, &s.p);
    collide_polygon_of(b, back, COLLIDE_FACE, &s.q);
    int before = sink->count;
    int p_face = s.p.count > 2, q_face = s.q.count > 2;
    int steep = (p_face && v3_dot(s.p.normal, n) * STEEP < 1) ||
                (q_face && v3_dot(s.q.normal, n) * STEEP > -1);
    if (!steep && p_face && q_face) {
        faces(&s);
    } else if (!steep && p_face && s.q.count == 2) {
        edge_rim(&s, &s.q, &s.p);
    } else if (!steep && s.p.count == 2 && q_face) {
        edge_rim(&s, &s.p, &s.q);
    } else if (!steep && p_face) {
        point_face(&s, &s.q, &s.p);
    } else if (!steep && q_face) {
        point_face(&s, &s.p, &s.q);
    } else if (s.p.count == 2 && s.q.count == 2) {
        edges(&s, &s.p, &s.q);
    }
    /* a disc tilted by less than 1e-9 has no corner at its lowest point */
    int exact = s.least <= gap + s.hair;
    if (!exact && witness != NULL) {
        put_pair(&s, witness);
    } else if (!exact && need_exact) { /* not known: the caller has to find it */
        sink->count = before;
    }
    return exact;
}

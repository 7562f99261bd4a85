/* The distance of two convex cores: the point nearest to the origin of their difference a - b, by
 * Gilbert, Johnson and Keerthi's descent over simplices of support points.
 *
 * With v the nearest point of the simplex so far and w the support against v,
 *     v.w / |v|  <=  distance  <=  |v|,
 * so the loop ends when the two bounds agree, when no progress is made, or when the origin is
 * enclosed. Its result is not relied on: the caller computes gap(n) from the supports. */
#include "collide/inner.h"

enum { ROUNDS = 100 };

typedef struct simplex {
    collide_apex *apex;
    int count;
    double weight[4];
} simplex;

static void keep(simplex *s, const int *which, int count, const double *weight)
{
    collide_apex kept[4];
    for (int i = 0; i < count; i++) {
        kept[i] = s->apex[which[i]];
        s->weight[i] = weight[i];
    }
    for (int i = 0; i < count; i++) {
        s->apex[i] = kept[i];
    }
    s->count = count;
}

typedef struct nearest {
    int which[3], count;
    double weight[3], v[3], square;
} nearest;

static void nearest_point(const simplex *s, int i, nearest *out)
{
    *out = (nearest){.which = {i}, .count = 1, .weight = {1}};
    v3_copy(out->v, s->apex[i].w);
    out->square = v3_dot(out->v, out->v);
}

static void nearest_segment(const simplex *s, int i, int j, nearest *out)
{
    const double *p = s->apex[i].w, *q = s->apex[j].w;
    double d[3];
    v3_sub(d, q, p);
    double dd = v3_dot(d, d), part = dd > 0 ? -v3_dot(p, d) / dd : 0;
    if (!(part > 0) || !(part < 1)) {
        nearest_point(s, part > 0 ? j : i, out);
        return;
    }
    *out = (nearest){.which = {i, j}, .count = 2, .weight = {1 - part, part}};
    v3_add(out->v, p, part, d);
    out->square = v3_dot(out->v, out->v);
}

/* The projection is inside the triangle if its areas with the three edges are all positive. */
static void nearest_triangle(const simplex *s, const int which[3], nearest *out)
{
    double u[3], v[3], n[3], area[3], sum = 0;
    const double *p[3];
    for (int k = 0; k < 3; k++) {
        p[k] = s->apex[which[k]].w;
    }
    v3_sub(u, p[1], p[0]);
    v3_sub(v, p[2], p[0]);
    v3_cross(n, u, v);
    double nn = v3_dot(n, n);
    int in = nn > 0;
    for (int k = 0; k < 3; k++) { /* the area opposite to k is n . (p_i x p_j) */
        double c[3];
        v3_cross(c, p[(k + 1) % 3], p[(k + 2) % 3]);
        area[k] = v3_dot(n, c);
        in = in && area[k] > 0;
        sum += area[k];
    }
    if (in) {
        *out = (nearest){.which = {which[0], which[1], which[2]}, .count = 3};
        double off = v3_dot(n, p[0]) / nn;
        for (int k = 0; k < 3; k++) {
            out->weight[k] = area[k] / sum;
            out->v[k] = off * n[k];
        }
        out->square = v3_dot(out->v, out->v);
        return;
    }
    out->square = INFINITY;
    for (int k = 0; k < 3; k++) { /* the nearest point is on an edge that separates the origin */
        nearest edge;
        if (nn > 0 && area[(k + 2) % 3] > 0) {
            continue;
        }
        nearest_segment(s, which[k], which[(k + 1) % 3], &edge);
        if (edge.square < out->square) {
            *out = edge;
        }
    }
}

/* 1: the origin is strictly inside. */
static int nearest_tetrahedron(const simplex *s, nearest *out)
{
    static const int face[4][4] = {{0, 1, 2, 3}, {0, 3, 1, 2}, {0, 2, 3, 1}, {1, 3, 2, 0}};
    int inside = 1;
    out->square = INFINITY;
    for (int f = 0; f < 4; f++) {
        const double *p = s->apex[face[f][0]].w;
        double u[3], v[3], n[3], far[3];
        v3_sub(u, s->apex[face[f][1]].w, p);
        v3_sub(v, s->apex[face[f][2]].w, p);
        v3_sub(far, s->apex[face[f][3]].w, p);
        v3_cross(n, u, v);
        double of_far = v3_dot(n, far), of_origin = -v3_dot(n, p);
        int flat = !(of_far * of_far > 1e-28 * v3_dot(n, n) * v3_dot(far, far));
        if (flat || of_far * of_origin <= 0) { /* the origin is on the other side */
            nearest of_face;
            inside = 0;
            nearest_triangle(s, face[f], &of_face);
            if (of_face.square < out->square) {
                *out = of_face;
            }
        }
    }
    return inside;
}

static int reduce(simplex *s, nearest *out)
{
    static const int all[3] = {0, 1, 2};
    if (s->count == 4) {
        return nearest_tetrahedron(s, out);
    }
    if (s->count == 3) {
        nearest_triangle(s, all, out);
    } else if (s->count == 2) {
        nearest_segment(s, 0, 1, out);
    } else {
        nearest_point(s, 0, out);
    }
    return 0;
}

static int has(const simplex *s, const collide_apex *w)
{
    for (int i = 0; i < s->count; i++) {
        const double *p = s->apex[i].w;
        if (p[0] == w->w[0] && p[1] == w->w[1] && p[2] == w->w[2]) {
            return 1;
        }
    }
    return 0;
}

/* The normal of the simplex towards b: it is more accurate than v when v is short. */
static void across(const simplex *s, const double v[3], double n[3])
{
    double u[3] = {0}, w[3];
    v3_copy(n, v);
    if (s->count >= 2) {
        v3_sub(u, s->apex[1].w, s->apex[0].w);
        v3_unit(u);
        v3_add(n, n, -v3_dot(u, n), u);
    }
    if (s->count == 3) {
        v3_sub(w, s->apex[2].w, s->apex[0].w);
        double side[3];
        v3_cross(side, u, w);
        if (v3_unit(side) > 0) {
            double d = v3_dot(side, v);
            v3_copy(n, side);
            v3_scale(n, d < 0 ? -1 : 1);
        }
    }
    v3_unit(n);
    v3_scale(n, -1);
}

/* The points of the two whose difference is nearest. */
static void pair_of(const simplex *s, collide_apex *out)
{
    *out = s->apex[0];
    for (int i = 0; i < 3; i++) {
        out->a[i] = out->b[i] = 0;
        for (int k = 0; k < s->count; k++) {
            out->a[i] += s->weight[k] * s->apex[k].a[i];
            out->b[i] += s->weight[k] * s->apex[k].b[i];
        }
    }
}

int collide_gjk(const collide_solid *a, const collide_solid *b, double enough, double share,
                double near, collide_apex apex[4], int *count, double n[3], collide_apex *pair)
{
    simplex s = {.apex = apex, .count = 1, .weight = {1}};
    double scale = a->extent + b->extent, v[3];
    double touching = 1e-14 * scale;
    v3_sub(n, b->t, a->t);
    if (!(v3_unit(n) > 0)) {
        v3_set(n, 0, 0, 1);
    }
    collide_support_pair(a, b, n, &apex[0]);
    v3_copy(v, apex[0].w);
    int answer = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double square = v3_dot(v, v), length = v3_length(v);
        if (!(length > touching)) {
            break;
        }
        v3_set(n, -v[0] / length, -v[1] / length, -v[2] / length);
        collide_apex w;
        collide_support_pair(a, b, n, &w);
        double bound = -v3_dot(n, w.w); /* <= distance <= length */
        if (bound > enough && bound >= share * length) {
            answer = 2;
            break;
        }
        answer = bound > 0;
        if (length - bound <= near * length || has(&s, &w)) {
            break;
        }
        nearest next;
        apex[s.count++] = w;
        if (reduce(&s, &next)) {
            answer = 0;
            break;
        }
        if (!(next.square < square)) { /* round-off: no further progress */
            s.count--;
            break;
        }
        keep(&s, next.which, next.count, next.weight);
        v3_copy(v, next.v);
    }
    *count = s.count;
    if (answer == 1) {
        pair_of(&s, pair);
        double other[3];
        across(&s, v, other);
        if (collide_gap(a, b, other) > collide_gap(a, b, n)) {
            v3_copy(n, other);
        }
        answer = collide_gap(a, b, n) + a->radius + b->radius > 0;
    }
    return answer;
}

/* A hull with polygons for faces, from its triangles.
 *
 * Triangles that lie in one plane (all corners within 1e-10 of the size of it) are one face:
 * starting with the largest remaining triangle, neighbours are added as long as they are in its
 * plane. The edges of a face that belong to only one of its triangles are its ring. The triangles
 * are a closed surface (hull.c), so every edge has a triangle beyond it. A point that is on no ring
 * is not a corner, nor is one that is on two only: it is on an edge. Every edge is in two rings,
 * once in each direction; so the edges that leave a corner in the rings of all faces are its
 * neighbours, each once.
 *
 * Points in a plane have the ring of their outline twice, once from either side; points on a line
 * keep their two ends, a single point itself. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "collide/hull.h"
#include "collide/vector.h"

typedef struct collide_hull collide_hull;

typedef struct maker {
    const double *vertex;
    int vertices, triangles;
    double near;
    int *triangle; /* 3 each */
    int *across;   /* 3 each: the triangle beyond the edge k, k+1 */
    int *face;     /* of each triangle */
    int faces;
    int *start, *ring; /* faces + 1; at most 3 per triangle */
} maker;

static int *ints(int count)
{
    return base_alloc(((size_t)count + 1) * sizeof(int));
}

/* ---- Triangles to faces ---------------------------------------------------------------------- */

static double triangle_plane(const maker *m, int t, double n[3])
{
    const double *p = &m->vertex[3 * m->triangle[3 * t]];
    double u[3], v[3];
    v3_sub(u, &m->vertex[3 * m->triangle[3 * t + 1]], p);
    v3_sub(v, &m->vertex[3 * m->triangle[3 * t + 2]], p);
    v3_cross(n, u, v);
    return v3_unit(n);
}

typedef struct size_of {
    double area;
    int triangle;
} size_of;

static int by_area(const void *a, const void *b)
{
    const size_of *x = a, *y = b;
    if (x->area != y->area) {
        return x->area > y->area ? -1 : 1;
    }
    return (x->triangle > y->triangle) - (x->triangle < y->triangle);
}

/* Does triangle o lie in the plane of triangle t, with the normal n? */
static int is_in_plane(const maker *m, int t, const double n[3], int o)
{
    double offset = v3_dot(n, &m->vertex[3 * m->triangle[3 * t]]), other[3];
    for (int c = 0; c < 3; c++) {
        if (!(fabs(v3_dot(n, &m->vertex[3 * m->triangle[3 * o + c]]) - offset) <= m->near)) {
            return 0;
        }
    }
    return !(triangle_plane(m, o, other) > 0 && v3_dot(other, n) < 0);
}

/* Collects the connected triangles that lie in the plane of `start`. */
static void flood(maker *m, int start, int *stack)
{
    double n[3];
    triangle_plane(m, start, n);
    int depth = 0;
    stack[depth++] = start;
    while (depth > 0) {
        int t = stack[--depth];
        for (int k = 0; k < 3; k++) {
            int o = m->across[3 * t + k];
            if (m->face[o] < 0 && is_in_plane(m, start, n, o)) {
                m->face[o] = m->faces;
                stack[depth++] = o;
            }
        }
    }
}

enum { FREE = -1, ALONE = -2 };

/* Looks at all triangles in the order in which they are stored, as large hulls do not fit into
 * caches: most are ALONE in their plane, and a face. */
static void look(maker *m, size_of *order)
{
    for (int t = 0; t < m->triangles; t++) {
        double n[3];
        order[t] = (size_of){triangle_plane(m, t, n), t};
        m->face[t] = ALONE;
        for (int k = 0; k < 3; k++) {
            m->face[t] = is_in_plane(m, t, n, m->across[3 * t + k]) ? FREE : m->face[t];
        }
    }
}

static int merge(maker *m)
{
    size_of *order = base_alloc(((size_t)m->triangles + 1) * sizeof *order);
    int *stack = ints(m->triangles), ok = order != NULL && stack != NULL;
    if (ok) {
        look(m, order);
        qsort(order, (size_t)m->triangles, sizeof *order, by_area);
    }
    for (int i = 0; ok && i < m->triangles; i++) {
        int t = order[i].triangle, alone = m->face[t] == ALONE;
        if (m->face[t] >= 0) {
            continue;
        }
        m->face[t] = m->faces;
        if (!alone) {
            flood(m, t, stack);
        }
        m->faces++;
    }
    base_free(order);
    base_free(stack);
    return ok;
}

/* The next edge on the border of its face: turning around the corner through the face's own
 * triangles. */
static int next_on_border(const maker *m, int at)
{
    int t = at / 3, k = (at % 3 + 1) % 3, face = m->face[t]; /* the edge that leaves the corner */
    while (m->face[m->across[3 * t + k]] == face) {
        int corner = m->triangle[3 * t + k], o = m->across[3 * t + k];
        k = 0;
        while (k < 2 && m->triangle[3 * o + k] != corner) {
            k++;
        }
        t = o;
    }
    return 3 * t + k;
}

static int is_on_border(const maker *m, int at)
{
    return m->face[m->across[at]] != m->face[at / 3];
}

/* If the border of a face is not one closed path (its triangles surround others, or meet only at a
 * corner), its triangles become separate faces. */
static int split_broken(maker *m)
{
    int *border = ints(m->faces), *first = ints(m->faces);
    int ok = border != NULL && first != NULL;
    for (int i = 0; ok && i < 3 * m->triangles; i++) {
        int f = m->face[i / 3];
        if (is_on_border(m, i)) {
            first[f] = border[f]++ > 0 ? first[f] : i;
        }
    }
    for (int f = 0; ok && f < m->faces; f++) {
        if (border[f] == 0) {
            continue; /* cannot happen for a closed surface with a volume */
        }
        int at = first[f];
        do {
            at = next_on_border(m, at);
            border[f]--;
        } while (at != first[f]);
    }
    for (int t = 0, old = m->faces; ok && t < m->triangles; t++) {
        if (m->face[t] < old && border[m->face[t]] > 0) {
            m->face[t] = m->faces++;
        }
    }
    base_free(border);
    base_free(first);
    return ok;
}

/* The ring of each face. Faces that were split have no triangles left. */
static int rings(maker *m)
{
    int *border = ints(m->faces);
    m->start = ints(m->faces + 1);
    m->ring = ints(3 * m->triangles);
    if (border == NULL || m->start == NULL || m->ring == NULL) {
        base_free(border);
        return 0;
    }
    for (int f = 0; f < m->faces; f++) {
        border[f] = -1;
    }
    for (int i = 3 * m->triangles - 1; i >= 0; i--) {
        border[m->face[i / 3]] = is_on_border(m, i) ? i : border[m->face[i / 3]];
    }
    int faces = 0;
    for (int f = 0; f < m->faces; f++) {
        if (border[f] < 0) {
            continue;
        }
        m->start[faces + 1] = m->start[faces];
        int at = border[f];
        do {
            m->ring[m->start[faces + 1]++] = m->triangle[at];
            at = next_on_border(m, at);
        } while (at != border[f]);
        faces++;
    }
    m->faces = faces;
    base_free(border);
    return 1;
}

/* ---- Points in a plane ----------------------------------------------------------------------- */

typedef struct flat_point {
    double x, y;
    int vertex;
} flat_point;

static int by_place(const void *a, const void *b)
{
    const flat_point *p = a, *q = b;
    if (p->x != q->x) {
        return p->x < q->x ? -1 : 1;
    }
    if (p->y != q->y) {
        return p->y < q->y ? -1 : 1;
    }
    return (p->vertex > q->vertex) - (p->vertex < q->vertex);
}

/* Two axes that span the points: towards the farthest point, then towards the one farthest from
 * that line. */
static void flat_frame(const maker *m, double e[3], double f[3])
{
    double n[3], best[3] = {1, 0, 0}, most = 0, d[3];
    for (int i = 1; i < m->vertices; i++) {
        v3_sub(d, &m->vertex[3 * i], m->vertex);
        if (v3_dot(d, d) > most) {
            most = v3_dot(d, d);
            v3_copy(best, d);
        }
    }
    v3_copy(e, best);
    v3_unit(e);
    v3_frame(e, f, n);
    most = m->near;
    for (int i = 1; i < m->vertices; i++) {
        v3_sub(d, &m->vertex[3 * i], m->vertex);
        v3_add(d, d, -v3_dot(e, d), e);
        double off = v3_length(d);
        if (off > most) {
            most = off;
            v3_copy(f, d);
        }
    }
    v3_add(f, f, -v3_dot(e, f), e);
    v3_unit(f);
}

/* Upper and lower chain of the sorted points, then the ring from both sides. */
static int flat_rings(maker *m)
{
    flat_point *p = base_alloc(((size_t)m->vertices + 1) * sizeof *p);
    int *chain = ints(2 * m->vertices + 2), count = 0;
    m->start = ints(3);
    m->ring = ints(4 * m->vertices + 4);
    int ok = p != NULL && chain != NULL && m->start != NULL && m->ring != NULL;
    double e[3], f[3];
    flat_frame(m, e, f);
    for (int i = 0; ok && i < m->vertices; i++) {
        double d[3];
        v3_sub(d, &m->vertex[3 * i], m->vertex);
        p[i] = (flat_point){v3_dot(e, d), v3_dot(f, d), i};
    }
    if (ok) {
        qsort(p, (size_t)m->vertices, sizeof *p, by_place);
    }
    for (int pass = 0, base = 0; ok && pass < 2; pass++) {
        for (int k = 0; k < m->vertices; k++) {
            int i = pass ? m->vertices - 1 - k : k;
            while (count - base >= 2) {
                flat_point a = p[chain[count - 2]], b = p[chain[count - 1]];
                double ux = b.x - a.x, uy = b.y - a.y, vx = p[i].x - a.x, vy = p[i].y - a.y;
                if (ux * vy - uy * vx > m->near * sqrt(vx * vx + vy * vy)) {
                    break;
                }
                count--;
            }
            chain[count++] = i;
        }
        count--; /* the last one starts the other chain */
        base = count;
    }
    for (int i = 0; ok && i < count; i++) {
        m->ring[i] = p[chain[i]].vertex;
        m->ring[2 * count - 1 - i] = p[chain[i]].vertex;
    }
    m->faces = count > 2 ? 2 : 0;
    if (ok && count <= 2) { /* a line or a point: corners without a face */
        m->ring[0] = p[0].vertex;
        m->ring[1] = p[m->vertices - 1].vertex;
        int same = !(p[m->vertices - 1].x - p[0].x > 0);
        m->start[0] = same ? 1 : 2;
    } else if (ok) {
        m->start[1] = count;
        m->start[2] = 2 * count;
    }
    base_free(p);
    base_free(chain);
    return ok;
}

/* ---- The hull -------------------------------------------------------------------------------- */

/* The normal that the areas of the ring add up to (Newell), and the outermost offset. */
static void face_plane(const collide_hull *h, int f, double plane[4])
{
    double n[3] = {0, 0, 0}, c[3], u[3], v[3];
    int from = h->face_start[f], to = h->face_start[f + 1];
    const double *p = &h->vertex[3 * h->ring[from]];
    for (int k = from + 1; k + 1 < to; k++) {
        v3_sub(u, &h->vertex[3 * h->ring[k]], p);
        v3_sub(v, &h->vertex[3 * h->ring[k + 1]], p);
        v3_cross(c, u, v);
        v3_add(n, n, 1, c);
    }
    v3_unit(n);
    v3_copy(plane, n);
    plane[3] = -INFINITY;
    for (int k = from; k < to; k++) {
        plane[3] = fmax(plane[3], v3_dot(n, &h->vertex[3 * h->ring[k]]));
    }
}

/* Lists by corner: the neighbours, or with `faces` the faces, of each corner. */
static void by_corner(const collide_hull *h, int *start, int *list, int faces)
{
    for (int k = 0; k < h->ring_count; k++) {
        start[h->ring[k] + 1]++;
    }
    for (int v = 0; v < h->vertex_count; v++) {
        start[v + 1] += start[v];
    }
    for (int f = 0; f < h->face_count; f++) {
        int from = h->face_start[f], to = h->face_start[f + 1];
        for (int k = from; k < to; k++) {
            int next = h->ring[k + 1 < to ? k + 1 : from];
            list[start[h->ring[k]]++] = faces ? f : next;
        }
    }
    for (int v = h->vertex_count; v > 0; v--) {
        start[v] = start[v - 1];
    }
    start[0] = 0;
}

/* A corner of a solid belongs to at least three faces: a point of two faces is on an edge and is
 * removed, unless a face would be left with fewer than three. */
static int drop_between(maker *m)
{
    int *faces = ints(m->vertices), to = 0;
    for (int k = 0; faces != NULL && k < m->start[m->faces]; k++) {
        faces[m->ring[k]]++;
    }
    for (int f = 0; faces != NULL && f < m->faces; f++) {
        int left = 0;
        for (int k = m->start[f]; k < m->start[f + 1]; k++) {
            left += faces[m->ring[k]] > 2;
        }
        for (int k = m->start[f]; left < 3 && k < m->start[f + 1]; k++) {
            faces[m->ring[k]] = 3;
        }
    }
    for (int f = 0, from = 0; faces != NULL && f < m->faces; f++) {
        int end = m->start[f + 1];
        for (; from < end; from++) {
            if (faces[m->ring[from]] > 2) {
                m->ring[to++] = m->ring[from];
            }
        }
        m->start[f + 1] = to;
    }
    int ok = faces != NULL;
    base_free(faces);
    return ok;
}

/* Numbers the corners that are on rings in the order of the points. */
static int fill(collide_hull *h, const maker *m)
{
    int listed = m->faces > 0 ? m->start[m->faces] : m->start[0];
    int *number = ints(m->vertices);
    h->face_count = m->faces;
    h->ring_count = m->faces > 0 ? listed : 0;
    for (int k = 0; number != NULL && k < listed; k++) {
        number[m->ring[k]] = 1;
    }
    for (int i = 0; number != NULL && i < m->vertices; i++) {
        number[i] = number[i] ? ++h->vertex_count : 0;
    }
    size_t n = (size_t)h->vertex_count + 2, r = (size_t)h->ring_count + 1;
    h->vertex = base_alloc(3 * n * sizeof(double));
    h->plane = base_alloc(4 * ((size_t)m->faces + 1) * sizeof(double));
    h->face_start = ints(m->faces + 1);
    h->ring = base_alloc(r * sizeof(int));
    h->near_start = base_alloc(n * sizeof(int));
    h->near = base_alloc(r * sizeof(int));
    h->around_start = base_alloc(n * sizeof(int));
    h->around = base_alloc(r * sizeof(int));
    if (number == NULL || h->vertex == NULL || h->plane == NULL || h->face_start == NULL ||
        h->ring == NULL || h->near_start == NULL || h->near == NULL || h->around_start == NULL ||
        h->around == NULL) {
        base_free(number);
        return 0;
    }
    for (int i = 0; i < m->vertices; i++) {
        if (number[i] > 0) {
            v3_copy(&h->vertex[3 * (number[i] - 1)], &m->vertex[3 * i]);
            h->extent = fmax(h->extent, v3_length(&m->vertex[3 * i]));
            v3_add(h->middle, h->middle, 1.0 / h->vertex_count, &m->vertex[3 * i]);
        }
    }
    for (int k = 0; k < h->ring_count; k++) {
        h->ring[k] = number[m->ring[k]] - 1;
    }
    for (int f = 0; f < m->faces; f++) {
        h->face_start[f + 1] = m->start[f + 1];
    }
    base_free(number);
    for (int f = 0; f < m->faces; f++) {
        face_plane(h, f, &h->plane[4 * f]);
    }
    by_corner(h, h->near_start, h->near, 0);
    by_corner(h, h->around_start, h->around, 1);
    return 1;
}

collide_hull *collide_hull_new(const double *vertex, int count)
{
    double size = 0;
    for (int i = 0; i < 3 * count; i++) {
        if (!isfinite(vertex[i])) {
            return NULL;
        }
        size = fmax(size, fabs(vertex[i] - vertex[i % 3]));
    }
    if (count < 1 || count > INT32_MAX / 16) {
        return NULL;
    }
    maker m = {.vertex = vertex, .vertices = count, .near = 1e-10 * size};
    m.triangles = collide_hull_triangles(vertex, count, &m.triangle, &m.across);
    int ok = m.triangles >= 0;
    if (ok && m.triangles > 0) {
        m.face = ints(m.triangles);
        ok = m.face != NULL && merge(&m) && split_broken(&m) && rings(&m) && drop_between(&m);
    } else if (ok) {
        ok = flat_rings(&m);
    }
    collide_hull *h = ok ? base_alloc(sizeof *h) : NULL;
    if (h != NULL && !(fill(h, &m) && collide_hull_cells(h))) {
        collide_hull_free(h);
        h = NULL;
    }
    base_free(m.triangle);
    base_free(m.across);
    base_free(m.face);
    base_free(m.start);
    base_free(m.ring);
    return h;
}

void collide_hull_free(collide_hull *h)
{
    if (h == NULL) {
        return;
    }
    base_free(h->vertex);
    base_free(h->plane);
    base_free(h->face_start);
    base_free(h->ring);
    base_free(h->near_start);
    base_free(h->near);
    base_free(h->around_start);
    base_free(h->around);
    base_free(h->cell);
    base_free(h->listed);
    base_free(h);
}

/* Fixed triangles in a tree of bounding boxes.
 *
 * The tree is split at the median of the centres along the longest side of each box, so its depth
 * is log2 of the number of triangles. Vertices at the same place are one, so that triangles of
 * files that repeat their corners (STL) are neighbours. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "collide/ground.h"

enum { LEAF = 4, STACK = 80 };

typedef struct node {
    double lower[3], upper[3];
    int first, count; /* range of `order`; count > 0 for a leaf */
    int right;        /* the left child is the next node */
} node;

struct collide_mesh {
    int vertices, triangles, nodes;
    double *vertex, *normal; /* 3 for each vertex; 3 for each triangle */
    int *triangle, *across, *order;
    node *node;
};

/* ---- Creating -------------------------------------------------------------------------------- */

typedef struct keyed {
    double x[3];
    int at;
} keyed;

static int by_place(const void *a, const void *b)
{
    const keyed *p = a, *q = b;
    for (int i = 0; i < 3; i++) {
        if (p->x[i] != q->x[i]) {
            return p->x[i] < q->x[i] ? -1 : 1;
        }
    }
    return (p->at > q->at) - (p->at < q->at);
}

/* Replaces each corner by the first vertex at the same position. */
static void weld(collide_mesh *m, keyed *k, int *same)
{
    for (int i = 0; i < m->vertices; i++) {
        v3_copy(k[i].x, &m->vertex[3 * i]);
        k[i].at = i;
    }
    qsort(k, (size_t)m->vertices, sizeof *k, by_place);
    for (int i = 0; i < m->vertices; i++) {
        int twin = i > 0 && k[i].x[0] == k[i - 1].x[0] && k[i].x[1] == k[i - 1].x[1] &&
                   k[i].x[2] == k[i - 1].x[2];
        same[k[i].at] = twin ? same[k[i - 1].at] : k[i].at;
    }
    for (int i = 0; i < 3 * m->triangles; i++) {
        m->triangle[i] = same[m->triangle[i]];
    }
}

static void box_of(const collide_mesh *m, int first, int count, double lower[3], double upper[3])
{
    v3_set(lower, INFINITY, INFINITY, INFINITY);
    v3_set(upper, -INFINITY, -INFINITY, -INFINITY);
    for (int i = 3 * first; i < 3 * (first + count); i++) {
        const double *p = &m->vertex[3 * m->triangle[3 * m->order[i / 3] + i % 3]];
        for (int c = 0; c < 3; c++) {
            lower[c] = v3_min(lower[c], p[c]);
            upper[c] = v3_max(upper[c], p[c]);
        }
    }
}

/* Sorts a part of the order along the longest side of its box. */
static void sort_part(collide_mesh *m, keyed *k, const node *n)
{
    double way[3];
    v3_sub(way, n->upper, n->lower);
    int axis = way[1] > way[0] ? 1 : 0;
    axis = way[2] > way[axis] ? 2 : axis;
    for (int i = 0; i < n->count; i++) {
        int t = m->order[n->first + i];
        const int *c = &m->triangle[3 * t];
        double middle =
            m->vertex[3 * c[0] + axis] + m->vertex[3 * c[1] + axis] + m->vertex[3 * c[2] + axis];
        k[i] = (keyed){{middle, 0, 0}, t};
    }
    qsort(k, (size_t)n->count, sizeof *k, by_place);
    for (int i = 0; i < n->count; i++) {
        m->order[n->first + i] = k[i].at;
    }
}

/* Depth first, so that the left child follows its parent; the stack holds right children. */
static void build(collide_mesh *m, keyed *k)
{
    struct {
        int first, count, parent;
    } waiting[STACK];
    int depth = 1;
    waiting[0].first = 0;
    waiting[0].count = m->triangles;
    waiting[0].parent = -1;
    while (depth > 0) {
        depth--;
        int first = waiting[depth].first, count = waiting[depth].count;
        int parent = waiting[depth].parent;
        if (parent >= 0) {
            m->node[parent].right = m->nodes;
        }
        for (;;) { /* down the left side */
            node *n = &m->node[m->nodes];
            *n = (node){.first = first, .count = count};
            box_of(m, first, count, n->lower, n->upper);
            if (count <= LEAF || depth >= STACK) {
                m->nodes++;
                break;
            }
            sort_part(m, k, n);
            waiting[depth].first = first + count / 2;
            waiting[depth].count = count - count / 2;
            waiting[depth].parent = m->nodes;
            depth++;
            n->count = 0;
            m->nodes++;
            count /= 2;
        }
    }
}

static int fill(collide_mesh *m, const double *vertex, const int *triangle)
{
    size_t v = (size_t)m->vertices, t = (size_t)m->triangles, most = v > t ? v : t;
    m->vertex = base_alloc(3 * v * sizeof(double));
    m->normal = base_alloc(3 * t * sizeof(double));
    m->triangle = base_alloc(3 * t * sizeof(int));
    m->across = base_alloc(3 * t * sizeof(int));
    m->order = base_alloc(t * sizeof(int));
    m->node = base_alloc(2 * t * sizeof(node));
    keyed *k = base_alloc(most * sizeof *k);
    int *same = base_alloc(v * sizeof *same);
    int ok = m->vertex != NULL && m->normal != NULL && m->triangle != NULL && m->across != NULL &&
             m->order != NULL && m->node != NULL && k != NULL && same != NULL;
    if (ok) {
        memcpy(m->vertex, vertex, 3 * v * sizeof(double));
        memcpy(m->triangle, triangle, 3 * t * sizeof(int));
        weld(m, k, same);
        ok = collide_neighbours(m->triangle, m->triangles, m->across);
    }
    for (int i = 0; ok && i < m->triangles; i++) {
        const double *p = &m->vertex[3 * m->triangle[3 * i]];
        double e[3], f[3];
        v3_sub(e, &m->vertex[3 * m->triangle[3 * i + 1]], p);
        v3_sub(f, &m->vertex[3 * m->triangle[3 * i + 2]], p);
        v3_cross(&m->normal[3 * i], e, f);
        v3_unit(&m->normal[3 * i]);
        m->order[i] = i;
    }
    if (ok) {
        build(m, k);
    }
    base_free(k);
    base_free(same);
    return ok;
}

collide_mesh *collide_mesh_new(const double *vertex, int vertex_count, const int *triangle,
                               int triangle_count)
{
    if (vertex_count < 3 || triangle_count < 1 || vertex_count > INT32_MAX / 8 ||
        triangle_count > INT32_MAX / 8) {
        return NULL;
    }
    for (int i = 0; i < 3 * vertex_count; i++) {
        if (!isfinite(vertex[i])) {
            return NULL;
        }
    }
    for (int i = 0; i < 3 * triangle_count; i++) {
        if (triangle[i] < 0 || triangle[i] >= vertex_count) {
            return NULL;
        }
    }
    collide_mesh *m = base_alloc(sizeof *m);
    if (m == NULL) {
        return NULL;
    }
    m->vertices = vertex_count;
    m->triangles = triangle_count;
    if (!fill(m, vertex, triangle)) {
        collide_mesh_free(m);
        return NULL;
    }
    return m;
}

void collide_mesh_free(collide_mesh *m)
{
    if (m != NULL) {
        base_free(m->vertex);
        base_free(m->normal);
        base_free(m->triangle);
        base_free(m->across);
        base_free(m->order);
        base_free(m->node);
        base_free(m);
    }
}

/* ---- Queries --------------------------------------------------------------------------------- */

void collide_mesh_box(const collide_mesh *m, double lower[3], double upper[3])
{
    v3_copy(lower, m->node[0].lower);
    v3_copy(upper, m->node[0].upper);
}

/* The triangle beyond the edge that enters (or leaves) corner `at` of t. */
static int beside(const collide_mesh *m, int t, int at, int leaving, int *corner)
{
    int c = 0;
    while (c < 2 && m->triangle[3 * t + c] != at) {
        c++;
    }
    *corner = m->triangle[3 * t + (leaving ? c + 1 : c + 2) % 3];
    return m->across[3 * t + (leaving ? c : (c + 2) % 3)];
}

/* Clockwise from triangle to triangle, to the border of the ground or all around; then
 * counterclockwise. */
static int ring_of(const void *ground, uint32_t number, int corner, double ring[][3])
{
    const collide_mesh *m = ground;
    int at = m->triangle[3 * (int)number + corner], first = (int)number, other, count = 0;
    for (int k = 0; k < COLLIDE_RING; k++) {
        int next = beside(m, first, at, 1, &other);
        if (next < 0 || next == (int)number) {
            break;
        }
        first = next;
    }
    int t = first;
    beside(m, first, at, 1, &other);
    v3_copy(ring[count++], &m->vertex[3 * other]);
    do {
        t = beside(m, t, at, 0, &other);
        v3_copy(ring[count++], &m->vertex[3 * other]);
    } while (t >= 0 && t != first && count < COLLIDE_RING);
    return count < COLLIDE_RING ? count : 0;
}

static void triangle_pair(const collide_mesh *m, int t, const collide_solid *b, collide_sink *sink)
{
    collide_facet f = {.number = (uint32_t)t, .ring = ring_of, .ground = m};
    v3_copy(f.normal, &m->normal[3 * t]);
    if (v3_dot(f.normal, f.normal) == 0) {
        return; /* no area: its neighbours have the same edges */
    }
    for (int k = 0; k < 3; k++) {
        int o = m->across[3 * t + k];
        v3_copy(&f.corner[3 * k], &m->vertex[3 * m->triangle[3 * t + k]]);
        if (o >= 0) {
            v3_copy(f.beyond[k], &m->normal[3 * o]);
        }
    }
    collide_facet_pair(&f, b, sink);
}

void collide_mesh_pair(const collide_mesh *m, const collide_solid *b, collide_sink *sink)
{
    double lower[3], upper[3];
    for (int i = 0; i < 3; i++) {
        double e[3] = {i == 0, i == 1, i == 2}, back[3] = {-e[0], -e[1], -e[2]}, p[3];
        int id;
        collide_support(b, e, p, &id);
        upper[i] = p[i] + b->radius + sink->margin;
        collide_support(b, back, p, &id);
        lower[i] = p[i] - b->radius - sink->margin;
    }
    int stack[STACK + 2], depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
        int at = stack[--depth];
        const node *n = &m->node[at];
        if (!(n->lower[0] <= upper[0] && n->upper[0] >= lower[0] && n->lower[1] <= upper[1] &&
              n->upper[1] >= lower[1] && n->lower[2] <= upper[2] && n->upper[2] >= lower[2])) {
            continue;
        }
        for (int i = 0; i < n->count; i++) {
            triangle_pair(m, m->order[n->first + i], b, sink);
        }
        if (n->count == 0) {
            stack[depth++] = n->right;
            stack[depth++] = at + 1;
        }
    }
}

/* ---- Rays ------------------------------------------------------------------------------------ */

/* d.(a x b), or 0 where round-off may decide its sign: each of its six terms has five roundings. */
static double passes(const double d[3], const double a[3], const double b[3])
{
    double sum = 0, size = 0;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        double x = a[j] * b[k], y = a[k] * b[j];
        sum += d[i] * (x - y);
        size += fabs(d[i]) * (fabs(x) + fabs(y));
    }
    return fabs(sum) > 3 * DBL_EPSILON * size ? sum : 0;
}

/* With the corners a, b, c measured from p, d passes on one side of all three edges if d.(a x b),
 * d.(b x c), d.(c x a) have the same sign; on an edge or a corner it meets all triangles that share
 * it, so no ray passes between triangles. Then t = n.a / n.d. -1: no intersection. */
static double triangle_ray(const collide_mesh *m, int t, const double p[3], const double d[3])
{
    double corner[3][3], side[3];
    for (int k = 0; k < 3; k++) {
        v3_sub(corner[k], &m->vertex[3 * m->triangle[3 * t + k]], p);
    }
    for (int k = 0; k < 3; k++) {
        side[k] = passes(d, corner[k], corner[(k + 1) % 3]);
    }
    double along = v3_dot(&m->normal[3 * t], d);
    int met = (side[0] >= 0 && side[1] >= 0 && side[2] >= 0) ||
              (side[0] <= 0 && side[1] <= 0 && side[2] <= 0);
    met = met && (side[0] != 0 || side[1] != 0 || side[2] != 0); /* not in its plane */
    return met && along != 0 ? v3_dot(&m->normal[3 * t], corner[0]) / along : -1;
}

/* Does the ray meet the box before `best`? The ends of the interval are accurate to a few units in
 * the last place. */
static int box_ray(const node *n, const double p[3], const double d[3], double best)
{
    double from = 0, to = best;
    for (int k = 0; k < 3; k++) {
        double a = (n->lower[k] - p[k]) / d[k], b = (n->upper[k] - p[k]) / d[k];
        if (d[k] == 0) {
            if (p[k] < n->lower[k] || p[k] > n->upper[k]) {
                return 0;
            }
            continue;
        }
        from = v3_max(from, v3_min(a, b));
        to = v3_min(to, v3_max(a, b));
    }
    return from <= to * (1 + 8 * DBL_EPSILON);
}

double collide_mesh_ray(const collide_mesh *m, const double p[3], const double d[3],
                        double normal[3])
{
    int stack[STACK + 2], depth = 0, found = -1;
    double best = INFINITY;
    stack[depth++] = 0;
    while (depth > 0) {
        int at = stack[--depth];
        const node *n = &m->node[at];
        if (!box_ray(n, p, d, best)) {
            continue;
        }
        for (int i = 0; i < n->count; i++) {
            int t = m->order[n->first + i];
            double here = triangle_ray(m, t, p, d);
            if (here >= 0 && (here < best || (here == best && t < found))) {
                best = here;
                found = t;
            }
        }
        if (n->count == 0) {
            stack[depth++] = n->right;
            stack[depth++] = at + 1;
        }
    }
    if (found >= 0) {
        v3_copy(normal, &m->normal[3 * found]);
    }
    return found >= 0 ? best : -1;
}

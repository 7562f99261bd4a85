/* The convex hull of points, by adding one after the other: the faces that see a new point go, and
 * the rim of the hole is joined to it. Quadratic in the worst case, which is good enough for the
 * meshes that are given by their vertices alone. Points within 1e-10 of the whole's size from a
 * face count as lying in it. */
#include <math.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "collide/hull.h"
#include "collide/vector.h"

typedef struct hull_face {
    int corner[3];
    double normal[3], offset; /* outward unit normal; normal . x = offset on it */
    int sees;
} hull_face;

typedef struct hull {
    const double *vertex;
    double near;
    int count, capacity;
    hull_face *face;
    int rim_count, rim_capacity;
    int (*rim)[2];
} hull;

static double distance(const hull *h, const hull_face *f, int v)
{
    return v3_dot(f->normal, &h->vertex[3 * v]) - f->offset;
}

static int add_face(hull *h, int a, int b, int c)
{
    if (!base_list_room(&h->face, &h->capacity, h->count, sizeof *h->face)) {
        return 0;
    }
    hull_face *f = &h->face[h->count++];
    double u[3], v[3];
    for (int i = 0; i < 3; i++) {
        u[i] = h->vertex[3 * b + i] - h->vertex[3 * a + i];
        v[i] = h->vertex[3 * c + i] - h->vertex[3 * a + i];
    }
    f->corner[0] = a;
    f->corner[1] = b;
    f->corner[2] = c;
    f->sees = 0;
    v3_cross(f->normal, u, v);
    v3_unit(f->normal);
    f->offset = v3_dot(f->normal, &h->vertex[3 * a]);
    return 1;
}

/* The point that is farthest from: another point; a line; a plane. -1: none is away from it. */
static int farthest(const hull *h, int count, const int *base, int base_count)
{
    int best = -1;
    double most = h->near;
    double u[3], v[3], n[3];
    const double *a = &h->vertex[3 * base[0]];
    for (int i = 0; i < 3; i++) {
        u[i] = base_count > 1 ? h->vertex[3 * base[1] + i] - a[i] : 0;
        v[i] = base_count > 2 ? h->vertex[3 * base[2] + i] - a[i] : 0;
    }
    v3_unit(u);
    v3_cross(n, u, v);
    v3_unit(n);
    for (int k = 0; k < count; k++) {
        double x[3], along[3];
        for (int i = 0; i < 3; i++) {
            x[i] = h->vertex[3 * k + i] - a[i];
        }
        v3_cross(along, u, x);
        double d = base_count == 1   ? sqrt(v3_dot(x, x))
                   : base_count == 2 ? sqrt(v3_dot(along, along))
                                     : fabs(v3_dot(n, x));
        if (d > most) {
            most = d;
            best = k;
        }
    }
    return best;
}

/* A tetrahedron to begin with; 0: the points are in a plane, -1: no memory. */
static int first_faces(hull *h, int count)
{
    int base[4] = {0, 0, 0, 0};
    for (int i = 1; i < 4; i++) {
        base[i] = farthest(h, count, base, i);
        if (base[i] < 0) {
            return 0;
        }
    }
    if (!add_face(h, base[0], base[1], base[2])) {
        return -1;
    }
    if (distance(h, &h->face[0], base[3]) > 0) { /* it would see the point: turn it over */
        h->count = 0;
        int swap = base[1];
        base[1] = base[2];
        base[2] = swap;
        add_face(h, base[0], base[1], base[2]);
    }
    int ok = add_face(h, base[0], base[3], base[1]) && add_face(h, base[1], base[3], base[2]) &&
             add_face(h, base[2], base[3], base[0]);
    return ok ? 1 : -1;
}

/* The rim: edges of seeing faces whose other side does not see. */
static int find_rim(hull *h)
{
    h->rim_count = 0;
    for (int f = 0; f < h->count; f++) {
        for (int k = 0; h->face[f].sees && k < 3; k++) {
            int a = h->face[f].corner[k], b = h->face[f].corner[(k + 1) % 3];
            int inside = 0;
            for (int i = 0; i < h->rim_count && !inside; i++) {
                if (h->rim[i][0] == b && h->rim[i][1] == a) { /* met from the other side */
                    memcpy(h->rim[i], h->rim[--h->rim_count], sizeof *h->rim);
                    inside = 1;
                }
            }
            if (inside) {
                continue;
            }
            if (!base_list_room(&h->rim, &h->rim_capacity, h->rim_count, sizeof *h->rim)) {
                return 0;
            }
            h->rim[h->rim_count][0] = a;
            h->rim[h->rim_count++][1] = b;
        }
    }
    return 1;
}

static int add_point(hull *h, int v)
{
    int seen = 0;
    for (int f = 0; f < h->count; f++) {
        h->face[f].sees = distance(h, &h->face[f], v) > h->near;
        seen += h->face[f].sees;
    }
    if (seen == 0) {
        return 1;
    }
    if (!find_rim(h)) {
        return 0;
    }
    int to = 0;
    for (int f = 0; f < h->count; f++) {
        if (!h->face[f].sees) {
            h->face[to++] = h->face[f];
        }
    }
    h->count = to;
    for (int i = 0; i < h->rim_count; i++) {
        if (!add_face(h, h->rim[i][0], h->rim[i][1], v)) {
            return 0;
        }
    }
    return 1;
}

int collide_hull_triangles(const double *vertex, int count, int **face)
{
    hull h = {.vertex = vertex};
    double size = 0;
    for (int i = 0; i < 3 * count; i++) {
        size = fmax(size, fabs(vertex[i] - vertex[i % 3]));
    }
    h.near = 1e-10 * size;
    int ok = size > 0 ? first_faces(&h, count) : 0;
    for (int v = 0; ok > 0 && v < count; v++) {
        ok = add_point(&h, v) ? 1 : -1;
    }
    *face = ok > 0 ? base_alloc((size_t)h.count * 3 * sizeof **face) : NULL;
    for (int f = 0; *face != NULL && f < h.count; f++) {
        memcpy(&(*face)[3 * f], h.face[f].corner, sizeof h.face[f].corner);
    }
    int answer = ok > 0 ? (*face != NULL ? h.count : -1) : ok;
    base_free(h.face);
    base_free(h.rim);
    return answer;
}

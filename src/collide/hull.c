/* The convex hull of points: quickhull (Barber, Dobkin and Huhdanpaa 1996) with exact decisions.
 *
 * Start from a tetrahedron; every outside point is assigned to one triangle that sees it. The
 * farthest point of a triangle is added: the triangles that see it are removed, and the rim of the
 * hole is connected to it. The points of the removed triangles are assigned to the new ones, or are
 * inside.
 *
 * A triangle sees a point that is strictly outside of it, decided exactly (orient.h). Then:
 * 1. The triangles that see p are connected and their rim is one closed path: they are those that
 *    see a point moved from p a little towards the inside, which lies in the plane of none.
 * 2. No new triangle is degenerate: p on the line of an edge of the rim would lie in the plane of
 *    the triangle that sees it.
 * 3. A point q seen by a removed triangle t and still outside is seen by a new one. Otherwise the
 *    ray from p to q would leave the hull, before q, at an old point x; but p and q are above the
 *    plane of t and x is not.
 * So the result is closed, and all points are inside or on it. Points within 1e-10 of the size of
 * one plane have no hull with a volume. The cost is n log n for typical meshes. */
#include "collide/hull.h"

#include <math.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "collide/orient.h"
#include "collide/vector.h"

enum { NONE = -1 };

typedef struct hull_face {
    int corner[3];
    int across[3];    /* the face beyond the edge from corner k to k + 1 */
    double normal[3]; /* outward, rounded: only used to order points by their distance */
    int outside;      /* first of the list of its points, or NONE */
    int farthest;     /* of them */
    double distance;  /* of the farthest */
    int seen;         /* 2 * round: sees the point of this round; 2 * round + 1: does not; DEAD */
} hull_face;

enum { DEAD = -1 };

typedef struct hull_edge {
    int from, to;     /* corners, in the direction of the removed face */
    int beyond, slot; /* the remaining face, and which of its edges this is */
} hull_edge;

typedef struct hull {
    const double *vertex; /* scaled to a size between 1/2 and 1 */
    int count, capacity, round;
    hull_face *face;
    int *next;                   /* [vertices] the next point of the same face's list */
    int *leaving;                /* [vertices] the new face whose rim edge leaves here */
    int rim_count, rim_capacity; /* edges around the hole */
    hull_edge *rim;
    int gone_count, gone_capacity; /* faces that see the point of this round */
    int *gone;
    int pending_count, pending_capacity; /* faces that may have points outside */
    int *pending;
    int spare_count, spare_capacity; /* indices of removed faces */
    int *spare;
} hull;

static const double *corner_of(const hull *h, const hull_face *f, int k)
{
    return &h->vertex[3 * f->corner[k]];
}

static int face_sees(const hull *h, const hull_face *f, int v)
{
    return collide_side(corner_of(h, f, 0), corner_of(h, f, 1), corner_of(h, f, 2),
                        &h->vertex[3 * v]) > 0;
}

static int push(int **list, int *capacity, int *count, int value)
{
    if (!base_list_reserve(list, capacity, *count, sizeof **list)) {
        return 0;
    }
    (*list)[(*count)++] = value;
    return 1;
}

/* The index of a new face, or NONE: no memory. */
static int add_face(hull *h, int a, int b, int c)
{
    int at = h->spare_count > 0 ? h->spare[--h->spare_count] : h->count;
    if (at == h->count) {
        if (!base_list_reserve(&h->face, &h->capacity, h->count, sizeof *h->face)) {
            return NONE;
        }
        h->count++;
    }
    hull_face *f = &h->face[at];
    *f = (hull_face){.corner = {a, b, c}, .across = {NONE, NONE, NONE}};
    f->outside = f->farthest = NONE;
    double u[3], v[3];
    v3_sub(u, &h->vertex[3 * b], &h->vertex[3 * a]);
    v3_sub(v, &h->vertex[3 * c], &h->vertex[3 * a]);
    v3_cross(f->normal, u, v);
    v3_unit(f->normal);
    return at;
}

/* Assigns the point to the face if the face sees it. */
static int take_point(hull *h, int face, int v)
{
    hull_face *f = &h->face[face];
    double d[3];
    if (!face_sees(h, f, v)) {
        return 0;
    }
    v3_sub(d, &h->vertex[3 * v], corner_of(h, f, 0));
    double distance = v3_dot(f->normal, d);
    if (f->farthest == NONE || distance > f->distance) {
        f->farthest = v;
        f->distance = distance;
    }
    h->next[v] = f->outside;
    f->outside = v;
    return 1;
}

/* ---- The first four faces ------------------------------------------------------------------- */

/* The point that is farthest from a point, a line or a plane, given by 1, 2 or 3 points. NONE: no
 * point is farther than `near`. */
static int find_farthest(const hull *h, int count, const int *base, int base_count, double near)
{
    int best = NONE;
    double u[3] = {0}, v[3] = {0}, n[3];
    const double *a = &h->vertex[3 * base[0]];
    if (base_count > 1) {
        v3_sub(u, &h->vertex[3 * base[1]], a);
    }
    if (base_count > 2) {
        v3_sub(v, &h->vertex[3 * base[2]], a);
    }
    v3_unit(u);
    v3_cross(n, u, v);
    v3_unit(n);
    for (int k = 0; k < count; k++) {
        double x[3], across[3];
        v3_sub(x, &h->vertex[3 * k], a);
        v3_cross(across, u, x);
        double d = base_count == 1   ? v3_length(x)
                   : base_count == 2 ? v3_length(across)
                                     : fabs(v3_dot(n, x));
        if (d > near) {
            near = d;
            best = k;
        }
    }
    return best;
}

/* 0: the points lie in a plane, -1: no memory. */
static int make_tetrahedron(hull *h, int count)
{
    /* Face i is opposite corner i; across its edge k is the face opposite the remaining corner. */
    static const int without[4][3] = {{1, 3, 2}, {0, 2, 3}, {0, 3, 1}, {0, 1, 2}};
    int base[4] = {0, 0, 0, 0};
    for (int i = 1; i < 4; i++) {
        base[i] = find_farthest(h, count, base, i, 1e-10);
        if (base[i] == NONE) {
            return 0;
        }
    }
    const double *x = h->vertex;
    if (collide_side(&x[3 * base[0]], &x[3 * base[1]], &x[3 * base[2]], &x[3 * base[3]]) > 0) {
        int swap = base[1];
        base[1] = base[2];
        base[2] = swap;
    }
    for (int i = 0; i < 4; i++) {
        const int *w = without[i];
        if (add_face(h, base[w[0]], base[w[1]], base[w[2]]) == NONE) {
            return -1;
        }
        for (int k = 0; k < 3; k++) {
            h->face[i].across[k] = w[(k + 2) % 3];
        }
    }
    for (int v = 0; v < count; v++) {
        for (int i = 0; i < 4 && !take_point(h, i, v); i++) {
        }
    }
    for (int i = 0; i < 4; i++) {
        if (!push(&h->pending, &h->pending_capacity, &h->pending_count, i)) {
            return -1;
        }
    }
    return 1;
}

/* ---- Adding points -------------------------------------------------------------------------- */

/* Finds all faces that see v, starting from `first`, and the rim around them; 0: no memory. */
static int find_hole(hull *h, int first, int v)
{
    int sees = 2 * ++h->round;
    h->gone_count = h->rim_count = 0;
    h->face[first].seen = sees;
    int ok = push(&h->gone, &h->gone_capacity, &h->gone_count, first);
    for (int i = 0; ok && i < h->gone_count; i++) {
        int f = h->gone[i];
        for (int k = 0; ok && k < 3; k++) {
            int o = h->face[f].across[k];
            hull_face *other = &h->face[o];
            if (other->seen != sees && other->seen != sees + 1) {
                other->seen = face_sees(h, other, v) ? sees : sees + 1;
                if (other->seen == sees) {
                    ok = push(&h->gone, &h->gone_capacity, &h->gone_count, o);
                }
            }
            if (!ok || other->seen == sees) {
                continue;
            }
            ok = base_list_reserve(&h->rim, &h->rim_capacity, h->rim_count, sizeof *h->rim);
            if (ok) {
                int from = h->face[f].corner[k], to = h->face[f].corner[(k + 1) % 3], slot = 0;
                while (slot < 2 && other->corner[slot] != to) {
                    slot++;
                }
                h->rim[h->rim_count++] = (hull_edge){from, to, o, slot};
            }
        }
    }
    return ok;
}

/* Adds a face from each edge of the rim to v; their indices are appended to `pending`. */
static int close_hole(hull *h, int v)
{
    int first = h->pending_count;
    for (int i = 0; i < h->rim_count; i++) {
        hull_edge e = h->rim[i];
        int at = add_face(h, e.from, e.to, v);
        if (at == NONE || !push(&h->pending, &h->pending_capacity, &h->pending_count, at)) {
            return 0;
        }
        h->face[at].across[0] = e.beyond;
        h->face[e.beyond].across[e.slot] = at;
        h->leaving[e.from] = at;
    }
    for (int i = first; i < h->pending_count; i++) {
        int at = h->pending[i], next = h->leaving[h->face[at].corner[1]];
        h->face[at].across[1] = next;
        h->face[next].across[2] = at;
    }
    return 1;
}

/* Assigns the points of the removed faces to the new ones. */
static int move_points(hull *h, int v, int first_new)
{
    for (int i = 0; i < h->gone_count; i++) {
        hull_face *f = &h->face[h->gone[i]];
        for (int p = f->outside, next; p != NONE; p = next) {
            next = h->next[p];
            for (int k = first_new; p != v && k < h->pending_count; k++) {
                if (take_point(h, h->pending[k], p)) {
                    break;
                }
            }
        }
        f->outside = NONE;
        f->seen = DEAD;
    }
    for (int i = 0; i < h->gone_count; i++) {
        if (!push(&h->spare, &h->spare_capacity, &h->spare_count, h->gone[i])) {
            return 0;
        }
    }
    return 1;
}

static int add_points(hull *h)
{
    while (h->pending_count > 0) {
        int f = h->pending[--h->pending_count];
        if (h->face[f].seen == DEAD || h->face[f].outside == NONE) {
            continue;
        }
        int v = h->face[f].farthest, first_new = h->pending_count;
        if (!find_hole(h, f, v) || !close_hole(h, v) || !move_points(h, v, first_new)) {
            return 0;
        }
    }
    return 1;
}

/* ---- The hull ------------------------------------------------------------------------------- */

/* A copy whose size is between 1/2 and 1, by a power of two: it has the same hull. NULL: no memory.
 */
static double *scaled_copy(const double *vertex, int count, double size)
{
    double *copy = base_alloc((size_t)count * 3 * sizeof *copy);
    int exponent;
    frexp(size, &exponent);
    for (int i = 0; copy != NULL && i < 3 * count; i++) {
        copy[i] = ldexp(vertex[i], -exponent);
    }
    return copy;
}

static int list_triangles(hull *h, int **triangle, int **across)
{
    int live = 0;
    size_t size = ((size_t)h->count + 1) * 3 * sizeof **triangle;
    *triangle = base_alloc(size);
    if (*triangle == NULL || (across != NULL && (*across = base_alloc(size)) == NULL)) {
        return -1;
    }
    for (int f = 0; f < h->count; f++) {
        if (h->face[f].seen != DEAD) {
            h->face[f].seen = live;
            memcpy(&(*triangle)[3 * live++], h->face[f].corner, sizeof h->face[f].corner);
        }
    }
    for (int f = 0; f < h->count && across != NULL; f++) {
        for (int k = 0; k < 3 && h->face[f].seen != DEAD; k++) {
            (*across)[3 * h->face[f].seen + k] = h->face[h->face[f].across[k]].seen;
        }
    }
    return live;
}

int collide_hull_triangles(const double *vertex, int count, int **triangle, int **across)
{
    hull h = {0};
    double size = 0;
    *triangle = NULL;
    for (int i = 0; i < 3 * count; i++) {
        size = fmax(size, fabs(vertex[i] - vertex[i % 3]));
    }
    if (!(size > 0)) {
        return 0;
    }
    double *scaled = scaled_copy(vertex, count, size);
    h.vertex = scaled;
    h.next = base_alloc((size_t)count * sizeof *h.next);
    h.leaving = base_alloc((size_t)count * sizeof *h.leaving);
    int made = -1;
    if (scaled != NULL && h.next != NULL && h.leaving != NULL) {
        made = make_tetrahedron(&h, count);
    }
    if (made > 0) {
        made = add_points(&h) ? list_triangles(&h, triangle, across) : -1;
    }
    base_free(scaled);
    base_free(h.next);
    base_free(h.leaving);
    base_free(h.face);
    base_free(h.rim);
    base_free(h.gone);
    base_free(h.pending);
    base_free(h.spare);
    return made;
}

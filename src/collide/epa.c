/* The least overlap of two convex cores: the face nearest to the origin of their difference a - b.
 *
 * A polytope inside of the difference, with the origin in it, grows: the nearest of its faces is
 * pushed out to the support in its direction n, the faces that see the new corner are replaced by a
 * fan around it. The distance of the nearest face is a lower bound of the depth, the least support
 * h(n) over the directions tried is an upper bound, and the latter is returned. For polytopes they
 * become equal after finitely many steps. On a curved side the faces shrink around the nearest
 * point by a constant factor; there they only have to come close (1e-6 of the size), and refine.c
 * finishes with Newton's method. If another direction has less overlap than that answer, then a
 * face there is nearer: all such faces in other directions are refined as well. Around an axis of
 * symmetry of both (two cylinders, one in the other) all directions of a circle have the same
 * overlap: once RING of them have been found, the circle has.
 *
 * Differences without volume (two flat shapes in one plane) are detected when the first tetrahedron
 * is built; the direction normal to them has overlap 0. Faces without area, from collinear corners,
 * take the plane of their neighbour and are never the nearest. */
#include "collide/inner.h"

enum { APEXES = 132, FACES = 3 * APEXES, PLACES = 16, RING = 6 };

typedef struct face {
    int corner[3], across[3]; /* across[k]: the face beyond the edge from corner k to k + 1 */
    double n[3], offset;
    int state; /* 0 removed, 1 present, 2 visible from the new corner */
} face;

typedef struct polytope {
    const collide_solid *a, *b;
    double scale;
    int apexes, faces;
    collide_apex apex[APEXES];
    face face[FACES];
    double distance[FACES];  /* of the faces; infinite: removed, or without area */
    int rim[FACES][2], rims; /* remaining face, and which of its edges */
    int seen[FACES], unused; /* indices of removed faces */
} polytope;

/* 0: the area of the face is negligible. */
static int plane_of(polytope *p, face *f)
{
    const double *x = p->apex[f->corner[0]].w, *y = p->apex[f->corner[1]].w;
    const double *z = p->apex[f->corner[2]].w;
    double u[3], v[3];
    v3_sub(u, y, x);
    v3_sub(v, z, x);
    v3_cross(f->n, u, v);
    double longest = v3_max(v3_dot(u, u), v3_dot(v, v)), length = v3_length(f->n);
    if (!(length > 1e-13 * longest)) {
        return 0;
    }
    v3_scale(f->n, 1 / length);
    f->offset = v3_max(v3_dot(f->n, x), v3_max(v3_dot(f->n, y), v3_dot(f->n, z)));
    return 1;
}

/* ---- The first tetrahedron ------------------------------------------------------------------- */

/* Looks both ways along n for a point that is off the flat spanned so far by more than `near`. */
static int off_point(polytope *p, const double n[3], double near)
{
    collide_apex up, down;
    double back[3] = {-n[0], -n[1], -n[2]};
    collide_support_pair(p->a, p->b, n, &up);
    collide_support_pair(p->a, p->b, back, &down);
    double level = v3_dot(n, p->apex[0].w);
    double rise = v3_dot(n, up.w) - level, fall = level - v3_dot(n, down.w);
    if (v3_max(rise, fall) <= near) {
        return 0;
    }
    p->apex[p->apexes++] = rise >= fall ? up : down;
    return 1;
}

/* Extends the simplex to four points; 0: the difference is flat, and n is normal to it. */
static int first_points(polytope *p, double n[3])
{
    double near = 1e-12 * p->scale, e[3], f[3];
    for (int round = 0; p->apexes < 4; round++) {
        const double *x = p->apex[0].w;
        int found = 0;
        if (p->apexes == 1) {
            for (int i = 0; i < 3 && !found; i++) {
                v3_set(n, i == 0, i == 1, i == 2);
                found = off_point(p, n, near);
            }
        } else if (p->apexes == 2) {
            v3_sub(f, p->apex[1].w, x);
            if (!(v3_unit(f) > 0)) {
                p->apexes = 1;
                found = 1; /* a repeated point: start again */
            } else {
                v3_frame(f, n, e);
                found = off_point(p, n, near) || off_point(p, e, near);
            }
        } else {
            v3_sub(e, p->apex[1].w, x);
            v3_sub(f, p->apex[2].w, x);
            v3_cross(n, e, f);
            if (!(v3_unit(n) > 1e-13 * v3_max(v3_dot(e, e), v3_dot(f, f)))) {
                p->apexes = 2;
                v3_frame(f, n, e);
                found = off_point(p, n, near) || off_point(p, e, near);
            } else {
                found = off_point(p, n, near);
            }
        }
        if (!found || round > 8) {
            return 0;
        }
    }
    return 1;
}

static int first_faces(polytope *p)
{
    static const int corner[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
    static const int across[4][3] = {{1, 2, 3}, {3, 2, 0}, {1, 3, 0}, {2, 1, 0}};
    double u[3], v[3], w[3], n[3];
    v3_sub(u, p->apex[1].w, p->apex[0].w);
    v3_sub(v, p->apex[2].w, p->apex[0].w);
    v3_sub(w, p->apex[3].w, p->apex[0].w);
    v3_cross(n, u, v);
    if (v3_dot(n, w) > 0) { /* the last point must be below the first face */
        collide_apex swap = p->apex[1];
        p->apex[1] = p->apex[2];
        p->apex[2] = swap;
    }
    p->faces = 4;
    for (int k = 0; k < 4; k++) {
        face *f = &p->face[k];
        for (int i = 0; i < 3; i++) {
            f->corner[i] = corner[k][i];
            f->across[i] = across[k][i];
        }
        f->state = 1;
        if (!plane_of(p, f)) {
            return 0;
        }
        p->distance[k] = f->offset;
    }
    return 1;
}

/* ---- Growing --------------------------------------------------------------------------------- */

/* Marks the faces visible from w, starting from face `from`, and lists the edges of their rim. */
static int see(polytope *p, int from, const double w[3])
{
    int seen = 0;
    double hair = 1e-14 * p->scale;
    p->rims = 0;
    p->face[from].state = 2;
    p->seen[seen++] = from;
    for (int at = 0; at < seen; at++) {
        const face *f = &p->face[p->seen[at]];
        for (int k = 0; k < 3; k++) {
            face *o = &p->face[f->across[k]];
            if (o->state == 1 && v3_dot(o->n, w) - o->offset > hair) {
                o->state = 2;
                p->seen[seen++] = f->across[k];
            }
        }
    }
    for (int at = 0; at < seen; at++) {
        const face *f = &p->face[p->seen[at]];
        for (int k = 0; k < 3; k++) {
            const face *o = &p->face[f->across[k]];
            int back = f->corner[(k + 1) % 3]; /* where the same edge starts in the other face */
            if (o->state == 1) {
                p->rim[p->rims][0] = f->across[k];
                p->rim[p->rims++][1] = o->corner[0] == back ? 0 : o->corner[1] == back ? 1 : 2;
            }
        }
    }
    for (int at = 0; at < seen; at++) {
        p->face[p->seen[at]].state = 0;
        p->distance[p->seen[at]] = INFINITY;
    }
    p->unused = seen;
    return p->rims >= 3;
}

static int free_face(polytope *p)
{
    return p->unused > 0 ? p->seen[--p->unused] : p->faces < FACES ? p->faces++ : -1;
}

/* Connects the rim to the new corner; 0: too many faces, or the rim is not one ring. */
static int fan(polytope *p, int tip)
{
    int made[FACES], begins[APEXES];
    for (int r = 0; r < p->rims; r++) {
        int at = free_face(p), old = p->rim[r][0], k = p->rim[r][1];
        if (at < 0) {
            return 0;
        }
        face *f = &p->face[at], *o = &p->face[old];
        f->corner[0] = o->corner[(k + 1) % 3]; /* the rim's edge in the opposite direction */
        f->corner[1] = o->corner[k];
        f->corner[2] = tip;
        f->across[0] = old;
        f->across[1] = f->across[2] = -1;
        o->across[k] = at;
        f->state = 1;
        p->distance[at] = INFINITY;
        if (plane_of(p, f)) {
            p->distance[at] = f->offset;
        } else {
            v3_copy(f->n, o->n);
            f->offset = o->offset;
        }
        made[r] = at;
    }
    /* neighbours within the fan share a rim corner, at which one starts and the other ends */
    for (int r = 0; r < p->rims; r++) {
        begins[p->face[made[r]].corner[0]] = begins[p->face[made[r]].corner[1]] = -1;
    }
    for (int r = 0; r < p->rims; r++) {
        int *first = &begins[p->face[made[r]].corner[0]];
        if (*first >= 0) {
            return 0;
        }
        *first = made[r];
    }
    for (int r = 0; r < p->rims; r++) {
        int next = begins[p->face[made[r]].corner[1]];
        if (next < 0 || p->face[next].across[2] >= 0) {
            return 0;
        }
        p->face[made[r]].across[1] = next;
        p->face[next].across[2] = made[r];
    }
    return 1;
}

static void take_corners(const polytope *p, const face *f, collide_apex simplex[4], int *count)
{
    *count = 3;
    for (int i = 0; i < 3; i++) {
        simplex[i] = p->apex[f->corner[i]];
    }
}

static int nearest_face(const polytope *p)
{
    int nearest = 0;
    for (int i = 1; i < p->faces; i++) {
        nearest = p->distance[i] < p->distance[nearest] ? i : nearest;
    }
    return p->distance[nearest] < INFINITY ? nearest : -1;
}

/* Grows until the bounds differ by less than `enough`; n and the simplex are those of the upper
 * bound, if it is below the given one. 0: the bounds did not converge. */
static int grow(polytope *p, double enough, double *upper, collide_apex simplex[4], int *count,
                double n[3])
{
    while (p->apexes < APEXES) {
        int nearest = nearest_face(p);
        if (nearest < 0) {
            return 0;
        }
        const face *f = &p->face[nearest];
        collide_apex *w = &p->apex[p->apexes];
        collide_support_pair(p->a, p->b, f->n, w);
        double h = v3_dot(f->n, w->w);
        if (h < *upper) {
            *upper = h;
            v3_copy(n, f->n);
            take_corners(p, f, simplex, count);
        }
        if (*upper - p->distance[nearest] <= enough ||
            h - p->distance[nearest] <= 1e-14 * p->scale) {
            return 1;
        }
        if (!see(p, nearest, w->w) || !fan(p, p->apexes++)) {
            return 0;
        }
    }
    return 0;
}

/* Directions found by Newton's method, and the best of them. */
typedef struct summit {
    double gap, n[3];
    collide_apex witness;
    int places;
    double place[PLACES][3];
    int tries; /* all of them, for */
    double tried[PLACES][3], depth[PLACES];
    int ring; /* whether the best are those with axis . n = level */
    double axis[3], level;
} summit;

/* Do the best directions found so far lie on a circle? */
static void find_ring(summit *best, double hair)
{
    const double *on[PLACES];
    int count = 0;
    for (int i = 0; i < best->tries && i < PLACES; i++) {
        if (best->gap - best->depth[i] <= hair) {
            on[count++] = best->tried[i];
        }
    }
    best->ring = count >= RING;
    if (best->ring) {
        double u[3], v[3];
        v3_sub(u, on[1], on[0]);
        v3_sub(v, on[2], on[0]);
        v3_cross(best->axis, u, v);
        best->ring = v3_unit(best->axis) > 1e-6;
        best->level = v3_dot(best->axis, on[0]);
    }
    for (int i = 3; i < count && best->ring; i++) {
        best->ring = fabs(v3_dot(best->axis, on[i]) - best->level) < 1e-6;
    }
}

/* Newton's method from face f, then once more from the result, since the features around it are
 * found from there. */
static int try_face(const polytope *p, const face *f, double hair, summit *best)
{
    collide_apex corner[4], other;
    int count, sure;
    double m[3] = {f->n[0], f->n[1], f->n[2]};
    take_corners(p, f, corner, &count);
    collide_between(corner, count, &other);
    double depth = collide_refine(p->a, p->b, corner, count, m, &other, &sure);
    if (v3_dot(m, f->n) < 0.99995) {
        depth = collide_refine(p->a, p->b, corner, count, m, &other, &sure);
    }
    if (depth > best->gap) {
        best->gap = depth;
        v3_copy(best->n, m);
        best->witness = other;
    }
    if (sure) {
        v3_copy(best->place[best->places++ % PLACES], m);
    }
    best->depth[best->tries % PLACES] = depth;
    v3_copy(best->tried[best->tries++ % PLACES], m);
    find_ring(best, hair);
    return sure && v3_dot(m, f->n) > 0.999;
}

static int is_place(const summit *best, const double n[3])
{
    if (best->ring && fabs(v3_dot(best->axis, n) - best->level) < 0.02) {
        return 1;
    }
    for (int i = 0; i < best->places && i < PLACES; i++) {
        if (v3_dot(best->place[i], n) > 0.9995) {
            return 1;
        }
    }
    return 0;
}

/* Curved shapes: a face only has to come close to its support for Newton's method to finish. Other
 * faces are pushed out until they are no nearer than the answer, or their direction has been found
 * already. */
static void grow_bent(polytope *p, summit *best)
{
    const double size = v3_min(p->a->extent, p->b->extent); /* bounds the radius of curvature */
    const double near = 2e-4 * p->scale, enough = v3_max(1e-9 * size, 1e-13 * p->scale);
    const double radius = p->a->radius + p->b->radius;
    const double hair = v3_max(1e-10 * size, 1e-14 * p->scale);
    while (p->apexes < APEXES) {
        int nearest = nearest_face(p);
        if (nearest < 0 || !(p->distance[nearest] < -best->gap - radius - hair)) {
            return;
        }
        const face *f = &p->face[nearest];
        if (is_place(best, f->n)) {
            p->distance[nearest] = INFINITY;
            continue;
        }
        collide_apex *w = &p->apex[p->apexes];
        collide_support_pair(p->a, p->b, f->n, w);
        double off = v3_dot(f->n, w->w) - f->offset;
        if (off <= near && (try_face(p, f, hair, best) || off <= enough)) {
            p->distance[nearest] = INFINITY;
        } else if (!see(p, nearest, w->w) || !fan(p, p->apexes++)) {
            break;
        }
    }
    for (int i = 0; i < p->faces; i++) { /* the limit on faces was reached */
        if (p->distance[i] < -best->gap - radius - hair && !is_place(best, p->face[i].n)) {
            try_face(p, &p->face[i], hair, best);
        }
    }
}

/* The first polytope from these points. If four of them are coplanar, as GJK may leave them where
 * faces touch, only the first is used. 0: the difference itself is flat, and n is normal to it. */
static int begin(polytope *p, const collide_apex *simplex, int count, double n[3])
{
    p->apexes = count;
    for (int i = 0; i < count; i++) {
        p->apex[i] = simplex[i];
    }
    if (first_points(p, n) && first_faces(p)) {
        return 1;
    }
    p->apexes = 1;
    return first_points(p, n) && first_faces(p);
}

/* Polytopes. If growing fails because of faces without area, it is repeated from another start. */
static void grow_flat(polytope *p, collide_apex simplex[4], int *count, double n[3])
{
    static const double way[3][3] = {{0.36, 0.48, 0.8}, {-0.64, 0.6, -0.48}, {0.6, -0.8, 0}};
    double upper = INFINITY, m[3];
    int closed = grow(p, 1e-13 * p->scale, &upper, simplex, count, n);
    for (int k = 0; k < 3 && !closed; k++) {
        collide_apex first;
        collide_support_pair(p->a, p->b, way[k], &first);
        closed = begin(p, &first, 1, m) && grow(p, 1e-13 * p->scale, &upper, simplex, count, n);
    }
}

double collide_epa(const collide_solid *a, const collide_solid *b, collide_apex simplex[4],
                   int count, double n[3], collide_apex *witness)
{
    polytope p;
    p.a = a;
    p.b = b;
    p.scale = a->extent + b->extent;
    int solid = begin(&p, simplex, count, n), sure;
    if (solid && (collide_curved(a) || collide_curved(b))) {
        summit best = {.gap = -INFINITY};
        grow_bent(&p, &best);
        v3_copy(n, best.n);
        *witness = best.witness;
        return best.gap;
    }
    if (solid) {
        grow_flat(&p, simplex, &count, n);
    } else { /* normal to it, with the better sign */
        double back[3] = {-n[0], -n[1], -n[2]};
        if (collide_gap(a, b, back) > collide_gap(a, b, n)) {
            v3_copy(n, back);
        }
        count = p.apexes < 3 ? p.apexes : 3;
        for (int i = 0; i < count; i++) {
            simplex[i] = p.apex[i];
        }
    }
    collide_between(simplex, count, witness);
    return collide_refine(a, b, simplex, count, n, witness, &sure);
}

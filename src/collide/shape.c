/* Single shapes: the farthest point in a direction, the face around it, the bounding box. */
#include "collide/ground.h"
#include "collide/inner.h"

/* The rim of radius r at height z; for directions along the axis, any point of it. */
static void rim_support(const double u[3], double r, double z, double p[3])
{
    double across = sqrt(u[0] * u[0] + u[1] * u[1]);
    v3_set(p, across > 0 ? r * u[0] / across : r, across > 0 ? r * u[1] / across : 0, z);
}

/* By the table of hull_cells.c. */
int collide_hull_support(const struct collide_hull *hull, const double u[3])
{
    double x = fabs(u[0]), y = fabs(u[1]), z = fabs(u[2]);
    int i = y > x ? (z > y ? 2 : 1) : (z > x ? 2 : 0), cell = 2 * i + (u[i] < 0);
    double most = -INFINITY, half = 1, at_y = 0, at_z = 0, length = fabs(u[i]);
    y = u[(i + 1) % 3];
    z = u[(i + 2) % 3];
    while (hull->cell[2 * cell + 1] < 0) {
        int right = y > at_y * length, up = z > at_z * length;
        cell = hull->cell[2 * cell] + right + 2 * up;
        half *= 0.5;
        at_y += right ? half : -half;
        at_z += up ? half : -half;
    }
    const int *list = hull->listed + hull->cell[2 * cell];
    int best = list[0];
    for (int k = 0; k < hull->cell[2 * cell + 1]; k++) {
        double d = v3_dot(u, &hull->vertex[3 * list[k]]);
        best = d > most ? list[k] : best;
        most = d > most ? d : most;
    }
    return best;
}

int collide_own_support(const collide_solid *s, const double u[3], double p[3])
{
    const double *h = s->size;
    v3_set(p, 0, 0, 0);
    switch (s->kind) {
    case COLLIDE_SPHERE:
        return 0;
    case COLLIDE_CAPSULE:
        p[2] = u[2] < 0 ? -h[1] : h[1];
        return u[2] < 0;
    case COLLIDE_ELLIPSOID: {
        double q[3] = {h[0] * u[0], h[1] * u[1], h[2] * u[2]};
        v3_unit(q);
        v3_set(p, h[0] * q[0], h[1] * q[1], h[2] * q[2]);
        return 0;
    }
    case COLLIDE_CYLINDER:
        rim_support(u, h[0], u[2] < 0 ? -h[1] : h[1], p);
        return u[2] < 0;
    case COLLIDE_BOX:
        v3_set(p, u[0] < 0 ? -h[0] : h[0], u[1] < 0 ? -h[1] : h[1], u[2] < 0 ? -h[2] : h[2]);
        return (u[0] < 0) | (u[1] < 0) << 1 | (u[2] < 0) << 2;
    case COLLIDE_CONE: /* the apex, or the rim below it */
        if (2 * h[1] * u[2] > h[0] * sqrt(u[0] * u[0] + u[1] * u[1])) {
            p[2] = h[1];
            return 0;
        }
        rim_support(u, h[0], -h[1], p);
        return 1;
    case COLLIDE_HULL: {
        int v = collide_hull_support(s->hull, u);
        v3_copy(p, &s->hull->vertex[3 * v]);
        return v;
    }
    default: { /* triangle */
        double d0 = v3_dot(u, s->corner), d1 = v3_dot(u, s->corner + 3),
               d2 = v3_dot(u, s->corner + 6);
        int v = d1 > d0 ? (d2 > d1 ? 2 : 1) : (d2 > d0 ? 2 : 0);
        v3_copy(p, s->corner + 3 * v);
        return v;
    }
    }
}

void collide_support(const collide_solid *s, const double n[3], double p[3], int *id)
{
    double u[3], q[3];
    v3_turn_back(u, s->R, n);
    *id = collide_own_support(s, u, q);
    v3_turn(p, s->R, q);
    v3_add(p, p, 1, s->t);
}

void collide_support_pair(const collide_solid *a, const collide_solid *b, const double n[3],
                          collide_apex *out)
{
    double back[3] = {-n[0], -n[1], -n[2]};
    collide_support(a, n, out->a, &out->ia);
    collide_support(b, back, out->b, &out->ib);
    v3_sub(out->w, out->a, out->b);
}

double collide_gap(const collide_solid *a, const collide_solid *b, const double n[3])
{
    collide_apex s;
    collide_support_pair(a, b, n, &s);
    return -v3_dot(n, s.w) - a->radius - b->radius;
}

void collide_solid_of(const collide_shape *shape, collide_solid *s)
{
    const double *h = s->size;
    s->kind = (int)shape->kind;
    v3_set(s->size, fabs(shape->size[0]), fabs(shape->size[1]), fabs(shape->size[2]));
    s->hull = shape->hull;
    s->corner = NULL;
    v3_set(s->t, 0, 0, 0);
    s->radius = s->extent = 0;
    switch (shape->kind) {
    case COLLIDE_SPHERE:
        s->radius = h[0];
        break;
    case COLLIDE_CAPSULE:
        s->radius = h[0];
        s->extent = h[1];
        break;
    case COLLIDE_CYLINDER:
    case COLLIDE_CONE:
        s->extent = sqrt(h[0] * h[0] + h[1] * h[1]);
        break;
    case COLLIDE_BOX:
        s->extent = v3_length(h);
        break;
    case COLLIDE_ELLIPSOID:
        s->extent = v3_max(h[0], v3_max(h[1], h[2]));
        break;
    case COLLIDE_HULL:
        s->extent = shape->hull->extent;
        break;
    default:
        break;
    }
}

/* The rotated bounding box of a ground shape. */
static void ground_bounds(const collide_shape *shape, const collide_pose *at, double lower[3],
                          double upper[3])
{
    double low[3], high[3];
    if (shape->kind == COLLIDE_FIELD) {
        collide_field_box(shape->field, low, high);
    } else {
        collide_mesh_box(shape->mesh, low, high);
    }
    for (int i = 0; i < 3; i++) {
        lower[i] = upper[i] = at->pos[i];
        for (int j = 0; j < 3; j++) {
            double r = at->R[3 * i + j];
            lower[i] += r * (r < 0 ? high[j] : low[j]);
            upper[i] += r * (r < 0 ? low[j] : high[j]);
        }
    }
}

void collide_bounds(const collide_shape *shape, const collide_pose *at, double lower[3],
                    double upper[3])
{
    if (shape->kind == COLLIDE_PLANE) {
        v3_set(lower, -INFINITY, -INFINITY, -INFINITY);
        v3_set(upper, INFINITY, INFINITY, INFINITY);
        return;
    }
    if (shape->kind == COLLIDE_FIELD || shape->kind == COLLIDE_MESH) {
        ground_bounds(shape, at, lower, upper);
        return;
    }
    collide_solid s;
    collide_solid_of(shape, &s);
    for (int i = 0; i < 3; i++) { /* the row i of R is the world's axis i in the shape's frame */
        const double *up = &at->R[3 * i];
        double down[3] = {-up[0], -up[1], -up[2]}, p[3];
        collide_own_support(&s, up, p);
        upper[i] = at->pos[i] + v3_dot(up, p) + s.radius;
        collide_own_support(&s, down, p);
        lower[i] = at->pos[i] + v3_dot(up, p) - s.radius;
    }
}

/* ---- The face around the farthest point ------------------------------------------------------ */

static void polygon_add(collide_polygon *g, double x, double y, double z, int id)
{
    v3_set(g->point[g->count], x, y, z);
    g->id[g->count++] = id;
}

/* A disc of radius r at height z as an octagon that begins where u points, so that the farthest
 * point is one of its corners; below a tilt of 1e-9 at the x axis. */
static void disc(collide_polygon *g, const double u[3], double r, double z, int id)
{
    static const double step[8][2] = {{1, 0},  {0.70710678118654752440, 0.70710678118654752440},
                                      {0, 1},  {-0.70710678118654752440, 0.70710678118654752440},
                                      {-1, 0}, {-0.70710678118654752440, -0.70710678118654752440},
                                      {0, -1}, {0.70710678118654752440, -0.70710678118654752440}};
    double across = sqrt(u[0] * u[0] + u[1] * u[1]);
    double c = across > 1e-9 ? u[0] / across : 1, s = across > 1e-9 ? u[1] / across : 0;
    double turn = z < 0 ? -1 : 1; /* counterclockwise from outside */
    v3_set(g->normal, 0, 0, turn);
    for (int k = 0; k < 8; k++) {
        double x = step[k][0], y = turn * step[k][1];
        polygon_add(g, r * (c * x - s * y), r * (s * x + c * y), z, id + k);
    }
}

static void cylinder_polygon(const collide_solid *s, const double u[3], collide_polygon *g)
{
    double r = s->size[0], h = s->size[1], p[3];
    double across = sqrt(u[0] * u[0] + u[1] * u[1]);
    g->face = u[2] < 0;
    if (fabs(u[2]) > across) {
        disc(g, u, r, u[2] < 0 ? -h : h, u[2] < 0 ? 8 : 0);
        return;
    }
    rim_support(u, r, h, p);
    polygon_add(g, p[0], p[1], h, 0);
    polygon_add(g, p[0], p[1], -h, 8);
    g->round[0] = g->round[1] = r;
    g->face = 2;
}

static void cone_polygon(const collide_solid *s, const double u[3], collide_polygon *g)
{
    double r = s->size[0], h = s->size[1], p[3];
    double across = sqrt(u[0] * u[0] + u[1] * u[1]);
    double along = 2 * h * across + r * u[2], slant = sqrt(4 * h * h + r * r);
    if (-u[2] * slant > along) {
        disc(g, u, r, -h, 0);
        return;
    }
    rim_support(u, r, -h, p);
    polygon_add(g, 0, 0, h, 8);
    polygon_add(g, p[0], p[1], -h, 0);
    g->round[1] = h > 0 ? r * slant / (2 * h) : 0; /* the apex has none */
    g->face = 2;
}

static void box_polygon(const collide_solid *s, const double u[3], collide_polygon *g)
{
    const double *h = s->size;
    int i = fabs(u[1]) > fabs(u[0]) ? 1 : 0;
    i = fabs(u[2]) > fabs(u[i]) ? 2 : i;
    int j = (i + 1) % 3, k = (i + 2) % 3, low = u[i] < 0;
    static const int around[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    for (int c = 0; c < 4; c++) {
        int lj = around[c][low], lk = around[c][1 - low];
        double p[3];
        p[i] = low ? -h[i] : h[i];
        p[j] = lj ? -h[j] : h[j];
        p[k] = lk ? -h[k] : h[k];
        polygon_add(g, p[0], p[1], p[2], low << i | lj << j | lk << k);
    }
    v3_set(g->normal, 0, 0, 0);
    g->normal[i] = low ? -1 : 1;
    g->face = 2 * i + low;
}

/* The corners of face f; if there are too many, a fixed selection: the corners of a flat face are
 * all at one level, and only round-off decides which one is the farthest along u. If v is farther
 * than all of the selection, the selection starts at v. */
static void ring_of(const collide_hull *h, int f, const double u[3], int v, int limit,
                    collide_polygon *g)
{
    const int *ring = h->ring + h->face_start[f];
    int count = h->face_start[f + 1] - h->face_start[f];
    int least = count < limit ? count : limit, from = 0;
    double most = -INFINITY;
    for (int c = 0; c < least && count > limit; c++) {
        most = v3_max(most, v3_dot(u, &h->vertex[3 * ring[(long long)c * count / limit]]));
    }
    int beyond = count > limit && v3_dot(u, &h->vertex[3 * v]) > most + 1e-9 * h->extent;
    for (int c = 0; c < count && beyond; c++) {
        from = ring[c] == v ? c : from;
    }
    for (int c = 0; c < least; c++) {
        int at = count <= limit ? c : (from + (int)((long long)c * count / limit)) % count;
        const double *x = &h->vertex[3 * ring[at]];
        polygon_add(g, x[0], x[1], x[2], ring[at]);
    }
}

/* Among the faces at the farthest corner, the one with the most corners that are equally far, and
 * among these the one whose normal is closest to u. */
static void hull_polygon(const collide_solid *s, const double u[3], int limit, collide_polygon *g)
{
    const collide_hull *h = s->hull;
    int v = collide_hull_support(h, u), best = -1, best_level = 0;
    double most = v3_dot(u, &h->vertex[3 * v]), near = 1e-9 * h->extent;
    for (int k = h->around_start[v]; k < h->around_start[v + 1]; k++) {
        int f = h->around[k], level = 0;
        for (int c = h->face_start[f]; c < h->face_start[f + 1]; c++) {
            level += v3_dot(u, &h->vertex[3 * h->ring[c]]) > most - near;
        }
        if (best < 0 || level > best_level ||
            (level == best_level && v3_dot(u, &h->plane[4 * f]) > v3_dot(u, &h->plane[4 * best]))) {
            best = f;
            best_level = level;
        }
    }
    if (best < 0) { /* a point, or points on a line: the ends */
        for (int c = 0; c < h->vertex_count && c < 2; c++) {
            polygon_add(g, h->vertex[3 * c], h->vertex[3 * c + 1], h->vertex[3 * c + 2], c);
        }
        return;
    }
    ring_of(h, best, u, v, limit, g);
    v3_copy(g->normal, &h->plane[4 * best]);
    g->face = best;
}

static void triangle_polygon(const collide_solid *s, collide_polygon *g)
{
    double u[3], v[3];
    for (int c = 0; c < 3; c++) {
        polygon_add(g, s->corner[3 * c], s->corner[3 * c + 1], s->corner[3 * c + 2], c);
    }
    v3_sub(u, s->corner + 3, s->corner);
    v3_sub(v, s->corner + 6, s->corner);
    v3_cross(g->normal, u, v);
    v3_unit(g->normal);
}

void collide_polygon_of(const collide_solid *s, const double n[3], int most, collide_polygon *out)
{
    double u[3], p[3];
    v3_turn_back(u, s->R, n);
    out->count = 0;
    out->face = 0;
    out->round[0] = out->round[1] = 0;
    v3_copy(out->normal, u);
    switch (s->kind) {
    case COLLIDE_CAPSULE:
        polygon_add(out, 0, 0, s->size[1], 0);
        polygon_add(out, 0, 0, -s->size[1], 1);
        break;
    case COLLIDE_CYLINDER:
        cylinder_polygon(s, u, out);
        break;
    case COLLIDE_CONE:
        cone_polygon(s, u, out);
        break;
    case COLLIDE_BOX:
        box_polygon(s, u, out);
        break;
    case COLLIDE_HULL:
        hull_polygon(s, u, most, out);
        break;
    case COLLIDE_TRIANGLE:
        triangle_polygon(s, out);
        break;
    default: {
        int id = collide_own_support(s, u, p);
        polygon_add(out, p[0], p[1], p[2], id);
    }
    }
    for (int k = 0; k < out->count; k++) {
        v3_copy(p, out->point[k]);
        v3_turn(out->point[k], s->R, p);
        v3_add(out->point[k], out->point[k], 1, s->t);
    }
    v3_copy(p, out->normal);
    v3_turn(out->normal, s->R, p);
}

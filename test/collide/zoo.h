/* Figures for poses.h: all kinds of shapes, with the outward directions of what they have. */
#ifndef ZWANG_TEST_COLLIDE_ZOO_H
#define ZWANG_TEST_COLLIDE_ZOO_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collide/collide.h"
#include "collide/hull.h"

typedef struct figure {
    const char *name;
    collide_shape shape;
    int corners; /* of a polytope; NULL and 0 for the others */
    double (*corner)[3];
    int features; /* outward directions of faces, edges, corners and what else it has */
    double feature[96][3];
} figure;

typedef struct zoo {
    figure figure[64];
    int count;
} zoo;

static inline double p_dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void p_cross(double out[3], const double a[3], const double b[3])
{
    double c[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    memcpy(out, c, sizeof c);
}

static inline double p_unit(double v[3])
{
    double length = sqrt(p_dot(v, v));
    for (int i = 0; i < 3 && length > 0; i++) {
        v[i] /= length;
    }
    return length;
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

static inline void add_feature(figure *f, double x, double y, double z)
{
    double v[3] = {x, y, z};
    if (f->features < 96 && p_unit(v) > 0) {
        memcpy(f->feature[f->features++], v, sizeof v);
    }
}

/* The sides, edges and corners of the box around. */
static inline void box_features(figure *f)
{
    for (int k = 0; k < 27; k++) {
        add_feature(f, k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1);
    }
}

static inline figure *zoo_add(zoo *z, const char *name, collide_kind kind, double x, double y,
                              double zz)
{
    figure *f = &z->figure[z->count++];
    *f = (figure){.name = name, .shape = {.kind = kind, .size = {x, y, zz}}};
    box_features(f);
    if (kind == COLLIDE_CONE) { /* the normal of its side */
        add_feature(f, 2 * y, 0, x);
        add_feature(f, 0, -2 * y, x);
    }
    if (kind == COLLIDE_BOX) {
        f->corners = 8;
        f->corner = calloc(8, sizeof *f->corner);
        for (int k = 0; k < 24; k++) {
            f->corner[k / 3][k % 3] = (k / 3 >> k % 3 & 1 ? -1 : 1) * f->shape.size[k % 3];
        }
    }
    return f;
}

static inline void zoo_hull(zoo *z, const char *name, int corners, double (*corner)[3])
{
    figure *f = zoo_add(z, name, COLLIDE_HULL, 0, 0, 0);
    f->corners = corners;
    f->corner = calloc((size_t)corners, sizeof *f->corner);
    memcpy(f->corner, corner, (size_t)corners * sizeof *corner);
    f->shape.hull = collide_hull_new(corner[0], corners);
    const collide_hull *h = f->shape.hull;
    for (int k = 0; k < h->face_count && k < 12; k++) {
        add_feature(f, h->plane[4 * k], h->plane[4 * k + 1], h->plane[4 * k + 2]);
    }
    for (int k = 0; k < h->vertex_count && k < 12; k++) {
        const double *v = &h->vertex[3 * k];
        add_feature(f, v[0], v[1], v[2]);
        for (int n = h->near_start[k]; h->face_count > 0 && n < h->near_start[k + 1] && n < 3;
             n++) {
            const double *w = &h->vertex[3 * h->near[n]];
            add_feature(f, v[0] + w[0], v[1] + w[1], v[2] + w[2]);
        }
    }
}

/* A prism over a polygon of n corners, its top smaller by `taper`. */
static inline void zoo_prism(zoo *z, const char *name, int n, double r, double h, double taper)
{
    double(*c)[3] = calloc(2 * (size_t)n, sizeof *c);
    for (int k = 0; k < n; k++) {
        double turn = 6.283185307179586477 * k / n;
        for (int top = 0; top < 2; top++) {
            double s = top ? r * taper : r;
            c[2 * k + top][0] = s * cos(turn);
            c[2 * k + top][1] = s * sin(turn);
            c[2 * k + top][2] = top ? h : -h;
        }
    }
    zoo_hull(z, name, 2 * n, c);
    free(c);
}

static inline void zoo_lattice(zoo *z, const char *name, int n, double x, double y, double zz)
{
    double(*c)[3] = calloc((size_t)(n * n * n), sizeof *c);
    for (int k = 0; k < n * n * n; k++) {
        c[k][0] = x * (2 * (k % n) - n + 1) / (n - 1);
        c[k][1] = y * (2 * (k / n % n) - n + 1) / (n - 1);
        c[k][2] = zz * (2 * (k / n / n) - n + 1) / (n - 1);
    }
    zoo_hull(z, name, n * n * n, c);
    free(c);
}

static inline void zoo_open(zoo *z)
{
    z->count = 0;
    zoo_add(z, "ball", COLLIDE_SPHERE, 0.5, 0, 0);
    zoo_add(z, "pill", COLLIDE_CAPSULE, 0.25, 0.5, 0);
    zoo_add(z, "wire", COLLIDE_CAPSULE, 1e-3, 1, 0);
    zoo_add(z, "round egg", COLLIDE_ELLIPSOID, 0.5, 0.5, 0.5);
    zoo_add(z, "egg", COLLIDE_ELLIPSOID, 0.25, 0.5, 0.75);
    zoo_add(z, "lens", COLLIDE_ELLIPSOID, 0.5, 0.5, 0.125);
    zoo_add(z, "roll", COLLIDE_CYLINDER, 0.5, 0.5, 0);
    zoo_add(z, "coin", COLLIDE_CYLINDER, 0.5, 0.0078125, 0);
    zoo_add(z, "rod", COLLIDE_CYLINDER, 0.0078125, 1, 0);
    zoo_add(z, "box", COLLIDE_BOX, 0.5, 0.5, 0.5);
    zoo_add(z, "brick", COLLIDE_BOX, 1, 0.5, 0.25);
    zoo_add(z, "plate", COLLIDE_BOX, 1, 1, 1e-3);
    zoo_add(z, "stick", COLLIDE_BOX, 1e-3, 1e-3, 1);
    zoo_add(z, "cone", COLLIDE_CONE, 0.5, 0.5, 0);
    zoo_add(z, "hat", COLLIDE_CONE, 0.5, 0.03125, 0);
    zoo_add(z, "spike", COLLIDE_CONE, 0.03125, 0.5, 0);
    zoo_lattice(z, "cube", 2, 0.5, 0.5, 0.5);
    zoo_lattice(z, "rich cube", 5, 0.5, 0.5, 0.5);
    zoo_lattice(z, "sheet", 2, 1, 1, 1e-3);
    zoo_lattice(z, "needle", 2, 1e-3, 1e-3, 1);
    zoo_prism(z, "wedge", 3, 0.5, 0.5, 1);
    zoo_prism(z, "nut", 6, 0.5, 0.25, 1);
    zoo_prism(z, "stump", 8, 0.5, 0.5, 0.5);
    double tet[4][3] = {{0.5, 0.5, 0.5}, {0.5, -0.5, -0.5}, {-0.5, 0.5, -0.5}, {-0.5, -0.5, 0.5}};
    zoo_hull(z, "tetrahedron", 4, tet);
    double corner[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    zoo_hull(z, "corner", 4, corner);
    double oct[6][3] = {{0.5, 0, 0},  {-0.5, 0, 0}, {0, 0.5, 0},
                        {0, -0.5, 0}, {0, 0, 0.5},  {0, 0, -0.5}};
    zoo_hull(z, "octahedron", 6, oct);
}

/* Of very many corners. */
static inline void zoo_large(zoo *z)
{
    zoo_prism(z, "disc of 500", 500, 0.5, 0.25, 1);
    double(*many)[3] = calloc(1000, sizeof *many);
    for (int k = 0; k < 1000; k++) {
        double y = 1 - (2 * k + 1) / 1000.0, r = sqrt(1 - y * y), t = 2.399963229728653 * k;
        many[k][0] = 0.5 * r * cos(t);
        many[k][1] = 0.5 * y;
        many[k][2] = 0.5 * r * sin(t);
    }
    zoo_hull(z, "thousand", 1000, many);
    free(many);
}

static inline void figure_free(figure *f)
{
    collide_hull_free((collide_hull *)f->shape.hull);
    free(f->corner);
}

static inline void zoo_close(zoo *z)
{
    for (int i = 0; i < z->count; i++) {
        figure_free(&z->figure[i]);
    }
}

/* Larger by s, which is exact if it is a power of two. */
static inline figure figure_scaled(const figure *from, double s)
{
    figure f = *from;
    for (int i = 0; i < 3; i++) {
        f.shape.size[i] *= s;
    }
    if (f.corner != NULL) {
        f.corner = calloc((size_t)f.corners, sizeof *f.corner);
        for (int k = 0; k < 3 * f.corners; k++) {
            f.corner[k / 3][k % 3] = s * from->corner[k / 3][k % 3];
        }
    }
    if (f.shape.hull != NULL) {
        f.shape.hull = collide_hull_new(f.corner[0], f.corners);
    }
    return f;
}

static inline double extent(const figure *f)
{
    const double *h = f->shape.size;
    double most = 0;
    for (int k = 0; k < f->corners; k++) {
        most = fmax(most, sqrt(p_dot(f->corner[k], f->corner[k])));
    }
    switch (f->shape.kind) {
    case COLLIDE_SPHERE:
        return h[0];
    case COLLIDE_CAPSULE:
        return h[0] + h[1];
    case COLLIDE_ELLIPSOID:
        return fmax(h[0], fmax(h[1], h[2]));
    case COLLIDE_CYLINDER:
    case COLLIDE_CONE:
        return sqrt(h[0] * h[0] + h[1] * h[1]);
    default:
        return most;
    }
}

#endif

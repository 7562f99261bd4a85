/* Rays against an independent definition: whether a point is inside. From the start of a ray to the
 * hit all points are on one side of the surface, just behind it they are on the other, and the
 * normal is the slope of the surface. Meshes: no ray that is aimed at a vertex or an edge of a
 * closed one passes through. Comparisons with MuJoCo: test/read/mjcf_now/rays.xml. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "collide/ground.h"
#include "collide/hull.h"
#include "collide/vector.h"

static unsigned seed = 5;

static double chance(double most)
{
    seed = seed * 1664525u + 1013904223u;
    return most * ((double)(seed >> 8) / 8388608.0 - 1.0);
}

/* Negative inside, and a slope of order one near the surface. */
static double outside(const collide_shape *s, const double x[3])
{
    const double *h = s->size;
    double across = sqrt(x[0] * x[0] + x[1] * x[1]), d[3], z;
    switch (s->kind) {
    case COLLIDE_PLANE:
        return x[2];
    case COLLIDE_SPHERE:
        return sqrt(v3_dot(x, x)) - h[0];
    case COLLIDE_CAPSULE:
        z = fmax(fabs(x[2]) - h[1], 0);
        return sqrt(across * across + z * z) - h[0];
    case COLLIDE_ELLIPSOID:
        for (int k = 0; k < 3; k++) {
            d[k] = x[k] / h[k];
        }
        return sqrt(v3_dot(d, d)) - 1;
    case COLLIDE_CYLINDER:
        return fmax(across - h[0], fabs(x[2]) - h[1]);
    case COLLIDE_CONE:
        return fmax(across - h[0] * (h[1] - x[2]) / (2 * h[1]), fabs(x[2]) - h[1]);
    default:
        return fmax(fabs(x[0]) - h[0], fmax(fabs(x[1]) - h[1], fabs(x[2]) - h[2]));
    }
}

static void check_hit(const collide_shape *s, const double p[3], const double d[3], double t,
                      const double n[3])
{
    double x[3], y[3], before = outside(s, p), slope[3];
    for (int k = 1; k < 50; k++) {
        v3_add(x, p, (t >= 0 ? t : 40) * k / 50, d);
        assert_true((outside(s, x) > 0) == (before > 0));
    }
    if (t < 0) {
        return;
    }
    v3_add(x, p, t, d);
    assert_true(fabs(outside(s, x)) < 1e-12);
    for (int k = 0; k < 3; k++) {
        v3_copy(y, x);
        y[k] += 1e-6;
        slope[k] = outside(s, y);
        y[k] -= 2e-6;
        slope[k] -= outside(s, y);
    }
    v3_unit(slope);
    assert_true(fabs(v3_dot(n, n) - 1) < 1e-14);
    v3_sub(y, slope, n);
    assert_true(sqrt(v3_dot(y, y)) < 1e-4); /* but at an edge, which chance does not hit */
}

static void rays_meet_what_is_inside(void **state)
{
    (void)state;
    static const collide_kind kinds[] = {COLLIDE_PLANE,     COLLIDE_SPHERE,   COLLIDE_CAPSULE,
                                         COLLIDE_ELLIPSOID, COLLIDE_CYLINDER, COLLIDE_BOX,
                                         COLLIDE_CONE};
    int hits = 0, misses = 0;
    for (int i = 0; i < 7000; i++) {
        collide_shape s = {.kind = kinds[i % 7], .size = {0.7, 1.1, 0.4}};
        double p[3] = {chance(3), chance(3), chance(3)}, d[3] = {chance(1), chance(1), chance(1)};
        double n[3], t;
        if (s.kind == COLLIDE_PLANE) {
            memset(s.size, 0, sizeof s.size);
            p[2] = fabs(p[2]); /* from its front */
        }
        if (i / 7 % 4 == 0) {
            d[i / 28 % 3] = 0; /* along a plane of axes, and along an axis */
            d[i / 84 % 3] = 0;
        }
        if (i / 7 % 3 == 0) { /* towards it */
            v3_set(d, chance(0.5) - p[0], chance(0.5) - p[1], chance(0.5) - p[2]);
        }
        v3_unit(d);
        t = collide_ray(&s, p, d, n);
        check_hit(&s, p, d, t, n);
        hits += t >= 0;
        misses += t < 0;
    }
    assert_true(hits > 2000 && misses > 1000);
}

static void plates_are_seen_from_their_front_only(void **state)
{
    (void)state;
    const collide_shape plate = {.kind = COLLIDE_PLANE, .size = {1, 2, 0}};
    double n[3];
    assert_true(collide_ray(&plate, (double[]){0.5, 1.5, 3}, (double[]){0, 0, -1}, n) == 3);
    assert_true(collide_ray(&plate, (double[]){0.5, 2.5, 3}, (double[]){0, 0, -1}, n) == -1);
    assert_true(collide_ray(&plate, (double[]){1.5, 0, 3}, (double[]){0, 0, -1}, n) == -1);
    assert_true(collide_ray(&plate, (double[]){0.5, 1.5, -3}, (double[]){0, 0, 1}, n) == -1);
}

/* From inside a mesh of a ball towards its vertices, and points of its edges. */
static void no_ray_passes_through_a_mesh(void **state)
{
    (void)state;
    enum { POINTS = 300 };
    double vertex[3 * POINTS], n[3];
    int *face = NULL;
    for (int i = 0; i < POINTS; i++) {
        double *v = &vertex[3 * i];
        v3_set(v, chance(1), chance(1), chance(1));
        v3_unit(v);
    }
    int faces = collide_hull_triangles(vertex, POINTS, &face, NULL);
    assert_true(faces == 2 * POINTS - 4);
    collide_mesh *mesh = collide_mesh_new(vertex, POINTS, face, faces);
    assert_non_null(mesh);
    for (int i = 0; i < 3 * faces; i++) {
        const double *a = &vertex[3 * face[i]], *b = &vertex[3 * face[i - i % 3 + (i + 1) % 3]];
        double p[3] = {chance(0.4), chance(0.4), chance(0.4)}, aim[3], x[3];
        double part = i % 5 == 0 ? 0 : 0.5 + chance(0.5);
        for (int k = 0; k < 3; k++) {
            aim[k] = a[k] + part * (b[k] - a[k]) - p[k];
        }
        double t = collide_mesh_ray(mesh, p, aim, n), least = INFINITY;
        assert_true(fabs(t - 1) < 1e-12 && v3_dot(n, aim) > 0);
        v3_add(x, p, t, aim);
        for (int f = 0; f < faces; f++) { /* it is on the hull: inside of all faces, on one */
            double e[3], g[3], m[3];
            v3_sub(e, &vertex[3 * face[3 * f + 1]], &vertex[3 * face[3 * f]]);
            v3_sub(g, &vertex[3 * face[3 * f + 2]], &vertex[3 * face[3 * f]]);
            v3_cross(m, e, g);
            v3_unit(m);
            v3_sub(e, &vertex[3 * face[3 * f]], x);
            least = fmin(least, v3_dot(m, e));
        }
        assert_true(fabs(least) < 1e-12);
    }
    collide_mesh_free(mesh);
    base_free(face);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rays_meet_what_is_inside),
        cmocka_unit_test(plates_are_seen_from_their_front_only),
        cmocka_unit_test(no_ray_passes_through_a_mesh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Shapes as faces, for reports: closed, outward, and of the volume they should have. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "model/bodies.h"
#include "system/bodies/bodies_solid.h"

#define PI 3.14159265358979323846

/* By the divergence theorem: pyramids from the origin over all faces. */
static double volume_of(const bodies_solid *s)
{
    double six = 0;
    int faces = 0;
    for (int at = 0; at < s->face_length; at += s->face[at] + 1, faces++) {
        const int *c = s->face + at + 1;
        for (int k = 1; k + 1 < s->face[at]; k++) {
            double cross[3];
            model_cross(cross, s->vertex[c[k]], s->vertex[c[k + 1]]);
            six += model_dot(s->vertex[c[0]], cross);
        }
    }
    assert_int_equal(faces, s->face_count);
    return six / 6;
}

/* Every edge is passed once each way. */
static int is_closed(const bodies_solid *s)
{
    int balance = 0;
    for (int at = 0; at < s->face_length; at += s->face[at] + 1) {
        int n = s->face[at];
        for (int k = 0; k < n; k++) {
            int from = s->face[at + 1 + k], to = s->face[at + 1 + (k + 1) % n], back = 0;
            for (int o = 0; o < s->face_length; o += s->face[o] + 1) {
                int m = s->face[o];
                for (int j = 0; j < m; j++) {
                    back += s->face[o + 1 + j] == to && s->face[o + 1 + (j + 1) % m] == from;
                }
            }
            balance |= back != 1;
        }
    }
    return !balance;
}

static zw_geom_def geom_of(zw_shape shape, double a, double b, double c)
{
    zw_geom_def g = zw_geom_default();
    const double quat[4] = {0.5, 0.5, -0.5, 0.5};
    g.shape = (int)shape;
    g.size[0] = a;
    g.size[1] = b;
    g.size[2] = c;
    for (int k = 0; k < 4; k++) {
        g.quat[k] = quat[k];
        g.pos[k % 3] = 0.3 + k;
    }
    return g;
}

static double volume(const model_bodies *from, const zw_geom_def *g, int closed)
{
    bodies_solid s = {0};
    assert_true(bodies_solid_add(&s, from, g));
    assert_false(s.failed);
    assert_int_equal(is_closed(&s), closed);
    double v = closed ? volume_of(&s) : 0;
    bodies_solid_free(&s);
    return v;
}

static void round_ones(void **state)
{
    (void)state;
    zw_geom_def cylinder = geom_of(ZW_SHAPE_CYLINDER, 0.3, 0.5, 0);
    zw_geom_def cone = geom_of(ZW_SHAPE_CONE, 0.3, 0.5, 0);
    zw_geom_def egg = geom_of(ZW_SHAPE_ELLIPSOID, 0.3, 0.5, 0.7);
    zw_geom_def box = geom_of(ZW_SHAPE_BOX, 1, 1, 1);
    double disc = 0.3 * 0.3 * 10 * sin(PI / 10); /* a polygon of 20 corners */
    bodies_solid none = {0};
    assert_true(fabs(volume(NULL, &cylinder, 1) - disc) < 1e-12);
    assert_true(fabs(volume(NULL, &cone, 1) - disc / 3) < 1e-12);
    double part = volume(NULL, &egg, 1) / (4 * PI / 3 * 0.3 * 0.5 * 0.7);
    assert_true(part > 0.9 && part < 1);
    assert_false(bodies_solid_add(&none, NULL, &box));
}

static void meshes_and_fields(void **state)
{
    (void)state;
    enum { N = 41 };
    static double ball[3 * N * N], height[N * N];
    for (int i = 0; i < N * N; i++) {
        double z = cos(PI * (i / N + 0.5) / N), r = sqrt(1 - z * z), turn = 2 * PI * (i % N) / N;
        ball[3 * i] = r * cos(turn);
        ball[3 * i + 1] = r * sin(turn);
        ball[3 * i + 2] = z;
        height[i] = 0.1 * z;
    }
    const double cube[24] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0,
                             0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1};
    zw_mesh_def mesh[2] = {{.vertex_count = 8, .vertex = cube},
                           {.vertex_count = N * N, .vertex = ball}};
    zw_hfield_def field = {
        .rows = N, .columns = N, .half = {1, 1}, .height = height, .height_count = N * N};
    model_bodies from = {.mesh = mesh, .hfield = &field};
    zw_geom_def g = geom_of(ZW_SHAPE_MESH, 0, 0, 0);
    g.mesh = 0;
    assert_true(fabs(volume(&from, &g, 1) - 1) < 1e-12);
    g.mesh = 1; /* few faces, but not much less than a ball */
    double part = volume(&from, &g, 1) / (4 * PI / 3);
    printf("of a ball with %d vertices %.3f is left\n", N * N, part);
    assert_true(part > 0.9 && part < 1);
    g.shape = ZW_SHAPE_HFIELD;
    g.hfield = 0;
    volume(&from, &g, 0);
}

/* Triangles of a fine mesh are made fewer, and what they enclose stays. */
static void triangles_are_thinned(void **state)
{
    (void)state;
    enum { N = 60 };
    static double vertex[3 * (N + 1) * (N + 1)];
    static int face[6 * N * N];
    for (int i = 0; i < (N + 1) * (N + 1); i++) {
        vertex[3 * i] = i % (N + 1);
        vertex[3 * i + 1] = i / (N + 1);
    }
    for (int i = 0; i < N * N; i++) {
        int o = i / N * (N + 1) + i % N, *f = face + 6 * i;
        f[0] = f[3] = o;
        f[1] = o + 1;
        f[2] = f[4] = o + N + 2;
        f[5] = o + N + 1;
    }
    zw_mesh_def mesh = {
        .vertex_count = (N + 1) * (N + 1), .vertex = vertex, .face_count = 2 * N * N, .face = face};
    model_bodies from = {.mesh = &mesh};
    zw_geom_def g = geom_of(ZW_SHAPE_MESH, 0, 0, 0);
    bodies_solid s = {0};
    g.mesh = 0;
    g.triangles = 1;
    assert_true(bodies_solid_add(&s, &from, &g));
    assert_in_range(s.face_count, 300, 1500);
    bodies_solid_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_ones),
        cmocka_unit_test(meshes_and_fields),
        cmocka_unit_test(triangles_are_thinned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Masses and moments: closed forms of textbooks, and laws that hold for every body. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "collide/hull.h"
#include "model/bodies.h"
#include "scene/dice.h"

#define PI 3.14159265358979323846

static void close_to(double got, double wanted, double scale)
{
    if (!(fabs(got - wanted) <= 1e-12 * scale)) {
        print_error("got %.17g, wanted %.17g\n", got, wanted);
        fail();
    }
}

static zw_model *with_body(void)
{
    zw_error error;
    zw_model *m = zw_model_create(&error);
    zw_body_def body = zw_body_default();
    zw_joint_def joint = zw_joint_default();
    assert_int_equal(zw_model_add_body(m, &body, &error), 1);
    joint.body = 1;
    joint.kind = ZW_JOINT_FREE;
    assert_int_equal(zw_model_add_joint(m, &joint, &error), 0);
    return m;
}

static zw_inertia weigh(zw_model *m)
{
    zw_error error;
    zw_inertia list[8];
    assert_true(zw_model_count(m, ZW_KIND_BODY) <= 8);
    zw_status status = zw_model_inertia(m, list, &error);
    if (status != ZW_OK) {
        print_error("%s\n", error.text);
    }
    assert_int_equal(status, ZW_OK);
    return list[1];
}

static void tensor_of(const zw_inertia *in, double tensor[6])
{
    model_principal_matrix(in->quat, in->moment, tensor);
}

static zw_geom_def shape(int kind, double a, double b, double c)
{
    zw_geom_def g = zw_geom_default();
    g.shape = kind;
    g.body = 1;
    g.size[0] = a;
    g.size[1] = b;
    g.size[2] = c;
    return g;
}

static void check_shape(zw_geom_def g, double volume, double x, double y, double z)
{
    zw_error error;
    zw_model *m = with_body();
    g.density = 3;
    assert_int_equal(zw_model_add_geom(m, &g, &error), 0);
    zw_inertia in = weigh(m);
    double tensor[6];
    tensor_of(&in, tensor);
    close_to(in.mass, 3 * volume, in.mass);
    double wanted[6] = {x, y, z, 0, 0, 0};
    for (int i = 0; i < 6; i++) {
        close_to(tensor[i], wanted[i] * in.mass, in.mass);
        close_to(i < 3 ? in.com[i] : 0, 0, 1);
    }
    zw_model_free(m);
}

static void shapes_of_textbooks(void **state)
{
    (void)state;
    double a = 0.3, b = 0.7, c = 0.45;
    check_shape(shape(ZW_SHAPE_SPHERE, a, 0, 0), 4.0 / 3 * PI * a * a * a, 0.4 * a * a, 0.4 * a * a,
                0.4 * a * a);
    check_shape(shape(ZW_SHAPE_BOX, a, b, c), 8 * a * b * c, (b * b + c * c) / 3,
                (a * a + c * c) / 3, (a * a + b * b) / 3);
    check_shape(shape(ZW_SHAPE_ELLIPSOID, a, b, c), 4.0 / 3 * PI * a * b * c, (b * b + c * c) / 5,
                (a * a + c * c) / 5, (a * a + b * b) / 5);
    double side = a * a / 4 + b * b / 3;
    check_shape(shape(ZW_SHAPE_CYLINDER, a, b, 0), 2 * PI * a * a * b, side, side, a * a / 2);
}

enum { RADIUS = 0, HEIGHT = 1 };
static const double round_size[2] = {0.3, 0.5};

/* The square of the radius at height z. */
static double capsule_at(double z)
{
    double r = round_size[RADIUS], over = fabs(z) - round_size[HEIGHT];
    return over > 0 ? r * r - over * over : r * r;
}

static double cone_at(double z)
{
    double h = round_size[HEIGHT], across = round_size[RADIUS] * (h - z) / (2 * h);
    return across * across;
}

/* A solid of revolution by integration over discs, about the centre that the same sum gives. */
static void by_discs(int kind, double end, double (*square_at)(double z))
{
    enum { N = 200000 };
    double volume = 0, first = 0, about_z = 0, about_x = 0;
    for (int i = 0; i < N; i++) {
        double dz = 2 * end / N, z = -end + (i + 0.5) * dz, square = square_at(z);
        double disc = PI * square * dz;
        volume += disc;
        first += disc * z;
        about_z += disc * square / 2;
        about_x += disc * (square / 4 + z * z);
    }
    about_x -= first * first / volume;
    zw_error error;
    zw_model *m = with_body();
    zw_geom_def g = shape(kind, round_size[RADIUS], round_size[HEIGHT], 0);
    g.density = 1;
    zw_model_add_geom(m, &g, &error);
    zw_inertia in = weigh(m);
    double tensor[6];
    tensor_of(&in, tensor);
    assert_true(fabs(in.mass - volume) < 1e-9 * volume);
    assert_true(fabs(in.com[2] - first / volume) < 1e-9);
    assert_true(fabs(tensor[2] - about_z) < 1e-9 * about_z);
    assert_true(fabs(tensor[0] - about_x) < 1e-9 * about_x);
    zw_model_free(m);
}

static void capsules_and_cones_by_discs(void **state)
{
    (void)state;
    by_discs(ZW_SHAPE_CAPSULE, round_size[HEIGHT] + round_size[RADIUS], capsule_at);
    by_discs(ZW_SHAPE_CONE, round_size[HEIGHT], cone_at);
}

/* ---- Meshes ---------------------------------------------------------------------------------- */

static const int cube_faces[36] = {0, 2, 1, 0, 3, 2, 4, 5, 6, 4, 6, 7, 0, 1, 5, 0, 5, 4,
                                   1, 2, 6, 1, 6, 5, 2, 3, 7, 2, 7, 6, 3, 0, 4, 3, 4, 7};

static void cube_vertices(double v[24], const double low[3], const double high[3])
{
    static const int corner[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                     {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    for (int i = 0; i < 24; i++) {
        v[i] = corner[i / 3][i % 3] ? high[i % 3] : low[i % 3];
    }
}

/* A box as a mesh (by any rule, or as the hull of its corners) is the box. */
static void a_cube_mesh_is_a_box(void **state)
{
    (void)state;
    double low[3] = {0.5, -1, 0}, high[3] = {2.5, 2, 1}, v[24];
    cube_vertices(v, low, high);
    for (int way = 0; way < 4; way++) {
        zw_error error;
        zw_model *m = with_body(), *n = with_body();
        zw_mesh_def mesh = zw_mesh_default();
        mesh.vertex = v;
        mesh.vertex_count = 8;
        mesh.face = cube_faces;
        mesh.face_count = way == 2 ? 0 : way == 3 ? 11 : 12; /* a hull closes a hole */
        mesh.rule = way == 1 ? ZW_MESH_LEGACY : way == 3 ? ZW_MESH_CONVEX : ZW_MESH_EXACT;
        assert_int_equal(zw_model_add_mesh(m, &mesh, &error), 0);
        zw_geom_def g = shape(ZW_SHAPE_MESH, 0, 0, 0);
        g.mesh = 0;
        zw_geom_def box = shape(ZW_SHAPE_BOX, 1, 1.5, 0.5);
        double quat[4] = {0.5, 0.1, -0.7, 0.3}, centre[3] = {1.5, 0.5, 0.5}, turned[3];
        memcpy(g.quat, quat, sizeof quat);
        memcpy(box.quat, quat, sizeof quat);
        model_quat_unit(quat);
        model_rotate(quat, centre, turned);
        for (int i = 0; i < 3; i++) {
            g.pos[i] = 0.1 * i;
            box.pos[i] = 0.1 * i + turned[i];
        }
        assert_int_equal(zw_model_add_geom(m, &g, &error), 0);
        assert_int_equal(zw_model_add_geom(n, &box, &error), 0);
        zw_inertia a = weigh(m), b = weigh(n);
        double s[6], t[6];
        tensor_of(&a, s);
        tensor_of(&b, t);
        close_to(a.mass, b.mass, b.mass);
        for (int i = 0; i < 3; i++) {
            close_to(a.com[i], b.com[i], 10);
        }
        for (int i = 0; i < 6; i++) {
            close_to(s[i], t[i], 10 * b.mass);
        }
        zw_model_free(m);
        zw_model_free(n);
    }
}

/* Exact also where the body is not convex and the surface comes in several closed parts: a tower of
 * two boxes; the shared wall, seen from both sides, cancels. */
static void two_boxes_are_their_sum(void **state)
{
    (void)state;
    double low[2][3] = {{0, 0, 0}, {0, 0, 1}}, high[2][3] = {{3, 1, 1}, {1, 1, 4}}, v[48];
    int face[72];
    for (int k = 0; k < 2; k++) {
        cube_vertices(v + 24 * k, low[k], high[k]);
        for (int i = 0; i < 36; i++) {
            face[36 * k + i] = cube_faces[i] + 8 * k;
        }
    }
    zw_mesh_def mesh = zw_mesh_default();
    mesh.vertex = v;
    mesh.vertex_count = 16;
    mesh.face = face;
    mesh.face_count = 24;
    zw_inertia in;
    assert_int_equal(model_mesh_inertia(&mesh, 0, &in), 1);
    close_to(in.mass, 6, 6); /* 3 + 3 */
    close_to(in.com[0], (3 * 1.5 + 3 * 0.5) / 6, 1);
    close_to(in.com[2], (3 * 0.5 + 3 * 2.5) / 6, 1);
    double tensor[6];
    tensor_of(&in, tensor);
    /* y: m/12 (w^2 + h^2) of each, and Steiner with (0.5, 1) from the common centre */
    close_to(tensor[1], 3.0 / 12 * 10 + 3 * 1.25 + 3.0 / 12 * 10 + 3 * 1.25, 10);
    close_to(tensor[4], -(3 * 0.5 * -1 + 3 * -0.5 * 1), 10); /* -sum m x z */
}

/* The hull of points on a sphere and within: its volume is that of its faces, no point is outside,
 * and an inner point changes nothing. */
static void hulls_contain_their_points(void **state)
{
    (void)state;
    enum { N = 60 };
    for (uint64_t seed = 1; seed <= 20; seed++) {
        dice d = dice_of(seed);
        double v[3 * (N + 20)];
        for (int i = 0; i < N + 20; i++) {
            double length = i < N ? 1 : dice_between(&d, 0, 0.3);
            dice_direction(&d, v + 3 * i);
            for (int k = 0; k < 3; k++) {
                v[3 * i + k] *= length;
            }
        }
        int *face;
        int faces = collide_hull_triangles(v, N + 20, &face, NULL);
        assert_int_equal(faces, 2 * N - 4); /* Euler: every point of the sphere is a corner */
        for (int f = 0; f < faces; f++) {
            double u[3], w[3], n[3];
            const double *a = v + 3 * face[3 * f], *b = v + 3 * face[3 * f + 1],
                         *c = v + 3 * face[3 * f + 2];
            for (int k = 0; k < 3; k++) {
                u[k] = b[k] - a[k];
                w[k] = c[k] - a[k];
            }
            model_cross(n, u, w);
            for (int i = 0; i < N + 20; i++) {
                assert_true(model_dot(n, v + 3 * i) - model_dot(n, a) < 1e-9);
            }
        }
        base_free(face);
    }
}

static void flat_points_have_no_hull(void **state)
{
    (void)state;
    double v[] = {0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 0.5, 0.5, 1};
    int *face;
    assert_int_equal(collide_hull_triangles(v, 5, &face, NULL), 0);
    base_free(face);
    memset(v, 0, sizeof v);
    assert_int_equal(collide_hull_triangles(v, 5, &face, NULL), 0);
}

/* ---- Laws ------------------------------------------------------------------------------------ */

/* Random symmetric matrices: R diag R' gives them back, R is a rotation, moments are in order. */
static void principal_axes_give_the_matrix_back(void **state)
{
    (void)state;
    dice d = dice_of(3);
    for (int k = 0; k < 2000; k++) {
        double a[6], b[6], quat[4], value[3], scale = dice_power(&d, -12, 12);
        for (int i = 0; i < 6; i++) {
            a[i] = scale * (k % 3 == 0 && i > 2 ? 1e-9 : 1) * dice_between(&d, -1, 1);
        }
        model_principal(a, quat, value);
        model_principal_matrix(quat, value, b);
        for (int i = 0; i < 6; i++) {
            assert_true(fabs(a[i] - b[i]) < 1e-14 * scale);
        }
        assert_true(value[0] >= value[1] && value[1] >= value[2]);
    }
}

/* Two halves of a box are the box, wherever the body's frame is. */
static void halves_make_the_whole(void **state)
{
    (void)state;
    zw_error error;
    zw_model *m = with_body(), *n = with_body();
    zw_geom_def whole = shape(ZW_SHAPE_BOX, 1, 0.5, 0.25);
    double quat[4] = {1, 2, 3, 4}, shift[3] = {0.5, 0, 0};
    memcpy(whole.quat, quat, sizeof quat);
    model_quat_unit(quat);
    model_rotate(quat, shift, shift);
    zw_model_add_geom(n, &whole, &error);
    for (int k = 0; k < 2; k++) {
        zw_geom_def half = whole;
        half.size[0] = 0.5;
        for (int i = 0; i < 3; i++) {
            half.pos[i] = k ? shift[i] : -shift[i];
        }
        zw_model_add_geom(m, &half, &error);
    }
    zw_inertia a = weigh(m), b = weigh(n);
    double s[6], t[6];
    tensor_of(&a, s);
    tensor_of(&b, t);
    close_to(a.mass, b.mass, b.mass);
    for (int i = 0; i < 6; i++) {
        close_to(s[i], t[i], b.mass);
    }
    zw_model_free(m);
    zw_model_free(n);
}

static void rules_of_the_world(void **state)
{
    (void)state;
    zw_error error;
    zw_model *m = with_body();
    zw_geom_def g = shape(ZW_SHAPE_BOX, 1, 1, 1);
    g.mass = 4;
    zw_model_add_geom(m, &g, &error);
    zw_world_def world = *zw_model_world(m);
    world.total_mass = 10;
    zw_model_set_world(m, &world, &error);
    zw_inertia in = weigh(m);
    close_to(in.mass, 10, 10);
    close_to(in.moment[0], 10 * 2.0 / 3, 10);

    world = zw_world_default();
    world.bound_mass = 7;
    world.bound_inertia = 9;
    zw_model_set_world(m, &world, &error);
    in = weigh(m);
    close_to(in.mass, 7, 10);
    close_to(in.moment[2], 9, 10);

    world = zw_world_default();
    world.group_range[0] = 2;
    zw_model_set_world(m, &world, &error);
    zw_inertia list[2];
    assert_int_equal(zw_model_inertia(m, list, &error), ZW_BAD_INPUT);
    assert_non_null(strstr(error.text, "has no mass"));
    zw_model_free(m);
}

/* A point mass may swing on a hinge; a body without mass may not, but armature or a fast child
 * helps. */
static void what_moves_has_mass(void **state)
{
    (void)state;
    zw_error error;
    zw_inertia list[3];
    zw_model *m = zw_model_create(&error);
    zw_body_def body = zw_body_default();
    body.inertial = 1;
    zw_model_add_body(m, &body, &error);
    zw_joint_def joint = zw_joint_default();
    joint.body = 1;
    zw_model_add_joint(m, &joint, &error);
    assert_int_equal(zw_model_inertia(m, list, &error), ZW_BAD_INPUT);

    body.mass = 1;
    body.com[0] = 1;
    zw_model_change(m, ZW_KIND_BODY, 1, &body, &error);
    assert_int_equal(zw_model_inertia(m, list, &error), ZW_OK);
    body.com[0] = 0;
    body.com[2] = 1; /* on the axis */
    zw_model_change(m, ZW_KIND_BODY, 1, &body, &error);
    assert_int_equal(zw_model_inertia(m, list, &error), ZW_BAD_INPUT);

    zw_body_def child = zw_body_default();
    child.parent = 1;
    child.inertial = 1;
    child.mass = 1;
    child.pos[1] = 1;
    zw_model_add_body(m, &child, &error);
    assert_int_equal(zw_model_inertia(m, list, &error), ZW_OK);
    zw_model_remove(m, ZW_KIND_BODY, 2, &error);
    joint.armature = 0.1;
    zw_model_change(m, ZW_KIND_JOINT, 0, &joint, &error);
    assert_int_equal(zw_model_inertia(m, list, &error), ZW_OK);
    zw_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_of_textbooks),
        cmocka_unit_test(capsules_and_cones_by_discs),
        cmocka_unit_test(a_cube_mesh_is_a_box),
        cmocka_unit_test(two_boxes_are_their_sum),
        cmocka_unit_test(hulls_contain_their_points),
        cmocka_unit_test(flat_points_have_no_hull),
        cmocka_unit_test(principal_axes_give_the_matrix_back),
        cmocka_unit_test(halves_make_the_whole),
        cmocka_unit_test(rules_of_the_world),
        cmocka_unit_test(what_moves_has_mass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

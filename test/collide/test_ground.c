/* Height fields and meshes: a flat one is a plane, a closed convex one is the convex shape; edges
 * inside make no normals of their own; and hulls have the faces they should. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "collide/bodies.h"

#include <stdio.h>

enum { CAPACITY = 512, SIDE = 9 };

static const collide_pose here = {{0, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};

static double least_gap(const collide_point *p, int count)
{
    double least = INFINITY;
    for (int i = 0; i < count; i++) {
        least = fmin(least, p[i].gap);
    }
    return least;
}

/* A square of 8 by 8 as a mesh whose inner vertices are thrown about in the plane, or a field. */
static collide_shape floor_of(dice *d, int field)
{
    double vertex[3 * SIDE * SIDE] = {0}, zero[SIDE * SIDE] = {0};
    int triangle[6 * (SIDE - 1) * (SIDE - 1)], count = 0;
    collide_shape s = {.kind = field ? COLLIDE_FIELD : COLLIDE_MESH};
    if (field) {
        s.field = collide_field_new(SIDE, SIDE, 4, 4, zero);
        return s;
    }
    for (int j = 0; j < SIDE; j++) {
        for (int i = 0; i < SIDE; i++) {
            double *v = &vertex[3 * (j * SIDE + i)];
            int inner = i > 0 && j > 0 && i + 1 < SIDE && j + 1 < SIDE;
            v[0] = i - 4 + (inner ? dice_between(d, -0.3, 0.3) : 0);
            v[1] = j - 4 + (inner ? dice_between(d, -0.3, 0.3) : 0);
        }
    }
    for (int j = 0; j + 1 < SIDE; j++) {
        for (int i = 0; i + 1 < SIDE; i++) {
            int at = j * SIDE + i, t[6] = {at, at + 1, at + SIDE + 1, at, at + SIDE + 1, at + SIDE};
            memcpy(&triangle[count], t, sizeof t);
            count += 6;
        }
    }
    s.mesh = collide_mesh_new(vertex, SIDE * SIDE, triangle, count / 3);
    return s;
}

static void ground_free(collide_shape *s)
{
    collide_field_free((collide_field *)s->field);
    collide_mesh_free((collide_mesh *)s->mesh);
}

static void test_flat_ground_is_a_plane(void **state)
{
    (void)state;
    dice d = dice_of(21);
    collide_shape plane = {.kind = COLLIDE_PLANE};
    double worst = 0;
    for (int k = 0; k < 3000; k++) {
        collide_shape ground = floor_of(&d, k & 1);
        body b = body_of(&d, (collide_kind)dice_int(&d, COLLIDE_SPHERE, COLLIDE_HULL));
        collide_point p[CAPACITY], q[CAPACITY];
        collide_pair(&plane, &here, &b.shape, &b.at, 10, p, CAPACITY);
        double depth = least_gap(p, collide_pair(&plane, &here, &b.shape, &b.at, 10, p, CAPACITY));
        b.at.pos[2] -= depth; /* now it touches; shallow, as contacts are */
        b.at.pos[2] += dice_between(&d, -0.05, 0.05);
        int flat = collide_pair(&plane, &here, &b.shape, &b.at, 0.1, p, CAPACITY);
        int count = collide_pair(&ground, &here, &b.shape, &b.at, 0.1, q, CAPACITY);
        assert_in_range(count, 1, CAPACITY);
        for (int i = 0; i < count; i++) {
            assert_true(fabs(q[i].normal[2] - 1) < 1e-14);
        }
        worst = fmax(worst, fabs(least_gap(p, flat) - least_gap(q, count)));
        body_free(&b);
        ground_free(&ground);
    }
    assert_true(worst < 1e-12);
}

/* A box of twelve triangles, seen from outside. */
static collide_shape box_mesh(const double h[3])
{
    static const int triangle[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                     2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
    double vertex[24];
    for (int k = 0; k < 8; k++) {
        for (int i = 0; i < 3; i++) {
            vertex[3 * k + i] = k >> i & 1 ? h[i] : -h[i];
        }
    }
    collide_shape s = {.kind = COLLIDE_MESH};
    s.mesh = collide_mesh_new(vertex, 8, triangle, 12);
    return s;
}

static void test_closed_mesh_is_its_body(void **state)
{
    (void)state;
    dice d = dice_of(22);
    double worst = 0;
    int apart = 0;
    for (int k = 0; k < 3000; k++) {
        body a = body_of(&d, COLLIDE_BOX);
        body b = body_of(&d, (collide_kind)dice_int(&d, COLLIDE_SPHERE, COLLIDE_HULL));
        collide_shape mesh = box_mesh(a.shape.size);
        collide_point p[CAPACITY], q[CAPACITY];
        for (int i = 0; i < 3; i++) {
            b.at.pos[i] *= 2;
        }
        int solid = collide_pair(&a.shape, &a.at, &b.shape, &b.at, 4, p, CAPACITY);
        int count = collide_pair(&mesh, &a.at, &b.shape, &b.at, 4, q, CAPACITY);
        double gap = least_gap(p, solid);
        if (solid > 0 && gap > 1e-6) {
            apart++;
            assert_in_range(count, 1, CAPACITY);
            worst = fmax(worst, fabs(gap - least_gap(q, count)));
        }
        body_free(&b);
        ground_free(&mesh);
    }
    assert_true(apart > 1000);
    assert_true(worst < 1e-10);
}

/* The nearest of all triangles to a ball over rough ground, by looking at many points of each. */
static void test_rough_field(void **state)
{
    (void)state;
    dice d = dice_of(23);
    for (int k = 0; k < 200; k++) {
        double h[SIDE * SIDE], least = INFINITY;
        for (int i = 0; i < SIDE * SIDE; i++) {
            h[i] = dice_between(&d, -0.4, 0.4);
        }
        collide_shape s = {.kind = COLLIDE_FIELD}, ball = {.kind = COLLIDE_SPHERE};
        s.field = collide_field_new(SIDE, SIDE, 4, 4, h);
        ball.size[0] = 0.3;
        collide_pose at = here;
        at.pos[0] = dice_between(&d, -3, 3);
        at.pos[1] = dice_between(&d, -3, 3);
        at.pos[2] = dice_between(&d, 0.75, 1);
        collide_point p[CAPACITY];
        int count = collide_pair(&s, &here, &ball, &at, 2, p, CAPACITY);
        assert_in_range(count, 1, CAPACITY);
        enum { FINE = 400 };
        for (int i = -FINE; i <= FINE; i++) { /* heights by their definition */
            for (int j = -FINE; j <= FINE; j++) {
                double x = at.pos[0] + 1.0 * i / FINE, y = at.pos[1] + 1.0 * j / FINE;
                int c = (int)floor(x + 4), r = (int)floor(y + 4);
                double u = x + 4 - c, v = y + 4 - r;
                const double *z = &h[r * SIDE + c];
                double height = u > v ? z[0] + u * (z[1] - z[0]) + v * (z[SIDE + 1] - z[1])
                                      : z[0] + v * (z[SIDE] - z[0]) + u * (z[SIDE + 1] - z[SIDE]);
                double dx = x - at.pos[0], dy = y - at.pos[1], dz = height - at.pos[2];
                least = fmin(least, sqrt(dx * dx + dy * dy + dz * dz));
            }
        }
        double gap = least_gap(p, count);
        assert_true(gap < least - 0.3 + 1e-12 && gap > least - 0.3 - 0.006);
        ground_free(&s);
    }
}

/* A ball over a roof z = 1 - |x|: the ridge if it is above both sides' normals, else a side. */
static void test_ball_over_a_ridge(void **state)
{
    (void)state;
    static const double h[10] = {0, 0, 1, 0, 0, 0, 0, 1, 0, 0};
    const double r = 1 / sqrt(2.0);
    collide_shape s = {.kind = COLLIDE_FIELD}, ball = {.kind = COLLIDE_SPHERE, .size = {0.25}};
    s.field = collide_field_new(5, 2, 2, 0.5, h);
    for (int k = 0; k <= 400; k++) {
        collide_pose at = {{-0.8 + 1.6 * k / 400, 0.1, 1.3}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
        collide_point p[CAPACITY];
        int count = collide_pair(&s, &here, &ball, &at, 3, p, CAPACITY);
        double off = fabs(at.pos[0]);
        double away = off <= 0.3 ? sqrt(off * off + 0.09) : (0.3 + off) * r;
        assert_true(fabs(least_gap(p, count) + 0.25 - away) < 1e-12);
        for (int i = 0; i < count; i++) { /* normals of the roof, or between */
            assert_true(p[i].normal[2] > r - 1e-9);
            assert_true(fabs(p[i].normal[1]) < 1e-9);
        }
    }
    ground_free(&s);
}

static void test_hull_faces(void **state)
{
    (void)state;
    double v[3 * 600];
    int count = 0;
    for (int i = 0; i <= 6; i++) { /* a cube of many points, on and in it */
        for (int j = 0; j <= 6; j++) {
            for (int k = 0; k <= 6; k++) {
                v[count++] = i / 6.0;
                v[count++] = j / 6.0 * 2;
                v[count++] = k / 6.0 * 3;
            }
        }
    }
    collide_hull *h = collide_hull_new(v, count / 3);
    assert_int_equal(h->face_count, 6);
    for (int f = 0; f < 6; f++) {
        assert_true(fabs(dot(&h->plane[4 * f], &h->plane[4 * f]) - 1) < 1e-14);
    }
    collide_hull_free(h);
    dice d = dice_of(24);
    for (int t = 0; t < 200; t++) { /* Euler's rule, and all points inside */
        count = dice_int(&d, 4, 200);
        for (int i = 0; i < count; i++) {
            double *x = &v[3 * i];
            dice_direction(&d, x);
            double r = t % 2 ? 1 : dice_between(&d, 0.1, 1);
            for (int c = 0; c < 3; c++) {
                x[c] *= r;
            }
        }
        h = collide_hull_new(v, count);
        assert_int_equal(h->vertex_count - h->ring_count / 2 + h->face_count, 2);
        assert_true(t % 2 == 0 || h->vertex_count == count);
        for (int f = 0; f < h->face_count; f++) {
            for (int i = 0; i < count; i++) {
                assert_true(dot(&v[3 * i], &h->plane[4 * f]) < h->plane[4 * f + 3] + 1e-9);
            }
        }
        for (int i = 0; i < h->vertex_count; i++) {
            assert_true(h->near_start[i + 1] - h->near_start[i] >= 3);
        }
        collide_hull_free(h);
    }
}

static void test_memory_can_fail(void **state)
{
    (void)state;
    const double v[18] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1, 0.1, 0.2, 0.1};
    const int t[6] = {0, 1, 2, 0, 2, 3};
    int done = 0, k = 0;
    while (done != 15 && k++ < 60) {
        base_alloc_fail_after(k);
        collide_hull *h = collide_hull_new(v, 6);
        base_alloc_fail_after(k);
        collide_hull *flat = collide_hull_new(v, 3);
        base_alloc_fail_after(k);
        collide_mesh *m = collide_mesh_new(v, 4, t, 2);
        base_alloc_fail_after(k);
        collide_field *f = collide_field_new(2, 2, 1, 1, v);
        base_alloc_fail_after(0);
        done = (h != NULL) | (flat != NULL) << 1 | (m != NULL) << 2 | (f != NULL) << 3;
        collide_hull_free(h);
        collide_hull_free(flat);
        collide_mesh_free(m);
        collide_field_free(f);
    }
    assert_int_equal(done, 15);
    assert_true(k > 10);
    const double bad[12] = {0, 0, 0, 1, 0, 0, 0, NAN, 0, 0, 0, 1};
    const int astray[3] = {0, 1, 4};
    assert_null(collide_hull_new(bad, 4));
    assert_null(collide_hull_new(v, 0));
    assert_null(collide_mesh_new(bad, 4, t, 2));
    assert_null(collide_mesh_new(v, 4, astray, 1));
    assert_null(collide_field_new(2, 2, 1, 0, v));
    assert_null(collide_field_new(1, 2, 1, 1, v));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flat_ground_is_a_plane),
        cmocka_unit_test(test_closed_mesh_is_its_body),
        cmocka_unit_test(test_rough_field),
        cmocka_unit_test(test_ball_over_a_ridge),
        cmocka_unit_test(test_hull_faces),
        cmocka_unit_test(test_memory_can_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

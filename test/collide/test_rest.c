/* Whether a body can rest where it does. Under gravity it can, exactly if its centre is above the
 * hull of the contact points: so these have to reach as far as the two surfaces touch, in every
 * direction, and no farther. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collide/poses.h"

#include <stdio.h>

#include "collide/ground.h"

enum { CAPACITY = 128 };

static collide_shape shape(collide_kind kind, double x, double y, double z)
{
    return (collide_shape){.kind = kind, .size = {x, y, z}};
}

/* Turned about z, then by a quarter about x if it lies. */
static collide_pose pose(double x, double y, double z, double yaw, int lies)
{
    collide_pose at = {.pos = {x, y, z}, .R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    static const double ex[3] = {1, 0, 0}, ez[3] = {0, 0, 1};
    if (lies) {
        turn_about(ex, 0, 1, at.R);
    }
    turn_about(ez, cos(yaw), sin(yaw), at.R);
    return at;
}

/* How far the points reach along (x, y); all of them touch, and hold upwards. */
static double reach(const collide_shape *a, const collide_pose *at_a, const collide_shape *b,
                    const collide_pose *at_b, double x, double y)
{
    collide_point p[CAPACITY];
    double far = -INFINITY;
    int count = collide_pair(a, at_a, b, at_b, 1e-5, p, CAPACITY);
    assert_in_range(count, 1, CAPACITY);
    for (int i = 0; i < count; i++) {
        assert_true(fabs(p[i].normal[2] - 1) < 1e-9 && fabs(p[i].gap) < 1e-5);
        far = fmax(far, x * p[i].pos[0] + y * p[i].pos[1]);
    }
    return far;
}

static const collide_pose here = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};

static void near(double is, double should)
{
    assert_true(fabs(is - should) < 2e-9);
}

/* A box of a table from x = -4 to 0, its top at z = 0; what stands at x = -0.5 .. 0.5 hangs over.
 */
static void test_over_the_edge(void **state)
{
    (void)state;
    collide_shape table = shape(COLLIDE_BOX, 2, 2, 0.5), box = shape(COLLIDE_BOX, 0.3, 0.2, 0.4);
    collide_shape roll = shape(COLLIDE_CYLINDER, 0.3, 0.4, 0),
                  cone = shape(COLLIDE_CONE, 0.3, 0.4, 0);
    double corner[8][3];
    for (int k = 0; k < 24; k++) {
        corner[k / 3][k % 3] = (k / 3 >> k % 3 & 1 ? -1 : 1) * box.size[k % 3];
    }
    collide_shape hull = {.kind = COLLIDE_HULL, .hull = collide_hull_new(corner[0], 8)};
    collide_pose under = pose(-2, 0, -0.5, 0, 0);
    const collide_shape *what[4] = {&box, &hull, &roll, &cone};
    for (int k = 0; k < 4 * 13; k++) {
        double x = 0.29 * (k / 4 - 6) / 6;
        for (int gap = -1; gap <= 1; gap++) {
            collide_pose at = pose(x, 0.1, 0.4 + 1e-10 * gap, 0, 0);
            near(reach(&table, &under, what[k % 4], &at, 1, 0), 0);
            near(reach(&table, &under, what[k % 4], &at, -1, 0), 0.3 - x);
            at = pose(0.6 * x, 0.1, 0.4 + 1e-10 * gap, 1.5707963267948966, 0);
            near(reach(&table, &under, what[k % 4], &at, 1, 0), 0);
            near(reach(&table, &under, what[k % 4], &at, -1, 0), (k % 4 < 2 ? 0.2 : 0.3) - 0.6 * x);
        }
    }
    collide_hull_free((collide_hull *)hull.hull);
}

/* Lying: a line of contact as long as the shorter, and no wider. */
static void test_lying(void **state)
{
    (void)state;
    collide_shape table = shape(COLLIDE_BOX, 2, 2, 0.5),
                  roll = shape(COLLIDE_CYLINDER, 0.3, 0.8, 0);
    collide_shape pill = shape(COLLIDE_CAPSULE, 0.3, 0.8, 0),
                  slab = shape(COLLIDE_BOX, 0.5, 0.5, 0.1);
    collide_pose under = pose(-2, 0, -0.5, 0, 0);
    for (int k = 0; k < 2 * 9; k++) {
        const collide_shape *what = k & 1 ? &pill : &roll;
        double x = 0.19 * (k / 2 - 4), yaw = 1.5707963267948966;
        collide_pose at = pose(x, 0.1, 0.3, yaw, 1); /* across the edge */
        near(reach(&table, &under, what, &at, 1, 0), fmin(0, x + 0.8));
        near(reach(&table, &under, what, &at, -1, 0), 0.8 - x);
        near(reach(&table, &under, what, &at, 0, 1), 0.1);
        near(reach(&table, &under, what, &at, 0, -1), -0.1);
        collide_pose lies = pose(0, 0, 0, yaw, 1); /* a slab on it */
        collide_pose on = pose(x, 0.05 * (k / 2 - 4), 0.4, 0, 0);
        near(reach(what, &lies, &slab, &on, 1, 0), fmin(0.8, x + 0.5));
        near(reach(what, &lies, &slab, &on, -1, 0), fmin(0.8, 0.5 - x));
        near(reach(what, &lies, &slab, &on, 0, 1), 0);
        near(reach(what, &lies, &slab, &on, 0, -1), 0);
    }
}

/* What has a round foot stands on eight or four points of it while it stands; once it leans, by
 * more than 1e-9, it is held at its very rim, whichever way. */
static void test_leaning(void **state)
{
    (void)state;
    static const double flat[9] = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    static const double floor[4][3] = {{-2, -2, 0}, {2, -2, 0}, {2, 2, 0}, {-2, 2, 0}};
    static const int two[6] = {0, 1, 2, 0, 2, 3};
    collide_shape ground[6] = {shape(COLLIDE_PLANE, 0, 0, 0),
                               shape(COLLIDE_BOX, 2, 2, 0.5),
                               shape(COLLIDE_CYLINDER, 2, 0.5, 0),
                               {.kind = COLLIDE_FIELD},
                               {.kind = COLLIDE_MESH},
                               {.kind = COLLIDE_HULL}};
    double corner[8][3];
    for (int k = 0; k < 24; k++) {
        corner[k / 3][k % 3] = (k / 3 >> k % 3 & 1 ? -1 : 1) * ground[1].size[k % 3];
    }
    ground[3].field = collide_field_new(3, 3, 2, 2, flat);
    ground[4].mesh = collide_mesh_new(floor[0], 4, two, 2);
    ground[5].hull = collide_hull_new(corner[0], 8);
    for (int k = 0; k < 6 * 40; k++) {
        int g = k % 6;
        collide_shape foot = shape(k & 1 ? COLLIDE_CONE : COLLIDE_CYLINDER, 0.3, 0.4, 0);
        double way = 0.157 * (k / 6), lean = k % 5 == 0 ? 1e-8 : 2e-6;
        double z = g == 0 || g == 3 || g == 4 ? 0 : 0.5, c[3] = {-sin(way), cos(way), 0};
        collide_pose at = pose(0.11, 0.07, z + 0.4, 0.3, 0);
        double still = reach(&ground[g], &here, &foot, &at, cos(way), sin(way)) - 0.11 * cos(way) -
                       0.07 * sin(way);
        assert_true(still > (g == 0 ? 0.7 : 0.92) * 0.3 && still < 0.3 + 1e-9);
        turn_about(c, sqrt(1 - lean * lean), lean, at.R);
        double far = reach(&ground[g], &here, &foot, &at, cos(way), sin(way)) - 0.11 * cos(way) -
                     0.07 * sin(way);
        if (!(fabs(far - 0.3) < 2e-6)) {
            printf("ground %d, %d leans by %g along %g: reaches %g\n", g, (int)foot.kind, lean, way,
                   far);
        }
        assert_true(fabs(far - 0.3) < 2e-6);
    }
    collide_field_free((collide_field *)ground[3].field);
    collide_mesh_free((collide_mesh *)ground[4].mesh);
    collide_hull_free((collide_hull *)ground[5].hull);
}

/* On a post: what leans is held at the rim of the post, if that is nearer. */
static void test_on_a_post(void **state)
{
    (void)state;
    collide_shape post = shape(COLLIDE_CYLINDER, 0.1, 0.5, 0),
                  disc = shape(COLLIDE_CYLINDER, 0.4, 0.2, 0);
    for (int k = 0; k < 40; k++) {
        double way = 0.157 * k, lean = 1e-6, c[3] = {-sin(way), cos(way), 0};
        collide_pose at = pose(0.05, -0.03, 0.7, 0.3, 0);
        assert_true(reach(&post, &here, &disc, &at, cos(way), sin(way)) > 0.092);
        turn_about(c, sqrt(1 - lean * lean), lean, at.R);
        double far = reach(&post, &here, &disc, &at, cos(way), sin(way));
        assert_true(fabs(far - 0.1) < 1e-6);
    }
}

/* A plate across the ridge of a roof of many triangles, level or leaning along the ridge: nothing
 * holds it from sliding across. */
static void test_plate_on_a_ridge(void **state)
{
    (void)state;
    enum { N = 9 };
    double height[N * N], v[N * N][3];
    int t[2 * (N - 1) * (N - 1)][3], count = 0;
    for (int k = 0; k < N * N; k++) {
        int i = k % N, j = k / N;
        height[k] = -0.25 * abs(i - N / 2);
        v[k][0] = 0.5 * (i - N / 2);
        v[k][1] = 0.5 * (j - N / 2);
        v[k][2] = height[k];
        if (i + 1 < N && j + 1 < N) {
            int two[2][3] = {{k, k + 1, k + N + 1}, {k, k + N + 1, k + N}};
            memcpy(t[count], two, sizeof two);
            count += 2;
        }
    }
    collide_shape ground[2] = {
        {.kind = COLLIDE_FIELD, .field = collide_field_new(N, N, 2, 2, height)},
        {.kind = COLLIDE_MESH, .mesh = collide_mesh_new(v[0], N * N, t[0], count)}};
    collide_shape plate = shape(COLLIDE_BOX, 0.7, 0.6, 0.1);
    for (int k = 0; k < 2 * 5; k++) {
        static const double lean[5] = {0, 1e-8, 1e-6, 1e-4, 1e-3}, ex[3] = {1, 0, 0};
        collide_pose at = pose(0.13, 0.21, 0.1 + 0.6 * lean[k / 2], 0, 0);
        collide_point p[CAPACITY];
        turn_about(ex, sqrt(1 - lean[k / 2] * lean[k / 2]), lean[k / 2], at.R);
        int n = collide_pair(&ground[k & 1], &here, &plate, &at, 0.01, p, CAPACITY);
        assert_in_range(n, 2, CAPACITY);
        for (int i = 0; i < n; i++) {
            assert_true(fabs(p[i].normal[0]) < 1e-9 && fabs(p[i].pos[0]) < 1e-9);
        }
    }
    collide_field_free((collide_field *)ground[0].field);
    collide_mesh_free((collide_mesh *)ground[1].mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_over_the_edge),    cmocka_unit_test(test_lying),
        cmocka_unit_test(test_leaning),          cmocka_unit_test(test_on_a_post),
        cmocka_unit_test(test_plate_on_a_ridge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

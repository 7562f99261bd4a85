/* Points of contact by MuJoCo's choice, on paper: capsules beside each other and on boxes and
 * hulls, cylinders on planes. system/compare_soft compares whole motions with MuJoCo itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "collide/collide.h"
#include "collide/hull.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-12)

static int meet(const collide_shape *a, const collide_pose *at_a, const collide_shape *b,
                const collide_pose *at_b, double margin, collide_choice choice,
                collide_point list[8])
{
    return collide_pair_or_gap(a, at_a, b, at_b, margin, choice, list, 8, NULL);
}

/* The z axis of the shape along x, turned by an angle about the world's z. */
static collide_pose along_x(double x, double y, double z, double angle)
{
    double c = cos(angle), s = sin(angle);
    return (collide_pose){{x, y, z}, {0, -s, c, 0, c, s, -1, 0, 0}};
}

/* Half axes of length 1/10, crossing above each other's centre: (1e-2 sin a)^2 is the square of the
 * cross product. */
static void capsules_are_parallel_below_a_threshold(void **context)
{
    (void)context;
    const collide_shape capsule = {.kind = COLLIDE_CAPSULE, .size = {0.05, 0.1}};
    collide_pose low = along_x(0, 0, 0, 0);
    collide_point list[8];
    for (int above = 0; above < 2; above++) {
        collide_pose high = along_x(0, 0, 0.099, 100 * sqrt(above ? 2e-15 : 5e-16));
        int count = meet(&capsule, &low, &capsule, &high, 0, COLLIDE_MUJOCO, list);
        assert_int_equal(count, above ? 1 : 2);
        NEAR(list[0].pos[0], above ? 0 : 0.1);
        if (!above) {
            NEAR(list[1].pos[0], -0.1);
        }
    }
}

/* Ends of the first on the second, first; then, until there are two, ends of the second. */
static void parallel_capsules_have_two_points(void **context)
{
    (void)context;
    const collide_shape capsule = {.kind = COLLIDE_CAPSULE, .size = {0.05, 0.1}};
    const collide_shape brief = {.kind = COLLIDE_CAPSULE, .size = {0.05, 0.04}};
    collide_pose low = along_x(0, 0, 0, 0), shifted = along_x(0.05, 0, 0.09, 0),
                 above = along_x(0.01, 0, 0.09, 0);
    collide_point list[8];
    /* -0.1 of the first is 0.05 from the nearest end: too far */
    assert_int_equal(meet(&capsule, &low, &capsule, &shifted, 0, COLLIDE_MUJOCO, list), 2);
    NEAR(list[0].pos[0], 0.1);
    NEAR(list[1].pos[0], -0.05);
    /* both ends of the first are: those of the second count */
    assert_int_equal(meet(&capsule, &low, &brief, &above, 0, COLLIDE_MUJOCO, list), 2);
    NEAR(list[0].pos[0], 0.05);
    NEAR(list[1].pos[0], -0.03);
    /* within reach, they come first, with the normal from the end to the end */
    assert_int_equal(meet(&capsule, &low, &brief, &above, 0.03, COLLIDE_MUJOCO, list), 2);
    NEAR(list[0].pos[0], 0.075);
    NEAR(list[0].gap, sqrt(0.05 * 0.05 + 0.09 * 0.09) - 0.1);
    NEAR(list[1].pos[0], -0.065);
}

/* Slightly askew, several ends are within reach; MuJoCo sees the nearest pair alone. */
static void askew_capsules_have_one_point(void **context)
{
    (void)context;
    const collide_shape capsule = {.kind = COLLIDE_CAPSULE, .size = {0.05, 0.1}};
    collide_pose low = along_x(0, 0, 0, 0), high = along_x(0.03, 0.001, 0.097, 0.02);
    collide_point list[8], all[8];
    int count = meet(&capsule, &low, &capsule, &high, 0, COLLIDE_COMPLETE, all), least = 0;
    assert_in_range(count, 3, 8);
    for (int k = 1; k < count; k++) {
        least = all[k].gap < all[least].gap ? k : least;
    }
    assert_int_equal(meet(&capsule, &low, &capsule, &high, 0, COLLIDE_MUJOCO, list), 1);
    NEAR(list[0].gap, all[least].gap);
    for (int i = 0; i < 3; i++) {
        NEAR(list[0].pos[i], all[least].pos[i]);
    }
}

/* Tilted about y by an angle: the lowest point of the lower rim, the two at 120 degrees from it,
 * and the lowest of the upper rim. */
static void cylinders_stand_on_triangles(void **context)
{
    (void)context;
    const collide_shape plane = {.kind = COLLIDE_PLANE},
                        cylinder = {.kind = COLLIDE_CYLINDER, .size = {0.1, 0.2}};
    const collide_pose ground = {{0, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    for (int up = -1; up <= 1; up += 2) { /* either rim is the lower one */
        double a = 0.03, c = cos(a), s = sin(a);
        const collide_pose at = {{0, 0, 0.2}, {up * c, 0, up * s, 0, 1, 0, -up * s, 0, up * c}};
        collide_point list[8];
        assert_int_equal(meet(&plane, &ground, &cylinder, &at, 1, COLLIDE_MUJOCO, list), 4);
        double low = 0.2 - 0.2 * c;
        NEAR(list[0].gap, low - 0.1 * s);
        NEAR(list[1].gap, 0.2 + 0.2 * c - 0.1 * s);
        for (int k = 2; k < 4; k++) {
            NEAR(list[k].gap, low + 0.05 * s);
            NEAR(fabs(list[k].pos[1]), 0.1 * sqrt(0.75));
        }
        NEAR(list[2].pos[1], -list[3].pos[1]);
        NEAR(list[0].pos[1], 0);
        assert_int_equal(meet(&plane, &ground, &cylinder, &at, 1, COLLIDE_COMPLETE, list), 5);
    }
}

/* On its x axis if it stands straight to the last bit, else at the lowest point, however small the
 * tilt. */
static void a_hair_of_tilt_turns_the_triangle(void **context)
{
    (void)context;
    const collide_shape plane = {.kind = COLLIDE_PLANE},
                        cylinder = {.kind = COLLIDE_CYLINDER, .size = {0.1, 0.2}};
    const collide_pose ground = {{0, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    collide_point list[8];
    for (int k = 0; k < 3; k++) {
        double tilt = k == 0 ? 0 : k == 1 ? 1e-16 : 1e-14; /* about x: the lowest is along y */
        const collide_pose at = {{0, 0, 0.19}, {1, 0, 0, 0, 1, -tilt, 0, tilt, 1}};
        assert_int_equal(meet(&plane, &ground, &cylinder, &at, 0, COLLIDE_MUJOCO, list), 3);
        NEAR(list[0].pos[0], k < 2 ? 0.1 : 0);
        NEAR(list[0].pos[1], k < 2 ? 0 : -0.1);
    }
}

/* A capsule longer than the box it lies across, tilted by 1/100 about y: the nearest point of its
 * axis to the edge below it, and as far along as the box is wide. Exactly level it has one. */
static void capsules_lie_on_boxes(void **context)
{
    (void)context;
    const collide_shape capsule = {.kind = COLLIDE_CAPSULE, .size = {0.05, 0.2}};
    const collide_shape box = {.kind = COLLIDE_BOX, .size = {0.1, 0.1, 0.1}};
    const collide_pose origin = {{0, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    collide_pose level = along_x(0, 0, 0.14, 0);
    collide_point list[8];
    assert_int_equal(meet(&capsule, &level, &box, &origin, 0, COLLIDE_MUJOCO, list), 1);
    assert_true(meet(&capsule, &level, &box, &origin, 0, COLLIDE_COMPLETE, list) > 1);
    NEAR(list[0].gap, -0.01);
    for (int end = -1; end <= 1; end += 2) {
        double c = cos(0.01), s = sin(0.01);
        const collide_pose at = {{0, 0, 0.14}, {0, 0, end * c, 0, 1, 0, -end * c, 0, s}};
        double along = -0.1 * c - 0.04 * s, x = along * c, z = 0.14 + along * s;
        double far = hypot(-0.1 - x, 0.1 - z), up = 0.14 + (along + 0.2 / c) * s;
        assert_int_equal(meet(&capsule, &at, &box, &origin, 0, COLLIDE_MUJOCO, list), 2);
        NEAR(list[0].gap, far - 0.05);
        NEAR(list[0].pos[0], end * (x - (0.1 + x) / far * (far + 0.05) / 2));
        NEAR(list[1].gap, up - 0.15);
        NEAR(list[1].pos[0], end * (x + 0.2));
        NEAR(list[1].pos[2], (0.1 + up - 0.05) / 2);
        NEAR(list[1].normal[2], -1);
    }
}

/* Into a corner; over the edge of a face; an end inside. */
static void capsules_at_corners_of_boxes(void **context)
{
    (void)context;
    const collide_shape capsule = {.kind = COLLIDE_CAPSULE, .size = {0.05, 0.2}};
    const collide_shape box = {.kind = COLLIDE_BOX, .size = {0.1, 0.1, 0.1}};
    const collide_pose origin = {{0, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    collide_point list[8];
    /* z of the capsule along (1, 1, 1) */
    double a = sqrt(0.5), b = sqrt(1. / 3), d = sqrt(1. / 6);
    const collide_pose into = {{0.23, 0.23, 0.23}, {a, d, b, -a, d, b, 0, -2 * d, b}};
    assert_int_equal(meet(&capsule, &into, &box, &origin, 0, COLLIDE_MUJOCO, list), 1);
    NEAR(list[0].gap, 0.13 / b - 0.2 - 0.05);
    /* its lower end above a face, which the segment leaves at y = 0.1 */
    double c = cos(0.1), s = sin(0.1);
    const collide_pose over = {{0, 0.13, 0.14}, {1, 0, 0, 0, s, c, 0, -c, s}};
    assert_int_equal(meet(&capsule, &over, &box, &origin, 0, COLLIDE_MUJOCO, list), 2);
    NEAR(list[0].gap, 0.04 - 0.2 * s - 0.05);
    NEAR(list[0].pos[1], 0.13 - 0.2 * c);
    NEAR(list[1].gap, 0.04 - 0.03 * s / c - 0.05);
    NEAR(list[1].pos[1], 0.1);
    const collide_pose inside = {{0, 0, 0.25}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    assert_int_equal(meet(&capsule, &inside, &box, &origin, 0, COLLIDE_MUJOCO, list), 1);
    NEAR(list[0].gap, -0.1);
    NEAR(list[0].normal[2], -1);
}

/* On a level hull: the deepest point, and those of its slightly turned copies, at the ends, as deep
 * as the first. */
static void capsules_on_hulls_have_points_at_both_ends(void **context)
{
    (void)context;
    double corner[24];
    for (int k = 0; k < 24; k++) {
        corner[k] = (k / 3 >> k % 3 & 1) ? 0.5 : -0.5;
    }
    struct collide_hull *hull = collide_hull_new(corner, 8);
    assert_non_null(hull);
    const collide_shape capsule = {.kind = COLLIDE_CAPSULE, .size = {0.05, 0.1}};
    const collide_shape block = {.kind = COLLIDE_HULL, .hull = hull, .size = {0.5, 0.5, 0.5}};
    const collide_pose origin = {{0, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    collide_pose at = along_x(0.1, 0.03, 0.54, 0.2);
    collide_point list[8];
    int count = meet(&capsule, &at, &block, &origin, 0, COLLIDE_MUJOCO, list), ends = 0;
    assert_in_range(count, 2, 5);
    for (int k = 0; k < count; k++) {
        double dx = list[k].pos[0] - 0.1, dy = list[k].pos[1] - 0.03;
        double along = dx * cos(0.2) + dy * sin(0.2);
        NEAR(list[k].gap, -0.01);
        ends |= fabs(along - 0.1) < 1e-3 ? 1 : fabs(along + 0.1) < 1e-3 ? 2 : 0;
    }
    assert_int_equal(ends, 3);
    collide_hull_free(hull);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(capsules_are_parallel_below_a_threshold),
        cmocka_unit_test(parallel_capsules_have_two_points),
        cmocka_unit_test(askew_capsules_have_one_point),
        cmocka_unit_test(cylinders_stand_on_triangles),
        cmocka_unit_test(a_hair_of_tilt_turns_the_triangle),
        cmocka_unit_test(capsules_lie_on_boxes),
        cmocka_unit_test(capsules_at_corners_of_boxes),
        cmocka_unit_test(capsules_on_hulls_have_points_at_both_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Textbook contacts under Coulomb's exact law, in velocity form with impulses, with solutions in
 * closed form. Unknowns are (v) or (v, omega); rows of a contact: normal, slide, slide, ... */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gauss/solved.h"
#include "scene/scene.h"

#include <string.h>

#define EXACT 1e-10

static const double g = 9.81, h = 0.01;

/* One point of mass m, normal along z: rows z, x, y. */
static const double point_rows[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0};

static solved point(double m, const double *free, double mu_x, double mu_y, zw_contact_law law)
{
    double mass[3] = {m, m, m};
    zw_block block = {.name = "floor", .kind = ZW_CONE, .rows = 3, .friction = {mu_x, mu_y}};
    zw_gauss problem = {.n = 3,
                        .metric = {.kind = ZW_METRIC_DIAGONAL, .value = mass},
                        .free = free,
                        .block_count = 1,
                        .block = &block,
                        .A.dense = point_rows};
    zw_gauss_options options = {.contact = law};
    return solve(&problem, &options);
}

/* ---- Incline -------------------------------------------------------------------------------- */

static void incline(double alpha, double mu, zw_contact_law law, const double *u)
{
    const double m = 3.0, free[3] = {h * g * sin(alpha), 0, -h * g * cos(alpha)};
    solved s = point(m, free, mu, mu, law);
    assert_status(s, ZW_OK);
    assert_all_close(3, s.motion.a, u, EXACT);
    for (int i = 0; i < 3; i++) { /* rows z, x, y */
        int j = (i + 2) % 3;
        assert_close(s.motion.lambda[i], m * (u[j] - free[j]), EXACT);
    }
    solved_free(&s);
}

static void block_sticks_on_an_incline(void **state)
{
    (void)state;
    const double rest[3] = {0};
    incline(atan(0.5), 0.51, ZW_CONTACT_COULOMB, rest);
    incline(atan(0.5), 0.51, ZW_CONTACT_CONVEX, rest);
}

/* Coulomb: h g (sin - mu cos) along the slope. Convex: the same over 1 + mu^2, lifting by mu times
 * that, for it is the nearest point of the cone u_z >= mu |u_t|. */
static void block_slides_on_an_incline(void **state)
{
    (void)state;
    double alpha = atan(0.5), mu = 0.3, slide = h * g * (sin(alpha) - mu * cos(alpha));
    const double coulomb[3] = {slide, 0, 0};
    const double convex[3] = {slide / (1 + mu * mu), 0, mu * slide / (1 + mu * mu)};
    incline(alpha, mu, ZW_CONTACT_COULOMB, coulomb);
    incline(alpha, mu, ZW_CONTACT_CONVEX, convex);
}

/* Friction mu_i along row i: impulse -N mu_i^2 w_i / sqrt(sum (mu_i w_i)^2), not opposite to slip.
 */
static void elliptic_friction_turns(void **state)
{
    (void)state;
    const double m = 2.0, N = 0.7, mu[2] = {0.2, 0.8}, w[2] = {1.5, 1.0};
    double size = hypot(mu[0] * w[0], mu[1] * w[1]);
    double r[2] = {-N * mu[0] * mu[0] * w[0] / size, -N * mu[1] * mu[1] * w[1] / size};
    double free[3] = {w[0] - r[0] / m, w[1] - r[1] / m, -N / m};
    solved s = point(m, free, mu[0], mu[1], ZW_CONTACT_COULOMB);
    assert_status(s, ZW_OK);
    assert_close(s.motion.a[0], w[0], EXACT);
    assert_close(s.motion.a[1], w[1], EXACT);
    assert_close(s.motion.a[2], 0.0, EXACT);
    assert_close(s.motion.lambda[0], N, EXACT);
    assert_close(s.motion.lambda[1], r[0], EXACT);
    assert_close(s.motion.lambda[2], r[1], EXACT);
    solved_free(&s);
}

static void leaving_contact_feels_nothing(void **state)
{
    (void)state;
    const double free[3] = {1, -2, 0.5};
    solved s = point(1.0, free, 0.9, 0.9, ZW_CONTACT_COULOMB);
    assert_status(s, ZW_OK);
    for (int i = 0; i < 3; i++) {
        assert_true(s.motion.a[i] == free[i] && s.motion.lambda[i] == 0.0);
    }
    assert_true(s.motion.Z == 0.0);
    solved_free(&s);
}

/* ---- A box on its four corners -------------------------------------------------------------- */

/* Velocity of the point r of a body: v + omega x r, rows z, x, y for unknowns v, omega. */
static void body_rows(const double *r, double A[3][6])
{
    const double rows[3][6] = {
        {0, 0, 1, r[1], -r[0], 0}, {1, 0, 0, 0, r[2], -r[1]}, {0, 1, 0, -r[2], 0, r[0]}};
    memcpy(A, rows, sizeof rows);
}

static const double box_half[3] = {0.5, 0.3, 0.2}, box_mass = 4.0;

static solved box(double mu, const double *free)
{
    double A[4][3][6], m = box_mass, x = box_half[0], y = box_half[1], z = box_half[2];
    double mass[6] = {
        m, m, m, m / 3 * (y * y + z * z), m / 3 * (x * x + z * z), m / 3 * (x * x + y * y)};
    zw_block block[4];
    for (int k = 0; k < 4; k++) {
        const double corner[3] = {k & 1 ? x : -x, k & 2 ? y : -y, -z};
        body_rows(corner, A[k]);
        block[k] = (zw_block){.name = "corner", .kind = ZW_CONE, .rows = 3, .friction = {mu, mu}};
    }
    zw_gauss problem = {.n = 6,
                        .metric = {.kind = ZW_METRIC_DIAGONAL, .value = mass},
                        .free = free,
                        .block_count = 4,
                        .block = block,
                        .A.dense = A[0][0]};
    return solve(&problem, NULL);
}

static void box_rests_on_four_corners(void **state)
{
    (void)state;
    const double free[6] = {0, 0, -h * g};
    solved s = box(0.5, free);
    assert_status(s, ZW_OK);
    double weight = 0.0;
    for (int j = 0; j < 6; j++) {
        assert_close(s.motion.a[j], 0.0, EXACT);
    }
    for (int k = 0; k < 4; k++) {
        weight += s.motion.lambda[3 * k];
        assert_true(s.motion.lambda[3 * k] >= 0.0);
    }
    assert_close(weight, box_mass * g * h, EXACT);
    solved_free(&s);
}

/* Sliding straight ahead: braked by mu g h. Friction acts below the centre and loads the front
 * edge; the box does not tip while mu z < x: front and rear edge carry m g h (1 +- mu z/x)/2. */
static void box_slides_straight(void **state)
{
    (void)state;
    const double mu = 0.5, free[6] = {2, 0, -h * g};
    const double u[6] = {2 - mu * g * h, 0, 0, 0, 0, 0};
    solved s = box(mu, free);
    assert_status(s, ZW_OK);
    assert_all_close(6, s.motion.a, u, EXACT);
    const double *r = s.motion.lambda;
    double front = r[3] + r[9], rear = r[0] + r[6], half = box_mass * g * h / 2;
    assert_close(front, half * (1 + mu * box_half[2] / box_half[0]), EXACT);
    assert_close(rear, half * (1 - mu * box_half[2] / box_half[0]), EXACT);
    for (int k = 0; k < 4; k++) {
        assert_close(r[3 * k + 1], -mu * r[3 * k], EXACT);
        assert_close(r[3 * k + 2], 0.0, EXACT);
    }
    solved_free(&s);
}

/* ---- A sphere with spin and rolling friction ------------------------------------------------ */

static const double ball_mass = 2.0, ball_radius = 0.25;

/* Six rows: normal, slide x y, spin about z, roll about x y. */
static solved ball(const double *friction, const double *free)
{
    const double bottom[3] = {0, 0, -ball_radius};
    double A[6][6] = {{0}}, m = ball_mass, I = 0.4 * m * ball_radius * ball_radius;
    double mass[6] = {m, m, m, I, I, I};
    zw_block block = {.name = "ball", .kind = ZW_CONE, .rows = 6};
    memcpy(block.friction, friction, sizeof block.friction);
    body_rows(bottom, A);
    A[3][5] = A[4][3] = A[5][4] = 1.0;
    zw_gauss problem = {.n = 6,
                        .metric = {.kind = ZW_METRIC_DIAGONAL, .value = mass},
                        .free = free,
                        .block_count = 1,
                        .block = &block,
                        .A.dense = A[0]};
    return solve(&problem, NULL);
}

/* Spinning in place: slowed by mu_s N / I, and stopped where that suffices. */
static void ball_spins_down(void **state)
{
    (void)state;
    const double friction[5] = {0.5, 0.5, 0.01, 0.02, 0.02};
    double brake = 0.01 * ball_mass * g * h / (0.4 * ball_mass * ball_radius * ball_radius);
    for (int k = 0; k < 2; k++) {
        double spin = k == 0 ? 3.0 * brake : 0.9 * brake;
        const double free[6] = {0, 0, -h * g, 0, 0, spin};
        const double u[6] = {0, 0, 0, 0, 0, k == 0 ? 2.0 * brake : 0.0};
        solved s = ball(friction, free);
        assert_status(s, ZW_OK);
        assert_all_close(6, s.motion.a, u, EXACT);
        solved_free(&s);
    }
}

/* Without sliding friction, rolling friction slows the rotation and does not change the velocity.
 */
static void ball_rolls_on_ice(void **state)
{
    (void)state;
    const double friction[5] = {0, 0, 0, 0.02, 0.02};
    double I = 0.4 * ball_mass * ball_radius * ball_radius;
    const double free[6] = {1, 0, -h * g, 0, 4, 0};
    const double u[6] = {1, 0, 0, 0, 4 - 0.02 * ball_mass * g * h / I, 0};
    solved s = ball(friction, free);
    assert_status(s, ZW_OK);
    assert_all_close(6, s.motion.a, u, EXACT);
    solved_free(&s);
}

/* On a slope alpha it stays while (tan/mu)^2 + (radius tan/mu_r)^2 <= 1: one ellipsoid for both. */
static void ball_sticks_on_a_slope(void **state)
{
    (void)state;
    const double friction[5] = {0.5, 0.5, 0.01, 0.1, 0.1};
    double limit = 1.0 / hypot(1.0 / 0.5, ball_radius / 0.1);
    for (int k = 0; k < 2; k++) {
        double alpha = atan(limit * (k == 0 ? 0.99 : 1.01));
        const double free[6] = {h * g * sin(alpha), 0, -h * g * cos(alpha)};
        solved s = ball(friction, free);
        assert_status(s, ZW_OK);
        if (k == 0) {
            assert_below(largest(6, s.motion.a), EXACT);
        } else {
            assert_true(s.motion.a[0] > 1e-6);
            assert_close(s.motion.a[2], 0.0, EXACT);
        }
        solved_free(&s);
    }
}

/* ---- Several contacts on one body ----------------------------------------------------------- */

/* A point in the corner of floor (z) and wall (x), pushed along y: both slow it or hold it. */
static void point_in_a_corner(void **state)
{
    (void)state;
    const double A[6][3] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const zw_block block[2] = {
        {.name = "floor", .kind = ZW_CONE, .rows = 3, .friction = {0.4, 0.4}},
        {.name = "wall", .kind = ZW_CONE, .rows = 3, .friction = {0.3, 0.3}}};
    for (int k = 0; k < 2; k++) {
        const double push[2] = {0.2, 0.5}, speed = k == 0 ? 1.0 : 0.1;
        const double free[3] = {-push[0], speed, -push[1]};
        double left = speed - 0.4 * push[1] - 0.3 * push[0];
        const double u[3] = {0, left > 0.0 ? left : 0.0, 0};
        zw_gauss problem = {
            .n = 3, .free = free, .block_count = 2, .block = block, .A.dense = A[0]};
        solved s = solve(&problem, NULL);
        assert_status(s, ZW_OK);
        assert_all_close(3, s.motion.a, u, EXACT);
        solved_free(&s);
    }
}

/* An object (x, z) between two fingers (x_left, x_right) that push with impulse F each: held while
 * 2 mu F >= weight, else the excess weight makes it slip. */
static void gripper_holds_and_slips(void **state)
{
    (void)state;
    const double mass[4] = {1, 1, 2, 2}, F = 1.0, mu = 0.4;
    const double A[4][4] = {{1, 0, -1, 0}, {0, 1, 0, 0}, {-1, 0, 0, 1}, {0, 1, 0, 0}};
    const zw_block block[2] = {
        {.name = "left finger", .kind = ZW_CONE, .rows = 2, .friction = {mu}},
        {.name = "right finger", .kind = ZW_CONE, .rows = 2, .friction = {mu}}};
    for (int k = 0; k < 2; k++) {
        double weight = k == 0 ? 0.79 : 0.9;
        const double force[4] = {0, -weight, F, -F};
        const double u[4] = {0, k == 0 ? 0.0 : 2 * mu * F - weight, 0, 0};
        zw_gauss problem = {.n = 4,
                            .metric = {.kind = ZW_METRIC_DIAGONAL, .value = mass},
                            .force = force,
                            .block_count = 2,
                            .block = block,
                            .A.dense = A[0]};
        solved s = solve(&problem, NULL);
        assert_status(s, ZW_OK);
        assert_all_close(4, s.motion.a, u, EXACT);
        assert_close(s.motion.lambda[0], F, EXACT);
        assert_close(s.motion.lambda[2], F, EXACT);
        assert_close(s.motion.lambda[1] + s.motion.lambda[3], weight + u[1], EXACT);
        solved_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_sticks_on_an_incline),
        cmocka_unit_test(block_slides_on_an_incline),
        cmocka_unit_test(elliptic_friction_turns),
        cmocka_unit_test(leaving_contact_feels_nothing),
        cmocka_unit_test(box_rests_on_four_corners),
        cmocka_unit_test(box_slides_straight),
        cmocka_unit_test(ball_spins_down),
        cmocka_unit_test(ball_rolls_on_ice),
        cmocka_unit_test(ball_sticks_on_a_slope),
        cmocka_unit_test(point_in_a_corner),
        cmocka_unit_test(gripper_holds_and_slips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Spatial tendons: their paths are shortest, their Jacobians are derivatives of their lengths, and
 * bodies move under them as in closed form. (compare_numbers compares all with MuJoCo's.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/pose.h"
#include "robots.h"
#include "system/tendon/wrap.h"
#include "tree/sweeps.h"

static unsigned seed = 5;

static double chance(void) /* -1 ... 1 */
{
    seed = seed * 1664525u + 1013904223u;
    return (double)(seed >> 8) / 8388608.0 - 1.0;
}

static double distance(const double *a, const double *b)
{
    double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return sqrt(model_dot(d, d));
}

/* The shortest way on the shape between two of its points, by closed form. */
static double on_shape(const wrap_shape *shape, const double *a, const double *b)
{
    double r = shape->radius, cross[3];
    if (!shape->cylinder) {
        model_cross(cross, a, b);
        return r * atan2(sqrt(model_dot(cross, cross)), model_dot(a, b));
    }
    double angle = atan2(a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1]);
    return hypot(r * angle, a[2] - b[2]);
}

/* A point of the shape a little beside another. */
static void beside(const wrap_shape *shape, const double *p, double by, double *to)
{
    double size = 0;
    for (int k = 0; k < 3; k++) {
        to[k] = p[k] + by * chance();
        size += k < 3 - shape->cylinder ? to[k] * to[k] : 0;
    }
    for (int k = 0; k < 3 - shape->cylinder; k++) {
        to[k] *= shape->radius / sqrt(size);
    }
}

/* No way near by that goes straight to the shape, along it and straight off is shorter; and the
 * speeds of the points of touch are differences of places. */
static void ways_are_shortest(void **state)
{
    (void)state;
    int wraps = 0, inside = 0;
    for (int n = 0; n < 4000; n++) {
        double side[3] = {0.1 * chance(), 0.1 * chance(), 0.1 * chance()};
        wrap_shape shape = {.cylinder = n % 2, .radius = 0.5, .side = n % 4 < 2 ? NULL : side};
        double x[2][3], v[2][3], later[2][3], still[2][3] = {{0}}, h = 1e-6;
        wrap_answer now, then, before;
        for (int i = 0; i < 6; i++) {
            x[i / 3][i % 3] = 1.5 * chance();
            v[i / 3][i % 3] = chance();
        }
        if (!wrap_around(&shape, x, v, &now)) {
            continue;
        }
        wraps++;
        inside += shape.side != NULL;
        double length = distance(x[0], now.point[0]) + now.arc + distance(x[1], now.point[1]);
        assert_true(fabs(on_shape(&shape, now.point[0], now.point[1]) - now.arc) < 1e-12 ||
                    now.arc > 3.14 * shape.radius);
        for (int k = 0; k < 10; k++) {
            double a[3], b[3];
            beside(&shape, now.point[0], 1e-4, a);
            beside(&shape, now.point[1], 1e-4, b);
            memcpy(b, shape.side ? a : b, sizeof b); /* from inside: one point */
            double other = distance(x[0], a) + on_shape(&shape, a, b) + distance(x[1], b);
            /* beyond a tangent a way cuts through the shape, which saves the cube of how far */
            assert_true(other > length - 1e-10 || now.arc > 3.14 * shape.radius);
        }
        for (int i = 0; i < 6; i++) {
            later[i / 3][i % 3] = x[i / 3][i % 3] + h * v[i / 3][i % 3];
            x[i / 3][i % 3] -= h * v[i / 3][i % 3];
        }
        if (wrap_around(&shape, later, still, &then) && wrap_around(&shape, x, still, &before)) {
            for (int i = 0; i < 6; i++) {
                double rate = (then.point[i / 3][i % 3] - before.point[i / 3][i % 3]) / (2 * h);
                double size = 1 + fabs(rate) + fabs(now.speed[i / 3][i % 3]);
                assert_true(fabs(rate - now.speed[i / 3][i % 3]) < 1e-4 * size * size * size);
            }
        }
    }
    assert_true(wraps > 500 && inside > 100);
}

/* ---- In a robot ------------------------------------------------------------------------------ */

static const char *const arm =
    "<mujoco><worldbody>"
    "<geom name='post' type='cylinder' pos='0 0 1' quat='0.9 0.3 0.2 0.1' size='0.07 0.3'/>"
    "<geom name='ring' type='sphere' pos='0.2 0.4 1' size='0.12'/>"
    "<site name='wall' pos='-0.4 0.1 1.1'/><site name='side' pos='0 0.2 1.2'/>"
    "<site name='within' pos='0.22 0.4 1.01'/>"
    "<body pos='0.1 0 0.9'><joint name='shoulder' axis='0 1 0.2'/>"
    "<geom type='capsule' size='0.04' fromto='0 0 0 0.3 0 0.1'/><site name='s1' pos='0.15 0.02 "
    "0.1'/>"
    "<geom name='ball' type='sphere' size='0.06' pos='0.25 0.03 0.05'/>"
    "<body pos='0.3 0 0.1'><joint name='elbow' type='ball'/>"
    "<geom type='box' size='0.1 0.03 0.04' pos='0.1 0 0'/><site name='s2' pos='0.12 0.05 0.05'/>"
    "</body></body>"
    "<body pos='-0.2 0.3 1.4'><freejoint/><geom size='0.05'/><site name='s4' pos='0.03 0.01 "
    "0'/></body>"
    "</worldbody><option><flag contact='disable'/></option><tendon>"
    "<spatial stiffness='30' springlength='0.2 0.5'><site site='wall'/>"
    "<geom geom='post' sidesite='side'/><site site='s1'/><geom geom='ball'/><site "
    "site='s2'/></spatial>"
    "<spatial stiffness='20'><site site='s1'/><site site='s4'/><pulley divisor='2.5'/><site "
    "site='s4'/>"
    "<geom geom='post'/><site site='s2'/></spatial>"
    "<spatial stiffness='40' springlength='0.1'><site site='wall'/>"
    "<geom geom='ring' sidesite='within'/><site site='s4'/></spatial>"
    "<spatial armature='0.2'><site site='wall'/><site site='s2'/></spatial>"
    "</tendon></mujoco>";

/* L along the motion with constant speeds has the rate J v and the second derivative J' v. */
static void slopes_are_of_lengths(void **state)
{
    (void)state;
    robot r = robot_read(arm);
    const zw_system *s = r.system;
    const double h = 1e-4;
    for (int n = 0; n < 60; n++) {
        double *q = state_q(r.state), *v = state_v(r.state), there[40];
        memcpy(q, s->bodies->q, (size_t)s->nq * sizeof *q);
        for (int i = 0; i < s->n; i++) {
            v[i] = chance();
        }
        system_move(s, q, 1, v);
        tree_kinematics(s->tree, q, r.work->sweeps);
        tree_velocities(s->tree, v, r.work->sweeps);
        tree_accelerations(s->tree, NULL, r.work->sweeps);
        for (int i = s->bodies->joint_count; i < s->bodies->length_count; i++) {
            double L[3], bias = bodies_length_bias(s, r.work, i);
            double rate = bodies_rate_of(s, r.work, i, q, v);
            for (int k = 0; k < 3; k++) {
                memcpy(there, q, (size_t)s->nq * sizeof *q);
                system_move(s, there, (k - 1) * h, v);
                L[k] = bodies_length_of(s, r.work, i, there);
            }
            close_to("rate", (L[2] - L[0]) / (2 * h), rate, 1e-5 * (1 + fabs(rate)));
            double second = (L[0] - 2 * L[1] + L[2]) / (h * h);
            int kink = fabs(second - bias) > 1e-3 * (1 + fabs(bias)); /* it comes off, or on */
            if (kink) {
                double before[3];
                for (int k = 0; k < 3; k++) {
                    memcpy(there, q, (size_t)s->nq * sizeof *q);
                    system_move(s, there, (k - 1) * h / 8, v);
                    before[k] = bodies_length_of(s, r.work, i, there);
                }
                second = (before[0] - 2 * before[1] + before[2]) / (h * h / 64);
            }
            close_to("second derivative", second, bias, 1e-2 * (1 + fabs(bias)));
        }
    }
    robot_end(&r);
}

/* Springs along ways around shapes, and a tendon that is heavy, keep the energy (until a site gets
 * into a shape: there a way jumps). */
static void energy_stays(void **state)
{
    (void)state;
    robot r = robot_read(arm);
    assert_int_equal(zw_forward(r.system, r.state, r.work, NULL, &r.error), ZW_OK);
    zw_view view = zw_field(r.system, r.state, r.work, ZW_FIELD_ENERGY);
    double before = view.data[0];
    robot_run(&r, 0.4, 1e-10);
    assert_int_equal(zw_forward(r.system, r.state, r.work, NULL, &r.error), ZW_OK);
    view = zw_field(r.system, r.state, r.work, ZW_FIELD_ENERGY);
    close_to("energy", view.data[0], before, 1e-7 * fabs(before));
    const zw_run_options impulse = {.time = 1, .method = ZW_METHOD_IMPULSE};
    assert_int_equal(zw_run(r.system, r.state, r.work, &impulse, NULL, &r.error), ZW_BAD_INPUT);
    assert_non_null(strstr(r.error.text, "armature of tendons through space"));
    robot_end(&r);
}

/* Atwood's machine: a rope of at most 2 m over two sites that stand still. Behind a pulley of
 * divisor 2 the right end moves twice as far: m1 a1 = m1 g - T, m2 a2 = m2 g - T/2, a2 = -2 a1. */
static void atwood(void **state)
{
    (void)state;
    for (int pulley = 0; pulley < 2; pulley++) {
        for (int impulse = 0; impulse < 2; impulse++) {
            char text[2000];
            snprintf(
                text, sizeof text,
                "<mujoco><option timestep='0.01'/><worldbody><site name='left' pos='0 0 3'/>"
                "<site name='right' pos='1 0 3'/>"
                "<body pos='0 0 2'><joint type='slide' axis='0 0 1'/><geom size='.1' mass='3'/>"
                "<site name='a'/></body>"
                "<body pos='1 0 2'><joint type='slide' axis='0 0 1'/><geom size='.1' mass='1'/>"
                "<site name='b'/></body></worldbody><tendon><spatial range='0 %s'>"
                "<site site='a'/><site site='left'/>%s<site site='right'/><site site='b'/>"
                "</spatial></tendon></mujoco>",
                pulley ? "1.5" : "3", pulley ? "<pulley divisor='2'/>" : "");
            robot r = robot_read(text);
            const zw_run_options options = {.time = 0.4,
                                            .tolerance = 1e-10,
                                            .method =
                                                impulse ? ZW_METHOD_IMPULSE : ZW_METHOD_DOP853};
            assert_int_equal(zw_run(r.system, r.state, r.work, &options, NULL, &r.error), ZW_OK);
            double ratio = pulley ? 2 : 1, g = 9.81; /* (3 + ratio^2) a1 = -(3 - ratio) g */
            double a = -(3 - ratio) * g / (3 + ratio * ratio);
            close_to("left", state_q(r.state)[0], 0.5 * a * 0.16, 1e-9);
            close_to("right", state_q(r.state)[1], -ratio * 0.5 * a * 0.16, 1e-9);
            robot_end(&r);
        }
    }
}

/* A steady pull turns a drum: the moment arm around a cylinder is its radius. */
static void drum(void **state)
{
    (void)state;
    robot r = robot_read(
        "<mujoco><option gravity='0 0 0'/><worldbody><site name='wall' pos='2 1.5 0.3'/>"
        "<body><joint axis='0 0 1'/><geom name='drum' type='cylinder' size='0.5 1' mass='2'/>"
        "<site name='rim' pos='-1 -0.2 -0.4'/></body></worldbody>"
        "<tendon><spatial name='rope'><site site='wall'/><geom geom='drum'/><site "
        "site='rim'/></spatial>"
        "</tendon><actuator><motor tendon='rope'/></actuator></mujoco>");
    const double *coef = bodies_coef_at(r.system, r.work, state_q(r.state));
    int term = r.system->bodies->length[1].first;
    /* dL/dangle = r times the part of the way that lies across the axis */
    double h = 1e-6, q[2] = {-h, h}, L[2];
    for (int k = 0; k < 2; k++) {
        L[k] = bodies_length_of(r.system, r.work, 1, &q[k]);
    }
    double flat = 0, up = 0.7, length = bodies_length_of(r.system, r.work, 1, state_q(r.state));
    flat = sqrt(length * length - up * up);
    coef = bodies_coef_at(r.system, r.work, state_q(r.state));
    close_to("moment arm", fabs(coef[term]), 0.5 * flat / length, 1e-12);
    close_to("slope", (L[1] - L[0]) / (2 * h), coef[term], 1e-9);
    robot_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ways_are_shortest), cmocka_unit_test(slopes_are_of_lengths),
        cmocka_unit_test(energy_stays), cmocka_unit_test(atwood), cmocka_unit_test(drum)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

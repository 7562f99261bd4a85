/* Air and water: laws that are known in closed form, and slopes against differences. (Numbers of
 * MuJoCo: compare_numbers.mjs with test/read/mjcf_now/fluid.xml, compare_soft.mjs with
 * soft/fluid.xml.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "robots.h"
#include "tree/sweeps.h"

static const double PI = 3.14159265358979323846, MASS = 2, RADIUS = 0.1, G = 9.81;

/* A ball that falls along z without turning. */
static robot ball(const char *option, const char *geom)
{
    char text[2000];
    snprintf(text, sizeof text,
             "<mujoco><option gravity='0 0 -9.81' %s/><worldbody><body><joint type='slide' axis='0 "
             "0 1'/>"
             "<geom size='0.1' mass='2' %s/></body></worldbody></mujoco>",
             option, geom);
    return robot_read(text);
}

/* m v' = -m g - c v: v = -(m g/c) (1 - exp(-c t/m)); the box of a ball has the sides r sqrt(12/5).
 */
static void stokes(void **state)
{
    (void)state;
    robot r = ball("viscosity='3'", "");
    double c = 3 * PI * RADIUS * sqrt(2.4) * 3, rate = c / MASS, t = 1.5, e = exp(-rate * t);
    robot_run(&r, t, 1e-12);
    double v = -G / rate * (1 - e), z = -G / rate * (t - (1 - e) / rate);
    close_to("speed", state_v(r.state)[0], v, 1e-11);
    close_to("height", state_q(r.state)[0], z, 1e-11);
    close_to("work", r.state->work, 0.5 * MASS * v * v + MASS * G * z, 1e-9);
    robot_end(&r);
}

/* m v' = -m g + k v^2: v = -u tanh(g t/u), u = sqrt(m g/k). Drag of an ellipsoid that is a ball: k
 * = density c_b A; of a box density b^2/2. Wind only shifts the speed. */
static void quadratic(void **state)
{
    (void)state;
    for (int ellipsoid = 0; ellipsoid < 2; ellipsoid++) {
        robot r = ball("density='700' wind='0 0 0.25'",
                       ellipsoid ? "fluidshape='ellipsoid' fluidcoef='0.4 0.1 1 1 1'" : "");
        double k = 700 * (ellipsoid ? 0.4 * PI * RADIUS * RADIUS : 0.5 * 2.4 * RADIUS * RADIUS);
        double u = sqrt(MASS * G / k), t = 0.7;
        state_v(r.state)[0] = 0.25;
        robot_run(&r, t, 1e-12);
        close_to("speed", state_v(r.state)[0], 0.25 - u * tanh(G * t / u), 1e-10);
        robot_end(&r);
    }
}

/* What turns and moves: B is the derivative of the force, by differences in the speeds. */
static void slopes(void **state)
{
    (void)state;
    robot r =
        robot_read("<mujoco><option density='900' viscosity='0.4' wind='0.3 -0.2 "
                   "0.1'/><worldbody><body><freejoint/>"
                   "<geom type='ellipsoid' size='0.3 0.2 0.07' pos='0.1 0 0.2' euler='10 30 50' "
                   "fluidshape='ellipsoid'/></body><body><freejoint/><geom type='box' size='0.1 "
                   "0.2 0.3'/></body>"
                   "</worldbody></mujoco>");
    const struct system_bodies *bodies = r.system->bodies;
    double v[12], B[36];
    assert_int_equal(bodies->fluid_count, 2);
    for (int i = 0; i < 12; i++) {
        v[i] = 0.3 + 0.2 * i - 0.05 * i * i;
    }
    tree_kinematics(r.system->tree, state_q(r.state), r.work->sweeps);
    for (int k = 0; k < 2; k++) {
        bodies_flow now = bodies_fluid_look(r.system, r.work, k, v, B);
        assert_int_equal(now.count, 6);
        for (int d = 0; d < 6; d++) {
            double h = 1e-5, J[6], *at = &v[r.work->aim_dof[d]], was = *at;
            memcpy(J, r.work->jacobian + 6 * d, sizeof J);
            *at = was + h;
            bodies_flow more = bodies_fluid_look(r.system, r.work, k, v, NULL);
            *at = was - h;
            bodies_flow less = bodies_fluid_look(r.system, r.work, k, v, NULL);
            *at = was;
            for (int i = 0; i < 6; i++) {
                double slope = 0;
                for (int j = 0; j < 6; j++) {
                    slope += B[6 * i + j] * J[j];
                }
                close_to("slope", slope, (more.force[i] - less.force[i]) / (2 * h), 1e-6);
            }
        }
    }
    robot_end(&r);
}

/* Without springs and dampers there is no fluid, as in MuJoCo. */
static void switched_off(void **state)
{
    (void)state;
    robot r =
        robot_read("<mujoco><option density='1000' viscosity='1'><flag passive='disable'/></option>"
                   "<worldbody><body><freejoint/><geom size='0.1'/></body></worldbody></mujoco>");
    assert_int_equal(r.system->bodies->fluid_count, 0);
    robot_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(stokes), cmocka_unit_test(quadratic),
                                       cmocka_unit_test(slopes), cmocka_unit_test(switched_off)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

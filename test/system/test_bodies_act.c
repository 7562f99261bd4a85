/* Actuators with dynamics: their activations are part of the state and follow their own equations.
 * (test_bodies_mujoco.c compares rates and accelerations.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "robots.h"
#include "tree/sweeps.h"

static robot cart(const char *actuator, const char *more)
{
    char text[2000];
    snprintf(text, sizeof text,
             "<mujoco><option gravity='0 0 0'/><worldbody><body><joint name='rail' type='slide' "
             "axis='1 0 0'/><geom size='0.1' mass='2'/></body></worldbody><actuator>%s</actuator>"
             "%s</mujoco>",
             actuator, more);
    return robot_read(text);
}

static double activation(robot *r)
{
    zw_view view = zw_field(r->system, r->state, r->work, ZW_FIELD_ACTIVATION);
    assert_int_equal(view.count, 1);
    return view.data[0];
}

/* u' = (c - u)/tau: u = c + (u0 - c) exp(-t/tau); and 2 x'' = 3 u. */
static void filter(void **state)
{
    (void)state;
    for (int exact = 0; exact < 2; exact++) {
        robot r = cart(exact ? "<general name='push' joint='rail' dyntype='filterexact' "
                               "dynprm='0.4' gainprm='3'/>"
                             : "<general name='push' joint='rail' dyntype='filter' dynprm='0.4' "
                               "gainprm='3'/>",
                       "<keyframe><key name='go' act='-0.5' ctrl='0.8'/></keyframe>");
        assert_string_equal(zw_name(r.system, ZW_KIND_ACTIVATION, 0), "push");
        assert_int_equal(zw_count(r.system, ZW_KIND_ACTIVATION), 1);
        state_param(r.state)[0] = 0.8;
        state_v(r.state)[1] = -0.5;
        robot_run(&r, 2, 1e-12);
        double e = exp(-2 / 0.4), tau = 0.4;
        double u = 0.8 - 1.3 * e, speed = 1.5 * (0.8 * 2 - 1.3 * tau * (1 - e));
        double place = 1.5 * (0.8 * 2 - 1.3 * tau * (2 - tau * (1 - e)));
        close_to("activation", activation(&r), u, 1e-11);
        close_to("speed", state_v(r.state)[0], speed, 1e-11);
        close_to("place", state_q(r.state)[0], place, 1e-10);
        /* what the motor did is what the cart has */
        close_to("work", r.state->work, speed * speed, 1e-10);
        robot_end(&r);
    }
}

static void start_of_a_keyframe(void **state)
{
    (void)state;
    robot r = cart("<general name='push' joint='rail' dyntype='integrator'/>",
                   "<keyframe><key name='go' act='-0.5' ctrl='0.25'/></keyframe>");
    robot_begin_with(r.model, 0);
    zw_model *model = r.model;
    r.model = NULL;
    robot_end(&r);
    r = robot_of(model);
    close_to("activation", activation(&r), -0.5, 0);
    robot_run(&r, 4, 1e-12);
    close_to("activation", activation(&r), 0.5, 1e-13);
    robot_end(&r);
}

/* An integrator with a range stops at its end, and leaves it at once when its input reverses. */
static void range(void **state)
{
    (void)state;
    robot r = cart("<intvelocity name='servo' joint='rail' kp='50' kv='20' actrange='-1 1'/>", "");
    state_param(r.state)[0] = 0.5;
    robot_run(&r, 1, 1e-10);
    close_to("on the way", activation(&r), 0.5, 1e-12);
    robot_run(&r, 8, 1e-10);
    close_to("at the end", activation(&r), 1, 1e-6);
    close_to("there", state_q(r.state)[0], 1, 1e-6);
    state_param(r.state)[0] = -0.5;
    robot_run(&r, 9, 1e-10);
    close_to("back", activation(&r), 0.5, 1e-6);
    robot_end(&r);
}

/* Fixed steps have their orders in the activation, too. */
static void orders(void **state)
{
    (void)state;
    static const struct {
        zw_method method;
        double factor;
    } list[] = {{ZW_METHOD_RK4, 16}, {ZW_METHOD_EULER, 2}};
    for (int m = 0; m < 2; m++) {
        double error[2];
        for (int k = 0; k < 2; k++) {
            robot r = cart("<general joint='rail' dyntype='filter' dynprm='0.4'/>", "");
            const zw_run_options options = {
                .time = 1, .method = list[m].method, .step = k ? 1.0 / 80 : 1.0 / 40};
            state_param(r.state)[0] = 1;
            assert_int_equal(zw_run(r.system, r.state, r.work, &options, NULL, &r.error), ZW_OK);
            error[k] = fabs(activation(&r) - (1 - exp(-2.5)));
            robot_end(&r);
        }
        assert_true(error[0] > 0.8 * list[m].factor * error[1]);
    }
}

/* A stiff filter does not make the motion slow: 1 ms over 100 s. */
static void quick_filter(void **state)
{
    (void)state;
    robot r = cart("<general joint='rail' dyntype='filter' dynprm='0.001' biastype='affine' "
                   "biasprm='0 -1 -0.2'/>",
                   "");
    state_param(r.state)[0] = 1;
    zw_run_summary summary = robot_run(&r, 100, 1e-8);
    close_to("activation", activation(&r), 1, 1e-7);
    assert_true(summary.steps < 2000);
    robot_end(&r);
}

/* dampratio = 1: the servo comes to rest as fast as it can without overshoot: with w^2 = kp
 * gear^2/m x = 1 - (1 + w t) exp(-w t). */
static void damping_ratio(void **state)
{
    (void)state;
    static const char *const servo[] = {
        "<position joint='rail' kp='8' gear='2' dampratio='1'/>",
        "<position site='hook' kp='8' gear='2 0 0 0 0 0' refsite='wall' dampratio='1'/>"};
    for (int k = 0; k < 2; k++) {
        char text[2000];
        snprintf(text, sizeof text,
                 "<mujoco><option gravity='0 0 0'/><worldbody><site name='wall'/><body>"
                 "<joint name='rail' type='slide' axis='1 0 0'/><geom size='0.1' mass='2'/>"
                 "<site name='hook'/></body></worldbody><actuator>%s</actuator></mujoco>",
                 servo[k]);
        robot r = robot_read(text);
        state_param(r.state)[0] = 2;
        robot_run(&r, 0.5, 1e-12);
        close_to("on its way", state_q(r.state)[0], 1 - (1 + 4 * 0.5) * exp(-4 * 0.5), 1e-10);
        robot_end(&r);
    }
}

/* The effective mass at a joint does not count armatures of tendons: it is not guessed. */
static void springs_by_time_constant_beside_tendon_armature(void **state)
{
    (void)state;
    zw_error error = {0};
    zw_model *model = zw_model_parse(
        "<mujoco><worldbody><body><joint name='x' springdamper='.1 1'/><geom size='.1'/></body>"
        "</worldbody><tendon><fixed armature='.2'><joint joint='x' coef='1'/></fixed></tendon>"
        "</mujoco>",
        "heavy.xml", NULL, &error);
    assert_non_null(model);
    assert_null(zw_system_compile(model, NULL, &error));
    assert_string_equal(error.file, "heavy.xml");
    assert_int_equal(error.line, 1);
    assert_non_null(strstr(error.text, "where tendons have armature"));
    zw_model_free(model);
}

/* A tendon with armature: two carts and a mass m between them by a tendon x - 2 y: Lagrange. */
static void tendon_armature(void **state)
{
    (void)state;
    robot r = robot_read(
        "<mujoco><option gravity='0 0 -10'><flag contact='disable'/></option><worldbody>"
        "<body><joint name='x' type='slide' axis='0 0 1'/><geom size='0.1' mass='2'/></body>"
        "<body><joint name='y' type='slide' axis='0 0 1'/><geom size='0.1' mass='3'/></body>"
        "</worldbody><tendon><fixed armature='0.7'><joint joint='x' coef='1'/>"
        "<joint joint='y' coef='-2'/></fixed></tendon></mujoco>");
    const double *a = robot_accelerations(&r);
    /* (2 + m) x'' - 2 m y'' = -20, -2 m x'' + (3 + 4 m) y'' = -30 */
    double m = 0.7, det = (2 + m) * (3 + 4 * m) - 4 * m * m;
    close_to("x", a[0], (-20 * (3 + 4 * m) - 60 * m) / det, 1e-13);
    close_to("y", a[1], (-30 * (2 + m) - 40 * m) / det, 1e-13);
    state_v(r.state)[0] = 0.3;
    zw_run_summary summary = robot_run(&r, 3, 1e-11);
    assert_true(summary.energy_drift < 1e-9);
    robot_end(&r);
}

/* In a long chain, where M is sparse, and in a short one: what inverse dynamics ask for is what the
 * mass on the tendon takes. */
static void armature_in_chains(void **state)
{
    (void)state;
    for (int links = 10; links <= 100; links += 90) {
        zw_model *model = robot_new();
        zw_error error = {0};
        int body = 0, joint[3] = {2, links / 2, links - 1}; /* in two branches */
        for (int i = 0; i < links; i++) {
            body = robot_body(model, i == links / 2 ? 0 : body, NULL, i ? 0.5 : 0, 0, 0, 1);
            robot_joint(model, body, ZW_JOINT_HINGE, NULL, 0, 1, i % 3);
        }
        const double coef[3] = {1.5, -2, 0.5};
        zw_tendon_def tendon = zw_tendon_default();
        tendon.count = 3;
        tendon.joint = joint;
        tendon.coef = coef;
        tendon.armature = 0.3;
        assert_int_equal(zw_model_add_tendon(model, &tendon, &error), 0);
        robot r = robot_of(model);
        assert_int_equal(r.system->sparse, links >= 80);
        unsigned seed = 3;
        for (int i = 0; i < links; i++) {
            state_q(r.state)[i] = dice(&seed);
            state_v(r.state)[i] = dice(&seed);
        }
        const double *a = robot_accelerations(&r);
        double *tau = calloc((size_t)links, sizeof *tau), pull = 0, size = 0;
        assert_non_null(tau);
        tree_inverse(r.system->tree, a, NULL, r.work->sweeps, tau);
        for (int k = 0; k < 3; k++) {
            pull += 0.3 * coef[k] * a[joint[k]];
        }
        for (int i = 0; i < links; i++) {
            size = fmax(size, fabs(tau[i]));
        }
        for (int k = 0; k < 3; k++) {
            tau[joint[k]] += coef[k] * pull;
        }
        for (int i = 0; i < links; i++) {
            close_to("balance", tau[i], 0, 1e-9 * (1 + size));
        }
        assert_true(size > 0.01);
        free(tau);
        robot_end(&r);
    }
}

/* Motors between two sites are internal forces: a floating robot keeps its momentum and angular
 * momentum; the rate of the length is its derivative, and the work equals the gain of energy. */
static void between_sites(void **state)
{
    (void)state;
    robot r = robot_read(
        "<mujoco><compiler angle='radian'/><option gravity='0 0 0'><flag "
        "contact='disable'/></option><worldbody>"
        "<body name='trunk' pos='0.1 0.2 1.5'><freejoint/><geom type='box' size='0.2 0.3 0.1'/>"
        "<site name='socket' pos='0.1 0 0' quat='1 0.3 0 0.1'/>"
        "<body pos='0.2 0 0'><joint axis='1 0 0'/><joint axis='0 1 0'/>"
        "<geom type='box' size='0.1 0.2 0.3' pos='0 0 0.3'/>"
        "<site name='tool' pos='0.1 0 0.2' quat='1 0 0.4 0.1'/></body>"
        "<body pos='-0.2 0 0'><joint axis='0 1 0'/><geom type='box' size='0.1 0.2 0.3'/>"
        "<site name='other' pos='0 0 0.2'/></body></body></worldbody>"
        "<actuator><position name='m' site='tool' refsite='socket' kp='3' gear='0.1 -0.4 2 0 0 0'/>"
        "<motor site='tool' refsite='other' gear='0.5 1 0.2 0.1 0.3 -0.2'/></actuator>"
        "<sensor><subtreelinvel name='p' body='trunk'/><subtreeangmom name='L' body='trunk'/>"
        "<actuatorpos name='l' actuator='m'/><actuatorvel name='v' actuator='m'/>"
        "</sensor></mujoco>");
    assert_int_equal(r.system->bodies->sensor_count, 4);
    unsigned seed = 6;
    double first[6], far = 0, h = 1e-4;
    for (int i = 0; i < r.system->n; i++) {
        state_v(r.state)[i] = dice(&seed);
    }
    state_param(r.state)[0] = 1;
    state_param(r.state)[1] = -2;
    robot_accelerations(&r);
    memcpy(first, zw_field(r.system, r.state, r.work, ZW_FIELD_SENSOR).data, sizeof first);
    double energy = zw_field(r.system, r.state, r.work, ZW_FIELD_ENERGY).data[0];
    robot_run(&r, 1, 1e-12);
    robot_accelerations(&r);
    const double *now = zw_field(r.system, r.state, r.work, ZW_FIELD_SENSOR).data;
    for (int k = 0; k < 6; k++) {
        far = fmax(far, fabs(now[k] - first[k]));
    }
    assert_true(far < 1e-9);
    double length = now[6];
    close_to("work", zw_field(r.system, r.state, r.work, ZW_FIELD_ENERGY).data[0] - energy,
             r.state->work, 1e-9);
    assert_true(fabs(r.state->work) > 0.1);
    robot_run(&r, 1 + h, 1e-13);
    robot_accelerations(&r);
    double rate = zw_field(r.system, r.state, r.work, ZW_FIELD_SENSOR).data[7];
    robot_run(&r, 1 + 2 * h, 1e-13);
    robot_accelerations(&r);
    double later = zw_field(r.system, r.state, r.work, ZW_FIELD_SENSOR).data[6];
    close_to("rate", (later - length) / (2 * h), rate, 1e-6);
    assert_true(fabs(rate) > 0.01);
    robot_end(&r);
}

static void refused(void **state)
{
    (void)state;
    zw_error error = {0};
    zw_model *model = zw_model_parse(
        "<mujoco><worldbody><body><joint name='rail' type='slide'/><geom size='0.1'/></body>"
        "</worldbody><actuator><general name='push' joint='rail' dyntype='filter' dynprm='0'/>"
        "</actuator></mujoco>",
        "robot.xml", NULL, &error);
    assert_null(model);
    assert_non_null(strstr(error.text, "its filter needs a positive time constant"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filter),
        cmocka_unit_test(start_of_a_keyframe),
        cmocka_unit_test(range),
        cmocka_unit_test(orders),
        cmocka_unit_test(quick_filter),
        cmocka_unit_test(damping_ratio),
        cmocka_unit_test(springs_by_time_constant_beside_tendon_armature),
        cmocka_unit_test(tendon_armature),
        cmocka_unit_test(armature_in_chains),
        cmocka_unit_test(between_sites),
        cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

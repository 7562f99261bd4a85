/* Equilibria and modes of robots with contacts and loops, compared with closed forms. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "system/bodies/bodies.h"

#include "../system/world.h"
#include "zwang/modes.h"

static zw_error error;

static world begin(const char *text)
{
    world w = {0};
    w.model = zw_model_parse(text, "test.xml", NULL, &w.error);
    w.system = w.model ? zw_system_compile(w.model, NULL, &w.error) : NULL;
    w.work = w.system ? zw_work_create(w.system, &w.error) : NULL;
    w.state = w.work ? zw_state_create(w.system, w.work, &w.assembly, &w.error) : NULL;
    if (!w.state) {
        fail_msg("%s", w.error.text);
    }
    return w;
}

static zw_rest_report rest(world *w)
{
    zw_rest_report report;
    if (zw_rest(w->model, w->system, w->state, w->work, NULL, &report, &error) != ZW_OK) {
        fail_msg("%s", error.text);
    }
    return report;
}

static zw_modes *modes_of(world *w)
{
    zw_modes *modes = zw_modes_create(w->model, w->system, w->state, 0, &error);
    if (!modes) {
        fail_msg("%s", error.text);
    }
    return modes;
}

/* How far the nearest frequency is from this one, relative. */
static double off(const zw_modes *modes, double frequency)
{
    double best = INFINITY;
    for (int k = 0; k < zw_modes_count(modes); k++) {
        best = fmin(best, fabs(zw_modes_look(modes, k).frequency / frequency - 1));
    }
    return best;
}

/* An ellipsoid with the half axes a, b, c that rolls on a plane: the radii of its lowest point are
 * a^2/c and b^2/c, and it rocks about (I + m c^2) w^2 = m g (radius - c). */
static void test_ellipsoid(void **state)
{
    (void)state;
    const double a = 0.3, b = 0.2, c = 0.1, m = 2, g = 9.81;
    const double x = m * (b * b + c * c) / 5, y = m * (a * a + c * c) / 5;
    world w = begin("<mujoco><option gravity='0 0 -9.81'/><worldbody><geom type='plane' size='5 5 "
                    "1'/><body pos='0 0 .1'><freejoint/><geom type='ellipsoid' size='.3 .2 .1' "
                    "mass='2' friction='1 0 0'/></body></worldbody></mujoco>");
    rest(&w);
    zw_modes *modes = modes_of(&w);
    double about_y = sqrt(m * g * (a * a / c - c) / (y + m * c * c));
    double about_x = sqrt(m * g * (b * b / c - c) / (x + m * c * c));
    printf("an ellipsoid rocks: off by %.1e and %.1e\n", off(modes, about_x), off(modes, about_y));
    assert_true(off(modes, about_x) < 1e-8 && off(modes, about_y) < 1e-8);
    assert_int_equal(zw_modes_stability(modes), ZW_NEUTRAL);
    zw_modes_free(modes);
    world_end(&w);
}

/* On its small end it falls. */
static void test_on_end(void **state)
{
    (void)state;
    const double a = 0.1, c = 0.3, m = 2, g = 9.81, I = m * (a * a + c * c) / 5;
    world w = begin("<mujoco><option gravity='0 0 -9.81'/><worldbody><geom type='plane' size='5 5 "
                    "1'/><body pos='0 0 .3'><freejoint/><geom type='ellipsoid' size='.1 .1 .3' "
                    "mass='2' friction='1 0 0'/></body></worldbody></mujoco>");
    rest(&w);
    zw_modes *modes = modes_of(&w);
    double growth = sqrt(m * g * (c - a * a / c) / (I + m * c * c));
    assert_int_equal(zw_modes_stability(modes), ZW_UNSTABLE);
    printf("on its end it falls: off by %.1e\n", zw_modes_look(modes, 0).growth / growth - 1);
    assert_true(fabs(zw_modes_look(modes, 0).growth / growth - 1) < 1e-8);
    zw_modes_free(modes);
    world_end(&w);
}

/* Two bars and a rod between them, closed by a connect: w^2 = g/l (m + M)/(2/3 m + M). */
static void test_loop(void **state)
{
    (void)state;
    const double g = 9.81, l = 0.5, m = 1, M = 3;
    world w =
        begin("<mujoco><compiler autolimits='true'/><option gravity='0 0 -9.81'/><default><geom "
              "contype='0' conaffinity='0'/></default><worldbody><body name='a'><joint axis='0 1 "
              "0'/><inertial pos='0 0 -.25' mass='1' diaginertia='.02083333333333333 "
              ".02083333333333333 .001'/><geom size='.01'/><body name='rod' pos='0 0 -.5'><joint "
              "axis='0 1 0'/><inertial pos='.2 0 0' mass='3' diaginertia='.1 .1 .1'/><geom "
              "size='.01'/></body></body><body name='b' pos='.4 0 0'><joint axis='0 1 "
              "0'/><inertial pos='0 0 -.25' mass='1' diaginertia='.02083333333333333 "
              ".02083333333333333 .001'/><geom size='.01'/></body></worldbody><equality><connect "
              "body1='rod' body2='b' anchor='.4 0 0'/></equality></mujoco>");
    const double start[] = {0.4, -0.4, 0.4};
    assert_int_equal(zw_state_set(w.system, w.state, w.work, ZW_FIELD_Q, 0, 3, start, &error),
                     ZW_OK);
    rest(&w);
    assert_true(fabs(state_q(w.state)[0]) < 1e-9 && fabs(state_q(w.state)[2]) < 1e-9);
    zw_modes *modes = modes_of(&w);
    double frequency = sqrt(g / l * (m + M) / (2.0 / 3 * m + M));
    assert_int_equal(zw_modes_count(modes), 1);
    printf("a swing with a loop: off by %.1e\n", off(modes, frequency));
    zw_state *moved = NULL;
    assert_int_equal(zw_state_copy(w.state, &moved, &error), ZW_OK);
    assert_int_equal(zw_modes_move(modes, 0, 0.3, 0, w.state, moved, w.work, &error), ZW_OK);
    const double *q = state_q(moved); /* the rod stays level, and both bars lean the same way */
    assert_true(fabs(q[0]) > 0.25 && fabs(q[0] - q[2]) < 1e-9 && fabs(q[0] + q[1]) < 1e-9);
    assert_int_equal(zw_modes_move(modes, 7, 0.3, 0, w.state, moved, w.work, &error), ZW_BAD_INPUT);
    zw_state_free(moved);
    assert_true(off(modes, frequency) < 1e-10);
    zw_modes_free(modes);
    world_end(&w);
}

/* A box that is dropped askew ends up flat on the floor, one on a slope stays where it is, and a
 * ball that a spring presses against a wall without friction goes where the spring has it. */
static void test_landing(void **state)
{
    (void)state;
    world w = begin("<mujoco><option gravity='0 0 -9.81'/><worldbody><geom type='plane' size='5 5 "
                    "1'/><body pos='0 0 .5' euler='10 5 30'><freejoint/><geom type='box' size='.2 "
                    ".3 .1' mass='2'/></body></worldbody></mujoco>");
    zw_rest_report report = rest(&w);
    const double *q = state_q(w.state), up = 1 - 2 * (q[4] * q[4] + q[5] * q[5]);
    printf("a box lands after %d steps: height %.12f, upright %.12f\n", report.iterations, q[2],
           up);
    assert_true(fabs(q[2] - 0.1) < 1e-7 && fabs(up - 1) < 1e-9);
    zw_modes *modes = modes_of(&w);
    assert_int_equal(zw_modes_stability(modes), ZW_NEUTRAL);
    zw_modes_free(modes);
    world_end(&w);

    w = begin("<mujoco><option gravity='2 0 -9.81'/><worldbody><geom type='plane' size='5 5 1'/>"
              "<body pos='0 0 .1'><freejoint/><geom type='box' size='.2 .3 .1' mass='2'/></body>"
              "</worldbody></mujoco>");
    assert_int_equal(rest(&w).iterations, 0);
    world_end(&w);

    w = begin("<mujoco><option gravity='0 0 -9.81'/><worldbody><geom type='plane' size='5 5 1' "
              "condim='1'/><body pos='.3 0 .2'><joint type='slide' axis='1 0 0' stiffness='8'/>"
              "<joint type='slide' axis='0 0 1'/><geom size='.1' mass='2' condim='1'/></body>"
              "</worldbody></mujoco>");
    rest(&w);
    assert_true(fabs(state_q(w.state)[0]) < 1e-9 && fabs(state_q(w.state)[1] + 0.1) < 1e-7);
    modes = modes_of(&w);
    assert_int_equal(zw_modes_count(modes), 1);
    assert_true(off(modes, 2) < 1e-9);
    zw_modes_free(modes);
    world_end(&w);
}

/* A robot that topples comes to rest on the floor, by its own motion; and one that nothing carries
 * is named. */
static void test_toppling(void **state)
{
    static const char body[] =
        "<body name='thing' pos='0 0 .6' euler='30 0 0'><freejoint name='way'/><geom "
        "type='capsule' size='.05 .3' mass='2'/><body pos='0 0 .3'><joint axis='1 0 0' "
        "damping='.1'/><geom type='box' size='.2 .05 .05' pos='.1 0 .1' mass='1'/></body></body>";
    char text[1000];
    (void)state;
    for (int floor = 0; floor < 2; floor++) {
        snprintf(text, sizeof text, "<mujoco><worldbody>%s%s</worldbody></mujoco>",
                 floor ? "<geom type='plane' size='5 5 1'/>" : "", body);
        world w = begin(text);
        zw_rest_report report;
        zw_status found = zw_rest(w.model, w.system, w.state, w.work, NULL, &report, &error);
        if (floor) {
            assert_int_equal(found, ZW_OK);
            assert_true(state_q(w.state)[2] < 0.2 && w.state->t == 0);
            zw_run_options run = {.method = ZW_METHOD_IMPULSE, .time = 0.5, .every = 1};
            zw_run_summary summary;
            assert_int_equal(zw_run(w.system, w.state, w.work, &run, &summary, &error), ZW_OK);
            for (int i = 0; i < w.system->n; i++) {
                assert_true(fabs(state_v(w.state)[i]) < 1e-6);
            }
        } else {
            assert_int_equal(found, ZW_NOT_REACHED);
            assert_non_null(strstr(error.text, "way.z still accelerates by -9.81: it falls"));
            assert_int_equal(error.line, 1);
        }
        world_end(&w);
    }
}

/* Robots that others have made, in $ZW_MODELS (or /work/shared/models), if they are there: from
 * their pose `home`, and one that comes to stand where friction is about to slide. */
static void test_models(void **state)
{
    static const char *const list[] = {"unitree_go1/scene.xml", "shadow_hand/scene_right.xml",
                                       "agility_cassie/scene.xml", "unitree_go1/scene.xml"};
    const char *models = getenv("ZW_MODELS");
    (void)state;
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        char path[400];
        snprintf(path, sizeof path, "%s/%s", models ? models : "/work/shared/models", list[k]);
        world w = {0};
        w.model = zw_model_read(path, NULL, &w.error);
        if (!w.model) {
            printf("skipped: there is no %s\n", path);
            continue;
        }
        int home = zw_model_find(w.model, ZW_KIND_KEY, "home");
        if (home >= 0 && k < 3) {
            zw_key_def key = *(const zw_key_def *)zw_model_def(w.model, ZW_KIND_KEY, home);
            key.start = 1;
            zw_model_change(w.model, ZW_KIND_KEY, home, &key, &w.error);
        }
        w.system = zw_system_compile(w.model, NULL, &w.error);
        w.work = zw_work_create(w.system, &w.error);
        w.state = zw_state_create(w.system, w.work, &w.assembly, &w.error);
        assert_non_null(w.state);
        zw_rest_report report = rest(&w);
        printf("%s: %d steps, %.1e are left\n", list[k], report.iterations, report.acceleration);
        assert_true(report.acceleration < (k < 3 ? 1e-4 : 1e-3)); /* of 1e4 on the way */
        world_end(&w);
    }
}

/* A drive has an acceleration that nothing is left to step along for: that is no rest. */
static void test_driven(void **state)
{
    world w =
        world_of("param g = 9.81\ncoord x = 0, y = 0\nmass 1 at (x, y)\nconstraint drive: x = "
                 "t^2\nforce y: -y\n");
    zw_rest_report report;
    (void)state;
    assert_int_equal(zw_rest(w.model, w.system, w.state, w.work, NULL, &report, &error),
                     ZW_NOT_REACHED);
    assert_non_null(strstr(error.text, "x still accelerates by 2"));
    assert_int_equal(error.line, 2);
    world_end(&w);
}

/* Activations are where their controls lead them: a filter and a muscle's at the control, an
 * integrator only at the end of its range. A pendulum that a filtered motor holds at an angle:
 * m g l sin a = K c, and w^2 = m g l cos a/I. */
static void test_activations(void **state)
{
#define ARM(actuator)                                                                              \
    "<mujoco><compiler angle='radian'/><worldbody><body><joint name='a' axis='0 -1 0'/><inertial " \
    "pos='0 0 -.5' mass='2' diaginertia='.1 .1 .1'/></body></worldbody><actuator>" actuator        \
    "</actuator></mujoco>"
    static const char *const text[] = {
        ARM("<general name='u' joint='a' dyntype='filter' dynprm='.3' gainprm='6'/>"),
        ARM("<general name='u' joint='a' dyntype='integrator' gainprm='6' actlimited='true' "
            "actrange='-1 .7'/>"),
        ARM("<general name='u' joint='a' dyntype='integrator' gainprm='6'/>")};
    (void)state;
    for (int k = 0; k < 3; k++) {
        world w = begin(text[k]);
        zw_rest_report report;
        state_param(w.state)[0] = 0.7;
        if (k == 2) {
            assert_int_equal(zw_rest(w.model, w.system, w.state, w.work, NULL, &report, &error),
                             ZW_NOT_REACHED);
            assert_non_null(strstr(error.text, "the activation of u grows without end"));
        } else {
            report = rest(&w);
            double a = asin(6 * .7 / (2 * 9.81 * .5)), angle = state_q(w.state)[0];
            printf("held at %.12g, %.12g; left %.1e\n", angle, a, report.acceleration);
            assert_true(fabs(angle - a) < 1e-9);
            zw_modes *modes = modes_of(&w);
            assert_true(off(modes, sqrt(2 * 9.81 * .5 * cos(a) / .6)) < 1e-9);
            zw_modes_free(modes);
            assert_null(zw_modes_create(w.model, w.system, w.state, 1, &error));
            assert_non_null(strstr(error.text, "over a period"));
        }
        world_end(&w);
    }
#undef ARM
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ellipsoid), cmocka_unit_test(test_on_end),
        cmocka_unit_test(test_loop),      cmocka_unit_test(test_landing),
        cmocka_unit_test(test_toppling),  cmocka_unit_test(test_models),
        cmocka_unit_test(test_driven),    cmocka_unit_test(test_activations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Limits of forces in steps: motors and dry friction are box constraints of the problem of a step,
 * both when it is solved exactly and with one linearisation (tolerance 1). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "step/impulse_go.h"

/* Sliders of 1 kg along x, without weight. */
#define SLIDE(name, joint)                                                                         \
    "<body name='" name "'><joint name='" name "' type='slide' axis='1 0 0' " joint "/>"           \
    "<geom size='.1' mass='1' contype='0' conaffinity='0'/></body>"
#define WORLD(bodies, rest)                                                                        \
    "<mujoco><option gravity='0 0 0'/><worldbody>" bodies "</worldbody>" rest "</mujoco>"

#define LIFTED(name, range)                                                                        \
    "<body name='" name "' gravcomp='1'><joint name='" name                                        \
    "' type='slide' axis='1 0 0' actuatorfrcrange='" range "'/>"                                   \
    "<geom size='.1' mass='1' contype='0' conaffinity='0'/></body>"

static const double tolerances[] = {0, 1};

static void step(robot *r, double tolerance, double h)
{
    zw_error error;
    const zw_run_options options = {.method = ZW_METHOD_IMPULSE, .step = h, .tolerance = tolerance};
    if (zw_step(r->system, r->state, r->work, &options, &error) != ZW_OK) {
        fail_msg("%s", error.text);
    }
}

/* A stiff servo with a demand of a million newtons, limited to two: x = t^2 while it is far from
 * its target, and never more than two newtons; it arrives and stays. */
static void servo_at_its_limit(void **state)
{
    for (int k = 0; k < 2; k++) {
        robot r =
            robot_read(WORLD(SLIDE("x", ""), "<actuator><position joint='x' kp='1e6' kv='2e3' "
                                             "forcerange='-2 2'/></actuator>"));
        const double h = 0.01;
        double before = 0, most = 0;
        state_param(r.state)[0] = 1;
        for (int i = 1; i <= 500; i++) {
            step(&r, tolerances[k], h);
            double v = state_v(r.state)[0], x = state_q(r.state)[0];
            most = fmax(most, fabs(v - before) / h);
            before = v;
            if (i <= 50) { /* backward Euler is h ahead with one linearisation */
                double want = tolerances[k] == 1 ? h * h * i * (i + 1) : h * h * i * i;
                close_to("way", x, want, 1e-12);
                close_to("speed", v, 2 * h * i, 1e-12);
            }
        }
        assert_true(most <= 2 * (1 + 1e-9));
        assert_true(fabs(state_q(r.state)[0] - 1) <
                    1.5); /* two newtons brake too late: it overshoots */
        robot_end(&r);
    }
    (void)state;
}

/* The same with a limit of the joint's force, a gear and two motors, one with its own limit. */
static void limits_of_the_joint(void **state)
{
    for (int k = 0; k < 2; k++) {
        robot r = robot_read(
            WORLD(SLIDE("x", "actuatorfrcrange='-3 3'") SLIDE("y", "actuatorfrcrange='-3 3'"),
                  "<actuator><position joint='x' kp='1e5' kv='1e3' gear='-2' forcerange='-9 1'/>"
                  "<position joint='y' kp='1e5' kv='1e3' forcerange='-1 1'/>"
                  "<motor joint='y' ctrlrange='-9 9'/></actuator>"));
        double *control = state_param(r.state);
        control[0] = 10; /* 1 N through the gear of -2 */
        control[1] = 10; /* 1 N and */
        control[2] = 5;  /* five more: three */
        for (int i = 0; i < 20; i++) {
            step(&r, tolerances[k], 0.01);
        }
        close_to("x", state_v(r.state)[0], -2 * 1 * 0.2, 1e-12);
        close_to("y", state_v(r.state)[1], 3 * 0.2, 1e-12);
        control[0] = -10; /* -9 N through the gear would be 18: the joint has 3 */
        control[2] = -1.5;
        for (int i = 0; i < 20; i++) {
            step(&r, tolerances[k], 0.01);
        }
        close_to("x", state_v(r.state)[0], -0.4 + 3 * 0.2, 1e-12);
        close_to("y", state_v(r.state)[1], 0.6 - 0.5 * 0.2, 1e-12);
        robot_end(&r);
    }
    (void)state;
}

/* Motors that compensate a weight of 10 N within their range. x, with a range of 4 N, falls with
 * 10 - 4; y, with a wide range, stays; z has 12 N, 10 for its weight and 2 of the 5 that its motor
 * demands; the stiff servo of w is limited to the remainder, too. */
static void weights_within_the_range(void **state)
{
    for (int k = 0; k < 2; k++) {
        robot r = robot_read(
            "<mujoco><option gravity='-10 0 0'/><default><joint actuatorgravcomp='true'/></default>"
            "<worldbody>" LIFTED("x", "-4 4") LIFTED("y", "-20 20") LIFTED("z", "-12 12") LIFTED(
                "w", "-12 12") "</worldbody>"
                               "<actuator><motor joint='z' ctrlrange='-9 9'/>"
                               "<position joint='w' kp='1e5' kv='1e3'/></actuator></mujoco>");
        state_param(r.state)[0] = 5;
        state_param(r.state)[1] = 10;
        for (int i = 0; i < 20; i++) {
            step(&r, tolerances[k], 0.01);
        }
        close_to("x", state_v(r.state)[0], -6 * 0.2, 1e-12);
        close_to("y", state_v(r.state)[1], 0, 1e-12);
        close_to("z", state_v(r.state)[2], 2 * 0.2, 1e-12);
        close_to("w", state_v(r.state)[3], 2 * 0.2, 1e-12);
        robot_end(&r);
    }
    (void)state;
}

/* Friction stops a sliding body after v^2/2f, holds it exactly against a smaller force, and lets it
 * slide under a larger one, in either direction. */
static void dry_friction(void **state)
{
    for (int k = 0; k < 2; k++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            robot r = robot_read(
                WORLD(SLIDE("x", "frictionloss='3'"), "<actuator><motor joint='x'/></actuator>"));
            const double h = 0.01;
            state_v(r.state)[0] = 2 * sign;
            for (int i = 0; i < 100; i++) {
                step(&r, tolerances[k], h);
            }
            double late = tolerances[k] == 1 ? 2 * h : 0.02 * h;
            assert_true(fabs(sign * state_q(r.state)[0] - 4.0 / 6) <= late);
            assert_true(state_v(r.state)[0] == 0);
            double rest = state_q(r.state)[0];
            state_param(r.state)[0] = 2.999 * sign;
            step(&r, tolerances[k], h);
            assert_true(state_q(r.state)[0] == rest && state_v(r.state)[0] == 0);
            state_param(r.state)[0] = -4 * sign;
            for (int i = 0; i < 10; i++) {
                step(&r, tolerances[k], h);
            }
            close_to("speed", sign * state_v(r.state)[0], -(4 - 3) * 0.1, 1e-12);
            robot_end(&r);
        }
    }
    (void)state;
}

/* A joint driven by an equation against its friction moves as driven, and the friction of the other
 * joint, which it carries along, holds or slides. */
static void driven_through_friction(void **state)
{
    for (int k = 0; k < 2; k++) {
        robot r = robot_read(WORLD(SLIDE("x", "frictionloss='3'") SLIDE("y", "frictionloss='1'"),
                                   "<equality><joint joint1='x' joint2='y' polycoef='0 1 0 0 0'/>"
                                   "</equality><actuator><motor joint='y'/></actuator>"));
        state_param(r.state)[0] = 3.9; /* of both together, 4 */
        for (int i = 0; i < 20; i++) {
            step(&r, tolerances[k], 0.01);
        }
        assert_true(fabs(state_v(r.state)[0]) < 1e-14 && fabs(state_q(r.state)[1]) < 1e-14);
        state_param(r.state)[0] = 5;
        for (int i = 0; i < 20; i++) {
            step(&r, tolerances[k], 0.01);
        }
        close_to("speed", state_v(r.state)[0], (5.0 - 4) / 2 * 0.2, 1e-10);
        close_to("both", state_v(r.state)[1], state_v(r.state)[0], 1e-12);
        robot_end(&r);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(servo_at_its_limit),       cmocka_unit_test(limits_of_the_joint),
        cmocka_unit_test(weights_within_the_range), cmocka_unit_test(dry_friction),
        cmocka_unit_test(driven_through_friction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The velocity form of the principle in joints: motors, limits and dry friction at any step. */
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

/* ---- Motors --------------------------------------------------------------------------------- */

/* A link of 1 kg, 1 x .1 x .1 m, hinged at one end; it is horizontal at q = 0. */
#define LINK(motor)                                                                                \
    "<mujoco><compiler angle='radian'/><worldbody><body name='link' pos='0 0 2'>"                  \
    "<joint name='q' axis='0 1 0'/>"                                                               \
    "<geom type='box' size='.5 .05 .05' pos='.5 0 0' mass='1' contype='0' conaffinity='0'/>"       \
    "</body></worldbody><actuator>" motor "</actuator></mujoco>"

static robot motor_link(double kp, double kd, double force)
{
    char text[1000], motor[300];
    snprintf(
        motor, sizeof motor,
        "<general name='m' joint='q' gainprm='%.17g' biastype='affine' biasprm='0 %.17g %.17g' "
        "forcelimited='%s' forcerange='%g %g'/>",
        kp, -kp, -kd, force > 0 ? "true" : "false", -force - 1e-300, force + 1e-300);
    snprintf(text, sizeof text, LINK("%s"), motor);
    robot r = robot_read(text);
    state_param(r.state)[0] = PI / 3;
    return r;
}

static int watch_angle(void *user, zw_sample_kind kind, int event, const zw_system *system,
                       const zw_state *state, zw_work *work)
{
    (void)kind, (void)event, (void)system, (void)work;
    double *most = user;
    *most = fmax(*most, fabs(state_q((zw_state *)state)[0]));
    return 0;
}

/* Where kp (pi/3 - q) balances the weight, m g / 2 cos q (it sinks as q grows). */
static double rest_of(double kp)
{
    double q = PI / 3;
    for (int i = 0; i < 50; i++) {
        double f = kp * (PI / 3 - q) + 0.5 * 9.81 * cos(q);
        q += f / (kp + 0.5 * 9.81 * sin(q));
    }
    return q;
}

static void settles(double kp, double kd, double step)
{
    robot r = motor_link(kp, kd, 0);
    double most = 0, time = fmax(3, 40 * step);
    go(&r, ZW_METHOD_IMPULSE, time, step, watch_angle, &most);
    if (!(most < PI)) {
        fail_msg("kp %g, step %g: angle %g", kp, step, most);
    }
    close_to("rest", state_q(r.state)[0], rest_of(kp), 1e-3);
    close_to("speed", state_v(r.state)[0], 0, 1e-2);
    robot_end(&r);
}

static void motors_are_stable_at_all_steps(void **state)
{
    (void)state;
    static const double step[] = {1e-3, 5e-3, 1e-2, 5e-2, 0.1, 0.2, 0.5, 1, 2};
    for (size_t k = 0; k < sizeof step / sizeof *step; k++) {
        settles(1000, 25, step[k]);
    }
    static const double gain[] = {10, 30, 100, 300, 1000, 3000, 5000};
    for (size_t k = 0; k < sizeof gain / sizeof *gain; k++) {
        settles(gain[k], 2 * sqrt(gain[k] / 3), 0.05);
    }
}

static void huge_gain_ends_at_its_target(void **state)
{
    (void)state;
    robot r = motor_link(1e9, 0, 0);
    double most = 0;
    go(&r, ZW_METHOD_IMPULSE, 5, 0.05, watch_angle, &most);
    close_to("target", state_q(r.state)[0], PI / 3, 1e-8);
    close_to("speed", state_v(r.state)[0], 0, 1e-8);
    assert_true(most < PI / 3 + 1e-6);
    robot_end(&r);
}

/* On a rail, where the solution is known: full force until the control law demands less. */
static const char rail[] =
    "<mujoco><option gravity='0 0 0'/><worldbody><body>"
    "<joint name='x' type='slide' axis='1 0 0' damping='0.5'/>"
    "<geom type='sphere' size='.1' mass='2' contype='0' conaffinity='0'/></body></worldbody>"
    "<actuator><general joint='x' gainprm='200' biastype='affine' biasprm='0 -200 -30' "
    "forcelimited='true' forcerange='-3 5'/></actuator></mujoco>";

static void saturated_motor(void **state)
{
    (void)state;
    double error[2], at[2];
    for (int k = 0; k < 2; k++) {
        robot r = robot_read(rail), exact = robot_read(rail);
        state_param(r.state)[0] = state_param(exact.state)[0] = 1;
        go(&r, ZW_METHOD_IMPULSE, 0.8, 0.004 / (1 + k), NULL, NULL);
        go(&exact, ZW_METHOD_DOP853, 0.8, 0, NULL, NULL);
        at[k] = state_q(r.state)[0];
        error[k] = fabs(at[k] - state_q(exact.state)[0]);
        robot_end(&r);
        robot_end(&exact);
    }
    print_message("saturated motor: %.2g, %.2g\n", error[0], error[1]);
    assert_true(error[0] < 1e-5 && error[0] / error[1] > 1.7);
}

/* The force of a step is the clamped control law at its middle, or at its end if it is stiff, for
 * its mean speed. Random starts, targets and steps; on a rail the force follows from the speeds. */
static void force_is_the_clamped_law(void **state)
{
    (void)state;
    robot r = robot_read(rail);
    step_impulse *s = impulse_create(r.system, r.work, &r.error);
    unsigned seed = 7;
    int low = 0, inside = 0, high = 0;
    for (int k = 0; k < 2000; k++) {
        double q0 = 3 * dice(&seed), v0 = 5 * dice(&seed), q1, v1;
        double h = exp(4 * dice(&seed) - 4), target = dice(&seed);
        r.work->param[0] = target;
        assert_int_equal(impulse_step(s, 0, h, &q0, &v0, &q1, &v1, &r.error), ZW_OK);
        /* how stiff it is, from h (D + h K)/M = 0.2 to 0.5 */
        double stiff = h * (30.5 + 200 * h) / 2, part = (stiff * stiff - 0.04) / (0.25 - 0.04);
        part = 0.5 * (1 + fmin(fmax(part, 0), 1));
        double u = (q1 - q0) / h, law = 200 * (target - q0 - part * (q1 - q0)) - 30 * u;
        double force = fmin(fmax(law, -3), 5), size = 2 * (fabs(u) + fabs(v0) + fabs(q0) / h);
        double used = 2 * (u - v0) / (h / 2) + 0.5 * u; /* up to the middle of the step */
        size /= h / 2;
        close_to("force", used, force, 1e-10 * (5 + fabs(force)) + 4e-15 * size);
        low += law < -3;
        high += law > 5;
        inside += law > -3 && law < 5;
    }
    assert_true(low > 50 && high > 50 && inside > 50);
    impulse_free(s);
    robot_end(&r);
}

/* ---- Limits --------------------------------------------------------------------------------- */

static int watch_limit(void *user, zw_sample_kind kind, int event, const zw_system *system,
                       const zw_state *state, zw_work *work)
{
    (void)kind, (void)event, (void)system, (void)work;
    double *least = user, q = state_q((zw_state *)state)[0];
    *least = fmin(*least, 1.2 - q);
    return 0;
}

static void limit_is_never_crossed(void **state)
{
    (void)state;
    static const char text[] =
        "<mujoco><compiler angle='radian'/><worldbody><body pos='0 0 2'>"
        "<joint name='q' axis='0 1 0' limited='true' range='-1 1.2'/>"
        "<geom type='box' size='.5 .05 .05' pos='.5 0 0' mass='1' contype='0' conaffinity='0'/>"
        "</body></worldbody></mujoco>";
    static const double step[] = {1e-3, 7e-3, 0.05, 0.4};
    for (size_t k = 0; k < sizeof step / sizeof *step; k++) {
        robot r = robot_read(text);
        double least = INFINITY;
        go(&r, ZW_METHOD_IMPULSE, 4, step[k], watch_limit, &least);
        if (!(least >= -1e-12)) {
            fail_msg("step %g: beyond the limit by %g", step[k], -least);
        }
        close_to("rest", state_q(r.state)[0], 1.2, 1e-12);
        close_to("speed", state_v(r.state)[0], 0, 1e-12);
        assert_int_equal((int)state_mode(r.state)[1], SYSTEM_CLOSED);
        robot_end(&r);
    }
}

/* Two limits of a chain, reached one after another, and left again under a motor's force. */
static void limits_open_again(void **state)
{
    (void)state;
    static const char text[] =
        "<mujoco><compiler angle='radian'/><worldbody><body pos='0 0 2'>"
        "<joint name='a' axis='0 1 0' limited='true' range='-1 1.2'/>"
        "<geom type='box' size='.5 .05 .05' pos='.5 0 0' mass='1' contype='0' conaffinity='0'/>"
        "<body pos='1 0 0'><joint name='b' axis='0 1 0' limited='true' range='-.5 .5'/>"
        "<geom type='box' size='.3 .05 .05' pos='.3 0 0' mass='.5' contype='0' conaffinity='0'/>"
        "</body></body></worldbody><actuator><motor joint='a'/></actuator></mujoco>";
    robot r = robot_read(text);
    go(&r, ZW_METHOD_IMPULSE, 6, 0.01, NULL, NULL);
    close_to("upper", state_q(r.state)[0], 1.2, 1e-12);
    /* the first is below the horizontal, the second hangs down: 1.2 + b = pi/2 */
    close_to("second", state_q(r.state)[1], PI / 2 - 1.2, 0.3);
    state_param(r.state)[0] = -40;
    go(&r, ZW_METHOD_IMPULSE, 6.2, 0.01, NULL, NULL);
    assert_true(state_q(r.state)[0] < 1.1);
    robot_end(&r);
}

/* ---- Dry friction --------------------------------------------------------------------------- */

static const char block[] =
    "<mujoco><option gravity='0 0 0'/><worldbody><body>"
    "<joint name='x' type='slide' axis='1 0 0' frictionloss='2'/>"
    "<geom type='sphere' size='.1' mass='1' contype='0' conaffinity='0'/></body></worldbody>"
    "<actuator><motor joint='x'/></actuator></mujoco>";

static void friction_holds_and_slides(void **state)
{
    (void)state;
    static const double step[] = {1e-3, 0.01, 0.1};
    for (size_t k = 0; k < sizeof step / sizeof *step; k++) {
        robot r = robot_read(block);
        state_param(r.state)[0] = 1.999;
        state_q(r.state)[0] = 0.3;
        go(&r, ZW_METHOD_IMPULSE, 2, step[k], NULL, NULL);
        assert_true(state_q(r.state)[0] == 0.3 && state_v(r.state)[0] == 0);
        assert_int_equal((int)state_mode(r.state)[0], SYSTEM_STUCK);
        state_param(r.state)[0] = -3; /* leaves with 1 m/s^2 */
        go(&r, ZW_METHOD_IMPULSE, 3, step[k], NULL, NULL);
        close_to("speed", state_v(r.state)[0], -1, 1e-11);
        close_to("way", state_q(r.state)[0], 0.3 - 0.5, 0.51 * step[k]);
        state_param(r.state)[0] = 0; /* stops with 2 m/s^2 after half a second */
        go(&r, ZW_METHOD_IMPULSE, 3.3, step[k], NULL, NULL);
        close_to("speed", state_v(r.state)[0], -0.4, 1e-11);
        go(&r, ZW_METHOD_IMPULSE, 5, step[k], NULL, NULL);
        assert_true(state_v(r.state)[0] == 0);
        close_to("way", state_q(r.state)[0], 0.3 - 0.5 - 0.25, 1.1 * step[k]);
        double rest = state_q(r.state)[0];
        go(&r, ZW_METHOD_IMPULSE, 6, step[k], NULL, NULL);
        assert_true(state_q(r.state)[0] == rest && state_v(r.state)[0] == 0);
        robot_end(&r);
    }
}

/* An arm with dry friction in its joints: compared with DOP853 and its events, and at rest in the
 * end. */
static void rubbing_chain(void **state)
{
    (void)state;
    static const char text[] =
        "<mujoco><compiler angle='radian'/><worldbody><body pos='0 0 2'>"
        "<joint name='a' axis='0 1 0' frictionloss='1.5'/>"
        "<geom type='box' size='.5 .05 .05' pos='.5 0 0' mass='1' contype='0' conaffinity='0'/>"
        "<body pos='1 0 0'><joint name='b' axis='0 1 0' frictionloss='.4'/>"
        "<geom type='box' size='.3 .05 .05' pos='.3 0 0' mass='.5' contype='0' conaffinity='0'/>"
        "<body pos='.6 0 0'><joint name='c' axis='0 1 0' frictionloss='.6'/>"
        "<geom type='box' size='.2 .05 .05' pos='.2 0 0' mass='.3' contype='0' conaffinity='0'/>"
        "</body></body></body></worldbody></mujoco>";
    double error[2] = {0};
    for (int k = 0; k < 2; k++) {
        robot r = robot_read(text), exact = robot_read(text);
        go(&r, ZW_METHOD_IMPULSE, 1, 2e-3 / (1 + k), NULL, NULL);
        go(&exact, ZW_METHOD_DOP853, 1, 0, NULL, NULL);
        for (int i = 0; i < 3; i++) {
            error[k] = fmax(error[k], fabs(state_q(r.state)[i] - state_q(exact.state)[i]));
        }
        if (k == 1) {
            go(&r, ZW_METHOD_IMPULSE, 30, 0.01, NULL, NULL);
            for (int i = 0; i < 3; i++) {
                assert_true(state_v(r.state)[i] == 0);
            }
        }
        robot_end(&r);
        robot_end(&exact);
    }
    print_message("rubbing chain: %.3g, %.3g\n", error[0], error[1]);
    assert_true(error[0] < 0.02 && error[1] < 0.7 * error[0]);
}

/* ---- The rest ------------------------------------------------------------------------------- */

static void memory_may_run_out(void **state)
{
    (void)state;
    int failures = 0;
    for (int k = 1; k < 400; k++) {
        robot r = robot_read(block);
        const zw_run_options options = {.method = ZW_METHOD_IMPULSE, .time = 0.1, .step = 0.02};
        base_alloc_fail_after(k);
        zw_status status = zw_run(r.system, r.state, r.work, &options, NULL, &r.error);
        base_alloc_fail_after(0);
        robot_end(&r);
        if (status == ZW_OK) {
            break;
        }
        assert_int_equal(status, ZW_NO_MEMORY);
        failures++;
    }
    assert_true(failures > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(motors_are_stable_at_all_steps),
        cmocka_unit_test(huge_gain_ends_at_its_target),
        cmocka_unit_test(saturated_motor),
        cmocka_unit_test(force_is_the_clamped_law),
        cmocka_unit_test(limit_is_never_crossed),
        cmocka_unit_test(limits_open_again),
        cmocka_unit_test(friction_holds_and_slides),
        cmocka_unit_test(rubbing_chain),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

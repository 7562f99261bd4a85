/* Forces on bodies: motors, tendons, limits, dry friction. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "robots.h"
#include "scene/campaign.h"

/* ---- Limits and motors ---------------------------------------------------------------------- */

/* A point of mass m on a slide along x, or on an arm of length 1 that turns about y. */
static zw_model *carriage(double mass)
{
    zw_model *model = robot_new();
    int body = robot_body(model, 0, "carriage", 0, 0, 0, mass);
    robot_joint(model, body, ZW_JOINT_SLIDE, "x", 0, 0, 1);
    return model;
}

static void limits_stop_and_hold(void **state)
{
    (void)state;
    zw_model *model = carriage(2);
    robot_limit(model, 0, -1, 1);
    robot r = robot_of(model);
    zw_run_summary summary = robot_run(&r, 3, 1e-10);
    close_to("place", state_q(r.state)[0], -1, 1e-12);
    close_to("speed", state_v(r.state)[0], 0, 1e-12);
    assert_int_equal(summary.events, 1);
    close_to("lost energy", summary.work, -2 * 9.81 * 1, 1e-8);
    robot_accelerations(&r);
    close_to("push of the limit", r.work->lambda[0], 2 * 9.81, 1e-10);
    robot_end(&r);
}

static void a_ball_stops_at_its_cone(void **state)
{
    (void)state;
    zw_model *model = robot_new();
    zw_error error = {0};
    int body = robot_body(model, 0, "bob", 0, 0, 0, 1);
    zw_body_def def = *(const zw_body_def *)zw_model_def(model, ZW_KIND_BODY, body);
    def.com[0] = 1;
    assert_int_equal(zw_model_change(model, ZW_KIND_BODY, body, &def, &error), ZW_OK);
    int joint = robot_joint(model, body, ZW_JOINT_BALL, "neck", 0, 0, 1);
    robot_limit(model, joint, 0, 0.8);
    robot r = robot_of(model);
    robot_run(&r, 20, 1e-9);
    const double *q = state_q(r.state);
    double angle = 2 * atan2(sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]), fabs(q[0]));
    close_to("angle", angle, 0.8, 1e-9);
    close_to("speed", state_v(r.state)[1], 0, 1e-9);
    robot_end(&r);
}

static zw_actuator_def motor(int target)
{
    zw_actuator_def def = zw_actuator_default();
    def.name = "motor";
    def.drive = ZW_DRIVE_JOINT;
    def.target = target;
    return def;
}

static double acceleration_with(const zw_actuator_def *def, double u, double q, double v)
{
    zw_error error = {0};
    zw_model *model = carriage(2);
    if (zw_model_add_actuator(model, def, &error) < 0) {
        fail_msg("%s", error.text);
    }
    robot r = robot_of(model);
    state_q(r.state)[0] = q;
    state_v(r.state)[0] = v;
    state_param(r.state)[0] = u;
    double a = robot_accelerations(&r)[0];
    robot_end(&r);
    return a + 9.81;
}

static void motors_follow_their_formulas(void **state)
{
    (void)state;
    zw_actuator_def plain = motor(0);
    plain.gear[0] = 3;
    close_to("motor", acceleration_with(&plain, 1.5, 0.2, -0.4), 4.5 / 2, 1e-12);
    plain.ctrl_limited = 1;
    plain.ctrl_range[1] = 1;
    close_to("control clamped", acceleration_with(&plain, 1.5, 0.2, -0.4), 3.0 / 2, 1e-12);
    plain.force_limited = 1;
    plain.force_range[1] = 0.25;
    close_to("force clamped", acceleration_with(&plain, 1.5, 0.2, -0.4), 0.75 / 2, 1e-12);
    zw_actuator_def position = motor(0);
    position.gain_prm[0] = 40;
    position.bias_law = 1;
    position.bias_prm[1] = -40;
    position.bias_prm[2] = -2;
    close_to("position", acceleration_with(&position, 0.5, 0.2, -0.4),
             (40 * (0.5 - 0.2) + 2 * 0.4) / 2, 1e-12);
    zw_actuator_def general = position;
    general.gear[0] = -2;
    general.gain_law = 1;
    general.gain_prm[1] = 5;
    general.gain_prm[2] = 7;
    general.bias_prm[0] = 0.3;
    double length = -0.4, rate = 0.8;
    double force = (40 + 5 * length + 7 * rate) * 0.5 + 0.3 - 40 * length - 2 * rate;
    close_to("general", acceleration_with(&general, 0.5, 0.2, -0.4), -2 * force / 2, 1e-12);
}

/* The sum of all motors on a joint is clamped too, also of those that pull on a tendon. */
static void joints_clamp_their_motors(void **state)
{
    (void)state;
    zw_error error = {0};
    zw_model *model = carriage(2);
    zw_joint_def joint = *(const zw_joint_def *)zw_model_def(model, ZW_KIND_JOINT, 0);
    joint.force_limited = 1;
    joint.force_range[1] = 2.5;
    assert_int_equal(zw_model_change(model, ZW_KIND_JOINT, 0, &joint, &error), ZW_OK);
    const int over[1] = {0};
    const double coef[1] = {1.5};
    zw_tendon_def tendon = zw_tendon_default();
    tendon.count = 1;
    tendon.joint = over;
    tendon.coef = coef;
    assert_int_equal(zw_model_add_tendon(model, &tendon, &error), 0);
    for (int i = 0; i < 2; i++) {
        zw_actuator_def def = motor(0);
        def.drive = i ? ZW_DRIVE_TENDON : ZW_DRIVE_JOINT;
        def.name = i ? "two" : "one";
        def.ctrl_given = 1;
        def.ctrl = 2;
        assert_true(zw_model_add_actuator(model, &def, &error) >= 0);
    }
    robot r = robot_of(model);
    close_to("acceleration", robot_accelerations(&r)[0], 2.5 / 2 - 9.81, 1e-12);
    robot_end(&r);
}

/* A position motor on a slide is a damped spring: the closed form after a second. */
static void a_position_motor_swings(void **state)
{
    (void)state;
    zw_error error = {0};
    zw_model *model = carriage(2);
    zw_actuator_def def = motor(0);
    def.gain_prm[0] = 50;
    def.bias_law = 1;
    def.bias_prm[1] = -50;
    def.bias_prm[2] = -4;
    def.ctrl_given = 1;
    def.ctrl = 0.3;
    assert_true(zw_model_add_actuator(model, &def, &error) >= 0);
    robot r = robot_of(model);
    zw_run_summary summary = robot_run(&r, 1, 1e-12);
    double rest = 0.3 - 2 * 9.81 / 50, decay = 1, pulse = sqrt(25 - 1);
    double x = rest - rest * exp(-decay) * (cos(pulse) + decay / pulse * sin(pulse));
    close_to("place", state_q(r.state)[0], x, 1e-11);
    assert_true(summary.energy_drift < 1e-10);
    robot_end(&r);
}

/* A damping ratio of one: the fastest way without swinging, whatever the gear. */
static void a_ratio_of_one_is_critical(void **state)
{
    (void)state;
    zw_error error = {0};
    zw_model *model = carriage(2);
    zw_actuator_def def = motor(0);
    def.gear[0] = 3;
    def.gain_prm[0] = 5;
    def.bias_law = 1;
    def.bias_prm[1] = -5;
    def.damp_ratio = 1;
    def.ctrl_given = 1;
    def.ctrl = 0.3;
    assert_true(zw_model_add_actuator(model, &def, &error) >= 0);
    robot r = robot_of(model);
    robot_run(&r, 1, 1e-12);
    double stiffness = 3 * 3 * 5, pulse = sqrt(stiffness / 2);
    double rest = 0.3 / 3 - 2 * 9.81 / stiffness;
    close_to("place", state_q(r.state)[0], rest - rest * exp(-pulse) * (1 + pulse), 1e-11);
    robot_end(&r);
}

/* ---- Forces --------------------------------------------------------------------------------- */

static void weights_are_taken_off(void **state)
{
    (void)state;
    zw_error error = {0};
    zw_model *model = robot_new();
    int parent = 0;
    for (int i = 0; i < 3; i++) {
        parent = robot_body(model, parent, NULL, 0.3, 0.1, 0.2, 1 + i);
        robot_joint(model, parent, i == 1 ? ZW_JOINT_BALL : ZW_JOINT_HINGE, NULL, 0, 1, 0);
        zw_body_def def = *(const zw_body_def *)zw_model_def(model, ZW_KIND_BODY, parent);
        def.gravcomp = 1;
        def.com[1] = 0.2;
        assert_int_equal(zw_model_change(model, ZW_KIND_BODY, parent, &def, &error), ZW_OK);
    }
    robot r = robot_of(model);
    const double *a = robot_accelerations(&r);
    for (int i = 0; i < r.system->n; i++) {
        close_to("acceleration", a[i], 0, 1e-12);
    }
    robot_end(&r);
}

/* A tendon over two slides with a spring: x1' + x2' swings, x1 - x2 falls... together they keep the
 * energy, and the damper takes what it says. */
static void tendons_pull(void **state)
{
    (void)state;
    zw_error error = {0};
    for (int damped = 0; damped < 2; damped++) {
        zw_model *model = robot_new();
        int joint[2];
        for (int i = 0; i < 2; i++) {
            int body = robot_body(model, 0, i ? "b" : "a", i, 0, 0, 1 + i);
            joint[i] = robot_joint(model, body, ZW_JOINT_SLIDE, i ? "y" : "x", 0, 0, 1);
        }
        const double coef[2] = {2, -1};
        zw_tendon_def def = zw_tendon_default();
        def.count = 2;
        def.joint = joint;
        def.coef = coef;
        def.stiffness = 30;
        def.damping = damped ? 0.7 : 0;
        def.springlength[0] = def.springlength[1] = 0.25;
        assert_true(zw_model_add_tendon(model, &def, &error) >= 0);
        robot r = robot_of(model);
        state_q(r.state)[0] = 0.4;
        state_v(r.state)[1] = 0.5;
        double force = -30 * (2 * 0.4 - 0.25) - (damped ? 0.7 * -0.5 : 0);
        const double *a = robot_accelerations(&r);
        close_to("first", a[0], 2 * force - 9.81, 1e-12);
        close_to("second", a[1], -force / 2 - 9.81, 1e-12);
        zw_run_summary summary = robot_run(&r, 5, 1e-11);
        assert_true(summary.energy_drift < 1e-9);
        assert_true(damped == (summary.work < -1e-3));
        robot_end(&r);
    }
}

/* ---- Dry friction --------------------------------------------------------------------------- */

static zw_model *rough_carriage(double mass, double limit)
{
    zw_model *model = carriage(mass);
    zw_error error = {0};
    zw_joint_def joint = *(const zw_joint_def *)zw_model_def(model, ZW_KIND_JOINT, 0);
    joint.frictionloss = limit;
    assert_int_equal(zw_model_change(model, ZW_KIND_JOINT, 0, &joint, &error), ZW_OK);
    return model;
}

/* Less than the weight: it falls slower. More: it stays. Thrown: it stops, and stays or falls. */
static void dry_friction_of_one(void **state)
{
    (void)state;
    robot r = robot_of(rough_carriage(2, 5));
    zw_run_summary summary = robot_run(&r, 1, 1e-11);
    close_to("it falls", state_q(r.state)[0], -0.5 * (9.81 - 2.5), 1e-10);
    close_to("work", summary.work, -5 * 0.5 * (9.81 - 2.5), 1e-9);
    robot_end(&r);
    r = robot_of(rough_carriage(2, 20));
    robot_run(&r, 1, 1e-11);
    assert_true(state_q(r.state)[0] == 0);
    close_to("it is held", robot_accelerations(&r)[0], 0, 1e-13);
    double force;
    assert_int_equal(zw_constraint_force(r.system, r.work, 0, &force), ZW_OK);
    close_to("by its weight", force, 2 * 9.81, 1e-12);
    robot_end(&r);
    zw_model *model = rough_carriage(2, 20);
    const double up = 3;
    zw_error error = {0};
    zw_key_def key = zw_key_default();
    key.start = 1;
    key.qvel_count = 1;
    key.qvel = &up;
    assert_true(zw_model_add_key(model, &key, &error) >= 0);
    r = robot_of(model);
    robot_run(&r, 2, 1e-11);
    close_to("it stops", state_q(r.state)[0], 9 / (2 * (9.81 + 10)), 1e-10);
    close_to("at rest", state_v(r.state)[0], 0, 1e-12);
    robot_end(&r);
}

/* Four rough hinges in a chain, some of them at a limit. side: 0 no limit, 1 it may go up from
 * here, -1 it may go down. */
static robot rough_chain(unsigned *seed, int limits, double *limit, int *side)
{
    zw_model *model = robot_new();
    int body = 0;
    for (int i = 0; i < 4; i++) {
        zw_error error = {0};
        body = robot_body(model, body, NULL, i ? 0.5 : 0, 0, 0, 1.0 + dice(seed) * 0.5);
        int j = robot_joint(model, body, ZW_JOINT_HINGE, NULL, 0, 1, 0);
        zw_joint_def joint = *(const zw_joint_def *)zw_model_def(model, ZW_KIND_JOINT, j);
        joint.frictionloss = limit[i] = 0.1 + 12 * fabs(dice(seed)) / (1 + 3 * i);
        assert_int_equal(zw_model_change(model, ZW_KIND_JOINT, j, &joint, &error), ZW_OK);
        double chance = dice(seed);
        side[i] = !limits || fabs(chance) < 0.3 ? 0 : chance > 0 ? 1 : -1;
        if (side[i]) {
            robot_limit(model, j, side[i] > 0 ? 0 : -2, side[i] > 0 ? 2 : 0);
        }
    }
    return robot_of(model);
}

/* At rest: at every joint either it stays and the force is one that friction (and the limit) can
 * give, or it moves away, and friction gives all it can against it. */
static void dry_friction_of_many(void **state)
{
    (void)state;
    unsigned seed = 5;
    int held = 0, moved = 0;
    for (int trial = 0; trial < 120 / campaign_stride(2); trial++) {
        double limit[4];
        int side[4];
        robot r = rough_chain(&seed, trial % 2, limit, side);
        const double *a = robot_accelerations(&r);
        const zw_motion *motion = zw_work_motion(r.work);
        for (int i = 0; i < 4; i++) {
            double force = motion->F_L[i] + motion->F_C[i], slack = 1e-9 * (1 + limit[i]);
            assert_true(side[i] * a[i] >= -1e-9);
            if (fabs(a[i]) > 1e-9) {
                close_to("sliding friction", force, a[i] > 0 ? -limit[i] : limit[i], 1e-9);
                moved++;
            } else {
                assert_true(side[i] > 0 || force <= limit[i] + slack);
                assert_true(side[i] < 0 || force >= -limit[i] - slack);
                held++;
            }
        }
        zw_run_summary summary = robot_run(&r, 1, 1e-8);
        assert_true(summary.energy_drift < 1e-6);
        robot_end(&r);
    }
    print_message("%d held, %d moved\n", held, moved);
    assert_true(held > 50 && moved > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_stop_and_hold),
        cmocka_unit_test(a_ball_stops_at_its_cone),
        cmocka_unit_test(motors_follow_their_formulas),
        cmocka_unit_test(joints_clamp_their_motors),
        cmocka_unit_test(a_position_motor_swings),
        cmocka_unit_test(a_ratio_of_one_is_critical),
        cmocka_unit_test(weights_are_taken_off),
        cmocka_unit_test(tendons_pull),
        cmocka_unit_test(dry_friction_of_one),
        cmocka_unit_test(dry_friction_of_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

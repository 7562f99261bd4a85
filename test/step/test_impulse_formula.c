/* Method impulse with formulas over robots, activations of motors and armatures of tendons: the
 * same steps as with the corresponding elements of the robot's file, order one, a balance of energy
 * whose error vanishes with the step, and closed forms. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "system/import.h"

static zw_run_summary go(world *w, double time, double step, double tolerance)
{
    zw_run_summary summary;
    const zw_run_options options = {.method = step > 0 ? ZW_METHOD_IMPULSE : ZW_METHOD_DOP853,
                                    .time = time,
                                    .step = step,
                                    .tolerance = tolerance};
    if (zw_run(w->system, w->state, w->work, &options, &summary, &w->error) != ZW_OK) {
        fail_msg("step %g: %s", step, w->error.text);
    }
    return summary;
}

static world robot_world(const char *text)
{
    robot r = robot_read(text);
    return (world){.model = r.model, .system = r.system, .work = r.work, .state = r.state};
}

/* ---- The same steps as with elements of the robot's own -------------------------------------- */

static const char *const springs =
    "import \"arm.xml\"\n"
    "potential 3/2*(shoulder - 0.1)^2 + (elbow + 0.2)^2 + 20*reach^2\n"
    "rayleigh 0.3/2*shoulder'^2 + 0.1/2*elbow'^2\n"
    "force reach: -0.7*reach'\n";

static void same_steps(const char *text, const char *name, double control, double step,
                       double tolerance)
{
    world w = formulas(text), v = file(name);
    if (control != 0) {
        state_param(v.state)[0] = control;
    }
    go(&w, 1, step, tolerance);
    go(&v, 1, step, tolerance);
    same("place", &w, &v, ZW_FIELD_Q, 1e-9);
    same("speed", &w, &v, ZW_FIELD_V, 1e-8);
    close_to("work", w.state->work, v.state->work, 1e-8);
    world_end(&w);
    world_end(&v);
}

/* By iterations, and by one linearisation, where derivatives affect the result. */
static void formulas_are_elements(void **state)
{
    (void)state;
    for (int quick = 0; quick < 2; quick++) {
        for (double step = 0.01; step < 0.3; step *= 5) {
            double tolerance = quick ? 1 : 1e-12;
            same_steps(springs, "arm_springs.xml", 0, step, tolerance);
            same_steps("import \"arm.xml\"\nmotor turn_elbow = 20*(0.5 - elbow)\n", "arm_servo.xml",
                       0.5, step, tolerance);
        }
    }
    same_steps("import \"arm_rough.xml\"\n"
               "constraint tie: elbow = 0.1 + 0.5*shoulder + 0.1*shoulder^2\n",
               "arm_tied.xml", 0, 0.01, 1e-12);
}

/* A spring and a damper of any strength, at any step: it comes to rest in equilibrium. */
static void stiff_formulas_are_stable(void **state)
{
    (void)state;
    static const zw_setting list[] = {{"k", 1e3}, {"k", 1e6}, {"k", 1e9}};
    for (size_t i = 0; i < 3; i++) {
        for (double step = 0.02; step < 3; step *= 10) {
            world w = formulas_with("import \"cart.xml\"\n"
                                    "param k = 1\n"
                                    "spring k from hand to (0.3, 0, 0.5)\n"
                                    "force x: -0.1*k*x', th: -k*(th - 0.2) - 0.1*k*th'\n"
                                    "force (0, 0, 0.01*k*(0.1 - hand.x)) at bob\n",
                                    &list[i], 1);
            go(&w, 100 * step, step, 1e-10);
            double k = list[i].value, th = 0.2;
            for (int round = 0; round < 50; round++) { /* moments about the hinge */
                double weight = 0.5 * 9.81 - 0.01 * k * (0.1 - 0.3);
                th = 0.2 - weight * 0.8 * sin(th) / k;
            }
            close_to("x", state_q(w.state)[0], 0.3, 1e-6);
            close_to("th", state_q(w.state)[1], th, 1e-6);
            world_end(&w);
        }
    }
}

/* ---- Order one ------------------------------------------------------------------------------ */

static const char *const laws[] = {
    /* control, load, spring and damper between points, a time-dependent potential */
    "import \"arm.xml\" as arm\n"
    "start arm.shoulder = 0.2, arm.elbow = 0.7\n"
    "motor arm.turn_elbow = 3*(0.5 - arm.elbow) - arm.elbow' + sin(3*t)\n"
    "force (0.4*cos(2*t), 0, 0) at arm.hand\n"
    "force arm.reach: -30*arm.reach - 2*arm.reach'\n"
    "spring 5 from arm.hand to (0, 0, 1.5) length 0.7\n"
    "damper 0.3 from arm.hand to (0.3, 0, 1.5)\n"
    "potential 0.2*arm.shoulder^2*(1 + 0.5*sin(2*t))\n",
    /* a prescribed position, and a prescribed speed */
    "import \"arm.xml\" as arm\n"
    "force arm.reach: -30*arm.reach - 2*arm.reach'\n"
    "constraint ride: arm.shoulder = 0.3*sin(2*t)\n",
    "import \"cart.xml\"\n"
    "speed x' = 0.1\n"
    "start th = 0.5\n"
    "constraint drive: x' = 0.1 + 0.5*t + 0.2*th'*cos(th)\n",
};

static double miss(const char *text, double step, zw_run_summary *summary)
{
    world exact = formulas(text), w = formulas(text);
    go(&exact, 1, 0, 1e-12);
    *summary = go(&w, 1, step, 1e-12);
    double worst = 0;
    for (int i = 0; i < w.system->nq; i++) {
        worst = fmax(worst, fabs(state_q(w.state)[i] - state_q(exact.state)[i]));
    }
    world_end(&exact);
    world_end(&w);
    return worst;
}

static void order_two(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof laws / sizeof *laws; k++) {
        zw_run_summary at[2];
        double one = miss(laws[k], 1e-3, &at[0]), half = miss(laws[k], 5e-4, &at[1]);
        double order = log2(one / half), closes = log2(at[0].energy_drift / at[1].energy_drift);
        print_message("errors %.2g %.2g, order %.2f; balance off by %.2g, order %.2f\n", one, half,
                      order, at[0].energy_drift, closes);
        assert_true(one < 1e-4 && order > 1.9 && order < 2.2);
        assert_true(at[0].energy_drift < 1e-4 && closes > 1.9);
        assert_true(at[0].violation_position < 1e-12 && at[0].violation_velocity < 1e-12);
    }
}

/* ---- Activations and armatures -------------------------------------------------------------- */

/* A cart of 2 kg on a rail, pulled by a motor. */
#define CART(motor)                                                                                \
    "<mujoco><option gravity='0 0 0'/><worldbody><body>"                                           \
    "<joint name='rail' type='slide' axis='1 0 0'/>"                                               \
    "<inertial pos='0 0 0' mass='2' diaginertia='1 1 1'/></body></worldbody>"                      \
    "<actuator>" motor "</actuator></mujoco>"

static double activation(const world *w)
{
    return state_v(w->state)[w->system->n];
}

/* u = 1: a = 1 - exp(-t/tau) whatever the step is; the cart's speed follows at order one. */
static void filter(void **state)
{
    (void)state;
    const double tau = 0.4, known = (1 - tau * (1 - exp(-1 / tau))) / 2;
    double error[2];
    for (int k = 0; k < 2; k++) {
        world w = robot_world(CART("<general joint='rail' dyntype='filter' dynprm='0.4'/>"));
        state_param(w.state)[0] = 1;
        go(&w, 1, k ? 0.01 : 0.02, 1e-10);
        close_to("activation", activation(&w), 1 - exp(-1 / tau), 1e-13);
        error[k] = fabs(state_v(w.state)[0] - known);
        world_end(&w);
    }
    assert_true(error[0] < 0.02 && log2(error[0] / error[1]) > 0.9);
}

/* An integrator runs to the end of its range, through zw_step as well. */
static void integrator(void **state)
{
    (void)state;
    world w = robot_world(CART("<general joint='rail' dyntype='integrator' actlimited='true' "
                               "actrange='-1 0.7'/>"));
    state_param(w.state)[0] = 0.5;
    for (int k = 0; k < 10; k++) {
        assert_int_equal(zw_step(w.system, w.state, w.work,
                                 &(zw_run_options){.method = ZW_METHOD_IMPULSE, .step = 0.1},
                                 &w.error),
                         ZW_OK);
    }
    close_to("activation", activation(&w), 0.5, 1e-14);
    go(&w, 3, 0.1, 1e-10);
    assert_true(activation(&w) == 0.7);
    world_end(&w);
}

/* A mass on a tendon along one joint is a mass on the joint. */
static void armature(void **state)
{
    (void)state;
    static const char *const arm =
        "<mujoco><compiler angle='radian'/><worldbody><body>"
        "<joint name='a' axis='0 1 0' %s/><inertial pos='0.3 0 0' mass='1' diaginertia='.1 .1 .1'/>"
        "<body pos='0.5 0 0'><joint name='b' axis='0 1 0'/>"
        "<inertial pos='0.2 0 0.1' mass='0.5' diaginertia='.02 .02 .02'/></body></body></worldbody>"
        "%s</mujoco>";
    for (int quick = 0; quick < 2; quick++) {
        char text[2][2000];
        snprintf(text[0], sizeof text[0], arm, "armature='0.8'", "");
        snprintf(text[1], sizeof text[1], arm, "",
                 "<tendon><fixed armature='0.2'><joint joint='a' coef='2'/></fixed></tendon>");
        world w = robot_world(text[0]), v = robot_world(text[1]);
        zw_run_summary one = go(&w, 1, 0.01, quick ? 1 : 1e-12);
        zw_run_summary two = go(&v, 1, 0.01, quick ? 1 : 1e-12);
        same("place", &w, &v, ZW_FIELD_Q, 1e-11);
        same("speed", &w, &v, ZW_FIELD_V, 1e-10);
        close_to("drift of energy", one.energy_drift, two.energy_drift, 1e-10);
        world_end(&w);
        world_end(&v);
    }
}

/* Along two joints: order one. */
static void armature_across_joints(void **state)
{
    (void)state;
    double error[2];
    for (int k = 0; k < 2; k++) {
        world w[2];
        for (int i = 0; i < 2; i++) {
            w[i] = robot_world(
                "<mujoco><worldbody><body><joint name='a' axis='0 1 0'/><inertial pos='0.3 0 0' "
                "mass='1' diaginertia='.1 .1 .1'/></body><body><joint name='b' axis='0 1 0'/>"
                "<inertial pos='0.2 0 0.1' mass='0.5' diaginertia='.02 .02 .02'/></body>"
                "</worldbody><tendon><fixed armature='0.2'><joint joint='a' coef='1'/>"
                "<joint joint='b' coef='-2'/></fixed></tendon></mujoco>");
            go(&w[i], 1, i ? (k ? 1e-3 : 2e-3) : 0, 1e-12);
        }
        error[k] = hypot(state_q(w[0].state)[0] - state_q(w[1].state)[0],
                         state_q(w[0].state)[1] - state_q(w[1].state)[1]);
        world_end(&w[0]);
        world_end(&w[1]);
    }
    print_message("armature: %g, order %.2f\n", error[0], log2(error[0] / error[1]));
    assert_true(error[0] < 0.01 && log2(error[0] / error[1]) > 0.9);
}

/* ---- What goes wrong ------------------------------------------------------------------------ */

static void complains(const char *text, const char *words)
{
    world w = formulas(text);
    const zw_run_options options = {.method = ZW_METHOD_IMPULSE, .time = 2, .step = 0.01};
    assert_int_not_equal(zw_run(w.system, w.state, w.work, &options, NULL, &w.error), ZW_OK);
    if (!strstr(w.error.text, words)) {
        fail_msg("%s", w.error.text);
    }
    world_end(&w);
}

static void complaints(void **state)
{
    (void)state;
    complains("import \"arm.xml\"\nconstraint floor: hand.z >= 0, restitution 0.5\n",
              "restitution of constraints");
    complains("import \"arm.xml\"\nconstraint floor: hand.z >= 0, friction 0.5 at hand\n",
              "friction of constraints");
    complains("import \"cart.xml\"\nforce x: sqrt(1 - t)\n", "t = 1");
}

static void memory_may_run_out(void **state)
{
    (void)state;
    int failures = 0;
    for (int k = 1; k < 400; k++) {
        world w = formulas(laws[0]);
        const zw_run_options options = {.method = ZW_METHOD_IMPULSE, .time = 0.1, .step = 0.05};
        base_alloc_fail_after(k);
        zw_status status = zw_run(w.system, w.state, w.work, &options, NULL, &w.error);
        base_alloc_fail_after(0);
        world_end(&w);
        if (status == ZW_OK) {
            break;
        }
        assert_int_equal(status, ZW_NO_MEMORY);
        failures++;
    }
    assert_true(failures > 10);
}

/* A puck bounces on smooth ground, until it has come to rest, while a force that grows with time
 * acts along it: what bouncing makes of a step does not change the time at which the force acts,
 * and the midpoint rule integrates it exactly. */
static void pieces_of_a_step_have_their_times(void **state)
{
    (void)state;
    for (double step = 0.01; step < 0.3; step *= 5) {
        world w = formulas("import \"puck.xml\"\nforce x: 6*t\n");
        zw_run_summary it = go(&w, 1.5, step, 1e-12);
        assert_true(it.impacts > 5);
        close_to("speed", zw_field(w.system, w.state, w.work, ZW_FIELD_V).data[0], 3 * 1.5 * 1.5,
                 1e-11);
        world_end(&w);
    }
}

/* A ball falls from 1 m and bounces with e = 1/2, after sqrt(2/g) (1, 2, 2.5, ...): when it begins
 * to rise, a condition becomes true within a step. The event that it triggers happens as well, and
 * steps with impacts are not reported as proved. */
static void bounces_are_events(void **state)
{
    (void)state;
    const double steps[] = {0.002, 0.007, 0.03};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        world w = formulas("param k = 0\nparam n = 0\nimport \"ball.xml\"\n"
                           "event up: when z' > 0, set k = k + 1\n"
                           "event two: when k > 1.5, set n = n + 1\n"
                           "event top: z' = 0 falling\n");
        zw_run_summary s = go(&w, 1.2, steps[i], 1e-10);
        const double *param = zw_field(w.system, w.state, w.work, ZW_FIELD_PARAM).data;
        close_to("bounces", param[0], 3, 0);
        close_to("set off", param[1], 1, 0);
        assert_int_equal(s.events, 3 + 1 + 3); /* up, two, top */
        assert_int_equal(s.impacts, 3);
        assert_true(s.unproved >= 3 && s.unproved <= 6);
        world_end(&w);
    }
}

/* Sixty bodies in a row, tied by stiff formulas, and pulled at the first: springs between bodies
 * add nothing to the momentum. */
static void many_stiff_formulas_are_inner_forces(void **state)
{
    enum { BODIES = 60 };
    char text[100 + 30 * BODIES];
    int at = snprintf(text, sizeof text, "import \"sliders.xml\"\nforce x00: 60\npotential 5e5*(0");
    (void)state;
    for (int k = 0; k + 1 < BODIES; k++) {
        at += snprintf(text + at, sizeof text - (size_t)at, " + (x%02d - x%02d)^2", k, k + 1);
    }
    snprintf(text + at, sizeof text - (size_t)at, ")\n");
    world w = formulas(text);
    double momentum = 0;
    go(&w, 0.2, 0.01, 0);
    zw_view v = zw_field(w.system, w.state, w.work, ZW_FIELD_V);
    for (int k = 0; k < BODIES; k++) {
        momentum += v.data[k];
    }
    close_to("momentum", momentum, 60 * 0.2, 1e-7); /* of forces between bodies of up to 1e5 N */
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas_are_elements),
        cmocka_unit_test(many_stiff_formulas_are_inner_forces),
        cmocka_unit_test(stiff_formulas_are_stable),
        cmocka_unit_test(order_two),
        cmocka_unit_test(filter),
        cmocka_unit_test(integrator),
        cmocka_unit_test(armature),
        cmocka_unit_test(armature_across_joints),
        cmocka_unit_test(pieces_of_a_step_have_their_times),
        cmocka_unit_test(bounces_are_events),
        cmocka_unit_test(complaints),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Rotations under the ordinary methods: quaternions leave the unit sphere within a step and are
 * normalised at its end, which must not reduce the order; and conservation over long runs. */
#include "step/integrate.h"

#include <stdlib.h>

#include "scene/campaign.h"
#include "system/robots.h"
#include "tree/sweeps.h"

/* It tumbles: a spin beside the middle axis, and a drift. */
#define FREE_BODY(speeds)                                                                          \
    "<mujoco><option gravity='0 0 0'/><worldbody><body><freejoint/>"                               \
    "<inertial pos='0 0 0' mass='1' diaginertia='1 2 3'/></body></worldbody>"                      \
    "<keyframe><key qpos='0 0 0 1 0 0 0' qvel='" speeds "'/></keyframe></mujoco>"

#define TUMBLING FREE_BODY("0.1 0.2 0.3 0.5 2 0.4")
#define NEAR_THE_MIDDLE FREE_BODY("0 0 0 0.001 1 0.002")

/* A free trunk, a ball and a hinge on it, and weight. */
#define ARMS                                                                                       \
    "<mujoco><worldbody><body><freejoint/>"                                                        \
    "<inertial pos='0.1 0 0.2' mass='2' diaginertia='0.3 0.2 0.25'/>"                              \
    "<body pos='0.5 0 0'><joint axis='0 1 0.3'/>"                                                  \
    "<inertial pos='0.3 0 0' mass='1' diaginertia='0.05 0.06 0.08'/></body>"                       \
    "<body pos='-0.5 0 0'><joint type='ball'/>"                                                    \
    "<inertial pos='0 0.2 0.1' mass='0.5' diaginertia='0.03 0.04 0.05'/></body></body>"            \
    "</worldbody><keyframe><key qpos='0 0 0 1 0.1 0.2 0.3 0 1 0 0 0'"                              \
    " qvel='1 0 3 1 2 -1 2 1 -2 1.5'/></keyframe></mujoco>"

static zw_run_summary run(robot *r, zw_run_options options)
{
    zw_run_summary summary;
    zw_error error = {0};
    assert_fine(zw_run(r->system, r->state, r->work, &options, &summary, &error));
    return summary;
}

/* The largest difference of two states, angles and speeds. */
static double apart(const robot *a, const robot *b)
{
    int n = a->system->n;
    double *turn = calloc((size_t)n, sizeof *turn), most = 0;
    assert_non_null(turn);
    tree_difference(a->system->tree, state_q(a->state), state_q(b->state), turn);
    for (int i = 0; i < n; i++) {
        double speed = state_v(a->state)[i] - state_v(b->state)[i];
        most = fmax(most, fmax(fabs(turn[i]), fabs(speed)));
    }
    free(turn);
    return most;
}

/* A tolerance that any step meets makes the adaptive method take the largest allowed. */
static void check_order(const char *name, const char *text, zw_method method, double end, int first,
                        int order)
{
    enum { COUNT = 4 };
    double h[COUNT], error[COUNT];
    robot exact = robot_at_key(text);
    run(&exact, (zw_run_options){.time = end, .tolerance = 1e-15, .step = end / 800});
    for (int k = 0; k < COUNT; k++) {
        robot r = robot_at_key(text);
        h[k] = end / (first << k);
        zw_run_summary s = run(
            &r, (zw_run_options){
                    .time = end, .step = h[k], .tolerance = 0.1, .every = end, .method = method});
        if (method == ZW_METHOD_DOP853) { /* the first step is its own */
            assert_true(s.steps <= (first << k) + 1);
        }
        error[k] = apart(&r, &exact);
        robot_end(&r);
    }
    print_message("%s, %s: errors %.1e .. %.1e, order %.3f\n", name, zw_method_name(method),
                  error[0], error[COUNT - 1], observed_order(COUNT, h, error));
    assert_near(observed_order(COUNT, h, error), order, 0.4);
    robot_end(&exact);
}

static void orders_hold(void **state)
{
    (void)state;
    check_order("body", TUMBLING, ZW_METHOD_RK4, 2, 40, 4);
    check_order("arms", ARMS, ZW_METHOD_RK4, 2, 40, 4);
    check_order("body", TUMBLING, ZW_METHOD_EULER, 2, 400, 1);
    check_order("body", TUMBLING, ZW_METHOD_DOP853, 16, 12, 8);
    check_order("arms", ARMS, ZW_METHOD_DOP853, 2, 8, 8);
}

static void spin_of(const robot *r, double spin[3])
{
    double m[9];
    tree_kinematics(r->system->tree, state_q(r->state), r->work->sweeps);
    tree_velocities(r->system->tree, state_v(r->state), r->work->sweeps);
    tree_momentum(r->system->tree, r->work->sweeps, m);
    memcpy(spin, m + 6, 3 * sizeof *spin);
}

/* A hundred thousand steps of DOP853: momentum and energy to 1e-9. */
static void long_runs_keep_momentum_and_energy(void **state)
{
    (void)state;
    robot r = robot_at_key(NEAR_THE_MIDDLE);
    double before[3], now[3];
    spin_of(&r, before);
    zw_run_summary s = run(&r, (zw_run_options){.time = 29000, .tolerance = 1e-12, .every = 29});
    spin_of(&r, now);
    print_message("%ld steps: energy off by %.1e, momentum by %.1e\n", s.steps, s.energy_drift,
                  distance(3, now, before));
    assert_true(s.steps >= 100000);
    assert_small(s.energy_drift, 1e-9);
    assert_small(distance(3, now, before), 1e-9);
    robot_end(&r);
}

/* Steps of `impulse` that turn bodies from a needle to a disk by up to ten radians: the angular
 * momentum stays (to what a step may miss that is reported as inexact, 1e-6), and the energy, which
 * could be as large as L^2/2J of the smallest moment J, does not grow. (While a step turns them by
 * less than half a radian it swings. Where steps are subdivided, pieces of different lengths follow
 * each other, and what it swings by adds up: 60 starts of motion 20 that differ by 1e-13 gain up to
 * 3 % in 60 steps.) */
static void what_flies_and_tumbles_gains_no_energy(void **state)
{
    unsigned seed = 1;
    double most = 0, divided = 0, worst = 0;
    (void)state;
    for (int k = 0; k < campaign(30); k++) {
        char text[600];
        double least = pow(10, -2.5 + 2.5 * dice(&seed)), L[3], now[3];
        double middle = fmax(least, 1 - least * (0.5 + 0.49 * dice(&seed)));
        double turn = pow(10, -0.25 + 1.25 * dice(&seed));
        double x = dice(&seed), y = dice(&seed), z = dice(&seed);
        snprintf(text, sizeof text,
                 "<mujoco><option gravity='0 0 0'/><worldbody><body><freejoint/>"
                 "<inertial pos='0 0 0' mass='1' diaginertia='%.17g %.17g 1'/></body></worldbody>"
                 "<keyframe><key qpos='0 0 0 1 0 0 0' qvel='0 0 0 %.17g %.17g %.17g'/></keyframe>"
                 "</mujoco>",
                 least, middle, x, y, z);
        robot r = robot_at_key(text);
        spin_of(&r, L);
        zw_run_summary s =
            run(&r, (zw_run_options){.time = 60 * turn, .step = turn, .method = ZW_METHOD_IMPULSE});
        spin_of(&r, now);
        double size = sqrt(L[0] * L[0] + L[1] * L[1] + L[2] * L[2]);
        worst = fmax(worst, distance(3, now, L) / size);
        double grown = s.energy_end / s.energy_start - 1;
        *(s.halved > 0 ? &divided : &most) = fmax(s.halved > 0 ? divided : most, grown);
        robot_end(&r);
    }
    print_message("energy grows by %.1e at most, in divided steps by %.1e, L changes by %.1e\n",
                  most, divided, worst);
    assert_true(most <= 0.005 && divided <= 0.05 && worst <= 1e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_hold),
        cmocka_unit_test(long_runs_keep_momentum_and_energy),
        cmocka_unit_test(what_flies_and_tumbles_gains_no_energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

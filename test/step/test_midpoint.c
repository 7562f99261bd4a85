/* The structure-preserving methods on rigid bodies: conserved quantities, orders, loops, limits. */
#include "step/integrate.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "scene/campaign.h"
#include "system/robots.h"
#include "tree/sweeps.h"

#define FREE_BODY                                                                                  \
    "<mujoco><option gravity='0 0 0'/><worldbody><body><freejoint/>"                               \
    "<inertial pos='0 0 0' mass='1' diaginertia='1 2 3'/></body></worldbody>"                      \
    "<keyframe><key qpos='0 0 0 1 0 0 0' qvel='0.1 0.2 0.3 0.001 1 0.002'/></keyframe></mujoco>"

#define TOP                                                                                        \
    "<mujoco><worldbody><body><joint type='ball'/>"                                                \
    "<inertial pos='0 0 0.5' mass='1' diaginertia='0.1 0.1 0.05'/></body></worldbody>"             \
    "<keyframe><key qpos='0.9 0.3 0.1 0' qvel='0.3 0.1 20'/></keyframe></mujoco>"

/* Two skew bodies that hang on balls, with a spring between them. */
#define BALLS                                                                                      \
    "<mujoco><worldbody><body><joint type='ball'/>"                                                \
    "<inertial pos='0.1 0 -0.5' mass='1' diaginertia='0.1 0.2 0.25'/>"                             \
    "<body pos='0.2 0.1 -1'><joint type='ball' stiffness='3'/>"                                    \
    "<inertial pos='0 0.1 -0.4' mass='0.7' diaginertia='0.05 0.06 0.08'/></body></body>"           \
    "</worldbody><keyframe><key qpos='0.9 0.3 0.1 0 1 0.2 0 0.1' qvel='0.3 1 2 -1 2 3'/>"          \
    "</keyframe></mujoco>"

/* All kinds of joints: a free trunk with a slide, a hinge after it in the same body, and a ball. */
#define ZOO                                                                                        \
    "<mujoco><worldbody><body><freejoint/>"                                                        \
    "<inertial pos='0.1 0 0.2' mass='2' diaginertia='0.3 0.2 0.25'/>"                              \
    "<body pos='0.5 0 0'><joint type='slide' axis='1 1 0' stiffness='20'/>"                        \
    "<joint axis='0 1 0.3' armature='0.1'/>"                                                       \
    "<inertial pos='0.3 0 0' mass='1' diaginertia='0.05 0.06 0.08'/></body>"                       \
    "<body pos='-0.5 0 0'><joint type='ball'/>"                                                    \
    "<inertial pos='0 0.2 0.1' mass='0.5' diaginertia='0.03 0.04 0.05'/></body></body>"            \
    "</worldbody><keyframe><key qpos='0 0 0 1 0.1 0.2 0.3 0 0 1 0 0 0'"                            \
    " qvel='1 0 3 1 2 -1 0.5 2 1 -2 1.5'/></keyframe></mujoco>"

/* The four-bar of examples/bodies, with `joint` inserted at the crank. */
#define FOUR_BAR(joint, motor)                                                                     \
    "<mujoco><compiler angle='radian'/><default><geom type='capsule' size='0.02'/>"                \
    "<joint axis='0 -1 0'/></default><worldbody><body><joint name='crank' " joint "/>"             \
    "<geom fromto='0 0 0  0.3 0 0'/><body pos='0.3 0 0'><joint/><geom fromto='0 0 0  0.9 0 0'/>"   \
    "<site name='end' pos='0.9 0 0'/></body></body><body pos='0.8 0 0'><joint/>"                   \
    "<geom fromto='0 0 0  0.7 0 0'/><site name='tip' pos='0.7 0 0'/></body></worldbody>"           \
    "<equality><connect name='pin' site1='end' site2='tip'/></equality>" motor                     \
    "<keyframe><key qpos='1.57 -0.9 1.6'/></keyframe></mujoco>"

#define SERVO                                                                                      \
    "<actuator><general joint='crank' gainprm='0' biastype='affine' biasprm='9 -3 "                \
    "-1'/></actuator>"

static zw_run_summary run(robot *r, zw_run_options options)
{
    zw_run_summary summary;
    zw_error error = {0};
    options.tolerance = 1e-13;
    options.every = options.every != 0 ? options.every : options.time / 4;
    assert_fine(zw_run(r->system, r->state, r->work, &options, &summary, &error));
    return summary;
}

/* Angular momentum about the world's origin, of all bodies. */
static void spin_of(const robot *r, double spin[3])
{
    double m[9], arm[3];
    tree_kinematics(r->system->tree, state_q(r->state), r->work->sweeps);
    tree_velocities(r->system->tree, state_v(r->state), r->work->sweeps);
    tree_momentum(r->system->tree, r->work->sweeps, m);
    model_cross(arm, m, m + 3);
    for (int k = 0; k < 3; k++) {
        spin[k] = m[6 + k] + arm[k];
    }
}

/* ---- What is kept --------------------------------------------------------------------------- */

/* It tumbles repeatedly; momentum and energy are conserved. */
static void free_body_keeps_momentum_and_energy(void **state)
{
    (void)state;
    robot r = robot_at_key(FREE_BODY);
    double before[3], now[3], turned = 0;
    spin_of(&r, before);
    for (int k = 1; k <= 100; k++) {
        zw_run_summary s =
            run(&r, (zw_run_options){.time = 10.0 * k, .step = 0.01, .method = ZW_METHOD_MIDPOINT});
        spin_of(&r, now);
        assert_small(s.energy_drift, 1e-13);
        assert_small(fabs(s.energy_end - 1.0700065), 1e-13);
        assert_small(distance(3, now, before), 1e-12);
        turned = fmin(turned, state_v(r.state)[4]);
    }
    assert_true(turned < -0.9);
    print_message("1e5 steps: momentum off by %.1e\n", distance(3, now, before));
    robot_end(&r);
}

/* Noether's theorem for the discrete path: angular momentum about the vertical is conserved under
 * gravity, also of two bodies; a symmetric top keeps its spin. Steps are large, with errors of the
 * motion of some percent. */
static void symmetries_are_kept(void **state)
{
    (void)state;
    const char *const text[] = {TOP, BALLS};
    const zw_method method[] = {ZW_METHOD_VARIATIONAL, ZW_METHOD_VARIATIONAL4};
    for (int k = 0; k < 4; k++) {
        robot r = robot_at_key(text[k / 2]);
        double before[3], now[3], own = state_v(r.state)[2];
        spin_of(&r, before);
        run(&r, (zw_run_options){.time = 10, .step = 0.01, .method = method[k % 2]});
        spin_of(&r, now);
        assert_small(fabs(now[2] - before[2]), 2e-13 * (1 + fabs(before[2])));
        if (k / 2 == 0) {
            assert_small(fabs(state_v(r.state)[2] - own), 2e-12);
        }
        robot_end(&r);
    }
}

typedef struct fit {
    double n, t, e, tt, te, first, swing;
} fit;

static int add_energy(void *user, zw_sample_kind kind, int event, const zw_system *system,
                      const zw_state *state, zw_work *work)
{
    fit *f = user;
    (void)kind;
    (void)event;
    double e = zw_field(system, state, work, ZW_FIELD_ENERGY).data[0], t = state->t;
    f->first = f->n > 0 ? f->first : e;
    e -= f->first;
    f->n += 1, f->t += t, f->e += e, f->tt += t * t, f->te += t * e;
    f->swing = fmax(f->swing, fabs(e));
    return 0;
}

/* The energy drift, by a linear fit, is negligible compared with the oscillation. bench/long.c runs
 * a million steps of the four-bar. */
static void energy_has_no_slope(void **state)
{
    (void)state;
    const struct {
        const char *name, *text;
        zw_method method;
        double step;
        long steps;
    } runs[] = {{"four-bar", FOUR_BAR("", ""), ZW_METHOD_MIDPOINT, 2e-3, 20000},
                {"top", TOP, ZW_METHOD_MIDPOINT, 2e-3, 15000},
                {"top", TOP, ZW_METHOD_VARIATIONAL, 2e-3, 15000},
                {"balls", BALLS, ZW_METHOD_VARIATIONAL, 2e-3, 15000}};
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k += (size_t)campaign_stride(2)) {
        robot r = robot_at_key(runs[k].text);
        double time = runs[k].step * (double)runs[k].steps;
        fit f = {0};
        zw_run_summary s = run(&r, (zw_run_options){.time = time,
                                                    .every = time / 10007,
                                                    .step = runs[k].step,
                                                    .method = runs[k].method,
                                                    .observer = add_energy,
                                                    .user = &f});
        double slope = (f.te - f.t * f.e / f.n) / (f.tt - f.t * f.t / f.n);
        print_message("%s: swing %.1e, line gains %.1e, violation %.1e %.1e\n", runs[k].name,
                      f.swing, slope * time, s.violation_position, s.violation_velocity);
        assert_small(fabs(slope * time), 0.02 * f.swing);
        assert_small(s.energy_drift, 2e-3);
        assert_small(fmax(s.violation_position, s.violation_velocity), 1e-12);
        robot_end(&r);
    }
}

/* Time reversal: forwards and back. */
static void time_can_be_turned(void **state)
{
    (void)state;
    const char *const text[] = {FOUR_BAR("", ""), BALLS, ZOO};
    const zw_method method[] = {ZW_METHOD_MIDPOINT, ZW_METHOD_VARIATIONAL, ZW_METHOD_VARIATIONAL4};
    for (int k = 0; k < 9; k++) {
        robot r = robot_at_key(text[k / 3]);
        int nq = r.system->nq, n = r.system->n;
        double *q = calloc((size_t)nq, sizeof *q), *apart = calloc((size_t)n, sizeof *apart);
        memcpy(q, state_q(r.state), (size_t)nq * sizeof *q);
        for (int way = 0; way < 2; way++) {
            run(&r, (zw_run_options){.time = 1 + way, .step = 0.01, .method = method[k % 3]});
            for (int i = 0; i < n; i++) {
                state_v(r.state)[i] *= -1;
            }
        }
        tree_difference(r.system->tree, state_q(r.state), q, apart);
        for (int i = 0; i < n; i++) {
            assert_small(fabs(apart[i]), 1e-10);
        }
        free(q);
        free(apart);
        robot_end(&r);
    }
}

/* ---- Orders --------------------------------------------------------------------------------- */

static void check_order(const char *name, const char *text, zw_method method, double end, int first,
                        int order)
{
    enum { COUNT = 4 };
    double h[COUNT], error[COUNT];
    robot exact = robot_at_key(text);
    run(&exact, (zw_run_options){.time = end, .method = ZW_METHOD_DOP853});
    int n = exact.system->n;
    double *apart = calloc((size_t)n, sizeof *apart);
    for (int k = 0; k < COUNT; k++) {
        robot r = robot_at_key(text);
        h[k] = end / (first << k);
        run(&r, (zw_run_options){.time = end, .step = h[k], .method = method});
        tree_difference(r.system->tree, state_q(r.state), state_q(exact.state), apart);
        error[k] = 0;
        for (int i = 0; i < n; i++) {
            double speed = state_v(r.state)[i] - state_v(exact.state)[i];
            error[k] = fmax(error[k], fmax(fabs(apart[i]), fabs(speed)));
        }
        robot_end(&r);
    }
    print_message("%s, %s: errors %.1e .. %.1e, order %.3f\n", name, zw_method_name(method),
                  error[0], error[COUNT - 1], observed_order(COUNT, h, error));
    assert_near(observed_order(COUNT, h, error), order, 0.15);
    free(apart);
    robot_end(&exact);
}

static void orders(void **state)
{
    (void)state;
    const zw_method method[] = {ZW_METHOD_MIDPOINT, ZW_METHOD_VARIATIONAL, ZW_METHOD_VARIATIONAL4};
    for (int k = 0; k < 3; k++) {
        int order = k < 2 ? 2 : 4, first = k < 2 ? 128 : 32;
        check_order("top", TOP, method[k], 0.5, first, order);
        check_order("balls", BALLS, method[k], 0.5, first, order);
        check_order("zoo", ZOO, method[k], 0.5, first, order);
        check_order("four-bar", FOUR_BAR("", ""), method[k], 0.5, first, order);
        check_order("driven", FOUR_BAR("damping='0.1'", SERVO), method[k], 0.5, first, order);
    }
}

/* ---- Limits, work, and what is refused ------------------------------------------------------- */

#define LIMITED(more)                                                                              \
    "<mujoco><worldbody><body><joint name='hip' axis='0 1 0' limited='true' range='-60 40'/>"      \
    "<geom type='capsule' fromto='0 0 0 0 0 -1' size='0.05'/><body pos='0 0 -1'>"                  \
    "<joint name='knee' axis='0 1 0' " more "/>"                                                   \
    "<geom type='capsule' fromto='0 0 0 0 0 -1' size='0.05'/></body></body></worldbody>"           \
    "<keyframe><key qpos='0.5 1' qvel='1 0'/></keyframe></mujoco>"

static void limits_hold(void **state)
{
    (void)state;
    robot a = robot_at_key(LIMITED("")), b = robot_at_key(LIMITED(""));
    zw_run_summary s =
        run(&a, (zw_run_options){.time = 3, .step = 1e-3, .method = ZW_METHOD_VARIATIONAL4});
    zw_run_summary wanted = run(&b, (zw_run_options){.time = 3, .method = ZW_METHOD_DOP853});
    assert_true(s.events == wanted.events && s.events > 0);
    assert_small(distance(2, state_q(a.state), state_q(b.state)), 1e-9);
    assert_small(distance(2, state_v(a.state), state_v(b.state)), 1e-8);
    assert_small(s.energy_drift, 1e-10);
    assert_true(s.work < -1);
    robot_end(&a);
    robot_end(&b);
}

/* A ball that bounces and comes to rest: the contact closes, and stays closed. */
static void contacts_close(void **state)
{
    (void)state;
    const char *text = "param g = 9.81\ncoord x = 0, y = 1\nspeed x' = 1\nmass 1 at (x, y)\n"
                       "gravity (0, -g)\nconstraint floor: y >= 0, restitution 0.5\n";
    zw_error error = {0};
    zw_model *model = zw_model_parse(text, "hop.zw", NULL, &error);
    if (!model) {
        fail_msg("%d: %s", error.line, error.text);
    }
    robot r = robot_of(model);
    zw_run_summary s =
        run(&r, (zw_run_options){.time = 3, .step = 0.01, .method = ZW_METHOD_VARIATIONAL});
    assert_true(s.events > 10);
    assert_small(fabs(state_q(r.state)[1]), 1e-14);
    assert_small(fabs(state_q(r.state)[0] - 3), 1e-13);
    assert_small(fabs(s.work + 9.81), 1e-12);
    robot_end(&r);
}

static void work_is_counted(void **state)
{
    (void)state;
    robot r = robot_at_key(FOUR_BAR("damping='0.1'", ""));
    zw_run_summary s =
        run(&r, (zw_run_options){.time = 2, .step = 1e-3, .method = ZW_METHOD_VARIATIONAL4});
    assert_true(s.work < -0.1);
    assert_small(s.energy_drift, 1e-8);
    robot_end(&r);
}

static void dry_friction_is_refused(void **state)
{
    (void)state;
    robot r = robot_at_key(LIMITED("frictionloss='0.1'"));
    zw_error error = {0};
    const zw_run_options options = {.time = 1, .step = 0.01, .method = ZW_METHOD_MIDPOINT};
    assert_int_equal(zw_run(r.system, r.state, r.work, &options, NULL, &error), ZW_BAD_INPUT);
    assert_non_null(strstr(error.text, "dry friction"));
    assert_non_null(strstr(error.text, "knee"));
    robot_end(&r);
}

/* Overconstrained loops, from a pose in which all angles are 0: the round-off of the rows is that
 * of lengths, whatever the angles are. */
static void bricard_moves(void **state)
{
    (void)state;
    zw_error error = {0};
    zw_model *model = zw_model_read(ZW_SOURCE_DIR "/examples/bodies/bricard.xml", NULL, &error);
    if (!model) {
        fail_msg("%s", error.text);
    }
    robot r = robot_of(model);
    zw_run_summary s =
        run(&r, (zw_run_options){.time = 0.5, .step = 1e-3, .method = ZW_METHOD_VARIATIONAL4});
    print_message("Bricard: energy %.1e, violation %.1e %.1e\n", s.energy_drift,
                  s.violation_position, s.violation_velocity);
    assert_small(s.energy_drift, 1e-9);
    assert_small(fmax(s.violation_position, s.violation_velocity), 1e-12);
    robot_end(&r);
}

/* Steps of a second and more are far too long for a four-bar that swings: each run either satisfies
 * its constraints to the end, or ends where the iteration of a step does not converge, with an
 * error that says so. Which of them converge is a matter of chance, but not all do. */
static void steps_too_long_are_refused(void **state)
{
    (void)state;
    int refused = 0;
    for (int step = 1; step <= 8; step++) {
        robot r = robot_at_key(FOUR_BAR("", ""));
        zw_error error = {0};
        zw_run_summary it = {0};
        const zw_run_options options = {
            .time = 96, .step = step, .every = 96, .method = ZW_METHOD_MIDPOINT};
        if (zw_run(r.system, r.state, r.work, &options, &it, &error) != ZW_OK) {
            assert_non_null(strstr(error.text, "did not converge; a shorter step may help"));
            assert_true(r.state->t < 96);
            refused++;
        }
        assert_small(it.violation_position, 1e-9);
        robot_end(&r);
    }
    print_message("%d of 8 are refused\n", refused);
    assert_true(refused > 0);
}

/* Every allocation of a run may fail: an error, and a state that can still be run. */
static void memory_that_is_not_there(void **state)
{
    (void)state;
    const char *const text[] = {ZOO, FOUR_BAR("", "")};
    for (int k = 0; k < 2; k++) {
        robot r = robot_at_key(text[k]);
        const zw_run_options options = {.time = 0.02, .step = 0.01, .method = ZW_METHOD_MIDPOINT};
        zw_status status = ZW_NO_MEMORY;
        int tries = 0;
        for (; status != ZW_OK && tries < 1000; tries++) {
            zw_error error = {0};
            zw_state *copy = NULL;
            assert_fine(zw_state_copy(r.state, &copy, &error));
            base_alloc_fail_after(tries + 1);
            status = zw_run(r.system, copy, r.work, &options, NULL, &error);
            base_alloc_fail_after(0);
            assert_true(status == ZW_OK || status == ZW_NO_MEMORY);
            zw_state_free(copy);
        }
        assert_true(status == ZW_OK && tries > 10);
        robot_end(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_body_keeps_momentum_and_energy),
        cmocka_unit_test(symmetries_are_kept),
        cmocka_unit_test(energy_has_no_slope),
        cmocka_unit_test(time_can_be_turned),
        cmocka_unit_test(orders),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(contacts_close),
        cmocka_unit_test(work_is_counted),
        cmocka_unit_test(dry_friction_is_refused),
        cmocka_unit_test(bricard_moves),
        cmocka_unit_test(steps_too_long_are_refused),
        cmocka_unit_test(memory_that_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

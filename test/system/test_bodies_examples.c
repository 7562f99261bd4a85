/* The robots in examples/bodies: all of them run, keep their loops and their balance of energy. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "robots.h"
#include "scene/listed.h"

#define FOLDER ZW_SOURCE_DIR "/examples/bodies"

typedef struct example {
    const char *file, *key;
    double time, drift;
    int freedom;
} example;

static const example list[] = {
    {"arm.xml", "reach", 3, 1e-9, 7},           {"biped_leg.xml", "stand", 2, 1e-9, 8},
    {"biped_leg.xml", "step", 2, 1e-9, 8},      {"bricard.xml", NULL, 5, 1e-8, 1},
    {"double_pendulum.xml", NULL, 10, 1e-8, 2}, {"flyball_governor.xml", "driven", 3, 1e-9, 2},
    {"four_bar.xml", "driven", 5, 1e-8, 1},     {"four_bar.xml", "up", 5, 1e-8, 1},
    {"gripper.xml", "close", 2, 1e-9, 2},       {"gripper.xml", "open", 2, 1e-9, 2},
    {"gymnast.xml", "giant", 1, 1e-9, 21},      {"gymnast.xml", "swing", 2, 1e-9, 21},
    {"gyroscope.xml", "spinning", 5, 1e-9, 3},  {"humanoid.xml", NULL, 0.4, 1e-9, 27},
    {"jansen_leg.xml", "walk", 3, 1e-9, 1},     {"quadruped.xml", "lean", 1, 1e-9, 6},
    {"quadruped.xml", "squat", 1, 1e-9, 6},     {"stewart.xml", "tilt", 1, 1e-9, 12},
    {"bicycle.zw", NULL, 5, 1e-9, 3},           {"snakeboard.zw", NULL, 10, 1e-9, 1},
    {"cart_pole.zw", NULL, 10, 1e-9, 2},        {"coin.xml", NULL, 0.1, 1e-9, 6},
    {"brick.urdf", NULL, 0.1, 1e-9, 6},         {"servo.xml", "hold", 3, 1e-8, 1},
    {"servo.xml", "push", 3, 1e-8, 1},          {"two_links.zw", NULL, 2, 1e-9, 2},
    {"two_links.xml", NULL, 1, 1e-9, 2},        {"pole_swings_up.zw", NULL, 2, 1e-9, 2},
};
enum { EXAMPLES = sizeof list / sizeof *list };

static void examples_run(void **state)
{
    (void)state;
    for (size_t i = 0; i < EXAMPLES; i++) {
        robot r = robot_of(robot_example(list[i].file, list[i].key));
        robot_accelerations(&r);
        assert_int_equal(r.system->n - zw_work_motion(r.work)->rank, list[i].freedom);
        const zw_run_options options = {
            .time = list[i].time, .tolerance = 1e-10, .method = ZW_METHOD_DOP853};
        zw_run_summary summary;
        if (zw_run(r.system, r.state, r.work, &options, &summary, &r.error) != ZW_OK) {
            fail_msg("%s: %s", list[i].file, r.error.text);
        }
        print_message("%-22s drift %.1e, violation %.1e, %ld steps\n", list[i].file,
                      summary.energy_drift, summary.violation_position, summary.steps);
        assert_true(summary.energy_drift <= list[i].drift);
        assert_true(summary.violation_position <= 1e-12);
        assert_true(summary.violation_velocity <= 1e-11);
        assert_true(summary.certificate <= 1e-10);
        robot_end(&r);
    }
}

static void every_example_is_listed(void **state)
{
    (void)state;
    all_listed(FOLDER, list, EXAMPLES, sizeof *list);
}

/* About the vertical through its point nothing turns a top, nor about its own axis; and as long as
 * it is fast it does not fall. */
static double about_vertical(const robot *r, double axis[3])
{
    const tree_body *top = &r->system->tree->body[1];
    const double *w = state_v(r->state), z[3] = {0, 0, 1};
    double across = top->inertia[0] + top->mass * top->com[2] * top->com[2];
    const double moment[3] = {across * w[0], across * w[1], top->inertia[2] * w[2]};
    double unit[4], turned[3], world[3];
    memcpy(unit, state_q(r->state), sizeof unit);
    model_rotate(unit, moment, turned);
    model_rotate(top->quat, turned, world);
    model_rotate(unit, z, turned);
    model_rotate(top->quat, turned, axis);
    return world[2];
}

static void the_gyroscope_keeps_its_momenta(void **state)
{
    (void)state;
    robot r = robot_of(robot_example("gyroscope.xml", "spinning"));
    double axis[3], before = about_vertical(&r, axis), height = axis[2];
    for (int second = 1; second <= 5; second++) {
        robot_run(&r, second, 1e-12);
        close_to("about the vertical", about_vertical(&r, axis), before, 1e-10);
        close_to("about its axis", state_v(r.state)[2], 100, 1e-9);
        assert_true(axis[2] > 0.6 * height);
    }
    robot_end(&r);
}

/* Knees and elbows just straight, at the limit of their joints, in a free fall: nothing pushes, and
 * round-off of what is about zero must not count as a violation. */
static void a_fall_at_the_limits(void **state)
{
    static const char *const straight[] = {"left_knee", "right_knee", "left_elbow", "right_elbow"};
    (void)state;
    zw_error error = {0};
    zw_model *model = zw_model_read(FOLDER "/humanoid.xml", NULL, &error);
    assert_non_null(model);
    zw_world_def world = *zw_model_world(model);
    world.without |= ZW_WITHOUT_CONTACT;
    assert_int_equal(zw_model_set_world(model, &world, &error), ZW_OK);
    for (int i = 0; i < 4; i++) {
        int joint = zw_model_find(model, ZW_KIND_JOINT, straight[i]);
        robot_limit(model, joint, i < 2 ? 0 : -2.6, i < 2 ? 2.6 : 0);
    }
    robot r = robot_of(model);
    double height = state_q(r.state)[2];
    zw_run_summary summary = robot_run(&r, 1, 1e-10);
    close_to("height", state_q(r.state)[2], height - 0.5 * 9.81, 1e-9);
    assert_true(summary.energy_drift <= 1e-12);
    robot_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_run),
        cmocka_unit_test(every_example_is_listed),
        cmocka_unit_test(the_gyroscope_keeps_its_momenta),
        cmocka_unit_test(a_fall_at_the_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

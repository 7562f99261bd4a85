/* Unusual input: quaternions that are not of length one, absurdly large numbers, thousands of
 * joints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "robots.h"

/* A free body on which a ball joint carries another, begun with these quaternions. */
static zw_model *turned(const double free[4], const double ball[4], int cut)
{
    zw_error error = {0};
    zw_model *model = robot_new();
    zw_world_def world = zw_world_default();
    world.maximal = cut;
    assert_int_equal(zw_model_set_world(model, &world, &error), ZW_OK);
    int body = robot_body(model, 0, "body", 0, 0, 0, 1);
    robot_joint(model, body, ZW_JOINT_FREE, "float", 0, 0, 1);
    int arm = robot_body(model, body, "arm", 0.5, 0, 0, 1);
    robot_joint(model, arm, ZW_JOINT_BALL, "shoulder", 0, 1, 0);
    double qpos[11] = {0.1, 0.2, 0.3};
    memcpy(qpos + 3, free, 4 * sizeof *free);
    memcpy(qpos + 7, ball, 4 * sizeof *ball);
    zw_key_def key = zw_key_default();
    key.name = "begin";
    key.start = 1;
    key.qpos = qpos;
    key.qpos_count = 11;
    assert_true(zw_model_add_key(model, &key, &error) >= 0);
    return model;
}

static void quaternions_of_keyframes_are_made_unit(void **state)
{
    const double unit[4] = {0.5, -0.5, 0.5, 0.5}, twice[4] = {1, -1, 1, 1};
    const double small[4] = {5e-200, -5e-200, 5e-200, 5e-200};
    (void)state;
    for (int cut = 0; cut < 2; cut++) {
        robot x = robot_of(turned(unit, unit, cut)), y = robot_of(turned(twice, small, cut));
        assert_int_equal(x.system->nq, y.system->nq);
        assert_memory_equal(state_q(x.state), state_q(y.state),
                            (size_t)x.system->nq * sizeof(double));
        robot_end(&x);
        robot_end(&y);
    }
}

/* As in MuJoCo: two robots of its Menagerie have such keyframes. */
static void quaternions_of_zero_turn_nothing(void **state)
{
    const double unit[4] = {1, 0, 0, 0}, zero[4] = {0, 0, 0, 0};
    (void)state;
    for (int cut = 0; cut < 2; cut++) {
        robot x = robot_of(turned(unit, unit, cut)), y = robot_of(turned(zero, zero, cut));
        assert_memory_equal(state_q(x.state), state_q(y.state),
                            (size_t)x.system->nq * sizeof(double));
        robot_end(&x);
        robot_end(&y);
    }
}

/* The message of the first failure on the way from the model to its accelerations. */
static void message(const char *xml, const char *first, const char *second)
{
    zw_error error = {0};
    zw_model *model = zw_model_parse(xml, "robot.xml", NULL, &error);
    zw_system *system = model ? zw_system_compile(model, NULL, &error) : NULL;
    zw_work *work = system ? zw_work_create(system, &error) : NULL;
    zw_state *now = work ? zw_state_create(system, work, NULL, &error) : NULL;
    zw_status status = now ? zw_forward(system, now, work, NULL, &error) : ZW_BAD_INPUT;
    assert_int_not_equal(status, ZW_OK);
    if (!strstr(error.text, first) || !strstr(error.text, second) || error.line == 0) {
        fail_msg("line %d: %s", error.line, error.text);
    }
    zw_work_free(work);
    zw_state_free(now);
    zw_system_free(system);
    zw_model_free(model);
}

#define WORLD(joint, geom, more)                                                                   \
    "<mujoco><worldbody><body name='a'><joint name='j' " joint "/><geom " geom "/></body>"         \
    "<body name='b' pos='1 0 0'><freejoint/><geom size='0.1'/></body></worldbody>" more            \
    "</mujoco>"

static void numbers_beyond_measure_are_named(void **state)
{
    (void)state;
    message(WORLD("armature='1e300'", "size='0.1'", ""), "mass of j is 1e+300", "beyond 1e+100");
    message(WORLD("", "size='1e300'", ""), "body 'a'", "not finite");
    message(
        WORLD("", "size='0.1'",
              "<equality><connect name='tie' body1='a' body2='b' anchor='1e300 0 0'/></equality>"),
        "constraint tie", "beyond 1e+100");
    message(WORLD("", "size='0.1'",
                  "<equality><joint name='tie' joint1='j' polycoef='1e300 0 0 0 0'/></equality>"),
            "constraint tie", "beyond 1e+100");
}

/* Processor time to compile this many pendulums with limits, springs and dampers. */
static double seconds(int count)
{
    zw_error error = {0};
    zw_model *model = robot_new();
    for (int i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "p%d", i);
        int body = robot_body(model, 0, name, i, 0, 0, 1);
        zw_joint_def joint = zw_joint_default();
        joint.name = name;
        joint.body = body;
        joint.limited = 1;
        joint.range[0] = -1;
        joint.range[1] = 1;
        joint.damping = 0.1;
        assert_true(zw_model_add_joint(model, &joint, &error) >= 0);
    }
    clock_t begin = clock();
    zw_system *system = zw_system_compile(model, NULL, &error);
    double spent = (double)(clock() - begin) / CLOCKS_PER_SEC;
    if (!system) {
        fail_msg("%s", error.text);
    }
    zw_system_free(system);
    zw_model_free(model);
    return spent;
}

/* Eight times the joints: 64 times the time, if all were looked at for each. */
static void many_joints_compile_in_proportion(void **state)
{
    (void)state;
    seconds(1000);
    double few = seconds(3000), many = seconds(24000);
    print_message("3000 joints in %.3f s, 24000 in %.3f s\n", few, many);
    assert_true(many < 24 * few + 0.2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quaternions_of_keyframes_are_made_unit),
        cmocka_unit_test(quaternions_of_zero_turn_nothing),
        cmocka_unit_test(numbers_beyond_measure_are_named),
        cmocka_unit_test(many_joints_compile_in_proportion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

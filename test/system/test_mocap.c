/* Mocap bodies: they stay where keyframes or calls put them; bodies welded to them follow. */
#include <math.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "zwang/bodies.h"

static const char *const text =
    "<mujoco><option timestep='0.002'/><worldbody>"
    "<body name='hand' mocap='true' pos='0 0 1'><geom size='.05'/></body>"
    "<body name='crate' pos='0 0 .8'><freejoint name='f'/><geom type='box' size='.05 .06 .07'/>"
    "</body></worldbody><equality><weld body1='hand' body2='crate'/></equality>"
    "<keyframe><key name='aside' mpos='0 .5 1' qpos='0 .5 .8 1 0 0 0'/></keyframe></mujoco>";

typedef struct scene {
    zw_model *model;
    zw_system *system;
    zw_work *work;
    zw_state *state;
} scene;

static scene open_scene(int key)
{
    zw_error error = {0};
    scene s = {.model = zw_model_parse(text, "mocap.xml", NULL, &error)};
    assert_non_null(s.model);
    if (key) {
        zw_key_def def = *(const zw_key_def *)zw_model_def(s.model, ZW_KIND_KEY, 0);
        def.start = 1;
        assert_int_equal(zw_model_change(s.model, ZW_KIND_KEY, 0, &def, &error), ZW_OK);
    }
    s.system = zw_system_compile(s.model, NULL, &error);
    s.work = zw_work_create(s.system, &error);
    s.state = zw_state_create(s.system, s.work, NULL, &error);
    assert_non_null(s.state);
    return s;
}

static void close_scene(scene *s)
{
    zw_state_free(s->state);
    zw_work_free(s->work);
    zw_system_free(s->system);
    zw_model_free(s->model);
}

static const double *field(const scene *s, zw_field_id id)
{
    return zw_field(s->system, s->state, s->work, id).data;
}

static void poses_are_the_last_coordinates(void **unused)
{
    (void)unused;
    scene s = open_scene(1);
    assert_int_equal(zw_count(s.system, ZW_KIND_COORD), 14);
    assert_int_equal(zw_count(s.system, ZW_KIND_SPEED), 6);
    assert_int_equal(zw_id(s.system, ZW_KIND_COORD, "hand.qw"), 10);
    assert_int_equal(zw_field(s.system, s.state, s.work, ZW_FIELD_MOCAP).count, 7);
    assert_true(field(&s, ZW_FIELD_MOCAP)[1] == 0.5);
    assert_true(fabs(field(&s, ZW_FIELD_Q)[1] - 0.5) < 1e-15);
    close_scene(&s);
}

/* A hand that is led along a sine at every step, by the soft law and exactly. */
static double led(zw_method method)
{
    zw_error error = {0};
    scene s = open_scene(0);
    double far = 0;
    for (int k = 1; k <= 500; k++) {
        double x = 0.1 * sin(0.002 * k * 3), behind;
        assert_int_equal(zw_state_set(s.system, s.state, s.work, ZW_FIELD_MOCAP, 0, 1, &x, &error),
                         ZW_OK);
        if (zw_step(s.system, s.state, s.work, &(zw_run_options){.method = method, .step = 0.002},
                    &error) != ZW_OK) {
            fail_msg("step %d: %s", k, error.text);
        }
        assert_true(field(&s, ZW_FIELD_MOCAP)[0] == x);
        behind = fabs(field(&s, ZW_FIELD_Q)[0] - x);
        far = fmax(far, behind);
    }
    close_scene(&s);
    return far;
}

static void what_is_welded_follows(void **unused)
{
    (void)unused;
    double soft = led(ZW_METHOD_SOFT), exact = led(ZW_METHOD_IMPULSE);
    printf("behind a led hand: soft %.2e, exact %.2e\n", soft, exact);
    assert_true(soft < 0.02 && soft > 1e-4); /* a time constant of 0.02 s at 0.3 m/s */
    assert_true(exact < 1e-9);
}

static void what_cannot_be_set_is_refused(void **unused)
{
    (void)unused;
    zw_error error = {0};
    scene s = open_scene(0);
    const double zeros[4] = {0, 0, 0, 0}, two[4] = {2, 0, 0, 0};
    assert_int_equal(zw_state_set(s.system, s.state, s.work, ZW_FIELD_MOCAP, 3, 4, zeros, &error),
                     ZW_BAD_INPUT);
    assert_non_null(strstr(error.text, "not an orientation"));
    assert_true(field(&s, ZW_FIELD_MOCAP)[3] == 1);
    assert_int_equal(zw_state_set(s.system, s.state, s.work, ZW_FIELD_MOCAP, 3, 4, two, &error),
                     ZW_OK);
    assert_true(field(&s, ZW_FIELD_MOCAP)[3] == 1);
    assert_int_equal(zw_state_set(s.system, s.state, s.work, ZW_FIELD_MOCAP, 7, 1, two, &error),
                     ZW_BAD_INPUT);
    close_scene(&s);
}

/* A slider of 2 kg at a spring of 10 N/m whose other end is a mocap body 0.3 m away, and whose
 * length without force is that of the reference pose: there it is at rest, and where the hand is
 * 0.1 m farther away the acceleration is 10 * 0.1 / 2. */
static void a_spring_to_it_rests_in_the_reference_pose(void **unused)
{
    (void)unused;
    const char *spring =
        "<mujoco><option gravity='0 0 0'/><worldbody>"
        "<body name='hand' mocap='true' pos='.3 0 0' quat='1 2 0 0'><site name='a'/></body>"
        "<body><joint type='slide' axis='1 0 0'/><geom size='.1' mass='2'/><site name='b'/></body>"
        "</worldbody><tendon><spatial stiffness='10'><site site='a'/><site site='b'/></spatial>"
        "</tendon></mujoco>";
    zw_error error = {0};
    scene s = {.model = zw_model_parse(spring, "spring.xml", NULL, &error)};
    s.system = zw_system_compile(s.model, NULL, &error);
    s.work = zw_work_create(s.system, &error);
    s.state = zw_state_create(s.system, s.work, NULL, &error);
    for (int farther = 0; farther < 2; farther++) {
        const double pose[] = {0.3 + 0.1 * farther, 0, 0, 1, 0, 0, 0};
        assert_int_equal(
            zw_state_set(s.system, s.state, s.work, ZW_FIELD_MOCAP, 0, 7, pose, &error), ZW_OK);
        assert_int_equal(zw_forward(s.system, s.state, s.work, NULL, &error), ZW_OK);
        assert_true(fabs(field(&s, ZW_FIELD_A)[0] - 0.5 * farther) < 1e-14);
    }
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_spring_to_it_rests_in_the_reference_pose),
                                       cmocka_unit_test(poses_are_the_last_coordinates),
                                       cmocka_unit_test(what_is_welded_follows),
                                       cmocka_unit_test(what_cannot_be_set_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

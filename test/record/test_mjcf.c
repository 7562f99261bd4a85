/* Models as MJCF files: what is written and read again moves as before. MuJoCo's own reading of
 * such files is compared in compare_export.mjs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "zwang/bodies.h"

#define WRITTEN "test_mjcf_written.xml"

typedef struct world {
    zw_model *model;
    zw_system *system;
    zw_work *work;
    zw_state *state;
} world;

static void world_make(world *w, const char *path)
{
    zw_error error = {0};
    w->model = zw_model_read(path, NULL, &error);
    if (w->model == NULL) {
        print_error("%s:%d: %s\n", error.file, error.line, error.text);
    }
    assert_non_null(w->model);
    w->system = zw_system_compile(w->model, NULL, &error);
    assert_non_null(w->system);
    w->work = zw_work_create(w->system, &error);
    assert_non_null(w->work);
    w->state = zw_state_create(w->system, w->work, NULL, &error);
    if (w->state == NULL) {
        print_error("%s: %s\n", path, error.text);
    }
    assert_non_null(w->state);
}

static void world_free(world *w)
{
    zw_state_free(w->state);
    zw_work_free(w->work);
    zw_system_free(w->system);
    zw_model_free(w->model);
}

/* The largest difference of a field, to its largest number. */
static double apart(const world *a, const world *b, zw_field_id field)
{
    zw_view x = zw_field(a->system, a->state, a->work, field);
    zw_view y = zw_field(b->system, b->state, b->work, field);
    double far = 0, size = 1;
    assert_int_equal(x.count, y.count);
    for (int i = 0; i < x.count; i++) {
        far = fmax(far, fabs(x.data[i] - y.data[i]));
        size = fmax(size, fabs(x.data[i]));
    }
    return far / size;
}

static void written_and_read(const char *path, double time)
{
    zw_error error = {0};
    world a, b;
    world_make(&a, path);
    if (zw_model_write(a.model, WRITTEN, &error) != ZW_OK) {
        fail_msg("%s: %s", path, error.text);
    }
    world_make(&b, WRITTEN);
    assert_int_equal(zw_forward(a.system, a.state, a.work, NULL, &error), ZW_OK);
    assert_int_equal(zw_forward(b.system, b.state, b.work, NULL, &error), ZW_OK);
    double forces = apart(&a, &b, ZW_FIELD_A), energy = apart(&a, &b, ZW_FIELD_ENERGY);
    zw_run_options options = {.time = time};
    zw_run_summary summary;
    assert_int_equal(zw_run(a.system, a.state, a.work, &options, &summary, &error), ZW_OK);
    assert_int_equal(zw_run(b.system, b.state, b.work, &options, &summary, &error), ZW_OK);
    double place = apart(&a, &b, ZW_FIELD_Q);
    if (!(forces < 1e-9 && energy < 1e-12 && place < 1e-8)) {
        fail_msg("%s: accelerations %g, energies %g, places after %g s %g apart", path, forces,
                 energy, time, place);
    }
    world_free(&a);
    world_free(&b);
    remove(WRITTEN);
}

static void robots_move_as_before(void **state)
{
    (void)state;
    static const char *const file[] = {
        "examples/bodies/bricard.xml",     "examples/bodies/cart_pole.xml",
        "examples/bodies/servo.xml",       "examples/bodies/stewart.xml",
        "examples/bodies/jansen_leg.xml",  "examples/contact/gears.xml",
        "examples/contact/quadruped.xml",  "examples/contact/newtons_cradle.xml",
        "test/read/mjcf_now/drives.xml",   "test/read/mjcf/joints.xml",
        "test/read/mjcf/orientations.xml", "test/read/urdf/roof.urdf",
    };
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        char path[400];
        snprintf(path, sizeof path, "%s/%s", ZW_SOURCE_DIR, file[i]);
        written_and_read(path, 0.02);
    }
}

/* Bodies that were not added as a tree is written: coordinates and keyframes change their order. */
static void order_of_bodies(void **state)
{
    (void)state;
    zw_error error = {0};
    zw_model *m = zw_model_create(&error);
    const int parent[] = {0, 0, 1, 2};
    double qpos[4] = {1, 2, 3, 4};
    for (int i = 0; i < 4; i++) {
        zw_body_def body = zw_body_default();
        zw_joint_def hinge = zw_joint_default();
        body.parent = parent[i];
        body.inertial = 1;
        body.mass = i + 1;
        body.inertia[0] = body.inertia[1] = body.inertia[2] = 1;
        hinge.body = zw_model_add_body(m, &body, &error);
        assert_true(hinge.body == i + 1 && zw_model_add_joint(m, &hinge, &error) == i);
    }
    zw_key_def key = zw_key_default();
    key.qpos = qpos;
    key.qpos_count = 4;
    assert_int_equal(zw_model_add_key(m, &key, &error), 0);
    assert_int_equal(zw_model_write(m, WRITTEN, &error), ZW_OK);
    zw_model *again = zw_model_read(WRITTEN, NULL, &error);
    assert_non_null(again);
    const zw_key_def *found = zw_model_def(again, ZW_KIND_KEY, 0);
    const double order[4] = {1, 3, 2, 4}; /* body 3 hangs on body 1 */
    for (int i = 0; i < 4; i++) {
        zw_inertia list[5];
        assert_int_equal(zw_model_inertia(again, list, &error), ZW_OK);
        assert_true(found->qpos[i] == order[i] && list[i + 1].mass == order[i]);
    }
    zw_model_free(again);
    zw_model_free(m);
    remove(WRITTEN);
}

/* What MJCF has no words for is refused by name, and no file is left. */
static void refused_by_name(void **state)
{
    (void)state;
    zw_error error = {0};
    zw_model *m = zw_model_create(&error);
    zw_geom_def cone = zw_geom_default();
    cone.name = "hat";
    cone.shape = ZW_SHAPE_CONE;
    cone.size[0] = cone.size[1] = 1;
    assert_int_equal(zw_model_add_geom(m, &cone, &error), 0);
    assert_int_equal(zw_model_write(m, WRITTEN, &error), ZW_BAD_INPUT);
    assert_non_null(strstr(error.text, "geom 'hat'"));
    assert_null(fopen(WRITTEN, "r"));
    assert_int_equal(zw_model_write(m, "no/such/folder/x.xml", &error), ZW_NO_FILE);
    zw_model_free(m);
    m = zw_model_read(ZW_SOURCE_DIR "/examples/pendulum.zw", NULL, &error);
    assert_int_equal(zw_model_write(m, WRITTEN, &error), ZW_BAD_INPUT);
    zw_model_free(m);
}

/* In MJCF a positive bias from the velocity is a damping ratio if and only if the actuator is a
 * servo. */
static void damping_ratios(void **state)
{
    (void)state;
    zw_error error = {0};
    zw_model *m = zw_model_parse(
        "<mujoco><worldbody><body><joint name='j'/><geom size='0.1'/></body></worldbody><actuator>"
        "<cylinder name='a' joint='j' timeconst='2' area='3' bias='0.1 -3 0.5'/>"
        "<general name='b' joint='j' gainprm='3' biastype='affine' biasprm='0.1 -2 0.5'/>"
        "</actuator></mujoco>",
        "robot.xml", NULL, &error);
    assert_non_null(m);
    zw_actuator_def def = *(const zw_actuator_def *)zw_model_def(m, ZW_KIND_ACTUATOR, 0);
    assert_true(def.damp_ratio == 0.5 && def.bias_prm[2] == 0 && def.bias_prm[0] == 0.1);
    assert_int_equal(zw_model_write(m, WRITTEN, &error), ZW_OK);
    zw_model *again = zw_model_read(WRITTEN, NULL, &error);
    assert_non_null(again);
    for (int i = 0; i < 2; i++) {
        const zw_actuator_def *was = zw_model_def(m, ZW_KIND_ACTUATOR, i);
        const zw_actuator_def *is = zw_model_def(again, ZW_KIND_ACTUATOR, i);
        assert_true(is->damp_ratio == was->damp_ratio && is->dynamics == was->dynamics);
        assert_memory_equal(is->bias_prm, was->bias_prm, sizeof is->bias_prm);
    }
    zw_model_free(again);
    remove(WRITTEN);
    def.damp_ratio = 0;
    def.bias_prm[2] = 0.5; /* a negative damping */
    assert_int_equal(zw_model_change(m, ZW_KIND_ACTUATOR, 0, &def, &error), ZW_OK);
    assert_int_equal(zw_model_write(m, WRITTEN, &error), ZW_BAD_INPUT);
    assert_non_null(strstr(error.text, "actuator 'a'"));
    def = *(const zw_actuator_def *)zw_model_def(m, ZW_KIND_ACTUATOR, 0); /* its own names */
    def.damp_ratio = 1;
    def.gain_prm[0] = -3;
    assert_int_not_equal(zw_model_change(m, ZW_KIND_ACTUATOR, 0, &def, &error), ZW_OK);
    assert_non_null(strstr(error.text, "a damping ratio needs a gain that is not negative"));
    zw_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(robots_move_as_before),
        cmocka_unit_test(damping_ratios),
        cmocka_unit_test(order_of_bodies),
        cmocka_unit_test(refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Bodies built in C: definitions are copied and checked, names are found, and removal of an element
 * also removes those that depend on it and does not change the others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/bodies.h"

static int add_body(zw_model *m, const char *name, int parent)
{
    zw_error error;
    zw_body_def def = zw_body_default();
    def.name = name;
    def.parent = parent;
    def.pos[0] = 1;
    int body = zw_model_add_body(m, &def, &error);
    assert_true(body > 0);
    return body;
}

static int add_joint(zw_model *m, const char *name, int body, int kind)
{
    zw_error error;
    zw_joint_def def = zw_joint_default();
    def.name = name;
    def.body = body;
    def.kind = kind;
    int joint = zw_model_add_joint(m, &def, &error);
    assert_true(joint >= 0);
    return joint;
}

static int add_geom(zw_model *m, const char *name, int body)
{
    zw_error error;
    zw_geom_def def = zw_geom_default();
    def.name = name;
    def.body = body;
    def.size[0] = 0.1;
    int geom = zw_model_add_geom(m, &def, &error);
    assert_true(geom >= 0);
    return geom;
}

static int add_motor(zw_model *m, const char *name, int joint)
{
    zw_error error;
    zw_actuator_def def = zw_actuator_default();
    def.name = name;
    def.target = joint;
    int motor = zw_model_add_actuator(m, &def, &error);
    assert_true(motor >= 0);
    return motor;
}

/* world - trunk (free) - left - left hand; trunk - right (hinge) - right hand (ball) */
static zw_model *robot(void)
{
    zw_error error;
    zw_model *m = zw_model_create(&error);
    assert_non_null(m);
    int trunk = add_body(m, "trunk", 0);
    int left = add_body(m, "left", trunk);
    int right = add_body(m, "right", trunk);
    int left_hand = add_body(m, "left hand", left);
    int right_hand = add_body(m, "right hand", right);
    int order[] = {right_hand, right, left, left_hand, trunk}; /* not in the order of the bodies */
    const char *name[] = {"wrist", "elbow right", "elbow left", "finger", "root"};
    int kind[] = {ZW_JOINT_BALL, ZW_JOINT_HINGE, ZW_JOINT_HINGE, ZW_JOINT_SLIDE, ZW_JOINT_FREE};
    for (int i = 0; i < 5; i++) {
        int joint = add_joint(m, name[i], order[i], kind[i]);
        add_geom(m, name[i], order[i]);
        add_motor(m, name[i], joint);
    }
    return m;
}

static void everything_has_a_name(void **state)
{
    (void)state;
    zw_model *m = robot();
    assert_int_equal(zw_model_count(m, ZW_KIND_BODY), 6);
    assert_int_equal(zw_model_find(m, ZW_KIND_BODY, "world"), 0);
    assert_int_equal(zw_model_find(m, ZW_KIND_BODY, "right hand"), 5);
    assert_int_equal(zw_model_find(m, ZW_KIND_JOINT, "root"), 4);
    assert_int_equal(zw_model_find(m, ZW_KIND_JOINT, "right hand"), -1);
    const zw_joint_def *joint = zw_model_def(m, ZW_KIND_JOINT, 3);
    assert_string_equal(joint->name, "finger");
    assert_int_equal(joint->kind, ZW_JOINT_SLIDE);
    assert_null(zw_model_def(m, ZW_KIND_JOINT, 5));
    assert_null(zw_model_def(m, ZW_KIND_JOINT, -1));
    zw_model_free(m);
}

/* The definition's own memory may go away. */
static void definitions_are_copied(void **state)
{
    (void)state;
    zw_error error;
    zw_model *m = zw_model_create(&error);
    char name[] = "box";
    double vertex[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    zw_mesh_def mesh = zw_mesh_default();
    mesh.name = name;
    mesh.vertex = vertex;
    mesh.vertex_count = 4;
    assert_int_equal(zw_model_add_mesh(m, &mesh, &error), 0);
    memset(vertex, 0, sizeof vertex);
    name[0] = 0;
    const zw_mesh_def *kept = zw_model_def(m, ZW_KIND_MESH, 0);
    assert_string_equal(kept->name, "box");
    assert_true(kept->vertex[3] == 1);
    zw_model_free(m);
}

static void refused(zw_model *m, zw_kind kind, const void *def, const char *message)
{
    zw_error error;
    int before = zw_model_count(m, kind);
    assert_int_equal(model_add_part(m, kind, def, &error), -1);
    assert_int_equal(error.status, ZW_BAD_INPUT);
    if (strstr(error.text, message) == NULL) {
        print_error("said: %s\nwanted: %s\n", error.text, message);
        fail();
    }
    assert_int_equal(zw_model_count(m, kind), before);
}

static void mistakes_are_refused(void **state)
{
    (void)state;
    zw_model *m = robot();
    zw_body_def raw;
    memset(&raw, 0, sizeof raw);
    refused(m, ZW_KIND_BODY, &raw, "not made by zw_body_default()");
    zw_geom_def geom = zw_geom_default();
    refused(m, ZW_KIND_JOINT, &geom, "not made by zw_joint_default()");
    refused(m, ZW_KIND_GEOM, &geom, "size 1 is 0");

    zw_body_def body = zw_body_default();
    body.parent = 6;
    refused(m, ZW_KIND_BODY, &body, "there is none");
    body.parent = -1;
    refused(m, ZW_KIND_BODY, &body, "there is none");
    body.parent = 0;
    body.name = "trunk";
    refused(m, ZW_KIND_BODY, &body, "this name is already used");
    body.name = "new";
    body.quat[0] = 0;
    refused(m, ZW_KIND_BODY, &body, "quaternion is zero");
    body.quat[0] = NAN;
    refused(m, ZW_KIND_BODY, &body, "not finite");

    zw_joint_def joint = zw_joint_default();
    refused(m, ZW_KIND_JOINT, &joint, "the world cannot have joints");
    joint.body = 2;
    joint.axis[2] = 0;
    refused(m, ZW_KIND_JOINT, &joint, "no direction");
    joint.kind = ZW_JOINT_FREE;
    refused(m, ZW_KIND_JOINT, &joint, "a child of the world");
    joint.kind = 17;
    refused(m, ZW_KIND_JOINT, &joint, "no joint of kind");

    zw_actuator_def motor = zw_actuator_default();
    refused(m, ZW_KIND_ACTUATOR, &motor, "joint -1");
    zw_sensor_def sensor = zw_sensor_default();
    sensor.kind = ZW_SENSOR_GYRO;
    sensor.target = 0;
    refused(m, ZW_KIND_SENSOR, &sensor, "site 0");
    zw_model_free(m);
}

static void add_keys(zw_model *m)
{
    /* root 7, elbow left 1, elbow right 1, finger 1, wrist 4: bodies in order */
    double qpos[14], qvel[12], ctrl[5];
    for (int i = 0; i < 14; i++) {
        qpos[i] = i;
    }
    for (int i = 0; i < 12; i++) {
        qvel[i] = 100 + i;
    }
    for (int i = 0; i < 5; i++) {
        ctrl[i] = 200 + i;
    }
    zw_error error;
    zw_key_def key = zw_key_default();
    key.name = "home";
    key.qpos = qpos;
    key.qpos_count = 14;
    key.qvel = qvel;
    key.qvel_count = 12;
    key.ctrl = ctrl;
    key.ctrl_count = 5;
    assert_int_equal(zw_model_add_key(m, &key, &error), 0);
}

static void removal_takes_what_hangs_on_it(void **state)
{
    (void)state;
    zw_error error;
    zw_model *m = robot();
    add_keys(m);
    model_sizes sizes = model_sizes_of(m->bodies);
    assert_int_equal(sizes.qpos, 14);
    assert_int_equal(sizes.qvel, 12);
    zw_exclude_def exclude = zw_exclude_default();
    exclude.body1 = 2;
    exclude.body2 = 5;
    zw_model_add_exclude(m, &exclude, &error);
    exclude.body1 = 1;
    zw_model_add_exclude(m, &exclude, &error);

    /* left goes, with its hand, their joints, geoms and motors, and the first exclude */
    assert_int_equal(zw_model_remove(m, ZW_KIND_BODY, 2, &error), ZW_OK);
    assert_int_equal(zw_model_count(m, ZW_KIND_BODY), 4);
    assert_int_equal(zw_model_count(m, ZW_KIND_JOINT), 3);
    assert_int_equal(zw_model_count(m, ZW_KIND_GEOM), 3);
    assert_int_equal(zw_model_count(m, ZW_KIND_ACTUATOR), 3);
    assert_int_equal(zw_model_count(m, ZW_KIND_EXCLUDE), 1);
    assert_int_equal(zw_model_find(m, ZW_KIND_BODY, "left"), -1);
    int hand = zw_model_find(m, ZW_KIND_BODY, "right hand");
    assert_int_equal(hand, 3);
    assert_int_equal(m->bodies->body[hand].parent, zw_model_find(m, ZW_KIND_BODY, "right"));
    assert_int_equal(m->bodies->exclude[0].body1, 1);
    assert_int_equal(m->bodies->exclude[0].body2, 3);
    int wrist = zw_model_find(m, ZW_KIND_JOINT, "wrist");
    assert_int_equal(m->bodies->joint[wrist].body, hand);
    int motor = zw_model_find(m, ZW_KIND_ACTUATOR, "wrist");
    assert_int_equal(m->bodies->actuator[motor].target, wrist);

    /* the key has lost the coordinates of elbow left (7) and finger (9) */
    const zw_key_def *key = zw_model_def(m, ZW_KIND_KEY, 0);
    double qpos[] = {0, 1, 2, 3, 4, 5, 6, 8, 10, 11, 12, 13};
    double qvel[] = {100, 101, 102, 103, 104, 105, 107, 109, 110, 111};
    assert_int_equal(key->qpos_count, 12);
    assert_memory_equal(key->qpos, qpos, sizeof qpos);
    assert_int_equal(key->qvel_count, 10);
    assert_memory_equal(key->qvel, qvel, sizeof qvel);
    assert_int_equal(key->ctrl_count, 3);
    assert_true(key->ctrl[0] == 200 && key->ctrl[1] == 201 && key->ctrl[2] == 204);

    assert_int_equal(zw_model_remove(m, ZW_KIND_BODY, 0, &error), ZW_BAD_INPUT);
    assert_int_equal(zw_model_remove(m, ZW_KIND_BODY, 4, &error), ZW_BAD_INPUT);
    assert_int_equal(zw_model_remove(m, ZW_KIND_BODY, 1, &error), ZW_OK);
    assert_int_equal(zw_model_count(m, ZW_KIND_BODY), 1);
    assert_int_equal(zw_model_count(m, ZW_KIND_JOINT), 0);
    assert_int_equal(zw_model_find(m, ZW_KIND_BODY, "world"), 0);
    zw_model_free(m);
}

static void changes_are_checked_too(void **state)
{
    (void)state;
    zw_error error;
    zw_model *m = robot();
    zw_joint_def joint = *(const zw_joint_def *)zw_model_def(m, ZW_KIND_JOINT, 1);
    joint.name = "elbow";
    joint.damping = 3;
    assert_int_equal(zw_model_change(m, ZW_KIND_JOINT, 1, &joint, &error), ZW_OK);
    assert_int_equal(zw_model_find(m, ZW_KIND_JOINT, "elbow"), 1);
    assert_int_equal(zw_model_find(m, ZW_KIND_JOINT, "elbow right"), -1);
    assert_true(m->bodies->joint[1].damping == 3);
    joint.name = "finger";
    assert_int_equal(zw_model_change(m, ZW_KIND_JOINT, 1, &joint, &error), ZW_BAD_INPUT);
    joint.name = "elbow";
    joint.body = 2;
    assert_int_equal(zw_model_change(m, ZW_KIND_JOINT, 1, &joint, &error), ZW_BAD_INPUT);
    assert_int_equal(m->bodies->joint[1].body, 3);

    zw_world_def world = *zw_model_world(m);
    world.gravity[2] = -1.6;
    assert_int_equal(zw_model_set_world(m, &world, &error), ZW_OK);
    assert_true(zw_model_world(m)->gravity[2] == -1.6);
    world.timestep = 0;
    assert_int_equal(zw_model_set_world(m, &world, &error), ZW_BAD_INPUT);
    zw_model_free(m);
}

/* Thousands of names: found, and found again after a removal. */
static void many_names(void **state)
{
    (void)state;
    enum { N = 3000 };
    zw_error error;
    zw_model *m = zw_model_create(&error);
    char name[20];
    for (int i = 1; i <= N; i++) {
        snprintf(name, sizeof name, "b%d", i);
        assert_int_equal(add_body(m, name, i % 7 == 0 ? 0 : i - 1), i);
    }
    for (int i = 1; i <= N; i++) {
        snprintf(name, sizeof name, "b%d", i);
        assert_int_equal(zw_model_find(m, ZW_KIND_BODY, name), i);
    }
    assert_int_equal(zw_model_remove(m, ZW_KIND_BODY, 7, &error), ZW_OK); /* 7 to 13 */
    assert_int_equal(zw_model_find(m, ZW_KIND_BODY, "b13"), -1);
    assert_int_equal(zw_model_find(m, ZW_KIND_BODY, "b14"), 7);
    assert_int_equal(zw_model_find(m, ZW_KIND_BODY, "b3000"), N - 7);
    zw_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_has_a_name),   cmocka_unit_test(definitions_are_copied),
        cmocka_unit_test(mistakes_are_refused),    cmocka_unit_test(removal_takes_what_hangs_on_it),
        cmocka_unit_test(changes_are_checked_too), cmocka_unit_test(many_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

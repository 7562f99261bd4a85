/* Maximal coordinates: the same model, the same motion. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "robots.h"
#include "scene/campaign.h"
#include "system/work.h"

#define FOLDER ZW_SOURCE_DIR "/examples/bodies/"

/* Half a humanoid: a free trunk, hips of three hinges, a knee with a stop, an ankle of two, a
 * shoulder of two with a tendon to the elbow, a neck that is a ball with a spring, a bag on a
 * slide, bodies that are fast to others, dry friction, motors. */
static const char humanoid[] =
    "<mujoco><compiler angle='radian'/><default><geom type='capsule' size='0.05' contype='0'"
    " conaffinity='0'/><joint armature='0.01' damping='0.2'/></default><worldbody>"
    "<body name='trunk' pos='0 0 1.2'><freejoint name='root'/><geom fromto='0 0 0 0 0 0.4'/>"
    "<body name='pelvis' pos='0 0 -0.1'><geom fromto='0 -0.1 0 0 0.1 0'/>"
    "<body name='thigh' pos='0 -0.1 0'><joint name='hip_x' axis='1 0 0'/><joint name='hip_z'"
    " axis='0 0 1'/><joint name='hip_y' axis='0 1 0' stiffness='4' springref='-0.2'/>"
    "<geom fromto='0 0 0 0 0 -0.4'/>"
    "<body name='shin' pos='0 0 -0.4'><joint name='knee' axis='0 1 0' pos='0 0 0.02' limited='true'"
    " range='-0.05 2' ref='0.1'/><geom fromto='0 0 0 0 0 -0.35' size='0.04'/>"
    "<body name='foot' pos='0 0 -0.38'><joint axis='0 1 0'/><joint axis='1 0 0.5'/>"
    "<geom type='box' size='0.1 0.04 0.02' pos='0.05 0 0'/></body></body></body></body>"
    "<body name='arm' pos='0 0.2 0.35'><joint name='lift' axis='1 0 0'/><joint name='swing'"
    " axis='0 1 0'/><geom fromto='0 0 0 0 0.05 -0.3'/>"
    "<body name='fore' pos='0 0.05 -0.3' gravcomp='0.5'><joint name='elbow' axis='0 1 0' "
    "frictionloss='0.2'/>"
    "<geom fromto='0 0 0 0.25 0 0' size='0.03'/><body name='hand' pos='0.25 0 0' euler='0.1 0.2 0'>"
    "<geom type='sphere' size='0.05'/></body></body></body>"
    "<body name='head' pos='0 0 0.45'><joint name='neck' type='ball' stiffness='5'/>"
    "<geom type='sphere' size='0.1' pos='0 0.02 0.12'/></body>"
    "<body name='bag' pos='-0.1 0 0.2'><joint name='rail' type='slide' axis='0 0.1 1'"
    " stiffness='80'/><geom type='box' size='0.05 0.1 0.15'/></body></body>"
    "</worldbody><tendon><fixed name='string' stiffness='6' damping='0.1'><joint joint='swing'"
    " coef='1'/><joint joint='elbow' coef='-0.7'/></fixed></tendon><actuator>"
    "<motor name='kick' joint='knee' gear='2'/><position name='hold' joint='hip_x' kp='20'/>"
    "<motor name='pull' tendon='string'/></actuator></mujoco>";

static zw_model *model_of(const char *file, const char *key)
{
    char path[300];
    zw_error error = {0};
    snprintf(path, sizeof path, FOLDER "%s", file);
    zw_model *model = file ? zw_model_read(path, NULL, &error)
                           : zw_model_parse(humanoid, "humanoid.xml", NULL, &error);
    if (!model) {
        fail_msg("%s:%d: %s", error.file, error.line, error.text);
    }
    int index = key ? zw_model_find(model, ZW_KIND_KEY, key) : -1;
    if (index >= 0) {
        robot_begin_with(model, index);
    }
    return model;
}

static robot maximal_of(zw_model *model)
{
    zw_error error = {0};
    zw_world_def world = *zw_model_world(model);
    world.maximal = 1;
    assert_int_equal(zw_model_set_world(model, &world, &error), ZW_OK);
    return robot_of(model);
}

/* Largest difference in coordinates, speeds and accelerations of what both know by name. Nothing of
 * the first may be unknown to the second. */
typedef struct distance {
    double q, v, a, size;
} distance;

static int coord_in(const robot *r, const char *name)
{
    for (int i = 0; i < r->system->nq; i++) {
        if (strcmp(r->system->model->coord[i].name, name) == 0) {
            return i;
        }
    }
    fail_msg("%s is unknown", name);
    return -1;
}

static int speed_in(const robot *r, const char *name)
{
    for (int i = 0; i < r->system->n; i++) {
        if (strcmp(r->system->bodies->speed[i], name) == 0) {
            return i;
        }
    }
    fail_msg("%s is unknown", name);
    return -1;
}

/* Trees by the sweeps that a run uses: the M of a long chain has lost most of its digits. */
static const double *accelerations(robot *r)
{
    robot_accelerations(r);
    if (r->system->m == 0) {
        assert_int_equal(system_accelerate(r->system, r->work, 0, state_q(r->state),
                                           state_v(r->state), r->work->a, &r->error),
                         ZW_OK);
    }
    return r->work->a;
}

static distance compare(robot *x, robot *y)
{
    distance d = {.size = 1};
    const double *a = accelerations(x), *b = accelerations(y);
    for (int i = 0; i < x->system->nq; i++) {
        int k = coord_in(y, x->system->model->coord[i].name);
        d.q = fmax(d.q, fabs(state_q(x->state)[i] - state_q(y->state)[k]));
    }
    for (int i = 0; i < x->system->n; i++) {
        int k = speed_in(y, x->system->bodies->speed[i]);
        d.v = fmax(d.v, fabs(state_v(x->state)[i] - state_v(y->state)[k]));
        d.a = fmax(d.a, fabs(a[i] - b[k]));
        d.size = fmax(d.size, fabs(a[i]));
    }
    return d;
}

static void same_motion(void **state)
{
    (void)state;
    static const struct {
        const char *file, *key;
        double time;
    } list[] = {{"double_pendulum.xml", NULL, 2},
                {"four_bar.xml", "driven", 1},
                {"arm.xml", "reach", 1},
                {"bricard.xml", NULL, 1},
                {"stewart.xml", NULL, 0.1},
                {"gyroscope.xml", "spinning", 0.5},
                {NULL, NULL, 1}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i += (size_t)campaign_stride(3)) {
        robot x = robot_of(model_of(list[i].file, list[i].key));
        robot y = maximal_of(model_of(list[i].file, list[i].key));
        if (!list[i].file) {
            state_param(x.state)[0] = state_param(y.state)[0] = -3;
            state_param(x.state)[2] = state_param(y.state)[2] = -1;
        }
        zw_run_summary one = robot_run(&x, list[i].time, 1e-12);
        zw_run_summary two = robot_run(&y, list[i].time, 1e-12);
        distance d = compare(&x, &y);
        print_message("%-20s n %d -> %d: q %.1e v %.1e a %.1e, energy %.1e, violation %.1e\n",
                      list[i].file ? list[i].file : "humanoid", x.system->n, y.system->n, d.q, d.v,
                      d.a / d.size, fabs(one.energy_end - two.energy_end), two.violation_position);
        assert_true(d.q <= 1e-8 && d.v <= 1e-8 * d.size);
        if (!list[i].file) {
            close_to("knee at its stop", state_q(x.state)[coord_in(&x, "knee")], -0.05, 1e-12);
        }
        assert_true(two.violation_position <= 1e-12 && two.violation_velocity <= 1e-11);
        close_to("energy", two.energy_end, one.energy_end, 1e-8);
        robot_end(&x);
        robot_end(&y);
    }
}

/* Both begin with this keyframe. */
static void give_key(zw_model *model, const double *q, int nq, const double *v, int nv)
{
    zw_error error = {0};
    zw_key_def key = zw_key_default();
    key.name = "dice";
    key.start = 1;
    key.qpos = q;
    key.qpos_count = nq;
    key.qvel = v;
    key.qvel_count = nv;
    if (zw_model_add_key(model, &key, &error) < 0) {
        fail_msg("%s", error.text);
    }
}

static void same_accelerations_anywhere(void **state)
{
    (void)state;
    static const char *const file[] = {"double_pendulum.xml", "arm.xml", "gyroscope.xml", NULL};
    unsigned seed = 5;
    double worst = 0;
    for (int i = 0; i < 40; i++) {
        double q[64], v[64];
        zw_model *model = model_of(file[i % 4], NULL), *again = model_of(file[i % 4], NULL);
        robot x = robot_compile(model);
        int nq = x.system->nq, nv = x.system->n;
        memcpy(q, x.system->bodies->q, (size_t)nq * sizeof *q);
        for (int k = 0; k < nv; k++) {
            v[k] = dice(&seed);
        }
        system_move(x.system, q, 1, v);
        if (!file[i % 4]) {
            q[10] = fabs(q[10]); /* the knee, within its range */
        }
        for (int k = 0; k < nv; k++) {
            v[k] = 2 * dice(&seed);
        }
        give_key(model, q, nq, v, nv);
        give_key(again, q, nq, v, nv);
        x.model = NULL;
        robot_end(&x);
        x = robot_of(model);
        robot y = maximal_of(again);
        distance d = compare(&x, &y);
        worst = fmax(worst, d.a / d.size);
        assert_true(d.q <= 1e-14 && d.v <= 1e-13);
        assert_true(d.a <= 1e-10 * d.size);
        robot_end(&x);
        robot_end(&y);
    }
    print_message("accelerations apart by %.1e at most\n", worst);
}

/* Bodies that a free joint alone could not turn: point masses on massless rods. */
static void point_masses(void **state)
{
    (void)state;
    static const char text[] =
        "<mujoco><worldbody><body name='upper'><joint name='one' axis='0 1 0'/><inertial"
        " pos='0.4 0 0.1' mass='2' diaginertia='0 0 0'/><body name='lower' pos='0.5 0 0'>"
        "<joint name='two' axis='0 1 0'/><joint name='three' axis='0 0 1'/><inertial"
        " pos='0.3 0.1 0' mass='1' diaginertia='0 0 0'/></body></body></worldbody></mujoco>";
    zw_error error = {0};
    robot x = robot_of(zw_model_parse(text, "points.xml", NULL, &error));
    robot y = maximal_of(zw_model_parse(text, "points.xml", NULL, &error));
    zw_run_summary one = robot_run(&x, 1, 1e-12), two = robot_run(&y, 1, 1e-12);
    distance d = compare(&x, &y);
    print_message("point masses: q %.1e v %.1e a %.1e\n", d.q, d.v, d.a);
    assert_true(d.q <= 1e-9 && d.v <= 1e-8 && d.a <= 1e-8 * d.size);
    close_to("energy", two.energy_end, one.energy_end, 1e-9);
    assert_true(two.violation_position <= 1e-12);
    robot_end(&x);
    robot_end(&y);
}

/* ---- Chains ---------------------------------------------------------------------------------- */

/* Links of 0.1 m and 0.1 kg, hinges crosswise; the last one has `heavy` times the mass. */
static zw_model *chain(int links, double heavy)
{
    zw_model *model = robot_new();
    int parent = 0;
    for (int i = 0; i < links; i++) {
        zw_error error = {0};
        zw_body_def def = zw_body_default();
        double mass = 0.1 * (i == links - 1 ? heavy : 1);
        def.parent = parent;
        def.pos[0] = i == 0 ? 0 : 0.1;
        def.inertial = 1;
        def.mass = mass;
        def.com[0] = 0.05;
        def.inertia[0] = 1e-5 * mass;
        def.inertia[1] = def.inertia[2] = 1e-3 * mass;
        parent = zw_model_add_body(model, &def, &error);
        assert_true(parent > 0);
        robot_joint(model, parent, ZW_JOINT_HINGE, NULL, i % 2, 1 - i % 2, 0);
    }
    return model;
}

static void long_chains_are_sparse(void **state)
{
    (void)state;
    enum { LINKS = 300 };
    robot x = robot_of(chain(LINKS, 1));
    zw_model *model = chain(LINKS, 1);
    zw_equality_def weld = zw_equality_default();
    zw_error error = {0};
    weld.name = "again"; /* the middle of the chain, held where hinge 150 holds it */
    weld.kind = ZW_EQUALITY_HINGE;
    weld.first = LINKS / 2;
    weld.second = LINKS / 2 + 1;
    weld.placed = 2;
    weld.quat2[0] = sqrt(0.5); /* turns z onto the hinge's axis, y */
    weld.quat2[1] = -sqrt(0.5);
    assert_true(zw_model_add_equality(model, &weld, &error) >= 0);
    robot y = maximal_of(model);
    assert_true(y.system->sparse);
    assert_int_equal(y.system->n, 7 * LINKS);
    distance d = compare(&x, &y);
    print_message("300 links: accelerations apart by %.1e of %.1e\n", d.a, d.size);
    assert_true(d.a <= 1e-10 * d.size);
    const zw_motion *motion = zw_work_motion(y.work);
    assert_int_equal(motion->redundant_count, 1);
    assert_string_equal(zw_work_block_name(y.work, motion->redundant[0]), "again");
    robot_end(&x);
    robot_end(&y);
}

/* Whips with stops, motors and dry friction at all joints; large enough for the sparse kernel. */
static void stops_of_a_sparse_chain(void **state)
{
    (void)state;
    enum { LINKS = 14 };
    zw_model *model[2] = {chain(LINKS, 2), chain(LINKS, 2)};
    for (int k = 0; k < 2; k++) {
        for (int j = 0; j < LINKS; j++) {
            zw_error error = {0};
            zw_joint_def def = *(const zw_joint_def *)zw_model_def(model[k], ZW_KIND_JOINT, j);
            def.damping = 0.02;
            def.frictionloss = j % 3 == 0 ? 0.05 : 0;
            def.limited = 1;
            def.range[0] = -0.15;
            def.range[1] = 0.3;
            assert_int_equal(zw_model_change(model[k], ZW_KIND_JOINT, j, &def, &error), ZW_OK);
        }
    }
    robot x = robot_of(model[0]), y = maximal_of(model[1]);
    assert_true(y.system->sparse);
    const double end = campaign_is_small() ? 0.14 : 0.2;
    robot_run(&x, end, 1e-11);
    zw_run_summary summary = robot_run(&y, end, 1e-11);
    distance d = compare(&x, &y);
    int stopped = 0;
    for (int i = 0; i < LINKS; i++) {
        double q = state_q(x.state)[i];
        stopped += fabs(q + 0.15) < 1e-9 || fabs(q - 0.3) < 1e-9;
    }
    print_message("%d stops are met: q %.1e v %.1e, violation %.1e\n", stopped, d.q, d.v,
                  summary.violation_position);
    assert_true(stopped > 0);
    assert_true(d.q <= 1e-8 && d.v <= 1e-7);
    robot_end(&x);
    robot_end(&y);
}

/* Assembly moves what is nearest in the coordinates that are there; so it is done in those of the
 * tree. */
static void starts_are_assembled_alike(void **state)
{
    (void)state;
    zw_model *model[2] = {chain(3, 1), chain(3, 1)};
    robot_limit(model[0], 1, 0.3, 1);
    robot_limit(model[1], 1, 0.3, 1);
    robot x = robot_of(model[0]), y = maximal_of(model[1]);
    distance d = compare(&x, &y);
    assert_true(state_q(x.state)[1] > 0.3 - 1e-12);
    assert_true(d.q <= 1e-14 && d.a <= 1e-11 * d.size);
    robot_end(&x);
    robot_end(&y);
}

/* What hangs at rest: each joint carries what is below it. */
static void multipliers_are_forces_of_joints(void **state)
{
    (void)state;
    enum { LINKS = 5 };
    zw_error error = {0};
    zw_model *model = chain(LINKS, 3);
    zw_world_def world = zw_world_default();
    world.gravity[0] = 9.81; /* along the chain */
    world.gravity[2] = 0;
    assert_int_equal(zw_model_set_world(model, &world, &error), ZW_OK);
    robot y = maximal_of(model);
    robot_accelerations(&y);
    for (int i = 0; i < LINKS; i++) {
        const double *lambda = y.work->lambda + y.system->first_row[i];
        close_to("pull", fabs(lambda[0]), 9.81 * 0.1 * (LINKS - 1 - i + 3), 1e-12);
        for (int k = 1; k < 6; k++) {
            close_to("nothing else", lambda[k], 0, 1e-12);
        }
    }
    robot_end(&y);
}

static void a_heavy_end_opens_no_gap(void **state)
{
    (void)state;
    robot y = maximal_of(chain(60, 1e6));
    zw_run_summary summary = robot_run(&y, 0.02 / campaign_stride(4), 1e-9);
    print_message("60 links and a mass of 10^6: gap %.1e, drift %.1e\n", summary.violation_position,
                  summary.energy_drift);
    assert_true(summary.violation_position <= 1e-12);
    robot_end(&y);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static void what_it_cannot_do_is_refused(void **state)
{
    (void)state;
    zw_model *model = chain(3, 1);
    zw_error error = {0};
    zw_sensor_def sensor = zw_sensor_default();
    sensor.name = "centre";
    sensor.kind = ZW_SENSOR_SUBTREECOM;
    sensor.target = 1;
    assert_true(zw_model_add_sensor(model, &sensor, &error) >= 0);
    zw_world_def world = *zw_model_world(model);
    world.maximal = 1;
    assert_int_equal(zw_model_set_world(model, &world, &error), ZW_OK);
    assert_null(zw_system_compile(model, NULL, &error));
    assert_non_null(strstr(error.text, "'centre'"));
    zw_model_free(model);

    model = chain(3, 1);
    const double few[2] = {0, 0};
    give_key(model, few, 2, few, 2);
    assert_null(zw_system_compile(model, NULL, &error));
    assert_non_null(strstr(error.text, "'dice': its qpos has 2 numbers"));
    zw_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_motion),
        cmocka_unit_test(same_accelerations_anywhere),
        cmocka_unit_test(point_masses),
        cmocka_unit_test(long_chains_are_sparse),
        cmocka_unit_test(stops_of_a_sparse_chain),
        cmocka_unit_test(starts_are_assembled_alike),
        cmocka_unit_test(multipliers_are_forces_of_joints),
        cmocka_unit_test(a_heavy_end_opens_no_gap),
        cmocka_unit_test(what_it_cannot_do_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Joints that close loops: the same mechanism, cut at one joint or at another, is one mechanism.
 * And constraints given three times. */
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

/* ---- A ring of three bodies ------------------------------------------------------------------ */

/* world -first- a -ball- b -middle- c -last- world. `middle` leads from b to c, and `last` from the
 * world to c: one hangs c in the tree, the other closes the loop. Both ways the coordinates have
 * the same names and meanings. */
typedef struct ring {
    const char *first;  /* joints, one letter each: h, s, b */
    const char *middle; /* the same */
    int springs;        /* spring, damper, armature and servo on the joints of `middle` */
    double limit;       /* of its first joint; 0: none */
    double dry;
} ring;

static int kind_of(char letter)
{
    return letter == 'h' ? ZW_JOINT_HINGE : letter == 's' ? ZW_JOINT_SLIDE : ZW_JOINT_BALL;
}

static int add_joints(zw_model *model, const char *kinds, const char *name, int body, int closes,
                      const double pos[3])
{
    static const double axis[4][3] = {
        {0.3, 1, -0.2}, {1, -0.1, 0.4}, {-0.4, 0.3, 1}, {0.2, 0.9, 0.6}};
    int other = name[0] == 'm' ? 2 : name[0] == 'l' ? 1 : 0;
    int first = -1;
    for (int k = 0; kinds[k]; k++) {
        zw_joint_def def = zw_joint_default();
        zw_error error = {0};
        char full[40];
        snprintf(full, sizeof full, "%s%d", name, k);
        def.name = full;
        def.body = body;
        def.closes = closes;
        def.kind = kind_of(kinds[k]);
        def.ref = def.kind == ZW_JOINT_BALL ? 0 : 0.1 * k;
        memcpy(def.pos, pos, sizeof def.pos);
        memcpy(def.axis, axis[other + k], sizeof def.axis);
        int index = zw_model_add_joint(model, &def, &error);
        if (index < 0) {
            fail_msg("%s", error.text);
        }
        first = k == 0 ? index : first;
    }
    return first;
}

/* What only joints with a coordinate can have. */
static void dress(zw_model *model, const ring *r, int joint)
{
    zw_error error = {0};
    zw_joint_def def = *(const zw_joint_def *)zw_model_def(model, ZW_KIND_JOINT, joint);
    if (r->springs) {
        def.stiffness = 3;
        def.springref = 0.2;
        def.damping = 0.4;
        def.armature = 0.05;
    }
    def.frictionloss = r->dry;
    if (r->limit != 0) {
        def.limited = 1;
        def.range[0] = def.ref - r->limit;
        def.range[1] = def.ref + r->limit;
    }
    assert_int_equal(zw_model_change(model, ZW_KIND_JOINT, joint, &def, &error), ZW_OK);
    if (r->springs && def.kind != ZW_JOINT_BALL) {
        zw_actuator_def servo = zw_actuator_default();
        servo.name = "servo";
        servo.drive = ZW_DRIVE_JOINT;
        servo.target = joint;
        servo.gear[0] = 1.5;
        servo.gain_prm[0] = 8;
        servo.bias_law = 1;
        servo.bias_prm[1] = -8;
        servo.bias_prm[2] = -0.3;
        servo.ctrl_given = 1;
        servo.ctrl = 0.4;
        assert_true(zw_model_add_actuator(model, &servo, &error) >= 0);
    }
}

static robot make_ring(const ring *r, int close_middle, int maximal)
{
    static const double at[3][3] = {{0, 0, 0}, {0.4, 0.1, 0.1}, {0.7, -0.2, 0.3}};
    static const double origin[3] = {0, 0, 0}, tip[3] = {-0.3, 0.1, -0.1};
    zw_model *model = robot_new();
    int a = robot_body(model, 0, "a", at[0][0], at[0][1], at[0][2], 1.0);
    int b = robot_body(model, a, "b", at[1][0] - at[0][0], at[1][1] - at[0][1], at[1][2] - at[0][2],
                       0.6);
    int above = close_middle ? 0 : b;
    const double *from = close_middle ? origin : at[1];
    int c = robot_body(model, above, "c", at[2][0] - from[0], at[2][1] - from[1],
                       at[2][2] - from[2], 1.4);
    add_joints(model, r->first, "first", a, -1, origin);
    add_joints(model, "b", "ball", b, -1, origin);
    int middle = add_joints(model, r->middle, "middle", c, close_middle ? b : -1, tip);
    add_joints(model, "h", "last", c, close_middle ? -1 : 0, origin);
    dress(model, r, middle);
    zw_world_def world = *zw_model_world(model);
    zw_error error = {0};
    world.maximal = maximal;
    assert_int_equal(zw_model_set_world(model, &world, &error), ZW_OK);
    return robot_of(model);
}

/* Of each coordinate of x, and of each speed, where it stands in y; by name. */
static void match(const robot *x, const robot *y, int *q, int *v)
{
    for (int i = 0; i < x->system->nq; i++) {
        const char *name = x->system->model->coord[i].name;
        for (q[i] = 0; strcmp(name, y->system->model->coord[q[i]].name) != 0; q[i]++) {
            assert_true(q[i] + 1 < y->system->nq);
        }
    }
    for (int i = 0; i < x->system->n; i++) {
        const char *name = x->system->bodies->speed[i];
        for (v[i] = 0; strcmp(name, y->system->bodies->speed[v[i]]) != 0; v[i]++) {
            assert_true(v[i] + 1 < y->system->n);
        }
    }
}

static double same_motion(robot *x, robot *y, const int *q, const int *v)
{
    double worst = 0;
    for (int i = 0; i < x->system->nq; i++) {
        worst = fmax(worst, fabs(state_q(x->state)[i] - state_q(y->state)[q[i]]));
    }
    for (int i = 0; i < x->system->n; i++) {
        worst = fmax(worst, fabs(state_v(x->state)[i] - state_v(y->state)[v[i]]));
    }
    return worst;
}

/* Accelerations of y at the state of x. */
static double same_accelerations(robot *x, robot *y, const int *q, const int *v)
{
    double worst = 0, size = 1;
    zw_state *keep = y->state;
    y->state = state_allocate(y->system);
    assert_non_null(y->state);
    memcpy(y->state, keep, keep->bytes);
    for (int i = 0; i < x->system->nq; i++) {
        state_q(y->state)[q[i]] = state_q(x->state)[i];
    }
    for (int i = 0; i < x->system->n; i++) {
        state_v(y->state)[v[i]] = state_v(x->state)[i];
    }
    const double *b = robot_accelerations(y), *a = robot_accelerations(x);
    for (int i = 0; i < x->system->n; i++) {
        size = fmax(size, fabs(a[i]));
        worst = fmax(worst, fabs(a[i] - b[v[i]]));
    }
    zw_state_free(y->state);
    y->state = keep;
    return worst / size;
}

/* Forces and moments that pass through its joints, by their names. */
static double same_wrenches(robot *x, robot *y)
{
    int nx = zw_count(x->system, ZW_KIND_JOINT), ny = zw_count(y->system, ZW_KIND_JOINT);
    zw_wrench *a = calloc((size_t)nx, sizeof *a), *b = calloc((size_t)ny, sizeof *b);
    double worst = 0, size = 1;
    assert_true(a && b);
    robot_accelerations(x);
    robot_accelerations(y);
    assert_int_equal(zw_wrenches(x->system, x->state, x->work, ZW_KIND_JOINT, a, NULL), ZW_OK);
    assert_int_equal(zw_wrenches(y->system, y->state, y->work, ZW_KIND_JOINT, b, NULL), ZW_OK);
    for (int i = 0; i < nx; i++) {
        int j = zw_id(y->system, ZW_KIND_JOINT, zw_name(x->system, ZW_KIND_JOINT, i));
        assert_true(j >= 0);
        for (int k = 0; k < 3; k++) {
            size = fmax(size, fmax(fabs(a[i].force[k]), fabs(a[i].moment[k])));
            worst = fmax(worst, fabs(a[i].force[k] - b[j].force[k]));
            worst = fmax(worst, fabs(a[i].moment[k] - b[j].moment[k]));
            worst = fmax(worst, fabs(a[i].at[k] - b[j].at[k]));
            worst = fmax(worst, fabs(a[i].held_moment[k] - b[j].held_moment[k]));
        }
    }
    free(a);
    free(b);
    return worst / size;
}

static void one_mechanism_however_it_is_cut(void **state)
{
    (void)state;
    static const ring list[] = {
        {.first = "h", .middle = "b"},
        {.first = "h", .middle = "hh", .springs = 1},
        {.first = "h", .middle = "sh", .springs = 1},
        {.first = "hh", .middle = "h", .springs = 1},
        {.first = "hh", .middle = "s", .springs = 1},
        {.first = "h", .middle = "b", .springs = 1},
        {.first = "hh", .middle = "h", .springs = 1, .limit = 0.05},
        {.first = "hh", .middle = "s", .limit = 0.01},
        {.first = "hh", .middle = "h", .dry = 0.3},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i += (size_t)campaign_stride(4)) {
        robot x = make_ring(&list[i], 1, 0), y = make_ring(&list[i], 0, 0);
        robot z = make_ring(&list[i], 1, 1);
        int q[32], v[32], zq[32], zv[32], free_of_events = list[i].limit == 0 && list[i].dry == 0;
        double apart = 0;
        double least = 1; /* distance from the stop, at the ends of runs */
        int middle = 0;
        match(&x, &y, q, v);
        match(&x, &z, zq, zv);
        while (strcmp(x.system->model->coord[middle].name, "middle0") != 0 &&
               middle + 1 < x.system->nq) {
            middle++;
        }
        for (int k = 1; k <= 3; k++) {
            zw_run_summary one = robot_run(&x, 0.15 * k, 1e-12),
                           two = robot_run(&y, 0.15 * k, 1e-12);
            least = fmin(least, list[i].limit - fabs(state_q(x.state)[middle]));
            apart = fmax(apart, same_motion(&x, &y, q, v));
            if (free_of_events) {
                assert_true(same_accelerations(&x, &y, q, v) <= 1e-10);
            }
            zw_run_summary three = robot_run(&z, 0.15 * k, 1e-12);
            apart = fmax(apart, same_motion(&x, &z, zq, zv));
            assert_true(three.violation_position <= 1e-12);
            if (free_of_events) { /* what holds it is also one, and not a matter of the cut */
                assert_true(same_wrenches(&x, &y) <= 1e-7);
                assert_true(same_wrenches(&x, &z) <= 1e-7);
            }
            assert_true(one.violation_position <= 1e-12 && two.violation_position <= 1e-12);
        }
        print_message("middle %-2s springs %d limit %g dry %g: least %g, apart by %.1e\n",
                      list[i].middle, list[i].springs, list[i].limit, list[i].dry, least, apart);
        assert_true(list[i].limit == 0 || fabs(least) < 1e-9);
        assert_true(apart <= 1e-8);
        robot_end(&x);
        robot_end(&y);
        robot_end(&z);
    }
}

/* ---- Turns ----------------------------------------------------------------------------------- */

/* Two wheels on one axle, and between them a spring, a damper, a motor and a stop: of a joint that
 * closes the loop; or of a tendon, whose length is the difference of the two angles. */
static robot wheels(int joint)
{
    zw_model *model = robot_new();
    zw_error error = {0};
    int one = robot_body(model, 0, "one", 0, 0, 0, 1),
        two = robot_body(model, 0, "two", 0, 0, 0, 1.3);
    const int turn[2] = {robot_joint(model, one, ZW_JOINT_HINGE, "turn1", 0, 1, 0),
                         robot_joint(model, two, ZW_JOINT_HINGE, "turn2", 0, 1, 0)};
    static const double coef[2] = {-1, 1};
    zw_joint_def def = zw_joint_default();
    zw_tendon_def tendon = zw_tendon_default();
    zw_actuator_def motor = zw_actuator_default();
    def.name = tendon.name = "between";
    def.body = two;
    def.closes = one;
    def.axis[1] = 1;
    def.axis[2] = 0;
    tendon.count = 2;
    tendon.joint = turn;
    tendon.coef = coef;
    def.stiffness = tendon.stiffness = 0.02;
    def.damping = tendon.damping = 0.01;
    tendon.springlength[0] = tendon.springlength[1] = def.springref = 0.3;
    def.limited = tendon.limited = 1;
    def.range[0] = tendon.range[0] = -4;
    def.range[1] = tendon.range[1] = 17;
    motor.name = "motor";
    motor.ctrl_given = 1;
    motor.ctrl = 0.9;
    if (joint) {
        motor.target = zw_model_add_joint(model, &def, &error);
    } else {
        motor.drive = ZW_DRIVE_TENDON;
        motor.target = zw_model_add_tendon(model, &tendon, &error);
    }
    assert_true(motor.target >= 0);
    assert_true(zw_model_add_actuator(model, &motor, &error) >= 0);
    return robot_of(model);
}

static void the_angle_counts_turns(void **state)
{
    (void)state;
    robot x = wheels(1), y = wheels(0);
    assert_int_equal(x.system->nq, 3);
    double most = 0;
    for (int k = 1; k <= 12; k++) {
        robot_run(&x, 0.25 * k, 1e-12);
        zw_run_summary summary = robot_run(&y, 0.25 * k, 1e-12);
        const double *q = state_q(x.state), *p = state_q(y.state);
        close_to("angle and difference", q[2], q[1] - q[0], 1e-11);
        close_to("wheel", q[0], p[0], 1e-7); /* they have met the stop */
        close_to("wheel", q[1], p[1], 1e-7);
        most = fmax(most, q[2]);
        assert_true(summary.violation_position <= 1e-9);
    }
    print_message("the angle came to %.3f\n", most);
    assert_true(most > 12 && most <= 17 + 1e-9);
    robot_end(&x);
    robot_end(&y);
}

/* ---- Couplings, refusals --------------------------------------------------------------------- */

/* A joint that closes a loop may be coupled to another: a gear between rocker and crank. */
static void closing_joints_are_coupled(void **state)
{
    (void)state;
    robot x = wheels(1);
    zw_error error = {0};
    zw_equality_def gear = zw_equality_default();
    gear.name = "gear";
    gear.kind = ZW_EQUALITY_JOINT;
    gear.first = 2;
    gear.second = 0;
    gear.poly[1] = -3;
    assert_true(zw_model_add_equality(x.model, &gear, &error) >= 0);
    zw_model *model = x.model;
    x.model = NULL;
    robot_end(&x);
    robot y = robot_of(model);
    robot_run(&y, 1, 1e-11);
    const double *q = state_q(y.state);
    assert_true(fabs(q[0]) > 0.1);
    close_to("gear", q[2], -3 * q[0], 1e-11);
    close_to("loop", q[1], q[0] + q[2], 1e-11);
    robot_end(&y);
}

static void refused(const char *what, zw_joint_def def, int fixed)
{
    zw_model *model = robot_new();
    zw_error error = {0};
    int arm = robot_body(model, 0, "arm", 0, 0, 0, 1);
    robot_body(model, arm, "hand", 0.5, 0, 0, 1);
    robot_body(model, 0, "post", 1, 0, 0, 1);
    robot_joint(model, arm, ZW_JOINT_HINGE, "shoulder", 0, 1, 0);
    def.name = "loop";
    int index = zw_model_add_joint(model, &def, &error);
    zw_system *system = index >= 0 ? zw_system_compile(model, NULL, &error) : NULL;
    assert_null(system);
    assert_int_equal(index >= 0, fixed);
    if (!strstr(error.text, what) || !strstr(error.text, "loop")) {
        fail_msg("'%s' does not say '%s'", error.text, what);
    }
    zw_model_free(model);
}

static void bad_constraints_are_refused(void **state)
{
    (void)state;
    zw_joint_def def = zw_joint_default();
    def.body = 1;
    def.closes = 1;
    refused("to itself", def, 0);
    def.closes = 2;
    refused("welded together", def, 1);
    def.closes = 7;
    refused("there is none", def, 0);
    def.closes = 0;
    def.kind = ZW_JOINT_FREE;
    refused("free joint closes no loop", def, 0);
    def.kind = ZW_JOINT_HINGE;
    def.body = 3;
    def.closes = 1;
    refused("does not move", def, 1);
}

/* With the body at its other end the joint goes as well. */
static void removal_takes_constraints_along(void **state)
{
    (void)state;
    robot x = wheels(1);
    zw_model *model = x.model;
    zw_error error = {0};
    x.model = NULL;
    robot_end(&x);
    assert_int_equal(zw_model_remove(model, ZW_KIND_BODY, 1, &error), ZW_OK);
    assert_int_equal(zw_model_count(model, ZW_KIND_JOINT), 1);
    assert_int_equal(zw_model_count(model, ZW_KIND_ACTUATOR), 0);
    zw_model_free(model);
}

static void no_memory_is_no_crash(void **state)
{
    (void)state;
    robot x = wheels(1);
    zw_model *model = x.model;
    x.model = NULL;
    robot_end(&x);
    for (int maximal = 0; maximal < 2; maximal++) {
        zw_error error = {0};
        zw_world_def world = *zw_model_world(model);
        world.maximal = maximal;
        assert_int_equal(zw_model_set_world(model, &world, &error), ZW_OK);
        int done = 0;
        for (int k = 1; !done; k++) {
            error = (zw_error){0};
            base_alloc_fail_after(k);
            zw_system *system = zw_system_compile(model, NULL, &error);
            base_alloc_fail_after(0);
            done = system != NULL;
            assert_true(done || error.status == ZW_NO_MEMORY);
            zw_system_free(system);
        }
    }
    zw_model_free(model);
}

/* ---- Three times ----------------------------------------------------------------------------- */

static robot load(const char *file, const char *key, int times)
{
    char path[300];
    zw_error error = {0};
    snprintf(path, sizeof path, FOLDER "%s", file);
    zw_model *model = zw_model_read(path, NULL, &error);
    if (!model) {
        fail_msg("%s", error.text);
    }
    int index = key ? zw_model_find(model, ZW_KIND_KEY, key) : -1;
    if (index >= 0) {
        robot_begin_with(model, index);
    }
    int count = zw_model_count(model, ZW_KIND_EQUALITY);
    for (int k = 1; k < times; k++) {
        for (int i = 0; i < count; i++) {
            char name[80];
            zw_equality_def def =
                *(const zw_equality_def *)zw_model_def(model, ZW_KIND_EQUALITY, i);
            snprintf(name, sizeof name, "again %d %d", k, i);
            def.name = name;
            assert_true(zw_model_add_equality(model, &def, &error) >= 0);
        }
    }
    return robot_of(model);
}

static void three_times_is_once(void **state)
{
    (void)state;
    static const struct {
        const char *file, *key;
    } list[] = {{"four_bar.xml", "driven"}, {"stewart.xml", NULL}, {"bricard.xml", NULL}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        robot one = load(list[i].file, list[i].key, 1), three = load(list[i].file, list[i].key, 3);
        robot_run(&one, 0.3, 1e-11);
        memcpy(state_q(three.state), state_q(one.state), (size_t)one.system->nq * sizeof(double));
        memcpy(state_v(three.state), state_v(one.state), (size_t)one.system->n * sizeof(double));
        const double *a = robot_accelerations(&one), *b = robot_accelerations(&three);
        double size = 9.81, apart = 0; /* without constraints they would fall */
        for (int k = 0; k < one.system->n; k++) {
            size = fmax(size, fabs(a[k]));
            apart = fmax(apart, fabs(a[k] - b[k]));
        }
        const zw_motion *motion = zw_work_motion(three.work);
        int again = 0, equalities = zw_model_count(one.model, ZW_KIND_EQUALITY);
        for (int k = 0; k < motion->redundant_count; k++) {
            again += strncmp(zw_work_block_name(three.work, motion->redundant[k]), "again", 5) == 0;
        }
        print_message("%s three times: apart by %.1e of %.1e\n", list[i].file, apart, size);
        assert_true(apart <= 1e-12 * size);
        assert_int_equal(again, 2 * equalities);
        assert_int_equal(motion->rank, zw_work_motion(one.work)->rank);
        robot_end(&one);
        robot_end(&three);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_mechanism_however_it_is_cut),
        cmocka_unit_test(the_angle_counts_turns),
        cmocka_unit_test(closing_joints_are_coupled),
        cmocka_unit_test(bad_constraints_are_refused),
        cmocka_unit_test(removal_takes_constraints_along),
        cmocka_unit_test(no_memory_is_no_crash),
        cmocka_unit_test(three_times_is_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

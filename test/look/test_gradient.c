/* Derivatives of motions of robots, back over their steps, against extrapolated central differences
 * of whole motions: contacts that stick, slide, roll and open, limits, friction of joints, motors
 * at their limits, dampers at the end of the step, cones and pyramids, planes and round and edged
 * shapes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../system/world.h"
#include "system/bodies/bodies.h"
#include "system/system.h"
#include "zwang/sensitivity.h"

static zw_error error;
enum { WIDE = 200 };

static double chance(unsigned *seed) /* -1 ... 1 */
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 8388608.0 - 1.0;
}

typedef struct scene {
    const char *name, *file, *text;
    double before, h; /* how long it has moved already; of the differences */
    long steps;
} scene;

/* ---- The cost -------------------------------------------------------------------------------- */

/* A sum over all states: weights . (q (-) q_start), (q, v are squared in part). */
typedef struct weights {
    const zw_system *system;
    double from[WIDE], weight[2 * WIDE];
} weights;

static double cost(void *user, long step, const zw_state *state, double *by_q, double *by_v)
{
    const weights *of = user;
    int n = of->system->n;
    double sum = 0;
    zw_state *at = (zw_state *)state;
    for (int i = 0; i < n; i++) {
        double v = state_v(at)[i], w = of->weight[n + i] * (step % 3 == 0);
        sum += w * v * (1 + 0.5 * v);
        by_v[i] = w * (1 + v);
    }
    const tree_mechanism *tree = of->system->tree;
    for (int j = 0; j < tree->joints; j++) {
        int turns = tree->joint[j].kind == TREE_BALL, d = tree->joint[j].v, q = tree->joint[j].q;
        for (int k = 0; k < (tree->joint[j].kind == TREE_FREE ? 3 : turns ? 0 : 1); k++) {
            by_q[d + k] = of->weight[d + k];
            sum += of->weight[d + k] * state_q(at)[q + k];
        }
    }
    return sum;
}

/* ---- Differences ----------------------------------------------------------------------------- */

static double run_from(const world *w, const zw_state *start, const zw_gradient_plan *plan,
                       int column, double h, long at)
{
    const zw_system *system = w->system;
    zw_state *state = NULL;
    double along[WIDE] = {0}, sum = 0, by[2 * WIDE];
    int n = system->n;
    assert_int_equal(zw_state_copy(start, &state, &error), ZW_OK);
    if (column < n) {
        along[column] = 1;
        system_move(system, state_q(state), h, along);
    } else if (column < 2 * n) {
        state_v(state)[column - n] += h;
    }
    zw_wake(state);
    for (long k = 0; k <= plan->steps; k++) {
        sum += plan->cost(plan->user, k, state, by, by + n);
        for (int c = 0; c < plan->controls && k < plan->steps; c++) {
            double more = column == 2 * n + c && k == at ? h : 0;
            state_param(state)[plan->control[c]] = plan->value[k * plan->controls + c] + more;
        }
        if (k < plan->steps && zw_step(system, state, w->work, &plan->run, &error) != ZW_OK) {
            fail_msg("%s", error.text);
        }
    }
    zw_state_free(state);
    return sum;
}

static double differ(const world *w, const zw_state *start, const zw_gradient_plan *plan,
                     int column, double h, long at)
{
    double d[2];
    for (int k = 0; k < 2; k++) {
        double by = h / (1 + k);
        d[k] =
            (run_from(w, start, plan, column, by, at) - run_from(w, start, plan, column, -by, at)) /
            (2 * by);
    }
    return (4 * d[1] - d[0]) / 3;
}

/* ---- Scenes ---------------------------------------------------------------------------------- */

static world begin(const scene *of)
{
    world w = {0};
    w.model = of->file ? zw_model_read(of->file, NULL, &w.error)
                       : zw_model_parse(of->text, "test.xml", NULL, &w.error);
    w.system = w.model ? zw_system_compile(w.model, NULL, &w.error) : NULL;
    w.work = w.system ? zw_work_create(w.system, &w.error) : NULL;
    w.state = w.work ? zw_state_create(w.system, w.work, &w.assembly, &w.error) : NULL;
    if (!w.state) {
        fail_msg("%s: %s", of->name, w.error.text);
    }
    if (of->before > 0) {
        zw_run_options options = {.time = of->before, .method = ZW_METHOD_SOFT};
        zw_run_summary summary;
        assert_int_equal(zw_run(w.system, w.state, w.work, &options, &summary, &w.error), ZW_OK);
    }
    return w;
}

static double compare(const scene *of, int tell)
{
    world w = begin(of);
    int n = w.system->n, motors = w.system->bodies->motor_count, control[WIDE];
    unsigned seed = 7;
    weights own = {.system = w.system};
    double *value = malloc(sizeof(double) * (size_t)(of->steps * motors + 1));
    double *by_control = malloc(sizeof(double) * (size_t)(of->steps * motors + 1));
    double by_q[2 * WIDE], *by_v = by_q + n, size = 0, worst = 0;
    for (int i = 0; i < 2 * n; i++) {
        own.weight[i] = chance(&seed);
    }
    for (int k = 0; k < motors; k++) {
        control[k] = w.system->bodies->motor[k].param;
    }
    for (long k = 0; k < of->steps * motors; k++) {
        value[k] = 0.3 * chance(&seed);
    }
    const zw_gradient_plan plan = {.run = {.method = ZW_METHOD_SOFT},
                                   .steps = of->steps,
                                   .controls = motors,
                                   .control = control,
                                   .value = value,
                                   .cost = cost,
                                   .user = &own};
    zw_gradient gradient = {.by_q = by_q, .by_v = by_v, .by_control = by_control};
    if (zw_gradient_find(w.system, w.state, &plan, &gradient, &w.error) != ZW_OK) {
        fail_msg("%s: %s", of->name, w.error.text);
    }
    for (int i = 0; i < 2 * n; i++) {
        size = fmax(size, fabs(by_q[i]));
    }
    for (int i = 0; i < 2 * n + motors; i++) {
        long at = of->steps / 2;
        double found = i < 2 * n ? by_q[i] : by_control[at * motors + i - 2 * n];
        double d = differ(&w, w.state, &plan, i, of->h, at), off = fabs(found - d) / size;
        if (tell && off > 1e-8) {
            double here = run_from(&w, w.state, &plan, i, 0, at);
            double more = run_from(&w, w.state, &plan, i, of->h, at) - here;
            double less = here - run_from(&w, w.state, &plan, i, -of->h, at);
            printf("  column %d: %.12g, by differences %.12g, one-sided %.12g %.12g\n", i, found, d,
                   more / of->h, less / of->h);
        }
        worst = fmax(worst, off);
    }
    printf("%-28s n %3d  size %9.3g  worst %.1e  kinks %d\n", of->name, n, size, worst,
           gradient.kinks);
    free(value);
    free(by_control);
    world_end(&w);
    return worst;
}

#define FLOOR "<geom type='plane' size='5 5 1'/>"
#define FREE(place, geom)                                                                          \
    "<body pos='" place "' euler='3 4 20'><freejoint/><geom mass='1' " geom "/></body>"
#define BALL FREE("0 0 0.0997", "size='0.1'")
#define PAIR(first, place, second) FREE("0 0 0", first) FREE(place, second)
#define OF(option, inside)                                                                         \
    "<mujoco><option timestep='0.002' " option "/><worldbody>" inside "</worldbody></mujoco>"
#define JOINTS                                                                                     \
    "<body pos='0 0 1'><joint name='a' type='ball' damping='0.1'/><geom type='box' size='.1 .2 "   \
    ".3' "                                                                                         \
    "pos='.1 .1 .1'/><body pos='0.4 0 0'><joint name='b' axis='1 2 3' frictionloss='0.7' "         \
    "stiffness='3'/><joint name='c' type='slide' axis='0 1 1' range='-1 -0.01' limited='true'/>"   \
    "<geom size='.1' pos='.1 .1 0'/></body></body>"
#define MOTORS                                                                                     \
    "<actuator><motor joint='b' forcerange='-.1 .1' forcelimited='true'/><position joint='c' "     \
    "kp='40' "                                                                                     \
    "kv='3'/></actuator>"

static const scene scenes[] = {
    {.name = "a free body",
     .text = OF("", FREE("0 0 0", "type='box' size='.1 .2 .3'")),
     .h = 1e-3,
     .steps = 30},
    {.name = "a ball, pyramid", .text = OF("", FLOOR BALL), .h = 1e-5, .steps = 10},
    {.name = "a ball, cone", .text = OF("cone='elliptic'", FLOOR BALL), .h = 1e-5, .steps = 10},
    {.name = "rolling and spinning",
     .text = OF("cone='elliptic' impratio='3'",
                FLOOR FREE("0 0 .0997", "size='.1' condim='6' friction='1 .01 .01'")),
     .h = 1e-6,
     .steps = 10},
    {.name = "sliding, cone",
     .text = OF("cone='elliptic' gravity='6 1 -9'",
                FLOOR FREE("0 0 .198", "type='box' size='.1 .1 .2' friction='.3 .1 .1'")),
     .h = 1e-6,
     .steps = 10},
    {.name = "sliding, pyramid",
     .text = OF("gravity='6 1 -9'",
                FLOOR FREE("0 0 .198", "type='cylinder' size='.1 .2' friction='.3 .1 .1'")),
     .h = 1e-6,
     .steps = 10},
    {.name = "a cylinder that leans", /* points of its rim go along it as the tilt turns */
     .text = OF("", FLOOR "<body pos='0 0 .196' euler='.7 .4 0'><freejoint/><geom mass='1' "
                          "type='cylinder' size='.1 .2' friction='.3 .1 .1'/></body>"),
     .h = 1e-5,
     .steps = 10},
    {.name = "without friction",
     .text = OF("", PAIR("size='.1' condim='1'", ".05 .02 .19", "size='.1' condim='1'")),
     .h = 1e-6,
     .steps = 5},
    {.name = "two capsules",
     .text = OF(
         "", PAIR("type='capsule' size='.1 .3'", ".01 .008 .148", "type='capsule' size='.05 .1'")),
     .h = 1e-6,
     .steps = 5},
    {.name = "a capsule and a ball",
     .text = OF("", PAIR("type='capsule' size='.1 .3'", ".12 .08 .04", "size='.05'")),
     .h = 1e-6,
     .steps = 5},
    {.name = "an ellipsoid on a box",
     .text = OF("", PAIR("type='box' size='.3 .3 .1'", ".01 .008 .118",
                         "type='ellipsoid' size='.03 .04 .02'")),
     .h = 1e-6,
     .steps = 5},
    {.name = "joints of all kinds",
     .text =
         "<mujoco><option timestep='0.002'/><worldbody>" JOINTS "</worldbody>" MOTORS "</mujoco>",
     .before = 0.1,
     .h = 1e-7,
     .steps = 20},
    {.name = "the same without dampers at the end",
     .text =
         "<mujoco><option timestep='0.002'><flag eulerdamp='disable'/></option><worldbody>" JOINTS
         "</worldbody>" MOTORS "</mujoco>",
     .before = 0.1,
     .h = 1e-7,
     .steps = 20},
    {.name = "a tendon that couples",
     .text =
         "<mujoco><worldbody>" JOINTS "</worldbody><tendon><fixed name='t' damping='.3' "
         "stiffness='5' limited='true' range='-1 .001'><joint joint='b' coef='1'/><joint joint='c' "
         "coef='2'/></fixed></tendon><equality><joint joint1='b' joint2='c' polycoef='0 2 0 0 0'/>"
         "</equality></mujoco>",
     .before = 0.1,
     .h = 1e-7,
     .steps = 10},
    {.name = "a humanoid that falls",
     .file = ZW_SOURCE_DIR "/examples/contact/humanoid_falls.xml",
     .before = 0.8,
     .h = 1e-6,
     .steps = 6},
    {.name = "a quadruped",
     .file = ZW_SOURCE_DIR "/examples/contact/quadruped.xml",
     .before = 0.3,
     .h = 1e-6,
     .steps = 6},
    {.name = "a gripper",
     .file = ZW_SOURCE_DIR "/examples/contact/gripper_capsule.xml",
     .before = 0.3,
     .h = 1e-6,
     .steps = 10},
    {.name = "a tippe top",
     .file = ZW_SOURCE_DIR "/examples/contact/tippe_top.xml",
     .before = 0.3,
     .h = 1e-6,
     .steps = 10},
    {.name = "a bicycle",
     .file = ZW_SOURCE_DIR "/examples/bodies/bicycle.xml",
     .before = 0.1,
     .h = 1e-6,
     .steps = 10},
};

#define IMPLICIT(name)                                                                             \
    "<mujoco><option timestep='0.002' integrator='" name "'/><worldbody>" JOINTS                   \
    "</worldbody>" MOTORS "</mujoco>"
#define HANGS                                                                                      \
    "<body name='a' pos='0 0 1'><joint name='a' axis='0 1 0' damping='.1'/><geom type='capsule' "  \
    "fromto='0 0 0 .3 0 -.1' size='.03' contype='0' conaffinity='0'/><site name='t' pos='.2 0 "    \
    ".05'/><body name='b' pos='.3 0 -.1'><joint name='b' axis='0 1 .3' damping='.1'/><geom "       \
    "type='capsule' fromto='0 0 0 .3 .1 0' size='.03' contype='0' conaffinity='0'/><site "         \
    "name='u' pos='.3 .1 0'/></body></body><site name='s' pos='0 .1 1.5'/>"

/* Robots whose equations have no slopes in closed form. */
static const scene general[] = {
    {.name = "implicitfast",
     .text = IMPLICIT("implicitfast"),
     .before = .1,
     .h = 1e-6,
     .steps = 10},
    {.name = "implicit", .text = IMPLICIT("implicit"), .before = .1, .h = 1e-6, .steps = 10},
    {.name = "a loop",
     .text = "<mujoco><option timestep='0.002'/><worldbody>" HANGS
             "</worldbody><equality><connect body1='b' body2='world' anchor='.3 .1 0'/>"
             "</equality></mujoco>",
     .before = .1,
     .h = 1e-5,
     .steps = 10},
    {.name = "a loop, welded, implicitfast",
     .text = "<mujoco><option timestep='0.002' integrator='implicitfast'/><worldbody>" HANGS
             "</worldbody><equality><weld body1='b' body2='world'/></equality></mujoco>",
     .before = .1,
     .h = 1e-5,
     .steps = 10},
    {.name = "a tendon through space, with a motor",
     .text = "<mujoco><option timestep='0.002'/><worldbody>" HANGS
             "</worldbody><tendon><spatial name='t' stiffness='30' damping='.4'><site site='s'/>"
             "<site site='t'/><site site='u'/></spatial></tendon><actuator><motor tendon='t' "
             "gear='-2'/><motor site='u' gear='0 1 2 .3 0 0'/></actuator></mujoco>",
     .before = .1,
     .h = 1e-5,
     .steps = 10},
    {.name = "tendons with armature, dry friction and a limit",
     .text =
         "<mujoco><option timestep='0.002'/><worldbody>" HANGS
         "</worldbody><tendon><spatial name='t' stiffness='3' armature='.3' frictionloss='.05' "
         "limited='true' range='0 .97'><site site='s'/><site site='t'/><site site='u'/></spatial>"
         "</tendon><actuator><motor tendon='t' gear='-2'/></actuator></mujoco>",
     .before = .1,
     .h = 1e-5,
     .steps = 10},
    {.name = "a ball on the floor in air, implicit, with a ball's spring",
     .text = "<mujoco><option timestep='0.002' density='50' viscosity='.1' wind='1 0 0' "
             "integrator='implicit'/><worldbody>" FLOOR BALL
             "<body pos='1 0 1'><joint type='ball' stiffness='2'/><geom size='.1' pos='.2 0 0'/>"
             "</body></worldbody></mujoco>",
     .before = .05,
     .h = 1e-5,
     .steps = 10},
    {.name = "gravity taken off, a box that slides",
     .text = OF("gravity='6 1 -9' cone='elliptic'",
                FLOOR "<body pos='0 0 .198' gravcomp='.2'><freejoint/><geom mass='1' type='box' "
                      "size='.1 .1 .2' friction='.3 .1 .1'/></body>"),
     .h = 1e-6,
     .steps = 10},
    {.name = "activations: a filter, an integrator",
     .text = "<mujoco><option timestep='0.002'/><worldbody>" JOINTS "</worldbody><actuator>"
             "<general joint='b' dyntype='filter' dynprm='.02' gainprm='3' biastype='affine' "
             "biasprm='0 -2 -.1'/><general joint='c' dyntype='integrator' actlimited='true' "
             "actrange='-1 1' gainprm='5'/></actuator></mujoco>",
     .before = .1,
     .h = 1e-5,
     .steps = 10},
    {.name = "activations: at the end of the step, implicitfast",
     .text = "<mujoco><option timestep='0.002' integrator='implicitfast'/><worldbody>" JOINTS
             "</worldbody><actuator><general joint='b' dyntype='filterexact' dynprm='.01' "
             "gainprm='3' actearly='true'/><position joint='c' kp='9' timeconst='.02'/>"
             "</actuator></mujoco>",
     .before = .1,
     .h = 1e-5,
     .steps = 10},
    {.name = "activations: a muscle",
     .text = "<mujoco><option timestep='0.002'/><worldbody>" HANGS
             "</worldbody><tendon><spatial name='t'><site site='s'/><site site='t'/><site "
             "site='u'/></spatial></tendon><actuator><muscle tendon='t' force='20' range='.5 1.5' "
             "lengthrange='.3 1.5'/></actuator></mujoco>",
     .before = .1,
     .h = 1e-5,
     .steps = 10},
    {.name = "RK4, joints and motors",
     .text = "<mujoco><option timestep='0.002' integrator='RK4'/><worldbody>" JOINTS
             "</worldbody>" MOTORS "</mujoco>",
     .before = .1,
     .h = 1e-5,
     .steps = 10},
    {.name = "RK4, a ball that rolls",
     .text = OF("integrator='RK4' cone='elliptic'", FLOOR BALL),
     .h = 1e-6,
     .steps = 10},
    {.name = "RK4, a loop in air",
     .text = "<mujoco><option timestep='0.002' integrator='RK4' density='1.2'/><worldbody>" HANGS
             "</worldbody><equality><connect body1='b' body2='world' anchor='.3 .1 0'/>"
             "</equality></mujoco>",
     .before = .1,
     .h = 1e-5,
     .steps = 10},
    {.name = "a Stewart platform",
     .file = ZW_SOURCE_DIR "/examples/bodies/stewart.xml",
     .before = .1,
     .h = 1e-5,
     .steps = 4},
};

static void test_general(void **state)
{
    double worst = 0;
    (void)state;
    for (size_t k = 0; k < sizeof general / sizeof *general; k++) {
        worst = fmax(worst, compare(&general[k], 1));
    }
    assert_true(worst < 1e-8);
}

static void test_scenes(void **state)
{
    double worst = 0;
    (void)state;
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++) {
        worst = fmax(worst, compare(&scenes[k], 1));
    }
    assert_true(worst < 1e-8);
}

/* States that are run again give the same bits, and need little room. */
static void test_memory(void **state)
{
    const scene *of = &scenes[1];
    world w = begin(of);
    double found[2][12];
    weights own = {.system = w.system};
    zw_gradient gradient[2];
    (void)state;
    for (int i = 0; i < 12; i++) {
        own.weight[i] = 1 + 0.1 * i;
    }
    for (int k = 0; k < 2; k++) {
        const zw_gradient_plan plan = {.run = {.method = ZW_METHOD_SOFT},
                                       .steps = 400,
                                       .cost = cost,
                                       .user = &own,
                                       .memory = k ? 1 : 0};
        gradient[k] = (zw_gradient){.by_q = found[k], .by_v = found[k] + 6};
        assert_int_equal(zw_gradient_find(w.system, w.state, &plan, &gradient[k], &error), ZW_OK);
    }
    assert_memory_equal(found[0], found[1], sizeof found[0]);
    assert_true(gradient[0].cost == gradient[1].cost);
    assert_int_equal(gradient[0].steps, 800);
    assert_true(gradient[1].steps <= 1200 && gradient[1].memory * 9 < gradient[0].memory);
    world_end(&w);
}

/* A body that just touches: one of the two sides, and it is said. */
static void test_kink(void **state)
{
    const scene of = {
        .name = "kink", .text = OF("", FLOOR FREE("0 0 .1", "size='.1'")), .steps = 1};
    world w = begin(&of);
    weights own = {.system = w.system, .weight = {0, 0, 0, 0, 0, 0, 0, 0, 1}};
    double by[12], h = 1e-7;
    const zw_gradient_plan plan = {
        .run = {.method = ZW_METHOD_SOFT}, .steps = 3, .cost = cost, .user = &own};
    zw_gradient gradient = {.by_q = by, .by_v = by + 6};
    (void)state;
    state_v(w.state)[2] = 0;
    assert_int_equal(zw_gradient_find(w.system, w.state, &plan, &gradient, &error), ZW_OK);
    assert_true(gradient.kinks > 0 && gradient.kink);
    double here = run_from(&w, w.state, &plan, 2, 0, 0);
    double up = (4 * run_from(&w, w.state, &plan, 2, h, 0) -
                 run_from(&w, w.state, &plan, 2, 2 * h, 0) - 3 * here) /
                (2 * h);
    double down = (here - run_from(&w, w.state, &plan, 2, -h, 0)) / h;
    assert_true(fabs(by[2] - up) < 1e-6 * fabs(up)); /* it does not touch yet */
    assert_true(fabs(down - up) > fabs(up));
    world_end(&w);
}

/* One step: the same numbers as the way back, and as differences. */
static void compare_step(const scene *of)
{
    world w = begin(of);
    int n = w.system->n, params = w.system->shape.params, wide = 2 * n + params, kinks;
    double by[2 * WIDE * 40], size = 0, worst = 0, h = 1e-5;
    const zw_run_options options = {.method = ZW_METHOD_SOFT};
    assert_true(2 * n * wide < 2 * WIDE * 40);
    assert_int_equal(zw_step_slopes(w.system, w.state, &options, by, &kinks, &error), ZW_OK);
    for (int c = 0; c < wide; c++) {
        double v[4][WIDE];
        for (int k = 0; k < 4; k++) {
            static const double part[4] = {-2, -1, 1, 2};
            zw_state *at = NULL;
            double along[WIDE] = {0};
            assert_int_equal(zw_state_copy(w.state, &at, &error), ZW_OK);
            along[c < n ? c : 0] = 1;
            if (c < n) {
                system_move(w.system, state_q(at), h * part[k], along);
            } else {
                (c < 2 * n ? state_v(at) + c - n : state_param(at) + c - 2 * n)[0] += h * part[k];
            }
            zw_wake(at);
            assert_int_equal(zw_step(w.system, at, w.work, &options, &error), ZW_OK);
            memcpy(v[k], state_v(at), (size_t)n * sizeof(double));
            zw_state_free(at);
        }
        for (int i = 0; i < n; i++) {
            double d = (8 * (v[2][i] - v[1][i]) - (v[3][i] - v[0][i])) / (12 * h);
            size = fmax(size, fabs(d));
            worst = fmax(worst, fabs(d - by[(n + i) * wide + c]));
        }
    }
    printf("a step: size %.3g, worst %.1e\n", size, worst / size);
    assert_true(worst < 1e-8 * size);
    world_end(&w);
}

static void test_step(void **state)
{
    static const scene acts = {
        .text = "<mujoco><worldbody>" JOINTS "</worldbody><actuator><general joint='b' "
                "dyntype='filter' dynprm='.1' gainprm='3'/></actuator></mujoco>",
        .before = .1};
    (void)state;
    compare_step(&scenes[10]);
    compare_step(&acts);
}

/* What is not there is named. */
static void test_refused(void **state)
{
    static const scene of[] = {
        {.name = "activations in steps by MuJoCo's RK4",
         .text = "<mujoco><option integrator='RK4'/><worldbody>" JOINTS "</worldbody><actuator>"
                 "<general joint='b' dyntype='filter' dynprm='.1'/></actuator></mujoco>"},
        {.name = "equations", .file = ZW_SOURCE_DIR "/examples/double_pendulum.zw"}};
    (void)state;
    for (int k = 0; k < 2; k++) {
        world w = begin(&of[k]);
        const zw_gradient_plan plan = {.run = {.method = ZW_METHOD_SOFT}, .steps = 1, .cost = cost};
        zw_gradient gradient = {0};
        zw_error failure = {0};
        assert_int_equal(zw_gradient_find(w.system, w.state, &plan, &gradient, &failure),
                         ZW_BAD_INPUT);
        assert_non_null(strstr(failure.text, of[k].name));
        world_end(&w);
    }
    world w = begin(&scenes[1]);
    const zw_gradient_plan plan = {.run = {.method = ZW_METHOD_DOP853}, .steps = 1, .cost = cost};
    zw_gradient gradient = {0};
    assert_int_equal(zw_gradient_find(w.system, w.state, &plan, &gradient, NULL), ZW_BAD_INPUT);
    world_end(&w);
}

int main(int argc, char **argv)
{
    if (argc > 1) { /* FILE [BEFORE [STEPS [H]]] */
        const scene own = {.name = argv[1],
                           .file = argv[1],
                           .before = argc > 2 ? atof(argv[2]) : 0,
                           .steps = argc > 3 ? atol(argv[3]) : 10,
                           .h = argc > 4 ? atof(argv[4]) : 1e-5};
        compare(&own, 1);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scenes), cmocka_unit_test(test_general),
        cmocka_unit_test(test_memory), cmocka_unit_test(test_kink),
        cmocka_unit_test(test_step),   cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

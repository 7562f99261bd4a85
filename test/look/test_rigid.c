/* Derivatives of steps of method impulse against extrapolated central differences of whole steps:
 * contacts that stick, slide, roll, open, one and many of a body, loops, limits, friction of
 * joints, motors at the ends of their ranges, and numbers of the model. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rigid_differ.h"
#include "scene/campaign.h"
#include "zwang/sensitivity.h"

static double compare(const scene *of, int tell, int *flagged)
{
    world w = begin(of);
    int n = w.system->n, params = w.system->shape.params, wide = 2 * n + params, kinks = 0;
    size_t rows = 2 * (size_t)n;
    double *by = calloc(rows * (size_t)wide, sizeof *by), worst = 0;
    double *base = calloc((size_t)w.system->nq, sizeof *base), *y = calloc(3 * rows, sizeof *y);
    double *along = calloc((size_t)wide, sizeof *along);
    const zw_run_options options = plan_of(of);
    closed_rows closed = find_closed(&w);
    if (zw_step_slopes(w.system, w.state, &options, by, &kinks, &w.error) != ZW_OK) {
        printf("%-32s %s\n", of->name, w.error.text);
        worst = 1;
    }
    end_of(&w, of, NULL, 0, NULL, base);
    for (int c = 0; c < wide && worst < 1; c++) {
        direction(&closed, c, wide, along);
        double here = compare_along(&w, of, by, along, base, kinks, y);
        if (tell && here > 1e-8) {
            printf("  direction %d: off by %.2g\n", c, here);
        }
        worst = fmax(worst, here);
    }
    printf("%-32s n %3d  worst %.1e  kinks %d  closed %d\n", of->name, n, worst, kinks,
           closed.count);
    *flagged = kinks;
    free(by);
    free(base);
    free(y);
    free(along);
    free(closed.row);
    world_end(&w);
    return worst;
}

static void test_scenes(void **state)
{
    double worst = 0;
    int kinks;
    (void)state;
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++) {
        worst = fmax(worst, compare(&scenes[k], 1, &kinks));
    }
    assert_true(worst < 1e-8);
}

/* The lowest point runs so fast that rounds follow it only by its curvature. */
static void test_rim(void **state)
{
    static const scene of = {.name = "a coin that runs fast",
                             .text = OF("", FLOOR COIN("0 0 .1016", ".7 0 20")),
                             .before = .02,
                             .tolerance = 1e-15,
                             .speed = {0, 0, 0, 0, .3, .1}};
    int kinks = 0;
    (void)state;
    if (campaign_is_small()) {
        skip(); /* what it calls others call, and it takes as long as ten of them */
    }
    assert_true(compare(&of, 0, &kinks) < 1e-8);
    assert_int_equal(kinks, 0);
}

/* Two planar loops that are coupled, in $ZW_MODELS (or /work/shared/models): rows across the plane
 * are zero up to the digits of the file, and say nothing. */
static void test_gripper(void **state)
{
    const char *models = getenv("ZW_MODELS");
    char path[400];
    int kinks = 0;
    (void)state;
    snprintf(path, sizeof path, "%s/robotiq_2f85/2f85.xml",
             models ? models : "/work/shared/models");
    FILE *file = fopen(path, "r");
    if (!file) {
        printf("skipped: there is no %s\n", path);
        return;
    }
    fclose(file);
    const scene of = {.name = "two planar loops", .file = path, .before = .04, .tolerance = 1e-15};
    assert_true(compare(&of, 0, &kinks) < 1e-8);
}

/* ---- Whole motions --------------------------------------------------------------------------- */

enum { NUMBERS = 6 };

typedef struct motion {
    const char *name, *text;
    long steps;
    int controls, numbers;
    const char *number[NUMBERS];
    double value[NUMBERS];
} motion;

/* Where it ends, and how fast it is every third step. */
static double cost(void *user, long step, const zw_state *state, double *by_q, double *by_v)
{
    const zw_system *system = user;
    double sum = 0;
    zw_state *at = (zw_state *)state;
    for (int i = 0; i < system->n && step % 3 == 0; i++) {
        double v = state_v(at)[i], w = 0.3 + 0.2 * i;
        sum += w * v * (1 + 0.5 * v);
        by_v[i] = w * (1 + v);
    }
    for (int j = 0; j < system->tree->joints; j++) {
        const tree_joint *joint = &system->tree->joint[j];
        int places = joint->kind == TREE_FREE ? 3 : joint->kind == TREE_BALL ? 0 : 1;
        for (int k = 0; k < places; k++) {
            by_q[joint->v + k] = 1 + k;
            sum += (1 + k) * state_q(at)[joint->q + k];
        }
    }
    return sum;
}

static double control_of(long step, int c)
{
    return 0.4 * sin(0.7 * (double)step + c);
}

/* The cost of the motion where a number of the model, an initial speed, or a control is more. */
static zw_run_options options_of(zw_method method)
{
    return (zw_run_options){.method = method, .tolerance = method == ZW_METHOD_IMPULSE ? 1e-15 : 0};
}

static double cost_of(const motion *of, zw_method method, int number, int speed, long control,
                      double by)
{
    world w = {0};
    double sum = 0, none[400];
    const zw_run_options options = options_of(method);
    w.model = zw_model_parse(of->text, "test.xml", NULL, &w.error);
    assert_non_null(w.model);
    if (number >= 0) {
        assert_int_equal(
            zw_model_set(w.model, of->number[number], of->value[number] + by, &w.error), ZW_OK);
    }
    w.system = zw_system_compile(w.model, NULL, &w.error);
    w.work = zw_work_create(w.system, &w.error);
    w.state = zw_state_create(w.system, w.work, &w.assembly, &w.error);
    assert_non_null(w.state);
    if (speed >= 0) {
        state_v(w.state)[speed] += by;
        zw_wake(w.state);
    }
    for (long k = 0; k <= of->steps; k++) {
        memset(none, 0, sizeof none);
        sum += cost(w.system, k, w.state, none, none + 200);
        for (int c = 0; c < of->controls && k < of->steps; c++) {
            int param = w.system->bodies->motor[c].param;
            state_param(w.state)[param] =
                control_of(k, c) + (k * of->controls + c == control ? by : 0);
        }
        if (k < of->steps && zw_step(w.system, w.state, w.work, &options, &w.error) != ZW_OK) {
            fail_msg("%s: %s", of->name, w.error.text);
        }
    }
    world_end(&w);
    return sum;
}

static double difference(const motion *of, zw_method method, int number, int speed, long control,
                         double size)
{
    double best = INFINITY, found = 0;
    static const double length[] = {1e-6, 1e-5, 1e-4};
    for (size_t i = 0; i < sizeof length / sizeof *length; i++) {
        double h = length[i] * size, y[4];
        static const double part[4] = {-2, -1, 1, 2};
        for (int k = 0; k < 4; k++) {
            y[k] = cost_of(of, method, number, speed, control, h * part[k]);
        }
        double one = (y[2] - y[1]) / (2 * h), two = (y[3] - y[0]) / (4 * h);
        if (fabs(one - two) < best) {
            best = fabs(one - two);
            found = (4 * one - two) / 3;
        }
    }
    return found;
}

static const motion motions[] = {
    {.name = "a box thrown on the floor",
     .text = "<mujoco><option timestep='0.002'/><worldbody><geom name='floor' type='plane' "
             "size='5 5 1' friction='.01 0 0'/><body name='box' pos='0 0 .3' euler='10 20 "
             "0'><freejoint/><geom "
             "name='box' type='box' size='.2 .15 .1' mass='2' friction='.3 0 0'/></body>"
             "</worldbody></mujoco>",
     .steps = 114,
     .numbers = 4,
     .number = {"geom:box.friction", "geom:box.mass", "gravity", "geom:box.size.x"},
     .value = {.3, 2, 9.81, .2}},
    {.name = "an arm with a clamped motor",
     .text = "<mujoco><option timestep='0.005'/><worldbody>" ARM "</worldbody>" MOTORS "</mujoco>",
     .steps = 40,
     .controls = 3,
     .numbers = 3,
     .number = {"a.damping", "b.frictionloss", "b.stiffness"},
     .value = {.1, .7, 3}},
    {.name = "an arm with activations, one at its limit",
     .text =
         "<mujoco><option timestep='0.005'/><worldbody>" ARM "</worldbody><actuator><general "
         "joint='b' dyntype='filter' dynprm='.02' gainprm='30' biastype='affine' biasprm='0 -20 "
         "-1'/><general joint='c' dyntype='integrator' actlimited='true' actrange='-.002 .002' "
         "gainprm='500'/><general joint='b' dyntype='filterexact' dynprm='.03' "
         "gainprm='8'/></actuator></mujoco>",
     .steps = 40,
     .controls = 3,
     .numbers = 2,
     .number = {"a.damping", "b.stiffness"},
     .value = {.1, 3}},
    {.name = "a leg with a muscle and a motor that lands",
     .text = "<mujoco><option timestep='0.004'/><worldbody><geom name='floor' type='plane' size='5 "
             "5 1' friction='.9 0 0'/><body name='hip' pos='0 0 .62'><joint name='x' type='slide' "
             "axis='1 0 0'/><joint name='z' type='slide' axis='0 0 1'/><geom size='.05' mass='2' "
             "contype='0' conaffinity='0'/><body euler='0 40 0'><joint name='hip' axis='0 1 0' "
             "damping='.2'/><geom type='capsule' fromto='0 0 0 0 0 -.35' size='.03' mass='.7' "
             "contype='0' conaffinity='0'/><body name='shin' pos='0 0 -.35' euler='0 -70 0'><joint "
             "name='knee' axis='0 1 0' damping='.2'/><geom type='capsule' fromto='0 0 0 0 0 -.35' "
             "size='.03' mass='.5' friction='.9 0 0'/></body></body></body></worldbody><actuator>"
             "<muscle joint='knee' force='60' lengthrange='-2 2' range='.5 1.5'/><position "
             "joint='hip' kp='40' kv='2' timeconst='.03'/></actuator></mujoco>",
     .steps = 60,
     .controls = 2,
     .numbers = 2,
     .number = {"hip.mass", "gravity"},
     .value = {2, 9.81}},
};

static double compare_motion(const motion *of, zw_method method)
{
    world w = {0};
    w.model = zw_model_parse(of->text, "test.xml", NULL, &w.error);
    w.system = zw_system_compile(w.model, NULL, &w.error);
    w.work = zw_work_create(w.system, &w.error);
    w.state = zw_state_create(w.system, w.work, &w.assembly, &w.error);
    assert_non_null(w.state);
    int n = w.system->n, control[8];
    double value[400], by_control[400], by_number[NUMBERS], by_v[50], size = 0, worst = 0;
    for (int c = 0; c < of->controls; c++) {
        control[c] = w.system->bodies->motor[c].param;
    }
    for (long k = 0; k < of->steps * of->controls; k++) {
        value[k] = control_of(k / of->controls, (int)(k % of->controls));
    }
    const zw_gradient_plan plan = {.run = options_of(method),
                                   .steps = of->steps,
                                   .controls = of->controls,
                                   .control = control,
                                   .value = value,
                                   .cost = cost,
                                   .user = w.system,
                                   .numbers = of->numbers,
                                   .number = of->number,
                                   .model = w.model};
    zw_gradient to = {.by_control = by_control, .by_number = by_number, .by_v = by_v};
    if (zw_gradient_find(w.system, w.state, &plan, &to, &w.error) != ZW_OK) {
        fail_msg("%s: %s", of->name, w.error.text);
    }
    for (int i = 0; i < of->numbers + n + of->controls; i++) {
        int k = i - of->numbers;
        long at = k >= n ? 10 * of->controls + k - n : -1;
        double mine = k < 0 ? by_number[i] : k < n ? by_v[k] : by_control[at];
        double d = difference(of, method, k < 0 ? i : -1, k >= 0 && k < n ? k : -1, at,
                              k < 0 ? fabs(of->value[i]) : 1);
        size = fmax(size, fabs(d));
        worst = fmax(worst, fabs(mine - d));
        if (fabs(mine - d) > 1e-8 * (1 + fabs(d))) {
            printf("  %s: %.12g, by differences %.12g\n",
                   k < 0   ? of->number[i]
                   : k < n ? "speed"
                           : "control",
                   mine, d);
        }
    }
    printf("%-32s %-8s cost %.6g  size %.3g  worst %.1e  kinks %d\n", of->name,
           zw_method_name(method), to.cost, size, worst / size, to.kinks);
    world_end(&w);
    return worst / size;
}

static void test_motions(void **state)
{
    double worst = 0;
    (void)state;
    for (size_t k = 0; k < sizeof motions / sizeof *motions; k++) {
        worst = fmax(worst, compare_motion(&motions[k], ZW_METHOD_IMPULSE));
        worst = fmax(worst, compare_motion(&motions[k], ZW_METHOD_SOFT));
    }
    assert_true(worst < 1e-8);
}

/* If not all states fit, parts are run again: the same bits. */
static void test_memory(void **state)
{
    const motion *of = &motions[0];
    world w = {0};
    double by[2][12];
    (void)state;
    w.model = zw_model_parse(of->text, "test.xml", NULL, &w.error);
    w.system = zw_system_compile(w.model, NULL, &w.error);
    w.work = zw_work_create(w.system, &w.error);
    w.state = zw_state_create(w.system, w.work, &w.assembly, &w.error);
    assert_non_null(w.state);
    for (int k = 0; k < 2; k++) {
        const zw_gradient_plan plan = {.run = {.method = ZW_METHOD_IMPULSE},
                                       .steps = 60,
                                       .cost = cost,
                                       .user = w.system,
                                       .memory = (size_t)k};
        zw_gradient to = {.by_q = by[k], .by_v = by[k] + 6};
        assert_int_equal(zw_gradient_find(w.system, w.state, &plan, &to, &w.error), ZW_OK);
        assert_true(to.steps == 120 || (k == 1 && to.steps <= 180));
    }
    assert_memory_equal(by[0], by[1], sizeof by[0]);
    world_end(&w);
}

/* ---- Kinks ----------------------------------------------------------------------------------- */

/* One-sided differences along a direction, extrapolated: to[2 n]. */
static void differ_side(world *w, const scene *of, const double *along, double h,
                        const double *base, const double *here, double *y, double *to)
{
    size_t rows = 2 * (size_t)w->system->n;
    for (int k = 0; k < 3; k++) {
        end_of(w, of, along, (1 << k) * h, base, y + (size_t)k * rows);
    }
    for (size_t i = 0; i < rows; i++) {
        double one = (y[i] - here[i]) / h, two = (y[rows + i] - here[i]) / (2 * h);
        double four = (y[2 * rows + i] - here[i]) / (4 * h);
        to[i] = (8 * one - 6 * two + four) / 3;
    }
}

/* How far the slopes along a direction are from one side, of the largest. */
static double off_side(size_t rows, const double *mine, const double *side)
{
    double size = 1, worst = 0;
    for (size_t i = 0; i < rows; i++) {
        size = fmax(size, fabs(side[i]));
        worst = fmax(worst, fabs(side[i] - mine[i]));
    }
    return worst / size;
}

typedef struct kink {
    scene of;
    double control;
    int flagged;
} kink;

#define SLIDER(height, geom)                                                                       \
    "<body pos='0 0 " height                                                                       \
    "'><joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 1 0'/>"                       \
    "<joint type='slide' axis='0 0 1'/><geom mass='1' size='.1' " geom "/></body>"
#define ONE(joint, actuator)                                                                       \
    "<mujoco><option timestep='0.002' gravity='0 0 0'/><worldbody><body><joint name='a' "          \
    "type='slide' axis='1 0 0' " joint "/><geom size='.1' mass='2'/></body></worldbody>" actuator  \
    "</mujoco>"

static const kink kinks[] = {
    {{.name = "a ball that just touches",
      .text = OF("gravity='0 0 0'", FLOOR FREE("0 0 .1", "size='.1'"))},
     0,
     1},
    {{.name = "a ball that rests", .text = OF("", FLOOR FREE("0 0 .1", "size='.1'"))}, 0, 0},
    {{.name = "a ball that will land just at the end of the step",
      .text = OF("gravity='0 0 0'", FLOOR SLIDER(".101", "friction='.3 0 0'")),
      .speed = {0, 0, -.5}},
     0,
     1},
    {{.name = "a point about to slide",
      .text = OF("gravity='3 0 -10'", FLOOR SLIDER(".1", "friction='.3 0 0'"))},
     0,
     1},
    {{.name = "a joint at its limit", .text = ONE("limited='true' range='-1 0'", "")}, 0, 1},
    {{.name = "friction of a joint that just holds",
      .text = ONE("frictionloss='.5'", "<actuator><motor joint='a'/></actuator>")},
     .5,
     1},
    {{.name = "a motor at the end of its range",
      .text = ONE("", "<actuator><motor joint='a' forcelimited='true' forcerange='-.3 .3'/>"
                      "</actuator>")},
     .3,
     1},
};

/* Along every direction the answer is one of both sides, and the kink is flagged. */
static double compare_sides(const kink *of)
{
    world w = begin(&of->of);
    const zw_system *system = w.system;
    int n = system->n, wide = 2 * n + system->shape.params, found = 0;
    size_t rows = 2 * (size_t)n;
    double *by = calloc(rows * (size_t)wide, sizeof *by), worst = 0;
    double *base = calloc((size_t)system->nq, sizeof *base), *y = calloc(8 * rows, sizeof *y);
    double *along = calloc((size_t)wide, sizeof *along), *here = y + 3 * rows, *mine = here + rows;
    const zw_run_options options = plan_of(&of->of);
    for (int k = 0; k < system->bodies->motor_count; k++) {
        state_param(w.state)[system->bodies->motor[k].param] = of->control;
    }
    assert_int_equal(zw_step_slopes(system, w.state, &options, by, &found, &w.error), ZW_OK);
    end_of(&w, &of->of, NULL, 0, NULL, base);
    end_of(&w, &of->of, along, 0, base, here);
    for (int c = 0; c < wide; c++) {
        double off[2], two = 0;
        for (int side = 0; side < 2; side++) {
            double *d = y + (size_t)(5 + side) * rows;
            memset(along, 0, (size_t)wide * sizeof *along);
            along[c] = side ? -1 : 1;
            for (size_t i = 0; i < rows; i++) {
                mine[i] = along[c] * by[i * (size_t)wide + (size_t)c];
            }
            differ_side(&w, &of->of, along, 1e-6, base, here, y, d);
            off[side] = off_side(rows, mine, d);
        }
        two = fmin(off[0], off[1]);
        if (two > 1e-6) {
            printf("  direction %d: off by %.2g above, %.2g below\n", c, off[0], off[1]);
        }
        worst = fmax(worst, two);
    }
    printf("%-50s worst %.1e  kinks %d\n", of->of.name, worst, found);
    assert_int_equal(found > 0, of->flagged);
    free(by);
    free(base);
    free(y);
    free(along);
    world_end(&w);
    return worst;
}

static void test_kinks(void **state)
{
    double worst = 0;
    (void)state;
    for (size_t k = 0; k < sizeof kinks / sizeof *kinks; k++) {
        worst = fmax(worst, compare_sides(&kinks[k]));
    }
    assert_true(worst < 1e-6);
}

/* What is not there is named, and so is a number that is none. */
/* The radius of a ball that touches at the start opens or closes its contact; its mass does not. */
static void test_start(void **state)
{
    static const char *const number[] = {"geom:ball.mass", "geom:ball.size.x"};
    static const scene of = {
        .name = "touches",
        .text = OF("gravity='3 1 -9.81'", FLOOR FREE("0 0 .1", "name='ball' size='.1'"))};
    world w = begin(&of);
    (void)state;
    for (int k = 0; k < 2; k++) {
        double by;
        const zw_gradient_plan plan = {.run = {.method = ZW_METHOD_IMPULSE},
                                       .steps = 3,
                                       .cost = cost,
                                       .user = w.system,
                                       .numbers = 1,
                                       .number = number + k,
                                       .model = w.model};
        zw_gradient to = {.by_number = &by};
        assert_int_equal(zw_gradient_find(w.system, w.state, &plan, &to, &w.error), ZW_OK);
        assert_int_equal(to.kinks, k);
        double y[2], step = 4e-10; /* m: contacts count as closed up to 1e-9 */
        for (int i = 0; i < 2 && k == 1; i++) {
            assert_int_equal(zw_model_set(w.model, number[k], i ? .1 + step : .1 - step, &w.error),
                             ZW_OK);
            world beside = {.model = w.model, .system = zw_system_compile(w.model, NULL, &w.error)};
            const zw_gradient_plan there = {.run = {.method = ZW_METHOD_IMPULSE},
                                            .steps = 3,
                                            .cost = cost,
                                            .user = beside.system};
            zw_gradient of_it = {0};
            assert_int_equal(zw_gradient_find(beside.system, w.state, &there, &of_it, &w.error),
                             ZW_OK);
            y[i] = of_it.cost;
            beside.model = NULL;
            world_end(&beside);
        }
        if (k == 1) {
            double d = (y[1] - y[0]) / (2 * step);
            printf("by the radius: %.8g, by differences within 1e-9 m %.8g\n", by, d);
            assert_true(fabs(by - d) < 1e-4 * fabs(d));
        }
    }
    world_end(&w);
}

static void test_refused(void **state)
{
    static const char *const number[] = {"ghost.mass"};
    static const scene of = {.name = "refused", .text = OF("", FLOOR FREE("0 0 .1", "size='.1'"))};
    world w = begin(&of);
    zw_gradient to = {0};
    zw_gradient_plan plan = {.run = {.method = ZW_METHOD_IMPULSE, .tolerance = 1},
                             .steps = 1,
                             .cost = cost,
                             .user = w.system};
    (void)state;
    assert_int_equal(zw_gradient_find(w.system, w.state, &plan, &to, &w.error), ZW_BAD_INPUT);
    assert_non_null(strstr(w.error.text, "linearisation"));
    plan.run.tolerance = 0;
    plan.numbers = 1;
    plan.number = number;
    plan.model = w.model;
    assert_int_equal(zw_gradient_find(w.system, w.state, &plan, &to, &w.error), ZW_BAD_INPUT);
    assert_non_null(strstr(w.error.text, "ghost.mass"));
    world_end(&w);
}

int main(int argc, char **argv)
{
    if (argc > 1) { /* FILE [BEFORE [TOLERANCE]] */
        const scene own = {.name = argv[1],
                           .file = argv[1],
                           .before = argc > 2 ? atof(argv[2]) : 0,
                           .tolerance = argc > 3 ? atof(argv[3]) : 0};
        int flagged;
        compare(&own, 1, &flagged);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scenes),  cmocka_unit_test(test_rim),
        cmocka_unit_test(test_gripper), cmocka_unit_test(test_motions),
        cmocka_unit_test(test_memory),  cmocka_unit_test(test_kinks),
        cmocka_unit_test(test_start),   cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

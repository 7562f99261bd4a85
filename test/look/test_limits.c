/* Derivatives of an instant, and of a step, exactly where a motor reaches a limit or a force has a
 * corner: each column is that of one side, and there is a note. And motions whose forces are
 * formulas, or that depend on a number at which something switches. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../system/world.h"
#include "look/sensitivity/number.h"
#include "system/work.h"
#include "zwang/bodies.h"
#include "zwang/sensitivity.h"
#include "zwang/slopes.h"

enum { WIDE = 16 };

/* A cart with a pole, and what is added to it. */
#define ROBOT(joint, more)                                                                         \
    "<mujoco><option timestep='0.004'/><worldbody><body name='cart'><joint name='x' type='slide' " \
    "axis='1 0 0' damping='.1' " joint "/><geom type='box' size='.1 .1 .1' mass='1' contype='0' "  \
    "conaffinity='0'/><body name='pole'><joint name='p' axis='0 1 0'/><geom type='capsule' "       \
    "fromto='0 0 0 .1 0 .8' size='.02' mass='.3' contype='0' conaffinity='0'/><site name='tip' "   \
    "pos='.1 0 .8'/></body></body></worldbody>" more "</mujoco>"
#define MOTOR(attributes) "<actuator><general name='m' joint='x' " attributes "/></actuator>"

typedef struct scene {
    const char *name, *robot;
    const char *lines; /* of a file that imports it; NULL: the robot alone */
    double control;    /* of the robot alone */
    int smooth;        /* it is no kink */
} scene;

static const scene scenes[] = {
    {"inside", ROBOT("", MOTOR("ctrllimited='true' ctrlrange='-2 2'")),
     "param u = 1\nmotor r.m = u\n", 0, 1},
    {"beyond", ROBOT("", MOTOR("ctrllimited='true' ctrlrange='-2 2'")),
     "param u = 3\nmotor r.m = u\n", 0, 1},
    {"a control at its limit", ROBOT("", MOTOR("ctrllimited='true' ctrlrange='-2 2'")), NULL, 2, 0},
    {"a control by a formula", ROBOT("", MOTOR("ctrllimited='true' ctrlrange='-2 2'")),
     "param u = 2\nmotor r.m = u\n", 0, 0},
    {"at its lower limit", ROBOT("", MOTOR("ctrllimited='true' ctrlrange='-2 2'")),
     "param u = -2\nmotor r.m = u\n", 0, 0},
    {"by a formula of the motion", ROBOT("", MOTOR("ctrllimited='true' ctrlrange='-2 2'")),
     "param u = 2, k = 3\nmotor r.m = u - k*r.x - 2*k*r.p\n", 0, 0},
    {"a servo at its limit",
     ROBOT("", MOTOR("ctrllimited='true' ctrlrange='-2 2' biastype='affine' gainprm='20' "
                     "biasprm='0 -20 -1'")),
     "param u = 2\nmotor r.m = u\n", 0, 0},
    {"a control at its limit, through a filter",
     ROBOT("", MOTOR("ctrllimited='true' ctrlrange='-2 2' dyntype='filter' dynprm='.05'")),
     "param u = 2\nmotor r.m = u\n", 0, 0},
    {"a force at its limit", ROBOT("", MOTOR("forcelimited='true' forcerange='-2 2'")), NULL, 2, 0},
    {"a force by a formula", ROBOT("", MOTOR("forcelimited='true' forcerange='-2 2'")),
     "param u = 2\nmotor r.m = u\n", 0, 0},
    {"a limit of a joint's motors",
     ROBOT("actuatorfrclimited='true' actuatorfrcrange='-2 2'", MOTOR("")), NULL, 2, 0},
    {"that, by a formula", ROBOT("actuatorfrclimited='true' actuatorfrcrange='-2 2'", MOTOR("")),
     "param u = 2\nmotor r.m = u\n", 0, 0},
    {"a muscle without excitation",
     ROBOT("", "<actuator><muscle name='m' joint='x' lengthrange='-1 1' force='9'/></actuator>"),
     NULL, 0, 0},
    {"a muscle, fully excited",
     ROBOT("", "<actuator><muscle name='m' joint='x' lengthrange='-1 1' force='9'/></actuator>"),
     NULL, 1, 0},
    {"a corner of a formula", ROBOT("", MOTOR("")), "param u = 0\nmotor r.m = abs(u)\n", 0, 0},
    {"a corner in the motion", ROBOT("", MOTOR("")), "param u = 1\nmotor r.m = u*max(r.x, 2*r.p)\n",
     0, 0},
    {"a spring at the end of its slack",
     ROBOT("", "<tendon><fixed name='t' stiffness='50' springlength='0 1'><joint joint='x' "
               "coef='1'/><joint joint='p' coef='-.3'/></fixed></tendon>"),
     NULL, 0, 0},
    {"through space",
     ROBOT("", "<tendon><spatial name='t' stiffness='50' springlength='0 .5'><site site='tip'/>"
               "<site site='at'/></spatial></tendon><worldbody><site name='at' pos='.1 .3 .4'/>"
               "</worldbody>"),
     NULL, 0, 0},
};

static world begin(const scene *of)
{
    char text[400];
    const zw_file files[] = {{"r.xml", of->robot, strlen(of->robot)}};
    const zw_read_options options = {.files = files, .file_count = 1};
    world w = {0};
    snprintf(text, sizeof text, "import \"r.xml\" as r\n%s", of->lines ? of->lines : "");
    w.model = of->lines ? zw_model_parse(text, "r.zw", &options, &w.error)
                        : zw_model_parse(of->robot, "r.xml", NULL, &w.error);
    w.system = w.model ? zw_system_compile(w.model, NULL, &w.error) : NULL;
    w.work = w.system ? zw_work_create(w.system, &w.error) : NULL;
    w.state = w.work ? zw_state_create(w.system, w.work, NULL, &w.error) : NULL;
    if (!w.state) {
        fail_msg("%s: %s", of->name, w.error.text);
    }
    if (!of->lines && w.system->shape.params > 0) {
        state_param(w.state)[0] = of->control;
    }
    return w;
}

/* What is differentiated, beside the state: y of an instant (ZW_METHOD_DOP853) or a step. */
static void look(world *w, zw_method method, int column, double by, double *y)
{
    int n = w->system->n;
    zw_state *at = NULL;
    assert_int_equal(zw_state_copy(w->state, &at, &w->error), ZW_OK);
    (column < n       ? state_q(at) + column
     : column < 2 * n ? state_v(at) + column - n
                      : state_param(at) + column - 2 * n)[0] += by;
    zw_wake(at);
    if (method == ZW_METHOD_DOP853) {
        assert_int_equal(zw_forward(w->system, at, w->work, NULL, &w->error), ZW_OK);
        memcpy(y, w->work->a, (size_t)n * sizeof *y);
    } else {
        const zw_run_options options = {.method = method};
        assert_int_equal(zw_step(w->system, at, w->work, &options, &w->error), ZW_OK);
        memcpy(y, state_v(at), (size_t)n * sizeof *y);
    }
    zw_state_free(at);
}

/* A slope of one side: the error is h^4. */
static void one_side(world *w, zw_method method, int column, double h, double *to)
{
    static const double of[5] = {-25, 48, -36, 16, -3};
    double y[WIDE];
    int n = w->system->n;
    memset(to, 0, (size_t)n * sizeof *to);
    for (int k = 0; k < 5; k++) {
        look(w, method, column, k * h, y);
        for (int i = 0; i < n; i++) {
            to[i] += of[k] * y[i] / (12 * h);
        }
    }
}

/* by[column]: slopes of the n numbers. Returns how far the worst column is from the nearer side,
 * relative to all, by differences over h; *apart: how far both sides are from each other. */
static double compare(world *w, zw_method method, double by[][WIDE], double h, double *apart)
{
    int n = w->system->n, columns = 2 * n + w->system->shape.params;
    double worst = 0, most = 0;
    *apart = 0;
    for (int c = 0; c < columns; c++) {
        double side[2][WIDE], off[2] = {0, 0};
        for (int k = 0; k < 2; k++) {
            one_side(w, method, c, k ? -h : h, side[k]);
            for (int i = 0; i < n; i++) {
                off[k] = fmax(off[k], fabs(side[k][i] - by[c][i]));
                most = fmax(most, fabs(side[k][i]));
            }
        }
        for (int i = 0; i < n; i++) {
            *apart = fmax(*apart, fabs(side[0][i] - side[1][i]));
        }
        worst = fmax(worst, fmin(off[0], off[1]));
    }
    *apart /= most;
    return worst / most;
}

static int slopes_of(world *w, zw_method method, double by[][WIDE])
{
    int n = w->system->n, wide = 2 * n + w->system->shape.params, kinks = 0;
    if (method == ZW_METHOD_DOP853) {
        zw_slopes_answer answer;
        zw_slopes *slopes = zw_slopes_create(w->model, w->system, &w->error);
        if (!slopes) {
            fail_msg("%s", w->error.text);
        }
        assert_int_equal(zw_slopes_look(slopes, w->state, &answer, &w->error), ZW_OK);
        for (int c = 0; c < wide; c++) {
            int column = c < 2 * n ? c : zw_slopes_of_param(&answer, c - 2 * n);
            memcpy(by[c], answer.a_by + (size_t)column * (size_t)n, (size_t)n * sizeof **by);
        }
        kinks = answer.kinks;
        zw_slopes_free(slopes);
        return kinks;
    }
    double all[2 * WIDE * WIDE];
    const zw_run_options options = {.method = method};
    if (zw_step_slopes(w->system, w->state, &options, all, &kinks, &w->error) != ZW_OK) {
        fail_msg("%s", w->error.text);
    }
    for (int c = 0; c < wide; c++) {
        for (int i = 0; i < n; i++) {
            by[c][i] = all[(n + i) * wide + c];
        }
    }
    return kinks;
}

static void test_limits(void **state)
{
    static const zw_method methods[] = {ZW_METHOD_DOP853, ZW_METHOD_IMPULSE, ZW_METHOD_SOFT};
    static const char *const names[] = {"an instant", "impulse", "soft"};
    int faults = 0;
    (void)state;
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++) {
        for (int m = 0; m < (scenes[k].lines ? 2 : 3); m++) { /* soft has no formulas */
            world w = begin(&scenes[k]);
            double by[WIDE][WIDE], apart;
            int kinks = slopes_of(&w, methods[m], by);
            /* a step moves on, so that a corner of the start is some 1e-5 away: sides differ over
             * long ways then, of which one is ours, but not over short ones */
            double off = compare(&w, methods[m], by, 2e-4, &apart);
            compare(&w, methods[m], by, 1e-7, &apart);
            int fault = off > 1e-8 || (apart > 1e-5 && kinks == 0) || (scenes[k].smooth && kinks);
            printf("%-45s %-10s off %.1e, sides differ by %.1e, kinks %d%s\n", scenes[k].name,
                   names[m], off, apart, kinks, fault ? "  <--" : "");
            faults += fault;
            world_end(&w);
        }
    }
    assert_int_equal(faults, 0);
}

/* ---- Motions --------------------------------------------------------------------------------- */

/* The speeds at the end. */
typedef struct ending {
    int n;
    long steps;
} ending;

static double cost(void *user, long step, const zw_state *state, double *by_q, double *by_v)
{
    const ending *of = user;
    double sum = 0;
    (void)by_q;
    for (int i = 0; i < of->n && step == of->steps; i++) {
        by_v[i] = 1 + 0.3 * i;
        sum += by_v[i] * state_v((zw_state *)state)[i];
    }
    return sum;
}

static double run_from(world *w, zw_state *start, zw_method method, long steps)
{
    const ending of = {w->system->n, steps};
    const zw_run_options options = {.method = method, .tolerance = 1e-13};
    double ignored[WIDE];
    zw_state *at = NULL;
    assert_int_equal(zw_state_copy(start, &at, &w->error), ZW_OK);
    zw_wake(at);
    for (long k = 0; k < steps; k++) {
        assert_int_equal(zw_step(w->system, at, w->work, &options, &w->error), ZW_OK);
    }
    double sum = cost((void *)&of, steps, at, ignored, ignored);
    zw_state_free(at);
    return sum;
}

#define BALL(joints, more)                                                                         \
    "<mujoco><option timestep='0.004'/><worldbody><geom name='floor' type='plane' size='9 9 1' "   \
    "friction='.3 0 0'/><body name='b' pos='0 0 .16'>" joints                                      \
    "<geom name='ball' size='.1' mass='1' friction='%s 0 0'/><site name='s' pos='.02 0 .05'/>"     \
    "</body></worldbody>" more "</mujoco>"
#define PLANAR                                                                                     \
    "<joint name='x' type='slide' axis='1 0 0'/><joint name='z' type='slide' axis='0 0 1'/>"       \
    "<joint name='h' axis='0 1 0'/>"

/* Forces and controls that are formulas of time and of the motion, where a body lands within a
 * step: what comes after that comes at another time. */
static void test_formulas(void **state)
{
    static const scene of[] = {
        {"a force of time", BALL("<freejoint/>", ""),
         "param k = 9, w = 30\nforce (k*sin(w*t), 2*cos(w*t), 3*sin(w*t)) at r.s\n", 0, 0},
        {"activations by formulas",
         BALL(PLANAR, "<actuator><general name='m' joint='h' dyntype='filter' dynprm='.02'/>"
                      "<general name='n' joint='x' dyntype='integrator' gainprm='3'/></actuator>"),
         "param k = 9, w = 30\nmotor r.m = k*sin(w*t) - r.h'\nmotor r.n = 3*cos(w*t) + k*r.z'\n", 0,
         0}};
    (void)state;
    for (size_t s = 0; s < sizeof of / sizeof *of; s++) {
        static const double part[4] = {-2, -1, 1, 2}, speed[6] = {1, -1, -.5, .4, .2, .1};
        char robot[1200];
        snprintf(robot, sizeof robot, of[s].robot, ".4");
        scene it = of[s];
        it.robot = robot;
        world w = begin(&it);
        ending end = {w.system->n, 40};
        double by[2][WIDE], worst = 0, most = 0, h = 1e-4;
        int n = w.system->n, params = w.system->shape.params;
        memcpy(state_v(w.state), speed, (size_t)n * sizeof *speed);
        const zw_gradient_plan plan = {.run = {.method = ZW_METHOD_IMPULSE, .tolerance = 1e-13},
                                       .steps = end.steps,
                                       .cost = cost,
                                       .user = &end};
        zw_gradient to = {.by_v = by[0], .by_param = by[1]};
        assert_int_equal(zw_gradient_find(w.system, w.state, &plan, &to, &w.error), ZW_OK);
        for (int c = 0; c < n + params; c++) {
            double y[4], *x = c < n ? state_v(w.state) + c : state_param(w.state) + c - n, was = *x;
            for (int k = 0; k < 4; k++) {
                *x = was + h * part[k];
                y[k] = run_from(&w, w.state, ZW_METHOD_IMPULSE, end.steps);
            }
            *x = was;
            double d = (8 * (y[2] - y[1]) - (y[3] - y[0])) / (12 * h);
            worst = fmax(worst, fabs(d - by[c >= n][c >= n ? c - n : c]));
            most = fmax(most, fabs(d));
        }
        printf("%-30s size %.3g  worst %.1e  kinks %d\n", it.name, most, worst / most, to.kinks);
        assert_true(worst < 1e-8 * most && to.kinks == 0);
        world_end(&w);
    }
}

/* Of two frictions the larger one counts: by one of two that are equal there is a kink. */
static void test_numbers(void **state)
{
    static const char *const number[] = {"floor.friction"}, *const other[] = {".3", ".2"};
    (void)state;
    for (int k = 0; k < 4; k++) {
        zw_method method = k < 2 ? ZW_METHOD_IMPULSE : ZW_METHOD_SOFT;
        char robot[1200];
        double by, y[3], h = 1e-5;
        snprintf(robot, sizeof robot, BALL("<freejoint/>", ""), other[k % 2]);
        world w = begin(&(scene){.name = "a ball", .robot = robot});
        ending end = {w.system->n, 40};
        state_v(w.state)[0] = 2;
        const zw_gradient_plan plan = {.run = {.method = method},
                                       .steps = end.steps,
                                       .cost = cost,
                                       .user = &end,
                                       .numbers = 1,
                                       .number = number,
                                       .model = w.model};
        zw_gradient to = {.by_number = &by};
        assert_int_equal(zw_gradient_find(w.system, w.state, &plan, &to, &w.error), ZW_OK);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(zw_model_set(w.model, number[0], 0.3 + i * h, &w.error), ZW_OK);
            world there = {.model = w.model, .system = zw_system_compile(w.model, NULL, &w.error)};
            there.work = zw_work_create(there.system, &w.error);
            y[i] = run_from(&there, w.state, method, end.steps);
            there.model = NULL;
            world_end(&there);
        }
        double up = (4 * y[1] - 3 * y[0] - y[2]) / (2 * h);
        printf("by the friction of the floor: %.8g, up %.8g, kinks %d\n", by, up, to.kinks);
        assert_true(fabs(by - up) < 1e-5 * fabs(up));
        assert_int_equal(to.kinks > 0, k % 2 == 0);
        world_end(&w);
    }
}

/* Adhesion acts at points of the start of a step: not by impulse, yet. */
static void test_refused(void **state)
{
    static const char robot[] =
        BALL("<freejoint/>", "<actuator><adhesion body='b' ctrlrange='0 1' gain='30'/></actuator>");
    char text[1200];
    double by[2 * WIDE * WIDE];
    const zw_run_options options = {.method = ZW_METHOD_IMPULSE};
    (void)state;
    snprintf(text, sizeof text, robot, ".3");
    world w = begin(&(scene){.name = "adhesion", .robot = text});
    assert_int_equal(zw_step_slopes(w.system, w.state, &options, by, NULL, &w.error), ZW_BAD_INPUT);
    assert_non_null(strstr(w.error.text, "adhesion"));
    world_end(&w);
}

/* Beside a momentum of more inertia, a small one with drag that bends at -BEND: the bend is seen in
 * what exceeds the round-off of that momentum, and shorter steps avoid it. */
#define BEND 0.168

static int look_bent(void *user, double by, double *y)
{
    (void)user;
    y[0] = 0.03 * by;
    y[1] = 4e-3 * by + 4e-9 * (by + BEND) * fabs(by + BEND);
    return 1;
}

static void test_bend(void **state)
{
    (void)state;
    const number_each each[2] = {{1e-17, 0.03}, {1e-17, 4e-3}};
    double here[2], scratch[10], slope[2];
    look_bent(NULL, 0, here);
    const number_way way = {.look = look_bent,
                            .step = 0.1,
                            .tries = 4,
                            .enough = NUMBER_ENOUGH,
                            .count = 2,
                            .y0 = here,
                            .noise = 1e-12,
                            .each = each,
                            .scratch = scratch};
    assert_int_equal(number_along(&way, slope), 1);
    assert_true(fabs(slope[0] - 0.03) < 1e-14);
    assert_true(fabs(slope[1] - 4e-3 - 8e-9 * BEND) < 1e-14);
}

/* A large smooth function, and a small one with a kink of its slope at `at`. The systems of a
 * number stand at multiples of two steps about it; a kink is here if it is nearer than 1e-9, and
 * otherwise the slopes are those of the side on which the number is. */
typedef struct kinked {
    double step[2], at;
} kinked;

static void kinked_value(const kinked *it, double x, double *y)
{
    y[0] = 100 * sin(x);
    y[1] = 3 * exp(x) + 2 * fabs(x - it->at);
}

static int look_kinked(void *user, int k, double *y)
{
    const kinked *it = user;
    kinked_value(it, number_place[k % 4] * it->step[k / 4], y);
    return 1;
}

static void test_kinks_of_numbers(void **state)
{
    static const double at[] = {2.5e-10, -2.5e-10, 3e-9,   -3e-9,   7e-7, -7e-7, 1.27e-6, -1.27e-6,
                                1.9e-6,  -1.9e-6,  3e-6,   -3e-6,   2e-5, -2e-5, 1.4e-4,  -1.4e-4,
                                2.4e-4,  -2.4e-4,  4.8e-4, -4.8e-4, 1e-3, -1e-3};
    (void)state;
    for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
        kinked it = {{0x1p-12, 0x1p-19}, at[k]};
        const number_systems of = {.step = {0x1p-12, 0x1p-19}};
        double here[2], scratch[8], slope[2];
        kinked_value(&it, 0, here);
        int found = number_differ(&of, 2, look_kinked, &it, here, 1e-14, scratch, slope);
        double up = 5, down = 1, side = at[k] > 0 ? down : up;
        assert_int_equal(found, fabs(at[k]) < 1e-9 ? 2 : 1);
        assert_true(fabs(slope[0] - 100) < 1e-7);
        assert_true(fabs(slope[1] - (found == 2 ? up : side)) < (found == 2 ? 1e-3 : 1e-8));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits),  cmocka_unit_test(test_formulas),
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_bend),    cmocka_unit_test(test_kinks_of_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Fits of robots: derivatives of motions with respect to starts, speeds, controls and numbers of
 * the model, compared with differences of whole motions, for both methods; masses, friction and
 * dampers from noisy motions; undetermined parameters; refused input. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "look/sensitivity/robot.h"
#include "path/path.h"

#include "../system/world.h"
#include "zwang/bodies.h"
#include "zwang/fit.h"

static zw_error error;

#define ARM                                                                                        \
    "<mujoco><compiler angle='radian'/><option timestep='0.005'/><default><geom contype='0' "      \
    "conaffinity='0'/></default><worldbody><body name='upper'><joint name='a' axis='0 1 0' "       \
    "damping='.3'/><inertial pos='0 0 -.21' mass='2.5' diaginertia='.045 .05 .01'/><geom "         \
    "size='.01'/><body name='fore' pos='0 0 -.4'><joint name='b' axis='0 1 0' damping='.2'/>"      \
    "<inertial pos='0 0 -.15' mass='1.2' diaginertia='.01 .012 .003'/><geom size='.01'/></body>"   \
    "</body></worldbody><actuator><motor name='u' joint='b'/></actuator><keyframe><key qpos='.7 "  \
    "-.4' ctrl='.5'/></keyframe></mujoco>"
#define BOX                                                                                        \
    "<mujoco><option timestep='0.01'/><worldbody><geom name='floor' type='plane' size='5 5 1' "    \
    "friction='.01 0 0'/><body name='box' pos='0 0 .1'><freejoint name='f'/><geom name='shape' "   \
    "type='box' size='.2 .2 .1' mass='2' friction='.3 0 0'/></body></worldbody></mujoco>"

#define FOUR_BAR                                                                                   \
    "<mujoco><option timestep='0.005'/><default><geom contype='0' conaffinity='0' type='capsule' " \
    "size='.02'/></default><worldbody><body name='crank'><joint name='a' axis='0 1 0' "            \
    "damping='.1'/><geom name='crank' mass='1' fromto='0 0 0 .3 0 0'/><body name='rod' pos='.3 0 " \
    "0'><joint name='b' axis='0 1 0'/><geom name='rod' mass='.7' fromto='0 0 0 .4 0 .3'/></body>"  \
    "</body><body name='rocker' pos='.5 0 0'><joint name='c' axis='0 1 0'/><geom mass='.5' "       \
    "fromto='0 0 0 .2 0 .3'/></body></worldbody><equality><connect body1='rod' body2='rocker' "    \
    "anchor='.4 0 .3'/></equality></mujoco>"

static world begin(const char *text)
{
    world w = {0};
    w.model = zw_model_parse(text, "test.xml", NULL, &w.error);
    if (w.model && zw_model_count(w.model, ZW_KIND_KEY) > 0) {
        zw_key_def key = *(const zw_key_def *)zw_model_def(w.model, ZW_KIND_KEY, 0);
        key.start = 1;
        zw_model_change(w.model, ZW_KIND_KEY, 0, &key, &w.error);
    }
    w.system = w.model ? zw_system_compile(w.model, NULL, &w.error) : NULL;
    w.work = w.system ? zw_work_create(w.system, &w.error) : NULL;
    w.state = w.work ? zw_state_create(w.system, w.work, &w.assembly, &w.error) : NULL;
    if (!w.state) {
        fail_msg("%s", w.error.text);
    }
    return w;
}

/* ---- Slopes ---------------------------------------------------------------------------------- */

typedef struct end {
    double q[16], v[16], z[16 * 32];
    int nq, n, count;
} end;

static int keep(void *user, long step, const zw_state *state, const double *z)
{
    end *to = user;
    (void)step;
    memcpy(to->q, state_q((zw_state *)state), (size_t)to->nq * sizeof(double));
    memcpy(to->v, state_v((zw_state *)state), (size_t)to->n * sizeof(double));
    memcpy(to->z, z, 2 * (size_t)to->n * (size_t)to->count * sizeof(double));
    return 0;
}

static end motion(const robot_problem *p, const double *x)
{
    end to = {.nq = p->system->nq, .n = p->system->n, .count = p->count};
    if (robot_follow(p, x, keep, &to, NULL, &error) != ZW_OK) {
        fail_msg("%s", error.text);
    }
    return to;
}

static double compare(const char *text, const char *name, zw_method method,
                      const zw_unknown *unknown, int count, const char *const *number, double time)
{
    world w = begin(text);
    robot_problem p = {.system = w.system,
                       .model = w.model,
                       .unknown = unknown,
                       .count = count,
                       .number = number,
                       .end = time};
    const zw_run_options wish = {.method = method, .time = time, .tolerance = 1e-15};
    double x[16], worst = 0;
    assert_int_equal(robot_plan(w.system, w.state, &wish, &p.run, &error), ZW_OK);
    assert_int_equal(robot_check(&p, &error), ZW_OK);
    for (int k = 0; k < count; k++) {
        assert_int_equal(robot_origin(&p, k, w.state, &x[k], &error), ZW_OK);
    }
    end at = motion(&p, x);
    for (int k = 0; k < count; k++) {
        static const double part[4] = {-2, -1, 1, 2};
        double h = 1e-3 * (fabs(x[k]) > 0 ? fabs(x[k]) : 1), was = x[k];
        end y[4];
        for (int i = 0; i < 4; i++) {
            x[k] = was + part[i] * h;
            y[i] = motion(&p, x);
        }
        x[k] = was;
        const double *z = at.z + 2 * at.n * k;
        for (int c = 0; c < at.nq + at.n; c++) {
            int speed = c >= at.nq;
            double f[4], own = speed ? z[at.n + c - at.nq] : robot_coordinate(w.system, at.q, z, c);
            for (int i = 0; i < 4; i++) {
                f[i] = speed ? y[i].v[c - at.nq] : y[i].q[c];
            }
            double d = (8 * (f[2] - f[1]) - (f[3] - f[0])) / (12 * h);
            worst = fmax(worst, fabs(d - own) / (1 + fabs(d)));
        }
    }
    printf("%-24s %s: off by %.1e\n", name, zw_method_name(method), worst);
    world_end(&w);
    return worst;
}

static void test_slopes(void **state)
{
    static const char *const of_arm[] = {"fore.mass", "upper.inertia.y", "b.damping", "gravity"};
    static const char *const of_box[] = {"floor.friction", "shape.friction", "shape.mass"};
    static const zw_unknown arm[] = {{ZW_UNKNOWN_START, 0},  {ZW_UNKNOWN_SPEED, 1},
                                     {ZW_UNKNOWN_PARAM, 0},  {ZW_UNKNOWN_NUMBER, 0},
                                     {ZW_UNKNOWN_NUMBER, 1}, {ZW_UNKNOWN_NUMBER, 2},
                                     {ZW_UNKNOWN_NUMBER, 3}};
    static const zw_unknown box[] = {{ZW_UNKNOWN_SPEED, 0},
                                     {ZW_UNKNOWN_SPEED, 1},
                                     {ZW_UNKNOWN_NUMBER, 1},
                                     {ZW_UNKNOWN_NUMBER, 2}};
    (void)state;
    assert_true(compare(ARM, "an arm", ZW_METHOD_IMPULSE, arm, 7, of_arm, 0.3) < 1e-8);
    assert_true(compare(ARM, "an arm", ZW_METHOD_SOFT, arm, 7, of_arm, 0.3) < 1e-8);
    static const char *const of_bars[] = {"geom:rod.mass", "gravity"};
    static const zw_unknown bars[] = {{ZW_UNKNOWN_START, 0},
                                      {ZW_UNKNOWN_SPEED, 0},
                                      {ZW_UNKNOWN_NUMBER, 0},
                                      {ZW_UNKNOWN_NUMBER, 1}};
    assert_true(compare(FOUR_BAR, "a loop", ZW_METHOD_IMPULSE, bars, 4, of_bars, 0.2) < 1e-8);
    assert_true(compare(FOUR_BAR, "a loop", ZW_METHOD_SOFT, bars, 4, of_bars, 0.2) < 1e-8);
    char moving[1000];
    snprintf(moving, sizeof moving,
             "%.*s<keyframe><key qpos='0 0 .1 1 0 0 0' qvel='2 .5 0 0 0 0'/>"
             "</keyframe></mujoco>",
             (int)(strlen(BOX) - strlen("</mujoco>")), BOX);
    assert_true(compare(moving, "a box that slides", ZW_METHOD_IMPULSE, box, 4, of_box, 0.1) <
                1e-8);
}

/* ---- Fits ------------------------------------------------------------------------------------ */

typedef struct tape {
    zw_path *path;
    unsigned seed;
    double noise;
} tape;

static double normal(unsigned *seed)
{
    double sum = 0;
    for (int k = 0; k < 12; k++) {
        *seed = *seed * 1664525u + 1013904223u;
        sum += (double)(*seed >> 8) / 16777216.0;
    }
    return sum - 6;
}

static int record(void *user, long step, const zw_state *state, const double *z)
{
    tape *to = user;
    zw_path *path = to->path;
    (void)z;
    path->t[step] = state->t;
    for (int i = 0; i < path->n; i++) {
        path->q[step * path->n + i] = state_q((zw_state *)state)[i] + to->noise * normal(&to->seed);
    }
    return 0;
}

static void test_masses(void **state)
{
    static const char *const number[] = {"upper.mass", "fore.mass", "a.damping", "b.damping"};
    static const zw_unknown by[] = {{ZW_UNKNOWN_NUMBER, 0},
                                    {ZW_UNKNOWN_NUMBER, 1},
                                    {ZW_UNKNOWN_NUMBER, 2},
                                    {ZW_UNKNOWN_NUMBER, 3}};
    const double truth[] = {2.5, 1.2, 0.3, 0.2}, first[] = {2.2, 1.3, 0.2, 0.3};
    (void)state;
    world w = begin(ARM);
    robot_problem p = {.system = w.system, .end = 0.8};
    const zw_run_options wish = {.time = 0.8};
    assert_int_equal(robot_plan(w.system, w.state, &wish, &p.run, &error), ZW_OK);
    tape to = {.path = path_allocate(w.system, 161, 0, &error), .seed = 7, .noise = 0.003};
    assert_int_equal(robot_follow(&p, NULL, record, &to, NULL, &error), ZW_OK);
    assert_int_equal(path_finish(to.path, &error), ZW_OK);
    for (int k = 0; k < 4; k++) {
        assert_int_equal(zw_model_set(w.model, number[k], first[k], &error), ZW_OK);
    }
    const zw_path *list[] = {to.path};
    const zw_fit_problem problem = {.unknown = by,
                                    .unknowns = 4,
                                    .recording = list,
                                    .recordings = 1,
                                    .number = number,
                                    .model = w.model};
    zw_fit *fit = zw_fit_create(w.model, w.system, &problem, &error);
    if (!fit) {
        fail_msg("%s", error.text);
    }
    for (int k = 0; k < 4; k++) {
        zw_fit_estimate x = zw_fit_look(fit, k);
        printf("%-16s %.5f +- %.5f, is %.5f\n", zw_fit_name(fit, k), x.value, x.error, truth[k]);
        assert_true(fabs(x.value - truth[k]) < 4 * x.error && x.error < 0.1 * truth[k]);
        double now;
        assert_int_equal(zw_model_get(w.model, number[k], &now, &error), ZW_OK);
        assert_true(now == first[k]);
    }
    zw_fit_free(fit);
    zw_path_free(to.path);
    world_end(&w);
}

/* Of a swing only the ratio of its weight to its inertia is in its motion. */
static void test_nulls(void **state)
{
    static const char *const number[] = {"bob.mass", "bob.inertia.y"};
    static const zw_unknown by[] = {{ZW_UNKNOWN_NUMBER, 0}, {ZW_UNKNOWN_NUMBER, 1}};
    (void)state;
    world w = begin("<mujoco><option timestep='.01'/><worldbody><body name='bob'><joint name='a' "
                    "axis='0 1 0'/><inertial pos='0 0 -.5' mass='1' diaginertia='.1 .12 .1'/><geom "
                    "size='.01'/></body></worldbody><keyframe><key qpos='1'/></keyframe></mujoco>");
    robot_problem p = {.system = w.system, .end = 1};
    const zw_run_options wish = {.time = 1};
    assert_int_equal(robot_plan(w.system, w.state, &wish, &p.run, &error), ZW_OK);
    tape to = {.path = path_allocate(w.system, 101, 0, &error), .seed = 3, .noise = 0.003};
    assert_int_equal(robot_follow(&p, NULL, record, &to, NULL, &error), ZW_OK);
    assert_int_equal(path_finish(to.path, &error), ZW_OK);
    const zw_path *list[] = {to.path};
    const zw_fit_problem problem = {.unknown = by,
                                    .unknowns = 2,
                                    .recording = list,
                                    .recordings = 1,
                                    .number = number,
                                    .model = w.model};
    zw_fit *fit = zw_fit_create(w.model, w.system, &problem, &error);
    assert_non_null(fit);
    assert_int_equal(zw_fit_report_of(fit).nulls, 1);
    const double *null = zw_fit_null(fit, 0);
    double ratio = null[1] / null[0], mass = zw_fit_look(fit, 0).value;
    assert_true(fabs(ratio - zw_fit_look(fit, 1).value / mass) < 1e-4);
    zw_fit_free(fit);
    zw_path_free(to.path);
    world_end(&w);
}

static void test_refused(void **state)
{
    static const zw_unknown bad[] = {
        {ZW_UNKNOWN_START, 4}, {ZW_UNKNOWN_PARAM, 3}, {ZW_UNKNOWN_START, 99}};
    (void)state;
    world w = begin(BOX);
    for (int k = 0; k < 3; k++) {
        robot_problem p = {.system = w.system, .unknown = &bad[k], .count = 1, .end = 1};
        assert_int_equal(robot_check(&p, &error), ZW_BAD_INPUT);
    }
    const zw_run_options wish = {.time = 1, .method = ZW_METHOD_RK4};
    zw_run_options plan;
    assert_int_equal(robot_plan(w.system, w.state, &wish, &plan, &error), ZW_BAD_INPUT);
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slopes),
        cmocka_unit_test(test_masses),
        cmocka_unit_test(test_nulls),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

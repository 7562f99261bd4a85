/* Derivatives of an instant of robots by numbers of their models (masses, inertias, lengths,
 * friction, damping, gravity) against extrapolated differences of zw_forward of changed models. */
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
#include "zwang/slopes.h"

enum { MOST = 6 };

typedef struct scene {
    const char *name, *file, *text;
    const char *number[MOST];
} scene;

static const scene scenes[] = {
    {.name = "two links",
     .text = "<mujoco><worldbody><body name='upper'><joint name='shoulder' axis='0 1 0' "
             "damping='.2'/><inertial pos='0 0 -.2' mass='2' diaginertia='.03 .03 .01'/><body "
             "name='fore' pos='0 0 -.4'><joint name='elbow' axis='0 1 .3' damping='.1' "
             "stiffness='2'/><inertial pos='0 .02 -.15' mass='1' diaginertia='.02 .02 "
             ".01'/></body></body></worldbody></mujoco>",
     .number = {"upper.mass", "fore.mass", "fore.inertia.y", "fore.com.z", "elbow.stiffness",
                "gravity"}},
    {.name = "a ball that slides",
     .text = "<mujoco><worldbody><geom name='floor' type='plane' size='5 5 1' friction='.01 0 "
             "0'/><body name='ball' pos='0 0 .1'><freejoint/><geom name='ball' size='.1' mass='1' "
             "friction='.3 0 0'/></body></worldbody></mujoco>",
     .number = {"geom:ball.friction", "geom:ball.mass", "gravity"}},
    {.name = "a Stewart platform",
     .file = ZW_SOURCE_DIR "/examples/bodies/stewart.xml",
     .number = {"platform.mass", "gravity"}},
    {.name = "an arm on a rail with dry friction",
     .text = "<mujoco><worldbody><body name='cart'><joint name='rail' type='slide' axis='1 0 0' "
             "frictionloss='.5'/><geom name='cart' type='box' size='.2 .1 .1' mass='3' contype='0' "
             "conaffinity='0'/><body name='pole'><joint name='pin' axis='0 1 0' "
             "armature='.02'/><geom name='pole' type='capsule' fromto='0 0 0 0 0 .6' size='.03' "
             "mass='.4' contype='0' conaffinity='0'/></body></body></worldbody></mujoco>",
     .number = {"rail.frictionloss", "pin.armature", "geom:pole.mass", "geom:cart.mass",
                "gravity"}},
};

static zw_model *read(const scene *of, zw_error *error)
{
    return of->file ? zw_model_read(of->file, NULL, error)
                    : zw_model_parse(of->text, "test.xml", NULL, error);
}

/* Accelerations with a number changed by so much, at the state of w. */
static void accelerate(const scene *of, const world *w, int number, double by, double *a)
{
    zw_error error = {0};
    zw_model *model = read(of, &error);
    double value = 0;
    assert_int_equal(zw_model_get(model, of->number[number], &value, &error), ZW_OK);
    assert_int_equal(zw_model_set(model, of->number[number], value + by, &error), ZW_OK);
    zw_system *system = zw_system_compile(model, NULL, &error);
    zw_work *work = zw_work_create(system, &error);
    zw_state *state = zw_state_create(system, work, NULL, &error);
    assert_non_null(state);
    memcpy(state_q(state), state_q(w->state), (size_t)system->nq * sizeof(double));
    memcpy(state_v(state), state_v(w->state), (size_t)system->n * sizeof(double));
    memcpy(state_mode(state), state_mode(w->state),
           (size_t)system->model->constraint_count * sizeof(double));
    if (zw_forward(system, state, work, NULL, &error) != ZW_OK) {
        fail_msg("%s: %s", of->name, error.text);
    }
    memcpy(a, zw_field(system, state, work, ZW_FIELD_A).data, (size_t)system->n * sizeof *a);
    zw_state_free(state);
    zw_work_free(work);
    zw_system_free(system);
    zw_model_free(model);
}

static double compare(const scene *of)
{
    world w = {0};
    zw_slopes_answer answer;
    double worst = 0, a[4][32];
    int count = 0;
    while (count < MOST && of->number[count]) {
        count++;
    }
    w.model = read(of, &w.error);
    w.system = w.model ? zw_system_compile(w.model, NULL, &w.error) : NULL;
    w.work = w.system ? zw_work_create(w.system, &w.error) : NULL;
    w.state = w.work ? zw_state_create(w.system, w.work, NULL, &w.error) : NULL;
    if (!w.state) {
        fail_msg("%s: %s", of->name, w.error.text);
    }
    for (int i = 0; i < w.system->n && !of->file; i++) {
        state_q(w.state)[i] += w.system->nq == w.system->n ? 0.4 + 0.1 * i : 0;
        state_v(w.state)[i] = i == 2 && w.system->n == 6 ? 0 : 0.3 + 0.4 * i; /* on the floor */
    }
    zw_wake(w.state);
    const zw_run_options options = {.time = 0.01, .method = ZW_METHOD_IMPULSE};
    zw_run_summary summary; /* what slides is known to */
    if (zw_run(w.system, w.state, w.work, &options, &summary, &w.error) != ZW_OK) {
        fail_msg("%s: %s", of->name, w.error.text);
    }
    zw_slopes *slopes = zw_slopes_create_numbers(w.model, w.system, of->number, count, &w.error);
    if (!slopes || zw_slopes_look(slopes, w.state, &answer, &w.error) != ZW_OK) {
        fail_msg("%s: %s", of->name, w.error.text);
    }
    for (int k = 0; k < count; k++) {
        double value = 0, size = 0, off = 0;
        assert_int_equal(zw_model_get(w.model, of->number[k], &value, &w.error), ZW_OK);
        double h = 1e-3 * fabs(value);
        for (int i = 0; i < 4; i++) {
            accelerate(of, &w, k, (i < 2 ? i - 2 : i - 1) * h, a[i]);
        }
        const double *mine = answer.a_by + zw_slopes_of_number(&answer, k) * answer.n;
        for (int i = 0; i < answer.n; i++) { /* a relative change of one is the least to be seen */
            size = fmax(size, fabs(answer.a[i] / value));
        }
        for (int i = 0; i < answer.n; i++) {
            double d = (8 * (a[2][i] - a[1][i]) - (a[3][i] - a[0][i])) / (12 * h);
            size = fmax(size, fabs(d));
            off = fmax(off, fabs(d - mine[i]));
        }
        printf("%-36s %-20s size %8.3g  off %.1e  first %.9g\n", of->name, of->number[k], size,
               off / size, mine[0]);
        worst = fmax(worst, off / size);
    }
    zw_slopes_free(slopes);
    world_end(&w);
    return worst;
}

static void test_scenes(void **state)
{
    double worst = 0;
    (void)state;
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++) {
        worst = fmax(worst, compare(&scenes[k]));
    }
    assert_true(worst < 1e-8);
}

/* Numbers at the end of what they may be: the damping of a joint that has none. Where two joints
 * with the same speed differ by the damping alone, so do their accelerations. */
static void test_ends(void **state)
{
    static const char *const number[] = {"a.damping", "b.armature", "a.frictionloss"};
    zw_error error = {0};
    zw_slopes_answer x;
    world w = {0};
    (void)state;
    w.model = zw_model_parse(
        "<mujoco><worldbody><body><joint name='a' axis='0 1 0'/><inertial pos='0 0 -.5' mass='1' "
        "diaginertia='.1 .15 .1'/></body><body pos='1 0 0'><joint name='b' axis='0 1 0'/><inertial "
        "pos='0 0 -.5' mass='1' diaginertia='.1 .15 .1'/></body></worldbody></mujoco>",
        "test.xml", NULL, &error);
    w.system = zw_system_compile(w.model, NULL, &error);
    w.work = zw_work_create(w.system, &error);
    w.state = zw_state_create(w.system, w.work, NULL, &error);
    state_q(w.state)[0] = state_q(w.state)[1] = 0.5;
    state_v(w.state)[0] = 3;
    zw_wake(w.state);
    zw_slopes *slopes = zw_slopes_create_numbers(w.model, w.system, number, 2, &error);
    assert_non_null(slopes);
    assert_int_equal(zw_slopes_look(slopes, w.state, &x, &error), ZW_OK);
    const double inertia = .15 + .25, a = -9.81 * .5 * sin(.5) / inertia;
    const double *by[] = {x.a_by + zw_slopes_of_number(&x, 0) * x.n,
                          x.a_by + zw_slopes_of_number(&x, 1) * x.n};
    printf("at their ends: by damping %.15g, by armature %.15g\n", by[0][0], by[1][1]);
    assert_true(fabs(by[0][0] + 3 / inertia) < 1e-9 && by[0][1] == 0);
    assert_true(fabs(by[1][1] + a / inertia) < 1e-9 && by[1][0] == 0);
    zw_slopes_free(slopes);
    assert_null(zw_slopes_create_numbers(w.model, w.system, number + 2, 1, &error));
    assert_non_null(strstr(error.text, "where it is not 0"));
    world_end(&w);
}

/* A name that is none, a number that changes what there is, equations. */
static void test_refused(void **state)
{
    static const char *const ghost[] = {"ghost.mass"}, *const length[] = {"l"};
    zw_error error = {0};
    zw_model *model = read(&scenes[0], &error);
    zw_system *system = zw_system_compile(model, NULL, &error);
    (void)state;
    assert_null(zw_slopes_create_numbers(model, system, ghost, 1, &error));
    assert_non_null(strstr(error.text, "ghost.mass"));
    zw_system_free(system);
    zw_model_free(model);
    world w = world_of("param l = 1\ncoord a = 1\nmass 1 at l*(sin(a), -cos(a))\n");
    assert_null(zw_slopes_create_numbers(w.model, w.system, length, 1, &error));
    assert_non_null(strstr(error.text, "parameters"));
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scenes), cmocka_unit_test(test_ends),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

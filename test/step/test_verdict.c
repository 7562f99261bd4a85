/* What a run reports about its accuracy: drift independent of samples, digits, and the verdict. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "system/import.h"
#include "system/world.h"
#include "zwang/verdict.h"

static const char pendulum[] = "param l = 1, g = 9.81\n"
                               "coord x = l*sin(1), y = -l*cos(1)\n"
                               "kinetic (x'^2 + y'^2)/2\n"
                               "potential g*y\n"
                               "constraint rod: x^2 + y^2 = l^2\n";

static const char bounces[] =
    "<mujoco><option timestep='0.05'/><worldbody><geom type='plane' size='9 9 1' pos='0 0 -2'/>"
    "<body><joint name='j' axis='0 1 0'/><geom type='sphere' size='.1' pos='.6 0 -.8'/></body>"
    "<body pos='3 0 1'><freejoint/><geom type='sphere' size='.1'/></body></worldbody></mujoco>";

/* ---- Drift ---------------------------------------------------------------------------------- */

static zw_run_summary summary_of(const char *text, const char *name, zw_run_options options)
{
    world w = {0};
    zw_run_summary summary;
    w.model = zw_model_parse(text, name, NULL, &w.error);
    w.system = w.model ? zw_system_compile(w.model, NULL, &w.error) : NULL;
    w.work = w.system ? zw_work_create(w.system, &w.error) : NULL;
    w.state = w.work ? zw_state_create(w.system, w.work, NULL, &w.error) : NULL;
    if (!w.state) {
        fail_msg("%s", w.error.text);
    }
    assert_int_equal(zw_run(w.system, w.state, w.work, &options, &summary, &w.error), ZW_OK);
    world_end(&w);
    return summary;
}

/* A straight line between two states of a fast motion has another energy than these. */
static void test_drift_ignores_samples(void **state)
{
    (void)state;
    static const double every[] = {-1, 0.01, 0.05, 0.0137, 2};
    const zw_run_options how[] = {{.time = 2, .method = ZW_METHOD_IMPULSE, .step = 0.05},
                                  {.time = 2, .method = ZW_METHOD_RK4, .step = 0.1},
                                  {.time = 2, .tolerance = 1e-6}};
    for (int k = 0; k < 3; k++) {
        zw_run_summary first = {0};
        for (int i = 0; i < 5; i++) {
            zw_run_options options = how[k];
            options.every = every[i];
            zw_run_summary summary = k ? summary_of(pendulum, "pendulum.zw", options)
                                       : summary_of(bounces, "bounces.xml", options);
            first = i ? first : summary;
            assert_true(summary.energy_drift == first.energy_drift);
            assert_true(summary.energy_end == first.energy_end && summary.work == first.work);
        }
        assert_true(first.energy_drift > 0);
    }
}

static const zw_run_verdict_line *line_of(const zw_run_verdict *verdict, const char *name)
{
    for (int i = 0; i < verdict->count; i++) {
        if (strcmp(verdict->line[i].name, name) == 0) {
            return &verdict->line[i];
        }
    }
    return NULL;
}

/* ---- Digits --------------------------------------------------------------------------------- */

static void test_digits_of_a_spring(void **state)
{
    (void)state;
    static const struct {
        zw_method method;
        double tolerance, step, order;
    } how[] = {{ZW_METHOD_DOP853, 1e-8, 0, 0},    {ZW_METHOD_DOP853, 1e-14, 0, 0},
               {ZW_METHOD_DOP853, 1e-4, 0.05, 0}, /* the largest step decides, not the tolerance */
               {ZW_METHOD_RK4, 0, 0.05, 4},       {ZW_METHOD_VARIATIONAL, 0, 0.02, 2},
               {ZW_METHOD_EULER, 0, 0.001, 1}};
    for (size_t k = 0; k < sizeof how / sizeof *how; k++) {
        world w = world_of("coord x = 1\nkinetic x'^2/2\npotential x^2/2\n");
        zw_run_options options = {.time = 20,
                                  .method = how[k].method,
                                  .tolerance = how[k].tolerance,
                                  .step = how[k].step};
        zw_run_summary summary;
        zw_digits digits = {0};
        assert_int_equal(
            zw_run_digits(w.system, w.state, w.work, &options, &summary, &digits, &w.error), ZW_OK);
        assert_true(digits.known && digits.count == 2 && !digits.differs);
        double error[2] = {fabs(world_field(&w, ZW_FIELD_Q)[0] - cos(20)),
                           fabs(world_field(&w, ZW_FIELD_V)[0] + sin(20))};
        for (int i = 0; i < 2; i++) {
            assert_true(digits.error[i] >= error[i] / 3);
            assert_true(digits.error[i] <= 100 * error[i] + 1e-13);
        }
        if (how[k].order > 0) {
            assert_true(fabs(digits.order - how[k].order) < 0.3);
        }
        assert_true(summary.end == 20 && world_field(&w, ZW_FIELD_TIME)[0] == 20);
        zw_digits_free(&digits);
        world_end(&w);
    }
}

/* A ball just reaches a switch, or does not: errors decide, and that is said. */
static void test_digits_name_what_differs(void **state)
{
    (void)state;
    world w = world_of("coord x = 0\nspeed x' = 1\nkinetic x'^2/2\npotential x^4/4 + x^2/2\n"
                       "event top: x = 0.8555996772 - 2e-7 rising, set x' = 3\n");
    zw_run_summary summary;
    zw_digits digits = {0};
    zw_run_verdict verdict;
    const zw_run_options options = {.time = 3, .method = ZW_METHOD_RK4, .step = 0.1};
    assert_int_equal(
        zw_run_digits(w.system, w.state, w.work, &options, &summary, &digits, &w.error), ZW_OK);
    zw_run_conclude(w.system, NULL, &summary, &digits, &verdict);
    assert_true(digits.known && digits.differs);
    assert_int_equal(digits.event, 0);
    assert_true(digits.here != digits.there);
    assert_int_equal(digits.digits[digits.worst], 0);
    assert_false(verdict.clean);
    assert_non_null(strstr(line_of(&verdict, "events")->text, "top: "));
    zw_digits_free(&digits);
    world_end(&w);
}

/* Once time goes back another motion has begun. */
static int stop_the_second(void *user, double time)
{
    double *last = user;
    int back = time < *last;
    *last = back ? INFINITY : time;
    return back;
}

static void test_digits_can_be_interrupted(void **state)
{
    (void)state;
    world w = world_of(pendulum);
    double last = 0;
    zw_run_summary summary;
    zw_digits digits = {0};
    const zw_run_options options = {.time = 0.5, .poll = stop_the_second, .user = &last};
    assert_int_equal(
        zw_run_digits(w.system, w.state, w.work, &options, &summary, &digits, &w.error), ZW_OK);
    assert_true(!summary.interrupted && summary.end == 0.5); /* a companion was */
    assert_false(digits.known);
    assert_string_equal(digits.note, "interrupted");
    zw_digits_free(&digits);
    world_end(&w);
}

static void test_digits_without_memory(void **state)
{
    (void)state;
    int failures = 0;
    for (int k = 1; k < 120; k++) {
        world w = world_of("coord x = 1\nkinetic x'^2/2\npotential x^2/2\n");
        zw_run_summary summary;
        zw_digits digits = {0};
        const zw_run_options options = {.time = 1};
        base_alloc_fail_after(k);
        zw_status status =
            zw_run_digits(w.system, w.state, w.work, &options, &summary, &digits, &w.error);
        base_alloc_fail_after(0);
        assert_true(status == ZW_NO_MEMORY || status == ZW_OK);
        assert_true(status == ZW_NO_MEMORY || digits.known);
        failures += status == ZW_NO_MEMORY;
        zw_digits_free(&digits);
        world_end(&w);
    }
    assert_true(failures > 20);
}

/* ---- The verdict ---------------------------------------------------------------------------- */

static void test_verdict_in_one_line(void **state)
{
    (void)state;
    world w = world_of(pendulum);
    zw_run_summary summary = world_run(&w, 1, 1e-10);
    zw_run_verdict verdict;
    char text[256];
    summary.proved = 12;
    summary.unproved = 0;
    zw_run_conclude(w.system, &w.assembly, &summary, NULL, &verdict);
    assert_true(verdict.clean);
    assert_true(zw_run_verdict_text(&verdict, ZW_RUN_PROVED, text, sizeof text) > 0);
    assert_non_null(strstr(text, "proved: 12 steps without unseen events, constraints "));
    for (int kind = ZW_RUN_ESTIMATED; kind <= ZW_RUN_SURVIVED; kind++) {
        assert_int_equal(
            zw_run_verdict_text(&verdict, (zw_run_verdict_kind)kind, text, sizeof text), 0);
    }
    world_end(&w);
}

static void test_verdict_names_trouble(void **state)
{
    (void)state;
    world w = world_of(pendulum);
    zw_run_summary summary = world_run(&w, 1, 1e-10);
    zw_run_verdict verdict;
    zw_assembly moved = {.position_change = 0.25, .position_coord = 1, .speed_coord = -1};
    char text[40];
    summary.unproved = 3;
    summary.jams = 1;
    summary.inexact = 2;
    summary.halved = 4;
    summary.impacts = 5;
    summary.certificate = 1e-3;
    summary.energy_drift = 0.0099;
    zw_run_conclude(w.system, &moved, &summary, NULL, &verdict);
    for (int i = 0; i < verdict.count; i++) {
        assert_string_not_equal(verdict.line[i].name, "energy");
    }
    summary.energy_drift = 0.0101;
    zw_run_conclude(w.system, &moved, &summary, NULL, &verdict);
    assert_false(verdict.clean);
    assert_true(line_of(&verdict, "energy")->value == 0.0101);
    assert_true(line_of(&verdict, "unproved")->value == 3);
    assert_true(line_of(&verdict, "jams")->value == 1);
    assert_true(line_of(&verdict, "inexact")->value == 2);
    assert_true(line_of(&verdict, "halved")->value == 4);
    assert_true(line_of(&verdict, "impacts")->value == 5);
    assert_int_equal(line_of(&verdict, "forces")->kind, ZW_RUN_SURVIVED);
    assert_non_null(strstr(line_of(&verdict, "start")->text, "y moved by 0.25"));
    /* what finds no room is cut, not written beyond */
    int length = zw_run_verdict_text(&verdict, ZW_RUN_SURVIVED, text, sizeof text);
    assert_int_equal(length, strlen(text));
    assert_int_equal(length, sizeof text - 1);
    world_end(&w);
}

/* A parallelogram with a third crank that is longer by 1e-8 m: rows that nearly depend on others,
 * so that forces are known to 1e-6 only. (It may turn about itself: with a hinge the loop would be
 * found to be rigid, test_lock.c.) The steps are taken, so samples of them are shown, and the
 * verdict says how good they are. */
static const char cranks[] =
    "<mujoco><option gravity='5 0 -9.81'/><default><joint axis='0 1 0'/><geom type='capsule' "
    "size='.02' contype='0' conaffinity='0' fromto='0 0 0 0 0 -.3'/></default><worldbody>"
    "<body><joint/><geom/><body name='coupler' pos='0 0 -.3'><joint/><geom fromto='0 0 0 .4 0 0'/>"
    "</body></body><body name='b' pos='.2 0 0'><joint type='ball'/><geom/></body><body name='c' "
    "pos='.4 0 0'><joint/><geom/></body></worldbody><equality><connect body1='coupler' body2='c' "
    "anchor='.4 0 0'/><connect body1='coupler' body2='b' anchor='.2 0 1e-8'/></equality></mujoco>";

static void test_samples_carry_their_certificate(void **state)
{
    (void)state;
    const zw_run_options options = {.time = 0.05, .every = 0.01, .method = ZW_METHOD_IMPULSE};
    zw_run_summary summary = summary_of(cranks, "cranks.xml", options);
    assert_true(summary.certificate > 1e-7);
    zw_run_verdict verdict;
    world w = world_of(pendulum);
    zw_run_conclude(w.system, &w.assembly, &summary, NULL, &verdict);
    assert_int_equal(line_of(&verdict, "forces")->kind, ZW_RUN_SURVIVED);
    world_end(&w);
}

/* ---- Checks --------------------------------------------------------------------------------- */

/* Samples a period apart all see the same x; the steps between them do not. */
static void test_checks_are_looked_at_in_every_step(void **state)
{
    (void)state;
    static const char *const what[] = {"x", "x''"};
    static const zw_method method[] = {ZW_METHOD_DOP853, ZW_METHOD_RK4, ZW_METHOD_STIFF};
    for (int k = 0; k < 6; k++) {
        char text[200];
        snprintf(text, sizeof text,
                 "coord x = 1\nkinetic x'^2/2\npotential x^2/2\ncheck steady: %s within 0.4\n",
                 what[k % 2]);
        for (int holds = 0; holds < 2; holds++) {
            world w = world_of(text);
            zw_run_summary summary;
            zw_run_verdict verdict;
            double turn = 2 * acos(-1.0);
            const zw_run_options options = {.time = holds ? 0.6 : 2 * turn,
                                            .every = turn,
                                            .step = 0.1,
                                            .method = method[k / 2]};
            assert_int_equal(zw_run(w.system, w.state, w.work, &options, &summary, &w.error),
                             ZW_OK);
            zw_run_conclude(w.system, NULL, &summary, NULL, &verdict);
            assert_true(summary.checked >= summary.steps);
            assert_int_equal(summary.check_failed, holds ? -1 : 0);
            if (!holds) { /* 1 - cos t = 0.8 at t = 1.37, and no step is longer than 0.1 */
                assert_true(summary.check_time > 1.37 && summary.check_time < 1.48);
                assert_non_null(strstr(line_of(&verdict, "check")->text, "steady does not hold"));
            }
            assert_int_equal(verdict.clean, holds);
            world_end(&w);
        }
    }
}

/* ---- What is not proved --------------------------------------------------------------------- */

/* Kinks of what bodies do are not latched, and steps of method impulse do not end at them; such
 * steps are not called proved. Kinks of time are, and steps end there. */
static void test_kinks_of_bodies_are_not_proved(void **state)
{
    (void)state;
    static const struct {
        const char *force;
        zw_method method;
        int proved, counted;
    } how[] = {{"if(x > 0.01, -3, 3)", ZW_METHOD_IMPULSE, 0, 1},
               {"if(x > 0.01, -3, 3)", ZW_METHOD_DOP853, 0, 1},
               {"if(t > 0.0137, -3, 3)", ZW_METHOD_IMPULSE, 1, 1},
               {"if(t > 0.0137, -3, 3)", ZW_METHOD_DOP853, 1, 1},
               {"3*sin(x)", ZW_METHOD_IMPULSE, 0, 0}};
    for (size_t k = 0; k < sizeof how / sizeof *how; k++) {
        char text[200];
        snprintf(text, sizeof text, "import \"cart.xml\"\nforce x: %s\n", how[k].force);
        world w = formulas(text);
        zw_run_summary summary;
        const zw_run_options options = {.time = 0.1, .step = 0.01, .method = how[k].method};
        assert_int_equal(zw_run(w.system, w.state, w.work, &options, &summary, &w.error), ZW_OK);
        assert_int_equal(summary.proved > 0, how[k].counted && how[k].proved);
        assert_int_equal(summary.unproved > 0, how[k].counted && !how[k].proved);
        world_end(&w);
    }
}

/* A brick, and a slide with dry friction: pushed back it turns round, and its friction reverses
 * within a step; without the push it stops. */
static void test_sliding_that_reverses_is_counted(void **state)
{
    (void)state;
    static const char *const text[] = {
        "import \"brick.xml\"\nground z = 0\nspeed b.x' = 1\n",
        "import \"brick.xml\"\nground z = 0\nspeed b.x' = 1\nforce (-8, 0, 0) at b\n",
        "import \"rubs.xml\"\nspeed s' = 1\n",
        "import \"rubs.xml\"\nspeed s' = 1\nmotor push = -10\n"};
    for (int k = 0; k < 4; k++) {
        world w = formulas(text[k]);
        zw_run_summary summary;
        zw_run_verdict verdict;
        const zw_run_options options = {.time = 0.6, .method = ZW_METHOD_IMPULSE, .step = 0.003};
        assert_int_equal(zw_run(w.system, w.state, w.work, &options, &summary, &w.error), ZW_OK);
        zw_run_conclude(w.system, NULL, &summary, NULL, &verdict);
        assert_int_equal(summary.turned, k % 2);
        assert_true((line_of(&verdict, "turned") != NULL) == k % 2);
        world_end(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_checks_are_looked_at_in_every_step),
                                       cmocka_unit_test(test_kinks_of_bodies_are_not_proved),
                                       cmocka_unit_test(test_drift_ignores_samples),
                                       cmocka_unit_test(test_digits_of_a_spring),
                                       cmocka_unit_test(test_digits_name_what_differs),
                                       cmocka_unit_test(test_digits_can_be_interrupted),
                                       cmocka_unit_test(test_digits_without_memory),
                                       cmocka_unit_test(test_verdict_in_one_line),
                                       cmocka_unit_test(test_verdict_names_trouble),
                                       cmocka_unit_test(test_sliding_that_reverses_is_counted),
                                       cmocka_unit_test(test_samples_carry_their_certificate)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

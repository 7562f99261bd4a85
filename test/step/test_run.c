/* Whole runs of systems written as text: order of every method on a constrained system, no secular
 * energy, events, resets, stops, checks, samples, restarts. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "system/system.h"
#include "system/world.h"

static const char pendulum[] = "param l = 1, g = 9.81\n"
                               "coord x = l*sin(1), y = -l*cos(1)\n"
                               "kinetic (x'^2 + y'^2)/2\n"
                               "potential g*y\n"
                               "constraint rod: x^2 + y^2 = l^2\n";

static zw_status run_with(world *w, zw_run_options options, zw_run_summary *summary)
{
    return zw_run(w->system, w->state, w->work, &options, summary, &w->error);
}

/* ---- Order ---------------------------------------------------------------------------------- */

static double error_at(zw_method method, double step, const double *exact)
{
    world w = world_of(pendulum);
    zw_run_summary summary;
    double worst = 0;
    assert_int_equal(
        run_with(&w,
                 (zw_run_options){
                     .time = 1, .every = 1, .step = step, .method = method, .tolerance = 1e-13},
                 &summary),
        ZW_OK);
    for (int i = 0; i < 4; i++) {
        double x = i < 2 ? world_field(&w, ZW_FIELD_Q)[i] : world_field(&w, ZW_FIELD_V)[i - 2];
        worst = fmax(worst, fabs(x - exact[i]));
    }
    assert_true(summary.violation_position < 1e-12);
    assert_true(summary.violation_velocity < 1e-12);
    world_end(&w);
    return worst;
}

static void test_orders(void **state)
{
    (void)state;
    static const struct {
        zw_method method;
        double step, order;
    } row[] = {{ZW_METHOD_EULER, 1.0 / 1024, 1},
               {ZW_METHOD_VARIATIONAL, 1.0 / 128, 2},
               {ZW_METHOD_RK4, 1.0 / 128, 4},
               {ZW_METHOD_VARIATIONAL4, 1.0 / 64, 4}};
    world w = world_of(pendulum);
    double exact[4];
    world_run(&w, 1, 1e-14);
    memcpy(exact, world_field(&w, ZW_FIELD_Q), 2 * sizeof(double));
    memcpy(exact + 2, world_field(&w, ZW_FIELD_V), 2 * sizeof(double));
    world_end(&w);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        double coarse = error_at(row[i].method, row[i].step, exact);
        double fine = error_at(row[i].method, row[i].step / 2, exact);
        double order = log2(coarse / fine);
        print_message("    %-13s order %.3f\n", zw_method_name(row[i].method), order);
        assert_true(fabs(order - row[i].order) < 0.1);
    }
}

/* ---- Energy over long runs ------------------------------------------------------------------ */

typedef struct slope {
    double n, t, e, tt, te, ee, e0, worst;
} slope;

static int add_energy(void *user, zw_sample_kind kind, int event, const zw_system *system,
                      const zw_state *state, zw_work *work)
{
    slope *s = user;
    double t = zw_field(system, state, work, ZW_FIELD_TIME).data[0];
    double e = zw_field(system, state, work, ZW_FIELD_ENERGY).data[0];
    (void)kind;
    (void)event;
    s->e0 = s->n > 0 ? s->e0 : e;
    e -= s->e0;
    s->n += 1;
    s->t += t;
    s->e += e;
    s->tt += t * t;
    s->te += t * e;
    s->ee += e * e;
    s->worst = fmax(s->worst, fabs(e));
    return 0;
}

/* Least squares of the energy over time: what it would gain over the whole run must be nothing
 * against what it swings by. The full length, 10^6 steps, is bench/long. */
static void test_no_secular_energy(void **state)
{
    (void)state;
    world w = world_of("coord x1 = 1, y1 = 0, x2 = 2, y2 = 0.1\n"
                       "kinetic (x1'^2 + y1'^2)/2 + (x2'^2 + y2'^2)/2\n"
                       "potential 9.81*(y1 + y2)\n"
                       "constraint upper: x1^2 + y1^2 = 1\n"
                       "constraint lower: (x2-x1)^2 + (y2-y1)^2 = 1\n");
    slope s = {0};
    zw_run_summary summary;
    assert_int_equal(run_with(&w,
                              (zw_run_options){.time = 50,
                                               .every = 0.05,
                                               .step = 5e-4,
                                               .method = ZW_METHOD_VARIATIONAL,
                                               .observer = add_energy,
                                               .user = &s},
                              &summary),
                     ZW_OK);
    double gain = (s.te - s.t * s.e / s.n) / (s.tt - s.t * s.t / s.n) * 50;
    print_message("    100000 steps: energy swings by %.2g, gains %.2g; violation %.2g\n", s.worst,
                  gain, summary.violation_position);
    assert_int_equal(summary.steps, 100000);
    assert_true(fabs(gain) < 0.05 * s.worst);
    assert_true(summary.violation_position < 1e-12 && summary.violation_velocity < 1e-11);
    world_end(&w);
}

/* ---- Events --------------------------------------------------------------------------------- */

typedef struct times {
    int count;
    double at[64];
} times;

static int note_events(void *user, zw_sample_kind kind, int event, const zw_system *system,
                       const zw_state *state, zw_work *work)
{
    times *t = user;
    (void)event;
    if (kind == ZW_SAMPLE_EVENT && t->count < 64) {
        t->at[t->count++] = zw_field(system, state, work, ZW_FIELD_TIME).data[0];
    }
    return 0;
}

/* x = cos t: x' falls through zero at pi/2 + ..., x rises through zero at 3 pi/2. */
static void test_events_to_1e12(void **state)
{
    (void)state;
    world w = world_of("coord x = 1\nkinetic x'^2/2\npotential x^2/2\n"
                       "event crossing: x = 0 rising\n");
    times t = {0};
    zw_run_summary summary;
    assert_int_equal(
        run_with(
            &w,
            (zw_run_options){.time = 60, .tolerance = 1e-13, .observer = note_events, .user = &t},
            &summary),
        ZW_OK);
    assert_int_equal(t.count, 9);
    for (int i = 0; i < t.count; i++) {
        double exact = M_PI * (1.5 + 2 * i);
        assert_true(fabs(t.at[i] - exact) < 1e-12 * (1 + exact));
    }
    world_end(&w);
}

static void test_reset_and_stop(void **state)
{
    (void)state;
    world w = world_of("param lost = 0\ncoord x = 1\nspeed x' = 1\nkinetic x'^2/2\n"
                       "event wall: x = 3, set x' = -x'/2\n"
                       "stop when x < 0.5\n");
    zw_run_summary summary;
    assert_int_equal(run_with(&w, (zw_run_options){.time = 20}, &summary), ZW_OK);
    assert_int_equal(summary.stopped_by, 1);
    assert_true(fabs(summary.end - (2 + 5)) < 1e-11);
    assert_true(fabs(world_field(&w, ZW_FIELD_Q)[0] - 0.5) < 1e-11);
    assert_true(fabs(summary.work + 0.375) < 1e-12 && summary.energy_drift < 1e-12);
    world_end(&w);
}

static void test_checks(void **state)
{
    (void)state;
    world w = world_of("coord x = 1\nspeed x' = 1\nkinetic x'^2/2\nforce x: -x'\n"
                       "check drift: x' + x within 1e-8\ncheck energy within 0.1\n");
    zw_run_summary summary = world_run(&w, 5, 1e-11);
    assert_int_equal(summary.check_failed, 1);
    assert_true(summary.check_time > 0.05 && summary.check_time < 0.3);
    world_end(&w);
}

/* ---- Samples and restarts ------------------------------------------------------------------- */

typedef struct samples {
    int count, stop_after;
    double last, x;
} samples;

static int note_samples(void *user, zw_sample_kind kind, int event, const zw_system *system,
                        const zw_state *state, zw_work *work)
{
    samples *s = user;
    (void)kind;
    (void)event;
    s->last = zw_field(system, state, work, ZW_FIELD_TIME).data[0];
    s->x = zw_field(system, state, work, ZW_FIELD_Q).data[0];
    assert_true(fabs(s->x - cos(s->last)) < 1e-10);
    return ++s->count == s->stop_after;
}

static void test_samples_and_interruption(void **state)
{
    (void)state;
    for (int stop = 0; stop < 40; stop += 17) {
        world w = world_of("coord x = 1\nkinetic x'^2/2\npotential x^2/2\n");
        samples s = {.stop_after = stop};
        zw_run_summary summary;
        const zw_run_options options = {
            .time = 10, .every = 0.25, .tolerance = 1e-12, .observer = note_samples, .user = &s};
        assert_int_equal(run_with(&w, options, &summary), ZW_OK);
        assert_int_equal(s.count, stop ? stop : 41);
        assert_int_equal(summary.interrupted, stop != 0);
        assert_true(s.last == (stop ? 0.25 * (stop - 1) : 10));
        world_end(&w);
    }
}

/* Far more samples or steps than could ever be run, or than there is memory for, are refused before
 * the run. */
static void test_absurd_numbers_of_samples(void **state)
{
    (void)state;
    world w = world_of("coord x = 1\nkinetic x'^2/2\npotential x^2/2\n");
    zw_run_options plan,
        options[] = {{.time = 1e300, .every = 1e-300}, {.time = 1e6, .step = 1e-7}};
    zw_error error = {0};
    for (int k = 0; k < 2; k++) {
        assert_int_equal(run_with(&w, options[k], NULL), ZW_BAD_INPUT);
    }
    zw_record *record = zw_record_create(w.system, &error);
    const zw_run_options many = {.time = 1e6, .every = 1e-6}, few = {.time = 1, .every = 1e-3};
    assert_int_equal(zw_run_plan(w.system, w.state, &many, &plan, &error), ZW_OK);
    assert_int_equal(zw_record_expect(record, w.state, &plan, &error), ZW_NO_MEMORY);
    assert_non_null(strstr(error.text, "1e+12 samples"));
    assert_int_equal(zw_run_plan(w.system, w.state, &few, &plan, &error), ZW_OK);
    assert_int_equal(zw_record_expect(record, w.state, &plan, &error), ZW_OK);
    zw_record_free(record);
    world_end(&w);
}

/* ---- Ends within a step --------------------------------------------------------------------- */

/* Asked for the `at`-th time, it wants an end. */
typedef struct asked {
    int count, at;
} asked;

static int end_at(void *user, double time)
{
    asked *a = user;
    (void)time;
    return ++a->count >= a->at;
}

/* If it is interrupted within a step, the run ends with the last complete step, at any instant. */
static void test_a_step_can_be_interrupted(void **state)
{
    (void)state;
    static const char shapes[] = ZW_SOURCE_DIR "/test/read/mjcf/shapes.xml";
    static const char link[] = "coord x = 0.6, y = -0.8\nmass 1 at (x, y)\ngravity (0, -9.81)\n"
                               "constraint rod: x^2 + y^2 = 1\n";
    for (int at = 1; at < 60; at = 2 * at + 3) {
        for (int k = 0; k < 3; k++) {
            static const zw_method method[] = {ZW_METHOD_IMPULSE, ZW_METHOD_DOP853,
                                               ZW_METHOD_STIFF};
            world w = {0};
            asked a = {.at = at};
            zw_run_summary summary;
            w.model = k == 0 ? zw_model_read(shapes, NULL, &w.error)
                             : zw_model_parse(link, "link.zw", NULL, &w.error);
            w.system = zw_system_compile(w.model, NULL, &w.error);
            w.work = zw_work_create(w.system, &w.error);
            w.state = zw_state_create(w.system, w.work, NULL, &w.error);
            const zw_run_options options = {
                .time = 1, .step = 0.002, .method = method[k], .poll = end_at, .user = &a};
            assert_int_equal(run_with(&w, options, &summary), ZW_OK);
            assert_true(summary.interrupted);
            assert_true(summary.steps < (at + 4) / 5 + 1); /* it was asked within steps */
            assert_true(summary.end == world_field(&w, ZW_FIELD_TIME)[0]);
            assert_true(a.count <= at + 1); /* after its request it is not called again */
            if (k == 0) {
                assert_true(fabs(summary.end - 0.002 * (double)summary.steps) < 1e-15);
            }
            world_end(&w);
        }
    }
}

/* A run that is ended before it has begun leaves the state as it was. */
static void test_ended_at_once(void **state)
{
    (void)state;
    static const zw_method method[] = {ZW_METHOD_DOP853, ZW_METHOD_RK4, ZW_METHOD_EULER,
                                       ZW_METHOD_VARIATIONAL};
    for (int k = 0; k < 4; k++) {
        world w = world_of("coord th = 2\npoint p = (sin(th), -cos(th))\nmass 1 at p\n"
                           "gravity (0, -9.81)\n");
        asked a = {.at = 0};
        zw_run_summary summary;
        const zw_run_options options = {
            .time = 1, .step = 0.002, .method = method[k], .poll = end_at, .user = &a};
        assert_int_equal(run_with(&w, options, &summary), ZW_OK);
        assert_true(summary.interrupted && summary.steps == 0 && summary.end == 0);
        assert_true(world_field(&w, ZW_FIELD_Q)[0] == 2 && world_field(&w, ZW_FIELD_V)[0] == 0);
        world_end(&w);
    }
}

/* A step is long where a force switches only now and then, and the switches in it are found after
 * it: a run that ends in between is at the end of the step before, not at that of one in which
 * nothing was looked for. Half of the time the force is 1, so that |x' - t/2| <= pi/(2 10^3). */
static void test_no_step_is_left_unseen(void **state)
{
    (void)state;
    for (int at = 1; at < 400; at += 7) {
        world w = world_of("coord x = 0\nmass 1 at x\nforce x: if(sin(1e3*t) > 0, 1, 0)\n");
        asked a = {.at = at};
        zw_run_summary summary;
        const zw_run_options options = {.time = 10, .poll = end_at, .user = &a};
        assert_int_equal(run_with(&w, options, &summary), ZW_OK);
        assert_true(summary.interrupted && summary.end < 1);
        assert_true(fabs(world_field(&w, ZW_FIELD_V)[0] - summary.end / 2) < 1.6e-3);
        world_end(&w);
    }
}

/* A copy of the state goes on with the same bits. */
static void test_restart_is_bitwise(void **state)
{
    (void)state;
    world w = world_of(pendulum);
    world_run(&w, 1, 1e-10);
    zw_state *copy = malloc(w.state->bytes);
    memcpy(copy, w.state, w.state->bytes);
    world_run(&w, 2, 1e-10);
    zw_run_summary summary;
    const zw_run_options options = {.time = 2, .tolerance = 1e-10};
    assert_int_equal(zw_run(w.system, copy, w.work, &options, &summary, &w.error), ZW_OK);
    assert_memory_equal(copy, w.state, w.state->bytes);
    free(copy);
    world_end(&w);
}

/* A motion that is so fast from the start that the run would never end is reported early. A step
 * chosen by the user is not questioned. */
static void test_too_many_steps(void **state)
{
    (void)state;
    static const char *const text[] = {
        "coord x = 1e-300\nmass 1e-300 at x\npotential 1e300*x^2\n",
        "coord x = 1\nmass 1 at x\nforce x: -1e30*(x - cos(t)) - 1e15*x'\n",
        "coord x = 0\nmass 1 at x\nforce x: floor(1e13*t)\n"};
    for (int k = 0; k < 3; k++) {
        world w = world_of(text[k]);
        zw_run_summary summary;
        assert_int_equal(run_with(&w, (zw_run_options){.time = 10}, &summary), ZW_NO_STEP);
        assert_true(summary.steps < 10000);
        assert_non_null(strstr(w.error.text, "more than 1e12"));
        world_end(&w);
    }
}

/* A motion that runs into a singular point ends with a message, not in an endless loop. */
static void test_dead_end(void **state)
{
    (void)state;
    world w = world_of("coord x = 0, y = 0, z = 0\nspeed x' = 1, y' = 0.5\n"
                       "kinetic (x'^2+y'^2+z'^2)/2\npotential 3*z + x^2\n"
                       "constraint hamel: z' = 0.5*sqrt(x'^2+y'^2)\n");
    zw_run_summary summary;
    assert_int_not_equal(run_with(&w, (zw_run_options){.time = 2}, &summary), ZW_OK);
    assert_true(summary.end > 0.76 && summary.end < 0.77);
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_no_secular_energy),
        cmocka_unit_test(test_events_to_1e12),
        cmocka_unit_test(test_reset_and_stop),
        cmocka_unit_test(test_checks),
        cmocka_unit_test(test_samples_and_interruption),
        cmocka_unit_test(test_absurd_numbers_of_samples),
        cmocka_unit_test(test_ended_at_once),
        cmocka_unit_test(test_no_step_is_left_unseen),
        cmocka_unit_test(test_too_many_steps),
        cmocka_unit_test(test_a_step_can_be_interrupted),
        cmocka_unit_test(test_restart_is_bitwise),
        cmocka_unit_test(test_dead_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

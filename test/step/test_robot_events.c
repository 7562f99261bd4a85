/* Events of robots: functions that contacts and joints hold at zero do not cross it by round-off,
 * those that reach zero and stay there are found, and so is the time at which they leave it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "system/import.h"

enum { MOST = 8 };

typedef struct events {
    const char *text;
    const char *name[MOST + 1]; /* in the order of time */
    double t[MOST];
} events;

typedef struct seen {
    int count;
    const char *name[MOST];
    double t[MOST];
} seen;

static int observe(void *user, zw_sample_kind kind, int event, const zw_system *system,
                   const zw_state *state, zw_work *work)
{
    seen *s = user;
    if (kind == ZW_SAMPLE_EVENT) {
        if (s->count < MOST) {
            s->name[s->count] = zw_name(system, ZW_KIND_EVENT, event);
            s->t[s->count] = zw_field(system, state, work, ZW_FIELD_TIME).data[0];
        }
        s->count++;
    }
    return 0;
}

/* Each within `bound` of its time. */
static void expect(const events *wanted, zw_method method, double step, double bound)
{
    world w = formulas(wanted->text);
    zw_run_summary summary;
    seen s = {0};
    const zw_run_options options = {
        .time = 3, .every = 5, .method = method, .step = step, .observer = observe, .user = &s};
    zw_status status = zw_run(w.system, w.state, w.work, &options, &summary, &w.error);
    assert_string_equal(w.error.text, "");
    assert_int_equal(status, ZW_OK);
    int count = 0;
    for (; wanted->name[count]; count++) {
        if (count >= s.count || strcmp(s.name[count], wanted->name[count]) != 0 ||
            !(fabs(s.t[count] - wanted->t[count]) <= bound + 1e-9)) {
            fail_msg("step %g: %s at %.17g, not %s at %.17g", step,
                     count < s.count ? s.name[count] : "nothing", count < s.count ? s.t[count] : 0,
                     wanted->name[count], wanted->t[count]);
        }
    }
    assert_int_equal(s.count, count);
    world_end(&w);
}

static const double steps[] = {0.002, 0.0137, 0.05};
enum { STEPS = sizeof steps / sizeof *steps };

/* Friction stops it after v/(mu g) = 0.679579 s, at the end of that step. It lies at 0.1 m. */
static void what_slides_stops_once(void **state)
{
    (void)state;
    const events brick = {"import \"brick.xml\"\nground z = 0\nspeed b.x' = 2\n"
                          "event low: when b.z < 0.1\nevent high: when b.z > 0.1\n"
                          "event at: b.z = 0.1\nevent up: when b.z' > 0\n"
                          "event down: when b.z' < 0\nevent stops: b.x' = 0\n"
                          "event back: when b.x' < 0\nevent right: when b.y > 0\n"
                          "event left: when b.y < 0\nevent late: when b.z < 0.1 and t > 1\n"
                          "event rising: b.x' = 0 rising\n",
                          {"stops"},
                          {2 / (0.3 * 9.81)}};
    for (int k = 0; k < STEPS; k++) {
        expect(&brick, ZW_METHOD_IMPULSE, steps[k], steps[k]);
    }
}

/* Pushed with 8 N from 1 s on, it slides with a = 8 - mu g: half a metre in sqrt(1/a). From 2 s on
 * it is lifted. */
static void what_rests_begins_to_move(void **state)
{
    (void)state;
    const double a = 8 - 0.3 * 9.81;
    const events brick = {"import \"brick.xml\"\nground z = 0\nparam on = 0\n"
                          "event start: t = 1, set on = 1\nforce (8*on, 0, 0) at b\n"
                          "force (0, 0, if(t > 2, 15, 0)) at b\nevent moves: when b.x' > 0\n"
                          "event back: when b.x' < 0\nevent here: b.x = 0.5\n"
                          "event past: when b.x > 0.5\nevent lifted: when b.z > 0.1\n"
                          "event up: when b.z' > 0\n"
                          "event either: when b.z < 0.1 or b.x > 0.7\n",
                          {"start", "moves", "here", "past", "either", "lifted", "up"},
                          {1, 1, 1 + sqrt(1 / a), 1 + sqrt(1 / a), 1 + sqrt(1.4 / a), 2, 2}};
    expect(&brick, ZW_METHOD_IMPULSE, 0.002, 0);
    expect(&brick, ZW_METHOD_IMPULSE, 0.02, 0);
}

/* 1e-8 m below a bound is not at the bound: it is reached later than the rise begins. */
static void beside_zero_is_not_at_zero(void **state)
{
    (void)state;
    const events brick = {
        "import \"brick.xml\"\nground z = 0\nforce (0, 0, if(t > 2, 15, 0)) at b\n"
        "event above: when b.z > 0.1 + 1e-8\nevent lifted: when b.z > 0.1\n",
        {"lifted", "above"},
        {2, 2 + sqrt(2e-8 / (15 - 9.81))}};
    expect(&brick, ZW_METHOD_IMPULSE, 0.002, 0);
}

/* A pendulum against a stop, by integrators and by steps with contacts in them: there it comes to
 * the stop, and is never beyond. */
static void a_stop_is_not_passed(void **state)
{
    (void)state;
#define STOPPED                                                                                    \
    "import \"stopped.xml\"\nconstraint barrier: j <= 0.1\nstart j = "                             \
    "-0.17453292519943295\ntorque (0, 20, 0) at b\n"                                               \
    "event at: j = 0.1\nevent pushes: when lambda(barrier) > 3\n"                                  \
    "event beyond: when j > 0.1 and t > 2\nevent back: when j < 0.1 and t > 2\n"
    const events once = {STOPPED, {"at", "pushes"}, {0.08222490668, 0.08222490668}};
    expect(&once, ZW_METHOD_DOP853, 0, 0);
    expect(&once, ZW_METHOD_STIFF, 0, 0);
    expect(&once, ZW_METHOD_RK4, 0.01, 1e-7);
    for (int k = 0; k < STEPS; k++) {
        expect(&once, ZW_METHOD_IMPULSE, steps[k], 1.1 * steps[k]);
    }
}

/* A run in two pieces has the events of the whole: also where what rests leaves in the first step
 * of the second piece, at 2 s. */
static void pieces_have_the_same_events(void **state)
{
    (void)state;
    const double cut[] = {2.5, 2, 1.998, 2.002, 0.01};
    for (size_t k = 0; k < sizeof cut / sizeof *cut; k++) {
        world w = formulas("import \"brick.xml\"\nground z = 0\nparam n = 0\n"
                           "force (0, 0, if(t > 2, 15, 0)) at b\n"
                           "event lifted: when b.z > 0.1 and t > 0.5, set n = n + 1\n"
                           "event up: when b.z' > 0, set n = n + 1\n");
        for (int piece = 0; piece < 2; piece++) {
            const zw_run_options options = {
                .time = piece ? 3 : cut[k], .every = 5, .method = ZW_METHOD_IMPULSE, .step = 0.002};
            zw_status status = zw_run(w.system, w.state, w.work, &options, NULL, &w.error);
            assert_string_equal(w.error.text, "");
            assert_int_equal(status, ZW_OK);
        }
        close_to("events", zw_field(w.system, w.state, w.work, ZW_FIELD_PARAM).data[0], 2, 0);
        world_end(&w);
    }
}

/* Of a mass thrown up: all that happens at one instant
 * happens, and a condition whose event changes the speed where it becomes true becomes true once.
 */
static void all_at_an_instant_happen(void **state)
{
    (void)state;
#define THROWN "import \"stone.xml\" as s\nspeed s.z' = 3\n"
    const double g = 9.81, up = (3 - sqrt(9 - 0.4 * g)) / g, down = (3 + sqrt(9 - 0.4 * g)) / g;
    const double ever = up + 4 / g;
    const events apart = {THROWN "event any: s.z' = 0\nevent apex: s.z' = 0 falling\n"
                                 "event a: s.z = 0.2 rising\nevent b: s.z = 0.2\n"
                                 "event c: when s.z > 0.2\n",
                          {"a", "b", "c", "any", "apex", "b"},
                          {up, up, up, 3 / g, 3 / g, down}};
    const events once = {THROWN "event c: when s.z > 0.2, set s.z' = 2\n"
                                "event d: when s.z > 0.2\nevent ev: s.z = 0.2\n",
                         {"c", "d", "ev", "ev"},
                         {up, up, up, ever}};
    const events set = {THROWN "event a: s.z' = 0\nevent b: s.z' = 0 falling, set s.z' = 20\n",
                        {"a", "b", "a", "b"},
                        {3 / g, 3 / g, 23 / g, 23 / g}};
    for (int k = 0; k < STEPS; k++) {
        expect(&apart, ZW_METHOD_IMPULSE, steps[k], 0);
        expect(&once, ZW_METHOD_IMPULSE, steps[k], 0);
        expect(&set, ZW_METHOD_IMPULSE, steps[k], 0);
    }
    expect(&apart, ZW_METHOD_DOP853, 0, 0);
    expect(&once, ZW_METHOD_DOP853, 0, 0);
    expect(&set, ZW_METHOD_DOP853, 0, 0);
}

/* In free flight a step is the parabola that bodies are on: two crossings in one step are seen, and
 * two events in the order in which they happen. */
static void steps_are_parabolas(void **state)
{
    (void)state;
    const double g = 9.81, v = 0.3, part = sqrt(v * v - 2 * g * 0.004);
    const events twice = {"import \"stone.xml\" as s\nspeed s.z' = 0.3\nevent a: s.z = 0.004\n",
                          {"a", "a"},
                          {(v - part) / g, (v + part) / g}};
    const double up = (3 - sqrt(9 - 0.4 * g)) / g;
    const events order = {THROWN "event level: s.z = 0.2 rising\nevent slow: s.z' = 2.2\n"
                                 "event fast: s.z' = 2.3\n",
                          {"fast", "level", "slow"},
                          {0.7 / g, up, 0.8 / g}};
    const double step[] = {0.05, 0.3, 0.75};
    for (int k = 0; k < 3; k++) {
        expect(&twice, ZW_METHOD_IMPULSE, step[k], 0);
        expect(&order, ZW_METHOD_IMPULSE, step[k], 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_slides_stops_once),     cmocka_unit_test(what_rests_begins_to_move),
        cmocka_unit_test(beside_zero_is_not_at_zero), cmocka_unit_test(pieces_have_the_same_events),
        cmocka_unit_test(a_stop_is_not_passed),       cmocka_unit_test(all_at_an_instant_happen),
        cmocka_unit_test(steps_are_parabolas)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

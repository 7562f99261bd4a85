/* Sleep with formulas over a robot: crates beside it fall asleep, and so does what the formulas
 * see and push, unless they know the time. For what moves nothing changes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "system/import.h"

static world yard(const char *text, int sleep)
{
    world w = {0};
    zw_model *model = zw_model_parse(text, FOLDER "test.zw", NULL, &w.error);
    if (!model) {
        fail_msg("%s", w.error.text);
    }
    zw_world_def def = *zw_model_world(model);
    def.sleep = sleep;
    w.model = model;
    assert_int_equal(zw_model_set_world(model, &def, &w.error), ZW_OK);
    w.system = zw_system_compile(model, NULL, &w.error);
    w.work = w.system ? zw_work_create(w.system, &w.error) : NULL;
    w.state = w.work ? zw_state_create(w.system, w.work, NULL, &w.error) : NULL;
    if (!w.state) {
        fail_msg("%s", w.error.text);
    }
    return w;
}

static zw_run_summary go(world *w, double time, double every)
{
    zw_run_summary summary;
    const zw_run_options options = {
        .method = ZW_METHOD_IMPULSE, .time = time, .every = every, .step = 0.01};
    if (zw_run(w->system, w->state, w->work, &options, &summary, &w->error) != ZW_OK) {
        fail_msg("%s", w->error.text);
    }
    return summary;
}

static int sleeps(world *w, const char *name)
{
    int list[8], body = zw_id(w->system, ZW_KIND_BODY, name);
    assert_true(zw_sleepers(w->system, w->state, list, NULL) >= 0);
    return list[body];
}

/* A run with sleep and one without, side by side up to t: the same places to `tolerance`. */
static void same_as_awake(world *w, const char *text, double t, double tolerance)
{
    world awake = yard(text, 0);
    go(&awake, t, 9);
    same("place", w, &awake, ZW_FIELD_Q, tolerance);
    world_end(&awake);
}

/* ---- Which sleep ----------------------------------------------------------------------------- */

/* A motor, a force and a constraint that know the time: the arms never rest, the crates do. */
static void time_keeps_awake(void **state)
{
    (void)state;
    static const char *const text[] = {
        "import \"yard.xml\"\nmotor lift = 5 + 3*sin(2*t)\nplot time crate.z\n",
        "import \"yard.xml\"\nforce shoulder: 5 + 3*sin(2*t)\n",
        "import \"yard.xml\"\nconstraint tie: shoulder + elbow = 0.1*sin(t)\n",
        "import \"yard.xml\"\nforce shoulder: if(t > 100, 1, 0) - 20*shoulder - 5*shoulder'\n"};
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
        world w = yard(text[k], 1), shown = yard(text[k], 1);
        zw_run_summary x = go(&w, 3, 9), y = go(&shown, 3, -1);
        assert_true(sleeps(&w, "crate") && sleeps(&w, "chest") && !sleeps(&w, "arm"));
        same("place", &w, &shown, ZW_FIELD_Q, 0);
        close_to("violation", x.violation_position, y.violation_position, 1e-16);
        close_to("violation", x.violation_velocity, y.violation_velocity, 1e-15);
        close_to("work", x.work, y.work, 0);
        same_as_awake(&w, text[k], 3, 1e-9);
        world_end(&w);
        world_end(&shown);
    }
}

/* Held by forces and rows that do not know it, both arms come to rest and sleep, at once; a
 * parameter that changes wakes them, and they go where they go awake. */
static void rest_is_rest(void **state)
{
    (void)state;
    static const char text[] = "import \"yard.xml\"\nparam k = 40\n"
                               "force shoulder: -k*shoulder - 9*shoulder'\n"
                               "constraint tie: shoulder = elbow\n"
                               "check energy within 1000\n";
    world w = yard(text, 1), awake = yard(text, 0);
    double first = -1;
    for (int i = 1; i <= 300 && first < 0; i++) {
        go(&w, 0.02 * i, 9);
        assert_int_equal(sleeps(&w, "arm"), sleeps(&w, "other"));
        first = sleeps(&w, "arm") ? 0.02 * i : -1;
    }
    assert_true(first > 0.6);
    assert_int_equal(zw_sleepers(w.system, w.state, NULL, NULL), 4);
    go(&awake, first, 9);
    same("place", &w, &awake, ZW_FIELD_Q, 1e-4);
    for (int on = 0; on < 2; on++) {
        world *it = on ? &w : &awake;
        ((double *)zw_field(it->system, it->state, it->work, ZW_FIELD_PARAM).data)[0] = 20;
        go(it, first + 0.1, 9);
        assert_int_equal(zw_sleepers(it->system, it->state, NULL, NULL), 0);
        go(it, first + 4, 9);
    }
    same("place", &w, &awake, ZW_FIELD_Q, 1e-4);
    assert_int_equal(zw_sleepers(w.system, w.state, NULL, NULL), 4);
    world_end(&w);
    world_end(&awake);
}

/* ---- Events ---------------------------------------------------------------------------------- */

/* An event that is only counted, one that sets something: the motion is that of a run without
 * sleep, though steps are taken again. */
static void events_wake(void **state)
{
    (void)state;
    static const char *const text[] = {
        "import \"yard.xml\"\nforce shoulder: 3*sin(2*t)\nevent up: elbow = 1.2\n",
        "import \"yard.xml\"\nparam push = 0\nforce elbow: push\nevent now: t = 2.003, set push = "
        "4\n"};
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
        world w = yard(text[k], 1);
        zw_run_summary summary = go(&w, 1.9, 9);
        assert_true(sleeps(&w, "crate"));
        summary = go(&w, 4, 9);
        assert_true(k == 0 || summary.events == 1);
        assert_true(sleeps(&w, "crate") && sleeps(&w, "chest"));
        world awake = yard(text[k], 0);
        go(&awake, 1.9, 9);
        go(&awake, 4, 9);
        same("place", &w, &awake, ZW_FIELD_Q, 2e-4);
        world_end(&w);
        world_end(&awake);
    }
}

static void memory_can_fail(void **state)
{
    (void)state;
    static const char text[] = "import \"yard.xml\"\nmotor lift = 5 + 3*sin(2*t)\n";
    int failed = 0;
    for (int k = 1; k < 120; k += 4) {
        world w = yard(text, 1);
        base_alloc_fail_after(k);
        zw_status status = ZW_OK;
        for (int i = 0; i < 5; i++) {
            status =
                zw_step(w.system, w.state, w.work,
                        &(zw_run_options){.method = ZW_METHOD_IMPULSE, .step = 0.01}, &w.error);
            assert_true(status == ZW_OK || status == ZW_NO_MEMORY);
            failed += status != ZW_OK;
        }
        base_alloc_fail_after(0);
        world_end(&w);
    }
    assert_true(failed > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_keeps_awake),
        cmocka_unit_test(rest_is_rest),
        cmocka_unit_test(events_wake),
        cmocka_unit_test(memory_can_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Worlds of .zw texts that import the robots in test/system/import, and comparing two worlds. */
#ifndef ZW_TEST_SYSTEM_IMPORT_H
#define ZW_TEST_SYSTEM_IMPORT_H

#include "robots.h"
#include "world.h"

#define FOLDER ZW_SOURCE_DIR "/test/system/import/"

/* A text as if it stood in the folder of the robots. */
static inline world formulas_with(const char *text, const zw_setting *setting, int count)
{
    world w = {0};
    w.model =
        zw_model_parse(text, FOLDER "test.zw",
                       &(zw_read_options){.settings = setting, .setting_count = count}, &w.error);
    w.system = w.model ? zw_system_compile(w.model, NULL, &w.error) : NULL;
    w.work = w.system ? zw_work_create(w.system, &w.error) : NULL;
    w.state = w.work ? zw_state_create(w.system, w.work, &w.assembly, &w.error) : NULL;
    if (!w.state) {
        fail_msg("%s:%d:%d: %s", w.error.file, w.error.line, w.error.column, w.error.text);
    }
    return w;
}

static inline world formulas(const char *text)
{
    return formulas_with(text, NULL, 0);
}

static inline world file(const char *name)
{
    world w = {0};
    char path[500];
    snprintf(path, sizeof path, FOLDER "%s", name);
    w.model = zw_model_read(path, NULL, &w.error);
    w.system = w.model ? zw_system_compile(w.model, NULL, &w.error) : NULL;
    w.work = w.system ? zw_work_create(w.system, &w.error) : NULL;
    w.state = w.work ? zw_state_create(w.system, w.work, &w.assembly, &w.error) : NULL;
    if (!w.state) {
        fail_msg("%s:%d:%d: %s", w.error.file, w.error.line, w.error.column, w.error.text);
    }
    return w;
}

static inline void same(const char *what, world *one, world *two, zw_field_id field,
                        double tolerance)
{
    zw_view x = zw_field(one->system, one->state, one->work, field);
    zw_view y = zw_field(two->system, two->state, two->work, field);
    assert_int_equal(x.count, y.count);
    for (int i = 0; i < x.count; i++) {
        close_to(what, x.data[i], y.data[i], tolerance);
    }
}

static inline void same_motion(world *one, world *two, double time, double tolerance)
{
    for (int k = 1; k <= 3; k++) {
        zw_run_summary first = world_run(one, time * k / 3, 1e-13);
        zw_run_summary second = world_run(two, time * k / 3, 1e-13);
        same("place", one, two, ZW_FIELD_Q, tolerance);
        same("speed", one, two, ZW_FIELD_V, 10 * tolerance);
        assert_true(first.energy_drift <= 1e-10 && second.energy_drift <= 1e-10);
        assert_true(first.violation_position <= 1e-12 && first.violation_velocity <= 1e-12);
    }
}

#endif

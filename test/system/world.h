/* A world from a text, for tests: any failure prints its message and fails the test. */
#ifndef ZW_TEST_SYSTEM_WORLD_H
#define ZW_TEST_SYSTEM_WORLD_H

#include "zwang/zwang.h"

typedef struct world {
    zw_model *model;
    zw_system *system;
    zw_work *work;
    zw_state *state;
    zw_assembly assembly;
    zw_error error;
} world;

/* For tests with special needs: called between compiling and creating the work. */
typedef void world_tweak(zw_system *system);

static inline int world_try(world *w, const char *text, const zw_setting *setting, int settings,
                            world_tweak *tweak)
{
    *w = (world){0};
    w->model = zw_model_parse(text, "test.zw",
                              &(zw_read_options){.settings = setting, .setting_count = settings},
                              &w->error);
    if (w->model) {
        w->system = zw_system_compile(w->model, NULL, &w->error);
    }
    if (w->system) {
        if (tweak) {
            tweak(w->system);
        }
        w->work = zw_work_create(w->system, &w->error);
    }
    if (w->work) {
        w->state = zw_state_create(w->system, w->work, &w->assembly, &w->error);
    }
    return w->state != NULL;
}

static inline void world_end(world *w)
{
    zw_state_free(w->state);
    zw_work_free(w->work);
    zw_system_free(w->system);
    zw_model_free(w->model);
    *w = (world){0};
}

static inline world world_of(const char *text)
{
    world w;
    if (!world_try(&w, text, NULL, 0, NULL)) {
        print_error("%s:%d:%d: %s\n", w.error.file, w.error.line, w.error.column, w.error.text);
        fail();
    }
    return w;
}

static inline void world_forward(world *w)
{
    if (zw_forward(w->system, w->state, w->work, NULL, &w->error) != ZW_OK) {
        print_error("%s\n", w->error.text);
        fail();
    }
}

static inline zw_run_summary world_run(world *w, double time, double tolerance)
{
    zw_run_summary summary;
    const zw_run_options options = {.time = time, .tolerance = tolerance};
    if (zw_run(w->system, w->state, w->work, &options, &summary, &w->error) != ZW_OK) {
        print_error("%s\n", w->error.text);
        fail();
    }
    return summary;
}

static inline const double *world_field(world *w, zw_field_id field)
{
    return zw_field(w->system, w->state, w->work, field).data;
}

#endif

/* Scenes of bodies in contact, from MJCF. */
#ifndef ZW_TEST_STEP_TOUCH_H
#define ZW_TEST_STEP_TOUCH_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "read/file/xml.h"
#include "zwang/bodies.h"

#define G 9.81

typedef struct scene {
    zw_model *model;
    zw_system *system;
    zw_work *work;
    zw_state *state;
} scene;

static inline void must(zw_status status, const zw_error *error)
{
    if (status != ZW_OK) {
        fail_msg("%s: %s", zw_status_text(status), error->text);
    }
}

static inline scene scene_of(zw_model *model)
{
    zw_error error = {0};
    scene s = {.model = model};
    assert_non_null(model);
    s.system = zw_system_compile(s.model, NULL, &error);
    must(s.system ? ZW_OK : error.status, &error);
    s.work = zw_work_create(s.system, &error);
    must(s.work ? ZW_OK : error.status, &error);
    s.state = zw_state_create(s.system, s.work, NULL, &error);
    must(s.state ? ZW_OK : error.status, &error);
    return s;
}

static inline scene open_scene(const char *inner)
{
    static char text[40000];
    zw_error error = {0};
    int length =
        snprintf(text, sizeof text,
                 "<mujoco><option gravity='0 0 -9.81' timestep='0.002'/>%s</mujoco>", inner);
    assert_true(length < (int)sizeof text);
    zw_model *model = zw_model_parse(text, "scene.xml", NULL, &error);
    must(model ? ZW_OK : error.status, &error);
    return scene_of(model);
}

static inline void close_scene(scene *s)
{
    zw_state_free(s->state);
    zw_work_free(s->work);
    zw_system_free(s->system);
    zw_model_free(s->model);
}

static inline double *q_of(scene *s)
{
    return (double *)zw_field(s->system, s->state, s->work, ZW_FIELD_Q).data;
}

static inline double *v_of(scene *s)
{
    return (double *)zw_field(s->system, s->state, s->work, ZW_FIELD_V).data;
}

/* Run to time t; returns the largest certificate of the steps. */
static inline double go(scene *s, double t, double h)
{
    zw_run_options options = {.time = t, .every = t, .step = h, .method = ZW_METHOD_IMPULSE};
    zw_run_summary summary = {0};
    zw_error error = {0};
    must(zw_run(s->system, s->state, s->work, &options, &summary, &error), &error);
    return summary.certificate;
}

#endif

/* Files with bodies that touch, for tests and benchmarks: opened, run by impulses, looked at. What
 * goes wrong is in `error`, for the caller to check. */
#ifndef ZWANG_TEST_SCENE_TOUCH_H
#define ZWANG_TEST_SCENE_TOUCH_H

#include <math.h>
#include <string.h>

#include "zwang/bodies.h"

typedef struct touch {
    zw_model *model;
    zw_system *system;
    zw_work *work;
    zw_state *state;
    zw_error error;
    double certificate, depth; /* the worst so far */
    double tolerance;          /* of steps; 0: default, 1: one linearisation */
    int contacts;              /* most at once */
    long steps;
} touch;

static inline zw_status touch_start(touch *s, const char *key)
{
    if (s->model && key) {
        int index = zw_model_find(s->model, ZW_KIND_KEY, key);
        if (index < 0) {
            return ZW_BAD_INPUT;
        }
        zw_key_def def = *(const zw_key_def *)zw_model_def(s->model, ZW_KIND_KEY, index);
        def.start = 1;
        zw_model_change(s->model, ZW_KIND_KEY, index, &def, &s->error);
    }
    s->system = s->model ? zw_system_compile(s->model, NULL, &s->error) : NULL;
    s->work = s->system ? zw_work_create(s->system, &s->error) : NULL;
    s->state = s->work ? zw_state_create(s->system, s->work, NULL, &s->error) : NULL;
    return s->state ? ZW_OK : s->error.status;
}

/* A file, or the text of one. */
static inline zw_status touch_open(touch *s, const char *path, const char *key)
{
    *s = (touch){0};
    s->model = zw_model_read(path, NULL, &s->error);
    return touch_start(s, key);
}

static inline zw_status touch_parse(touch *s, const char *text, const char *key)
{
    *s = (touch){0};
    s->model = zw_model_parse(text, "scene.xml", NULL, &s->error);
    return touch_start(s, key);
}

static inline void touch_close(touch *s)
{
    zw_state_free(s->state);
    zw_work_free(s->work);
    zw_system_free(s->system);
    zw_model_free(s->model);
    *s = (touch){0};
}

static inline double *touch_field(touch *s, zw_field_id field)
{
    return (double *)zw_field(s->system, s->state, s->work, field).data;
}

/* To time t by steps of h; 0: those of the file. */
static inline zw_status touch_run(touch *s, double t, double h)
{
    zw_run_options options = {
        .time = t, .every = t, .step = h, .method = ZW_METHOD_IMPULSE, .tolerance = s->tolerance};
    zw_run_summary summary = {0};
    zw_status status = zw_run(s->system, s->state, s->work, &options, &summary, &s->error);
    s->certificate = fmax(s->certificate, summary.certificate);
    s->depth = fmax(s->depth, summary.depth);
    s->contacts = summary.contacts > s->contacts ? summary.contacts : s->contacts;
    s->steps += summary.steps;
    return status;
}

#endif

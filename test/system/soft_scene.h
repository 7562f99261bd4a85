/* Bodies from a text under the soft law, stepped one by one: for the tests of src/system/soft. */
#ifndef ZW_TEST_SYSTEM_SOFT_SCENE_H
#define ZW_TEST_SYSTEM_SOFT_SCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "step/soft_step.h"

typedef struct scene {
    zw_model *model;
    zw_system *system;
    zw_work *work;
    soft_problem *soft;
    double *q, *v;
    double h; /* step */
} scene;

static inline scene scene_open(const char *text, double h)
{
    zw_error error = {0};
    scene s = {.h = h};
    s.model = zw_model_parse(text, "scene.xml", NULL, &error);
    s.system = s.model ? zw_system_compile(s.model, NULL, &error) : NULL;
    s.work = s.system ? zw_work_create(s.system, &error) : NULL;
    if (!s.work || soft_create(s.system, s.work, h, &s.soft, &error) != ZW_OK) {
        fail_msg("%s", error.text);
    }
    s.q = calloc((size_t)s.system->nq + 1, sizeof(double));
    s.v = calloc((size_t)s.system->n + 1, sizeof(double));
    assert_true(s.q && s.v);
    memcpy(s.q, s.system->bodies->q, (size_t)s.system->nq * sizeof(double));
    return s;
}

static inline void close_scene(scene *s)
{
    soft_free(s->soft);
    zw_work_free(s->work);
    zw_system_free(s->system);
    zw_model_free(s->model);
    free(s->q);
    free(s->v);
}

static inline void step(scene *s)
{
    zw_error error = {0};
    double gained;
    if (soft_step(s->soft, 0, s->h, s->q, s->v, s->q, s->v, &gained, &error) != ZW_OK) {
        fail_msg("%s", error.text);
    }
}

#endif

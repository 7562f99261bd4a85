/* Robots built in C, for tests: any failure prints its message and fails the test. */
#ifndef ZW_TEST_SYSTEM_ROBOTS_H
#define ZW_TEST_SYSTEM_ROBOTS_H

#include <math.h>
#include <stdio.h>

#include "model/pose.h"
#include "system/bodies/bodies.h"
#include "zwang/bodies.h"

typedef struct robot {
    zw_model *model;
    zw_system *system;
    zw_work *work;
    zw_state *state;
    zw_error error;
} robot;

static inline zw_model *robot_new(void)
{
    zw_error error = {0};
    zw_model *model = zw_model_create(&error);
    zw_world_def world = zw_world_default();
    if (!model || zw_model_set_world(model, &world, &error) != ZW_OK) {
        fail_msg("%s", error.text);
    }
    return model;
}

/* A bar along x, from its joint to 0.5, of this mass. */
static inline int robot_body(zw_model *model, int parent, const char *name, double x, double y,
                             double z, double mass)
{
    zw_error error = {0};
    zw_body_def def = zw_body_default();
    def.name = name;
    def.parent = parent;
    def.pos[0] = x;
    def.pos[1] = y;
    def.pos[2] = z;
    def.inertial = 1;
    def.mass = mass;
    def.com[0] = 0.25;
    def.inertia[0] = 0.01 * mass;
    def.inertia[1] = 0.02 * mass;
    def.inertia[2] = 0.025 * mass;
    int index = zw_model_add_body(model, &def, &error);
    if (index < 0) {
        fail_msg("%s", error.text);
    }
    return index;
}

static inline int robot_joint(zw_model *model, int body, int kind, const char *name, double x,
                              double y, double z)
{
    zw_error error = {0};
    zw_joint_def def = zw_joint_default();
    def.name = name;
    def.body = body;
    def.kind = kind;
    def.axis[0] = x;
    def.axis[1] = y;
    def.axis[2] = z;
    int index = zw_model_add_joint(model, &def, &error);
    if (index < 0) {
        fail_msg("%s", error.text);
    }
    return index;
}

static inline void robot_limit(zw_model *model, int joint, double low, double high)
{
    zw_error error = {0};
    zw_joint_def def = *(const zw_joint_def *)zw_model_def(model, ZW_KIND_JOINT, joint);
    def.limited = 1;
    def.range[0] = low;
    def.range[1] = high;
    if (zw_model_change(model, ZW_KIND_JOINT, joint, &def, &error) != ZW_OK) {
        fail_msg("%s", error.text);
    }
}

/* With its scratch, and without a state: that may contradict the constraints. The model is its. */
static inline robot robot_compile(zw_model *model)
{
    robot r = {.model = model};
    r.system = zw_system_compile(model, NULL, &r.error);
    r.work = r.system ? zw_work_create(r.system, &r.error) : NULL;
    if (!r.work) {
        fail_msg("%s", r.error.text);
    }
    return r;
}

static inline robot robot_of(zw_model *model)
{
    robot r = robot_compile(model);
    r.state = zw_state_create(r.system, r.work, NULL, &r.error);
    if (!r.state) {
        fail_msg("%s", r.error.text);
    }
    return r;
}

static inline robot robot_read(const char *text)
{
    zw_error error = {0};
    zw_model *model = zw_model_parse(text, "robot.xml", NULL, &error);
    if (!model) {
        fail_msg("%d: %s", error.line, error.text);
    }
    return robot_of(model);
}

/* It begins as this keyframe says. */
static inline void robot_begin_with(zw_model *model, int index)
{
    zw_error error = {0};
    assert_true(index >= 0 && index < zw_model_count(model, ZW_KIND_KEY));
    zw_key_def key = *(const zw_key_def *)zw_model_def(model, ZW_KIND_KEY, index);
    key.start = 1;
    if (zw_model_change(model, ZW_KIND_KEY, index, &key, &error) != ZW_OK) {
        fail_msg("%s", error.text);
    }
}

/* A file of examples/bodies, beginning with the keyframe of this name, if any. */
static inline zw_model *robot_example(const char *file, const char *key)
{
    char path[500];
    zw_error error = {0};
    snprintf(path, sizeof path, "%s/examples/bodies/%s", ZW_SOURCE_DIR, file);
    zw_model *model = zw_model_read(path, NULL, &error);
    if (!model) {
        fail_msg("%s:%d: %s", path, error.line, error.text);
    }
    if (key) {
        robot_begin_with(model, zw_model_find(model, ZW_KIND_KEY, key));
    }
    return model;
}

/* That of a text, at its first keyframe. */
static inline robot robot_at_key(const char *text)
{
    zw_error error = {0};
    zw_model *model = zw_model_parse(text, "robot.xml", NULL, &error);
    if (!model) {
        fail_msg("%d: %s", error.line, error.text);
    }
    robot_begin_with(model, 0);
    return robot_of(model);
}

static inline void robot_end(robot *r)
{
    zw_state_free(r->state);
    zw_work_free(r->work);
    zw_system_free(r->system);
    zw_model_free(r->model);
    *r = (robot){0};
}

static inline const double *robot_accelerations(robot *r)
{
    if (zw_forward(r->system, r->state, r->work, NULL, &r->error) != ZW_OK) {
        fail_msg("%s", r->error.text);
    }
    return r->work->a;
}

static inline zw_run_summary robot_run(robot *r, double time, double tolerance)
{
    zw_run_summary summary;
    /* where shapes can touch, the default would be of order one */
    zw_method method = zw_contact_capacity(r->system) > 0 ? ZW_METHOD_DOP853 : ZW_METHOD_DEFAULT;
    const zw_run_options options = {.time = time, .tolerance = tolerance, .method = method};
    if (zw_run(r->system, r->state, r->work, &options, &summary, &r->error) != ZW_OK) {
        fail_msg("%s", r->error.text);
    }
    return summary;
}

static inline double dice(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 8388608.0 - 1.0;
}

static inline void close_to(const char *what, double x, double y, double tolerance)
{
    if (!(fabs(x - y) <= tolerance)) {
        fail_msg("%s: %.17g is not %.17g", what, x, y);
    }
}

#endif

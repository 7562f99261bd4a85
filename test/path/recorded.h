/* Recordings in memory, for tests: a motion of an example, and ways to modify it. */
#ifndef ZW_TEST_PATH_RECORDED_H
#define ZW_TEST_PATH_RECORDED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/system.h"
#include "zwang/path.h"
#include "zwang/zwang.h"

typedef struct recorded {
    zw_model *model;
    zw_system *system;
    long count, capacity;
    int n;
    double *t, *q, *v;
} recorded;

static inline void recorded_fail(const zw_error *error)
{
    print_error("%s:%d: %s\n", error->file, error->line, error->text);
    fail();
}

static inline int recorded_observe(void *user, zw_sample_kind kind, int event,
                                   const zw_system *system, const zw_state *state, zw_work *work)
{
    recorded *r = user;
    (void)kind;
    (void)event;
    size_t n = (size_t)r->n, at = (size_t)r->count * n;
    if (r->count == r->capacity) {
        return 1;
    }
    r->t[r->count++] = state->t;
    memcpy(r->q + at, zw_field(system, state, work, ZW_FIELD_Q).data, n * sizeof(double));
    memcpy(r->v + at, zw_field(system, state, work, ZW_FIELD_V).data, n * sizeof(double));
    return 0;
}

static inline void recorded_reserve(recorded *r, long capacity)
{
    size_t n = (size_t)r->n, samples = (size_t)capacity;
    r->capacity = capacity;
    r->t = malloc(samples * sizeof(double));
    r->q = malloc(samples * n * sizeof(double));
    r->v = malloc(samples * n * sizeof(double));
    assert_true(r->t && r->q && r->v);
}

static inline zw_system *recorded_system(zw_model *model)
{
    zw_error error = {0};
    zw_system *system = model ? zw_system_compile(model, NULL, &error) : NULL;
    if (!system) {
        recorded_fail(&error);
    }
    return system;
}

static inline zw_model *recorded_example(const char *name, const zw_setting *setting, int settings)
{
    zw_error error = {0};
    char file[512];
    snprintf(file, sizeof file, "%s/examples/%s.zw", ZW_SOURCE_DIR, name);
    zw_model *model = zw_model_read(
        file, &(zw_read_options){.settings = setting, .setting_count = settings}, &error);
    if (!model) {
        recorded_fail(&error);
    }
    return model;
}

/* The example without the line of one constraint, and without plots and checks. */
static inline zw_model *recorded_without(const char *name, const char *constraint)
{
    zw_error error = {0};
    char file[512], line[1024], text[16384] = "", begin[128];
    snprintf(file, sizeof file, "%s/examples/%s.zw", ZW_SOURCE_DIR, name);
    snprintf(begin, sizeof begin, "%s:", constraint);
    FILE *in = fopen(file, "r");
    assert_non_null(in);
    while (fgets(line, sizeof line, in)) {
        int its = (strncmp(line, "constraint", 10) == 0 || strncmp(line, "friction", 8) == 0) &&
                  strstr(line, begin);
        its |= strncmp(line, "plot", 4) == 0 || strncmp(line, "check", 5) == 0;
        if (!its) {
            strncat(text, line, sizeof text - strlen(text) - 1);
        }
    }
    fclose(in);
    zw_model *model = zw_model_parse(text, "without.zw", NULL, &error);
    if (!model) {
        recorded_fail(&error);
    }
    return model;
}

/* The motion of the model in samples of time/count. Takes the model. */
static inline recorded recorded_run(zw_model *model, double time, long count)
{
    recorded r = {.model = model, .system = recorded_system(model)};
    zw_error error = {0};
    r.n = zw_count(r.system, ZW_KIND_COORD);
    recorded_reserve(&r, count + 200);
    zw_work *work = zw_work_create(r.system, &error);
    zw_state *state = work ? zw_state_create(r.system, work, NULL, &error) : NULL;
    const zw_run_options options = {
        .time = time, .every = time / (double)count, .observer = recorded_observe, .user = &r};
    if (!state || zw_run(r.system, state, work, &options, NULL, &error) != ZW_OK) {
        recorded_fail(&error);
    }
    zw_state_free(state);
    zw_work_free(work);
    return r;
}

static inline void recorded_end(recorded *r)
{
    free(r->t);
    free(r->q);
    free(r->v);
    zw_system_free(r->system);
    zw_model_free(r->model);
    *r = (recorded){0};
}

static inline double recorded_size(const recorded *r, int k)
{
    double size = 0;
    for (long i = 0; i < r->count; i++) {
        double x = r->q[i * r->n + k];
        size = x > size ? x : -x > size ? -x : size;
    }
    return size;
}

/* A bump of `part` of the coordinate's size, from time - width to time + width; its speed too. */
static inline void recorded_bump(recorded *r, int k, double part, double time, double width)
{
    double size = part * recorded_size(r, k);
    for (long i = 0; i < r->count; i++) {
        double x = (r->t[i] - time) / width, u = 1 - x * x;
        if (u > 0) {
            r->q[i * r->n + k] += size * u * u * u * u;
            r->v[i * r->n + k] -= size * 8 * x * u * u * u / width;
        }
    }
}

static inline zw_trial_report recorded_try(const recorded *r, const zw_system *system, int speeds,
                                           const zw_certify_options *options)
{
    zw_error error = {0};
    zw_path *path = zw_path_create(system, r->count, r->t, r->q, speeds ? r->v : NULL, &error);
    zw_trial *trial = path ? zw_path_certify(system, path, options, &error) : NULL;
    if (!trial) {
        recorded_fail(&error);
    }
    zw_trial_report report = *zw_trial_look(trial);
    zw_trial_free(trial);
    zw_path_free(path);
    return report;
}

#endif

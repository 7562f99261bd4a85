/* A model on its way: what the tests in this folder need to open a text or file and to run it. */
#ifndef ZW_TEST_REFERENCES_MOVING_H
#define ZW_TEST_REFERENCES_MOVING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene/campaign.h"
#include "zwang/path.h"

typedef struct moving {
    zw_model *model;
    zw_system *system;
    zw_work *work;
    zw_state *state;
    zw_run_summary summary; /* of the last run */
    zw_error error;         /* of what failed last */
} moving;

static inline void moving_close(moving *m)
{
    zw_state_free(m->state);
    zw_work_free(m->work);
    zw_system_free(m->system);
    zw_model_free(m->model);
    *m = (moving){0};
}

/* From the text, or from the file `name` if the text is NULL. NULL: all is well; else what could
 * not be done, with the reason in m->error. */
static inline const char *moving_open(moving *m, const char *text, const char *name,
                                      const zw_setting *setting, int count)
{
    *m = (moving){0};
    m->model =
        text != NULL
            ? zw_model_parse(text, name,
                             &(zw_read_options){.settings = setting, .setting_count = count},
                             &m->error)
            : zw_model_read(name, &(zw_read_options){.settings = setting, .setting_count = count},
                            &m->error);
    if (m->model == NULL) {
        return "read";
    }
    m->system = zw_system_compile(m->model, NULL, &m->error);
    if (m->system == NULL) {
        return "compile";
    }
    m->work = zw_work_create(m->system, &m->error);
    m->state = m->work == NULL ? NULL : zw_state_create(m->system, m->work, NULL, &m->error);
    if (m->state != NULL && zw_reach_asked(m->system) &&
        zw_reach(m->system, m->state, m->work, NULL, NULL, &m->error) != ZW_OK) {
        return "reach";
    }
    return m->state == NULL ? "start" : NULL;
}

static inline const double *moving_field(moving *m, zw_field_id id)
{
    return zw_field(m->system, m->state, m->work, id).data;
}

static inline double moving_time(moving *m)
{
    return moving_field(m, ZW_FIELD_TIME)[0];
}

/* On to the time; nothing if it is already past. NULL: arrived, or stopped by a `stop`. */
static inline const char *moving_run_within(moving *m, double time, double tolerance, double step)
{
    if (time <= moving_time(m)) {
        return NULL;
    }
    zw_run_options options = {.time = time, .every = time, .tolerance = tolerance, .step = step};
    zw_status status = zw_run(m->system, m->state, m->work, &options, &m->summary, &m->error);
    return status != ZW_OK                                       ? "run"
           : moving_time(m) != time && m->summary.stopped_by < 0 ? "arrive"
                                                                 : NULL;
}

static inline const char *moving_run(moving *m, double time, double tolerance)
{
    return moving_run_within(m, time, tolerance, 0);
}

/* lambda of the first row of a constraint, after a run or zw_forward. */
static inline double moving_multiplier(moving *m, const char *name)
{
    for (int row = 0; row < zw_count(m->system, ZW_KIND_ROW); row++) {
        if (strcmp(zw_name(m->system, ZW_KIND_ROW, row), name) == 0) {
            return moving_field(m, ZW_FIELD_LAMBDA)[row];
        }
    }
    fail_msg("there is no constraint %s", name);
    return NAN;
}

/* "rod" or "rod'": a coordinate or its speed; "lambda(edge)"; fails the test if there is none. */
static inline double moving_value(moving *m, const char *name)
{
    char bare[64];
    if (sscanf(name, "lambda(%63[^)])", bare) == 1) {
        return moving_multiplier(m, bare);
    }
    size_t length = strcspn(name, "'");
    snprintf(bare, sizeof bare, "%.*s", (int)(length < 63 ? length : 63), name);
    int coord = zw_id(m->system, ZW_KIND_COORD, bare);
    if (coord < 0) {
        fail_msg("there is no coordinate %s", bare);
    }
    return moving_field(m, name[length] == '\'' ? ZW_FIELD_V : ZW_FIELD_Q)[coord];
}

/* What failed, and why, on one line or a few. */
static inline void moving_complain(const moving *m, const char *who, const char *doing)
{
    print_error("    %s: could not %s: %s: %s (%s:%d:%d)\n", who, doing,
                zw_status_text(m->error.status), m->error.text, m->error.file, m->error.line,
                m->error.column);
}

/* The whole file, ended with 0; the caller frees. */
static inline char *moving_text_of(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return NULL;
    }
    size_t size = 1 << 20;
    char *text = malloc(size + 1);
    assert_non_null(text);
    text[fread(text, 1, size, file)] = 0;
    fclose(file);
    return text;
}

/* Is this line of the data, and what follows in its case, left to larger campaigns? */
static inline int moving_far(const char *word, const char *rest)
{
    int long_run = strcmp(word, "state") == 0 || strcmp(word, "instant") == 0;
    return long_run && campaign_is_small() && atof(rest) > 100;
}

#endif

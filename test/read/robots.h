/* For the tests of the robot readers: a model from text. */
#ifndef ZWANG_TEST_READ_ROBOTS_H
#define ZWANG_TEST_READ_ROBOTS_H

#include "reading.h"

#include "model/bodies.h"
#include "read/file/xml.h"

static inline zw_model *robot_from(const char *text)
{
    zw_error error;
    zw_model *model = zw_model_parse(text, ZW_SOURCE_DIR "/test/read/test.xml", NULL, &error);
    if (model == NULL) {
        print_error("%s:%d:%d: %s\n", error.file, error.line, error.column, error.text);
    }
    assert_non_null(model);
    assert_non_null(model->bodies);
    return model;
}

/* The text inside of <mujoco>. */
static inline zw_model *mjcf_from(const char *inner)
{
    static char text[20000];
    int length = snprintf(text, sizeof text, "<mujoco>%s</mujoco>", inner);
    assert_true(length < (int)sizeof text);
    return robot_from(text);
}

static inline const void *thing(const zw_model *model, zw_kind kind, const char *name)
{
    int index = zw_model_find(model, kind, name);
    if (index < 0) {
        print_error("there is no %s '%s'\n", model_part_word(kind), name);
    }
    assert_true(index >= 0);
    return zw_model_def(model, kind, index);
}

#define ASSERT_VECTOR(got, ...)                                                                    \
    do {                                                                                           \
        const double wanted_[] = {__VA_ARGS__};                                                    \
        for (size_t i_ = 0; i_ < sizeof wanted_ / sizeof *wanted_; i_++) {                         \
            ASSERT_CLOSE((got)[i_], wanted_[i_]);                                                  \
        }                                                                                          \
    } while (0)

#endif

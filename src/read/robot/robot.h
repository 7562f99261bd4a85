/* Robot files of any format, as zw_model_read reads them. */
#ifndef ZW_READ_ROBOT_H
#define ZW_READ_ROBOT_H

#include "read/file/xml.h"

/* Limits of the reader of a robot file. */
typedef struct robot_limits {
    int files;                      /* may other files be read? */
    int copies;                     /* most elements that replicate may create */
    int depth;                      /* depth of nested attached models */
    const zw_read_options *options; /* NULL: the defaults */
} robot_limits;

extern const robot_limits robot_usual_limits;

/* Does the name or the text look like a robot file? Either may be NULL. */
int robot_is(const char *name, const char *text);

/* A model of the file; NULL with the message in `error`. Limits may be NULL: the defaults. */
zw_model *robot_read(const char *path, const robot_limits *limits, zw_error *error);
/* The same from memory; `name` stands for the file, others are looked up beside it. */
zw_model *robot_text(const char *text, const char *name, const robot_limits *limits,
                     zw_error *error);

/* robot_set.c: applies settings: numbers of the model, and initial controls of motors. If one is
 * refused, the model is freed and NULL returned; a NULL model is passed through. */
zw_model *robot_set(zw_model *model, const zw_setting *settings, int setting_count,
                    zw_error *error);

/* Adds the bodies of a file to a model that has none yet, for `import` in a .zw file at `place`.
 * After a failure the model must be freed. */
zw_status robot_import(zw_model *model, const char *path, int place, const zw_read_options *options,
                       zw_error *error);

/* Reads a file into the model's list; returns its number, or -1 with the message at `place`. */
int robot_file(xml_tree *xml, const char *path, int place);

#endif

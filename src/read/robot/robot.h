/* Robot files of any format, as zw_model_read reads them. */
#ifndef ZW_READ_ROBOT_H
#define ZW_READ_ROBOT_H

#include "read/file/xml.h"

/* What the reader of a robot file may do. */
typedef struct robot_limits {
    int files;                      /* may other files be read? */
    int copies;                     /* elements that replicate may make, in all */
    int depth;                      /* models that this one is attached to */
    const zw_read_options *options; /* NULL: the usual ones */
} robot_limits;

extern const robot_limits robot_usual_limits;

/* Does the name or the text look like one? Either may be NULL. */
int robot_is(const char *name, const char *text);

/* A model of the file; NULL with the message in `error`. Limits may be NULL: the usual ones. */
zw_model *robot_read(const char *path, const robot_limits *limits, zw_error *error);
/* The same from memory; `name` stands for the file, others are looked up beside it. */
zw_model *robot_text(const char *text, const char *name, const robot_limits *limits,
                     zw_error *error);

/* robot_set.c: settings are the controls that motors begin with. The model is freed if one cannot
 * be; NULL stays. */
zw_model *robot_set(zw_model *model, const zw_setting *settings, int setting_count,
                    zw_error *error);

/* The bodies of a file into a model that has none yet, for `import` in a .zw file: `place` is where
 * that stands. The model is to be thrown away if this fails. */
zw_status robot_import(zw_model *model, const char *path, int place, const zw_read_options *options,
                       zw_error *error);

/* Read a file into the model's list: its number, or -1 with the message at `place`. */
int robot_file(xml_tree *xml, const char *path, int place);

#endif

/* A model as an MJCF file that MuJoCo reads with the same numbers; for the files of this folder.
 *
 * Nothing relies on defaults and classes: every number is written at its element, angles in
 * radians, with 17 digits. Each body has its mass and moments of inertia as an <inertial>, whatever
 * they were computed from; meshes and height fields are written inline. Bodies are written as a
 * tree, each before its children, so the order of the coordinates may differ from the model's;
 * keyframes use the order of the file. What MJCF cannot express is an error that names it. */
#ifndef ZW_RECORD_MJCF_MJCF_H
#define ZW_RECORD_MJCF_MJCF_H

#include "model/bodies.h"
#include "record/file.h"

typedef struct mjcf_writer {
    const zw_model *model;
    const model_bodies *b;
    record_file file;
    zw_inertia *inertia; /* [bodies] */
    model_pose *pose;    /* [bodies] in the world, as described */
    int *first,
        *next;  /* [bodies] the first child of a body, + 1; the next child of the same parent */
    int *order; /* [bodies] the order in which they are written */
    int written;
    zw_error *error;
    zw_status status;
} mjcf_writer;

/* Attributes: ` name="..."`. Lists of zeros are written as well. */
void mjcf_put_text(mjcf_writer *w, const char *attribute, const char *text);
void mjcf_put_reals(mjcf_writer *w, const char *attribute, const double *x, int count);
void mjcf_put_int(mjcf_writer *w, const char *attribute, int value);
void mjcf_put_bool(mjcf_writer *w, const char *attribute, int value);
void mjcf_put_soft(mjcf_writer *w, const char *ref, const char *imp, const zw_soft *soft);
/* The name of a thing, its own or a generated unique one; nothing for body -1. */
void mjcf_put_name(mjcf_writer *w, const char *attribute, zw_kind kind, int index);

/* Reports something that MJCF cannot express. */
void mjcf_refuse(mjcf_writer *w, zw_kind kind, int index, const char *why);

/* Sections. */
void mjcf_put_assets(mjcf_writer *w);     /* mjcf_asset.c */
void mjcf_put_bodies(mjcf_writer *w);     /* mjcf_body.c */
void mjcf_put_equalities(mjcf_writer *w); /* mjcf_equality.c */
void mjcf_put_own_sites(mjcf_writer *w,
                        int body);     /* sites for the frames of equalities on a body */
void mjcf_put_tendons(mjcf_writer *w); /* mjcf_drive.c */
void mjcf_put_contacts(mjcf_writer *w);
void mjcf_put_actuators(mjcf_writer *w);
void mjcf_put_sensors(mjcf_writer *w); /* mjcf_sense.c */
void mjcf_put_keys(mjcf_writer *w);

#endif

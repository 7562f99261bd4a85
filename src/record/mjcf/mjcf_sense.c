/* Sensors and keyframes. */
#include <string.h>

#include "record/mjcf/mjcf.h"

static const char *const sensor_word[] = {
#define SENSOR_WORD(name, text, mount, size) text,
    ZW_SENSOR_TABLE(SENSOR_WORD)
#undef SENSOR_WORD
};
static const int sensor_mount[] = {
#define SENSOR_MOUNT(name, text, mount, size) ZW_MOUNT_##mount,
    ZW_SENSOR_TABLE(SENSOR_MOUNT)
#undef SENSOR_MOUNT
};

/* The object of a frame sensor: the word of its kind, and its name. */
static void put_frame(mjcf_writer *w, const char *type, const char *name, int frame, int target)
{
    static const struct {
        const char *word;
        zw_kind kind;
    } frames[] = {[ZW_FRAME_BODY] = {"xbody", ZW_KIND_BODY},
                  [ZW_FRAME_INERTIAL] = {"body", ZW_KIND_BODY},
                  [ZW_FRAME_GEOM] = {"geom", ZW_KIND_GEOM},
                  [ZW_FRAME_SITE] = {"site", ZW_KIND_SITE}};
    if (frame != ZW_FRAME_NONE) {
        mjcf_put_text(w, type, frames[frame].word);
        mjcf_put_name(w, name, frames[frame].kind, target);
    }
}

static void put_data(mjcf_writer *w, const zw_sensor_def *s)
{
    static const char *const words[2][7] = {
        {"found", "force", "torque", "dist", "pos", "normal", "tangent"},
        {"dist", "dir", "origin", "point", "normal", "depth"}};
    record_put(&w->file, " data=\"");
    for (int k = 0, said = 0; k < 7; k++) {
        if (s->data >> k & 1) {
            record_putf(&w->file, "%s%s", said++ > 0 ? " " : "",
                        words[s->kind == ZW_SENSOR_RANGEFINDER][k]);
        }
    }
    record_put(&w->file, "\"");
}

static void put_contact(mjcf_writer *w, const zw_sensor_def *s)
{
    static const char *const rules[] = {"none", "mindist", "maxforce", "netforce"};
    for (int side = 0; side < 2; side++) {
        int frame = side ? s->ref_frame : s->frame, target = side ? s->ref_target : s->target;
        if (frame == ZW_FRAME_SITE) {
            mjcf_put_name(w, "site", ZW_KIND_SITE, target);
        } else if (frame == ZW_FRAME_GEOM) {
            mjcf_put_name(w, side ? "geom2" : "geom1", ZW_KIND_GEOM, target);
        } else if (frame == ZW_FRAME_BODY) {
            mjcf_put_name(w, side ? "body2" : "body1", ZW_KIND_BODY, target);
        } else if (frame == ZW_FRAME_SUBTREE) {
            mjcf_put_name(w, side ? "subtree2" : "subtree1", ZW_KIND_BODY, target);
        }
    }
    record_putf(&w->file, " num=\"%d\"", s->number);
    put_data(w, s);
    record_putf(&w->file, " reduce=\"%s\"", rules[s->reduce]);
}

static void put_sensor(mjcf_writer *w, int index)
{
    static const struct {
        const char *word;
        zw_kind kind;
    } mounts[] = {[ZW_MOUNT_SITE] = {"site", ZW_KIND_SITE},
                  [ZW_MOUNT_JOINT] = {"joint", ZW_KIND_JOINT},
                  [ZW_MOUNT_BODY] = {"body", ZW_KIND_BODY},
                  [ZW_MOUNT_TENDON] = {"tendon", ZW_KIND_TENDON},
                  [ZW_MOUNT_ACTUATOR] = {"actuator", ZW_KIND_ACTUATOR},
                  [ZW_MOUNT_RAY] = {"site", ZW_KIND_SITE}};
    const zw_sensor_def *s = &w->b->sensor[index];
    int mount = sensor_mount[s->kind];
    record_putf(&w->file, "    <%s", sensor_word[s->kind]);
    if (s->name != NULL) {
        mjcf_put_text(w, "name", s->name);
    }
    if (mount == ZW_MOUNT_FRAME) {
        put_frame(w, "objtype", "objname", s->frame, s->target);
        put_frame(w, "reftype", "refname", s->ref_frame, s->ref_target);
    } else if (mount == ZW_MOUNT_INSIDE) {
        put_frame(w, "objtype", "objname", s->frame, s->target);
        mjcf_put_name(w, "site", ZW_KIND_SITE, s->ref_target);
    } else if (mount == ZW_MOUNT_CONTACT) {
        put_contact(w, s);
    } else if (mount != ZW_MOUNT_NOTHING) {
        mjcf_put_name(w, mounts[mount].word, mounts[mount].kind, s->target);
    }
    if (mount == ZW_MOUNT_RAY) {
        put_data(w, s);
    }
    mjcf_put_reals(w, "cutoff", &s->cutoff, 1);
    mjcf_put_reals(w, "noise", &s->noise, 1);
    record_put(&w->file, "/>\n");
}

void mjcf_put_sensors(mjcf_writer *w)
{
    record_put(&w->file, "  <sensor>\n");
    for (int i = 0; i < w->b->count[ZW_KIND_SENSOR]; i++) {
        put_sensor(w, i);
    }
    record_put(&w->file, "  </sensor>\n");
}

/* ---- Keyframes ------------------------------------------------------------------------------ */

static int joint_numbers(const zw_joint_def *j, int speeds)
{
    return speeds ? model_joint_speeds[j->kind] : model_joint_positions[j->kind];
}

/* The values of the joints of one body, after those of all bodies before it. */
static void put_joints_of(mjcf_writer *w, int body, const double *x, int speeds, int *said)
{
    int at = 0;
    for (int b = 0; b < body; b++) {
        for (int i = 0; w->b->joints[b] > 0 && i < w->b->count[ZW_KIND_JOINT]; i++) {
            at += w->b->joint[i].body == b ? joint_numbers(&w->b->joint[i], speeds) : 0;
        }
    }
    for (int i = 0; i < w->b->count[ZW_KIND_JOINT]; i++) {
        if (w->b->joint[i].body != body) {
            continue;
        }
        for (int k = joint_numbers(&w->b->joint[i], speeds); k > 0; k--) {
            record_put(&w->file, (*said)++ > 0 ? " " : "");
            record_put_number(&w->file, x[at++], 17);
        }
    }
}

/* Values in the order in which the bodies were written. */
static void put_coordinates(mjcf_writer *w, const char *attribute, const double *x, int speeds)
{
    int said = 0;
    if (x == NULL) {
        return;
    }
    record_putf(&w->file, " %s=\"", attribute);
    for (int i = 0; i < w->written; i++) {
        put_joints_of(w, w->order[i], x, speeds, &said);
    }
    record_put(&w->file, "\"");
}

/* Of the poses of mocap bodies: positions or quaternions, likewise. */
static void put_mocap(mjcf_writer *w, const char *attribute, const double *pose, int first,
                      int count)
{
    int said = 0;
    record_putf(&w->file, " %s=\"", attribute);
    for (int i = 0; i < w->written; i++) {
        const double *x = pose;
        for (int b = 0; b < w->order[i]; b++) {
            x += w->b->body[b].mocap ? 7 : 0;
        }
        for (int k = first; k < first + count && w->b->body[w->order[i]].mocap; k++) {
            record_put(&w->file, said++ > 0 ? " " : "");
            record_put_number(&w->file, x[k], 17);
        }
    }
    record_put(&w->file, "\"");
}

void mjcf_put_keys(mjcf_writer *w)
{
    record_put(&w->file, "  <keyframe>\n");
    for (int i = 0; i < w->b->count[ZW_KIND_KEY]; i++) {
        const zw_key_def *key = &w->b->key[i];
        record_put(&w->file, "    <key");
        if (key->name != NULL) {
            mjcf_put_text(w, "name", key->name);
        }
        mjcf_put_reals(w, "time", &key->time, 1);
        put_coordinates(w, "qpos", key->qpos, 0);
        put_coordinates(w, "qvel", key->qvel, 1);
        if (key->act != NULL && key->act_count > 0) {
            mjcf_put_reals(w, "act", key->act, key->act_count);
        }
        if (key->ctrl != NULL && key->ctrl_count > 0) {
            mjcf_put_reals(w, "ctrl", key->ctrl, key->ctrl_count);
        }
        if (key->mocap != NULL && key->mocap_count > 0) {
            put_mocap(w, "mpos", key->mocap, 0, 3);
            put_mocap(w, "mquat", key->mocap, 3, 4);
        }
        record_put(&w->file, "/>\n");
    }
    record_put(&w->file, "  </keyframe>\n");
}

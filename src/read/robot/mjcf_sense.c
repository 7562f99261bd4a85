/* Sensors and keyframes. */
#include <string.h>

#include "base/memory.h"
#include "read/robot/mjcf.h"

/* ---- Sensors -------------------------------------------------------------------------------- */

static const struct {
    const char *word;
    const form_row *rows;
    int mount;
} kinds[] = {
#define KIND(name, text, on, size) {text, mjcf_sensor_on_##on, ZW_MOUNT_##on},
    ZW_SENSOR_TABLE(KIND)
#undef KIND
};

static int frame_of(mjcf *m, int element, const char *type, const char *name, int word, int *frame,
                    int *target, const char **unsupported)
{
    enum { CAMERA = 5 };
    static const struct {
        int frame; /* zw_frame_kind */
        zw_kind kind;
    } frames[] = {{ZW_FRAME_NONE, ZW_KIND_BODY},
                  {ZW_FRAME_BODY, ZW_KIND_BODY},
                  {ZW_FRAME_INERTIAL, ZW_KIND_BODY},
                  {ZW_FRAME_GEOM, ZW_KIND_GEOM},
                  {ZW_FRAME_SITE, ZW_KIND_SITE}};
    if (xml_find(&m->xml, element, type) < 0) {
        return form_fail(&m->xml, element, NULL, "%s is missing", type);
    }
    if (word == CAMERA) {
        *unsupported = "camera (cameras are not read)";
        return 1;
    }
    if (word < 1) {
        return form_fail(&m->xml, element, type, "expected a frame of a body, geom or site");
    }
    *frame = frames[word].frame;
    if (!mjcf_refer(m, element, name, frames[word].kind, target)) {
        return 0;
    }
    if (*frame == ZW_FRAME_GEOM && m->model->bodies->geom[*target].shape == ZW_SHAPE_MESH) {
        *unsupported = "of a mesh geom (MuJoCo moves its frame to the mesh's centre; here it stays "
                       "where it is written: use a site)";
    }
    return 1;
}

/* Which contacts: at most one attribute for each side. */
static int subjects_of(mjcf *m, int element, mjcf_sensor *s)
{
    static const struct {
        const char *word;
        int side, frame;
        zw_kind kind;
    } words[] = {{"site", 0, ZW_FRAME_SITE, ZW_KIND_SITE},
                 {"geom1", 0, ZW_FRAME_GEOM, ZW_KIND_GEOM},
                 {"body1", 0, ZW_FRAME_BODY, ZW_KIND_BODY},
                 {"subtree1", 0, ZW_FRAME_SUBTREE, ZW_KIND_BODY},
                 {"geom2", 1, ZW_FRAME_GEOM, ZW_KIND_GEOM},
                 {"body2", 1, ZW_FRAME_BODY, ZW_KIND_BODY},
                 {"subtree2", 1, ZW_FRAME_SUBTREE, ZW_KIND_BODY}};
    for (int i = 0; i < 7; i++) {
        int *frame = words[i].side ? &s->def.ref_frame : &s->def.frame;
        int *target = words[i].side ? &s->def.ref_target : &s->def.target;
        if (s->subject[i] == NULL) {
            continue;
        }
        if (*frame != ZW_FRAME_NONE) {
            return form_fail(&m->xml, element, words[i].word,
                             "this side of the contacts is given twice");
        }
        *frame = words[i].frame;
        if (!mjcf_refer(m, element, words[i].word, words[i].kind, target)) {
            return 0;
        }
    }
    return 1;
}

/* Words of `data`, in their order, as bits; by default the first. */
static int data_words(mjcf *m, int element, mjcf_sensor *s, const char *words)
{
    const char *at = s->data;
    int before = -1;
    if (at == NULL) {
        return 1;
    }
    s->def.data = 0;
    for (;;) {
        char word[16] = {0};
        at += strspn(at, " \t\r\n");
        size_t length = strcspn(at, " \t\r\n");
        if (length == 0) {
            break;
        }
        memcpy(word, at, length < sizeof word ? length : sizeof word - 1);
        int k = form_word(words, word);
        if (k < 0 || k <= before) {
            return form_fail(&m->xml, element, "data", "%s %s",
                             k < 0 ? "it consists of:" : "its words must be in the order", words);
        }
        s->def.data |= 1 << k;
        before = k;
        at += length;
    }
    return s->def.data != 0 || form_fail(&m->xml, element, "data", "it consists of: %s", words);
}

/* What it is mounted on, and what it reports. */
static int mount_of(mjcf *m, int element, int mount, mjcf_sensor *s)
{
    switch (mount) {
    case ZW_MOUNT_SITE:
        return mjcf_refer(m, element, "site", ZW_KIND_SITE, &s->def.target);
    case ZW_MOUNT_JOINT:
        return mjcf_refer(m, element, "joint", ZW_KIND_JOINT, &s->def.target);
    case ZW_MOUNT_BODY:
        return mjcf_refer(m, element, "body", ZW_KIND_BODY, &s->def.target);
    case ZW_MOUNT_TENDON:
        return mjcf_refer(m, element, "tendon", ZW_KIND_TENDON, &s->def.target);
    case ZW_MOUNT_ACTUATOR:
        return mjcf_refer(m, element, "actuator", ZW_KIND_ACTUATOR, &s->def.target);
    case ZW_MOUNT_FRAME:
        return frame_of(m, element, "objtype", "objname", s->frame, &s->def.frame, &s->def.target,
                        &s->unsupported) &&
               (s->ref == NULL || frame_of(m, element, "reftype", "refname", s->ref_frame,
                                           &s->def.ref_frame, &s->def.ref_target, &s->unsupported));
    case ZW_MOUNT_INSIDE:
        s->def.ref_frame = ZW_FRAME_SITE;
        return frame_of(m, element, "objtype", "objname", s->frame, &s->def.frame, &s->def.target,
                        &s->unsupported) &&
               mjcf_refer(m, element, "site", ZW_KIND_SITE, &s->def.ref_target);
    case ZW_MOUNT_RAY:
        return mjcf_refer(m, element, "site", ZW_KIND_SITE, &s->def.target) &&
               data_words(m, element, s, "dist dir origin point normal depth");
    case ZW_MOUNT_CONTACT:
        return subjects_of(m, element, s) &&
               data_words(m, element, s, "found force torque dist pos normal tangent");
    default:
        return 1;
    }
}

static int sensor(mjcf *m, int element)
{
    mjcf_sensor s = {.def = zw_sensor_default()};
    int kind = 0;
    while (kind < ZW_SENSOR_COUNT && !mjcf_is(m, element, kinds[kind].word)) {
        kind++;
    }
    if (kind == ZW_SENSOR_COUNT) {
        return 1; /* noted */
    }
    s.def.kind = kind;
    if (!form_apply(&m->xml, element, kinds[kind].rows, &s, &s.given)) {
        return 0;
    }
    if (kinds[kind].mount == ZW_MOUNT_RAY && s.ref != NULL) {
        return mjcf_note(m, element, "camera (cameras are not read)");
    }
    if (s.delay != 0 || s.interval[0] != 0) {
        s.unsupported = s.delay != 0 ? "delay (histories of sensors are not kept)"
                                     : "interval (histories of sensors are not kept)";
    }
    int ok = mount_of(m, element, kinds[kind].mount, &s);
    if (ok && s.unsupported != NULL) {
        return mjcf_note(m, element, s.unsupported); /* a sensor cannot change the motion */
    }
    s.def.place = xml_place(&m->xml, element);
    return ok && mjcf_add(m, ZW_KIND_SENSOR, &s.def, NULL);
}

int mjcf_sensors(mjcf *m, int section)
{
    return mjcf_each(m, section, sensor);
}

/* ---- Keyframes ------------------------------------------------------------------------------ */

static int key_list(mjcf *m, int element, const char *word, int attribute, int wanted,
                    double **list, int *count)
{
    if (!mjcf_list(m, element, attribute, list, count)) {
        return 0;
    }
    if (attribute != 0 && *count != wanted) {
        return form_fail(&m->xml, element, word, "%s has %d numbers; this model has %d", word,
                         *count, wanted);
    }
    return 1;
}

/* Poses of mocap bodies from their positions and quaternions; if not given, those of the bodies. */
static int mocap_poses(mjcf *m, const mjcf_key *k, const double *pos, const double *quat,
                       double **pose)
{
    const model_bodies *b = m->model->bodies;
    *pose = NULL;
    if (k->mpos == 0 && k->mquat == 0) {
        return 1;
    }
    int count = model_sizes_of(b).mocap / 7, at = 0;
    *pose = base_alloc((7 * (size_t)count + 1) * sizeof **pose);
    for (int i = 0; *pose != NULL && i < b->count[ZW_KIND_BODY]; i++) {
        if (b->body[i].mocap) {
            memcpy(*pose + 7 * at, k->mpos != 0 ? pos + 3 * at : b->body[i].pos, 3 * sizeof *pos);
            memcpy(*pose + 7 * at + 3, k->mquat != 0 ? quat + 4 * at : b->body[i].quat,
                   4 * sizeof *quat);
            at++;
        }
    }
    return *pose != NULL || xml_no_memory(&m->xml);
}

static int key(mjcf *m, int element)
{
    mjcf_key k = {.def = zw_key_default()};
    model_sizes sizes = model_sizes_of(m->model->bodies);
    int points = 0, turns = 0;
    double *list[7] = {NULL, NULL, NULL, NULL, NULL, NULL, NULL};
    int ok = form_apply(&m->xml, element, mjcf_key_rows, &k, &k.given) &&
             key_list(m, element, "qpos", k.qpos, sizes.qpos, &list[0], &k.def.qpos_count) &&
             key_list(m, element, "qvel", k.qvel, sizes.qvel, &list[1], &k.def.qvel_count) &&
             key_list(m, element, "act", k.act, sizes.act, &list[2], &k.def.act_count) &&
             key_list(m, element, "ctrl", k.ctrl, sizes.ctrl, &list[3], &k.def.ctrl_count) &&
             key_list(m, element, "mpos", k.mpos, sizes.mocap / 7 * 3, &list[4], &points) &&
             key_list(m, element, "mquat", k.mquat, sizes.mocap / 7 * 4, &list[5], &turns) &&
             mocap_poses(m, &k, list[4], list[5], &list[6]);
    if (ok && m->aligned && k.qpos != 0) {
        ok = form_fail(&m->xml, element, "qpos",
                       "its numbers are of frames that free joints align with the inertia, which "
                       "is not there: write align=\"false\", and numbers of the body's frame");
    }
    if (ok) {
        k.def.qpos = list[0];
        k.def.qvel = list[1];
        k.def.act = list[2];
        k.def.ctrl = list[3];
        k.def.mocap = list[6];
        k.def.mocap_count = list[6] != NULL ? sizes.mocap : 0;
        k.def.place = xml_place(&m->xml, element);
        ok = mjcf_add(m, ZW_KIND_KEY, &k.def, NULL);
    }
    for (int i = 0; i < 7; i++) {
        base_free(list[i]);
    }
    return ok;
}

int mjcf_keys(mjcf *m, int section)
{
    for (int c = m->xml.element[section].child; c >= 0; c = m->xml.element[c].next) {
        if (!key(m, c)) {
            return 0;
        }
    }
    return 1;
}

/* The tree of bodies. Elements may be nested thousands deep, so the walk has an explicit stack: one
 * level for each open body, frame or copy of a replicate. The pose of a frame is relative to its
 * body, and is applied to what the frame contains. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "read/robot/mjcf.h"

#define PI 3.14159265358979323846
#define MOST_ENDING 400 /* length of the suffixes of copies */

typedef struct level {
    int element;
    int next;   /* child to be read next, -1: none */
    int body;   /* that it belongs to */
    int class_; /* of its children */
    model_pose pose;
    int copy, copies;           /* replicate: current one, how many; 0: no replicate */
    model_pose outside, inside; /* of the replicate, and of the current copy in it */
    double offset[3], euler[3]; /* from one copy to the next */
    const char *sep;
    int number, around; /* index of the current copy, and of the copy that contains it; -1: none */
} level;

typedef struct walk {
    mjcf *m;
    int count, capacity;
    level *level;
} walk;

static level *top(walk *w)
{
    return &w->level[w->count - 1];
}

static int push(walk *w, const level *l)
{
    if (!base_list_reserve(&w->level, &w->capacity, w->count, sizeof *w->level)) {
        return xml_no_memory(&w->m->xml);
    }
    w->level[w->count++] = *l;
    top(w)->next = w->m->xml.element[l->element].child;
    return 1;
}

/* The innermost copy that contains the top level; NULL: none. */
static const level *copy_of(const walk *w)
{
    int i = w->count - 1;
    while (i >= 0 && w->level[i].copies == 0) {
        i--;
    }
    return i >= 0 ? &w->level[i] : NULL;
}

/* Starts the next copy of the top level, a replicate: its number, then those of the enclosing
 * copies. */
static int begin_copy(walk *w)
{
    level *l = top(w);
    char number[100], count[16];
    int digits = snprintf(count, sizeof count, "%d", l->copies);
    snprintf(number, sizeof number, "%.60s%0*d", l->sep, digits, l->copy);
    const char *rest = l->around >= 0 ? w->m->copy[l->around].suffix : "";
    if (strlen(rest) >= MOST_ENDING) {
        return form_fail(&w->m->xml, l->element, NULL, "replicates are nested too deeply");
    }
    const char *suffix = mjcf_longer_name(w->m, number, rest);
    l->number = suffix ? mjcf_copy_begins(w->m, l->element, l->around, suffix) : -1;
    return l->number >= 0;
}

/* Proceeds to the next copy of the top level. As in MuJoCo, it is offset from its predecessor in
 * the frame of that, and its angles are a multiple of the given ones: in general not the turn of
 * its predecessor, repeated. */
static int next_copy(walk *w)
{
    level *l = top(w);
    model_pose step = model_pose_none();
    mjcf_turn turn;
    for (int k = 0; k < 3; k++) {
        step.pos[k] = l->offset[k];
        turn.euler[k] = l->copy * l->euler[k];
    }
    l->inside = model_pose_chain(&l->inside, &step);
    l->next = w->m->xml.element[l->element].child;
    if (!mjcf_turn_quat(w->m, l->element, mjcf_replicate_rows,
                        form_bit(mjcf_replicate_rows, "euler"), &turn, l->inside.quat)) {
        return 0;
    }
    l->pose = model_pose_chain(&l->outside, &l->inside);
    return begin_copy(w);
}

/* The name with the numbers of all copies that contain it, the innermost first; NULL remains
 * NULL. */
static int copy_name(walk *w, const char **name)
{
    const level *copy = *name != NULL ? copy_of(w) : NULL;
    if (copy == NULL) {
        return 1;
    }
    const char *suffix = w->m->copy[copy->number].suffix;
    int ok = **name == 0 || mjcf_has_copies(w->m, *name, copy->element, suffix);
    *name = ok ? mjcf_longer_name(w->m, *name, suffix) : NULL;
    return *name != NULL;
}

/* Transforms a pose given in the top level's frame. */
static void place_in_frame(const walk *w, double pos[3], double quat[4])
{
    model_pose own;
    memcpy(own.pos, pos, sizeof own.pos);
    memcpy(own.quat, quat, sizeof own.quat);
    model_pose whole = model_pose_chain(&w->level[w->count - 1].pose, &own);
    memcpy(pos, whole.pos, sizeof whole.pos);
    memcpy(quat, whole.quat, sizeof whole.quat);
}

static int class_of(walk *w, int element, const char **name, int *class_)
{
    *name = xml_value(&w->m->xml, element, "class");
    return mjcf_class_find(w->m, element, "class", *name, top(w)->class_, class_);
}

/* ---- Joints --------------------------------------------------------------------------------- */

static void joint_units(const mjcf *m, mjcf_joint *j)
{
    double unit = m->compiler.degree ? PI / 180 : 1;
    int turns = j->def.kind == ZW_JOINT_HINGE || j->def.kind == ZW_JOINT_BALL;
    for (int i = 0; i < 2 && turns; i++) {
        j->def.range[i] *= unit;
    }
    if (j->def.kind == ZW_JOINT_HINGE) {
        j->def.ref *= unit;
        j->def.springref *= unit;
    }
}

static int joint(walk *w, int element)
{
    mjcf *m = w->m;
    mjcf_joint j = {0};
    int class_, free = mjcf_is(m, element, "freejoint");
    if (free) { /* classes do not apply to it */
        j.def = zw_joint_default();
        j.def.kind = ZW_JOINT_FREE;
        j.align = MJCF_AUTO;
        if (!form_apply(&m->xml, element, mjcf_freejoint_rows, &j, &j.given)) {
            return 0;
        }
        int aligned = j.align == 1 || (j.align == MJCF_AUTO && m->compiler.alignfree);
        if (aligned && !mjcf_note(m, element, "align (coordinates are of the frame as written)")) {
            return 0;
        }
        m->aligned |= aligned;
    } else {
        if (!class_of(w, element, &j.class_, &class_)) {
            return 0;
        }
        j = m->class_[class_].joint;
        if (!mjcf_apply(m, element, mjcf_joint_rows, &j, &j.given)) {
            return 0;
        }
        int said = xml_find(&m->xml, element, "limited") >= 0;
        if (j.def.kind == ZW_JOINT_FREE && !said) {
            j.limited = 0; /* the class may be meant for other joints */
        }
        if (!mjcf_limited(m, element, "limited", "range", j.limited, j.def.range, &j.def.limited) ||
            !mjcf_limited(m, element, "actuatorfrclimited", "actuatorfrcrange", j.force_limited,
                          j.def.force_range, &j.def.force_limited)) {
            return 0;
        }
        if (j.def.limited && !(j.def.range[0] < j.def.range[1])) {
            return form_fail(&m->xml, element, "range",
                             "the range goes from %g to %g; the first must be the smaller one",
                             j.def.range[0], j.def.range[1]);
        }
        joint_units(m, &j);
    }
    double none[4] = {1, 0, 0, 0};
    if (j.def.kind != ZW_JOINT_FREE) {
        place_in_frame(w, j.def.pos, none);
        model_rotate(top(w)->pose.quat, j.def.axis, j.def.axis);
    } else {
        memset(j.def.pos, 0, sizeof j.def.pos);
        j.def.limited = j.limited == 1;
    }
    j.def.body = top(w)->body;
    j.def.place = xml_place(&m->xml, element);
    return copy_name(w, &j.def.name) && mjcf_add(m, ZW_KIND_JOINT, &j.def, NULL);
}

/* ---- Geoms and sites ------------------------------------------------------------------------ */

/* From two points: centre, z axis from the second to the first, half their distance as the half
 * length. */
static int from_to(mjcf *m, int element, int shape, const double fromto[6], double size[3],
                   double pos[3], double quat[4])
{
    if (shape != ZW_SHAPE_CAPSULE && shape != ZW_SHAPE_CYLINDER && shape != ZW_SHAPE_BOX &&
        shape != ZW_SHAPE_ELLIPSOID && shape != ZW_SHAPE_CONE) {
        return form_fail(&m->xml, element, "fromto",
                         "fromto is for capsules, cylinders, cones, boxes and ellipsoids");
    }
    double z[3];
    for (int i = 0; i < 3; i++) {
        z[i] = fromto[i] - fromto[3 + i];
        pos[i] = (fromto[i] + fromto[3 + i]) / 2;
    }
    double length = model_unit(z);
    if (!(length > 1e-15)) {
        return form_fail(&m->xml, element, "fromto", "both ends are the same point");
    }
    if (shape == ZW_SHAPE_CAPSULE || shape == ZW_SHAPE_CYLINDER || shape == ZW_SHAPE_CONE) {
        size[1] = length / 2;
    } else {
        size[1] = size[0];
        size[2] = length / 2;
    }
    model_quat_z_to(quat, z);
    return 1;
}

/* Is a pose given as well as fromto? In the same element that is an error, unless it is zero; from
 * a class it is noted. */
static int beside_from_to(mjcf *m, int element)
{
    static const char *const words[] = {"pos", "quat", "axisangle", "euler", "xyaxes", "zaxis"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (xml_find(&m->xml, element, words[i]) < 0) {
            continue;
        }
        int none = i == 0 && strspn(xml_value(&m->xml, element, "pos"), "-+0. \t\r\n") ==
                                 strlen(xml_value(&m->xml, element, "pos"));
        if (xml_find(&m->xml, element, "fromto") >= 0 && !none) {
            return form_fail(&m->xml, element, words[i], "fromto already gives this");
        }
        char text[60];
        snprintf(text, sizeof text, "%s (beside fromto)", words[i]);
        if (!mjcf_note(m, element, text)) {
            return 0;
        }
    }
    return 1;
}

/* The asset that the element or its class names. */
static int asset_of(mjcf *m, int element, const char *word, zw_kind kind, const char *name,
                    int *index)
{
    *index = model_find_part(m->model->bodies, kind, name);
    if (*index >= 0) {
        return 1;
    }
    return xml_find(&m->xml, element, word) >= 0
               ? mjcf_refer(m, element, word, kind, index)
               : form_fail(&m->xml, element, NULL,
                           "its class refers to %s '%.60s', and there is none", word, name);
}

static int geom_shape(mjcf *m, int element, mjcf_geom *g)
{
    if (g->def.shape > ZW_SHAPE_CONE) {
        return form_fail(&m->xml, element, "type", "signed distance fields cannot be read");
    }
    if (xml_find(&m->xml, element, "mass") >= 0 && g->def.mass < 0) {
        return form_fail(&m->xml, element, "mass", "a mass cannot be negative");
    }
    if (g->def.shell && g->def.shape != ZW_SHAPE_MESH) {
        return form_fail(&m->xml, element, "shellinertia", "only meshes can be shells yet");
    }
    if (g->def.shape == ZW_SHAPE_HFIELD) {
        return g->hfield != NULL
                   ? asset_of(m, element, "hfield", ZW_KIND_HFIELD, g->hfield, &g->def.hfield)
                   : form_fail(&m->xml, element, "type",
                               "it is a height field, but does not say which: hfield=\"...\"");
    }
    if (g->hfield != NULL) {
        return form_fail(&m->xml, element, "hfield", "that is for type=\"hfield\"");
    }
    if (g->mesh == NULL) {
        return g->def.shape != ZW_SHAPE_MESH ||
               form_fail(&m->xml, element, "type",
                         "it is a mesh, but does not say which: mesh=\"...\"");
    }
    int mesh;
    if (!asset_of(m, element, "mesh", ZW_KIND_MESH, g->mesh, &mesh)) {
        return 0;
    }
    if (g->def.shape == ZW_SHAPE_MESH) {
        g->def.mesh = mesh;
        return 1;
    }
    return mjcf_fit(m, element, g, mesh);
}

/* The motion does not depend on the shape: no contacts, no mass, no fluid forces.
 */
static int is_display_only(const mjcf *m, int body, const zw_geom_def *g)
{
    const model_bodies *b = m->model->bodies;
    int rule = b->world.from_geoms;
    int weighs = body > 0 && (rule == 1 || (rule == 2 && !b->body[body].inertial)) &&
                 (g->mass < 0 ? g->density > 0 : g->mass > 0);
    return g->contype == 0 && g->conaffinity == 0 && !weighs && !g->fluid;
}

/* A geom whose mesh is missing is left out if it is for display only. */
static int geom_without_mesh(walk *w, const mjcf_geom *g, const mjcf_lost *lost)
{
    return is_display_only(w->m, top(w)->body, &g->def) ||
           form_fail(&w->m->xml, lost->element, "file", "the mesh '%.200s' cannot be opened",
                     lost->path);
}

static int geom(walk *w, int element)
{
    mjcf *m = w->m;
    mjcf_geom g;
    const char *name;
    int class_;
    if (!class_of(w, element, &name, &class_)) {
        return 0;
    }
    g = m->class_[class_].geom;
    if (!mjcf_apply(m, element, mjcf_geom_rows, &g, &g.given) ||
        !mjcf_turn_quat(m, element, mjcf_geom_rows, g.given, &g.turn, g.def.quat)) {
        return 0;
    }
    if ((g.given & form_bit(mjcf_geom_rows, "fromto")) != 0 &&
        (!beside_from_to(m, element) ||
         !from_to(m, element, g.def.shape, g.fromto, g.def.size, g.def.pos, g.def.quat))) {
        return 0;
    }
    const mjcf_lost *lost = g.mesh != NULL ? mjcf_lost_mesh(m, g.mesh) : NULL;
    if (lost != NULL) {
        return geom_without_mesh(w, &g, lost);
    }
    if (!geom_shape(m, element, &g)) {
        return 0;
    }
    place_in_frame(w, g.def.pos, g.def.quat);
    mjcf_colour(m, &g);
    g.def.body = top(w)->body;
    g.def.place = xml_place(&m->xml, element);
    return copy_name(w, &g.def.name) && mjcf_add(m, ZW_KIND_GEOM, &g.def, NULL);
}

static int site(walk *w, int element)
{
    mjcf *m = w->m;
    mjcf_site s;
    const char *name;
    int class_;
    if (!class_of(w, element, &name, &class_)) {
        return 0;
    }
    s = m->class_[class_].site;
    if (!mjcf_apply(m, element, mjcf_site_rows, &s, &s.given) ||
        !mjcf_turn_quat(m, element, mjcf_site_rows, s.given, &s.turn, s.def.quat)) {
        return 0;
    }
    if ((s.given & form_bit(mjcf_site_rows, "fromto")) != 0 &&
        (!beside_from_to(m, element) ||
         !from_to(m, element, s.def.shape, s.fromto, s.def.size, s.def.pos, s.def.quat))) {
        return 0;
    }
    place_in_frame(w, s.def.pos, s.def.quat);
    s.def.body = top(w)->body;
    s.def.place = xml_place(&m->xml, element);
    return copy_name(w, &s.def.name) && mjcf_add(m, ZW_KIND_SITE, &s.def, NULL);
}

/* ---- Bodies, frames, copies ----------------------------------------------------------------- */

static int inertial(mjcf *m, int element, zw_body_def *body)
{
    mjcf_inertial in = {0};
    if (body->inertial) {
        return form_fail(&m->xml, element, NULL, "this body has an inertial already");
    }
    if (!mjcf_apply(m, element, mjcf_inertial_rows, &in, &in.given) ||
        !mjcf_turn_quat(m, element, mjcf_inertial_rows, in.given, &in.turn, body->inertia_quat)) {
        return 0;
    }
    int diagonal = (in.given & form_bit(mjcf_inertial_rows, "diaginertia")) != 0;
    int full = (in.given & form_bit(mjcf_inertial_rows, "fullinertia")) != 0;
    if ((in.given & form_bit(mjcf_inertial_rows, "mass")) == 0) {
        return form_fail(&m->xml, element, NULL, "an inertial needs a mass");
    }
    if ((in.given & form_bit(mjcf_inertial_rows, "pos")) == 0) {
        return form_fail(&m->xml, element, NULL, "an inertial needs a pos, the centre of mass");
    }
    if (diagonal && full) {
        return form_fail(&m->xml, element, "fullinertia",
                         "the inertia is given twice: by diaginertia and fullinertia");
    }
    if (in.mass < 0) {
        return form_fail(&m->xml, element, "mass", "a mass cannot be negative");
    }
    body->inertial = 1;
    body->mass = in.mass;
    memcpy(body->com, in.pos, sizeof in.pos);
    memcpy(body->inertia, full ? in.full : in.diagonal, (full ? 6 : 3) * sizeof(double));
    for (int i = 0; i < 3; i++) {
        if (body->inertia[i] < 0) {
            return form_fail(&m->xml, element, full ? "fullinertia" : "diaginertia",
                             "a moment of inertia cannot be negative");
        }
    }
    return 1;
}

static int body(walk *w, int element)
{
    mjcf *m = w->m;
    mjcf_body b = {.def = zw_body_default()};
    level l = {.element = element, .pose = model_pose_none()};
    if (!mjcf_apply(m, element, mjcf_body_rows, &b, &b.given) ||
        !mjcf_turn_quat(m, element, mjcf_body_rows, b.given, &b.turn, b.def.quat) ||
        !mjcf_class_find(m, element, "childclass", b.childclass, top(w)->class_, &l.class_)) {
        return 0;
    }
    for (int c = m->xml.element[element].child; c >= 0; c = m->xml.element[c].next) {
        if (mjcf_is(m, c, "inertial") && !inertial(m, c, &b.def)) {
            return 0;
        }
    }
    place_in_frame(w, b.def.pos, b.def.quat);
    b.def.parent = top(w)->body;
    b.def.place = xml_place(&m->xml, element);
    return copy_name(w, &b.def.name) && mjcf_add(m, ZW_KIND_BODY, &b.def, &l.body) && push(w, &l);
}

static int frame(walk *w, int element)
{
    mjcf *m = w->m;
    mjcf_frame f = {0};
    level l = {.element = element, .body = top(w)->body};
    model_pose own;
    if (!mjcf_apply(m, element, mjcf_frame_rows, &f, &f.given) ||
        !mjcf_turn_quat(m, element, mjcf_frame_rows, f.given, &f.turn, own.quat) ||
        !mjcf_class_find(m, element, "childclass", f.childclass, top(w)->class_, &l.class_)) {
        return 0;
    }
    memcpy(own.pos, f.pos, sizeof own.pos);
    l.pose = model_pose_chain(&top(w)->pose, &own);
    return push(w, &l);
}

static int replicate(walk *w, int element)
{
    mjcf *m = w->m;
    mjcf_frame f = {.sep = "", .count = -1};
    level l = {.element = element, .body = top(w)->body, .pose = top(w)->pose};
    if (!form_apply(&m->xml, element, mjcf_replicate_rows, &f, &f.given) ||
        !mjcf_class_find(m, element, "childclass", f.childclass, top(w)->class_, &l.class_)) {
        return 0;
    }
    if (f.count < 1) {
        return form_fail(&m->xml, element, "count", "replicate needs a count of at least 1");
    }
    l.outside = l.pose;
    l.inside = model_pose_none();
    memcpy(l.offset, f.pos, sizeof l.offset);
    memcpy(l.euler, f.turn.euler, sizeof l.euler);
    const level *outside = copy_of(w);
    l.copies = f.count;
    l.sep = f.sep;
    l.around = outside != NULL ? outside->number : -1;
    return push(w, &l) && begin_copy(w);
}

static int child(walk *w, int element)
{
    mjcf *m = w->m;
    int in_world = top(w)->body == 0;
    if (mjcf_is(m, element, "body")) {
        return body(w, element);
    }
    if (mjcf_is(m, element, "frame")) {
        return frame(w, element);
    }
    if (mjcf_is(m, element, "replicate")) {
        return replicate(w, element);
    }
    if (mjcf_is(m, element, "joint") || mjcf_is(m, element, "freejoint")) {
        return joint(w, element);
    }
    if (mjcf_is(m, element, "geom")) {
        return geom(w, element);
    }
    if (mjcf_is(m, element, "site")) {
        return site(w, element);
    }
    int attached = mjcf_is(m, element, "attach");
    if (attached || mjcf_is(m, element, "composite")) {
        const char *suffix = "";
        return copy_name(w, &suffix) && (attached ? mjcf_attach_body : mjcf_composite_read)(
                                            m, element, top(w)->body, &top(w)->pose, suffix);
    }
    if (mjcf_is(m, element, "inertial") && (in_world || !mjcf_is(m, top(w)->element, "body"))) {
        return form_fail(&m->xml, element, NULL,
                         in_world ? "the world cannot have an inertial: it does not move"
                                  : "an inertial must be directly inside its body");
    }
    return 1;
}

int mjcf_world(mjcf *m, int section)
{
    walk w = {.m = m};
    level l = {.element = section, .pose = model_pose_none()};
    int ok = push(&w, &l);
    while (ok && w.count > 0) {
        level *t = top(&w);
        if (t->next >= 0) {
            int element = t->next;
            t->next = m->xml.element[element].next;
            ok = ++m->copies <= m->limits.copies
                     ? child(&w, element)
                     : form_fail(&m->xml, element, NULL, "there are more than %d elements",
                                 m->limits.copies);
        } else if (t->copies > 0 && ++t->copy < t->copies) {
            ok = ++m->copies <= m->limits.copies
                     ? next_copy(&w)
                     : form_fail(&m->xml, t->element, NULL, "there are more than %d elements",
                                 m->limits.copies);
        } else {
            w.count--;
        }
    }
    base_free(w.level);
    return ok;
}

/* <attach>: inserts a body of another model with its subtree, or everything in that model's world.
 *
 * The other file is read as a separate model, with its own classes, units of angles, folders and
 * rules for masses. The body with its descendants, their joints, geoms and sites and the meshes
 * they need are taken; and, after everything of this file has been read, the tendons, constraints,
 * actuators, sensors, pairs and excludes that refer only to parts that were taken (and to the
 * world). All names get the prefix, and the numbers of the copies that contain them. */
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "read/file/file.h"
#include "read/robot/mjcf.h"

enum { MOST_DEEP = 8 };

typedef union any_def {
    zw_body_def body;
    zw_joint_def joint;
    zw_geom_def geom;
    zw_site_def site;
    zw_mesh_def mesh;
    zw_equality_def equality;
    zw_tendon_def tendon;
    zw_actuator_def actuator;
    zw_sensor_def sensor;
    zw_pair_def pair;
    zw_exclude_def exclude;
    zw_hfield_def hfield;
} any_def;

/* ---- Models that can be attached ------------------------------------------------------------ */

int mjcf_model(mjcf *m, int element)
{
    mjcf_attach x = {0};
    if (!form_apply(&m->xml, element, mjcf_model_rows, &x, &x.given)) {
        return 0;
    }
    if (x.file == NULL || !m->limits.files || m->limits.depth >= MOST_DEEP) {
        return form_fail(&m->xml, element, "file",
                         x.file == NULL     ? "a model needs a file"
                         : !m->limits.files ? "other files cannot be read here"
                                            : "attached models are nested too deeply");
    }
    robot_limits limits = m->limits;
    limits.depth++;
    char *path = mjcf_path(m, element, NULL, x.file);
    zw_error error;
    zw_model *other = path != NULL ? robot_read(path, &limits, &error) : NULL;
    int there = path != NULL;
    base_free(path);
    if (other == NULL ||
        !base_list_reserve(&m->other, &m->other_capacity, m->other_count, sizeof *m->other)) {
        if (there && other == NULL && error.line > 0 && error.status != ZW_NO_MEMORY) {
            m->xml.status = error.status; /* the error in the other file */
            if (m->xml.error != NULL) {
                *m->xml.error = error;
            }
            return 0;
        }
        zw_model_free(other);
        return there && other == NULL && error.status != ZW_NO_MEMORY
                   ? form_fail(&m->xml, element, "file", "%.300s", error.text)
                   : xml_no_memory(&m->xml);
    }
    const char *name = x.name != NULL ? x.name : other->title;
    m->other[m->other_count++] = (mjcf_other){name != NULL ? name : "", other};
    for (int i = 0; i < other->bodies->note_count; i++) { /* notes of the other file */
        int place = xml_place(&m->xml, element);
        const model_note *note = &other->bodies->note[i];
        if (place < 0 ||
            !(note->differs ? model_add_difference : model_add_note)(m->model, place, note->text)) {
            return xml_no_memory(&m->xml);
        }
    }
    return 1;
}

/* ---- Grafting ------------------------------------------------------------------------------- */

static int new_name(mjcf *m, const mjcf_graft *g, const char **name)
{
    char text[1200];
    if (*name == NULL) {
        return 1;
    }
    int length = snprintf(text, sizeof text, "%.300s%.500s%.390s", g->prefix, *name, g->suffix);
    *name = xml_keep(&m->xml, text, (size_t)length);
    return *name != NULL;
}

/* Are all parts that it refers to taken? The world always is. */
static int refers_to_taken(const mjcf_graft *g, zw_kind kind, void *def)
{
    model_refs refs;
    model_part_refs(kind, def, &refs);
    for (int i = 0; i < model_ref_count(&refs); i++) {
        zw_kind of;
        int may_lack, index = *model_ref_at(&refs, i, &of, &may_lack);
        if (index >= 0 && g->number[of][index] < 0) {
            return 0;
        }
    }
    return 1;
}

/* Moves a body, geom or site from its world or parent to the frame. */
static void move(zw_kind kind, any_def *def, const model_pose *frame)
{
    double *pos = kind == ZW_KIND_BODY   ? def->body.pos
                  : kind == ZW_KIND_GEOM ? def->geom.pos
                                         : def->site.pos;
    double *quat = kind == ZW_KIND_BODY   ? def->body.quat
                   : kind == ZW_KIND_GEOM ? def->geom.quat
                                          : def->site.quat;
    model_pose own;
    memcpy(own.pos, pos, sizeof own.pos);
    memcpy(own.quat, quat, sizeof own.quat);
    own = model_pose_chain(frame, &own);
    memcpy(pos, own.pos, sizeof own.pos);
    memcpy(quat, own.quat, sizeof own.quat);
}

/* The inertia of the body by the rules of its own file. */
static void weigh(const mjcf_graft *g, int index, zw_body_def *body)
{
    const zw_inertia *in = &g->inertia[index];
    body->inertial = 1;
    body->mass = in->mass;
    memcpy(body->com, in->com, sizeof in->com);
    memcpy(body->inertia_quat, in->quat, sizeof in->quat);
    memset(body->inertia, 0, sizeof body->inertia);
    memcpy(body->inertia, in->moment, sizeof in->moment);
}

/* A copy of part `index`, renamed and renumbered, into this model; `frame`: it is moved there. */
static int take(mjcf *m, mjcf_graft *g, zw_kind kind, int index, const model_pose *frame)
{
    any_def def;
    memset(&def, 0, sizeof def);
    memcpy(&def, model_part_at(g->from->bodies, kind, index), model_part_size(kind));
    if (frame != NULL) {
        move(kind, &def, frame);
    }
    if (kind == ZW_KIND_BODY && g->inertia != NULL) {
        weigh(g, index, &def.body);
    }
    int *list = NULL;
    zw_stop *stop = NULL;
    model_refs refs;
    if (kind == ZW_KIND_TENDON) {
        size_t joints = (size_t)def.tendon.count, stops = (size_t)def.tendon.stop_count;
        list = base_alloc((joints + 1) * sizeof *list);
        stop = base_alloc((stops + 1) * sizeof *stop);
        if (list == NULL || stop == NULL) {
            base_free(list);
            base_free(stop);
            return xml_no_memory(&m->xml);
        }
        if (joints > 0) {
            memcpy(list, def.tendon.joint, joints * sizeof *list);
        }
        if (stops > 0) {
            memcpy(stop, def.tendon.stop, stops * sizeof *stop);
        }
        def.tendon.joint = list;
        def.tendon.stop = stop;
    }
    model_part_refs(kind, &def, &refs);
    for (int i = 0; i < model_ref_count(&refs); i++) {
        zw_kind of;
        int may_lack, *at = model_ref_at(&refs, i, &of, &may_lack);
        *at = *at >= 0 ? g->number[of][*at] : -1;
    }
    *model_part_place(&def) = g->place;
    int ok =
        new_name(m, g, model_part_name(&def)) && mjcf_add(m, kind, &def, &g->number[kind][index]);
    base_free(list);
    base_free(stop);
    return ok;
}

/* Meshes and height fields that the geoms of the taken bodies need. */
static int take_meshes(mjcf *m, mjcf_graft *g)
{
    const model_bodies *b = g->from->bodies;
    for (int i = 0; i < b->count[ZW_KIND_GEOM]; i++) {
        const zw_geom_def *geom = &b->geom[i];
        int along = g->number[ZW_KIND_BODY][geom->body] >= 0 && (g->whole || geom->body > 0);
        if ((along && geom->mesh >= 0 && g->number[ZW_KIND_MESH][geom->mesh] < 0 &&
             !take(m, g, ZW_KIND_MESH, geom->mesh, NULL)) ||
            (along && geom->hfield >= 0 && g->number[ZW_KIND_HFIELD][geom->hfield] < 0 &&
             !take(m, g, ZW_KIND_HFIELD, geom->hfield, NULL))) {
            return 0;
        }
    }
    return 1;
}

/* Body `top` of the other model (0: all in its world), put in a frame of `parent`. */
static int take_tree(mjcf *m, mjcf_graft *g, int top, int parent, const model_pose *frame)
{
    static const zw_kind kinds[] = {ZW_KIND_JOINT, ZW_KIND_GEOM, ZW_KIND_SITE};
    const model_bodies *b = g->from->bodies;
    int *number = g->number[ZW_KIND_BODY], ok = 1;
    int above_top = top > 0 ? b->body[top].parent : 0, was = number[above_top];
    number[above_top] = parent;
    for (int i = top > 0 ? top : 1; ok && i < b->count[ZW_KIND_BODY]; i++) {
        int above = b->body[i].parent, first = top > 0 ? i == top : above == 0;
        if (first || (above != above_top && number[above] >= 0 && above > 0)) {
            ok = take(m, g, ZW_KIND_BODY, i, first ? frame : NULL);
        }
    }
    ok = ok && take_meshes(m, g);
    for (int k = 0; k < 3; k++) {
        for (int i = 0; ok && i < b->count[kinds[k]]; i++) {
            void *def = model_part_at(b, kinds[k], i);
            model_refs refs;
            model_part_refs(kinds[k], def, &refs);
            int body = *refs.at[0], in_world = body == 0 && g->whole;
            if ((in_world || (body > 0 && (body != above_top || g->whole))) &&
                refers_to_taken(g, kinds[k], def)) {
                ok = take(m, g, kinds[k], i, in_world ? frame : NULL);
            }
        }
    }
    number[above_top] = was;
    return ok;
}

int mjcf_attach_rest(mjcf *m)
{
    static const zw_kind kinds[] = {ZW_KIND_TENDON,  ZW_KIND_EQUALITY, ZW_KIND_PAIR,
                                    ZW_KIND_EXCLUDE, ZW_KIND_ACTUATOR, ZW_KIND_SENSOR};
    for (int n = 0; n < m->graft_count; n++) {
        mjcf_graft *g = &m->graft[n];
        for (int k = 0; k < 6; k++) {
            for (int i = 0; i < g->from->bodies->count[kinds[k]]; i++) {
                void *def = model_part_at(g->from->bodies, kinds[k], i);
                model_refs refs;
                model_part_refs(kinds[k], def, &refs);
                int about_all = model_ref_count(&refs) ==
                                0; /* sensors without a reference, such as a clock, are not taken */
                if (!about_all && refers_to_taken(g, kinds[k], def) &&
                    !take(m, g, kinds[k], i, NULL)) {
                    return 0;
                }
            }
        }
    }
    return 1;
}

void mjcf_attach_free(mjcf *m)
{
    for (int i = 0; i < m->graft_count; i++) {
        base_free(m->graft[i].block);
        base_free(m->graft[i].inertia);
    }
    for (int i = 0; i < m->other_count; i++) {
        zw_model_free(m->other[i].model);
    }
    base_free(m->graft);
    base_free(m->other);
}

/* ---- The element ---------------------------------------------------------------------------- */

/* Does the other file have the same rules for masses as this one? */
static int same_rules(const zw_world_def *a, const zw_world_def *b)
{
    return a->from_geoms == b->from_geoms && a->group_range[0] == b->group_range[0] &&
           a->group_range[1] == b->group_range[1] && a->bound_mass == b->bound_mass &&
           a->bound_inertia == b->bound_inertia && a->balance == b->balance &&
           a->total_mass == b->total_mass;
}

static mjcf_graft *graft_add(mjcf *m, const zw_model *from)
{
    size_t total = 0;
    for (int k = 0; k < MODEL_KINDS; k++) {
        total += (size_t)from->bodies->count[k];
    }
    int *block = base_alloc(total * sizeof *block);
    if (block == NULL ||
        !base_list_reserve(&m->graft, &m->graft_capacity, m->graft_count, sizeof *m->graft)) {
        base_free(block);
        xml_no_memory(&m->xml);
        return NULL;
    }
    mjcf_graft *g = &m->graft[m->graft_count++];
    memset(g, 0, sizeof *g);
    g->from = from;
    g->block = block;
    for (size_t i = 0; i < total; i++) {
        block[i] = -1;
    }
    for (int k = 0; k < MODEL_KINDS; k++) {
        g->number[k] = block;
        block += from->bodies->count[k];
    }
    g->number[ZW_KIND_BODY][0] = 0; /* the world */
    return g;
}

static int graft_weigh(mjcf *m, mjcf_graft *g)
{
    size_t bodies = (size_t)g->from->bodies->count[ZW_KIND_BODY];
    g->inertia = base_alloc(bodies * sizeof *g->inertia);
    return (g->inertia != NULL && zw_model_inertia(g->from, g->inertia, NULL) == ZW_OK) ||
           xml_no_memory(&m->xml);
}

int mjcf_attach_body(mjcf *m, int element, int parent, const model_pose *frame, const char *suffix)
{
    mjcf_attach x = {.prefix = ""};
    const zw_model *from = NULL;
    if (!form_apply(&m->xml, element, mjcf_attach_rows, &x, &x.given)) {
        return 0;
    }
    for (int i = 0; i < m->other_count && x.model != NULL; i++) {
        from = strcmp(m->other[i].name, x.model) == 0 ? m->other[i].model : from;
    }
    if (from == NULL) {
        return form_fail(&m->xml, element, "model", "there is no <model> of this name in <asset>");
    }
    int body = x.body != NULL ? model_find_part(from->bodies, ZW_KIND_BODY, x.body) : 0;
    if (x.body != NULL && body <= 0) {
        return form_fail(&m->xml, element, "body", "the model '%.60s' has no body '%.60s'", x.model,
                         x.body);
    }
    int same = same_rules(&m->model->bodies->world, &from->bodies->world);
    if (!same && m->model->bodies->world.from_geoms == 1) {
        return form_fail(&m->xml, element, "model",
                         "this model's <compiler> has other rules for masses than this file, "
                         "which says inertiafromgeom=\"true\" for all; say \"auto\"");
    }
    int place = xml_place(&m->xml, element);
    if (place < 0 || !model_add_note(m->model, place, "attach (options and keys of the model)")) {
        return xml_no_memory(&m->xml);
    }
    mjcf_graft *g = graft_add(m, from);
    if (g == NULL) {
        return 0;
    }
    g->prefix = x.prefix;
    g->suffix = suffix;
    g->place = place;
    g->whole = body == 0;
    if (!same && !graft_weigh(m, g)) {
        return 0;
    }
    m->copies += from->bodies->count[ZW_KIND_BODY];
    return take_tree(m, g, body, parent, frame);
}

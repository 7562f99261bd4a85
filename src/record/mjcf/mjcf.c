#include "record/mjcf/mjcf.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum { MADE = 80 }; /* size of a generated name */

/* ---- Attributes ----------------------------------------------------------------------------- */

void mjcf_put_text(mjcf_writer *w, const char *attribute, const char *text)
{
    record_putf(&w->file, " %s=\"", attribute);
    record_put_escaped(&w->file, text);
    record_put(&w->file, "\"");
}

void mjcf_put_reals(mjcf_writer *w, const char *attribute, const double *x, int count)
{
    record_putf(&w->file, " %s=\"", attribute);
    for (int i = 0; i < count; i++) {
        record_put(&w->file, i > 0 ? " " : "");
        record_put_number(&w->file, x[i], 17);
    }
    record_put(&w->file, "\"");
}

void mjcf_put_int(mjcf_writer *w, const char *attribute, int value)
{
    record_putf(&w->file, " %s=\"%d\"", attribute, value);
}

void mjcf_put_bool(mjcf_writer *w, const char *attribute, int value)
{
    mjcf_put_text(w, attribute, value ? "true" : "false");
}

void mjcf_put_soft(mjcf_writer *w, const char *ref, const char *imp, const zw_soft *soft)
{
    mjcf_put_reals(w, ref, soft->ref, 2);
    mjcf_put_reals(w, imp, soft->imp, 5);
}

static const char *own_name(const mjcf_writer *w, zw_kind kind, int index)
{
    return kind == ZW_KIND_BODY && index == 0 ? "world"
                                              : *model_part_name(model_part_at(w->b, kind, index));
}

/* The name of a thing, or a unique name generated in `made`. */
static const char *name_of(const mjcf_writer *w, zw_kind kind, int index, char made[MADE])
{
    const char *name = own_name(w, kind, index);
    if (name != NULL && *name != 0) {
        return name;
    }
    int length = snprintf(made, MADE, "%s%d", model_part_word(kind), index);
    while (model_find_part(w->b, kind, made) >= 0 && length + 2 < MADE) {
        made[length++] = '_';
        made[length] = 0;
    }
    return made;
}

void mjcf_put_name(mjcf_writer *w, const char *attribute, zw_kind kind, int index)
{
    char made[MADE];
    mjcf_put_text(w, attribute, name_of(w, kind, index, made));
}

void mjcf_refuse(mjcf_writer *w, zw_kind kind, int index, const char *why)
{
    char made[MADE];
    if (w->status == ZW_OK) {
        w->status = base_fail(w->error, ZW_BAD_INPUT, "%s '%.60s' cannot be written as MJCF: %s",
                              model_part_word(kind), name_of(w, kind, index, made), why);
    }
}

/* ---- Settings ------------------------------------------------------------------------------- */

static void put_flags(mjcf_writer *w, const zw_world_def *world)
{
    static const struct {
        const char *name;
        int bit;
    } table[] = {{"constraint", ZW_WITHOUT_CONSTRAINT},
                 {"equality", ZW_WITHOUT_EQUALITY},
                 {"frictionloss", ZW_WITHOUT_FRICTIONLOSS},
                 {"limit", ZW_WITHOUT_LIMIT},
                 {"contact", ZW_WITHOUT_CONTACT},
                 {"spring", ZW_WITHOUT_SPRING},
                 {"damper", ZW_WITHOUT_DAMPER},
                 {"gravity", ZW_WITHOUT_GRAVITY},
                 {"clampctrl", ZW_WITHOUT_CLAMPCTRL},
                 {"filterparent", ZW_WITHOUT_FILTERPARENT},
                 {"actuation", ZW_WITHOUT_ACTUATION},
                 {"sensor", ZW_WITHOUT_SENSOR},
                 {"refsafe", ZW_WITHOUT_REFSAFE},
                 {"eulerdamp", ZW_WITHOUT_EULERDAMP}};
    record_put(&w->file, "    <flag");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (world->without & table[i].bit) {
            mjcf_put_text(w, table[i].name, "disable");
        }
    }
    if (world->sleep) {
        mjcf_put_text(w, "sleep", "enable");
    }
    record_put(&w->file, "/>\n");
}

static void put_settings(mjcf_writer *w)
{
    static const char *const integrator[] = {"Euler", "RK4", "implicit", "implicitfast"};
    const zw_world_def *world = &w->b->world;
    record_put(&w->file, "  <compiler angle=\"radian\" autolimits=\"false\" "
                         "inertiafromgeom=\"false\"/>\n  <option");
    mjcf_put_reals(w, "timestep", &world->timestep, 1);
    mjcf_put_reals(w, "gravity", world->gravity, 3);
    mjcf_put_text(w, "integrator", integrator[world->integrator]);
    mjcf_put_text(w, "cone", world->elliptic ? "elliptic" : "pyramidal");
    mjcf_put_reals(w, "impratio", &world->impratio, 1);
    mjcf_put_reals(w, "magnetic", world->magnetic, 3);
    mjcf_put_reals(w, "density", &world->density, 1);
    mjcf_put_reals(w, "viscosity", &world->viscosity, 1);
    mjcf_put_reals(w, "wind", world->wind, 3);
    if (world->sleep) {
        mjcf_put_reals(w, "sleep_tolerance", &world->sleep_tolerance, 1);
    }
    record_put(&w->file, ">\n");
    put_flags(w, world);
    record_put(&w->file, "  </option>\n");
}

/* Settings without an MJCF attribute, which zwang reads from <custom>. */
static void put_custom(mjcf_writer *w)
{
    const zw_world_def *world = &w->b->world, usual = zw_world_default();
    char made[MADE];
    record_put(&w->file, "  <custom>\n");
    if (world->bounce_speed != usual.bounce_speed) {
        record_put(&w->file, "    <numeric name=\"restitution_speed\"");
        mjcf_put_reals(w, "data", &world->bounce_speed, 1);
        record_put(&w->file, "/>\n");
    }
    if (world->contact_capacity > 0) {
        record_putf(&w->file, "    <numeric name=\"contact_capacity\" data=\"%d\"/>\n",
                    world->contact_capacity);
    }
    for (int i = 0; i < w->b->count[ZW_KIND_GEOM]; i++) {
        const zw_geom_def *g = &w->b->geom[i];
        if (g->restitution != 0) {
            char name[120];
            snprintf(name, sizeof name, "restitution:%.100s", name_of(w, ZW_KIND_GEOM, i, made));
            record_put(&w->file, "    <numeric");
            mjcf_put_text(w, "name", name);
            mjcf_put_reals(w, "data", &g->restitution, 1);
            record_put(&w->file, "/>\n");
        }
        if (g->triangles) {
            mjcf_refuse(w, ZW_KIND_GEOM, i, "MuJoCo's meshes touch by their hulls");
        }
    }
    record_put(&w->file, "  </custom>\n");
}

/* ---- All ------------------------------------------------------------------------------------ */

static void put_all(mjcf_writer *w)
{
    record_put(&w->file, "<mujoco");
    mjcf_put_text(w, "model", w->model->title != NULL ? w->model->title : "model");
    record_put(&w->file, ">\n");
    put_settings(w);
    put_custom(w);
    mjcf_put_assets(w);
    mjcf_put_bodies(w);
    mjcf_put_contacts(w);
    mjcf_put_equalities(w);
    mjcf_put_tendons(w);
    mjcf_put_actuators(w);
    mjcf_put_sensors(w);
    mjcf_put_keys(w);
    record_put(&w->file, "</mujoco>\n");
}

/* The children of each body, the order of writing, and the poses in the reference configuration. */
static void look_at_bodies(mjcf_writer *w)
{
    int n = w->b->count[ZW_KIND_BODY];
    w->pose[0] = model_pose_none();
    for (int i = n - 1; i > 0; i--) {
        int parent = w->b->body[i].parent;
        w->next[i] = w->first[parent];
        w->first[parent] = i;
    }
    for (int i = 1; i < n; i++) {
        const zw_body_def *body = &w->b->body[i];
        model_pose own;
        memcpy(own.pos, body->pos, sizeof own.pos);
        memcpy(own.quat, body->quat, sizeof own.quat);
        w->pose[i] = model_pose_chain(&w->pose[body->parent], &own);
    }
}

static void writer_free(mjcf_writer *w)
{
    base_free(w->inertia);
    base_free(w->pose);
    base_free(w->first);
    base_free(w->next);
    base_free(w->order);
}

zw_status zw_model_write(const zw_model *model, const char *path, zw_error *error)
{
    if (model == NULL || model->bodies == NULL || path == NULL) {
        return base_fail(error, ZW_BAD_INPUT, "%s",
                         path ? "MJCF describes rigid bodies; this model has none"
                              : "no file was given");
    }
    mjcf_writer w = {.model = model, .b = model->bodies, .error = error};
    size_t n = (size_t)model->bodies->count[ZW_KIND_BODY];
    w.inertia = base_alloc(n * sizeof *w.inertia);
    w.pose = base_alloc(n * sizeof *w.pose);
    w.first = base_alloc(n * sizeof *w.first);
    w.next = base_alloc(n * sizeof *w.next);
    w.order = base_alloc(n * sizeof *w.order);
    if (w.inertia == NULL || w.pose == NULL || w.first == NULL || w.next == NULL ||
        w.order == NULL) {
        writer_free(&w);
        return base_no_memory(error);
    }
    w.status = zw_model_inertia(model, w.inertia, error);
    if (w.status == ZW_OK) {
        w.status = record_file_open(&w.file, path, error);
    }
    if (w.status == ZW_OK) {
        look_at_bodies(&w);
        put_all(&w);
        if (w.status == ZW_OK) {
            w.status = record_file_close(&w.file, error);
        } else {
            record_file_drop(&w.file);
        }
    }
    writer_free(&w);
    return w.status;
}

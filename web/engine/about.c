/* What there is in the world, as JSON. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

/* ---- Writing -------------------------------------------------------------------------------- */

static void add(const char *text, size_t length)
{
    studio_world *w = &studio;
    if (w->text_used + length + 1 > w->text_room) {
        size_t room = 2 * (w->text_used + length) + 1024;
        char *wider = realloc(w->text, room);
        if (wider == NULL) {
            return;
        }
        w->text = wider;
        w->text_room = room;
    }
    memcpy(w->text + w->text_used, text, length);
    w->text_used += length;
    w->text[w->text_used] = 0;
}

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
    char line[400];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    add(line, length < (int)sizeof line ? (size_t)length : sizeof line - 1);
}

/* "text", with what JSON wants escaped. */
static void say_text(const char *text)
{
    add("\"", 1);
    for (const char *c = text; *c != 0; c++) {
        if (*c == '"' || *c == '\\') {
            say("\\%c", *c);
        } else if ((unsigned char)*c < 32) {
            say("\\u%04x", (unsigned)(unsigned char)*c);
        } else {
            add(c, 1);
        }
    }
    add("\"", 1);
}

static void say_number(double value)
{
    if (isfinite(value)) {
        say("%.17g", value);
    } else {
        say("null");
    }
}

static void say_numbers(const char *name, const double *list, int count)
{
    say("\"%s\":[", name);
    for (int i = 0; i < count; i++) {
        say("%s", i > 0 ? "," : "");
        say_number(list[i]);
    }
    say("]");
}

static void say_named(const char *name, const char *text)
{
    say("\"%s\":", name);
    say_text(text != NULL ? text : "");
}

static void say_names(const char *name, zw_kind kind)
{
    int count = zw_count(studio.system, kind) - (kind == ZW_KIND_PARAM ? studio.hidden : 0);
    say("\"%s\":[", name);
    for (int i = 0; i < count; i++) {
        say("%s", i > 0 ? "," : "");
        say_text(zw_name(studio.system, kind, i));
    }
    say("],");
}

/* ---- Parts ---------------------------------------------------------------------------------- */

static void say_curves(void)
{
    say("\"curves\":[");
    for (int i = 0; i < zw_curve_count(studio.system); i++) {
        zw_curve c = zw_curve_of(studio.system, i);
        say("%s{\"kind\":%d,\"plot\":%d,\"output\":%d,", i > 0 ? "," : "", (int)c.kind, c.plot,
            c.output);
        say_named("x", c.x_label);
        say(",");
        say_named("y", c.label);
        say("}");
    }
    say("],");
}

static void say_draws(void)
{
    say("\"draws\":[");
    for (int i = 0; i < zw_draw_count(studio.system); i++) {
        zw_draw d = zw_draw_of(studio.system, i);
        say("%s{\"kind\":%d,\"dimension\":%d,\"points\":%d,\"output\":%d,\"radius\":%d,",
            i > 0 ? "," : "", (int)d.kind, d.dimension, d.points, d.output, d.has_radius);
        say("\"fixed\":[");
        for (int k = 0; k < d.points * d.dimension; k++) {
            say("%s%d", k > 0 ? "," : "", zw_output_is_fixed(studio.system, d.output + k));
        }
        say("],");
        say_named("text", d.text);
        say(",");
        say_named("colour", d.colour);
        say("}");
    }
    say("],");
}

static void say_geoms(void)
{
    const zw_model *model = studio.model;
    say("\"geoms\":[");
    for (int i = 0; i < zw_model_count(model, ZW_KIND_GEOM); i++) {
        const zw_geom_def *g = zw_model_def(model, ZW_KIND_GEOM, i);
        say("%s{\"body\":%d,\"shape\":%d,\"mesh\":%d,\"hfield\":%d,\"group\":%d,\"touches\":%d,",
            i > 0 ? "," : "", g->body, g->shape, g->mesh, g->hfield, g->group,
            g->contype != 0 || g->conaffinity != 0);
        say_numbers("size", g->size, 3);
        say(",");
        say_numbers("rgba", g->rgba, 4);
        say(",\"shine\":");
        say_number(g->shine);
        say(",\"friction\":");
        say_number(g->friction[0]);
        say(",");
        say_numbers("pos", g->pos, 3);
        say(",");
        say_numbers("quat", g->quat, 4);
        say(",");
        say_named("name", g->name);
        say("}");
    }
    say("],\"meshes\":[");
    for (int i = 0; i < zw_model_count(model, ZW_KIND_MESH); i++) {
        const zw_mesh_def *m = zw_model_def(model, ZW_KIND_MESH, i);
        say("%s{\"vertices\":%d,\"faces\":%d}", i > 0 ? "," : "", m->vertex_count, m->face_count);
    }
    say("],\"keys\":[");
    for (int i = 0; i < zw_model_count(model, ZW_KIND_KEY); i++) {
        const zw_key_def *key = zw_model_def(model, ZW_KIND_KEY, i);
        say("%s", i > 0 ? "," : "");
        say_text(key->name != NULL ? key->name : "");
    }
    say("],\"hfields\":[");
    for (int i = 0; i < zw_model_count(model, ZW_KIND_HFIELD); i++) {
        const zw_hfield_def *h = zw_model_def(model, ZW_KIND_HFIELD, i);
        say("%s{\"columns\":%d,\"rows\":%d,", i > 0 ? "," : "", h->columns, h->rows);
        say_numbers("half", h->half, 2);
        say("}");
    }
    say("],");
}

static void say_bodies(void)
{
    studio_world *w = &studio;
    say("\"parents\":[");
    for (int i = 0; i < zw_count(w->system, ZW_KIND_BODY); i++) {
        const zw_body_def *def = zw_model_def(w->model, ZW_KIND_BODY, i);
        say("%s%d", i > 0 ? "," : "", def != NULL ? def->parent : 0);
    }
    say("],\"points\":[");
    for (int i = 0; zw_count(w->system, ZW_KIND_BODY) == 0 && i < zw_point_count(w->probe); i++) {
        say("%s", i > 0 ? "," : "");
        say_text(zw_point_name(w->probe, i));
    }
    say("],");
}

/* Joints with their axes in the frames of their bodies, and what closes loops. */
static void say_joints(void)
{
    const zw_model *model = studio.model;
    say("\"joints\":[");
    for (int i = 0; i < zw_model_count(model, ZW_KIND_JOINT); i++) {
        const zw_joint_def *j = zw_model_def(model, ZW_KIND_JOINT, i);
        say("%s{\"body\":%d,\"kind\":%d,", i > 0 ? "," : "", j->body, j->kind);
        say_numbers("pos", j->pos, 3);
        say(",");
        say_numbers("axis", j->axis, 3);
        say(",");
        say_named("name", j->name);
        say("}");
    }
    say("],\"equalities\":[");
    for (int i = 0; i < zw_model_count(model, ZW_KIND_EQUALITY); i++) {
        const zw_equality_def *e = zw_model_def(model, ZW_KIND_EQUALITY, i);
        say("%s", i > 0 ? "," : "");
        say_text(e->name != NULL ? e->name : "");
    }
    say("],");
}

static void say_controls(void)
{
    const zw_model *model = studio.model;
    say("\"controls\":[");
    for (int i = 0; i < zw_model_count(model, ZW_KIND_ACTUATOR); i++) {
        const zw_actuator_def *a = zw_model_def(model, ZW_KIND_ACTUATOR, i);
        int param = a->name != NULL ? zw_id(studio.system, ZW_KIND_PARAM, a->name) : -1;
        say("%s{\"param\":%d,\"limited\":%d,", i > 0 ? "," : "", param, a->ctrl_limited);
        say_numbers("range", a->ctrl_range, 2);
        say("}");
    }
    say("],");
}

const char *studio_about(void)
{
    studio_world *w = &studio;
    w->text_used = 0;
    say("{");
    say_names("coords", ZW_KIND_COORD);
    say_names("speeds", ZW_KIND_SPEED);
    say_names("params", ZW_KIND_PARAM);
    say_names("constraints", ZW_KIND_CONSTRAINT);
    say_names("rows", ZW_KIND_ROW);
    say_names("bodies", ZW_KIND_BODY);
    say_curves();
    say_draws();
    say_geoms();
    say_bodies();
    say_joints();
    say_controls();
    say("\"outputs\":%d,\"frames\":%d,\"contacts\":%d,",
        zw_field(w->system, w->state, w->work, ZW_FIELD_OUTPUT).count, w->frame_count,
        w->contact_room);
    say_numbers("run", (const double[]){w->plan.time, w->plan.every, w->step.step}, 3);
    say(",");
    say_named("method", zw_method_name(w->plan.method));
    say(",");
    say_named("contact", zw_contact_law_name(w->plan.contact));
    say(",\"linear\":%d",
        w->plan.method == ZW_METHOD_IMPULSE && w->plan.tolerance >= 1); /* one linearisation */
    say(",");
    say_named("law", zw_law_of(w->system).name);
    say(",");
    say_named("version", zw_version());
    say("}");
    return w->text;
}

const char *studio_error(void)
{
    const zw_error *e = &studio.error;
    studio.text_used = 0;
    say("{\"status\":%d,\"line\":%d,\"column\":%d,", (int)e->status, e->line, e->column);
    say_named("file", e->file);
    say(",");
    say_named("text", e->text);
    say("}");
    return studio.text;
}

const double *studio_mesh_vertices(int mesh)
{
    const zw_mesh_def *def = zw_model_def(studio.model, ZW_KIND_MESH, mesh);
    return def != NULL ? def->vertex : NULL;
}

const int *studio_mesh_faces(int mesh)
{
    const zw_mesh_def *def = zw_model_def(studio.model, ZW_KIND_MESH, mesh);
    return def != NULL ? def->face : NULL;
}

const double *studio_heights(int hfield)
{
    const zw_hfield_def *def = zw_model_def(studio.model, ZW_KIND_HFIELD, hfield);
    return def != NULL ? def->height : NULL;
}

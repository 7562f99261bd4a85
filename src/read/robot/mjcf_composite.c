/* <composite type="cable">: a chain of bodies along vertices, connected by ball joints; the only
 * type that MuJoCo still supports.
 *
 * Body i lies between the vertices i and i + 1, which are given in the enclosing frame; its x axis
 * points to the next vertex. With the unit edges t_i the frames (t, n, b) are transported along the
 * curve: the first b is along t_0 x t_1, n = b x t; then n is rotated about t_(i-1) x t_i by the
 * angle between these edges, and b = t x n. If a cable starts straight there is no such n: its
 * frames rotate x to t by
 *
 *     (1 + t_x, 0, -t_z, t_y)  where t_x > 0,      (t_y, t_z, 0, 1 - t_x)  else,
 *
 * (normalised), which is equivalent to MuJoCo's rule. It stores vertices as floats, and so does
 * this reader. Names are PREFIX and B_first, B_1, ..., B_last of bodies, J_... of their joints, G0,
 * G1, ... of geoms, S_first and S_last of sites at the ends. Neighbours do not touch. Classes do
 * not apply. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "math/elementary.h"
#include "read/robot/mjcf.h"

#define PI 3.14159265358979323846
#define STRAIGHT 1e-7 /* sine of an angle that MuJoCo's rule neglects */

enum { FROM_ZERO, FROM_LINE, FROM_COSINE, FROM_SINE };

/* Data of the whole cable. */
typedef struct cable {
    mjcf *m;
    int element, bodies, body, before; /* `body`: the last one added; `before`: the previous one */
    mjcf_composite from;
    mjcf_joint joint;
    mjcf_geom geom;
    mjcf_site site;
    const char *suffix;
    model_pose around; /* in the parent */
    double *vertex, normal[3], quat[4];
} cable;

/* ---- Vertices -------------------------------------------------------------------------------- */

static int curve_words(cable *c, int curve[3])
{
    const char *at = c->from.curve;
    for (int k = 0; at != NULL; k++) {
        char word[16] = {0};
        at += strspn(at, " \t\r\n");
        size_t length = strcspn(at, " \t\r\n");
        if (length == 0) {
            return 1;
        }
        memcpy(word, at, length < sizeof word ? length : sizeof word - 1);
        int found = form_word("0 s cos(s) sin(s)", word);
        if (k > 2 || found < 0) {
            return form_fail(&c->m->xml, c->element, "curve",
                             "it has at most three of: s cos(s) sin(s) 0");
        }
        curve[k] = found;
        at += length;
    }
    return 1;
}

static int vertices_of_curve(cable *c)
{
    int curve[3] = {FROM_ZERO, FROM_ZERO, FROM_ZERO}, last = c->from.count[0] - 1;
    if (!curve_words(c, curve)) {
        return 0;
    }
    c->vertex = base_alloc(3 * (size_t)(last + 1) * sizeof *c->vertex);
    if (c->vertex == NULL) {
        return xml_no_memory(&c->m->xml);
    }
    const double *size = c->from.size;
    for (int i = 0; i <= last; i++) {
        double v[3], sine, cosine;
        math_sincos(PI * i * size[2] / last, &sine, &cosine);
        for (int k = 0; k < 3; k++) {
            v[k] = curve[k] == FROM_LINE     ? i * size[0] / last
                   : curve[k] == FROM_COSINE ? size[1] * cosine
                   : curve[k] == FROM_SINE   ? size[1] * sine
                                             : 0;
        }
        model_rotate(c->from.quat, v, c->vertex + 3 * i);
    }
    return 1;
}

static int vertices(cable *c)
{
    int *count = c->from.count, numbers = 0;
    xml_tree *xml = &c->m->xml;
    if (c->from.vertex != 0) {
        if (count[0] > 1) {
            return form_fail(xml, c->element, "count", "the vertices are given one by one already");
        }
        if (!mjcf_list(c->m, c->element, c->from.vertex, &c->vertex, &numbers)) {
            return 0;
        }
        if (numbers % 3 != 0) {
            return form_fail(xml, c->element, "vertex",
                             "vertices have three numbers each; there are %d", numbers);
        }
        count[0] = numbers / 3;
    }
    if (count[0] < 2 || count[1] != 1 || count[2] != 1) {
        return form_fail(xml, c->element, c->from.vertex != 0 ? "vertex" : "count",
                         "a cable has at least two vertices in one row");
    }
    c->bodies = count[0] - 1;
    if (c->bodies > c->m->limits.copies - c->m->copies) {
        return form_fail(xml, c->element, c->from.vertex != 0 ? "vertex" : "count",
                         "there are more than %d elements", c->m->limits.copies);
    }
    c->m->copies += c->bodies;
    if (c->from.vertex == 0 && !vertices_of_curve(c)) {
        return 0;
    }
    for (int i = 0; i < 3 * count[0]; i++) {
        c->vertex[i] = (double)(float)c->vertex[i];
    }
    return 1;
}

/* ---- Frames ---------------------------------------------------------------------------------- */

/* The unit vector from vertex i to the next; returns their distance. */
static double edge(const cable *c, int i, double unit[3])
{
    for (int k = 0; k < 3; k++) {
        unit[k] = c->vertex[3 * (i + 1) + k] - c->vertex[3 * i + k];
    }
    return model_unit(unit);
}

/* The orientation of body i in the cable's frame. */
static void turn_frame(cable *c, int i, const double t[3], double quat[4])
{
    double other[3] = {0, 0, 0}, b[3] = {0, 0, 0}, *n = c->normal;
    if (i == 0 && c->bodies > 1) {
        edge(c, 1, other);
        model_cross(b, t, other);
        if (model_unit(b) > STRAIGHT) {
            model_cross(n, b, t);
        }
    } else if (i > 0) {
        double turn[4];
        edge(c, i - 1, other);
        model_cross(b, other, t);
        double sine = model_unit(b);
        if (sine > STRAIGHT) {
            model_quat_axis(turn, b, math_atan2(sine, model_dot(other, t)));
            model_rotate(turn, n, n);
        }
    }
    if (model_dot(n, n) == 0) {
        double up[4] = {1 + t[0], 0, -t[2], t[1]}, down[4] = {t[1], t[2], 0, 1 - t[0]};
        memcpy(quat, t[0] > 0 ? up : down, 4 * sizeof *quat);
        model_quat_unit(quat);
        return;
    }
    model_unit(n);
    model_cross(b, t, n);
    model_quat_of_matrix(quat, (double[]){t[0], n[0], b[0], t[1], n[1], b[1], t[2], n[2], b[2]});
}

/* ---- Parts ----------------------------------------------------------------------------------- */

/* PREFIX, the kind, and the number of the body. */
static const char *name_of(const cable *c, const char *kind, int i)
{
    char text[200], number[16];
    const char *which = i == 0 ? "_first" : i == c->bodies - 1 ? "_last" : number;
    snprintf(number, sizeof number, kind[0] == 'G' ? "%d" : "_%d", i);
    which = kind[0] == 'G' ? number : which;
    snprintf(text, sizeof text, "%.150s%s%s", c->from.prefix, kind, which);
    const char *kept = xml_keep(&c->m->xml, text, strlen(text));
    return kept != NULL ? mjcf_longer_name(c->m, kept, c->suffix) : NULL;
}

static int add_body(cable *c, int i, const double t[3], double before)
{
    zw_body_def def = zw_body_default();
    double quat[4], back[4] = {c->quat[0], -c->quat[1], -c->quat[2], -c->quat[3]};
    turn_frame(c, i, t, quat);
    if (i == 0) {
        model_pose own;
        memcpy(own.quat, quat, sizeof own.quat);
        for (int k = 0; k < 3; k++) {
            own.pos[k] = c->from.offset[k] + c->vertex[k];
        }
        own = model_pose_chain(&c->around, &own);
        memcpy(def.pos, own.pos, sizeof def.pos);
        memcpy(def.quat, own.quat, sizeof def.quat);
    } else {
        def.pos[0] = before;
        model_quat_multiply(def.quat, back, quat);
    }
    memcpy(c->quat, quat, sizeof quat);
    def.parent = c->body;
    def.name = name_of(c, "B", i);
    def.place = xml_place(&c->m->xml, c->element);
    c->before = c->body;
    return def.name != NULL && mjcf_add(c->m, ZW_KIND_BODY, &def, &c->body);
}

static int add_joint(cable *c, int i)
{
    zw_joint_def def = c->joint.def;
    if (i == 0 && strcmp(c->from.initial, "none") == 0) {
        return 1;
    }
    def.kind = ZW_JOINT_BALL;
    if (i == 0 && strcmp(c->from.initial, "free") == 0) {
        def = zw_joint_default();
        def.kind = ZW_JOINT_FREE;
    }
    def.body = c->body;
    def.name = name_of(c, "J", i);
    def.place = xml_place(&c->m->xml, c->element);
    return def.name != NULL && mjcf_add(c->m, ZW_KIND_JOINT, &def, NULL);
}

static int add_geom(cable *c, int i, double length)
{
    zw_geom_def def = c->geom.def;
    def.pos[0] = length / 2;
    if (def.shape == ZW_SHAPE_BOX) {
        def.size[0] = length / 2;
    } else {
        def.size[1] = length / 2;
        model_quat_z_to(def.quat, (double[]){-1, 0, 0});
    }
    def.body = c->body;
    def.name = name_of(c, "G", i);
    def.place = xml_place(&c->m->xml, c->element);
    return def.name != NULL && mjcf_add(c->m, ZW_KIND_GEOM, &def, NULL);
}

/* The site at an end; and the exclusion of contacts between neighbours. */
static int add_end(cable *c, int i, double length)
{
    zw_site_def def = c->site.def;
    zw_exclude_def pair = zw_exclude_default();
    int last = i == c->bodies - 1;
    pair.body1 = c->before;
    pair.body2 = c->body;
    pair.place = xml_place(&c->m->xml, c->element);
    if (i > 0 && !mjcf_add(c->m, ZW_KIND_EXCLUDE, &pair, NULL)) {
        return 0;
    }
    def.pos[0] = last ? length : 0;
    def.body = c->body;
    def.place = pair.place;
    def.name = i == 0 || last ? name_of(c, "S", i) : NULL;
    return (i > 0 && !last) || (def.name != NULL && mjcf_add(c->m, ZW_KIND_SITE, &def, NULL));
}

static int make(cable *c)
{
    double before = 0;
    for (int i = 0; i < c->bodies; i++) {
        double t[3], length = edge(c, i, t);
        if (!(length > 0)) {
            return form_fail(&c->m->xml, c->element, c->from.vertex != 0 ? "vertex" : "curve",
                             "two vertices are at the same place");
        }
        if (!add_body(c, i, t, before) || !add_joint(c, i) || !add_geom(c, i, length) ||
            !add_end(c, i, length)) {
            return 0;
        }
        before = length;
    }
    return 1;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static int check_type(mjcf *m, int element, const char *type)
{
    static const struct {
        const char *word, *instead;
    } gone[] = {{"particle", "<replicate> makes copies of a body"},
                {"grid", "<replicate> makes copies of a body"},
                {"rope", "type=\"cable\" is a chain of bodies"},
                {"loop", "type=\"cable\" is a chain of bodies, <equality> ties its ends"},
                {"cloth", "soft bodies are not supported"},
                {"box", "soft bodies are not supported"},
                {"cylinder", "soft bodies are not supported"},
                {"ellipsoid", "soft bodies are not supported"}};
    if (type != NULL && strcmp(type, "cable") == 0) {
        return 1;
    }
    for (size_t i = 0; type != NULL && i < sizeof gone / sizeof *gone; i++) {
        if (strcmp(type, gone[i].word) == 0) {
            return form_fail(&m->xml, element, "type",
                             "MuJoCo no longer reads composites of this type; %s", gone[i].instead);
        }
    }
    return form_fail(&m->xml, element, "type", "a composite is of type=\"cable\"");
}

static int read_parts(cable *c)
{
    mjcf *m = c->m;
    for (int e = m->xml.element[c->element].child; e >= 0; e = m->xml.element[e].next) {
        int ok = mjcf_is(m, e, "joint")
                     ? form_apply(&m->xml, e, mjcf_cable_joint_rows, &c->joint, &c->joint.given)
                 : mjcf_is(m, e, "geom")
                     ? form_apply(&m->xml, e, mjcf_cable_geom_rows, &c->geom, &c->geom.given)
                 : mjcf_is(m, e, "site")
                     ? form_apply(&m->xml, e, mjcf_cable_site_rows, &c->site, &c->site.given)
                     : 1;
        if (!ok) {
            return 0;
        }
    }
    zw_joint_def *j = &c->joint.def;
    int shape = c->geom.def.shape;
    if (shape != ZW_SHAPE_CYLINDER && shape != ZW_SHAPE_CAPSULE && shape != ZW_SHAPE_BOX) {
        return form_fail(&m->xml, c->element, NULL,
                         "its <geom> has to be of type capsule, cylinder or box");
    }
    mjcf_colour(m, &c->geom);
    for (int k = 0; k < 2 && m->compiler.degree; k++) {
        j->range[k] *= PI / 180;
    }
    return mjcf_limited(m, c->element, "limited", "range", MJCF_AUTO, j->range, &j->limited);
}

int mjcf_composite_read(mjcf *m, int element, int parent, const model_pose *frame,
                        const char *suffix)
{
    cable c = {.m = m,
               .element = element,
               .body = parent,
               .suffix = suffix,
               .around = *frame,
               .from = {.prefix = "",
                        .initial = "ball",
                        .count = {1, 1, 1},
                        .size = {1, 0, 0},
                        .quat = {1, 0, 0, 0}},
               .joint = {.def = zw_joint_default()},
               .geom = {.def = zw_geom_default()},
               .site = {.def = zw_site_default()}};
    int ok = form_apply(&m->xml, element, mjcf_composite_rows, &c.from, &c.from.given) &&
             check_type(m, element, c.from.type) &&
             (model_quat_unit(c.from.quat) ||
              form_fail(&m->xml, element, "quat", "a quaternion cannot be all zeros")) &&
             read_parts(&c) && vertices(&c) && make(&c);
    base_free(c.vertex);
    return ok;
}

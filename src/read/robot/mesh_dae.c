/* Meshes of COLLADA files (.dae): the triangles of all geometries that the scene shows.
 *
 *   geometry    mesh: <source> lists of numbers; <vertices> says which of them are positions;
 *               <triangles>, <polylist>, <polygons>, <tristrips>, <trifans> list corners, each
 *               with one index for every <input>
 *   scene       nodes with transforms (matrix, translate, rotate, scale, applied from the last to
 *               the first) that show geometries, other nodes, or contain nodes
 *
 * Lengths are in the file's unit (<unit meter="0.01"/>). The up axis of a file is not applied: in
 * robot descriptions coordinates are those of the link, as in RViz. Polygons are divided into a fan
 * from their first corner. Anything else (skins, cameras) is skipped.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/elementary.h"
#include "read/file/file.h"
#include "read/robot/mjcf.h"

/* Nodes may instantiate other nodes: without limits a short file could cause unbounded work. */
enum { DAE_MOST_DEEP = 64, DAE_MOST_SHOWN = 100000 };

typedef struct dae {
    xml_tree xml;
    const char *text; /* of the file */
    read_mesh *mesh;
    char *why;  /* [200] */
    int shown;  /* number of nodes instantiated */
    int status; /* 1, 0: broken, -1: no memory */
} dae;

typedef struct dae_numbers {
    double *x;
    int count;
} dae_numbers;

/* The first four rows of a transform: p -> turn p + shift. */
typedef struct dae_place {
    double m[3][4];
} dae_place;

static int dae_fail(dae *d, int element, const char *text)
{
    if (d->status > 0) {
        snprintf(d->why, 200, "line %d: %s", d->xml.element[element].line, text);
        d->status = 0;
    }
    return 0;
}

static int dae_no_memory(dae *d)
{
    d->status = d->status > 0 ? -1 : d->status;
    return 0;
}

static int is_named(const dae *d, int element, const char *name)
{
    return strcmp(d->xml.element[element].name, name) == 0;
}

static int child_named(const dae *d, int element, const char *name)
{
    for (int c = d->xml.element[element].child; c >= 0; c = d->xml.element[c].next) {
        if (is_named(d, c, name)) {
            return c;
        }
    }
    return -1;
}

/* The element of this name with the id of the reference "#id"; -1: none. */
static int element_of(const dae *d, const char *name, const char *reference)
{
    if (reference == NULL || reference[0] != '#') {
        return -1;
    }
    for (int i = 0; i < d->xml.count; i++) {
        const char *id = is_named(d, i, name) ? xml_value(&d->xml, i, "id") : NULL;
        if (id != NULL && strcmp(id, reference + 1) == 0) {
            return i;
        }
    }
    return -1;
}

/* An integer attribute, or a default. */
static int attribute_number(const dae *d, int element, const char *name, int usual)
{
    const char *value = xml_value(&d->xml, element, name);
    double number = usual;
    int ok = value == NULL || read_decimal(value, strlen(value), &number);
    return ok && number >= 0 && number <= 1e9 ? (int)number : usual;
}

/* The numbers between the tags of an element. */
static int element_numbers(dae *d, int element, dae_numbers *list)
{
    const xml_element *e = &d->xml.element[element];
    const char *at = d->text + e->text, *end = d->text + e->text_end;
    size_t capacity = (size_t)(e->text_end - e->text) / 2 + 1;
    *list = (dae_numbers){.x = base_alloc(capacity * sizeof *list->x)};
    if (list->x == NULL) {
        return dae_no_memory(d);
    }
    while (at < end) {
        size_t length = 0;
        while (at < end && (unsigned char)*at <= ' ') {
            at++;
        }
        while (at + length < end && (unsigned char)at[length] > ' ') {
            length++;
        }
        if (length == 0) {
            break;
        }
        double x;
        if (!read_decimal(at, length, &x) || !isfinite(x)) {
            base_free(list->x);
            list->x = NULL;
            return dae_fail(d, element, "only finite numbers are allowed here");
        }
        list->x[list->count++] = x;
        at += length;
    }
    return 1;
}

/* ---- Geometry ------------------------------------------------------------------------------- */

/* Positions of one geometry, and their vertices in the mesh. */
typedef struct dae_points {
    dae_numbers numbers;
    int stride, offset, count;
    int *vertex; /* [count] + 1, 0: not used yet */
    dae_place place;
} dae_points;

static int points_read(dae *d, int mesh, dae_points *p)
{
    int vertices = child_named(d, mesh, "vertices"), source = -1;
    for (int c = vertices >= 0 ? d->xml.element[vertices].child : -1; c >= 0;
         c = d->xml.element[c].next) {
        const char *semantic = xml_value(&d->xml, c, "semantic");
        if (semantic != NULL && strcmp(semantic, "POSITION") == 0) {
            source = element_of(d, "source", xml_value(&d->xml, c, "source"));
        }
    }
    int numbers = source >= 0 ? child_named(d, source, "float_array") : -1;
    if (numbers < 0) {
        return dae_fail(d, mesh, "the mesh does not define its vertices");
    }
    int technique = child_named(d, source, "technique_common");
    int accessor = technique >= 0 ? child_named(d, technique, "accessor") : -1;
    p->stride = accessor >= 0 ? attribute_number(d, accessor, "stride", 1) : 3;
    p->offset = accessor >= 0 ? attribute_number(d, accessor, "offset", 0) : 0;
    if (p->stride < 3) {
        return dae_fail(d, accessor, "a position has three numbers");
    }
    if (!element_numbers(d, numbers, &p->numbers)) {
        return 0;
    }
    int left = p->numbers.count - p->offset;
    p->count = left >= 3 ? (left - 3) / p->stride + 1 : 0;
    p->vertex = base_alloc(((size_t)p->count + 1) * sizeof *p->vertex);
    return p->vertex != NULL || dae_no_memory(d);
}

/* The vertex of the mesh for this corner; -1: failed. */
static int points_vertex(dae *d, dae_points *p, int element, double index)
{
    if (!(index >= 0 && index < p->count) || index != floor(index)) {
        dae_fail(d, element, "a corner is not a vertex of the mesh");
        return -1;
    }
    int i = (int)index;
    if (p->vertex[i] == 0) {
        const double *from = &p->numbers.x[p->offset + p->stride * i];
        double x[3];
        for (int k = 0; k < 3; k++) {
            const double *m = p->place.m[k];
            x[k] = m[0] * from[0] + m[1] * from[1] + m[2] * from[2] + m[3];
        }
        p->vertex[i] = read_mesh_add_vertex(d->mesh, x) + 1;
        if (p->vertex[i] == 0) {
            dae_no_memory(d);
        }
    }
    return p->vertex[i] - 1;
}

/* One polygon or strip: corners `first` to `first + count`, with `stride` indices each. In a strip
 * every other triangle is reversed. */
static int add_polygon(dae *d, dae_points *p, int element, const dae_numbers *list, int first,
                       int count, int stride, int offset, int is_strip)
{
    int a = -1, b = -1;
    if (first < 0 || count < 0 || (first + count) > list->count / stride) {
        return dae_fail(d, element, "there are fewer corners than it says");
    }
    for (int k = 0; k < count; k++) {
        int c = points_vertex(d, p, element, list->x[(first + k) * stride + offset]);
        if (c < 0) {
            return 0;
        }
        int flip = is_strip && k % 2 == 1;
        if (k >= 2 && a != b && b != c && c != a &&
            read_mesh_add_face(d->mesh, flip ? b : a, flip ? a : b, c) < 0) {
            return dae_no_memory(d);
        }
        a = k == 0 || is_strip ? (k == 0 ? c : b) : a;
        b = c;
    }
    return 1;
}

/* <polylist>: <vcount> gives the number of corners of each polygon. */
static int add_polylist(dae *d, dae_points *p, int element, const dae_numbers *list, int stride,
                        int offset)
{
    int counts = child_named(d, element, "vcount"), first = 0;
    dae_numbers each = {0};
    int ok = counts >= 0 ? element_numbers(d, counts, &each)
                         : dae_fail(d, element, "a polylist needs a vcount");
    for (int i = 0; ok && i < each.count; i++) {
        int count = each.x[i] >= 0 && each.x[i] <= list->count ? (int)each.x[i] : -1;
        ok = add_polygon(d, p, element, list, first, count, stride, offset, 0);
        first += count;
    }
    base_free(each.x);
    return ok;
}

static int add_primitive(dae *d, dae_points *p, int element)
{
    int is_triangles = is_named(d, element, "triangles"),
        is_list = is_named(d, element, "polylist");
    int is_strip = is_named(d, element, "tristrips");
    int stride = 1, offset = -1, ok = 1;
    if (!is_triangles && !is_list && !is_strip && !is_named(d, element, "polygons") &&
        !is_named(d, element, "trifans")) {
        return 1;
    }
    for (int c = d->xml.element[element].child; c >= 0; c = d->xml.element[c].next) {
        const char *semantic = is_named(d, c, "input") ? xml_value(&d->xml, c, "semantic") : NULL;
        int at = semantic != NULL ? attribute_number(d, c, "offset", 0) : 0;
        stride = at + 1 > stride ? at + 1 : stride;
        offset = semantic != NULL && strcmp(semantic, "VERTEX") == 0 ? at : offset;
    }
    if (offset < 0) {
        return dae_fail(d, element, "the corners do not say which vertices they are");
    }
    for (int c = d->xml.element[element].child; ok && c >= 0; c = d->xml.element[c].next) {
        dae_numbers list = {0};
        if (!is_named(d, c, "p")) {
            continue;
        }
        ok = element_numbers(d, c, &list);
        int corners = list.count / stride;
        if (ok && is_list) {
            ok = add_polylist(d, p, element, &list, stride, offset);
        } else if (ok && is_triangles) {
            for (int k = 0; ok && k + 2 < corners; k += 3) {
                ok = add_polygon(d, p, element, &list, k, 3, stride, offset, 0);
            }
        } else if (ok) {
            ok = add_polygon(d, p, element, &list, 0, corners, stride, offset, is_strip);
        }
        base_free(list.x);
    }
    return ok;
}

static int add_geometry(dae *d, int geometry, const dae_place *place)
{
    int mesh = child_named(d, geometry, "mesh");
    dae_points p = {.place = *place};
    if (mesh < 0) {
        return 1; /* a spline, or empty */
    }
    int ok = points_read(d, mesh, &p);
    for (int c = d->xml.element[mesh].child; ok && c >= 0; c = d->xml.element[c].next) {
        ok = add_primitive(d, &p, c);
    }
    base_free(p.numbers.x);
    base_free(p.vertex);
    return ok;
}

/* ---- Scene ---------------------------------------------------------------------------------- */

static dae_place place_scale(double x, double y, double z)
{
    return (dae_place){{{x, 0, 0, 0}, {0, y, 0, 0}, {0, 0, z, 0}}};
}

static dae_place place_chain(const dae_place *a, const dae_place *b)
{
    dae_place c;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 4; k++) {
            c.m[i][k] = k == 3 ? a->m[i][3] : 0;
            for (int l = 0; l < 3; l++) {
                c.m[i][k] += a->m[i][l] * b->m[l][k];
            }
        }
    }
    return c;
}

/* About an axis of any length by an angle in degrees. */
static dae_place place_turn(const double x[4])
{
    double axis[3] = {x[0], x[1], x[2]}, quat[4];
    dae_place place = place_scale(1, 1, 1);
    if (model_unit(axis) > 0) {
        model_quat_axis(quat, axis, x[3] * (3.14159265358979323846 / 180));
        for (int k = 0; k < 3; k++) {
            double e[3] = {k == 0, k == 1, k == 2};
            model_rotate(quat, e, e);
            for (int i = 0; i < 3; i++) {
                place.m[i][k] = e[i];
            }
        }
    }
    return place;
}

/* The transform that an element gives, if it is one. */
static int place_read(dae *d, int element, dae_place *place)
{
    static const struct {
        const char *name;
        int count;
    } kinds[] = {{"matrix", 16}, {"translate", 3}, {"rotate", 4}, {"scale", 3}};
    int kind = 0;
    while (kind < 4 && !is_named(d, element, kinds[kind].name)) {
        kind++;
    }
    *place = place_scale(1, 1, 1);
    if (kind == 4) {
        return 1;
    }
    dae_numbers list = {0};
    int ok = element_numbers(d, element, &list);
    if (ok && list.count != kinds[kind].count) {
        ok = dae_fail(d, element, "the transform has the wrong number of numbers");
    }
    if (ok && kind == 0) {
        memcpy(place->m, list.x, sizeof place->m);
    } else if (ok && kind == 1) {
        for (int i = 0; i < 3; i++) {
            place->m[i][3] = list.x[i];
        }
    } else if (ok) {
        *place = kind == 2 ? place_turn(list.x) : place_scale(list.x[0], list.x[1], list.x[2]);
    }
    base_free(list.x);
    return ok;
}

static int add_node(dae *d, int node, dae_place place, int depth)
{
    if (depth > DAE_MOST_DEEP) {
        return dae_fail(d, node, "nodes refer to each other in a circle");
    }
    if (++d->shown > DAE_MOST_SHOWN) {
        return dae_fail(d, node, "the scene shows more than 100000 nodes");
    }
    for (int c = d->xml.element[node].child; c >= 0; c = d->xml.element[c].next) {
        const char *url = xml_value(&d->xml, c, "url");
        dae_place own;
        if (!place_read(d, c, &own)) {
            return 0;
        }
        place = place_chain(&place, &own);
        int geometry = is_named(d, c, "instance_geometry") ? element_of(d, "geometry", url) : -1;
        int other = is_named(d, c, "node")            ? c
                    : is_named(d, c, "instance_node") ? element_of(d, "node", url)
                                                      : -1;
        if ((geometry >= 0 && !add_geometry(d, geometry, &place)) ||
            (other >= 0 && !add_node(d, other, place, depth + 1))) {
            return 0;
        }
    }
    return 1;
}

static int add_scene(dae *d, int root)
{
    int asset = child_named(d, root, "asset");
    int unit = asset >= 0 ? child_named(d, asset, "unit") : -1;
    const char *meter = unit >= 0 ? xml_value(&d->xml, unit, "meter") : NULL;
    double scale = 1;
    if (meter != NULL &&
        (!read_decimal(meter, strlen(meter), &scale) || !(scale > 0) || !isfinite(scale))) {
        return dae_fail(d, unit, "the unit has no length");
    }
    dae_place place = place_scale(scale, scale, scale);
    int scene = child_named(d, root, "scene");
    int shown = scene >= 0 ? child_named(d, scene, "instance_visual_scene") : -1;
    shown = shown >= 0 ? element_of(d, "visual_scene", xml_value(&d->xml, shown, "url")) : -1;
    if (shown >= 0) {
        return add_node(d, shown, place, 0);
    }
    int ok = 1; /* no scene: all geometries untransformed */
    for (int i = 0; ok && i < d->xml.count; i++) {
        ok = !is_named(d, i, "geometry") || add_geometry(d, i, &place);
    }
    return ok;
}

int read_mesh_dae(read_mesh *mesh, const char *bytes, size_t length, char why[200])
{
    zw_error error = {0};
    dae d = {
        .xml = {.model = model_create(), .error = &error}, .mesh = mesh, .why = why, .status = 1};
    model_file *file = d.xml.model != NULL ? model_add_file(d.xml.model) : NULL;
    if (file == NULL || (file->text = model_text_copy(bytes, length)) == NULL ||
        (file->name = model_text_copy("mesh", 4)) == NULL) {
        zw_model_free(d.xml.model);
        return -1;
    }
    d.text = file->text;
    int root = xml_read(&d.xml, 0);
    if (root >= 0) {
        add_scene(&d, root);
    } else {
        d.status = error.status == ZW_NO_MEMORY ? -1 : 0;
        error.text[strcspn(error.text, "\n")] = 0; /* without the source line */
        snprintf(why, 200, "line %d: %.150s", error.line, error.text);
    }
    xml_free(&d.xml);
    zw_model_free(d.xml.model);
    return d.status;
}

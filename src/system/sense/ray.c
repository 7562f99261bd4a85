/* Rangefinders: the distance from a site, along its z axis, to the first surface that the ray hits.
 *
 * As in MuJoCo, all geoms can be hit, whether they collide or not, except those of the site's own
 * body and completely transparent ones; meshes as triangles, from both sides; planes within their
 * rectangle. A height field is the closed surface of its heights, its four walls and its bottom.
 * Readings, in this order, if selected:
 *
 *     dist     distance; -1: no hit               dir      of the ray, 0 without a hit
 *     origin   of the ray                         point    that is hit, else 0
 *     normal   of the surface there, else 0       depth    as dist
 *
 * all along the world's axes. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "collide/ground.h"
#include "model/pose.h"
#include "system/bodies/bodies_build.h"
#include "system/contact/contacts.h"
#include "tree/sweeps.h"

/* ---- Surfaces -------------------------------------------------------------------------------- */

/* NULL: no memory; or, with *flat set, coplanar vertices without faces, which have no surface. */
static collide_mesh *mesh_of(const zw_mesh_def *def, int *flat)
{
    int *hull = NULL;
    int count = def->face_count > 0
                    ? def->face_count
                    : collide_hull_triangles(def->vertex, def->vertex_count, &hull, NULL);
    collide_mesh *mesh = collide_mesh_new(def->vertex, def->vertex_count,
                                          def->face_count > 0 ? def->face : hull, count);
    base_free(hull);
    *flat = count == 0;
    return mesh;
}

static void add_triangle(int *face, int *count, int a, int b, int c)
{
    const int corner[3] = {a, b, c};
    memcpy(face + 3 * (*count)++, corner, sizeof corner);
}

/* The grid of heights is divided as in field.c; below it is the same grid, of which only the rim
 * and the corners are used. */
static collide_mesh *mesh_of_field(const zw_hfield_def *f)
{
    int columns = f->columns, rows = f->rows, half = columns * rows, count = 0;
    size_t cells = (size_t)(columns - 1) * (size_t)(rows - 1);
    size_t rim = 2 * (size_t)(columns + rows - 2);
    double *vertex = base_alloc(6 * (size_t)half * sizeof *vertex);
    int *face = base_alloc(3 * (2 * cells + 2 * rim + 2) * sizeof *face);
    for (int i = 0; vertex && i < 2 * half; i++) {
        int at = i % half;
        vertex[3 * i] = f->half[0] * (2.0 * (at % columns) / (columns - 1) - 1);
        vertex[3 * i + 1] = f->half[1] * (2.0 * (at / columns) / (rows - 1) - 1);
        vertex[3 * i + 2] = i < half ? f->height[at] : -f->base;
    }
    for (int at = 0; vertex && face && at < half; at++) {
        int c = at % columns, r = at / columns, east = at + 1, north = at + columns;
        if (c + 1 < columns && r + 1 < rows) {
            add_triangle(face, &count, at, east, north + 1);
            add_triangle(face, &count, at, north + 1, north);
        }
        if (c + 1 < columns && (r == 0 || r + 1 == rows)) { /* walls along x */
            int a = r == 0 ? at : east, b = r == 0 ? east : at;
            add_triangle(face, &count, half + a, half + b, b);
            add_triangle(face, &count, half + a, b, a);
        }
        if (r + 1 < rows && (c == 0 || c + 1 == columns)) {
            int a = c == 0 ? north : at, b = c == 0 ? at : north;
            add_triangle(face, &count, half + a, half + b, b);
            add_triangle(face, &count, half + a, b, a);
        }
    }
    collide_mesh *mesh = NULL;
    if (vertex && face) {
        int corner[] = {half, half + columns - 1, 2 * half - 1, 2 * half - columns};
        add_triangle(face, &count, corner[0], corner[2], corner[1]);
        add_triangle(face, &count, corner[0], corner[3], corner[2]);
        mesh = collide_mesh_new(vertex, 2 * half, face, count);
    }
    base_free(vertex);
    base_free(face);
    return mesh;
}

/* Meshes and height fields are created when first needed, each once. 0: no memory; -1: there is no
 * surface. */
static int surface_of(const bodies_builder *b, const zw_geom_def *geom, collide_shape *shape)
{
    struct bodies_rays *rays = b->to->rays;
    int is_field = geom->shape == ZW_SHAPE_HFIELD;
    shape->kind = contact_kind_of(geom->shape);
    memcpy(shape->size, geom->size, sizeof shape->size);
    if (geom->shape != ZW_SHAPE_MESH && !is_field) {
        return 1;
    }
    int at = is_field ? b->from->count[ZW_KIND_MESH] + geom->hfield : geom->mesh;
    int flat = 0;
    if (!rays->mesh[at]) {
        rays->mesh[at] = is_field ? mesh_of_field(&b->from->hfield[geom->hfield])
                                  : mesh_of(&b->from->mesh[geom->mesh], &flat);
    }
    shape->kind = COLLIDE_MESH;
    shape->mesh = rays->mesh[at];
    return shape->mesh ? 1 : flat ? -1 : 0;
}

zw_status bodies_make_rays(bodies_builder *b, zw_error *error)
{
    const model_bodies *from = b->from;
    int wanted = 0, geoms = from->count[ZW_KIND_GEOM];
    for (int i = 0; i < b->to->sensor_count; i++) {
        wanted |= b->to->sensor[i].kind == ZW_SENSOR_RANGEFINDER;
    }
    if (!wanted) {
        return ZW_OK;
    }
    struct bodies_rays *rays = b->to->rays = base_alloc(sizeof *rays);
    if (!rays) {
        return base_no_memory(error);
    }
    *rays =
        (struct bodies_rays){.mesh_count = from->count[ZW_KIND_MESH] + from->count[ZW_KIND_HFIELD]};
    rays->target = base_alloc(((size_t)geoms + 1) * sizeof *rays->target);
    rays->mesh = base_alloc(((size_t)rays->mesh_count + 1) * sizeof(collide_mesh *));
    if (!rays->target || !rays->mesh) {
        rays->mesh_count = rays->mesh ? rays->mesh_count : 0;
        return base_no_memory(error);
    }
    for (int i = 0; i < geoms; i++) {
        const zw_geom_def *geom = &from->geom[i];
        if (geom->rgba[3] == 0) {
            continue;
        }
        bodies_target *target = &rays->target[rays->count];
        *target = (bodies_target){.frame = bodies_frame_on(b, geom->body, geom->pos, geom->quat)};
        int seen = surface_of(b, geom, &target->shape);
        if (seen == 0) {
            return base_no_memory(error);
        }
        rays->count += seen > 0;
    }
    return ZW_OK;
}

void bodies_rays_free(struct bodies_rays *rays)
{
    for (int i = 0; rays && i < rays->mesh_count; i++) {
        collide_mesh_free(rays->mesh[i]);
    }
    if (rays) {
        base_free(rays->mesh);
        base_free(rays->target);
        base_free(rays);
    }
}

/* ---- Readings -------------------------------------------------------------------------------- */

/* out = R' x */
static void along(const double R[9], const double x[3], double out[3])
{
    for (int k = 0; k < 3; k++) {
        out[k] = R[k] * x[0] + R[3 + k] * x[1] + R[6 + k] * x[2];
    }
}

/* Distance along the unit vector `way`, -1: no hit; and the normal there. */
static double look_along(const zw_system *system, const zw_work *work, int own,
                         const double from[3], const double way[3], double normal[3])
{
    const tree_mechanism *tree = system->tree;
    const struct bodies_rays *rays = system->bodies->rays;
    double nearest = -1;
    for (int i = 0; i < rays->count; i++) {
        const bodies_target *it = &rays->target[i];
        double place[3], quat[4], R[9], arm[3], p[3], d[3], n[3];
        if (it->frame.part == own) {
            continue;
        }
        tree_point(tree, it->frame.body, it->frame.pos, work->sweeps, place);
        model_quat_multiply(quat, work->sweeps + tree->at.quat + 4 * it->frame.body,
                            it->frame.quat);
        model_quat_matrix(quat, R);
        for (int k = 0; k < 3; k++) {
            arm[k] = from[k] - place[k];
        }
        along(R, arm, p);
        along(R, way, d);
        double t = collide_ray(&it->shape, p, d, n);
        if (t >= 0 && (nearest < 0 || t < nearest)) {
            nearest = t;
            for (int k = 0; k < 3; k++) {
                normal[k] = model_dot(R + 3 * k, n);
            }
        }
    }
    return nearest;
}

int bodies_ray_size(int data)
{
    static const int size[] = {1, 3, 3, 3, 3, 1};
    int sum = 0;
    for (int k = 0; k < 6; k++) {
        sum += data >> k & 1 ? size[k] : 0;
    }
    return sum;
}

void bodies_sense_ray(const zw_system *system, const zw_work *work, const bodies_sensor *sensor,
                      const double place[3], const double R[9], double *out)
{
    const double way[3] = {R[2], R[5], R[8]};
    double normal[3] = {0, 0, 0}, point[3] = {0, 0, 0}, dir[3] = {0, 0, 0};
    double dist = look_along(system, work, sensor->frame.part, place, way, normal);
    for (int k = 0; k < 3 && dist >= 0; k++) {
        dir[k] = way[k];
        point[k] = place[k] + dist * way[k];
    }
    const double *said[] = {&dist, dir, place, point, normal, &dist};
    for (int k = 0; k < 6; k++) {
        if (sensor->data >> k & 1) {
            int count = bodies_ray_size(1 << k);
            memcpy(out, said[k], (size_t)count * sizeof *out);
            out += count;
        }
    }
}

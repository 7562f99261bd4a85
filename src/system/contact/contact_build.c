/* Shapes and filters of contacts, from their definitions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "collide/ground.h"
#include "collide/hull.h"
#include "model/pose.h"
#include "system/bodies/bodies_build.h"
#include "system/contact/contacts.h"

static double length_of(const double *v)
{
    return sqrt(model_dot(v, v));
}

static double radius_of(const zw_geom_def *geom, const model_bodies *from)
{
    const zw_mesh_def *mesh = geom->mesh >= 0 ? &from->mesh[geom->mesh] : NULL;
    const zw_hfield_def *field = geom->hfield >= 0 ? &from->hfield[geom->hfield] : NULL;
    double most = 0;
    switch (geom->shape) {
    case ZW_SHAPE_SPHERE:
        return geom->size[0];
    case ZW_SHAPE_CAPSULE:
        return geom->size[0] + geom->size[1];
    case ZW_SHAPE_ELLIPSOID:
        return fmax(geom->size[0], fmax(geom->size[1], geom->size[2]));
    case ZW_SHAPE_CYLINDER:
    case ZW_SHAPE_CONE:
        return sqrt(geom->size[0] * geom->size[0] + geom->size[1] * geom->size[1]);
    case ZW_SHAPE_BOX:
        return length_of(geom->size);
    case ZW_SHAPE_MESH:
        for (int i = 0; i < mesh->vertex_count; i++) {
            most = fmax(most, length_of(mesh->vertex + 3 * i));
        }
        return most;
    case ZW_SHAPE_HFIELD:
        for (int i = 0; i < field->height_count; i++) {
            most = fmax(most, fabs(field->height[i]));
        }
        return length_of((const double[3]){field->half[0], field->half[1], most});
    default:
        return INFINITY;
    }
}

/* For a hull: about the mean of its corners. */
static double thick_of(const collide_shape *shape)
{
    const double *size = shape->size;
    double least = INFINITY;
    switch (shape->kind) {
    case COLLIDE_SPHERE:
    case COLLIDE_CAPSULE:
        return size[0];
    case COLLIDE_CYLINDER:
        return fmin(size[0], size[1]);
    case COLLIDE_ELLIPSOID:
    case COLLIDE_BOX:
        return fmin(size[0], fmin(size[1], size[2]));
    case COLLIDE_CONE:
        return 2 * size[1] * size[0] / (size[0] + sqrt(size[0] * size[0] + 4 * size[1] * size[1]));
    case COLLIDE_HULL:
        for (int f = 0; f < shape->hull->face_count; f++) {
            const double *plane = shape->hull->plane + 4 * f;
            least = fmin(least, plane[3] - model_dot(plane, shape->hull->middle));
        }
        return shape->hull->face_count > 0 ? fmax(least, 0) : 0;
    default:
        return 0;
    }
}

collide_kind contact_kind_of(int shape)
{
    static const collide_kind kind[] = {
        [ZW_SHAPE_PLANE] = COLLIDE_PLANE,       [ZW_SHAPE_SPHERE] = COLLIDE_SPHERE,
        [ZW_SHAPE_CAPSULE] = COLLIDE_CAPSULE,   [ZW_SHAPE_ELLIPSOID] = COLLIDE_ELLIPSOID,
        [ZW_SHAPE_CYLINDER] = COLLIDE_CYLINDER, [ZW_SHAPE_BOX] = COLLIDE_BOX,
        [ZW_SHAPE_MESH] = COLLIDE_HULL,         [ZW_SHAPE_HFIELD] = COLLIDE_FIELD,
        [ZW_SHAPE_CONE] = COLLIDE_CONE};
    return kind[shape];
}

/* Half lengths of the box around a mesh's vertices, about its centre of mass and along its axes of
 * inertia, of which the diagonal says when MuJoCo takes two points for different. */
static int box_of(const zw_mesh_def *mesh, double half[3])
{
    zw_inertia in;
    double R[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, com[3] = {0};
    int weighed = model_mesh_inertia(mesh, 0, &in);
    if (weighed > 0) {
        model_quat_matrix(in.quat, R);
        memcpy(com, in.com, sizeof com);
    }
    memset(half, 0, 3 * sizeof *half);
    for (int i = 0; i < 3 * mesh->vertex_count; i++) {
        const double *v = mesh->vertex + i / 3 * 3;
        double at = 0;
        for (int k = 0; k < 3; k++) {
            at += R[3 * k + i % 3] * (v[k] - com[k]);
        }
        half[i % 3] = fmax(half[i % 3], fabs(at));
    }
    return weighed >= 0; /* there was memory */
}

/* Hull, mesh or height field of a shape, created when first needed. */
static int collision_shape(const bodies_builder *b, contact_world *world, const zw_geom_def *from,
                           collide_shape *shape)
{
    if (from->shape == ZW_SHAPE_HFIELD) {
        const zw_hfield_def *def = &b->from->hfield[from->hfield];
        collide_field **field = &world->field[from->hfield];
        *field = *field ? *field
                        : collide_field_new(def->columns, def->rows, def->half[0], def->half[1],
                                            def->height);
        shape->field = *field;
        return *field != NULL;
    }
    if (from->shape == ZW_SHAPE_MESH && from->triangles) {
        const zw_mesh_def *def = &b->from->mesh[from->mesh];
        collide_mesh **mesh = &world->mesh[from->mesh];
        *mesh = *mesh
                    ? *mesh
                    : collide_mesh_new(def->vertex, def->vertex_count, def->face, def->face_count);
        shape->kind = COLLIDE_MESH;
        shape->mesh = *mesh;
        return *mesh != NULL;
    }
    if (from->shape == ZW_SHAPE_MESH) {
        const zw_mesh_def *def = &b->from->mesh[from->mesh];
        collide_hull **hull = &world->hull[from->mesh];
        *hull = *hull ? *hull : collide_hull_new(def->vertex, def->vertex_count);
        shape->hull = *hull;
        return *hull != NULL && box_of(def, shape->size);
    }
    return 1;
}

static zw_status make_geom(bodies_builder *b, contact_world *world, int index, zw_error *error)
{
    const zw_geom_def *from = &b->from->geom[index];
    contact_geom *geom = &world->geom[world->geom_count];
    bodies_frame frame = bodies_frame_on(b, from->body, from->pos, from->quat);
    if (from->triangles && frame.body != 0) {
        return model_fail(
            b->model, error, ZW_BAD_INPUT, from->place,
            "geom %s touches by its triangles, but its body moves: this is for fixed bodies only",
            from->name ? from->name : "without name");
    }
    *geom = (contact_geom){.index = index,
                           .owner = from->body,
                           .body = frame.body,
                           .radius = radius_of(from, b->from),
                           .margin = fmax(from->margin, 0),
                           .law = *from,
                           .shape = {.kind = contact_kind_of(from->shape)}};
    memcpy(geom->shape.size, from->size, sizeof from->size);
    memcpy(geom->pos, frame.pos, sizeof geom->pos);
    model_quat_matrix(frame.quat, geom->R);
    world->still[world->geom_count] = geom->body == 0;
    if (geom->body > 0) {
        world->moving[world->moving_count++] = world->geom_count;
    }
    world->geom_count++;
    geom->law.name =
        from->name ? bodies_copy(from->name) : NULL; /* copied, as a cut model is temporary */
    if ((from->name && !geom->law.name) || !collision_shape(b, world, from, &geom->shape)) {
        return base_no_memory(error);
    }
    geom->thick = thick_of(&geom->shape);
    return ZW_OK;
}

/* ---- Filters -------------------------------------------------------------------------------- */

static contact_two two(int a, int b, int index)
{
    return (contact_two){.a = a < b ? a : b, .b = a < b ? b : a, .index = index};
}

static int earlier(const void *x, const void *y)
{
    const contact_two *a = x, *b = y;
    if (a->a != b->a) {
        return a->a < b->a ? -1 : 1;
    }
    if (a->b != b->b) {
        return a->b < b->b ? -1 : 1;
    }
    return (a->index > b->index) - (a->index < b->index);
}

static void make_filters(const bodies_builder *b, contact_world *world, const int *place)
{
    for (int i = 0; i < b->from->count[ZW_KIND_EXCLUDE]; i++) {
        const zw_exclude_def *def = &b->from->exclude[i];
        world->exclude[world->exclude_count++] = two(def->body1, def->body2, i);
    }
    for (int i = 0; i < b->from->count[ZW_KIND_PAIR]; i++) {
        const zw_pair_def *def = &b->from->pair[i];
        int a = place[def->geom1], c = place[def->geom2];
        world->pair[world->pair_count++] = two(a, c, i);
        world->pair_def[i] = *def;
        world->pair_def[i].name = NULL; /* may belong to a temporary model */
        if (def->given & 16) {
            world->geom[a].margin = fmax(world->geom[a].margin, def->margin);
            world->geom[c].margin = fmax(world->geom[c].margin, def->margin);
        }
    }
    qsort(world->exclude, (size_t)world->exclude_count, sizeof *world->exclude, earlier);
    qsort(world->pair, (size_t)world->pair_count, sizeof *world->pair, earlier);
}

/* ---- All of it ------------------------------------------------------------------------------ */

static zw_status make_room(const bodies_builder *b, contact_world *world, zw_error *error)
{
    const int *count = b->from->count;
    world->geom = base_alloc(((size_t)count[ZW_KIND_GEOM] + 1) * sizeof *world->geom);
    world->pair = base_alloc(((size_t)count[ZW_KIND_PAIR] + 1) * sizeof *world->pair);
    world->pair_def = base_alloc(((size_t)count[ZW_KIND_PAIR] + 1) * sizeof *world->pair_def);
    world->exclude = base_alloc(((size_t)count[ZW_KIND_EXCLUDE] + 1) * sizeof *world->exclude);
    world->hull = base_alloc(((size_t)count[ZW_KIND_MESH] + 1) * sizeof *world->hull);
    world->still = base_alloc((size_t)count[ZW_KIND_GEOM] + 1);
    world->moving = base_alloc(((size_t)count[ZW_KIND_GEOM] + 1) * sizeof(int));
    world->mesh = base_alloc(((size_t)count[ZW_KIND_MESH] + 1) * sizeof *world->mesh);
    world->field = base_alloc(((size_t)count[ZW_KIND_HFIELD] + 1) * sizeof *world->field);
    world->mesh_count = count[ZW_KIND_MESH];
    world->field_count = count[ZW_KIND_HFIELD];
    return world->geom && world->pair && world->pair_def && world->exclude && world->hull &&
                   world->still && world->moving && world->mesh && world->field
               ? ZW_OK
               : base_no_memory(error);
}

/* Geoms that can be in contact, and the index of each in this list. */
static zw_status make_geoms(bodies_builder *b, contact_world *world, int *place, zw_error *error)
{
    zw_status status = ZW_OK;
    for (int i = 0; i < b->from->count[ZW_KIND_PAIR]; i++) {
        place[b->from->pair[i].geom1] = place[b->from->pair[i].geom2] = 1;
    }
    for (int i = 0; i < b->from->count[ZW_KIND_GEOM] && status == ZW_OK; i++) {
        const zw_geom_def *geom = &b->from->geom[i];
        if (place[i] || geom->contype || geom->conaffinity) {
            place[i] = world->geom_count;
            status = make_geom(b, world, i, error);
        }
    }
    return status;
}

/* Could any two be in contact, by their bits alone? */
static int could_touch(const contact_world *world)
{
    int types = 0, affinities = 0;
    for (int i = 0; i < world->geom_count; i++) {
        types |= world->geom[i].law.contype;
        affinities |= world->geom[i].law.conaffinity;
    }
    return (types & affinities) || world->pair_count > 0;
}

/* For few geoms all pairs that may touch; for many only whether there is one, usually among the
 * first. */
static zw_status find_touching(contact_world *world, const tree_mechanism *tree, zw_error *error)
{
    size_t geoms = (size_t)world->geom_count;
    if (world->geom_count <= CONTACT_FEW) {
        world->match = base_alloc((geoms * geoms / 2 + 1) * sizeof *world->match);
        for (int i = 0; world->match && i < world->geom_count; i++) {
            for (int j = i + 1; j < world->geom_count; j++) {
                if (contact_may(world, tree, i, j)) {
                    world->match[world->match_count++] = contact_match_of(world, i, j);
                }
            }
        }
        world->touches = world->match_count > 0;
        return world->match ? ZW_OK : base_no_memory(error);
    }
    int could = could_touch(world);
    for (int i = 0; i < world->geom_count && !world->touches && could; i++) {
        for (int j = 0; j < i && !world->touches; j++) {
            world->touches = contact_may(world, tree, i, j);
        }
    }
    return contact_crowd_make(world, tree) ? ZW_OK : base_no_memory(error);
}

/* Shapes of a robot touch little of each other. Many are a heap: boxes in one have six neighbours
 * each, with up to eight points, shared by two, and some room for those that only come near. */
int contact_capacity(int geom_count)
{
    enum { HEAP = 50 };
    return 64 + 12 * geom_count + (geom_count > HEAP ? 36 * (geom_count - HEAP) : 0);
}

zw_status bodies_make_contacts(bodies_builder *b, zw_error *error)
{
    contact_world *world = b->to->contact = base_alloc(sizeof *world);
    int *place = base_alloc(((size_t)b->from->count[ZW_KIND_GEOM] + 1) * sizeof *place);
    zw_status status = world && place ? make_room(b, world, error) : base_no_memory(error);
    if (status == ZW_OK && !bodies_without(b, ZW_WITHOUT_CONTACT | ZW_WITHOUT_CONSTRAINT)) {
        status = make_geoms(b, world, place, error);
        if (status == ZW_OK) {
            make_filters(b, world, place);
        }
    }
    if (status == ZW_OK) {
        int given = b->from->world.contact_capacity;
        world->keeps_parents = bodies_without(b, ZW_WITHOUT_FILTERPARENT);
        world->bounce_speed = b->from->world.bounce_speed;
        world->is_given = given > 0;
        world->capacity = given > 0 ? given : contact_capacity(world->geom_count);
        status = find_touching(world, b->system->tree, error);
    }
    base_free(place);
    return status;
}

void contact_world_free(contact_world *world)
{
    if (!world) {
        return;
    }
    for (int i = 0; i < world->mesh_count; i++) {
        collide_hull_free(world->hull ? world->hull[i] : NULL);
        collide_mesh_free(world->mesh ? world->mesh[i] : NULL);
    }
    for (int i = 0; world->field && i < world->field_count; i++) {
        collide_field_free(world->field[i]);
    }
    for (int i = 0; i < world->geom_count; i++) {
        base_free((char *)world->geom[i].law.name);
    }
    base_free(world->geom);
    base_free(world->pair);
    base_free(world->pair_def);
    base_free(world->exclude);
    base_free(world->hull);
    base_free(world->mesh);
    base_free(world->field);
    base_free(world->still);
    base_free(world->moving);
    base_free(world->match);
    contact_crowd_free(world->crowd);
    base_free(world);
}

zw_status contact_work_create(contact_work *work, const contact_world *world)
{
    size_t geoms = (size_t)world->geom_count;
    int groups = 1, matches = world->match_count;
    if (world->crowd) {
        contact_crowd_sizes(world->crowd, &groups, &matches);
    }
    *work =
        (contact_work){.pose = base_alloc((geoms + 1) * sizeof *work->pose),
                       .reach = base_alloc((geoms + 1) * sizeof(double)),
                       .lower = base_alloc((3 * geoms + 1) * sizeof(double)),
                       .upper = base_alloc((3 * geoms + 1) * sizeof(double)),
                       .broad = collide_broad_new(),
                       .woken = base_alloc((geoms + 1) * sizeof(int)),
                       .is_woken = base_alloc(geoms + 1),
                       .crowd = world->crowd ? crowd_work_create(world) : NULL,
                       .capacity = world->capacity,
                       .point = base_alloc(((size_t)world->capacity + 1) * sizeof *work->point)};
    if (work->pose && work->reach && work->lower && work->upper && work->broad && work->point &&
        work->woken && work->is_woken && (work->crowd || !world->crowd) &&
        contact_wait_create(&work->wait, world, groups, matches)) {
        return ZW_OK;
    }
    contact_work_free(work);
    return ZW_NO_MEMORY;
}

void contact_work_free(contact_work *work)
{
    base_free(work->pose);
    base_free(work->reach);
    base_free(work->lower);
    base_free(work->upper);
    base_free(work->point);
    base_free(work->woken);
    base_free(work->is_woken);
    collide_broad_free(work->broad);
    crowd_work_free(work->crowd);
    contact_wait_free(&work->wait);
    *work = (contact_work){0};
}

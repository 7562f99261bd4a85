/* A copy of the parts of a system that steps read, in one relocatable block.
 *
 * Structs are copied field by field: what is not copied here is zero on the device, so that the
 * emulation also detects a step that needs it (test/device). Pointers are recorded as links, and
 * set when the address of the block is known. */
#include "device/image.h"

#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "collide/hull.h"

/* ---- Which systems are supported ------------------------------------------------------------- */

static zw_status check_geoms(const contact_world *world, zw_error *error)
{
    if (world->geom_count > 0 && !world->match) {
        return base_fail(error, ZW_BAD_INPUT,
                         "%d geoms can touch; a device, which tests all pairs, allows at most %d",
                         world->geom_count, CONTACT_FEW);
    }
    for (int k = 0; k < world->match_count; k++) {
        for (int side = 0; side < 2; side++) {
            const contact_geom *geom = &world->geom[side ? world->match[k].b : world->match[k].a];
            if (geom->shape.kind > COLLIDE_HULL) {
                return base_fail(error, ZW_BAD_INPUT,
                                 "geom %s is a height field or a mesh that is not convex: on a "
                                 "device they do not touch",
                                 geom->law.name ? geom->law.name : "without a name");
            }
        }
    }
    return ZW_OK;
}

zw_status image_check(const zw_system *system, zw_error *error)
{
    const struct system_bodies *bodies = system->bodies;
    const char *lack = !system->tree                  ? "equations without bodies"
                       : bodies->formulas             ? "formulas over bodies"
                       : bodies->path_count > 0       ? "tendons through space"
                       : bodies->adhesion_count > 0   ? "adhesion"
                       : system->model->event_count   ? "events"
                       : system->tree->without_matrix ? "trees without a mass matrix"
                       : bodies->contact->asleep      ? "bodies that sleep"
                                                      : NULL;
    if (lack) {
        return base_fail(error, ZW_BAD_INPUT, "a batch on a device does not support %s", lack);
    }
    if (system->n < 1 || system->n > DEVICE_SPEEDS) {
        return base_fail(error, ZW_BAD_INPUT,
                         "a world on a device has 1 to %d speeds, and this system has %d",
                         DEVICE_SPEEDS, system->n);
    }
    return check_geoms(bodies->contact, error);
}

/* ---- The block ------------------------------------------------------------------------------- */

static int grow(void *list, size_t used, size_t *capacity, size_t more, size_t size)
{
    void **to = list;
    if (used + more <= *capacity) {
        return 1;
    }
    size_t wider = 2 * (used + more);
    void *new = base_alloc(wider * size);
    if (!new) {
        return 0;
    }
    if (used > 0) {
        memcpy(new, *to, used * size);
    }
    base_free(*to);
    *to = new;
    *capacity = wider;
    return 1;
}

/* Copies this many bytes into the block; returns their position. */
static size_t add(device_image *image, const void *from, size_t bytes)
{
    size_t start = (image->used + 63) / 64 * 64;
    if (image->failed ||
        !grow(&image->block, image->used, &image->capacity, start - image->used + bytes + 64, 1)) {
        image->failed = 1;
        return 0;
    }
    if (from && bytes > 0) {
        memcpy(image->block + start, from, bytes);
    }
    image->used = start + bytes;
    return start;
}

static void link_to(device_image *image, size_t at, size_t to)
{
    size_t capacity = (size_t)image->link_capacity;
    if (image->failed ||
        !grow(&image->link, (size_t)image->links, &capacity, 1, sizeof *image->link)) {
        image->failed = 1;
        return;
    }
    image->link_capacity = (int)capacity;
    image->link[image->links++] = (image_link){at, to};
}

/* Copies an array and links the pointer to it; NULL stays NULL. Returns the position of
 * the array. */
static size_t attach(device_image *image, size_t at, const void *from, size_t bytes)
{
    if (!from) {
        return 0;
    }
    size_t to = add(image, from, bytes);
    link_to(image, at, to);
    return to;
}

#define PLACE(start, type, field) ((start) + offsetof(type, field))
#define ATTACH(start, type, from, field, count)                                                    \
    attach(image, PLACE(start, type, field), (from)->field, (size_t)(count) * sizeof *(from)->field)

/* ---- Contents -------------------------------------------------------------------------------- */

static size_t add_tree(device_image *image, const tree_mechanism *tree)
{
    tree_mechanism copy = *tree;
    size_t start, nv = (size_t)tree->nv, nq = (size_t)tree->nq;
    start = add(image, &copy, sizeof copy);
    ATTACH(start, tree_mechanism, tree, body, tree->bodies);
    ATTACH(start, tree_mechanism, tree, joint, tree->joints);
    ATTACH(start, tree_mechanism, tree, hinge, tree->hinges);
    ATTACH(start, tree_mechanism, tree, dof_body, nv);
    ATTACH(start, tree_mechanism, tree, dof_parent, nv);
    ATTACH(start, tree_mechanism, tree, dof_joint, nv);
    ATTACH(start, tree_mechanism, tree, depth, nv);
    ATTACH(start, tree_mechanism, tree, armature, nv);
    ATTACH(start, tree_mechanism, tree, damping, nv);
    ATTACH(start, tree_mechanism, tree, q_rest, nq);
    ATTACH(start, tree_mechanism, tree, q_spring, nq);
    ATTACH(start, tree_mechanism, tree, block, tree->blocks + 1);
    ATTACH(start, tree_mechanism, tree, start, nv + 1);
    ATTACH(start, tree_mechanism, tree, column, tree->entries);
    return start;
}

static size_t add_hull(device_image *image, const collide_hull *hull)
{
    size_t start = add(image, hull, sizeof *hull), corners = (size_t)hull->vertex_count;
    ATTACH(start, collide_hull, hull, vertex, 3 * corners);
    ATTACH(start, collide_hull, hull, plane, 4 * hull->face_count);
    ATTACH(start, collide_hull, hull, face_start, hull->face_count + 1);
    ATTACH(start, collide_hull, hull, ring, hull->ring_count);
    ATTACH(start, collide_hull, hull, near_start, corners + 1);
    ATTACH(start, collide_hull, hull, near, hull->near_start[corners]);
    ATTACH(start, collide_hull, hull, around_start, corners + 1);
    ATTACH(start, collide_hull, hull, around, hull->around_start[corners]);
    ATTACH(start, collide_hull, hull, cell, 2 * hull->cell_count);
    ATTACH(start, collide_hull, hull, listed, hull->listed_count);
    return start;
}

/* Geoms of one mesh share its hull. */
static void add_geoms(device_image *image, size_t at, const contact_world *world)
{
    size_t each = sizeof *world->geom;
    size_t start = attach(image, at, world->geom, (size_t)world->geom_count * each);
    for (int i = 0; i < world->geom_count && !image->failed; i++) {
        contact_geom *geom = (contact_geom *)(void *)(image->block + start) + i;
        geom->shape.hull = NULL;
        geom->shape.field = NULL;
        geom->shape.mesh = NULL;
        geom->law.name = NULL;
    }
    size_t place[CONTACT_FEW] = {0};
    for (int i = 0; i < world->geom_count; i++) {
        const collide_hull *hull = world->geom[i].shape.hull;
        int first = 0;
        while (world->geom[first].shape.hull != hull) {
            first++;
        }
        if (hull) {
            place[i] = first < i ? place[first] : add_hull(image, hull);
            link_to(image, PLACE(start + (size_t)i * each, contact_geom, shape.hull), place[i]);
        }
    }
}

static size_t add_contacts(device_image *image, const contact_world *world, int points)
{
    contact_world copy = {.geom_count = world->geom_count,
                          .moving_count = world->moving_count,
                          .pair_count = world->pair_count,
                          .exclude_count = world->exclude_count,
                          .keeps_parents = world->keeps_parents,
                          .touches = world->touches,
                          .match_count = world->match_count,
                          .bounce_speed = world->bounce_speed};
    copy.capacity = points > 0 ? points : world->is_given ? world->capacity : IMAGE_POINTS;
    int written = 0;
    for (int k = 0; k < world->pair_count; k++) {
        written = world->pair[k].index >= written ? world->pair[k].index + 1 : written;
    }
    size_t start = add(image, &copy, sizeof copy);
    add_geoms(image, PLACE(start, contact_world, geom), world);
    ATTACH(start, contact_world, world, still, world->geom_count);
    ATTACH(start, contact_world, world, moving, world->moving_count);
    ATTACH(start, contact_world, world, pair, world->pair_count);
    ATTACH(start, contact_world, world, exclude, world->exclude_count);
    size_t pairs = ATTACH(start, contact_world, world, pair_def, written);
    size_t match = ATTACH(start, contact_world, world, match, world->match_count);
    for (int k = 0; k < world->match_count; k++) {
        const zw_pair_def *of = world->match[k].written;
        if (of) {
            link_to(image, PLACE(match + (size_t)k * sizeof(contact_match), contact_match, written),
                    pairs + (size_t)(of - world->pair_def) * sizeof *of);
        }
    }
    return start;
}

static void add_constraints(device_image *image, size_t at, const struct system_bodies *bodies)
{
    size_t each = sizeof *bodies->constraint;
    size_t start = attach(image, at, bodies->constraint, (size_t)bodies->constraint_count * each);
    for (int k = 0; k < bodies->constraint_count; k++) {
        const bodies_constraint *constraint = &bodies->constraint[k];
        for (int side = 0; side < 2; side++) {
            size_t own = PLACE(start + (size_t)k * each, bodies_constraint, column[side]);
            attach(image, own, constraint->column[side],
                   (size_t)constraint->chain[side] * sizeof *constraint->column[side]);
        }
    }
}

/* The scalar members. */
static struct system_bodies bodies_alone(const struct system_bodies *from)
{
    struct system_bodies to = {.term_count = from->term_count,
                               .length_count = from->length_count,
                               .constraint_count = from->constraint_count,
                               .dry_count = from->dry_count,
                               .motor_count = from->motor_count,
                               .lift_count = from->lift_count,
                               .motor_lifts = from->motor_lifts,
                               .fluid_count = from->fluid_count,
                               .density = from->density,
                               .viscosity = from->viscosity,
                               .act_count = from->act_count,
                               .part_count = from->part_count,
                               .joint_count = from->joint_count,
                               .extra_count = from->extra_count,
                               .thin_count = from->thin_count,
                               .widest = from->widest,
                               .timestep = from->timestep,
                               .without = from->without,
                               .elliptic = from->elliptic,
                               .integrator = from->integrator,
                               .impratio = from->impratio,
                               .sensor_count = from->sensor_count};
    memcpy(to.wind, from->wind, sizeof to.wind);
    memcpy(to.magnetic, from->magnetic, sizeof to.magnetic);
    return to;
}

/* What rangefinders can hit: shapes without meshes, see image_senses. */
static void add_rays(device_image *image, size_t at, const struct bodies_rays *rays)
{
    if (!rays) {
        return;
    }
    struct bodies_rays copy = {.count = rays->count};
    size_t start = add(image, &copy, sizeof copy);
    link_to(image, at, start);
    size_t target = ATTACH(start, struct bodies_rays, rays, target, rays->count);
    for (int k = 0; k < rays->count && !image->failed; k++) {
        ((bodies_target *)(void *)(image->block + target))[k].shape.mesh = NULL;
    }
}

const char *image_senses(const zw_system *system)
{
    const struct bodies_rays *rays = system->bodies->rays;
    for (int k = 0; rays && k < rays->count; k++) {
        if (rays->target[k].shape.kind == COLLIDE_MESH) {
            return "rangefinders that may see meshes or height fields";
        }
    }
    return NULL;
}

static size_t add_bodies(device_image *image, const struct system_bodies *bodies, int points)
{
    typedef struct system_bodies own;
    own copy = bodies_alone(bodies);
    size_t start = add(image, &copy, sizeof copy);
    ATTACH(start, own, bodies, term, bodies->term_count);
    ATTACH(start, own, bodies, coef, bodies->term_count);
    ATTACH(start, own, bodies, length, bodies->length_count);
    ATTACH(start, own, bodies, dry, bodies->dry_count);
    ATTACH(start, own, bodies, motor, bodies->motor_count);
    ATTACH(start, own, bodies, lift, bodies->lift_count);
    ATTACH(start, own, bodies, fluid, bodies->fluid_count);
    ATTACH(start, own, bodies, act_motor, bodies->act_count);
    ATTACH(start, own, bodies, extra, bodies->extra_count);
    ATTACH(start, own, bodies, part, bodies->part_count);
    ATTACH(start, own, bodies, sensor, bodies->sensor_count);
    add_rays(image, PLACE(start, own, rays), bodies->rays);
    add_constraints(image, PLACE(start, own, constraint), bodies);
    link_to(image, PLACE(start, own, contact), add_contacts(image, bodies->contact, points));
    return start;
}

static size_t add_system(device_image *image, const zw_system *system, int points)
{
    zw_system copy = {.n = system->n,
                      .nq = system->nq,
                      .m = system->m,
                      .carried = system->carried,
                      .shape = system->shape,
                      .conservative = system->conservative,
                      .works = system->works,
                      .at = system->at};
    static const system_part part[] = {PART_TERMS, PART_POSITION, PART_VELOCITY, PART_ENERGY};
    for (int k = 0; k < 4; k++) {
        copy.tape[part[k]].count = system->tape[part[k]].count;
    }
    size_t start = add(image, &copy, sizeof copy);
    ATTACH(start, zw_system, system, A_start, system->m + 1);
    ATTACH(start, zw_system, system, A_column, system->A_start[system->m]);
    link_to(image, PLACE(start, zw_system, tree), add_tree(image, system->tree));
    link_to(image, PLACE(start, zw_system, bodies), add_bodies(image, system->bodies, points));
    return start;
}

static void add_shape(device_image *image, size_t at, const paths_shape *shape)
{
    ATTACH(at, paths_shape, shape, parent, shape->n);
    ATTACH(at, paths_shape, shape, depth, shape->n);
    ATTACH(at, paths_shape, shape, start, shape->n);
    ATTACH(at, paths_shape, shape, block, shape->blocks + 1);
}

/* Trees with their patterns. */
static void add_trees(device_image *image, size_t at, const soft_problem *s)
{
    size_t each = sizeof *s->tree, start = attach(image, at, s->tree, (size_t)s->trees * each);
    for (int t = 0; t < s->trees; t++) {
        add_shape(image, PLACE(start + (size_t)t * each, soft_tree, shape), &s->tree[t].shape);
    }
}

static void add_matches(device_image *image, size_t at, const soft_problem *s)
{
    const contact_world *world = s->system->bodies->contact;
    size_t start = add(image, NULL, (size_t)world->match_count * sizeof(soft_pair));
    link_to(image, at, start);
    for (int k = 0; k < world->match_count && !image->failed; k++) {
        soft_pair *to = (soft_pair *)(void *)(image->block + start) + k;
        *to = soft_pair_make(s, (uint32_t)world->match[k].a, (uint32_t)world->match[k].b);
    }
}

static size_t add_soft(device_image *image, const soft_problem *s)
{
    const struct system_bodies *bodies = s->system->bodies;
    soft_problem copy = {.step = s->step,
                         .h = s->h,
                         .has_frames = s->has_frames,
                         .is_there = s->is_there,
                         .trees = s->trees,
                         .found.choice = s->found.choice,
                         .found.wait.by_shape = s->found.wait.by_shape};
    size_t start = add(image, &copy, sizeof copy);
    ATTACH(start, soft_problem, s, part, bodies->part_count);
    ATTACH(start, soft_problem, s, dof, s->system->n);
    ATTACH(start, soft_problem, s, length, bodies->length_count);
    ATTACH(start, soft_problem, s, watch, bodies->constraint_count);
    ATTACH(start, soft_problem, s, tree_of, s->system->n);
    add_trees(image, PLACE(start, soft_problem, tree), s);
    if (s->is_there) {
        add_matches(image, PLACE(start, soft_problem, match), s);
    }
    return start;
}

/* ---- What worlds in lanes need in addition --------------------------------------------------- */

/* The pair's definition is looked up in the world's own list. */
static void add_lane_matches(device_image *image, size_t at, const soft8 *s)
{
    size_t each = sizeof *s->match;
    size_t start = attach(image, at, s->match, (size_t)s->match_count * each);
    for (int k = 0; k < s->match_count && !image->failed; k++) {
        ((soft8_match *)(void *)(image->block + start))[k].of.written = NULL;
        ATTACH(start + (size_t)k * each, soft8_match, &s->match[k], column, s->match[k].columns);
        ATTACH(start + (size_t)k * each, soft8_match, &s->match[k], side, s->match[k].columns);
    }
}

/* Bodies by their depth in the tree. */
static void add_levels(device_image *image, size_t at, const tree_mechanism *tree)
{
    size_t bodies = (size_t)tree->bodies;
    int *level = base_alloc(4 * (bodies + 1) * sizeof *level), *start = level + bodies + 1;
    int *list = start + bodies + 1, *sibling = list + bodies, count = 0, used = 0;
    if (!level) {
        image->failed = 1;
        return;
    }
    for (int i = 1; i < tree->bodies; i++) {
        int parent = tree->body[i].parent;
        level[i] = level[parent] + 1;
        count = level[i] > count ? level[i] : count;
        for (int k = parent + 1; k < i; k++) {
            sibling[i] = tree->body[k].parent == parent ? k : sibling[i];
        }
    }
    for (int depth = 1; depth <= count; depth++) {
        start[depth - 1] = used;
        for (int i = 1; i < tree->bodies; i++) {
            if (level[i] == depth) {
                list[used++] = i;
            }
        }
    }
    start[count] = used;
    attach(image, PLACE(at, device_levels, start), start, ((size_t)count + 1) * sizeof *start);
    attach(image, PLACE(at, device_levels, body), list, ((size_t)used + 1) * sizeof *list);
    attach(image, PLACE(at, device_levels, sibling), sibling, bodies * sizeof *sibling);
    if (!image->failed) {
        memcpy(image->block + PLACE(at, device_levels, count), &count, sizeof count);
    }
    base_free(level);
}

static void add_lanes(device_image *image, size_t at, const soft8 *s)
{
    const zw_system *system = s->system;
    device_lanes copy = {.match_count = s->match_count,
                         .straight = s->straight,
                         .motors_apart = s->motors_apart,
                         .lengths_apart = s->lengths_apart};
    size_t start = add(image, &copy, sizeof copy);
    link_to(image, at, start);
    add_lane_matches(image, PLACE(start, device_lanes, match), s);
    ATTACH(start, device_lanes, s, tendon_J, system->A_start[system->m] + 1);
    ATTACH(start, device_lanes, s, tendon_straight, system->bodies->constraint_count);
    add_shape(image, PLACE(start, device_lanes, straight), &s->straight);
    add_levels(image, PLACE(start, device_lanes, levels), system->tree);
    if (s->match_count > 0) {
        attach(image, PLACE(start, device_lanes, place), s->alone->found.pose,
               (size_t)system->bodies->contact->geom_count * sizeof *s->alone->found.pose);
    }
}

/* ---- The whole image ------------------------------------------------------------------------- */

/* The parts of the scratch that are needed. */
static device_model model_of(const soft_problem *s)
{
    const zw_system *system = s->system;
    const contact_world *world = system->bodies->contact;
    device_model model = {.size = system->nq + system->n + system->carried,
                          .stages = system->bodies->integrator != ZW_INTEGRATOR_EULER,
                          .tall = 1,
                          .readings = zw_count(system, ZW_KIND_READING)};
    for (int t = 0; t < s->trees; t++) {
        const paths_shape *shape = &s->tree[t].shape;
        int capacity = s->tree[t].kind != t ? shape->entries + shape->n : 0;
        model.lot = capacity > model.lot ? capacity : model.lot;
        model.deep |= s->tree[t].is_deep;
    }
    for (int k = 0; k < world->match_count; k++) {
        const contact_match *match = &world->match[k];
        int rows[3] = {world->geom[match->a].law.condim, world->geom[match->b].law.condim,
                       match->written ? match->written->condim : 0};
        for (int i = 0; i < 3; i++) {
            model.tall = rows[i] > model.tall ? rows[i] : model.tall;
        }
    }
    return model;
}

zw_status image_make(const zw_system *system, double step, int points, device_image *image,
                     zw_error *error)
{
    soft_problem *s = NULL;
    soft8 *lanes = NULL;
    *image = (device_image){0};
    zw_work *work = zw_work_create(system, error);
    zw_status status = work ? soft_create(system, work, step, &s, error) : ZW_NO_MEMORY;
    lanes = status == ZW_OK ? soft8_create(system, work, step, &image->failed) : NULL;
    if (status == ZW_OK) {
        device_model model = model_of(s);
        add(image, &model, sizeof model);
        link_to(image, offsetof(device_model, system), add_system(image, system, points));
        link_to(image, offsetof(device_model, soft), add_soft(image, s));
    }
    if (lanes) {
        add_lanes(image, offsetof(device_model, lanes), lanes);
    }
    soft8_free(lanes);
    soft_free(s);
    zw_work_free(work);
    if (image->failed) {
        image_free(image);
        status = base_no_memory(error);
    }
    return status;
}

void image_settle(device_image *image, const void *base)
{
    for (int k = 0; k < image->links; k++) {
        uintptr_t to = (uintptr_t)base + image->link[k].to;
        memcpy(image->block + image->link[k].at, &to, sizeof to);
    }
}

void image_free(device_image *image)
{
    base_free(image->block);
    base_free(image->link);
    *image = (device_image){0};
}

/* Sensors, from their definitions. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "system/bodies/bodies_build.h"
#include "system/contact/contacts.h"

static const struct {
    int mount, size;
} kinds[] = {
#define KIND(name, text, on, size) {ZW_MOUNT_##on, size},
    ZW_SENSOR_TABLE(KIND)
#undef KIND
};

static bodies_frame frame_of(const bodies_builder *b, int kind, int index)
{
    static const double origin[3] = {0, 0, 0}, upright[4] = {1, 0, 0, 0};
    switch ((zw_frame_kind)kind) {
    case ZW_FRAME_INERTIAL:
        return bodies_frame_on(b, index, b->inertia[index].com, b->inertia[index].quat);
    case ZW_FRAME_GEOM:
        return bodies_frame_on(b, b->from->geom[index].body, b->from->geom[index].pos,
                               b->from->geom[index].quat);
    case ZW_FRAME_SITE:
        return bodies_frame_on(b, b->from->site[index].body, b->from->site[index].pos,
                               b->from->site[index].quat);
    default:
        return bodies_frame_on(b, index, origin, upright);
    }
}

/* The limits of a length, or of a ball joint. */
static void find_limits(const bodies_builder *b, bodies_sensor *sensor)
{
    sensor->constraint = -1;
    for (int c = 0; c < b->to->constraint_count; c++) {
        const bodies_constraint *constraint = &b->to->constraint[c];
        int own = constraint->kind == CONSTRAINT_BALL ? sensor->q >= 0 && constraint->q == sensor->q
                                                      : (constraint->kind == CONSTRAINT_LOWER ||
                                                         constraint->kind == CONSTRAINT_UPPER) &&
                                                            constraint->length[0] == sensor->target;
        if (own) {
            sensor->constraint = sensor->constraint < 0 ? c : sensor->constraint;
            sensor->constraints++;
        }
    }
}

static void mount_zone(const bodies_builder *b, int site, bodies_sensor *to)
{
    to->frame = frame_of(b, ZW_FRAME_SITE, site);
    to->shape = (int)contact_kind_of(b->from->site[site].shape);
    memcpy(to->zone, b->from->site[site].size, sizeof to->zone);
}

static int size_of(const zw_sensor_def *from)
{
    return from->kind == ZW_SENSOR_CONTACT       ? from->number * bodies_contact_size(from->data)
           : from->kind == ZW_SENSOR_RANGEFINDER ? bodies_ray_size(from->data)
                                                 : kinds[from->kind].size;
}

static bodies_sensor sensor_of(const bodies_builder *b, const zw_sensor_def *from)
{
    bodies_sensor s = {.kind = (zw_sensor_kind)from->kind,
                       .at = b->to->reading_count,
                       .size = size_of(from),
                       .cutoff = from->cutoff,
                       .target = from->target,
                       .q = -1};
    switch ((zw_mount)kinds[from->kind].mount) {
    case ZW_MOUNT_SITE:
        mount_zone(b, from->target, &s);
        break;
    case ZW_MOUNT_RAY:
        mount_zone(b, from->target, &s);
        s.data = from->data;
        break;
    case ZW_MOUNT_INSIDE:
        s.ref = frame_of(b, from->frame, from->target);
        mount_zone(b, from->ref_target, &s);
        break;
    case ZW_MOUNT_CONTACT:
        if (from->frame == ZW_FRAME_SITE) {
            mount_zone(b, from->target, &s);
        }
        s.side[0] = from->frame;
        s.side[1] = from->ref_frame;
        s.subject[0] = from->target;
        s.subject[1] = from->ref_target;
        s.data = from->data;
        s.number = from->number;
        s.reduce = from->reduce;
        s.cutoff = 0;
        break;
    case ZW_MOUNT_FRAME:
        s.frame = frame_of(b, from->frame, from->target);
        s.relative = from->ref_frame != ZW_FRAME_NONE;
        if (s.relative) {
            s.ref = frame_of(b, from->ref_frame, from->ref_target);
        }
        break;
    case ZW_MOUNT_JOINT:
        s.q = b->joint_q[from->target];
        s.dof = b->joint_dof[from->target];
        s.margin = b->from->joint[from->target].margin;
        find_limits(b, &s);
        break;
    case ZW_MOUNT_TENDON:
        s.target += b->from->count[ZW_KIND_JOINT];
        s.margin = b->from->tendon[from->target].margin;
        find_limits(b, &s);
        break;
    default:
        break;
    }
    return s;
}

/* ".force.x", and ".2.force.x" where it reports several contacts. */
static void name_of_datum(const bodies_sensor *sensor, int k, char *text, size_t capacity)
{
    static const char *const words[2][7] = {
        {"found", "force", "torque", "dist", "pos", "normal", "tangent"},
        {"dist", "dir", "origin", "point", "normal", "depth"}};
    int ray = sensor->kind == ZW_SENSOR_RANGEFINDER;
    int (*size)(int) = ray ? bodies_ray_size : bodies_contact_size;
    int each = size(sensor->data), at = k % each, word = 0;
    for (;; word++) {
        int own = sensor->data >> word & 1 ? size(1 << word) : 0;
        if (at < own) {
            break;
        }
        at -= own;
    }
    int several = sensor->number > 1, vector = size(1 << word) > 1;
    char which[16] = "", axis[3] = {'.', "xyz"[at], 0};
    if (several) {
        snprintf(which, sizeof which, ".%d", k / each);
    }
    snprintf(text, capacity, "%s.%s%s", which, words[ray][word], vector ? axis : "");
}

/* "gyro.x"; a single number has the name of its sensor. */
static zw_status name_readings(bodies_builder *b, const bodies_sensor *sensor, int index)
{
    char name[BODIES_NAME];
    bodies_part_name(b, ZW_KIND_SENSOR, index, name);
    size_t end = strlen(name);
    for (int k = 0; k < sensor->size; k++) {
        if (sensor->size > 1) {
            char letter[3] = {'.', "wxyz"[(k + (sensor->size == 3)) % 4], 0};
            snprintf(name + end, BODIES_NAME - end, "%s", letter);
            if (sensor->data != 0) {
                name_of_datum(sensor, k, name + end, BODIES_NAME - end);
            }
            while (model_find_part(b->from, ZW_KIND_SENSOR, name) >= 0 &&
                   strlen(name) + 2 < BODIES_NAME) {
                strcat(name, "_"); /* the name is taken by another sensor */
            }
        }
        if (!(b->to->reading_name[sensor->at + k] = bodies_copy(name))) {
            return ZW_NO_MEMORY;
        }
    }
    return ZW_OK;
}

zw_status bodies_make_sensors(bodies_builder *b, zw_error *error)
{
    struct system_bodies *to = b->to;
    int count = bodies_without(b, ZW_WITHOUT_SENSOR) ? 0 : b->from->count[ZW_KIND_SENSOR];
    size_t most = 1;
    for (int i = 0; i < count; i++) {
        most += (size_t)size_of(&b->from->sensor[i]);
    }
    to->sensor = base_alloc(((size_t)count + 1) * sizeof *to->sensor);
    to->reading_name = base_alloc(most * sizeof *to->reading_name);
    if (!to->sensor || !to->reading_name) {
        return base_no_memory(error);
    }
    memcpy(to->magnetic, b->from->world.magnetic, sizeof to->magnetic);
    for (int i = 0; i < count; i++) {
        to->sensor[i] = sensor_of(b, &b->from->sensor[i]);
        to->reading_count += to->sensor[i].size;
        to->sensor_count++;
        if (name_readings(b, &to->sensor[i], i) != ZW_OK) {
            return base_no_memory(error);
        }
    }
    return ZW_OK;
}

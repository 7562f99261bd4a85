/* Lists of bodies and everything that belongs to them: adding, names, notes. One table gives, for
 * every kind, the size of its definition, the location of its list and the arrays that it owns. */
#include "model/bodies.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/list.h"
#include "base/memory.h"

/* The members that all definitions start with. */
typedef struct head {
    int made, place;
    const char *name;
} head;
#define SAME_HEAD(type)                                                                            \
    _Static_assert(offsetof(type, made) == offsetof(head, made) &&                                 \
                       offsetof(type, place) == offsetof(head, place) &&                           \
                       offsetof(type, name) == offsetof(head, name),                               \
                   "all definitions start with the same members")
SAME_HEAD(zw_body_def);
SAME_HEAD(zw_joint_def);
SAME_HEAD(zw_geom_def);
SAME_HEAD(zw_site_def);
SAME_HEAD(zw_mesh_def);
SAME_HEAD(zw_equality_def);
SAME_HEAD(zw_tendon_def);
SAME_HEAD(zw_actuator_def);
SAME_HEAD(zw_sensor_def);
SAME_HEAD(zw_key_def);
SAME_HEAD(zw_pair_def);
SAME_HEAD(zw_exclude_def);
SAME_HEAD(zw_hfield_def);

typedef struct kind_row {
    const char *word;
    size_t size;
    size_t list; /* offset of the pointer in model_bodies */
    int array_count;
    model_array array[MODEL_MOST_ARRAYS];
} kind_row;

#define ROW(word) #word, sizeof(zw_##word##_def), offsetof(model_bodies, word)
#define ARRAY(type, pointer, count, unit)                                                          \
    {                                                                                              \
        offsetof(type, pointer), offsetof(type, count), unit                                       \
    }

static const kind_row rows[MODEL_KINDS] = {
    [ZW_KIND_BODY] = {ROW(body), 0, {{0}}},
    [ZW_KIND_JOINT] = {ROW(joint), 0, {{0}}},
    [ZW_KIND_GEOM] = {ROW(geom), 0, {{0}}},
    [ZW_KIND_SITE] = {ROW(site), 0, {{0}}},
    [ZW_KIND_MESH] = {ROW(mesh),
                      2,
                      {ARRAY(zw_mesh_def, vertex, vertex_count, 3 * sizeof(double)),
                       ARRAY(zw_mesh_def, face, face_count, 3 * sizeof(int))}},
    [ZW_KIND_EQUALITY] = {ROW(equality), 0, {{0}}},
    [ZW_KIND_TENDON] = {ROW(tendon),
                        3,
                        {ARRAY(zw_tendon_def, joint, count, sizeof(int)),
                         ARRAY(zw_tendon_def, coef, count, sizeof(double)),
                         ARRAY(zw_tendon_def, stop, stop_count, sizeof(zw_stop))}},
    [ZW_KIND_ACTUATOR] = {ROW(actuator), 0, {{0}}},
    [ZW_KIND_SENSOR] = {ROW(sensor), 0, {{0}}},
    [ZW_KIND_KEY] = {ROW(key),
                     5,
                     {ARRAY(zw_key_def, qpos, qpos_count, sizeof(double)),
                      ARRAY(zw_key_def, qvel, qvel_count, sizeof(double)),
                      ARRAY(zw_key_def, act, act_count, sizeof(double)),
                      ARRAY(zw_key_def, mocap, mocap_count, sizeof(double)),
                      ARRAY(zw_key_def, ctrl, ctrl_count, sizeof(double))}},
    [ZW_KIND_PAIR] = {ROW(pair), 0, {{0}}},
    [ZW_KIND_EXCLUDE] = {ROW(exclude), 0, {{0}}},
    [ZW_KIND_HFIELD] = {ROW(hfield),
                        1,
                        {ARRAY(zw_hfield_def, height, height_count, sizeof(double))}},
};

const int model_joint_positions[4] = {7, 4, 1, 1};
const int model_joint_speeds[4] = {6, 3, 1, 1};

const char *model_part_word(zw_kind kind)
{
    return rows[kind].word;
}

size_t model_part_size(zw_kind kind)
{
    return rows[kind].size;
}

int model_part_arrays(zw_kind kind, const model_array **list)
{
    *list = rows[kind].array;
    return rows[kind].array_count;
}

static char *list_of(const model_bodies *bodies, zw_kind kind)
{
    char *list; /* the pointers differ in type, so they are copied as bytes */
    memcpy(&list, (const char *)bodies + rows[kind].list, sizeof list);
    return list;
}

void *model_part_at(const model_bodies *bodies, zw_kind kind, int index)
{
    return list_of(bodies, kind) + (size_t)index * rows[kind].size;
}

int *model_part_place(void *def)
{
    return (int *)((char *)def + offsetof(head, place));
}

const char **model_part_name(void *def)
{
    return (const char **)((char *)def + offsetof(head, name));
}

/* ---- Arrays that belong to a definition ----------------------------------------------------- */

void model_part_free(zw_kind kind, void *def)
{
    for (int i = 0; i < rows[kind].array_count; i++) {
        void *array;
        memcpy(&array, (char *)def + rows[kind].array[i].pointer, sizeof array);
        base_free(array);
    }
    base_free((void *)*model_part_name(def));
}

/* Copies the arrays and the name, so that the definition owns them; 0: no memory, and nothing is
 * owned. */
static int part_own(zw_kind kind, void *def)
{
    int ok = 1;
    for (int i = 0; i < rows[kind].array_count; i++) {
        const model_array *a = &rows[kind].array[i];
        const void *given;
        int count;
        memcpy(&given, (char *)def + a->pointer, sizeof given);
        memcpy(&count, (char *)def + a->count, sizeof count);
        void *copy = NULL;
        if (given != NULL && count > 0) {
            copy = base_alloc((size_t)count * a->unit);
            ok = ok && copy != NULL;
        }
        if (copy != NULL) {
            memcpy(copy, given, (size_t)count * a->unit);
        }
        memcpy((char *)def + a->pointer, &copy, sizeof copy);
    }
    const char **name = model_part_name(def);
    if (*name != NULL) {
        *name = model_text_copy(*name, strlen(*name));
        ok = ok && *name != NULL;
    }
    if (!ok) {
        model_part_free(kind, def);
    }
    return ok;
}

/* ---- Names ---------------------------------------------------------------------------------- */

typedef struct model_slot {
    unsigned char used, kind;
    int index;
} model_slot;

static uint64_t name_hash(zw_kind kind, const char *name)
{
    uint64_t hash = 14695981039346656037u + (uint64_t)kind;
    for (; *name != 0; name++) {
        hash = (hash ^ (unsigned char)*name) * 1099511628211u;
    }
    return hash ^ hash >> 29;
}

/* The slot of this name, or the empty one where it belongs. */
static model_slot *slot_find(const model_bodies *b, zw_kind kind, const char *name)
{
    uint64_t mask = (uint64_t)b->slot_count - 1;
    for (uint64_t at = name_hash(kind, name) & mask;; at = (at + 1) & mask) {
        model_slot *slot = &b->slot[at];
        if (!slot->used ||
            (slot->kind == kind &&
             strcmp(*model_part_name(model_part_at(b, kind, slot->index)), name) == 0)) {
            return slot;
        }
    }
}

int model_find_part(const model_bodies *bodies, zw_kind kind, const char *name)
{
    if (bodies->slot_count == 0 || name == NULL) {
        return -1;
    }
    const model_slot *slot = slot_find(bodies, kind, name);
    return slot->used ? slot->index : -1;
}

static void name_enter(model_bodies *b, zw_kind kind, int index)
{
    const char *name = *model_part_name(model_part_at(b, kind, index));
    model_slot *slot = name != NULL ? slot_find(b, kind, name) : NULL;
    if (slot != NULL && !slot->used) {
        *slot = (model_slot){1, (unsigned char)kind, index};
        b->slot_used++;
    }
}

int model_names_reserve(model_bodies *b)
{
    int wanted = b->slot_count > 0 ? 2 * b->slot_count : 64;
    if (2 * b->slot_used < b->slot_count) {
        return 1;
    }
    model_slot *slot = base_alloc((size_t)wanted * sizeof *slot);
    if (slot == NULL) {
        return 0;
    }
    base_free(b->slot);
    b->slot = slot;
    b->slot_count = wanted;
    model_names_rebuild(b);
    return 1;
}

void model_names_rebuild(model_bodies *b)
{
    memset(b->slot, 0, (size_t)b->slot_count * sizeof *b->slot);
    b->slot_used = 0;
    for (int k = 0; k < MODEL_KINDS; k++) {
        for (int i = 0; i < b->count[k]; i++) {
            name_enter(b, (zw_kind)k, i);
        }
    }
}

/* ---- Making --------------------------------------------------------------------------------- */

void model_bodies_free(model_bodies *b)
{
    if (b == NULL) {
        return;
    }
    for (int k = 0; k < MODEL_KINDS; k++) {
        for (int i = 0; i < b->count[k]; i++) {
            model_part_free((zw_kind)k, model_part_at(b, (zw_kind)k, i));
        }
        base_free(list_of(b, (zw_kind)k));
    }
    for (int i = 0; i < b->note_count; i++) {
        base_free(b->note[i].text);
    }
    base_free(b->note);
    base_free(b->missing_mesh);
    base_free(b->joints);
    base_free(b->slot);
    base_free(b);
}

/* Appends without checks. -1: no memory. */
static int part_append(model_bodies *b, zw_kind kind, const void *def)
{
    if (!model_names_reserve(b)) {
        return -1;
    }
    int index = b->count[kind];
    if (kind == ZW_KIND_BODY &&
        !base_list_reserve(&b->joints, &b->joints_capacity, index, sizeof *b->joints)) {
        return -1;
    }
    if (!base_list_reserve((char *)b + rows[kind].list, &b->capacity[kind], index,
                           rows[kind].size)) {
        return -1;
    }
    void *own = model_part_at(b, kind, index);
    memcpy(own, def, rows[kind].size);
    if (!part_own(kind, own)) {
        memset(own, 0, rows[kind].size);
        return -1;
    }
    b->count[kind]++;
    name_enter(b, kind, index);
    if (kind == ZW_KIND_JOINT) {
        b->joints[b->joint[index].body]++;
    }
    return index;
}

model_bodies *model_bodies_of(zw_model *model)
{
    if (model->bodies == NULL) {
        model_bodies *b = base_alloc(sizeof *b);
        zw_body_def world = zw_body_default();
        world.name = "world";
        world.parent = -1;
        if (b != NULL && part_append(b, ZW_KIND_BODY, &world) < 0) {
            model_bodies_free(b);
            b = NULL;
        }
        if (b != NULL) {
            b->world = zw_world_default();
        }
        model->bodies = b;
    }
    return model->bodies;
}

/* Normalises quaternions and axes, which have been checked not to be zero. */
static void part_tidy(zw_kind kind, void *def)
{
    if (kind == ZW_KIND_BODY) {
        zw_body_def *body = def;
        model_quat_unit(body->quat);
        model_quat_unit(body->inertia_quat);
    } else if (kind == ZW_KIND_JOINT) {
        model_unit(((zw_joint_def *)def)->axis);
    } else if (kind == ZW_KIND_GEOM) {
        model_quat_unit(((zw_geom_def *)def)->quat);
    } else if (kind == ZW_KIND_SITE) {
        model_quat_unit(((zw_site_def *)def)->quat);
    } else if (kind == ZW_KIND_EQUALITY) {
        model_quat_unit(((zw_equality_def *)def)->quat1);
        model_quat_unit(((zw_equality_def *)def)->quat2);
    }
}

int model_add_part(zw_model *model, zw_kind kind, const void *def, zw_error *error)
{
    if (model == NULL || def == NULL) {
        base_fail(error, ZW_BAD_INPUT, "there is no model or no definition");
        return -1;
    }
    model_bodies *b = model_bodies_of(model);
    int index = b != NULL ? b->count[kind] : -1;
    if (b == NULL || (model_check_part(model, kind, def, index, error) == ZW_OK &&
                      (index = part_append(b, kind, def)) < 0)) {
        model_fail(model, error, ZW_NO_MEMORY, -1, "out of memory");
        return -1;
    }
    if (index >= b->count[kind]) {
        return -1; /* the check has reported it */
    }
    part_tidy(kind, model_part_at(b, kind, index));
    return index;
}

#define ADD(word, kind)                                                                            \
    int zw_model_add_##word(zw_model *model, const zw_##word##_def *def, zw_error *error)          \
    {                                                                                              \
        return model_add_part(model, kind, def, error);                                            \
    }
ADD(body, ZW_KIND_BODY)
ADD(joint, ZW_KIND_JOINT)
ADD(geom, ZW_KIND_GEOM)
ADD(site, ZW_KIND_SITE)
ADD(mesh, ZW_KIND_MESH)
ADD(equality, ZW_KIND_EQUALITY)
ADD(tendon, ZW_KIND_TENDON)
ADD(actuator, ZW_KIND_ACTUATOR)
ADD(sensor, ZW_KIND_SENSOR)
ADD(key, ZW_KIND_KEY)
ADD(pair, ZW_KIND_PAIR)
ADD(exclude, ZW_KIND_EXCLUDE)
ADD(hfield, ZW_KIND_HFIELD)

zw_model *zw_model_create(zw_error *error)
{
    zw_model *model = model_create();
    if (model == NULL || model_bodies_of(model) == NULL) {
        zw_model_free(model);
        base_fail(error, ZW_NO_MEMORY, "out of memory");
        return NULL;
    }
    return model;
}

zw_status zw_model_change(zw_model *model, zw_kind kind, int index, const void *def,
                          zw_error *error)
{
    if (model == NULL || def == NULL || zw_model_def(model, kind, index) == NULL ||
        (kind == ZW_KIND_BODY && index == 0)) {
        return base_fail(error, ZW_BAD_INPUT, "there is nothing with this index to change");
    }
    void *old = model_part_at(model->bodies, kind, index);
    void *own = base_alloc(rows[kind].size);
    zw_status status = model_check_part(model, kind, def, index, error);
    if (own == NULL || status != ZW_OK) {
        base_free(own);
        return status != ZW_OK ? status : base_fail(error, ZW_NO_MEMORY, "out of memory");
    }
    memcpy(own, def, rows[kind].size);
    if (model_names_reserve(model->bodies) && part_own(kind, own)) {
        part_tidy(kind, own);
        model_part_free(kind, old);
        memcpy(old, own, rows[kind].size);
        model_names_rebuild(model->bodies);
    } else {
        status = base_fail(error, ZW_NO_MEMORY, "out of memory");
    }
    base_free(own);
    return status;
}

/* ---- Looking -------------------------------------------------------------------------------- */

const void *zw_model_def(const zw_model *model, zw_kind kind, int index)
{
    int there = (unsigned)kind < MODEL_KINDS && index >= 0 && index < zw_model_count(model, kind);
    return there ? model_part_at(model->bodies, kind, index) : NULL;
}

int zw_model_count(const zw_model *model, zw_kind kind)
{
    return model->bodies != NULL && (unsigned)kind < MODEL_KINDS ? model->bodies->count[kind] : 0;
}

int zw_model_find(const zw_model *model, zw_kind kind, const char *name)
{
    return model->bodies != NULL && (unsigned)kind < MODEL_KINDS
               ? model_find_part(model->bodies, kind, name)
               : -1;
}

const zw_world_def *zw_model_world(const zw_model *model)
{
    return model->bodies != NULL ? &model->bodies->world : NULL;
}

int model_joint_group(const model_bodies *b, int joint)
{
    const zw_joint_def *it = &b->joint[joint];
    int first = 0;
    if (it->closes < 0) {
        return it->body;
    }
    while (b->joint[first].body != it->body || b->joint[first].closes != it->closes) {
        first++;
    }
    return b->count[ZW_KIND_BODY] + first;
}

void model_joint_order(const model_bodies *b, int *order)
{
    /* Insertion sort is stable, and linear for files, whose joints are in order. */
    int n = b->count[ZW_KIND_JOINT];
    for (int i = 0; i < n; i++) {
        int at = i, group = model_joint_group(b, i);
        for (; at > 0 && model_joint_group(b, order[at - 1]) > group; at--) {
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
}

model_sizes model_sizes_of(const model_bodies *b)
{
    model_sizes sizes = {.ctrl = b->count[ZW_KIND_ACTUATOR]};
    for (int i = 0; i < b->count[ZW_KIND_BODY]; i++) {
        sizes.mocap += b->body[i].mocap ? 7 : 0;
    }
    for (int i = 0; i < b->count[ZW_KIND_JOINT]; i++) {
        sizes.qpos += model_joint_positions[b->joint[i].kind];
        sizes.qvel += model_joint_speeds[b->joint[i].kind];
    }
    for (int i = 0; i < b->count[ZW_KIND_ACTUATOR]; i++) {
        sizes.act += b->actuator[i].dynamics != ZW_DYNAMICS_NONE;
    }
    return sizes;
}

/* ---- Notes ---------------------------------------------------------------------------------- */

static int add_note(zw_model *model, int place, const char *text, int differs)
{
    model_bodies *b = model_bodies_of(model);
    if (b == NULL) {
        return 0;
    }
    for (int i = 0; i < b->note_count; i++) {
        if (strcmp(b->note[i].text, text) == 0) {
            b->note[i].count++;
            return 1;
        }
    }
    char *copy = model_text_copy(text, strlen(text));
    if (copy == NULL ||
        !base_list_reserve(&b->note, &b->note_capacity, b->note_count, sizeof *b->note)) {
        base_free(copy);
        return 0;
    }
    b->note[b->note_count++] = (model_note){copy, place, 1, differs};
    return 1;
}

int model_add_note(zw_model *model, int place, const char *text)
{
    return add_note(model, place, text, 0);
}

int model_add_difference(zw_model *model, int place, const char *text)
{
    return add_note(model, place, text, 1);
}

const char *zw_model_missing_mesh(const zw_model *model)
{
    return model->bodies != NULL ? model->bodies->missing_mesh : NULL;
}

int zw_model_note_count(const zw_model *model)
{
    return model->bodies != NULL ? model->bodies->note_count : 0;
}

zw_note zw_model_note(const zw_model *model, int index)
{
    if (index < 0 || index >= zw_model_note_count(model)) {
        return (zw_note){"", "", 0, 0, 0};
    }
    const model_note *note = &model->bodies->note[index];
    const model_place *place = note->place >= 0 ? &model->place[note->place] : NULL;
    return (zw_note){note->text, place != NULL ? model->file[place->file].name : "",
                     place != NULL ? place->line : 0, note->count, note->differs};
}

int model_equality_rows(const zw_equality_def *def)
{
    static const int count[] = {3, 6, 5, 5, 1, 1, 1, 2, 1, 2, 1};
    return count[def->kind] + (def->kind >= ZW_EQUALITY_WHEEL && def->touch);
}

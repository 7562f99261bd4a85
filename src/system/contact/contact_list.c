/* The list of contacts: names, positions, sums. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "model/pose.h"
#include "system/bodies/bodies.h"
#include "system/bodies/bodies_chain.h"
#include "system/contact/contacts.h"
#include "system/subset/subset.h"
#include "system/work.h"

int zw_contact_capacity(const zw_system *system)
{
    const contact_world *world = system->bodies ? system->bodies->contact : NULL;
    return world && world->touches ? world->capacity : 0;
}

int bodies_step_memory(const zw_system *system)
{
    const struct system_bodies *bodies = system->bodies;
    int points = zw_contact_capacity(system), boxes = bodies->dry_count + bodies->motor_count;
    int blocks = bodies_first_constraint(bodies) + bodies->constraint_count + boxes + points,
        rows = system->m + boxes + 6 * points;
    int own = 4 + 3 * blocks + rows + system->n + bodies_sleep_memory(system);
    int pieces = bodies->chain ? bodies_step_memory(bodies->chain->system) : 0;
    return own > pieces ? own : pieces;
}

int bodies_sleep_memory(const zw_system *system)
{
    int asleep = system->bodies->sleep > 0;
    return asleep ? 1 + system->shape.params + 2 * subset_most(system) : 0;
}

/* ---- The list ------------------------------------------------------------------------------- */

contact_list *contact_list_begin(zw_work *work, int capacity)
{
    contact_list *list = work->touched ? work->touched : base_alloc(sizeof *list);
    if (!list) {
        return NULL;
    }
    work->touched = list;
    list->of = 0;
    list->acts = 0;
    list->rests = 0;
    list->count = 0;
    if (capacity > list->capacity) {
        base_free(list->contact);
        list->contact = base_alloc((size_t)capacity * sizeof *list->contact);
        list->capacity = list->contact ? capacity : 0;
    }
    return capacity <= list->capacity ? list : NULL;
}

void contact_list_free(contact_list *list)
{
    if (list) {
        base_free(list->contact);
        base_free(list);
    }
}

void contact_list_keep(contact_list *list, const zw_state *state)
{
    if (list && list->of != state_digest(state, 1)) {
        list->of = 0;
        list->count = 0;
        list->acts = 0;
        list->rests = 0;
    }
}

int contact_list_join(zw_work *work, const contact_list *rest)
{
    contact_list *list = work->touched ? work->touched : contact_list_begin(work, 0);
    int count = list ? list->count + (rest ? rest->count : 0) : 0;
    if (!list) {
        return 0;
    }
    if (count > list->capacity) {
        zw_contact *contact = base_alloc((size_t)count * sizeof *contact);
        if (!contact) {
            return 0;
        }
        if (list->count > 0) {
            memcpy(contact, list->contact, (size_t)list->count * sizeof *contact);
        }
        base_free(list->contact);
        list->contact = contact;
        list->capacity = count;
    }
    for (int k = 0; rest && k < rest->count; k++) {
        list->contact[list->count++] = rest->contact[k];
    }
    list->rests = 1;
    return 1;
}

zw_contact *contact_list_add(contact_list *list, const zw_system *system,
                             const contact_point *point)
{
    const contact_world *world = system->bodies->contact;
    zw_contact *to = &list->contact[list->count++];
    *to = (zw_contact){.gap = point->gap, .rows = point->rows};
    for (int side = 0; side < 2; side++) {
        const contact_geom *geom = &world->geom[point->key.geom[side]];
        to->geom[side] = geom->index;
        to->body[side] = geom->owner;
        to->geom_name[side] = geom->law.name ? geom->law.name : "";
        to->body_name[side] = system->model ? zw_name(system, ZW_KIND_BODY, geom->owner) : "";
    }
    memcpy(to->pos, point->pos, sizeof to->pos);
    memcpy(to->frame, point->frame, sizeof to->frame);
    return to;
}

/* ---- Interface ------------------------------------------------------------------------------ */

static int copy(const contact_list *from, zw_contact *list, int capacity)
{
    int count = from ? from->count : 0;
    for (int k = 0; k < count && k < capacity; k++) {
        list[k] = from->contact[k];
    }
    return count;
}

/* At other states contacts are computed with a temporary work, so that the results of zw_forward
 * are kept. */
int zw_contacts(const zw_system *system, const zw_state *state, zw_work *work, zw_contact *list,
                int capacity, zw_error *error)
{
    if (zw_contact_capacity(system) == 0) {
        return 0;
    }
    uint64_t digest = state_digest(state, 1);
    int known = work->touched && work->touched->of == digest;
    if (!known && work->touch_stepper && work->touch_stepper(state, work, error) != ZW_OK) {
        return -1;
    }
    if (work->touched && work->touched->of == digest) {
        return copy(work->touched, list, capacity);
    }
    zw_work *own = zw_work_create(system, error);
    int count = -1;
    if (own && system_forward(system, state, own, TOUCH_BY_LAW, error) == ZW_OK) {
        count = copy(own->touched, list, capacity);
    }
    zw_work_free(own);
    return count;
}

/* ---- Forces --------------------------------------------------------------------------------- */

void contact_wrench(const zw_contact *contact, double wrench[6])
{
    for (int i = 0; i < 3; i++) {
        wrench[i] = wrench[3 + i] = 0;
        for (int r = 0; r < 3; r++) {
            wrench[3 + i] += contact->frame[3 * r + i] * contact->force[r];
            wrench[i] += contact->frame[3 * r + i] * contact->force[3 + r];
        }
    }
}

void contact_list_push(const contact_list *list, const zw_system *system, zw_work *work,
                       double *force)
{
    for (int k = 0; k < list->count; k++) {
        const zw_contact *it = &list->contact[k];
        double wrench[6];
        contact_wrench(it, wrench);
        for (int side = 1; side >= 0; side--) {
            int body = system->bodies->part[it->body[side]].frame.body;
            if (body > 0) {
                bodies_push(system, work, body, it->pos, wrench, force);
            }
            for (int i = 0; i < 6; i++) {
                wrench[i] = -wrench[i]; /* the first body gets the opposite */
            }
        }
    }
}

/* ---- Names ---------------------------------------------------------------------------------- */

/* Names are written in every step in which contacts change, so without snprintf: up to `most`
 * characters of the word, as far as there is room; returns where the text ends. */
static size_t append(char *text, size_t capacity, size_t at, const char *word, size_t most)
{
    for (size_t i = 0; i < most && word[i] && at + 1 < capacity; i++) {
        text[at++] = word[i];
    }
    text[at] = '\0';
    return at;
}

static size_t append_side(char *text, size_t capacity, size_t at, const contact_geom *geom)
{
    char digits[16];
    size_t first = sizeof digits - 1;
    if (geom->law.name) {
        return append(text, capacity, at, geom->law.name, 40);
    }
    digits[first] = '\0';
    for (unsigned rest = (unsigned)geom->index, any = 1; any || rest > 0; rest /= 10, any = 0) {
        digits[--first] = (char)('0' + rest % 10);
    }
    at = append(text, capacity, at, "geom", SIZE_MAX);
    return append(text, capacity, at, digits + first, SIZE_MAX);
}

void contact_side_name(const contact_world *world, uint32_t geom, char *text, size_t capacity)
{
    append_side(text, capacity, 0, &world->geom[geom]);
}

void contact_name(const contact_world *world, const contact_key *key, char *text, size_t capacity)
{
    size_t at = append(text, capacity, 0, "contact of ", SIZE_MAX);
    at = append_side(text, capacity, at, &world->geom[key->geom[1]]);
    at = append(text, capacity, at, " with ", SIZE_MAX);
    append_side(text, capacity, at, &world->geom[key->geom[0]]);
}

/* ---- Sums ----------------------------------------------------------------------------------- */

static void add(const zw_contact *from, zw_contact_sum *to)
{
    double wrench[6], moment[3];
    contact_wrench(from, wrench);
    model_cross(moment, from->pos, wrench + 3);
    for (int i = 0; i < 3; i++) {
        to->force[i] += wrench[3 + i];
        to->moment[i] += moment[i] + wrench[i];
    }
    to->normal += from->force[0];
    to->count++;
}

int zw_contact_sums(const zw_contact *list, int count, zw_contact_sum *sums, int capacity)
{
    int pairs = 0;
    for (int k = 0; k < count; k++) {
        const zw_contact *it = &list[k];
        int at = 0, last = pairs < capacity ? pairs : capacity;
        while (at < last && (sums[at].body[0] != it->body[0] || sums[at].body[1] != it->body[1])) {
            at++;
        }
        if (at == last) {
            pairs++;
            if (last == capacity) {
                continue; /* the count shows that the capacity is too small */
            }
            sums[at] = (zw_contact_sum){.body = {it->body[0], it->body[1]},
                                        .body_name = {it->body_name[0], it->body_name[1]}};
        }
        add(it, &sums[at]);
    }
    return pairs;
}

/* Default classes: a tree of definitions. A class starts as a copy of its parent, and its elements
 * overwrite that, attribute by attribute and number by number, as elements of the class do
 * later. */
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/list.h"
#include "base/memory.h"
#include "read/robot/mjcf.h"
#include "read/zw/zw.h"

enum { MOST_DEEP = 100 };

const char *const mjcf_never_in_default =
    "name class joint jointinparent tendon site refsite "
    "cranksite slidersite body "
    "geom1 geom2 file vertex face refpos refquat builtin params";

static mjcf_class *class_add(mjcf *m)
{
    if (!base_list_reserve(&m->class_, &m->class_capacity, m->class_count, sizeof *m->class_)) {
        xml_no_memory(&m->xml);
        return NULL;
    }
    return &m->class_[m->class_count++];
}

int mjcf_class_root(mjcf *m)
{
    mjcf_class *c = class_add(m);
    if (c == NULL) {
        return 0;
    }
    c->parent = -1;
    c->joint.def = zw_joint_default();
    c->joint.limited = c->joint.force_limited = MJCF_AUTO;
    c->geom.def = zw_geom_default();
    c->geom.fitscale = 1;
    c->site.def = zw_site_default();
    c->mesh = (mjcf_mesh){.scale = {1, 1, 1}, .refquat = {1, 0, 0, 0}, .inertia = -1};
    c->equality.def = zw_equality_default();
    c->tendon.def = zw_tendon_default();
    c->tendon.limited = c->tendon.force_limited = MJCF_AUTO;
    c->pair.def = zw_pair_default();
    mjcf_actuator *a = &c->actuator;
    a->def = zw_actuator_default();
    a->ctrl_limited = a->force_limited = a->act_limited = MJCF_AUTO;
    a->inheritrange = NAN;
    mjcf_shortcut_clear(a);
    return 1;
}

/* The slot of this name in the table, or the empty one where it belongs. The root is not in it, as
 * its name is known last.
 */
static int *slot_of(const mjcf *m, const char *name)
{
    uint64_t mask = (uint64_t)m->class_slots - 1;
    uint64_t at = base_hash_text(BASE_HASH_START, name) & mask;
    while (m->class_slot[at] > 0 && strcmp(m->class_[m->class_slot[at]].name, name) != 0) {
        at = (at + 1) & mask;
    }
    return &m->class_slot[at];
}

/* The class of this name that is not the root, or 0. */
static int class_below(const mjcf *m, const char *name)
{
    return m->class_slots > 0 ? *slot_of(m, name) : 0;
}

static int is_root(const mjcf *m, const char *name)
{
    return strcmp(m->class_[0].name != NULL ? m->class_[0].name : "main", name) == 0;
}

/* Enters the name of class i, not the root; at least half of the table is empty. 0: no memory. */
static int class_call(mjcf *m, int i, const char *name)
{
    int full = 2 * m->class_count > m->class_slots;
    m->class_[i].name = name;
    if (full) {
        base_free(m->class_slot);
        m->class_slots = m->class_slots > 0 ? 2 * m->class_slots : 16;
        m->class_slot = base_alloc((size_t)m->class_slots * sizeof *m->class_slot);
        if (m->class_slot == NULL) {
            m->class_slots = 0;
            return xml_no_memory(&m->xml);
        }
    }
    for (int k = full ? 1 : i; k <= i; k++) {
        *slot_of(m, m->class_[k].name) = k;
    }
    return 1;
}

int mjcf_class_find(mjcf *m, int element, const char *attribute, const char *name, int otherwise,
                    int *class_)
{
    int found = name != NULL ? class_below(m, name) : otherwise;
    *class_ = name != NULL && is_root(m, name) ? 0 : found;
    if (name == NULL || found > 0 || is_root(m, name)) {
        return 1;
    }
    read_guess guess = read_guess_start(name, (int)strlen(name));
    for (int i = 0; i < m->class_count; i++) {
        const char *known = m->class_[i].name != NULL ? m->class_[i].name : "main";
        read_guess_offer(&guess, known, (int)strlen(known));
    }
    return form_fail(&m->xml, element, attribute, "there is no class '%.60s'%s", name,
                     read_guess_show(&guess).text);
}

/* One element of a class. */
static int class_element(mjcf *m, int element, int class_)
{
    mjcf_class *c = &m->class_[class_];
    const char *name = m->xml.element[element].name;
    const xml_element *x = &m->xml.element[element];
    for (int i = 0; i < x->attribute_count; i++) {
        const char *attribute = m->xml.attribute[x->attribute + i].name;
        if (form_word(mjcf_never_in_default, attribute) >= 0) {
            return form_fail(&m->xml, element, attribute, "a default cannot have a %s", attribute);
        }
    }
    if (mjcf_is(m, element, "joint")) {
        return mjcf_apply(m, element, mjcf_joint_rows, &c->joint, &c->joint.given);
    }
    if (mjcf_is(m, element, "geom")) {
        return mjcf_apply(m, element, mjcf_geom_rows, &c->geom, &c->geom.given);
    }
    if (mjcf_is(m, element, "site")) {
        return mjcf_apply(m, element, mjcf_site_rows, &c->site, &c->site.given);
    }
    if (mjcf_is(m, element, "mesh")) {
        return form_apply(&m->xml, element, mjcf_mesh_rows, &c->mesh, &c->mesh.given);
    }
    if (mjcf_is(m, element, "equality")) {
        return form_apply(&m->xml, element, mjcf_equality_rows, &c->equality, &c->equality.given);
    }
    if (mjcf_is(m, element, "tendon")) {
        return form_apply(&m->xml, element, mjcf_tendon_rows, &c->tendon, &c->tendon.given);
    }
    if (mjcf_is(m, element, "pair")) {
        return form_apply(&m->xml, element, mjcf_pair_rows, &c->pair, &c->pair.given);
    }
    const form_row *rows = mjcf_actuator_rows(name);
    if (rows != NULL) {
        return form_apply(&m->xml, element, rows, &c->actuator, &c->actuator.given) &&
               mjcf_actuator_settle(m, element, &c->actuator);
    }
    return 1; /* for display only */
}

static int class_read(mjcf *m, int element, int class_, int depth)
{
    if (depth > MOST_DEEP) {
        return form_fail(&m->xml, element, NULL, "classes are nested more than %d deep", MOST_DEEP);
    }
    /* First its own elements, whatever the order, as its children start from all of them. */
    for (int c = m->xml.element[element].child; c >= 0; c = m->xml.element[c].next) {
        if (!mjcf_is(m, c, "default") && !class_element(m, c, class_)) {
            return 0;
        }
    }
    for (int c = m->xml.element[element].child; c >= 0; c = m->xml.element[c].next) {
        if (!mjcf_is(m, c, "default")) {
            continue;
        }
        const char *name = xml_value(&m->xml, c, "class");
        if (name == NULL) {
            return form_fail(&m->xml, c, NULL, "a default inside of another one needs a class");
        }
        if (class_below(m, name) > 0 || (m->class_[0].name != NULL && is_root(m, name))) {
            return form_fail(&m->xml, c, "class", "this class name is already used");
        }
        if (class_add(m) == NULL) {
            return 0;
        }
        int child = m->class_count - 1;
        m->class_[child] = m->class_[class_];
        m->class_[child].parent = class_;
        if (!class_call(m, child, name) || !class_read(m, c, child, depth + 1)) {
            return 0;
        }
    }
    return 1;
}

int mjcf_defaults(mjcf *m, int section)
{
    const char *name = xml_value(&m->xml, section, "class");
    if (name != NULL && m->class_[0].name == NULL) {
        m->class_[0].name = name; /* the root may have another name than main */
    } else if (name != NULL && strcmp(name, m->class_[0].name) != 0) {
        return form_fail(&m->xml, section, "class",
                         "the outermost class has the name '%.60s' already", m->class_[0].name);
    }
    return class_read(m, section, 0, 0);
}

/* Elements that refer to names inside <replicate> are copied too, as in MuJoCo.
 *
 * A part `a` inside becomes a0, a1, ... (a00, a10, ... in nested replicates, the inner number
 * first). A tendon, actuator, sensor, equality or pair that refers to `a`, if there is no part with
 * exactly that name, is read once for every copy of `a`, with the same suffix added to each name in
 * it that has copies, and to its own name; names inside fewer replicates than `a` get the suffix of
 * those.
 *
 * The order is also MuJoCo's: first the elements without copies; then, for every copy of a
 * replicate in the order of the bodies, the elements that refer to it, before the copies of nested
 * replicates. */
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "read/robot/mjcf.h"

static const char *const references =
    "joint jointinparent tendon site refsite cranksite slidersite geom sidesite body body1 body2 "
    "geom1 geom2 joint1 joint2 tendon1 tendon2 site1 site2 objname refname actuator";

int mjcf_copy_begins(mjcf *m, int replicate, int around, const char *suffix)
{
    if (!base_list_reserve(&m->copy, &m->copy_capacity, m->copy_count, sizeof *m->copy)) {
        xml_no_memory(&m->xml);
        return -1;
    }
    m->copy[m->copy_count] =
        (mjcf_copy){.replicate = replicate, .around = around, .suffix = suffix};
    return m->copy_count++;
}

static const mjcf_copied *copied_of(const mjcf *m, const char *name)
{
    for (int i = 0; i < m->copied_count; i++) {
        if (strcmp(m->copied[i].name, name) == 0) {
            return &m->copied[i];
        }
    }
    return NULL;
}

int mjcf_has_copies(mjcf *m, const char *name, int replicate, const char *suffix)
{
    for (int i = 0; i < m->copied_count; i++) {
        if (m->copied[i].name == name) { /* the element has been seen before */
            return 1;
        }
    }
    if (!base_list_reserve(&m->copied, &m->copied_capacity, m->copied_count, sizeof *m->copied)) {
        return xml_no_memory(&m->xml);
    }
    m->copied[m->copied_count++] =
        (mjcf_copied){.name = name, .replicate = replicate, .length = strlen(suffix)};
    return 1;
}

const char *mjcf_copy_name(mjcf *m, const char *name)
{
    const mjcf_copied *own = m->in_copy >= 0 ? copied_of(m, name) : NULL;
    int copy = own != NULL ? m->in_copy : -1;
    while (copy >= 0 && m->copy[copy].replicate != own->replicate) {
        copy = m->copy[copy].around;
    }
    return copy >= 0 ? mjcf_longer_name(m, name, m->copy[copy].suffix) : name;
}

const char *mjcf_longer_name(mjcf *m, const char *name, const char *suffix)
{
    size_t length = strlen(name), more = strlen(suffix);
    char *both = base_alloc(length + more + 1);
    if (both == NULL) {
        xml_no_memory(&m->xml);
        return NULL;
    }
    memcpy(both, name, length);
    memcpy(both + length, suffix, more);
    const char *kept = xml_keep(&m->xml, both, length + more);
    base_free(both);
    return kept;
}

/* Is there a part, of any kind, with exactly this name? */
static int is_exact_name(const mjcf *m, const char *name)
{
    static const zw_kind kinds[] = {ZW_KIND_BODY, ZW_KIND_JOINT,  ZW_KIND_GEOM,
                                    ZW_KIND_SITE, ZW_KIND_TENDON, ZW_KIND_ACTUATOR};
    int found = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds && !found; k++) {
        found = model_find_part(m->model->bodies, kinds[k], name) >= 0;
    }
    return found;
}

/* The deepest replicate that this element refers into; NULL: none. */
static const mjcf_copied *deepest(const mjcf *m, int element, const mjcf_copied *best)
{
    const xml_element *x = &m->xml.element[element];
    for (int i = 0; i < x->attribute_count; i++) {
        const xml_attribute *a = &m->xml.attribute[x->attribute + i];
        const mjcf_copied *c = form_word(references, a->name) >= 0 ? copied_of(m, a->value) : NULL;
        if (c != NULL && (best == NULL || c->length > best->length) && !is_exact_name(m, c->name)) {
            best = c;
        }
    }
    return best;
}

/* The replicate that an element is copied with; 0: none. */
static int copied_with(const mjcf *m, int element)
{
    const mjcf_copied *by = deepest(m, element, NULL);
    for (int c = m->xml.element[element].child; c >= 0; c = m->xml.element[c].next) {
        by = deepest(m, c, by);
    }
    return by != NULL ? by->replicate : 0;
}

static int read_copy(mjcf *m, int element, int copy, mjcf_reader *one)
{
    const char *name = xml_value(&m->xml, element, "name");
    if (++m->copies > m->limits.copies) {
        return form_fail(&m->xml, element, NULL, "there are more than %d elements",
                         m->limits.copies);
    }
    m->in_copy = copy;
    int ok = one(m, element) && (name == NULL || mjcf_has_copies(m, name, m->copy[copy].replicate,
                                                                 m->copy[copy].suffix));
    m->in_copy = -1;
    return ok;
}

int mjcf_each(mjcf *m, int section, mjcf_reader *one)
{
    int count = 0, wait = 0, ok = 1;
    for (int c = m->xml.element[section].child; c >= 0; c = m->xml.element[c].next) {
        count++;
    }
    int(*late)[2] = m->copied_count > 0 ? base_alloc(((size_t)count + 1) * sizeof *late) : NULL;
    if (m->copied_count > 0 && late == NULL) {
        return xml_no_memory(&m->xml);
    }
    for (int c = m->xml.element[section].child; ok && c >= 0; c = m->xml.element[c].next) {
        int with = late != NULL ? copied_with(m, c) : 0;
        if (with > 0) {
            late[wait][0] = c;
            late[wait++][1] = with;
        } else {
            ok = one(m, c);
        }
    }
    for (int i = 0; ok && wait > 0 && i < m->copy_count; i++) {
        for (int k = 0; ok && k < wait; k++) {
            ok = late[k][1] != m->copy[i].replicate || read_copy(m, late[k][0], i, one);
        }
    }
    base_free(late);
    return ok;
}

void mjcf_copies_free(mjcf *m)
{
    base_free(m->copy);
    base_free(m->copied);
}

/* An MJCF file: includes, then the sections in the order of their dependencies. */
#include "read/robot/mjcf.h"

#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "read/file/file.h"
#include "read/robot/robot.h"
#include "read/zw/zw.h"

int mjcf_is(const mjcf *m, int element, const char *name)
{
    return strcmp(m->xml.element[element].name, name) == 0;
}

int mjcf_add(mjcf *m, zw_kind kind, void *def, int *index)
{
    zw_error error;
    const char **name = model_part_name(def);
    if (m->in_copy >= 0 && *name != NULL &&
        (*name = mjcf_longer_name(m, *name, m->copy[m->in_copy].suffix)) == NULL) {
        return 0;
    }
    int added = m->xml.status == ZW_OK ? model_add_part(m->model, kind, def, &error) : -1;
    if (added < 0 && m->xml.status == ZW_OK) {
        m->xml.status = error.status;
        if (m->xml.error != NULL) {
            *m->xml.error = error;
        }
    }
    if (index != NULL) {
        *index = added;
    }
    return added >= 0;
}

int mjcf_refer(mjcf *m, int element, const char *attribute, zw_kind kind, int *index)
{
    const char *name = xml_value(&m->xml, element, attribute);
    const model_bodies *b = m->model->bodies;
    const char *word = model_part_word(kind);
    if (name == NULL) {
        return form_fail(&m->xml, element, NULL, "<%s> needs the name of a %s: %s=\"...\"",
                         m->xml.element[element].name, word, attribute);
    }
    *index = model_find_part(b, kind, name);
    if (*index < 0 && (name = mjcf_copy_name(m, name)) != NULL) {
        *index = model_find_part(b, kind, name);
    }
    if (*index >= 0 || name == NULL) {
        return name != NULL;
    }
    if (kind == ZW_KIND_GEOM && m->lost_count > 0) {
        return form_fail(&m->xml, element, attribute,
                         "there is no geom '%.60s'; geoms whose mesh file is missing are left out",
                         name);
    }
    read_guess guess = read_guess_start(name, (int)strlen(name));
    for (int i = 0; i < b->count[kind]; i++) {
        const char *known = *model_part_name(model_part_at(b, kind, i));
        if (known != NULL) {
            read_guess_offer(&guess, known, (int)strlen(known));
        }
    }
    return form_fail(&m->xml, element, attribute, "there is no %s '%.60s'%s", word, name,
                     read_guess_show(&guess).text);
}

static int add_note(mjcf *m, int element, const char *words,
                    int (*add)(zw_model *model, int place, const char *text))
{
    char text[120];
    snprintf(text, sizeof text, "%.30s %.80s", m->xml.element[element].name, words);
    int place = xml_place(&m->xml, element);
    return (place >= 0 && add(m->model, place, text)) || xml_no_memory(&m->xml);
}

int mjcf_note(mjcf *m, int element, const char *words)
{
    return add_note(m, element, words, model_add_note);
}

int mjcf_difference(mjcf *m, int element, const char *words)
{
    return add_note(m, element, words, model_add_difference);
}

int mjcf_limited(mjcf *m, int element, const char *word, const char *range_word, int limited,
                 const double range[2], int *answer)
{
    int has = range[0] != 0 || range[1] != 0;
    if (limited == MJCF_AUTO && has && !m->compiler.autolimits) {
        return form_fail(&m->xml, element, range_word,
                         "there is a %s, but %s is not given, and autolimits is off", range_word,
                         word);
    }
    *answer = limited == MJCF_AUTO ? has : limited;
    return 1;
}

int mjcf_list(mjcf *m, int element, int attribute, double **list, int *count)
{
    *list = NULL;
    *count = 0;
    if (attribute == 0) {
        return 1;
    }
    int words = xml_word_count(m->xml.attribute[attribute - 1].value);
    *list = base_alloc(((size_t)words + 1) * sizeof **list);
    if (*list == NULL) {
        return xml_no_memory(&m->xml);
    }
    *count = xml_numbers(&m->xml, element, attribute - 1, *list, words);
    if (*count < 0) {
        base_free(*list);
        *list = NULL;
        return 0;
    }
    return 1;
}

/* ---- Includes ------------------------------------------------------------------------------- */

/* Replaces the include by the children of `root`. */
static void splice(xml_tree *xml, int include, int root)
{
    int parent = xml->element[include].parent;
    int first = xml->element[root].child, last = xml->element[root].last;
    int after = xml->element[include].next;
    for (int c = first; c >= 0; c = xml->element[c].next) {
        xml->element[c].parent = parent;
    }
    int *link = &xml->element[parent].child;
    int before = -1;
    while (*link != include) {
        before = *link;
        link = &xml->element[*link].next;
    }
    *link = first >= 0 ? first : after;
    if (first >= 0) {
        xml->element[last].next = after;
    }
    if (after < 0) {
        xml->element[parent].last = first >= 0 ? last : before;
    }
    xml->element[include].parent = -1; /* removed */
}

/* folder/inner/file; as in MuJoCo, "\\" in a file's name is "/". */
static char *join(mjcf *m, const char *folder, size_t length, const char *inner, const char *file)
{
    char *below = read_path_join(inner, strlen(inner), file, strlen(file));
    for (char *c = below; c != NULL && *c != 0; c++) {
        *c = *c == '\\' ? '/' : *c;
    }
    char *path = below != NULL ? read_path_join(folder, length, below, strlen(below)) : NULL;
    base_free(below);
    if (path == NULL) {
        xml_no_memory(&m->xml);
    }
    return path;
}

char *mjcf_path(mjcf *m, int element, const char *inner, const char *file)
{
    const char *own = m->model->file[m->xml.element[element].file].name;
    size_t own_length = read_path_folder(own);
    int elsewhere = own_length != m->folder_length || memcmp(own, m->folder, own_length) != 0;
    char *path = join(m, m->folder, m->folder_length, inner != NULL ? inner : "", file);
    if (path == NULL || !elsewhere || read_file_there(m->xml.options, path)) {
        return path;
    }
    char *second = join(m, own, own_length, "", file);
    int there = second != NULL && read_file_there(m->xml.options, second);
    base_free(there || second == NULL ? path : second);
    return there || second == NULL ? second : path;
}

static int include(mjcf *m, int element)
{
    const char *file = xml_value(&m->xml, element, "file");
    if (file == NULL) {
        return form_fail(&m->xml, element, NULL, "<include> needs a file");
    }
    if (!m->limits.files) {
        return form_fail(&m->xml, element, "file", "other files cannot be read here");
    }
    char *path = mjcf_path(m, element, NULL, file);
    if (path == NULL) {
        return 0;
    }
    for (int i = 0; i < m->model->file_count; i++) {
        if (strcmp(m->model->file[i].name, path) == 0) {
            base_free(path);
            return form_fail(&m->xml, element, "file", "this file is already included");
        }
    }
    int place = xml_place_value(&m->xml, element, xml_find(&m->xml, element, "file"), -1);
    int number = robot_file(&m->xml, path, place);
    base_free(path);
    int root = number >= 0 ? xml_read(&m->xml, number) : -1;
    if (root < 0) {
        return 0;
    }
    if (!mjcf_is(m, root, "mujoco") && !mjcf_is(m, root, "mujocoinclude")) {
        return form_fail(&m->xml, root, NULL,
                         "an included file begins with <mujoco> or <mujocoinclude>");
    }
    splice(&m->xml, element, root);
    return 1;
}

static int includes(mjcf *m)
{
    for (int i = m->root + 1; i < m->xml.count; i++) {
        if (mjcf_is(m, i, "include") && m->xml.element[i].parent >= 0 && !include(m, i)) {
            return 0;
        }
    }
    return 1;
}

/* ---- Settings ------------------------------------------------------------------------------- */

static int compiler(mjcf *m, int section)
{
    zw_world_def *world = &m->model->bodies->world;
    uint64_t given = 0;
    if (!form_apply(&m->xml, section, mjcf_compiler_rows, &m->compiler, &m->compiler.given) ||
        !form_apply(&m->xml, section, mjcf_world_rows, world, &given)) {
        return 0;
    }
    if (m->compiler.coordinate == 1) {
        return form_fail(&m->xml, section, "coordinate",
                         "global coordinates are not read (MuJoCo has dropped them too)");
    }
    const char *seq = m->compiler.eulerseq;
    if (strlen(seq) != 3 || strspn(seq, "xyzXYZ") != 3) {
        return form_fail(&m->xml, section, "eulerseq",
                         "expected three axes: x, y, z turn with the body, X, Y, Z do not");
    }
    if (world->bound_mass < 0 || world->bound_inertia < 0) {
        return form_fail(&m->xml, section, world->bound_mass < 0 ? "boundmass" : "boundinertia",
                         "a bound cannot be negative");
    }
    for (int c = m->xml.element[section].child; c >= 0; c = m->xml.element[c].next) {
        zw_muscle_search *how = &world->muscles;
        if (!form_apply(&m->xml, c, mjcf_reach_rows, how, &given)) {
            return 0;
        }
        if (!(how->accel > 0 && how->step >= 0 && how->window > 0 && how->time > how->window)) {
            return form_fail(
                &m->xml, c, NULL,
                "accel and interval must be positive, timestep not negative, and inttotal "
                "larger than interval");
        }
    }
    return 1;
}

static int flags(mjcf *m, int element)
{
    static const struct {
        const char *name;
        int bit;
    } table[] = {{"constraint", ZW_WITHOUT_CONSTRAINT},
                 {"equality", ZW_WITHOUT_EQUALITY},
                 {"frictionloss", ZW_WITHOUT_FRICTIONLOSS},
                 {"limit", ZW_WITHOUT_LIMIT},
                 {"contact", ZW_WITHOUT_CONTACT},
                 {"spring", ZW_WITHOUT_SPRING},
                 {"damper", ZW_WITHOUT_DAMPER},
                 {"passive", ZW_WITHOUT_SPRING | ZW_WITHOUT_DAMPER},
                 {"gravity", ZW_WITHOUT_GRAVITY},
                 {"clampctrl", ZW_WITHOUT_CLAMPCTRL},
                 {"filterparent", ZW_WITHOUT_FILTERPARENT},
                 {"actuation", ZW_WITHOUT_ACTUATION},
                 {"sensor", ZW_WITHOUT_SENSOR},
                 {"refsafe", ZW_WITHOUT_REFSAFE},
                 {"eulerdamp", ZW_WITHOUT_EULERDAMP}};
    zw_world_def *world = &m->model->bodies->world;
    mjcf_frame ignored;
    uint64_t given = 0;
    if (!form_apply(&m->xml, element, mjcf_flag_rows, &ignored,
                    &given)) { /* are the values valid words? */
        return 0;
    }
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const char *value = xml_value(&m->xml, element, table[i].name);
        if (value != NULL) {
            int off = strcmp(value, "disable") == 0;
            world->without = off ? world->without | table[i].bit : world->without & ~table[i].bit;
        }
    }
    const char *override = xml_value(&m->xml, element, "override");
    if (override != NULL) {
        m->override.on = strcmp(override, "enable") == 0;
    }
    const char *sleep = xml_value(&m->xml, element, "sleep");
    if (sleep != NULL) {
        world->sleep = strcmp(sleep, "enable") == 0;
    }
    return 1;
}

/* actuatorgroupdisable="0 3" */
static int groups_off(mjcf *m, int section)
{
    mjcf_groups groups = {0};
    uint64_t given = 0;
    double *list;
    int count;
    if (!form_apply(&m->xml, section, mjcf_groups_rows, &groups, &given) ||
        !mjcf_list(m, section, groups.list, &list, &count)) {
        return 0;
    }
    m->groups_off = count > 0 ? 0 : m->groups_off;
    for (int i = 0; i < count; i++) {
        if (!(list[i] >= 0 && list[i] <= 30)) {
            base_free(list);
            return form_fail(&m->xml, section, "actuatorgroupdisable",
                             "groups that can be disabled have the numbers 0 to 30");
        }
        m->groups_off |= (uint64_t)1 << (int)list[i];
    }
    base_free(list);
    return 1;
}

static int option(mjcf *m, int section)
{
    zw_world_def *world = &m->model->bodies->world;
    uint64_t given = 0;
    uint64_t overrides = 0;
    if (!form_apply(&m->xml, section, mjcf_option_rows, world, &given) ||
        !form_apply(&m->xml, section, mjcf_override_rows, &m->override, &overrides) ||
        !groups_off(m, section)) {
        return 0;
    }
    if (m->override.friction[0] != m->override.friction[1] ||
        m->override.friction[3] != m->override.friction[4]) {
        return form_fail(
            &m->xml, section, "o_friction",
            "friction that differs between two directions can be given by <pair> only");
    }
    if (world->density < 0 || world->viscosity < 0) {
        return form_fail(&m->xml, section, world->density < 0 ? "density" : "viscosity",
                         "a fluid's %s cannot be negative",
                         world->density < 0 ? "density" : "viscosity");
    }
    if (!(world->timestep > 0) || !(world->impratio > 0)) {
        return form_fail(&m->xml, section, world->timestep > 0 ? "impratio" : "timestep",
                         "%s must be positive", world->timestep > 0 ? "impratio" : "timestep");
    }
    if (!(world->sleep_tolerance >= 0)) {
        return form_fail(&m->xml, section, "sleep_tolerance", "sleep_tolerance cannot be negative");
    }
    for (int c = m->xml.element[section].child; c >= 0; c = m->xml.element[c].next) {
        if (!flags(m, c)) {
            return 0;
        }
    }
    return 1;
}

/* Every geom and pair gets what overrides theirs. Margins of two geoms add up. */
static int override_contacts(mjcf *m)
{
    static const int of[3] = {0, 2, 3};
    model_bodies *b = m->model->bodies;
    const mjcf_override *o = &m->override;
    for (int i = 0; o->on && i < b->count[ZW_KIND_GEOM]; i++) {
        zw_geom_def *geom = &b->geom[i];
        for (int k = 0; k < 3; k++) {
            geom->friction[k] = o->friction[of[k]];
        }
        geom->margin = o->margin / 2;
        geom->soft = o->soft;
    }
    for (int i = 0; o->on && i < b->count[ZW_KIND_PAIR]; i++) {
        zw_pair_def *pair = &b->pair[i];
        memcpy(pair->friction, o->friction, sizeof pair->friction);
        pair->margin = o->margin;
        pair->soft = pair->soft_friction = o->soft;
    }
    return 1;
}

/* ---- All ------------------------------------------------------------------------------------ */

static int sections(mjcf *m)
{
    static const struct {
        const char *name;
        int (*read)(mjcf *m, int section);
    } order[] = {
        {"compiler", compiler},        {"option", option},         {"default", mjcf_defaults},
        {"asset", mjcf_assets},        {"worldbody", mjcf_world},  {"tendon", mjcf_tendons},
        {"equality", mjcf_equalities}, {"contact", mjcf_contacts}, {"actuator", mjcf_actuators},
        {"sensor", mjcf_sensors},      {"keyframe", mjcf_keys},    {"custom", mjcf_custom}};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (order[i].read == mjcf_keys && !mjcf_attach_rest(m)) {
            return 0;
        }
        for (int c = m->xml.element[m->root].child; c >= 0; c = m->xml.element[c].next) {
            if (mjcf_is(m, c, order[i].name) && !order[i].read(m, c)) {
                return 0;
            }
        }
    }
    return override_contacts(m);
}

int mjcf_read(xml_tree *xml, int root, const robot_limits *limits)
{
    mjcf m = {.model = xml->model, .limits = *limits, .xml = *xml, .root = root, .in_copy = -1};
    m.folder = m.model->file[xml->element[root].file].name;
    m.folder_length = read_path_folder(m.folder);
    m.compiler = (mjcf_compiler){.autolimits = 1, .degree = 1, .eulerseq = "xyz"};
    m.override =
        (mjcf_override){.friction = {1, 1, 0.005, 0.0001, 0.0001}, .soft = zw_geom_default().soft};
    int ok = model_bodies_of(m.model) != NULL ? mjcf_class_root(&m) : xml_no_memory(&m.xml);
    ok = ok && includes(&m) && form_check(&m.xml, root, &mjcf_form, 0) && sections(&m);
    int own = m.xml.element[root].file == 0; /* an imported robot does not name the system */
    const char *title = ok && own ? xml_value(&m.xml, root, "model") : NULL;
    if (title != NULL && m.model->title == NULL) {
        m.model->title = model_text_copy(title, strlen(title));
        ok = m.model->title != NULL || xml_no_memory(&m.xml);
    }
    base_free(m.class_);
    base_free(m.class_slot);
    base_free(m.lost);
    base_free(m.material);
    mjcf_attach_free(&m);
    mjcf_copies_free(&m);
    *xml = m.xml;
    return ok;
}

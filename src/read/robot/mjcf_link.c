/* Equality constraints, pairs and excludes of contact. */
#include <string.h>

#include "read/robot/mjcf.h"

/* ---- Equality ------------------------------------------------------------------------------- */

/* Two sites: their frames. */
static int equality_sites(mjcf *m, int element, mjcf_equality *e)
{
    int first, second;
    if (!mjcf_refer(m, element, "site1", ZW_KIND_SITE, &first) ||
        !mjcf_refer(m, element, "site2", ZW_KIND_SITE, &second)) {
        return 0;
    }
    if (e->first != NULL || e->second != NULL || xml_find(&m->xml, element, "anchor") >= 0 ||
        xml_find(&m->xml, element, "relpose") >= 0) {
        return form_fail(&m->xml, element, "site1",
                         "the connected parts are given twice: by sites and by bodies");
    }
    const zw_site_def *a = &m->model->bodies->site[first], *b = &m->model->bodies->site[second];
    e->def.first = a->body;
    e->def.second = b->body;
    e->def.placed = 1;
    memcpy(e->def.pos1, a->pos, sizeof a->pos);
    memcpy(e->def.quat1, a->quat, sizeof a->quat);
    memcpy(e->def.pos2, b->pos, sizeof b->pos);
    memcpy(e->def.quat2, b->quat, sizeof b->quat);
    return 1;
}

static int equality_bodies(mjcf *m, int element, mjcf_equality *e)
{
    e->def.second = 0; /* the world */
    return mjcf_refer(m, element, "body1", ZW_KIND_BODY, &e->def.first) &&
           (e->second == NULL || mjcf_refer(m, element, "body2", ZW_KIND_BODY, &e->def.second));
}

static int connect(mjcf *m, int element, mjcf_equality *e)
{
    e->def.kind = ZW_EQUALITY_CONNECT;
    if (e->site1 != NULL || e->site2 != NULL) {
        return equality_sites(m, element, e);
    }
    if (xml_find(&m->xml, element, "anchor") < 0) {
        return form_fail(&m->xml, element, NULL, "connect needs an anchor, or two sites");
    }
    memcpy(e->def.pos1, e->anchor, sizeof e->anchor);
    return equality_bodies(m, element, e);
}

/* The anchor is a point of the second body. relpose is the position of that point in the first
 * body, and the orientation of the second body there: without an anchor, the second body's pose. */
static int weld(mjcf *m, int element, mjcf_equality *e)
{
    e->def.kind = ZW_EQUALITY_WELD;
    if (e->site1 != NULL || e->site2 != NULL) {
        return equality_sites(m, element, e);
    }
    memcpy(e->def.pos2, e->anchor, sizeof e->anchor);
    e->def.placed = 2;
    double *quat = &e->relpose[3];
    int given = quat[0] != 0 || quat[1] != 0 || quat[2] != 0 || quat[3] != 0;
    if (xml_find(&m->xml, element, "relpose") >= 0 &&
        given) { /* a zero quaternion: the reference pose */
        model_quat_unit(quat);
        memcpy(e->def.pos1, e->relpose, sizeof e->def.pos1);
        memcpy(e->def.quat1, quat, sizeof e->def.quat1);
        e->def.placed = 1;
    }
    return equality_bodies(m, element, e);
}

static int couple(mjcf *m, int element, mjcf_equality *e, int tendons)
{
    zw_kind kind = tendons ? ZW_KIND_TENDON : ZW_KIND_JOINT;
    e->def.kind = tendons ? ZW_EQUALITY_TENDON : ZW_EQUALITY_JOINT;
    e->def.second = -1;
    return mjcf_refer(m, element, tendons ? "tendon1" : "joint1", kind, &e->def.first) &&
           (e->second == NULL ||
            mjcf_refer(m, element, tendons ? "tendon2" : "joint2", kind, &e->def.second));
}

/* The uppermost body that this one is welded to. */
static int fixed_to(const model_bodies *b, int body)
{
    while (body > 0 && b->joints[body] == 0) {
        body = b->body[body].parent;
    }
    return body;
}

/* Are both frames on bodies welded together? Then the constraint has no effect. */
static int ties_nothing(const mjcf *m, const zw_equality_def *def)
{
    const model_bodies *b = m->model->bodies;
    int of_bodies = def->kind == ZW_EQUALITY_CONNECT || def->kind == ZW_EQUALITY_WELD;
    return of_bodies && fixed_to(b, def->first) == fixed_to(b, def->second);
}

static int equality(mjcf *m, int element)
{
    int class_;
    if (!mjcf_class_find(m, element, "class", xml_value(&m->xml, element, "class"), 0, &class_)) {
        return 0;
    }
    mjcf_equality e = m->class_[class_].equality;
    const form_row *rows = mjcf_is(m, element, "connect") ? mjcf_connect_rows
                           : mjcf_is(m, element, "weld")  ? mjcf_weld_rows
                           : mjcf_is(m, element, "joint") ? mjcf_couple_rows
                                                          : mjcf_couple_tendon_rows;
    if (!form_apply(&m->xml, element, rows, &e, &e.given)) {
        return 0;
    }
    int ok = rows == mjcf_connect_rows ? connect(m, element, &e)
             : rows == mjcf_weld_rows  ? weld(m, element, &e)
                                       : couple(m, element, &e, rows == mjcf_couple_tendon_rows);
    e.def.place = xml_place(&m->xml, element);
    if (ok && e.def.active && ties_nothing(m, &e.def)) {
        e.def.active = 0;
        ok = mjcf_note(m, element, "(between bodies that are fixed to each other)");
    }
    return ok && mjcf_add(m, ZW_KIND_EQUALITY, &e.def, NULL);
}

int mjcf_equalities(mjcf *m, int section)
{
    return mjcf_each(m, section, equality);
}

/* ---- Contact -------------------------------------------------------------------------------- */

static int pair(mjcf *m, int element)
{
    int class_;
    if (!mjcf_class_find(m, element, "class", xml_value(&m->xml, element, "class"), 0, &class_)) {
        return 0;
    }
    mjcf_pair p = m->class_[class_].pair;
    if (!form_apply(&m->xml, element, mjcf_pair_rows, &p, &p.given) ||
        !mjcf_refer(m, element, "geom1", ZW_KIND_GEOM, &p.def.geom1) ||
        !mjcf_refer(m, element, "geom2", ZW_KIND_GEOM, &p.def.geom2)) {
        return 0;
    }
    p.def.given = 0x3f; /* as in MuJoCo: attributes that are not given have a pair's defaults, not
                           those of the geoms */
    p.def.place = xml_place(&m->xml, element);
    return mjcf_add(m, ZW_KIND_PAIR, &p.def, NULL);
}

static int exclude(mjcf *m, int element)
{
    mjcf_pair p = {0};
    zw_exclude_def def = zw_exclude_default();
    if (!form_apply(&m->xml, element, mjcf_exclude_rows, &p, &p.given) ||
        !mjcf_refer(m, element, "body1", ZW_KIND_BODY, &def.body1) ||
        !mjcf_refer(m, element, "body2", ZW_KIND_BODY, &def.body2)) {
        return 0;
    }
    def.name = p.def.name;
    def.place = xml_place(&m->xml, element);
    return mjcf_add(m, ZW_KIND_EXCLUDE, &def, NULL);
}

static int contact_element(mjcf *m, int element)
{
    return mjcf_is(m, element, "pair") ? pair(m, element) : exclude(m, element);
}

int mjcf_contacts(mjcf *m, int section)
{
    return mjcf_each(m, section, contact_element);
}

/* ---- Extensions in <custom> ------------------------------------------------------------------ */

/* The one number of a numeric. */
static int numeric(mjcf *m, int element, const char *name, double most, double *value)
{
    int data = xml_find(&m->xml, element, "data");
    if (data < 0 || xml_word_count(xml_value(&m->xml, element, "data")) != 1) {
        return form_fail(&m->xml, element, "data", "%s is one number", name);
    }
    if (xml_numbers(&m->xml, element, data, value, 1) < 1) {
        return 0;
    }
    if (!(*value >= 0 && *value <= most)) {
        return most <= 1 ? form_fail(&m->xml, element, "data",
                                     "%s is %g; it must be between 0 and 1", name, *value)
                         : form_fail(&m->xml, element, "data", "%s is %g; it must not be negative",
                                     name, *value);
    }
    return 1;
}

/* <numeric name="restitution" data="0.8"/>: Newton's coefficient of restitution, of every geom, or
 * of a named one: name="restitution:ball". */
static int restitution(mjcf *m, int element, const char *geom)
{
    double e = 0;
    int one = *geom ? model_find_part(m->model->bodies, ZW_KIND_GEOM, geom + 1) : -1;
    if (*geom && one < 0) {
        return form_fail(&m->xml, element, "name", "there is no geom '%.60s'", geom + 1);
    }
    if (!numeric(m, element, "restitution", 1, &e)) {
        return 0;
    }
    for (int i = 0; i < zw_model_count(m->model, ZW_KIND_GEOM); i++) {
        zw_geom_def def = *(const zw_geom_def *)zw_model_def(m->model, ZW_KIND_GEOM, i);
        def.restitution = one < 0 || i == one ? e : def.restitution;
        if (zw_model_change(m->model, ZW_KIND_GEOM, i, &def, m->xml.error) != ZW_OK) {
            return 0;
        }
    }
    return 1;
}

/* <text name="triangles" data="floor stairs"/>: these geoms collide as the triangles of their
 * meshes.
 */
static int triangles(mjcf *m, int element)
{
    const char *at = xml_value(&m->xml, element, "data");
    if (at == NULL || xml_word_count(at) == 0) {
        return form_fail(&m->xml, element, "data", "these are the names of geoms with meshes");
    }
    while (*(at += strspn(at, " \t\r\n")) != 0) {
        size_t length = strcspn(at, " \t\r\n");
        const char *name = xml_keep(&m->xml, at, length);
        if (name == NULL) {
            return 0;
        }
        int geom = model_find_part(m->model->bodies, ZW_KIND_GEOM, name);
        if (geom < 0) {
            return form_fail(&m->xml, element, "data", "there is no geom '%.60s'", name);
        }
        zw_geom_def def = m->model->bodies->geom[geom];
        def.triangles = 1;
        def.place = xml_place(&m->xml, element);
        m->xml.status = zw_model_change(m->model, ZW_KIND_GEOM, geom, &def, m->xml.error);
        if (m->xml.status != ZW_OK) {
            return 0;
        }
        at += length;
    }
    return 1;
}

/* <numeric name="restitution_speed" data="0.1"/>: slower impacts do not bounce. */
static int restitution_speed(mjcf *m, int element)
{
    zw_world_def world = *zw_model_world(m->model);
    return numeric(m, element, "restitution_speed", 1e300, &world.bounce_speed) &&
           zw_model_set_world(m->model, &world, m->xml.error) == ZW_OK;
}

/* <numeric name="contact_capacity" data="2000"/>: the largest number of contact points. */
static int capacity(mjcf *m, int element)
{
    zw_world_def world = *zw_model_world(m->model);
    double capacity = 0;
    if (!numeric(m, element, "contact_capacity", 1e8, &capacity)) {
        return 0;
    }
    world.contact_capacity = (int)capacity;
    return zw_model_set_world(m->model, &world, m->xml.error) == ZW_OK;
}

/* The rest of the name after the word: ":ball" or ""; NULL: another word. */
static const char *behind(const char *name, const char *word)
{
    size_t length = strlen(word);
    int is_it = strncmp(name, word, length) == 0 && (name[length] == 0 || name[length] == ':');
    return is_it ? name + length : NULL;
}

/* A custom element; unknown ones are noted. Named geoms are handled in a second pass, so that they
 * override a later line for all geoms. */
static int custom(mjcf *m, int element, int pass)
{
    const char *name = xml_value(&m->xml, element, "name");
    int number = mjcf_is(m, element, "numeric"), text = mjcf_is(m, element, "text");
    const char *geom = number && name ? behind(name, "restitution") : NULL;
    if (geom) {
        return pass != (*geom != 0) || restitution(m, element, geom);
    }
    if (pass > 0 || (!number && !text)) {
        return 1;
    }
    if (number && name && strcmp(name, "restitution_speed") == 0) {
        return restitution_speed(m, element);
    }
    if (number && name && strcmp(name, "contact_capacity") == 0) {
        return capacity(m, element);
    }
    if (text && name && strcmp(name, "triangles") == 0) {
        return triangles(m, element);
    }
    return model_add_note(m->model, xml_place(&m->xml, element),
                          text ? "custom text" : "custom numeric") ||
           xml_no_memory(&m->xml);
}

int mjcf_custom(mjcf *m, int section)
{
    for (int pass = 0; pass < 2; pass++) {
        for (int c = m->xml.element[section].child; c >= 0; c = m->xml.element[c].next) {
            if (!custom(m, c, pass)) {
                return 0;
            }
        }
    }
    return 1;
}

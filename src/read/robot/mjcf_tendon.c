/* Tendons: sums of joint coordinates, or paths in space. */
#include "base/memory.h"
#include "read/robot/mjcf.h"

static int pulls(mjcf *m, int element, int *joint, double *coef)
{
    int count = 0;
    for (int c = m->xml.element[element].child; c >= 0; c = m->xml.element[c].next) {
        mjcf_pull p = {.coef = 0};
        if (!form_apply(&m->xml, c, mjcf_pull_rows, &p, &p.given) ||
            !mjcf_refer(m, c, "joint", ZW_KIND_JOINT, &joint[count])) {
            return 0;
        }
        if (xml_find(&m->xml, c, "coef") < 0) {
            return form_fail(&m->xml, c, NULL, "a joint of a tendon needs a coef");
        }
        coef[count++] = p.coef;
    }
    return 1;
}

static int stop_of(mjcf *m, int element, zw_stop *stop)
{
    mjcf_stop s = {.divisor = 0};
    int site = mjcf_is(m, element, "site"), geom = mjcf_is(m, element, "geom");
    const form_row *rows = site ? mjcf_stop_rows : geom ? mjcf_wrap_rows : mjcf_pulley_rows;
    *stop = (zw_stop){.kind = site   ? ZW_STOP_SITE
                              : geom ? ZW_STOP_GEOM
                                     : ZW_STOP_PULLEY,
                      .index = -1,
                      .side = -1};
    if (!form_apply(&m->xml, element, rows, &s, &s.given)) {
        return 0;
    }
    if (site) {
        return mjcf_refer(m, element, "site", ZW_KIND_SITE, &stop->index);
    }
    if (geom) {
        return mjcf_refer(m, element, "geom", ZW_KIND_GEOM, &stop->index) &&
               (s.side == NULL || mjcf_refer(m, element, "sidesite", ZW_KIND_SITE, &stop->side));
    }
    if (xml_find(&m->xml, element, "divisor") < 0) {
        return form_fail(&m->xml, element, NULL, "a pulley needs a divisor");
    }
    if (!(s.divisor > 0)) {
        return form_fail(&m->xml, element, "divisor",
                         "the divisor of a pulley must be positive, not %g", s.divisor);
    }
    stop->divisor = s.divisor;
    return 1;
}

static int stops(mjcf *m, int element, zw_stop *list)
{
    int count = 0;
    for (int c = m->xml.element[element].child; c >= 0; c = m->xml.element[c].next) {
        if (!stop_of(m, c, &list[count++])) {
            return 0;
        }
    }
    return count > 1 ||
           form_fail(&m->xml, element, NULL, "a spatial tendon needs at least two sites");
}

/* Adds a tendon with its path; the arrays are copied. */
static int add_with_path(mjcf *m, int element, mjcf_tendon *t)
{
    int spatial = mjcf_is(m, element, "spatial"), count = 0;
    for (int c = m->xml.element[element].child; c >= 0; c = m->xml.element[c].next) {
        count++;
    }
    size_t capacity = (size_t)count + 1;
    int *joint = base_alloc(capacity * sizeof *joint);
    double *coef = base_alloc(capacity * sizeof *coef);
    zw_stop *stop = base_alloc(capacity * sizeof *stop);
    int ok = joint != NULL && coef != NULL && stop != NULL
                 ? (spatial ? stops(m, element, stop) : pulls(m, element, joint, coef))
                 : xml_no_memory(&m->xml);
    t->def.count = spatial ? 0 : count;
    t->def.joint = joint;
    t->def.coef = coef;
    t->def.stop_count = spatial ? count : 0;
    t->def.stop = stop;
    t->def.place = xml_place(&m->xml, element);
    ok = ok && mjcf_add(m, ZW_KIND_TENDON, &t->def, NULL);
    base_free(joint);
    base_free(coef);
    base_free(stop);
    return ok;
}

static int tendon(mjcf *m, int element)
{
    int class_;
    if (!mjcf_class_find(m, element, "class", xml_value(&m->xml, element, "class"), 0, &class_)) {
        return 0;
    }
    mjcf_tendon t = m->class_[class_].tendon;
    if (!form_apply(&m->xml, element, mjcf_fixed_rows, &t, &t.given) ||
        !mjcf_limited(m, element, "limited", "range", t.limited, t.def.range, &t.def.limited) ||
        !mjcf_limited(m, element, "actuatorfrclimited", "actuatorfrcrange", t.force_limited,
                      t.def.force_range, &t.def.force_limited)) {
        return 0;
    }
    if ((t.given & form_bit(mjcf_fixed_rows, "springlength")) != 0 && t.def.springlength[1] < 0) {
        t.def.springlength[1] = t.def.springlength[0]; /* one number: no dead band */
    }
    return add_with_path(m, element, &t);
}

int mjcf_tendons(mjcf *m, int section)
{
    return mjcf_each(m, section, tendon);
}

/* Tendons, explicit contact pairs, actuators. */
#include <math.h>
#include <string.h>

#include "record/mjcf/mjcf.h"

/* ---- Tendons -------------------------------------------------------------------------------- */

static void put_path(mjcf_writer *w, const zw_tendon_def *t)
{
    for (int i = 0; i < t->count; i++) {
        record_put(&w->file, "      <joint");
        mjcf_put_name(w, "joint", ZW_KIND_JOINT, t->joint[i]);
        mjcf_put_reals(w, "coef", &t->coef[i], 1);
        record_put(&w->file, "/>\n");
    }
    for (int i = 0; i < t->stop_count; i++) {
        const zw_stop *stop = &t->stop[i];
        if (stop->kind == ZW_STOP_PULLEY) {
            record_put(&w->file, "      <pulley");
            mjcf_put_reals(w, "divisor", &stop->divisor, 1);
        } else if (stop->kind == ZW_STOP_SITE) {
            record_put(&w->file, "      <site");
            mjcf_put_name(w, "site", ZW_KIND_SITE, stop->index);
        } else {
            record_put(&w->file, "      <geom");
            mjcf_put_name(w, "geom", ZW_KIND_GEOM, stop->index);
            if (stop->side >= 0) {
                mjcf_put_name(w, "sidesite", ZW_KIND_SITE, stop->side);
            }
        }
        record_put(&w->file, "/>\n");
    }
}

static void put_tendon(mjcf_writer *w, int index)
{
    const zw_tendon_def *t = &w->b->tendon[index];
    const char *word = t->stop_count > 0 ? "spatial" : "fixed";
    record_putf(&w->file, "    <%s", word);
    mjcf_put_name(w, "name", ZW_KIND_TENDON, index);
    mjcf_put_bool(w, "limited", t->limited);
    if (t->limited) {
        mjcf_put_reals(w, "range", t->range, 2);
        mjcf_put_reals(w, "margin", &t->margin, 1);
        mjcf_put_soft(w, "solreflimit", "solimplimit", &t->soft_limit);
    }
    if (t->force_limited) {
        mjcf_put_bool(w, "actuatorfrclimited", 1);
        mjcf_put_reals(w, "actuatorfrcrange", t->force_range, 2);
    }
    mjcf_put_reals(w, "stiffness", &t->stiffness, 1);
    mjcf_put_reals(w, "damping", &t->damping, 1);
    if (t->armature != 0) {
        mjcf_put_reals(w, "armature", &t->armature, 1);
    }
    mjcf_put_reals(w, "frictionloss", &t->frictionloss, 1);
    if (t->frictionloss > 0) {
        mjcf_put_soft(w, "solreffriction", "solimpfriction", &t->soft_friction);
    }
    if (!(t->springlength[0] < 0)) {
        mjcf_put_reals(w, "springlength", t->springlength, 2);
    }
    record_put(&w->file, ">\n");
    put_path(w, t);
    record_putf(&w->file, "    </%s>\n", word);
}

void mjcf_put_tendons(mjcf_writer *w)
{
    record_put(&w->file, "  <tendon>\n");
    for (int i = 0; i < w->b->count[ZW_KIND_TENDON]; i++) {
        put_tendon(w, i);
    }
    record_put(&w->file, "  </tendon>\n");
}

/* ---- Contacts ------------------------------------------------------------------------------- */

static void put_pair(mjcf_writer *w, int index)
{
    enum { ALL = 0x3f };
    const zw_pair_def *p = &w->b->pair[index];
    if (p->given != ALL) {
        mjcf_refuse(w, ZW_KIND_PAIR, index,
                    "it takes numbers from its geoms; in MuJoCo a pair has all of its own");
        return;
    }
    record_put(&w->file, "    <pair");
    if (p->name != NULL) {
        mjcf_put_text(w, "name", p->name);
    }
    mjcf_put_name(w, "geom1", ZW_KIND_GEOM, p->geom1);
    mjcf_put_name(w, "geom2", ZW_KIND_GEOM, p->geom2);
    mjcf_put_int(w, "condim", p->condim);
    mjcf_put_reals(w, "friction", p->friction, 5);
    mjcf_put_soft(w, "solref", "solimp", &p->soft);
    mjcf_put_reals(w, "solreffriction", p->soft_friction.ref, 2);
    mjcf_put_reals(w, "margin", &p->margin, 1);
    mjcf_put_reals(w, "gap", &p->gap, 1);
    record_put(&w->file, "/>\n");
}

void mjcf_put_contacts(mjcf_writer *w)
{
    record_put(&w->file, "  <contact>\n");
    for (int i = 0; i < w->b->count[ZW_KIND_PAIR]; i++) {
        put_pair(w, i);
    }
    for (int i = 0; i < w->b->count[ZW_KIND_EXCLUDE]; i++) {
        const zw_exclude_def *e = &w->b->exclude[i];
        record_put(&w->file, "    <exclude");
        if (e->name != NULL) {
            mjcf_put_text(w, "name", e->name);
        }
        mjcf_put_name(w, "body1", ZW_KIND_BODY, e->body1);
        mjcf_put_name(w, "body2", ZW_KIND_BODY, e->body2);
        record_put(&w->file, "/>\n");
    }
    record_put(&w->file, "  </contact>\n");
}

/* ---- Actuators ------------------------------------------------------------------------------ */

static void put_range(mjcf_writer *w, const char *limited, const char *range, int is_limited,
                      const double x[2])
{
    mjcf_put_bool(w, limited, is_limited);
    if (is_limited) {
        mjcf_put_reals(w, range, x, 2);
    }
}

static void put_target(mjcf_writer *w, const zw_actuator_def *a)
{
    static const struct {
        const char *word;
        zw_kind kind;
    } drive[] = {[ZW_DRIVE_JOINT] = {"joint", ZW_KIND_JOINT},
                 [ZW_DRIVE_JOINT_IN_PARENT] = {"jointinparent", ZW_KIND_JOINT},
                 [ZW_DRIVE_TENDON] = {"tendon", ZW_KIND_TENDON},
                 [ZW_DRIVE_SITE] = {"site", ZW_KIND_SITE},
                 [ZW_DRIVE_CRANK] = {"cranksite", ZW_KIND_SITE},
                 [ZW_DRIVE_BODY] = {"body", ZW_KIND_BODY}};
    mjcf_put_name(w, drive[a->drive].word, drive[a->drive].kind, a->target);
    if (a->refsite >= 0) {
        mjcf_put_name(w, a->drive == ZW_DRIVE_CRANK ? "slidersite" : "refsite", ZW_KIND_SITE,
                      a->refsite);
    }
    if (a->drive == ZW_DRIVE_CRANK) {
        mjcf_put_reals(w, "cranklength", &a->rod, 1);
    }
}

static void put_law(mjcf_writer *w, const zw_actuator_def *a)
{
    static const char *const dynamics[] = {"none", "integrator", "filter", "filterexact", "muscle"};
    static const char *const gain[] = {"fixed", "affine", "muscle"};
    mjcf_put_text(w, "dyntype", dynamics[a->dynamics]);
    mjcf_put_reals(w, "dynprm", a->dyn_prm, 10);
    mjcf_put_text(w, "gaintype", gain[a->gain_law]);
    mjcf_put_reals(w, "gainprm", a->gain_prm, 10);
    mjcf_put_text(w, "biastype", a->bias_law != ZW_ACTUATOR_CONSTANT ? gain[a->bias_law] : "none");
    double bias[10];
    memcpy(bias, a->bias_prm, sizeof bias);
    bias[2] = a->damp_ratio != 0 ? a->damp_ratio : bias[2];
    mjcf_put_reals(w, "biasprm", bias, 10);
    if (a->length_range[0] < a->length_range[1]) {
        mjcf_put_reals(w, "lengthrange", a->length_range, 2);
    }
    if (a->dynamics != ZW_DYNAMICS_NONE) {
        put_range(w, "actlimited", "actrange", a->act_limited, a->act_range);
        mjcf_put_bool(w, "actearly", a->act_early);
    }
}

/* In MJCF a positive bias from the velocity is a damping ratio if the actuator is a servo, one
 * whose gain is the opposite of its bias from the length, and only then. */
static void put_actuator(mjcf_writer *w, int index)
{
    const zw_actuator_def *a = &w->b->actuator[index];
    int servo = a->bias_law == ZW_ACTUATOR_AFFINE && a->gain_prm[0] == -a->bias_prm[1];
    if (servo ? a->damp_ratio == 0 && a->bias_prm[2] > 0 : a->damp_ratio != 0) {
        mjcf_refuse(w, ZW_KIND_ACTUATOR, index,
                    servo ? "in MJCF the damping of a servo cannot be negative"
                          : "MJCF has a damping ratio for servos alone");
        return;
    }
    record_put(&w->file, "    <general");
    mjcf_put_name(w, "name", ZW_KIND_ACTUATOR, index);
    put_target(w, a);
    mjcf_put_reals(w, "gear", a->gear, 6);
    mjcf_put_int(w, "group", a->group);
    put_range(w, "ctrllimited", "ctrlrange", a->ctrl_limited, a->ctrl_range);
    put_range(w, "forcelimited", "forcerange", a->force_limited, a->force_range);
    put_law(w, a);
    record_put(&w->file, "/>\n");
}

void mjcf_put_actuators(mjcf_writer *w)
{
    record_put(&w->file, "  <actuator>\n");
    for (int i = 0; i < w->b->count[ZW_KIND_ACTUATOR]; i++) {
        put_actuator(w, i);
    }
    record_put(&w->file, "  </actuator>\n");
}

/* Actuators. All shortcuts are gains and biases of the general one:
 *   motor        force = u
 *   position     force = kp (u - length) - kv velocity, the control perhaps filtered first
 *   velocity     force = kv (u - velocity)
 *   intvelocity  position, with the integral of u as its control
 *   damper       force = -kv velocity u
 *   cylinder     force = area * activation + bias, the activation being the filtered control */
#include <math.h>
#include <string.h>

#include "read/robot/mjcf.h"

#define PI 3.14159265358979323846

static const struct {
    const char *name;
    const form_row *rows;
} kinds[] = {{"general", mjcf_general_rows},         {"motor", mjcf_motor_rows},
             {"position", mjcf_position_rows},       {"velocity", mjcf_velocity_rows},
             {"intvelocity", mjcf_intvelocity_rows}, {"damper", mjcf_damper_rows},
             {"cylinder", mjcf_cylinder_rows}};

const form_row *mjcf_actuator_rows(const char *element)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].name, element) == 0) {
            return kinds[i].rows;
        }
    }
    return NULL;
}

static int settle_general(mjcf *m, int element, mjcf_actuator *a)
{
    if (a->dyn > ZW_DYNAMICS_FILTER_EXACT) {
        return form_fail(&m->xml, element, "dyntype", "these dynamics are not known here");
    }
    if (a->gain > 1) {
        return form_fail(&m->xml, element, "gaintype", "this gain is not known here");
    }
    if (a->bias_kind > 1) {
        return form_fail(&m->xml, element, "biastype", "this bias is not known here");
    }
    a->def.dynamics = a->dyn;
    a->def.gain_affine = a->gain;
    a->def.bias_affine = a->bias_kind;
    return 1;
}

static void set_types(mjcf_actuator *a, int dynamics, int gain_affine, int bias_affine)
{
    a->dyn = a->def.dynamics = dynamics;
    a->gain = a->def.gain_affine = gain_affine;
    a->bias_kind = a->def.bias_affine = bias_affine;
}

/* kp (u - length) - kv velocity. As in MuJoCo, a bias or a damping that is not given here is that
 * of a <general> of the class, if there is one. */
static void settle_position(mjcf_actuator *a)
{
    double kp = isnan(a->kp) ? a->def.gain_prm[0] : a->kp;
    set_types(a, ZW_DYNAMICS_NONE, 0, 1);
    a->def.gain_prm[0] = kp;
    a->def.bias_prm[1] = -kp;
    if (!isnan(a->kv)) {
        a->def.bias_prm[2] = -a->kv;
    }
}

static void settle_cylinder(mjcf_actuator *a)
{
    set_types(a, ZW_DYNAMICS_FILTER, 0, 1);
    if (!isnan(a->timeconst)) {
        a->def.dyn_prm[0] = a->timeconst;
    }
    if (!isnan(a->area)) {
        a->def.gain_prm[0] = a->area;
    }
    if (!isnan(a->diameter)) {
        a->def.gain_prm[0] = PI / 4 * a->diameter * a->diameter;
    }
    if (!isnan(a->bias[0])) {
        memcpy(a->def.bias_prm, a->bias, sizeof a->bias);
    }
}

int mjcf_actuator_settle(mjcf *m, int element, mjcf_actuator *a)
{
    const form_row *rows = mjcf_actuator_rows(m->xml.element[element].name);
    if (a->kp < 0 || a->kv < 0) {
        return form_fail(&m->xml, element, a->kp < 0 ? "kp" : "kv", "a gain cannot be negative");
    }
    int kv = xml_find(&m->xml, element, "kv") >= 0;
    int ratio = xml_find(&m->xml, element, "dampratio") >= 0;
    if (a->def.damp_ratio < 0 || (kv && ratio)) {
        return form_fail(&m->xml, element, "dampratio",
                         kv ? "the damping is said twice: by kv and dampratio"
                            : "a damping ratio cannot be negative");
    }
    if (kv) { /* what is said last holds: a class may have said the other */
        a->def.damp_ratio = 0;
    } else if (ratio) {
        a->kv = NAN;
        a->def.bias_prm[2] = 0;
    }
    if (rows == mjcf_general_rows) {
        return settle_general(m, element, a);
    }
    if (rows != mjcf_position_rows && rows != mjcf_intvelocity_rows) {
        a->def.damp_ratio = 0;
    }
    if (rows == mjcf_motor_rows) {
        set_types(a, ZW_DYNAMICS_NONE, 0, 0);
        a->def.gain_prm[0] = 1;
    } else if (rows == mjcf_position_rows) {
        settle_position(a);
        if (a->timeconst > 0) {
            set_types(a, ZW_DYNAMICS_FILTER_EXACT, 0, 1);
            a->def.dyn_prm[0] = a->timeconst;
        }
    } else if (rows == mjcf_velocity_rows) {
        double gain = isnan(a->kv) ? a->def.gain_prm[0] : a->kv;
        set_types(a, ZW_DYNAMICS_NONE, 0, 1);
        a->def.gain_prm[0] = gain;
        a->def.bias_prm[0] = a->def.bias_prm[1] = 0;
        a->def.bias_prm[2] = -gain;
    } else if (rows == mjcf_intvelocity_rows) {
        settle_position(a);
        set_types(a, ZW_DYNAMICS_INTEGRATOR, 0, 1);
    } else if (rows == mjcf_damper_rows) {
        set_types(a, ZW_DYNAMICS_NONE, 1, 0);
        a->def.gain_prm[0] = a->def.gain_prm[1] = 0;
        a->def.gain_prm[2] = -(isnan(a->kv) ? 1 : a->kv);
    } else {
        settle_cylinder(a);
    }
    return 1;
}

/* ---- What it pulls on ----------------------------------------------------------------------- */

static int drive(mjcf *m, int element, mjcf_actuator *a)
{
    static const struct {
        const char *word;
        int drive; /* zw_drive */
        zw_thing kind;
    } ways[] = {{"joint", ZW_DRIVE_JOINT, ZW_THING_JOINT},
                {"jointinparent", ZW_DRIVE_JOINT_IN_PARENT, ZW_THING_JOINT},
                {"tendon", ZW_DRIVE_TENDON, ZW_THING_TENDON},
                {"site", ZW_DRIVE_SITE, ZW_THING_SITE}};
    int found = -1;
    for (int i = 0; i < 4; i++) {
        if (xml_find(&m->xml, element, ways[i].word) < 0) {
            continue;
        }
        if (found >= 0) {
            return form_fail(&m->xml, element, ways[i].word,
                             "it is said twice what is driven: by %s and %s", ways[found].word,
                             ways[i].word);
        }
        found = i;
    }
    if (found < 0) {
        return form_fail(&m->xml, element, NULL,
                         "an actuator drives something: joint, tendon or site");
    }
    a->def.drive = ways[found].drive;
    return mjcf_refer(m, element, ways[found].word, ways[found].kind, &a->def.target) &&
           (a->refsite == NULL ||
            mjcf_refer(m, element, "refsite", ZW_THING_SITE, &a->def.refsite));
}

/* The joint's or tendon's range becomes the control's (integrators: the activation's). */
static int inherit_range(mjcf *m, int element, mjcf_actuator *a)
{
    int servo = !a->def.gain_affine && a->def.bias_affine &&
                a->def.gain_prm[0] == -a->def.bias_prm[1]; /* of others a class may have said it */
    if (!(a->inheritrange > 0) || !servo) {
        return 1;
    }
    const model_bodies *b = m->model->bodies;
    const double *range = NULL;
    if (a->def.drive == ZW_DRIVE_JOINT && b->joint[a->def.target].limited) {
        range = b->joint[a->def.target].range;
    } else if (a->def.drive == ZW_DRIVE_TENDON && b->tendon[a->def.target].limited) {
        range = b->tendon[a->def.target].range;
    }
    if (range == NULL) {
        return form_fail(&m->xml, element, "inheritrange", "what is driven has no range");
    }
    int integrates = a->def.dynamics == ZW_DYNAMICS_INTEGRATOR;
    double *own = integrates ? a->def.act_range : a->def.ctrl_range;
    if (own[0] != 0 || own[1] != 0) {
        return form_fail(&m->xml, element, integrates ? "actrange" : "ctrlrange",
                         "the range is said twice: here and by inheritrange");
    }
    double mean = (range[0] + range[1]) / 2, half = (range[1] - range[0]) / 2 * a->inheritrange;
    own[0] = mean - half;
    own[1] = mean + half;
    return 1;
}

static int actuator(mjcf *m, int element)
{
    int class_;
    if (!mjcf_class_find(m, element, "class", xml_value(&m->xml, element, "class"), 0, &class_)) {
        return 0;
    }
    mjcf_actuator a = m->class_[class_].actuator;
    const form_row *rows = mjcf_actuator_rows(m->xml.element[element].name);
    if (!form_apply(&m->xml, element, rows, &a, &a.given) ||
        !mjcf_actuator_settle(m, element, &a) || !drive(m, element, &a) ||
        !inherit_range(m, element, &a)) {
        return 0;
    }
    if (rows == mjcf_damper_rows) {
        if (a.def.ctrl_range[0] < 0) {
            return form_fail(&m->xml, element, "ctrlrange",
                             "a damper's control cannot be negative");
        }
        a.ctrl_limited = 1;
    }
    if (!mjcf_limited(m, element, "ctrllimited", "ctrlrange", a.ctrl_limited, a.def.ctrl_range,
                      &a.def.ctrl_limited) ||
        !mjcf_limited(m, element, "forcelimited", "forcerange", a.force_limited, a.def.force_range,
                      &a.def.force_limited) ||
        !mjcf_limited(m, element, "actlimited", "actrange", a.act_limited, a.def.act_range,
                      &a.def.act_limited)) {
        return 0;
    }
    if (a.def.group >= 0 && a.def.group < 64 && (m->groups_off >> a.def.group & 1) != 0) {
        a.def.gain_affine = a.def.bias_affine = 0; /* it is there, and does nothing */
        memset(a.def.gain_prm, 0, sizeof a.def.gain_prm);
    }
    a.def.place = xml_place(&m->xml, element);
    return mjcf_add(m, ZW_THING_ACTUATOR, &a.def, NULL);
}

int mjcf_actuators(mjcf *m, int section)
{
    for (int c = m->xml.element[section].child; c >= 0; c = m->xml.element[c].next) {
        if (!actuator(m, c)) {
            return 0;
        }
    }
    return 1;
}

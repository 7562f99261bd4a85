/* Actuators. All shortcuts are gains and biases of the general one:
 *   motor        force = u
 *   position     force = kp (u - length) - kv velocity, the control perhaps filtered first
 *   velocity     force = kv (u - velocity)
 *   intvelocity  position, with the integral of u as its control
 *   damper       force = -kv velocity u
 *   cylinder     force = area * activation + bias, the activation being the filtered control
 *   muscle       bodies_muscle.c derives its law
 *   adhesion     force = gain u at the contacts of a body: bodies_adhesion.c */
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
             {"cylinder", mjcf_cylinder_rows},       {"muscle", mjcf_muscle_rows},
             {"adhesion", mjcf_adhesion_rows}};

const form_row *mjcf_actuator_rows(const char *element)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].name, element) == 0) {
            return kinds[i].rows;
        }
    }
    return NULL;
}

/* The numbers of shortcuts that no element has given yet. */
void mjcf_shortcut_clear(mjcf_actuator *a)
{
    a->kp = a->kv = a->ratio = a->timeconst = a->area = a->diameter = a->bias[0] = NAN;
    for (int k = 0; k < 9; k++) {
        a->muscle[k] = a->muscle_time[k % 2] = NAN;
    }
}

static double given_or(double given, double otherwise)
{
    return isnan(given) ? otherwise : given;
}

static void set_types(mjcf_actuator *a, int dynamics, int gain_law, int bias_law)
{
    a->dyn = dynamics;
    a->gain = gain_law;
    a->bias_kind = bias_law;
}

/* kp (u - length) - kv velocity; the dynamics are those of the class unless a time constant is
 * given. A damping ratio stands where -kv does, with the opposite sign. */
static void settle_position(mjcf_actuator *a)
{
    set_types(a,
              isnan(a->timeconst) ? a->dyn
              : a->timeconst > 0  ? ZW_DYNAMICS_FILTER_EXACT
                                  : 0,
              0, 1);
    a->def.gain_prm[0] = given_or(a->kp, a->def.gain_prm[0]);
    a->def.bias_prm[1] = -a->def.gain_prm[0];
    a->def.bias_prm[2] = given_or(a->ratio, given_or(-a->kv, a->def.bias_prm[2]));
    a->def.dyn_prm[0] = given_or(a->timeconst, a->def.dyn_prm[0]);
}

static void settle_cylinder(mjcf_actuator *a)
{
    set_types(a, ZW_DYNAMICS_FILTER, 0, 1);
    a->def.dyn_prm[0] = given_or(a->timeconst, a->def.dyn_prm[0]);
    a->def.gain_prm[0] = given_or(a->area, a->def.gain_prm[0]);
    if (!isnan(a->diameter)) {
        a->def.gain_prm[0] = PI / 4 * a->diameter * a->diameter;
    }
    if (!isnan(a->bias[0])) {
        memcpy(a->def.bias_prm, a->bias, sizeof a->bias);
    }
}

/* A number that still has the default value of a general actuator gets that of a muscle. As in
 * MuJoCo, negative numbers count as not given. */
static int settle_muscle(mjcf *m, int element, mjcf_actuator *a)
{
    static const double any[9] = {1}, own[9] = {0.75, 1.05, -1, 200, 0.5, 1.6, 1.5, 1.3, 1.2};
    static const double any_time[2] = {1, 0}, own_time[2] = {0.01, 0.04};
    if (a->def.dyn_prm[2] < 0) {
        return form_fail(&m->xml, element, "tausmooth", "a width must not be negative");
    }
    for (int k = 0; k < 2; k++) {
        double *x = &a->def.dyn_prm[k];
        *x = a->muscle_time[k] >= 0 ? a->muscle_time[k] : *x == any_time[k] ? own_time[k] : *x;
    }
    for (int k = 0; k < 9; k++) {
        double *x = &a->def.gain_prm[k];
        *x = a->muscle[k] >= 0 ? a->muscle[k] : *x == any[k] ? own[k] : *x;
        a->def.bias_prm[k] = *x;
    }
    set_types(a, ZW_DYNAMICS_MUSCLE, ZW_ACTUATOR_MUSCLE, ZW_ACTUATOR_MUSCLE);
    return 1;
}

static int settle_shortcut(mjcf *m, int element, mjcf_actuator *a, const form_row *rows)
{
    if (rows == mjcf_muscle_rows) {
        return settle_muscle(m, element, a);
    }
    if (rows == mjcf_adhesion_rows) {
        set_types(a, a->dyn, 0, 0);
    } else if (rows == mjcf_motor_rows) {
        set_types(a, ZW_DYNAMICS_NONE, 0, 0);
        a->def.gain_prm[0] = 1;
    } else if (rows == mjcf_position_rows) {
        settle_position(a);
    } else if (rows == mjcf_velocity_rows) {
        set_types(a, ZW_DYNAMICS_NONE, 0, 1);
        a->def.gain_prm[0] = given_or(a->kv, a->def.gain_prm[0]);
        a->def.bias_prm[0] = a->def.bias_prm[1] = 0;
        a->def.bias_prm[2] = -a->def.gain_prm[0];
    } else if (rows == mjcf_intvelocity_rows) {
        settle_position(a);
        a->dyn = ZW_DYNAMICS_INTEGRATOR;
    } else if (rows == mjcf_damper_rows) {
        a->def.gain_prm[0] = a->def.gain_prm[1] = 0;
        a->def.gain_prm[2] = -given_or(a->kv, a->gain == 1 ? -a->def.gain_prm[2] : 0);
        set_types(a, ZW_DYNAMICS_NONE, 1, 0);
    } else if (rows == mjcf_cylinder_rows) {
        settle_cylinder(a);
    }
    return 1;
}

/* An element, or one of a class: what it gives becomes types and numbers of the general actuator,
 * as in MuJoCo, whose classes hold nothing else. Thus <position kp="50"/> and <velocity kv="10"/>
 * in one class leave the gain 10 to the positions of that class. */
int mjcf_actuator_settle(mjcf *m, int element, mjcf_actuator *a)
{
    const form_row *rows = mjcf_actuator_rows(m->xml.element[element].name);
    int twice = !isnan(a->kv) && !isnan(a->ratio);
    if (a->kv < 0 && rows != mjcf_velocity_rows) {
        return form_fail(&m->xml, element, "kv", "a gain cannot be negative");
    }
    if (a->ratio < 0 || twice) {
        return form_fail(&m->xml, element, "dampratio",
                         twice ? "the damping is given twice: by kv and dampratio"
                               : "a damping ratio cannot be negative");
    }
    int ok = settle_shortcut(m, element, a, rows);
    mjcf_shortcut_clear(a);
    return ok;
}

/* The law of an element of its own, not of a class, which may hold what no element uses. Where a
 * servo's bias has a positive coefficient of the velocity, it is a damping ratio, as in MuJoCo. */
static int law(mjcf *m, int element, mjcf_actuator *a)
{
    static const char *const words[] = {"dyntype", "gaintype", "biastype"};
    const int kind[] = {a->dyn, a->gain, a->bias_kind};
    const int last[] = {ZW_DYNAMICS_MUSCLE, ZW_ACTUATOR_MUSCLE, ZW_ACTUATOR_MUSCLE};
    for (int k = 0; k < 3; k++) {
        if (kind[k] > last[k]) {
            return form_fail(
                &m->xml, element, words[k],
                kind[k] == last[k] + 1
                    ? "this one is computed by a callback in MuJoCo, which a file cannot have"
                    : "MuJoCo's electric motor is not supported");
        }
    }
    a->def.dynamics = a->dyn;
    a->def.gain_law = a->gain;
    a->def.bias_law = a->bias_kind;
    if (a->bias_kind == ZW_ACTUATOR_AFFINE && a->def.gain_prm[0] == -a->def.bias_prm[1] &&
        a->def.bias_prm[2] > 0) {
        a->def.damp_ratio = a->def.bias_prm[2];
        a->def.bias_prm[2] = 0;
    }
    return 1;
}

/* ---- Targets -------------------------------------------------------------------------------- */

static int drive(mjcf *m, int element, mjcf_actuator *a)
{
    static const struct {
        const char *word;
        int drive; /* zw_drive */
        zw_kind kind;
    } ways[] = {{"joint", ZW_DRIVE_JOINT, ZW_KIND_JOINT},
                {"jointinparent", ZW_DRIVE_JOINT_IN_PARENT, ZW_KIND_JOINT},
                {"tendon", ZW_DRIVE_TENDON, ZW_KIND_TENDON},
                {"site", ZW_DRIVE_SITE, ZW_KIND_SITE},
                {"cranksite", ZW_DRIVE_CRANK, ZW_KIND_SITE},
                {"body", ZW_DRIVE_BODY, ZW_KIND_BODY}};
    int found = -1;
    for (int i = 0; i < 6; i++) {
        if (xml_find(&m->xml, element, ways[i].word) < 0) {
            continue;
        }
        if (found >= 0) {
            return form_fail(&m->xml, element, ways[i].word,
                             "the target is given twice: by %s and %s", ways[found].word,
                             ways[i].word);
        }
        found = i;
    }
    if (found < 0) {
        return form_fail(&m->xml, element, NULL,
                         "an actuator needs a target: joint, tendon, site, cranksite or body");
    }
    a->def.drive = ways[found].drive;
    if (a->def.drive == ZW_DRIVE_CRANK) {
        return mjcf_refer(m, element, "cranksite", ZW_KIND_SITE, &a->def.target) &&
               mjcf_refer(m, element, "slidersite", ZW_KIND_SITE, &a->def.refsite);
    }
    return mjcf_refer(m, element, ways[found].word, ways[found].kind, &a->def.target) &&
           (a->refsite == NULL || mjcf_refer(m, element, "refsite", ZW_KIND_SITE, &a->def.refsite));
}

/* The joint's or tendon's range becomes the control's (integrators: the activation's). */
static int inherit_range(mjcf *m, int element, mjcf_actuator *a)
{
    int servo =
        a->def.gain_law == ZW_ACTUATOR_CONSTANT && a->def.bias_law == ZW_ACTUATOR_AFFINE &&
        a->def.gain_prm[0] == -a->def.bias_prm[1]; /* for other kinds a class may have given it */
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
        return form_fail(&m->xml, element, "inheritrange", "the target has no range");
    }
    int integrates = a->def.dynamics == ZW_DYNAMICS_INTEGRATOR;
    double *own = integrates ? a->def.act_range : a->def.ctrl_range;
    if (own[0] != 0 || own[1] != 0) {
        return form_fail(&m->xml, element, integrates ? "actrange" : "ctrlrange",
                         "the range is given twice: here and by inheritrange");
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
        !mjcf_actuator_settle(m, element, &a) || !law(m, element, &a) || !drive(m, element, &a) ||
        !inherit_range(m, element, &a)) {
        return 0;
    }
    if (rows == mjcf_damper_rows || rows == mjcf_adhesion_rows) {
        int presses = rows == mjcf_adhesion_rows;
        if (a.def.ctrl_range[0] < 0 || (presses && !(a.def.ctrl_range[1] > 0))) {
            return form_fail(&m->xml, element, "ctrlrange",
                             presses ? "adhesion needs a range of its control, from 0 or more"
                                     : "a damper's control cannot be negative");
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
        a.def.gain_law = a.def.bias_law = 0; /* it exists, but has no effect */
        memset(a.def.gain_prm, 0, sizeof a.def.gain_prm);
    }
    a.def.place = xml_place(&m->xml, element);
    return mjcf_add(m, ZW_KIND_ACTUATOR, &a.def, NULL);
}

int mjcf_actuators(mjcf *m, int section)
{
    return mjcf_each(m, section, actuator);
}

/* Elements and attributes of MJCF for tendons, equality, contact, actuators, sensors and
 * keyframes. */
#include "read/robot/mjcf.h"

#define LIMITED "false true auto"
#define BOOL "false true"

/* ---- Equality -------------------------------------------------------------------------------- */

#define EQUALITY_ROWS                                                                              \
    FORM_TEXTS("name", mjcf_equality, def.name), FORM_TEXTS("class", mjcf_equality, class_),       \
        FORM_WORDS("active", mjcf_equality, def.active, BOOL),                                     \
        FORM_REALS("solref", mjcf_equality, def.soft.ref, 1, 2),                                   \
        FORM_REALS("solimp", mjcf_equality, def.soft.imp, 1, 5)

const form_row mjcf_equality_rows[] = {EQUALITY_ROWS, FORM_END};
const form_row mjcf_connect_rows[] = {EQUALITY_ROWS,
                                      FORM_TEXTS("body1", mjcf_equality, first),
                                      FORM_TEXTS("body2", mjcf_equality, second),
                                      FORM_REALS("anchor", mjcf_equality, anchor, 3, 3),
                                      FORM_TEXTS("site1", mjcf_equality, site1),
                                      FORM_TEXTS("site2", mjcf_equality, site2),
                                      FORM_END};
const form_row mjcf_weld_rows[] = {EQUALITY_ROWS,
                                   FORM_TEXTS("body1", mjcf_equality, first),
                                   FORM_TEXTS("body2", mjcf_equality, second),
                                   FORM_REALS("anchor", mjcf_equality, anchor, 3, 3),
                                   FORM_TEXTS("site1", mjcf_equality, site1),
                                   FORM_TEXTS("site2", mjcf_equality, site2),
                                   FORM_REALS("relpose", mjcf_equality, relpose, 7, 7),
                                   FORM_REALS("torquescale", mjcf_equality, def.torquescale, 1, 1),
                                   FORM_END};
const form_row mjcf_couple_rows[] = {EQUALITY_ROWS, FORM_TEXTS("joint1", mjcf_equality, first),
                                     FORM_TEXTS("joint2", mjcf_equality, second),
                                     FORM_REALS("polycoef", mjcf_equality, def.poly, 1, 5),
                                     FORM_END};
const form_row mjcf_couple_tendon_rows[] = {
    EQUALITY_ROWS, FORM_TEXTS("tendon1", mjcf_equality, first),
    FORM_TEXTS("tendon2", mjcf_equality, second),
    FORM_REALS("polycoef", mjcf_equality, def.poly, 1, 5), FORM_END};

/* ---- Tendons, contact ------------------------------------------------------------------------ */

#define TENDON_ROWS                                                                                \
    FORM_WORDS("limited", mjcf_tendon, limited, LIMITED),                                          \
        FORM_REALS("range", mjcf_tendon, def.range, 2, 2),                                         \
        FORM_WORDS("actuatorfrclimited", mjcf_tendon, force_limited, LIMITED),                     \
        FORM_REALS("actuatorfrcrange", mjcf_tendon, def.force_range, 2, 2),                        \
        FORM_REALS("margin", mjcf_tendon, def.margin, 1, 1),                                       \
        FORM_REALS("stiffness", mjcf_tendon, def.stiffness, 1, 1),                                 \
        FORM_REALS("damping", mjcf_tendon, def.damping, 1, 1),                                     \
        FORM_REALS("armature", mjcf_tendon, def.armature, 1, 1),                                   \
        FORM_REALS("frictionloss", mjcf_tendon, def.frictionloss, 1, 1),                           \
        FORM_REALS("springlength", mjcf_tendon, def.springlength, 1, 2),                           \
        FORM_REALS("solreflimit", mjcf_tendon, def.soft_limit.ref, 1, 2),                          \
        FORM_REALS("solimplimit", mjcf_tendon, def.soft_limit.imp, 1, 5),                          \
        FORM_REALS("solreffriction", mjcf_tendon, def.soft_friction.ref, 1, 2),                    \
        FORM_REALS("solimpfriction", mjcf_tendon, def.soft_friction.imp, 1, 5)

const form_row mjcf_tendon_rows[] = {TENDON_ROWS, FORM_END};
const form_row mjcf_fixed_rows[] = {TENDON_ROWS, FORM_TEXTS("name", mjcf_tendon, def.name),
                                    FORM_TEXTS("class", mjcf_tendon, class_), FORM_END};
const form_row mjcf_pull_rows[] = {FORM_TEXTS("joint", mjcf_pull, joint),
                                   FORM_REALS("coef", mjcf_pull, coef, 1, 1), FORM_END};

const form_row mjcf_stop_rows[] = {FORM_TEXTS("site", mjcf_stop, site), FORM_END};
const form_row mjcf_wrap_rows[] = {FORM_TEXTS("geom", mjcf_stop, geom),
                                   FORM_TEXTS("sidesite", mjcf_stop, side), FORM_END};
const form_row mjcf_pulley_rows[] = {FORM_REALS("divisor", mjcf_stop, divisor, 1, 1), FORM_END};

const form_row mjcf_pair_rows[] = {
    FORM_INTS("condim", mjcf_pair, def.condim, 1, 1),
    FORM_REALS("friction", mjcf_pair, def.friction, 1, 5),
    FORM_REALS("solref", mjcf_pair, def.soft.ref, 1, 2),
    FORM_REALS("solreffriction", mjcf_pair, def.soft_friction.ref, 1, 2),
    FORM_REALS("margin", mjcf_pair, def.margin, 1, 1),
    FORM_REALS("gap", mjcf_pair, def.gap, 1, 1),
    FORM_REALS("solimp", mjcf_pair, def.soft.imp, 1, 5),
    FORM_TEXTS("name", mjcf_pair, def.name),
    FORM_TEXTS("class", mjcf_pair, class_),
    FORM_TEXTS("geom1", mjcf_pair, first),
    FORM_TEXTS("geom2", mjcf_pair, second),
    FORM_REFUSE("adhesion", "0", "contacts do not pull"),
    FORM_END};
const form_row mjcf_exclude_rows[] = {FORM_TEXTS("name", mjcf_pair, def.name),
                                      FORM_TEXTS("body1", mjcf_pair, first),
                                      FORM_TEXTS("body2", mjcf_pair, second), FORM_END};

/* ---- Actuators ------------------------------------------------------------------------------- */

/* Every table starts with the same rows, so that their bits mean the same in classes and
 * elements. */
#define DRIVE_ROWS                                                                                 \
    FORM_TEXTS("name", mjcf_actuator, def.name), FORM_TEXTS("class", mjcf_actuator, class_),       \
        FORM_WORDS("ctrllimited", mjcf_actuator, ctrl_limited, LIMITED),                           \
        FORM_REALS("ctrlrange", mjcf_actuator, def.ctrl_range, 2, 2),                              \
        FORM_WORDS("forcelimited", mjcf_actuator, force_limited, LIMITED),                         \
        FORM_REALS("forcerange", mjcf_actuator, def.force_range, 2, 2),                            \
        FORM_REALS("gear", mjcf_actuator, def.gear, 1, 6),                                         \
        FORM_INTS("group", mjcf_actuator, def.group, 1, 1),                                        \
        FORM_TEXTS("joint", mjcf_actuator, joint),                                                 \
        FORM_TEXTS("jointinparent", mjcf_actuator, in_parent),                                     \
        FORM_TEXTS("tendon", mjcf_actuator, tendon), FORM_TEXTS("site", mjcf_actuator, site),      \
        FORM_TEXTS("refsite", mjcf_actuator, refsite),                                             \
        FORM_REALS("lengthrange", mjcf_actuator, def.length_range, 2, 2),                          \
        FORM_TEXTS("cranksite", mjcf_actuator, crank),                                             \
        FORM_TEXTS("slidersite", mjcf_actuator, slider),                                           \
        FORM_REALS("cranklength", mjcf_actuator, def.rod, 1, 1),                                   \
        FORM_REFUSE("damping", "0", "give it at the joint"),                                       \
        FORM_REFUSE("armature", "0", "give it at the joint"),                                      \
        FORM_REFUSE("delay", "0", "controls act at once: histories of them are not kept"),         \
        FORM_REFUSE("nsample", "0", "controls act at once: histories of them are not kept")
#define ACT_ROWS                                                                                   \
    FORM_WORDS("actlimited", mjcf_actuator, act_limited, LIMITED),                                 \
        FORM_REALS("actrange", mjcf_actuator, def.act_range, 2, 2)
#define DRIVE_QUIET "user interp"

const form_row mjcf_general_rows[] = {
    DRIVE_ROWS,
    ACT_ROWS,
    FORM_TEXTS("body", mjcf_actuator, body),
    FORM_WORDS("dyntype", mjcf_actuator, dyn,
               "none integrator filter filterexact muscle user dcmotor"),
    FORM_WORDS("gaintype", mjcf_actuator, gain, "fixed affine muscle user dcmotor"),
    FORM_WORDS("biastype", mjcf_actuator, bias_kind, "none affine muscle user dcmotor"),
    FORM_REALS("dynprm", mjcf_actuator, def.dyn_prm, 1, 10),
    FORM_REALS("gainprm", mjcf_actuator, def.gain_prm, 1, 10),
    FORM_REALS("biasprm", mjcf_actuator, def.bias_prm, 1, 10),
    FORM_WORDS("actearly", mjcf_actuator, def.act_early, BOOL),
    FORM_REFUSE("actdim", "-1 0 1", "an actuator has at most one activation"),
    FORM_REFUSE("input", "", "an actuator has one control"),
    FORM_REFUSE("velrange", "", "an actuator has one control"),
    FORM_REFUSE("ffrange", "", "an actuator has one control"),
    FORM_END};
const form_row mjcf_motor_rows[] = {DRIVE_ROWS, FORM_END};
const form_row mjcf_position_rows[] = {
    DRIVE_ROWS,
    FORM_REALS("kp", mjcf_actuator, kp, 1, 1),
    FORM_REALS("kv", mjcf_actuator, kv, 1, 1),
    FORM_REALS("timeconst", mjcf_actuator, timeconst, 1, 1),
    FORM_REALS("inheritrange", mjcf_actuator, inheritrange, 1, 1),
    FORM_REALS("dampratio", mjcf_actuator, ratio, 1, 1),
    FORM_END};
const form_row mjcf_velocity_rows[] = {DRIVE_ROWS, FORM_REALS("kv", mjcf_actuator, kv, 1, 1),
                                       FORM_END};
const form_row mjcf_intvelocity_rows[] = {
    DRIVE_ROWS,
    ACT_ROWS,
    FORM_REALS("kp", mjcf_actuator, kp, 1, 1),
    FORM_REALS("kv", mjcf_actuator, kv, 1, 1),
    FORM_REALS("inheritrange", mjcf_actuator, inheritrange, 1, 1),
    FORM_REALS("dampratio", mjcf_actuator, ratio, 1, 1),
    FORM_END};
const form_row mjcf_damper_rows[] = {DRIVE_ROWS, FORM_REALS("kv", mjcf_actuator, kv, 1, 1),
                                     FORM_END};
const form_row mjcf_cylinder_rows[] = {DRIVE_ROWS,
                                       FORM_REALS("timeconst", mjcf_actuator, timeconst, 1, 1),
                                       FORM_REALS("area", mjcf_actuator, area, 1, 1),
                                       FORM_REALS("diameter", mjcf_actuator, diameter, 1, 1),
                                       FORM_REALS("bias", mjcf_actuator, bias, 3, 3),
                                       FORM_END};

const form_row mjcf_muscle_rows[] = {DRIVE_ROWS,
                                     ACT_ROWS,
                                     FORM_REALS("timeconst", mjcf_actuator, muscle_time, 2, 2),
                                     FORM_REALS("tausmooth", mjcf_actuator, def.dyn_prm[2], 1, 1),
                                     FORM_REALS("range", mjcf_actuator, muscle, 2, 2),
                                     FORM_REALS("force", mjcf_actuator, muscle[2], 1, 1),
                                     FORM_REALS("scale", mjcf_actuator, muscle[3], 1, 1),
                                     FORM_REALS("lmin", mjcf_actuator, muscle[4], 1, 1),
                                     FORM_REALS("lmax", mjcf_actuator, muscle[5], 1, 1),
                                     FORM_REALS("vmax", mjcf_actuator, muscle[6], 1, 1),
                                     FORM_REALS("fpmax", mjcf_actuator, muscle[7], 1, 1),
                                     FORM_REALS("fvmax", mjcf_actuator, muscle[8], 1, 1),
                                     FORM_END};

const form_row mjcf_adhesion_rows[] = {
    FORM_TEXTS("name", mjcf_actuator, def.name),
    FORM_TEXTS("class", mjcf_actuator, class_),
    FORM_INTS("group", mjcf_actuator, def.group, 1, 1),
    FORM_WORDS("ctrllimited", mjcf_actuator, ctrl_limited, LIMITED),
    FORM_REALS("ctrlrange", mjcf_actuator, def.ctrl_range, 2, 2),
    FORM_WORDS("forcelimited", mjcf_actuator, force_limited, LIMITED),
    FORM_REALS("forcerange", mjcf_actuator, def.force_range, 2, 2),
    FORM_TEXTS("body", mjcf_actuator, body),
    FORM_REALS("gain", mjcf_actuator, def.gain_prm[0], 1, 1),
    FORM_REFUSE("delay", "0", "controls act at once: histories of them are not kept"),
    FORM_REFUSE("nsample", "0", "controls act at once: histories of them are not kept"),
    FORM_END};

#define DRIVE(word) FORM_READ(#word, mjcf_##word##_rows, DRIVE_QUIET, NULL)
const form_element mjcf_in_actuator[] = {
    DRIVE(general),
    DRIVE(motor),
    DRIVE(position),
    DRIVE(velocity),
    DRIVE(intvelocity),
    DRIVE(damper),
    DRIVE(cylinder),
    DRIVE(muscle),
    DRIVE(adhesion),
    FORM_NEVER("dcmotor",
               "a motor with its circuit (resistance, inductance, temperature) is not supported; "
               "<general> has its linear part"),
    FORM_NEVER("orientation",
               "a servo of an orientation (of a ball or free joint) is not supported"),
    FORM_NEVER("pid",
               "a servo with an integral part is not supported; <position> has the other two"),
    FORM_NEVER("plugin", "plugins of MuJoCo cannot be run"),
    FORM_LAST};

/* ---- Sensors --------------------------------------------------------------------------------- */

#define SENSOR_ROWS                                                                                \
    FORM_TEXTS("name", mjcf_sensor, def.name),                                                     \
        FORM_REALS("cutoff", mjcf_sensor, def.cutoff, 1, 1),                                       \
        FORM_REALS("noise", mjcf_sensor, def.noise, 1, 1),                                         \
        FORM_REALS("delay", mjcf_sensor, delay, 1, 1),                                             \
        FORM_REALS("interval", mjcf_sensor, interval, 1, 2)
#define SENSOR_QUIET "user interp nsample"
#define FRAMES "unspecified xbody body geom site camera"

const form_row mjcf_sensor_on_NOTHING[] = {SENSOR_ROWS, FORM_END};
const form_row mjcf_sensor_on_SITE[] = {SENSOR_ROWS, FORM_TEXTS("site", mjcf_sensor, target),
                                        FORM_END};
const form_row mjcf_sensor_on_JOINT[] = {SENSOR_ROWS, FORM_TEXTS("joint", mjcf_sensor, target),
                                         FORM_END};
const form_row mjcf_sensor_on_BODY[] = {SENSOR_ROWS, FORM_TEXTS("body", mjcf_sensor, target),
                                        FORM_END};
const form_row mjcf_sensor_on_TENDON[] = {SENSOR_ROWS, FORM_TEXTS("tendon", mjcf_sensor, target),
                                          FORM_END};
const form_row mjcf_sensor_on_ACTUATOR[] = {SENSOR_ROWS,
                                            FORM_TEXTS("actuator", mjcf_sensor, target), FORM_END};
const form_row mjcf_sensor_on_FRAME[] = {SENSOR_ROWS,
                                         FORM_TEXTS("objname", mjcf_sensor, target),
                                         FORM_WORDS("objtype", mjcf_sensor, frame, FRAMES),
                                         FORM_TEXTS("refname", mjcf_sensor, ref),
                                         FORM_WORDS("reftype", mjcf_sensor, ref_frame, FRAMES),
                                         FORM_END};

const form_row mjcf_sensor_on_INSIDE[] = {
    SENSOR_ROWS, FORM_TEXTS("site", mjcf_sensor, ref), FORM_TEXTS("objname", mjcf_sensor, target),
    FORM_WORDS("objtype", mjcf_sensor, frame, FRAMES), FORM_END};
const form_row mjcf_sensor_on_CONTACT[] = {
    SENSOR_ROWS,
    FORM_TEXTS("site", mjcf_sensor, subject[0]),
    FORM_TEXTS("geom1", mjcf_sensor, subject[1]),
    FORM_TEXTS("body1", mjcf_sensor, subject[2]),
    FORM_TEXTS("subtree1", mjcf_sensor, subject[3]),
    FORM_TEXTS("geom2", mjcf_sensor, subject[4]),
    FORM_TEXTS("body2", mjcf_sensor, subject[5]),
    FORM_TEXTS("subtree2", mjcf_sensor, subject[6]),
    FORM_INTS("num", mjcf_sensor, def.number, 1, 1),
    FORM_TEXTS("data", mjcf_sensor, data),
    FORM_WORDS("reduce", mjcf_sensor, def.reduce, "none mindist maxforce netforce"),
    FORM_END};

const form_row mjcf_sensor_on_RAY[] = {SENSOR_ROWS, FORM_TEXTS("site", mjcf_sensor, target),
                                       FORM_TEXTS("camera", mjcf_sensor, ref),
                                       FORM_TEXTS("data", mjcf_sensor, data), FORM_END};

const form_element mjcf_in_sensor[] = {
#define SENSOR(name, text, on, size) FORM_READ(text, mjcf_sensor_on_##on, SENSOR_QUIET, NULL),
    ZW_SENSOR_TABLE(SENSOR)
#undef SENSOR
    /* Sensors do not affect the motion: these are not supported yet, and are noted. */
    FORM_NOTE("camprojection", NULL, form_anything),
    FORM_NOTE("distance", NULL, form_anything),
    FORM_NOTE("normal", NULL, form_anything),
    FORM_NOTE("fromto", NULL, form_anything),
    FORM_NOTE("tactile", NULL, form_anything),
    FORM_NOTE("user", NULL, form_anything),
    FORM_NOTE("plugin", NULL, form_anything),
    FORM_LAST};

const form_row mjcf_key_rows[] = {FORM_TEXTS("name", mjcf_key, def.name),
                                  FORM_REALS("time", mjcf_key, def.time, 1, 1),
                                  FORM_LISTS("qpos", mjcf_key, qpos),
                                  FORM_LISTS("qvel", mjcf_key, qvel),
                                  FORM_LISTS("act", mjcf_key, act),
                                  FORM_LISTS("ctrl", mjcf_key, ctrl),
                                  FORM_LISTS("mpos", mjcf_key, mpos),
                                  FORM_LISTS("mquat", mjcf_key, mquat),
                                  FORM_END};

/* Elements and attributes of MJCF, from the root down to bodies; mjcf_table_link.c has the other
 * sections. The names are those of MuJoCo 2.2.2 and of the current release. */
#include "read/robot/mjcf.h"

#define LIMITED "false true auto"
#define BOOL "false true"

/* ---- Compiler, options ----------------------------------------------------------------------- */

/* Some attributes of <compiler> are for the reader, others are stored in the world. */
#define COMPILER_ROWS                                                                              \
    FORM_WORDS("autolimits", mjcf_compiler, autolimits, BOOL),                                     \
        FORM_WORDS("angle", mjcf_compiler, degree, "radian degree"),                               \
        FORM_WORDS("coordinate", mjcf_compiler, coordinate, "local global"),                       \
        FORM_TEXTS("eulerseq", mjcf_compiler, eulerseq),                                           \
        FORM_WORDS("exactmeshinertia", mjcf_compiler, exact, BOOL),                                \
        FORM_TEXTS("meshdir", mjcf_compiler, meshdir),                                             \
        FORM_TEXTS("assetdir", mjcf_compiler, assetdir),                                           \
        FORM_WORDS("strippath", mjcf_compiler, strippath, BOOL),                                   \
        FORM_WORDS("alignfree", mjcf_compiler, alignfree, BOOL),                                   \
        FORM_WORDS("fitaabb", mjcf_compiler, fitaabb, BOOL),                                       \
        FORM_DIFFER("fusestatic", "false", "in a fluid, MuJoCo takes welded bodies as one then"),  \
        FORM_DIFFER("discardvisual", "false", "in a fluid, MuJoCo drops what touches nothing"),    \
        FORM_DIFFER("conflict", "warning error", "options of attached models are not merged here")
#define MASS_ROWS                                                                                  \
    FORM_REALS("boundmass", zw_world_def, bound_mass, 1, 1),                                       \
        FORM_REALS("boundinertia", zw_world_def, bound_inertia, 1, 1),                             \
        FORM_WORDS("balanceinertia", zw_world_def, balance, BOOL),                                 \
        FORM_REALS("settotalmass", zw_world_def, total_mass, 1, 1),                                \
        FORM_WORDS("inertiafromgeom", zw_world_def, from_geoms, LIMITED),                          \
        FORM_INTS("inertiagrouprange", zw_world_def, group_range, 2, 2)

const form_row mjcf_compiler_rows[] = {COMPILER_ROWS, FORM_END};
const form_row mjcf_world_rows[] = {MASS_ROWS, FORM_END};

static const form_row compiler_all[] = {COMPILER_ROWS, MASS_ROWS, FORM_END};

#define SOLVED "MuJoCo's solver ends there; the soft law is solved to round-off here"
#define FOUND "points that MuJoCo finds by iterations are as exact as that"

/* Likewise: the reader stores the disabled groups of actuators, and what overrides contacts. */
#define OPTION_ROWS                                                                                \
    FORM_REALS("timestep", zw_world_def, timestep, 1, 1),                                          \
        FORM_REALS("gravity", zw_world_def, gravity, 3, 3),                                        \
        FORM_WORDS("integrator", zw_world_def, integrator, "Euler RK4 implicit implicitfast"),     \
        FORM_WORDS("cone", zw_world_def, elliptic, "pyramidal elliptic"),                          \
        FORM_REALS("impratio", zw_world_def, impratio, 1, 1),                                      \
        FORM_REALS("magnetic", zw_world_def, magnetic, 3, 3),                                      \
        FORM_REALS("sleep_tolerance", zw_world_def, sleep_tolerance, 1, 1),                        \
        FORM_REALS("wind", zw_world_def, wind, 3, 3),                                              \
        FORM_REALS("density", zw_world_def, density, 1, 1),                                        \
        FORM_REALS("viscosity", zw_world_def, viscosity, 1, 1),                                    \
        FORM_REFUSE("collision", "all", "contype, pairs and excludes decide which pairs collide"), \
        FORM_DIFFER("noslip_iterations", "0", "MuJoCo changes friction afterwards by it"),         \
        FORM_DIFFER("solver", "Newton", "MuJoCo's ends before the soft law is solved"),            \
        FORM_DIFFER("iterations", "100", SOLVED), FORM_DIFFER("tolerance", "1e-8", SOLVED),        \
        FORM_DIFFER("ls_iterations", "50", SOLVED), FORM_DIFFER("ls_tolerance", "0.01", SOLVED),   \
        FORM_DIFFER("ccd_iterations", NULL, FOUND), FORM_DIFFER("ccd_tolerance", "1e-6", FOUND),   \
        FORM_DIFFER("mpr_iterations", NULL, FOUND), FORM_DIFFER("mpr_tolerance", "1e-6", FOUND)
#define GROUPS_OFF FORM_LISTS("actuatorgroupdisable", mjcf_groups, list)
#define OVERRIDE_ROWS                                                                              \
    FORM_REALS("o_margin", mjcf_override, margin, 1, 1),                                           \
        FORM_REALS("o_solref", mjcf_override, soft.ref, 1, 2),                                     \
        FORM_REALS("o_solimp", mjcf_override, soft.imp, 1, 5),                                     \
        FORM_REALS("o_friction", mjcf_override, friction, 1, 5)

const form_row mjcf_option_rows[] = {OPTION_ROWS, FORM_END};
const form_row mjcf_groups_rows[] = {GROUPS_OFF, FORM_END};
const form_row mjcf_override_rows[] = {OVERRIDE_ROWS, FORM_END};
static const form_row option_all[] = {OPTION_ROWS, GROUPS_OFF, OVERRIDE_ROWS, FORM_END};

#define POINTS "meshes, cylinders and ellipsoids have other points of contact in MuJoCo"
#define FLAG(word) FORM_WORDS(word, mjcf_frame, count, "disable enable")
const form_row mjcf_flag_rows[] = {
    FLAG("constraint"),
    FLAG("equality"),
    FLAG("frictionloss"),
    FLAG("limit"),
    FLAG("contact"),
    FLAG("spring"),
    FLAG("damper"),
    FLAG("passive"),
    FLAG("gravity"),
    FLAG("clampctrl"),
    FLAG("filterparent"),
    FLAG("actuation"),
    FLAG("sensor"),
    FLAG("refsafe"),
    FLAG("eulerdamp"),
    FLAG("sleep"),
    FLAG("override"),
    FORM_DIFFER("nativeccd", "enable", POINTS),
    FORM_DIFFER("multiccd", "enable", POINTS),
    FORM_DIFFER("diagexact", "disable", "MuJoCo's compliance is that of the present pose"),
    FORM_REFUSE("ipc", "disable", "there is no such contact here"),
    FORM_END};

static const form_element in_option[] = {
    FORM_READ("flag", mjcf_flag_rows,
              "warmstart midphase autoreset island energy fwdinv invdiscrete sensornoise", NULL),
    FORM_LAST};

const form_row mjcf_reach_rows[] = {
    FORM_WORDS("useexisting", zw_muscle_search, always, "true false"),
    FORM_WORDS("uselimit", zw_muscle_search, limits, BOOL),
    FORM_REALS("accel", zw_muscle_search, accel, 1, 1),
    FORM_REALS("maxforce", zw_muscle_search, force, 1, 1),
    FORM_REALS("timeconst", zw_muscle_search, fading, 1, 1),
    FORM_REALS("timestep", zw_muscle_search, step, 1, 1),
    FORM_REALS("inttotal", zw_muscle_search, time, 1, 1),
    FORM_REALS("interval", zw_muscle_search, window, 1, 1),
    FORM_REALS("tolrange", zw_muscle_search, tolerance, 1, 1),
    FORM_REFUSE("mode", "muscle muscleuser all", "a muscle has a range of lengths"),
    FORM_END};

static const form_element in_compiler[] = {FORM_READ("lengthrange", mjcf_reach_rows, NULL, NULL),
                                           FORM_LAST};

/* ---- Looks ----------------------------------------------------------------------------------- */

static const form_element in_visual[] = {
    FORM_NOTE("global",
              "cameraid orthographic fovy ipd azimuth elevation linewidth glow offwidth offheight "
              "realtime ellipsoidinertia bvactive",
              NULL),
    FORM_NOTE("quality", "shadowsize offsamples numslices numstacks numquads", NULL),
    FORM_NOTE("headlight", "ambient diffuse specular active", NULL),
    FORM_NOTE("map",
              "stiffness stiffnessrot force torque alpha fogstart fogend znear zfar haze "
              "shadowclip shadowscale actuatortendon",
              NULL),
    FORM_NOTE("scale",
              "forcewidth contactwidth contactheight connect com camera light selectpoint "
              "jointlength jointwidth actuatorlength actuatorwidth framelength framewidth "
              "constraint slidercrank frustum",
              NULL),
    FORM_NOTE("rgba",
              "fog haze force inertia joint actuator actuatornegative actuatorpositive com camera "
              "light selectpoint connect contactpoint contactforce contactfriction contacttorque "
              "contactgap rangefinder constraint slidercrank crankbroken frustum bv bvactive",
              NULL),
    FORM_LAST};

#define MATERIAL                                                                                   \
    "name class texture texrepeat texuniform emission specular shininess reflectance metallic "    \
    "roughness rgba"
#define CAMERA                                                                                     \
    "name class projection fovy ipd resolution output pos quat axisangle xyaxes zaxis euler mode " \
    "target focal focalpixel principal principalpixel sensorsize user"
#define LIGHT                                                                                      \
    "name class directional type castshadow active pos dir bulbradius intensity range "            \
    "attenuation cutoff softness exponent ambient diffuse specular mode target texture"

static const form_element in_material[] = {FORM_NOTE("layer", "texture role", NULL), FORM_LAST};
static const form_element in_skin[] = {
    FORM_NOTE("bone", "body bindpos bindquat vertid vertweight", NULL), FORM_LAST};
#define SKIN                                                                                       \
    FORM_NOTE("skin", "name file material rgba inflate vertex texcoord face group", in_skin)

static const form_element in_deformable[] = {FORM_NEVER("flex", "only rigid bodies are supported"),
                                             SKIN, FORM_LAST};

static const form_element in_tuple[] = {FORM_NOTE("element", "objtype objname prm", NULL),
                                        FORM_LAST};
/* The numerics `restitution`, `restitution_speed` and `contact_capacity` and the text `triangles`
 * are read: mjcf_custom. */
typedef struct numeric {
    const char *name, *size, *data;
} numeric;
static const form_row numeric_rows[] = {FORM_TEXTS("name", numeric, name),
                                        FORM_TEXTS("size", numeric, size),
                                        FORM_TEXTS("data", numeric, data), FORM_END};
static const form_row text_rows[] = {FORM_TEXTS("name", numeric, name),
                                     FORM_TEXTS("data", numeric, data), FORM_END};
static const form_element in_custom[] = {FORM_READ("numeric", numeric_rows, NULL, NULL),
                                         FORM_READ("text", text_rows, NULL, NULL),
                                         FORM_NOTE("tuple", "name", in_tuple), FORM_LAST};

/* ---- Assets ---------------------------------------------------------------------------------- */

const form_row mjcf_hfield_rows[] = {FORM_TEXTS("name", mjcf_hfield, name),
                                     FORM_TEXTS("file", mjcf_hfield, file),
                                     FORM_INTS("nrow", mjcf_hfield, nrow, 1, 1),
                                     FORM_INTS("ncol", mjcf_hfield, ncol, 1, 1),
                                     FORM_LISTS("elevation", mjcf_hfield, elevation),
                                     FORM_REALS("size", mjcf_hfield, size, 4, 4),
                                     FORM_END};

const form_row mjcf_material_rows[] = {FORM_TEXTS("name", mjcf_material, name),
                                       FORM_TEXTS("texture", mjcf_material, texture),
                                       FORM_REALS("rgba", mjcf_material, rgba, 0, 4),
                                       FORM_REALS("specular", mjcf_material, specular, 1, 1),
                                       FORM_REALS("shininess", mjcf_material, shininess, 1, 1),
                                       FORM_END};

const form_row mjcf_mesh_rows[] = {
    FORM_TEXTS("name", mjcf_mesh, name),
    FORM_TEXTS("class", mjcf_mesh, class_),
    FORM_TEXTS("file", mjcf_mesh, file),
    FORM_LISTS("vertex", mjcf_mesh, vertex),
    FORM_LISTS("face", mjcf_mesh, face),
    FORM_REALS("scale", mjcf_mesh, scale, 3, 3),
    FORM_REALS("refpos", mjcf_mesh, refpos, 3, 3),
    FORM_REALS("refquat", mjcf_mesh, refquat, 4, 4),
    FORM_WORDS("inertia", mjcf_mesh, inertia, "exact legacy shell convex"),
    FORM_WORDS("builtin", mjcf_mesh, builtin,
               "none sphere hemisphere cone supersphere supertorus wedge plate"),
    FORM_LISTS("params", mjcf_mesh, params),
    FORM_DIFFER("maxhullvert", "-1", "the hull has all its corners here"),
    FORM_END};

const form_row mjcf_model_rows[] = {FORM_TEXTS("name", mjcf_attach, name),
                                    FORM_TEXTS("file", mjcf_attach, file), FORM_END};

static const form_element in_plugged[] = {FORM_NEVER("plugin", "plugins of MuJoCo cannot be run"),
                                          FORM_LAST};

static const form_element in_asset[] = {
    FORM_READ("mesh", mjcf_mesh_rows, "content_type normal texcoord smoothnormal material",
              in_plugged),
    FORM_NOTE("texture",
              "name type colorspace content_type file gridsize gridlayout fileright fileleft "
              "fileup filedown filefront fileback builtin rgb1 rgb2 mark markrgb random width "
              "height hflip vflip nchannel",
              NULL),
    FORM_READ("material", mjcf_material_rows,
              "class texrepeat texuniform emission reflectance metallic roughness", in_material),
    SKIN,
    FORM_READ("hfield", mjcf_hfield_rows, "content_type", NULL),
    FORM_READ("model", mjcf_model_rows, "content_type", NULL),
    FORM_LAST};

/* ---- Bodies ---------------------------------------------------------------------------------- */

const form_row mjcf_body_rows[] = {
    FORM_TEXTS("name", mjcf_body, def.name),
    FORM_TEXTS("childclass", mjcf_body, childclass),
    FORM_REALS("pos", mjcf_body, def.pos, 3, 3),
    MJCF_TURN_ROWS(mjcf_body),
    FORM_REALS("gravcomp", mjcf_body, def.gravcomp, 1, 1),
    FORM_WORDS("mocap", mjcf_body, def.mocap, BOOL),
    FORM_DIFFER("sleep", "auto allowed", "all bodies may sleep"),
    FORM_DIFFER("simple", "auto true", "steps by implicitfast take it as simple"),
    FORM_END};

const form_row mjcf_inertial_rows[] = {FORM_REALS("pos", mjcf_inertial, pos, 3, 3),
                                       MJCF_TURN_ROWS(mjcf_inertial),
                                       FORM_REALS("mass", mjcf_inertial, mass, 1, 1),
                                       FORM_REALS("diaginertia", mjcf_inertial, diagonal, 3, 3),
                                       FORM_REALS("fullinertia", mjcf_inertial, full, 6, 6),
                                       FORM_END};

const form_row mjcf_joint_rows[] = {
    FORM_TEXTS("name", mjcf_joint, def.name),
    FORM_TEXTS("class", mjcf_joint, class_),
    FORM_WORDS("type", mjcf_joint, def.kind, "free ball slide hinge"),
    FORM_REALS("pos", mjcf_joint, def.pos, 3, 3),
    FORM_REALS("axis", mjcf_joint, def.axis, 3, 3),
    FORM_WORDS("limited", mjcf_joint, limited, LIMITED),
    FORM_REALS("range", mjcf_joint, def.range, 2, 2),
    FORM_REALS("margin", mjcf_joint, def.margin, 1, 1),
    FORM_REALS("ref", mjcf_joint, def.ref, 1, 1),
    FORM_REALS("springref", mjcf_joint, def.springref, 1, 1),
    FORM_REALS("stiffness", mjcf_joint, def.stiffness, 1, 1),
    FORM_REALS("damping", mjcf_joint, def.damping, 1, 1),
    FORM_REALS("armature", mjcf_joint, def.armature, 1, 1),
    FORM_REALS("frictionloss", mjcf_joint, def.frictionloss, 1, 1),
    FORM_WORDS("actuatorfrclimited", mjcf_joint, force_limited, LIMITED),
    FORM_REALS("actuatorfrcrange", mjcf_joint, def.force_range, 2, 2),
    FORM_REALS("solreflimit", mjcf_joint, def.soft_limit.ref, 1, 2),
    FORM_REALS("solimplimit", mjcf_joint, def.soft_limit.imp, 1, 5),
    FORM_REALS("solreffriction", mjcf_joint, def.soft_friction.ref, 1, 2),
    FORM_REALS("solimpfriction", mjcf_joint, def.soft_friction.imp, 1, 5),
    FORM_REALS("springdamper", mjcf_joint, def.springdamper, 2, 2),
    FORM_WORDS("actuatorgravcomp", mjcf_joint, def.motor_lifts, BOOL),
    FORM_END};

const form_row mjcf_freejoint_rows[] = {FORM_TEXTS("name", mjcf_joint, def.name),
                                        FORM_WORDS("align", mjcf_joint, align, LIMITED), FORM_END};

#define SURFACE_ROWS                                                                               \
    FORM_REFUSE("surfacevel", "0 0 0 0 0 0",                                                       \
                "surfaces that move by themselves (conveyor belts) are not supported yet"),        \
        FORM_REFUSE("adhesion", "0",                                                               \
                    "surfaces that stick to each other are not supported; the actuator "           \
                    "<adhesion> is")

const form_row mjcf_geom_rows[] = {
    FORM_TEXTS("name", mjcf_geom, def.name),
    FORM_TEXTS("class", mjcf_geom, class_),
    FORM_WORDS("type", mjcf_geom, def.shape,
               "plane sphere capsule ellipsoid cylinder box mesh hfield cone sdf"),
    FORM_REALS("size", mjcf_geom, def.size, 1, 3),
    FORM_REALS("pos", mjcf_geom, def.pos, 3, 3),
    MJCF_TURN_ROWS(mjcf_geom),
    FORM_REALS("fromto", mjcf_geom, fromto, 6, 6),
    FORM_TEXTS("mesh", mjcf_geom, mesh),
    FORM_TEXTS("hfield", mjcf_geom, hfield),
    FORM_REALS("fitscale", mjcf_geom, fitscale, 1, 1),
    FORM_REALS("mass", mjcf_geom, def.mass, 1, 1),
    FORM_REALS("density", mjcf_geom, def.density, 1, 1),
    FORM_WORDS("shellinertia", mjcf_geom, def.shell, BOOL),
    FORM_INTS("group", mjcf_geom, def.group, 1, 1),
    FORM_INTS("contype", mjcf_geom, def.contype, 1, 1),
    FORM_INTS("conaffinity", mjcf_geom, def.conaffinity, 1, 1),
    FORM_INTS("condim", mjcf_geom, def.condim, 1, 1),
    FORM_INTS("priority", mjcf_geom, def.priority, 1, 1),
    FORM_REALS("friction", mjcf_geom, def.friction, 1, 3),
    FORM_REALS("solmix", mjcf_geom, def.solmix, 1, 1),
    FORM_REALS("solref", mjcf_geom, def.soft.ref, 1, 2),
    FORM_REALS("solimp", mjcf_geom, def.soft.imp, 1, 5),
    FORM_REALS("margin", mjcf_geom, def.margin, 1, 1),
    FORM_REALS("gap", mjcf_geom, def.gap, 1, 1),
    FORM_WORDS("fluidshape", mjcf_geom, def.fluid, "none ellipsoid"),
    FORM_REALS("fluidcoef", mjcf_geom, def.fluid_coef, 1, 5),
    FORM_REALS("rgba", mjcf_geom, def.rgba, 0, 4),
    FORM_TEXTS("material", mjcf_geom, material),
    FORM_REFUSE("restitution", "0",
                "say it by <custom><numeric name=\"restitution:NAME\" data=\"0.8\"/></custom>"),
    SURFACE_ROWS,
    FORM_END};

const form_row mjcf_site_rows[] = {
    FORM_TEXTS("name", mjcf_site, def.name),
    FORM_TEXTS("class", mjcf_site, class_),
    FORM_WORDS("type", mjcf_site, def.shape, "plane sphere capsule ellipsoid cylinder box mesh"),
    FORM_REALS("size", mjcf_site, def.size, 1, 3),
    FORM_REALS("pos", mjcf_site, def.pos, 3, 3),
    MJCF_TURN_ROWS(mjcf_site),
    FORM_REALS("fromto", mjcf_site, fromto, 6, 6),
    FORM_INTS("group", mjcf_site, def.group, 1, 1),
    FORM_END};

const form_row mjcf_frame_rows[] = {
    FORM_TEXTS("name", mjcf_frame, name), FORM_TEXTS("childclass", mjcf_frame, childclass),
    FORM_REALS("pos", mjcf_frame, pos, 3, 3), MJCF_TURN_ROWS(mjcf_frame), FORM_END};

const form_row mjcf_replicate_rows[] = {
    FORM_INTS("count", mjcf_frame, count, 1, 1),       FORM_REALS("offset", mjcf_frame, pos, 3, 3),
    FORM_REALS("euler", mjcf_frame, turn.euler, 3, 3), FORM_TEXTS("sep", mjcf_frame, sep),
    FORM_TEXTS("childclass", mjcf_frame, childclass),  FORM_END};

const form_row mjcf_attach_rows[] = {
    FORM_TEXTS("model", mjcf_attach, model), FORM_TEXTS("body", mjcf_attach, body),
    FORM_TEXTS("prefix", mjcf_attach, prefix),
    FORM_REFUSE("frame", "", "bodies are attached by their name, frames are not kept"), FORM_END};

/* The parts of a cable: MuJoCo ignores type and axis of the joints, and whether they are
 * limited. */
const form_row mjcf_composite_rows[] = {FORM_TEXTS("type", mjcf_composite, type),
                                        FORM_TEXTS("prefix", mjcf_composite, prefix),
                                        FORM_INTS("count", mjcf_composite, count, 1, 3),
                                        FORM_REALS("offset", mjcf_composite, offset, 3, 3),
                                        FORM_REALS("quat", mjcf_composite, quat, 4, 4),
                                        FORM_LISTS("vertex", mjcf_composite, vertex),
                                        FORM_TEXTS("initial", mjcf_composite, initial),
                                        FORM_TEXTS("curve", mjcf_composite, curve),
                                        FORM_REALS("size", mjcf_composite, size, 1, 3),
                                        FORM_END};
const form_row mjcf_cable_joint_rows[] = {
    FORM_REALS("range", mjcf_joint, def.range, 2, 2),
    FORM_REALS("margin", mjcf_joint, def.margin, 1, 1),
    FORM_REALS("stiffness", mjcf_joint, def.stiffness, 1, 1),
    FORM_REALS("damping", mjcf_joint, def.damping, 1, 1),
    FORM_REALS("armature", mjcf_joint, def.armature, 1, 1),
    FORM_REALS("frictionloss", mjcf_joint, def.frictionloss, 1, 1),
    FORM_REALS("solreflimit", mjcf_joint, def.soft_limit.ref, 1, 2),
    FORM_REALS("solimplimit", mjcf_joint, def.soft_limit.imp, 1, 5),
    FORM_REALS("solreffriction", mjcf_joint, def.soft_friction.ref, 1, 2),
    FORM_REALS("solimpfriction", mjcf_joint, def.soft_friction.imp, 1, 5),
    FORM_END};
const form_row mjcf_cable_geom_rows[] = {
    FORM_WORDS("type", mjcf_geom, def.shape,
               "plane sphere capsule ellipsoid cylinder box mesh hfield cone sdf"),
    FORM_REALS("size", mjcf_geom, def.size, 1, 3),
    FORM_REALS("mass", mjcf_geom, def.mass, 1, 1),
    FORM_REALS("density", mjcf_geom, def.density, 1, 1),
    FORM_INTS("group", mjcf_geom, def.group, 1, 1),
    FORM_INTS("contype", mjcf_geom, def.contype, 1, 1),
    FORM_INTS("conaffinity", mjcf_geom, def.conaffinity, 1, 1),
    FORM_INTS("condim", mjcf_geom, def.condim, 1, 1),
    FORM_INTS("priority", mjcf_geom, def.priority, 1, 1),
    FORM_REALS("friction", mjcf_geom, def.friction, 1, 3),
    FORM_REALS("solmix", mjcf_geom, def.solmix, 1, 1),
    FORM_REALS("solref", mjcf_geom, def.soft.ref, 1, 2),
    FORM_REALS("solimp", mjcf_geom, def.soft.imp, 1, 5),
    FORM_REALS("margin", mjcf_geom, def.margin, 1, 1),
    FORM_REALS("gap", mjcf_geom, def.gap, 1, 1),
    FORM_REALS("rgba", mjcf_geom, def.rgba, 0, 4),
    FORM_TEXTS("material", mjcf_geom, material),
    SURFACE_ROWS,
    FORM_END};
const form_row mjcf_cable_site_rows[] = {FORM_REALS("size", mjcf_site, def.size, 1, 3),
                                         FORM_INTS("group", mjcf_site, def.group, 1, 1), FORM_END};
static const form_element in_composite[] = {
    FORM_READ("joint", mjcf_cable_joint_rows, "kind group axis type limited solreffix solimpfix",
              NULL),
    FORM_READ("geom", mjcf_cable_geom_rows, NULL, NULL),
    FORM_READ("site", mjcf_cable_site_rows, "material rgba", NULL),
    FORM_NOTE("skin", "texcoord material group rgba inflate subgrid", NULL),
    FORM_NOTE("tendon", NULL, form_anything), /* of types that MuJoCo dropped */
    FORM_NOTE("pin", NULL, form_anything),
    FORM_NEVER("plugin", "plugins of MuJoCo cannot be run: this one makes a cable stiff"),
    FORM_LAST};

#define JOINT_QUIET "group user"
#define GEOM_QUIET "user"
#define SITE_QUIET "material rgba user mesh"

const form_element mjcf_in_body[] = {
    FORM_READ("inertial", mjcf_inertial_rows, NULL, NULL),
    FORM_READ("joint", mjcf_joint_rows, JOINT_QUIET, NULL),
    FORM_READ("freejoint", mjcf_freejoint_rows, "group", NULL),
    FORM_READ("geom", mjcf_geom_rows, GEOM_QUIET, in_plugged),
    FORM_READ("site", mjcf_site_rows, SITE_QUIET, NULL),
    FORM_READ("body", mjcf_body_rows, "user fuse", mjcf_in_body),
    FORM_READ("frame", mjcf_frame_rows, NULL, mjcf_in_body),
    FORM_READ("replicate", mjcf_replicate_rows, "prefix", mjcf_in_body),
    FORM_NOTE("camera", CAMERA, NULL),
    FORM_NOTE("light", LIGHT, NULL),
    FORM_READ("attach", mjcf_attach_rows, NULL, NULL),
    FORM_READ("composite", mjcf_composite_rows, "spacing flatinertia", in_composite),
    FORM_NEVER("flexcomp", "only rigid bodies are supported"),
    FORM_NEVER("plugin", "plugins of MuJoCo cannot be run"),
    FORM_LAST};

/* ---- The root -------------------------------------------------------------------------------- */

#define DRIVE(word) FORM_READ(#word, mjcf_##word##_rows, "user interp", NULL)

static const form_row default_rows[] = {FORM_TEXTS("class", mjcf_class, name), FORM_END};

const form_element mjcf_in_default[] = {
    FORM_READ("mesh", mjcf_mesh_rows, NULL, NULL),
    FORM_READ("joint", mjcf_joint_rows, JOINT_QUIET, NULL),
    FORM_READ("geom", mjcf_geom_rows, GEOM_QUIET, NULL),
    FORM_READ("site", mjcf_site_rows, SITE_QUIET, NULL),
    FORM_READ("pair", mjcf_pair_rows, NULL, NULL),
    FORM_READ("equality", mjcf_equality_rows, NULL, NULL),
    FORM_READ("tendon", mjcf_tendon_rows, "group width material rgba user", NULL),
    DRIVE(general),
    DRIVE(motor),
    DRIVE(position),
    DRIVE(velocity),
    DRIVE(intvelocity),
    DRIVE(damper),
    DRIVE(cylinder),
    DRIVE(muscle),
    DRIVE(adhesion),
    FORM_NOTE("dcmotor", NULL, form_anything),
    FORM_NOTE("orientation", NULL, form_anything),
    FORM_NOTE("pid", NULL, form_anything),
    FORM_NOTE("material", MATERIAL, in_material),
    FORM_NOTE("camera", CAMERA, NULL),
    FORM_NOTE("light", LIGHT, NULL),
    FORM_READ("default", default_rows, NULL, mjcf_in_default),
    FORM_LAST};

static const form_element in_contact[] = {FORM_READ("pair", mjcf_pair_rows, NULL, NULL),
                                          FORM_READ("exclude", mjcf_exclude_rows, NULL, NULL),
                                          FORM_LAST};

static const form_element in_equality[] = {
    FORM_READ("connect", mjcf_connect_rows, NULL, NULL),
    FORM_READ("weld", mjcf_weld_rows, NULL, NULL),
    FORM_READ("joint", mjcf_couple_rows, NULL, NULL),
    FORM_READ("tendon", mjcf_couple_tendon_rows, NULL, NULL),
    FORM_NEVER("distance", "MuJoCo dropped this element (between surfaces of geoms)"),
    FORM_NEVER("flex", "only rigid bodies are supported"),
    FORM_NEVER("flexvert", "only rigid bodies are supported"),
    FORM_NEVER("flexstrain", "only rigid bodies are supported"),
    FORM_LAST};

static const form_element in_fixed[] = {FORM_READ("joint", mjcf_pull_rows, NULL, NULL), FORM_LAST};

static const form_element in_spatial[] = {
    FORM_READ("site", mjcf_stop_rows, NULL, NULL), FORM_READ("geom", mjcf_wrap_rows, NULL, NULL),
    FORM_READ("pulley", mjcf_pulley_rows, NULL, NULL), FORM_LAST};

static const form_element in_tendon[] = {
    FORM_READ("fixed", mjcf_fixed_rows, "group user", in_fixed),
    FORM_READ("spatial", mjcf_fixed_rows, "group width material rgba user", in_spatial), FORM_LAST};

static const form_element in_keyframe[] = {FORM_READ("key", mjcf_key_rows, NULL, NULL), FORM_LAST};

static const form_element in_root[] = {
    FORM_READ("compiler", compiler_all, "texturedir usethread saveinertial convexhull",
              in_compiler),
    FORM_READ("option", option_all,
              "apirate noslip_tolerance jacobian sdf_iterations sdf_initpoints", in_option),
    FORM_READ("default", default_rows, NULL, mjcf_in_default),
    FORM_READ("asset", NULL, NULL, in_asset), FORM_READ("worldbody", NULL, "name", mjcf_in_body),
    FORM_READ("contact", NULL, NULL, in_contact), FORM_READ("equality", NULL, NULL, in_equality),
    FORM_READ("tendon", NULL, NULL, in_tendon), FORM_READ("actuator", NULL, NULL, mjcf_in_actuator),
    FORM_READ("sensor", NULL, NULL, mjcf_in_sensor), FORM_READ("keyframe", NULL, NULL, in_keyframe),
    FORM_NOTE("size",
              "memory njmax nconmax nstack nuserdata nkey nuser_body nuser_jnt nuser_geom "
              "nuser_site nuser_cam nuser_tendon nuser_actuator nuser_sensor",
              NULL),
    FORM_NOTE("visual", NULL, in_visual),
    FORM_NOTE("statistic", "meaninertia meanmass meansize extent center", NULL),
    FORM_READ("custom", NULL, NULL, in_custom), FORM_READ("deformable", NULL, NULL, in_deformable),
    FORM_NOTE("extension", NULL, form_anything), /* refused where a plugin is used */
    /* outside <worldbody>, as in files that others include there: MuJoCo ignores them */
    FORM_NOTE("body",
              "name childclass pos quat axisangle xyaxes zaxis euler mocap gravcomp sleep user",
              mjcf_in_body),
    FORM_NOTE("frame", "name childclass pos quat axisangle xyaxes zaxis euler", mjcf_in_body),
    FORM_LAST};

const form_element mjcf_form = FORM_READ("mujoco", NULL, "model", in_root);

/* Elements and attributes of URDF. */
#include "read/robot/mjcf.h"
#include "read/robot/urdf.h"

const form_row urdf_origin_rows[] = {FORM_REALS("xyz", urdf_origin, xyz, 3, 3),
                                     FORM_REALS("rpy", urdf_origin, rpy, 3, 3), FORM_END};
const form_row urdf_mass_rows[] = {FORM_REALS("value", urdf_inertia, value, 1, 1), FORM_END};
const form_row urdf_inertia_rows[] = {FORM_REALS("ixx", urdf_inertia, value[0], 1, 1),
                                      FORM_REALS("iyy", urdf_inertia, value[1], 1, 1),
                                      FORM_REALS("izz", urdf_inertia, value[2], 1, 1),
                                      FORM_REALS("ixy", urdf_inertia, value[3], 1, 1),
                                      FORM_REALS("ixz", urdf_inertia, value[4], 1, 1),
                                      FORM_REALS("iyz", urdf_inertia, value[5], 1, 1),
                                      FORM_END};
const form_row urdf_box_rows[] = {FORM_REALS("size", urdf_shape, size, 3, 3), FORM_END};
const form_row urdf_round_rows[] = {FORM_REALS("radius", urdf_shape, radius, 1, 1),
                                    FORM_REALS("length", urdf_shape, length, 1, 1), FORM_END};
const form_row urdf_sphere_rows[] = {FORM_REALS("radius", urdf_shape, radius, 1, 1), FORM_END};
const form_row urdf_ellipsoid_rows[] = {FORM_REALS("a", urdf_shape, axes[0], 1, 1),
                                        FORM_REALS("b", urdf_shape, axes[1], 1, 1),
                                        FORM_REALS("c", urdf_shape, axes[2], 1, 1), FORM_END};
const form_row urdf_plane_rows[] = {FORM_REALS("normal", urdf_shape, normal, 3, 3), FORM_END};
const form_row urdf_mesh_rows[] = {
    FORM_TEXTS("filename", urdf_shape, file), FORM_REALS("scale", urdf_shape, scale, 3, 3),
    FORM_WORDS("triangles", urdf_shape, triangles, "false true"), FORM_END};
const form_row urdf_joint_rows[] = {
    FORM_TEXTS("name", urdf_name, name),
    FORM_WORDS("type", urdf_name, type,
               "revolute continuous prismatic fixed floating planar spherical ball"),
    FORM_END};
const form_row urdf_axis_rows[] = {FORM_REALS("xyz", urdf_origin, xyz, 3, 3), FORM_END};
const form_row urdf_limit_rows[] = {FORM_REALS("lower", urdf_limit, lower, 1, 1),
                                    FORM_REALS("upper", urdf_limit, upper, 1, 1),
                                    FORM_REALS("effort", urdf_limit, effort, 1, 1), FORM_END};
const form_row urdf_dynamics_rows[] = {FORM_REALS("damping", urdf_limit, damping, 1, 1),
                                       FORM_REALS("friction", urdf_limit, friction, 1, 1),
                                       FORM_END};
const form_row urdf_mimic_rows[] = {FORM_TEXTS("joint", urdf_limit, joint),
                                    FORM_REALS("multiplier", urdf_limit, multiplier, 1, 1),
                                    FORM_REALS("offset", urdf_limit, offset, 1, 1), FORM_END};

const form_row urdf_compiler_rows[] = {
    FORM_TEXTS("meshdir", urdf_compiler, meshdir),
    FORM_REALS("boundmass", urdf_compiler, world.bound_mass, 1, 1),
    FORM_REALS("boundinertia", urdf_compiler, world.bound_inertia, 1, 1),
    FORM_WORDS("balanceinertia", urdf_compiler, world.balance, "false true"),
    FORM_REALS("settotalmass", urdf_compiler, world.total_mass, 1, 1),
    FORM_WORDS("inertiafromgeom", urdf_compiler, world.from_geoms, "false true auto"),
    FORM_END};

static const form_row name_rows[] = {FORM_TEXTS("name", urdf_name, name), FORM_END};
static const form_row link_name_rows[] = {FORM_TEXTS("link", urdf_name, name), FORM_END};

#define ORIGIN FORM_READ("origin", urdf_origin_rows, NULL, NULL)

const form_row urdf_value_rows[] = {FORM_REALS("value", urdf_value, value, 1, 1), FORM_END};
const form_row urdf_colour_rows[] = {FORM_REALS("rgba", urdf_colour, rgba, 0, 4), FORM_END};
const form_row urdf_mu_rows[] = {FORM_REALS("mu", urdf_value, value, 1, 1), FORM_END};

static const form_element in_inertial[] = {
    ORIGIN, FORM_READ("mass", urdf_mass_rows, NULL, NULL),
    FORM_READ("density", urdf_value_rows, NULL, NULL),
    FORM_READ("inertia", urdf_inertia_rows, "iyx izx izy", NULL), FORM_LAST};

static const form_element in_geometry[] = {
    FORM_READ("box", urdf_box_rows, NULL, NULL),
    FORM_READ("cylinder", urdf_round_rows, NULL, NULL),
    FORM_READ("capsule", urdf_round_rows, NULL, NULL),
    FORM_READ("drake:capsule", urdf_round_rows, NULL, NULL),
    FORM_READ("drake:ellipsoid", urdf_ellipsoid_rows, NULL, NULL),
    FORM_READ("cone", urdf_round_rows, NULL, NULL),
    FORM_READ("sphere", urdf_sphere_rows, NULL, NULL),
    FORM_READ("plane", urdf_plane_rows, NULL, NULL),
    FORM_READ("mesh", urdf_mesh_rows, NULL, NULL),
    FORM_LAST};

static const form_element in_collision[] = {
    ORIGIN, FORM_READ("geometry", NULL, NULL, in_geometry), FORM_NOTE("verbose", "value", NULL),
    FORM_READ("contact_coefficients", urdf_mu_rows, "kp kd", NULL), FORM_LAST};

/* As Bullet reads it. */
static const form_element in_contact[] = {
    FORM_READ("lateral_friction", urdf_value_rows, NULL, NULL),
    FORM_READ("spinning_friction", urdf_value_rows, NULL, NULL),
    FORM_READ("rolling_friction", urdf_value_rows, NULL, NULL),
    FORM_READ("restitution", urdf_value_rows, NULL, NULL),
    FORM_NOTE("stiffness", "value", NULL),
    FORM_NOTE("damping", "value", NULL),
    FORM_NOTE("inertia_scaling", "value", NULL),
    FORM_NOTE("contact_cfm", "value", NULL),
    FORM_NOTE("contact_erp", "value", NULL),
    FORM_NOTE("friction_anchor", NULL, NULL),
    FORM_LAST};

static const form_element in_link[] = {FORM_READ("inertial", NULL, NULL, in_inertial),
                                       FORM_READ("collision", name_rows, NULL, in_collision),
                                       FORM_NOTE("visual", "name", form_anything),
                                       FORM_READ("contact", NULL, NULL, in_contact),
                                       FORM_NOTE("self_collision_checking", NULL, form_anything),
                                       FORM_LAST};

static const form_element in_joint[] = {
    ORIGIN,
    FORM_READ("parent", link_name_rows, NULL, NULL),
    FORM_READ("child", link_name_rows, NULL, NULL),
    FORM_READ("axis", urdf_axis_rows, NULL, NULL),
    FORM_READ("limit", urdf_limit_rows, "velocity", NULL),
    FORM_READ("dynamics", urdf_dynamics_rows, NULL, NULL),
    FORM_READ("mimic", urdf_mimic_rows, NULL, NULL),
    FORM_NOTE("calibration", "rising falling reference_position", NULL),
    FORM_NOTE("safety_controller", "soft_lower_limit soft_upper_limit k_position k_velocity", NULL),
    FORM_LAST};

/* MuJoCo's own section of a URDF file. */
static const form_element in_mujoco[] = {
    FORM_READ("compiler", urdf_compiler_rows,
              "strippath angle discardvisual fusestatic autolimits convexhull", NULL),
    FORM_READ("option", mjcf_option_rows, NULL, NULL), FORM_NOTE("size", NULL, form_anything),
    FORM_LAST};

static const form_element in_robot[] = {FORM_READ("link", name_rows, "type", in_link),
                                        FORM_READ("joint", urdf_joint_rows, NULL, in_joint),
                                        FORM_NOTE("material", "name", form_anything),
                                        FORM_NOTE("transmission", "name type", form_anything),
                                        FORM_NOTE("gazebo", "reference", form_anything),
                                        FORM_NOTE("sensor", NULL, form_anything),
                                        FORM_READ("mujoco", NULL, NULL, in_mujoco),
                                        FORM_NOTE("ros2_control", NULL, form_anything),
                                        FORM_NEVER("deformable", "soft bodies are not read"),
                                        FORM_NEVER("model_state", "states are not read from URDF"),
                                        FORM_LAST};

const form_element urdf_form = FORM_READ("robot", name_rows, "version", in_robot);

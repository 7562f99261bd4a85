/* Default definitions. */
#include "model/bodies.h"

enum { MADE = MODEL_MADE };

/* MuJoCo's default parameters of the soft law. */
#define SOFT                                                                                       \
    {                                                                                              \
        {0.02, 1},                                                                                 \
        {                                                                                          \
            0.9, 0.95, 0.001, 0.5, 2                                                               \
        }                                                                                          \
    }

zw_body_def zw_body_default(void)
{
    return (zw_body_def){
        .made = MADE, .place = -1, .quat = {1, 0, 0, 0}, .inertia_quat = {1, 0, 0, 0}};
}

zw_joint_def zw_joint_default(void)
{
    return (zw_joint_def){.made = MADE + ZW_KIND_JOINT,
                          .place = -1,
                          .closes = -1,
                          .kind = ZW_JOINT_HINGE,
                          .axis = {0, 0, 1},
                          .soft_limit = SOFT,
                          .soft_friction = SOFT};
}

zw_geom_def zw_geom_default(void)
{
    return (zw_geom_def){.made = MADE + ZW_KIND_GEOM,
                         .place = -1,
                         .shape = ZW_SHAPE_SPHERE,
                         .mesh = -1,
                         .hfield = -1,
                         .quat = {1, 0, 0, 0},
                         .mass = -1,
                         .density = 1000,
                         .contype = 1,
                         .conaffinity = 1,
                         .condim = 3,
                         .friction = {1, 0.005, 0.0001},
                         .solmix = 1,
                         .fluid_coef = {0.5, 0.25, 1.5, 1, 1},
                         .rgba = {0.5, 0.5, 0.5, -1},
                         .shine = 0.25,
                         .soft = SOFT};
}

zw_site_def zw_site_default(void)
{
    return (zw_site_def){.made = MADE + ZW_KIND_SITE,
                         .place = -1,
                         .shape = ZW_SHAPE_SPHERE,
                         .size = {0.005, 0.005, 0.005},
                         .quat = {1, 0, 0, 0}};
}

zw_mesh_def zw_mesh_default(void)
{
    return (zw_mesh_def){.made = MADE + ZW_KIND_MESH, .place = -1, .rule = ZW_MESH_EXACT};
}

zw_equality_def zw_equality_default(void)
{
    return (zw_equality_def){.made = MADE + ZW_KIND_EQUALITY,
                             .place = -1,
                             .first = -1,
                             .second = -1,
                             .quat1 = {1, 0, 0, 0},
                             .quat2 = {1, 0, 0, 0},
                             .poly = {0, 1, 0, 0, 0},
                             .touch = 1,
                             .torquescale = 1,
                             .active = 1,
                             .soft = SOFT};
}

zw_tendon_def zw_tendon_default(void)
{
    return (zw_tendon_def){.made = MADE + ZW_KIND_TENDON,
                           .place = -1,
                           .springlength = {-1, -1},
                           .soft_limit = SOFT,
                           .soft_friction = SOFT};
}

zw_actuator_def zw_actuator_default(void)
{
    return (zw_actuator_def){.made = MADE + ZW_KIND_ACTUATOR,
                             .place = -1,
                             .target = -1,
                             .refsite = -1,
                             .gear = {1},
                             .dyn_prm = {1},
                             .gain_prm = {1}};
}

zw_sensor_def zw_sensor_default(void)
{
    return (zw_sensor_def){.made = MADE + ZW_KIND_SENSOR,
                           .place = -1,
                           .target = -1,
                           .ref_target = -1,
                           .data = ZW_CONTACT_FOUND,
                           .number = 1};
}

zw_key_def zw_key_default(void)
{
    return (zw_key_def){.made = MADE + ZW_KIND_KEY, .place = -1};
}

zw_pair_def zw_pair_default(void)
{
    return (zw_pair_def){.made = MADE + ZW_KIND_PAIR,
                         .place = -1,
                         .condim = 3,
                         .friction = {1, 1, 0.005, 0.0001, 0.0001},
                         .soft = SOFT,
                         .soft_friction = {{0, 0}, {0.9, 0.95, 0.001, 0.5, 2}}};
}

zw_exclude_def zw_exclude_default(void)
{
    return (zw_exclude_def){.made = MADE + ZW_KIND_EXCLUDE, .place = -1};
}

zw_hfield_def zw_hfield_default(void)
{
    return (zw_hfield_def){.made = MADE + ZW_KIND_HFIELD, .place = -1};
}

zw_world_def zw_world_default(void)
{
    return (zw_world_def){
        .made = MADE + MODEL_KINDS,
        .gravity = {0, 0, -9.81},
        .timestep = 0.002,
        .impratio = 1,
        .sleep_tolerance = 1e-4,
        .muscles =
            {.accel = 20, .fading = 1, .step = 0.01, .time = 10, .window = 2, .tolerance = 0.05},
        .magnetic = {0, -0.5, 0},
        .from_geoms = 2,
        .group_range = {0, 5},
        .total_mass = -1};
}

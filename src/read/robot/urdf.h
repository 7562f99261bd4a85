/* URDF to a model; for the files read/robot/urdf*.c.
 *
 * A link of the name "world" is the world, also where only a joint names it. Other links that are
 * not the child of a joint (roots) are fixed to the world, or free (zw_base); by default one with
 * joints is fixed and one without is a free body, if it has mass. Links are bodies in the order of
 * a walk from the roots, joints in the order of the file. A fixed joint leaves its child without
 * joints; a floating one needs a parent that does not move; a planar one is two slides and a hinge.
 * Masses are those of <inertial> alone, as in URDF: shapes have no mass. On request (--balance) the
 * collision shapes of a link without <inertial> have 1000 kg/m^3, and share its mass equally where
 * it has one but no moments of inertia; those of a link with <density> have that density.
 */
#ifndef ZW_READ_URDF_H
#define ZW_READ_URDF_H

#include "model/bodies.h"
#include "read/file/form.h"
#include "read/robot/robot.h"

typedef struct urdf_origin {
    uint64_t given;
    double xyz[3], rpy[3];
} urdf_origin;

typedef struct urdf_inertia {
    uint64_t given;
    double value[6]; /* xx yy zz xy xz yz */
} urdf_inertia;

typedef struct urdf_value {
    uint64_t given;
    double value;
} urdf_value;

typedef struct urdf_shape {
    uint64_t given;
    double size[3], radius, length, scale[3], normal[3], axes[3];
    const char *file;
    int triangles;
} urdf_shape;

typedef struct urdf_colour {
    uint64_t given;
    double rgba[4];
} urdf_colour;

typedef struct urdf_limit {
    uint64_t given;
    double lower, upper, effort;
    double damping, friction;
    const char *joint; /* of mimic */
    double multiplier, offset;
} urdf_limit;

typedef struct urdf_name {
    uint64_t given;
    const char *name;
    int type;
} urdf_name;

/* <mujoco><compiler/></mujoco>. */
typedef struct urdf_compiler {
    uint64_t given;
    const char *meshdir;
    zw_world_def world;
} urdf_compiler;

enum {
    URDF_REVOLUTE,
    URDF_CONTINUOUS,
    URDF_PRISMATIC,
    URDF_FIXED,
    URDF_FLOATING,
    URDF_PLANAR,
    URDF_SPHERICAL,
    URDF_BALL
};

extern const form_element urdf_form; /* urdf_table.c */
extern const form_row urdf_origin_rows[], urdf_mass_rows[], urdf_inertia_rows[], urdf_box_rows[],
    urdf_round_rows[], urdf_ellipsoid_rows[], urdf_sphere_rows[], urdf_mesh_rows[],
    urdf_value_rows[], urdf_mu_rows[], urdf_colour_rows[], urdf_plane_rows[], urdf_compiler_rows[],
    urdf_joint_rows[], urdf_axis_rows[], urdf_limit_rows[], urdf_dynamics_rows[], urdf_mimic_rows[];

typedef struct urdf_link {
    const char *name;
    int element;          /* -1: the link "world", if only joints name it */
    int joint;            /* whose child it is, -1: none */
    int children;         /* number of joints whose parent it is */
    int body;             /* index of its body */
    int free;             /* it is a free root */
    int shapes;           /* number of collision shapes with mass; 0: they have none */
    double density, mass; /* of all of them: > 0, or not given */
} urdf_link;

typedef struct urdf_joint {
    const char *name;
    int element, type;
    int parent, child; /* links */
    int joint;         /* in the model, -1: none */
} urdf_joint;

typedef struct urdf {
    xml_tree *xml;
    zw_model *model;
    robot_limits limits;
    const char *home; /* name of the file */
    int root;         /* <robot> */
    int seeing;       /* a visual is being read: missing or broken files are ignored */
    urdf_compiler compiler;
    int link_count, link_capacity;
    urdf_link *link;
    int joint_count, joint_capacity;
    urdf_joint *joint;
} urdf;

/* Fill the model of the tree with bodies. */
int urdf_read(xml_tree *xml, int root, const robot_limits *limits);

/* The first child of that name; -1: none. */
int urdf_child(const urdf *u, int element, const char *name);
/* <origin> of an element, or none. */
int urdf_pose(urdf *u, int element, model_pose *pose);
int urdf_add(urdf *u, zw_kind kind, const void *def, int *index);

/* Records a note about something without, or with less, effect. */
int urdf_note(urdf *u, int element, const char *text);

/* urdf_link.c: inertial and shapes of a link. */
int urdf_inertial(urdf *u, urdf_link *link, zw_body_def *body);
int urdf_shapes(urdf *u, const urdf_link *link);

/* urdf_mesh.c: the mesh of a collision. Returns 1 and *index = -1 if its file is missing: that is
 * noted, and an error only for runs with contacts. */
int urdf_mesh(urdf *u, int element, const urdf_shape *s, int *index);

#endif

/* Robots: rigid bodies described by a file or by C calls. A model is a description with names that
 * can be edited; nothing is computed from it here.
 *
 *     zw_model *model = zw_model_create(&error);
 *     zw_body_def arm = zw_body_default();
 *     arm.name = "arm";
 *     arm.pos[2] = 1;
 *     int body = zw_model_add_body(model, &arm, &error);
 *     zw_joint_def hinge = zw_joint_default();
 *     hinge.body = body;
 *     zw_model_add_joint(model, &hinge, &error);
 *
 * A definition is made by its default function, filled in, and copied when it is added: the result
 * is its index among its kind, or -1 with the reason in `error`. Bodies form a tree whose root is
 * the world, body 0; a parent is added before its children. Lengths are metres, angles radians,
 * quaternions (w, x, y, z) of any length but zero; frames of bodies are in their parents, all
 * others in their body. The coordinates of a state come body by body in the order of the bodies,
 * joint by joint in the order in which a body's joints were added: free has 7 positions (point,
 * quaternion) and 6 speeds, ball 4 and 3, slide and hinge 1; those of joints that close loops come
 * last. In the reference pose the coordinates are the body's own pose (free), the quaternion 1
 * (ball), or the joint's `ref`.
 *
 * zw_model_read (zwang.h) fills a model from MJCF (.xml, .mjcf) and URDF (.urdf) files; what is
 * supported, refused or has no effect is listed in docs/bodies.md. */
#ifndef ZWANG_BODIES_H
#define ZWANG_BODIES_H

#include "zwang/zwang.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* Every definition begins with the same members: `made` is set by its default function (a
 * definition without it is refused), `place` is the position in a file, for messages. Names may be
 * NULL; those given must be unique within a kind. */

/* ---- Bodies and joints -------------------------------------------------------------------- */

typedef struct zw_body_def {
    int made, place;
    const char *name;
    int parent; /* 0: the world */
    double pos[3], quat[4];
    int inertial; /* 1: mass and inertia are given here; 0: computed from the geoms */
    double mass;
    double com[3];          /* centre of mass */
    double inertia_quat[4]; /* axes of `inertia` */
    double inertia[6];      /* xx yy zz xy xz yz about the centre of mass */
    double gravcomp;        /* gravity compensation: this part of the weight is cancelled */
    int mocap; /* 1: a child of the world without joints whose pose is prescribed (motion capture):
                  its 7 numbers, after all other coordinates, are part of the state, but forces do
                  not move it and it has no velocity. Write them by zw_state_set and ZW_FIELD_MOCAP.
                */
} zw_body_def;

typedef enum zw_joint_kind {
    ZW_JOINT_FREE, /* children of the world only, and their only joint */
    ZW_JOINT_BALL,
    ZW_JOINT_SLIDE,
    ZW_JOINT_HINGE
} zw_joint_kind;

/* Parameters of MuJoCo's soft constraints. */
typedef struct zw_soft {
    double ref[2]; /* time constant and damping ratio; or -stiffness, -damping */
    double imp[5];
} zw_soft;

typedef struct zw_joint_def {
    int made, place;
    const char *name;
    int body;
    int closes; /* -1: the joint connects the body to its parent. Otherwise it closes a loop: it
                   leads from this body (0: the world) to `body`, which other joints move already.
                   All else is the same, and several such joints between the same two bodies act in
                   series. */
    int kind;   /* zw_joint_kind */
    double pos[3], axis[3];
    double ref; /* value of the coordinate in the reference pose */
    int limited;
    double range[2]; /* ball: the angle is at most range[1] */
    double margin;
    double stiffness, springref;
    double damping, armature, frictionloss;
    double
        springdamper[2]; /* both positive: time constant and damping ratio from which stiffness and
                            damping are computed, with the effective mass in the reference pose */
    int force_limited;   /* limits the sum of all actuators */
    double force_range[2];
    int motor_lifts; /* gravity compensation acts through this joint's motor, within force_range */
    zw_soft soft_limit, soft_friction;
} zw_joint_def;

/* ---- Shapes -------------------------------------------------------------------------------- */

typedef enum zw_shape {
    ZW_SHAPE_PLANE,     /* size: half lengths in x and y, 0: infinite */
    ZW_SHAPE_SPHERE,    /* radius */
    ZW_SHAPE_CAPSULE,   /* radius, half length between the caps' centres, along z */
    ZW_SHAPE_ELLIPSOID, /* half axes */
    ZW_SHAPE_CYLINDER,  /* radius, half length along z */
    ZW_SHAPE_BOX,       /* half lengths */
    ZW_SHAPE_MESH,      /* collides as its convex hull, or as its triangles */
    ZW_SHAPE_HFIELD,    /* heights over a grid, solid below */
    ZW_SHAPE_CONE       /* radius of the base at z = -half, half length; apex at z = +half */
} zw_shape;

typedef struct zw_geom_def {
    int made, place;
    const char *name;
    int body;
    int shape;     /* zw_shape */
    int mesh;      /* -1: none */
    int hfield;    /* -1: none */
    int triangles; /* a mesh of a fixed body collides as its triangles instead of its hull, each
                      from the side where its corners are anticlockwise */
    double size[3];
    double pos[3], quat[4];
    double mass;    /* negative: computed from the density */
    double density; /* of the volume; of the surface if `shell` */
    int shell;
    int group;
    int contype, conaffinity, condim, priority;
    double friction[3]; /* sliding, spinning, rolling */
    double restitution; /* Newton's; of two geoms the larger is used */
    double solmix, margin, gap;
    zw_soft soft;
    int fluid; /* fluid forces act on it as on an ellipsoid; if no geom of a body sets this, they
                  act on the box with the body's inertia */
    double fluid_coef[5]; /* blunt, slender and angular drag, Kutta and Magnus lift */
    double rgba[4];       /* its colour, for pictures; opacity -1: not given */
    double shine;         /* for pictures: 0 matt to 1 polished */
} zw_geom_def;

typedef struct zw_site_def {
    int made, place;
    const char *name;
    int body;
    int shape;
    double size[3];
    double pos[3], quat[4];
    int group;
} zw_site_def;

/* How the mass and inertia of a mesh are computed. */
typedef enum zw_mesh_rule {
    ZW_MESH_EXACT,  /* closed surfaces, outward faces: the integral over the enclosed volume */
    ZW_MESH_LEGACY, /* MuJoCo's usual one: pyramids over the faces, all counted as positive */
    ZW_MESH_SHELL,  /* the surface alone */
    ZW_MESH_CONVEX  /* the convex hull of its vertices, whatever its faces */
} zw_mesh_rule;

typedef struct zw_mesh_def {
    int made, place;
    const char *name;
    int vertex_count;
    const double *vertex; /* [3 vertex_count] */
    int face_count;       /* 0: the convex hull of the vertices */
    const int *face;      /* [3 face_count] anticlockwise from outside */
    int rule;             /* zw_mesh_rule */
} zw_mesh_def;

/* Heights over a grid around the geom's origin: columns along x from -half[0] to half[0], rows
 * along y; at least two each. It has no mass. */
typedef struct zw_hfield_def {
    int made, place;
    const char *name;
    int columns, rows;
    int height_count;     /* columns * rows */
    const double *height; /* [rows][columns] */
    double half[2];
    double
        base; /* thickness below z = 0, for pictures and rays; collisions take it as solid below */
} zw_hfield_def;

/* ---- Constraints --------------------------------------------------------------------------- */

/* These close loops without adding coordinates. A joint that `closes` a loop has coordinates of its
 * own, with limits, motors and the like. */
typedef enum zw_equality_kind {
    ZW_EQUALITY_CONNECT,  /* a point of each body: a ball joint that closes a loop */
    ZW_EQUALITY_WELD,     /* a frame of each body */
    ZW_EQUALITY_HINGE,    /* a frame of each body, free to turn about z */
    ZW_EQUALITY_SLIDE,    /* ... free to shift along z */
    ZW_EQUALITY_JOINT,    /* q1 - ref1 = polynomial of q2 - ref2 */
    ZW_EQUALITY_TENDON,   /* the same for lengths of tendons, from the reference pose */
    ZW_EQUALITY_DISTANCE, /* between the origins of the two frames */

    /* Rolling or gliding on a plane without slip. Frame 1 is on the rolling body, frame 2 on the
     * body with the plane: its origin lies in the plane, its z axis is the normal. Both are as
     * given, whatever `placed` says. Each constrains the velocity of the contact point; unless
     * `touch` is 0 a second constraint, called "name.touch", keeps that point in the plane. */
    ZW_EQUALITY_WHEEL,   /* a thin disc of this radius about the origin of frame 1, z its axle; it
                            may lean, but not lie flat */
    ZW_EQUALITY_MECANUM, /* the same with rollers on its rim, `roller` radians from the axle:
                            constrained along the roller's axis only */
    ZW_EQUALITY_ROLL,    /* a ball of this radius about the origin of frame 1; it may spin */
    ZW_EQUALITY_BLADE    /* a blade along x of frame 1, at its origin: no velocity across it */
} zw_equality_kind;

typedef struct zw_equality_def {
    int made, place;
    const char *name;
    int kind;          /* zw_equality_kind */
    int first, second; /* bodies (0: the world), joints or tendons; second -1: a constant */
    double pos1[3], quat1[4];
    int placed; /* which frames are given: 0 frame 1, 1 both, 2 frame 2; the other one coincides
                   with it in the reference pose */
    double pos2[3], quat2[4];
    double poly[5];
    double distance;
    double radius, roller; /* of a rolling body */
    int touch;
    double torquescale; /* soft law: metres per radian */
    int active;
    zw_soft soft;
} zw_equality_def;

/* One element of the path of a spatial tendon. */
typedef enum zw_stop_kind {
    ZW_STOP_SITE,
    ZW_STOP_GEOM,  /* a sphere or infinite cylinder between two sites: where the straight path would
                      pass through it, the tendon wraps around it along a geodesic */
    ZW_STOP_PULLEY /* the path ends here; a new branch follows, its length divided by `divisor` */
} zw_stop_kind;

typedef struct zw_stop {
    int kind;  /* zw_stop_kind */
    int index; /* site or geom; -1: a pulley */
    int side;  /* of a geom: a site on whose side of it the tendon passes; a site inside the geom
                  means that the tendon wraps on the inside; -1: none */
    double divisor; /* of a pulley */
} zw_stop;

/* A fixed tendon: its length is the sum of coef * joint coordinate. Or, if it has stops, a spatial
 * tendon: its length is that of its path along them. */
typedef struct zw_tendon_def {
    int made, place;
    const char *name;
    int count;
    const int *joint;
    const double *coef;
    int stop_count;
    const zw_stop *stop;
    int limited;
    double range[2], margin;
    int force_limited; /* limits the sum of all actuators */
    double force_range[2];
    double stiffness, damping, armature, frictionloss;
    double springlength[2]; /* negative: the length in the reference pose */
    zw_soft soft_limit, soft_friction;
} zw_tendon_def;

typedef struct zw_pair_def {
    int made, place;
    const char *name;
    int geom1, geom2;
    int given; /* bits 0..5: condim, friction, soft, soft_friction, margin, gap are given here
                  instead of being combined from the geoms */
    int condim;
    double friction[5];
    zw_soft soft, soft_friction;
    double margin, gap;
} zw_pair_def;

typedef struct zw_exclude_def {
    int made, place;
    const char *name;
    int body1, body2;
} zw_exclude_def;

/* ---- Actuators and sensors ----------------------------------------------------------------- */

typedef enum zw_drive {
    ZW_DRIVE_JOINT,
    ZW_DRIVE_JOINT_IN_PARENT, /* ball and free joints: gear is in the parent's frame */
    ZW_DRIVE_TENDON,
    ZW_DRIVE_SITE,
    ZW_DRIVE_CRANK, /* a rod connects site `target`, on the crank, to a slider on the z axis of site
                       `refsite`: the length is the slider's distance from that site */
    ZW_DRIVE_BODY   /* adhesion: body `target` is pressed against what it touches; all its contact
                       points share the force; the gear is not used */
} zw_drive;

typedef enum zw_dynamics {
    ZW_DYNAMICS_NONE,
    ZW_DYNAMICS_INTEGRATOR,
    ZW_DYNAMICS_FILTER,
    ZW_DYNAMICS_FILTER_EXACT,
    ZW_DYNAMICS_MUSCLE /* dyn_prm: time constants of activation and deactivation, and the width of
                          the transition between them */
} zw_dynamics;

/* How a gain or a bias is computed. The parameters of a muscle are its operating range [2], peak
 * force (negative: scale / the acceleration caused by a unit force in the reference pose), scale,
 * lmin, lmax, vmax, fpmax, fvmax. */
typedef enum zw_actuator_law {
    ZW_ACTUATOR_CONSTANT, /* gain: prm[0]; bias: none */
    ZW_ACTUATOR_AFFINE,   /* prm[0] + prm[1] * length + prm[2] * velocity */
    ZW_ACTUATOR_MUSCLE
} zw_actuator_law;

/* force = gain * (control or activation) + bias, by their laws, with length = gear * coordinate. */
typedef struct zw_actuator_def {
    int made, place;
    const char *name;
    int drive;  /* zw_drive */
    int target; /* joint, tendon, site or body */
    int refsite;
    double rod; /* of a crank: its length */
    double gear[6];
    int ctrl_limited, force_limited, act_limited;
    double ctrl_range[2], force_range[2], act_range[2];
    int dynamics; /* zw_dynamics */
    double dyn_prm[10];
    int gain_law; /* zw_actuator_law */
    double gain_prm[10];
    int bias_law; /* likewise */
    double bias_prm[10];
    double damp_ratio; /* not 0: bias_prm[2] is to be -2 damp_ratio sqrt(gain_prm[0] m), with m the
                          effective mass at the actuator in the reference pose */
    double length_range[2]; /* of a muscle: its shortest and longest length, which correspond to its
                               operating range */
    int act_early;
    int group;
    int ctrl_given; /* initial states have this control, whatever a keyframe says */
    double ctrl;
} zw_actuator_def;

/* Kind, its word in MJCF, what it is mounted on, numbers it gives. */
#define ZW_SENSOR_TABLE(X)                                                                         \
    X(ACCELEROMETER, "accelerometer", SITE, 3)                                                     \
    X(VELOCIMETER, "velocimeter", SITE, 3)                                                         \
    X(GYRO, "gyro", SITE, 3)                                                                       \
    X(FORCE, "force", SITE, 3)                                                                     \
    X(TORQUE, "torque", SITE, 3)                                                                   \
    X(TOUCH, "touch", SITE, 1)                                                                     \
    X(MAGNETOMETER, "magnetometer", SITE, 3)                                                       \
    X(JOINTPOS, "jointpos", JOINT, 1)                                                              \
    X(JOINTVEL, "jointvel", JOINT, 1)                                                              \
    X(JOINTACTUATORFRC, "jointactuatorfrc", JOINT, 1)                                              \
    X(BALLQUAT, "ballquat", JOINT, 4)                                                              \
    X(BALLANGVEL, "ballangvel", JOINT, 3)                                                          \
    X(JOINTLIMITPOS, "jointlimitpos", JOINT, 1)                                                    \
    X(JOINTLIMITVEL, "jointlimitvel", JOINT, 1)                                                    \
    X(JOINTLIMITFRC, "jointlimitfrc", JOINT, 1)                                                    \
    X(TENDONPOS, "tendonpos", TENDON, 1)                                                           \
    X(TENDONVEL, "tendonvel", TENDON, 1)                                                           \
    X(TENDONACTUATORFRC, "tendonactuatorfrc", TENDON, 1)                                           \
    X(TENDONLIMITPOS, "tendonlimitpos", TENDON, 1)                                                 \
    X(TENDONLIMITVEL, "tendonlimitvel", TENDON, 1)                                                 \
    X(TENDONLIMITFRC, "tendonlimitfrc", TENDON, 1)                                                 \
    X(ACTUATORPOS, "actuatorpos", ACTUATOR, 1)                                                     \
    X(ACTUATORVEL, "actuatorvel", ACTUATOR, 1)                                                     \
    X(ACTUATORFRC, "actuatorfrc", ACTUATOR, 1)                                                     \
    X(FRAMEPOS, "framepos", FRAME, 3)                                                              \
    X(FRAMEQUAT, "framequat", FRAME, 4)                                                            \
    X(FRAMEXAXIS, "framexaxis", FRAME, 3)                                                          \
    X(FRAMEYAXIS, "frameyaxis", FRAME, 3)                                                          \
    X(FRAMEZAXIS, "framezaxis", FRAME, 3)                                                          \
    X(FRAMELINVEL, "framelinvel", FRAME, 3)                                                        \
    X(FRAMEANGVEL, "frameangvel", FRAME, 3)                                                        \
    X(FRAMELINACC, "framelinacc", FRAME, 3)                                                        \
    X(FRAMEANGACC, "frameangacc", FRAME, 3)                                                        \
    X(SUBTREECOM, "subtreecom", BODY, 3)                                                           \
    X(SUBTREELINVEL, "subtreelinvel", BODY, 3)                                                     \
    X(SUBTREEANGMOM, "subtreeangmom", BODY, 3)                                                     \
    X(POTENTIAL, "e_potential", NOTHING, 1)                                                        \
    X(KINETIC, "e_kinetic", NOTHING, 1)                                                            \
    X(CLOCK, "clock", NOTHING, 1)                                                                  \
    X(INSIDESITE, "insidesite", INSIDE, 1)                                                         \
    X(CONTACT, "contact", CONTACT, 0)                                                              \
    X(RANGEFINDER, "rangefinder", RAY, 0)

typedef enum zw_sensor_kind {
#define ZW_SENSOR_CODE(name, text, mount, size) ZW_SENSOR_##name,
    ZW_SENSOR_TABLE(ZW_SENSOR_CODE)
#undef ZW_SENSOR_CODE
        ZW_SENSOR_COUNT
} zw_sensor_kind;

typedef enum zw_mount {
    ZW_MOUNT_NOTHING,
    ZW_MOUNT_SITE,
    ZW_MOUNT_JOINT,
    ZW_MOUNT_BODY,
    ZW_MOUNT_FRAME,
    ZW_MOUNT_TENDON,
    ZW_MOUNT_ACTUATOR,
    ZW_MOUNT_INSIDE,  /* a frame, and a site as ref_target */
    ZW_MOUNT_CONTACT, /* two of: a site, geom, body, subtree; either may be missing */
    ZW_MOUNT_RAY      /* a site: the ray goes along its z */
} zw_mount;

/* What a frame sensor measures, or measures relative to. */
typedef enum zw_frame_kind {
    ZW_FRAME_NONE,
    ZW_FRAME_BODY,     /* the body's own frame (MJCF: xbody) */
    ZW_FRAME_INERTIAL, /* its centre of mass and principal axes (MJCF: body) */
    ZW_FRAME_GEOM,
    ZW_FRAME_SITE,
    ZW_FRAME_SUBTREE /* contacts: a body and all its descendants */
} zw_frame_kind;

/* What a contact sensor reports of each contact, in this order: bits of zw_sensor_def.data. Forces
 * and torques have components along the normal, the tangent and the third axis, and act on the
 * second object. */
enum {
    ZW_CONTACT_FOUND = 1, /* how many contacts there are */
    ZW_CONTACT_FORCE = 2,
    ZW_CONTACT_TORQUE = 4,
    ZW_CONTACT_DIST = 8,
    ZW_CONTACT_POS = 16,
    ZW_CONTACT_NORMAL = 32,
    ZW_CONTACT_TANGENT = 64
};

/* What a rangefinder reports, in this order, along the world's axes: bits of zw_sensor_def.data. */
enum {
    ZW_RAY_DIST = 1, /* to the first surface; -1: there is none */
    ZW_RAY_DIR = 2,
    ZW_RAY_ORIGIN = 4,
    ZW_RAY_POINT = 8,
    ZW_RAY_NORMAL = 16,
    ZW_RAY_DEPTH = 32
};

/* Which contacts a sensor reports if there are more than it has slots; NETFORCE: one, the sum of
 * all. */
typedef enum zw_contact_reduce {
    ZW_REDUCE_NONE,
    ZW_REDUCE_MINDIST,
    ZW_REDUCE_MAXFORCE,
    ZW_REDUCE_NETFORCE
} zw_contact_reduce;

typedef struct zw_sensor_def {
    int made, place;
    const char *name;
    int kind;   /* zw_sensor_kind */
    int frame;  /* zw_frame_kind, for frame sensors */
    int target; /* index of what it is mounted on; -1: none */
    int ref_frame, ref_target;
    double cutoff, noise;
    int data, number,
        reduce; /* contact sensors: bits, number of slots, zw_contact_reduce; rays: bits */
} zw_sensor_def;

/* ---- States by name; the world ------------------------------------------------------------- */

/* A keyframe. NULL arrays: the model's initial values, or zero. */
typedef struct zw_key_def {
    int made, place;
    const char *name;
    int start; /* 1: initial states are this keyframe (at time 0) instead of the reference pose */
    double time;
    int qpos_count, qvel_count, act_count, ctrl_count;
    const double *qpos, *qvel, *act, *ctrl; /* qpos without the poses of mocap bodies */
    int mocap_count;
    const double *mocap; /* [7 mocap bodies] position and quaternion of each */
} zw_key_def;

typedef enum zw_integrator {
    ZW_INTEGRATOR_EULER,
    ZW_INTEGRATOR_RK4,
    ZW_INTEGRATOR_IMPLICIT,
    ZW_INTEGRATOR_IMPLICIT_FAST
} zw_integrator;

/* What MJCF's flags switch off. */
enum {
    ZW_WITHOUT_CONSTRAINT = 1,
    ZW_WITHOUT_EQUALITY = 2,
    ZW_WITHOUT_FRICTIONLOSS = 4,
    ZW_WITHOUT_LIMIT = 8,
    ZW_WITHOUT_CONTACT = 16,
    ZW_WITHOUT_SPRING = 32,
    ZW_WITHOUT_DAMPER = 64,
    ZW_WITHOUT_GRAVITY = 128,
    ZW_WITHOUT_CLAMPCTRL = 256,
    ZW_WITHOUT_FILTERPARENT = 512,
    ZW_WITHOUT_ACTUATION = 1024,
    ZW_WITHOUT_SENSOR = 2048,
    ZW_WITHOUT_REFSAFE = 4096, /* soft law: time constants may be below two steps */
    ZW_WITHOUT_EULERDAMP =
        8192 /* soft law: joint damping is explicit, taken at the start of a step */
};

/* How the shortest and longest length of a muscle are found if they are not given: as MuJoCo does,
 * by simulating a pull. The muscle's force, chosen for an acceleration of `accel` and at most
 * `force` (0: no limit), acts in soft steps of `step` for `time`, with velocities damped by
 * `fading`; the length is measured over the last `window`, in which it may vary by `tolerance` of
 * the range. Only limits and equalities act besides. */
typedef struct zw_muscle_search {
    int limits; /* use the range of its joint or tendon instead, if it has one */
    int always; /* also for muscles whose lengths are given */
    double accel, force, fading, step, time, window, tolerance;
} zw_muscle_search;

typedef struct zw_world_def {
    int made;
    double gravity[3], timestep;
    int integrator; /* zw_integrator, as the file says */
    int elliptic;   /* friction cones; 0: pyramids */
    double impratio;
    double magnetic[3];
    double density, viscosity; /* of the surrounding fluid; both 0: there is none */
    double wind[3];            /* velocity of the fluid */
    int contact_capacity;      /* largest number of contact points; 0: from the number of geoms */
    double bounce_speed;       /* impacts with a smaller normal speed do not bounce; m/s */
    int without;               /* ZW_WITHOUT_... */
    int sleep; /* 1: bodies at rest are put to sleep (method impulse): docs/bodies.md */
    double sleep_tolerance; /* speed below which a body counts as at rest; m/s */
    zw_muscle_search muscles;
    int maximal; /* 1: maximal coordinates: every body is free and every joint is a constraint
                    between two bodies. The motion is the same; coordinates are first those of the
                    bodies, then those of the joints */

    /* Masses: from geoms (0 never, 1 always, 2 where a body has no inertial) of these groups; lower
     * bounds of mass and moments; whether moments that no body can have are replaced by their mean;
     * all masses are scaled to `total_mass` if it is positive. */
    int from_geoms;
    int group_range[2];
    double bound_mass, bound_inertia;
    int balance;
    double total_mass;
} zw_world_def;

/* ---- Making and changing ------------------------------------------------------------------- */

zw_model *zw_model_create(zw_error *error); /* an empty model, to be filled */

zw_body_def zw_body_default(void);
zw_joint_def zw_joint_default(void); /* a hinge about z */
zw_geom_def zw_geom_default(void);   /* a sphere of density 1000, which needs a size */
zw_site_def zw_site_default(void);
zw_mesh_def zw_mesh_default(void);
zw_equality_def zw_equality_default(void); /* connect */
zw_tendon_def zw_tendon_default(void);
zw_actuator_def zw_actuator_default(void); /* a motor: force = control */
zw_sensor_def zw_sensor_default(void);
zw_key_def zw_key_default(void);
zw_pair_def zw_pair_default(void);
zw_exclude_def zw_exclude_default(void);
zw_hfield_def zw_hfield_default(void);
zw_world_def zw_world_default(void);

int zw_model_add_body(zw_model *model, const zw_body_def *def, zw_error *error);
int zw_model_add_joint(zw_model *model, const zw_joint_def *def, zw_error *error);
int zw_model_add_geom(zw_model *model, const zw_geom_def *def, zw_error *error);
int zw_model_add_site(zw_model *model, const zw_site_def *def, zw_error *error);
int zw_model_add_mesh(zw_model *model, const zw_mesh_def *def, zw_error *error);
int zw_model_add_equality(zw_model *model, const zw_equality_def *def, zw_error *error);
int zw_model_add_tendon(zw_model *model, const zw_tendon_def *def, zw_error *error);
int zw_model_add_actuator(zw_model *model, const zw_actuator_def *def, zw_error *error);
int zw_model_add_sensor(zw_model *model, const zw_sensor_def *def, zw_error *error);
int zw_model_add_key(zw_model *model, const zw_key_def *def, zw_error *error);
int zw_model_add_pair(zw_model *model, const zw_pair_def *def, zw_error *error);
int zw_model_add_exclude(zw_model *model, const zw_exclude_def *def, zw_error *error);
int zw_model_add_hfield(zw_model *model, const zw_hfield_def *def, zw_error *error);

/* The definition with this index (a const zw_body_def * for ZW_KIND_BODY, ...),
 * valid until the model is changed; NULL: there is none. */
const void *zw_model_def(const zw_model *model, zw_kind kind, int index);
/* Replaces a definition. The parent of a body and the body of a joint, geom or site cannot
 * change. */
zw_status zw_model_change(zw_model *model, zw_kind kind, int index, const void *def,
                          zw_error *error);
/* Sets one number by name, as if the file had this value: "thigh.mass", "floor.friction",
 * "knee.damping", "elbow.kp", "gravity" (docs/bodies.md has all); zw_read_options.settings and
 * `--set` take the same names. */
zw_status zw_model_set(zw_model *model, const char *name, double value, zw_error *error);
/* The current value of such a number. */
zw_status zw_model_get(const zw_model *model, const char *name, double *value, zw_error *error);
/* Removes an object with all that depends on it: a body with its descendants, joints, geoms and
 * sites, and everything mounted on those; keyframes lose the numbers of removed joints. Later
 * indices decrease: look them up again. The world cannot be removed. */
zw_status zw_model_remove(zw_model *model, zw_kind kind, int index, zw_error *error);

/* For the parts of a robot, ZW_KIND_BODY to ZW_KIND_HFIELD; 0 for other kinds. */
int zw_model_count(const zw_model *model, zw_kind kind);
int zw_model_find(const zw_model *model, zw_kind kind, const char *name); /* -1: none */

const zw_world_def *zw_model_world(const zw_model *model); /* NULL: a model without bodies */
zw_status zw_model_set_world(zw_model *model, const zw_world_def *def, zw_error *error);

/* ---- Looking ------------------------------------------------------------------------------- */

/* Mass, centre and moments of one body: the tensor about the centre of mass is R diag(moment) R'
 * with R from `quat`, in the body's frame. */
typedef struct zw_inertia {
    double mass;
    double com[3];
    double quat[4];
    double moment[3];
} zw_inertia;

/* Of all bodies: fills list[zw_model_count(model, ZW_KIND_BODY)]. It fails, naming the body, if a
 * moving body has no mass or moments that no body can have. */
zw_status zw_model_inertia(const zw_model *model, zw_inertia *list, zw_error *error);

/* Force and moment that one side exerts on the other at an instant, along the axes of the world. */
typedef struct zw_wrench {
    int between;  /* 1; 0: a constraint on coordinates only, see zw_constraint_force */
    double at[3]; /* the point that the moment is about */
    double force[3], moment[3]; /* the total */
    int speeds;                 /* of a joint: its number of speeds, and along each of them */
    double drive[6]; /* the force of motors, springs, dampers, friction, limits and couplings, minus
                        what accelerates its armature */
    double held_force[3], held_moment[3]; /* the rest: the reaction that keeps the joint together */
} zw_wrench;

/* After zw_forward at this state: list[zw_count(system, kind)], for these kinds:
 *
 * - ZW_KIND_JOINT: what the parent exerts on the body through the joint, about the joint's point.
 *   Several joints of one body are in series: each transmits the same force.
 * - ZW_KIND_BODY: what the parent exerts on the body, about the body's origin, also through a weld.
 *   For the world: what supports it, about the origin.
 * - ZW_KIND_CONSTRAINT: what a loop closure exerts on its second body, about the origin of that
 *   frame; on the first it exerts the opposite.
 *
 * Gravity, gravcomp, motors on sites, loop closures and contacts act on the bodies themselves;
 * forces of joints and tendons along coordinates are transmitted by the joints. In the observer of
 * a run contacts exert their mean force over the last step, impacts included. */
zw_status zw_wrenches(const zw_system *system, const zw_state *state, zw_work *work, zw_kind kind,
                      zw_wrench *list, zw_error *error);

/* ---- Contact ------------------------------------------------------------------------------- */

typedef enum zw_touch {
    ZW_TOUCH_OPEN, /* no force */
    ZW_TOUCH_STICK,
    ZW_TOUCH_SLIDE,
    ZW_TOUCH_JAM, /* it slid although no finite force permits it (Painleve), and an impulse stopped
                     it */
    ZW_TOUCH_HIT  /* zw_forward only: the geoms approach each other, and an impact follows */
} zw_touch;

/* A point where two geoms touch. Force and motion are those of the second geom against the first,
 * along the rows of `frame`: the normal, which points from the first to the second, and two
 * tangents; then about these axes: spin, roll, roll. */
typedef struct zw_contact {
    int geom[2], body[2];                    /* of the model */
    const char *geom_name[2], *body_name[2]; /* "" where there is none */
    double pos[3], frame[9];
    double gap;      /* negative: penetration depth */
    int rows;        /* 1, 3, 4 or 6 of the following are in use */
    double force[6]; /* of the first on the second; for a step: the mean over it */
    double slip[6];  /* relative velocity; for a step: at its end. slip[0] < 0: approaching */
    int state;       /* zw_touch. After zw_forward a contact at rest that begins to slide is
                        ZW_TOUCH_SLIDE */
} zw_contact;

/* The sum of all contacts between two bodies: force of the first on the second along the axes of
 * the world, and its moment about the origin. */
typedef struct zw_contact_sum {
    int body[2];
    const char *body_name[2];
    int count;
    double normal; /* sum of the normal forces */
    double force[3], moment[3];
} zw_contact_sum;

/* The largest number of contact points; 0: no two geoms of this system can touch. */
int zw_contact_capacity(const zw_system *system);

/* The contact points. In the observer of a run by method impulse or soft, at its final state, and
 * after zw_step: those that exerted a force in the last step, and those that did not but are less
 * than a micrometre apart at its end. After zw_forward, and elsewhere: the contacts at this
 * instant; gaps are neglected below 1e-6 of the size of the smaller geom, and speeds below what
 * weight and friction can stop within the world's timestep (docs/mathematics.md, section 23).
 * Overlaps deeper than 1e-4 m (and 1e-4 of distances from the origin) have no friction, and pairs
 * that no motion separates, such as neighbours that overlap by design, are ignored. At a
 * point that approaches (ZW_TOUCH_HIT) speeds are about to jump, and no acceleration is defined:
 * its force is the one that would hold it if it did not approach. Returns their number, of which
 * the first `capacity` are in the list; -1: see `error`. Where there are more points than needed to
 * carry the load, the sums are determined but single forces are not: see zw_contact_sums. */
int zw_contacts(const zw_system *system, const zw_state *state, zw_work *work, zw_contact *list,
                int capacity, zw_error *error);
/* Sums by pairs of bodies, in the order of their first contacts. Returns the number of pairs. */
int zw_contact_sums(const zw_contact *list, int count, zw_contact_sum *sums, int capacity);

/* ---- Writing ------------------------------------------------------------------------------- */

/* The model as an MJCF file that MuJoCo reads with the same numbers (docs/bodies.md). What MJCF
 * cannot express is refused by name. Controls and keyframes that only set initial states are not
 * written. */
zw_status zw_model_write(const zw_model *model, const char *path, zw_error *error);

/* ---- Notes --------------------------------------------------------------------------------- */

/* Something in a file that has no effect here: "geom rgba", and where it first occurs. */
typedef struct zw_note {
    const char *text;
    const char *file;
    int line;
    int count;
    int differs; /* 1: MuJoCo's motion depends on it; the text says how */
} zw_note;
int zw_model_note_count(const zw_model *model);
/* The first mesh file that was missing when the model was read; NULL: none. Only runs with contacts
 * need it. */
const char *zw_model_missing_mesh(const zw_model *model);
zw_note zw_model_note(const zw_model *model, int index);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif

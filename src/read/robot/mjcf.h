/* MuJoCo's XML (MJCF) to a model; for the files read/mjcf*.c.
 *
 * Files of this reader:
 *   mjcf          bytes to a tree of elements, includes resolved, sections in order
 *   mjcf_table*   tables of all elements and attributes (form.h)
 *   mjcf_default  classes: each holds the definition that an element of the class starts from
 *   mjcf_turn     the several ways to give an orientation
 *   mjcf_asset    meshes, with mesh_file (STL, OBJ) and mesh_builtin
 *   mjcf_hfield   height fields
 *   mjcf_body     bodies, frames, joints, geoms, sites
 *   mjcf_attach   bodies of other models
 *   mjcf_copies   references to names inside <replicate>
 *   mjcf_tendon   tendons
 *   mjcf_link     equality, contact pairs
 *   mjcf_drive    actuators
 *   mjcf_sense    sensors, keyframes
 *
 * A function that returns 0 has set the message; its caller returns 0 too. */
#ifndef ZW_READ_MJCF_H
#define ZW_READ_MJCF_H

#include "model/bodies.h"
#include "read/file/form.h"
#include "read/robot/robot.h"

enum { MJCF_AUTO = 2 }; /* of "false true auto" */

typedef struct mjcf_turn {
    double quat[4], axisangle[4], euler[3], xyaxes[6], zaxis[3];
} mjcf_turn;

/* The attributes of an element, starting from those of its class; `given` has bits of the element's
 * rows. */
typedef struct mjcf_body {
    uint64_t given;
    zw_body_def def;
    mjcf_turn turn;
    const char *childclass;
} mjcf_body;

typedef struct mjcf_inertial {
    uint64_t given;
    double pos[3], mass, diagonal[3], full[6];
    mjcf_turn turn;
} mjcf_inertial;

typedef struct mjcf_joint {
    uint64_t given;
    zw_joint_def def;
    const char *class_;
    int limited, force_limited; /* "false true auto" */
    int align;                  /* likewise, of a freejoint */
} mjcf_joint;

typedef struct mjcf_geom {
    uint64_t given;
    zw_geom_def def;
    const char *class_, *mesh, *hfield, *material;
    mjcf_turn turn;
    double fromto[6], fitscale;
} mjcf_geom;

typedef struct mjcf_site {
    uint64_t given;
    zw_site_def def;
    const char *class_;
    mjcf_turn turn;
    double fromto[6];
} mjcf_site;

typedef struct mjcf_frame { /* and replicate */
    uint64_t given;
    const char *name, *childclass, *sep;
    double pos[3];
    mjcf_turn turn;
    int count;
} mjcf_frame;

typedef struct mjcf_composite {
    uint64_t given;
    const char *type, *prefix, *curve, *initial;
    int count[3], vertex; /* vertex: attribute + 1 */
    double offset[3], quat[4], size[3];
} mjcf_composite;

typedef struct mjcf_mesh {
    uint64_t given;
    const char *name, *class_, *file;
    int vertex, face, params; /* attributes + 1 */
    int builtin;              /* 0: none */
    double scale[3], refpos[3], refquat[4];
    int inertia;
} mjcf_mesh;

typedef struct mjcf_material {
    uint64_t given;
    const char *name, *texture;
    double rgba[4], specular, shininess;
} mjcf_material;

typedef struct mjcf_hfield {
    uint64_t given;
    const char *name, *file;
    int nrow, ncol, elevation; /* elevation: attribute + 1 */
    double size[4];
} mjcf_hfield;

typedef struct mjcf_equality {
    uint64_t given;
    zw_equality_def def;
    const char *class_;
    const char *first, *second, *site1, *site2;
    double anchor[3], relpose[7];
} mjcf_equality;

typedef struct mjcf_tendon {
    uint64_t given;
    zw_tendon_def def;
    const char *class_;
    int limited, force_limited;
} mjcf_tendon;

typedef struct mjcf_pull {
    uint64_t given;
    const char *joint;
    double coef;
} mjcf_pull;

typedef struct mjcf_stop {
    uint64_t given;
    const char *site, *geom, *side;
    double divisor;
} mjcf_stop;

typedef struct mjcf_pair {
    uint64_t given;
    zw_pair_def def;
    const char *class_;
    const char *first, *second;
} mjcf_pair;

typedef struct mjcf_actuator {
    uint64_t given;
    zw_actuator_def def;
    const char *class_;
    const char *joint, *in_parent, *tendon, *site, *refsite, *crank, *slider, *body;
    int ctrl_limited, force_limited, act_limited; /* "false true auto" */
    /* of the shortcuts; NAN: not given */
    double kp, kv, ratio, timeconst, area, diameter, bias[3], inheritrange;
    double muscle_time[2], muscle[9]; /* likewise: range[2], force, scale, lmin, lmax, vmax, fpmax,
                                         fvmax */
    int dyn, gain, bias_kind;
} mjcf_actuator;

typedef struct mjcf_sensor {
    uint64_t given;
    zw_sensor_def def;
    const char *target, *ref;
    int frame, ref_frame;
    const char *data, *subject[7]; /* of contact sensors; `data` also of rays */
    double delay, interval[2];
    const char *unsupported; /* why it is listed instead of read; NULL: it is read */
} mjcf_sensor;

typedef struct mjcf_key {
    uint64_t given;
    zw_key_def def;
    int qpos, qvel, act, ctrl, mpos, mquat; /* attributes + 1 */
} mjcf_key;

typedef struct mjcf_compiler {
    uint64_t given;
    int autolimits, degree, coordinate, strippath, exact, alignfree, fitaabb;
    const char *eulerseq, *meshdir, *assetdir;
} mjcf_compiler;

typedef struct mjcf_groups {
    int list; /* attribute + 1 */
} mjcf_groups;

/* <flag override="enable"/>: what every contact has, whatever geoms and pairs say. */
typedef struct mjcf_override {
    int on;
    double margin, friction[5];
    zw_soft soft;
} mjcf_override;

typedef struct mjcf_class {
    const char *name;
    int parent; /* -1: the root */
    mjcf_joint joint;
    mjcf_geom geom;
    mjcf_site site;
    mjcf_mesh mesh;
    mjcf_equality equality;
    mjcf_tendon tendon;
    mjcf_pair pair;
    mjcf_actuator actuator;
} mjcf_class;

typedef struct mjcf_attach { /* and model */
    uint64_t given;
    const char *model, *body, *prefix, *name, *file;
} mjcf_attach;

/* A mesh whose file is missing. */
typedef struct mjcf_lost {
    const char *name, *path;
    int element;
} mjcf_lost;

typedef struct mjcf_other {
    const char *name;
    zw_model *model;
} mjcf_other;

typedef struct mjcf_graft {
    const zw_model *from;
    const char *prefix, *suffix;
    int place;
    int whole;                /* everything in the world of the other model */
    zw_inertia *inertia;      /* of its bodies, if its rules for masses differ; else NULL */
    int *number[MODEL_KINDS]; /* indices of its parts in this model, -1: not taken */
    int *block;
} mjcf_graft;

typedef struct mjcf_copied { /* a name inside <replicate> */
    const char *name;
    int replicate; /* the innermost */
    size_t length; /* of the suffixes of its copies: the longest are the innermost */
} mjcf_copied;

typedef struct mjcf_copy { /* one of a <replicate> */
    int replicate;
    int around; /* the copy that contains it; -1: none */
    const char *suffix;
} mjcf_copy;

typedef struct mjcf {
    zw_model *model;
    robot_limits limits;
    xml_tree xml;
    int root;
    const char *folder; /* path of the file that was opened; its first folder_length bytes */
    size_t folder_length;
    mjcf_compiler compiler;
    int aligned;         /* some free joint is aligned with the inertia of its body */
    uint64_t groups_off; /* bits: groups of actuators that do nothing */
    mjcf_override override;
    int class_count, class_capacity;
    mjcf_class *class_;
    int class_slots; /* a power of two, or 0 */
    int *class_slot; /* [class_slots] by hash of the name: the class; 0: none */
    int copies;
    int copied_count, copied_capacity;
    mjcf_copied *copied;
    int copy_count, copy_capacity;
    mjcf_copy *copy; /* in the order of the bodies */
    int in_copy;     /* the copy that the current element refers to; -1: none */
    int other_count, other_capacity;
    mjcf_other *other; /* models that can be attached */
    int graft_count, graft_capacity;
    mjcf_graft *graft;
    int lost_count, lost_capacity;
    mjcf_lost *lost;
    int material_count, material_capacity;
    mjcf_material *material;
} mjcf;

/* Tables; see mjcf_table.c. */
extern const form_element mjcf_form;
extern const form_element mjcf_in_body[], mjcf_in_default[], mjcf_in_actuator[], mjcf_in_sensor[];
extern const form_row mjcf_compiler_rows[], mjcf_world_rows[], mjcf_reach_rows[],
    mjcf_option_rows[], mjcf_flag_rows[], mjcf_groups_rows[], mjcf_override_rows[];
extern const form_row mjcf_body_rows[], mjcf_inertial_rows[], mjcf_joint_rows[],
    mjcf_freejoint_rows[], mjcf_geom_rows[], mjcf_site_rows[], mjcf_frame_rows[],
    mjcf_replicate_rows[], mjcf_mesh_rows[], mjcf_material_rows[], mjcf_hfield_rows[],
    mjcf_attach_rows[], mjcf_model_rows[];
extern const form_row mjcf_connect_rows[], mjcf_weld_rows[], mjcf_couple_rows[],
    mjcf_couple_tendon_rows[], mjcf_equality_rows[], mjcf_fixed_rows[], mjcf_tendon_rows[],
    mjcf_pull_rows[], mjcf_stop_rows[], mjcf_wrap_rows[], mjcf_pulley_rows[], mjcf_pair_rows[],
    mjcf_exclude_rows[];
extern const form_row mjcf_general_rows[], mjcf_motor_rows[], mjcf_position_rows[],
    mjcf_velocity_rows[], mjcf_intvelocity_rows[], mjcf_damper_rows[], mjcf_cylinder_rows[],
    mjcf_muscle_rows[], mjcf_adhesion_rows[];
extern const form_row mjcf_sensor_on_NOTHING[], mjcf_sensor_on_SITE[], mjcf_sensor_on_JOINT[],
    mjcf_sensor_on_BODY[], mjcf_sensor_on_FRAME[], mjcf_sensor_on_TENDON[],
    mjcf_sensor_on_ACTUATOR[], mjcf_sensor_on_INSIDE[], mjcf_sensor_on_CONTACT[],
    mjcf_sensor_on_RAY[], mjcf_key_rows[];
extern const form_row mjcf_composite_rows[], mjcf_cable_joint_rows[], mjcf_cable_geom_rows[],
    mjcf_cable_site_rows[];

/* Rows that several tables share. */
#define MJCF_TURN_ROWS(type)                                                                       \
    FORM_REALS("quat", type, turn.quat, 4, 4),                                                     \
        FORM_REALS("axisangle", type, turn.axisangle, 4, 4),                                       \
        FORM_REALS("xyaxes", type, turn.xyaxes, 6, 6),                                             \
        FORM_REALS("zaxis", type, turn.zaxis, 3, 3), FORM_REALS("euler", type, turn.euler, 3, 3)

/* ---- mjcf.c ---------------------------------------------------------------------------------- */

/* Adds the bodies to the model of the tree. */
int mjcf_read(xml_tree *xml, int root, const robot_limits *limits);
int mjcf_is(const mjcf *m, int element, const char *name);
/* Adds a part; 0 if the model refuses it. `index` may be NULL. */
int mjcf_add(mjcf *m, zw_kind kind, void *def, int *index);
/* The part that the attribute's value names. 0: unknown. */
int mjcf_refer(mjcf *m, int element, const char *attribute, zw_kind kind, int *index);
/* Records a note: the element's name and these words; and one that MuJoCo's motion is another. */
int mjcf_note(mjcf *m, int element, const char *words);
int mjcf_difference(mjcf *m, int element, const char *words);
/* Is a range active? Decided by "false true auto" and autolimits. */
int mjcf_limited(mjcf *m, int element, const char *word, const char *range_word, int limited,
                 const double range[2], int *answer);
/* The path of a file that the element names: in the folder of the file that was opened (and `inner`
 * in it, unless NULL), or, if it is not there, beside the included file that contains the element.
 * NULL: no memory. */
char *mjcf_path(mjcf *m, int element, const char *inner, const char *file);
/* All numbers of a list attribute; NULL with *count = 0 where there is none. */
int mjcf_list(mjcf *m, int element, int attribute, double **list, int *count);

/* ---- mjcf_copies.c --------------------------------------------------------------------------- */

typedef int mjcf_reader(mjcf *m, int element);
int mjcf_each(mjcf *m, int section,
              mjcf_reader *one); /* calls `one` for each element, and for its copies */
/* The number of a new copy; -1: no memory. */
int mjcf_copy_begins(mjcf *m, int replicate, int around, const char *suffix);
int mjcf_has_copies(mjcf *m, const char *name, int replicate, const char *suffix);
const char *mjcf_copy_name(mjcf *m,
                           const char *name); /* of the element being read; NULL: no memory */
const char *mjcf_longer_name(mjcf *m, const char *name, const char *suffix);
void mjcf_copies_free(mjcf *m);

/* ---- mjcf_default.c -------------------------------------------------------------------------- */

extern const char *const mjcf_never_in_default; /* attributes that belong to one part */
int mjcf_defaults(mjcf *m, int section);
int mjcf_class_root(mjcf *m); /* creates it */
/* The class that `name` names, or `otherwise` where it is NULL. 0: unknown. */
int mjcf_class_find(mjcf *m, int element, const char *attribute, const char *name, int otherwise,
                    int *class_);

/* ---- mjcf_turn.c ----------------------------------------------------------------------------- */

/* Applies rows that include MJCF_TURN_ROWS: at most one orientation, which overrides that of the
 * class.
 */
int mjcf_apply(mjcf *m, int element, const form_row *rows, void *target, uint64_t *given);
/* The orientation that was given; 0: it is invalid. */
int mjcf_turn_quat(mjcf *m, int element, const form_row *rows, uint64_t given,
                   const mjcf_turn *turn, double quat[4]);

/* ---- sections -------------------------------------------------------------------------------- */

int mjcf_assets(mjcf *m, int section);
int mjcf_world(mjcf *m, int section);
int mjcf_tendons(mjcf *m, int section);
int mjcf_equalities(mjcf *m, int section);
int mjcf_contacts(mjcf *m, int section);
int mjcf_custom(mjcf *m, int section);
int mjcf_actuators(mjcf *m, int section);
int mjcf_sensors(mjcf *m, int section);
int mjcf_keys(mjcf *m, int section);

/* An actuator's shortcut to gain, bias and dynamics. */
int mjcf_actuator_settle(mjcf *m, int element, mjcf_actuator *a);
void mjcf_shortcut_clear(mjcf_actuator *a);
const form_row *mjcf_actuator_rows(const char *element); /* NULL: no actuator */
/* mjcf_asset.c: the contents of an asset's file, from the folder for meshes, and its path; NULL:
 * failed, with a message, unless the file is missing and `missing` is not NULL. And the name of an
 * unnamed asset: its file without folders and extension. */
char *mjcf_asset_bytes(mjcf *m, int element, const char *file, const char *what, char **path,
                       size_t *length, int *missing);
/* The mesh of that name, if its file is missing; else NULL. */
const mjcf_lost *mjcf_lost_mesh(const mjcf *m, const char *name);
const char *mjcf_asset_name(mjcf *m, const char *file);
int mjcf_hfield_read(mjcf *m, int element);
/* A primitive in place of its mesh. */
int mjcf_fit(mjcf *m, int element, mjcf_geom *g, int mesh);
/* The colour of a geom: its own, or that of its material. */
void mjcf_colour(const mjcf *m, mjcf_geom *g);

/* ---- mjcf_attach.c --------------------------------------------------------------------------- */

/* mjcf_composite.c: a cable, into this frame of its parent; the suffix ends all names. */
int mjcf_composite_read(mjcf *m, int element, int parent, const model_pose *frame,
                        const char *suffix);

int mjcf_model(mjcf *m, int element);
int mjcf_attach_body(mjcf *m, int element, int parent, const model_pose *frame, const char *suffix);
int mjcf_attach_rest(mjcf *m); /* after all of this file but its keyframes has been read */
void mjcf_attach_free(mjcf *m);

/* ---- mesh_file.c ----------------------------------------------------------------------------- */

/* Vertices and faces of an STL (binary or text), OBJ or MSH file's bytes. */
typedef struct read_mesh {
    int more; /* an OBJ file has further objects, which are not read */
    int vertex_count, vertex_capacity;
    double (*vertex)[3];
    int face_count, face_capacity;
    int (*face)[3];
} read_mesh;
/* 1: read; 0: broken, with the message in `why` [200]; -1: no memory. `name` gives the format. */
int read_mesh_bytes(read_mesh *mesh, const char *name, const char *bytes, size_t length,
                    char why[200]);
void read_mesh_free(read_mesh *mesh);
/* Adds one; returns its number (a face: 1), or -1: no memory. */
int read_mesh_add_vertex(read_mesh *mesh, const double x[3]);
int read_mesh_add_face(read_mesh *mesh, int a, int b, int c);
/* mesh_builtin.c: a mesh of a kind (in the order of MJCF's words, from 0) and its numbers; returns
 * the same.
 */
int read_mesh_builtin(read_mesh *mesh, int kind, const double *p, int count, char why[200]);
/* mesh_dae.c: as read_mesh_bytes, of COLLADA. */
int read_mesh_dae(read_mesh *mesh, const char *bytes, size_t length, char why[200]);
/* mesh_polygon.c: a polygon as triangles (the list of corners is modified); -1: no memory. */
int read_mesh_polygon(read_mesh *mesh, int *corner, int count);

#endif

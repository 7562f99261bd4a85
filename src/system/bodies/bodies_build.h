/* Intermediate data of compiling bodies; for the files bodies_*.c only. */
#ifndef ZW_SYSTEM_BODIES_BUILD_H
#define ZW_SYSTEM_BODIES_BUILD_H

#include "model/bodies.h"
#include "system/bodies/bodies.h"
#include "system/list.h"
#include "tree/fuse.h"

enum { BODIES_NAME = 300 };

typedef struct bodies_builder {
    zw_system *system;
    const zw_model *model;
    const model_bodies *from;
    const model_bodies *drawn; /* the bodies before cutting, for drawing */
    const zw_model *cut;       /* the cut model that `from` belongs to; NULL: nothing is cut */
    struct system_bodies *to;
    tree_fused fused;
    tree_body_def *body;
    tree_joint_def *joint;
    int *order;      /* [joints] in the order of the coordinates */
    int *joint_q;    /* [joints of the model] first coordinate */
    int *joint_dof;  /* and first speed */
    int *joint_rank; /* number of earlier joints of the same body; NULL: not computed */
    zw_inertia *inertia;
    double *sweeps;     /* of the reference pose */
    double (*reach)[2]; /* [actuators] for muscles: shortest and longest length; NULL: no muscles */
    int *mark;          /* [2n] columns of a row */
} bodies_builder;

/* Is this feature switched off? ZW_WITHOUT_... */
int bodies_without(const bodies_builder *b, int what);

/* bodies_compile.c: creates the tree, the lists of names and the reference pose; and frees all that
 * a builder holds. */
zw_status bodies_open(bodies_builder *b, zw_error *error);
void bodies_close(bodies_builder *b);
/* Do the sizes of a keyframe match the numbers of coordinates, speeds and motors?
 */
zw_status bodies_check_key(const bodies_builder *b, const zw_key_def *key, zw_error *error);
/* Its coordinates, with quaternions normalised, as files have rounded ones. */
void bodies_key_pose(const bodies_builder *b, const zw_key_def *key, double *q);

/* bodies_cut.c, bodies_cut_start.c: a model without joints that close loops; or one whose bodies
 * are all free, or free wherever a piece of a long chain begins; the latter two have no keyframes
 * except the initial state, if it is not the reference pose. Its files are those of the given
 * model. */
enum {
    BODIES_CUT = 2
}; /* value of zw_equality_def.active for welds of cut bodies, always active */
int bodies_has_loops(const zw_model *model); /* has it joints that close loops? */
typedef enum bodies_form { BODIES_LOOPS, BODIES_MAXIMAL, BODIES_PIECES } bodies_form;
enum { BODIES_PIECE = 30 }; /* speeds on a path within a piece: bodies_chain.c */
zw_status bodies_cut(const zw_model *model, bodies_form form, zw_model **cut, zw_error *error);
zw_status bodies_cut_start(const zw_model *given, zw_model *cut, zw_error *error);
void bodies_cut_free(zw_model *cut);

/* bodies_chain.c: finds system->bodies->chain, if it has long ones. ZW_OK or ZW_NO_MEMORY. */
zw_status bodies_find_chain(zw_system *system, const zw_model *model);
void bodies_chain_free(struct bodies_chain *chain);

/* bodies_name.c: "elbow"; or "base.x", "base.qw" for the parts of a joint. */
char *bodies_copy(const char *text);
/* The name of a part, or a generated unique one. */
void bodies_part_name(const bodies_builder *b, zw_kind kind, int index, char *name);
zw_status bodies_name_coordinates(bodies_builder *b, zw_error *error);

/* bodies_close.c: lengths, equalities, limits, dry friction. */
bodies_frame bodies_frame_on(const bodies_builder *b, int body, const double pos[3],
                             const double quat[4]);
zw_status bodies_make_constraints(bodies_builder *b, zw_error *error);

/* tendon/tendon_build.c. Reserves memory for the paths of tendons and their terms; adds one path;
 * then, when all lengths exist, computes them in the reference pose and sets the rest lengths of
 * springs. */
zw_status bodies_paths_reserve(bodies_builder *b, size_t *terms, zw_error *error);
void bodies_add_path(bodies_builder *b, const zw_tendon_def *tendon, bodies_length *length);
zw_status bodies_measure_tendons(bodies_builder *b, zw_error *error);

/* bodies_drive.c: motors and gravity compensation. */
zw_status bodies_make_drives(bodies_builder *b, zw_error *error);

/* The derivative of the motor's length rate by each speed in the reference pose: row[n]; `jacobian`
 * is scratch for the Jacobian of a body. */
void bodies_transmission(const bodies_builder *b, const bodies_motor *motor, double *jacobian,
                         double *row);
/* bodies_muscle.c */
zw_status bodies_make_muscles(bodies_builder *b, zw_error *error);
/* tendon/muscle_range.c: b->reach. */
zw_status bodies_find_reach(bodies_builder *b, zw_error *error);

/* bodies_fluid.c: bodies and shapes with fluid forces. */
zw_status bodies_make_fluid(bodies_builder *b, zw_error *error);

/* bodies_part.c: bodies and joints of the model before fusing. */
zw_status bodies_make_parts(bodies_builder *b, zw_error *error);
/* A "simple" body of MuJoCo that only translates: childless, on the world or on what
 * is fixed to it, its centre of mass at its origin, principal axes along its own and slides along
 * those. Effective masses in the reference pose are then its mass, without armatures. */
int bodies_only_shifts(const tree_mechanism *tree, const struct system_bodies *bodies, int part);
/* Copies of all names of a kind, NULL-terminated. */
zw_status bodies_name_parts(const bodies_builder *b, zw_kind kind, char ***list);

/* sense/mount.c: sensors; after constraints and drives. */
zw_status bodies_make_sensors(bodies_builder *b, zw_error *error);

/* sense/ray.c: geoms that rangefinders can hit; after sensors. */
zw_status bodies_make_rays(bodies_builder *b, zw_error *error);

/* contact_build.c: shapes and contact filters. */
zw_status bodies_make_contacts(bodies_builder *b, zw_error *error);

/* bodies_show.c: what is drawn and plotted. */
zw_status bodies_make_pictures(bodies_builder *b, zw_error *error);

/* bodies_formula.c: formulas over imported bodies. */
zw_status bodies_make_formulas(bodies_builder *b, zw_error *error);
/* A new leaf of formulas. */
expr_id bodies_see(bodies_builder *b, const model_seen *seen);
/* The coordinate or speed of the tree that an initial or new value of a seen quantity sets; -1:
 * none. */
int bodies_seen_target(const bodies_builder *b, int coord, int is_speed);

/* bodies_formula_slip.c: friction of their constraints. */
zw_status bodies_slip_derive(bodies_builder *b, const int *start, const int *entry,
                             const expr_id *value, system_list *out, zw_error *error);
int bodies_slip_columns(const bodies_builder *b);
/* Fills the patterns, from output *at and column *column of the system's slip on. */
void bodies_slip_pattern(const bodies_builder *b, int *at, int *column);

/* bodies_formula_show.c */
/* The number of entries of A in the rows of formulas; then their pattern, from A_column[*used]
 * on. */
int bodies_formula_count(bodies_builder *b);
zw_status bodies_formula_pattern(bodies_builder *b, int *used, zw_error *error);
/* Copies plots, draws, events and checks of the file to `shown`. */
zw_status bodies_formula_plots(bodies_builder *b);
zw_status bodies_formula_draws(bodies_builder *b);
zw_status bodies_formula_events(bodies_builder *b, zw_error *error);
/* The list of all outputs, in the order of `shown`. */
zw_status bodies_formula_list(bodies_builder *b);

/* bodies_pattern.c: patterns of M and A, and sizes of all outputs. */
zw_status bodies_make_patterns(bodies_builder *b, zw_error *error);

#endif

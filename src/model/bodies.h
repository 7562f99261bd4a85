/* The part of a model that is made of bodies: lists of definitions (zwang/bodies.h), as they were
 * given, but with unit quaternions and unit axes.
 *
 * Invariants:
 *   1. body[0] is the world; a body's parent has a smaller index.
 *   2. Every index in a definition is that of an existing part (or -1 where that is allowed).
 *   3. Names, vertices and the other arrays belong to the list. */
#ifndef ZW_MODEL_BODIES_H
#define ZW_MODEL_BODIES_H

#include "model/model.h"
#include "model/pose.h"
#include "zwang/bodies.h"

enum { MODEL_KINDS = ZW_KIND_HFIELD + 1 };
enum { MODEL_MADE = 0x7a77 }; /* + kind: the mark of a default function; world: + MODEL_KINDS */

/* Something the file says that has no effect here. */
typedef struct model_note {
    char *text;
    int place; /* of the first one */
    int count;
    int differs; /* MuJoCo's motion depends on it */
} model_note;

typedef struct model_bodies {
    zw_world_def world;
    int count[MODEL_KINDS];
    int capacity[MODEL_KINDS];
    zw_body_def *body;
    zw_joint_def *joint;
    zw_geom_def *geom;
    zw_site_def *site;
    zw_mesh_def *mesh;
    zw_equality_def *equality;
    zw_tendon_def *tendon;
    zw_actuator_def *actuator;
    zw_sensor_def *sensor;
    zw_key_def *key;
    zw_pair_def *pair;
    zw_exclude_def *exclude;
    zw_hfield_def *hfield;

    int joints_capacity;
    int *joints; /* [bodies] number of joints of each */

    int slot_count; /* names: hash of (kind, name) -> (kind, index) */
    int slot_used;
    struct model_slot *slot;

    int note_count, note_capacity;
    model_note *note;
    char *missing_mesh; /* the first missing mesh file of a shape, or NULL */
} model_bodies;

/* The bodies of the model, created with only the world if there are none; NULL: no memory. */
model_bodies *model_bodies_of(zw_model *model);
void model_bodies_free(model_bodies *bodies);

/* Adds a part of any kind. Returns its index, or -1 with a message at the definition's place. */
int model_add_part(zw_model *model, zw_kind kind, const void *def, zw_error *error);
const char *model_part_word(zw_kind kind); /* "body" */
/* Every number that zw_model_set can set: PART.WORD; those of the world have no part (""). */
typedef void model_offer(void *user, const char *part, const char *word);
void model_settable(const model_bodies *bodies, model_offer *offer, void *user);
int model_find_part(const model_bodies *bodies, zw_kind kind, const char *name);
/* Is the definition valid, by itself and in this model? For adding and changing. */
zw_status model_check_part(const zw_model *model, zw_kind kind, const void *def, int index,
                           zw_error *error);
/* The hash table of names: reserves space for one more (0: no memory); rebuilds it after
 * changes. */
int model_names_reserve(model_bodies *bodies);
void model_names_rebuild(model_bodies *bodies);

/* Counts something in a file that has no effect; 0: no memory. */
int model_add_note(zw_model *model, int place, const char *text);
/* Likewise, but MuJoCo's motion depends on it. */
int model_add_difference(zw_model *model, int place, const char *text);

/* ---- Lists of any kind, for the files bodies*.c ---------------------------------------------- */

size_t model_part_size(zw_kind kind);
void *model_part_at(const model_bodies *bodies, zw_kind kind, int index);
int *model_part_place(void *def);
const char **model_part_name(void *def);

/* All references of a definition: the address of each index, and the kind it refers to. */
enum { MODEL_MOST_REFS = 4 };
typedef struct model_refs {
    int count;
    int *at[MODEL_MOST_REFS];
    zw_kind kind[MODEL_MOST_REFS];
    int may_lack[MODEL_MOST_REFS]; /* -1 is allowed */
    int list_count;                /* and a list of joints, */
    int *list;
    int stop_count; /* or of stops, two of each */
    zw_stop *stop;
} model_refs;
void model_part_refs(zw_kind kind, void *def, model_refs *refs);
/* Their number, and the address of reference i. */
int model_ref_count(const model_refs *refs);
int *model_ref_at(const model_refs *refs, int i, zw_kind *kind, int *may_lack);

/* The arrays that a definition owns. */
enum { MODEL_MOST_ARRAYS = 5 };
typedef struct model_array {
    size_t pointer, count; /* offsets */
    size_t unit;           /* bytes of each element */
} model_array;
int model_part_arrays(zw_kind kind, const model_array **list);
void model_part_free(zw_kind kind, void *def);

/* ---- Coordinates ----------------------------------------------------------------------------- */

extern const int model_joint_positions[4]; /* by zw_joint_kind */
extern const int model_joint_speeds[4];
/* Joints of one group act in series, and groups are ordered by these numbers: the body, or for
 * joints that close a loop the number of bodies plus the first joint between the same two
 * bodies. */
int model_joint_group(const model_bodies *bodies, int joint);
/* Joints in the order of the coordinates: order[count of joints]. */
void model_joint_order(const model_bodies *bodies, int *order);
/* Sizes of the arrays of a complete keyframe. */
typedef struct model_sizes {
    int qpos, qvel, act, ctrl, mocap;
} model_sizes;
model_sizes model_sizes_of(const model_bodies *bodies);

/* Rows of a constraint, including those of "name.touch". */
int model_equality_rows(const zw_equality_def *def);

/* ---- inertia.c ------------------------------------------------------------------------------- */

/* As zw_model_inertia, but without the check that every moving body has inertia. */
zw_status model_weigh(const zw_model *model, zw_inertia *list, zw_error *error);

/* movable.c: the first joint without inertia (children included), -1: none, or MODEL_NO_MEMORY. */
enum { MODEL_NO_MEMORY = -2 };
int model_immovable(const model_bodies *b, const zw_inertia *list);

/* ---- mesh.c ---------------------------------------------------------------------------------- */

/* Volume (shells: area), centre and principal moments for density 1. 0: the volume is zero. */
int model_mesh_inertia(const zw_mesh_def *mesh, int shell, zw_inertia *out);

#endif

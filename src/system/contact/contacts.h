/* Contacts of bodies: shapes, filters, and contact points.
 *
 * Compiled once (contact_build.c): the shapes of all geoms in the frames of the tree's bodies, and
 * the filters that MJCF has. Found at every step (contact_find.c): points with a frame, a gap and
 * the numbers of the pair's law, for use by the steps.
 *
 * Two geoms can touch if
 *   - their bodies can move against each other: not the same body of the tree, not both the world;
 *   - at least one of them is not ground (a plane, a height field, a mesh);
 *   - contype of one and conaffinity of the other have a bit in common, either way;
 *   - one is not the parent of the other in the tree, the world aside (unless the file says so);
 *   - their bodies are not excluded;
 * or if there is an explicit pair for them, whatever else holds.
 *
 * Numbers of a pair: of the geom of higher priority; else the larger of the two, one by one.
 * Margins add up; MJCF's `gap`, a distance in which contacts are detected but exert no force, has
 * no effect. (Those are MuJoCo's rules since 3.5 or so; older releases took the larger margin less
 * the larger gap.)
 */
#ifndef ZW_SYSTEM_CONTACTS_H
#define ZW_SYSTEM_CONTACTS_H

#include "collide/broad.h"
#include "collide/collide.h"
#include "system/contact/tolerances.h"
#include "zwang/bodies.h"
#include "zwang/gauss.h"
#include "zwang/status.h"

struct zw_system;
struct zw_state;
struct tree_mechanism;
struct zw_work;

/* Up to this many geoms are tested pair by pair, which is faster than sorting their boxes. */
enum { CONTACT_FEW = 64 };

typedef struct contact_geom {
    collide_shape shape;
    int index;           /* of the model */
    int owner;           /* its body in the model */
    int body;            /* and in the tree; 0: fixed */
    double pos[3], R[9]; /* in the frame of that body */
    double radius;       /* of the bounding sphere about pos; infinite for planes */
    double thick;        /* radius of a sphere inside it; 0 for planes, fields and meshes */
    double margin;       /* its largest margin */
    zw_geom_def law;     /* contype, friction ...; its name is owned, other pointers are not used */
} contact_geom;

/* Two numbers, the smaller first, and the index of an entry for them. */
typedef struct contact_two {
    int a, b, index;
} contact_two;

/* Two geoms that may touch. */
typedef struct contact_match {
    int a, b, plane;            /* plane: 1 or 2 if the first or second is a plane */
    const zw_pair_def *written; /* the explicit pair of the file, or NULL */
    double margin, radius;      /* margin of the two; sum of their radii */
} contact_match;

/* contact_crowd.c */
typedef struct contact_crowd contact_crowd;
typedef struct crowd_work crowd_work;

typedef struct contact_world {
    int geom_count;
    contact_geom *geom;
    unsigned char *still; /* [geoms] it cannot move */
    unsigned char
        *asleep; /* [geoms] not part of the world, but asleep: step/sleep/sleep.c; NULL: none */
    unsigned char *absent; /* [geoms] of bodies that do not exist: step/split/split.c; NULL: none */
    int moving_count;
    int *moving; /* the others */
    int pair_count;
    contact_two *pair; /* geoms of this list, sorted */
    int exclude_count;
    contact_two *exclude;  /* bodies of the model, sorted */
    zw_pair_def *pair_def; /* [pairs of the model] their pointers are not used */
    int keeps_parents;     /* parents and children may touch */
    int touches;           /* at least one pair may touch */
    int match_count; /* few geoms: all pairs that may touch, sorted; for many, collide/broad.h is
                        used */
    contact_match *match;
    contact_crowd *crowd; /* if there are many geoms on few trees, else NULL */
    int capacity;         /* the largest number of points */
    int is_given;         /* the capacity is given by the user */
    double bounce_speed;
    int mesh_count, field_count;
    collide_hull **hull;   /* owned, by mesh of the model */
    collide_mesh **mesh;   /* by mesh of the model, if some geom collides as triangles */
    collide_field **field; /* by height field of the model */
} contact_world;

/* The features that made a point: the same from step to step. */
typedef struct contact_key {
    uint32_t geom[2], feature;
} contact_key;

/* One point. The relative motion is that of the second body relative to the first, along the rows
 * of `frame`: normal, slide, slide; then spin about the normal, roll about the other two. */
typedef struct contact_point {
    contact_key key;
    int body[2]; /* of the tree */
    double pos[3];
    double frame[9]; /* rows: normal (from the first to the second), and two tangents */
    double gap;      /* minus the margin of the pair */
    int rows;        /* 1, 3, 4, 6 */
    double friction[5];
    double restitution;
} contact_point;

/* contact_wait.c: how long pairs can be skipped. */
typedef struct contact_wait {
    double *before;     /* [geoms][6] last positions, and half axes of capsules */
    double *half;       /* [geoms] length of that */
    double *travel;     /* [groups] */
    double *need;       /* [groups] value of `until` from which pairs are skipped now */
    double *until;      /* [matches] */
    int by_shape;       /* some moving shapes have edges; then: */
    collide_pose *last; /* [geoms] last poses */
    double *lever;      /* [geoms] largest distance of a point from the position */
    double *way;        /* [geoms] distance moved, including rotation */
    double *apart; /* [matches] distance that the two may move until they must be tested; -1: now */
} contact_wait;

/* Scratch of one world: poses of geoms, and contact points. */
typedef struct contact_work {
    collide_choice choice; /* of points */
    int placed, bounded;   /* fixed geoms have their poses, and their boxes */
    collide_pose *pose;    /* [geoms] */
    double *reach;         /* [geoms] largest distance that a point may move in the step */
    double *lower, *upper; /* [geoms][3] boxes including that; not used for few geoms */
    collide_broad *broad;
    crowd_work *crowd; /* if the world has one */
    contact_wait wait; /* of its matches */
    int count;
    int capacity;         /* that of the world, unless enlarged */
    contact_point *point; /* [capacity] */
    int needed;           /* number of points found */
    int woken_count;      /* since it was set to 0: sleeping geoms in contact, */
    int *woken;           /* [geoms] each once */
    unsigned char *is_woken;
} contact_work;

/* The contacts of the last step or zw_forward, for zw_contacts, loads and sensors. */
typedef struct contact_list {
    uint64_t of; /* state_digest of the state that it belongs to; 0: none */
    int acts;    /* the accelerations of the work include these forces */
    int rests;   /* contacts of sleeping bodies are included: step/sleep/sleep_rest.c */
    int count, capacity;
    zw_contact *contact;
} contact_list;

/* contact_list.c: an empty list in work->touched with this capacity; NULL: no memory. */
contact_list *contact_list_begin(struct zw_work *work, int capacity);
void contact_list_free(contact_list *list);
/* Clears the list unless it belongs to this state. The list may be NULL. */
void contact_list_keep(contact_list *list, const struct zw_state *state);
/* Adds the contacts of sleeping bodies (NULL: none) to work->touched. 0: no memory. */
int contact_list_join(struct zw_work *work, const contact_list *rest);
/* Appends a contact with names (there are none on a device) and positions; the caller sets forces
 * and speeds. */
zw_contact *contact_list_add(contact_list *list, const struct zw_system *system,
                             const contact_point *point);
/* The wrench of the first body on the second, moment first, about the point. */
void contact_wrench(const zw_contact *contact, double wrench[6]);
/* The forces of the list on the coordinates, added to force[n]; kinematics have been run. */
void contact_list_push(const contact_list *list, const struct zw_system *system,
                       struct zw_work *work, double *force);
/* "floor", or "geom3" without a name; "contact of box3 with floor"; truncated to the capacity. */
void contact_side_name(const contact_world *world, uint32_t geom, char *text, size_t capacity);
void contact_name(const contact_world *world, const contact_key *key, char *text, size_t capacity);

/* contact_build.c */
int contact_capacity(int geom_count); /* the default */
void contact_world_free(contact_world *world);
zw_status contact_work_create(contact_work *work, const contact_world *world);
void contact_work_free(contact_work *work);

/* contact_build.c: the collision kind of a zw_shape. */
collide_kind contact_kind_of(int shape);
/* contact_find.c: may these two of the list touch? */
int contact_may(const contact_world *world, const struct tree_mechanism *tree, int a, int b);

/* The pose of a geom. */
void contact_place(const struct zw_system *system, const contact_geom *geom, const double *sweeps,
                   collide_pose *pose);
contact_match contact_match_of(const contact_world *world, int a, int b);
/* The common data of their points: bodies, rows, friction; gap: the margin. */
contact_point contact_law(const contact_world *world, const contact_match *match);
/* Completes a frame, given its normal, by two tangents: the same for the same normal. */
void contact_span(double frame[9]);
/* The columns of a point's rows, as in contact_rows: dofs in rising order, and whether each moves
 * the second body (1) or the first (-1). Returns their number; column may be NULL. */
int contact_columns(const struct tree_mechanism *tree, const int body[2], int *column,
                    double *side);
/* The points of two geoms; close: the largest distance that the two can close. apart: as for
 * collide_pair_or_gap. */
void contact_meet_match(const contact_world *world, contact_work *work, const contact_match *match,
                        double close, double *apart);

/* Is a sphere, enlarged by its reach, entirely above a plane? */
static inline int contact_above(const collide_pose *plane, const double pos[3], double radius)
{
    double x = pos[0] - plane->pos[0], y = pos[1] - plane->pos[1], z = pos[2] - plane->pos[2];
    return plane->R[2] * x + plane->R[5] * y + plane->R[8] * z > radius;
}

/* Are the bounding spheres of two geoms close enough for contact? */
static inline int contact_near(const contact_world *world, const contact_work *work,
                               const contact_match *match, double margin, double *close)
{
    int a = match->a, b = match->b;
    const double *p = work->pose[a].pos, *q = work->pose[b].pos;
    *close = margin + match->margin + work->reach[a] + work->reach[b];
    double far = match->radius + *close, x = q[0] - p[0], y = q[1] - p[1], z = q[2] - p[2];
    return !(
        x * x + y * y + z * z > far * far ||
        (match->plane == 1 && contact_above(&work->pose[a], q, world->geom[b].radius + *close)) ||
        (match->plane == 2 && contact_above(&work->pose[b], p, world->geom[a].radius + *close)));
}

/* contact_wait.c: 0: no memory. */
int contact_wait_create(contact_wait *wait, const contact_world *world, int groups, int matches);
void contact_wait_free(contact_wait *wait);
/* The geoms of a group have been placed; margin as for contact_find. */
void contact_wait_move(const contact_work *work, contact_wait *wait, int group, const int *geom,
                       int count, double margin);
/* Records the test of a pair of a group, or of one geom of it and a fixed one: were there points?
 * If not, by_plane is a lower bound of their distance; not above 0: unknown. */
void contact_wait_see(const contact_world *world, const contact_work *work, contact_wait *wait,
                      int group, int index, const contact_match *match, int found, double by_plane);
/* Convex, with edges. */
static inline int contact_is_edged(int kind)
{
    return kind > COLLIDE_CAPSULE && kind <= COLLIDE_HULL;
}
/* Can a pair whose spheres are close be skipped by its shapes? close: from contact_near. */
static inline int contact_waits_apart(const contact_wait *wait, int index,
                                      const contact_match *match, double close)
{
    double ways = wait->way[match->a] + wait->way[match->b];
    return wait->apart[index] > ways * (1 + 5e-16) + close;
}
static inline int contact_waits(const contact_wait *wait, int group, int index)
{
    return wait->until[index] > wait->need[group];
}
/* The first pair from this one on that cannot be skipped, or the end. */
static inline int contact_wait_next(const contact_wait *wait, int group, int index, int end)
{
    const double *until = wait->until, need = wait->need[group];
    while (index + 4 <= end && (until[index] > need) & (until[index + 1] > need) &
                                   (until[index + 2] > need) & (until[index + 3] > need)) {
        index += 4;
    }
    while (index < end && until[index] > need) {
        index++;
    }
    return index;
}

/* contact_crowd.c: sets world->crowd if the world is a crowd; 0: no memory. */
int contact_crowd_make(contact_world *world, const struct tree_mechanism *tree);
void contact_crowd_free(contact_crowd *crowd);
crowd_work *crowd_work_create(const contact_world *world); /* NULL: no memory */
void contact_crowd_sizes(const contact_crowd *crowd, int *groups, int *matches);
void crowd_work_free(crowd_work *work);
/* Finds all points, after geoms have been placed; 0: no memory. */
int contact_crowd_meet(const struct zw_system *system, contact_work *work, double margin);

/* All points whose gap is below the distance that the two geoms can close in a time h, or below
 * `margin`, at the pose in `sweeps`, which include velocities. Points are sorted by geoms.
 * ZW_TOO_LARGE with the number needed if they do not fit. */
zw_status contact_find(const struct zw_system *system, contact_work *work, const double *sweeps,
                       double h, double margin, zw_error *error);
zw_status contact_too_many(const contact_work *work, int capacity, zw_error *error);

/* The nearest point of the pair whose points begin with this one. */
const contact_point *contact_nearest(const contact_work *work, int first);
/* After contact_find: do these two geoms meet within h with constant velocities, up to `slack`?
 * Rotation is bounded in any direction. `gap` and `normal` (from a to b) are those of their nearest
 * point at the start. */
int contact_meet(const struct zw_system *system, const contact_work *work, int a, int b,
                 const double *sweeps, double h, double slack, double gap, const double normal[3]);

/* Records a sleeping geom in contact. */
void contact_wake(const contact_world *world, contact_work *work, int geom);

/* The explicit pair of these two geoms; NULL: none. */
const zw_pair_def *contact_pair(const contact_world *world, int a, int b);

/* A point as a block of this many rows: a cone, or a normal row alone. `name` is not copied. */
static inline zw_block contact_block(const contact_point *point, int rows, const char *name)
{
    zw_block block = {.name = name, .kind = rows > 1 ? ZW_CONE : ZW_INEQUALITY, .rows = rows};
    for (int r = 1; r < rows; r++) {
        block.friction[r - 1] = point->friction[r - 1];
    }
    return block;
}

/* The rows of a point, J (second body minus first): [rows][columns], columns being the dofs that
 * move only one of the two, in rising order. Returns their number; column[] and J must have space
 * for both chains. */
int contact_rows(const struct zw_system *system, const contact_point *point, const double *sweeps,
                 int *column, double *J);

/* All geoms of a moving body belong together; static geoms are separate things. */
static inline int contact_thing(const contact_world *world, uint32_t geom)
{
    int body = world->geom[geom].body;
    return body > 0 ? body : -1 - (int)geom;
}

/* contact_now_stuck.c: the square of how far each coordinate moves things by its unit, in the mean
 * over their masses: the inertia along it divided by the mass that it moves. The sweeps have
 * composite inertias; inertia[n] is scratch. */
void contact_reach(const struct tree_mechanism *tree, double *sweeps, double *inertia,
                   double *square);

#endif

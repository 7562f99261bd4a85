/* Contacts of bodies: which shapes there are, which may touch which, and where they do.
 *
 * Compiled once (contact_build.c): the shapes of all geoms in the frames of the tree's bodies, and
 * the filters that MJCF has. Found at every step (contact_find.c): points with a frame, a gap and
 * the numbers of the pair's law. What is done with them is the step's affair.
 *
 * Two geoms can touch if
 *   - their bodies can move against each other: not the same body of the tree, not both the world;
 *   - one of them at least is not ground (a plane, a height field, a mesh);
 *   - contype of one and conaffinity of the other have a bit in common, either way;
 *   - one is not the parent of the other in the tree, the world aside (unless the file says so);
 *   - their bodies are not excluded;
 * or if a pair is written for them, whatever else is said.
 *
 * Numbers of a pair: of the geom of higher priority; else the larger of the two, one by one.
 * Margins add up; MJCF's `gap`, a room in which contacts are known but push nothing, has no effect.
 * (Those are MuJoCo's rules since 3.5 or so; older releases took the larger margin less the larger
 * gap.)
 */
#ifndef ZW_SYSTEM_CONTACTS_H
#define ZW_SYSTEM_CONTACTS_H

#include "collide/broad.h"
#include "collide/collide.h"
#include "zwang/bodies.h"
#include "zwang/status.h"

struct zw_system;
struct zw_state;
struct tree_mechanism;
struct zw_work;

/* So many geoms are looked at two by two: that is faster than sorting their boxes. */
enum { CONTACT_FEW = 64 };

typedef struct contact_geom {
    collide_shape shape;
    int index;           /* of the model */
    int owner;           /* its body in the model */
    int body;            /* and in the tree; 0: it stands still */
    double pos[3], R[9]; /* in the frame of that body */
    double radius;       /* of the sphere about pos that holds it; infinite for planes */
    double thick;        /* radius of a sphere inside it; 0 for planes, fields and meshes */
    double margin;       /* the largest of those that it is kept free by */
    zw_geom_def law;     /* contype, friction ...; its name is ours, other pointers are not used */
} contact_geom;

/* Two numbers, the smaller first, and what they lead to. */
typedef struct contact_two {
    int a, b, index;
} contact_two;

/* Two geoms that may touch. */
typedef struct contact_match {
    int a, b, plane;            /* plane: 1, 2: the first, the second is one */
    const zw_pair_def *written; /* what a file says of them as a pair, if it does */
    double margin, radius;      /* that they keep; sum of their radii */
} contact_match;

/* contact_crowd.c */
typedef struct contact_crowd contact_crowd;
typedef struct crowd_work crowd_work;

typedef struct contact_world {
    int geom_count;
    contact_geom *geom;
    unsigned char *still;  /* [geoms] it cannot move */
    unsigned char *asleep; /* [geoms] nor is it part of the world: step/sleep/sleep.c; NULL: none */
    int moving_count;
    int *moving; /* the others */
    int pair_count;
    contact_two *pair; /* geoms of this list, sorted */
    int exclude_count;
    contact_two *exclude;  /* bodies of the model, sorted */
    zw_pair_def *pair_def; /* [pairs of the model] their pointers are not used */
    int keeps_parents;     /* parents and children may touch */
    int touches;           /* there are two that may touch */
    int match_count; /* few geoms: all that may touch, sorted; many are left to collide/broad.h */
    contact_match *match;
    contact_crowd *crowd; /* many geoms on few trees; NULL: they are not */
    int capacity;         /* points that a state has room for */
    int is_given;         /* by the user */
    double bounce_speed;
    int mesh_count, field_count;
    collide_hull **hull;   /* ours, by mesh of the model */
    collide_mesh **mesh;   /* by mesh of the model, if some geom touches by its triangles */
    collide_field **field; /* by height field of the model */
} contact_world;

/* The features that made a point: the same from step to step. */
typedef struct contact_key {
    uint32_t geom[2], feature;
} contact_key;

/* One point. The relative motion is that of the second body against the first, seen along `frame`:
 * rows normal, slide, slide; then spin about the normal, roll about the other two. */
typedef struct contact_point {
    contact_key key;
    int body[2]; /* of the tree */
    double pos[3];
    double frame[9]; /* rows: normal (from the first to the second), and two across */
    double gap;      /* less the margin that the file keeps free */
    int rows;        /* 1, 3, 4, 6 */
    double friction[5];
    double restitution;
} contact_point;

/* contact_wait.c: how long pairs need not be looked at. */
typedef struct contact_wait {
    double *before;     /* [geoms][6] where they were, and the half axes of capsules */
    double *half;       /* [geoms] length of that */
    double *travel;     /* [groups] */
    double *need;       /* [groups] as far as pairs must be able to wait, to be left alone now */
    double *until;      /* [matches] */
    int by_shape;       /* there are shapes with edges that move; then: */
    collide_pose *last; /* [geoms] where they were */
    double *lever;      /* [geoms] as far as their points are from their places */
    double *way;        /* [geoms] that they have gone, turning included */
    double *apart;      /* [matches] as far as two may go until they must be looked at; -1: now */
} contact_wait;

/* Scratch of one world: where the geoms are, and what touches. */
typedef struct contact_work {
    int placed, bounded;   /* what stands still has its place, and its box: once is enough */
    collide_pose *pose;    /* [geoms] */
    double *reach;         /* [geoms] how far its points may go in the step */
    double *lower, *upper; /* [geoms][3] boxes around all that; not made for few geoms */
    collide_broad *broad;
    crowd_work *crowd; /* if the world is one */
    contact_wait wait; /* of its matches */
    int count;
    int capacity;         /* the world's, unless it has been enlarged */
    contact_point *point; /* [capacity] */
    int needed;           /* points that there were */
    int woken_count;      /* since it was set to 0: sleeping geoms that were met, */
    int *woken;           /* [geoms] each once */
    unsigned char *is_woken;
} contact_work;

/* What the last step left, or zw_forward; for zw_contacts, loads and sensors. */
typedef struct contact_list {
    uint64_t of; /* state_digest of the state that it belongs to; 0: of none */
    int acts;    /* the accelerations of the work are those with these forces */
    int rests;   /* those of sleepers are among them: step/sleep/sleep_rest.c */
    int count, capacity;
    zw_contact *contact;
} contact_list;

/* contact_list.c: an empty list in work->touched, with room for so many; 0: no memory. */
contact_list *contact_list_begin(struct zw_work *work, int capacity);
void contact_list_free(contact_list *list);
/* Unless it is of this state it becomes empty, and of none. NULL is fine. */
void contact_list_keep(contact_list *list, const struct zw_state *state);
/* Those of sleepers (NULL: none) into work->touched. 0: no memory. */
int contact_list_join(struct zw_work *work, const contact_list *rest);
/* One more: names and places; forces and speeds are the caller's. */
zw_contact *contact_list_add(contact_list *list, const struct zw_system *system,
                             const contact_point *point);
/* The wrench that the second body gets from the first, moment first, about the point. */
void contact_wrench(const zw_contact *contact, double wrench[6]);
/* The forces of the list on the coordinates, added to force[n]; kinematics have been run. */
void contact_list_push(const contact_list *list, const struct zw_system *system,
                       struct zw_work *work, double *force);
/* "floor", or "geom3" where it has no name; "contact of box3 with floor"; cut to the room. */
void contact_side_name(const contact_world *world, uint32_t geom, char *text, size_t capacity);
void contact_name(const contact_world *world, const contact_key *key, char *text, size_t capacity);

/* contact_build.c */
int contact_capacity(int geom_count); /* unless the user says another */
void contact_world_free(contact_world *world);
zw_status contact_work_create(contact_work *work, const contact_world *world);
void contact_work_free(contact_work *work);

/* contact_build.c: a zw_shape, as it touches. */
collide_kind contact_kind_of(int shape);
/* contact_find.c: may these two of the list touch? */
int contact_may(const contact_world *world, const struct tree_mechanism *tree, int a, int b);

/* Where a geom is. */
void contact_place(const struct zw_system *system, const contact_geom *geom, const double *sweeps,
                   collide_pose *pose);
contact_match contact_match_of(const contact_world *world, int a, int b);
/* What their points have in common: bodies, rows, friction; gap: the margin that is kept. */
contact_point contact_law(const contact_world *world, const contact_match *match);
/* Two directions across the normal that a frame begins with: the same for the same normal. */
void contact_span(double frame[9]);
/* The columns of a point's rows, as contact_rows has them: dofs in rising order, and whether each
 * moves the second body (1) or the first (-1). Returns their number; NULL: only that. */
int contact_columns(const struct tree_mechanism *tree, const int body[2], int *column,
                    double *side);
/* The points of two geoms; close: all that the two can close. apart: as for collide_pair_or_gap. */
void contact_meet_match(const contact_world *world, contact_work *work, const contact_match *match,
                        double close, double *apart);

/* Is a sphere, grown by what it can do, all above a plane? */
static inline int contact_above(const collide_pose *plane, const double pos[3], double radius)
{
    double x = pos[0] - plane->pos[0], y = pos[1] - plane->pos[1], z = pos[2] - plane->pos[2];
    return plane->R[2] * x + plane->R[5] * y + plane->R[8] * z > radius;
}

/* Are the spheres around two near each other? */
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
/* A pair of a group, or of one of it and one that stands still, was looked at: were there points?
 * If not, by_plane is how far they are apart at least; not above 0: that is not known. */
void contact_wait_see(const contact_world *world, const contact_work *work, contact_wait *wait,
                      int group, int index, const contact_match *match, int found, double by_plane);
/* Convex, with edges. */
static inline int contact_is_edged(int kind)
{
    return kind > COLLIDE_CAPSULE && kind <= COLLIDE_HULL;
}
/* Two whose spheres are near each other, by their shapes: close as from contact_near. */
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
/* The first pair from this one on that does not wait, or the end. */
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

/* contact_crowd.c: is this a crowd, then world->crowd; 0: no memory. */
int contact_crowd_make(contact_world *world, const struct tree_mechanism *tree);
void contact_crowd_free(contact_crowd *crowd);
crowd_work *crowd_work_create(const contact_world *world); /* NULL: no memory */
void contact_crowd_sizes(const contact_crowd *crowd, int *groups, int *matches);
void crowd_work_free(crowd_work *work);
/* All points, where geoms have been placed; 0: no memory. */
int contact_crowd_meet(const struct zw_system *system, contact_work *work, double margin);

/* All points with a gap below what the two geoms can close in a time h, at the pose
 * in `sweeps`, where velocities have been swept too; and below `margin` at least. Points come
 * sorted by geoms. ZW_TOO_LARGE with the number needed if they do not fit. */
zw_status contact_find(const struct zw_system *system, contact_work *work, const double *sweeps,
                       double h, double margin, zw_error *error);
zw_status contact_too_many(const contact_work *work, int capacity, zw_error *error);

/* After contact_find: do these two geoms of the list meet within h, if they go on as they do? Up to
 * `slack`; what turns may turn any way. */
int contact_meet(const struct zw_system *system, const contact_work *work, int a, int b,
                 const double *sweeps, double h, double slack);

/* Note a sleeper that was met. */
void contact_wake(const contact_world *world, contact_work *work, int geom);

/* What the file says of these two geoms as a pair; NULL: nothing. */
const zw_pair_def *contact_pair(const contact_world *world, int a, int b);

/* The rows of a point, J (second body less first): [rows][columns], columns being the dofs that
 * move only one of the two, in rising order. Returns their number; column[] and J have room for
 * both chains. */
int contact_rows(const struct zw_system *system, const contact_point *point, const double *sweeps,
                 int *column, double *J);

#endif

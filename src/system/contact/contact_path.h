/* Do two geoms meet on the way from one configuration to the next? contact_path.c has the proof. */
#ifndef ZW_SYSTEM_CONTACT_PATH_H
#define ZW_SYSTEM_CONTACT_PATH_H

#include "system/contact/contacts.h"

/* The way of all bodies over a time h: q(t) = q0 (+) t u. */
typedef struct contact_path {
    const struct zw_system *system;
    const double *q0, *u;
    double h;
    double *turn;         /* [bodies] bounds that hold all along the way: of |omega|, */
    double *twist;        /* of |omega'|, */
    double *speed;        /* of the speed of the centre of mass, */
    double *bend;         /* and of its acceleration */
    double *length, *out; /* [bodies], [geoms] lengths that do not change; contact_path.c */
    double *q, *sweeps;
    const double *start; /* sweeps of q0 that know the speeds u; NULL: there are none */
    int placed;          /* poses of the contact_work that is asked with are those of q0 */
    double *end;         /* sweeps of q0 (+) h u that know the speeds u, */
    collide_pose *last;  /* [geoms] and where all is then; */
    int ended;           /* they are there */
    void *memory;
} contact_path;

zw_status contact_path_create(contact_path *path, const struct zw_system *system);
void contact_path_free(contact_path *path);
void contact_path_begin(contact_path *path, const double *q0, const double *u, double h);

/* How far points of a geom go at most: by the bounds alone; and by these sweeps, which are those of
 * some instant of the way, with its speeds. */
double contact_path_length(const contact_path *path, int geom);
double contact_path_reach(const contact_path *path, int geom, const collide_pose *pose,
                          const double *sweeps);

/* What depth cannot be the way through: half of what two geoms would have to be moved to be in
 * each other with their middles; and what counts as touching. */
double contact_path_depth(const contact_path *path, int a, int b);
double contact_path_hair(const contact_path *path, const contact_work *work, int a, int b);

/* What is nearer touches: by the sum of the two thicknesses, and by round-off of places, the sum of
 * whose coordinates is `far`. */
#define CONTACT_PATH_HAIR(thick, far) (1e-6 * (thick) + 1e-13 * ((far) + (thick)))

/* A way is looked at so many times at most. */
enum { CONTACT_PATH_LOOKS = 400 };

/* Of that depth: pairs of one linearisation's problem that are nearer count as touching. How they
 * come together is for the problem to say; a proof that they do not touch at all would have to
 * follow a gap of round-off along bounds of the accelerations, in hundreds of looks. (test_cost.c
 * holds it from both sides: 0 and 1 both cost more.) */
#define CONTACT_PATH_NEAR 0.1

/* Fields and meshes are many convex pieces. */
static inline int contact_is_pieces(int kind)
{
    return kind == COLLIDE_FIELD || kind == COLLIDE_MESH;
}

/* At an instant of the way, whose poses are in `work` and whose sweeps have the speeds u, a plane
 * across n divides two geoms: for how long, at least, has it been so before (way -1), or will it
 * be (1), that they come no nearer along n than by `room`? */
double contact_path_safe(const contact_path *path, const contact_work *work, int a, int b,
                         const double *sweeps, const double n[3], double room, double way);

/* The time at which two geoms that are apart at the start meet, or INFINITY: not before `until`.
 * Where they are seen to touch, at the start or on request, it is the time from which on they
 * go through each other; of two that touch at the start half of that, as the way is then too
 * coarse; or INFINITY if `seen` is -1. *sure: all that was found within the effort that there is.
 */
double contact_path_meet(contact_path *path, const contact_work *work, int a, int b, double until,
                         int seen, int *sure);

#endif

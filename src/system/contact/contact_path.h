/* Do two geoms meet on the path from one configuration to the next? contact_path.c has the
 * proof. */
#ifndef ZW_SYSTEM_CONTACT_PATH_H
#define ZW_SYSTEM_CONTACT_PATH_H

#include "base/memory.h"
#include "system/contact/contacts.h"

/* The path is divided into this many parts, at whose ends bodies are placed once for all pairs. */
enum { CONTACT_PATH_INSTANTS = 8 };

/* The path of all bodies over a time h: q(t) = q0 (+) t u. */
typedef struct contact_path {
    const struct zw_system *system;
    const double *q0, *u;
    double h;
    double *turn;         /* [bodies] bounds valid on the whole path: of |omega|, */
    double *twist;        /* of |omega'|, */
    double *speed;        /* of the speed of the centre of mass, */
    double *bend;         /* and of its acceleration */
    double *length, *out; /* [bodies], [geoms] constant lengths; contact_path.c */
    double *q, *sweeps;
    const double *start; /* sweeps at q0 with the speeds u; NULL: there are none */
    int placed;          /* the poses in the contact_work passed in are those of q0 */
    double *instant[CONTACT_PATH_INSTANTS]; /* sweeps at the ends of equal parts of the path, */
    unsigned char *known;                   /* [instants][bodies] computed for these bodies */
    void *memory;
} contact_path;

zw_status contact_path_create(contact_path *path, const struct zw_system *system);
void contact_path_free(contact_path *path);
/* What contact_path_create does, in memory of the caller: arrays, and then their constants. */
void contact_path_lay_out(contact_path *path, const struct zw_system *system, base_arena *arena);
void contact_path_measure(contact_path *path);
void contact_path_begin(contact_path *path, const double *q0, const double *u, double h);
/* Improves the bounds by the speeds at one instant of the path, which these sweeps have. */
void contact_path_tighten(contact_path *path, const double *sweeps);

/* The largest distance that a point of a geom moves: by the bounds alone; and by these sweeps,
 * which are those of some instant of the path, with its speeds. */
double contact_path_length(const contact_path *path, int geom);
double contact_path_reach(const contact_path *path, int geom, const collide_pose *pose,
                          const double *sweeps);

/* A depth at which the geoms cannot have passed through each other: half of the depth at which
 * their centres coincide; and the distance below which they count as touching. */
double contact_path_depth(const contact_path *path, int a, int b);
double contact_path_hair(const contact_path *path, const contact_work *work, int a, int b);

/* Pairs in the problem of one linearisation that are nearer count as touching: a plane at any
 * distance, as it has no other side. All points of a shape that may reach it are in the problem, so
 * what is left to prove is that none is too deep in it on the way. */
double contact_path_near(const contact_path *path, int a, int b);

/* Fields and meshes consist of many convex pieces. */
static inline int contact_is_pieces(int kind)
{
    return kind == COLLIDE_FIELD || kind == COLLIDE_MESH;
}

/* At an instant of the path, whose poses are in `work` and whose sweeps have the speeds u, a plane
 * normal to n separates two geoms: for at least how long before (way -1) or after (1) it do they
 * approach along n by no more than `distance`? */
double contact_path_safe(const contact_path *path, const contact_work *work, int a, int b,
                         const double *sweeps, const double n[3], double distance, double way);

/* The time at which two geoms that are apart at the start meet, or INFINITY: not before `until`. If
 * they count as touching, at the start or because of `seen`, it is the time from which they pass
 * through each other; for two that touch at the start half of that, as the path is then too coarse;
 * or INFINITY if `seen` is -1. *sure: the answer was found within the allowed effort.
 */
double contact_path_meet(contact_path *path, const contact_work *work, int a, int b, double until,
                         int seen, int *sure);

#endif

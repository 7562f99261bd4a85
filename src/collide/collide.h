/* Shapes to contact points.
 *
 * Two shapes in their poses, and a margin: the points at which they touch, or will touch when they
 * are pushed together by the margin. A point says
 *
 *     normal   unit, from the first shape to the second: the way the second is pushed
 *     gap      distance of the two surfaces along the normal; negative: they overlap
 *     pos      half way between the two surface points, pos -+ gap/2 * normal
 *     feature  which parts of the shapes made it: the same number for the same corner, edge or
 *              face in the next step, so that its force is remembered
 *
 * A manifold is whole: a box on a plane has four points, a cylinder lying on one has two, standing
 * on it as many as say that it cannot tip. Points come in an order that depends on the shapes and
 * poses alone. Nothing allocates; what does not fit into the room given is counted, not written.
 *
 * Shapes are convex (plane: the half space below z = 0), but height fields and triangle meshes,
 * which do not move. */
#ifndef ZW_COLLIDE_COLLIDE_H
#define ZW_COLLIDE_COLLIDE_H

#include <stddef.h>
#include <stdint.h>

#include "zwang/status.h"

typedef enum collide_kind {
    COLLIDE_PLANE,     /* outside is z > 0; endless */
    COLLIDE_SPHERE,    /* size[0]: radius */
    COLLIDE_CAPSULE,   /* radius, half length between the centres of the caps, along z */
    COLLIDE_ELLIPSOID, /* half axes */
    COLLIDE_CYLINDER,  /* radius, half length, along z */
    COLLIDE_BOX,       /* half lengths */
    COLLIDE_CONE,      /* radius of the base at z = -half, half length; apex at z = +half */
    COLLIDE_HULL,      /* convex hull of vertices */
    COLLIDE_FIELD,     /* heights over a grid */
    COLLIDE_MESH,      /* triangles, one-sided */
    COLLIDE_KINDS
} collide_kind;

/* Made once from vertices (hull.c): vertices, faces as polygons, edges, neighbours. */
typedef struct collide_hull collide_hull;
typedef struct collide_field collide_field;
typedef struct collide_mesh collide_mesh;

typedef struct collide_shape {
    collide_kind kind;
    double size[3];
    const collide_hull *hull;
    const collide_field *field;
    const collide_mesh *mesh;
} collide_shape;

/* Of the shape's frame in the world; R row by row, to world axes from the shape's. */
typedef struct collide_pose {
    double pos[3], R[9];
} collide_pose;

typedef struct collide_point {
    double pos[3], normal[3], gap;
    uint32_t feature;
} collide_point;

/* Points with gap <= margin: fills point[0 .. capacity-1], returns how many there are, which may be
 * more. Any order of kinds. Two of the ground (planes, height fields, meshes) have none. Of many on
 * height fields and meshes the outermost and deepest are answered, if there is room for 100. A pose
 * that is not a number has no points: collide_broad_update says which it is. */
int collide_pair(const collide_shape *a, const collide_pose *at_a, const collide_shape *b,
                 const collide_pose *at_b, double margin, collide_point *point, int capacity);

/* The same; if there are no points, *apart may be set: no two points of the shapes are nearer. It
 * is left as it is where nothing better than spheres around them is known. */
int collide_pair_or_gap(const collide_shape *a, const collide_pose *at_a, const collide_shape *b,
                        const collide_pose *at_b, double margin, collide_point *point, int capacity,
                        double *apart);

/* Planes, height fields and meshes: what other shapes lie on. Two of them never touch. */
static inline int collide_is_ground(const collide_shape *shape)
{
    return shape->kind == COLLIDE_PLANE || shape->kind >= COLLIDE_FIELD;
}

/* How far two are apart, negative where they overlap: planes, spheres and capsules only. It may be
 * a hair too much. Infinite for two planes. */
double collide_clearance(const collide_shape *a, const collide_pose *at_a, const collide_shape *b,
                         const collide_pose *at_b);

/* ray.c: of p + t d, in the frame of a convex shape that is no hull: what is in it; empty where
 * from > to. */
typedef struct collide_span {
    double from, to;
} collide_span;
collide_span collide_ray_span(collide_kind kind, const double size[3], const double p[3],
                              const double d[3]);
/* The least t >= 0 at which p + t d meets the surface, and the unit normal there; -1: none. In the
 * frame of the shape: any but a hull or a height field; a plane has half lengths, 0: endless. */
double collide_ray(const collide_shape *shape, const double p[3], const double d[3],
                   double normal[3]);

/* The box along the world's axes around a shape: lower and upper corner; a plane's is endless. */
void collide_bounds(const collide_shape *shape, const collide_pose *at, double lower[3],
                    double upper[3]);

#endif

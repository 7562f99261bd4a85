/* Shapes to contact points.
 *
 * From two shapes, their poses and a margin: the points at which the shapes touch, or would touch
 * if moved together by the margin. A point has
 *
 *     normal   unit, from the first shape to the second: the direction of the force on the second
 *     gap      distance of the two surfaces along the normal; negative: they overlap
 *         pos      halfway between the two surface points pos -+ gap/2 * normal
 *     feature  which parts of the shapes made it: the same number for the same corner, edge or
 *                           face in the next step, so that its force can be a starting value
 *
 * A manifold is complete: a box on a plane has four points, a cylinder lying on it has two, a
 * standing one enough to keep it from tipping. The order of the points depends on shapes and poses
 * alone. Nothing is allocated; points beyond the capacity are counted, not stored.
 *
 * Shapes are convex (plane: the half space below z = 0), except height fields and triangle meshes,
 * which are fixed. */
#ifndef ZW_COLLIDE_COLLIDE_H
#define ZW_COLLIDE_COLLIDE_H

#include <stddef.h>
#include <stdint.h>

#include "zwang/status.h"

typedef enum collide_kind {
    COLLIDE_PLANE,     /* outside is z > 0; infinite */
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

/* The pose of the shape's frame in the world; R row by row, from the shape's axes to the
 * world's. */
typedef struct collide_pose {
    double pos[3], R[9];
} collide_pose;

typedef struct collide_point {
    double pos[3], normal[3], gap;
    uint32_t feature;
} collide_point;

/* Which points. Those of MuJoCo differ for cylinders on planes (a triangle for our square), for two
 * capsules (one point, unless they are parallel), for capsules and boxes (at most two: box.c),
 * whose features contain the number COLLIDE_MUJOCO, and for two boxes (edges: box.c): formulas, so
 * that its motion can be had to the last digits; and for capsules with cylinders and hulls
 * (convex.c), as well as it knows them. For these the size of a hull is that of the box around it
 * along its axes of inertia. */
typedef enum collide_choice { COLLIDE_COMPLETE = 0, COLLIDE_MUJOCO = 1 << 16 } collide_choice;

/* Points with gap <= margin: fills point[0 .. capacity-1] and returns their number, which may be
 * larger. The kinds may be in any order. Two ground shapes (planes, height fields, meshes) have no
 * points. Of many points on height fields and meshes the outermost and deepest are returned, if the
 * capacity is at least 100. A pose with NaN has no points: collide_broad_update reports it. */
int collide_pair(const collide_shape *a, const collide_pose *at_a, const collide_shape *b,
                 const collide_pose *at_b, double margin, collide_point *point, int capacity);

/* The same, and of either choice; if there are no points, *apart may be set to a lower bound of the
 * distance of the shapes. It is not changed if no better bound than that of bounding spheres is
 * known. */
int collide_pair_or_gap(const collide_shape *a, const collide_pose *at_a, const collide_shape *b,
                        const collide_pose *at_b, double margin, collide_choice choice,
                        collide_point *point, int capacity, double *apart);

/* Ground: planes, height fields and meshes. Two of them never touch. */
static inline int collide_is_ground(const collide_shape *shape)
{
    return shape->kind == COLLIDE_PLANE || shape->kind >= COLLIDE_FIELD;
}

/* The distance of two shapes, negative where they overlap: planes, spheres and capsules only.
 * Round-off may make it slightly too large. Infinite for two planes. */
double collide_clearance(const collide_shape *a, const collide_pose *at_a, const collide_shape *b,
                         const collide_pose *at_b);

/* ray.c: the interval of t for which p + t d, in the frame of the shape, is inside it; empty if
 * from > to. For convex shapes other than hulls. */
typedef struct collide_span {
    double from, to;
} collide_span;
collide_span collide_ray_span(collide_kind kind, const double size[3], const double p[3],
                              const double d[3]);
/* The least t >= 0 at which p + t d meets the surface, and the unit normal there; -1: none. In the
 * frame of the shape, which may not be a hull or a height field; a plane has half lengths, 0:
 * infinite. */
double collide_ray(const collide_shape *shape, const double p[3], const double d[3],
                   double normal[3]);

/* The box along the world's axes around a shape: lower and upper corner; infinite for a plane. */
void collide_bounds(const collide_shape *shape, const collide_pose *at, double lower[3],
                    double upper[3]);

#endif

/* What the files of this folder share.
 *
 * A pair is computed relative to the position of its first shape (a), which has the lower kind; so
 * far from the origin only the last digits of the difference of the two positions are lost. With
 * ground shapes (planes, fields, meshes) the axes are the ground's, else the world's. Convex shapes
 * are a core and a rounding: a sphere is a point, a capsule a segment with a radius, the others are
 * their own core with radius 0. For directions n (unit, from a to b)
 *
 *     gap(n) = min over b of n.x - max over a of n.x
 *
 * is the separation of the shapes along n (negative: the distance by which they would have to be
 * moved apart), and the contact normal is the n where it is largest. Every gap returned is gap(n)
 * of the returned n, computed from the supports themselves: so separation is always proved by a
 * plane. */
#ifndef ZW_COLLIDE_INNER_H
#define ZW_COLLIDE_INNER_H

#include "collide/collide.h"
#include "collide/hull.h"
#include "collide/vector.h"

enum { COLLIDE_POLYGON = 160, COLLIDE_FACE = 20, COLLIDE_TRIANGLE = COLLIDE_KINDS };

/* Receives the points: positions and directions are relative to the position of `frame`, along its
 * axes if `turn`, else along the world's; the two shapes are exchanged if `flip`. */
typedef struct collide_sink {
    collide_point *point;
    int capacity, count, flip, turn;
    double margin;
    const collide_pose *frame;
    uint32_t salt; /* mixed into features: which triangle of many */
    double *apart; /* as for collide_pair_or_gap, for convex shapes; NULL: not needed */
    collide_choice choice;
} collide_sink;

/* A convex shape in its pose. A triangle has kind COLLIDE_TRIANGLE and its corners. */
typedef struct collide_solid {
    int kind;
    double size[3], radius; /* radius: of the rounding around the core */
    const collide_hull *hull;
    const double *corner;
    double R[9], t[3];
    double extent; /* largest distance of a core point from t */
} collide_solid;

/* A point of the difference a - b of the cores, and the two points it is the difference of. */
typedef struct collide_apex {
    double w[3], a[3], b[3];
    int ia, ib;
} collide_apex;

/* The supporting polygon of a core: 1 point, 2 an edge, more: a face, counterclockwise about its
 * outward normal. `round`: for an edge in a curved surface, the radius of curvature across it at
 * its two ends; linear between them. */
typedef struct collide_polygon {
    int count, face;
    double point[COLLIDE_POLYGON][3], normal[3], round[2];
    int id[COLLIDE_POLYGON];
} collide_polygon;

static inline int collide_curved(const collide_solid *s)
{
    return s->kind == COLLIDE_ELLIPSOID || s->kind == COLLIDE_CYLINDER || s->kind == COLLIDE_CONE;
}

void collide_solid_of(const collide_shape *shape, collide_solid *out); /* without its pose */
/* The farthest point in a direction, in the shape's own frame; returns the number of the corner. */
int collide_own_support(const collide_solid *s, const double u[3], double p[3]);
void collide_support(const collide_solid *s, const double n[3], double p[3], int *id);
void collide_support_pair(const collide_solid *a, const collide_solid *b, const double n[3],
                          collide_apex *out);
double collide_gap(const collide_solid *a, const collide_solid *b, const double n[3]);
/* Is a point in a core, up to `slack`? Also 0 where that is not computed (ellipsoids). */
int collide_inside(const collide_solid *s, const double p[3], double slack);
/* At most `most` corners of a hull's face. */
void collide_polygon_of(const collide_solid *s, const double n[3], int most, collide_polygon *out);

/* pos: half way between the surfaces. */
void collide_emit(collide_sink *sink, const double pos[3], const double normal[3], double gap,
                  uint32_t feature);

/* Removes points from number `first` on that coincide with earlier ones from number `old` on. */
void collide_drop_twins(collide_sink *sink, int old, int first, double near);

/* Pairs with a special routine. */
void collide_plane(const collide_solid *b, collide_sink *sink);
void collide_sphere(const collide_solid *a, const collide_solid *b, collide_sink *sink);
/* a: plane, sphere, capsule; b: sphere, capsule. */
void collide_round(const collide_shape *a, const collide_pose *at_a, const collide_shape *b,
                   const collide_pose *at_b, collide_sink *sink);
void collide_boxes(const collide_solid *a, const collide_solid *b, collide_sink *sink);
void collide_capsule_box(const collide_solid *a, const collide_solid *b, collide_sink *sink);

/* Distance of the cores, up to the relative error `near`. 1: they are separated by a plane normal
 * to n, nearest at the pair. 0: not proved; the simplex is a start for collide_epa. 2: separated by
 * more than `enough` along n, which is at least the fraction `share` of their distance. */
int collide_gjk(const collide_solid *a, const collide_solid *b, double enough, double share,
                double near, collide_apex simplex[4], int *count, double n[3], collide_apex *pair);
/* The pair of points whose difference is nearest to the origin on the simplex, approximately. */
void collide_between(const collide_apex *simplex, int count, collide_apex *out);
/* The direction of least overlap of cores that overlap or touch; returns its gap. */
double collide_epa(const collide_solid *a, const collide_solid *b, collide_apex simplex[4],
                   int count, double n[3], collide_apex *witness);
/* Moves n to the nearest stationary point of gap(n), by the features of the simplex; the result is
 * never worse. `sure`: two points prove that it is stationary; for separated shapes there is only
 * one. */
double collide_refine(const collide_solid *a, const collide_solid *b, const collide_apex *simplex,
                      int count, double n[3], collide_apex *witness, int *sure);

/* The largest gap(n) and its n. 0: it is above the margin, and so is the gap returned, which is at
 * least `share` of the distance of the cores. */
int collide_direction(const collide_solid *a, const collide_solid *b, double margin, double share,
                      double n[3], double *gap, collide_apex *witness);
/* gap(n) of a plane that separates the shapes, approximately their distance; -1: none was found. */
double collide_apart(const collide_solid *a, const collide_solid *b);
void collide_convex(const collide_solid *a, const collide_solid *b, collide_sink *sink);
/* All contact points of the two supporting polygons for n, given gap(n). 0: none of them has this
 * gap; then the witness is added, or, without one and if `need_exact`, all are removed. */
int collide_manifold(const collide_solid *a, const collide_solid *b, const double n[3], double gap,
                     const collide_apex *witness, int need_exact, collide_sink *sink);

#endif

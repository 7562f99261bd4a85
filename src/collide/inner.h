/* What the files of this folder share.
 *
 * A pair is computed around the place of its first shape (a), which has the lower kind; so a pair
 * far from the origin loses nothing but the last digits of the difference of the two places. With
 * the ground (planes, fields, meshes) the axes are the ground's, else the world's. Convex
 * shapes are a core and a rounding: a sphere is a point, a capsule a segment with a radius, the
 * others are their own core with radius 0. For directions n (unit, from a to b)
 *
 *     gap(n) = min over b of n.x - max over a of n.x
 *
 * is what separates the shapes along n (negative: what they would have to be moved apart), and the
 * contact normal is where it is largest. Every gap that is answered is gap(n) of the answered n,
 * computed from the supports themselves: so "separated" is always proved by a plane. */
#ifndef ZW_COLLIDE_INNER_H
#define ZW_COLLIDE_INNER_H

#include "collide/collide.h"
#include "collide/hull.h"
#include "collide/vector.h"

enum { COLLIDE_POLYGON = 160, COLLIDE_FACE = 20, COLLIDE_TRIANGLE = COLLIDE_KINDS };

/* Where points go: places and directions are from the place of `frame`, along its axes if `turn`
 * and along the world's if not; turned over if `flip`. */
typedef struct collide_sink {
    collide_point *point;
    int capacity, count, flip, turn;
    double margin;
    const collide_pose *frame;
    uint32_t salt; /* mixed into features: which triangle of many */
    double *apart; /* as for collide_pair_or_gap, of convex shapes; NULL: not wanted */
} collide_sink;

/* A convex shape at its place. A triangle has kind COLLIDE_TRIANGLE and its corners. */
typedef struct collide_solid {
    int kind;
    double size[3], radius; /* radius: of the rounding around the core */
    const collide_hull *hull;
    const double *corner;
    double R[9], t[3];
    double extent; /* bound of distances of core points from t */
} collide_solid;

/* A point of the difference a - b of the cores, and what made it. */
typedef struct collide_apex {
    double w[3], a[3], b[3];
    int ia, ib;
} collide_apex;

/* The supporting polygon of a core: 1 point, 2 an edge, more: a face, counterclockwise about its
 * outward normal. `round` is the radius of the surface across the ends of an edge that lies in a
 * curved one; it grows evenly between them. */
typedef struct collide_polygon {
    int count, face;
    double point[COLLIDE_POLYGON][3], normal[3], round[2];
    int id[COLLIDE_POLYGON];
} collide_polygon;

static inline int collide_curved(const collide_solid *s)
{
    return s->kind == COLLIDE_ELLIPSOID || s->kind == COLLIDE_CYLINDER || s->kind == COLLIDE_CONE;
}

void collide_solid_of(const collide_shape *shape, collide_solid *out); /* without its place */
/* The farthest point in a direction, in the shape's own frame: the number of its corner. */
int collide_own_support(const collide_solid *s, const double u[3], double p[3]);
void collide_support(const collide_solid *s, const double n[3], double p[3], int *id);
void collide_support_pair(const collide_solid *a, const collide_solid *b, const double n[3],
                          collide_apex *out);
double collide_gap(const collide_solid *a, const collide_solid *b, const double n[3]);
/* Whether a point is of a core, up to `slack`; 0 also where that is not known (ellipsoids). */
int collide_inside(const collide_solid *s, const double p[3], double slack);
/* Of a hull's face so many corners at most. */
void collide_polygon_of(const collide_solid *s, const double n[3], int most, collide_polygon *out);

/* pos: half way between the surfaces. */
void collide_emit(collide_sink *sink, const double pos[3], const double normal[3], double gap,
                  uint32_t feature);

/* Takes points from number `first` on back that are where one from number `old` on is already. */
void collide_drop_twins(collide_sink *sink, int old, int first, double near);

/* All pairs that have a rule of their own. */
void collide_plane(const collide_solid *b, collide_sink *sink);
void collide_sphere(const collide_solid *a, const collide_solid *b, collide_sink *sink);
/* a: plane, sphere, capsule; b: sphere, capsule. */
void collide_round(const collide_shape *a, const collide_pose *at_a, const collide_shape *b,
                   const collide_pose *at_b, collide_sink *sink);
void collide_boxes(const collide_solid *a, const collide_solid *b, collide_sink *sink);
void collide_capsule_box(const collide_solid *a, const collide_solid *b, collide_sink *sink);

/* Distance of the cores, up to the part `near` of it. 1: they are apart by a plane across n,
 * nearest at the pair. 0: not proved; the simplex is where to begin looking from inside. 2: farther
 * than `enough` along n, and that is at least the part `share` of their distance. */
int collide_gjk(const collide_solid *a, const collide_solid *b, double enough, double share,
                double near, collide_apex simplex[4], int *count, double n[3], collide_apex *pair);
/* The pair of points whose difference is nearest to the origin on the simplex, roughly. */
void collide_between(const collide_apex *simplex, int count, collide_apex *out);
/* The direction of least overlap of cores that do overlap, or touch: its gap. */
double collide_epa(const collide_solid *a, const collide_solid *b, collide_apex simplex[4],
                   int count, double n[3], collide_apex *witness);
/* n to the nearest stationary point of gap(n), by the features of the simplex; never worse. `sure`:
 * it is one, proved by two points; of shapes that are apart there is only one. */
double collide_refine(const collide_solid *a, const collide_solid *b, const collide_apex *simplex,
                      int count, double n[3], collide_apex *witness, int *sure);

/* Largest gap(n) and where; 0: it is above the margin, and so is the gap(n) that is answered, which
 * is at least `share` of the distance of cores. */
int collide_direction(const collide_solid *a, const collide_solid *b, double margin, double share,
                      double n[3], double *gap, collide_apex *witness);
/* A plane that proves two to be apart, roughly by their distance: gap(n); -1: none was found. */
double collide_apart(const collide_solid *a, const collide_solid *b);
void collide_convex(const collide_solid *a, const collide_solid *b, collide_sink *sink);
/* All points of two supporting polygons around n, whose gap(n) is known. 0: none of them has it;
 * the witness is then added, or without one and if `need_exact` all are taken back. */
int collide_manifold(const collide_solid *a, const collide_solid *b, const double n[3], double gap,
                     const collide_apex *witness, int need_exact, collide_sink *sink);

#endif

/* A plane with every convex shape: which of the shape's points are nearest to it.
 *
 * The gap of a point is its height. The points of a manifold are chosen so that they move smoothly
 * with the shape and always include the lowest one:
 *
 *     box         the lower one of each pair of opposite corners: four
 *     cylinder    the lowest point of either rim, and three more of the lower rim, a square
 *     cone        the same for its base, and the apex
 *     hull        the corners of the face below
 *
 * MuJoCo has a regular triangle in the lower rim, from its lowest point, and the lowest of the
 * upper. The first corner of the square of a standing cylinder is the lowest point, or on its x
 * axis if the tilt is below 1e-9: so it tips over its true rim. */
#include "collide/inner.h"

/* The point of corner x, in the shape's frame, with the rounding radius. */
static void plane_point(const collide_solid *b, const double x[3], uint32_t feature,
                        collide_sink *sink)
{
    static const double up[3] = {0, 0, 1};
    double p[3];
    v3_turn(p, b->R, x);
    v3_add(p, p, 1, b->t);
    double gap = p[2] - b->radius;
    p[2] = gap / 2;
    collide_emit(sink, p, up, gap, feature);
}

/* The lowest point of a rim, across the axis; on the x axis if the tilt is at most `upright`. */
static void lowest_of_rim(const collide_solid *b, const double down[3], double upright, double *c,
                          double *s)
{
    double r = b->size[0], across = sqrt(down[0] * down[0] + down[1] * down[1]);
    *c = across > upright ? r * down[0] / across : r;
    *s = across > upright ? r * down[1] / across : 0;
}

/* z: of the lower rim. */
static void cylinder_in_mujoco(const collide_solid *b, const double down[3], double z,
                               collide_sink *sink)
{
    double c, s, w = 0.86602540378443864676; /* sin 120 degrees */
    lowest_of_rim(b, down, 1e-15, &c, &s);
    const double x[4][3] = {{c, s, z},
                            {c, s, -z},
                            {-0.5 * c - w * s, w * c - 0.5 * s, z},
                            {-0.5 * c + w * s, -w * c - 0.5 * s, z}};
    for (int k = 0; k < 4; k++) {
        plane_point(b, x[k], COLLIDE_MUJOCO + (uint32_t)k + (z < 0 ? 4 : 0), sink);
    }
}

/* `count` corners of the square in the rim at height z, starting from its lowest point. */
static void plane_rim(const collide_solid *b, const double down[3], double z, int count,
                      uint32_t feature, collide_sink *sink)
{
    double c, s;
    lowest_of_rim(b, down, 1e-9, &c, &s);
    const double x[4][3] = {{c, s, z}, {-s, c, z}, {-c, -s, z}, {s, -c, z}};
    for (int k = 0; k < count; k++) {
        plane_point(b, x[k], feature + (uint32_t)k, sink);
    }
}

static void plane_box(const collide_solid *b, const double down[3], collide_sink *sink)
{
    const double *h = b->size;
    for (int k = 0; k < 8; k++) {
        double x[3] = {k & 1 ? -h[0] : h[0], k & 2 ? -h[1] : h[1], k & 4 ? -h[2] : h[2]};
        double low = v3_dot(down, x);
        if (low > 0 || (low == 0 && k < 4)) { /* corner 7 - k is opposite */
            plane_point(b, x, (uint32_t)k, sink);
        }
    }
}

static void plane_polygon(const collide_solid *b, collide_sink *sink)
{
    static const double up[3] = {0, 0, 1}, down[3] = {0, 0, -1};
    collide_polygon g;
    collide_polygon_of(b, down, COLLIDE_POLYGON / 2, &g);
    for (int k = 0; k < g.count; k++) {
        double gap = g.point[k][2] - b->radius;
        double p[3] = {g.point[k][0], g.point[k][1], gap / 2};
        collide_emit(sink, p, up, gap, (uint32_t)g.id[k]);
    }
}

void collide_plane(const collide_solid *b, collide_sink *sink)
{
    const double down[3] = {-b->R[6], -b->R[7], -b->R[8]}; /* in the shape's frame */
    double h = b->size[1];
    double side = down[2] < 0 ? -h : h;
    const double apex[3] = {0, 0, h};
    switch (b->kind) {
    case COLLIDE_BOX:
        plane_box(b, down, sink);
        break;
    case COLLIDE_CYLINDER:
        if (sink->choice == COLLIDE_MUJOCO) {
            cylinder_in_mujoco(b, down, side, sink);
            break;
        }
        plane_rim(b, down, side, 4, down[2] < 0 ? 4 : 0, sink);
        plane_rim(b, down, -side, 1, down[2] < 0 ? 0 : 4, sink);
        break;
    case COLLIDE_CONE:
        plane_rim(b, down, -h, 4, 0, sink);
        plane_point(b, apex, 4, sink);
        break;
    default: /* ellipsoid, hull; spheres and capsules are in round.c */
        plane_polygon(b, sink);
    }
}

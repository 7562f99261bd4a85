/* How a contact point moves with the touching shapes.
 *
 * Planes, spheres and capsules.  The surface of a round shape is at the distance of its radius from
 * a core, a point or a segment. The contact is determined by the points c of the two cores that are
 * nearest to each other: d = cB - cA = L n, L = rA + gap + rB. A core point at an end of a segment
 * (or of a sphere) moves with its shape; one within a segment with the axis e also slides along it
 * by s, so that e . d stays 0:
 *
 *     dcA = dA + eA sA,   dcB = dB + eB sB,    e . (dcB - dcA) + de . d = 0    for each that slides
 *     dgap = n . dd,      dn = (dd - n dgap)/L,       dp = dcA + (rA + gap/2) dn + n dgap/2
 *
 * The normal of a plane turns with it, and the plane touches the point nearest to it: dgap = n .
 * dd, dn = w x n.
 *
 * All others.  By differences of fourth order for the pair alone, in which parts of the shapes are
 * identified by their features, over intervals that are shortened until two of them agree. A motion
 * of the first shape is one of both together minus one of the second. */
#include "look/sensitivity/touch.h"

#include <math.h>
#include <string.h>

#include "collide/vector.h"
#include "math/elementary.h"

/* ---- Round shapes ---------------------------------------------------------------------------- */

typedef struct core {
    int is_plane, slides;
    double r, c[3], e[3];
} core;

/* sign: its side of the point, along the normal. 0: the point is not the nearest. */
static int find_core(const contact_geom *geom, const collide_pose *pose, const contact_point *point,
                     double gap, double sign, core *to)
{
    const double *n = point->frame;
    *to = (core){.is_plane = geom->shape.kind == COLLIDE_PLANE};
    if (to->is_plane) {
        return 1;
    }
    to->r = geom->shape.size[0];
    for (int k = 0; k < 3; k++) {
        to->c[k] = point->pos[k] + sign * (gap / 2 + to->r) * n[k];
        to->e[k] = pose->R[3 * k + 2];
    }
    if (geom->shape.kind == COLLIDE_SPHERE) {
        return 1;
    }
    double half = geom->shape.size[1], away[3];
    v3_sub(away, to->c, pose->pos);
    to->slides = fabs(v3_dot(to->e, away)) < half * (1 - 1e-9);
    return !to->slides || fabs(v3_dot(to->e, n)) < 1e-9;
}

/* The motion of a point c due to a twist about p. */
static void carry(const double *twist, const double *p, const double *c, double *to)
{
    double arm[3];
    v3_sub(arm, c, p);
    v3_cross(to, twist, arm);
    v3_add(to, to, 1, twist + 3);
}

/* A plane and a round shape, whose core point moves by dc; the plane moves by the twist. side: +1
 * if the round shape is the second. */
static void on_plane(const core *round, double side, const double *n, double gap, const double *p,
                     const double *twist, int plane_moves, double *out)
{
    double dc[3], dn[3] = {0}, dgap;
    carry(twist, p, round->c, dc);
    dgap = (plane_moves ? -side : side) * v3_dot(n, dc);
    if (plane_moves) {
        v3_cross(dn, twist, n);
        memset(dc, 0, sizeof dc);
    }
    for (int k = 0; k < 3; k++) {
        out[k] = dc[k] - side * ((round->r + gap / 2) * dn[k] + n[k] * dgap / 2);
        out[3 + k] = dn[k];
    }
    out[6] = dgap;
}

/* The slides s of both core points, from dd and de of the cores without sliding. 0: no solution. */
static int slide(const core *a, const core *b, const double *dd, double of_a, double of_b,
                 double *sa, double *sb)
{
    double ra = v3_dot(a->e, dd) + of_a, rb = v3_dot(b->e, dd) + of_b, c = v3_dot(a->e, b->e);
    *sa = a->slides ? ra : 0;
    *sb = b->slides ? -rb : 0;
    if (a->slides && b->slides) {
        double det = 1 - c * c;
        if (det < 1e-8) {
            return 0;
        }
        *sa = (ra - c * rb) / det;
        *sb = (c * ra - rb) / det;
    }
    return 1;
}

static int on_round(const core *a, const core *b, const double *n, double gap, const double *p,
                    const double *twist, int second, double *out)
{
    double L = a->r + gap + b->r, dd[3], turned[3], dca[3] = {0}, sa, sb;
    const core *own = second ? b : a;
    carry(twist, p, own->c, dd);
    if (!second) {
        memcpy(dca, dd, sizeof dca);
        dd[0] = -dd[0];
        dd[1] = -dd[1];
        dd[2] = -dd[2];
    }
    v3_cross(turned, twist, own->e);
    double by = L * v3_dot(n, turned);
    if (!(L > 0) || !slide(a, b, dd, second ? 0 : by, second ? by : 0, &sa, &sb)) {
        return 0;
    }
    for (int k = 0; k < 3; k++) {
        dd[k] += b->e[k] * sb - a->e[k] * sa;
        dca[k] += a->e[k] * sa;
    }
    double dgap = v3_dot(n, dd);
    for (int k = 0; k < 3; k++) {
        out[3 + k] = (dd[k] - n[k] * dgap) / L;
        out[k] = dca[k] + (a->r + gap / 2) * out[3 + k] + n[k] * dgap / 2;
    }
    out[6] = dgap;
    return 1;
}

static int is_round(const contact_geom *geom)
{
    return geom->shape.kind <= COLLIDE_CAPSULE;
}

static int slopes_of_round(const contact_geom *a, const contact_geom *b, const collide_pose *pose,
                           const contact_point *point, double gap, touch_change out[12])
{
    const double *n = point->frame, *p = point->pos;
    core first, second;
    if (!find_core(a, &pose[point->key.geom[0]], point, gap, -1, &first) ||
        !find_core(b, &pose[point->key.geom[1]], point, gap, 1, &second)) {
        return 0;
    }
    for (int k = 0; k < 12; k++) {
        double twist[6] = {0};
        twist[k % 6] = 1;
        if (first.is_plane) {
            on_plane(&second, 1, n, gap, p, twist, k < 6, out[k]);
        } else if (second.is_plane) {
            on_plane(&first, -1, n, gap, p, twist, k >= 6, out[k]);
        } else if (!on_round(&first, &second, n, gap, p, twist, k >= 6, out[k])) {
            return 0;
        }
    }
    return 1;
}

/* ---- By differences -------------------------------------------------------------------------- */

static void move(const collide_pose *from, const double *p, int k, double by, collide_pose *to)
{
    double arm[3], c = math_cos(by), s = math_sin(by);
    *to = *from;
    if (k >= 3) {
        to->pos[k - 3] += by;
        return;
    }
    int y = (k + 1) % 3, z = (k + 2) % 3;
    v3_sub(arm, from->pos, p);
    to->pos[y] = p[y] + c * arm[y] - s * arm[z];
    to->pos[z] = p[z] + s * arm[y] + c * arm[z];
    for (int i = 0; i < 3; i++) {
        to->R[3 * y + i] = c * from->R[3 * y + i] - s * from->R[3 * z + i];
        to->R[3 * z + i] = s * from->R[3 * y + i] + c * from->R[3 * z + i];
    }
}

/* The same point with the second shape moved; 0: it is missing. */
static int look(const contact_geom *a, const contact_geom *b, const collide_pose *pose,
                const contact_point *point, collide_choice choice, const collide_pose *at,
                double margin, double *out)
{
    enum { MANIFOLD = 128 };
    collide_point list[MANIFOLD];
    int count = collide_pair_or_gap(&a->shape, &pose[point->key.geom[0]], &b->shape, at, margin,
                                    choice, list, MANIFOLD, NULL);
    for (int i = 0; i < count && i < MANIFOLD; i++) {
        if (list[i].feature == point->key.feature && v3_dot(list[i].normal, point->frame) > 0.5) {
            memcpy(out, list[i].pos, sizeof list[i].pos);
            memcpy(out + 3, list[i].normal, sizeof list[i].normal);
            out[6] = list[i].gap;
            return 1;
        }
    }
    return 0;
}

/* Slopes over one interval. 0: the point is missing within it. *off_by: the deviation from a smooth
 * function. */
static int differ(const contact_geom *a, const contact_geom *b, const collide_pose *pose,
                  const contact_point *point, collide_choice choice, double gap, int k, double way,
                  double *out, double *off_by)
{
    static const double part[4] = {-2, -1, 1, 2};
    double margin = fabs(gap) + 8 * way * (1 + fmin(a->radius, b->radius)), seen[4][7];
    double off = 0, size = 1e-3;
    for (int i = 0; i < 4; i++) {
        collide_pose at;
        move(&pose[point->key.geom[1]], point->pos, k, part[i] * way, &at);
        if (!look(a, b, pose, point, choice, &at, margin, seen[i])) {
            return 0;
        }
    }
    for (int j = 0; j < 7; j++) {
        double near = (seen[2][j] - seen[1][j]) / (2 * way),
               far = (seen[3][j] - seen[0][j]) / (4 * way);
        out[j] = (4 * near - far) / 3;
        off = fmax(off, fabs(near - far));
        size = fmax(size, fabs(near));
    }
    *off_by = off / size;
    return 1;
}

/* The motion of the point if both shapes move together. */
static void carry_all(const contact_point *point, int k, double *out)
{
    double twist[6] = {0};
    twist[k] = 1;
    memset(out, 0, sizeof(touch_change));
    if (k < 3) {
        v3_cross(out + 3, twist, point->frame);
    } else {
        out[k - 3] = 1;
    }
}

static int slopes_by_differences(const contact_geom *a, const contact_geom *b,
                                 const collide_pose *pose, const contact_point *point,
                                 collide_choice choice, double gap, touch_change out[12])
{
    double size = fmin(a->radius, b->radius);
    int known = 1;
    for (int k = 0; k < 6; k++) {
        double way = k < 3 ? 1e-3 : 1e-3 * size;
        /* a bound for the difference of two intervals; the error is about its square */
        double least = 1e-3;
        int found = 0;
        for (int tries = 0; tries < 5 && least > 1e-5; tries++, way *= 0.1) {
            touch_change now;
            double off;
            if (differ(a, b, pose, point, choice, gap, k, way, now, &off) && off < least) {
                memcpy(out[6 + k], now, sizeof now);
                least = off;
                found = 1;
            }
        }
        if (!found) {
            memset(out[6 + k], 0, sizeof(touch_change));
            out[6 + k][6] = k < 3 ? 0 : point->frame[k - 3];
            known = 0;
        }
        carry_all(point, k, out[k]);
        for (int j = 0; j < 7; j++) {
            out[k][j] -= out[6 + k][j];
        }
    }
    return known;
}

int touch_slopes(const contact_world *world, const collide_pose *pose, const contact_point *point,
                 collide_choice choice, touch_change out[12])
{
    int i = (int)point->key.geom[0], j = (int)point->key.geom[1];
    const contact_geom *a = &world->geom[i], *b = &world->geom[j];
    double gap = point->gap + contact_match_of(world, i, j).margin;
    return (is_round(a) && is_round(b) && slopes_of_round(a, b, pose, point, gap, out)) ||
           slopes_by_differences(a, b, pose, point, choice, gap, out);
}

/* Random shapes, and an independent reference for them: the farthest point in a
 * direction, and how far a point is outside. Written from the definitions in collide.h, in world
 * axes. */
#ifndef ZWANG_TEST_COLLIDE_BODIES_H
#define ZWANG_TEST_COLLIDE_BODIES_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collide/collide.h"
#include "collide/ground.h"
#include "collide/hull.h"
#include "scene/dice.h"

enum { MOST_CORNERS = 16 };

typedef struct body {
    collide_shape shape;
    collide_pose at;
    int corners; /* of a polytope, in the world */
    double corner[MOST_CORNERS][3], own[MOST_CORNERS][3];
} body;

static inline double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void to_world(const collide_pose *at, const double x[3], double y[3])
{
    for (int i = 0; i < 3; i++) {
        y[i] = at->pos[i] + dot(&at->R[3 * i], x);
    }
}

static inline void turn_of(dice *d, double R[9])
{
    double q[4], length = 0;
    for (int i = 0; i < 4; i++) {
        q[i] = dice_bell(d);
        length += q[i] * q[i];
    }
    length = sqrt(length);
    double w = q[0] / length, x = q[1] / length, y = q[2] / length, z = q[3] / length;
    double r[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                   2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                   2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
    memcpy(R, r, sizeof r);
}

static inline void place(body *b)
{
    for (int k = 0; k < b->corners; k++) {
        to_world(&b->at, b->own[k], b->corner[k]);
    }
}

/* A shape of this kind; hulls have to be freed. */
static inline body body_of(dice *d, collide_kind kind)
{
    body b = {.shape = {.kind = kind}};
    for (int i = 0; i < 3; i++) {
        b.shape.size[i] = dice_between(d, 0.2, 1);
    }
    turn_of(d, b.at.R);
    for (int i = 0; i < 3; i++) {
        b.at.pos[i] = dice_between(d, -1, 1);
    }
    if (kind == COLLIDE_BOX) {
        b.corners = 8;
        for (int k = 0; k < 8; k++) {
            for (int i = 0; i < 3; i++) {
                b.own[k][i] = k >> i & 1 ? -b.shape.size[i] : b.shape.size[i];
            }
        }
    } else if (kind == COLLIDE_HULL) {
        b.corners = dice_int(d, 4, 10);
        for (int k = 0; k < b.corners; k++) {
            for (int i = 0; i < 3; i++) {
                b.own[k][i] = b.shape.size[i] * dice_between(d, -1, 1);
            }
        }
        b.shape.hull = collide_hull_new(b.own[0], b.corners);
    }
    place(&b);
    return b;
}

static inline void body_free(body *b)
{
    collide_hull_free((collide_hull *)b->shape.hull);
}

/* max over the body of u.x */
static inline double reach(const body *b, const double u[3])
{
    const double *R = b->at.R, *h = b->shape.size;
    if (b->corners > 0) {
        double most = -INFINITY;
        for (int k = 0; k < b->corners; k++) {
            most = fmax(most, dot(u, b->corner[k]));
        }
        return most;
    }
    double v[3];
    for (int i = 0; i < 3; i++) {
        v[i] = R[i] * u[0] + R[3 + i] * u[1] + R[6 + i] * u[2];
    }
    double flat = sqrt(v[0] * v[0] + v[1] * v[1]), at = dot(u, b->at.pos);
    switch (b->shape.kind) {
    case COLLIDE_SPHERE:
        return at + h[0] * sqrt(dot(u, u));
    case COLLIDE_CAPSULE:
        return at + h[0] * sqrt(dot(u, u)) + h[1] * fabs(v[2]);
    case COLLIDE_ELLIPSOID: {
        double e[3] = {h[0] * v[0], h[1] * v[1], h[2] * v[2]};
        return at + sqrt(dot(e, e));
    }
    case COLLIDE_CYLINDER:
        return at + h[0] * flat + h[1] * fabs(v[2]);
    default: /* cone */
        return at + fmax(h[1] * v[2], h[0] * flat - h[1] * v[2]);
    }
}

/* gap(n) of a to b */
static inline double gap_along(const body *a, const body *b, const double n[3])
{
    double back[3] = {-n[0], -n[1], -n[2]};
    return -reach(b, back) - reach(a, n);
}

/* By how much a point is outside, at least: over many planes around the body. */
static inline double outside(const body *b, const double x[3])
{
    const double *h = b->shape.size;
    double v[3], d[3] = {x[0] - b->at.pos[0], x[1] - b->at.pos[1], x[2] - b->at.pos[2]};
    for (int i = 0; i < 3; i++) {
        v[i] = b->at.R[i] * d[0] + b->at.R[3 + i] * d[1] + b->at.R[6 + i] * d[2];
    }
    double flat = sqrt(v[0] * v[0] + v[1] * v[1]), off = fmax(fabs(v[2]) - h[1], 0);
    switch (b->shape.kind) {
    case COLLIDE_SPHERE:
        return sqrt(dot(v, v)) - h[0];
    case COLLIDE_CAPSULE:
        return sqrt(flat * flat + off * off) - h[0];
    case COLLIDE_ELLIPSOID: {
        double q[3] = {v[0] / h[0], v[1] / h[1], v[2] / h[2]}, m = fmin(h[0], fmin(h[1], h[2]));
        return (sqrt(dot(q, q)) - 1) * m;
    }
    case COLLIDE_CYLINDER:
        return fmax(flat - h[0], fabs(v[2]) - h[1]);
    case COLLIDE_BOX:
        return fmax(fabs(v[0]) - h[0], fmax(fabs(v[1]) - h[1], fabs(v[2]) - h[2]));
    case COLLIDE_CONE: {
        double slant = sqrt(4 * h[1] * h[1] + h[0] * h[0]);
        return fmax(-h[1] - v[2], (2 * h[1] * flat + h[0] * (v[2] - h[1])) / slant);
    }
    default: { /* a hull: all planes through three corners that have the others on one side */
        double worst = -INFINITY;
        for (int i = 0; i < b->corners; i++) {
            for (int j = i + 1; j < b->corners; j++) {
                for (int k = j + 1; k < b->corners; k++) {
                    double e[3], f[3], n[3];
                    for (int c = 0; c < 3; c++) {
                        e[c] = b->corner[j][c] - b->corner[i][c];
                        f[c] = b->corner[k][c] - b->corner[i][c];
                    }
                    for (int c = 0; c < 3; c++) {
                        n[c] = e[(c + 1) % 3] * f[(c + 2) % 3] - e[(c + 2) % 3] * f[(c + 1) % 3];
                    }
                    double length = sqrt(dot(n, n));
                    for (int s = -1; s <= 1 && length > 1e-9; s += 2) {
                        double m[3] = {s * n[0] / length, s * n[1] / length, s * n[2] / length};
                        double top = reach(b, m);
                        if (top - dot(m, b->corner[i]) < 1e-12) {
                            worst = fmax(worst, dot(m, x) - top);
                        }
                    }
                }
            }
        }
        return worst;
    }
    }
}

#endif

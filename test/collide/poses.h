/* Shapes in special poses that random ones never have: flush faces, edges on edges, corners on
 * corners, coincident centres, exactly or up to a few bits; and references for them in long double.
 * Written from the definitions in collide.h; positions are relative to the first shape. */
#ifndef ZWANG_TEST_COLLIDE_POSES_H
#define ZWANG_TEST_COLLIDE_POSES_H

#include "collide/zoo.h"
#include "scene/dice.h"

/* ---- References
 * ------------------------------------------------------------------------------------
 */

static inline void into_frame(const collide_pose *at, const double u[3], long double v[3])
{
    for (int i = 0; i < 3; i++) {
        v[i] = (long double)at->R[i] * u[0] + (long double)at->R[3 + i] * u[1] +
               (long double)at->R[6 + i] * u[2];
    }
}

/* max over the figure of u.x, from its place */
static inline double figure_reach(const figure *f, const collide_pose *at, const double u[3])
{
    const double *h = f->shape.size;
    long double v[3], most = -INFINITY;
    into_frame(at, u, v);
    for (int k = 0; k < f->corners; k++) {
        long double d = v[0] * f->corner[k][0] + v[1] * f->corner[k][1] + v[2] * f->corner[k][2];
        most = d > most ? d : most;
    }
    if (f->corners > 0) {
        return (double)most;
    }
    long double flat = sqrtl(v[0] * v[0] + v[1] * v[1]);
    long double whole = sqrtl(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    switch (f->shape.kind) {
    case COLLIDE_SPHERE:
        return (double)(h[0] * whole);
    case COLLIDE_CAPSULE:
        return (double)(h[0] * whole + h[1] * fabsl(v[2]));
    case COLLIDE_ELLIPSOID: {
        long double e[3] = {h[0] * v[0], h[1] * v[1], h[2] * v[2]};
        return (double)sqrtl(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]);
    }
    case COLLIDE_CYLINDER:
        return (double)(h[0] * flat + h[1] * fabsl(v[2]));
    default: /* cone */
        return (double)fmaxl(h[1] * v[2], h[0] * flat - h[1] * v[2]);
    }
}

/* Two figures; b's place is from a's. */
typedef struct couple {
    figure *a, *b;
    collide_pose at_a, at_b;
    double scale;
} couple;

static inline double couple_gap(const couple *c, const double n[3])
{
    double back[3] = {-n[0], -n[1], -n[2]}, to[3];
    for (int i = 0; i < 3; i++) {
        to[i] = c->at_b.pos[i] - c->at_a.pos[i];
    }
    return p_dot(n, to) - figure_reach(c->b, &c->at_b, back) - figure_reach(c->a, &c->at_a, n);
}

/* By how much a point is outside, at least. */
static inline double figure_outside(const figure *f, const collide_pose *at, const double x[3])
{
    const double *h = f->shape.size;
    double d[3] = {x[0] - at->pos[0], x[1] - at->pos[1], x[2] - at->pos[2]};
    long double l[3];
    into_frame(at, d, l);
    double v[3] = {(double)l[0], (double)l[1], (double)l[2]};
    double flat = sqrt(v[0] * v[0] + v[1] * v[1]), off = fmax(fabs(v[2]) - h[1], 0);
    switch (f->shape.kind) {
    case COLLIDE_SPHERE:
        return sqrt(p_dot(v, v)) - h[0];
    case COLLIDE_CAPSULE:
        return sqrt(flat * flat + off * off) - h[0];
    case COLLIDE_ELLIPSOID: { /* the tangent plane at the point of this direction */
        double q[3] = {v[0] / h[0], v[1] / h[1], v[2] / h[2]}, g[3];
        double s = sqrt(p_dot(q, q));
        for (int i = 0; i < 3; i++) {
            g[i] = q[i] / h[i] / s;
        }
        return h[0] * h[1] * h[2] > 0 ? (s - 1) / sqrt(p_dot(g, g)) : 0;
    }
    case COLLIDE_CYLINDER:
        return fmax(flat - h[0], fabs(v[2]) - h[1]);
    case COLLIDE_BOX:
        return fmax(fabs(v[0]) - h[0], fmax(fabs(v[1]) - h[1], fabs(v[2]) - h[2]));
    case COLLIDE_CONE: {
        double slant = sqrt(4 * h[1] * h[1] + h[0] * h[0]);
        return fmax(-h[1] - v[2], (2 * h[1] * flat + h[0] * (v[2] - h[1])) / slant);
    }
    default: { /* the planes of the faces; whether these are right is checked by the reach */
        const collide_hull *hull = f->shape.hull;
        double worst = -INFINITY;
        for (int k = 0; k < hull->face_count; k++) {
            worst = fmax(worst, p_dot(v, &hull->plane[4 * k]) - hull->plane[4 * k + 3]);
        }
        return hull->face_count > 0 ? worst : 0;
    }
    }
}

static inline void try_direction(const couple *c, const double l[3], double n[3], double *best)
{
    double m[3] = {l[0], l[1], l[2]};
    if (!(p_unit(m) > 0)) {
        return;
    }
    for (int s = 0; s < 2; s++) {
        double g = couple_gap(c, m);
        if (g > *best) {
            *best = g;
            memcpy(n, m, sizeof m);
        }
        for (int i = 0; i < 3; i++) {
            m[i] = -m[i];
        }
    }
}

/* Directions of edges, if there are not too many. */
static inline int edge_ways(const figure *f, const collide_pose *at, double way[][3], int capacity)
{
    int count = 0;
    double own[80][3];
    if (f->shape.kind == COLLIDE_HULL) {
        const collide_hull *h = f->shape.hull;
        for (int i = 0; i < h->vertex_count && h->face_count > 0; i++) {
            for (int k = h->near_start[i]; k < h->near_start[i + 1]; k++) {
                int j = h->near[k];
                if (j > i && count < 80) {
                    for (int x = 0; x < 3; x++) {
                        own[count][x] = h->vertex[3 * j + x] - h->vertex[3 * i + x];
                    }
                    count++;
                }
            }
        }
    } else {
        for (count = 0; count < 3; count++) {
            for (int x = 0; x < 3; x++) {
                own[count][x] = x == count;
            }
        }
    }
    count = count < capacity ? count : capacity;
    for (int k = 0; k < count; k++) {
        for (int i = 0; i < 3; i++) {
            way[k][i] = p_dot(&at->R[3 * i], own[k]);
        }
    }
    return count;
}

/* The least overlap that can be found: across faces, across edges, and by search from the best
 * and from elsewhere. Only up to `budget` directions. */
static inline double couple_reference(const couple *c, dice *d, double n[3])
{
    double best = -INFINITY, wa[40][3], wb[40][3], l[3];
    int na = edge_ways(c->a, &c->at_a, wa, 40), nb = edge_ways(c->b, &c->at_b, wb, 40);
    for (int o = 0; o < 2; o++) {
        const figure *f = o ? c->b : c->a;
        const collide_pose *at = o ? &c->at_b : &c->at_a;
        for (int k = 0; k < f->features; k++) {
            for (int i = 0; i < 3; i++) {
                l[i] = p_dot(&at->R[3 * i], f->feature[k]);
            }
            try_direction(c, l, n, &best);
        }
    }
    if (c->a->corners + c->b->corners < 60) {
        for (int i = 0; i < na; i++) {
            for (int j = 0; j < nb; j++) {
                p_cross(l, wa[i], wb[j]);
                try_direction(c, l, n, &best);
            }
        }
    }
    for (int start = 0; start < 4; start++) {
        double m[3], step = 0.5, here;
        if (start < 2) {
            memcpy(m, n, sizeof m);
        } else {
            dice_direction(d, m);
        }
        here = couple_gap(c, m);
        for (int k = 0; k < 150 && step > 1e-10; k++) {
            double try[3];
            dice_direction(d, try);
            for (int i = 0; i < 3; i++) {
                try[i] = m[i] + step * try[i];
            }
            p_unit(try);
            double g = couple_gap(c, try);
            if (g > here) {
                here = g;
                memcpy(m, try, sizeof m);
                step *= 1.5;
            } else {
                step *= 0.8;
            }
        }
        if (here > best) {
            best = here;
            memcpy(n, m, sizeof m);
        }
    }
    return best;
}

/* ---- Poses ----------------------------------------------------------------------------------- */

/* R = turn about the unit vector n by the angle of this cosine and sine, times R. */
static inline void turn_about(const double n[3], double c, double s, double R[9])
{
    double T[9], out[9];
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        T[3 * i + i] = c + (1 - c) * n[i] * n[i];
        T[3 * i + j] = (1 - c) * n[i] * n[j] - s * n[k];
        T[3 * j + i] = (1 - c) * n[i] * n[j] + s * n[k];
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            out[3 * i + j] = T[3 * i] * R[j] + T[3 * i + 1] * R[3 + j] + T[3 * i + 2] * R[6 + j];
        }
    }
    memcpy(R, out, sizeof out);
}

/* 0, +-1 ulp of 1, +- 1e-16 .. 1e-6 */
static inline double hair(dice *d)
{
    int k = dice_int(d, 0, 14);
    double x = k < 4 ? 0 : k == 4 ? 0x1p-52 : power_of_ten(-16 + (k - 5) * 10 / 9.0);
    return dice_sign(d, x);
}

/* Quarter turns, and then perhaps eighths or thirds. */
static inline void neat_turn(dice *d, double R[9])
{
    static const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    static const double cosine[4] = {1, 0, -1, 0}, sine[4] = {0, 1, 0, -1};
    memcpy(R, one, sizeof one);
    for (int k = 0; k < 3; k++) {
        double n[3] = {k == 0, k == 1, k == 2};
        int q = dice_int(d, 0, 3);
        turn_about(n, cosine[q], sine[q], R);
        int more = dice_int(d, 0, 11);
        if (more == 0) {
            turn_about(n, sqrt(0.5), sqrt(0.5), R);
        } else if (more == 1) {
            turn_about(n, 0.5, sqrt(0.75), R);
        }
    }
}

static inline void hair_turn(dice *d, double R[9])
{
    double n[3] = {0, 0, 0}, s = hair(d);
    if (dice_int(d, 0, 1)) {
        dice_direction(d, n);
    } else {
        n[dice_int(d, 0, 2)] = 1;
    }
    if (s != 0) {
        turn_about(n, sqrt(1 - s * s), s, R);
    }
}

/* R so that its image of u is v, then turned about v by a neat angle. */
static inline void lay(dice *d, const double u[3], const double v[3], double R[9])
{
    static const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    static const double angle[8][2] = {{1, 0},
                                       {0, 1},
                                       {-1, 0},
                                       {0, -1},
                                       {0.70710678118654752440, 0.70710678118654752440},
                                       {0.5, 0.86602540378443864676},
                                       {0.6, 0.8},
                                       {0.8, -0.6}};
    double n[3];
    memcpy(R, one, sizeof one);
    p_cross(n, u, v);
    double s = p_unit(n), c = p_dot(u, v);
    if (s > 0) {
        turn_about(n, c, s, R);
    } else if (c < 0) {
        double other[3] = {u[1], -u[0], 0};
        if (!(p_unit(other) > 0)) {
            other[0] = 1;
        }
        turn_about(other, -1, 0, R);
    }
    int k = dice_int(d, 0, 7);
    turn_about(v, angle[k][0], angle[k][1], R);
}

static inline void couple_place(couple *c, dice *d, double gap)
{
    double way[3], e[3], f[3], back[3];
    neat_turn(d, c->at_a.R);
    int ka = dice_int(d, 0, c->a->features - 1), kb = dice_int(d, 0, c->b->features - 1);
    for (int i = 0; i < 3; i++) {
        way[i] = p_dot(&c->at_a.R[3 * i], c->a->feature[ka]);
        back[i] = -way[i];
    }
    p_unit(way);
    if (dice_int(d, 0, 1)) {
        lay(d, c->b->feature[kb], back, c->at_b.R);
    } else {
        neat_turn(d, c->at_b.R);
    }
    hair_turn(d, c->at_b.R);
    if (dice_int(d, 0, 3) == 0) {
        hair_turn(d, c->at_a.R);
    }
    double away = figure_reach(c->a, &c->at_a, way) + figure_reach(c->b, &c->at_b, back) + gap;
    memset(e, 0, sizeof e);
    e[fabs(way[0]) < 0.6 ? 0 : 1] = 1;
    p_cross(f, way, e);
    p_unit(f);
    p_cross(e, f, way);
    memset(c->at_a.pos, 0, sizeof c->at_a.pos);
    for (int i = 0; i < 3; i++) {
        c->at_b.pos[i] = away * way[i];
    }
    for (int k = 0; k < 2;
         k++) { /* to the side: edges over edges, middles over edges, sides flush */
        double *l = k ? f : e, m[3] = {-l[0], -l[1], -l[2]};
        double of_a = figure_reach(c->a, &c->at_a, l), of_b = figure_reach(c->b, &c->at_b, m),
               s = 0;
        switch (dice_int(d, 0, 7)) {
        case 0:
            s = of_a + of_b;
            break;
        case 1:
            s = of_a;
            break;
        case 2:
            s = of_a - of_b;
            break;
        case 3:
            s = 0.5 * (of_a + of_b);
            break;
        case 4:
            s = of_b;
            break;
        default:
            break;
        }
        s += hair(d) * c->scale;
        for (int i = 0; i < 3; i++) {
            c->at_b.pos[i] += s * l[i];
        }
    }
}

/* A pair from the zoo, in sizes from 1e-4 to 1e4 and up to 1e6 times as large as the other. */
static inline void couple_throw(couple *c, const zoo *z, dice *d)
{
    static const double sizes[6] = {1, 1, 1, 0x1p-13, 0x1p13, 1.0 / 3};
    static const double ratios[8] = {1, 1, 1, 1, 0.5, 2, 0x1p-10, 0x1p-20};
    double size = sizes[dice_int(d, 0, 5)], ratio = ratios[dice_int(d, 0, 7)], gap = 0;
    int ia = dice_int(d, 0, z->count - 1), ib = dice_int(d, 0, z->count - 1);
    figure *pair = calloc(2, sizeof *pair);
    pair[0] = figure_scaled(&z->figure[ia], size);
    pair[1] = figure_scaled(&z->figure[ib], size * ratio);
    *c = (couple){.a = &pair[0], .b = &pair[1], .scale = extent(&pair[0]) + extent(&pair[1])};
    double least = fmin(extent(c->a), extent(c->b));
    switch (dice_int(d, 0, 5)) {
    case 0:
    case 1:
        gap = hair(d) * c->scale;
        break;
    case 2:
        gap = -0.125 * least;
        break;
    case 3:
        gap = 0.25 * least;
        break;
    default:
        break;
    }
    couple_place(c, d, gap);
    if (dice_int(d, 0, 9) == 0) { /* concentric */
        for (int i = 0; i < 3; i++) {
            c->at_b.pos[i] = hair(d) * c->scale;
        }
    }
}

static inline void couple_free(couple *c)
{
    figure_free(c->a);
    figure_free(c->b);
    free(c->a);
}

#endif

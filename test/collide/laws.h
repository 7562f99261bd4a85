/* What holds for every pair of shapes, and by how much it does not: as parts of the pair's size.
 *
 *     plane     the gap is what the supports leave along the normal
 *     nearest   the two surface points of the contact itself are of the shapes
 *     outside   so are those of the other points; they are known to second order
 *     depth     no direction that the reference finds has less overlap
 *     moved     a shape that moves by s changes the gap by no more than s; along the normal by s
 *     flipped   the pair the other way round has the same gap
 *     points    and if it has the same normal, points that reach as far; none is there twice
 *     far       as far from the origin as 1e6 of its sizes it has the same gap */
#ifndef ZWANG_TEST_COLLIDE_LAWS_H
#define ZWANG_TEST_COLLIDE_LAWS_H

#include "collide/poses.h"

enum { LAW_CAPACITY = 200 };
enum {
    LAW_PLANE,
    LAW_NEAREST,
    LAW_OUTSIDE,
    LAW_DEPTH,
    LAW_MOVED,
    LAW_FLIPPED,
    LAW_POINTS,
    LAW_FAR,
    LAWS
};
static const char *const law_name[] = {"plane", "nearest", "outside", "depth",
                                       "moved", "flipped", "points",  "far"};

static inline int couple_ask(const couple *c, collide_point *p)
{
    return collide_pair(&c->a->shape, &c->at_a, &c->b->shape, &c->at_b, 4 * c->scale, p,
                        LAW_CAPACITY);
}

static inline int least_of(const collide_point *p, int count)
{
    int least = 0;
    for (int i = 1; i < count; i++) {
        least = p[i].gap < p[least].gap ? i : least;
    }
    return least;
}

static inline void law(double *error, double value)
{
    *error = isnan(value) ? INFINITY : fmax(*error, value);
}

/* How far the points nearest to contact reach, of p and of q: the same in all directions. Sets may
 * differ by points between others. */
static inline double reach_apart(const collide_point *p, int np, const collide_point *q, int nq,
                                 const couple *c)
{
    double worst = 0, least = p[least_of(p, np)].gap, size = fmin(extent(c->a), extent(c->b));
    for (int k = 0; k < 27; k++) {
        double way[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1}, far = -INFINITY;
        double more = -INFINITY, less = -INFINITY;
        for (int i = 0; i < np; i++) {
            double d = p_dot(p[i].pos, way);
            far = p[i].gap <= least + 0.01 * size ? fmax(far, d) : far;
        }
        for (int i = 0; i < nq; i++) { /* those just beyond may have been left out */
            double d = p_dot(q[i].pos, way);
            more = q[i].gap <= least + 0.01 * size + 1e-9 * c->scale ? fmax(more, d) : more;
            less = q[i].gap <= least + 0.01 * size - 1e-9 * c->scale ? fmax(less, d) : less;
        }
        worst = fmax(worst, fmax(far - more, less - far) / c->scale);
    }
    return worst;
}

static inline int twice(const collide_point *p, int count, double size)
{
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < i; j++) {
            double d[3] = {p[i].pos[0] - p[j].pos[0], p[i].pos[1] - p[j].pos[1],
                           p[i].pos[2] - p[j].pos[2]};
            if (p_dot(d, d) <= 1e-20 * size * size) {
                return 1;
            }
        }
    }
    return 0;
}

static inline void laws_of_points(const couple *c, const collide_point *p, int count,
                                  double error[LAWS])
{
    int least = least_of(p, count);
    for (int i = 0; i < count; i++) {
        double x[3], y[3];
        if (p[i].gap > p[least].gap + 0.01 * c->scale) {
            continue;
        }
        for (int k = 0; k < 3; k++) {
            x[k] = p[i].pos[k] - 0.5 * p[i].gap * p[i].normal[k];
            y[k] = p[i].pos[k] + 0.5 * p[i].gap * p[i].normal[k];
        }
        double off = fmax(figure_outside(c->a, &c->at_a, x), figure_outside(c->b, &c->at_b, y));
        law(&error[i == least ? LAW_NEAREST : LAW_OUTSIDE], off / c->scale);
        law(&error[LAW_PLANE], fabs(p_dot(p[i].normal, p[i].normal) - 1));
    }
    law(&error[LAW_POINTS], twice(p, count, fmin(extent(c->a), extent(c->b))));
}

static inline void laws_of_moves(const couple *c, const collide_point *p, dice *d,
                                 double error[LAWS])
{
    static const double step[4] = {1e-13, 1e-9, 1e-6, 1e-2};
    collide_point q[LAW_CAPACITY];
    for (int k = 0; k < 8; k++) {
        couple m = *c;
        double way[3], s = step[k & 3] * c->scale, moved = 0;
        dice_direction(d, way);
        for (int i = 0; i < 3; i++) {
            way[i] = k < 4 ? p->normal[i] : way[i];
            m.at_b.pos[i] += s * way[i];
            double by = m.at_b.pos[i] - c->at_b.pos[i];
            moved += by * by;
        }
        int count = couple_ask(&m, q);
        double change = count > 0 ? q[least_of(q, count)].gap - p->gap : INFINITY;
        law(&error[LAW_MOVED], (k < 4 ? fabs(change - s) : fabs(change) - sqrt(moved)) / c->scale);
    }
}

static inline void laws_of_places(const couple *c, const collide_point *p, int count,
                                  double error[LAWS])
{
    collide_point q[LAW_CAPACITY];
    const collide_point *at = &p[least_of(p, count)];
    couple over = {c->b, c->a, c->at_b, c->at_a, c->scale}, far = *c;
    double by = ldexp(1, 20 + (int)ceil(log2(c->scale))), turn = 0;
    int n = couple_ask(&over, q);
    const collide_point *other = &q[least_of(q, n > 0 ? n : 1)];
    law(&error[LAW_FLIPPED], n > 0 ? fabs(other->gap - at->gap) / c->scale : INFINITY);
    for (int i = 0; i < 3 && n > 0; i++) {
        turn = fmax(turn, fabs(at->normal[i] + other->normal[i]));
    }
    if (n > 0 && turn < 1e-8) {
        law(&error[LAW_POINTS], reach_apart(p, count, q, n, c));
    }
    for (int i = 0; i < 3; i++) {
        far.at_a.pos[i] += by;
        far.at_b.pos[i] += by; /* by round-off another place, by less than 1e-9 */
    }
    n = couple_ask(&far, q);
    law(&error[LAW_FAR],
        n > 0 ? fabs(q[least_of(q, n)].gap - at->gap) / c->scale - 1.5e-9 : INFINITY);
}

/* The gap; errors as above. */
static inline double couple_laws(const couple *c, dice *d, double error[LAWS])
{
    collide_point p[LAW_CAPACITY];
    double n[3] = {0, 0, 0};
    for (int l = 0; l < LAWS; l++) {
        error[l] = 0;
    }
    int count = couple_ask(c, p);
    if (count < 1 || count > LAW_CAPACITY) {
        error[LAW_PLANE] = INFINITY;
        return NAN;
    }
    const collide_point *at = &p[least_of(p, count)];
    law(&error[LAW_PLANE], fabs(couple_gap(c, at->normal) - at->gap) / c->scale);
    law(&error[LAW_DEPTH], (couple_reference(c, d, n) - at->gap) / c->scale);
    laws_of_points(c, p, count, error);
    laws_of_moves(c, at, d, error);
    laws_of_places(c, p, count, error);
    return at->gap;
}

#endif

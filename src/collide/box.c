/* Two boxes, by the separating axes.
 *
 * The difference of two boxes has faces of three kinds only: faces of a, faces of b, and
 * parallelograms of an edge of each. So when they overlap the largest gap(n) is at one of 3 + 3 + 9
 * directions. Each is scored by the full support of both boxes, also one that is nearly parallel
 * edges' and known badly: a bad direction has a lower score, never a false one.
 *
 * When they are apart the largest of these gaps is a lower bound of the distance, and equal to it
 * if the manifold has a point with it; if it has none, the nearest are a corner or an edge that no
 * face looks at, and the general routine finds them. */
#include "collide/inner.h"

typedef struct axes {
    const double *ha, *hb, *R, *t;
    double best, n[3];
} axes;

/* b's place in a's frame. */
static void b_in_a(const collide_solid *a, const collide_solid *b, double R[9], double t[3])
{
    v3_turn_back(t, a->R, b->t);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            R[3 * i + j] =
                a->R[i] * b->R[j] + a->R[3 + i] * b->R[3 + j] + a->R[6 + i] * b->R[6 + j];
        }
    }
}

/* Scores a unit direction given in a's frame; its sign is chosen. `more`: by how much it has to
 * win. */
static void score(axes *x, const double l[3], double more)
{
    double along = v3_dot(l, x->t), across[3];
    v3_turn_back(across, x->R, l);
    double gap = fabs(along);
    for (int i = 0; i < 3; i++) {
        gap -= x->ha[i] * fabs(l[i]) + x->hb[i] * fabs(across[i]);
    }
    if (gap > x->best + more) {
        double side = along < 0 ? -1 : 1;
        x->best = gap;
        v3_set(x->n, side * l[0], side * l[1], side * l[2]);
    }
}

void collide_boxes(const collide_solid *a, const collide_solid *b, collide_sink *sink)
{
    double R[9], t[3], n[3];
    b_in_a(a, b, R, t);
    axes x = {a->size, b->size, R, t, -INFINITY, {0, 0, 1}};
    double hair = 1e-13 * (a->extent + b->extent);
    for (int i = 0; i < 3; i++) {
        double l[3] = {0, 0, 0};
        l[i] = 1;
        score(&x, l, hair);
    }
    if (x.best > sink->margin) {
        return;
    }
    for (int i = 0; i < 3; i++) {
        const double l[3] = {R[i], R[3 + i], R[6 + i]};
        score(&x, l, hair);
    }
    for (int k = 0; k < 9 && x.best <= sink->margin; k++) { /* e_i cross the axis j of b */
        int i = k / 3, j = k % 3, i1 = (i + 1) % 3, i2 = (i + 2) % 3;
        double p = R[3 * i1 + j], q = R[3 * i2 + j], length = sqrt(p * p + q * q), l[3];
        if (length > 1e-12) {
            l[i] = 0;
            l[i1] = -q / length;
            l[i2] = p / length;
            score(&x, l, hair);
        }
    }
    if (x.best > sink->margin) {
        return;
    }
    v3_turn(n, a->R, x.n);
    if (!collide_manifold(a, b, n, x.best, NULL, 1, sink)) {
        collide_convex(a, b, sink);
    }
}

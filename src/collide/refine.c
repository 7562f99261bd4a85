/* Computes a contact normal to full accuracy.
 *
 * Around the answer the support function of the difference is smooth on strata: where a shape
 * supports by
 *
 *     a point v                       h = v.u
 *     an edge                         h = v.u          on  e.u = 0
 *     a face                          u = its normal
 *     the rim of a disc               h = r |u_xy| + z u_z
 *     a generator of a cylinder       as the rim       on  u_z = 0
 *     a generator of a cone           as the rim       on  2 half u_z = r |u_xy|
 *     an ellipsoid                    h = |(e_i u_i)|
 *
 * With h(u) the sum for both shapes (b at -u), grad h = p the point of the difference, the normal
 * is a stationary point of h on the sphere: p = h u plus multipliers times the gradients of the
 * strata's conditions c. Newton's method in the tangent plane T of u:
 *
 *     no condition     T'(Hess h - h 1)T d = -T'p
 *     one              step back onto c = 0, then along it: d = -t.p / t'(Hess h - l Hess c - h 1)t
 *     two              c1 = c2 = 0
 *
 * The strata are taken from the final simplex of GJK or EPA; if in doubt, several are tried, and
 * the one with the largest true gap(n) is kept. So this can only improve the answer. */
#include "collide/inner.h"

enum { MODES = 16, CONDITIONS = 2 };

typedef enum mode_kind { POINT, EDGE, FACE, RIM, SIDE, SLOPE, SMOOTH } mode_kind;

typedef struct mode {
    mode_kind kind;
    double p[3], e[3]; /* a point; an edge's direction, or a face's normal */
} mode;

typedef struct local {
    mode_kind kind;
    double p[3];    /* gradient of h */
    double k, w[3]; /* its Hessian: k w w' where the shape has a rim, */
    double own[3];  /* (diag(e^2) - own own') / k in its frame for an ellipsoid, else 0 */
    int conditions; /* c = 0, */
    double c[CONDITIONS], g[CONDITIONS][3]; /* gradients; a SLOPE's Hessian is that of -h */
    double along[3];                        /* the flat direction, if there is one condition */
} local;

/* ---- Which strata there are ------------------------------------------------------------------ */

static int add(mode *m, int count, mode_kind kind, const double p[3], const double e[3])
{
    if (count < MODES) {
        m[count].kind = kind;
        v3_copy(m[count].p, p);
        v3_copy(m[count].e, e);
        count++;
    }
    return count;
}

/* Strata of a polytope, from the distinct corners in the simplex. */
static int corners(const collide_solid *s, const double own[][3], const int *id, int n,
                   const double u[3], mode *m)
{
    double e[3], f[3], zero[3] = {0, 0, 0};
    int count = 0, second = -1, third = -1;
    for (int i = 1; i < n; i++) {
        second = second < 0 && id[i] != id[0] ? i : second;
        third = second >= 0 && id[i] != id[0] && id[i] != id[second] ? i : third;
    }
    if (third >= 0) {
        v3_sub(e, own[second], own[0]);
        v3_sub(f, own[third], own[0]);
        v3_cross(e, e, f);
        if (s->kind == COLLIDE_BOX) { /* exactly */
            int k = fabs(e[1]) > fabs(e[0]) ? 1 : 0;
            k = fabs(e[2]) > fabs(e[k]) ? 2 : k;
            v3_set(e, k == 0, k == 1, k == 2);
        } else if (s->kind == COLLIDE_HULL && s->hull->face_count > 0) {
            collide_polygon g;
            collide_solid alone = *s;
            const double still[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
            for (int i = 0; i < 9; i++) {
                alone.R[i] = still[i];
            }
            v3_set(alone.t, 0, 0, 0);
            collide_polygon_of(&alone, u, COLLIDE_FACE, &g);
            v3_copy(e, g.normal);
        }
        if (v3_unit(e) > 0) {
            v3_scale(e, v3_dot(e, u) < 0 ? -1 : 1);
            count = add(m, count, FACE, own[0], e);
        }
    }
    if (second >= 0) {
        v3_sub(e, own[second], own[0]);
        if (v3_unit(e) > 0) {
            count = add(m, count, EDGE, own[0], e);
        }
    }
    return third < 0 || count == 0 ? add(m, count, POINT, own[0], zero) : count;
}

/* The simplex need not contain all corners of the answer: against a curved shape it ends close to
 * it, and otherwise where squares of distances cannot resolve directions, at sqrt(round-off).
 * Therefore the edges at the farthest corner that are nearly perpendicular to u are included too,
 * and the faces. */
static int near_edges(const collide_solid *s, const double u[3], double near, mode *m, int count)
{
    double e[3], f[3], face[3], corner[3];
    int id = collide_own_support(s, u, corner);
    if (s->kind == COLLIDE_BOX) {
        int flat = 0;
        v3_set(face, 1, 1, 1);
        for (int i = 0; i < 3; i++) {
            if (fabs(u[i]) < near) {
                v3_set(e, i == 0, i == 1, i == 2);
                count = add(m, count, EDGE, corner, e);
                face[i] = 0;
                flat++;
            }
        }
        for (int i = 0; i < 3; i++) {
            face[i] = u[i] < 0 ? -face[i] : face[i];
        }
        return flat == 2 ? add(m, count, FACE, corner, face) : count;
    }
    if (s->kind == COLLIDE_CAPSULE) {
        v3_set(e, 0, 0, 1);
        return fabs(u[2]) < near ? add(m, count, EDGE, corner, e) : count;
    }
    if (s->kind == COLLIDE_TRIANGLE) {
        v3_sub(e, s->corner + 3 * ((id + 1) % 3), corner);
        v3_sub(f, s->corner + 3 * ((id + 2) % 3), corner);
        v3_cross(face, e, f);
        count =
            v3_unit(e) > 0 && fabs(v3_dot(e, u)) < near ? add(m, count, EDGE, corner, e) : count;
        count =
            v3_unit(f) > 0 && fabs(v3_dot(f, u)) < near ? add(m, count, EDGE, corner, f) : count;
        double up = v3_unit(face) > 0 ? v3_dot(face, u) : 0;
        v3_scale(face, up < 0 ? -1 : 1);
        return fabs(up) > 1 - near * near ? add(m, count, FACE, corner, face) : count;
    }
    if (s->kind != COLLIDE_HULL) {
        return count;
    }
    const collide_hull *h = s->hull;
    for (int k = h->near_start[id]; k < h->near_start[id + 1]; k++) {
        v3_sub(e, &h->vertex[3 * h->near[k]], corner);
        if (v3_unit(e) > 0 && fabs(v3_dot(e, u)) < near) {
            count = add(m, count, EDGE, corner, e);
        }
    }
    for (int k = h->around_start[id]; k < h->around_start[id + 1]; k++) {
        v3_copy(f, &h->plane[4 * h->around[k]]);
        if (v3_dot(f, u) > 1 - near * near) {
            count = add(m, count, FACE, corner, f);
        }
    }
    return count;
}

/* In the shape's own frame, for its own outward direction u; `around`: also search near u.
 */
static int modes(const collide_solid *s, const double own[][3], const int *id, int n,
                 const double u[3], double around, mode *m)
{
    const double near = 0.06; /* the simplex is closer than that */
    double across = sqrt(u[0] * u[0] + u[1] * u[1]), r = s->size[0], h = s->size[1];
    double zero[3] = {0, 0, 0}, z[3] = {0, 0, u[2] < 0 ? -1 : 1}, top[3] = {0, 0, h};
    double end[3] = {0, 0, u[2] < 0 ? -h : h}, low[3] = {0, 0, -h};
    int count = 0;
    switch (s->kind) {
    case COLLIDE_ELLIPSOID:
        return add(m, 0, SMOOTH, zero, zero);
    case COLLIDE_CYLINDER:
        count = across < near ? add(m, count, FACE, end, z) : count;
        count = fabs(u[2]) < near ? add(m, count, SIDE, zero, z) : count;
        count = add(m, count, RIM, end, z);
        end[2] = -end[2];
        return fabs(u[2]) < near ? add(m, count, RIM, end, z) : count;
    case COLLIDE_CONE: {
        double slant = sqrt(4 * h * h + r * r), off = 2 * h * u[2] - r * across;
        count = across < near && u[2] < 0 ? add(m, count, FACE, low, z) : count;
        count = fabs(off) < near * slant ? add(m, count, SLOPE, low, z) : count;
        count = off > -near * slant ? add(m, count, POINT, top, z) : count;
        return off < near * slant ? add(m, count, RIM, low, z) : count;
    }
    default:
        count = corners(s, own, id, n, u, m);
        return around > 0 ? near_edges(s, u, around, m, count) : count;
    }
}

/* ---- h and its derivatives on one of them ---------------------------------------------------- */

static void rim(const collide_solid *s, const mode *m, const double u[3], local *l)
{
    double across = sqrt(u[0] * u[0] + u[1] * u[1]), r = s->size[0];
    double x = across > 0 ? u[0] / across : 1, y = across > 0 ? u[1] / across : 0;
    v3_set(l->p, r * x, r * y, m->p[2]);
    v3_set(l->w, -y, x, 0);
    l->k = across > 0 ? r / across : 0;
    if (m->kind == SIDE) {
        l->conditions = 1;
        l->c[0] = u[2];
        v3_set(l->g[0], 0, 0, 1);
        v3_set(l->along, 0, 0, 1);
    } else if (m->kind == SLOPE) {
        double h = s->size[1];
        l->conditions = 1;
        l->c[0] = 2 * h * u[2] - r * across;
        v3_set(l->g[0], -r * x, -r * y, 2 * h);
        v3_set(l->along, -r * x, -r * y, 2 * h);
    }
}

static void own_local(const collide_solid *s, const mode *m, const double u[3], local *l)
{
    l->kind = m->kind;
    l->conditions = 0;
    l->k = 0;
    v3_copy(l->p, m->p);
    if (m->kind == RIM || m->kind == SIDE || m->kind == SLOPE) {
        rim(s, m, u, l);
    } else if (m->kind == EDGE) {
        l->conditions = 1;
        l->c[0] = v3_dot(m->e, u);
        v3_copy(l->g[0], m->e);
        v3_copy(l->along, m->e);
    } else if (m->kind == FACE) {
        double e[3], f[3];
        v3_frame(m->e, e, f);
        l->conditions = 2;
        l->c[0] = v3_dot(e, u);
        l->c[1] = v3_dot(f, u);
        v3_copy(l->g[0], e);
        v3_copy(l->g[1], f);
    } else if (m->kind == SMOOTH) {
        const double *e = s->size;
        double q[3] = {e[0] * u[0], e[1] * u[1], e[2] * u[2]};
        l->k = v3_unit(q);
        v3_set(l->p, e[0] * q[0], e[1] * q[1], e[2] * q[2]);
        v3_copy(l->own, l->p);
    }
}

static void turn_over(const double R[9], double v[3])
{
    double w[3] = {v[0], v[1], v[2]};
    v3_turn(v, R, w);
}

/* In the frame of the pair; `side` is 1 for a and -1 for b, whose outward direction is -u. */
static void local_of(const collide_solid *s, const mode *m, const double u[3], double side,
                     local *l)
{
    double v[3], w[3] = {side * u[0], side * u[1], side * u[2]};
    v3_turn_back(v, s->R, w);
    own_local(s, m, v, l);
    turn_over(s->R, l->p);
    v3_add(l->p, l->p, 1, s->t);
    if (m->kind == RIM || m->kind == SIDE || m->kind == SLOPE) {
        turn_over(s->R, l->w);
    }
    for (int k = 0; k < l->conditions; k++) {
        turn_over(s->R, l->g[k]);
        v3_scale(l->g[k], side);
    }
    if (l->conditions == 1) {
        turn_over(s->R, l->along);
    }
}

/* ---- Newton's method ------------------------------------------------------------------------- */

/* Adds the Hessian in the plane of e and f: ee, ef, ff. */
static void bend(const collide_solid *s, const local *l, const double e[3], const double f[3],
                 double H[3])
{
    if (l->kind == SMOOTH) {
        double x[3], y[3];
        v3_turn_back(x, s->R, e);
        v3_turn_back(y, s->R, f);
        double px = v3_dot(l->own, x), py = v3_dot(l->own, y), xx = 0, xy = 0, yy = 0;
        for (int i = 0; i < 3; i++) {
            double q = s->size[i] * s->size[i];
            xx += q * x[i] * x[i];
            xy += q * x[i] * y[i];
            yy += q * y[i] * y[i];
        }
        if (l->k > 0) {
            H[0] += (xx - px * px) / l->k;
            H[1] += (xy - px * py) / l->k;
            H[2] += (yy - py * py) / l->k;
        }
    } else if (l->k > 0) {
        double x = v3_dot(l->w, e), y = v3_dot(l->w, f);
        H[0] += l->k * x * x;
        H[1] += l->k * x * y;
        H[2] += l->k * y * y;
    }
}

/* Solves [a b; c d] x = r; 0: it is singular. */
static int solve2(double a, double b, double c, double d, const double r[2], double x[2])
{
    double det = a * d - b * c;
    if (!(fabs(det) > 1e-14 * (fabs(a * d) + fabs(b * c)))) {
        return 0;
    }
    x[0] = (d * r[0] - b * r[1]) / det;
    x[1] = (a * r[1] - c * r[0]) / det;
    return 1;
}

/* Solves the symmetric [a b; b c] x = r along its axes; no step along an axis without curvature:
 * all directions along it are equally good (two bodies of revolution on one axis). */
static void solve_axes(double a, double b, double c, const double r[2], double x[2])
{
    double middle = 0.5 * (a + c), half = 0.5 * (a - c), way = sqrt(half * half + b * b);
    double most = fabs(middle) + way;
    double p = half >= 0 ? half + way : b, q = half >= 0 ? b : way - half; /* of middle + way */
    double length = sqrt(p * p + q * q);
    p = length > 0 ? p / length : 1;
    q = length > 0 ? q / length : 0;
    double one = p * r[0] + q * r[1], two = p * r[1] - q * r[0];
    one = fabs(middle + way) > 1e-9 * most ? one / (middle + way) : 0;
    two = fabs(middle - way) > 1e-9 * most ? two / (middle - way) : 0;
    x[0] = p * one - q * two;
    x[1] = q * one + p * two;
}

/* One step in the tangent plane (e, f) of u. */
static int newton_step(const collide_solid *a, const local *la, const collide_solid *b,
                       const local *lb, const double u[3], const double e[3], const double f[3],
                       double x[2])
{
    double p[3], H[3] = {0, 0, 0};
    v3_sub(p, la->p, lb->p);
    double h = v3_dot(p, u), pe = v3_dot(e, p), pf = v3_dot(f, p);
    bend(a, la, e, f, H);
    bend(b, lb, e, f, H);
    int total = la->conditions + lb->conditions;
    if (total == 0) {
        double r[2] = {-pe, -pf};
        solve_axes(H[0] - h, H[1], H[2] - h, r, x);
        return 1;
    }
    const local *one = la->conditions ? la : lb, *two = la->conditions == 2 ? la : lb;
    int last = two->conditions == 2 ? 1 : 0;
    if (lb->conditions == 2) {
        one = two = lb;
    } else if (la->conditions == 2) {
        one = la;
    }
    double ge = v3_dot(one->g[0], e), gf = v3_dot(one->g[0], f), gg = ge * ge + gf * gf;
    double scale = v3_dot(one->g[0], one->g[0]);
    if (total >= 2) {
        double r[2] = {-one->c[0], -two->c[last]};
        double qe = v3_dot(two->g[last], e), qf = v3_dot(two->g[last], f);
        if (fabs(ge * qf - gf * qe) > 1e-9 * sqrt(gg * (qe * qe + qf * qf))) {
            return solve2(ge, gf, qe, qf, r, x);
        } /* parallel: one of them is enough */
    }
    if (!(gg > 1e-20 * scale)) {
        return 0;
    }
    /* along t = (-gf e + ge f) / |g|, across it back onto c = 0 */
    double back = -one->c[0] / gg, root = sqrt(gg), te = -gf / root, tf = ge / root;
    double l = (ge * pe + gf * pf) / gg, of_c = 0;
    double of_h = te * te * H[0] + 2 * te * tf * H[1] + tf * tf * H[2];
    if (one->kind == SLOPE) {
        double w = te * v3_dot(one->w, e) + tf * v3_dot(one->w, f);
        of_c = -l * one->k * w * w;
    }
    double bent = of_h - of_c - h, stiff = fabs(of_h) + fabs(of_c) + fabs(h);
    double way = fabs(bent) > 1e-9 * stiff ? -(te * pe + tf * pf) / bent : 0;
    x[0] = back * ge + way * te;
    x[1] = back * gf + way * tf;
    return 1;
}

/* The nearest pair itself: a vertex on one side, or where two lines cross. */
static void witness_of(const local *la, const local *lb, const double u[3], collide_apex *out)
{
    double p[3], h;
    v3_sub(p, la->p, lb->p);
    h = v3_dot(p, u);
    if (la->conditions == 0) {
        v3_copy(out->a, la->p);
        v3_add(out->b, out->a, -h, u);
    } else if (lb->conditions == 0) {
        v3_copy(out->b, lb->p);
        v3_add(out->a, out->b, h, u);
    } else if (la->conditions == 1 && lb->conditions == 1) { /* p + x la - y lb along u */
        double aa = v3_dot(la->along, la->along), bb = v3_dot(lb->along, lb->along), x[2];
        double ab = v3_dot(la->along, lb->along);
        double r[2] = {-v3_dot(la->along, p), v3_dot(lb->along, p)};
        if (aa * bb - ab * ab > 1e-12 * aa * bb && solve2(aa, -ab, -ab, bb, r, x)) {
            v3_add(out->a, la->p, x[0], la->along);
            v3_add(out->b, lb->p, x[1], lb->along);
        }
    }
}

/* The component of p perpendicular to u. */
static double slip(const local *la, const local *lb, const double u[3])
{
    double p[3];
    v3_sub(p, la->p, lb->p);
    v3_add(p, p, -v3_dot(p, u), u);
    return v3_length(p);
}

/* One step, halved while it does not help: the curvature r / |u_xy| of a rim is unbounded. */
static double damped_step(const collide_solid *a, const mode *ma, const collide_solid *b,
                          const mode *mb, local *la, local *lb, double u[3])
{
    double e[3], f[3], x[2], start[3] = {u[0], u[1], u[2]}, part = 1;
    v3_frame(u, e, f);
    if (!newton_step(a, la, b, lb, u, e, f, x)) {
        return INFINITY;
    }
    double size = sqrt(x[0] * x[0] + x[1] * x[1]), before = slip(la, lb, u);
    int free = la->conditions + lb->conditions == 0;
    for (int k = 0; k < 8; k++, part *= 0.5) {
        if (part * size < 0.5) {
            v3_add(u, start, part * x[0], e);
            v3_add(u, u, part * x[1], f);
            v3_unit(u);
            local_of(a, ma, u, 1, la);
            local_of(b, mb, u, -1, lb);
            if (!free || size < 1e-7 || slip(la, lb, u) < before) {
                return size;
            }
        } else if (!free) {
            break; /* too far away to belong to this stratum */
        }
    }
    return INFINITY;
}

/* The normal of a face, or the common normal of two straight lines, directly. */
static int straight(const collide_solid *a, const mode *ma, const collide_solid *b, const mode *mb,
                    double u[3])
{
    double n[3], e[3], f[3];
    if (ma->kind == FACE) {
        v3_turn(n, a->R, ma->e);
    } else if (mb->kind == FACE) {
        v3_turn(n, b->R, mb->e);
    } else if ((ma->kind == EDGE || ma->kind == SIDE) && (mb->kind == EDGE || mb->kind == SIDE)) {
        v3_turn(e, a->R, ma->e);
        v3_turn(f, b->R, mb->e);
        v3_cross(n, e, f);
        if (!(v3_unit(n) > 1e-9)) {
            return 0;
        }
    } else {
        return 0;
    }
    double side = v3_dot(n, u) < 0 ? -1 : 1;
    v3_set(u, side * n[0], side * n[1], side * n[2]);
    return 1;
}

static int newton(const collide_solid *a, const mode *ma, const collide_solid *b, const mode *mb,
                  double u[3], local l[2])
{
    double last = INFINITY, start[3] = {u[0], u[1], u[2]};
    local_of(a, ma, u, 1, &l[0]);
    local_of(b, mb, u, -1, &l[1]);
    for (int k = 0; k < 30; k++) {
        double size = damped_step(a, ma, b, mb, &l[0], &l[1], u);
        int done = size < 1e-9; /* the next step would be the square of that */
        last = size;
        if (done || !(size < INFINITY) || v3_dot(u, start) < 0.99) {
            break; /* converged, or diverging to another stationary point */
        }
    }
    return last < 1e-6;
}

/* Do the points of the two strata support the shapes along u, i.e. is their distance the gap? Other
 * strata (the opposite end of a cone, seen perpendicular to its axis) may be stationary too. */
static int supports(const collide_solid *a, const collide_solid *b, const local l[2],
                    const double u[3], double gap)
{
    double p[3];
    v3_sub(p, l[0].p, l[1].p);
    return fabs(v3_dot(p, u) + gap + a->radius + b->radius) <= 1e-12 * (a->extent + b->extent);
}

/* Do these points belong to the shapes and differ along u by the gap? */
static int is_pair(const collide_solid *a, const collide_solid *b, const double u[3], double gap,
                   const collide_apex *w, double slack)
{
    double d[3];
    v3_sub(d, w->a, w->b);
    v3_add(d, d, gap + a->radius + b->radius, u);
    return v3_dot(d, d) <= slack * slack;
}

/* u is stationary if the difference contains the point h u: if a pair of points of the two shapes
 * differs along u by the gap. For separated shapes that is the answer. */
static int proved(const collide_solid *a, const collide_solid *b, const local l[2],
                  const double u[3], double gap, const collide_apex *w)
{
    double d[3], slack = 1e-12 * (a->extent + b->extent);
    int free_a = l[0].conditions == 0, free_b = l[1].conditions == 0;
    if (free_a && free_b) {
        v3_sub(d, w->b, l[1].p);
        return v3_dot(d, d) <= slack * slack;
    }
    return (free_a || free_b || (l[0].conditions == 1 && l[1].conditions == 1)) &&
           is_pair(a, b, u, gap, w, slack) && (free_a || collide_inside(a, w->a, slack)) &&
           (free_b || collide_inside(b, w->b, slack));
}

/* A gap is flat at its maximum, so round-off may give a less accurate normal a larger gap.
 * Therefore the first that converged is preferred to the start if they are equal up to round-off;
 * the first strata are the flattest and, if equal, the most accurate. */
static double climb(const collide_solid *a, const mode *ma, int as, const collide_solid *b,
                    const mode *mb, int bs, double n[3], collide_apex *witness, int *found,
                    int *sure)
{
    double u[3], start[3] = {n[0], n[1], n[2]}, best = collide_gap(a, b, n);
    double hair = 1e-14 * (a->extent + b->extent);
    *sure = *found = 0;
    for (int k = 0; k < as * bs && !(*sure && best + a->radius + b->radius > 0); k++) {
        const mode *one = &ma[k / bs], *two = &mb[k % bs];
        local l[2];
        v3_copy(u, start);
        int direct = straight(a, one, b, two, u), converged = direct;
        if (!direct) {
            converged = newton(a, one, b, two, u, l);
        }
        double gap = collide_gap(a, b, u);
        if (!(gap > best + (converged && !*found ? -hair : hair))) {
            continue;
        }
        if (direct) {
            local_of(a, one, u, 1, &l[0]);
            local_of(b, two, u, -1, &l[1]);
        }
        int active = supports(a, b, l, u, gap);
        if (!active && !(gap > best + hair)) {
            continue;
        }
        best = gap;
        v3_copy(n, u);
        *sure = 0;
        if (active) { /* separated shapes whose points prove the gap need no other */
            int have = converged && gap + a->radius + b->radius > 0 &&
                       is_pair(a, b, u, gap, witness, 1e-12 * (a->extent + b->extent));
            *found |= converged;
            if (!have) {
                witness_of(&l[0], &l[1], u, witness);
            }
            *sure = have || (converged && proved(a, b, l, u, gap, witness));
        }
    }
    return best;
}

double collide_refine(const collide_solid *a, const collide_solid *b, const collide_apex *simplex,
                      int count, double n[3], collide_apex *witness, int *sure)
{
    double own_a[4][3], own_b[4][3], u[3], v[3], best = 0;
    int id_a[4], id_b[4], found = 0;
    for (int i = 0; i < count; i++) {
        v3_sub(u, simplex[i].a, a->t);
        v3_turn_back(own_a[i], a->R, u);
        v3_sub(u, simplex[i].b, b->t);
        v3_turn_back(own_b[i], b->R, u);
        id_a[i] = simplex[i].ia;
        id_b[i] = simplex[i].ib;
    }
    int bent = collide_curved(a) || collide_curved(b);
    for (int around = bent; around < 2 && !found;
         around++) { /* repeated if no stratum supports the shapes */
        mode ma[MODES], mb[MODES];
        double back[3] = {-n[0], -n[1], -n[2]}, near = bent ? 0.06 : around ? 1e-6 : 0;
        v3_turn_back(u, a->R, n);
        v3_turn_back(v, b->R, back);
        int as = modes(a, own_a, id_a, count, u, collide_curved(b) || !bent ? near : 0, ma);
        int bs = modes(b, own_b, id_b, count, v, collide_curved(a) || !bent ? near : 0, mb);
        best = climb(a, ma, as, b, mb, bs, n, witness, &found, sure);
    }
    return best;
}

#include "system/bodies/balance.h"

#include <math.h>
#include <string.h>

#include "math/elementary.h"
#include "model/pose.h"

void balance_momenta(const zw_system *system, const double *sweeps, double *P)
{
    const tree_mechanism *tree = system->tree;
    for (int i = 1; i < tree->bodies; i++) {
        const double *J = sweeps + tree->at.inertia + 6 * i, *w = sweeps + tree->at.V + 6 * i;
        double *p = P + 6 * i;
        p[0] = J[0] * w[0] + J[3] * w[1] + J[4] * w[2];
        p[1] = J[3] * w[0] + J[1] * w[1] + J[5] * w[2];
        p[2] = J[4] * w[0] + J[5] * w[1] + J[2] * w[2];
        for (int k = 0; k < 3; k++) {
            p[3 + k] = tree->body[i].mass * w[3 + k];
        }
    }
}

void balance_gather(const zw_system *system, const double *sweeps, double *F, double *tau)
{
    const tree_mechanism *tree = system->tree;
    for (int i = tree->bodies - 1; i > 0; i--) {
        const tree_body *body = &tree->body[i];
        const double *f = F + 6 * i;
        for (int d = body->dof; d < body->dof_end; d++) {
            const double *S = sweeps + tree->at.S + 6 * d;
            tau[d] = model_dot(S, f) + model_dot(S + 3, f + 3);
        }
        if (body->parent == 0) {
            continue;
        }
        double *to = F + 6 * body->parent, moment[3];
        model_cross(moment, sweeps + tree->at.shift + 3 * i, f + 3);
        for (int k = 0; k < 3; k++) {
            to[k] += f[k] + moment[k];
            to[3 + k] += f[3 + k];
        }
    }
}

/* ---- Rotation within a step ------------------------------------------------------------------ */

static int turns(const tree_mechanism *tree, int d)
{
    tree_joint_kind kind = tree->joint[tree->dof_joint[d]].kind;
    return kind == TREE_HINGE || kind == TREE_BALL;
}

/* The square of the angular rate at which the parent of body i moves its centre of mass around. */
static double carried(const tree_mechanism *tree, const double *sweeps, int i)
{
    const double *r = sweeps + tree->at.shift + 3 * i;
    const double *w = sweeps + tree->at.V + 6 * tree->body[i].parent;
    double across[3], size = model_dot(r, r);
    model_cross(across, w, r);
    return size > 0 ? model_dot(across, across) / size : 0;
}

/* A body on the world with one hinge and without children: S' P+ is the same multiple of u from q0
 * and from q1, so that v1 = v0 without forces, whatever the angle of a step. */
static int turns_alone(const tree_body *body)
{
    return body->parent == 0 && body->last_child == 0 && body->dof_end == body->dof + 1;
}

/* The same by its own hinges and balls; or the rate at which it would swing on one of them under
 * its weight. */
static double swung(const tree_mechanism *tree, const double *sweeps, const double *v, int i)
{
    const tree_body *body = &tree->body[i];
    const double *J = sweeps + tree->at.inertia + 6 * i;
    double gravity = sqrt(model_dot(tree->gravity, tree->gravity)), along[3] = {0}, arm = 0,
           most = 0;
    for (int d = body->dof; d < body->dof_end; d++) {
        const double *S = sweeps + tree->at.S + 6 * d, *e = S;
        if (!turns(tree, d)) {
            continue;
        }
        double r2 = model_dot(S + 3, S + 3), m = body->mass;
        double spin = J[0] * e[0] * e[0] + J[1] * e[1] * e[1] + J[2] * e[2] * e[2] +
                      2 * (J[3] * e[0] * e[1] + J[4] * e[0] * e[2] + J[5] * e[1] * e[2]);
        double inertia = spin + m * r2 + tree->armature[d];
        most = inertia > 0 ? fmax(most, m * gravity * sqrt(r2) / inertia) : most;
        arm = fmax(arm, r2);
        for (int k = 0; k < 3; k++) {
            along[k] += S[3 + k] * v[d];
        }
    }
    return arm > 0 && !turns_alone(body) ? fmax(most, model_dot(along, along) / arm) : most;
}

/* The square of |w x L|/|L|, the rate at which the angular momentum L = J w rotates relative to the
 * body. Zero if w is along a principal axis of J. */
static double tumbles(const tree_mechanism *tree, const double *sweeps, int i)
{
    const double *J = sweeps + tree->at.inertia + 6 * i, *w = sweeps + tree->at.V + 6 * i;
    const double L[3] = {J[0] * w[0] + J[3] * w[1] + J[4] * w[2],
                         J[3] * w[0] + J[1] * w[1] + J[5] * w[2],
                         J[4] * w[0] + J[5] * w[1] + J[2] * w[2]};
    double across[3], size = model_dot(L, L);
    model_cross(across, w, L);
    return size > 0 ? model_dot(across, across) / size : 0;
}

double balance_ramp(double square)
{
    const double none = 0.2 * 0.2, all = 0.5 * 0.5;
    return fmin(fmax((square - none) / (all - none), 0), 1);
}

double balance_theta(const zw_system *system, const double *sweeps, const double *v, double h)
{
    const tree_mechanism *tree = system->tree;
    double rate = 0;
    for (int i = 1; i < tree->bodies; i++) {
        rate = fmax(rate, fmax(carried(tree, sweeps, i), swung(tree, sweeps, v, i)));
        rate = fmax(rate, tumbles(tree, sweeps, i));
    }
    return balance_ramp(h * h * rate);
}

/* ---- Slopes of momenta ----------------------------------------------------------------------- */

/* tau_e = sum_b S_e . (P_b at q, v), where S are the motions at another place p and q = q0 (+) f v.
 * A speed v_d gives the bodies beyond d its motion S_d, and its displacement D_d moves all of them:
 * f S_d, and for axes that turn together, by exp(f v), f S T_d with
 *
 *     T = 1 - (1 - cos a)/a^2 f v x + (1 - sin a/a)/a^2 f^2 v x v x,     a = |f v|
 *
 * About one fixed point, with V the motion of what comes before the joint of d and h = (L, p) the
 * momenta of a body there,
 *
 *     dh/dv_d = D x* h + I y_d,     y_d = S_d + V x D_d
 *
 * (D x* turns h and I, and what D turns of the motion beyond d is in the first term). In tau the
 * momenta of a body, about its centre of mass c, act where that is at p, say a. With w the angular
 * part of y, l its linear one, and the turning phi of D, the sum over the bodies of a subtree is
 *
 *     linear    m l + w x sum m c + phi x p
 *     angular   A w + sum m a x l + B phi,     A = sum J + m (a.c 1 - c a'),
 *                                              B = sum a.p 1 - p a' - L x
 *
 * and so N_ed = dtau_e/dv_d = S_e . (this for the subtree of d), e on the path from the root to d,
 * or for d on the path to e, by the transposed of it for the subtree of e. Where f = 0, v = 0 and
 * p = q that is the matrix of masses. The point is the centre of mass, at p, of the child of the
 * world that carries the tree. */
typedef struct subtree {
    double m, c[3], a[3], p[3]; /* the mass; the sums of m c, m a, p; */
    double A[9], B[9];
} subtree;

typedef struct dof_slopes {
    double S[6];            /* at p, about the point of the tree; */
    double y[6], turned[3]; /* y and phi */
} dof_slopes;

static void cross(double *to, const double *a, const double *b)
{
    to[0] = a[1] * b[2] - a[2] * b[1];
    to[1] = a[2] * b[0] - a[0] * b[2];
    to[2] = a[0] * b[1] - a[1] * b[0];
}

/* to += A x of a matrix by rows, or A' x */
static void add_product(const double *A, int transposed, const double *x, double *to)
{
    const int row = transposed ? 1 : 3, column = transposed ? 3 : 1;
    for (int i = 0; i < 3; i++) {
        to[i] += A[i * row] * x[0] + A[i * row + column] * x[1] + A[i * row + 2 * column] * x[2];
    }
}

static void add_cross(double *to, const double *a, const double *b)
{
    double product[3];
    cross(product, a, b);
    for (int k = 0; k < 3; k++) {
        to[k] += product[k];
    }
}

/* V x S of motions */
static void motion_cross(const double *V, const double *S, double *to)
{
    cross(to, V, S);
    cross(to + 3, V, S + 3);
    add_cross(to + 3, V + 3, S);
}

/* to += a.b 1 - b a' */
static void add_arms(const double *a, const double *b, double *to)
{
    double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            to[3 * i + j] += (i == j ? dot : 0) - b[i] * a[j];
        }
    }
}

static subtree body_alone(const tree_mechanism *tree, const double *sweeps, int i, const double *x,
                          const double *a)
{
    const double *V = sweeps + tree->at.V + 6 * i, *J = sweeps + tree->at.inertia + 6 * i;
    const double m = tree->body[i].mass;
    subtree it = {.m = m, .A = {J[0], J[3], J[4], J[3], J[1], J[5], J[4], J[5], J[2]}};
    double L[3] = {0};
    add_product(it.A, 0, V, L);
    for (int k = 0; k < 3; k++) {
        it.c[k] = m * x[k];
        it.a[k] = m * a[k];
        it.p[k] = m * V[3 + k];
    }
    add_arms(a, it.c, it.A);
    add_arms(a, it.p, it.B);
    it.B[1] += L[2];
    it.B[2] -= L[1];
    it.B[3] -= L[2];
    it.B[5] += L[0];
    it.B[6] += L[1];
    it.B[7] -= L[0];
    return it;
}

void balance_turning(const double *w, double f, double part[2])
{
    const double series = 0.01; /* a^2: below, the terms left out are 1e-10 of those that are not */
    double x = f * f * model_dot(w, w), sine, cosine;
    if (x < series) {
        part[0] = f * (0.5 - x / 24 + x * x / 720);
        part[1] = f * f * (1.0 / 6 - x / 120 + x * x / 5040);
        return;
    }
    math_sincos(sqrt(x), &sine, &cosine);
    part[0] = f * (1 - cosine) / x;
    part[1] = f * f * (1 - sine / sqrt(x)) / x;
}

static void add_subtree(subtree *to, const subtree *from)
{
    const double *part = &from->m;
    double *sum = &to->m;
    for (size_t k = 0; k < sizeof *to / sizeof(double); k++) {
        sum[k] += part[k];
    }
}

/* S of dof d about a point, from which its body's centre of mass is x. */
static void move_axis(const tree_mechanism *tree, const double *sweeps, int d, const double *x,
                      double *to)
{
    const double *S = sweeps + tree->at.S + 6 * d;
    memcpy(to, S, 6 * sizeof *to);
    add_cross(to + 3, x, S);
}

/* y and phi of `count` dofs from d on, which turn or shift together; V: before them, then after. */
static void find_group(const balance_step *step, const tree_mechanism *tree, int d, int count,
                       const double *x, double *V, dof_slopes *dof)
{
    double S[3][6], turned[2];
    const double *v = step->v + d, f = step->f;
    const tree_joint *joint = &tree->joint[tree->dof_joint[d]];
    const int together = joint->kind == TREE_BALL || (joint->kind == TREE_FREE && d > joint->v);
    for (int e = 0; e < count; e++) {
        move_axis(tree, step->sweeps, d + e, x, S[e]);
    }
    if (together) {
        balance_turning(v, f, turned);
    }
    for (int e = 0; e < count; e++) {
        double T[3] = {0}, once[3], twice[3], D[6] = {0};
        T[e] = 1;
        if (together) {
            cross(once, v, T);
            cross(twice, v, once);
            for (int k = 0; k < 3; k++) {
                T[k] += turned[1] * twice[k] - turned[0] * once[k];
            }
        }
        for (int k = 0; k < 6; k++) {
            for (int g = 0; g < count; g++) {
                D[k] += f * S[g][k] * T[g];
            }
        }
        motion_cross(V, D, dof[d + e].y);
        for (int k = 0; k < 6; k++) {
            dof[d + e].y[k] += S[e][k];
        }
        memcpy(dof[d + e].turned, D, sizeof dof->turned);
    }
    for (int e = 0; e < count; e++) {
        for (int k = 0; k < 6; k++) {
            V[k] += S[e][k] * v[e];
        }
    }
}

/* Of body i: its own part of the sums, and all of its dofs. */
static void find_body(const balance_step *step, const tree_mechanism *tree, int i,
                      const double *point, subtree *all, dof_slopes *dof)
{
    const tree_body *body = &tree->body[i];
    double x[3], a[3], V[6] = {0};
    for (int k = 0; k < 3; k++) {
        x[k] = step->sweeps[tree->at.com + 3 * i + k] - point[k];
        a[k] = step->place[tree->at.com + 3 * i + k] - point[k];
    }
    if (body->parent != 0) { /* the motion of the parent, about the point */
        const double *own = step->sweeps + tree->at.V + 6 * body->parent;
        double arm[3];
        for (int k = 0; k < 3; k++) {
            arm[k] = step->sweeps[tree->at.com + 3 * body->parent + k] - point[k];
        }
        memcpy(V, own, sizeof V);
        add_cross(V + 3, arm, own);
    }
    for (int d = body->dof, count; d < body->dof_end; d += count) {
        tree_joint_kind kind = tree->joint[tree->dof_joint[d]].kind;
        count = kind == TREE_HINGE || kind == TREE_SLIDE ? 1 : 3; /* free: shifts, then turns */
        for (int e = d; e < d + count; e++) {
            move_axis(tree, step->place, e, a, dof[e].S);
        }
        find_group(step, tree, d, count, x, V, dof);
    }
    all[i] = body_alone(tree, step->sweeps, i, x, a);
}

/* The rows and columns of dof d, which moves this subtree. */
static void put_slopes(const tree_mechanism *tree, const subtree *it, const dof_slopes *dof, int d,
                       double *N, int stride)
{
    const double *S = dof[d].S, *y = dof[d].y, *turned = dof[d].turned;
    double F[6] = {0}, to_y[6] = {0}, to_turned[3] = {0};
    add_product(it->A, 0, y, F);
    add_product(it->B, 0, turned, F);
    add_cross(F, it->a, y + 3);
    add_cross(F + 3, y, it->c);
    add_cross(F + 3, turned, it->p);
    add_product(it->A, 1, S, to_y);
    add_cross(to_y, it->c, S + 3);
    add_cross(to_y + 3, S, it->a);
    add_product(it->B, 1, S, to_turned);
    add_cross(to_turned, it->p, S + 3);
    for (int k = 0; k < 3; k++) {
        F[3 + k] += it->m * y[3 + k];
        to_y[3 + k] += it->m * S[3 + k];
    }
    for (int e = d; e >= 0; e = tree->dof_parent[e]) {
        double up = 0, down = 0;
        for (int k = 0; k < 6; k++) {
            up += dof[e].S[k] * F[k];
            down += dof[e].y[k] * to_y[k];
        }
        for (int k = 0; k < 3; k++) {
            down += dof[e].turned[k] * to_turned[k];
        }
        N[(long)e * stride + d] += up;
        N[(long)d * stride + e] += e == d ? 0 : down;
    }
}

size_t balance_slopes_scratch(const zw_system *system)
{
    return ((size_t)system->tree->bodies * sizeof(subtree) +
            (size_t)system->n * sizeof(dof_slopes)) /
           sizeof(double);
}

void balance_slopes(const zw_system *system, const balance_step *step, double *scratch, double *N,
                    int stride)
{
    const tree_mechanism *tree = system->tree;
    subtree *all = (subtree *)scratch;
    dof_slopes *dof = (dof_slopes *)(all + tree->bodies);
    for (int i = 1; i < tree->bodies; i++) {
        int root = i;
        while (tree->body[root].parent != 0) {
            root = tree->body[root].parent;
        }
        find_body(step, tree, i, step->place + tree->at.com + 3 * root, all, dof);
    }
    for (int i = tree->bodies - 1; i > 0; i--) {
        const tree_body *body = &tree->body[i];
        for (int d = body->dof; d < body->dof_end; d++) {
            put_slopes(tree, &all[i], dof, d, N, stride);
        }
        if (body->parent != 0) {
            add_subtree(&all[body->parent], &all[i]);
        }
    }
}

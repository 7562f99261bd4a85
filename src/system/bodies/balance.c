#include "system/bodies/balance.h"

#include <math.h>
#include <string.h>

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

/* ---- Slopes of inertia ----------------------------------------------------------------------- */

/* The inertial forces are quadratic in the speeds, bias(v) with A_i = sum_d S_d' v_d and, about a
 * fixed point, F_i = I_i A_i + V_i x* I_i V_i. With e among the dofs that move body i,
 *
 *     dA_i/dv_e = y_e - V_i x S_e,        y_e = (V before the joint of e + V after it) x S_e
 *
 * as S_e' is carried by the one or the other and S_e moves all bodies after it. So for the subtree
 * of dof d (superscript C), with momenta P and I' = V x* I - I V x the rate of change of an inertia
 * in world axes,
 *
 *     dF_d/dv_e = I'^C S_e + S_e x* P^C + I^C y_e
 *
 * for every e on the path to d, including d (in other words: Echeandia and Wensing 2021). The
 * derivatives between d and such an e are then, with S_d . (S_e x* P) = -S_e . (S_d x* P),
 *
 *     N_ed = S_e . (I'^C S_d + S_d x* P^C + I^C y_d)
 *     N_de = S_e . (I'^C S_d - S_d x* P^C) + y_e . I^C S_d,     C: the subtree of d
 *
 * Here a subtree's own numbers are about the centre of mass of its body. */
typedef struct subtree {
    double h[3], J[6];    /* first moment and inertia, */
    double p[3], rate[6]; /* and their rates: p is the momentum as well */
    double L[3];          /* angular momentum */
} subtree;

static inline void cross(double *to, const double *a, const double *b)
{
    to[0] = a[1] * b[2] - a[2] * b[1];
    to[1] = a[2] * b[0] - a[0] * b[2];
    to[2] = a[0] * b[1] - a[1] * b[0];
}

static void symmetric_times(const double *J, const double *w, double *to)
{
    to[0] = J[0] * w[0] + J[3] * w[1] + J[4] * w[2];
    to[1] = J[3] * w[0] + J[1] * w[1] + J[5] * w[2];
    to[2] = J[4] * w[0] + J[5] * w[1] + J[2] * w[2];
}

/* to += 2 (a . b) 1 - (a b' + b a') */
static void add_steiner(const double *a, const double *b, double *to)
{
    double xx = a[0] * b[0], yy = a[1] * b[1], zz = a[2] * b[2];
    to[0] += 2 * (yy + zz);
    to[1] += 2 * (xx + zz);
    to[2] += 2 * (xx + yy);
    to[3] -= a[0] * b[1] + a[1] * b[0];
    to[4] -= a[0] * b[2] + a[2] * b[0];
    to[5] -= a[1] * b[2] + a[2] * b[1];
}

static subtree body_alone(const tree_mechanism *tree, const double *sweeps, int i)
{
    const double *V = sweeps + tree->at.V + 6 * i, *J = sweeps + tree->at.inertia + 6 * i;
    subtree it = {0};
    double turned[3][3]; /* omega x columns of J */
    const double column[3][3] = {{J[0], J[3], J[4]}, {J[3], J[1], J[5]}, {J[4], J[5], J[2]}};
    memcpy(it.J, J, sizeof it.J);
    symmetric_times(J, V, it.L);
    for (int k = 0; k < 3; k++) {
        it.p[k] = tree->body[i].mass * V[3 + k];
        cross(turned[k], V, column[k]);
    }
    for (int k = 0; k < 3; k++) {
        it.rate[k] = 2 * turned[k][k];
    }
    it.rate[3] = turned[0][1] + turned[1][0];
    it.rate[4] = turned[0][2] + turned[2][0];
    it.rate[5] = turned[1][2] + turned[2][1];
    return it;
}

/* Adds the subtree of a child, about the centre of mass of its parent, at -r from its own. */
static void add_child(subtree *to, const subtree *child, double mass, const double *r)
{
    double J[6], rate[6], e[3], moment[3];
    memcpy(J, child->J, sizeof J);
    memcpy(rate, child->rate, sizeof rate);
    for (int k = 0; k < 3; k++) {
        e[k] = child->h[k] + 0.5 * mass * r[k];
    }
    add_steiner(e, r, J);
    add_steiner(child->p, r, rate);
    cross(moment, r, child->p);
    for (int k = 0; k < 3; k++) {
        to->h[k] += child->h[k] + mass * r[k];
        to->p[k] += child->p[k];
        to->L[k] += child->L[k] + moment[k];
    }
    for (int k = 0; k < 6; k++) {
        to->J[k] += J[k];
        to->rate[k] += rate[k];
    }
}

/* The force of a composite inertia for a motion x; for its rate, pass mass 0. */
static void inertia_times(double mass, const double *h, const double *J, const double *x, double *F)
{
    double moment[3], force[3];
    symmetric_times(J, x, F);
    cross(moment, h, x + 3);
    cross(force, x, h);
    for (int k = 0; k < 3; k++) {
        F[k] += moment[k];
        F[3 + k] = mass * x[3 + k] + force[k];
    }
}

/* V x S of motions */
static void motion_cross(const double *V, const double *S, double *to)
{
    double a[3], b[3];
    cross(to, V, S);
    cross(a, V, S + 3);
    cross(b, V + 3, S);
    for (int k = 0; k < 3; k++) {
        to[3 + k] = a[k] + b[k];
    }
}

/* y of `count` dofs from d on, which rotate or translate together; V: before them, then after. */
static void carry_axes(const tree_mechanism *tree, const double *sweeps, const double *v, int d,
                       int count, double *V, double *y)
{
    double both[6];
    memcpy(both, V, sizeof both);
    for (int e = d; e < d + count; e++) {
        for (int k = 0; k < 6; k++) {
            V[k] += sweeps[tree->at.S + 6 * e + k] * v[e];
        }
    }
    for (int k = 0; k < 6; k++) {
        both[k] += V[k];
    }
    for (int e = d; e < d + count; e++) {
        motion_cross(both, sweeps + tree->at.S + 6 * e, y + 6 * e);
    }
}

static void find_axes(const tree_mechanism *tree, const double *sweeps, const double *v, double *y)
{
    for (int i = 1; i < tree->bodies; i++) {
        const tree_body *body = &tree->body[i];
        const double *parent = sweeps + tree->at.V + 6 * body->parent;
        double V[6], shifted[3];
        cross(shifted, parent, sweeps + tree->at.shift + 3 * i);
        for (int k = 0; k < 3; k++) {
            V[k] = parent[k];
            V[3 + k] = parent[3 + k] + shifted[k];
        }
        for (int d = body->dof; d < body->dof_end;) {
            tree_joint_kind kind = tree->joint[tree->dof_joint[d]].kind;
            int count = kind == TREE_HINGE || kind == TREE_SLIDE ? 1 : 3;
            carry_axes(tree, sweeps, v, d, count, V,
                       y); /* a free joint: translations, then rotations */
            d += count;
        }
    }
}

/* The three forces of dof d of body i derived above, along the path to the root. */
static void put_slopes(const tree_mechanism *tree, const double *sweeps, const double *y, int i,
                       int d, double F[3][6], double *N, int stride)
{
    for (int b = i; b != 0; b = tree->body[b].parent) {
        const tree_body *body = &tree->body[b];
        int last = b == i ? d : body->dof_end - 1;
        for (int e = last; e >= body->dof; e--) {
            const double *S = sweeps + tree->at.S + 6 * e;
            double up = 0, down = 0;
            for (int k = 0; k < 6; k++) {
                up += S[k] * F[0][k];
                down += S[k] * F[1][k] + y[6 * e + k] * F[2][k];
            }
            N[(long)e * stride + d] += up;
            N[(long)d * stride + e] += e == d ? 0 : down;
        }
        for (int f = 0; f < 3; f++) {
            double moment[3];
            cross(moment, sweeps + tree->at.shift + 3 * b, F[f] + 3);
            for (int k = 0; k < 3; k++) {
                F[f][k] += moment[k];
            }
        }
    }
}

size_t balance_slopes_scratch(const zw_system *system)
{
    return (size_t)system->tree->bodies * (sizeof(subtree) / sizeof(double)) +
           6 * (size_t)system->n;
}

void balance_slopes(const zw_system *system, const double *sweeps, const double *v, double *scratch,
                    double *N, int stride)
{
    const tree_mechanism *tree = system->tree;
    subtree *all = (subtree *)scratch;
    double *y = scratch + (size_t)tree->bodies * (sizeof(subtree) / sizeof(double));
    find_axes(tree, sweeps, v, y);
    for (int i = 1; i < tree->bodies; i++) {
        all[i] = body_alone(tree, sweeps, i);
    }
    for (int i = tree->bodies - 1; i > 0; i--) {
        const tree_body *body = &tree->body[i];
        const subtree *it = &all[i];
        for (int d = body->dof; d < body->dof_end; d++) {
            const double *S = sweeps + tree->at.S + 6 * d;
            double F[3][6], rate[6], turned[6], w[3], s[3];
            inertia_times(0, it->p, it->rate, S, rate);
            cross(w, S, it->L);
            cross(s, S + 3, it->p);
            cross(turned + 3, S, it->p);
            inertia_times(body->subtree_mass, it->h, it->J, y + 6 * d, F[0]);
            inertia_times(body->subtree_mass, it->h, it->J, S, F[2]);
            for (int k = 0; k < 6; k++) {
                turned[k] = k < 3 ? w[k] + s[k] : turned[k];
                F[0][k] += rate[k] + turned[k];
                F[1][k] = rate[k] - turned[k];
            }
            put_slopes(tree, sweeps, y, i, d, F, N, stride);
        }
        if (body->parent != 0) {
            add_child(&all[body->parent], it, body->subtree_mass, sweeps + tree->at.shift + 3 * i);
        }
    }
}

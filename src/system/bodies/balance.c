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

/* ---- Slopes of inertia ----------------------------------------------------------------------- */

/* The momenta P_i of the bodies at q = q0 (+) t u, with u, gathered along the motions S0 of another
 * pose: derivatives by u. A change du moves q by t T du, where T differs from 1 for rotations of
 * balls and free bodies, exp(t (u + du)) = exp(t u) exp(t T du),
 *
 *     T = 1 - (1 - cos a)/a^2 [t w] + (a - sin a)/a^3 [t w]^2,     a = t |w|,  [w] x = w x x
 *
 * along the axes of the body. As dof e moves, what is behind it moves rigidly by S_e, and so
 * do its momenta, but not the part V of the motions that joints before e have caused (about a fixed
 * point: dV_i = S_e x (V_i - V), dP_i = S_e x* P_i - I_i (S_e x V)). So for every body behind e
 *
 *     dP_i/du_e = I_i y_e + w_e x P_i,      y_e = S_e + V x w_e,   w_e = t sum_f S_f T_fe
 *
 * where in the second term only the rotation of w_e matters, once everything is about the centres
 * of mass c_i at q: (w x L_i, w x p_i). Gathering adds r0 x f of forces f, with r0 the position of
 * c_i at the other pose, relative to that of the body where it is needed; y_e at c_i has y x r,
 * with r the same at q. The sums over a subtree are (J r0 r h of two poses)
 *
 *     force = m y_lin + y_ang x h + w x p,                       h = sum m r,  h0 = sum m r0
 *     moment = A y_ang + h0 x y_lin + B w,
 *     A = sum J + m ((r0 . r) 1 - r r0'),     B w = sum w x L + r0 x (w x p)
 *
 * and a row of another dof d behind e is the transpose of that, for the subtree of d:
 *
 *     g_lin = m S0_lin + S0_ang x h0,   g_ang = A' S0_ang + h x S0_lin,   k = B' S0_ang + p x
 * S0_lin S0_d . dP/du_e = g . y_e + k . w_e
 *
 * Armatures are not included. */
typedef struct subtree {
    double h0[3], h[3], p[3], A[9], B[9];
} subtree;

static inline void cross(double *to, const double *a, const double *b)
{
    to[0] = a[1] * b[2] - a[2] * b[1];
    to[1] = a[2] * b[0] - a[0] * b[2];
    to[2] = a[0] * b[1] - a[1] * b[0];
}

static subtree body_alone(const tree_mechanism *tree, const double *now, int i)
{
    const double *V = now + tree->at.V + 6 * i, *J = now + tree->at.inertia + 6 * i;
    const double L[3] = {J[0] * V[0] + J[3] * V[1] + J[4] * V[2],
                         J[3] * V[0] + J[1] * V[1] + J[5] * V[2],
                         J[4] * V[0] + J[5] * V[1] + J[2] * V[2]},
                 m = tree->body[i].mass;
    return (subtree){.p = {m * V[3], m * V[4], m * V[5]},
                     .A = {J[0], J[3], J[4], J[3], J[1], J[5], J[4], J[5], J[2]},
                     .B = {0, L[2], -L[1], -L[2], 0, L[0], L[1], -L[0], 0}};
}

/* Adds the subtree of a child, about the centre of mass of its parent, at -r0 and -r from its own.
 */
static void add_child(subtree *to, const subtree *child, double mass, const double *r0,
                      const double *r)
{
    double a[3], both = 0, power = 0;
    for (int k = 0; k < 3; k++) {
        a[k] = child->h[k] + mass * r[k];
        both += r0[k] * a[k] + child->h0[k] * r[k];
        power += r0[k] * child->p[k];
    }
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            double one = i == k;
            to->A[3 * i + k] +=
                child->A[3 * i + k] + one * both - (a[i] * r0[k] + r[i] * child->h0[k]);
            to->B[3 * i + k] += child->B[3 * i + k] + one * power - child->p[i] * r0[k];
        }
        to->h0[i] += child->h0[i] + mass * r0[i];
        to->h[i] += a[i];
        to->p[i] += child->p[i];
    }
}

/* (1 - cos a)/a^2 and (a - sin a)/a^3, from the square of a. */
static void turning_parts(double square, double part[2])
{
    if (square < 1e-4) {
        part[0] = 0.5 - square / 24;
        part[1] = 1.0 / 6 - square / 120;
        return;
    }
    double angle = sqrt(square), sine, cosine;
    math_sincos(angle, &sine, &cosine);
    part[0] = (1 - cosine) / square;
    part[1] = (angle - sine) / (square * angle);
}

/* w of `count` dofs from d on, which rotate or translate together, in a time t. */
static void turn_axes(const double *S, const double *u, int count, double t, double *w)
{
    double part[2] = {0, 0};
    if (count == 3) {
        turning_parts(t * t * model_dot(u, u), part);
    }
    for (int e = 0; e < count; e++) {
        double to[3] = {e == 0, e == 1, e == 2}, once[3], twice[3];
        if (count == 3) {
            cross(once, u, to);
            cross(twice, u, once);
            for (int k = 0; k < 3; k++) {
                to[k] += t * (t * part[1] * twice[k] - part[0] * once[k]);
            }
        }
        for (int k = 0; k < 6; k++) {
            w[6 * e + k] =
                t * (count == 3 ? S[k] * to[0] + S[6 + k] * to[1] + S[12 + k] * to[2] : S[k]);
        }
    }
}

/* w, and y = S + V x w, of all dofs of body i. */
static void find_axes(const tree_mechanism *tree, const double *now, const double *u, double t,
                      int i, double *w, double *y)
{
    const tree_body *body = &tree->body[i];
    const double *parent = now + tree->at.V + 6 * body->parent;
    double V[6], a[3];
    cross(a, parent, now + tree->at.shift + 3 * i);
    for (int k = 0; k < 3; k++) {
        V[k] = parent[k];
        V[3 + k] = parent[3 + k] + a[k];
    }
    for (int d = body->dof, count; d < body->dof_end; d += count) {
        const tree_joint *joint = &tree->joint[tree->dof_joint[d]];
        const double *S = now + tree->at.S + 6 * d;
        int translates = joint->kind == TREE_FREE && d == joint->v;
        count = joint->kind == TREE_HINGE || joint->kind == TREE_SLIDE || translates ? 1 : 3;
        count = translates ? 3 : count;
        for (int e = 0; e < count && translates; e++) {
            turn_axes(S + 6 * e, u + d + e, 1, t, w + 6 * (d + e));
        }
        if (!translates) {
            turn_axes(S, u + d, count, t, w + 6 * d);
        }
        for (int e = d; e < d + count; e++) {
            double b[3], c[3];
            const double *x = w + 6 * e;
            cross(a, V, x);
            cross(b, V, x + 3);
            cross(c, V + 3, x);
            for (int k = 0; k < 3; k++) {
                y[6 * e + k] = S[6 * (e - d) + k] + a[k];
                y[6 * e + 3 + k] = S[6 * (e - d) + 3 + k] + b[k] + c[k];
            }
        }
        for (int e = 0; e < count; e++) {
            for (int k = 0; k < 6; k++) {
                V[k] += S[6 * e + k] * u[d + e];
            }
        }
    }
}

/* The column of dof d, and its row. */
typedef struct slopes_of {
    double F[6], g[6], k[3];
} slopes_of;

static slopes_of find_slopes(const subtree *it, double mass, const double *S0, const double *y,
                             const double *w)
{
    slopes_of to;
    double turned[3], moment[3], spun[3];
    cross(turned, y, it->h);
    cross(spun, w, it->p);
    cross(moment, it->h0, y + 3);
    for (int i = 0; i < 3; i++) {
        const double *A = it->A + 3 * i, *B = it->B + 3 * i;
        to.F[i] = A[0] * y[0] + A[1] * y[1] + A[2] * y[2] + moment[i] + B[0] * w[0] + B[1] * w[1] +
                  B[2] * w[2];
        to.F[3 + i] = mass * y[3 + i] + turned[i] + spun[i];
    }
    cross(turned, S0, it->h0);
    cross(moment, it->h, S0 + 3);
    cross(spun, it->p, S0 + 3);
    for (int i = 0; i < 3; i++) {
        const double *A = it->A + i, *B = it->B + i;
        to.g[i] = A[0] * S0[0] + A[3] * S0[1] + A[6] * S0[2] + moment[i];
        to.g[3 + i] = mass * S0[3 + i] + turned[i];
        to.k[i] = B[0] * S0[0] + B[3] * S0[1] + B[6] * S0[2] + spun[i];
    }
    return to;
}

/* Adds them along the path to the root. */
static void put_slopes(const tree_mechanism *tree, const double *there, const double *now,
                       const double *y, const double *w, int i, int d, slopes_of *it, double *N,
                       int stride)
{
    for (int b = i; b != 0; b = tree->body[b].parent) {
        const tree_body *body = &tree->body[b];
        double moment[3];
        int last = b == i ? d : body->dof_end - 1;
        for (int e = last; e >= body->dof; e--) {
            const double *S0 = there + tree->at.S + 6 * e;
            double up = 0, down = 0;
            for (int k = 0; k < 6; k++) {
                up += S0[k] * it->F[k];
                down += y[6 * e + k] * it->g[k];
            }
            for (int k = 0; k < 3; k++) {
                down += w[6 * e + k] * it->k[k];
            }
            N[(long)e * stride + d] += up;
            N[(long)d * stride + e] += e == d ? 0 : down;
        }
        cross(moment, there + tree->at.shift + 3 * b, it->F + 3);
        for (int k = 0; k < 3; k++) {
            it->F[k] += moment[k];
        }
        cross(moment, now + tree->at.shift + 3 * b, it->g + 3);
        for (int k = 0; k < 3; k++) {
            it->g[k] += moment[k];
        }
    }
}

size_t balance_slopes_scratch(const zw_system *system)
{
    return (size_t)system->tree->bodies * (sizeof(subtree) / sizeof(double)) +
           12 * (size_t)system->n;
}

void balance_slopes(const zw_system *system, const double *there, const double *now,
                    const double *u, double t, double *scratch, double *N, int stride)
{
    const tree_mechanism *tree = system->tree;
    subtree *all = (subtree *)scratch;
    double *y = scratch + (size_t)tree->bodies * (sizeof(subtree) / sizeof(double));
    double *w = y + 6 * (size_t)system->n;
    for (int i = 1; i < tree->bodies; i++) {
        find_axes(tree, now, u, t, i, w, y);
        all[i] = body_alone(tree, now, i);
    }
    for (int i = tree->bodies - 1; i > 0; i--) {
        const tree_body *body = &tree->body[i];
        for (int d = body->dof; d < body->dof_end; d++) {
            slopes_of it = find_slopes(&all[i], body->subtree_mass, there + tree->at.S + 6 * d,
                                       y + 6 * d, w + 6 * d);
            put_slopes(tree, there, now, y, w, i, d, &it, N, stride);
        }
        if (body->parent != 0) {
            add_child(&all[body->parent], &all[i], body->subtree_mass,
                      there + tree->at.shift + 3 * i, now + tree->at.shift + 3 * i);
        }
    }
}

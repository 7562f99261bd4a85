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

/* ---- How much happens in a step -------------------------------------------------------------- */

static int turns(const tree_mechanism *tree, int d)
{
    tree_joint_kind kind = tree->joint[tree->dof_joint[d]].kind;
    return kind == TREE_HINGE || kind == TREE_BALL;
}

/* The square of the rate at which the centre of mass of body i is carried round by its parent. */
static double carried(const tree_mechanism *tree, const double *sweeps, int i)
{
    const double *r = sweeps + tree->at.shift + 3 * i;
    const double *w = sweeps + tree->at.V + 6 * tree->body[i].parent;
    double across[3], size = model_dot(r, r);
    model_cross(across, w, r);
    return size > 0 ? model_dot(across, across) / size : 0;
}

/* One hinge on the ground, and nothing on it: S' P+ is the same multiple of u from q0 and from q1,
 * so that v1 = v0 without forces, whatever angle a step turns it by. */
static int turns_alone(const tree_body *body)
{
    return body->parent == 0 && body->last_child == 0 && body->dof_end == body->dof + 1;
}

/* The same by its own hinges and balls; or how fast it would swing on one of them by its weight. */
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
    }
    return balance_ramp(h * h * rate);
}

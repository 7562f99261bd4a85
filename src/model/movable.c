/* Does every joint of a tree have inertia, by mass or armature?
 *
 * M is positive definite if and only if each pivot of its factorisation along the tree is positive
 * (Featherstone, Rigid Body Dynamics Algorithms, 7.1). With S the motion that a joint allows and I
 * the articulated inertia of the body with its subtree,
 *
 *     D = S' I S + armature > 0,     I <- I - (I S) (I S)' / D
 *
 * and the rest of I is added to the parent. So a massless link can move if its descendants have
 * mass: the first of two slides of a table, the cross of a universal joint. It cannot if two joints
 * allow the same motion (hinges on one axis with nothing between them). This is checked in the
 * reference pose; a pivot counts as zero when it is less than 1e-15, or less than 1e-10 of its
 * value with the joints of the body and of its children locked, which is more than round-off (the
 * articulated inertia along a chain of any length is that of a few links, so locking all joints
 * below would not be a useful scale). */
#include <string.h>

#include "base/memory.h"
#include "model/bodies.h"

typedef struct articulated {
    double free[6][6]; /* as articulated; angular before linear, about the origin of the body */
    double fast[6][6]; /* with the joints of the body and of its children locked */
} articulated;

/* T + m (c.c 1 - c c'), m [c x], m 1. */
static void own_inertia(const zw_inertia *in, double I[6][6])
{
    const double *c = in->com;
    double T[6], m = in->mass, square = model_dot(c, c);
    const double cross[3][3] = {{0, -c[2], c[1]}, {c[2], 0, -c[0]}, {-c[1], c[0], 0}};
    static const int at[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    model_principal_matrix(in->quat, in->moment, T);
    memset(I, 0, 36 * sizeof(double));
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            I[i][k] = T[at[i][k]] + m * ((i == k ? square : 0) - c[i] * c[k]);
            I[i][3 + k] = m * cross[i][k];
            I[3 + k][i] = m * cross[i][k];
        }
        I[3 + i][3 + i] = m;
    }
}

/* Adds the body's inertia to its parent: X' I X with X = [R' 0; -R' [p x], R']. */
static void add_to_parent(double parent[6][6], double I[6][6], const zw_body_def *body)
{
    double X[6][6] = {{0}}, IX[6][6] = {{0}};
    const double *p = body->pos;
    for (int k = 0; k < 3; k++) {
        double unit[3] = {k == 0, k == 1, k == 2}, r[3], moved[3];
        model_rotate(body->quat, unit, r); /* row k of R' */
        model_cross(moved, p, r);          /* -r' [p x] = (p x r)' */
        for (int i = 0; i < 3; i++) {
            X[k][i] = X[3 + k][3 + i] = r[i];
            X[3 + k][i] = moved[i];
        }
    }
    for (int i = 0; i < 36; i++) {
        for (int k = 0; k < 6; k++) {
            IX[i / 6][i % 6] += I[i / 6][k] * X[k][i % 6];
        }
    }
    for (int i = 0; i < 36; i++) {
        for (int k = 0; k < 6; k++) {
            parent[i / 6][i % 6] += X[k][i / 6] * IX[k][i % 6];
        }
    }
}

static double along(double I[6][6], const double S[6], double IS[6])
{
    double sum = 0;
    for (int i = 0; i < 6; i++) {
        IS[i] = 0;
        for (int k = 0; k < 6; k++) {
            IS[i] += I[i][k] * S[k];
        }
        sum += S[i] * IS[i];
    }
    return sum;
}

/* Releases the motion S; 0: it has no inertia. */
static int release(articulated *f, const double S[6], double armature)
{
    double IS[6], locked = along(f->fast, S, IS) + armature;
    double D = along(f->free, S, IS) + armature;
    if (!(D > 1e-15) || !(D > 1e-10 * locked)) {
        return 0;
    }
    for (int i = 0; i < 36; i++) {
        f->free[i / 6][i % 6] -= IS[i / 6] * IS[i % 6] / D;
    }
    return 1;
}

/* Releases the motions of a joint: along its axes, then about its axes through `pos`. */
static int release_joint(articulated *f, const zw_joint_def *j)
{
    int several = j->kind == ZW_JOINT_BALL || j->kind == ZW_JOINT_FREE, ok = 1;
    for (int part = 0; part < 2 && ok; part++) { /* along, about */
        int has = part == 0 ? j->kind == ZW_JOINT_SLIDE || j->kind == ZW_JOINT_FREE
                            : j->kind != ZW_JOINT_SLIDE;
        for (int k = 0; has && ok && k < (several ? 3 : 1); k++) {
            double axis[3] = {k == 0, k == 1, k == 2}, S[6] = {0};
            memcpy(axis, several ? axis : j->axis, sizeof axis);
            memcpy(S + (part == 0 ? 3 : 0), axis, sizeof axis);
            if (part == 1 && j->kind != ZW_JOINT_FREE) {
                model_cross(S + 3, j->pos, axis); /* of the origin: axis x (0 - pos) */
            }
            ok = release(f, S, j->kind != ZW_JOINT_FREE ? j->armature : 0);
        }
    }
    return ok;
}

int model_immovable(const model_bodies *b, const zw_inertia *list)
{
    int n = b->count[ZW_KIND_BODY], joints = b->count[ZW_KIND_JOINT], found = -1;
    articulated *f = base_alloc((size_t)n * sizeof *f);
    int *first = base_alloc((size_t)n * sizeof *first); /* joint of a body, + 1 */
    int *next = base_alloc(((size_t)joints + 1) * sizeof *next);
    if (f == NULL || first == NULL || next == NULL) {
        found = MODEL_NO_MEMORY;
        joints = n = 0;
    }
    for (int i = joints - 1; i >= 0; i--) {
        if (b->joint[i].closes < 0) {
            next[i] = first[b->joint[i].body];
            first[b->joint[i].body] = i + 1;
        }
    }
    for (int i = n - 1; i > 0; i--) {
        double own[6][6];
        own_inertia(&list[i], own);
        for (int k = 0; k < 36; k++) {
            f[i].free[k / 6][k % 6] += own[k / 6][k % 6];
            f[i].fast[k / 6][k % 6] += own[k / 6][k % 6];
        }
        add_to_parent(f[b->body[i].parent].fast, f[i].free, &b->body[i]);
        for (int j = first[i]; j > 0; j = next[j - 1]) {
            found = release_joint(&f[i], &b->joint[j - 1]) ? found : j - 1;
        }
        add_to_parent(f[b->body[i].parent].free, f[i].free, &b->body[i]);
    }
    base_free(f);
    base_free(first);
    base_free(next);
    return found;
}

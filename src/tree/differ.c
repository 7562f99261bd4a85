/* Derivatives of inverse dynamics, in two sweeps.
 *
 * All motions and forces of a tree are written about one point that stays, the centre of mass of
 * its first body now, along the axes of the world. With x for the cross product of motions and x*
 * for that of a motion with a force, (m x)' = -(m x*), and S the motion of a dof,
 *
 *     V' = V + S v,    A' = A + S a + V' x S v,    A_0 = -g,    f = I A + V x* I V,    tau = S . F,
 *
 * before and after a joint, F being the sum of f over all that hangs on it. Bodies with several
 * joints are chains of bodies without mass, and a free joint is three slides along the axes of the
 * world, then a ball. To change q_j is to turn all that hangs on dof j by S_j: there
 *
 *     d S_i = S_j x S_i,     d V_i = S_j x V_i - (S_j x V_b) = S_j x V_i + P_j,    P_j = V_b x S_j,
 *     d A_i = S_j x A_i + R_j + P_j x V_i - ...,    R_j = A_b x S_j + V_b x P_j
 *
 * with V_b, A_b of what carries j. What is turned as a whole leaves tau_i as it is; what is left of
 * df = I dA + ... collects, for rigid inertias, into one matrix of each body,
 *
 *     B = 1/2 (V x* I - I V x + (I V) xx),    (h xx) m = m x* h,
 *
 * so that with I, B, F summed over all that hangs on i, and j on the way from the root to i,
 *
 *     d tau_i / d q_j = S_i . (2 B P_j + I R_j)
 *     d tau_j / d q_i = S_j . (2 B P_i + I R_i + S_i x* F)
 *     d tau_i / d v_j = S_i . (2 B S_j + I (P_j + S_j'))        S_j' = V_a x S_j, V_a after the
 * joint d tau_j / d v_i = S_j . (2 B S_i + I (P_i + S_i'))
 *
 * (Singh, Russo and Wensing, "Efficient Analytical Derivatives of Rigid-Body Dynamics using Spatial
 * Vector Algebra", 2022.) Dofs of one ball turn with each other: for these S_i x* F has no part, as
 * S_j turns with it. The cost is that of M: one product of a 6-vector for every pair on a path. */
#include "tree/differ.h"

#include <string.h>

typedef double six[6];

enum { INERTIA = 10, SQUARE = 36 }; /* mass, first moment, moments xx yy zz xy xz yz; B by rows */

/* Scratch, by bodies and by dofs. */
typedef struct table {
    double *at;         /* [bodies][3] the point, less the centre of mass of the body */
    six *V, *A;         /* [bodies] */
    double *I;          /* [bodies][INERTIA] */
    double *B;          /* [bodies][SQUARE] twice B */
    six *F;             /* [bodies] */
    six *S, *P, *R, *T; /* [nv] T = P + S' */
    int *stage;         /* [nv] dofs of one stage turn with each other */
} table;

static void cross(const double *x, const double *y, double *out)
{
    out[0] = x[1] * y[2] - x[2] * y[1];
    out[1] = x[2] * y[0] - x[0] * y[2];
    out[2] = x[0] * y[1] - x[1] * y[0];
}

static double dot(const double *x, const double *y)
{
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2] + x[3] * y[3] + x[4] * y[4] + x[5] * y[5];
}

/* out = m x n, motions. */
static void cross_motion(const double *m, const double *n, double *out)
{
    double part[3];
    cross(m, n, out);
    cross(m, n + 3, out + 3);
    cross(m + 3, n, part);
    for (int k = 0; k < 3; k++) {
        out[3 + k] += part[k];
    }
}

/* out = m x* f, f a force (moment first). */
static void cross_force(const double *m, const double *f, double *out)
{
    double part[3];
    cross(m, f, out);
    cross(m + 3, f + 3, part);
    for (int k = 0; k < 3; k++) {
        out[k] += part[k];
    }
    cross(m, f + 3, out + 3);
}

/* out = I m: momentum m v + w x h, about the point J w + h x v. */
static void weigh(const double *I, const double *m, double *out)
{
    const double *h = I + 1, *J = I + 4, *w = m, *v = m + 3;
    double part[3];
    cross(w, h, part);
    for (int k = 0; k < 3; k++) {
        out[3 + k] = I[0] * v[k] + part[k];
    }
    cross(h, v, part);
    out[0] = J[0] * w[0] + J[3] * w[1] + J[4] * w[2] + part[0];
    out[1] = J[3] * w[0] + J[1] * w[1] + J[5] * w[2] + part[1];
    out[2] = J[4] * w[0] + J[5] * w[1] + J[2] * w[2] + part[2];
}

/* ---- From the root to the tips ----------------------------------------------------------------
 */

/* The inertia of a body about the point, at c from it. */
static void place_inertia(double mass, const double *c, const double *J, double *I)
{
    double square = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
    I[0] = mass;
    for (int k = 0; k < 3; k++) {
        I[1 + k] = mass * c[k];
        I[4 + k] = J[k] + mass * (square - c[k] * c[k]);
    }
    I[7] = J[3] - mass * c[0] * c[1];
    I[8] = J[4] - mass * c[0] * c[2];
    I[9] = J[5] - mass * c[1] * c[2];
}

/* 2 B by its columns: V x* (I e) - I (V x e) + e x* (I V). */
static void fill_B(const double *I, const double *V, const double *momentum, double *B)
{
    for (int k = 0; k < 6; k++) {
        six e = {0}, x, y, z;
        e[k] = 1;
        weigh(I, e, x);
        cross_force(V, x, y);
        cross_motion(V, e, x);
        weigh(I, x, z);
        cross_force(e, momentum, x);
        for (int r = 0; r < 6; r++) {
            B[6 * r + k] = y[r] - z[r] + x[r];
        }
    }
}

/* One stage of a joint: dofs from d to end, all after the same V and A, which become those after.
 */
static void pass_stage(const table *t, const double *v, const double *a, int d, int end, double *V,
                       double *A)
{
    six move = {0}, push = {0}, before_V, before_A, part;
    memcpy(before_V, V, sizeof before_V);
    memcpy(before_A, A, sizeof before_A);
    for (int i = d; i < end; i++) {
        for (int k = 0; k < 6; k++) {
            move[k] += t->S[i][k] * v[i];
            push[k] += t->S[i][k] * a[i];
        }
    }
    for (int k = 0; k < 6; k++) {
        V[k] += move[k];
    }
    cross_motion(V, move, part);
    for (int k = 0; k < 6; k++) {
        A[k] += push[k] + part[k];
    }
    for (int i = d; i < end; i++) {
        t->stage[i] = d;
        cross_motion(before_V, t->S[i], t->P[i]);
        cross_motion(before_A, t->S[i], t->R[i]);
        cross_motion(before_V, t->P[i], part);
        cross_motion(V, t->S[i], t->T[i]);
        for (int k = 0; k < 6; k++) {
            t->R[i][k] += part[k];
            t->T[i][k] += t->P[i][k];
        }
    }
}

static void pass_joints(const tree_mechanism *tree, const table *t, const double *v,
                        const double *a, int i, double *V, double *A)
{
    const tree_body *body = &tree->body[i];
    for (int j = body->joint; j < body->joint_end; j++) {
        const tree_joint *joint = &tree->joint[j];
        int d = joint->v, dofs = joint->kind == TREE_FREE ? 6 : joint->kind == TREE_BALL ? 3 : 1;
        if (joint->kind == TREE_FREE) {
            for (int k = 0; k < 3; k++) {
                pass_stage(t, v, a, d + k, d + k + 1, V, A);
            }
            pass_stage(t, v, a, d + 3, d + 6, V, A);
        } else {
            pass_stage(t, v, a, d, d + dofs, V, A);
        }
    }
}

/* Motions of a body's dofs about the point, from those about its centre of mass, at -`at` from it.
 */
static void place_motions(const tree_mechanism *tree, const table *t, const double *work, int i)
{
    for (int d = tree->body[i].dof; d < tree->body[i].dof_end; d++) {
        const double *S = work + tree->at.S + 6 * d;
        double part[3];
        cross(S, t->at + 3 * i, part);
        for (int k = 0; k < 3; k++) {
            t->S[d][k] = S[k];
            t->S[d][3 + k] = S[3 + k] + part[k];
        }
    }
}

static void place_body(const tree_mechanism *tree, const table *t, const double *work,
                       const double *v, const double *a, int i)
{
    const tree_body *body = &tree->body[i];
    const double *shift = work + tree->at.shift + 3 * i;
    six V = {0}, A = {0}, momentum, part;
    double c[3];
    for (int k = 0; k < 3; k++) { /* the point of the first body of a tree is its own centre */
        t->at[3 * i + k] = body->parent == 0 ? 0 : t->at[3 * body->parent + k] - shift[k];
        c[k] = -t->at[3 * i + k];
        A[3 + k] = -tree->gravity[k];
    }
    if (body->parent != 0) {
        memcpy(V, t->V[body->parent], sizeof V);
        memcpy(A, t->A[body->parent], sizeof A);
    }
    place_motions(tree, t, work, i);
    pass_joints(tree, t, v, a, i, V, A);
    memcpy(t->V[i], V, sizeof V);
    memcpy(t->A[i], A, sizeof A);
    double *I = t->I + INERTIA * i;
    place_inertia(body->mass, c, work + tree->at.inertia + 6 * i, I);
    weigh(I, V, momentum);
    fill_B(I, V, momentum, t->B + SQUARE * i);
    weigh(I, A, t->F[i]);
    cross_force(V, momentum, part);
    for (int k = 0; k < 6; k++) {
        t->F[i][k] += part[k];
    }
}

/* ---- From the tips to the root ----------------------------------------------------------------
 */

static void times(const double *B, const double *x, double *y)
{
    for (int r = 0; r < 6; r++) {
        y[r] = dot(B + 6 * r, x);
    }
}

static void times_transposed(const double *B, const double *x, double *y)
{
    memset(y, 0, sizeof(six));
    for (int r = 0; r < 6; r++) {
        for (int k = 0; k < 6; k++) {
            y[k] += B[6 * r + k] * x[r];
        }
    }
}

/* All pairs of dof i of a body with dofs on its way to the root. */
static void pair_dof(const tree_mechanism *tree, const table *t, int body, int i, double *by_q,
                     double *by_v)
{
    const double *I = t->I + INERTIA * body, *B = t->B + SQUARE * body, *S = t->S[i];
    size_t n = (size_t)tree->nv, own = (size_t)i;
    six heavy, back, by_speed, by_place, turned, part;
    weigh(I, S, heavy);           /* I S_i */
    times_transposed(B, S, back); /* (2 B)' S_i */
    times(B, S, by_speed);
    weigh(I, t->T[i], part);
    times(B, t->P[i], by_place);
    cross_force(S, t->F[body], turned);
    for (int k = 0; k < 6; k++) {
        by_speed[k] += part[k];
    }
    weigh(I, t->R[i], part);
    for (int k = 0; k < 6; k++) {
        by_place[k] += part[k];
    }
    for (int j = i; j >= 0; j = tree->dof_parent[j]) {
        size_t other = (size_t)j;
        by_q[other * n + own] = dot(back, t->P[j]) + dot(heavy, t->R[j]);
        by_v[other * n + own] = dot(back, t->S[j]) + dot(heavy, t->T[j]);
        if (j == i) {
            continue;
        }
        by_q[own * n + other] = dot(t->S[j], by_place);
        by_q[own * n + other] += t->stage[j] == t->stage[i] ? 0 : dot(t->S[j], turned);
        by_v[own * n + other] = dot(t->S[j], by_speed);
    }
}

static void hand_down(const table *t, int i, int parent)
{
    for (int k = 0; k < INERTIA; k++) {
        t->I[INERTIA * parent + k] += t->I[INERTIA * i + k];
    }
    for (int k = 0; k < SQUARE; k++) {
        t->B[SQUARE * parent + k] += t->B[SQUARE * i + k];
    }
    for (int k = 0; k < 6; k++) {
        t->F[parent][k] += t->F[i][k];
    }
}

/* ---- All --------------------------------------------------------------------------------------
 */

size_t tree_differ_room(const tree_mechanism *tree)
{
    size_t bodies = (size_t)tree->bodies, nv = (size_t)tree->nv;
    return bodies * (3 + 18 + INERTIA + SQUARE) + nv * (24 + 1);
}

static table lay_out(const tree_mechanism *tree, double *room)
{
    size_t bodies = (size_t)tree->bodies, nv = (size_t)tree->nv;
    table t;
    t.at = room;
    t.V = (six *)(t.at + 3 * bodies);
    t.A = t.V + bodies;
    t.F = t.A + bodies;
    t.I = (double *)(t.F + bodies);
    t.B = t.I + INERTIA * bodies;
    t.S = (six *)(t.B + SQUARE * bodies);
    t.P = t.S + nv;
    t.R = t.P + nv;
    t.T = t.R + nv;
    t.stage = (int *)(t.T + nv);
    return t;
}

void tree_differ(const tree_mechanism *tree, const double *v, const double *a, const double *work,
                 double *room, double *by_q, double *by_v)
{
    table t = lay_out(tree, room);
    size_t n = (size_t)tree->nv;
    memset(by_q, 0, n * n * sizeof *by_q);
    memset(by_v, 0, n * n * sizeof *by_v);
    for (int i = 1; i < tree->bodies; i++) {
        place_body(tree, &t, work, v, a, i);
    }
    for (int i = tree->bodies - 1; i > 0; i--) {
        for (int d = tree->body[i].dof; d < tree->body[i].dof_end; d++) {
            pair_dof(tree, &t, i, d, by_q, by_v);
        }
        if (tree->body[i].parent != 0) {
            hand_down(&t, i, tree->body[i].parent);
        }
    }
}

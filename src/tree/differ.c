/* Derivatives of inverse dynamics, in two sweeps.
 *
 * All motions and forces of a tree are written about one fixed point, the present centre of mass of
 * its first body, along the axes of the world. With x for the cross product of motions and x* for
 * that of a motion with a force, (m x)' = -(m x*), and S the motion of a dof,
 *
 *     V' = V + S v,    A' = A + S a + V' x S v,    A_0 = -g,    f = I A + V x* I V,    tau = S . F,
 *
 * before and after a joint, F being the sum of f over its subtree. Bodies with several joints are
 * chains of massless bodies, and a free joint is three slides along the axes of the world, then a
 * ball. A change of q_j moves the subtree of dof j by S_j: there
 *
 *     d S_i = S_j x S_i,     d V_i = S_j x V_i - (S_j x V_b) = S_j x V_i + P_j,    P_j = V_b x S_j,
 *     d A_i = S_j x A_i + R_j + P_j x V_i - ...,    R_j = A_b x S_j + V_b x P_j
 *
 * with V_b, A_b of the body that carries j. A motion of the whole subtree does not change tau_i;
 * for rigid inertias the rest of df = I dA + ... can be written with one matrix for each body,
 *
 *     B = 1/2 (V x* I - I V x + (I V) xx),    (p xx) m = m x* p,
 *
 * whose columns for translations are zero: with V = (w, u), moments J and first moment h about the
 * point, the momentum p = m u + w x h, and [x] for the matrix of a cross product, its two blocks
 * for rotations are
 *
 *     moment    2 B = [w] (2 J - tr J) - 2 [h] [u]        force    2 B = -2 [p]
 *
 * (as [a] [b] - [b] [a] = [a x b] and [J w] = tr J [w] - J [w] - [w] J),
 *
 * so that with I, B, F summed over the subtree of i, and j on the path from the root to i,
 *
 *     d tau_i / d q_j = S_i . (2 B P_j + I R_j)
 *     d tau_j / d q_i = S_j . (2 B P_i + I R_i + S_i x* F)
 *     d tau_i / d v_j = S_i . (2 B S_j + I (P_j + S_j'))        S_j' = V_a x S_j,
 *     d tau_j / d v_i = S_j . (2 B S_i + I (P_i + S_i'))        V_a after the joint
 *
 * (Singh, Russo and Wensing, "Efficient Analytical Derivatives of Rigid-Body Dynamics using Spatial
 * Vector Algebra", 2022.) The axes of one ball rotate together: among these the term S_i x* F is
 * absent, as S_j rotates too. The cost is that of M: one product of 6-vectors for every pair on a
 * path. */
#include "tree/differ.h"

#include <string.h>

#include "math/four.h"
#include "math/lane.h"
#include "tree/sweeps.h"

typedef double six[6];

/* Inertia: mass, first moment, moments xx yy zz xy xz yz. 2 B: its moment block by rows, then p. */
enum { INERTIA = 10, SQUARE = 12, PAIR = 36 };

/* Scratch, by bodies and by dofs. */
typedef struct table {
    double *at;         /* [bodies][3] the point minus the centre of mass of the body */
    six *V, *A;         /* [bodies] */
    double *I;          /* [bodies][INERTIA] */
    double *B;          /* [bodies][SQUARE] */
    six *F;             /* [bodies] */
    six *S, *P, *R, *T; /* [nv] T = P + S' */
    double *lined;      /* [nv][PAIR] */
    int *stage;         /* [nv] dofs of one stage rotate together */
} table;

ZW_INLINE void cross(const double *x, const double *y, double *out)
{
    out[0] = x[1] * y[2] - x[2] * y[1];
    out[1] = x[2] * y[0] - x[0] * y[2];
    out[2] = x[0] * y[1] - x[1] * y[0];
}

/* out = m x n, motions. */
ZW_INLINE void cross_motion(const double *m, const double *n, double *out)
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
ZW_INLINE void cross_force(const double *m, const double *f, double *out)
{
    double part[3];
    cross(m, f, out);
    cross(m + 3, f + 3, part);
    for (int k = 0; k < 3; k++) {
        out[k] += part[k];
    }
    cross(m, f + 3, out + 3);
}

/* out = I m: linear momentum m v + w x h, angular momentum about the point J w + h x v. */
ZW_INLINE void weigh(const double *I, const double *m, double *out)
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

/* ---- From the root to the tips --------------------------------------------------------------- */

/* The inertia of a body about the point, at c from it. */
ZW_INLINE void place_inertia(double mass, const double *c, const double *J, double *I)
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

ZW_INLINE void fill_B(const double *I, const double *V, const double *momentum, double *B)
{
    const double *h = I + 1, *J = I + 4, *w = V, *u = V + 3;
    double trace = J[0] + J[1] + J[2], inner = 2 * (h[0] * u[0] + h[1] * u[1] + h[2] * u[2]);
    double K[3][3] = {{2 * J[0] - trace, 2 * J[3], 2 * J[4]},
                      {2 * J[3], 2 * J[1] - trace, 2 * J[5]},
                      {2 * J[4], 2 * J[5], 2 * J[2] - trace}};
    for (int k = 0; k < 3; k++) { /* [h][u] = u h' - (h . u) */
        B[k] = w[1] * K[2][k] - w[2] * K[1][k] - 2 * u[0] * h[k];
        B[3 + k] = w[2] * K[0][k] - w[0] * K[2][k] - 2 * u[1] * h[k];
        B[6 + k] = w[0] * K[1][k] - w[1] * K[0][k] - 2 * u[2] * h[k];
        B[4 * k] += inner;
        B[9 + k] = momentum[3 + k];
    }
}

/* One stage of a joint: dofs from d to end; V and A before it become those after it.
 */
ZW_INLINE void pass_stage(const table *t, const double *v, const double *a, int d, int end,
                          double *V, double *A)
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

ZW_INLINE void pass_joints(const tree_mechanism *tree, const table *t, const double *v,
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

/* Motions of a body's dofs about the point, from those about its centre of mass.
 */
ZW_INLINE void place_motions(const tree_mechanism *tree, const table *t, const double *work, int i)
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

ZW_INLINE void place_body(const tree_mechanism *tree, const table *t, const double *work,
                          const double *v, const double *a, int i)
{
    const tree_body *body = &tree->body[i];
    const double *shift = work + tree->at.shift + 3 * i;
    six V = {0}, A = {0}, momentum, part;
    double c[3];
    for (int k = 0; k < 3; k++) { /* the point of a tree is the centre of its first body */
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

/* ---- From the tips to the root --------------------------------------------------------------- */

/* y = 2 B x */
ZW_INLINE void times(const double *B, const double *x, double *y)
{
    cross(x, B + 9, y + 3);
    for (int r = 0; r < 3; r++) {
        y[r] = B[3 * r] * x[0] + B[3 * r + 1] * x[1] + B[3 * r + 2] * x[2];
        y[3 + r] *= 2;
    }
}

/* y[3] = (2 B)' x: the part for translations is zero. */
ZW_INLINE void times_transposed(const double *B, const double *x, double *y)
{
    cross(B + 9, x + 3, y);
    for (int k = 0; k < 3; k++) {
        y[k] = 2 * y[k] + B[k] * x[0] + B[3 + k] * x[1] + B[6 + k] * x[2];
    }
}

/* Interleaves the numbers of dof j that its pairs need, four at a time; see pair_dof. */
ZW_INLINE void line_up(const table *t, int j)
{
    double *to = t->lined + PAIR * (size_t)j;
    for (int k = 0; k < 6; k++) {
        to[4 * k] = t->R[j][k];
        to[4 * k + 1] = t->T[j][k];
        to[4 * k + 2] = to[4 * k + 3] = t->S[j][k];
    }
    for (int k = 0; k < 3; k++) {
        to[24 + 4 * k] = t->P[j][k];
        to[25 + 4 * k] = t->S[j][k];
        to[26 + 4 * k] = to[27 + 4 * k] = 0;
    }
}

/* All pairs of dof i of a body with the dofs j on its path to the root, the four numbers of a pair
 * at once: tau_i by q_j, by v_j; tau_j by q_i, by v_i. */
ZW_INLINE void pair_dof(const tree_mechanism *tree, const table *t, int body, int i, double *by_q,
                        double *by_v)
{
    const double *I = t->I + INERTIA * body, *B = t->B + SQUARE * body, *S = t->S[i];
    size_t n = (size_t)tree->nv, own = (size_t)i;
    six heavy, by_speed, by_place, turned, part;
    double back[3];
    zw_real4 with[9], same[6];    /* same: for j in the stage of i */
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
        with[k] = (zw_real4){heavy[k], heavy[k], by_place[k] + turned[k], by_speed[k]};
        same[k] = (zw_real4){heavy[k], heavy[k], by_place[k], by_speed[k]};
    }
    for (int k = 0; k < 3; k++) {
        with[6 + k] = (zw_real4){back[k], back[k], 0, 0};
    }
    for (int j = i; j >= 0; j = tree->dof_parent[j]) {
        const double *lined = t->lined + PAIR * (size_t)j;
        const zw_real4 *by = t->stage[j] == t->stage[i] ? same : with;
        size_t other = (size_t)j;
        zw_real4 sum = four_at(lined + 24) * with[6];
        for (int k = 7; k < 9; k++) {
            sum += four_at(lined + 4 * k) * with[k];
        }
        for (int k = 0; k < 6; k++) {
            sum += four_at(lined + 4 * k) * by[k];
        }
        by_q[own * n + other] = sum[2];
        by_v[own * n + other] = sum[3];
        by_q[other * n + own] = sum[0]; /* if j = i, this value is kept */
        by_v[other * n + own] = sum[1];
    }
}

ZW_INLINE void add_to_parent(const table *t, int i, int parent)
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

/* ---- All ------------------------------------------------------------------------------------- */

size_t tree_differ_scratch(const tree_mechanism *tree)
{
    size_t bodies = (size_t)tree->bodies, nv = (size_t)tree->nv;
    return bodies * (3 + 18 + INERTIA + SQUARE) + nv * (24 + PAIR + 1);
}

static table lay_out(const tree_mechanism *tree, double *scratch)
{
    size_t bodies = (size_t)tree->bodies, nv = (size_t)tree->nv;
    table t;
    t.at = scratch;
    t.V = (six *)(t.at + 3 * bodies);
    t.A = t.V + bodies;
    t.F = t.A + bodies;
    t.I = (double *)(t.F + bodies);
    t.B = t.I + INERTIA * bodies;
    t.S = (six *)(t.B + SQUARE * bodies);
    t.P = t.S + nv;
    t.R = t.P + nv;
    t.T = t.R + nv;
    t.lined = (double *)(t.T + nv);
    t.stage = (int *)(t.lined + PAIR * nv);
    return t;
}

ZW_CLONES void tree_differ(const tree_mechanism *tree, const double *v, const double *a,
                           const double *work, double *scratch, double *by_q, double *by_v)
{
    table t = lay_out(tree, scratch);
    size_t n = (size_t)tree->nv;
    memset(by_q, 0, n * n * sizeof *by_q);
    memset(by_v, 0, n * n * sizeof *by_v);
    for (int i = 1; i < tree->bodies; i++) {
        place_body(tree, &t, work, v, a, i);
    }
    for (int d = 0; d < tree->nv; d++) {
        line_up(&t, d);
    }
    for (int i = tree->bodies - 1; i > 0; i--) {
        for (int d = tree->body[i].dof; d < tree->body[i].dof_end; d++) {
            pair_dof(tree, &t, i, d, by_q, by_v);
        }
        if (tree->body[i].parent != 0) {
            add_to_parent(&t, i, tree->body[i].parent);
        }
    }
}

/* Transposes four rows x into four lanes of y, from number `first` on; with `back`, the reverse. */
ZW_INLINE void turn(double *const x[4], int n, int first, int back, double *y)
{
    double *lanes = y + first;
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        zw_real4 a[4];
        for (int k = 0; k < 4; k++) {
            a[k] = back ? four_at(lanes + LANES * (i + k)) : four_at(x[k] + i);
        }
        lane_transpose4(&a[0], &a[1], &a[2], &a[3]);
        for (int k = 0; k < 4; k++) {
            four_put(back ? x[k] + i : lanes + LANES * (i + k), a[k]);
        }
    }
    for (; i < n; i++) {
        for (int k = 0; k < 4; k++) {
            if (back) {
                x[k][i] = lanes[LANES * i + k];
            } else {
                lanes[LANES * i + k] = x[k][i];
            }
        }
    }
}

/* ---- M \ x of eight right sides: y[nv][8], M = L' D L, in the blocks of factor.lane.h ---------
 */

typedef struct eight {
    zw_real4 low, high;
} eight;

ZW_INLINE eight eight_at(const double *x)
{
    return (eight){four_at(x), four_at(x + 4)};
}

ZW_INLINE void eight_put(double *to, eight x)
{
    four_put(to, x.low);
    four_put(to + 4, x.high);
}

/* x - l y */
ZW_INLINE eight eight_less(eight x, double l, eight y)
{
    return (eight){x.low - l * y.low, x.high - l * y.high};
}

/* The rows of L and the entries of y of a block of n dofs from `first` on. */
ZW_INLINE void open_block(const tree_mechanism *tree, int first, const int n, const double *L,
                          const double *y, const double **row, eight *own)
{
    for (int k = 0; k < n; k++) {
        row[k] = L + tree->start[first + k];
        own[k] = eight_at(y + LANES * (first + k));
    }
}

/* L' \ y for a block, then D \ y. */
ZW_INLINE void tips_eight(const tree_mechanism *tree, int first, const int n, const double *L,
                          double *y)
{
    const int *column = tree->column + tree->start[first];
    int above = tree->depth[first] - 1;
    const double *row[TREE_BLOCK];
    eight own[TREE_BLOCK];
    open_block(tree, first, n, L, y, row, own);
    for (int k = n - 1; k >= 0; k--) {
        for (int e = 0; e < k; e++) {
            own[e] = eight_less(own[e], row[k][above + e], own[k]);
        }
    }
    for (int t = 0; t < above; t++) {
        double *to = y + LANES * column[t];
        eight sum = eight_at(to);
        for (int k = n - 1; k >= 0; k--) {
            sum = eight_less(sum, row[k][t], own[k]);
        }
        eight_put(to, sum);
    }
    for (int k = 0; k < n; k++) {
        double inverse = row[k][above + k];
        eight_put(y + LANES * (first + k), (eight){inverse * own[k].low, inverse * own[k].high});
    }
}

/* L \ y for a block. */
ZW_INLINE void root_eight(const tree_mechanism *tree, int first, const int n, const double *L,
                          double *y)
{
    const int *column = tree->column + tree->start[first];
    int above = tree->depth[first] - 1;
    const double *row[TREE_BLOCK];
    eight own[TREE_BLOCK];
    open_block(tree, first, n, L, y, row, own);
    for (int t = 0; t < above; t++) {
        eight value = eight_at(y + LANES * column[t]);
        for (int k = 0; k < n; k++) {
            own[k] = eight_less(own[k], row[k][t], value);
        }
    }
    for (int k = 0; k < n; k++) {
        for (int e = 0; e < k; e++) {
            own[k] = eight_less(own[k], row[k][above + e], own[e]);
        }
        eight_put(y + LANES * (first + k), own[k]);
    }
}

ZW_INLINE void solve_eight(const tree_mechanism *tree, const double *L, double *y)
{
    for (int b = tree->blocks - 1; b >= 0; b--) {
        int first = tree->block[b], n = tree->block[b + 1] - first;
        switch (n) { /* so that n is a constant */
        case 1:
            tips_eight(tree, first, 1, L, y);
            break;
        case 2:
            tips_eight(tree, first, 2, L, y);
            break;
        case 3:
            tips_eight(tree, first, 3, L, y);
            break;
        default:
            tips_eight(tree, first, TREE_BLOCK, L, y);
            break;
        }
    }
    for (int b = 0; b < tree->blocks; b++) {
        int first = tree->block[b], n = tree->block[b + 1] - first;
        switch (n) {
        case 1:
            root_eight(tree, first, 1, L, y);
            break;
        case 2:
            root_eight(tree, first, 2, L, y);
            break;
        case 3:
            root_eight(tree, first, 3, L, y);
            break;
        default:
            root_eight(tree, first, TREE_BLOCK, L, y);
            break;
        }
    }
}

ZW_INLINE int is_zero(const double *x, int n)
{
    int zero = 1;
    for (int i = 0; i < n && zero; i++) {
        zero = x[i] == 0;
    }
    return zero;
}

/* Right sides that are 0 are skipped, such as those of the position of a free body. */
ZW_CLONES void tree_solve_many(const tree_mechanism *tree, const double *work, int count, double *x,
                               double *scratch)
{
    int n = tree->nv, next = 0;
    while (next < count) {
        double *row[LANES];
        int lanes = 0;
        for (; next < count && lanes < LANES; next++) {
            row[lanes] = x + (size_t)next * (size_t)n;
            lanes += !is_zero(row[lanes], n);
        }
        for (int l = lanes; l < LANES && lanes > 0; l++) { /* unused lanes repeat the last one */
            row[l] = row[lanes - 1];
        }
        if (lanes > 0) {
            turn(row, n, 0, 0, scratch);
            turn(row + 4, n, 4, 0, scratch);
            solve_eight(tree, work + tree->at.L, scratch);
            turn(row, n, 0, 1, scratch);
            turn(row + 4, n, 4, 1, scratch);
        }
    }
}

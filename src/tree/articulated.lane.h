/* Forward dynamics in O(n) by articulated bodies (Featherstone 1983).
 *
 * The subtree of body i, its joints free to move, resists an acceleration A of body i with I A + p,
 * where I is its articulated inertia, about c_i:
 *
 *     n = A w + B v            [A  B]
 *     f = B' w + C v       I = [B' C],   A and C symmetric
 *
 * One dof at a time, from the last of a body to its first: at dof d with motion S the force along S
 * must be tau - armature a, and the outer side of the joint moves with A + S a if the inner side
 * moves with A. So
 *
 *     U = I S,    D = S.U + armature + diagonal,    u = tau - S.p,    a = (u - U.A) / D
 *     I - U U' / D  and  p + U u / D     on the inner side of the dof.
 *
 * There is no mass between the joints of one body, so Z can be added once, where the body is joined
 * to its parent: p + I Z. Then the shift to the parent's centre, r = c_i - c_parent:
 *
 *     C,    Y = B + r x C,    A + (r x B')' + r x Y'        (r x on columns)
 *
 * D_d are the pivots of M = L' D L (factor.lane.h), in the same order; L itself is not formed. The
 * inertias depend on q alone, so tree_articulate is a factorisation and the rest are its solves:
 * the sweep to the root is L' \, the sweep to the tips L \ (Rodriguez 1987). `diagonal` is added to
 * the diagonal of M, for implicit damping and motors. */

typedef struct articulated {
    sym3 A;
    mat3 B;
    sym3 C;
} articulated;

PART articulated load_articulated(const zw_real *a)
{
    return (articulated){load_sym3(a), load_mat3(a + 6), load_sym3(a + 15)};
}

PART void store_articulated(zw_real *a, articulated I)
{
    store_sym3(a, I.A);
    store_mat3(a + 6, I.B);
    store_sym3(a + 15, I.C);
}

PART articulated rigid(zw_real mass, sym3 J)
{
    zw_real zero = lane_fill(0.0);
    vec3 none = {zero, zero, zero};
    return (articulated){J, {none, none, none}, {mass, mass, mass, zero, zero, zero}};
}

PART articulated add_articulated(articulated I, articulated K)
{
    return (articulated){add_sym3(I.A, K.A),
                         {add3(I.B.x, K.B.x), add3(I.B.y, K.B.y), add3(I.B.z, K.B.z)},
                         add_sym3(I.C, K.C)};
}

PART spatial articulated_times(articulated I, spatial m)
{
    vec3 Bv = {dot3(I.B.x, m.lin), dot3(I.B.y, m.lin), dot3(I.B.z, m.lin)};
    vec3 Bw = add3(add3(scale3(m.ang.x, I.B.x), scale3(m.ang.y, I.B.y)), scale3(m.ang.z, I.B.z));
    return (spatial){add3(mul_sym3(I.A, m.ang), Bv), add3(Bw, mul_sym3(I.C, m.lin))};
}

PART sym3 without_square(sym3 I, vec3 u, vec3 g)
{
    return (sym3){I.xx - u.x * g.x, I.yy - u.y * g.y, I.zz - u.z * g.z,
                  I.xy - u.x * g.y, I.xz - u.x * g.z, I.yz - u.y * g.z};
}

/* I - U G', G = U / D */
PART articulated without(articulated I, spatial U, spatial G)
{
    I.A = without_square(I.A, U.ang, G.ang);
    I.B.x = sub3(I.B.x, scale3(U.ang.x, G.lin));
    I.B.y = sub3(I.B.y, scale3(U.ang.y, G.lin));
    I.B.z = sub3(I.B.z, scale3(U.ang.z, G.lin));
    I.C = without_square(I.C, U.lin, G.lin);
    return I;
}

/* Shifted to another point, from which the present one is at r. */
PART articulated articulated_from(articulated I, vec3 r)
{
    /* columns of r x C: r x the columns of C, which are its rows */
    vec3 x = cross3(r, (vec3){I.C.xx, I.C.xy, I.C.xz});
    vec3 y = cross3(r, (vec3){I.C.xy, I.C.yy, I.C.yz});
    vec3 z = cross3(r, (vec3){I.C.xz, I.C.yz, I.C.zz});
    mat3 B = I.B, Y = {add3(B.x, (vec3){x.x, y.x, z.x}), add3(B.y, (vec3){x.y, y.y, z.y}),
                       add3(B.z, (vec3){x.z, y.z, z.z})};

    /* entry ij of A grows by (r x row i of B)_j + (r x row j of Y)_i */
    vec3 bx = cross3(r, B.x), by = cross3(r, B.y), bz = cross3(r, B.z);
    vec3 yx = cross3(r, Y.x), yy = cross3(r, Y.y), yz = cross3(r, Y.z);
    I.A.xx += bx.x + yx.x;
    I.A.yy += by.y + yy.y;
    I.A.zz += bz.z + yz.z;
    I.A.xy += bx.y + yy.x;
    I.A.xz += bx.z + yz.x;
    I.A.yz += by.z + yz.y;
    I.B = Y;
    return I;
}

/* ---- The factorisation ----------------------------------------------------------------------- */

/* Eliminates dof d, whose motion is S; returns the remaining inertia. */
PART articulated eliminate(const tree_mechanism *tree, int d, const zw_real *diagonal,
                           articulated I, zw_real *work, zw_mask *low)
{
    const tree_places *at = &tree->at;
    spatial S = load6(work + at->S + 6 * d), U = articulated_times(I, S);
    zw_real D = dot6(S, U) + tree->armature[d];
    if (diagonal != NULL) {
        D += diagonal[d];
    }
    *low |= lane_not_above(D, lane_fill(0.0));
    zw_real inverse = 1.0 / D;
    spatial G = scale6(inverse, U);
    work[at->pivot + d] = inverse;
    store6(work + at->G + 6 * d, G);
    return without(I, U, G);
}

/* The translations of a free joint are eliminated last, and S is an axis of the world: only C is
 * needed, as the world does not rotate. `column` is the column of C. */
PART sym3 eliminate_translation(const tree_mechanism *tree, int d, const zw_real *diagonal, sym3 C,
                                zw_real pivot, vec3 column, zw_real *work, zw_mask *low)
{
    const tree_places *at = &tree->at;
    zw_real D = pivot + tree->armature[d];
    if (diagonal != NULL) {
        D += diagonal[d];
    }
    *low |= lane_not_above(D, lane_fill(0.0));
    zw_real inverse = 1.0 / D;
    spatial G = {zero6().ang, scale3(inverse, column)};
    work[at->pivot + d] = inverse;
    store6(work + at->G + 6 * d, G);
    return without_square(C, column, G.lin);
}

PART void eliminate_translations(const tree_mechanism *tree, int d, const zw_real *diagonal, sym3 C,
                                 zw_real *work, zw_mask *low)
{
    C = eliminate_translation(tree, d + 2, diagonal, C, C.zz, (vec3){C.xz, C.yz, C.zz}, work, low);
    C = eliminate_translation(tree, d + 1, diagonal, C, C.yy, (vec3){C.xy, C.yy, C.yz}, work, low);
    eliminate_translation(tree, d, diagonal, C, C.xx, (vec3){C.xx, C.xy, C.xz}, work, low);
}

/* Bodies first..end-1, which are whole trees. */
WHOLE_PART void articulate(const tree_mechanism *tree, int first, int end, const zw_real *held,
                           const zw_real *diagonal, zw_real *work, zw_mask *bad)
{
    const tree_places *at = &tree->at;
    const zw_real zero = lane_fill(0.0);
    zw_mask low = zero > zero;
    for (int i = end - 1; i >= first; i--) {
        const tree_body *body = tree->body + i;
        zw_real *own = work + at->articulated + 21 * i;
        zw_real *to = work + at->articulated + 21 * body->parent;
        articulated I = rigid(lane_fill(body->mass), load_sym3(work + at->inertia + 6 * i));
        if (body->last_child != 0) {
            I = add_articulated(I, load_articulated(own));
        }
        if (held != NULL) {
            I = add_articulated(I, load_articulated(held + 21 * i));
        }
        int turning = body->is_free ? body->dof + 3 : body->dof;
        for (int d = body->dof_end - 1; d >= turning; d--) {
            I = eliminate(tree, d, diagonal, I, work, &low);
        }
        if (body->is_free) {
            eliminate_translations(tree, body->dof, diagonal, I.C, work, &low);
        }
        if (body->parent != 0) {
            store_articulated(own, I);
            I = articulated_from(I, load3(work + at->shift + 3 * i));
            store_articulated(to,
                              body->is_last_child ? I : add_articulated(load_articulated(to), I));
        }
    }
    *bad = low;
}

LANE_CLONES void LANE(tree_articulate)(const tree_mechanism *tree, const zw_real *diagonal,
                                       zw_real *work, zw_mask *bad)
{
    articulate(tree, 1, tree->bodies, NULL, diagonal, work, bad);
}

LANE_CLONES void LANE(tree_articulate_held)(const tree_mechanism *tree, int first, int end,
                                            const zw_real *held, const zw_real *diagonal,
                                            zw_real *work, zw_mask *bad)
{
    articulate(tree, first, end, held, diagonal, work, bad);
}

/* ---- Solves ---------------------------------------------------------------------------------- */

/* u = tau - S.p from the tips to the root; p starts with the bias of speeds, gravity and wrenches
 * of each body, or with zero. */
WHOLE_PART void to_root(const tree_mechanism *tree, int first, int end, const zw_real *tau,
                        const zw_real *wrench, int with_speeds, zw_real *work, zw_real *u)
{
    const tree_places *at = &tree->at;
    for (int i = end - 1; i >= first; i--) {
        const tree_body *body = tree->body + i;
        spatial p = zero6();
        if (with_speeds) {
            p = bias_of_body(body, load_sym3(work + at->inertia + 6 * i),
                             load3(work + at->V + 6 * i));
        }
        if (wrench != NULL) {
            p = sub6(p, load6(wrench + 6 * i));
        }
        if (body->last_child != 0) {
            p = add6(p, load6(work + at->F + 6 * i));
        }
        for (int d = body->dof_end - 1; d >= body->dof; d--) {
            u[d] = tau[d] - dot6(p, load6(work + at->S + 6 * d));
            p = add6(p, scale6(u[d], load6(work + at->G + 6 * d)));
        }
        if (body->parent != 0) {
            if (with_speeds) {
                p = add6(p, articulated_times(load_articulated(work + at->articulated + 21 * i),
                                              load6(work + at->Z + 6 * i)));
            }
            add_to_parent(body, at, i, p, work);
        }
    }
}

/* a = u - U.A / D from the root to the tips; u has been divided by D. */
WHOLE_PART void to_tips(const tree_mechanism *tree, int first, int end, const zw_real *u,
                        int with_speeds, zw_real *work, zw_real *a)
{
    const tree_places *at = &tree->at;
    for (int i = first; i < end; i++) {
        const tree_body *body = tree->body + i;
        spatial A =
            motion_at(load6(work + at->A + 6 * body->parent), load3(work + at->shift + 3 * i));
        if (with_speeds) {
            A = add6(A, load6(work + at->Z + 6 * i));
        }
        for (int d = body->dof; d < body->dof_end; d++) {
            a[d] = u[d] - dot6(A, load6(work + at->G + 6 * d));
            A = add6(A, scale6(a[d], load6(work + at->S + 6 * d)));
        }
        store6(work + at->A + 6 * i, A);
    }
}

LANE_CLONES void LANE(tree_forward)(const tree_mechanism *tree, const zw_real *tau,
                                    const zw_real *wrench, zw_real *work, zw_real *a)
{
    zw_real *u = work + tree->at.u;
    to_root(tree, 1, tree->bodies, tau, wrench, 1, work, u);
    for (int d = 0; d < tree->nv; d++) {
        u[d] *= work[tree->at.pivot + d];
    }
    to_tips(tree, 1, tree->bodies, u, 1, work, a);
}

LANE_CLONES void LANE(tree_articulated_solve)(const tree_mechanism *tree, zw_real *work, zw_real *x)
{
    to_root(tree, 1, tree->bodies, x, NULL, 0, work, x);
    for (int d = 0; d < tree->nv; d++) {
        x[d] *= work[tree->at.pivot + d];
    }
    to_tips(tree, 1, tree->bodies, x, 0, work, x);
}

LANE_CLONES void LANE(tree_articulated_solve_held)(const tree_mechanism *tree, int first, int end,
                                                   zw_real *work, zw_real *x)
{
    to_root(tree, first, end, x, NULL, 0, work, x);
    for (int d = tree->body[first].dof; d < tree->body[end - 1].dof_end; d++) {
        x[d] *= work[tree->at.pivot + d];
    }
    to_tips(tree, first, end, x, 0, work, x);
}

/* As tree_solve_lower and tree_solve_upper, with the same factors in exact arithmetic. */
LANE_CLONES void LANE(tree_articulated_lower)(const tree_mechanism *tree, zw_real *work, zw_real *x)
{
    to_root(tree, 1, tree->bodies, x, NULL, 0, work, x);
    for (int d = 0; d < tree->nv; d++) {
        x[d] *= lane_sqrt(work[tree->at.pivot + d]);
    }
}

LANE_CLONES void LANE(tree_articulated_upper)(const tree_mechanism *tree, zw_real *work, zw_real *x)
{
    for (int d = 0; d < tree->nv; d++) {
        x[d] *= lane_sqrt(work[tree->at.pivot + d]);
    }
    to_tips(tree, 1, tree->bodies, x, 0, work, x);
}

/* The mass matrix by composite inertias.
 *
 * Composite inertia of the subtree of body i, about c_i: mass m (constant), first moment h and
 * rotational inertia J of all its bodies. Shifted to c_i - r,
 *
 *     h + m r,     J + 2 (e.r) 1 - (e r' + r e'),     e = h + m r / 2
 *
 * (Steiner, for a point that is not the centre of mass). With the subtree taken as one rigid body,
 * a unit acceleration of dof d needs the force
 *
 *     F = (J w + h x v,  m v + w x h),     (w, v) = S_d
 *
 * whose component along an ancestor dof e is M_de = S_e . F (Walker and Orin 1982; Featherstone
 * 1987). */

PART void add_composite(const tree_body *body, const tree_places *at, int i, vec3 h, sym3 J,
                        zw_real *work)
{
    zw_real *to = work + at->composite + 9 * body->parent;
    vec3 r = load3(work + at->shift + 3 * i), moved = scale3(lane_fill(body->subtree_mass), r);
    vec3 e = add3(h, scale3(lane_fill(0.5), moved));
    zw_real xx = e.x * r.x, yy = e.y * r.y, zz = e.z * r.z;
    J.xx += 2.0 * (yy + zz);
    J.yy += 2.0 * (xx + zz);
    J.zz += 2.0 * (xx + yy);
    J.xy -= e.x * r.y + e.y * r.x;
    J.xz -= e.x * r.z + e.z * r.x;
    J.yz -= e.y * r.z + e.z * r.y;
    h = add3(h, moved);
    if (!body->is_last_child) {
        h = add3(h, load3(to));
        J = add_sym3(J, load_sym3(to + 3));
    }
    store3(to, h);
    store_sym3(to + 3, J);
}

/* F for a unit acceleration along S, with the subtree taken as one rigid body. */
PART spatial composite_times(zw_real mass, vec3 h, sym3 J, spatial S)
{
    return (spatial){add3(mul_sym3(J, S.ang), cross3(h, S.lin)),
                     add3(scale3(mass, S.lin), cross3(S.ang, h))};
}

/* Row d of M, from the diagonal back to the root. */
PART void composite_row(const tree_mechanism *tree, int i, int d, spatial F, zw_real *work)
{
    const tree_places *at = &tree->at;
    zw_real *M = work + at->M + tree->start[d + 1] - 1;
    *M-- = dot6(F, load6(work + at->S + 6 * d)) + (zw_scalar)tree->armature[d];
    for (int e = d - 1; e >= tree->body[i].dof; e--) {
        *M-- = dot6(F, load6(work + at->S + 6 * e));
    }
    for (int k = i, b = tree->body[i].parent; b != 0; k = b, b = tree->body[b].parent) {
        F = force_from(F, load3(work + at->shift + 3 * k));
        for (int e = tree->body[b].dof_end - 1; e >= tree->body[b].dof; e--) {
            *M-- = dot6(F, load6(work + at->S + 6 * e));
        }
    }
}

/* All rows of M; or, if `diagonal` is not NULL, only the diagonal. */
WHOLE_PART void composites(const tree_mechanism *tree, zw_real *work, zw_real *diagonal)
{
    const tree_places *at = &tree->at;
    for (int i = tree->bodies - 1; i > 0; i--) {
        const tree_body *body = tree->body + i;
        const zw_real *children = work + at->composite + 9 * i;
        vec3 h = zero6().lin;
        sym3 J = load_sym3(work + at->inertia + 6 * i);
        if (body->last_child != 0) {
            h = load3(children);
            J = add_sym3(J, load_sym3(children + 3));
        }
        for (int d = body->dof; d < body->dof_end; d++) {
            spatial S = load6(work + at->S + 6 * d);
            spatial F = composite_times(lane_fill(body->subtree_mass), h, J, S);
            if (diagonal != NULL) {
                diagonal[d] = dot6(F, S) + (zw_scalar)tree->armature[d];
            } else {
                composite_row(tree, i, d, F, work);
            }
        }
        if (body->parent != 0) {
            add_composite(body, at, i, h, J, work);
        }
    }
}

LANE_CLONES void LANE(tree_composite)(const tree_mechanism *tree, zw_real *work)
{
    composites(tree, work, NULL);
}

LANE_CLONES void LANE(tree_inertia_diagonal)(const tree_mechanism *tree, zw_real *work, zw_real *d)
{
    composites(tree, work, d);
}

/* y = (M + diagonal) x by the entries; `diagonal` may be NULL. */
LANE_CLONES void LANE(tree_multiply)(const tree_mechanism *tree, const zw_real *diagonal,
                                     const zw_real *work, const zw_real *x, zw_real *y)
{
    for (int k = 0; k < tree->nv; k++) {
        const zw_real *row = work + tree->at.M + tree->start[k];
        const int *column = tree->column + tree->start[k];
        int last = tree->start[k + 1] - tree->start[k] - 1;
        zw_real sum = row[last] * x[k];
        if (diagonal != NULL) {
            sum += diagonal[k] * x[k];
        }
        for (int t = 0; t < last; t++) {
            sum += row[t] * x[column[t]];
            y[column[t]] += row[t] * x[k];
        }
        y[k] = sum;
    }
}

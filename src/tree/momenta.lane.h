/* Momenta, and the forces that change them: Lagrange's (for quasi-velocities Hamel's) equations.
 *
 * p_d = dK/dv_d = S_d . H_i, with H_i the momentum of the subtree of i, the body of d, about c_i:
 * angular part sum_k J_k omega_k + (c_k - c_i) x m_k v_k, linear part sum_k m_k v_k. About a fixed
 * point, H changes only by the forces on the subtree, among them tau_d, which joint d transmits;
 * and S_d moves with the body that carries the axis of d (tree.h). So
 *
 *     p_d' = tau_d + S_d . W_i + (V_b x S_d) . H_i
 *
 * with W the weight of the subtree. The last term is dK/dq_d of a hinge or slide; of a ball, whose
 * axes are carried by the body after the joint, it also contains p x Omega, which is not a
 * derivative K_q. It makes no difference whether the axis is carried by the body before or after
 * its own joint, as S x S = 0. The axes of translation of a free body are fixed.
 *
 * Armature adds its own v_d to p_d, and nothing to the forces. */

/* Adds a spatial force of body i to that of its parent in the array `to`. */
PART void join(const tree_body *body, const tree_places *at, int i, spatial f, int to,
               zw_real *work)
{
    zw_real *place = work + to + 6 * body->parent;
    f = force_from(f, load3(work + at->shift + 3 * i));
    store6(place, body->is_last_child ? f : add6(load6(place), f));
}

/* (V x S_d) . H for the dofs of a joint whose axes move with V. */
PART void carry_axes(const tree_joint *joint, spatial V, spatial H, const zw_real *S, zw_real *g)
{
    int dofs = dofs_of(joint->kind);
    for (int k = joint->kind == TREE_FREE ? 3 : 0; k < dofs; k++) {
        g[k] += dot6(H, carried(V, load6(S + 6 * k)));
    }
}

LANE_CLONES void LANE(tree_momenta)(const tree_mechanism *tree, const zw_real *v, zw_real *work,
                                    zw_real *p, zw_real *g)
{
    const tree_places *at = &tree->at;
    for (int i = tree->bodies - 1; i > 0; i--) {
        const tree_body *body = tree->body + i;
        spatial V = load6(work + at->V + 6 * i);
        spatial H = inertia_times(body, load_sym3(work + at->inertia + 6 * i), V);
        spatial W = {zero6().lin, const3(body->lift)}; /* the force that would hold it at rest */
        if (body->last_child != 0) {
            H = add6(H, load6(work + at->F + 6 * i));
            W = add6(W, load6(work + at->A + 6 * i));
        }
        for (int d = body->dof; d < body->dof_end; d++) {
            spatial S = load6(work + at->S + 6 * d);
            p[d] = dot6(H, S) + tree->armature[d] * v[d];
            g[d] = -dot6(W, S);
        }
        for (int j = body->joint_end - 1; j >= body->joint; j--) {
            const tree_joint *joint = tree->joint + j;
            const zw_real *S = work + at->S + 6 * joint->v;
            carry_axes(joint, V, H, S, g + joint->v);
            V = sub6(V, motion_of_joint(joint, S, v + joint->v));
        }
        if (body->parent != 0) {
            join(body, at, i, H, at->F, work);
            join(body, at, i, W, at->A, work);
        }
    }
}

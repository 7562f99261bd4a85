/* Newton and Euler for every body, recursively: accelerations from the root to the tips, forces
 * back (Luh, Walker and Paul 1980; in spatial vectors Featherstone 1987). tree.h derives it. */

/* A_i = A_parent + Z_i + sum S_d a_d for bodies first..end-1, which are complete trees. Without
 * speeds: Z = 0. `a` may be NULL: zero. */
PART void accelerate(const tree_mechanism *tree, int first, int end, const zw_real *a,
                     int with_speeds, zw_real *work)
{
    const tree_places *at = &tree->at;
    for (int i = first; i < end; i++) {
        const tree_body *body = tree->body + i;
        spatial A =
            motion_at(load6(work + at->A + 6 * body->parent), load3(work + at->shift + 3 * i));
        if (with_speeds) {
            A = add6(A, load6(work + at->Z + 6 * i));
        }
        if (a != NULL) {
            for (int d = body->dof; d < body->dof_end; d++) {
                A = add6(A, scale6(a[d], load6(work + at->S + 6 * d)));
            }
        }
        store6(work + at->A + 6 * i, A);
    }
}

/* The force on a body at A = 0 due to speeds and gravity: omega x J omega, -m g. */
PART spatial bias_of_body(const tree_body *body, sym3 J, vec3 omega)
{
    return (spatial){cross3(omega, mul_sym3(J, omega)), const3(body->lift)};
}

PART spatial inertia_times(const tree_body *body, sym3 J, spatial A)
{
    return (spatial){mul_sym3(J, A.ang), scale3(lane_fill(body->mass), A.lin)};
}

/* Adds the force of a body, about its own centre, to that of its parent. */
PART void add_to_parent(const tree_body *body, const tree_places *at, int i, spatial F,
                        zw_real *work)
{
    zw_real *to = work + at->F + 6 * body->parent;
    F = force_from(F, load3(work + at->shift + 3 * i));
    store6(to, body->is_last_child ? F : add6(load6(to), F));
}

/* tau_d = S_d . F_i + armature a_d, from the tips to the root. */
PART void collect(const tree_mechanism *tree, int first, int end, const zw_real *a,
                  const zw_real *wrench, int with_speeds, zw_real *work, zw_real *tau)
{
    const tree_places *at = &tree->at;
    for (int i = end - 1; i >= first; i--) {
        const tree_body *body = tree->body + i;
        sym3 J = load_sym3(work + at->inertia + 6 * i);
        spatial F = inertia_times(body, J, load6(work + at->A + 6 * i));
        if (with_speeds) {
            F = add6(F, bias_of_body(body, J, load3(work + at->V + 6 * i)));
        }
        if (wrench != NULL) {
            F = sub6(F, load6(wrench + 6 * i));
        }
        if (body->last_child != 0) {
            F = add6(F, load6(work + at->F + 6 * i));
        }
        store6(work + at->F + 6 * i, F);
        for (int d = body->dof; d < body->dof_end; d++) {
            tau[d] = dot6(F, load6(work + at->S + 6 * d));
            if (a != NULL) {
                tau[d] += (zw_scalar)tree->armature[d] * a[d];
            }
        }
        if (body->parent != 0) {
            add_to_parent(body, at, i, F, work);
        }
    }
}

LANE_CLONES void LANE(tree_accelerations)(const tree_mechanism *tree, const zw_real *a,
                                          zw_real *work)
{
    accelerate(tree, 1, tree->bodies, a, 1, work);
}

LANE_CLONES void LANE(tree_inverse)(const tree_mechanism *tree, const zw_real *a,
                                    const zw_real *wrench, zw_real *work, zw_real *tau)
{
    accelerate(tree, 1, tree->bodies, a, 1, work);
    collect(tree, 1, tree->bodies, a, wrench, 1, work, tau);
}

LANE_CLONES void LANE(tree_inertia_times)(const tree_mechanism *tree, const zw_real *x,
                                          zw_real *work, zw_real *y)
{
    accelerate(tree, 1, tree->bodies, x, 0, work);
    collect(tree, 1, tree->bodies, x, NULL, 0, work, y);
}

LANE_CLONES void LANE(tree_inertia_times_held)(const tree_mechanism *tree, int first, int end,
                                               const zw_real *x, zw_real *work, zw_real *y)
{
    accelerate(tree, first, end, x, 0, work);
    collect(tree, first, end, x, NULL, 0, work, y);
}

/* ---- Spinning ------------------------------------------------------------------------------- */

/* Euler's equations L' = -omega x L, L = J omega, of a body to which nothing is attached. With the
 * moment omega x L of the start of a step its angular momentum grows by (h omega)^2/2 of it in each
 * step, without end. The implicit midpoint rule
 *
 *     L1 = L0 - h omega x (L0 + L1)/2,     omega = (omega0 + omega1)/2
 *
 * turns L, by the angle 2 atan(h |omega|/2) about omega (Cayley), so that |L| remains; and as
 * omega . (L1 - L0) = 0 is omega1 . L1 - omega0 . L0 = 0 (J is symmetric), the energy does, too. It
 * is taken in pieces, and iterated in each; an iterate keeps |L|, whether they converge or not, so
 * that the energy is always bounded by that of the axis of the least inertia. (L0 - L1)/h takes the
 * place of omega x L in the bias. In the axes of the body J is constant, and those are the axes of
 * its speeds. An error of omega that rotates about the axis is turned by a right angle in each
 * round, and smaller by half the angle of a piece: so three or four rounds lose a little energy,
 * five or six gain it, and so on (test/step/test_quick.c). */
enum { SPIN_PIECES = 4, SPIN_ROUNDS = 4 };

/* L turned by -2 atan |a| about a: Cayley's map of -2 a. */
PART vec3 turn_back(vec3 L, vec3 a)
{
    vec3 across = cross3(L, a);
    zw_real by = lane_fill(2.0) / (lane_fill(1.0) + dot3(a, a));
    return add3(L, scale3(by, sub3(across, cross3(a, across))));
}

/* J \ L by cofactors; 0 where J is not positive. */
PART vec3 solve_sym3(sym3 J, vec3 L)
{
    zw_real a = J.yy * J.zz - J.yz * J.yz, b = J.xz * J.yz - J.xy * J.zz;
    zw_real c = J.xy * J.yz - J.xz * J.yy, det = J.xx * a + J.xy * b + J.xz * c;
    sym3 of = {a, J.xx * J.zz - J.xz * J.xz, J.xx * J.yy - J.xy * J.xy, b,
               c, J.xy * J.xz - J.xx * J.yz};
    zw_real by = lane_select(det > lane_fill(0.0), lane_fill(1.0) / det, lane_fill(0.0));
    return scale3(by, mul_sym3(of, L));
}

LANE_CLONES void LANE(tree_spin)(const tree_mechanism *tree, const zw_real *h, const zw_real *work,
                                 zw_real *tau)
{
    const tree_places *at = &tree->at;
    zw_real quarter = lane_fill(0.25 / SPIN_PIECES) * *h; /* of a piece */
    for (int i = 1; i < tree->bodies; i++) {
        const tree_body *body = tree->body + i;
        if (!body->is_free || body->last_child != 0) {
            continue;
        }
        sym3 J = load_sym3(work + at->inertia + 6 * i);
        vec3 omega = load3(work + at->V + 6 * i), L = mul_sym3(J, omega), end = L, now = omega;
        for (int k = 0; k < SPIN_PIECES; k++) {
            vec3 start = end, begun = now;
            for (int r = 0; r < SPIN_ROUNDS; r++) {
                end = turn_back(start, scale3(quarter, add3(begun, now)));
                now = solve_sym3(J, end);
            }
        }
        vec3 moment = sub3(scale3(lane_fill(1.0) / *h, sub3(L, end)), cross3(omega, L));
        for (int d = body->dof; d < body->dof_end; d++) {
            tau[d] += dot3(load3(work + at->S + 6 * d), moment);
        }
    }
}

/* ---- Springs and dampers --------------------------------------------------------------------- */

/* -k (q (-) spring) - damping v. For a rotation the difference is the rotation vector p of
 * spring^-1 q, and p is also the gradient of 1/2 p.p along the body's axes: a further rotation
 * d(angle) changes |p| by its component along p, and p has the same components before and after the
 * rotation about p. So the force has the potential k/2 |p|^2. */
LANE_CLONES void LANE(tree_passive)(const tree_mechanism *tree, const zw_real *q, const zw_real *v,
                                    zw_real *tau)
{
    for (int j = 0; j < tree->joints; j++) {
        const tree_joint *joint = tree->joint + j;
        int dofs = dofs_of(joint->kind);
        zw_real bent[6], *force = tau + joint->v;
        for (int k = 0; k < dofs; k++) {
            force[k] = (zw_scalar)-tree->damping[joint->v + k] * v[joint->v + k];
        }
        if (joint->stiffness != 0.0) {
            joint_difference_from(joint, q + joint->q, tree->q_spring + joint->q, bent);
            for (int k = 0; k < dofs; k++) {
                force[k] -= (zw_scalar)joint->stiffness * bent[k];
            }
        }
    }
}

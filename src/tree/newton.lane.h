/* Newton and Euler for every body, recursively: accelerations from the root to the tips, forces
 * back (Luh, Walker and Paul 1980; in spatial vectors Featherstone 1987). tree.h derives it. */

/* A_i = A_parent + Z_i + sum S_d a_d for bodies first..end-1, which are complete trees. Without
 * speeds: Z = 0. `a` may be NULL: zero. */
WHOLE_PART void accelerate(const tree_mechanism *tree, int first, int end, const zw_real *a,
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
WHOLE_PART void collect(const tree_mechanism *tree, int first, int end, const zw_real *a,
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

/* Euler's equations J omega' = -omega x J omega of a body to which nothing is attached, in its own
 * axes. With the moment of the start of a step its angular momentum would grow by (h omega)^2/2 of
 * it in each step, without end. The implicit midpoint rule,
 *
 *     J (w - omega0) + h/2 w x J w = 0,     omega1 = 2 w - omega0,
 *
 * keeps energy and angular momentum: from omega1 - omega0 perpendicular to J w follows
 * omega1 . J omega1 = omega0 . J omega0, and as L1 - L0 = -h w x (L0 + L1)/2 is perpendicular to
 * L0 + L1, |L1| = |L0|. So w x J w takes the place of omega0 x J omega0 in the bias. Newton's
 * method converges from omega0 where a body turns by up to about 2 radians; a step that turns it
 * further is taken in 2, 4, ... parts, whose moments are averaged. Where even the last of these
 * do not converge, the moment is 0, which keeps both as well. */
enum { SPIN_ROUNDS = 6, SPIN_PARTS = 256 };

/* x, y, z with x a + y b + z c = d; 0 where there are none. */
PART vec3 solve_columns(vec3 a, vec3 b, vec3 c, vec3 d)
{
    vec3 bc = cross3(b, c), da = cross3(d, a);
    zw_real det = dot3(a, bc), zero = lane_fill(0.0);
    zw_real by = lane_select(det == zero, zero, lane_fill(1.0) / det);
    return scale3(by, (vec3){dot3(d, bc), -dot3(c, da), dot3(b, da)});
}

/* w of a step of length 2 `half`. Not `good` unless the last correction is so small that its
 * square, which is the size of the next one, is round-off. */
PART vec3 middle_spin(sym3 J, vec3 omega0, zw_real half, zw_mask *good)
{
    const zw_real small = lane_fill(LANE_LIMIT(1e-16, 1e-8)), none = lane_fill(0.0);
    vec3 w = omega0, change = omega0;
    for (int r = 0; r < SPIN_ROUNDS; r++) {
        vec3 L = scale3(half, mul_sym3(J, w)), by = scale3(half, w);
        vec3 x = {J.xx, J.xy, J.xz}, y = {J.xy, J.yy, J.yz}, z = {J.xz, J.yz, J.zz};
        vec3 off = add3(mul_sym3(J, sub3(w, omega0)), cross3(w, L));
        x = add3(x, add3(cross3(by, x), (vec3){none, -L.z, L.y}));
        y = add3(y, add3(cross3(by, y), (vec3){L.z, none, -L.x}));
        z = add3(z, add3(cross3(by, z), (vec3){-L.y, L.x, none}));
        change = solve_columns(x, y, z, off);
        w = sub3(w, change);
    }
    *good &= dot3(change, mul_sym3(J, change)) <= small * dot3(w, mul_sym3(J, w));
    return w;
}

/* The mean of w x J w over a step, in 1, 2, 4, ... parts. */
PART vec3 mean_moment(sym3 J, vec3 omega0, zw_real h)
{
    const zw_real zero = lane_fill(0.0);
    zw_real open = lane_fill(1.0);
    vec3 mean = {zero, zero, zero};
    for (int parts = 1; parts <= SPIN_PARTS && lane_any(open > zero); parts *= 2) {
        zw_real part = lane_fill(1.0 / parts);
        vec3 sum = {zero, zero, zero}, omega = omega0;
        zw_mask good = open > zero;
        for (int k = 0; k < parts && lane_any(good); k++) {
            vec3 w = middle_spin(J, omega, lane_fill(0.5) * part * h, &good);
            sum = add3(sum, scale3(part, cross3(w, mul_sym3(J, w))));
            omega = sub3(add3(w, w), omega);
        }
        mean.x = lane_select(good, sum.x, mean.x);
        mean.y = lane_select(good, sum.y, mean.y);
        mean.z = lane_select(good, sum.z, mean.z);
        open = lane_select(good, zero, open);
    }
    return mean;
}

LANE_CLONES void LANE(tree_spin)(const tree_mechanism *tree, const zw_real *h, const zw_real *work,
                                 zw_real *tau)
{
    const tree_places *at = &tree->at;
    for (int i = 1; i < tree->bodies; i++) {
        const tree_body *body = tree->body + i;
        if (!body->is_free || body->last_child != 0) {
            continue;
        }
        sym3 J = load_sym3(work + at->inertia + 6 * i);
        vec3 omega = load3(work + at->V + 6 * i);
        vec3 moment = sub3(mean_moment(J, omega, *h), cross3(omega, mul_sym3(J, omega)));
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

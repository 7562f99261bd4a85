/* Observables of a motion: energies, momentum, points of bodies and their Jacobians. */

/* Kinetic and potential; the latter of gravity (zero at the world's origin) and springs. */
LANE_CLONES void LANE(tree_energies)(const tree_mechanism *tree, const zw_real *q, const zw_real *v,
                                     const zw_real *work, zw_real *energy)
{
    const tree_places *at = &tree->at;
    zw_real twice = lane_fill(0.0), height = lane_fill(0.0);
    for (int i = 1; i < tree->bodies; i++) {
        double mass = tree->body[i].mass;
        sym3 J = load_sym3(work + at->inertia + 6 * i);
        spatial V = load6(work + at->V + 6 * i);
        twice += dot3(V.ang, mul_sym3(J, V.ang)) + mass * dot3(V.lin, V.lin);
        height -= mass * dot3(const3(tree->gravity), load3(work + at->com + 3 * i));
    }
    for (int d = 0; d < tree->nv; d++) {
        twice += tree->armature[d] * (v[d] * v[d]);
    }
    for (int j = 0; j < tree->joints; j++) {
        const tree_joint *joint = tree->joint + j;
        zw_real bent[6];
        if (joint->stiffness != 0.0) {
            joint_difference_from(joint, q + joint->q, tree->q_spring + joint->q, bent);
            for (int k = 0; k < dofs_of(joint->kind); k++) {
                height += 0.5 * joint->stiffness * (bent[k] * bent[k]);
            }
        }
    }
    energy[0] = 0.5 * twice;
    energy[1] = height;
}

/* Centre of mass (3), linear momentum (3), angular momentum about the centre of mass (3), of all
 * bodies. Armatures are not included: they are inertias of rotors that are not in the tree. Without
 * any mass the centre is NaN. */
LANE_CLONES void LANE(tree_momentum)(const tree_mechanism *tree, const zw_real *work,
                                     zw_real *momentum)
{
    const tree_places *at = &tree->at;
    vec3 moment = zero6().lin, linear = moment, angular = moment;
    for (int i = 1; i < tree->bodies; i++) {
        zw_real mass = lane_fill(tree->body[i].mass);
        moment = add3(moment, scale3(mass, load3(work + at->com + 3 * i)));
        linear = add3(linear, scale3(mass, load3(work + at->V + 6 * i + 3)));
    }
    vec3 centre = scale3(lane_fill(1.0 / tree->body[0].subtree_mass), moment);
    for (int i = 1; i < tree->bodies; i++) {
        spatial V = load6(work + at->V + 6 * i);
        vec3 arm = sub3(load3(work + at->com + 3 * i), centre);
        vec3 p = scale3(lane_fill(tree->body[i].mass), V.lin);
        vec3 own = mul_sym3(load_sym3(work + at->inertia + 6 * i), V.ang);
        angular = add3(angular, add3(own, cross3(arm, p)));
    }
    store3(momentum, centre);
    store3(momentum + 3, linear);
    store3(momentum + 6, angular);
}

/* The world position of a point given in the body's frame. */
LANE_CLONES void LANE(tree_point)(const tree_mechanism *tree, int body, const double *local,
                                  const zw_real *work, zw_real *place)
{
    const tree_places *at = &tree->at;
    store3(place, add3(load3(work + at->origin + 3 * body),
                       turn_const(load_mat3(work + at->R + 9 * body), local)));
}

/* Angular velocity of the body (3), and velocity (3) of its point that is at `place` now. */
LANE_CLONES void LANE(tree_point_velocity)(const tree_mechanism *tree, int body,
                                           const zw_real *place, const zw_real *work,
                                           zw_real *velocity)
{
    const tree_places *at = &tree->at;
    vec3 arm = sub3(load3(place), load3(work + at->com + 3 * body));
    store6(velocity, motion_at(load6(work + at->V + 6 * body), arm));
}

/* Angular acceleration, and acceleration of that point: a_c + alpha x r + omega x (omega x r). */
LANE_CLONES void LANE(tree_point_acceleration)(const tree_mechanism *tree, int body,
                                               const zw_real *place, const zw_real *work,
                                               zw_real *acceleration)
{
    const tree_places *at = &tree->at;
    vec3 arm = sub3(load3(place), load3(work + at->com + 3 * body));
    vec3 omega = load3(work + at->V + 6 * body);
    spatial A = motion_at(load6(work + at->A + 6 * body), arm);
    A.lin = add3(A.lin, cross3(omega, cross3(omega, arm)));
    store6(acceleration, A);
}

/* Columns of the Jacobian of (angular velocity, velocity of the point at `place`), one for each dof
 * of tree_chain: J[6 * k + row]. */
LANE_CLONES void LANE(tree_jacobian)(const tree_mechanism *tree, int body, const zw_real *place,
                                     const zw_real *work, zw_real *J)
{
    const tree_places *at = &tree->at;
    vec3 x = load3(place);
    for (int d = tree->body[body].last_dof; d >= 0; d = tree->dof_parent[d]) {
        vec3 arm = sub3(x, load3(work + at->com + 3 * tree->dof_body[d]));
        store6(J + 6 * (tree->depth[d] - 1), motion_at(load6(work + at->S + 6 * d), arm));
    }
}

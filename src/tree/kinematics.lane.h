/* Where the bodies are, and how they move: from the root to the tips. tree.h derives it all. */

typedef struct pose {
    vec3 p;
    quat q;
} pose;

/* The pose of a body before its joints. */
PART pose given_pose(const tree_body *body, const tree_places *at, const zw_real *work)
{
    int p = body->parent;
    pose x;
    x.p = add3(load3(work + at->origin + 3 * p),
               turn_const(load_mat3(work + at->R + 9 * p), body->pos));
    x.q = load_quat(work + at->quat + 4 * p);
    if (body->is_turned) {
        quat fixed = {lane_fill(body->quat[0]), lane_fill(body->quat[1]), lane_fill(body->quat[2]),
                      lane_fill(body->quat[3])};
        x.q = quat_product(x.q, fixed);
    }
    return x;
}

/* Turned further by `by`, about a point of the body that stays where it is. */
PART pose turn_about_anchor(const tree_joint *joint, pose x, quat by, zw_real *anchor)
{
    if (joint->is_centred) {
        store3(anchor, x.p);
        x.q = quat_product(x.q, by);
        return x;
    }
    vec3 arm = const3(joint->anchor), stays = add3(x.p, quat_turn(x.q, arm));
    store3(anchor, stays);
    x.q = quat_product(x.q, by);
    x.p = sub3(stays, quat_turn(x.q, arm));
    return x;
}

/* The three turning axes are those of the body itself, after the joint. */
PART void store_axes(zw_real *S, quat q)
{
    mat3 R = quat_matrix(q);
    store3(S, (vec3){R.x.x, R.y.x, R.z.x});
    store3(S + 6, (vec3){R.x.y, R.y.y, R.z.y});
    store3(S + 12, (vec3){R.x.z, R.y.z, R.z.z});
}

/* The pose after a joint; the axes go to the angular parts of S for now. */
PART pose move_by_joint(const tree_joint *joint, pose x, const zw_real *q, zw_real *S,
                        zw_real *anchor)
{
    zw_real sine, cosine;
    vec3 axis = const3(joint->axis);
    switch (joint->kind) {
    case TREE_FREE:
        x.p = load3(q);
        x.q = quat_unit(load_quat(q + 3));
        store3(anchor, x.p);
        store_axes(S + 18, x.q);
        break;
    case TREE_BALL:
        x = turn_about_anchor(joint, x, quat_unit(load_quat(q)), anchor);
        store_axes(S, x.q);
        break;
    case TREE_HINGE:
        store3(S, quat_turn(x.q, axis));
        lane_sincos(0.5 * (q[0] - joint->rest), &sine, &cosine);
        x = turn_about_anchor(joint, x, (quat){cosine, sine * axis.x, sine * axis.y, sine * axis.z},
                              anchor);
        break;
    case TREE_SLIDE:
        axis = quat_turn(x.q, axis);
        store3(S, axis);
        store3(anchor, x.p);
        x.p = add3(x.p, scale3(q[0] - joint->rest, axis));
        break;
    }
    return x;
}

PART void turning_motions(int count, vec3 arm, zw_real *S)
{
    for (int k = 0; k < count; k++) {
        store3(S + 6 * k + 3, cross3(load3(S + 6 * k), arm));
    }
}

/* S about the centre of mass: an axis through the anchor gives the centre axis x (c - anchor). */
PART void motions_of_joint(const tree_joint *joint, vec3 com, zw_real *S, const zw_real *anchor)
{
    zw_real zero = lane_fill(0.0), one = lane_fill(1.0);
    vec3 arm = sub3(com, load3(anchor));
    switch (joint->kind) {
    case TREE_FREE:
        for (int k = 0; k < 3; k++) {
            store6(S + 6 * k, zero6());
            S[6 * k + 3 + k] = one;
        }
        turning_motions(3, arm, S + 18);
        break;
    case TREE_BALL:
        turning_motions(3, arm, S);
        break;
    case TREE_HINGE:
        turning_motions(1, arm, S);
        break;
    case TREE_SLIDE:
        store3(S + 3, load3(S));
        store3(S, (vec3){zero, zero, zero});
        break;
    }
}

/* The world stands at the origin, upright and at rest. */
PART void place_world(const tree_places *at, zw_real *work)
{
    zw_real zero = lane_fill(0.0), one = lane_fill(1.0);
    vec3 none = {zero, zero, zero};
    quat upright = {one, zero, zero, zero};
    store_quat(work + at->quat, upright);
    store_mat3(work + at->R, quat_matrix(upright));
    store3(work + at->origin, none);
    store3(work + at->com, none);
    store3(work + at->shift, none);
    store6(work + at->V, zero6());
    store6(work + at->Z, zero6());
    store6(work + at->A, zero6());
}

LANE_CLONES void LANE(tree_kinematics)(const tree_mechanism *tree, const zw_real *q, zw_real *work)
{
    const tree_places *at = &tree->at;
    place_world(at, work);
    for (int i = 1; i < tree->bodies; i++) {
        const tree_body *body = tree->body + i;
        pose x = given_pose(body, at, work);
        for (int j = body->joint; j < body->joint_end; j++) {
            const tree_joint *joint = tree->joint + j;
            x = move_by_joint(joint, x, q + joint->q, work + at->S + 6 * joint->v,
                              work + at->anchor + 3 * j);
        }
        mat3 R = quat_matrix(x.q);
        vec3 com = add3(x.p, turn_const(R, body->com));
        store_quat(work + at->quat + 4 * i, x.q);
        store_mat3(work + at->R + 9 * i, R);
        store3(work + at->origin + 3 * i, x.p);
        store3(work + at->com + 3 * i, com);
        store3(work + at->shift + 3 * i, sub3(com, load3(work + at->com + 3 * body->parent)));
        store_sym3(work + at->inertia + 6 * i, turn_inertia(R, body->inertia));
        for (int j = body->joint; j < body->joint_end; j++) {
            const tree_joint *joint = tree->joint + j;
            motions_of_joint(joint, com, work + at->S + 6 * joint->v, work + at->anchor + 3 * j);
        }
    }
}

/* ---- Velocities ------------------------------------------------------------------------------ */

PART spatial turn3(const zw_real *S, const zw_real *v)
{
    return add6(add6(scale6(v[0], load6(S)), scale6(v[1], load6(S + 6))),
                scale6(v[2], load6(S + 12)));
}

/* The motion that a joint adds; of a free one only the turning. */
PART spatial motion_of_joint(const tree_joint *joint, const zw_real *S, const zw_real *v)
{
    switch (joint->kind) {
    case TREE_FREE:
        return turn3(S + 18, v + 3);
    case TREE_BALL:
        return turn3(S, v);
    default: /* a hinge or a slide */
        return scale6(v[0], load6(S));
    }
}

LANE_CLONES void LANE(tree_velocities)(const tree_mechanism *tree, const zw_real *v, zw_real *work)
{
    const tree_places *at = &tree->at;
    for (int i = 1; i < tree->bodies; i++) {
        const tree_body *body = tree->body + i;
        spatial V = load6(work + at->V + 6 * body->parent), Z = zero6();
        vec3 arm = cross3(V.ang, load3(work + at->shift + 3 * i)), own = Z.lin;
        for (int j = body->joint; j < body->joint_end; j++) {
            const tree_joint *joint = tree->joint + j;
            own = add3(own, motion_of_joint(joint, work + at->S + 6 * joint->v, v + joint->v).lin);
            if (joint->kind == TREE_FREE) { /* along axes that do not turn: no part in Z */
                V.lin = load3(v + joint->v);
            }
        }

        /* seen from c_i, what carries the first joint passes by with -own */
        vec3 from_parent = add3(arm, own);
        spatial seen = {V.ang, sub3(Z.lin, own)};
        Z.lin = cross3(V.ang, from_parent);
        for (int j = body->joint; j < body->joint_end; j++) {
            const tree_joint *joint = tree->joint + j;
            spatial m = motion_of_joint(joint, work + at->S + 6 * joint->v, v + joint->v);
            Z = add6(Z, carried(seen, m));
            seen = add6(seen, m);
        }
        store3(work + at->V + 6 * i, seen.ang);
        store3(work + at->V + 6 * i + 3, add3(V.lin, from_parent));
        store6(work + at->Z + 6 * i, Z);
    }
}

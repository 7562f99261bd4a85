/* Poses and velocities of the bodies, from the root to the tips. tree.h derives the equations. */

/* The pose of a body while its joints are applied one after another: its orientation, and the
 * position of the anchor b of the current joint, at y from `base`, the position of the first anchor
 * relative to the parent's centre of mass. A rotation about b does not change y; the next anchor is
 * at y + R (b' - b); and finally the centre of mass at y + R (c - b). World positions are computed
 * from these small differences, never the other way round, so the distance from the origin has no
 * effect on the dynamics. */
typedef struct pose {
    vec3 base, y;
    quat q;
} pose;

/* Before the joints. */
PART pose given_pose(const tree_body *body, const tree_places *at, const zw_real *work)
{
    int p = body->parent;
    pose x = {turn_const(load_mat3(work + at->R + 9 * p), body->start), zero6().lin,
              load_quat(work + at->quat + 4 * p)};
    if (body->is_turned) {
        quat fixed = {lane_fill(body->quat[0]), lane_fill(body->quat[1]), lane_fill(body->quat[2]),
                      lane_fill(body->quat[3])};
        x.q = quat_product(x.q, fixed);
    }
    return x;
}

/* Sine and cosine of half the angle of every hinge, all at once, as they do not depend on poses. */
PART void half_angles(const tree_mechanism *tree, const zw_real *q, zw_real *work)
{
    const tree_places *at = &tree->at;
    for (int k = 0; k < tree->hinges; k++) {
        const tree_joint *joint = tree->joint + tree->hinge[k];
        work[at->angle + k] = 0.5 * (q[joint->q] - (zw_scalar)joint->rest);
    }
    lane_sincos_many(tree->hinges, work + at->angle, work + at->sine, work + at->cosine);
}

/* The three axes of rotation are those of the body itself, after the joint. */
PART void store_axes(zw_real *S, quat q)
{
    mat3 R = quat_matrix(q);
    store3(S, (vec3){R.x.x, R.y.x, R.z.x});
    store3(S + 6, (vec3){R.x.y, R.y.y, R.z.y});
    store3(S + 12, (vec3){R.x.z, R.y.z, R.z.z});
}

/* The axis of the joint in the world. Most are axes of the body: a column of its matrix. */
PART vec3 axis_of(const tree_joint *joint, quat q)
{
    zw_real s = lane_fill(2.0 * joint->sign), one = lane_fill(joint->sign);
    switch (joint->along) {
    case TREE_ALONG_X:
        return (vec3){one - s * (q.y * q.y + q.z * q.z), s * (q.x * q.y + q.w * q.z),
                      s * (q.x * q.z - q.w * q.y)};
    case TREE_ALONG_Y:
        return (vec3){s * (q.x * q.y - q.w * q.z), one - s * (q.x * q.x + q.z * q.z),
                      s * (q.y * q.z + q.w * q.x)};
    case TREE_ALONG_Z:
        return (vec3){s * (q.x * q.z + q.w * q.y), s * (q.y * q.z - q.w * q.x),
                      one - s * (q.x * q.x + q.y * q.y)};
    default:
        return quat_turn(q, const3(joint->axis));
    }
}

/* q (c, s axis), without the zeros of the axis. */
PART quat turn_about_axis(const tree_joint *joint, quat q, zw_real s, zw_real c)
{
    vec3 axis = const3(joint->axis);
    zw_real t = s * (zw_scalar)joint->sign;
    switch (joint->along) {
    case TREE_ALONG_X:
        return (quat){q.w * c - q.x * t, q.w * t + q.x * c, q.y * c + q.z * t, q.z * c - q.y * t};
    case TREE_ALONG_Y:
        return (quat){q.w * c - q.y * t, q.x * c - q.z * t, q.w * t + q.y * c, q.z * c + q.x * t};
    case TREE_ALONG_Z:
        return (quat){q.w * c - q.z * t, q.x * c + q.y * t, q.y * c - q.x * t, q.w * t + q.z * c};
    default:
        return quat_product(q, (quat){c, s * axis.x, s * axis.y, s * axis.z});
    }
}

/* The pose after a joint. For now the angular parts of S hold the axes, and the first linear part
 * holds y. */
PART pose move_by_joint(const tree_joint *joint, pose x, const zw_real *q, zw_real sine,
                        zw_real cosine, zw_real *S)
{
    vec3 axis;
    if (joint->is_stepped) {
        x.y = add3(x.y, quat_turn(x.q, const3(joint->step)));
    }
    store3(S + 3, x.y);
    switch (joint->kind) {
    case TREE_FREE:
        x.base = load3(q);
        x.q = quat_unit(load_quat(q + 3));
        store_axes(S + 18, x.q);
        break;
    case TREE_BALL:
        x.q = quat_product(x.q, quat_unit(load_quat(q)));
        store_axes(S, x.q);
        break;
    case TREE_HINGE:
        store3(S, axis_of(joint, x.q));
        x.q = turn_about_axis(joint, x.q, sine, cosine);
        break;
    case TREE_SLIDE:
        axis = axis_of(joint, x.q);
        store3(S, axis);
        x.y = add3(x.y, scale3(q[0] - (zw_scalar)joint->rest, axis));
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

/* S about the centre of mass: rotation about an axis through the anchor moves it with axis x (c -
 * anchor). */
PART void motions_of_joint(const tree_joint *joint, vec3 arm, zw_real *S)
{
    zw_real zero = lane_fill(0.0), one = lane_fill(1.0);
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

/* The world: at the origin, not rotated, at rest. */
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

/* Stores the pose of a body and the quantities that follow from it, and the positions of its
 * joints. */
PART void place_body(const tree_mechanism *tree, int i, pose x, zw_real *work)
{
    const tree_places *at = &tree->at;
    const tree_body *body = tree->body + i;
    mat3 R = quat_matrix(x.q);
    vec3 parent = load3(work + at->com + 3 * body->parent);
    vec3 own = turn_const(R, body->com_from_end), shift = add3(x.base, add3(x.y, own));
    vec3 com = add3(parent, shift);
    store_quat(work + at->quat + 4 * i, x.q);
    store_mat3(work + at->R + 9 * i, R);
    store3(work + at->origin + 3 * i, sub3(com, turn_const(R, body->com)));
    store3(work + at->com + 3 * i, com);
    store3(work + at->shift + 3 * i, shift);
    store_sym3(work + at->inertia + 6 * i, turn_inertia(R, body->inertia));
    for (int j = body->joint; j < body->joint_end; j++) {
        zw_real *S = work + at->S + 6 * tree->joint[j].v;
        vec3 y = load3(S + 3);
        store3(work + at->anchor + 3 * j, add3(parent, add3(x.base, y)));
        motions_of_joint(tree->joint + j, add3(sub3(x.y, y), own), S);
    }
}

/* Body i, after its parent; sines and cosines of half the angles have been computed. */
WHOLE_PART void carry_body(const tree_mechanism *tree, int i, const zw_real *q, zw_real *work)
{
    const tree_places *at = &tree->at;
    const tree_body *body = tree->body + i;
    pose x = given_pose(body, at, work);
    if (body->placed >= 0) {
        x.base = load3(q + body->placed);
        x.q = quat_unit(load_quat(q + body->placed + 3));
    }
    for (int j = body->joint; j < body->joint_end; j++) {
        const tree_joint *joint = tree->joint + j;
        x = move_by_joint(joint, x, q + joint->q, work[at->sine + joint->hinge],
                          work[at->cosine + joint->hinge], work + at->S + 6 * joint->v);
    }
    place_body(tree, i, x, work);
}

LANE_CLONES void LANE(tree_kinematics)(const tree_mechanism *tree, const zw_real *q, zw_real *work)
{
    place_world(&tree->at, work);
    half_angles(tree, q, work);
    for (int i = 1; i < tree->bodies; i++) {
        carry_body(tree, i, q, work);
    }
}

/* ---- Velocities ------------------------------------------------------------------------------ */

PART spatial turn3(const zw_real *S, const zw_real *v)
{
    return add6(add6(scale6(v[0], load6(S)), scale6(v[1], load6(S + 6))),
                scale6(v[2], load6(S + 12)));
}

/* The motion that a joint adds; for a free joint only the rotation. */
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

/* Body i, after its parent. */
WHOLE_PART void move_body(const tree_mechanism *tree, int i, const zw_real *v, zw_real *work)
{
    const tree_places *at = &tree->at;
    const tree_body *body = tree->body + i;
    spatial V = load6(work + at->V + 6 * body->parent), Z = zero6();
    vec3 arm = cross3(V.ang, load3(work + at->shift + 3 * i)), own = Z.lin;
    for (int j = body->joint; j < body->joint_end; j++) {
        const tree_joint *joint = tree->joint + j;
        own = add3(own, motion_of_joint(joint, work + at->S + 6 * joint->v, v + joint->v).lin);
        if (joint->kind == TREE_FREE) { /* translation along fixed axes: no contribution to Z */
            V.lin = load3(v + joint->v);
        }
    }

    /* relative to c_i, the carrier of the first joint moves with -own */
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

LANE_CLONES void LANE(tree_velocities)(const tree_mechanism *tree, const zw_real *v, zw_real *work)
{
    for (int i = 1; i < tree->bodies; i++) {
        move_body(tree, i, v, work);
    }
}

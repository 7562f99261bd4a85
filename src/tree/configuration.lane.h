/* Configurations: how speeds change them, and the difference of two of them. tree.h defines q.
 *
 *     exp(p) = (cos |p|/2,  p sin(|p|/2) / |p|)        p a rotation vector, along the body's axes
 *     log(w, e) = e 2 atan2(|e|, |w|) / |e|, negated if w < 0: the shorter rotation
 *
 * and, to avoid trigonometric functions, Cayley's map instead of exp, with x = p/2:
 *
 *     cay(p) = (1, x)/s,   s = sqrt(1 + x.x)
 *     its root, half the rotation: (s + 1, x)/sqrt(2 s (s + 1))
 *
 * log does not depend on the length of the quaternion. At |p| = 0 the quotients are replaced by
 * their limits, lane by lane. */

PART int dofs_of(tree_joint_kind kind)
{
    return kind == TREE_FREE ? 6 : kind == TREE_BALL ? 3 : 1;
}

PART quat quat_exp(vec3 p)
{
    zw_real zero = lane_fill(0.0), one = lane_fill(1.0), sine, cosine;
    zw_real angle = lane_sqrt(dot3(p, p));
    zw_mask turns = angle > zero;
    lane_sincos(0.5 * angle, &sine, &cosine);
    zw_real factor = lane_select(turns, sine, 0.5 * one) / lane_select(turns, angle, one);
    return (quat){cosine, factor * p.x, factor * p.y, factor * p.z};
}

PART vec3 quat_log(quat q)
{
    zw_real zero = lane_fill(0.0), one = lane_fill(1.0), angle;
    vec3 e = {q.x, q.y, q.z};
    zw_real length = lane_sqrt(dot3(e, e)), size = lane_abs(q.w);
    zw_mask turns = length > zero;
    lane_atan2(length, size, &angle);
    zw_real factor = lane_select(turns, 2.0 * angle, zero) / lane_select(turns, length, one);
    return scale3(lane_select(q.w < zero, -factor, factor), e);
}

PART quat quat_back(quat q)
{
    return (quat){q.w, -q.x, -q.y, -q.z};
}

PART void turn_by(const zw_real *q, vec3 p, zw_real *next)
{
    store_quat(next, quat_unit(quat_product(load_quat(q), quat_exp(p))));
}

WHOLE_PART void advance_joint(const tree_joint *joint, const zw_real *q, const zw_real *v,
                              zw_real step, zw_real *next)
{
    const zw_real *from = q + joint->q, *speed = v + joint->v;
    zw_real *to = next + joint->q;
    switch (joint->kind) {
    case TREE_FREE:
        store3(to, add3(load3(from), scale3(step, load3(speed))));
        turn_by(from + 3, scale3(step, load3(speed + 3)), to + 3);
        break;
    case TREE_BALL:
        turn_by(from, scale3(step, load3(speed)), to);
        break;
    default:
        to[0] = from[0] + step * speed[0];
        break;
    }
}

/* next = q (+) h v; next may be q. */
LANE_CLONES void LANE(tree_advance)(const tree_mechanism *tree, const zw_real *q, const zw_real *v,
                                    const zw_real *h, zw_real *next)
{
    zw_real step = *h;
    for (int j = 0; j < tree->joints; j++) {
        advance_joint(tree->joint + j, q, v, step, next);
    }
    for (int i = tree->moved; i < tree->nq; i++) {
        next[i] = q[i];
    }
}

PART void joint_difference(const tree_joint *joint, const zw_real *q, const zw_real *from,
                           zw_real *v)
{
    switch (joint->kind) {
    case TREE_FREE:
        store3(v, sub3(load3(q), load3(from)));
        store3(v + 3, quat_log(quat_product(quat_back(load_quat(from + 3)), load_quat(q + 3))));
        break;
    case TREE_BALL:
        store3(v, quat_log(quat_product(quat_back(load_quat(from)), load_quat(q))));
        break;
    default:
        v[0] = q[0] - from[0];
        break;
    }
}

/* The same from a configuration that all worlds share. */
PART void joint_difference_from(const tree_joint *joint, const zw_real *q, const double *from,
                                zw_real *v)
{
    zw_real same[7];
    for (int k = 0; k < (joint->kind == TREE_FREE ? 7 : joint->kind == TREE_BALL ? 4 : 1); k++) {
        same[k] = lane_fill(from[k]);
    }
    joint_difference(joint, q, same, v);
}

/* v = q (-) from: from (+) v = q, quaternions up to sign and length. */
LANE_CLONES void LANE(tree_difference)(const tree_mechanism *tree, const zw_real *q,
                                       const zw_real *from, zw_real *v)
{
    for (int j = 0; j < tree->joints; j++) {
        const tree_joint *joint = tree->joint + j;
        joint_difference(joint, q + joint->q, from + joint->q, v + joint->v);
    }
}

/* 1/2 q (0, omega): keeps the length of q, whatever it is. */
PART void turn_rate(const zw_real *q, const zw_real *omega, zw_real *rate)
{
    zw_real half = lane_fill(0.5);
    quat spin = {lane_fill(0.0), half * omega[0], half * omega[1], half * omega[2]};
    store_quat(rate, quat_product(load_quat(q), spin));
}

/* rate = N(q) v */
LANE_CLONES void LANE(tree_rates)(const tree_mechanism *tree, const zw_real *q, const zw_real *v,
                                  zw_real *rate)
{
    for (int j = 0; j < tree->joints; j++) {
        const tree_joint *joint = tree->joint + j;
        const zw_real *x = q + joint->q, *speed = v + joint->v;
        zw_real *to = rate + joint->q;
        switch (joint->kind) {
        case TREE_FREE:
            store3(to, load3(speed));
            turn_rate(x + 3, speed + 3, to + 3);
            break;
        case TREE_BALL:
            turn_rate(x, speed, to);
            break;
        default:
            to[0] = speed[0];
            break;
        }
    }
    for (int i = tree->moved; i < tree->nq; i++) {
        rate[i] = lane_fill(0.0);
    }
}

/* q (c - 1) for c = cay(p) and for its root: small where p is small, and without cancellation, as
 * 1/s - 1 = -x.x/(s (1 + s)), and for the root (s + 1)/r - 1 = -x.x/(2 s (1 + s) (1 + (s + 1)/r)).
 */
PART void turn_halfway(const zw_real *q, vec3 p, zw_real *change, zw_real *half)
{
    zw_real one = lane_fill(1.0);
    vec3 x = scale3(0.5 * one, p);
    zw_real square = dot3(x, x), s = lane_sqrt(one + square), s1 = s + one;
    zw_real r = lane_sqrt(2.0 * s * s1), w = s1 / r;
    vec3 whole = scale3(one / s, x), part = scale3(one / r, x);
    quat c = {-square / (s * s1), whole.x, whole.y, whole.z};
    quat root = {-square / (2.0 * s * s1 * (one + w)), part.x, part.y, part.z};
    store_quat(change, quat_product(load_quat(q), c));
    store_quat(half, quat_product(load_quat(q), root));
}

LANE_CLONES void LANE(tree_halfway)(const tree_mechanism *tree, const zw_real *q, const zw_real *v,
                                    const zw_real *h, zw_real *change, zw_real *half)
{
    zw_real step = *h;
    for (int j = 0; j < tree->joints; j++) {
        const tree_joint *joint = tree->joint + j;
        const zw_real *speed = v + joint->v;
        int first = joint->q, shifts = joint->kind == TREE_FREE   ? 3
                                       : joint->kind == TREE_BALL ? 0
                                                                  : 1;
        for (int k = 0; k < shifts; k++) {
            change[first + k] = step * speed[k];
            half[first + k] = 0.5 * change[first + k];
        }
        if (joint->kind == TREE_FREE || joint->kind == TREE_BALL) {
            first += shifts;
            turn_halfway(q + first, scale3(step, load3(speed + shifts)), change + first,
                         half + first);
        }
    }
    for (int i = tree->moved; i < tree->nq; i++) {
        change[i] = half[i] = lane_fill(0.0);
    }
}

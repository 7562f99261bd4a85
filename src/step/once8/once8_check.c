/* Worlds for which impulse_step does more than solve for u: they step alone. */
#include <math.h>

#include "math/lanes.h"
#include "step/once8/once8.h"
#include "tree/sweeps.h"

#define HAIR                                                                                       \
    1e-9 /* relative difference that other orders of summation may cause between two numbers that  \
            are compared */
#define GAIN 0.01 /* as in impulse_work.c */

ZW_INLINE zw_real8 dot8(const zw_real8 *a, const zw_real8 *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

ZW_INLINE zw_real8 length8(const zw_real8 *a)
{
    return lane_sqrt8(dot8(a, a));
}

ZW_INLINE zw_real8 least8(zw_real8 a, zw_real8 b)
{
    return lane_select8(a < b, a, b);
}

ZW_INLINE int any8(zw_mask8 mask)
{
    long long all = 0;
    for (int k = 0; k < LANES; k++) {
        all |= mask[k];
    }
    return all != 0;
}

/* Overlaps, and points that may be dropped because what moves them is round-off (find_unmoved of
 * impulse_part.c, whose 1e-12 of the size of the mechanism is far below what counts as touching).
 */
ZW_CLONES void once8_check_start(once8 *s)
{
    zw_mask8 good = s->of->good;
    zw_real8 touching;
    once8_touching(s, &touching);
    for (int i = 0; i < s->it.blocks; i++) {
        const augment_block8 *k = &s->it.block[i];
        if (s->about[i].constraint >= 0) {
            continue;
        }
        zw_real8 gap = s->about[i].gap, most = {0};
        if (!any8(k->on & (gap < 0.0))) {
            continue;
        }
        for (int c = 0; c < k->columns; c++) {
            zw_real8 lever = lane_size8(k->J[c]);
            most = lane_select8(lever > most, lever, most);
        }
        good &= ~(k->on & (gap < -s->deepest));
        good &= ~(k->on & (gap < 0.0) & (most < touching));
    }
    s->of->good = good;
}

/* v' H v/2 */
ZW_INLINE zw_real8 kinetic(const once8 *s, const zw_real8 *v)
{
    const paths_shape *shape = s->it.straight;
    zw_real8 sum = {0};
    for (int d = 0; d < s->it.n; d++) {
        const zw_real8 *row = s->H + shape->start[d];
        zw_real8 part = 0.5 * row[shape->depth[d] - 1] * v[d];
        for (int k = shape->depth[d] - 2, a = shape->parent[d]; k >= 0; k--, a = shape->parent[a]) {
            part += row[k] * v[a];
        }
        sum += part * v[d];
    }
    return sum;
}

ZW_CLONES static void compare_kinetic(const once8 *s, zw_mask8 *more)
{
    *more = ~(kinetic(s, s->u) <= (1 + GAIN) * (1 - HAIR) * kinetic(s, s->v0));
}

/* The potential of springs along lengths. */
ZW_INLINE zw_real8 potential(const once8 *s, const zw_real8 *q)
{
    const struct system_bodies *bodies = s->of->system->bodies;
    zw_real8 sum = {0};
    for (int i = 0; i < bodies->length_count; i++) {
        const bodies_length *length = &bodies->length[i];
        if (length->stiffness != 0) {
            zw_real8 now = bodies->coef[length->first] * q[bodies->term[length->first].q];
            zw_real8 over =
                lane_select8(now > length->rest[1], now - length->rest[1], (zw_real8){0});
            over = lane_select8(now < length->rest[0], now - length->rest[0], over);
            sum += 0.5 * length->stiffness * over * over;
        }
    }
    return sum;
}

ZW_CLONES static void compare_energies(const once8 *s, const zw_real8 *before,
                                       const zw_real8 *after, const zw_real8 *gained,
                                       zw_mask8 *more)
{
    const tree_mechanism *tree = s->of->system->tree;
    double fall = 0;
    for (int i = 1; i < tree->bodies; i++) {
        const double *lift = tree->body[i].lift;
        double square = lift[0] * lift[0] + lift[1] * lift[1] + lift[2] * lift[2];
        fall += 0.5 * s->h * s->h * square / fmax(tree->body[i].mass, 1e-300);
    }
    zw_real8 least = GAIN * (before[0] + after[0]), floor = (zw_real8){0} + 1e-6 * fall;
    zw_real8 springs = potential(s, s->q1) - potential(s, s->of->q);
    zw_real8 size = before[0] + lane_size8(before[1]) + lane_size8(springs);
    least = lane_select8(least > floor, least, floor);
    zw_real8 risen = after[0] + after[1] - before[0] - before[1];
    least = (1 - HAIR) * least - 1e-3 * HAIR * size;
    *more = ~(after[0] <= (1 - HAIR) * before[0]) & ~(risen <= least);
    risen += springs;
    *more &= ~(s->of->system->works ? risen - *gained <= least : risen <= least);
}

/* impulse_gains */
static void check_energy(once8 *s, const zw_real8 *gained)
{
    const tree_mechanism *tree = s->of->system->tree;
    zw_mask8 more, still;
    zw_real8 after[2];
    compare_kinetic(s, &more);
    more &= s->of->good;
    if (any8(more)) {
        once8_see_end(s);
        tree_velocities8(tree, s->u, s->end);
        tree_energies8(tree, s->q1, s->u, s->end, after);
        compare_energies(s, s->before, after, gained, &still);
        s->of->good &= ~(more & still);
    }
}

/* bound_body of contact_path.c, with the velocities at q0, at the speeds u. */
ZW_INLINE void bound_body(const once8 *s, int i)
{
    const tree_mechanism *tree = s->of->system->tree;
    const tree_body *body = &tree->body[i];
    const zw_real8 *V = s->of->sweeps + tree->at.V + 6 * i;
    int p = body->parent;
    zw_real8 W = s->turn[p], E = s->twist[p], slide = {0},
             length = (zw_real8){0} + s->path.length[i];
    for (int j = body->joint; j < body->joint_end; j++) {
        const tree_joint *joint = &tree->joint[j];
        const zw_real8 *u = s->u + joint->v, *q = s->of->q + joint->q;
        zw_real8 rate = joint->kind == TREE_FREE   ? length8(u + 3)
                        : joint->kind == TREE_BALL ? length8(u)
                                                   : lane_size8(u[0]);
        if (joint->kind == TREE_SLIDE) {
            slide += rate;
            length += lane_size8(q[0] - joint->rest) + s->h * rate;
        } else {
            E += W * rate;
            W += rate;
        }
    }
    W = least8(W, length8(V) + E * s->h);
    s->turn[i] = W;
    s->twist[i] = E;
    if (body->is_free) {
        s->speed[i] = length8(s->u + body->dof) + W * length;
        s->bend[i] = W * W * length;
    } else {
        s->speed[i] = s->speed[p] + W * length + slide;
        s->bend[i] = s->bend[p] + (E + W * W) * length + 2.0 * W * slide;
    }
    s->speed[i] = least8(s->speed[i], length8(V + 3) + s->bend[i] * s->h);
}

/* contact_path_reach of a moving geom, and its bound. */
ZW_INLINE zw_real8 way_of(const once8 *s, int g)
{
    const contact_geom *geom = &s->of->system->bodies->contact->geom[g];
    const tree_places *at = &s->of->system->tree->at;
    const tree_body *body = &s->of->system->tree->body[geom->body];
    const zw_real8 *V = s->of->sweeps + at->V + 6 * geom->body, *pos = s->of->pose[g].pos;
    const zw_real8 *com = s->of->sweeps + at->com + 3 * geom->body;
    double h = s->h, out = s->path.out[g];
    double r = geom->shape.kind == COLLIDE_SPHERE    ? 0
               : geom->shape.kind == COLLIDE_CAPSULE ? geom->shape.size[1]
                                                     : geom->radius;
    zw_real8 W = s->turn[geom->body], E = s->twist[geom->body], speed, bend;
    if (body->is_free) {
        speed = length8(s->u + body->dof) + W * out;
        bend = W * W * out;
    } else {
        speed = s->speed[geom->body] + W * out;
        bend = s->bend[geom->body] + (E + W * W) * out;
    }
    s->rush[g] = speed + W * r;
    s->bow[g] = bend + (E + W * W) * r;
    zw_real8 a[3] = {pos[0] - com[0], pos[1] - com[1], pos[2] - com[2]};
    zw_real8 v[3] = {V[1] * a[2] - V[2] * a[1] + V[3], V[2] * a[0] - V[0] * a[2] + V[4],
                     V[0] * a[1] - V[1] * a[0] + V[5]};
    zw_real8 turn = r * least8(h * length8(V) + 0.5 * h * h * E, h * W);
    return least8(h * length8(v) + 0.5 * h * h * bend, h * speed) + turn;
}

/* impulse_free_part: nothing moves farther than its thickness. */
ZW_CLONES static void find_slow(once8 *s, zw_mask8 *slow)
{
    const contact_world *world = s->of->system->bodies->contact;
    *slow = s->of->good;
    s->turn[0] = s->twist[0] = s->speed[0] = s->bend[0] = (zw_real8){0};
    for (int i = 1; i < s->of->system->tree->bodies; i++) {
        bound_body(s, i);
    }
    for (int k = 0; k < world->moving_count; k++) {
        int g = world->moving[k];
        s->ways[g] = (1 + 1e-3) * way_of(s, g);
        *slow &= s->ways[g] <= world->geom[g].thick;
    }
}

void once8_check_end(once8 *s, const zw_real8 *gained)
{
    zw_mask8 slow;
    s->ended = 0;
    check_energy(s, gained);
    if (s->of->match_count > 0) {
        if (!s->moved) {
            tree_velocities8(s->of->system->tree, s->u, s->of->sweeps);
        }
        find_slow(s, &slow);
        once8_check_ways(s, &slow);
    }
}

/* The sweeps of tree/sweep_list.lane.h by a crew, with the same bits: bodies at equal depth are
 * processed at the same time. Where siblings add to their parent, one thread adds them all, in the
 * order of the sequential sweep: the last first. */
#include "device/world.h"
#include "math/elementary.h"
#include "tree/sweeps.h"

#define zw_real double
#define zw_mask int
#define LANE(name) one_##name
#define LANE_CLONES static __attribute__((unused))
#define lane_fill(c) (c)
#define lane_select lane_select1
#define lane_any(mask) (mask)
#define lane_sqrt sqrt
#define lane_abs fabs
#define lane_not_above(x, y) (!((x) > (y)))
#define lane_sincos math_sincos
#define lane_sincos_many(count, angle, sine, cosine) ((void)0)
#define lane_atan2(y, x, angle) (*(angle) = math_atan2(y, x))
#include "math/spatial.lane.h"

#include "tree/configuration.lane.h"
#include "tree/kinematics.lane.h"

#include "tree/newton.lane.h"

#include "tree/composite.lane.h"

#define EACH_OF_LEVEL(s, level, i)                                                                 \
    CREW_FOR (i##_at, (s)->levels->start[(level) + 1] - (s)->levels->start[level])                 \
        for (int i = (s)->levels->body[(s)->levels->start[level] + i##_at], i##_once = 1;          \
             i##_once; i##_once = 0)

static double *numbers(zw_real8 *x)
{
    return (double *)(void *)x;
}

static const double *numbers_of(const zw_real8 *x)
{
    return (const double *)(const void *)x;
}

/* ---- Places and motion ----------------------------------------------------------------------- */

void crew_kinematics(soft8 *s)
{
    const tree_mechanism *tree = s->system->tree;
    const tree_places *at = &tree->at;
    double *work = numbers(s->sweeps);
    const double *q = numbers_of(s->q);
    CREW_ONE () {
        place_world(at, work);
    }
    CREW_FOR (k, tree->hinges) {
        const tree_joint *joint = tree->joint + tree->hinge[k];
        math_sincos(0.5 * (q[joint->q] - joint->rest), work + at->sine + k, work + at->cosine + k);
    }
    CREW_MEET();
    for (int level = 0; level < s->levels->count; level++) {
        EACH_OF_LEVEL (s, level, i) {
            carry_body(tree, i, q, work);
        }
        CREW_MEET();
    }
}

void crew_velocities(soft8 *s)
{
    for (int level = 0; level < s->levels->count; level++) {
        EACH_OF_LEVEL (s, level, i) {
            move_body(s->system->tree, i, numbers_of(s->v), numbers(s->sweeps));
        }
        CREW_MEET();
    }
}

void crew_advance(soft8 *s, const zw_real8 *h)
{
    const tree_mechanism *tree = s->system->tree;
    CREW_FOR (j, tree->joints) { /* bodies on placed joints do not move */
        advance_joint(tree->joint + j, numbers_of(s->q), numbers_of(s->v), (*h)[0], numbers(s->q));
    }
    CREW_MEET();
}

void crew_passive(soft8 *s, const zw_real8 *v, zw_real8 *tau)
{
    const tree_mechanism *tree = s->system->tree;
    CREW_FOR (j, tree->joints) { /* as tree_passive, a joint at a time */
        const tree_joint *joint = tree->joint + j;
        double bent[6], *force = numbers(tau) + joint->v;
        for (int k = 0; k < dofs_of(joint->kind); k++) {
            force[k] = -tree->damping[joint->v + k] * numbers_of(v)[joint->v + k];
        }
        if (joint->stiffness != 0.0) {
            joint_difference_from(joint, numbers_of(s->q) + joint->q, tree->q_spring + joint->q,
                                  bent);
            for (int k = 0; k < dofs_of(joint->kind); k++) {
                force[k] -= joint->stiffness * bent[k];
            }
        }
    }
    CREW_MEET();
}

/* ---- Forces ---------------------------------------------------------------------------------- */

/* As `collect` of newton.lane.h, except for the part that goes to the parent. */
static void collect_body(const tree_mechanism *tree, int i, double *work, double *tau)
{
    const tree_places *at = &tree->at;
    const tree_body *body = tree->body + i;
    sym3 J = load_sym3(work + at->inertia + 6 * i);
    spatial F = inertia_times(body, J, load6(work + at->A + 6 * i));
    F = add6(F, bias_of_body(body, J, load3(work + at->V + 6 * i)));
    if (body->last_child != 0) {
        F = add6(F, load6(work + at->F + 6 * i));
    }
    store6(work + at->F + 6 * i, F);
    for (int d = body->dof; d < body->dof_end; d++) {
        tau[d] = dot6(F, load6(work + at->S + 6 * d));
    }
}

void crew_inverse(soft8 *s, zw_real8 *tau)
{
    const tree_mechanism *tree = s->system->tree;
    const tree_places *at = &tree->at;
    double *work = numbers(s->sweeps);
    for (int level = 0; level < s->levels->count; level++) {
        EACH_OF_LEVEL (s, level, i) {
            accelerate(tree, i, i + 1, NULL, 1, work);
        }
        CREW_MEET();
    }
    for (int level = s->levels->count - 1; level >= 0; level--) {
        EACH_OF_LEVEL (s, level, i) {
            for (int c = tree->body[i].last_child; c > 0; c = s->levels->sibling[c]) {
                add_to_parent(tree->body + c, at, c, load6(work + at->F + 6 * c), work);
            }
            collect_body(tree, i, work, numbers(tau));
        }
        CREW_MEET();
    }
}

/* ---- The mass matrix ------------------------------------------------------------------------- */

/* First moment and inertia of body i and everything it carries. */
static void composite_of(const tree_mechanism *tree, int i, const double *work, vec3 *h, sym3 *J)
{
    const double *children = work + tree->at.composite + 9 * i;
    *h = zero6().lin;
    *J = load_sym3(work + tree->at.inertia + 6 * i);
    if (tree->body[i].last_child != 0) {
        *h = load3(children);
        *J = add_sym3(*J, load_sym3(children + 3));
    }
}

void crew_composite(soft8 *s)
{
    const tree_mechanism *tree = s->system->tree;
    double *work = numbers(s->sweeps);
    vec3 h;
    sym3 J;
    for (int level = s->levels->count - 2; level >= 0; level--) {
        EACH_OF_LEVEL (s, level, i) {
            for (int c = tree->body[i].last_child; c > 0; c = s->levels->sibling[c]) {
                composite_of(tree, c, work, &h, &J);
                add_composite(tree->body + c, &tree->at, c, h, J, work);
            }
        }
        CREW_MEET();
    }
    CREW_FOR (d, tree->nv) {
        int i = tree->dof_body[d];
        composite_of(tree, i, work, &h, &J);
        spatial F =
            composite_times(tree->body[i].subtree_mass, h, J, load6(work + tree->at.S + 6 * d));
        composite_row(tree, i, d, F, work);
    }
    CREW_MEET();
}

/* y[k] gets its own row first, then the contributions of later rows in their order. */
void crew_multiply(const soft8 *s, const zw_real8 *x_of, zw_real8 *y_of)
{
    const tree_mechanism *tree = s->system->tree;
    const double *M = numbers_of(s->sweeps) + tree->at.M, *x = numbers_of(x_of);
    CREW_FOR (k, tree->nv) {
        const double *row = M + tree->start[k];
        const int *column = tree->column + tree->start[k];
        int last = tree->start[k + 1] - tree->start[k] - 1;
        double sum = row[last] * x[k];
        for (int t = 0; t < last; t++) {
            sum += row[t] * x[column[t]];
        }
        for (int d = k + 1; d < tree->nv; d++) {
            int place = tree->start[d] + last;
            if (tree->depth[d] > last + 1 && tree->column[place] == k) {
                sum += M[place] * x[d];
            }
        }
        numbers(y_of)[k] = sum;
    }
    CREW_MEET();
}

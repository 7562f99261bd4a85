#include "tree/group.h"

#include <string.h>

#include "base/memory.h"
#include "math/lanes.h"
#include "tree/sweeps.h"

enum { KINDS = 8, LEAST = 4 }; /* LEAST: trees with fewer bodies are not worth grouping */

/* The first indices of one tree. */
typedef struct group_member {
    int body, joint, q, v, entry;
} group_member;

/* Equal trees; the first represents all. */
typedef struct group_kind {
    int first, end; /* bodies of the first */
    int count, batches;
    group_member *member; /* [count] */
    tree_mechanism *tree;
    zw_real8 **work; /* [batches] */
} group_kind;

struct tree_group {
    const tree_mechanism *whole;
    int kinds;
    group_kind kind[KINDS];
    zw_real8 *q, *v, *x; /* large enough for every kind */
    double *bias;        /* [nv] */
};

/* ---- Which are equal ------------------------------------------------------------------------- */

static int same(const void *a, const void *b, size_t bytes)
{
    return memcmp(a, b, bytes) == 0;
}

/* Compares all that the sweeps read of a joint. The rest pose of a free joint only affects its
 * spring. */
static int same_joint(const tree_mechanism *tree, const tree_joint *a, const tree_joint *b)
{
    int coordinates = a->kind == TREE_FREE ? 7 : a->kind == TREE_BALL ? 4 : 1;
    int dofs = a->kind == TREE_FREE ? 6 : a->kind == TREE_BALL ? 3 : 1;
    size_t bytes = (size_t)dofs * sizeof(double);
    return a->kind == b->kind && a->is_stepped == b->is_stepped && a->along == b->along &&
           a->sign == b->sign && same(a->axis, b->axis, sizeof a->axis) &&
           same(a->anchor, b->anchor, sizeof a->anchor) && a->rest == b->rest &&
           same(a->step, b->step, sizeof a->step) && a->stiffness == b->stiffness &&
           (a->stiffness == 0.0 || same(tree->q_spring + a->q, tree->q_spring + b->q,
                                        (size_t)coordinates * sizeof(double))) &&
           same(tree->armature + a->v, tree->armature + b->v, bytes) &&
           same(tree->damping + a->v, tree->damping + b->v, bytes);
}

/* Compares bodies whose numbers are `step` apart. The initial position of a free body does not
 * matter. */
static int same_body(const tree_mechanism *tree, const tree_body *a, const tree_body *b, int step)
{
    if ((a->parent == 0) != (b->parent == 0) || (a->parent > 0 && b->parent != a->parent + step) ||
        a->joint_end - a->joint != b->joint_end - b->joint || a->mass != b->mass ||
        !same(a->com, b->com, sizeof a->com) || !same(a->inertia, b->inertia, sizeof a->inertia) ||
        !same(a->end, b->end, sizeof a->end)) {
        return 0;
    }
    if (!a->is_free && (a->is_turned != b->is_turned || !same(a->quat, b->quat, sizeof a->quat) ||
                        !same(a->start, b->start, sizeof a->start))) {
        return 0;
    }
    for (int k = 0; k < a->joint_end - a->joint; k++) {
        if (!same_joint(tree, tree->joint + a->joint + k, tree->joint + b->joint + k)) {
            return 0;
        }
    }
    return 1;
}

/* Is the tree of bodies first..end-1 of that kind? */
static int is_of(const tree_mechanism *tree, const group_kind *kind, int first, int end)
{
    int good = end - first == kind->end - kind->first;
    for (int i = first; i < end && good; i++) {
        int step = first - kind->first;
        good = same_body(tree, tree->body + i - step, tree->body + i, step);
    }
    return good;
}

/* The body after the tree that begins at `first`; 0: its bodies are not contiguous. */
static int end_of_tree(const tree_mechanism *tree, int first)
{
    int i = first + 1;
    for (; i < tree->bodies && tree->body[i].parent != 0; i++) {
        if (tree->body[i].parent < first) {
            return 0;
        }
    }
    return i;
}

static int kind_of(tree_group *group, int first, int end)
{
    int k = 0;
    while (k < group->kinds && !is_of(group->whole, &group->kind[k], first, end)) {
        k++;
    }
    if (k == group->kinds && k < KINDS) {
        group->kind[group->kinds++] = (group_kind){.first = first, .end = end};
    }
    return k;
}

/* Counts the trees of each kind. 0: there is no group. */
static int count_members(tree_group *group)
{
    const tree_mechanism *tree = group->whole;
    int passes = 0, trees = 0;
    for (int i = 1; i < tree->bodies; i++) {
        trees += tree->body[i].parent == 0;
    }
    if (tree->bodies <= LEAST * trees || tree->moved < tree->nq) {
        return 0;
    }
    for (int i = 1, end; i < tree->bodies; i = end) {
        end = end_of_tree(tree, i);
        int k = end > 0 ? kind_of(group, i, end) : KINDS;
        if (k == KINDS) {
            return 0;
        }
        group->kind[k].count++;
    }
    for (int k = 0; k < group->kinds; k++) { /* eight at a time cost about as much as two */
        group_kind *kind = &group->kind[k];
        kind->batches = (kind->count + LANES - 1) / LANES;
        passes += 2 * kind->batches * (kind->end - kind->first);
    }
    return passes < tree->bodies;
}

/* ---- Creating and freeing -------------------------------------------------------------------- */

static int make_kind(group_kind *kind, const tree_mechanism *whole)
{
    unsigned char *keep = base_alloc((size_t)whole->bodies);
    int *to = base_alloc((size_t)whole->bodies * sizeof *to), good = keep && to;
    kind->member = base_alloc((size_t)kind->count * sizeof *kind->member);
    kind->work = base_alloc((size_t)kind->batches * sizeof(zw_real8 *));
    if (good) {
        memset(keep + kind->first, 1, (size_t)(kind->end - kind->first));
        kind->tree = tree_part(whole, keep, to, NULL);
    }
    good = good && kind->member && kind->work && kind->tree;
    for (int b = 0; good && b < kind->batches; b++) {
        kind->work[b] = tree_work_create(kind->tree, LANES);
        good = kind->work[b] != NULL;
    }
    base_free(keep);
    base_free(to);
    kind->count = 0; /* the members are added next */
    return good;
}

static int make(tree_group *group)
{
    const tree_mechanism *whole = group->whole;
    int most = 1;
    for (int k = 0; k < group->kinds; k++) {
        if (!make_kind(&group->kind[k], whole)) {
            return 0;
        }
        most = group->kind[k].tree->nq > most ? group->kind[k].tree->nq : most;
    }
    for (int i = 1; i < whole->bodies; i = end_of_tree(whole, i)) {
        const tree_body *body = whole->body + i;
        int joint = body->joint, none = joint >= whole->joints;
        group_kind *kind = &group->kind[kind_of(group, i, end_of_tree(whole, i))];
        kind->member[kind->count++] = (group_member){.body = i,
                                                     .joint = joint,
                                                     .q = none ? whole->nq : whole->joint[joint].q,
                                                     .v = body->dof,
                                                     .entry = whole->start[body->dof]};
    }
    group->q = base_alloc((size_t)most * sizeof *group->q);
    group->v = base_alloc((size_t)most * sizeof *group->v);
    group->x = base_alloc((size_t)most * sizeof *group->x);
    group->bias = base_alloc(((size_t)whole->nv + 1) * sizeof *group->bias);
    return group->q && group->v && group->x && group->bias;
}

tree_group *tree_group_create(const tree_mechanism *tree, int *failed)
{
    tree_group *group = tree->without_matrix ? NULL : base_alloc(sizeof *group);
    *failed = !tree->without_matrix && !group;
    if (!group) {
        return NULL;
    }
    group->whole = tree;
    if (!count_members(group)) {
        base_free(group);
        return NULL;
    }
    if (!make(group)) {
        *failed = 1;
        tree_group_free(group);
        return NULL;
    }
    return group;
}

void tree_group_free(tree_group *group)
{
    if (!group) {
        return;
    }
    for (int k = 0; k < group->kinds; k++) {
        group_kind *kind = &group->kind[k];
        for (int b = 0; kind->work && b < kind->batches; b++) {
            base_free(kind->work[b]);
        }
        base_free(kind->work);
        base_free(kind->member);
        tree_free(kind->tree);
    }
    base_free(group->q);
    base_free(group->v);
    base_free(group->x);
    base_free(group->bias);
    base_free(group);
}

/* ---- To lanes and back ----------------------------------------------------------------------- */

/* One batch: eight members of a kind; if there are fewer, the last is repeated. */
typedef struct batch {
    const tree_mechanism *tree;
    const group_member *member[LANES];
    int lanes;
    zw_real8 *work;
} batch;

static batch batch_of(const group_kind *kind, int b)
{
    int left = kind->count - b * LANES;
    batch it = {.tree = kind->tree, .lanes = left < LANES ? left : LANES, .work = kind->work[b]};
    for (int l = 0; l < LANES; l++) {
        it.member[l] = &kind->member[b * LANES + (l < it.lanes ? l : it.lanes - 1)];
    }
    return it;
}

static void gather_speeds(const batch *it, const double *v, zw_real8 *to)
{
    const double *from[LANES];
    for (int l = 0; l < LANES; l++) {
        from[l] = v + it->member[l]->v;
    }
    math_to_lanes(it->tree->nv, from, to);
}

static void scatter_speeds(const batch *it, const zw_real8 *from, double *v)
{
    double *to[LANES];
    for (int l = 0; l < LANES; l++) {
        to[l] = v + it->member[l]->v;
    }
    math_from_lanes(it->tree->nv, from, it->lanes, to);
}

/* An array with `size` numbers per body, without the world. */
static void scatter_bodies(const batch *it, int size, int from, int at, double *work)
{
    double *to[LANES];
    for (int l = 0; l < LANES; l++) {
        to[l] = work + at + size * it->member[l]->body;
    }
    math_from_lanes(size * (it->tree->bodies - 1), it->work + from + size, it->lanes, to);
    for (int k = 0; k < size; k++) {
        work[at + k] = ((const double *)(it->work + from + k))[0];
    }
}

static void scatter_all(const batch *it, const tree_places *at, double *work)
{
    const tree_places *own = &it->tree->at;
    const int list[][3] = {{4, own->quat, at->quat},     {9, own->R, at->R},
                           {3, own->origin, at->origin}, {3, own->com, at->com},
                           {3, own->shift, at->shift},   {6, own->inertia, at->inertia},
                           {6, own->V, at->V},           {6, own->Z, at->Z}};
    double *to[LANES];
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        scatter_bodies(it, list[k][0], list[k][1], list[k][2], work);
    }
    memset(work + at->A, 0, 6 * sizeof *work); /* of the world */
    for (int l = 0; l < LANES; l++) {
        to[l] = work + at->anchor + 3 * it->member[l]->joint;
    }
    math_from_lanes(3 * it->tree->joints, it->work + own->anchor, it->lanes, to);
    for (int l = 0; l < LANES; l++) {
        to[l] = work + at->S + 6 * it->member[l]->v;
    }
    math_from_lanes(6 * it->tree->nv, it->work + own->S, it->lanes, to);
    for (int l = 0; l < LANES; l++) {
        to[l] = work + at->M + it->member[l]->entry;
    }
    math_from_lanes(it->tree->entries, it->work + own->M, it->lanes, to);
}

/* ---- Sweeps ---------------------------------------------------------------------------------- */

static void smooth(tree_group *group, const batch *it, const double *q, const double *v,
                   double *work)
{
    const double *from[LANES];
    for (int l = 0; l < LANES; l++) {
        from[l] = q + it->member[l]->q;
    }
    math_to_lanes(it->tree->nq, from, group->q);
    gather_speeds(it, v, group->v);
    tree_kinematics8(it->tree, group->q, it->work);
    tree_velocities8(it->tree, group->v, it->work);
    tree_composite8(it->tree, it->work);
    tree_inverse8(it->tree, NULL, NULL, it->work, group->x);
    scatter_all(it, &group->whole->at, work);
    scatter_speeds(it, group->x, group->bias);
}

const double *tree_group_smooth(tree_group *group, const double *q, const double *v, double *work)
{
    for (int k = 0; k < group->kinds; k++) {
        for (int b = 0; b < group->kind[k].batches; b++) {
            batch it = batch_of(&group->kind[k], b);
            smooth(group, &it, q, v, work);
        }
    }
    return group->bias;
}

int tree_group_solve(tree_group *group, const double *diagonal, double *x)
{
    int good = 1;
    for (int k = 0; k < group->kinds; k++) {
        for (int b = 0; b < group->kind[k].batches; b++) {
            batch it = batch_of(&group->kind[k], b);
            zw_mask8 bad;
            gather_speeds(&it, diagonal, group->v);
            gather_speeds(&it, x, group->x);
            tree_factor8(it.tree, group->v, it.work, &bad);
            tree_solve8(it.tree, it.work, group->x);
            scatter_speeds(&it, group->x, x);
            for (int l = 0; l < LANES; l++) {
                good &= bad[l] == 0;
            }
        }
    }
    return good;
}

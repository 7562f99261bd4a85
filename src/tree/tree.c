/* From a definition to a mechanism: checks, tables of the topology, layout of the work.
 *
 * One function lays the arrays out and is run twice, to count and to assign (base/memory.h). */
#include "tree/tree.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* ---- Defaults -------------------------------------------------------------------------------- */

tree_joint_def tree_joint_default(tree_joint_kind kind)
{
    return (tree_joint_def){.kind = kind, .axis = {0.0, 0.0, 1.0}};
}

tree_body_def tree_body_default(int parent)
{
    return (tree_body_def){.parent = parent, .quat = {1.0, 0.0, 0.0, 0.0}};
}

static int coordinates_of(tree_joint_kind kind)
{
    return kind == TREE_FREE ? 7 : kind == TREE_BALL ? 4 : 1;
}

static int dofs_of(tree_joint_kind kind)
{
    return kind == TREE_FREE ? 6 : kind == TREE_BALL ? 3 : 1;
}

/* ---- Checks ---------------------------------------------------------------------------------- */

static int are_finite(const double *x, int count)
{
    int all = 1;
    for (int i = 0; i < count; i++) {
        all = all && isfinite(x[i]);
    }
    return all;
}

static double length_of(const double *x, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++) {
        sum += x[i] * x[i];
    }
    return sqrt(sum);
}

/* Positive semidefinite up to rounding: no principal minor is negative. */
static int is_inertia(const double *I)
{
    double xx = I[0], yy = I[1], zz = I[2], xy = I[3], xz = I[4], yz = I[5];
    double size = fmax(fmax(fabs(xx), fabs(yy)), fabs(zz)), little = 1e-12 * size;
    double z = xx * yy - xy * xy, y = xx * zz - xz * xz, x = yy * zz - yz * yz;
    double all = xx * x - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz);
    return xx >= 0.0 && yy >= 0.0 && zz >= 0.0 && fmin(fmin(x, y), z) >= -little * size &&
           all >= -little * size * size;
}

static zw_status check_joint(const tree_def *def, int i, int j, zw_error *error)
{
    const tree_joint_def *joint = def->joint + j;
    int along = joint->kind == TREE_HINGE || joint->kind == TREE_SLIDE;
    double length = length_of(joint->axis, 3);
    if (joint->kind < TREE_FREE || joint->kind > TREE_SLIDE) {
        return base_fail(error, ZW_BAD_INPUT, "joint %d of body %d has no kind", j, i);
    }
    if (joint->kind == TREE_FREE && (def->body[i].parent != 0 || def->body[i].joint_count != 1)) {
        return base_fail(error, ZW_BAD_INPUT,
                         "joint %d of body %d is free: it must be the only joint of its body, and "
                         "the body a child of the world",
                         j, i);
    }
    if (along && !(isfinite(length) && length > 0.0)) {
        return base_fail(error, ZW_BAD_INPUT, "joint %d of body %d has no axis", j, i);
    }
    const double number[] = {joint->rest,   joint->armature,  joint->damping,
                             joint->spring, joint->stiffness, joint->friction};
    if (!are_finite(joint->anchor, 3) || !are_finite(number, 6)) {
        return base_fail(error, ZW_BAD_INPUT, "joint %d of body %d has a number that is not finite",
                         j, i);
    }
    if (joint->armature < 0.0) {
        return base_fail(error, ZW_BAD_INPUT, "joint %d of body %d has a negative armature", j, i);
    }
    return ZW_OK;
}

static zw_status check_body(const tree_def *def, int i, zw_error *error)
{
    const tree_body_def *body = def->body + i;
    double length = length_of(body->quat, 4);
    if (body->parent < 0 || body->parent >= i) {
        return base_fail(error, ZW_BAD_INPUT,
                         "body %d has parent %d, which does not come before it", i, body->parent);
    }
    if (!(isfinite(length) && length > 0.0)) {
        return base_fail(error, ZW_BAD_INPUT, "body %d has no orientation: its quaternion is zero",
                         i);
    }
    if (!are_finite(body->pos, 3) || !are_finite(body->com, 3) || !are_finite(body->inertia, 6) ||
        !isfinite(body->mass)) {
        return base_fail(error, ZW_BAD_INPUT, "body %d has a number that is not finite", i);
    }
    if (body->is_placed && (body->parent != 0 || body->joint_count != 0)) {
        return base_fail(error, ZW_BAD_INPUT, "body %d is placed, but has a parent or joints", i);
    }
    if (body->mass < 0.0 || !is_inertia(body->inertia)) {
        return base_fail(error, ZW_BAD_INPUT, "body %d has a negative %s", i,
                         body->mass < 0.0 ? "mass" : "moment of inertia");
    }
    return ZW_OK;
}

zw_status tree_check(const tree_def *def, zw_error *error)
{
    int joint = 0;
    if (def->body_count < 1 || def->body == NULL || def->body[0].parent != -1 ||
        def->body[0].joint_count != 0) {
        return base_fail(error, ZW_BAD_INPUT,
                         "body 0 must be the world, with parent -1 and no joint");
    }
    if (!are_finite(def->gravity, 3)) {
        return base_fail(error, ZW_BAD_INPUT, "gravity is not finite");
    }
    for (int i = 1; i < def->body_count; i++) {
        zw_status status = check_body(def, i, error);
        int count = def->body[i].joint_count;
        if (status == ZW_OK && (count < 0 || count > def->joint_count - joint)) {
            status = base_fail(error, ZW_BAD_INPUT, "body %d has %d joints, but only %d are left",
                               i, count, def->joint_count - joint);
        }
        for (int k = 0; k < count && status == ZW_OK; k++) {
            status = check_joint(def, i, joint++, error);
        }
        if (status != ZW_OK) {
            return status;
        }
    }
    if (joint != def->joint_count) {
        return base_fail(error, ZW_BAD_INPUT, "%d joints belong to no body",
                         def->joint_count - joint);
    }
    return ZW_OK;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void layout(tree_mechanism *tree, base_arena *arena)
{
    size_t nv = (size_t)tree->nv, nq = (size_t)tree->nq;
    tree->body = base_arena_bytes(arena, (size_t)tree->bodies * sizeof *tree->body);
    tree->joint = base_arena_bytes(arena, (size_t)tree->joints * sizeof *tree->joint);
    tree->hinge = base_arena_ints(arena, (size_t)tree->hinges);
    tree->dof_body = base_arena_ints(arena, nv);
    tree->dof_parent = base_arena_ints(arena, nv);
    tree->dof_joint = base_arena_ints(arena, nv);
    tree->depth = base_arena_ints(arena, nv);
    tree->block = base_arena_ints(arena, nv + 1);
    tree->armature = base_arena_doubles(arena, nv);
    tree->damping = base_arena_doubles(arena, nv);
    tree->q_rest = base_arena_doubles(arena, nq);
    tree->q_spring = base_arena_doubles(arena, nq);
    tree->start = base_arena_ints(arena, tree->without_matrix ? 0 : nv + 1);
    tree->column = base_arena_ints(arena, (size_t)tree->entries);
}

/* Sizes of the mechanism. `depth` is scratch, [bodies]: dofs on the path to each body. */
static zw_status count(tree_mechanism *tree, const tree_def *def, int *depth, zw_error *error)
{
    long long entries = 0, nv = 0;
    int joint = 0;
    for (int i = 1; i < def->body_count; i++) {
        depth[i] = depth[def->body[i].parent];
        tree->nq += def->body[i].is_placed ? 7 : 0;
        for (int k = 0; k < def->body[i].joint_count; k++, joint++) {
            tree->moved += coordinates_of(def->joint[joint].kind);
            tree->hinges += def->joint[joint].kind == TREE_HINGE;
            for (int d = dofs_of(def->joint[joint].kind); d > 0; d--) {
                entries += ++depth[i];
                nv++;
            }
        }
    }
    tree->nq += tree->moved;
    tree->bodies = def->body_count;
    tree->joints = def->joint_count;
    tree->without_matrix = def->without_matrix;
    tree->nv = (int)nv;
    tree->entries = (int)(entries = def->without_matrix ? 0 : entries);
    if (2 * entries + 96 * (tree->bodies + nv) > 0x7fffffffLL) {
        return base_fail(error, ZW_TOO_LARGE, "a mass matrix of %lld entries is too large",
                         entries);
    }
    return ZW_OK;
}

static void unit(const double *x, int n, double *y)
{
    double length = length_of(x, n);
    for (int k = 0; k < n; k++) {
        y[k] = x[k] / length;
    }
}

static void fill_axis(tree_joint *joint, const tree_joint_def *def)
{
    static const tree_along ALONG[] = {TREE_ALONG_X, TREE_ALONG_Y, TREE_ALONG_Z};
    if (def->kind != TREE_HINGE && def->kind != TREE_SLIDE) {
        return;
    }
    unit(def->axis, 3, joint->axis);
    for (int k = 0; k < 3; k++) {
        if (fabs(joint->axis[k]) == 1.0) { /* the other components are negligible */
            joint->along = ALONG[k];
            joint->sign = joint->axis[k];
            joint->axis[(k + 1) % 3] = joint->axis[(k + 2) % 3] = 0.0;
        }
    }
}

/* u + 2 e x (w u + e x u) */
static void turn(const double *quat, const double *u, double *turned)
{
    double w = quat[0], x = quat[1], y = quat[2], z = quat[3];
    double a = w * u[0] + y * u[2] - z * u[1], b = w * u[1] + z * u[0] - x * u[2],
           c = w * u[2] + x * u[1] - y * u[0];
    turned[0] = u[0] + 2.0 * (y * c - z * b);
    turned[1] = u[1] + 2.0 * (z * a - x * c);
    turned[2] = u[2] + 2.0 * (x * b - y * a);
}

/* Offsets from anchor to anchor of a body's joints. The anchor of a free joint is the origin. */
static void fill_anchor(tree_body *body, const tree_body *parent, tree_joint *joint,
                        const tree_joint_def *def, int is_first)
{
    double anchor[3] = {0.0, 0.0, 0.0}, turned[3];
    if (def->kind != TREE_FREE) {
        memcpy(anchor, def->anchor, sizeof anchor);
    }
    turn(body->quat, anchor, turned);
    for (int k = 0; k < 3; k++) {
        if (is_first) {
            body->start[k] = body->pos[k] - parent->com[k] + turned[k];
        } else {
            joint->step[k] = anchor[k] - body->end[k];
        }
        joint->anchor[k] = body->end[k] = anchor[k];
        body->com_from_end[k] = body->com[k] - anchor[k];
    }
    joint->is_stepped = length_of(joint->step, 3) != 0.0;
}

static void fill_joint(tree_mechanism *tree, int i, int j, const tree_joint_def *def)
{
    tree_joint *joint = tree->joint + j;
    tree_body *body = tree->body + i;
    *joint = (tree_joint){.kind = def->kind,
                          .body = i,
                          .q = j > 0 ? joint[-1].q + coordinates_of(joint[-1].kind) : 0,
                          .v = body->dof_end,
                          .rest = def->rest,
                          .stiffness = def->stiffness,
                          .friction = def->friction,
                          .is_limited = def->is_limited};
    memcpy(joint->range, def->range, sizeof joint->range);
    fill_axis(joint, def);
    fill_anchor(body, tree->body + body->parent, joint, def, j == body->joint);

    double *rest = tree->q_rest + joint->q, *spring = tree->q_spring + joint->q;
    switch (def->kind) {
    case TREE_FREE:
        body->is_free = 1;
        memcpy(rest, body->pos, sizeof body->pos);
        memcpy(rest + 3, body->quat, sizeof body->quat);
        memcpy(spring, rest, 7 * sizeof *rest);
        break;
    case TREE_BALL:
        rest[0] = spring[0] = 1.0;
        break;
    default:
        rest[0] = def->rest;
        spring[0] = def->spring;
        break;
    }

    for (int k = dofs_of(def->kind); k > 0; k--) {
        int d = body->dof_end++, parent = body->last_dof;
        tree->dof_body[d] = i;
        tree->dof_parent[d] = parent;
        tree->dof_joint[d] = j;
        tree->armature[d] = def->armature;
        tree->damping[d] = def->damping;
        tree->depth[d] = parent < 0 ? 1 : tree->depth[parent] + 1;
        body->last_dof = d;
    }
}

/* Runs of dofs, each the parent of the next, at most TREE_BLOCK long. */
static void fill_blocks(tree_mechanism *tree)
{
    for (int d = 0; d < tree->nv; d++) {
        int is_run = tree->blocks > 0 && tree->dof_parent[d] == d - 1 &&
                     d - tree->block[tree->blocks - 1] < TREE_BLOCK;
        if (!is_run) {
            tree->block[tree->blocks++] = d;
        }
    }
    tree->block[tree->blocks] = tree->nv;
}

static void fill_hinges(tree_mechanism *tree)
{
    for (int j = 0, k = 0; j < tree->joints; j++) {
        if (tree->joint[j].kind == TREE_HINGE) {
            tree->joint[j].hinge = k;
            tree->hinge[k++] = j;
        }
    }
}

static void fill_body(tree_mechanism *tree, int i, const tree_def *def)
{
    const tree_body_def *from = def->body + i;
    tree_body *body = tree->body + i, *parent = tree->body + from->parent;
    *body = (tree_body){.parent = from->parent,
                        .joint = body[-1].joint_end,
                        .joint_end = body[-1].joint_end,
                        .dof = body[-1].dof_end,
                        .dof_end = body[-1].dof_end,
                        .last_dof = parent->last_dof,
                        .mass = from->mass};
    unit(from->quat, 4, body->quat);
    memcpy(body->pos, from->pos, sizeof body->pos);
    memcpy(body->com, from->com, sizeof body->com);
    memcpy(body->com_from_end, from->com, sizeof body->com);
    memcpy(body->inertia, from->inertia, sizeof body->inertia);
    for (int k = 0; k < 3; k++) {
        body->start[k] = from->pos[k] - parent->com[k];
        body->lift[k] = -from->mass * def->gravity[k];
    }
    body->is_turned = length_of(body->quat + 1, 3) != 0.0;
    for (int k = 0; k < from->joint_count; k++) {
        fill_joint(tree, i, body->joint_end, def->joint + body->joint_end);
        body->joint_end++;
    }
}

/* The columns of a dof's row are those of its parent dof, and its own. */
static void fill_rows(tree_mechanism *tree)
{
    for (int d = 0; d < tree->nv; d++) {
        int parent = tree->dof_parent[d], *row = tree->column + tree->start[d];
        if (parent >= 0) {
            memcpy(row, tree->column + tree->start[parent],
                   (size_t)tree->depth[parent] * sizeof *row);
        }
        row[tree->depth[d] - 1] = d;
        tree->start[d + 1] = tree->start[d] + tree->depth[d];
    }
}

/* The poses of placed bodies, after the other coordinates. */
static void fill_placed(tree_mechanism *tree, const tree_def *def)
{
    for (int i = 1, q = tree->moved; i < tree->bodies; i++) {
        tree_body *body = tree->body + i;
        body->placed = def->body[i].is_placed ? q : -1;
        if (body->placed >= 0) {
            memcpy(tree->q_rest + q, body->pos, sizeof body->pos);
            memcpy(tree->q_rest + q + 3, body->quat, sizeof body->quat);
            memcpy(tree->q_spring + q, tree->q_rest + q, 7 * sizeof *tree->q_rest);
            q += 7;
        }
    }
}

static void fill_children(tree_mechanism *tree)
{
    for (int i = tree->bodies - 1; i > 0; i--) {
        tree_body *body = tree->body + i, *parent = tree->body + body->parent;
        body->subtree_mass += body->mass;
        body->is_last_child = parent->last_child == 0;
        parent->last_child = parent->last_child == 0 ? i : parent->last_child;
        parent->subtree_mass += body->subtree_mass;
    }
}

static void fill(tree_mechanism *tree, const tree_def *def)
{
    memcpy(tree->gravity, def->gravity, sizeof tree->gravity);
    tree->body[0] = (tree_body){.parent = -1, .last_dof = -1, .placed = -1, .quat = {1.0}};
    for (int i = 1; i < tree->bodies; i++) {
        fill_body(tree, i, def);
    }
    fill_placed(tree, def);
    fill_hinges(tree);
    fill_blocks(tree);
    if (!tree->without_matrix) {
        fill_rows(tree);
    }
    fill_children(tree);
}

/* ---- Work ------------------------------------------------------------------------------------ */

static void place(tree_mechanism *tree)
{
    tree_places *at = &tree->at;
    int bodies = tree->bodies, nv = tree->nv, next = 0;
    int angles =
        tree->hinges / 8 * 8 + 8; /* a multiple of 8, as sweeps.c computes eight at a time */
    const struct {
        int *at, count;
    } list[] = {{&at->angle, angles},
                {&at->sine, angles},
                {&at->cosine, angles},
                {&at->quat, 4 * bodies},
                {&at->R, 9 * bodies},
                {&at->origin, 3 * bodies},
                {&at->com, 3 * bodies},
                {&at->shift, 3 * bodies},
                {&at->inertia, 6 * bodies},
                {&at->anchor, 3 * tree->joints},
                {&at->S, 6 * nv},
                {&at->V, 6 * bodies},
                {&at->Z, 6 * bodies},
                {&at->A, 6 * bodies},
                {&at->F, 6 * bodies},
                {&at->composite, 9 * bodies},
                {&at->M, tree->entries},
                {&at->L, tree->entries},
                {&at->articulated, 21 * bodies},
                {&at->G, 6 * nv},
                {&at->pivot, nv},
                {&at->u, nv}};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        *list[k].at = next;
        next += list[k].count;
    }
    at->count = next;
}

void *tree_work_create(const tree_mechanism *tree, int lanes)
{
    return base_alloc((size_t)tree->at.count * (size_t)lanes * sizeof(double));
}

/* ---- Creating -------------------------------------------------------------------------------- */

/* Empty tables of these sizes. */
static tree_mechanism *allocate(const tree_mechanism *size, zw_error *error)
{
    tree_mechanism shape = *size;
    base_arena arena = {0};
    base_arena_bytes(&arena, sizeof shape);
    layout(&shape, &arena);
    arena.block = base_alloc(arena.used);
    if (arena.block == NULL) {
        base_fail(error, ZW_NO_MEMORY, "no memory for a tree of %d bodies", size->bodies);
        return NULL;
    }
    arena.used = 0;
    tree_mechanism *tree = base_arena_bytes(&arena, sizeof shape);
    *tree = *size;
    layout(tree, &arena);
    return tree;
}

static tree_mechanism *build(const tree_def *def, int *depth, zw_error *error)
{
    tree_mechanism size = {0};
    if (count(&size, def, depth, error) != ZW_OK) {
        return NULL;
    }
    tree_mechanism *tree = allocate(&size, error);
    if (tree == NULL) {
        return NULL;
    }
    fill(tree, def);
    place(tree);
    return tree;
}

tree_mechanism *tree_create(const tree_def *def, zw_error *error)
{
    if (tree_check(def, error) != ZW_OK) {
        return NULL;
    }
    int *depth = base_alloc((size_t)def->body_count * sizeof *depth);
    if (depth == NULL) {
        base_fail(error, ZW_NO_MEMORY, "no memory for a tree of %d bodies", def->body_count);
        return NULL;
    }
    tree_mechanism *tree = build(def, depth, error);
    base_free(depth);
    return tree;
}

/* ---- Some of its trees ----------------------------------------------------------------------- */

/* Copies the joints and dofs of a body that has been copied from the whole. */
static void copy_joints(tree_mechanism *tree, const tree_mechanism *whole, int i, int from,
                        const int *to)
{
    tree_body *body = tree->body + i;
    for (int j = whole->body[from].joint; j < whole->body[from].joint_end; j++) {
        const tree_joint *old = whole->joint + j;
        tree_joint *joint = tree->joint + body->joint_end;
        int last = body->joint_end - 1;
        *joint = *old;
        joint->body = i;
        joint->q = last < 0 ? 0 : tree->joint[last].q + coordinates_of(tree->joint[last].kind);
        joint->v = body->dof_end;
        size_t bytes = (size_t)coordinates_of(old->kind) * sizeof(double);
        memcpy(tree->q_rest + joint->q, whole->q_rest + old->q, bytes);
        memcpy(tree->q_spring + joint->q, whole->q_spring + old->q, bytes);
        for (int d = old->v; d < old->v + dofs_of(old->kind); d++) {
            int n = body->dof_end++, parent = whole->dof_parent[d];
            int of = parent < 0 ? 0 : whole->dof_body[parent];
            tree->dof_body[n] = i;
            tree->dof_joint[n] = body->joint_end;
            tree->dof_parent[n] =
                parent < 0 ? -1 : tree->body[to[of]].dof + parent - whole->body[of].dof;
            tree->depth[n] = whole->depth[d];
            tree->armature[n] = whole->armature[d];
            tree->damping[n] = whole->damping[d];
        }
        body->joint_end++;
    }
}

tree_mechanism *tree_part(const tree_mechanism *whole, const unsigned char *keep, int *to,
                          zw_error *error)
{
    tree_mechanism size = {.bodies = 1, .without_matrix = whole->without_matrix};
    memcpy(size.gravity, whole->gravity, sizeof size.gravity);
    to[0] = 0;
    for (int i = 1; i < whole->bodies; i++) {
        const tree_body *body = whole->body + i;
        to[i] = keep[i] ? size.bodies : 0;
        size.bodies += keep[i] != 0;
        size.joints += keep[i] ? body->joint_end - body->joint : 0;
        for (int j = body->joint; j < body->joint_end && keep[i]; j++) {
            size.hinges += whole->joint[j].kind == TREE_HINGE;
            size.moved = size.nq += coordinates_of(whole->joint[j].kind);
        }
        for (int d = body->dof; d < body->dof_end && keep[i]; d++) {
            size.nv++;
            size.entries += whole->without_matrix ? 0 : whole->depth[d];
        }
    }
    tree_mechanism *tree = allocate(&size, error);
    if (tree == NULL) {
        return NULL;
    }
    tree->body[0] = (tree_body){.parent = -1, .last_dof = -1, .placed = -1, .quat = {1.0}};
    for (int i = 1; i < whole->bodies; i++) {
        tree_body *body = tree->body + to[i];
        if (!keep[i]) {
            continue;
        }
        *body = whole->body[i];
        body->parent = to[body->parent];
        body->joint = body->joint_end = body[-1].joint_end;
        body->dof = body->dof_end = body[-1].dof_end;
        body->last_child = body->is_last_child = 0;
        body->subtree_mass = 0;
        copy_joints(tree, whole, to[i], i, to);
        body->last_dof =
            body->dof_end > body->dof ? body->dof_end - 1 : tree->body[body->parent].last_dof;
    }
    fill_hinges(tree);
    fill_blocks(tree);
    if (!tree->without_matrix) {
        fill_rows(tree);
    }
    fill_children(tree);
    place(tree);
    return tree;
}

void tree_free(tree_mechanism *tree)
{
    base_free(tree);
}

int tree_chain(const tree_mechanism *tree, int body, int *dof)
{
    int last = tree->body[body].last_dof, length = last < 0 ? 0 : tree->depth[last];
    for (int k = length - 1; dof != NULL && k >= 0; k--, last = tree->dof_parent[last]) {
        dof[k] = last;
    }
    return length;
}

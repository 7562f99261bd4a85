/* Cutting bodies in two: for joints that close loops, and for maximal coordinates, where every
 * joint is treated so.
 *
 * A joint that closes a loop leads from body Y to body X, which other joints move already, so it is
 * not part of the tree. Therefore X is cut: the body keeps its place in the tree, a massless copy
 * is attached to Y by the joint, and a weld holds the two together. The six rows of the weld and
 * the k coordinates of the joint stand for the 6 - k rows that a joint of k freedoms has without
 * coordinates of its own; and with coordinates its angle counts revolutions, and limits, springs,
 * motors, friction, armature and couplings act on it as on every other joint: later stages treat it
 * like any other.
 *
 * As the copy is massless, the joint transmits the wrench of the weld to Y, so the multipliers of
 * the weld are force and moment of the joint, at its anchor. M is singular, as the joint's
 * coordinates alone move no mass; on the motions that the weld admits it is positive, which is all
 * that Gauss's principle requires (Fan et al. 2005, section 6).
 *
 * Maximal coordinates: every body with joints to its parent is cut in this way, and the original
 * becomes a free body. n = 6 N + (freedoms of the joints), m = 6 N + (rows of loops and limits); M
 * and A couple neighbours only, so the sparse kernel's work is linear in the number of bodies where
 * the mechanism is a tree or nearly one.
 *
 * Pieces (bodies_chain.c): the same at some joints only, such that no path within a piece has more
 * than BODIES_PIECE speeds. There the two share the mass and the moments of inertia of X:
 * welded together they move like X, and M is positive definite. Sensors are left out.
 *
 * Invariants: the first bodies, joints, geoms, ... of the cut model are those of the given one, in
 * their order, followed by the copies and the free joints. But the welds precede the other
 * equalities: of redundant constraints the later one is reported. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "system/bodies/bodies_build.h"

/* One copy. */
typedef struct cut {
    int group;        /* of its joints: model_joint_group */
    int body, parent; /* X, Y */
    int joint, count; /* its first joint, and the number of joints */
    int copy;         /* the copy attached to Y */
} cut;

typedef struct cutter {
    const zw_model *model;
    const model_bodies *from;
    zw_model *to;
    zw_error failure;
    bodies_form form;
    zw_inertia *inertia; /* [bodies] */
    model_pose *place;   /* [bodies] in the world, in the reference pose */
    int *head;           /* [bodies] the body with joints that it is welded to; 0: the world */
    int *order;          /* [joints] of the coordinates */
    int *depth;          /* [bodies] speeds on the path to it, within its piece */
    int *cuts;           /* [bodies] it begins one */
    int *cut_of;         /* [joints] -1: none */
    int cut_count;
    cut *cut; /* in the order of the coordinates */
} cutter;

static void name_of(const cutter *c, zw_kind kind, int index, char *name)
{
    const bodies_builder b = {.model = c->model, .from = c->from};
    bodies_part_name(&b, kind, index, name);
}

/* ---- Where to cut --------------------------------------------------------------------------- */

static model_pose pose_of(const zw_body_def *body)
{
    model_pose pose;
    memcpy(pose.pos, body->pos, sizeof pose.pos);
    memcpy(pose.quat, body->quat, sizeof pose.quat);
    return pose;
}

/* `pose`, given in the world, as seen from `frame`. */
static model_pose seen_from(const model_pose *frame, const model_pose *pose)
{
    const double *q = frame->quat, back[4] = {q[0], -q[1], -q[2], -q[3]};
    double shift[3];
    model_pose seen;
    for (int k = 0; k < 3; k++) {
        shift[k] = pose->pos[k] - frame->pos[k];
    }
    model_rotate(back, shift, seen.pos);
    model_quat_multiply(seen.quat, back, pose->quat);
    return seen;
}

static void find_heads(cutter *c)
{
    const model_bodies *b = c->from;
    c->place[0] = model_pose_none();
    for (int j = 0; j < b->count[ZW_KIND_JOINT]; j++) {
        c->head[b->joint[j].body] |= b->joint[j].closes < 0;
    }
    for (int i = 1; i < b->count[ZW_KIND_BODY]; i++) {
        int parent = b->body[i].parent;
        model_pose own = pose_of(&b->body[i]);
        c->head[i] = c->head[i] ? i : c->head[parent];
        c->place[i] = model_pose_chain(&c->place[parent], &own);
    }
}

/* Can a cut be made at joint j? */
static zw_status check_cut(cutter *c, int j)
{
    const zw_joint_def *joint = &c->from->joint[j];
    char name[BODIES_NAME];
    name_of(c, ZW_KIND_JOINT, j, name);
    if (joint->closes >= 0 && c->head[joint->body] == 0) {
        return model_fail(c->model, &c->failure, ZW_BAD_INPUT, joint->place,
                          "joint '%.60s' closes a loop at a body that does not move; let it lead "
                          "from this body to the other one",
                          name);
    }
    if (joint->closes >= 0 && c->head[joint->body] == c->head[joint->closes]) {
        return model_fail(
            c->model, &c->failure, ZW_BAD_INPUT, joint->place,
            "joint '%.60s' ties a body to itself: the two are already welded together", name);
    }
    return ZW_OK;
}

/* Where pieces end: a body whose path would be too long begins the next one, unless it is too thin
 * to be halved. In maximal coordinates every body that moves is a piece. */
static void find_pieces(cutter *c)
{
    const model_bodies *b = c->from;
    for (int j = 0; j < b->count[ZW_KIND_JOINT]; j++) {
        const zw_joint_def *joint = &b->joint[j];
        c->depth[joint->body] += joint->closes < 0 ? model_joint_speeds[joint->kind] : 0;
        c->cuts[joint->body] |= joint->closes < 0 && joint->kind != ZW_JOINT_FREE;
    }
    for (int i = 1; i < b->count[ZW_KIND_BODY]; i++) {
        const double *moment = c->inertia[i].moment;
        int above = c->depth[b->body[i].parent];
        int thin = c->inertia[i].mass <= 0 || fmin(fmin(moment[0], moment[1]), moment[2]) <= 0;
        int ends = above > 0 && above + c->depth[i] > BODIES_PIECE && !thin;
        c->cuts[i] &= c->form == BODIES_MAXIMAL || (c->form == BODIES_PIECES && ends);
        c->depth[i] = c->cuts[i] ? 6 : above + c->depth[i];
    }
}

static zw_status find_cuts(cutter *c)
{
    const model_bodies *b = c->from;
    zw_status status = ZW_OK;
    model_joint_order(b, c->order);
    find_pieces(c);
    for (int k = 0; k < b->count[ZW_KIND_JOINT] && status == ZW_OK; k++) {
        int j = c->order[k], group = model_joint_group(b, j);
        const zw_joint_def *joint = &b->joint[j];
        c->cut_of[j] = -1;
        if (joint->closes < 0 && !c->cuts[joint->body]) {
            continue;
        }
        if (c->cut_count == 0 || c->cut[c->cut_count - 1].group != group) {
            int parent = joint->closes < 0 ? b->body[joint->body].parent : joint->closes;
            c->cut[c->cut_count++] =
                (cut){.group = group, .body = joint->body, .parent = parent, .joint = j};
            status = check_cut(c, j);
        }
        c->cut_of[j] = c->cut_count - 1;
        c->cut[c->cut_count - 1].count++;
    }
    return status;
}

/* ---- The cut model -------------------------------------------------------------------------- */

static zw_status add(cutter *c, zw_kind kind, const void *def)
{
    return model_add_part(c->to, kind, def, &c->failure) < 0 ? c->failure.status : ZW_OK;
}

/* A name that no part of this kind has or will get. */
static void make_new(const cutter *c, zw_kind kind, char *name)
{
    while ((model_find_part(c->to->bodies, kind, name) >= 0 ||
            model_find_part(c->from, kind, name) >= 0) &&
           strlen(name) + 2 < BODIES_NAME) {
        strcat(name, "_");
    }
}

static void weigh(zw_body_def *body, const zw_inertia *inertia)
{
    memset(body->inertia, 0, sizeof body->inertia);
    body->inertial = 1;
    body->mass = inertia->mass;
    memcpy(body->com, inertia->com, sizeof body->com);
    memcpy(body->inertia_quat, inertia->quat, sizeof body->inertia_quat);
    memcpy(body->inertia, inertia->moment, sizeof inertia->moment);
}

/* The copy has most of it: what drives its joint has to move little less than the body. */
#define COPIED 0.875

static void weigh_share(const cutter *c, int i, double share, zw_body_def *body)
{
    zw_inertia part = c->inertia[i];
    part.mass *= share;
    for (int k = 0; k < 3; k++) {
        part.moment[k] *= share;
    }
    weigh(body, &part);
}

static void put_pose(zw_body_def *body, const model_pose *pose)
{
    memcpy(body->pos, pose->pos, sizeof body->pos);
    memcpy(body->quat, pose->quat, sizeof body->quat);
}

static zw_status copy_bodies(cutter *c)
{
    int next = 0; /* the first cut whose group is at least i */
    zw_status status = ZW_OK;
    for (int i = 1; i < c->from->count[ZW_KIND_BODY] && status == ZW_OK; i++) {
        zw_body_def body = c->from->body[i];
        weigh(&body, &c->inertia[i]);
        while (next < c->cut_count && c->cut[next].group < i) {
            next++;
        }
        if (next < c->cut_count && c->cut[next].group == i) {
            body.parent = 0;
            put_pose(&body, &c->place[i]);
            if (c->form == BODIES_PIECES) {
                weigh_share(c, i, 1 - COPIED, &body);
            }
        }
        status = add(c, ZW_KIND_BODY, &body);
    }
    return status;
}

/* A copy of X, attached to Y. */
static zw_status hang_copy(cutter *c, cut *it)
{
    zw_body_def body = zw_body_default();
    model_pose pose = seen_from(&c->place[it->parent], &c->place[it->body]);
    if (it->group < c->from->count[ZW_KIND_BODY]) {
        pose = pose_of(&c->from->body[it->body]);
    }
    body.place = c->from->body[it->body].place;
    body.inertial = 1;
    if (c->form == BODIES_PIECES) {
        weigh_share(c, it->body, COPIED, &body);
    }
    body.parent = it->parent;
    put_pose(&body, &pose);
    it->copy = c->to->bodies->count[ZW_KIND_BODY];
    return add(c, ZW_KIND_BODY, &body);
}

/* With explicit names, which do not depend on their bodies. */
static zw_status copy_joints(cutter *c)
{
    char name[BODIES_NAME];
    zw_status status = ZW_OK;
    for (int j = 0; j < c->from->count[ZW_KIND_JOINT] && status == ZW_OK; j++) {
        zw_joint_def joint = c->from->joint[j];
        name_of(c, ZW_KIND_JOINT, j, name);
        joint.name = name;
        joint.closes = -1;
        joint.body = c->cut_of[j] < 0 ? joint.body : c->cut[c->cut_of[j]].copy;
        status = add(c, ZW_KIND_JOINT, &joint);
    }
    return status;
}

/* Adds free joints to the bodies that had joints to their parents. */
static zw_status free_bodies(cutter *c)
{
    char name[BODIES_NAME];
    zw_status status = ZW_OK;
    for (int k = 0; k < c->cut_count && status == ZW_OK; k++) {
        zw_joint_def joint = zw_joint_default();
        if (c->cut[k].group >= c->from->count[ZW_KIND_BODY]) {
            break; /* loop joints come last */
        }
        joint.kind = ZW_JOINT_FREE;
        joint.body = c->cut[k].body;
        joint.place = c->from->body[joint.body].place;
        name_of(c, ZW_KIND_BODY, joint.body, name);
        if (model_find_part(c->to->bodies, ZW_KIND_JOINT, name) >= 0) {
            snprintf(name + strlen(name), BODIES_NAME - strlen(name), ".body");
        }
        make_new(c, ZW_KIND_JOINT, name);
        joint.name = name;
        status = add(c, ZW_KIND_JOINT, &joint);
    }
    return status;
}

/* The weld of a copy has the name of its joint; if there are several, that of the body. */
static zw_status weld_copies(cutter *c)
{
    char name[BODIES_NAME];
    zw_status status = ZW_OK;
    for (int k = 0; k < c->cut_count && status == ZW_OK; k++) {
        const cut *it = &c->cut[k];
        const zw_joint_def *joint = &c->from->joint[it->joint];
        int several = it->count > 1 && c->from->body[it->body].name != NULL;
        zw_equality_def weld = zw_equality_default();
        name_of(c, several ? ZW_KIND_BODY : ZW_KIND_JOINT, several ? it->body : it->joint, name);
        make_new(c, ZW_KIND_EQUALITY, name);
        weld.name = name;
        weld.place = joint->place;
        weld.kind = ZW_EQUALITY_WELD;
        weld.first = it->copy;
        weld.second = it->body;
        weld.placed = 1;
        weld.active = BODIES_CUT;
        memcpy(weld.pos1, joint->pos, sizeof weld.pos1);
        memcpy(weld.pos2, joint->pos, sizeof weld.pos2);
        status = add(c, ZW_KIND_EQUALITY, &weld);
    }
    return status;
}

/* With explicit names, as default names contain their numbers. */
static zw_status copy_equalities(cutter *c)
{
    char name[BODIES_NAME];
    zw_status status = weld_copies(c);
    for (int i = 0; i < c->from->count[ZW_KIND_EQUALITY] && status == ZW_OK; i++) {
        zw_equality_def equality = c->from->equality[i];
        name_of(c, ZW_KIND_EQUALITY, i, name);
        equality.name = name;
        status = add(c, ZW_KIND_EQUALITY, &equality);
    }
    return status;
}

/* ---- Other parts ---------------------------------------------------------------------------- */

static zw_status copy_kind(cutter *c, zw_kind kind)
{
    zw_status status = ZW_OK;
    int skip = kind == ZW_KIND_KEY && c->form != BODIES_LOOPS; /* they have other coordinates */
    skip |= kind == ZW_KIND_SENSOR && c->form == BODIES_PIECES;
    for (int i = 0; i < c->from->count[kind] && !skip && status == ZW_OK; i++) {
        status = add(c, kind, model_part_at(c->from, kind, i));
    }
    return status;
}

/* Sensors of subtrees and of forces on parents are not defined in the cut model. */
static zw_status check_sensors(cutter *c)
{
    for (int i = 0; i < c->from->count[ZW_KIND_SENSOR]; i++) {
        const zw_sensor_def *sensor = &c->from->sensor[i];
        int kind = sensor->kind;
        int subtree = kind == ZW_SENSOR_SUBTREECOM || kind == ZW_SENSOR_SUBTREELINVEL ||
                      kind == ZW_SENSOR_SUBTREEANGMOM;
        int force = kind == ZW_SENSOR_FORCE || kind == ZW_SENSOR_TORQUE;
        subtree |= sensor->frame == ZW_FRAME_SUBTREE || sensor->ref_frame == ZW_FRAME_SUBTREE;
        if ((subtree || force) && c->form == BODIES_MAXIMAL) {
            char name[BODIES_NAME];
            name_of(c, ZW_KIND_SENSOR, i, name);
            return model_fail(c->model, &c->failure, ZW_BAD_INPUT, sensor->place,
                              "sensor '%.60s' of a %s is not supported yet in maximal coordinates",
                              name, subtree ? "subtree" : "force");
        }
    }
    return ZW_OK;
}

static int is_excluded(const model_bodies *b, int body1, int body2)
{
    int found = 0;
    for (int i = 0; i < b->count[ZW_KIND_EXCLUDE] && !found; i++) {
        const zw_exclude_def *it = &b->exclude[i];
        found = (it->body1 == body1 && it->body2 == body2) ||
                (it->body1 == body2 && it->body2 == body1);
    }
    return found;
}

/* Contacts between bodies and their parents are excluded, which the cut model would not know
 * otherwise. */
static zw_status exclude_parents(cutter *c)
{
    const model_bodies *b = c->from;
    zw_status status = ZW_OK;
    for (int i = 0; i < b->count[ZW_KIND_GEOM] && c->form != BODIES_LOOPS; i++) {
        for (int j = 0; j < i && status == ZW_OK; j++) {
            int x = c->head[b->geom[i].body], y = c->head[b->geom[j].body];
            int above_x = c->head[b->body[x].parent < 0 ? 0 : b->body[x].parent];
            int above_y = c->head[b->body[y].parent < 0 ? 0 : b->body[y].parent];
            int related = (above_x == y && y != 0) || (above_y == x && x != 0);
            zw_exclude_def def = zw_exclude_default();
            def.body1 = b->geom[j].body;
            def.body2 = b->geom[i].body;
            if (related && !is_excluded(c->to->bodies, def.body1, def.body2)) {
                status = add(c, ZW_KIND_EXCLUDE, &def);
            }
        }
    }
    return status;
}

/* ---- All ------------------------------------------------------------------------------------ */

static zw_status open(cutter *c)
{
    size_t bodies = (size_t)c->from->count[ZW_KIND_BODY];
    size_t joints = (size_t)c->from->count[ZW_KIND_JOINT] + 1;
    c->inertia = base_alloc(bodies * sizeof *c->inertia);
    c->place = base_alloc(bodies * sizeof *c->place);
    c->head = base_alloc(bodies * sizeof *c->head);
    c->depth = base_alloc(bodies * sizeof *c->depth);
    c->cuts = base_alloc(bodies * sizeof *c->cuts);
    c->order = base_alloc(joints * sizeof *c->order);
    c->cut_of = base_alloc(joints * sizeof *c->cut_of);
    c->cut = base_alloc(joints * sizeof *c->cut);
    c->to = model_create();
    if (!c->inertia || !c->place || !c->head || !c->order || !c->cut_of || !c->cut || !c->to ||
        !c->depth || !c->cuts || !model_bodies_of(c->to)) {
        return base_no_memory(&c->failure);
    }
    c->to->file_count = c->model->file_count; /* places are those of the description */
    c->to->file = c->model->file;
    c->to->place_count = c->model->place_count;
    c->to->place = c->model->place;
    c->to->run = c->model->run;
    zw_world_def *world = &c->to->bodies->world;
    *world = c->from->world; /* its rules for masses have been applied */
    world->maximal = world->from_geoms = world->balance = 0;
    world->bound_mass = world->bound_inertia = 0;
    world->total_mass = -1;
    return zw_model_inertia(c->model, c->inertia, &c->failure);
}

static zw_status build(cutter *c)
{
    static const zw_kind others[] = {ZW_KIND_MESH,   ZW_KIND_HFIELD,   ZW_KIND_GEOM,   ZW_KIND_SITE,
                                     ZW_KIND_TENDON, ZW_KIND_ACTUATOR, ZW_KIND_SENSOR, ZW_KIND_KEY,
                                     ZW_KIND_PAIR,   ZW_KIND_EXCLUDE};
    zw_status status = open(c);
    if (status == ZW_OK) {
        find_heads(c);
        status = find_cuts(c);
    }
    status = status != ZW_OK ? status : check_sensors(c);
    status = status != ZW_OK ? status : copy_bodies(c);
    for (int k = 0; k < c->cut_count && status == ZW_OK; k++) {
        status = hang_copy(c, &c->cut[k]);
    }
    status = status != ZW_OK ? status : copy_joints(c);
    status = status != ZW_OK ? status : free_bodies(c);
    status = status != ZW_OK ? status : copy_equalities(c);
    for (size_t k = 0; k < sizeof others / sizeof *others && status == ZW_OK; k++) {
        status = copy_kind(c, others[k]);
    }
    return status != ZW_OK ? status : exclude_parents(c);
}

int bodies_has_loops(const zw_model *model)
{
    int loops = 0;
    for (int j = 0; j < model->bodies->count[ZW_KIND_JOINT] && !loops; j++) {
        loops = model->bodies->joint[j].closes >= 0;
    }
    return loops;
}

void bodies_cut_free(zw_model *model)
{
    if (model) {
        model->file_count = model->place_count = 0; /* not owned */
        model->file = NULL;
        model->place = NULL;
        zw_model_free(model);
    }
}

zw_status bodies_cut(const zw_model *model, bodies_form form, zw_model **cut_model, zw_error *error)
{
    cutter c = {.model = model, .from = model->bodies, .form = form};
    zw_status status = build(&c);
    void *scratch[] = {c.inertia, c.place, c.head, c.order, c.cut_of, c.cut, c.depth, c.cuts};
    for (size_t i = 0; i < sizeof scratch / sizeof *scratch; i++) {
        base_free(scratch[i]);
    }
    if (status != ZW_OK) {
        bodies_cut_free(c.to);
        c.to = NULL;
        if (error) {
            *error = c.failure;
        }
    }
    *cut_model = c.to;
    return status;
}

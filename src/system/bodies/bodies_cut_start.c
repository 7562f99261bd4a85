/* The initial state in maximal coordinates: poses and velocities of the bodies from the tree of the
 * given model. Loops are closed and limits satisfied in the tree's coordinates first, so that both
 * forms start from the same state. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "system/bodies/bodies_build.h"
#include "tree/sweeps.h"

/* The model as a tree, with all loops cut but no free bodies: its coordinates are the model's. */
typedef struct poser {
    bodies_builder b;
    zw_system system;
    zw_model *plain;
    double *q, *v;
    int *order; /* of the joints of the cut model */
} poser;

static zw_status open(poser *p, const zw_model *given, const zw_model *cut, zw_error *error)
{
    zw_status status = bodies_cut(given, BODIES_LOOPS, &p->plain, error);
    if (status != ZW_OK) {
        return status;
    }
    p->b = (bodies_builder){
        .system = &p->system, .model = given, .from = p->plain->bodies, .cut = p->plain};
    status = bodies_open(&p->b, error);
    if (status == ZW_OK) {
        p->q = base_alloc(((size_t)p->system.nq + 1) * sizeof *p->q);
        p->v = base_alloc(((size_t)p->system.n + 1) * sizeof *p->v);
        p->order = base_alloc(((size_t)cut->bodies->count[ZW_KIND_JOINT] + 1) * sizeof(int));
        status = p->q && p->v && p->order ? ZW_OK : base_no_memory(error);
    }
    return status;
}

static void finish(poser *p)
{
    base_free(p->q);
    base_free(p->v);
    base_free(p->order);
    bodies_close(&p->b);
    bodies_free(p->system.bodies);
    tree_free(p->system.tree);
    bodies_cut_free(p->plain);
}

/* Point, quaternion; velocity along the world's axes, angular velocity along the body's. */
static void put_body(const poser *p, int body, double *q, double *v)
{
    const tree_mechanism *tree = p->system.tree;
    const tree_frame *frame = &p->b.fused.frame[body];
    double motion[6], back[4];
    tree_point(tree, frame->body, frame->pos, p->b.sweeps, q);
    tree_point_velocity(tree, frame->body, q, p->b.sweeps, motion);
    model_quat_multiply(q + 3, p->b.sweeps + tree->at.quat + 4 * frame->body, frame->quat);
    for (int k = 0; k < 4; k++) {
        back[k] = k == 0 ? q[3] : -q[3 + k];
    }
    memcpy(v, motion + 3, 3 * sizeof *v);
    model_rotate(back, motion, v + 3);
}

/* q and v of the tree in the coordinates of the cut model. */
static void put_all(const poser *p, const model_bodies *cut, double *q, double *v)
{
    int given = p->b.from->count[ZW_KIND_JOINT];
    for (int k = 0; k < cut->count[ZW_KIND_JOINT]; k++) {
        int j = p->order[k], kind = cut->joint[j].kind;
        int positions = model_joint_positions[kind], speeds = model_joint_speeds[kind];
        if (j < given) {
            memcpy(q, p->q + p->b.joint_q[j], (size_t)positions * sizeof *q);
            memcpy(v, p->v + p->b.joint_dof[j], (size_t)speeds * sizeof *v);
        } else {
            put_body(p, cut->joint[j].body, q, v);
        }
        q += positions;
        v += speeds;
    }
}

/* May a limit be exceeded at q? NULL: in the reference pose. */
static int is_beyond(const model_bodies *b, const int *joint_q, const double *q)
{
    int beyond = 0;
    for (int j = 0; j < b->count[ZW_KIND_JOINT]; j++) {
        const zw_joint_def *joint = &b->joint[j];
        double x = q ? q[joint_q[j]] : joint->ref;
        int inside = joint->kind != ZW_JOINT_BALL && x >= joint->range[0] && x <= joint->range[1];
        beyond |= joint->limited && !inside;
    }
    for (int i = 0; i < b->count[ZW_KIND_TENDON]; i++) {
        beyond |= b->tendon[i].limited;
    }
    return beyond;
}

/* The initial state of the tree with closed loops; if they cannot be closed, assembly reports it
 * later. */
static zw_status assemble(poser *p, zw_error *error)
{
    zw_error failure = {0};
    zw_system *system = zw_system_compile(p->plain, NULL, &failure);
    zw_work *work = system ? zw_work_create(system, &failure) : NULL;
    zw_state *state = work ? zw_state_create(system, work, NULL, &failure) : NULL;
    int no_memory = !state && failure.status == ZW_NO_MEMORY;
    if (state) {
        memcpy(p->q, state_q(state), (size_t)p->system.nq * sizeof *p->q);
        memcpy(p->v, state_v(state), (size_t)p->system.n * sizeof *p->v);
    }
    zw_state_free(state);
    zw_work_free(work);
    zw_system_free(system);
    return no_memory ? base_no_memory(error) : ZW_OK;
}

static zw_status find_start(poser *p, const zw_key_def *key, zw_error *error)
{
    const tree_mechanism *tree = p->system.tree;
    zw_status status = key ? bodies_check_key(&p->b, key, error) : ZW_OK;
    if (status != ZW_OK) {
        return status;
    }
    memcpy(p->q, tree->q_rest, (size_t)tree->nq * sizeof *p->q);
    if (key && key->qpos) {
        bodies_key_pose(&p->b, key, p->q);
    }
    if (key && key->qvel) {
        memcpy(p->v, key->qvel, (size_t)tree->nv * sizeof *p->v);
    }
    if (p->plain->bodies->count[ZW_KIND_EQUALITY] > 0 ||
        is_beyond(p->plain->bodies, p->b.joint_q, p->q)) {
        status = assemble(p, error);
    }
    tree_kinematics(tree, p->q, p->b.sweeps);
    tree_velocities(tree, p->v, p->b.sweeps);
    return status;
}

/* The one keyframe of the cut model. */
static zw_status add_start(const poser *p, const zw_key_def *key, zw_model *cut, zw_error *error)
{
    model_sizes sizes = model_sizes_of(cut->bodies);
    zw_key_def def = key ? *key : zw_key_default();
    double *q = base_alloc(((size_t)sizes.qpos + 1) * sizeof *q);
    double *v = base_alloc(((size_t)sizes.qvel + 1) * sizeof *v);
    zw_status status = q && v ? ZW_OK : base_no_memory(error);
    if (status == ZW_OK) {
        put_all(p, cut->bodies, q, v);
        def.start = 1;
        def.qpos = q;
        def.qpos_count = sizes.qpos;
        def.qvel = def.qvel ? v : NULL;
        def.qvel_count = def.qvel ? sizes.qvel : 0;
        int index = model_add_part(cut, ZW_KIND_KEY, &def, error);
        status = index < 0 ? base_no_memory(error) : ZW_OK; /* the only possible error */
    }
    base_free(q);
    base_free(v);
    return status;
}

zw_status bodies_cut_start(const zw_model *given, zw_model *cut, zw_error *error)
{
    poser p = {0};
    const model_bodies *from = given->bodies;
    const zw_key_def *key = NULL;
    for (int i = 0; i < from->count[ZW_KIND_KEY]; i++) {
        key = from->key[i].start ? &from->key[i] : key;
    }
    if (!key && from->count[ZW_KIND_EQUALITY] == 0 && !bodies_has_loops(given) &&
        !is_beyond(from, NULL, NULL)) {
        return ZW_OK; /* the reference pose */
    }
    zw_status status = open(&p, given, cut, error);
    if (status == ZW_OK) {
        model_joint_order(cut->bodies, p.order);
        status = find_start(&p, key, error);
    }
    status = status != ZW_OK ? status : add_start(&p, key, cut, error);
    finish(&p);
    return status;
}

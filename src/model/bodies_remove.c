/* References from part to part, and removal along them.
 *
 * Removal marks the part, then everything that refers to a marked part, until nothing new is
 * marked; removes the numbers of marked joints and actuators from the keyframes; closes the gaps;
 * and renumbers. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "model/bodies.h"

static void refer(model_refs *refs, int *at, zw_kind kind, int may_lack)
{
    refs->at[refs->count] = at;
    refs->kind[refs->count] = kind;
    refs->may_lack[refs->count] = may_lack;
    refs->count++;
}

static void refer_frame(model_refs *refs, int *at, int frame)
{
    if (frame == ZW_FRAME_BODY || frame == ZW_FRAME_INERTIAL || frame == ZW_FRAME_SUBTREE) {
        refer(refs, at, ZW_KIND_BODY, 0);
    } else if (frame == ZW_FRAME_GEOM) {
        refer(refs, at, ZW_KIND_GEOM, 0);
    } else if (frame == ZW_FRAME_SITE) {
        refer(refs, at, ZW_KIND_SITE, 0);
    }
}

static void sensor_refs(zw_sensor_def *d, model_refs *refs)
{
    static const unsigned char mounts[] = {
#define MOUNT(name, text, on, size) ZW_MOUNT_##on,
        ZW_SENSOR_TABLE(MOUNT)
#undef MOUNT
    };
    static const zw_kind part[] = {
        [ZW_MOUNT_SITE] = ZW_KIND_SITE,         [ZW_MOUNT_JOINT] = ZW_KIND_JOINT,
        [ZW_MOUNT_BODY] = ZW_KIND_BODY,         [ZW_MOUNT_TENDON] = ZW_KIND_TENDON,
        [ZW_MOUNT_ACTUATOR] = ZW_KIND_ACTUATOR, [ZW_MOUNT_RAY] = ZW_KIND_SITE};
    int on = d->kind >= 0 && d->kind < ZW_SENSOR_COUNT ? mounts[d->kind] : ZW_MOUNT_NOTHING;
    if (on == ZW_MOUNT_FRAME || on == ZW_MOUNT_INSIDE || on == ZW_MOUNT_CONTACT) {
        refer_frame(refs, &d->target, d->frame);
        refer_frame(refs, &d->ref_target, d->ref_frame);
    } else if (on != ZW_MOUNT_NOTHING) {
        refer(refs, &d->target, part[on], 0);
    }
}

static void actuator_refs(zw_actuator_def *d, model_refs *refs)
{
    refer(refs, &d->target,
          d->drive == ZW_DRIVE_BODY                                 ? ZW_KIND_BODY
          : d->drive == ZW_DRIVE_TENDON                             ? ZW_KIND_TENDON
          : d->drive == ZW_DRIVE_SITE || d->drive == ZW_DRIVE_CRANK ? ZW_KIND_SITE
                                                                    : ZW_KIND_JOINT,
          0);
    refer(refs, &d->refsite, ZW_KIND_SITE, d->drive != ZW_DRIVE_CRANK);
}

static void equality_refs(zw_equality_def *d, model_refs *refs)
{
    zw_kind of = d->kind == ZW_EQUALITY_JOINT    ? ZW_KIND_JOINT
                 : d->kind == ZW_EQUALITY_TENDON ? ZW_KIND_TENDON
                                                 : ZW_KIND_BODY;
    refer(refs, &d->first, of, 0);
    refer(refs, &d->second, of, of != ZW_KIND_BODY);
}

void model_part_refs(zw_kind kind, void *def, model_refs *refs)
{
    memset(refs, 0, sizeof *refs);
    if (kind == ZW_KIND_BODY) {
        refer(refs, &((zw_body_def *)def)->parent, ZW_KIND_BODY, 0);
    } else if (kind == ZW_KIND_JOINT) {
        refer(refs, &((zw_joint_def *)def)->body, ZW_KIND_BODY, 0);
        refer(refs, &((zw_joint_def *)def)->closes, ZW_KIND_BODY, 1);
    } else if (kind == ZW_KIND_GEOM) {
        refer(refs, &((zw_geom_def *)def)->body, ZW_KIND_BODY, 0);
        refer(refs, &((zw_geom_def *)def)->mesh, ZW_KIND_MESH, 1);
        refer(refs, &((zw_geom_def *)def)->hfield, ZW_KIND_HFIELD, 1);
    } else if (kind == ZW_KIND_SITE) {
        refer(refs, &((zw_site_def *)def)->body, ZW_KIND_BODY, 0);
    } else if (kind == ZW_KIND_EQUALITY) {
        equality_refs(def, refs);
    } else if (kind == ZW_KIND_TENDON) {
        zw_tendon_def *d = def;
        refs->list =
            (int *)d->joint; /* not const: only modified for definitions that own their list */
        refs->list_count = d->joint != NULL ? d->count : 0;
        refs->stop = (zw_stop *)d->stop;
        refs->stop_count = d->stop != NULL ? d->stop_count : 0;
    } else if (kind == ZW_KIND_ACTUATOR) {
        actuator_refs(def, refs);
    } else if (kind == ZW_KIND_SENSOR) {
        sensor_refs(def, refs);
    } else if (kind == ZW_KIND_PAIR) {
        refer(refs, &((zw_pair_def *)def)->geom1, ZW_KIND_GEOM, 0);
        refer(refs, &((zw_pair_def *)def)->geom2, ZW_KIND_GEOM, 0);
    } else if (kind == ZW_KIND_EXCLUDE) {
        refer(refs, &((zw_exclude_def *)def)->body1, ZW_KIND_BODY, 0);
        refer(refs, &((zw_exclude_def *)def)->body2, ZW_KIND_BODY, 0);
    }
}

int model_ref_count(const model_refs *refs)
{
    return refs->count + refs->list_count + 2 * refs->stop_count;
}

int *model_ref_at(const model_refs *refs, int i, zw_kind *kind, int *may_lack)
{
    if (i < refs->count) {
        *kind = refs->kind[i];
        *may_lack = refs->may_lack[i];
        return refs->at[i];
    }
    i -= refs->count;
    if (i < refs->list_count) {
        *kind = ZW_KIND_JOINT;
        *may_lack = 0;
        return &refs->list[i];
    }
    i -= refs->list_count;
    zw_stop *stop = &refs->stop[i / 2];
    int is_side = i % 2 == 1;
    *kind = stop->kind == ZW_STOP_GEOM && !is_side ? ZW_KIND_GEOM : ZW_KIND_SITE;
    *may_lack = is_side || stop->kind == ZW_STOP_PULLEY;
    return is_side ? &stop->side : &stop->index;
}

/* ---- Removing ------------------------------------------------------------------------------- */

/* number[kind][i]: the new index, -1: removed. */
typedef struct removal {
    model_bodies *b;
    int *number[MODEL_KINDS];
    int *order; /* of joints before the removal */
    int *block; /* memory of all arrays */
} removal;

static int is_removed(const removal *r, zw_kind kind, int index)
{
    return index >= 0 && r->number[kind][index] < 0;
}

static int refers_to_removed(const removal *r, zw_kind kind, int index)
{
    model_refs refs;
    model_part_refs(kind, model_part_at(r->b, kind, index), &refs);
    for (int i = 0; i < model_ref_count(&refs); i++) {
        zw_kind of;
        int may_lack, to = *model_ref_at(&refs, i, &of, &may_lack);
        if (is_removed(r, of, to)) {
            return 1;
        }
    }
    return 0;
}

static void mark_all(removal *r)
{
    for (int again = 1; again;) {
        again = 0;
        for (int k = 0; k < MODEL_KINDS; k++) {
            for (int i = k == ZW_KIND_BODY ? 1 : 0; i < r->b->count[k]; i++) {
                if (!is_removed(r, (zw_kind)k, i) && refers_to_removed(r, (zw_kind)k, i)) {
                    r->number[k][i] = -1;
                    again = 1;
                }
            }
        }
    }
    for (int k = 0; k < MODEL_KINDS; k++) {
        int next = 0;
        for (int i = 0; i < r->b->count[k]; i++) {
            r->number[k][i] = is_removed(r, (zw_kind)k, i) ? -1 : next++;
        }
    }
}

/* Keeps the groups of `width` numbers whose owner is not removed. */
typedef struct cutter {
    double *list;
    int count;
    int from, to;
} cutter;

static void cut(cutter *c, int width, int stays)
{
    for (int i = 0; i < width && c->from < c->count; i++, c->from++) {
        if (stays) {
            c->list[c->to++] = c->list[c->from];
        }
    }
}

static void cut_key(const removal *r, zw_key_def *key)
{
    const model_bodies *b = r->b;
    cutter qpos = {(double *)key->qpos, key->qpos_count, 0, 0};
    cutter qvel = {(double *)key->qvel, key->qvel_count, 0, 0};
    cutter act = {(double *)key->act, key->act_count, 0, 0};
    cutter ctrl = {(double *)key->ctrl, key->ctrl_count, 0, 0};
    cutter mocap = {(double *)key->mocap, key->mocap_count, 0, 0};
    for (int i = 0; i < b->count[ZW_KIND_BODY]; i++) {
        cut(&mocap, b->body[i].mocap ? 7 : 0, !is_removed(r, ZW_KIND_BODY, i));
    }
    for (int i = 0; i < b->count[ZW_KIND_JOINT]; i++) {
        const zw_joint_def *joint = &b->joint[r->order[i]];
        int stays = !is_removed(r, ZW_KIND_JOINT, r->order[i]);
        cut(&qpos, model_joint_positions[joint->kind], stays);
        cut(&qvel, model_joint_speeds[joint->kind], stays);
    }
    for (int i = 0; i < b->count[ZW_KIND_ACTUATOR]; i++) {
        int stays = !is_removed(r, ZW_KIND_ACTUATOR, i);
        cut(&ctrl, 1, stays);
        cut(&act, b->actuator[i].dynamics != ZW_DYNAMICS_NONE, stays);
    }
    key->qpos_count = qpos.to;
    key->qvel_count = qvel.to;
    key->act_count = act.to;
    key->ctrl_count = ctrl.to;
    key->mocap_count = mocap.to;
}

static void close_gaps(removal *r, zw_kind kind)
{
    model_bodies *b = r->b;
    size_t size = model_part_size(kind);
    int to = 0;
    for (int i = 0; i < b->count[kind]; i++) {
        void *def = model_part_at(b, kind, i);
        if (is_removed(r, kind, i)) {
            model_part_free(kind, def);
            continue;
        }
        model_refs refs;
        model_part_refs(kind, def, &refs);
        for (int k = 0; k < model_ref_count(&refs); k++) {
            zw_kind of;
            int may_lack, *at = model_ref_at(&refs, k, &of, &may_lack);
            *at = *at >= 0 ? r->number[of][*at] : -1;
        }
        if (to != i) {
            memcpy(model_part_at(b, kind, to), def, size);
        }
        to++;
    }
    if (to < b->count[kind]) {
        memset(model_part_at(b, kind, to), 0, (size_t)(b->count[kind] - to) * size);
    }
    b->count[kind] = to;
}

zw_status zw_model_remove(zw_model *model, zw_kind kind, int index, zw_error *error)
{
    if (model == NULL || zw_model_def(model, kind, index) == NULL) {
        return base_fail(error, ZW_BAD_INPUT, "there is nothing with this index to remove");
    }
    if (kind == ZW_KIND_BODY && index == 0) {
        return base_fail(error, ZW_BAD_INPUT, "the world cannot be removed");
    }
    removal r = {.b = model->bodies};
    int total = r.b->count[ZW_KIND_JOINT];
    for (int k = 0; k < MODEL_KINDS; k++) {
        total += r.b->count[k];
    }
    r.block = base_alloc((size_t)total * sizeof *r.block);
    if (r.block == NULL) {
        return base_fail(error, ZW_NO_MEMORY, "out of memory");
    }
    int *next = r.block;
    for (int k = 0; k < MODEL_KINDS; k++) {
        r.number[k] = next;
        next += r.b->count[k];
    }
    r.order = next;
    model_joint_order(r.b, r.order);
    r.number[kind][index] = -1;
    mark_all(&r);
    for (int i = 0; i < r.b->count[ZW_KIND_KEY]; i++) {
        cut_key(&r, &r.b->key[i]);
    }
    for (int k = 0; k < MODEL_KINDS; k++) {
        close_gaps(&r, (zw_kind)k);
    }
    base_free(r.block);
    memset(r.b->joints, 0, (size_t)r.b->joints_capacity * sizeof *r.b->joints);
    for (int i = 0; i < r.b->count[ZW_KIND_JOINT]; i++) {
        r.b->joints[r.b->joint[i].body]++;
    }
    model_names_rebuild(model->bodies);
    return ZW_OK;
}

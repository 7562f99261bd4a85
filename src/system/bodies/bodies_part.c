/* The bodies and joints of the model one by one, including welded ones, for the forces between
 * them. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "system/bodies/bodies_build.h"

#define NIL 1e-14 /* what MuJoCo takes for no translation or rotation */

/* Mass, centre and moments in the frame of the tree's body. */
static bodies_part part_of(const bodies_builder *b, int i)
{
    static const double origin[3] = {0, 0, 0}, upright[4] = {1, 0, 0, 0};
    const zw_inertia *from = &b->inertia[i];
    bodies_part part = {.parent = b->from->body[i].parent,
                        .frame = bodies_frame_on(b, i, origin, upright),
                        .mass = i == 0 ? 0 : from->mass};
    bodies_frame centre = bodies_frame_on(b, i, from->com, from->quat);
    memcpy(part.com, part.mass > 0 ? centre.pos : part.frame.pos, sizeof part.com);
    if (i > 0) {
        model_principal_matrix(centre.quat, from->moment, part.inertia);
    }
    return part;
}

zw_status bodies_name_parts(const bodies_builder *b, zw_kind kind, char ***list)
{
    int count = b->from->count[kind];
    char name[BODIES_NAME];
    *list = base_alloc(((size_t)count + 1) * sizeof **list);
    for (int i = 0; i < count && *list; i++) {
        bodies_part_name(b, kind, i, name);
        if (kind == ZW_KIND_BODY && i == 0) {
            strcpy(name, "world");
        }
        if (!((*list)[i] = bodies_copy(name))) {
            return ZW_NO_MEMORY;
        }
    }
    return *list ? ZW_OK : ZW_NO_MEMORY;
}

/* Along the axes of the body's frame, in its origin, and turning last? */
static int is_straight(const zw_joint_def *joint, int turned)
{
    int along = 0;
    for (int k = 0; k < 3; k++) {
        along += fabs(joint->axis[k]) > NIL;
        turned |= fabs(joint->pos[k]) > NIL;
    }
    return !turned && (along == 1 || joint->kind == ZW_JOINT_BALL);
}

/* Does a tendon with a mass of its own pass there? */
static int is_passed(const model_bodies *from, int body)
{
    for (int t = 0; t < from->count[ZW_KIND_TENDON]; t++) {
        const zw_tendon_def *tendon = &from->tendon[t];
        for (int k = 0; k < tendon->stop_count && tendon->armature != 0; k++) {
            const zw_stop *stop = &tendon->stop[k];
            if ((stop->kind == ZW_STOP_SITE && from->site[stop->index].body == body) ||
                (stop->kind == ZW_STOP_GEOM && from->geom[stop->index].body == body)) {
                return 1;
            }
        }
    }
    return 0;
}

/* MuJoCo keeps the diagonal only of the mass matrix of a body for which it is diagonal: one without
 * children whose joints are fixed to the world, with its axes of inertia along its own. */
static int is_simple(const bodies_builder *b, int body)
{
    const model_bodies *from = b->from;
    const zw_inertia *in = &b->inertia[body];
    int on = from->body[body].parent, turned = 0, simple = from->body[on].parent <= 0;
    for (int k = 0; k < 3; k++) {
        simple &= fabs(in->com[k]) <= NIL && fabs(in->quat[k + 1]) <= NIL;
    }
    for (int i = 1; i < from->count[ZW_KIND_BODY] && simple; i++) {
        simple = from->body[i].parent != body;
    }
    for (int k = 0; k < from->count[ZW_KIND_JOINT] && simple; k++) {
        const zw_joint_def *joint = &from->joint[b->order[k]];
        simple = joint->body == body ? joint->kind != ZW_JOINT_FREE && is_straight(joint, turned)
                                     : joint->body != on || on == 0;
        turned |= joint->body == body && joint->kind != ZW_JOINT_SLIDE;
    }
    return simple && !is_passed(from, body);
}

zw_status bodies_make_parts(bodies_builder *b, zw_error *error)
{
    struct system_bodies *to = b->to;
    int bodies = b->from->count[ZW_KIND_BODY], joints = b->from->count[ZW_KIND_JOINT];
    to->part = base_alloc((size_t)bodies * sizeof *to->part);
    to->joint = base_alloc(((size_t)joints + 1) * sizeof *to->joint);
    if (!to->part || !to->joint || bodies_name_parts(b, ZW_KIND_BODY, &to->part_name) != ZW_OK ||
        bodies_name_parts(b, ZW_KIND_JOINT, &to->joint_name) != ZW_OK) {
        return base_no_memory(error);
    }
    for (int i = 0; i < bodies; i++) {
        to->part[i] = part_of(b, i);
        to->part[i].simple =
            i > 0 && to->integrator == ZW_INTEGRATOR_IMPLICIT_FAST && is_simple(b, i);
    }
    for (int k = 0; k < joints; k++) {
        int j = b->order[k];
        to->joint[j] = (bodies_joint){.part = b->from->joint[j].body, .index = k};
    }
    to->part_count = bodies;
    to->joint_count = joints;
    return ZW_OK;
}

int bodies_only_shifts(const tree_mechanism *tree, const struct system_bodies *bodies, int part)
{
    const bodies_part *own = &bodies->part[part], *above = &bodies->part[own->parent];
    const tree_body *body = &tree->body[own->frame.body];
    int good = part > 0 && body->dof_end > body->dof && body->parent == 0 && above->parent <= 0;
    for (int j = body->joint; j < body->joint_end && good; j++) {
        const tree_joint *joint = &tree->joint[j];
        good = joint->kind == TREE_SLIDE && joint->along != TREE_ASKEW && joint->anchor[0] == 0 &&
               joint->anchor[1] == 0 && joint->anchor[2] == 0;
    }
    for (int k = 0; k < 3 && good; k++) {
        good = own->frame.pos[k] == 0 && own->com[k] == 0 && own->inertia[3 + k] == 0;
    }
    for (int i = 1; i < bodies->part_count && good; i++) {
        good = bodies->part[i].parent != part;
    }
    return good;
}

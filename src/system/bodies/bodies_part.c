/* The bodies and joints of the model one by one, including welded ones, for the forces between
 * them. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "system/bodies/bodies_build.h"

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

/* Names for coordinates and speeds of bodies. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "system/bodies/bodies_build.h"

char *bodies_copy(const char *text)
{
    return model_text_copy(text, strlen(text));
}

/* A joint without a name gets one from its body: "arm.joint", and "arm.joint2" for the second
 * one. */
static void joint_name(const bodies_builder *b, int index, char *name)
{
    const zw_joint_def *joint = &b->from->joint[index];
    const char *body = b->from->body[joint->body].name;
    int count = b->joint_rank ? b->joint_rank[index] + 1 : 1;
    for (int k = 0; k < index && !b->joint_rank; k++) {
        count += b->from->joint[k].body == joint->body;
    }
    if (body == NULL) {
        snprintf(name, BODIES_NAME, "joint%d", index);
    } else if (count > 1) {
        snprintf(name, BODIES_NAME, "%.150s.joint%d", body, count);
    } else {
        snprintf(name, BODIES_NAME, "%.150s.joint", body);
    }
}

static void own_name(const bodies_builder *b, zw_kind kind, int index, char *name)
{
    const char *given = *model_part_name(model_part_at(b->from, kind, index));
    if (given != NULL && given[0] != 0) {
        snprintf(name, BODIES_NAME, "%.199s", given);
        return;
    }
    if (kind == ZW_KIND_JOINT) {
        joint_name(b, index, name);
    } else {
        snprintf(name, BODIES_NAME, "%s%d", model_part_word(kind), index);
    }
    while (model_find_part(b->from, kind, name) >= 0 && strlen(name) + 2 < BODIES_NAME) {
        strcat(name, "_");
    }
}

/* The name of an imported robot precedes all names except those of constraints made by the
 * importing file. */
void bodies_part_name(const bodies_builder *b, zw_kind kind, int index, char *name)
{
    char own[BODIES_NAME];
    own_name(b, kind, index, own);
    int ours = kind == ZW_KIND_EQUALITY && index >= b->model->robot_equalities;
    if (b->model->robot == NULL || ours) {
        memcpy(name, own, sizeof own);
    } else {
        snprintf(name, BODIES_NAME, "%.60s.%.200s", b->model->robot, own);
    }
}

static const char *const free_q[] = {"x", "y", "z", "qw", "qx", "qy", "qz"};

static void part_name(const bodies_builder *b, int j, int part, int speed, char *name)
{
    static const char *const free_v[] = {"vx", "vy", "vz", "wx", "wy", "wz"};
    const zw_joint_def *joint = &b->from->joint[j];
    bodies_part_name(b, ZW_KIND_JOINT, j, name);
    size_t length = strlen(name), capacity = BODIES_NAME - length;
    int skip = joint->kind == ZW_JOINT_BALL ? 3 : 0;
    if (joint->kind == ZW_JOINT_FREE || joint->kind == ZW_JOINT_BALL) {
        snprintf(name + length, capacity, ".%s", (speed ? free_v : free_q)[skip + part]);
    } else {
        snprintf(name + length, capacity, "%s", speed ? "'" : "");
    }
}

zw_status bodies_name_coordinates(bodies_builder *b, zw_error *error)
{
    zw_model *shown = b->to->shown;
    char name[BODIES_NAME];
    int dof = 0;
    for (int k = 0; k < b->from->count[ZW_KIND_JOINT]; k++) {
        int j = b->order[k], kind = b->from->joint[j].kind;
        for (int part = 0; part < model_joint_positions[kind]; part++) {
            model_coord *coord = model_add_coord(shown);
            part_name(b, j, part, 0, name);
            if (!coord || !(coord->name = bodies_copy(name))) {
                return base_no_memory(error);
            }
            coord->place = b->from->joint[j].place;
        }
        for (int part = 0; part < model_joint_speeds[kind]; part++, dof++) {
            part_name(b, j, part, 1, name);
            if (!(b->to->speed[dof] = bodies_copy(name))) {
                return base_no_memory(error);
            }
        }
    }
    for (int i = 0; i < b->from->count[ZW_KIND_BODY]; i++) {
        for (int part = 0; part < 7 && b->from->body[i].mocap; part++) {
            model_coord *coord = model_add_coord(shown);
            bodies_part_name(b, ZW_KIND_BODY, i, name);
            size_t length = strlen(name);
            snprintf(name + length, sizeof name - length, ".%s", free_q[part]);
            if (!coord || !(coord->name = bodies_copy(name))) {
                return base_no_memory(error);
            }
            coord->place = b->from->body[i].place;
        }
    }
    return ZW_OK;
}

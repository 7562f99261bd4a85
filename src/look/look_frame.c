/* The pose of a frame or a point, its motion, and its Jacobian. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "look/probe.h"
#include "model/bodies.h"
#include "model/pose.h"
#include "system/bodies/bodies.h"
#include "tree/sweeps.h"

/* ---- Names ---------------------------------------------------------------------------------- */

int zw_point_count(const zw_probe *probe)
{
    return probe->points.count;
}

const char *zw_point_name(const zw_probe *probe, int point)
{
    return point >= 0 && point < probe->points.count ? probe->model->point[point].name : "";
}

static zw_frame frame_of(int body, const double pos[3], const double quat[4])
{
    zw_frame frame = {.body = body, .point = -1};
    memcpy(frame.pos, pos, sizeof frame.pos);
    memcpy(frame.quat, quat, sizeof frame.quat);
    return frame;
}

/* Of the model's own kinds. 0: it has none of that name. */
static int find_part(const zw_model *model, zw_kind kind, const char *name, zw_frame *frame)
{
    static const double origin[3] = {0}, upright[4] = {1, 0, 0, 0};
    int index = zw_model_find(model, kind, name);
    if (index < 0 && kind == ZW_KIND_BODY && strcmp(name, "world") == 0) {
        index = 0;
    }
    if (index < 0) {
        return 0;
    }
    if (kind == ZW_KIND_SITE) {
        const zw_site_def *site = zw_model_def(model, kind, index);
        *frame = frame_of(site->body, site->pos, site->quat);
    } else if (kind == ZW_KIND_GEOM) {
        const zw_geom_def *geom = zw_model_def(model, kind, index);
        *frame = frame_of(geom->body, geom->pos, geom->quat);
    } else {
        *frame = frame_of(index, origin, upright);
    }
    return 1;
}

/* The centre of mass and principal axes of a body. */
static zw_status centre_of(const zw_probe *probe, zw_frame *frame)
{
    const bodies_part *part = &probe->system->bodies->part[frame->body];
    double back[4] = {part->frame.quat[0], -part->frame.quat[1], -part->frame.quat[2],
                      -part->frame.quat[3]};
    double arm[3], axes[4], moment[3];
    for (int k = 0; k < 3; k++) {
        arm[k] = part->com[k] - part->frame.pos[k];
    }
    model_rotate(back, arm, frame->pos);
    model_principal(part->inertia, axes, moment);
    model_quat_multiply(frame->quat, back, axes);
    return ZW_OK;
}

/* The word before the name, if it is one of ours; *rest is what follows. */
static int word_of(const char *name, const char **rest)
{
    static const char *const word[] = {"site ", "body ", "geom ", "com ", "point "};
    for (int k = 0; k < 5; k++) {
        if (strncmp(name, word[k], strlen(word[k])) == 0) {
            *rest = name + strlen(word[k]);
            return k;
        }
    }
    *rest = name;
    return -1;
}

static zw_status no_such(const zw_probe *probe, const char *name, zw_error *error)
{
    const zw_model *model = probe->model;
    if (!model->bodies) {
        return base_fail(error, ZW_BAD_INPUT, "there is no point %.80s%s%.80s%s", name,
                         probe->points.count > 0 ? "; there is " : " here, nor any other",
                         probe->points.count > 0 ? zw_point_name(probe, 0) : "",
                         probe->points.count > 1 ? " and others" : "");
    }
    for (int kind = ZW_KIND_BODY; kind <= ZW_KIND_SITE; kind++) {
        for (int i = 0; i < zw_model_count(model, (zw_kind)kind); i++) {
            const void *def = zw_model_def(model, (zw_kind)kind, i);
            const char *known = *model_part_name((void *)def);
            size_t length = strlen(name);
            if (known && length > 0 &&
                (strncmp(known, name, length) == 0 || strstr(known, name) ||
                 strncmp(known, name, strlen(known)) == 0)) {
                return base_fail(error, ZW_BAD_INPUT,
                                 "no site, body or geom is called %.80s; did you mean %s %.80s?",
                                 name, model_part_word((zw_kind)kind), known);
            }
        }
    }
    base_fail(error, ZW_BAD_INPUT, "no site, body or geom is called %.80s", name);
    int listed = 0;
    for (int i = 1; i < zw_model_count(model, ZW_KIND_BODY) && listed < 8; i++) {
        const zw_body_def *body = zw_model_def(model, ZW_KIND_BODY, i);
        if (body->name) {
            base_fail_more(error, "%s%.40s", listed++ ? ", " : "; bodies are ", body->name);
        }
    }
    return ZW_BAD_INPUT;
}

static zw_status find_point(const zw_probe *probe, const char *name, zw_frame *frame,
                            zw_error *error)
{
    for (int p = 0; p < probe->points.count; p++) {
        if (strcmp(zw_point_name(probe, p), name) == 0) {
            *frame = (zw_frame){.body = -1, .point = p, .quat = {1, 0, 0, 0}};
            return ZW_OK;
        }
    }
    return no_such(probe, name, error);
}

zw_status zw_frame_find(const zw_probe *probe, const char *name, zw_frame *frame, zw_error *error)
{
    static const zw_kind kind[] = {ZW_KIND_SITE, ZW_KIND_BODY, ZW_KIND_GEOM, ZW_KIND_BODY};
    const zw_model *model = probe->model;
    const char *rest;
    int word = word_of(name, &rest), found = 0;
    if (!probe->system->tree) {
        return find_point(probe, word == 4 ? rest : name, frame, error);
    }
    size_t robot = model->robot ? strlen(model->robot) : 0;
    if (robot > 0 && strncmp(rest, model->robot, robot) == 0 && rest[robot] == '.') {
        rest += robot + 1; /* the name in formulas: robot.hand */
    }
    for (int k = 0; k < 3 && !found; k++) {
        found = (word < 0 || word == k) && find_part(model, kind[k], rest, frame);
    }
    if (word == 3 && find_part(model, ZW_KIND_BODY, rest, frame)) {
        return centre_of(probe, frame);
    }
    return found ? ZW_OK : no_such(probe, rest, error);
}

/* ---- Motion --------------------------------------------------------------------------------- */

/* Does the frame belong to this system? */
static zw_status check(const zw_probe *probe, const zw_frame *frame, zw_error *error)
{
    const zw_system *system = probe->system;
    if (!system->tree && frame->body < 0 && frame->point >= 0 &&
        frame->point < probe->points.count) {
        return ZW_OK;
    }
    if (system->tree && frame->body >= 0 && frame->body < system->bodies->part_count) {
        return ZW_OK;
    }
    return base_fail(error, ZW_BAD_INPUT, "this frame belongs to nothing in the system");
}

/* The frame on the body of the tree that carries it, and its position in the world. */
static bodies_frame carried_by(const zw_probe *probe, const zw_frame *frame, double place[3])
{
    const bodies_frame *part = &probe->system->bodies->part[frame->body].frame;
    model_pose outer, inner;
    memcpy(outer.pos, part->pos, sizeof outer.pos);
    memcpy(outer.quat, part->quat, sizeof outer.quat);
    memcpy(inner.pos, frame->pos, sizeof inner.pos);
    memcpy(inner.quat, frame->quat, sizeof inner.quat);
    model_quat_unit(inner.quat);
    model_pose pose = model_pose_chain(&outer, &inner);
    bodies_frame on = {.body = part->body, .part = frame->body};
    memcpy(on.pos, pose.pos, sizeof on.pos);
    memcpy(on.quat, pose.quat, sizeof on.quat);
    tree_point(probe->system->tree, on.body, on.pos, probe->work->sweeps, place);
    return on;
}

static void look_at_point(const zw_probe *probe, int point, const double *a,
                          zw_frame_motion *motion)
{
    const probe_points *points = &probe->points;
    *motion = (zw_frame_motion){.quat = {1, 0, 0, 0}, .matrix = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    motion->dimension = points->component[point + 1] - points->component[point];
    for (int k = 0; k < motion->dimension; k++) {
        const probe_component *part = &points->part[points->component[point] + k];
        motion->pos[k] = points->out[part->at];
        motion->velocity[k] = points->out[part->at + 1];
        motion->acceleration[k] = points->out[part->at + 2];
        for (int i = 0; a && i < part->count; i++) {
            motion->acceleration[k] +=
                points->out[part->at + 3 + i] * a[points->column[part->first + i]];
        }
    }
}

/* After the sweeps of the tree. */
static void look_at_frame(const zw_probe *probe, const zw_frame *frame, zw_frame_motion *motion)
{
    const tree_mechanism *tree = probe->system->tree;
    double *sweeps = probe->work->sweeps, V[6], A[6];
    *motion = (zw_frame_motion){.dimension = 3};
    bodies_frame on = carried_by(probe, frame, motion->pos);
    tree_point_velocity(tree, on.body, motion->pos, sweeps, V);
    tree_point_acceleration(tree, on.body, motion->pos, sweeps, A);
    model_quat_multiply(motion->quat, sweeps + tree->at.quat + 4 * on.body, on.quat);
    model_quat_matrix(motion->quat, motion->matrix);
    memcpy(motion->spin, V, sizeof motion->spin);
    memcpy(motion->velocity, V + 3, sizeof motion->velocity);
    memcpy(motion->spin_rate, A, sizeof motion->spin_rate);
    memcpy(motion->acceleration, A + 3, sizeof motion->acceleration);
}

zw_status zw_frame_look(zw_probe *probe, const zw_state *state, const zw_frame *frames, int count,
                        const double *a, zw_frame_motion *motion, zw_error *error)
{
    const tree_mechanism *tree = probe->system->tree;
    zw_status status = ZW_OK;
    for (int i = 0; i < count && status == ZW_OK; i++) {
        status = check(probe, &frames[i], error);
    }
    if (status != ZW_OK || count < 1) {
        return status;
    }
    probe_now now = probe_bind(probe, state);
    if (tree) {
        probe_sweep(probe, now);
        tree_accelerations(tree, a, probe->work->sweeps);
    } else {
        status = probe_points_run(probe, now, error);
    }
    for (int i = 0; i < count; i++) {
        if (tree) {
            look_at_frame(probe, &frames[i], &motion[i]);
        } else {
            look_at_point(probe, frames[i].point, a, &motion[i]);
        }
    }
    return status;
}

/* ---- Jacobians ------------------------------------------------------------------------------ */

static zw_status point_jacobian(zw_probe *probe, probe_now now, int point, double *position,
                                zw_error *error)
{
    const probe_points *points = &probe->points;
    int n = probe->system->n;
    zw_status status = probe_points_run(probe, now, error);
    for (int c = points->component[point]; position && c < points->component[point + 1]; c++) {
        const probe_component *part = &points->part[c];
        double *row = position + (size_t)(c - points->component[point]) * (size_t)n;
        for (int i = 0; i < part->count; i++) {
            row[points->column[part->first + i]] = points->out[part->at + 3 + i];
        }
    }
    return status;
}

zw_status zw_frame_jacobian(zw_probe *probe, const zw_state *state, const zw_frame *frame,
                            double *position, double *rotation, zw_error *error)
{
    const tree_mechanism *tree = probe->system->tree;
    size_t n = (size_t)probe->system->n;
    zw_status status = check(probe, frame, error);
    if (status != ZW_OK) {
        return status;
    }
    if (!tree && rotation) {
        return base_fail(error, ZW_BAD_INPUT, "a point has a place, but it does not turn");
    }
    probe_now now = probe_bind(probe, state);
    if (position) {
        memset(position, 0, 3 * n * sizeof *position);
    }
    if (!tree) {
        return point_jacobian(probe, now, frame->point, position, error);
    }
    if (rotation) {
        memset(rotation, 0, 3 * n * sizeof *rotation);
    }
    double place[3];
    tree_kinematics(tree, now.q, probe->work->sweeps);
    bodies_frame on = carried_by(probe, frame, place);
    tree_jacobian(tree, on.body, place, probe->work->sweeps, probe->chain);
    int count = tree_chain(tree, on.body, probe->dof);
    for (int k = 0; k < count; k++) {
        for (size_t i = 0; i < 3; i++) {
            size_t at = i * n + (size_t)probe->dof[k];
            if (rotation) {
                rotation[at] = probe->chain[6 * (size_t)k + i];
            }
            if (position) {
                position[at] = probe->chain[6 * (size_t)k + 3 + i];
            }
        }
    }
    return ZW_OK;
}

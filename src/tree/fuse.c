/* Sums of rigid bodies: with m = m1 + m2, the centre c = (m1 c1 + m2 c2) / m, and d = c2 - c1,
 *
 *     I = I1 + R I2 R' + (m1 m2 / m) (d.d 1 - d d')
 *
 * about c: Steiner's theorem for both at once, without differences of large numbers. */
#include "tree/fuse.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static void quat_unit(const double *q, double *unit)
{
    double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int k = 0; k < 4; k++) {
        unit[k] = q[k] / length;
    }
}

static void quat_matrix(const double *q, double R[3][3])
{
    double w = q[0], x = q[1], y = q[2], z = q[3];
    const double rows[3][3] = {
        {1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)},
        {2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)},
        {2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)}};
    memcpy(R, rows, sizeof rows);
}

/* From the frame to the body that carries it. */
static void place(const tree_frame *frame, const double *local, double *there)
{
    double R[3][3];
    quat_matrix(frame->quat, R);
    for (int k = 0; k < 3; k++) {
        there[k] = frame->pos[k] + (R[k][0] * local[0] + R[k][1] * local[1] + R[k][2] * local[2]);
    }
}

/* R I R' added to `sum` */
static void add_turned(const double *quat, const double *I, double *sum)
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    const double full[3][3] = {{I[0], I[3], I[4]}, {I[3], I[1], I[5]}, {I[4], I[5], I[2]}};
    double R[3][3];
    quat_matrix(quat, R);
    for (int e = 0; e < 6; e++) {
        for (int a = 0; a < 3; a++) {
            for (int b = 0; b < 3; b++) {
                sum[e] += R[row[e]][a] * full[a][b] * R[column[e]][b];
            }
        }
    }
}

/* Adds the mass and inertia of a body at this frame to `carrier`. */
static void add_mass(tree_body_def *carrier, const tree_frame *frame, const tree_body_def *body)
{
    double mass = carrier->mass + body->mass, com[3], d[3];
    if (mass > 0.0) {
        place(frame, body->com, com);
        for (int k = 0; k < 3; k++) {
            d[k] = com[k] - carrier->com[k];
            carrier->com[k] += body->mass / mass * d[k];
        }
        double m = carrier->mass / mass * body->mass;
        double xx = d[0] * d[0], yy = d[1] * d[1], zz = d[2] * d[2];
        const double steiner[6] = {yy + zz,      xx + zz,      xx + yy,
                                   -d[0] * d[1], -d[0] * d[2], -d[1] * d[2]};
        for (int e = 0; e < 6; e++) {
            carrier->inertia[e] += m * steiner[e];
        }
    }
    add_turned(frame->quat, body->inertia, carrier->inertia);
    carrier->mass = mass;
}

/* The pose of a body in the body that carries its parent. */
static tree_frame frame_of(const tree_frame *parent, const tree_body_def *body)
{
    const double *p = parent->quat;
    double q[4];
    tree_frame frame = {.body = parent->body};
    quat_unit(body->quat, q);
    place(parent, body->pos, frame.pos);
    const double product[4] = {p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
                               p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
                               p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
                               p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0]};
    quat_unit(product, frame.quat);
    return frame;
}

static void fuse(const tree_def *def, tree_fused *fused)
{
    const tree_frame itself = {.quat = {1.0}};
    fused->frame[0] = itself;
    fused->body[0] = tree_body_default(-1);
    fused->def.body_count = 1;
    for (int i = 1; i < def->body_count; i++) {
        const tree_body_def *body = def->body + i;
        tree_frame frame = frame_of(fused->frame + body->parent, body);
        if (body->joint_count == 0 && !body->is_placed) {
            add_mass(fused->body + frame.body, &frame, body);
        } else {
            tree_body_def *own = fused->body + fused->def.body_count;
            *own = *body;
            own->parent = frame.body;
            memcpy(own->pos, frame.pos, sizeof own->pos);
            memcpy(own->quat, frame.quat, sizeof own->quat);
            frame = itself;
            frame.body = fused->def.body_count++;
        }
        fused->frame[i] = frame;
    }
}

zw_status tree_fuse(const tree_def *def, tree_fused *fused, zw_error *error)
{
    zw_status status = tree_check(def, error);
    if (status != ZW_OK) {
        return status;
    }
    size_t count = (size_t)def->body_count;
    *fused = (tree_fused){.def = *def,
                          .frame = base_alloc(count * sizeof *fused->frame),
                          .body = base_alloc(count * sizeof *fused->body)};
    if (fused->frame == NULL || fused->body == NULL) {
        tree_fused_free(fused);
        return base_fail(error, ZW_NO_MEMORY, "no memory for a tree of %d bodies", def->body_count);
    }
    fused->def.body = fused->body;
    fuse(def, fused);
    return ZW_OK;
}

void tree_fused_free(tree_fused *fused)
{
    base_free(fused->frame);
    base_free(fused->body);
    *fused = (tree_fused){0};
}

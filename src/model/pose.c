#include "model/pose.h"

#include <math.h>

#include "math/dense/dense.h"
#include "math/elementary.h"

model_pose model_pose_none(void)
{
    return (model_pose){{0, 0, 0}, {1, 0, 0, 0}};
}

model_pose model_pose_chain(const model_pose *outer, const model_pose *inner)
{
    model_pose pose;
    model_rotate(outer->quat, inner->pos, pose.pos);
    for (int i = 0; i < 3; i++) {
        pose.pos[i] += outer->pos[i];
    }
    model_quat_multiply(pose.quat, outer->quat, inner->quat);
    return pose;
}

void model_quat_multiply(double product[4], const double a[4], const double b[4])
{
    double p[4] = {a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
                   a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
                   a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
                   a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]};
    for (int i = 0; i < 4; i++) {
        product[i] = p[i];
    }
}

int model_quat_unit(double quat[4])
{
    /* Scaled by the largest component first, so that squares neither overflow nor underflow. */
    double most = 0;
    for (int i = 0; i < 4; i++) {
        most = fmax(most, fabs(quat[i]));
    }
    if (!(most > 0) || !isfinite(most)) {
        return 0;
    }
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        quat[i] /= most;
        sum += quat[i] * quat[i];
    }
    double length = sqrt(sum);
    for (int i = 0; i < 4; i++) {
        quat[i] /= length;
    }
    return 1;
}

void model_quat_axis(double quat[4], const double unit_axis[3], double angle)
{
    double sine, cosine;
    math_sincos(angle / 2, &sine, &cosine);
    quat[0] = cosine;
    for (int i = 0; i < 3; i++) {
        quat[i + 1] = sine * unit_axis[i];
    }
}

void model_quat_matrix(const double quat[4], double R[9])
{
    double w = quat[0], x = quat[1], y = quat[2], z = quat[3];
    R[0] = 1 - 2 * (y * y + z * z);
    R[1] = 2 * (x * y - w * z);
    R[2] = 2 * (x * z + w * y);
    R[3] = 2 * (x * y + w * z);
    R[4] = 1 - 2 * (x * x + z * z);
    R[5] = 2 * (y * z - w * x);
    R[6] = 2 * (x * z - w * y);
    R[7] = 2 * (y * z + w * x);
    R[8] = 1 - 2 * (x * x + y * y);
}

/* 4 w^2 = 1 + trace, and similarly for x, y, z: the largest of these is at least 1, and the other
 * components follow from it without cancellation. */
void model_quat_of_matrix(double quat[4], const double R[9])
{
    double four[4] = {1 + R[0] + R[4] + R[8], 1 + R[0] - R[4] - R[8], 1 - R[0] + R[4] - R[8],
                      1 - R[0] - R[4] + R[8]};
    double mixed[4][4] = {{0, R[7] - R[5], R[2] - R[6], R[3] - R[1]},
                          {R[7] - R[5], 0, R[1] + R[3], R[2] + R[6]},
                          {R[2] - R[6], R[1] + R[3], 0, R[5] + R[7]},
                          {R[3] - R[1], R[2] + R[6], R[5] + R[7], 0}};
    int k = 0;
    for (int i = 1; i < 4; i++) {
        k = four[i] > four[k] ? i : k;
    }
    double twice = sqrt(four[k]);
    for (int i = 0; i < 4; i++) {
        quat[i] = i == k ? twice / 2 : mixed[k][i] / (2 * twice);
    }
    model_quat_unit(quat);
}

/* Half the rotation from z to u has cosine |z + u| / 2 and axis z x u: q = (1 + u_z, z x u),
 * scaled. */
void model_quat_z_to(double quat[4], const double direction[3])
{
    double u[3] = {direction[0], direction[1], direction[2]};
    model_unit(u);
    double axis[3] = {-u[1], u[0], 0};
    double sine = model_unit(axis);
    if (sine < 1e-10) { /* along z, or against it: then about x */
        axis[0] = 1;
        axis[1] = axis[2] = 0;
        sine = 0;
    }
    model_quat_axis(quat, axis, math_atan2(sine, u[2]));
}

void model_rotate(const double quat[4], const double v[3], double out[3])
{
    double R[9];
    double x[3] = {v[0], v[1], v[2]};
    model_quat_matrix(quat, R);
    for (int i = 0; i < 3; i++) {
        out[i] = R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2];
    }
}

void model_cross(double out[3], const double a[3], const double b[3])
{
    double c[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    for (int i = 0; i < 3; i++) {
        out[i] = c[i];
    }
}

double model_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

double model_unit(double v[3])
{
    double most = fmax(fabs(v[0]), fmax(fabs(v[1]), fabs(v[2])));
    if (!(most > 0) || !isfinite(most)) {
        return 0;
    }
    double u[3] = {v[0] / most, v[1] / most, v[2] / most};
    double length = sqrt(model_dot(u, u));
    for (int i = 0; i < 3; i++) {
        v[i] = u[i] / length;
    }
    return most * length;
}

/* Of the rotations that do this the one that is reached by turns in the plane of the largest
 * remaining element, by at most an eighth, then by quarters until the values are in order: axes
 * have two directions each, and these are MuJoCo's. */
void model_principal(const double matrix[6], double quat[4], double value[3])
{
    double a[9] = {matrix[0], matrix[3], matrix[4], matrix[3], matrix[1],
                   matrix[5], matrix[4], matrix[5], matrix[2]};
    double v[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    for (int turn = 0; turn < 90; turn++) { /* converges quadratically: twenty are plenty */
        double x = fabs(a[1]), y = fabs(a[2]), z = fabs(a[5]);
        dense_turn(a, v, 3, (x > y && x > z) || y > z ? 0 : 1, x > y && x > z ? 1 : 2);
    }
    for (int i = 0; i < 3; i++) {
        value[i] = a[4 * i];
    }
    for (int i = 0; i < 3; i++) {
        int p = i % 2;
        for (int k = p; k < 9 && value[p] < value[p + 1]; k += 3) {
            double axis = v[k];
            v[k] = v[k + 1];
            v[k + 1] = -axis;
        }
        double most = fmax(value[p], value[p + 1]);
        value[p + 1] = fmin(value[p], value[p + 1]);
        value[p] = most;
    }
    model_quat_of_matrix(quat, v);
}

void model_principal_matrix(const double quat[4], const double value[3], double matrix[6])
{
    static const int at[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    double R[9];
    model_quat_matrix(quat, R);
    for (int i = 0; i < 6; i++) {
        const double *r = &R[3 * at[i][0]], *s = &R[3 * at[i][1]];
        matrix[i] = r[0] * value[0] * s[0] + r[1] * value[1] * s[1] + r[2] * value[2] * s[2];
    }
}

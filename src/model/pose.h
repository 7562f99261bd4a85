/* Rotations and translations: unit quaternions (w, x, y, z) and points. */
#ifndef ZW_MODEL_POSE_H
#define ZW_MODEL_POSE_H

typedef struct model_pose {
    double pos[3], quat[4];
} model_pose;

model_pose model_pose_none(void);
/* Composition: `inner` is given in the frame `outer`; the result is in the frame of `outer`. */
model_pose model_pose_chain(const model_pose *outer, const model_pose *inner);

void model_quat_multiply(double product[4], const double a[4], const double b[4]);
int model_quat_unit(double quat[4]); /* normalises; 0: it is zero */
void model_quat_axis(double quat[4], const double unit_axis[3], double angle);
void model_quat_matrix(const double quat[4], double R[9]); /* row by row */
void model_quat_of_matrix(double quat[4], const double R[9]);
/* The shortest rotation from z to this direction (of any length but 0). */
void model_quat_z_to(double quat[4], const double direction[3]);
void model_rotate(const double quat[4], const double v[3], double out[3]);

void model_cross(double out[3], const double a[3], const double b[3]);
double model_dot(const double a[3], const double b[3]);
double model_unit(double v[3]); /* normalises v, unless it is zero; returns its previous length */

/* Principal axes: the symmetric matrix (xx yy zz xy xz yz) is R diag(value) R', largest first. */
void model_principal(const double matrix[6], double quat[4], double value[3]);
/* (xx yy zz xy xz yz) of R diag(value) R'. */
void model_principal_matrix(const double quat[4], const double value[3], double matrix[6]);

#endif

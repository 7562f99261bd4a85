/* Queries about a mechanism: poses and their motion, Jacobians, masses, forces by kind,
 * momenta, rows of constraints.
 *
 *     zw_probe *probe = zw_probe_create(model, system, &error);
 *     zw_frame hand;
 *     zw_frame_find(probe, "site hand", &hand, &error);
 *     zw_frame_jacobian(probe, state, &hand, position, rotation, &error);     [3][n] each
 *     zw_probe_free(probe);
 *
 * A probe is scratch memory for these queries: one for each thread. Model and system must outlive
 * it; the state is only read, and every call evaluates it again. All arrays are the caller's; n is
 * zw_count(system, ZW_KIND_SPEED), and what is [k][n] stands row by row. Vectors are along the axes
 * of the world. Everything holds for robots and for equations (.zw); what makes no sense for one of
 * them is refused with ZW_BAD_INPUT and a reason. Wrenches through joints: zw_wrenches (bodies.h).
 */
#ifndef ZWANG_LOOK_H
#define ZWANG_LOOK_H

#include "zwang/bodies.h"
#include "zwang/zwang.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

typedef struct zw_probe zw_probe;

zw_probe *zw_probe_create(const zw_model *model, const zw_system *system, zw_error *error);
void zw_probe_free(zw_probe *probe);

/* ---- Frames and points -------------------------------------------------------------------- */

/* Something with a place: a frame that is fixed to a body, or a `point` of a .zw file. One may fill
 * it in by hand: any point of a body is {.body = i, .pos = {x, y, z}, .quat = {1, 0, 0, 0}}. */
typedef struct zw_frame {
    int body;               /* index in the model, 0: the world; -1: a point of equations */
    int point;              /* which point; not used for a body */
    double pos[3], quat[4]; /* in the frame of the body */
} zw_frame;

/* By name: "hand" is the site, else the body, else the geom of that name; for equations the point.
 * "site hand", "body hand", "geom hand" and "com hand" (the body's centre of mass and principal
 * axes) are unambiguous. */
zw_status zw_frame_find(const zw_probe *probe, const char *name, zw_frame *frame, zw_error *error);

/* Points of equations: how many, and their names (never NULL). */
int zw_point_count(const zw_probe *probe);
const char *zw_point_name(const zw_probe *probe, int point);

typedef struct zw_frame_motion {
    int dimension; /* 3; for points their number of components, the others are 0 */
    double pos[3];
    double quat[4], matrix[9];   /* from its axes to those of the world; matrix row by row */
    double velocity[3], spin[3]; /* of the origin, and angular */
    double acceleration[3], spin_rate[3]; /* for the accelerations a */
} zw_frame_motion;

/* Fills motion[count] with the motion of frames[count]. Many cost little more than one. a[n]: the
 * accelerations of the speeds, as ZW_FIELD_A after zw_forward; NULL: zero, so that accelerations
 * are (dJ/dt) v. */
zw_status zw_frame_look(zw_probe *probe, const zw_state *state, const zw_frame *frames, int count,
                        const double *a, zw_frame_motion *motion, zw_error *error);

/* velocity = position v (for equations plus the derivative by time), spin = rotation v. Each is
 * [3][n], or NULL: not wanted. Points of equations have no rotation. */
zw_status zw_frame_jacobian(zw_probe *probe, const zw_state *state, const zw_frame *frame,
                            double *position, double *rotation, zw_error *error);

/* ---- The mass matrix ---------------------------------------------------------------------- */

/* M[n][n]. */
zw_status zw_mass(zw_probe *probe, const zw_state *state, double *M, zw_error *error);

/* The lower triangle by columns: entries start[j] to start[j + 1] - 1 are column j, in rows row[],
 * the diagonal first. The pattern belongs to the system and never changes. */
typedef struct zw_mass_pattern {
    int n, entries;
    const int *start, *row;
} zw_mass_pattern;
zw_mass_pattern zw_mass_pattern_of(const zw_probe *probe);
zw_status zw_mass_entries(zw_probe *probe, const zw_state *state, double *value, zw_error *error);

/* y = M x and y = M \ x, for [n]; x and y may be the same. ZW_UNDETERMINED: M is singular. */
zw_status zw_mass_times(zw_probe *probe, const zw_state *state, const double *x, double *y,
                        zw_error *error);
zw_status zw_mass_solve(zw_probe *probe, const zw_state *state, const double *x, double *y,
                        zw_error *error);

/* ---- Forces by kind ----------------------------------------------------------------------- */

/* Generalised forces on the speeds: M a = ALL + constraints + contacts + dry friction, and ALL is
 * the sum of SPEEDS, POTENTIAL and APPLIED. */
typedef enum zw_force {
    ZW_FORCE_ALL,
    ZW_FORCE_SPEEDS, /* centrifugal, Coriolis and gyroscopic forces, and the velocity-dependent part
                        of forces with a potential; zero at rest */
    ZW_FORCE_POTENTIAL, /* gravity, springs, formulas that are potentials */
    ZW_FORCE_APPLIED,   /* motors, dampers, forces */
    /* for robots only: */
    ZW_FORCE_GRAVITY, /* weights, minus gravity compensation (gravcomp) */
    ZW_FORCE_SPRING,  /* of joints and tendons */
    ZW_FORCE_MOTOR,   /* actuators, within their limits */
    ZW_FORCE_PASSIVE  /* APPLIED without motors: dampers and the like */
} zw_force;

zw_status zw_force_look(zw_probe *probe, const zw_state *state, zw_force kind, double *force,
                        zw_error *error);

/* ---- Momenta ------------------------------------------------------------------------------ */

/* p = dL/dv [n]: for robots M v. */
zw_status zw_momenta(zw_probe *probe, const zw_state *state, double *p, zw_error *error);

/* Of the subtree of a body: the body and all its descendants; body 0: the whole model. Rotors
 * (armature) are not included. */
typedef struct zw_momentum {
    double mass;
    double com[3], velocity[3];
    double momentum[3]; /* mass * velocity */
    double spin[3];     /* angular momentum about the centre of mass */
} zw_momentum;
zw_status zw_momentum_look(zw_probe *probe, const zw_state *state, int body, zw_momentum *momentum,
                           zw_error *error);
/* velocity = com v, spin = spin v: [3][n] each, or NULL. mass * com is the Jacobian of the
 * momentum; with spin below it, the centroidal momentum matrix. */
zw_status zw_momentum_jacobian(zw_probe *probe, const zw_state *state, int body, double *com,
                               double *spin, zw_error *error);

/* ---- Rows of constraints ------------------------------------------------------------------ */

/* A a = b is what the constraints require of accelerations, one-sided ones as if they were closed:
 * A[m][n], b[m], m = zw_count(system, ZW_KIND_ROW); with the residuals phi[m] of positions (0 for
 * constraints on speeds) and psi[m] of speeds. Any pointer may be NULL. */
zw_status zw_rows_look(zw_probe *probe, const zw_state *state, double *A, double *b, double *phi,
                       double *psi, zw_error *error);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif

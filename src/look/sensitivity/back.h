/* Reverse sweeps over a tree at one position: back.c. */
#ifndef ZW_LOOK_BACK_H
#define ZW_LOOK_BACK_H

#include "look/sensitivity/touch.h"
#include "system/system.h"

typedef double back_six[6];

/* Velocity fields of all bodies at one position, each for its own vector of speeds. */
enum { BACK_X, BACK_U, BACK_V, BACK_FIELDS };

/* A position, and the slopes of a number phi by the velocities and poses of bodies there. Motions
 * and wrenches are about a fixed point O, along the axes of the world. */
typedef struct back_place {
    const zw_system *system;
    double *sweeps; /* of tree_kinematics, and of tree_velocities for the field set last */
    double O[3];
    back_six *S;                   /* [n] motions of the dofs */
    back_six *X[BACK_FIELDS];      /* [bodies] their motions */
    back_six *before[BACK_FIELDS]; /* [n] motions of the bodies that carry each dof */
    back_six *W[BACK_FIELDS];      /* [bodies] slopes of phi by X */
    back_six *T;                   /* [bodies] slopes of phi by twists of the bodies */
    back_six *sum;                 /* [bodies] scratch */
    double *q_by;                  /* [n] slopes by coordinates, along each speed */
} back_place;

/* A contact at a position: its point, its motion with the shapes, and the axis of its frame. */
typedef struct back_contact {
    contact_point point;
    touch_change touch[12];
    double gap_by[12]; /* slopes of the gap by the same twists about the point */
    double axis[3];
    int side; /* of the capsule whose axis it is; -1: an axis of the world */
} back_contact;

/* The contribution of a contact to phi: sum over fields x and rows r of rows[x][r] (J x)_r, plus
 * kappa times its gap. */
typedef struct back_rows {
    double rows[BACK_FIELDS][6];
    double kappa;
} back_rows;

/* 0: no memory. */
int back_create(back_place *p, const zw_system *system);
void back_free(back_place *p);
/* Sets the position, and all slopes there to 0; then the speeds of a field. */
void back_set(back_place *p, const double *q);
void back_field(back_place *p, int field, const double *speeds);
/* Sets all slopes to 0. */
void back_clear(back_place *p);
/* Motion of a body about its centre of mass: angular velocity, velocity. */
void back_motion(const back_place *p, int field, int body, double *to);
/* Adds wrench . back_motion to phi. */
void back_add(back_place *p, int field, int body, const double *wrench);
/* Adds torque . (a small rotation of the body) to phi. */
void back_turn(back_place *p, int body, const double *torque);
/* Fills a contact at these poses of the geoms, found by this choice. 0: its point has no slopes. */
int back_contact_look(const zw_system *system, const collide_pose *pose, const contact_point *point,
                      collide_choice choice, double left, back_contact *to);
/* The same for a point that is the midpoint of end[0] and end[1], fixed to its two bodies. leads:
 * its normal turns with the shapes at the feature `lead`; otherwise the normal is constant. */
int back_contact_stay(const zw_system *system, const collide_pose *pose, const contact_point *point,
                      double end[2][3], int leads, uint32_t lead, back_contact *to);
/* (J x) of the rows of a contact, along its frame, for a field. */
void back_rows_see(const back_place *p, const back_contact *at, int field, double *rows);
/* Adds these rows, along `frame`, to phi; slopes by that frame are added to g[3][3]. g NULL: the
 * frame is that of the point. */
void back_rows_add(back_place *p, const back_contact *at, int count, const back_rows *of,
                   const double *frame, double g[3][3]);
/* Adds slopes g by the frame of the point. */
void back_frame_add(back_place *p, const back_contact *at, double g[3][3]);
/* The slopes of phi: adds them to p->q_by and to speeds_by[field][n] (NULL: not needed). */
void back_gather(back_place *p, double *const speeds_by[BACK_FIELDS]);
/* q1 = q0 (+) a u: slopes by q1 become those by q0 and u, added; returns the slope by a. */
double back_advance(const zw_system *system, const double *u, double a, const double *q1_by,
                    double *q0_by, double *u_by);

#endif

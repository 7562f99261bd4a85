/* Reverse sweeps over a tree at one position: back.c. */
#ifndef ZW_LOOK_BACK_H
#define ZW_LOOK_BACK_H

#include "look/sensitivity/touch.h"
#include "system/system.h"

typedef double back_six[6];

/* Fields of velocities of all bodies at one position, each from speeds of its own. */
enum { BACK_X, BACK_U, BACK_V, BACK_FIELDS };

/* A position, and the slopes of a number phi by the velocities and places of bodies there. Motions
 * and wrenches are about O, a point that stays, along the axes of the world. */
typedef struct back_place {
    const zw_system *system;
    double *sweeps; /* of tree_kinematics, and tree_velocities of the field set last */
    double O[3];
    back_six *S;                   /* [n] motions of the dofs */
    back_six *X[BACK_FIELDS];      /* [bodies] motions, */
    back_six *before[BACK_FIELDS]; /* [n] and of what carries each dof */
    back_six *W[BACK_FIELDS];      /* [bodies] slopes of phi by X */
    back_six *T;                   /* [bodies] slopes of phi by twists of the bodies */
    back_six *sum;                 /* [bodies] scratch */
    double *q_by;                  /* [n] slopes by coordinates, along each speed */
} back_place;

/* A contact at a place: its point, how that moves with the shapes, and the axis of its frame. */
typedef struct back_contact {
    contact_point point;
    touch_change touch[12];
    double gap_by[12]; /* slopes of the gap, by the same twists about the point */
    double axis[3];
    int side; /* of the capsule that has the axis; -1: it is the world's */
} back_contact;

/* What phi is of the rows of a contact: sum over fields x and rows r of rows[x][r] (J x)_r, and
 * kappa times its gap. */
typedef struct back_rows {
    double rows[BACK_FIELDS][6];
    double kappa;
} back_rows;

/* 0: no memory. */
int back_create(back_place *p, const zw_system *system);
void back_free(back_place *p);
/* A position; all slopes there are 0. Then a field of speeds. */
void back_set(back_place *p, const double *q);
void back_field(back_place *p, int field, const double *speeds);
/* Slopes are 0 again. */
void back_clear(back_place *p);
/* Motion of a body about its centre of mass: turning, velocity. */
void back_motion(const back_place *p, int field, int body, double *to);
/* phi has wrench . back_motion. */
void back_add(back_place *p, int field, int body, const double *wrench);
/* phi has torque . (a small turn of the body). */
void back_turn(back_place *p, int body, const double *torque);
/* What a contact is at these poses of the geoms. 0: it has no such slopes. */
int back_contact_look(const zw_system *system, const collide_pose *pose, const contact_point *point,
                      double left, back_contact *to);
/* The same of a point that stays on its bodies, here on either, and has its frame from one with
 * this feature (leads), or as it is. */
int back_contact_stay(const zw_system *system, const collide_pose *pose, const contact_point *point,
                      double end[2][3], int leads, uint32_t lead, back_contact *to);
/* (J x) of the rows of a contact, along its frame, for a field. */
void back_rows_see(const back_place *p, const back_contact *at, int field, double *rows);
/* phi has these rows, along `frame`, whose slopes are added to g[3][3]; rows of the point that
 * are of its own frame: g NULL. */
void back_rows_add(back_place *p, const back_contact *at, int count, const back_rows *of,
                   const double *frame, double g[3][3]);
/* Slopes g by the frame of the point. */
void back_frame_add(back_place *p, const back_contact *at, double g[3][3]);
/* All of it: p->q_by, and speeds_by[field][n] (NULL: not asked for), added. */
void back_gather(back_place *p, double *const speeds_by[BACK_FIELDS]);
/* q1 = q0 (+) a u: slopes by q1 become those by q0 and u, added; returns the slope by a. */
double back_advance(const zw_system *system, const double *u, double a, const double *q1_by,
                    double *q0_by, double *u_by);

#endif

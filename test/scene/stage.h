/* Rigid bodies in contact, from which a Gauss problem in velocity form is made:
 *
 *     u = (v, omega) of every body, in world axes at its centre of mass
 *     M = mass and inertia,   u_free = u^- + h g
 *
 * A touch gives the rows n, t1, t2 (and spin n, roll t1, t2) of the velocity of body a relative to
 * body b or the world at a point. Its b is
 *
 *     normal:      -gap / h,  or  -bounce v_N^-  if it approaches;  plus belt . n
 *     tangential:  belt . t
 *
 * For the files of this folder. */
#ifndef ZWANG_TEST_SCENE_STAGE_H
#define ZWANG_TEST_SCENE_STAGE_H

#include "draft.h"

enum { STAGE_SOLIDS = 20, STAGE_TOUCHES = 80, STAGE_JOINTS = 24, STAGE_WORLD = -1 };

typedef struct solid {
    double mass, inertia[3]; /* about the principal axes */
    double half[3];          /* of the box; all three the radius of a sphere */
    double at[3], turn[9];   /* centre of mass; columns are the principal axes */
    double v[3], w[3];       /* before the step */
    int weightless;          /* held up by what the scene does not show */
    double lift[3];          /* a velocity that opens all contacts, with those of the others */
} solid;

typedef struct touch {
    int a, b; /* b may be STAGE_WORLD */
    double point[3], normal[3];
    double gap, bounce, belt[3];
    int rows;
    double friction[ZW_CONE_ROWS - 1];
} touch;

typedef enum joint_kind {
    JOINT_BALL,  /* 3 rows: the point */
    JOINT_HINGE, /* 5 rows: the point, no rotation across the axis */
    JOINT_RAIL,  /* 5 rows: only translation along the axis, at the speed of stage.carry across */
    JOINT_LIMIT  /* 1 inequality: rotation about the axis at least -gap / h */
} joint_kind;

typedef struct joint {
    joint_kind kind;
    int a, b;
    double point[3], axis[3], gap;
} joint;

typedef struct stage {
    dice dice;
    solid solid[STAGE_SOLIDS];
    touch touch[STAGE_TOUCHES];
    joint joint[STAGE_JOINTS];
    int solids, touches, joints;
    double h;        /* step */
    double mu;       /* friction of new touches */
    int elliptic;    /* draw two coefficients, both at most mu */
    double carry[3]; /* velocity that all bodies of the witness share */
    int weak;        /* no velocity opens all contacts: the witness is `carry` alone */
    int conflict[2]; /* touches that contradict each other, if they differ */
} stage;

void stage_start(stage *st, uint64_t seed);
int stage_box(stage *st, double mass, const double half[3], const double at[3]);
int stage_sphere(stage *st, double mass, double radius, const double at[3]);

/* Turn a body about an axis through its centre. */
void stage_turn(stage *st, int body, const double axis[3], double angle);

/* New contact, at rest and closed; NULL when there are too many. */
touch *stage_touch(stage *st, int a, int b, const double point[3], const double normal[3]);
joint *stage_joint(stage *st, joint_kind kind, int a, int b, const double point[3],
                   const double axis[3]);

/* A random direction so near the vertical that moving up opens a contact with it: strictly inside
 * the dual cone of friction mu. */
void stage_steep_normal(stage *st, double mu, double normal[3]);

/* Random velocities of this size for all bodies. */
void stage_shake(stage *st, double v, double w);

scene *stage_finish(stage *st, const char *name);

/* Families, by file. */
void stage_isostatic(stage *st);
void stage_stack(stage *st, int low, int high);
void stage_heavy_on_light(stage *st);
void stage_jointed(stage *st);
void stage_wedge(stage *st);
void stage_closing(stage *st);
void stage_gripper(stage *st);
void stage_arch(stage *st);
void stage_many_on_few(stage *st, int may_jam);
void stage_impact(stage *st);
void stage_painleve(stage *st);
void stage_rolling(stage *st);
void stage_pile(stage *st);
scene *robot_scene(uint64_t seed, const char *name);

/* ---- Three numbers ------------------------------------------------------------------------ */

#define PI 3.14159265358979323846

static inline double dot3(const double x[3], const double y[3])
{
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
}

static inline void cross3(const double x[3], const double y[3], double z[3])
{
    z[0] = x[1] * y[2] - x[2] * y[1];
    z[1] = x[2] * y[0] - x[0] * y[2];
    z[2] = x[0] * y[1] - x[1] * y[0];
}

static inline void set3(double x[3], double a, double b, double c)
{
    x[0] = a;
    x[1] = b;
    x[2] = c;
}

/* x += factor y */
static inline void add3(double x[3], double factor, const double y[3])
{
    for (int i = 0; i < 3; i++)
        x[i] += factor * y[i];
}

/* R = rotation about a unit axis, times R; row-major. */
void turn3(double R[9], const double axis[3], double angle);

/* t1, t2 across n, turned by an angle. */
void tangents3(const double n[3], double angle, double t1[3], double t2[3]);

#endif

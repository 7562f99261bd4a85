/* Internals of the derivatives of steps of robots: steps.c has a step and its backward pass,
 * steps_touch.c its constraints and contacts, steps_general.c equations without slopes in closed
 * form, steps_rk4.c Kutta's method, touch.c contact points, gradient.c whole motions. */
#ifndef ZW_LOOK_STEPS_H
#define ZW_LOOK_STEPS_H

#include "look/sensitivity/back.h"
#include "look/sensitivity/number.h"
#include "look/slopes/slopes_pull.h"
#include "step/soft_step.h"
#include "system/system.h"

enum { STEPS_W = BACK_X, STEPS_A = BACK_U, STEPS_V = BACK_V }; /* w of steps.c, as, v0 */

/* Relative, or in m: closer to a switch than this, the derivative is one-sided. */
#define STEPS_NEAR 1e-9

/* A number of the model among the unknowns: steps_number.c. */
typedef struct steps_variant {
    number_systems of;
    zw_work *work[NUMBER_SYSTEMS];
    soft_problem *soft[NUMBER_SYSTEMS];
} steps_variant;

typedef struct sens_steps {
    const zw_system *system;
    zw_work *work; /* its own */
    soft_problem *soft;
    double h;
    int damped;    /* dampers of joints are integrated implicitly */
    int implicit;  /* by MuJoCo's implicit integrators */
    int rk4;       /* by MuJoCo's RK4: steps_rk4.c, with */
    double *stage; /* its stages */
    int closed;    /* inertia and applied forces have slopes in closed form */

    /* The last step */
    double t, *q0, *v0, *q1, *v1; /* [nq], [n + acts] activations follow the speeds */
    int acts;
    double *a;  /* [n] accelerations of the step */
    double *as; /* [n] accelerations of the soft law */
    int looked; /* the members below belong to this step, too */
    double *scratch, *by_q, *by_v, *by_q_soft, *by_v_soft; /* of tree_differ */
    back_place place;                                      /* q0 */
    back_contact *touch;                                   /* [touch_capacity] */
    int touch_capacity;

    /* steps_general.c, for what has no slopes in closed form */
    soft_problem *aside;
    zw_work *aside_work;
    double *general;   /* [2 n + params + acts][3 n + acts] slopes of F, W a, M as, and of the
                          activations at the end; NULL: not needed */
    int *control_side; /* [params] bodies_control_sides */

    int names;
    steps_variant *variant;
    zw_work *plain_work; /* and the system itself */
    soft_problem *plain;
    double *number_by; /* [names] slopes by these are added here; NULL: not needed */

    double *y, *z, *w, *push; /* [n] scratch */
    double *act_by;           /* [acts] slopes by activations at the end */
    int kink_count;
    const char *kink;
    void *memory;
} sens_steps;

/* h: the length of all steps. ZW_BAD_INPUT: derivatives of something in the system are not
 * supported. */
sens_steps *steps_create(const zw_system *system, double h, zw_error *error);
void steps_free(sens_steps *s);

/* Takes a step from (q, v) with these parameters to s->q1, s->v1. */
zw_status steps_take(sens_steps *s, double t, const double *q, const double *v, const double *param,
                     zw_error *error);

/* The backward pass over the last step: from the slopes q1_by, v1_by of a number by its end (along
 * the speeds; v1_by by activations, too), writes the slopes q_by, v_by by its start and adds those
 * by the parameters. q_by, v_by may be q1_by, v1_by. */
zw_status steps_back(sens_steps *s, const double *q1_by, const double *v1_by, double *q_by,
                     double *v_by, double *param_by, zw_error *error);

/* With the soft law solved at (t, q0, v0): for slopes `by` of a number by v0 + h a, adds its slopes
 * through the accelerations a by q0, v0 and the parameters. `by` may be v_by. */
zw_status steps_accelerations_back(sens_steps *s, const double *by, double *q_by, double *v_by,
                                   double *param_by, zw_error *error);

/* steps_rk4.c: steps_back of these steps. */
size_t steps_rk4_size(const sens_steps *s);
zw_status steps_rk4_back(sens_steps *s, const double *q1_by, const double *v1_by, double *q_by,
                         double *v_by, double *param_by, zw_error *error);

/* steps_touch.c: the geometry of the contacts, after these have been found. 0: no memory. */
int steps_touch_look(sens_steps *s);
/* out += J' C J x over all rows; the field STEPS_W must be that of x. */
void steps_touch_stiffen(sens_steps *s, const double *x, double *out);
/* Adds the slopes of w . J' lambda at constant accelerations; STEPS_W must be that of w. */
void steps_touch_back(sens_steps *s, double *q_by, double *v_by);

/* Is this block of a contact? Of the others: does it push along a constant direction, so that its
 * slopes are here? (Else they are in steps_general.c.) */
int steps_is_contact(const soft_problem *soft, int block);
int steps_is_closed(const sens_steps *s, const soft_block *k);

/* to = C x for a block */
void steps_stiffen(const soft_block *k, const double *x, double *to);

/* steps_general.c */
zw_status steps_general_make(sens_steps *s, zw_error *error);
void steps_general_free(sens_steps *s);
zw_status steps_general_look(sens_steps *s, zw_error *error); /* of the last step */
/* As steps_touch_stiffen; and the addition of all slopes. */
void steps_general_stiffen(sens_steps *s, const double *x, double *out);
void steps_general_back(const sens_steps *s, const double *act_by, double *q_by, double *v_by,
                        double *param_by);
/* to[3 n + acts]: F, W a, M as, and activations at the end, in another system, whose parameters are
 * bound, by the law; or in s->aside, without contacts, the part whose slopes are found in
 * steps_general.c; *pushes counts its rows. */
zw_status steps_evaluate(const sens_steps *s, soft_problem *soft, const double *q, const double *v,
                         double *to, int *pushes, zw_error *error);

/* steps_number.c: makes these numbers of the model unknowns, too; and the backward pass by them. */
zw_status steps_numbers_make(sens_steps *s, zw_model *model, const char *const *name, int names,
                             zw_error *error);
void steps_numbers_free(sens_steps *s);
zw_status steps_numbers_back(sens_steps *s, const double *act_by, zw_error *error);

void steps_note_kink(sens_steps *s, const char *name);

#endif

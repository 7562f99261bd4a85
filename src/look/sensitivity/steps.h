/* Inside of derivatives of steps of robots: steps.c a step and its way back, steps_touch.c what
 * holds and touches in it, steps_general.c equations without slopes in closed form, touch.c points
 * of contact, gradient.c whole motions. */
#ifndef ZW_LOOK_STEPS_H
#define ZW_LOOK_STEPS_H

#include "look/sensitivity/back.h"
#include "look/sensitivity/number.h"
#include "look/slopes/slopes_pull.h"
#include "step/soft_step.h"
#include "system/system.h"

enum { STEPS_W = BACK_X, STEPS_A = BACK_U, STEPS_V = BACK_V }; /* w of steps.c, as, v0 */

#define STEPS_NEAR 1e-9 /* of what switches, or m: so near to it the other side is as good */

/* A number of the model that is an unknown: steps_number.c. */
typedef struct steps_variant {
    number_systems of;
    zw_work *work[4];
    soft_problem *soft[4];
} steps_variant;

typedef struct sens_steps {
    const zw_system *system;
    zw_work *work; /* its own */
    soft_problem *soft;
    double h;
    int damped;   /* the joints' dampers act at the end of the step */
    int implicit; /* by MuJoCo's implicit integrators */

    /* The last step, */
    double t, *q0, *v0, *q1, *v1; /* [nq], [n] */
    double *a;                    /* [n] accelerations of the step, */
    double *as;                   /* [n] and those that the soft law has found */
    int looked;                   /* the rest is of this step, too: */
    double *scratch, *by_q, *by_v, *by_q_soft, *by_v_soft; /* of tree_differ */
    back_place place;                                      /* q0 */
    back_contact *touch;                                   /* [touch_capacity] */
    int touch_capacity;

    /* steps_general.c, of robots whose equations have no slopes in closed form: */
    soft_problem *aside;
    zw_work *aside_work;
    double *general; /* [2 n + params][3][n] slopes of F, W a, M as; NULL: they have */

    int names;
    steps_variant *variant;
    double *number_by; /* [names] slopes by them are added here; NULL: not wanted */

    double *y, *z, *w, *push; /* [n] scratch */
    int kink_count;
    const char *kink;
    void *memory;
} sens_steps;

/* h: of all its steps. ZW_BAD_INPUT: there is something whose derivatives are not there. */
sens_steps *steps_create(const zw_system *system, double h, zw_error *error);
void steps_free(sens_steps *s);

/* From (q, v) with these parameters: s->q1, s->v1. */
zw_status steps_take(sens_steps *s, double t, const double *q, const double *v, const double *param,
                     zw_error *error);

/* What a change of the start of the last step does to a number whose slopes by its end are q1_by,
 * v1_by (along the speeds): slopes by q, v, written; by the parameters, added. q_by, v_by may be
 * q1_by, v1_by. */
zw_status steps_back(sens_steps *s, const double *q1_by, const double *v1_by, double *q_by,
                     double *v_by, double *param_by, zw_error *error);

/* steps_touch.c: contacts have been found; their geometry. 0: no memory. */
int steps_touch_look(sens_steps *s);
/* out += J' C J x, of all rows; the field STEPS_W is that of x. */
void steps_touch_stiffen(sens_steps *s, const double *x, double *out);
/* The slopes of w . J' lambda with the accelerations as they are, added; STEPS_W is that of w. */
void steps_touch_back(sens_steps *s, double *q_by, double *v_by);

/* to = C x of a block */
void steps_stiffen(const soft_block *k, const double *x, double *to);

/* steps_general.c */
zw_status steps_general_make(sens_steps *s, zw_error *error);
void steps_general_free(sens_steps *s);
zw_status steps_general_look(sens_steps *s, zw_error *error); /* of the last step */
/* As steps_touch_stiffen; and all slopes, added. */
void steps_general_stiffen(sens_steps *s, const double *x, double *out);
void steps_general_back(const sens_steps *s, double *q_by, double *v_by, double *param_by);
/* to[3 n]: F, W a, M as by another system or at another place, whose parameters are bound. */
zw_status steps_evaluate(const sens_steps *s, soft_problem *soft, const double *q, const double *v,
                         double *to, zw_error *error);

/* steps_number.c: so many numbers of the model are unknowns, too; and the way back by them. */
zw_status steps_numbers_make(sens_steps *s, zw_model *model, const char *const *name, int names,
                             zw_error *error);
void steps_numbers_free(sens_steps *s);
zw_status steps_numbers_back(sens_steps *s, zw_error *error);

void steps_note_kink(sens_steps *s, const char *name);

#endif

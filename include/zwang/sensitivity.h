/* Derivatives of a motion: how coordinates and speeds at later times change with initial
 * values and parameters. Exact: the variational equations are carried along with the steps of
 * dop853 or rk4, over events, impacts and changes of friction; nothing is differenced.
 *
 *     const zw_unknown by[] = {{ZW_UNKNOWN_PARAM, 0}, {ZW_UNKNOWN_START, 2}};
 *     zw_sensitivity *s = zw_sensitivity_create(model, system, by, 2, &error);
 *     zw_sensitivity_start(s, state, 1, &error);                    the state as the file begins it
 *     zw_sensitivity_run(s, state, work, &plan, &summary, &error);  the state is at the end now
 *     zw_sensitivity_look(s).by[c * 2 * n + i]        d q_i / d unknown c, and at n + i those of v
 *     zw_sensitivity_free(s);
 *
 * Derivatives are at constant time, and of the sequence of events that there is: if another start
 * has another sequence, they hold up to there. Where that is so at once (a contact that closes just
 * when another does, a start that touches and would not any longer), the answer is that of the
 * sequence that is there, and `kinks` counts how often.
 *
 * That is for equations. Robots are below: zw_gradient_find, one sweep back over the steps of a
 * motion, and zw_step_slopes, the derivatives of one step. */
#ifndef ZWANG_SENSITIVITY_H
#define ZWANG_SENSITIVITY_H

#include "zwang/zwang.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

typedef enum zw_unknown_kind {
    ZW_UNKNOWN_START, /* where a coordinate begins, as written */
    ZW_UNKNOWN_SPEED, /* its initial speed, as written */
    ZW_UNKNOWN_PARAM, /* a parameter, and with it those that are computed from it */
    ZW_UNKNOWN_NUMBER /* of robots, in fits: a number of the model, by its place in a list */
} zw_unknown_kind;

typedef struct zw_unknown {
    zw_unknown_kind kind;
    int index; /* of the coordinate or parameter; of a robot's initial speed: of the speed */
} zw_unknown;

typedef struct zw_sensitivity zw_sensitivity;

/* One for each thread; model and system must outlive it. by NULL: all starts, speeds, parameters,
 * in this order. ZW_BAD_INPUT: derivatives of something in this system are not supported. */
zw_sensitivity *zw_sensitivity_create(const zw_model *model, const zw_system *system,
                                      const zw_unknown *by, int count, zw_error *error);
void zw_sensitivity_free(zw_sensitivity *sensitivity);

/* Arrays belong to the zw_sensitivity and hold until its next call. */
typedef struct zw_sensitivity_answer {
    int n, columns;
    const double *by;   /* [columns][2 n] of q, then of v */
    const double *t_by; /* [columns] of the end of the run, where an event has stopped it; else 0 */
    int kinks;
    const char *kink; /* the name of one, or NULL */
} zw_sensitivity_answer;

/* Begin at a state. as_written: it is what zw_state_create made of the file; starts and speeds
 * that follow from others by assembly then do so in the derivatives, and parameters in the formulas
 * of starts count. Else the unknowns are the numbers of the state, and parameters leave them as
 * they are but for what constraints ask. */
zw_status zw_sensitivity_start(zw_sensitivity *sensitivity, const zw_state *state, int as_written,
                               zw_error *error);

/* Sees a state at a time of the list, and its derivatives. Return nonzero to stop. */
typedef int zw_sensitivity_observer(void *user, const zw_state *state,
                                    const zw_sensitivity_answer *answer);

typedef struct zw_sensitivity_plan {
    zw_run_options run; /* method dop853 or rk4; its observer is not asked */
    int times;
    const double *time; /* [times] rising, from the start on, or NULL */
    zw_sensitivity_observer *observer;
    void *user;
} zw_sensitivity_plan;

/* On from the state, which is that of the last start or run. */
zw_status zw_sensitivity_run(zw_sensitivity *sensitivity, zw_state *state, zw_work *work,
                             const zw_sensitivity_plan *plan, zw_run_summary *summary,
                             zw_error *error);

zw_sensitivity_answer zw_sensitivity_look(const zw_sensitivity *sensitivity);

/* ---- Steps, and the way back ----------------------------------------------------------------- */

/* Steps of method impulse, and of method soft by MuJoCo's Euler. They are differentiated as they
 * are taken: at the end of each step's own search, with those contacts, limits and motors active
 * that are. So the numbers are those of the computed motion, whatever the step. */

/* The cost of a motion, a sum over its states: the part of the state after `step` steps (0:
 * the start). Writes its slopes by coordinates (along the speeds) and speeds, [n] each, which are 0
 * before. Asked once for each state, the last one first. */
typedef double zw_cost(void *user, long step, const zw_state *state, double *by_q, double *by_v);

/* Of a robot: method soft or impulse, and its step. Of equations (dop853, rk4): `every` is the
 * length of what is called a step here, over which controls are constant; the method takes steps of
 * its own within it, with all events; and `model` is asked for. */
typedef struct zw_gradient_plan {
    zw_run_options run; /* its time and observer are not read */
    long steps;
    int controls;        /* so many parameters have a value of their own in each step: */
    const int *control;  /* [controls] which, as zw_id(system, ZW_KIND_PARAM, name) */
    const double *value; /* [steps][controls] */
    zw_cost *cost;
    void *user;
    size_t memory; /* bytes for states on the way, 0: 64 MiB. If not all fit, parts are run again,
                      and 2 sqrt(steps) states are enough */
    int numbers;   /* numbers of the model that are unknowns, too: */
    const char *const *number; /* [numbers] as zw_model_set has them: "box.mass", "gravity" */
    zw_model *model;           /* the system's; it is changed in between, and as it was after */
} zw_gradient_plan;

/* Arrays are the caller's, or NULL: not asked for. */
typedef struct zw_gradient {
    double cost;
    double *by_q, *by_v; /* [n] by the start */
    double *by_param;    /* [params] that are the same in all steps */
    double *by_control;  /* [steps][controls] */
    int kinks; /* so often something was about to open, slide or reach its end: one-sided there */
    const char *kink;  /* one of them, or NULL */
    size_t memory;     /* bytes that states took */
    long steps;        /* taken in all, those that were run again included */
    double *by_number; /* [numbers], or NULL */
} zw_gradient;

/* The state is where the motion starts; it is not changed. ZW_BAD_INPUT: derivatives of something
 * in this robot are not supported. */
zw_status zw_gradient_find(const zw_system *system, const zw_state *state,
                           const zw_gradient_plan *plan, zw_gradient *to, zw_error *error);

/* One step, with the same options: by[2 n][2 n + params], row i how coordinate i (along its speed)
 * and row n + i how speed i at its end change with coordinates, speeds, parameters at its start. */
zw_status zw_step_slopes(const zw_system *system, const zw_state *state,
                         const zw_run_options *options, double *by, int *kinks, zw_error *error);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif

/* Derivatives of a motion: how coordinates and speeds at later times change with initial values and
 * parameters. Exact: the variational equations are carried along with the steps of dop853 or rk4,
 * over events, impacts and changes of friction; nothing is differenced.
 *
 *     const zw_unknown by[] = {{ZW_UNKNOWN_PARAM, 0}, {ZW_UNKNOWN_START, 2}};
 *     zw_sensitivity *s = zw_sensitivity_create(model, system, by, 2, &error);
 *     zw_sensitivity_start(s, state, 1, &error);                    the state as the file begins it
 *     zw_sensitivity_run(s, state, work, &plan, &summary, &error);  the state is at the end now
 *     zw_sensitivity_look(s).by[c * 2 * n + i]        d q_i / d unknown c, and at n + i those of v
 *     zw_sensitivity_free(s);
 *
 * Derivatives are at constant time and for the sequence of events that occurs: they are valid as
 * long as a change of the unknowns does not change that sequence. Where every change does (two
 * contacts that close at the same instant, a start exactly at contact), the answer is the
 * derivative for the sequence that occurred, and `kinks` counts such places.
 *
 * This is for equations. For robots see below: zw_gradient_find, one backward sweep over the steps
 * of a motion, and zw_step_slopes, the derivatives of one step. */
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
    ZW_UNKNOWN_START, /* the initial value of a coordinate, as written */
    ZW_UNKNOWN_SPEED, /* its initial speed, as written */
    ZW_UNKNOWN_PARAM, /* a parameter, and with it those that are computed from it */
    ZW_UNKNOWN_NUMBER /* for robots, in fits: a number of the model, by its index in a list */
} zw_unknown_kind;

typedef struct zw_unknown {
    zw_unknown_kind kind;
    int index; /* of the coordinate or parameter; for the initial speed of a robot: of the speed */
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
    const double *t_by; /* [columns] of the final time, if an event ended the run; else 0 */
    int kinks;
    const char *kink; /* the name of one, or NULL */
} zw_sensitivity_answer;

/* Starts from a state. as_written: it is the one that zw_state_create made from the file; then the
 * derivatives include how assembly computes initial values and speeds from others, and the
 * parameters in formulas of initial values. Otherwise the unknowns are the numbers of the state
 * itself, which parameters change only as far as constraints require. */
zw_status zw_sensitivity_start(zw_sensitivity *sensitivity, const zw_state *state, int as_written,
                               zw_error *error);

/* Called at each time of the list with the state and its derivatives. Return nonzero to stop. */
typedef int zw_sensitivity_observer(void *user, const zw_state *state,
                                    const zw_sensitivity_answer *answer);

typedef struct zw_sensitivity_plan {
    zw_run_options run; /* method dop853 or rk4; its observer is not called */
    int times;
    const double *time; /* [times] rising, from the start on, or NULL */
    zw_sensitivity_observer *observer;
    void *user;
} zw_sensitivity_plan;

/* Continues from the state, which must be that of the last start or run. */
zw_status zw_sensitivity_run(zw_sensitivity *sensitivity, zw_state *state, zw_work *work,
                             const zw_sensitivity_plan *plan, zw_run_summary *summary,
                             zw_error *error);

zw_sensitivity_answer zw_sensitivity_look(const zw_sensitivity *sensitivity);

/* ---- Steps, and the backward sweep
 * ----------------------------------------------------------------- */

/* Steps of method impulse, and of method soft. They are differentiated as they
 * were computed: at the solution of each step's equations, with its active contacts, limits and
 * motors. So the derivatives are those of the computed motion, whatever the step size. */

/* The cost of a motion is a sum over its states; this returns the term of the state after `step`
 * steps (0: the start). It writes the term's derivatives by coordinates (along the speeds) and
 * speeds, [n] each, into arrays that are zeroed before. Called once for each state, the last one
 * first. */
typedef double zw_cost(void *user, long step, const zw_state *state, double *by_q, double *by_v);

/* For a robot: method soft or impulse, and its step. For equations (dop853, rk4): `every` is the
 * length of what is called a step here, over which controls are constant; the method takes its own
 * steps within it, with all events; and `model` is required. */
typedef struct zw_gradient_plan {
    zw_run_options run; /* its time and observer are not read */
    long steps;
    int controls;        /* number of parameters with a separate value in each step: */
    const int *control;  /* [controls] which, as zw_id(system, ZW_KIND_PARAM, name) */
    const double *value; /* [steps][controls] */
    zw_cost *cost;
    void *user;
    size_t memory; /* bytes for stored states, 0: 64 MiB. If not all states fit, parts of the motion
                      are run again; 2 sqrt(steps) states are enough */
    int numbers;   /* number of unknowns that are numbers of the model: */
    const char *const *number; /* [numbers] named as for zw_model_set: "box.mass", "gravity" */
    zw_model
        *model; /* the model of the system; it is changed during the call and restored at its end */
} zw_gradient_plan;

/* Arrays are the caller's, or NULL: not asked for. */
typedef struct zw_gradient {
    double cost;
    double *by_q, *by_v; /* [n] by the start */
    double *by_param;    /* [params] by those that are constant over all steps */
    double *by_control;  /* [steps][controls] */
    int kinks;         /* how often a contact or limit was about to open or slide: the derivative is
                          one-sided there */
    const char *kink;  /* one of them, or NULL */
    size_t memory;     /* bytes used for stored states */
    long steps;        /* all steps taken, including those that were run again */
    double *by_number; /* [numbers], or NULL */
} zw_gradient;

/* The motion starts from the state, which is not changed. ZW_BAD_INPUT: derivatives of something in
 * this robot are not supported. */
zw_status zw_gradient_find(const zw_system *system, const zw_state *state,
                           const zw_gradient_plan *plan, zw_gradient *to, zw_error *error);

/* One step, with the same options: by[2 n][2 n + params], row i is the derivative of coordinate i
 * (along its speed) at the end of the step, row n + i that of speed i, by the coordinates, speeds
 * and parameters at its start. Activations at the start stay as they are. */
zw_status zw_step_slopes(const zw_system *system, const zw_state *state,
                         const zw_run_options *options, double *by, int *kinks, zw_error *error);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif

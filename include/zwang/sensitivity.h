/* Derivatives of a motion: how coordinates and speeds at later times change with starts and
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
 * Derivatives are at constant time, and of the sequence of events that there is: if another start
 * has another sequence, they hold up to there. Where that is so at once (a contact that closes just
 * when another does, a start that touches and would not any longer), the answer is that of the
 * sequence that is there, and `kinks` counts how often.
 *
 * Equations only; of robots one is told so. */
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
    ZW_UNKNOWN_SPEED, /* its first speed, as written */
    ZW_UNKNOWN_PARAM  /* a parameter, and with it those that are computed from it */
} zw_unknown_kind;

typedef struct zw_unknown {
    zw_unknown_kind kind;
    int index; /* of the coordinate or parameter */
} zw_unknown;

typedef struct zw_sensitivity zw_sensitivity;

/* One for each thread; model and system must outlive it. by NULL: all starts, speeds, parameters,
 * in this order. ZW_BAD_INPUT: derivatives of something in this system are not there. */
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

/* Sees a state at a time of the list, and its derivatives. Answer nonzero to stop. */
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

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif

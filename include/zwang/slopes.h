/* Derivatives of an instant: how accelerations, multipliers and constraint forces change with
 * coordinates, speeds, time, controls and parameters. Formulas and sweeps over trees are
 * differentiated exactly, the constraint rows of a robot's loops and contacts by extrapolated
 * differences with an error of about 1e-12. Contact forces are included in those of the
 * constraints.
 *
 *     zw_slopes *slopes = zw_slopes_create(model, system, &error);
 *     zw_slopes_look(slopes, state, &answer, &error);
 *     answer.a_by[zw_slopes_of_q(&answer, 3) * answer.n + i]        d a_i / d q_3
 *     zw_slopes_free(slopes);
 *
 * Derivatives keep the active set of the solution: closed, sticking and sliding contacts stay so.
 * Where that is about to change (a contact without force, friction at its limit, a corner of a
 * formula) the solution has a kink; the answer is then the one-sided derivative for the active set,
 * the same in every call, and `kinks` counts such places.
 *
 * Where constraints are redundant, the multipliers are those of least norm, and so are their
 * derivatives.
 *
 * Activations of actuators are part of the state, and stay as they are: at an instant the force of
 * such an actuator does not depend on its control.
 *
 * A derivative by coordinate q_i is taken along speed i: for equations and joints that is the
 * coordinate itself, for quaternions a rotation about an axis of the body.
 */
#ifndef ZWANG_SLOPES_H
#define ZWANG_SLOPES_H

#include "zwang/zwang.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

typedef struct zw_slopes zw_slopes;

/* One for each thread; model and system must outlive it. ZW_BAD_INPUT: derivatives of something in
 * this system are not supported yet, and the error names it. */
zw_slopes *zw_slopes_create(const zw_model *model, const zw_system *system, zw_error *error);
/* The same for a robot, with further columns at the end for numbers of its model, named as for
 * zw_model_set ("fore.mass", "floor.friction", "gravity", "fore.inertia.y", "foot.size.x"). The
 * model is changed during a call and restored at its end. */
zw_slopes *zw_slopes_create_numbers(zw_model *model, const zw_system *system,
                                    const char *const *number, int numbers, zw_error *error);
void zw_slopes_free(zw_slopes *slopes);

/* Arrays belong to the zw_slopes and hold until its next call. There is one column for each
 * variable of differentiation: q[n], v[n], t, parameters (for robots: controls), numbers of the
 * model. */
typedef struct zw_slopes_answer {
    int n, m, params, columns; /* columns = 2 n + 1 + params + numbers */
    const double *a, *lambda,
        *force;              /* [n] [m] [n]: the solution itself; force: that of the constraints */
    const double *a_by;      /* [columns][n] */
    const double *lambda_by; /* [columns][m] */
    const double *force_by;  /* [columns][n] */
    int kinks;
    const char *kink; /* the name of one, or NULL */
} zw_slopes_answer;

zw_status zw_slopes_look(zw_slopes *slopes, const zw_state *state, zw_slopes_answer *answer,
                         zw_error *error);

/* The index of a column. */
int zw_slopes_of_q(const zw_slopes_answer *answer, int speed);
int zw_slopes_of_v(const zw_slopes_answer *answer, int speed);
int zw_slopes_of_t(const zw_slopes_answer *answer);
int zw_slopes_of_param(const zw_slopes_answer *answer, int param);
int zw_slopes_of_number(const zw_slopes_answer *answer, int number);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif

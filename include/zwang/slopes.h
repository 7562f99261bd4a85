/* Derivatives of an instant: how accelerations, multipliers and constraint forces change with
 * coordinates, speeds, time, controls and parameters. Formulas and sweeps over trees are
 * differentiated; rows of loops and contacts of robots by extrapolated differences of these rows,
 * with an error of about 1e-12. Forces of contacts are among those of constraints.
 *
 *     zw_slopes *slopes = zw_slopes_create(model, system, &error);
 *     zw_slopes_look(slopes, state, &answer, &error);
 *     answer.a_by[zw_slopes_of_q(&answer, 3) * answer.n + i]        d a_i / d q_3
 *     zw_slopes_free(slopes);
 *
 * Derivatives keep the active set of the solution: closed, sticking and sliding contacts stay so.
 * Where that is about to change (a contact without force, friction at its limit, a corner of a
 * formula), the solution has a kink; then the answer is the derivative to the side of the set that
 * is active, always the same one, and `kinks` counts how many.
 *
 * Of redundant constraints, multipliers are those of least norm, and so is their derivative.
 *
 * By coordinate q_i means along speed i: for equations and joints that is the coordinate itself,
 * for quaternions a rotation about an axis of the body.
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
/* The same, of a robot also by numbers of its model, as zw_model_set has them ("fore.mass",
 * "floor.friction", "gravity", "fore.inertia.y", "foot.size.x"): more columns, after all others.
 * The model is changed in between, and as it was after. */
zw_slopes *zw_slopes_create_numbers(zw_model *model, const zw_system *system,
                                    const char *const *number, int numbers, zw_error *error);
void zw_slopes_free(zw_slopes *slopes);

/* Arrays belong to the zw_slopes and hold until its next call. Columns are what one differentiates
 * by: q[n], v[n], t, parameters (of robots: controls). */
typedef struct zw_slopes_answer {
    int n, m, params, columns;        /* columns = 2 n + 1 + params + numbers */
    const double *a, *lambda, *force; /* [n] [m] [n]: the instant itself; force: of constraints */
    const double *a_by;               /* [columns][n] */
    const double *lambda_by;          /* [columns][m] */
    const double *force_by;           /* [columns][n] */
    int kinks;
    const char *kink; /* the name of one, or NULL */
} zw_slopes_answer;

zw_status zw_slopes_look(zw_slopes *slopes, const zw_state *state, zw_slopes_answer *answer,
                         zw_error *error);

/* Which column. */
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

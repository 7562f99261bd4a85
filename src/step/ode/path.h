/* The dense output of a step as a polynomial, and bounds of it over any piece of the step.
 *
 * With x = (t - t0)/h in [0, 1] each component of y is y0 + sum_i b_i B_i(x) in Bernstein's
 * basis. Over a piece [from, to] de Casteljau's algorithm gives the coefficients of the same
 * polynomial in the basis of the piece; the values lie between the least and the largest of
 * them, the excess falls with the square of the length, and the first and last are the values at
 * the ends (Farouki 2012). The derivative has separate coefficients, so that short pieces do not
 * amplify round-off. */
#ifndef ZW_STEP_PATH_H
#define ZW_STEP_PATH_H

#include "expr/enclose.h"
#include "step/ode/ode.h"

/* A piece of the last step, for bounds of functions over it. Rates are by x. */
typedef struct step_piece {
    expr_jet t;
    const expr_jet *y; /* [n], of the components in use */
} step_piece;

typedef struct step_path step_path;

/* For steps of this ode. component[count]: those in use; NULL: all n. NULL on failure. */
step_path *path_create(const stepper *ode, const int *component, int count, zw_error *error);
void path_free(step_path *path);

/* Takes the polynomials of the last step; `still`: only time matters, and y is left out. */
zw_status path_take(step_path *path, stepper *ode, int still, zw_error *error);
/* The piece [from, to] of it; a point if they are equal. Valid until the next call. */
const step_piece *path_piece(step_path *path, double from, double to);

/* ---- Polynomials in Bernstein's basis ---------------------------------------------------------*/

/* The coefficients b[(degree + 1)][n] of n polynomials over [from, to] instead of [0, 1]. */
void bernstein_restrict(int degree, int n, double *b, double from, double to);
/* x_j = (1 - cos(pi j / degree))/2, j = 0..degree. */
double bernstein_node(int degree, int j);
/* fit[(degree + 1)^2]: b_i = sum_j fit[i][j] f(x_j). Returns the largest sum of |fit[i][j]| over a
 * row: the amplification of errors of f. */
double bernstein_fit(int degree, double *fit);

#endif

/* The lengths of adaptive steps, as formulas without state: for one world (ode.c) and for each of
 * eight (src/batch), so that both take the same steps. */
#ifndef ZW_STEP_CONTROL_H
#define ZW_STEP_CONTROL_H

#include "zwang/status.h"

enum { STEP_MISHAPS = 10 }; /* so often a field that fails is tried again with a quarter */

/* Where a step of this length ends: on the limit if it comes near, half way if only one more
 * such step would be left over. */
double step_aim(double t0, double limit, double length);

/* The first step: an explicit Euler step h0 that moves y by a hundredth of its size shows f' ~ d2;
 * then h^p max(d1, d2) = 1/100 in units of the tolerance, with p = 2^roots = 8 or 4. Sizes of y, f
 * and of the change of f are d0, d1, d2, in units of the tolerance. */
double step_first_trial(double d0, double d1, double room, double largest);
double step_first(double d1, double d2, double h0, double room, int roots);

/* After a step of length h where `length` was wanted: what to try next, after success with the
 * growth that the method asks for, and after an error of this size. */
double step_longer(double h, double length, double growth, int again);
double step_shorter(double h, double size, int roots);

/* No step of this length from t0? */
int step_vanishes(double t0, double toward, double length);

/* The message of a step that could not be taken from t, with lengths down to this one; `reachable`
 * as in step_pace. */
zw_status step_give_up(zw_status why, double t, double length, double tolerance, int culprit,
                       double reachable, zw_error *error);

/* How far a run has come. `largest`: the step the user allows, 0 or infinite if he does not say. */
typedef struct step_pace {
    long steps;
    double start, t, end, largest;
    int stiff;        /* the method is one for stiff systems */
    double reachable; /* the tolerance that round-off allows; 0: not known */
} step_pace;

/* Thousands of steps that together get nowhere: the motion runs into a singular point, or into a
 * stiffness that would take more than 10^9 steps, a thousand times as many as it did before; or all
 * that is left would take more than 10^12 of them. ZW_NO_STEP then. To be asked after each step;
 * `since` and `then` are kept here, 0 and the time of the start at first. */
zw_status step_progress(const step_pace *pace, long *since, double *then, zw_error *error);

/* ZW_INACCURATE and *culprit if some x_i is not finite. */
zw_status step_check_finite(int n, const double *x, const char *what, double t, int *culprit,
                            zw_error *error);

#endif

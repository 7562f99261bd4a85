/* The lengths of adaptive steps, as formulas without state: for one world (ode.c) and for each of
 * eight (src/batch), so that both take the same steps. */
#ifndef ZW_STEP_CONTROL_H
#define ZW_STEP_CONTROL_H

#include "zwang/status.h"

enum {
    STEP_MISHAPS = 10
}; /* how often a field that fails is tried again with a quarter of the step */

/* Where a step of this length ends: at the limit if that is close, half way if only one more such
 * step would remain. */
double step_aim(double t0, double limit, double length);

/* The first step: an explicit Euler step h0 that moves y by a hundredth of its size estimates f' ~
 * d2; then h^p max(d1, d2) = 1/100 in units of the tolerance, with p = 2^roots = 8 or 4. d0, d1, d2
 * are the sizes of y, f and of the change of f, in units of the tolerance. */
double step_first_trial(double d0, double d1, double room, double largest);
double step_first(double d1, double d2, double h0, double room, int roots);

/* The length to try next, after a step of length h where `length` was wanted: after success with
 * the growth that the method suggests, and after an error of this size. */
double step_longer(double h, double length, double growth, int again);
double step_shorter(double h, double size, int roots);

/* Is the step too short to change the time t0? */
int step_vanishes(double t0, double toward, double length);

/* The error message for a step that could not be taken from t, with lengths down to this one;
 * `reachable` as in step_pace. */
zw_status step_give_up(zw_status why, double t, double length, double tolerance, int culprit,
                       double reachable, zw_error *error);

/* The progress of a run. `largest`: the largest step that the user allows, 0 or infinite if none is
 * given. */
typedef struct step_pace {
    long steps;
    double start, t, end, largest;
    int stiff;        /* the method is for stiff systems */
    double reachable; /* the tolerance that round-off allows; 0: not known */
} step_pace;

/* ZW_NO_STEP if thousands of steps together make no progress: the motion approaches a singular
 * point, or a stiffness that would take more than 10^9 steps, a thousand times as many as before;
 * or the remaining time would take more than 10^12 steps. Call it after each step; `since` and
 * `then` hold its state, 0 and the start time at first. */
zw_status step_progress(const step_pace *pace, long *since, double *then, zw_error *error);

/* ZW_INACCURATE and *culprit if some x_i is not finite. */
zw_status step_check_finite(int n, const double *x, const char *what, double t, int *culprit,
                            zw_error *error);

#endif

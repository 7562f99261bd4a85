/* Takes one step after another: the motion y(t) by one method.
 *
 *     stepper *s = step_ode_create(&options, &error);        y' = f(t, y): step/ode/ode.h
 *     stepper *s = impulse_stepper(impulse, h, &error);      method impulse: step/impulse
 *     stepper *s = soft_stepper(soft, h, &error);            MuJoCo's law: step/soft_step.h
 *
 *     stepper_start(s, t, y, &error);
 *     while (stepper_look(s)->t < end) {
 *         stepper_advance(s, end, &error);                   one accepted step, never past `end`
 *         stepper_interpolate(s, t_inside, y_out, &error);   anywhere in the step just taken
 *     }
 *     stepper_free(s);
 *
 * zw_run loops over one; zw_step keeps one in the work. An event at time te inside the step:
 * stepper_retake(s, te, ...) repeats the last step but only to te; then, if the event changed the
 * state, stepper_restart(s, te, y, ...). See step/events/event.h for finding te.
 *
 * After a failure the state is the end of the last accepted step. Nothing is allocated after
 * creation (except inside SUNDIALS, and where there are more contacts than ever before). */
#ifndef ZW_STEP_STEPPER_H
#define ZW_STEP_STEPPER_H

#include "zwang/status.h"

/* The current state; pointers are valid until the next call that changes it. */
typedef struct stepper_view {
    double t;         /* now: the end of the last step */
    const double *y;  /* [n] */
    const double *dy; /* [n] f(t, y); NULL: not known */
    double t_before;  /* where the last step began; equals t before the first step */
    const double *y_before;
    double h;         /* t - t_before as used by the method: equal up to round-off */
    double next;      /* the length to be tried for the next step */
    int culprit;      /* index of the component with the largest error, or of the first that is not
                         finite; -1: none */
    double reachable; /* the tolerance that round-off allows, if that is known to exceed the one
                         requested; else 0 */
    int leapt;        /* the last step was a leap over a singular position: ode/leap.h */
    long steps;       /* accepted; a retake is not a new step */
    long rejected;    /* tried and discarded, for any reason */
    long evaluations; /* of the field */
} stepper_view;

typedef struct stepper stepper;

/* The functions below, of one kind of stepper. */
typedef struct stepper_kind {
    zw_status (*start)(stepper *s, double t, const double *y, int afresh, zw_error *error);
    zw_status (*advance)(stepper *s, double limit, zw_error *error);
    zw_status (*interpolate)(stepper *s, double t, double *y, zw_error *error);
    zw_status (*retake)(stepper *s, double t, zw_error *error);
    zw_status (*sharpen)(stepper *s, int *done, zw_error *error); /* NULL: never done */
    int (*degree)(const stepper *s);
    int (*memory)(const stepper *s);
    void (*keep)(const stepper *s, double *memory);
    zw_status (*resume)(stepper *s, const double *y, const double *memory, zw_error *error);
    void (*free)(stepper *s);
} stepper_kind;

struct stepper {
    const stepper_kind *kind;
    int n; /* numbers in y */
    stepper_view view;
};

void stepper_free(stepper *s); /* may be NULL */

const stepper_view *stepper_look(const stepper *s);

/* Begin at (t, y); y must be on the constraints already. Counters start at 0. */
zw_status stepper_start(stepper *s, double t, const double *y, zw_error *error);
/* Continues from (t, y) after a jump: keeps counters and what is known about the step size. */
zw_status stepper_restart(stepper *s, double t, const double *y, zw_error *error);

/* Fixed steps: how many numbers the next step needs besides t and y (0: an adaptive method); these
 * numbers; and a start that continues from them with the same bits. */
int stepper_memory(const stepper *s);
void stepper_keep(const stepper *s, double *memory);
zw_status stepper_resume(stepper *s, const double *y, const double *memory, zw_error *error);

/* One accepted step towards `limit`, which may lie in the past, and not beyond it; when the limit
 * is within reach, t == limit afterwards, exactly. At the limit already: nothing happens. */
zw_status stepper_advance(stepper *s, double limit, zw_error *error);

/* The state at a time inside the last step, including both ends, where it is exact. Not
 * projected. */
zw_status stepper_interpolate(stepper *s, double t, double *y, zw_error *error);
/* The degree of that interpolating polynomial in t. */
int stepper_degree(const stepper *s);

/* Repeats the last step from its start, but only to `t` (anywhere between its start and its first
 * end): one step of the method. Interpolation then covers the shorter step. May be called again,
 * with any other t of the original step. Method bdf: the interpolant at t, projected. */
zw_status stepper_retake(stepper *s, double t, zw_error *error);

/* An event seems to happen in the last step. If the order of the method is too low to decide that,
 * the step is repeated, and retaken from now on, by a better method: then `done`. */
zw_status stepper_sharpen(stepper *s, int *done, zw_error *error);

/* ---- For implementations --------------------------------------------------------------------- */

/* Is t between these times, ends included? */
int stepper_is_between(double t, double a, double b);

/* Fixed steps end on the grid origin + k step, so that the duration of a million steps is exactly a
 * million times one; the method uses the step itself. A limit between two grid points shortens the
 * step, and the grid restarts there. A limit that equals a grid point up to round-off becomes the
 * displayed time, but steps lead from grid point to grid point: they must not depend on where
 * samples are taken. */
typedef struct step_grid {
    double step; /* > 0 */
    double origin;
    long count;
} step_grid;

typedef struct step_aimed {
    double t0, t1, h; /* where the step begins and ends, and its length */
    int cut;
} step_aimed;

void step_grid_start(step_grid *grid, double t);
/* The step from about t0 towards the limit. */
step_aimed step_grid_aim(step_grid *grid, double t0, double limit);
/* It has been taken: its end time for observers. */
double step_grid_pass(step_grid *grid, const step_aimed *aimed, double limit);

enum { STEP_GRID_NUMBERS = 3 };
/* The time on the grid, the origin and the count, for a stepper at t. */
void step_grid_keep(const step_grid *grid, double t, double *memory);
/* Are all numbers of a memory finite, and is the count valid? Then they are the grid's; the time is
 * memory[0]. */
zw_status step_grid_check(int count, const double *memory, zw_error *error);
void step_grid_resume(step_grid *grid, const double *memory);

#endif

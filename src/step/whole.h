/* What the steppers that solve for a whole step at once, impulse and soft, share.
 *
 * y = (q, v, what is carried after the speeds, W) goes from grid point to grid point; between the
 * ends of a step the motion is a straight line, or, where `bends` says so, the coordinates are on
 * the parabola nearest to one whose slopes are the speeds at both ends. */
#ifndef ZW_STEP_WHOLE_H
#define ZW_STEP_WHOLE_H

#include "step/stepper.h"
#include "system/work.h"

typedef struct step_whole step_whole;
struct step_whole {
    stepper base;
    /* y1 from y0 at time t after h; *finite: y1 is known to be finite. */
    zw_status (*take)(step_whole *w, double t, double h, const double *y0, double *y1, int *finite,
                      zw_error *error);
    void *method; /* the step_impulse or soft_problem, owned by the caller */
    double *kept; /* [kept_count] its memory from step to step, owned by it */
    int kept_count;
    int nq, works; /* where the speeds begin; 1: the last entry of y is the work done */
    int bends;
    int bent; /* `bend` is that of the last step */
    const zw_system *system;
    double *bend; /* [2 nq] x (1 - x) times this is added to the straight line; then scratch */
    step_grid grid;
    double t0, t1, h;
    double reach; /* the end of the last step as first taken */
    double *y0, *y1;
};

/* A stepper for this system, without method, take and kept; NULL: no memory. */
step_whole *whole_create(const zw_system *system, double step, zw_error *error);

#endif

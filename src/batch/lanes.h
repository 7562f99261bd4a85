/* Eight worlds in lock step, each with its own time and step length.
 *
 * All lanes try a step at once; then each is treated separately: accepted, shortened, arrived or
 * failed. A lane whose world has arrived or failed takes the next one from the queue, so that no
 * lane waits for the slowest. No result of a lane depends on the others, and each does exactly what
 * step_ode does with the world alone: the arithmetic is in step/ode/dop853.lane.h and
 * expr/tape.lane.h, the step lengths are from step/ode/control.h, and an evaluation that fails in a
 * lane is repeated by motion_field itself, which handles or reports the failure. So the bits are
 * those of zw_run. */
#ifndef ZW_BATCH_LANES_H
#define ZW_BATCH_LANES_H

#include "base/memory.h"
#include "math/lane.h"
#include "step/motion.h"

/* Arrays are [...][LANES]; they are `double *` where lanes are accessed one by one. */
typedef struct batch_lanes {
    const zw_system *system;
    int size;           /* of y: q, v, and the work done if it is integrated */
    step_motion *alone; /* for a lane whose evaluation failed */
    double *alone_y, *alone_dy, *alone_param;

    /* Of a run */
    double tolerance, largest;

    /* Of each lane: its world (-1: idle) and its step control, as in step_ode */
    int world[LANES];
    double *t0, *t1, *h;
    double limit[LANES]; /* end time of its motion */
    double length[LANES], last_size[LANES], error_size[LANES];
    int mishaps[LANES], again[LANES], culprit[LANES];
    long steps[LANES], rejected[LANES], evaluations[LANES];
    double start[LANES],
        then[LANES]; /* its time at the start, and the last one for step_progress */
    long since[LANES];
    zw_status status[LANES];
    zw_error error[LANES]; /* of the last evaluation that failed */

    double *weight;                            /* [size] all 1, not in lanes */
    zw_real8 *t;                               /* of an evaluation */
    zw_real8 *y0, *low0, *f0, *y1, *low1, *f1; /* [size] */
    zw_real8 *increment, *trial;               /* [size] */
    zw_real8 *stage;                           /* [12 * size] */
    zw_real8 *H;                               /* [n * n] */
    double *param, *registers, *out;           /* of the tape of PART_TERMS */
    int is_bound;                              /* the registers hold param */
} batch_lanes;

void batch_lanes_layout(batch_lanes *lanes, base_arena *arena);

/* How a run gets worlds and returns them. */
typedef struct batch_queue {
    void *user;
    /* The next world to move, or -1: none is left; its t, its end time, y[size] and param[]. */
    int (*next)(void *user, double *t, double *limit, const double **y, const double **param);
    /* The world of this lane has arrived (ZW_OK) or failed; t0, y0 are its time and state. */
    void (*done)(void *user, const batch_lanes *lanes, int lane, zw_status status);
    /* Called after every step with the time of some lane; nonzero: all worlds are returned as they
     * are, with ZW_INTERRUPTED. */
    int (*stops)(void *user, double t);
} batch_queue;

void batch_lanes_run(batch_lanes *lanes, const batch_queue *queue);

#endif

/* Eight worlds in lock step, each with its own time and step length.
 *
 * All lanes try a step at once; then each goes its own way: accepted, shortened, arrived, failed. A
 * lane whose world has arrived or failed takes the next one from the queue, so that no lane waits
 * for the slowest. Nothing a lane computes depends on the others, and everything is what step_ode
 * does with the world alone: the arithmetic is step/ode/dop853.lane.h and expr/tape.lane.h, the
 * lengths are step/ode/control.h, and an evaluation that goes wrong in a lane is done again by
 * motion_field itself, which knows what to do or say. So its bits are those of zw_run.
 */
#ifndef ZW_BATCH_LANES_H
#define ZW_BATCH_LANES_H

#include "base/memory.h"
#include "math/lane.h"
#include "step/motion.h"

/* Arrays are [...][LANES]; `double *` where lanes are met one by one. */
typedef struct batch_lanes {
    const zw_system *system;
    int size;           /* of y: q, v, and the work done if it is carried along */
    step_motion *alone; /* for a lane in trouble */
    double *alone_y, *alone_dy, *alone_param;

    /* Of a run */
    double tolerance, largest;

    /* Of each lane: its world (-1: idle) and its step control, as in step_ode */
    int world[LANES];
    double *t0, *t1, *h;
    double limit[LANES]; /* where its motion ends */
    double length[LANES], last_size[LANES], error_size[LANES];
    int mishaps[LANES], again[LANES], culprit[LANES];
    long steps[LANES], rejected[LANES], evaluations[LANES];
    double start[LANES], then[LANES]; /* its time at the start, and for step_progress */
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
    int is_bound;                              /* the registers are those of param */
} batch_lanes;

void batch_lanes_layout(batch_lanes *lanes, base_arena *arena);

/* How a run asks for worlds and gives them back. */
typedef struct batch_queue {
    void *user;
    /* The next world that is to move, -1: none is left; its t, and the time to move to, y[size] and
     * param[]. */
    int (*next)(void *user, double *t, double *limit, const double **y, const double **param);
    /* World of this lane has arrived (ZW_OK) or failed; t0, y0 are where it is. */
    void (*done)(void *user, const batch_lanes *lanes, int lane, zw_status status);
    /* Asked after every step, t being the time of some lane: nonzero: all are done, as they are,
     * with ZW_INTERRUPTED. */
    int (*stops)(void *user, double t);
} batch_queue;

void batch_lanes_run(batch_lanes *lanes, const batch_queue *queue);

#endif

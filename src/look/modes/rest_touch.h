/* Robots on the way to rest: rest_touch.c their contacts, rest_relax.c their own motion. */
#ifndef ZW_LOOK_REST_TOUCH_H
#define ZW_LOOK_REST_TOUCH_H

#include "look/modes/linear.h"
#include "look/slopes/slopes_bodies.h"

/* After linear_look; [n] scratch and rows. */
typedef struct rest_touch {
    slopes_bodies *bodies; /* the active set at the start of the step */
    double *sweeps;
    double *row, *off, *dq; /* of one correction */
    double allowed;         /* largest penetration of inactive contacts before the step */
    double smallest;        /* geom */
    void *memory;
} rest_touch;

/* NULL bodies: nothing can touch. */
zw_status rest_touch_begin(rest_touch *it, linear *l, const double *q, zw_error *error);
void rest_touch_free(rest_touch *it);
/* Moves q so that active contacts are closed. */
zw_status rest_touch_close(rest_touch *it, double *q, zw_error *error);
/* Is there a penetration that was not there before the step? */
zw_status rest_touch_sinks(rest_touch *it, const double *q, int *sinks, zw_error *error);

/* rest_relax.c: relaxes a robot by its damped motion, in steps of `step` times their usual length.
 * ZW_NOT_REACHED: it does not come to rest. */
zw_status rest_relax(const zw_system *system, zw_state *state, zw_work *work, double step,
                     zw_error *error);

#endif

/* Robots on the way to rest: rest_touch.c their contacts, rest_relax.c their own motion. */
#ifndef ZW_LOOK_REST_TOUCH_H
#define ZW_LOOK_REST_TOUCH_H

#include "look/modes/linear.h"
#include "look/slopes/slopes_bodies.h"

/* After linear_look; [n] scratch and rows. */
typedef struct rest_touch {
    slopes_bodies *bodies; /* what holds where the step begins */
    double *sweeps;
    double *row, *off, *dq; /* of one correction */
    double allowed;         /* as deep as something is that does not hold, before the step */
    double smallest;        /* geom */
    void *memory;
} rest_touch;

/* NULL bodies: nothing can touch. */
zw_status rest_touch_begin(rest_touch *it, linear *l, const double *q, zw_error *error);
void rest_touch_free(rest_touch *it);
/* q moved so that what holds is closed. */
zw_status rest_touch_close(rest_touch *it, double *q, zw_error *error);
/* Is something in something else that was not before the step? */
zw_status rest_touch_sinks(rest_touch *it, const double *q, int *sinks, zw_error *error);

/* rest_relax.c: a robot, by its motion, with its speeds taken away. ZW_NOT_REACHED: it does not
 * come to rest. */
zw_status rest_relax(const zw_system *system, zw_state *state, zw_work *work, zw_error *error);

#endif

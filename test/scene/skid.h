/* Axion's obstacle: the robot of examples/contact/skid_steer.xml drives over a step. Its
 * wheels are sped up over a second; a step gets the mean of that ramp over it. */
#ifndef ZWANG_TEST_SCENE_SKID_H
#define ZWANG_TEST_SCENE_SKID_H

#include "scene/dice.h"
#include "scene/touch.h"

typedef struct skid {
    double half, x, speed, yaw; /* half height of the obstacle, its place, wheels, heading */
    touch s;
    double t;
} skid;

/* The next of the ten trials of a generator. */
static inline skid skid_next(dice *d)
{
    skid r = {0};
    r.half = dice_between(d, 0.07, 0.09);
    r.x = dice_between(d, 1.5, 2.5);
    r.speed = dice_between(d, 3.5, 4.5);
    r.yaw = dice_between(d, -0.1, 0.1);
    return r;
}

/* At the start, moved by `off` along x. */
static inline zw_status skid_open(skid *r, double off)
{
    zw_status status = touch_open(&r->s, ZW_SOURCE_DIR "/examples/contact/skid_steer.xml", NULL);
    r->t = 0;
    if (status != ZW_OK) {
        return status;
    }
    int index = zw_model_find(r->s.model, ZW_KIND_GEOM, "obstacle");
    zw_geom_def geom = *(const zw_geom_def *)zw_model_def(r->s.model, ZW_KIND_GEOM, index);
    zw_model *model = r->s.model;
    geom.pos[0] = r->x;
    geom.pos[2] = geom.size[2] = r->half;
    zw_state_free(r->s.state);
    zw_work_free(r->s.work);
    zw_system_free(r->s.system);
    r->s = (touch){.model = model};
    status = zw_model_change(model, ZW_KIND_GEOM, index, &geom, &r->s.error);
    status = status == ZW_OK ? touch_start(&r->s, NULL) : status;
    if (status == ZW_OK) {
        double *q = touch_field(&r->s, ZW_FIELD_Q);
        q[0] += off;
        q[3] = cos(r->yaw / 2);
        q[6] = sin(r->yaw / 2);
    }
    return status;
}

/* The wheels' speeds of a step from r->t, and its end. */
static inline double skid_drive(skid *r, double h)
{
    double a = fmin(r->t, 1), b = fmin(r->t + h, 1);
    for (int i = 0; i < 3; i++) {
        touch_field(&r->s, ZW_FIELD_PARAM)[i] =
            r->speed * (0.5 * (b * b - a * a) + r->t + h - b - (r->t - a)) / h;
    }
    return r->t += h;
}

static inline zw_status skid_step(skid *r, double h)
{
    double end = skid_drive(r, h);
    return touch_run(&r->s, end, h);
}

/* Where its middle is: q[0 .. 2]. */
static inline const double *skid_place(skid *r)
{
    return touch_field(&r->s, ZW_FIELD_Q);
}

#endif

/* Boxes, cylinders, capsules and ellipsoids thrown with a spin onto a plane, or onto a block whose
 * edges they may meet: without bounce, so that all the energy they have is that of the throw. */
#ifndef ZWANG_TEST_SCENE_TOSS_H
#define ZWANG_TEST_SCENE_TOSS_H

#include <stdio.h>

#include "scene/dice.h"
#include "scene/touch.h"

typedef struct toss {
    touch s;
    double energy; /* of the throw, above that of lying on the floor */
    double rise;   /* the most by which it has ever been more than before, as a part of that */
    double low;    /* the least so far */
    int steps;
    char text[1000];
} toss;

static inline void toss_write(toss *r, dice *d)
{
    static const char *shape[] = {"box", "cylinder", "capsule", "ellipsoid"};
    static const double mus[] = {0, 0.1, 0.3, 0.6, 1};
    int kind = dice_int(d, 0, 3), block = dice_chance(d, 0.3);
    double mu = mus[dice_int(d, 0, 4)], quat[4], length = 0;
    double x = dice_between(d, 0.03, 0.23), y = dice_between(d, 0.03, 0.23);
    double z = dice_chance(d, 0.25) ? dice_between(d, 0.01, 0.02) : dice_between(d, 0.03, 0.23);
    for (int i = 0; i < 4; i++) {
        quat[i] = dice_between(d, -1, 1);
        length += quat[i] * quat[i];
    }
    double high = dice_between(d, 0.25, 0.75);
    char size[100];
    snprintf(size, sizeof size, kind == 0 || kind == 3 ? "%.6f %.6f %.6f" : "%.6f %.6f", x,
             kind == 0 || kind == 3 ? y : z, z);
    snprintf(r->text, sizeof r->text,
             "<mujoco><option gravity='0 0 -9.81'/><default><geom friction='%g 0 0'/></default>"
             "<worldbody>%s<geom type='plane' size='9 9 1' pos='0 0 %g'/><body pos='0 0 %.6f' "
             "quat='%.6f %.6f %.6f %.6f'><freejoint/><geom type='%s' size='%s'/></body>"
             "</worldbody></mujoco>",
             mu, block ? "<geom type='box' size='.4 .4 .2' pos='0 0 -.2'/>" : "", block ? -0.4 : 0,
             sqrt(x * x + y * y + z * z) + high, quat[0] / sqrt(length), quat[1] / sqrt(length),
             quat[2] / sqrt(length), quat[3] / sqrt(length), shape[kind], size);
}

static inline double toss_energy(toss *r)
{
    zw_forward(r->s.system, r->s.state, r->s.work, NULL, NULL);
    return touch_field(&r->s, ZW_FIELD_ENERGY)[0];
}

/* The throw of this seed. */
static inline zw_status toss_open(toss *r, unsigned seed)
{
    dice d = dice_of(seed);
    *r = (toss){0};
    toss_write(r, &d);
    zw_status status = touch_parse(&r->s, r->text, NULL);
    double spin = dice_chance(&d, 0.3) ? 0 : dice_chance(&d, 0.5) ? 5 : 20;
    for (int i = 0; i < 6 && status == ZW_OK; i++) {
        touch_field(&r->s, ZW_FIELD_V)[i] = dice_between(&d, -1, 1) * (i < 3 ? 3 : spin);
    }
    r->energy = r->low = status == ZW_OK ? toss_energy(r) : 0;
    return status;
}

/* So many steps of h. */
static inline zw_status toss_go(toss *r, int steps, double h)
{
    zw_status status = ZW_OK;
    for (int k = 0; k < steps && status == ZW_OK; k++) {
        status = touch_run(&r->s, ++r->steps * h, h);
        double now = toss_energy(r);
        r->low = fmin(r->low, now);
        r->rise = fmax(r->rise, (now - r->low) / r->energy);
    }
    return status;
}

#endif

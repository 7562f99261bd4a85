/* Spheres. Blowing the heap up and lifting it opens all contacts: relative velocities of spheres
 * are then along their normals. */
#include <math.h>

#include "stage.h"

static const double up[3] = {0, 0, 1};

/* lift = distance from the foot of the heap, and fast enough upwards for the floor. */
static void blow_up(stage *st)
{
    double reach = 0;
    for (int k = 0; k < st->solids; k++)
        reach += fabs(st->solid[k].at[0]) + fabs(st->solid[k].at[1]);
    for (int k = 0; k < st->solids; k++) {
        for (int i = 0; i < 3; i++)
            st->solid[k].lift[i] = st->solid[k].at[i];
        st->solid[k].lift[2] += 2 * st->mu * reach;
    }
}

/* Contacts of all spheres nearer than `near` to each other or to the floor. */
static void find_contacts(stage *st, double near)
{
    for (int a = 0; a < st->solids; a++) {
        const solid *s = &st->solid[a];
        double foot[3] = {s->at[0], s->at[1], 0}, gap = s->at[2] - s->half[0];
        touch *t = gap < near ? stage_touch(st, a, STAGE_WORLD, foot, up) : NULL;
        if (t)
            t->gap = gap > 0 ? gap : 0;
        for (int b = 0; b < a; b++) {
            const solid *o = &st->solid[b];
            double normal[3], point[3] = {o->at[0], o->at[1], o->at[2]};
            for (int i = 0; i < 3; i++)
                normal[i] = s->at[i] - o->at[i];
            double distance = sqrt(dot3(normal, normal));
            gap = distance - s->half[0] - o->half[0];
            if (gap >= near)
                continue;
            for (int i = 0; i < 3; i++)
                normal[i] /= distance;
            add3(point, o->half[0], normal);
            t = stage_touch(st, a, b, point, normal);
            if (t)
                t->gap = gap > 0 ? gap : 0;
        }
    }
}

/* The height at which a sphere dropped at x, y comes to touch something. */
static double drop(const stage *st, double x, double y, double radius)
{
    double z = radius;
    for (int k = 0; k < st->solids; k++) {
        const solid *s = &st->solid[k];
        double dx = x - s->at[0], dy = y - s->at[1], reach = radius + s->half[0];
        double rest = reach * reach - dx * dx - dy * dy;
        if (rest > 0 && s->at[2] + sqrt(rest) > z)
            z = s->at[2] + sqrt(rest);
    }
    return z;
}

void stage_pile(stage *st)
{
    int count = dice_int(&st->dice, 5, STAGE_SOLIDS);
    double wide = dice_between(&st->dice, 0.15, 0.3) * sqrt(count);
    double ratio = dice_chance(&st->dice, 0.5) ? 1 : dice_power(&st->dice, 0, 3);
    for (int k = 0; k < count; k++) {
        double radius = dice_between(&st->dice, 0.2, 0.3), best[3] = {0, 0, 1e9};
        for (int tries = 0; tries < 40; tries++) { /* the lowest of many places: they roll down */
            double x = wide * dice_between(&st->dice, -1, 1);
            double y = wide * dice_between(&st->dice, -1, 1);
            double z = drop(st, x, y, radius);
            if (z < best[2])
                set3(best, x, y, z);
        }
        stage_sphere(st, k % 3 ? 1 : ratio, radius, best);
    }
    find_contacts(st, dice_between(&st->dice, 0.005, 0.06));
    blow_up(st);
    double speed = dice_power(&st->dice, -3, 0.5);
    if (dice_chance(&st->dice, 0.8))
        stage_shake(st, speed, speed);
}

/* Spheres on the floor in a row, some touching, one or two on top; contacts of 4 or 6 rows. */
void stage_rolling(stage *st)
{
    int count = dice_int(&st->dice, 1, 6), rows = dice_chance(&st->dice, 0.5) ? 4 : 6;
    double x = 0, r = 0.2;
    for (int k = 0; k < count; k++) {
        double at[3] = {x, 0, r};
        stage_sphere(st, dice_power(&st->dice, -1, 1), r, at);
        x += 2 * r + (dice_chance(&st->dice, 0.6) ? 0 : 0.3);
    }
    for (int k = 0; k < 2 && count > 2; k++) {
        double at[3] = {2 * r * (k + 0.5), 0, 0};
        at[2] = drop(st, at[0], at[1], r);
        stage_sphere(st, dice_power(&st->dice, -1, 1), r, at);
    }
    find_contacts(st, 1e-3);
    blow_up(st);

    /* Spin and roll coefficients are lengths. */
    double spin = r * dice_power(&st->dice, -2, -0.5), roll = r * dice_power(&st->dice, -3, -1);
    for (int i = 0; i < st->touches; i++) {
        st->touch[i].rows = rows;
        st->touch[i].friction[2] = spin;
        st->touch[i].friction[3] = st->touch[i].friction[4] = rows == 6 ? roll : 0;
    }
    double speed = dice_power(&st->dice, -2, 1);
    stage_shake(st, speed, speed / r);
}

/* Many contacts on few bodies, impacts, rods. */
#include <math.h>

#include "stage.h"

/* ---- Many on few -------------------------------------------------------------------------- */

/* A point of the surface of a body that something with this normal can touch: the only one of a
 * sphere; of a box a random one of the face that looks most against the normal, or its corner. The
 * face brings its own normal if moving along `normal` opens a contact on it. */
static void surface_point(stage *st, int body, double normal[3], double point[3])
{
    const solid *s = &st->solid[body];
    int box = s->half[0] != s->half[1] || s->half[1] != s->half[2];
    double local[3], most = 0;
    int face = 0;
    for (int i = 0; i < 3; i++)
        point[i] = s->at[i];
    if (!box) {
        add3(point, -s->half[0], normal);
        return;
    }
    for (int i = 0; i < 3; i++) { /* local = -R' normal, and the face it points to */
        local[i] =
            -(s->turn[i] * normal[0] + s->turn[3 + i] * normal[1] + s->turn[6 + i] * normal[2]);
        if (fabs(local[i]) > most) {
            most = fabs(local[i]);
            face = i;
        }
    }
    double side = local[face] > 0 ? 1 : -1;
    const double facing[3] = {-side * s->turn[face], -side * s->turn[3 + face],
                              -side * s->turn[6 + face]};
    int on_face = st->weak || facing[2] > 1.1 * st->mu / sqrt(1 + st->mu * st->mu);
    for (int i = 0; i < 3; i++) {
        double corner = local[i] > 0 ? s->half[i] : -s->half[i];
        local[i] = on_face && i != face ? dice_between(&st->dice, -1, 1) * s->half[i] : corner;
    }
    for (int i = 0; i < 3; i++) {
        point[i] += s->turn[3 * i] * local[0] + s->turn[3 * i + 1] * local[1] +
                    s->turn[3 * i + 2] * local[2];
        if (on_face)
            normal[i] = facing[i];
    }
}

static void few_bodies(stage *st)
{
    int count = dice_int(&st->dice, 1, 5), round = dice_chance(&st->dice, 0.3);
    double ratio = dice_power(&st->dice, 0, 3);
    for (int k = 0; k < count; k++) {
        double at[3] = {0, 0, 1 + 1.2 * k}, mass = k % 2 ? ratio : 1, half[3], axis[3];
        int body;
        for (int i = 0; i < 3; i++)
            half[i] = dice_between(&st->dice, 0.2, 0.6);
        if (round || dice_chance(&st->dice, 0.3)) {
            body = stage_sphere(st, mass, 0.6, at);
        } else {
            body = stage_box(st, mass, half, at);
            dice_direction(&st->dice, axis);
            stage_turn(st, body, axis, dice_between(&st->dice, 0, PI));
        }
        set3(st->solid[body].lift, 0, 0, k + 1);
    }
}

void stage_many_on_few(stage *st, int may_jam)
{
    few_bodies(st);
    st->weak = may_jam && dice_chance(&st->dice, 0.25);
    int contacts = dice_int(&st->dice, 20, 40);
    for (int i = 0; i < contacts; i++) {
        int a = i < st->solids ? i : dice_int(&st->dice, 0, st->solids - 1);
        int b = a > 0 && dice_chance(&st->dice, 0.6) ? a - 1 : STAGE_WORLD;
        double normal[3], point[3];
        if (st->weak && b == STAGE_WORLD)
            dice_direction(&st->dice, normal);
        else
            stage_steep_normal(st, st->mu, normal);
        surface_point(st, a, normal, point);
        touch *t = stage_touch(st, a, b, point, normal);
        if (t && dice_chance(&st->dice, 0.2))
            t->gap = dice_power(&st->dice, -6, -2);
    }
    double speed = dice_power(&st->dice, -2, 1);
    stage_shake(st, speed, speed);
}

/* ---- Impact ------------------------------------------------------------------------------- */

void stage_impact(stage *st)
{
    if (dice_chance(&st->dice, 0.5))
        stage_many_on_few(st, 0);
    else
        stage_stack(st, 1, 5);

    double speed = dice_power(&st->dice, 0, 2), bounce = dice_between(&st->dice, 0, 1);
    for (int k = 0; k < st->solids; k++) {
        st->solid[k].v[0] += speed * dice_bell(&st->dice);
        st->solid[k].v[2] -= speed * dice_between(&st->dice, 0.5, 2);
    }
    for (int i = 0; i < st->touches; i++) {
        st->touch[i].gap = 0;
        st->touch[i].bounce = dice_chance(&st->dice, 0.8) ? bounce : 0;
    }
}

/* ---- Painleve's rods ---------------------------------------------------------------------- */

/* Rods of length 2 that lean in the plane of x and z and slide on their lower tip, which is one
 * point, or the two or four corners of a small foot. */
void stage_painleve(stage *st)
{
    static const double axis[3] = {0, 1, 0}, up[3] = {0, 0, 1};
    int count = dice_int(&st->dice, 1, 3);
    st->mu = dice_between(&st->dice, 0.8, 3);
    for (int k = 0; k < count; k++) {
        double thin = dice_power(&st->dice, -2.5, -1), angle = dice_between(&st->dice, 0.1, 1.2);
        double half[3] = {thin, thin, 1}, speed = dice_power(&st->dice, -2, 1.5);
        double at[3] = {sin(angle), 3.0 * k, cos(angle)};
        int body = stage_box(st, dice_power(&st->dice, -1, 1), half, at), feet;
        solid *s = &st->solid[body];
        stage_turn(st, body, axis, angle);
        set3(s->lift, 0, 0, 1);

        feet = dice_int(&st->dice, 0, 2);
        for (int c = 0; c < 1 << feet; c++) {
            double point[3] = {0, at[1], 0};
            if (feet > 0)
                point[1] += c & 1 ? thin : -thin;
            if (feet > 1)
                point[0] += c & 2 ? thin : -thin;
            stage_touch(st, body, STAGE_WORLD, point, up);
        }
        /* The tip slides towards the side it leans to or away from it; little rotation. */
        s->v[0] = dice_sign(&st->dice, speed);
        s->v[1] = 0.1 * speed * dice_bell(&st->dice);
        s->w[1] = dice_chance(&st->dice, 0.5) ? 0 : speed * dice_bell(&st->dice);
        if (dice_chance(&st->dice, 0.3))
            s->v[2] = -speed * dice_between(&st->dice, 0, 1);
    }
}

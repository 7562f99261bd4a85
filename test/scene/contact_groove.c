/* Bodies held from two sides: wedge, gripper, arch. */
#include <math.h>

#include "stage.h"

/* Contacts of a body with the plane of this normal at a distance from its centre: one, or two or
 * four in the corners of a patch. b is what it touches. */
static void patch(stage *st, int body, int b, const double normal[3], double distance, int corners,
                  double size)
{
    double t1[3], t2[3];
    tangents3(normal, 0, t1, t2);
    for (int c = 0; c < corners; c++) {
        double point[3];
        for (int i = 0; i < 3; i++)
            point[i] = st->solid[body].at[i] - distance * normal[i];
        if (corners > 1)
            add3(point, c & 1 ? size : -size, t2);
        if (corners > 2)
            add3(point, c & 2 ? size : -size, t1);
        stage_touch(st, body, b, point, normal);
    }
}

/* ---- Wedge -------------------------------------------------------------------------------- */

/* Two planes, of normals (c, 0, s) and (-c, 0, s). Moving up opens them if s > mu c; narrower
 * grooves can jam, and only rest is admitted for sure. */
void stage_wedge(stage *st)
{
    double half[3] = {0.4, 0.5, 0.6}, at[3] = {0, 0, 1}, distance = 0.4;
    int round = dice_chance(&st->dice, 0.3), corners = 1 << dice_int(&st->dice, 0, 2);
    int wide = dice_chance(&st->dice, 0.4);
    int body = round ? stage_sphere(st, dice_power(&st->dice, -1, 2), distance, at)
                     : stage_box(st, dice_power(&st->dice, -1, 2), half, at);
    set3(st->solid[body].lift, 0, 0, 1);
    for (int k = 0; k < 2; k++) {
        double s = dice_between(&st->dice, wide ? 0.8 : 0.1, 0.95), c = sqrt(1 - s * s);
        const double normal[3] = {k ? -c : c, 0, s};
        patch(st, body, STAGE_WORLD, normal, distance, round ? 1 : corners, 0.3);
        if (s < 1.2 * st->mu * c)
            st->weak = 1;
    }
    for (int i = 0; i < st->touches; i++)
        if (dice_chance(&st->dice, 0.1))
            st->touch[i].gap = dice_power(&st->dice, -6, -3);
    double speed = dice_power(&st->dice, -2, 1);
    stage_shake(st, speed, speed);
    st->solid[body].v[2] -= speed;
}

/* Two upright walls that close: opposite contacts ask for the same motion both ways. */
void stage_closing(stage *st)
{
    static const double normal[2][3] = {{1, 0, 0}, {-1, 0, 0}};
    double half[3] = {0.4, 0.5, 0.6}, at[3] = {0, 0, 1};
    int corners = 1 << dice_int(&st->dice, 0, 2);
    int body = stage_box(st, dice_power(&st->dice, -1, 2), half, at);
    double speed = dice_power(&st->dice, -2, 1);
    for (int k = 0; k < 2; k++)
        patch(st, body, STAGE_WORLD, normal[k], half[0], corners, 0.3);
    for (int i = 0; i < st->touches; i++)
        add3(st->touch[i].belt, speed * (i < corners ? 1 : 0.6), st->touch[i].normal);

    /* The first contact of the left wall and the one at its height and depth on the right. */
    st->conflict[1] = corners;
    for (int i = corners; i < st->touches; i++)
        if (fabs(st->touch[i].point[1] - st->touch[0].point[1]) < 1e-9 &&
            fabs(st->touch[i].point[2] - st->touch[0].point[2]) < 1e-9)
            st->conflict[1] = i;
    stage_shake(st, 0.1 * speed, 0.1 * speed);
}

/* ---- Gripper ------------------------------------------------------------------------------ */

/* An object between two fingers that close on it, heavy and free, or on rails that are carried
 * somewhere. Opening the fingers opens all contacts. */
void stage_gripper(stage *st)
{
    static const double axis[3] = {1, 0, 0};
    int rails = dice_chance(&st->dice, 0.5), round = dice_chance(&st->dice, 0.2);
    int corners = round ? 1 : 1 << dice_int(&st->dice, 0, 2);
    double half[3] = {0.3, 0.3, 0.3}, thin[3] = {0.1, 0.3, 0.3}, at[3] = {0, 0, 1};
    double ratio = dice_power(&st->dice, 0, 6), close = dice_power(&st->dice, -3, 0.5);
    int object = round ? stage_sphere(st, 1, half[0], at) : stage_box(st, 1, half, at);

    if (rails && dice_chance(&st->dice, 0.7))
        for (int i = 0; i < 3; i++)
            st->carry[i] = dice_between(&st->dice, -1, 1);
    for (int k = 0; k < 2; k++) {
        double side = k ? 1 : -1, normal[3] = {-side, 0, 0};
        double place[3] = {side * (half[0] + thin[0]), 0, 1};
        int finger = stage_box(st, ratio, thin, place);
        solid *s = &st->solid[finger];
        s->weightless = 1;
        set3(s->v, -side * close, 0, 0);
        add3(s->v, 1, st->carry);
        set3(s->lift, side, 0, 0);
        patch(st, object, finger, normal, half[0], corners, 0.25);
        if (rails)
            stage_joint(st, JOINT_RAIL, finger, STAGE_WORLD, place, axis);
    }
    double speed = dice_power(&st->dice, -2, 0.5);
    for (int i = 0; i < 3; i++) {
        st->solid[object].v[i] = speed * dice_bell(&st->dice);
        st->solid[object].w[i] = speed * dice_bell(&st->dice);
    }
}

/* ---- Arch --------------------------------------------------------------------------------- */

/* Voussoirs on a half circle of radius 1 in the plane of x and z, four contacts a joint, the first
 * and the last one standing on the floor. Blowing the circle up opens the joints along their
 * normals, lifting it opens the floor. */
void stage_arch(stage *st)
{
    static const double axis[3] = {0, 1, 0};
    int count = dice_int(&st->dice, 3, 9);
    double thick = dice_between(&st->dice, 0.08, 0.2), deep = 0.2, slice = PI / count;
    double ratio = dice_chance(&st->dice, 0.5) ? 1 : dice_power(&st->dice, 0, 3);
    for (int k = 0; k < count; k++) {
        double angle = slice * (k + 0.5), half[3] = {thick, deep, sin(slice / 2)};
        double at[3] = {-cos(angle), 0, sin(angle)};
        int body = stage_box(st, k % 2 ? ratio : 1, half, at);
        stage_turn(st, body, axis, angle); /* its z along the arch */
        set3(st->solid[body].lift, at[0], 0, at[2] + 4 * st->mu);
    }
    for (int k = 0; k <= count; k++) {
        double angle = slice * k, sign = k == count ? -1 : 1;
        double normal[3] = {sign * sin(angle), 0, sign * cos(angle)};
        for (int c = 0; c < 4; c++) {
            double radius = 1 + (c & 1 ? thick : -thick);
            double point[3] = {-radius * cos(angle), c & 2 ? deep : -deep, radius * sin(angle)};
            stage_touch(st, k == count ? k - 1 : k, k == 0 || k == count ? STAGE_WORLD : k - 1,
                        point, normal);
        }
    }
    double speed = dice_power(&st->dice, -3, 0.5);
    if (dice_chance(&st->dice, 0.7))
        stage_shake(st, speed, speed);
}

/* Bodies that stand on each other: no velocity is easier to find than the one that opens all
 * contacts: everything moves up, the higher the faster. */
#include <math.h>

#include "stage.h"

static const double up[3] = {0, 0, 1};

/* Mass ratios of a scene. */
static double draw_ratio(stage *st)
{
    static const double ratio[] = {1, 8, 64, 1e3, 1e6};
    return ratio[dice_int(&st->dice, 0, 4)];
}

/* Four contacts in the corners of the rectangle that two boxes share; b may be the world. */
static void rest_on(stage *st, int a, int b)
{
    const solid *s = &st->solid[a], *below = b == STAGE_WORLD ? NULL : &st->solid[b];
    for (int corner = 0; corner < 4; corner++) {
        double point[3] = {0, 0, s->at[2] - s->half[2]};
        for (int i = 0; i < 2; i++) {
            double side = (corner >> i & 1) ? 1 : -1;
            double edge = side * s->at[i] + s->half[i];
            if (below && side * below->at[i] + below->half[i] < edge)
                edge = side * below->at[i] + below->half[i];
            point[i] = side * edge;
        }
        stage_touch(st, a, b, point, up);
    }
}

/* Heavy and light in turn, or growing to the top, or a heavy one among light ones. */
static double mass_of(int pattern, int k, int count, double ratio)
{
    double grow = 1;
    switch (pattern) {
    case 0:
        return k % 2 ? ratio : 1;
    case 1:
        return k % 2 ? 1 : ratio;
    case 2:
        if (count < 2)
            return ratio;
        for (double r = 1; r < ratio * (double)k / (double)(count - 1); r *= 2)
            grow *= 2;
        return grow;
    default:
        return k == count - 1 ? ratio : 1;
    }
}

void stage_stack(stage *st, int low, int high)
{
    int count = dice_int(&st->dice, low, high), pattern = dice_int(&st->dice, 0, 3);
    int aligned = dice_chance(&st->dice, 0.4);
    double ratio = draw_ratio(st), z = 0, lateral = dice_power(&st->dice, -3, 1);
    for (int k = 0; k < count; k++) {
        double half[3], at[3] = {0, 0, 0};
        for (int i = 0; i < 3; i++) {
            half[i] = aligned ? 0.5 : dice_between(&st->dice, 0.3, 0.6);
            at[i] = aligned ? 0 : dice_between(&st->dice, -0.12, 0.12);
        }
        at[2] = z + half[2];
        z += 2 * half[2];
        int body = stage_box(st, mass_of(pattern, k, count, ratio), half, at);
        set3(st->solid[body].lift, 0, 0, k + 1);
        rest_on(st, body, k == 0 ? STAGE_WORLD : k - 1);
    }

    /* Rest, one push, or all boxes different; a belt under the lowest; small gaps. */
    int push = dice_int(&st->dice, 0, 2);
    if (push == 1)
        set3(st->solid[dice_int(&st->dice, 0, count - 1)].v, lateral, 0.3 * lateral, 0);
    if (push == 2)
        stage_shake(st, 0.3 * lateral, 0.3 * lateral);
    if (dice_chance(&st->dice, 0.2))
        for (int i = 0; i < 4; i++)
            set3(st->touch[i].belt, lateral, 0, 0);
    for (int i = 0; i < st->touches; i++)
        if (dice_chance(&st->dice, 0.1))
            st->touch[i].gap = dice_power(&st->dice, -6, -2);
}

/* ---- Isostatic ---------------------------------------------------------------------------- */

static void isostatic_sphere(stage *st, const double at[3])
{
    double radius = dice_between(&st->dice, 0.1, 0.5);
    int body = stage_sphere(st, dice_power(&st->dice, -1, 1), radius, at);
    int contacts = dice_int(&st->dice, 1, 3);
    set3(st->solid[body].lift, 0, 0, 1);
    for (int i = 0; i < contacts; i++) {
        double normal[3], point[3] = {at[0], at[1], at[2]};
        if (contacts == 1)
            set3(normal, 0, 0, 1);
        else
            stage_steep_normal(st, st->mu, normal);
        add3(point, -radius, normal);
        stage_touch(st, body, STAGE_WORLD, point, normal);
    }
}

/* On three corners of its lower face, or tilted on two or one. */
static void isostatic_box(stage *st, const double at[3])
{
    static const double axis[2][3] = {{1, 0, 0}, {0, 1, 0}};
    double half[3];
    for (int i = 0; i < 3; i++)
        half[i] = dice_between(&st->dice, 0.1, 0.5);
    int body = stage_box(st, dice_power(&st->dice, -1, 1), half, at);
    int corners = dice_int(&st->dice, 1, 3);
    solid *s = &st->solid[body];
    set3(s->lift, 0, 0, 1);
    if (corners < 3)
        stage_turn(st, body, axis[0], dice_between(&st->dice, 0.05, 1.2));
    if (corners < 2)
        stage_turn(st, body, axis[1], dice_between(&st->dice, 0.05, 1.2));

    /* Corners 0 and 1 share the edge along x, which the first turn lowers or leaves. */
    static const double sign[3][2] = {{-1, -1}, {1, -1}, {1, 1}};
    for (int c = 0; c < corners; c++) {
        double point[3] = {at[0], at[1], at[2]};
        for (int i = 0; i < 3; i++)
            point[i] += s->turn[3 * i] * sign[c][0] * half[0] +
                        s->turn[3 * i + 1] * sign[c][1] * half[1] - s->turn[3 * i + 2] * half[2];
        stage_touch(st, body, STAGE_WORLD, point, up);
    }
}

void stage_isostatic(stage *st)
{
    int count = dice_int(&st->dice, 1, 3);
    for (int k = 0; k < count; k++) {
        const double at[3] = {2.0 * k, 0, 1};
        if (dice_chance(&st->dice, 0.5))
            isostatic_sphere(st, at);
        else
            isostatic_box(st, at);
    }
    double speed = dice_power(&st->dice, -2, 0.5);
    stage_shake(st, speed, speed);
    if (dice_chance(&st->dice, 0.2))
        set3(st->touch[0].belt, 0.5, 0, 0);
}

/* ---- A heavy box on light bodies ---------------------------------------------------------- */

void stage_heavy_on_light(stage *st)
{
    const double half[3] = {1, 1, 0.4};
    int count = dice_int(&st->dice, 3, 6), spheres = dice_chance(&st->dice, 0.6);
    double r = dice_between(&st->dice, 0.1, 0.2), ratio = dice_power(&st->dice, 1, 6);
    double place[3] = {0, 0, 2 * r + half[2]};
    int heavy = stage_box(st, ratio, half, place);
    set3(st->solid[heavy].lift, 0, 0, 2);

    for (int k = 0; k < count; k++) {
        double angle = 2 * PI * (k + dice_between(&st->dice, 0, 0.5)) / count;
        double at[3] = {0.7 * cos(angle), 0.7 * sin(angle), r}, size[3] = {r, r, r};
        int body = spheres ? stage_sphere(st, 1, r, at) : stage_box(st, 1, size, at);
        set3(st->solid[body].lift, 0, 0, 1);
        if (!spheres) {
            rest_on(st, body, STAGE_WORLD);
            for (int corner = 0; corner < 4; corner++) {
                double point[3] = {at[0] + (corner & 1 ? r : -r), at[1] + (corner & 2 ? r : -r),
                                   2 * r};
                stage_touch(st, heavy, body, point, up);
            }
            continue;
        }
        at[2] = 0;
        stage_touch(st, body, STAGE_WORLD, at, up);
        at[2] = 2 * r;
        stage_touch(st, heavy, body, at, up);
    }
    double speed = dice_power(&st->dice, -3, 1);
    if (dice_chance(&st->dice, 0.6))
        set3(st->solid[heavy].v, speed, 0, -0.3 * speed);
    if (dice_chance(&st->dice, 0.5))
        stage_shake(st, 0.2 * speed, 0.2 * speed);
}

/* ---- Joints ------------------------------------------------------------------------------- */

/* Boxes in a row or on one another, joined in the middle between neighbours. All move up as one:
 * the joints hold, the limits stay. */
void stage_jointed(stage *st)
{
    static const double axis[3] = {0, 1, 0};
    int count = dice_int(&st->dice, 2, 4), tower = dice_chance(&st->dice, 0.3);
    double ratio = draw_ratio(st), half[3] = {0.4, 0.3, 0.3};
    for (int k = 0; k < count; k++) {
        double at[3] = {tower ? 0.2 * k : 1.0 * k, 0, half[2] + (tower ? 0.8 * k : 0)};
        int body = stage_box(st, k % 2 ? ratio : 1, half, at);
        set3(st->solid[body].lift, 0, 0, 1);
        if (k == 0 || !tower)
            rest_on(st, body, STAGE_WORLD);
        if (k == 0)
            continue;

        double middle[3];
        for (int i = 0; i < 3; i++)
            middle[i] = (at[i] + st->solid[k - 1].at[i]) / 2;
        joint_kind kind = dice_chance(&st->dice, 0.6) ? JOINT_BALL : JOINT_HINGE;
        stage_joint(st, kind, body, k - 1, middle, axis);
        if (dice_chance(&st->dice, 0.5))
            stage_joint(st, JOINT_LIMIT, body, k - 1, middle, axis)->gap =
                dice_chance(&st->dice, 0.5) ? 0 : dice_power(&st->dice, -4, -1);
    }
    double speed = dice_power(&st->dice, -2, 1);
    stage_shake(st, speed, speed);
}

/* Motors of a piece where they are clamped.
 *
 * Controls, and forces that are no multipliers, stay on the side of their limits where they are:
 * differences of the equations then know no corner. What is right at a limit is inside, so that a
 * control at the end of its range has the slope towards the inside, and is a kink. An activation is
 * linear in its start and in its control (but for muscles) up to where it is clamped: places for
 * differences may be anywhere on its side. */
#include <math.h>

#include "look/rigid/rigid.h"
#include "system/bodies/bodies_side.h"

static int is_near(double x, const double range[2])
{
    double wide = range[1] - range[0], size = wide < HUGE_VAL ? wide : fabs(x);
    return wide > 0 && fmin(fabs(x - range[0]), fabs(x - range[1])) <= RIGID_NEAR * size;
}

/* A force is inside at the very end of its range. */
static void look_at_force(sens_rigid *r, double force, const double range[2], int *side)
{
    *side = force == range[0] || force == range[1] ? 0 : *side;
    if (is_near(force, range)) {
        rigid_note_kink(r, "a motor at the end of its range");
    }
}

void rigid_motors(sens_rigid *r)
{
    const struct system_bodies *bodies = r->system->bodies;
    step_impulse *s = r->here.s;
    if (bodies_control_sides(r->system, r->here.work, RIGID_NEAR, r->control_side) > 0) {
        rigid_note_kink(r, "a motor at the end of its range");
    }
    for (int k = -1; k < NUMBER_SYSTEMS * r->names; k++) {
        (k < 0 ? &r->here : rigid_beside(r, k))->work->control_side = r->control_side;
    }
    for (int k = 0; k < bodies->motor_count; k++) {
        if (bodies->motor[k].clamp_force && !s->boxed[k]) {
            look_at_force(r, s->law[k].force, bodies->motor[k].force, &s->side[2 * k]);
        }
    }
    for (int i = 0; i < bodies->length_count; i++) {
        double range[2];
        if (bodies->length[i].force_limited && s->loose[i] > 0) {
            bodies_force_range(r->system, r->here.work, i, range);
            look_at_force(r, s->pull[i], range, &s->side[2 * bodies->motor_count + i]);
        }
    }
}

/* side: between these x is on its side of low and high. */
static void bound(sens_rigid *r, double x, double low, double high, double side[2])
{
    if (x < low || (x == low && low == high)) {
        side[1] = fmin(side[1], low);
    } else if (x > high) {
        side[0] = fmax(side[0], high);
    } else {
        side[0] = fmax(side[0], low);
        side[1] = fmin(side[1], high);
    }
    if (fmin(fabs(x - low), fabs(x - high)) <= RIGID_NEAR * (1 + fabs(x))) {
        rigid_note_kink(r, "an activation at the end of its range");
    }
}

/* Where forces are evaluated, and at the end. */
static void bound_activation(sens_rigid *r, const bodies_motor *motor, int activation, double x,
                             double side[2])
{
    const step_impulse *s = r->here.s;
    const double time[2] = {s->h, impulse_ahead(s)};
    bodies_motor freely = *motor;
    freely.clamp_act = 0;
    for (int k = 0; k < 2 && motor->clamp_act && !motor->excited; k++) {
        double now = s->act0[motor->act];
        double then = bodies_activated(r->system, r->here.work, &freely, now, time[k]);
        double gain = bodies_activates(r->system, r->here.work, &freely, now, time[k]);
        gain = !activation ? gain : motor->filter > 0 ? 1 - gain : 1;
        bound(r, x, x + (motor->act_range[0] - then) / gain,
              x + (motor->act_range[1] - then) / gain, side);
    }
}

double rigid_shift(sens_rigid *r, int activation, int j, double x, double *step)
{
    const struct system_bodies *bodies = r->system->bodies;
    double side[2] = {-HUGE_VAL, HUGE_VAL};
    for (int k = 0; k < bodies->motor_count; k++) {
        const bodies_motor *motor = &bodies->motor[k];
        if (motor->act >= 0 &&
            (activation ? motor->act == j : motor->param == j && motor->formula < 0)) {
            bound_activation(r, motor, activation, x, side);
        }
    }
    *step = fmin(*step, (side[1] - side[0]) / 4);
    return x + 2 * *step > side[1]   ? side[1] - 2 * *step - x
           : x - 2 * *step < side[0] ? side[0] + 2 * *step - x
                                     : 0;
}

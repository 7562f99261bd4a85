/* Multipliers with limits: dry friction of joints and tendons, and motors with ranges of force.
 *
 * Friction.  What it asks for is that nothing slides, e = c . u = 0, and it has |lambda| <= limit
 * times the time in which forces act: a box. Over a whole step, of which the first part ends at u
 * and the second (impulse_close.c) at v1, both impulses together are limited by h limit: what has
 * slid has all of the rest against it, and what stuck can be held by what was not needed.
 *
 * Motors.  Their force is the law at the end of the step, clamped. At the speed u the law says w,
 * and with the row a of what the motor moves it falls along it:
 *
 *     w(u') = w - d a . (u' - u),     d = -(dw/drate + h dw/dlength) > 0.
 *
 * So its impulse, lambda = time w(u') within time (low, high), is a box with a compliance:
 *
 *     a u' - (a u + w/d) + lambda/(time d) = 0 inside.
 *
 * It is solved together with all contacts, however stiff the motor is. Where d <= 0, or a control
 * is a formula of the motion, or several motors pull on one length that is limited as a whole, the
 * clamped force of the speed at hand is a force like others, and the rounds find it. */
#include <math.h>
#include <string.h>

#include "math/cone.h"
#include "step/impulse/impulse.h"

#define BORDER 1e-12 /* of its size: a force this close to the end of its box is there */
#define STILL 1e-9   /* of its terms: a speed that is none */

static long dry_key(const step_impulse *s, int k)
{
    return impulse_held(s) + k;
}

static long motor_key(const bodies_motor *motor)
{
    return IMPULSE_MOTORS + motor->param;
}

/* ---- Motors --------------------------------------------------------------------------------- */

/* What motor k may do; 0: anything. A limit of its length is in units of that. */
static int limits_of(const step_impulse *s, int k, double limit[2])
{
    const bodies_motor *motor = &s->system->bodies->motor[k];
    limit[0] = motor->clamp_force ? motor->force[0] : -HUGE_VAL;
    limit[1] = motor->clamp_force ? motor->force[1] : HUGE_VAL;
    if (motor->kind == MOTOR_LENGTH && s->system->bodies->length[motor->length].force_limited) {
        const double *range = s->system->bodies->length[motor->length].force_range;
        double gear = motor->gear[0];
        double low = range[gear < 0] / gear, high = range[gear > 0] / gear;
        limit[0] = interval_nearest(low, high, limit[0]);
        limit[1] = interval_nearest(low, high, limit[1]);
    }
    return limit[0] > -HUGE_VAL || limit[1] < HUGE_VAL;
}

/* Is the force of motor k a multiplier? */
static int has_box(const step_impulse *s, int k)
{
    const bodies_motor *motor = &s->system->bodies->motor[k];
    int on_length = motor->kind == MOTOR_LENGTH;
    double limit[2];
    if (motor->formula >= 0 || !limits_of(s, k, limit)) {
        return 0;
    }
    if (on_length && s->system->bodies->length[motor->length].force_limited &&
        (s->pulls[motor->length] > 1 || motor->gear[0] == 0)) {
        return 0;
    }
    return s->law[k].by_rate + s->h * s->law[k].by_length < 0;
}

static double clamped(const step_impulse *s, int k)
{
    double limit[2];
    limits_of(s, k, limit);
    return interval_nearest(limit[0], limit[1], s->law[k].force);
}

int impulse_motor_yields(const step_impulse *s, int k)
{
    const bodies_motor *motor = &s->system->bodies->motor[k];
    const bodies_length *length =
        motor->kind == MOTOR_LENGTH ? &s->system->bodies->length[motor->length] : NULL;
    double wish = s->law[k].force;
    if (s->boxed[k] ||
        (motor->clamp_force && (wish <= motor->force[0] || wish >= motor->force[1]))) {
        return 0;
    }
    return !length || !length->force_limited ||
           (s->room[motor->length] > length->force_range[0] &&
            s->room[motor->length] < length->force_range[1]);
}

void impulse_look_at_motor(step_impulse *s, int k, const double *u)
{
    zw_work *work = s->work;
    const bodies_motor *motor = &s->system->bodies->motor[k];
    double length, rate = 0;
    s->aims = bodies_aim(s->system, work, k, s->q1, work->aim_dof, work->aim, &length);
    for (int i = 0; i < s->aims; i++) {
        rate += work->aim[i] * u[work->aim_dof[i]];
    }
    s->rate[k] = rate;
    s->law[k] = bodies_motor_law(motor, s->given[k], length, rate);
    s->boxed[k] = has_box(s, k);
}

void impulse_miss_of_motors(const step_impulse *s, double *left)
{
    const struct system_bodies *bodies = s->system->bodies;
    zw_work *work = s->work;
    double length;
    for (int k = 0; k < bodies->motor_count; k++) {
        if (!s->boxed[k]) {
            continue;
        }
        double found = problem_multiplier(&s->problem, motor_key(&bodies->motor[k]), 0);
        double off = s->fall * clamped(s, k) - found;
        int count = bodies_aim(s->system, work, k, s->q1, work->aim_dof, work->aim, &length);
        for (int i = 0; i < count; i++) {
            left[work->aim_dof[i]] -= off * work->aim[i];
        }
    }
}

static void put_motor(step_impulse *s, impulse_problem *p, int k, double time, double h)
{
    zw_work *work = s->work;
    const bodies_motor *motor = &s->system->bodies->motor[k];
    double limit[2], length, fall = -(s->law[k].by_rate + h * s->law[k].by_length);
    limits_of(s, k, limit);
    if (!(fall > 0)) { /* for this time it is a given force */
        limit[0] = limit[1] = clamped(s, k);
    }
    limit[0] *= time;
    limit[1] *= time;
    int count = bodies_aim(s->system, work, k, s->q1, work->aim_dof, work->aim, &length);
    problem_block(p, motor_key(motor), "motor", ZW_BOX, 1, limit);
    problem_row(p, count, work->aim_dof, work->aim,
                fall > 0 ? s->rate[k] + s->law[k].force / fall : 0);
    if (fall > 0) {
        problem_give(p, 1 / (time * fall));
    }
}

/* ---- Friction ------------------------------------------------------------------------------- */

static double dry_speed(const struct system_bodies *bodies, const bodies_dry *dry, const double *v,
                        double *size)
{
    double e = 0;
    *size = 0;
    for (int i = dry->first; i < dry->first + dry->count; i++) {
        double part = bodies->term[i].coef * v[bodies->term[i].dof];
        e += part;
        *size += fabs(part);
    }
    return e;
}

static void put_dry(step_impulse *s, impulse_problem *p, int k, zw_block_kind kind,
                    const double limit[2])
{
    const struct system_bodies *bodies = s->system->bodies;
    const bodies_dry *dry = &bodies->dry[k];
    zw_work *work = s->work;
    for (int i = 0; i < dry->count; i++) {
        work->aim_dof[i] = bodies->term[dry->first + i].dof;
        work->aim[i] = bodies->term[dry->first + i].coef;
    }
    problem_block(p, dry_key(s, k), s->system->model->constraint[dry_key(s, k)].name, kind, 1,
                  limit);
    problem_row(p, dry->count, work->aim_dof, work->aim, 0);
}

/* Is friction k inside its box, after the rounds? */
static int holds(const step_impulse *s, int k)
{
    double lambda = problem_multiplier(&s->problem, dry_key(s, k), 0);
    return fabs(lambda) < (1 - BORDER) * s->fall * s->system->bodies->dry[k].limit;
}

int impulse_sticks(const step_impulse *s, int k)
{
    const struct system_bodies *bodies = s->system->bodies;
    double size, e = dry_speed(bodies, &bodies->dry[k], s->v0, &size);
    return holds(s, k) && fabs(e) <= STILL * size;
}

void impulse_settle(const step_impulse *s, const impulse_problem *p, double *v)
{
    const struct system_bodies *bodies = s->system->bodies;
    for (int b = 0; b < p->blocks && p->key[b] < IMPULSE_MOTORS; b++) {
        long k = p->key[b] - impulse_held(s);
        const double *limit = p->block[b].limit;
        double lambda = p->answer.lambda[p->first[b]], slack = BORDER * (limit[1] - limit[0]);
        if (k >= 0 && bodies->dry[k].count == 1 && lambda > limit[0] + slack &&
            lambda < limit[1] - slack) {
            v[bodies->term[bodies->dry[k].first].dof] = 0;
        }
    }
}

/* ---- Both ----------------------------------------------------------------------------------- */

void impulse_put_stuck(step_impulse *s, impulse_problem *p)
{
    for (int k = 0; k < s->system->bodies->dry_count; k++) {
        if (holds(s, k)) {
            put_dry(s, p, k, ZW_EQUALITY, NULL);
        }
    }
}

void impulse_put_boxes(step_impulse *s, impulse_problem *p, double time, int goes_on)
{
    const struct system_bodies *bodies = s->system->bodies;
    for (int k = 0; k < bodies->dry_count; k++) {
        double spent = goes_on ? problem_multiplier(&s->problem, dry_key(s, k), 0) : 0;
        double most = (goes_on ? s->fall + time : time) * bodies->dry[k].limit;
        const double limit[2] = {-most - spent, most - spent};
        put_dry(s, p, k, ZW_BOX, limit);
    }
    for (int k = 0; k < bodies->motor_count && time > 0; k++) {
        if (s->boxed[k]) {
            put_motor(s, p, k, time, goes_on ? time : s->h);
        }
    }
}

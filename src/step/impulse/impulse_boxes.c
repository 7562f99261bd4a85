/* Multipliers with limits: dry friction of joints and tendons, and motors with ranges of force.
 *
 * Friction. It requires that nothing slides, e = c . u = 0, with |lambda| <= limit times the time
 * for which forces act: a box. Over a whole step, of which the first part ends at u and the second
 * (impulse_close.c) at v1, both impulses together are limited by h limit: friction that has slid
 * exerts all of the rest, and friction that stuck can use what was not needed.
 *
 * Motors. Their force is the law where and when impulse.c takes forces, clamped. At the speed u the
 * law gives w, and it decreases along the row a of the motor:
 *
 *     w(u') = w - d a . (u' - u),     d = -(dw/drate + ahead dw/dlength) > 0.
 *
 * So its impulse, lambda = time w(u') within time (low, high), is a box with a compliance:
 *
 *     a u' - (a u + w/d) + lambda/(time d) = 0 inside.
 *
 * It is solved together with all contacts, however stiff the motor is. A motor is added to the
 * boxes of a step once an iterate of its rounds exceeds its limits, like the limits of joints;
 * until then d is in H. (One linearisation has no rounds: there all of them are boxes.) Where d <=
 * 0, or a control is a formula of the motion, or several motors pull on one length that is limited
 * as a whole, or a motor pushes at a site, the clamped force of the current speed is a force like
 * others, and the rounds find it.
 *
 * In the second part of a step forces are those of u + sigma (v1 - u): d is sigma times that of the
 * time left; and with sigma = 0 it is the force of the first part. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "math/cone.h"
#include "step/impulse/impulse.h"

#define BORDER                                                                                     \
    1e-12 /* relative to its size: a force this close to the end of its box is at the end */
#define STILL 1e-9 /* relative to its terms, or to the fastest: a speed that counts as zero */

static int64_t dry_key(const step_impulse *s, int k)
{
    return impulse_held(s) + k;
}

static int64_t motor_key(const bodies_motor *motor)
{
    return IMPULSE_MOTORS + motor->param;
}

/* ---- Motors --------------------------------------------------------------------------------- */

/* The limits of the force of motor k; 0: none. A limit of its length is in units of that. */
static int limits_of(const step_impulse *s, int k, double limit[2])
{
    const bodies_motor *motor = &s->system->bodies->motor[k];
    limit[0] = motor->clamp_force ? motor->force[0] : -HUGE_VAL;
    limit[1] = motor->clamp_force ? motor->force[1] : HUGE_VAL;
    if (motor->kind == MOTOR_LENGTH && s->system->bodies->length[motor->length].force_limited) {
        double gear = motor->gear[0], range[2];
        bodies_force_range(s->system, s->work, motor->length, range);
        double low = range[gear < 0] / gear, high = range[gear > 0] / gear;
        limit[0] = interval_nearest(low, high, limit[0]);
        limit[1] = interval_nearest(low, high, limit[1]);
    }
    return limit[0] > -HUGE_VAL || limit[1] < HUGE_VAL;
}

double impulse_motor_slope(const step_impulse *s, int k)
{
    return s->law[k].by_rate + impulse_ahead(s) * s->law[k].by_length;
}

double impulse_within(const step_impulse *s, int *side, const double range[2], double force)
{
    if (!s->keeps_side) {
        *side = force <= range[0] ? -1 : force >= range[1];
        return interval_nearest(range[0], range[1], force);
    }
    return *side < 0 ? range[0] : *side > 0 ? range[1] : force;
}

/* Is the force of motor k a multiplier? */
static int has_box(const step_impulse *s, int k)
{
    const bodies_motor *motor = &s->system->bodies->motor[k];
    int on_length = motor->kind == MOTOR_LENGTH;
    double limit[2];
    if (s->keeps_side) {
        return s->boxed[k];
    }
    if (motor->formula >= 0 || motor->kind >= MOTOR_SITE || !limits_of(s, k, limit)) {
        return 0;
    }
    if (on_length && s->system->bodies->length[motor->length].force_limited &&
        (s->pulls[motor->length] > 1 || motor->gear[0] == 0)) {
        return 0;
    }
    impulse_within(s, &s->side[2 * k + 1], limit, s->law[k].force);
    s->joined[k] |= s->side[2 * k + 1] != 0;
    return s->joined[k] && impulse_motor_slope(s, k) < 0;
}

static double clamped(const step_impulse *s, int k)
{
    double limit[2];
    limits_of(s, k, limit);
    return impulse_within(s, &s->side[2 * k + 1], limit, s->law[k].force);
}

int impulse_motor_yields(const step_impulse *s, int k)
{
    const bodies_motor *motor = &s->system->bodies->motor[k];
    const bodies_length *length =
        motor->kind == MOTOR_LENGTH ? &s->system->bodies->length[motor->length] : NULL;
    return !s->boxed[k] && !(motor->clamp_force && s->side[2 * k] != 0) &&
           !(length && length->force_limited &&
             s->side[2 * s->system->bodies->motor_count + motor->length] != 0);
}

void impulse_begin_boxes(step_impulse *s, int all)
{
    for (int k = 0; k < s->system->bodies->motor_count; k++) {
        s->joined[k] = all;
    }
}

void impulse_look_at_motor(step_impulse *s, int k, const double *u)
{
    zw_work *work = s->work;
    const bodies_motor *motor = &s->system->bodies->motor[k];
    double length, rate = 0;
    s->aims = bodies_aim(s->system, work, k, s->q_force, work->aim_dof, work->aim, &length);
    for (int i = 0; i < s->aims; i++) {
        rate += work->aim[i] * u[work->aim_dof[i]];
    }
    s->rate[k] = rate;
    s->law[k] =
        bodies_motor_law(motor, bodies_nearest_control(motor, s->given[k], length), length, rate);
    int was = s->boxed[k];
    s->boxed[k] = has_box(s, k);
    s->changed |= was != s->boxed[k];
}

/* Adds the effect of an impulse of motor k. */
static void push(const step_impulse *s, int k, double impulse, double *to)
{
    zw_work *work = s->work;
    double length;
    int count = bodies_aim(s->system, work, k, s->q_force, work->aim_dof, work->aim, &length);
    for (int i = 0; i < count; i++) {
        to[work->aim_dof[i]] += impulse * work->aim[i];
    }
}

void impulse_late_motors(const step_impulse *s, double *gain)
{
    for (int k = 0; k < s->system->bodies->motor_count && s->sigma == 0; k++) {
        if (s->boxed[k]) {
            push(s, k, impulse_late(s) * clamped(s, k), gain);
        }
    }
}

static void put_motor(step_impulse *s, impulse_problem *p, int k, double time, double fall)
{
    zw_work *work = s->work;
    const bodies_motor *motor = &s->system->bodies->motor[k];
    zw_block box = {.name = "motor", .kind = ZW_BOX, .rows = 1};
    double length;
    limits_of(s, k, box.limit);
    if (!(fall > 0)) { /* for this time it is a given force */
        box.limit[0] = box.limit[1] = clamped(s, k);
    }
    box.limit[0] *= time;
    box.limit[1] *= time;
    int count = bodies_aim(s->system, work, k, s->q_force, work->aim_dof, work->aim, &length);
    problem_block(p, motor_key(motor), &box);
    problem_row(p, count, work->aim_dof, work->aim,
                fall > 0 ? s->rate[k] + s->law[k].force / fall : 0);
    if (fall > 0) {
        problem_give(p, 1 / (time * fall));
    }
}

/* ---- Friction ------------------------------------------------------------------------------- */

/* Directions of friction, of all terms: where forces are taken. */
static const double *dry_coef(const step_impulse *s)
{
    return bodies_coef_at(s->system, s->work, s->q_force);
}

static double dry_speed(const step_impulse *s, const bodies_dry *dry, const double *v, double *size)
{
    const struct system_bodies *bodies = s->system->bodies;
    const double *coef = dry_coef(s);
    double e = 0;
    *size = 0;
    for (int i = dry->first; i < dry->first + dry->count; i++) {
        double part = coef[i] * v[bodies->term[i].dof];
        e += part;
        *size += fabs(part);
    }
    return e;
}

/* An equality, or a box between these limits. */
static void put_dry(step_impulse *s, impulse_problem *p, int k, zw_block_kind kind, double low,
                    double high)
{
    const struct system_bodies *bodies = s->system->bodies;
    const bodies_dry *dry = &bodies->dry[k];
    zw_work *work = s->work;
    const double *coef = dry_coef(s);
    for (int i = 0; i < dry->count; i++) {
        work->aim_dof[i] = bodies->term[dry->first + i].dof;
        work->aim[i] = coef[dry->first + i];
    }
    const zw_block block = {.name = s->system->model->constraint[dry_key(s, k)].name,
                            .kind = kind,
                            .rows = 1,
                            .limit = {low, high}};
    problem_block(p, dry_key(s, k), &block);
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
    const bodies_dry *dry = &s->system->bodies->dry[k];
    double size, e = dry_speed(s, dry, s->v0, &size), fastest = 0;
    for (int i = 0; i < s->system->n; i++) {
        fastest = fmax(fastest, fabs(s->v0[i]));
    }
    for (int i = dry->first; i < dry->first + dry->count; i++) {
        size += fabs(dry_coef(s)[i]) * fastest;
    }
    return fabs(e) <= STILL * size;
}

void impulse_settle(const step_impulse *s, const impulse_problem *p, double *v)
{
    const struct system_bodies *bodies = s->system->bodies;
    for (int b = 0; b < p->blocks && p->key[b] < IMPULSE_MOTORS; b++) {
        int64_t k = p->key[b] - impulse_held(s);
        const double *limit = p->block[b].limit;
        double lambda = p->answer.lambda[p->first[b]], slack = BORDER * (limit[1] - limit[0]);
        if (k >= 0 && bodies->dry[k].length < 0 && lambda > limit[0] + slack &&
            lambda < limit[1] - slack) {
            v[bodies->term[bodies->dry[k].first].dof] = 0;
        }
    }
}

/* How far the multiplier of friction k is from its law at u, as an impulse: from the end of its
 * box, or from what would stop e. */
static double miss_of_dry(const step_impulse *s, int k)
{
    const struct system_bodies *bodies = s->system->bodies;
    const bodies_dry *dry = &bodies->dry[k];
    const double *coef = dry_coef(s);
    double size, e = dry_speed(s, dry, s->u, &size), easy = 0;
    double lambda = problem_multiplier(&s->problem, dry_key(s, k), 0), most = s->fall * dry->limit;
    for (int i = dry->first; i < dry->first + dry->count; i++) {
        easy += coef[i] * coef[i] / fmax(matrix_diagonal(&s->H, bodies->term[i].dof), DBL_MIN);
    }
    return lambda - interval_nearest(-most, most, easy > 0 ? lambda - e / easy : lambda);
}

/* ---- Both ----------------------------------------------------------------------------------- */

void impulse_miss_of_boxes(const step_impulse *s, double *left)
{
    const struct system_bodies *bodies = s->system->bodies;
    for (int k = 0; k < bodies->motor_count; k++) {
        if (s->boxed[k]) {
            double found = problem_multiplier(&s->problem, motor_key(&bodies->motor[k]), 0);
            push(s, k, found - s->fall * clamped(s, k), left);
        }
    }
    for (int k = 0; k < bodies->dry_count; k++) {
        const bodies_dry *dry = &bodies->dry[k];
        double off = miss_of_dry(s, k);
        const double *coef = dry_coef(s);
        for (int i = dry->first; i < dry->first + dry->count; i++) {
            left[bodies->term[i].dof] += off * coef[i];
        }
    }
}

void impulse_put_stuck(step_impulse *s, impulse_problem *p)
{
    for (int k = 0; k < s->system->bodies->dry_count; k++) {
        if (holds(s, k)) {
            put_dry(s, p, k, ZW_EQUALITY, 0, 0);
        }
    }
}

/* What an impulse of friction k changes of e: c . H \ c. */
static double dry_mobility(step_impulse *s, const bodies_dry *dry)
{
    const bodies_term *term = s->system->bodies->term;
    const double *coef = dry_coef(s);
    double sum = 0;
    memset(s->other, 0, (size_t)s->system->n * sizeof *s->other);
    for (int i = dry->first; i < dry->first + dry->count; i++) {
        s->other[term[i].dof] += coef[i];
    }
    s->work->effort.factors++;
    if (!matrix_factor(&s->H)) {
        return 0;
    }
    matrix_solve(&s->H, s->other);
    for (int i = dry->first; i < dry->first + dry->count; i++) {
        sum += coef[i] * s->other[term[i].dof];
    }
    return sum;
}

/* What slides comes to zero at a time t that follows from how e has changed by u, if friction had
 * opposed it all the time. Until then friction does, and afterwards it can exert no more than limit
 * (h - t) the other way. Is the impulse of the whole step, of which the first part was `spent`,
 * more? */
static int dry_turns(step_impulse *s, int k, double spent, double lambda)
{
    const bodies_dry *dry = &s->system->bodies->dry[k];
    double size, e0 = dry_speed(s, dry, s->v0, &size), side = e0 > 0 ? 1 : -1;
    double slid = spent + side * s->fall * dry->limit, most = s->h * dry->limit;
    if (!(fabs(e0) > STILL * size) || !(side * (spent + lambda) > (BORDER - 1) * most)) {
        return 0;
    }
    double w = side * slid > BORDER * most ? dry_mobility(s, dry) : 0;
    double change = (dry_speed(s, dry, s->u, &size) - e0 - w * slid) / s->fall;
    double turn = side * change < 0 ? -e0 / change : HUGE_VAL;
    return turn < s->h && side * (spent + lambda) > most - (2 - STILL) * turn * dry->limit;
}

int impulse_dry_turns(step_impulse *s, const impulse_problem *p)
{
    int found = 0;
    for (int b = 0; b < p->blocks && p->key[b] < IMPULSE_MOTORS && !found; b++) {
        int k = (int)(p->key[b] - impulse_held(s));
        found = k >= 0 && dry_turns(s, k, problem_multiplier(&s->problem, p->key[b], 0),
                                    p->answer.lambda[p->first[b]]);
    }
    return found;
}

void impulse_put_boxes(step_impulse *s, impulse_problem *p, double time, int goes_on)
{
    const struct system_bodies *bodies = s->system->bodies;
    for (int k = 0; k < bodies->dry_count; k++) {
        double spent = goes_on ? problem_multiplier(&s->problem, dry_key(s, k), 0) : 0;
        double most = (goes_on ? s->fall + time : time) * bodies->dry[k].limit;
        put_dry(s, p, k, ZW_BOX, -most - spent, most - spent);
    }
    for (int k = 0; k < bodies->motor_count && time > 0 && !(goes_on && s->sigma == 0); k++) {
        double ahead = 0.5 * (1 + s->sigma) * time;
        if (s->boxed[k]) {
            put_motor(s, p, k, time,
                      goes_on ? -s->sigma * (s->law[k].by_rate + ahead * s->law[k].by_length)
                              : -impulse_motor_slope(s, k));
        }
    }
}

/* Evaluates the equations of a piece of a step that has been solved at other starts and speeds near
 * it.
 *
 * For derivatives (look/rigid/rigid.c): which constraints are active, which contacts slide and
 * which motors are at their limits is taken from the solution; only the numbers change. So the
 * thresholds of impulse.c that decide this are not evaluated again:
 *   - constraints and limits: those of in_reach;
 *   - points of contact: those of the last round, and those that were closed at q0, by their keys;
 *     points are searched for farther out, as they open where bodies move apart; of an earlier
 *     round only those that do not coincide with one of the last (impulse_stay.c);
 *   - motors whose forces are multipliers, or at the ends of their ranges (impulse_keep_sides);
 * what is left out of a flight;
 *   - c of impulse_roll.c.
 * theta and sigma are computed again, if they are between 0 and 1: sigma from the same dof, on the
 * same side of the corners of balance_ramp. */
#include <limits.h>
#include <string.h>

#include "step/impulse/impulse.h"
#include "system/bodies/balance.h"
#include "tree/sweeps.h"

#define COPY(to, from, count) copy(to, from, (size_t)(count) * sizeof *(to))

/* An empty array may be NULL. */
static void copy(void *to, const void *from, size_t bytes)
{
    if (bytes > 0) {
        memcpy(to, from, bytes);
    }
}

static void copy_contacts(impulse_contacts *to, const impulse_contacts *from)
{
    if (!from->is_there) {
        return;
    }
    to->deep_count = from->deep_count;
    COPY(to->deep, from->deep, from->deep_count);
    to->deep_points = from->deep_points;
    COPY(to->deep_point, from->deep_point, from->deep_points);
    to->stuck_count = from->stuck_count;
    COPY(to->stuck, from->stuck, from->stuck_count);
    to->overlaps_ignored = from->overlaps_ignored;
    to->sunk = from->sunk;
    to->sinks = from->sinks;
    to->whole = from->whole;
    to->flying = from->flying;
    to->rest_count = from->rest_count;
    COPY(to->rest, from->rest, from->rest_count);
    to->land.count = from->land.count;
    COPY(to->land.list, from->land.list, from->land.count);
    to->rolling.count = from->rolling.count;
    to->rolling.off = from->rolling.off;
    COPY(to->rolling.list, from->rolling.list, from->rolling.count);
    to->stay.count = 0;
    for (int j = 0; j < from->stay.count; j++) {
        const impulse_stays *it = &from->stay.list[j];
        if (impulse_stay_at(from, it) == it) {
            to->stay.list[to->stay.count++] = *it;
        }
    }
    to->stay.differs = 1;
}

/* Multipliers, by key: those of friction determine what remains of it. */
static int copy_multipliers(impulse_problem *to, const impulse_problem *from)
{
    int last = from->old_blocks - 1;
    int rows = last >= 0 ? from->old_first[last] + from->old_rows[last] : 0;
    if (!problem_room_for_old(to, from->old_blocks, rows)) {
        return 0;
    }
    to->old_blocks = from->old_blocks;
    COPY(to->old_key, from->old_key, from->old_blocks);
    COPY(to->old_first, from->old_first, from->old_blocks);
    COPY(to->old_rows, from->old_rows, from->old_blocks);
    COPY(to->old_lambda, from->old_lambda, rows);
    return 1;
}

int impulse_copy_piece(step_impulse *to, const step_impulse *from, double near)
{
    const zw_system *system = from->system;
    to->t = from->t;
    to->h = from->h;
    to->known[0] = from->theta;
    to->known[1] = from->sigma;
    to->stiffest = from->stiffest;
    to->close = from->close;
    to->rough = from->rough;
    to->rounds = INT_MAX;
    to->keeps_side = 0;
    to->problem.options.contact = from->problem.options.contact;
    to->aside.options.contact = from->aside.options.contact;
    COPY(to->q0, from->q0, system->nq);
    COPY(to->v0, from->v0, system->n);
    COPY(to->u, from->u, system->n);
    COPY(to->act0, from->act0, system->bodies->act_count);
    COPY(to->in_reach, from->in_reach, system->m);
    to->limits.count = from->limits.count;
    if (from->limits.any) {
        COPY(to->limits.out, from->limits.out, system->m);
    }
    copy_contacts(&to->touch, &from->touch);
    to->touch.near = near;
    return copy_multipliers(&to->problem, &from->problem);
}

void impulse_keep_sides(step_impulse *to, const step_impulse *from)
{
    const struct system_bodies *bodies = from->system->bodies;
    if (to != from) {
        COPY(to->side, from->side, 2 * bodies->motor_count + bodies->length_count);
        COPY(to->boxed, from->boxed, bodies->motor_count);
        for (int j = 0; from->touch.is_there && j < from->touch.stay.count; j++) {
            to->touch.stay.list[j].follows = from->touch.stay.list[j].follows;
        }
    }
    to->keeps_side = 1;
}

/* The ramp is linear between its corners; here the line continues beyond them. */
static double sigma_again(const step_impulse *s, int stiffest)
{
    double x = impulse_stiffness(s, stiffest), low = 0.05, high = 0.2;
    double rate = (balance_ramp(high) - balance_ramp(low)) / (high - low);
    return s->known[1] == s->known[0] ? s->theta
           : s->known[1] == 1         ? 1
                                      : balance_ramp(low) + rate * (x * x - low);
}

int impulse_begin_again(step_impulse *s, const int *joined)
{
    const tree_mechanism *tree = s->system->tree;
    int stiffest = s->stiffest;
    impulse_see(s, s->q0);
    tree_composite(tree, s->begin);
    s->theta = 0;
    impulse_place_rows(s);
    tree_velocities(tree, s->v0, s->begin);
    s->theta = s->known[0] > 0 && s->known[0] < 1 ? balance_theta(s->system, s->begin, s->v0, s->h)
                                                  : s->known[0];
    s->fall = s->h - impulse_late(s);
    COPY(s->joined, joined, s->system->bodies->motor_count);
    COPY(s->best, s->u, s->system->n);
    impulse_begin_forces(s);
    s->sigma = sigma_again(s, stiffest);
    s->stiffest = stiffest;
    COPY(s->u, s->best, s->system->n);
    impulse_begin_balance(s);
    return impulse_roll_again(s, s->begin);
}

int impulse_look_again(step_impulse *s, const int *joined)
{
    COPY(s->joined, joined, s->system->bodies->motor_count);
    impulse_balance(s, s->u, s->r);
    impulse_fill_rows(s, s->t + s->h);
    if (s->touch.is_there) {
        tree_velocities(s->system->tree, s->u, s->work->sweeps);
        if (impulse_find_contacts(s, s->work->sweeps, s->u, NULL) != ZW_OK) {
            return 0;
        }
    }
    impulse_put_rows(s);
    return !s->problem.no_memory;
}

int impulse_close_again(step_impulse *s, const int *closed, const impulse_block_key *block,
                        int count, double *gain)
{
    const impulse_contacts *t = &s->touch;
    for (int r = 0; r < s->system->m; r++) {
        s->phi[r] = closed[r] ? 0 : s->phi[r];
    }
    impulse_put_joint_speeds(s);
    impulse_put_boxes(s, &s->aside, impulse_late(s), 1);
    for (int k = 0; k < (t->is_there ? t->found.count : 0); k++) {
        int64_t key = impulse_contact_key(&t->found.point[k].key);
        for (int i = 0; i < count; i++) {
            if (block[i].key == key && block[i].apart) {
                impulse_put_apart(s, k);
            } else if (block[i].key == key) {
                impulse_put_contact(s, &s->aside, k, 0);
            }
        }
    }
    impulse_late_momenta(s, gain);
    return !s->aside.no_memory;
}

/* The memory of sleeping bodies, and which of them wake; sleep.c describes its layout. */
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "step/sleep/sleep.h"

double *sleep_ours(const step_impulse *s)
{
    return s->kept + s->sleep->at;
}

/* Two numbers of each group. */
double *sleep_clock(const step_impulse *s, int group)
{
    return sleep_ours(s) + 1 + s->sleep->params + 2 * group;
}

int sleep_is_asleep(const step_impulse *s, int group)
{
    return sleep_clock(s, group)[0] < 0;
}

/* Adds a term to the sum over all sleeping groups, or subtracts it: 52 bits, which a
 * double holds. */
void sleep_stamp(const step_impulse *s, int group, double clock)
{
    const uint64_t mask = 0xfffffffffffffull;
    double *sum = sleep_ours(s);
    uint64_t word = base_hash_word(BASE_HASH_START, (uint64_t)group + 1);
    word = base_hash_word(word, base_hash_bits(clock));
    *sum = (double)(((uint64_t)*sum ^ word) & mask);
}

void sleep_forget(step_impulse *s)
{
    memset(s->kept, 0, (size_t)s->kept_capacity * sizeof *s->kept);
    memcpy(sleep_ours(s) + 1, s->work->param, (size_t)s->sleep->params * sizeof(double));
}

/* Is the memory consistent? It may come from a file. */
int sleep_is_sound(const step_impulse *s, const double *v)
{
    const zw_system *system = s->system;
    const subset_groups *g = &s->sleep->groups;
    double was = sleep_ours(s)[0];
    sleep_ours(s)[0] = 0;
    for (int k = 0; k < g->count; k++) {
        const double *clock = sleep_clock(s, k);
        double first = -1 - clock[0];
        if (!(clock[0] >= 0) && !(first <= k && first >= 0 && floor(first) == first &&
                                  sleep_clock(s, (int)first)[0] == clock[0])) {
            return 0;
        }
        if (!(clock[1] >= 0)) {
            return 0;
        }
        if (clock[0] < 0) {
            sleep_stamp(s, k, clock[0]);
        }
    }
    for (int d = 0; d < system->n; d++) {
        if (v[d] != 0 && sleep_is_asleep(s, g->body[system->tree->dof_body[d]])) {
            return 0;
        }
    }
    return was == sleep_ours(s)[0];
}

/* Wakes all groups of the island of this one. */
void sleep_wake(step_impulse *s, int group)
{
    double island = sleep_clock(s, group)[0];
    for (int k = 0; k < s->sleep->groups.count && island < 0; k++) {
        double *clock = sleep_clock(s, k);
        if (clock[0] == island) {
            sleep_stamp(s, k, island);
            clock[0] = clock[1] = 0;
        }
    }
}

/* Bodies whose control changes wake; if parameters other than controls change, all do. */
void sleep_note_controls(step_impulse *s)
{
    const struct system_bodies *bodies = s->system->bodies;
    step_sleep *z = s->sleep;
    double *was = sleep_ours(s) + 1;
    const double *now = s->work->param;
    size_t bytes = (size_t)z->params * sizeof(double);
    if (bytes == 0 || memcmp(was, now, bytes) == 0) {
        return;
    }
    for (int k = 0; k < bodies->motor_count; k++) {
        int p = bodies->motor[k].param;
        if (memcmp(&was[p], &now[p], sizeof *was) != 0) {
            if (z->groups.motor[k] >= 0) {
                sleep_wake(s, z->groups.motor[k]);
            }
            was[p] = now[p];
        }
    }
    if (memcmp(was, now, bytes) != 0) {
        for (int k = 0; k < z->groups.count; k++) {
            sleep_wake(s, k);
        }
        memcpy(was, now, bytes);
    }
}

/* Copies the memory of the inner stepper in its own numbering, and back. Blocks of bodies that have
 * just fallen asleep are copied once more: they are not used. */
void sleep_hand_in(const step_impulse *s)
{
    step_sleep *z = s->sleep;
    const subset *part = &z->part;
    int blocks = (int)s->kept[1];
    int constraints = part->model.constraint_count, all = s->system->model->constraint_count;
    double *to = z->inner->kept;
    const double *from = s->kept + IMPULSE_HEAD;
    memcpy(to, s->kept, IMPULSE_HEAD * sizeof *to);
    to[3] = 0; /* others may be awake */
    to += IMPULSE_HEAD;
    for (int k = 0; k < blocks; k++, from += IMPULSE_BLOCK, to += IMPULSE_BLOCK) {
        memcpy(to, from, IMPULSE_BLOCK * sizeof *to);
        if (from[0] == 0 && from[1] < all) { /* both are ascending */
            int low = 0, high = constraints;
            while (low < high) {
                int middle = (low + high) / 2;
                low = part->constraint[middle] < from[1] ? middle + 1 : low;
                high = part->constraint[middle] < from[1] ? high : middle;
            }
            int there = low < constraints && part->constraint[low] == from[1];
            to[0] = there ? 0 : IMPULSE_NOBODY;
            to[1] = there ? low : from[1];
        }
    }
    memcpy(to, from, (size_t)s->kept[2] * sizeof *to);
}

void sleep_hand_out(step_impulse *s)
{
    const step_sleep *z = s->sleep;
    const subset *part = &z->part;
    int constraints = part->model.constraint_count;
    const double *from = z->inner->kept + IMPULSE_HEAD;
    double *to = s->kept + IMPULSE_HEAD;
    double *end = s->kept[0] > 0 ? to + IMPULSE_BLOCK * (int)s->kept[1] + (int)s->kept[2] : to;
    memcpy(s->kept, z->inner->kept, IMPULSE_HEAD * sizeof *to);
    s->kept[3] = 0;
    int blocks = (int)s->kept[1], rows = (int)s->kept[2];
    for (int k = 0; k < blocks; k++, from += IMPULSE_BLOCK, to += IMPULSE_BLOCK) {
        memcpy(to, from, IMPULSE_BLOCK * sizeof *to);
        if (from[0] == 0 && from[1] < constraints) {
            to[1] = part->constraint[(int)from[1]];
        }
    }
    memcpy(to, from, (size_t)rows * sizeof *to);
    for (to += rows; to < end; to++) {
        *to = 0;
    }
}

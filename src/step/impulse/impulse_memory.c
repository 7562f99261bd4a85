/* What a step leaves for the next one, as numbers in the state: step/ode/keep.c.
 *
 *     0 not empty; 2: shapes overlap   1 blocks   2 rows   3 speeds, or 0
 *     for each block: its key in two halves, its rows (plus IMPULSE_GROUP times a number of
 *     step/split/split_memory.c); then all multipliers; then the accelerations
 *     at the end of the step, from which the next one extrapolates its first iterate
 *
 * These are only initial guesses: the motion is determined by q and v alone. A plain step
 * (impulse_quick.c) leaves none. They are written at the end of every step and read at the
 * beginning of every step, so that a run in pieces equals an uninterrupted one. Entries after the
 * last multiplier are 0: equal motions have equal memories. */
#include <math.h>
#include <string.h>

#include "step/impulse/impulse.h"

#define HALF 4294967296.0

int impulse_memory(const step_impulse *s, double **numbers)
{
    *numbers = s->kept;
    return s->kept_capacity;
}

void impulse_keep(step_impulse *s)
{
    const impulse_problem *p = &s->problem;
    double *to = s->kept, *end = s->kept + s->kept_used;
    int blocks = s->plain ? 0 : p->old_blocks;
    *to++ = s->overlaps ? 2 : 1;
    *to++ = blocks;
    *to++ = blocks ? p->old_first[blocks - 1] + p->old_rows[blocks - 1] : 0;
    *to++ = s->has_trend && !s->plain ? s->system->n : 0;
    for (int k = 0; k < blocks; k++) {
        uint64_t key = (uint64_t)p->old_key[k];
        *to++ = (double)(key >> 32);
        *to++ = (double)(key & 0xffffffffu);
        *to++ = p->old_rows[k];
    }
    int rows = (int)s->kept[2];
    if (rows > 0) {
        memcpy(to, p->old_lambda, (size_t)rows * sizeof *to);
    }
    to += rows;
    /* the next step is as long as this one */
    double part = fmin(1, s->trend_time / (0.5 * s->touch.land.step));
    for (int i = 0; i < (int)s->kept[3]; i++) {
        *to++ = part * s->trend[i];
    }
    s->kept_used = (int)(to - s->kept);
    for (; to < end; to++) {
        *to = 0;
    }
}

/* A whole number from 0 to most? */
static int whole(double x, double most)
{
    return x >= 0 && x <= most && floor(x) == x;
}

/* Are the numbers consistent? They may come from a file. */
int impulse_is_sound(const step_impulse *s)
{
    const double *kept = s->kept;
    int most = (s->kept_capacity - IMPULSE_HEAD) / IMPULSE_BLOCK, sum = 0;
    if ((kept[0] != 1 && kept[0] != 2) || !whole(kept[1], most) ||
        !whole(kept[2], s->kept_capacity)) {
        return 0;
    }
    if (kept[3] != 0 && kept[3] != s->system->n) {
        return 0;
    }
    if (IMPULSE_HEAD + IMPULSE_BLOCK * (int)kept[1] + (int)(kept[2] + kept[3]) > s->kept_capacity) {
        return 0;
    }
    for (int k = 0; k < (int)kept[1]; k++) {
        const double *block = kept + IMPULSE_HEAD + IMPULSE_BLOCK * k;
        if (!whole(block[0], HALF / 2 - 1) || !whole(block[1], HALF - 1) ||
            !whole(block[2], HALF)) {
            return 0;
        }
        int wide = (int)fmod(block[2], IMPULSE_GROUP);
        if (wide > 6) {
            return 0;
        }
        sum += wide;
    }
    return sum == (int)kept[2];
}

int impulse_recall(step_impulse *s)
{
    impulse_problem *p = &s->problem;
    const double *from = s->kept + IMPULSE_HEAD;
    p->old_blocks = 0;
    s->overlaps = 1; /* not tested yet */
    s->has_trend = 0;
    if (!impulse_is_sound(s)) {
        return 0;
    }
    s->overlaps = s->kept[0] == 2;
    int blocks = (int)s->kept[1], rows = (int)s->kept[2], at = 0;
    if (!problem_room_for_old(p, blocks, rows)) {
        return -1;
    }
    for (int k = 0; k < blocks; k++, from += IMPULSE_BLOCK) {
        p->old_key[k] = (int64_t)(((uint64_t)from[0] << 32) | (uint64_t)from[1]);
        p->old_rows[k] = (int)from[2] % IMPULSE_GROUP;
        p->old_first[k] = at;
        at += p->old_rows[k];
    }
    if (rows > 0) {
        memcpy(p->old_lambda, from, (size_t)rows * sizeof *from);
    }
    p->old_blocks = blocks;
    s->has_trend = s->kept[3] > 0;
    s->trend_time = INFINITY;
    memcpy(s->trend, from + rows, (size_t)s->kept[3] * sizeof *from);
    s->kept_used = (int)(from - s->kept) + rows + (int)s->kept[3];
    return 1;
}

/* The events and steps that zwang reports of a motion, and those of an independent search. */
#ifndef TEST_STEP_UNSEEN_H
#define TEST_STEP_UNSEEN_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "system/world.h"

enum { MOST = 64, NUMBERS = 8, STEPS = 4096 };
#define TIMES 1e-12  /* s */
#define STATES 1e-10 /* relative to 1 + the largest number of the state */

/* A state: positions, then speeds. */
typedef struct moment {
    double t, y[2 * NUMBERS];
} moment;

/* After every event, and at the end; of zwang also at the end of every step. */
typedef struct history {
    int count, steps;
    moment after[MOST], end, step[STEPS];
} history;

typedef struct tally {
    long events, unproved;
    double time, state; /* the worst */
} tally;

static int note_sample(void *user, zw_sample_kind kind, int event, const zw_system *system,
                       const zw_state *state, zw_work *work)
{
    history *s = user;
    moment now = {.t = zw_field(system, state, work, ZW_FIELD_TIME).data[0]};
    zw_view q = zw_field(system, state, work, ZW_FIELD_Q);
    (void)event;
    memcpy(now.y, q.data, (size_t)q.count * sizeof(double));
    memcpy(now.y + q.count, zw_field(system, state, work, ZW_FIELD_V).data,
           (size_t)q.count * sizeof(double));
    if (kind == ZW_SAMPLE_JUMP) { /* reported before and after the jump; keep the second */
        s->count += s->count == 0 || s->after[s->count - 1].t != now.t;
        s->after[s->count - 1] = now;
    } else if (s->steps < STEPS) {
        s->step[s->steps++] = now;
    }
    s->end = now;
    return s->count == MOST;
}

static void tell_by_zwang(const char *text, double end, history *s, tally *sum)
{
    world w = world_of(text);
    zw_run_summary summary;
    s->count = s->steps = 0;
    const zw_run_options options = {
        .time = end, .every = -1, .tolerance = 1e-12, .observer = note_sample, .user = s};
    if (zw_run(w.system, w.state, w.work, &options, &summary, &w.error) != ZW_OK) {
        print_error("%s\n%s\n", w.error.text, text);
        fail();
    }
    sum->unproved += summary.unproved;
    world_end(&w);
}

/* The relative difference of two states of n numbers. */
static double difference(const moment *a, const moment *b, int n)
{
    double size = 1, worst = 0;
    for (int i = 0; i < n; i++) {
        size = fmax(size, 1 + fabs(a->y[i]));
        worst = fabs(a->y[i] - b->y[i]) <= worst ? worst : fabs(a->y[i] - b->y[i]);
    }
    return worst / size;
}

static void compare_moments(const char *text, const moment *mine, const moment *zwang, int n,
                            tally *sum)
{
    double time = fabs(mine->t - zwang->t), state = difference(mine, zwang, n);
    sum->time = fmax(sum->time, time);
    sum->state = fmax(sum->state, state);
    if (!(time <= TIMES && state <= STATES)) {
        print_error("%s\nat %.15g, zwang %.15g; states differ by %.2g\n", text, mine->t, zwang->t,
                    state);
        for (int i = 0; i < n; i++) {
            print_error("%.15g, zwang %.15g\n", mine->y[i], zwang->y[i]);
        }
        fail();
    }
}

static void compare_histories(const char *text, const history *mine, const history *zwang, int n,
                              tally *sum)
{
    for (int i = 0; i < mine->count && i < zwang->count; i++) {
        compare_moments(text, &mine->after[i], &zwang->after[i], n, sum);
    }
    if (mine->count != zwang->count) {
        print_error("%s\n%d events, zwang has seen %d\n", text, mine->count, zwang->count);
        fail();
    }
    compare_moments(text, &mine->end, &zwang->end, n, sum);
    sum->events += mine->count;
}

#endif

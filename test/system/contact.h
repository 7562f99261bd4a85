/* Runs of systems with contacts, for the tests of contact and friction. */
#ifndef ZW_TEST_SYSTEM_CONTACT_H
#define ZW_TEST_SYSTEM_CONTACT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "system/world.h"

#define NEAR(x, y, tolerance)                                                                      \
    do {                                                                                           \
        double x_ = (x), y_ = (y);                                                                 \
        if (!(fabs(x_ - y_) <= (tolerance))) {                                                     \
            print_error("%s = %.17g, expected %.17g, off by %.1e\n", #x, x_, y_, fabs(x_ - y_));   \
            fail();                                                                                \
        }                                                                                          \
    } while (0)

#define G 9.81

/* ---- Runs ---------------------------------------------------------------------------------- */

enum { KEPT = 2048, MODES = 4 };

/* What an observer keeps: events with the state there, the last impact, and the modes at outputs.
 */
typedef struct history {
    int events;
    double impact;
    double time[KEPT], q[KEPT][4], v[KEPT][4], a[KEPT][4];
    int outputs;
    double at[KEPT], x[KEPT][4];
    zw_constraint_mode mode[KEPT][MODES];
} history;

static inline void copy(double *to, zw_view from)
{
    memcpy(to, from.data, (size_t)(from.count < 4 ? from.count : 4) * sizeof *to);
}

static inline int write_down(void *user, zw_sample_kind kind, int event, const zw_system *system,
                             const zw_state *state, zw_work *work)
{
    history *d = user;
    double t = zw_field(system, state, work, ZW_FIELD_TIME).data[0];
    (void)event;
    d->impact = kind == ZW_SAMPLE_JUMP ? t : d->impact;
    if (kind == ZW_SAMPLE_EVENT && d->events < KEPT) {
        d->time[d->events] = t;
        copy(d->q[d->events], zw_field(system, state, work, ZW_FIELD_Q));
        copy(d->v[d->events], zw_field(system, state, work, ZW_FIELD_V));
        copy(d->a[d->events], zw_field(system, state, work, ZW_FIELD_A));
        d->events++;
    } else if (d->outputs < KEPT && zw_count(system, ZW_KIND_CONSTRAINT) <= MODES) {
        zw_constraint list[MODES];
        zw_constraints_look(system, state, work, list, NULL);
        d->at[d->outputs] = t;
        copy(d->x[d->outputs], zw_field(system, state, work, ZW_FIELD_Q));
        for (int c = 0; c < zw_count(system, ZW_KIND_CONSTRAINT); c++) {
            d->mode[d->outputs][c] = list[c].mode;
        }
        d->outputs++;
    }
    return 0;
}

/* On to `time`; the energy theorem must hold. */
static inline zw_run_summary go(world *w, double time, history *d)
{
    static history nowhere;
    history *into = d ? d : &nowhere;
    const zw_run_options options = {.time = time,
                                    .every = time / 100,
                                    .tolerance = 1e-12,
                                    .observer = write_down,
                                    .user = into};
    zw_run_summary summary;
    into->events = into->outputs = 0;
    if (zw_run(w->system, w->state, w->work, &options, &summary, &w->error) != ZW_OK) {
        print_error("%s\n", w->error.text);
        fail();
    }
    if (!(summary.energy_drift < 1e-9)) {
        print_error("energy is off by %.1e\n", summary.energy_drift);
        fail();
    }
    assert_true(summary.violation_position < 1e-12);
    assert_true(summary.violation_velocity < 1e-12);
    return summary;
}

static inline double q_of(world *w, int i)
{
    return world_field(w, ZW_FIELD_Q)[i];
}

static inline double v_of(world *w, int i)
{
    return world_field(w, ZW_FIELD_V)[i];
}

static inline zw_constraint look_at(world *w, const char *name)
{
    zw_constraint list[8];
    world_forward(w);
    assert_int_equal(zw_constraints_look(w->system, w->state, w->work, list, &w->error), ZW_OK);
    return list[zw_id(w->system, ZW_KIND_CONSTRAINT, name)];
}

/* The text is refused at some stage, with this status and these words in the message. */
static inline void refused(const char *text, zw_status status, const char *words)
{
    world w;
    if (world_try(&w, text, NULL, 0, NULL)) {
        zw_run_options options = {.time = 2, .tolerance = 1e-10};
        assert_int_equal(zw_run(w.system, w.state, w.work, &options, NULL, &w.error), status);
    }
    assert_int_equal(w.error.status, status);
    if (!strstr(w.error.text, words)) {
        print_error("no '%s' in: %s\n", words, w.error.text);
        fail();
    }
    world_end(&w);
}

#endif

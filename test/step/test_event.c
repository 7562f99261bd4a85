/* Roots and events: found to round-off, none twice, and none missed that samples can reveal. */
#include "step/integrate.h"

#include "base/memory.h"
#include "step/events/event.h"
#include "step/mechanics.h"
#include "step/ode/root.h"

#include <float.h>
#include <string.h>

/* ---- Roots ----------------------------------------------------------------------------------- */

typedef struct curve {
    int kind;
    double zero;
    int calls;
} curve;

static zw_status curve_at(void *user, double t, double *g, zw_error *error)
{
    curve *c = user;
    double x = t - c->zero;
    (void)error;
    c->calls++;
    switch (c->kind) {
    case 0:
        *g = x;
        break;
    case 1:
        *g = sin(3.0 * x) + 0.1 * x;
        break;
    case 2:
        *g = x * x * x; /* flat */
        break;
    case 3:
        *g = x > 0.0 ? 1e-3 : -1e3; /* a jump */
        break;
    case 4:
        *g = cbrt(x); /* steep */
        break;
    default:
        *g = exp(20.0 * x) - 1.0;
        break;
    }
    return ZW_OK;
}

static void roots_are_narrowed_to_neighbours(void **state)
{
    (void)state;
    int calls = 0;
    for (int kind = 0; kind < 6; kind++) {
        for (int k = 0; k < 40; k++) {
            curve c = {.kind = kind, .zero = 3.0 + 0.013 * k};
            for (int turned = 0; turned < 2; turned++) { /* time may run backwards */
                zw_error error = {0};
                step_crossing crossing = {.before = turned ? 3.6 : 2.9,
                                          .after = turned ? 2.9 : 3.6};
                curve_at(&c, crossing.before, &crossing.g_before, NULL);
                curve_at(&c, crossing.after, &crossing.g_after, NULL);
                c.calls = 0;
                assert_fine(step_root_narrow(curve_at, &c, 0.0, &crossing, &error));
                assert_true(crossing.g_before * crossing.g_after <= 0.0);
                assert_true((crossing.after > crossing.before) == !turned);
                /* x^3 is below the smallest step of x - zero at 1e-5 of it: still exact there */
                assert_near(crossing.after, c.zero, 8.0 * DBL_EPSILON);
                assert_true(c.calls <= 110);
                calls += kind < 2 ? c.calls : 0;
            }
        }
    }
    print_message("smooth roots: %.1f evaluations each\n", calls / 160.0);
    assert_true(calls / 160.0 < 15.0);
}

static zw_status no_curve(void *user, double t, double *g, zw_error *error)
{
    (void)t, (void)error;
    *g = NAN;
    return *(int *)user ? ZW_CONFLICT : ZW_OK;
}

static void roots_that_fail(void **state)
{
    (void)state;
    zw_error error = {0};
    for (int fails = 0; fails < 2; fails++) {
        step_crossing crossing = {0.0, 1.0, -1.0, 1.0};
        assert_int_equal(step_root_narrow(no_curve, &fails, 0.0, &crossing, &error),
                         fails ? ZW_CONFLICT : ZW_INACCURATE);
    }
}

/* ---- The oscillator -------------------------------------------------------------------------- */

static zw_status circle_field(void *user, double t, const double *y, double *dy, zw_error *error)
{
    (void)user, (void)t, (void)error;
    dy[0] = y[1];
    dy[1] = -y[0];
    return ZW_OK;
}

static zw_status circle_events(void *user, double t, const double *y, double *g, zw_error *error)
{
    (void)user, (void)t, (void)error;
    g[0] = y[0];        /* falling: t = pi/2 + 2 pi k */
    g[1] = y[1];        /* both: t = pi k, and it starts at zero */
    g[2] = y[0] - 1.5;  /* never */
    g[3] = y[0] - y[1]; /* rising */
    return ZW_OK;
}

typedef struct found {
    int count;
    int which[400];
    double t[400];
} found;

/* All events up to `end`; they change nothing. */
static found watch(stepper *ode, step_events *events, double end)
{
    found f = {0};
    zw_error error = {0};
    int count;
    assert_fine(step_events_arm(events, ode, STEP_EVENTS_JUMPED, &error));
    while (stepper_look(ode)->t < end) {
        assert_fine(stepper_advance(ode, end, &error));
        assert_fine(step_events_scan(events, ode, &count, &error));
        for (int i = 0; i < count && f.count < 400; i++) {
            f.which[f.count] = step_events_fired(events)[i];
            f.t[f.count++] = stepper_look(ode)->t;
        }
        if (count > 0) {
            assert_fine(step_events_arm(events, ode, STEP_EVENTS_JUMPED, &error));
        }
    }
    return f;
}

static step_events *make_events(int count, int n, const int *direction,
                                step_event_function *function, void *user)
{
    zw_error error = {0};
    step_event_options options = {
        .count = count, .n = n, .direction = direction, .function = function, .user = user};
    step_events *events = step_events_create(&options, &error);
    assert_non_null(events);
    return events;
}

/* For each method: the times of all events against the closed form. */
static void events_of_the_oscillator(void **state)
{
    (void)state;
    static const struct {
        step_method method;
        double tolerance, step, bound;
    } runs[] = {
        {STEP_DOP853, 1e-14, 0.0, 1e-12}, {STEP_DOP853, 1e-8, 0.0, 1e-6},
        {STEP_RADAU, 1e-12, 0.0, 1e-11},  {STEP_BDF, 1e-11, 0.0, 1e-7},
        {STEP_RK4, 0.0, 0.005, 1e-8},     {STEP_EULER, 0.0, 0.001, 1e-2},
    };
    static const int direction[4] = {-1, 0, 0, 1};
    double pi = acos(-1.0), y[2] = {1.0, 0.0};
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
        if (!step_method_present(runs[k].method)) {
            continue;
        }
        step_ode_options options = {.method = runs[k].method,
                                    .n = 2,
                                    .field = circle_field,
                                    .tolerance = runs[k].tolerance,
                                    .step = runs[k].step};
        stepper *ode = begin(&options, 0.0, y);
        step_events *events = make_events(4, 2, direction, circle_events, NULL);
        found f = watch(ode, events, 12.5); /* just before 4 pi */
        /* pi/2, pi, 7pi/4, 2pi, 5pi/2, 3pi, 15pi/4: y0 - y1 = cos t + sin t rises at 7pi/4 */
        static const double wanted[] = {0.5, 1.0, 1.75, 2.0, 2.5, 3.0, 3.75};
        static const int which[] = {0, 1, 3, 1, 0, 1, 3};
        double worst = 0.0;
        assert_int_equal(f.count, 7);
        for (int i = 0; i < 7; i++) {
            assert_int_equal(f.which[i], which[i]);
            worst = fmax(worst, fabs(f.t[i] - wanted[i] * pi));
        }
        print_message("method %d: events to %.1e\n", (int)runs[k].method, worst);
        assert_small(worst, runs[k].bound);
        step_events_free(events);
        stepper_free(ode);
    }
}

/* Two crossings in one step: a dip below zero that is not visible at the ends of the step. */
static zw_status falling_field(void *user, double t, const double *y, double *dy, zw_error *error)
{
    (void)user, (void)t, (void)error;
    dy[0] = y[1];
    dy[1] = 1.0;
    return ZW_OK;
}

static zw_status level(void *user, double t, const double *y, double *g, zw_error *error)
{
    (void)t, (void)error;
    g[0] = y[0] - *(double *)user;
    return ZW_OK;
}

/* y = (t - 1)^2/2 has steps as long as the limit allows; the level is crossed at 1 -+ sqrt(2 l). */
static void double_crossings_in_a_step(void **state)
{
    (void)state;
    const double levels[] = {0.3, 0.1, 1e-2, 1e-4, 1e-6, 1e-9};
    for (size_t k = 0; k < sizeof levels / sizeof *levels; k++) {
        for (int direction = -1; direction <= 1; direction++) {
            double y[2] = {0.5, -1.0}, l = levels[k];
            step_ode_options options = {.n = 2, .field = falling_field, .first = 2.3};
            stepper *ode = begin(&options, 0.0, y);
            step_events *events = make_events(1, 2, &direction, level, &l);
            found f = watch(ode, events, 2.3);
            int falls = direction <= 0, rises = direction >= 0;
            assert_int_equal(f.count, falls + rises);
            if (falls) {
                assert_near(f.t[0], 1.0 - sqrt(2.0 * l), 4e-15 / sqrt(l) + 1e-14);
            }
            if (rises) {
                assert_near(f.t[falls], 1.0 + sqrt(2.0 * l), 4e-15 / sqrt(l) + 1e-14);
            }
            step_events_free(events);
            stepper_free(ode);
        }
    }
}

/* A function that comes near zero from above but stays above triggers no event. */
static void near_misses_do_not_fire(void **state)
{
    (void)state;
    double y[2] = {0.5, -1.0}, l = -1e-9;
    step_ode_options options = {.n = 2, .field = falling_field, .first = 2.3};
    stepper *ode = begin(&options, 0.0, y);
    step_events *events = make_events(1, 2, NULL, level, &l);
    assert_int_equal(watch(ode, events, 2.3).count, 0);
    step_events_free(events);
    stepper_free(ode);
}

/* ---- The bouncing ball ----------------------------------------------------------------------- */

static zw_status ball_field(void *user, double t, const double *y, double *dy, zw_error *error)
{
    (void)user, (void)t, (void)error;
    dy[0] = y[1];
    dy[1] = -GRAVITY;
    return ZW_OK;
}

static zw_status ball_event(void *user, double t, const double *y, double *g, zw_error *error)
{
    (void)user, (void)t, (void)error;
    g[0] = y[0];
    return ZW_OK;
}

/* Let go at height 2: impacts at t_k = t_0 (1 + 2 (e + e^2 + ... + e^k)), t_0 = sqrt(2 H / g).
 * Returns the largest error in time of `impacts` of them, relative to 1 + t. */
static double bounce(double e, int impacts, int direction, double *speed_error)
{
    double y[2] = {2.0, 0.0}, t0 = sqrt(4.0 / GRAVITY), wanted = t0, flight = 2.0 * t0, worst = 0.0;
    double speed = sqrt(4.0 * GRAVITY);
    int done = 0, count;
    zw_error error = {0};
    step_ode_options options = {.n = 2, .field = ball_field, .tolerance = 1e-12};
    stepper *ode = begin(&options, 0.0, y);
    step_events *events = make_events(1, 2, &direction, ball_event, NULL);
    const stepper_view *view = stepper_look(ode);
    *speed_error = 0.0;
    assert_fine(step_events_arm(events, ode, STEP_EVENTS_JUMPED, &error));
    while (done < impacts) {
        assert_fine(stepper_advance(ode, 1e9, &error));
        assert_fine(step_events_scan(events, ode, &count, &error));
        assert_true(view->y[0] > -1e-9); /* never through the floor */
        if (count == 0) {
            continue;
        }
        worst = fmax(worst, fabs(view->t - wanted) / (1.0 + wanted));
        speed *= e;
        *speed_error = fmax(*speed_error, fabs(-e * view->y[1] - speed));
        flight *= e;
        wanted += flight;
        double up[2] = {0.0, -e * view->y[1]};
        assert_fine(stepper_restart(ode, view->t, up, &error));
        assert_fine(step_events_arm(events, ode, STEP_EVENTS_JUMPED, &error));
        done++;
    }
    step_events_free(events);
    stepper_free(ode);
    return worst;
}

static void bouncing_balls(void **state)
{
    (void)state;
    for (int direction = -1; direction <= 0; direction++) {
        double speed, t = bounce(0.8, 60, direction, &speed);
        print_message("ball, e = 0.8, 60 impacts: t to %.1e, speed to %.1e\n", t, speed);
        assert_small(t, 2e-13);
        assert_small(speed, 5e-13);
        /* at t = 1000 a unit in the last place of time is 1e-12 of height, lost at each impact */
        t = bounce(1.0, 1000, direction, &speed);
        print_message("ball, e = 1, 1000 impacts: t to %.1e, speed to %.1e\n", t, speed);
        assert_small(t, 1e-10);
        assert_small(speed, 1e-9);
    }
}

/* ---- Events on a curved manifold, and of moving things --------------------------------------- */

static zw_status at_the_bottom(void *user, double t, const double *y, double *g, zw_error *error)
{
    (void)user, (void)t, (void)error;
    g[0] = y[0];
    return ZW_OK;
}

/* A pendulum in Cartesian coordinates passes the bottom at odd quarters of its period. */
static void pendulum_passes_the_bottom(void **state)
{
    (void)state;
    double y[4] = {sin(2.0), -cos(2.0), 0.0, 0.0}, period = pendulum_period(2.0), worst = 0.0;
    step_ode_options options = {
        .n = 4, .field = pendulum_field, .project = pendulum_project, .tolerance = 1e-14};
    stepper *ode = begin(&options, 0.0, y);
    step_events *events = make_events(1, 4, NULL, at_the_bottom, NULL);
    found f = watch(ode, events, 2.0 * period);
    assert_int_equal(f.count, 4);
    for (int i = 0; i < 4; i++) {
        worst = fmax(worst, fabs(f.t[i] - period * (0.25 + 0.5 * i)));
    }
    print_message("pendulum passes the bottom: to %.1e\n", worst);
    assert_small(worst, 1e-12);
    step_events_free(events);
    stepper_free(ode);
}

/* At loose tolerance, the event is exact for the discrete motion: g is zero at the state reported.
 */
static void events_are_exact_at_any_tolerance(void **state)
{
    (void)state;
    static const step_ode_options runs[] = {{.method = STEP_DOP853, .tolerance = 1e-4},
                                            {.method = STEP_RADAU, .tolerance = 1e-4},
                                            {.method = STEP_RK4, .step = 0.1},
                                            {.method = STEP_EULER, .step = 0.05}};
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
        double y[4] = {sin(1.0), -cos(1.0), 0.0, 0.0};
        zw_error error = {0};
        int count = 0, seen = 0;
        step_ode_options options = runs[k];
        options.n = 4;
        options.field = pendulum_field;
        options.project = pendulum_project;
        stepper *ode = begin(&options, 0.0, y);
        step_events *events = make_events(1, 4, NULL, at_the_bottom, NULL);
        assert_fine(step_events_arm(events, ode, STEP_EVENTS_JUMPED, &error));
        while (seen < 5) {
            assert_fine(stepper_advance(ode, 1e3, &error));
            assert_fine(step_events_scan(events, ode, &count, &error));
            if (count > 0) {
                seen++;
                assert_small(fabs(stepper_look(ode)->y[0]), 1e-14);
                assert_fine(step_events_arm(events, ode, STEP_EVENTS_JUMPED, &error));
            }
        }
        step_events_free(events);
        stepper_free(ode);
    }
}

/* Two events at one time fire together, or one right after the other, but both once. */
static zw_status twins(void *user, double t, const double *y, double *g, zw_error *error)
{
    (void)user, (void)error;
    g[0] = y[0];
    g[1] = 2.0 * y[0];
    g[2] = t - acos(-1.0) / 2.0;
    return ZW_OK;
}

static void simultaneous_events(void **state)
{
    (void)state;
    double y[2] = {1.0, 0.0}, pi = acos(-1.0);
    int seen[3] = {0};
    step_ode_options options = {.n = 2, .field = circle_field, .tolerance = 1e-13};
    stepper *ode = begin(&options, 0.0, y);
    step_events *events = make_events(3, 2, NULL, twins, NULL);
    found f = watch(ode, events, 4.0);
    for (int i = 0; i < f.count; i++) {
        seen[f.which[i]]++;
        assert_near(f.t[i], 0.5 * pi, 1e-12);
    }
    assert_true(seen[0] == 1 && seen[1] == 1 && seen[2] == 1);
    step_events_free(events);
    stepper_free(ode);
}

/* Levels that one step crosses one after the other: the number of evaluations of all functions for
 * each level does not depend on how many levels there are. */
typedef struct ladder {
    int count, looks;
} ladder;

static zw_status rungs(void *user, double t, const double *y, double *g, zw_error *error)
{
    ladder *l = user;
    (void)t, (void)error;
    l->looks++;
    for (int k = 0; k < l->count; k++) {
        g[k] = y[0] - 0.9 + 0.8 * (k * 7 % l->count) / l->count;
    }
    return ZW_OK;
}

static void many_events_in_a_step(void **state)
{
    (void)state;
    double each[2];
    for (int more = 0; more < 2; more++) {
        double y[2] = {1.0, 0.0};
        ladder l = {.count = more ? 320 : 16};
        step_ode_options options = {.n = 2, .field = circle_field, .tolerance = 1e-13};
        stepper *ode = begin(&options, 0.0, y);
        step_events *events = make_events(l.count, 2, NULL, rungs, &l);
        found f = watch(ode, events, 1.6);
        assert_int_equal(f.count, l.count);
        for (int i = 0; i < f.count; i++) {
            double level = 0.9 - 0.8 * (f.which[i] * 7 % l.count) / l.count;
            assert_near(f.t[i], acos(level), 1e-12);
        }
        each[more] = (double)l.looks / l.count;
        step_events_free(events);
        stepper_free(ode);
    }
    print_message("%.0f and %.0f looks for each event\n", each[0], each[1]);
    assert_true(each[1] < 1.5 * each[0]);
}

/* ---- Failures -------------------------------------------------------------------------------- */

static zw_status broken(void *user, double t, const double *y, double *g, zw_error *error)
{
    (void)y, (void)error;
    g[0] = t > 1.0 && *(int *)user == 1 ? NAN : 1.0;
    return t > 1.0 && *(int *)user == 0 ? ZW_CONFLICT : ZW_OK;
}

static void broken_events_are_reported(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        double y[2] = {1.0, 0.0};
        zw_error error = {0};
        int count;
        step_ode_options options = {.n = 2, .field = circle_field};
        stepper *ode = begin(&options, 0.0, y);
        step_events *events = make_events(1, 2, NULL, broken, &kind);
        assert_fine(step_events_arm(events, ode, STEP_EVENTS_JUMPED, &error));
        zw_status status = ZW_OK;
        while (status == ZW_OK && stepper_look(ode)->t < 3.0) {
            assert_fine(stepper_advance(ode, 3.0, &error));
            status = step_events_scan(events, ode, &count, &error);
        }
        assert_int_equal(status, kind == 0 ? ZW_CONFLICT : ZW_INACCURATE);
        step_events_free(events);
        stepper_free(ode);
    }
    zw_error error = {0};
    step_event_options options = {.count = 1, .n = 2};
    assert_null(step_events_create(&options, &error));
    assert_int_equal(error.status, ZW_BAD_INPUT);
    options.function = broken;
    base_alloc_fail_after(1);
    assert_null(step_events_create(&options, &error));
    base_alloc_fail_after(0);
    assert_int_equal(error.status, ZW_NO_MEMORY);
    step_events_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roots_are_narrowed_to_neighbours),
        cmocka_unit_test(roots_that_fail),
        cmocka_unit_test(events_of_the_oscillator),
        cmocka_unit_test(double_crossings_in_a_step),
        cmocka_unit_test(near_misses_do_not_fire),
        cmocka_unit_test(bouncing_balls),
        cmocka_unit_test(pendulum_passes_the_bottom),
        cmocka_unit_test(events_are_exact_at_any_tolerance),
        cmocka_unit_test(simultaneous_events),
        cmocka_unit_test(many_events_in_a_step),
        cmocka_unit_test(broken_events_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

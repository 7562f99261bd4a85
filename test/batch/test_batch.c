/* The worlds of a batch have the same bits as if each were run alone. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "system/system.h"
#include "system/world.h"
#include "zwang/batch.h"

static const char *const PENDULUM = "param m1 = 1, m2 = 1, l1 = 1, l2 = 1\n"
                                    "coord th1 = 2.0, th2 = 2.5\n"
                                    "point p1 = (l1*sin(th1), -l1*cos(th1))\n"
                                    "point p2 = p1 + (l2*sin(th2), -l2*cos(th2))\n"
                                    "mass m1 at p1, m2 at p2\n"
                                    "gravity (0, -9.81)\n";
static const char *const DAMPED = "param m1 = 1, m2 = 1, l1 = 1, l2 = 1\n"
                                  "coord th1 = 2.0, th2 = 2.5\n"
                                  "point p1 = (l1*sin(th1), -l1*cos(th1))\n"
                                  "point p2 = p1 + (l2*sin(th2), -l2*cos(th2))\n"
                                  "mass m1 at p1, m2 at p2\n"
                                  "gravity (0, -9.81)\n"
                                  "rayleigh 0.01*(th1'^2 + th2'^2) + 0.001*m1*th1'^2*th2'^2\n"
                                  "force th2: 0.3*sin(2*t)\n";
static const char *const PLANET = "param a = 1, b = 1, c = 1, k = 1\n"
                                  "coord x = 1, y = 0\n"
                                  "speed x' = 0, y' = 0.8\n"
                                  "kinetic a/2*(x'^2 + y'^2)\n"
                                  "potential -k*b*c/sqrt(x^2 + y^2)\n";

/* World i of a batch: parameters, state and time of its own. */
static void vary(int i, double *t, double *q, double *v, double *param)
{
    for (int k = 0; k < 4; k++) {
        param[k] *= 1 + 0.07 * ((i * 5 + k * 3) % 11) - 0.2;
    }
    q[0] += 0.05 * i;
    q[1] -= 0.03 * i;
    v[0] += 0.1 * (i % 3);
    *t = 0.25 * (i % 4);
}

typedef struct outcome {
    zw_status status;
    zw_run_summary summary;
    zw_error error;
} outcome;

/* The same world alone: advances w->state. */
static outcome alone(world *w, int i, void (*change)(int, double *, double *, double *, double *),
                     zw_run_options options)
{
    outcome o = {0};
    zw_state_free(w->state);
    w->state = zw_state_create(w->system, w->work, NULL, &w->error);
    assert_non_null(w->state);
    double t = w->state->t, q[2], v[2], param[4];
    int n = w->system->n, params = w->system->shape.params;
    memcpy(q, state_q(w->state), (size_t)n * sizeof *q);
    memcpy(v, state_v(w->state), (size_t)n * sizeof *v);
    memcpy(param, state_param(w->state), (size_t)params * sizeof *param);
    change(i, &t, q, v, param);
    options.every = 1e9;
    const struct {
        zw_field_id field;
        int count;
        const double *value;
    } set[] = {{ZW_FIELD_TIME, 1, &t},
               {ZW_FIELD_PARAM, params, param},
               {ZW_FIELD_Q, n, q},
               {ZW_FIELD_V, n, v}};
    for (int k = 0; k < 4 && o.status == ZW_OK; k++) {
        zw_view now = zw_field(w->system, w->state, w->work, set[k].field);
        if (memcmp(now.data, set[k].value, (size_t)set[k].count * sizeof(double)) != 0) {
            o.status = zw_state_set(w->system, w->state, w->work, set[k].field, 0, set[k].count,
                                    set[k].value, &o.error);
        }
    }
    if (o.status == ZW_OK) {
        o.status = zw_run(w->system, w->state, w->work, &options, &o.summary, &o.error);
    }
    return o;
}

static zw_batch *batch_of(world *w, int count,
                          void (*change)(int, double *, double *, double *, double *))
{
    zw_batch *batch = zw_batch_create(
        &(zw_batch_def){.system = w->system, .worlds = count, .threads = 1}, &w->error);
    if (!batch) {
        print_error("%s\n", w->error.text);
    }
    assert_non_null(batch);
    for (int i = 0; i < count; i++) {
        change(i, zw_batch_field(batch, i, ZW_FIELD_TIME), zw_batch_field(batch, i, ZW_FIELD_Q),
               zw_batch_field(batch, i, ZW_FIELD_V), zw_batch_field(batch, i, ZW_FIELD_PARAM));
    }
    return batch;
}

static void same_as_alone(world *w, zw_batch *batch, int i, const outcome *o)
{
    size_t bytes = (size_t)w->system->n * sizeof(double);
    zw_batch_result result = zw_batch_look(batch, i);
    assert_int_equal(result.status, o->status);
    assert_int_equal(result.steps, o->summary.steps);
    assert_int_equal(result.rejected, o->summary.rejected);
    assert_int_equal(result.evaluations, o->summary.evaluations);
    assert_memory_equal(&result.end, &w->state->t, sizeof(double));
    assert_memory_equal(zw_batch_field(batch, i, ZW_FIELD_TIME), &w->state->t, sizeof(double));
    assert_memory_equal(zw_batch_field(batch, i, ZW_FIELD_Q), state_q(w->state), bytes);
    assert_memory_equal(zw_batch_field(batch, i, ZW_FIELD_V), state_v(w->state), bytes);
}

static void check_equal(const char *text, int count, zw_run_options options)
{
    world w = world_of(text);
    zw_batch *batch = batch_of(&w, count, vary);
    zw_status status = zw_batch_run(batch, &options, &w.error);
    if (status != ZW_OK) {
        print_error("%s\n", w.error.text);
    }
    assert_int_equal(status, ZW_OK);
    for (int i = 0; i < count; i++) {
        outcome o = alone(&w, i, vary, options);
        assert_true(o.summary.steps > 10);
        same_as_alone(&w, batch, i, &o);
    }
    zw_batch_free(batch);
    world_end(&w);
}

static void test_lanes_are_worlds_alone(void **unused)
{
    (void)unused;
    zw_run_options options = {.time = 5, .tolerance = 1e-10};
    check_equal(PENDULUM, 8, options);
    check_equal(DAMPED, 8, options);
    check_equal(PLANET, 8, options);
    options = (zw_run_options){.time = 3, .tolerance = 1e-6, .step = 0.02};
    check_equal(DAMPED, 8, options);
}

/* Lanes are refilled: results do not depend on which worlds share them. */
static void test_any_number_of_worlds(void **unused)
{
    (void)unused;
    const zw_run_options options = {.time = 2};
    for (int count = 1; count < 28; count += 9) {
        check_equal(PENDULUM, count, options);
    }
}

/* ---- Worlds that fail ----------------------------------------------------------------------- */

static void one_not_a_number(int i, double *t, double *q, double *v, double *param)
{
    vary(i, t, q, v, param);
    param[1] = i == 3 ? NAN : param[1];
    q[0] = i == 6 ? INFINITY : q[0];
}

static void one_without_mass(int i, double *t, double *q, double *v, double *param)
{
    vary(i, t, q, v, param);
    param[1] = i == 5 ? 0 : param[1];
}

static void check_failing(const char *text, zw_run_options options, int first,
                          void (*change)(int, double *, double *, double *, double *))
{
    enum { COUNT = 11 };
    char name[32];
    int failed = 0;
    world w = world_of(text);
    zw_batch *batch = batch_of(&w, COUNT, change);
    zw_status status = zw_batch_run(batch, &options, &w.error);
    snprintf(name, sizeof name, "world %d: ", first);
    assert_int_equal(strncmp(w.error.text, name, strlen(name)), 0);
    assert_int_equal(status, zw_batch_look(batch, first).status);
    assert_int_equal(status, w.error.status);
    for (int i = 0; i < COUNT; i++) {
        outcome o = alone(&w, i, change, options);
        failed += o.status != ZW_OK;
        same_as_alone(&w, batch, i, &o);
        if (i == first) {
            assert_string_equal(w.error.text + strlen(name), o.error.text);
        }
    }
    assert_in_range(failed, 1, COUNT - 1);
    zw_batch_free(batch);
    world_end(&w);
}

/* The formula is undefined at x = 0; worlds 2 and 7 fall there, the others rise. */
static void two_fall(int i, double *t, double *q, double *v, double *param)
{
    (void)param;
    q[0] += 0.01 * i;
    v[0] = i == 2 || i == 7 ? -3 : 2 + i;
    *t = 0;
}

static void test_a_world_that_ends_on_the_way(void **unused)
{
    (void)unused;
    const char *text = "coord x = 1\nkinetic x'^2/2\npotential -sqrt(x)*x/10\n";
    check_failing(text, (zw_run_options){.time = 2}, 2, two_fall);
}

/* Attraction like 1/x^3: worlds 2 and 7 fall into the centre, which no step passes. */
static void test_a_world_that_gets_nowhere(void **unused)
{
    (void)unused;
    const char *text = "coord x = 1\nkinetic x'^2/2\npotential -1/(10*x^2)\n";
    check_failing(text, (zw_run_options){.time = 2}, 2, two_fall);
}

static void check_bad_start(const char *text, int first,
                            void (*change)(int, double *, double *, double *, double *))
{
    enum { COUNT = 11 };
    const zw_run_options options = {.time = 2};
    char name[32];
    world w = world_of(text);
    zw_batch *batch = batch_of(&w, COUNT, change);
    zw_status status = zw_batch_run(batch, &options, &w.error);
    snprintf(name, sizeof name, "world %d: ", first);
    assert_int_equal(strncmp(w.error.text, name, strlen(name)), 0);
    assert_int_not_equal(status, ZW_OK);
    for (int i = 0; i < COUNT; i++) {
        outcome o = alone(&w, i, change, options);
        if (o.status == ZW_OK) {
            same_as_alone(&w, batch, i, &o);
        } else {
            assert_int_not_equal(zw_batch_look(batch, i).status, ZW_OK);
            assert_int_equal(zw_batch_look(batch, i).steps, 0);
        }
    }
    zw_batch_free(batch);
    world_end(&w);
}

static void test_a_bad_world_does_not_disturb_the_others(void **unused)
{
    (void)unused;
    check_bad_start(PENDULUM, 3, one_not_a_number);
    check_bad_start(DAMPED, 3, one_not_a_number);
    check_bad_start(PENDULUM, 5, one_without_mass);
}

/* ---- Times ---------------------------------------------------------------------------------- */

static void test_worlds_at_the_end_stay(void **unused)
{
    (void)unused;
    zw_run_options options = {.time = 1};
    world w = world_of(PENDULUM);
    zw_batch *batch =
        zw_batch_create(&(zw_batch_def){.system = w.system, .worlds = 3, .threads = 1}, &w.error);
    *zw_batch_field(batch, 1, ZW_FIELD_TIME) = 1;
    *zw_batch_field(batch, 2, ZW_FIELD_TIME) = NAN;
    assert_int_equal(zw_batch_run(batch, &options, &w.error), ZW_BAD_INPUT);
    assert_true(*zw_batch_field(batch, 0, ZW_FIELD_TIME) == 1);
    assert_true(zw_batch_look(batch, 0).steps > 0);
    assert_true(zw_batch_look(batch, 1).steps == 0 && zw_batch_look(batch, 1).status == ZW_OK);
    assert_true(zw_batch_field(batch, 1, ZW_FIELD_Q)[0] == 2.0);

    *zw_batch_field(batch, 2, ZW_FIELD_TIME) = 0; /* and on */
    options.time = 1.5;
    assert_int_equal(zw_batch_run(batch, &options, &w.error), ZW_OK);
    assert_true(*zw_batch_field(batch, 2, ZW_FIELD_TIME) == 1.5);
    assert_null(zw_batch_field(batch, 3, ZW_FIELD_Q));
    assert_null(zw_batch_field(batch, -1, ZW_FIELD_Q));
    assert_null(zw_batch_field(batch, 0, ZW_FIELD_LAMBDA));
    assert_int_equal(zw_batch_look(batch, 3).status, ZW_BAD_INPUT);
    zw_batch_free(batch);
    world_end(&w);
}

/* ---- What is refused ------------------------------------------------------------------------ */

static int look_on(void *user, zw_sample_kind kind, int event, const zw_system *system,
                   const zw_state *state, zw_work *work)
{
    (void)user, (void)kind, (void)event, (void)system, (void)state, (void)work;
    return 0;
}

static void test_refusals_say_why(void **unused)
{
    (void)unused;
    world w = world_of(PENDULUM);
    zw_batch *batch =
        zw_batch_create(&(zw_batch_def){.system = w.system, .worlds = 2, .threads = 1}, &w.error);
    zw_run_options options = {.time = 1, .observer = look_on};
    assert_null(
        zw_batch_create(&(zw_batch_def){.system = w.system, .worlds = 0, .threads = 1}, NULL));
    assert_null(
        zw_batch_create(&(zw_batch_def){.system = w.system, .worlds = 1, .threads = -1}, NULL));
    assert_int_equal(zw_batch_run(batch, &options, &w.error), ZW_BAD_INPUT);
    assert_int_equal(zw_batch_step(batch, &options, 1, 0, &w.error), ZW_BAD_INPUT);
    assert_int_equal(zw_batch_step(batch, NULL, -1, 0, &w.error), ZW_BAD_INPUT);
    options = (zw_run_options){.time = -1};
    assert_int_equal(zw_batch_run(batch, &options, NULL), ZW_BAD_INPUT);
    zw_batch_free(batch);
    zw_batch_free(NULL);
    world_end(&w);
}

/* ---- Interruption ---------------------------------------------------------------------------- */

typedef struct patience {
    pthread_t caller;
    long asked, enough;
} patience;

static int has_enough(void *user, double time)
{
    patience *p = user;
    assert_true(pthread_equal(pthread_self(), p->caller));
    assert_true(isfinite(time));
    return ++p->asked > p->enough;
}

/* Worlds in lanes, worlds one by one, steps: all stop when the caller requests it, in the caller's
 * thread; none fails, and all continue afterwards to the same result. */
static void test_the_caller_ends_it(void **unused)
{
    (void)unused;
    for (int threads = 1; threads <= 3; threads++) {
        for (int way = 0; way < 3; way++) {
            world w = world_of(PENDULUM);
            zw_batch *batch = zw_batch_create(
                &(zw_batch_def){.system = w.system, .worlds = 20, .threads = threads}, &w.error);
            zw_batch *whole = zw_batch_create(
                &(zw_batch_def){.system = w.system, .worlds = 20, .threads = threads}, &w.error);
            patience p = {.caller = pthread_self(), .enough = 40};
            zw_run_options options = {.time = 2, .poll = has_enough, .user = &p};
            options.method = way == 0 ? ZW_METHOD_DOP853 : ZW_METHOD_RK4;
            options.step = way == 0 ? 0 : 1e-3;
            zw_status status = way < 2 ? zw_batch_run(batch, &options, &w.error)
                                       : zw_batch_step(batch, &options, 2000, 0, &w.error);
            /* other threads may complete all the work before the callback is called so often */
            assert_true(status == ZW_INTERRUPTED || (threads > 1 && status == ZW_OK));
            int on_the_way = 0;
            for (int i = 0; i < 20; i++) {
                assert_int_equal(zw_batch_look(batch, i).status, ZW_OK);
                on_the_way += *zw_batch_field(batch, i, ZW_FIELD_TIME) < 2;
            }
            assert_true(on_the_way > 0 || threads > 1);
            options.poll = NULL;
            if (on_the_way > 0) {
                assert_int_equal(zw_batch_run(batch, &options, &w.error), ZW_OK);
            }
            assert_int_equal(zw_batch_run(whole, &options, &w.error), ZW_OK);
            for (int i = 0; i < 20; i++) {
                assert_true(*zw_batch_field(batch, i, ZW_FIELD_TIME) == 2);
                double a = *zw_batch_field(batch, i, ZW_FIELD_Q);
                assert_true(fabs(a - *zw_batch_field(whole, i, ZW_FIELD_Q)) < 1e-6);
            }
            zw_batch_free(batch);
            zw_batch_free(whole);
            world_end(&w);
        }
    }
}

/* One world ends at once, the other never: whichever the caller's thread runs, the callback is
 * called. */
static void test_the_caller_is_asked_while_he_waits(void **unused)
{
    (void)unused;
    for (int late = 0; late < 2; late++) {
        world w = world_of(PENDULUM);
        zw_batch *batch = zw_batch_create(
            &(zw_batch_def){.system = w.system, .worlds = 2, .threads = 2}, &w.error);
        patience p = {.caller = pthread_self(), .enough = 3};
        zw_run_options options = {.time = 1e9, .poll = has_enough, .user = &p};
        options.method = ZW_METHOD_RK4;
        options.step = 1e-3;
        *zw_batch_field(batch, late, ZW_FIELD_TIME) = 1e9;
        assert_int_equal(zw_batch_run(batch, &options, &w.error), ZW_INTERRUPTED);
        assert_true(*zw_batch_field(batch, late, ZW_FIELD_TIME) == 1e9);
        assert_true(*zw_batch_field(batch, !late, ZW_FIELD_TIME) < 1e9);
        zw_batch_free(batch);
        world_end(&w);
    }
}

/* A graph of formulas that ran out of memory stays so: each time a new world. */
static void test_memory_may_fail(void **unused)
{
    (void)unused;
    int k = 0, made = 0;
    while (!made && k < 100) {
        world w = world_of(PENDULUM);
        base_alloc_fail_after(++k);
        zw_batch *batch = zw_batch_create(
            &(zw_batch_def){.system = w.system, .worlds = 20, .threads = 1}, &w.error);
        base_alloc_fail_after(0);
        made = batch != NULL;
        assert_true(made || w.error.status != ZW_OK);
        zw_batch_free(batch);
        world_end(&w);
    }
    assert_in_range(k, 3, 99);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lanes_are_worlds_alone),
        cmocka_unit_test(test_any_number_of_worlds),
        cmocka_unit_test(test_a_bad_world_does_not_disturb_the_others),
        cmocka_unit_test(test_a_world_that_ends_on_the_way),
        cmocka_unit_test(test_a_world_that_gets_nowhere),
        cmocka_unit_test(test_worlds_at_the_end_stay),
        cmocka_unit_test(test_refusals_say_why),
        cmocka_unit_test(test_the_caller_ends_it),
        cmocka_unit_test(test_the_caller_is_asked_while_he_waits),
        cmocka_unit_test(test_memory_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

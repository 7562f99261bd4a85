/* The integrator around the methods: limits, dense output, retakes, projection, failures. */
#include "step/integrate.h"

#include "base/memory.h"
#include "step/mechanics.h"

#include <string.h>

static zw_status circle_field(void *user, double t, const double *y, double *dy, zw_error *error)
{
    (void)user, (void)t, (void)error;
    dy[0] = y[1];
    dy[1] = -y[0];
    return ZW_OK;
}

static const double circle[2] = {1.0, 0.0};

/* Each method that needs nothing but a field, with a step or a tolerance for 1e-6 or better. */
static int plain_methods(step_ode_options *list)
{
    int count = 0;
    for (step_method m = STEP_DOP853; m <= STEP_EULER; m++) {
        if (step_method_present(m)) {
            list[count++] = (step_ode_options){.method = m,
                                               .n = 2,
                                               .field = circle_field,
                                               .tolerance = 1e-9,
                                               .step = m == STEP_RK4     ? 0.01
                                                       : m == STEP_EULER ? 0.001
                                                                         : 0.0};
        }
    }
    return count;
}

/* ---- Orders of the simple methods ------------------------------------------------------------ */

/* Global orders of steps and dense output for y = (cos t, -sin t). */
static void simple_order(step_method method, double wanted, double dense_wanted)
{
    enum { COUNT = 5 };
    double h[COUNT], end[COUNT], dense[COUNT] = {0};
    zw_error error = {0};
    for (int k = 0; k < COUNT; k++) {
        h[k] = 3.0 / (40 << k);
        step_ode_options options = {.method = method, .n = 2, .field = circle_field, .step = h[k]};
        stepper *ode = begin(&options, 0.0, circle);
        const stepper_view *view = stepper_look(ode);
        while (view->t < 3.0) {
            assert_fine(stepper_advance(ode, 3.0, &error));
            double t = view->t_before + 0.4 * (view->t - view->t_before), y[2];
            assert_fine(stepper_interpolate(ode, t, y, &error));
            dense[k] = fmax(dense[k], fabs(y[0] - cos(t)));
        }
        end[k] = hypot(view->y[0] - cos(3.0), view->y[1] + sin(3.0));
        assert_int_equal(view->steps, 40 << k);
        stepper_free(ode);
    }
    print_message("order %.3f, dense %.3f\n", observed_order(COUNT, h, end),
                  observed_order(COUNT, h, dense));
    assert_near(observed_order(COUNT, h, end), wanted, 0.1);
    assert_near(observed_order(COUNT, h, dense), dense_wanted, 0.1);
}

static void orders_of_rk4_and_euler(void **state)
{
    (void)state;
    simple_order(STEP_RK4, 4.0, 4.0);
    simple_order(STEP_EULER, 1.0, 1.0);
}

/* Semi-implicit Euler: exact recursion, and what is neither q nor v is advanced explicitly. */
static zw_status with_rest(void *user, double t, const double *y, double *dy, zw_error *error)
{
    (void)user, (void)t, (void)error;
    dy[0] = y[1];
    dy[1] = -y[0];
    dy[2] = y[0];
    return ZW_OK;
}

static void euler_by_hand(void **state)
{
    (void)state;
    zw_error error = {0};
    double y[3] = {1.0, 0.5, 2.0}, h = 0.125;
    step_ode_options options = {
        .method = STEP_EULER, .n = 3, .positions = 1, .field = with_rest, .step = h};
    stepper *ode = begin(&options, 0.0, y);
    assert_fine(stepper_advance(ode, 1.0, &error));
    double v = y[1] - h * y[0];
    const double wanted[3] = {y[0] + h * v, v, y[2] + h * y[0]};
    assert_small(distance(3, stepper_look(ode)->y, wanted), 1e-16);
    stepper_free(ode);
}

/* ---- Time ------------------------------------------------------------------------------------ */

/* No method steps past a limit, and each lands on it exactly; also backwards. */
static void limits_are_met_exactly(void **state)
{
    (void)state;
    step_ode_options list[8];
    int count = plain_methods(list);
    for (int k = 0; k < count; k++) {
        stepper *ode = begin(&list[k], 0.0, circle);
        const double stops[] = {0.1, 0.1 + 1e-9, 1.0 / 3.0, 2.0, 1.9, 0.0};
        for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
            double from = stepper_look(ode)->t, low = fmin(from, stops[i]),
                   high = fmax(from, stops[i]);
            zw_error error = {0};
            while (stepper_look(ode)->t != stops[i]) {
                assert_fine(stepper_advance(ode, stops[i], &error));
                assert_true(stepper_look(ode)->t >= low && stepper_look(ode)->t <= high);
            }
            assert_fine(stepper_advance(ode, stops[i], &error)); /* there already */
            assert_true(stepper_look(ode)->t == stops[i]);
            const double wanted[2] = {cos(stops[i]), -sin(stops[i])};
            assert_small(distance(2, stepper_look(ode)->y, wanted), 2e-3);
        }
        stepper_free(ode);
    }
}

/* A million fixed steps are as long as a million times one, and their number is right. */
static void fixed_steps_keep_the_grid(void **state)
{
    (void)state;
    step_ode_options options = {.method = STEP_EULER, .n = 2, .field = circle_field, .step = 0.1};
    stepper *ode = begin(&options, 0.0, circle);
    go(ode, 1e4);
    assert_int_equal(stepper_look(ode)->steps, 100000);
    stepper_free(ode);
}

/* Compensated sums: RK4 with steps so short that its own error is 1e-17 shows the round-off of a
 * hundred thousand sums, about 3e-15 without. */
static void small_steps_do_not_lose_digits(void **state)
{
    (void)state;
    enum { STEPS = 200000 };
    step_ode_options options = {
        .method = STEP_RK4, .n = 2, .field = circle_field, .step = 20.0 / STEPS};
    const double wanted[2] = {cos(20.0), -sin(20.0)};
    double error = run_error(&options, circle, 20.0, wanted);

    double q = 1.0, v = 0.0, h = 20.0 / STEPS; /* the same without compensation */
    for (int i = 0; i < STEPS; i++) {
        double c = h * (1.0 - h * h / 6.0), s = h * h / 2.0 * (1.0 - h * h / 12.0);
        double dq = c * v - s * q, dv = -c * q - s * v;
        q += dq;
        v += dv;
    }
    double plain = hypot(q - wanted[0], v - wanted[1]);
    print_message("RK4, %d steps: %.1e compensated, %.1e plain\n", STEPS, error, plain);
    assert_small(error, 2e-15); /* the step itself, 1e-4, is rounded */
    assert_true(plain > 4.0 * error);
}

/* ---- Dense output and retakes ---------------------------------------------------------------- */

static void dense_output_joins_the_ends(void **state)
{
    (void)state;
    step_ode_options list[8];
    int count = plain_methods(list);
    list[count] = (step_ode_options){
        .n = 4, .field = pendulum_field, .project = pendulum_project, .tolerance = 1e-6};
    for (int k = 0; k <= count; k++) {
        double y[4] = {1.0, 0.0, 0.0, 0.0}, near_[4];
        int n = list[k].n;
        zw_error error = {0};
        stepper *ode = begin(&list[k], 0.0, y);
        for (int i = 0; i < 12; i++) {
            assert_fine(stepper_advance(ode, 5.0, &error));
            const stepper_view *view = stepper_look(ode);
            double h = view->t - view->t_before, small = 1e-9 * h;
            assert_fine(stepper_interpolate(ode, view->t, near_, &error));
            assert_memory_equal(near_, view->y, (size_t)n * sizeof(double));
            assert_fine(stepper_interpolate(ode, view->t_before, near_, &error));
            assert_memory_equal(near_, view->y_before, (size_t)n * sizeof(double));
            /* continuous at both ends: BDF's history is its own, to the tolerance */
            double bound = list[k].method == STEP_BDF ? 1e-8 : 20.0 * small + 1e-15;
            assert_fine(stepper_interpolate(ode, view->t - small, near_, &error));
            assert_small(distance(n, near_, view->y), bound);
            assert_fine(stepper_interpolate(ode, view->t_before + small, near_, &error));
            assert_small(distance(n, near_, view->y_before), bound);
            assert_int_equal(stepper_interpolate(ode, view->t + h, near_, &error), ZW_BAD_INPUT);
        }
        stepper_free(ode);
    }
}

/* A retake is a real step: as exact as one, and never worse than dense output. It can go back and
 * forth in the step, and the run goes on from wherever it ended. */
static void retakes_are_steps(void **state)
{
    (void)state;
    step_ode_options list[8];
    int count = plain_methods(list);
    for (int k = 0; k < count; k++) {
        zw_error error = {0};
        stepper *ode = begin(&list[k], 0.0, circle);
        const stepper_view *view = stepper_look(ode);
        go(ode, 0.5);
        assert_fine(stepper_advance(ode, 5.0, &error));
        double from = view->t_before, to = view->t, bound = 1e-6;
        long steps = view->steps;
        bound = list[k].method == STEP_EULER ? 2e-3 : bound;
        for (int i = 0; i <= 4; i++) {
            static const double part[] = {0.5, 0.1, 1.0, 0.0, 0.7};
            double t = part[i] == 1.0 ? to : from + part[i] * (to - from);
            assert_fine(stepper_retake(ode, t, &error));
            assert_true(view->t == t && view->t_before == from);
            const double wanted[2] = {cos(t), -sin(t)};
            assert_small(distance(2, view->y, wanted), bound);
            assert_true(view->dy == NULL || distance(1, view->dy, view->y + 1) == 0.0);
        }
        assert_int_equal(view->steps, steps);
        assert_int_equal(stepper_retake(ode, to + 1.0, &error), ZW_BAD_INPUT);
        go(ode, 3.0);
        const double wanted[2] = {cos(3.0), -sin(3.0)};
        assert_small(distance(2, view->y, wanted), bound);
        stepper_free(ode);
    }
}

/* A retake to the end gives the bits of the step itself. */
static void retaking_the_whole_step_changes_nothing(void **state)
{
    (void)state;
    double y[4] = {1.0, 0.0, 0.0, 0.0}, kept[4];
    zw_error error = {0};
    step_ode_options options = {.n = 4, .field = pendulum_field, .project = pendulum_project};
    stepper *ode = begin(&options, 0.0, y);
    go(ode, 0.7);
    memcpy(kept, stepper_look(ode)->y, sizeof kept);
    assert_fine(stepper_retake(ode, 0.5 * (stepper_look(ode)->t_before + 0.7), &error));
    assert_fine(stepper_retake(ode, 0.7, &error));
    assert_memory_equal(kept, stepper_look(ode)->y, sizeof kept);
    stepper_free(ode);
}

/* ---- Projection ------------------------------------------------------------------------------ */

static void every_step_ends_on_the_manifold(void **state)
{
    (void)state;
    static const step_method all[] = {STEP_DOP853, STEP_RADAU, STEP_BDF, STEP_RK4, STEP_EULER};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        if (!step_method_present(all[k])) {
            continue;
        }
        double y[4] = {1.0, 0.0, 0.0, 0.0}, worst = 0.0;
        int fixed = all[k] == STEP_RK4 || all[k] == STEP_EULER;
        zw_error error = {0};
        step_ode_options options = {.method = all[k],
                                    .n = 4,
                                    .field = pendulum_field,
                                    .project = pendulum_project,
                                    .tolerance = 1e-6,
                                    .step = fixed ? 0.01 : 0.0};
        stepper *ode = begin(&options, 0.0, y);
        const stepper_view *view = stepper_look(ode);
        while (view->t < 10.0) {
            assert_fine(stepper_advance(ode, 10.0, &error));
            double r = hypot(view->y[0], view->y[1]);
            double along = view->y[0] * view->y[2] + view->y[1] * view->y[3];
            worst = fmax(worst, fmax(fabs(r - 1.0), fabs(along)));
        }
        assert_small(worst, 1e-14);
        stepper_free(ode);
    }
}

/* ---- Restart --------------------------------------------------------------------------------- */

static void restart_keeps_the_step_size(void **state)
{
    (void)state;
    zw_error error = {0};
    step_ode_options options = {.n = 2, .field = circle_field, .tolerance = 1e-10};
    stepper *ode = begin(&options, 0.0, circle);
    const stepper_view *view = stepper_look(ode);
    for (int i = 0; i < 10; i++) {
        assert_fine(stepper_advance(ode, 100.0, &error));
    }
    double next = view->next, t = view->t, h = view->t - view->t_before;
    assert_true(next > 0.2 * h);
    const double y[2] = {0.0, 1.0};
    assert_fine(stepper_restart(ode, t, y, &error));
    assert_true(view->next == next && view->steps == 10 && view->t == t && view->t_before == t);
    assert_fine(stepper_advance(ode, 100.0, &error));
    assert_true(view->t - t > 0.2 * h);
    go(ode, t + 3.0);
    const double wanted[2] = {sin(3.0), cos(3.0)};
    assert_small(distance(2, view->y, wanted), 1e-8);
    stepper_free(ode);
}

/* ---- Failures -------------------------------------------------------------------------------- */

typedef struct trouble {
    int kind;      /* 0: status, 1: not a number */
    double beyond; /* where y[0] gets there */
    long calls;
} trouble;

/* y' = 1, with trouble beyond some y. */
static zw_status troubled(void *user, double t, const double *y, double *dy, zw_error *error)
{
    trouble *it = user;
    (void)t;
    it->calls++;
    dy[0] = 1.0;
    if (y[0] > it->beyond) {
        if (it->kind == 0) {
            if (error != NULL) {
                error->status = ZW_CONFLICT;
                strcpy(error->text, "the wall");
            }
            return ZW_CONFLICT;
        }
        dy[0] = NAN;
    }
    return ZW_OK;
}

/* A field that fails beyond a point: the run ends shortly before it, with the field's message. */
static void failures_are_reported_with_their_time(void **state)
{
    (void)state;
    for (step_method m = STEP_DOP853; m <= STEP_EULER; m++) {
        for (int kind = 0; step_method_present(m) && kind < 2; kind++) {
            trouble it = {.kind = kind, .beyond = 1.0};
            double y = 0.0;
            zw_error error = {0};
            int fixed = m == STEP_RK4 || m == STEP_EULER;
            step_ode_options options = {
                .method = m, .n = 1, .field = troubled, .user = &it, .step = fixed ? 0.01 : 0.2};
            stepper *ode = begin(&options, 0.0, &y);
            zw_status status = ZW_OK;
            while (status == ZW_OK && stepper_look(ode)->t < 2.0) {
                status = stepper_advance(ode, 2.0, &error);
            }
            const stepper_view *view = stepper_look(ode);
            assert_int_equal(status, kind == 0 ? ZW_CONFLICT : ZW_INACCURATE);
            assert_int_equal(error.status, status);
            assert_true(strstr(error.text, kind == 0 ? "the wall" : "not finite") != NULL);
            assert_true(strstr(error.text, "t = ") != NULL);
            assert_true(view->t <= 1.0 && view->t > 0.98);
            assert_near(view->y[0], view->t, 1e-12);
            assert_true(it.calls < 3000);
            stepper_advance(ode, 2.0, NULL); /* no message is wanted */
            assert_true(view->t <= 1.0);
            it.beyond = 3.0; /* and without the failure the run continues */
            go(ode, 2.0);
            assert_near(view->y[0], 2.0, 1e-12);
            stepper_free(ode);
        }
    }
}

/* y' = y^2 from 1 blows up at t = 1. */
static zw_status square(void *user, double t, const double *y, double *dy, zw_error *error)
{
    (void)user, (void)t, (void)error;
    dy[0] = y[0] * y[0];
    return ZW_OK;
}

static void steps_that_vanish_are_reported(void **state)
{
    (void)state;
    for (step_method m = STEP_DOP853; m <= STEP_RADAU; m++) {
        double y = 1.0;
        zw_error error = {0};
        step_ode_options options = {.method = m, .n = 1, .field = square, .tolerance = 1e-8};
        stepper *ode = begin(&options, 0.0, &y);
        zw_status status = ZW_OK;
        while (status == ZW_OK) {
            status = stepper_advance(ode, 2.0, &error);
        }
        assert_int_equal(status, ZW_INACCURATE);
        assert_true(strstr(error.text, "t = ") != NULL);
        assert_near(stepper_look(ode)->t, 1.0, 1e-6);
        assert_int_equal(stepper_look(ode)->culprit, 0);
        assert_true(stepper_look(ode)->steps < 2000);
        stepper_free(ode);
    }
}

static zw_status no_projection(void *user, double t, double *y, zw_error *error)
{
    (void)t, (void)y;
    if (error != NULL) {
        strcpy(error->text, "no way back");
    }
    return *(int *)user ? ZW_UNDETERMINED : ZW_OK;
}

static void failed_projections_are_reported(void **state)
{
    (void)state;
    for (step_method m = STEP_DOP853; m <= STEP_EULER; m++) {
        int fails = 1;
        zw_error error = {0};
        step_ode_options options = {.method = m,
                                    .n = 2,
                                    .field = circle_field,
                                    .project = no_projection,
                                    .user = &fails,
                                    .step = 0.1};
        if (!step_method_present(m)) {
            continue;
        }
        stepper *ode = begin(&options, 0.0, circle);
        assert_int_equal(stepper_advance(ode, 1.0, &error), ZW_UNDETERMINED);
        assert_true(strstr(error.text, "no way back") != NULL);
        assert_true(stepper_look(ode)->t == 0.0);
        fails = 0;
        go(ode, 1.0);
        stepper_free(ode);
    }
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    zw_error error = {0};
    double bad_weight[2] = {1.0, 0.0};
    const step_ode_options bad[] = {
        {.n = 2},
        {.n = -1, .field = circle_field},
        {.n = 2, .field = circle_field, .tolerance = -1.0},
        {.n = 2, .field = circle_field, .tolerance = NAN},
        {.n = 2, .field = circle_field, .step = -0.1},
        {.n = 2, .field = circle_field, .first = INFINITY},
        {.n = 2, .field = circle_field, .weight = bad_weight},
        {.n = 2, .field = circle_field, .method = STEP_RK4},
        {.n = 2, .field = circle_field, .method = STEP_EULER, .step = 0.1, .positions = 2},
        {.n = 2, .field = circle_field, .method = STEP_VARIATIONAL, .step = 0.1},
        {.n = 2, .field = circle_field, .method = (step_method)77},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        error = (zw_error){0};
        assert_null(step_ode_create(&bad[i], &error));
        assert_int_equal(error.status, ZW_BAD_INPUT);
    }
    step_ode_options options = {.n = 2, .field = circle_field};
    stepper *ode = begin(&options, 0.0, circle);
    const double nan[2] = {NAN, 0.0};
    assert_int_equal(stepper_advance(ode, INFINITY, &error), ZW_BAD_INPUT);
    assert_int_equal(stepper_start(ode, NAN, circle, &error), ZW_BAD_INPUT);
    assert_int_equal(stepper_start(ode, 0.0, nan, &error), ZW_INACCURATE);
    stepper_free(ode);
    stepper_free(NULL);
}

static void memory_that_is_not_there(void **state)
{
    (void)state;
    for (step_method m = STEP_DOP853; m <= STEP_EULER; m++) {
        step_ode_options options = {.method = m, .n = 2, .field = circle_field, .step = 0.1};
        for (int k = 1; step_method_present(m); k++) {
            zw_error error = {0};
            base_alloc_fail_after(k);
            stepper *ode = step_ode_create(&options, &error);
            base_alloc_fail_after(0);
            stepper_free(ode);
            if (ode != NULL) {
                assert_true(k > 1);
                break;
            }
            assert_int_equal(error.status, ZW_NO_MEMORY);
        }
    }
    step_ode_options huge = {.method = STEP_RADAU, .n = 2000000000, .field = circle_field};
    zw_error error = {0};
    assert_null(step_ode_create(&huge, &error));
    assert_int_equal(error.status, ZW_NO_MEMORY);
}

/* Weights: what must not be seen to less than its own size is seen to less. */
static void weights_are_heeded(void **state)
{
    (void)state;
    double y[2] = {1e-6, 0.0}, weight[2] = {1e-6, 1e-6}, error[2];
    for (int k = 0; k < 2; k++) {
        step_ode_options options = {
            .n = 2, .field = circle_field, .tolerance = 1e-6, .weight = k == 0 ? NULL : weight};
        const double wanted[2] = {1e-6 * cos(20.0), -1e-6 * sin(20.0)};
        error[k] = run_error(&options, y, 20.0, wanted);
    }
    assert_small(error[1], 1e-10);
    assert_true(error[0] > 10.0 * error[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_of_rk4_and_euler),
        cmocka_unit_test(euler_by_hand),
        cmocka_unit_test(limits_are_met_exactly),
        cmocka_unit_test(fixed_steps_keep_the_grid),
        cmocka_unit_test(small_steps_do_not_lose_digits),
        cmocka_unit_test(dense_output_joins_the_ends),
        cmocka_unit_test(retakes_are_steps),
        cmocka_unit_test(retaking_the_whole_step_changes_nothing),
        cmocka_unit_test(every_step_ends_on_the_manifold),
        cmocka_unit_test(restart_keeps_the_step_size),
        cmocka_unit_test(failures_are_reported_with_their_time),
        cmocka_unit_test(steps_that_vanish_are_reported),
        cmocka_unit_test(failed_projections_are_reported),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(memory_that_is_not_there),
        cmocka_unit_test(weights_are_heeded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The methods for stiff motions: Radau, and BDF from SUNDIALS where the build has it. */
#include "step/integrate.h"

#include "step/events/event.h"
#include "step/mechanics.h"

#include <string.h>

/* y' = -L (y - cos t) - sin t: y = cos t, with a transient that lasts 1/L. */
static zw_status follow(void *user, double t, const double *y, double *dy, zw_error *error)
{
    (void)error;
    dy[0] = -*(double *)user * (y[0] - cos(t)) - sin(t);
    return ZW_OK;
}

static const struct {
    step_method method;
    double factor; /* global error over tolerance that is fair for the method */
} methods[] = {{STEP_RADAU, 20.0}, {STEP_BDF, 2000.0}};

enum { METHODS = sizeof methods / sizeof *methods };

/* ---- Radau's order --------------------------------------------------------------------------- */

static zw_status circle_field(void *user, double t, const double *y, double *dy, zw_error *error)
{
    (void)user, (void)t, (void)error;
    dy[0] = y[1];
    dy[1] = -y[0];
    return ZW_OK;
}

/* On a circle all steps are about equal, so the number of steps stands for h while the tolerance
 * falls: order 5 at the ends of the steps; the collocation polynomial between them has a local
 * error O(h^4). */
static void orders_of_radau(void **state)
{
    (void)state;
    enum { COUNT = 4 };
    double y[2] = {1.0, 0.0}, h[COUNT], end[COUNT], dense[COUNT] = {0};
    zw_error error = {0};
    for (int k = 0; k < COUNT; k++) {
        step_ode_options options = {
            .method = STEP_RADAU, .n = 2, .field = circle_field, .tolerance = 1e-7 * pow(10.0, -k)};
        stepper *ode = begin(&options, 0.0, y);
        const stepper_view *view = stepper_look(ode);
        while (view->t < 10.0) {
            assert_fine(stepper_advance(ode, 10.0, &error));
            double t = view->t_before + 0.25 * (view->t - view->t_before), out[2];
            const double wanted[2] = {cos(t), -sin(t)};
            assert_fine(stepper_interpolate(ode, t, out, &error));
            dense[k] = fmax(dense[k], distance(2, out, wanted));
        }
        const double wanted[2] = {cos(10.0), -sin(10.0)};
        h[k] = 10.0 / (double)view->steps;
        end[k] = distance(2, view->y, wanted);
        stepper_free(ode);
    }
    print_message("radau: errors %.1e .. %.1e, order %.3f; dense %.1e .. %.1e, local order %.3f\n",
                  end[0], end[COUNT - 1], observed_order(COUNT, h, end), dense[0], dense[COUNT - 1],
                  observed_order(COUNT, h, dense));
    assert_near(observed_order(COUNT, h, end), 5.0, 0.1);
    assert_near(observed_order(COUNT, h, dense), 4.0, 0.1);
}

/* ---- Stiff problems -------------------------------------------------------------------------- */

/* However stiff, the number of steps does not depend on it, and errors follow the tolerance. */
static void moving_equilibria(void **state)
{
    (void)state;
    for (int k = 0; k < METHODS; k++) {
        for (double stiffness = 1e2; stiffness < 1e9 && step_method_present(methods[k].method);
             stiffness *= 1e3) {
            for (double tolerance = 1e-5; tolerance > 1e-11; tolerance /= 100.0) {
                double y = 1.5; /* a transient first */
                step_ode_options options = {.method = methods[k].method,
                                            .n = 1,
                                            .field = follow,
                                            .user = &stiffness,
                                            .tolerance = tolerance};
                stepper *ode = begin(&options, 0.0, &y);
                go(ode, 10.0);
                const stepper_view *view = stepper_look(ode);
                assert_small(fabs(view->y[0] - cos(10.0)), methods[k].factor * tolerance);
                assert_true(view->steps < 3000);
                assert_true(view->rejected < 60 + view->steps / 3);
                stepper_free(ode);
            }
        }
    }
}

/* Robertson's kinetics at t = 40, a classic of stiff integration; digits from runs of both methods
 * at 1e-13, which agree, and as printed in the literature. */
static zw_status robertson(void *user, double t, const double *y, double *dy, zw_error *error)
{
    (void)user, (void)t, (void)error;
    dy[0] = -0.04 * y[0] + 1e4 * y[1] * y[2];
    dy[2] = 3e7 * y[1] * y[1];
    dy[1] = -dy[0] - dy[2];
    return ZW_OK;
}

static void robertson_kinetics(void **state)
{
    (void)state;
    const double y[3] = {1.0, 0.0, 0.0}, weight[3] = {1.0, 1e-4, 1.0};
    const double wanted[3] = {0.7158270688, 0.9185534765e-5, 0.2841637457};
    for (int k = 0; k < METHODS; k++) {
        if (!step_method_present(methods[k].method)) {
            continue;
        }
        step_ode_options options = {.method = methods[k].method,
                                    .n = 3,
                                    .field = robertson,
                                    .tolerance = 1e-9,
                                    .weight = weight};
        stepper *ode = begin(&options, 0.0, y);
        go(ode, 40.0);
        const stepper_view *view = stepper_look(ode);
        print_message("robertson, method %d: %.1e in %ld steps, %ld evaluations\n",
                      (int)methods[k].method, distance(3, view->y, wanted), view->steps,
                      view->evaluations);
        assert_small(distance(3, view->y, wanted), 1e-7);
        assert_true(view->steps < 1500);
        stepper_free(ode);
    }
}

/* Where explicit steps are held back by a fast spring that has long come to rest, these are not. */
static zw_status damper(void *user, double t, const double *y, double *dy, zw_error *error)
{
    (void)user, (void)t, (void)error;
    dy[0] = y[1];
    dy[1] = -1e6 * (y[0] - 1.0) - 1e5 * y[1];
    return ZW_OK;
}

static void steps_are_long_where_nothing_happens(void **state)
{
    (void)state;
    double y[2] = {0.0, 0.0};
    step_ode_options options = {.n = 2, .field = damper, .tolerance = 1e-6};
    stepper *ode = begin(&options, 0.0, y);
    go(ode, 2.0);
    long explicit_steps = stepper_look(ode)->steps;
    stepper_free(ode);
    for (int k = 0; k < METHODS; k++) {
        options.method = methods[k].method;
        if (!step_method_present(options.method)) {
            continue;
        }
        ode = begin(&options, 0.0, y);
        go(ode, 2.0);
        assert_near(stepper_look(ode)->y[0], 1.0 - exp(-20.0), 1e-4);
        print_message("damper: %ld steps, dop853 %ld\n", stepper_look(ode)->steps, explicit_steps);
        assert_true(20 * stepper_look(ode)->steps < explicit_steps);
        stepper_free(ode);
    }
}

/* ---- Events and jumps ------------------------------------------------------------------------ */

static zw_status at_zero(void *user, double t, const double *y, double *g, zw_error *error)
{
    (void)user, (void)t, (void)error;
    g[0] = y[0];
    return ZW_OK;
}

/* y follows cos t: events at odd multiples of pi/2; at each, y jumps by 1/2 and comes back. */
static void events_with_jumps(void **state)
{
    (void)state;
    double stiffness = 1e5, pi = acos(-1.0);
    for (int k = 0; k < METHODS; k++) {
        double y = 1.0;
        int count = 0, seen = 0, falling = -1;
        zw_error error = {0};
        step_ode_options options = {.method = methods[k].method,
                                    .n = 1,
                                    .field = follow,
                                    .user = &stiffness,
                                    .tolerance = 1e-9};
        step_event_options event = {.count = 1, .n = 1, .direction = &falling, .function = at_zero};
        if (!step_method_present(options.method)) {
            continue;
        }
        stepper *ode = begin(&options, 0.0, &y);
        step_events *events = step_events_create(&event, &error);
        const stepper_view *view = stepper_look(ode);
        assert_fine(step_events_arm(events, ode, STEP_EVENTS_JUMPED, &error));
        while (view->t < 20.0) {
            assert_fine(stepper_advance(ode, 20.0, &error));
            assert_fine(step_events_scan(events, ode, &count, &error));
            if (count > 0) {
                assert_near(view->t, pi / 2.0 + 2.0 * pi * seen, 1e-6);
                double up = view->y[0] - 0.5;
                assert_fine(stepper_restart(ode, view->t, &up, &error));
                assert_fine(step_events_arm(events, ode, STEP_EVENTS_JUMPED, &error));
                seen++;
            }
        }
        assert_int_equal(seen, 3);
        assert_near(view->y[0], cos(20.0), 1e-6);
        step_events_free(events);
        stepper_free(ode);
    }
}

static void missing_sundials_says_so(void **state)
{
    (void)state;
    zw_error error = {0};
    double stiffness = 1.0;
    step_ode_options options = {.method = STEP_BDF, .n = 1, .field = follow, .user = &stiffness};
    stepper *ode = step_ode_create(&options, &error);
    if (step_method_present(STEP_BDF)) {
        assert_non_null(ode);
        print_message("built with SUNDIALS\n");
    } else {
        assert_null(ode);
        assert_int_equal(error.status, ZW_BAD_INPUT);
        assert_non_null(strstr(error.text, "built without SUNDIALS"));
    }
    stepper_free(ode);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_of_radau),
        cmocka_unit_test(moving_equilibria),
        cmocka_unit_test(robertson_kinetics),
        cmocka_unit_test(steps_are_long_where_nothing_happens),
        cmocka_unit_test(events_with_jumps),
        cmocka_unit_test(missing_sundials_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

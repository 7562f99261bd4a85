/* What the tests of the integrators share: runs to a time, and observed orders. */
#ifndef ZWANG_TEST_STEP_INTEGRATE_H
#define ZWANG_TEST_STEP_INTEGRATE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scene/bounds.h"
#include "step/ode/ode.h"

#include <math.h>

#define assert_near(x, wanted, tolerance)                                                          \
    do {                                                                                           \
        double value_ = (x), wanted_ = (wanted);                                                   \
        if (!(fabs(value_ - wanted_) <= (tolerance))) {                                            \
            fail_msg("%s = %.17g, wanted %.17g +- %.1e", #x, value_, wanted_,                      \
                     (double)(tolerance));                                                         \
        }                                                                                          \
    } while (0)

#define assert_fine(call)                                                                          \
    do {                                                                                           \
        zw_status status_ = (call);                                                                \
        if (status_ != ZW_OK) {                                                                    \
            fail_msg("%s: %s (%s)", #call, zw_status_text(status_), error.text);                   \
        }                                                                                          \
    } while (0)

/* An integrator of these options that has been started; the caller frees it. */
static inline stepper *begin(const step_ode_options *options, double t, const double *y)
{
    zw_error error = {0};
    stepper *ode = step_ode_create(options, &error);
    if (ode == NULL) {
        fail_msg("create: %s", error.text);
    }
    assert_fine(stepper_start(ode, t, y, &error));
    return ode;
}

static inline void go(stepper *ode, double end)
{
    zw_error error = {0};
    while (stepper_look(ode)->t != end) {
        assert_fine(stepper_advance(ode, end, &error));
    }
}

static inline double distance(int n, const double *x, const double *y)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) {
        most = fabs(x[i] - y[i]) <= most ? most : fabs(x[i] - y[i]);
    }
    return most;
}

/* The error at `end` of a run with n states from y against `wanted`. */
static inline double run_error(const step_ode_options *options, const double *y, double end,
                               const double *wanted)
{
    stepper *ode = begin(options, 0.0, y);
    go(ode, end);
    double error = distance(options->n, stepper_look(ode)->y, wanted);
    stepper_free(ode);
    return error;
}

/* The slope of log(error) against log(h): the observed order. */
static inline double observed_order(int count, const double *h, const double *error)
{
    double x = 0.0, y = 0.0, xx = 0.0, xy = 0.0;
    for (int i = 0; i < count; i++) {
        double a = log(h[i]), b = log(error[i]);
        x += a, y += b, xx += a * a, xy += a * b;
    }
    return (count * xy - x * y) / (count * xx - x * x);
}

#endif

/* Smooth pulses: forces that begin and end between the evaluation points of a method. Their effect
 * has closed forms. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "step/events/pulse.h"
#include "system/world.h"

/* A formula of u with its middle at 5, `width` wide, and its integral over u/width. */
typedef struct shape {
    const char *formula;
    double integral;
} shape;

static const shape SHAPES[] = {
    {"exp(-((%s - 5)/w)^2)", 1.7724538509055159},             /* sqrt(pi) */
    {"(1 - tanh((%s - 5)/w)^2)", 2},                          /* */
    {"(tanh((%1$s - 5)/w + 1) - tanh((%1$s - 5)/w - 1))", 4}, /* */
    {"w^8/((%s - 5)^8 + w^8)", 2.0523443059540623},           /* pi/4/sin(pi/8) */
    {"(1 + ((%s - 5)/w)^2)^(-4)", 0.98174770424681},          /* 5 pi/16 */
    {"exp(-abs((%s - 5)/w))", 2},                             /* with a kink in its middle */
};

static zw_run_summary run_to(world *w, zw_method method, double step, double tolerance)
{
    zw_run_summary summary;
    const zw_run_options options = {
        .time = 10, .every = 20, .method = method, .step = step, .tolerance = tolerance};
    if (zw_run(w->system, w->state, w->work, &options, &summary, &w->error) != ZW_OK) {
        fail_msg("%s", w->error.text);
    }
    return summary;
}

/* A push of 1 N s, 1e-1 to 1e-6 s long, on 1 kg at rest. */
static void a_push_in_time(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < sizeof SHAPES / sizeof *SHAPES; k++) {
        for (int digits = 1; digits <= 6; digits++) {
            char formula[200], text[400];
            snprintf(formula, sizeof formula, SHAPES[k].formula, "t");
            snprintf(text, sizeof text,
                     "param w = 1e-%d, m = %s\ncoord x\nmass m at x\nforce x: m*%s/(%.17g*w)\n",
                     digits, digits % 3 ? "1" : "1e-8", formula, SHAPES[k].integral);
            world w = world_of(text);
            zw_run_summary s =
                run_to(&w, digits % 2 ? ZW_METHOD_DOP853 : ZW_METHOD_STIFF, 0, 1e-10);
            double v = world_field(&w, ZW_FIELD_V)[0];
            if (!(fabs(v - 1) < 1e-6) || s.unproved > 0 || s.proved != s.steps) {
                fail_msg("%sx' = %.12g, %ld of %ld steps proved", text, v, s.proved, s.steps);
            }
            world_end(&w);
        }
    }
}

/* Wherever it is: also at the middle of a step, where DOP853 and Radau's method do not look. */
static void a_push_at_any_time(void **unused)
{
    (void)unused;
    for (int k = 0; k < 100; k++) {
        char text[200];
        snprintf(text, sizeof text,
                 "coord x\nmass 1 at x\nforce x: 1e4*exp(-((t - %.17g)/1e-4)^2)\n",
                 0.5 + (k % 2 ? 0.0873 * k : 0.03125 * k));
        world w = world_of(text);
        zw_run_summary s =
            run_to(&w, k % 3 ? ZW_METHOD_DOP853 : ZW_METHOD_STIFF, k % 5 ? 0 : 1, 1e-10);
        double v = world_field(&w, ZW_FIELD_V)[0];
        if (!(fabs(v - SHAPES[0].integral) < 1e-6) || s.unproved > 0) {
            fail_msg("%sx' = %.12g", text, v);
        }
        world_end(&w);
    }
}

/* A bump on the way, which takes time but no speed: |x - v t| grows by the integral of
 * (1 - v/sqrt(v^2 - 2 V)), to the first order V/v^2 times the width. */
static void a_bump_on_the_way(void **unused)
{
    (void)unused;
    const double V = 1e-3;
    for (size_t k = 0; k + 1 < sizeof SHAPES / sizeof *SHAPES; k++) {
        for (int digits = 1; digits <= 5; digits++) {
            char formula[200], text[400];
            double width = pow(10, -digits);
            snprintf(formula, sizeof formula, SHAPES[k].formula, "x");
            snprintf(text, sizeof text,
                     "param w = 1e-%d\ncoord x\nspeed x' = 1\nmass 1 at x\npotential %g*%s\n",
                     digits, V, formula);
            world w = world_of(text);
            zw_run_summary s = run_to(&w, ZW_METHOD_DOP853, 0, 1e-12);
            double late = 10 - world_field(&w, ZW_FIELD_Q)[0],
                   wanted = V * SHAPES[k].integral * width;
            if (!(fabs(late - wanted) < 4 * V * wanted + 1e-9) || s.unproved > 0) {
                fail_msg("%slate by %g, expected %g", text, late, wanted);
            }
            world_end(&w);
        }
    }
}

/* A hill of two coordinates, 1e-2 to 1e-4 wide, that is met beside its top turns the way. Against
 * the equations in units of the width, by small steps of the fourth order. */
static void a_hill_in_the_plane(void **unused)
{
    (void)unused;
    for (int digits = 2; digits <= 4; digits++) {
        char text[400];
        snprintf(text, sizeof text,
                 "param w = 1e-%d\ncoord x, y\nspeed x' = 1\nmass 1 at (x, y)\n"
                 "potential 0.1*exp(-((x - 5)^2 + (y + 0.4*w)^2)/w^2)\n",
                 digits);
        world w = world_of(text);
        zw_run_summary s = run_to(&w, ZW_METHOD_DOP853, 0, 1e-10);
        double q[4] = {-8, 0.4, 1, 0};
        for (int k = 0; k < 32000; k++) {
            const double part[4] = {0, 0.5, 0.5, 1}, h = 5e-4;
            double f[4][4], at[4];
            for (int i = 0; i < 4; i++) {
                for (int j = 0; j < 4; j++) {
                    at[j] = q[j] + (i ? h * part[i] * f[i - 1][j] : 0);
                }
                double push = 0.2 * exp(-at[0] * at[0] - at[1] * at[1]);
                f[i][0] = at[2];
                f[i][1] = at[3];
                f[i][2] = push * at[0];
                f[i][3] = push * at[1];
            }
            for (int j = 0; j < 4; j++) {
                q[j] += h / 6 * (f[0][j] + 2 * f[1][j] + 2 * f[2][j] + f[3][j]);
            }
        }
        assert_int_equal(s.unproved, 0);
        for (int i = 0; i < 2; i++) {
            double v = world_field(&w, ZW_FIELD_V)[i];
            if (!(fabs(v - q[2 + i]) < 1e-7)) {
                fail_msg("width 1e-%d: speed %d is %.12g, expected %.12g", digits, i, v, q[2 + i]);
            }
        }
        world_end(&w);
    }
}

/* Steps of a given length are not changed, but they are not reported as proved. */
static void given_steps_are_reported(void **unused)
{
    (void)unused;
    world w = world_of("coord x\nmass 1 at x\nforce x: exp(-((t - 5.04)/1e-3)^2)\n");
    zw_run_summary s = run_to(&w, ZW_METHOD_RK4, 0.1, 0);
    assert_int_equal(s.steps, 100);
    assert_int_equal(s.unproved, 1);
    world_end(&w);
}

/* Smooth forces cost no additional step: these have exponentials, quotients and powers of one
 * variable. */
static void what_is_smooth_stays_as_it_was(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        long steps;
    } row[] = {
        {"coord x = 1\nmass 1 at x\nforce x: -x*exp(-t/5)\n", 60},
        {"coord r = 1, p\nspeed p' = 1.2\nkinetic (r'^2 + r^2*p'^2)/2\npotential -1/r\n", 90},
        {"coord x = 1\nmass 1 at x\nforce x: -tanh(2*x)\n", 90},
        /* parts of these are constant or zero because their terms cancel */
        {"coord u, y\nspeed u' = 2\nmass 1 at (exp(u), y)\ngravity (0, -9.81)\nconstraint f: y = "
         "0\n"
         "friction f: 0.3 at (exp(u), y)\n",
         40},
        {"coord x = 1, y\nspeed y' = 0.2\nmass 1 at (x, y)\nlet a = 0.2*t\n"
         "constraint w: y*cos(a) = x*sin(a)\n"
         "friction w: 0.3 at (x*cos(a) + y*sin(a), y*cos(a) - x*sin(a))\n",
         60},
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        world w = world_of(row[k].text);
        zw_run_summary s = run_to(&w, ZW_METHOD_DOP853, 0, 1e-10);
        assert_true(pulses_exist(w.system) > 0);
        assert_int_equal(s.unproved, 0);
        if (s.steps + s.rejected > row[k].steps) {
            fail_msg("%s%ld steps, %ld rejected", row[k].text, s.steps, s.rejected);
        }
        world_end(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_push_in_time),
        cmocka_unit_test(a_push_at_any_time),
        cmocka_unit_test(a_bump_on_the_way),
        cmocka_unit_test(a_hill_in_the_plane),
        cmocka_unit_test(given_steps_are_reported),
        cmocka_unit_test(what_is_smooth_stays_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Kinks of formulas: steps end there, and the field of a step is that of one branch. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "system/system.h"
#include "system/world.h"

static void near(const char *what, double is, double wanted, double bound)
{
    if (!(fabs(is - wanted) <= bound)) {
        fail_msg("%s = %.17g, expected %.17g", what, is, wanted);
    }
}

static zw_run_summary run_by(world *w, double time, zw_method method, double step, double tolerance)
{
    zw_run_summary summary;
    const zw_run_options options = {
        .time = time, .every = 2 * time, .method = method, .step = step, .tolerance = tolerance};
    if (zw_run(w->system, w->state, w->work, &options, &summary, &w->error) != ZW_OK) {
        fail_msg("%s", w->error.text);
    }
    return summary;
}

/* A pulse of 10 N for 0.1 s on 2 kg: at any tolerance, and by every method that steps a field. */
static void a_pulse_is_not_stepped_over(void **unused)
{
    (void)unused;
    static const struct {
        zw_method method;
        double step, tolerance;
    } row[] = {{ZW_METHOD_DOP853, 0, 1e-10}, {ZW_METHOD_DOP853, 0, 1e-4},
               {ZW_METHOD_DOP853, 0, 1e-13}, {ZW_METHOD_STIFF, 0, 1e-8},
               {ZW_METHOD_RK4, 0.3, 0},      {ZW_METHOD_VARIATIONAL, 0.3, 0}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        world w = world_of("coord x = 0\nmass 2 at x\nforce x: if(t > 4 and t < 4.1, 10, 0)\n");
        zw_run_summary s = run_by(&w, 6, row[i].method, row[i].step, row[i].tolerance);
        near("x'", world_field(&w, ZW_FIELD_V)[0], 0.5, 1e-12);
        near("x", world_field(&w, ZW_FIELD_Q)[0], 0.5 * 1.95, 1e-12);
        assert_int_equal(s.unproved, 0);
        assert_int_equal(s.proved, s.steps);
        world_end(&w);
    }
}

/* A few units in the last place of time wide. */
static void the_shortest_pulse(void **unused)
{
    (void)unused;
    char text[200];
    double from = 4, to = 4 + 16 * 8.881784197001252e-16; /* 16 units in the last place of 4 */
    snprintf(text, sizeof text,
             "coord x = 0\nmass 1 at x\nforce x: if(t > %.17g, if(t < %.17g, 1e15, 0), 0)\n", from,
             to);
    world w = world_of(text);
    run_by(&w, 5, ZW_METHOD_DOP853, 0, 1e-10);
    near("x'", world_field(&w, ZW_FIELD_V)[0], 1e15 * (to - from), 0.3 * 1e15 * (to - from));
    world_end(&w);
}

/* |x| as a potential: parabolas, period 4 sqrt(2 A / F), and the energy to round-off. */
static void a_v_shaped_valley(void **unused)
{
    (void)unused;
    world w = world_of("coord x = 1\nmass 1 at x\npotential abs(x)\n");
    zw_run_summary s = run_by(&w, 40 * sqrt(2), ZW_METHOD_DOP853, 0, 1e-10);
    near("x", world_field(&w, ZW_FIELD_Q)[0], 1, 1e-12);
    near("drift", s.energy_drift, 0, 1e-13);
    assert_true(s.steps < 120);
    world_end(&w);
}

/* A staircase of 1000 steps: floor, and min and max of it. */
static void a_staircase(void **unused)
{
    (void)unused;
    world w = world_of("coord x = 0, y = 0\nmass 1 at x, 1 at y\nforce x: floor(100*t)\n"
                       "force y: min(max(floor(100*t), 250), 750)\n");
    run_by(&w, 10, ZW_METHOD_DOP853, 0, 1e-10);
    near("x'", world_field(&w, ZW_FIELD_V)[0], 0.01 * 999 * 1000 / 2, 1e-8);
    /* 250 up to step 250, then the step, then 750 */
    double sum = 250.0 * 250 + (250 + 749) * 500 / 2.0 + 750.0 * 250;
    near("y'", world_field(&w, ZW_FIELD_V)[1], 0.01 * sum, 1e-8);
    world_end(&w);
}

/* What stays at a kink, or starts there at rest, and a kink that never matters. */
/* A condition that asks for a floor jumps with it: false below 1/4, then 1 > 1.5 sin t as long as
 * it is asked, and 2 is more than that for ever. */
static void a_condition_over_a_staircase(void **unused)
{
    (void)unused;
    world w = world_of("coord x = 0\nmass 1 at x\n"
                       "force x: if(floor(4*t) > 1.5*sin(t), 0.1, -0.2)\n");
    run_by(&w, 3, ZW_METHOD_DOP853, 0, 1e-10);
    near("x'", world_field(&w, ZW_FIELD_V)[0], -0.2 * 0.25 + 0.1 * 2.75, 1e-12);
    near("x", world_field(&w, ZW_FIELD_Q)[0], -0.1 / 16 - 0.05 * 2.75 + 0.05 * 2.75 * 2.75, 1e-12);
    world_end(&w);
}

static void at_the_kink(void **unused)
{
    (void)unused;
    world w = world_of("coord x = 0, y = 0, z = 0\nmass 1 at x, 1 at y, 1 at z\npotential abs(x)\n"
                       "force y: 1 + 2*if(y > 0, 1, 0)\nforce z: 1 + if(z > 1000, z, 0)\n");
    run_by(&w, 2, ZW_METHOD_DOP853, 0, 1e-10);
    near("x", world_field(&w, ZW_FIELD_Q)[0], 0, 0);
    near("y", world_field(&w, ZW_FIELD_Q)[1], 6, 1e-11);
    near("z", world_field(&w, ZW_FIELD_Q)[2], 2, 1e-12);
    world_end(&w);
}

/* Dry friction as a force: no branch holds at rest. The line is named, and what to write. */
static void chattering_is_refused_by_name(void **unused)
{
    (void)unused;
    world w = world_of("coord x = 0\nspeed x' = 1\nmass 1 at x\nforce x: -3*sign(x')\n");
    zw_run_summary summary;
    const zw_run_options options = {.time = 2};
    assert_int_equal(zw_run(w.system, w.state, w.work, &options, &summary, &w.error), ZW_NO_STEP);
    assert_int_equal(w.error.line, 4);
    assert_non_null(strstr(w.error.text, "friction"));
    near("end", summary.end, 1.0 / 3, 1e-12);
    world_end(&w);
    w = world_of(
        "coord x = 0\nspeed x' = 1\nmass 1 at x\nforce x: -3*sign(x') + 10\n"); /* it goes on */
    run_by(&w, 1, ZW_METHOD_DOP853, 0, 1e-10);
    near("x'", world_field(&w, ZW_FIELD_V)[0], 8, 1e-12);
    world_end(&w);
}

/* A run leaves no side behind in its work: the next question is answered by the formula. */
static void sides_end_with_the_run(void **unused)
{
    (void)unused;
    world w = world_of("coord x = 1\nmass 1 at x\nforce x: if(x > 0, -1, 5)\n");
    run_by(&w, 1, ZW_METHOD_DOP853, 0, 1e-10);
    state_q(w.state)[0] = -1;
    world_forward(&w);
    near("a", world_field(&w, ZW_FIELD_A)[0], 5, 1e-15);
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pulse_is_not_stepped_over),
        cmocka_unit_test(the_shortest_pulse),
        cmocka_unit_test(a_v_shaped_valley),
        cmocka_unit_test(a_staircase),
        cmocka_unit_test(a_condition_over_a_staircase),
        cmocka_unit_test(at_the_kink),
        cmocka_unit_test(chattering_is_refused_by_name),
        cmocka_unit_test(sides_end_with_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

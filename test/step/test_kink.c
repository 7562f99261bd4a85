/* Kinks of formulas: steps end there, and the field of a step is that of one branch. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "scene/campaign.h"
#include "scene/dice.h"
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

/* A condition over floor(4 t) jumps with it: false below t = 1/4, then 1 > 1.5 sin t up to t = 1/2,
 * and later the floor is always greater. */
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

/* A body that stays at a kink or starts there at rest, and a kink that is never reached. */
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

/* Dry friction written as a force: no branch is consistent at rest. The message names the line and
 * what to write instead. */
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

/* Air drag bends where the speed is zero and does not jump there: what friction holds has speeds of
 * round-off, of either sign, and rests. As a quotient, x'/abs(x'), the same function jumps. */
static void a_bend_is_no_jump(void **unused)
{
    (void)unused;
    static const char bead[] =
        "param m = 2.2927, c = 0.305, mu = 0.294, a = 0.229\n"
        "coord x = -0.0317, y = -0.257\nspeed x' = 0.3861, y' = -0.8548\nmass m at (x, y)\n"
        "gravity (0, -9.81)\nconstraint wire: y = -0.5 + c*x^2\nfriction wire: mu\n"
        "force x: -a*x'*abs(x')\n";
    for (double tolerance = 1e-8; tolerance > 1e-14; tolerance /= 10) {
        world w = world_of(bead);
        run_by(&w, 1, ZW_METHOD_DOP853, 0, tolerance);
        near("x", world_field(&w, ZW_FIELD_Q)[0], -0.0075755434326, 1e-12 + tolerance);
        near("x'", world_field(&w, ZW_FIELD_V)[0], 0, 1e-15);
        world_end(&w);
    }
    static const char *const refused[] = {"x'/abs(x')", "x'*abs(x')^(-1)"};
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
        char text[200];
        snprintf(text, sizeof text, "coord x = 0\nspeed x' = 1\nmass 1 at x\nforce x: -3*%s\n",
                 refused[k]);
        world w = world_of(text);
        zw_run_summary summary;
        const zw_run_options options = {.time = 2};
        assert_int_not_equal(zw_run(w.system, w.state, w.work, &options, &summary, &w.error),
                             ZW_OK);
        near("end", summary.end, 1.0 / 3, 1e-9);
        world_end(&w);
    }
}

/* A run leaves no fixed branch behind in its work: later evaluations use the formula itself. */
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

/* Formulas whose kinks depend on the sides of others: momenta in closed form. */
static void kinks_in_kinks(void **unused)
{
    (void)unused;
    const double PI = 3.14159265358979323846;
    const struct {
        const char *force;
        double time, momentum;
    } row[] = {{"floor(floor(t)/2)", 6, 6},
               {"floor(floor(3*t)/2)", 2, 2},
               {"floor(if(t > 1, 1, 0) + if(t > 2, 1, 0)/2 + if(t > 3, 0.5, 0))", 6, 8},
               {"floor(t) - 2*floor(floor(t)/2)", 7, 3},
               {"floor(2*sin(t))", 3, 2 * PI / 3},
               {"max(t/4, sign(sin(t)))", 3, 3},
               {"sign(min(sign(sin(t)), floor(0.5)))", 4, PI - 4},
               {"if(0 < max(0, sin(4*t)), 1, 0)", 3, PI / 2},
               {"if(0 <= max(0, t*sin(3*t)), 1, 5)", 3, 3},
               {"if(floor(0.3*t) <= max(0, 1 - t), 1, 5)", 3, 3},
               {"if(if(sin(t) >= t, t, 1.5) > 1, 2, 7)", 3, 6},
               {"max(t, min(t, sin(2*t)))*floor(t)", 3, 6.5}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[200];
        snprintf(text, sizeof text, "coord x = 0\nmass 1 at x\nforce x: %s\n", row[i].force);
        world w = world_of(text);
        run_by(&w, row[i].time, ZW_METHOD_DOP853, 0, 1e-10);
        near(row[i].force, world_field(&w, ZW_FIELD_V)[0], row[i].momentum, 1e-9);
        world_end(&w);
    }
    for (int down = 0; down < 2; down++) { /* both are the integer below x */
        world w = world_of(down ? "coord x = 1\nspeed x' = -1\nmass 1 at x\n"
                                  "force x: floor(floor(2*x)/2) - floor(x)\n"
                                : "coord x = 1\nspeed x' = 1\nmass 1 at x\n"
                                  "force x: floor(floor(2*x)/2) - floor(x)\n");
        run_by(&w, 3, ZW_METHOD_DOP853, 0, 1e-10);
        near("x'", world_field(&w, ZW_FIELD_V)[0], down ? -1 : 1, 1e-12);
        world_end(&w);
    }
}

/* A random formula of time. */
static void write_formula(dice *d, int depth, char *to, size_t capacity)
{
    static const char *const leaf[] = {"t", "t", "t", "0.5", "1", "2", "sin(2*t)", "sin(3*t)"};
    static const char *const form[] = {
        "floor(%s)",           "abs(%s)",   "sign(%s)",  "floor((%s)/2)", "min(%s, %s)",
        "max(%s, %s)",         "(%s + %s)", "(%s - %s)", "(%s * %s)",     "if(%s < %s, 1, t)",
        "if(%s >= %s, 2, 0.5)"};
    char a[1500] = "", b[1500] = "";
    if (depth == 0) {
        snprintf(to, capacity, "%s", leaf[dice_int(d, 0, 7)]);
        return;
    }
    int which = dice_int(d, 0, 10);
    write_formula(d, depth - 1, a, sizeof a);
    if (which > 3) {
        write_formula(d, depth - 1, b, sizeof b);
    }
    snprintf(to, capacity, form[which], a, b);
}

/* Their momentum compared with a sum over the formula at 20000 instants. */
static void formulas_by_lot(void **unused)
{
    (void)unused;
    enum { SAMPLES = 20000 };
    const double time = 3.1;
    for (int seed = 0; seed < campaign(60); seed++) {
        dice d = dice_of((uint64_t)seed);
        char formula[3000], text[3200];
        write_formula(&d, dice_int(&d, 2, 4), formula, sizeof formula);
        snprintf(text, sizeof text, "coord x = 0\nmass 1 at x\nforce x: %s\n", formula);
        world w = world_of(text);
        double sum = 0, most = 1;
        for (int i = 0; i < SAMPLES; i++) {
            w.state->t = (i + 0.5) * time / SAMPLES;
            world_forward(&w);
            double a = world_field(&w, ZW_FIELD_A)[0];
            sum += a * time / SAMPLES;
            most = fmax(most, fabs(a));
        }
        w.state->t = 0;
        run_by(&w, time, ZW_METHOD_DOP853, 0, 1e-10);
        near(formula, world_field(&w, ZW_FIELD_V)[0], sum, 2e-3 * most);
        world_end(&w);
    }
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
        cmocka_unit_test(kinks_in_kinks),
        cmocka_unit_test(formulas_by_lot),
        cmocka_unit_test(chattering_is_refused_by_name),
        cmocka_unit_test(a_bend_is_no_jump),
        cmocka_unit_test(sides_end_with_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

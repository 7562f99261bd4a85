/* Leaps over singular instants in systems that are large enough for sparse algebra: many
 * parallelograms, compared with the equations of their angles, which have no singularity. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "system/world.h"

/* Coupled wheels: cranks in a line, with a rod from each to the next. In the flat position, every
 * loop is singular at the same instant. */
static const char wheels[] =
    "param n = 45\n"
    "coord x[i] = i, y[i] = 1 for i in 1..n\n"
    "speed x[i]' = 6, y[i]' = 0 for i in 1..n\n"
    "mass 1 at (x[i], y[i]) for i in 1..n\n"
    "gravity (0, -9.81)\n"
    "constraint crank[i]: (x[i] - i)^2 + y[i]^2 = 1 for i in 1..n\n"
    "constraint rod[i]: (x[i + 1] - x[i])^2 + (y[i + 1] - y[i])^2 = 1 for i in 1..n - 1\n";

static const char wheel[] = "coord a = 0\nspeed a' = 6\nkinetic a'^2/2\npotential 9.81*cos(a)\n";

/* Separate parallelograms of three bars each, with different speeds. */
static const char loops[] =
    "param n = 21, spread = 0\n"
    "coord x[i] = 0, y[i] = 1, u[i] = 1, w[i] = 1 for i in 1..n\n"
    "speed x[i]' = 6 + spread*i, y[i]' = 0, u[i]' = 6 + spread*i, w[i]' = 0 for i in 1..n\n"
    "kinetic sum((x[i]'^2 + y[i]'^2 + u[i]'^2 + w[i]'^2)/3 + (x[i]'*u[i]' + y[i]'*w[i]')/6 "
    "for i in 1..n)\n"
    "potential sum(9.81*(y[i] + w[i]) for i in 1..n)\n"
    "constraint left[i]: x[i]^2 + y[i]^2 = 1 for i in 1..n\n"
    "constraint right[i]: (u[i] - 1)^2 + w[i]^2 = 1 for i in 1..n\n"
    "constraint coupler[i]: (u[i] - x[i])^2 + (w[i] - y[i])^2 = 1 for i in 1..n\n";

static const char angles[] = "param n = 21, spread = 0\n"
                             "coord a[i] = 0 for i in 1..n\n"
                             "speed a[i]' = 6 + spread*i for i in 1..n\n"
                             "kinetic sum(5*a[i]'^2/6 for i in 1..n)\n"
                             "potential sum(2*9.81*cos(a[i]) for i in 1..n)\n";

static world world_with(const char *text, double spread)
{
    world w;
    const zw_setting setting = {.name = "spread", .value = spread};
    if (!world_try(&w, text, &setting, 1, NULL)) {
        fail_msg("%s", w.error.text);
    }
    return w;
}

static void test_coupled_wheels(void **state)
{
    (void)state;
    world one = world_of(wheel);
    world_run(&one, 1, 1e-14);
    double a = world_field(&one, ZW_FIELD_Q)[0], rate = world_field(&one, ZW_FIELD_V)[0];
    for (double tolerance = 1e-10; tolerance > 5e-14; tolerance /= 1000) {
        world w = world_of(wheels);
        zw_run_summary summary = world_run(&w, 1, tolerance);
        const double *q = world_field(&w, ZW_FIELD_Q), *v = world_field(&w, ZW_FIELD_V);
        double worst = 0;
        int n = zw_count(w.system, ZW_KIND_COORD) / 2;
        for (int i = 0; i < n; i++) {
            double x = q[2 * i] - (i + 1), y = q[2 * i + 1];
            worst = fmax(worst, fmax(fabs(x - sin(a)), fabs(y - cos(a))));
            worst = fmax(worst, fabs(v[2 * i] - rate * cos(a)));
            worst = fmax(worst, fabs(v[2 * i + 1] + rate * sin(a)));
        }
        print_message("    tolerance %.0e: error %.1e, drift %.1e, %ld steps\n", tolerance, worst,
                      summary.energy_drift, summary.steps);
        assert_true(worst < 1000 * tolerance + 1e-10);
        assert_true(summary.energy_drift < 10 * tolerance + 1e-12);
        world_end(&w);
    }
    world_end(&one);
}

static double error_of(world *w, world *one)
{
    const double *q = world_field(w, ZW_FIELD_Q), *v = world_field(w, ZW_FIELD_V);
    const double *a = world_field(one, ZW_FIELD_Q), *rate = world_field(one, ZW_FIELD_V);
    double worst = 0;
    for (int i = 0; i < zw_count(one->system, ZW_KIND_COORD); i++) {
        double x = sin(a[i]), y = cos(a[i]);
        worst = fmax(worst, fmax(fabs(q[4 * i] - x), fabs(q[4 * i + 1] - y)));
        worst = fmax(worst, fmax(fabs(q[4 * i + 2] - 1 - x), fabs(q[4 * i + 3] - y)));
        worst = fmax(worst, fabs(v[4 * i] - rate[i] * y));
        worst = fmax(worst, fabs(v[4 * i + 3] + rate[i] * x));
    }
    return worst;
}

static void test_many_loops(void **state)
{
    (void)state;
    static const struct {
        double spread, tolerance, time;
    } list[] = {{0, 1e-13, 1}, {0.02, 1e-10, 0.7}};
    for (int k = 0; k < 2; k++) {
        world one = world_with(angles, list[k].spread), w = world_with(loops, list[k].spread);
        world_run(&one, list[k].time, 1e-14);
        zw_run_summary summary = world_run(&w, list[k].time, list[k].tolerance);
        double worst = error_of(&w, &one);
        print_message("    spread %g, tolerance %.0e: error %.1e, drift %.1e, %ld steps\n",
                      list[k].spread, list[k].tolerance, worst, summary.energy_drift,
                      summary.steps);
        assert_true(worst < 1000 * list[k].tolerance + 1e-10);
        assert_true(summary.energy_drift < 1e-9);
        world_end(&one);
        world_end(&w);
    }
}

/* Many loops that become singular in quick succession, at a tolerance near round-off: if the run
 * fails there, the message gives the reason and names the loop. */
static void test_singular_is_said(void **state)
{
    (void)state;
    world w = world_with(loops, 0.02);
    zw_run_summary summary;
    const zw_run_options options = {.time = 2, .tolerance = 1e-14};
    zw_status status = zw_run(w.system, w.state, w.work, &options, &summary, &w.error);
    if (status == ZW_OK) {
        assert_true(summary.energy_drift < 1e-9);
    } else if (!strstr(w.error.text, "singular position") || !strstr(w.error.text, "coupler[")) {
        fail_msg("%s", w.error.text);
    }
    print_message("    %s\n", status == ZW_OK ? "passed" : w.error.text);
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_coupled_wheels),
                                       cmocka_unit_test(test_many_loops),
                                       cmocka_unit_test(test_singular_is_said)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

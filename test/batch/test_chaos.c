/* Lyapunov exponents, compared with those of equations written by hand.
 *
 * The reference integrates motion and tangent together by RK4 in complex numbers: the imaginary
 * part, 1e-30 of a direction, obeys the linearised equations to round-off. Over long times the
 * exponents of chaotic motions agree only statistically, so the growth is compared over times in
 * which both programs follow the same motion, from the same initial direction.
 *
 * At equilibria exponents are known in closed form: linearised about the upright position, the
 * double pendulum has rates r with r^4 - 4 r^2 g/l + 2 (g/l)^2 = 0, the largest sqrt((2 + sqrt 2)
 * g/l); the potential of Henon and Heiles has a saddle at (0, 1), where V'' = diag(3, -1): r = 1.
 */
#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/hash.h"
#include "scene/campaign.h"
#include "zwang/sweep.h"

typedef double complex number;
typedef void field(const number *y, number *rate);

static const double tiny = 1e-30;
static zw_run_options how = {.tolerance = 1e-13}; /* other methods than dop853: by differences */

/* Henon and Heiles (1964): V = (x^2 + y^2)/2 + x^2 y - y^3/3 */
static void stars(const number *y, number *rate)
{
    rate[0] = y[2];
    rate[1] = y[3];
    rate[2] = -y[0] - 2 * y[0] * y[1];
    rate[3] = -y[1] - y[0] * y[0] + y[1] * y[1];
}

/* Two masses of 1 on rods of 1, angles from straight down, g = 9.81: Newton's equations solved for
 * the accelerations. */
static void pendulums(const number *y, number *rate)
{
    const double g = 9.81;
    number s = csin(y[0] - y[1]), c = ccos(y[0] - y[1]);
    number p = -y[3] * y[3] * s - 2 * g * csin(y[0]); /* of 2 a1 + c a2 */
    number q = y[2] * y[2] * s - g * csin(y[1]);      /* of c a1 + a2 */
    number det = 2 - c * c;
    rate[0] = y[2];
    rate[1] = y[3];
    rate[2] = (p - c * q) / det;
    rate[3] = (2 * q - c * p) / det;
}

static void step(field *f, number *y, double h)
{
    number k[4][4], at[4];
    const double part[] = {0, 0.5, 0.5, 1};
    for (int s = 0; s < 4; s++) {
        for (int i = 0; i < 4; i++) {
            at[i] = y[i] + (s > 0 ? part[s] * h * k[s - 1][i] : 0);
        }
        f(at, k[s]);
    }
    for (int i = 0; i < 4; i++) {
        y[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
}

/* The mean rate at which the direction grows from `after` to `end`. */
static double growth(field *f, const double *start, double after, double end, double h)
{
    number y[4];
    double sum = 0;
    for (int i = 0; i < 4; i++) { /* the direction of sweep/lyapunov.c */
        uint64_t hash = base_hash_word(base_hash_word(BASE_HASH_START, (uint64_t)i), 17);
        y[i] = start[i] + I * tiny * ((double)(int64_t)(hash >> 12) * 0x1p-51 - 1);
    }
    long steps = lround(end / h), first = lround(after / h);
    for (long k = 0; k < steps; k++) {
        double size = 0;
        for (int i = 0; i < 4; i++) {
            size += cimag(y[i]) * cimag(y[i]);
        }
        size = sqrt(size) / tiny;
        sum += k > first ? log(size) : 0;
        for (int i = 0; i < 4; i++) {
            y[i] = creal(y[i]) + I * (cimag(y[i]) / size);
        }
        step(f, y, h);
    }
    double size = 0;
    for (int i = 0; i < 4; i++) {
        size += cimag(y[i]) * cimag(y[i]);
    }
    return (sum + log(sqrt(size) / tiny)) / (end - after);
}

/* Of a file with this text, the mean of all runs and its standard error; start: a, b, a', b'. */
static double exponent_of(const char *text, const char *over, double after, double end,
                          double start[4], double *error)
{
    char path[64], when[40];
    zw_error why = {0};
    snprintf(path, sizeof path, "/tmp/zwang_chaos_%ld.zw", (long)getpid());
    snprintf(when, sizeof when, "%.17g", after);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    zw_sweep_options options = {.over = &over,
                                .over_count = 1,
                                .after = when,
                                .keep =
                                    "lyapunov, a at start, b at start, a' at start, b' at start",
                                .run = how,
                                .threads = 2};
    options.run.time = end;
    zw_sweep *sweep = zw_sweep_create(path, &options, &why);
    if (!sweep || zw_sweep_run(sweep, &why) != ZW_OK) {
        print_error("%s\n", why.text);
    }
    assert_non_null(sweep);
    assert_int_equal(zw_sweep_failed(sweep), 0);
    int runs = zw_sweep_count(sweep);
    double sum = 0, square = 0;
    for (int run = 0; run < runs; run++) {
        double x = zw_sweep_value(sweep, run, 1);
        sum += x / runs;
        square += x * x / runs;
    }
    *error = runs > 1 ? sqrt((square - sum * sum) / (runs - 1)) : 0;
    for (int i = 0; i < 4; i++) {
        start[i] = zw_sweep_value(sweep, 0, 2 + i);
    }
    remove(path);
    zw_sweep_free(sweep);
    return sum;
}

static void compare(const char *text, const char *over, field *f, double after, double end,
                    double h, double error)
{
    double start[4], spare, ours = exponent_of(text, over, after, end, start, &spare);
    double expected = growth(f, start, after, end, h);
    print_message("%-9s %.12f, reference %.12f, %.1e off\n", over, ours, expected,
                  fabs(ours - expected));
    assert_true(fabs(ours - expected) < error);
}

static const char *const stars_text = "param E = 0.125, b0 = -0.25\n"
                                      "coord a = 0, b = b0\n"
                                      "speed a' = sqrt(2*E - b0^2 + 2*b0^3/3), b' = 0\n"
                                      "kinetic (a'^2 + b'^2)/2\n"
                                      "potential (a^2 + b^2)/2 + a^2*b - b^3/3\n";
static const char *const pendulums_text = "param up = 2, bent = 0.3\n"
                                          "coord a = up, b = up + bent\n"
                                          "speed a' = 0, b' = 0\n"
                                          "point p = (sin(a), -cos(a))\n"
                                          "point q = p + (sin(b), -cos(b))\n"
                                          "mass 1 at p, 1 at q\n"
                                          "gravity (0, -9.81)\n";

static void test_stars(void **state)
{
    (void)state;
    static const struct {
        const char *over;
        double after, end;
    } each[] = {{"E = 1/8", 10, 150}, {"E = 0.14", 10, 120}, {"E = 1/6", 10, 80}};
    for (int i = 0; i < 3; i++) {
        compare(stars_text, each[i].over, stars, each[i].after, each[i].end, 2e-4, 1e-9);
    }
}

static void test_pendulums(void **state)
{
    (void)state;
    static const char *const over[] = {"up = 2.5", "up = 2.8", "up = 3"};
    for (int i = 0; i < 3; i++) {
        compare(pendulums_text, over[i], pendulums, 1, 4, 1e-4, 1e-10);
    }
}

/* Two motions 1e-7 apart (1e-6 and 1e-9 differ by more). */
static void test_differences(void **state)
{
    (void)state;
    how = (zw_run_options){.method = ZW_METHOD_VARIATIONAL4, .step = 1e-3};
    compare(stars_text, "E = 1/8", stars, 10, 60, 1e-3, 5e-8);
    compare(pendulums_text, "up = 2.8", pendulums, 1, 4, 1e-4, 5e-8);
    how = (zw_run_options){.tolerance = 1e-13};
}

static void test_equilibria(void **state)
{
    (void)state;
    double start[4], spare, upright = sqrt((2 + sqrt(2)) * 9.81);
    char text[400];
    snprintf(text, sizeof text, "%s", pendulums_text);
    memcpy(strstr(text, "bent = 0.3"), "bent = 0.0", 10);
    double ours = exponent_of(text, "up = pi", 4, 5, start, &spare);
    print_message("upright pendulums  %.8f, closed form %.8f\n", ours, upright);
    assert_true(fabs(ours - upright) < 1e-5);
    ours = exponent_of("param one = 1\n"
                       "coord a = 0, b = one\n"
                       "kinetic (a'^2 + b'^2)/2\n"
                       "potential (a^2 + b^2)/2 + a^2*b - b^3/3\n",
                       "one = 1", 20, 30, start, &spare);
    print_message("saddle of the stars %.8f, closed form 1\n", ours);
    assert_true(fabs(ours - 1) < 1e-5);
}

/* At rest, or nearly, steps are long, and over long times lengths leave the range of numbers: the
 * deviation decides steps and intervals then. */
static void test_long(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double after, end, exponent;
    } each[] = {
        {"param k = 1\ncoord a = 0, b = 0\nkinetic (a'^2 + b'^2)/2\n"
         "potential 50*a^2 + k*b^2/2\n",
         10, 300, 0},
        {"param k = 1\ncoord a = 0, b = 0\nkinetic (a'^2 + b'^2)/2\n"
         "potential -50*k*a^2 + b^2\n",
         10, 4000, 10},
        {"param k = 1\ncoord a = 1, b = 1\nkinetic (a'^2 + b'^2)/2\n"
         "potential k*(a^2 + b^2)/2\nforce a: -3*a'\nforce b: -3*b'\n",
         100, 2000, -0.381966011},
        {"param k = 1\ncoord a = 0, b = 0\nkinetic (a'^2 + b'^2)/2\n"
         "potential a^2 + b^2\nforce a: -2*a'*k\nforce b: -2*b'\n",
         10, 40000, -1},
    };
    for (size_t i = 0; i < sizeof each / sizeof *each; i += (size_t)campaign_stride(2)) {
        double start[4], spare;
        how = (zw_run_options){0};
        double ours = exponent_of(each[i].text, "k = 1", each[i].after, each[i].end, start, &spare);
        print_message("%12.9f, closed form %g\n", ours, each[i].exponent);
        assert_true(fabs(ours - each[i].exponent) < 2 / (each[i].end - each[i].after));
    }
    how = (zw_run_options){.tolerance = 1e-13};
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stars),       cmocka_unit_test(test_pendulums),
        cmocka_unit_test(test_differences), cmocka_unit_test(test_equilibria),
        cmocka_unit_test(test_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

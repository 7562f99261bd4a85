/* Lyapunov exponents against published ones, each with its system and its start.
 *
 * Sprott (2003), Chaos and Time-Series Analysis, appendix A, prints four digits of the largest
 * exponent of the systems below, base e. The numbers are taken from a transcription of that
 * appendix whose author has compared it with the print (tests/sprott of QuARC's toolbox for
 * nonlinear analysis, University of Nebraska at Omaha, 24 September 2026); the book itself was not
 * at hand. How long Sprott followed the motions is not known to us; so his last digit may be as
 * uncertain as ours.
 *
 * Datseris prints the exponents of a Duffing oscillator over 10 000 s, from (0.1, 0.25), by two
 * methods, 0.158943 and 0.158849: issue 301 of JuliaDynamics/ChaosTools.jl on GitHub, 25 February
 * 2023. (Its subject is another number, of the map from period to period.)
 *
 * Over a long time the exponent of a chaotic motion is a mean, known to its standard error. Starts
 * that differ by 1e-6 are independent of each other after some hundred seconds, which are left
 * out. The mean over such starts must agree with the print within four standard errors, and these
 * must be small. docs/sweep.md has figures of longer motions.
 *
 *     test_literature [full]       longer motions */
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

#include "scene/campaign.h"
#include "zwang/sweep.h"

static int full;

typedef struct published {
    const char *name, *text; /* `off`: by how much a start differs */
    double exponent;
    double time;  /* of a motion */
    double small; /* a standard error, relative to the exponent */
} published;

static const published each[] = {
    {"A.4.1 damped driven pendulum",
     "coord x = off\nkinetic x'^2/2\npotential -cos(x)\nforce x: -0.05*x' + 0.6*sin(0.7*t)\n",
     0.1414, 1500, 0.05},
    {"A.4.2 driven van der Pol oscillator",
     "coord x = -1.9 + off\nkinetic x'^2/2\npotential x^2/2\n"
     "force x: 3*(1 - x^2)*x' + 5*sin(1.788*t)\n",
     0.1933, 1000, 0.05},
    {"A.4.5 Ueda's oscillator",
     "coord x = 2.5 + off\nkinetic x'^2/2\npotential x^4/4\nforce x: -0.05*x' + 7.5*sin(t)\n",
     0.1034, 1500, 0.05},
    {"A.4.6 Duffing's oscillator with two wells",
     "coord x = 0.2 + off\nkinetic x'^2/2\npotential x^4/4 - x^2/2\n"
     "force x: -0.25*x' + 0.4*sin(t)\n",
     0.1572, 1500, 0.05},
    {"A.4.7 Duffing and van der Pol",
     "coord x = 0.2 + off\nspeed x' = -0.2\nkinetic x'^2/2\npotential x^4/4\n"
     "force x: 0.2*(1 - 8*x^2)*x' + 0.35*sin(1.02*t)\n",
     0.0963, 1500, 0.05},
    {"A.4.8 Rayleigh and Duffing",
     "coord x = 0.3 + off\nkinetic x'^2/2\npotential x^4/4\n"
     "force x: 0.2*(1 - 4*x'^2)*x' + 0.3*sin(1.1*t)\n",
     0.0912, 1500, 0.05},
    {"A.6.5 Henon and Heiles, E = 1/8",
     "coord x = 0.499, y = off\nspeed x' = 0, y' = 0.03160676\nkinetic (x'^2 + y'^2)/2\n"
     "potential (x^2 + y^2)/2 + x^2*y - y^3/3\n",
     0.0450, 4000, 0.12},
    {"Datseris, Duffing's oscillator with two wells",
     "coord x = 0.1 + off\nspeed x' = 0.25\nkinetic x'^2/2\npotential x^4/4 - x^2/2\n"
     "force x: -0.2*x' + 0.3*cos(t)\n",
     0.15894, 1500, 0.05},
};

static void compare(const published *of)
{
    enum { RUNS = 8 };
    const char *over = "off = 0..7e-6 : 8";
    char path[64];
    zw_error why = {0};
    snprintf(path, sizeof path, "/tmp/zwang_literature_%ld.zw", (long)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "param off = 0\n%s", of->text);
    fclose(file);
    zw_sweep_options options = {
        .over = &over,
        .over_count = 1,
        .after = "400",
        .keep = "lyapunov",
        .run = {.time = (full ? 20 : 1) * of->time + 400, .tolerance = 1e-9},
        .threads = 2};
    zw_sweep *sweep = zw_sweep_create(path, &options, &why);
    if (!sweep || zw_sweep_run(sweep, &why) != ZW_OK) {
        print_error("%s\n", why.text);
    }
    assert_non_null(sweep);
    assert_int_equal(zw_sweep_failed(sweep), 0);
    assert_int_equal(zw_sweep_count(sweep), RUNS);
    double mean = 0, square = 0;
    for (int run = 0; run < RUNS; run++) {
        mean += zw_sweep_value(sweep, run, 1) / RUNS;
    }
    for (int run = 0; run < RUNS; run++) {
        double off = zw_sweep_value(sweep, run, 1) - mean;
        square += off * off;
    }
    double error = sqrt(square / (RUNS - 1) / RUNS);
    print_message("%-42s %.4f, ours %.4f +- %.4f\n", of->name, of->exponent, mean, error);
    assert_true(error < of->small * of->exponent);
    assert_true(fabs(mean - of->exponent) < 4 * error);
    remove(path);
    zw_sweep_free(sweep);
}

static void test_sprott(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof each / sizeof *each; i += (size_t)campaign_stride(3)) {
        compare(&each[i]);
    }
}

int main(int argc, char **argv)
{
    full = argc > 1 && strcmp(argv[1], "full") == 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sprott)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

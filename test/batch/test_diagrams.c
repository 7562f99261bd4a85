/* Diagrams of sweeps, compared with programs written for one system each.
 *
 * The driven pendulum, th'' + 2 b th' + w0^2 sin th = A w0^2 cos(w t): its map over one period T =
 * 2 pi/w contracts areas by exp(-2 b T), so a motion of period N T doubles its period where the
 * trace of the linearised map over N T is -1 - exp(-2 b N T). Such motions are continued here in A,
 * by Newton's method on a map integrated with RK4, motion and two tangents together. That gives the
 * strengths at which the period doubles with seven digits (Taylor 2005, section 12.4, prints
 * five, the first of them cut off: 1.0663, 1.0793, 1.0821, 1.0827), and the branches between them.
 * The sweep must find these branches, and the first strength from them: near it the square of the
 * split is a smooth function of A that vanishes there.
 *
 * Lyapunov exponents over long times are averages over a chaotic sea. For the stars of Henon and
 * Heiles and the double pendulum the mean over many starts is compared with that of tangents
 * integrated here (RK4 in complex numbers, as in test_chaos.c), from the same starts; both are
 * known to their standard error, which is printed.
 *
 *     test_diagrams [full]       more branches, longer and more motions */
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

#include "scene/campaign.h"
#include "zwang/sweep.h"

static const double pi = 3.14159265358979323846;
static int full;

/* ---- The driven pendulum by hand --------------------------------------------------------------
 */

typedef struct orbit {
    double A;
    int periods;    /* N */
    double at[2];   /* th, th' at t = 0 */
    double J[2][2]; /* of the map over N periods */
} orbit;

static void rates(double A, double t, const double *y, double *dy)
{
    const double w0 = 1.5, b = w0 / 4;
    dy[0] = y[1];
    dy[1] = -2 * b * y[1] - w0 * w0 * sin(y[0]) + A * w0 * w0 * cos(t);
    for (int k = 2; k < 6; k += 2) { /* two tangents */
        dy[k] = y[k + 1];
        dy[k + 1] = -2 * b * y[k + 1] - w0 * w0 * cos(y[0]) * y[k];
    }
}

/* y over one period. */
static void map(double A, double *y)
{
    enum { STEPS = 1500 };
    const double h = 2 * pi / STEPS, part[] = {0, 0.5, 0.5, 1};
    for (int s = 0; s < STEPS; s++) {
        double k[4][6], at[6];
        for (int j = 0; j < 4; j++) {
            for (int i = 0; i < 6; i++) {
                at[i] = y[i] + (j > 0 ? part[j] * h * k[j - 1][i] : 0);
            }
            rates(A, h * (s + part[j]), at, k[j]);
        }
        for (int i = 0; i < 6; i++) {
            y[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
        }
    }
}

/* Find the motion of this period near the given estimate; 0: not found. */
static int settle(orbit *o)
{
    for (int round = 0; round < 30; round++) {
        double y[6] = {o->at[0], o->at[1], 1, 0, 0, 1};
        for (int k = 0; k < o->periods; k++) {
            map(o->A, y);
        }
        double r[2] = {y[0] - o->at[0], y[1] - o->at[1]};
        memcpy(o->J, (double[2][2]){{y[2], y[4]}, {y[3], y[5]}}, sizeof o->J);
        double a = y[2] - 1, b = y[4], c = y[3], d = y[5] - 1, det = a * d - b * c;
        o->at[0] -= (d * r[0] - b * r[1]) / det;
        o->at[1] -= (a * r[1] - c * r[0]) / det;
        if (fabs(r[0]) + fabs(r[1]) < 1e-12) {
            return 1;
        }
    }
    return 0;
}

/* Below zero: its period has doubled. */
static double left(const orbit *o)
{
    return 1 + o->J[0][0] + o->J[1][1] + exp(-2 * 0.375 * 2 * pi * o->periods);
}

/* Follow the motion in A until its period doubles: secants from two values of A. */
static int double_period(orbit *o, double step)
{
    const double most = step; /* the motion before is where to look for the next */
    double A = o->A, value = left(o);
    for (int round = 0; round < 60; round++) {
        double next = o->A + step, before = value;
        A = o->A;
        o->A = next;
        if (!settle(o)) {
            return 0;
        }
        value = left(o);
        if (fabs(value) < 1e-9) {
            return 1;
        }
        double secant = -value * (o->A - A) / (value - before);
        step = fabs(secant) < most ? secant : copysign(most, secant);
    }
    return 0;
}

/* The same strength, twice the period: one iterates the map beyond the doubling. */
static int branch(orbit *o, double A)
{
    double y[6] = {o->at[0] + 1e-3, o->at[1], 0};
    for (int k = 0; k < 400 * 2 * o->periods; k++) {
        map(A, y);
    }
    *o = (orbit){.A = A, .periods = 2 * o->periods, .at = {y[0], y[1]}};
    return settle(o);
}

/* ---- And by a sweep ---------------------------------------------------------------------------
 */

enum { POINTS = 16 };

/* The strobes of th' at a strength, in order; how many are different. */
static int strobes(zw_sweep *sweep, int run, double *found)
{
    int count = 0;
    for (int i = 1; i <= POINTS; i++) {
        char name[16];
        snprintf(name, sizeof name, "th' %d", i);
        double here = zw_sweep_value(sweep, run, zw_sweep_find(sweep, name));
        int known = 0;
        for (int k = 0; k < count; k++) {
            known |= fabs(here - found[k]) < 1e-5;
        }
        if (!known) {
            found[count++] = here;
        }
    }
    return count;
}

static zw_sweep *sweep_strengths(const double *A, int count)
{
    static char over[4000], path[400];
    size_t used = (size_t)snprintf(over, sizeof over, "A = ");
    for (int i = 0; i < count; i++) {
        used += (size_t)snprintf(over + used, sizeof over - used, "%s%.17g", i ? ", " : "", A[i]);
    }
    const char *list = over;
    zw_error error = {0};
    snprintf(path, sizeof path, "%s/examples/driven_pendulum.zw", ZW_SOURCE_DIR);
    zw_sweep_options options = {.over = &list,
                                .over_count = 1,
                                .keep = "points(th', every 2*pi/w, 16)",
                                .run = {.time = 2 * pi * 1000.01, .every = 200 * pi},
                                .threads = 2};
    zw_sweep *sweep = zw_sweep_create(path, &options, &error);
    if (!sweep || zw_sweep_run(sweep, &error) != ZW_OK) {
        print_error("%s\n", error.text);
    }
    assert_non_null(sweep);
    return sweep;
}

/* Every point of the reference motion is among the strobes, to within `error`. */
static void compare_branch(const orbit *o, const double *found, int count, double error)
{
    double y[6] = {o->at[0], o->at[1], 0};
    assert_int_equal(count, o->periods);
    for (int k = 0; k < o->periods; k++) {
        double nearest = INFINITY;
        for (int i = 0; i < count; i++) {
            nearest = fmin(nearest, fabs(found[i] - y[1]));
        }
        if (!(nearest < error)) {
            print_error("A = %.6f, period %d: %g from the motion\n", o->A, o->periods, nearest);
        }
        assert_true(nearest < error);
        map(o->A, y);
    }
}

/* One branch between two doublings, at some strengths. */
static void follow_branch(orbit o, double from, double to)
{
    enum { MOST = 40 };
    int count = full ? MOST : 2;
    double A[MOST], found[POINTS];
    for (int i = 0; i < count; i++) { /* near its ends a branch is reached slowly */
        A[i] = from + (to - from) * (0.4 + 0.4 * i / (count - 1));
    }
    zw_sweep *sweep = sweep_strengths(A, count);
    for (int i = 0; i < count; i++) {
        while (o.A != A[i]) { /* the motion before is where to look for the next */
            double step = (to - from) / 16;
            o.A = fabs(A[i] - o.A) < step ? A[i] : o.A + copysign(step, A[i] - o.A);
            assert_true(settle(&o));
        }
        int different = strobes(sweep, i, found);
        compare_branch(&o, found, different, 2e-8);
    }
    zw_sweep_free(sweep);
}

static void test_cascade(void **state)
{
    (void)state;
    static const double printed[] = {1.0663, 1.0793, 1.0821, 1.0827};
    double at[5] = {1.06};
    double y[6] = {-pi / 2, 0, 0};
    for (int k = 0; k < 200; k++) {
        map(1.06, y);
    }
    orbit o = {.A = 1.06, .periods = 1, .at = {y[0], y[1]}};
    assert_true(settle(&o));
    const int doublings = campaign_is_small() ? 1 : 4;
    for (int k = 0; k < doublings; k++) {
        orbit start = o;
        assert_true(double_period(&o, 1e-3 * pow(4.669, -k)));
        at[k + 1] = o.A;
        print_message("period %2d doubles at A = %.8f (Taylor: %.4f)\n", o.periods, o.A,
                      printed[k]);
        assert_true(fabs(o.A - printed[k]) < 1e-4);
        if (k < 3) { /* the branch that ends here, and the next one */
            follow_branch(start, at[k], at[k + 1]);
            assert_true(branch(&o, at[k + 1] + 1e-3 * pow(4.669, -k)));
        }
    }
    if (campaign_is_small()) {
        return;
    }
    double ratio = (at[3] - at[2]) / (at[4] - at[3]);
    print_message("ratio of the last two intervals %.3f (Feigenbaum: 4.669)\n", ratio);
    assert_true(fabs(ratio - 4.669) < 0.15);
}

/* Where the split of the strobes vanishes, from strengths where it does not. */
static void test_first_doubling(void **state)
{
    (void)state;
    enum { COUNT = 5 };
    double A[COUNT], square[COUNT], found[POINTS];
    for (int i = 0; i < COUNT; i++) {
        A[i] = 1.0675 + 0.0007 * i;
    }
    zw_sweep *sweep = sweep_strengths(A, COUNT);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(strobes(sweep, i, found), 2);
        square[i] = (found[0] - found[1]) * (found[0] - found[1]);
    }
    double zero = 0; /* A as a polynomial of the square, at 0 */
    for (int i = 0; i < COUNT; i++) {
        double weight = 1;
        for (int k = 0; k < COUNT; k++) {
            weight *= k == i ? 1 : square[k] / (square[k] - square[i]);
        }
        zero += weight * A[i];
    }
    zw_sweep_free(sweep);
    double y[6] = {-pi / 2, 0, 0};
    for (int k = 0; k < 200; k++) {
        map(1.06, y);
    }
    orbit o = {.A = 1.06, .periods = 1, .at = {y[0], y[1]}};
    assert_true(settle(&o) && double_period(&o, 1e-3));
    print_message("from the sweep's strobes the period doubles at A = %.7f, by hand %.7f\n", zero,
                  o.A);
    assert_true(fabs(zero - o.A) < 2e-6);
}

/* ---- Lyapunov exponents -----------------------------------------------------------------------
 */

typedef double complex number;
typedef void field(const number *y, number *rate);

static void stars(const number *y, number *rate)
{
    rate[0] = y[2];
    rate[1] = y[3];
    rate[2] = -y[0] - 2 * y[0] * y[1];
    rate[3] = -y[1] - y[0] * y[0] + y[1] * y[1];
}

static void pendulums(const number *y, number *rate)
{
    const double g = 9.81;
    number s = csin(y[0] - y[1]), c = ccos(y[0] - y[1]);
    number p = -y[3] * y[3] * s - 2 * g * csin(y[0]);
    number q = y[2] * y[2] * s - g * csin(y[1]);
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

static double exponent(field *f, const double *start, double after, double end, double h)
{
    const double tiny = 1e-30;
    number y[4];
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        y[i] = start[i] + I * tiny * (0.3 + 0.2 * i);
    }
    long steps = lround(end / h), first = lround(after / h);
    for (long k = 0; k < steps; k++) {
        step(f, y, h);
        double size = 0;
        for (int i = 0; i < 4; i++) {
            size += cimag(y[i]) * cimag(y[i]);
        }
        size = sqrt(size) / tiny;
        sum += k >= first ? log(size) : 0;
        for (int i = 0; i < 4; i++) {
            y[i] = creal(y[i]) + I * (cimag(y[i]) / size);
        }
    }
    return sum / (end - after);
}

typedef struct sea {
    const char *name, *text, *over;
    field *f;
    double after, end, h;
} sea;

static void mean_of(const double *x, int count, double *mean, double *error)
{
    double sum = 0, square = 0;
    for (int i = 0; i < count; i++) {
        sum += x[i];
        square += x[i] * x[i];
    }
    *mean = sum / count;
    *error = sqrt(fmax(0, square / count - *mean * *mean) / (count - 1));
}

static void compare_sea(const sea *of)
{
    enum { MOST = 60 };
    char path[64], when[40];
    zw_error why = {0};
    snprintf(path, sizeof path, "/tmp/zwang_diagrams_%ld.zw", (long)getpid());
    snprintf(when, sizeof when, "%.17g", of->after);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(of->text, file);
    fclose(file);
    zw_sweep_options options = {.over = &of->over,
                                .over_count = 1,
                                .samples = full ? MOST : 20,
                                .after = when,
                                .keep =
                                    "lyapunov, a at start, b at start, a' at start, b' at start",
                                .run = {.time = (full ? 10 : 1) * of->end, .tolerance = 1e-10},
                                .threads = 2};
    zw_sweep *sweep = zw_sweep_create(path, &options, &why);
    if (!sweep || zw_sweep_run(sweep, &why) != ZW_OK) {
        print_error("%s\n", why.text);
    }
    assert_non_null(sweep);
    int count = zw_sweep_count(sweep);
    double ours[MOST], theirs[MOST], mean[2], error[2];
    for (int run = 0; run < count; run++) {
        double start[4];
        for (int i = 0; i < 4; i++) {
            start[i] = zw_sweep_value(sweep, run, 2 + i);
        }
        ours[run] = zw_sweep_value(sweep, run, 1);
        theirs[run] = exponent(of->f, start, of->after, options.run.time, of->h);
    }
    mean_of(ours, count, &mean[0], &error[0]);
    mean_of(theirs, count, &mean[1], &error[1]);
    print_message("%s: %d starts of %g s: %.4f +- %.4f, by hand %.4f +- %.4f\n", of->name, count,
                  options.run.time, mean[0], error[0], mean[1], error[1]);
    assert_true(fabs(mean[0] - mean[1]) < 4 * hypot(error[0], error[1]));
    assert_true(error[0] < 0.1 * mean[0]);
    remove(path);
    zw_sweep_free(sweep);
}

static void test_seas(void **state)
{
    (void)state;
    static const sea seas[] = {
        {"Henon and Heiles, E = 0.16",
         "param E = 0.16, b0 = -0.2\n"
         "coord a = 0, b = b0\n"
         "speed a' = sqrt(2*E - b0^2 + 2*b0^3/3), b' = 0\n"
         "kinetic (a'^2 + b'^2)/2\n"
         "potential (a^2 + b^2)/2 + a^2*b - b^3/3\n",
         "b0 = random -0.3..-0.1", stars, 50, 1000, 0.02},
        {"double pendulum, E = 4 J",
         "param turn = 0\n"
         "coord a = pi/2 + turn, b = pi/2 - turn\n"
         "speed a' = 0, b' = sqrt(2*9.81*(2*cos(pi/2 + turn) + cos(pi/2 - turn)) + 8)\n"
         "point p = (sin(a), -cos(a))\n"
         "point q = p + (sin(b), -cos(b))\n"
         "mass 1 at p, 1 at q\n"
         "gravity (0, -9.81)\n",
         "turn = random -0.05..0.05", pendulums, 5, 100, 2e-3},
    };
    for (size_t i = 0; i < sizeof seas / sizeof *seas; i += (size_t)campaign_stride(2)) {
        compare_sea(&seas[i]);
    }
}

int main(int argc, char **argv)
{
    full = argc > 1 && strcmp(argv[1], "full") == 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cascade),
                                       cmocka_unit_test(test_first_doubling),
                                       cmocka_unit_test(test_seas)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

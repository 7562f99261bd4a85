/* Sweeps: values of parameters, quantities compared with closed forms and known values, the same
 * bits for every number of threads and for single runs, journals. */
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

#include "zwang/sweep.h"

static const double pi = 3.14159265358979323846;

static const char *example(const char *name)
{
    static char path[400];
    snprintf(path, sizeof path, "%s/examples/%s", ZW_SOURCE_DIR, name);
    return path;
}

/* A model of the test's own, in a file. */
static const char *model(const char *text)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/zwang_sweep_%ld.zw", (long)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return path;
}

static zw_sweep *sweep_of(const char *path, zw_sweep_options *options, int run)
{
    zw_error error = {0};
    zw_sweep *sweep = zw_sweep_create(path, options, &error);
    if (!sweep || (run && zw_sweep_run(sweep, &error) != ZW_OK)) {
        print_error("%s: %s\n", path, error.text);
        fail();
    }
    return sweep;
}

static double value(const zw_sweep *sweep, int run, const char *name)
{
    int column = zw_sweep_find(sweep, name);
    if (column < 0 || strcmp(zw_sweep_status(sweep, run), "ok") != 0) {
        print_error("run %d, %s: %s\n", run, name, zw_sweep_status(sweep, run));
        fail();
    }
    return zw_sweep_value(sweep, run, column);
}

static void near(double got, double want, double error)
{
    if (!(fabs(got - want) <= error)) {
        print_error("%.15g is not %.15g within %g\n", got, want, error);
        fail();
    }
}

#define OVER(...)                                                                                  \
    .over = (const char *const[]){__VA_ARGS__},                                                    \
    .over_count = sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)

/* ---- What varies ----------------------------------------------------------------------------- */

static void test_values(void **state)
{
    (void)state;
    zw_sweep_options grid = {OVER("m = 1..2 : 3", "g = 9.81, 2*pi", "l = 0.1..10 : 3 log"),
                             .keep = "x at end"};
    zw_sweep *sweep = sweep_of(example("pendulum.zw"), &grid, 0);
    const double m[] = {1, 1.5, 2}, g[] = {9.81, 2 * pi}, l[] = {0.1, 1, 10};
    assert_int_equal(zw_sweep_count(sweep), 18);
    for (int run = 0; run < 18; run++) {
        near(zw_sweep_value(sweep, run, 0), m[run / 6], 0);
        near(zw_sweep_value(sweep, run, 1), g[run / 3 % 2], 1e-15);
        near(zw_sweep_value(sweep, run, 2), l[run % 3], 1e-15);
    }
    assert_true(isnan(zw_sweep_value(sweep, 0, 3)));
    assert_null(zw_sweep_status(sweep, 0));
    zw_sweep_free(sweep);
}

/* Draws are uniform; those of one name do not depend on the other parameters; a Latin hypercube has
 * one draw in each interval. */
static void test_draws(void **state)
{
    (void)state;
    enum { DRAWS = 1000 };
    zw_sweep_options two = {OVER("m = latin 2..4", "l = random 0..1"), .samples = DRAWS, .seed = 7,
                            .keep = "x at end"};
    zw_sweep_options one = {OVER("g = 1, 2", "l = random 0..1"), .samples = DRAWS, .seed = 7,
                            .keep = "x at end"};
    zw_sweep *a = sweep_of(example("pendulum.zw"), &two, 0);
    zw_sweep *b = sweep_of(example("pendulum.zw"), &one, 0);
    unsigned char met[DRAWS] = {0};
    double sum = 0, square = 0, product = 0;
    assert_int_equal(zw_sweep_count(b), 2 * DRAWS);
    for (int run = 0; run < DRAWS; run++) {
        double m = zw_sweep_value(a, run, 0), l = zw_sweep_value(a, run, 1);
        assert_true(m >= 2 && m < 4 && l >= 0 && l < 1);
        met[(int)((m - 2) / 2 * DRAWS)]++;
        sum += l;
        square += l * l;
        product += (l - 0.5) * (m - 3);
        near(zw_sweep_value(b, run, 1), l, 0);
        near(zw_sweep_value(b, DRAWS + run, 1), l, 0);
    }
    for (int i = 0; i < DRAWS; i++) {
        assert_int_equal(met[i], 1);
    }
    near(sum / DRAWS, 0.5, 4 * sqrt(1.0 / 12 / DRAWS));
    near(square / DRAWS, 1.0 / 3, 4 * sqrt(4.0 / 45 / DRAWS));
    near(product / DRAWS, 0, 4 * sqrt(1.0 / 12 / 3 / DRAWS));
    zw_sweep_free(a);
    zw_sweep_free(b);
}

/* ---- What is kept ---------------------------------------------------------------------------- */

/* The complete elliptic integral K(k) by the arithmetic-geometric mean. */
static double elliptic(double k)
{
    double a = 1, b = sqrt(1 - k * k);
    for (int i = 0; i < 8; i++) {
        double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    return pi / (2 * a);
}

static void test_pendulum(void **state)
{
    (void)state;
    zw_sweep_options options = {
        OVER("l = 0.5..2 : 4", "angle = 0.1..3 : 5"),
        .keep = "period(x), max(x), min(y), mean(y'), max(energy), x at start",
        .run = {.time = 30, .every = 0.01, .tolerance = 1e-12}, .threads = 2};
    zw_sweep *sweep = sweep_of(example("pendulum.zw"), &options, 1);
    for (int run = 0; run < zw_sweep_count(sweep); run++) {
        double l = zw_sweep_value(sweep, run, 0), angle = zw_sweep_value(sweep, run, 1);
        double top = angle < pi / 2 ? l * sin(angle) : l;
        near(value(sweep, run, "period(x)"), 4 * sqrt(l / 9.81) * elliptic(sin(angle / 2)), 1e-8);
        near(value(sweep, run, "max(x)"), top, 1e-9);
        near(value(sweep, run, "min(y)"), -l, 1e-9);
        near(value(sweep, run, "max(energy)"), -9.81 * l * cos(angle), 1e-9 * 9.81 * l);
        near(value(sweep, run, "x at start"), l * sin(angle), 1e-15);
        near(value(sweep, run, "end"), 30, 0);
        assert_true(value(sweep, run, "certificate") < 1e-9);
        assert_true(value(sweep, run, "doubt") < 1e-7);
    }
    zw_sweep_free(sweep);
}

/* Samples that are too far apart are reported. */
static void test_doubt(void **state)
{
    (void)state;
    zw_sweep_options options = {OVER("l = 1"), .keep = "max(x)", .run = {.time = 10, .every = 0.4}};
    zw_sweep *sweep = sweep_of(example("pendulum.zw"), &options, 1);
    assert_true(value(sweep, 0, "doubt") > 1e-4);
    assert_true(fabs(value(sweep, 0, "max(x)") - 1) < 10 * value(sweep, 0, "doubt"));
    zw_sweep_free(sweep);
}

/* A ball that bounces: impacts at sqrt(2 h/g) (1 + 2 e + 2 e^2 + ...), and jumps of the speed that
 * no curve is drawn through. */
static void test_events(void **state)
{
    (void)state;
    zw_sweep_options options = {
        OVER("h = 1, 2, 3"),
        .keep = "time(impacts), y' at impacts, points(y', impacts, 3), count(apex), time(apex), "
                "min(y'), max(y'), y at apex, period(apex), count(impacts)",
        .run = {.time = 4, .every = 0.02}};
    zw_sweep *sweep = sweep_of(example("bouncing_ball.zw"), &options, 1);
    for (int run = 0; run < 3; run++) {
        double g = 9.81, e = 0.8, h = run + 1, fall = sqrt(2 * h / g), speed = g * fall;
        int hits = 0;
        for (double t = fall; t < 4; t += 2 * fall * pow(e, hits)) {
            hits++;
        }
        near(value(sweep, run, "time(impacts)"), fall, 1e-12);
        near(value(sweep, run, "y' at impacts"), -speed, 1e-10);
        near(value(sweep, run, "count(impacts)"), hits, 0);
        near(value(sweep, run, "y' 3"), -speed * pow(e, hits - 1), 1e-9);
        near(value(sweep, run, "y' 1"), -speed * pow(e, hits - 3), 1e-9);
        near(value(sweep, run, "time(apex)"), fall + e * fall, 1e-10);
        near(value(sweep, run, "y at apex"), h * e * e, 1e-10);
        near(value(sweep, run, "min(y')"), -speed, 1e-10);
        near(value(sweep, run, "max(y')"), e * speed, 1e-10);
    }
    zw_sweep_free(sweep);
}

/* x = cos(t) is looked at every 2 pi/3: 1, -1/2, -1/2. After half of the time only. */
static void test_strobe(void **state)
{
    (void)state;
    const char *text = "param k = 1\ncoord x = 1\nkinetic x'^2/2\npotential k*x^2/2\n";
    zw_sweep_options options = {OVER("k = 1, 4"), .keep = "points(x, every 2*pi/3/sqrt(k), 6)",
                                .after = "10*2*pi/sqrt(k)", .run = {.time = 20 * pi + 1e-9}};
    zw_sweep *sweep = sweep_of(model(text), &options, 1);
    for (int run = 0; run < 2; run++) {
        for (int i = 1; i <= 6; i++) {
            char name[8];
            snprintf(name, sizeof name, "x %d", i);
            if (run == 0 && i < 6) { /* only one strobe is not before the time to look from */
                assert_true(isnan(value(sweep, run, name)));
            } else {
                near(value(sweep, run, name), i % 3 == 0 ? 1 : -0.5, 1e-6);
            }
        }
    }
    zw_sweep_free(sweep);
}

/* x = 1 - t: the window begins at its time, wherever samples are. */
static void test_window(void **state)
{
    (void)state;
    const char *text = "param k = 1\ncoord x = 1\nspeed x' = -1\nkinetic k*x'^2/2\n";
    const char *const after[] = {"0.2", "0.25", "0.2*k"};
    for (int i = 0; i < 3; i++) {
        zw_sweep_options options = {OVER("k = 1"), .keep = "max(x), min(x), mean(x)",
                                    .after = after[i],
                                    .run = {.time = 3, .every = i < 2 ? 0.7 : 0}};
        zw_sweep *sweep = sweep_of(model(text), &options, 1);
        double first = i == 1 ? 0.75 : 0.8;
        near(value(sweep, 0, "max(x)"), first, 1e-12);
        near(value(sweep, 0, "min(x)"), -2, 1e-12);
        near(value(sweep, 0, "mean(x)"), 0.5 * (first - 2), 1e-12);
        zw_sweep_free(sweep);
    }
    /* cos(t) passes its mean upwards at 3 pi/2 first, which is in the window; in its first interval
     */
    zw_sweep_options options = {OVER("k = 1"), .keep = "period(x), max(x)",
                                .after = "1.5*pi - 0.01",
                                .run = {.time = 7.5 * pi - 0.01, .every = 0.1}};
    zw_sweep *sweep = sweep_of(
        model("param k = 1\ncoord x = 1\nkinetic x'^2/2\npotential k*x^2/2\n"), &options, 1);
    near(value(sweep, 0, "period(x)"), 2 * pi, 1e-5);
    zw_sweep_free(sweep);
}

/* A ball that bounces at z = -0.9, in steps that do not tell when: the lowest of what was seen is
 * above that, and the doubt says by how much. */
static void test_corner(void **state)
{
    (void)state;
    const double every[] = {0, 0.012};
    for (int i = 0; i < 2; i++) {
        zw_sweep_options options = {OVER("v = 0, 1"), .keep = "min(r.z)",
                                    .run = {.time = 1.5, .every = every[i]}};
        zw_sweep *sweep =
            sweep_of(model("import \"" ZW_SOURCE_DIR "/test/system/import/bouncy.xml\" as r\n"
                           "param v = 0\nspeed r.z' = v\n"),
                     &options, 1);
        for (int run = 0; run < 2; run++) {
            double low = value(sweep, run, "min(r.z)"), miss = (low + 0.9) / (1 + fabs(low));
            assert_true(miss > 0 && value(sweep, run, "doubt") >= 0.9 * miss);
        }
        zw_sweep_free(sweep);
    }
}

/* Exponents that are known: of x'' = k x they are sqrt(k) and -sqrt(k), of a pendulum that goes
 * round 0, of a damped one that comes to rest -c/2. */
static void test_lyapunov(void **state)
{
    (void)state;
    const char *saddle = "param k = 1\ncoord x = 0\nkinetic x'^2/2\npotential -k*x^2/2\n";
    zw_sweep_options options = {OVER("k = 1, 4"), .keep = "lyapunov", .after = "10",
                                .run = {.time = 40}};
    zw_sweep *sweep = sweep_of(model(saddle), &options, 1);
    near(value(sweep, 0, "lyapunov"), 1, 1e-6);
    near(value(sweep, 1, "lyapunov"), 2, 1e-6);
    zw_sweep_free(sweep);
    const char *damped = "param c = 1\ncoord x = 1\nkinetic x'^2/2\npotential -cos(x)*10\n"
                         "rayleigh c*x'^2/2\n";
    options = (zw_sweep_options){OVER("c = 0.5, 1"), .keep = "lyapunov", .after = "20",
                                 .run = {.time = 60}};
    sweep = sweep_of(model(damped), &options, 1);
    near(value(sweep, 0, "lyapunov"), -0.25, 0.01);
    near(value(sweep, 1, "lyapunov"), -0.5, 0.01);
    zw_sweep_free(sweep);
}

/* ---- Bifurcations ---------------------------------------------------------------------------- */

/* A bead on a turning hoop rests where cos(th) = g/(R w^2) above w = sqrt(g/R), else below. */
static void test_hoop(void **state)
{
    (void)state;
    zw_sweep_options options = {OVER("w = 1..9 : 9"), .keep = "th at end", .threads = 2,
                                .run = {.time = 60}};
    zw_sweep *sweep = sweep_of(example("turning_hoop.zw"), &options, 1);
    for (int run = 0; run < 9; run++) {
        double w = zw_sweep_value(sweep, run, 0), ratio = 9.81 / (0.5 * w * w);
        near(value(sweep, run, "th at end"), ratio < 1 ? acos(ratio) : 0, 2e-7);
    }
    zw_sweep_free(sweep);
}

/* ---- Bits ------------------------------------------------------------------------------------ */

static uint64_t bits(double x)
{
    uint64_t word;
    memcpy(&word, &x, sizeof word);
    return word;
}

/* The same bits for every number of threads, and those of the run alone. */
static void test_threads(void **state)
{
    (void)state;
    static const char *const file[] = {"double_pendulum.zw", "stick_slip.zw",
                                       "bodies/cart_pole.xml"};
    static const char *const over[] = {"m2 = 0.5..2 : 9", "mu = 0.2..0.6 : 9", "drive = -1..1 : 9"};
    static const char *const keep[] = {"x2 at end, max(y1), lyapunov", "x at end, mean(x')",
                                       "lean at end, max(along')"};
    for (int i = 0; i < 3; i++) {
        zw_sweep_options options = {
            .over = &over[i], .over_count = 1, .keep = keep[i], .run = {.time = 2}, .threads = 1};
        char path[400];
        snprintf(path, sizeof path, "%s", example(file[i]));
        zw_sweep *one = sweep_of(path, &options, 1);
        for (int threads = 2; threads <= 7; threads += threads == 3 ? 4 : 1) {
            options.threads = threads;
            zw_sweep *many = sweep_of(path, &options, 1);
            for (int run = 0; run < 9; run++) {
                for (int c = 0; c < zw_sweep_columns(one); c++) {
                    assert_int_equal(bits(zw_sweep_value(one, run, c)),
                                     bits(zw_sweep_value(many, run, c)));
                }
            }
            zw_sweep_free(many);
        }
        for (int run = 0; run < 9; run += 4) {
            char name[8];
            snprintf(name, sizeof name, "%.*s", (int)strcspn(over[i], " "), over[i]);
            zw_setting setting = {name, zw_sweep_value(one, run, 0)};
            zw_model *m = zw_model_read(
                path, &(zw_read_options){.settings = &setting, .setting_count = 1}, NULL);
            zw_system *system = zw_system_compile(m, NULL, NULL);
            zw_work *work = zw_work_create(system, NULL);
            zw_state *at = zw_state_create(system, work, NULL, NULL);
            zw_run_summary summary;
            assert_int_equal(zw_run(system, at, work, &options.run, &summary, NULL), ZW_OK);
            snprintf(name, sizeof name, "%.*s", (int)strcspn(keep[i], " "), keep[i]);
            double q =
                zw_field(system, at, work, ZW_FIELD_Q).data[zw_id(system, ZW_KIND_COORD, name)];
            assert_int_equal(bits(q), bits(zw_sweep_value(one, run, 1)));
            zw_state_free(at);
            zw_work_free(work);
            zw_system_free(system);
            zw_model_free(m);
        }
        zw_sweep_free(one);
    }
}

/* ---- Journals -------------------------------------------------------------------------------- */

static long polls, enough;

static int stop_soon(void *user, double time)
{
    (void)user;
    (void)time;
    return ++polls > enough;
}

/* Stopped again and again, it comes to the same table. */
static void test_journal(void **state)
{
    (void)state;
    char journal[64];
    snprintf(journal, sizeof journal, "/tmp/zwang_sweep_%ld.journal", (long)getpid());
    zw_sweep_options options = {OVER("l = 0.5..2 : 12"), .keep = "max(x), period(x)",
                                .run = {.time = 10, .poll = stop_soon}};
    polls = 0;
    enough = 1000000000;
    zw_sweep *whole = sweep_of(example("pendulum.zw"), &options, 1), *sweep = NULL;
    int rounds = 0, done = 0;
    zw_status status = ZW_INTERRUPTED;
    options.journal = journal;
    enough = polls / 5; /* about two runs */
    while (status == ZW_INTERRUPTED && rounds++ < 1000) {
        zw_sweep_free(sweep);
        sweep = sweep_of(example("pendulum.zw"), &options, 0);
        assert_int_equal(zw_sweep_done(sweep), done);
        polls = 0;
        status = zw_sweep_run(sweep, NULL);
        done = zw_sweep_done(sweep);
    }
    assert_int_equal(status, ZW_OK);
    assert_true(rounds > 3);
    for (int run = 0; run < 12; run++) {
        for (int c = 0; c < zw_sweep_columns(whole); c++) {
            assert_int_equal(bits(zw_sweep_value(whole, run, c)),
                             bits(zw_sweep_value(sweep, run, c)));
        }
    }
    zw_sweep_free(sweep);

    /* Another sweep does not touch it. */
    zw_error error = {0};
    options.keep = "max(y)";
    assert_null(zw_sweep_create(example("pendulum.zw"), &options, &error));
    assert_non_null(strstr(error.text, "journal of another sweep"));
    remove(journal);
    zw_sweep_free(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),   cmocka_unit_test(test_draws),
        cmocka_unit_test(test_pendulum), cmocka_unit_test(test_doubt),
        cmocka_unit_test(test_events),   cmocka_unit_test(test_strobe),
        cmocka_unit_test(test_window),   cmocka_unit_test(test_corner),
        cmocka_unit_test(test_lyapunov), cmocka_unit_test(test_hoop),
        cmocka_unit_test(test_threads),  cmocka_unit_test(test_journal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

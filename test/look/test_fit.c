/* Fits: confidence intervals have their stated coverage over many draws of noise; parameters that
 * cannot be determined are named; bounds, several recordings, bad input.
 *
 * By default 8 draws of each system; ZW_CAMPAIGN=1: 200 (small: 5; a larger number:
 * so many). With the name of a system, that one alone: `ZW_CAMPAIGN=4000 test_fit rod`. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../system/world.h"
#include "base/memory.h"
#include "path/path.h"
#include "system/work.h"
#include "zwang/fit.h"
#include "zwang/sensitivity.h"

static zw_error error;
enum { SAMPLES = 60, WIDE = 8 };

/* ---- Draws ---------------------------------------------------------------------------------- */

static uint64_t seed;

static double even(void) /* 0 ... 1 */
{
    seed += 0x9e3779b97f4a7c15u;
    uint64_t x = seed;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return ((double)((x ^ (x >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static double normal(void)
{
    double size = sqrt(-2 * log(even()));
    return size * cos(2 * acos(-1) * even());
}

/* ---- Recordings ----------------------------------------------------------------------------- */

typedef struct table {
    int n, count;
    double t[SAMPLES + 8], q[(SAMPLES + 8) * WIDE], v[(SAMPLES + 8) * WIDE];
} table;

static int keep(void *user, zw_sample_kind kind, int event, const zw_system *system,
                const zw_state *state, zw_work *work)
{
    table *to = user;
    zw_state *now = (zw_state *)state;
    (void)event;
    (void)work;
    if ((kind == ZW_SAMPLE_OUTPUT || kind == ZW_SAMPLE_START) && to->count < SAMPLES) {
        size_t n = (size_t)system->n, i = (size_t)to->count++;
        to->t[i] = state->t;
        memcpy(to->q + i * n, state_q(now), n * sizeof(double));
        memcpy(to->v + i * n, state_v(now), n * sizeof(double));
    }
    return 0;
}

static void record(const char *text, double time, table *to)
{
    world w = world_of(text);
    zw_run_summary summary;
    const zw_run_options options = {.time = time,
                                    .every = time / SAMPLES,
                                    .tolerance = 1e-11,
                                    .method = ZW_METHOD_DOP853,
                                    .observer = keep,
                                    .user = to};
    *to = (table){.n = w.system->n};
    if (zw_run(w.system, w.state, w.work, &options, &summary, &error) != ZW_OK) {
        fail_msg("%s", error.text);
    }
    world_end(&w);
}

/* With `part` of the spread of each coordinate as noise. */
static table drawn; /* the last */

static zw_path *disturbed(const zw_system *system, const table *from, double part, int speeds)
{
    table *to = &drawn;
    *to = *from;
    for (int k = 0; k < 2 * to->n; k++) {
        double *list = k < to->n ? to->q + k : to->v + k - to->n, mean = 0, square = 0;
        for (int i = 0; i < to->count; i++) {
            mean += list[i * to->n] / to->count;
            square += list[i * to->n] * list[i * to->n] / to->count;
        }
        double spread = sqrt(fmax(square - mean * mean, 1e-6));
        for (int i = 0; i < to->count; i++) {
            list[i * to->n] += part * spread * normal();
        }
    }
    zw_path *path = zw_path_create(system, to->count, to->t, to->q, speeds ? to->v : NULL, &error);
    assert_non_null(path);
    return path;
}

/* ---- Systems -------------------------------------------------------------------------------- */

typedef struct scene {
    const char *name, *text;
    double time;
    int speeds;
    const char *vary[4]; /* parameters; "x(0)" and "x'(0)" */
    double guess[4];     /* a factor of the truth to begin with, of parameters */
} scene;

static const scene scenes[] = {
    {"pendulum",
     "param l = 0.8, c = 0.1\ncoord a = 1\nmass 1 at l*(sin(a), -cos(a))\ngravity (0, -9.81)\n"
     "force a: -c*a'\n",
     5,
     0,
     {"l", "c", "a(0)"},
     {1.1, 0.5, 1}},
    {"rod",
     "param l = 1, g = 9.81, s = 0.9\ncoord x = l*sin(s), y = -l*cos(s)\nmass 1 at (x, y)\n"
     "gravity (0, -g)\nconstraint rod: x^2 + y^2 = l^2\n",
     3,
     0,
     {"l", "g", "s"},
     {1.05, 1.05, 1.1}},
    {"double pendulum",
     "param m = 2, l1 = 1, l2 = 0.8\ncoord a = 0.7, b = 0.3\npoint p = l1*(sin(a), -cos(a))\n"
     "mass 1 at p, m at p + l2*(sin(b), -cos(b))\ngravity (0, -9.81)\n",
     3,
     1,
     {"m", "l1", "l2"},
     {0.9, 1.03, 0.97}},
    {"bouncing ball",
     "param h = 1, g = 9.81, bounce = 0.8\ncoord x = 0, y = h\nspeed x' = 0.5\nmass 1 at (x, y)\n"
     "gravity (0, -g)\nconstraint floor: y >= 0, restitution bounce\n",
     1.5,
     0,
     {"h", "bounce", "g", "x'(0)"},
     {1.02, 0.97, 1.01, 1}},
    {"friction on a slope",
     "param tilt = 0.6, mu = 0.3\ncoord x = 0, y = 0\nspeed x' = 0.5*cos(tilt), y' = "
     "-0.5*sin(tilt)\n"
     "mass 2 at (x, y)\ngravity (0, -9.81)\nconstraint face: y*cos(tilt) + x*sin(tilt) = 0\n"
     "friction face: mu\n",
     1.5,
     0,
     {"tilt", "mu"},
     {1.05, 0.8}},
    {"spring pendulum",
     "param k = 30, l = 1\ncoord x = 0.4, y = -1.2\nmass 1 at (x, y)\ngravity (0, -9.81)\n"
     "spring k from (0, 0) to (x, y) length l\n",
     3,
     0,
     {"k", "l", "x(0)"},
     {1.1, 1.05, 1}},
    {"sleigh",
     "param I = 0.3, s = 0.2\ncoord x = 0, y = 0, th = 0\nspeed x' = 1, th' = 1.5\n"
     "mass 1 at (x + s*cos(th), y + s*sin(th))\nkinetic I*th'^2/2\n"
     "constraint blade: y'*cos(th) = x'*sin(th)\n",
     3,
     0,
     {"I", "s"},
     {1.2, 0.9}},
    {"driven rod",
     "param A = 0.2, w = 3\ncoord x = 0, y = -1\nmass 1 at (x, y)\ngravity (0, -9.81)\n"
     "constraint rod: (x - A*sin(w*t))^2 + y^2 = 1\n",
     4,
     0,
     {"A", "w"},
     {1.1, 1.02}},
    {"throw with drag",
     "param c = 0.05\ncoord x = 0, y = 1\nspeed x' = 8, y' = 6\nmass 1 at (x, y)\n"
     "gravity (0, -9.81)\nforce x: -c*x'*hypot(x', y')\nforce y: -c*y'*hypot(x', y')\n",
     1.5,
     0,
     {"c", "x'(0)", "y'(0)"},
     {0.5, 1, 1}},
    {"dry friction that swings",
     "param k = 20, mu = 0.05\ncoord x = 1, y = 0\nmass 1 at (x, y)\ngravity (0, -9.81)\n"
     "constraint table: y = 0\nfriction table: mu slip x'\nforce x: -k*x\n",
     3,
     0,
     {"k", "mu"},
     {1.03, 1.2}},
};

static int unknowns_of(const scene *of, const zw_system *system, zw_unknown *by, double *truth,
                       zw_setting *guess, int *guesses, zw_state *state)
{
    int count = 0;
    *guesses = 0;
    for (; count < 4 && of->vary[count]; count++) {
        char name[32];
        snprintf(name, sizeof name, "%s", of->vary[count]);
        char *bracket = strstr(name, "(0)");
        int speed = bracket && bracket > name && bracket[-1] == '\'';
        if (bracket) {
            bracket[-speed] = 0;
            int i = zw_id(system, ZW_KIND_COORD, name);
            by[count] = (zw_unknown){speed ? ZW_UNKNOWN_SPEED : ZW_UNKNOWN_START, i};
            truth[count] = speed ? state_v(state)[i] : state_q(state)[i];
        } else {
            int k = zw_id(system, ZW_KIND_PARAM, name);
            by[count] = (zw_unknown){ZW_UNKNOWN_PARAM, k};
            truth[count] = system->model->param[k].value;
            guess[(*guesses)++] =
                (zw_setting){system->model->param[k].name, truth[count] * of->guess[count]};
        }
    }
    return count;
}

static int draws(void)
{
    const char *text = getenv("ZW_CAMPAIGN");
    return !text ? 8 : !strcmp(text, "small") ? 5 : atoi(text) > 1 ? atoi(text) : 200;
}

/* ---- The same draws without a fit -------------------------------------------------------------
 */

/* At the true unknowns the recording is linear in them, for small noise; with the noise known,
 * least squares have normal errors of known size, so that their intervals cover in 95 of 100. How
 * often they do with the current draws says what is luck in these: intervals of fits are compared
 * with that. */
typedef struct control {
    int count, columns, rows;
    double slope[2 * WIDE * SAMPLES * 4], size[2 * WIDE * SAMPLES]; /* noise of each row */
    double C[16];
} control;

static int keep_slopes(void *user, const zw_state *state, const zw_sensitivity_answer *answer)
{
    control *to = user;
    (void)state;
    if (to->count < SAMPLES) {
        for (int k = 0; k < answer->columns; k++) {
            for (int i = 0; i < 2 * answer->n; i++) {
                to->slope[(to->count * 2 * answer->n + i) * 4 + k] =
                    answer->by[k * 2 * answer->n + i];
            }
        }
        to->count++;
    }
    return 0;
}

/* C = (J' J)^-1 by elimination. */
static void invert(int n, const double *M, double *C)
{
    double a[4][8] = {{0}};
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            a[i][j] = M[4 * i + j];
        }
        a[i][n + i] = 1;
    }
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < n; i++) {
            double by = i == k ? 1 - 1 / a[k][k] : a[i][k] / a[k][k];
            for (int j = 0; j < 2 * n; j++) {
                a[i][j] -= by * a[k][j];
            }
        }
    }
    for (int i = 0; i < n; i++) {
        memcpy(C + 4 * i, a[i] + n, (size_t)n * sizeof(double));
    }
}

static double spread_of(const table *x, int channel)
{
    const double *list = channel < x->n ? x->q + channel : x->v + channel - x->n;
    double mean = 0, square = 0;
    for (int i = 0; i < x->count; i++) {
        mean += list[i * x->n] / x->count;
        square += list[i * x->n] * list[i * x->n] / x->count;
    }
    return sqrt(fmax(square - mean * mean, 1e-6));
}

static void prepare(const scene *of, world *w, const zw_unknown *by, int columns,
                    const table *truth, control *to)
{
    const zw_sensitivity_plan plan = {
        .run = {.time = of->time, .tolerance = 1e-11, .method = ZW_METHOD_DOP853},
        .times = truth->count,
        .time = truth->t,
        .observer = keep_slopes,
        .user = to};
    zw_run_summary summary;
    zw_sensitivity *s = zw_sensitivity_create(w->model, w->system, by, columns, &error);
    *to = (control){.columns = columns, .rows = of->speeds ? 2 * truth->n : truth->n};
    if (!s || zw_sensitivity_start(s, w->state, 1, &error) != ZW_OK ||
        zw_sensitivity_run(s, w->state, w->work, &plan, &summary, &error) != ZW_OK) {
        fail_msg("%s: %s", of->name, error.text);
    }
    zw_sensitivity_free(s);
    double M[16] = {0};
    for (int r = 0; r < to->count * to->rows; r++) {
        int i = r / to->rows * 2 * truth->n + r % to->rows;
        to->size[i] = 0.01 * spread_of(truth, r % to->rows);
        for (int k = 0; k < 16; k++) {
            M[k] +=
                to->slope[4 * i + k / 4] * to->slope[4 * i + k % 4] / (to->size[i] * to->size[i]);
        }
    }
    invert(columns, M, to->C);
}

/* Of the unknowns, how many have the truth in their intervals. */
static int control_inside(const control *of, const table *truth, const table *with)
{
    double g[4] = {0};
    int inside = 0;
    for (int r = 0; r < of->count * of->rows; r++) {
        int sample = r / of->rows, channel = r % of->rows, n = truth->n;
        int i = sample * 2 * n + channel, at = sample * n + channel % n;
        double e = channel < n ? with->q[at] - truth->q[at] : with->v[at] - truth->v[at];
        for (int k = 0; k < of->columns; k++) {
            g[k] += of->slope[4 * i + k] * e / (of->size[i] * of->size[i]);
        }
    }
    for (int k = 0; k < of->columns; k++) {
        double x = 0;
        for (int j = 0; j < of->columns; j++) {
            x += of->C[4 * k + j] * g[j];
        }
        inside += fabs(x) <= 1.959964 * sqrt(of->C[5 * k]);
    }
    return inside;
}

static void cover(const scene *of, int *inside, int *all)
{
    static control linear;
    static table truth;
    world w = world_of(of->text), begin;
    zw_unknown by[4];
    zw_setting guess[4];
    double value[4], worst = 0;
    int guesses, here = 0, mine = 0, steps = 0, lucky = 0;
    int count = unknowns_of(of, w.system, by, value, guess, &guesses, w.state);
    record(of->text, of->time, &truth);
    prepare(of, &w, by, count, &truth, &linear);
    assert_true(world_try(&begin, of->text, guess, guesses, NULL));
    for (int k = 0; k < draws(); k++) {
        seed = (uint64_t)k * 977 + (uint64_t)of->text[8] + strlen(of->text);
        zw_path *path = disturbed(begin.system, &truth, 0.01, of->speeds);
        const zw_fit_problem problem = {.unknown = by,
                                        .unknowns = count,
                                        .recording = (const zw_path *const *)&path,
                                        .recordings = 1};
        zw_fit *fit = zw_fit_create(begin.model, begin.system, &problem, &error);
        if (!fit) {
            fail_msg("%s, draw %d: %s", of->name, k, error.text);
        }
        for (int i = 0; i < count; i++) {
            zw_fit_estimate x = zw_fit_look(fit, i);
            here += x.low <= value[i] && value[i] <= x.high;
            mine++;
            worst = fmax(worst, fabs(x.value - value[i]) / x.error);
            assert_true(x.error > 0 && x.error < 0.5 * fabs(value[i]) && !x.at_bound);
        }
        assert_int_equal(zw_fit_report_of(fit).unexplained, 0);
        lucky += control_inside(&linear, &truth, &drawn);
        steps += zw_fit_report_of(fit).iterations;
        zw_fit_free(fit);
        zw_path_free(path);
    }
    double part = 0.95 + (double)(here - lucky) / mine;
    print_message(
        "%-26s %d unknowns: %5.1f %% of %d inside, %5.1f without a fit: %5.1f; worst %.1f "
        "errors off, %.1f steps\n",
        of->name, count, 100.0 * here / mine, mine, 100.0 * lucky / mine, 100 * part, worst,
        (double)steps / draws());
    assert_true(worst < 5);
    /* Of 200 draws the share inside has a standard deviation of 1 to 1.5 % if 95 % is true, so that
     * one system of ten is outside 93 to 97 by chance every other time; of 1000 draws it is 0.7 at
     * most. So few draws are compared with the control, many are taken as they are. */
    assert_true(draws() < 200 || fabs(part - 0.95) <= 0.02);
    /* In any case within 3.3 deviations, if the unknowns of a draw are inside or outside together.
     */
    assert_true(draws() < 200 ||
                fabs((double)here / mine - 0.95) <= 3.3 * sqrt(0.95 * 0.05 / draws()));
    assert_true(draws() < 1000 || fabs((double)here / mine - 0.95) <= 0.02);
    *inside += here;
    *all += mine;
    world_end(&w);
    world_end(&begin);
}

/* All together within 3.3 deviations of 95 %; of 200 draws and more between 93 and 97. */
static void test_coverage(void **state)
{
    (void)state;
    int inside = 0, all = 0;
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++) {
        cover(&scenes[k], &inside, &all);
    }
    double part = (double)inside / all, wide = fmin(3.3 * sqrt(0.95 * 0.05 / all), 0.1);
    print_message("%.2f %% of %d intervals have the truth\n", 100 * part, all);
    assert_true(fabs(part - 0.95) <= (draws() >= 200 ? 0.02 : wide));
}

/* ---- What cannot be determined
 * -------------------------------------------------------------------- */

static zw_fit *fit_text(world *w, const char *data, double time, double noise, const zw_unknown *by,
                        int count, const double *low, const double *high, int paths)
{
    static table truth;
    zw_path *path[4];
    record(data, time, &truth);
    for (int k = 0; k < paths; k++) {
        path[k] = disturbed(w->system, &truth, noise, 0);
    }
    const zw_fit_problem problem = {.unknown = by,
                                    .unknowns = count,
                                    .low = low,
                                    .high = high,
                                    .recording = (const zw_path *const *)path,
                                    .recordings = paths};
    zw_fit *fit = zw_fit_create(w->model, w->system, &problem, &error);
    for (int k = 0; k < paths; k++) {
        zw_path_free(path[k]);
    }
    return fit;
}

/* Only k/m is in the motion, and d is nowhere. */
static void test_nulls(void **state)
{
    (void)state;
    const zw_unknown by[] = {
        {ZW_UNKNOWN_PARAM, 0}, {ZW_UNKNOWN_PARAM, 1}, {ZW_UNKNOWN_PARAM, 2}, {ZW_UNKNOWN_START, 0}};
    world w = world_of("param m = 2, k = 19, d = 1\ncoord x = 1\nmass m at (x, 0)\n"
                       "force x: -k*x\ncheck energy + d\n");
    seed = 5;
    zw_fit *fit = fit_text(&w,
                           "param m = 2, k = 20, d = 1\ncoord x = 1\nmass m at (x, 0)\n"
                           "force x: -k*x\n",
                           4, 0.01, by, 4, NULL, NULL, 1);
    assert_non_null(fit);
    assert_int_equal(zw_fit_report_of(fit).nulls, 2);
    double m = zw_fit_look(fit, 0).value, k = zw_fit_look(fit, 1).value, both = 0;
    for (int i = 0; i < 2; i++) {
        const double *null = zw_fit_null(fit, i);
        both += fabs(null[0] * k - null[1] * m); /* along it k/m stays */
        assert_true(null[3] == 0);
    }
    assert_true(both < 1e-6 && fabs(k / m - 10) < 0.1);
    assert_true(isinf(zw_fit_look(fit, 0).error) && isinf(zw_fit_look(fit, 2).error));
    assert_true(zw_fit_look(fit, 3).error < 0.01 && zw_fit_look(fit, 2).value == 1);
    assert_string_equal(zw_fit_name(fit, 3), "x(0)");
    zw_fit_free(fit);
    world_end(&w);
}

static void test_bounds(void **state)
{
    (void)state;
    static const char truth[] = "param k = 20, c = 0.3\ncoord x = 1\nmass 1 at (x, 0)\n"
                                "force x: -k*x - c*x'\n";
    const zw_unknown by[] = {{ZW_UNKNOWN_PARAM, 0}, {ZW_UNKNOWN_PARAM, 1}};
    const double low[] = {1, 0}, high[] = {100, 0.2}, crossed[] = {2, -1};
    world w =
        world_of("param k = 19, c = 0.1\ncoord x = 1\nmass 1 at (x, 0)\nforce x: -k*x - c*x'\n");
    seed = 6;
    zw_fit *fit = fit_text(&w, truth, 4, 0.01, by, 2, low, high, 1);
    assert_non_null(fit);
    zw_fit_estimate c = zw_fit_look(fit, 1);
    assert_true(c.value == 0.2 && c.at_bound == 1);
    assert_true(fabs(zw_fit_look(fit, 0).value - 20) < 0.5);
    zw_fit_free(fit);
    assert_null(fit_text(&w, truth, 4, 0.01, by, 2, high, crossed, 1));
    assert_non_null(strstr(error.text, "bounds of k"));
    world_end(&w);
}

/* A ball that bounces has many minima: from a wrong height one is found whose bounces are at other
 * times, and whose residuals are no noise. Nor are those of a recording to which a force belongs
 * that the model does not have, or that exceed the noise that is given. */
static void test_unexplained(void **state)
{
    (void)state;
    static const char truth[] =
        "param b = 0.8, h = 1, g = 9.81, w = 0\ncoord y = h\nmass 1 at (0, y)\ngravity (0, -g)\n"
        "constraint floor: y >= 0, restitution b\nforce y: w*y\n";
    static const struct {
        const char *b, *h, *w;
        int unexplained;
    } from[] = {{"0.7", "1.1", "0", 0}, {"0.9", "2.5", "0", 1}, {"0.8", "1", "2", 1}};
    const zw_unknown by[] = {{ZW_UNKNOWN_PARAM, 0}, {ZW_UNKNOWN_PARAM, 1}, {ZW_UNKNOWN_PARAM, 2}};
    const double low[] = {0.05, 0.1, 1}, high[] = {1, 3, 30};
    for (size_t k = 0; k < sizeof from / sizeof *from; k++) {
        const zw_setting begin[] = {
            {"b", atof(from[k].b)}, {"h", atof(from[k].h)}, {"w", atof(from[k].w)}};
        world w;
        assert_true(world_try(&w, truth, begin, 3, NULL));
        seed = 9;
        zw_fit *fit = fit_text(&w, truth, 3, 0.01, by, 3, low, high, 1);
        assert_non_null(fit);
        print_message("a ball from b = %s, h = %s, w = %s: b = %g, Durbin-Watson %.3g\n", from[k].b,
                      from[k].h, from[k].w, zw_fit_look(fit, 0).value, zw_fit_neighbours(fit, 0));
        assert_int_equal(zw_fit_report_of(fit).unexplained, from[k].unexplained);
        zw_fit_free(fit);
        world_end(&w);
    }
}

static void test_sigma(void **state)
{
    (void)state;
    static const char text[] = "param k = 20\ncoord x = 1\nmass 1 at (x, 0)\nforce x: -k*x\n";
    static table truth;
    const zw_unknown by[] = {{ZW_UNKNOWN_PARAM, 0}};
    const double sigma[][2] = {{0.012, 0}, {0.005, 0}};
    for (int k = 0; k < 2; k++) {
        world w = world_of(text);
        seed = 10;
        record(text, 4, &truth);
        zw_path *path = disturbed(w.system, &truth, 0.01, 0);
        const zw_fit_problem problem = {.unknown = by,
                                        .unknowns = 1,
                                        .recording = (const zw_path *const *)&path,
                                        .recordings = 1,
                                        .sigma = sigma[k]};
        zw_fit *fit = zw_fit_create(w.model, w.system, &problem, &error);
        assert_non_null(fit);
        assert_int_equal(zw_fit_report_of(fit).unexplained, k);
        zw_fit_free(fit);
        zw_path_free(path);
        world_end(&w);
    }
}

/* A coordinate that a constraint keeps at zero has no noise, and its round-off no weight. */
static void test_zero_channel(void **state)
{
    (void)state;
    static const char text[] =
        "param k = 12, mu = 0.12\ncoord s = 0.4, n = 0\nmass 0.7 at (s*cos(0.35) - n*sin(0.35), "
        "s*sin(0.35) + n*cos(0.35))\ngravity (0, -9.81)\nconstraint wire: n = 0\n"
        "friction wire: mu slip s'\nforce s: -k*s\n";
    const zw_unknown by[] = {{ZW_UNKNOWN_PARAM, 0}, {ZW_UNKNOWN_PARAM, 1}};
    const zw_setting guess[] = {{"k", 11}, {"mu", 0.1}};
    world w;
    assert_true(world_try(&w, text, guess, 2, NULL));
    zw_fit *fit = fit_text(&w, text, 1, 0, by, 2, NULL, NULL, 1);
    assert_non_null(fit);
    double k = zw_fit_look(fit, 0).value, mu = zw_fit_look(fit, 1).value;
    printf("beside a channel that is zero: k %.9g, mu %.9g, %d null directions\n", k, mu,
           zw_fit_report_of(fit).nulls);
    assert_true(fabs(k - 12) < 1e-6 && fabs(mu - 0.12) < 1e-6);
    assert_int_equal(zw_fit_report_of(fit).nulls, 0);
    zw_fit_free(fit);
    world_end(&w);
}

/* Two recordings of one motion: errors fall by the root of two; no noise: nearly none. */
static void test_recordings(void **state)
{
    (void)state;
    static const char text[] =
        "param l = 0.8, c = 0.1\ncoord a = 1\n"
        "mass 1 at l*(sin(a), -cos(a))\ngravity (0, -9.81)\nforce a: -c*a'\n";
    const zw_unknown by[] = {{ZW_UNKNOWN_PARAM, 0}, {ZW_UNKNOWN_PARAM, 1}};
    double wide[2];
    world w = world_of(text);
    for (int k = 0; k < 2; k++) {
        seed = 7;
        zw_fit *fit = fit_text(&w, text, 4, 0.01, by, 2, NULL, NULL, 1 + 3 * k);
        assert_non_null(fit);
        wide[k] = zw_fit_look(fit, 0).error;
        zw_fit_free(fit);
    }
    assert_true(fabs(wide[0] / wide[1] - 2) < 0.4);
    zw_fit *fit = fit_text(&w, text, 4, 0, by, 2, NULL, NULL, 1);
    assert_non_null(fit);
    assert_true(fabs(zw_fit_look(fit, 0).value - 0.8) < 1e-9);
    zw_fit_free(fit);
    world_end(&w);
}

/* Parameters that follow from others go along. */
static void test_sources(void **state)
{
    (void)state;
    const zw_unknown by[] = {{ZW_UNKNOWN_PARAM, 0}};
    world w = world_of("param r = 0.19, l = 5*r\ncoord a = 1\nmass 1 at l*(sin(a), -cos(a))\n"
                       "gravity (0, -9.81)\n");
    seed = 8;
    zw_fit *fit = fit_text(&w,
                           "param r = 0.2, l = 5*r\ncoord a = 1\nmass 1 at l*(sin(a), -cos(a))\n"
                           "gravity (0, -9.81)\n",
                           3, 1e-4, by, 1, NULL, NULL, 1);
    assert_non_null(fit);
    assert_true(fabs(zw_fit_look(fit, 0).value - 0.2) < 1e-4);
    zw_fit_free(fit);
    world_end(&w);
}

static void test_no_memory(void **state)
{
    (void)state;
    static table truth;
    static const char text[] = "param k = 20\ncoord x = 1\nmass 1 at (x, 0)\nforce x: -k*x\n";
    const zw_unknown by = {ZW_UNKNOWN_PARAM, 0};
    world w = world_of(text);
    int done = 0;
    record(text, 1, &truth);
    zw_path *path = disturbed(w.system, &truth, 0.01, 0);
    const zw_fit_problem problem = {
        .unknown = &by, .unknowns = 1, .recording = (const zw_path *const *)&path, .recordings = 1};
    for (int k = 1; !done && k < 10000000; k += 1 + k / 16) {
        base_alloc_fail_after(k);
        zw_fit *fit = zw_fit_create(w.model, w.system, &problem, &error);
        base_alloc_fail_after(0);
        done = fit != NULL;
        assert_true(done || error.status == ZW_NO_MEMORY);
        zw_fit_free(fit);
    }
    assert_true(done);
    zw_path_free(path);
    world_end(&w);
}

int main(int argc, char **argv)
{
    for (size_t k = 0; argc > 1 && k < sizeof scenes / sizeof *scenes; k++) {
        if (strcmp(scenes[k].name, argv[1]) == 0) {
            int inside = 0, all = 0;
            cover(&scenes[k], &inside, &all);
            return 0;
        }
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nulls),        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_zero_channel), cmocka_unit_test(test_recordings),
        cmocka_unit_test(test_sources),      cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_coverage),     cmocka_unit_test(test_unexplained),
        cmocka_unit_test(test_sigma),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Events that change nothing: each is reported where it happens, and the motion is as it is without
 * them. Random marks along the flights of a ball that an event throws back, in closed form.
 *
 *     test_marks [systems]         campaign of that many systems (a sample without it) */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scene/campaign.h"
#include "scene/dice.h"
#include "system/world.h"

enum { MARKS = 12, MOST = 2000, TEXT = 4000 };
#define TIMES 1e-12 /* s */
static int systems = 0;

typedef struct report {
    double t;
    int event; /* -1: a sample between them */
} report;

typedef struct story {
    int count;
    double last; /* samples may not go back in time */
    report at[MOST];
    double q[4], v[4];
    zw_run_summary summary;
} story;

static int observe(void *user, zw_sample_kind kind, int event, const zw_system *system,
                   const zw_state *state, zw_work *work)
{
    story *s = user;
    double t = zw_field(system, state, work, ZW_FIELD_TIME).data[0];
    if (!(t >= s->last)) {
        fail_msg("a sample at %.17g after one at %.17g", t, s->last);
    }
    s->last = t;
    if (kind == ZW_SAMPLE_EVENT && s->count < MOST) {
        s->at[s->count++] = (report){t, event};
    }
    return 0;
}

static void tell(const char *text, zw_run_options options, story *s)
{
    world w = world_of(text);
    *s = (story){.last = -1};
    options.observer = observe;
    options.user = s;
    if (zw_run(w.system, w.state, w.work, &options, &s->summary, &w.error) != ZW_OK) {
        fail_msg("%s\n%s", w.error.text, text);
    }
    zw_view q = zw_field(w.system, w.state, w.work, ZW_FIELD_Q);
    memcpy(s->q, q.data, (size_t)q.count * sizeof *s->q);
    memcpy(s->v, zw_field(w.system, w.state, w.work, ZW_FIELD_V).data,
           (size_t)q.count * sizeof *s->v);
    world_end(&w);
}

/* ---- A ball, and what is marked on its way ----------------------------------------------------
 */

typedef enum mark_kind { LEVEL, SPEED, TIME, BEAT, ABOVE, BELOW, KINDS } mark_kind;

typedef struct flight {
    double x, v, g, e, end;
    int marks, kind[MARKS];
    double value[MARKS];
} flight;

static void note(story *s, double t, double from, double to, int event)
{
    if (t > from && t <= to && s->count < MOST) {
        s->at[s->count++] = (report){t, event};
    }
}

/* x + v s - g s^2/2 = level; 0: it nearly grazes it. */
static int note_level(story *s, const flight *f, double t, double to, int k)
{
    double level = f->value[k], square = f->v * f->v + 2 * f->g * (f->x - level);
    if (fabs(square) < 1e-2) {
        return 0;
    }
    if (square < 0) {
        return 1;
    }
    double root = sqrt(square), rises = (f->v - root) / f->g, falls = (f->v + root) / f->g;
    if (f->kind[k] != BELOW) {
        note(s, t + rises, t, to, k + 1);
    }
    if (f->kind[k] != ABOVE) {
        note(s, t + falls, t, to, k + 1);
    }
    return 1;
}

static int note_marks(story *s, const flight *f, double t, double to)
{
    for (int k = 0; k < f->marks; k++) {
        double value = f->value[k];
        if (f->kind[k] == SPEED) {
            note(s, t + (f->v - value) / f->g, t, to, k + 1);
        } else if (f->kind[k] == TIME) {
            note(s, value, t, to, k + 1);
        } else if (f->kind[k] == BEAT) {
            for (double n = ceil(t * value); n <= to * value; n++) {
                note(s, n / value, t, to, k + 1);
            }
        } else if (!note_level(s, f, t, to, k)) {
            return 0;
        }
    }
    return 1;
}

static int by_time(const void *a, const void *b)
{
    const report *x = a, *y = b;
    return (x->t > y->t) - (x->t < y->t);
}

/* 0: what happens is undetermined, as two events nearly coincide. */
static int follow(flight f, story *s)
{
    double t = 0;
    *s = (story){.count = 0};
    while (t < f.end) {
        double lands = (f.v + sqrt(f.v * f.v + 2 * f.g * f.x)) / f.g, go = fmin(lands, f.end - t);
        if (!note_marks(s, &f, t, t + go) || lands < 0.05) {
            return 0;
        }
        note(s, t + lands, t, f.end, 0);
        f.v = -f.e * (f.v - f.g * lands);
        f.x = 0;
        t += lands;
    }
    qsort(s->at, (size_t)s->count, sizeof *s->at, by_time);
    for (int i = 0; i < s->count; i++) {
        double next = i + 1 < s->count ? s->at[i + 1].t : f.end;
        if (next - s->at[i].t < 1e-7 || s->at[i].t < 1e-7) {
            return 0;
        }
    }
    return s->count < MOST;
}

static flight random_flight(dice *d)
{
    flight f = {.x = dice_between(d, 0.1, 3), .v = dice_between(d, -3, 5)};
    f.g = dice_between(d, 3, 15);
    f.e = dice_between(d, 0.7, 1);
    f.end = dice_between(d, 0.5, 2);
    f.marks = dice_int(d, 1, MARKS);
    for (int k = 0; k < f.marks; k++) {
        f.kind[k] = dice_int(d, 0, KINDS - 1);
        f.value[k] = f.kind[k] == SPEED  ? dice_between(d, -5, 5)
                     : f.kind[k] == TIME ? dice_between(d, 0, f.end)
                     : f.kind[k] == BEAT ? dice_power(d, 0, 2)
                                         : dice_between(d, 0.01, 3);
    }
    return f;
}

static void write_flight(const flight *f, char *text)
{
    static const char *const form[] = {
        [LEVEL] = "x = %.17g",          [SPEED] = "x' = %.17g",     [TIME] = "t = %.17g",
        [BEAT] = "sin(pi*t*%.17g) = 0", [ABOVE] = "when x > %.17g", [BELOW] = "when x < %.17g"};
    int at = snprintf(text, TEXT,
                      "coord x = %.17g\nspeed x' = %.17g\nmass 1 at x\nforce x: -%.17g\n"
                      "event lands: when x < 0, set x' = -%.17g*x'\n",
                      f->x, f->v, f->g, f->e);
    for (int k = 0; k < f->marks; k++) {
        at += snprintf(text + at, TEXT - (size_t)at, "event m%d: ", k);
        at += snprintf(text + at, TEXT - (size_t)at, form[f->kind[k]], f->value[k]);
        at += snprintf(text + at, TEXT - (size_t)at, "\n");
    }
}

static void every_mark_is_reported_in_its_place(void **unused)
{
    static story mine, zwang;
    double worst = 0;
    long events = 0, unproved = 0;
    int each = systems > 0 ? systems : campaign(300), done = 0;
    (void)unused;
    for (unsigned seed = 0; done < each; seed++) {
        char text[TEXT];
        dice d = dice_of(seed);
        flight f = random_flight(&d);
        if (!follow(f, &mine)) {
            continue;
        }
        write_flight(&f, text);
        tell(text,
             (zw_run_options){.time = f.end, .every = seed % 2 ? 0.01 : 0, .tolerance = 1e-12},
             &zwang);
        for (int i = 0; i < mine.count && i < zwang.count; i++) {
            double miss = fabs(mine.at[i].t - zwang.at[i].t);
            if (mine.at[i].event != zwang.at[i].event || !(miss <= TIMES)) {
                fail_msg("%s\nevent %d at %.17g, zwang %d at %.17g", text, mine.at[i].event,
                         mine.at[i].t, zwang.at[i].event, zwang.at[i].t);
            }
            worst = fmax(worst, miss);
        }
        if (mine.count != zwang.count || zwang.summary.events != zwang.count) {
            fail_msg("%s\n%d events, zwang has seen %d, and counts %ld", text, mine.count,
                     zwang.count, zwang.summary.events);
        }
        unproved += zwang.summary.unproved;
        events += mine.count;
        done++;
    }
    assert_int_equal(unproved, 0);
    print_message("%d flights: %ld events, none missed, times to %.1e s\n", done, events, worst);
}

/* ---- The step is kept -------------------------------------------------------------------------
 */

#define SWING                                                                                      \
    "coord a = 1, b = 0.5\nspeed a' = 0.3\nkinetic a'^2/2 + b'^2/2 + cos(a - b)*a'*b'/2\n"         \
    "potential -9*cos(a) - 9*cos(b)\n"
#define ROD                                                                                        \
    "coord x = 0.6, y = -0.8\nmass 1 at (x, y)\ngravity (0, -10)\nconstraint rod: x^2 + y^2 = 1\n"

/* Bits, for methods that keep nothing but the state from solve to solve; Radau's method keeps how
 * its iterations converged, which its step control uses. */
static void marks_do_not_change_the_motion(void **unused)
{
    static const char *const text[] = {SWING, ROD};
    static const char *const mark[] = {"event m: a' = 0\nevent n: when b > a\nevent o: t = 0.7\n",
                                       "event m: x' = 0\nevent n: x = y\nevent o: t = 0.7\n"};
    static const zw_method method[] = {ZW_METHOD_DOP853, ZW_METHOD_RK4, ZW_METHOD_EULER,
                                       ZW_METHOD_STIFF, ZW_METHOD_VARIATIONAL};
    static story bare, marked;
    (void)unused;
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < sizeof method / sizeof *method; i++) {
            char both[1000];
            int stiff = method[i] == ZW_METHOD_STIFF,
                adapts = method[i] == ZW_METHOD_DOP853 || stiff;
            zw_run_options options = {
                .time = 3, .every = 0.11, .method = method[i], .step = adapts ? 0 : 0.013};
            snprintf(both, sizeof both, "%s%s", text[k], mark[k]);
            tell(text[k], options, &bare);
            tell(both, options, &marked);
            assert_true(marked.count > 2);
            assert_true(stiff || bare.summary.steps == marked.summary.steps);
            double size = k == 0 && i < 3 ? 0 : stiff ? 1e-9 : 1e-13;
            for (int j = 0; j < 2; j++) {
                if (!(fabs(bare.q[j] - marked.q[j]) <= size) ||
                    !(fabs(bare.v[j] - marked.v[j]) <= size)) {
                    fail_msg("method %d: q%d is %.17g, %.17g with marks", (int)method[i], j,
                             bare.q[j], marked.q[j]);
                }
            }
        }
    }
}

/* Events at one instant are reported in the order of the file, at one time. */
static void one_instant_is_one(void **unused)
{
    static story s;
    (void)unused;
    tell("coord x = 0\nspeed x' = 1\nkinetic x'^2/2\nevent a: 3*x = 1\nevent b: x = 1/3\n"
         "event c: when 7*x > 7/3\nevent d: x^2 = 1/9\n",
         (zw_run_options){.time = 1, .every = 1}, &s);
    assert_int_equal(s.count, 4);
    for (int k = 0; k < 4; k++) {
        assert_int_equal(s.at[k].event, k);
        assert_true(s.at[k].t == s.at[0].t && fabs(s.at[k].t - 1.0 / 3) < 1e-15);
    }
}

int main(int count, char **argument)
{
    systems = count > 1 ? atoi(argument[1]) : 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_mark_is_reported_in_its_place),
                                       cmocka_unit_test(marks_do_not_change_the_motion),
                                       cmocka_unit_test(one_instant_is_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

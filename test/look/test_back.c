/* The backward pass over a step of method impulse against the matrix of the step, which
 * test_rigid.c compares with differences: everything with one transposed solve. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rigid_differ.h"
#include "scene/campaign.h"

/* A number that depends on the end of the step alone, with slopes that know all of it. */
static double weight(int i)
{
    return sin(1 + 0.7 * i * i);
}

static double cost(void *user, long step, const zw_state *state, double *by_q, double *by_v)
{
    const zw_system *system = user;
    (void)state;
    for (int i = 0; i < system->n && step == 1; i++) {
        by_q[i] = weight(i);
        by_v[i] = weight(i + system->n);
    }
    return 0;
}

/* How far the way back is from the matrix, of the largest; and the kinks of both. */
typedef struct answer {
    double apart;
    int kinks[2];
    const char *kink;
} answer;

static answer compare_at(const scene *of, world *w, double *by)
{
    int n = w->system->n, params = w->system->shape.params, wide = 2 * n + params, kinks = 0;
    double *mine = calloc((size_t)wide, sizeof *mine), worst = 0, size = 0;
    const zw_run_options options = plan_of(of);
    const zw_gradient_plan plan = {.run = options, .steps = 1, .cost = cost, .user = w->system};
    zw_gradient to = {.by_q = mine, .by_v = mine + n, .by_param = mine + 2 * n};
    if (zw_step_slopes(w->system, w->state, &options, by, &kinks, &w->error) != ZW_OK ||
        zw_gradient_find(w->system, w->state, &plan, &to, &w->error) != ZW_OK) {
        fail_msg("%s: %s", of->name, w->error.text);
    }
    for (int c = 0; c < wide; c++) {
        double sum = 0;
        for (int i = 0; i < 2 * n; i++) {
            sum += weight(i) * by[i * wide + c];
        }
        size = fmax(size, fabs(sum));
        worst = fmax(worst, fabs(sum - mine[c]));
    }
    free(mine);
    return (answer){worst / size, {kinks, to.kinks}, to.kink};
}

static size_t matrix_size(const world *w)
{
    size_t two = 2 * (size_t)w->system->n;
    return two * (two + (size_t)w->system->shape.params);
}

static answer compare(const scene *of)
{
    world w = begin(of);
    double *by = calloc(matrix_size(&w), sizeof *by);
    answer found = compare_at(of, &w, by);
    printf("%-32s n %3d  worst %.1e  kinks %d, %d %s\n", of->name, w.system->n, found.apart,
           found.kinks[0], found.kinks[1], found.kink ? found.kink : "");
    free(by);
    world_end(&w);
    return found;
}

static void test_scenes(void **state)
{
    double worst = 0;
    int kinks = 0;
    (void)state;
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++) {
        answer found = compare(&scenes[k]);
        worst = fmax(worst, found.apart);
        kinks += found.kinks[0] + found.kinks[1];
    }
    assert_true(worst < 1e-9);
    assert_int_equal(kinks, 0);
}

/* Equations that do not say all: both ways have the same of many answers, and both say so. */
static void test_singular(void **state)
{
    static const scene of[] = {
        {.name = "a box that spins and slides, on four corners",
         .text = OF("", FLOOR "<body pos='0 0 .1'><freejoint/><geom type='box' size='.2 .3 .1' "
                              "mass='1' friction='.3 0 0'/></body>"),
         .speed = {1, .5, 0, 0, 0, 4}},
        {.name = "an arm of two joints that stands on a flat foot",
         .text = OF("", FLOOR
                    "<body pos='0 0 .3'><joint type='hinge' axis='0 1 0'/><geom type='capsule' "
                    "fromto='0 0 0 .3 0 0' size='.02'/><body pos='.3 0 0'><joint type='hinge' "
                    "axis='0 1 0'/><geom type='capsule' fromto='0 0 0 0 0 -.2' size='.02'/><geom "
                    "type='capsule' fromto='-.1 0 -.28 .1 0 -.28' size='.02' "
                    "friction='1 0 0'/></body></body>")},
        {.name = "a box that lies on a floor and begins with an impact",
         .text = OF("", "<geom type='plane' size='5 5 1' friction='.4 0 0'/><body pos='0 0 .1'>"
                        "<freejoint/><geom type='box' size='.1 .1 .1' mass='1' "
                        "friction='.4 0 0'/></body>"),
         .speed = {.0527, .0888, -.1277, -.0069, .0507, .0676}},
        {.name = "an ellipsoid that cannot get out between two boxes",
         .text = OF("", "<geom type='box' size='.3 .3 .3'/><geom type='box' size='.3 .3 .3' "
                        "pos='0 0 .75'/><body pos='0 0 .375'><freejoint/><geom type='ellipsoid' "
                        "size='.1 .1 .09' mass='1'/></body>")},
        {.name = "two ellipsoids that a step takes out of one another",
         .text = OF("", "<body pos='0 0 1'><joint type='slide' axis='1 0 0'/><geom "
                        "type='ellipsoid' size='.1 .05 .08' mass='1'/></body><body pos='.15 .02 "
                        "1'><joint type='slide' axis='1 0 0'/><geom type='ellipsoid' size='.08 "
                        ".06 .08' mass='1'/></body>")}};
    static const char *const name[] = {
        "contacts that slide and share a load", "contacts that cannot all keep their state",
        "contacts that slide and share a load", "overlapping shapes", "overlapping shapes"};
    (void)state;
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        answer found = compare(&of[k]);
        assert_true(found.apart < 1e-9);
        assert_true(found.kinks[0] > 0 && found.kinks[1] > 0);
        assert_string_equal(found.kink, name[k]);
    }
}

/* ---- A fall ---------------------------------------------------------------------------------- */

enum { STEPS = 6, MOTORS_MOST = 40, DIRECTIONS = 3 };

typedef struct fall {
    world w;
    long steps;
    int motors, control[MOTORS_MOST];
    double value[STEPS * MOTORS_MOST], by[STEPS * MOTORS_MOST];
    zw_run_options run;
} fall;

/* Heights and speeds, all the way. */
static double height(void *user, long step, const zw_state *state, double *by_q, double *by_v)
{
    double sum = state_q((zw_state *)state)[2];
    const zw_system *system = user;
    (void)step;
    by_q[2] += 1;
    for (int i = 0; i < system->n; i++) {
        double v = state_v((zw_state *)state)[i];
        sum += 1e-3 * v * v;
        by_v[i] += 2e-3 * v;
    }
    return sum;
}

/* The cost with all controls moved along a direction. */
static double cost_along(fall *f, int which, double h)
{
    double sum = 0, none[200];
    zw_state *at = NULL;
    assert_int_equal(zw_state_copy(f->w.state, &at, &f->w.error), ZW_OK);
    for (long k = 0; k <= f->steps; k++) {
        sum += height(f->w.system, k, at, none, none + 100);
        for (int c = 0; c < f->motors && k < f->steps; c++) {
            long i = k * f->motors + c;
            state_param(at)[f->control[c]] = f->value[i] + h * weight((int)i * (which + 1));
        }
        if (k < f->steps) {
            assert_int_equal(zw_step(f->w.system, at, f->w.work, &f->run, &f->w.error), ZW_OK);
        }
    }
    zw_state_free(at);
    return sum;
}

/* Extrapolated twice: round-off of the motions, 1e-14, asks for long ways. */
static double difference(fall *f, int which)
{
    const double h = 5e-4;
    double d[3];
    for (int k = 0; k < 3; k++) {
        double way = h * (1 << k);
        d[k] = (cost_along(f, which, way) - cost_along(f, which, -way)) / (2 * way);
    }
    return (64 * d[0] - 20 * d[1] + d[2]) / 45;
}

/* A humanoid that begins to fall, on its feet: slopes of a sum over the motion by all controls of
 * all steps. */
static void test_fall(void **state)
{
    static const scene of = {.name = "a fall", EXAMPLE("contact/humanoid_falls.xml")};
    static fall f;
    double worst = 0;
    (void)state;
    f.w = begin(&of);
    f.steps = STEPS;
    f.run = (zw_run_options){.method = ZW_METHOD_IMPULSE, .tolerance = 1e-15};
    f.motors = f.w.system->bodies->motor_count;
    for (int k = 0; k < f.motors; k++) {
        f.control[k] = f.w.system->bodies->motor[k].param;
    }
    for (int i = 0; i < f.w.system->n; i++) {
        state_v(f.w.state)[i] = 0.1 * (i % 5);
    }
    zw_wake(f.w.state);
    for (long k = 0; k < f.steps * f.motors; k++) {
        f.value[k] = 0.2 * sin(0.1 * (double)k);
    }
    const zw_gradient_plan plan = {.run = f.run,
                                   .steps = f.steps,
                                   .controls = f.motors,
                                   .control = f.control,
                                   .value = f.value,
                                   .cost = height,
                                   .user = f.w.system};
    zw_gradient to = {.by_control = f.by};
    if (zw_gradient_find(f.w.system, f.w.state, &plan, &to, &f.w.error) != ZW_OK) {
        fail_msg("%s", f.w.error.text);
    }
    for (int which = 0; which < DIRECTIONS; which++) {
        double sum = 0, found = difference(&f, which);
        for (long k = 0; k < f.steps * f.motors; k++) {
            sum += f.by[k] * weight((int)k * (which + 1));
        }
        printf("a fall: %.12g, by differences %.12g\n", sum, found);
        worst = fmax(worst, fabs(sum - found) / fabs(found));
    }
    printf("a fall: worst %.1e, kinks %d %s\n", worst, to.kinks, to.kink ? to.kink : "");
    assert_true(worst < 1e-8);
    world_end(&f.w);
}

/* Along positions that keep what is closed as it is, speeds and controls, all at once. */
static double differ_step(world *w, const scene *of, const double *by, int step, int flagged)
{
    int n = w->system->n, wide = 2 * n + w->system->shape.params;
    double *base = calloc((size_t)w->system->nq, sizeof *base), found;
    double *along = calloc((size_t)wide, sizeof *along), *one = calloc((size_t)wide, sizeof *one);
    double *y = calloc(6 * (size_t)n, sizeof *y);
    closed_rows closed = find_closed(w);
    end_of(w, of, NULL, 0, NULL, base);
    for (int c = 0; c < wide; c++) {
        direction(&closed, c, wide, one);
        for (int i = 0; i < wide; i++) {
            along[i] += weight(c + step) * one[i];
        }
    }
    found = compare_along(w, of, by, along, base, flagged, y);
    free(base);
    free(along);
    free(one);
    free(y);
    free(closed.row);
    return found;
}

/* Boxes that spin and slide on four corners: of the loads that rigid bodies do not determine, steps
 * of up to 20 speeds take those of stiff bodies, and so do slopes. */
static void test_shares(void **state)
{
#define SPINS(more)                                                                                \
    OF("", FLOOR "<body pos='0 0 .1'><freejoint/><geom type='box' size='.2 .3 .1' mass='1' "       \
                 "friction='.3 0 0'/>" more "</body>")
    static const scene of[] = {
        {.name = "a box that spins and slides",
         .text = SPINS(""),
         .speed = {1, .5, 0, 0, 0, 4},
         .tolerance = 1e-15},
        {.name = "with an arm",
         .text = SPINS("<body pos='.1 0 .1'><joint type='hinge' axis='0 1 0'/><geom type='capsule' "
                       "fromto='0 0 0 .1 0 .4' size='.03' mass='.7' contype='0' "
                       "conaffinity='0'/></body>"),
         .speed = {1, .5, 0, 0, 0, 4},
         .tolerance = 1e-15}};
    (void)state;
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        world w = begin(&of[k]);
        double *by = calloc(matrix_size(&w), sizeof *by);
        answer found = compare_at(&of[k], &w, by);
        double off = differ_step(&w, &of[k], by, 1, 1);
        printf("%-32s ways apart %.1e, off differences %.1e, %s\n", of[k].name, found.apart, off,
               found.kink ? found.kink : "no kink");
        assert_true(found.apart < 1e-9 && off < 1e-8);
        assert_string_equal(found.kink, "contacts that slide and share a load");
        free(by);
        world_end(&w);
    }
#undef SPINS
}

/* All of the fall, step by step: 80 steps together are chaotic, so that differences of the whole
 * say nothing, but each of them is not. The way back is the matrix, whatever the kinks, and both
 * are what differences of the step say, at a kink those to one side; where contacts slide and share
 * a load, rigid bodies have many answers, and a step of so many speeds takes the first that it
 * finds (in three of five it is not that of stiff bodies, or at an end of the family). */
static void test_steps_of_a_fall(void **state)
{
    static const scene of = {
        .name = "a fall", EXAMPLE("contact/humanoid_falls.xml"), .tolerance = 1e-15};
    const int length = campaign(80);
    world w = begin(&of);
    int motors = w.system->bodies->motor_count, kinks = 0, open = 0;
    double *by = calloc(matrix_size(&w), sizeof *by), apart = 0, worst[2] = {0, 0};
    const zw_run_options options = plan_of(&of);
    (void)state;
    for (int i = 0; i < w.system->n; i++) {
        state_v(w.state)[i] = 0.1 * (i % 5);
    }
    for (int k = 0; k < length; k++) {
        zw_wake(w.state); /* it begins with nothing known, as the differences do */
        for (int c = 0; c < motors; c++) {
            state_param(w.state)[w.system->bodies->motor[c].param] =
                0.2 * sin(0.1 * k * motors + c);
        }
        answer found = compare_at(&of, &w, by);
        int flagged = found.kinks[1] > 0;
        int shares = flagged && strstr(found.kink, "share a load") != NULL;
        double off = differ_step(&w, &of, by, k, flagged);
        open += shares && off > 1e-8;
        off = shares && off > 1e-8 ? 0 : off;
        apart = fmax(apart, found.apart);
        worst[flagged] = fmax(worst[flagged], off);
        kinks += flagged;
        if (found.apart > 1e-9 || off > 1e-8) {
            printf("step %d: ways apart %.1e, off differences %.1e, %s\n", k, found.apart, off,
                   found.kink ? found.kink : "no kink");
        }
        assert_int_equal(zw_step(w.system, w.state, w.work, &options, &w.error), ZW_OK);
    }
    printf(
        "steps of a fall: ways apart %.1e, off differences %.1e, in %d with kinks %.1e (%d without "
        "a unique answer)\n",
        apart, worst[0], kinks, worst[1], open);
    assert_true(apart < 1e-9 && worst[0] < 1e-8 && worst[1] < 1e-8 && open <= 3);
    free(by);
    world_end(&w);
}

/* ---- Equations ------------------------------------------------------------------------------- */

typedef struct course {
    const char *name, *text;
    double every;
    long steps;
    const char *control; /* a parameter with a value of its own in each step */
} course;

static const course courses[] = {
    {"a pendulum that is driven",
     "param l = 0.8, c = 0.1, F = 0\ncoord a = 1\nspeed a' = 0.4\n"
     "mass 1 at l*(sin(a), -cos(a))\ngravity (0, -9.81)\nforce a: F - c*a'\n",
     0.11, 9, "F"},
    {"a ball that bounces",
     "param g = 9.81, bounce = 0.8, F = 0\ncoord x = 0, y = 1\nspeed x' = 0.5\nmass 1 at (x, y)\n"
     "gravity (0, -g)\nforce x: F\nconstraint floor: y >= 0, restitution bounce\nfriction floor: "
     "0.1\n",
     0.13, 9, "F"},
    {"friction that sticks and slides",
     "param k = 20, mu = 0.05, F = 0\ncoord x = 1, y = 0\nspeed x' = -0.5\nmass 1 at (x, "
     "y)\ngravity (0, -9.81)\n"
     "constraint table: y = 0\nfriction table: mu slip x'\nforce x: F - k*x\n",
     0.1, 12, "F"},
    {"a rod, and an event that sets a speed",
     "param l = 1, s = 0.9, F = 0\ncoord x = l*sin(s), y = -l*cos(s)\nmass 1 at (x, y)\n"
     "gravity (0, -9.81)\nforce x: F\nconstraint rod: x^2 + y^2 = l^2\n"
     "event kick: x = 0 falling, set x' = 1.2*x', set y' = 1.2*y'\n",
     0.12, 10, "F"},
};

enum { COURSE = 12, PLACES = 4 };

static double drive(long step)
{
    return 0.3 * sin(1 + (double)step);
}

/* Of all states: something of the second order, so that slopes change along the way. */
static double sum_of(void *user, long step, const zw_state *state, double *by_q, double *by_v)
{
    const zw_system *system = user;
    double sum = 0;
    for (int i = 0; i < system->n; i++) {
        double q = state_q((zw_state *)state)[i], v = state_v((zw_state *)state)[i];
        double w = 1 + 0.1 * (double)step;
        sum += w * (0.5 * q * q + (1 + i) * q + 0.3 * v * v);
        by_q[i] += w * (q + 1 + i);
        by_v[i] += 0.6 * w * v;
    }
    return sum;
}

/* The same with one control, or one speed at the start, more. */
static double course_cost(const course *of, zw_method method, long control, int speed, double more)
{
    world w = world_of(of->text);
    int c = zw_id(w.system, ZW_KIND_PARAM, of->control);
    double sum = 0, none[16];
    zw_run_summary summary;
    zw_run_options options = {.method = method, .tolerance = 1e-12, .step = 1e-3, .every = 1e3};
    if (speed >= 0) {
        state_v(w.state)[speed] += more;
        zw_wake(w.state);
    }
    for (long k = 0; k <= of->steps; k++) {
        sum += sum_of(w.system, k, w.state, none, none + 8);
        state_param(w.state)[c] = drive(k) + (k == control ? more : 0);
        options.time = (double)(k + 1) * of->every;
        if (k < of->steps &&
            zw_run(w.system, w.state, w.work, &options, &summary, &w.error) != ZW_OK) {
            fail_msg("%s: %s", of->name, w.error.text);
        }
    }
    world_end(&w);
    return sum;
}

static double course_slope(const course *of, zw_method method, long control, int speed)
{
    const double h = 2e-4;
    double d[3];
    for (int k = 0; k < 3; k++) {
        double way = h * (1 << k);
        d[k] = (course_cost(of, method, control, speed, way) -
                course_cost(of, method, control, speed, -way)) /
               (2 * way);
    }
    return (64 * d[0] - 20 * d[1] + d[2]) / 45;
}

static double compare_course(const course *of, zw_method method, size_t memory)
{
    world w = world_of(of->text);
    double value[COURSE], by_control[COURSE], by_q[PLACES], by_v[PLACES], worst = 0, size = 0;
    int control = zw_id(w.system, ZW_KIND_PARAM, of->control);
    for (long k = 0; k < of->steps; k++) {
        value[k] = drive(k);
    }
    const zw_gradient_plan plan = {
        .run = {.method = method, .tolerance = 1e-12, .step = 1e-3, .every = of->every},
        .steps = of->steps,
        .controls = 1,
        .control = &control,
        .value = value,
        .cost = sum_of,
        .user = w.system,
        .memory = memory,
        .model = w.model};
    zw_gradient to = {.by_control = by_control, .by_q = by_q, .by_v = by_v};
    if (zw_gradient_find(w.system, w.state, &plan, &to, &w.error) != ZW_OK) {
        fail_msg("%s: %s", of->name, w.error.text);
    }
    for (long k = 0; k < of->steps; k += 2) {
        double d = course_slope(of, method, k, -1);
        worst = fmax(worst, fabs(d - by_control[k]));
        size = fmax(size, fabs(d));
    }
    double d = course_slope(of, method, -1, 0);
    int consistent = strstr(of->text, "rod:") == NULL; /* else the speed is not free */
    worst = consistent ? fmax(worst, fabs(d - by_v[0])) : worst;
    printf("%-38s %-7s size %.3g  worst %.1e  kinks %d  steps %ld\n", of->name,
           zw_method_name(method), size, worst / size, to.kinks, to.steps);
    world_end(&w);
    return worst / size;
}

static void test_equations(void **state)
{
    double worst = 0;
    (void)state;
    for (size_t k = 0; k < sizeof courses / sizeof *courses; k += (size_t)campaign_stride(3)) {
        worst = fmax(worst, compare_course(&courses[k], ZW_METHOD_DOP853, 0));
        worst = fmax(worst, compare_course(&courses[k], ZW_METHOD_RK4, 1));
    }
    assert_true(worst < 1e-8);
}

/* From rest, friction not holding: another force for speeds to either side. One side, and said so.
 */
static void test_from_rest(void **state)
{
    static const course of = {
        "from rest",
        "param k = 20, mu = 0.05, F = 0\ncoord x = 1, y = 0\nmass 1 at (x, y)\ngravity (0, -9.81)\n"
        "constraint table: y = 0\nfriction table: mu slip x'\nforce x: F - k*x\n",
        0.1, 3, "F"};
    world w = world_of(of.text);
    const double h = 1e-6;
    double by_q[PLACES], by_v[PLACES], value[3], base, up, down;
    int control = zw_id(w.system, ZW_KIND_PARAM, "F");
    (void)state;
    for (long k = 0; k < of.steps; k++) {
        value[k] = drive(k);
    }
    const zw_gradient_plan plan = {
        .run = {.method = ZW_METHOD_DOP853, .tolerance = 1e-12, .step = 1e-3, .every = of.every},
        .steps = of.steps,
        .controls = 1,
        .control = &control,
        .value = value,
        .cost = sum_of,
        .user = w.system,
        .model = w.model};
    zw_gradient to = {.by_q = by_q, .by_v = by_v};
    assert_int_equal(zw_gradient_find(w.system, w.state, &plan, &to, &w.error), ZW_OK);
    base = course_cost(&of, ZW_METHOD_DOP853, -1, 0, 0);
    up = (course_cost(&of, ZW_METHOD_DOP853, -1, 0, h) - base) / h;
    down = (base - course_cost(&of, ZW_METHOD_DOP853, -1, 0, -h)) / h;
    printf("from rest: %.8g, up %.8g, down %.8g, kinks %d %s\n", by_v[0], up, down, to.kinks,
           to.kink ? to.kink : "");
    assert_true(fmin(fabs(by_v[0] - up), fabs(by_v[0] - down)) < 1e-4 * fabs(up));
    assert_true(fabs(up - down) > 1e-3 * fabs(up) && to.kinks > 0);
    world_end(&w);
}

/* A slip of round-off is none, a slow one is one. */
static void test_slow_start(void **state)
{
    static const char *const speed[] = {"0.1 + 0.2 - 0.3", "1e-6"};
    (void)state;
    for (int k = 0; k < 2; k++) {
        char text[500];
        snprintf(text, sizeof text,
                 "param k = 20, mu = 0.05\ncoord x = 1, y = 0, z = 0\nspeed x' = %s, z' = 1\n"
                 "mass 1 at (x, y), 1 at (z, 0)\ngravity (0, -9.81)\nconstraint table: y = 0\n"
                 "friction table: mu slip x'\nforce x: -k*x\n",
                 speed[k]);
        world w = world_of(text);
        const zw_gradient_plan plan = {
            .run = {.method = ZW_METHOD_DOP853, .tolerance = 1e-12, .every = 0.1},
            .steps = 1,
            .cost = sum_of,
            .user = w.system,
            .model = w.model};
        zw_gradient to = {0};
        assert_true(state_v(w.state)[0] != 0);
        assert_int_equal(zw_gradient_find(w.system, w.state, &plan, &to, &w.error), ZW_OK);
        printf("first slip %g: kinks %d\n", state_v(w.state)[0], to.kinks);
        if (k == 0) {
            assert_true(to.kinks > 0);
        } else {
            assert_int_equal(to.kinks, 0);
        }
        world_end(&w);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1) { /* FILE [BEFORE] */
        const scene own = {
            .name = argv[1], .file = argv[1], .before = argc > 2 ? atof(argv[2]) : 0};
        compare(&own);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scenes),          cmocka_unit_test(test_fall),
        cmocka_unit_test(test_singular),        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_steps_of_a_fall), cmocka_unit_test(test_equations),
        cmocka_unit_test(test_from_rest),       cmocka_unit_test(test_slow_start)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

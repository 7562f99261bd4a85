/* Leaps over singular instants: a rotating parallelogram, compared with the equation of its one
 * angle, which has no singularity and needs no leaps. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scene/campaign.h"
#include "system/world.h"

/* The coupler is shorter by `short`: at 0 the two branches cross where all bars are in line. */
static const char loop[] = "param g = 9.81, short = 0, level = 0.5\n"
                           "coord x = 0, y = 1, u = 1, w = 1\n"
                           "speed x' = 6, y' = 0, u' = 6, w' = 0\n"
                           "kinetic (x'^2 + y'^2 + u'^2 + w'^2)/6\n"
                           "kinetic (x'^2 + y'^2 + x'*u' + y'*w' + u'^2 + w'^2)/6\n"
                           "potential g*(y + w)\n"
                           "constraint left: x^2 + y^2 = 1\n"
                           "constraint right: (u - 1)^2 + w^2 = 1\n"
                           "constraint coupler: (u - x)^2 + (w - y)^2 = (1 - short)^2\n"
                           "event low: y = level falling\n";

static const char angle[] = "param g = 9.81, level = 0.5\n"
                            "coord a = 0\n"
                            "speed a' = 6\n"
                            "kinetic 5*a'^2/6\n"
                            "potential 2*g*cos(a)\n"
                            "event low: cos(a) = level falling\n";

static world world_with(const char *text, const char *name, double value)
{
    world w;
    const zw_setting setting = {.name = name, .value = value};
    if (!world_try(&w, text, &setting, 1, NULL)) {
        print_error("%s\n", w.error.text);
        fail();
    }
    return w;
}

static zw_run_summary run(world *w, zw_run_options options)
{
    zw_run_summary summary;
    if (zw_run(w->system, w->state, w->work, &options, &summary, &w->error) != ZW_OK) {
        print_error("tolerance %g: %s\n", options.tolerance, w->error.text);
        fail();
    }
    return summary;
}

/* The loop's state against the angle's: the worst of all coordinates and speeds. */
static double error_of(world *w, world *one)
{
    const double *q = world_field(w, ZW_FIELD_Q), *v = world_field(w, ZW_FIELD_V);
    double a = world_field(one, ZW_FIELD_Q)[0], rate = world_field(one, ZW_FIELD_V)[0], worst = 0;
    double x = sin(a), y = cos(a), expected[2][4] = {{x, y, 1 + x, y}, {y, -x, y, -x}};
    for (int i = 0; i < 4; i++) {
        worst = fmax(worst, fabs(q[i] - expected[0][i]));
        worst = fmax(worst, fabs(v[i] - rate * expected[1][i]));
    }
    return worst;
}

/* It passes the flat position some 24 times: the branch is kept, and state and energy meet the
 * tolerance. */
static void test_every_tolerance(void **state)
{
    (void)state;
    world one = world_of(angle);
    run(&one, (zw_run_options){.time = 10, .every = 10, .tolerance = 1e-14});
    for (double tolerance = 1e-4; tolerance > 5e-16; tolerance /= 10) {
        world w = world_of(loop);
        zw_run_options options = {.time = 10, .every = 10, .tolerance = tolerance};
        zw_run_summary summary = run(&w, options);
        double error = error_of(&w, &one);
        print_message("    tolerance %.0e: error %.1e, energy %.1e, %ld evaluations\n", tolerance,
                      error, summary.energy_drift, summary.evaluations);
        assert_true(error < 1000 * tolerance + 2e-11);
        assert_true(summary.energy_drift < 10 * tolerance + 1e-13);
        world_end(&w);
    }
    world_end(&one);
}

/* The same in angles, as in robots: in the flat position a whole row vanishes, "the same x", though
 * rows scaled to length one remain independent. */
static void test_vanishing_row(void **state)
{
    (void)state;
    world one = world_of(angle);
    run(&one, (zw_run_options){.time = 10, .every = 10, .tolerance = 1e-14});
    double a = world_field(&one, ZW_FIELD_Q)[0], rate = world_field(&one, ZW_FIELD_V)[0];
    for (double tolerance = 1e-6; tolerance > 5e-15; tolerance /= 10) {
        world w = world_of("param  g = 9.81\n"
                           "coord  a = 0, b = 0, c = 0\n"
                           "speed  a' = -6, b' = 6, c' = -6\n" /* b is from the first crank */
                           "kinetic (a'^2 + c'^2)/6 + (a' + b')^2/24\n"
                           "mass   1 at (0.5*cos(a + b) - sin(a), 0.5*sin(a + b) + cos(a))\n"
                           "potential g*(cos(a)/2 + cos(c)/2 + 0.5*sin(a + b) + cos(a))\n"
                           "constraint pin: (cos(a + b) - sin(a), sin(a + b) + cos(a)) = "
                           "(1 - sin(c), cos(c))\n");
        zw_run_options options = {.time = 10, .every = 10, .tolerance = tolerance};
        zw_run_summary summary = run(&w, options);
        const double *q = world_field(&w, ZW_FIELD_Q), *v = world_field(&w, ZW_FIELD_V);
        double error = fmax(fmax(fabs(q[0] + a), fabs(q[2] + a)), fabs(q[0] + q[1]));
        error = fmax(error, fmax(fmax(fabs(v[0] + rate), fabs(v[2] + rate)), fabs(v[0] + v[1])));
        print_message("    tolerance %.0e: error %.1e, energy %.1e, %ld evaluations\n", tolerance,
                      error, summary.energy_drift, summary.evaluations);
        assert_true(error < 1000 * tolerance + 2e-10);
        assert_true(summary.energy_drift < 50 * tolerance + 1e-11);
        world_end(&w);
    }
    world_end(&one);
}

static void test_implicit(void **state)
{
    (void)state;
    world w = world_of(loop), one = world_of(angle);
    zw_run_options options = {.time = 2, .every = 2, .tolerance = 1e-10, .method = ZW_METHOD_STIFF};
    run(&w, options);
    run(&one, (zw_run_options){.time = 2, .every = 2, .tolerance = 1e-14});
    assert_true(error_of(&w, &one) < 1e-7);
    world_end(&w);
    world_end(&one);
}

/* The same with redundant rows. */
static void test_redundant(void **state)
{
    (void)state;
    char text[sizeof loop + 200];
    strcpy(text, loop);
    strcat(text,
           "constraint again: x^2 + y^2 = 1\nconstraint half: ((x - u)^2 + (y - w)^2)/2 = 0.5\n");
    world one = world_of(angle);
    run(&one, (zw_run_options){.time = 3, .every = 3, .tolerance = 1e-14});
    for (double tolerance = 1e-8; tolerance > 5e-14; tolerance /= 10) {
        world w = world_of(text);
        run(&w, (zw_run_options){.time = 3, .every = 3, .tolerance = tolerance});
        assert_true(error_of(&w, &one) < 1000 * tolerance + 2e-11);
        world_end(&w);
    }
    world_end(&one);
}

/* Runs that end and resume anywhere: before, in and just after the flat position. */
static void test_in_pieces(void **state)
{
    (void)state;
    static const double piece[] = {0.1, 0.03, 0.01, 0.003};
    world one = world_of(angle);
    run(&one, (zw_run_options){.time = 3, .every = 3, .tolerance = 1e-14});
    for (size_t k = 0; k < sizeof piece / sizeof *piece; k += (size_t)campaign_stride(2)) {
        for (double tolerance = 1e-9; tolerance > 5e-14; tolerance /= 100) {
            world w = world_of(loop);
            for (int i = 1; i * piece[k] < 3 + 1e-9; i++) {
                double end = i * piece[k];
                run(&w, (zw_run_options){.time = end, .every = end, .tolerance = tolerance});
            }
            if (world_field(&w, ZW_FIELD_TIME)[0] < 3) {
                run(&w, (zw_run_options){.time = 3, .every = 3, .tolerance = tolerance});
            }
            assert_true(error_of(&w, &one) < 100 * tolerance + 2e-11);
            world_end(&w);
        }
    }
    world_end(&one);
}

typedef struct sightings {
    double time[8], y[8], apart[8];
    int count;
} sightings;

static int see(void *user, zw_sample_kind kind, int event, const zw_system *system,
               const zw_state *state, zw_work *work)
{
    sightings *s = user;
    (void)event;
    if (kind == ZW_SAMPLE_EVENT && s->count < 8) {
        zw_view q = zw_field(system, state, work, ZW_FIELD_Q);
        s->time[s->count] = zw_field(system, state, work, ZW_FIELD_TIME).data[0];
        s->y[s->count] = q.count > 1 ? q.data[1] : cos(q.data[0]);
        s->apart[s->count++] = q.count > 1 ? q.data[1] - q.data[3] : 0;
    }
    return 0;
}

/* Events within a leap, arbitrarily near the singular instant. */
static void test_events_inside(void **state)
{
    (void)state;
    static const double level[] = {0.1, 0.01, 1e-3, -1e-4, -0.05};
    for (size_t k = 0; k < sizeof level / sizeof *level; k++) {
        sightings seen = {0}, expected = {0};
        world w = world_with(loop, "level", level[k]), one = world_with(angle, "level", level[k]);
        zw_run_options options = {.time = 2, .every = 2, .tolerance = 1e-12, .observer = see};
        options.user = &seen;
        run(&w, options);
        options.user = &expected;
        run(&one, options);
        assert_int_equal(seen.count, 3);
        assert_int_equal(expected.count, 3);
        for (int i = 0; i < 3; i++) {
            assert_true(fabs(seen.time[i] - expected.time[i]) < 1e-10);
            assert_true(fabs(seen.y[i] - level[k]) < 1e-12);
            assert_true(fabs(seen.apart[i]) < 1e-11);
        }
        world_end(&w);
        world_end(&one);
    }
}

/* With a coupler too short for the flat position the branches do not meet, and the motion turns
 * into the crossed position within a time of sqrt(short). No leap may miss that, whether from far
 * away or with short steps. */
static void test_near_miss(void **state)
{
    (void)state;
    for (double lack = 1e-2; lack > 5e-9; lack /= 10) {
        world w = world_with(loop, "short", lack), slow = world_with(loop, "short", lack);
        run(&w, (zw_run_options){.time = 0.35, .every = 0.35, .tolerance = 1e-11});
        run(&slow, (zw_run_options){.time = 0.35, .every = 0.35, .tolerance = 1e-11, .step = 2e-3});
        const double *q = world_field(&w, ZW_FIELD_Q), *other = world_field(&slow, ZW_FIELD_Q);
        for (int i = 0; i < 4; i++) {
            assert_true(fabs(q[i] - other[i]) < 1e-7);
        }
        assert_true(fabs(q[1] - q[3]) > 0.1);
        world_end(&w);
        world_end(&slow);
    }
}

/* The largest step does not limit leaps: with much shorter steps the motion stays on its branch,
 * too, and no singular instant is passed by an ordinary step. With fixed steps it is, and the
 * summary reports how often. */
static void test_largest_step(void **state)
{
    (void)state;
    for (double step = 0.016; step > 5e-4; step /= 2) {
        world w = world_of(loop), one = world_of(angle);
        zw_run_options options = {.time = 1.5, .every = 1.5, .tolerance = 1e-10, .step = step};
        zw_run_summary summary = run(&w, options);
        run(&one, (zw_run_options){.time = 1.5, .every = 1.5, .tolerance = 1e-13});
        assert_true(error_of(&w, &one) < 1e-7);
        assert_true((double)summary.steps >= 0.5 * 1.5 / step);
        assert_int_equal(summary.singular, 0);
        world_end(&w);
        w = world_of(loop);
        summary = run(&w, (zw_run_options){.time = 1.5, .method = ZW_METHOD_RK4, .step = step});
        double turned = world_field(&one, ZW_FIELD_Q)[0], flat = floor(turned / acos(-1.0) + 0.5);
        if (error_of(&w, &one) < 1e-3) {
            assert_int_equal(summary.singular, (int)flat);
        } else { /* it was another branch */
            assert_true(summary.singular > 0);
        }
        world_end(&w);
        world_end(&one);
    }
}

/* A motion that only comes near a singular position needs no leap. */
static void test_near_miss_is_not_passed(void **state)
{
    (void)state;
    world w = world_with(loop, "short", 0.05);
    zw_run_summary summary =
        run(&w, (zw_run_options){.time = 3, .method = ZW_METHOD_RK4, .step = 0.005});
    assert_int_equal(summary.singular, 0);
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_tolerance),
        cmocka_unit_test(test_implicit),
        cmocka_unit_test(test_redundant),
        cmocka_unit_test(test_in_pieces),
        cmocka_unit_test(test_events_inside),
        cmocka_unit_test(test_near_miss),
        cmocka_unit_test(test_largest_step),
        cmocka_unit_test(test_vanishing_row),
        cmocka_unit_test(test_near_miss_is_not_passed),
    };
    return cmocka_run_group_tests_name("leap", tests, NULL, NULL);
}

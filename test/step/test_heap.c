/* Heaps: spheres that fall into a bin, with the requested certificate. */
#include "system/contact/contacts.h"
#include "system/work.h"
#include "touch.h"

#include <stdio.h>
#include <stdlib.h>

#include "scene/dice.h"

/* count^3 spheres of radius 0.05, or shapes of about that size, above the floor of a bin that is
 * little wider than they are. */
static scene open_bin(int count, int mixed)
{
    static const char *const shape[] = {
        "size='.05'", "type='box' size='.035 .03 .04'", "type='capsule' size='.03 .02'",
        "type='cylinder' size='.04 .03'", "type='ellipsoid' size='.05 .035 .04'"};
    size_t capacity = 4000 + 200 * (size_t)(count * count * count);
    char *text = malloc(capacity), *end = text;
    double wide = 0.055 * count + 0.05;
    dice d = dice_of(3);
    assert_non_null(text);
    end += sprintf(end, "<default><geom friction='0.5 0 0'/></default><worldbody>"
                        "<geom type='plane' size='0 0 1'/>");
    for (int k = 0; k < 4; k++) {
        int x = k < 2 ? 1 - 2 * k : 0, y = k < 2 ? 0 : 5 - 2 * k;
        end += sprintf(end, "<geom type='plane' size='0 0 1' pos='%g %g 0' zaxis='%d %d 0'/>",
                       -wide * x, -wide * y, x, y);
    }
    for (int i = 0; i < count * count * count; i++) {
        int place[3] = {i % count, i / count % count, i / count / count};
        double pos[3];
        for (int k = 0; k < 3; k++) {
            pos[k] = 0.11 * (place[k] - (k < 2 ? 0.5 * (count - 1) : -1));
            pos[k] += dice_between(&d, -0.004, 0.004);
        }
        end += sprintf(end,
                       "<body pos='%.9g %.9g %.9g' euler='%d %d 0'><freejoint/><geom %s mass='.5'/>"
                       "</body>",
                       pos[0], pos[1], pos[2], mixed * 37 * i, mixed * 61 * i,
                       shape[mixed ? i % 5 : 0]);
    }
    sprintf(end, "</worldbody>");
    scene s = open_scene(text);
    free(text);
    return s;
}

static zw_run_summary fall(int count, double t, double tolerance, double accuracy)
{
    scene s = open_bin(count, 0);
    zw_run_options options = {.time = t,
                              .every = t,
                              .step = 0.005,
                              .tolerance = tolerance,
                              .accuracy = accuracy,
                              .method = ZW_METHOD_IMPULSE};
    zw_run_summary summary = {0};
    zw_error error = {0};
    must(zw_run(s.system, s.state, s.work, &options, &summary, &error), &error);
    print_message("%d spheres, tolerance %g, accuracy %g: certificate %.2g, inexact %ld, energy %g "
                  "of %g, depth %.2g\n",
                  count * count * count, tolerance, accuracy, summary.certificate, summary.inexact,
                  summary.energy_end, summary.energy_start, summary.depth);
    close_scene(&s);
    return summary;
}

/* The requested certificate is achieved, up to a few steps that are counted as inexact, and no heap
 * gains energy, however rough the tolerance. */
static void accuracy_is_kept(void **state)
{
    (void)state;
    const double tolerance[] = {0, 1}, accuracy[] = {0, 1e-6, 1e-2};
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 3; k++) {
            zw_run_summary s = fall(3, 0.5, tolerance[i], accuracy[k]);
            assert_true(s.certificate <= fmax(accuracy[k], 1e-8) || s.inexact > 0);
            assert_true(s.energy_end <= s.energy_start * (1 + 1e-9));
            assert_true(s.inexact <= 5);
            assert_true(s.depth <= 0.05 * fmax(accuracy[k], 1e-6) || tolerance[i] > 0);
            assert_true(s.depth <= 0.01 * 0.05);
        }
    }
}

/* A rough tolerance needs no factorisation of many bodies, and the run continues whatever the
 * certificate is. */
static void many_spheres_settle(void **state)
{
    (void)state;
    zw_run_summary s = fall(7, 0.35, 1, 1e-2);
    assert_true(s.certificate <= 1e-2);
    assert_true(s.energy_end <= s.energy_start * (1 + 1e-9));
    assert_true(s.contacts > 400 && s.depth <= 0.02 * 0.05);
}

/* Where spheres jam, sweeps continue although their error does not decrease for a hundred of them:
 * every step has the requested certificate. Where all sweeps allowed are not enough, the steps are
 * counted. */
static void jams_are_solved(void **state)
{
    (void)state;
    zw_run_summary s = fall(5, 1, 1, 1e-2);
    assert_true(s.certificate <= 1e-2 && s.inexact == 0);
    s = fall(5, 1, 1, 1e-3);
    assert_true((s.certificate > 1e-3) == (s.inexact > 0));
    assert_true(s.certificate <= 1e-2 && s.inexact <= 20);
}

/* The cost of steps is that of their iterations: contacts are searched for about once in each, and
 * a step is split for landing bodies a few times, not once for each pair. */
static void rounds_are_what_it_costs(void **state)
{
    (void)state;
    scene s = open_bin(3, 1);
    const zw_run_options options = {.method = ZW_METHOD_IMPULSE, .step = 0.005};
    zw_error error = {0};
    long searches = 0, rounds = 0;
    for (int k = 0; k < 60; k++) {
        must(zw_step(s.system, s.state, s.work, &options, &error), &error);
        searches += s.work->effort.searches;
        rounds += s.work->effort.rounds;
    }
    print_message("27 shapes, 60 steps: %ld rounds, %ld searches\n", rounds, searches);
    assert_true(searches <= 2 * rounds);
    close_scene(&s);
}

static scene open_tower(int count)
{
    size_t capacity = 4000 + 200 * (size_t)count;
    char *text = malloc(capacity), *end = text;
    assert_non_null(text);
    end += sprintf(end, "<default><geom friction='0.5 0 0'/></default><worldbody>"
                        "<geom type='plane' size='0 0 1'/>");
    for (int i = 0; i < count; i++) {
        end += sprintf(end,
                       "<body pos='0 0 %.9g'><freejoint/><geom type='box' size='.1 .1 .1' "
                       "mass='8'/></body>",
                       0.1 * (2 * i + 1));
    }
    sprintf(end, "</worldbody>");
    scene s = open_scene(text);
    free(text);
    return s;
}

/* The bending modes of a tower are soft, 1/N^4: a step needs at most one factorisation besides that
 * of the masses, whatever N is, and the first one finds that all boxes stick. Contacts solved to a
 * rough tolerance gain energy, in a tower more than it has, which is no reason to repeat a step by
 * iterations. */
static void towers_cost_little(void **state)
{
    (void)state;
    const int count[] = {20, 60, 300};
    const double accuracy[] = {0, 0.1};
    for (int i = 0; i < 5; i++) {
        scene s = open_tower(count[i / 2]);
        const zw_run_options options = {
            .method = ZW_METHOD_IMPULSE, .step = 0.01, .tolerance = 1, .accuracy = accuracy[i % 2]};
        zw_error error = {0};
        long first = 0, later = 0;
        for (int k = 0; k < 40; k++) {
            must(zw_step(s.system, s.state, s.work, &options, &error), &error);
            assert_int_equal(s.work->effort.rounds, 1);
            *(k < 10 ? &first : &later) += s.work->effort.factors;
        }
        double top = state_q(s.state)[7 * (count[i / 2] - 1) + 2];
        print_message("tower of %d, accuracy %g: %ld factorisations in 10 steps, %ld in 30 more\n",
                      count[i / 2], accuracy[i % 2], first, later);
        assert_true(fabs(top - 0.1 * (2 * count[i / 2] - 1)) <= (i % 2 ? 1e-2 : 1e-9));
        assert_true(i % 2 || (first <= 21 && later <= 60));
        close_scene(&s);
    }
}

/* At the default tolerance, too, a tower that stands is recognised as standing, however tall: no
 * factorisation and one search a step. 40 m up, positions are known to 7e-15 m, which must not be
 * closed within a step: that would take 1e-11 of the weight. */
static void towers_stand(void **state)
{
    (void)state;
    const int count[] = {20, 200};
    for (int i = 0; i < 2; i++) {
        scene s = open_tower(count[i]);
        const zw_run_options options = {.method = ZW_METHOD_IMPULSE, .step = 0.01};
        zw_error error = {0};
        for (int k = 0; k < 15; k++) {
            must(zw_step(s.system, s.state, s.work, &options, &error), &error);
            assert_true(k < 8 || (s.work->effort.factors == 0 && s.work->effort.searches == 1));
        }
        double top = state_q(s.state)[7 * (count[i] - 1) + 2];
        assert_true(fabs(top - 0.1 * (2 * count[i] - 1)) <= 1e-9);
        close_scene(&s);
    }
}

static void accuracy_is_checked(void **state)
{
    (void)state;
    scene s = open_bin(1, 0);
    zw_run_options options = {.time = 1, .step = 0.01, .accuracy = 0.2};
    zw_run_summary summary = {0};
    zw_error error = {0};
    assert_int_equal(zw_run(s.system, s.state, s.work, &options, &summary, &error), ZW_BAD_INPUT);
    assert_string_equal(error.text, "accuracy 0.2 is not between 0 and 0.1");
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accuracy_is_kept),    cmocka_unit_test(many_spheres_settle),
        cmocka_unit_test(jams_are_solved),     cmocka_unit_test(rounds_are_what_it_costs),
        cmocka_unit_test(towers_cost_little),  cmocka_unit_test(towers_stand),
        cmocka_unit_test(accuracy_is_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

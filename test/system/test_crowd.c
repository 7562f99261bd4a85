/* Many bodies: skipping pairs and treating bodies together do not change the result.
 *
 * Walkers of capsules, balls and boxes fall on a floor and on each other. Pairs that wait
 * (contact_wait.c) are compared with a search that remembers nothing; a crowd with each of its
 * walkers alone in the world. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "system/soft_scene.h"
#include "tree/sweeps.h"

#define H 0.004

static const char *const round_limbs =
    "<freejoint/><geom type='capsule' size='0.07' fromto='0 -.1 0 0 .1 0'/>"
    "<geom type='sphere' size='0.09' pos='0 0 .2'/>"
    "<body pos='0 .15 .05'><joint axis='1 0 0' range='-70 70' damping='.2'/>"
    "<joint axis='0 1 0' damping='.1'/>"
    "<geom type='capsule' size='0.04' fromto='0 0 0 0 .2 0'/>"
    "<body pos='0 .2 0'><joint axis='0 0 1' range='-90 50' damping='.1'/>"
    "<geom type='capsule' size='0.03' fromto='0 0 0 .2 0 0'/></body></body>"
    "<body pos='0 -.1 -.1'><joint axis='0 1 0' range='-60 60' damping='.3'/>"
    "<geom type='capsule' size='0.05' fromto='0 0 0 0 0 -.3'/>"
    "<body pos='0 0 -.35'><joint axis='0 1 0' range='-20 60' damping='.3'/>"
    "<geom type='box' size='.1 .05 .02' pos='.05 0 0'/></body></body>"
    "<body pos='0 .1 -.1'><joint axis='0 1 0' range='-60 60' damping='.3'/>"
    "<geom type='capsule' size='0.05' fromto='0 0 0 0 0 -.3'/></body>";

/* Long parts with edges, whose spheres overlap although they are apart. */
static const char *const edges =
    "<freejoint/><geom type='box' size='.05 .2 .03'/>"
    "<body pos='0 .12 .06'><joint axis='0 0 1' damping='.1'/><joint axis='1 0 0' damping='.1'/>"
    "<geom type='mesh' mesh='wedge'/>"
    "<body pos='0 .1 .06'><joint axis='0 0 1' damping='.1'/>"
    "<geom type='cylinder' size='.02 .15' euler='0 90 0'/></body></body>"
    "<body pos='0 -.12 -.08'><joint axis='0 1 0' damping='.1'/>"
    "<geom type='ellipsoid' size='.15 .03 .02'/>"
    "<body pos='0 0 -.08'><joint axis='0 0 1' damping='.1'/>"
    "<geom type='mesh' mesh='wedge'/></body></body>"
    "<body pos='.2 0 .1'><joint axis='0 1 0' damping='.1'/>"
    "<geom type='capsule' size='.02 .15'/></body>";
static const char *limbs = round_limbs;

/* Walkers first..end-1, `gap` apart. */
static scene open_scene(int first, int end, double gap)
{
    static char text[100000];
    int at =
        sprintf(text,
                "<mujoco><option timestep='%g'/><asset><mesh name='wedge' vertex='-.2 -.03 -.02 "
                ".2 -.03 -.02 .2 .03 -.02 -.2 .03 -.02 -.1 0 .03 .2 0 .01'/></asset><worldbody>"
                "<geom type='plane' size='0 0 1'/>",
                H);
    for (int k = first; k < end; k++) {
        at += sprintf(text + at, "<body pos='%.17g %.17g %g' euler='0 %d %d'>%s</body>",
                      gap * (k % 4), gap * (k / 4), 0.6 + 0.05 * (k % 3), 10 * k, 50 * k, limbs);
    }
    sprintf(text + at, "</worldbody></mujoco>");
    return scene_open(text, H);
}

/* What a memory of earlier calls finds is what a search without one finds. */
static void compare_search(scene *s, contact_work *kept, double h, double margin)
{
    const contact_world *world = s->system->bodies->contact;
    contact_work fresh;
    zw_error error = {0};
    assert_int_equal(contact_work_create(&fresh, world), ZW_OK);
    tree_kinematics(s->system->tree, s->q, s->work->sweeps);
    tree_velocities(s->system->tree, s->v, s->work->sweeps);
    assert_int_equal(contact_find(s->system, kept, s->work->sweeps, h, margin, &error), ZW_OK);
    assert_int_equal(contact_find(s->system, &fresh, s->work->sweeps, h, margin, &error), ZW_OK);
    assert_int_equal(kept->count, fresh.count);
    for (int k = 0; k < fresh.count; k++) {
        const contact_point *x = &kept->point[k], *y = &fresh.point[k];
        assert_memory_equal(&x->key, &y->key, sizeof x->key);
        assert_memory_equal(x->pos, y->pos, sizeof x->pos);
        assert_memory_equal(x->frame, y->frame, sizeof x->frame);
        assert_memory_equal(&x->gap, &y->gap, sizeof x->gap);
    }
    contact_work_free(&fresh);
}

static void search_along(int walkers, int is_crowd)
{
    scene s = open_scene(0, walkers, 0.7);
    const contact_world *world = s.system->bodies->contact;
    contact_work kept;
    int met = 0, waited = 0, apart = 0;
    assert_int_equal(world->crowd != NULL, is_crowd);
    assert_int_equal(contact_work_create(&kept, world), ZW_OK);
    for (int k = 0; k < 150; k++) {
        step(&s);
        if (k % 40 == 39) { /* all somewhere else, and some of it turned over */
            for (int i = 0; i < s.system->nq; i++) {
                s.q[i] += 0.02 * ((i * 7 + k) % 5 - 2);
            }
        }
        compare_search(&s, &kept, k % 3 == 0 ? H : 0, k % 5 == 0 ? 0.05 : 0);
        met += kept.count;
        waited += contact_waits(&kept.wait, 0, 2);
        for (int i = 0; i < world->match_count; i++) {
            double close;
            apart += contact_near(world, &kept, &world->match[i], 0, &close) &&
                     contact_waits_apart(&kept.wait, i, &world->match[i], close);
        }
    }
    assert_true(met > 150);
    assert_true(waited > 0 || limbs == edges);
    assert_true(apart > 150 || is_crowd || limbs != edges);
    contact_work_free(&kept);
    close_scene(&s);
}

static void test_search_of_few(void **state)
{
    (void)state;
    search_along(3, 0);
}

static void test_search_of_many(void **state)
{
    (void)state;
    search_along(11, 1);
}

static void test_search_by_shape(void **state)
{
    (void)state;
    limbs = edges;
    search_along(3, 0);
    search_along(12, 1);
    limbs = round_limbs;
}

/* Far from each other they do not feel each other. */
static void test_alone(void **state)
{
    (void)state;
    enum { WALKERS = 11, STEPS = 120 };
    scene all = open_scene(0, WALKERS, 5);
    assert_non_null(all.work->group);
    for (int k = 0; k < STEPS; k++) {
        step(&all);
    }
    assert_true(all.soft->contacts > WALKERS);
    for (int w = 0; w < WALKERS; w += 3) {
        scene one = open_scene(w, w + 1, 5);
        assert_null(one.work->group);
        for (int k = 0; k < STEPS; k++) {
            step(&one);
        }
        for (int i = 0; i < one.system->nq; i++) {
            double here = all.q[w * one.system->nq + i];
            if (!(fabs(here - one.q[i]) < 1e-9)) {
                fail_msg("walker %d, coordinate %d: %.17g, alone %.17g", w, i, here, one.q[i]);
            }
        }
        close_scene(&one);
    }
    close_scene(&all);
}

/* Walkers with dry joints that fall on each other: every step is solved to round-off, and in how
 * many steps of Newton's method is known: by a search along each line, and from a start that goes
 * on as the last steps did. */
static void heap_of(const char *cones, int most)
{
    enum { WALKERS = 5, STEPS = 500 };
    static char text[20000];
    int steps = 0;
    int at = sprintf(text,
                     "<mujoco><option timestep='%g' cone='%s'/><worldbody>"
                     "<geom type='plane' size='0 0 1'/>",
                     H, cones);
    for (int k = 0; k < WALKERS; k++) {
        at += sprintf(text + at,
                      "<body pos='%.17g %.17g %g' euler='0 %d %d'><freejoint/>"
                      "<geom type='capsule' size='0.07' fromto='0 -.1 0 0 .1 0'/>"
                      "<geom type='sphere' size='0.09' pos='0 0 .2'/><body pos='0 .15 .05'>"
                      "<joint axis='1 0 0' range='-70 70' damping='.2' frictionloss='.3'/>"
                      "<joint axis='0 1 0' damping='.1'/>"
                      "<geom type='capsule' size='0.04' fromto='0 0 0 0 .2 0'/><body pos='0 .2 0'>"
                      "<joint axis='0 0 1' range='-90 50' damping='.1'/>"
                      "<geom type='capsule' size='0.03' fromto='0 0 0 .2 0 0'/></body></body>"
                      "<body pos='0 -.1 -.1'><joint axis='0 1 0' range='-60 60' damping='.3'/>"
                      "<geom type='capsule' size='0.05' fromto='0 0 0 0 0 -.3'/>"
                      "<body pos='0 0 -.35'><joint axis='0 1 0' range='-20 60' damping='.3'/>"
                      "<geom type='box' size='.1 .05 .02' pos='.05 0 0'/></body></body></body>",
                      0.45 * (k % 3), 0.45 * (k / 3), 0.6 + 0.3 * (k % 3), 10 * k, 50 * k);
    }
    sprintf(text + at, "</worldbody></mujoco>");
    scene s = scene_open(text, H);
    for (int k = 0; k < STEPS; k++) {
        step(&s);
        steps += s.soft->iterations;
        if (!(s.soft->certificate < 1e-12)) {
            fail_msg("step %d: certificate %.1e", k, s.soft->certificate);
        }
    }
    if (steps > most) {
        fail_msg("%s cones: %d steps of Newton's method, not %d", cones, steps, most);
    }
    close_scene(&s);
}

static void test_heaps_are_solved(void **state)
{
    (void)state;
    heap_of("pyramidal", 1625);
    heap_of("elliptic", 2650);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_search_of_few), cmocka_unit_test(test_search_of_many),
        cmocka_unit_test(test_search_by_shape), cmocka_unit_test(test_alone),
        cmocka_unit_test(test_heaps_are_solved)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

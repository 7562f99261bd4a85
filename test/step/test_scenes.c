/* The scenes in examples/contact: all run without overlaps, every step is certified, and each does
 * what its first line says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "scene/listed.h"
#include "scene/touch.h"
#include "system/bodies/bodies.h"

#define FOLDER ZW_SOURCE_DIR "/examples/contact"

typedef struct example {
    const char *file, *key;
    double time;             /* bench/contact.c goes on to ten seconds */
    void (*check)(touch *s); /* what it must have come to */
} example;

static void open_file(touch *s, const char *file, const char *key)
{
    char path[500];
    snprintf(path, sizeof path, FOLDER "/%s", file);
    if (touch_open(s, path, key) != ZW_OK) {
        fail_msg("%s:%d: %s", path, s->error.line, s->error.text);
    }
}

static void run_to(touch *s, double t, double h)
{
    if (touch_run(s, t, h) != ZW_OK) {
        fail_msg("%s", s->error.text);
    }
}

/* The position of the free body with this number. */
static double *free_body(touch *s, int index)
{
    return touch_field(s, ZW_FIELD_Q) + 7 * index;
}

/* The z component of a body's own z axis. */
static double upright(const double *q)
{
    return 1 - 2 * (q[4] * q[4] + q[5] * q[5]);
}

static void at_rest(touch *s, double speed)
{
    const double *v = touch_field(s, ZW_FIELD_V);
    for (int i = 0; i < s->system->n; i++) {
        assert_true(fabs(v[i]) < speed);
    }
}

/* ---- What they come to ---------------------------------------------------------------------- */

static void tower(touch *s)
{
    for (int i = 0; i < 20; i++) {
        assert_true(fabs(free_body(s, i)[2] - 0.1 - 0.2 * i) < 1e-8);
    }
    at_rest(s, 1e-8);
}

/* It stands as it was built, up to the digits of the file. */
static void card_house(touch *s)
{
    assert_true(fabs(free_body(s, 4)[2] - 0.0830298) < 1e-6);
    assert_true(fabs(free_body(s, 6)[2] - 0.124645) < 1e-6);
    at_rest(s, 1e-6);
}

static void dominoes(touch *s)
{
    for (int i = 0; i < 8; i++) {
        assert_true(upright(free_body(s, i)) < 0.6);
    }
}

static void goes_on_spinning(touch *s)
{
    assert_true(touch_field(s, ZW_FIELD_V)[5] > 4.9);
}

static void turned_back(touch *s)
{
    assert_true(touch_field(s, ZW_FIELD_V)[5] > 2);
}

static void tippe_top(touch *s)
{
    assert_true(upright(free_body(s, 0)) < -0.9);
}

/* Its weight is carried by friction: it is where the fingers took it, exactly. */
static void capsule_held(touch *s)
{
    const double *q = touch_field(s, ZW_FIELD_Q);
    assert_true(fabs(q[5] - 0.23 - q[0]) < 1e-12);
    assert_true(fabs(q[3]) < 1e-12 && fabs(q[4]) < 1e-12);
}

static void capsule_lifted(touch *s)
{
    const double *q = touch_field(s, ZW_FIELD_Q);
    assert_true(q[0] > 0.19);
    assert_true(fabs(q[5] - 0.23 - q[0]) < 1e-9);
}

/* The ratio is that of the teeth, 16 / 24, independent of friction, up to backlash. */
static void gears(touch *s)
{
    const double *q = touch_field(s, ZW_FIELD_Q);
    assert_true(q[0] > 2);
    assert_true(fabs(q[1] + q[0] * 16 / 24) < 0.01);
}

/* After a second, and four blows, the balls that were lifted are up again; the others hang. */
static void cradle(touch *s)
{
    const double *q = touch_field(s, ZW_FIELD_Q);
    assert_true(q[0] < -0.58 && (fabs(q[1]) < 1e-9 || fabs(q[1] - q[0]) < 1e-9));
    for (int i = 2; i < 5; i++) {
        assert_true(fabs(q[i]) < 1e-9);
    }
}

static void stands(touch *s)
{
    assert_true(free_body(s, 0)[2] > 0.3 && upright(free_body(s, 0)) > 0.999);
    at_rest(s, 1e-3);
}

/* A metre in four seconds, along a line, and its trunk level. */
static void walks(touch *s)
{
    const double *q = free_body(s, 0);
    assert_true(q[0] > 1 && fabs(q[1]) < 0.05);
    assert_true(q[2] > 0.3 && upright(q) > 0.99);
}

static void lies(touch *s)
{
    assert_true(free_body(s, 0)[2] < 0.2);
}

/* The crown has not sunk. */
static void arch(touch *s)
{
    double half = acos(-1) * 150 / 180 / 9 / 2;
    assert_true(fabs(free_body(s, 4)[2] - 0.3 - 1.15 * cos(half)) < 1e-6);
}

/* All three are in the bowl, on its ground, and still. */
static void terrain(touch *s)
{
    for (int i = 0; i < 3; i++) {
        const double *q = free_body(s, i);
        assert_true(hypot(q[0], q[1]) < 0.5 && q[2] > 0.05 && q[2] < 0.25);
    }
    at_rest(s, 1e-6);
}

static const example list[] = {
    {"tower.xml", NULL, 1, tower},
    {"card_house.xml", NULL, 1, card_house},
    {"dominoes.xml", NULL, 0.55, dominoes},
    {"newtons_cradle.xml", "one", 1, cradle},
    {"newtons_cradle.xml", "two", 1, cradle},
    {"rattleback.xml", "with", 3, goes_on_spinning},
    {"rattleback.xml", "against", 7, turned_back},
    {"tippe_top.xml", "spun", 4, tippe_top},
    {"gripper_capsule.xml", "hold", 5, capsule_held},
    {"gripper_capsule.xml", "up", 4, capsule_lifted},
    {"gripper_capsule.xml", "down", 2, NULL},
    {"gears.xml", "drive", 1, gears},
    {"arch_bridge.xml", NULL, 0.1, arch},
    {"heap.xml", NULL, 0.1, NULL},
    {"skid_steer.xml", "drive", 2, NULL},
    {"spheres.xml", NULL, 0.01, NULL},
    {"quadruped.xml", NULL, 4, stands},
    {"quadruped.xml", "squat", 2, NULL},
    {"quadruped_walks.zw", NULL, 4, walks},
    {"terrain.xml", "rolls", 4, terrain},
    {"ladder.xml", NULL, 0.5, NULL}, /* these three: test_known_scenes.c */
    {"overhang.xml", NULL, 0.5, NULL},
    {"parcel.xml", NULL, 0.5, NULL},
    {"parcel.zw", NULL, 0.5, NULL},
    {"walker.xml", NULL, 0.1, NULL},
    {"walker_balances.zw", NULL, 1, NULL},
    {"humanoid_falls.xml", NULL, 1, NULL},
    {"humanoid_falls.xml", "fall", 3, lies},
};
enum { EXAMPLES = sizeof list / sizeof *list };

static void examples_run(void **state)
{
    (void)state;
    for (size_t i = 0; i < EXAMPLES; i++) {
        touch s;
        open_file(&s, list[i].file, list[i].key);
        run_to(&s, list[i].time, 0);
        print_message("%-20s %-8s certificate %.1e, depth %.1e, %d contacts, %ld steps\n",
                      list[i].file, list[i].key ? list[i].key : "", s.certificate, s.depth,
                      s.contacts, s.steps);
        assert_true(s.certificate <= 1e-8);
        assert_true(s.depth <= 1e-8);
        if (list[i].check) {
            list[i].check(&s);
        }
        touch_close(&s);
    }
}

static void every_example_is_listed(void **state)
{
    (void)state;
    all_listed(FOLDER, list, EXAMPLES, sizeof *list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_run),
        cmocka_unit_test(every_example_is_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

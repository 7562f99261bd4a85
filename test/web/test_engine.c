/* The studio's engine on this machine: worlds from bytes, errors with their places, steps, saved
 * states, and pulling with the mouse. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine.h"

#define assert_near(x, y, tolerance) assert_true(fabs((x) - (y)) <= (tolerance))

static void give(const char *name, const char *text)
{
    assert_true(studio_file(name, text, (int)strlen(text)));
}

static const char pendulum[] =
    "param m = 1, g = 9.81, l = 1\ncoord x = l, y = 0\npoint p = (x, y)\n"
    "mass m at p\ngravity (0, -g)\nconstraint rod: x^2 + y^2 = l^2\n"
    "plot phase x x'\ndraw line (0, 0) p\nrun time 10\n";

static int end(void **unused)
{
    (void)unused;
    studio_close();
    studio_forget_files();
    return 0;
}

/* An error names the line; the world before is gone, and the next text opens. */
static void test_errors(void **unused)
{
    (void)unused;
    give("a.zw", "coord x = 1\nkinetic x'^2/2\npotential gg*x\n");
    assert_false(studio_open("a.zw", ""));
    const char *error = studio_error();
    assert_non_null(strstr(error, "\"line\":3"));
    assert_non_null(strstr(error, "gg"));
    give("a.zw", pendulum);
    assert_true(studio_open("a.zw", ""));
    assert_non_null(strstr(studio_about(), "\"rod\""));
}

/* At the start of a pendulum that is held out level: free fall along y is the free motion, the rod
 * pulls nothing, and the certificate holds. Lower down the difference is the pull of the rod. */
static void test_principle(void **unused)
{
    (void)unused;
    give("a.zw", pendulum);
    assert_true(studio_open("a.zw", ""));
    studio_select(0);
    for (int k = 0; k < 2; k++) {
        const double *x = studio_look();
        assert_non_null(x);
        const double *q = x + 12, *v = q + 2, *a = v + 2, *a_free = a + 2;
        assert_near(a_free[0], 0, 1e-12);
        assert_near(a_free[1], -9.81, 1e-12);
        double pull = (v[0] * v[0] + v[1] * v[1]) - 9.81 * q[1]; /* over m, towards the middle */
        assert_near(a[0] - a_free[0], -pull * q[0], 1e-9);
        assert_near(a[1] - a_free[1], -pull * q[1], 1e-9);
        assert_near(x[8], 0.5 * pull * pull, 1e-8); /* Z */
        assert_true(x[7] < 1e-10);
        const double *subject = x + studio_look_count() - 12;
        assert_near(subject[6], a[0], 1e-12);
        assert_near(subject[10], a_free[1], 1e-12);
        assert_int_equal(studio_steps(20), 20);
    }
}

/* Back to the start, and to a saved state: the same hashes. Parameters act while it runs, and stay.
 */
static void test_states(void **unused)
{
    (void)unused;
    give("a.zw", pendulum);
    assert_true(studio_open("a.zw", ""));
    char first[20], later[20];
    strcpy(first, studio_hash());
    assert_int_equal(studio_steps(100), 100);
    strcpy(later, studio_hash());
    int size = studio_save_size();
    char *bytes = malloc((size_t)size);
    assert_true(studio_save(bytes));
    assert_int_equal(studio_steps(10), 10);
    assert_string_not_equal(studio_hash(), later);
    assert_true(studio_restore(bytes, size));
    assert_string_equal(studio_hash(), later);
    bytes[size / 2] ^= 1;
    assert_false(studio_restore(bytes, size));
    free(bytes);
    assert_true(studio_start());
    assert_string_equal(studio_hash(), first);
    assert_true(studio_set_param(1, 20)); /* g */
    assert_near(studio_look()[12 + 2 + 2 + 2 + 2 + 1], -20, 1e-12);
    assert_true(studio_start());
    assert_near(studio_look()[12 + 2 + 2 + 2 + 2 + 1], -20, 1e-12);
}

/* A pull holds a free ball a metre up: it comes to rest there, lower by its weight over the
 * stiffness. Let go, it falls; and the system is the one before. */
static void test_hand(void **unused)
{
    (void)unused;
    give("b.xml", "<mujoco><option timestep='0.005'/><worldbody><geom type='plane' size='5 5 1'/>"
                  "<body name='ball' pos='0 0 1'><freejoint/><geom size='0.1' mass='2'/></body>"
                  "</worldbody><keyframe><key qpos='0 0 1 1 0 0 0'/>"
                  "<key name='high' qpos='0 0 3 1 0 0 0'/></keyframe></mujoco>");
    studio_key(1);
    assert_true(studio_open("b.xml", ""));
    assert_near(studio_look()[12 + 2], 3, 1e-15);
    assert_non_null(strstr(studio_about(), "\"keys\":[\"\",\"high\"]"));
    studio_key(7);
    assert_true(studio_open("b.xml", ""));
    assert_true(studio_steps(10) == 10);
    const double rate = 6.283185307179586;
    assert_false(studio_grab(7, 0, 0, 0, rate));
    assert_false(studio_grab(1, 0, 0, 0, 0));
    assert_true(studio_steps(1) == 1);
    assert_non_null(studio_look());
    int count = studio_look_count();
    assert_true(studio_grab(1, 0, 0, 0, rate));
    assert_non_null(studio_look());
    assert_int_equal(studio_look_count(), count); /* pulling moves no number to another place */
    assert_null(strstr(studio_about(), "studio"));
    assert_true(studio_pull(0.5, 0, 1.5));
    assert_int_equal(studio_steps(1000), 1000);
    const double *q = studio_look() + 12;
    assert_near(q[0], 0.5, 1e-4);
    assert_near(q[2], 1.5 - 9.81 / (rate * rate), 1e-4);
    assert_true(studio_release());
    assert_int_equal(studio_steps(400), 400);
    q = studio_look() + 12;
    assert_near(q[2], 0.1, 1e-6);
    assert_true(studio_look()[9] >= 1); /* it lies on the plane */
    assert_true(studio_start());
    assert_near(studio_look()[12 + 2], 1, 1e-15);
}

/* The state goes on in a world with lines more. */
static void test_more(void **unused)
{
    (void)unused;
    give("a.zw", pendulum);
    assert_true(studio_open("a.zw", ""));
    assert_int_equal(studio_steps(30), 30);
    double before[20];
    memcpy(before, studio_look() + 12, sizeof before);
    int count = studio_look_count();
    assert_in_range(count, 12 + 20, 1000);
    assert_true(studio_snapshot());
    assert_true(studio_open("a.zw", "param pull = 0\nforce x: pull\n"));
    assert_true(studio_take_over());
    studio_hide_params(1);
    assert_null(strstr(studio_about(), "pull"));
    for (int k = 0; k < 20; k++) {
        assert_near(studio_look()[12 + k], before[k], 1e-9);
    }
    assert_int_equal(studio_look_count(), count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_errors, end), cmocka_unit_test_teardown(test_principle, end),
        cmocka_unit_test_teardown(test_states, end), cmocka_unit_test_teardown(test_hand, end),
        cmocka_unit_test_teardown(test_more, end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

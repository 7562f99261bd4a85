/* Restitution: bounces, their end, and chains of impacts. */
#include "touch.h"

/* A scene whose geoms all have this restitution. */
static scene bouncing(const char *inner, double e)
{
    scene s = open_scene(inner);
    zw_error error = {0};
    for (int i = 0; i < zw_model_count(s.model, ZW_KIND_GEOM); i++) {
        zw_geom_def def = *(const zw_geom_def *)zw_model_def(s.model, ZW_KIND_GEOM, i);
        def.restitution = e;
        must(zw_model_change(s.model, ZW_KIND_GEOM, i, &def, &error), &error);
    }
    zw_state_free(s.state);
    zw_work_free(s.work);
    zw_system_free(s.system);
    s.system = zw_system_compile(s.model, NULL, &error);
    must(s.system ? ZW_OK : error.status, &error);
    s.work = zw_work_create(s.system, &error);
    s.state = zw_state_create(s.system, s.work, NULL, &error);
    must(s.state ? ZW_OK : error.status, &error);
    return s;
}

#define BALL                                                                                       \
    "<worldbody><geom type='plane' size='0 0 1'/><body pos='0 0 1.1'><freejoint/>"                 \
    "<geom size='.1'/></body></worldbody>"

/* Perfect bounces: after a thousand, the ball is where the closed form has it, for any step. */
static void a_thousand_bounces(void **state)
{
    (void)state;
    const double h[] = {0.1, 0.03};
    for (int k = 0; k < 2; k++) {
        scene s = bouncing(BALL, 1);
        double fall = sqrt(2 / G), worst = 0; /* from a metre; a bounce takes twice that */
        int bounces = 1000;
        for (int i = 1; i <= 10; i++) {
            double t = 2 * fall * bounces * i / 10 + 0.3 * fall;
            t = h[k] * floor(t / h[k]);
            go(&s, t, h[k]);
            double phase = fmod(t + fall, 2 * fall) - fall; /* since the last top */
            worst = fmax(worst, fabs(q_of(&s)[2] - 1.1 + G * phase * phase / 2));
        }
        printf("h = %g: off by %.2g after %d bounces\n", h[k], worst, bounces);
        assert_true(worst < 1e-9);
        close_scene(&s);
    }
}

/* e = 1/2: infinitely many bounces, over after T = fall (1 + e)/(1 - e). */
static void zeno_comes_to_rest(void **state)
{
    (void)state;
    const double h[] = {0.002, 0.01, 0.05}, fall = sqrt(2 / G), end = 3 * fall;
    for (int k = 0; k < 3; k++) {
        scene s = bouncing(BALL, 0.5);
        double t = 0, last = 0;
        for (int i = 0; t < 2; i++) {
            t = h[k] * (i + 1);
            go(&s, t, h[k]);
            last = fabs(q_of(&s)[2] - 0.1) > 1e-9 ? t : last;
        }
        printf("h = %g: at rest at %g, %g\n", h[k], last, end);
        assert_true(last < end + h[k] && last > end - 1.1 * h[k]);
        assert_true(fabs(q_of(&s)[2] - 0.1) < 1e-12 && fabs(v_of(&s)[2]) < 1e-9);
        close_scene(&s);
    }
}

/* Below the bounce_speed of the world nothing comes back: with e = 1/2, from a metre, the ball
 * meets the floor at 4.43, 2.21, 1.11 and 0.55 m/s, and the last time it stays. */
static void slow_ones_do_not_bounce(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        const double h = k ? 0.02 : 0.001, fall = sqrt(2 / G), v = sqrt(2 * G);
        scene s = open_scene("<custom><numeric name='restitution' data='.5'/>"
                             "<numeric name='restitution_speed' data='1'/></custom>" BALL);
        assert_true(zw_model_world(s.model)->bounce_speed == 1);
        double end = fall + v / G + v / 2 / G + v / 4 / G; /* 4.43, 2.21, 1.11 bounce; 0.55 not */
        double last = 0, top = 0;
        for (double t = h; t < 2; t += h) {
            go(&s, t, h);
            last = q_of(&s)[2] - 0.1 > 1e-9 ? t : last;
            top = t > end - v / 4 / G ? fmax(top, q_of(&s)[2] - 0.1) : 0;
            assert_true(q_of(&s)[2] > 0.1 - 1e-9);
        }
        assert_true(last < end + h && last > end - 2 * h);
        assert_true(top <= 1. / 64 && top > 1. / 64 - 1.3 * h * h);
        close_scene(&s);
    }
}

/* A box dropped flat with e = 1/2 stays flat, and comes to rest. */
static void a_box_bounces_flat(void **state)
{
    (void)state;
    scene s = bouncing("<worldbody><geom type='plane' size='0 0 1'/><body pos='0 0 1.1'>"
                       "<freejoint/><geom type='box' size='.1 .1 .1'/></body></worldbody>",
                       0.5);
    double fall = sqrt(2 / G), top = 0;
    for (double t = 0.01; t < 2.5; t += 0.01) {
        go(&s, t, 0.01);
        top = t > fall ? fmax(top, q_of(&s)[2] - 0.1) : top;
    }
    assert_true(fabs(top - 0.25) < 1e-3);
    assert_true(fabs(q_of(&s)[2] - 0.1) < 1e-10);
    assert_true(fabs(q_of(&s)[4]) + fabs(q_of(&s)[5]) < 1e-9);
    close_scene(&s);
}

/* Newton's cradle, five balls that touch: one comes in, one goes out; two, two. */
static void cradle(void **state)
{
    (void)state;
    for (int in = 1; in <= 2; in++) {
        scene s = bouncing(
            "<option gravity='0 0 0'/><worldbody>"
            "<body><joint type='slide' axis='1 0 0'/><geom size='.1' mass='1'/></body>"
            "<body pos='.2 0 0'><joint type='slide' axis='1 0 0'/><geom size='.1' mass='1'/></body>"
            "<body pos='.4 0 0'><joint type='slide' axis='1 0 0'/><geom size='.1' mass='1'/></body>"
            "<body pos='.6 0 0'><joint type='slide' axis='1 0 0'/><geom size='.1' mass='1'/></body>"
            "<body pos='.8 0 0'><joint type='slide' axis='1 0 0'/><geom size='.1' mass='1'/></body>"
            "</worldbody>",
            1);
        for (int i = 0; i < in; i++) {
            q_of(&s)[i] = -0.305;
            v_of(&s)[i] = 1;
        }
        go(&s, 1, 0.01);
        for (int i = 0; i < 5; i++) {
            int out = i >= 5 - in;
            double way = fabs(q_of(&s)[i] - (out ? 0.695 : 0));
            assert_true(fabs(v_of(&s)[i] - out) < 1e-9);
            assert_true(way < 1e-9);
        }
        close_scene(&s);
    }
}

/* In one piece and in pieces. */
static void bounces_in_pieces(void **state)
{
    (void)state;
    uint64_t hash[2];
    for (int kind = 0; kind < 2; kind++) {
        scene s = bouncing(BALL, 0.7);
        for (int i = 1; i <= 30 && kind; i++) {
            go(&s, 0.05 * i, 0.01);
        }
        go(&s, 2, 0.01);
        hash[kind] = zw_state_hash(s.state);
        close_scene(&s);
    }
    assert_true(hash[0] == hash[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousand_bounces),
        cmocka_unit_test(zeno_comes_to_rest),
        cmocka_unit_test(slow_ones_do_not_bounce),
        cmocka_unit_test(a_box_bounces_flat),
        cmocka_unit_test(cradle),
        cmocka_unit_test(bounces_in_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

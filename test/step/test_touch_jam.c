/* Painleve's rod: a slender rod of length 2 (m = 1, I = 1/3), whose lower end slides to the left on
 * the floor, at the angle th above it. Its end is a ball of radius R. With c = cos th, s = sin th
 *
 *     W_nn = 1 + 3 c^2,   W_nt = 3 c (s + R),   W_tt = 1 + 3 (s + R)^2
 *     p = W_nn - mu W_nt,   b = -g + s th'^2,   N = -b/p
 *
 * where p > 0. Where p < 0 and b < 0 no force N >= 0 does it. A step then has an impulse that stops
 * the end at once: r = -W^-1 w. */
#include "touch.h"

#define R 1e-3

static scene open_rod(double mu, double th, double th_dot, double slip)
{
    char text[900];
    const double c = cos(th), s = sin(th);
    snprintf(text, sizeof text,
             "<compiler angle='radian'/><default><geom friction='%.17g 0 0'/></default><worldbody>"
             "<geom type='plane' size='0 0 1'/><body><joint type='slide' axis='1 0 0'/>"
             "<joint type='slide' axis='0 0 1'/><joint type='hinge' axis='0 -1 0'/>"
             "<inertial pos='0 0 0' mass='1' diaginertia='%.17g %.17g %.17g'/>"
             "<geom size='%g' pos='-1 0 0'/></body></worldbody>",
             mu, 1. / 3, 1. / 3, 1. / 3, R);
    scene rod = open_scene(text);
    double *q = q_of(&rod), *v = v_of(&rod);
    q[1] = s + R;
    q[2] = th;
    v[0] = -slip - (s + R) * th_dot;
    v[1] = c * th_dot;
    v[2] = th_dot;
    return rod;
}

static zw_contact contact_of(scene *s)
{
    zw_contact list[4];
    zw_error error = {0};
    int count = zw_contacts(s->system, s->state, s->work, list, 4, &error);
    must(count == 1 ? ZW_OK : ZW_BAD_INPUT, &error);
    return list[0];
}

static long run_for(scene *s, double t, double h)
{
    zw_run_options options = {.time = t, .every = t, .step = h, .method = ZW_METHOD_IMPULSE};
    zw_run_summary summary = {0};
    zw_error error = {0};
    must(zw_run(s->system, s->state, s->work, &options, &summary, &error), &error);
    return summary.jams;
}

static double p_of(double mu, double th)
{
    return 1 + 3 * cos(th) * cos(th) - mu * 3 * cos(th) * (sin(th) + R);
}

static double energy_of(scene *s)
{
    const double *q = q_of(s), *v = v_of(s);
    return 0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2] / 3) + G * q[1];
}

/* Below the critical coefficient there is one force, and the step tends to it, however large it
 * becomes on the way there. */
static void one_force_below(void **state)
{
    (void)state;
    static const double start[][2] = {{1.1, 0}, {0.6, 1}, {1.0, 2}};
    for (int i = 0; i < 3; i++) {
        const double th = start[i][0], rate = start[i][1];
        const double critical = (1 + 3 * cos(th) * cos(th)) / (3 * cos(th) * (sin(th) + R));
        const double b = -G + sin(th) * rate * rate, part[] = {0, 0.3, 0.7, 0.95, 0.99};
        for (int k = 0; k < 5; k++) {
            double mu = part[k] * critical, N = -b / p_of(mu, th), error[2];
            for (int half = 0; half < 2; half++) {
                double h = half ? 2e-5 : 4e-5;
                scene s = open_rod(mu, th, rate, 5);
                assert_int_equal(run_for(&s, 2 * h, h), 0);
                zw_contact it = contact_of(&s);
                assert_int_equal(it.state, ZW_TOUCH_SLIDE);
                error[half] = fabs(it.force[0] - N) / N;
                close_scene(&s);
            }
            assert_true(error[1] < 0.01); /* round-off of places, over h^2/2, gives 1e-5 */
            assert_true(error[1] < 3e-5 || error[1] < 0.55 * error[0]);
        }
    }
}

/* Above it the end is stopped at once, by the same impulse for every short step. Energy is lost,
 * and the contact says what has happened. */
static void an_impulse_above(void **state)
{
    (void)state;
    static const double start[][4] = {
        {2, 1.1, 0, 1}, {2, 1.1, 0, 0.05}, {1.4, 1.0, 2, 3}, {5, 0.7, 1, 2}};
    for (int i = 0; i < 4; i++) {
        const double mu = start[i][0], th = start[i][1], h = 1e-6, slip = start[i][3];
        const double c = cos(th), s_ = sin(th) + R;
        const double nn = 1 + 3 * c * c, nt = 3 * c * s_, tt = 1 + 3 * s_ * s_;
        const double normal = nt * slip / (nn * tt - nt * nt), across = nn / nt * normal;
        assert_true(p_of(mu, th) < 0 && across < mu * normal);
        scene s = open_rod(mu, th, start[i][2], slip);
        double v[3], before = energy_of(&s);
        memcpy(v, v_of(&s), sizeof v);
        assert_int_equal(run_for(&s, h, h), 1);
        zw_contact it = contact_of(&s);
        assert_int_equal(it.state, ZW_TOUCH_JAM);
        assert_true(fabs(it.force[0] * h - normal) < 1e-4);
        assert_true(fabs(v_of(&s)[0] - v[0] - across) < 1e-4);
        assert_true(fabs(v_of(&s)[1] - v[1] - normal) < 1e-4);
        assert_true(fabs(v_of(&s)[2] - v[2] - 3 * (across * s_ - normal * c)) < 1e-4);
        assert_true(energy_of(&s) < before);
        close_scene(&s);
    }
}

/* Where it may also lift off (p < 0, b > 0), nothing pushes. */
static void it_lifts_off_where_it_may(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        const double h = k == 0 ? 1e-4 : k == 1 ? 1e-3 : 1e-2, th = 1.1, rate = 4;
        assert_true(p_of(2, th) < 0 && -G + sin(th) * rate * rate > 0);
        scene s = open_rod(2, th, rate, 1);
        double before[3];
        memcpy(before, v_of(&s), sizeof before);
        assert_int_equal(run_for(&s, h, h), 0);
        assert_true(v_of(&s)[0] == before[0] && fabs(v_of(&s)[2] - before[2]) < 1e-12);
        assert_true(fabs(v_of(&s)[1] - before[1] + G * h) < 1e-12);
        assert_true(q_of(&s)[1] - sin(q_of(&s)[2]) - R >= 0);
        close_scene(&s);
    }
}

/* Long runs into, through and out of the paradox: no end, no depth, no energy from nowhere. */
static void falls_all_the_way(void **state)
{
    (void)state;
    const double h[] = {0.0005, 0.005, 0.05};
    long jams = 0;
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 6; i++) {
            const double mu = 0.8 + 0.4 * i;
            scene s = open_rod(mu, 1.25, 0, 4);
            double most = energy_of(&s);
            for (double t = 0.05; t < 0.45; t += 0.05) {
                jams += run_for(&s, t, h[k]);
                assert_true(energy_of(&s) <= most + 2 * G * h[k]);
                assert_true(q_of(&s)[1] - sin(q_of(&s)[2]) - R > -1e-9);
                most = fmin(most, energy_of(&s) + 2 * G * h[k]);
            }
            close_scene(&s);
        }
    }
    assert_true(jams > 0);
}

/* A block that comes to a stop, a ball that lands and rolls: no paradox, and none is reported. */
static void others_do_not_jam(void **state)
{
    (void)state;
    scene s = open_scene("<worldbody><geom type='plane' size='0 0 1'/>"
                         "<body pos='0 0 .1'><freejoint/><geom type='box' size='.1 .1 .1'/></body>"
                         "<body pos='0 1 .3'><freejoint/><geom size='.1'/></body></worldbody>");
    v_of(&s)[0] = 2;
    v_of(&s)[6] = 1;
    assert_int_equal(run_for(&s, 1, 0.01), 0);
    assert_true(fabs(v_of(&s)[0]) < 1e-9);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_force_below),           cmocka_unit_test(an_impulse_above),
        cmocka_unit_test(it_lifts_off_where_it_may), cmocka_unit_test(falls_all_the_way),
        cmocka_unit_test(others_do_not_jam),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

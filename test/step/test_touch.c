/* Bodies in contact: the laws of Signorini and Coulomb in their textbook form, for any step. */
#include "touch.h"

/* ---- At rest -------------------------------------------------------------------------------- */

/* A ball, a box and a capsule fall from low heights and come to rest on the floor, not in it. */
static void things_come_to_rest(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        const double h[] = {0.001, 0.01, 0.05, 0.2};
        scene s =
            open_scene("<worldbody><geom type='plane' size='0 0 1'/>"
                       "<body pos='0 0 0.15'><freejoint/><geom size='0.1'/></body>"
                       "<body pos='1 0 0.15'><freejoint/><geom type='box' size='.1 .2 .1'/></body>"
                       "<body pos='2 0 0.15' euler='0 90 0'><freejoint/>"
                       "<geom type='capsule' size='.1 .2'/></body></worldbody>");
        double worst = go(&s, 3, h[k]);
        assert_true(worst < 1e-8);
        for (int body = 0; body < 3; body++) {
            assert_true(fabs(q_of(&s)[7 * body + 2] - 0.1) < 1e-9);
        }
        for (int i = 0; i < 18; i++) {
            assert_true(fabs(v_of(&s)[i]) < 1e-9);
        }
        close_scene(&s);
    }
}

/* On a slope of 0.99 atan(mu) a block stays at rest; at 1.01 it slides with constant acceleration.
 */
static void slope(void **state)
{
    (void)state;
    for (int steep = 0; steep < 2; steep++) {
        const double mu = 0.5, angle = (steep ? 1.01 : 0.99) * atan(mu), h = 0.01, t = 10;
        char text[800];
        snprintf(text, sizeof text,
                 "<worldbody><geom type='plane' size='0 0 1' euler='0 %.17g 0' friction='%g 0 0'/>"
                 "<body euler='0 %.17g 0' pos='%.17g 0 %.17g'><freejoint/>"
                 "<geom type='box' size='.1 .1 .1' friction='%g 0 0'/></body></worldbody>",
                 angle * 180 / acos(-1), mu, angle * 180 / acos(-1), 0.1 * sin(angle),
                 0.1 * cos(angle), mu);
        scene s = open_scene(text);
        double x = q_of(&s)[0], z = q_of(&s)[2];
        go(&s, t, h);
        double way = hypot(q_of(&s)[0] - x, q_of(&s)[2] - z);
        double a = G * (sin(angle) - mu * cos(angle));
        double wanted = steep ? a * t * t / 2 : 0;
        assert_true(fabs(way - wanted) < 1e-9);
        close_scene(&s);
    }
}

/* ---- Sliding -------------------------------------------------------------------------------- */

/* A cube of 0.1 m at 6 m/s: straight for every heading, no rise, stops at v^2/(2 mu g) to 0.1 %,
 * in one motion or begun anew at each step. */
static void slide_cube(double h, int heading, int anew)
{
    const double mu = 0.5, speed = 6, wanted = speed * speed / (2 * mu * G);
    double c = cos(heading * acos(-1) / 180), d = sin(heading * acos(-1) / 180), rise = 0;
    scene s = open_scene("<worldbody><geom type='plane' size='0 0 1' friction='.5 0 0'/>"
                         "<body pos='0 0 0.05'><freejoint/>"
                         "<geom type='box' size='.05 .05 .05' friction='.5 0 0'/></body>"
                         "</worldbody>");
    v_of(&s)[0] = speed * c;
    v_of(&s)[1] = speed * d;
    for (double t = anew ? h : 0.1; t < 1.35; t += anew ? h : 0.1) {
        if (anew) {
            zw_wake(s.state);
        }
        go(&s, t, h);
        rise = fmax(rise, fabs(q_of(&s)[2] - 0.05));
    }
    double along = q_of(&s)[0] * c + q_of(&s)[1] * d;
    double across = q_of(&s)[1] * c - q_of(&s)[0] * d;
    assert_true(rise < 1e-6);
    assert_true(fabs(across) < 1e-6);
    assert_true(fabs(along - wanted) < 1e-3 * wanted);
    assert_true(hypot(v_of(&s)[0], v_of(&s)[1]) < 1e-9);
    close_scene(&s);
}

static void sliding_cube(void **state)
{
    (void)state;
    const double h[] = {0.0005, 0.001, 0.002, 0.005, 0.01};
    for (int k = 0; k < 5; k++) {
        for (int heading = 0; heading <= 90; heading += 15) {
            slide_cube(h[k], heading, 0);
        }
    }
    slide_cube(0.01, 30, 1);
}

/* ---- Piles ---------------------------------------------------------------------------------- */

/* Twenty boxes on one another: none in another, all at rest. */
static void tower(void **state)
{
    (void)state;
    static char text[8000];
    int used = snprintf(text, sizeof text, "<worldbody><geom type='plane' size='0 0 1'/>");
    for (int i = 0; i < 20; i++) {
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "<body pos='0 0 %g'><freejoint/><geom type='box' size='.1 .1 .1'/></body>",
                         0.1 + 0.2 * i);
    }
    snprintf(text + used, sizeof text - (size_t)used, "</worldbody>");
    scene s = open_scene(text);
    double worst = go(&s, 1, 0.01);
    assert_true(worst < 1e-8);
    for (int i = 0; i < 20; i++) {
        assert_true(fabs(q_of(&s)[7 * i + 2] - 0.1 - 0.2 * i) < 1e-8);
    }
    for (int i = 0; i < 120; i++) {
        assert_true(fabs(v_of(&s)[i]) < 1e-8);
    }
    close_scene(&s);
}

/* Heavy on light, 64:1 and 512:1, at steps up to two seconds. */
static void heavy_on_light(void **state)
{
    (void)state;
    const double half[2][3] = {{0.3, 0.6, 1.2}, {0.2, 0.8, 1.6}}, density[2] = {500, 1500};
    const double h[] = {0.01, 0.1, 0.5, 2};
    for (int kind = 0; kind < 2; kind++) {
        for (int k = 0; k < 4; k++) {
            char text[2000];
            const double *a = half[kind];
            double z[3] = {a[0], 2 * a[0] + a[1], 2 * a[0] + 2 * a[1] + a[2]};
            int used = snprintf(text, sizeof text,
                                "<worldbody><geom type='plane' size='0 0 1' friction='.1 0 0'/>");
            for (int i = 0; i < 3; i++) {
                used += snprintf(text + used, sizeof text - (size_t)used,
                                 "<body pos='0 0 %g'><freejoint/><geom type='box' size='%g %g %g' "
                                 "density='%g' friction='.1 0 0'/></body>",
                                 z[i], a[i], a[i], a[i], density[kind]);
            }
            snprintf(text + used, sizeof text - (size_t)used, "</worldbody>");
            scene s = open_scene(text);
            for (double t = 2; t < 6.5; t += 2) {
                go(&s, t, h[k]);
                for (int i = 0; i < 3; i++) {
                    assert_true(fabs(q_of(&s)[7 * i + 2] - z[i]) < 1e-8);
                }
            }
            close_scene(&s);
        }
    }
}

/* Eleven boxes, ten light ones of 1 kg and a heavy one: on top of a pile of them, or as a plate on
 * all ten side by side. */
static scene heavy_on_ten(double heavy, int pile)
{
    static char text[4000];
    int used = snprintf(text, sizeof text, "<worldbody><geom type='plane' size='0 0 1'/>");
    for (int i = 0; i < 10; i++) {
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "<body pos='%g %g %g'><freejoint/><geom type='box' size='.1 .1 .1' "
                         "mass='1'/></body>",
                         pile ? 0 : 0.3 * (i % 5), pile ? 0 : 0.3 * (i / 5),
                         pile ? 0.1 + 0.2 * i : 0.1);
    }
    snprintf(text + used, sizeof text - (size_t)used,
             "<body pos='%s'><freejoint/><geom type='box' size='%s' mass='%g'/></body></worldbody>",
             pile ? "0 0 2.1" : ".6 .15 .3", pile ? ".1 .1 .1" : ".9 .4 .1", heavy);
    return open_scene(text);
}

/* 1e3:1, 1e4:1 and 1e6:1. Statics has the sums of forces: through each face of the pile the weight
 * of all that is above it; under the plate its weight, with moments about its middle that vanish,
 * and under each light box what presses on it and its own weight; to 1e-8 of the largest. */
static void check_forces(scene *s, double heavy, int pile)
{
    zw_contact list[200];
    zw_contact_sum sum[30];
    zw_error error = {0};
    int count = zw_contacts(s->system, s->state, s->work, list, 200, &error);
    int pairs = zw_contact_sums(list, count, sum, 30);
    double on[12] = {0}, under[12] = {0}, weight[12], moment[2] = {0};
    assert_true(count > 0 && count <= 200 && pairs == (pile ? 11 : 20));
    for (int i = 0; i < pairs; i++) {
        double up = sum[i].body[0] < sum[i].body[1] ? sum[i].force[2] : -sum[i].force[2];
        int low = sum[i].body[0] < sum[i].body[1] ? sum[i].body[0] : sum[i].body[1];
        int high = sum[i].body[0] + sum[i].body[1] - low;
        on[low] += up;
        under[high] += up;
    }
    for (int i = 0; i < count && !pile; i++) {
        int plate = list[i].body[0] == 11 || list[i].body[1] == 11;
        moment[0] += plate ? list[i].force[0] * (list[i].pos[0] - 0.6) : 0;
        moment[1] += plate ? list[i].force[0] * (list[i].pos[1] - 0.15) : 0;
    }
    for (int body = 11; body > 0; body--) {
        weight[body] = body == 11 ? heavy * G : G;
        assert_true(fabs(under[body] - on[body] - weight[body]) < 1e-8 * heavy * G);
    }
    assert_true(fabs(moment[0]) + fabs(moment[1]) < 1e-8 * heavy * G);
}

static void heavy_on_ten_light(void **state)
{
    (void)state;
    static const double heavy[] = {1e3, 1e4, 1e6}, h[] = {0.002, 0.01, 0.02};
    for (int kind = 0; kind < 18; kind++) {
        int pile = kind % 2;
        scene s = heavy_on_ten(heavy[kind / 2 % 3], pile);
        double start[77], worst = 0;
        memcpy(start, q_of(&s), sizeof start);
        assert_true(go(&s, 1, h[kind / 6]) < 1e-7);
        for (int i = 0; i < 77; i++) {
            worst = fmax(worst, fabs(q_of(&s)[i] - start[i]));
        }
        assert_true(worst < 1e-8);
        check_forces(&s, heavy[kind / 2 % 3], pile);
        close_scene(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(things_come_to_rest), cmocka_unit_test(slope),
        cmocka_unit_test(sliding_cube),        cmocka_unit_test(tower),
        cmocka_unit_test(heavy_on_light),      cmocka_unit_test(heavy_on_ten_light),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

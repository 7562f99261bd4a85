/* Friction of contacts against analytic solutions: none, spinning, rolling, elliptic.
 *
 * Backward Euler is exact where accelerations are constant, so these hold to round-off at any step:
 * v(k h) = v(0) - k h a down to the step in which it would turn, and 0 from there on.
 *
 * One ellipsoid holds sliding, spinning and rolling together, |(f/mu, t/mu_t, m/mu_r)| <= N, and
 * the force is that which takes most: f = -mu^2 N w/s, t = -mu_t^2 N w_n/s, m = -mu_r^2 N w_r/s
 * with s = |(mu w, mu_t w_n, mu_r w_r)|. */
#include "touch.h"

static zw_contact contact_of(scene *s)
{
    zw_contact list[8];
    zw_error error = {0};
    int count = zw_contacts(s->system, s->state, s->work, list, 8, &error);
    must(count == 1 ? ZW_OK : ZW_BAD_INPUT, &error);
    return list[0];
}

/* ---- Spinning ------------------------------------------------------------------------------- */

/* A disc on a round foot, about its axis: w' = -mu_t N / I. */
static void spin_stops(void **state)
{
    (void)state;
    const double mu_t = 0.004, m = 2, I = 0.01, w = 15, h[] = {0.001, 0.01, 0.05};
    for (int k = 0; k < 3; k++) {
        for (int slides = 0; slides < 2; slides++) { /* with and without friction across */
            char text[600];
            snprintf(text, sizeof text,
                     "<worldbody><geom type='plane' size='0 0 1' condim='4' friction='%g .004 0'/>"
                     "<body pos='0 0 .1'><freejoint/><inertial pos='0 0 0' mass='2' "
                     "diaginertia='.005 .005 .01'/><geom size='.1' condim='4' "
                     "friction='%g .004 0'/></body></worldbody>",
                     slides ? 0. : .7, slides ? 0. : .7);
            scene s = open_scene(text);
            const double a = mu_t * m * G / I, stop = w / a; /* 1.911 s */
            v_of(&s)[5] = w;
            for (double t = 0.5; t < 2; t += 0.5) {
                go(&s, t, h[k]);
                double wanted = fmax(w - a * t, 0);
                assert_true(fabs(v_of(&s)[5] - wanted) < 1e-9);
                zw_contact it = contact_of(&s);
                assert_true(fabs(it.force[0] - m * G) < 1e-8);
                assert_true(fabs(it.force[3] + mu_t * m * G) < 1e-8);
            }
            double t = floor(stop / h[k]) * h[k];
            go(&s, t, h[k]);
            assert_true(fabs(v_of(&s)[5] - (w - a * t)) < 1e-9);
            go(&s, t + h[k], h[k]);
            double turned[4], sum = 0;
            memcpy(turned, q_of(&s) + 3, sizeof turned);
            assert_true(fabs(v_of(&s)[5]) < 1e-10);
            go(&s, 5, h[k]);
            for (int i = 0; i < 4; i++) {
                sum += fabs(q_of(&s)[3 + i] - turned[i]);
            }
            assert_true(sum < 1e-12 && fabs(v_of(&s)[5]) < 1e-12);
            assert_true(hypot(q_of(&s)[0], q_of(&s)[1]) < 1e-12);
            close_scene(&s);
        }
    }
}

/* ---- Rolling -------------------------------------------------------------------------------- */

#define BALL                                                                                       \
    "<default><geom condim='6' friction='%.17g 0 %.17g'/></default>"                               \
    "<worldbody><geom type='plane' size='0 0 1'/>"                                                 \
    "<body pos='0 0 .2'><freejoint/><geom size='.2' mass='3'/></body></worldbody>"

/* A ball on the level: m v' = -f, I w' = f r - m_r, v = r w + slip. On the ray slip = k w it stays:
 * with e = mu_r/(mu r), tan = mu slip/(mu_r w) is the root of e x^2 + (7/5 - e^2) x - e = 0, and
 * v' = -mu g sin. For small e that is 5/7 g mu_r/r, the decoupled law's. */
static void roll_stops(void **state)
{
    (void)state;
    const double r = 0.2, mu = 0.8, w = 5, h[] = {0.002, 0.02};
    for (int k = 0; k < 6; k++) {
        const double mu_r = k < 2 ? 0.0004 : k < 4 ? 0.016 : 0.1, e = mu_r / (mu * r);
        const double p = 1.4 - e * e, x = 2 * e / (p + sqrt(p * p + 4 * e * e));
        const double slip = mu_r / mu * x, a = mu * G * x / sqrt(1 + x * x);
        const double step = h[k % 2], v = (r + slip) * w, stop = v / a;
        char text[600];
        if (k < 2) {
            assert_true(fabs(a / (5. / 7 * G * mu_r / r) - 1) < e * e);
        }
        snprintf(text, sizeof text, BALL, mu, mu_r);
        scene s = open_scene(text);
        v_of(&s)[0] = v;
        v_of(&s)[4] = w;
        double t = step * floor((k < 2 ? 2 : 0.6 * stop) / step);
        go(&s, t, step);
        assert_true(fabs(v_of(&s)[0] - (v - a * t)) < 1e-8);
        assert_true(fabs(v_of(&s)[4] - (v - a * t) / (r + slip)) < 1e-7);
        assert_true(fabs(q_of(&s)[0] - (v * t - a * t * t / 2)) < 1e-8);
        zw_contact it = contact_of(&s);
        double N = 3 * G, f = hypot(it.force[1], it.force[2]),
               roll = hypot(it.force[4], it.force[5]);
        assert_true(fabs(hypot(f / mu, roll / mu_r) - N) < 1e-6 * N);
        if (k >= 2) { /* stops on time, and stays */
            go(&s, step * ceil(stop / step + 1e-9), step);
            double x0 = q_of(&s)[0];
            assert_true(fabs(v_of(&s)[0]) < 1e-9 && fabs(v_of(&s)[4]) < 1e-9);
            go(&s, stop + 3, step);
            assert_true(fabs(q_of(&s)[0] - x0) < 1e-11);
        }
        close_scene(&s);
    }
}

/* On a slope it needs f = m g sin and r f about its axis: it stays where
 * tan <= 1/sqrt(1/mu^2 + r^2/mu_r^2), nearly mu_r/r. Above, it rolls: from rest along one ray. */
static void roll_on_a_slope(void **state)
{
    (void)state;
    const double r = 0.2, mu = 0.8, mu_r = 0.01, h = 0.01;
    const double limit = atan(1 / sqrt(1 / (mu * mu) + r * r / (mu_r * mu_r)));
    assert_true(fabs(limit / atan(mu_r / r) - 1) < 0.5 * pow(mu_r / (mu * r), 2) * 1.01);
    for (int k = 0; k < 4; k++) {
        const double factor[] = {0.5, 0.999, 1.001, 2}, angle = factor[k] * limit;
        char text[700];
        int used = snprintf(text, sizeof text, "<option gravity='%.17g 0 %.17g'/>", G * sin(angle),
                            -G * cos(angle));
        snprintf(text + used, sizeof text - (size_t)used, BALL, mu, mu_r);
        scene s = open_scene(text);
        go(&s, 2, h);
        double v = v_of(&s)[0], w = v_of(&s)[4];
        if (k < 2) {
            assert_true(fabs(q_of(&s)[0]) < 1e-10 && fabs(v) < 1e-10);
        } else { /* v = a t, w = b t, with the forces of that ray */
            double a = v / 2, b = w / 2, slip = a - r * b;
            double s_ = hypot(mu * slip, mu_r * b), N = G * cos(angle);
            assert_true(b > 0);
            assert_true(fabs(a - (G * sin(angle) - mu * mu * N * slip / s_)) < 1e-8);
            assert_true(
                fabs(0.4 * r * r * b - (r * mu * mu * N * slip - mu_r * mu_r * N * b) / s_) < 1e-8);
            assert_true(fabs(q_of(&s)[0] - a * 2 * 2 / 2) < 1e-8);
        }
        close_scene(&s);
    }
}

/* ---- Without friction ----------------------------------------------------------------------- */

/* condim 1: nothing across, whatever the coefficients say. */
static void condim_one(void **state)
{
    (void)state;
    scene s = open_scene("<option gravity='1 0 -9.81'/><default><geom condim='1' friction='.9 .1 "
                         ".1'/></default><worldbody><geom type='plane' size='0 0 1'/>"
                         "<body pos='0 0 .1'><freejoint/><geom size='.1'/></body>"
                         "<body pos='0 2 .1'><freejoint/><geom type='box' size='.1 .1 .1'/></body>"
                         "</worldbody>");
    const double h = 0.01, t = 2;
    v_of(&s)[5] = 3;
    v_of(&s)[7] = 0.5;
    go(&s, t, h);
    assert_true(fabs(v_of(&s)[0] - t) < 1e-10 && fabs(v_of(&s)[5] - 3) < 1e-10);
    assert_true(fabs(v_of(&s)[4]) < 1e-10);
    assert_true(fabs(v_of(&s)[6] - t) < 1e-10 && fabs(v_of(&s)[7] - 0.5) < 1e-10);
    assert_true(fabs(q_of(&s)[0] - t * t / 2) < 1e-10);
    assert_true(fabs(q_of(&s)[2] - 0.1) < 1e-12 && fabs(q_of(&s)[9] - 0.1) < 1e-12);
    close_scene(&s);
}

/* ---- Elliptic ------------------------------------------------------------------------------- */

/* The first coefficient of a pair is along y across the normal, the second along x (bodies.md). Of
 * several pairs of the same geoms the first counts. */
#define MU_X 0.3
#define MU_Y 0.6
#define BLOCK                                                                                      \
    "<option gravity='%.17g %.17g -9.81'/>"                                                        \
    "<worldbody><geom name='floor' type='plane' size='0 0 1' friction='.1 0 0'/>"                  \
    "<body pos='0 0 .1'><freejoint/><geom name='block' type='box' size='.2 .2 .1' "                \
    "mass='2'/></body>"                                                                            \
    "</worldbody><contact><pair geom1='floor' geom2='block' condim='3' "                           \
    "friction='.6 .3 .005 .0001 .0001'/><pair geom1='block' geom2='floor' friction='.2 .2 0 0 "    \
    "0'/>"                                                                                         \
    "<pair geom1='floor' geom2='block' friction='.9 .9 0 0 0'/></contact>"

static scene open_block(double x, double y)
{
    char text[900];
    snprintf(text, sizeof text, BLOCK, x, y);
    return open_scene(text);
}

/* Pushed by g (x, y): what is left over, a, has x - mu_x^2 a_x/s, s = |(mu_x a_x, mu_y a_y)|. */
static void check_ray(const double push[2], const double a[2])
{
    double s = hypot(MU_X * a[0], MU_Y * a[1]);
    assert_true(fabs(a[0] - (push[0] - G * MU_X * MU_X * a[0] / s)) < 1e-9);
    assert_true(fabs(a[1] - (push[1] - G * MU_Y * MU_Y * a[1] / s)) < 1e-9);
}

/* Along every heading: it stays inside of the ellipse, and leaves beyond it, along one ray and with
 * a force on the ellipse whose normal is the direction of slip. */
static void pushed_along_headings(void **state)
{
    (void)state;
    const double h = 0.01, t = 0.5, rad = acos(-1) / 180;
    for (int heading = 0; heading <= 90; heading += 15) {
        double c = cos(heading * rad), d = sin(heading * rad);
        double limit = G / hypot(c / MU_X, d / MU_Y); /* force over mass at which it moves */
        for (int k = 0; k < 3; k++) {
            double size = limit * (k == 0 ? 0.999 : k == 1 ? 1.001 : 1.5);
            double push[2] = {size * c, size * d};
            scene s = open_block(push[0], push[1]);
            go(&s, t, h);
            double a[2] = {v_of(&s)[0] / t, v_of(&s)[1] / t};
            if (k == 0) {
                assert_true(hypot(q_of(&s)[0], q_of(&s)[1]) < 1e-11);
            } else {
                assert_true(hypot(a[0], a[1]) > 1e-4 * G * MU_X);
                check_ray(push, a);
                assert_true(fabs(q_of(&s)[0] - a[0] * t * t / 2) < 1e-9);
                assert_true(fabs(v_of(&s)[5]) < 1e-9);
                assert_true(fabs(q_of(&s)[2] - 0.1) < 1e-12);
            }
            zw_contact list[8];
            zw_error error = {0};
            int count = zw_contacts(s.system, s.state, s.work, list, 8, &error);
            assert_int_equal(count, 4);
            for (int i = 0; i < 4; i++) { /* every corner by itself */
                const double *f = list[i].force, *w = list[i].slip;
                double on = hypot(f[1] / MU_Y, f[2] / MU_X);
                assert_true(on <= f[0] + 1e-8);
                if (k > 0) {
                    assert_true(fabs(on - f[0]) < 1e-8);
                    assert_true(fabs(f[1] / (MU_Y * MU_Y) * w[2] - f[2] / (MU_X * MU_X) * w[1]) <
                                1e-8 * (1 + hypot(w[1], w[2])));
                    assert_true(f[1] * w[1] + f[2] * w[2] <= 0);
                }
            }
            close_scene(&s);
        }
    }
}

/* Thrown: v_x' / v_y' = mu_x^2 v_x / (mu_y^2 v_y), so v_y / v_x^(mu_y^2/mu_x^2) stays: here power
 * 4. The path bends towards the slippery direction; at order h. */
static void thrown_bends(void **state)
{
    (void)state;
    double error[2];
    for (int k = 0; k < 2; k++) {
        const double h = k ? 0.001 : 0.002;
        scene s = open_block(0, 0);
        v_of(&s)[0] = v_of(&s)[1] = 2;
        go(&s, 0.3, h);
        double x = v_of(&s)[0] / 2, y = v_of(&s)[1] / 2;
        assert_true(y < 0.5 * x && x < 1);
        error[k] = fabs(y - x * x * x * x);
        assert_true(fabs(v_of(&s)[5]) < 1e-9);
        close_scene(&s);
    }
    assert_true(error[0] < 0.01 && fabs(error[0] / error[1] - 2) < 0.2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spin_stops),
        cmocka_unit_test(roll_stops),
        cmocka_unit_test(roll_on_a_slope),
        cmocka_unit_test(condim_one),
        cmocka_unit_test(pushed_along_headings),
        cmocka_unit_test(thrown_bends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

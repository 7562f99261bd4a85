/* A disc that rolls on its lower rim in steady motion, at an instant, by closed form.
 *
 * Radius R, half thickness L, mass m, moments A across its axis and C about it. The axis e is at
 * the angle alpha to the vertical z and turns about it at the rate Omega; the disc turns at s about
 * e besides: omega = Omega z + s e. With u = (z - cos(alpha) e)/sin(alpha), the point that touches
 * is at r = -R u - L e from the centre. With y = z x e / sin(alpha):
 *
 *     v = - omega x r = - V y,    V = Omega (R cos(alpha) - L sin(alpha)) + s R,
 *     a = Omega z x v = Omega V x,
 *     omega' = Omega s sin(alpha) y,
 *
 * and the moment about the centre of the force m (a + g z) gives s:
 *
 *     Omega sin(alpha) (C (s + Omega cos(alpha)) - A Omega cos(alpha))
 *         = -(R sin(alpha) + L cos(alpha)) m Omega V - (R cos(alpha) - L sin(alpha)) m g.
 *
 * The point runs along the rim at s R: the flatter the disc lies, the faster, with the same
 * acceleration of what it consists of. */
#include "touch.h"

static const double R = 0.3, L = 0.01, m = 2; /* friction is great enough to hold it */

/* The largest error of an acceleration, relative to the largest. */
static double error_at(double alpha, double Omega, double s)
{
    const double C = m * R * R / 2, A = C / 2 + m * L * L / 3, sine = sin(alpha);
    double V = Omega * (R * cos(alpha) - L * sine) + s * R, worst = 0;
    const double expected[6] = {Omega * V, 0, 0, 0, Omega * s * sine, 0};
    char text[800];
    zw_error error = {0};
    snprintf(
        text, sizeof text,
        "<worldbody><geom type='plane' size='0 0 1' friction='1000 0 0'/><body pos='0 0 %.17g'>"
        "<freejoint/><inertial pos='0 0 0' mass='%g' diaginertia='%.17g %.17g %.17g'/>"
        "<geom type='cylinder' size='%g %g' friction='1000 0 0'/></body></worldbody>",
        R * sine + L * cos(alpha), m, A, A, C, R, L);
    scene it = open_scene(text);
    q_of(&it)[3] = cos(alpha / 2);
    q_of(&it)[5] = sin(alpha / 2);
    v_of(&it)[1] = -V;
    v_of(&it)[3] = -Omega * sine; /* along the axes of the disc */
    v_of(&it)[5] = Omega * cos(alpha) + s;
    must(zw_forward(it.system, it.state, it.work, NULL, &error), &error);
    const double *a = zw_field(it.system, it.state, it.work, ZW_FIELD_A).data;
    for (int i = 0; i < 6; i++) {
        worst = fmax(worst, fabs(a[i] - expected[i]));
    }
    close_scene(&it);
    return worst / fmax(fabs(expected[0]), fabs(expected[4]));
}

/* At any rate of precession. */
static void discs_roll(void **state)
{
    (void)state;
    static const double tilt[] = {1.2, 0.5, 0.1, 0.03, 0.01, 3e-3, 1e-3}, rate[] = {3, 10, 100};
    const double C = m * R * R / 2, A = C / 2 + m * L * L / 3;
    for (size_t k = 0; k < sizeof tilt / sizeof *tilt; k++) {
        const double sine = sin(tilt[k]), cosine = cos(tilt[k]);
        const double flat = R * cosine - L * sine, high = R * sine + L * cosine;
        for (size_t j = 0; j < sizeof rate / sizeof *rate; j++) {
            double Omega = rate[j], s = -(Omega * Omega * sine * cosine * (C - A) +
                                          high * m * Omega * Omega * flat + flat * m * G) /
                                        (Omega * (C * sine + high * m * R));
            assert_true(error_at(tilt[k], Omega, s) < 1e-9);
        }
    }
}

/* Euler's disc: its centre stands still, V = 0, and the point that touches runs faster and faster
 * as it settles. */
static void a_disc_settles(void **state)
{
    (void)state;
    static const double tilt[] = {0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-5, 1e-6};
    const double C = m * R * R / 2, A = C / 2 + m * L * L / 3;
    for (size_t k = 0; k < sizeof tilt / sizeof *tilt; k++) {
        const double sine = sin(tilt[k]), cosine = cos(tilt[k]), flat = R * cosine - L * sine;
        double Omega = sqrt(flat * m * G / (sine * (A * cosine - C * (cosine - flat / R))));
        assert_true(error_at(tilt[k], Omega, -Omega * flat / R) < 1e-9);
    }
}

/* A box that slides and spins on a smooth slope, far from the origin: the rate of each row is 0,
 * and what differences of speeds find is round-off, which must not be followed. */
static void a_box_slides(void **state)
{
    (void)state;
    const double size = sqrt(0.3 * 0.3 + 0.2 * 0.2 + 1);
    const double n[3] = {0.3 / size, -0.2 / size, 1 / size}, turn = sqrt(2 + 2 * n[2]);
    const double along[3] = {n[2], 0, -n[0]};
    char text[600];
    zw_error error = {0};
    snprintf(
        text, sizeof text,
        "<worldbody><geom type='plane' size='0 0 1' zaxis='.3 -.2 1' condim='1'/>"
        "<body pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g 0'><freejoint/><geom type='box' "
        "size='.2 .15 .1' mass='2' condim='1'/></body></worldbody>",
        0.1 * n[0] + 57 * along[0], 0.1 * n[1], 0.1 * n[2] + 57 * along[2], (1 + n[2]) / turn,
        -n[1] / turn, n[0] / turn);
    scene s = open_scene(text);
    for (int i = 0; i < 3; i++) {
        v_of(&s)[i] = 1.3 * along[i];
    }
    v_of(&s)[5] = 2.1;
    must(zw_forward(s.system, s.state, s.work, NULL, &error), &error);
    const double *a = zw_field(s.system, s.state, s.work, ZW_FIELD_A).data;
    for (int i = 0; i < 3; i++) {
        double fall = (n[i] * n[2] - (i == 2)) * G;
        assert_true(fabs(a[i] - fall) < 1e-9 && fabs(a[3 + i]) < 1e-9);
    }
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(discs_roll),
        cmocka_unit_test(a_disc_settles),
        cmocka_unit_test(a_box_slides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

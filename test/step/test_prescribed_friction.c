/* Friction where the motion is prescribed: at a reversal of the drive it changes sign, and the
 * drive's force jumps by twice the friction. That is not a conflict. */
#include "step/integrate.h"

#include <string.h>

#include "system/import.h"

static zw_run_summary go_by(world *w, zw_method method, double time)
{
    zw_run_summary summary;
    const zw_run_options options = {
        .time = time,
        .tolerance = 1e-11,
        .method = method,
        .step = method == ZW_METHOD_DOP853 || method == ZW_METHOD_STIFF ? 0 : 0.01};
    if (zw_run(w->system, w->state, w->work, &options, &summary, &w->error) != ZW_OK) {
        fail_msg("method %d: %s", (int)method, w->error.text);
    }
    return summary;
}

/* The work of the drive x = 0.5 sin t is that of friction and the kinetic energy: |x'| integrated
 * over two periods and a bit. */
static void a_drive_turns_back(void **state)
{
    (void)state;
    static const char *const drive[] = {"j = 0.5*sin(t)", "j' = 0.5*cos(t)"};
    static const zw_method method[] = {ZW_METHOD_DOP853, ZW_METHOD_STIFF, ZW_METHOD_RK4,
                                       ZW_METHOD_IMPULSE};
    for (int i = 0; i < 2; i++) {
        for (int m = 0; m < 4; m++) {
            char text[200];
            snprintf(text, sizeof text, "import \"friction_arm.xml\"\nconstraint motor: %s\n",
                     drive[i]);
            world w = formulas(text);
            go_by(&w, method[m], 14);
            int exact = method[m] != ZW_METHOD_IMPULSE;
            double x = world_field(&w, ZW_FIELD_Q)[0], v = world_field(&w, ZW_FIELD_V)[0];
            assert_true(fabs(x - 0.5 * sin(14)) < (exact ? 1e-8 : 0.01));
            assert_true(fabs(v - 0.5 * cos(14)) < (exact ? 1e-9 : 0.01));
            if (exact) { /* the force of the drive now: J x'' + friction against the motion */
                world_forward(&w);
                double force = 0.2 * -0.5 * sin(14) + 0.3 * (cos(14) > 0 ? 1 : -1);
                assert_true(fabs(world_field(&w, ZW_FIELD_LAMBDA)[0] + force) < 1e-7 ||
                            fabs(world_field(&w, ZW_FIELD_LAMBDA)[0] - force) < 1e-7);
            }
            world_end(&w);
        }
    }
}

/* Two joints whose sum is prescribed: the weaker friction gives way. At a reversal the one with 0.5
 * holds as long as the other's 0.3 is all that the coupling has to bring up. */
static void of_two_joints_the_weaker_gives_way(void **state)
{
    (void)state;
    world w = formulas("import \"friction_two.xml\"\nspeed j' = 0.2, k' = 0\nconstraint motor: j + "
                       "k = 0.2*sin(t)\n");
    go_by(&w, ZW_METHOD_DOP853, 14);
    assert_true(fabs(world_field(&w, ZW_FIELD_Q)[0] - 0.2 * sin(14)) < 1e-9);
    assert_true(fabs(world_field(&w, ZW_FIELD_Q)[1]) < 1e-12);
    world_end(&w);
}

/* A point that is driven over a rough surface, and one in space that is free across. */
static void a_point_is_driven_to_and_fro(void **state)
{
    (void)state;
    world w = formulas("coord x = 0, y = 0\nmass 2 at (x, y)\ngravity (0, -9.81)\n"
                       "constraint floor: y = 0\nconstraint motor: x = 1 - cos(t)\n"
                       "friction floor: 0.3\n");
    zw_run_summary summary = go_by(&w, ZW_METHOD_DOP853, 8);
    assert_true(summary.energy_drift < 1e-10);
    world_forward(&w);
    double push = 2 * cos(8) + 0.3 * 2 * 9.81 * (sin(8) > 0 ? 1 : -1);
    assert_true(fabs(fabs(world_field(&w, ZW_FIELD_LAMBDA)[1]) - fabs(push)) < 1e-9);
    world_end(&w);

    w = formulas("coord x = 0, y = 0, z = 0\nspeed y' = 0\nmass 2 at (x, y, z)\n"
                 "gravity (0, 0, -9.81)\nforce y: 1\nconstraint floor: z = 0\n"
                 "constraint motor: x = sin(t)\nfriction floor: 0.3\n");
    summary = go_by(&w, ZW_METHOD_DOP853, 8);
    assert_true(summary.energy_drift < 1e-9);
    assert_true(world_field(&w, ZW_FIELD_V)[1] >
                0); /* while it slides along x, friction does not hold it in y */
    world_end(&w);
}

/* y of the last one at t = 8, by Euler's implicit method: 2 y'' = 1 - 0.3 m g y'/|(cos t, y')|. */
static double creep(int steps)
{
    double h = 8.0 / steps, y = 0, v = 0;
    for (int k = 1; k <= steps; k++) {
        double x = cos(k * h), w = v;
        for (int i = 0; i < 20; i++) {
            double e = sqrt(x * x + w * w), rub = 0.5 * h * 0.3 * 2 * 9.81;
            w -= (w - v - 0.5 * h + rub * w / e) / (1 + rub * x * x / (e * e * e));
        }
        y += 0.5 * h * (v + w);
        v = w;
    }
    return y;
}

/* Where the drive turns back, the speed across goes to zero as well, but not at the same instant:
 * the direction of friction turns by half a turn in no time. At no tolerance is that in the way. */
static void friction_turns_round(void **state)
{
    (void)state;
    const double tolerance[] = {1e-8, 1e-10, 1e-12};
    double exact = 2 * creep(200000) - creep(100000);
    for (int k = 0; k < 3; k++) {
        world w = world_of("coord x = 0, y = 0, z = 0\nspeed y' = 0\nmass 2 at (x, y, z)\n"
                           "gravity (0, 0, -9.81)\nforce y: 1\nconstraint floor: z = 0\n"
                           "constraint motor: x = sin(t)\nfriction floor: 0.3\n");
        world_run(&w, 8, tolerance[k]);
        assert_true(fabs(world_field(&w, ZW_FIELD_Q)[1] - 0.808470961344) < 1e-10);
        assert_true(fabs(world_field(&w, ZW_FIELD_Q)[1] - exact) < 1e-7);
        world_end(&w);
    }
}

/* A block that is geared to a mass a million times its own, by two rows that say the same: what
 * drives it is no drive. Friction holds it against less than mu N, and else slows down both. */
static void a_heavy_mass_prescribes_nothing(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        char text[400];
        double pull = k ? 80 : 2, t = 5, hold = 0.3 * 2 * 9.81;
        snprintf(text, sizeof text,
                 "coord x = 0, y = 0, s = 0\nmass 2 at (x, y), 2e6 at (s, 1)\n"
                 "gravity (0, -9.81)\nforce (%g, 0) at (s, 1)\nconstraint floor: y = 0\n"
                 "constraint gear: s = x\nconstraint twin: 2*s = 2*x\nfriction floor: 0.3\n",
                 pull);
        world w = formulas(text);
        go_by(&w, ZW_METHOD_DOP853, t);
        double way = k ? 0.5 * (pull - hold) / 2000002 * t * t : 0;
        assert_true(fabs(world_field(&w, ZW_FIELD_Q)[0] - way) < 1e-9 * (1 + way));
        assert_true(fabs(world_field(&w, ZW_FIELD_V)[0] - 2 * way / t) < 1e-12);
        world_end(&w);
    }
}

/* A drive that starts from rest without acceleration. */
static void a_drive_starts_softly(void **state)
{
    (void)state;
    world w = formulas("import \"friction_arm.xml\"\nconstraint motor: j = -t^3*(1 - t)\n");
    go_by(&w, ZW_METHOD_DOP853, 2);
    assert_true(fabs(world_field(&w, ZW_FIELD_Q)[0] - 8) < 1e-9);
    world_end(&w);
}

/* ---- stiff ----------------------------------------------------------------------------------- */

/* A pendulum on a spring so stiff that round-off of its length moves its speed by more than the
 * tolerance; what it does beside that is the rigid pendulum, to mg/k. */
/* A rail that lies askew, and a drive along it: no force of friction can change anything, and
 * arithmetic says so to round-off only. Along the rail m (s'' + g sin a) is brought up, and mu N
 * against the motion. */
static void a_rail_lies_askew(void **state)
{
    (void)state;
    for (int k = 0; k < 10; k++) {
        double a = 0.1 + 0.29 * k;
        char text[400];
        snprintf(text, sizeof text,
                 "param a = %.17g\ncoord x = 0, y = 0\nmass 1 at (x, y)\ngravity (0, -9.81)\n"
                 "constraint rail: y*cos(a) - x*sin(a) = 0\n"
                 "constraint drive: x*cos(a) + y*sin(a) = sin(3*t)\nfriction rail: 0.4 at (x, y)\n",
                 a);
        world w = formulas(text);
        go_by(&w, ZW_METHOD_DOP853, 4);
        world_forward(&w);
        double force = -9 * sin(12) + 9.81 * sin(a) + 0.4 * 9.81 * fabs(cos(a));
        assert_true(fabs(fabs(world_field(&w, ZW_FIELD_LAMBDA)[1]) - fabs(force)) < 1e-7);
        world_end(&w);
    }
}

static void stiff_goes_on_at_tight_tolerances(void **state)
{
    (void)state;
    world w = formulas("coord x = 1, y = 0\nmass 1 at (x, y)\ngravity (0, -9.81)\n"
                       "spring 1e12 from (0, 0) to (x, y) length 1\n"
                       "damper 1e9 from (0, 0) to (x, y)\n");
    world rigid = formulas("coord x = 1, y = 0\nmass 1 at (x, y)\ngravity (0, -9.81)\n"
                           "constraint rod: |(x, y)| = 1\n");
    const zw_run_options options = {.time = 0.3, .tolerance = 1e-12, .method = ZW_METHOD_STIFF};
    if (zw_run(w.system, w.state, w.work, &options, NULL, &w.error) != ZW_OK) {
        fail_msg("%s", w.error.text);
    }
    go_by(&rigid, ZW_METHOD_DOP853, 0.3);
    for (int i = 0; i < 2; i++) {
        double off = world_field(&w, ZW_FIELD_Q)[i] - world_field(&rigid, ZW_FIELD_Q)[i];
        if (!(fabs(off) < 1e-8)) {
            fail_msg("coordinate %d is off by %.1e", i, off);
        }
    }
    world_end(&w);
    world_end(&rigid);
}

/* At a singular point method stiff fails, and its message does not advise method stiff. */
static void stiff_does_not_advise_itself(void **state)
{
    (void)state;
    world w = formulas("coord x = 1\nspeed x' = -1\nkinetic x'^2/2\npotential -1/x^3\n");
    const zw_run_options options = {.time = 3, .tolerance = 1e-10, .method = ZW_METHOD_STIFF};
    assert_int_not_equal(zw_run(w.system, w.state, w.work, &options, NULL, &w.error), ZW_OK);
    if (strstr(w.error.text, "method stiff")) {
        fail_msg("%s", w.error.text);
    }
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_drive_turns_back),
        cmocka_unit_test(of_two_joints_the_weaker_gives_way),
        cmocka_unit_test(a_point_is_driven_to_and_fro),
        cmocka_unit_test(friction_turns_round),
        cmocka_unit_test(a_drive_starts_softly),
        cmocka_unit_test(a_heavy_mass_prescribes_nothing),
        cmocka_unit_test(a_rail_lies_askew),
        cmocka_unit_test(stiff_goes_on_at_tight_tolerances),
        cmocka_unit_test(stiff_does_not_advise_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

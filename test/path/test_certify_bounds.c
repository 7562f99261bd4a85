/* The verdicts of a trial, from both sides of the bounds that path.h states: 15 times the error of
 * the extra force, 0.3 of |M a|, 12 times the noise of speeds, 8 times the error of a constraint.
 *
 * Recordings are written down in closed form, and their noise is given, so that what is tried is
 * known: where the report's own figures are half of a bound the verdict is that of a motion, where
 * they are twice it is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>

#include "scene/dice.h"
#include "zwang/path.h"

enum { MOST = 4000 };

static double t[MOST], q[2 * MOST], v[2 * MOST];

static zw_trial_report try_path(const char *text, long count, const double *speeds, double noise)
{
    zw_error error;
    zw_model *model = zw_model_parse(text, "bounds.zw", NULL, &error);
    zw_system *system = model ? zw_system_compile(model, NULL, &error) : NULL;
    zw_path *path = system ? zw_path_create(system, count, t, q, speeds, &error) : NULL;
    const zw_certify_options options = {.noise = noise};
    zw_trial *trial = path ? zw_path_certify(system, path, &options, &error) : NULL;
    if (!trial) {
        fail_msg("%s", error.text);
    }
    zw_trial_report report = *zw_trial_look(trial);
    zw_trial_free(trial);
    zw_path_free(path);
    zw_system_free(system);
    zw_model_free(model);
    return report;
}

static const char *const swing = "coord x = 1\nkinetic x'^2/2\npotential x^2/2\n";

/* A swing with a push that is short beside the recording, and no jump: x = cos t + height exp(-((t
 * - t0)/2.4)^2). */
static zw_trial_report push(double height, double noise)
{
    long count = 4000;
    for (long i = 0; i < count; i++) {
        double u;
        t[i] = 0.05 * (double)i;
        u = (t[i] - 101.3) / 2.4;
        q[i] = cos(t[i]) + height * exp(-u * u);
    }
    return try_path(swing, count, NULL, noise);
}

/* NOT_MOTION where the report says more than 15 times the error at one moment, or more than 16
 * times the mean one, and only there; some pushes are seen by the first rule alone. */
static void pushes_are_seen_from_15_times_their_error(void **state)
{
    (void)state;
    int between = 0;
    for (double height = 1e-3; height < 0.05; height *= 1.2) {
        zw_trial_report r = push(height, 1e-3);
        double moment = r.worst / r.worst_error, mean = r.defect / r.defect_error;
        int seen = moment > 15 || mean > 16;
        if ((r.verdict == ZW_VERDICT_NOT_MOTION) != seen) {
            fail_msg("a push of %g is %g times its error, in the mean %g: verdict %d", height,
                     moment, mean, r.verdict);
        }
        between += moment > 16 && moment < 40 && mean < 14;
    }
    assert_true(between > 0);
}

/* The error of the extra force beside |M a|, whose mean square is that of cos t over the recording.
 */
static void noise_is_coarse_from_a_third_of_the_forces(void **state)
{
    (void)state;
    enum { COUNT = 80 };
    int fine = 0, coarse = 0;
    for (double noise = 1e-2; noise < 1; noise *= 1.2) {
        for (long i = 0; i < COUNT; i++) {
            t[i] = 0.05 * (double)i;
            q[i] = cos(t[i]);
        }
        double end = t[COUNT - 1], force = 0.5 + sin(2 * end) / (4 * end);
        zw_trial_report r = try_path(swing, COUNT, NULL, noise);
        double part = sqrt(r.defect_error / force);
        if (part < 0.25) {
            assert_int_equal(r.verdict, ZW_VERDICT_MOTION);
            fine++;
        } else if (part > 0.36 && part < 1.2) {
            assert_int_equal(r.verdict, ZW_VERDICT_COARSE);
            coarse++;
        }
    }
    assert_true(fine > 3 && coarse > 3);
}

/* One recorded speed is off by so many times the median of the noise of all of them. */
static void speeds_clash_from_12_times_their_noise(void **state)
{
    (void)state;
    static const double off[] = {6, 9, 16, 24};
    for (int k = 0; k < 4; k++) {
        dice d = dice_of(7);
        for (long i = 0; i < 400; i++) {
            t[i] = 0.05 * (double)i;
            q[i] = cos(t[i]);
            v[i] = -sin(t[i]) + dice_between(&d, -2e-3, 2e-3); /* the median of its size: 1e-3 */
        }
        v[200] = -sin(t[200]) + off[k] * 1e-3;
        zw_trial_report r = try_path(swing, 400, v, 0);
        assert_int_equal(r.speeds, off[k] < 12 ? 1 : -1);
        assert_int_equal(r.verdict, off[k] < 12 ? ZW_VERDICT_MOTION : ZW_VERDICT_NOT_MOTION);
    }
}

/* A motion on a circle that is larger than the constraint's. The row is 2 (x, y), so that an error
 * of e in each coordinate is one of 2 e in the row. */
static void constraints_are_left_from_8_times_the_error(void **state)
{
    (void)state;
    static const char *const wheel = "coord x = 1, y = 0\nspeed y' = 1\nmass 1 at (x, y)\n"
                                     "constraint wheel: x^2 + y^2 = 1\n";
    int within = 0, off = 0;
    for (double more = 1e-6; more < 1e-4; more *= 1.3) {
        for (long i = 0; i < 400; i++) {
            t[i] = 0.05 * (double)i;
            q[2 * i] = (1 + more) * cos(t[i]);
            q[2 * i + 1] = (1 + more) * sin(t[i]);
        }
        zw_trial_report r = try_path(wheel, 400, NULL, 1e-5);
        double times = r.violation_position / (2 * r.error_position / sqrt(2));
        if (times < 7) {
            assert_int_equal(r.verdict, ZW_VERDICT_MOTION);
            within++;
        } else if (times > 9 && times < 36) {
            assert_int_equal(r.verdict, ZW_VERDICT_OFF);
            off++;
        }
    }
    assert_true(within > 3 && off > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushes_are_seen_from_15_times_their_error),
        cmocka_unit_test(noise_is_coarse_from_a_third_of_the_forces),
        cmocka_unit_test(speeds_clash_from_12_times_their_noise),
        cmocka_unit_test(constraints_are_left_from_8_times_the_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

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
#include <string.h>

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

/* A swing with wrong speeds; `unit`: they are rounded to multiples of it. */
static zw_trial_report swing_with(long count, double step, double factor, double more, double unit,
                                  double noise)
{
    for (long i = 0; i < count; i++) {
        t[i] = step * (double)i;
        q[i] = cos(t[i]);
        v[i] = -factor * sin(t[i]) + more;
        v[i] = unit > 0 ? round(v[i] / unit) * unit : v[i];
    }
    return try_path(swing, count, v, noise);
}

/* What follows the motion is not noise: a factor, a sign, a unit, an offset. */
static void all_speeds_may_be_wrong(void **state)
{
    (void)state;
    static const double factor[] = {1.0005, 1.001, 2, 57.29577951308232, -1, 0};
    assert_int_equal(swing_with(400, 0.05, 1, 0, 0, 0).verdict, ZW_VERDICT_MOTION);
    for (size_t k = 0; k < sizeof factor / sizeof *factor; k++) {
        zw_trial_report r = swing_with(400, 0.05, factor[k], 0, 0, 0);
        assert_int_equal(r.speeds, -1);
        assert_int_equal(r.verdict, ZW_VERDICT_NOT_MOTION);
    }
    assert_int_equal(swing_with(400, 0.05, 1, 1e-3, 0, 0).verdict, ZW_VERDICT_NOT_MOTION);
    assert_int_equal(swing_with(80, 0.7, -1, 0, 0, 0).speeds, -1); /* nine samples in a period */
    assert_int_equal(swing_with(80, 0.7, 1, 0, 0, 0).speeds, 1);
}

/* Speeds by central differences are off by the factor sin(h)/h: 4e-4. That is seen, unless the
 * stated noise is of this size. */
static void speeds_may_have_the_noise_that_is_stated(void **state)
{
    (void)state;
    double h = 0.05, factor = sin(h) / h;
    assert_int_equal(swing_with(400, h, factor, 0, 0, 0).speeds, -1);
    assert_int_equal(swing_with(400, h, factor, 0, 0, 1e-5).speeds, -1);
    assert_int_equal(swing_with(400, h, factor, 0, 0, 1e-4).speeds, 1);
}

/* Rounded numbers that hardly change from sample to sample do not scatter. */
static void speeds_may_be_rounded(void **state)
{
    (void)state;
    static const char *const even = "coord x = 0\nspeed x' = 1\nkinetic x'^2/2\n";
    static const double unit[] = {1e-2, 1e-3};
    for (int k = 0; k < 2; k++) {
        double speed = 0.31283185307;
        for (int wrong = 0; wrong < 2; wrong++) {
            double recorded = speed + 20 * unit[k] * wrong;
            for (long i = 0; i < 400; i++) {
                t[i] = 0.05 * (double)i;
                q[i] = speed * t[i];
                v[i] = round(recorded / unit[k]) * unit[k];
            }
            assert_int_equal(try_path(even, 400, v, 0).speeds, wrong ? -1 : 1);
        }
        zw_trial_report r = swing_with(4000, 2e-3, 1, 0, unit[k], 0);
        assert_int_equal(r.speeds, 1);
    }
}

/* Without `many` of its samples after the first `from`. */
static long leave_out(long count, long from, long many)
{
    for (long i = from; i + many < count; i++) {
        t[i] = t[i + many];
        memcpy(q + 2 * i, q + 2 * (i + many), 2 * sizeof *q);
    }
    return count - many;
}

static const char *const two = "coord x = 1, y = 0\nspeed y' = 1\nkinetic (x'^2 + y'^2)/2\n"
                               "potential (9*x^2 + y^2)/2\n";

static long swing_in_space(void)
{
    for (long i = 0; i < 400; i++) {
        t[i] = 0.02 * (double)i;
        q[2 * i] = cos(3 * t[i]);
        q[2 * i + 1] = sin(t[i]);
    }
    return 400;
}

/* Where a recording has a gap nothing is known, and what was recorded is a motion; also if it is
 * too short to divide the recording. */
static void gaps_are_no_forces(void **state)
{
    (void)state;
    static const long from[] = {1, 2, 3, 50, 200}, many[] = {1, 3, 5, 7, 9, 12, 150};
    for (size_t k = 0; k < sizeof from / sizeof *from; k++) {
        for (size_t j = 0; j < sizeof many / sizeof *many; j++) {
            long count = leave_out(swing_in_space(), from[k], many[j]);
            zw_trial_report r = try_path(two, count, NULL, 0);
            int divided = many[j] > 7;
            if (r.verdict == ZW_VERDICT_NOT_MOTION || r.verdict == ZW_VERDICT_OFF ||
                r.gaps != divided || r.pieces != 1 + divided ||
                (divided && r.verdict != ZW_VERDICT_MOTION)) {
                fail_msg("%ld samples after %ld left out: verdict %d, %d pieces, %d gaps, worst "
                         "%.3g with error %.3g, defect %.3g of %.3g",
                         many[j], from[k], r.verdict, r.pieces, r.gaps, r.worst, r.worst_error,
                         r.defect, r.defect_error);
            }
        }
    }
    long count = leave_out(swing_in_space(), 200, 100);
    for (long i = 200; i < count; i++) {
        q[2 * i] *= 1.001;
        q[2 * i + 1] += 1e-3 * (t[i] - 6) * (t[i] - 6);
    }
    assert_int_equal(try_path(two, count, NULL, 0).verdict, ZW_VERDICT_NOT_MOTION);
}

/* A single wrong sample, and all samples wrong from one on, are no motion: neither if they are off
 * by 1e-5 of the swing nor by a third of it. */
static void wrong_samples_are_seen_whatever_their_size(void **state)
{
    (void)state;
    static const double size[] = {1e-5, 1e-4, 5e-4, 2e-3, 0.01, 0.03, 0.1, 0.3};
    static const long at[] = {30, 150, 257};
    for (size_t k = 0; k < sizeof size / sizeof *size; k++) {
        for (int j = 0; j < 6; j++) {
            long count = swing_in_space(), first = at[j / 2], end = j % 2 ? count : first + 1;
            for (long i = first; i < end; i++) {
                q[2 * i + j / 3] += size[k];
            }
            zw_trial_report r = try_path(two, count, NULL, 0);
            if (r.verdict != ZW_VERDICT_NOT_MOTION || fabs(r.worst_time - t[first]) > 0.021) {
                fail_msg("sample %ld to %ld of %c off by %g: verdict %d, worst at %g", first, end,
                         j / 3 ? 'y' : 'x', size[k], r.verdict, r.worst_time);
            }
        }
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
        cmocka_unit_test(all_speeds_may_be_wrong),
        cmocka_unit_test(speeds_may_have_the_noise_that_is_stated),
        cmocka_unit_test(speeds_may_be_rounded),
        cmocka_unit_test(gaps_are_no_forces),
        cmocka_unit_test(wrong_samples_are_seen_whatever_their_size),
        cmocka_unit_test(constraints_are_left_from_8_times_the_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
